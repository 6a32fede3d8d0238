/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - values of the vectors against ours, and how a difference is shown. */
#ifndef TESTS_VECTORS_COMPARE_H
#define TESTS_VECTORS_COMPARE_H

#include "mongoreshape/doc.h"

struct how {
    bool any_order;  /* the elements of the outermost array, or the documents, in any order */
    /* names (an array of texts) of fields of the outermost documents whose arrays may have any order; p NULL: none */
    struct mrs_view any_order_in;
    bool any_fields; /* fields of documents in any order, at every depth */
};

/* Same type and bytes, but for the payload of NaN and the order of regex options. */
bool same_value(struct mrs_val a, struct mrs_val b, const struct how *how);
bool same_list(const struct mrs_val *a, uint32_t n_a, const struct mrs_val *b, uint32_t n_b, const struct how *how);
/* "got ..., expected ..." in static memory. */
const char *describe_difference(struct mrs_val got, struct mrs_val expected);

#endif
