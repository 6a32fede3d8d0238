/* SPDX-License-Identifier: Apache-2.0 */
/* fold_members.c - stores the entry of a document until its group is folded.
 *
 * Most of an entry is shared by many documents: the key of the group, and its fields. Each piece stores that once (a
 * shared record), and documents refer to it by number, so a piece can be read independently of others. An order of nine
 * bytes (numbers, dates) takes the space of a number, and none at all if it is a date in the payload from the fast
 * path. */
#include "fold.h"
#include "mongoreshape/fold_ops.h"

struct mrs_view
mrsi_fold_order(const struct mrsi_fold_rec *r, uint8_t room[9])
{
    struct mrs_view order = {room, mrsi_fold_first(r) ? 9 : 0}; /* no order begins with 0 */
    if (r->form == MRSI_FOLD_LONG) {
        struct mrs_view bytes = mrsi_fold_bytes(r);
        memcpy(&order.n, bytes.p, sizeof order.n);
        order.p = bytes.p + sizeof order.n;
        return order;
    }
    room[0] = mrsi_fold_first(r);
    mrsi_put_be(room + 1, mrsi_fold_next(r), 8);
    return order;
}

static bool
is_short(struct mrs_view order)
{
    return order.n == 0 || (order.n == 9 && order.p[0] != 0);
}

static uint64_t
doc_len(const struct mrsi_fold_parts *x)
{
    return (uint64_t)x->payload.n + (is_short(x->order) ? 0 : sizeof x->order.n + x->order.n);
}

static uint8_t *
put(uint8_t *at, const void *p, size_t n)
{
    if (n) {
        memcpy(at, p, n);
    }
    return at + n;
}

static inline struct mrsi_fold_doc
head_of(uint64_t len, struct mrs_view order, uint32_t shared, uint64_t since)
{
    MRS_ASSERT(len <= UINT32_MAX && shared <= UINT16_MAX && since <= UINT32_MAX);
    const uint64_t next = mrsi_fold_prefix(order, 1);
    const uint8_t form = is_short(order) ? MRSI_FOLD_SHORT : MRSI_FOLD_LONG;
    struct mrsi_fold_doc r = {{(uint32_t)since, (uint16_t)shared, form, order.n ? order.p[0] : 0}, .len =
            (uint32_t)len};
    memcpy(r.order, &next, sizeof next);
    return r;
}

static size_t
doc_room(const struct mrsi_fold_parts *x)
{
    return mrsi_fold_room(sizeof(struct mrsi_fold_doc), doc_len(x));
}

static void
put_doc(uint8_t *at, const struct mrsi_fold_parts *x, uint32_t shared, uint64_t since)
{
    struct mrsi_fold_doc r = head_of(doc_len(x), x->order, shared, since);
    at = put(at, &r, sizeof r);
    if (r.head.form == MRSI_FOLD_LONG) {
        at = put(at, &x->order.n, sizeof x->order.n);
        at = put(at, x->order.p, x->order.n);
    }
    put(at, x->payload.p, x->payload.n);
}

static void
put_shared(uint8_t *at, const struct mrsi_fold_parts *x, uint32_t ref, uint32_t shared, uint64_t since)
{
    MRS_ASSERT(shared <= UINT16_MAX && since <= UINT32_MAX);
    struct mrsi_fold_shared_rec r = {{(uint32_t)since, (uint16_t)shared, MRSI_FOLD_SHARED, 0}, .len = x->group.n +
            x->shared.n,
                                  .ref = ref, .group = x->group.n};
    memcpy(r.ordinal, &x->ordinal, sizeof x->ordinal);
    at = put(at, &r, sizeof r);
    at = put(at, x->group.p, x->group.n);
    put(at, x->shared.p, x->shared.n);
}

/* Has the open piece space for so many bytes, and can its numbers represent the ordinal? */
static inline bool
has_room(const struct mrsi_fold_router *r, uint32_t part, size_t n, uint64_t ordinal)
{
    return ordinal - r->open[part].ordinal <= UINT32_MAX && mrsi_spiller_fits(&r->spiller, part, n);
}

/* Space for a record of so many bytes after its shared record; NULL: the open piece lacks that record, or space. */
static inline uint8_t *
room_behind(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen, size_t n, uint64_t ordinal)
{
    bool fits = seen->piece == r->open[seen->part].piece && has_room(r, seen->part, n, ordinal);
    return fits ? mrsi_spiller_take(&r->spiller, seen->part, (uint32_t)n) : NULL;
}

bool
mrsi_fold_keep(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen, const struct mrsi_fold_parts *x)
{
    uint8_t *at = room_behind(r, seen, doc_room(x), x->ordinal);
    if (at) {
        put_doc(at, x, seen->shared, x->ordinal - r->open[seen->part].ordinal);
    }
    return at != NULL;
}

/* The header for a document from the fast path; NULL: as for room_behind. */
static inline uint8_t *
put_head(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen, const struct mrs_fold_fast *x,
         uint64_t ordinal)
{
    const bool dated = x->date_at != MRS_FOLD_ELSEWHERE && x->payload_bytes <= MRSI_FOLD_DATED_BYTES;
    const size_t head = dated ? sizeof(struct mrsi_fold_rec) : sizeof(struct mrsi_fold_doc);
    uint8_t *at = room_behind(r, seen, mrsi_fold_room(head, x->payload_bytes), ordinal), order[MRS_KEY_DATE];
    const uint64_t since = ordinal - r->open[seen->part].ordinal;
    if (at && dated) {
        struct mrsi_fold_rec rec = {(uint32_t)since, (uint16_t)seen->shared, (uint8_t)(MRSI_FOLD_DATED + x->date_at),
                                    (uint8_t)x->payload_bytes};
        memcpy(at, &rec, sizeof rec);
    } else if (at) {
        mrs_key_date(order, x->date);
        struct mrsi_fold_doc rec = head_of(x->payload_bytes, (struct mrs_view){order, sizeof order}, seen->shared,
                                            since);
        memcpy(at, &rec, sizeof rec);
    }
    return at ? at + head : NULL;
}

bool
mrsi_fold_keep_fast(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen,
                    const struct mrs_fold_fast *x, const uint8_t *doc, uint64_t ordinal)
{
    uint8_t *at = put_head(r, seen, x, ordinal);
    if (!at) {
        return false;
    }
    for (const struct mrs_fold_span *v = x->payload, *end = v + x->n_spans; v < end; v++) {
        mrs_copy_value(at, doc + v->at, v->n);
        at += v->n;
    }
    return true;
}

/* Opens a new piece, which certainly has space for so many bytes. */
static enum mrs_status
open_piece(struct mrsi_fold_router *r, uint32_t part, size_t n, struct mrs_err *e)
{
    enum mrs_status s = mrsi_spiller_open(&r->spiller, part, n, e);
    if (s == MRS_OK) {
        r->open[part] = (struct mrsi_fold_open){r->open[part].piece + 1, 0, 0};
    }
    return s;
}

enum mrs_status
mrsi_fold_keep_shared(struct mrsi_fold_router *r, struct mrsi_fold_shared_cache *seen, const struct mrsi_fold_parts *x,
                      uint32_t ref, struct mrs_err *e)
{
    struct mrsi_fold_open *open = &r->open[seen->part];
    size_t shared = mrsi_fold_room(sizeof(struct mrsi_fold_shared_rec), (uint64_t)x->group.n + x->shared.n);
    size_t n = shared + doc_room(x);
    MRS_TRY(has_room(r, seen->part, n, x->ordinal) ? MRS_OK : open_piece(r, seen->part, n, e));
    uint8_t *at = mrsi_spiller_take(&r->spiller, seen->part, (uint32_t)n);
    open->ordinal = open->shared_all ? open->ordinal : x->ordinal;
    seen->piece = open->piece;
    seen->shared = open->shared_all++;
    put_shared(at, x, ref, seen->shared, x->ordinal - open->ordinal);
    put_doc(at + shared, x, seen->shared, x->ordinal - open->ordinal);
    if (!r->spiller.large) {
        return MRS_OK;
    }
    *open = (struct mrsi_fold_open){open->piece + 1, 0, 0}; /* a piece of its own */
    return mrsi_spiller_large(&r->spiller, seen->part, n, e);
}
