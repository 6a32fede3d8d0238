/* SPDX-License-Identifier: Apache-2.0 */
/* links.h - references of two collections complete each other; for link*.c.
 *
 * One pass over each side collects the keys of all documents and of all references (those of a collection that is both
 * sides in the same pass). References then become ordinals. Which document lists which, what the step decides about
 * each child, and which references are added follow from flat tables of ordinals, without reading documents. A last
 * pass over each changed side writes the references. A document that cannot be written with them is refused, and then
 * nothing may be derived from it: everything is written again without it, which ends, because every time fewer
 * documents take part. All tables move to mapped files when they outgrow their share of memory; the result depends
 * neither on that nor on the number of threads. */
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

/* Bits of a document in struct mrsi_fates, next to MRSI_FATE_OUTSIDE (gone, or refused when it was read) and
 * MRSI_FATE_REFUSED (to be refused when it is written, if it is not OUTSIDE). MRSI_FATE_UNSORTED: it could not be
 * written, and is refused from the next pass on. MRSI_FATE_USED: of a child enum mrs_link_verdict without ORPHAN. */
enum {
    MRSI_LINK_BROKEN = 1,     /* of a parent: some reference of it names no document */
    MRSI_LINK_TWICE = 64,     /* another document has the same `_id` */
    MRSI_LINK_SORTLESS = 128  /* of a child: it has no sort key */
};

/* Whose a reference is: an ordinal, and bits. */
#define MRSI_REF_LIST (1ull << 63)  /* it is in a list */
#define MRSI_REF_NONE (1ull << 62)  /* there is no reference: it only says that there is a list */
#define MRSI_REF_WHOSE (MRSI_REF_NONE - 1)

/* What is known of who lists a child: the first parent + 1, 0: none; and bits. */
#define MRSI_LISTED_MORE (1ull << 63) /* others list it as well */
#define MRSI_LISTED_LIST (1ull << 62) /* the child itself holds a list */
#define MRSI_LISTED_ORPHAN (1ull << 61)
#define MRSI_LISTED_BY (MRSI_LISTED_ORPHAN - 1)

/* From documents of one side to documents of the other, in order. */
struct mrsi_edges {
    struct mrsi_mapped_mem start, to; /* uint64_t: start[i] .. start[i + 1] */
    uint64_t n;                 /* of to */
};

struct mrsi_link_side {
    struct mrsi_index ids;        /* empty where the other side's are the same */
    struct mrsi_fates fates;
    struct mrsi_file_array whose; /* uint64_t for each reference, ascending by document: MRSI_REF_ */
    struct mrsi_file_array keys;  /* struct mrs_hash128 for each: what it names; where the others are read later */
    struct mrsi_file_array found; /* uint64_t for each: the ordinal that it names + 1, 0: none; if known by then, */
    struct mrsi_mapped_mem named; /* else here, when all is read */
    struct mrsi_file_array at, bytes; /* of each document: where in bytes its `_id` and sort key are */
    bool keeps;                   /* those are needed */
    struct mrsi_edges gains;      /* what each document gains: ordinals of the other side */
    uint64_t seen;                /* documents that were read */
};

/* Where a step is. Savepoints can be taken while documents are read and written; decisions in between, from tables
 * alone, are made again by a resumed run. */
enum mrsi_link_stage { MRSI_LINK_READ, MRSI_LINK_DECIDE, MRSI_LINK_WRITE, MRSI_LINK_DONE };

struct mrsi_link_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_link_ops *ops;
    struct mrs_link_wants wants;
    bool self;                   /* both sides are one collection */
    struct mrsi_link_side side[2];
    struct mrsi_mapped_mem listed; /* of each child: MRSI_LISTED_ */
    struct mrsi_mapped_mem parent; /* of each child with LEAVES: the parent that it names + 1, 0: none; wants.leaves */
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_link_stage stage;
    struct mrsi_refused_mark log; /* of refused documents, before anything was written */
    uint32_t now;                /* side being read */
    uint64_t written;            /* bits of sides that have a writer */
    bool went_on;                /* tables are of another run */
    bool late;                   /* some document could not be written */
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
/* Whether references of a side can be looked up as they are read: the other side's documents are known. */
static inline bool
mrsi_link_is_second(const struct mrsi_link_run *l, uint32_t side)
{
    return side == 1 && !l->self;
}
/* The ordinal that each reference of a side names + 1, 0: none; when all is read. */
static inline const uint64_t *
mrsi_link_named(const struct mrsi_link_run *l, uint32_t side)
{
    return mrsi_link_is_second(l, side) ? mrsi_file_array_u64(&l->side[side].found) :
            mrsi_mapped_mem_u64(&l->side[side].named);
}
/* Whether nothing may be derived from a document. */
static inline bool
mrsi_link_refused(const struct mrsi_link_run *l, uint32_t side, uint64_t ordinal)
{
    unsigned bits = mrsi_fates_get(&l->side[side].fates, ordinal);
    if (l->self) {
        bits |= mrsi_fates_get(&l->side[!side].fates, ordinal);
    }
    return bits & MRSI_FATE_REFUSED;
}
/* What was kept of a document: its `_id`, its sort key. */
struct mrsi_link_kept {
    uint32_t id_len, sort_len;
    uint8_t type;
};
enum { MRSI_LINK_KEPT = 9 }; /* bytes of that, in front of both */
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

/* links_read.c: documents to tables, then keys to ordinals. */
enum mrs_status mrsi_link_read(struct mrsi_link_run *l, struct mrs_err *e);
enum mrs_status mrsi_link_name(struct mrsi_link_run *l, struct mrs_err *e);
/* links_decide.c */
enum mrs_status mrsi_link_decide(struct mrsi_link_run *l, struct mrs_err *e);
/* What the tables know of a child: who lists it. one: shape ONE, the parent that it names + 1, 0: none that is
 * there. */
void mrsi_link_listed(const struct mrsi_link_run *l, uint64_t child, uint64_t one, struct mrs_link_facts *f);
/* links_items.c: the references of a document in the end. */
struct mrsi_link_items {      /* of one job; the buffers keep their memory */
    struct mrs_buf item;      /* struct mrs_link_item */
    struct mrs_buf other;     /* uint64_t: the ordinal that each item names; MRSI_NO_ORDINAL */
    struct mrs_number_table set; /* scratch: ordinals that are there already */
    struct mrs_buf sort;      /* scratch */
    struct mrs_buf bytes[2];  /* the document, spliced */
    uint32_t n_new;
};
void mrsi_link_items_init(struct mrsi_link_items *x, struct mrs_mem *mem);
void mrsi_link_items_clear(struct mrsi_link_items *x);
/* *doc with the references of one side put in. OK; SKIP: w->err says why not. */
enum mrs_status mrsi_link_put(struct mrsi_link_run *l, struct mrsi_worker *w, struct mrsi_link_items *x, uint32_t side,
                              uint64_t ordinal, struct mrs_view *doc, struct mrs_err *e);
/* links_savepoint.c: for struct mrsi_pass; and back, the writers are open. */
enum mrs_status mrsi_link_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_link_from_mark(struct mrsi_link_run *l, struct mrs_err *e);
/* Tables of another run that have ended: whether what they say is possible. */
enum mrs_status mrsi_link_check(const struct mrsi_link_run *l, struct mrs_err *e);
/* links_write.c */
/* Opens the writers of all sides that are written; for a resumed step those that it had. */
enum mrs_status mrsi_link_open(struct mrsi_link_run *l, struct mrs_err *e);
enum mrs_status mrsi_link_write(struct mrsi_link_run *l, struct mrs_err *e);

#endif
