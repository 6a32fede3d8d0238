/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the offline engine: applies a plan to a dump within a memory budget. */
#ifndef MONGORESHAPE_RUN_H
#define MONGORESHAPE_RUN_H

#include "mongoreshape/io.h"
#include "mongoreshape/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts the collections of an input, and its excluded ones, into a new catalogue. */
struct mrs_catalog;
enum mrs_status mrs_input_catalog(struct mrs_input *in, struct mrs_catalog *cat, struct mrs_err *e);
/* mrs_plan_fit with these collections, of which it may read all documents; mrs_run calls it as well. cancel: read
 * atomically; not 0: stop (MRS_E_CANCEL). NULL: never. */
enum mrs_status mrs_plan_fit_input(struct mrs_plan *plan, struct mrs_input *in, const int *cancel, struct mrs_err *e);

struct mrs_report;
struct mrs_progress {
    const char *phase;      /* "step 1 embed: reading comments" */
    uint64_t done, total;   /* input bytes on disk, all passes; total 0: unknown */
    uint64_t docs;          /* documents read so far */
};

struct mrs_run_opts {
    const char *input, *output; /* output may be NULL in a dry run */
    struct mrs_input_opts in;
    uint64_t memory;        /* bytes for the whole process; 0: a quarter of RAM */
    uint32_t jobs;          /* threads; 0: processors */
    const char *tmp;        /* folder for spill files; NULL: next to the output */
    struct mrs_compress compress;
    const char *refused;    /* NULL: OUTPUT.refused.bson */
    uint64_t max_refused;
    const char *amend;      /* NULL: none */
    /* 0: everything; else about this many documents of the first collections that drive steps, with related
     * documents */
    uint64_t sample;
    bool force, dry_run, oplog_drop;
    const char *single_ns;  /* OUT is a file or `-`: the namespace to write there; NULL: a whole dump */
    enum mrs_format format; /* of OUT, as in mrs_output_opts */
    bool stream;            /* write an archive to `-` while it is made */
    int64_t now_ms;
    void (*progress)(void *arg, const struct mrs_progress *p); /* may be NULL; any thread, one at a time */
    void *progress_arg;
    const int *cancel;      /* read atomically; not 0: stop, the output is not written (MRS_E_CANCEL) */
    /* a file for the data that the inverse plan cannot restore; NULL: none. The output must be a folder */
    const char *write_residue;
    const char *page; /* a file that the caller writes after the run: no other file may have its name; NULL: none */
    /* Called with the output's folder when the output is complete, before it gets its name. Not OK: the output is not
     * written. NULL: none. */
    enum mrs_status (*before_publish)(void *arg, const char *folder, const struct mrs_report *report,
                                      struct mrs_err *e);
    void *before_arg;
    uint32_t ids; /* maximum of `_id`s in the report for each kind of refused documents and each notice; 0: one */
    bool notices; /* collect further facts for the author (notices, largest documents); takes a little more time */
    bool checkpoints; /* save checkpoints, so that a killed or stopped run can be resumed; not if output is `-` */
    /* resume such a run; the plan was loaded with the `$$NOW` of mrs_stopped_now. FAIL MRS_E_USAGE: plan, version,
     * options or input differ */
    bool resume;
    uint32_t checkpoint_ms; /* longest time between two; 0: as documented; 1: every possible point, for tests */
    uint32_t block_bytes;   /* bytes per read; 0: as documented; less: many blocks even in small data, for tests */
    void (*checkpoint)(void *arg, bool written); /* before and after writing one, for tests; NULL: none */
    void *checkpoint_arg;
    bool discard; /* write neither output nor refused documents: before_publish was the purpose of the run */
};

/* The account, per step and collection: before + created + entered = after + taken + dropped + refused. */
struct mrs_account {
    uint32_t step;          /* from 1 */
    const char *ns;
    uint64_t before, created, entered, after, taken, dropped, refused;
    uint64_t placed;        /* copies embedded, pages, merged parts: not part of the sums */
    uint64_t once;          /* of those placed: merged with an equal document (`_id` included) */
    uint64_t failed;        /* with a failed field that `errors` accepted */
    uint64_t changed;       /* of `after`: bytes differ from before; MAP, REKEY and WINDOW only */
    uint64_t merged;        /* of those that left: merged into another document; this and the next two: REKEY only */
    uint64_t references;    /* references updated to a new `_id` */
    uint64_t dangling;      /* dangling references */
    uint64_t groups;        /* WINDOW: groups of documents */
};
/* A path that a step reads or removes and that is missing in all documents of the collection. */
struct mrs_unmet {
    uint32_t step;
    const char *ns, *path, *nearest; /* nearest: an existing similar path; NULL: none */
};
/* The fields that a name with stars matches, in the order of their names. */
struct mrs_pattern_fields {
    uint32_t step;
    const char *ns, *pattern;
    const char **path; /* the first of them */
    uint32_t n;
    bool more;
};
struct mrs_written {
    const char *ns;
    uint64_t docs, bytes;
    bool copied;            /* copied unchanged */
    bool empty_now;         /* empty because of a step */
    uint64_t largest;       /* size of its largest document in bytes; opts.notices, not if copied */
    const char *largest_id; /* NULL: unknown */
    uint64_t longest;       /* length of the longest array that `embed` filled; as largest */
    const char *longest_path, *longest_id;
};
/* The `_id`s of the first documents of a kind, as relaxed Extended JSON; "": it has none. */
struct mrs_ids {
    const char **at;
    uint32_t n;
};
/* Refused documents of one kind. */
struct mrs_refusal {
    uint32_t step;
    const char *ns, *reason, *place; /* place: "": none */
    const char *more; /* ": ..." after the reason of the first one; "": none */
    uint64_t count;
    struct mrs_ids ids;
};
/* Facts that refuse no document but concern the author. */
enum mrs_notice_kind {
    MRS_NOTICE_ORPHAN,   /* documents of from (children of link) without a match, whatever their fate */
    MRS_NOTICE_DANGLING, /* documents with a dangling reference */
    MRS_NOTICE_DISAGREES, /* link: children that refer to one parent and are listed by another */
    MRS_NOTICE_CUT,      /* documents of from that a limit excludes in some parent */
    MRS_NOTICE_LEFT, /* documents of from with a match that could not be placed everywhere (`many`, refused parents) */
    /* of the result; mongorestore would fail: */
    MRS_NOTICE_CLASH,    /* keys of a unique index that an earlier document has (count of them); ids: the first pair */
    MRS_NOTICE_ARRAYS,   /* documents with arrays in two fields of a unique index */
    MRS_NOTICE_UNSURE    /* unknown whether the result satisfies a unique index; count 0 */
};
#define MRS_NOTICE_KINDS 8
#define MRS_NOTICE_STEP 5 /* number of kinds that belong to a step: the first ones */
struct mrs_notice {
    enum mrs_notice_kind kind;
    uint32_t step; /* 0: the result */
    const char *ns;
    uint64_t count; /* documents */
    struct mrs_ids ids;
    const char *index, *why; /* of the result: the index; why it is unknown. NULL */
};
/* A collection of the input with duplicate `_id`s. A run checks the collections that embed, copy, rollup, bucket, link,
 * tree or window use, since these steps count each document; with opts.notices those of all steps. Not in a sample. */
struct mrs_twins {
    const char *ns;
    uint64_t count; /* documents that have the `_id` of an earlier one */
    const char *id; /* one of these `_id`s, as text */
    bool stay;      /* the output may have them, too: no step has taken all documents away, or equal `_id`s apart */
};
struct mrs_report {
    struct mrs_arena arena; /* owns all texts */
    struct mrs_account *account;
    uint32_t n_account;
    struct mrs_written *written;
    uint32_t n_written;
    const char **notes;     /* indexes left out, options dropped, namespaces excluded ... */
    uint32_t n_notes;
    uint64_t refused;       /* distinct documents */
    struct mrs_refusal *refusal; /* the first 40 kinds, in order of steps, with their counts */
    uint32_t n_refusal;
    const char *refused_file; /* NULL: none written */
    struct mrs_notice *notice; /* in order of steps; their `_id`s, and notices of the result, need opts.notices */
    uint32_t n_notice;
    struct mrs_twins *twins;
    uint32_t n_twins;
    struct mrs_unmet *unmet; /* in order of steps; none in a sample */
    uint32_t n_unmet;
    struct mrs_pattern_fields *patterns; /* in order of steps; of a dry run that is no sample */
    uint32_t n_patterns;
    uint64_t in_bytes, out_bytes;
    uint64_t disk_bytes;  /* size of all output files, uncompressed; in a dry run the manifest's is estimated */
    uint64_t refused_bytes; /* size of the files of refused documents; opts.notices, or if they were written */
    uint64_t temp_bytes;  /* maximum total size of temporary files */
    uint64_t wall_ms, sync_ms;
    const char **drop_first; /* collections to drop at the target before mongorestore; none without an output */
    uint32_t n_drop_first;
    const char *restore;    /* the mongorestore command; NULL: no output */
    bool published;
    bool stopped;   /* the output is incomplete, but --resume continues it */
    bool resumed;   /* the run resumed a stopped run */
    bool anew;      /* --resume found no state: the run started over */
    const char *residue;      /* the file written; NULL: none */
    uint64_t residue_bytes;
    unsigned residue_kinds;   /* its contents: enum mrs_loss_kind */
    unsigned residue_unlisted; /* of these the kinds without a loss of the inverse */
};

uint64_t mrs_memory_default(void); /* default of --memory: a quarter of the machine's */
/* Does not load the plan: it must have been loaded with the input's database; one with errors is refused (MRS_E_PLAN).
 * OK: the output is written (or dry run); FAIL with the cause: it is not; report is filled up to the failure. Also
 * MRS_E_TOO_MANY. */
enum mrs_status mrs_run(struct mrs_mem *mem, struct mrs_plan *plan, struct mrs_input *in,
                        const struct mrs_run_opts *opts, struct mrs_report *report, struct mrs_err *e);
void mrs_report_clear(struct mrs_report *r);
/* `$$NOW` of the stopped run to this output. FAIL MRS_E_MISSING: there is none; MRS_E_FORMAT: its state is damaged. */
enum mrs_status mrs_stopped_now(struct mrs_mem *mem, const char *output, int64_t *now_ms, struct mrs_err *e);

/* ---- before a run ---- */
/* Estimate of the disk space that a join of a plan needs, from the sizes of the files of a dump and of their first
 * documents. */
struct mrs_forecast {
    const char *from;    /* namespace whose documents are gathered; lives as long as the plan */
    uint64_t gathered;   /* bytes stored of them */
    uint64_t spilled;    /* of these, in temporary files; 0: all fit in memory */
    uint64_t disk;       /* maximum size of temporary files */
    bool by_key;         /* the keys of the other side do not fit: documents are first stored by key */
    bool split;          /* partitions exceed the memory of a worker: each is written once more when it is read */
    bool most;           /* a part of the documents or of their fields is stored: the figures are maxima */
    bool guessed;        /* its files are compressed: their content is taken to be eight times as large */
    uint32_t partitions;
};
/* For the i-th step, in a run with these options (memory, jobs). SKIP: it is no join, or an earlier step changes one of
 * its collections. FAIL as of mrs_reader_next. */
enum mrs_status mrs_run_forecast(struct mrs_mem *mem, const struct mrs_plan *plan, struct mrs_input *in,
                                 const struct mrs_run_opts *opts, uint32_t i, struct mrs_forecast *out,
                                 struct mrs_err *e);

/* ---- inverse runs ---- */
/* The data that the inverse of a plan cannot restore, as mrs_run wrote it (write_residue). */
struct mrs_residue;
/* Opens the file and reads its header: FAIL MRS_E_FORMAT: not a residue, or damaged. */
enum mrs_status mrs_residue_open(struct mrs_mem *mem, const char *path, struct mrs_residue **out, struct mrs_err *e);
void mrs_residue_close(struct mrs_residue *r); /* NULL: no effect */
int64_t mrs_residue_now(const struct mrs_residue *r); /* $$NOW of the inverse run */
/* Runs the inverse plan on the forward run's output `in` and restores the data in the residue: the output equals the
 * forward run's input, byte for byte. FAIL MRS_E_PLAN: the residue belongs to another inverse; MRS_E_FORMAT: it belongs
 * to another input, or the file is damaged. The output must be a folder. */
enum mrs_status mrs_run_back(struct mrs_mem *mem, struct mrs_plan *inverse, struct mrs_input *in,
                             const struct mrs_run_opts *opts, struct mrs_residue *residue, struct mrs_report *report,
                             struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
