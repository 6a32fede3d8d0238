/* acc_small.c - states that fit in a few bytes: of accumulators that keep numbers, or one value that is short.
 *
 * Whoever feeds many groups by turns keeps the small form of each and one state to work with. */
#include "acc.h"

#define SHORT 22 /* most bytes of a value with its type */

struct small_value {
    uint8_t any, n, bytes[SHORT];
};

static bool
keeps_one(const struct mrsi_acc_kind *k)
{
    return k->feed == mrsi_acc_feed_one || k->feed == mrsi_acc_feed_extreme;
}

size_t
mrs_acc_small_size(const struct mrs_acc *x)
{
    const struct mrsi_acc_kind *k = x->kind;
    return k->feed == mrsi_acc_feed_sum      ? sizeof(struct mrsi_total)
           : k->feed == mrsi_acc_feed_count  ? sizeof(uint64_t)
           : k->feed == mrsi_acc_feed_spread ? sizeof(struct mrsi_spread)
           : keeps_one(k)                    ? sizeof(struct small_value)
                                             : 0;
}

bool
mrs_acc_to_small(const struct mrs_acc_state *s, uint8_t *room)
{
    const struct mrsi_acc_kind *k = s->x->kind;
    if (k->feed == mrsi_acc_feed_sum) {
        memcpy(room, &s->u.total, sizeof s->u.total);
    } else if (k->feed == mrsi_acc_feed_count) {
        memcpy(room, &s->seq, sizeof s->seq);
    } else if (k->feed == mrsi_acc_feed_spread) {
        memcpy(room, &s->u.spread, sizeof s->u.spread);
    } else {
        uint8_t n = s->any ? (uint8_t)s->bytes.n : 0;
        if (s->any && s->bytes.n > SHORT) {
            return false;
        }
        room[0] = s->any;
        room[1] = n;
        if (n) {
            memcpy(room + 2, s->bytes.p, n);
        }
    }
    return true;
}

enum mrs_status
mrs_acc_from_small(struct mrs_acc_state *s, const uint8_t *room, struct mrs_err *e)
{
    const struct mrsi_acc_kind *k = s->x->kind;
    if (k->feed == mrsi_acc_feed_sum) {
        memcpy(&s->u.total, room, sizeof s->u.total);
    } else if (k->feed == mrsi_acc_feed_count) {
        memcpy(&s->seq, room, sizeof s->seq);
    } else if (k->feed == mrsi_acc_feed_spread) {
        memcpy(&s->u.spread, room, sizeof s->u.spread);
    } else {
        if (s->bytes.cap < SHORT) {
            mrs_buf_reset(&s->bytes);
            mrs_buf_grow(&s->bytes, SHORT);
            if (s->bytes.bad) {
                return mrs_buf_status(&s->bytes, e);
            }
        }
        s->any = room[0];
        s->bytes.n = room[1];
        memcpy(s->bytes.p, room + 2, SHORT);
    }
    return MRS_OK;
}
