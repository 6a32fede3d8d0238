/* SPDX-License-Identifier: Apache-2.0 */
/* column.h - reads the values of one field of many documents, in order, from binary data of subtype 7. */
#ifndef MRSI_DOC_COLUMN_H
#define MRSI_DOC_COLUMN_H

#include "stream.h"

enum { MRSI_COLUMN_SUBTYPE = 7 };

struct mrsi_column_field; /* of the document that is the template for a part of the column */
struct mrsi_column_reader {
    struct mrs_mem *mem;
    const uint8_t *start, *at, *end; /* of the column's bytes */
    struct mrsi_deltas plain;        /* outside such a part */
    bool together;                   /* inside one */
    struct mrsi_deltas *stream;      /* one for each value of a document */
    uint32_t n_streams, cap_streams;
    struct mrsi_column_field *field;
    uint32_t n_fields, cap_fields;
    struct mrs_buf built;            /* the last of its documents */
    uint32_t *room;                  /* number of further fields allowed, in all columns of a bucket */
};

void mrsi_column_init(struct mrsi_column_reader *c, struct mrs_mem *mem, uint32_t *room);
void mrsi_column_clear(struct mrsi_column_reader *c); /* may be called twice; it may be used again */
/* The bytes after length and subtype; they must outlive the column. */
void mrsi_column_begin(struct mrsi_column_reader *c, const uint8_t *p, uint32_t n);
/* The next value; missing if a document lacks the field. It lives until the next call. Nested values were not checked.
 * OK; END; FAIL MRS_E_BSON, MRS_E_LIMIT; DEAD. */
enum mrs_status mrsi_column_next(struct mrsi_column_reader *c, struct mrs_val *v, struct mrs_err *e);

#endif
