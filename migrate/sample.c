/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - what `--sample` shows: documents before and after, side by side in time.
 *
 * The output is read again like any dump, so what is shown is what was written. */
#include "sample.h"

#include <mongoreshape/ejson.h>
#include <stdio.h>

enum { DOCS = 2, WIDTH = 2000 };

static void
show_document(struct mrs_mem *mem, const char *label, struct mrs_view doc)
{
    struct mrs_buf text;
    mrs_buf_init(&text, mem, SIZE_MAX);
    mrs_ejson_write(doc, false, &text);
    if (!text.bad) {
        int n = text.n > WIDTH ? WIDTH : (int)text.n;
        mrs_say(stderr, "  %s %.*s%s\n", label, n, (const char *)text.p, text.n > WIDTH ? " ..." : "");
    }
    mrs_buf_clear(&text);
}

/* The first documents of a namespace of a dump. */
static void
show_first(struct mrs_mem *mem, struct mrs_input *in, uint32_t i, const char *label)
{
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    mrs_block_init(&b, mem);
    if (mrs_reader_open(in, i, 0, &r, NULL) == MRS_OK && mrs_reader_next(r, &b, NULL) == MRS_OK) {
        size_t at = 0;
        for (int n = 0; n < DOCS && at < b.n; n++) {
            struct mrs_view doc = {b.p + at, mrs_le32(b.p + at)};
            show_document(mem, label, doc);
            at += doc.n;
        }
    }
    mrs_reader_close(r);
    mrs_block_clear(&b);
}

static void
show_namespace(struct mrsi_job *job, struct mrs_input *after, uint32_t i)
{
    const char *ns = mrs_input_at(after, i)->ns;
    mrs_say(stderr, "%s\n", ns);
    for (uint32_t k = 0; k < mrs_input_count(job->in); k++) {
        const struct mrs_input_ns *old = mrs_input_at(job->in, k);
        if (old->kind == MRS_INPUT_DATA && old->data_path && strcmp(old->ns, ns) == 0) {
            show_first(job->cli->line.mem, job->in, k, "before");
        }
    }
    show_first(job->cli->line.mem, after, i, "after ");
}

void
mrsi_sample_show(struct mrsi_job *job)
{
    struct mrs_input *after = NULL;
    struct mrs_input_opts o = mrsi_job_input_opts(job->cli);
    if (strcmp(job->cli->output, "-") == 0 ||
        mrs_input_open(job->cli->line.mem, job->cli->output, &o, &after, NULL) != MRS_OK) {
        return;
    }
    for (uint32_t i = 0; i < mrs_input_count(after); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(after, i);
        if (ns->kind == MRS_INPUT_DATA && ns->data_path) {
            show_namespace(job, after, i);
        }
    }
    mrs_input_close(after);
}
