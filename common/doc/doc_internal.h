/* SPDX-License-Identifier: Apache-2.0 */
/* doc_internal.h - declarations for the files of common/doc only. */
#ifndef MRS_DOC_INTERNAL_H
#define MRS_DOC_INTERNAL_H

#include "mongoreshape/doc.h"

/* The NUL of a name at p; `end` is a NUL (the last byte of a checked frame). Names are short: eight bytes at a time
 * find most of them with the first load. */
static inline const uint8_t *
mrsi_name_end(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 8) {
        uint64_t w = mrs_le64(p);
        uint64_t zero = (w - 0x0101010101010101u) & ~w & 0x8080808080808080u;
        if (zero) {
            return p + (__builtin_ctzll(zero) >> 3);
        }
        p += 8;
    }
    while (*p) {
        p++;
    }
    return p;
}

/* A fast hash of a short name; use its upper bits. */
static inline uint32_t
mrsi_name_hash(const char *name, uint32_t n)
{
    uint64_t a = 0, b = n;
    if (n >= 8) {
        memcpy(&a, name, 8);
        memcpy(&b, name + n - 8, 8);
    } else if (n >= 4) {
        memcpy(&a, name, 4);
        memcpy(&b, name + n - 4, 4);
        a = a << 32 | (b & 0xffffffffu);
        b = 0;
    } else if (n) {
        a = (uint64_t)(uint8_t)name[0] << 16 | (uint64_t)(uint8_t)name[n / 2] << 8 | (uint8_t)name[n - 1];
    }
    a = (a ^ (b >> 32 | b << 32)) + n;
    return (uint32_t)((a * 0x9E3779B97F4A7C15u) >> 32);
}

static inline bool
mrsi_is_nested(uint8_t type)
{
    return type == MRS_DOCUMENT || type == MRS_ARRAY || type == MRS_CODE_W_SCOPE;
}

/* Rank of each type in the canonical order. */
extern const int8_t mrsi_rank[256];

/* ---- template.c ---- */
typedef uint64_t mrsi_wide __attribute__((vector_size(16)));

static inline mrsi_wide
mrsi_load_wide(const uint8_t *p)
{
    mrsi_wide v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline mrsi_wide
mrsi_template_differs(const struct mrs_template *k, const uint8_t *p, uint32_t at)
{
    return (mrsi_load_wide(p + at) ^ mrsi_load_wide(k->bytes + at)) & mrsi_load_wide(k->mask + at);
}

/* Whether the document at p, which has the length of the template, matches it. */
static inline bool
mrsi_template_has(const struct mrs_template *k, const uint8_t *p)
{
    const uint32_t step = sizeof(mrsi_wide), last = k->size - step;
    mrsi_wide other = mrsi_template_differs(k, p, last);
    uint32_t i = 0;
    for (; i + step < last; i += 2 * step) {
        other |= mrsi_template_differs(k, p, i) | mrsi_template_differs(k, p, i + step);
    }
    if (i < last) {
        other |= mrsi_template_differs(k, p, i);
    }
    return (other[0] | other[1]) == 0;
}

bool mrsi_template_fits(uint32_t n); /* whether documents of n bytes can have a template */
/* Bytes and mask of d, which was checked and fits. */
void mrsi_template_of(struct mrs_template *k, struct mrs_view d);
/* d was checked, does not match the template k of the layout, and has these fields; k may become its template. */
void mrsi_template_learn(struct mrs_layout *layout, struct mrs_template *k, struct mrs_view d,
                         const struct mrs_eval_fields *f);

/* Whether this one level has duplicate names; as mrs_doc_has_duplicates. */
bool mrsi_level_duplicates(struct mrs_mem *mem, struct mrs_view d);
/* Removes duplicate names from the document that begins at `start` of out and ends at its end: the last value stays, in
 * the place of the first. OK; DEAD. */
enum mrs_status mrsi_level_keep_last(struct mrs_buf *out, size_t start, struct mrs_err *e);

/* The document inside a CODE_W_SCOPE, and its code as a CODE value. */
struct mrs_view mrsi_scope(struct mrs_val v);
struct mrs_val mrsi_scope_code(struct mrs_val v);

#endif
