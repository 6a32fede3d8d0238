/* SPDX-License-Identifier: Apache-2.0 */
/* refused_report.c - reports the log of refused documents: records in a file, and a summary by kind.
 *
 * A record is built from the log when it is needed; refused.c owns the log and its order. Called after
 * mrsi_refused_finish. */
#include "account.h"
#include "run/store/state.h"
#include "mongoreshape/ejson.h"
#include "run/store/file_array.h"
#include <unistd.h>

static enum mrs_status
build_record(struct mrsi_engine *en, const struct mrsi_refused_at *at, struct mrs_buf *raw, struct mrs_buf *out,
             struct mrs_err *e)
{
    struct mrsi_refused_head h;
    MRS_TRY(mrs_read_at(en->refused_log->fd, &h, sizeof h, at->off, e));
    size_t n = (size_t)h.reason_len + h.place_len + h.doc_len;
    mrs_buf_reset(raw);
    mrs_buf_reset(out);
    uint8_t *p = mrs_buf_take(raw, n);
    if (!p) {
        return mrs_buf_status(raw, e);
    }
    MRS_TRY(mrs_read_at(en->refused_log->fd, p, n, at->off + sizeof h, e));
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_val inner = {p + h.reason_len + h.place_len, h.doc_len, MRS_DOCUMENT};
    if (en->report->resumed && !mrsi_savepoint_is_doc(inner.p, inner.n)) { /* the log is of another run */
        return mrsi_state_damaged("the refused documents", e);
    }
    const char *ns = en->plan->steps[h.step].desc.sides[h.side].coll.ns; /* its name at that step */
    mrs_build_init(&b, out);
    mrs_build_text(&b, "ns", ns, (uint32_t)strlen(ns));
    mrs_build_i32(&b, "step", (int32_t)en->plan->steps[h.step].no);
    mrs_build_text(&b, "reason", (const char *)p, h.reason_len);
    if (h.place_len) {
        mrs_build_text(&b, "place", (const char *)p + h.reason_len, h.place_len);
    } else {
        mrs_build_null(&b, "place", 5);
    }
    mrs_build_val(&b, "doc", 3, inner);
    return mrs_build_finish(&b, &doc, e);
}

/* ---- for the report ---- */
enum { KINDS = 40, ID_MAX = 200 };

static const char *
keep_text(struct mrs_report *r, const uint8_t *p, size_t n)
{
    char *t = mrs_arena_alloc(&r->arena, n + 1);
    if (t && n) {
        memcpy(t, p, n);
    }
    if (t) {
        t[n] = 0;
    }
    return t;
}

size_t
mrsi_id_write(struct mrs_val id, size_t most, struct mrs_buf *room)
{
    MRS_ASSERT(most > 0 && mrs_val_is_sized(id));
    mrs_buf_reset(room);
    if (id.type != MRS_MISSING) {
        mrs_ejson_write_val(id, false, room);
    } else {
        mrs_buf_grow(room, 1);
    }
    size_t n = room->n < most ? room->n : most;
    while (n && n < room->n && (room->p[n] & 0xC0) == 0x80) {
        n--; /* never cut inside a UTF-8 character */
    }
    return n;
}

const char *
mrsi_id_text(struct mrs_report *r, struct mrs_val id, struct mrs_buf *room)
{
    size_t n = mrsi_id_write(id, ID_MAX, room);
    return room->bad ? NULL : keep_text(r, room->p, n);
}

enum mrs_status
mrsi_ids_add(struct mrs_report *r, struct mrs_ids *ids, struct mrs_view doc, struct mrs_buf *room, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const char *text = mrsi_id_text(r, mrs_doc_get(doc, "_id"), room);
    MRS_TRY(mrs_allocated(text, ID_MAX, e));
    ids->at[ids->n++] = text;
    return MRS_OK;
}

/* The kind of a record, added if new; *out NULL: the maximum is reached. */
static enum mrs_status
find_kind(struct mrsi_engine *en, const struct mrsi_refused_head *h, const uint8_t *texts, struct mrs_refusal **out,
          struct mrs_err *e)
{
    MRS_ASSERT(h->kind_len <= h->reason_len);
    struct mrs_report *rep = en->report;
    const struct mrs_step *st = &en->plan->steps[h->step];
    const char *ns = st->desc.sides[h->side].coll.ns;
    uint32_t most = en->opts->ids ? en->opts->ids : 1, kind = h->kind_len ? h->kind_len : h->reason_len;
    for (uint32_t i = 0; i < rep->n_refusal; i++) {
        struct mrs_refusal *k = &rep->refusal[i];
        if (k->step == st->no && strcmp(k->ns, ns) == 0 && strlen(k->reason) == kind &&
            memcmp(k->reason, texts, kind) == 0 && strlen(k->place) == h->place_len &&
            memcmp(k->place, texts + h->reason_len, h->place_len) == 0) {
            *out = k;
            return MRS_OK;
        }
    }
    *out = NULL;
    if (rep->n_refusal == KINDS) {
        return MRS_OK;
    }
    struct mrs_refusal *k = &rep->refusal[rep->n_refusal];
    k->step = st->no;
    k->count = 0;
    k->ns = keep_text(rep, (const uint8_t *)ns, strlen(ns));
    k->reason = keep_text(rep, texts, kind);
    k->more = keep_text(rep, texts + kind, h->reason_len - kind);
    k->place = keep_text(rep, texts + h->reason_len, h->place_len);
    k->ids = (struct mrs_ids){mrs_arena_alloc(&rep->arena, most * sizeof *k->ids.at), 0};
    if (!k->ns || !k->reason || !k->more || !k->place || !k->ids.at) {
        return mrs_err_memory(e, h->reason_len);
    }
    rep->n_refusal++;
    *out = k;
    return MRS_OK;
}

/* Only a record's reason and place are read, unless its kind needs the `_id`. */
static enum mrs_status
count_record(struct mrsi_engine *en, const struct mrsi_refused_at *at, struct mrs_buf *raw, struct mrs_buf *rec,
             struct mrs_err *e)
{
    enum { HEAD = sizeof(struct mrsi_refused_head) + sizeof e->msg + sizeof e->where };
    uint8_t head[HEAD];
    struct mrsi_refused_head h;
    struct mrs_refusal *k;
    uint64_t left = en->refused_bytes - at->off;
    MRS_TRY(mrs_read_at(en->refused_log->fd, head, left < HEAD ? (size_t)left : HEAD, at->off, e));
    memcpy(&h, head, sizeof h);
    enum mrs_status s = find_kind(en, &h, head + sizeof h, &k, e);
    if (s != MRS_OK || !k) {
        return s;
    }
    if (k->count++ < (en->opts->ids ? en->opts->ids : 1)) {
        s = build_record(en, at, raw, rec, e);
        struct mrs_view doc = {rec->p, (uint32_t)rec->n};
        MRS_THEN(s, mrsi_ids_add(en->report, &k->ids, mrs_val_view(mrs_doc_get(doc, "doc")), raw, e));
    }
    return s;
}

enum mrs_status
mrsi_refusals(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_buf raw, rec;
    const struct mrsi_refused_at *r = (const struct mrsi_refused_at *)(const void *)en->refused->p;
    size_t n = en->refused->n;
    if (!n) {
        return MRS_OK;
    }
    en->report->refusal = mrs_arena_alloc(&en->report->arena, KINDS * sizeof *en->report->refusal);
    enum mrs_status s = mrs_allocated(en->report->refusal, KINDS, e);
    mrs_buf_init(&raw, en->mem, SIZE_MAX);
    mrs_buf_init(&rec, en->mem, SIZE_MAX);
    for (size_t i = 0; i < n && s == MRS_OK; i++) {
        s = count_record(en, &r[i], &raw, &rec, e);
        MRS_THEN(s, mrsi_interrupted(en, e));
    }
    mrs_buf_clear(&raw);
    mrs_buf_clear(&rec);
    return s;
}

uint64_t
mrsi_refused_up_to(const struct mrsi_engine *en, uint32_t last_step)
{
    const struct mrsi_refused_at *r = (const struct mrsi_refused_at *)(const void *)en->refused->p;
    uint64_t n = 0;
    while (n < en->refused->n && r[n].step <= last_step) {
        n++;
    }
    return n;
}

/* ---- the file ---- */
struct two_files {
    struct mrs_atomic_file *bson, *lines; /* NULL: only their sizes are added */
};

static enum mrs_status
write_records(struct mrsi_engine *en, const struct two_files *f, uint32_t last_step, struct mrs_err *e)
{
    struct mrs_buf raw, rec, line;
    mrs_buf_init(&raw, en->mem, SIZE_MAX);
    mrs_buf_init(&rec, en->mem, SIZE_MAX);
    mrs_buf_init(&line, en->mem, SIZE_MAX);
    const struct mrsi_refused_at *r = (const struct mrsi_refused_at *)(const void *)en->refused->p;
    size_t n = en->refused->n;
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; i < n && r[i].step <= last_step && s == MRS_OK; i++) {
        s = build_record(en, &r[i], &raw, &rec, e);
        if (s == MRS_OK) {
            struct mrs_view doc = {rec.p, (uint32_t)rec.n};
            mrs_buf_reset(&line);
            mrs_ejson_write(doc, true, &line);
            mrs_buf_byte(&line, '\n');
            s = mrs_buf_status(&line, e);
        }
        if (s == MRS_OK && f->bson) {
            s = mrs_atomic_file_put(f->bson, rec.p, rec.n, e);
        }
        if (s == MRS_OK && f->lines) {
            s = mrs_atomic_file_put(f->lines, line.p, line.n, e);
        }
        en->report->refused_bytes += rec.n + line.n;
        MRS_THEN(s, mrsi_interrupted(en, e));
    }
    mrs_buf_clear(&raw);
    mrs_buf_clear(&rec);
    mrs_buf_clear(&line);
    return s;
}

enum mrs_status
mrsi_refused_weigh(struct mrsi_engine *en, struct mrs_err *e)
{
    struct two_files none = {NULL, NULL};
    return write_records(en, &none, MRSI_NONE, e);
}

enum mrs_status
mrsi_refused_write(struct mrsi_engine *en, const char *path, uint32_t last_step, struct mrs_err *e)
{
    struct mrs_buf lines;
    struct two_files f = {NULL, NULL};
    mrs_buf_init(&lines, en->mem, 1 << 16);
    mrs_buf_printf(&lines, "%s.jsonl", path);
    mrs_buf_byte(&lines, 0);
    enum mrs_status s = mrs_buf_status(&lines, e);
    MRS_THEN(s, mrs_atomic_file_open(en->mem, path, &f.bson, e));
    if (s == MRS_OK && !mrs_file_is_stream(path)) {
        s = mrs_atomic_file_open(en->mem, (const char *)lines.p, &f.lines, e);
    }
    MRS_THEN(s, write_records(en, &f, last_step, e));
    if (s == MRS_OK && f.lines) {
        (void)unlink((const char *)lines.p); /* a kill in between must not leave an older text next to other records */
    }
    enum mrs_status a = mrs_atomic_file_close(f.bson, s == MRS_OK, e);
    enum mrs_status b = mrs_atomic_file_close(f.lines, s == MRS_OK && a == MRS_OK, e);
    mrs_buf_clear(&lines);
    return s != MRS_OK ? s : a != MRS_OK ? a : b;
}
