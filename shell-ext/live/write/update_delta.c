/* SPDX-License-Identifier: Apache-2.0 */
/* update_delta.c - one document's change as an update pipeline.
 *
 * Update operators would put several new fields in the order of their names, and a replacement would remove fields that
 * an application has added in the meantime. So the change is written field by field: one $unset for removed fields,
 * then one $set stage for each new or changed field, with its value as a literal. Unchanged fields keep their position
 * and new ones come last, in this order; if that does not give `after` (another order, names that no stage can express,
 * too many fields), the document is replaced as a whole and the writer must guard all of it. With a condition, all is
 * one $replaceWith by $mergeObjects, which preserves positions and order like the stages; it cannot remove fields.
 * Nothing here depends on servers, on the content of a condition, or on steps. */
#include "write.h"

#include "mongoreshape/value.h"

static bool
plain_name(const struct mrs_elem *e)
{
    return e->name_len > 0 && e->name[0] != '$' && !memchr(e->name, '.', e->name_len);
}

static void
note(struct live_delta *o, const struct mrs_elem *e, int kind)
{
    if (o->n == LIVE_DELTA_OPS || !plain_name(e)) {
        o->whole = true;
        return;
    }
    o->op[o->n].e = *e;
    o->op[o->n++].kind = kind;
    o->removed += kind == LIVE_REMOVED;
}

/* Compares the documents in parallel: fields of before that after does not have at this position are removed, the rest
 * of after is new. */
static int
collect(struct mrs_view before, struct mrs_view after, struct live_delta *o)
{
    MRS_ASSERT(mrs_view_is_framed(before) && mrs_view_is_framed(after));
    struct mrs_walk wb, wa;
    mrs_walk_init(&wb, before);
    mrs_walk_init(&wa, after);
    struct mrs_elem b, a;
    int more = mrs_walk_next(&wa, &a), got;
    while ((got = mrs_walk_next(&wb, &b)) == 1 && !o->whole && more >= 0) {
        if (more != 1 || !mrs_name_is(&a, b.name, b.name_len)) {
            note(o, &b, LIVE_REMOVED);
            continue;
        }
        if (!mrs_identical(a.v, b.v)) {
            note(o, &a, LIVE_CHANGED);
        }
        more = mrs_walk_next(&wa, &a);
    }
    for (; more == 1 && got >= 0 && !o->whole; more = mrs_walk_next(&wa, &a)) {
        note(o, &a, LIVE_ADDED);
    }
    return got < 0 || more < 0 ? -1 : 0;
}

/* A field that is removed here and added there, or a duplicate name, cannot be expressed either. */
static void
check(struct mrs_mem *mem, struct mrs_view before, struct mrs_view after, struct live_delta *o)
{
    struct mrs_elem found;
    for (uint32_t i = 0; i < o->n && !o->whole; i++) {
        const struct live_delta_op *op = &o->op[i];
        if (op->kind != LIVE_CHANGED) {
            o->whole = mrs_doc_find(op->kind == LIVE_REMOVED ? after : before, op->e.name, op->e.name_len, &found);
        }
    }
    o->whole = o->whole || mrs_doc_has_duplicates(mem, before, true) || mrs_doc_has_duplicates(mem, after, true);
}

static void
open_stage(struct mrs_build *b, uint32_t no, const char *name, uint8_t type)
{
    char index[12];
    mrs_build_open(b, index, mrs_index_name(index, no), MRS_DOCUMENT);
    mrs_build_open(b, name, (uint32_t)strlen(name), type);
}

static void
close_stage(struct mrs_build *b)
{
    mrs_build_close(b);
    mrs_build_close(b);
}

static void
put_literal(struct mrs_build *b, const struct mrs_elem *e)
{
    mrs_build_open(b, e->name, e->name_len, MRS_DOCUMENT);
    mrs_build_val(b, "$literal", 8, e->v);
    mrs_build_close(b);
}

static uint32_t
put_unset(struct mrs_build *b, const struct live_delta *o)
{
    MRS_ASSERT(o->n <= LIVE_DELTA_OPS);
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->op[i].kind != LIVE_REMOVED) {
            continue;
        }
        if (n == 0) {
            open_stage(b, 0, "$unset", MRS_ARRAY);
        }
        char index[12];
        mrs_index_name(index, n++);
        mrs_build_text(b, index, o->op[i].e.name, o->op[i].e.name_len);
    }
    if (n) {
        close_stage(b);
    }
    return n ? 1 : 0;
}

static int
by_name(const struct live_delta_op *a, const struct live_delta_op *b)
{
    return strcmp(a->e.name, b->e.name);
}

/* Like update operators: all fields in one stage, by name. Only for the test build's mutant. */
static void
put_fields_by_name(struct mrs_build *b, const struct live_delta *d)
{
    bool done[LIVE_DELTA_OPS] = {false};
    for (uint32_t k = 0; k < d->n; k++) {
        uint32_t least = LIVE_DELTA_OPS;
        for (uint32_t i = 0; i < d->n; i++) {
            if (!done[i] && d->op[i].kind != LIVE_REMOVED &&
                (least == LIVE_DELTA_OPS || by_name(&d->op[i], &d->op[least]) < 0)) {
                least = i;
            }
        }
        if (least < LIVE_DELTA_OPS) {
            done[least] = true;
            put_literal(b, &d->op[least].e);
        }
    }
}

static void
put_fields(struct mrs_build *b, const struct live_delta *d)
{
    if (LIVE_MUTANT("set-all-at-once")) {
        put_fields_by_name(b, d);
        return;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        put_literal(b, &d->op[i].e);
    }
}

static void
put_sets(struct mrs_build *b, uint32_t stage, const struct live_delta *d)
{
    MRS_ASSERT(d->n <= LIVE_DELTA_OPS);
    if (LIVE_MUTANT("set-all-at-once")) {
        open_stage(b, stage, "$set", MRS_DOCUMENT);
        put_fields_by_name(b, d);
        close_stage(b);
        return;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->op[i].kind != LIVE_REMOVED) {
            open_stage(b, stage++, "$set", MRS_DOCUMENT);
            put_literal(b, &d->op[i].e);
            close_stage(b);
        }
    }
}

static void
put_whole(struct mrs_build *b, struct mrs_view after)
{
    open_stage(b, 0, "$replaceWith", MRS_DOCUMENT);
    mrs_build_val(b, "$literal", 8, mrs_view_val(after));
    close_stage(b);
}

/* {$replaceWith: {$cond: [guard, the changed document, "$$ROOT"]}} */
static void
put_guarded(struct mrs_build *b, const struct live_delta *d, struct mrs_view guard)
{
    MRS_ASSERT(d->whole || d->removed == 0);
    open_stage(b, 0, "$replaceWith", MRS_DOCUMENT);
    mrs_build_open(b, "$cond", 5, MRS_ARRAY);
    mrs_build_item(b, mrs_view_val(guard));
    mrs_build_item_open(b, MRS_DOCUMENT);
    if (d->whole) {
        mrs_build_val(b, "$literal", 8, mrs_view_val(d->after));
    } else {
        mrs_build_open(b, "$mergeObjects", 13, MRS_ARRAY);
        mrs_build_text(b, "0", "$$ROOT", 6);
        mrs_build_open(b, "1", 1, MRS_DOCUMENT);
        put_fields(b, d);
        mrs_build_close(b);
        mrs_build_close(b);
    }
    mrs_build_close(b);
    mrs_build_text(b, "2", "$$ROOT", 6);
    mrs_build_close(b);
    close_stage(b);
}

enum mrs_status
live_delta_find(struct mrs_view before, struct mrs_view after, struct live_delta *d, struct mrs_buf *touched,
                struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(before) && mrs_view_is_framed(after));
    if (before.n == after.n && memcmp(before.p, after.p, after.n) == 0) {
        return MRS_END;
    }
    d->n = d->removed = 0;
    d->whole = false;
    d->after = after;
    if (!mrs_identical(mrs_doc_get(before, "_id"), mrs_doc_get(after, "_id")) || collect(before, after, d)) {
        return mrs_err_set(e, MRS_DEAD, MRS_E_ACCOUNT, "an update would have changed the _id of a document");
    }
    check(touched->mem, before, after, d);
    for (uint32_t i = 0; i < d->n && !d->whole; i++) {
        mrs_buf_put(touched, d->op[i].e.name, d->op[i].e.name_len + 1);
    }
    return mrs_buf_status(touched, e);
}

enum mrs_status
live_delta_put(const struct live_delta *d, struct mrs_view guard, struct mrs_buf *pipeline, struct mrs_err *e)
{
    struct mrs_build b;
    struct mrs_view made;
    mrs_build_init(&b, pipeline);
    if (guard.n) {
        put_guarded(&b, d, guard);
    } else if (d->whole) {
        put_whole(&b, d->after);
    } else {
        put_sets(&b, put_unset(&b, d), d);
    }
    return mrs_build_finish(&b, &made, e);
}
