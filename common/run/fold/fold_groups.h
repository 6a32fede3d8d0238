/* SPDX-License-Identifier: Apache-2.0 */
/* fold_groups.h - partitions, groups in order, groups that grow, and one group through the step. */
#ifndef MRSI_RUN_FOLD_GROUPS_H
#define MRSI_RUN_FOLD_GROUPS_H

#include "fold_record.h"

/* ---- fold_route.c: which partition a group belongs to ---- */
struct mrsi_fold_shared_cache { /* a shared record seen before: found by its hash, compared by its bytes */
    uint64_t hash;  /* 0: an empty place */
    uint64_t size;  /* bytes of its group and, times 2^32, of its name */
    uint32_t part;  /* of its group */
    uint32_t piece; /* the last one that it was put into; 0: none */
    uint32_t shared; /* its number there */
    uint32_t bytes; /* where they are in names */
};
struct mrsi_fold_open { /* the open piece of a partition */
    uint32_t piece; /* its number, from 1 on */
    uint32_t shared_all;
    uint64_t ordinal; /* of its first record; no shared records: there is none yet */
};
struct mrsi_fold_router { /* a worker's */
    struct mrsi_spiller spiller;
    struct mrsi_fold_open *open; /* one a partition */
    struct mrsi_fold_shared_cache *seen; /* hashed: n of them in so many slots */
    struct mrs_buf names;        /* of those in seen: group and name */
    uint32_t n_seen, slots;
    uint64_t n_kept;             /* documents since the table was empty */
    struct mrs_buf group, shared; /* that were asked for */
};

/* ---- fold_load.c: groups in order ---- */
struct mrsi_fold_group {
    const struct mrsi_rec *first; /* of those that were gathered */
    uint32_t at, n; /* in members */
    struct mrs_view key;
    uint32_t ref;   /* a part of its hash */
    uint32_t shared; /* the first of those equal to the last one seen */
};
struct mrsi_fold_member {
    const struct mrsi_fold_rec *rec;
    uint64_t order; /* but for its first byte */
    uint32_t shared; /* number in shared records */
    uint8_t first;
};
struct mrsi_fold_shared {
    const struct mrsi_fold_rec *rec;
    uint64_t ordinal; /* of the piece */
    uint32_t group;
    uint32_t alike;   /* a shared record of the group that is the same in another piece, the first of them; or itself */
};
struct mrsi_fold_load {
    struct mrs_buf bytes, list, shared_all, groups, table, sorted;
    struct mrs_buf members; /* struct mrsi_fold_member: group by group, in order */
    uint32_t n_groups, n_slots;
};
static inline const struct mrsi_fold_shared *
mrsi_fold_shared_of(const struct mrsi_fold_load *l, const struct mrsi_fold_member *m)
{
    return (const struct mrsi_fold_shared *)(const void *)l->shared_all.p + m->shared;
}
static inline uint64_t
mrsi_fold_ordinal_of(const struct mrsi_fold_load *l, const struct mrsi_fold_member *m)
{
    return mrsi_fold_shared_of(l, m)->ordinal + m->rec->since;
}

/* ---- fold_gather.c: groups that grow while documents are read ---- */
struct mrsi_fold_input { /* what a document brings; shared record and shape follow */
    uint32_t total;      /* bytes with this head, padded to 8 */
    uint32_t ref;        /* a part of the shared record's hash */
    uint32_t shared, shape; /* bytes */
};
struct mrsi_fold_gather {
    bool on, gave_up;
    struct mrsi_temp *image; /* of the groups, for savepoints, once they do not change any more; NULL: not made */
    uint64_t image_bytes;
    size_t size;           /* of a state, padded to 8 */
    struct mrs_arena room; /* of groups and shared records */
    struct mrs_buf slots, keys; /* hashed: shared records, and the keys of groups */
    uint32_t n_slots, n_shared_all, n_keys;
    struct mrs_buf key;    /* that was asked for */
    struct mrsi_fold_load groups; /* only its groups */
    uint64_t held;
};

/* ---- fold_one.c: one group through the step ---- */
struct mrsi_fold;
struct mrsi_fold_source {
    enum mrs_status (*next)(struct mrsi_fold_source *s, struct mrs_view *shape, struct mrs_err *e); /* OK, END, DEAD */
    uint32_t (*more)(struct mrsi_fold_source *s, struct mrs_view *shape, uint32_t most); /* as in struct mrs_members */
    struct mrs_view shared; /* of the member that next gave */
    bool same_shared;    /* as in struct mrs_members */
    uint64_t at; /* ordinal of the member that next gave */
    uint64_t (*ordinal)(const struct mrsi_fold_source *s, uint64_t i); /* of the i-th, once next has given END */
    /* Behind END: so many bytes of work have been done, and what the group has come to is true now; NULL: not asked.
     * FAIL MRS_E_CANCEL: the run is to end. */
    enum mrs_status (*rest)(struct mrsi_fold_source *s, uint64_t bytes, struct mrs_err *e);
};
/* What has been made, until the commit. */
struct mrsi_fold_out {
    struct mrsi_out *outs;
    struct mrsi_lists lists;
    struct mrs_buf late;    /* ordinal, length, place NUL reason NUL more NUL */
    uint64_t n_docs;        /* of the job, so far */
    uint64_t first_doc;     /* APPLY: number of the first of them */
};
/* How far a group is. */
enum mrsi_fold_way {
    MRSI_FOLD_GIVES,  /* the step asks for members */
    MRSI_FOLD_DRAINS, /* it does not any more: the rest of them are counted */
    MRSI_FOLD_ENDS    /* documents are written, or members refused */
};
/* A group while it is folded. */
struct mrsi_fold_one {
    struct mrsi_fold *f;
    struct mrsi_worker *w;
    struct mrsi_fold_out *out;
    struct mrsi_fold_source *source;
    struct mrsi_file_array docs; /* struct mrsi_fold_pending */
    struct mrsi_file_array alone; /* uint64_t: members refused alone */
    struct mrs_buf bytes;   /* of documents, what is not in the file */
    struct mrsi_temp *file;
    uint64_t filed;         /* bytes in the file */
    struct mrs_buf room;
    uint64_t n_given;
    bool ended;
    bool live; /* ready for use */
    enum mrsi_fold_way way;
    bool fails;             /* all of the group, as why says */
    struct mrs_err why;
    uint64_t released;      /* documents that have been written, or their members refused */
    uint64_t reported;      /* members before this one are recorded as refused, or need not be */
    bool kept;              /* savepoints may name its files: set behind init */
    bool named;             /* a savepoint has named `file` */
    uint64_t foreign;       /* bytes in the file that another run has put there: examined before they are used */
    struct mrs_buf made;    /* the step's state of the group, to resume from; else empty */
};

#endif
