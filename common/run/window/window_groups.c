/* SPDX-License-Identifier: Apache-2.0 */
/* window_groups.c - group by group: what its members bring, and what the step gives for each of them. */
#include "window_pass.h"

enum { AHEAD = 8 }; /* members whose bytes are asked for before they are examined */

struct window_hand {
    struct mrsi_window_run *r;
    struct mrsi_worker *w;
    struct mrsi_file_array bytes, at; /* of a group that was sorted; at: members, with the
                                  place in bytes for a prefix */
    uint64_t off;               /* bytes of it up to here */
    const struct mrsi_window_member *member; /* n of them: the group in hand */
    uint64_t n;
    uint64_t list;              /* groups in memory that have been worked on */
    const uint8_t *base;        /* NULL, or what `prefix` of a member counts from */
    struct mrs_hash128 key;
    uint64_t alike;             /* of the group in hand */
    uint64_t next;              /* its member that something is given for */
};

/* ---- gathering a group ---- */
static enum mrs_status
add(struct window_hand *x, const struct mrsi_sorted *rec, struct mrs_err *e)
{
    struct mrsi_window_member at = {.prefix = x->off};
    const uint32_t head = sizeof x->key, tail = sizeof at.ordinal;
    if (rec->key_len < head || rec->n < tail || !mrsi_savepoint_is_doc(rec->p + tail, rec->n - tail)) {
        return mrsi_state_damaged("what documents bring to their group", e); /* only of another run */
    }
    memcpy(&at.ordinal, rec->p, tail);
    at.order = rec->key_len - head;
    at.shape = rec->n - tail;
    x->off += (uint64_t)at.order + at.shape;
    enum mrs_status s = mrsi_file_array_put_n(&x->bytes, rec->key + head, at.order, e);
    MRS_THEN(s, mrsi_file_array_put_n(&x->bytes, rec->p + tail, at.shape, e));
    if (s == MRS_OK && at.ordinal >= x->r->bits.n) {
        s = mrsi_state_damaged("what documents bring to their group", e);
    }
    return s == MRS_OK ? mrsi_file_array_put(&x->at, &at, e) : s;
}

/* The members of the next group that the sorter has. END: there is none. */
static enum mrs_status
gather(struct window_hand *x, struct mrs_err *e)
{
    struct mrsi_sorter *in = &x->r->members;
    struct mrsi_sorted rec;
    bool any = false;
    mrsi_file_array_reset(&x->bytes);
    mrsi_file_array_reset(&x->at);
    x->off = 0;
    enum mrs_status s;
    while ((s = mrsi_sorter_next(in, &rec, e)) == MRS_OK) {
        if (any && memcmp(rec.key, &x->key, sizeof x->key) != 0) {
            mrsi_sorter_unread(in);
            break;
        }
        s = add(x, &rec, e);
        if (s != MRS_OK) {
            return s;
        }
        memcpy(&x->key, rec.key, sizeof x->key);
        any = true;
    }
    s = s == MRS_END && any ? MRS_OK : s;
    MRS_THEN(s, mrsi_file_array_end(&x->bytes, e));
    MRS_THEN(s, mrsi_file_array_end(&x->at, e));
    x->member = (const struct mrsi_window_member *)(const void *)x->at.p;
    x->n = x->at.n;
    x->base = x->bytes.p;
    return s;
}

static enum mrs_status
next_group(struct window_hand *x, struct mrs_err *e)
{
    MRS_ASSERT(x->list <= x->r->lists.n_groups);
    struct mrsi_window_lists *l = &x->r->lists;
    if (!l->on) {
        return gather(x, e);
    }
    if (x->list == l->n_groups) {
        return MRS_END;
    }
    x->member = mrsi_window_list(l, x->list++, &x->n);
    return MRS_OK;
}

/* ---- for the step ---- */
static struct mrs_window_member
member_at(const struct mrs_window_group *g, uint64_t i)
{
    MRS_ASSERT(i < g->n);
    const struct window_hand *x = g->impl;
    const struct mrsi_window_member *m = &x->member[i];
    const uint8_t *p = x->base ? x->base + m->prefix : m->p;
    return (struct mrs_window_member){{p, m->order}, {p + m->order, m->shape}};
}

static enum mrs_status
give_alike(void *arg, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct window_hand *x = arg;
    x->alike = x->r->given.n;
    enum mrs_status s = mrsi_file_array_put_n(&x->r->given, doc.p, doc.n, e);
    mrs_arena_reset(&x->w->arena);
    return s;
}

static enum mrs_status
give_member(void *arg, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct window_hand *x = arg;
    MRS_ASSERT(x->next < x->n);
    const struct mrsi_window_member *m = &x->member[x->next++];
    uint64_t *place = x->r->place.p;
    if (x->next + AHEAD < x->n) {
        __builtin_prefetch(x->base ? NULL : m[AHEAD + 1].p);
        __builtin_prefetch(&place[m[AHEAD + 1].ordinal], 1);
    }
    place[m->ordinal] = x->r->given.n + 1;
    enum mrs_status s = mrsi_file_array_put_n(&x->r->given, &x->alike, sizeof x->alike, e);
    MRS_THEN(s, mrsi_file_array_put_n(&x->r->given, doc.p, doc.n, e));
    mrs_arena_reset(&x->w->arena);
    return s == MRS_OK ? mrsi_interrupted(x->r->en, e) : s;
}

static enum mrs_status
one_group(struct window_hand *x, void *work, struct mrs_err *e)
{
    const struct mrsi_window_run *r = x->r;
    struct mrs_window_group g = {x->n, member_at, x};
    struct mrs_window_give give = {give_alike, give_member, x};
    x->alike = MRSI_WINDOW_ALONE;
    x->next = 0;
    mrsi_row(x->w, r->step, 0)->groups++;
    mrs_arena_reset(&x->w->arena);
    mrs_err_clear(&x->w->err);
    enum mrs_status s = r->ops->group(r->st->state, &x->w->ctx, work, &g, &give);
    MRS_ASSERT(s != MRS_OK || x->next == x->n);
    return s == MRS_OK ? s : mrsi_kernel_failed(x->w, s, e);
}

enum mrs_status
mrsi_window_compute(struct mrsi_window_run *r, struct mrs_err *e)
{
    MRS_ASSERT(r->stage == MRSI_WINDOW_COMPUTE);
    struct window_hand x = {.r = r, .w = &r->en->worker[0]};
    void *work = mrsi_work_of(x.w, r->step, e);
    if (!work && r->st->type->work_size) {
        return MRS_DEAD;
    }
    mrsi_file_array_init(&x.bytes, r->en, 1, r->en->memory / 8);
    mrsi_file_array_init(&x.at, r->en, sizeof(struct mrsi_window_member), r->en->memory / 16);
    enum mrs_status s = r->lists.on ? mrsi_window_lists_end(&r->lists, e) : mrsi_sorter_rewind(&r->members, e);
    while (s == MRS_OK && (s = next_group(&x, e)) == MRS_OK) {
        s = one_group(&x, work, e);
    }
    mrsi_file_array_clear(&x.bytes);
    mrsi_file_array_clear(&x.at);
    return s == MRS_END ? MRS_OK : s;
}
