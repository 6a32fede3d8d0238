/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - the output of `--sample`: documents before and after.
 *
 * The output is read again like any dump, so the sample shows what was written: documents that are new or have
 * changed. */
#include "sample.h"

#include <mongoreshape/ejson.h>
#include <stdio.h>

enum { DOCS = 2, LOOK = 1000, WIDTH = 2000 };

static void
show_document(struct mrs_mem *mem, const char *label, struct mrs_view doc)
{
    MRS_ASSERT(label && mrs_view_is_framed(doc));
    struct mrs_buf text;
    mrs_buf_init(&text, mem, SIZE_MAX);
    mrs_ejson_write(doc, false, &text);
    if (!text.bad) {
        int n = text.n > WIDTH ? WIDTH : (int)text.n;
        mrs_say(stderr, "  %s %.*s%s\n", label, n, (const char *)text.p, text.n > WIDTH ? " ..." : "");
    }
    mrs_buf_clear(&text);
}

/* The first documents of a namespace of a dump: one block, or none. */
static void
read_first(struct mrs_input *in, uint32_t i, struct mrs_block *b)
{
    struct mrs_reader *r = NULL;
    if (mrs_reader_open(in, i, 0, &r, NULL) != MRS_OK || mrs_reader_next(r, b, NULL) != MRS_OK) {
        b->n = 0;
    }
    mrs_reader_close(r);
}

static struct mrs_view
doc_at(const struct mrs_block *b, size_t at)
{
    return (struct mrs_view){b->p + at, mrs_le32(b->p + at)};
}

static bool
same_id(struct mrs_view x, struct mrs_view y)
{
    struct mrs_val a = mrs_doc_get(x, "_id"), b = mrs_doc_get(y, "_id");
    return a.type == b.type && a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

/* The document with this _id; empty if there is none. */
static struct mrs_view
find_doc(const struct mrs_block *b, struct mrs_view like)
{
    MRS_ASSERT(mrs_view_is_framed(like) && b->n <= b->cap);
    for (size_t at = 0; at < b->n; at += mrs_le32(b->p + at)) {
        if (same_id(doc_at(b, at), like)) {
            return doc_at(b, at);
        }
    }
    return mrs_empty_doc();
}

/* Shows new and changed documents, with their earlier form. Returns their number. */
static int
show_changed(struct mrs_mem *mem, const char *ns, const struct mrs_block *before, const struct mrs_block *after)
{
    int shown = 0, seen = 0;
    for (size_t at = 0; at < after->n && shown < DOCS && seen < LOOK; at += mrs_le32(after->p + at), seen++) {
        struct mrs_view doc = doc_at(after, at), was = find_doc(before, doc);
        if (was.n == doc.n && memcmp(was.p, doc.p, doc.n) == 0) {
            continue;
        }
        if (!shown++) {
            mrs_say(stderr, "%s\n", ns);
        }
        if (was.n > MRS_DOC_MIN) {
            show_document(mem, "before", was);
        }
        show_document(mem, "after ", doc);
    }
    return shown;
}

static int
show_namespace(struct mrsi_job *job, struct mrs_input *out, uint32_t i)
{
    MRS_ASSERT(i < mrs_input_count(out));
    const char *ns = mrs_input_at(out, i)->ns;
    struct mrs_block before, after;
    mrs_block_init(&before, job->cli->line.mem);
    mrs_block_init(&after, job->cli->line.mem);
    for (uint32_t k = 0; k < mrs_input_count(job->in); k++) {
        const struct mrs_input_ns *old = mrs_input_at(job->in, k);
        if (old->kind == MRS_INPUT_DATA && old->data_path && strcmp(old->ns, ns) == 0) {
            read_first(job->in, k, &before);
        }
    }
    read_first(out, i, &after);
    int shown = show_changed(job->cli->line.mem, ns, &before, &after);
    mrs_block_clear(&before);
    mrs_block_clear(&after);
    return shown;
}

void
mrsi_sample_show(struct mrsi_job *job)
{
    struct mrs_input *after = NULL;
    int shown = 0;
    struct mrs_input_opts o = mrsi_job_input_opts(job->cli);
    if (strcmp(job->cli->output, "-") == 0 ||
        mrs_input_open(job->cli->line.mem, job->cli->output, &o, &after, NULL) != MRS_OK) {
        return;
    }
    for (uint32_t i = 0; i < mrs_input_count(after); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(after, i);
        if (ns->kind == MRS_INPUT_DATA && ns->data_path) {
            shown += show_namespace(job, after, i);
        }
    }
    if (!shown) {
        mrs_say(stderr, "the plan changes none of the documents in this sample\n");
    }
    mrs_input_close(after);
}
