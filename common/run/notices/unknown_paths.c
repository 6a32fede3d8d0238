/* SPDX-License-Identifier: Apache-2.0 */
/* unknown_paths.c - finds paths of the plan that no document has: most often they are misspelled, and the step does
 * nothing.
 *
 * A bit of a row represents a path that the step reads or removes. The first document that has the path sets it; then
 * the path costs nothing. A path that no document has is reported with the nearest name among the first documents. The
 * bits are in the account's rows, so they are saved and discarded with these. More slips are found at the same time: a
 * text of the plan that is the name of a field (in the first documents: the text may be intended), a path that never
 * has a value of the types it is compared with, and one that has values of several types (in the first
 * documents, and in a part of the others).
 *
 * The step `index` reads no documents: its paths are searched in those that are written, as long as an index of the
 * result has them. */
#include "near_texts.h"
#include "notices.h"
#include "plan_words.h"
#include "text_order.h"
#include "unknown_paths.h"
#include "run/store/value_kind.h"

#include "mongoreshape/catalogue.h"
#include "mongoreshape/path.h"
#include <stdio.h>

enum { PATHS = 64, NAMED = 100, NAMES = 256, LEVELS = 8, NAME_MAX_BYTES = 120, TYPED = 4096, TYPED_ONE_IN = 64 };
#define ALL_TYPES (1u << 31) /* instead of types: all at the path are recorded */

struct searched_paths { /* for a row */
    uint64_t all;
    struct mrs_path path[PATHS];
    uint32_t types[PATHS];         /* that a value at the path should have; 0: any */
    uint64_t after[PATHS];         /* bit of the same path without types, which is searched first; 0: none */
    _Atomic uint32_t found[PATHS]; /* the types of its values */
    _Atomic uint32_t forms[PATHS]; /* ALL_TYPES: the forms of its texts */
    const char *word[PATHS];       /* text in the plan that may mean the field at the path; NULL: the path is read */
    uint64_t texts;                /* bits of these */
    uint64_t wheres;               /* bits of paths that `where` compares */
    uint64_t typed;                /* bits of ALL_TYPES */
    struct mrsi_near_texts near;   /* of `wheres` */
    _Atomic uint64_t names;        /* of `texts`: it is the name of a field */
    uint32_t n;
    _Atomic uint32_t named; /* number of documents whose names were recorded */
    const char *name[NAMES];
    uint32_t n_names;
};
struct mrsi_unknown_paths {
    struct mrs_arena arena;
    pthread_mutex_t lock;       /* of names */
    struct searched_paths **of; /* by row; NULL: none */
};

/* ---- before the run ---- */
/* Names of digits may be positions; the document itself, and names that depend on documents, are not paths. */
static bool
is_path(const char *text)
{
    if (!*text || strcmp(text, "_id") == 0 || strpbrk(text, "*$")) {
        return false;
    }
    size_t n;
    for (const char *at = text; *at; at += n + (at[n] == '.')) {
        n = strcspn(at, ".");
        if (strspn(at, "0123456789") == n) {
            return false;
        }
    }
    return true;
}

/* A step may create what it writes. */
static bool
is_read(const struct mrs_desc *d, const struct mrs_touch *t)
{
    bool both = d->family == MRS_FAMILY_LINK || d->family == MRS_FAMILY_TREE; /* either form may be derived from the
                                                                               * other */
    for (uint32_t i = 0; (t->kind == 'D' || both) && i < d->n_touches; i++) {
        const struct mrs_touch *o = &d->touches[i];
        if (o->side == t->side && o->kind == 'A' && strcmp(o->path, t->path) == 0) {
            return false;
        }
    }
    return t->kind != 'A' && is_path(t->path);
}

struct wanting {
    struct mrsi_engine *en;
    const struct mrs_step *step;
    uint32_t row;
    enum mrs_status s;
    struct mrs_err *e;
};

/* Are these the names of the path, one after the other? */
static bool
is_list_of(struct mrs_val list, const char *text)
{
    MRS_ASSERT(list.type == MRS_ARRAY && text);
    struct mrs_walk w;
    struct mrs_elem e;
    const char *at = text;
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &e) == 1;) {
        uint32_t n;
        const char *name = e.v.type == MRS_STRING ? mrs_val_text(e.v, &n) : NULL;
        at += at > text && *at == '.';
        if (!name || strncmp(at, name, n) != 0 || (at[n] && at[n] != '.')) {
            return false;
        }
        at += n;
    }
    return at > text && !*at;
}

/* { $getField: "a.b" }, { $getField: { field: "a.b", ... } }: the name of one field, at the end of the path. */
static bool
is_got(const struct mrs_elem *e, const char *text)
{
    uint32_t n;
    bool named = strcmp(e->name, "$getField") == 0 || strcmp(e->name, "field") == 0;
    const char *name = named && e->v.type == MRS_STRING ? mrs_val_text(e->v, &n) : "";
    size_t len = strlen(name), all = strlen(text);
    return strchr(name, '.') && len <= all && strcmp(text + all - len, name) == 0;
}

/* The path as a step has it where that is a list, whose names may have dots; missing: it is a text; null: an operator
 * makes it of names. */
static struct mrs_val
list_path(const struct mrs_step *st, const char *text)
{
    struct mrs_walk level[LEVELS];
    struct mrs_elem e;
    uint32_t depth = st->body.p ? 1 : 0;
    mrs_walk_init(&level[0], st->body.p ? st->body : mrs_empty_doc());
    while (depth) {
        if (mrs_walk_next(&level[depth - 1], &e) != 1) {
            depth--;
            continue;
        }
        const struct mrs_key *key = depth == 1 ? mrs_key_find(st->type->keys, st->type->n_keys, e.name) : NULL;
        bool paths = key && (key->type == MRS_ARG_PATHS || key->type == MRS_ARG_FIELDS);
        if (e.v.type == MRS_ARRAY && !paths && is_list_of(e.v, text)) {
            return e.v;
        }
        if (is_got(&e, text)) {
            return mrs_null();
        }
        if (depth < LEVELS && (e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY)) {
            mrs_walk_init(&level[depth++], mrs_val_view(e.v));
        }
    }
    return mrs_missing();
}

static enum mrs_status
add_path(const struct wanting *x, uint32_t row, const char *text, const char *word, uint32_t types)
{
    MRS_ASSERT(row < x->en->n_rows && text);
    struct searched_paths **at = &x->en->paths->of[row], *w = *at;
    struct mrs_arena *a = &x->en->paths->arena;
    struct mrs_err *e = x->e;
    struct mrs_err why;
    if (!w) {
        w = *at = mrs_arena_alloc(a, sizeof *w);
        MRS_TRY(mrs_allocated(w, sizeof *w, e));
        memset(w, 0, sizeof *w);
    }
    uint64_t alone = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        bool same = strcmp(w->path[i].text, text) == 0 && (w->texts >> i & 1) == (word != NULL);
        if (same && w->types[i] == types) {
            return MRS_OK;
        }
        alone |= same && !w->types[i] ? 1ull << i : 0;
    }
    struct mrs_val v = list_path(x->step, text);
    v = v.type == MRS_MISSING ? mrs_make_text(a, text, (uint32_t)strlen(text)) : v;
    mrs_err_clear(&why);
    if (w->n == PATHS || v.type == MRS_MISSING || v.type == MRS_NULL) {
        return v.type == MRS_MISSING ? mrs_err_memory(e, strlen(text)) : MRS_OK;
    }
    enum mrs_status s = mrs_path_compile(a, v, true, &w->path[w->n], &why);
    if (s == MRS_OK) {
        w->types[w->n] = types;
        w->after[w->n] = types ? alone : 0;
        w->word[w->n] = word;
        w->texts |= (uint64_t)(word != NULL) << w->n;
        w->typed |= (uint64_t)(types == ALL_TYPES) << w->n;
        w->all |= 1ull << w->n++;
    }
    return s == MRS_DEAD ? mrs_err_memory(e, sizeof *w) : MRS_OK;
}

static void
add_text_path(void *arg, const char *text, const char *path)
{
    struct wanting *x = arg;
    MRS_THEN(x->s, add_path(x, x->row, path, text, 0));
}

static void
add_bare_path(void *arg, const char *path)
{
    struct wanting *x = arg;
    if (is_path(path)) {
        MRS_THEN(x->s, add_path(x, x->row, path, NULL, 0));
    }
}

static void
add_typed_path(void *arg, const char *path, uint32_t types, bool where)
{
    struct wanting *x = arg;
    if (is_path(path) || strcmp(path, "_id") == 0) {
        struct searched_paths **w = &x->en->paths->of[x->row];
        uint32_t n = *w ? (*w)->n : 0;
        MRS_THEN(x->s, add_path(x, x->row, path, NULL, types));
        if (x->s == MRS_OK && *w && (*w)->n > n) {
            (*w)->wheres |= (uint64_t)where << n;
        }
    }
}

static void
add_all_types(void *arg, const char *path, bool where)
{
    add_typed_path(arg, path, ALL_TYPES, where);
}

static void
add_selected_text(void *arg, const char *path, struct mrs_val text)
{
    struct wanting *x = arg;
    struct searched_paths *w = x->en->paths->of[x->row];
    for (uint32_t i = 0; w && i < w->n; i++) {
        if ((w->typed & w->wheres) >> i & 1 && strcmp(w->path[i].text, path) == 0) {
            mrsi_near_texts_add(&w->near, i, text);
        }
    }
}

/* Does a name in the key or filter of an index equal the path, or contain it? */
static bool
has_path(struct mrs_view index, const char *path)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_walk level[LEVELS];
    struct mrs_elem e;
    size_t n = strlen(path);
    uint32_t depth = 1;
    mrs_walk_init(&level[0], index);
    while (depth) {
        if (mrs_walk_next(&level[depth - 1], &e) != 1) {
            depth--;
        } else if (depth > 1 && strncmp(e.name, path, n) == 0 && (!e.name[n] || strcmp(e.name + n, ".$**") == 0)) {
            return true;
        } else if (depth < LEVELS && (e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY)) {
            mrs_walk_init(&level[depth++], mrs_val_view(e.v));
        }
    }
    return false;
}

/* For the step `index`: later steps may have removed the path and the index. */
static bool
is_indexed(const struct mrsi_coll *c, const char *path)
{
    bool yes = false;
    for (uint32_t i = 0; c->cat && !yes && i < c->cat->n_index; i++) {
        yes = has_path(c->cat->index[i], path);
    }
    return yes;
}

static enum mrs_status
add_step_paths(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    struct wanting x = {en, &en->plan->steps[step], en->row_of[step][0], MRS_OK, e};
    const struct mrsi_plan_words words = {add_text_path, add_bare_path, add_typed_path, add_all_types,
                                          add_selected_text, &x};
    for (uint32_t i = 0; x.s == MRS_OK && i < d->n_touches + d->n_names; i++) {
        const struct mrs_touch *t = i < d->n_touches ? &d->touches[i] : &d->names[i - d->n_touches];
        bool searched = is_read(d, t);
        if (d->family == MRS_FAMILY_CATALOG) {
            searched = searched && is_indexed(&en->coll[en->side[step][0]], t->path);
        }
        x.s = searched ? add_path(&x, en->row_of[step][t->side], t->path, NULL, 0) : MRS_OK;
    }
    if (x.s == MRS_OK && d->n_sides) {
        mrsi_plan_words(&en->plan->steps[step], &words);
    }
    return x.s;
}

enum mrs_status
mrsi_paths_new(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_unknown_paths *p = en->paths = mrs_zalloc(en->mem, sizeof *p);
    MRS_TRY(mrs_allocated(p, sizeof *p, e));
    mrs_arena_init(&p->arena, en->mem);
    pthread_mutex_init(&p->lock, NULL);
    p->of = mrs_arena_alloc(&p->arena, (en->n_rows + 1) * sizeof(struct searched_paths *));
    en->searched = mrs_arena_alloc(&p->arena, (en->n_rows + 1) * sizeof *en->searched);
    if (!p->of || !en->searched) {
        return mrs_err_memory(e, en->n_rows * sizeof(struct searched_paths *));
    }
    memset(p->of, 0, (en->n_rows + 1) * sizeof(struct searched_paths *));
    enum mrs_status s = MRS_OK;
    for (uint32_t step = 0; s == MRS_OK && step < en->plan->n_steps; step++) {
        s = add_step_paths(en, step, e);
    }
    for (uint32_t row = 0; s == MRS_OK && row < en->n_rows; row++) {
        en->searched[row] = p->of[row] ? p->of[row]->all : 0;
    }
    return s;
}

void
mrsi_paths_free(struct mrsi_engine *en)
{
    if (en->paths) {
        pthread_mutex_destroy(&en->paths->lock);
        mrs_arena_clear(&en->paths->arena);
        mrs_free(en->mem, en->paths);
    }
    en->paths = NULL;
}

/* ---- documents ---- */
/* Records the first names of all levels, as candidates for the nearest name. If memory is out, a name is skipped. */
static void
take_name(struct mrsi_unknown_paths *p, struct searched_paths *w, const char *name, size_t n)
{
    MRS_ASSERT(w->n <= PATHS && w->n_names < NAMES);
    for (uint32_t i = 0; i < w->n_names; i++) {
        if (strlen(w->name[i]) == n && memcmp(w->name[i], name, n) == 0) {
            return;
        }
    }
    bool id = n == 3 && memcmp(name, "_id", 3) == 0; /* rarely misspelled, and similar to many names */
    char *copy = id ? NULL : mrs_arena_alloc(&p->arena, n + 1);
    if (copy) {
        memcpy(copy, name, n);
        copy[n] = '\0';
        w->name[w->n_names++] = copy;
    }
}

static void
take_names(struct mrsi_unknown_paths *p, struct searched_paths *w, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && w->n <= PATHS);
    struct {
        struct mrs_walk walk;
        size_t above; /* length of the parent names, with their dots */
        bool array;
    } level[LEVELS];
    char name[NAME_MAX_BYTES];
    uint32_t depth = 1;
    mrs_walk_init(&level[0].walk, doc);
    level[0].above = 0;
    level[0].array = false;
    while (depth && w->n_names < NAMES) {
        struct mrs_elem e;
        size_t n = level[depth - 1].above;
        if (mrs_walk_next(&level[depth - 1].walk, &e) != 1) {
            depth--;
            continue;
        }
        if (!level[depth - 1].array) {
            if (n + e.name_len + 1 >= sizeof name) {
                continue;
            }
            memcpy(name + n, e.name, e.name_len);
            n += e.name_len;
            take_name(p, w, name, n);
            name[n++] = '.';
        }
        if (depth < LEVELS && (e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY)) {
            mrs_walk_init(&level[depth].walk, mrs_val_view(e.v));
            level[depth].above = n;
            level[depth++].array = e.v.type == MRS_ARRAY;
        }
    }
}

static enum mrs_status
is_there(void *arg, struct mrs_val v)
{
    *(bool *)arg = v.type != MRS_MISSING;
    return v.type == MRS_MISSING ? MRS_OK : MRS_END;
}

static bool
has(struct mrs_view doc, const struct mrs_path *path)
{
    MRS_ASSERT(path->n > 0);
    struct mrs_elem e;
    bool there = mrs_doc_find(doc, path->part[0].name, path->part[0].len, &e);
    if (there && path->n > 1) {
        there = false;
        mrs_path_each(path, doc, true, is_there, &there);
    }
    return there;
}

struct value_kinds {
    uint32_t types, forms, path;
    struct searched_paths *x; /* forms and texts are collected; NULL: they are not */
    struct mrsi_unknown_paths *p;
};

static enum mrs_status
take_type(void *arg, struct mrs_val v)
{
    struct value_kinds *x = arg;
    x->types |= v.type == MRS_MISSING ? 0 : mrsi_type_bit(mrsi_value_kind(v));
    if (x->x) {
        x->forms |= mrsi_text_forms(v);
        mrsi_near_texts_check(&x->x->near, x->path, v, &x->p->arena, &x->p->lock);
    }
    return MRS_OK;
}

static void
collect(_Atomic uint32_t *all, uint32_t bits)
{
    if (bits & ~atomic_load(all)) {
        atomic_fetch_or(all, bits);
    }
}

/* Are all searched paths found? */
static bool
meets(struct mrsi_unknown_paths *p, struct searched_paths *x, uint32_t i, struct mrs_view doc)
{
    if (!x->types[i]) {
        return has(doc, &x->path[i]);
    }
    struct value_kinds k = {.path = i, .x = x->typed >> i & 1 ? x : NULL, .p = p};
    mrs_path_each(&x->path[i], doc, true, take_type, &k);
    mrs_path_each(&x->path[i], doc, false, take_type, &k);
    collect(&x->found[i], k.types);
    collect(&x->forms[i], k.forms);
    return k.types & x->types[i];
}

/* Where only types are left to be collected, the first documents show most of them, and one in some of the others. */
static bool
passes_over(struct mrsi_row *row, const struct searched_paths *x)
{
    uint64_t left = x->all & ~row->seen;
    row->checked++;
    return left == (left & x->typed) && row->checked > TYPED && row->checked % TYPED_ONE_IN;
}

void
mrsi_paths_check(struct mrsi_worker *w, uint32_t row, struct mrs_view doc)
{
    MRS_ASSERT(row < w->en->n_rows && mrs_view_is_framed(doc));
    struct mrsi_unknown_paths *p = w->en->paths;
    struct searched_paths *x = p->of[row];
    if (passes_over(&w->rows[row], x)) {
        return;
    }
    uint64_t left = x->all & ~w->rows[row].seen;
    while (left) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        uint64_t bit = 1ull << i;
        left &= left - 1;
        if (!(x->after[i] & ~w->rows[row].seen) && meets(p, x, i, doc)) {
            w->rows[row].seen |= bit;
            atomic_fetch_or(&x->names, x->texts & bit);
        }
    }
    w->rows[row].seen |= atomic_load(&x->named) < NAMED ? 0 : x->texts; /* no longer searched */
    left = x->all & ~x->typed & ~w->rows[row].seen;
    if (left && atomic_fetch_add(&x->named, atomic_load(&x->named) < NAMED) < NAMED) {
        pthread_mutex_lock(&p->lock);
        take_names(p, x, doc);
        pthread_mutex_unlock(&p->lock);
    }
}

void
mrsi_paths_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n)
{
    MRS_ASSERT(coll < en->n_coll && (p || !n));
    for (uint32_t step = 0; en->searched && step < en->plan->n_steps; step++) {
        const struct mrs_desc *d = &en->plan->steps[step].desc;
        bool queries = d->family == MRS_FAMILY_CATALOG && en->side[step][0] == coll;
        for (size_t at = 0; queries && at < n; at += mrs_le32(p + at)) {
            mrsi_paths_meet(&en->worker[0], en->row_of[step][0], (struct mrs_view){p + at, mrs_le32(p + at)});
        }
    }
}

/* ---- after the run ---- */
/* Were documents checked for the paths of a row? */
static bool
was_checked(const struct mrsi_engine *en, uint32_t step, uint32_t side)
{
    const struct mrsi_coll *c = &en->coll[en->side[step][side]];
    return en->plan->steps[step].desc.family == MRS_FAMILY_CATALOG ? c->written && !c->copied && c->docs
                                                                   : en->rows[en->row_of[step][side]].before;
}

/* The nearest name, else one with the same last part. */
static const char *
nearest(const struct searched_paths *w, const struct mrs_path *path)
{
    const char *found = mrs_nearest(path->text, w->name, w->n_names), *end = path->part[path->n - 1].name;
    for (uint32_t i = 0; !found && i < w->n_names; i++) {
        const char *dot = strrchr(w->name[i], '.');
        found = strcmp(dot ? dot + 1 : w->name[i], end) == 0 ? w->name[i] : NULL;
    }
    return found;
}

static bool
is_unmet(const struct mrsi_engine *en, uint32_t row, uint32_t i)
{
    const struct searched_paths *w = en->paths->of[row];
    return !(en->rows[row].seen >> i & 1 || w->texts >> i & 1 || w->types[i]);
}

/* Is a parent of the i-th path reported itself? */
static bool
has_unmet_above(const struct mrsi_engine *en, uint32_t row, uint32_t i)
{
    const struct searched_paths *w = en->paths->of[row];
    bool found = false;
    for (uint32_t k = 0; k < w->n && !found; k++) {
        size_t n = strlen(w->path[k].text);
        found = is_unmet(en, row, k) && strncmp(w->path[i].text, w->path[k].text, n) == 0 && w->path[i].text[n] == '.';
    }
    return found;
}

static const char *
kept(struct mrs_report *r, const char *text)
{
    return text ? mrs_arena_copy(&r->arena, text, strlen(text) + 1) : NULL;
}

enum mrs_status
mrsi_paths_report(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    rep->unmet = mrs_arena_alloc(&rep->arena, (size_t)(en->n_rows * PATHS + 1) * sizeof *rep->unmet);
    MRS_TRY(mrs_allocated(rep->unmet, en->n_rows * PATHS * sizeof *rep->unmet, e));
    for (uint32_t step = 0; step < en->plan->n_steps && !en->opts->sample; step++) {
        const struct mrs_desc *d = &en->plan->steps[step].desc;
        for (uint32_t side = 0; side < d->n_sides; side++) {
            uint32_t row = en->row_of[step][side];
            const struct searched_paths *w = en->paths->of[row];
            bool reported = side > 0 && row <= en->row_of[step][side - 1]; /* an earlier side has the same collection */
            for (uint32_t i = 0; w && !reported && was_checked(en, step, side) && i < w->n; i++) {
                if (!is_unmet(en, row, i) || has_unmet_above(en, row, i)) {
                    continue;
                }
                struct mrs_unmet x = {en->plan->steps[step].no, kept(rep, d->sides[side].coll.ns),
                                      kept(rep, w->path[i].text), kept(rep, nearest(w, &w->path[i]))};
                if (!x.ns || !x.path) {
                    return mrs_err_memory(e, 1);
                }
                rep->unmet[rep->n_unmet++] = x;
            }
        }
    }
    return MRS_OK;
}

static const uint32_t numbers = 1u << MRS_DOUBLE | 1u << MRS_INT32 | 1u << MRS_INT64 | 1u << MRS_DECIMAL128;
static const uint32_t strings = 1u << MRS_STRING | 1u << MRS_SYMBOL;
/* Null is like a missing value, and the elements of an array are compared. */
static const uint32_t passed_over = 1u << MRS_NULL | 1u << MRS_UNDEFINED | 1u << MRS_ARRAY;

/* "number, date": all numbers are one type here, and so are texts and symbols. */
static void
name_types(uint32_t types, char *text, size_t size)
{
    size_t n = 0;
    *text = '\0';
    if (types & numbers) {
        n = (size_t)snprintf(text, size, "number");
    }
    types &= ~(numbers | (types & 1u << MRS_STRING ? 1u << MRS_SYMBOL : 0));
    for (uint32_t type = 1; type <= MRSI_OLD_UUID && n < size; type++) {
        if (types & 1u << type) {
            int more = snprintf(text + n, size - n, "%s%s", n ? ", " : "", mrsi_kind_name((uint8_t)type));
            n += more > 0 ? (size_t)more : 0;
        }
    }
}

/* The types that `where` compares the i-th path with. */
static uint32_t
compared_types(const struct searched_paths *w, uint32_t i)
{
    MRS_ASSERT(i < w->n);
    uint32_t types = 0;
    for (uint32_t k = 0; k < w->n; k++) {
        bool same = (w->wheres >> k & 1) && strcmp(w->path[k].text, w->path[i].text) == 0;
        types |= same ? w->types[k] & ~ALL_TYPES : 0;
    }
    return types;
}

/* `sort` by the i-th path: values of several types, or texts that look like numbers. */
static bool
note_sort(const struct mrs_step *st, struct searched_paths *w, uint32_t i, char *line, size_t size)
{
    MRS_ASSERT(i < w->n && w->types[i] == ALL_TYPES);
    uint32_t found = atomic_load(&w->found[i]) & ~passed_over;
    uint32_t first = found & (found & numbers ? numbers : strings);
    first = first ? first : found & -found;
    const char *order = mrsi_text_order(atomic_load(&w->forms[i]));
    char all[200];
    name_types(found, all, sizeof all);
    if (found & ~first) {
        snprintf(line, size, "step %u, %.255s: `sort` by `%.200s`: documents have several types there, and each is "
                 "sorted apart: %s", st->no, st->desc.sides[0].coll.ns, w->path[i].text, all);
    } else if (order) {
        snprintf(line, size, "step %u, %.255s: `sort` by `%.200s`: its texts look like %s", st->no,
                 st->desc.sides[0].coll.ns, w->path[i].text, order);
    }
    return found & ~first || order;
}

/* `where` by the i-th path: values of other types than it compares, or texts that are nearly equal. */
static bool
note_where(const struct mrs_step *st, struct searched_paths *w, uint32_t i, char *line, size_t size)
{
    MRS_ASSERT(i < w->n && w->types[i] == ALL_TYPES);
    uint32_t found = atomic_load(&w->found[i]) & ~passed_over, first = found & compared_types(w, i);
    char compared[200], others[200], near[300];
    name_types(first, compared, sizeof compared);
    name_types(found & ~first, others, sizeof others);
    bool mixed = first && *others, nearly = mrsi_near_texts_name(&w->near, i, near, sizeof near);
    if (mixed) {
        snprintf(line, size, "step %u, %.255s: `where` compares `%.200s` with a value of type %s, and some documents "
                 "have another type there, which is neither equal nor less nor greater: %s", st->no,
                 st->desc.sides[0].coll.ns, w->path[i].text, compared, others);
    } else if (nearly) {
        snprintf(line, size, "step %u, %.255s: `where` compares `%.200s` with a text that documents have in another "
                 "case, or with blanks, which is not equal: %s", st->no, st->desc.sides[0].coll.ns, w->path[i].text,
                 near);
    }
    return mixed || nearly;
}

bool
mrsi_paths_note(struct mrsi_engine *en, uint32_t step, uint32_t i, char *line, size_t size)
{
    MRS_ASSERT(i < PATHS && size);
    const struct mrs_step *st = &en->plan->steps[step];
    uint32_t row = en->row_of[step][0];
    struct searched_paths *w = st->desc.n_sides ? en->paths->of[row] : NULL;
    if (!w || i >= w->n || en->opts->sample) {
        return false;
    }
    const char *ns = st->desc.sides[0].coll.ns, *path = w->path[i].text;
    if (atomic_load(&w->names) >> i & 1) {
        snprintf(line, size, "step %u, %.255s: `%s` is a text in the plan, and a field of the documents: its value is "
                 "`$%s`", st->no, ns, w->word[i], w->word[i]);
        return true;
    }
    if (w->types[i] == ALL_TYPES) {
        return w->wheres >> i & 1 ? note_where(st, w, i, line, size) : note_sort(st, w, i, line, size);
    }
    uint32_t found = atomic_load(&w->found[i]);
    if (!w->types[i] || !(found & ~mrsi_type_bit(MRS_NULL)) || en->rows[row].seen >> i & 1) {
        return false;
    }
    char has_types[200], expected_types[200];
    name_types(found, has_types, sizeof has_types);
    name_types(w->types[i], expected_types, sizeof expected_types);
    snprintf(line, size, "step %u, %.255s: %s compares `%.200s` with a value of type %s, and documents have there "
             "only: %s", st->no, ns, w->wheres >> i & 1 ? "`where`" : "an expression", path, expected_types, has_types);
    return true;
}
