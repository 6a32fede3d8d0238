/* SPDX-License-Identifier: Apache-2.0 */
/* links.h - completes references of two collections from each other; for link*.c.
 *
 * One pass over each side collects the keys of all documents and of all references (in one pass if both sides are one
 * collection). References then become ordinals. Which document lists which, the step's decision on each child, and the
 * added references follow from flat tables of ordinals, without reading documents. A last pass over each changed side
 * writes the references. A document that cannot be written with them is refused, and then nothing may be derived from
 * it: everything is written again without it, which ends, because every time fewer documents take part. All tables move
 * to mapped files when they exceed their share of memory; the result depends neither on that nor on the number of
 * threads. */
#ifndef MRS_RUN_LINK_H
#define MRS_RUN_LINK_H

#include "run/pass/checkpoint.h"
#include "run/store/ordinal_index.h"
#include "run/pass/step_outputs.h"
#include "run/account/fates.h"
#include "run/store/sorter.h"
#include "run/store/spill.h"
#include "run/store/table.h"
#include "mongoreshape/link.h"
#include "mongoreshape/number_table.h"
#include "run/store/file_array.h"
#include "mongoreshape/join_ops.h"

/* Bits of a document in struct mrsi_fates, in addition to MRSI_FATE_OUTSIDE (moved, or refused when read) and
 * MRSI_FATE_REFUSED (refuse it when written, unless OUTSIDE). MRSI_FATE_UNSORTED: it could not be written, and is
 * refused from the next pass on. MRSI_FATE_USED: for a child enum mrs_link_verdict without ORPHAN. */
enum {
    MRSI_LINK_BROKEN = 1,     /* parent: one of its references is dangling */
    MRSI_LINK_TWICE = 64,     /* another document has the same `_id` */
    MRSI_LINK_SORTLESS = 128  /* of a child: it has no sort key */
};

/* The document that holds a reference: an ordinal, and bits. */
#define MRSI_REF_LIST (1ull << 63)  /* it is an element of a list */
#define MRSI_REF_NONE (1ull << 62)  /* no reference: records that the document has a list */
#define MRSI_REF_OWNER (MRSI_REF_NONE - 1)

/* The parents that list a child: the first parent + 1, 0: none; and bits. */
#define MRSI_LISTED_MORE (1ull << 63) /* so do other parents */
#define MRSI_LISTED_LIST (1ull << 62) /* the child itself has a list */
#define MRSI_LISTED_ORPHAN (1ull << 61)
#define MRSI_LISTED_BY (MRSI_LISTED_ORPHAN - 1)

/* References from documents of one side to the other, in order. */
struct mrsi_edges {
    struct mrsi_mapped_mem start, to; /* uint64_t: start[i] .. start[i + 1] */
    uint64_t n;                 /* number of entries of `to` */
};

struct mrsi_link_side {
    struct mrsi_index ids;        /* empty if the other side has the same */
    struct mrsi_fates fates;
    struct mrsi_file_array owners; /* uint64_t for each reference, ascending by document: MRSI_REF_ bits */
    struct mrsi_file_array keys;  /* struct mrs_hash128 for each: its key, if the other side is read later */
    struct mrsi_file_array found; /* uint64_t for each: the ordinal it refers to + 1, 0: none; if known by then, */
    struct mrsi_mapped_mem named; /* else here, when everything is read */
    struct mrsi_file_array at, bytes; /* for each document: offsets of its `_id` and sort key in bytes */
    bool keeps;                   /* those are needed */
    struct mrsi_edges gains;      /* references that each document gains: ordinals of the other side */
    uint64_t seen;                /* number of documents read */
};

/* The stages of a step. Savepoints are possible while documents are read and written; a resumed run repeats the
 * decisions in between, which use only tables. */
enum mrsi_link_stage { MRSI_LINK_READ, MRSI_LINK_DECIDE, MRSI_LINK_WRITE, MRSI_LINK_DONE };

struct mrsi_link_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_link_ops *ops;
    struct mrs_link_wants wants;
    bool self;                   /* both sides are one collection */
    struct mrsi_link_side side[2];
    struct mrsi_mapped_mem listed; /* for each child: MRSI_LISTED_ bits */
    struct mrsi_mapped_mem parent; /* for each child with LEAVES: the parent it refers to + 1, 0: none; wants.leaves */
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_link_stage stage;
    struct mrsi_refused_position log; /* of refused documents, before any output */
    uint32_t now;                /* side being read */
    uint64_t written;            /* bits of the sides with a writer */
    bool resumed;                /* tables are from the stopped run */
    bool late;                   /* a document could not be written */
};

static inline struct mrsi_index *
mrsi_link_ids(struct mrsi_link_run *l, uint32_t side)
{
    return &l->side[l->self ? 0 : side].ids;
}
static inline uint64_t *
mrsi_mapped_mem_u64(const struct mrsi_mapped_mem *a)
{
    return a->p;
}
static inline const uint64_t *
mrsi_file_array_u64(const struct mrsi_file_array *t)
{
    return (const uint64_t *)(const void *)t->p;
}
/* Can references of a side be resolved while it is read? The other side's documents must be known. */
static inline bool
mrsi_link_is_second(const struct mrsi_link_run *l, uint32_t side)
{
    return side == 1 && !l->self;
}
/* The ordinal of each reference of a side + 1, 0: none; when everything is read. */
static inline const uint64_t *
mrsi_link_named(const struct mrsi_link_run *l, uint32_t side)
{
    return mrsi_link_is_second(l, side) ? mrsi_file_array_u64(&l->side[side].found) :
            mrsi_mapped_mem_u64(&l->side[side].named);
}
/* Must nothing be derived from a document? */
static inline bool
mrsi_link_refused(const struct mrsi_link_run *l, uint32_t side, uint64_t ordinal)
{
    unsigned bits = mrsi_fates_get(&l->side[side].fates, ordinal);
    if (l->self) {
        bits |= mrsi_fates_get(&l->side[!side].fates, ordinal);
    }
    return bits & MRSI_FATE_REFUSED;
}
/* The stored `_id` and sort key of a document. */
struct mrsi_link_kept {
    uint32_t id_len, sort_len;
    uint8_t type;
};
enum { MRSI_LINK_KEPT = 9 }; /* size of the header of both */
static inline const uint8_t *
mrsi_link_kept(const struct mrsi_link_run *l, uint32_t side, uint64_t ordinal, struct mrsi_link_kept *out)
{
    uint64_t at;
    memcpy(&at, l->side[side].at.p + ordinal * sizeof at, sizeof at);
    const uint8_t *p = l->side[side].bytes.p + at;
    *out = (struct mrsi_link_kept){mrs_le32(p), mrs_le32(p + 4), p[8]};
    return p + MRSI_LINK_KEPT;
}
static inline struct mrs_hash128
mrsi_link_hash(const struct mrsi_link_run *l, const struct mrs_keys *k, uint32_t i)
{
    return mrs_hash_secret(&l->en->secret, 0, k->bytes.p + k->span[i].off, k->span[i].len);
}

/* links_read.c: collects documents into tables, then resolves keys to ordinals. */
enum mrs_status mrsi_link_read(struct mrsi_link_run *l, struct mrs_err *e);
enum mrs_status mrsi_link_name(struct mrsi_link_run *l, struct mrs_err *e);
/* links_decide.c */
enum mrs_status mrsi_link_decide(struct mrsi_link_run *l, struct mrs_err *e);
/* Facts on a child from the tables: which parents list it. one: shape ONE, the parent it refers to + 1, 0: none, or
 * dangling. */
void mrsi_link_listed(const struct mrsi_link_run *l, uint64_t child, uint64_t one, struct mrs_link_facts *f);
/* links_items.c: the final references of a document. */
struct mrsi_link_items {      /* for one job; the buffers keep their memory */
    struct mrs_buf item;      /* struct mrs_link_item */
    struct mrs_buf other;     /* uint64_t: the ordinal of each item; MRSI_NO_ORDINAL */
    struct mrs_number_table set; /* scratch: ordinals in the list */
    struct mrs_buf sort;      /* scratch */
    struct mrs_buf bytes[2];  /* the spliced document */
    uint32_t n_new;
};
void mrsi_link_items_init(struct mrsi_link_items *x, struct mrs_mem *mem);
void mrsi_link_items_clear(struct mrsi_link_items *x);
/* Replaces *doc by the document with the references of one side. OK; SKIP: w->err has the reason. */
enum mrs_status mrsi_link_put(struct mrsi_link_run *l, struct mrsi_worker *w, struct mrsi_link_items *x, uint32_t side,
                              uint64_t ordinal, struct mrs_view *doc, struct mrs_err *e);
/* links_savepoint.c: for struct mrsi_pass; load opens the writers. */
enum mrs_status mrsi_link_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_link_from_mark(struct mrsi_link_run *l, struct mrs_err *e);
/* Validates complete tables of the stopped run. */
enum mrs_status mrsi_link_check(const struct mrsi_link_run *l, struct mrs_err *e);
/* links_write.c */
/* Opens the writers of all sides that are written; in a resumed step those it had. */
enum mrs_status mrsi_link_open(struct mrsi_link_run *l, struct mrs_err *e);
enum mrs_status mrsi_link_write(struct mrsi_link_run *l, struct mrs_err *e);

#endif
