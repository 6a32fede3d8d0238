/* SPDX-License-Identifier: Apache-2.0 */
/* join.h - documents of `from` into documents of `into`, within a memory budget; for join*.c, table.c, spill.c and
 * fates.c.
 *
 * Two ways to one result. *Lookup*: what `from` brings is small enough to be held in memory, keyed; `into` is read
 * once. *Route*: the keys of `into` are held, `from` is read once and what each document brings is thrown into the
 * partition of the `into` documents it belongs to (spilled past the budget); then each partition is sorted and
 * spliced while `into` is read again. Ties are always broken by the input order of `from`, so both give the same
 * bytes for any memory and any number of workers. */
#ifndef MRS_RUN_JOIN_H
#define MRS_RUN_JOIN_H

#include "checkpoint.h"
#include "sides.h"
#include "sorter.h"

/* A key, hashed: keys of up to 15 bytes stand here as they are, longer ones as 120 bits of mrs_hash_secret, so that no
 * two different ones are equal here, whoever wrote them. */
struct mrsi_key {
    uint64_t a, b;
};

/* ---- table.c: key -> entries (ord, ref), in the order in which they were added ---- */
struct mrsi_entry {
    uint64_t ord;
    uint32_t ref, next; /* next: index + 1 of the next entry of this key in `more`, 0: none */
};
struct mrsi_slot { /* half a cache line: a key with one entry costs one miss */
    struct mrsi_key key; /* b 0: empty, which no key is */
    struct mrsi_entry first;
};
struct mrsi_table {
    struct mrs_mem *mem;
    struct mrsi_slot *slot;
    struct mrsi_entry *more; /* second and later entries of keys */
    uint64_t n_slot;
    struct mrsi_engine *en;    /* of what follows */
    struct mrsi_temp *entries; /* all of them for a mark, written once; NULL: not yet */
    uint64_t entries_bytes;
};
struct mrsi_logged { /* an entry on its way to a table */
    struct mrsi_key key;
    uint64_t ord;
    uint32_t ref, pad;
};
enum mrs_status mrsi_table_build(struct mrsi_table *t, struct mrs_mem *mem, const struct mrsi_logged *log, uint64_t n,
                                 struct mrs_err *e);
void mrsi_table_clear(struct mrsi_table *t);
/* In a mark (checkpoint.h), as the log that builds it; the table does not change. */
enum mrs_status mrsi_table_describe(struct mrsi_table *t, struct mrsi_engine *en, const char *name,
                                    struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
void mrsi_table_has(struct mrsi_table *t, const struct mrsi_mark_list *list); /* built of a list that marks name */
const struct mrsi_entry *mrsi_table_find(const struct mrsi_table *t, struct mrsi_key key); /* first entry or NULL */
void mrsi_table_fetch(const struct mrsi_table *t,
                      struct mrsi_key key); /* a find of this key will follow: starts to load what it will look at */
static inline const struct mrsi_entry *
mrsi_table_next(const struct mrsi_table *t, const struct mrsi_entry *x)
{
    return x->next ? &t->more[x->next - 1] : NULL;
}

/* ---- fates.c: some bits for each document of from ---- */
enum {
    MRSI_FATE_OUTSIDE = 8,  /* it takes no part */
    MRSI_FATE_REFUSED = 16, /* it was refused itself */
    MRSI_FATE_UNSORTED = 32, /* somebody meets it, but `sort` fails on it: it is refused, its partners do without */
    MRSI_FATE_USED = 7,     /* enum mrs_used */
    MRSI_FATES = 64,        /* number of values */
    MRSI_FATE_CHUNK = 1 << 20
};
struct mrsi_fates {
    struct mrsi_engine *en;
    uint8_t **chunk;
    uint64_t n_chunk, n;
    struct mrsi_temp *temp;
    bool beyond; /* something was to be noted of a document that has none */
};
void mrsi_fates_init(struct mrsi_fates *f, struct mrsi_engine *en);
void mrsi_fates_clear(struct mrsi_fates *f);
/* One thread at a time. */
enum mrs_status mrsi_fates_append(struct mrsi_fates *f, const uint8_t *bits, uint64_t n, struct mrs_err *e);
/* Those of the block that comes next. FAIL MRS_E_FORMAT: another does, for a mark has said other numbers of what was
 * read. */
enum mrs_status mrsi_fates_take(struct mrsi_fates *f, const struct mrs_block *b, const struct mrs_buf *bits,
                                struct mrs_err *e);
/* Any thread. Of a document that has none, nothing is noted but that, and 0 is its fate. */
void mrsi_fates_add(struct mrsi_fates *f, uint64_t order, unsigned bits);
unsigned mrsi_fates_get(const struct mrsi_fates *f, uint64_t order);
/* Once no thread adds any more. FAIL MRS_E_FORMAT: it was to be noted of one that has none, which only the state of
 * another run can name. */
enum mrs_status mrsi_fates_sound(const struct mrsi_fates *f, struct mrs_err *e);
/* FAIL MRS_E_FORMAT: not all documents of the block have theirs, which another run may have left. */
enum mrs_status mrsi_fates_there(const struct mrsi_fates *f, const struct mrs_block *b, struct mrs_err *e);
/* Those that failed in `sort` count as refused from now on; returns how many are new. */
uint64_t mrsi_fates_refuse_unsorted(struct mrsi_fates *f);
static inline void
mrsi_fates_fetch(const struct mrsi_fates *f, uint64_t order) /* mrsi_fates_add will follow */
{
    if (order < f->n) {
        __builtin_prefetch(f->chunk[order / MRSI_FATE_CHUNK] + order % MRSI_FATE_CHUNK, 1);
    }
}
void mrsi_fates_forget_used(struct mrsi_fates *f);
void mrsi_fates_count(const struct mrsi_fates *f, uint64_t counts[MRSI_FATES]); /* how many documents have each value */
/* In a mark (checkpoint.h). */
enum mrs_status mrsi_fates_describe(struct mrsi_fates *f, const char *name, struct mrs_build *b, struct mrs_buf *files,
                                    struct mrs_err *e);
enum mrs_status mrsi_fates_apply(struct mrsi_fates *f, struct mrs_view mark, const char *name, struct mrs_err *e);

/* ---- why.c ---- */
/* Looks for the reason where documents do not match; before the collections become what the step has written. fates:
 * of side 0, NULL: a LINK has none. */
enum mrs_status mrsi_why_look(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f, struct mrs_err *e);

/* ---- records: what a from document brings to an into document ---- */
struct mrsi_rec {
    uint32_t total;   /* bytes with this head, padded to 8 */
    uint32_t ref;
    uint64_t ord;     /* of the into document; in lookups unused */
    uint64_t order;   /* of the from document */
    uint32_t sort_len, verify_len, shape_len;
    uint32_t failed : 2;    /* MRSI_REC_SHAPELESS: the shape is "where" NUL "why" NUL instead; or one of the others */
    uint32_t is_far : 1;    /* the shape stays in a file of from; struct mrsi_far stands here instead */
    uint32_t gap : 29;      /* is_far: see there */
};
/* A shape that is a document of from but for one run of its bytes, which begins at `gap` and has gap_len of them. */
struct mrsi_far {
    uint64_t at : 39;       /* of the document, as mrsi_mapped counts them */
    uint64_t gap_len : 25;
};
enum {
    MRSI_REC_SHAPELESS = 1,
    MRSI_REC_UNSORTED = 2, /* from here on no match, but a reference to it is not dangling */
    MRSI_REC_REFUSED = 3   /* `where` failed on it */
};
/* What one document may bring; more refuses it. Lengths in a record have 32 bits. */
#define MRSI_SHAPE_MAX (16u * MRS_DOC_READ_MAX)
static inline const uint8_t *
mrsi_rec_verify(const struct mrsi_rec *r) /* aligned: struct mrsi_verify */
{
    return (const uint8_t *)(r + 1);
}
static inline const uint8_t *
mrsi_rec_sort(const struct mrsi_rec *r)
{
    return mrsi_rec_verify(r) + r->verify_len;
}
static inline const uint8_t *
mrsi_rec_shape(const struct mrsi_rec *r)
{
    return mrsi_rec_sort(r) + r->sort_len;
}
static inline uint32_t
mrsi_rec_here(const struct mrsi_rec *r) /* bytes that stand where the shape would */
{
    return r->is_far ? (uint32_t)sizeof(struct mrsi_far) : r->shape_len;
}
static inline uint32_t
mrsi_rec_total(const struct mrsi_rec *r) /* by its other lengths */
{
    return (uint32_t)((sizeof *r + r->verify_len + r->sort_len + (size_t)mrsi_rec_here(r) + 7) & ~(size_t)7);
}
/* Whether a record lies whole in the n bytes at p, none of its parts behind its end: another run may have left it. Any
 * alignment. */
static inline bool
mrsi_rec_is_whole(const uint8_t *p, uint64_t n)
{
    struct mrsi_rec r;
    if (n < sizeof r) {
        return false;
    }
    memcpy(&r, p, sizeof r);
    return r.total <= n && r.total % 8 == 0 &&
           (uint64_t)sizeof r + r.verify_len + r.sort_len + mrsi_rec_here(&r) <= r.total;
}
/* What a record is made of, before it has a place. */
struct mrsi_rec_parts {
    const uint8_t *verify, *sort, *shape;
};
static inline void
mrsi_rec_fill(uint8_t *p, const struct mrsi_rec *h, const struct mrsi_rec_parts *x)
{
    memcpy(p, h, sizeof *h);
    p += sizeof *h;
    mrs_copy_short(p, x->verify, h->verify_len);
    mrs_copy_short(p + h->verify_len, x->sort, h->sort_len);
    mrs_copy_short(p + h->verify_len + h->sort_len, x->shape, mrsi_rec_here(h));
}

/* Asks for huge pages, which cost less to touch first and are found faster at random. A wish only. */
void mrsi_wish_huge(void *p, size_t n);

/* ---- spill.c: records thrown into partitions of the into ordinals ---- */
struct mrsi_piece {      /* records of one stream, ascending by order */
    uint8_t *p;          /* in memory, or NULL: in the file alone */
    uint64_t off;        /* in the file; MRSI_NO_PLACE: in memory alone */
    uint32_t n;
    uint32_t stream;     /* of a worker; a run that goes on begins new ones */
    uint64_t sum;        /* of the bytes in the file, where a mark may name it */
};
#define MRSI_NO_PLACE UINT64_MAX
struct mrsi_partition {
    uint64_t lo, hi;     /* ordinals */
    struct mrs_buf pieces;
    uint64_t bytes, records;
};
struct mrsi_spill {
    struct mrsi_engine *en;
    struct mrsi_partition *part;
    uint32_t n_part;
    uint32_t spare;      /* partitions that may still be added */
    uint32_t added;      /* of n_part; they have no ordinals */
    uint64_t total;      /* ordinals */
    double parts_per_ordinal;
    uint64_t memory;     /* bytes of records that may stay in memory */
    _Atomic uint64_t held;
    struct mrs_buf slabs; /* pointers */
    uint8_t *slab_at, *slab_end;
    uint32_t piece_bytes;
    struct mrsi_temp *temp;
    _Atomic uint64_t spilled;
    bool unordered;       /* records do not come in the order of from: a load sorts them */
    uint32_t streams, old_streams; /* of all pieces; of the run that this one goes on with */
    struct mrsi_spiller *spillers; /* with open pieces */
    struct mrsi_temp *list;        /* all pieces for a mark, as long as no more are added; NULL: not made */
    uint64_t list_bytes, listed, n_pieces;
    pthread_mutex_t lock;
};
/* A worker's open pieces, one a partition. */
struct mrsi_spiller {
    struct mrsi_spill *sp;
    struct mrsi_spiller *next;
    uint32_t stream;
    struct { uint8_t *p; uint32_t n, cap; } *open;
    uint8_t *large; /* room of a record that is larger than a piece */
};
enum mrs_status mrsi_spill_init(struct mrsi_spill *sp, struct mrsi_engine *en, uint64_t ordinals,
                                uint64_t expected_bytes, struct mrs_err *e);
/* Before there are spillers: n more partitions may be added later on, behind the others and without ordinals. */
enum mrs_status mrsi_spill_spare(struct mrsi_spill *sp, uint32_t n, struct mrs_err *e);
void mrsi_spill_add(struct mrsi_spill *sp); /* one thread at a time */
uint64_t mrsi_spill_bytes(struct mrsi_spill *sp, uint32_t part); /* in pieces that were handed over */
void mrsi_spill_clear(struct mrsi_spill *sp);
enum mrs_status mrsi_spiller_init(struct mrsi_spiller *s, struct mrsi_spill *sp, uint32_t worker, struct mrs_err *e);
enum mrs_status mrsi_spiller_put(struct mrsi_spiller *s, const struct mrsi_rec *head, const struct mrsi_rec_parts *x,
                                 struct mrs_err *e);
/* The same by hand, for records of another kind: take, if they fit, else open first. What is larger than a piece lies
 * alone: it is handed over by large as soon as it is filled. */
static inline bool
mrsi_spiller_fits(const struct mrsi_spiller *s, uint32_t part, size_t n)
{
    return s->open[part].cap - s->open[part].n >= n;
}
enum mrs_status mrsi_spiller_open(struct mrsi_spiller *s, uint32_t part, size_t n, struct mrs_err *e);
static inline uint8_t *
mrsi_spiller_take(struct mrsi_spiller *s, uint32_t part, uint32_t n)
{
    if (s->large) {
        return s->large;
    }
    uint8_t *at = s->open[part].p + s->open[part].n;
    s->open[part].n += n;
    __builtin_prefetch(at + n, 1); /* where this partition's next record begins, some hundred records from now */
    __builtin_prefetch(at + n + 64, 1);
    return at;
}
enum mrs_status mrsi_spiller_large(struct mrsi_spiller *s, uint32_t part, size_t n, struct mrs_err *e);
enum mrs_status mrsi_spiller_end(struct mrsi_spiller *s, struct mrs_err *e); /* hands over the open pieces */
void mrsi_spiller_clear(struct mrsi_spiller *s);
/* The sum of a piece's bytes; reads one, and holds it against the sum where another run wrote it. */
uint64_t mrsi_piece_sum(const struct mrsi_spill *sp, const uint8_t *p, uint32_t n);
enum mrs_status mrsi_piece_read(const struct mrsi_spill *sp, const struct mrsi_piece *x, uint8_t *to,
                                struct mrs_err *e);
/* For spill_mark.c: room for a piece, which lives as long as the spill (NULL: no memory); gives all partitions, which
 * are empty, their ordinals. */
uint8_t *mrsi_spill_room(struct mrsi_spill *sp, size_t n, struct mrs_err *e);
void mrsi_spill_cut(struct mrsi_spill *sp);
/* ---- spill_mark.c: in a mark (checkpoint.h) ---- */
/* Also while spillers have open pieces. What lies in memory is written to the file once, and stays in memory. */
enum mrs_status mrsi_spill_describe(struct mrsi_spill *sp, const char *name, struct mrs_build *b,
                                    struct mrs_buf *files, struct mrs_err *e);
/* Behind init with any number of ordinals: the partitions become those of the mark, and all pieces lie in the file. */
enum mrs_status mrsi_spill_apply(struct mrsi_spill *sp, struct mrs_view mark, const char *name, struct mrs_err *e);

/* A record and what is asked of it again and again: its ordinal from `lo` on, its reference. */
struct mrsi_loaded {
    const struct mrsi_rec *rec;
    uint32_t rel, ref;
};
/* Records of a partition with lo <= ord < hi, loaded: pieces in memory are used where they are, the others are read
 * into buf. list: struct mrsi_loaded ascending by order. */
enum mrs_status mrsi_partition_load(struct mrsi_spill *sp, const struct mrsi_partition *p, uint64_t lo, uint64_t hi,
                                    struct mrs_buf *buf, struct mrs_buf *list, struct mrs_err *e);

/* Only the pieces, whatever lies in them: *pieces tells where each of p->pieces is. */
enum mrs_status mrsi_partition_bring(struct mrsi_spill *sp, const struct mrsi_partition *p, struct mrs_buf *buf,
                                     uint8_t ***pieces, struct mrs_err *e);
/* Calls fn with each piece, holding one of them at a time. */
typedef enum mrs_status mrsi_piece_fn(void *arg, const uint8_t *p, uint32_t n, struct mrs_err *e);
enum mrs_status mrsi_partition_pieces(struct mrsi_spill *sp, const struct mrsi_partition *p, mrsi_piece_fn *fn,
                                      void *arg, struct mrs_err *e);
/* Calls fn with each record with lo <= ord < hi, in no order, holding one piece at a time. */
enum mrs_status mrsi_partition_each(struct mrsi_spill *sp, const struct mrsi_partition *p, uint64_t lo, uint64_t hi,
                                    enum mrs_status (*fn)(void *arg, const struct mrsi_rec *r, struct mrs_err *e),
                                    void *arg, struct mrs_err *e);

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
    MRSI_JOIN_MERGE, /* what both have brought is merged, where keys do not fit */
    MRSI_JOIN_EMIT,  /* what is there is read and copied; into is written */
    MRSI_JOIN_SETTLE /* from is written, or what is left of it */
};
struct mrsi_merging;
struct mrsi_join {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_join_ops *ops;
    bool self;                  /* from and into are one collection */
    bool lookup;
    bool merge;                 /* the keys of into do not fit: both sides are sorted by key and merged */
    struct mrsi_sorter into_keys, from_recs;
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
    struct mrs_buf left;        /* uint64_t ordinal and document, for each of from that met nobody */
    uint64_t n_left;
    bool left_over;             /* there are too many of them, or nobody knows which they are */
    struct mrs_buf slabs;       /* lookup: blocks of records */
    uint8_t *slab_at;
    size_t slab_left;
    uint64_t n_from_bytes; /* of from, guessed */
    uint64_t held;
    uint64_t n_into, n_from;
    struct mrsi_sides sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_join_stage stage;
    bool restart;               /* EMIT again, because documents were found that cannot be sorted */
    bool in_block;              /* EMIT: a block of into is being cut into slices */
    struct mrsi_refused_mark refused; /* before anything was written */
    struct mrsi_mark_list log_kept, left_kept;
    struct mrsi_merging *merging; /* while a merge runs */
};
/* ---- join_mark.c: marks (checkpoint.h) ---- */
void mrsi_join_marks(struct mrsi_join *j); /* how its passes are described; takes the mark to go on from, if any */
/* Becomes what the mark says; writers are open as in mrsi_pass_apply. */
enum mrs_status mrsi_join_apply(struct mrsi_join *j, struct mrs_err *e);

/* Bytes of BSON that a collection holds, guessed from what is known without reading it. */
uint64_t mrsi_guess_bytes(const struct mrsi_engine *en, const struct mrsi_coll *c);

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
enum mrs_status mrsi_hash_keys(struct mrsi_join *j, struct mrsi_worker *w, bool into, struct mrsi_hashed *h,
                               struct mrs_err *e);
/* Whether a record's verified pairs meet those of an into document. */
bool mrsi_verified(const struct mrsi_join *j, const struct mrsi_rec *r, const struct mrsi_hashed *into);

/* join.c, for going on */
enum mrs_status mrsi_join_open_writers(struct mrsi_join *j, struct mrs_err *e); /* but that of from */
enum mrs_status mrsi_join_build_table(struct mrsi_join *j, struct mrs_err *e);  /* of the log, which ends with it */
/* join_read.c */
void mrsi_join_choose_hashed(struct mrsi_join *j);
enum mrs_status mrsi_join_read_into_keys(struct mrsi_join *j, struct mrs_err *e);
enum mrs_status mrsi_join_read_from(struct mrsi_join *j, struct mrs_err *e);
/* join_merge.c: what to do when the keys of into outgrow memory. */
enum mrs_status mrsi_merge_into(struct mrsi_join *j, const struct mrsi_logged *l, size_t n, struct mrs_err *e);
enum mrs_status mrsi_merge_from(struct mrsi_join *j, const struct mrs_buf *recs,
                                struct mrs_err *e); /* key and record, one behind the other */
enum mrs_status mrsi_merge_route(struct mrsi_join *j, struct mrs_err *e);
/* Where the merge stands. */
enum mrs_status mrsi_merge_describe(const struct mrsi_join *j, struct mrs_build *b, struct mrs_buf *files,
                                    struct mrs_err *e);
/* ---- join_far.c: shapes that stay in files of from ---- */
void mrsi_far_clear(struct mrsi_join *j);
/* Where the bytes of a block stay; *p NULL: nowhere. To be asked block by block, in their order. */
enum mrs_status mrsi_far_block(struct mrsi_join *j, const struct mrs_block *b, const uint8_t **p, uint64_t *at,
                               struct mrs_err *e);
/* Whether the shape can stay: says so in r, and in *far, which is no longer, what stands there instead. doc: what the
 * shape was made of; at: where that stays. */
bool mrsi_far_note(struct mrs_view doc, uint64_t at, struct mrs_view shape, struct mrsi_rec *r, struct mrsi_far *far);
/* Where the document of a far record lies; NULL: nowhere, which only the state of another run can say. */
const uint8_t *mrsi_far_find(const struct mrsi_join *j, const struct mrsi_rec *r);
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
/* For marks (checkpoint.h). */
enum mrs_status mrsi_far_apply(struct mrsi_join *j, struct mrs_err *e);

/* join_emit.c */
enum mrs_status mrsi_join_emit(struct mrsi_join *j, struct mrs_err *e);
/* join_settle.c */
enum mrs_status mrsi_refuse_unsorted(struct mrsi_join *j, struct mrsi_worker *w, uint32_t side, uint64_t ordinal,
                                     struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_settle_from(struct mrsi_join *j, struct mrs_err *e);

#endif
