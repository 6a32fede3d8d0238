/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h - one pass over a collection: its documents, the workers, and the writers. */
#ifndef MRSI_RUN_PASS_H
#define MRSI_RUN_PASS_H

#include "run/notices/notices.h"

/* ---- pipe.c: fetch under a lock, work in parallel, commit in order ---- */
struct mrsi_pipe {
    struct mrsi_engine *en;
    size_t job_size; /* a job's own memory, zeroed once */
    enum mrs_status (*fetch)(void *arg, void *job, bool *big, struct mrs_err *e); /* OK, END */
    enum mrs_status (*work)(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e);
    enum mrs_status (*commit)(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e);
    void (*clear)(void *arg, void *job); /* frees a job's memory */
    void *arg;
};
enum mrs_status mrsi_pipe_run(const struct mrsi_pipe *p, struct mrs_err *e);
/* The same with savepoints (checkpoint.h); pass NULL: none. */
struct mrsi_pass;
enum mrs_status mrsi_pipe_run_marked(const struct mrsi_pipe *p, const struct mrsi_pass *pass, struct mrs_err *e);
/* In work: have all earlier jobs been committed? Then this one may do its commit work now, in pieces. */
bool mrsi_pipe_turn(const struct mrsi_worker *w);
/* The same, but waits for it. False: the pass has failed at an earlier job. */
bool mrsi_pipe_await(const struct mrsi_worker *w);
/* For struct mrs_arena of a worker: the document needs much memory, so its job goes on alone, within --memory. */
bool mrsi_pipe_swell(void *worker);
/* Bytes of --memory that gathering leaves for a large document; with less than MRSI_ROOMY the document may exceed
 * it. */
#define MRSI_LARGE_ROOM (32ull << 20)
#define MRSI_ROOMY (256ull << 20)
/* Is a document or block of this size too large to be held by all workers at once? */
static inline bool
mrsi_is_large(const struct mrsi_engine *en, size_t n)
{
    return n > (en->large ? en->large : MRSI_BIG);
}

/* ---- scan.c: reading a collection ---- */
int mrsi_worker_is_late(void *worker); /* for struct mrs_arena: must the worker abort? */
struct mrsi_scan {
    struct mrsi_engine *en;
    struct mrsi_coll *coll;
    const struct mrsi_part *parts; /* at the start of the scan */
    uint32_t n_part;
    uint32_t at_part;
    struct mrs_reader *reader;
    uint64_t base;     /* number of documents in earlier parts */
    uint64_t bytes;    /* size of all blocks */
    uint64_t progress; /* bytes of the current part already reported */
    uint64_t in_part;
};
/* The `_id`s of a block's documents. */
enum { MRSI_OBJECT_ID = 12 };
struct mrsi_id_span {
    const uint8_t *first, *last; /* ObjectIds, ascending so far */
    bool loose;                  /* not ascending, or not ObjectIds */
};
struct mrsi_doc_at { /* position of a document in the scan */
    const struct mrsi_part *part;
    uint64_t ordinal;
};
void mrsi_scan_begin(struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_scan *s);
enum mrs_status mrsi_scan_next(struct mrsi_scan *s, struct mrs_block *b, const struct mrsi_part **part,
                               struct mrs_err *e); /* first_doc: ordinal */
/* The estimated number of documents at the end of the current part. Called under the same lock as next. */
uint64_t mrsi_scan_guess(const struct mrsi_scan *s);
/* Resumes in the current part, after in_part of its documents. */
enum mrs_status mrsi_scan_resume(struct mrsi_scan *s, const struct mrs_reader_at *at, uint64_t in_part,
                                 struct mrs_err *e);
void mrsi_scan_end(struct mrsi_scan *s);
/* Maps a part of the collection (free with mrs_map_free); *p NULL: impossible. */
enum mrs_status mrsi_scan_map(struct mrsi_engine *en, struct mrsi_coll *c, uint32_t part, const uint8_t **p, size_t *n,
                              struct mrs_err *e);
/* The next document of a block for a step: validated (input files), amended, passed through the part's pending steps.
 * OK; SKIP: refused by one of those (already recorded); END. */
struct mrsi_cursor {
    const struct mrs_block *b;
    const struct mrsi_part *part;
    struct mrsi_coll *coll;
    size_t at;
    uint64_t ordinal; /* of the last document returned */
    uint64_t next;
    bool checked; /* a later pass: input documents were validated before */
    bool fields;  /* kernels read fields: find them during validation */
    bool quiet;   /* a later pass over the same documents: pending steps count and record nothing */
    bool sums;    /* count the block for the manifest */
    uint32_t row; /* of the step that reads; MRSI_NONE: no paths are searched */
    struct mrs_docs docs;
    struct mrsi_id_span ids;    /* of the documents so far, if sums */
    struct mrs_hash_sum before; /* digest of docs before the last document returned, if sums */
};
void mrsi_cursor_begin(struct mrsi_cursor *c, struct mrsi_coll *coll, const struct mrsi_part *part,
                       const struct mrs_block *b);
enum mrs_status mrsi_cursor_next(struct mrsi_cursor *c, struct mrsi_worker *w, struct mrs_view *doc,
                                 struct mrs_err *e);
/* In work: calls fn for all documents of the block that are not refused, until fn fails. arg, w, job as in work; SKIP
 * counts as OK. */
typedef enum mrs_status (*mrsi_doc_fn)(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal,
                                       struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_cursor_each(struct mrsi_cursor *c, mrsi_doc_fn fn, void *arg, struct mrsi_worker *w, void *job,
                                 struct mrs_err *e);
/* Between two passes, by worker 0: reads the first `bytes` of the collection once more; all were validated. Nothing is
 * counted. fn as in mrsi_cursor_each, without a job; *all: that was the whole collection. */
enum mrs_status mrsi_read_again(struct mrsi_engine *en, struct mrsi_coll *c, uint64_t bytes, mrsi_doc_fn fn, void *arg,
                                bool *all, struct mrs_err *e);
/* Estimated bytes of BSON in a collection, without reading it. */
uint64_t mrsi_input_bytes(const struct mrs_input_ns *in); /* size of its documents, estimated if they are compressed */
uint64_t mrsi_guess_bytes(const struct mrsi_engine *en, const struct mrsi_coll *c);
/* Marks all pending steps of the collection's parts as reported: call it after the first complete pass. */
void mrsi_coll_counted(struct mrsi_coll *c);

/* ---- input_digest.c: what was read of the input ---- */
enum mrs_status mrsi_input_digest_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_input_digest_free(struct mrsi_engine *en);
/* Are the documents of a block not yet counted? */
bool mrsi_input_digest_needs(struct mrsi_engine *en, uint32_t in_index, uint64_t seq);
/* Counts a complete block; a second call has no effect. */
enum mrs_status mrsi_input_digest_block(struct mrsi_engine *en, uint32_t in_index, uint64_t seq,
                                        const struct mrsi_cursor *c, struct mrs_err *e);
/* The totals of a namespace that was read to its end; NULL: not counted. */
const struct mrs_docs *mrsi_input_digest_docs(const struct mrsi_engine *en, uint32_t in_index);
void mrsi_input_digest_write(const struct mrsi_engine *en, struct mrs_build *b); /* `input` of the manifest */

/* ---- equal_ids.c: equal `_id`s in the input ---- */
enum mrs_status mrsi_equal_ids_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_equal_ids_free(struct mrsi_engine *en);
void mrsi_equal_ids_block(struct mrsi_engine *en, uint32_t in_index, const struct mrsi_id_span *x, uint64_t docs);
/* Were all documents of a namespace recorded, with `_id`s that ascend from block to block? */
bool mrsi_ids_ascend(struct mrsi_engine *en, uint32_t in_index, uint64_t docs);
enum mrs_status mrsi_equal_ids_report(struct mrsi_engine *en, struct mrs_err *e);
/* The usual `_id` at the beginning of a document; NULL: another type, or another position. */
static inline const uint8_t *
mrsi_first_object_id(struct mrs_view doc)
{
    static const uint8_t head[5] = {MRS_OBJECTID, '_', 'i', 'd', 0};
    bool usual = doc.n > 4 + sizeof head + MRSI_OBJECT_ID && memcmp(doc.p + 4, head, sizeof head) == 0;
    return usual ? doc.p + 4 + sizeof head : NULL;
}

/* ---- document_steps.c: one-document steps ---- */
/* Frees the memory that kernels keep between documents. */
void mrsi_worker_release(struct mrsi_worker *w);
void *mrsi_work_of(struct mrsi_worker *w, uint32_t step, struct mrs_err *e); /* NULL: out of memory */
/* Passes doc through the steps list[from..n); SKIP: one refused it. first_quiet: number of steps of the list that
 * neither count nor record. */
enum mrs_status mrsi_map_run(struct mrsi_worker *w, const uint32_t *list, uint32_t n, uint32_t n_quiet, uint32_t coll,
                             struct mrs_view *doc, struct mrs_err *e);

/* ---- pass_write.c: the writers of a pass ---- */
struct mrsi_ids;
struct mrsi_writer {
    struct mrsi_engine *en;
    const struct mrsi_ids *ids; /* copy_through replaces documents by their later versions; NULL: never */
    uint64_t copied;            /* number of documents that copy_through wrote */
    uint32_t coll;
    bool final;      /* directly into the output file */
    uint32_t *fused; /* later MAP steps, applied while writing (final only) */
    uint32_t n_fused;
    struct mrsi_temp *temp;
    uint64_t docs, bytes;
    bool blind; /* nothing is written: documents are only read, validated and counted */
};
/* The output of a job for one writer, until its commit. */
struct mrsi_out {
    struct mrs_buf buf;
    uint64_t docs;
    struct mrs_docs counted; /* final only: counted while the documents are in the cache, not in the serial commit */
};
/* Opens a writer for a collection at step `step`: final if only MAP steps use it later. keep_old: existing documents
 * stay first (if final they are copied, else their parts stay). */
enum mrs_status mrsi_writer_prepare(struct mrsi_engine *en, uint32_t coll, uint32_t step, struct mrsi_writer *wr,
                                    struct mrs_err *e); /* all but its file */
enum mrs_status mrsi_writer_open(struct mrsi_engine *en, uint32_t coll, uint32_t step, struct mrsi_writer *wr,
                                 struct mrs_err *e);
/* A block of tiny documents may become gigabytes. *large: out is large, all earlier jobs are committed, and the job may
 * write now; never outside a pipe. FAIL: the pass has ended; the error is that of an earlier job. */
enum mrs_status mrsi_out_await(const struct mrsi_worker *w, const struct mrsi_out *out, bool *large, struct mrs_err *e);
/* Appends one document to out, through the fused steps; if out is large, it is written first, in the job's turn. OK,
 * even if a fused step refused it; FAIL, DEAD. */
enum mrs_status mrsi_out_put(struct mrsi_writer *wr, struct mrsi_worker *w, struct mrsi_out *out, struct mrs_view doc,
                             struct mrs_err *e);
/* The same for contiguous documents. */
enum mrs_status mrsi_out_put_all(struct mrsi_writer *wr, struct mrsi_worker *w, struct mrsi_out *out,
                                 const uint8_t *p, size_t n, struct mrs_err *e);
/* Counts a document from `at` to the end of the buffer. */
void mrsi_out_count(const struct mrsi_writer *wr, struct mrsi_out *out, size_t at);
enum mrs_status mrsi_writer_commit(struct mrsi_writer *wr, struct mrsi_out *out, struct mrs_err *e);
/* Empties the writer; no savepoint on disk may refer to its old contents (mrsi_pass_anew). */
enum mrs_status mrsi_writer_restart(struct mrsi_writer *wr, struct mrs_err *e);
/* Replaces the collection by what was written (keep_old: after its old parts). */
enum mrs_status mrsi_writer_close(struct mrsi_writer *wr, bool keep_old, struct mrs_err *e);
void mrsi_writer_drop(struct mrsi_writer *wr); /* after an error */
/* Passes all parts of the collection through a writer, in one pass; for existing documents, and for collections with
 * pending steps only. */
enum mrs_status mrsi_copy_through(struct mrsi_engine *en, uint32_t coll, struct mrsi_writer *wr,
                                  struct mrsi_pass *pass, struct mrs_err *e); /* pass NULL: without savepoints */

/* ---- finish.c: collections without a step, extra files, account, report ---- */
/* Its current metadata in the catalog, as text. */
enum mrs_status mrsi_metadata_now(struct mrsi_engine *en, const struct mrsi_coll *c, struct mrs_buf *text,
                                  struct mrs_err *e);

/* ---- extra_files.c ---- */
/* Is an entry of the input an extra file that belongs to the output? */
bool mrsi_extra_is_copied(const struct mrsi_engine *en, uint32_t i);
bool mrsi_is_oplog(const struct mrsi_engine *en, uint32_t i);
/* Before anything is written: checks that the oplog does not affect the plan's collections, and that extra files with
 * documents are valid. */
enum mrs_status mrsi_check_extras(struct mrsi_engine *en, struct mrs_err *e);

/* ---- notices.c: notes for the author; no effect if the report does not want them ---- */
enum mrs_status mrsi_notices_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_notices_free(struct mrsi_engine *en);
/* Records a document of a step's side 0 or 1, by its ordinal; in order of ordinals, one thread at a time. */
enum mrs_status mrsi_notices_note(struct mrsi_engine *en, uint32_t step, uint32_t side, enum mrs_notice_kind kind,
                                  uint64_t ordinal, struct mrs_err *e);
void mrsi_notices_forget(struct mrsi_engine *en, uint32_t step); /* a pass restarts */
/* Documents of from by their fate in a join. */
enum mrs_status mrsi_notices_fates(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f,
                                   struct mrs_err *e);
/* Finds the `_id`s of the recorded documents, before the step's output replaces the collections. */
enum mrs_status mrsi_notices_name(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
/* Records final documents; restart: discards the records of the collection. */
enum mrs_status mrsi_notices_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n,
                                     struct mrs_err *e);
void mrsi_notices_restart(struct mrsi_engine *en, uint32_t coll);
/* The same for values for which a server refuses to build an index. line: number below mrsi_fit_most, for the report;
 * false: no note. */
bool mrsi_why_line(const struct mrsi_engine *en, uint32_t step, char *line, size_t size); /* false: no note */
enum mrs_status mrsi_notices_report(struct mrsi_engine *en, struct mrs_err *e);
#endif
