/* SPDX-License-Identifier: Apache-2.0 */
/* pass_test.h - a job in hand over a database of its own, its collections filled from texts and read back as bytes. */
#ifndef PASS_TEST_H
#define PASS_TEST_H

#include "../run/dump_test.h"
#include "live_test.h"

#include "live/pass/range_pass.h"
#include "live/server/server.h"

#include <unistd.h>

struct desk {
    struct mrs_mem *mem;
    struct live_job job;
    struct mrs_arena judged;
    struct mrs_live live;
    struct mrs_err e;
    char db[48], state[64];
    const char *text;
};

static const char *desk_uri;

static inline void
must(struct desk *d, enum mrs_status s)
{
    if (s != MRS_OK) {
        fail_msg("status %d: %s %s", s, d->e.msg, d->e.where);
    }
}

static inline struct mrs_coll
desk_coll(struct desk *d, const char *name)
{
    static char ns[64][128];
    static unsigned next;
    char *text = ns[next++ % 64];
    snprintf(text, sizeof ns[0], "%s.%s", d->db, name);
    return (struct mrs_coll){d->db, text + strlen(d->db) + 1, text};
}

static inline void
desk_command(struct desk *d, const char *db, const char *text)
{
    size_t n;
    uint8_t *p = to_bson(text, &n);
    must(d, live_command(d->job.link, db, (struct mrs_view){p, (uint32_t)n}, LIVE_WRITE, NULL, NULL, &d->e));
    free(p);
}

static inline void
desk_read_server(struct desk *d)
{
    const char *dbs[1] = {d->db};
    live_server_free(d->job.server);
    d->job.server = NULL;
    must(d, live_server_read(d->mem, d->job.link, dbs, 1, &d->job.server, &d->e));
}

/* A link, a plan that is judged; no run yet. name: of the database, dropped first. */
static inline void
desk_sit(struct desk *d, const char *name, const char *plan)
{
    memset(d, 0, sizeof *d);
    mrs_err_clear(&d->e);
    d->mem = mrs_mem_new(0);
    mrs_arena_init(&d->judged, d->mem);
    snprintf(d->db, sizeof d->db, "mrs_pass_%s_%ld", name, (long)getpid());
    snprintf(d->state, sizeof d->state, "%s_st", d->db);
    d->text = plan;
    d->job.mem = d->mem;
    d->job.opts.db = d->db;
    d->job.opts.state_db = d->state;
    d->job.opts.max_refused = 100;
    d->job.opts.execute = true;
    d->job.live = &d->live;
    must(d, live_link_open(d->mem, desk_uri, d->state, &d->job.link, &d->e));
    desk_command(d, d->db, "{'dropDatabase': 1}");
    desk_command(d, d->state, "{'dropDatabase': 1}");
    struct mrs_plan_opts po = {.file = "p.yaml", .default_db = d->db, .now_ms = 1700000000000};
    if (mrs_plan_load(d->mem, plan, strlen(plan), &po, &d->job.plan, &d->e) != MRS_OK) {
        fail_msg("%s", d->job.plan && d->job.plan->n_errors ? d->job.plan->errors[0].msg : d->e.msg);
    }
    must(d, mrs_live_judge(d->job.plan, &d->judged, &d->live, &d->e));
}

static inline void
desk_open(struct desk *d)
{
    desk_read_server(d);
    must(d, live_run_open(&d->job, true, d->text, strlen(d->text), &d->e));
}

/* The process dies, as far as the server can tell, and another goes on. */
static inline void
desk_again(struct desk *d)
{
    live_run_close(&d->job);
    live_link_close(d->job.link);
    d->job.link = NULL;
    must(d, live_link_open(d->mem, desk_uri, d->state, &d->job.link, &d->e));
    desk_read_server(d);
    must(d, live_run_open(&d->job, false, d->text, strlen(d->text), &d->e));
}

static inline void
desk_leave(struct desk *d)
{
    desk_command(d, d->db, "{'dropDatabase': 1}");
    live_run_close(&d->job);
    desk_command(d, d->state, "{'dropDatabase': 1}");
    live_server_free(d->job.server);
    live_link_close(d->job.link);
    mrs_plan_free(d->job.plan);
    mrs_arena_clear(&d->judged);
    assert_int_equal(mrs_mem_close(d->mem), 0);
}

static inline void
put_views(struct desk *d, const char *coll, const struct mrs_view *docs, uint32_t n)
{
    struct mrs_coll c = desk_coll(d, coll);
    struct live_op *ops = calloc(n + 1, sizeof *ops);
    struct live_bulk_result r;
    struct mrs_arena a;
    struct live_fault f;
    for (uint32_t i = 0; i < n; i++) {
        ops[i] = (struct live_op){LIVE_INSERT, mrs_empty_doc(), docs[i]};
    }
    mrs_arena_init(&a, d->mem);
    must(d, live_bulk(d->job.link, &c, ops, n, LIVE_WRITE, false, &a, &r, &f, &d->e));
    assert_int_equal(r.inserted, n);
    mrs_arena_clear(&a);
    free(ops);
}

static inline void
put_texts(struct desk *d, const char *coll, const char *texts)
{
    size_t n;
    uint8_t *p = to_bson(texts, &n);
    struct mrs_view docs[1300];
    uint32_t k = 0;
    for (size_t at = 0; at < n; at += docs[k++].n) {
        assert_true(k < sizeof docs / sizeof *docs);
        docs[k] = (struct mrs_view){p + at, mrs_le32(p + at)};
    }
    put_views(d, coll, docs, k);
    free(p);
}

/* All documents of a collection in `_id` order, one behind the other. */
static inline uint8_t *
all_bytes(struct desk *d, const char *coll, size_t *n)
{
    struct mrs_coll c = desk_coll(d, coll);
    size_t k;
    uint8_t *opts = to_bson("{'sort': {'_id': 1}}", &k);
    struct live_cursor *cur;
    struct mrs_view doc;
    struct live_fault f;
    struct mrs_buf out;
    enum mrs_status s;
    mrs_buf_init(&out, d->mem, SIZE_MAX);
    must(d, live_find(d->job.link, &c, mrs_empty_doc(), (struct mrs_view){opts, (uint32_t)k}, 0, &cur, &d->e));
    while ((s = live_cursor_next(cur, &doc, &f, &d->e)) == MRS_OK) {
        mrs_buf_put(&out, doc.p, doc.n);
    }
    assert_int_equal(s, MRS_END);
    live_cursor_close(cur);
    uint8_t *p = malloc(out.n + 1);
    if (out.n) {
        memcpy(p, out.p, out.n);
    }
    *n = out.n;
    mrs_buf_clear(&out);
    free(opts);
    return p;
}

static inline void
as_text(const uint8_t *p, size_t n, char *out, size_t room)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    mrs_buf_init(&b, mem, SIZE_MAX);
    for (size_t at = 0; at < n; at += mrs_le32(p + at)) {
        mrs_ejson_write((struct mrs_view){p + at, mrs_le32(p + at)}, true, &b);
        mrs_buf_byte(&b, '\n');
    }
    snprintf(out, room, "%.*s", (int)b.n, b.n ? (char *)b.p : "");
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
}

static inline void
same_bytes(const uint8_t *a, size_t n, const uint8_t *b, size_t m, const char *what)
{
    static char x[8000], y[8000];
    if (n != m || memcmp(a, b, n) != 0) {
        as_text(a, n, x, sizeof x);
        as_text(b, m, y, sizeof y);
        fail_msg("%s: there is\n%snot\n%s", what, x, y);
    }
}

static inline void
holds(struct desk *d, const char *coll, const char *texts)
{
    size_t n, m;
    uint8_t *there = all_bytes(d, coll, &n), *want = to_bson(texts, &m);
    same_bytes(there, n, want, m, coll);
    free(there);
    free(want);
}

static inline void
mutant(const char *name)
{
    if (name) {
        setenv("MRS_MUTANT", name, 1);
    } else {
        unsetenv("MRS_MUTANT");
    }
}

#endif
