/* SPDX-License-Identifier: Apache-2.0 */
/* extents.c - bytes that are no file of their own: stretches of an open file, read as if they were one.
 *
 * Archives and containers lay the bytes of a collection out in pieces, between those of others. A place says where they
 * are and never changes; where a reader stands in it is the reader's own, so several may read one place at a time.
 * It must not know what the bytes mean. */
#include "source.h"

enum mrs_status
mrsi_place_read(const struct mrsi_place *p, struct mrsi_stand *at, const struct mrsi_room *to, size_t *got,
                struct mrs_err *e)
{
    MRS_ASSERT(at->stretch <= p->n_stretch);
    *got = 0;
    while (*got < to->n && at->stretch < p->n_stretch) {
        const struct mrsi_stretch *s = &p->stretch[at->stretch];
        uint64_t left = s->n - at->in;
        size_t want = to->n - *got < left ? to->n - *got : (size_t)left, k;
        enum mrs_status st = mrsi_pread_full(p->fd, to->p + *got, want, s->off + at->in, to->name, &k, e);
        *got += k;
        at->in += k;
        if (st != MRS_OK || k < want) {
            return st;
        }
        if (at->in == s->n) {
            at->stretch++;
            at->in = 0;
        }
    }
    return MRS_OK;
}

bool
mrsi_place_skip(const struct mrsi_place *p, struct mrsi_stand *at, uint64_t n)
{
    MRS_ASSERT(at->stretch <= p->n_stretch);
    while (n && at->stretch < p->n_stretch) {
        uint64_t left = p->stretch[at->stretch].n - at->in, k = n < left ? n : left;
        n -= k;
        at->in += k;
        if (at->in == p->stretch[at->stretch].n) {
            at->stretch++;
            at->in = 0;
        }
    }
    return n == 0;
}

void
mrsi_place_back(const struct mrsi_place *p, struct mrsi_stand *at, uint64_t n)
{
    MRS_ASSERT(at->stretch <= p->n_stretch);
    while (n > at->in) {
        n -= at->in;
        at->in = p->stretch[--at->stretch].n;
    }
    at->in -= n;
}
