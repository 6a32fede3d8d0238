/* SPDX-License-Identifier: Apache-2.0 */
/* disk_space.h - whether an output will find room, examined before hours of work. */
#ifndef MRSI_DISK_SPACE_H
#define MRSI_DISK_SPACE_H

#include "job.h"

/* Warns if less is free on the disk of OUT than the input takes. */
void mrsi_disk_space_look(const struct mrsi_job *job);

#endif
