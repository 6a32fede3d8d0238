/* SPDX-License-Identifier: Apache-2.0 */
/* acc.h - the structure of an accumulator and of its state, shared by the files acc*.c only.
 *
 * One accumulator = one row of mrsi_acc_kinds (acc.c) and a few functions. All states have the same structure: some
 * bytes, items that point into them, a hash table over the items, and numbers; each accumulator uses a part of it.
 * Memory is kept from group to group. */
#ifndef MRS_EXPR_ACC_H
#define MRS_EXPR_ACC_H

#include "expr/support.h"
#include "total.h"
#include "mongoreshape/value.h"

/* The argument of an accumulator. */
enum mrsi_acc_shape {
    MRSI_ACC_ONE,      /* one expression */
    MRSI_ACC_NOTHING,  /* {} */
    MRSI_ACC_INPUT_N,  /* {input, n} */
    MRSI_ACC_OUTPUT,   /* {sortBy, output} */
    MRSI_ACC_OUTPUT_N, /* {sortBy, output, n} */
    MRSI_ACC_MEDIAN,   /* {input, method} */
    MRSI_ACC_QUANTILES /* {input, p, method} */
};

enum mrsi_acc_order { MRSI_ACC_BY_PLACE, MRSI_ACC_BY_VALUE, MRSI_ACC_BY_KEY };

/* The form of a compact state: acc_small.c. */
enum mrsi_acc_small {
    MRSI_ACC_NOT_SMALL,
    MRSI_ACC_SMALL_SUM,
    MRSI_ACC_SMALL_COUNT,
    MRSI_ACC_SMALL_SPREAD,
    MRSI_ACC_SMALL_ONE,
    MRSI_ACC_SMALL_EXTREME
};

struct mrsi_acc_kind {
    struct mrs_op_row row;
    enum mrsi_acc_shape shape;
    enum mrs_status (*feed)(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e);
    enum mrs_status (*value)(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out);
    void (*save)(const struct mrs_acc_state *s, struct mrs_build *b);
    enum mrs_status (*load)(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e);
    int sense; /* which end of the order is kept: -1 the first values, 1 the last */
    enum mrsi_acc_order by; /* of those that keep some values */
};

struct mrs_acc {
    const struct mrsi_acc_kind *kind;
    enum mrsi_acc_small small;
    struct mrs_mem *mem;
    struct mrs_expr *arg; /* NULL: none */
    struct mrs_sort *sort;
    struct mrs_expr *p;   /* constant array */
    uint64_t n;           /* number of kept values */
};

/* A value in a state: a range of struct mrs_acc_state.bytes. */
struct mrsi_acc_item {
    uint32_t off, n;
    uint32_t lead_off, lead_n; /* sort key, or field name */
    uint64_t seq;              /* arrival number, or hash */
    uint8_t type;
};

struct mrs_acc_state {
    const struct mrs_acc *x;
    struct mrs_mem *mem;
    size_t ceiling;
    struct mrs_acc_shared *shared; /* NULL: not shared */
    uint64_t mine;                 /* of shared->held */
    struct mrs_buf bytes, other; /* other: target of compaction */
    struct mrsi_acc_item *item;
    uint32_t n, cap;
    uint32_t *slot; /* hash table: item + 1, 0 free; n_slots of room_slots are in use */
    uint32_t n_slots, room_slots;
    uint64_t seq;   /* documents fed */
    uint64_t dead;  /* bytes used by no item */
    bool any;
    union {
        struct mrsi_total total;
        struct mrsi_spread spread;
    } u;
};

/* acc.c; ends in a row with a NULL name */
extern const struct mrsi_acc_kind mrsi_acc_kinds[];
/* acc.c: FAIL MRS_E_LIMIT; FAIL MRS_E_FORMAT of load. */
enum mrs_status mrsi_acc_over(const struct mrs_acc_state *s, struct mrs_err *e);
enum mrs_status mrsi_acc_damaged(const struct mrs_acc_state *s, struct mrs_err *e);
/* To be called before the state holds `bytes` of values. FAIL MRS_E_LIMIT: over the common limit of the states of a
 * group. */
enum mrs_status mrsi_acc_reserve(struct mrs_acc_state *s, uint64_t bytes, struct mrs_err *e);
/* Room for one more item; DEAD. */
enum mrs_status mrsi_acc_room(struct mrs_acc_state *s, struct mrs_err *e);
/* acc.c: removes the bytes used by no item, if they are many. lead_end: bytes after a lead that belong to it. */
enum mrs_status mrsi_acc_pack(struct mrs_acc_state *s, uint32_t lead_end, struct mrs_err *e);
static inline struct mrs_val
mrsi_acc_item_value(const struct mrs_acc_state *s, const struct mrsi_acc_item *i)
{
    return (struct mrs_val){s->bytes.n ? s->bytes.p + i->off : s->bytes.p, i->n, i->type};
}

/* acc_small.c */
enum mrsi_acc_small mrsi_acc_small_of(const struct mrsi_acc_kind *k);

/* acc_hash.c: a table over the items. find: the first item with this hash that is `same`, or s->n; add: adds item at,
 * which is the newest. */
typedef bool (*mrsi_acc_same_fn)(const struct mrs_acc_state *s, uint32_t at, const void *arg);
uint32_t mrsi_acc_hash_find(const struct mrs_acc_state *s, uint64_t hash, mrsi_acc_same_fn same, const void *arg);
enum mrs_status mrsi_acc_hash_add(struct mrs_acc_state *s, uint32_t at, struct mrs_err *e);

#define MRSI_ACC_FUNCTIONS(name)                                                                                      \
    enum mrs_status mrsi_acc_feed_##name(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e);              \
    enum mrs_status mrsi_acc_value_##name(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out);   \
    void mrsi_acc_save_##name(const struct mrs_acc_state *s, struct mrs_build *b);                                    \
    enum mrs_status mrsi_acc_load_##name(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e);
MRSI_ACC_FUNCTIONS(sum)
MRSI_ACC_FUNCTIONS(count)
MRSI_ACC_FUNCTIONS(spread) /* standard deviation */
MRSI_ACC_FUNCTIONS(one)    /* $first, $last */
MRSI_ACC_FUNCTIONS(list)   /* $push */
MRSI_ACC_FUNCTIONS(set)    /* $addToSet */
MRSI_ACC_FUNCTIONS(some)   /* $minN, $top and the like */
MRSI_ACC_FUNCTIONS(merge)
MRSI_ACC_FUNCTIONS(quantile)
enum mrs_status mrsi_acc_value_average(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out);
enum mrs_status mrsi_acc_feed_extreme(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e);
enum mrs_status mrsi_acc_feed_concat(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e);
enum mrs_status mrsi_acc_feed_union(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e);

#endif
