/* SPDX-License-Identifier: Apache-2.0 */
/* residue.h - what the inverse of a plan does not bring back, as a file; for the files residue*.c only.
 *
 * The file: 8 bytes of magic, then records {type u32, length u64, XXH3-64 of type, length and content u64, content},
 * all numbers little-endian. In this order:
 *   HEAD  BSON {version, secret, tool, plan, inverse, now, touched: [{ns, docs, digest, order}]}: the ids of both
 *         plans, $$NOW, and what the forward run wrote into the collections that either plan names. `digest` is the sum
 *         of the hashes of the documents, `order` a hash of their sequence, by the secret (mrs_hash_secret); files of
 *         version 1 have none, and XXH3 with the seed 0.
 *   for each of these collections, by name:
 *   COLL  BSON {ns, db, coll, there, data, meta, metadata}: whether the input had the collection, a data file, a
 *         metadata file; `metadata` its bytes, absent where the inverse brings the same
 *   DOCS  any number, none where the inverse brings the very documents: operations and packed documents, below
 *   DONE  BSON {same, docs, digest, order} of the input's collection
 *   END   BSON {records}: a file without it is cut
 *
 * DOCS: lengths u32 of the operations, of their frame, of the documents, of their frame; then both frames. An operation
 * is a number n << 2 | op as a varint and, but for NEW, a varint that says how far from the document after the last one
 * taken the next of the inverse's documents lies (zigzag): TAKE n of them as they are, MEND n of them (the documents
 * that they become lie in the frame), or NEW: n documents that are in the frame alone. The prefix of the second frame
 * are the inverse's documents of MEND, one behind the other. */
#ifndef MRS_RUN_RESIDUE_H
#define MRS_RUN_RESIDUE_H

#include "residue_pack.h"

/* ---- residue_coll.c: one collection of the input, held against what the inverse made of it ---- */
struct mrsi_residue_coll {
    struct mrsi_engine *en;
    struct mrsi_pause_clock *pauses;
    struct mrs_input *in, *inverse;
    uint32_t i, k; /* namespaces in them; MRSI_NONE */
    unsigned stage;
    bool same;      /* up to now all documents are */
    unsigned kinds; /* of differences: enum mrs_loss_kind */
    struct mrsi_digest digest; /* of the input's */
    /* private */
    struct mrsi_docs from, back;
    uint64_t no; /* of the next document */
    struct mrsi_doc_offsets offsets;
    struct mrsi_sorter from_hashes, back_hashes, pairs;
    struct mrsi_sorted pair;
    bool more;            /* there is a pair on top */
    uint64_t taken, last; /* documents of the inverse; its number */
    struct mrsi_residue_pack pack;
    struct mrs_buf key, scratch;
};
void mrsi_residue_coll_init(struct mrsi_residue_coll *c, struct mrsi_engine *en, struct mrsi_residue_out *out,
                            struct mrsi_pause_clock *pauses);
void mrsi_residue_coll_clear(struct mrsi_residue_coll *c); /* behind init */
/* Where in, inverse, i and k are set: puts the records DOCS, and finds out same, kinds and digest. opened: after
 * load. */
enum mrs_status mrsi_residue_coll_run(struct mrsi_residue_coll *c, bool opened, struct mrs_err *e);
enum mrs_status mrsi_residue_coll_save(struct mrsi_residue_coll *c, struct mrs_build *b, struct mrs_buf *files,
                                       struct mrs_err *e);
enum mrs_status mrsi_residue_coll_load(struct mrsi_residue_coll *c, struct mrs_view mark, struct mrs_err *e);

/* ---- residue_put.c: one collection that comes back ---- */
struct mrsi_residue_put {
    struct mrsi_engine *en;
    struct mrsi_pause_clock *pauses;
    struct mrs_residue *r;     /* comes after the record COLL */
    struct mrs_input *inverse;
    uint32_t k;                /* namespace in it; MRSI_NONE */
    struct mrs_sink *sink;     /* NULL: no documents may come */
    struct mrsi_writer *wr;    /* has their count and their bytes */
    /* private */
    unsigned stage;
    uint64_t at, records; /* where the record that is worked on begins, and how many come before it */
    bool shelved;         /* the list of offsets is begun */
    struct mrsi_digest digest;
    struct mrsi_docs docs;
    struct mrsi_doc_offsets offsets;
    struct mrsi_unpack unpack;
};
/* en to wr are set by the caller behind it. */
void mrsi_residue_put_init(struct mrsi_residue_put *p, struct mrsi_engine *en, struct mrs_residue *r);
void mrsi_residue_put_clear(struct mrsi_residue_put *p); /* behind init */
/* Reads the records up to DONE and writes what they say. opened: after load. FAIL MRS_E_FORMAT: they are damaged, or
 * what came is not what was there. */
enum mrs_status mrsi_residue_put_run(struct mrsi_residue_put *p, bool opened, struct mrs_err *e);
enum mrs_status mrsi_residue_put_save(struct mrsi_residue_put *p, struct mrs_build *b, struct mrs_buf *files,
                                      struct mrs_err *e);
enum mrs_status mrsi_residue_put_load(struct mrsi_residue_put *p, struct mrs_view mark, struct mrs_err *e);

/* ---- residue_run.c: what both ways share ---- */
struct mrsi_names { /* of collections, in order, each once */
    const char **at;
    uint32_t n;
};
/* A way: the plan, and what it reads. */
struct mrsi_residue_way {
    const struct mrs_plan *plan;
    const struct mrs_input *in;
};
/* The collections that the plan of one of the ways names; and those with the buckets of a time series among them,
 * where one of the ways reads it. */
enum mrs_status mrsi_residue_touched(struct mrs_arena *a, const struct mrsi_residue_way way[2], struct mrsi_names *out,
                                     struct mrs_err *e);
/* Runs the inverse into a folder that is removed after `look` has read it. */
/* residue_write.c: runs the inverse over the output of a run, which is whole, and writes what it does not bring
 * back. */
enum mrs_status mrsi_residue_write(struct mrsi_engine *en, struct mrs_err *e);
/* Whether a file is what this run, a struct mrsi_engine, has written before it was stopped. */
enum mrs_status mrsi_residue_is_ours(void *en, const char *path, bool *ours, struct mrs_err *e);

struct mrsi_inverse_run {
    struct mrs_mem *mem;
    struct mrs_plan *inverse;
    struct mrs_input *in;
    const struct mrs_run_opts *opts; /* of the run that wants it */
    const char *input;               /* where `in` lies */
    bool go_on;                      /* with what one that was stopped has left, if there is any; else that goes */
    enum mrs_status (*look)(void *arg, const char *folder, const struct mrs_report *report, struct mrs_err *e);
    void *arg;
};
enum mrs_status mrsi_inverse_run(const struct mrsi_inverse_run *r, struct mrs_report *report, struct mrs_err *e);
/* An engine that is good for temporary files, sorters and file arrays alone. */
struct mrsi_engine mrsi_bare_engine(struct mrs_mem *mem, const struct mrs_run_opts *opts);

#endif
