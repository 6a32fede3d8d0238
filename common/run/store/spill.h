/* SPDX-License-Identifier: Apache-2.0 */
/* spill.h - records of documents of `from`, distributed to partitions by the ordinal of their document of `into`;
 * beyond the budget in a temporary file. */
#ifndef MRSI_RUN_SPILL_H
#define MRSI_RUN_SPILL_H

#include "spill_layout.h"
#include "state.h"

/* ---- records: data of a from document for an into document ---- */
struct mrsi_rec {
    uint32_t total;   /* size with this header, padded to 8 */
    uint32_t ref;
    uint64_t ord;     /* of the into document; unused in lookups */
    uint64_t order;   /* of the from document */
    uint32_t sort_len, verify_len, payload_len;
    uint32_t failed : 2;    /* MRSI_REC_NO_PAYLOAD: "where" NUL "why" NUL instead of the payload; or another reason */
    uint32_t is_far : 1;    /* the payload stays in a file of from; the record has a struct mrsi_far */
    uint32_t gap : 29;      /* is_far: see struct mrsi_far */
};
/* A payload that is a document of from without the gap_len bytes at offset `gap`. */
struct mrsi_far {
    uint64_t at : 39;       /* of the document, in the offsets of mrsi_mapped */
    uint64_t gap_len : 25;
};
enum {
    MRSI_REC_NO_PAYLOAD = 1,
    MRSI_REC_UNSORTED = 2, /* no match from here on, but a reference to it is not dangling */
    MRSI_REC_REFUSED = 3   /* `where` failed on it */
};
/* Maximum sizes; more refuses the document. Lengths in a record have 32 bits. */
#define MRSI_PAYLOAD_MAX (16u * MRS_DOC_READ_MAX)
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
mrsi_rec_payload(const struct mrsi_rec *r)
{
    return mrsi_rec_sort(r) + r->sort_len;
}
static inline uint32_t
mrsi_rec_here(const struct mrsi_rec *r) /* size of the data in the place of the payload */
{
    return r->is_far ? (uint32_t)sizeof(struct mrsi_far) : r->payload_len;
}
static inline uint32_t
mrsi_rec_total(const struct mrsi_rec *r) /* computed from its other lengths */
{
    return (uint32_t)((sizeof *r + r->verify_len + r->sort_len + (size_t)mrsi_rec_here(r) + 7) & ~(size_t)7);
}
/* Is a record complete in the n bytes at p, with all parts inside? The stopped run may have left it. Any alignment. */
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
/* The parts of a record before it is written. */
struct mrsi_rec_parts {
    const uint8_t *verify, *sort, *payload;
};
static inline void
mrsi_rec_fill(uint8_t *p, const struct mrsi_rec *h, const struct mrsi_rec_parts *x)
{
    memcpy(p, h, sizeof *h);
    p += sizeof *h;
    mrs_copy_short(p, x->verify, h->verify_len);
    mrs_copy_short(p + h->verify_len, x->sort, h->sort_len);
    mrs_copy_short(p + h->verify_len + h->sort_len, x->payload, mrsi_rec_here(h));
}

/* ---- spill.c: distributes records to partitions of the into ordinals ---- */
struct mrsi_spill_piece {      /* records of one stream, ascending by order */
    uint8_t *p;          /* in memory, or NULL: only in the file */
    uint64_t off;        /* in the file; MRSI_NO_PLACE: only in memory */
    uint32_t n;
    uint32_t stream;     /* a stream is of one worker; a resumed run begins new ones */
    uint64_t sum;        /* checksum of its bytes in the file, if a savepoint may refer to it */
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
    uint32_t spare;      /* partitions that can still be added */
    uint32_t added;      /* number added (in n_part); they have no ordinals */
    uint64_t first, total; /* ordinals */
    double parts_per_ordinal;
    uint64_t memory;     /* maximum bytes of records in memory */
    _Atomic uint64_t used_bytes;
    struct mrs_buf slabs; /* pointers */
    uint8_t *slab_at, *slab_end;
    uint32_t piece_bytes, piece_most;
    struct mrsi_temp *temp;
    _Atomic uint64_t spilled;
    uint32_t streams, old_streams; /* of all pieces; of those from the stopped run */
    struct mrsi_spiller *spillers; /* with open pieces */
    struct mrsi_temp *list;        /* all pieces for a savepoint, as long as no more are added; NULL: not made */
    uint64_t list_bytes, listed, n_pieces;
    pthread_mutex_t lock;
};
/* A worker's open pieces, one for each partition. */
struct mrsi_spiller {
    struct mrsi_spill *sp;
    struct mrsi_spiller *next;
    uint32_t stream;
    struct { uint8_t *p; uint32_t n, cap; } *open;
    uint8_t *large; /* memory of a record that is larger than a piece */
};
enum mrs_status mrsi_spill_init(struct mrsi_spill *sp, struct mrsi_engine *en, uint64_t ordinals,
                                const struct mrsi_spill_layout *layout, struct mrs_err *e);
/* Before there are spillers: n more partitions may be added later, after the others and without ordinals. */
enum mrs_status mrsi_spill_spare(struct mrsi_spill *sp, uint32_t n, struct mrs_err *e);
void mrsi_spill_add(struct mrsi_spill *sp); /* one thread at a time */
uint64_t mrsi_spill_bytes(struct mrsi_spill *sp, uint32_t part); /* in completed pieces */
/* spill_split.c. sub, initialized by this or zeroed, gets the records of a partition of sp in partitions of its own. It
 * is cleared like any other, and reuses its file and memory for the next partition. sp must have no spiller. */
enum mrs_status mrsi_spill_split(struct mrsi_spill *sub, const struct mrsi_spill *sp, uint32_t part,
                                 struct mrs_err *e);
bool mrsi_spill_is_heavy(const struct mrsi_spill *sp, uint32_t part); /* too large for a worker */
/* The partition of an ordinal: sp's, or, if that is too large and has several ordinals, one of those it is split into
 * when it is first asked for. *in: sp or &sub->spill. */
struct mrsi_spill_split {
    struct mrsi_spill spill;
    uint32_t of; /* sp's partition + 1; 0: none yet */
};
enum mrs_status mrsi_spill_find(const struct mrsi_spill *sp, struct mrsi_spill_split *sub, uint64_t ord,
                                const struct mrsi_spill **in, uint32_t *part, struct mrs_err *e);
void mrsi_spill_clear(struct mrsi_spill *sp);
void mrsi_slabs_free(struct mrs_mem *mem, struct mrs_buf *slabs); /* pointers to memory, and the memory */
uint32_t mrsi_spill_part_of(const struct mrsi_spill *sp, uint64_t ord); /* for one of its ordinals */
enum mrs_status mrsi_spiller_init(struct mrsi_spiller *s, struct mrsi_spill *sp, uint32_t worker, struct mrs_err *e);
enum mrs_status mrsi_spiller_put(struct mrsi_spiller *s, const struct mrsi_rec *head, const struct mrsi_rec_parts *x,
                                 struct mrs_err *e);
/* Low-level calls for records of another kind: take, if they fit, else open first. A record larger than a piece is
 * alone: call large after it is filled. */
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
    __builtin_prefetch(at + n, 1); /* position of this partition's next record, some hundred records from now */
    __builtin_prefetch(at + n + 64, 1);
    return at;
}
enum mrs_status mrsi_spiller_large(struct mrsi_spiller *s, uint32_t part, size_t n, struct mrs_err *e);
enum mrs_status mrsi_spiller_end(struct mrsi_spiller *s, struct mrs_err *e); /* completes the open pieces */
void mrsi_spiller_clear(struct mrsi_spiller *s);
/* spill_workers.c: calls pass while each worker has a spiller of its own as `local`, and completes their pieces. */
enum mrs_status mrsi_spill_pass(struct mrsi_spill *sp, enum mrs_status (*pass)(void *arg, struct mrs_err *e),
                                void *arg, struct mrs_err *e);
/* The checksum of a piece. */
uint64_t mrsi_piece_sum(const struct mrsi_spill *sp, const uint8_t *p, uint32_t n);
/* For spill_savepoint.c: sets the ordinals of all (empty) partitions. */
void mrsi_spill_cut(struct mrsi_spill *sp);
/* ---- spill_savepoint.c: in a savepoint (checkpoint.h) ---- */
/* Also while spillers have open pieces. Data in memory is written to the file once, and stays in memory. */
enum mrs_status mrsi_spill_save(struct mrsi_spill *sp, const char *name, struct mrs_build *b,
                                struct mrs_buf *files, struct mrs_err *e);
/* After init with any number of ordinals: restores the partitions of the savepoint; all pieces are in the file. */
enum mrs_status mrsi_spill_load(struct mrsi_spill *sp, struct mrs_view saved, const char *name, struct mrs_err *e);

/* A record with its most frequently used values: its ordinal relative to `lo`, its reference. */
struct mrsi_loaded {
    const struct mrsi_rec *rec;
    uint32_t rel, ref;
};
/* Loads the records of a partition with lo <= ord < hi: pieces in memory are used in place, the others are read into
 * buf. list: struct mrsi_loaded, stream by stream, in the order of filling. */
enum mrs_status mrsi_partition_load(const struct mrsi_spill *sp, const struct mrsi_partition *p, uint64_t lo,
                                    uint64_t hi, struct mrs_buf *buf, struct mrs_buf *list, struct mrs_err *e);

/* Loads only the pieces. *pieces: address of each of p->pieces. */
enum mrs_status mrsi_partition_load_pieces(const struct mrsi_spill *sp, const struct mrsi_partition *p,
                                           struct mrs_buf *buf, uint8_t ***pieces, struct mrs_err *e);
/* Calls fn with each piece, one in memory at a time. */
typedef enum mrs_status mrsi_piece_fn(void *arg, const uint8_t *p, uint32_t n, struct mrs_err *e);
enum mrs_status mrsi_partition_pieces(const struct mrsi_spill *sp, const struct mrsi_partition *p, mrsi_piece_fn *fn,
                                      void *arg, struct mrs_err *e);
/* Calls fn with each record with lo <= ord < hi, unordered, one piece in memory at a time. */
enum mrs_status mrsi_partition_each(const struct mrsi_spill *sp, const struct mrsi_partition *p, uint64_t lo,
                                    uint64_t hi,
                                    enum mrs_status (*fn)(void *arg, const struct mrsi_rec *r, struct mrs_err *e),
                                    void *arg, struct mrs_err *e);

#endif
