/* SPDX-License-Identifier: Apache-2.0 */
/* group_by.h - `by` of a plan: the key of a group of documents. */
#ifndef MRSI_GROUP_BY_H
#define MRSI_GROUP_BY_H

#include "kernel.h"

struct mrsi_by {
    struct mrs_expr *key;   /* an expression; NULL: parts, or without those one group of all */
    struct mrs_expr **part; /* n_parts of them: a document of these */
    const char **part_name;
    uint32_t *part_len; /* of its name */
    uint32_t n_parts;
};
/* Reads the key `by`, which is in this slot; null is one group of all. */
void mrsi_read_by(struct mrsi_read *r, struct mrsi_slot slot, struct mrsi_by *by);
/* Appends the key of a document, as mrsi_put_value does: a missing one is null, a missing part is left out, or null
 * where there is no other. c->remarks has bit 0 where something is missing. SKIP. */
enum mrs_status mrsi_by_put(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *out);
/* Appends bytes that are the same for equal keys, in the order of keys. */
enum mrs_status mrsi_by_group(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_val key, struct mrs_buf *out);

/* ---- what is worth a word of a document ---- */
/* Bit i + 1 of c->remarks, or the last one: a total, field i, passes over what the document brings. x: the field's
 * accumulator; NULL: none that is a total. */
static inline void
mrsi_total_remark(struct mrs_ctx *c, uint32_t i, const struct mrs_acc *x, struct mrs_val v)
{
    if (!mrs_is_number(v) && !mrs_is_nullish(v) && x && mrs_acc_is_total(x)) {
        c->remarks |= 2ull << (i < MRS_REMARKS - 2 ? i : MRS_REMARKS - 2);
    }
}
/* What bit i says; field: its name, NULL where several share the bit. */
void mrsi_group_say(uint32_t i, const char *field, char *text, size_t size);

/* ---- values one behind the other, as documents bring them to a group ---- */
#define MRSI_GROUP_VALUE_BAD 0xFE /* in place of a type: the text after it says why there is no value */
struct mrsi_group_value {
    struct mrs_val v;
    bool bad; /* v is the reason, a text */
};
/* One value: its type and its bytes. Read back from [*at, end), which must be what put wrote; *at moves past it. */
void mrsi_put_value(struct mrs_buf *out, struct mrs_val v);
static inline struct mrs_val
mrsi_get_value(const uint8_t **at, const uint8_t *end)
{
    struct mrs_val v = {*at + 1, 0, **at};
    if (v.type != MRS_MISSING) {
        uint8_t fixed = mrs_fixed_size[v.type];
        v.n = fixed != 0x80 ? fixed : (uint32_t)mrs_value_size_quick(v.type, v.p, (uint64_t)(end - v.p));
    }
    *at = v.p + v.n;
    return v;
}
/* In place of a value the reason why there is none. */
void mrsi_put_bad(struct mrs_buf *out, const char *why);
struct mrsi_group_value mrsi_get_group_value(const uint8_t **at, const uint8_t *end);

#endif
