/* SPDX-License-Identifier: Apache-2.0 */
/* join.h - documents of `from` into documents of `into`, within a memory budget; for join*.c.
 *
 * Two ways to one result. *Lookup*: what `from` brings is small enough to be held in memory, keyed; `into` is read
 * once. *Route*: the keys of `into` are held, `from` is read once and what each document brings is thrown into the
 * partition of the `into` documents it belongs to (spilled past the budget); then each partition is sorted and
 * spliced while `into` is read again. Ties are always broken by the input order of `from`, so both give the same
 * bytes for any memory and any number of workers. */
#ifndef MRS_RUN_JOIN_H
#define MRS_RUN_JOIN_H

#include "run/pass/checkpoint.h"
#include "run/pass/step_outputs.h"
#include "run/account/fates.h"
#include "run/store/sorter.h"
#include "run/store/spill.h"
#include "run/store/table.h"
#include "mongoreshape/join_ops.h"

/* ---- the step in progress ---- */
struct mrsi_mapped {
    uint8_t *p; /* NULL: this part cannot be mapped */
    size_t n;
    uint64_t part; /* of from */
    uint64_t at;   /* of its first byte, if these parts lay one behind the other */
};
enum mrsi_join_stage {
    MRSI_JOIN_KEYS,  /* the keys of into are read */
    MRSI_JOIN_FROM,  /* from is read */
    MRSI_JOIN_MEET, /* both sides are matched by partition, if the keys do not fit */
    MRSI_JOIN_EMIT,  /* what is there is read and copied; into is written */
    MRSI_JOIN_SETTLE /* from is written, or what is left of it */
};
struct mrsi_join_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_join_ops *ops;
    bool self;                  /* from and into are one collection */
    bool lookup;
    struct mrsi_by_key {        /* the keys of into do not fit: both sides are in partitions by key; else NULL */
        struct mrsi_spill keys, records;
        struct mrsi_spiller out; /* of keys, while into is read */
        uint32_t n_done;        /* partitions that are done */
    } *by_key;
    uint32_t hashed[8];         /* pairs that are part of the hash; the others are verified */
    uint32_t n_hashed;
    bool multi; /* several keys in a hashed pair other than the first, in into, or too many together, in from: what was
                   read must be read again without it */
    bool is_hashed[64];
    struct mrs_buf log;         /* struct mrsi_logged */
    struct mrsi_table table;
    struct mrsi_fates fates;
    struct mrsi_spill spill;
    bool far; /* shapes may stay where they are, in files that are mapped, until they are spliced */
    struct mrs_buf maps;        /* struct mrsi_mapped */
    uint32_t mapped_part;       /* index + 1 of the part of from that the last of them is; 0 */
    struct mrs_buf left;        /* uint64_t ordinal and document, for each of from without a match */
    uint64_t n_left;
    bool left_over;             /* there are too many of them, or it is not known which they are */
    struct mrs_buf slabs;       /* lookup: blocks of records */
    uint8_t *slab_at;
    size_t slab_left;
    uint64_t n_from_bytes; /* of from, guessed */
    uint64_t into_read;    /* bytes of into whose keys have been read in this run */
    uint64_t held;
    uint64_t n_into, n_from;
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_join_stage stage;
    bool restart;               /* EMIT again, because documents were found that cannot be sorted */
    struct mrsi_slices {        /* EMIT, a route; join_slice.h */
        struct mrs_block block; /* of into, that slices are cut of */
        uint32_t part;          /* of into */
        size_t at;              /* of the first document that is in no slice yet */
        uint64_t next;          /* its ordinal */
        struct mrsi_spill split; /* the records of a partition that was too large, in partitions of their own */
        uint32_t split_part;    /* which partition of the spill that is, and 1; 0: none */
    } slices;
    struct mrsi_refused_mark refused; /* before anything was written */
    struct mrsi_savepoint_list log_kept, left_kept;
};
/* ---- join_savepoint.c: savepoints (checkpoint.h) ---- */
void mrsi_join_marks(struct mrsi_join_run *j); /* sets how its passes are saved; takes the savepoint to resume from */
/* Becomes what the savepoint says; writers are open as in mrsi_pass_load. */
enum mrs_status mrsi_join_load(struct mrsi_join_run *j, struct mrs_err *e);

/* join_keys.c: keys of a document, hashed. */
struct mrsi_hashed {            /* of one document */
    struct mrs_buf list;        /* struct mrsi_logged without ord: key and ref */
    struct mrs_buf same;        /* uint32_t: for key i the index of the first equal one */
    struct mrs_buf verify;      /* struct mrsi_verify */
    struct mrs_buf bytes;
    struct mrs_buf set;         /* small hash set to find equal keys */
};
struct mrsi_verify {
    struct mrsi_key key;
    uint32_t pair, pad;
};
void mrsi_hashed_init(struct mrsi_hashed *h, struct mrs_mem *mem);
void mrsi_hashed_clear(struct mrsi_hashed *h);
/* From w->keys. into: one entry for each distinct key of the first pair; from: one for each combination;
 * none, and j->multi, where these are too many. */
enum mrs_status mrsi_hash_keys(struct mrsi_join_run *j, struct mrsi_worker *w, bool into, struct mrsi_hashed *h,
                               struct mrs_err *e);
/* Whether a record's verified pairs meet those of an into document. */
bool mrsi_verified(const struct mrsi_join_run *j, const struct mrsi_rec *r, const struct mrsi_hashed *into);

/* join.c, for going on */
enum mrs_status mrsi_join_open_writers(struct mrsi_join_run *j, struct mrs_err *e); /* but that of from */
struct mrsi_spill_layout mrsi_join_layout(const struct mrsi_join_run *j);           /* of its records */
enum mrs_status mrsi_join_build_table(struct mrsi_join_run *j, struct mrs_err *e);  /* of the log, which ends with it */
/* join_read.c */
void mrsi_join_choose_hashed(struct mrsi_join_run *j);
enum mrs_status mrsi_join_read_into_keys(struct mrsi_join_run *j, struct mrs_err *e);
enum mrs_status mrsi_join_read_from(struct mrsi_join_run *j, struct mrs_err *e);
/* join_by_key.c: what to do when the keys of into outgrow memory. */
/* Takes keys, in the order of into: to the log, or to partitions once that is too long. */
enum mrs_status mrsi_by_key_into(struct mrsi_join_run *j, const struct mrsi_logged *l, size_t n, struct mrs_err *e);
enum mrs_status mrsi_by_key_into_end(struct mrsi_join_run *j, struct mrs_err *e); /* by_key: all have been taken */
/* A record under one of its keys; out: a spiller of by_key->records. */
enum mrs_status mrsi_by_key_from(struct mrsi_spiller *out, struct mrsi_key key, const struct mrsi_rec *r,
                                 const struct mrsi_rec_parts *x, struct mrs_err *e);
/* Fills j->spill, and clears by_key. */
enum mrs_status mrsi_by_key_meet(struct mrsi_join_run *j, struct mrs_err *e);
void mrsi_by_key_clear(struct mrsi_join_run *j);
enum mrs_status mrsi_by_key_save(struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files,
                                 struct mrs_err *e);
enum mrs_status mrsi_by_key_load(struct mrsi_join_run *j, struct mrs_err *e);
/* ---- join_far.c: shapes that stay in files of from ---- */
void mrsi_far_clear(struct mrsi_join_run *j);
/* Where the bytes of a block stay; *p NULL: nowhere. To be asked block by block, in their order. */
enum mrs_status mrsi_far_block(struct mrsi_join_run *j, const struct mrs_block *b, const uint8_t **p, uint64_t *at,
                               struct mrs_err *e);
/* Whether the shape can stay: says so in r, and in *far, which is no longer, what is there instead. doc: what the
 * shape was made of; at: where that stays. */
bool mrsi_far_note(struct mrs_view doc, uint64_t at, struct mrs_view shape, struct mrsi_rec *r, struct mrsi_far *far);
/* Where the document of a far record lies; NULL: nowhere, which only the state of another run can say. */
const uint8_t *mrsi_far_find(const struct mrsi_join_run *j, const struct mrsi_rec *r);
static inline struct mrsi_far
mrsi_far_of(const struct mrsi_rec *r)
{
    struct mrsi_far far;
    memcpy(&far, mrsi_rec_shape(r), sizeof far);
    return far;
}
/* Makes the shape, shape_len bytes, of that document. */
static inline void
mrsi_far_copy(const struct mrsi_rec *r, const uint8_t *doc, uint8_t *to)
{
    mrs_put32(to, r->shape_len);
    memcpy(to + 4, doc + 4, r->gap - 4);
    memcpy(to + r->gap, doc + r->gap + mrsi_far_of(r).gap_len, r->shape_len - r->gap);
}
/* For savepoints (checkpoint.h). */
enum mrs_status mrsi_far_load(struct mrsi_join_run *j, struct mrs_err *e);

/* join_emit.c */
enum mrs_status mrsi_join_emit(struct mrsi_join_run *j, struct mrs_err *e);
/* join_settle.c */
enum mrs_status mrsi_refuse_unsorted(struct mrsi_join_run *j, struct mrsi_worker *w, uint32_t side, uint64_t ordinal,
                                     struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_settle_from(struct mrsi_join_run *j, struct mrs_err *e);

#endif
