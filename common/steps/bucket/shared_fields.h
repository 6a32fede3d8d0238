/* SPDX-License-Identifier: Apache-2.0 */
/* shared_fields.h - recognizes documents with the template of an earlier one: same types, names and lengths at the same
 * offsets.
 *
 * Items of an array, and documents of a collection, come in long runs of one template. What is known about the names of
 * one of them holds for all, and comparing a few words is cheaper than a walk. */
#ifndef MRSI_SHARED_FIELDS_H
#define MRSI_SHARED_FIELDS_H

#include "mongoreshape/doc.h"

enum { MRSI_BUCKET_TEMPLATE_WORDS = 32 };
struct mrsi_bucket_template { /* all zeros: no template is known */
    uint32_t size; /* of a document of that template */
    uint32_t last; /* size of the last document with another template */
    uint32_t n;
    struct {
        uint64_t mask, bytes;
        uint32_t off;
    } word[MRSI_BUCKET_TEMPLATE_WORDS];
};

/* Does d, which is validated or built here, match the template? One level only: nested documents count by their
 * length. */
static inline bool
mrsi_bucket_template(const struct mrsi_bucket_template *a, struct mrs_view d)
{
    uint64_t other = d.n ^ a->size;
    for (uint32_t i = 0; !other && i < a->n; i++) {
        other = (mrs_le64(d.p + a->word[i].off) ^ a->word[i].bytes) & a->word[i].mask;
    }
    return a->size && !other;
}
/* d does not match. True: the template is now that of d. This is so if the last mismatch had the same size, because
 * learning a template takes longer than a walk. */
bool mrsi_bucket_template_learn(struct mrsi_bucket_template *a, struct mrs_view d);

#endif
