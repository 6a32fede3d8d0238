/* SPDX-License-Identifier: Apache-2.0 */
/* undo.c - builds the inverse of a step. */
#include "undo.h"
#include "mongoreshape/inverse.h"

#include <stdarg.h>
#include <stdio.h>

void
mrsi_undo_begin(struct mrsi_undo *u, struct mrs_inverse *inv, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(inv->body));
    *u = (struct mrsi_undo){.inv = inv, .err = e};
    mrs_buf_init(&u->buf, inv->mem, 4 * (size_t)MRS_DOC_MAX);
}

enum mrs_status
mrsi_undo_end(struct mrsi_undo *u)
{
    enum mrs_status s = u->bad ? mrs_err_memory(u->err, 0) : MRS_OK;
    mrs_buf_clear(&u->buf);
    return s;
}

/* A list of the arena with space for one more. */
static void *
room(struct mrsi_undo *u, void *list, uint32_t n, uint32_t *cap, size_t size)
{
    void *p = mrs_arena_more(u->inv->arena, list, n, cap, size);
    u->bad = u->bad || !p;
    return p;
}

/* ---- entries ---- */
void
mrsi_undo_open(struct mrsi_undo *u, const char *step)
{
    MRS_ASSERT(step);
    mrs_buf_reset(&u->buf);
    mrs_build_init(&u->b, &u->buf);
    mrs_build_open(&u->b, step, (uint32_t)strlen(step), MRS_DOCUMENT);
}

void
mrsi_undo_close(struct mrsi_undo *u)
{
    struct mrs_inverse *inv = u->inv;
    struct mrs_view doc = mrs_empty_doc();
    mrs_build_close(&u->b);
    enum mrs_status s = mrs_build_finish(&u->b, &doc, u->err);
    const uint8_t *p = s == MRS_OK ? mrs_arena_copy(inv->arena, doc.p, doc.n) : NULL;
    struct mrs_view *list = p ? room(u, inv->entry, inv->n_entries, &inv->cap_entries, sizeof *list) : NULL;
    u->bad = u->bad || !list;
    if (list) {
        inv->entry = list;
        list[inv->n_entries++] = (struct mrs_view){p, doc.n};
    }
}

struct mrs_val
mrsi_undo_body(const struct mrsi_undo *u, const char *key)
{
    return mrs_doc_get(u->inv->body, key);
}

void
mrsi_undo_take(struct mrsi_undo *u, const char *key, const char *of)
{
    mrsi_undo_val(u, key, mrsi_undo_body(u, of));
}

void
mrsi_undo_val(struct mrsi_undo *u, const char *key, struct mrs_val v)
{
    MRS_ASSERT(key);
    mrs_build_val(&u->b, key, (uint32_t)strlen(key), v);
}

void
mrsi_undo_text(struct mrsi_undo *u, const char *key, const char *text)
{
    mrs_build_text(&u->b, key, text, (uint32_t)strlen(text));
}

void
mrsi_undo_bool(struct mrsi_undo *u, const char *key, bool v)
{
    mrs_build_bool(&u->b, key, v);
}

void
mrsi_undo_deeper(struct mrsi_undo *u, const char *key, uint8_t type)
{
    mrs_build_open(&u->b, key, (uint32_t)strlen(key), type);
}

void
mrsi_undo_up(struct mrsi_undo *u)
{
    mrs_build_close(&u->b);
}

/* A star would match names in `unset`. */
static bool
plain(const struct mrs_path *path)
{
    bool yes = true;
    for (uint32_t i = 0; i < path->n; i++) {
        const struct mrs_part *p = &path->part[i];
        yes = yes && p->len && p->name[0] != '$' && !memchr(p->name, '.', p->len) && !memchr(p->name, '*', p->len);
    }
    return yes;
}

static struct mrs_val
path_val(struct mrsi_undo *u, const struct mrs_path *path)
{
    MRS_ASSERT(path->n > 0);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    if (plain(path)) {
        struct mrs_val v = mrs_make_text(u->inv->arena, path->text, (uint32_t)strlen(path->text));
        u->bad = u->bad || v.type == MRS_MISSING;
        return v;
    }
    mrs_buf_init(&buf, u->inv->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    for (uint32_t i = 0; i < path->n; i++) {
        char name[12];
        mrs_index_name(name, i);
        mrs_build_text(&b, name, path->part[i].name, path->part[i].len);
    }
    enum mrs_status s = mrs_build_finish(&b, &doc, u->err);
    struct mrs_val v = mrs_missing();
    struct mrs_val list = {doc.p, s == MRS_OK ? doc.n : 0, MRS_ARRAY};
    u->bad = u->bad || s != MRS_OK || !mrs_val_copy(u->inv->arena, list, &v);
    mrs_buf_clear(&buf);
    return v;
}

void
mrsi_undo_path(struct mrsi_undo *u, const char *key, const struct mrs_path *path)
{
    mrsi_undo_val(u, key, path_val(u, path));
}

void
mrsi_undo_item_path(struct mrsi_undo *u, const struct mrs_path *path)
{
    mrs_build_item(&u->b, path_val(u, path));
}

void
mrsi_undo_item_val(struct mrsi_undo *u, struct mrs_val v)
{
    mrs_build_item(&u->b, v);
}

void
mrsi_undo_item_text(struct mrsi_undo *u, const char *text)
{
    struct mrs_val v = mrs_make_text(u->inv->arena, text, (uint32_t)strlen(text));
    u->bad = u->bad || v.type == MRS_MISSING;
    mrs_build_item(&u->b, v);
}

void
mrsi_undo_item_literal(struct mrsi_undo *u, struct mrs_val v)
{
    struct mrs_path path;
    uint32_t n = 0;
    if (v.type != MRS_STRING || !strchr(mrs_val_text(v, &n), '*')) {
        mrs_build_item(&u->b, v);
    } else if (mrs_path_compile(u->inv->arena, v, true, &path, u->err) == MRS_OK) {
        mrsi_undo_item_path(u, &path);
    } else {
        u->bad = true;
    }
}

/* ---- entries for many steps ---- */
struct mrs_val
mrsi_undo_into(const struct mrsi_undo *u, const char *key)
{
    struct mrs_val v = mrsi_undo_body(u, key);
    return v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "into") : mrs_missing();
}

void
mrsi_undo_move(struct mrsi_undo *u, struct mrs_val from, struct mrs_val into)
{
    MRS_ASSERT(mrs_val_is_sized(from) && mrs_val_is_sized(into));
    mrsi_undo_open(u, "move");
    mrsi_undo_val(u, "from", from);
    mrsi_undo_val(u, "into", into);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

void
mrsi_undo_unset(struct mrsi_undo *u, struct mrs_val in, const struct mrs_path *const *path, uint32_t n)
{
    MRS_ASSERT(path || n == 0);
    MRS_ASSERT(mrs_val_is_sized(in));
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any = any || path[i]->n;
    }
    if (!any) {
        return;
    }
    mrsi_undo_open(u, "unset");
    mrsi_undo_val(u, "in", in);
    mrsi_undo_deeper(u, "fields", MRS_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        if (path[i]->n) {
            mrsi_undo_item_path(u, path[i]);
        }
    }
    mrsi_undo_up(u);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

/* ---- losses ---- */
const char *
mrsi_undo_coll_name(struct mrs_val v)
{
    v = v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "coll") : v;
    return v.type == MRS_STRING ? (const char *)v.p + 4 : "?";
}

const char *
mrsi_undo_coll(const struct mrsi_undo *u, const char *key)
{
    return mrsi_undo_coll_name(mrsi_undo_body(u, key));
}

void
mrsi_undo_conflicts(struct mrsi_undo *u)
{
    struct mrs_val v = mrsi_undo_body(u, "conflicts");
    if (v.type == MRS_STRING && !mrs_val_is_text(v, "refuse")) {
        mrsi_undo_loss(u, MRS_LOSS_DOCUMENTS | MRS_LOSS_VALUES | MRS_LOSS_PLACES | MRS_LOSS_TYPES,
                       "documents of which another one with the same _id counts");
    }
}

void
mrsi_undo_loss(struct mrsi_undo *u, unsigned kinds, const char *fmt, ...)
{
    MRS_ASSERT(kinds && fmt);
    struct mrs_inverse *inv = u->inv;
    struct mrs_loss *list = room(u, inv->loss, inv->n_losses, &inv->cap_losses, sizeof *list);
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *copy = n < 0 ? NULL : mrs_arena_copy(inv->arena, text, strlen(text) + 1);
    u->bad = u->bad || !copy;
    if (list && copy) {
        inv->loss = list;
        list[inv->n_losses++] = (struct mrs_loss){kinds, copy};
    }
}
