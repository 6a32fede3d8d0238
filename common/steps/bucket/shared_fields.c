/* SPDX-License-Identifier: Apache-2.0 */
/* shared_fields.c - see shared_fields.h. */
#include "shared_fields.h"

enum { WORD = 8 };

/* Adds n bytes of d, from `off` on, to the template; false: the template is full. */
static bool
add_bytes(struct mrsi_bucket_template *a, struct mrs_view d, uint32_t off, uint32_t n)
{
    MRS_ASSERT((uint64_t)off + n <= d.n && a->n <= MRSI_BUCKET_TEMPLATE_WORDS);
    for (uint32_t some; n; n -= some, off += some) {
        some = n < WORD ? n : WORD;
        uint32_t back = off + WORD > d.n ? off + WORD - d.n : 0; /* a word must not extend past the document */
        if (a->n == MRSI_BUCKET_TEMPLATE_WORDS) {
            return false;
        }
        uint64_t mask = (some == WORD ? UINT64_MAX : (1ull << some * 8) - 1) << back * 8;
        a->word[a->n].off = off - back;
        a->word[a->n].mask = mask;
        a->word[a->n].bytes = mrs_le64(d.p + off - back) & mask;
        a->n++;
    }
    return true;
}

/* Do the first four bytes of a value of this type give its length? */
static bool
begins_with_length(uint8_t type)
{
    return type == MRS_STRING || type == MRS_DOCUMENT || type == MRS_ARRAY || type == MRS_BINARY;
}

bool
mrsi_bucket_template_learn(struct mrsi_bucket_template *a, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool again = d.n == a->last;
    struct mrs_walk w;
    struct mrs_elem e;
    a->last = d.n;
    if (!again || d.n < WORD) {
        return false;
    }
    a->size = a->n = 0;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) == 1) {
        uint32_t head = (uint32_t)(e.v.p - e.p);
        bool fixed = mrs_fixed_size[e.v.type] != 0x80;
        if ((!fixed && !begins_with_length(e.v.type)) ||
            !add_bytes(a, d, (uint32_t)(e.p - d.p), fixed ? head : head + 4)) {
            return false;
        }
    }
    a->size = d.n;
    return true;
}
