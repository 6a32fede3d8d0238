/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - what a run is made of, and its temporary files.
 *
 * A collection is a list of parts (a file of the input, or a temporary file that a step wrote). A pass reads a
 * collection block by block on several workers: fetch under a lock, work in parallel, commit in input order, so that
 * nothing that is written depends on the number of workers. One-document steps cost no pass of their own: they wait
 * at the parts (pend) until they are read, or are applied while another step's documents are written to their
 * last place (fused). */
#ifndef MRSI_RUN_STORE_H
#define MRSI_RUN_STORE_H

#include "mongoreshape/run.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/catalogue.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define MRSI_BLOCK (1u << 20) /* bytes that are handed over or written at once */
#define MRSI_READ (1u << 18)  /* bytes of a block that is read: it stays near the processor while it is worked on */
#define MRSI_BIG   (4u << 20) /* blocks larger than this are worked on alone, where memory is short smaller ones too */
#define MRSI_NONE  UINT32_MAX
struct mrsi_engine; struct mrsi_input_digest; struct mrsi_value_list; struct mrsi_asked; struct mrsi_twins;
struct pipe_run;

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
    bool touched;             /* its metadata are rewritten */
    struct mrs_cat_coll *cat; /* at the end */
    struct mrs_sink *sink;    /* open or closed output file */
    bool written;             /* its documents are in the output */
    uint64_t docs, bytes;     /* written */
    uint64_t meta_bytes;      /* of its metadata file, if it was rewritten */
    uint32_t in_index;        /* namespace of the input; MRSI_NONE: a step made it */
    bool whole;               /* in a sample: all of it is read all the same */
    bool was_there;           /* in the input */
    bool copied;              /* byte for byte */
    bool of_series;           /* the measurements of a time series (series/); `read`: they are there */
    uint32_t series, buckets; /* its collections of the input */
    bool read;                /* some pass has read, and so checked, all documents of the input's file: */
    uint64_t read_docs, read_bytes; /* so many */
};

/* Why documents of a JOIN or LINK do not match, or references of a REKEY name no document: in the row of side 0. */
struct mrsi_why {
    uint64_t n, of;     /* so many documents of side ref; n 0: nothing was found */
    uint8_t has, wants; /* types */
    uint32_t pair, ref; /* pair: of JOIN; of REKEY the touch that names the path */
    bool turned;        /* match is the wrong way round */
    bool some;          /* not all documents were examined */
};

/* Documents in which a field failed, and `errors` took that. */
struct mrsi_eased {
    uint64_t n;
    uint8_t type, size, id[30]; /* the least `_id` of these that is so short; type 0: none is */
};

/* One row of the account: a step and one collection. */
struct mrsi_row {
    uint64_t before, created, entered, after, taken, dropped, refused, placed;
    uint64_t changed; /* MAP, REKEY: documents with other bytes than before */
    uint64_t groups; /* WINDOW */
    uint64_t merged, references, dangling; /* REKEY: documents that became part of another; references that followed,
                                              and that name no document */
    uint64_t matched; /* JOIN: documents of from with a match, whatever becomes of them */
    uint64_t outside; /* JOIN: documents of from that `where` leaves out */
    uint64_t seen;    /* paths that some document has (unknown_paths.h) */
    uint64_t patterns; /* MAP: patterns that fit a field of some document, by bit of mrs_ctx.matched */
    uint64_t noticed[2][MRS_NOTICE_STEP]; /* documents of side 0 and 1, of each kind that concerns a step */
    uint64_t once;   /* of those placed: equal to another one, `_id` and all, so that both are written once */
    uint64_t represents; /* written for others, too (id_check.h) */
    struct mrsi_why why;
    uint64_t remarks[MRS_REMARKS]; /* MAP: documents, by bit of mrs_ctx.remarks */
    uint64_t failed;                /* documents with a bit of mrs_ctx.eased; by bit: */
    struct mrsi_eased eased[MRS_EASED];
    /* Of a list of values: */
    uint64_t found, lacking; /* values that were among them; documents that lack the path and fit for that */
    uint64_t asked_types;    /* of values compared with it; REKEY: of dangling references */
    uint64_t lost;   /* of those taken: they have fields that are lost (lost_fields.h) */
};

/* Refused documents of one job or one pass: records laid one behind the other. */
struct mrsi_refused_head {
    uint32_t step; /* index */
    uint32_t side;
    uint64_t order;
    uint32_t coll; /* index of the collection */
    uint32_t reason_len, place_len, doc_len;
    uint32_t kind_len; /* of the reason, as struct mrs_err has it; 0: all of it */
};

/* A worker: everything a thread needs to push documents through kernels. */
struct mrsi_worker {
    struct mrsi_engine *en;
    uint32_t no;
    struct mrs_arena arena;
    uint64_t cancelled_ms; /* when an interrupt was first seen between documents */
    struct mrs_ctx ctx;
    struct mrs_eval_fields fields; /* the fields that ctx provides */
    struct mrs_layout layout;      /* of documents of input files */
    struct mrs_err err;     /* of kernels (SKIP) */
    bool first_look; /* the step in hand has not seen the document in hand before */
    void **work;            /* one per step, made at first use */
    struct mrsi_row *rows;  /* deltas of the running pass, as en->rows */
    struct mrs_buf refused; /* of the running job */
    struct mrs_buf scratch; /* for a step driver */
    struct mrs_keys keys, keys2;
    void *local; /* a pass's own */
    struct mrsi_read_last { const char *ns; uint64_t ordinal; } last; /* document of the job; ns NULL: there is none */
    uint64_t job_no;                   /* of the running pipe */
    struct pipe_run *pipe;
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
    struct mrsi_asked *asked;     /* by worker: how kernels ask the lists */
    struct mrsi_value_list *list; /* plan->n_lists: of conditions on other collections */
    uint32_t list_row;            /* of the first of them; behind the rows of steps */
    struct mrsi_worker *worker;
    uint32_t jobs;
    uint64_t memory; /* bytes that gathering may use */
    uint64_t large, most; /* bytes of a block that is worked on alone, 0: MRSI_BIG; of the process meanwhile, 0: any */
    struct mrs_salt salt;      /* of the manifest's digests: made of the plan id, alike in runs that are alike */
    uint8_t drawn[MRS_SECRET]; /* random bytes that checkpoints keep */
    struct mrs_secret secret;  /* made of them: of all hashes by which two things are taken for one */
    const char *tmp;
    struct mrsi_temp *refused_log;
    uint64_t refused_bytes, refused_n;
    struct mrsi_file_array *refused; /* struct mrsi_refused_at, in order, each once: after mrsi_refused_finish */
    struct mrsi_amend *amend;
    struct mrsi_notices *notices; /* NULL: not wanted */
    struct mrsi_unknown_paths *paths;
    struct mrsi_lost **lost; /* by step; NULL: nothing is */
    uint64_t *wants; /* by row: paths that are searched for */
    uint32_t now;    /* index of the step that reads collections; MRSI_NONE */
    struct mrsi_fit **fit;  /* by collection; NULL: no index to check */
    struct mrsi_input_digest *seen; /* NULL: no manifest is written */
    struct mrsi_twins *twins;
    struct mrsi_kept_files *kept; /* files that checkpoints may name; NULL: none may */
    struct mrsi_checkpoints *keep; /* checkpoint.c; NULL: a run that is killed is started over */
    pthread_mutex_t temp_lock;
    struct mrsi_temp *temps; /* that are open */
    uint64_t temp_most;      /* bytes that they had at one time */
    _Atomic uint64_t done_bytes, done_docs;
    uint64_t total_bytes;
    enum mrs_status (*write_residue)(struct mrsi_engine *en, struct mrs_err *e); /* NULL: never asked for */
    enum mrs_status (*residue_is_ours)(void *en, const char *path, bool *ours, struct mrs_err *e);
    const char *residue;    /* the file that is put back (residue_back.c); NULL: none */
    struct mrsi_pass *output_pass; /* what a rest of the output is a savepoint of; NULL: of nothing */
    char phase_text[128];
    pthread_mutex_t lock; /* progress */
};

struct mrsi_refused_at {
    uint32_t step, side;
    uint64_t order, off;
    uint32_t coll;
};

static inline bool
mrsi_cancelled(const struct mrsi_engine *en)
{
    return en->opts->cancel && __atomic_load_n(en->opts->cancel, __ATOMIC_RELAXED);
}

/* Bytes of a block that is read, and of what is done between two places where a savepoint can be taken. */
static inline size_t
mrsi_block_bytes(const struct mrsi_engine *en)
{
    return en->opts->block_bytes ? en->opts->block_bytes : MRSI_READ;
}

/* ---- temp.c ---- */
enum mrs_status mrsi_temp_new(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e);
/* Of an open file, which is closed in any case; no: its number in OUT.checkpoint, 0: none. */
enum mrs_status mrsi_temp_of(struct mrsi_engine *en, int fd, uint32_t no, struct mrsi_temp **out, struct mrs_err *e);
void mrsi_temp_drop(struct mrsi_engine *en, struct mrsi_temp *t);
/* Writes at `off`: at the end of what was written before, or at 0 to start over. One thread at a time. The checksum of
 * a named file is continued, since a savepoint needs it (mrsi_save_temp). A file that was truncated may be continued
 * from there; then it has no checksum until mrsi_save_sum_again computes one. */
enum mrs_status mrsi_temp_append(struct mrsi_temp *t, const void *p, size_t n, uint64_t off, struct mrs_err *e);
/* The sum of a file that has been filled in another way, with these bytes. */
void mrsi_temp_sum(struct mrsi_temp *t, const void *p, size_t n);
/* The most bytes that all temporary files had at one time up to now. */
uint64_t mrsi_temp_most(struct mrsi_engine *en);

/* ---- input_check.c ---- */
/* mrs_doc_check of a document of an input file; an error gets file, namespace, document number and offset. */
enum mrs_status mrsi_check_input(const struct mrs_input_ns *in, struct mrs_view doc, uint64_t ordinal, uint64_t off,
                                 struct mrs_err *e);
/* The same error for a document that is wrong in another way: s, with e completed. */
enum mrs_status mrsi_bad_input(const struct mrs_input_ns *in, uint64_t ordinal, uint64_t off, enum mrs_status s,
                               struct mrs_err *e);

struct mrsi_refused_mark {
    uint64_t bytes, n;
};

/* ---- run_secret.c ---- */
enum mrs_status mrsi_secret_draw(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_secret_take(struct mrsi_engine *en, const uint8_t drawn[MRS_SECRET]);
/* ---- run_progress.c ---- */
void mrsi_tick(struct mrsi_engine *en);
enum mrs_status mrsi_interrupted(const struct mrsi_engine *en, struct mrs_err *e); /* the cancel flag as a status */

void mrsi_advise_huge(void *p, size_t n); /* huge pages cost less to touch and are found faster: advice only */
#endif
