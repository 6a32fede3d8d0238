/* SPDX-License-Identifier: Apache-2.0 */
/* rename.c - the step `rename`: renames fields.
 *
 * All renames of a step happen at once, so swaps work: every old and every new path is a place of one edit, and values
 * are read from the original document. On one level the element keeps its position and gets the new name. To another
 * level it is removed and appended. Both places then lie in the same instance of the level that they share ("lines.a.x:
 * lines.x" works element by element). There may be no array between that level and either place, because it would be
 * unclear which element is meant: the document is refused. */
#include "steps/kit/invert.h"
#include "pattern.h"
#include "steps/kit/shape.h"
#include "mongoreshape/context.h"

#define NONE UINT32_MAX

struct rename_entry {
    struct mrs_path old, new;
    uint32_t shared; /* length of the common prefix of both paths */
    bool level;      /* old and new are on one level */
    uint32_t cursor; /* first of its cursors, one for each shared name */
};
struct rename_place { /* of an edit */
    uint32_t leaves;  /* entry with this old path */
    uint32_t arrives; /* entry with this new path */
};
struct rename {
    struct mrsi_map map;
    struct rename_entry *entry;
    uint32_t n;
    struct rename_place *place;
    const struct mrs_path **path; /* of each place */
    uint32_t n_places;
    struct mrs_edit *edit;
    struct mrsi_patterns patterns;
    bool replace, levels; /* levels: some entry moves to another level */
    uint32_t n_cursors;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"fields", MRS_ARG_MAP, true, NULL, "old path: new path; `**`: any levels, `a*`: names that begin so, to a name or "
     "an expression of $$NAME"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {"replace", MRS_ARG_BOOL, false, NULL, "whether an existing field with the new name is overwritten (false)"},
    {MRSI_TYPES_KEY, "paths with a star: only fields with values of these types, as `$type` names them"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

/* ---- compile ---- */
static uint32_t
place_of(const struct rename *s, const struct mrs_path *p)
{
    uint32_t i = 0;
    while (i < s->n_places && !mrs_path_equal(s->path[i], p)) {
        i++;
    }
    return i;
}

/* The index of the path in the edit; NONE: an error was reported. */
static uint32_t
add_place(struct mrsi_read *r, struct rename *s, const struct mrs_path *p, const char *sub)
{
    MRS_ASSERT(p->n > 0);
    struct mrs_err e;
    uint32_t i = place_of(s, p);
    if (i < s->n_places) {
        return i;
    }
    mrs_err_clear(&e);
    enum mrs_status st = mrs_edit_add(s->edit, p, &e);
    if (st != MRS_OK) {
        mrsi_read_failed(r, "fields", sub, st, &e);
        return NONE;
    }
    s->place[i] = (struct rename_place){NONE, NONE};
    s->path[i] = p;
    s->n_places++;
    return i;
}

static void
add_entry(struct mrsi_read *r, struct rename *s, const struct mrs_elem *el)
{
    MRS_ASSERT(el->name);
    struct rename_entry *x = &s->entry[s->n];
    struct mrsi_slot to = {el->v, "fields", el->name, NULL};
    bool named = mrsi_read_path_text(r, "fields", el->name, el->name, &x->old);
    if (!mrsi_read_path(r, to, &x->new) || !named) {
        return;
    }
    if (!mrsi_read_not_id(r, to, &x->old) || !mrsi_read_not_id(r, to, &x->new)) {
        return;
    }
    if (mrs_path_equal(&x->old, &x->new)) {
        mrsi_read_error(r, "fields", el->name, "`%s` would keep its name", el->name);
        return;
    }
    if (mrs_path_relation(&x->old, &x->new) != 0) {
        bool out = x->old.n > x->new.n;
        mrsi_read_error(r, "fields", el->name, "`%s` lies inside of `%s`: rename `%s` to a third name, and that in a "
                        "step of its own%s", out ? el->name : x->new.text, out ? x->new.text : el->name, el->name,
                        out ? ", with `replace: true`, which overwrites what is left" : "");
        return;
    }
    uint32_t least = x->old.n < x->new.n ? x->old.n : x->new.n;
    while (x->shared + 1 < least && strcmp(x->old.part[x->shared].name, x->new.part[x->shared].name) == 0) {
        x->shared++;
    }
    x->level = x->old.n == x->new.n && x->shared + 1 == x->old.n;
    x->cursor = s->n_cursors;
    s->n_cursors += x->level ? 0 : x->shared;
    s->levels = s->levels || !x->level;
    uint32_t old = add_place(r, s, &x->old, el->name), new = add_place(r, s, &x->new, el->name);
    if (old == NONE || new == NONE) {
        return;
    }
    if (s->place[new].arrives != NONE) {
        mrsi_read_error(r, "fields", el->name, "`%s` is the new name of two fields", x->new.text);
        return;
    }
    s->place[old].leaves = s->n;
    s->place[new].arrives = s->n;
    s->n++;
}

/* `meta.*: meta_*`, or `meta.*: "*"`: the author wants top-level fields, but a pattern keeps their level. */
static void
warn_of_level(struct mrsi_read *r, const struct mrsi_pattern *p)
{
    MRS_ASSERT(p->text && p->star < p->path.n);
    const struct mrs_part *level = p->star ? &p->path.part[p->star - 1] : NULL;
    if (!level || p->deep < p->path.n || memchr(level->name, '*', level->len)) {
        return;
    }
    bool same = strcmp(p->text, "*") == 0 && strcmp(p->path.part[p->star].name, "*") == 0;
    char next = strncmp(p->text, level->name, level->len) == 0 ? p->text[level->len] : 0;
    if (same || next == '_' || next == '-') {
        mrsi_read_warn(r, p->value.key, p->value.sub, "a pattern gives other names, and the fields stay in `%.100s`: "
                       "to the top `replace` with { $mergeObjects: [$$ROOT, $%.100s] } brings them", level->name,
                       level->name);
    }
}

/* The new names of the fields that a pattern matches. */
static void
read_pattern(struct mrsi_read *r, struct mrsi_pattern *p)
{
    struct mrsi_slot v = p->value;
    const char *star;
    if (v.v.type == MRS_DOCUMENT) {
        mrsi_pattern_expr(r, p);
        return;
    }
    if (!mrsi_read_text(r, v, &p->text)) {
        return;
    }
    star = strchr(p->text, '*');
    if (!*p->text || *p->text == '$' || strchr(p->text, '.')) {
        mrsi_read_error(r, v.key, v.sub, "`%s` is no name: a pattern takes a name, not a path, or an expression as in "
                                         "{ $toLower: $$NAME }; `pack` with `form: document` gathers fields in a "
                                         "document", p->text);
    } else if (star && strchr(star + 1, '*')) {
        mrsi_read_error(r, v.key, v.sub, "`%s` has more than one star", p->text);
    } else if (star && p->path.n && p->star == p->deep) {
        mrsi_read_error(r, v.key, v.sub, "the last star of `%s` matches levels, not a name: use { $concat: [..., "
                                         "$$NAME] }", p->path.text);
    } else if (p->star + 1 == p->path.n) {
        warn_of_level(r, p);
    }
}

static void
read_fields(struct mrsi_read *r, struct rename *s, struct mrsi_slot f)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t room = 0;
    if (f.v.type != MRS_DOCUMENT || f.v.n <= 5) {
        if (mrsi_slot_present(f)) {
            mrsi_read_error(r, "fields", NULL, "must be a map of old path: new path with at least one entry");
        }
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(f.v)); mrs_walk_next(&w, &el) == 1;) {
        room++;
    }
    s->entry = mrsi_read_alloc(r, room, sizeof *s->entry);
    s->place = mrsi_read_alloc(r, room, 2 * sizeof *s->place);
    s->path = mrsi_read_alloc(r, room, 2 * sizeof *s->path);
    if (!s->entry || !s->place || !s->path) {
        return;
    }
    s->edit = mrsi_read_new_edit(r);
    for (mrs_walk_init(&w, mrs_val_view(f.v)); r->status == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        memset(&s->entry[s->n], 0, sizeof *s->entry);
        add_entry(r, s, &el);
    }
}

static void
plan_indexes(struct mrsi_read *r, struct rename *s)
{
    struct mrsi_move *mv = mrsi_read_alloc(r, s->n, sizeof *mv);
    for (uint32_t i = 0; i < s->n && mv; i++) {
        const struct rename_entry *x = &s->entry[i];
        if (mrsi_index_plain(&x->old)) {
            mv[s->map.moves.n++] = (struct mrsi_move){x->old.text, mrsi_index_plain(&x->new) ? x->new.text : NULL};
        }
    }
    s->map.moves.move = mv;
}

static enum mrs_status edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d,
                                     struct mrs_buf *out, bool *changed);

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_slot plain;
    struct rename *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->map.edit = edit_document;
    s->map.place = "fields";
    mrsi_map_read(&r, &s->map);
    mrsi_read_bool(&r, mrsi_slot(&r, "replace"), &s->replace);
    mrsi_patterns_read(&r, mrsi_slot(&r, "fields"), &s->patterns, &plain);
    mrsi_patterns_types(&r, &s->patterns, false);
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        read_pattern(&r, &s->patterns.item[i]);
    }
    read_fields(&r, s, plain);
    if (mrsi_read_good(&r)) {
        plan_indexes(&r, s);
        s->map.moves.through = s->patterns.n ? mrsi_patterns_rename_path : NULL;
        s->map.moves.patterns = &s->patterns;
        s->map.partly = s->patterns.typed;
    }
    return mrsi_read_end(&r, state);
}

/* ---- documents ---- */
struct cursor { /* the element of an array that was read last: positions only increase within one array */
    const uint8_t *array;
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t pos; /* of e, from 1; 0: none yet */
};
struct renaming {
    const struct rename *s;
    struct mrs_ctx *c;
    struct mrs_view doc; /* the original */
    struct cursor *cursor;
    bool late;  /* a moved value replaces an existing field, which must be removed first */
    bool defer; /* so moved values wait for a second run */
};

static struct mrs_val
item_at(struct cursor *k, struct mrs_val array, uint32_t pos)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    if (k->array != array.p || k->pos > pos + 1) {
        *k = (struct cursor){.array = array.p};
        mrs_walk_init(&k->w, mrs_val_view(array));
    }
    while (k->pos < pos + 1) {
        if (mrs_walk_next(&k->w, &k->e) != 1) {
            return mrs_missing();
        }
        k->pos++;
    }
    return k->e.v;
}

/* The instance of the shared level for a place; *arrays: number of arrays on the path to it. False: the path ends
 * before. */
static bool
shared_level(struct renaming *x, const struct rename_entry *en, const struct mrs_edit_site *site,
             struct mrs_view *level, uint32_t *arrays)
{
    struct mrs_val v = mrs_view_val(x->doc);
    *arrays = 0;
    for (uint32_t i = 0; i < en->shared && v.type == MRS_DOCUMENT; i++) {
        v = mrs_doc_get(mrs_val_view(v), en->old.part[i].name);
        if (v.type == MRS_ARRAY) {
            v = *arrays < site->n_index ? item_at(&x->cursor[en->cursor + i], v, site->index[*arrays]) : mrs_missing();
            ++*arrays;
        }
    }
    bool there = v.type == MRS_DOCUMENT;
    *level = there ? mrs_val_view(v) : (struct mrs_view){NULL, 0};
    return there;
}

static const char *
last_name(const struct mrs_path *p, uint32_t *len)
{
    *len = p->part[p->n - 1].len;
    return p->part[p->n - 1].name;
}

/* May the field at this place move to its other level? Refuses arrays on either path. */
static enum mrs_status
check_leave(struct renaming *x, const struct rename_entry *en, const struct mrs_edit_site *site)
{
    struct mrs_view level;
    uint32_t arrays;
    if (!shared_level(x, en, site, &level, &arrays) || site->n_index > arrays) {
        return mrsi_step_refuse(x->c, "fields", "%s lies in an array, and %s does not", en->old.text, en->new.text);
    }
    struct mrs_val v = mrs_view_val(level);
    for (uint32_t i = en->shared; i + 1 < en->new.n; i++) {
        v = mrs_doc_get(mrs_val_view(v), en->new.part[i].name);
        if (v.type == MRS_MISSING) {
            break;
        }
        if (v.type == MRS_ARRAY) {
            return mrsi_step_refuse(x->c, "fields", "%s lies in an array, and %s does not", en->new.text, en->old.text);
        }
        if (v.type != MRS_DOCUMENT) {
            struct mrs_edit_site by = {.block = en->new.part[i].name, .block_len = en->new.part[i].len,
                                       .block_type = v.type};
            return mrsi_step_blocked(x->c, "fields", &by, en->new.text);
        }
    }
    return MRS_OK;
}

/* The value that moves to this place from another level; missing: none. */
static struct mrs_val
arriving(struct renaming *x, const struct rename_entry *en, const struct mrs_edit_site *site)
{
    struct mrs_view level;
    uint32_t arrays;
    struct mrs_path below = en->old;
    if (!shared_level(x, en, site, &level, &arrays)) {
        return mrs_missing();
    }
    below.part += en->shared;
    below.n -= en->shared;
    return mrs_path_get(&below, level);
}

static bool
has_old(const struct rename_entry *en, struct mrs_view holder)
{
    struct mrs_elem e;
    uint32_t n;
    const char *name = last_name(&en->old, &n);
    return mrs_doc_find(holder, name, n, &e);
}

struct answer { /* result of the edit's callback */
    enum mrs_edit_verdict *verdict;
    struct mrs_val *put;
};

/* Decides what is written at a place; `removed`: its own field is removed. */
static enum mrs_status
arrive(struct renaming *x, const struct rename_entry *en, const struct mrs_edit_site *site, bool removed,
       struct answer to)
{
    MRS_ASSERT(to.verdict && to.put);
    struct mrs_val v = en->level ? mrs_missing() : arriving(x, en, site);
    bool comes = en->level ? !site->blocked && has_old(en, site->holder) : v.type != MRS_MISSING;
    bool there = site->old.type != MRS_MISSING && !removed;
    if (!comes) {
        return MRS_OK;
    }
    if (there && !x->s->replace) {
        return mrsi_step_refuse(x->c, "fields", "%s exists already", en->new.text);
    }
    if (there) {
        *to.verdict = MRS_EDIT_REMOVE;
    }
    if (!en->level && site->old.type != MRS_MISSING) {
        x->late = true;
    } else if (!en->level && !x->defer) {
        *to.verdict = MRS_EDIT_PUT;
        *to.put = v;
    }
    return MRS_OK;
}

static enum mrs_status
rename_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
            struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct renaming *x = arg;
    const struct rename_place *p = &x->s->place[site->path_no];
    bool removed = p->leaves != NONE && site->old.type != MRS_MISSING && !site->blocked;
    enum mrs_status st = MRS_OK;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (removed) {
        const struct rename_entry *en = &x->s->entry[p->leaves];
        uint32_t n;
        const char *name = last_name(&en->new, &n);
        *verdict = en->level ? MRS_EDIT_SPLICE : MRS_EDIT_REMOVE;
        if (en->level) {
            mrsi_put_elem(raw, name, n, site->old);
        } else {
            st = check_leave(x, en, site);
        }
    }
    if (st == MRS_OK && p->arrives != NONE) {
        st = arrive(x, &x->s->entry[p->arrives], site, removed, (struct answer){verdict, put});
    }
    return st;
}

/* Second run: writes values from other levels that are not written yet. */
static enum mrs_status
append_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
            struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct renaming *x = arg;
    uint32_t i = x->s->place[site->path_no].arrives;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (i != NONE && !x->s->entry[i].level && !site->blocked && site->old.type == MRS_MISSING) {
        *verdict = MRS_EDIT_PUT;
        *put = arriving(x, &x->s->entry[i], site);
    }
    return MRS_OK;
}

/* A value from another level is appended, even if a field of that name existed, so that field is removed in a first
 * run. Array positions are equal in both runs. */
static enum mrs_status
edit_twice(struct renaming *x, struct mrs_edit_run how, struct mrsi_work *w, struct mrs_buf *out, bool *changed)
{
    struct mrs_buf *between = &w->out[1];
    x->defer = true;
    enum mrs_status st = mrs_edit_run(x->s->edit, &how, x->doc, between, changed, x->c->err);
    if (st == MRS_OK) {
        how.fn = append_site;
        st = mrs_edit_run(x->s->edit, &how, mrsi_buf_view(between, 0), out, changed, x->c->err);
    }
    if (st == MRS_OK) {
        *changed = out->n != x->doc.n || memcmp(out->p, x->doc.p, out->n) != 0;
    }
    return st;
}

/* The paths without a star. */
static enum mrs_status
edit_plain(const struct rename *s, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
           bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct renaming x = {.s = s, .c = c, .doc = d};
    struct mrs_edit_run how = {.fn = rename_site, .arg = &x, .visit_missing = s->levels, .raw = &w->raw};
    if (s->n_cursors) {
        size_t size = s->n_cursors * sizeof *x.cursor;
        x.cursor = mrs_arena_alloc(c->arena, size);
        MRS_TRY(mrs_allocated(x.cursor, size, c->err));
        memset(x.cursor, 0, size);
    }
    enum mrs_status st = mrs_edit_run(s->edit, &how, d, out, changed, c->err);
    if (st == MRS_OK && x.late) {
        out->n = 0;
        st = edit_twice(&x, how, w, out, changed);
    }
    return st;
}

/* The new name of a field that a pattern matches. */
static enum mrs_status
new_name(struct renaming *x, const struct mrsi_pattern_place *at, struct mrs_val *name)
{
    MRS_ASSERT(at->pattern);
    struct mrs_arena *a = x->c->arena;
    const struct mrsi_pattern *p = at->pattern;
    if (p->text) {
        const char *text = mrsi_pattern_new_name(p, a, at->took, at->took_len);
        *name = text ? mrs_make_text(a, text, (uint32_t)strlen(text)) : mrs_missing();
        return text && name->type == MRS_STRING ? MRS_OK : mrs_err_memory(x->c->err, at->len);
    }
    struct mrs_val var[MRSI_PATTERN_VARS] = {mrs_make_text(a, at->name, at->len), at->v};
    struct mrs_eval ev = mrsi_step_eval(x->c, x->doc);
    ev.vars = var;
    return var[MRSI_NAME].type == MRS_STRING ? mrs_expr_eval(p->expr, &ev, name)
                                             : mrs_err_memory(x->c->err, at->len);
}

static enum mrs_status
rename_reached(void *arg, const struct mrsi_pattern_place *at, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    struct renaming *x = arg;
    const char *key = at->pattern->path.text, *name;
    uint32_t n;
    enum mrs_status st = mrsi_step_skip_in(x->c, new_name(x, at, put), "fields", key);
    if (st != MRS_OK) {
        return st;
    }
    if (put->type != MRS_STRING) {
        st = mrsi_step_refuse(x->c, NULL, "the new name of %.200s is %s, not a text", at->name,
                              mrs_type_name(put->type));
        return mrsi_step_skip_in(x->c, st, "fields", key);
    }
    name = mrs_val_text(*put, &n);
    const char *why = n == 0                                      ? "is empty"
                      : memchr(name, 0, n)                        ? "holds a NUL byte"
                      : at->top && n == 3 && !memcmp(name, "_id", 3) ? "is _id"
                                                                  : NULL;
    if (why) {
        st = mrsi_step_refuse(x->c, NULL, "the new name of %.200s %s", at->name, why);
        return mrsi_step_skip_in(x->c, st, "fields", key);
    }
    *verdict = n == at->len && memcmp(name, at->name, n) == 0 ? MRS_EDIT_KEEP : MRS_EDIT_SPLICE;
    return MRS_OK;
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d) && mrs_buf_is_sound(out));
    const struct rename *s = state;
    struct renaming x = {.s = s, .c = c, .doc = d};
    struct mrsi_pattern_run stars = {.patterns = &s->patterns, .fn = rename_reached, .arg = &x, .replace = s->replace};
    enum mrs_status st = s->n ? edit_plain(s, c, w, d, out, changed) : MRS_OK;
    MRS_THEN(st, mrsi_patterns_run(&stars, c, w, d, changed));
    return st;
}

/* ---- description ---- */
static void
describe_patterns(struct mrsi_describe *t, const struct rename *s)
{
    mrsi_patterns_describe(t, &s->patterns, "RDA");
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        const struct mrsi_pattern *p = &s->patterns.item[i];
        mrsi_describe_words(t, "%s%s to %s", s->n + i ? ", " : "", p->path.text, p->text ? p->text : "a computed name");
    }
    if (s->patterns.n) {
        mrsi_describe_quiet(t,
                            "which fields a path with a star reaches is known only when a document is read: name the "
                           "fields" MRSI_DO_QUIET);
        mrsi_describe_once(t, "a field that has its new name may be reached again");
    }
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct rename *s = state;
    struct mrsi_describe t;
    bool swaps = false;
    mrsi_map_describe(&t, &s->map, arena, out, e);
    mrsi_describe_words(&t, "renames ");
    for (uint32_t i = 0; i < s->n; i++) {
        mrsi_describe_touch(&t, 0, 'R', s->entry[i].old.text);
        mrsi_describe_touch(&t, 0, 'D', s->entry[i].old.text);
        mrsi_describe_touch(&t, 0, 'A', s->entry[i].new.text);
        if (i < 6) {
            mrsi_describe_words(&t, "%s%s to %s", i ? ", " : "", s->entry[i].old.text, s->entry[i].new.text);
        }
        if (!s->entry[i].level) {
            mrsi_describe_loss(&t, "the place of %s among its fields", s->entry[i].old.text);
        }
    }
    for (uint32_t i = 0; i < s->n_places; i++) {
        swaps = swaps || (s->place[i].leaves != NONE && s->place[i].arrives != NONE);
    }
    if (s->n > 6) {
        mrsi_describe_words(&t, " and %u more", s->n - 6);
    }
    describe_patterns(&t, s);
    mrsi_describe_words(&t, " in %s%s", mrsi_map_those(&s->map), s->map.in.ns);
    out->takes_away = true;
    mrsi_describe_not_direct(&t, "it takes names away that are still being read" MRSI_DO_CONTRACT);
    if (s->replace) {
        mrsi_describe_loss(&t, "fields that had one of the new names already");
    }
    if (swaps) {
        mrsi_describe_once(&t, "a field gets the name that another one gives up: run again, they would move on");
    }
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    return mrsi_map_catalog(describe, state, cat, e);
}

const struct mrs_step_type mrsi_step_rename = {
    .name = "rename",
    .summary = "renames fields of each document",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .since_2 = "types",
    .example = "in: users\nfields: { mail: email }\n\nwhere: { mail: { $exists: true } }\n"
               "types: [string]\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_rename_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &mrsi_map_ops,
};
