/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - a command that prints one text: opens its job, prints, reports errors. */
#include "text.h"
#include "report.h"

int
mrsi_text_command(struct mrs_cli *line, enum mrs_status (*make)(struct mrsi_job *job, struct mrs_buf *out))
{
    struct mrsi_cli *cli = (struct mrsi_cli *)line;
    struct mrsi_job job;
    struct mrs_buf out;
    mrs_buf_init(&out, line->mem, (size_t)1 << 30);
    enum mrs_status s = mrsi_job_open(&job, cli);
    if (s == MRS_OK) {
        s = make(&job, &out);
        MRS_THEN(s, mrs_buf_status(&out, &job.err));
        if (s != MRS_OK && !cli->json) {
            mrsi_job_report(&job);
        }
    }
    if (s == MRS_OK && out.n) { /* an empty buffer has no pointer */
        fwrite(out.p, 1, out.n, stdout);
    }
    int status = s == MRS_OK ? 0 : mrsi_job_exit(&job);
    if (s != MRS_OK && cli->json) {
        mrsi_report_json(stdout, &job, NULL, status, true);
    }
    mrs_buf_clear(&out);
    mrsi_job_close(&job);
    return status;
}
