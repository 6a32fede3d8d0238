/* SPDX-License-Identifier: Apache-2.0 */
/* acc_hash.c - finds existing items of a state.
 *
 * Open addressing over item numbers. Only as many slots as the current group needs are in use, so that emptying the
 * table after a small group is cheap although a large one came before. The caller defines equality. */
#include "acc.h"

uint32_t
mrsi_acc_hash_find(const struct mrs_acc_state *s, uint64_t hash, mrsi_acc_same_fn same, const void *arg)
{
    MRS_ASSERT((s->n_slots & (s->n_slots - 1)) == 0 && s->n_slots <= s->room_slots);
    if (!s->n_slots) {
        return s->n;
    }
    uint32_t mask = s->n_slots - 1;
    for (uint32_t i = (uint32_t)hash & mask; s->slot[i]; i = (i + 1) & mask) {
        uint32_t at = s->slot[i] - 1;
        if (s->item[at].seq == hash && same(s, at, arg)) {
            return at;
        }
    }
    return s->n;
}

static void
put(struct mrs_acc_state *s, uint32_t at)
{
    MRS_ASSERT(at < s->n_slots);
    uint32_t mask = s->n_slots - 1, i = (uint32_t)s->item[at].seq & mask;
    while (s->slot[i]) {
        i = (i + 1) & mask;
    }
    s->slot[i] = at + 1;
}

enum mrs_status
mrsi_acc_hash_add(struct mrs_acc_state *s, uint32_t at, struct mrs_err *e)
{
    MRS_ASSERT(at < s->cap && s->n_slots <= s->room_slots);
    if ((uint64_t)(at + 1) * 2 <= s->n_slots) {
        put(s, at);
        return MRS_OK;
    }
    uint32_t n = s->n_slots ? 2 * s->n_slots : 16;
    if (n > s->room_slots) {
        uint32_t *more = mrs_realloc(s->mem, s->slot, (size_t)n * sizeof *more);
        MRS_TRY(mrs_allocated(more, (size_t)n * sizeof *more, e));
        s->slot = more;
        s->room_slots = n;
    }
    memset(s->slot, 0, (size_t)n * sizeof *s->slot);
    s->n_slots = n;
    for (uint32_t i = 0; i <= at; i++) {
        put(s, i);
    }
    return MRS_OK;
}
