/* main.c - mongoreshape, the offline tool: reads the line, runs the command, makes sure that what
 * went to standard output arrived.
 *
 * All meaning lies in the library; all words of the command line in options.c. */
#include "help.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>

static int
close_stdout(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "mongoreshape: standard output: %s\n", strerror(errno));
        return status ? status : mrs_code_exit(MRS_E_IO);
    }
    return status;
}

static int
run(struct mrsi_cli *cli, int argc, char **argv)
{
    int status = 0;
    if (!mrsi_cli_parse(cli, argc, argv, &status)) {
        return status;
    }
    if (cli->help && cli->command->bit != MRSI_HELP) {
        mrsi_help_command(cli->command);
        return 0;
    }
    return cli->command->run(cli);
}

int
main(int argc, char **argv)
{
    struct mrsi_cli cli;
    memset(&cli, 0, sizeof cli);
    cli.mem = mrs_mem_new(0);
    if (!cli.mem) {
        fputs("mongoreshape: out of memory\n", stderr);
        return mrs_code_exit(MRS_E_MEMORY);
    }
    mrsi_signals_begin();
    int status = run(&cli, argc, argv);
    mrsi_cli_clear(&cli);
    mrs_mem_close(cli.mem);
    return close_stdout(status);
}
