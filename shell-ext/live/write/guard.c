/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - the condition under which a write may happen: the document is still the one from which the write was
 * derived. A filter, or a condition inside the update.
 *
 * Complete top-level fields are compared inside $expr, by type and by value as a literal: the query language would take
 * null for missing, 5 for [5] and a string that begins with a dollar for a path. $eq treats numbers of different types
 * as equal, and symbols and strings, so these are compared with their $type, and nested values with their size; whole
 * documents with their size and the types of their wide numbers. The `_id` is outside $expr, so that its index finds
 * the document. Nothing here depends on the update. */
#include "write.h"

#include "mongoreshape/value.h"

enum { NAMES_MAX = 16, TYPES_MAX = 64 };
static const uint32_t guard_max = 15u << 20;

static bool
plain(const char *name)
{
    return *name && *name != '$' && !strchr(name, '.');
}

/* The expression for a field: "$name", or $getField if the name is no path. */
static void
put_field(struct mrs_build *b, const char *key, const char *name)
{
    uint32_t n = (uint32_t)strlen(name);
    if (!plain(name)) {
        mrs_build_open(b, key, (uint32_t)strlen(key), MRS_DOCUMENT);
        mrs_build_open(b, "$getField", 9, MRS_DOCUMENT);
        mrs_build_open(b, "field", 5, MRS_DOCUMENT);
        mrs_build_text(b, "$literal", name, n);
        mrs_build_close(b);
        mrs_build_text(b, "input", "$$ROOT", 6);
        mrs_build_close(b);
        mrs_build_close(b);
        return;
    }
    uint8_t head[4];
    mrs_put32(head, n + 2);
    mrs_buf_byte(b->buf, MRS_STRING);
    mrs_buf_put(b->buf, key, strlen(key) + 1);
    mrs_buf_put(b->buf, head, 4);
    mrs_buf_byte(b->buf, '$');
    mrs_buf_put(b->buf, name, n + 1);
}

static void
open_eq(struct mrs_build *b)
{
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_open(b, "$eq", 3, MRS_ARRAY);
}

static void
close_eq(struct mrs_build *b)
{
    mrs_build_close(b);
    mrs_build_close(b);
}

static void
put_literal(struct mrs_build *b, const char *key, struct mrs_val v)
{
    mrs_build_open(b, key, (uint32_t)strlen(key), MRS_DOCUMENT);
    mrs_build_val(b, "$literal", 8, v);
    mrs_build_close(b);
}

static void
put_type(struct mrs_build *b, const char *name, uint8_t type)
{
    const char *text = mrs_type_name(type);
    open_eq(b);
    mrs_build_open(b, "0", 1, MRS_DOCUMENT);
    put_field(b, "$type", name);
    mrs_build_close(b);
    mrs_build_text(b, "1", text, (uint32_t)strlen(text));
    close_eq(b);
}

/* $bsonSize of {v: the field}: mostly shows numbers inside that changed their type. */
static void
put_size(struct mrs_build *b, const char *name, uint32_t size)
{
    open_eq(b);
    mrs_build_open(b, "0", 1, MRS_DOCUMENT);
    mrs_build_open(b, "$bsonSize", 9, MRS_DOCUMENT);
    put_field(b, "v", name);
    mrs_build_close(b);
    mrs_build_close(b);
    mrs_build_i32(b, "1", (int32_t)(size + 8));
    close_eq(b);
}

/* Can a value of another type be equal to such a value? */
static bool
is_like_others(uint8_t type)
{
    switch (type) {
    case MRS_OBJECTID:
    case MRS_BOOL:
    case MRS_DATE:
    case MRS_BINARY:
    case MRS_DOCUMENT:
    case MRS_ARRAY:
        return false;
    default:
        return true;
    }
}

static void
put_name(struct mrs_build *b, struct mrs_view doc, const char *name)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val v = mrs_doc_get(doc, name);
    if (is_like_others(v.type)) {
        put_type(b, name, v.type);
    }
    if (v.type == MRS_MISSING || v.type == MRS_NULL || v.type == MRS_UNDEFINED) {
        return;
    }
    open_eq(b);
    put_field(b, "0", name);
    put_literal(b, "1", v);
    close_eq(b);
    if (v.type == MRS_DOCUMENT || v.type == MRS_ARRAY || v.type == MRS_CODE_W_SCOPE) {
        put_size(b, name, v.n);
    }
}

static void
put_root_size(struct mrs_build *b, uint32_t n)
{
    open_eq(b);
    mrs_build_open(b, "0", 1, MRS_DOCUMENT);
    mrs_build_text(b, "$bsonSize", "$$ROOT", 6);
    mrs_build_close(b);
    mrs_build_i32(b, "1", (int32_t)n);
    close_eq(b);
}

static void
put_whole(struct mrs_build *b, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    open_eq(b);
    mrs_build_text(b, "0", "$$ROOT", 6);
    put_literal(b, "1", mrs_view_val(doc));
    close_eq(b);
    put_root_size(b, doc.n);
    struct mrs_walk w;
    struct mrs_elem f;
    mrs_walk_init(&w, doc);
    for (int left = TYPES_MAX; left > 0 && mrs_walk_next(&w, &f) == 1;) {
        if (f.v.type == MRS_INT64 || f.v.type == MRS_DOUBLE) {
            put_type(b, f.name, f.v.type);
            left--;
        }
    }
}

/* Puts distinct names into list; returns their number, even beyond the capacity. */
static uint32_t
distinct(const char *names, size_t n, const char *list[NAMES_MAX])
{
    uint32_t count = 0;
    for (const char *at = names; at < names + n; at += strlen(at) + 1) {
        bool known = false;
        for (uint32_t i = 0; i < count && i < NAMES_MAX && !known; i++) {
            known = strcmp(list[i], at) == 0;
        }
        if (!known) {
            if (count < NAMES_MAX) {
                list[count] = at;
            }
            count++;
        }
    }
    return count;
}

/* Without $eq where that asks for the value, too: some servers look a plain `_id` up in less time. A regular expression
 * would be a pattern, and a document may be operators. */
static void
put_id(struct mrs_build *b, struct mrs_val id)
{
    if (id.type != MRS_REGEX && id.type != MRS_DOCUMENT) {
        mrs_build_val(b, "_id", 3, id);
        return;
    }
    mrs_build_open(b, "_id", 3, MRS_DOCUMENT);
    mrs_build_val(b, "$eq", 3, id);
    mrs_build_close(b);
}

static void
open_guard(struct mrs_build *b, struct mrs_val id)
{
    mrs_build_open(b, "$and", 4, MRS_ARRAY);
    mrs_build_item_open(b, MRS_DOCUMENT);
    put_id(b, id);
    mrs_build_close(b);
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_open(b, "$expr", 5, MRS_DOCUMENT);
    mrs_build_open(b, "$and", 4, MRS_ARRAY);
}

static void
close_guard(struct mrs_build *b)
{
    for (int i = 0; i < 4; i++) {
        mrs_build_close(b);
    }
}

static enum mrs_status
no_id(struct mrs_err *e)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "a document without _id cannot be guarded");
}

/* The elements of $and. */
static void
put_conditions(struct mrs_build *b, struct mrs_view doc, struct mrs_val id, const char *names, size_t n)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const char *list[NAMES_MAX];
    uint32_t count = names ? distinct(names, n, list) : NAMES_MAX + 1;
    if (is_like_others(id.type)) {
        put_type(b, "_id", id.type);
    }
    if (count > NAMES_MAX) {
        put_whole(b, doc);
    }
    for (uint32_t i = 0; count <= NAMES_MAX && i < count; i++) {
        if (strcmp(list[i], "_id") != 0) {
            put_name(b, doc, list[i]);
        }
    }
}

/* Ends what was begun at byte `before`; removes a guard that is too large. */
static enum mrs_status
finish(struct mrs_build *b, size_t before, struct mrs_err *e)
{
    struct mrs_view made;
    enum mrs_status st = mrs_build_finish(b, &made, e);
    if (!st && made.n > guard_max) {
        b->buf->n = before;
        st = mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "the guard of a document would have %u bytes", made.n);
    }
    return st;
}

enum mrs_status
live_guard(struct mrs_view doc, const char *names, size_t n, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val id = mrs_doc_get(doc, "_id");
    if (id.type == MRS_MISSING) {
        return no_id(e);
    }
    if (LIVE_MUTANT("guard-off")) {
        return live_guard_id(doc, false, out, e);
    }
    size_t before = out->n;
    struct mrs_build b;
    mrs_build_init(&b, out);
    open_guard(&b, id);
    put_conditions(&b, doc, id, names, n);
    close_guard(&b);
    return finish(&b, before, e);
}

enum mrs_status
live_guard_condition(struct mrs_view doc, const char *names, size_t n, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    size_t before = out->n;
    struct mrs_build b;
    mrs_build_init(&b, out);
    mrs_build_open(&b, "$and", 4, MRS_ARRAY);
    if (!LIVE_MUTANT("guard-off")) {
        put_conditions(&b, doc, mrs_doc_get(doc, "_id"), names, n);
    }
    mrs_build_close(&b);
    return finish(&b, before, e);
}

enum mrs_status
live_guard_id(struct mrs_view doc, bool size, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val id = mrs_doc_get(doc, "_id");
    if (id.type == MRS_MISSING) {
        return no_id(e);
    }
    struct mrs_build b;
    mrs_build_init(&b, out);
    if (size) {
        open_guard(&b, id);
        put_root_size(&b, doc.n);
        close_guard(&b);
    } else {
        put_id(&b, id);
    }
    struct mrs_view made;
    return mrs_build_finish(&b, &made, e);
}
