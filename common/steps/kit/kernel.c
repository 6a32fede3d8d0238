/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - refusals, `where`, and the pull protocol of steps that process one document at a time.
 *
 * A kernel sees failures of its document (refused) and out of memory (the run ends). It has no operation other than its
 * document, so FAIL of a called function always becomes SKIP, with the key of the plan that is the cause. Buffers live
 * as long as the thread: no allocation for each document. This file knows no step. */
#include "kernel.h"
#include "mongoreshape/spread_ops.h"
#include <stdarg.h>
#include <stdio.h>

enum mrs_status
mrsi_step_failed(struct mrs_ctx *c, enum mrs_status s, const char *where)
{
    MRS_ASSERT(s < MRS_OK);
    if (s == MRS_DEAD && c->err && c->err->code == MRS_E_MEMORY && mrs_arena_is_over(c->arena)) {
        mrs_err_clear(c->err);
        s = mrs_err_set(c->err, MRS_FAIL, MRS_E_LIMIT, "what is made for this document takes more than %u MiB",
                        MRS_EVAL_BYTES_MAX >> 20);
    }
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
    MRS_ASSERT(fmt);
    char msg[480];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return mrsi_step_skip(c, mrs_err_set(c->err, MRS_FAIL, MRS_E_REFUSED, "%s", msg), where);
}

enum mrs_status
mrsi_step_existing(struct mrs_ctx *c, enum mrs_status s, const char *key, const struct mrsi_existing *x)
{
    if (!x->name || s == MRS_DEAD) {
        return mrsi_step_skip(c, s, key);
    }
    mrs_err_clear(c->err);
    return mrsi_step_refuse(c, x->key, "the field %s exists already", x->name);
}

enum mrs_status
mrsi_step_skip_in(struct mrs_ctx *c, enum mrs_status s, const char *key, const char *name)
{
    char place[160]; /* err has less space */
    if (s == MRS_OK) {
        return s;
    }
    snprintf(place, sizeof place, "%s.%.140s", key, name);
    return mrsi_step_failed(c, s, place);
}

enum mrs_status
mrsi_step_blocked(struct mrs_ctx *c, const char *where, const struct mrs_edit_site *site, const char *path)
{
    MRS_ASSERT(site->block || site->block_len == 0);
    enum mrs_status s = path ? mrsi_step_refuse(c, where, "%s cannot be written: its way is blocked by a value that is "
                                                          "no document", path)
                             : mrsi_step_refuse(c, where, "a value that is not a document is in the way");
    mrs_err_more(c->err, "%s%.*s is of type %s", site->block_item ? "an element of " : "", (int)site->block_len,
                 site->block, mrs_type_name(site->block_type));
    return s;
}

enum mrs_status
mrsi_step_end(enum mrs_status st, struct mrs_view doc, struct mrs_buf *out, size_t start, enum mrs_fate *fate)
{
    MRS_ASSERT(start <= out->n);
    if (st != MRS_OK) {
        out->n = start;
        out->bad = 0;
        return st;
    }
    bool same = out->n - start == doc.n && memcmp(out->p + start, doc.p, doc.n) == 0;
    *fate = same ? MRS_FATE_STAYS : MRS_FATE_CHANGED;
    return MRS_OK;
}

enum mrs_status
mrsi_step_sort_key(struct mrs_ctx *c, const struct mrs_sort *s, struct mrs_view doc, struct mrs_buf *out,
                   const char *key)
{
    return mrsi_step_skip(c, mrs_sort_key(s, doc, out, c->err), key);
}

enum mrs_status
mrsi_step_query(const struct mrs_query *q, struct mrs_ctx *c, struct mrs_view d, bool *takes)
{
    struct mrs_eval ev = mrsi_step_eval(c, d);
    return mrsi_step_skip(c, mrs_query_match(q, &ev, takes), "where");
}

/* Appends to the reason: size of the document with so many more bytes in a field. */
static void
add_size(struct mrs_ctx *c, struct mrs_view doc, const char *field, uint64_t bytes)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const double mib = 1 << 20;
    struct mrs_walk w = {doc.p + 4, doc.p + doc.n - 1};
    struct mrs_elem e;
    uint64_t all = doc.n + bytes, most = bytes;
    while (mrs_walk_next(&w, &e) == 1) {
        field = e.v.n >= most ? e.name : field;
        most = e.v.n >= most ? e.v.n : most;
    }
    mrs_err_more(c->err, "it would have %.2f MiB, its largest field %.100s %.2f MiB", (double)all / mib, field,
                 (double)most / mib);
}

enum mrs_status
mrsi_step_too_large_with(struct mrs_ctx *c, const char *where, const char *what, struct mrs_view doc,
                         const char *field, uint64_t bytes)
{
    enum mrs_status s = mrsi_step_refuse(c, where, "%s", what);
    add_size(c, doc, field, bytes);
    return s;
}

enum mrs_status
mrsi_step_too_large(struct mrs_ctx *c, const char *where, const char *what, const struct mrs_buf *out, size_t start)
{
    MRS_ASSERT(start <= out->n);
    struct mrs_view doc = {out->p + start, (uint32_t)(out->n - start)};
    return mrsi_step_too_large_with(c, where, what, doc, "", 0);
}

enum mrs_status
mrsi_step_size(struct mrs_ctx *c, const struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    enum mrs_status s = mrs_buf_status(out, c->err);
    if (s == MRS_OK && out->n > MRS_DOC_MAX) {
        s = mrs_err_set(c->err, MRS_FAIL, MRS_E_LIMIT, "the document would pass 16 MiB");
        add_size(c, (struct mrs_view){out->p, (uint32_t)out->n}, "", 0);
    }
    return mrsi_step_skip(c, s, NULL);
}

/* Does a server refuse a document as `_id` for names with `$` at its top? Only a DBRef may have them: $ref, a text,
 * first, then $id, then $db, a text, or nothing more. */
static bool
has_wrong_dollar(struct mrs_view d)
{
    static const char *const dbref[] = {"$ref", "$id", "$db"};
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t at = 0, part = 0;
    bool wrong = false;
    for (mrs_walk_init(&w, d); !wrong && mrs_walk_next(&w, &e) == 1; at++) {
        bool of_dbref = at == part && part < 3 && strcmp(e.name, dbref[part]) == 0;
        wrong = of_dbref ? part != 1 && e.v.type != MRS_STRING : *e.name == '$' || part == 1;
        part += of_dbref;
    }
    return wrong || part == 1;
}

const char *
mrsi_step_id_fault(struct mrs_val v)
{
    if (v.type == MRS_MISSING || v.type == MRS_ARRAY || v.type == MRS_REGEX || v.type == MRS_UNDEFINED) {
        return mrs_type_name(v.type);
    }
    return v.type == MRS_DOCUMENT && has_wrong_dollar(mrs_val_view(v))
               ? "a document with a name that begins with `$`" : NULL;
}

enum mrs_status
mrsi_step_depth(struct mrs_ctx *c, const char *where, struct mrs_view before, struct mrs_view after)
{
    MRS_ASSERT(mrs_view_is_framed(before) && mrs_view_is_framed(after));
    bool suspect = after.n > MRS_DEPTH_MAX * 7; /* a level needs at least 7 bytes: type, name, length and end */
    int now = suspect ? mrs_doc_depth(after) : 0;
    if (now > MRS_DEPTH_MAX && now > mrs_doc_depth(before)) {
        return mrsi_step_refuse(c, where, "the document would be nested %d deep, more than %d", now, MRS_DEPTH_MAX);
    }
    return MRS_OK;
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
mrsi_work_emit(struct mrsi_work *w, int side, bool self, struct mrs_view doc)
{
    w->product[w->n++] = (struct mrs_product){side, self, false, doc};
}

void
mrsi_work_emit_generated(struct mrsi_work *w, int side, struct mrs_view doc)
{
    w->product[w->n++] = (struct mrs_product){side, false, true, doc};
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
    MRS_ASSERT(((struct mrsi_work *)work)->at <= ((struct mrsi_work *)work)->n);
    struct mrsi_work *w = work;
    (void)state;
    (void)c;
    if (w->at == w->n) {
        return MRS_END;
    }
    *out = w->product[w->at++];
    return MRS_OK;
}

/* ---- saved state of an unfinished group ---- */
enum mrs_status
mrsi_step_put_acc(const struct mrs_acc_state *acc, bool failed, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct mrs_view none = mrs_empty_doc();
    if (!failed) {
        return mrs_acc_save(acc, out, e);
    }
    mrs_buf_put(out, none.p, none.n);
    return mrs_buf_status(out, e);
}

struct mrs_view
mrsi_step_get_doc(struct mrs_view *rest)
{
    if (rest->n < MRS_DOC_MIN) {
        return mrs_empty_doc();
    }
    struct mrs_view d = {rest->p, mrs_le32(rest->p)};
    rest->p += d.n;
    rest->n -= d.n;
    return d;
}

enum mrs_status
mrsi_step_get_acc(struct mrs_acc_state *acc, bool *failed, struct mrs_view *rest, struct mrs_err *e)
{
    bool any = rest->n > 0;
    struct mrs_view d = mrsi_step_get_doc(rest);
    *failed = d.n == MRS_DOC_MIN;
    if (*failed) {
        mrs_acc_reset(acc);
        return any ? MRS_OK : mrsi_step_damaged(e);
    }
    return mrs_acc_load(acc, d, e);
}

enum mrs_status
mrsi_step_damaged(struct mrs_err *e)
{
    return mrs_err_checkpoint(e, "a group");
}
