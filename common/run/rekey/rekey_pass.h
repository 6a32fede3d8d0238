/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_pass.h - gives documents of one collection new `_id`s, and updates all references.
 *
 * A first pass records the old and new `_id` of each document, or its group keys. Refusals and groups follow from that
 * without reading documents. If documents are merged, a second pass sorts the members of groups. Then the documents are
 * written. One that cannot be written is refused with its group, and since references to it stay, everything is written
 * again without it; this ends, because every time fewer documents take part. Last come the other collections with
 * references. Tables take some dozens of bytes for each document, in memory within the budget and then in mapped
 * temporary files.
 *
 * Two `_id`s or keys are equal if their 128-bit hashes with the run's secret are (ordinal_index.h). */
#ifndef MRS_RUN_REKEY_H
#define MRS_RUN_REKEY_H

#include "run/pass/checkpoint.h"
#include "run/store/ordinal_index.h"
#include "run/pass/step_outputs.h"
#include "run/account/fates.h"
#include "run/store/sorter.h"
#include "run/store/file_array.h"
#include "mongoreshape/rekey_ops.h"

/* Bits of a document in struct mrsi_fates, in addition to MRSI_FATE_OUTSIDE (not processed), MRSI_FATE_REFUSED and
 * MRSI_FATE_UNSORTED (it could not be written, and is refused from the next pass on). */
enum {
    MRSI_REKEY_TWICE = 1, /* another document has the same `_id` */
    MRSI_REKEY_CLASH = 2, /* another document has the same new `_id` */
    MRSI_REKEY_HELD = 4,  /* the first of several documents with one `_id`, of which at least one is not processed */
    MRSI_REKEY_REJECTED = 64, /* another document in the target has its `_id` */
    MRSI_REKEY_LATE = 128   /* the first of a group: one of its documents cannot be written, so all are refused */
};

/* Reasons for refusing a group that are known before anything is written: bits. */
enum {
    MRSI_REKEY_MEMBER = 1, /* one of its documents is refused */
    MRSI_REKEY_FAILED = 2  /* its values cannot be computed: the reason is in gains */
};

/* A group, stored at the ordinal of its first document. */
struct mrsi_rekey_group {
    uint64_t survivor; /* ordinal + 1; 0: no merge, nothing is computed */
    uint64_t gain;     /* offset in gains + 1, with FAILED the reason; 0: none */
    uint8_t refused;
    uint8_t several;   /* it has more than one document */
};
/* Header of a gain; it is followed by the computed values as a document and the merged `_id`s as an array, or by the
 * texts of a reason. */
struct mrsi_rekey_gain_head {
    uint32_t values, olds;
};

/* The stages of a step. Savepoints are possible while documents are read and written; a resumed run repeats the
 * decisions in between. */
enum mrsi_rekey_stage { MRSI_REKEY_READ, MRSI_REKEY_DECIDE, MRSI_REKEY_WRITE, MRSI_REKEY_POINT, MRSI_REKEY_DONE };

struct mrsi_rekey_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_rekey_ops *ops;
    struct mrs_rekey_wants wants;
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_rekey_stage stage;
    bool resumed; /* tables are from the stopped run */
    uint64_t n; /* documents */
    /* from the first pass, by ordinal unless stated otherwise */
    struct mrsi_fates fates;
    struct mrsi_index ids;             /* the original `_id`s */
    struct mrsi_file_array name_at, names; /* the final `_id` of each document, as type and bytes: the new one, in a
                                            * merge its own; name_at: offset in names */
    struct mrsi_file_array hashes;     /* struct mrs_hash128 of the new `_id`, zeros: none; not in a merge */
    struct mrsi_index fresh;           /* new `_id`s; not in a merge */
    struct mrsi_index keys;            /* keys of groups */
    struct mrsi_file_array joins;      /* pairs of ordinals with a common key; in a merge */
    struct mrsi_mapped_mem root;       /* uint64_t: the first document of each one's group */
    struct mrsi_mapped_mem group;      /* struct mrsi_rekey_group */
    struct mrsi_sorter members;        /* of groups, in their order */
    struct mrsi_file_array gains;
    /* writing */
    struct mrsi_mapped_mem called;     /* uint64_t: offset in names of the new value of references to each document;
                                        * MRSI_NO_ORDINAL: they stay */
    struct mrsi_refused_position log;  /* of refused documents, before any output */
    uint32_t now;                      /* side being read */
    bool late;                         /* a document could not be written */
};

static inline uint64_t
mrsi_rekey_root(const struct mrsi_rekey_run *k, uint64_t i)
{
    return ((const uint64_t *)k->root.p)[i];
}
static inline struct mrsi_rekey_group *
mrsi_rekey_group(const struct mrsi_rekey_run *k, uint64_t i) /* of a document */
{
    return (struct mrsi_rekey_group *)k->group.p + mrsi_rekey_root(k, i);
}
/* The final `_id` of a document. */
static inline struct mrs_val
mrsi_rekey_name(const struct mrsi_rekey_run *k, uint64_t i)
{
    const uint64_t *at = (const uint64_t *)(const void *)k->name_at.p;
    uint64_t from = at[i], end = i + 1 < k->n ? at[i + 1] : k->names.n;
    if (end == from) {
        return mrs_missing();
    }
    return (struct mrs_val){k->names.p + from + 1, (uint32_t)(end - from - 1), k->names.p[from]};
}
/* Is a document refused, or will its group be? */
static inline bool
mrsi_rekey_refused(const struct mrsi_rekey_run *k, uint64_t i)
{
    unsigned bits = mrsi_fates_get(&k->fates, i);
    if ((bits & (MRSI_FATE_OUTSIDE | MRSI_FATE_REFUSED)) || !k->group.p) {
        return bits & MRSI_FATE_REFUSED;
    }
    return __atomic_load_n(&mrsi_rekey_group(k, i)->refused, __ATOMIC_RELAXED) ||
           (mrsi_fates_get(&k->fates, mrsi_rekey_root(k, i)) & MRSI_REKEY_LATE);
}
/* The hash of a value that is an `_id` or a reference; overwrites scratch. */
enum mrs_status mrsi_rekey_hash(const struct mrsi_rekey_run *k, struct mrs_val v, struct mrs_buf *scratch,
                                struct mrs_hash128 *out, struct mrs_err *e);
/* Checks for interrupts in long loops over all documents. */
enum mrs_status mrsi_rekey_check_interrupt(const struct mrsi_rekey_run *k, uint64_t i, struct mrs_err *e);

enum mrs_status mrsi_rekey_read(struct mrsi_rekey_run *k, struct mrs_err *e);   /* rekey_read.c */
enum mrs_status mrsi_rekey_judge(struct mrsi_rekey_run *k, struct mrs_err *e);  /* rekey_judge.c */
enum mrs_status mrsi_rekey_gather(struct mrsi_rekey_run *k, struct mrs_err *e); /* rekey_gather.c */
enum mrs_status mrsi_rekey_call(struct mrsi_rekey_run *k, struct mrs_err *e);   /* final values of references */
enum mrs_status mrsi_rekey_open(struct mrsi_rekey_run *k, struct mrs_err *e);   /* the writers */
enum mrs_status mrsi_rekey_write(struct mrsi_rekey_run *k, struct mrs_err *e);  /* rekey_write.c */
enum mrs_status mrsi_rekey_refer(struct mrsi_rekey_run *k, struct mrs_err *e);
/* rekey_savepoint.c: for struct mrsi_pass; and load. */
enum mrs_status mrsi_rekey_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_rekey_from_mark(struct mrsi_rekey_run *k, struct mrs_err *e);
enum mrs_status mrsi_rekey_check_read(const struct mrsi_rekey_run *k, struct mrs_err *e); /* validates resumed tables */

/* ---- written documents ---- */
enum { MRSI_REKEY_AHEAD = 16, MRSI_REKEY_REFS = 64 };
struct mrsi_rekey_ref {
    const uint8_t *p; /* of the value in its document */
    struct mrs_hash128 key;
    uint64_t ordinal; /* of the referenced document */
};
struct mrsi_rekey_ahead { /* queued documents, and their references: rekey_ahead.c */
    struct mrs_view doc[MRSI_REKEY_AHEAD];
    uint64_t ordinal[MRSI_REKEY_AHEAD];
    struct mrsi_rekey_ref ref[MRSI_REKEY_REFS];
    uint32_t n, n_refs, at;
};
struct rekey_write_job {
    struct mrsi_step_outputs_job io;
    struct mrsi_lists lists;
    struct mrs_buf bytes[2]; /* the document with its gains, then with its references */
    struct mrsi_rekey_ahead ahead;
};
/* One document of a collection with references. SKIP: refused. */
enum mrs_status mrsi_rekey_point_document(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_write_job *job,
                                          uint64_t ordinal, struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_rekey_point_block(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e);
/* The resolved reference for the next value, in the order of the queued documents; NULL: none. */
const struct mrsi_rekey_ref *mrsi_rekey_ahead_of(struct mrsi_rekey_ahead *a, struct mrs_val id);

#endif
