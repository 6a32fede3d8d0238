/* SPDX-License-Identifier: Apache-2.0 */
/* group_by.h - `by` of a plan: the key of a group of documents. */
#ifndef MRSI_GROUP_BY_H
#define MRSI_GROUP_BY_H

#include "kernel.h"

struct mrsi_by {
    struct mrs_expr *key;   /* an expression; NULL: parts, or one group for all documents */
    struct mrs_expr **part; /* n_parts expressions: a document of these */
    const char **part_name;
    uint32_t *part_len; /* length of its name */
    uint32_t n_parts;
};
/* Reads the key `by` in this slot; null means one group for all documents. */
void mrsi_read_by(struct mrsi_read *r, struct mrsi_slot slot, struct mrsi_by *by);
/* Appends the key of a document like mrsi_put_value: a missing key becomes null, a missing part is omitted, or null if
 * there is only one. c->remarks gets bit 0 if something is missing, or an empty text that was computed. SKIP. */
enum mrs_status mrsi_by_put(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *out);
/* Appends bytes that are equal for equal keys and sort like keys. */
enum mrs_status mrsi_by_group(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_val key, struct mrs_buf *out);

/* Appends what a `$sort` of a server puts the key by: part for part, see mrsi_place_append. */
enum mrs_status mrsi_by_place(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_val key, struct mrs_buf *out);
/* Appends bytes that sort as a server sorts documents by a field with this value: missing as null, an array by its
 * least element, an empty one as undefined. */
void mrsi_place_append(struct mrs_buf *out, struct mrs_val v);

/* ---- remarks ---- */
/* Bit i + 1 of c->remarks, or the last one: field i is a total that ignores the document's value. x: the field's
 * accumulator; NULL: not a total. */
static inline void
mrsi_total_remark(struct mrs_ctx *c, uint32_t i, const struct mrs_acc *x, struct mrs_val v)
{
    if (!mrs_is_number(v) && !mrs_is_nullish(v) && x && mrs_acc_is_total(x)) {
        c->remarks |= 2ull << (i < MRS_REMARKS - 2 ? i : MRS_REMARKS - 2);
    }
}
/* The text of remark i; field: its name, NULL if several share the bit. */
void mrsi_group_remark(uint32_t i, const char *field, char *text, size_t size);

/* ---- serialized values ---- */
#define MRSI_GROUP_VALUE_BAD 0xFE /* instead of a type: the text after it is the reason why there is no value */
struct mrsi_group_value {
    struct mrs_val v;
    bool bad; /* v is the reason, a text */
};
/* Reads one value, its type and its bytes, from [*at, end), which mrsi_put_value must have written; *at advances. */
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
/* Writes the reason instead of a value. */
void mrsi_put_reason(struct mrs_buf *out, const char *why);
struct mrsi_group_value mrsi_get_group_value(const uint8_t **at, const uint8_t *end);

#endif
