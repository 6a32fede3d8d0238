/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - copies the collections of a plan from the server into the form of a dump.
 *
 * Documents are read in `_id` order, from the primary, and validated. Metadata are those that mongodump would write,
 * but from before we blocked the collection. For contract, the same read writes a second dump without the additions of
 * expand, so that both show the same moment. Does not depend on the use of the dumps. */
#include "mongoreshape/ejson.h"
#include "live/link/bson.h"
#include "quiet.h"

enum { BREATH = 1000 };

/* ---- names ---- */
bool
live_is_new_coll(const struct live_job *job, const char *ns)
{
    for (uint32_t i = 0; i < job->plan->n_steps; i++) {
        const struct mrs_desc *d = &job->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            if ((d->sides[k].role & MRS_ROLE_ADD) && strcmp(d->sides[k].coll.ns, ns) == 0) {
                return true;
            }
        }
    }
    return false;
}

enum mrs_status
live_claims_in(const struct live_job *job, const char *ns, struct mrs_arena *a, struct live_claimed *out,
               struct mrs_err *e)
{
    uint32_t n = 0, cap = 1;
    for (uint32_t g = 0; job->live && g < job->live->n_groups; g++) {
        cap += job->live->group[g].n_claims;
    }
    const char **name = mrs_arena_alloc(a, cap * sizeof *name);
    MRS_TRY(mrs_allocated(name, cap * sizeof *name, e));
    for (uint32_t g = 0; job->live && g < job->live->n_groups; g++) {
        const struct mrs_live_group *group = &job->live->group[g];
        bool here = group->claims_side >= 0 &&
            strcmp(job->plan->steps[group->first].desc.sides[group->claims_side].coll.ns, ns) == 0;
        for (uint32_t i = 0; i < group->n_claims && here; i++) {
            name[n++] = group->claims[i];
        }
    }
    *out = (struct live_claimed){name, n};
    return MRS_OK;
}

/* ---- one collection ---- */
struct snapshot_copy {
    struct live_job *job;
    struct mrs_output *to[2];  /* unchanged, without additions of expand; NULL: not needed */
    struct mrs_sink *sink[2];
    uint64_t docs, total;
    struct live_claimed claims; /* of the current collection */
    struct mrs_buf buf;        /* a document without its claims */
};

static enum mrs_status
put_base(struct snapshot_copy *c, struct mrs_view doc, struct mrs_err *e)
{
    struct mrs_view out;
    enum mrs_status s = live_claimed_out(c->claims, doc, &c->buf, &out, e);
    return s == MRS_OK ? mrs_sink_write(c->sink[1], out.p, out.n, e) : s;
}

static enum mrs_status
breathe(struct snapshot_copy *c, const char *ns, struct mrs_err *e)
{
    struct live_progress p = {.phase = "reading", .ns = ns, .done = c->total};
    enum mrs_status s = live_run_breathe(c->job, 0, 0, e);
    if (s == MRS_END) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the connection was lost while reading; nothing was changed");
    }
    return s == MRS_OK ? live_run_report(c->job, &p, e) : s;
}

static enum mrs_status
copy_docs(struct snapshot_copy *c, const struct mrs_coll *coll, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_view none = {NULL, 0}, opts, doc;
    struct live_cursor *cur = NULL;
    struct live_fault f;
    mrs_buf_init(&buf, c->job->mem, 1 << 16);
    enum mrs_status s = live_doc(&buf, &opts, e, "{sort: {_id: 1}, hint: {_id: 1}, maxTimeMS: 0}");
    MRS_THEN(s, live_find(c->job->link, coll, none, opts, 0, &cur, e));
    while (s == MRS_OK && (s = live_cursor_next(cur, &doc, &f, e)) == MRS_OK) {
        s = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, e);
        s = s == MRS_OK && c->sink[0] ? mrs_sink_write(c->sink[0], doc.p, doc.n, e) : s;
        s = s == MRS_OK && c->sink[1] ? put_base(c, doc, e) : s;
        c->docs++;
        c->total++;
        s = s == MRS_OK && c->docs % BREATH == 0 ? breathe(c, coll->ns, e) : s;
    }
    live_cursor_close(cur);
    mrs_buf_clear(&buf);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
metadata(struct live_job *job, const struct live_coll_info *info, struct mrs_buf *json, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_buf doc;
    struct live_coll_info then = *info;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&doc, job->mem, MRS_METADATA_MAX);
    enum mrs_status s = live_block_options(job, info->coll.ns, info->options, &a, &then.options, e);
    MRS_THEN(s, live_server_metadata(&then, &doc, e));
    if (s == MRS_OK) {
        struct mrs_view d = {doc.p, (uint32_t)doc.n};
        mrs_ejson_write(d, true, json);
        s = mrs_buf_status(json, e);
    }
    mrs_buf_clear(&doc);
    mrs_arena_clear(&a);
    return s;
}

static enum mrs_status
copy_coll(struct snapshot_copy *c, const struct live_coll_info *info, struct mrs_err *e)
{
    struct mrs_buf json;
    const struct mrs_coll *coll = &info->coll;
    mrs_buf_init(&json, c->job->mem, MRS_METADATA_MAX);
    enum mrs_status s = metadata(c->job, info, &json, e);
    for (int i = 0; s == MRS_OK && i < 2; i++) {
        bool needed = c->to[i] && (i == 0 || !live_is_new_coll(c->job, coll->ns));
        c->sink[i] = NULL;
        s = needed ? mrs_output_coll(c->to[i], coll->db, coll->coll, (const char *)json.p, json.n, true, &c->sink[i], e)
                   : MRS_OK;
    }
    c->docs = 0;
    MRS_THEN(s, copy_docs(c, coll, e));
    for (int i = 0; i < 2; i++) {
        struct mrs_err late;
        mrs_err_clear(&late);
        enum mrs_status closed = mrs_sink_close(c->sink[i], c->docs, NULL, s == MRS_OK ? e : &late);
        MRS_THEN(s, closed);
        c->sink[i] = NULL;
    }
    mrs_buf_clear(&json);
    return s;
}

/* ---- all collections ---- */
static enum mrs_status
copy_all(struct snapshot_copy *c, struct mrs_err *e)
{
    struct mrs_arena a;
    const struct mrs_coll **coll;
    uint32_t n = 0;
    mrs_arena_init(&a, c->job->mem);
    enum mrs_status s = live_plan_colls(c->job, &a, &coll, &n, e);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        const struct live_coll_info *info = live_server_coll(c->job->server, coll[i]);
        if (info) {
            s = info->view || info->timeseries
                    ? mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s is a view or holds time series: it cannot be reshaped",
                                  coll[i]->ns)
                    : live_claims_in(c->job, coll[i]->ns, &a, &c->claims, e);
            MRS_THEN(s, copy_coll(c, info, e));
        }
    }
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_snapshot(struct live_job *job, const char *dir, const char *base, struct mrs_err *e)
{
    MRS_ASSERT(dir || base);
    struct snapshot_copy c = {.job = job};
    struct mrs_output_opts opts = {.default_codec = MRS_CODEC_NONE, .tmp = job->opts.tmp};
    const char *path[2] = {dir, base};
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&c.buf, job->mem, 2 * MRS_DOC_READ_MAX);
    for (int i = 0; s == MRS_OK && i < 2; i++) {
        s = path[i] ? mrs_output_open(job->mem, path[i], &opts, &c.to[i], e) : MRS_OK;
    }
    MRS_THEN(s, copy_all(&c, e));
    for (int i = 0; i < 2; i++) {
        if (s == MRS_OK && c.to[i]) {
            s = mrs_output_commit(c.to[i], mrs_empty_doc(), NULL, e);
        }
        if (c.to[i]) {
            mrs_output_abort(c.to[i]);
            mrs_output_free(c.to[i]);
        }
    }
    mrs_buf_clear(&c.buf);
    return s;
}
