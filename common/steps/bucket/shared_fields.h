/* SPDX-License-Identifier: Apache-2.0 */
/* shared_fields.h - documents that look as an earlier one: the same types, names and lengths at the same places.
 *
 * Items of an array, and documents of a collection, come in long runs of one template. What was found out about the
 * names of one of them holds for all, and to see that one looks so takes a comparison of a few words, not a walk. */
#ifndef MRSI_SHARED_FIELDS_H
#define MRSI_SHARED_FIELDS_H

#include "mongoreshape/doc.h"

enum { MRSI_BUCKET_TEMPLATE_WORDS = 32 };
struct mrsi_bucket_template { /* all zeros: no look is known */
    uint32_t size; /* of a document of that template */
    uint32_t last; /* of the last document that had another one */
    uint32_t n;
    struct {
        uint64_t mask, bytes;
        uint32_t off;
    } word[MRSI_BUCKET_TEMPLATE_WORDS];
};

/* Whether d, which was checked or built here, has the look that is known: one level, nested documents count by their
 * lengths alone. */
static inline bool
mrsi_bucket_template(const struct mrsi_bucket_template *a, struct mrs_view d)
{
    uint64_t other = d.n ^ a->size;
    for (uint32_t i = 0; !other && i < a->n; i++) {
        other = (mrs_le64(d.p + a->word[i].off) ^ a->word[i].bytes) & a->word[i].mask;
    }
    return a->size && !other;
}
/* d has not that look. True: from now on the look of d is the known one; so it is where the last other one was as long,
 * because to learn a look takes longer than a walk. */
bool mrsi_bucket_template_learn(struct mrsi_bucket_template *a, struct mrs_view d);

#endif
