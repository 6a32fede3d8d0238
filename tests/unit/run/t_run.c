/* SPDX-License-Identifier: Apache-2.0 */
/* t_run.c - whole runs over small dumps: what is written where, and what the report says. */
#include "dump_test.h"
#include <fcntl.h>
#include <sys/file.h>

static void
account_balances(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/posts.bson", "{'_id':1} {'_id':2} {'_id':3}");
    put_docs("in/d/comments.bson", "{'_id':1,'p':1} {'_id':2,'p':1} {'_id':3,'p':9} {'_id':4,'p':2}");
    put_docs("in/d/rest.bson", "{'_id':'x'}");
    struct ran r = run("- embed: { from: comments, into: posts, match: { p: _id }, as: comments, drop: [p],\n"
                       "    orphans: { into: lost } }\n"
                       "- delete: { in: posts, where: { _id: 2 } }\n",
                       &o);
    assert_int_equal(r.status, MRS_OK);
    const struct mrs_account *from = row(&r.report, 1, "d.comments"), *into = row(&r.report, 1, "d.posts");
    assert_int_equal(from->before, 4);
    assert_int_equal(from->taken, 4); /* three embedded, one to the orphans */
    assert_int_equal(from->after, 0);
    assert_int_equal(into->placed, 3);
    assert_int_equal(row(&r.report, 1, "d.lost")->entered, 1);
    assert_int_equal(row(&r.report, 2, "d.posts")->dropped, 1);
    assert_int_equal(row(&r.report, 2, "d.posts")->after, 2);
    uint64_t docs = 0;
    for (uint32_t i = 0; i < r.report.n_written; i++) {
        const struct mrs_written *w = &r.report.written[i];
        docs += w->docs;
        assert_int_equal(w->copied, strcmp(w->ns, "d.rest") == 0);
        assert_int_equal(w->empty_now, strcmp(w->ns, "d.comments") == 0);
    }
    assert_int_equal(docs, 2 + 1 + 1);
    assert_int_equal(r.report.n_drop_first, 2); /* posts and comments are there in the old shape */
    assert_non_null(strstr(r.report.restore, "mongorestore"));
    assert_non_null(strstr(r.report.restore, at("out")));
    ran_end(&r);
    assert_string_equal(docs_of("out/d/posts.bson"), "{'_id':1,'comments':[{'_id':1},{'_id':2}]}\n{'_id':3,'comments':["
                                                     "]}\n");
    assert_string_equal(docs_of("out/d/lost.bson"), "{'_id':3,'p':9}\n");
    assert_string_equal(docs_of("out/d/rest.bson"), "{'_id':'x'}\n");
    assert_string_equal(docs_of("out/d/comments.bson"), "");
    assert_true(there("out/mongoreshape.manifest.json"));
}

/* A caller that does not check the status of mrs_plan_load has a plan without steps: the dump would be copied. */
static void
plan_with_errors(void **state)
{
    struct mrs_run_opts o = defaults();
    struct mrs_plan_opts po = {.file = "p", .default_db = "d"};
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_input *in = NULL;
    struct mrs_plan *plan = NULL;
    struct mrs_report report = {0};
    struct mrs_err e;
    static const char text[] = "steps:\n- embde: {}\n- set: { in: a, fields: { x: 1 } }\n";
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1}");
    o.input = at("in");
    o.output = at("out");
    mrs_err_clear(&e);
    assert_int_equal(mrs_input_open(mem, o.input, &o.in, &in, &e), MRS_OK);
    assert_int_equal(mrs_plan_load(mem, text, sizeof text - 1, &po, &plan, &e), MRS_FAIL);
    mrs_err_clear(&e);
    assert_int_equal(mrs_run(mem, plan, in, &o, &report, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_PLAN);
    assert_false(there("out"));
    mrs_report_clear(&report);
    mrs_plan_free(plan);
    mrs_input_close(in);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
dry_run(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1,'x':[1,2]} {'_id':2}");
    o.dry_run = true;
    struct ran r = run("- extract: { from: a, path: x, into: b, parent_ref: a, value: v, id: new }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    assert_false(r.report.published);
    assert_int_equal(row(&r.report, 1, "d.b")->created, 2);
    assert_int_equal(r.report.n_written, 2);
    ran_end(&r);
    assert_false(there("out"));
    assert_false(there("out.partial"));
    assert_int_equal(mkdir(at("out"), 0777), 0); /* what is there does not matter to it */
    runs("- unset: { in: a, fields: [x] }\n", &o);
}

static void
existing_output(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1}");
    assert_int_equal(mkdir(at("out"), 0777), 0);
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_EXISTS, "--force");
    assert_true(there("out"));
    put_file("out/private.txt", "mine", 4);
    o.force = true;
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_EXISTS, "private.txt");
    assert_true(there("out/private.txt"));
    assert_int_equal(unlink(at("out/private.txt")), 0);
    assert_int_equal(mkdir(at("out/d"), 0777), 0);
    put_docs("out/d/old.bson", "{'_id':7}");
    runs("- set: { in: a, fields: { x: 1 } }\n", &o);
    assert_false(there("out/d/old.bson"));
    assert_false(there("out.partial"));
    assert_string_equal(docs_of("out/d/a.bson"), "{'_id':1,'x':1}\n");
}

static void
overlapping(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1}");
    o.force = true;
    o.output = at("in");
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_USAGE, "overlap");
    o.output = at("in/d");
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_USAGE, "overlap");
    o.output = at("in/new");
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_USAGE, "overlap");
    assert_false(there("in/new") || there("in/new.partial"));
    assert_string_equal(docs_of("in/d/a.bson"), "{'_id':1}\n");
}

/* A killed run's folder goes; one that is being written, or somebody else's, does not. */
static void
stale_partial(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1}");
    assert_int_equal(mkdir(at("out.partial"), 0777), 0);
    put_file("out.partial/somebody's", "x", 1);
    struct ran r = run("- set: { in: a, fields: { x: 1 } }\n", &o);
    assert_int_equal(r.err.code, MRS_E_EXISTS);
    ran_end(&r);
    assert_true(there("out.partial/somebody's"));
    put_file("out.partial/mongoreshape.partial", "x", 1);
    int fd = open(at("out.partial/mongoreshape.partial"), O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    r = run("- set: { in: a, fields: { x: 1 } }\n", &o);
    assert_int_equal(r.err.code, MRS_E_EXISTS);
    assert_non_null(strstr(r.err.msg, "another run"));
    ran_end(&r);
    close(fd);
    runs("- set: { in: a, fields: { x: 1 } }\n", &o);
    assert_false(there("out.partial"));
}

static void
one_file(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1} {'_id':2}");
    put_file("in/d/a.metadata.json", "{\"options\":{},\"indexes\":[]}", 27);
    o.input = at("in/d/a.bson");
    o.output = at("out.bson");
    o.single_ns = "d.a";
    struct ran r = run("- set: { in: a, fields: { x: 1 } }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    assert_non_null(strstr(r.report.restore, "--collection"));
    ran_end(&r);
    assert_string_equal(docs_of("out.bson"), "{'_id':1,'x':1}\n{'_id':2,'x':1}\n");
    assert_true(there("out.metadata.json"));
    assert_true(there("out.bson.manifest.json"));
    assert_false(there("out.bson.partial"));
    o.output = at("other");
    o.single_ns = "d.b"; /* the collection that there is has no place */
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_USAGE, "d.b only");
}

static void
to_stdout(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1} {'_id':2,'x':{}}");
    o.input = at("in/d/a.bson");
    o.output = "-";
    o.single_ns = "d.a";
    o.tmp = top;
    for (int refuses = 0; refuses < 2; refuses++) {
        fflush(stdout);
        int keep = dup(STDOUT_FILENO), fd = creat(at("stream"), 0666);
        dup2(fd, STDOUT_FILENO);
        close(fd);
        o.refused = at("out.refused.bson");
        struct ran r = run(refuses ? "- set: { in: a, fields: { y: { $add: [\"$x\", 1] } } }\n"
                                   : "- set: { in: a, fields: { y: 3 } }\n",
                           &o);
        dup2(keep, STDOUT_FILENO);
        close(keep);
        assert_int_equal(r.err.code, refuses ? MRS_E_TOO_MANY : MRS_E_NONE);
        ran_end(&r);
        assert_string_equal(docs_of("stream"), refuses ? "" : "{'_id':1,'y':3}\n{'_id':2,'x':{},'y':3}\n");
    }
}

static void
is_codec(const char *name, enum mrs_codec codec)
{
    uint8_t p[8] = {0};
    get_file(name, p, sizeof p);
    enum mrs_codec got = p[0] == 0x1f && p[1] == 0x8b ? MRS_CODEC_GZIP
                         : mrs_le32(p) == 0xFD2FB528u ? MRS_CODEC_ZSTD
                                                      : MRS_CODEC_NONE;
    assert_int_equal(got, codec);
}

static void
codecs(void **state)
{
    static const char *const ends[] = {"", ".gz", ".zst"};
    (void)state;
    for (int in = 0; in < 3; in++) {
        for (enum mrs_codec c = MRS_CODEC_NONE; c <= MRS_CODEC_AS_INPUT; c++) {
            struct mrs_run_opts o = defaults();
            char name[64];
            int out = c == MRS_CODEC_AS_INPUT ? in : (int)c;
            begin();
            for (int k = 0; k < 2; k++) { /* one is changed, one passes through */
                snprintf(name, sizeof name, "in/d/%c.bson%s", 'a' + k, ends[in]);
                put_docs(name, "{'_id':1} {'_id':2}");
            }
            o.compress.codec = c;
            runs("- set: { in: a, fields: { x: 1 } }\n", &o);
            for (int k = 0; k < 2; k++) {
                snprintf(name, sizeof name, "out/d/%c.bson%s", 'a' + k, ends[out]);
                is_codec(name, (enum mrs_codec)out);
                assert_string_equal(docs_of(name), k ? "{'_id':1}\n{'_id':2}\n" : "{'_id':1,'x':1}\n{'_id':2,'x':1}\n");
            }
        }
    }
}

static void
namespaces(void **state)
{
    const char *const patterns[] = {"d.b*"};
    struct mrs_run_opts o = defaults();
    bool told = false;
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1}");
    put_docs("in/d/b1.bson", "{'_id':1}");
    put_docs("in/d/b2.bson", "{'_id':1}");
    o.in.exclude = patterns;
    o.in.n_exclude = 1;
    struct ran r = run("- set: { in: a, fields: { x: 1 } }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    for (uint32_t i = 0; i < r.report.n_notes; i++) {
        told = told || strstr(r.report.notes[i], "d.b1");
    }
    assert_true(told);
    ran_end(&r);
    assert_true(there("out/d/a.bson"));
    assert_false(there("out/d/b1.bson") || there("out/d/b2.bson"));
    begin();
    put_docs("in/d/a.bson", "{'_id':1}");
    put_docs("in/d/b1.bson", "{'_id':1}");
    o.in.n_exclude = 0;
    o.in.include = patterns;
    o.in.n_include = 1;
    runs("- set: { in: b1, fields: { x: 1 } }\n", &o);
    assert_true(there("out/d/b1.bson"));
    assert_false(there("out/d/a.bson"));
    drop("out");
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_PLAN, "");
}

static void
stop_at_once(void *arg, const struct mrs_progress *p)
{
    if (p->docs > 3) {
        __atomic_store_n((int *)arg, 2, __ATOMIC_RELAXED);
    }
}

static void
cancelled(void **state)
{
    struct mrs_run_opts o = defaults();
    int flag = 15;
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1} {'_id':2} {'_id':3} {'_id':4}");
    put_docs("in/d/b.bson", "{'_id':1}");
    o.cancel = &flag;
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_CANCEL, "interrupted");
    flag = 0;
    o.progress = stop_at_once;
    o.progress_arg = &flag;
    fails("- embed: { from: b, into: a, match: { _id: _id }, as: b }\n", &o, MRS_E_CANCEL, "interrupted");
    assert_false(there("out"));
}

static void
oplog(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "{'_id':1}");
    put_docs("in/oplog.bson", "{'ns':'d.a','op':'i','o':{'_id':9}}");
    fails("- set: { in: a, fields: { x: 1 } }\n", &o, MRS_E_PLAN, "--oplog drop");
    o.oplog_drop = true;
    runs("- set: { in: a, fields: { x: 1 } }\n", &o);
    assert_false(there("out/oplog.bson"));
}

static void
empty_dumps(void **state)
{
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/a.bson", "");
    put_docs("in/d/b.bson", "");
    runs("- embed: { from: a, into: b, match: { x: _id }, as: y }\n"
         "- extract: { from: b, path: y, into: c, parent_ref: b }\n"
         "- extract: { from: b, path: z, into: e, refs: child, child_refs: es, unique: [k] }\n",
         &o);
    assert_string_equal(docs_of("out/d/a.bson"), "");
    assert_string_equal(docs_of("out/d/b.bson"), "");
    assert_string_equal(docs_of("out/d/c.bson"), "");
    assert_string_equal(docs_of("out/d/e.bson"), "");
}

/* The same bytes whatever the memory and the workers, on data that takes every way through a join. */
static void
any_memory_any_jobs(void **state)
{
    static const uint64_t memory[] = {1u << 30, 64u << 20, 65536, 20000, 4096};
    static char hosts[200000], logs[400000], want[TEXT_MAX], more[TEXT_MAX];
    size_t h = 0, l = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        h += (size_t)sprintf(hosts + h, "{'_id':%d,'two':[%d,%d]}\n", i, i % 7, i % 11);
    }
    for (int i = 0; i < 1500; i++) {
        l += (size_t)sprintf(logs + l, "{'_id':%d,'h':%d,'k':%d,'d':%d,'t':'%0*d'}\n", i, i % 2 ? 5 : i % 310, i % 7,
                             i * 17 % 40, i % 150, i);
    }
    for (size_t m = 0; m < sizeof memory / sizeof *memory; m++) {
        for (uint32_t jobs = 1; jobs < 4; jobs++) {
            struct mrs_run_opts o = defaults();
            begin();
            put_docs("in/d/hosts.bson", hosts);
            put_docs("in/d/logs.bson", logs);
            o.memory = memory[m];
            o.jobs = jobs;
            o.max_refused = 2000;
            runs("- embed: { from: logs, into: hosts, match: { h: _id, k: two }, as: logs, sort: { d: 1 }, limit: 5,\n"
                 "    overflow: { into: more, size: 7, ref: h, number: n, items: l }, keep: unmatched, count: c }\n",
                 &o);
            if (m == 0 && jobs == 1) {
                strcpy(want, docs_of("out/d/hosts.bson"));
                strcpy(more, docs_of("out/d/more.bson"));
                assert_true(strlen(more) > 1000);
            }
            assert_string_equal(docs_of("out/d/hosts.bson"), want);
            assert_string_equal(docs_of("out/d/more.bson"), more);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(account_balances),   cmocka_unit_test(dry_run),       cmocka_unit_test(existing_output),
        cmocka_unit_test(overlapping),        cmocka_unit_test(stale_partial), cmocka_unit_test(one_file),
        cmocka_unit_test(to_stdout),          cmocka_unit_test(codecs),        cmocka_unit_test(namespaces),
        cmocka_unit_test(cancelled),          cmocka_unit_test(oplog),         cmocka_unit_test(empty_dumps),
        cmocka_unit_test(any_memory_any_jobs), cmocka_unit_test(plan_with_errors)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
