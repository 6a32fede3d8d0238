/* SPDX-License-Identifier: Apache-2.0 */
/* matches.h - the documents of `from` that one document of `into` meets, put in order and handed to a splice. */
#ifndef MRS_RUN_MATCHES_H
#define MRS_RUN_MATCHES_H

#include "join.h"
#include "mongoreshape/join_ops.h"

/* A record and the reference of this into document that it meets (a lookup's records serve many). */
struct mrsi_match_record {
    const struct mrsi_rec *rec;
    const uint8_t *shape; /* of a far record, loaded; NULL: it is in the record */
    uint64_t ref;
};

struct mrsi_match_list {
    struct mrs_matches m;          /* what the step sees */
    struct mrsi_join_run *j;
    struct mrsi_match_record *match; /* in the order of the step */
    uint8_t *used;                 /* 0x80 | recorded bits; 0: none recorded */
    uint64_t n, at;
    const struct mrsi_match_record *line,
        *line_end; /* records in the order in which they will be wanted, of this document and of those behind it */
    const struct mrsi_match_record *fetched; /* up to here they are on their way into the processor's cache */
    struct mrs_buf useds, spare;   /* memory of the above */
    struct mrs_buf named;          /* of m.named */
};
/* A record of a document of from that is refused itself: its fate, and the reference that names it into a list for
 * mrs_matches.named, which is empty at first. */
enum mrs_status mrsi_match_no(struct mrsi_join_run *j, const struct mrsi_rec *r, uint64_t ref,
                              const struct mrsi_hashed *into, struct mrs_buf *named, struct mrs_err *e);
/* What a step sees of a record. */
void mrsi_match_from(const struct mrsi_match_record *match, struct mrs_match *out);
void mrsi_match_list_init(struct mrsi_match_list *l, struct mrsi_join_run *j, struct mrs_mem *mem);
void mrsi_match_list_clear(struct mrsi_match_list *l);
/* Makes the list of these n, in their own place: those that are verified, sorted as the step wants them, each once.
 * n_line: how many there are with those of later documents. */
enum mrs_status mrsi_match_list_set(struct mrsi_match_list *l, struct mrsi_join_run *j, struct mrsi_match_record *match,
                                    size_t n, size_t n_line, const struct mrsi_hashed *into, struct mrs_err *e);
/* Puts the results into the fates: as recorded, or (refused) left. Returns how many were placed. */
uint64_t mrsi_match_list_settle(struct mrsi_match_list *l, struct mrsi_join_run *j, bool refused);

#endif
