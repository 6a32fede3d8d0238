/* fold_keep.c - what is kept of a document until its group is folded.
 *
 * Most of what a document brings to a group is what others bring, too: the key of the group, the fields that name it.
 * That is kept once a piece (a kin), and documents name it by number, so each piece can be read by itself, whatever
 * became of the others. An order of nine bytes, which numbers and dates have, takes no more room than a number. */
#include "fold.h"

struct mrs_view
mrsi_fold_order(const struct mrsi_fold_rec *r, uint8_t room[9])
{
    struct mrs_view order = {room, r->first ? 9 : 0}; /* no order begins with 0 */
    if (r->form == MRSI_FOLD_LONG) {
        memcpy(&order.n, mrsi_fold_bytes(r), sizeof order.n);
        order.p = mrsi_fold_bytes(r) + sizeof order.n;
        return order;
    }
    room[0] = r->first;
    mrsi_put_be(room + 1, r->order, 8);
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
    return (uint64_t)x->shape.n + (is_short(x->order) ? 0 : sizeof x->order.n + x->order.n);
}

static uint8_t *
put(uint8_t *at, const void *p, size_t n)
{
    if (n) {
        memcpy(at, p, n);
    }
    return at + n;
}

static inline struct mrsi_fold_rec
head_of(uint64_t len, struct mrs_view order, uint32_t kin, uint64_t ordinal)
{
    struct mrsi_fold_rec r = {.len = (uint32_t)len, .kin = (uint16_t)kin, .ordinal = ordinal};
    r.form = is_short(order) ? MRSI_FOLD_SHORT : MRSI_FOLD_LONG;
    r.first = order.n ? order.p[0] : 0;
    r.order = mrsi_fold_prefix(order, 1);
    return r;
}

static void
put_doc(uint8_t *at, const struct mrsi_fold_parts *x, uint32_t kin)
{
    struct mrsi_fold_rec r = head_of(doc_len(x), x->order, kin, x->ordinal);
    at = put(at, &r, sizeof r);
    if (r.form == MRSI_FOLD_LONG) {
        at = put(at, &x->order.n, sizeof x->order.n);
        at = put(at, x->order.p, x->order.n);
    }
    put(at, x->shape.p, x->shape.n);
}

static void
put_kin(uint8_t *at, const struct mrsi_fold_parts *x, uint32_t ref, uint32_t kin)
{
    struct mrsi_fold_rec r = {.len = x->group.n + x->kin.n, .kin = (uint16_t)kin, .form = MRSI_FOLD_KIN,
                              .ordinal = x->ordinal, .order = (uint64_t)ref << 32 | x->group.n};
    at = put(at, &r, sizeof r);
    at = put(at, x->group.p, x->group.n);
    put(at, x->kin.p, x->kin.n);
}

/* Room for a record with so many bytes behind its kin; NULL: that is not in the open piece, or this is full. */
static inline uint8_t *
room_behind(struct mrsi_fold_router *r, const struct mrsi_fold_seen *seen, uint64_t len)
{
    size_t n = mrsi_fold_room(len);
    bool fits = seen->piece == r->open[seen->part].piece && mrsi_spiller_fits(&r->spiller, seen->part, n);
    return fits ? mrsi_spiller_take(&r->spiller, seen->part, (uint32_t)n) : NULL;
}

bool
mrsi_fold_keep(struct mrsi_fold_router *r, const struct mrsi_fold_seen *seen, const struct mrsi_fold_parts *x)
{
    uint8_t *at = room_behind(r, seen, doc_len(x));
    if (at) {
        put_doc(at, x, seen->kin);
    }
    return at != NULL;
}

bool
mrsi_fold_keep_glance(struct mrsi_fold_router *r, const struct mrsi_fold_seen *seen, const struct mrs_fold_glance *x,
                      const uint8_t *doc, uint64_t ordinal)
{
    uint8_t *at = room_behind(r, seen, x->shape_bytes), order[MRS_KEY_DATE];
    if (!at) {
        return false;
    }
    mrs_key_date(order, x->date);
    struct mrsi_fold_rec head = head_of(x->shape_bytes, (struct mrs_view){order, sizeof order}, seen->kin, ordinal);
    at = put(at, &head, sizeof head);
    for (const struct mrs_fold_span *v = x->shape, *end = v + x->n_spans; v < end; v++) {
        mrs_copy_value(at, doc + v->at, v->n);
        at += v->n;
    }
    return true;
}

enum mrs_status
mrsi_fold_keep_kin(struct mrsi_fold_router *r, struct mrsi_fold_seen *seen, const struct mrsi_fold_parts *x,
                   uint32_t ref, struct mrs_err *e)
{
    struct mrsi_fold_open *open = &r->open[seen->part];
    size_t kin = mrsi_fold_room((uint64_t)x->group.n + x->kin.n), n = kin + mrsi_fold_room(doc_len(x));
    if (!mrsi_spiller_fits(&r->spiller, seen->part, n)) {
        enum mrs_status s = mrsi_spiller_open(&r->spiller, seen->part, n, e);
        if (s != MRS_OK) {
            return s;
        }
        *open = (struct mrsi_fold_open){open->piece + 1, 0};
    }
    uint8_t *at = mrsi_spiller_take(&r->spiller, seen->part, (uint32_t)n);
    seen->piece = open->piece;
    seen->kin = open->kins++;
    put_kin(at, x, ref, seen->kin);
    put_doc(at + kin, x, seen->kin);
    if (!r->spiller.large) {
        return MRS_OK;
    }
    *open = (struct mrsi_fold_open){open->piece + 1, 0}; /* it lies alone */
    return mrsi_spiller_large(&r->spiller, seen->part, n, e);
}
