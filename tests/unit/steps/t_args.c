/* SPDX-License-Identifier: Apache-2.0 */
/* t_args.c - the readers of a step's keys, by a step that reads one key of every kind and says what it read. */
#include "bench.h"

#include "steps/kit/args.h"

struct all {
    struct mrsi_owned keep;
    char said[4096];
};

static const struct mrs_key inner[] = {
    {"into", MRS_ARG_COLL, true, NULL, ""},
    {"size", MRS_ARG_COUNT, false, NULL, ""},
    {"order", MRS_ARG_CHOICE, false, "up|down", ""},
};
static const struct mrs_key keys[] = {
    {"coll", MRS_ARG_COLL, false, NULL, ""},      {"bool", MRS_ARG_BOOL, false, NULL, ""},
    {"count", MRS_ARG_COUNT, false, NULL, ""},    {"choice", MRS_ARG_CHOICE, false, "refuse|keep|null|drop", ""},
    {"orphans", MRS_ARG_CHOICE_OR_COLL, false, "keep|drop", ""}, {"text", MRS_ARG_TEXT, false, NULL, ""},
    {"name", MRS_ARG_NAME, false, NULL, ""},      {"path", MRS_ARG_PATH, false, NULL, ""},
    {"paths", MRS_ARG_PATHS, false, NULL, ""},    {"fields", MRS_ARG_FIELDS, false, NULL, ""},
    {"expr", MRS_ARG_EXPR, false, NULL, ""},      {"query", MRS_ARG_QUERY, false, NULL, ""},
    {"sort", MRS_ARG_SORT, false, NULL, ""},      {"match", MRS_ARG_MATCH, false, NULL, ""},
    {"map", MRS_ARG_MAP, false, NULL, ""},
};

static void say(struct all *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
say(struct all *a, const char *fmt, ...)
{
    size_t n = strlen(a->said);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(a->said + n, sizeof a->said - n, fmt, ap);
    va_end(ap);
}

static void
read_simple(struct mrsi_read *r, struct all *a)
{
    struct mrs_coll c = {NULL, NULL, NULL};
    bool on;
    uint64_t n;
    int k = -1;
    const char *text;
    if (mrsi_read_coll(r, mrsi_slot(r, "coll"), &c)) {
        say(a, "coll %s|%s|%s ", c.db, c.coll, c.ns);
    }
    if (mrsi_read_bool(r, mrsi_slot(r, "bool"), &on)) {
        say(a, "bool %d ", on);
    }
    if (mrsi_read_count(r, mrsi_slot(r, "count"), &n)) {
        say(a, "count %llu ", (unsigned long long)n);
    }
    if (mrsi_read_choice(r, mrsi_slot(r, "choice"), &k)) {
        say(a, "choice %d ", k);
    }
    if (mrsi_read_choice_or_coll(r, mrsi_slot(r, "orphans"), &k, &c)) {
        say(a, "orphans %d %s ", k, k == 2 ? c.ns : "-");
    }
    if (mrsi_read_text(r, mrsi_slot(r, "text"), &text)) {
        say(a, "text %s ", text);
    }
    if (mrsi_read_name(r, mrsi_slot(r, "name"), &text)) {
        say(a, "name %s ", text);
    }
}

static void
say_side(struct all *a, const struct mrsi_side_key *k)
{
    assert_true((k->path.n == 0) == (k->expr != NULL));
    say(a, "%s", k->expr ? "<expr>" : k->path.text);
}

static void
read_paths(struct mrsi_read *r, struct all *a)
{
    struct mrs_path p;
    struct mrsi_paths list = {NULL, 0};
    struct mrsi_fields f = {.present = false};
    struct mrsi_match m = {NULL, 0};
    if (mrsi_read_path(r, mrsi_slot(r, "path"), &p) && mrsi_read_not_id(r, mrsi_slot(r, "path"), &p)) {
        say(a, "path %s/%u ", p.text, p.n);
    }
    if (mrsi_read_paths(r, mrsi_slot(r, "paths"), &list)) {
        say(a, "paths");
        for (uint32_t i = 0; i < list.n; i++) {
            say(a, ":%s", list.path[i].text);
        }
        say(a, " ");
    }
    if (mrsi_read_fields(r, mrsi_slot(r, "fields"), &f)) {
        say(a, "fields %s%s", f.map ? "map" : "list", f.without_id ? " -_id" : "");
        for (uint32_t i = 0; i < f.n; i++) {
            say(a, ":%s%s", f.path[i].text, f.map && mrs_expr_bare_path(f.expr[i]) ? "$" : "");
        }
        say(a, " ");
    }
    if (mrsi_read_match(r, mrsi_slot(r, "match"), &m)) {
        say(a, "match");
        for (uint32_t i = 0; i < m.n; i++) {
            say(a, ":");
            say_side(a, &m.pair[i].from);
            say(a, "=");
            say_side(a, &m.pair[i].into);
        }
        say(a, " ");
    }
}

static void
read_compiled(struct mrsi_read *r, struct all *a)
{
    static const char *const vars[] = {"PARENT"};
    struct mrs_expr *x;
    struct mrs_query *q;
    struct mrs_sort *s;
    r->vars = vars;
    r->n_vars = 1;
    if (mrsi_read_expr(r, mrsi_slot(r, "expr"), &x)) {
        say(a, "expr ");
    }
    r->n_vars = 0;
    if (mrsi_read_query(r, mrsi_slot(r, "query"), &q)) {
        say(a, "query ");
    }
    if (mrsi_read_sort(r, mrsi_slot(r, "sort"), &s)) {
        say(a, "sort ");
    }
}

static void
read_sub(struct mrsi_read *r, struct all *a)
{
    struct mrsi_slot m = mrsi_slot(r, "map");
    struct mrs_coll c;
    uint64_t n = 7;
    int k = 0;
    if (!mrsi_read_map(r, m, inner, BENCH_N(inner))) {
        return;
    }
    mrsi_read_count(r, mrsi_slot_in(m, inner, BENCH_N(inner), "size"), &n);
    mrsi_read_choice(r, mrsi_slot_in(m, inner, BENCH_N(inner), "order"), &k);
    if (mrsi_read_coll(r, mrsi_slot_in(m, inner, BENCH_N(inner), "into"), &c)) {
        say(a, "map %s %llu %d ", c.ns, (unsigned long long)n, k);
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct all *a = mrsi_read_begin(&r, args, sizeof *a, e);
    if (!a) {
        return MRS_DEAD;
    }
    read_simple(&r, a);
    read_paths(&r, a);
    read_compiled(&r, a);
    read_sub(&r, a);
    return mrsi_read_end(&r, state);
}

static const struct mrs_step_type all_type = {
    .name = "all", .keys = keys, .n_keys = BENCH_N(keys), .compile = compile, .free_state = mrsi_state_free};

struct row {
    const char *body, *want; /* what was read; where it begins with "!": the errors */
};

#define NINES "99999999999999999999999999999999999999999999999999"

static const struct row rows[] = {
    {"{}", ""},
    /* collections */
    {"{'coll':'x'}", "coll shop|x|shop.x "},
    {"{'coll':'fs.files'}", "coll shop|fs.files|shop.fs.files "},
    {"{'coll':{'db':'d','coll':'c.d'}}", "coll d|c.d|d.c.d "},
    {"{'coll':{'coll':'c','db':'d'}}", "coll d|c|d.c "},
    {"{'coll':{'coll':'c','db':'a<b>:|?'}}", "coll a<b>:|?|c|a<b>:|?.c "},
    {"{'coll':''}", "!coll: `` is no name of a collection\n"},
    {"{'coll':'.x'}", "!coll: `.x` is no name of a collection\n"},
    {"{'coll':7}", "!coll: must be a text, not int\n"},
    {"{'coll':['x']}", "!coll: must be a text, not array\n"},
    {"{'coll':{'db':'d'}}", "!coll: `coll` is needed here\n"},
    {"{'coll':{'db':'d','col':'c'}}", "!coll/col: unknown key `col`; is `coll` meant?\ncoll: `coll` is needed "
     "here\n"},
    {"{'coll':{'db':'a b','coll':'c'}}", "!coll: `a b` is no name of a database: ..."},
    {"{'coll':{'db':'','coll':'c'}}", "!coll: the database of `c` is not known: ..."},
    {"{'coll':{'db':5,'coll':'c'}}", "!coll/db: must be a text, not int\n"},
    {"{'coll':{'db':'d','coll':'a\\u0000b'}}", "!coll/coll: holds a NUL byte\n"},
    {"{'coll':{'db':'a1234567890123456789012345678901234567890123456789012345678901234','coll':'c'}}",
     "!coll: `a12..."},
    {"{'coll':'c12345" NINES NINES NINES NINES NINES "'}", "!coll: the name shop.c12..."},
    /* simple values */
    {"{'bool':true,'count':3}", "bool 1 count 3 "},
    {"{'bool':false,'count':{'$numberLong':'9000000000'}}", "bool 0 count 9000000000 "},
    {"{'count':2.0}", "count 2 "},
    {"{'count':0}", "count 0 "},
    {"{'count':-1}", "!count: must be a whole number, 0 or more\n"},
    {"{'count':2.5}", "!count: must be a whole number, 0 or more\n"},
    {"{'count':'2'}", "!count: must be a whole number, 0 or more\n"},
    {"{'bool':1,'count':null}", "!bool: must be true or false, not int\ncount: must be a whole number, 0 or more\n"},
    {"{'choice':'refuse'}", "choice 0 "},
    {"{'choice':'drop'}", "choice 3 "},
    {"{'choice':'null'}", "choice 2 "},
    {"{'choice':null}", "choice 2 "},
    {"{'choice':'ref'}", "!choice: `ref` is none of refuse|keep|null|drop\n"},
    {"{'choice':''}", "!choice: `` is none of refuse|keep|null|drop\n"},
    {"{'choice':'refuse|keep'}", "!choice: `refuse|keep` is none of refuse|keep|null|drop\n"},
    {"{'choice':5}", "!choice: must be a text, not int\n"},
    {"{'orphans':'drop'}", "orphans 1 - "},
    {"{'orphans':{'into':'lost'}}", "orphans 2 shop.lost "},
    {"{'orphans':{'into':{'db':'x','coll':'lost'}}}", "orphans 2 x.lost "},
    {"{'orphans':'lost'}", "!orphans: `lost` is none of keep|drop, nor {into: collection}\n"},
    {"{'orphans':{'in':'lost'}}", "!orphans/in: unknown key `in`\norphans: `into` is needed here\n"},
    {"{'orphans':{'into':5}}", "!orphans/into: must be a text, not int\n"},
    {"{'text':'a.b$'}", "text a.b$ "},
    {"{'name':'a'}", "name a "},
    {"{'name':'a.b'}", "!name: `a.b` is no name of a top-level field\n"},
    {"{'name':'$a'}", "!name: `$a` is no name of a top-level field\n"},
    {"{'name':''}", "!name: `` is no name of a top-level field\n"},
    /* paths */
    {"{'path':'a.b.c'}", "path a.b.c/3 "},
    {"{'path':['a','b.c','$d']}", "path a.b.c.$d/3 "},
    {"{'path':'_id.x'}", "!path: `_id.x`: the `_id` cannot change, name another field\n"},
    {"{'path':'a..b'}", "!path: ..."},
    {"{'path':''}", "!path: ..."},
    {"{'path':5}", "!path: ..."},
    {"{'path':[]}", "!path: ..."},
    {"{'path':'a.$b'}", "!path: ..."},
    {"{'paths':['a','b.c',['d.e']]}", "paths:a:b.c:d.e "},
    {"{'paths':[]}", "paths "},
    {"{'paths':'a'}", "!paths: must be a list of paths, not string\n"},
    {"{'paths':['a','a']}", "!paths/1: ..."},
    {"{'paths':['a.b','c','a']}", "!paths/2: ..."},
    {"{'paths':['-_id']}", "paths:-_id "},
    /* fields */
    {"{'fields':['a','-_id','b.c']}", "fields list -_id:a:b.c "},
    {"{'fields':['-_id']}", "fields list -_id "},
    {"{'fields':{'a':'$x','b.c':{'$add':[1,'$y']}}}", "fields map:a$:b.c "},
    {"{'fields':{}}", "fields map "},
    {"{'fields':{'a':1,'a.b':2}}", "!fields/a.b: ..."},
    {"{'fields':{'a':{'$nope':1},'b':{'$nope':2}}}", "!fields/a: ..."},
    {"{'fields':'a'}", "!fields: must be a list of paths or a map of name: expression, not string\n"},
    {"{'fields':['a','$b',7]}", "!fields/1: ..."},
    /* compiled */
    {"{'expr':'$$PARENT.x','query':{'a':1},'sort':{'a':1,'b':-1}}", "expr query sort "},
    {"{'expr':'$$CHILD'}", "!expr: ..."},
    {"{'query':'a'}", "!query: must be a map, not string\n"},
    {"{'query':{'a':{'$foo':1}}}", "!query: ..."},
    {"{'sort':['a']}", "!sort: must be a map, not array\n"},
    {"{'sort':{'a':2}}", "!sort: ..."},
    {"{'sort':{}}", "!sort: ..."},
    /* match */
    {"{'match':{'postId':'_id'}}", "match:postId=_id "},
    {"{'match':{'a.b':'c','d':['e.f']}}", "match:a.b=c:d=e.f "},
    {"{'match':[{'from':'$a.b','into':{'$toLower':'$c'}}]}", "match:a.b=<expr> "},
    {"{'match':[{'from':{'$toLower':'$c'},'into':'$_id'},{'from':'$x','into':'$y'}]}", "match:<expr>=_id:x=y "},
    {"{'match':[{'from':'$$ROOT','into':'$y'}]}", "match:<expr>=y "},
    {"{'match':{}}", "!match: needs at least one pair\n"},
    {"{'match':[]}", "!match: needs at least one pair\n"},
    {"{'match':'a'}", "!match: must be a map of path: path or a list of {from, into}, not string\n"},
    {"{'match':{'a':5,'b':'$c'}}", "!match/a: ..."},
    {"{'match':[{'from':'$a'},{'from':'$a','into':'$b','nulls':1}]}",
     "!match/0: `into` is needed here\nmatch/1.nulls: unknown key `nulls`\n"},
    {"{'match':['$a']}", "!match/0: must be a map, not string\n"},
    /* maps with keys of their own */
    {"{'map':{'into':'x'}}", "map shop.x 7 0 "},
    {"{'map':{'size':5,'into':'x','order':'down'}}", "map shop.x 5 1 "},
    {"{'map':{'size':5,'inot':'x'}}", "!map/inot: unknown key `inot`; is `into` meant?\nmap: `into` is needed "
     "here\n"},
    {"{'map':{'into':'x','size':-1,'order':'left'}}",
     "!map/size: must be a whole number, 0 or more\nmap/order: `left` is none of up|down\n"},
    {"{'map':5}", "!map: must be a map, not int\n"},
};

static bool
run_row(const struct row *w, uint64_t fail_at)
{
    static char want[BENCH_TEXT];
    struct bench b;
    bench_quotes(w->want, want);
    bench_open_type(&b, &all_type, w->body, fail_at);
    bool whole = b.status != MRS_DEAD;
    if (!whole) {
        assert_int_equal(b.err.code, MRS_E_MEMORY);
        assert_true(fail_at > 0);
    } else if (want[0] == '!') {
        if (b.status != MRS_FAIL || !bench_like(b.errors, want + 1)) {
            fail_msg("%s\n got %s\n want %s", w->body, b.errors, want);
        }
    } else if (b.status != MRS_OK || strcmp(((struct all *)b.state)->said, want) != 0) {
        fail_msg("%s\n got %s %s\n want %s", w->body, b.errors, b.state ? ((struct all *)b.state)->said : "", want);
    }
    assert_int_equal(bench_close(&b), 0);
    return whole;
}

static void
reads(void **arg)
{
    (void)arg;
    for (size_t i = 0; i < BENCH_N(rows); i++) {
        assert_true(run_row(&rows[i], 0));
    }
}

static void
memory(void **arg)
{
    (void)arg;
    for (size_t i = 0; i < BENCH_N(rows); i++) {
        uint64_t at = 1;
        while (!run_row(&rows[i], at)) {
            at++;
        }
    }
}

/* All errors of an entry are collected, not only the first. */
static void
collects_all(void **arg)
{
    (void)arg;
    struct bench b;
    bench_open_type(&b, &all_type, "{'coll':1,'bool':2,'count':'x','choice':'y','text':3,'expr':{'$nope':1},"
    "'sort':{}}", 0);
    assert_int_equal(b.status, MRS_FAIL);
    assert_int_equal(b.args.n_errors, 7);
    assert_int_equal(bench_close(&b), 0);
}

static void
without_database(void **arg)
{
    (void)arg;
    struct bench b;
    bench_open_type(&b, &all_type, "{}", 0);
    b.body_bytes = (free(b.body_bytes), bench_doc("{'coll':'x'}", &b.args.body));
    b.args.default_db = NULL;
    b.type->free_state(b.mem, b.state);
    b.state = NULL;
    assert_int_equal(b.type->compile(&b.args, &b.state, &b.err), MRS_FAIL);
    assert_non_null(strstr(b.errors, "coll: the database of `x` is not known: give `database:` or { db: ..., coll: "
    "x }"));
    assert_int_equal(bench_close(&b), 0);
}

static void
nearest(void **arg)
{
    (void)arg;
    assert_string_equal(mrsi_arg_nearest("fields", keys, BENCH_N(keys)), "fields");
    assert_string_equal(mrsi_arg_nearest("feilds", keys, BENCH_N(keys)), "fields");
    assert_string_equal(mrsi_arg_nearest("orphan", keys, BENCH_N(keys)), "orphans");
    assert_null(mrsi_arg_nearest("completely", keys, BENCH_N(keys)));
    assert_null(mrsi_arg_nearest("", keys, BENCH_N(keys)));
    assert_null(mrsi_arg_nearest("a123456789012345678901234567890123456789012345678901234567890123456789", keys, 1));
}

/* Every step of the table can be found, has help for each key, and ends its keys with `indexes`. */
static void
registry(void **arg)
{
    (void)arg;
    uint32_t n = 0;
    for (; mrs_step_type_at(n); n++) {
        const struct mrs_step_type *t = mrs_step_type_at(n);
        assert_ptr_equal(mrs_step_type_find(t->name), t);
        bool optional = false;
        for (uint32_t i = 0; i < t->n_keys; i++) {
            assert_true(t->keys[i].help && *t->keys[i].help);
            assert_false(optional && t->keys[i].needed);
            optional = optional || !t->keys[i].needed;
        }
        if (t->n_keys) {
            assert_string_equal(t->keys[t->n_keys - 1].name, "indexes");
            assert_true(t->summary && *t->summary && t->compile && t->describe && t->catalog && t->free_state);
        }
    }
    assert_true(n >= 17);
    assert_null(mrs_step_type_find("nope"));
    assert_null(mrs_step_type_at(1000));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),            cmocka_unit_test(memory),  cmocka_unit_test(collects_all),
        cmocka_unit_test(without_database), cmocka_unit_test(nearest), cmocka_unit_test(registry),
    };
    return cmocka_run_group_tests_name("steps: keys of a step", tests, NULL, NULL);
}
