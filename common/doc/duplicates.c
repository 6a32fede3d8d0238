/* SPDX-License-Identifier: Apache-2.0 */
/* duplicates.c - does a document hold a name twice?
 *
 * Asked for every document that is rewritten, so the common case (a few fields) sets one bit per name in a small
 * bitmap and looks closer only when a bit is set already. Levels of many fields go through a hash table on the
 * stack; where they are too many for it, the names are taken in as many portions as it takes, by their hash, so
 * that no memory is needed and no input makes the work quadratic in practice.
 * It must not know about arrays' indexes: only documents are judged. */
#include "internal.h"

#include <xxhash.h>

#define FEW 64
#define SLOTS 8192u

static bool
stands_before(struct mrs_view d, const struct mrs_elem *e)
{
    struct mrs_walk w;
    struct mrs_elem x;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &x) > 0 && x.p < e->p) {
        if (mrs_name_is(&x, e->name, e->name_len)) {
            return true;
        }
    }
    return false;
}

/* One portion of the names of a wide level: those whose hash falls on `part` of `parts`. */
static bool
portion(struct mrs_view d, uint32_t part, uint32_t parts)
{
    uint32_t slot[SLOTS] = {0}; /* offsets of names in d; 0: free */
    uint32_t used = 0;
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) > 0) {
        uint64_t h = XXH3_64bits(e.name, e.name_len);
        if ((h >> 32) % parts != part || used == SLOTS - 1) {
            continue;
        }
        uint32_t i = (uint32_t)h % SLOTS;
        while (slot[i]) {
            const char *other = (const char *)d.p + slot[i];
            if (memcmp(other, e.name, e.name_len + 1) == 0) {
                return true;
            }
            i = (i + 1) % SLOTS;
        }
        slot[i] = (uint32_t)((const uint8_t *)e.name - d.p);
        used++;
    }
    return false;
}

static bool
wide_level(struct mrs_view d)
{
    uint32_t parts = mrs_doc_count(d) / (SLOTS / 2) + 1;
    for (uint32_t i = 0; i < parts; i++) {
        if (portion(d, i, parts)) {
            return true;
        }
    }
    return false;
}

bool
mrsi_level_duplicates(struct mrs_view d)
{
    uint64_t seen[16] = {0};
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n = 0;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) > 0) {
        uint32_t h = mrsi_name_hash(e.name, e.name_len) >> 22;
        uint64_t bit = 1ull << (h & 63);
        if ((seen[h >> 6] & bit) && stands_before(d, &e)) {
            return true;
        }
        seen[h >> 6] |= bit;
        if (++n > FEW) {
            return wide_level(d);
        }
    }
    return false;
}

bool
mrs_doc_has_duplicates(struct mrs_view d, bool one_level)
{
    struct mrs_walk stack[MRS_DEPTH_READ];
    struct mrs_elem e;
    int depth = 1;
    if (mrsi_level_duplicates(d)) {
        return true;
    }
    mrs_walk_init(&stack[0], d);
    while (!one_level && depth > 0) {
        if (mrs_walk_next(&stack[depth - 1], &e) <= 0) {
            depth--;
            continue;
        }
        if (!mrsi_holds_document(e.v.type) || depth == MRS_DEPTH_READ) {
            continue;
        }
        struct mrs_view sub = e.v.type == MRS_CODE_W_SCOPE ? mrsi_scope(e.v) : mrs_val_view(e.v);
        if (e.v.type != MRS_ARRAY && mrsi_level_duplicates(sub)) {
            return true;
        }
        mrs_walk_init(&stack[depth++], sub);
    }
    return false;
}
