/* SPDX-License-Identifier: Apache-2.0 */
/* set.c - the step `set`: computes fields.
 *
 * All expressions read the original document; then their values are written together. If all names are top-level, which
 * is the usual case, a single walk copies runs of bytes and inserts the new elements; dotted names use mrs_edit. A set
 * that reads what it writes gives another result when it runs again, unless its `where` no longer matches its
 * results. */
#include "steps/kit/invert.h"
#include "falsified.h"
#include "pattern.h"
#include "mongoreshape/value.h"
#include "steps/kit/shape.h"
#include "mongoreshape/context.h"
#include <stdio.h>

#define FLAT_MAX 24 /* names that are searched linearly */
/* Remarks: one for each of the first fields that is computed from itself, and these. */
enum { MADE_TRUE = MRS_REMARKS - 2, MADE_EARLY, OWN_MAX = MADE_TRUE / 2 };

struct set {
    struct mrsi_map map;
    struct mrsi_fields fields;
    struct mrsi_patterns patterns;
    int errors, conflicts;
    struct mrs_edit *edit; /* NULL: only top-level names */
    int id;                /* index of the field that writes `_id`; -1: none */
    uint64_t marks;        /* bits of the top-level names: most other names have a bit that is not set */
    uint64_t own; /* fields (of the first OWN_MAX) that are computed from themselves */
    bool reads_own; /* expressions read what is written */
    bool in_place;  /* the expressions or `where` do */
    bool again; /* it may read its own result: that is unchanged, or no longer matches `where` */
    bool compares; /* some expression compares values */
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"fields", MRS_ARG_FIELDS, true, NULL, "name: expression; a value that is missing ($$REMOVE) removes the field; "
     "`**`: any levels, `a*`: names that begin so, with $$VALUE and $$NAME"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when an expression or a dotted write fails"},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "which of several documents with one new `_id` is kept"},
    {MRSI_TYPES_KEY, "paths with a star: only values of these types, as `$type` names them"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

/* One of 64 bits for a name. */
static inline uint64_t
mark_of(const char *name, uint32_t len)
{
    return 1ull << (((uint8_t)name[0] * 5u + len * 11u) & 63);
}

/* ---- compile ---- */
/* Can a pattern change the value at a path? */
static bool
pattern_writes(const struct set *s, const char *path)
{
    bool any = false;
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        any = any || mrs_path_texts_meet(path, s->patterns.item[i].touch);
    }
    return any;
}

/* Can a pattern change what the expression writes at a path? A constant scalar at the top: only one that ends there. */
static bool
pattern_changes(const struct set *s, const struct mrs_path *path, const struct mrs_expr *x)
{
    struct mrs_val v;
    bool any = false;
    if (path->n > 1 || !mrs_expr_constant(x, &v) || v.type == MRS_DOCUMENT || v.type == MRS_ARRAY) {
        return pattern_writes(s, path->text);
    }
    for (uint32_t i = 0; i < s->patterns.n && !any; i++) {
        const struct mrsi_pattern *p = &s->patterns.item[i];
        mrsi_states at = mrsi_pattern_step(p, mrsi_pattern_begin(p), path->part[0].name, path->part[0].len);
        any = mrsi_pattern_reached(p, at);
    }
    return any;
}

struct reads { /* does the step read a path that it writes? */
    const struct set *s;
    bool hit;
};

static void
see_read(void *arg, const char *path)
{
    struct reads *r = arg;
    for (uint32_t i = 0; i < r->s->fields.n; i++) {
        r->hit = r->hit || mrs_path_texts_meet(path, r->s->fields.path[i].text);
    }
    r->hit = r->hit || pattern_writes(r->s, path);
}

/* What an expression over its own field may leave there if it fails. */
static struct mrs_expr_self
rule_of(const struct set *s)
{
    return (struct mrs_expr_self){.var = -1, .keeps = s->errors == MRSI_ERRORS_KEEP,
                                  .instead = s->errors == MRSI_ERRORS_NULL   ? mrs_type_bit(MRS_NULL)
                                             : s->errors == MRSI_ERRORS_DROP ? mrs_type_bit(MRS_MISSING)
                                                                             : 0};
}

/* The known type of field i; a failing expression may write something else. */
static struct mrsi_written
written(const struct set *s, uint32_t i)
{
    MRS_ASSERT(i < s->fields.n);
    const struct mrs_path *p = &s->fields.path[i];
    const struct mrs_expr *x = s->fields.expr[i];
    struct mrsi_written f = {.path = p->text, .v = mrs_missing()};
    if (pattern_changes(s, p, x)) {
        return f;
    }
    f.constant = mrs_expr_constant(x, &f.v);
    f.doc = mrs_expr_all_fields(x) ? x : NULL;
    f.typed = mrs_expr_types(x, &f.types) && (p->n == 1 || s->errors == MRSI_ERRORS_REFUSE);
    f.types.of |= rule_of(s).instead;
    return f;
}

/* If an expression fails, `errors: keep` leaves the old value. */
static bool
falsifies(struct mrsi_read *r, const struct set *s)
{
    struct mrsi_writes w = {.n = s->fields.n};
    w.item = s->errors == MRSI_ERRORS_KEEP ? NULL : mrsi_read_alloc(r, s->fields.n + 1, sizeof *w.item);
    for (uint32_t i = 0; w.item && i < w.n; i++) {
        w.item[i] = written(s, i);
    }
    return w.item && mrsi_falsifies(r, &w);
}

struct own {
    const char *path;
    bool hit;
};

static void
see_own(void *arg, const char *path)
{
    struct own *o = arg;
    o->hit = o->hit || mrs_path_texts_meet(path, o->path);
}

static void
see_any(void *arg, const char *path)
{
    (void)path;
    *(bool *)arg = true;
}

struct other { /* does the step read a path that another entry writes? */
    const struct set *s;
    uint32_t own;
    bool hit;
};

static void
see_other(void *arg, const char *path)
{
    struct other *o = arg;
    for (uint32_t i = 0; i < o->s->fields.n; i++) {
        o->hit = o->hit || (i != o->own && mrs_path_texts_meet(path, o->s->fields.path[i].text));
    }
}

/* Does a single pattern leave its own results, and the values around them, unchanged? */
static bool
pattern_repeats(const struct set *s)
{
    struct mrs_expr_self self = rule_of(s);
    bool reads = false;
    self.var = MRSI_VALUE;
    self.flat = true;
    mrs_expr_reads(s->patterns.item[0].expr, see_any, &reads);
    return !reads && mrs_expr_repeats(s->patterns.item[0].expr, &self);
}

/* Does a second run of the step change nothing? */
static bool
repeats(const struct set *s)
{
    bool all = !s->patterns.n;
    if (s->patterns.n == 1 && !s->fields.n) {
        return pattern_repeats(s);
    }
    for (uint32_t i = 0; i < s->fields.n && all; i++) {
        struct other o = {s, i, false};
        struct mrs_expr_self self = rule_of(s);
        self.path = &s->fields.path[i];
        mrs_expr_reads(s->fields.expr[i], see_other, &o);
        all = !o.hit && mrs_expr_repeats(s->fields.expr[i], &self);
    }
    return all;
}

static bool
removes(const struct set *s, uint32_t i)
{
    struct mrs_val v;
    return mrs_expr_constant(s->fields.expr[i], &v) && v.type == MRS_MISSING;
}

static bool
always_removes(const struct set *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->fields.n; i++) {
        any = any || removes(s, i);
    }
    return any;
}

/* The changes that indexes need: fields that are always removed, and paths with new values. */
static void
plan_indexes(struct mrsi_read *r, struct set *s)
{
    const char **write = mrsi_read_alloc(r, s->fields.n, sizeof *write);
    struct mrsi_move *mv = mrsi_read_alloc(r, s->fields.n, sizeof *mv);
    if (!write || !mv) {
        return;
    }
    for (uint32_t i = 0; i < s->fields.n; i++) {
        const struct mrs_path *p = &s->fields.path[i];
        if (!removes(s, i)) {
            write[s->map.n_write++] = p->text;
        } else if (mrsi_index_plain(p)) {
            mv[s->map.moves.n++] = (struct mrsi_move){p->text, NULL};
        }
    }
    s->map.write = write;
    s->map.moves.move = mv;
}

static void
plan_writes(struct mrsi_read *r, struct set *s)
{
    bool flat = s->fields.n <= FLAT_MAX, good = true;
    for (uint32_t i = 0; i < s->fields.n; i++) {
        const struct mrs_path *p = &s->fields.path[i];
        flat = flat && p->n == 1;
        s->id = strcmp(p->part[0].name, "_id") == 0 ? (int)i : s->id;
        s->marks |= mark_of(p->part[0].name, p->part[0].len);
    }
    s->edit = flat ? NULL : mrsi_read_new_edit(r);
    for (uint32_t i = 0; i < s->fields.n && good && s->edit; i++) {
        good = mrsi_read_edit_path(r, s->edit, "fields", NULL, &s->fields.path[i]);
    }
}

/* Does the step read what it writes? $$VALUE always does. */
static void
see_reads(struct set *s)
{
    struct reads seen = {s, false};
    for (uint32_t i = 0; i < s->fields.n; i++) {
        struct own own = {s->fields.path[i].text, false};
        mrs_expr_reads(s->fields.expr[i], see_read, &seen);
        mrs_expr_reads(s->fields.expr[i], see_own, &own);
        s->own |= own.hit && i < OWN_MAX && s->errors != MRSI_ERRORS_NULL ? 1ull << i : 0;
    }
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        const struct mrsi_pattern *p = &s->patterns.item[i];
        mrs_expr_reads(p->expr, see_read, &seen);
        seen.hit = seen.hit || !(p->of_name || mrs_expr_constant(p->expr, NULL));
    }
    s->reads_own = seen.hit;
    if (s->map.where) {
        mrs_query_reads(s->map.where, see_read, &seen);
    }
    s->in_place = seen.hit;
}

static enum mrs_status edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d,
                                     struct mrs_buf *out, bool *changed);

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_slot plain;
    struct set *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->id = -1;
    s->map.edit = edit_document;
    s->map.place = "fields";
    mrsi_map_read(&r, &s->map);
    s->compares = mrsi_compares(mrsi_slot(&r, "fields").v);
    mrsi_read_choice(&r, mrsi_slot(&r, "errors"), &s->errors);
    bool ruled = mrsi_read_choice(&r, mrsi_slot(&r, "conflicts"), &s->conflicts);
    mrsi_patterns_read(&r, mrsi_slot(&r, "fields"), &s->patterns, &plain);
    mrsi_patterns_types(&r, &s->patterns, false);
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        mrsi_pattern_expr(&r, &s->patterns.item[i]);
    }
    if (mrsi_read_exprs(&r, plain, &s->fields) && s->fields.n == 0) {
        mrsi_read_error(&r, "fields", NULL, "names no field");
    }
    if (mrsi_read_good(&r)) {
        plan_writes(&r, s);
        s->map.claims = s->id >= 0;
        plan_indexes(&r, s);
        see_reads(s);
        s->again = s->reads_own && (repeats(s) || falsifies(&r, s));
        if (ruled && s->id < 0) {
            mrsi_read_error(&r, "conflicts", NULL, "is for a `set` of `_id` only");
        }
    }
    return mrsi_read_end(&r, state);
}

/* ---- documents ---- */
struct set_place { /* position of a field that is written */
    uint32_t no;    /* index among the document's fields */
    uint32_t field; /* index among the step's fields */
};
struct sites { /* in document order */
    uint32_t n;
    struct set_place place[FLAT_MAX];
    struct mrs_elem elem[FLAT_MAX];
};
struct set_work {
    struct mrsi_work work; /* first */
    /* Positions in documents with these names (struct mrs_eval_fields), all distinct; 0: unknown. */
    uint64_t names;
    uint32_t n;
    struct set_place place[FLAT_MAX];
};
struct set_writing {
    const struct set *s;
    struct mrs_ctx *c;
    const struct mrs_eval_fields *fields; /* of the document; NULL: not needed */
    struct mrs_val *val; /* one for each field */
    bool *skip;          /* nothing is written there */
    bool again;          /* a path turned out to be blocked after a part of it was written */
};

/* Remarks on fields that are computed from themselves: a missing one became null, as most operators return for missing;
 * one with a value did, as `onError: null` says. */
static void
remark_null(const struct set_writing *x, uint32_t i, struct mrs_val old)
{
    if (x->val[i].type == MRS_NULL && i < OWN_MAX && x->s->own >> i & 1 && old.type != MRS_NULL) {
        x->c->remarks |= 1ull << (old.type == MRS_MISSING ? i : OWN_MAX + i);
    }
}

static void
remark_doubts(struct mrs_ctx *c, unsigned doubts)
{
    c->remarks |= doubts & MRS_DOUBT_TRUE ? 1ull << MADE_TRUE : 0;
    c->remarks |= doubts & MRS_DOUBT_EARLY ? 1ull << MADE_EARLY : 0;
}

static enum mrs_status
evaluate(struct set_writing *x, struct mrs_view d, struct mrs_eval_fields *room)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_eval ev = mrsi_step_eval(x->c, d);
    if (x->s->fields.n > 1 || mrsi_step_at_hand(x->c, d)) {
        mrsi_step_fields(x->c, &ev, room);
        x->fields = ev.fields;
    }
    for (uint32_t i = 0; i < x->s->fields.n; i++) {
        enum mrs_status st = mrs_expr_eval(x->s->fields.expr[i], &ev, &x->val[i]);
        x->skip[i] = false;
        if (st == MRS_OK) {
            continue;
        }
        if (st != MRS_FAIL || x->s->errors == MRSI_ERRORS_REFUSE) {
            return mrsi_step_skip_in(x->c, st, "fields", x->s->fields.path[i].text);
        }
        mrs_err_clear(x->c->err);
        mrsi_step_eased(x->c, i);
        x->skip[i] = x->s->errors == MRSI_ERRORS_KEEP;
        x->val[i] = x->s->errors == MRSI_ERRORS_NULL ? mrs_null() : mrs_missing();
    }
    remark_doubts(x->c, ev.doubts);
    return MRS_OK;
}

/* Index of the step's field with this name, or n. */
static inline uint32_t
field_of(const struct set *s, const struct mrs_elem *e)
{
    uint32_t i = s->marks & mark_of(e->name, e->name_len) ? 0 : s->fields.n;
    for (; i < s->fields.n; i++) {
        const struct mrs_part *p = &s->fields.path[i].part[0];
        if (p->len == e->name_len && p->name[0] == e->name[0] && memcmp(p->name, e->name, p->len) == 0) {
            break;
        }
    }
    return i;
}

/* Finds the written fields of d by a walk; *names: bits of all names. */
static void
find_walking(const struct set *s, struct mrs_view d, struct sites *at, struct mrsi_name_set *names)
{
    MRS_ASSERT(at->n <= FLAT_MAX);
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t present = 0; /* bits of the fields that exist */
    mrsi_name_set_begin(names);
    at->n = 0;
    mrs_walk_init(&w, d);
    for (uint32_t no = 0; mrs_walk_next(&w, &e) == 1; no++) {
        uint32_t i = field_of(s, &e);
        mrsi_name_set_add(names, &e);
        if (i < s->fields.n && !(present & 1u << i)) {
            present |= 1u << i;
            at->place[at->n] = (struct set_place){no, i};
            at->elem[at->n++] = e;
        }
    }
}

/* For top-level names only. Copies runs of unchanged fields at once. */
static void
write_runs(const struct set_writing *x, struct mrs_view d, const struct sites *at, struct mrs_buf *out, bool *changed)
{
    MRS_ASSERT(at->n <= FLAT_MAX);
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct set *s = x->s;
    const uint8_t *run = d.p + 4;
    uint32_t present = 0;
    size_t start = mrsi_put_open(out);
    for (uint32_t k = 0; k < at->n; k++) {
        uint32_t i = at->place[k].field;
        const struct mrs_elem *e = &at->elem[k];
        present |= 1u << i;
        if (x->skip[i] || mrs_identical(x->val[i], e->v)) {
            continue;
        }
        mrs_buf_put(out, run, (size_t)(e->p - run));
        run = e->v.p + e->v.n;
        *changed = true;
        if (x->val[i].type != MRS_MISSING) {
            mrsi_put_elem(out, e->name, e->name_len, x->val[i]);
            remark_null(x, i, e->v);
        }
    }
    mrs_buf_put(out, run, (size_t)(d.p + d.n - 1 - run));
    for (uint32_t i = 0; i < s->fields.n; i++) {
        if (!(present & 1u << i) && !x->skip[i] && x->val[i].type != MRS_MISSING) {
            mrsi_put_elem(out, s->fields.path[i].part[0].name, s->fields.path[i].part[0].len, x->val[i]);
            remark_null(x, i, mrs_missing());
            *changed = true;
        }
    }
    mrsi_put_close(out, start);
}

/* Uses the positions of an earlier document with the same names. */
static enum mrs_status
write_flat(struct set_writing *x, struct set_work *w, struct mrs_view d, struct mrs_buf *out, bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrs_eval_fields *f = x->fields;
    struct mrsi_name_set names;
    struct sites at;
    bool known = f && f->names && f->names == w->names;
    at.n = 0;
    for (uint32_t k = 0; known && k < w->n; k++) {
        at.place[k] = w->place[k];
        at.elem[at.n++] = f->e[w->place[k].no];
    }
    if (!known) {
        find_walking(x->s, d, &at, &names);
    }
    write_runs(x, d, &at, out, changed);
    enum mrs_status st = *changed && !known ? mrsi_name_set_check(&names, x->c, d) : MRS_OK;
    if (st == MRS_OK && *changed && !known && f && f->names) {
        w->names = f->names;
        w->n = at.n;
        memcpy(w->place, at.place, at.n * sizeof *at.place);
    }
    return st;
}

static enum mrs_status
write_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
           struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct set_writing *x = arg;
    uint32_t i = site->path_no;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (x->skip[i] || x->val[i].type == MRS_MISSING) {
        return MRS_OK;
    }
    if (!site->blocked) {
        *verdict = MRS_EDIT_PUT;
        *put = x->val[i];
        remark_null(x, i, site->old);
        return MRS_OK;
    }
    if (x->s->errors == MRSI_ERRORS_REFUSE) {
        return mrsi_step_blocked(x->c, "fields", site, x->s->fields.path[i].text);
    }
    mrsi_step_eased_blocked(x->c);
    x->skip[i] = x->again = true;
    return MRS_OK;
}

static enum mrs_status
remove_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
            struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    const struct set_writing *x = arg;
    bool removed = !x->skip[site->path_no] && x->val[site->path_no].type == MRS_MISSING;
    (void)put;
    (void)raw;
    (void)e;
    *verdict = removed ? MRS_EDIT_REMOVE : MRS_EDIT_KEEP;
    return MRS_OK;
}

/* A blocked path is written nowhere, not even at places visited before the block was found: then everything is
 * repeated. */
static enum mrs_status
write_values(struct set_writing *x, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out, bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_edit_run how = {.fn = write_site, .arg = x, .visit_missing = true, .raw = &w->raw};
    size_t start = out->n;
    enum mrs_status st;
    do {
        out->n = start;
        x->again = false;
        mrs_err_clear(x->c->err);
        st = mrs_edit_run(x->s->edit, &how, d, out, changed, x->c->err);
    } while ((st == MRS_OK || st == MRS_FAIL) && x->again);
    return st;
}

/* Removes fields in a run of its own: arrays directly inside arrays block a write, but not a removal. */
static enum mrs_status
write_nested(struct set_writing *x, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out, bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_edit_run how = {.fn = remove_site, .arg = x, .raw = &w->raw, .inner_arrays = true};
    bool writes = false, removes_any = false, removed = false;
    for (uint32_t i = 0; i < x->s->fields.n; i++) {
        writes = writes || (!x->skip[i] && x->val[i].type != MRS_MISSING);
        removes_any = removes_any || (!x->skip[i] && x->val[i].type == MRS_MISSING);
    }
    if (!removes_any) {
        return write_values(x, w, d, out, changed);
    }
    struct mrs_buf *first = writes ? &w->out[1] : out;
    if (writes) {
        mrs_buf_reset(first);
    }
    enum mrs_status st = mrs_edit_run(x->s->edit, &how, d, first, &removed, x->c->err);
    if (st == MRS_OK && writes) {
        st = write_values(x, w, removed ? mrsi_buf_view(first, 0) : d, out, changed);
    }
    *changed = *changed || removed;
    return st;
}

/* A written value must not nest deeper than a server allows, unless the document did before. Most values are shallow
 * enough at any path. */
static enum mrs_status
check_depth(const struct set_writing *x, struct mrs_view d, const struct mrs_buf *out)
{
    bool suspect = false;
    for (uint32_t i = 0; i < x->s->fields.n; i++) {
        struct mrs_val v = x->val[i];
        bool nested = !x->skip[i] && (v.type == MRS_DOCUMENT || v.type == MRS_ARRAY);
        int depth = nested ? mrs_doc_depth(mrs_val_view(v)) : 0;
        suspect = suspect || depth + 2 * (int)x->s->fields.path[i].n > MRS_DEPTH_MAX;
    }
    return suspect ? mrsi_step_depth(x->c, "fields", d, mrsi_buf_view(out, 0)) : MRS_OK;
}

/* A computed `_id` must be valid on a server, for all values of `errors`. */
static enum mrs_status
check_id(const struct set_writing *x, const struct mrs_buf *out)
{
    if (x->s->id < 0 || x->skip[x->s->id]) {
        return MRS_OK;
    }
    const char *fault = mrsi_step_id_fault(mrs_doc_get(mrsi_buf_view(out, 0), "_id"));
    return fault ? mrsi_step_refuse(x->c, "fields", "the new _id is %s, which no server takes", fault) : MRS_OK;
}

/* The paths without a star. */
static enum mrs_status
edit_plain(const struct set *s, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
           bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    uint32_t n = s->fields.n;
    struct set_writing x = {.s = s, .c = c};
    x.val = mrs_arena_alloc(c->arena, n * sizeof *x.val + n);
    MRS_TRY(mrs_allocated(x.val, n * sizeof *x.val, c->err));
    x.skip = (bool *)(x.val + n);
    struct mrs_eval_fields room;
    enum mrs_status st = evaluate(&x, d, &room);
    if (st == MRS_OK) {
        st = s->edit ? write_nested(&x, w, d, out, changed)
                     : write_flat(&x, (struct set_work *)w, d, out, changed);
    }
    MRS_THEN(st, mrs_buf_status(out, c->err));
    if (st == MRS_OK && *changed) {
        st = check_depth(&x, d, out);
    }
    bool computed = s->id >= 0 && (*changed || s->fields.path[s->id].n == 1); /* missing to missing is no change */
    return st == MRS_OK && computed ? check_id(&x, out) : st;
}

struct set_reached {
    const struct set *s;
    struct mrs_ctx *c;
    struct mrs_eval ev;
};

static enum mrs_status
set_value(void *arg, const struct mrsi_pattern_place *at, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    struct set_reached *x = arg;
    struct mrs_val var[MRSI_PATTERN_VARS] = {mrs_make_text(x->c->arena, at->name, at->len), at->v};
    struct mrs_eval ev = x->ev;
    ev.vars = var;
    if (var[MRSI_NAME].type == MRS_MISSING) {
        return mrsi_step_skip(x->c, mrs_err_memory(x->c->err, at->len), "fields");
    }
    enum mrs_status st = mrs_expr_eval(at->pattern->expr, &ev, put);
    remark_doubts(x->c, ev.doubts);
    *verdict = MRS_EDIT_PUT;
    if (st == MRS_OK) {
        return st;
    }
    if (st != MRS_FAIL || x->s->errors == MRSI_ERRORS_REFUSE) {
        return mrsi_step_skip_in(x->c, st, "fields", at->pattern->path.text);
    }
    mrs_err_clear(x->c->err);
    mrsi_step_eased(x->c, x->s->fields.n + (uint32_t)(at->pattern - x->s->patterns.item));
    *verdict = x->s->errors == MRSI_ERRORS_KEEP ? MRS_EDIT_KEEP : MRS_EDIT_PUT;
    *put = x->s->errors == MRSI_ERRORS_NULL ? mrs_null() : mrs_missing();
    return MRS_OK;
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d) && mrs_buf_is_sound(out));
    const struct set *s = state;
    enum mrs_status st = s->fields.n ? edit_plain(s, c, w, d, out, changed) : MRS_OK;
    if (st != MRS_OK || !s->patterns.n) {
        return st;
    }
    struct set_reached x = {s, c, mrsi_step_eval(c, d)};
    struct mrsi_pattern_run stars = {.patterns = &s->patterns, .fn = set_value, .arg = &x, .items = true};
    st = mrsi_patterns_run(&stars, c, w, d, changed);
    return st == MRS_OK && *changed ? mrsi_step_depth(c, "fields", d, mrsi_buf_view(out, 0)) : st;
}

/* ---- description ---- */
/* Why the step may run only once, and the remedy: a field that it removes serves as a marker. */
static const char *
only_once(const struct set *s, struct mrs_arena *arena)
{
    MRS_ASSERT(mrs_arena_is_sound(arena));
    const char *plain = "it reads what it writes, so a document may be given to it only once: "
                        MRSI_MARK("fields: { migrated: 1 }");
    char text[640];
    uint32_t i = 0;
    while (i < s->fields.n && !(removes(s, i) && s->fields.path[i].n == 1)) {
        i++;
    }
    if (i == s->fields.n || s->patterns.n || s->errors == MRSI_ERRORS_KEEP) {
        return plain;
    }
    int n = snprintf(text, sizeof text, "it reads what it writes, so a document may be given to it only once: let "
                     "`where` ask for what it takes away (`where: { %.100s: { $exists: true } }`), or "
                     MRSI_MARK("fields: { migrated: 1 }"), s->fields.path[i].text);
    const char *kept = n > 0 && (size_t)n < sizeof text ? mrs_arena_copy(arena, text, (size_t)n + 1) : NULL;
    return kept ? kept : plain;
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct set *s = state;
    struct mrsi_describe t;
    mrsi_map_describe(&t, &s->map, arena, out, e);
    mrsi_describe_errors(&t, s->errors, s->fields.path, s->fields.n);
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        mrsi_describe_errors(&t, s->errors, &s->patterns.item[i].path, 1);
    }
    out->compares_nothing = out->compares_nothing && !s->compares && s->id < 0;
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    out->new_ids = s->id >= 0;
    for (uint32_t i = 0; i < s->fields.n; i++) {
        const char *path = s->fields.path[i].text;
        mrsi_describe_expr(&t, 0, s->fields.expr[i]);
        if (!removes(s, i)) {
            mrsi_describe_touch(&t, 0, 'A', path);
        }
        if (removes(s, i) || s->reads_own || (int)i == s->id) {
            mrsi_describe_touch(&t, 0, 'D', path);
        }
    }
    mrsi_patterns_describe(&t, &s->patterns, s->reads_own ? "RD" : "D");
    out->in_place = s->in_place;
    if (s->id >= 0) {
        mrsi_describe_quiet(&t, MRSI_NEW_IDS);
    }
    if (s->reads_own && !s->again) {
        out->once_only = !out->quiet_only;
        mrsi_describe_quiet(&t, only_once(s, arena));
    }
    out->takes_away = always_removes(s);
    if (out->takes_away && !s->again) {
        mrsi_describe_not_direct(&t, "it takes fields away that are still being read" MRSI_DO_CONTRACT);
    }
    const char *names = mrsi_patterns_names(&t, s->fields.path, s->fields.n, &s->patterns);
    mrsi_describe_words(&t, "computes %s in %s%s", names, mrsi_map_those(&s->map), s->map.in.ns);
    if (s->id >= 0) {
        mrsi_describe_words(&t, "; _id changes, references to it elsewhere are not followed");
    }
    mrsi_describe_loss(&t, "old values of %s, where there were any", names);
    if (s->reads_own && !s->again) {
        mrsi_describe_once(&t, "it reads fields that it writes, and no `where` excludes documents that it has written");
    }
    return mrsi_describe_end(&t);
}

static void
describe_remark(const void *state, uint32_t i, char *text, size_t size)
{
    const struct set *s = state;
    MRS_ASSERT(size > 0);
    if (i >= MADE_TRUE) {
        snprintf(text, size, ", `fields`: %s", i == MADE_TRUE
                 ? "a text other than \"true\" is true for $toBool and $convert, as \"false\" and \"no\" are; compare "
                   "with the texts that mean true"
                 : "a number became a date before 1980: dates are made of milliseconds, multiply seconds by 1000");
        return;
    }
    const char *field = i % OWN_MAX < s->fields.n ? s->fields.path[i % OWN_MAX].text : "";
    if (i < OWN_MAX) {
        snprintf(text, size, ", `%.150s` was not there and is null now: a `where` that asks for the field leaves such "
                 "documents alone", field);
    } else {
        snprintf(text, size, ", `%.150s` had a value and is null now; what cannot be converted stays with "
                 "`onError: $%.150s`", field, field);
    }
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    return mrsi_map_catalog(describe, state, cat, e);
}

const struct mrs_step_type mrsi_step_set = {
    .name = "set",
    .summary = "computes fields of each document",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .since_2 = "types",
    .example = "in: users\nfields: { fullName: { $concat: [$first, \" \", $last] } }\n\n"
               "where: { fullName: null }\ntypes: [string]\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .remark = describe_remark,
    .describe = describe,
    .invert = mrsi_set_invert,
    .catalog = catalog,
    .work_size = sizeof(struct set_work),
    .work_clear = mrsi_work_clear,
    .fields = true,
    .spread = &mrsi_map_ops,
};
