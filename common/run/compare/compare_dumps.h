/* SPDX-License-Identifier: Apache-2.0 */
/* compare_dumps.h - interfaces between the files of a comparison. */
#ifndef MRS_RUN_COMPARE_H
#define MRS_RUN_COMPARE_H

#include "readers.h"
#include "mongoreshape/compare.h"

struct mrsi_compare {
    struct mrsi_engine *en;
    struct mrs_input *in[2];
    uint64_t memory; /* for tables and sorters together */
    uint64_t limit;
    struct mrs_diff *out;
    struct mrs_salt salt; /* of the digests: that of the manifest, or random for two dumps */
};
/* The two sides of a namespace: indexes in the inputs; MRSI_NONE: missing. */
struct mrsi_compare_pair {
    uint32_t at[2];
};

/* Options of the readers. */
struct mrs_run_opts mrsi_compare_opts(const struct mrs_diff_opts *o);
bool mrsi_compare_same(const struct mrs_docs *a, const struct mrs_docs *b);
/* Reads a namespace of one side to its end: *docs. */
enum mrs_status mrsi_compare_digest(struct mrsi_compare *c, uint32_t side, uint32_t at, struct mrs_docs *docs,
                                    struct mrs_err *e);
/* s, or the error that one of the inputs changed meanwhile. */
enum mrs_status mrsi_compare_unchanged(const struct mrsi_compare *c, enum mrs_status s, struct mrs_err *e);
enum { MRSI_COMPARE_DOC, MRSI_COMPARE_ID }; /* domains of the secret hash */
/* compare_docs.c: finds and counts the documents that differ, in a namespace with different digests. */
enum mrs_status mrsi_compare_docs(struct mrsi_compare *c, const struct mrsi_compare_pair *pair,
                                  struct mrs_diff_coll *coll, struct mrs_err *e);
/* compare_values.c: the first values that differ, into doc; a and b are not equal. */
enum mrs_status mrsi_compare_values(struct mrs_arena *a, struct mrs_view left, struct mrs_view right,
                                    struct mrs_diff_doc *doc, struct mrs_err *e);
/* A shortened text of a value, relaxed, in the arena. NULL: out of memory. */
const char *mrsi_compare_text(struct mrs_arena *a, struct mrs_val v);
/* The texts of two values, shortened to where they differ, in the arena; NULL if missing. false: out of memory. */
bool mrsi_compare_texts(struct mrs_arena *arena, const struct mrs_val v[2], bool canonical, const char *out[2]);
/* compare_meta.c: the differences of options and indexes. */
enum mrs_status mrsi_compare_meta(struct mrs_arena *a, struct mrs_view left, struct mrs_view right,
                                  struct mrs_diff_coll *coll, struct mrs_err *e);
#endif
