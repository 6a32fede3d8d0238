/* SPDX-License-Identifier: Apache-2.0 */
/* t_pass.c - the passes of the live engine against a real server: expand, verify, repair, rollback, contract, direct.
 *
 * Small collections, written out by hand: what they are before, what they are when expanded. Every case runs in
 * batches of one, of three, and of any size, with and without transactions, cut short and gone on with, and twice;
 * rollback must give the first bytes back. Then: what verify has to find, from both sides; what must never be lost. */
#include "pass_test.h"

#include "live/pass/work.h"

struct pass_case {
    const char *name, *plan;
    const char *before[8]; /* collection, documents, ..., NULL */
    const char *after[8];  /* the same when expanded; what is not named is as before */
};

static const struct pass_case set_case = {
    "set", "plan: p\nsteps:\n- set: { in: posts, fields: { n: { $size: $tags }, b: { $concat: [$t, '!'] }, a: 1 } }\n",
    {"posts", "{'_id': 1, 't': 'x', 'tags': [1, 2]}{'_id': 'two', 't': 'y', 'tags': []}{'_id': {'$oid': "
              "'0123456789abcdef01234567'}, 'tags': [3], 't': 'z'}{'_id': 2.5, 't': '$t', 'tags': [0]}"},
    {"posts", "{'_id': 1, 't': 'x', 'tags': [1, 2], 'n': 2, 'b': 'x!', 'a': 1}"
              "{'_id': 2.5, 't': '$t', 'tags': [0], 'n': 1, 'b': '$t!', 'a': 1}"
              "{'_id': 'two', 't': 'y', 'tags': [], 'n': 0, 'b': 'y!', 'a': 1}"
              "{'_id': {'$oid': '0123456789abcdef01234567'}, 'tags': [3], 't': 'z', 'n': 1, 'b': 'z!', 'a': 1}"}};
static const struct pass_case rename_case = {
    "rename", "plan: p\nsteps:\n- rename: { in: posts, fields: { old: fresh } }\n",
    {"posts", "{'_id': 1, 'old': 5, 'x': 1}{'_id': 2, 'x': 1}{'_id': 3, 'old': null}{'_id': 4, 'old': {'a': [1]}}"},
    {"posts", "{'_id': 1, 'old': 5, 'x': 1, 'fresh': 5}{'_id': 2, 'x': 1}{'_id': 3, 'old': null, 'fresh': null}"
              "{'_id': 4, 'old': {'a': [1]}, 'fresh': {'a': [1]}}"}};
static const struct pass_case embed_case = {
    "embed", "plan: p\nsteps:\n- embed: { from: comments, into: posts, match: { post: _id }, keep: all, as: comments, "
             "sort: { n: 1 } }\n",
    {"posts", "{'_id': 1, 't': 'a'}{'_id': 2, 't': 'b'}{'_id': 3, 't': 'c'}", "comments",
     "{'_id': 10, 'post': 1, 'n': 2}{'_id': 11, 'post': 2, 'n': 1}{'_id': 12, 'post': 1, 'n': 1}"
     "{'_id': 13, 'post': 9}"},
    {"posts", "{'_id': 1, 't': 'a', 'comments': [{'_id': 12, 'post': 1, 'n': 1}, {'_id': 10, 'post': 1, 'n': 2}]}"
              "{'_id': 2, 't': 'b', 'comments': [{'_id': 11, 'post': 2, 'n': 1}]}"
              "{'_id': 3, 't': 'c', 'comments': []}"}};
static const struct pass_case extract_case = {
    "extract", "plan: p\nsteps:\n- extract: { from: posts, path: items, into: lines, refs: parent, parent_ref: post, "
               "id: keep }\n",
    {"posts", "{'_id': 1, 'items': [{'_id': 100, 'q': 1}, {'_id': 101, 'q': 2}]}{'_id': 2, 'items': []}"
              "{'_id': 3, 'items': [{'_id': 102, 'q': 3}]}{'_id': 4}"},
    {"lines", "{'_id': 100, 'post': 1, 'q': 1}{'_id': 101, 'post': 1, 'q': 2}{'_id': 102, 'post': 3, 'q': 3}"}};
static const struct pass_case move_case = {
    "move", "plan: p\nsteps:\n- move: { from: orders, into: archive, where: { done: true } }\n",
    {"orders", "{'_id': 1, 'done': true, 'v': 'x'}{'_id': 2, 'done': false}{'_id': 3, 'done': true}"},
    {"archive", "{'_id': 1, 'done': true, 'v': 'x'}{'_id': 3, 'done': true}"}};
static const struct pass_case prepared_case = {
    "prepared", "plan: p\nsteps:\n"
                "- set: { in: posts, fields: { items: { $map: { input: $items, in: { _id: $$this } } } } }\n"
                "- extract: { from: posts, path: items, into: lines, refs: parent, parent_ref: post, id: keep }\n",
    {"posts", "{'_id': 1, 'items': [100, 101]}{'_id': 2, 'items': []}{'_id': 3, 'items': [102]}{'_id': 4}"},
    {"lines", "{'_id': 100, 'post': 1}{'_id': 101, 'post': 1}{'_id': 102, 'post': 3}"}};
static const struct pass_case *const all_cases[] = {&set_case,     &rename_case, &embed_case,
                                                    &extract_case, &move_case,   &prepared_case};
enum { N_CASES = 6 };

static char named_room[1 << 16];

static const char *
named(const struct live_pass_report *r)
{
    size_t n = 0;
    named_room[0] = 0;
    for (uint32_t i = 0; i < r->n_named; i++) {
        n += (size_t)snprintf(named_room + n, sizeof named_room - n, "%s\n", r->named[i]);
    }
    return named_room;
}

struct report {
    struct live_pass_report r;
    struct mrs_arena a;
};

static void
report_begin(struct report *r, struct desk *d)
{
    memset(r, 0, sizeof *r);
    mrs_arena_init(&r->a, d->mem);
    r->r.arena = &r->a;
}

static void
put_case(struct desk *d, const struct pass_case *k)
{
    for (const char *const *c = k->before; *c; c += 2) {
        put_texts(d, c[0], c[1]);
    }
}

static void
is_before(struct desk *d, const struct pass_case *k)
{
    for (const char *const *c = k->before; *c; c += 2) {
        holds(d, c[0], c[1]);
    }
}

/* In `_id` order the set case's documents are written otherwise. */
static void
is_after(struct desk *d, const struct pass_case *k)
{
    for (const char *const *c = k->after; *c; c += 2) {
        holds(d, c[0], c[1]);
    }
}

static void
begin_case(struct desk *d, const struct pass_case *k)
{
    desk_sit(d, k->name, k->plan);
    if (!d->live.expand) {
        fail_msg("%s: %s", k->name, d->live.expand_why);
    }
    d->job.opts.allow_scan = true;
    put_case(d, k);
    desk_open(d);
}

static void
finds(struct desk *d, bool repair, uint64_t differs, uint64_t foreign, const char *part)
{
    struct report r;
    report_begin(&r, d);
    d->job.opts.repair = repair;
    must(d, live_verify(&d->job, &r.r, &d->e));
    if (r.r.differs != differs || r.r.foreign != foreign || (part && !strstr(named(&r.r), part))) {
        fail_msg("verify: %lu differ, %lu foreign, not %lu and %lu with \"%s\": %s", (unsigned long)r.r.differs,
                 (unsigned long)r.r.foreign, (unsigned long)differs, (unsigned long)foreign, part ? part : "",
                 named(&r.r));
    }
    struct mrs_view run = {d->job.run->doc.p, (uint32_t)d->job.run->doc.n};
    assert_int_equal(mrs_doc_get(run, "verified").type == MRS_DATE, differs == 0);
    mrs_arena_clear(&r.a);
}

static void
expands(struct desk *d, struct report *r)
{
    report_begin(r, d);
    must(d, live_expand(&d->job, &r->r, &d->e));
    assert_true(live_run_in(&d->job, "expanded"));
}

static void
rolls_back(struct desk *d)
{
    struct report r;
    report_begin(&r, d);
    must(d, live_rollback_units(&d->job, &r.r, &d->e));
    assert_true(live_run_in(&d->job, "rolled back"));
    assert_int_equal(r.r.differs, 0);
    mrs_arena_clear(&r.a);
}

static bool
has_coll(struct desk *d, const char *name)
{
    char uuid[40];
    struct mrs_coll c = desk_coll(d, name);
    must(d, live_server_uuid(d->job.link, &c, uuid, &d->e));
    return uuid[0] != 0;
}

/* ---- there and back ---- */

static void
there_and_back(const struct pass_case *k, uint32_t batch, bool no_transactions)
{
    struct desk d;
    struct report r;
    begin_case(&d, k);
    d.job.opts.batch = batch;
    d.job.opts.no_transactions = no_transactions;
    expands(&d, &r);
    is_after(&d, k);
    mrs_arena_clear(&r.a);
    expands(&d, &r); /* again: nothing to do */
    assert_int_equal(r.r.written, 0);
    mrs_arena_clear(&r.a);
    is_after(&d, k);
    finds(&d, false, 0, 0, NULL);
    rolls_back(&d);
    if (k != &set_case) {
        is_before(&d, k);
    }
    assert_false(has_coll(&d, "lines"));
    assert_false(has_coll(&d, "archive"));
    desk_leave(&d);
}

static void
set_there_and_back(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    size_t n, m;
    there_and_back(&set_case, 1, false);
    begin_case(&d, &set_case);
    uint8_t *first = all_bytes(&d, "posts", &n);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    rolls_back(&d);
    uint8_t *last = all_bytes(&d, "posts", &m);
    same_bytes(last, m, first, n, "rolled back");
    free(first);
    free(last);
    desk_leave(&d);
}

static void
all_there_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        there_and_back(all_cases[i], 1, i % 2);
        there_and_back(all_cases[i], 3, true);
        there_and_back(all_cases[i], 0, false);
    }
}

/* ---- cut short ---- */

static int cut;

static void
cuts(void *arg, const struct live_progress *p)
{
    (void)arg;
    (void)p;
    cut = 1;
}

static void
cut_and_go_on(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        struct desk d;
        struct report r;
        int tries = 0;
        begin_case(&d, all_cases[i]);
        d.job.opts.batch = 1;
        d.job.progress = cuts;
        d.job.cancel = &cut;
        enum mrs_status s;
        do {
            cut = 0;
            report_begin(&r, &d);
            mrs_err_clear(&d.e);
            s = live_expand(&d.job, &r.r, &d.e);
            mrs_arena_clear(&r.a);
            if (s) {
                assert_int_equal(d.e.code, MRS_E_CANCEL);
                mrs_err_clear(&d.e);
                cut = 0;
                desk_again(&d);
            }
        } while (s && ++tries < 60);
        assert_true(tries > 1);
        assert_int_equal(s, MRS_OK);
        d.job.cancel = NULL;
        is_after(&d, all_cases[i]);
        finds(&d, false, 0, 0, NULL);
        desk_leave(&d);
    }
}

/* ---- what verify finds ---- */

static void
update_one(struct desk *d, const char *coll, const char *q, const char *u)
{
    char text[2000];
    snprintf(text, sizeof text, "{'update': '%s', 'updates': [{'q': %s, 'u': %s}]}", coll, q, u);
    desk_command(d, d->db, text);
}

static void
delete_one(struct desk *d, const char *coll, const char *q)
{
    char text[2000];
    snprintf(text, sizeof text, "{'delete': '%s', 'deletes': [{'q': %s, 'limit': 1}]}", coll, q);
    desk_command(d, d->db, text);
}

static void
differences_in_fields(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &embed_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    update_one(&d, "posts", "{'_id': 2}", "{'$set': {'comments': []}}");
    update_one(&d, "posts", "{'_id': 3}", "{'$unset': {'comments': 1}}");
    finds(&d, false, 2, 0, "posts 2: field comments differs");
    finds(&d, false, 2, 0, "posts 3: field comments is missing");
    finds(&d, true, 0, 0, NULL);
    is_after(&d, &embed_case);
    delete_one(&d, "comments", "{'_id': 11}");
    finds(&d, false, 1, 0, "posts 2: field comments differs");
    finds(&d, true, 0, 0, NULL);
    delete_one(&d, "posts", "{'_id': 1}");
    finds(&d, false, 0, 0, NULL);
    desk_leave(&d);
}

static void
differences_in_documents(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &extract_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    delete_one(&d, "lines", "{'_id': 100}");
    finds(&d, false, 1, 0, "lines 100: is missing");
    update_one(&d, "lines", "{'_id': 102}", "{'$set': {'q': 3.0}}");
    finds(&d, false, 2, 0, "lines 102: differs");
    finds(&d, true, 0, 0, NULL);
    is_after(&d, &extract_case);
    /* an element that was taken out of the array */
    update_one(&d, "posts", "{'_id': 1}", "{'$set': {'items': [{'_id': 101, 'q': 2}]}}");
    finds(&d, false, 2, 0, "lines 100: belongs to no document of the source"); /* seen from both sides */
    finds(&d, true, 0, 0, NULL);
    holds(&d, "lines", "{'_id': 101, 'post': 1, 'q': 2}{'_id': 102, 'post': 3, 'q': 3}");
    /* a parent that is gone: only the way back finds what it left */
    delete_one(&d, "posts", "{'_id': 3}");
    mutant("verify-one-way");
    finds(&d, false, 0, 0, NULL);
    mutant(NULL);
    finds(&d, false, 1, 0, "lines 102: belongs to no document of the source");
    finds(&d, true, 0, 0, NULL);
    holds(&d, "lines", "{'_id': 101, 'post': 1, 'q': 2}");
    /* somebody else's document stays, and is told of */
    put_texts(&d, "lines", "{'_id': 7, 'theirs': true}");
    finds(&d, true, 0, 1, "lines 7: others wrote it");
    holds(&d, "lines", "{'_id': 7, 'theirs': true}{'_id': 101, 'post': 1, 'q': 2}");
    desk_leave(&d);
}

static void
moved_back(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &move_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    update_one(&d, "orders", "{'_id': 3}", "{'$set': {'done': false}}");
    delete_one(&d, "orders", "{'_id': 1}");
    finds(&d, false, 3, 0, "archive 1: belongs to no document of the source");
    finds(&d, true, 0, 0, NULL);
    holds(&d, "archive", "");
    desk_leave(&d);
}

/* An element that went to another document whose turn comes first: what it has left behind is in its way, and goes
 * later in the same round. */
static void
moved_to_an_earlier_one(void **state)
{
    (void)state;
    for (uint32_t batch = 1; batch < 4; batch++) {
        struct desk d;
        struct report r;
        begin_case(&d, &extract_case);
        d.job.opts.batch = batch;
        expands(&d, &r);
        mrs_arena_clear(&r.a);
        update_one(&d, "posts", "{'_id': 2}", "{'$set': {'items': [{'_id': 102, 'q': 3}]}}");
        update_one(&d, "posts", "{'_id': 3}", "{'$set': {'items': []}}");
        d.job.opts.max_refused = 0;
        finds(&d, true, 0, 0, NULL);
        holds(&d, "lines", "{'_id': 100, 'post': 1, 'q': 1}{'_id': 101, 'post': 1, 'q': 2}"
                           "{'_id': 102, 'post': 2, 'q': 3}");
        assert_int_equal(d.job.run->n_refused, 0);
        desk_leave(&d);
    }
}

/* ---- foreign documents, refused ones ---- */

static void
refused_by_what_is_there(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &extract_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    /* two parents with one element: the second is refused whole, nothing of the first is touched */
    put_texts(&d, "posts", "{'_id': 9, 'items': [{'_id': 900, 'q': 1}, {'_id': 101, 'q': 9}]}");
    finds(&d, true, 0, 1, NULL);
    is_after(&d, &extract_case);
    assert_int_equal(d.job.run->n_refused, 1);
    /* well again: its record goes, its documents come */
    update_one(&d, "posts", "{'_id': 9}", "{'$set': {'items': [{'_id': 900, 'q': 1}]}}");
    finds(&d, true, 0, 0, NULL);
    assert_int_equal(d.job.run->n_refused, 0);
    holds(&d, "lines", "{'_id': 100, 'post': 1, 'q': 1}{'_id': 101, 'post': 1, 'q': 2}{'_id': 102, 'post': 3, 'q': 3}"
                       "{'_id': 900, 'post': 9, 'q': 1}");
    desk_leave(&d);
}

static void
refused_by_a_kernel(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &set_case);
    put_texts(&d, "posts", "{'_id': 99, 't': 1, 'tags': [1]}");
    expands(&d, &r);
    assert_int_equal(r.r.refused, live_test_replicated() ? 1 : 2); /* by each walk */
    assert_int_equal(d.job.run->n_refused, 1);
    mrs_arena_clear(&r.a);
    finds(&d, false, 0, 0, NULL);
    update_one(&d, "posts", "{'_id': 1}", "{'$set': {'t': 5}}"); /* refused now: what was derived goes */
    finds(&d, true, 0, 0, NULL);
    assert_int_equal(d.job.run->n_refused, 2);
    rolls_back(&d);
    desk_leave(&d);
}

/* A step that prepares others refuses a document, and this ends the walk: when it is corrected, the walk goes on. */
static void
refused_by_what_prepares(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &prepared_case);
    d.job.opts.max_refused = 0;
    put_texts(&d, "posts", "{'_id': 2.5, 'items': 'x'}");
    report_begin(&r, &d);
    assert_int_equal(live_expand(&d.job, &r.r, &d.e), MRS_FAIL);
    assert_int_equal(d.e.code, MRS_E_TOO_MANY);
    mrs_arena_clear(&r.a);
    mrs_err_clear(&d.e);
    update_one(&d, "posts", "{'_id': 2.5}", "{'$set': {'items': []}}");
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    assert_int_equal(d.job.run->n_refused, 0);
    is_after(&d, &prepared_case);
    desk_leave(&d);
}

/* More records than are read as a whole: those of corrected documents are found by `_id`. */
static void
refused_in_numbers(void **state)
{
    (void)state;
    enum { MANY = 130, RIGHT = 70 };
    struct desk d;
    struct report r;
    char text[128], filter[32];
    begin_case(&d, &set_case);
    d.job.opts.max_refused = MANY;
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "{'_id': %d, 't': 1, 'tags': [1]}", 1000 + i);
        put_texts(&d, "posts", text);
    }
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    assert_int_equal(d.job.run->n_refused, MANY);
    for (int i = 0; i < RIGHT; i++) {
        snprintf(filter, sizeof filter, "{'_id': %d}", 1000 + i);
        update_one(&d, "posts", filter, "{'$set': {'t': 'right'}}");
    }
    finds(&d, true, 0, 0, NULL);
    assert_int_equal(d.job.run->n_refused, MANY - RIGHT);
    desk_leave(&d);
}

static void
what_is_there_is_not_claimed(void **state)
{
    (void)state;
    struct desk d;
    struct live_pass_report r = {.arena = NULL};
    begin_case(&d, &rename_case);
    put_texts(&d, "posts", "{'_id': 77, 'fresh': 'theirs'}");
    assert_int_equal(live_expand(&d.job, &r, &d.e), MRS_FAIL);
    assert_int_equal(d.e.code, MRS_E_EXISTS);
    assert_true(live_run_in(&d.job, "claimed"));
    mrs_err_clear(&d.e);
    desk_leave(&d);
    begin_case(&d, &extract_case);
    put_texts(&d, "lines", "{'_id': 1}");
    assert_int_equal(live_expand(&d.job, &r, &d.e), MRS_FAIL);
    assert_int_equal(d.e.code, MRS_E_EXISTS);
    mrs_err_clear(&d.e);
    holds(&d, "lines", "{'_id': 1}");
    is_before(&d, &extract_case);
    desk_leave(&d);
}

/* ---- rollback keeps what only the new shape holds ---- */

static void
rollback_refuses(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &embed_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    update_one(&d, "posts", "{'_id': 2}", "{'$set': {'comments': [{'new': 1}]}}");
    report_begin(&r, &d);
    assert_int_equal(live_rollback_units(&d.job, &r.r, &d.e), MRS_FAIL);
    assert_int_equal(d.e.code, MRS_E_REFUSED);
    assert_int_equal(r.r.differs, 1);
    assert_non_null(strstr(named(&r.r), "posts 2"));
    mrs_arena_clear(&r.a);
    mrs_err_clear(&d.e);
    assert_true(live_run_in(&d.job, "expanded")); /* nothing was touched */
    d.job.opts.discard_new_writes = true;
    d.job.opts.max_refused = 0;
    report_begin(&r, &d);
    must(&d, live_rollback_units(&d.job, &r.r, &d.e));
    mrs_arena_clear(&r.a);
    is_before(&d, &embed_case);
    assert_int_equal(d.job.run->n_refused, 1); /* a copy is kept */
    desk_leave(&d);
    begin_case(&d, &move_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    put_texts(&d, "archive", "{'_id': 50, 'theirs': 1}");
    report_begin(&r, &d);
    assert_int_equal(live_rollback_units(&d.job, &r.r, &d.e), MRS_FAIL);
    assert_non_null(strstr(named(&r.r), "archive 50"));
    mrs_arena_clear(&r.a);
    mrs_err_clear(&d.e);
    assert_true(has_coll(&d, "archive"));
    desk_leave(&d);
}

static void
rollback_of_half(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        struct desk d;
        struct report r;
        size_t n, m;
        begin_case(&d, all_cases[i]);
        uint8_t *first = all_bytes(&d, all_cases[i]->before[0], &n);
        d.job.opts.batch = 1;
        d.job.progress = cuts;
        d.job.cancel = &cut;
        cut = 0;
        report_begin(&r, &d);
        assert_int_equal(live_expand(&d.job, &r.r, &d.e), MRS_FAIL);
        mrs_arena_clear(&r.a);
        mrs_err_clear(&d.e);
        cut = 0;
        d.job.cancel = NULL;
        desk_again(&d);
        rolls_back(&d);
        uint8_t *last = all_bytes(&d, all_cases[i]->before[0], &m);
        same_bytes(last, m, first, n, all_cases[i]->name);
        free(first);
        free(last);
        desk_leave(&d);
    }
}

/* ---- documents changed while a batch is on its way ---- */

static void
changed_meanwhile(bool hot)
{
    struct desk d;
    struct live_batch b;
    struct live_pass_report r = {.arena = NULL};
    struct live_checkpoint c;
    size_t n;
    begin_case(&d, &set_case);
    must(&d, live_run_phase(&d.job, "expand", 0, mrs_empty_doc(), &d.e));
    must(&d, live_batch_open(&b, &d.job, 0, 0, LIVE_FOR_EXPAND, &r, &d.e));
    must(&d, live_checkpoint_open(&d.job, "meanwhile", &c, &d.e));
    uint8_t *old = all_bytes(&d, "posts", &n);
    struct mrs_view docs[4];
    size_t at = 0;
    for (int i = 0; i < 4; at += docs[i++].n) {
        docs[i] = (struct mrs_view){old + at, mrs_le32(old + at)};
    }
    update_one(&d, "posts", "{'_id': 1}", "{'$set': {'t': 'later', 'more': 1}}");
    delete_one(&d, "posts", "{'_id': 'two'}");
    if (hot) {
        for (int i = 0; i < 4; i++) {
            struct live_task t = {.doc = docs[i]};
            bool done;
            must(&d, live_batch_contended(&b, &t, &done, &d.e));
            assert_true(done);
        }
    } else {
        must(&d, live_batch_write(&b, docs, 4, &c, &d.e));
        assert_int_equal(c.seq, 1);
        assert_int_equal(r.missed, 0);
    }
    holds(&d, "posts", "{'_id': 1, 't': 'later', 'tags': [1, 2], 'more': 1, 'n': 2, 'b': 'later!', 'a': 1}"
                       "{'_id': 2.5, 't': '$t', 'tags': [0], 'n': 1, 'b': '$t!', 'a': 1}"
                       "{'_id': {'$oid': '0123456789abcdef01234567'}, 'tags': [3], 't': 'z', 'n': 1, 'b': 'z!', 'a': "
                       "1}");
    free(old);
    live_checkpoint_clear(&c);
    live_batch_close(&b);
    desk_leave(&d);
}

static void
missed_and_derived_again(void **state)
{
    (void)state;
    changed_meanwhile(false);
    if (live_test_replicated()) {
        changed_meanwhile(true);
    }
}

/* ---- contract and direct ---- */

static void
contracts(struct desk *d)
{
    struct report r;
    report_begin(&r, d);
    enum mrs_status s = live_contract_units(&d->job, &r.r, &d->e);
    if (s) {
        fail_msg("%s: %s", d->e.msg, named(&r.r));
    }
    mrs_arena_clear(&r.a);
    assert_true(live_run_in(&d->job, "done"));
}

static void
contract_beside_writers(void **state)
{
    (void)state;
    static const struct pass_case k = {
        "contract", "plan: p\nsteps:\n- rename: { in: posts, fields: { old: fresh } }\n- set: { in: posts, fields: { "
                    "n: { $add: [$fresh, 1] } } }\n- unset: { in: posts, fields: [gone] }\n",
        {"posts", "{'_id': 1, 'old': 5, 'x': 1, 'gone': 1}{'_id': 2, 'old': 6}{'_id': 3, 'old': 7, 'gone': 0}"},
        {NULL}};
    for (uint32_t batch = 0; batch < 3; batch++) {
        struct desk d;
        struct report r;
        begin_case(&d, &k);
        d.job.opts.batch = batch;
        d.job.opts.no_transactions = batch == 2;
        report_begin(&r, &d);
        assert_int_equal(live_contract_units(&d.job, &r.r, &d.e), MRS_FAIL); /* not expanded, not verified */
        mrs_err_clear(&d.e);
        mrs_arena_clear(&r.a);
        expands(&d, &r);
        mrs_arena_clear(&r.a);
        holds(&d, "posts", "{'_id': 1, 'old': 5, 'x': 1, 'gone': 1, 'fresh': 5, 'n': 6}{'_id': 2, 'old': 6, 'fresh': 6,"
                           " 'n': 7}{'_id': 3, 'old': 7, 'gone': 0, 'fresh': 7, 'n': 8}");
        finds(&d, false, 0, 0, NULL);
        put_texts(&d, "posts", "{'_id': 4, 'old': 1, 'gone': 2}"); /* since then */
        contracts(&d);
        holds(&d, "posts", "{'_id': 1, 'fresh': 5, 'x': 1, 'n': 6}{'_id': 2, 'fresh': 6, 'n': 7}"
                           "{'_id': 3, 'fresh': 7, 'n': 8}{'_id': 4, 'fresh': 1, 'n': 2}");
        desk_leave(&d);
    }
}

static struct {
    struct desk *desk;
    int at, walk, came; /* came: in which walk */
    uint64_t done;
} late;

static void
comes_late(void *arg, const struct live_progress *p)
{
    (void)arg;
    late.walk += p->done < late.done;
    late.done = p->done;
    if (--late.at == 0) {
        late.came = late.walk;
        put_texts(late.desk, "posts", "{'_id': 9, 'old': 1}");
    }
}

/* A document of an old application that comes behind the walk that adds needs no second call. One that comes behind
 * the last walk that looks stays as it is. */
static void
contract_late_document(void **state)
{
    (void)state;
    static const struct pass_case k = {"late", "plan: p\nsteps:\n- rename: { in: posts, fields: { old: fresh } }\n",
                                       {"posts", "{'_id': 1}{'_id': 2}{'_id': 3}{'_id': 4}"}, {NULL}};
    int came = 0;
    for (int at = 1; at <= 12; at++) {
        struct desk d;
        struct report r;
        begin_case(&d, &k);
        d.job.opts.batch = 1;
        expands(&d, &r);
        mrs_arena_clear(&r.a);
        finds(&d, false, 0, 0, NULL);
        memset(&late, 0, sizeof late);
        late.desk = &d;
        late.at = at;
        late.came = -1;
        d.job.progress = comes_late;
        contracts(&d);
        d.job.progress = NULL;
        if (late.came == 0) {
            came++;
            holds(&d, "posts", "{'_id': 1}{'_id': 2}{'_id': 3}{'_id': 4}{'_id': 9, 'fresh': 1}");
        }
        desk_leave(&d);
    }
    assert_true(came >= 3);
}

/* Cut after any batch and gone on with: a document is never contracted twice. */
static void
contract_cut(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    int tries = 0;
    enum mrs_status s;
    begin_case(&d, &rename_case);
    d.job.opts.batch = 1;
    d.job.opts.no_transactions = true;
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    finds(&d, false, 0, 0, NULL);
    d.job.progress = cuts;
    d.job.cancel = &cut;
    do {
        d.job.opts.batch = 1 + (uint32_t)tries; /* each call begins its walk anew: it has to come further */
        cut = 0;
        report_begin(&r, &d);
        s = live_contract_units(&d.job, &r.r, &d.e);
        mrs_arena_clear(&r.a);
        if (s) {
            assert_int_equal(d.e.code, MRS_E_CANCEL);
            mrs_err_clear(&d.e);
            cut = 0;
            desk_again(&d);
        }
        if (tries == 5) {
            d.job.cancel = NULL;
        }
    } while (s && ++tries < 10);
    assert_true(tries > 3);
    assert_int_equal(s, MRS_OK);
    holds(&d, "posts", "{'_id': 1, 'fresh': 5, 'x': 1}{'_id': 2, 'x': 1}{'_id': 3, 'fresh': null}"
                       "{'_id': 4, 'fresh': {'a': [1]}}");
    desk_leave(&d);
}

static void
contract_leaves_what_differs(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &rename_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    finds(&d, false, 0, 0, NULL);
    update_one(&d, "posts", "{'_id': 1}", "{'$set': {'fresh': 'newer'}}");
    report_begin(&r, &d);
    assert_int_equal(live_contract_units(&d.job, &r.r, &d.e), MRS_FAIL);
    assert_int_equal(d.e.code, MRS_E_REFUSED);
    assert_non_null(strstr(named(&r.r), "posts 1"));
    mrs_arena_clear(&r.a);
    mrs_err_clear(&d.e);
    holds(&d, "posts", "{'_id': 1, 'old': 5, 'x': 1, 'fresh': 'newer'}{'_id': 2, 'x': 1}{'_id': 3, 'fresh': null}"
                       "{'_id': 4, 'fresh': {'a': [1]}}");
    report_begin(&r, &d);
    mutant("contract-without-check");
    put_texts(&d, "posts", "{'_id': 5, 'old': 'a', 'fresh': 'b'}");
    assert_int_equal(live_contract_units(&d.job, &r.r, &d.e), MRS_OK);
    mutant(NULL);
    holds(&d, "posts", "{'_id': 1, 'x': 1, 'fresh': 'newer'}{'_id': 2, 'x': 1}{'_id': 3, 'fresh': null}"
                       "{'_id': 4, 'fresh': {'a': [1]}}{'_id': 5, 'fresh': 'b'}");
    mrs_arena_clear(&r.a);
    report_begin(&r, &d);
    assert_int_equal(live_rollback_units(&d.job, &r.r, &d.e), MRS_FAIL); /* one way */
    mrs_err_clear(&d.e);
    mrs_arena_clear(&r.a);
    desk_leave(&d);
    begin_case(&d, &rename_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    finds(&d, false, 0, 0, NULL);
    update_one(&d, "posts", "{'_id': 1}", "{'$set': {'fresh': 'newer'}}");
    report_begin(&r, &d);
    assert_int_equal(live_contract_units(&d.job, &r.r, &d.e), MRS_FAIL);
    mrs_err_clear(&d.e);
    mrs_arena_clear(&r.a);
    update_one(&d, "posts", "{'_id': 1}", "{'$set': {'old': 'newer'}}"); /* made right by its owner */
    contracts(&d);
    desk_leave(&d);
}

static void
backfill_in_place(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    desk_sit(&d, "direct", "plan: p\nsteps:\n- set: { in: posts, fields: { n: { $size: $tags } } }\n");
    if (!d.live.direct) {
        fail_msg("%s", d.live.direct_why);
    }
    d.job.opts.mode = LIVE_DIRECT;
    d.job.opts.batch = 2;
    put_texts(&d, "posts", "{'_id': 1, 'n': 9, 'tags': [1]}{'_id': 2, 'tags': []}{'_id': 3, 'tags': [1, 2], 'x': 1}");
    desk_open(&d);
    report_begin(&r, &d);
    must(&d, live_direct(&d.job, &r.r, &d.e));
    holds(&d, "posts", "{'_id': 1, 'n': 1, 'tags': [1]}{'_id': 2, 'tags': [], 'n': 0}{'_id': 3, 'tags': [1, 2], "
                       "'x': 1, 'n': 2}");
    assert_true(live_run_in(&d.job, "done"));
    mrs_arena_clear(&r.a);
    desk_leave(&d);
}

/* ---- mutants, and many documents ---- */

static void
sweeping(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &extract_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    update_one(&d, "posts", "{'_id': 1}", "{'$set': {'items': []}}");
    mutant("no-sweep");
    mutant("no-sweep,verify-one-way");
    finds(&d, true, 0, 0, NULL); /* says so, and leaves what nobody makes */
    holds(&d, "lines", "{'_id': 100, 'post': 1, 'q': 1}{'_id': 101, 'post': 1, 'q': 2}{'_id': 102, 'post': 3, 'q': 3}");
    mutant(NULL);
    assert_int_equal(d.job.run->n_stale, 0);
    finds(&d, true, 0, 0, NULL);
    holds(&d, "lines", "{'_id': 102, 'post': 3, 'q': 3}");
    assert_int_equal(d.job.run->n_stale, 2); /* copies: nobody can tell whether they were an application's */
    desk_leave(&d);
}

/* A document with an array of parents is found by each of them, and made by none. */
static void
arrays_are_not_ours(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    begin_case(&d, &extract_case);
    expands(&d, &r);
    mrs_arena_clear(&r.a);
    put_texts(&d, "lines", "{'_id': 900, 'post': [1, 3], 'q': 9}");
    update_one(&d, "posts", "{'_id': 1}", "{'$set': {'items': []}}");
    finds(&d, true, 0, 1, "900: others wrote it");
    holds(&d, "lines", "{'_id': 102, 'post': 3, 'q': 3}{'_id': 900, 'post': [1, 3], 'q': 9}");
    assert_int_equal(d.job.run->n_stale, 2);
    desk_leave(&d);
}

static void
several_hundred(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    char *text = malloc(1 << 17);
    size_t n = 0, m;
    desk_sit(&d, "many", set_case.plan);
    for (int i = 0; i < 230; i++) {
        n += (size_t)snprintf(text + n, (1 << 17) - n, "{'_id': %d, 't': 't%d', 'tags': []}", i, i);
    }
    put_texts(&d, "posts", text);
    desk_open(&d);
    expands(&d, &r);
    assert_int_equal(r.r.written, 230);
    mrs_arena_clear(&r.a);
    n = 0;
    for (int i = 0; i < 230; i++) {
        n += (size_t)snprintf(text + n, (1 << 17) - n,
                              "{'_id': %d, 't': 't%d', 'tags': [], 'n': 0, 'b': 't%d!', 'a': 1}", i, i, i);
    }
    uint8_t *want = to_bson(text, &n), *got = all_bytes(&d, "posts", &m);
    same_bytes(got, m, want, n, "many");
    free(want);
    free(got);
    free(text);
    finds(&d, false, 0, 0, NULL);
    desk_leave(&d);
}

/* One batch with more documents than one $in asks for. */
static void
long_batch(void **state)
{
    (void)state;
    struct desk d;
    struct report r;
    size_t n = 0, room = 1 << 18;
    char *text = malloc(room);
    desk_sit(&d, "long", "steps:\n  - extract: { from: posts, path: c, into: cs, parent_ref: p }\n");
    for (int i = 0; i < 1300; i++) {
        n += (size_t)snprintf(text + n, room - n, "{'_id': %d, 'c': [{'v': %d}]}", i, i);
    }
    put_texts(&d, "posts", text);
    free(text);
    d.job.opts.batch = 2000;
    desk_open(&d);
    expands(&d, &r);
    assert_int_equal(r.r.inserted, 1300);
    mrs_arena_clear(&r.a);
    finds(&d, false, 0, 0, NULL);
    desk_leave(&d);
}

static void
no_memory(void **state)
{
    (void)state;
    for (uint64_t k = 1; k < 4000; k = k + 1 + k / 3) {
        struct desk d;
        struct live_pass_report r = {.arena = NULL};
        begin_case(&d, &extract_case);
        struct mrs_mem *whole = d.mem, *poor = mrs_mem_new(k);
        d.job.mem = poor; /* what the passes take; the link and the run stay with theirs */
        enum mrs_status s = live_expand(&d.job, &r, &d.e);
        assert_true(s == MRS_OK || d.e.code == MRS_E_MEMORY);
        bool over = mrs_mem_count(poor) < k;
        d.job.mem = whole;
        mrs_err_clear(&d.e);
        desk_again(&d);
        must(&d, live_expand(&d.job, &r, &d.e));
        is_after(&d, &extract_case);
        assert_int_equal(mrs_mem_close(poor), 0);
        desk_leave(&d);
        if (over) {
            break;
        }
    }
}

int
main(void)
{
    desk_uri = live_test_need_server("t_pass");
    live_link_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_there_and_back),
        cmocka_unit_test(all_there_and_back),
        cmocka_unit_test(cut_and_go_on),
        cmocka_unit_test(differences_in_fields),
        cmocka_unit_test(differences_in_documents),
        cmocka_unit_test(moved_to_an_earlier_one),
        cmocka_unit_test(moved_back),
        cmocka_unit_test(refused_by_what_is_there),
        cmocka_unit_test(refused_by_a_kernel),
        cmocka_unit_test(refused_by_what_prepares),
        cmocka_unit_test(refused_in_numbers),
        cmocka_unit_test(what_is_there_is_not_claimed),
        cmocka_unit_test(rollback_refuses),
        cmocka_unit_test(rollback_of_half),
        cmocka_unit_test(missed_and_derived_again),
        cmocka_unit_test(contract_beside_writers),
        cmocka_unit_test(contract_late_document),
        cmocka_unit_test(contract_cut),
        cmocka_unit_test(contract_leaves_what_differs),
        cmocka_unit_test(backfill_in_place),
        cmocka_unit_test(sweeping),
        cmocka_unit_test(arrays_are_not_ours),
        cmocka_unit_test(several_hundred),
        cmocka_unit_test(long_batch),
        cmocka_unit_test(no_memory),
    };
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    live_link_teardown();
    return r;
}
