/* SPDX-License-Identifier: Apache-2.0 */
/* residue_pack.h - documents of one collection as operations on the documents of the inverse, and back. */
#ifndef MRSI_RUN_RESIDUE_PACK_H
#define MRSI_RUN_RESIDUE_PACK_H

#include "residue_docs.h"

/* ---- residue_match.c: pairs documents of the input with those of the inverse ---- */
/* Adds both hashes of a document, number `no` of its side. */
enum mrs_status mrsi_residue_hashes(struct mrsi_sorter *to, uint64_t no, struct mrs_view doc, struct mrs_buf *scratch,
                                    struct mrs_err *e);
/* Fills pairs (made by the caller with mrsi_sorter_init) from the hashes of both sides, or resumes. Key: the number of
 * the input's document, 8 bytes big-endian, and a byte: 0 if the two are equal, 1 if only their `_id`s are. Content:
 * the number of the inverse's document, 8 bytes. Equal documents, and documents with the same `_id` or none, are paired
 * in order. */
enum mrs_status mrsi_residue_match(struct mrsi_sorter *from, struct mrsi_sorter *back, struct mrsi_sorter *pairs,
                                   struct mrsi_pause_clock *pauses, struct mrs_err *e);
#define MRSI_PAIR_KEY 9

/* ---- residue_kinds.c ---- */
/* The difference of two documents: enum mrs_loss_kind. scratch: any buffer. */
enum mrs_status mrsi_residue_kinds(struct mrs_view a, struct mrs_view b, struct mrs_buf *scratch, unsigned *kinds,
                                   struct mrs_err *e);

/* ---- residue_pack.c: the documents of one collection as records ---- */
struct mrsi_residue_pack {
    struct mrs_mem *mem;
    struct mrsi_residue_out *out;
    struct mrs_buf ops, docs, base, frame;
    enum mrsi_op op; /* of the current run of operations */
    uint64_t first, n;
    uint64_t next; /* index after the last document taken from the inverse's */
};
void mrsi_pack_begin(struct mrsi_residue_pack *p, struct mrs_mem *mem, struct mrsi_residue_out *out);
/* no, base: the inverse's document; unused with NEW. doc: unused with TAKE. */
enum mrs_status mrsi_pack_add(struct mrsi_residue_pack *p, enum mrsi_op op, uint64_t no, struct mrs_view base,
                              struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_pack_end(struct mrsi_residue_pack *p, struct mrs_err *e);
void mrsi_pack_clear(struct mrsi_residue_pack *p);
enum mrs_status mrsi_pack_save(const struct mrsi_residue_pack *p, struct mrsi_engine *en, struct mrs_build *b,
                               struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_pack_load(struct mrsi_residue_pack *p, struct mrsi_engine *en, struct mrs_view saved,
                               struct mrs_err *e);
/* Decodes a record: passes each restored document to put. */
struct mrsi_unpack {
    struct mrs_mem *mem;
    const struct mrs_residue *r; /* the record's file */
    struct mrsi_doc_offsets *offsets;
    uint64_t next;  /* state before this record: index after the last document taken, by number; */
    uint64_t taken; /* number taken, including repeats */
    uint64_t n_put; /* documents of this record already returned; they are skipped */
    struct mrs_buf ops, docs, base;
    enum mrs_status (*put)(void *arg, struct mrs_view doc, struct mrs_err *e);
    void *arg;
};
void mrsi_unpack_begin(struct mrsi_unpack *u, struct mrs_mem *mem, const struct mrs_residue *r,
                       struct mrsi_doc_offsets *offsets);
enum mrs_status mrsi_unpack(struct mrsi_unpack *u, struct mrs_err *e);
void mrsi_unpack_clear(struct mrsi_unpack *u);
/* The position while put runs; for decoding the same record again. */
void mrsi_unpack_save(const struct mrsi_unpack *u, struct mrs_build *b);
enum mrs_status mrsi_unpack_load(struct mrsi_unpack *u, struct mrs_view saved, struct mrs_err *e);

#endif
