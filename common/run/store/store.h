/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - the data of a run, and its temporary files.
 *
 * A collection is a list of parts (a file of the input, or a temporary file that a step wrote). A pass reads a
 * collection block by block on several workers: fetch under a lock, work in parallel, commit in input order, so that
 * the output does not depend on the number of workers. One-document steps cost no pass of their own: they wait at the
 * parts (pend) until these are read, or are applied while another step's documents are written to the output
 * (fused). */
#ifndef MRSI_RUN_STORE_H
#define MRSI_RUN_STORE_H

#include "mongoreshape/run.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/catalogue.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define MRSI_BLOCK (1u << 20) /* bytes passed on or written at once */
#define MRSI_READ (1u << 18)  /* bytes of a block that is read: it stays in the processor's cache */
#define MRSI_BIG   (4u << 20) /* larger blocks are processed alone, if memory is short smaller ones too */
#define MRSI_NONE  UINT32_MAX
struct mrsi_engine; struct mrsi_input_digest; struct mrsi_value_list; struct mrsi_list_search; struct mrsi_equal_ids;
struct pipe_run;

/* A temporary file of raw documents or records; closed by its last user. */
struct mrsi_temp {
    int fd;
    uint64_t bytes;
    uint32_t users;
    bool aside; /* not measured */
    uint32_t no; /* its number in OUT.checkpoint; 0: unlinked */
    uint64_t summed; /* bytes written by mrsi_temp_append, covered by `sum` */
    struct mrs_hash_run sum;
    struct mrsi_temp *before, *behind; /* in the list of open ones */
};

struct mrsi_part {
    uint32_t in_index; /* in the input; MRSI_NONE: a temporary file */
    struct mrsi_temp *temp;
    uint32_t *pend; /* steps (indexes) that its documents still have to pass */
    uint32_t n_pend;
    uint32_t n_counted; /* number of steps of pend that are in the account and the refused log */
};

struct mrsi_coll {
    const char *ns;       /* original name, for messages */
    struct mrs_coll last; /* final name */
    struct mrsi_part *part;
    uint32_t n_part;
    uint32_t hard;            /* last step (index) that uses it, other than MAP; MRSI_NONE: none */
    uint32_t dropped_at;      /* step that drops it; MRSI_NONE */
    bool content;             /* some step changes, adds or removes documents */
    bool touched;             /* its metadata is rewritten */
    struct mrs_cat_coll *cat; /* final entry */
    struct mrs_sink *sink;    /* open or closed output file */
    bool written;             /* its documents are in the output */
    uint64_t docs, bytes;     /* written */
    uint64_t meta_bytes;      /* of its metadata file, if it was rewritten */
    uint32_t in_index;        /* namespace of the input; MRSI_NONE: a step made it */
    bool whole;               /* in a sample: read completely anyway */
    bool was_there;           /* in the input */
    bool copied;              /* copied byte for byte */
    bool of_series;           /* the measurements of a time series (series/); `read`: they have been unpacked */
    uint32_t series, buckets; /* its collections in the input */
    bool read;                /* a pass has read, and so validated, all documents of the input's file: */
    uint64_t read_docs, read_bytes; /* their number and size */
};

/* Why documents of a JOIN or LINK do not match, or references of a REKEY dangle: in the row of side 0. */
struct mrsi_why {
    uint64_t n, of;     /* number of documents of side ref; n 0: no reason found */
    uint8_t has, expected; /* types */
    uint32_t pair, ref; /* pair: of JOIN; for REKEY the touch with the path */
    bool turned, nearly; /* match has the wrong direction; texts that differ in case or blanks only */
    bool some;          /* not all documents were read */
};

/* Documents with a field that failed, which `errors` allowed. */
struct mrsi_eased {
    uint64_t n;
    uint8_t type, size, id[30]; /* the smallest `_id` of these that is short enough; type 0: none */
};

/* One row of the account: a step and one collection. */
struct mrsi_row {
    uint64_t before, created, entered, after, taken, dropped, refused, placed;
    uint64_t changed; /* MAP, REKEY: documents with other bytes than before */
    uint64_t groups; /* WINDOW */
    uint64_t merged, references, dangling; /* REKEY: documents merged; references updated, dangling */
    uint64_t matched; /* JOIN: documents of from with a match, with any fate */
    uint64_t outside; /* JOIN: documents of from excluded by `where` */
    uint64_t empty_from, empty_into; /* JOIN: documents with an empty text as a computed key; of into: 1 if any */
    uint64_t seen, checked; /* bits of paths that a document has (unknown_paths.h); documents searched by a worker */
    uint64_t patterns; /* MAP: patterns that match a field of a document, by bit of mrs_ctx.matched */
    uint64_t noticed[2][MRS_NOTICE_STEP]; /* documents of side 0 and 1, for each kind of notice of a step */
    uint64_t once;   /* of those placed: equal to another one, including `_id`, so both are written once */
    uint64_t represents; /* written, and standing for others (id_check.h) */
    struct mrsi_why why;
    uint64_t remarks[MRS_REMARKS]; /* MAP: documents, by bit of mrs_ctx.remarks */
    uint64_t failed;                /* documents with a bit of mrs_ctx.eased; by bit: */
    struct mrsi_eased eased[MRS_EASED];
    /* For a list of values: */
    uint64_t found, lacking, unlike, nearly; /* in it; documents without the path that match so; other types; case */
    uint64_t searched_types; /* of values searched in it; REKEY: of dangling references */
    uint64_t lost;   /* of those moved: they have fields that are lost (lost_fields.h) */
};

/* Refused documents of one job or one pass: contiguous records. */
struct mrsi_refused_head {
    uint32_t step; /* index */
    uint32_t side;
    uint64_t order;
    uint32_t coll; /* index of the collection */
    uint32_t reason_len, place_len, doc_len;
    uint32_t kind_len; /* of the reason, see struct mrs_err; 0: all of it */
};

/* A worker: all data of a thread that passes documents through kernels. */
struct mrsi_worker {
    struct mrsi_engine *en;
    uint32_t no;
    struct mrs_arena arena;
    uint64_t cancelled_ms; /* when an interrupt was first noticed between documents */
    struct mrs_ctx ctx;
    struct mrs_eval_fields fields; /* the fields that ctx provides */
    struct mrs_layout layout;      /* template of documents of input files */
    struct mrs_err err;     /* of kernels (SKIP) */
    bool first_read; /* the current step reads the current document for the first time */
    void **work;            /* one for each step, made at first use */
    struct mrsi_row *rows;  /* counts of the current pass, like en->rows */
    struct mrs_buf refused; /* of the current job */
    struct mrs_buf scratch; /* for a step driver */
    struct mrs_keys keys, keys2;
    void *local; /* of a pass */
    struct mrsi_read_last { const char *ns; uint64_t ordinal; } last; /* document of the job; ns NULL: none */
    uint64_t job_no;                   /* in the current pipe */
    struct pipe_run *pipe;
    struct pipe_slot *slot;            /* of the job */
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
    uint32_t n_rows, note_cap; /* note_cap: of report->notes */
    struct mrsi_list_search *search; /* for each worker: how kernels search the lists */
    struct mrsi_value_list *list; /* plan->n_lists: for conditions on other collections */
    uint32_t list_row;            /* of the first of them; after the rows of steps */
    struct mrsi_worker *worker;
    uint32_t jobs;
    uint64_t memory; /* bytes that gathering may use */
    uint64_t large, most; /* size of a block processed alone, 0: MRSI_BIG; limit of the process then, 0: none */
    struct mrs_salt salt;      /* of the manifest's digests: derived from the plan id, equal in equal runs */
    uint8_t drawn[MRS_SECRET]; /* random bytes that checkpoints save */
    struct mrs_secret secret;  /* derived from them: for all hashes that decide about equality */
    const char *tmp;
    struct mrsi_temp *refused_log;
    uint64_t refused_bytes, refused_n;
    struct mrsi_file_array *refused; /* struct mrsi_refused_at, sorted, distinct: after mrsi_refused_finish */
    struct mrsi_amend *amend;
    struct mrsi_notices *notices; /* NULL: not requested */
    struct mrsi_unknown_paths *paths;
    struct mrsi_lost **lost; /* for each step; NULL: nothing is lost */
    uint64_t *searched; /* for each row: bits of paths that are searched */
    uint32_t now;    /* index of the step that reads collections; MRSI_NONE */
    struct mrsi_fit **fit;  /* for each collection; NULL: no index to check */
    struct mrsi_input_digest *seen; /* NULL: no manifest is written */
    struct mrsi_equal_ids *twins;
    struct mrsi_kept_files *kept; /* files of checkpoints; NULL: no checkpoints */
    struct mrsi_checkpoints *keep; /* checkpoint.c; NULL: a killed run starts over */
    pthread_mutex_t temp_lock;
    struct mrsi_temp *temps; /* open ones */
    uint64_t temp_most;      /* their maximum total size */
    _Atomic uint64_t done_bytes, done_docs;
    uint64_t total_bytes;
    enum mrs_status (*write_residue)(struct mrsi_engine *en, struct mrs_err *e); /* NULL: not requested */
    enum mrs_status (*residue_is_ours)(void *en, const char *path, bool *ours, struct mrs_err *e);
    const char *residue;    /* the residue to restore (residue_back.c); NULL: none */
    struct mrsi_pass *output_pass; /* the pass that takes savepoints during output work; NULL: none */
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

/* Bytes of a block that is read, and of the work between two possible savepoints. */
static inline size_t
mrsi_block_bytes(const struct mrsi_engine *en)
{
    return en->opts->block_bytes ? en->opts->block_bytes : MRSI_READ;
}

/* ---- temp.c ---- */
enum mrs_status mrsi_temp_new(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e);
/* For an open file, which is closed in any case; no: its number in OUT.checkpoint, 0: none. */
enum mrs_status mrsi_temp_of(struct mrsi_engine *en, int fd, uint32_t no, struct mrsi_temp **out, struct mrs_err *e);
void mrsi_temp_drop(struct mrsi_engine *en, struct mrsi_temp *t);
/* Writes at `off`: at the end of the data, or at 0 to start over. One thread at a time. The checksum of a numbered file
 * is updated, since a savepoint needs it (mrsi_save_temp). A truncated file may be continued; then it has no checksum
 * until mrsi_save_sum_again computes one. */
enum mrs_status mrsi_temp_append(struct mrsi_temp *t, const void *p, size_t n, uint64_t off, struct mrs_err *e);
/* Sets the checksum of a file that was written in another way, with these bytes. */
void mrsi_temp_sum(struct mrsi_temp *t, const void *p, size_t n);
/* The maximum total size of all temporary files so far. */
uint64_t mrsi_temp_most(struct mrsi_engine *en);

/* ---- input_check.c ---- */
/* mrs_doc_check for a document of an input file; an error gets file, namespace, document number and offset. */
enum mrs_status mrsi_check_input(const struct mrs_input_ns *in, struct mrs_view doc, uint64_t ordinal, uint64_t off,
                                 struct mrs_err *e);
/* The same error for a document that is invalid in another way: s, with e completed. */
enum mrs_status mrsi_bad_input(const struct mrs_input_ns *in, uint64_t ordinal, uint64_t off, enum mrs_status s,
                               struct mrs_err *e);

struct mrsi_refused_position {
    uint64_t bytes, n;
};

/* ---- run_secret.c ---- */
enum mrs_status mrsi_secret_draw(struct mrsi_engine *en, struct mrs_err *e);
void mrsi_secret_take(struct mrsi_engine *en, const uint8_t drawn[MRS_SECRET]);
/* ---- run_progress.c ---- */
void mrsi_tick(struct mrsi_engine *en);
enum mrs_status mrsi_interrupted(const struct mrsi_engine *en, struct mrs_err *e); /* the cancel flag as a status */

void mrsi_advise_huge(void *p, size_t n); /* huge pages cost less to touch and have fewer TLB misses: a hint only */
#endif
