/* SPDX-License-Identifier: Apache-2.0 */
/* residue_pack.h - documents of one collection as operations on the documents of the inverse, and back. */
#ifndef MRSI_RUN_RESIDUE_PACK_H
#define MRSI_RUN_RESIDUE_PACK_H

#include "residue_docs.h"

/* ---- residue_match.c: which of the inverse's documents is which of the input's ---- */
/* Puts both hashes of a document, the no-th of its side. */
enum mrs_status mrsi_residue_hashes(struct mrsi_sorter *to, uint64_t no, struct mrs_view doc, struct mrs_buf *scratch,
                                    struct mrs_err *e);
/* Fills pairs (made by the caller with mrsi_sorter_init) from the hashes of both sides, or resumes: key the number of
 * the input's document, 8 bytes big-endian, and a byte that is 0 if the two are equal and 1 if only their `_id`s are;
 * content the number of the inverse's document, 8 bytes. Equal documents, and documents with one `_id` or none, are
 * paired in their order. */
enum mrs_status mrsi_residue_match(struct mrsi_sorter *from, struct mrsi_sorter *back, struct mrsi_sorter *pairs,
                                   struct mrsi_pause_clock *pauses, struct mrs_err *e);
#define MRSI_PAIR_KEY 9

/* ---- residue_kinds.c ---- */
/* In what b differs from a: enum mrs_loss_kind, of one document. scratch: any buffer. */
enum mrs_status mrsi_residue_kinds(struct mrs_view a, struct mrs_view b, struct mrs_buf *scratch, unsigned *kinds,
                                   struct mrs_err *e);

/* ---- residue_pack.c: the documents of one collection as records ---- */
struct mrsi_residue_pack {
    struct mrs_mem *mem;
    struct mrsi_residue_out *out;
    struct mrs_buf ops, docs, base, frame;
    enum mrsi_op op; /* of the run that is growing */
    uint64_t first, n;
    uint64_t next; /* the inverse's document after the last one taken */
};
void mrsi_pack_begin(struct mrsi_residue_pack *p, struct mrs_mem *mem, struct mrsi_residue_out *out);
/* no, base: the inverse's document; not examined with NEW. doc: not examined with TAKE. */
enum mrs_status mrsi_pack_add(struct mrsi_residue_pack *p, enum mrsi_op op, uint64_t no, struct mrs_view base,
                              struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_pack_end(struct mrsi_residue_pack *p, struct mrs_err *e);
void mrsi_pack_clear(struct mrsi_residue_pack *p);
enum mrs_status mrsi_pack_save(const struct mrsi_residue_pack *p, struct mrsi_engine *en, struct mrs_build *b,
                               struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_pack_load(struct mrsi_residue_pack *p, struct mrsi_engine *en, struct mrs_view mark,
                               struct mrs_err *e);
/* What one record says: each document that comes back is given to put. */
struct mrsi_unpack {
    struct mrs_mem *mem;
    const struct mrs_residue *r; /* its record */
    struct mrsi_doc_offsets *offsets;
    uint64_t next;  /* of the records before it: the document of the list of offsets behind the last one taken; */
    uint64_t taken; /* how many, repeats counted */
    uint64_t given; /* documents of this record; the first so many are not given once more */
    struct mrs_buf ops, docs, base;
    enum mrs_status (*put)(void *arg, struct mrs_view doc, struct mrs_err *e);
    void *arg;
};
void mrsi_unpack_begin(struct mrsi_unpack *u, struct mrs_mem *mem, const struct mrs_residue *r,
                       struct mrsi_doc_offsets *offsets);
enum mrs_status mrsi_unpack(struct mrsi_unpack *u, struct mrs_err *e);
void mrsi_unpack_clear(struct mrsi_unpack *u);
/* Where it is, while put runs; of the same record again. */
void mrsi_unpack_save(const struct mrsi_unpack *u, struct mrs_build *b);
enum mrs_status mrsi_unpack_load(struct mrsi_unpack *u, struct mrs_view mark, struct mrs_err *e);

#endif
