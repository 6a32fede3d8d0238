/* SPDX-License-Identifier: Apache-2.0 */
/* unit_test.h - units derived from documents beside the same plan run offline over a dump of the same documents.
 *
 * Offline is the oracle: what units claim and make must be, byte for byte, what the offline engine wrote. Documents
 * are texts, in `_id` order. */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include "../run/dump_test.h"
#include "live_test.h"

#include "live/pass/range_pass.h"

#define TEST_DB "mrs_unit_test"

struct docs {
    uint8_t *p;
    struct mrs_view d[512];
    uint32_t n;
};

static inline void
docs_split(struct docs *o, uint8_t *p, size_t bytes)
{
    o->p = p;
    o->n = 0;
    for (size_t k = 0; k < bytes; k += mrs_le32(p + k)) {
        assert_true(o->n < 512);
        o->d[o->n++] = (struct mrs_view){p + k, mrs_le32(p + k)};
    }
}

static inline void
docs_make(struct docs *o, const char *text)
{
    size_t bytes;
    uint8_t *p = to_bson(text, &bytes);
    docs_split(o, p, bytes);
}

/* What the offline run wrote for a collection; nothing where it wrote none. */
static inline void
docs_written(struct docs *o, const char *coll)
{
    char name[128];
    uint8_t *p = malloc(4u << 20);
    snprintf(name, sizeof name, "out/" TEST_DB "/%s.bson", coll);
    docs_split(o, p, there(name) ? get_file(name, p, 4u << 20) : 0);
}

static inline const struct mrs_view *
docs_find(const struct docs *o, struct mrs_view d)
{
    for (uint32_t i = 0; i < o->n; i++) {
        if (mrs_identical(mrs_doc_get(o->d[i], "_id"), mrs_doc_get(d, "_id"))) {
            return &o->d[i];
        }
    }
    return NULL;
}

static inline const char *
picture(struct mrs_view d)
{
    static char ring[4][4096];
    static int turn;
    char *text = ring[turn++ % 4];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    mrs_buf_init(&b, mem, SIZE_MAX);
    mrs_ejson_write(d, false, &b);
    snprintf(text, sizeof ring[0], "%.*s", (int)b.n, (const char *)b.p);
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
    return text;
}

static inline void
same_bytes(struct mrs_view got, struct mrs_view want, const char *what)
{
    if (got.n != want.n || memcmp(got.p, want.p, got.n) != 0) {
        fail_msg("%s\n  got %s\n want %s", what, picture(got), picture(want));
    }
}

/* ---- a job ---- */
struct bed {
    struct mrs_mem *mem, *own; /* of plan and link; of the job: its allocations may fail */
    struct mrs_arena arena;
    struct mrs_plan *plan;
    struct mrs_live live;
    struct live_job job;
    struct mrs_err e;
};

/* uri NULL: without a server. */
static inline void
bed_open(struct bed *b, const char *steps, const char *uri, uint64_t fail_at)
{
    char text[8192];
    struct mrs_plan_opts po = {.file = "p", .default_db = TEST_DB};
    memset(b, 0, sizeof *b);
    b->mem = mrs_mem_new(0);
    b->own = mrs_mem_new(fail_at);
    mrs_arena_init(&b->arena, b->mem);
    mrs_err_clear(&b->e);
    snprintf(text, sizeof text, "steps:\n%s", steps);
    if (mrs_plan_load(b->mem, text, strlen(text), &po, &b->plan, &b->e) != MRS_OK) {
        fail_msg("%s: %s", steps, b->plan && b->plan->n_errors ? b->plan->errors[0].msg : b->e.msg);
    }
    assert_int_equal(mrs_live_judge(b->plan, &b->arena, &b->live, &b->e), MRS_OK);
    b->job = (struct live_job){.mem = b->own, .plan = b->plan, .live = &b->live};
    if (uri && live_link_open(b->mem, uri, "mongoreshape", &b->job.link, &b->e) != MRS_OK) {
        fail_msg("%s", b->e.msg);
    }
}

static inline void
bed_close(struct bed *b)
{
    if (b->job.link) {
        live_link_close(b->job.link);
    }
    assert_int_equal(mrs_mem_close(b->own), 0);
    mrs_plan_free(b->plan);
    mrs_arena_clear(&b->arena);
    assert_int_equal(mrs_mem_close(b->mem), 0);
}

static inline struct mrs_coll
bed_coll(const char *name)
{
    static char ns[8][128];
    static int turn;
    char *text = ns[turn++ % 8];
    snprintf(text, sizeof ns[0], TEST_DB ".%s", name);
    return (struct mrs_coll){TEST_DB, text + sizeof TEST_DB, text};
}

/* The collection as it is to be on the server: these documents and no others. */
static inline void
bed_fill(struct bed *b, const char *name, const struct docs *docs)
{
    struct mrs_coll c = bed_coll(name);
    struct mrs_arena a;
    struct mrs_view cmd;
    struct live_fault f;
    struct live_bulk_result r;
    struct live_op op[512];
    mrs_arena_init(&a, b->mem);
    assert_int_equal(live_doc_in(&a, &cmd, &b->e, "{drop: %s}", c.coll), MRS_OK);
    if (live_command(b->job.link, c.db, cmd, LIVE_WRITE, NULL, &f, &b->e) != MRS_OK) {
        assert_int_equal(f.kind, LIVE_FAULT_MISSING);
        mrs_err_clear(&b->e);
    }
    for (uint32_t i = 0; i < docs->n; i++) {
        op[i] = (struct live_op){.kind = LIVE_INSERT, .doc = docs->d[i]};
    }
    if (docs->n && live_bulk(b->job.link, &c, op, docs->n, 0, false, &a, &r, &f, &b->e) != MRS_OK) {
        fail_msg("%s: %s", name, b->e.msg);
    }
    assert_true(docs->n == 0 || (r.n_errors == 0 && r.inserted == docs->n));
    mrs_arena_clear(&a);
}

#endif
