/* SPDX-License-Identifier: Apache-2.0 */
/* residue.h - what the inverse of a plan does not bring back, as a file; for the files residue*.c only.
 *
 * The file: 8 bytes of magic, then records {type u32, length u64, XXH3-64 of type, length and content u64, content},
 * all numbers little-endian. In this order:
 *   HEAD  BSON {version, tool, plan, inverse, now, touched: [{ns, docs, digest, order}]}: the ids of both plans,
 *         $$NOW, and what the forward run wrote into the collections that either plan names. `digest` is the sum of
 *         the hashes of the documents, `order` a hash of their sequence.
 *   for each of these collections, by name:
 *   COLL  BSON {ns, db, coll, there, data, meta, metadata}: whether the input had the collection, a data file, a
 *         metadata file; `metadata` its bytes, absent where the inverse brings the same
 *   DOCS  any number, none where the inverse brings the very documents: operations and packed documents, below
 *   DONE  BSON {same, docs, digest, order} of the input's collection
 *   END   BSON {records}: a file without it is cut
 *
 * DOCS: lengths u32 of the operations, of their frame, of the documents, of their frame; then both frames. An operation
 * is a number n << 2 | op as a varint and, but for NEW, a varint that says how far from the document after the last one
 * taken the next of the inverse's documents stands (zigzag): TAKE n of them as they are, MEND n of them (the documents
 * that they become lie in the frame), or NEW: n documents that are in the frame alone. The prefix of the second frame
 * are the inverse's documents of MEND, one behind the other. */
#ifndef MRS_RUN_RESIDUE_H
#define MRS_RUN_RESIDUE_H

#include "checkpoint.h"
#include "sorter.h"
#include "tape.h"

#define MRSI_RESIDUE_MAGIC "MRSRESI1"
#define MRSI_RESIDUE_VERSION 1
#define MRSI_RESIDUE_HEAD 20
#define MRSI_RESIDUE_MAX (256u << 20) /* of one record */

enum mrsi_record { MRSI_HEAD = 1, MRSI_COLL, MRSI_DOCS, MRSI_DONE, MRSI_END };
enum mrsi_op { MRSI_TAKE, MRSI_MEND, MRSI_NEW };

/* ---- residue_file.c ---- */
struct mrsi_residue_out { /* records, in a file of the run's own until all are there */
    struct mrsi_mark_file file;
    uint64_t bytes, records;
};
enum mrs_status mrsi_residue_put(struct mrsi_residue_out *o, enum mrsi_record type, const void *p, size_t n,
                                 struct mrs_err *e);
/* All that was put becomes the file `path`, in one rename. copier: the process that began to copy it there. */
enum mrs_status mrsi_residue_publish(struct mrsi_residue_out *o, const char *path, uint64_t copier, struct mrs_err *e);
void mrsi_residue_out_clear(struct mrsi_residue_out *o);
enum mrs_status mrsi_residue_out_describe(struct mrsi_residue_out *o, struct mrs_build *b, struct mrs_buf *files,
                                          struct mrs_err *e);
enum mrs_status mrsi_residue_out_apply(struct mrsi_residue_out *o, struct mrs_view mark, struct mrs_err *e);
struct mrs_residue {
    struct mrs_mem *mem;
    int fd;
    char *path;
    uint64_t at, size, records;
    struct mrs_buf record; /* the one just read */
    struct mrs_buf head;
};
/* The next record, its content in r->record. OK, or FAIL MRS_E_FORMAT. */
enum mrs_status mrsi_residue_next(struct mrs_residue *r, enum mrsi_record *type, struct mrs_err *e);
/* The content as a document, its top level checked: a metadata file in it may be larger than any document. */
enum mrs_status mrsi_residue_doc(const struct mrs_residue *r, struct mrs_view *d, struct mrs_err *e);
/* "FILE is damaged: what". Always FAIL. */
enum mrs_status mrsi_residue_damaged(const struct mrs_residue *r, const char *what, struct mrs_err *e);
static inline struct mrs_view
mrsi_residue_head(const struct mrs_residue *r)
{
    return (struct mrs_view){r->head.p, (uint32_t)r->head.n};
}
/* Whether a field is true. */
static inline bool
mrsi_residue_is(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_BOOL && *v.p;
}
void mrsi_put_varint(struct mrs_buf *b, uint64_t v);
/* False: there is no whole one. */
bool mrsi_get_varint(const uint8_t **p, const uint8_t *end, uint64_t *v);

/* ---- residue_docs.c: documents one by one, by number, and their digest ---- */
struct mrsi_docs { /* of a namespace, in order */
    struct mrs_reader *reader;
    struct mrs_block b;
    struct mrs_reader_at begin; /* of the block */
    size_t at;
};
/* i MRSI_NONE, or a namespace without a data file: there are none. */
enum mrs_status mrsi_docs_open(struct mrsi_docs *d, struct mrs_mem *mem, struct mrs_input *in, uint32_t i,
                               struct mrs_err *e);
enum mrs_status mrsi_docs_next(struct mrsi_docs *d, struct mrs_view *doc, struct mrs_err *e); /* OK, END */
void mrsi_docs_close(struct mrsi_docs *d);
/* Where it stands, as field `name`; and open there. */
void mrsi_docs_describe(const struct mrsi_docs *d, const char *name, struct mrs_build *b);
enum mrs_status mrsi_docs_apply(struct mrsi_docs *d, struct mrs_view mark, const char *name, struct mrs_err *e);

struct mrsi_shelf { /* of a plain data file, by number */
    int fd;
    uint64_t n;
    struct mrsi_tape off; /* n + 1 offsets; the last is `end` */
    uint64_t end;
    struct mrs_buf window;
    uint64_t window_at;
    uint64_t next; /* offset behind the document given last */
};
/* An empty one, the documents from here on in their order (END), then it can be asked. */
void mrsi_shelf_init(struct mrsi_shelf *s, struct mrsi_engine *en);
enum mrs_status mrsi_shelf_fill(struct mrsi_shelf *s, struct mrsi_docs *d, struct mrsi_rests *rests,
                                struct mrs_err *e);
enum mrs_status mrsi_shelf_end(struct mrsi_shelf *s, struct mrs_input *in, uint32_t i, struct mrs_err *e);
enum mrs_status mrsi_shelf_describe(struct mrsi_shelf *s, struct mrs_build *b, struct mrs_buf *files,
                                    struct mrs_err *e);
/* ended: it could be asked, and can behind end. */
enum mrs_status mrsi_shelf_apply(struct mrsi_shelf *s, struct mrs_view mark, bool ended, struct mrs_err *e);
/* Document no, which lives until the next call; no < n. */
enum mrs_status mrsi_shelf_get(struct mrsi_shelf *s, uint64_t no, struct mrs_view *doc, struct mrs_err *e);
void mrsi_shelf_close(struct mrsi_shelf *s);

struct mrsi_digest {
    uint64_t docs;
    struct mrs_hash_sum sum;
    uint8_t order[32]; /* the first half is the hash of the sequence so far */
};
void mrsi_digest_add(struct mrsi_digest *d, struct mrs_view doc);
/* Of the documents from here on; END. */
enum mrs_status mrsi_digest_run(struct mrsi_digest *d, struct mrsi_docs *docs, struct mrsi_rests *rests,
                                struct mrs_err *e);
/* Adds docs, digest and order to an open document; and compares with them. */
void mrsi_digest_put(const struct mrsi_digest *d, struct mrs_build *b);
bool mrsi_digest_same(const struct mrsi_digest *d, struct mrs_view in, bool *other_order);
/* The namespace of this name among an input's data; MRSI_NONE. */
uint32_t mrsi_input_find(const struct mrs_input *in, const char *ns);

/* ---- residue_match.c: which of the inverse's documents is which of the input's ---- */
/* Puts both hashes of a document, the no-th of its side. */
enum mrs_status mrsi_residue_hashes(struct mrsi_sorter *to, uint64_t no, struct mrs_view doc, struct mrs_buf *scratch,
                                    struct mrs_err *e);
/* Fills pairs (made by the caller with mrsi_sorter_init) from the hashes of both sides, or goes on: key the number of
 * the input's document, 8 bytes big-endian, and a byte that is 0 where the two are equal and 1 where only their `_id`s
 * are; content the number of the inverse's document, 8 bytes. Equal documents, and documents with one `_id` or none,
 * are paired in their order. */
enum mrs_status mrsi_residue_match(struct mrsi_sorter *from, struct mrsi_sorter *back, struct mrsi_sorter *pairs,
                                   struct mrsi_rests *rests, struct mrs_err *e);
#define MRSI_PAIR_KEY 9

/* ---- residue_kinds.c ---- */
/* In what b differs from a: enum mrs_loss_kind, of one document. scratch: any buffer. */
enum mrs_status mrsi_residue_kinds(struct mrs_view a, struct mrs_view b, struct mrs_buf *scratch, unsigned *kinds,
                                   struct mrs_err *e);

/* ---- residue_pack.c: the documents of one collection as records ---- */
struct mrsi_pack {
    struct mrs_mem *mem;
    struct mrsi_residue_out *out;
    struct mrs_buf ops, docs, base, frame;
    enum mrsi_op op; /* of the run that is growing */
    uint64_t first, n;
    uint64_t next; /* the inverse's document after the last one taken */
};
void mrsi_pack_begin(struct mrsi_pack *p, struct mrs_mem *mem, struct mrsi_residue_out *out);
/* no, base: the inverse's document; not looked at with NEW. doc: not looked at with TAKE. */
enum mrs_status mrsi_pack_add(struct mrsi_pack *p, enum mrsi_op op, uint64_t no, struct mrs_view base,
                              struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_pack_end(struct mrsi_pack *p, struct mrs_err *e);
void mrsi_pack_clear(struct mrsi_pack *p);
enum mrs_status mrsi_pack_describe(const struct mrsi_pack *p, struct mrsi_engine *en, struct mrs_build *b,
                                   struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_pack_apply(struct mrsi_pack *p, struct mrsi_engine *en, struct mrs_view mark, struct mrs_err *e);
/* What one record says: each document that comes back is given to put. */
struct mrsi_unpack {
    struct mrs_mem *mem;
    const struct mrs_residue *r; /* its record */
    struct mrsi_shelf *shelf;
    uint64_t next;  /* of the records before it: the document of the shelf behind the last one taken; */
    uint64_t taken; /* how many, repeats counted */
    uint64_t given; /* documents of this record; the first so many are not given once more */
    struct mrs_buf ops, docs, base;
    enum mrs_status (*put)(void *arg, struct mrs_view doc, struct mrs_err *e);
    void *arg;
};
void mrsi_unpack_begin(struct mrsi_unpack *u, struct mrs_mem *mem, const struct mrs_residue *r,
                       struct mrsi_shelf *shelf);
enum mrs_status mrsi_unpack(struct mrsi_unpack *u, struct mrs_err *e);
void mrsi_unpack_clear(struct mrsi_unpack *u);
/* Where it stands, while put runs; of the same record again. */
void mrsi_unpack_describe(const struct mrsi_unpack *u, struct mrs_build *b);
enum mrs_status mrsi_unpack_apply(struct mrsi_unpack *u, struct mrs_view mark, struct mrs_err *e);

/* ---- residue_coll.c: one collection of the input, held against what the inverse made of it ---- */
struct mrsi_residue_coll {
    struct mrsi_engine *en;
    struct mrsi_rests *rests;
    struct mrs_input *in, *inverse;
    uint32_t i, k; /* namespaces in them; MRSI_NONE */
    unsigned stage;
    bool same;      /* up to now all documents are */
    unsigned kinds; /* of differences: enum mrs_loss_kind */
    struct mrsi_digest digest; /* of the input's */
    /* private */
    struct mrsi_docs from, back;
    uint64_t no; /* of the next document */
    struct mrsi_shelf shelf;
    struct mrsi_sorter from_hashes, back_hashes, pairs;
    struct mrsi_sorted pair;
    bool more;            /* there is a pair on top */
    uint64_t taken, last; /* documents of the inverse; its number */
    struct mrsi_pack pack;
    struct mrs_buf key, scratch;
};
void mrsi_residue_coll_init(struct mrsi_residue_coll *c, struct mrsi_engine *en, struct mrsi_residue_out *out,
                            struct mrsi_rests *rests);
void mrsi_residue_coll_clear(struct mrsi_residue_coll *c); /* behind init */
/* Where in, inverse, i and k are set: puts the records DOCS, and finds out same, kinds and digest. opened: behind
 * apply. */
enum mrs_status mrsi_residue_coll_run(struct mrsi_residue_coll *c, bool opened, struct mrs_err *e);
enum mrs_status mrsi_residue_coll_describe(struct mrsi_residue_coll *c, struct mrs_build *b, struct mrs_buf *files,
                                           struct mrs_err *e);
enum mrs_status mrsi_residue_coll_apply(struct mrsi_residue_coll *c, struct mrs_view mark, struct mrs_err *e);

/* ---- residue_put.c: one collection that comes back ---- */
struct mrsi_residue_put {
    struct mrsi_engine *en;
    struct mrsi_rests *rests;
    struct mrs_residue *r;     /* stands behind the record COLL */
    struct mrs_input *inverse;
    uint32_t k;                /* namespace in it; MRSI_NONE */
    struct mrs_sink *sink;     /* NULL: no documents may come */
    struct mrsi_writer *wr;    /* has their count and their bytes */
    /* private */
    unsigned stage;
    uint64_t at, records; /* where the record that is worked on begins, and how many stand before it */
    bool shelved;         /* the shelf is begun */
    struct mrsi_digest digest;
    struct mrsi_docs docs;
    struct mrsi_shelf shelf;
    struct mrsi_unpack unpack;
};
/* en to wr are set by the caller behind it. */
void mrsi_residue_put_init(struct mrsi_residue_put *p, struct mrsi_engine *en, struct mrs_residue *r);
void mrsi_residue_put_clear(struct mrsi_residue_put *p); /* behind init */
/* Reads the records up to DONE and writes what they say. opened: behind apply. FAIL MRS_E_FORMAT: they are damaged, or
 * what came is not what was there. */
enum mrs_status mrsi_residue_put_run(struct mrsi_residue_put *p, bool opened, struct mrs_err *e);
enum mrs_status mrsi_residue_put_describe(struct mrsi_residue_put *p, struct mrs_build *b, struct mrs_buf *files,
                                          struct mrs_err *e);
enum mrs_status mrsi_residue_put_apply(struct mrsi_residue_put *p, struct mrs_view mark, struct mrs_err *e);

/* ---- residue_run.c: what both ways share ---- */
struct mrsi_names { /* of collections, in order, each once */
    const char **at;
    uint32_t n;
};
/* The collections that one of the plans names. */
enum mrs_status mrsi_residue_touched(struct mrs_arena *a, const struct mrs_plan *p, const struct mrs_plan *q,
                                     struct mrsi_names *out, struct mrs_err *e);
/* The inverse run into a folder that is thrown away after `look` has seen it. */
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
/* Removes what one that was stopped has left. opts: of the run that wanted it. */
enum mrs_status mrsi_inverse_forget(struct mrs_mem *mem, const struct mrs_run_opts *opts, struct mrs_err *e);
/* The folder of one that was killed while that was removed, its checkpoint first: nothing can go on with it. What
 * cannot be removed stays. */
void mrsi_inverse_sweep(struct mrs_mem *mem, const struct mrs_run_opts *opts);
/* An engine that is good for temporary files, sorters and tapes alone. */
struct mrsi_engine mrsi_bare_engine(struct mrs_mem *mem, const struct mrs_run_opts *opts);

#endif
