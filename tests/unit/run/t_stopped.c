/* SPDX-License-Identifier: Apache-2.0 */
/* t_stopped.c - runs that are stopped at each of their checkpoints and gone on with: the same documents, and there are
 * checkpoints in every part of the work that may take long. */
#include "dump_test.h"
#include "run/pass/checkpoint.h"

static unsigned written, stop_at;
static int cancel;
static void (*look_now)(void); /* at each checkpoint that was written; NULL: nobody does */

static void
on_checkpoint(void *arg, bool is_written)
{
    (void)arg;
    written += is_written;
    if (is_written && look_now) {
        look_now();
    }
    if (is_written && written == stop_at) {
        __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    }
}

static struct mrs_run_opts
stopping(void)
{
    struct mrs_run_opts o = defaults();
    o.memory = 4096;
    o.jobs = 1; /* so that the n-th checkpoint is about the same one in each run: hashes have a seed */
    o.max_refused = 1000;
    o.block_bytes = 128;
    o.checkpoints = true;
    o.checkpoint_ms = 1;
    o.checkpoint = on_checkpoint;
    o.cancel = &cancel;
    return o;
}

/* What is on disk. */
static struct mrsi_checkpoint
state_now(void)
{
    static uint8_t room[1 << 20];
    struct mrsi_checkpoint cp;
    struct mrs_err e;
    size_t n = get_file("out.checkpoint/state", room, sizeof room);
    mrs_err_clear(&e);
    assert_int_equal(mrsi_checkpoint_parse(room, n, &cp, &e), MRS_OK);
    return cp;
}

/* What the mark that was left says; look: of one place after the other. */
static void
look_at_mark(void (*look)(struct mrs_view mark))
{
    look(state_now().pass);
}

/* The run, stopped at its n-th checkpoint. False: it has fewer. */
static bool
stopped(const char *steps, const struct mrs_run_opts *opts, unsigned n)
{
    written = 0;
    stop_at = n;
    cancel = 0;
    struct ran r = run(steps, opts);
    bool is = r.status != MRS_OK;
    if (is && r.err.code != MRS_E_CANCEL) {
        fail_msg("%s", r.err.msg);
    }
    ran_end(&r);
    cancel = 0;
    return is;
}

/* ---- equal `_id`s ---- */
enum { PHASES = 5, STAGES = 8 }; /* MRSI_IDS_APPLY + 1; of DECIDE */
static unsigned in_phase[PHASES], in_stage[STAGES];

static void
look_at_ids(struct mrs_view mark)
{
    struct mrs_view ids = mrsi_savepoint_doc(mark, "ids");
    bool none = false, bad = false;
    uint64_t phase = mrsi_state_number(ids, "phase", PHASES - 1, &none), stage;
    if (!none) {
        in_phase[phase]++;
        stage = mrsi_state_number(ids, "stage", STAGES - 1, &bad);
        in_stage[stage] += !bad;
    }
}

static void
put_numbered(const char *name, int from, int to, int step)
{
    char text[20000] = "";
    for (int i = from; i < to; i += step) {
        sprintf(text + strlen(text), "{'_id':%d,'from':'%s','at':%d} ", i, name, i / 3);
    }
    put_docs(name, text);
}

/* What d.all holds, and what was refused, is the same after each of the stops, `by` of them further on each time. */
static void
same_wherever_stopped(const char *steps, struct mrs_run_opts *o, bool refuses, unsigned by,
                      void (*look)(struct mrs_view mark))
{
    char all[TEXT_MAX / 16], refused[TEXT_MAX / 16];
    stop_at = 0;
    runs(steps, o);
    snprintf(all, sizeof all, "%s", docs_of("out/d/all.bson"));
    snprintf(refused, sizeof refused, "%s", refuses ? docs_of("out.refused.bson") : "");
    drop("out");
    drop("out.refused.bson");
    drop("out.refused.bson.jsonl");
    for (unsigned n = 1; stopped(steps, o, n); n += by) {
        look_at_mark(look);
        o->resume = true;
        o->checkpoint_ms = 0;
        runs(steps, o);
        o->resume = false;
        o->checkpoint_ms = 1;
        assert_string_equal(docs_of("out/d/all.bson"), all);
        assert_int_equal(there("out.refused.bson"), refuses);
        if (refuses) {
            assert_string_equal(docs_of("out.refused.bson"), refused);
        }
        drop("out");
        drop("out.refused.bson");
        drop("out.refused.bson.jsonl");
    }
}

static void
ids_clash(const char *step, const char *conflicts, bool refuses)
{
    char steps[200];
    struct mrs_run_opts o = stopping();
    snprintf(steps, sizeof steps, "- %s, into: all, conflicts: %s }\n", step, conflicts);
    begin();
    put_numbered("in/d/a.bson", 0, 30, 1);
    put_numbered("in/d/b.bson", 6, 46, 2);
    put_numbered("in/d/all.bson", 20, 40, 3);
    same_wherever_stopped(steps, &o, refuses, 1, look_at_ids);
}

static void
equal_ids(void **state)
{
    (void)state;
    static const char unite[] = "union: { from: { u: a, g: b }, tag: kind";
    ids_clash(unite, "refuse", true);
    ids_clash(unite, "first", false);
    ids_clash(unite, "last", false);
    ids_clash("bucket: { from: a, items: i, max: 1, id: { $literal: 1 }, fields: { x: one }, keep: none", "refuse",
              true);
    for (unsigned i = 0; i < PHASES; i++) {
        assert_in_range(in_phase[i], 4, 1000);
    }
    for (unsigned i = 0; i < STAGES; i++) { /* two only sort what was told, which takes no time here */
        assert_in_range(in_stage[i], i == 2 || i == 5 ? 0 : 2, 1000);
    }
}

/* ---- residues ---- */
enum { COLL_STAGES = 7 }; /* of residue_coll.c */
static unsigned in_head, in_coll[COLL_STAGES];

static void
look_at_residue(struct mrs_view mark)
{
    bool none = false;
    struct mrs_view coll = mrsi_savepoint_doc(mark, "coll");
    if (mrs_val_is_text(mrs_doc_get(mark, "kind"), MRSI_CKPT_RESIDUE)) {
        uint64_t stage = mrsi_state_number(coll, "stage", COLL_STAGES - 1, &none);
        in_head += none;
        in_coll[stage] += !none;
    }
}

/* One secret for all runs, so that their residues are alike to the byte. */
bool __wrap_mrs_random(void *p, size_t n);

bool
__wrap_mrs_random(void *p, size_t n)
{
    memset(p, 7, n);
    return true;
}

/* What the report says of the residue. */
static unsigned
residue_kinds(const char *steps, const struct mrs_run_opts *o)
{
    struct ran r = run(steps, o);
    unsigned kinds = r.report.residue_kinds;
    assert_int_equal(r.status, MRS_OK);
    ran_end(&r);
    return kinds;
}

/* Input of three collections; the residue goes to `other`. */
static struct mrs_run_opts
with_residue(void)
{
    static char file[600];
    struct mrs_run_opts o = stopping();
    begin();
    put_numbered("in/d/a.bson", 0, 20, 1);
    put_numbered("in/d/b.bson", 30, 50, 2);
    put_numbered("in/d/rest.bson", 0, 12, 1);
    snprintf(file, sizeof file, "%s", at("other"));
    o.write_residue = file;
    stop_at = 0;
    return o;
}

static void
residue_of(const char *steps)
{
    static uint8_t want[1 << 16], got[1 << 16];
    struct mrs_run_opts o = with_residue();
    unsigned kinds = residue_kinds(steps, &o);
    size_t n = get_file("other", want, sizeof want);
    for (unsigned stop = 1; drop("out"), drop("other"), stopped(steps, &o, stop); stop++) {
        look_at_mark(look_at_residue);
        o.resume = true;
        o.checkpoint_ms = 0;
        assert_int_equal(residue_kinds(steps, &o), kinds);
        o.resume = false;
        o.checkpoint_ms = 1;
        assert_int_equal(get_file("other", got, sizeof got), n);
        assert_memory_equal(got, want, n);
    }
}

static void
residues(void **state)
{
    (void)state;
    residue_of("- set: { in: a, fields: { at: 0 } }\n"
               "- move: { from: a, into: b, where: { _id: { $gt: 9 } } }\n"
               "- rename: { in: rest, fields: { at: place } }\n"
               "- delete: { in: b, where: { _id: { $mod: [7, 0] } } }\n");
    residue_of("- set: { in: a, fields: { at: 0 } }\n- delete: { in: b, where: { _id: { $lt: 39 } } }\n");
    assert_in_range(in_head, 4, 1000);
    for (unsigned i = 0; i < COLL_STAGES; i++) {
        assert_in_range(in_coll[i], 2, 1000);
    }
}

/* ---- the way back ---- */
enum { BACK_STAGES = 3, PUT_STAGES = 3 }; /* of residue_back.c, residue_put.c */
static unsigned in_back[BACK_STAGES], in_put[PUT_STAGES], in_record, in_whole;

static void
look_at_back(struct mrs_view mark)
{
    bool none = false, bad = false;
    struct mrs_view put = mrsi_savepoint_doc(mark, "put");
    if (mrs_val_is_text(mrs_doc_get(mark, "kind"), MRSI_CKPT_BACK)) {
        in_back[mrsi_state_number(mark, "stage", BACK_STAGES - 1, &bad)]++;
        uint64_t stage = mrsi_state_number(put, "stage", PUT_STAGES - 1, &none);
        in_put[stage] += !none;
        in_record += !none && mrsi_state_number(put, "given", 1000, &bad) > 0;
    }
    assert_false(bad);
}

/* Where all is put back what was written has to be told by whoever goes on. */
static void
whole_says_what_was_written(void)
{
    struct mrsi_checkpoint cp = state_now();
    struct mrs_val whole = mrs_doc_get(cp.state, "whole");
    if (whole.type == MRS_BOOL && *whole.p) {
        assert_int_equal(mrs_doc_get(cp.pass, "written").type, MRS_DOCUMENT);
        in_whole++;
    }
}

static void
came_back(const struct mrs_report *r)
{
    static const char *const names[] = {"a", "b", "rest", "quiet1", "quiet2", "quiet3", "quiet4"};
    static uint8_t want[1 << 16], got[1 << 16];
    char in[40], out[40];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(in, sizeof in, "in/d/%s.bson", names[i]);
        snprintf(out, sizeof out, "out/d/%s.bson", names[i]);
        size_t n = get_file(in, want, sizeof want);
        assert_int_equal(get_file(out, got, sizeof got), n);
        assert_memory_equal(got, want, n);
    }
    assert_true(r->published);
    assert_int_equal(r->n_written, 3);
    assert_string_equal(r->written[2].ns, "d.rest");
    assert_int_equal(r->written[2].docs, 12);
    assert_false(there("out.checkpoint"));
    assert_false(there("out.inverse.partial"));
    assert_false(there("out.inverse.checkpoint"));
}

/* Stopped at the n-th checkpoint, and gone on with. False: there are fewer. */
static bool
back_and_on(const char *steps, struct mrs_run_opts *o, unsigned n)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_report report;
    struct mrs_err e;
    char whole[1000];
    snprintf(whole, sizeof whole, "steps:\n%s", steps);
    o->input = at("made");
    o->output = at("out");
    written = 0;
    stop_at = n;
    bool is = run_back(mem, whole, o, &report, &e) != MRS_OK;
    cancel = 0;
    if (is) {
        assert_int_equal(e.code, MRS_E_CANCEL);
        assert_true(report.stopped);
        look_at_mark(look_at_back);
        mrs_report_clear(&report);
        o->resume = true;
        o->checkpoint_ms = 0;
        assert_int_equal(run_back(mem, whole, o, &report, &e), MRS_OK);
        assert_true(report.resumed);
        o->resume = false;
        o->checkpoint_ms = 1;
    }
    came_back(&report);
    mrs_report_clear(&report);
    assert_int_equal(mrs_mem_close(mem), 0);
    drop("out");
    return is;
}

static void
ways_back(void **state)
{
    static const char steps[] = "- set: { in: a, fields: { at: 0 } }\n"
                                "- move: { from: a, into: b, where: { _id: { $gt: 9 } } }\n"
                                "- rename: { in: rest, fields: { at: place } }\n"
                                "- delete: { in: b, where: { _id: { $mod: [7, 0] } } }\n";
    struct mrs_run_opts o = with_residue();
    (void)state;
    drop("made");
    put_numbered("in/d/quiet1.bson", 0, 12, 1);
    put_numbered("in/d/quiet2.bson", 0, 12, 1);
    put_numbered("in/d/quiet3.bson", 0, 12, 1);
    put_numbered("in/d/quiet4.bson", 0, 12, 1);
    runs(steps, &o);
    assert_int_equal(rename(at("out"), at("made")), 0);
    o.write_residue = NULL;
    look_now = whole_says_what_was_written;
    for (unsigned n = 1; back_and_on(steps, &o, n); n++) {
    }
    look_now = NULL;
    assert_true(in_whole > 0);
    for (unsigned i = 0; i < BACK_STAGES; i++) {
        assert_in_range(in_back[i], 2, 1000);
    }
    for (unsigned i = 0; i < PUT_STAGES; i++) {
        assert_in_range(in_put[i], 1, 1000);
    }
    assert_in_range(in_record, 2, 1000);
}

/* ---- collections that are dropped ---- */
static unsigned in_drop;

static void
look_at_drop(struct mrs_view mark)
{
    in_drop += mrs_val_is_text(mrs_doc_get(mark, "kind"), "drop");
}

static void
dropped(void **state)
{
    static const char steps[] = "- set: { in: a, fields: { x: 1 } }\n- drop_collection: { in: a }\n";
    struct mrs_run_opts o = stopping();
    (void)state;
    begin();
    put_numbered("in/d/a.bson", 0, 40, 1);
    put_numbered("in/d/b.bson", 0, 5, 1);
    for (unsigned n = 1; stopped(steps, &o, n); n++) {
        look_at_mark(look_at_drop);
        o.resume = true;
        o.checkpoint_ms = 0;
        struct ran r = run(steps, &o);
        assert_int_equal(r.status, MRS_OK);
        assert_int_equal(row(&r.report, 1, "d.a")->after, 40);
        assert_int_equal(row(&r.report, 2, "d.a")->before, 40);
        assert_int_equal(row(&r.report, 2, "d.a")->dropped, 40);
        ran_end(&r);
        o.resume = false;
        o.checkpoint_ms = 1;
        drop("out");
    }
    assert_in_range(in_drop, 4, 1000);
}

/* ---- groups that are larger than memory ---- */
static unsigned in_group, in_release;

static void
look_at_group(struct mrs_view mark)
{
    struct mrs_view group = mrsi_savepoint_doc(mark, "group");
    bool none = false;
    uint64_t way = mrsi_state_number(group, "way", 2, &none), given = mrsi_state_number(group, "given", 1000, &none);
    if (!none) {
        in_group += way == 0 && given > 0;
        in_release += way == 2 && mrsi_state_number(group, "released", 1000, &none) > 0;
    }
}

/* What is made of 60 documents, which are one group or two. */
static void
group_of(const char *steps, bool refuses, unsigned releases)
{
    struct mrs_run_opts o = stopping();
    begin();
    put_numbered("in/d/a.bson", 0, 60, 1);
    in_group = in_release = 0;
    same_wherever_stopped(steps, &o, refuses, 2, look_at_group);
    assert_in_range(in_group, 4, 1000);
    assert_in_range(in_release, releases, 1000);
}

static void
groups(void **state)
{
    (void)state;
    group_of("- rollup: { from: a, into: all, by: null, sort: { at: -1 }, fields: {\n"
             "    all: { $push: '$_id' }, each: { $addToSet: { $mod: ['$_id', 7] } }, n: { $count: {} },\n"
             "    sum: { $sum: { $divide: ['$_id', 7] } }, mean: { $avg: '$at' }, dev: { $stdDevPop: '$_id' },\n"
             "    low: { $min: '$from' }, first: { $first: '$_id' }, last: { $last: '$$ROOT' },\n"
             "    low3: { $minN: { input: '$_id', n: 3 } }, top: { $top: { sortBy: { _id: -1 }, output: '$at' } },\n"
             "    half: { $median: { input: '$_id', method: approximate } },\n"
             "    merged: { $mergeObjects: { at: '$at', from: { $toString: '$_id' } } } } }\n",
             false, 0);
    group_of("- rollup: { from: a, into: all, by: { $gt: ['$_id', 30] }, errors: 'null', fields: {\n"
             "    all: { $push: '$_id' }, no: { $sum: { $divide: [1, { $subtract: ['$_id', 12] }] } } } }\n",
             false, 0);
    group_of("- rollup: { from: a, into: all, by: { $gt: ['$_id', 40] }, errors: refuse, fields: {\n"
             "    all: { $push: '$_id' }, no: { $sum: { $divide: [1, { $subtract: ['$_id', 12] }] } } } }\n",
             true, 0);
    group_of("- bucket: { from: a, into: all, items: list, by: [from], time: '$at', max: 7, start: since, end: to,\n"
             "    keep: none, set: { n: { $sum: 1 }, mean: { $avg: '$_id' }, m: { $add: ['$n', 1] } } }\n",
             false, 2);
    group_of("- bucket: { from: a, into: all, items: list, max: 4, keep: none, errors: 'null',\n"
             "    set: { no: { $max: { $divide: [1, { $subtract: ['$_id', 13] }] } }, n.n: { $size: '$list' } },\n"
             "    id: { $mod: [{ $first: '$list._id' }, 10] } }\n",
             true, 2);
}

/* ---- a checkpoint of another version ---- */
static void
another_version(void **state)
{
    enum { WORD = 8, SUM = 16 }; /* around the document */
    static uint8_t room[1 << 20];
    struct mrs_run_opts o = stopping();
    struct mrsi_checkpoint cp;
    struct mrs_err e;
    (void)state;
    begin();
    put_numbered("in/d/a.bson", 0, 20, 1);
    assert_true(stopped("- move: { from: a, into: all }\n", &o, 1));
    size_t n = get_file("out.checkpoint/state", room, sizeof room) - WORD - SUM;
    struct mrs_view doc = {room + WORD, (uint32_t)n};
    mrs_put64(room + (mrs_doc_get(doc, "format").p - room), 1);
    mrs_err_clear(&e);
    assert_int_equal(mrsi_checkpoint_parse_body(doc.p, n, &cp, &e), MRS_FAIL);
    assert_string_equal(e.ns, MRS_CHECKPOINT); /* the run makes a path of it */
    assert_non_null(strstr(e.msg, "another version"));
}

/* ---- documents that are refused while a step reads ---- */
static unsigned in_logged;

static void
look_at_logged(struct mrs_view mark)
{
    bool none = false;
    in_logged += mrsi_state_number(mrsi_savepoint_doc(mark, "logged"), "docs", 1000, &none) > 0 && !none;
}

/* Every fifth document of d.a is refused on its way to the step. */
static void
refused_before(const char *step)
{
    char steps[600];
    struct mrs_run_opts o = stopping();
    snprintf(steps, sizeof steps,
             "- set: { in: a, errors: refuse, fields: { x: { $divide: [1, { $mod: ['$_id', 5] }] },\n"
             "         list: [{ k: { $mod: ['$_id', 4] } }] } }\n%s",
             step);
    begin();
    put_numbered("in/d/a.bson", 0, 40, 1);
    put_numbered("in/d/all.bson", 0, 12, 1);
    in_logged = 0;
    same_wherever_stopped(steps, &o, true, 1, look_at_logged);
    assert_in_range(in_logged, 2, 1000);
}

static void
refused(void **state)
{
    (void)state;
    refused_before("- bucket: { from: a, into: more, items: list, time: '$at', max: 7, keep: none }\n");
    refused_before("- rollup: { from: a, into: more, by: '$at', sort: { x: 1 }, fields: { n: { $sum: 1 } } }\n");
    refused_before("- embed: { from: a, into: all, match: { at: _id }, as: list }\n");
    refused_before("- link: { parent: all, child: a, parent_ref: at, child_refs: list, derive: child_refs }\n");
    refused_before("- extract: { from: a, path: list, into: more, refs: child, child_refs: of, unique: [k],\n"
                   "           id: new }\n");
}

/* ---- a sample: its end lies within the file ---- */
enum { PAUSE_MS = 2 };

static void
cancel_behind(void *arg, const struct mrs_progress *p)
{
    if (!cancel && p->docs >= *(const uint64_t *)arg) {
        usleep(PAUSE_MS * 1000); /* a checkpoint is due now */
        __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    }
}

/* Interrupted when so many documents have been read. False: it ended before. */
static bool
interrupted(const char *steps, struct mrs_run_opts o, uint64_t docs)
{
    o.checkpoint_ms = PAUSE_MS;
    o.progress = cancel_behind;
    o.progress_arg = &docs;
    return stopped(steps, &o, 0);
}

static void
sampled(const char *steps)
{
    char all[TEXT_MAX / 16];
    struct mrs_run_opts o = stopping();
    uint64_t docs = 1;
    o.jobs = 2; /* one worker comes to the end while the other one still works */
    o.sample = 10;
    begin();
    put_numbered("in/d/a.bson", 0, 40, 1);
    put_numbered("in/d/all.bson", 0, 40, 1);
    stop_at = 0;
    runs(steps, &o);
    snprintf(all, sizeof all, "%s", docs_of("out/d/all.bson"));
    drop("out");
    for (; interrupted(steps, o, docs); docs++) {
        o.resume = true;
        runs(steps, &o);
        o.resume = false;
        assert_string_equal(docs_of("out/d/all.bson"), all);
        drop("out");
    }
    assert_in_range(docs, 10, 1000);
}

static void
samples(void **state)
{
    (void)state;
    sampled("- set: { in: all, fields: { x: 1 } }\n"
            "- rollup: { from: a, into: all, match: { at: _id }, sort: { from: 1 }, fields: { n: { $sum: 1 } } }\n");
    sampled("- embed: { from: a, into: all, match: { at: _id }, as: list }\n");
    sampled("- link: { parent: all, child: a, parent_ref: at, child_refs: list, derive: child_refs }\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_ids), cmocka_unit_test(residues),
                                       cmocka_unit_test(ways_back), cmocka_unit_test(dropped),
                                       cmocka_unit_test(groups), cmocka_unit_test(another_version),
                                       cmocka_unit_test(refused), cmocka_unit_test(samples)};
    return cmocka_run_group_tests_name("run/stopped", tests, make_top_in_memory, drop_top);
}
