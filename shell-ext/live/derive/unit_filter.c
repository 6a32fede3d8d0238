/* SPDX-License-Identifier: Apache-2.0 */
/* unit_filter.c - filters for the documents whose field has one of many values.
 *
 * `$in` takes a regular expression for a pattern and a document that begins with `$` for an operator; `$eq` takes both
 * as values, so they get their own clauses. null also matches missing fields, which is right for a join that matches
 * nulls and wrong for a list of our own documents: there the type is queried. The server's match is the wider one (an
 * array also matches as a whole); the caller makes the exact comparison. */
#include "derive.h"

void
live_value_filter_init(struct live_value_filter *a, struct mrs_mem *mem, const char *path)
{
    MRS_ASSERT(path[0]);
    memset(a, 0, sizeof *a);
    a->path = path;
    mrs_buf_init(&a->in, mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&a->rest, mem, MRS_DOC_READ_MAX);
    live_value_filter_reset(a);
}

void
live_value_filter_clear(struct live_value_filter *a)
{
    mrs_buf_clear(&a->in);
    mrs_buf_clear(&a->rest);
}

void
live_value_filter_reset(struct live_value_filter *a)
{
    mrs_buf_reset(&a->in);
    mrs_buf_reset(&a->rest);
    mrs_build_init(&a->in_list, &a->in);
    mrs_build_init(&a->clauses, &a->rest);
    a->n_in = a->n_clauses = 0;
}

static bool
begins_with_dollar(struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem e;
    if (v.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    return mrs_walk_next(&w, &e) == 1 && e.name[0] == '$';
}

/* Adds the clause {path: {operator: v}}. */
static void
add_clause(struct live_value_filter *a, const char *operator, struct mrs_val v)
{
    mrs_build_item_open(&a->clauses, MRS_DOCUMENT);
    mrs_build_open(&a->clauses, a->path, (uint32_t)strlen(a->path), MRS_DOCUMENT);
    mrs_build_val(&a->clauses, operator, (uint32_t)strlen(operator), v);
    mrs_build_close(&a->clauses);
    mrs_build_close(&a->clauses);
    a->n_clauses++;
}

void
live_value_filter_add(struct live_value_filter *a, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (v.type == MRS_REGEX || begins_with_dollar(v)) {
        add_clause(a, "$eq", v);
    } else {
        mrs_build_item(&a->in_list, v);
        a->n_in++;
    }
}

void
live_value_filter_add_nulls(struct live_value_filter *a)
{
    uint8_t room[16];
    mrs_build_item(&a->in_list, mrs_null());
    a->n_in++;
    add_clause(a, "$type", mrs_make_i32(room, MRS_UNDEFINED)); /* from 8.0 on null does not match it */
}

static void
add_null(struct live_value_filter *a)
{
    uint8_t room[16];
    add_clause(a, "$type", mrs_make_i32(room, MRS_NULL));
}

size_t
live_value_filter_bytes(const struct live_value_filter *a)
{
    return a->in.n + a->rest.n;
}

static void
put_condition(struct mrs_build *b, const struct live_value_filter *a, struct mrs_view in, struct mrs_view clauses)
{
    uint32_t n = (uint32_t)strlen(a->path);
    struct mrs_val list = {in.p, in.n, MRS_ARRAY};
    if (a->n_clauses) {
        mrs_build_open(b, "$or", 3, MRS_ARRAY);
        mrs_build_item_open(b, MRS_DOCUMENT);
    }
    mrs_build_open(b, a->path, n, MRS_DOCUMENT);
    mrs_build_val(b, "$in", 3, list);
    mrs_build_close(b);
    if (!a->n_clauses) {
        return;
    }
    mrs_build_close(b);
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, clauses);
    while (mrs_walk_next(&w, &e) == 1) {
        mrs_build_item(b, e.v);
    }
    mrs_build_close(b);
}

enum mrs_status
live_value_filter_finish(struct live_value_filter *a, struct mrs_buf *out, struct mrs_view *filter, struct mrs_err *e)
{
    struct mrs_view in, clauses;
    struct mrs_build b;
    MRS_TRY(mrs_build_finish(&a->in_list, &in, e));
    MRS_TRY(mrs_build_finish(&a->clauses, &clauses, e));
    mrs_build_init(&b, out);
    put_condition(&b, a, in, clauses);
    return mrs_build_finish(&b, filter, e);
}

/* ---- documents of a unit, units of a document ---- */
/* {field: {$in: [the values of docs at `of`]}}, without arrays. The filter does not exclude arrays in the field either:
 * with a second condition some servers do not use the index. */
static enum mrs_status
belongs(struct live_units *u, const char *field, const char *of, const struct mrs_view *docs, uint32_t n,
        struct mrs_buf *out, struct mrs_err *e)
{
    struct live_value_filter values;
    struct mrs_path path;
    struct mrs_view filter;
    mrs_arena_reset(&u->scratch);
    struct mrs_val text = mrs_make_text(&u->scratch, of, (uint32_t)strlen(of));
    if (text.type == MRS_MISSING) {
        return mrs_err_memory(e, 0);
    }
    MRS_TRY(mrs_path_compile(&u->scratch, text, false, &path, e));
    live_value_filter_init(&values, u->job->mem, field);
    for (uint32_t i = 0; i < n; i++) {
        struct mrs_val v = mrs_path_get(&path, docs[i]);
        if (v.type == MRS_NULL) {
            add_null(&values);
        } else if (v.type != MRS_MISSING && v.type != MRS_UNDEFINED && v.type != MRS_ARRAY) {
            live_value_filter_add(&values, v);
        }
    }
    enum mrs_status s = live_value_filter_finish(&values, out, &filter, e);
    live_value_filter_clear(&values);
    return s;
}

static const struct mrs_listing *
listing_of(const struct live_units *u, int side)
{
    const struct mrs_desc *d = &u->step->desc;
    for (uint32_t i = 0; i < d->n_listings; i++) {
        if (d->listings[i].side == side) {
            return &d->listings[i];
        }
    }
    return NULL;
}

enum mrs_status
live_units_listing(struct live_units *u, int side, const struct mrs_view *docs, uint32_t n,
                   struct mrs_buf *out, struct mrs_err *e)
{
    const struct mrs_listing *l = listing_of(u, side);
    return l ? belongs(u, l->field, l->key, docs, n, out, e) : MRS_END;
}

enum mrs_status
live_units_owners(struct live_units *u, int side, const struct mrs_view *docs, uint32_t n,
                  struct mrs_buf *out, struct mrs_err *e)
{
    const struct mrs_listing *l = listing_of(u, side);
    return l ? belongs(u, l->key, l->field, docs, n, out, e) : MRS_END;
}
