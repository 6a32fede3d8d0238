/* kernel.c - refusing, `where`, and the pull protocol of steps that take one document at a time.
 *
 * A kernel sees failures of three kinds: of its document (refused), of memory (the run ends), and none that
 * "the operation failed", since a kernel has no operation beside its document; so FAIL from below always turns
 * into SKIP with the key of the plan that is to blame. Buffers live as long as the thread: no allocation for
 * each document. MAP steps differ in one function only; it stands in the head of their state. */
#include "kernel.h"
#include <stdarg.h>
#include <stdio.h>

enum mrs_status
mrsi_step_skip(struct mrs_ctx *c, enum mrs_status s, const char *where)
{
    if (s != MRS_FAIL && s != MRS_SKIP) {
        return s;
    }
    if (c->err && (s == MRS_FAIL || !c->err->where[0])) {
        c->err->where[0] = 0;
        if (where) {
            mrs_err_at(c->err, "%s", where);
        }
    }
    return MRS_SKIP;
}

enum mrs_status
mrsi_step_refuse(struct mrs_ctx *c, const char *where, const char *fmt, ...)
{
    char msg[480];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return mrsi_step_skip(c, mrs_err_set(c->err, MRS_FAIL, MRS_E_REFUSED, "%s", msg), where);
}

enum mrs_status
mrsi_step_where(const struct mrs_query *q, struct mrs_ctx *c, struct mrs_view d, bool *takes)
{
    *takes = true;
    if (!q) {
        return MRS_OK;
    }
    struct mrs_eval ev = mrsi_step_eval(c, d);
    return mrsi_step_skip(c, mrs_query_match(q, &ev, takes), "where");
}

enum mrs_status
mrsi_step_size(struct mrs_ctx *c, const struct mrs_buf *out)
{
    enum mrs_status s = mrs_buf_status(out, c->err);
    if (s == MRS_OK && out->n > MRS_DOC_MAX) {
        s = mrs_err_set(c->err, MRS_FAIL, MRS_E_LIMIT, "the document would have %zu bytes, more than 16 MiB", out->n);
    }
    return mrsi_step_skip(c, s, NULL);
}

bool
mrsi_step_id_ok(struct mrs_val v)
{
    return v.type != MRS_MISSING && v.type != MRS_ARRAY && v.type != MRS_REGEX && v.type != MRS_UNDEFINED;
}

/* A small table of name hashes settles nearly every document; only a clash asks in earnest. */
bool
mrsi_step_duplicates(struct mrs_view d)
{
    uint64_t seen[4] = {0, 0, 0, 0};
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) == 1) {
        uint32_t n = e.name_len, h = n * 0x9E3779B1u;
        if (n) {
            const uint8_t *p = (const uint8_t *)e.name;
            h += (p[0] * 31u + p[n / 2]) * 0x85EBCA6Bu + (p[n - 1] * 257u + p[n * 3 / 4]) * 0xC2B2AE35u;
        }
        h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
        h >>= 24;
        uint64_t bit = 1ull << (h & 63);
        if (seen[h >> 6] & bit) {
            return mrs_doc_has_duplicates(d, true);
        }
        seen[h >> 6] |= bit;
    }
    return false;
}

/* ---- work ---- */
void
mrsi_work_start(struct mrsi_work *w, struct mrs_ctx *c)
{
    if (!w->ready) {
        for (int i = 0; i < 2; i++) {
            mrs_buf_init(&w->out[i], c->mem, 2u * MRS_DOC_READ_MAX);
        }
        mrs_buf_init(&w->raw, c->mem, 2u * MRS_DOC_READ_MAX);
        mrs_buf_init(&w->key, c->mem, MRS_KEY_MAX);
        w->ready = true;
    }
    mrs_buf_reset(&w->out[0]);
    mrs_buf_reset(&w->out[1]);
    mrs_buf_reset(&w->key);
    w->n = w->at = 0;
}

void
mrsi_work_give(struct mrsi_work *w, int side, bool self, struct mrs_view doc)
{
    w->product[w->n++] = (struct mrs_product){side, self, doc};
}

void
mrsi_work_clear(struct mrs_ctx *c, void *work)
{
    struct mrsi_work *w = work;
    (void)c;
    if (w->ready) {
        mrs_buf_clear(&w->out[0]);
        mrs_buf_clear(&w->out[1]);
        mrs_buf_clear(&w->raw);
        mrs_buf_clear(&w->key);
        w->ready = false;
    }
}

enum mrs_status
mrsi_work_next(const void *state, struct mrs_ctx *c, void *work, struct mrs_product *out)
{
    struct mrsi_work *w = work;
    (void)state;
    (void)c;
    if (w->at == w->n) {
        return MRS_END;
    }
    *out = w->product[w->at++];
    return MRS_OK;
}

/* ---- MAP ---- */
void
mrsi_map_read(struct mrsi_read *r, struct mrsi_map *m)
{
    m->indexes = true;
    mrsi_read_coll(r, mrsi_slot(r, "in"), &m->in);
    mrsi_read_query(r, mrsi_slot(r, "where"), &m->where);
    mrsi_read_bool(r, mrsi_slot(r, "indexes"), &m->indexes);
}

static enum mrs_status
map_begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    const struct mrsi_map *m = state;
    struct mrsi_work *w = work;
    bool takes, changed = false;
    mrsi_work_start(w, c);
    *fate = MRS_FATE_STAYS;
    enum mrs_status s = mrsi_step_where(m->where, c, doc, &takes);
    if (s == MRS_OK && takes) {
        s = mrsi_step_skip(c, m->edit(state, c, w, doc, &w->out[0], &changed), m->place);
        s = s == MRS_OK && changed ? mrsi_step_size(c, &w->out[0]) : s;
    }
    if (s != MRS_OK) {
        return s;
    }
    if (changed) {
        *fate = MRS_FATE_CHANGED;
        doc = (struct mrs_view){w->out[0].p, (uint32_t)w->out[0].n};
    }
    mrsi_work_give(w, side, true, doc);
    return MRS_OK;
}

const struct mrs_spread_ops mrsi_map_ops = {sizeof(struct mrsi_work), mrsi_work_clear, map_begin, mrsi_work_next};
