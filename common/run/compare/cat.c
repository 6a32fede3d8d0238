/* SPDX-License-Identifier: Apache-2.0 */
/* cat.c - prints a dump as lines of Extended JSON; see cat.h.
 *
 * Workers convert blocks to text directly from the bytes; the texts are written in the order of the blocks. For a limit
 * only the lines of the last block are counted again. */
#include "mongoreshape/cat.h"
#include "readers.h"
#include "mongoreshape/ejson.h"

struct cat {
    const struct mrs_cat_opts *opts;
    struct mrs_buf head; /* prefix for documents of the current namespace */
    const char *ns;
    uint64_t left; /* of the limit */
};

/* Is the document selected? An error names it. */
static enum mrs_status
matches(const struct cat *c, struct mrsi_worker *w, struct mrs_view doc, uint64_t ordinal, bool *yes,
        struct mrs_err *e)
{
    if (!c->opts->takes) {
        *yes = true;
        return MRS_OK;
    }
    mrs_arena_reset(&w->arena);
    enum mrs_status s = c->opts->takes(c->opts->arg, &w->arena, doc, yes, e);
    if (s != MRS_OK && e) {
        snprintf(e->ns, sizeof e->ns, "%.255s", c->ns);
        e->doc_no = ordinal + 1;
    }
    return s;
}

static enum mrs_status
print(void *arg, struct mrsi_worker *w, struct mrsi_read_job *job, struct mrs_view doc, uint64_t ordinal,
      struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct cat *c = arg;
    bool yes = false;
    enum mrs_status s = matches(c, w, doc, ordinal, &yes, e);
    if (s != MRS_OK || !yes || (c->opts->limit && job->docs.n == c->opts->limit)) {
        return s;
    }
    mrs_buf_put(&job->out, c->head.p, c->head.n);
    mrs_ejson_write(doc, !c->opts->relaxed, &job->out);
    mrs_buf_put(&job->out, "}\n", c->opts->with_ns ? 2 : 0);
    if (!c->opts->with_ns) {
        mrs_buf_byte(&job->out, '\n');
    }
    job->docs.n++;
    return job->out.bad ? mrs_buf_status(&job->out, e) : MRS_OK;
}

static enum mrs_status
put(void *arg, struct mrsi_read_job *job, struct mrs_err *e)
{
    struct cat *c = arg;
    size_t n = job->out.n;
    bool last = c->opts->limit && job->docs.n >= c->left;
    if (last) {
        const uint8_t *at = job->out.p;
        for (uint64_t i = 0; i < c->left; i++) { /* texts contain no newlines */
            at = (const uint8_t *)memchr(at, '\n', n - (size_t)(at - job->out.p)) + 1;
        }
        n = (size_t)(at - job->out.p);
    }
    enum mrs_status s = n ? c->opts->put(c->opts->arg, job->out.p, n, e) : MRS_OK;
    c->left -= last ? c->left : c->opts->limit ? job->docs.n : 0;
    return s == MRS_OK && last ? MRS_END : s;
}

static enum mrs_status
one_namespace(struct cat *c, struct mrsi_engine *en, struct mrs_input *in, uint32_t i, struct mrs_err *e)
{
    MRS_ASSERT(i < mrs_input_count(in));
    struct mrsi_reading r = {.en = en, .in = in, .index = i, .doc = print, .block = put, .arg = c};
    c->ns = mrs_input_at(in, i)->ns;
    mrs_buf_reset(&c->head);
    if (c->opts->with_ns) {
        struct mrs_arena a;
        mrs_arena_init(&a, en->mem);
        struct mrs_val v = mrs_make_text(&a, c->ns, (uint32_t)strlen(c->ns));
        mrs_buf_put(&c->head, "{\"ns\":", 6);
        mrs_ejson_write_val(v, false, &c->head);
        mrs_buf_put(&c->head, ",\"doc\":", 7);
        c->head.bad = v.type == MRS_MISSING ? 1 : c->head.bad;
        mrs_arena_clear(&a);
    }
    enum mrs_status s = mrs_buf_status(&c->head, e);
    return s == MRS_OK ? mrsi_read_all(&r, e) : s;
}

enum mrs_status
mrs_cat(struct mrs_mem *mem, struct mrs_input *in, const struct mrs_cat_opts *opts, struct mrs_err *e)
{
    MRS_ASSERT(opts->put);
    struct cat c = {.opts = opts, .left = opts->limit};
    struct mrs_run_opts how = {.jobs = opts->jobs, .cancel = opts->cancel};
    struct mrsi_readers readers;
    mrs_buf_init(&c.head, mem, SIZE_MAX);
    enum mrs_status s = mrsi_readers_begin(&readers, mem, &how, e);
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(in) && !(opts->limit && !c.left); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(in, i);
        if (ns->kind == MRS_INPUT_DATA && ns->data_path) {
            s = one_namespace(&c, &readers.en, in, i, e);
        }
    }
    s = mrs_input_blame(in, s, e);
    MRS_THEN(s, mrs_input_unchanged(in, e));
    mrs_buf_clear(&c.head);
    mrsi_readers_end(&readers);
    return s;
}
