/* SPDX-License-Identifier: Apache-2.0 */
/* tree_intervals.c - finds the parents of nodes that are intervals.
 *
 * Both ends of all intervals are visited in order. The open ones form a chain: the newest is the parent of the one that
 * opens next. One that closes and is not the newest overlaps all that opened after it and are still open; each of these
 * is marked once, since unmarked ones form a second chain in the same order. An interval that opens inside an
 * overlapping one has as parent either one of the two, or another overlapping one: so everything inside is marked
 * through its parents. */
#include "tree_pass.h"

struct open {
    uint32_t below, above; /* links in the chain of all; above: opened next */
    uint32_t under;        /* link in the chain of unmarked ones */
    uint32_t no;           /* in order of opening, from 1; 0: not open */
};
struct nest {
    struct mrsi_tree_run *t;
    struct mrsi_mapped_mem mem;
    struct open *open;
    uint32_t top, sound; /* newest of both chains */
    uint32_t opened;
};

static void
opens(struct nest *x, uint32_t i)
{
    x->open[i] = (struct open){x->top, MRSI_NONE, x->sound, ++x->opened};
    mrsi_node(x->t, i)->parent = x->top;
    if (x->top != MRSI_NONE) {
        x->open[x->top].above = i;
    }
    x->top = x->sound = i;
}

static void
closes(struct nest *x, uint32_t i)
{
    MRS_ASSERT(i < x->t->n);
    struct open *o = &x->open[i];
    if (o->above != MRSI_NONE) {
        mrsi_tree_fault(x->t, i, MRS_FAULT_OVERLAP, o->above);
    }
    while (x->sound != MRSI_NONE && x->open[x->sound].no > o->no) {
        mrsi_tree_fault(x->t, x->sound, MRS_FAULT_OVERLAP, i);
        x->sound = x->open[x->sound].under;
    }
    x->sound = x->sound == i ? o->under : x->sound;
    if (o->above != MRSI_NONE) {
        x->open[o->above].below = o->below;
    } else {
        x->top = o->below;
    }
    if (o->below != MRSI_NONE) {
        x->open[o->below].above = o->above;
    }
    o->no = 0;
}

/* Is a record of a resumed sort a possible next end of an interval? */
static bool
is_end(const struct nest *x, const struct mrsi_sorted *r)
{
    uint32_t one[2];
    if (r->n != sizeof one) {
        return false;
    }
    memcpy(one, r->p, sizeof one);
    return one[0] < x->t->n && (x->open[one[0]].no != 0) == (one[1] != 0);
}

static enum mrs_status
sweep(struct nest *x, struct mrs_buf *before, struct mrs_err *e)
{
    struct mrsi_sorted r;
    uint32_t last = MRSI_NONE;
    uint64_t n = 0;
    enum mrs_status s = mrsi_sorter_rewind(&x->t->ends, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&x->t->ends, &r, e)) == MRS_OK) {
        uint32_t one[2];
        if (x->t->resumed && !is_end(x, &r)) {
            return mrsi_state_damaged("what was sorted", e);
        }
        memcpy(one, r.p, sizeof one);
        if (last != MRSI_NONE && before->n == r.key_len && memcmp(before->p, r.key, r.key_len) == 0) {
            mrsi_tree_fault(x->t, one[0], MRS_FAULT_OVERLAP, last);
            mrsi_tree_fault(x->t, last, MRS_FAULT_OVERLAP, one[0]);
        }
        mrs_buf_reset(before);
        mrs_buf_put(before, r.key, r.key_len);
        last = one[0];
        if (one[1]) {
            closes(x, one[0]);
        } else {
            opens(x, one[0]);
        }
        s = before->bad ? mrs_buf_status(before, e) : mrsi_tree_check_interrupt(x->t, n++, e);
    }
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
mrsi_tree_nest(struct mrsi_tree_run *t, struct mrs_err *e)
{
    struct nest x = {.t = t, .top = MRSI_NONE, .sound = MRSI_NONE};
    struct mrs_buf before;
    mrs_buf_init(&before, t->en->mem, SIZE_MAX);
    enum mrs_status s = mrsi_mapped_mem_new(&x.mem, t->en, t->n * sizeof *x.open, t->en->memory / 8, e);
    x.open = x.mem.p;
    MRS_THEN(s, sweep(&x, &before, e));
    mrsi_mapped_mem_clear(&x.mem);
    mrs_buf_clear(&before);
    return s;
}
