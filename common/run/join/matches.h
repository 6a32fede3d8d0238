/* SPDX-License-Identifier: Apache-2.0 */
/* matches.h - the sorted matches of one document of `into`, as a splice reads them. */
#ifndef MRS_RUN_MATCHES_H
#define MRS_RUN_MATCHES_H

#include "join.h"
#include "mongoreshape/join_ops.h"

/* A record and the reference of this into document that it matches (a lookup shares records). */
struct mrsi_match_record {
    const struct mrsi_rec *rec;
    const uint8_t *payload; /* of a far record, loaded; NULL: it is in the record */
    uint64_t ref;
};

struct mrsi_match_list {
    struct mrs_matches m;          /* interface for the step */
    struct mrsi_join_run *j;
    struct mrsi_match_record *match; /* in the order of the step */
    uint8_t *used;                 /* 0x80 | recorded bits; 0: none recorded */
    uint64_t n, at;
    const struct mrsi_match_record *line,
        *line_end; /* records in the order of use: of this document and of later ones */
    const struct mrsi_match_record *fetched; /* records before this one are prefetched */
    struct mrs_buf useds, spare;   /* buffers of the above */
    struct mrs_buf named;          /* buffer of m.named */
};
/* For a record of a refused document of from: records its fate, and adds its reference to a list for mrs_matches.named,
 * initially empty. */
enum mrs_status mrsi_match_no(struct mrsi_join_run *j, const struct mrsi_rec *r, uint64_t ref,
                              const struct mrsi_hashed *into, struct mrs_buf *named, struct mrs_err *e);
/* What the step sees of a record. */
void mrsi_match_from(const struct mrsi_match_record *match, struct mrs_match *out);
void mrsi_match_list_init(struct mrsi_match_list *l, struct mrsi_join_run *j, struct mrs_mem *mem);
void mrsi_match_list_clear(struct mrsi_match_list *l);
/* Makes the list from these n records, in place: verified, sorted as the step requires, without duplicates. n_line:
 * their number including those of later documents. */
enum mrs_status mrsi_match_list_set(struct mrsi_match_list *l, struct mrsi_join_run *j, struct mrsi_match_record *match,
                                    size_t n, size_t n_line, const struct mrsi_hashed *into, struct mrs_err *e);
/* Copies the results to the fates: as recorded, or (refused) left. Returns the number of placed ones. */
uint64_t mrsi_match_list_settle(struct mrsi_match_list *l, struct mrsi_join_run *j, bool refused);

#endif
