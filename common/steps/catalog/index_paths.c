/* SPDX-License-Identifier: Apache-2.0 */
/* index_paths.c - finds the paths in an index document and rewrites them.
 *
 * Paths are in the key, in the filter of a partial index (a query: only names outside operators, and inside $and and
 * $or), in wildcardProjection and in the weights of a text index; language_override is a field name. A text index as
 * listIndexes returns it has _fts and _ftsx in its key, which are no paths: there the weights count. The filter is user
 * data, so it is walked with an explicit stack. This file knows no collections. */
#include "index_paths.h"
#include "mongoreshape/value.h"

struct remap {
    struct mrs_arena *a;
    struct mrs_buf *buf;
    const struct mrsi_moves *m;
    struct mrsi_index_parts *out;
    bool dead;
};

/* The rest of path below from: "" for from itself; NULL: path is not below it. */
static const char *
rest_of(const char *from, const char *path)
{
    size_t n = strlen(from);
    if (n == 0) {
        return path;
    }
    if (strncmp(from, path, n) != 0 || (path[n] && path[n] != '.')) {
        return NULL;
    }
    return path[n] ? path + n + 1 : path + n;
}

const char *
mrsi_path_below(struct mrs_arena *a, const char *above, const char *path)
{
    size_t n = strlen(above), m = strlen(path);
    char *text = mrs_arena_alloc(a, n + m + 2);
    if (text) {
        memcpy(text, above, n);
        text[n] = '.';
        memcpy(text + n + (n && m), path, m + 1);
    }
    return text;
}

static bool
is_lost(const struct mrsi_moves *m, const char *path)
{
    bool lost = m->others_lost;
    for (uint32_t i = 0; i < m->n_begins; i++) {
        lost = lost || (strncmp(path, m->begins[i], strlen(m->begins[i])) == 0 && path[0] != '$' &&
                        !rest_of("_id", path));
    }
    return lost;
}

/* The path after the moves; NULL: gone, or out of memory. */
static const char *
remap_plain(struct remap *x, const char *path)
{
    const struct mrsi_move *best = NULL;
    if (x->m->exact_from && strcmp(path, x->m->exact_from) == 0) {
        x->out->moved = true;
        return x->m->exact_to;
    }
    for (uint32_t i = 0; i < x->m->n; i++) {
        const struct mrsi_move *mv = &x->m->move[i];
        if (rest_of(mv->from, path) && (!best || strlen(mv->from) > strlen(best->from))) {
            best = mv;
        }
    }
    if (!best) {
        return is_lost(x->m, path) ? NULL : path;
    }
    const char *rest = best->to ? rest_of(best->from, path) : "";
    const char *to = best->to ? best->to : "";
    if (!*to && !*rest) {
        return NULL;
    }
    const char *text = mrsi_path_below(x->a, to, rest);
    if (!text) {
        x->dead = true;
        return NULL;
    }
    x->out->moved = x->out->moved || strcmp(text, path) != 0;
    return text;
}

/* The current name of the path; NULL: gone, or out of memory. */
static const char *
remap(struct remap *x, const char *path)
{
    const char *now = remap_plain(x, path);
    if (now && x->m->through) {
        now = x->m->through(x->m->patterns, x->a, now, &x->dead);
        x->out->moved = x->out->moved || (now && strcmp(now, path) != 0);
    }
    return now;
}

/* Copies a document that begins at the start of the scratch into the arena. */
static struct mrs_val
keep_built(struct remap *x, struct mrs_build *b)
{
    struct mrs_view d;
    struct mrs_val v = mrs_missing();
    if (mrs_build_finish(b, &d, NULL) != MRS_OK || !mrs_val_copy(x->a, mrs_view_val(d), &v)) {
        x->dead = true;
    }
    return v;
}

static bool
is_zero(struct mrs_val v)
{
    int64_t n;
    return v.type == MRS_BOOL ? !v.p[0] : mrs_val_integral(v, &n) && n == 0;
}

/* An inclusion projection that includes nothing any more would index everything. */
static bool
excludes(struct mrs_val projection)
{
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, mrs_val_view(projection));
    while (mrs_walk_next(&w, &e) == 1) {
        if (strcmp(e.name, "_id") != 0) {
            return is_zero(e.v);
        }
    }
    return true;
}

enum index_paths_names { NAMES_KEY, NAMES_KEY_PROJECTED, NAMES_WEIGHTS, NAMES_INCLUDED, NAMES_EXCLUDED };

/* The current name of one element of such a map; NULL: gone. */
static const char *
remap_name(struct remap *x, const struct mrs_elem *e, enum index_paths_names what)
{
    MRS_ASSERT(e->name);
    bool wild = strcmp(e->name, "$**") == 0;
    if (wild && what == NAMES_KEY_PROJECTED) {
        return e->name; /* the projection has the paths: a server accepts one with `$**` only */
    }
    const char *now = remap(x, e->name);
    if (!now && what == NAMES_EXCLUDED && !x->dead) {
        return e->name; /* a missing field is excluded as well, and a server accepts no empty projection */
    }
    x->out->all = x->out->all || (wild && !now);
    if (wild && now && strcmp(now, e->name) != 0 && what == NAMES_WEIGHTS) {
        x->out->why = "a text index over all fields cannot be limited to a part of the document";
    }
    if (now && what == NAMES_INCLUDED && is_zero(e->v) && strcmp(now, "_id") != 0) {
        return NULL; /* if others are included, only `_id` may be excluded */
    }
    return now;
}

/* Records a path that is gone. */
static void
note_lost(struct remap *x, const char *path)
{
    const char *old = x->out->lost ? x->out->lost : "", *at = old;
    size_t n = strlen(old), m = strlen(path);
    for (; *at && !(strncmp(at, path, m) == 0 && (!at[m] || at[m] == ',')); at += *at != 0) {
        at += strcspn(at, " ");
    }
    char *text = *at ? NULL : mrs_arena_alloc(x->a, n + m + 3);
    x->dead = x->dead || (!*at && !text);
    if (text) {
        memcpy(text, old, n);
        memcpy(text + n, ", ", 2);
        memcpy(text + n + (n ? 2 : 0), path, m + 1);
        x->out->lost = text;
    }
}

static bool
seen_before(const char *const *seen, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(seen[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Rewrites a flat map of paths; paths that became equal appear once. *live: number of remaining paths; true: none is
 * gone. */
static bool
remap_names(struct remap *x, struct mrs_val in, enum index_paths_names what, struct mrs_val *out, uint32_t *live)
{
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_build b;
    bool whole = true, key = what <= NAMES_KEY_PROJECTED;
    uint32_t n = 0;
    const char **seen = mrs_arena_alloc(x->a, in.n * sizeof *seen);
    *live = 0;
    mrs_buf_reset(x->buf);
    mrs_build_init(&b, x->buf);
    mrs_walk_init(&w, mrs_val_view(in));
    x->dead = x->dead || !seen;
    while (seen && mrs_walk_next(&w, &e) == 1) {
        bool neutral = key && (strcmp(e.name, "_fts") == 0 || strcmp(e.name, "_ftsx") == 0);
        const char *now = neutral ? e.name : remap_name(x, &e, what);
        whole = whole && now;
        if (!now && what <= NAMES_WEIGHTS) {
            note_lost(x, e.name);
        }
        if (now && !seen_before(seen, n, now)) {
            mrs_build_val(&b, now, (uint32_t)strlen(now), e.v);
            seen[n++] = now;
            *live += !neutral;
        }
    }
    *out = keep_built(x, &b);
    return whole;
}

struct frame {
    struct mrs_walk w;
    bool list; /* the array of $and or $or */
};

static bool
is_logical(const struct mrs_elem *e)
{
    return e->v.type == MRS_ARRAY &&
           (strcmp(e->name, "$and") == 0 || strcmp(e->name, "$or") == 0 || strcmp(e->name, "$nor") == 0);
}

/* One element of a filter that opens no level. */
static void
filter_leaf(struct remap *x, struct mrs_build *b, bool list, const struct mrs_elem *e)
{
    if (list || e->name[0] == '$') {
        x->out->filter_lost = true;
        return;
    }
    const char *now = remap(x, e->name);
    if (now) {
        mrs_build_val(b, now, (uint32_t)strlen(now), e->v);
    } else {
        note_lost(x, e->name);
        x->out->filter_lost = true;
    }
}

static void
remap_filter(struct remap *x, struct mrs_val in)
{
    MRS_ASSERT(in.type == MRS_DOCUMENT);
    struct frame stack[MRS_DEPTH_MAX];
    struct mrs_elem e;
    struct mrs_build b;
    int depth = 1;
    mrs_buf_reset(x->buf);
    mrs_build_init(&b, x->buf);
    mrs_walk_init(&stack[0].w, mrs_val_view(in));
    stack[0].list = false;
    while (depth) {
        struct frame *f = &stack[depth - 1];
        if (mrs_walk_next(&f->w, &e) != 1) {
            if (--depth) {
                mrs_build_close(&b);
            }
            continue;
        }
        bool opens = f->list ? e.v.type == MRS_DOCUMENT : is_logical(&e);
        if (!opens || depth == MRS_DEPTH_MAX) {
            filter_leaf(x, &b, f->list || opens, &e);
            continue;
        }
        if (f->list) {
            mrs_build_item_open(&b, MRS_DOCUMENT);
        } else {
            mrs_build_open(&b, e.name, e.name_len, MRS_ARRAY);
        }
        stack[depth].list = !f->list;
        mrs_walk_init(&stack[depth++].w, mrs_val_view(e.v));
    }
    x->out->filter = keep_built(x, &b);
}

/* language_override is a field name at every level; only a top-level rename of exactly that name affects it. */
static void
remap_override(struct remap *x, struct mrs_val in)
{
    x->out->override = in;
    for (uint32_t i = 0; i < x->m->n; i++) {
        const struct mrsi_move *mv = &x->m->move[i];
        if (mv->to && *mv->from && *mv->to && !strchr(mv->to, '.') && mrs_val_is_text(in, mv->from)) {
            x->out->override = mrs_make_text(x->a, mv->to, (uint32_t)strlen(mv->to));
            x->dead = x->dead || x->out->override.type == MRS_MISSING;
            x->out->moved = true;
            return;
        }
    }
}

enum mrs_status
mrsi_index_parts(struct mrs_arena *a, struct mrs_buf *scratch, const struct mrsi_moves *m, struct mrs_view index,
                 struct mrsi_index_parts *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(index) && mrs_buf_is_sound(scratch));
    struct remap x = {a, scratch, m, out, false};
    struct mrs_val key = mrs_doc_get(index, "key"), filter = mrs_doc_get(index, "partialFilterExpression");
    struct mrs_val projection = mrs_doc_get(index, "wildcardProjection"), weights = mrs_doc_get(index, "weights");
    struct mrs_val override = mrs_doc_get(index, "language_override");
    bool projects = projection.type == MRS_DOCUMENT && projection.n > 5;
    bool includes = projects && !excludes(projection);
    uint32_t n = 0;
    memset(out, 0, sizeof *out);
    if (key.type == MRS_DOCUMENT) {
        out->key_lost = !remap_names(&x, key, includes ? NAMES_KEY_PROJECTED : NAMES_KEY, &out->key, &out->live);
    }
    if (weights.type == MRS_DOCUMENT) {
        out->shrunk = !remap_names(&x, weights, NAMES_WEIGHTS, &out->weights, &n);
        out->key_lost = out->key_lost || (n == 0 && weights.n > 5);
        out->live += n;
    }
    if (projection.type == MRS_DOCUMENT) {
        out->shrunk |= !remap_names(&x, projection, includes ? NAMES_INCLUDED : NAMES_EXCLUDED, &out->projection, &n);
        out->key_lost = out->key_lost || (n == 0 && includes);
        out->live -= n == 0 && includes && out->live > 0;
        if (projects && !includes && mrs_doc_get(mrs_val_view(out->key), "$**").type == MRS_MISSING) {
            out->why = "a wildcard index over a part of the document takes no projection";
        }
    }
    if (filter.type == MRS_DOCUMENT) {
        remap_filter(&x, filter);
    }
    if (override.type != MRS_MISSING) {
        remap_override(&x, override);
    }
    return x.dead ? mrs_err_memory(e, 0) : MRS_OK;
}
