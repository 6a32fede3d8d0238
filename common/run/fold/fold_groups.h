/* SPDX-License-Identifier: Apache-2.0 */
/* fold_groups.h - partitions, groups in order, gathered groups, and the folding of one group. */
#ifndef MRSI_RUN_FOLD_GROUPS_H
#define MRSI_RUN_FOLD_GROUPS_H

#include "fold_record.h"

/* ---- fold_route.c: which partition a group belongs to ---- */
struct mrsi_fold_shared_cache { /* a known shared record: found by its hash, compared by its bytes */
    uint64_t hash;  /* 0: a free slot */
    uint64_t size;  /* size of its group's key plus 2^32 times that of its name */
    uint32_t part;  /* of its group */
    uint32_t piece; /* the last one that has it; 0: none */
    uint32_t shared; /* its number in that piece */
    uint32_t bytes; /* their offset in names */
};
struct mrsi_fold_open { /* the open piece of a partition */
    uint32_t piece; /* its number, from 1 on */
    uint32_t shared_all;
    uint64_t ordinal; /* of its first record; no shared records: undefined */
};
struct mrsi_fold_router { /* of a worker */
    struct mrsi_spiller spiller;
    struct mrsi_fold_open *open; /* one for each partition */
    struct mrsi_fold_shared_cache *seen; /* hash table of `slots`, n_seen used */
    struct mrs_buf names;        /* group and name of each entry */
    uint32_t n_seen, slots;
    uint64_t n_kept;             /* documents since the table was empty */
    struct mrs_buf group, shared; /* computed for the document */
};

/* ---- fold_load.c: groups in order ---- */
struct mrsi_fold_group {
    const struct mrsi_rec *first; /* if gathered */
    uint32_t at, n; /* index of the first member, and number */
    struct mrs_view key;
    uint32_t ref;   /* a part of its hash */
    uint32_t shared; /* the first one equal to the last one seen */
};
struct mrsi_fold_member {
    const struct mrsi_fold_rec *rec;
    uint64_t order; /* without its first byte */
    uint32_t shared; /* index of the shared record */
    uint8_t first;
};
struct mrsi_fold_shared {
    const struct mrsi_fold_rec *rec;
    uint64_t ordinal; /* of the piece */
    uint32_t group;
    uint32_t first_equal;   /* index of the first equal shared record of the group in another piece; or its own */
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

/* ---- fold_gather.c: groups that are updated while documents are read ---- */
struct mrsi_fold_input { /* the entry of a document; shared record and payload follow */
    uint32_t total;      /* size with this header, padded to 8 */
    uint32_t ref;        /* a part of the shared record's hash */
    uint32_t shared, payload; /* sizes */
};
struct mrsi_fold_gather {
    bool on, abandoned;
    struct mrsi_temp *image; /* of the complete groups, for savepoints; NULL: not made */
    uint64_t image_bytes;
    size_t size;           /* of a state, padded to 8 */
    struct mrs_arena room; /* for groups and shared records */
    struct mrs_buf slots, keys; /* hash tables of shared records, and of the keys of groups */
    uint32_t n_slots, n_shared_all, n_keys;
    struct mrs_buf key;    /* scratch for a computed key */
    struct mrsi_fold_load groups; /* only `groups` of it is used */
    uint64_t used_bytes;
};

/* ---- fold_one.c: folds one group ---- */
struct mrsi_fold;
struct mrsi_fold_source {
    /* OK, END, DEAD; more: as in struct mrs_members */
    enum mrs_status (*next)(struct mrsi_fold_source *s, struct mrs_view *payload, struct mrs_err *e);
    uint32_t (*more)(struct mrsi_fold_source *s, struct mrs_view *payload, uint32_t most);
    struct mrs_view shared; /* of the last member returned */
    bool same_shared;    /* as in struct mrs_members */
    uint64_t at; /* ordinal of the last member returned */
    uint64_t (*ordinal)(const struct mrsi_fold_source *s, uint64_t i); /* of the i-th member, after END */
    /* After END: so many bytes of work are done, and the group can be saved now; NULL: not needed. FAIL MRS_E_CANCEL:
     * stop. */
    enum mrs_status (*rest)(struct mrsi_fold_source *s, uint64_t bytes, struct mrs_err *e);
};
/* Output until the commit. */
struct mrsi_fold_out {
    struct mrsi_out *outs;
    struct mrsi_lists lists;
    struct mrs_buf late;    /* ordinal, length, place NUL reason NUL more NUL */
    uint64_t n_docs;        /* of the job so far */
    uint64_t first_doc;     /* APPLY: number of the job's first document */
};
/* Progress of a group. */
enum mrsi_fold_way {
    MRSI_FOLD_FEEDS,  /* the step reads members */
    MRSI_FOLD_DRAINS, /* the step reads no more: the remaining members are counted */
    MRSI_FOLD_ENDS    /* documents are written, or members refused */
};
/* A group being folded. */
struct mrsi_fold_one {
    struct mrsi_fold *f;
    struct mrsi_worker *w;
    struct mrsi_fold_out *out;
    struct mrsi_fold_source *source;
    struct mrsi_file_array docs; /* struct mrsi_fold_pending */
    struct mrsi_file_array alone; /* uint64_t: members refused alone */
    struct mrs_buf bytes;   /* documents not in the file */
    struct mrsi_temp *file;
    uint64_t filed;         /* bytes in the file */
    struct mrs_buf room;
    uint64_t n_returned;
    bool ended;
    bool live; /* ready for use */
    enum mrsi_fold_way way;
    bool fails;             /* the whole group is refused, with the error `why` */
    struct mrs_err why;
    uint64_t released;      /* number of documents written, or whose members were refused */
    uint64_t reported;      /* earlier members are recorded as refused, or need not be */
    bool kept;              /* savepoints may refer to its files: set after init */
    bool named;             /* a savepoint refers to `file` */
    uint64_t foreign;       /* bytes in the file from the stopped run: validated before use */
    struct mrs_buf made;    /* the step's state of the group, to resume from; else empty */
};

#endif
