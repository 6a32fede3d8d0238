/* SPDX-License-Identifier: Apache-2.0 */
/* extents.c - bytes that are no file of their own: extents of an open file, read as if they were one.
 *
 * Archives and containers store the bytes of a collection in pieces, between those of others. A place lists the pieces
 * and never changes; each reader has its own position, so several may read one place at a time. It must not know what
 * the bytes mean. */
#include "source.h"

enum mrs_status
mrsi_src_extents_read(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at, const struct mrsi_read_buf *to,
                      size_t *got, struct mrs_err *e)
{
    MRS_ASSERT(at->extent <= p->n_extents);
    *got = 0;
    while (*got < to->n && at->extent < p->n_extents) {
        const struct mrsi_src_extent *s = &p->extent[at->extent];
        uint64_t left = s->n - at->in;
        size_t len = to->n - *got < left ? to->n - *got : (size_t)left, k;
        enum mrs_status st = mrsi_pread_full(p->fd, to->p + *got, len, s->off + at->in, to->name, &k, e);
        *got += k;
        at->in += k;
        if (st != MRS_OK || k < len) {
            return st;
        }
        if (at->in == s->n) {
            at->extent++;
            at->in = 0;
        }
    }
    return MRS_OK;
}

bool
mrsi_src_extents_skip(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at, uint64_t n)
{
    MRS_ASSERT(at->extent <= p->n_extents);
    while (n && at->extent < p->n_extents) {
        uint64_t left = p->extent[at->extent].n - at->in, k = n < left ? n : left;
        n -= k;
        at->in += k;
        if (at->in == p->extent[at->extent].n) {
            at->extent++;
            at->in = 0;
        }
    }
    return n == 0;
}

void
mrsi_src_extents_back(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at, uint64_t n)
{
    MRS_ASSERT(at->extent <= p->n_extents);
    while (n > at->in) {
        n -= at->in;
        at->in = p->extent[--at->extent].n;
    }
    at->in -= n;
}
