/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - how the offline engine is put together; for the files of common/run only.
 *
 * A collection is a list of parts (a file of the input, or a temporary file that a step wrote). A pass reads a
 * collection block by block on several workers: fetch under a lock, work in parallel, commit in input order, so that
 * nothing that is written depends on the number of workers. One-document steps cost no pass of their own: they wait
 * at the parts (pend) until somebody reads them, or are applied while another step's documents are written to their
 * last place (fused). */
#ifndef MRS_RUN_INTERNAL_H
#define MRS_RUN_INTERNAL_H

#include "mongoreshape/run.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define MRSI_BLOCK (1u << 20) /* bytes that are handed over or written at once */
#define MRSI_READ (1u << 18)  /* bytes of a block that is read: it stays near the processor while it is worked on */
#define MRSI_BIG   (4u << 20) /* blocks larger than this are worked on alone */
#define MRSI_NONE  UINT32_MAX

struct mrsi_engine;
struct mrsi_seen;
struct mrsi_twins;

/* A temporary file of raw documents or records; closed with its last user. */
struct mrsi_temp {
    int fd;
    uint64_t bytes;
    uint32_t users;
    bool aside; /* not measured */
    uint32_t no; /* its number in OUT.checkpoint; 0: it has no name */
    uint64_t summed; /* bytes that mrsi_temp_append has put there, which `sum` is of */
    struct mrs_hash_run sum;
    struct mrsi_temp *before, *behind; /* in the list of all that are open */
};

struct mrsi_part {
    uint32_t in_index; /* of the input; MRSI_NONE: a temporary file */
    struct mrsi_temp *temp;
    uint32_t *pend; /* steps (indexes) that its documents have yet to go through */
    uint32_t n_pend;
    uint32_t n_counted; /* so many of pend have been put into the account and the refused log */
};

struct mrsi_coll {
    const char *ns;       /* name it had first, for messages */
    struct mrs_coll last; /* name it has at the end */
    struct mrsi_part *part;
    uint32_t n_part;
    uint32_t hard;            /* last step (index) that reads or writes it otherwise than MAP; MRSI_NONE: none */
    uint32_t dropped_at;      /* step that drops it; MRSI_NONE */
    bool content;             /* some step changes, adds or takes documents */
    bool touched;             /* its metadata are written anew */
    struct mrs_cat_coll *cat; /* at the end */
    struct mrs_sink *sink;    /* open or closed output file */
    bool written;             /* its documents are in the output */
    uint64_t docs, bytes;     /* written */
    uint64_t meta_bytes;      /* of its metadata file, where it was written anew */
    uint32_t in_index;        /* namespace of the input; MRSI_NONE: a step made it */
    bool whole;               /* in a sample: all of it is read all the same */
    bool was_there;           /* in the input */
    bool copied;              /* byte for byte */
    bool read;                /* some pass has read, and so checked, all documents of the input's file: */
    uint64_t read_docs, read_bytes; /* so many */
};

/* Why documents of a JOIN or LINK do not match (why.c): in the row of side 0. */
struct mrsi_why {
    uint64_t n, of;     /* so many documents of side ref; n 0: nothing was found */
    uint8_t has, wants; /* types */
    uint8_t pair, ref;
    bool turned;        /* match looks the wrong way round */
    bool some;          /* not all documents were looked at */
};

/* One row of the account: a step and one collection. */
struct mrsi_row {
    uint64_t before, created, entered, after, taken, dropped, refused, placed;
    uint64_t changed; /* MAP: documents with other bytes than before */
    uint64_t matched; /* JOIN: documents of from that match somebody, whatever becomes of them */
    uint64_t outside; /* JOIN: documents of from that `where` leaves out */
    uint64_t seen;    /* paths that some document has (paths.h) */
    uint64_t noticed[2][MRS_NOTICE_STEP]; /* documents of side 0 and 1, of each kind that concerns a step */
    uint64_t once;   /* of those placed: equal to another one, `_id` and all, so that both are written once */
    uint64_t stands; /* written for others, too (ids.h) */
    struct mrsi_why why;
    uint64_t remarks[MRS_REMARKS]; /* MAP: documents, by bit of mrs_ctx.remarks */
    uint64_t lost;   /* of those taken: they have fields that are lost (lost.h) */
};

/* Refused documents of one job or one pass: records laid one behind the other. */
struct mrsi_refused_head {
    uint32_t step; /* index */
    uint32_t side;
    uint64_t order;
    uint32_t coll; /* index of the collection */
    uint32_t reason_len, place_len, doc_len;
};

/* A worker: everything a thread needs to push documents through kernels. */
struct mrsi_worker {
    struct mrsi_engine *en;
    uint32_t no;
    struct mrs_arena arena;
    uint64_t cancelled_ms; /* when an interrupt was first met between documents */
    struct mrs_ctx ctx;
    struct mrs_eval_fields fields; /* what ctx tells of them */
    struct mrs_layout layout;      /* of documents of input files */
    struct mrs_err err;     /* of kernels (SKIP) */
    void **work;            /* one per step, made at first use */
    struct mrsi_row *rows;  /* deltas of the running pass, as en->rows */
    struct mrs_buf refused; /* of the running job */
    struct mrs_buf scratch; /* for a step driver */
    struct mrs_keys keys, keys2;
    void *local; /* a pass's own */
    uint64_t job_no;                   /* of the running pipe */
    const _Atomic uint64_t *committed; /* how many jobs of it have been committed */
};

struct mrsi_engine {
    struct mrs_mem *mem;
    const struct mrs_plan *plan;
    struct mrs_input *in;
    struct mrs_output *out;
    const struct mrs_run_opts *opts;
    struct mrs_report *report;
    struct mrs_catalog *cat;
    struct mrs_arena arena; /* lives as long as the run */
    struct mrsi_coll *coll;
    uint32_t n_coll;
    bool drop_oplog;
    struct mrs_output_shape shape; /* of the output */
    uint32_t **side;   /* side[step][side]: collection index */
    uint32_t **row_of; /* row_of[step][side]: index in rows; sides of one collection share a row */
    struct mrsi_row *rows;
    uint32_t n_rows;
    struct mrsi_worker *worker;
    uint32_t jobs;
    uint64_t memory; /* bytes that gathering may use */
    struct mrs_salt salt;      /* of the manifest's digests: made of the plan id, alike in runs that are alike */
    uint8_t drawn[MRS_SECRET]; /* random bytes that checkpoints keep */
    struct mrs_secret secret;  /* made of them: of all hashes by which two things are taken for one */
    const char *tmp;
    struct mrsi_temp *refused_log;
    uint64_t refused_bytes, refused_n;
    struct mrsi_tape *refused;    /* struct mrsi_refused_at, in order, each document once: after mrsi_refused_finish */
    struct mrsi_amend *amend;
    struct mrsi_look *look; /* NULL: not wanted */
    struct mrsi_paths *paths;
    struct mrsi_lost **lost; /* by step; NULL: nothing is */
    uint64_t *wants; /* by row: paths that are looked for */
    uint32_t now;    /* index of the step that reads collections; MRSI_NONE */
    struct mrsi_fit **fit;  /* by collection; NULL: no index is to be looked after */
    struct mrsi_seen *seen; /* NULL: no manifest is written */
    struct mrsi_twins *twins;
    struct mrsi_keep *keep; /* checkpoint.c; NULL: a run that is killed is begun anew */
    pthread_mutex_t temp_lock;
    struct mrsi_temp *temps; /* that are open */
    uint64_t temp_most;      /* bytes that they had at one time */
    _Atomic uint64_t done_bytes, done_docs;
    uint64_t total_bytes;
    const char *residue;    /* the file that is put back (residue_back.c); NULL: none */
    struct mrsi_pass *output_pass; /* what a rest of the output is a mark of; NULL: of nothing */
    char phase_text[128];
    pthread_mutex_t lock; /* progress */
};

struct mrsi_refused_at {
    uint32_t step, side;
    uint64_t order, off;
    uint32_t coll;
};

static inline void
mrsi_remark(struct mrsi_row *row, uint64_t bits)
{
    for (; bits; bits &= bits - 1) {
        row->remarks[__builtin_ctzll(bits)]++;
    }
}

static inline bool
mrsi_cancelled(const struct mrsi_engine *en)
{
    return en->opts->cancel && __atomic_load_n(en->opts->cancel, __ATOMIC_RELAXED);
}

/* Bytes of a block that is read, and of what is done between two places where a mark can be taken. */
static inline size_t
mrsi_block_bytes(const struct mrsi_engine *en)
{
    return en->opts->block_bytes ? en->opts->block_bytes : MRSI_READ;
}

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
/* The same with marks on the way (checkpoint.h); pass NULL: none. */
struct mrsi_pass;
enum mrs_status mrsi_pipe_run_marked(const struct mrsi_pipe *p, const struct mrsi_pass *pass, struct mrs_err *e);
/* In work: whether all earlier jobs have been committed. What this one would do in its commit it may do now, piece by
 * piece. */
bool mrsi_pipe_turn(const struct mrsi_worker *w);

/* ---- temp.c ---- */
enum mrs_status mrsi_temp_new(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e);
/* Of an open file, which is closed in any case; no: its number in OUT.checkpoint, 0: none. */
enum mrs_status mrsi_temp_of(struct mrsi_engine *en, int fd, uint32_t no, struct mrsi_temp **out, struct mrs_err *e);
void mrsi_temp_drop(struct mrsi_engine *en, struct mrsi_temp *t);
/* Writes at `off`, where what was put there before ends, or at 0 to begin anew. One thread at a time. Where the file
 * has a name its sum goes on, which a mark needs (mrsi_mark_temp). A file that ends earlier than it did may go on from
 * there; then it has no sum until one is made (mrsi_mark_sum_again). */
enum mrs_status mrsi_temp_append(struct mrsi_temp *t, const void *p, size_t n, uint64_t off, struct mrs_err *e);
/* The sum of a file that has been filled in another way, with these bytes. */
void mrsi_temp_sum(struct mrsi_temp *t, const void *p, size_t n);
/* The most bytes that all temporary files had at one time up to now. */
uint64_t mrsi_temp_most(struct mrsi_engine *en);

/* ---- scan.c: reading a collection ---- */
struct mrsi_scan {
    struct mrsi_engine *en;
    struct mrsi_coll *coll;
    const struct mrsi_part *parts; /* as they were when the scan began */
    uint32_t n_part;
    uint32_t at_part;
    struct mrs_reader *reader;
    uint64_t base;     /* documents of earlier parts */
    uint64_t bytes;    /* of all blocks */
    uint64_t progress; /* bytes of the running part already told */
    uint64_t in_part;
};
/* The `_id`s of a block's documents. */
enum { MRSI_OBJECT_ID = 12 };
struct mrsi_id_span {
    const uint8_t *first, *last; /* ObjectIds, in ascending order up to here */
    bool loose;                  /* they do not ascend, or are no ObjectIds */
};
struct mrsi_doc_at { /* where in the scan a document stands */
    const struct mrsi_part *part;
    uint64_t ordinal;
};
void mrsi_scan_begin(struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_scan *s);
enum mrs_status mrsi_scan_next(struct mrsi_scan *s, struct mrs_block *b, const struct mrsi_part **part,
                               struct mrs_err *e); /* first_doc: ordinal */
/* How many documents there will have been at the end of the running part, as far as one can tell. Where next is
 * called. */
uint64_t mrsi_scan_guess(const struct mrsi_scan *s);
/* Goes on in the part that the scan stands at, behind in_part documents of it. */
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
    uint32_t row; /* of the step that reads; MRSI_NONE: no path is looked for */
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
/* mrs_doc_check of a document of an input file; an error gets file, namespace, document number and offset. */
enum mrs_status mrsi_check_input(const struct mrs_input_ns *in, struct mrs_view doc, uint64_t ordinal, uint64_t off,
                                 struct mrs_err *e);
/* All pending steps of the collection's parts count as told from now on: after the first pass that read all of it. */
void mrsi_coll_counted(struct mrsi_coll *c);

/* ---- seen.c: what was read of the input ---- */
enum mrs_status mrsi_seen_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_seen_free(struct mrsi_engine *en);
/* Whether the documents of a block of an input's namespace are still to be summed up. */
bool mrsi_seen_wants(struct mrsi_engine *en, uint32_t in_index, uint64_t seq);
/* All of the block, which was wanted; once more counts for nothing. */
enum mrs_status mrsi_seen_block(struct mrsi_engine *en, uint32_t in_index, uint64_t seq, const struct mrsi_cursor *c,
                                struct mrs_err *e);
/* All of a namespace that was read to its end; NULL: nothing was counted. */
const struct mrs_docs *mrsi_seen_docs(const struct mrsi_engine *en, uint32_t in_index);
void mrsi_seen_write(const struct mrsi_engine *en, struct mrs_build *b); /* `input` of the manifest */

/* ---- twins.c: equal `_id`s in the input ---- */
enum mrs_status mrsi_twins_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_twins_free(struct mrsi_engine *en);
void mrsi_twins_block(struct mrsi_engine *en, uint32_t in_index, const struct mrsi_id_span *x, uint64_t docs);
enum mrs_status mrsi_twins_report(struct mrsi_engine *en, struct mrs_err *e);

/* The usual `_id` in front of a document; NULL: it has another one, or has it elsewhere. */
static inline const uint8_t *
mrsi_first_object_id(struct mrs_view doc)
{
    static const uint8_t head[5] = {MRS_OBJECTID, '_', 'i', 'd', 0};
    bool usual = doc.n > 4 + sizeof head + MRSI_OBJECT_ID && memcmp(doc.p + 4, head, sizeof head) == 0;
    return usual ? doc.p + 4 + sizeof head : NULL;
}

/* ---- map.c: one-document steps ---- */
void *mrsi_work_of(struct mrsi_worker *w, uint32_t step, struct mrs_err *e); /* NULL: no memory */
/* Leads doc through the steps list[from..n); SKIP: one refused it. first_quiet: so many of the list are neither
 * counted nor recorded. */
enum mrs_status mrsi_map_run(struct mrsi_worker *w, const uint32_t *list, uint32_t n, uint32_t n_quiet, uint32_t coll,
                             struct mrs_view *doc, struct mrs_err *e);

/* ---- write.c: where a pass's documents go ---- */
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
/* Appends one document to out, through the fused steps. OK, also where a fused step refused it; DEAD. */
enum mrs_status mrsi_out_put(const struct mrsi_writer *wr, struct mrsi_worker *w, struct mrsi_out *out,
                             struct mrs_view doc, struct mrs_err *e);
/* The same for documents that lie one behind the other. */
enum mrs_status mrsi_out_put_all(const struct mrsi_writer *wr, struct mrsi_worker *w, struct mrsi_out *out,
                                 const uint8_t *p, size_t n, struct mrs_err *e);
/* Counts a document that stands at `at` up to the end of the buffer. */
void mrsi_out_count(const struct mrsi_writer *wr, struct mrsi_out *out, size_t at);
enum mrs_status mrsi_writer_commit(struct mrsi_writer *wr, struct mrsi_out *out, struct mrs_err *e);
/* Empty again; no mark on disk may speak of what it had (mrsi_pass_anew). */
enum mrs_status mrsi_writer_restart(struct mrsi_writer *wr, struct mrs_err *e);
/* The collection consists of what was written (keep_old: behind its old parts). */
enum mrs_status mrsi_writer_close(struct mrsi_writer *wr, bool keep_old, struct mrs_err *e);
void mrsi_writer_drop(struct mrsi_writer *wr); /* after an error */
/* All parts of the collection through a writer, one pass; used for what is there already and for collections that
 * only waited. */
enum mrs_status mrsi_copy_through(struct mrsi_engine *en, uint32_t coll, struct mrsi_writer *wr,
                                  struct mrsi_pass *pass, struct mrs_err *e); /* pass NULL: without marks */

/* ---- refuse.c ---- */
/* Remembers a refused document in the job's list; reason and place from w->err, which is cleared. */
enum mrs_status mrsi_refuse(struct mrsi_worker *w, uint32_t step, uint32_t side, uint32_t coll, uint64_t order,
                            struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_refused_commit(struct mrsi_worker *w, struct mrs_err *e); /* in commit order */
struct mrsi_refused_mark {
    uint64_t bytes, n;
};
struct mrsi_refused_mark mrsi_refused_mark(const struct mrsi_engine *en);
void mrsi_refused_rewind(struct mrsi_engine *en, struct mrsi_refused_mark m);
enum mrs_status mrsi_refused_finish(struct mrsi_engine *en, uint64_t *distinct, uint32_t *past, struct mrs_err *e);
uint64_t mrsi_refused_up_to(const struct mrsi_engine *en, uint32_t last_step); /* distinct documents, after finish */
void mrsi_refused_clear(struct mrsi_engine *en);
enum mrs_status mrsi_refusals(struct mrsi_engine *en, struct mrs_err *e); /* into the report */
/* The bytes of its files are added to the report's. */
enum mrs_status mrsi_refused_write(struct mrsi_engine *en, const char *path, uint32_t last_step, struct mrs_err *e);
enum mrs_status mrsi_refused_weigh(struct mrsi_engine *en, struct mrs_err *e); /* only adds them */
/* An `_id` as relaxed Extended JSON into room; how many bytes of it are to be shown, where that is `most` at most. */
size_t mrsi_id_write(struct mrs_val id, size_t most, struct mrs_buf *room);
/* The same in the report's memory; NULL: there is none. */
const char *mrsi_id_text(struct mrs_report *r, struct mrs_val id, struct mrs_buf *room);
/* Appends the `_id` of a document to a list that has room for it. */
enum mrs_status mrsi_ids_add(struct mrs_report *r, struct mrs_ids *ids, struct mrs_view doc, struct mrs_buf *room,
                             struct mrs_err *e);

/* ---- account.c ---- */
void mrsi_rows_begin(struct mrsi_engine *en);  /* zero all workers' deltas */
void mrsi_rows_accept(struct mrsi_engine *en); /* add them */
void mrsi_rows_sum(const struct mrsi_engine *en, struct mrsi_row *sum); /* of all workers' deltas, added to sum */
/* A kernel failed worse than SKIP: its error goes up. Returns s. */
enum mrs_status mrsi_kernel_failed(struct mrsi_worker *w, enum mrs_status s, struct mrs_err *e);
static inline bool
mrsi_differ(struct mrs_view a, struct mrs_view b)
{
    return a.p != b.p && (a.n != b.n || memcmp(a.p, b.p, a.n) != 0);
}
static inline struct mrsi_row *
mrsi_row(struct mrsi_worker *w, uint32_t step, uint32_t side)
{
    return &w->rows[w->en->row_of[step][side]];
}

/* ---- setup.c: collections, sides and what is known before the first document ---- */
enum mrs_status mrsi_setup(struct mrsi_engine *en, struct mrs_err *e);
/* ---- finish.c: what no step has written yet, the extras, the account, the report ---- */
enum mrs_status mrsi_finish_collections(struct mrsi_engine *en, struct mrs_err *e);
/* A collection that goes from the input to the output as it is. */
enum mrs_status mrsi_copy_file(struct mrsi_engine *en, uint32_t coll, struct mrs_err *e);
/* Begins with that for a collection which the step reads and no step changes, beside the step. */
void mrsi_copy_early(struct mrsi_engine *en, uint32_t step);
/* The metadata that the catalogue has for it now, as text. */
enum mrs_status mrsi_metadata_now(struct mrsi_engine *en, const struct mrsi_coll *c, struct mrs_buf *text,
                                  struct mrs_err *e);

/* ---- engine.c: the secret of a run ---- */
enum mrs_status mrsi_secret_draw(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_secret_take(struct mrsi_engine *en, const uint8_t drawn[MRS_SECRET]);

/* ---- stream.c ---- */
/* An output that goes out while it is made: what it will hold, and of that what no step names. */
enum mrs_status mrsi_stream_begin(struct mrsi_engine *en, struct mrs_err *e);

/* ---- extras.c ---- */
/* Whether an entry of the input is an extra file that is part of the output. */
bool mrsi_extra_goes(const struct mrsi_engine *en, uint32_t i);
bool mrsi_is_oplog(const struct mrsi_engine *en, uint32_t i);
/* Steps up to and including `last` that still wait at collections see their documents, whose results are thrown away.
 */
enum mrs_status mrsi_drain(struct mrsi_engine *en, uint32_t last, struct mrs_err *e);
enum mrs_status mrsi_check_account(const struct mrsi_engine *en, struct mrs_err *e);
enum mrs_status mrsi_report(struct mrsi_engine *en, struct mrs_err *e);
/* Before anything is written: the oplog must not concern what the plan names; extras that hold documents are whole.
 */
enum mrs_status mrsi_check_extras(struct mrsi_engine *en, struct mrs_err *e);
/* Notes the roles of the dump that name a collection which the plan empties or takes fields from. */
enum mrs_status mrsi_note_roles(struct mrsi_engine *en, struct mrs_err *e);
/* The line that restores the output; and notes (room for one a collection and extra file) of what it does not. */
enum mrs_status mrsi_put_restore(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_note_unrestored(struct mrsi_engine *en);
void mrsi_tick(struct mrsi_engine *en);

/* ---- look.c: what else an author should know; all of these do nothing where the report is not to have it ---- */
struct mrsi_fates;
enum mrs_status mrsi_look_new(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_look_free(struct mrsi_engine *en);
/* A document of a step's side 0 or 1, by its ordinal; in the order of ordinals, one thread at a time. */
enum mrs_status mrsi_look_note(struct mrsi_engine *en, uint32_t step, uint32_t side, enum mrs_notice_kind kind,
                               uint64_t ordinal, struct mrs_err *e);
void mrsi_look_forget(struct mrsi_engine *en, uint32_t step); /* a pass begins again */
/* Documents of from by what became of them in a join. */
enum mrs_status mrsi_look_fates(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f, struct mrs_err *e);
/* Finds the `_id`s of what was noted; before the step's collections become what it has written. */
enum mrs_status mrsi_look_name(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
/* Documents that go to their last place; restart: what was seen of the collection is not there after all. */
enum mrs_status mrsi_look_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n, struct mrs_err *e);
void mrsi_look_restart(struct mrsi_engine *en, uint32_t coll);
/* The same for values at which a server refuses to build an index. line: no of mrsi_fit_most, for the report; false: it
 * has nothing to say. */
bool mrsi_why_line(const struct mrsi_engine *en, uint32_t step, char *line, size_t size); /* false: nothing */
enum mrs_status mrsi_fit_begin(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_fit_end(struct mrsi_engine *en);
enum mrs_status mrsi_fit_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n, struct mrs_err *e);
void mrsi_fit_restart(struct mrsi_engine *en, uint32_t coll);
uint32_t mrsi_fit_most(const struct mrsi_engine *en);
bool mrsi_fit_line(const struct mrsi_engine *en, uint32_t no, char *line, size_t size);
/* clash.c: the same for unique indexes other than that of `_id`; `of`: what look.c keeps of a collection, NULL where it
 * has none of them. */
struct mrsi_clash;
enum mrs_status mrsi_clash_new(struct mrsi_engine *en, uint32_t coll, uint64_t limit, struct mrsi_clash **out,
                               struct mrs_err *e);
void mrsi_clash_free(struct mrsi_clash *of);
enum mrs_status mrsi_clash_document(struct mrsi_clash *of, struct mrs_view doc, struct mrs_err *e);
void mrsi_clash_restart(struct mrsi_clash *of);
uint32_t mrsi_clash_most(const struct mrsi_clash *of); /* notices that may come of it */
enum mrs_status mrsi_clash_report(struct mrsi_clash *of, struct mrs_err *e);
enum mrs_status mrsi_look_report(struct mrsi_engine *en, struct mrs_err *e);

/* ---- residue_write.c: what the inverse of the plan does not bring back, once the output is whole ---- */
enum mrs_status mrsi_residue_write(struct mrsi_engine *en, struct mrs_err *e);

/* ---- drivers, one per family ---- */
enum mrs_status mrsi_spread_step(struct mrsi_engine *en, uint32_t step,
                                 struct mrs_err *e); /* SPREAD, and MAP with new_ids */
enum mrs_status mrsi_join_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_group_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_tree_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_link_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_fold_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
enum mrs_status mrsi_grid_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);

#endif
