/* SPDX-License-Identifier: Apache-2.0 */
/* residue_kinds.c - classifies the difference of two documents: order of fields, types of equal values, or values.
 *
 * Nested levels that differ are put on a stack of pairs; no recursion. */
#include "residue.h"
#include "mongoreshape/inverse.h"

struct residue_kinds_pair {
    struct mrs_view a, b;
};

static void
later(struct mrs_buf *stack, struct mrs_val a, struct mrs_val b)
{
    struct residue_kinds_pair p = {mrs_val_view(a), mrs_val_view(b)};
    mrs_buf_put(stack, &p, sizeof p);
}

static unsigned
two_values(struct mrs_buf *stack, struct mrs_val a, struct mrs_val b)
{
    if (mrs_identical(a, b)) {
        return 0;
    }
    if (a.type == MRS_ARRAY && b.type == MRS_ARRAY && mrs_val_count(a) != mrs_val_count(b)) {
        return MRS_LOSS_VALUES; /* elements have moved: those at one place are not one element */
    }
    if (a.type == b.type && (a.type == MRS_DOCUMENT || a.type == MRS_ARRAY)) {
        later(stack, a, b);
        return 0;
    }
    return mrs_compare(a, b) == 0 ? MRS_LOSS_TYPES : MRS_LOSS_VALUES;
}

/* Usually fields have the same order: they are searched only if names differ. */
static unsigned
one_level(struct mrs_buf *stack, struct mrs_view a, struct mrs_view b)
{
    struct mrs_walk wa, wb;
    struct mrs_elem x, y, other;
    unsigned kinds = 0;
    uint32_t n = 0, m = 0, common = 0;
    bool aligned = true;
    mrs_walk_init(&wa, a);
    mrs_walk_init(&wb, b);
    while (mrs_walk_next(&wa, &x) == 1) {
        n++;
        bool here = aligned && mrs_walk_next(&wb, &y) == 1 && mrs_name_is(&x, y.name, y.name_len);
        aligned = here;
        if (here || mrs_doc_find(b, x.name, x.name_len, &other)) {
            common++;
            kinds |= two_values(stack, x.v, here ? y.v : other.v);
        }
    }
    for (mrs_walk_init(&wb, b); mrs_walk_next(&wb, &y) == 1;) {
        m++;
    }
    if (common < n || common < m) {
        kinds |= MRS_LOSS_VALUES;
    }
    if (!aligned && common) {
        uint32_t at = 0; /* do common fields have another order? */
        mrs_walk_init(&wb, b);
        for (mrs_walk_init(&wa, a); mrs_walk_next(&wa, &x) == 1;) {
            if (!mrs_doc_find(b, x.name, x.name_len, &other)) {
                continue;
            }
            uint32_t off = (uint32_t)(other.p - b.p);
            kinds |= off < at ? MRS_LOSS_PLACES : 0;
            at = off;
        }
    }
    return kinds;
}

enum mrs_status
mrsi_residue_kinds(struct mrs_view a, struct mrs_view b, struct mrs_buf *scratch, unsigned *kinds, struct mrs_err *e)
{
    mrs_buf_reset(scratch);
    later(scratch, mrs_view_val(a), mrs_view_val(b));
    *kinds = 0;
    while (!scratch->bad && scratch->n) {
        struct residue_kinds_pair p;
        scratch->n -= sizeof p;
        memcpy(&p, scratch->p + scratch->n, sizeof p);
        *kinds |= one_level(scratch, p.a, p.b);
    }
    *kinds = *kinds ? *kinds : MRS_LOSS_VALUES; /* names of array elements, or a duplicate name */
    return mrs_buf_status(scratch, e);
}
