/* SPDX-License-Identifier: Apache-2.0 */
/* packed.h - shared by pack and unpack: fields of a document as an array of {key: name, value: value}. */
#ifndef MRSI_PACKED_H
#define MRSI_PACKED_H

#include "steps/kit/map.h"

struct mrsi_packed { /* first member of both states */
    struct mrsi_map map;
    struct mrs_path as;     /* the array */
    struct mrs_edit *edit;  /* edits below the top level; NULL: the array is at the top */
    const char *key, *value; /* names in its elements */
    uint32_t key_len, value_len;
    bool replace;
};
/* Keys of both steps. Begins the map, reads as, key, value and replace. */
void mrsi_packed_read(struct mrsi_read *r, struct mrsi_packed *p);
/* After the plan was read without errors: makes the edit of `path`, which is `as` or its parent document. */
void mrsi_packed_edit(struct mrsi_read *r, struct mrsi_packed *p, const struct mrs_path *path);
#define MRSI_PACKED_KEYS                                                                                      \
    {"key", MRS_ARG_NAME, false, NULL, "the name of an element's key (k)"},                                   \
    {"value", MRS_ARG_NAME, false, NULL, "the name of an element's value (v)"},                               \
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"}

#endif
