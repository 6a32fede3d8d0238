/* SPDX-License-Identifier: Apache-2.0 */
/* support.h - helpers of several operator families: text as code points, whole numbers, a stable sort. */
#ifndef MRS_EXPR_SUPPORT_H
#define MRS_EXPR_SUPPORT_H

#include "expr_internal.h"

struct mrsi_text {
    const char *p;
    uint32_t n;
};

static inline struct mrsi_text
mrsi_text_of(struct mrs_val v) /* of a STRING */
{
    struct mrsi_text t;
    t.p = mrs_val_text(v, &t.n);
    return t;
}

static inline bool
mrsi_text_is(const char *p, uint32_t n, const char *word)
{
    return strlen(word) == n && memcmp(p, word, n) == 0;
}

/* Bytes of the code point that begins with this byte; 1 for invalid bytes. */
uint32_t mrsi_utf8_len(uint8_t lead);
/* Code points in a text: bytes that are not continuations. */
uint32_t mrsi_utf8_count(const char *p, uint32_t n);
/* Offset of the code point number `index` (or n, and *left of them missing). */
uint32_t mrsi_utf8_offset(const char *p, uint32_t n, uint32_t index, uint32_t *left);
static inline bool
mrsi_utf8_inside(const char *p, uint32_t n,
                 uint64_t at) /* whether `at` is inside a code point */
{
    return at < n && ((uint8_t)p[at] & 0xC0) == 0x80;
}

/* A number of any type whose value is a whole number within int32. */
bool mrsi_integral32(struct mrs_val v, int32_t *out);
/* A number as int64 by the server's rules: doubles are truncated, decimals rounded half to even (the least int64 if
 * that is impossible); false: not a number, or a double out of range. */
bool mrsi_coerce_i64(struct mrs_val v, int64_t *out);

/* Sorts at[0..n) by cmp, keeping the order of equals; other: room for n more. ev: asked at intervals whether to go on;
 * NULL: a short list. */
typedef int (*mrsi_cmp_fn)(const void *arg, uint32_t a, uint32_t b);
enum mrs_status mrsi_sort_stable(struct mrs_eval *ev, uint32_t *at, uint32_t *other, uint32_t n, mrsi_cmp_fn cmp,
                                 const void *arg);

/* The values of named arguments in a document, v[i] of names[i], missing if not given. FAIL MRS_E_PLAN: no document, an
 * unknown name, a duplicate. */
enum mrs_status mrsi_compile_pick(const struct mrs_expr *x, struct mrs_val spec,
                                  const char *const *names, uint32_t n, struct mrs_val *v,
                                  struct mrs_err *e);

/* op_replace.c: $split; and only one part of its result (-1 is the last), missing if there is none. */
enum mrs_status mrsi_eval_split(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out);
enum mrs_status mrsi_eval_split_at(const struct mrs_expr *split, struct mrs_eval *ev, int64_t index,
                                   struct mrs_val *out);

/* op_hash.c: FAIL if $hash, with this constant as `algorithm`, fails for every input that is not null. */
enum mrs_status mrsi_hash_check(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val algorithm);

/* op_total.c: calls fn for each operand of a total; for a single operand that is an array, for its elements. */
typedef enum mrs_status (*mrsi_each_fn)(void *arg, struct mrs_val v);
enum mrs_status mrsi_each_operand(const struct mrs_expr *x, struct mrs_eval *ev, mrsi_each_fn fn, void *arg);

/* The elements of an array value as a list in the arena. */
enum mrs_status mrsi_list_of(struct mrs_eval *ev, struct mrs_val array, struct mrsi_list *l);

#endif
