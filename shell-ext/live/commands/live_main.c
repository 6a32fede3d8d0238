/* SPDX-License-Identifier: Apache-2.0 */
/* live_main.c - mongoreshape-live, the online tool.
 *
 * All words of the command line are in live_options.c, the parser in common/cli; each command has its own file. */
#include "live/link/connection.h"
#include "live_options.h"

int
main(int argc, char **argv)
{
    struct live_cli cli;
    memset(&cli, 0, sizeof cli);
    cli.line.tool = &live_tool;
    cli.line.mem = mrs_mem_new(0);
    if (!cli.line.mem) {
        fputs("mongoreshape-live: out of memory\n", stderr);
        return mrs_code_exit(MRS_E_MEMORY);
    }
    mrs_signals_begin("mongoreshape-live: a temporary file could not be read any more: the disk failed, or the file "
                      "was made shorter\nthe same command resumes at the last checkpoint\n");
    live_link_setup();
    int status = mrs_cli_main(&cli.line, argc, argv);
    live_link_teardown();
    mrs_mem_close(cli.line.mem);
    return status;
}
