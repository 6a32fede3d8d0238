/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - dotted paths: compiling them, and reading at them.
 *
 * Two ways of reading are separate functions here: `match`, which fans out over arrays one level at each name, and the
 * plain one, which goes through documents only. Fanning out keeps a stack of array walks, at most one for each name of
 * the path, so that neither the depth nor the breadth of a document costs calls. Expression paths, query paths and sort
 * paths have other meanings and are not handled here. */
#include "mongoreshape/path.h"

/* ---- compiling ---- */
static enum mrs_status
bad_path(struct mrs_err *e, const char *why)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "path %s", why);
}

static enum mrs_status
check_part(const char *name, size_t n, bool dollar_ok, struct mrs_err *e)
{
    if (n == 0) {
        return bad_path(e, "has an empty part");
    }
    if (memchr(name, 0, n)) {
        return bad_path(e, "holds a NUL byte");
    }
    if (name[0] == '$' && !dollar_ok) {
        bool place = n == 1 || name[1] == '[';
        return bad_path(e, place ? "has a part that begins with $: it goes through arrays by itself, leave it out"
                                 : "has a part that begins with $: a field is named without it");
    }
    return MRS_OK;
}

static enum mrs_status
check_text(const char *text, uint32_t n, uint32_t *parts, struct mrs_err *e)
{
    const char *at = text, *end = text + n;
    *parts = 0;
    if (n == 0) {
        return bad_path(e, "is empty");
    }
    for (;;) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        size_t len = (size_t)((dot ? dot : end) - at);
        MRS_TRY(check_part(at, len, *parts && mrs_name_is_dbref(at, len), e));
        ++*parts;
        if (!dot) {
            return MRS_OK;
        }
        at = dot + 1;
    }
}

static enum mrs_status
check_list(struct mrs_view list, uint32_t *parts, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem x;
    *parts = 0;
    mrs_walk_init(&w, list);
    while (mrs_walk_next(&w, &x) > 0) {
        if (x.v.type != MRS_STRING) {
            return bad_path(e, "must be a list of names");
        }
        uint32_t n;
        const char *name = mrs_val_text(x.v, &n);
        MRS_TRY(check_part(name, n, true, e));
        ++*parts;
    }
    return *parts ? MRS_OK : bad_path(e, "is empty");
}

static bool
add_part(struct mrs_arena *a, struct mrs_path *p, const char *name, size_t n)
{
    char *copy = mrs_arena_alloc(a, n + 1);
    if (!copy) {
        return false;
    }
    memcpy(copy, name, n);
    copy[n] = 0;
    p->part[p->n].name = copy;
    p->part[p->n++].len = (uint32_t)n;
    return true;
}

static bool
split_text(struct mrs_arena *a, struct mrs_path *p, const char *text, uint32_t n)
{
    MRS_ASSERT(n > 0);
    const char *at = text, *end = text + n;
    for (;;) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        if (!add_part(a, p, at, (size_t)((dot ? dot : end) - at))) {
            return false;
        }
        if (!dot) {
            return true;
        }
        at = dot + 1;
    }
}

static bool
split_list(struct mrs_arena *a, struct mrs_path *p, struct mrs_view list)
{
    MRS_ASSERT(mrs_view_is_framed(list));
    struct mrs_walk w;
    struct mrs_elem x;
    mrs_walk_init(&w, list);
    while (mrs_walk_next(&w, &x) > 0) {
        uint32_t n;
        const char *name = mrs_val_text(x.v, &n);
        if (!add_part(a, p, name, n)) {
            return false;
        }
    }
    return true;
}

/* The parts, joined by dots. */
static bool
join_text(struct mrs_arena *a, struct mrs_path *p)
{
    MRS_ASSERT(p->n > 0);
    size_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        n += (size_t)p->part[i].len + 1;
    }
    char *text = mrs_arena_alloc(a, n + 1), *at = text;
    if (!text) {
        return false;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        memcpy(at, p->part[i].name, p->part[i].len);
        at += p->part[i].len;
        *at++ = '.';
    }
    at[-1] = 0;
    p->text = text;
    return true;
}

enum mrs_status
mrs_path_compile(struct mrs_arena *a, struct mrs_val spec, bool list_ok, struct mrs_path *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    enum mrs_status s;
    uint32_t n = 0, parts = 0;
    const char *text = spec.type == MRS_STRING ? mrs_val_text(spec, &n) : NULL;
    memset(out, 0, sizeof *out);
    if (text) {
        s = check_text(text, n, &parts, e);
    } else if (spec.type == MRS_ARRAY && list_ok) {
        s = check_list(mrs_val_view(spec), &parts, e);
    } else {
        s = bad_path(e, list_ok ? "must be a string or a list of names" : "must be a string");
    }
    if (s == MRS_OK && parts > MRS_PATH_PARTS_MAX) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "path has more than %d parts", MRS_PATH_PARTS_MAX);
    }
    if (s != MRS_OK) {
        return s;
    }
    out->part = mrs_arena_alloc(a, parts * sizeof *out->part);
    bool split = out->part && (text ? split_text(a, out, text, n) : split_list(a, out, mrs_val_view(spec)));
    if (!split || !join_text(a, out)) {
        return mrs_err_memory(e, parts * sizeof *out->part);
    }
    return MRS_OK;
}

int
mrs_path_relation(const struct mrs_path *a, const struct mrs_path *b)
{
    MRS_ASSERT(a->n > 0 && b->n > 0);
    uint32_t n = a->n < b->n ? a->n : b->n;
    for (uint32_t i = 0; i < n; i++) {
        if (a->part[i].len != b->part[i].len || memcmp(a->part[i].name, b->part[i].name, a->part[i].len) != 0) {
            return 0;
        }
    }
    return a->n == b->n ? 1 : a->n < b->n ? 2 : 3;
}

/* Whether the first name of a path matches `a*`. */
static bool
begins_so(const char *star, size_t n, const char *path)
{
    return n && star[n - 1] == '*' && strncmp(star, path, n - 1) == 0;
}

bool
mrs_path_texts_meet(const char *a, const char *b)
{
    MRS_ASSERT(a && b);
    size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;
    if (begins_so(a, n, b) || begins_so(b, m, a) || strncmp(a, "**.", 3) == 0 || strncmp(b, "**.", 3) == 0) {
        return true;
    }
    return least == 0 || (memcmp(a, b, least) == 0 && (n == m || (n > m ? a : b)[least] == '.'));
}

bool
mrs_path_equal(const struct mrs_path *a, const struct mrs_path *b)
{
    return mrs_path_relation(a, b) == 1;
}

/* ---- reading ---- */
struct path_level {
    struct mrs_walk w; /* of an array on the way */
    uint32_t next;     /* the next part, in its documents */
};

struct path_reading {
    const struct mrs_path *path;
    mrs_path_fn fn;
    void *arg;
    bool whole, any, array;
    int depth;
    struct path_level stack[MRS_PATH_PARTS_MAX];
};

static enum mrs_status
emit(struct path_reading *r, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (v.type != MRS_ARRAY || r->whole) {
        r->any = true;
        return r->fn(r->arg, v);
    }
    struct mrs_walk w;
    struct mrs_elem e;
    r->array = true;
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &e) > 0) {
        r->any = true;
        MRS_TRY(r->fn(r->arg, e.v));
    }
    return MRS_OK;
}

/* Follows the path from part i in d, to its end or to the first array, which is pushed onto the stack. */
static enum mrs_status
descend(struct path_reading *r, struct mrs_view d, uint32_t i)
{
    MRS_ASSERT(i <= r->path->n);
    struct mrs_elem e;
    for (;; i++) {
        if (!mrs_doc_find(d, r->path->part[i].name, r->path->part[i].len, &e)) {
            return MRS_OK;
        }
        if (i + 1 == r->path->n) {
            return emit(r, e.v);
        }
        if (e.v.type == MRS_ARRAY) {
            r->array = true;
            mrs_walk_init(&r->stack[r->depth].w, mrs_val_view(e.v));
            r->stack[r->depth++].next = i + 1;
            return MRS_OK;
        }
        if (e.v.type != MRS_DOCUMENT) {
            return MRS_OK;
        }
        d = mrs_val_view(e.v);
    }
}

enum mrs_status
mrs_path_each(const struct mrs_path *path, struct mrs_view d, bool whole, mrs_path_fn fn, void *arg)
{
    MRS_ASSERT(path->n > 0 && path->n <= MRS_PATH_PARTS_MAX && fn);
    struct path_reading r;
    struct mrs_elem e;
    r.path = path;
    r.fn = fn;
    r.arg = arg;
    r.whole = whole;
    r.any = r.array = false;
    r.depth = 0;
    enum mrs_status s = descend(&r, d, 0);
    while (s == MRS_OK && r.depth > 0) {
        struct path_level *l = &r.stack[r.depth - 1];
        if (mrs_walk_next(&l->w, &e) <= 0) {
            r.depth--;
        } else if (e.v.type == MRS_DOCUMENT) {
            s = descend(&r, mrs_val_view(e.v), l->next);
        }
    }
    if (s == MRS_OK && !r.any && !r.array) {
        s = fn(arg, mrs_missing());
    }
    return s;
}

struct mrs_val
mrs_path_get(const struct mrs_path *path, struct mrs_view d)
{
    MRS_ASSERT(path->n > 0);
    struct mrs_elem e;
    for (uint32_t i = 0;; i++) {
        mrs_doc_find(d, path->part[i].name, path->part[i].len, &e);
        if (i + 1 == path->n) {
            return e.v;
        }
        if (e.v.type != MRS_DOCUMENT) {
            return mrs_missing();
        }
        d = mrs_val_view(e.v);
    }
}
