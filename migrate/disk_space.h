/* SPDX-License-Identifier: Apache-2.0 */
/* disk_space.h - checks whether the output fits the disk, before hours of work. */
#ifndef MRSI_DISK_SPACE_H
#define MRSI_DISK_SPACE_H

#include "job.h"

/* Warns if the disk of OUT has less free space than the size of the input. */
void mrsi_disk_space_check(const struct mrsi_job *job);

#endif
