/* SPDX-License-Identifier: Apache-2.0 */
/* packed.h - shared by pack and unpack: fields of a document as an array of {key: name, value: value}, or as a
 * document. */
#ifndef MRSI_PACKED_H
#define MRSI_PACKED_H

#include "steps/kit/map.h"

struct mrsi_packed { /* first member of both states */
    struct mrsi_map map;
    struct mrs_path as;     /* the array or document */
    struct mrs_edit *edit;  /* edits below the top level; NULL: `as` is at the top */
    const char *key, *value; /* names in the elements of an array */
    uint32_t key_len, value_len;
    int form;               /* MRSI_AS_ARRAY, MRSI_AS_DOCUMENT */
    bool replace;
};
enum { MRSI_AS_ARRAY, MRSI_AS_DOCUMENT }; /* as in the choices of `form` */
static inline const char *
mrsi_packed_form(const struct mrsi_packed *p)
{
    return p->form == MRSI_AS_DOCUMENT ? "document" : "array";
}
/* Keys of both steps. Begins the map, reads as, form, key, value and replace. */
void mrsi_packed_read(struct mrsi_read *r, struct mrsi_packed *p);
/* After the plan was read without errors: makes the edit of `path`, which is `as` or its parent document. */
void mrsi_packed_edit(struct mrsi_read *r, struct mrsi_packed *p, const struct mrs_path *path);
/* The order of two names, as memcmp gives it. */
int mrsi_packed_order(const char *a, uint32_t n, const char *b, uint32_t m);
/* Refuses the document with the first duplicate name of a level; OK if there is none. */
enum mrs_status mrsi_packed_twice(struct mrs_ctx *c, const char *where, struct mrs_view level);
#define MRSI_PACKED_KEYS                                                                                      \
    {"form", MRS_ARG_CHOICE, false, "array|document", "what `as` is: an array of {key, value}, or a document"},   \
    {"key", MRS_ARG_NAME, false, NULL, "the name of an element's key (k)"},                                   \
    {"value", MRS_ARG_NAME, false, NULL, "the name of an element's value (v)"},                               \
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"}

#endif
