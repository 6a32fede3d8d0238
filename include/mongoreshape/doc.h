/* SPDX-License-Identifier: Apache-2.0 */
/* doc.h - all headers for BSON as bytes: views, values, a bounds-checked walk, a builder. */
#ifndef MONGORESHAPE_DOC_H
#define MONGORESHAPE_DOC_H

#include "mongoreshape/view.h"
#include "mongoreshape/walk.h"
#include "mongoreshape/template.h"
#include "mongoreshape/build.h"

#endif
