/* SPDX-License-Identifier: Apache-2.0 */
/* join.h - joins documents of `from` to documents of `into`, within a memory budget; for join*.c.
 *
 * Two algorithms give the same result. *Lookup*: the payloads of `from` fit into memory, with their keys; `into` is
 * read once. *Route*: the keys of `into` are in memory, `from` is read once, and the payload of each document goes to
 * the partition of its `into` documents (spilled beyond the budget); then each partition is sorted and spliced while
 * `into` is read again. Ties are always broken by the input order of `from`, so both give the same bytes for any memory
 * and any number of workers. */
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
    uint64_t part; /* index of the part of from */
    uint64_t at;   /* offset of its first byte in the concatenated parts */
};
enum mrsi_join_stage {
    MRSI_JOIN_KEYS,  /* reads the keys of into */
    MRSI_JOIN_FROM,  /* reads from */
    MRSI_JOIN_MEET, /* matches both sides by partition, if the keys do not fit */
    MRSI_JOIN_EMIT,  /* reads and copies existing documents; writes into */
    MRSI_JOIN_SETTLE /* writes the rest of from */
};
struct mrsi_join_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_join_ops *ops;
    bool self;                  /* from and into are one collection */
    bool lookup;
    struct mrsi_by_key {        /* if the keys of into do not fit: partitions of both sides by key; else NULL */
        struct mrsi_spill keys, records;
        struct mrsi_spiller out; /* for keys, while into is read */
        uint32_t n_done;        /* finished partitions */
    } *by_key;
    uint32_t hashed[8];         /* pairs in the hash; the others are verified */
    uint32_t n_hashed;
    bool multi; /* a hashed pair other than the first has several keys in a document of into, or a document of from has
                 * too many combinations: read again without that pair */
    bool is_hashed[64];
    struct mrs_buf log;         /* struct mrsi_logged */
    struct mrsi_table table;
    struct mrsi_fates fates;
    struct mrsi_spill spill;
    bool far; /* payloads may stay in mapped files until they are spliced */
    struct mrs_buf maps;        /* struct mrsi_mapped */
    uint32_t mapped_part;       /* index + 1 of the part of from that was mapped last; 0: none */
    struct mrs_buf left;        /* uint64_t ordinal and document, for each document of from without a match */
    uint64_t n_left;
    bool left_over;             /* there are too many of them, or they are not known */
    struct mrs_buf slabs;       /* lookup: blocks of records */
    uint8_t *slab_at;
    size_t slab_left;
    uint64_t n_from_bytes; /* estimated size of from */
    uint64_t into_read;    /* bytes of into whose keys were read in this run */
    uint64_t n_into, n_from;
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_join_stage stage;
    bool restart;               /* repeat EMIT, because of documents that cannot be sorted */
    struct mrsi_slices {        /* EMIT, a route; join_slice.h */
        struct mrs_block block; /* of into, to be cut into slices */
        uint32_t part;          /* of into */
        size_t at;              /* offset of the first document without a slice */
        uint64_t next;          /* its ordinal */
        struct mrsi_spill_split split;
    } slices;
    struct mrsi_refused_position refused; /* before any output */
    struct mrsi_savepoint_list log_kept, left_kept;
};
/* ---- join_savepoint.c: savepoints (checkpoint.h) ---- */
/* Sets how its passes are saved; takes the savepoint to resume from. */
void mrsi_join_savepoints(struct mrsi_join_run *j);
/* Loads the savepoint; writers are opened as in mrsi_pass_load. */
enum mrs_status mrsi_join_load(struct mrsi_join_run *j, struct mrs_err *e);

/* join_keys.c: keys of a document, hashed. */
struct mrsi_hashed {            /* for one document */
    struct mrs_buf list;        /* struct mrsi_logged without ord: key and ref */
    struct mrs_buf same;        /* uint32_t: for key i the index of the first equal key */
    struct mrs_buf verify;      /* struct mrsi_verify */
    struct mrs_buf bytes;
    struct mrs_buf set;         /* hash set to find equal keys */
};
struct mrsi_verify {
    struct mrsi_key key;
    uint32_t pair, pad;
};
void mrsi_hashed_init(struct mrsi_hashed *h, struct mrs_mem *mem);
void mrsi_hashed_clear(struct mrsi_hashed *h);
/* From w->keys. into: one entry for each distinct key of the first pair; from: one for each combination; if there are
 * too many, none, and sets j->multi. */
enum mrs_status mrsi_hash_keys(struct mrsi_join_run *j, struct mrsi_worker *w, bool into, struct mrsi_hashed *h,
                               struct mrs_err *e);
/* Do the verified pairs of a record match those of an into document? */
bool mrsi_verified(const struct mrsi_join_run *j, const struct mrsi_rec *r, const struct mrsi_hashed *into);

/* join.c, for resuming */
enum mrs_status mrsi_join_open_writers(struct mrsi_join_run *j, struct mrs_err *e); /* all but that of from */
struct mrsi_spill_layout mrsi_join_layout(const struct mrsi_join_run *j);           /* of its records */
enum mrs_status mrsi_join_build_table(struct mrsi_join_run *j, struct mrs_err *e);  /* from the log, which is freed */
/* join_read.c */
void mrsi_join_choose_hashed(struct mrsi_join_run *j);
/* The keys of one into document into w->keys. */
enum mrs_status mrsi_join_into_keys(struct mrsi_join_run *j, struct mrsi_worker *w, struct mrs_view doc);
enum mrs_status mrsi_join_read_into_keys(struct mrsi_join_run *j, struct mrs_err *e);
enum mrs_status mrsi_join_read_from(struct mrsi_join_run *j, struct mrs_err *e);
/* join_by_key.c: used if the keys of into do not fit into memory. */
/* Adds keys, in the order of into: to the log, or to partitions if that is too long. */
enum mrs_status mrsi_by_key_into(struct mrsi_join_run *j, const struct mrsi_logged *l, size_t n, struct mrs_err *e);
enum mrs_status mrsi_by_key_into_end(struct mrsi_join_run *j, struct mrs_err *e); /* by_key: after the last one */
/* Adds a record with one of its keys; out: a spiller of by_key->records. */
enum mrs_status mrsi_by_key_from(struct mrsi_spiller *out, struct mrsi_key key, const struct mrsi_rec *r,
                                 const struct mrsi_rec_parts *x, struct mrs_err *e);
/* Fills j->spill, and clears by_key. */
enum mrs_status mrsi_by_key_meet(struct mrsi_join_run *j, struct mrs_err *e);
void mrsi_by_key_clear(struct mrsi_join_run *j);
enum mrs_status mrsi_by_key_save(struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files,
                                 struct mrs_err *e);
enum mrs_status mrsi_by_key_load(struct mrsi_join_run *j, struct mrs_err *e);
/* ---- join_far.c: payloads that stay in files of from ---- */
void mrsi_far_clear(struct mrsi_join_run *j);
/* The mapped bytes of a block; *p NULL: not mapped. Call it for all blocks, in order. */
enum mrs_status mrsi_far_block(struct mrsi_join_run *j, const struct mrs_block *b, const uint8_t **p, uint64_t *at,
                               struct mrs_err *e);
/* Can the payload stay in its file? Then r is marked, and *far, which is not longer, replaces it. doc: the document of
 * the payload; at: its mapped offset. */
bool mrsi_far_note(struct mrs_view doc, uint64_t at, struct mrs_view payload, struct mrsi_rec *r, struct mrsi_far *far);
/* The mapped document of a far record; NULL: not mapped, only possible if the resumed state is wrong. */
const uint8_t *mrsi_far_find(const struct mrsi_join_run *j, const struct mrsi_rec *r);
static inline struct mrsi_far
mrsi_far_of(const struct mrsi_rec *r)
{
    struct mrsi_far far;
    memcpy(&far, mrsi_rec_payload(r), sizeof far);
    return far;
}
/* Copies the payload, payload_len bytes, from that document. */
static inline void
mrsi_far_copy(const struct mrsi_rec *r, const uint8_t *doc, uint8_t *to)
{
    mrs_put32(to, r->payload_len);
    memcpy(to + 4, doc + 4, r->gap - 4);
    memcpy(to + r->gap, doc + r->gap + mrsi_far_of(r).gap_len, r->payload_len - r->gap);
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
