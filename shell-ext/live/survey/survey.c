/* SPDX-License-Identifier: Apache-2.0 */
/* survey.c - a server as the source of an inspection: its collections, their metadata.
 *
 * A collection with more documents than the sample size is read by ids, which are drawn before its first pass and
 * stored; any other is read completely. Views and time series are reported and not read, as in a dump. */
#include "survey.h"

#include "live/link/bson.h"

#include <unistd.h>

/* ---- the source ---- */
static enum mrs_status
describe(void *arg, uint32_t i, struct mrs_inspect_collection *out, struct mrs_err *e)
{
    MRS_ASSERT(i < ((struct live_survey *)arg)->n);
    struct live_survey *v = arg;
    const struct live_coll_info *info = v->coll[i].info;
    struct mrs_buf one;
    mrs_buf_init(&one, v->job->mem, MRS_METADATA_MAX);
    enum mrs_status s = live_server_metadata(info, &one, e);
    const uint8_t *kept = s == MRS_OK ? mrs_arena_copy(&v->job->server->arena, one.p, one.n) : NULL;
    *out = (struct mrs_inspect_collection){.ns = info->coll.ns,
                                           .metadata = {kept, (uint32_t)one.n},
                                           .has_data = !info->view && !info->timeseries,
                                           .is_view = info->view};
    mrs_buf_clear(&one);
    return s == MRS_OK && !kept ? mrs_err_memory(e, out->metadata.n) : s;
}

static enum mrs_status
scan(void *arg, uint32_t i, const struct mrs_inspect_sink *to, double *share, struct mrs_err *e)
{
    MRS_ASSERT(i < ((struct live_survey *)arg)->n);
    struct live_survey *v = arg;
    struct live_survey_coll *c = &v->coll[i];
    enum mrs_status s = c->chosen ? MRS_OK : live_survey_choose(v, c, e);
    *share = c->sampled ? (double)c->ids / (double)c->count : 1;
    return s == MRS_OK ? live_survey_scan(v, c, to, e) : s;
}

static enum mrs_status
look_up(void *arg, uint32_t i, const struct mrs_inspect_question *q, struct mrs_err *e)
{
    struct live_survey *v = arg;
    return live_survey_lookup(v, &v->coll[i], q, e);
}

static void
phase(void *arg, const char *what)
{
    MRS_ASSERT(what);
    struct live_survey *v = arg;
    v->phase = what;
    v->done = 0;
}

static enum mrs_status
index_uses(void *arg, uint32_t i, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(i < ((struct live_survey *)arg)->n);
    struct live_survey *v = arg;
    const struct live_coll_info *info = v->coll[i].info;
    *out = mrs_empty_doc();
    return info->view || info->timeseries || v->uses_denied ? MRS_OK : live_survey_uses(v, &info->coll, out, e);
}

static enum mrs_status
profile(void *arg, const struct mrs_inspect_sink *to, struct mrs_err *e)
{
    return live_survey_profile(arg, to, e);
}

void
live_survey_source(struct live_survey *v, struct mrs_inspect_source *out)
{
    *out = (struct mrs_inspect_source){.collections = v->n,
                                       .workers = 1,
                                       .describe = describe,
                                       .scan = scan,
                                       .index_uses = index_uses,
                                       .profile = profile,
                                       .look_up = look_up,
                                       .phase = phase,
                                       .arg = v};
}

/* ---- open, close ---- */
/* A user without the privilege for sizes may still count. */
static enum mrs_status
count(struct live_survey *v, struct live_survey_coll *c, struct mrs_err *e)
{
    MRS_ASSERT(c->info);
    struct mrs_buf cmd, reply;
    struct mrs_view count_cmd;
    c->count = c->info->count;
    if (c->count || c->info->view || c->info->timeseries) {
        return MRS_OK;
    }
    mrs_buf_init(&cmd, v->job->mem, 4096);
    mrs_buf_init(&reply, v->job->mem, 1 << 20);
    enum mrs_status s = live_doc(&cmd, &count_cmd, e, "{count: %s}", c->info->coll.coll);
    MRS_THEN(s, live_command(v->job->link, c->info->coll.db, count_cmd, 0, &reply, NULL, e));
    int64_t n = s == MRS_OK ? live_int_at((struct mrs_view){reply.p, (uint32_t)reply.n}, "n", 0) : 0;
    c->count = n > 0 ? (uint64_t)n : 0;
    mrs_buf_clear(&cmd);
    mrs_buf_clear(&reply);
    return s == MRS_FAIL ? live_survey_place(c, e) : s;
}

static enum mrs_status
take_collections(struct live_survey *v, struct mrs_err *e)
{
    MRS_ASSERT(!v->coll);
    const struct live_server *server = v->job->server;
    enum mrs_status s = MRS_OK;
    v->coll = mrs_zalloc(v->job->mem, ((size_t)server->n_coll + 1) * sizeof *v->coll);
    MRS_TRY(mrs_allocated(v->coll, server->n_coll * sizeof *v->coll, e));
    for (uint32_t i = 0; s == MRS_OK && i < server->n_coll; i++) {
        if (!v->opts.like || mrs_ns_like(v->opts.like, server->coll[i].coll.ns)) {
            struct live_survey_coll *c = &v->coll[v->n++];
            c->info = &server->coll[i];
            s = count(v, c, e);
            v->total += v->opts.whole || c->count < v->opts.sample ? c->count : v->opts.sample;
        }
    }
    if (s == MRS_OK && !v->n) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "there is no collection%s%s%s%s that the user may see",
                        v->opts.like ? " like " : "", v->opts.like ? v->opts.like : "",
                        v->opts.db ? " in the database " : "", v->opts.db ? v->opts.db : "");
    }
    return s;
}

enum mrs_status
live_survey_open(struct live_job *job, const struct live_survey_opts *opts, struct live_survey *out, struct mrs_err *e)
{
    MRS_ASSERT(job->link && opts);
    *out = (struct live_survey){.job = job, .opts = *opts, .file = -1, .phase = "reading documents"};
    mrs_buf_init(&out->uses, job->mem, MRS_METADATA_MAX);
    enum mrs_status s = live_server_read_any(job->mem, job->link, opts->db, &job->server, e);
    return s == MRS_OK ? take_collections(out, e) : s;
}

void
live_survey_close(struct live_survey *v)
{
    if (v->job) {
        mrs_buf_clear(&v->uses);
        mrs_free(v->job->mem, v->coll);
        if (v->file >= 0) {
            close(v->file);
        }
    }
}
