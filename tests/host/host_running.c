/* SPDX-License-Identifier: Apache-2.0 */
/* host_running.c - the stage at work: who owns what, pauses, errors, ends, interrupts, threads. */
#include "host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STAGE(steps, more) "{'$reshape': {'plan': {'steps': [" steps "]}" more "}}"
#define ONE STAGE("{'set': {'in': 'a', 'where': {'y': {'$ne': 3}}, 'fields': {'x': {'$add': ['$y', 1]}}}}", "")
#define MANY STAGE("{'extract': {'from': 'a', 'path': 'l', 'into': 'b', 'parent_ref': 'a'}}", ", 'emit': 'b'")
#define GROUPED STAGE("{'rollup': {'from': 'a', 'into': 'b', 'by': '$k', 'fields': {'n': {'$sum': '$y'}}}}", "")
#define JOINED STAGE("{'embed': {'from': 'c', 'into': 'a', 'match': {'p': '_id'}, 'as': 'cs'}}", \
                     ", 'of': 'a', 'with': {'c': '__c'}")
static const char *const kinds[] = {ONE, MANY, GROUPED, JOINED};
enum { KINDS = 4, DOCS = 9 };

static void
make_docs(struct host_docs *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char text[400];
        snprintf(text, sizeof text, "{'_id': %u, 'k': %u, 'y': %u, 'l': [{'v': %u}, {'v': 'x'}], '__c': [{'_id': "
                                    "'c%u', "
                 "'p': %u}]}", i, i / 2, i, i, i, i);
        struct mrs_view v = host_doc(text);
        host_add(d, v);
        free((void *)(uintptr_t)v.p);
    }
}

static struct mdb_exec *
make(struct host *h, const char *stage)
{
    struct mrs_view d = host_doc(stage);
    struct mdb_exec *x = host_stage(h, d, "shop");
    free((void *)(uintptr_t)d.p);
    if (!CHECK(x != NULL)) {
        host_note(stage, h->error);
        exit(1);
    }
    return x;
}

static bool
same(const struct host_docs *a, const struct host_docs *b, uint32_t n)
{
    bool yes = a->n >= n && b->n >= n;
    for (uint32_t i = 0; yes && i < n; i++) {
        yes = a->doc[i].n == b->doc[i].n && memcmp(a->doc[i].p, b->doc[i].p, a->doc[i].n) == 0;
    }
    return yes;
}

struct run {
    struct mdb_exec *x;
    struct host_source source;
    struct host_context context;
    struct host_docs out;
};

static void
begin(struct host *h, struct run *r, const char *stage, const struct host_docs *docs, enum host_lends how)
{
    *r = (struct run){.x = make(h, stage)};
    host_source(&r->source, docs, how);
    host_context(&r->context);
    CHECK(host_ok(h, r->x->calls->set_source(r->x, &r->source.face)));
}

static void
end(struct run *r)
{
    r->x->calls->destroy(r->x);
    host_source_clear(&r->source);
    host_clear(&r->out);
}

/* Lent, given or both; paused before any document: the same comes out, and nothing is left. */
static void
ownership(struct host *h, const char *stage, const struct host_docs *docs, struct host_docs *want)
{
    struct run r;
    begin(h, &r, stage, docs, HOST_LENDS);
    CHECK(host_drain(h, r.x, &r.context, want) == HOST_DONE && want->n > 0);
    end(&r);
    for (int how = HOST_LENDS; how <= HOST_MIXES; how++) {
        for (uint32_t every = 0; every < 4; every++) {
            begin(h, &r, stage, docs, how);
            r.source.pause_every = every;
            CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_DONE);
            CHECK(r.out.n == want->n && same(&r.out, want, want->n));
            CHECK(host_next(h, r.x, &r.context, &r.out, NULL) == HOST_DONE); /* the end is final */
            CHECK(r.source.after_end == 1); /* and the source is not asked behind its end */
            end(&r);
        }
    }
    CHECK(host_counts.bufs == 0 && host_counts.statuses == 0);
}

/* A pause goes up at once: nothing more is asked for in the same call. */
static void
pauses(struct host *h, const struct host_docs *docs)
{
    struct run r;
    begin(h, &r, ONE, docs, HOST_LENDS);
    r.source.pause_every = 1;
    CHECK(host_next(h, r.x, &r.context, &r.out, NULL) == HOST_PAUSED && r.source.calls == 1);
    CHECK(host_next(h, r.x, &r.context, &r.out, NULL) == 0 && r.source.calls == 2);
    end(&r);
}

/* An error of the source at each of its calls goes up as it is, and no end comes after it. */
static void
errors(struct host *h, const char *stage, const struct host_docs *docs, const struct host_docs *want)
{
    for (uint32_t at = 1; at <= docs->n + 1; at++) {
        struct run r;
        begin(h, &r, stage, docs, HOST_MIXES);
        r.source.fail_at = at;
        CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_FAILED && h->code == 4711);
        CHECK(strcmp(h->error, "the stage before it fails") == 0);
        CHECK(same(&r.out, want, r.out.n));
        uint32_t calls = r.source.calls;
        CHECK(host_next(h, r.x, &r.context, &r.out, NULL) == HOST_FAILED && h->code == 4711);
        CHECK(r.source.calls == calls);
        end(&r);
        CHECK(host_counts.bufs == 0 && host_counts.statuses == 0);
    }
}

/* Destroyed after any number of documents, without a close, or without ever having been asked. */
static void
early(struct host *h, const char *stage, const struct host_docs *docs, uint32_t n)
{
    for (uint32_t at = 0; at <= n; at++) {
        struct run r;
        begin(h, &r, stage, docs, HOST_GIVES);
        while (r.out.n < at && host_next(h, r.x, &r.context, &r.out, NULL) == 0) {
        }
        CHECK(host_ok(h, r.x->calls->set_source(r.x, NULL)));
        end(&r);
        CHECK(host_counts.bufs == 0 && host_counts.statuses == 0);
    }
}

static void
again(struct host *h, const char *stage, const struct host_docs *docs, const struct host_docs *want)
{
    struct run r;
    begin(h, &r, stage, docs, HOST_LENDS);
    CHECK(host_ok(h, r.x->calls->open(r.x)));
    CHECK(host_next(h, r.x, &r.context, &r.out, NULL) == 0);
    CHECK(host_ok(h, r.x->calls->reopen(r.x)));
    r.source.at = 0;
    host_clear(&r.out);
    CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_DONE && r.out.n == want->n && same(&r.out, want, want->n));
    CHECK(host_ok(h, r.x->calls->close(r.x)) && host_ok(h, r.x->calls->close(r.x)));
    r.source.at = 0;
    host_clear(&r.out);
    CHECK(host_ok(h, r.x->calls->reopen(r.x)));
    CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_DONE && r.out.n == want->n && same(&r.out, want, want->n));
    end(&r);
}

static void
sources(struct host *h, const struct host_docs *docs)
{
    struct run r;
    begin(h, &r, ONE, docs, HOST_LENDS);
    CHECK(host_ok(h, r.x->calls->set_source(r.x, NULL)));
    CHECK(host_next(h, r.x, &r.context, &r.out, NULL) == HOST_FAILED && strstr(h->error, "no stage before it"));
    end(&r);
    begin(h, &r, ONE, docs, HOST_LENDS);
    r.source.strange = true;
    CHECK(host_next(h, r.x, &r.context, &r.out, NULL) == HOST_FAILED && strstr(h->error, "neither a document nor an "
                                        "end"));
    end(&r);
    struct mrs_view cut = {docs->doc[0].p, docs->doc[0].n - 3};
    struct host_docs damaged = {0};
    host_add(&damaged, docs->doc[0]);
    host_add(&damaged, cut);
    begin(h, &r, ONE, &damaged, HOST_GIVES);
    CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_FAILED && h->code == 1970000003 && r.out.n == 1);
    end(&r);
    host_clear(&damaged);
    CHECK(host_counts.bufs == 0 && host_counts.statuses == 0);
}

/* ---- interrupts ---- */
static void
interrupts(struct host *h)
{
    struct host_docs docs = {0};
    struct run r;
    make_docs(&docs, 1000);
    for (uint32_t at = 1; at <= 7; at++) {
        begin(h, &r, ONE, &docs, HOST_LENDS);
        r.context.kill_at = at;
        CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_FAILED && h->code == 11601);
        CHECK(strcmp(h->error, "killed") == 0 && r.context.checks == at && r.out.n == 128 * (at - 1));
        CHECK(host_next(h, r.x, &r.context, &r.out, NULL) == HOST_FAILED && h->code == 11601);
        end(&r);
        begin(h, &r, ONE, &docs, HOST_LENDS);
        r.context.break_at = at;
        CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_FAILED && h->code == 4712 && r.context.checks == at);
        end(&r);
    }
    host_clear(&docs);
    CHECK(host_counts.bufs == 0 && host_counts.statuses == 0);
    /* Long work on one document asks, too. */
    make_docs(&docs, 1);
    begin(h, &r, STAGE("{'set': {'in': 'a', 'fields': {'x': {'$sum': {'$map': {'input': {'$range': [0, 100000]}, 'in': "
                       "{'$add': ['$$this', 1]}}}}}}}", ""), &docs, HOST_LENDS);
    r.context.kill_at = 5;
    CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_FAILED && h->code == 11601 && r.context.checks == 5);
    end(&r);
    host_clear(&docs);
}

/* ---- figures ---- */
static int64_t
figure(struct mrs_view d, const char *name)
{
    int64_t n = -1;
    (void)mrs_val_integral(mrs_doc_get(d, name), &n);
    return n;
}

static void
figures(struct host *h, const struct host_docs *docs)
{
    struct run r;
    struct mdb_metrics *m = NULL;
    struct mdb_buf *buf = NULL;
    begin(h, &r, MANY, docs, HOST_LENDS);
    CHECK(host_ok(h, r.x->calls->create_metrics(r.x, &m)) && m);
    r.context.metrics = m;
    CHECK(host_drain(h, r.x, &r.context, &r.out) == HOST_DONE);
    CHECK(host_ok(h, m->calls->serialize(m, &buf)) && buf);
    struct mrs_view d = host_take(buf);
    CHECK(figure(d, "documentsIn") == docs->n && figure(d, "documentsOut") == 2 * docs->n && figure(d, "refused") == 0);
    CHECK(figure(d, "bytesIn") > 0 && figure(d, "bytesOut") > 0 && figure(d, "peakBytes") > 0);
    free((void *)(uintptr_t)d.p);
    CHECK(!host_ok(h, m->calls->update(m, (struct mdb_bytes){(const uint8_t *)"odd", 3})));
    buf = NULL;
    CHECK(host_ok(h, r.x->calls->explain(r.x, NULL, 2, &buf)) && buf);
    d = host_take(buf);
    CHECK(figure(d, "documentsOut") == 2 * docs->n);
    free((void *)(uintptr_t)d.p);
    buf = NULL;
    CHECK(host_ok(h, r.x->calls->explain(r.x, NULL, 1, &buf)) && buf);
    d = host_take(buf);
    CHECK(d.n == 5);
    free((void *)(uintptr_t)d.p);
    m->calls->destroy(m);
    end(&r);
}

/* Metadata stay with their document where one becomes one, and only there. */
static void
metadata(struct host *h, const struct host_docs *docs)
{
    struct run r;
    struct host_docs meta = {0};
    begin(h, &r, ONE, docs, HOST_LENDS);
    r.source.meta = true;
    while (host_next(h, r.x, &r.context, &r.out, &meta) == 0) {
    }
    CHECK(meta.n == docs->n && same(&meta, docs, docs->n));
    end(&r);
    host_clear(&meta);
    begin(h, &r, MANY, docs, HOST_LENDS);
    r.source.meta = true;
    CHECK(host_next(h, r.x, &r.context, &r.out, &meta) == 0 && meta.doc[0].n == 0);
    end(&r);
    host_clear(&meta);
}

/* Two of our stages, one behind the other. */
static void
in_a_row(struct host *h, const struct host_docs *docs)
{
    struct run r;
    struct mdb_exec *second = make(h, STAGE("{'set': {'in': 'a', 'fields': {'z': '$x'}}}", ""));
    begin(h, &r, ONE, docs, HOST_MIXES);
    CHECK(host_ok(h, second->calls->set_source(second, r.x)));
    CHECK(host_drain(h, second, &r.context, &r.out) == HOST_DONE && r.out.n == docs->n);
    CHECK(mrs_val_i32(mrs_doc_get(r.out.doc[4], "z")) == 5);
    CHECK(host_ok(h, second->calls->set_source(second, NULL)));
    second->calls->destroy(second);
    end(&r);
    CHECK(host_counts.bufs == 0 && host_counts.statuses == 0);
}

/* ---- threads ---- */
struct step {
    struct host *h;
    struct run *r;
    int said;
};

static void *
one_call(void *arg)
{
    struct step *s = arg;
    struct host h = *s->h;
    s->said = host_next(&h, s->r->x, &s->r->context, &s->r->out, NULL);
    return NULL;
}

static void *
whole(void *arg)
{
    struct step *s = arg;
    struct host h = *s->h;
    s->said = host_drain(&h, s->r->x, &s->r->context, &s->r->out);
    return NULL;
}

/* Each call on another thread; and four operations of one stage at once. */
static void
threads(struct host *h, const char *stage, const struct host_docs *docs, const struct host_docs *want)
{
    struct run r, four[4];
    pthread_t t[4];
    struct step s[4];
    begin(h, &r, stage, docs, HOST_MIXES);
    s[0] = (struct step){h, &r, 0};
    while (s[0].said == 0) {
        CHECK(pthread_create(&t[0], NULL, one_call, &s[0]) == 0);
        pthread_join(t[0], NULL);
    }
    CHECK(s[0].said == HOST_DONE && r.out.n == want->n && same(&r.out, want, want->n));
    end(&r);
    struct mrs_view d = host_doc(stage);
    struct mdb_logical *l = host_promote(h, host_parse(h, d), "shop");
    free((void *)(uintptr_t)d.p);
    for (int i = 0; i < 4; i++) {
        four[i] = (struct run){0};
        CHECK(host_ok(h, l->calls->compile(l, &four[i].x)));
        host_source(&four[i].source, docs, HOST_LENDS);
        host_context(&four[i].context);
        CHECK(host_ok(h, four[i].x->calls->set_source(four[i].x, &four[i].source.face)));
        s[i] = (struct step){h, &four[i], 0};
    }
    l->calls->destroy(l);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&t[i], NULL, whole, &s[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        CHECK(s[i].said == HOST_DONE && four[i].out.n == want->n && same(&four[i].out, want, want->n));
        end(&four[i]);
    }
}

void
host_running(struct host *h)
{
    struct host_docs docs = {0};
    make_docs(&docs, DOCS);
    for (int i = 0; i < KINDS; i++) {
        struct host_docs want = {0};
        ownership(h, kinds[i], &docs, &want);
        errors(h, kinds[i], &docs, &want);
        early(h, kinds[i], &docs, want.n);
        again(h, kinds[i], &docs, &want);
        threads(h, kinds[i], &docs, &want);
        host_clear(&want);
    }
    pauses(h, &docs);
    sources(h, &docs);
    interrupts(h);
    figures(h, &docs);
    metadata(h, &docs);
    in_a_row(h, &docs);
    host_clear(&docs);
}
