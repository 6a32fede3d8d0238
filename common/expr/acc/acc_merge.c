/* SPDX-License-Identifier: Apache-2.0 */
/* acc_merge.c - $mergeObjects as an accumulator: of each name the last value, at the place of the first.
 *
 * Documents of one group mostly have the same names in the same order, so the item after the last one found is tried
 * before the hash table. A value that fits overwrites the old one in place; others are appended. */
#include "acc.h"

struct acc_merge_name {
    const char *p;
    uint32_t n;
};

static bool
same_name(const struct mrs_acc_state *s, uint32_t at, const void *arg)
{
    const struct acc_merge_name *name = arg;
    const struct mrsi_acc_item *i = &s->item[at];
    return i->lead_n == name->n && memcmp(s->bytes.p + i->lead_off, name->p, name->n) == 0;
}

static enum mrs_status
new_field(struct mrs_acc_state *s, const struct mrs_elem *el, uint64_t hash, struct mrs_err *e)
{
    MRS_ASSERT(s->n <= s->cap);
    MRS_TRY(mrsi_acc_room(s, e));
    s->item[s->n] = (struct mrsi_acc_item){.lead_off = (uint32_t)s->bytes.n,
                                           .lead_n = el->name_len,
                                           .off = (uint32_t)s->bytes.n + el->name_len + 1,
                                           .n = el->v.n,
                                           .type = el->v.type,
                                           .seq = hash};
    mrs_buf_put(&s->bytes, el->name, el->name_len + 1u);
    mrs_buf_put(&s->bytes, el->v.p, el->v.n);
    MRS_TRY(mrs_buf_status(&s->bytes, e));
    return mrsi_acc_hash_add(s, s->n++, e);
}

static enum mrs_status
replace(struct mrs_acc_state *s, uint32_t at, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(at < s->n);
    struct mrsi_acc_item *i = &s->item[at];
    if (v.n > i->n) {
        MRS_TRY(mrsi_acc_pack(s, 1, e));
        s->dead += i->n;
        i->off = (uint32_t)s->bytes.n;
        mrs_buf_take(&s->bytes, v.n);
        MRS_TRY(mrs_buf_status(&s->bytes, e));
    } else {
        s->dead += i->n - v.n;
    }
    if (v.n) {
        memcpy(s->bytes.p + i->off, v.p, v.n);
    }
    i->n = v.n;
    i->type = v.type;
    return MRS_OK;
}

static enum mrs_status
put_field(struct mrs_acc_state *s, const struct mrs_elem *el, uint32_t *next, struct mrs_err *e)
{
    MRS_ASSERT(*next <= s->n);
    struct acc_merge_name name = {el->name, el->name_len};
    uint32_t at = *next;
    uint64_t hash = 0;
    if (s->bytes.n - s->dead + el->v.n + el->name_len + 1u > s->ceiling) {
        return mrsi_acc_over(s, e);
    }
    MRS_TRY(mrsi_acc_reserve(s, s->bytes.n - s->dead + el->v.n + el->name_len + 1u, e));
    if (at >= s->n || !same_name(s, at, &name)) {
        hash = mrs_hash(el->name, el->name_len, 0).lo;
        at = mrsi_acc_hash_find(s, hash, same_name, &name);
    }
    *next = at + 1;
    return at < s->n ? replace(s, at, el->v, e) : new_field(s, el, hash, e);
}

enum mrs_status
mrsi_acc_feed_merge(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t next = 0;
    if (mrsi_is_nullish(v)) {
        return MRS_OK;
    }
    if (v.type != MRS_DOCUMENT) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_EXPR, "%s: only documents can be merged, not %s",
                           s->x->kind->row.name, mrs_type_name(v.type));
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &el) == 1) {
        MRS_TRY(put_field(s, &el, &next, e));
    }
    return MRS_OK;
}

enum mrs_status
mrsi_acc_value_merge(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    uint64_t size = 5;
    for (uint32_t i = 0; i < s->n; i++) {
        size += 2u + s->item[i].lead_n + s->item[i].n;
    }
    uint8_t *p = mrs_arena_alloc(ev->arena, size);
    if (!p) {
        return mrsi_eval_memory(ev, size);
    }
    uint8_t *at = p + 4;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct mrsi_acc_item *item = &s->item[i];
        *at++ = item->type;
        memcpy(at, s->bytes.p + item->lead_off, item->lead_n + 1u);
        at += item->lead_n + 1;
        if (item->n) {
            memcpy(at, s->bytes.p + item->off, item->n);
        }
        at += item->n;
    }
    *at = 0;
    mrs_put32(p, (uint32_t)size);
    *out = (struct mrs_val){p, (uint32_t)size, MRS_DOCUMENT};
    return MRS_OK;
}

void
mrsi_acc_save_merge(const struct mrs_acc_state *s, struct mrs_build *b)
{
    mrs_build_open(b, "merged", 6, MRS_DOCUMENT);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct mrsi_acc_item *item = &s->item[i];
        mrs_build_val(b, (const char *)s->bytes.p + item->lead_off, item->lead_n, mrsi_acc_item_value(s, item));
    }
    mrs_build_close(b);
}

enum mrs_status
mrsi_acc_load_merge(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    struct mrs_val v = mrs_doc_get(saved, "merged");
    return v.type == MRS_DOCUMENT ? mrsi_acc_feed_merge(s, v, e) : mrsi_acc_damaged(s, e);
}
