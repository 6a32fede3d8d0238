/* refuse_report.c - the log of refused documents as people see it: records in a file, and the kinds there were.
 *
 * A record is built from the log when it is wanted; the log and the order of its records are refuse.c's. Called after
 * mrsi_refused_finish. */
#include "mongoreshape/ejson.h"
#include "tape.h"

static enum mrs_status
build_record(struct mrsi_engine *en, const struct mrsi_refused_at *at, struct mrs_buf *raw, struct mrs_buf *out,
             struct mrs_err *e)
{
    struct mrsi_refused_head h;
    enum mrs_status s = mrs_read_at(en->refused_log->fd, &h, sizeof h, at->off, e);
    if (s != MRS_OK) {
        return s;
    }
    size_t n = (size_t)h.reason_len + h.place_len + h.doc_len;
    mrs_buf_reset(raw);
    mrs_buf_reset(out);
    uint8_t *p = mrs_buf_take(raw, n);
    if (!p) {
        return mrs_buf_status(raw, e);
    }
    s = mrs_read_at(en->refused_log->fd, p, n, at->off + sizeof h, e);
    if (s != MRS_OK) {
        return s;
    }
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_val inner = {p + h.reason_len + h.place_len, h.doc_len, MRS_DOCUMENT};
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
enum { KINDS = 40, LOOK_AT = 10000 };

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

static const char *
first_id(struct mrsi_engine *en, struct mrs_view doc, struct mrs_buf *room)
{
    struct mrs_elem id;
    mrs_buf_reset(room);
    if (mrs_doc_find(doc, "_id", 3, &id)) {
        mrs_ejson_write_val(id.v, false, room);
    }
    return keep_text(en->report, room->p, room->n < 200 ? room->n : 200);
}

/* Adds one record (as build_record made it) to the kinds. */
static enum mrs_status
count_kind(struct mrsi_engine *en, struct mrs_view rec, uint32_t step, struct mrs_buf *room, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    struct mrs_val ns = mrs_doc_get(rec, "ns"), reason = mrs_doc_get(rec, "reason"), place = mrs_doc_get(rec, "place");
    uint32_t ns_n, reason_n, place_n = 0;
    const char *ns_t = mrs_val_text(ns, &ns_n), *reason_t = mrs_val_text(reason, &reason_n);
    const char *place_t = place.type == MRS_STRING ? mrs_val_text(place, &place_n) : "";
    for (uint32_t i = 0; i < rep->n_refusal; i++) {
        struct mrs_refusal *k = &rep->refusal[i];
        if (k->step == step && strcmp(k->ns, ns_t) == 0 && strcmp(k->reason, reason_t) == 0 &&
            strcmp(k->place, place_t) == 0) {
            k->count++;
            return MRS_OK;
        }
    }
    if (rep->n_refusal == KINDS) {
        return MRS_OK;
    }
    struct mrs_refusal *k = &rep->refusal[rep->n_refusal];
    k->step = step;
    k->count = 1;
    k->ns = keep_text(rep, (const uint8_t *)ns_t, ns_n);
    k->reason = keep_text(rep, (const uint8_t *)reason_t, reason_n);
    k->place = keep_text(rep, (const uint8_t *)place_t, place_n);
    k->first = first_id(en, mrs_val_view(mrs_doc_get(rec, "doc")), room);
    if (!k->ns || !k->reason || !k->place || !k->first) {
        return mrs_err_memory(e, reason_n);
    }
    rep->n_refusal++;
    return MRS_OK;
}

enum mrs_status
mrsi_refusals(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_buf raw, rec, room;
    const struct mrsi_refused_at *r = (const struct mrsi_refused_at *)(const void *)en->refused->p;
    size_t n = en->refused->n;
    if (!n) {
        return MRS_OK;
    }
    en->report->refusal = mrs_arena_alloc(&en->report->arena, KINDS * sizeof *en->report->refusal);
    enum mrs_status s = en->report->refusal ? MRS_OK : mrs_err_memory(e, KINDS);
    mrs_buf_init(&raw, en->mem, SIZE_MAX);
    mrs_buf_init(&rec, en->mem, SIZE_MAX);
    mrs_buf_init(&room, en->mem, SIZE_MAX);
    for (size_t i = 0; i < n && i < LOOK_AT && s == MRS_OK; i++) {
        s = build_record(en, &r[i], &raw, &rec, e);
        if (s == MRS_OK) {
            struct mrs_view doc = {rec.p, (uint32_t)rec.n};
            s = count_kind(en, doc, en->plan->steps[r[i].step].no, &room, e);
        }
    }
    mrs_buf_clear(&raw);
    mrs_buf_clear(&rec);
    mrs_buf_clear(&room);
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
    struct mrs_whole *bson, *lines;
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
        if (s == MRS_OK) {
            s = mrs_whole_put(f->bson, rec.p, rec.n, e);
        }
        if (s == MRS_OK) {
            s = mrs_whole_put(f->lines, line.p, line.n, e);
        }
    }
    mrs_buf_clear(&raw);
    mrs_buf_clear(&rec);
    mrs_buf_clear(&line);
    return s;
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
    if (s == MRS_OK) {
        s = mrs_whole_open(en->mem, path, &f.bson, e);
    }
    if (s == MRS_OK) {
        s = mrs_whole_open(en->mem, (const char *)lines.p, &f.lines, e);
    }
    if (s == MRS_OK) {
        s = write_records(en, &f, last_step, e);
    }
    enum mrs_status a = mrs_whole_close(f.bson, s == MRS_OK, e);
    enum mrs_status b = mrs_whole_close(f.lines, s == MRS_OK && a == MRS_OK, e);
    mrs_buf_clear(&lines);
    return s != MRS_OK ? s : a != MRS_OK ? a : b;
}
