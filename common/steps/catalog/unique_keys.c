/* SPDX-License-Identifier: Apache-2.0 */
/* unique_keys.c - see unique.h. A path is followed to its end or to the first array. Each element of that array makes a
 * key, and all paths that stop at the array continue from the element. A key is the hash, with the caller's secret, of
 * the hashes of its values: equal hashes are equal keys (mrs_hash_secret) for any source. */
#include "mongoreshape/unique.h"
#include "mongoreshape/expr.h"

enum { FIELDS = 32 }; /* maximum for an index on a server */
enum { VALUE, KEY };  /* what is hashed: a value, or the hashes of a key's values */

struct unique_keys_index {
    struct mrs_unique_index info;
    const char *path[FIELDS];
    uint32_t n, no;
    bool sparse;
    struct mrs_query *filter; /* NULL: all documents */
};
struct mrs_unique {
    struct mrs_mem *mem;
    struct mrs_arena arena, scratch; /* arena: lives as long as this; scratch: one document */
    struct unique_keys_index *index;
    uint32_t n;
    const struct mrs_secret *secret;
    struct mrs_buf key;
    const struct mrs_unique_put *put; /* consumer of the keys of the current document */
    uint32_t *bad;
};

/* ---- which indexes ---- */
static void
leave(struct mrs_unique *u, struct unique_keys_index *x, const char *why)
{
    const char *text = mrs_arena_copy(&u->arena, why, strlen(why) + 1);
    x->info.left = text ? text : "out of memory";
}

static struct mrs_view
doc_at(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_DOCUMENT || v.type == MRS_ARRAY ? mrs_val_view(v) : mrs_empty_doc();
}

bool
mrs_index_is(struct mrs_view spec, const char *option)
{
    struct mrs_val v = mrs_doc_get(spec, option);
    int64_t n;
    return v.type == MRS_BOOL ? v.p[0] != 0 : mrs_is_number(v) && (!mrs_val_integral(v, &n) || n != 0);
}

static bool
by_collation(struct mrs_view spec, struct mrs_view metadata)
{
    struct mrs_val own = mrs_doc_get(spec, "collation");
    struct mrs_view c = own.type == MRS_DOCUMENT ? mrs_val_view(own) : doc_at(doc_at(metadata, "options"), "collation");
    struct mrs_val locale = mrs_doc_get(c, "locale");
    return locale.type == MRS_STRING && strcmp((const char *)locale.p + 4, "simple") != 0;
}

static bool
read_paths(struct unique_keys_index *x, struct mrs_view spec)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, doc_at(spec, "key")); mrs_walk_next(&w, &el) == 1;) {
        uint32_t parts = 1;
        for (const char *p = el.name; *p; p++) {
            parts += *p == '.';
        }
        bool wildcard = strstr(el.name, "$**") != NULL;
        if (x->n == FIELDS || !mrs_is_number(el.v) || wildcard || !el.name_len || parts > MRS_PATH_PARTS_MAX) {
            return false;
        }
        x->path[x->n++] = el.name;
    }
    return x->n > 0;
}

static enum mrs_status
read_filter(struct mrs_unique *u, struct unique_keys_index *x, struct mrs_view spec, int64_t now_ms, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_val v = mrs_doc_get(spec, "partialFilterExpression");
    struct mrs_expr_env env = {.mem = u->mem, .now_ms = now_ms};
    struct mrs_err why;
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    mrs_err_clear(&why);
    if (x->info.collated) {
        leave(u, x, "its filter compares by a collation");
        return MRS_OK;
    }
    enum mrs_status s = mrs_query_compile(&env, doc_at(spec, "partialFilterExpression"), &x->filter, &why);
    if (s == MRS_FAIL) {
        leave(u, x, why.msg);
        return MRS_OK;
    }
    if (s != MRS_OK && e) {
        *e = why;
    }
    return s;
}

static enum mrs_status
read_index(struct mrs_unique *u, const struct mrs_unique_spec *all, struct mrs_view spec, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_val name = mrs_doc_get(spec, "name");
    struct unique_keys_index *x = &u->index[u->n];
    x->info.name = name.type == MRS_STRING ? (const char *)name.p + 4 : "";
    x->info.collated = by_collation(spec, all->metadata);
    x->sparse = mrs_index_is(spec, "sparse");
    x->no = u->n++;
    if (!read_paths(x, spec)) {
        leave(u, x, "only it can make the keys");
        return MRS_OK;
    }
    return read_filter(u, x, spec, all->now_ms, e);
}

enum mrs_status
mrs_unique_new(struct mrs_mem *mem, const struct mrs_unique_spec *spec, struct mrs_unique **out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec->metadata));
    struct mrs_view list = doc_at(spec->metadata, "indexes");
    struct mrs_unique *u = mrs_zalloc(mem, sizeof *u);
    struct mrs_walk w;
    struct mrs_elem el;
    size_t most = 1;
    *out = NULL;
    MRS_TRY(mrs_allocated(u, sizeof *u, e));
    u->mem = mem;
    u->secret = spec->secret;
    mrs_arena_init(&u->arena, mem);
    mrs_arena_init(&u->scratch, mem);
    mrs_buf_init(&u->key, mem, SIZE_MAX);
    for (mrs_walk_init(&w, list); mrs_walk_next(&w, &el) == 1;) {
        most++;
    }
    u->index = mrs_zalloc(mem, most * sizeof *u->index);
    enum mrs_status s = mrs_allocated(u->index, most * sizeof *u->index, e);
    for (mrs_walk_init(&w, list); s == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        struct mrs_view one = el.v.type == MRS_DOCUMENT ? mrs_val_view(el.v) : mrs_empty_doc();
        struct mrs_val name = mrs_doc_get(one, "name");
        /* Steps keep `_id`s unique, but compare them as a server does without a collation. */
        bool own = name.type == MRS_STRING && strcmp((const char *)name.p + 4, "_id_") == 0;
        bool needed = own ? !spec->any && by_collation(one, spec->metadata) : spec->any || mrs_index_is(one, "unique");
        if (needed && (!spec->wants || spec->wants(spec->arg, el))) {
            s = read_index(u, spec, one, e);
        }
    }
    if (s != MRS_OK) {
        mrs_unique_free(u);
        return s;
    }
    *out = u;
    return MRS_OK;
}

void
mrs_unique_free(struct mrs_unique *u)
{
    if (!u) {
        return;
    }
    for (uint32_t i = 0; i < u->n; i++) {
        mrs_query_free(u->index[i].filter);
    }
    mrs_buf_clear(&u->key);
    mrs_arena_clear(&u->scratch);
    mrs_arena_clear(&u->arena);
    mrs_free(u->mem, u->index);
    mrs_free(u->mem, u);
}

uint32_t
mrs_unique_count(const struct mrs_unique *u)
{
    return u->n;
}

const struct mrs_unique_index *
mrs_unique_at(const struct mrs_unique *u, uint32_t i)
{
    MRS_ASSERT(i < u->n);
    return &u->index[i].info;
}

/* ---- the keys of a document ---- */
struct unique_keys_making { /* the keys that one array, or none, produces */
    const char *rest[FIELDS]; /* of the path; NULL: the value is known; "": it is the current element */
    struct mrs_hash128 value[FIELDS];
    uint32_t missing;
};

static enum mrs_status
hash_value(struct mrs_unique *u, struct mrs_val v, struct mrs_hash128 *h, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (!u->put) {
        return MRS_OK;
    }
    mrs_buf_reset(&u->key);
    mrs_key_append(&u->key, v, false);
    enum mrs_status s = mrs_buf_status(&u->key, e);
    if (s == MRS_OK) {
        *h = mrs_hash_secret(u->secret, VALUE, u->key.p, u->key.n);
    }
    return s;
}

/* The value at a path, or the first array on it; *path: the rest of the path behind the array. */
static struct mrs_val
step(struct mrs_view d, const char **path)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    for (;;) {
        struct mrs_elem el;
        uint32_t n = (uint32_t)strcspn(*path, ".");
        mrs_doc_find(d, *path, n, &el);
        *path += n + ((*path)[n] == '.');
        if (!**path || el.v.type == MRS_ARRAY) {
            return el.v;
        }
        if (el.v.type != MRS_DOCUMENT) {
            return mrs_missing();
        }
        d = mrs_val_view(el.v);
    }
}

static enum mrs_status
emit(struct mrs_unique *u, const struct unique_keys_index *x, const struct unique_keys_making *m, struct mrs_err *e)
{
    struct mrs_hash128 all[FIELDS + 1];
    if (!u->put || (x->sparse && m->missing == x->n)) {
        return MRS_OK;
    }
    all[0] = (struct mrs_hash128){x->no, x->n};
    memcpy(all + 1, m->value, x->n * sizeof *all);
    return u->put->put(u->put->arg, x->no, mrs_hash_secret(u->secret, KEY, all, (x->n + 1) * sizeof *all), e);
}

/* Finds the values that need no array; *array: the array at which the other paths stop; missing: none. */
static enum mrs_status
settle(struct mrs_unique *u, const struct unique_keys_index *x, struct unique_keys_making *m, struct mrs_view d,
       struct mrs_val *array, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    enum mrs_status s = MRS_OK;
    *array = mrs_missing();
    for (uint32_t i = 0; s == MRS_OK && i < x->n; i++) {
        struct mrs_val v = m->rest[i] ? step(d, &m->rest[i]) : mrs_missing();
        if (!m->rest[i]) {
            continue;
        }
        if (v.type != MRS_ARRAY) {
            m->missing += v.type == MRS_MISSING;
            m->rest[i] = NULL;
            s = hash_value(u, v.type == MRS_MISSING ? mrs_null() : v, &m->value[i], e);
        } else if (array->type == MRS_MISSING) {
            *array = v;
        } else if (array->p != v.p) {
            *u->bad = x->no;
            s = MRS_SKIP;
        }
    }
    return s;
}

/* A path that continues with the name of an element: a position, or a field of the elements; a server decides. */
static bool
by_position(const struct unique_keys_index *x, const struct unique_keys_making *m, struct mrs_view array)
{
    struct mrs_elem el;
    for (uint32_t i = 0; i < x->n; i++) {
        const char *p = m->rest[i];
        if (p && *p && mrs_doc_find(array, p, (uint32_t)strcspn(p, "."), &el)) {
            return true;
        }
    }
    return false;
}

static enum mrs_status make(struct mrs_unique *u, struct unique_keys_index *x, struct unique_keys_making *m,
                            struct mrs_view d, struct mrs_err *e);

/* Makes the keys for one element of the array at which m stopped. */
static enum mrs_status
make_one(struct mrs_unique *u, struct unique_keys_index *x, const struct unique_keys_making *m, struct mrs_val v,
         struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct unique_keys_making one = *m;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < x->n; i++) {
        if (one.rest[i] && !*one.rest[i]) {
            one.rest[i] = NULL;
            s = hash_value(u, v, &one.value[i], e);
        }
    }
    return s == MRS_OK ? make(u, x, &one, v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc(), e) : s;
}

/* Recursive, once for each array on a path: the depth is bounded by the path, not by the document. */
static enum mrs_status
make(struct mrs_unique *u, struct unique_keys_index *x, struct unique_keys_making *m, struct mrs_view d,
     struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val array;
    enum mrs_status s = settle(u, x, m, d, &array, e);
    if (s != MRS_OK || array.type == MRS_MISSING) {
        return s == MRS_OK ? emit(u, x, m, e) : s;
    }
    if (by_position(x, m, mrs_val_view(array))) {
        leave(u, x, "it holds positions in arrays");
        return MRS_OK;
    }
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(array));
    if (mrs_walk_next(&w, &el) != 1) {
        return make_one(u, x, m, (struct mrs_val){NULL, 0, MRS_UNDEFINED}, e); /* like an empty array on a server */
    }
    do {
        s = make_one(u, x, m, el.v, e);
    } while (s == MRS_OK && !x->info.left && mrs_walk_next(&w, &el) == 1);
    return s;
}

static enum mrs_status
is_in(struct mrs_unique *u, struct unique_keys_index *x, struct mrs_view doc, bool *yes, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_err why;
    struct mrs_eval ev = {.arena = &u->scratch, .root = doc, .err = &why};
    *yes = true;
    if (!x->filter) {
        return MRS_OK;
    }
    mrs_err_clear(&why);
    enum mrs_status s = mrs_query_match(x->filter, &ev, yes);
    if (s == MRS_FAIL) {
        leave(u, x, why.msg);
        *yes = false;
        return MRS_OK;
    }
    if (s != MRS_OK && e) {
        *e = why;
    }
    return s;
}

enum mrs_status
mrs_unique_keys(struct mrs_unique *u, struct mrs_view doc, const struct mrs_unique_put *put, uint32_t *bad,
                struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    enum mrs_status s = MRS_OK;
    u->put = put;
    u->bad = bad;
    mrs_arena_reset(&u->scratch);
    for (uint32_t i = 0; s == MRS_OK && i < u->n; i++) {
        struct unique_keys_index *x = &u->index[i];
        struct unique_keys_making m = {.missing = 0};
        bool yes = false;
        memcpy(m.rest, x->path, sizeof m.rest);
        s = x->info.left ? MRS_OK : is_in(u, x, doc, &yes, e);
        s = s == MRS_OK && yes ? make(u, x, &m, doc, e) : s;
    }
    return s;
}
