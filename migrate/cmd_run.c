/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - `mongoreshape run PLAN -i IN -o OUT`. */
#include "commands.h"
#include "disk_space.h"
#include "engine.h"
#include "finished.h"
#include "report.h"

#include <unistd.h>

/* Reports options that cannot be combined with --residue and --write-residue. */
static int
misuse_residue(const struct mrsi_cli *cli)
{
    static const char *const alone[] = {"sample", "dry-run", "oplog"};
    const char *own = cli->residue ? "residue" : "write-residue";
    if (!cli->residue && !cli->write_residue) {
        return 0;
    }
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        if (mrs_cli_given(&cli->line, alone[i])) {
            return mrs_cli_misuse(&cli->line, "--%s and --%s do not go together: the way back needs all data", own,
                                  alone[i]);
        }
    }
    if (cli->residue && (cli->write_residue || cli->amend || mrs_cli_given(&cli->line, "now"))) {
        return mrs_cli_misuse(&cli->line, "--residue gives back the input as it was: --write-residue, --amend and "
                                          "--now do not go with it");
    }
    return 0;
}

static int
misuse(const struct mrsi_cli *cli)
{
    if (!cli->input) {
        return mrs_cli_misuse(&cli->line, "-i IN is missing: which dump is to be read?");
    }
    if (!cli->output && !cli->dry_run) {
        return mrs_cli_misuse(&cli->line,
            "-o OUT is missing: where is the new dump to be written? (--dry-run writes nothing)");
    }
    if (cli->output && strcmp(cli->output, "-") == 0 && !cli->dry_run && isatty(STDOUT_FILENO)) {
        return mrs_cli_misuse(
            &cli->line, "BSON is not written to a terminal: send standard output to a file or a program");
    }
    int wrong = mrsi_limits_misused(cli);
    if (wrong) {
        return wrong;
    }
    if (cli->stream && (!cli->output || strcmp(cli->output, "-") != 0)) {
        return mrs_cli_misuse(&cli->line, "--stream is for archives on standard output: -o -");
    }
    if (mrs_cli_given(&cli->line, "sample") && cli->sample == 0) {
        return mrs_cli_misuse(&cli->line, "--sample must be at least 1");
    }
    if (cli->resume && (cli->dry_run || strcmp(cli->output, "-") == 0)) {
        return mrs_cli_misuse(&cli->line, "--resume: %s leaves nothing to resume, run it again",
                              cli->dry_run ? "a dry run" : "a run to standard output");
    }
    return misuse_residue(cli);
}

int
mrsi_cmd_run(struct mrs_cli *line)
{
    struct mrsi_cli *cli = (struct mrsi_cli *)line;
    struct mrsi_job job;
    int status = misuse(cli);
    if (!status) {
        status = mrs_cli_page_check(line, cli->html, (const char *const[2]){cli->input, NULL});
    }
    if (status) {
        return status;
    }
    if (mrsi_job_open(&job, cli) == MRS_OK) {
        job.finished = mrsi_finished(&job, &status);
        if (!job.finished) {
            mrsi_disk_space_check(&job);
            status = mrsi_engine_run(&job, cli->dry_run, false, cli->max_refused);
        } else {
            if (cli->json) {
                mrsi_report_json(stdout, &job, NULL, status, cli->dry_run);
            }
            status = mrsi_engine_page(&job, NULL, status, cli->dry_run);
        }
    } else {
        status = mrsi_job_exit(&job);
        if (cli->json) {
            mrsi_report_json(stdout, &job, NULL, status, cli->dry_run);
        }
    }
    mrsi_job_close(&job);
    return status;
}
