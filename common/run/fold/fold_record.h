/* SPDX-License-Identifier: Apache-2.0 */
/* fold_record.h - the records of documents until their group is folded; contiguous. */
#ifndef MRSI_RUN_FOLD_RECORD_H
#define MRSI_RUN_FOLD_RECORD_H

#include "run/pass/checkpoint.h"
#include "run/pass/step_outputs.h"
#include "run/account/fates.h"
#include "run/store/sorter.h"
#include "run/store/spill.h"
#include "run/store/table.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/fold_ops.h"

/* Bits of a processed document, in addition to those of the enum in join.h. None: it is in a document of into. */
enum {
    MRSI_FOLD_UNUSED = MRS_USED_CUT, /* no document was made from it */
    MRSI_FOLD_LATE = MRS_USED_LEFT   /* refused while its group was folded: the reason is in `late` */
};

/* ---- fold_members.c ---- */
/* A record of a document, or a shared record: the key of a group, and the fields that its documents share. A header and
 * its bytes, padded to 4. In each piece of a partition a shared record comes before the first document that refers to
 * it, so a piece begins with one. */
struct mrsi_fold_rec {
    uint32_t since; /* ordinal relative to the piece; for a shared record that of its first document */
    uint16_t shared; /* number in the piece */
    uint8_t form;
    uint8_t n;      /* dated: number of bytes; other documents: first byte of the order */
};
enum {
    MRSI_FOLD_SHORT, /* struct mrsi_fold_doc; the header has all of the order */
    MRSI_FOLD_LONG,  /* the same; the bytes begin with the length of the order in 32 bits, and the order */
    MRSI_FOLD_SHARED,   /* struct mrsi_fold_shared_rec; the bytes are the key of the group, then the rest */
    MRSI_FOLD_DATED  /* the order is that of a date in the payload, at offset form - MRSI_FOLD_DATED */
};
enum { MRSI_FOLD_DATED_BYTES = UINT8_MAX }; /* maximum size of a payload: a date begins at least 8 before its end */
struct mrsi_fold_doc {
    struct mrsi_fold_rec head;
    uint32_t len;      /* number of bytes */
    uint32_t order[2]; /* the next eight bytes of the order as a number */
};
struct mrsi_fold_shared_rec {
    struct mrsi_fold_rec head;
    uint32_t len;
    uint32_t ref;        /* a part of its group's hash */
    uint32_t group;      /* size of the key */
    uint32_t ordinal[2]; /* of the first document that refers to it; for the first shared record that of the piece */
};
struct mrsi_fold_parts { /* the entry of a document */
    struct mrs_view group; /* p NULL: not computed yet */
    struct mrs_view order, payload, shared;
    struct mrs_view doc;   /* p not NULL: `shared` is a name, and the shared record itself is not computed yet */
    uint64_t ordinal;
};
static inline size_t
mrsi_fold_room(size_t head, uint64_t len) /* size of a record with so many bytes */
{
    return (size_t)((head + len + 3) & ~(uint64_t)3);
}
static inline size_t
mrsi_fold_head(const struct mrsi_fold_rec *r)
{
    return r->form >= MRSI_FOLD_DATED ? sizeof *r
                                      : r->form == MRSI_FOLD_SHARED ? sizeof(struct mrsi_fold_shared_rec)
                                                                 : sizeof(struct mrsi_fold_doc);
}
static inline const struct mrsi_fold_shared_rec *
mrsi_fold_as_shared(const struct mrsi_fold_rec *r)
{
    return (const struct mrsi_fold_shared_rec *)(const void *)r;
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
        bytes.n = r->form == MRSI_FOLD_SHARED ? mrsi_fold_as_shared(r)->len : mrsi_fold_as_doc(r)->len;
    }
    return bytes;
}
static inline size_t
mrsi_fold_size(const struct mrsi_fold_rec *r)
{
    return mrsi_fold_room(mrsi_fold_head(r), mrsi_fold_bytes(r).n);
}
/* For a shared record. */
static inline uint64_t
mrsi_fold_ordinal(const struct mrsi_fold_rec *r)
{
    uint64_t n;
    memcpy(&n, mrsi_fold_as_shared(r)->ordinal, sizeof n);
    return n;
}
static inline struct mrs_view
mrsi_fold_shared_group(const struct mrsi_fold_rec *r)
{
    struct mrs_view group = {mrsi_fold_bytes(r).p, mrsi_fold_as_shared(r)->group};
    return group;
}
static inline struct mrs_view
mrsi_fold_shared_rest(const struct mrsi_fold_rec *r)
{
    struct mrs_view all = mrsi_fold_bytes(r), group = mrsi_fold_shared_group(r);
    struct mrs_view rest = {group.p + group.n, all.n - group.n};
    return rest;
}
/* For a record of a document. */
struct mrs_view mrsi_fold_order(const struct mrsi_fold_rec *r, uint8_t room[9]);
static inline struct mrs_view
mrsi_fold_payload(const struct mrsi_fold_rec *r)
{
    struct mrs_view payload = mrsi_fold_bytes(r);
    if (r->form == MRSI_FOLD_LONG) {
        uint32_t order;
        memcpy(&order, payload.p, sizeof order);
        payload.p += sizeof order + order;
        payload.n -= (uint32_t)sizeof order + order;
    }
    return payload;
}
/* The first byte of the order, and the next eight as a number. */
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
        return mrs_le64((const uint8_t *)(r + 1) + (r->form - MRSI_FOLD_DATED)) ^ 1ull << 63; /* see mrs_key_date */
    }
    memcpy(&n, mrsi_fold_as_doc(r)->order, sizeof n);
    return n;
}

#endif
