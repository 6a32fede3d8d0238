/* SPDX-License-Identifier: Apache-2.0 */
/* host_kinds.c - what each kind of stage asks of its stream, what it refuses, and how much memory it takes. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

#define STAGE(steps, more) "{'$reshape': {'plan': {'steps': [" steps "]}" more "}}"
#define ROLLUP "{'rollup': {'from': 'a', 'into': 'b', 'by': '$k', 'fields': {'n': {'$sum': 1}}}}"
#define BUCKET \
    "{'bucket': {'from': 'a', 'into': 'b', 'by': ['k', 'j'], 'time': 't', 'every': '1h', 'items': 'v', 'start': 's'}}"
#define EMBED "{'embed': {'from': 'c', 'into': 'a', 'match': {'p': '_id'}, 'as': 'cs', 'sort': {'n': 1}}}"

static void
add(struct host_docs *d, const char *text)
{
    struct mrs_view v = host_doc(text);
    host_add(d, v);
    free((void *)(uintptr_t)v.p);
}

/* The stage over documents (an array in text): how it ends, with what came out in *out. */
static int
run(struct host *h, const char *stage, const char *const *texts, struct host_docs *out)
{
    struct host_docs docs = {0};
    struct host_source source;
    struct host_context c;
    struct mrs_view d = host_doc(stage);
    struct mdb_exec *x = host_stage(h, d, "shop");
    free((void *)(uintptr_t)d.p);
    if (!CHECK(x != NULL)) {
        host_note(stage, h->error);
        return HOST_FAILED;
    }
    for (; *texts; texts++) {
        add(&docs, *texts);
    }
    host_source(&source, &docs, HOST_LENDS);
    host_context(&c);
    host_ok(h, x->calls->set_source(x, &source.face));
    int ended = host_drain(h, x, &c, out);
    struct host kept = *h;
    x->calls->destroy(x);
    *h = kept;
    host_source_clear(&source);
    host_clear(&docs);
    return ended;
}
#define RUN(stage, out, ...) run(h, stage, (const char *const[]){__VA_ARGS__, NULL}, out)

static bool
is(const struct host_docs *d, uint32_t i, const char *text)
{
    struct mrs_view want = host_doc(text);
    bool yes = i < d->n && d->doc[i].n == want.n && memcmp(d->doc[i].p, want.p, want.n) == 0;
    free((void *)(uintptr_t)want.p);
    return yes;
}

/* ---- groups ---- */
static void
groups(struct host *h)
{
    struct host_docs out = {0};
    CHECK(RUN(STAGE(ROLLUP, ""), &out, "{'_id': 1, 'k': 1}", "{'_id': 2, 'k': 1}", "{'_id': 3, 'k': 2}") == HOST_DONE);
    CHECK(out.n == 2 && is(&out, 0, "{'_id': 1, 'n': 2}") && is(&out, 1, "{'_id': 2, 'n': 1}"));
    host_clear(&out);
    CHECK(RUN(STAGE(ROLLUP, ""), &out, "{'_id': 1, 'k': 2}", "{'_id': 2, 'k': 1}") == HOST_FAILED);
    CHECK(strstr(h->error, "$sort") && strstr(h->error, "`by` \"$k\"") && strstr(h->error, "_id"));
    host_clear(&out);
    CHECK(RUN(STAGE(BUCKET, ""), &out, "{'_id': 1, 'k': 2, 't': {'$date': {'$numberLong': '7'}}}",
              "{'_id': 2, 'k': 2, 't': {'$date': {'$numberLong': '5'}}}") == HOST_DONE);
    struct mrs_val v = mrs_doc_get(out.doc[0], "v"), v0 = mrs_doc_get(mrs_val_view(v), "0");
    CHECK(out.n == 1 && mrs_val_i32(mrs_doc_get(mrs_val_view(v0), "_id")) == 2); /* in a group, by time */
    host_clear(&out);
    CHECK(RUN(STAGE(BUCKET, ""), &out, "{'_id': 1, 'k': 2, 't': {'$date': {'$numberLong': '0'}}}",
              "{'_id': 2, 'k': 1, 't': {'$date': {'$numberLong': '0'}}}") == HOST_FAILED);
    CHECK(strstr(h->error, "$sort") && strstr(h->error, "`time` \"t\""));
    host_clear(&out);
    CHECK(RUN(STAGE(ROLLUP, ""), &out, "{'_id': 1, 'k': 2}", "{'_id': 2, 'k': 3}", "{'_id': 3, 'k': "
                                        "2}") == HOST_FAILED);
    CHECK(out.n == 1); /* the group that had ended is out already */
    host_clear(&out);
}

/* A server sorts what is missing and what is null alike, so they come mixed; they are two groups all the same. */
static void
missing_and_null(struct host *h)
{
    struct host_docs out = {0};
    CHECK(RUN(STAGE(BUCKET, ""), &out, "{'_id': 1, 'j': 1, 't': {'$date': {'$numberLong': '0'}}}",
              "{'_id': 2, 'k': null, 'j': 1, 't': {'$date': {'$numberLong': '1'}}}",
              "{'_id': 3, 'j': 1, 't': {'$date': {'$numberLong': '2'}}}",
              "{'_id': 4, 'k': null, 'j': 2, 't': {'$date': {'$numberLong': '0'}}}",
              "{'_id': 5, 'j': 3, 't': {'$date': {'$numberLong': '0'}}}",
              "{'_id': 6, 'k': 1, 'j': 0, 't': {'$date': {'$numberLong': '0'}}}") == HOST_DONE);
    CHECK(out.n == 5);
    uint32_t two = 0;
    for (uint32_t i = 0; i < out.n; i++) {
        struct mrs_val v = mrs_doc_get(out.doc[i], "v");
        two += v.type == MRS_ARRAY && mrs_val_count(v) == 2;
    }
    CHECK(two == 1);
    host_clear(&out);
    CHECK(RUN(STAGE(ROLLUP, ""), &out, "{'_id': 1, 'k': null}", "{'_id': 2}", "{'_id': 3, 'k': 1}", "{'_id': 4}") ==
          HOST_FAILED);
    host_clear(&out);
}

/* In the order of `$sort: { k: 1, j: 1 }`: a part that is missing comes first, an array by its least element. Keys as
 * documents would be in another order: { j: 9 } comes after { k: 1, j: 1 }. */
static void
sorted_by_parts(struct host *h)
{
    struct host_docs out = {0};
    const char *stage = STAGE("{'rollup': {'from': 'a', 'into': 'b', 'by': {'k': '$k', 'j': '$j'}, "
                              "'fields': {'n': {'$sum': 1}}}}", "");
    CHECK(RUN(stage, &out, "{'_id': 1, 'j': 3}", "{'_id': 2, 'j': 9}", "{'_id': 3, 'k': 1, 'j': 1}",
              "{'_id': 4, 'k': [7, 2], 'j': 1}", "{'_id': 5, 'k': 2, 'j': 1}", "{'_id': 6, 'k': [7, 2], 'j': 1}",
              "{'_id': 7, 'k': 3}") == HOST_DONE);
    CHECK(out.n == 6);
    uint32_t two = 0;
    for (uint32_t i = 0; i < out.n; i++) {
        two += is(&out, i, "{'_id': {'k': [7, 2], 'j': 1}, 'n': 2}");
    }
    CHECK(two == 1);
    host_clear(&out);
    CHECK(RUN(stage, &out, "{'_id': 1, 'k': [7, 2]}", "{'_id': 2, 'k': [9, 1]}") == HOST_FAILED);
    host_clear(&out);
    stage = STAGE("{'bucket': {'from': 'a', 'into': 'b', 'by': ['k'], 'time': 't', 'every': '1h', 'items': 'v'}}", "");
    CHECK(RUN(stage, &out, "{'_id': 1, 'k': [], 't': {'$date': {'$numberLong': '0'}}}",
              "{'_id': 2, 't': {'$date': {'$numberLong': '0'}}}",
              "{'_id': 3, 'k': [5, 1], 't': {'$date': {'$numberLong': '0'}}}",
              "{'_id': 4, 'k': 4, 't': {'$date': {'$numberLong': '0'}}}") == HOST_DONE);
    CHECK(out.n == 4);
    host_clear(&out);
}

/* ---- joins ---- */
static void
joins(struct host *h)
{
    struct host_docs out = {0};
    const char *stage = STAGE(EMBED, ", 'of': 'a', 'with': {'c': '__c'}");
    CHECK(RUN(stage, &out, "{'_id': 1, '__c': [{'_id': 7, 'p': 1, 'n': 2}, {'_id': 8, 'p': 1, 'n': 1}, {'_id': 9, "
                           "'p': 5}], "
              "'z': 1}", "{'_id': 2, '__c': []}") == HOST_DONE);
    CHECK(out.n == 2);
    CHECK(is(&out, 0, "{'_id': 1, 'z': 1, 'cs': [{'_id': 8, 'p': 1, 'n': 1}, {'_id': 7, 'p': 1, 'n': 2}]}"));
    CHECK(mrs_doc_get(out.doc[1], "__c").type == MRS_MISSING);
    host_clear(&out);
    CHECK(RUN(stage, &out, "{'_id': 1}") == HOST_FAILED && strstr(h->error, "`__c` of a document is no array"));
    CHECK(RUN(stage, &out, "{'_id': 1, '__c': [5]}") == HOST_FAILED && strstr(h->error, "holds what is no document"));
    host_clear(&out);
}

/* ---- what is refused ---- */
#define CAST "{'cast': {'in': 'a', 'fields': {'x': 'int'}}}"
static void
refusals(struct host *h)
{
    struct host_docs out = {0};
    CHECK(RUN(STAGE(CAST, ""), &out, "{'_id': 4, 'x': '5'}", "{'_id': 77, 'x': 'no'}", "{'_id': 6, 'x': '7'}") ==
          HOST_FAILED);
    CHECK(h->code == 1970000010 && strstr(h->error, "77") && strstr(h->error, "step 1 (cast)") && out.n == 1);
    host_clear(&out);
    CHECK(RUN(STAGE(CAST, ", 'refused': 'skip'"), &out, "{'_id': 4, 'x': '5'}", "{'_id': 77, 'x': 'no'}",
              "{'_id': 6, 'x': '7'}") == HOST_DONE);
    CHECK(out.n == 2 && is(&out, 1, "{'_id': 6, 'x': 7}"));
    host_clear(&out);
}

/* What a plan says of time is the time of the stage. */
static void
now(struct host *h)
{
    struct host_docs out = {0};
    CHECK(RUN(STAGE("{'set': {'in': 'a', 'fields': {'x': '$$NOW'}}}", ", 'now': {'$date': {'$numberLong': "
                                        "'86400000'}}"),
              &out, "{'_id': 1}") == HOST_DONE);
    CHECK(is(&out, 0, "{'_id': 1, 'x': {'$date': {'$numberLong': '86400000'}}}"));
    host_clear(&out);
}

/* ---- sizes ---- */
static char *
large(const char *head, size_t n, const char *tail)
{
    size_t at = strlen(head), end = strlen(tail) + 1;
    char *text = malloc(at + n + end);
    if (!text) {
        exit(2);
    }
    memcpy(text, head, at);
    memset(text + at, 'x', n);
    memcpy(text + at + n, tail, end);
    return text;
}

static void
sizes(struct host *h)
{
    struct host_docs out = {0};
    char *most = large("{'_id': 1, 'x': '", (16u << 20) - 30, "'}"), *half = large("{'_id': 1, 'x': '", 9u << 20, "'}");
    CHECK(RUN(STAGE("{'set': {'in': 'a', 'fields': {'y': 1}}}", ""), &out, most) == HOST_DONE);
    CHECK(out.n == 1 && out.doc[0].n <= 16u << 20 && out.doc[0].n > (16u << 20) - 20);
    host_clear(&out);
    CHECK(RUN(STAGE("{'set': {'in': 'a', 'fields': {'y': '$x'}}}", ""), &out, half) == HOST_FAILED);
    CHECK(out.n == 0 && strstr(h->error, "16 MiB"));
    char *over = large("{'_id': 1, 'x': '", (16u << 20) + 100, "'}"); /* as it comes, by somebody's stage before */
    CHECK(RUN(STAGE("{'set': {'in': 'a', 'where': {'y': 1}, 'fields': {'y': 1}}}", ""), &out, over) == HOST_FAILED);
    CHECK(out.n == 0 && strstr(h->error, "16 MiB") && h->code == 1970000006);
    free(over);
    /* More than the stage may have: an error that names the bound, with the server's own code. */
    CHECK(RUN(STAGE("{'set': {'in': 'a', 'fields': {'y': 1}}}", ", 'memory': 4194304"), &out, most) == HOST_FAILED);
    CHECK(h->code == 146 && strstr(h->error, "4194304") && strstr(h->error, "memory"));
    free(most);
    free(half);
}

static void
group_too_large(struct host *h)
{
    struct host_docs out = {0};
    const char *texts[81] = {NULL};
    char *one = large("{'_id': 1, 'k': 1, 't': {'$date': {'$numberLong': '0'}}, 'x': '", 100000, "'}");
    for (int i = 0; i < 80; i++) {
        texts[i] = one;
    }
    CHECK(run(h, STAGE(BUCKET, ", 'memory': 4194304"), texts, &out) == HOST_FAILED && h->code == 146);
    CHECK(run(h, STAGE(BUCKET, ""), texts, &out) == HOST_DONE && out.n == 1);
    host_clear(&out);
    free(one);
}

void
host_kinds(struct host *h)
{
    groups(h);
    missing_and_null(h);
    sorted_by_parts(h);
    joins(h);
    refusals(h);
    now(h);
    sizes(h);
    group_too_large(h);
    CHECK(host_counts.bufs == 0 && host_counts.statuses == 0);
}
