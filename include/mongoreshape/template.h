/* SPDX-License-Identifier: Apache-2.0 */
/* template.h - documents that look alike, so that one need not be walked again. */
#ifndef MONGORESHAPE_TEMPLATE_H
#define MONGORESHAPE_TEMPLATE_H

#include "mongoreshape/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fields at the top of a document, for a search of several of them. */
#define MRS_EVAL_FIELDS_MAX 24
struct mrs_eval_fields {
    uint32_t n;
    bool all; /* the document has no others */
    uint64_t names; /* not 0: documents with this number have the same names in the same order */
    const struct mrs_template *tpl; /* not NULL: the document has this look */
    struct mrs_elem e[MRS_EVAL_FIELDS_MAX];
};
/* Documents of one template: as long, with the same types, names and lengths of values in the same places. */
#define MRS_TEMPLATE_MAX 512 /* bytes; longer documents have none */
struct mrs_template {
    uint64_t no;             /* of no other look of the same layout */
    uint64_t names;          /* as in struct mrs_eval_fields */
    uint32_t size;           /* of a document; 0: no look is known */
    uint32_t other_size;     /* size of the last document that had another one */
    uint32_t misses;         /* documents of that size that had another one */
    uint32_t n;
    struct mrs_template_field {
        uint16_t at, value, n; /* where the field and its value begin, bytes of that */
        uint8_t type;
    } field[MRS_EVAL_FIELDS_MAX];
    uint8_t bytes[MRS_TEMPLATE_MAX], mask[MRS_TEMPLATE_MAX]; /* a document, and which of its bits belong to the look */
};
/* What the documents of a thread begin with, one as the other: names, and types of values. Zeroed at first. A document
 * that begins like this is walked sooner, since where a field ends is foreseen; one of a template that is known is not
 * walked. */
struct mrs_layout {
    uint64_t no; /* how often it was learned */
    uint32_t n;
    uint32_t misses;  /* documents that were not like this */
    struct mrs_layout_field {
        uint64_t first, last, mask; /* the name with its NUL, as far as eight bytes at either end say it */
        uint8_t size;               /* of that */
        uint8_t type;
        uint8_t value; /* size of the value; 0x80: it has its own */
    } field[MRS_EVAL_FIELDS_MAX];
    uint64_t looks; /* how often one was learned */
    struct mrs_template tpl[8]; /* by size */
};
/* mrs_doc_check that finds them on its way; of a document with a known look it tells the look alone. layout: NULL, or
 * of the documents before, which were checked with the same max_depth. */
enum mrs_status mrs_doc_check_fields(const uint8_t *bytes, uint64_t n, int max_depth, struct mrs_eval_fields *fields,
                                     struct mrs_layout *layout, struct mrs_err *e);
/* The fields of the document at p, which has the look. */
void mrs_template_fields(const struct mrs_template *k, const uint8_t *p, struct mrs_eval_fields *fields);

#ifdef __cplusplus
}
#endif
#endif
