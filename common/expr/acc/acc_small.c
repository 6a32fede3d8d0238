/* SPDX-License-Identifier: Apache-2.0 */
/* acc_small.c - compact states: of accumulators that keep numbers, or one short value.
 *
 * A caller with many groups stores the compact form of each, which is fed in place (not aligned: it is copied out and
 * back), and one state to compute values. If every document adds the same whole number, or only its presence counts,
 * not even that is stored: the number of documents is enough. */
#include "acc.h"

#define SHORT 22          /* maximum length of a value with its type */
#define EXACT (1ll << 53) /* whole numbers up to this are exact as doubles, and so are sums that stay below */

struct small_value {
    uint8_t any, n, bytes[SHORT];
};

enum mrsi_acc_small
mrsi_acc_small_of(const struct mrsi_acc_kind *k)
{
    return k->feed == mrsi_acc_feed_sum       ? MRSI_ACC_SMALL_SUM
           : k->feed == mrsi_acc_feed_count   ? MRSI_ACC_SMALL_COUNT
           : k->feed == mrsi_acc_feed_spread  ? MRSI_ACC_SMALL_SPREAD
           : k->feed == mrsi_acc_feed_one     ? MRSI_ACC_SMALL_ONE
           : k->feed == mrsi_acc_feed_extreme ? MRSI_ACC_SMALL_EXTREME
                                              : MRSI_ACC_NOT_SMALL;
}

static const size_t sizes[] = {[MRSI_ACC_SMALL_SUM] = sizeof(struct mrsi_total),
                               [MRSI_ACC_SMALL_COUNT] = sizeof(uint64_t),
                               [MRSI_ACC_SMALL_SPREAD] = sizeof(struct mrsi_spread),
                               [MRSI_ACC_SMALL_ONE] = sizeof(struct small_value),
                               [MRSI_ACC_SMALL_EXTREME] = sizeof(struct small_value)};

size_t
mrs_acc_small_size(const struct mrs_acc *x)
{
    return sizes[x->small];
}

void
mrs_acc_small_reset(const struct mrs_acc *x, uint8_t *room)
{
    struct mrsi_total nothing;
    if (x->small == MRSI_ACC_SMALL_SUM) {
        mrsi_total_init(&nothing);
        memcpy(room, &nothing, sizeof nothing);
    } else {
        memset(room, 0, mrs_acc_small_size(x));
    }
}

/* ---- one more document ---- */
static bool
keep(uint8_t *room, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (v.n >= SHORT) {
        return false;
    }
    room[0] = true;
    room[1] = (uint8_t)(v.n + 1);
    room[2] = v.type;
    if (v.n == 8) { /* most numbers and dates */
        memcpy(room + 3, v.p, 8);
    } else if (v.n) {
        memcpy(room + 3, v.p, v.n);
    }
    return true;
}

static int
order_of(struct mrs_val a, struct mrs_val b)
{
    int c = mrs_compare(a, b);
    return (c > 0) - (c < 0);
}

static bool
feed_extreme(const struct mrs_acc *x, uint8_t *room, struct mrs_val v)
{
    struct mrs_val kept = {room + 3, room[1] - 1u, room[2]};
    if (room[0] && v.type == MRS_DOUBLE && kept.type == MRS_DOUBLE) { /* most of them */
        double a = mrs_val_double(v), b = mrs_val_double(kept);
        if (x->kind->sense < 0 ? a >= b : a <= b) { /* false for NaN */
            return true;
        }
    }
    if (mrsi_is_nullish(v)) {
        return true;
    }
    return (room[0] && order_of(v, kept) != x->kind->sense) || keep(room, v);
}

static bool
feed_one(const struct mrs_acc *x, uint8_t *room, struct mrs_val v)
{
    return (room[0] && x->kind->sense < 0) || keep(room, v.type == MRS_MISSING ? mrs_null() : v);
}

/* Most numbers only need the part before the decimal. */
static inline void
feed_sum(uint8_t *room, struct mrs_val v)
{
    struct mrsi_total total;
    const size_t front = offsetof(struct mrsi_total, dec);
    if (v.type != MRS_DOUBLE && v.type != MRS_INT32) {
        memcpy(&total, room, sizeof total);
        mrsi_total_add(&total, v);
        memcpy(room, &total, sizeof total);
        return;
    }
    memcpy(&total, room, front);
    total.type = total.type == v.type ? v.type : mrsi_wider(total.type, v.type);
    total.count++;
    mrsi_total_add_double(&total, v.type == MRS_DOUBLE ? mrs_val_double(v) : mrs_val_i32(v));
    memcpy(room, &total, front);
}

static inline void
feed_count(uint8_t *room)
{
    uint64_t count;
    memcpy(&count, room, sizeof count);
    count++;
    memcpy(room, &count, sizeof count);
}

static inline void
feed_spread(uint8_t *room, struct mrs_val v)
{
    struct mrsi_spread spread;
    memcpy(&spread, room, sizeof spread);
    mrsi_spread_add(&spread, v);
    memcpy(room, &spread, sizeof spread);
}

static inline bool
feed(const struct mrs_acc *x, uint8_t *room, struct mrs_val v)
{
    MRS_ASSERT(x->small != MRSI_ACC_NOT_SMALL);
    switch (x->small) {
    case MRSI_ACC_SMALL_SUM:
        feed_sum(room, v);
        return true;
    case MRSI_ACC_SMALL_COUNT:
        feed_count(room);
        return true;
    case MRSI_ACC_SMALL_SPREAD:
        feed_spread(room, v);
        return true;
    case MRSI_ACC_SMALL_ONE:
        return feed_one(x, room, v);
    case MRSI_ACC_SMALL_EXTREME:
        return feed_extreme(x, room, v);
    case MRSI_ACC_NOT_SMALL:
        break;
    }
    return false;
}

bool
mrs_acc_small_feed(const struct mrs_acc *const *x, uint32_t n, uint8_t *room, const struct mrs_val *v)
{
    MRS_ASSERT(x && v);
    for (uint32_t i = 0; i < n; room += sizes[x[i++]->small]) {
        if (!feed(x[i], room, v[i])) {
            return false;
        }
    }
    return true;
}

enum mrs_status
mrs_acc_from_small(struct mrs_acc_state *s, const uint8_t *room, struct mrs_err *e)
{
    MRS_ASSERT(s->x->small != MRSI_ACC_NOT_SMALL);
    switch (s->x->small) {
    case MRSI_ACC_SMALL_SUM:
        memcpy(&s->u.total, room, sizeof s->u.total);
        break;
    case MRSI_ACC_SMALL_COUNT:
        memcpy(&s->seq, room, sizeof s->seq);
        break;
    case MRSI_ACC_SMALL_SPREAD:
        memcpy(&s->u.spread, room, sizeof s->u.spread);
        break;
    default:
        mrs_buf_reset(&s->bytes);
        mrs_buf_put(&s->bytes, room + 2, room[1]);
        s->any = room[0];
    }
    return mrs_buf_status(&s->bytes, e);
}

/* ---- documents with the same argument ---- */
bool
mrs_acc_counts(const struct mrs_acc *x)
{
    struct mrs_val v;
    if (!mrs_acc_constant(x, &v)) {
        return false;
    }
    return x->small == MRSI_ACC_SMALL_COUNT || x->small == MRSI_ACC_SMALL_ONE ||
           x->small == MRSI_ACC_SMALL_EXTREME ||
           (x->small == MRSI_ACC_SMALL_SUM && (v.type == MRS_INT32 || v.type == MRS_INT64));
}

/* A sum of whole numbers has no rounding error as long as it is exact. */
static bool
sum_times(struct mrs_acc_state *s, struct mrs_val v, uint64_t n)
{
    struct mrsi_total *t = &s->u.total;
    int64_t whole = 0, sum;
    if (!mrsi_is_integer(v, &whole) || n > EXACT || __builtin_mul_overflow(whole, (int64_t)n, &sum) || sum > EXACT ||
        sum < -EXACT) {
        return false;
    }
    mrsi_total_add(t, v);
    t->count = n;
    t->total = t->naive = (double)sum;
    return true;
}

enum mrs_status
mrs_acc_feed_times(struct mrs_acc_state *s, uint64_t n, struct mrs_err *e)
{
    struct mrs_val v;
    mrs_acc_constant(s->x, &v);
    if (s->x->small == MRSI_ACC_SMALL_SUM) {
        return sum_times(s, v, n) ? MRS_OK : mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "a sum that may not be exact");
    }
    if (s->x->small == MRSI_ACC_SMALL_COUNT) {
        s->seq = n;
        return MRS_OK;
    }
    return mrs_acc_feed(s, v, e); /* repeating it would change nothing */
}
