/* SPDX-License-Identifier: Apache-2.0 */
/* host_failing.c - each allocation of the extension fails, one after the other: it says so, or does without, and keeps
 * nothing. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

#define STAGE(steps, more) "{'$reshape': {'plan': {'steps': [" steps "]}" more "}}"
static const char *const stages[] = {
    STAGE("{'set': {'in': 'a', 'fields': {'x': {'$concat': ['$s', 'b']}}}}", ""),
    STAGE("{'extract': {'from': 'a', 'path': 'l', 'into': 'b', 'parent_ref': 'a'}}", ", 'emit': 'b'"),
    STAGE("{'rollup': {'from': 'a', 'into': 'b', 'by': '$k', 'fields': {'n': {'$push': '$s'}}}}", ""),
    STAGE("{'embed': {'from': 'c', 'into': 'a', 'match': {'p': '_id'}, 'as': 'cs'}}", ", 'of': 'a', 'with': {'c': "
                                        "'__c'}"),
    STAGE("{'sett': {'in': 'a'}}", ", 'memry': 1"),
};

/* Everything that the server does with a stage. True: it came to an end and nothing had failed. */
static bool
whole_life(struct host *h, struct mrs_view stage, const struct host_docs *docs, struct host_docs *out)
{
    struct host_source source;
    struct host_context c;
    struct mdb_buf *buf = NULL;
    struct mdb_node *n = host_parse(h, stage);
    struct mdb_logical *l = n ? host_promote(h, n, "shop") : NULL;
    if (!l) {
        return false;
    }
    bool ok = host_ok(h, l->calls->serialize(l, &buf));
    CHECK(ok == (buf != NULL) && (ok || h->code == 146));
    free((void *)(uintptr_t)host_take(buf).p);
    struct mdb_exec *x = host_compile(h, l);
    if (!x) {
        return false;
    }
    host_context(&c);
    bool measured = host_ok(h, x->calls->create_metrics(x, &c.metrics));
    CHECK(measured == (c.metrics != NULL) && (measured || h->code == 146));
    host_source(&source, docs, HOST_MIXES);
    ok = host_ok(h, x->calls->set_source(x, &source.face)) && ok && measured;
    int said = host_drain(h, x, &c, out);
    int32_t code = h->code;
    if (said == HOST_FAILED) { /* and never an end after an error, but what was not begun may be tried again */
        int then = host_next(h, x, &c, out, NULL);
        CHECK(then == HOST_FAILED || then == 0 || then == HOST_DONE);
    }
    h->code = said == HOST_FAILED ? code : 146; /* the others were looked at */
    x->calls->destroy(x);
    if (c.metrics) {
        c.metrics->calls->destroy(c.metrics);
    }
    host_source_clear(&source);
    return ok && said == HOST_DONE;
}

static void
every_one(struct host *h, const char *stage, bool good)
{
    struct host_docs docs = {0}, want = {0};
    struct mrs_view spec = host_doc(stage);
    for (int i = 0; i < 3; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'_id': %d, 'k': %d, 's': 'x', 'l': [{'v': 1}], '__c': [{'_id': 1, 'p': %d}]}",
                 i, i / 2,
                 i);
        struct mrs_view d = host_doc(text);
        host_add(&docs, d);
        free((void *)(uintptr_t)d.p);
    }
    host_memory_fail(0);
    CHECK(whole_life(h, spec, &docs, &want) == good);
    long n = host_memory_fail(0), live = host_memory_live();
    CHECK(n > 10);
    for (long at = 1; at <= n; at++) {
        struct host_docs out = {0};
        host_memory_fail(at);
        bool ok = whole_life(h, spec, &docs, &out);
        host_memory_fail(0);
        if (!CHECK(ok || h->code == 146 || !good)) {
            host_note("out of memory", h->error);
        }
        CHECK(!ok || out.n == want.n);
        CHECK(host_memory_live() == live && host_counts.bufs == 0 && host_counts.statuses == 0);
        host_clear(&out);
    }
    host_clear(&docs);
    host_clear(&want);
    free((void *)(uintptr_t)spec.p);
}

void
host_failing(struct host *h, const char *so)
{
    static const char options[] = "plans: [ { database: shop, steps: [ { set: { in: a, fields: { x: 1 } } } ] } ]";
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        every_one(h, stages[i], i + 1 < sizeof stages / sizeof *stages);
    }
    struct host other;
    host_memory_fail(0);
    CHECK(host_open(&other, so, options));
    long n = host_memory_fail(0);
    for (long at = 1; at <= n; at++) {
        host_memory_fail(at);
        bool ok = host_open(&other, so, options);
        host_memory_fail(0);
        CHECK(ok || other.code == 146);
    }
}
