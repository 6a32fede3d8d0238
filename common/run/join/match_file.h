/* SPDX-License-Identifier: Apache-2.0 */
/* match_file.h - the matches of one into document if they do not fit into memory: a list in a temporary file. */
#ifndef MRS_RUN_MATCH_FILE_H
#define MRS_RUN_MATCH_FILE_H

#include "matches.h"
#include "mongoreshape/join_ops.h"

struct mrsi_match_file {
    struct mrs_matches m;     /* interface for the step */
    struct mrsi_engine *en;
    struct mrsi_temp *temp;
    uint64_t bytes, n;
    struct mrs_buf tail;      /* records not written yet */
    struct mrs_buf useds;     /* one byte for each match, as in matches.h */
    struct mrs_buf window;    /* read buffer of the file */
    uint64_t window_off, at;  /* at: offset of the next record */
    size_t window_at;
    uint64_t n_returned;           /* matches returned since the last rewind */
    uint64_t last_order, last_ref;
    bool any, by_reference;
};
void mrsi_match_file_init(struct mrsi_match_file *f, struct mrsi_engine *en);
void mrsi_match_file_clear(struct mrsi_match_file *f);
void mrsi_match_file_begin(struct mrsi_match_file *f, bool by_reference); /* resets it */
/* Appends a record, in the order of the step; duplicates are dropped. */
enum mrs_status mrsi_match_file_put(struct mrsi_match_file *f, const struct mrsi_rec *r, struct mrs_err *e);
enum mrs_status mrsi_match_file_end(struct mrsi_match_file *f, const struct mrsi_hashed *into, struct mrs_err *e);
/* Like mrsi_match_list_settle; *placed is increased. */
enum mrs_status mrsi_match_file_settle(struct mrsi_match_file *f, struct mrsi_join_run *j, bool refused,
                                       uint64_t *placed, struct mrs_err *e);

#endif
