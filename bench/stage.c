/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - how fast the stage of the extension is: stage SO PLAN.yaml FILE.bson DB OF EMIT [OUT]
 *
 * Loads the library as a server does, lends it the documents of FILE one by one, as documents of DB.OF, and takes
 * those of DB.EMIT. Prints seconds, documents in and out. Documents lie in memory before the clock runs, and each that
 * comes out is copied once, as the stage behind it would. OUT: they are written there, after the clock. */
#include "clock.h"
#include "mongoreshape/build.h"
#include "mongoreshape/plan.h"
#include "../tests/host/host.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- all is well, without an allocation for each document ---- */
static void
fine_destroy(struct mdb_status *s)
{
    (void)s;
}

static int32_t
fine_code(const struct mdb_status *s)
{
    (void)s;
    return 0;
}

static struct mdb_bytes
fine_reason(const struct mdb_status *s)
{
    (void)s;
    return (struct mdb_bytes){(const uint8_t *)"", 0};
}

static void
fine_set_code(struct mdb_status *s, int32_t code)
{
    (void)s;
    (void)code;
}

static struct mdb_status *fine(void);

static struct mdb_status *
fine_set_reason(struct mdb_status *s, struct mdb_bytes reason)
{
    (void)s;
    (void)reason;
    return fine();
}

static struct mdb_status *
fine_clone(const struct mdb_status *s, struct mdb_status **out)
{
    (void)s;
    *out = fine();
    return fine();
}

static const struct mdb_status_calls fine_calls = {fine_destroy,  fine_code,       fine_reason,
                                                   fine_set_code, fine_set_reason, fine_clone};
static const struct mdb_status fine_status = {&fine_calls};

static struct mdb_status *
fine(void)
{
    return (struct mdb_status *)(uintptr_t)&fine_status;
}

/* ---- the stage before ---- */
struct lender {
    struct mdb_exec face;
    const struct host_docs *docs;
    uint32_t at;
};

static struct mdb_status *
lender_next(struct mdb_exec *x, struct mdb_context *c, struct mdb_next *out)
{
    struct lender *l = (struct lender *)(void *)x;
    struct mrs_view none = mrs_empty_doc();
    (void)c;
    *out = (struct mdb_next){.code = MDB_EOF};
    if (l->at < l->docs->n) {
        struct mrs_view d = l->docs->doc[l->at++];
        out->code = MDB_ADVANCED;
        out->doc = (struct mdb_container){.type = MDB_LENT, .u.lent = {d.p, d.n}};
        out->meta = (struct mdb_container){.type = MDB_LENT, .u.lent = {none.p, none.n}};
    }
    return fine();
}

static const struct mdb_exec_calls lender_calls = {.get_next = lender_next};

/* ---- the operation ---- */
static struct mdb_status *
no_interrupt(const struct mdb_context *c, struct mdb_status *ours)
{
    (void)c;
    (void)ours;
    return fine();
}

static struct mdb_status *
no_metrics(const struct mdb_context *c, struct mdb_exec *x, struct mdb_metrics **out)
{
    (void)c;
    (void)x;
    *out = NULL;
    return fine();
}

static const struct mdb_context_calls quiet_calls = {.check_for_interrupt = no_interrupt, .get_metrics = no_metrics};

/* Runs it to its end; keep: what comes out, or NULL. The number of documents, -1: it failed. */
static long
drain(struct host *h, struct mdb_exec *x, const struct host_docs *docs, struct host_docs *keep)
{
    static uint8_t copy[1 << 25];
    struct lender lender = {.face = {&lender_calls}, .docs = docs};
    struct mdb_context context = {&quiet_calls};
    long n = 0;
    if (!host_ok(h, x->calls->set_source(x, &lender.face))) {
        return -1;
    }
    for (;;) {
        struct mdb_next r = {.code = MDB_EOF};
        struct mdb_status *s = x->calls->get_next(x, &context, &r);
        if (s->calls->get_code(s) != 0) {
            (void)host_ok(h, s);
            return -1;
        }
        s->calls->destroy(s);
        if (r.code != MDB_ADVANCED) {
            return n;
        }
        struct mdb_bytes d = r.doc.type == MDB_LENT ? r.doc.u.lent : r.doc.u.given->calls->get_view(r.doc.u.given);
        memcpy(copy, d.data, d.len < sizeof copy ? d.len : sizeof copy);
        if (keep) {
            host_add(keep, (struct mrs_view){d.data, (uint32_t)d.len});
        }
        n++;
    }
}

/* ---- the specification ---- */
static void
put_coll(struct mrs_build *b, const char *key, const char *db, const char *coll)
{
    mrs_build_open(b, key, (uint32_t)strlen(key), MRS_DOCUMENT);
    mrs_build_text(b, "db", db, (uint32_t)strlen(db));
    mrs_build_text(b, "coll", coll, (uint32_t)strlen(coll));
    mrs_build_close(b);
}

static struct mdb_exec *
make(struct host *h, char **argv)
{
    static char text[1 << 20];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf plan, spec;
    struct mrs_build b;
    struct mrs_view doc;
    FILE *f = fopen(argv[2], "rb");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) {
        fclose(f);
    }
    mrs_buf_init(&plan, mem, 1u << 24);
    mrs_buf_init(&spec, mem, 1u << 24);
    mrs_build_init(&b, &spec);
    struct mdb_exec *x = NULL;
    if (n && mrs_yaml_doc(mem, text, n, &plan, NULL) == MRS_OK) {
        mrs_build_open(&b, "$reshape", 8, MRS_DOCUMENT);
        mrs_build_val(&b, "plan", 4, mrs_view_val((struct mrs_view){plan.p, (uint32_t)plan.n}));
        put_coll(&b, "of", argv[4], argv[5]);
        put_coll(&b, "emit", argv[4], argv[6]);
        mrs_build_close(&b);
        x = mrs_build_finish(&b, &doc, NULL) == MRS_OK ? host_stage(h, doc, argv[4]) : NULL;
    }
    mrs_buf_clear(&spec);
    mrs_buf_clear(&plan);
    mrs_mem_close(mem);
    return x;
}

static int
write_out(const char *file, const struct host_docs *docs)
{
    FILE *f = fopen(file, "wb");
    bool ok = f != NULL;
    for (uint32_t i = 0; ok && i < docs->n; i++) {
        ok = fwrite(docs->doc[i].p, 1, docs->doc[i].n, f) == docs->doc[i].n;
    }
    return (f && fclose(f) != 0) || !ok;
}

int
main(int argc, char **argv)
{
    struct host h;
    struct host_docs in = {0}, out = {0};
    if (argc < 7 || !host_open(&h, argv[1], "") || !host_load(&in, argv[3])) {
        fprintf(stderr, "usage: stage SO PLAN.yaml FILE.bson DB OF EMIT [OUT]\n");
        return 2;
    }
    struct mdb_exec *x = make(&h, argv);
    if (!x) {
        fprintf(stderr, "stage: %s\n", h.error);
        return 2;
    }
    double begun = now();
    long n = drain(&h, x, &in, argc > 7 ? &out : NULL);
    double s = now() - begun;
    x->calls->destroy(x);
    if (n < 0) {
        fprintf(stderr, "stage: %s\n", h.error);
        return 1;
    }
    printf("%.4f %u %ld\n", s, in.n, n);
    int bad = argc > 7 ? write_out(argv[7], &out) : 0;
    host_clear(&in);
    host_clear(&out);
    return bad;
}
