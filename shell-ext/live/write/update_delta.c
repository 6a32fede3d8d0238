/* SPDX-License-Identifier: Apache-2.0 */
/* One document's change as an update pipeline.
 *
 * Update operators would put several new fields in the order of their names, and a replacement would take fields with
 * it that an application has added in the meantime. So the change is spelt field by field: one $unset for what goes,
 * then one $set stage for each field that is new or other, with its value as a literal. Fields that stay keep their
 * place and new ones come last, in this order; where `after` is not what that gives (another order, names that no
 * stage can spell, too many fields), the document is replaced as a whole and whoever writes must guard all of it.
 * Nothing is known here of servers, guards or steps. */
#include "write.h"

#include "mongoreshape/value.h"

enum { OPS_MAX = 64 };

struct op {
    struct mrs_elem e;
    enum { OP_UNSET, OP_CHANGE, OP_ADD } kind;
};
struct update_delta_ops {
    struct op op[OPS_MAX];
    uint32_t n;
    bool whole; /* cannot be spelt field by field */
};

static bool
plain_name(const struct mrs_elem *e)
{
    return e->name_len > 0 && e->name[0] != '$' && !memchr(e->name, '.', e->name_len);
}

static void
note(struct update_delta_ops *o, const struct mrs_elem *e, int kind)
{
    if (o->n == OPS_MAX || !plain_name(e)) {
        o->whole = true;
        return;
    }
    o->op[o->n].e = *e;
    o->op[o->n++].kind = kind;
}

/* Both documents side by side: what before has and after has not at this place goes, the rest of after is new. */
static int
collect(struct mrs_view before, struct mrs_view after, struct update_delta_ops *o)
{
    struct mrs_walk wb, wa;
    mrs_walk_init(&wb, before);
    mrs_walk_init(&wa, after);
    struct mrs_elem b, a;
    int more = mrs_walk_next(&wa, &a), got;
    while ((got = mrs_walk_next(&wb, &b)) == 1 && !o->whole && more >= 0) {
        if (more != 1 || !mrs_name_is(&a, b.name, b.name_len)) {
            note(o, &b, OP_UNSET);
            continue;
        }
        if (!mrs_identical(a.v, b.v)) {
            note(o, &a, OP_CHANGE);
        }
        more = mrs_walk_next(&wa, &a);
    }
    for (; more == 1 && got >= 0 && !o->whole; more = mrs_walk_next(&wa, &a)) {
        note(o, &a, OP_ADD);
    }
    return got < 0 || more < 0 ? -1 : 0;
}

/* A field that goes here and comes there, or a name that stands twice, cannot be spelt either. */
static void
check(struct mrs_view before, struct mrs_view after, struct update_delta_ops *o)
{
    struct mrs_elem found;
    for (uint32_t i = 0; i < o->n && !o->whole; i++) {
        const struct op *op = &o->op[i];
        if (op->kind != OP_CHANGE) {
            o->whole = mrs_doc_find(op->kind == OP_UNSET ? after : before, op->e.name, op->e.name_len, &found);
        }
    }
    o->whole = o->whole || mrs_doc_has_duplicates(before, true) || mrs_doc_has_duplicates(after, true);
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
put_unset(struct mrs_build *b, const struct update_delta_ops *o)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->op[i].kind != OP_UNSET) {
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
by_name(const struct op *a, const struct op *b)
{
    return strcmp(a->e.name, b->e.name);
}

/* What update operators would do: all fields in one, by name. Only the test build's mutant asks for it. */
static void
put_sets_at_once(struct mrs_build *b, uint32_t stage, const struct update_delta_ops *o)
{
    bool done[OPS_MAX] = {false};
    open_stage(b, stage, "$set", MRS_DOCUMENT);
    for (uint32_t k = 0; k < o->n; k++) {
        uint32_t least = OPS_MAX;
        for (uint32_t i = 0; i < o->n; i++) {
            if (!done[i] && o->op[i].kind != OP_UNSET && (least == OPS_MAX || by_name(&o->op[i], &o->op[least]) < 0)) {
                least = i;
            }
        }
        if (least < OPS_MAX) {
            done[least] = true;
            put_literal(b, &o->op[least].e);
        }
    }
    close_stage(b);
}

static void
put_sets(struct mrs_build *b, uint32_t stage, const struct update_delta_ops *o)
{
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->op[i].kind != OP_UNSET) {
            open_stage(b, stage++, "$set", MRS_DOCUMENT);
            put_literal(b, &o->op[i].e);
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

enum mrs_status
live_delta(struct mrs_view before, struct mrs_view after, struct mrs_buf *pipeline, struct mrs_buf *touched,
           struct mrs_err *e)
{
    if (before.n == after.n && memcmp(before.p, after.p, after.n) == 0) {
        return MRS_END;
    }
    struct update_delta_ops o = {.n = 0};
    if (!mrs_identical(mrs_doc_get(before, "_id"), mrs_doc_get(after, "_id")) || collect(before, after, &o)) {
        return mrs_err_set(e, MRS_DEAD, MRS_E_ACCOUNT, "an update would have changed the _id of a document");
    }
    check(before, after, &o);
    struct mrs_build b;
    mrs_build_init(&b, pipeline);
    if (o.whole) {
        put_whole(&b, after);
    } else {
        uint32_t stage = put_unset(&b, &o);
        (LIVE_MUTANT("set-all-at-once") ? put_sets_at_once : put_sets)(&b, stage, &o);
        for (uint32_t i = 0; i < o.n; i++) {
            mrs_buf_put(touched, o.op[i].e.name, o.op[i].e.name_len + 1);
        }
    }
    struct mrs_view made;
    enum mrs_status st = mrs_build_finish(&b, &made, e);
    return st ? st : mrs_buf_status(touched, e);
}

bool
live_delta_whole(struct mrs_view pipeline)
{
    struct mrs_val stage = mrs_doc_get(pipeline, "0");
    struct mrs_elem found;
    return stage.type == MRS_DOCUMENT && mrs_doc_find(mrs_val_view(stage), "$replaceWith", 12, &found);
}
