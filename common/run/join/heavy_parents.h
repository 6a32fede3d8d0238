/* SPDX-License-Identifier: Apache-2.0 */
/* heavy_parents.h - a slice of into documents with more records than a worker can hold: they are sorted on disk and
 * returned document by document. */
#ifndef MRS_RUN_HEAVY_H
#define MRS_RUN_HEAVY_H

#include "join_slice.h"
#include "match_file.h"

struct mrsi_heavy {
    struct mrsi_join_run *j;
    struct mrsi_sorter sorter;
    struct mrsi_sorted next;
    bool have;
    struct mrs_buf near, payload; /* a loaded far record, and its payload */
    struct mrs_buf bytes, offs;   /* records of one document, and their offsets */
    struct mrs_buf matches;       /* struct mrsi_match_record, for a match list */
    struct mrs_buf named;         /* for mrs_matches.named, if not empty */
    struct mrsi_match_file file;
    bool in_file;                 /* the document's matches are in the file, not in `matches` */
    struct mrsi_temp *pages;      /* pages of a splice beyond a few megabytes */
    uint64_t page_bytes;
};
enum mrs_status mrsi_heavy_begin(struct mrsi_heavy *h, struct mrsi_join_run *j, const struct mrsi_slice *slice,
                                 uint64_t lo, uint64_t hi, struct mrs_err *e);
void mrsi_heavy_end(struct mrsi_heavy *h);
/* Reads the matches of the document with this ordinal, into `matches` or the file. Ordinals ascend. */
enum mrs_status mrsi_heavy_gather(struct mrsi_heavy *h, uint64_t ord, const struct mrsi_hashed *into,
                                  struct mrs_err *e);
/* Moves pages from memory to the file. */
enum mrs_status mrsi_heavy_put_pages(struct mrsi_heavy *h, struct mrs_buf *pages, struct mrs_err *e);

#endif
