/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - mongoreshape, the offline tool.
 *
 * All meaning is in the library, all words of the command line in options.c, the parser in common/cli. */
#include "options.h"
#include <malloc.h>
#include <sys/resource.h>

/* Each collection that a step writes is an open file, and a plan may make thousands: as many as the system allows. */
static void
allow_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files); /* without it some collections fewer can be written */
    }
}

int
main(int argc, char **argv)
{
    struct mrsi_cli cli;
    /* Large pieces go back to the system when they are freed: glibc would come to keep them, and --memory counts what
     * the process has. */
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    allow_files();
    memset(&cli, 0, sizeof cli);
    cli.line.tool = &mrsi_tool;
    cli.line.mem = mrs_mem_new(0);
    cli.compress.codec = MRS_CODEC_AS_INPUT;
    cli.checkpoint = 30;
    cli.argv = argv;
    if (!cli.line.mem) {
        fputs("mongoreshape: out of memory\n", stderr);
        return mrs_code_exit(MRS_E_MEMORY);
    }
    /* nothing has its final name yet, so there is nothing to take back */
    mrs_signals_begin("mongoreshape: a mapped file cannot be read any more: the disk failed, or the file was "
                      "truncated\noutput not written\n");
    int status = mrs_cli_main(&cli.line, argc, argv);
    mrs_mem_close(cli.line.mem);
    return status;
}
