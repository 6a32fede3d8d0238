/* internal.h - what the files of common/doc share and nobody else sees. */
#ifndef MRS_DOC_INTERNAL_H
#define MRS_DOC_INTERNAL_H

#include "mongoreshape/doc.h"

/* The NUL of a name that begins at p, where a NUL stands at `end` at the latest (the last byte of a checked frame). Names are short: eight
 * bytes at a time find most of them with the first load. */
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

static inline bool
mrsi_holds_document(uint8_t type)
{
    return type == MRS_DOCUMENT || type == MRS_ARRAY || type == MRS_CODE_W_SCOPE;
}

/* Rank of each type in the canonical order. */
extern const int8_t mrsi_rank[256];

/* Whether this one level holds a name twice. */
bool mrsi_level_duplicates(struct mrs_view d);

/* The document inside a CODE_W_SCOPE, and its code as a CODE value. */
struct mrs_view mrsi_scope(struct mrs_val v);
struct mrs_val mrsi_scope_code(struct mrs_val v);

#endif
