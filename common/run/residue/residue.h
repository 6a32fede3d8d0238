/* SPDX-License-Identifier: Apache-2.0 */
/* residue.h - a residue: a file with the data that the inverse of a plan does not restore; internal to residue*.c.
 *
 * The file: 8 bytes of magic, then records {type u32, length u64, XXH3-64 of type, length and content u64, content},
 * all numbers little-endian. In this order:
 * - HEAD: BSON {version, secret, tool, plan, inverse, now, touched: [{ns, docs, digest, order}]}: the ids of both
 *   plans, $$NOW, and the forward run's output in the collections that either plan names. `digest` is the sum of the
 *   hashes of the documents, `order` a hash of their sequence, with the secret (mrs_hash_secret); files of version 1
 *   have none, and XXH3 with the seed 0.
 * - then for each of these collections, by name, COLL, DOCS and DONE:
 * - COLL: BSON {ns, db, coll, there, data, meta, metadata}: did the input have the collection, a data file, a metadata
 *   file; `metadata` its bytes, absent if the inverse gives the same
 * - DOCS: any number, none if the inverse gives the same documents: operations and compressed documents, below
 * - DONE: BSON {same, docs, digest, order} of the input's collection
 * - END: BSON {records}: a file without it is truncated
 *
 * DOCS: lengths u32 of the operations, of their frame, of the documents, of their frame; then both frames. An operation
 * is a number n << 2 | op as a varint and, except for NEW, a varint (zigzag): the distance from the document after the
 * last one taken to the next document of the inverse. TAKE: n of these unchanged; MEND: n of these, changed to
 * documents in the frame; NEW: n documents that are only in the frame. The prefix of the second frame are the inverse's
 * documents of MEND, contiguous. */
#ifndef MRS_RUN_RESIDUE_H
#define MRS_RUN_RESIDUE_H

#include "residue_pack.h"

/* ---- residue_coll.c: compares one collection of the input with the inverse's result ---- */
struct mrsi_residue_coll {
    struct mrsi_engine *en;
    struct mrsi_pause_clock *pauses;
    struct mrs_input *in, *inverse;
    uint32_t i, k; /* namespaces in them; MRSI_NONE */
    unsigned stage;
    bool same;      /* all documents so far are equal */
    unsigned kinds; /* kinds of differences: enum mrs_loss_kind */
    struct mrsi_digest digest; /* of the input's */
    /* private */
    struct mrsi_docs from, back;
    uint64_t no; /* of the next document */
    struct mrsi_doc_offsets offsets;
    struct mrsi_sorter from_hashes, back_hashes, pairs;
    struct mrsi_sorted pair;
    bool more;            /* a pair was read but not used */
    uint64_t taken, last; /* documents taken from the inverse's; their number */
    struct mrsi_residue_pack pack;
    struct mrs_buf key, scratch;
};
void mrsi_residue_coll_init(struct mrsi_residue_coll *c, struct mrsi_engine *en, struct mrsi_residue_out *out,
                            struct mrsi_pause_clock *pauses);
void mrsi_residue_coll_clear(struct mrsi_residue_coll *c); /* after init */
/* After in, inverse, i and k are set: writes the records DOCS, and sets same, kinds and digest. opened: after load. */
enum mrs_status mrsi_residue_coll_run(struct mrsi_residue_coll *c, bool opened, struct mrs_err *e);
enum mrs_status mrsi_residue_coll_save(struct mrsi_residue_coll *c, struct mrs_build *b, struct mrs_buf *files,
                                       struct mrs_err *e);
enum mrs_status mrsi_residue_coll_load(struct mrsi_residue_coll *c, struct mrs_view saved, struct mrs_err *e);

/* ---- residue_put.c: restores one collection ---- */
struct mrsi_residue_put {
    struct mrsi_engine *en;
    struct mrsi_pause_clock *pauses;
    struct mrs_residue *r;     /* after the record COLL */
    struct mrs_input *inverse;
    uint32_t k;                /* namespace in it; MRSI_NONE */
    struct mrs_sink *sink;     /* NULL: no documents expected */
    struct mrsi_writer *wr;    /* counts documents and bytes */
    /* private */
    unsigned stage;
    uint64_t at, records; /* offset of the current record, and number of records before it */
    bool shelved;         /* the list of offsets is started */
    struct mrsi_digest digest;
    struct mrsi_docs docs;
    struct mrsi_doc_offsets offsets;
    struct mrsi_unpack unpack;
};
/* The caller sets en to wr after this. */
void mrsi_residue_put_init(struct mrsi_residue_put *p, struct mrsi_engine *en, struct mrs_residue *r);
void mrsi_residue_put_clear(struct mrsi_residue_put *p); /* after init */
/* Reads the records up to DONE and writes their documents. opened: after load. FAIL MRS_E_FORMAT: the records are
 * damaged, or the result differs from the original. */
enum mrs_status mrsi_residue_put_run(struct mrsi_residue_put *p, bool opened, struct mrs_err *e);
enum mrs_status mrsi_residue_put_save(struct mrsi_residue_put *p, struct mrs_build *b, struct mrs_buf *files,
                                      struct mrs_err *e);
enum mrs_status mrsi_residue_put_load(struct mrsi_residue_put *p, struct mrs_view saved, struct mrs_err *e);

/* ---- residue_run.c: shared by writing and restoring ---- */
struct mrsi_names { /* of collections, sorted, without duplicates */
    const char **at;
    uint32_t n;
};
/* One direction: the plan, and its input. */
struct mrsi_residue_way {
    const struct mrs_plan *plan;
    const struct mrs_input *in;
};
/* The collections that the plan of one of the directions names, including the buckets of a time series that one of them
 * reads, and those for which a run writes a metadata file that its input lacks (system.indexes.bson). */
enum mrs_status mrsi_residue_touched(struct mrs_arena *a, const struct mrsi_residue_way way[2], struct mrsi_names *out,
                                     struct mrs_err *e);
/* Runs the inverse into a folder that is removed after `look` has read it. */
/* residue_write.c: runs the inverse over the complete output of a run, and writes what it does not restore. */
enum mrs_status mrsi_residue_write(struct mrsi_engine *en, struct mrs_err *e);
/* Is a file the residue that this run, a struct mrsi_engine, wrote before it was stopped? */
enum mrs_status mrsi_residue_is_ours(void *en, const char *path, bool *ours, struct mrs_err *e);

struct mrsi_inverse_run {
    struct mrs_mem *mem;
    struct mrs_plan *inverse;
    struct mrs_input *in;
    const struct mrs_run_opts *opts; /* of the run that needs it */
    const char *input;               /* path of `in` */
    bool resume;                     /* resume a stopped one, if any; else its remains are removed */
    enum mrs_status (*before_publish)(void *arg, const char *folder, const struct mrs_report *report,
                                      struct mrs_err *e);
    void *arg;
};
enum mrs_status mrsi_inverse_run(const struct mrsi_inverse_run *r, struct mrs_report *report, struct mrs_err *e);
/* An engine only for temporary files, sorters and file arrays. */
struct mrsi_engine mrsi_bare_engine(struct mrs_mem *mem, const struct mrs_run_opts *opts);

#endif
