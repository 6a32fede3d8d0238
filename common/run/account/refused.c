/* SPDX-License-Identifier: Apache-2.0 */
/* refused.c - refused documents: collected by jobs, kept in order, written at the end.
 *
 * A record is {ns, step, reason, place, doc}, doc as it entered the step that refused it. Jobs append their records at
 * their commit, so the log does not depend on the number of workers; at the end it is sorted by step, side (from
 * before into) and input order. Records of a pass that begins again are removed by truncating the log (rewind).
 * refused_report.c reports its contents. */
#include "account.h"
#include "run/store/state.h"
#include "run/store/sorter.h"
#include "run/store/file_array.h"

enum mrs_status
mrsi_refuse(struct mrsi_worker *w, uint32_t step, uint32_t side, uint32_t coll, uint64_t order, struct mrs_view doc,
            struct mrs_err *e)
{
    MRS_ASSERT(step < w->en->plan->n_steps && mrs_view_is_framed(doc));
    struct mrsi_refused_head h = {.step = step, .side = side, .order = order, .coll = coll};
    h.reason_len = (uint32_t)strlen(w->err.msg);
    h.kind_len = w->err.kind_len;
    h.place_len = (uint32_t)strlen(w->err.where);
    h.doc_len = doc.n;
    mrs_buf_put(&w->refused, &h, sizeof h);
    mrs_buf_put(&w->refused, w->err.msg, h.reason_len);
    mrs_buf_put(&w->refused, w->err.where, h.place_len);
    mrs_buf_put(&w->refused, doc.p, doc.n);
    mrs_err_clear(&w->err);
    return mrs_buf_status(&w->refused, e);
}

static size_t
record_bytes(const struct mrsi_refused_head *h)
{
    return sizeof *h + (size_t)h->reason_len + h->place_len + h->doc_len;
}

enum mrs_status
mrsi_refused_commit(struct mrsi_worker *w, struct mrs_err *e)
{
    struct mrsi_engine *en = w->en;
    if (!w->refused.n) {
        return MRS_OK;
    }
    enum mrs_status s = en->refused_log ? MRS_OK : mrsi_ckpt_temp(en, &en->refused_log, e);
    MRS_THEN(s, mrsi_temp_append(en->refused_log, w->refused.p, w->refused.n, en->refused_bytes, e));
    for (size_t at = 0; at < w->refused.n; en->refused_n++) {
        struct mrsi_refused_head h;
        memcpy(&h, w->refused.p + at, sizeof h);
        at += record_bytes(&h);
    }
    en->refused_bytes += w->refused.n;
    mrs_buf_reset(&w->refused);
    if (w->refused.cap > MRSI_BIG) {
        mrs_buf_clear(&w->refused);
    }
    return s;
}

struct mrsi_refused_position
mrsi_refused_position(const struct mrsi_engine *en)
{
    struct mrsi_refused_position m = {en->refused_bytes, en->refused_n};
    return m;
}

void
mrsi_refused_rewind(struct mrsi_engine *en, struct mrsi_refused_position m)
{
    MRS_ASSERT(m.bytes <= en->refused_bytes && m.n <= en->refused_n);
    en->refused_bytes = m.bytes;
    en->refused_n = m.n;
}

/* Order is UINT64_MAX if the order of commits counts (one-document steps): then the offset in the log decides. */
static enum mrs_status
put_place(struct mrsi_sorter *s, const struct mrsi_refused_at *r, struct mrs_err *e)
{
    uint8_t key[24];
    mrsi_put_be(key, r->step, 4);
    mrsi_put_be(key + 4, r->side, 4);
    mrsi_put_be(key + 8, r->order, 8);
    mrsi_put_be(key + 16, r->off, 8);
    return mrsi_sorter_put(s, key, sizeof key, r, sizeof *r, e);
}

/* Is a record plausible? left: bytes of the log from its header on. A resumed run reads it from a file. */
static bool
is_record(const struct mrsi_engine *en, const struct mrsi_refused_head *h, uint64_t left)
{
    return h->step < en->plan->n_steps && h->side < en->plan->steps[h->step].desc.n_sides && h->coll < en->n_coll &&
           h->reason_len < sizeof((struct mrs_err *)0)->msg && h->kind_len <= h->reason_len &&
           h->place_len < sizeof((struct mrs_err *)0)->where && h->doc_len >= MRS_DOC_MIN && record_bytes(h) <= left;
}

/* Reads all headers of the log through a buffer. */
static enum mrs_status
read_places(struct mrsi_engine *en, struct mrsi_sorter *places, struct mrs_err *e)
{
    MRS_ASSERT(en->refused_log || !en->refused_bytes);
    struct mrs_buf window;
    uint64_t from = 0, off = 0;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&window, en->mem, SIZE_MAX);
    while (s == MRS_OK && off < en->refused_bytes) {
        struct mrsi_refused_head h;
        if (en->refused_bytes - off < sizeof h) {
            s = mrsi_state_damaged("the refused documents", e);
            break;
        }
        if (off + sizeof h > from + window.n) {
            uint64_t left = en->refused_bytes - off;
            size_t n = left < MRSI_BLOCK ? (size_t)left : MRSI_BLOCK;
            mrs_buf_reset(&window);
            uint8_t *p = mrs_buf_take(&window, n);
            s = p ? mrs_read_at(en->refused_log->fd, p, n, off, e) : mrs_buf_status(&window, e);
            from = off;
        }
        if (s == MRS_OK) {
            memcpy(&h, window.p + (off - from), sizeof h);
            struct mrsi_refused_at r = {.step = h.step, .side = h.side, .order = h.order, .coll = h.coll, .off = off};
            s = is_record(en, &h, en->refused_bytes - off) ? put_place(places, &r, e)
                                                           : mrsi_state_damaged("the refused documents", e);
            off += record_bytes(&h);
        }
        MRS_THEN(s, mrsi_interrupted(en, e));
    }
    mrs_buf_clear(&window);
    return s;
}

static bool
same_document(const struct mrsi_refused_at *a, const struct mrsi_refused_at *b)
{
    return a->step == b->step && a->coll == b->coll && a->order == b->order && a->order != UINT64_MAX;
}

/* Removes documents that were refused twice in one step; *past: the first step (index) at whose end more than
 * max_refused were refused, else MRSI_NONE. */
static enum mrs_status
keep_distinct(struct mrsi_engine *en, struct mrsi_sorter *places, uint32_t *past, struct mrs_err *e)
{
    struct mrsi_refused_at last = {.order = UINT64_MAX};
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_sorter_rewind(places, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(places, &r, e)) == MRS_OK) {
        struct mrsi_refused_at one;
        memcpy(&one, r.p, sizeof one);
        if (!en->refused->n || !same_document(&last, &one)) {
            s = mrsi_file_array_put(en->refused, &one, e);
            *past = en->refused->n > en->opts->max_refused && *past == MRSI_NONE ? one.step : *past;
        }
        MRS_THEN(s, mrsi_interrupted(en, e));
        last = one;
    }
    return s == MRS_END ? mrsi_file_array_end(en->refused, e) : s;
}

enum mrs_status
mrsi_refused_finish(struct mrsi_engine *en, uint64_t *distinct, uint32_t *past, struct mrs_err *e)
{
    struct mrsi_sorter places;
    *past = MRSI_NONE;
    en->refused = mrs_alloc(en->mem, sizeof *en->refused);
    MRS_TRY(mrs_allocated(en->refused, sizeof *en->refused, e));
    mrsi_file_array_init(en->refused, en, sizeof(struct mrsi_refused_at), en->memory / 16);
    mrsi_sorter_init(&places, en, en->memory / 8);
    enum mrs_status s = read_places(en, &places, e);
    MRS_THEN(s, keep_distinct(en, &places, past, e));
    mrsi_sorter_clear(&places);
    *distinct = en->refused->n;
    return s;
}

void
mrsi_refused_clear(struct mrsi_engine *en)
{
    if (en->refused) {
        mrsi_file_array_clear(en->refused);
    }
    mrs_free(en->mem, en->refused);
    mrsi_temp_drop(en, en->refused_log);
}
