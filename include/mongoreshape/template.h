/* SPDX-License-Identifier: Apache-2.0 */
/* template.h - templates: layouts that most documents share, so that matching documents need no walk. */
#ifndef MONGORESHAPE_TEMPLATE_H
#define MONGORESHAPE_TEMPLATE_H

#include "mongoreshape/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The top-level fields of a document, to look up several of them. */
#define MRS_EVAL_FIELDS_MAX 24
struct mrs_eval_fields {
    uint32_t n;
    bool all; /* the document has no others */
    uint64_t names; /* not 0: documents with this number have the same names in the same order */
    const struct mrs_template *tpl; /* not NULL: the document matches this template */
    struct mrs_elem e[MRS_EVAL_FIELDS_MAX];
};
/* Documents of one template: same length, same types, names and lengths of values at the same offsets. */
#define MRS_TEMPLATE_MAX 512 /* bytes; longer documents have none */
struct mrs_template {
    uint64_t no;             /* unique among templates of the same layout */
    uint64_t names;          /* as in struct mrs_eval_fields */
    uint32_t size;           /* of a document; 0: no template yet */
    uint32_t other_size;     /* size of the last document without a match */
    uint32_t misses;         /* documents of that size without a match */
    uint32_t n;
    struct mrs_template_field {
        uint16_t at, value, n; /* offsets of the field and its value, length of the value */
        uint8_t type;
    } field[MRS_EVAL_FIELDS_MAX];
    uint8_t bytes[MRS_TEMPLATE_MAX], mask[MRS_TEMPLATE_MAX]; /* a document, and a mask of the bits that must match */
};
/* The common prefix of the documents of a thread: names, and types of values. Zeroed at first. A document with this
 * prefix is walked faster, since the ends of its fields are predictable; one that matches a template is not walked. */
struct mrs_layout {
    uint64_t no; /* number of times it was learned */
    uint32_t n;
    uint32_t misses;  /* documents that did not match */
    struct mrs_layout_field {
        uint64_t first, last, mask; /* the name with its NUL: eight bytes at either end, with their mask */
        uint8_t size;               /* of the name */
        uint8_t type;
        uint8_t value; /* size of the value; 0x80: variable */
    } field[MRS_EVAL_FIELDS_MAX];
    uint64_t looks; /* number of templates learned */
    struct mrs_template tpl[8]; /* by size */
};
/* mrs_doc_check that also finds the fields; for a document with a known template it only compares the template. layout:
 * NULL, or that of earlier documents, which were checked with the same max_depth. */
enum mrs_status mrs_doc_check_fields(const uint8_t *bytes, uint64_t n, int max_depth, struct mrs_eval_fields *fields,
                                     struct mrs_layout *layout, struct mrs_err *e);
/* The fields of the document at p, which matches the template. */
void mrs_template_fields(const struct mrs_template *k, const uint8_t *p, struct mrs_eval_fields *fields);

#ifdef __cplusplus
}
#endif
#endif
