/* SPDX-License-Identifier: Apache-2.0 */
/* disk_space.c - checks whether the output fits the disk, before hours of work.
 *
 * An output needs about as much space as its input. It may need less (a plan that drops, a stronger compression, a file
 * system that compresses or shares blocks), so this is a warning: a run that fills the disk is resumed with
 * --resume. */
#include "disk_space.h"
#include "mongoreshape/io.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

void
mrsi_disk_space_check(const struct mrsi_job *job)
{
    MRS_ASSERT(job->in && job->plan);
    const struct mrsi_cli *cli = job->cli;
    char path[PATH_MAX], needs[32], has[32];
    struct statvfs fs;
    uint64_t bytes = 0;
    if (cli->dry_run || cli->resume || cli->sample || strcmp(cli->output, "-") == 0 ||
        (size_t)snprintf(path, sizeof path, "%s", cli->output) >= sizeof path) {
        return;
    }
    const char *folder = dirname(path);
    if (statvfs(folder, &fs) != 0) {
        return; /* the run reports the error */
    }
    for (uint32_t i = 0; i < mrs_input_count(job->in); i++) {
        bytes += mrs_input_at(job->in, i)->file_bytes;
    }
    uint64_t space = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (bytes > space) {
        mrs_say(stderr, "warning: the input takes %s, and %s are free in %s: the output may not fit. If the disk is "
                        "full, free some space and continue with --resume\n",
                mrs_text_size(bytes, needs), mrs_text_size(space, has), folder);
    }
}
