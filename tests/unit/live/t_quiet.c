/* SPDX-License-Identifier: Apache-2.0 */
/* t_quiet.c - quiet runs against a real server: what each kind of step leaves there, killed at any moment and resumed.
 *
 * A case is a database, a plan and the picture of the database afterwards: collections, options, names of indexes,
 * documents by `_id`. A child process dies at a named stop, the parent goes on; the picture must be the same.
 * Mutants of
 * the tool must spoil it. */
#include "live_test.h"

#include "live/quiet/quiet.h"
#include "mongoreshape/ejson.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *uri;

struct desk {
    struct mrs_mem *mem;
    struct live_job job;
    struct mrs_live live;
    struct mrs_arena arena;
    struct live_pass_report r;
    struct mrs_err e;
    const char *db, *state;
    const char *text;
};
struct sample {
    const char *name;
    const char *plan;
    const char *setup[8]; /* commands on the database */
    const char *want;
    uint64_t max_refused;
};

/* ---- a job ---- */
static struct mrs_view
json(struct desk *d, const char *text)
{
    struct mrs_buf b;
    size_t used;
    mrs_buf_init(&b, d->mem, 1 << 24);
    if (mrs_ejson_read(text, strlen(text), MRS_EJSON_STRICT, &b, &used, &d->e) != MRS_OK) {
        fail_msg("%s: %s", text, d->e.msg);
    }
    struct mrs_view v = {mrs_arena_copy(&d->arena, b.p, b.n), (uint32_t)b.n};
    mrs_buf_clear(&b);
    return v;
}

static void
command(struct desk *d, const char *db, const char *text)
{
    if (live_command(d->job.link, db, json(d, text), LIVE_WRITE, NULL, NULL, &d->e) != MRS_OK) {
        fail_msg("%s: %s", text, d->e.msg);
    }
}

static void
sit(struct desk *d, const char *plan)
{
    static char db[40], state[48];
    memset(d, 0, sizeof *d);
    mrs_err_clear(&d->e);
    snprintf(db, sizeof db, "quiet_%ld", (long)getpgrp());
    snprintf(state, sizeof state, "%s_st", db);
    d->db = db;
    d->state = state;
    d->mem = mrs_mem_new(0);
    d->text = plan;
    mrs_arena_init(&d->arena, d->mem);
    d->r.arena = &d->arena;
    d->job.mem = d->mem;
    d->job.opts = (struct live_opts){.db = db, .state_db = state, .mode = LIVE_DIRECT, .quiet = LIVE_BY_VALIDATOR,
                                     .memory = 64u << 20, .lease_ms = 250,
                                     .no_transactions = getenv("QUIET_PLAIN") != NULL};
    if (live_link_open(d->mem, uri, state, &d->job.link, &d->e) != MRS_OK) {
        fail_msg("%s", d->e.msg);
    }
}

static enum mrs_status
open_run(struct desk *d, bool create)
{
    const char *db[1] = {d->db};
    int64_t now = 1700000000000;
    struct mrs_plan_opts po = {.file = "p.yaml", .default_db = d->db, .now_ms = now};
    enum mrs_status s = mrs_plan_load(d->mem, d->text, strlen(d->text), &po, &d->job.plan, &d->e);
    s = s == MRS_OK ? live_server_read(d->mem, d->job.link, db, 1, &d->job.server, &d->e) : s;
    s = s == MRS_OK ? mrs_live_judge(d->job.plan, &d->arena, &d->live, &d->e) : s;
    d->job.live = &d->live;
    return s == MRS_OK ? live_run_open(&d->job, create, d->text, strlen(d->text), &d->e) : s;
}

static void
rise(struct desk *d)
{
    live_run_close(&d->job);
    live_server_free(d->job.server);
    live_link_close(d->job.link);
    mrs_plan_free(d->job.plan);
    mrs_arena_clear(&d->arena);
    assert_int_equal(mrs_mem_close(d->mem), 0);
}

static void
set_up(const struct sample *c)
{
    struct desk d;
    sit(&d, c->plan);
    command(&d, d.db, "{\"dropDatabase\": 1}");
    command(&d, d.state, "{\"dropDatabase\": 1}");
    for (size_t i = 0; i < 8 && c->setup[i]; i++) {
        command(&d, d.db, c->setup[i]);
    }
    rise(&d);
}

/* ---- the picture of a database ---- */
static void
put_json(struct mrs_buf *out, struct mrs_view v)
{
    mrs_ejson_write(v, false, out);
}

static void
put_docs(struct desk *d, const char *coll, struct mrs_buf *out)
{
    char ns[300];
    struct live_cursor *cur = NULL;
    struct live_fault f;
    struct mrs_view doc, none = {NULL, 0};
    snprintf(ns, sizeof ns, "%s.%s", d->db, coll);
    struct mrs_coll c = {d->db, coll, ns};
    assert_int_equal(live_find(d->job.link, &c, none, json(d, "{\"sort\": {\"_id\": 1}}"), 0, &cur, &d->e), MRS_OK);
    while (live_cursor_next(cur, &doc, &f, &d->e) == MRS_OK) {
        mrs_buf_printf(out, " ");
        put_json(out, doc);
        mrs_buf_printf(out, "\n");
    }
    live_cursor_close(cur);
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
put_coll(const struct live_coll_info *info, struct mrs_buf *out)
{
    struct mrs_walk w;
    struct mrs_elem el;
    const char *name[16];
    size_t n = 0;
    for (mrs_walk_init(&w, info->indexes); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_val v = mrs_doc_get(mrs_val_view(el.v), "name");
        if (strcmp((const char *)v.p + 4, "_id_") != 0 && n < 16) {
            name[n++] = (const char *)v.p + 4;
        }
    }
    qsort(name, n, sizeof *name, by_text);
    mrs_buf_printf(out, "%s", info->coll.coll);
    for (size_t i = 0; i < n; i++) {
        mrs_buf_printf(out, " %s", name[i]);
    }
    struct mrs_val v = mrs_doc_get(info->options, "validator");
    if (v.type == MRS_DOCUMENT && v.n > 5) {
        mrs_buf_printf(out, " ");
        put_json(out, mrs_val_view(v));
    }
    mrs_buf_printf(out, "\n");
}

static void
picture(const char *plan, char *text, size_t size)
{
    struct desk d;
    struct live_server *s = NULL;
    struct mrs_buf out;
    sit(&d, plan);
    const char *db[1] = {d.db};
    mrs_buf_init(&out, d.mem, 1 << 24);
    assert_int_equal(live_server_read(d.mem, d.job.link, db, 1, &s, &d.e), MRS_OK);
    for (uint32_t i = 0; i < s->n_coll; i++) {
        put_coll(&s->coll[i], &out);
        put_docs(&d, s->coll[i].coll.coll, &out);
    }
    snprintf(text, size, "%.*s", (int)out.n, (const char *)out.p);
    mrs_buf_clear(&out);
    live_server_free(s);
    rise(&d);
}

/* ---- running ---- */
static enum mrs_status
apply(const struct sample *c, struct mrs_err *e, bool keep)
{
    struct desk d;
    sit(&d, c->plan);
    d.job.opts.max_refused = c->max_refused;
    d.job.opts.keep_before = keep;
    enum mrs_status s = open_run(&d, true);
    s = s == MRS_OK ? live_quiet_apply(&d.job, &d.r, &d.e) : s;
    *e = d.e;
    rise(&d);
    return s;
}

static void
must_apply(const struct sample *c, bool keep)
{
    struct mrs_err e;
    enum mrs_status s = apply(c, &e, keep);
    if (s != MRS_OK && e.code != MRS_E_EXISTS) { /* it was done before it died */
        fail_msg("%s: status %d: %s", c->name, s, e.msg);
    }
}

typedef enum mrs_status (*work)(const struct sample *c, struct mrs_err *e);

static enum mrs_status
apply_plain(const struct sample *c, struct mrs_err *e)
{
    return apply(c, e, false);
}

/* A child that passes the stops. What came of it; *e: what it said; *killed: it died at the stop. */
static enum mrs_status
in_child(const struct sample *c, work w, const char *stop, struct mrs_err *e, bool *killed)
{
    int status = 0, pipes[2];
    assert_int_equal(pipe(pipes), 0);
    mrs_err_clear(e);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("MRS_STOP", stop, 1);
        enum mrs_status s = w(c, e);
        ssize_t n = write(pipes[1], e, sizeof *e);
        _exit(n != sizeof *e ? 2 : s != MRS_OK);
    }
    close(pipes[1]);
    ssize_t n = read(pipes[0], e, sizeof *e);
    close(pipes[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    *killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    assert_true(*killed || n == sizeof *e);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? MRS_OK : MRS_FAIL;
}

static bool
dies(const struct sample *c, const char *stop)
{
    struct mrs_err e;
    bool killed;
    if (in_child(c, apply_plain, stop, &e, &killed) != MRS_OK && !killed) {
        fprintf(stderr, "%s: %s: %s\n", c->name, stop, e.msg);
    }
    return killed;
}

static void
same_picture(const struct sample *c, const char *when)
{
    static char text[65536];
    picture(c->plan, text, sizeof text);
    if (strcmp(text, c->want) != 0) {
        fail_msg("%s, %s:\n%s\nnot\n%s", c->name, when, text, c->want);
    }
}

static const struct sample samples[] = {
    {.name = "set",
     .plan = "plan: p\nsteps:\n- set: { in: posts, fields: { n: { $add: [\"$n\", 1] }, z: 1 } }\n- unset: { in: posts, "
             "fields: [old] }\n",
     .setup = {"{\"insert\": \"posts\", \"documents\": [{\"_id\": 1, \"old\": 1, \"n\": 1}, {\"_id\": 2, \"n\": 5}, "
               "{\"_id\": \"x\", \"n\": 2.5}]}"},
     .want = "posts\n {\"_id\":1,\"n\":2,\"z\":1}\n {\"_id\":2,\"n\":6,\"z\":1}\n {\"_id\":\"x\",\"n\":3.5,\"z\":1}\n"},
    {.name = "embed",
     .plan = "plan: p\nsteps:\n- embed: { from: comments, into: posts, match: { postId: _id }, as: comments, "
             "keep: none, "
             "orphans: keep }\n",
     .setup = {"{\"insert\": \"posts\", \"documents\": [{\"_id\": 1}, {\"_id\": 2}]}",
               "{\"insert\": \"comments\", \"documents\": [{\"_id\": 1, \"postId\": 1}, {\"_id\": 2, \"postId\": 1}, "
               "{\"_id\": 3, \"postId\": 9}]}"},
     .want = "comments\n {\"_id\":3,\"postId\":9}\nposts\n "
             "{\"_id\":1,\"comments\":[{\"_id\":1,\"postId\":1},{\"_id\":2,"
             "\"postId\":1}]}\n {\"_id\":2,\"comments\":[]}\n"},
    {.name = "extract",
     .plan = "plan: p\nsteps:\n- extract: { from: posts, path: comments, into: comments, parent_ref: postId }\n- "
             "index: { "
             "in: comments, create: [ { key: { postId: 1 } } ] }\n",
     .setup = {"{\"insert\": \"posts\", \"documents\": [{\"_id\": 1, \"comments\": [{\"_id\": 5, \"t\": \"a\"}, "
               "{\"_id\": 6}]}, "
               "{\"_id\": 2}]}"},
     .want = "comments postId_1\n {\"_id\":5,\"postId\":1,\"t\":\"a\"}\n {\"_id\":6,\"postId\":1}\nposts\n "
             "{\"_id\":1}\n "
             "{\"_id\":2}\n"},
    {.name = "unique",
     .plan = "plan: p\nsteps:\n- set: { in: users, fields: { mail: { $cond: [ { $eq: [\"$mail\", \"a\"] }, \"b\", "
             "\"a\" ] } } }\n",
     .setup = {"{\"create\": \"users\", \"validator\": {\"k\": {\"$exists\": false}}}",
               "{\"createIndexes\": \"users\", \"indexes\": [{\"key\": {\"mail\": 1}, \"name\": \"m\", "
               "\"unique\": true}]}",
               "{\"insert\": \"users\", \"documents\": [{\"_id\": 1, \"mail\": \"a\"}, {\"_id\": 2, \"mail\": "
               "\"b\"}]}"},
     .want = "users m {\"k\":{\"$exists\":false}}\n {\"_id\":1,\"mail\":\"b\"}\n {\"_id\":2,\"mail\":\"a\"}\n"},
    {.name = "catalogue",
     .plan = "plan: p\nsteps:\n- set: { in: a, fields: { x: 1 } }\n- rename_collection: { from: a, into: b }\n"
             "- drop_collection: { in: gone }\n- index: { in: o, create: [ { key: { k: 1 }, unique: true } ], "
             "drop: [old_1] }\n"
             "- options: { in: o, validator: { k: { $exists: true } } }\n",
     .setup = {"{\"insert\": \"a\", \"documents\": [{\"_id\": 1}, {\"_id\": 2}]}",
               "{\"createIndexes\": \"a\", \"indexes\": [{\"key\": {\"q\": 1}, \"name\": \"q_1\"}]}",
               "{\"insert\": \"gone\", \"documents\": [{\"_id\": 1}]}",
               "{\"create\": \"o\", \"validator\": {\"z\": {\"$exists\": false}}}",
               "{\"insert\": \"o\", \"documents\": [{\"_id\": 1, \"k\": 1}, {\"_id\": 2, \"k\": 2}]}",
               "{\"createIndexes\": \"o\", \"indexes\": [{\"key\": {\"old\": 1}, \"name\": \"old_1\", \"unique\": "
               "true, "
               "\"sparse\": true}]}"},
     .want = "b q_1\n {\"_id\":1,\"x\":1}\n {\"_id\":2,\"x\":1}\no k_1 {\"k\":{\"$exists\":true}}\n "
             "{\"_id\":1,\"k\":1}\n "
             "{\"_id\":2,\"k\":2}\n"},
    {.name = "refused",
     .plan = "plan: p\nsteps:\n- set: { in: a, fields: { n: 1 } }\n- move: { from: a, into: b }\n",
     .setup = {"{\"insert\": \"a\", \"documents\": [{\"_id\": 1}, {\"_id\": 2, \"k\": 1}]}",
               "{\"insert\": \"b\", \"documents\": [{\"_id\": 2, \"other\": true}]}"},
     .want = "a\n {\"_id\":2,\"k\":1,\"n\":1}\nb\n {\"_id\":1,\"n\":1}\n {\"_id\":2,\"other\":true}\n",
     .max_refused = 5},
    {.name = "ids",
     .plan = "plan: p\nsteps:\n- set: { in: a, fields: { _id: { $add: [\"$_id\", 1] } } }\n- set: { in: c, "
             "fields: { _id: { "
             "$toDouble: \"$_id\" } } }\n",
     .setup = {"{\"insert\": \"a\", \"documents\": [{\"_id\": 1, \"v\": \"a\"}, {\"_id\": 2, \"v\": \"b\"}]}",
               "{\"insert\": \"c\", \"documents\": [{\"_id\": 1}, {\"_id\": 2}]}"},
     .want = "a\n {\"_id\":2,\"v\":\"a\"}\n {\"_id\":3,\"v\":\"b\"}\nc\n {\"_id\":1.0}\n {\"_id\":2.0}\n"},
};
enum { SAMPLES = sizeof samples / sizeof *samples };


static void
result_of_each(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        set_up(&samples[i]);
        must_apply(&samples[i], false);
        same_picture(&samples[i], "at once");
    }
}

/* ---- killed ---- */
static void
killed_everywhere(void **state)
{
    const char *all = getenv("QUIET_ALL"), *only = getenv("QUIET_ONLY");
    char stop[40], when[60];
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        if (only && strcmp(only, samples[i].name) != 0) {
            continue;
        }
        for (int n = all ? 1 : 1 + i; n < 1000; n += all ? 1 : 31) {
            snprintf(stop, sizeof stop, "*:%d=kill", n);
            snprintf(when, sizeof when, "killed at stop %d", n);
            set_up(&samples[i]);
            bool killed = dies(&samples[i], stop);
            if (killed) {
                must_apply(&samples[i], false);
            }
            same_picture(&samples[i], when);
            if (!killed) {
                break;
            }
        }
    }
}

/* ---- what must hold at every instant, and what the safeguards are for ---- */
static const struct sample *
sample(const char *name)
{
    int i = 0;
    while (i + 1 < SAMPLES && strcmp(samples[i].name, name) != 0) {
        i++;
    }
    return &samples[i];
}

/* Whether both comments are somewhere whenever a run is killed behind a commit or a write. */
static bool
nothing_lost_on_the_way(const char *mutant)
{
    static const char *const stops[] = {"after-commit", "after-delete", "after-insert", "after-update"};
    const struct sample *c = sample("embed");
    char stop[60], text[4096];
    bool good = true, killed = true;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        for (int n = 1; n < 10; n++) {
            snprintf(stop, sizeof stop, "%s:%d=kill", stops[i], n);
            set_up(c);
            setenv("MRS_MUTANT", mutant, 1);
            killed = dies(c, stop);
            unsetenv("MRS_MUTANT");
            picture(c->plan, text, sizeof text);
            good = good && strstr(text, "{\"_id\":1,\"postId\":1}") && strstr(text, "{\"_id\":2,\"postId\":1}");
            must_apply(c, false); /* ends the transaction of the dead, too */
            if (!killed) {
                break;
            }
        }
    }
    return good;
}

static void
nothing_is_lost_at_any_instant(void **state)
{
    (void)state;
    assert_true(nothing_lost_on_the_way(""));
    assert_false(nothing_lost_on_the_way("delete-first"));
}

/* A plan that must not be applied twice, killed when its documents are written. */
static bool
applied_once(const char *mutant)
{
    const struct sample *c = sample("set");
    const char *const stop[] = {"after-update=kill", "after-commit=kill", "after-seal=kill"};
    bool good = true;
    setenv("QUIET_PLAIN", "1", 1); /* a transaction and its checkpoint would hide it */
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++) {
        char text[4096];
        struct mrs_err e;
        set_up(c);
        setenv("MRS_MUTANT", mutant, 1);
        dies(c, stop[i]);
        apply(c, &e, false);
        unsetenv("MRS_MUTANT");
        picture(c->plan, text, sizeof text);
        good = good && strcmp(text, c->want) == 0;
    }
    unsetenv("QUIET_PLAIN");
    return good;
}

static void
a_sealed_list_rules(void **state)
{
    (void)state;
    assert_true(applied_once(""));
    assert_false(applied_once("apply-unsealed"));
    assert_false(applied_once("derive-again"));
}

/* Somebody else's document: named, and left. True: so it was. */
static bool
foreign_is_left(const char *mutant)
{
    const struct sample *c = sample("set");
    struct desk d;
    struct mrs_err e;
    char text[4096];
    set_up(c);
    assert_true(dies(c, "after-seal=kill"));
    sit(&d, c->plan);
    command(&d, d.db, "{\"update\": \"posts\", \"updates\": [{\"q\": {\"_id\": 2}, \"u\": {\"$set\": {\"n\": 77}}}], "
                      "\"bypassDocumentValidation\": true}");
    rise(&d);
    setenv("MRS_MUTANT", mutant, 1);
    enum mrs_status s = apply(c, &e, false);
    unsetenv("MRS_MUTANT");
    picture(c->plan, text, sizeof text);
    if (s != MRS_OK) {
        print_message("%s\n", e.msg);
    }
    return s == MRS_FAIL && e.code == MRS_E_SERVER && strstr(e.msg, "posts, _id int 2") && strstr(text, "77");
}

static void
foreign_documents_stop_a_run(void **state)
{
    (void)state;
    assert_true(foreign_is_left(""));
    assert_false(foreign_is_left("no-digest"));
}

/* A collection that goes as a whole must be what was read. */
static void
foreign_documents_keep_a_collection(void **state)
{
    static const char *const names[] = {"unique", "catalogue"}, *const colls[] = {"users", "gone"};
    struct desk d;
    struct mrs_err e;
    char text[4096], cmd[200];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct sample c = *sample(names[i]);
        set_up(&c);
        assert_true(dies(&c, "after-seal=kill"));
        sit(&d, c.plan);
        snprintf(cmd, sizeof cmd, "{\"insert\": \"%s\", \"documents\": [{\"_id\": 99}], "
                                  "\"bypassDocumentValidation\": true}", colls[i]);
        command(&d, d.db, cmd);
        rise(&d);
        assert_int_equal(apply(&c, &e, false), MRS_FAIL);
        assert_non_null(strstr(e.msg, "was written to"));
        picture(c.plan, text, sizeof text);
        assert_non_null(strstr(text, "{\"_id\":99}"));
        sit(&d, c.plan);
        snprintf(cmd, sizeof cmd, "{\"delete\": \"%s\", \"deletes\": [{\"q\": {\"_id\": 99}, \"limit\": 1}]}",
                 colls[i]);
        command(&d, d.db, cmd);
        rise(&d);
        must_apply(&c, false);
        same_picture(&c, "quiet again");
    }
}

/* ---- before anything is touched ---- */
static void
writers_are_seen(void **state)
{
    const char *port = strrchr(uri, ':');
    struct sample c = *sample("set");
    struct mrs_err e;
    char stop[600], before[4096], after[4096];
    bool killed;
    (void)state;
    if (!live_test_replicated() || !port) {
        skip();
    }
    set_up(&c);
    picture(c.plan, before, sizeof before);
    snprintf(stop, sizeof stop,
             "after-deriving=run:python3 tests/server/wire.py --port %d quiet_%ld '{\"delete\": \"posts\", "
             "\"deletes\": "
             "[{\"q\": {\"_id\": 2}, \"limit\": 1}]}' >/dev/null", atoi(port + 1), (long)getpgrp());
    assert_int_equal(in_child(&c, apply_plain, stop, &e, &killed), MRS_FAIL);
    if (!strstr(e.msg, "was written to") || !strstr(e.msg, "posts, _id int 2")) {
        fail_msg("%s", e.msg);
    }
    /* writers are let in again, and the run goes through when it is quiet */
    struct desk d;
    sit(&d, c.plan);
    command(&d, d.db, "{\"insert\": \"posts\", \"documents\": [{\"_id\": 2, \"n\": 5}]}");
    rise(&d);
    picture(c.plan, after, sizeof after);
    assert_string_equal(before, after);
    must_apply(&c, false);
    same_picture(&c, "after a foreign write");
}

static void
writers_are_kept_out(void **state)
{
    struct sample c = *sample("set");
    struct desk d;
    struct live_fault f;
    struct mrs_view cmd;
    (void)state;
    set_up(&c);
    assert_true(dies(&c, "after-reading=kill"));
    sit(&d, c.plan);
    cmd = json(&d, "{\"insert\": \"posts\", \"documents\": [{\"_id\": 99}]}");
    struct mrs_buf reply;
    mrs_buf_init(&reply, d.mem, 1 << 20);
    live_command(d.job.link, d.db, cmd, LIVE_WRITE, &reply, &f, NULL);
    struct mrs_view r = {reply.p, (uint32_t)reply.n};
    assert_true(f.kind == LIVE_FAULT_INVALID || live_int_at(r, "n", -1) == 0);
    mrs_buf_clear(&reply);
    rise(&d);
    must_apply(&c, false);
    same_picture(&c, "blocked");
    sit(&d, c.plan);
    command(&d, d.db, "{\"insert\": \"posts\", \"documents\": [{\"_id\": 99}]}");
    rise(&d);
}

static void
too_many_refused(void **state)
{
    struct sample c = *sample("refused");
    struct mrs_err e;
    char before[4096], after[4096];
    (void)state;
    c.max_refused = 0;
    set_up(&c);
    picture(c.plan, before, sizeof before);
    assert_int_equal(apply(&c, &e, false), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_TOO_MANY);
    picture(c.plan, after, sizeof after);
    assert_string_equal(before, after);
    c.max_refused = 1;
    must_apply(&c, false);
    same_picture(&c, "with --max-refused 1");
}

/* A document that a mongod would not insert as it is to be stops a run before anything is touched; so does one that the
 * run removes, where it is to be kept for a rollback. In a document that is only changed such a value stays. */
static void
zero_times(void **state)
{
    static const struct sample k[] = {
        {"move", "steps:\n- move: { from: posts, into: made, where: { at: { $exists: true } } }\n", {NULL}, NULL, 0},
        {"drop", "steps:\n- drop_collection: { in: posts }\n", {NULL}, NULL, 0},
        {"set", "steps:\n- set: { in: posts, fields: { n: 2 } }\n", {NULL}, NULL, 0},
    };
    static const char *const made[] = {
        "{\"insert\": \"posts\", \"documents\": [{\"_id\": 7}, {\"_id\": 8}]}",
        "{\"update\": \"posts\", \"updates\": [{\"q\": {\"_id\": 7}, \"u\": [{\"$set\": {\"at\": {\"$literal\": "
        "{\"$timestamp\": {\"t\": 0, \"i\": 0}}}}}]}]}"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct sample c = k[i < 3 ? i : 1];
        bool keep = i == 1, refused = i < 2;
        struct mrs_err e;
        char before[4096], after[4096];
        c.setup[0] = made[0];
        c.setup[1] = made[1];
        set_up(&c);
        picture(c.plan, before, sizeof before);
        enum mrs_status s = apply(&c, &e, keep);
        picture(c.plan, after, sizeof after);
        if (refused != (s == MRS_FAIL) || (s != MRS_OK && s != MRS_FAIL)) {
            fail_msg("%s: status %d: %s", c.name, s, e.msg);
        }
        if (refused) {
            if (e.code != MRS_E_REFUSED || !strstr(e.msg, "_id int 7: field at is Timestamp(0, 0)")) {
                fail_msg("%s: %s", c.name, e.msg);
            }
            assert_string_equal(before, after);
        } else if (i == 2) {
            assert_non_null(strstr(after, "{\"_id\":7,\"at\":{\"$timestamp\":{\"t\":0,\"i\":0}},\"n\":2}"));
        }
    }
}

/* A result that a unique index cannot hold is found before anything is sealed: the run may be mended or forgotten. */
static void
clashes_are_found_in_time(void **state)
{
    static const struct sample c = {
        .name = "clash",
        .plan = "plan: p\nsteps:\n- extract: { from: p, path: items, into: made, parent_ref: of }\n"
                "- index: { in: made, create: [ { key: { n: 1 }, unique: true } ] }\n",
        .setup = {"{\"insert\": \"p\", \"documents\": [{\"_id\": 1, \"items\": [{\"_id\": 5, \"n\": 7}]}, "
                  "{\"_id\": 2, \"items\": [{\"_id\": 6, \"n\": 7}]}]}"},
        .want = "made n_1 of_1\n {\"_id\":5,\"of\":1,\"n\":7}\n {\"_id\":6,\"of\":2,\"n\":8}\np\n {\"_id\":1}\n "
                "{\"_id\":2}\n"};
    struct mrs_err e;
    struct desk d;
    char before[4096], after[4096];
    (void)state;
    set_up(&c);
    picture(c.plan, before, sizeof before);
    assert_int_equal(apply(&c, &e, false), MRS_FAIL);
    if (e.code != MRS_E_REFUSED || !strstr(e.msg, "index n_1: documents _id int 5 and _id int 6 have the same key;")) {
        fail_msg("%s", e.msg);
    }
    picture(c.plan, after, sizeof after);
    assert_string_equal(before, after);
    sit(&d, c.plan); /* writers may write again */
    command(&d, d.db, "{\"update\": \"p\", \"updates\": [{\"q\": {\"_id\": 2}, \"u\": {\"$set\": "
                      "{\"items\": [{\"_id\": 6, \"n\": 8}]}}}]}");
    rise(&d);
    must_apply(&c, false);
    same_picture(&c, "mended");
}

/* The server's block is one for all: a second run that relied on it would be let down by the first. */
static void
one_run_blocks_at_a_time(void **state)
{
    const struct sample *c = sample("set");
    struct desk d;
    char before[4096], after[4096];
    (void)state;
    set_up(c);
    picture(c->plan, before, sizeof before);
    sit(&d, c->plan);
    d.job.opts.quiet = LIVE_BY_BLOCK;
    command(&d, d.state, "{\"insert\": \"runs\", \"documents\": [{\"_id\": "
                         "\"0123456789abcdef0123456789abcdef\", \"phase\": \"applying\", "
                         "\"blocked\": {\"by\": \"block\"}}]}");
    assert_int_equal(open_run(&d, true), MRS_OK);
    for (int both = 0; both < 2; both++) { /* both at once: its note goes, the block is the other's */
        struct mrs_view noted = json(&d, both ? "{\"blocked\": {\"by\": \"block\"}}" : "{}");
        assert_int_equal(live_run_phase(&d.job, "claimed", 0, noted, &d.e), MRS_OK);
        assert_int_equal(live_quiet_apply(&d.job, &d.r, &d.e), MRS_FAIL);
        if (d.e.code != MRS_E_SERVER || !strstr(d.e.msg, "run 0123456789abcdef0123456789abcdef keeps writers out")) {
            fail_msg("%s", d.e.msg);
        }
        assert_int_equal(live_at(live_run_doc(d.job.run), "blocked").type, MRS_MISSING);
        assert_true(live_run_in(&d.job, "claimed"));
        mrs_err_clear(&d.e);
    }
    rise(&d);
    picture(c->plan, after, sizeof after);
    assert_string_equal(before, after);
}

/* ---- verify and rollback ---- */
static bool discard;

static int64_t
state_count(const struct sample *c, const char *text)
{
    struct desk d;
    struct mrs_buf reply;
    sit(&d, c->plan);
    mrs_buf_init(&reply, d.mem, 1 << 20);
    assert_int_equal(live_command(d.job.link, d.state, json(&d, text), 0, &reply, NULL, &d.e), MRS_OK);
    struct mrs_view r = {reply.p, (uint32_t)reply.n};
    int64_t n = live_int_at(r, "n", -1);
    mrs_buf_clear(&reply);
    rise(&d);
    return n;
}

static enum mrs_status
again(const struct sample *c, enum mrs_status (*f)(struct live_job *, struct live_pass_report *, struct mrs_err *),
      struct live_pass_report *r, struct mrs_err *e)
{
    struct desk d;
    sit(&d, c->plan);
    d.job.opts.max_refused = c->max_refused;
    d.job.opts.allow_scan = true;
    d.job.opts.discard_new_writes = discard;
    enum mrs_status s = open_run(&d, false);
    s = s == MRS_OK ? f(&d.job, &d.r, &d.e) : s;
    *e = d.e;
    *r = d.r;
    rise(&d);
    return s;
}

static void
back_and_forth(void **state)
{
    char before[65536], after[65536];
    struct live_pass_report r;
    struct mrs_err e;
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *c = &samples[i];
        set_up(c);
        picture(c->plan, before, sizeof before);
        must_apply(c, true);
        assert_int_equal(again(c, live_quiet_verify, &r, &e), MRS_OK);
        assert_int_equal(r.differs, 0);
        if (again(c, live_quiet_rollback, &r, &e) != MRS_OK) {
            fail_msg("%s: %s", c->name, e.msg);
        }
        picture(c->plan, after, sizeof after);
        if (strcmp(before, after) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", c->name, after, before);
        }
    }
}

static void
back_only_from_what_was_made(void **state)
{
    const struct sample *c = sample("set");
    struct live_pass_report r;
    struct mrs_err e;
    struct desk d;
    char before[4096], after[4096];
    (void)state;
    set_up(c);
    picture(c->plan, before, sizeof before);
    must_apply(c, true);
    sit(&d, c->plan);
    command(&d, d.db, "{\"update\": \"posts\", \"updates\": [{\"q\": {\"_id\": 2}, \"u\": {\"$set\": {\"n\": 77}}}]}");
    rise(&d);
    assert_int_equal(again(c, live_quiet_verify, &r, &e), MRS_OK);
    assert_int_equal(r.differs, 1);
    assert_int_equal(again(c, live_quiet_rollback, &r, &e), MRS_FAIL);
    assert_non_null(strstr(e.msg, "written since"));
    discard = true;
    assert_int_equal(again(c, live_quiet_rollback, &r, &e), MRS_OK);
    discard = false;
    picture(c->plan, after, sizeof after);
    assert_string_equal(before, after);
    assert_int_equal(state_count(c, "{\"count\": \"refused\"}"), 1);
    set_up(c);
    must_apply(c, false);
    assert_int_equal(again(c, live_quiet_rollback, &r, &e), MRS_FAIL);
    assert_non_null(strstr(e.msg, "--keep-before"));
}

/* ---- large documents ---- */
static void
large_documents(void **state)
{
    struct sample c = *sample("set");
    struct desk d;
    struct live_pass_report r;
    struct mrs_err e;
    (void)state;
    set_up(&c);
    sit(&d, c.plan);
    size_t n = 14u << 20;
    char *text = mrs_alloc(d.mem, n + 200);
    int head = snprintf(text, 100, "{\"_id\": 3, \"n\": 1, \"pad\": \"");
    memset(text + head, 'x', n);
    snprintf(text + head + n, 100, "\"}");
    struct live_op op = {.kind = LIVE_INSERT, .doc = json(&d, text)};
    struct live_bulk_result br;
    char ns[60];
    snprintf(ns, sizeof ns, "%s.posts", d.db);
    struct mrs_coll coll = {d.db, "posts", ns};
    assert_int_equal(live_bulk(d.job.link, &coll, &op, 1, LIVE_WRITE, false, &d.arena, &br, NULL, &d.e), MRS_OK);
    mrs_free(d.mem, text);
    rise(&d);
    must_apply(&c, true);
    assert_int_equal(again(&c, live_quiet_verify, &r, &e), MRS_OK);
    assert_int_equal(r.differs, 0);
    assert_int_equal(r.docs, 4);
    if (again(&c, live_quiet_rollback, &r, &e) != MRS_OK) {
        fail_msg("%s", e.msg);
    }
}

/* ---- contract ---- */
static void
expand(const struct sample *c)
{
    struct desk d;
    sit(&d, c->plan);
    d.job.opts.mode = LIVE_EXPAND;
    d.job.opts.quiet = LIVE_NOT_QUIET;
    d.job.opts.allow_scan = true;
    enum mrs_status s = open_run(&d, true);
    s = s == MRS_OK ? live_expand(&d.job, &d.r, &d.e) : s;
    if (s != MRS_OK) {
        fail_msg("%s: expand: %s", c->name, d.e.msg);
    }
    rise(&d);
}

static void
contract_removes_what_is_old(void **state)
{
    static const char *const names[] = {"embed", "extract"};
    struct live_pass_report r;
    struct mrs_err e;
    struct desk d;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct sample *c = sample(names[i]);
        set_up(c);
        expand(c);
        if (again(c, live_quiet_contract, &r, &e) != MRS_OK) {
            fail_msg("%s: %s", c->name, e.msg);
        }
        same_picture(c, "contract");
        /* a new design that is not what the old one says is not believed */
        set_up(c);
        expand(c);
        sit(&d, c->plan);
        command(&d, d.db, i ? "{\"update\": \"comments\", \"updates\": [{\"q\": {\"_id\": 5}, \"u\": {\"$set\": "
                              "{\"t\": 7}}}]}"
                            : "{\"update\": \"comments\", \"updates\": [{\"q\": {\"_id\": 2}, \"u\": {\"$set\": "
                              "{\"t\": 7}}}]}");
        rise(&d);
        assert_int_equal(again(c, live_quiet_contract, &r, &e), MRS_FAIL);
        assert_int_equal(r.differs, 1);
        assert_non_null(strstr(e.msg, "verify --repair"));
    }
}

static void
contract_leaves_foreign_documents(void **state)
{
    const struct sample *c = sample("extract");
    char text[4096];
    struct live_pass_report r;
    struct mrs_err e;
    struct desk d;
    (void)state;
    set_up(c);
    expand(c);
    sit(&d, c->plan);
    command(&d, d.db, "{\"insert\": \"comments\", \"documents\": [{\"_id\": 99}]}");
    rise(&d);
    assert_int_equal(again(c, live_quiet_contract, &r, &e), MRS_OK);
    assert_int_equal(r.foreign, 1);
    picture(c->plan, text, sizeof text);
    assert_non_null(strstr(text, "{\"_id\":99}"));
    assert_non_null(strstr(text, "posts\n {\"_id\":1}\n {\"_id\":2}\n"));
}

/* ---- the other ways, killed ---- */
static enum mrs_status
roll_back(const struct sample *c, struct mrs_err *e)
{
    struct live_pass_report r;
    return again(c, live_quiet_rollback, &r, e);
}

static enum mrs_status
contract(const struct sample *c, struct mrs_err *e)
{
    struct live_pass_report r;
    return again(c, live_quiet_contract, &r, e);
}

/* Killed at every n-th stop and given again: the picture is the same as without. */
static void
killed_at_work(const struct sample *c, work w, void (*before)(const struct sample *), const char *want, int step)
{
    char stop[40], text[65536];
    bool killed = true;
    struct mrs_err e;
    for (int n = getenv("QUIET_ALL") ? 1 : step; killed && n < 1000; n += getenv("QUIET_ALL") ? 1 : step) {
        snprintf(stop, sizeof stop, "*:%d=kill", n);
        set_up(c);
        before(c);
        enum mrs_status s = in_child(c, w, stop, &e, &killed);
        if (killed) {
            s = w(c, &e);
        }
        /* where it died behind its last write, it is over: nothing is there to be done again */
        if (s != MRS_OK && !strstr(e.msg, "rolled back") && !strstr(e.msg, "done")) {
            fail_msg("%s: stop %d: %s", c->name, n, e.msg);
        }
        picture(c->plan, text, sizeof text);
        if (strcmp(text, want) != 0) {
            fail_msg("%s, killed at stop %d:\n%s\nnot\n%s", c->name, n, text, want);
        }
    }
}

static void
apply_kept(const struct sample *c)
{
    must_apply(c, true);
}

static void
rollback_killed_everywhere(void **state)
{
    const char *only = getenv("QUIET_ONLY");
    char want[65536];
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        if (!only || strcmp(only, samples[i].name) == 0) {
            set_up(&samples[i]);
            picture(samples[i].plan, want, sizeof want);
            killed_at_work(&samples[i], roll_back, apply_kept, want, 43);
        }
    }
}

static void
contract_killed_everywhere(void **state)
{
    (void)state;
    killed_at_work(sample("embed"), contract, expand, sample("embed")->want, 37);
    killed_at_work(sample("extract"), contract, expand, sample("extract")->want, 37);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_of_each),
        cmocka_unit_test(killed_everywhere),
        cmocka_unit_test(nothing_is_lost_at_any_instant),
        cmocka_unit_test(a_sealed_list_rules),
        cmocka_unit_test(foreign_documents_stop_a_run),
        cmocka_unit_test(foreign_documents_keep_a_collection),
        cmocka_unit_test(writers_are_seen),
        cmocka_unit_test(writers_are_kept_out),
        cmocka_unit_test(too_many_refused),
        cmocka_unit_test(zero_times),
        cmocka_unit_test(clashes_are_found_in_time),
        cmocka_unit_test(one_run_blocks_at_a_time),
        cmocka_unit_test(back_and_forth),
        cmocka_unit_test(back_only_from_what_was_made),
        cmocka_unit_test(large_documents),
        cmocka_unit_test(contract_removes_what_is_old),
        cmocka_unit_test(contract_leaves_foreign_documents),
        cmocka_unit_test(rollback_killed_everywhere),
        cmocka_unit_test(contract_killed_everywhere),
    };
    uri = live_test_need_server("t_quiet");
    live_link_setup();
    const char *filter = getenv("QUIET_TEST");
    if (filter) {
        cmocka_set_test_filter(filter);
    }
    int failed = cmocka_run_group_tests_name("quiet", tests, NULL, NULL);
    live_link_teardown();
    return failed;
}
