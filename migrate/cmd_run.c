/* cmd_run.c - `mongoreshape run PLAN -i IN -o OUT`. */
#include "commands.h"
#include "engine.h"
#include "report.h"

#include <unistd.h>

static int
misuse(const struct mrsi_cli *cli)
{
    if (!cli->input) {
        return mrsi_cli_misuse(cli, "-i IN is missing: which dump is to be read?");
    }
    if (!cli->output && !cli->dry_run) {
        return mrsi_cli_misuse(
            cli,
            "-o OUT is missing: where is the new dump to be written? (--dry-run writes nothing)");
    }
    if (cli->output && strcmp(cli->output, "-") == 0 && !cli->dry_run && isatty(STDOUT_FILENO)) {
        return mrsi_cli_misuse(
            cli, "BSON is not written to a terminal: send standard output to a file or a program");
    }
    if (mrsi_cli_given(cli, "memory") && cli->memory < 4096) {
        return mrsi_cli_misuse(cli, "--memory must be at least 64M (down to 4K for tests)");
    }
    if (cli->jobs > 1024 || (mrsi_cli_given(cli, "jobs") && cli->jobs == 0)) {
        return mrsi_cli_misuse(cli, "--jobs must be 1 to 1024");
    }
    if (mrsi_cli_given(cli, "sample") && cli->sample == 0) {
        return mrsi_cli_misuse(cli, "--sample must be at least 1");
    }
    return 0;
}

int
mrsi_cmd_run(struct mrsi_cli *cli)
{
    struct mrsi_job job;
    int status = misuse(cli);
    if (status) {
        return status;
    }
    if (mrsi_job_open(&job, cli) == MRS_OK) {
        status = mrsi_engine_run(&job, cli->dry_run, cli->max_refused);
    } else {
        status = mrsi_job_exit(&job);
        if (cli->json) {
            mrsi_report_json(stdout, &job, NULL, status, cli->dry_run);
        }
    }
    mrsi_job_close(&job);
    return status;
}
