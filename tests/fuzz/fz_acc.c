/* SPDX-License-Identifier: Apache-2.0 */
/* fz_acc.c - any bytes as {acc, docs, saved}: an accumulator, documents that it sees, and a state that somebody saved.
 *
 * A state that is saved and loaded after half of the documents must end with the same value. What is loaded from
 * `saved` is refused with a reason, or stands for a state that can be fed, saved and loaded again. */
#include "mongoreshape/expr.h"
#include "mongoreshape/value.h"

#include <stdlib.h>

#define CEILING (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
must(bool ok)
{
    if (!ok) {
        abort();
    }
}

/* Feeds documents first to last of an array; false: one of them, or all of them, cannot be taken. */
static bool
feed(const struct mrs_acc *x, struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_view docs, uint32_t first,
     uint32_t last)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_val v;
    uint32_t i = 0;
    for (mrs_walk_init(&w, docs); mrs_walk_next(&w, &el) == 1; i++) {
        if (i < first || i >= last || el.v.type != MRS_DOCUMENT) {
            continue;
        }
        ev->root = mrs_val_view(el.v);
        if (mrs_acc_argument(x, ev, &v) != MRS_OK || mrs_acc_feed(s, v, ev->err) != MRS_OK) {
            must(ev->err->code != MRS_E_NONE);
            return false;
        }
    }
    return true;
}

/* Saves a and loads it into b. */
static bool
carry(struct mrs_acc_state *a, struct mrs_acc_state *b, struct mrs_buf *room, struct mrs_err *e)
{
    mrs_buf_reset(room);
    if (mrs_acc_save(a, room, e) != MRS_OK) {
        return false;
    }
    must(mrs_doc_check(room->p, room->n, MRS_DEPTH_READ, NULL) == MRS_OK);
    must(mrs_acc_load(b, (struct mrs_view){room->p, (uint32_t)room->n}, e) == MRS_OK);
    return true;
}

static void
same_value(struct mrs_acc_state *a, struct mrs_acc_state *b, struct mrs_eval *ev)
{
    struct mrs_val x, y;
    enum mrs_status s = mrs_acc_value(a, ev->arena, &x, ev->err), t = mrs_acc_value(b, ev->arena, &y, ev->err);
    must(s == t);
    must(s != MRS_OK || (x.type != MRS_MISSING && mrs_identical(x, y)));
}

static void
try_acc(const struct mrs_acc *x, struct mrs_mem *mem, struct mrs_eval *ev, struct mrs_view in)
{
    struct mrs_val docs = mrs_doc_get(in, "docs"), saved = mrs_doc_get(in, "saved");
    struct mrs_view list = docs.type == MRS_ARRAY ? mrs_val_view(docs) : mrs_empty_doc();
    struct mrs_acc_state *a, *b;
    struct mrs_buf room;
    mrs_buf_init(&room, mem, 1u << 28);
    must(mrs_acc_state_new(x, mem, CEILING, &a, ev->err) == MRS_OK);
    must(mrs_acc_state_new(x, mem, CEILING, &b, ev->err) == MRS_OK);
    if (feed(x, a, ev, list, 0, 3) && carry(a, b, &room, ev->err)) {
        same_value(a, b, ev);
        if (feed(x, a, ev, list, 3, UINT32_MAX)) {
            must(feed(x, b, ev, list, 3, UINT32_MAX));
            same_value(a, b, ev);
        }
    }
    mrs_err_clear(ev->err);
    if (saved.type == MRS_DOCUMENT && mrs_acc_load(a, mrs_val_view(saved), ev->err) == MRS_OK) {
        struct mrs_val v;
        if (feed(x, a, ev, list, 0, UINT32_MAX) && carry(a, b, &room, ev->err)) {
            mrs_acc_value(b, ev->arena, &v, ev->err);
        }
    } else if (saved.type == MRS_DOCUMENT) {
        must(ev->err->code != MRS_E_NONE);
    }
    mrs_acc_state_free(a);
    mrs_acc_state_free(b);
    mrs_buf_clear(&room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (mrs_doc_check(data, n, MRS_DEPTH_READ, NULL) != MRS_OK) {
        return 0;
    }
    struct mrs_view in = {data, mrs_le32(data)};
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_expr_env env = {.mem = mem, .now_ms = 1700000000000};
    struct mrs_arena arena;
    struct mrs_err err;
    struct mrs_acc *x;
    mrs_err_clear(&err);
    mrs_arena_init(&arena, mem);
    struct mrs_eval ev = {.arena = &arena, .err = &err};
    struct mrs_val spec = mrs_doc_get(in, "acc");
    if (spec.type == MRS_MISSING) {
        spec = mrs_null();
    }
    if (mrs_acc_compile(&env, spec, &x, &err) == MRS_OK) {
        try_acc(x, mem, &ev, in);
        mrs_acc_free(x);
    } else {
        must(err.code != MRS_E_NONE);
    }
    mrs_arena_clear(&arena);
    must(mrs_mem_close(mem) == 0);
    return 0;
}
