/* SPDX-License-Identifier: Apache-2.0 */
/* sort.c - sort keys of documents, with the meaning of `$sort`.
 *
 * The sort value of an array is its least element (ascending) or its greatest (descending). If several keys go through
 * one array, they are taken from the same element: all tuples are tried and the first in the order wins. Keys through
 * different arrays have no such tuple and are refused. Recursion follows the parts of the paths. Only the winning tuple
 * is written as bytes. */
#include "support.h"
#include "mongoreshape/path.h"
#include "mongoreshape/value.h"

enum { KEYS_MAX = 32, PARTS_MAX = 200 };

struct sort_part {
    const char *name;
    uint32_t len;
};

struct sort_key {
    struct sort_part *part;
    uint32_t n;
    bool down;
    const char *text;
};

struct mrs_sort {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    struct sort_key key[KEYS_MAX];
    uint32_t n;
};

/* ---- reading the specification ---- */

static enum mrs_status
read_path(struct mrs_sort *s, struct sort_key *k, const struct mrs_elem *el, struct mrs_err *e)
{
    char *own = mrs_arena_copy(&s->arena, el->name, el->name_len + 1u);
    k->n = 1;
    for (uint32_t i = 0; i < el->name_len; i++) {
        k->n += el->name[i] == '.';
    }
    if (k->n > PARTS_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "the path '%.100s' has more than %d parts",
                           el->name, PARTS_MAX);
    }
    k->part = own ? mrs_arena_alloc(&s->arena, k->n * sizeof *k->part) : NULL;
    MRS_TRY(mrs_allocated(k->part, el->name_len, e));
    k->text = own;
    for (uint32_t i = 0; i < k->n; i++) {
        const char *dot = strchr(own, '.');
        uint32_t len = dot ? (uint32_t)(dot - own) : (uint32_t)strlen(own);
        if (!len || (own[0] == '$' && !(i && mrs_name_is_dbref(own, len)))) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "'%.100s' is no path to sort by: %s",
                               el->name,
                               len ? "a part begins with a dollar sign" : "a part is empty");
        }
        k->part[i] = (struct sort_part){own, len};
        own += len + 1;
    }
    return MRS_OK;
}

/* 1 or -1; 0: invalid. Not strict: doubles are truncated, decimals rounded half to even, as the server does for
 * `$sort`. */
static int
direction(struct mrs_val v, bool strict)
{
    int64_t i;
    if (!strict && mrs_is_number(v)) {
        return mrsi_coerce_i64(v, &i) && (i == 1 || i == -1) ? (int)i : 0;
    }
    return mrs_val_integral(v, &i) && (i == 1 || i == -1) ? (int)i : 0;
}

static enum mrs_status
read_keys(struct mrs_sort *s, struct mrs_view spec, bool strict, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, spec);
    while (mrs_walk_next(&w, &el) > 0) {
        if (s->n == KEYS_MAX) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "more than %d keys to sort by", KEYS_MAX);
        }
        int way = direction(el.v, strict);
        if (!way) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "the direction of '%.100s' must be 1 or -1",
                               el.name);
        }
        for (uint32_t i = 0; i < s->n; i++) {
            if (strcmp(s->key[i].text, el.name) == 0) {
                return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN,
                                   "'%.100s' occurs twice among the keys to sort by", el.name);
            }
        }
        s->key[s->n].down = way < 0;
        MRS_TRY(read_path(s, &s->key[s->n], &el, e));
        s->n++;
    }
    return s->n ? MRS_OK : mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "there is no key to sort by");
}

enum mrs_status
mrs_sort_compile(const struct mrs_expr_env *env, struct mrs_view spec, bool strict,
                 struct mrs_sort **out, struct mrs_err *e)
{
    MRS_ASSERT(env->mem);
    *out = NULL;
    struct mrs_sort *s = mrs_zalloc(env->mem, sizeof *s);
    MRS_TRY(mrs_allocated(s, sizeof *s, e));
    s->mem = env->mem;
    mrs_arena_init(&s->arena, env->mem);
    enum mrs_status status = read_keys(s, spec, strict, e);
    if (status != MRS_OK) {
        mrs_sort_free(s);
        return status;
    }
    *out = s;
    return MRS_OK;
}

void
mrs_sort_free(struct mrs_sort *s)
{
    if (s) {
        mrs_arena_clear(&s->arena);
        mrs_free(s->mem, s);
    }
}

void
mrs_sort_reads(const struct mrs_sort *s, void (*fn)(void *arg, const char *path), void *arg)
{
    MRS_ASSERT(s->n <= KEYS_MAX && fn);
    for (uint32_t i = 0; i < s->n; i++) {
        fn(arg, s->key[i].text);
    }
}

/* ---- the key of a document ---- */

/* The state of one tuple: the value of each key whose path has ended (at == n), or the position in its path. */
struct sort_state {
    uint32_t at[KEYS_MAX];
    struct mrs_val v[KEYS_MAX];
};

struct sort_search {
    const struct mrs_sort *sort;
    struct mrs_val *best; /* n values of the least tuple up to now */
    bool found;
    struct mrs_err *e;
};

/* Follows a path through documents; stops at its end, at an array or at a missing field. */
static struct mrs_val
follow(const struct sort_key *k, uint32_t *at, struct mrs_view d)
{
    MRS_ASSERT(*at < k->n);
    struct mrs_elem el;
    while (mrs_doc_find(d, k->part[*at].name, k->part[*at].len, &el)) {
        ++*at;
        if (*at == k->n || el.v.type == MRS_ARRAY) {
            return el.v;
        }
        if (el.v.type != MRS_DOCUMENT) {
            break;
        }
        d = mrs_val_view(el.v);
    }
    return mrs_missing();
}

static void
offer(struct sort_search *q, const struct sort_state *st)
{
    MRS_ASSERT(q->sort->n <= KEYS_MAX);
    const struct mrs_sort *s = q->sort;
    int order = q->found ? 0 : -1;
    for (uint32_t i = 0; order == 0 && i < s->n; i++) {
        order = mrs_compare(st->v[i], q->best[i]);
        order = s->key[i].down ? -order : order;
    }
    if (order < 0) {
        memcpy(q->best, st->v, s->n * sizeof *q->best);
        q->found = true;
    }
}

static enum mrs_status expand(struct sort_search *q, const struct sort_state *before, struct mrs_view d);

/* Makes tuples for each element of the array that the keys in `through` have reached. */
static enum mrs_status
expand_array(struct sort_search *q, const struct sort_state *st, struct mrs_val array, const bool *through)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    static const struct mrs_val undefined = {NULL, 0, MRS_UNDEFINED};
    const struct mrs_sort *s = q->sort;
    struct mrs_walk w;
    struct mrs_elem el;
    struct sort_state one = *st;
    mrs_walk_init(&w, mrs_val_view(array));
    bool empty = true, more = true;
    while (more) {
        more = mrs_walk_next(&w, &el) > 0;
        if (!more && !empty) {
            break;
        }
        bool inside = more && el.v.type == MRS_DOCUMENT;
        for (uint32_t i = 0; i < s->n; i++) {
            if (!through[i]) {
                continue;
            }
            one.at[i] = st->at[i];
            if (one.at[i] == s->key[i].n) {
                one.v[i] = more ? el.v : undefined;
            }
        }
        MRS_TRY(expand(q, &one, inside ? mrs_val_view(el.v) : mrs_empty_doc()));
        if (!more) {
            break;
        }
        empty = false;
    }
    return MRS_OK;
}

/* Makes all tuples that continue `before` in d. A finished key keeps its value. */
static enum mrs_status
expand(struct sort_search *q, const struct sort_state *before, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrs_sort *s = q->sort;
    struct sort_state st = *before;
    struct mrs_val array = mrs_missing();
    bool through[KEYS_MAX] = {false};
    for (uint32_t i = 0; i < s->n; i++) {
        if (st.at[i] == s->key[i].n) {
            continue;
        }
        struct mrs_val v = follow(&s->key[i], &st.at[i], d);
        if (v.type != MRS_ARRAY) {
            st.at[i] = s->key[i].n;
            st.v[i] = v.type == MRS_MISSING ? mrs_null() : v;
            continue;
        }
        if (array.type == MRS_ARRAY && array.p != v.p) {
            return mrs_err_set(q->e, MRS_FAIL, MRS_E_EXPR,
                               "cannot sort by '%.60s' and another key that go through two arrays",
                               s->key[i].text);
        }
        array = v;
        through[i] = true;
    }
    if (array.type != MRS_ARRAY) {
        offer(q, &st);
        return MRS_OK;
    }
    return expand_array(q, &st, array, through);
}

/* If no path leads to an array there is one tuple: true, and it is in best. */
static bool
is_single(const struct mrs_sort *s, struct mrs_view d, struct mrs_val *best)
{
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at = 0;
        struct mrs_val v = follow(&s->key[i], &at, d);
        if (v.type == MRS_ARRAY) {
            return false;
        }
        best[i] = v.type == MRS_MISSING ? mrs_null() : v;
    }
    return true;
}

enum mrs_status
mrs_sort_key(const struct mrs_sort *s, struct mrs_view d, struct mrs_buf *key, struct mrs_err *e)
{
    MRS_ASSERT(s->n > 0 && s->n <= KEYS_MAX);
    MRS_ASSERT(mrs_buf_is_sound(key));
    struct mrs_val best[KEYS_MAX];
    if (!is_single(s, d, best)) {
        const struct sort_state start = {0};
        struct sort_search q = {.sort = s, .best = best, .e = e};
        MRS_TRY(expand(&q, &start, d));
    }
    for (uint32_t i = 0; i < s->n; i++) {
        mrs_key_append(key, best[i], s->key[i].down);
    }
    return mrs_buf_status(key, e);
}
