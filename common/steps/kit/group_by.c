/* SPDX-License-Identifier: Apache-2.0 */
/* group_by.c - `by` of a plan: the key of a group of documents, and serialized values. */
#include "group_by.h"
#include "mongoreshape/value.h"
#include "shape.h"
#include <stdio.h>

/* ---- compile ---- */
static void
constant_key(struct mrsi_read *r, struct mrsi_slot slot, bool grand)
{
    mrsi_read_error(r, slot.key, slot.sub, "is the same for every document: a key is a field (\"$name\") or an "
                                           "expression%s", grand ? "; null makes a grand total" : "");
}

/* The slot of a part; below another key, its name is prefixed with that of `by`. */
static struct mrsi_slot
part_of(struct mrsi_read *r, struct mrsi_slot slot, const struct mrs_elem *el)
{
    const char *sub = slot.sub ? mrsi_read_text_of(r, "%s.%s", slot.sub, el->name) : el->name;
    return (struct mrsi_slot){el->v, slot.key, sub, NULL};
}

static void
read_parts(struct mrsi_read *r, struct mrsi_slot slot, struct mrsi_by *by)
{
    MRS_ASSERT(slot.v.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = mrs_val_count(slot.v);
    by->part = mrsi_read_alloc(r, n + 1, sizeof *by->part);
    by->part_name = mrsi_read_alloc(r, n + 1, sizeof *by->part_name);
    by->part_len = mrsi_read_alloc(r, n + 1, sizeof *by->part_len);
    if (!by->part || !by->part_name || !by->part_len) {
        return;
    }
    mrs_walk_init(&w, mrs_val_view(slot.v));
    while (mrs_walk_next(&w, &el) == 1) {
        const char **name = &by->part_name[by->n_parts];
        struct mrsi_slot one = part_of(r, slot, &el), label = one;
        label.v = mrs_make_text(r->args->arena, el.name, el.name_len);
        if (label.v.type == MRS_MISSING) {
            r->status = mrs_err_memory(r->err, el.name_len);
            return;
        }
        if (mrsi_read_name(r, label, name) && mrsi_read_expr(r, one, &by->part[by->n_parts])) {
            if (mrs_expr_constant(by->part[by->n_parts], NULL)) {
                constant_key(r, one, !slot.sub);
            }
            by->part_len[by->n_parts] = (uint32_t)strlen(*name);
            by->n_parts++;
        }
    }
    if (!n) {
        constant_key(r, slot, !slot.sub);
    }
}

void
mrsi_read_by(struct mrsi_read *r, struct mrsi_slot slot, struct mrsi_by *by)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (slot.v.type == MRS_NULL || slot.v.type == MRS_MISSING) {
        return;
    }
    if (slot.v.type == MRS_DOCUMENT) {
        mrs_walk_init(&w, mrs_val_view(slot.v));
        if (mrs_walk_next(&w, &el) != 1 || el.name[0] != '$') {
            read_parts(r, slot, by);
            return;
        }
    }
    if (mrsi_read_expr(r, slot, &by->key) && mrs_expr_constant(by->key, NULL)) {
        constant_key(r, slot, !slot.sub);
    }
}

/* ---- values ---- */
void
mrsi_put_value(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    MRS_ASSERT(mrs_buf_is_sound(out));
    uint8_t *at = out->bad ? NULL : mrs_buf_take(out, v.n + 1u);
    if (at) {
        *at = v.type;
        mrs_copy_short(at + 1, v.p, v.n);
    }
}

void
mrsi_put_reason(struct mrs_buf *out, const char *why)
{
    MRS_ASSERT(why);
    MRS_ASSERT(mrs_buf_is_sound(out));
    uint8_t size[4];
    uint32_t n = (uint32_t)strlen(why) + 1;
    mrs_put32(size, n);
    mrs_buf_byte(out, MRSI_GROUP_VALUE_BAD);
    mrs_buf_put(out, size, sizeof size);
    mrs_buf_put(out, why, n);
}

struct mrsi_group_value
mrsi_get_group_value(const uint8_t **at, const uint8_t *end)
{
    MRS_ASSERT(*at < end);
    if (**at != MRSI_GROUP_VALUE_BAD) {
        return (struct mrsi_group_value){mrsi_get_value(at, end), false};
    }
    const uint8_t *text = *at + 1;
    uint32_t n = 4 + mrs_le32(text);
    *at = text + n;
    return (struct mrsi_group_value){{text, n, MRS_STRING}, true};
}

/* ---- the key of a document ---- */
/* Is a field missing, or was a computed text made of a missing one? */
static bool
lacks(const struct mrs_expr *x, struct mrs_val v)
{
    return v.type == MRS_MISSING || (mrsi_step_is_empty(v) && !mrs_expr_bare_path(x));
}

/* A key with one value; missing becomes null. */
static enum mrs_status
put_key(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *shared)
{
    struct mrs_val key = mrs_null();
    enum mrs_status st = by->key ? mrs_expr_eval(by->key, ev, &key) : MRS_OK;
    if (st != MRS_OK) {
        return mrsi_step_skip(c, st, "by");
    }
    c->remarks |= by->key && lacks(by->key, key);
    mrsi_put_value(shared, key.type == MRS_MISSING ? mrs_null() : key);
    return MRS_OK;
}

static inline void
put_part(struct mrs_buf *out, const char *name, uint32_t len, struct mrs_val v)
{
    uint8_t *at = out->bad ? NULL : mrs_buf_take(out, (size_t)len + 2 + v.n);
    if (at) {
        *at = v.type;
        mrs_copy_short(at + 1, name, len);
        at[len + 1] = 0;
        mrs_copy_short(at + len + 2, v.p, v.n);
    }
}

/* A key that is a document of parts: a missing part is omitted, or null if there is only one. */
static enum mrs_status
put_parts(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *shared)
{
    mrs_buf_byte(shared, MRS_DOCUMENT);
    size_t at = mrsi_put_open(shared);
    for (uint32_t i = 0; i < by->n_parts; i++) {
        struct mrs_val v;
        enum mrs_status st = mrs_expr_eval(by->part[i], ev, &v);
        if (st != MRS_OK) {
            return mrsi_step_skip(c, st, "by");
        }
        c->remarks |= lacks(by->part[i], v);
        v = v.type == MRS_MISSING && by->n_parts == 1 ? mrs_null() : v;
        if (v.type != MRS_MISSING) {
            put_part(shared, by->part_name[i], by->part_len[i], v);
        }
    }
    mrsi_put_close(shared, at);
    return MRS_OK;
}

enum mrs_status
mrsi_by_put(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    enum mrs_status st = by->n_parts ? put_parts(by, c, ev, out) : put_key(by, c, ev, out);
    return st == MRS_OK ? mrsi_step_skip(c, mrs_buf_status(out, c->err), "by") : st;
}

enum mrs_status
mrsi_by_group(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_val key, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_val_is_sized(key));
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct mrs_walk w;
    struct mrs_elem e;
    if (!by->n_parts) {
        mrs_key_append(out, key, false);
        return mrsi_step_skip(c, mrs_buf_status(out, c->err), "by");
    }
    mrs_key_open(out);
    for (mrs_walk_init(&w, mrs_val_view(key)); mrs_walk_next(&w, &e) == 1;) {
        mrs_key_field(out, e.name, e.name_len, e.v);
    }
    mrs_key_close(out);
    return mrsi_step_skip(c, mrs_buf_status(out, c->err), "by");
}

void
mrsi_place_append(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    static const struct mrs_val undefined = {NULL, 0, MRS_UNDEFINED};
    struct mrs_val least = v.type == MRS_MISSING ? mrs_null() : v;
    struct mrs_walk w;
    struct mrs_elem e;
    if (v.type == MRS_ARRAY) {
        least = undefined;
        mrs_walk_init(&w, mrs_val_view(v));
        for (bool first = true; mrs_walk_next(&w, &e) == 1; first = false) {
            least = first || mrs_compare(e.v, least) < 0 ? e.v : least;
        }
    }
    mrs_key_append(out, least, false);
}

enum mrs_status
mrsi_by_place(const struct mrsi_by *by, struct mrs_ctx *c, struct mrs_val key, struct mrs_buf *out)
{
    MRS_ASSERT(!by->n_parts || key.type == MRS_DOCUMENT);
    if (!by->n_parts) {
        mrsi_place_append(out, key);
    }
    for (uint32_t i = 0; i < by->n_parts; i++) {
        mrsi_place_append(out, mrs_doc_get(mrs_val_view(key), by->part_name[i]));
    }
    return mrsi_step_skip(c, mrs_buf_status(out, c->err), "by");
}

void
mrsi_group_remark(uint32_t i, const char *field, char *text, size_t size)
{
    if (i == 0) {
        snprintf(text, size, ", `by`: a field is missing, or the key is an empty text, which $toLower and others make "
                             "of a missing field; documents in which the same is missing are one group");
    } else {
        snprintf(text, size, ", `%.150s`: the total passes over a value that is no number: `cast` a text first; of an "
                             "array take the total inside, { $sum: { $sum: ... } }", field ? field : "fields");
    }
}
