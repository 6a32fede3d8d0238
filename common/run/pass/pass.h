/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h - one pass over a collection: its documents, the workers, and where results go. */
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
/* The same with savepoints on the way (checkpoint.h); pass NULL: none. */
struct mrsi_pass;
enum mrs_status mrsi_pipe_run_marked(const struct mrsi_pipe *p, const struct mrsi_pass *pass, struct mrs_err *e);
/* In work: whether all earlier jobs have been committed. What this one would do in its commit it may do now, piece by
 * piece. */
bool mrsi_pipe_turn(const struct mrsi_worker *w);
/* The same, and waits for it. False: the pass has failed at an earlier job. */
bool mrsi_pipe_await(const struct mrsi_worker *w);
/* Bytes of --memory that gathering leaves for a large document; with less than MRSI_ROOMY it takes them beyond it. */
#define MRSI_LARGE_ROOM (32ull << 20)
#define MRSI_ROOMY (256ull << 20)
/* Whether so many bytes, of one document or block, are too many to be held by all workers at once. */
static inline bool
mrsi_is_large(const struct mrsi_engine *en, size_t n)
{
    return n > (en->large ? en->large : MRSI_BIG);
}

/* ---- scan.c: reading a collection ---- */
int mrsi_worker_is_late(void *worker); /* for struct mrs_arena: it must end what it works on */
struct mrsi_scan {
    struct mrsi_engine *en;
    struct mrsi_coll *coll;
    const struct mrsi_part *parts; /* as they were when the scan began */
    uint32_t n_part;
    uint32_t at_part;
    struct mrs_reader *reader;
    uint64_t base;     /* documents of earlier parts */
    uint64_t bytes;    /* of all blocks */
    uint64_t progress; /* bytes of the running part already reported */
    uint64_t in_part;
};
/* The `_id`s of a block's documents. */
enum { MRSI_OBJECT_ID = 12 };
struct mrsi_id_span {
    const uint8_t *first, *last; /* ObjectIds, in ascending order up to here */
    bool loose;                  /* they do not ascend, or are no ObjectIds */
};
struct mrsi_doc_at { /* where in the scan a document is */
    const struct mrsi_part *part;
    uint64_t ordinal;
};
void mrsi_scan_begin(struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_scan *s);
enum mrs_status mrsi_scan_next(struct mrsi_scan *s, struct mrs_block *b, const struct mrsi_part **part,
                               struct mrs_err *e); /* first_doc: ordinal */
/* The estimated number of documents at the end of the running part. Called where next is called. */
uint64_t mrsi_scan_guess(const struct mrsi_scan *s);
/* Resumes in the part that the scan is at, after in_part documents of it. */
enum mrs_status mrsi_scan_go_on(struct mrsi_scan *s, const struct mrs_reader_at *at, uint64_t in_part,
                                struct mrs_err *e);
void mrsi_scan_end(struct mrsi_scan *s);
/* A part of the collection, mapped (mrs_map_free); *p NULL: it cannot be. */
enum mrs_status mrsi_scan_map(struct mrsi_engine *en, struct mrsi_coll *c, uint32_t part, const uint8_t **p, size_t *n,
                              struct mrs_err *e);
/* The next document of a block on its way to a step: checked (input files), amended, led through the part's pending
 * steps. OK; SKIP: refused on the way (already recorded); END. */
struct mrsi_cursor {
    const struct mrs_block *b;
    const struct mrsi_part *part;
    struct mrsi_coll *coll;
    size_t at;
    uint64_t ordinal; /* of the document just given */
    uint64_t next;
    bool checked; /* a later pass: input documents were found good */
    bool fields;  /* kernels look for fields: they are found while documents are checked */
    bool quiet;   /* a later pass over the same documents: pending steps count and record nothing */
    bool sums;    /* the block is summed up for the manifest */
    uint32_t row; /* of the step that reads; MRSI_NONE: no path is searched for */
    struct mrs_docs docs;
    struct mrsi_id_span ids;    /* of the documents up to here, where sums */
    struct mrs_hash_sum before; /* digest of docs before the document just given, where sums */
};
void mrsi_cursor_begin(struct mrsi_cursor *c, struct mrsi_coll *coll, const struct mrsi_part *part,
                       const struct mrs_block *b);
enum mrs_status mrsi_cursor_next(struct mrsi_cursor *c, struct mrsi_worker *w, struct mrs_view *doc,
                                 struct mrs_err *e);
/* In work: all documents of the block that get through, until fn fails. arg, w, job as in work; SKIP counts as OK. */
typedef enum mrs_status (*mrsi_doc_fn)(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal,
                                       struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_cursor_each(struct mrsi_cursor *c, mrsi_doc_fn fn, void *arg, struct mrsi_worker *w, void *job,
                                 struct mrs_err *e);
/* Between two passes, by worker 0: once more the documents of the collection's first `bytes`, all of which were found
 * good. Nothing is counted. fn as in mrsi_cursor_each, without a job; *all: it has seen the last document. */
enum mrs_status mrsi_read_again(struct mrsi_engine *en, struct mrsi_coll *c, uint64_t bytes, mrsi_doc_fn fn, void *arg,
                                bool *all, struct mrs_err *e);
/* Bytes of BSON that a collection holds, guessed from what is known without reading it. */
uint64_t mrsi_input_bytes(const struct mrs_input_ns *in); /* of its documents, guessed where they are packed */
uint64_t mrsi_guess_bytes(const struct mrsi_engine *en, const struct mrsi_coll *c);
/* All pending steps of the collection's parts count as reported from now on: after the first pass that read all of
 * it. */
void mrsi_coll_counted(struct mrsi_coll *c);

/* ---- input_digest.c: what was read of the input ---- */
enum mrs_status mrsi_input_digest_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_input_digest_free(struct mrsi_engine *en);
/* Whether the documents of a block of an input's namespace are still to be summed up. */
bool mrsi_input_digest_wants(struct mrsi_engine *en, uint32_t in_index, uint64_t seq);
/* All of the block, which was wanted; once more counts for nothing. */
enum mrs_status mrsi_input_digest_block(struct mrsi_engine *en, uint32_t in_index, uint64_t seq,
                                        const struct mrsi_cursor *c, struct mrs_err *e);
/* All of a namespace that was read to its end; NULL: nothing was counted. */
const struct mrs_docs *mrsi_input_digest_docs(const struct mrsi_engine *en, uint32_t in_index);
void mrsi_input_digest_write(const struct mrsi_engine *en, struct mrs_build *b); /* `input` of the manifest */

/* ---- equal_ids.c: equal `_id`s in the input ---- */
enum mrs_status mrsi_twins_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_twins_free(struct mrsi_engine *en);
void mrsi_twins_block(struct mrsi_engine *en, uint32_t in_index, const struct mrsi_id_span *x, uint64_t docs);
/* Whether all documents of a namespace were noted, and their `_id`s ascend from block to block. */
bool mrsi_ids_ascend(struct mrsi_engine *en, uint32_t in_index, uint64_t docs);
enum mrs_status mrsi_twins_report(struct mrsi_engine *en, struct mrs_err *e);
/* The usual `_id` in front of a document; NULL: it has another one, or has it elsewhere. */
static inline const uint8_t *
mrsi_first_object_id(struct mrs_view doc)
{
    static const uint8_t head[5] = {MRS_OBJECTID, '_', 'i', 'd', 0};
    bool usual = doc.n > 4 + sizeof head + MRSI_OBJECT_ID && memcmp(doc.p + 4, head, sizeof head) == 0;
    return usual ? doc.p + 4 + sizeof head : NULL;
}

/* ---- document_steps.c: one-document steps ---- */
/* Frees what kernels keep in memory from one document to the next. */
void mrsi_worker_give_back(struct mrsi_worker *w);
void *mrsi_work_of(struct mrsi_worker *w, uint32_t step, struct mrs_err *e); /* NULL: no memory */
/* Leads doc through the steps list[from..n); SKIP: one refused it. first_quiet: so many of the list are neither
 * counted nor recorded. */
enum mrs_status mrsi_map_run(struct mrsi_worker *w, const uint32_t *list, uint32_t n, uint32_t n_quiet, uint32_t coll,
                             struct mrs_view *doc, struct mrs_err *e);

/* ---- pass_write.c: where a pass's documents go ---- */
struct mrsi_ids;
struct mrsi_writer {
    struct mrsi_engine *en;
    const struct mrsi_ids *ids; /* copy_through puts the contents of later documents in their place; NULL: never */
    uint64_t copied;            /* documents that copy_through wrote */
    uint32_t coll;
    bool final;      /* straight into the output file */
    uint32_t *fused; /* later MAP steps, applied while writing (final only) */
    uint32_t n_fused;
    struct mrsi_temp *temp;
    uint64_t docs, bytes;
    bool blind; /* nothing is written: documents are only read, checked and counted */
};
/* What a job has written for one writer, until its commit. */
struct mrsi_out {
    struct mrs_buf buf;
    uint64_t docs;
    struct mrs_docs counted; /* final only: taken in while the documents are in the processor's cache, not in the
                              * commit, which is serial */
};
/* Opens a writer for a collection at step `step`: final when no later step but MAP uses it. keep_old: the documents
 * that are there stay in front (they are copied first when final, else their parts stay). */
enum mrs_status mrsi_writer_prepare(struct mrsi_engine *en, uint32_t coll, uint32_t step, struct mrsi_writer *wr,
                                    struct mrs_err *e); /* all but its file */
enum mrs_status mrsi_writer_open(struct mrsi_engine *en, uint32_t coll, uint32_t step, struct mrsi_writer *wr,
                                 struct mrs_err *e);
/* A block of tiny documents may become gigabytes. *large: out is large, and it is the job's turn to write, all jobs
 * before it being written; outside of a pipe it never is. FAIL: the pass is over; what failed before is the error. */
enum mrs_status mrsi_out_await(const struct mrsi_worker *w, const struct mrsi_out *out, bool *large, struct mrs_err *e);
/* Appends one document to out, through the fused steps; where out has much, that is written before, in the job's turn.
 * OK, also where a fused step refused it; FAIL, DEAD. */
enum mrs_status mrsi_out_put(struct mrsi_writer *wr, struct mrsi_worker *w, struct mrsi_out *out, struct mrs_view doc,
                             struct mrs_err *e);
/* The same for documents that lie one behind the other. */
enum mrs_status mrsi_out_put_all(struct mrsi_writer *wr, struct mrsi_worker *w, struct mrsi_out *out,
                                 const uint8_t *p, size_t n, struct mrs_err *e);
/* Counts a document that is at `at` up to the end of the buffer. */
void mrsi_out_count(const struct mrsi_writer *wr, struct mrsi_out *out, size_t at);
enum mrs_status mrsi_writer_commit(struct mrsi_writer *wr, struct mrsi_out *out, struct mrs_err *e);
/* Empty again; no savepoint on disk may speak of what it had (mrsi_pass_anew). */
enum mrs_status mrsi_writer_restart(struct mrsi_writer *wr, struct mrs_err *e);
/* The collection consists of what was written (keep_old: behind its old parts). */
enum mrs_status mrsi_writer_close(struct mrsi_writer *wr, bool keep_old, struct mrs_err *e);
void mrsi_writer_drop(struct mrsi_writer *wr); /* after an error */
/* All parts of the collection through a writer, one pass; used for what is there already and for collections that
 * only waited. */
enum mrs_status mrsi_copy_through(struct mrsi_engine *en, uint32_t coll, struct mrsi_writer *wr,
                                  struct mrsi_pass *pass, struct mrs_err *e); /* pass NULL: without savepoints */

/* ---- finish.c: what no step has written yet, the extras, the account, the report ---- */
/* The metadata that the catalogue has for it now, as text. */
enum mrs_status mrsi_metadata_now(struct mrsi_engine *en, const struct mrsi_coll *c, struct mrs_buf *text,
                                  struct mrs_err *e);

/* ---- extra_files.c ---- */
/* Whether an entry of the input is an extra file that is part of the output. */
bool mrsi_extra_goes(const struct mrsi_engine *en, uint32_t i);
bool mrsi_is_oplog(const struct mrsi_engine *en, uint32_t i);
/* Before anything is written: the oplog must not concern what the plan names; extras that hold documents are whole.
 */
enum mrs_status mrsi_check_extras(struct mrsi_engine *en, struct mrs_err *e);

/* ---- notices.c: what else an author should know; all of these do nothing where the report is not to have it ---- */
enum mrs_status mrsi_notices_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_notices_free(struct mrsi_engine *en);
/* A document of a step's side 0 or 1, by its ordinal; in the order of ordinals, one thread at a time. */
enum mrs_status mrsi_notices_note(struct mrsi_engine *en, uint32_t step, uint32_t side, enum mrs_notice_kind kind,
                                  uint64_t ordinal, struct mrs_err *e);
void mrsi_notices_forget(struct mrsi_engine *en, uint32_t step); /* a pass begins again */
/* Documents of from by what became of them in a join. */
enum mrs_status mrsi_notices_fates(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f,
                                   struct mrs_err *e);
/* Finds the `_id`s of what was noted; before the step's collections become what it has written. */
enum mrs_status mrsi_notices_name(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
/* Documents that go to their last place; restart: what was seen of the collection is not there after all. */
enum mrs_status mrsi_notices_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n,
                                     struct mrs_err *e);
void mrsi_notices_restart(struct mrsi_engine *en, uint32_t coll);
/* The same for values at which a server refuses to build an index. line: no of mrsi_fit_most, for the report; false: it
 * has nothing to say. */
bool mrsi_why_line(const struct mrsi_engine *en, uint32_t step, char *line, size_t size); /* false: nothing */
enum mrs_status mrsi_notices_report(struct mrsi_engine *en, struct mrs_err *e);
#endif
