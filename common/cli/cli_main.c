/* SPDX-License-Identifier: Apache-2.0 */
/* cli_main.c - the common part of the main functions of all tools, and their error messages.
 *
 * Parses, runs the command, and checks that standard output was written: a full disk behind a redirection is an error
 * like any other. Diagnostics have the form of compilers', so that editors find the place. Knows no command by name but
 * `help`, which is the last of every table. */
#include "mongoreshape/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* If the caller has closed a standard stream, the next file would get its number, and messages would be written into a
 * dump. The replacement refuses the operation of the stream. */
static bool
fill_standard_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    bool ok = true;
    for (int fd = STDIN_FILENO; ok && fd <= STDERR_FILENO; fd++) {
        ok = fcntl(fd, F_GETFD) >= 0 || open("/dev/null", modes[fd]) == fd;
    }
    return ok;
}

/* A result that was not written is a failure, also for the status "differs". If the reader has closed the pipe, as
 * `head` does, there is no message, and the status is that of SIGPIPE. `errno` may be of a later call. */
static int
close_stdout(const struct mrs_cli *cli, int status)
{
    int why = fflush(stdout) != 0 ? errno : 0;
    if (!why && !ferror(stdout)) {
        return status;
    }
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    bool closed = poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP));
    if (!closed) {
        mrs_say(stderr, "%s: standard output: %s\n", cli->tool->name, why ? strerror(why) : "it is incomplete");
    }
    return status > mrs_code_exit(MRS_E_REFUSED) ? status : closed ? 128 + SIGPIPE : mrs_code_exit(MRS_E_IO);
}

static int
run(struct mrs_cli *cli, int argc, char **argv)
{
    int status = 0;
    if (!mrs_cli_parse(cli, argc, argv, &status)) {
        return status;
    }
    if (cli->help && cli->command->run != mrs_cli_help) {
        mrs_cli_help_command(cli->tool, cli->command);
        return 0;
    }
    return cli->command->run(cli);
}

int
mrs_cli_main(struct mrs_cli *cli, int argc, char **argv)
{
    MRS_ASSERT(cli->tool && argc >= 0);
    int status = fill_standard_streams() ? run(cli, argc, argv) : mrs_code_exit(MRS_E_IO);
    mrs_cli_clear(cli);
    return close_stdout(cli, status);
}

void
mrs_cli_report(const struct mrs_cli *cli, const struct mrs_err *e)
{
    char text[1200];
    bool colour = mrs_text_colour(stderr);
    mrs_say(stderr, colour ? "%s: \x1b[31m%s\x1b[0m\n" : "%s: %s\n", cli->tool->name,
            mrs_err_text(e, text, sizeof text));
}

void
mrs_cli_report_at(const char *file, uint32_t line, uint32_t col, bool warning, const char *msg)
{
    MRS_ASSERT(file && msg);
    bool colour = mrs_text_colour(stderr);
    mrs_say(stderr, "%s:%u:%u: ", file, line, col);
    fputs(!colour ? "" : warning ? "\x1b[35m" : "\x1b[31m", stderr);
    mrs_say(stderr, colour ? "%s:\x1b[0m %s\n" : "%s: %s\n", warning ? "warning" : "error", msg);
}
