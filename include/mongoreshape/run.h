/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the offline engine: a plan applied to a dump within a memory budget. */
#ifndef MONGORESHAPE_RUN_H
#define MONGORESHAPE_RUN_H

#include "mongoreshape/io.h"
#include "mongoreshape/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The collections of an input, and those that were left out of it, into a new catalogue. */
struct mrs_catalog;
enum mrs_status mrs_input_catalog(struct mrs_input *in, struct mrs_catalog *cat, struct mrs_err *e);
/* mrs_plan_fit with these collections; mrs_run does so as well. */
enum mrs_status mrs_plan_fit_input(struct mrs_plan *plan, struct mrs_input *in, struct mrs_err *e);

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
    const char *tmp;        /* folder for spill files; NULL: beside the output */
    struct mrs_compress compress;
    const char *refused;    /* NULL: OUTPUT.refused.bson */
    uint64_t max_refused;
    const char *amend;      /* NULL: none */
    uint64_t sample; /* 0: everything; else about so many documents of the first collections that drive steps, with
                        what belongs to them */
    bool force, dry_run, oplog_drop;
    const char *single_ns;  /* OUT is a file or `-`: the namespace that goes there; NULL: a whole dump */
    enum mrs_format format; /* of OUT, as in mrs_output_opts */
    bool stream;            /* an archive goes to `-` while it is made */
    int64_t now_ms;
    void (*progress)(void *arg, const struct mrs_progress *p); /* may be NULL; any thread, one at a time */
    void *progress_arg;
    const int *cancel;      /* read atomically; not 0: stop, nothing is published (MRS_E_CANCEL) */
    /* a file for what the inverse plan does not bring back; NULL: none. The output must be a folder */
    const char *write_residue;
    /* Called once the output is whole, before it is published, with its folder; not OK: nothing is
     * published. NULL: none. */
    enum mrs_status (*before_publish)(void *arg, const char *folder, const struct mrs_report *report,
                                      struct mrs_err *e);
    void *before_arg;
    uint32_t ids; /* `_id`s of each kind of refused documents, and of each notice, in the report; 0: one */
    bool notices; /* fills in what else an author should know (notices, largest documents), for a little more time */
    bool checkpoints; /* what a run that is killed or stopped leaves can be resumed; not where output is `-` */
    bool resume;      /* goes on with what such a run left; the plan was loaded with the `$$NOW` of mrs_stopped_now.
                         FAIL MRS_E_USAGE: plan, version, options or input are not the same */
    uint32_t checkpoint_ms; /* most time between two; 0: as documented; 1: wherever one is possible, for tests */
    uint32_t block_bytes;   /* of what is read at once; 0: as documented; less: small data has many, for tests */
    void (*checkpoint)(void *arg, bool written); /* before and behind the writing of one, for tests; NULL: none */
    void *checkpoint_arg;
    bool discard; /* nothing is published, no refused documents are written: before_publish was all that was wanted */
};

/* The account, per step and collection: before + created + entered = after + taken + dropped + refused. */
struct mrs_account {
    uint32_t step;          /* from 1 */
    const char *ns;
    uint64_t before, created, entered, after, taken, dropped, refused;
    uint64_t placed;        /* copies embedded, pages, merged parts: counted apart */
    uint64_t once;          /* of those placed: equal to another document, `_id` and all, with which they are one */
    uint64_t failed;        /* in which a field failed, and `errors` took that */
    uint64_t changed;       /* of `after`: they have other bytes than before; MAP, REKEY and WINDOW only */
    uint64_t merged;        /* of those that left: part of another document now; these three of REKEY only */
    uint64_t references;    /* that name their document by another `_id` now */
    uint64_t dangling;      /* dangling references */
    uint64_t groups;        /* WINDOW: of documents */
};
/* A path that a step reads or removes and that no document of the collection has. */
struct mrs_unmet {
    uint32_t step;
    const char *ns, *path, *nearest; /* nearest: a path that is there and may be meant; NULL: none */
};
struct mrs_written {
    const char *ns;
    uint64_t docs, bytes;
    bool copied;            /* passed through untouched */
    bool empty_now;         /* a step left it empty */
    uint64_t largest;       /* bytes of its largest document; opts.notices, not where copied */
    const char *largest_id; /* NULL: not known */
    uint64_t longest;       /* documents in its longest array, where `embed` puts them there; as largest */
    const char *longest_path, *longest_id;
};
/* The `_id`s of the first documents of a kind, as relaxed Extended JSON; "" where there is none. */
struct mrs_ids {
    const char **at;
    uint32_t n;
};
/* Refused documents of one kind. */
struct mrs_refusal {
    uint32_t step;
    const char *ns, *reason, *place; /* place: "" where there is none */
    const char *more; /* ": ..." behind the reason of the first one; "" where there is none */
    uint64_t count;
    struct mrs_ids ids;
};
/* What is no refusal, but what an author should know. */
enum mrs_notice_kind {
    MRS_NOTICE_ORPHAN,   /* documents of from (children of link) without a match, whatever becomes of them */
    MRS_NOTICE_DANGLING, /* documents with a reference that names no document */
    MRS_NOTICE_DISAGREES, /* link: children that name one parent and are listed by another */
    MRS_NOTICE_CUT,      /* documents of from that a limit leaves out somewhere */
    MRS_NOTICE_LEFT,     /* documents of from that match and could not be placed everywhere (`many`, refused parents) */
    /* of the result, which mongorestore could not load: */
    MRS_NOTICE_CLASH,    /* keys of a unique index that a document before has (count: so many); ids: the first pair */
    MRS_NOTICE_ARRAYS,   /* documents with arrays in two fields of a unique index */
    MRS_NOTICE_UNSURE    /* whether the result fits a unique index cannot be said; count 0 */
};
#define MRS_NOTICE_KINDS 8
#define MRS_NOTICE_STEP 5 /* the first so many are of a step */
struct mrs_notice {
    enum mrs_notice_kind kind;
    uint32_t step; /* 0: the result */
    const char *ns;
    uint64_t count; /* documents */
    struct mrs_ids ids;
    const char *index, *why; /* of the result: the index; why it cannot be said. NULL */
};
/* A collection of the input in which documents have equal `_id`s. A run checks those that embed, copy, rollup,
 * bucket, link, tree or window name, since these steps count each of them; with opts.notices all that a step names. Not
 * in a sample. */
struct mrs_twins {
    const char *ns;
    uint64_t count; /* documents that have the `_id` of an earlier one */
    const char *id; /* of one of them, as text */
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
    struct mrs_refusal *refusal; /* the first 40 kinds, in order of steps, with all their documents */
    uint32_t n_refusal;
    const char *refused_file; /* NULL: none written */
    struct mrs_notice *notice; /* in order of steps; `_id`s, and those of the result, with opts.notices */
    uint32_t n_notice;
    struct mrs_twins *twins;
    uint32_t n_twins;
    struct mrs_unmet *unmet; /* in order of steps; none of a sample */
    uint32_t n_unmet;
    uint64_t in_bytes, out_bytes;
    uint64_t disk_bytes;  /* of all files of the output, without compression; in a dry run about, for the manifest */
    uint64_t refused_bytes; /* of the files of refused documents; opts.notices, or where they were written */
    uint64_t temp_bytes;  /* that temporary files had at one time, at most */
    uint64_t wall_ms, sync_ms;
    const char **drop_first; /* collections that must be dropped at the target before mongorestore */
    uint32_t n_drop_first;
    const char *restore;    /* the mongorestore command */
    bool published;
    bool stopped;   /* the output is not whole, but --resume continues it */
    bool resumed;   /* the run went on with what another had left */
    bool anew;      /* it was to, but nothing had been left: it began at the beginning */
    const char *residue;      /* the file that was written; NULL: none */
    uint64_t residue_bytes;
    unsigned residue_kinds;   /* what is in it: enum mrs_loss_kind */
    unsigned residue_unlisted; /* of these what no loss of the inverse names */
};

uint64_t mrs_memory_default(void); /* --memory of one who does not say it: a quarter of the machine's */
/* Loads nothing itself: plan must have been loaded with the input's database. OK: published (or dry run); FAIL with
 * the cause: nothing is published; report is filled as far as it went. Also MRS_E_TOO_MANY. */
enum mrs_status mrs_run(struct mrs_mem *mem, struct mrs_plan *plan, struct mrs_input *in,
                        const struct mrs_run_opts *opts, struct mrs_report *report, struct mrs_err *e);
void mrs_report_clear(struct mrs_report *r);
/* `$$NOW` of the run to this output that was stopped. FAIL MRS_E_MISSING: none was; MRS_E_FORMAT: it is damaged. */
enum mrs_status mrs_stopped_now(struct mrs_mem *mem, const char *output, int64_t *now_ms, struct mrs_err *e);

/* ---- before a run ---- */
/* What a join of a plan will need beyond memory, by the size of the files of a dump and of their first documents. */
struct mrs_forecast {
    const char *from;    /* namespace whose documents are gathered; as long as the plan */
    uint64_t gathered;   /* bytes of what is kept of them */
    uint64_t spilled;    /* of these, into temporary files; 0: all of it fits */
    uint64_t disk;       /* bytes of temporary files at one time */
    bool by_key;         /* the keys of the other side do not fit: documents are put aside by key first */
    bool split;          /* partitions are more than a worker holds: each is written once more when it is read */
    uint32_t partitions;
};
/* Of the i-th step, in a run with these options (memory, jobs). SKIP: it is no join, or an earlier step changes one of
 * its collections. FAIL as of mrs_reader_next. */
enum mrs_status mrs_run_forecast(struct mrs_mem *mem, const struct mrs_plan *plan, struct mrs_input *in,
                                 const struct mrs_run_opts *opts, uint32_t i, struct mrs_forecast *out,
                                 struct mrs_err *e);

/* ---- the way back ---- */
/* What the inverse of a plan does not bring back, as mrs_run wrote it (write_residue). */
struct mrs_residue;
/* Opens the file and reads its head: FAIL MRS_E_FORMAT where it is none or is damaged. */
enum mrs_status mrs_residue_open(struct mrs_mem *mem, const char *path, struct mrs_residue **out, struct mrs_err *e);
void mrs_residue_close(struct mrs_residue *r); /* NULL: nothing */
int64_t mrs_residue_now(const struct mrs_residue *r); /* $$NOW of the inverse run */
/* Runs the inverse plan on the forward run's output `in` and puts back what is in the residue: the output is the
 * forward run's input, byte for byte. FAIL MRS_E_PLAN: the plan is not the inverse that the residue was made for;
 * MRS_E_FORMAT: the input is not the output it was made for, or the file is damaged. The output must be a folder. */
enum mrs_status mrs_run_back(struct mrs_mem *mem, struct mrs_plan *inverse, struct mrs_input *in,
                             const struct mrs_run_opts *opts, struct mrs_residue *residue, struct mrs_report *report,
                             struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
