/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - documents of `from` with equal keys become documents of `into`; for fold*.c.
 *
 * `from` is read once: what each document brings is thrown into a partition, a range of group keys, in memory or past
 * the budget in a file. The ranges follow from a sample of the first documents. Partitions are then loaded one by one,
 * in parallel, their members put in order by hashing and counting, whole groups folded, and written in order; one that
 * outgrows memory goes through an external sort. What a fold puts is held back until its group has ended, since a
 * failing group takes it back. Whatever is told of a document of `from` (it stands nowhere, it is refused after all)
 * is noted by its ordinal, and `from` is read again, and written, only where something stays or was refused.
 *
 * Where a few bytes say all that the step has to know of a group, nothing is kept of its documents: see
 * fold_gather.c. */
#ifndef MRS_RUN_FOLD_H
#define MRS_RUN_FOLD_H

#include "checkpoint.h"
#include "join.h"

/* Bits of a document that took part, beside those of enum in join.h. None: it stands in a document of into. */
enum {
    MRSI_FOLD_UNUSED = MRS_USED_CUT, /* no document was made of it */
    MRSI_FOLD_LATE = MRS_USED_LEFT   /* refused while its group was folded: the reason is in `late` */
};

/* ---- fold_keep.c: what is kept of a document until its group is folded ---- */
/* A record of a document, or of a kin: the key of a group, and what its documents have alike. A head, its bytes, padded
 * to 4. In each piece of a partition a kin stands before the first document that names it, so a piece begins with one.
 */
struct mrsi_fold_rec {
    uint32_t since; /* its ordinal, of a kin that of the first document that names it here, less that of the piece */
    uint16_t kin;   /* number in the piece */
    uint8_t form;
    uint8_t n;      /* dated: of the bytes; of another document: the first byte of its order */
};
enum {
    MRSI_FOLD_SHORT, /* struct mrsi_fold_doc; all of the order stands in the head */
    MRSI_FOLD_LONG,  /* the same; the bytes begin with the length of the order in 32 bits, and the order */
    MRSI_FOLD_KIN,   /* struct mrsi_fold_kin_rec; the bytes are the key of the group, then the rest */
    MRSI_FOLD_DATED  /* the order is that of a date in the shape: that stands as many bytes behind its begin as the form
                        is larger than this. There are no more bytes in the head */
};
enum { MRSI_FOLD_DATED_BYTES = UINT8_MAX }; /* of a shape, at most: a date in it begins 8 before its end */
struct mrsi_fold_doc {
    struct mrsi_fold_rec head;
    uint32_t len;      /* of the bytes */
    uint32_t order[2]; /* the next eight bytes of the order as a number */
};
struct mrsi_fold_kin_rec {
    struct mrsi_fold_rec head;
    uint32_t len;
    uint32_t ref;        /* a part of its group's hash */
    uint32_t group;      /* bytes of the key */
    uint32_t ordinal[2]; /* of the first document that names it here; of the first kin: that of the piece */
};
struct mrsi_fold_parts { /* what a document brings */
    struct mrs_view group; /* p NULL: to be asked for */
    struct mrs_view order, shape, kin;
    struct mrs_view doc;   /* p not NULL: kin is a name, and kin itself is to be asked for */
    uint64_t ordinal;
};
static inline size_t
mrsi_fold_room(size_t head, uint64_t len) /* of a record with so many bytes */
{
    return (size_t)((head + len + 3) & ~(uint64_t)3);
}
static inline size_t
mrsi_fold_head(const struct mrsi_fold_rec *r)
{
    return r->form >= MRSI_FOLD_DATED ? sizeof *r
                                      : r->form == MRSI_FOLD_KIN ? sizeof(struct mrsi_fold_kin_rec)
                                                                 : sizeof(struct mrsi_fold_doc);
}
static inline const struct mrsi_fold_kin_rec *
mrsi_fold_as_kin(const struct mrsi_fold_rec *r)
{
    return (const struct mrsi_fold_kin_rec *)(const void *)r;
}
static inline const struct mrsi_fold_doc *
mrsi_fold_as_doc(const struct mrsi_fold_rec *r)
{
    return (const struct mrsi_fold_doc *)(const void *)r;
}
static inline struct mrs_view
mrsi_fold_bytes(const struct mrsi_fold_rec *r)
{
    struct mrs_view bytes = {(const uint8_t *)r + mrsi_fold_head(r), r->n};
    if (r->form < MRSI_FOLD_DATED) {
        bytes.n = r->form == MRSI_FOLD_KIN ? mrsi_fold_as_kin(r)->len : mrsi_fold_as_doc(r)->len;
    }
    return bytes;
}
static inline size_t
mrsi_fold_size(const struct mrsi_fold_rec *r)
{
    return mrsi_fold_room(mrsi_fold_head(r), mrsi_fold_bytes(r).n);
}
/* Of a record of a kin. */
static inline uint64_t
mrsi_fold_ordinal(const struct mrsi_fold_rec *r)
{
    uint64_t n;
    memcpy(&n, mrsi_fold_as_kin(r)->ordinal, sizeof n);
    return n;
}
static inline struct mrs_view
mrsi_fold_kin_group(const struct mrsi_fold_rec *r)
{
    struct mrs_view group = {mrsi_fold_bytes(r).p, mrsi_fold_as_kin(r)->group};
    return group;
}
static inline struct mrs_view
mrsi_fold_kin_rest(const struct mrsi_fold_rec *r)
{
    struct mrs_view all = mrsi_fold_bytes(r), group = mrsi_fold_kin_group(r);
    struct mrs_view rest = {group.p + group.n, all.n - group.n};
    return rest;
}
/* Of a record of a document. */
struct mrs_view mrsi_fold_order(const struct mrsi_fold_rec *r, uint8_t room[9]);
static inline struct mrs_view
mrsi_fold_shape(const struct mrsi_fold_rec *r)
{
    struct mrs_view shape = mrsi_fold_bytes(r);
    if (r->form == MRSI_FOLD_LONG) {
        uint32_t order;
        memcpy(&order, shape.p, sizeof order);
        shape.p += sizeof order + order;
        shape.n -= (uint32_t)sizeof order + order;
    }
    return shape;
}
/* The first byte of its order, and the next eight as a number. */
static inline uint8_t
mrsi_fold_first(const struct mrsi_fold_rec *r)
{
    return r->form >= MRSI_FOLD_DATED ? MRS_KEY_RANK + MRS_DATE_RANK : r->n;
}
static inline uint64_t
mrsi_fold_next(const struct mrsi_fold_rec *r)
{
    uint64_t n;
    if (r->form >= MRSI_FOLD_DATED) {
        return mrs_le64((const uint8_t *)(r + 1) + (r->form - MRSI_FOLD_DATED)) ^ 1ull << 63; /* as mrs_key_date */
    }
    memcpy(&n, mrsi_fold_as_doc(r)->order, sizeof n);
    return n;
}

/* ---- fold_route.c: which partition a group belongs to ---- */
struct mrsi_fold_seen { /* a kin met before: found by its hash, known by its bytes */
    uint64_t hash;  /* 0: an empty place */
    uint64_t size;  /* bytes of its group and, times 2^32, of its name */
    uint32_t part;  /* of its group */
    uint32_t piece; /* the last one that it was put into; 0: none */
    uint32_t kin;   /* its number there */
    uint32_t bytes; /* where they stand in names */
};
struct mrsi_fold_open { /* the open piece of a partition */
    uint32_t piece; /* its number, from 1 on */
    uint32_t kins;
    uint64_t ordinal; /* of its first record; no kins: there is none yet */
};
struct mrsi_fold_router { /* a worker's */
    struct mrsi_spiller spiller;
    struct mrsi_fold_open *open; /* one a partition */
    struct mrsi_fold_seen *seen; /* hashed: n of them in so many slots */
    struct mrs_buf names;        /* of those in seen: group and name */
    uint32_t n_seen, slots;
    uint64_t n_kept;             /* documents since the table was empty */
    struct mrs_buf group, kin;   /* that were asked for */
};

/* ---- fold_load.c: groups in order ---- */
struct mrsi_fold_group {
    const struct mrsi_rec *first; /* of those that were gathered */
    uint32_t at, n; /* in members */
    struct mrs_view key;
    uint32_t ref;   /* a part of its hash */
    uint32_t kin;   /* the first of those like the one that was met last */
};
struct mrsi_fold_member {
    const struct mrsi_fold_rec *rec;
    uint64_t order; /* but for its first byte */
    uint32_t kin;   /* number in kins */
    uint8_t first;
};
struct mrsi_fold_kin {
    const struct mrsi_fold_rec *rec;
    uint64_t ordinal; /* of the piece */
    uint32_t group;
    uint32_t alike;   /* a kin of the group that is the same in another piece, the first of them; or itself */
};
struct mrsi_fold_load {
    struct mrs_buf bytes, list, kins, groups, table, sorted;
    struct mrs_buf members; /* struct mrsi_fold_member: group by group, in order */
    uint32_t n_groups, n_slots;
};
static inline const struct mrsi_fold_kin *
mrsi_fold_kin_of(const struct mrsi_fold_load *l, const struct mrsi_fold_member *m)
{
    return (const struct mrsi_fold_kin *)(const void *)l->kins.p + m->kin;
}
static inline uint64_t
mrsi_fold_ordinal_of(const struct mrsi_fold_load *l, const struct mrsi_fold_member *m)
{
    return mrsi_fold_kin_of(l, m)->ordinal + m->rec->since;
}

/* ---- fold_gather.c: groups that grow while documents are read ---- */
struct mrsi_fold_brought { /* what a document brings; kin and shape follow */
    uint32_t total;      /* bytes with this head, padded to 8 */
    uint32_t ref;        /* a part of the kin's hash */
    uint32_t kin, shape; /* bytes */
};
struct mrsi_fold_gather {
    bool on, gave_up;
    struct mrsi_temp *image; /* of the groups, for marks, once they do not change any more; NULL: not made */
    uint64_t image_bytes;
    size_t size;           /* of a state, padded to 8 */
    struct mrs_arena room; /* of groups and kins */
    struct mrs_buf slots, keys; /* hashed: kins, and the keys of groups */
    uint32_t n_slots, n_kins, n_keys;
    struct mrs_buf key;    /* that was asked for */
    struct mrsi_fold_load groups; /* only its groups */
    uint64_t held;
};

/* ---- fold_one.c: one group through the step ---- */
struct mrsi_fold;
struct mrsi_fold_source {
    enum mrs_status (*next)(struct mrsi_fold_source *s, struct mrs_view *shape, struct mrs_err *e); /* OK, END, DEAD */
    uint32_t (*more)(struct mrsi_fold_source *s, struct mrs_view *shape, uint32_t most); /* as in struct mrs_members */
    struct mrs_view kin; /* of the member that next gave */
    bool same_kin;       /* as in struct mrs_members */
    uint64_t at; /* ordinal of the member that next gave */
    uint64_t (*ordinal)(const struct mrsi_fold_source *s, uint64_t i); /* of the i-th, once next has given END */
    /* Behind END: so many bytes of work have been done, and what the group has come to is true now; NULL: nobody asks.
     * FAIL MRS_E_CANCEL: the run is to end. */
    enum mrs_status (*rest)(struct mrsi_fold_source *s, uint64_t bytes, struct mrs_err *e);
};
/* What has been made, until the commit. */
struct mrsi_fold_out {
    struct mrsi_out *outs;
    struct mrsi_lists lists;
    struct mrs_buf late;    /* ordinal, length, place NUL reason NUL */
    uint64_t n_docs;        /* of the job, so far */
    uint64_t first_doc;     /* VERDICT: number of the first of them */
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
    struct mrsi_tape docs;  /* struct mrsi_fold_held */
    struct mrsi_tape alone; /* uint64_t: members refused alone */
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
    uint64_t told;          /* members before this one need not be refused any more */
    bool kept;              /* marks may name its files: set behind init */
    bool named;             /* a mark has named `file` */
    uint64_t foreign;       /* bytes in the file that another run has put there: looked at before they are used */
    struct mrs_buf made;    /* what the step had made of the members, to go on from; else empty */
};

/* What a step does, one behind the other; a mark says where it is. */
enum mrsi_fold_stage {
    MRSI_FOLD_GATHERS,     /* from is read, groups grow */
    MRSI_FOLD_READS,       /* from is read, what its documents bring is kept as records */
    MRSI_FOLD_HOPES,       /* groups are written */
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
    struct mrsi_sides sides;
    struct mrsi_scan scan;
    struct mrs_buf early;       /* struct mrsi_rec: what was read before the ranges were known */
    uint64_t seen_bytes;        /* of documents, of which early is what they brought */
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
    struct mrsi_sorter late;    /* by ordinal: place and reason, each with its NUL */
    struct mrsi_tape serials;   /* RESOLVE and VERDICT: the number of the first document of each partition */
    uint64_t n_docs;            /* documents put, up to the job that was committed last */
    struct mrsi_fold_gather gather;
    uint32_t next_group;        /* to be handed out */
    struct {                    /* a partition that is sorted on disk, one at a time: that before next_part */
        bool on, goes_on;       /* goes_on: from a mark, not handed out yet */
        bool sorted;            /* all of it is in the sorter, which is read */
        bool foreign;           /* another run has put some of it there: it is looked at before it is used */
        uint64_t piece;         /* else the next of its pieces */
        uint64_t n_docs;        /* documents put of it, up to the mark */
        struct mrsi_sorter sorter;
        struct mrsi_rests rests;
        bool inside;            /* a group is being folded: */
        struct mrs_buf key;
        struct mrsi_tape ordinals; /* uint64_t: of its members */
        struct mrsi_fold_one one;
    } heavy;
};

/* Whether it is known which number the first document of each partition has, as it is once RESOLVE is over. */
static inline bool
mrsi_fold_is_numbered(const struct mrsi_fold *f)
{
    return f->serials.ended && f->serials.n == f->spill.n_part;
}

/* A record on its way to a partition: `verify` is the group, `sort` the order, `ref` a part
 * of the group's hash; the shape begins with `ord` bytes of kin. */
static inline struct mrs_view
mrsi_fold_key(const struct mrsi_rec *r)
{
    struct mrs_view key = {mrsi_rec_verify(r), r->verify_len};
    return key;
}
int mrsi_fold_compare(struct mrs_view a, struct mrs_view b); /* memcmp, then the shorter first */
/* Eight bytes behind the first `skip` as a number that orders as they do, as far as they reach. */
uint64_t mrsi_fold_prefix(struct mrs_view key, size_t skip);
/* Finds the ranges from what is in `early` and throws that into its partitions: the committing worker, or the only
 * one. */
enum mrs_status mrsi_fold_route_begin(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_err *e);
/* Records, one behind the other, of documents that follow those the worker had before. */
enum mrs_status mrsi_fold_route_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *recs,
                                    struct mrs_err *e);
/* One document's. SKIP: it is refused. */
enum mrs_status mrsi_fold_route(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrsi_fold_parts *x,
                                struct mrs_err *e);
/* The kin with this name, for mrsi_fold_route_glance; what is known of it is on its way from memory. */
uint64_t mrsi_fold_route_look(const struct mrsi_fold *f, const struct mrsi_worker *w, struct mrs_view kin);
/* Of one whose kin stands in the open piece of its partition already; false: nothing was done. */
bool mrsi_fold_route_glance(struct mrsi_fold *f, struct mrsi_worker *w, uint64_t kin,
                            const struct mrs_fold_glance *x, const uint8_t *doc, uint64_t ordinal);
/* The key of its group, which may have to be asked for. SKIP: the document is refused. */
enum mrs_status mrsi_fold_ask_group(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view kin,
                                    struct mrs_buf *out, struct mrs_err *e);
/* The kin of the document that was entered last; name: what enter gave. SKIP: the document is refused. */
enum mrs_status mrsi_fold_ask_kin(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view doc, struct mrs_view name,
                                  struct mrs_buf *out, struct mrs_err *e);
enum mrs_status mrsi_fold_route_end(struct mrsi_fold *f, struct mrs_err *e);
void mrsi_fold_route_clear(struct mrsi_fold *f);
/* What is in early or in partitions, as fields of a mark, and back; reads: more documents will follow. */
enum mrs_status mrsi_fold_route_describe(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                         struct mrs_err *e);
enum mrs_status mrsi_fold_route_apply(struct mrsi_fold *f, struct mrs_view mark, bool reads, struct mrs_err *e);

/* fold_keep.c: puts the record of a document, if the open piece holds its kin and has room; else false. */
bool mrsi_fold_keep(struct mrsi_fold_router *r, const struct mrsi_fold_seen *seen, const struct mrsi_fold_parts *x);
bool mrsi_fold_keep_glance(struct mrsi_fold_router *r, const struct mrsi_fold_seen *seen,
                           const struct mrs_fold_glance *x, const uint8_t *doc, uint64_t ordinal);
/* Puts the record of the kin and then the document's. */
enum mrs_status mrsi_fold_keep_kin(struct mrsi_fold_router *r, struct mrsi_fold_seen *seen,
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
/* What documents bring (struct mrsi_fold_brought), one behind the other, that follow those of the call before. FAIL
 * with gave_up: not in this way. */
enum mrs_status mrsi_fold_gather_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *brought,
                                     struct mrs_err *e);
/* All documents were read. FAIL as above. */
enum mrs_status mrsi_fold_gather_end(struct mrsi_fold *f, struct mrs_err *e);
/* The groups as they are now, as field `groups` of a mark. Going on with less memory than they need gives up (FAIL as
 * above) while they grow; when they are whole they stay where they are. */
enum mrs_status mrsi_fold_gather_describe(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                          struct mrs_err *e);
enum mrs_status mrsi_fold_gather_apply(struct mrsi_fold *f, struct mrs_view mark, struct mrs_err *e);
/* A finished group, in the order of keys. */
struct mrs_fold_small mrsi_fold_small_at(const struct mrsi_fold *f, uint32_t i);

/* ---- fold_one.c: one group through the step ---- */
void mrsi_fold_one_init(struct mrsi_fold_one *o, struct mrsi_fold *f);
void mrsi_fold_one_clear(struct mrsi_fold_one *o); /* harmless twice */
/* One group: what it makes goes to out. */
enum mrs_status mrsi_fold_group(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                struct mrsi_fold_source *source, struct mrs_err *e);
/* The same in two parts, for one in which marks are taken: nothing of it is known yet; the rest of it. */
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

/* ---- fold_inside.c: a group in the middle, in words ---- */
struct mrsi_fold_held { /* a document that was put */
    uint64_t end; /* members up to here, from the document before on, are in it */
    uint64_t off;
    uint64_t len;
};
/* Whether the step can say what it has made of the members up to now. */
bool mrsi_fold_can_mark(const struct mrsi_fold_one *o);
/* Field `group` of a mark: while next is asked for a member, or rest called. apply: o is initialised and kept. */
enum mrs_status mrsi_fold_one_describe(struct mrsi_fold_one *o, struct mrs_build *b, struct mrs_buf *files,
                                       struct mrs_err *e);
enum mrs_status mrsi_fold_one_apply(struct mrsi_fold_one *o, struct mrs_view mark, struct mrs_err *e);
/* The partition that is sorted on disk, and a group in it. */
enum mrs_status mrsi_fold_heavy_describe(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files,
                                         struct mrs_err *e);
enum mrs_status mrsi_fold_heavy_apply(struct mrsi_fold *f, struct mrs_view mark, struct mrs_err *e);

/* ---- passes; each goes on where the mark says if f->pass has one ---- */
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

/* ---- fold_mark.c: a step in the middle, in words ---- */
enum mrs_status mrsi_fold_describe(void *fold, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_fold_apply(struct mrsi_fold *f, struct mrs_err *e); /* as f->pass.from says */

#endif
