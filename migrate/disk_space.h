/* SPDX-License-Identifier: Apache-2.0 */
/* disk_space.h - whether an output will find room, examined before hours of work. */
#ifndef MRSI_DISK_SPACE_H
#define MRSI_DISK_SPACE_H

#include "job.h"

/* Warns where less is free beside OUT than the input takes. */
void mrsi_disk_space_look(const struct mrsi_job *job);

#endif
