/* SPDX-License-Identifier: Apache-2.0 */
/* links_decide.c - decides the fate of each child and the added references from tables of ordinals; reads no
 * documents. */
#include "links.h"
#include "mongoreshape/context.h"

static enum mrs_status
check_interrupt(const struct mrsi_link_run *l, uint64_t i, struct mrs_err *e)
{
    return i % (1u << 20) == 0 ? mrsi_interrupted(l->en, e) : MRS_OK;
}

/* Asks the step; OK, SKIP (w->err is cleared: the reason is computed again when the document is written). */
static enum mrs_status
judge(const struct mrsi_link_run *l, uint32_t side, const struct mrs_link_facts *f, unsigned *verdict,
      struct mrs_err *e)
{
    struct mrsi_worker *w = &l->en->worker[0];
    mrs_err_clear(&w->err);
    enum mrs_status s = l->ops->judge(l->st->state, &w->ctx, (int)side, f, verdict);
    if (s < MRS_SKIP) {
        return mrsi_kernel_failed(w, s, e);
    }
    mrs_err_clear(&w->err);
    return s;
}

/* ---- listed children, and parents whose references are all dangling ---- */
static void
note_listed(struct mrsi_link_run *l, uint64_t child, uint64_t parent)
{
    uint64_t *x = &mrsi_mapped_mem_u64(&l->listed)[child];
    if (!(*x & MRSI_LISTED_BY)) {
        *x |= parent + 1;
    } else if ((*x & MRSI_LISTED_BY) != parent + 1) {
        *x |= MRSI_LISTED_MORE;
    }
}

static enum mrs_status
notice(struct mrsi_link_run *l, uint32_t side, enum mrs_notice_kind kind, uint64_t ordinal, struct mrs_err *e)
{
    l->en->rows[l->en->row_of[l->step][side]].noticed[side][kind]++;
    return mrsi_notices_note(l->en, l->step, side, kind, ordinal, e);
}

static enum mrs_status
note_broken(struct mrsi_link_run *l, uint64_t parent, struct mrs_err *e)
{
    struct mrsi_fates *fates = &l->side[0].fates;
    struct mrs_link_facts f = {.dangling = true};
    unsigned verdict;
    if (mrsi_fates_get(fates, parent) & MRSI_LINK_BROKEN) {
        return MRS_OK;
    }
    mrsi_fates_add(fates, parent, MRSI_LINK_BROKEN);
    enum mrs_status s = notice(l, 0, MRS_NOTICE_DANGLING, parent, e);
    MRS_THEN(s, judge(l, 0, &f, &verdict, e));
    if (s == MRS_SKIP) {
        mrsi_fates_add(fates, parent, MRSI_FATE_REFUSED);
    }
    return s == MRS_SKIP ? MRS_OK : s;
}

static enum mrs_status
read_lists(struct mrsi_link_run *l, struct mrs_err *e)
{
    const uint64_t *owner = mrsi_file_array_u64(&l->side[0].owners), *named = mrsi_link_named(l, 0);
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < l->side[0].owners.n; i++) {
        uint64_t parent = owner[i] & MRSI_REF_OWNER;
        if (named[i]) {
            note_listed(l, named[i] - 1, parent);
        } else {
            s = note_broken(l, parent, e);
        }
        MRS_THEN(s, check_interrupt(l, i, e));
    }
    return s;
}

/* ---- children ---- */
void
mrsi_link_listed(const struct mrsi_link_run *l, uint64_t child, uint64_t one, struct mrs_link_facts *f)
{
    uint64_t x = mrsi_mapped_mem_u64(&l->listed)[child];
    f->listed = x & MRSI_LISTED_MORE ? 2 : (x & MRSI_LISTED_BY) != 0;
    f->elsewhere = f->shape == MRS_LINK_ONE && f->listed && (f->listed > 1 || (x & MRSI_LISTED_BY) != one);
}

/* The facts on a child whose references are [i, end) of the table; returns end. */
static uint64_t
facts_of(const struct mrsi_link_run *l, uint64_t child, uint64_t i, struct mrs_link_facts *f, uint64_t *one)
{
    const uint64_t *owner = mrsi_file_array_u64(&l->side[1].owners), *named = mrsi_link_named(l, 1);
    memset(f, 0, sizeof *f);
    *one = 0;
    for (; i < l->side[1].owners.n && (owner[i] & MRSI_REF_OWNER) == child; i++) {
        f->shape = owner[i] & MRSI_REF_LIST ? MRS_LINK_LIST : MRS_LINK_ONE;
        f->names = f->names || named[i];
        f->dangling = f->dangling || (!named[i] && !(owner[i] & MRSI_REF_NONE));
        *one = named[i];
    }
    mrsi_link_listed(l, child, *one, f);
    return i;
}

static enum mrs_status
judge_child(struct mrsi_link_run *l, uint64_t child, const struct mrs_link_facts *f, uint64_t one, struct mrs_err *e)
{
    struct mrsi_fates *fates = &l->side[1].fates;
    uint64_t *listed = &mrsi_mapped_mem_u64(&l->listed)[child];
    unsigned verdict = 0;
    int side;
    if ((mrsi_fates_get(fates, child) & MRSI_FATE_OUTSIDE) || mrsi_link_refused(l, 1, child)) {
        return MRS_OK;
    }
    enum mrs_status s = judge(l, 1, f, &verdict, e);
    if (s == MRS_OK && (mrsi_fates_get(fates, child) & MRSI_LINK_SORTLESS) && (f->names || f->listed)) {
        s = MRS_SKIP;
    }
    if (s == MRS_OK && (verdict & MRS_LINK_ORPHAN)) {
        enum mrs_fate fate = l->ops->orphan(l->st->state, &side);
        s = fate == MRS_FATE_REFUSED ? MRS_SKIP : MRS_OK;
        *listed |= fate == MRS_FATE_STAYS ? 0 : MRSI_LISTED_ORPHAN;
    }
    if (s == MRS_SKIP) {
        mrsi_fates_add(fates, child, MRSI_FATE_REFUSED);
        return MRS_OK;
    }
    mrsi_fates_add(fates, child, verdict & MRSI_FATE_USED);
    *listed |= f->shape == MRS_LINK_LIST ? MRSI_LISTED_LIST : 0;
    if (verdict & MRS_LINK_LEAVES) {
        mrsi_mapped_mem_u64(&l->parent)[child] = one;
    }
    return s;
}

/* Bits recorded for a child with any fate. */
static enum mrs_status
read_child(struct mrsi_link_run *l, uint64_t child, const struct mrs_link_facts *f, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (mrsi_fates_get(&l->side[1].fates, child) & MRSI_FATE_OUTSIDE) {
        return MRS_OK;
    }
    if (!f->names && !f->dangling && !f->listed && !l->self) {
        s = notice(l, 1, MRS_NOTICE_ORPHAN, child, e);
    }
    if (s == MRS_OK && f->dangling) {
        s = notice(l, 1, MRS_NOTICE_DANGLING, child, e);
    }
    if (s == MRS_OK && f->elsewhere) {
        s = notice(l, 1, MRS_NOTICE_DISAGREES, child, e);
    }
    return s;
}

static enum mrs_status
judge_children(struct mrsi_link_run *l, struct mrs_err *e)
{
    MRS_ASSERT(l->ops);
    enum mrs_status s = MRS_OK;
    uint64_t at = 0;
    for (uint64_t c = 0; s == MRS_OK && c < l->side[1].fates.n; c++) {
        struct mrs_link_facts f;
        uint64_t one;
        at = facts_of(l, c, at, &f, &one);
        s = read_child(l, c, &f, e);
        MRS_THEN(s, judge_child(l, c, &f, one, e));
        MRS_THEN(s, check_interrupt(l, c, e));
    }
    return s;
}

/* ---- added references ---- */
/* Does a reference of the other side make `to` of this side gain the document with the reference? */
static bool
is_gain(const struct mrsi_link_run *l, uint32_t side, uint64_t ref, uint64_t to)
{
    uint64_t owner = ref & MRSI_REF_OWNER;
    const uint64_t *listed = mrsi_mapped_mem_u64(&l->listed);
    if (side == 1) {
        return (listed[to] & MRSI_LISTED_LIST) && (mrsi_fates_get(&l->side[1].fates, to) & MRS_LINK_TAKES);
    }
    bool there = !(ref & MRSI_REF_LIST) && !(listed[owner] & MRSI_LISTED_MORE) &&
                 (listed[owner] & MRSI_LISTED_BY) == to + 1;
    return !there && (mrsi_fates_get(&l->side[1].fates, owner) & MRS_LINK_GAINS);
}

enum { SOON = 24 }; /* prefetch distance in references */

/* A counting sort: counts, sums, then places each document, in the order of the table. */
static enum mrs_status
find_gains(struct mrsi_link_run *l, uint32_t side, struct mrs_err *e)
{
    const struct mrsi_link_side *from = &l->side[!side];
    const uint64_t *owner = mrsi_file_array_u64(&from->owners), *named = mrsi_link_named(l, !side);
    struct mrsi_edges *x = &l->side[side].gains;
    uint64_t n = l->side[side].fates.n, total = 0;
    enum mrs_status s = mrsi_mapped_mem_new(&x->start, l->en, (n + 2) * 8, l->en->memory / 16, e);
    uint64_t *start = mrsi_mapped_mem_u64(&x->start);
    for (uint64_t i = 0; s == MRS_OK && i < from->owners.n; i++) {
        if (named[i] && is_gain(l, side, owner[i], named[i] - 1)) {
            start[named[i] + 1]++;
            total++;
        }
        s = check_interrupt(l, i, e);
    }
    for (uint64_t i = 0; s == MRS_OK && i < n; i++) {
        start[i + 2] += start[i + 1]; /* start[i + 1]: current end of the entries of i */
    }
    x->n = total;
    MRS_THEN(s, mrsi_mapped_mem_new(&x->to, l->en, total * 8, l->en->memory / 16, e));
    uint64_t *to = mrsi_mapped_mem_u64(&x->to);
    for (uint64_t i = 0; s == MRS_OK && total && i < from->owners.n; i++) {
        if (i + SOON < from->owners.n && named[i + SOON]) {
            __builtin_prefetch(&to[start[named[i + SOON]]], 1);
        }
        if (named[i] && is_gain(l, side, owner[i], named[i] - 1)) {
            to[start[named[i]]++] = owner[i] & MRSI_REF_OWNER;
        }
        s = check_interrupt(l, i, e);
    }
    return s;
}

enum mrs_status
mrsi_link_decide(struct mrsi_link_run *l, struct mrs_err *e)
{
    uint64_t n = l->side[1].fates.n;
    enum mrs_status s = mrsi_mapped_mem_new(&l->listed, l->en, n * 8, l->en->memory / 16, e);
    if (s == MRS_OK && l->wants.leaves) {
        s = mrsi_mapped_mem_new(&l->parent, l->en, n * 8, l->en->memory / 16, e);
    }
    MRS_THEN(s, read_lists(l, e));
    MRS_THEN(s, judge_children(l, e));
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        if (i == 0 ? l->wants.lists : l->wants.refs) {
            s = find_gains(l, i, e);
        }
    }
    return s;
}
