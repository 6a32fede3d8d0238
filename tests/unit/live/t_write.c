/* SPDX-License-Identifier: Apache-2.0 */
/* t_write.c - changes as pipelines, their guards, bursts with checkpoints: in memory and against a real server.
 *
 * Pipelines are applied by a few lines here and by the server; both must give `after` to the byte. Each guard is tried
 * on the document that it was made of and on others that differ in what is easily taken as equal. */
#include "pass_test.h"

#define PLAN "plan: w\nsteps:\n- set: { in: posts, fields: { seen: true } }\n"

static bool no_dotted; /* this server does not store names with dots or dollars */
static bool no_nan;    /* NaN inside a document does not equal itself there */
static bool no_order;  /* documents with their fields in another order are equal there */
static bool no_zero;   /* this server puts its own time where an insert says Timestamp(0, 0), as MongoDB does */
static bool no_min;    /* MinKey does not equal itself in an expression there */
static bool no_old;    /* this server changes symbols or undefined where a pipeline writes them */

/* ---- a pipeline applied in memory ---- */

static void
take(struct mrs_buf *doc, struct mrs_buf *next)
{
    mrs_buf_reset(doc);
    mrs_buf_put(doc, next->p, next->n);
    mrs_buf_reset(next);
}

static bool
in_list(struct mrs_view list, const struct mrs_elem *f)
{
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n;
    mrs_walk_init(&w, list);
    while (mrs_walk_next(&w, &e) == 1) {
        const char *text = mrs_val_text(e.v, &n);
        if (n == f->name_len && memcmp(text, f->name, n) == 0) {
            return true;
        }
    }
    return false;
}

static void
apply_stage(const char *op, struct mrs_val arg, struct mrs_buf *doc, struct mrs_buf *next)
{
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem e, f;
    struct mrs_view now = {doc->p, (uint32_t)doc->n}, made;
    if (strcmp(op, "$replaceWith") == 0) {
        struct mrs_val v = mrs_doc_get(mrs_val_view(arg), "$literal");
        mrs_buf_put(next, v.p, v.n);
        return;
    }
    bool unset = strcmp(op, "$unset") == 0;
    assert_true(unset || strcmp(op, "$set") == 0);
    mrs_build_init(&b, next);
    mrs_walk_init(&w, now);
    while (mrs_walk_next(&w, &e) == 1) {
        if (unset ? !in_list(mrs_val_view(arg), &e) : !mrs_doc_find(mrs_val_view(arg), e.name, e.name_len, &f)) {
            mrs_build_elem(&b, &e);
        } else if (!unset) {
            mrs_build_val(&b, e.name, e.name_len, mrs_doc_get(mrs_val_view(f.v), "$literal"));
        }
    }
    if (!unset) {
        mrs_walk_init(&w, mrs_val_view(arg));
        while (mrs_walk_next(&w, &f) == 1) {
            if (!mrs_doc_find(now, f.name, f.name_len, &e)) {
                mrs_build_val(&b, f.name, f.name_len, mrs_doc_get(mrs_val_view(f.v), "$literal"));
            }
        }
    }
    assert_int_equal(mrs_build_finish(&b, &made, NULL), MRS_OK);
}

static void
apply_pipeline(struct mrs_view pipeline, struct mrs_view before, struct mrs_buf *doc)
{
    struct mrs_buf next;
    struct mrs_walk w, s;
    struct mrs_elem stage, op;
    mrs_buf_init(&next, doc->mem, SIZE_MAX);
    mrs_buf_put(doc, before.p, before.n);
    mrs_walk_init(&w, pipeline);
    while (mrs_walk_next(&w, &stage) == 1) {
        mrs_walk_init(&s, mrs_val_view(stage.v));
        assert_int_equal(mrs_walk_next(&s, &op), 1);
        apply_stage(op.name, op.v, doc, &next);
        take(doc, &next);
    }
    mrs_buf_clear(&next);
}

/* ---- random documents ---- */
static uint64_t seed = 7;

static uint32_t
rnd(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static const char *const values[] = {
    "1", "2", "1.5", "{'$numberLong': '1'}", "{'$numberDouble': 'NaN'}", "{'$numberDouble': '-0.0'}", "null", "''",
    "'$a'", "'$$ROOT'", "[]", "{}", "[1, {'b': null}]", "{'a': 1, 'b': [2]}", "{'$literal': 1}", "{'$undefined': true}",
    "{'$oid': '0123456789abcdef01234567'}", "{'$date': '2020-01-01T00:00:00Z'}", "true", "{'$numberDecimal': '1.00'}",
    "{'$minKey': 1}", "{'$timestamp': {'t': 0, 'i': 0}}", "{'x.y': 1, '$z': 2}", "{'$symbol': 's'}"};

static const char *
value(bool odd)
{
    uint32_t v = rnd(24);
    bool old = v == 15 || v == 23;
    bool left_out = (no_old && old) || (no_nan && v == 4) || (no_zero && v == 21) || (no_min && v == 20);
    return values[(!odd && v == 22) || left_out ? 0 : v];
}

static const char *const ids[] = {"1", "'a'", "{'a': 1}", "{'$numberLong': '5'}",
                                  "{'$oid': '0123456789abcdef01234567'}",
                                  "1.5", "true", "{'b': [1]}"};
static const char *const names[] = {"a", "b", "c", "d", "e", "zz", "a b", "x.y", "$d", "f.", "q", "", "_a"};

static void
random_doc(char *out, size_t room, const char *id, bool odd)
{
    bool used[13] = {false};
    size_t n = (size_t)snprintf(out, room, "{'_id': %s", id);
    for (uint32_t k = rnd(7); k > 0; k--) {
        uint32_t f = rnd(13);
        bool is_odd = names[f][0] == '$' || strchr(names[f], '.') || !names[f][0];
        if (!used[f] && (odd || !is_odd)) {
            used[f] = true;
            n += (size_t)snprintf(out + n, room - n, ", '%s': %s", names[f], value(odd));
        }
    }
    snprintf(out + n, room - n, "}");
}

/* Some fields of the first kept, changed, moved: so that all kinds of difference are met. */
static void
one_pair(char *before, char *after, size_t room, bool odd)
{
    const char *id = ids[rnd(8)];
    random_doc(before, room, id, odd);
    if (rnd(3)) {
        snprintf(after, room, "%s", before);
        size_t n = strlen(after);
        snprintf(after + n - 1, room - n, ", 'new': %s, 'A': %s}", value(false), value(false));
    } else {
        random_doc(after, room, id, odd);
    }
}

static enum mrs_status
delta(struct mrs_view before, struct mrs_view after, struct mrs_buf *pipeline, struct mrs_buf *touched,
      struct mrs_err *e)
{
    struct live_delta d;
    enum mrs_status s = live_delta_find(before, after, &d, touched, e);
    return s ? s : live_delta_put(&d, (struct mrs_view){NULL, 0}, pipeline, e);
}

static bool
replaces(struct mrs_view pipeline)
{
    struct mrs_elem found;
    return mrs_doc_find(mrs_val_view(mrs_doc_get(pipeline, "0")), "$replaceWith", 12, &found);
}

static void
deltas_in_memory(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf pipe, touched, got;
    struct mrs_err e;
    uint32_t whole = 0, steps = 0;
    mrs_buf_init(&pipe, mem, SIZE_MAX);
    mrs_buf_init(&touched, mem, SIZE_MAX);
    mrs_buf_init(&got, mem, SIZE_MAX);
    for (int i = 0; i < 3000; i++) {
        char x[2000], y[2000];
        size_t n, m;
        one_pair(x, y, sizeof x, true);
        uint8_t *a = to_bson(x, &n), *b = to_bson(y, &m);
        struct mrs_view before = {a, (uint32_t)n}, after = {b, (uint32_t)m};
        mrs_buf_reset(&pipe);
        mrs_buf_reset(&touched);
        mrs_buf_reset(&got);
        mrs_err_clear(&e);
        enum mrs_status s = delta(before, after, &pipe, &touched, &e);
        if (s == MRS_END) {
            same_bytes(a, n, b, m, "nothing to do");
        } else {
            assert_int_equal(s, MRS_OK);
            struct mrs_view p = {pipe.p, (uint32_t)pipe.n};
            apply_pipeline(p, before, &got);
            same_bytes(got.p, got.n, b, m, x);
            *(replaces(p) ? &whole : &steps) += 1;
            assert_true(replaces(p) || touched.n > 0);
        }
        free(a);
        free(b);
    }
    assert_true(whole > 300 && steps > 300);
    mrs_buf_clear(&pipe);
    mrs_buf_clear(&touched);
    mrs_buf_clear(&got);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
delta_spelt_field_by_field(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf pipe, touched;
    size_t n, m, k;
    uint8_t *a = to_bson("{'_id': 1, 'x': 1, 'y': 2, 'z': 3}", &n);
    uint8_t *b = to_bson("{'_id': 1, 'x': 5, 'z': 3, 'n': 1, 'm': 2}", &m);
    struct mrs_view before = {a, (uint32_t)n}, after = {b, (uint32_t)m};
    uint8_t *want = to_bson("{'0': {'$unset': ['y']}, '1': {'$set': {'x': {'$literal': 5}}}, '2': {'$set': {'n': "
                            "{'$literal': 1}}}, '3': {'$set': {'m': {'$literal': 2}}}}", &k);
    mrs_buf_init(&pipe, mem, SIZE_MAX);
    mrs_buf_init(&touched, mem, SIZE_MAX);
    assert_int_equal(delta(before, after, &pipe, &touched, NULL), MRS_OK);
    same_bytes(pipe.p, pipe.n, want, k, "pipeline");
    assert_int_equal(touched.n, 8);
    assert_memory_equal(touched.p, "x\0y\0n\0m\0", 8);
    mutant("set-all-at-once");
    mrs_buf_reset(&pipe);
    assert_int_equal(delta(before, after, &pipe, &touched, NULL), MRS_OK);
    mutant(NULL);
    struct mrs_buf got;
    mrs_buf_init(&got, mem, SIZE_MAX);
    apply_pipeline((struct mrs_view){pipe.p, (uint32_t)pipe.n}, (struct mrs_view){a, (uint32_t)n}, &got);
    assert_true(got.n == m && memcmp(got.p, b, m) != 0); /* the new fields in the order of their names */
    free(want);
    want = to_bson("{'_id': 2}", &k);
    after = (struct mrs_view){want, (uint32_t)k};
    assert_int_equal(delta(before, after, &pipe, &touched, NULL), MRS_DEAD);
    mrs_buf_clear(&got);
    mrs_buf_clear(&pipe);
    mrs_buf_clear(&touched);
    free(a);
    free(b);
    free(want);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* ---- bursts ---- */

struct bits { /* texts and their bytes, freed together */
    uint8_t *p[64];
    uint32_t n;
};

static struct mrs_view
doc_of(struct bits *b, const char *text)
{
    size_t n;
    assert_true(b->n < 64);
    b->p[b->n] = to_bson(text, &n);
    return (struct mrs_view){b->p[b->n++], (uint32_t)n};
}

static void
drop_bits(struct bits *b)
{
    while (b->n) {
        free(b->p[--b->n]);
    }
}

static void
change(struct desk *d, struct live_burst *b, enum live_op_kind kind, const char *coll, struct mrs_view before,
       struct mrs_view after, uint32_t unit)
{
    struct live_change c = {.kind = kind, .coll = desk_coll(d, coll), .before = before, .after = after, .unit = unit};
    must(d, live_burst_add(b, &c, &d->e));
}

static const struct mrs_view none;

static bool
writes(struct desk *d, struct live_burst *b, struct live_checkpoint *c)
{
    bool short_;
    must(d, live_burst_write(b, c, &short_, &d->e));
    return !short_;
}

static void
deltas_on_the_server(void **state)
{
    (void)state;
    struct desk d;
    struct live_burst b;
    desk_sit(&d, "delta", PLAN);
    live_burst_init(&b, &d.job);
    for (int i = 0; i < 150; i++) {
        char x[2000], y[2000];
        size_t n, m, k;
        one_pair(x, y, sizeof x, i % 5 == 0 && !no_dotted);
        uint8_t *p = to_bson(x, &n), *q = to_bson(y, &m);
        struct mrs_view before = {p, (uint32_t)n}, after = {q, (uint32_t)m};
        desk_command(&d, d.db, "{'delete': 'posts', 'deletes': [{'q': {}, 'limit': 0}]}");
        put_views(&d, "posts", &before, 1);
        live_burst_reset(&b);
        change(&d, &b, LIVE_UPDATE, "posts", before, after, 0);
        if (!writes(&d, &b, NULL)) {
            fail_msg("missed: %s to %s: %s", x, y, b.change[0].why ? b.change[0].why : "");
        }
        uint8_t *got = all_bytes(&d, "posts", &k);
        same_bytes(got, k, q, m, x);
        /* again: the guard misses, what is there is what was meant */
        live_burst_reset(&b);
        change(&d, &b, LIVE_UPDATE, "posts", before, after, 0);
        assert_true(writes(&d, &b, NULL));
        free(got);
        free(p);
        free(q);
    }
    live_burst_clear(&b);
    desk_leave(&d);
}

/* ---- guards ---- */

struct guard_case {
    const char *there, *read, *names; /* names: of fields, by blanks; NULL: whole */
    bool matches;
};

/* The same guard inside an update by `_id`: it changes the document if it holds, and nothing else. */
static bool
condition_holds(struct desk *d, struct mrs_view read, const char *fields, size_t n)
{
    struct mrs_buf condition, pipe, filter;
    struct live_bulk_result r;
    struct live_fault f;
    struct mrs_arena arena;
    struct mrs_coll coll = desk_coll(d, "g");
    struct live_delta add = {.n = 1, .op = {{.kind = LIVE_ADDED}}};
    mrs_buf_init(&condition, d->mem, SIZE_MAX);
    mrs_buf_init(&pipe, d->mem, SIZE_MAX);
    mrs_buf_init(&filter, d->mem, SIZE_MAX);
    mrs_arena_init(&arena, d->mem);
    must(d, live_guard_condition(read, fields, n, &condition, &d->e));
    size_t m;
    uint8_t *mark = to_bson("{'changed': true}", &m);
    assert_true(mrs_doc_find((struct mrs_view){mark, (uint32_t)m}, "changed", 7, &add.op[0].e));
    must(d, live_delta_put(&add, (struct mrs_view){condition.p, (uint32_t)condition.n}, &pipe, &d->e));
    must(d, live_guard_id(read, false, &filter, &d->e));
    struct live_op op = {LIVE_UPDATE, {filter.p, (uint32_t)filter.n}, {pipe.p, (uint32_t)pipe.n}};
    must(d, live_bulk(d->job.link, &coll, &op, 1, LIVE_WRITE, false, &arena, &r, &f, &d->e));
    assert_int_equal(r.n_errors, 0);
    mrs_arena_clear(&arena);
    mrs_buf_clear(&condition);
    mrs_buf_clear(&pipe);
    mrs_buf_clear(&filter);
    free(mark);
    return r.modified == 1;
}

static bool
guard_matches(struct desk *d, const struct guard_case *g)
{
    struct bits k = {.n = 0};
    struct mrs_buf filter, out;
    struct live_fault f;
    struct mrs_coll coll = desk_coll(d, "g");
    char names_buf[256];
    size_t n = 0;
    if (g->names) {
        n = strlen(g->names) + 1;
        memcpy(names_buf, g->names, n);
        for (size_t i = 0; i < n; i++) {
            names_buf[i] = names_buf[i] == ' ' ? 0 : names_buf[i];
        }
    }
    desk_command(d, d->db, "{'delete': 'g', 'deletes': [{'q': {}, 'limit': 0}]}");
    put_texts(d, "g", g->there);
    mrs_buf_init(&filter, d->mem, SIZE_MAX);
    mrs_buf_init(&out, d->mem, SIZE_MAX);
    must(d, live_guard(doc_of(&k, g->read), g->names ? names_buf : NULL, n, &filter, &d->e));
    enum mrs_status s = live_find_one(d->job.link, &coll, (struct mrs_view){filter.p, (uint32_t)filter.n},
                                      mrs_empty_doc(), &out, &f, &d->e);
    if (s != MRS_END) {
        must(d, s);
    }
    bool inside = condition_holds(d, doc_of(&k, g->read), g->names ? names_buf : NULL, n);
    if (inside != (s == MRS_OK)) {
        fail_msg("%s read as %s: as a condition the guard %s", g->there, g->read, inside ? "holds" : "does not hold");
    }
    mrs_buf_clear(&filter);
    mrs_buf_clear(&out);
    drop_bits(&k);
    return s == MRS_OK;
}

static void
try_guards(struct desk *d, const struct guard_case *g, size_t n)
{
    for (; n > 0; n--, g++) {
        if (guard_matches(d, g) != g->matches) {
            fail_msg("%s read as %s by %s: the guard %s", g->there, g->read, g->names ? g->names : "all",
                     g->matches ? "misses" : "matches");
        }
    }
}

static void
guards(void **state)
{
    (void)state;
    static const struct guard_case cases[] = {
        {"{'_id': 1, 'a': 1}", "{'_id': 1, 'a': 1}", "a", true},
        {"{'_id': 1, 'a': 1, 'n': 9}", "{'_id': 1, 'a': 1, 'n': 8}", "a", true},
        {"{'_id': 1, 'a': 2}", "{'_id': 1, 'a': 1}", "a", false},
        {"{'_id': 1, 'a': 1.0}", "{'_id': 1, 'a': 1}", "a", false},
        {"{'_id': 1, 'a': {'$numberLong': '1'}}", "{'_id': 1, 'a': 1}", "a", false},
        {"{'_id': 1, 'a': {'$numberDouble': 'NaN'}}", "{'_id': 1, 'a': {'$numberDouble': 'NaN'}}", "a", true},
        {"{'_id': 1, 'a': {'$numberDecimal': 'NaN'}}", "{'_id': 1, 'a': {'$numberDouble': 'NaN'}}", "a", false},
        {"{'_id': 1}", "{'_id': 1}", "a", true},
        {"{'_id': 1, 'a': null}", "{'_id': 1}", "a", false},
        {"{'_id': 1}", "{'_id': 1, 'a': null}", "a", false},
        {"{'_id': 1, 'a': null}", "{'_id': 1, 'a': {'$undefined': true}}", "a", false},
        {"{'_id': 1, 'a': []}", "{'_id': 1, 'a': []}", "a", true},
        {"{'_id': 1, 'a': []}", "{'_id': 1}", "a", false},
        {"{'_id': 1}", "{'_id': 1, 'a': []}", "a", false},
        {"{'_id': 1, 'a': [5]}", "{'_id': 1, 'a': 5}", "a", false},
        {"{'_id': 1, 'a': [1, 2]}", "{'_id': 1, 'a': [1, 2]}", "a", true},
        {"{'_id': 1, 'a': [1, 2.0]}", "{'_id': 1, 'a': [1, 2]}", "a", false},
        {"{'_id': 1, 'a': {'x': 1, 'y': 2}}", "{'_id': 1, 'a': {'x': 1, 'y': 2}}", "a", true},
        {"{'_id': 1, 'a': '$b', 'b': 7}", "{'_id': 1, 'a': '$b', 'b': 7}", "a b", true},
        {"{'_id': 1, 'a': '$$ROOT'}", "{'_id': 1, 'a': '$$ROOT'}", "a", true},
        {"{'_id': 1, 'a': {'$literal': 3}}", "{'_id': 1, 'a': {'$literal': 3}}", NULL, true},
        {"{'_id': {'a': 1, 'b': 2}, 'x': 1}", "{'_id': {'a': 1, 'b': 2}, 'x': 1}", "x", true},
        {"{'_id': {'b': 2, 'a': 1}, 'x': 1}", "{'_id': {'a': 1, 'b': 2}, 'x': 1}", "x", false},
        {"{'_id': 1.0, 'x': 1}", "{'_id': 1, 'x': 1}", "x", false},
        {"{'_id': 1, 'a': 1, 'b': [1, {'c': null}]}", "{'_id': 1, 'a': 1, 'b': [1, {'c': null}]}", NULL, true},
        {"{'_id': 1, 'a': 1, 'n': 9}", "{'_id': 1, 'a': 1}", NULL, false},
        {"{'_id': 1, 'a': 1.0}", "{'_id': 1, 'a': {'$numberLong': '1'}}", NULL, false},
        {"{'_id': 1, 'p': 1}", "{'_id': 1, 'p': 1}", "a b c d e f g h i j k l m n o p q r s t", true},
        {"{'_id': 1, 'p': 1, 'zz': 2}", "{'_id': 1, 'p': 1}", "a b c d e f g h i j k l m n o p q r s t", false}};
    static const struct guard_case order[] = {
        {"{'_id': 1, 'a': {'y': 2, 'x': 1}}", "{'_id': 1, 'a': {'x': 1, 'y': 2}}", "a", false},
        {"{'_id': 1, 'b': 1, 'a': 1}", "{'_id': 1, 'a': 1, 'b': 1}", NULL, false}};
    static const struct guard_case nan[] = {
        {"{'_id': 1, 'a': [{'$numberDouble': 'NaN'}]}", "{'_id': 1, 'a': [{'$numberDouble': 'NaN'}]}", "a", true},
        {"{'_id': 1, 'a': {'$numberDouble': 'NaN'}}", "{'_id': 1, 'a': {'$numberDouble': 'NaN'}}", NULL, true}};
    static const struct guard_case old[] = {
        {"{'_id': 1, 'a': {'$undefined': true}}", "{'_id': 1, 'a': {'$undefined': true}}", "a", true},
        {"{'_id': 1, 'a': {'$undefined': true}}", "{'_id': 1}", "a", false},
        {"{'_id': 1, 'a': {'$symbol': 's'}}", "{'_id': 1, 'a': 's'}", "a", false}};
    static const struct guard_case odd[] = {
        {"{'_id': 1, 'x.y': 1}", "{'_id': 1, 'x.y': 1}", "x.y", true},
        {"{'_id': 1, 'x.y': 2}", "{'_id': 1, 'x.y': 1}", "x.y", false},
        {"{'_id': 1, 'x': {'y': 1}}", "{'_id': 1, 'x.y': 1}", "x.y", false},
        {"{'_id': 1, '$d': 1}", "{'_id': 1, '$d': 1}", "$d", true},
        {"{'_id': 1}", "{'_id': 1, '$d': 1}", "$d", false}};
    struct desk d;
    desk_sit(&d, "guard", PLAN);
    try_guards(&d, cases, sizeof cases / sizeof *cases);
    try_guards(&d, odd, no_dotted ? 0 : sizeof odd / sizeof *odd);
    try_guards(&d, order, no_order ? 0 : sizeof order / sizeof *order);
    try_guards(&d, nan, no_nan ? 0 : sizeof nan / sizeof *nan);
    try_guards(&d, old, no_old ? 0 : sizeof old / sizeof *old);
    mutant("guard-off");
    assert_true(guard_matches(&d, &cases[2]));
    mutant(NULL);
    desk_leave(&d);
}

static void
guard_too_large(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf buf, out;
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_err e;
    mrs_buf_init(&buf, mem, SIZE_MAX);
    mrs_buf_init(&out, mem, SIZE_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_i32(&b, "_id", 1);
    char *text = calloc(1, 15u << 20);
    memset(text, 'x', 15u << 20);
    mrs_build_text(&b, "t", text, 15u << 20);
    assert_int_equal(mrs_build_finish(&b, &doc, NULL), MRS_OK);
    mrs_err_clear(&e);
    assert_int_equal(live_guard(doc, NULL, 0, &out, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_LIMIT);
    assert_int_equal(out.n, 0);
    assert_int_equal(live_guard(doc, "a", 2, &out, &e), MRS_OK);
    free(text);
    mrs_buf_clear(&buf);
    mrs_buf_clear(&out);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* ---- order, outcomes, checkpoint ---- */

static struct live_checkpoint
checkpoint(struct desk *d)
{
    struct live_checkpoint c;
    memset(&c, 0, sizeof c);
    must(d, live_checkpoint_open(&d->job, "test", &c, &d->e));
    return c;
}

/* A burst of everything, with transactions or without. */
static void
all_kinds(bool no_transactions)
{
    struct desk d;
    struct live_burst b;
    struct bits k = {.n = 0};
    desk_sit(&d, "kinds", PLAN);
    d.job.opts.no_transactions = no_transactions;
    put_texts(&d, "posts", "{'_id': 1, 'a': 1}{'_id': 2, 'a': 1}{'_id': 3, 'a': 1}");
    put_texts(&d, "other", "{'_id': 7}");
    desk_open(&d);
    live_burst_init(&b, &d.job);
    struct live_checkpoint c = checkpoint(&d);
    c.docs = 3;
    change(&d, &b, LIVE_DELETE, "posts", doc_of(&k, "{'_id': 3, 'a': 1}"), none, 0);
    change(&d, &b, LIVE_UPDATE, "posts", doc_of(&k, "{'_id': 1, 'a': 1}"), doc_of(&k, "{'_id': 1, 'a': 2, 'b': 1}"), 0);
    change(&d, &b, LIVE_INSERT, "other", none, doc_of(&k, "{'_id': 8, 'x': 1}"), 0);
    change(&d, &b, LIVE_UPDATE, "other", doc_of(&k, "{'_id': 7}"), doc_of(&k, "{'_id': 7, 'y': 0}"), 0);
    change(&d, &b, LIVE_INSERT, "posts", none, doc_of(&k, "{'_id': 4}"), 0);
    assert_true(writes(&d, &b, &c));
    holds(&d, "posts", "{'_id': 1, 'a': 2, 'b': 1}{'_id': 2, 'a': 1}{'_id': 4}");
    holds(&d, "other", "{'_id': 7, 'y': 0}{'_id': 8, 'x': 1}");
    struct live_checkpoint now = checkpoint(&d);
    assert_int_equal(now.seq, 1);
    assert_int_equal(now.docs, 3);
    assert_int_equal(c.seq, 1);
    live_checkpoint_clear(&now);
    /* the same again: all of it is there already */
    assert_true(writes(&d, &b, &c));
    holds(&d, "posts", "{'_id': 1, 'a': 2, 'b': 1}{'_id': 2, 'a': 1}{'_id': 4}");
    assert_int_equal(c.seq, 2);
    live_checkpoint_clear(&c);
    live_burst_clear(&b);
    drop_bits(&k);
    desk_leave(&d);
}

static void
in_one_transaction(void **state)
{
    (void)state;
    all_kinds(false);
}

static void
without_transactions(void **state)
{
    (void)state;
    all_kinds(true);
}

static void
outcomes_by(bool no_transactions)
{
    struct desk d;
    struct live_burst b;
    struct bits k = {.n = 0};
    desk_sit(&d, "outcomes", PLAN);
    d.job.opts.no_transactions = no_transactions;
    desk_command(&d, d.db, "{'createIndexes': 'made', 'indexes': [{'key': {'u': 1}, 'name': 'u_1', 'unique': true}]}");
    put_texts(&d, "posts", "{'_id': 1, 'a': 5}{'_id': 2, 'a': 1}{'_id': 3, 'a': 9}{'_id': 5, 'a': 1, 'b': 2}");
    put_texts(&d, "made", "{'_id': 1, 'x': 'theirs', 'u': 1}{'_id': 2, 'x': 'ours', 'u': 2}");
    desk_open(&d);
    live_burst_init(&b, &d.job);
    struct live_checkpoint c = checkpoint(&d);
    struct { enum live_op_kind kind; const char *coll, *before, *after; uint32_t unit; enum live_outcome want; } t[] = {
        {LIVE_INSERT, "made", NULL, "{'_id': 1, 'x': 'ours', 'u': 10}", 0, LIVE_FOREIGN},
        {LIVE_INSERT, "made", NULL, "{'_id': 2, 'x': 'ours', 'u': 2}", 1, LIVE_WRITTEN},
        {LIVE_INSERT, "made", NULL, "{'_id': 3, 'u': 1}", 2, LIVE_CLASH},
        {LIVE_INSERT, "made", NULL, "{'_id': 4, 'u': 4}", 3, LIVE_WRITTEN},
        {LIVE_UPDATE, "posts", "{'_id': 1, 'a': 1}", "{'_id': 1, 'a': 2}", 4, LIVE_MISSED},
        {LIVE_UPDATE, "posts", "{'_id': 2, 'a': 1}", "{'_id': 2, 'a': 1, 'n': 1}", 3, LIVE_WRITTEN},
        {LIVE_UPDATE, "posts", "{'_id': 4, 'a': 1}", "{'_id': 4, 'a': 2}", 5, LIVE_MISSED},
        {LIVE_UPDATE, "posts", "{'_id': 5, 'a': 1}", "{'_id': 5, 'a': 1, 'b': 2}", 6, LIVE_WRITTEN},
        {LIVE_DELETE, "posts", "{'_id': 3, 'a': 1}", NULL, 7, LIVE_MISSED},
        {LIVE_DELETE, "posts", "{'_id': 77, 'a': 1}", NULL, 8, LIVE_WRITTEN},
        {LIVE_DELETE, "posts", "{'_id': 2, 'a': 1}", NULL, 0, LIVE_MISSED}}; /* its insert was refused */
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        change(&d, &b, t[i].kind, t[i].coll, t[i].before ? doc_of(&k, t[i].before) : none,
               t[i].after ? doc_of(&k, t[i].after) : none, t[i].unit);
    }
    assert_false(writes(&d, &b, &c));
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        if (b.change[i].outcome != t[i].want) {
            fail_msg("change %zu: %d, not %d", i, b.change[i].outcome, t[i].want);
        }
    }
    holds(&d, "posts", "{'_id': 1, 'a': 5}{'_id': 2, 'a': 1, 'n': 1}{'_id': 3, 'a': 9}{'_id': 5, 'a': 1, 'b': 2}");
    holds(&d, "made", "{'_id': 1, 'x': 'theirs', 'u': 1}{'_id': 2, 'x': 'ours', 'u': 2}{'_id': 4, 'u': 4}");
    struct live_checkpoint now = checkpoint(&d);
    assert_int_equal(now.seq, 0); /* a short burst has not moved it */
    live_checkpoint_clear(&now);
    live_checkpoint_clear(&c);
    live_burst_clear(&b);
    drop_bits(&k);
    desk_leave(&d);
}

static void
outcomes(void **state)
{
    (void)state;
    outcomes_by(true);
    outcomes_by(false);
}

static void
lost_owner_cannot_commit(void **state)
{
    (void)state;
    struct desk d;
    struct live_burst b;
    struct bits k = {.n = 0};
    bool short_;
    desk_sit(&d, "owner", PLAN);
    put_texts(&d, "posts", "{'_id': 1}");
    desk_open(&d);
    live_burst_init(&b, &d.job);
    struct live_checkpoint c = checkpoint(&d);
    struct live_checkpoint other = checkpoint(&d);
    must(&d, live_checkpoint_save(&d.job, &other, &d.e)); /* moved by whoever goes on with the run */
    change(&d, &b, LIVE_UPDATE, "posts", doc_of(&k, "{'_id': 1}"), doc_of(&k, "{'_id': 1, 'n': 1}"), 0);
    enum mrs_status s = live_burst_write(&b, &c, &short_, &d.e);
    if (live_test_replicated()) {
        assert_true(s < 0);
        holds(&d, "posts", "{'_id': 1}");
    }
    mrs_err_clear(&d.e);
    live_checkpoint_clear(&other);
    live_checkpoint_clear(&c);
    live_burst_clear(&b);
    drop_bits(&k);
    desk_leave(&d);
}

/* ---- large documents ---- */

static struct mrs_view
large(struct mrs_buf *buf, uint32_t bytes, char fill, bool more)
{
    struct mrs_build b;
    struct mrs_view doc;
    char *text = malloc(bytes);
    memset(text, fill, bytes);
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    mrs_build_i32(&b, "_id", 1);
    mrs_build_text(&b, "t", text, bytes);
    if (more) {
        mrs_build_i32(&b, "more", 1);
    }
    assert_int_equal(mrs_build_finish(&b, &doc, NULL), MRS_OK);
    free(text);
    return doc;
}

static void
sixteen_mebibytes(void **state)
{
    (void)state;
    struct desk d;
    struct live_burst b;
    struct mrs_buf x, y;
    size_t n;
    desk_sit(&d, "large", PLAN);
    mrs_buf_init(&x, d.mem, SIZE_MAX);
    mrs_buf_init(&y, d.mem, SIZE_MAX);
    live_burst_init(&b, &d.job);
    struct mrs_view before = large(&x, MRS_DOC_MAX - 64, 'x', false), after = large(&y, MRS_DOC_MAX - 64, 'y', false);
    put_views(&d, "posts", &before, 1);
    d.job.opts.quiet = LIVE_BY_WORD;
    change(&d, &b, LIVE_UPDATE, "posts", before, after, 0);
    if (!writes(&d, &b, NULL)) {
        fail_msg("not written: %d %s", b.change[0].outcome, b.change[0].why ? b.change[0].why : "");
    }
    uint8_t *got = all_bytes(&d, "posts", &n);
    assert_true(n == after.n && memcmp(got, after.p, n) == 0);
    free(got);
    live_burst_reset(&b);
    change(&d, &b, LIVE_DELETE, "posts", before, none, 0); /* not what is there */
    assert_false(writes(&d, &b, NULL));
    assert_int_equal(b.change[0].outcome, LIVE_MISSED);
    live_burst_reset(&b);
    change(&d, &b, LIVE_DELETE, "posts", after, none, 0);
    assert_true(writes(&d, &b, NULL));
    holds(&d, "posts", "");
    /* alongside writers: only where a transaction can hold it */
    d.job.opts.quiet = LIVE_NOT_QUIET;
    put_views(&d, "posts", &before, 1);
    live_burst_reset(&b);
    change(&d, &b, LIVE_UPDATE, "posts", before, after, 0);
    assert_int_equal(writes(&d, &b, NULL), live_test_replicated());
    assert_int_equal(b.change[0].outcome, live_test_replicated() ? LIVE_WRITTEN : LIVE_CLASH);
    live_burst_clear(&b);
    mrs_buf_clear(&x);
    mrs_buf_clear(&y);
    desk_leave(&d);
}

/* ---- mutants ---- */

static void
mutants(void **state)
{
    (void)state;
    struct desk d;
    struct live_burst b;
    struct bits k = {.n = 0};
    desk_sit(&d, "mutants", PLAN);
    d.job.opts.no_transactions = true;
    put_texts(&d, "posts", "{'_id': 1, 'a': 2}");
    desk_open(&d);
    live_burst_init(&b, &d.job);
    change(&d, &b, LIVE_UPDATE, "posts", doc_of(&k, "{'_id': 9, 'a': 1}"), doc_of(&k, "{'_id': 9, 'a': 2}"), 0);
    mutant("upsert");
    (void)writes(&d, &b, NULL);
    holds(&d, "posts", "{'_id': 1, 'a': 2}{'_id': 9, 'a': 2}"); /* a document that was gone is back */
    live_burst_reset(&b);
    mutant("guard-off");
    change(&d, &b, LIVE_UPDATE, "posts", doc_of(&k, "{'_id': 1, 'a': 1}"), doc_of(&k, "{'_id': 1, 'a': 7}"), 0);
    (void)writes(&d, &b, NULL);
    holds(&d, "posts", "{'_id': 1, 'a': 7}{'_id': 9, 'a': 2}"); /* a writer's value is lost */
    live_burst_reset(&b);
    mutant("no-readback");
    change(&d, &b, LIVE_UPDATE, "posts", doc_of(&k, "{'_id': 1, 'a': 1}"), doc_of(&k, "{'_id': 1, 'a': 8}"), 0);
    assert_true(writes(&d, &b, NULL)); /* said to be done, and is not */
    holds(&d, "posts", "{'_id': 1, 'a': 7}{'_id': 9, 'a': 2}");
    live_burst_reset(&b);
    mutant("checkpoint-before-write");
    struct live_checkpoint c = checkpoint(&d);
    change(&d, &b, LIVE_UPDATE, "posts", doc_of(&k, "{'_id': 1, 'a': 1}"), doc_of(&k, "{'_id': 1, 'a': 8}"), 0);
    assert_false(writes(&d, &b, &c));
    assert_int_equal(c.seq, 1); /* moved although the burst fell short */
    live_checkpoint_clear(&c);
    live_burst_reset(&b);
    mutant("delete-before-insert");
    change(&d, &b, LIVE_INSERT, "posts", none, doc_of(&k, "{'_id': 9, 'a': 3}"), 0);
    change(&d, &b, LIVE_DELETE, "posts", doc_of(&k, "{'_id': 1, 'a': 7}"), none, 0);
    assert_false(writes(&d, &b, NULL));
    holds(&d, "posts", "{'_id': 9, 'a': 2}"); /* the source is gone though its copy was refused */
    mutant(NULL);
    live_burst_clear(&b);
    drop_bits(&k);
    desk_leave(&d);
}

/* ---- memory ---- */

static void
every_allocation_may_fail(void **state)
{
    (void)state;
    size_t n, m;
    uint8_t *p = to_bson("{'_id': 1, 'a': 1, 'b': [1, 2], 'x.y': 2}", &n);
    uint8_t *q = to_bson("{'_id': 1, 'a': 2, 'b': [1], 'c': 3}", &m);
    struct mrs_view before = {p, (uint32_t)n}, after = {q, (uint32_t)m};
    for (uint64_t at = 1;; at++) {
        struct mrs_mem *mem = mrs_mem_new(at);
        struct live_job job = {.mem = mem};
        struct mrs_buf pipe, touched, guard;
        struct live_burst b;
        struct mrs_err e;
        mrs_err_clear(&e);
        mrs_buf_init(&pipe, mem, SIZE_MAX);
        mrs_buf_init(&touched, mem, SIZE_MAX);
        mrs_buf_init(&guard, mem, SIZE_MAX);
        live_burst_init(&b, &job);
        struct live_change c = {.kind = LIVE_UPDATE, .before = before, .after = after};
        enum mrs_status s = delta(before, after, &pipe, &touched, &e);
        s = s ? s : live_guard(before, "a\0b\0c", 6, &guard, &e);
        s = s ? s : live_burst_add(&b, &c, &e);
        assert_true(s == MRS_OK || e.code == MRS_E_MEMORY);
        bool all = mrs_mem_count(mem) < at;
        live_burst_clear(&b);
        mrs_buf_clear(&pipe);
        mrs_buf_clear(&touched);
        mrs_buf_clear(&guard);
        assert_int_equal(mrs_mem_close(mem), 0);
        if (all) {
            assert_int_equal(s, MRS_OK);
            break;
        }
        assert_true(s < 0);
    }
    free(p);
    free(q);
}

/* Whether the server stores odd names at all (5.0 and later do), and old types as they are. */
static void
probe(void)
{
    struct desk d;
    struct bits k = {.n = 0};
    struct live_burst b;
    size_t n;
    desk_sit(&d, "probe", PLAN);
    live_burst_init(&b, &d.job);
    change(&d, &b, LIVE_INSERT, "p", none, doc_of(&k, "{'_id': 1, 'x.y': 1, '$d': 2}"), 0);
    no_dotted = !writes(&d, &b, NULL);
    live_burst_reset(&b);
    put_texts(&d, "q", "{'_id': 1}");
    struct mrs_view old = doc_of(&k, "{'_id': 1, 'a': {'$undefined': true}, 'b': {'$symbol': 's'}}");
    change(&d, &b, LIVE_UPDATE, "q", doc_of(&k, "{'_id': 1}"), old, 0);
    (void)writes(&d, &b, NULL);
    uint8_t *got = all_bytes(&d, "q", &n);
    no_old = n != old.n || memcmp(got, old.p, n) != 0;
    free(got);
    no_nan = !guard_matches(&d, &(struct guard_case){"{'_id': 1, 'a': [{'$numberDouble': 'NaN'}]}",
                                                     "{'_id': 1, 'a': [{'$numberDouble': 'NaN'}]}", "a", true});
    no_order = guard_matches(&d, &(struct guard_case){"{'_id': 1, 'a': {'y': 2, 'x': 1}}",
                                                      "{'_id': 1, 'a': {'x': 1, 'y': 2}}", "a", false});
    desk_command(&d, d.db, "{'insert': 'z', 'documents': [{'_id': 1, 'a': {'$timestamp': {'t': 0, 'i': 0}}}]}");
    got = all_bytes(&d, "z", &n);
    no_zero = live_zero_time((struct mrs_view){got, (uint32_t)n}) == NULL;
    free(got);
    no_min = !guard_matches(&d, &(struct guard_case){"{'_id': 1, 'a': {'$minKey': 1}}",
                                                     "{'_id': 1, 'a': {'$minKey': 1}}", "a", true});
    fprintf(stderr, "t_write: not run on this server:%s%s%s%s%s%s%s\n",
            no_dotted ? " names with dots and dollars;" : "", no_old ? " symbols and undefined;" : "",
            no_nan ? " NaN inside documents;" : "", no_order ? " order of fields in guards;" : "",
            no_zero ? " Timestamp(0, 0);" : "", no_min ? " MinKey in guards;" : "",
            no_zero || no_min || no_dotted || no_old || no_nan || no_order ? "" : " nothing, all was");
    live_burst_clear(&b);
    drop_bits(&k);
    desk_leave(&d);
}

int
main(void)
{
    desk_uri = live_test_need_server("t_write");
    live_link_setup();
    probe();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deltas_in_memory),
        cmocka_unit_test(delta_spelt_field_by_field),
        cmocka_unit_test(deltas_on_the_server),
        cmocka_unit_test(guards),
        cmocka_unit_test(guard_too_large),
        cmocka_unit_test(in_one_transaction),
        cmocka_unit_test(without_transactions),
        cmocka_unit_test(outcomes),
        cmocka_unit_test(lost_owner_cannot_commit),
        cmocka_unit_test(sixteen_mebibytes),
        cmocka_unit_test(mutants),
        cmocka_unit_test(every_allocation_may_fail),
    };
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    live_link_teardown();
    return r;
}
