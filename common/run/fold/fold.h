/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - documents of `from` with equal keys become documents of `into`; for fold*.c.
 *
 * `from` is read once. The input of each document to its group goes into a partition, a range of group keys, in memory
 * or beyond the budget in a file. The ranges follow from a sample of the first documents. Partitions are then loaded
 * one by one, in parallel, their members ordered by hashing and counting, complete groups folded and written in order;
 * a partition that outgrows memory goes through an external sort. The output of a fold is held back until its group
 * has ended, since a failing group withdraws it. The fate of each document of `from` (left out, refused later) is
 * noted by its ordinal; `from` is read again, and written, only if documents stay or were refused.
 *
 * If a few bytes hold all that the step has to know of a group, nothing is kept of its documents: see fold_gather.c. */
#ifndef MRS_RUN_FOLD_H
#define MRS_RUN_FOLD_H

#include "fold_groups.h"

/* What a step does, one behind the other; a savepoint says where it is. */
enum mrsi_fold_stage {
    MRSI_FOLD_GATHERS,     /* from is read, groups grow */
    MRSI_FOLD_READS,       /* from is read, what its documents bring is kept as records */
    MRSI_FOLD_OPTIMISTIC,       /* groups are written */
    MRSI_FOLD_READS_AGAIN, /* `_id`s clash: the documents of groups that have grown are read for their records */
    MRSI_FOLD_RESOLVES,
    MRSI_FOLD_TELLS,       /* groups are written by the verdict about their `_id`s */
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
        struct mrsi_refused_mark refused;
        uint64_t bytes, docs;
    } begun;                        /* how far the run was when the step began */
    struct mrsi_refused_mark read;  /* the log of refused documents once from was read */
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrs_buf unrouted;    /* struct mrsi_rec: what was read before the ranges were known */
    uint64_t seen_bytes;        /* of documents whose input is in unrouted */
    _Atomic bool routed;        /* the ranges are known */
    struct mrs_buf cuts;        /* first keys of the partitions but the first: struct mrsi_rec without shape */
    struct mrs_buf cut_at;      /* struct mrsi_fold_cut */
    size_t common;              /* bytes that the cuts begin with alike */
    pthread_rwlock_t cut_lock;  /* of these */
    struct mrs_buf top;         /* the last key in the last partition */
    bool have_top;
    uint64_t enough;            /* bytes of a partition, beyond which one is added */
    struct mrsi_spill spill;
    struct mrsi_fold_router *router; /* one a worker */
    uint32_t next_part;         /* to be handed out */
    struct mrsi_fates fates;    /* of the documents of from */
    struct mrsi_sorter late;    /* by ordinal: place, reason and what is behind it (mrs_err_more), each with its NUL */
    struct mrsi_file_array serials; /* COLLECT and APPLY: the number of the first document of each partition */
    uint64_t n_docs;            /* documents put, up to the job that was committed last */
    struct mrsi_fold_gather gather;
    uint32_t next_group;        /* to be handed out */
    struct {                    /* a partition that is sorted on disk, one at a time: that before next_part */
        bool on, goes_on;       /* goes_on: from a savepoint, not handed out yet */
        bool sorted;            /* all of it is in the sorter, which is read */
        bool foreign;           /* another run has put some of it there: it is examined before it is used */
        uint64_t piece;         /* else the next of its pieces */
        uint64_t n_docs;        /* documents put of it, up to the savepoint */
        struct mrsi_sorter sorter;
        struct mrsi_pause_clock pauses;
        bool inside;            /* a group is being folded: */
        struct mrs_buf key;
        struct mrsi_file_array ordinals; /* uint64_t: of its members */
        struct mrsi_fold_one one;
    } heavy;
};

/* Whether it is known which number the first document of each partition has, as it is once COLLECT is over. */
static inline bool
mrsi_fold_is_numbered(const struct mrsi_fold *f)
{
    return f->serials.ended && f->serials.n == f->spill.n_part;
}

/* A record on its way to a partition: `verify` is the group, `sort` the order, `ref` a part
 * of the group's hash; the shape begins with `ord` bytes of shared record. */
static inline struct mrs_view
mrsi_fold_key(const struct mrsi_rec *r)
{
    struct mrs_view key = {mrsi_rec_verify(r), r->verify_len};
    return key;
}
int mrsi_fold_compare(struct mrs_view a, struct mrs_view b); /* memcmp, then the shorter first */
/* Eight bytes behind the first `skip` as a number that orders as they do, as far as they reach. */
uint64_t mrsi_fold_prefix(struct mrs_view key, size_t skip);
/* Computes the ranges from `unrouted` and moves its records to their partitions: done by the committing worker, or the
 * only one. */
enum mrs_status mrsi_fold_route_begin(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_err *e);
/* Records, one behind the other, of documents that follow those the worker had before. */
enum mrs_status mrsi_fold_route_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *recs,
                                    struct mrs_err *e);
/* One document's. SKIP: it is refused. */
enum mrs_status mrsi_fold_route(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrsi_fold_parts *x,
                                struct mrs_err *e);
/* The shared record with this name, for mrsi_fold_route_fast; what is known of it is on its way from memory. */
uint64_t mrsi_fold_route_look(const struct mrsi_fold *f, const struct mrsi_worker *w, struct mrs_view shared);
/* Of one whose shared record is in the open piece of its partition already; false: nothing was done. */
bool mrsi_fold_route_fast(struct mrsi_fold *f, struct mrsi_worker *w, uint64_t shared,
                          const struct mrs_fold_fast *x, const uint8_t *doc, uint64_t ordinal);
/* The key of its group, which may have to be asked for. SKIP: the document is refused. */
enum mrs_status mrsi_fold_ask_group(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view shared,
                                    struct mrs_buf *out, struct mrs_err *e);
/* The shared record of the document that was entered last; name: what enter gave. SKIP: the document is refused. */
enum mrs_status mrsi_fold_ask_shared(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view doc,
                                     struct mrs_view name, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status mrsi_fold_route_end(struct mrsi_fold *f, struct mrs_err *e);
void mrsi_fold_route_clear(struct mrsi_fold *f);
/* Saves and loads `unrouted` or the partitions as fields of a savepoint; reads: more documents will follow. */
enum mrs_status mrsi_fold_route_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                     struct mrs_err *e);
enum mrs_status mrsi_fold_route_load(struct mrsi_fold *f, struct mrs_view mark, bool reads, struct mrs_err *e);

/* fold_members.c: puts the record of a document, if the open piece holds its shared record and has room; else false. */
bool mrsi_fold_keep(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen,
                    const struct mrsi_fold_parts *x);
bool mrsi_fold_keep_fast(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen,
                         const struct mrs_fold_fast *x, const uint8_t *doc, uint64_t ordinal);
/* Puts the record of the shared record and then the document's. */
enum mrs_status mrsi_fold_keep_shared(struct mrsi_fold_router *r, struct mrsi_fold_shared_cache *seen,
                                      const struct mrsi_fold_parts *x, uint32_t ref, struct mrs_err *e);

/* ---- fold_load.c: a partition in memory, in order ---- */
void mrsi_fold_load_init(struct mrsi_fold_load *l, struct mrs_mem *mem);
void mrsi_fold_load_clear(struct mrsi_fold_load *l);
enum mrs_status mrsi_fold_load(struct mrsi_fold *f, struct mrsi_fold_load *l, const struct mrsi_partition *p,
                               struct mrs_err *e);
/* Puts groups in the order of their keys; they count no members afterwards. */
enum mrs_status mrsi_fold_sort_groups(struct mrsi_fold_load *l, struct mrs_err *e);
/* The i-th group in the order of keys. */
const struct mrsi_fold_group *mrsi_fold_group_at(const struct mrsi_fold_load *l, uint32_t i);

/* Decides whether to gather. */
void mrsi_fold_gather_begin(struct mrsi_fold *f);
void mrsi_fold_gather_clear(struct mrsi_fold *f); /* from here on records are kept */
/* What documents bring (struct mrsi_fold_input), one behind the other, that follow those of the call before. FAIL
 * with gave_up: not in this way. */
enum mrs_status mrsi_fold_gather_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *inputs,
                                     struct mrs_err *e);
/* All documents were read. FAIL as above. */
enum mrs_status mrsi_fold_gather_end(struct mrsi_fold *f, struct mrs_err *e);
/* The groups as they are now, as field `groups` of a savepoint. Going on with less memory than they need gives up
 * (FAIL as above) while they grow; when they are whole they stay where they are. */
enum mrs_status mrsi_fold_gather_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                      struct mrs_err *e);
enum mrs_status mrsi_fold_gather_load(struct mrsi_fold *f, struct mrs_view mark, struct mrs_err *e);
/* A finished group, in the order of keys. */
struct mrs_fold_small mrsi_fold_small_at(const struct mrsi_fold *f, uint32_t i);

/* ---- fold_one.c: one group through the step ---- */
void mrsi_fold_one_init(struct mrsi_fold_one *o, struct mrsi_fold *f);
void mrsi_fold_one_clear(struct mrsi_fold_one *o); /* harmless twice */
/* One group: what it makes goes to out. */
enum mrs_status mrsi_fold_group(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                struct mrsi_fold_source *source, struct mrs_err *e);
/* The same in two parts, for one in which savepoints are taken: nothing of it is known yet; the rest of it. */
void mrsi_fold_group_begin(struct mrsi_fold_one *o);
enum mrs_status mrsi_fold_group_on(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                   struct mrsi_fold_source *source, struct mrs_err *e);
/* Documents that wait in memory go to the file. */
enum mrs_status mrsi_fold_file_held(struct mrsi_fold_one *o, struct mrs_err *e);
/* The same of one that grew while documents were read. */
enum mrs_status mrsi_fold_small_group(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                      const struct mrs_fold_small *x, struct mrs_err *e);
/* Hands over what has been made so far: in a commit, or in work when it is the job's turn. */
enum mrs_status mrsi_fold_hand_over(struct mrsi_fold *f, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                    struct mrs_err *e);

/* ---- fold_partial.c: a group in the middle, in words ---- */
struct mrsi_fold_pending { /* a document that was put */
    uint64_t end; /* members up to here, from the document before on, are in it */
    uint64_t off;
    uint64_t len;
    uint64_t eased; /* as in struct mrs_ctx */
};
/* Whether the step can say what it has made of the members up to now. */
bool mrsi_fold_can_mark(const struct mrsi_fold_one *o);
/* Field `group` of a savepoint: while next is asked for a member, or rest called. load: o is initialised and kept. */
enum mrs_status mrsi_fold_one_save(struct mrsi_fold_one *o, struct mrs_build *b, struct mrs_buf *files,
                                   struct mrs_err *e);
enum mrs_status mrsi_fold_one_load(struct mrsi_fold_one *o, struct mrs_view mark, struct mrs_err *e);
/* The partition that is sorted on disk, and a group in it. */
enum mrs_status mrsi_fold_heavy_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                     struct mrs_err *e);
enum mrs_status mrsi_fold_heavy_load(struct mrsi_fold *f, struct mrs_view mark, struct mrs_err *e);

/* ---- passes; each resumes at the savepoint if f->pass has one ---- */
/* fold_read.c: groups or records of all documents of from. FAIL with gave_up: not as groups. */
enum mrs_status mrsi_fold_read(struct mrsi_fold *f, struct mrs_err *e);
/* As if nothing had been read, and no more been refused than then; records are kept from here on. */
void mrsi_fold_forget(struct mrsi_fold *f, struct mrsi_refused_mark then);
/* fold_write.c: all groups, one pass. */
enum mrs_status mrsi_fold_write(struct mrsi_fold *f, struct mrs_err *e);
/* A partition that is sorted on disk: all that is known of it. */
void mrsi_fold_heavy_begin(struct mrsi_fold *f);
void mrsi_fold_heavy_clear(struct mrsi_fold *f); /* harmless twice */
enum mrs_status mrsi_fold_settle(struct mrsi_fold *f, struct mrs_err *e); /* fold_settle.c */

/* ---- fold_savepoint.c: a step in the middle, in words ---- */
enum mrs_status mrsi_fold_state_save(void *fold, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_fold_state_load(struct mrsi_fold *f, struct mrs_err *e); /* as f->pass.from says */

#endif
