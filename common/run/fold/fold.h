/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - folds documents of `from` with equal keys into documents of `into`; for fold*.c.
 *
 * `from` is read once. The entry of each document goes into a partition, a range of group keys, in memory or beyond the
 * budget in a file. The ranges follow from a sample of the first documents. Partitions are then loaded one by one, in
 * parallel, their members are ordered by hashing and counting, and complete groups are folded and written in order; a
 * partition that does not fit into memory is sorted externally. The output of a fold is held back until its group has
 * ended, since a failing group withdraws it. The fate of each document of `from` (left out, refused later) is recorded
 * by its ordinal; `from` is read again, and written, only if documents stay or were refused.
 *
 * If a group needs only a few bytes of state, its documents are not stored: see fold_gather.c. */
#ifndef MRS_RUN_FOLD_H
#define MRS_RUN_FOLD_H

#include "fold_groups.h"

/* The stages of a step, in order; a savepoint records the current one. */
enum mrsi_fold_stage {
    MRSI_FOLD_GATHERS,     /* reads from into states of groups */
    MRSI_FOLD_READS,       /* reads from into records of its documents */
    MRSI_FOLD_OPTIMISTIC,  /* writes groups */
    MRSI_FOLD_READS_AGAIN, /* duplicate `_id`s: reads the documents of gathered groups into records */
    MRSI_FOLD_RESOLVES,
    MRSI_FOLD_WRITES,      /* writes groups by the verdicts on their `_id`s */
    MRSI_FOLD_SETTLES,
    MRSI_FOLD_IS_DONE
};

struct mrsi_fold {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_fold_ops *ops;
    enum mrsi_fold_stage stage;
    struct mrsi_pass pass;
    struct {
        struct mrsi_refused_position refused;
        uint64_t bytes, docs;
    } begun;                        /* the counts of the run when the step began */
    struct mrsi_refused_position read;  /* the log of refused documents after from was read */
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrs_buf unrouted;    /* struct mrsi_rec: records from before the ranges were known */
    uint64_t seen_bytes;        /* of the documents with a record in unrouted */
    _Atomic bool routed;        /* the ranges are known */
    struct mrs_buf cuts;        /* first keys of all partitions but the first: struct mrsi_rec without payload */
    struct mrs_buf cut_at;      /* struct mrsi_fold_cut */
    size_t common;              /* length of the common prefix of the cuts */
    pthread_rwlock_t cut_lock;  /* protects these */
    struct mrs_buf top;         /* the largest key in the last partition */
    bool have_top;
    uint64_t enough;            /* size of a partition beyond which a new one is added */
    struct mrsi_spill spill;
    struct mrsi_fold_router *router; /* one for each worker */
    uint32_t next_part;         /* next one to fetch */
    struct mrsi_fates fates;    /* for the documents of from */
    struct mrsi_sorter late;    /* by ordinal: place, reason and details (mrs_err_more), each with its NUL */
    struct mrsi_file_array serials; /* COLLECT and APPLY: number of the first output document of each partition */
    uint64_t n_docs;            /* output documents up to the last committed job */
    struct mrsi_fold_gather gather;
    uint32_t next_group;        /* next one to fetch */
    struct {                    /* the partition sorted on disk (one at a time): the one before next_part */
        bool on, unfetched;     /* of the stopped run, not fetched yet */
        bool sorted;            /* all of it is in the sorter, which is read */
        bool foreign;           /* the stopped run put some records there: validate them */
        uint64_t piece;         /* else: next piece to put */
        uint64_t n_docs;        /* its output documents, up to the savepoint */
        struct mrsi_sorter sorter;
        struct mrsi_pause_clock pauses;
        bool inside;            /* a group is being folded: */
        struct mrs_buf key;
        struct mrsi_file_array ordinals; /* uint64_t: of the group's members */
        struct mrsi_fold_one one;
    } heavy;
};

/* Is the number of the first document of each partition known? It is after COLLECT. */
static inline bool
mrsi_fold_is_numbered(const struct mrsi_fold *f)
{
    return f->serials.ended && f->serials.n == f->spill.n_part;
}

/* A record on its way to a partition: `verify` is the group, `sort` the order, `ref` a part of the group's hash; the
 * payload begins with `ord` bytes of shared record. */
static inline struct mrs_view
mrsi_fold_key(const struct mrsi_rec *r)
{
    struct mrs_view key = {mrsi_rec_verify(r), r->verify_len};
    return key;
}
int mrsi_fold_compare(struct mrs_view a, struct mrs_view b); /* memcmp, then the shorter first */
/* The eight bytes after the first `skip` as a number with the same order, padded if there are fewer. */
uint64_t mrsi_fold_prefix(struct mrs_view key, size_t skip);
/* Computes the ranges from `unrouted` and moves its records to their partitions; called by the committing worker, or
 * the only one. */
enum mrs_status mrsi_fold_route_begin(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_err *e);
/* Appends contiguous records of documents, later ones than before on this worker. */
enum mrs_status mrsi_fold_route_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *recs,
                                    struct mrs_err *e);
/* Appends one document's record. SKIP: refused. */
enum mrs_status mrsi_fold_route(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrsi_fold_parts *x,
                                struct mrs_err *e);
/* Prefetches the cache entry of the shared record with this name, for mrsi_fold_route_fast. */
uint64_t mrsi_fold_route_prefetch(const struct mrsi_fold *f, const struct mrsi_worker *w, struct mrs_view shared);
/* For a document whose shared record is in the open piece of its partition; false: not done. */
bool mrsi_fold_route_fast(struct mrsi_fold *f, struct mrsi_worker *w, uint64_t shared,
                          const struct mrs_fold_fast *x, const uint8_t *doc, uint64_t ordinal);
/* Computes the key of its group if needed. SKIP: the document is refused. */
enum mrs_status mrsi_fold_group_key(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view shared,
                                    struct mrs_buf *out, struct mrs_err *e);
/* The shared record of the last entered document; name: from enter. SKIP: the document is refused. */
enum mrs_status mrsi_fold_shared_record(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view doc,
                                        struct mrs_view name, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status mrsi_fold_route_end(struct mrsi_fold *f, struct mrs_err *e);
void mrsi_fold_route_clear(struct mrsi_fold *f);
/* Saves and loads `unrouted` or the partitions as fields of a savepoint; reads: more documents will follow. */
enum mrs_status mrsi_fold_route_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                     struct mrs_err *e);
enum mrs_status mrsi_fold_route_load(struct mrsi_fold *f, struct mrs_view saved, bool reads, struct mrs_err *e);

/* fold_members.c: writes the record of a document, if the open piece has its shared record and enough space; else
 * false. */
bool mrsi_fold_keep(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen,
                    const struct mrsi_fold_parts *x);
bool mrsi_fold_keep_fast(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen,
                         const struct mrs_fold_fast *x, const uint8_t *doc, uint64_t ordinal);
/* Writes the record of the shared record, then that of the document. */
enum mrs_status mrsi_fold_keep_shared(struct mrsi_fold_router *r, struct mrsi_fold_shared_cache *seen,
                                      const struct mrsi_fold_parts *x, uint32_t ref, struct mrs_err *e);

/* ---- fold_load.c: a partition in memory, in order ---- */
void mrsi_fold_load_init(struct mrsi_fold_load *l, struct mrs_mem *mem);
void mrsi_fold_load_clear(struct mrsi_fold_load *l);
enum mrs_status mrsi_fold_load(struct mrsi_fold *f, struct mrsi_fold_load *l, const struct mrsi_partition *p,
                               struct mrs_err *e);
/* Sorts groups by key; afterwards their member counts are 0. */
enum mrs_status mrsi_fold_sort_groups(struct mrsi_fold_load *l, struct mrs_err *e);
/* The i-th group in key order. */
const struct mrsi_fold_group *mrsi_fold_group_at(const struct mrsi_fold_load *l, uint32_t i);

/* Decides whether to gather. */
void mrsi_fold_gather_begin(struct mrsi_fold *f);
void mrsi_fold_gather_clear(struct mrsi_fold *f); /* switches to records */
/* Feeds contiguous entries (struct mrsi_fold_input) of documents after those of the last call. FAIL with abandoned:
 * switch to records. */
enum mrs_status mrsi_fold_gather_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *inputs,
                                     struct mrs_err *e);
/* All documents were read. FAIL as above. */
enum mrs_status mrsi_fold_gather_end(struct mrsi_fold *f, struct mrs_err *e);
/* Field `groups` of a savepoint. A resume with too little memory gives up (FAIL as above) while groups grow; complete
 * groups are loaded anyway. */
enum mrs_status mrsi_fold_gather_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                      struct mrs_err *e);
enum mrs_status mrsi_fold_gather_load(struct mrsi_fold *f, struct mrs_view saved, struct mrs_err *e);
/* A finished group, in key order. */
struct mrs_fold_small mrsi_fold_small_at(const struct mrsi_fold *f, uint32_t i);

/* ---- fold_one.c: one group through the step ---- */
void mrsi_fold_one_init(struct mrsi_fold_one *o, struct mrsi_fold *f);
void mrsi_fold_one_clear(struct mrsi_fold_one *o); /* may be called twice */
/* Folds one group; the output goes to out. */
enum mrs_status mrsi_fold_group(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                struct mrsi_fold_source *source, struct mrs_err *e);
/* The same in two parts, for a group with savepoints: reset, then fold the rest. */
void mrsi_fold_group_begin(struct mrsi_fold_one *o);
enum mrs_status mrsi_fold_group_on(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                   struct mrsi_fold_source *source, struct mrs_err *e);
/* Moves held-back documents from memory to the file. */
enum mrs_status mrsi_fold_flush_docs(struct mrsi_fold_one *o, struct mrs_err *e);
/* The same for a gathered group. */
enum mrs_status mrsi_fold_small_group(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                      const struct mrs_fold_small *x, struct mrs_err *e);
/* Passes on the output so far: in a commit, or in work when it is the job's turn. */
enum mrs_status mrsi_fold_hand_over(struct mrsi_fold *f, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                    struct mrs_err *e);

/* ---- fold_partial.c: the state of an unfinished group ---- */
struct mrsi_fold_pending { /* an output document */
    uint64_t end; /* number of members up to and including its last one */
    uint64_t off;
    uint64_t len;
    uint64_t eased; /* as in struct mrs_ctx */
};
/* Can the step save its state of the group now? */
bool mrsi_fold_can_mark(const struct mrsi_fold_one *o);
/* The partition sorted on disk, and the group in it. */
enum mrs_status mrsi_fold_heavy_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                     struct mrs_err *e);
enum mrs_status mrsi_fold_heavy_load(struct mrsi_fold *f, struct mrs_view saved, struct mrs_err *e);

/* ---- passes; each resumes at the savepoint if f->pass has one ---- */
/* fold_read.c: reads all documents of from into groups or records. FAIL with abandoned: switch to records. */
enum mrs_status mrsi_fold_read(struct mrsi_fold *f, struct mrs_err *e);
/* Discards everything read, and refusals after `then`; records are used from here on. */
void mrsi_fold_forget(struct mrsi_fold *f, struct mrsi_refused_position then);
/* fold_write.c: all groups, one pass. */
enum mrs_status mrsi_fold_write(struct mrsi_fold *f, struct mrs_err *e);
/* Resets the state of the partition sorted on disk. */
void mrsi_fold_heavy_begin(struct mrsi_fold *f);
void mrsi_fold_heavy_clear(struct mrsi_fold *f); /* may be called twice */
enum mrs_status mrsi_fold_settle(struct mrsi_fold *f, struct mrs_err *e); /* fold_settle.c */

/* ---- fold_savepoint.c: the state of an unfinished step ---- */
enum mrs_status mrsi_fold_state_save(void *fold, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_fold_state_load(struct mrsi_fold *f, struct mrs_err *e); /* from f->pass.from */

#endif
