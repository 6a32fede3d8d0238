/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - the values of one stream of a column: complete values, and differences to them. */
#ifndef MRSI_DOC_STREAM_H
#define MRSI_DOC_STREAM_H

#include "simple8b.h"

struct mrsi_deltas {
    struct mrs_val last;         /* the previous value; missing: none yet */
    struct mrsi_simple8b deltas; /* the remaining deltas */
    mrsi_u128 number;            /* base of the deltas: the last value as a number */
    uint64_t step;               /* its last increase, if deltas are those of steps */
    uint8_t scale;               /* of doubles: an index of powers, or the raw bits */
    uint8_t room[24];            /* bytes of a computed last value: the stream must not be moved */
};

/* The meaning of a control byte for the words after it; false: no words follow it. */
struct mrsi_delta_control {
    uint32_t words;
    uint8_t scale;
};
bool mrsi_delta_control(uint8_t byte, struct mrsi_delta_control *c);
/* Sets the last value to v, complete; missing too. It must outlive the stream. */
void mrsi_deltas_set(struct mrsi_deltas *s, struct mrs_val v);
/* Starts these words. NULL, or the error. */
const char *mrsi_deltas_begin(struct mrsi_deltas *s, struct mrsi_delta_control c, const uint8_t *words);
/* The value of the next delta (it may be missing): 1; none left: 0; damaged: -1 and *why. */
int mrsi_deltas_next(struct mrsi_deltas *s, struct mrs_val *v, const char **why);

#endif
