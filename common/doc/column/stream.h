/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - the values of one stream of a column: a whole value now and then, and differences to it. */
#ifndef MRSI_DOC_STREAM_H
#define MRSI_DOC_STREAM_H

#include "simple8b.h"

struct mrsi_deltas {
    struct mrs_val last;         /* the value before the next one; missing: there was none yet */
    struct mrsi_simple8b deltas; /* to come */
    mrsi_u128 number;            /* what deltas are added to: the last value as a number */
    uint64_t step;               /* by which it grew, where deltas are those of steps */
    uint8_t scale;               /* of doubles: an index of powers, or the bits as they are */
    uint8_t room[24];            /* of a last value that was computed: the stream must not be moved */
};

/* The meaning of a control byte for the words after it; false: it is none of words. */
struct mrsi_delta_control {
    uint32_t words;
    uint8_t scale;
};
bool mrsi_delta_control(uint8_t byte, struct mrsi_delta_control *c);
/* v is the last value, whole; missing too. It lives as long as the stream. */
void mrsi_deltas_set(struct mrsi_deltas *s, struct mrs_val v);
/* Words are there. NULL, or what is wrong with that. */
const char *mrsi_deltas_begin(struct mrsi_deltas *s, struct mrsi_delta_control c, const uint8_t *words);
/* The value of the next delta (it may be missing): 1; there is none: 0; damaged: -1 and *why. */
int mrsi_deltas_next(struct mrsi_deltas *s, struct mrs_val *v, const char **why);

#endif
