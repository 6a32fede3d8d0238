/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - all headers for dumps: formats, input, output, checkpoints, files. */
#ifndef MONGORESHAPE_IO_H
#define MONGORESHAPE_IO_H

#include "mongoreshape/formats.h"
#include "mongoreshape/dump_in.h"
#include "mongoreshape/dump_out.h"
#include "mongoreshape/checkpoint_files.h"
#include "mongoreshape/files.h"

#endif
