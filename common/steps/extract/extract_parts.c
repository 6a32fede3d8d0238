/* SPDX-License-Identifier: Apache-2.0 */
/* extract_parts.c - finds the elements to extract, and which of them leave a copy.
 *
 * One walk along the path, through documents and arrays, finds every list (a non-empty array, or a subdocument), the
 * key of the parent, and the places of child_refs and count. Nothing is copied: an element is a view into the source.
 * The recursion follows the names of the path. This file does not know what an element becomes. */
#include "extract.h"
#include "mongoreshape/context.h"
#include <stdlib.h>

/* ---- buffers of a thread ---- */
#define N_BUFS 17
static void
bufs(struct ext_work *w, struct mrs_buf *list[N_BUFS])
{
    struct mrs_buf *all[N_BUFS] = {&w->part, &w->list,    &w->index,  &w->child_group, &w->count_group, &w->listed,
                                   &w->keys, &w->rank,    &w->element, &w->shaped,     &w->value,       &w->source,
                                   &w->raw,  &w->ids,     &w->way,    &w->frame,       &w->elements};
    memcpy(list, all, sizeof all);
}

void
mrsi_extract_work_start(struct ext_work *w, struct mrs_mem *mem)
{
    struct mrs_buf *list[N_BUFS];
    if (!w->ready) {
        bufs(w, list);
        for (int i = 0; i < N_BUFS; i++) {
            mrs_buf_init(list[i], mem, EXT_BUF_MAX);
        }
        mrs_buf_init(&w->made, mem, UINT32_MAX);
        mrs_buf_init(&w->span, mem, UINT32_MAX);
        w->ready = true;
    }
    mrs_buf_reset(&w->part);
    mrs_buf_reset(&w->list);
    mrs_buf_reset(&w->index);
    mrs_buf_reset(&w->child_group);
    mrs_buf_reset(&w->count_group);
    mrs_buf_reset(&w->made);
    mrs_buf_reset(&w->span);
    mrs_buf_reset(&w->source);
    mrs_buf_reset(&w->ids);
    mrs_buf_reset(&w->way);
    w->elements_list = w->elements_around = EXT_NONE;
    w->elements_made = 0;
    w->at = w->n_pages = 0;
    w->later = false;
}

void
mrsi_extract_work_clear(struct mrs_ctx *c, void *work)
{
    struct ext_work *w = work;
    struct mrs_buf *list[N_BUFS];
    (void)c;
    if (!w->ready) {
        return;
    }
    bufs(w, list);
    for (int i = 0; i < N_BUFS; i++) {
        mrs_buf_clear(list[i]);
    }
    mrs_buf_clear(&w->made);
    mrs_buf_clear(&w->span);
    w->ready = false;
}

/* ---- the walk ---- */
static enum mrs_status
append(struct ext_doc *x, struct mrs_buf *b, const void *p, size_t n)
{
    mrs_buf_put(b, p, n);
    return mrsi_buf_end(b, b->n, x->c, "path");
}

static enum mrs_status
open_group(struct ext_walker *w, struct mrs_buf *groups)
{
    struct ext_work *k = w->x->w;
    struct mrsi_match_group g = {(uint32_t)(k->index.n / sizeof(uint32_t)), w->n_index,
                                 (uint32_t)(k->list.n / sizeof(struct ext_list)), 0};
    enum mrs_status st = append(w->x, &k->index, w->index, w->n_index * sizeof(uint32_t));
    return st == MRS_OK ? append(w->x, groups, &g, sizeof g) : st;
}

static void
count_in(struct mrs_buf *groups)
{
    if (groups->n) {
        ((struct mrsi_match_group *)(void *)(groups->p + groups->n))[-1].n_occ++;
    }
}

static enum mrs_status
enter(struct ext_walker *w, struct mrs_view d, uint32_t level)
{
    MRS_ASSERT(level <= w->x->s->path.n);
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrsi_extract *s = w->x->s;
    enum mrs_status st = MRS_OK;
    if (level) {
        w->way[level - 1] = mrs_view_val(d);
    }
    if (level == s->key_share) {
        struct mrs_path rest = {s->parent_key.part + level, s->parent_key.n - level, s->parent_key.text};
        w->key = mrs_path_get(&rest, d);
    }
    if (s->no_child != EXT_NONE && level == s->child_share) {
        st = open_group(w, &w->x->w->child_group);
    }
    if (st == MRS_OK && s->no_count != EXT_NONE && level == s->count_share) {
        st = open_group(w, &w->x->w->count_group);
    }
    return st;
}

static enum mrs_status
check_key(const struct ext_walker *w)
{
    const struct mrsi_extract *s = w->x->s;
    if (w->key.type == MRS_MISSING && (s->to_parent || s->pages.present)) {
        return mrsi_step_refuse(w->x->c, "parent_key", "the document has no %s", s->parent_key.text);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_extract_add(struct ext_walker *w, struct ext_part p)
{
    MRS_ASSERT(w->n_index <= EXT_INDEX_MAX);
    struct ext_doc *x = w->x;
    MRS_TRY(check_key(w));
    p.key = w->key;
    p.index = (uint32_t)(x->w->index.n / sizeof(uint32_t));
    p.n_index = w->n_index;
    p.list = (uint32_t)(x->w->list.n / sizeof(struct ext_list));
    p.out = true;
    enum mrs_status st = append(x, &x->w->index, w->index, w->n_index * sizeof(uint32_t));
    return st == MRS_OK ? append(x, &x->w->part, &p, sizeof p) : st;
}

/* The elements of an array. */
static enum mrs_status
add_elements(struct ext_walker *w, struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_ARRAY);
    uint32_t slot = w->n_index++;
    enum mrs_status st = MRS_OK;
    struct mrs_walk it;
    struct mrs_elem e;
    mrs_walk_init(&it, mrs_val_view(v));
    for (uint32_t i = 0; st == MRS_OK && mrs_walk_next(&it, &e) == 1; i++) {
        w->index[slot] = i;
        st = mrsi_extract_add(w, (struct ext_part){.v = e.v, .around = EXT_NONE});
    }
    w->n_index = slot;
    return st;
}

/* The fields of a document. */
static enum mrs_status
add_fields(struct ext_walker *w, struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_DOCUMENT);
    enum mrs_status st = MRS_OK;
    struct mrs_walk it;
    struct mrs_elem e;
    mrs_walk_init(&it, mrs_val_view(v));
    while (st == MRS_OK && mrs_walk_next(&it, &e) == 1) {
        struct ext_part p = {.v = e.v, .around = EXT_NONE, .name = e.name, .name_len = e.name_len};
        st = mrsi_extract_add(w, p);
    }
    return st;
}

/* Stores all parts of v. */
static enum mrs_status
store_parts(struct ext_walker *w, struct mrs_val v)
{
    return w->x->s->nested.present    ? mrsi_extract_nested(w, v)
           : w->x->s->map           ? add_fields(w, v)
           : v.type == MRS_DOCUMENT ? mrsi_extract_add(w, (struct ext_part){.v = v, .around = EXT_NONE})
                                    : add_elements(w, v);
}

static enum mrs_status
add_list(struct ext_walker *w, struct mrs_val v)
{
    struct ext_doc *x = w->x;
    struct ext_work *k = x->w;
    bool stores = ext_stores(x->s), array = v.type == MRS_ARRAY;
    struct ext_list l = {.v = v, .key = w->key, .part = ext_n_parts(k), .array = array};
    enum mrs_status st = stores ? store_parts(w, v) : MRS_OK;
    l.n_part = stores ? ext_n_parts(k) - l.part : array || x->s->map ? mrs_val_count(v) : 1;
    if (st != MRS_OK || !l.n_part) {
        return st;
    }
    if (!stores) {
        l.index = (uint32_t)(k->index.n / sizeof(uint32_t));
        l.n_index = w->n_index + array;
        w->index[w->n_index] = 0;
        st = check_key(w);
        MRS_THEN(st, append(x, &k->index, w->index, l.n_index * sizeof(uint32_t)));
    }
    count_in(&k->child_group);
    count_in(&k->count_group);
    if (st == MRS_OK && x->s->path.n > 1) {
        st = append(x, &k->way, w->way, (x->s->path.n - 1) * sizeof *w->way);
    }
    return st == MRS_OK ? append(x, &k->list, &l, sizeof l) : st;
}

/* Does the value at the path have parts? If not, it stays, in some cases with a remark. */
static bool
has_parts(struct ext_doc *x, struct mrs_val v)
{
    bool list = v.type == MRS_ARRAY, doc = v.type == MRS_DOCUMENT;
    enum ext_remark what = list ? EXT_ARRAY : doc ? EXT_EMPTY : mrs_is_nullish(v) ? EXT_NULL : EXT_SCALAR;
    if (x->s->map ? doc && v.n > 5 : doc || list) {
        return true;
    }
    if (x->s->map || what == EXT_SCALAR) {
        x->c->remarks |= 1ull << what;
    }
    return false;
}

static enum mrs_status
walk(struct ext_walker *w, struct mrs_view d, uint32_t level)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrs_path *p = &w->x->s->path;
    struct mrs_walk it;
    struct mrs_elem e;
    enum mrs_status st = enter(w, d, level);
    if (st != MRS_OK || !mrs_doc_find(d, p->part[level].name, p->part[level].len, &e)) {
        return st;
    }
    if (level + 1 == p->n) {
        return has_parts(w->x, e.v) ? add_list(w, e.v) : MRS_OK;
    }
    if (e.v.type == MRS_DOCUMENT) {
        return walk(w, mrs_val_view(e.v), level + 1);
    }
    if (e.v.type != MRS_ARRAY) {
        return MRS_OK;
    }
    uint32_t slot = w->n_index++;
    mrs_walk_init(&it, mrs_val_view(e.v));
    for (uint32_t i = 0; st == MRS_OK && mrs_walk_next(&it, &e) == 1; i++) {
        w->index[slot] = i;
        if (e.v.type == MRS_DOCUMENT) {
            st = walk(w, mrs_val_view(e.v), level + 1);
        }
    }
    w->n_index = slot;
    return st;
}

/* The list form: the named fields, in document order, are one element. */
static enum mrs_status
walk_listed(struct ext_walker *w)
{
    struct ext_doc *x = w->x;
    const struct mrsi_paths *l = &x->s->listed;
    struct mrs_buf *b = &x->w->listed;
    struct mrs_walk it;
    struct mrs_elem e;
    enum mrs_status st = enter(w, x->doc, 0);
    mrs_buf_reset(b);
    mrsi_put_open(b);
    mrs_walk_init(&it, x->doc);
    while (mrs_walk_next(&it, &e) == 1) {
        for (uint32_t i = 0; i < l->n; i++) {
            if (mrs_name_is(&e, l->path[i].part[0].name, l->path[i].part[0].len)) {
                mrs_buf_put(b, e.p, (size_t)(e.v.p + e.v.n - e.p));
            }
        }
    }
    mrsi_put_close(b, 0);
    MRS_THEN(st, mrsi_buf_end(b, 0, x->c, "path"));
    return st == MRS_OK && b->n > 5 ? add_list(w, mrs_view_val(mrsi_buf_view(b, 0))) : st;
}

/* ---- copies that stay ---- */
struct rank {
    const uint8_t *key;
    size_t off; /* offset of the key, while keys are still being written */
    uint32_t n, part;
};

static int
by_key(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    int c = memcmp(x->key, y->key, x->n < y->n ? x->n : y->n);
    if (c == 0) {
        c = (x->n > y->n) - (x->n < y->n);
    }
    return c ? c : (x->part > y->part) - (x->part < y->part);
}

/* An element as the sort sees it: a value that is not a document is under its field name. */
static enum mrs_status
sortable(struct ext_doc *x, struct mrs_val v, struct mrs_view *out)
{
    struct mrs_buf *b = &x->w->element;
    if (v.type == MRS_DOCUMENT) {
        *out = mrs_val_view(v);
        return MRS_OK;
    }
    mrs_buf_reset(b);
    mrsi_put_open(b);
    mrsi_put_elem(b, x->s->value, (uint32_t)strlen(x->s->value), v);
    mrsi_put_close(b, 0);
    *out = mrsi_buf_view(b, 0);
    return mrsi_buf_end(b, 0, x->c, "leave");
}

/* Sorts a list by its keys; result in x->w->rank. */
static enum mrs_status
sorted(struct ext_doc *x, const struct ext_list *l)
{
    MRS_ASSERT(l->n_part > 0);
    struct mrs_buf *keys = &x->w->keys, *rank = &x->w->rank;
    mrs_buf_reset(keys);
    mrs_buf_reset(rank);
    for (uint32_t i = 0; i < l->n_part; i++) {
        struct mrs_view d;
        size_t at = keys->n;
        enum mrs_status st = sortable(x, ext_parts(x->w)[l->part + i].v, &d);
        if (st == MRS_OK && x->s->leave.sort) {
            st = mrsi_step_sort_key(x->c, x->s->leave.sort, d, keys, "leave");
        }
        struct rank r = {NULL, at, (uint32_t)(keys->n - at), l->part + i};
        MRS_THEN(st, append(x, rank, &r, sizeof r));
        if (st != MRS_OK) {
            return st;
        }
    }
    struct rank *r = (struct rank *)(void *)rank->p;
    for (uint32_t i = 0; i < l->n_part; i++) {
        r[i].key = keys->n ? keys->p + r[i].off : mrs_empty_bytes;
    }
    if (x->s->leave.sort) {
        qsort(r, l->n_part, sizeof *r, by_key);
    }
    return MRS_OK;
}

static enum mrs_status
choose(struct ext_doc *x, const struct ext_list *l)
{
    const struct mrsi_extract *s = x->s;
    enum mrs_status st = sorted(x, l);
    const struct rank *r = (const struct rank *)(const void *)x->w->rank.p;
    uint32_t n = s->leave.limited && s->leave.limit < l->n_part ? (uint32_t)s->leave.limit : l->n_part;
    for (uint32_t i = 0; i < n && st == MRS_OK; i++) {
        struct ext_part *p = &ext_parts(x->w)[r[i].part];
        p->keeps_copy = true;
        p->out = !s->rest;
        p->rank = i;
    }
    return st;
}

enum mrs_status
mrsi_extract_find(struct ext_doc *x)
{
    struct ext_walker w; /* large; initialized during the walk */
    w.x = x;
    w.key = mrs_missing();
    w.n_index = 0;
    enum mrs_status st = x->s->listed.n ? walk_listed(&w) : walk(&w, x->doc, 0);
    if (!x->s->leave.present) {
        return st;
    }
    uint32_t n = (uint32_t)(x->w->list.n / sizeof(struct ext_list));
    for (uint32_t i = 0; i < n && st == MRS_OK; i++) {
        st = choose(x, &ext_lists(x->w)[i]);
    }
    return st;
}
