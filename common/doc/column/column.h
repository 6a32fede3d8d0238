/* SPDX-License-Identifier: Apache-2.0 */
/* column.h - the values of a field of many documents, as binary data of subtype 7 hold them, one after the other. */
#ifndef MRSI_DOC_COLUMN_H
#define MRSI_DOC_COLUMN_H

#include "stream.h"

enum { MRSI_COLUMN_SUBTYPE = 7 };

struct mrsi_column_field; /* of the document that all those in a part of the column are like */
struct mrsi_column_reader {
    struct mrs_mem *mem;
    const uint8_t *start, *at, *end; /* of the bytes */
    struct mrsi_deltas plain;        /* outside of such a part */
    bool together;                   /* inside of one */
    struct mrsi_deltas *stream;      /* one for each value of a document */
    uint32_t n_streams, cap_streams;
    struct mrsi_column_field *field;
    uint32_t n_fields, cap_fields;
    struct mrs_buf built;            /* the last of its documents */
    uint32_t *room;                  /* fields that there may still be, in all columns of a bucket */
};

void mrsi_column_init(struct mrsi_column_reader *c, struct mrs_mem *mem, uint32_t *room);
void mrsi_column_clear(struct mrsi_column_reader *c); /* harmless twice; it may be used again */
/* The bytes behind length and subtype; they outlive the column. */
void mrsi_column_begin(struct mrsi_column_reader *c, const uint8_t *p, uint32_t n);
/* The next value; missing where a document lacks the field. It lives until the next call. What is nested in it was not
 * checked. OK; END; FAIL MRS_E_BSON, MRS_E_LIMIT; DEAD. */
enum mrs_status mrsi_column_next(struct mrsi_column_reader *c, struct mrs_val *v, struct mrs_err *e);

#endif
