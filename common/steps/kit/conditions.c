/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.c - conditions of a `where` on other collections: {path: {$in: {from, field, where}}}
 *
 * Each becomes an entry of the step's list of conditions and an additional side of the step, so that engines read its
 * collection without knowing the step. Nested conditions come before the condition that contains them: their lists are
 * made first. */
#include "conditions.h"
#include "steps/catalog/indexes.h"
#include "describe.h"
#include "kernel.h"

#include <stdio.h>

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the collection that has the values"},
    {"field", MRS_ARG_PATH, true, NULL, "the path of the values there; an array gives its elements"},
    {"where", MRS_ARG_QUERY, false, NULL, "only those of documents that match this query"},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

/* ---- reading ---- */
static enum mrs_status
check_keys(struct mrs_view spec, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, spec); mrs_walk_next(&w, &el) == 1;) {
        uint32_t i = 0;
        while (i < N_KEYS && strcmp(keys[i].name, el.name) != 0) {
            i++;
        }
        if (i == N_KEYS) {
            const char *near = mrsi_arg_nearest(el.name, keys, N_KEYS);
            return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "unknown key `%.60s`%s%s%s; values of another collection are "
                               "{ from, field, where }", el.name, near ? ", did you mean `" : "", near ? near : "",
                               near ? "`?" : "");
        }
    }
    for (uint32_t i = 0; i < N_KEYS; i++) {
        if (keys[i].needed && mrs_doc_get(spec, keys[i].name).type == MRS_MISSING) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "`%s` is missing: %s", keys[i].name, keys[i].help);
        }
    }
    return MRS_OK;
}

/* An error that a reader of args.h has reported stays reported; the query is not compiled. */
static enum mrs_status
reported(const struct mrsi_read *r, const char *key, struct mrs_err *e)
{
    if (r->status == MRS_DEAD) {
        return mrs_err_memory(e, 0);
    }
    mrs_err_at(e, "%s", key);
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "so the condition cannot be read");
}

static enum mrs_status
read_where(struct mrsi_far_reader *f, struct mrs_view spec, const char *of, const struct mrs_query **out,
           struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_val v = mrs_doc_get(spec, "where");
    struct mrs_query *q = NULL;
    const char *around = f->of;
    *out = NULL;
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    f->of = of;
    enum mrs_status s = v.type == MRS_DOCUMENT
                            ? mrs_query_compile(f->env, mrs_val_view(v), &q, e)
                            : mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "a query must follow, { field: value }");
    f->of = around;
    if (s != MRS_OK) {
        mrs_err_at(e, "where");
        return s;
    }
    *out = q;
    return mrsi_level_add(f->r->keep, MRSI_QUERY, q) ? MRS_OK : mrs_err_memory(e, sizeof(struct mrsi_kept_files));
}

static enum mrs_status
read_far(void *arg, struct mrs_view spec, const char *path, bool not_in, uint32_t *list, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrsi_far_reader *f = arg;
    struct mrsi_read *r = f->r;
    struct mrs_conditions *all = r->args->conditions;
    struct mrs_condition one = {.not_in = not_in, .of = f->of, .side = -1};
    char sub[160];
    MRS_TRY(check_keys(spec, e));
    snprintf(sub, sizeof sub, "%.100s.%s", path, not_in ? "$nin" : "$in");
    const char *where = mrsi_read_text_of(r, "%s", sub);
    one.path = mrs_arena_copy(r->args->arena, path, strlen(path) + 1);
    if (!where || !one.path) {
        return mrs_err_memory(e, strlen(path));
    }
    if (!mrsi_read_coll(r, (struct mrsi_slot){mrs_doc_get(spec, "from"), f->key, where, NULL}, &one.from)) {
        return reported(r, "from", e);
    }
    if (!mrsi_read_path(r, (struct mrsi_slot){mrs_doc_get(spec, "field"), f->key, where, NULL}, &one.field)) {
        return reported(r, "field", e);
    }
    enum mrs_status s = read_where(f, spec, one.from.ns, &one.where, e);
    if (s == MRS_OK && all->n == MRS_CONDITIONS_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "the step has more than %d conditions on other collections",
                           MRS_CONDITIONS_MAX);
    }
    struct mrs_condition *more =
        s == MRS_OK ? mrs_arena_more(r->args->arena, all->item, all->n, &all->cap, sizeof *more) : NULL;
    if (!more) {
        return s == MRS_OK ? mrs_err_memory(e, sizeof *more) : s;
    }
    *list = all->first + all->n;
    all->item = more;
    all->item[all->n++] = one;
    return MRS_OK;
}

const struct mrs_far *
mrsi_far_begin(struct mrsi_far_reader *f, struct mrsi_read *r, const char *key, const struct mrs_expr_env *env)
{
    *f = (struct mrsi_far_reader){{read_far, f}, r, key, env, NULL};
    return r->args->conditions && r->args->version >= 2 ? &f->far : NULL;
}

/* ---- description ---- */
struct far_touches {
    struct mrs_touch *list;
    uint32_t n, cap;
    struct mrs_arena *arena;
    int side;
    bool bad;
};

static void
add_touch(void *arg, const char *path)
{
    struct far_touches *t = arg;
    struct mrs_touch *more = mrs_arena_more(t->arena, t->list, t->n, &t->cap, sizeof *more);
    const char *copy = mrs_arena_copy(t->arena, path, strlen(path) + 1);
    t->bad = t->bad || !more || !copy;
    if (more && copy) {
        t->list = more;
        more[t->n++] = (struct mrs_touch){t->side, 'R', copy};
    }
}

/* "; `where` holds a of its documents against x of shop.items, b of shop.items against y of shop.stores" */
static const char *
words_of(const struct mrs_conditions *c, struct mrs_arena *arena, const char *before)
{
    size_t size = strlen(before) + 1;
    for (uint32_t i = 0; i < c->n; i++) {
        size += strlen(c->item[i].path) + strlen(c->item[i].from.ns) + strlen(c->item[i].field.text) + 100;
        size += c->item[i].of ? strlen(c->item[i].of) : 0;
    }
    char *text = mrs_arena_alloc(arena, size);
    size_t at = text ? (size_t)snprintf(text, size, "%s", before) : 0;
    for (uint32_t i = 0; text && i < c->n; i++) {
        const struct mrs_condition *x = &c->item[i];
        at += (size_t)snprintf(text + at, size - at, "%s%s of %s against %s of %s%s", i ? ", " : "; `where` holds ",
                               x->path, x->of ? x->of : "its documents", x->field.text, x->from.ns,
                               x->not_in ? " ($nin: what lacks it fits as well)" : "");
    }
    return text;
}

static bool
changes(const struct mrs_desc *d, const struct mrs_coll *coll)
{
    bool any = false;
    for (uint32_t i = 0; i < d->n_sides; i++) {
        any = any || ((d->sides[i].role & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD)) &&
                      mrsi_coll_same(&d->sides[i].coll, coll));
    }
    return any;
}

enum mrs_status
mrs_conditions_describe(const struct mrs_conditions *c, struct mrs_arena *arena, struct mrs_desc *out,
                        struct mrs_err *e)
{
    MRS_ASSERT(c->item || c->n == 0);
    MRS_ASSERT(mrs_arena_is_sound(arena));
    struct far_touches t = {.arena = arena};
    if (!c->n) {
        return MRS_OK;
    }
    if (out->n_sides + c->n > MRS_SIDES_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "the step names more than %d collections", MRS_SIDES_MAX);
    }
    struct mrs_side *side = mrs_arena_alloc(arena, (out->n_sides + c->n) * sizeof *side);
    t.list = mrs_arena_alloc(arena, (out->n_touches + 1) * sizeof *t.list);
    if (!side || !t.list) {
        return mrs_err_memory(e, (out->n_sides + c->n) * sizeof *side);
    }
    t.n = out->n_touches;
    t.cap = t.n + 1;
    if (t.n) {
        memcpy(t.list, out->touches, t.n * sizeof *t.list);
    }
    if (out->n_sides) {
        memcpy(side, out->sides, out->n_sides * sizeof *side);
    }
    bool own = false;
    for (uint32_t i = 0; i < c->n; i++) {
        own = own || changes(out, &c->item[i].from);
        t.side = c->item[i].side = (int)(out->n_sides + i);
        side[t.side] = (struct mrs_side){c->item[i].from, MRS_ROLE_READ, "where"};
        add_touch(&t, c->item[i].field.text);
        if (c->item[i].where) {
            mrs_query_reads(c->item[i].where, add_touch, &t);
        }
    }
    out->words = words_of(c, arena, out->words);
    out->sides = side;
    out->n_sides += c->n;
    out->touches = t.list;
    out->n_touches = t.n;
    out->conditions = c->item;
    out->n_conditions = c->n;
    out->first_list = c->first;
    if (!out->quiet_only) {
        out->quiet_only = "its `where` uses values of another collection, which writers could change meanwhile"
            MRSI_DO_QUIET;
    }
    if (own && out->repeatable) {
        out->repeatable = false;
        out->not_repeatable = "its `where` uses values of a collection that it changes";
    }
    return t.bad || !out->words ? mrs_err_memory(e, 0) : MRS_OK;
}

enum mrs_status
mrs_condition_takes(const struct mrs_condition *c, struct mrs_ctx *ctx, struct mrs_view doc, bool *yes)
{
    return mrsi_step_where(c->where, ctx, doc, yes);
}
