/* SPDX-License-Identifier: Apache-2.0 */
/* compare_meta.c - compares two metadata files, as far as a server would notice differences.
 *
 * Options and the fields of an index are matched by name, indexes by theirs; values are compared as a server does, so 1
 * equals 1.0. The uuid, the collection's own name, an index's `ns` (older servers) and the `_id` index that every
 * collection has are ignored. */
#include "compare_dumps.h"
#include "mongoreshape/value.h"
#include <stdlib.h>

enum { LINES_MOST = 100, LINE = 700 };

struct compare_meta_named {
    const char *name;
    uint32_t n;
    struct mrs_val v;
};
struct compare_meta_list {
    struct compare_meta_named *at;
    size_t n;
};
struct meta {
    struct mrs_arena *a;
    struct mrs_mem *mem;
    const char **line;
    uint64_t n;
    bool bad; /* out of memory */
};

static int
by_name(const void *pa, const void *pb)
{
    const struct compare_meta_named *a = pa, *b = pb;
    int c = memcmp(a->name, b->name, a->n < b->n ? a->n : b->n);
    return c ? c : a->n != b->n ? (a->n < b->n ? -1 : 1) : a->v.p < b->v.p ? -1 : a->v.p > b->v.p;
}

static bool
is_one_of(const struct mrs_elem *e, const char *const *names)
{
    for (; *names; names++) {
        if (mrs_name_is(e, *names, (uint32_t)strlen(*names))) {
            return true;
        }
    }
    return false;
}

/* The index that a server creates by itself. */
static bool
is_id_index(struct mrs_val index)
{
    static const char *const plain[] = {"v", "key", "name", "ns", NULL};
    struct mrs_walk w;
    struct mrs_elem e;
    for (mrs_walk_init(&w, mrs_val_view(index)); mrs_walk_next(&w, &e) > 0;) {
        if (!is_one_of(&e, plain)) {
            return false;
        }
    }
    struct mrs_val key = mrs_doc_get(mrs_val_view(index), "key");
    int64_t one = 0;
    mrs_walk_init(&w, key.type == MRS_DOCUMENT ? mrs_val_view(key) : mrs_empty_doc());
    bool first = mrs_walk_next(&w, &e) > 0 && mrs_name_is(&e, "_id", 3) && mrs_val_integral(e.v, &one) && one == 1;
    return first && mrs_walk_next(&w, &e) == 0;
}

/* The fields of a document, or the indexes of an array, by name. */
static struct compare_meta_list
listed(struct meta *m, struct mrs_val v, const char *const *ignored, bool indexes)
{
    struct compare_meta_list l = {NULL, 0};
    struct mrs_walk w;
    struct mrs_elem e;
    size_t n = 0;
    struct mrs_view d = v.type == MRS_DOCUMENT || v.type == MRS_ARRAY ? mrs_val_view(v) : mrs_empty_doc();
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) > 0;) {
        n++;
    }
    l.at = mrs_alloc(m->mem, (n + 1) * sizeof *l.at);
    m->bad = m->bad || !l.at;
    for (mrs_walk_init(&w, d); l.at && mrs_walk_next(&w, &e) > 0;) {
        struct compare_meta_named x = {e.name, e.name_len, e.v};
        if (indexes && e.v.type == MRS_DOCUMENT) {
            struct mrs_val name = mrs_doc_get(mrs_val_view(e.v), "name");
            if (is_id_index(e.v)) {
                continue;
            }
            if (name.type == MRS_STRING) {
                x.name = mrs_val_text(name, &x.n);
            }
        }
        if (indexes || !is_one_of(&e, ignored)) {
            l.at[l.n++] = x;
        }
    }
    if (l.n) {
        qsort(l.at, l.n, sizeof *l.at, by_name);
    }
    return l;
}

static void
report(struct meta *m, const char *what, const struct compare_meta_named *x, struct mrs_val a, struct mrs_val b)
{
    char text[LINE];
    if (m->n++ >= LINES_MOST || m->bad) {
        return;
    }
    const struct mrs_val v[2] = {a, b};
    const char *side[2];
    int n = x->n < 200 ? (int)x->n : 200;
    m->bad = !mrsi_compare_texts(m->a, v, false, side);
    if (!m->bad) {
        snprintf(text, sizeof text, "%s%.*s: %s in A, %s in B", what, n, x->name, side[0] ? side[0] : "nothing",
                 side[1] ? side[1] : "nothing");
        m->line[m->n - 1] = mrs_arena_copy(m->a, text, strlen(text) + 1);
        m->bad = !m->line[m->n - 1];
    }
}

static void
merge(struct meta *m, const char *what, const struct compare_meta_list l[2],
      void (*both)(struct meta *m, const char *what, const struct compare_meta_named *a,
                   const struct compare_meta_named *b))
{
    size_t i = 0, k = 0;
    while (!m->bad && (i < l[0].n || k < l[1].n)) {
        struct compare_meta_named *a = i < l[0].n ? &l[0].at[i] : NULL, *b = k < l[1].n ? &l[1].at[k] : NULL;
        int c = !a ? 1 : !b ? -1 : memcmp(a->name, b->name, a->n < b->n ? a->n : b->n);
        c = c || !a || !b ? c : a->n != b->n ? (a->n < b->n ? -1 : 1) : 0;
        if (c == 0) {
            both(m, what, a, b);
        } else {
            report(m, what, c < 0 ? a : b, c < 0 ? a->v : mrs_missing(), c > 0 ? b->v : mrs_missing());
        }
        i += c <= 0;
        k += c >= 0;
    }
}

static void
same_field(struct meta *m, const char *what, const struct compare_meta_named *a, const struct compare_meta_named *b)
{
    if (mrs_compare(a->v, b->v) != 0) {
        report(m, what, a, a->v, b->v);
    }
}

static void
fields(struct meta *m, const char *what, const struct mrs_val v[2], const char *const *ignored)
{
    struct compare_meta_list l[2] = {listed(m, v[0], ignored, false), listed(m, v[1], ignored, false)};
    merge(m, what, l, same_field);
    mrs_free(m->mem, l[0].at);
    mrs_free(m->mem, l[1].at);
}

static void
same_index(struct meta *m, const char *what, const struct compare_meta_named *a, const struct compare_meta_named *b)
{
    MRS_ASSERT(a->name && b->name);
    static const char *const ignored[] = {"ns", NULL};
    char prefix[300];
    struct mrs_val v[2] = {a->v, b->v};
    if (a->v.type != MRS_DOCUMENT || b->v.type != MRS_DOCUMENT) {
        same_field(m, what, a, b);
        return;
    }
    snprintf(prefix, sizeof prefix, "%s%.*s, ", what, a->n < 200 ? (int)a->n : 200, a->name);
    fields(m, prefix, v, ignored);
}

/* "collection" if the type is missing. */
static void
types(struct meta *m, struct mrs_view left, struct mrs_view right)
{
    MRS_ASSERT(mrs_view_is_framed(left) && mrs_view_is_framed(right));
    static const uint8_t usual[] = "\x0b\0\0\0collection";
    struct mrs_val v[2] = {mrs_doc_get(left, "type"), mrs_doc_get(right, "type")};
    struct compare_meta_named x = {"type", 4, v[0]};
    for (int i = 0; i < 2; i++) {
        v[i] = v[i].type == MRS_MISSING ? (struct mrs_val){usual, sizeof usual, MRS_STRING} : v[i];
    }
    if (mrs_compare(v[0], v[1]) != 0) {
        report(m, "", &x, v[0], v[1]);
    }
}

enum mrs_status
mrsi_compare_meta(struct mrs_arena *a, struct mrs_view left, struct mrs_view right, struct mrs_diff_coll *coll,
                  struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(left) && mrs_view_is_framed(right));
    static const char *const known[] = {"options", "indexes", "uuid", "collectionName", "type", NULL};
    static const char *const none[] = {NULL};
    struct mrs_view doc[2] = {left, right};
    struct mrs_val whole[2] = {mrs_view_val(left), mrs_view_val(right)}, options[2];
    struct meta m = {.a = a, .mem = a->mem};
    m.line = mrs_arena_alloc(a, (LINES_MOST + 1) * sizeof *m.line);
    MRS_TRY(mrs_allocated(m.line, LINES_MOST * sizeof *m.line, e));
    types(&m, left, right);
    for (int i = 0; i < 2; i++) {
        options[i] = mrs_doc_get(doc[i], "options");
    }
    fields(&m, "option ", options, none);
    struct compare_meta_list l[2];
    for (int i = 0; i < 2; i++) {
        l[i] = listed(&m, mrs_doc_get(doc[i], "indexes"), none, true);
    }
    merge(&m, "index ", l, same_index);
    mrs_free(m.mem, l[0].at);
    mrs_free(m.mem, l[1].at);
    fields(&m, "metadata field ", whole, known);
    coll->meta = m.line;
    coll->n_meta = (uint32_t)(m.n < LINES_MOST ? m.n : LINES_MOST);
    if (m.n > LINES_MOST && !m.bad) {
        char text[64];
        snprintf(text, sizeof text, "and %llu more", (unsigned long long)(m.n - LINES_MOST));
        m.line[coll->n_meta] = mrs_arena_copy(a, text, strlen(text) + 1);
        m.bad = !m.line[coll->n_meta++];
    }
    return m.bad ? mrs_err_memory(e, 1) : MRS_OK;
}
