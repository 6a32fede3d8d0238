/* SPDX-License-Identifier: Apache-2.0 */
/* t_edit.c - rewriting at paths.
 *
 * What each verdict does at each kind of place, that nothing else moves, that duplicates are refused only where a
 * level is written, and that random edits agree with a slow twin which rebuilds documents field by field. Reading at
 * paths is checked here too. */
#include "json.h"

#include "mongoreshape/path.h"

static struct mrs_mem *mem;

/* What the function of a test does: per path one JSON document {v: value}, or a verdict. */
struct plan {
    struct mrs_arena arena;
    struct mrs_path path[200];
    uint32_t n;
    enum mrs_edit_verdict verdict;
    struct mrs_val put;
    const char *splice; /* JSON of the fields */
    uint32_t calls, blocked;
    char trace[512];
};

static struct mrs_path
path_of(struct mrs_arena *a, const char *text)
{
    struct mrs_path p;
    assert_int_equal(mrs_path_compile(a, mrs_make_text(a, text, (uint32_t)strlen(text)), false, &p, NULL), MRS_OK);
    return p;
}

static enum mrs_status
act(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
    struct mrs_buf *raw, struct mrs_err *e)
{
    struct plan *p = arg;
    (void)e;
    size_t at = strlen(p->trace);
    snprintf(p->trace + at, sizeof p->trace - at, "%u%s%s", site->path_no, site->blocked ? "!" : "",
             site->old.type ? "=" : "");
    for (uint32_t i = 0; i < site->n_index; i++) {
        at = strlen(p->trace);
        snprintf(p->trace + at, sizeof p->trace - at, "[%u]", site->index[i]);
    }
    strncat(p->trace, " ", sizeof p->trace - strlen(p->trace) - 1);
    p->calls++;
    p->blocked += site->blocked;
    *verdict = p->verdict;
    *put = p->put;
    if (p->verdict == MRS_EDIT_SPLICE) {
        bson_t *b = json_read(p->splice);
        mrs_buf_put(raw, bson_get_data(b) + 4, b->len - 5);
        bson_destroy(b);
    }
    return MRS_OK;
}

struct result {
    enum mrs_status status;
    bool changed;
    struct mrs_buf out;
    char trace[512];
};

#define WRITE 16 /* added to the verdict: missing fields are visited */
#define INNER 32 /* arrays in arrays are passed */

/* Edits `in` at the paths (separated by blanks). */
static struct result
edit(const char *in, const char *paths, int how_to, const char *what)
{
    enum mrs_edit_verdict verdict = how_to & 3;
    struct plan p;
    struct mrs_edit *ed;
    struct mrs_buf raw;
    struct result r;
    char text[256];
    memset(&p, 0, sizeof p);
    memset(&r, 0, sizeof r);
    mrs_arena_init(&p.arena, mem);
    mrs_buf_init(&raw, mem, 1 << 20);
    mrs_buf_init(&r.out, mem, 1 << 20);
    assert_int_equal(mrs_edit_new(mem, &ed, NULL), MRS_OK);
    snprintf(text, sizeof text, "%s", paths);
    for (char *t = strtok(text, " "); t; t = strtok(NULL, " ")) {
        p.path[p.n] = path_of(&p.arena, t);
        assert_int_equal(mrs_edit_add(ed, &p.path[p.n++], NULL), MRS_OK);
    }
    bson_t *put = what ? json_read(what) : NULL, *d = json_read(in);
    p.verdict = verdict;
    p.splice = what;
    if (put && verdict == MRS_EDIT_PUT) {
        p.put = mrs_doc_get(json_view(put), "v");
    }
    struct mrs_edit_run how = {act, &p, (how_to & WRITE) != 0, &raw, (how_to & INNER) != 0};
    mrs_buf_put(&r.out, "before", 6);
    r.status = mrs_edit_run(ed, &how, json_view(d), &r.out, &r.changed, NULL);
    memcpy(r.trace, p.trace, sizeof r.trace);
    assert_memory_equal(r.out.p, "before", 6);
    if (r.status != MRS_OK) {
        assert_int_equal(r.out.n, 6);
    } else {
        bool same = r.out.n - 6 == d->len && memcmp(r.out.p + 6, bson_get_data(d), d->len) == 0;
        assert_int_equal(same, !r.changed);
    }
    mrs_edit_free(ed);
    mrs_buf_clear(&raw);
    mrs_arena_clear(&p.arena);
    bson_destroy(d);
    if (put) {
        bson_destroy(put);
    }
    return r;
}

static void
expect(const char *in, const char *paths, int how_to, const char *what, const char *want, const char *trace)
{
    struct result r = edit(in, paths, how_to, what);
    assert_int_equal(r.status, MRS_OK);
    struct mrs_view d = {r.out.p + 6, (uint32_t)(r.out.n - 6)};
    json_check(d, want);
    if (trace) {
        assert_string_equal(r.trace, trace);
    }
    mrs_buf_clear(&r.out);
}

static void
puts_in_place_and_behind(void **state)
{
    (void)state;
    expect("{'a':1,'b':2,'c':3}", "b", MRS_EDIT_PUT | WRITE, "{'v':'x'}", "{'a':1,'b':'x','c':3}", "0= ");
    expect("{'a':1}", "b c", MRS_EDIT_PUT | WRITE, "{'v':true}", "{'a':1,'b':true,'c':true}", "0 1 ");
    expect("{'a':1}", "b c", MRS_EDIT_PUT, "{'v':true}", "{'a':1}", "");
    expect("{}", "a.b.c", MRS_EDIT_PUT | WRITE, "{'v':[]}", "{'a':{'b':{'c':[]}}}", "0 ");
    expect("{'z':0}", "a.b a.c d a.d.e", MRS_EDIT_PUT | WRITE, "{'v':7}",
           "{'z':0,'a':{'b':7,'c':7,'d':{'e':7}},'d':7}", "0 1 3 2 ");
    expect("{'a':{'x':1},'b':2}", "a.y", MRS_EDIT_PUT | WRITE, "{'v':null}", "{'a':{'x':1,'y':null},'b':2}", "0 ");
    expect("{'a':{'x':1},'b':2}", "a.y.z", MRS_EDIT_KEEP | WRITE, NULL, "{'a':{'x':1},'b':2}", "0 ");
    expect("{'a':{'x':1},'b':2}", "a.y.z q.r.s", MRS_EDIT_REMOVE | WRITE, NULL, "{'a':{'x':1},'b':2}", "0 1 ");
    expect("{'a':1,'b':2}", "a", MRS_EDIT_PUT | WRITE, "{'v':1}", "{'a':1,'b':2}", "0= ");
}

static void
fans_out(void **state)
{
    (void)state;
    expect("{'l':[{'a':1},{'b':2},{}],'z':0}", "l.a", MRS_EDIT_PUT | WRITE, "{'v':9}",
           "{'l':[{'a':9},{'b':2,'a':9},{'a':9}],'z':0}", "0=[0] 0[1] 0[2] ");
    expect("{'l':[{'m':[{'a':1},{'a':2}]},{'m':{'a':3}}]}", "l.m.a", MRS_EDIT_REMOVE, NULL,
           "{'l':[{'m':[{},{}]},{'m':{}}]}",
           "0=[0][0] 0=[0][1] 0=[1] ");
    expect("{'l':[]}", "l.a", MRS_EDIT_PUT | WRITE, "{'v':9}", "{'l':[]}", "");
    expect("{'l':[{'0':1}]}", "l.0", MRS_EDIT_PUT | WRITE, "{'v':9}", "{'l':[{'0':9}]}", "0=[0] ");
    expect("{'l':[1,{'a':1},[{'a':2}],null]}", "l.a l.b", MRS_EDIT_PUT | WRITE, "{'v':3}",
           "{'l':[1,{'a':3,'b':3},[{'a':2}],null]}",
           "0![0] 1![0] 0=[1] 1[1] 0![2] 1![2] 0![3] 1![3] ");
    expect("{'a':null,'b':5}", "a.x b.x.y", MRS_EDIT_PUT | WRITE, "{'v':3}", "{'a':null,'b':5}", "0! 1! ");
    expect("{'a':null,'l':[1,[{'a':1}]]}", "a.x l.a", MRS_EDIT_REMOVE, NULL, "{'a':null,'l':[1,[{'a':1}]]}", "");
    expect("{'l':[1,[{'a':1},[{'a':2,'b':3}]]]}", "l.a", MRS_EDIT_REMOVE | INNER, NULL, "{'l':[1,[{},[{'b':3}]]]}",
           "0=[1][0] 0=[1][1][0] ");
}

static void
splices(void **state)
{
    (void)state;
    expect("{'a':1,'b':2,'c':3}", "b", MRS_EDIT_SPLICE | WRITE, "{'x':1,'y':'z'}", "{'a':1,'x':1,'y':'z','c':3}", NULL);
    expect("{'a':1,'b':2,'c':3}", "b", MRS_EDIT_SPLICE | WRITE, "{'b':2}", "{'a':1,'b':2,'c':3}", NULL);
    expect("{'a':1,'b':2,'c':3}", "b", MRS_EDIT_SPLICE | WRITE, "{}", "{'a':1,'c':3}", NULL);
    expect("{'a':1}", "b.c", MRS_EDIT_SPLICE | WRITE, "{'x':1,'y':2}", "{'a':1,'b':{'x':1,'y':2}}", NULL);
    expect("{'a':1}", "b.c", MRS_EDIT_SPLICE | WRITE, "{}", "{'a':1}", NULL);
}

static void
duplicates(void **state)
{
    (void)state;
    static const char *const twice = "{'a':1,'s':{'x':1,'x':2},'a':2,'k':{'y':1}}";
    struct result r = edit(twice, "a", MRS_EDIT_PUT | WRITE, "{'v':9}");
    assert_int_equal(r.status, MRS_FAIL);
    mrs_buf_clear(&r.out);
    r = edit(twice, "k.y", MRS_EDIT_PUT | WRITE, "{'v':9}"); /* the top level has to be written too */
    assert_int_equal(r.status, MRS_FAIL);
    mrs_buf_clear(&r.out);
    expect(twice, "a", MRS_EDIT_KEEP | WRITE, NULL, twice, "0= ");
    expect(twice, "s.x", MRS_EDIT_PUT | WRITE, "{'v':1}", twice, "0= ");
    r = edit("{'s':{'x':1,'x':2},'t':1}", "s.x", MRS_EDIT_PUT | WRITE, "{'v':3}");
    assert_int_equal(r.status, MRS_FAIL);
    mrs_buf_clear(&r.out);
    expect("{'s':{'x':1,'x':2},'t':1}", "t", MRS_EDIT_PUT | WRITE, "{'v':3}", "{'s':{'x':1,'x':2},'t':3}", NULL);

    bson_t *d = json_read(twice);
    assert_true(mrs_doc_has_duplicates(mem, json_view(d), true));
    bson_destroy(d);
    d = json_read("{'t':[{'s':{'x':1,'x':2}}]}");
    assert_false(mrs_doc_has_duplicates(mem, json_view(d), true));
    assert_true(mrs_doc_has_duplicates(mem, json_view(d), false));
    bson_destroy(d);
}

/* Levels of many fields go another way in the search for duplicates. */
static void
wide_duplicates(void **state)
{
    struct mrs_mem *none = mrs_mem_new(UINT64_MAX - 1); /* the names are taken in portions */
    (void)state;
    for (uint32_t n = 1; n < 200000; n = n * 3 + 1) {
        struct mrs_buf buf;
        struct mrs_build b;
        struct mrs_view d;
        mrs_buf_init(&buf, mem, 1 << 24);
        for (int twice = 0; twice < 2; twice++) {
            mrs_buf_reset(&buf);
            mrs_build_init(&b, &buf);
            for (uint32_t i = 0; i < n; i++) {
                char name[16];
                snprintf(name, sizeof name, "field%u", i);
                mrs_build_bool(&b, name, true);
            }
            if (twice) {
                char name[16];
                snprintf(name, sizeof name, "field%u", nasty_below(n));
                mrs_build_bool(&b, name, false);
            }
            assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
            assert_int_equal(mrs_doc_has_duplicates(mem, d, true), twice);
            assert_int_equal(mrs_doc_has_duplicates(none, d, true), twice);
        }
        mrs_buf_clear(&buf);
    }
    assert_int_equal(mrs_mem_close(none), 0);
}

/* {l: {"5": {a: 1}, "x": {b: 1}}} with l an array: names that are not 0, 1, 2 ... */
static void
crooked_arrays(void **state)
{
    (void)state;
    bson_t *d = json_read("{'l':{'5':{'a':1},'x':{'b':1},'yy':7},'z':1}");
    uint8_t *p = (uint8_t *)(uintptr_t)bson_get_data(d);
    p[4] = MRS_ARRAY;
    struct plan plan;
    struct mrs_edit *ed;
    struct mrs_buf out;
    bool changed;
    memset(&plan, 0, sizeof plan);
    mrs_arena_init(&plan.arena, mem);
    mrs_buf_init(&out, mem, 1 << 20);
    plan.path[0] = path_of(&plan.arena, "l.a");
    plan.verdict = MRS_EDIT_KEEP;
    assert_int_equal(mrs_edit_new(mem, &ed, NULL), MRS_OK);
    assert_int_equal(mrs_edit_add(ed, &plan.path[0], NULL), MRS_OK);
    struct mrs_edit_run how = {act, &plan, false, NULL, false};
    assert_int_equal(mrs_edit_run(ed, &how, json_view(d), &out, &changed, NULL), MRS_OK);
    assert_true(!changed && out.n == d->len && memcmp(out.p, p, out.n) == 0);
    plan.verdict = MRS_EDIT_REMOVE;
    mrs_buf_reset(&out);
    assert_int_equal(mrs_edit_run(ed, &how, json_view(d), &out, &changed, NULL), MRS_OK);
    assert_true(changed);
    struct mrs_view got = {out.p, (uint32_t)out.n};
    json_check(got, "{'l':[{},{'b':1},7],'z':1}");
    mrs_edit_free(ed);
    mrs_buf_clear(&out);
    mrs_arena_clear(&plan.arena);
    bson_destroy(d);
}

static void
clashing_paths(void **state)
{
    (void)state;
    static const char *const row[][3] = {{"a", "a", "-"}, {"a", "a.b", "-"}, {"a.b", "a", "-"}, {"a.b", "a.c", "+"},
                                         {"a.b", "a.bc", "+"}, {"a.b.c", "a.b", "-"}};
    struct mrs_arena a;
    mrs_arena_init(&a, mem);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct mrs_edit *ed;
        struct mrs_err e;
        struct mrs_path p = path_of(&a, row[i][0]), q = path_of(&a, row[i][1]);
        mrs_err_clear(&e);
        assert_int_equal(mrs_edit_new(mem, &ed, NULL), MRS_OK);
        assert_int_equal(mrs_edit_add(ed, &p, &e), MRS_OK);
        assert_int_equal(mrs_edit_add(ed, &q, &e), row[i][2][0] == '+' ? MRS_OK : MRS_FAIL);
        assert_int_equal(e.code, row[i][2][0] == '+' ? MRS_E_NONE : MRS_E_PLAN);
        mrs_edit_free(ed);
    }
    mrs_arena_clear(&a);
}

static void
project(const char *in, const char *paths, bool keep, bool without_id, const char *want)
{
    struct mrs_arena a;
    struct mrs_path path[32];
    struct mrs_projection *p;
    struct mrs_buf out;
    uint32_t n = 0;
    char text[256];
    mrs_arena_init(&a, mem);
    mrs_buf_init(&out, mem, 1 << 20);
    snprintf(text, sizeof text, "%s", paths);
    for (char *t = strtok(text, " "); t; t = strtok(NULL, " ")) {
        path[n++] = path_of(&a, t);
    }
    assert_int_equal(mrs_projection_new(mem, path, n, keep, without_id, &p, NULL), MRS_OK);
    bson_t *d = json_read(in);
    enum mrs_status s = mrs_projection_run(p, json_view(d), &out, NULL);
    assert_int_equal(s, want ? MRS_OK : MRS_FAIL);
    if (want) {
        struct mrs_view got = {out.p, (uint32_t)out.n};
        json_check(got, want);
    }
    mrs_projection_free(p);
    mrs_buf_clear(&out);
    mrs_arena_clear(&a);
    bson_destroy(d);
}

static void
projections(void **state)
{
    (void)state;
    project("{'_id':1,'a':2,'b':3,'c':4}", "c a", true, false, "{'_id':1,'a':2,'c':4}");
    project("{'_id':1,'a':2,'b':3,'c':4}", "c a", true, true, "{'a':2,'c':4}");
    project("{'x':0,'_id':1,'a':2}", "x", true, false, "{'x':0,'_id':1}");
    project("{'_id':1,'a':2}", "", true, true, "{}");
    project("{'_id':1,'a':{'b':1,'c':2},'d':5}", "a.b d.e", true, false, "{'_id':1,'a':{'b':1}}");
    project("{'a':[{'b':1,'c':2},5,{'c':1},[{'b':3},6],null]}", "a.b", true, true, "{'a':[{'b':1},{},[{'b':3}]]}");
    project("{'a':[]}", "a.b", true, true, "{'a':[]}");
    project("{'a':{'c':1}}", "a.b", true, true, "{'a':{}}");
    project("{'_id':1,'a':2,'b':3}", "a", false, false, "{'_id':1,'b':3}");
    project("{'a':[{'b':1,'c':2},5,[{'b':3}]],'d':1}", "a.b d", false, false, "{'a':[{'c':2},5,[{}]]}");
    project("{'a':1,'b':2,'b':3}", "a", true, true, NULL);
    project("{'a':1,'b':2,'b':3}", "c", false, false, "{'a':1,'b':2,'b':3}");
    project("{'a':1,'b':2,'b':3}", "a", false, false, NULL);
}

/* ---- the twin: fields of a.* and a.b.* removed or doubled by rebuilding, with recursion ---- */
static void
twin_copy(struct mrs_view d, bool array, const struct mrs_path *path, uint32_t at, struct mrs_val put, bson_t *out);

static void
twin_value(bson_t *out, const char *name, struct mrs_val v, const struct mrs_path *path, uint32_t at,
           struct mrs_val put)
{
    bson_t child;
    struct mrs_build b;
    struct mrs_buf buf;
    struct mrs_view d;
    if (v.type == MRS_DOCUMENT || v.type == MRS_ARRAY) {
        bson_init(&child);
        twin_copy(mrs_val_view(v), v.type == MRS_ARRAY, path, at, put, &child);
        v.p = bson_get_data(&child);
        v.n = child.len;
    }
    mrs_buf_init(&buf, mem, 1 << 24);
    mrs_build_init(&b, &buf);
    mrs_build_val(&b, name, (uint32_t)strlen(name), v);
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    bson_t one;
    assert_true(bson_init_static(&one, d.p, d.n));
    assert_true(bson_concat(out, &one));
    mrs_buf_clear(&buf);
    if (v.type == MRS_DOCUMENT || v.type == MRS_ARRAY) {
        bson_destroy(&child);
    }
}

static void
twin_copy(struct mrs_view d, bool array, const struct mrs_path *path, uint32_t at, struct mrs_val put, bson_t *out)
{
    struct mrs_walk w;
    struct mrs_elem e;
    char name[12];
    uint32_t i = 0;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) > 0) {
        if (at == UINT32_MAX || (array && e.v.type != MRS_DOCUMENT)) {
            twin_value(out, e.name, e.v, path, UINT32_MAX, put);
        } else if (array) {
            mrs_index_name(name, i);
            twin_value(out, e.name, e.v, path, at, put);
        } else if (!mrs_name_is(&e, path->part[at].name, path->part[at].len)) {
            twin_value(out, e.name, e.v, path, UINT32_MAX, put);
        } else if (at + 1 < path->n) {
            twin_value(out, e.name, e.v, path, at + 1, put);
        } else if (put.type) {
            twin_value(out, e.name, put, path, UINT32_MAX, put);
        }
        i++;
    }
}

/* Random documents without duplicates whose arrays are straight. */
static void
fill_plain(struct mrs_build *b, int depth, bool array)
{
    static const char *const names[] = {"a", "b", "c", "_id"};
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t room[64];
        char index[12];
        mrs_index_name(index, i);
        const char *name = array ? index : names[i];
        uint32_t len = (uint32_t)strlen(name), what = nasty_below(8);
        if (what == 0) {
            if (array) {
                break;
            }
        } else if (depth > 0 && what < 5) {
            bool sub = what == 1;
            mrs_build_open(b, name, len, sub ? MRS_ARRAY : MRS_DOCUMENT);
            fill_plain(b, depth - 1, sub);
            mrs_build_close(b);
        } else {
            mrs_build_val(b, name, len, nasty_scalar(room));
        }
    }
}

static void
agrees_with_twin(void **state)
{
    (void)state;
    static const char *const paths[] = {"a", "a.b", "b.a.c", "c.c", "a.b.c._id", "_id"};
    for (int round = 0; round < 3000; round++) {
        struct mrs_buf buf, out;
        struct mrs_build b;
        struct mrs_view d;
        struct plan p;
        struct mrs_edit *ed;
        bool changed;
        uint8_t room[64];
        memset(&p, 0, sizeof p);
        mrs_arena_init(&p.arena, mem);
        mrs_buf_init(&buf, mem, 1 << 22);
        mrs_buf_init(&out, mem, 1 << 22);
        mrs_build_init(&b, &buf);
        fill_plain(&b, 4, false);
        assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
        p.path[0] = path_of(&p.arena, paths[nasty_below(6)]);
        p.verdict = nasty_below(2) ? MRS_EDIT_REMOVE : MRS_EDIT_PUT;
        p.put = nasty_scalar(room);
        assert_int_equal(mrs_edit_new(mem, &ed, NULL), MRS_OK);
        assert_int_equal(mrs_edit_add(ed, &p.path[0], NULL), MRS_OK);
        struct mrs_edit_run how = {act, &p, false, NULL, false};
        assert_int_equal(mrs_edit_run(ed, &how, d, &out, &changed, NULL), MRS_OK);
        bson_t want;
        bson_init(&want);
        twin_copy(d, false, &p.path[0], 0, p.verdict == MRS_EDIT_PUT ? p.put : mrs_missing(), &want);
        assert_int_equal(want.len, out.n);
        assert_memory_equal(bson_get_data(&want), out.p, out.n);
        bson_destroy(&want);
        mrs_edit_free(ed);
        mrs_buf_clear(&buf);
        mrs_buf_clear(&out);
        mrs_arena_clear(&p.arena);
    }
}

/* Many paths: hash tables of children, more than one word of bits. */
static void
many_paths(void **state)
{
    (void)state;
    struct plan p;
    struct mrs_edit *ed;
    struct mrs_buf out;
    bool changed;
    uint8_t room[16];
    memset(&p, 0, sizeof p);
    mrs_arena_init(&p.arena, mem);
    mrs_buf_init(&out, mem, 1 << 22);
    assert_int_equal(mrs_edit_new(mem, &ed, NULL), MRS_OK);
    for (p.n = 0; p.n < 200; p.n++) {
        char text[32];
        snprintf(text, sizeof text, "s.field%u.x", p.n);
        p.path[p.n] = path_of(&p.arena, text);
        assert_int_equal(mrs_edit_add(ed, &p.path[p.n], NULL), MRS_OK);
    }
    p.verdict = MRS_EDIT_PUT;
    p.put = mrs_make_i32(room, 5);
    struct mrs_edit_run how = {act, &p, true, NULL, false};
    assert_int_equal(mrs_edit_run(ed, &how, mrs_empty_doc(), &out, &changed, NULL), MRS_OK);
    assert_int_equal(p.calls, 200);
    struct mrs_view d = {out.p, (uint32_t)out.n};
    struct mrs_view s = mrs_val_view(mrs_doc_get(d, "s"));
    for (uint32_t i = 0; i < 200; i++) {
        char text[32];
        snprintf(text, sizeof text, "field%u", i);
        assert_int_equal(mrs_val_i32(mrs_doc_get(mrs_val_view(mrs_doc_get(s, text)), "x")), 5);
    }
    struct mrs_buf twice;
    mrs_buf_init(&twice, mem, 1 << 22);
    assert_int_equal(mrs_edit_run(ed, &how, d, &twice, &changed, NULL), MRS_OK);
    assert_false(changed);
    assert_int_equal(twice.n, out.n);
    mrs_buf_clear(&twice);
    mrs_buf_clear(&out);
    mrs_edit_free(ed);
    mrs_arena_clear(&p.arena);
}

static void
without_memory(void **state)
{
    (void)state;
    bson_t *d = json_read("{'a':[{'b':1},{'b':{'c':[1,2,3]}}],'c':'some text that is longer than the first buffer'}");
    for (uint64_t n = 1;; n++) {
        struct mrs_mem *m = mrs_mem_new(n);
        struct plan p;
        struct mrs_edit *ed = NULL;
        struct mrs_projection *pr = NULL;
        struct mrs_buf out;
        struct mrs_err e;
        bool changed;
        memset(&p, 0, sizeof p);
        mrs_err_clear(&e);
        mrs_arena_init(&p.arena, mem);
        mrs_buf_init(&out, m, 1 << 20);
        p.path[0] = path_of(&p.arena, "a.b");
        p.path[1] = path_of(&p.arena, "x.y");
        p.verdict = MRS_EDIT_PUT;
        p.put = mrs_view_val(json_view(d));
        struct mrs_edit_run how = {act, &p, true, NULL, false};
        enum mrs_status s = mrs_edit_new(m, &ed, &e);
        for (int i = 0; i < 2 && s == MRS_OK; i++) {
            s = mrs_edit_add(ed, &p.path[i], &e);
        }
        s = s == MRS_OK ? mrs_edit_run(ed, &how, json_view(d), &out, &changed, &e) : s;
        s = s == MRS_OK ? mrs_projection_new(m, p.path, 2, true, false, &pr, &e) : s;
        s = s == MRS_OK ? mrs_projection_run(pr, json_view(d), &out, &e) : s;
        mrs_edit_free(ed);
        mrs_projection_free(pr);
        mrs_buf_clear(&out);
        mrs_arena_clear(&p.arena);
        assert_int_equal(mrs_mem_close(m), 0);
        if (s == MRS_OK) {
            assert_true(n > 8);
            break;
        }
        assert_int_equal(s, MRS_DEAD);
        assert_int_equal(e.code, MRS_E_MEMORY);
    }
    bson_destroy(d);
}

/* ---- reading ---- */
static enum mrs_status
note(void *arg, struct mrs_val v)
{
    char *text = arg;
    size_t at = strlen(text);
    if (v.type == MRS_INT32) {
        snprintf(text + at, 256 - at, "%d ", mrs_val_i32(v));
    } else {
        snprintf(text + at, 256 - at, "%s ", mrs_type_name(v.type));
    }
    return MRS_OK;
}

static void
each(const char *in, const char *path, bool whole, const char *want)
{
    struct mrs_arena a;
    char got[256] = "";
    mrs_arena_init(&a, mem);
    struct mrs_path p = path_of(&a, path);
    bson_t *d = json_read(in);
    assert_int_equal(mrs_path_each(&p, json_view(d), whole, note, got), MRS_OK);
    assert_string_equal(got, want);
    bson_destroy(d);
    mrs_arena_clear(&a);
}

static void
match_paths(void **state)
{
    (void)state;
    each("{'a':{'b':1}}", "a.b", false, "1 ");
    each("{'a':{'c':1}}", "a.b", false, "missing ");
    each("{'a':5}", "a.b", false, "missing ");
    each("{}", "a.b", false, "missing ");
    each("{'a':null}", "a", false, "null ");
    each("{'a':[]}", "a", false, "");
    each("{'a':[]}", "a.b", false, "");
    each("{'a':[1,2,[3]]}", "a", false, "1 2 array ");
    each("{'a':[1,2,[3]]}", "a", true, "array ");
    each("{'a':[{'b':1},{'c':2},5,{'b':[3,4]},[{'b':6}],{'b':null}]}", "a.b", false, "1 3 4 null ");
    each("{'a':[{'b':1},{'b':[3,4]}]}", "a.b", true, "1 array ");
    each("{'a':[{'b':[{'c':1},{'c':2}]},{'b':{'c':3}},{'b':[{'c':[4]}]}]}", "a.b.c", false, "1 2 3 4 ");
    each("{'a':[5,6]}", "a.0", false, "");
    each("{'a':{'0':7}}", "a.0", false, "7 ");
    each("{'a':1,'a':2}", "a", false, "1 ");
}

static void
plain_paths(void **state)
{
    (void)state;
    struct mrs_arena a;
    mrs_arena_init(&a, mem);
    struct mrs_path p = path_of(&a, "a.b"), q = path_of(&a, "a"), r = path_of(&a, "a.bc");
    bson_t *d = json_read("{'a':{'b':1}}"), *l = json_read("{'a':[{'b':1}]}");
    assert_int_equal(mrs_val_i32(mrs_path_get(&p, json_view(d))), 1);
    assert_int_equal(mrs_path_get(&q, json_view(l)).type, MRS_ARRAY);
    assert_int_equal(mrs_path_get(&p, json_view(l)).type, MRS_MISSING);
    assert_int_equal(mrs_path_get(&r, json_view(d)).type, MRS_MISSING);
    assert_int_equal(mrs_path_relation(&p, &q), 3);
    assert_int_equal(mrs_path_relation(&q, &p), 2);
    assert_int_equal(mrs_path_relation(&p, &r), 0);
    assert_true(mrs_path_equal(&p, &p));
    bson_destroy(d);
    bson_destroy(l);
    mrs_arena_clear(&a);
}

static void
compiled_paths(void **state)
{
    (void)state;
    static const char *const bad[] = {"{'v':''}", "{'v':'a..b'}", "{'v':'.a'}", "{'v':'a.'}", "{'v':'$a'}",
                                      "{'v':'a.$b'}", "{'v':5}", "{'v':['a',5]}",
                                      "{'v':[]}", "{'v':['']}", "{'v':'a\\u0000b'}"};
    struct mrs_arena a;
    struct mrs_path p;
    struct mrs_err e;
    mrs_arena_init(&a, mem);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bson_t *d = json_read(bad[i]);
        mrs_err_clear(&e);
        assert_int_equal(mrs_path_compile(&a, mrs_doc_get(json_view(d), "v"), true, &p, &e), MRS_FAIL);
        assert_int_equal(e.code, MRS_E_PLAN);
        bson_destroy(d);
    }
    bson_t *d = json_read("{'v':['a.b','$c']}");
    assert_int_equal(mrs_path_compile(&a, mrs_doc_get(json_view(d), "v"), false, &p, NULL), MRS_FAIL);
    assert_int_equal(mrs_path_compile(&a, mrs_doc_get(json_view(d), "v"), true, &p, NULL), MRS_OK);
    assert_int_equal(p.n, 2);
    assert_string_equal(p.part[0].name, "a.b");
    assert_string_equal(p.text, "a.b.$c");
    bson_destroy(d);
    char text[2 * (MRS_PATH_PARTS_MAX + 1)];
    for (int i = 0; i <= MRS_PATH_PARTS_MAX; i++) {
        text[2 * i] = 'a';
        text[2 * i + 1] = i < MRS_PATH_PARTS_MAX ? '.' : 0;
    }
    assert_int_equal(mrs_path_compile(&a, mrs_make_text(&a, text, 2 * MRS_PATH_PARTS_MAX + 1), false, &p, NULL),
                     MRS_FAIL);
    assert_int_equal(mrs_path_compile(&a, mrs_make_text(&a, text, 2 * MRS_PATH_PARTS_MAX - 1), false, &p, NULL),
                     MRS_OK);
    assert_int_equal(p.n, MRS_PATH_PARTS_MAX);
    mrs_arena_clear(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_in_place_and_behind),
        cmocka_unit_test(fans_out),
        cmocka_unit_test(splices),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(wide_duplicates),
        cmocka_unit_test(crooked_arrays),
        cmocka_unit_test(clashing_paths),
        cmocka_unit_test(projections),
        cmocka_unit_test(agrees_with_twin),
        cmocka_unit_test(many_paths),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(match_paths),
        cmocka_unit_test(plain_paths),
        cmocka_unit_test(compiled_paths),
    };
    mem = mrs_mem_new(0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (mrs_mem_close(mem) != 0);
}
