/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - mongoreshape, the offline tool.
 *
 * The logic is in the library, all words of the command line are in options.c, the parser is in common/cli. */
#include "options.h"
#include <malloc.h>
#include <sys/resource.h>

/* Each collection that a step writes is an open file, and a plan may make thousands: raises the limit to the
 * maximum. */
static void
allow_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files); /* on failure the limit stays lower */
    }
}

int
main(int argc, char **argv)
{
    struct mrsi_cli cli;
    /* Returns large freed blocks to the system: glibc would start to keep them, and --memory counts the memory of the
     * process. */
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
    /* nothing has its final name yet, so there is nothing to undo */
    mrs_signals_begin("mongoreshape: a mapped file cannot be read any more: the disk failed, or the file was "
                      "truncated\noutput not written\n");
    int status = mrs_cli_main(&cli.line, argc, argv);
    mrs_mem_close(cli.line.mem);
    return status;
}
