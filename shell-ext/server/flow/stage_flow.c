/* SPDX-License-Identifier: Apache-2.0 */
/* stage_flow.c - passes documents through the hops of a stage, depth first.
 *
 * A document goes from hop to hop. A hop that makes several documents stays open and is asked for the next one when the
 * current one is finished, so that nothing is stored except the state of each step. */
#include "stage_flow.h"

#include "mongoreshape/build.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/fold_ops.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/spread_ops.h"

struct ext_flow {
    struct ext_spec *spec; /* a reference to it is held */
    struct mrs_mem *mem;
    struct ext_node *node; /* one for each hop */
    bool *open;            /* by hop: it has more output */
    struct mrs_err err;
    struct ext_account account;
    struct mrs_view doc;   /* the current document; p NULL: none */
    uint32_t coll, hop;    /* its collection, and its next hop */
    struct mrs_buf bare;   /* the input document without the fields of partners */
    struct mrs_val *field; /* by number */
    bool ended;
    uint32_t end_at;       /* the first hop whose open groups have not been requested */
};

/* ---- open ---- */
static enum mrs_status
open_node(struct ext_flow *f, struct ext_node *n, const struct mrs_stage_hop *hop, struct mrs_err *e)
{
    MRS_ASSERT(hop->step);
    const struct mrs_step_type *t = hop->step->type;
    enum mrs_family family = hop->step->desc.family;
    n->hop = hop;
    n->spec = f->spec;
    n->account = &f->account;
    n->field = &f->field[hop->field_no];
    n->ctx = (struct mrs_ctx){.mem = f->mem, .arena = &n->arena, .err = &f->err};
    n->work = mrs_zalloc(f->mem, t->work_size + 1);
    MRS_TRY(mrs_allocated(n->work, t->work_size, e));
    return family == MRS_FAMILY_FOLD ? ext_fold_open(n, e) : family == MRS_FAMILY_JOIN ? ext_join_open(n, e) : MRS_OK;
}

static void
begin_node(struct ext_flow *f, struct ext_node *n, int (*interrupted)(void *), void *arg)
{
    mrs_arena_init(&n->arena, f->mem);
    n->arena.most = MRS_EVAL_BYTES_MAX;
    n->arena.ask = interrupted;
    n->arena.ask_arg = arg;
    mrs_buf_init(&n->out, f->mem, SIZE_MAX);
    mrs_buf_init(&n->items, f->mem, SIZE_MAX);
}

enum mrs_status
ext_flow_open(struct ext_spec *spec, struct mrs_mem *mem, int (*interrupted)(void *), void *arg, struct ext_flow **out,
              struct mrs_err *e)
{
    MRS_ASSERT(mem && out);
    uint32_t n = spec->route.n_hops;
    struct ext_flow *f = mrs_zalloc(mem, sizeof *f);
    *out = NULL;
    MRS_TRY(mrs_allocated(f, sizeof *f, e));
    *f = (struct ext_flow){.spec = ext_spec_retain(spec), .mem = mem, .account = {.skip = spec->skip}};
    f->node = mrs_zalloc(mem, (n + 1u) * sizeof *f->node);
    f->open = mrs_zalloc(mem, n + 1u);
    f->field = mrs_zalloc(mem, (spec->route.n_fields + 1u) * sizeof *f->field);
    mrs_buf_init(&f->bare, mem, 2u * MRS_DOC_READ_MAX);
    enum mrs_status s = f->node && f->open && f->field ? MRS_OK : mrs_err_memory(e, n * sizeof *f->node);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        begin_node(f, &f->node[i], interrupted, arg);
        s = open_node(f, &f->node[i], &spec->route.hop[i], e);
    }
    if (s != MRS_OK) {
        ext_flow_close(f);
        return s;
    }
    *out = f;
    return MRS_OK;
}

static void
close_node(struct ext_flow *f, struct ext_node *n)
{
    if (!n->hop) {
        return;
    }
    const struct mrs_step_type *t = n->hop->step->type;
    ext_fold_close(n);
    ext_join_close(n);
    if (n->work && t->work_clear) {
        t->work_clear(&n->ctx, n->work);
    }
    mrs_free(f->mem, n->work);
    mrs_buf_clear(&n->out);
    mrs_buf_clear(&n->items);
    mrs_arena_clear(&n->arena);
}

void
ext_flow_close(struct ext_flow *f)
{
    if (!f) {
        return;
    }
    for (uint32_t i = 0; f->node && i < f->spec->route.n_hops; i++) {
        close_node(f, &f->node[i]);
    }
    mrs_free(f->mem, f->node);
    mrs_free(f->mem, f->open);
    mrs_free(f->mem, f->field);
    mrs_buf_clear(&f->bare);
    ext_spec_drop(f->spec);
    mrs_free(f->mem, f);
}

uint64_t
ext_flow_refused(const struct ext_flow *f)
{
    return f->account.refused;
}

/* ---- items ---- */
enum mrs_status
ext_node_put(struct ext_node *n, int side, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct ext_item item = {side, n->out.n, doc.n};
    mrs_buf_put(&n->out, doc.p, doc.n);
    mrs_buf_put(&n->items, &item, sizeof item);
    enum mrs_status s = mrs_buf_status(&n->out, e);
    MRS_THEN(s, mrs_buf_status(&n->items, e));
    return s;
}

static void
empty_node(struct ext_node *n)
{
    mrs_buf_reset(&n->out);
    mrs_buf_reset(&n->items);
    n->next = 0;
}

static bool
next_item(struct ext_node *n, struct mrs_product *p)
{
    struct ext_item item;
    if ((size_t)n->next * sizeof item >= n->items.n) {
        empty_node(n);
        return false;
    }
    memcpy(&item, n->items.p + n->next++ * sizeof item, sizeof item);
    *p = (struct mrs_product){.side = item.side, .doc = {n->out.p + item.at, item.n}};
    return true;
}

/* ---- one document ---- */
/* The number of a field of partners; for another field the number of all of them. */
static uint32_t
field_no(const struct mrs_stage_route *r, const struct mrs_elem *e)
{
    uint32_t i = 0;
    while (i < r->n_fields && strcmp(r->field[i], e->name) != 0) {
        i++;
    }
    return i;
}

/* Removes the fields of partners. */
static enum mrs_status
bare(struct ext_flow *f, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(*doc));
    const struct mrs_stage_route *r = &f->spec->route;
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_build b;
    memset(f->field, 0, r->n_fields * sizeof *f->field);
    mrs_buf_reset(&f->bare);
    mrs_build_init(&b, &f->bare);
    mrs_walk_init(&w, *doc);
    while (mrs_walk_next(&w, &el) == 1) {
        uint32_t i = field_no(r, &el);
        if (i == r->n_fields) {
            mrs_build_elem(&b, &el);
        } else {
            f->field[i] = el.v;
        }
    }
    for (uint32_t i = 0; i < r->n_fields; i++) {
        if (f->field[i].type != MRS_ARRAY) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "field `%.100s` of a document is no array: put a "
                                        "`$lookup` that "
                               "fills it before the stage", r->field[i]);
        }
    }
    return mrs_build_finish(&b, doc, e);
}

enum mrs_status
ext_flow_feed(struct ext_flow *f, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(doc.p);
    enum mrs_status s = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, e);
    if (s == MRS_OK && f->spec->route.n_fields) {
        s = bare(f, &doc, e);
    }
    if (s == MRS_OK) {
        f->doc = doc;
        f->coll = f->spec->route.of;
        f->hop = 0;
    }
    return s;
}

void
ext_flow_end(struct ext_flow *f)
{
    f->ended = true;
}

/* Converts a kernel's error for the current document to that of the operation. */
static enum mrs_status
refused(struct ext_flow *f, const struct mrs_step *step, struct mrs_err *e)
{
    MRS_ASSERT(step->type);
    char id[64] = "";
    f->account.refused++;
    if (f->account.skip) {
        f->doc.p = NULL;
        return MRS_OK;
    }
    if (f->doc.p) {
        mrs_val_picture(mrs_doc_get(f->doc, "_id"), id, sizeof id);
    }
    mrs_err_set(e, MRS_FAIL, f->err.code ? f->err.code : MRS_E_REFUSED, "step %u (%s) refuses the document with _id "
                                        "%s: %s%s"
                "%.400s; correct it, or say `refused: \"skip\"`", step->no, step->type->name, *id ? id : "(none)",
                    f->err.where,
                *f->err.where ? ": " : "", f->err.msg);
    return MRS_FAIL;
}

static enum mrs_status
settled(struct ext_flow *f, enum mrs_status s, struct mrs_err *e)
{
    if (s < MRS_SKIP && e->code == MRS_E_NONE) {
        mrs_err_set(e, s, f->err.code, "%s", f->err.msg);
        mrs_err_at(e, "%s", f->err.where);
    }
    return s;
}

/* Passes the current document through its next hop. */
static enum mrs_status
pass_hop(struct ext_flow *f, struct mrs_err *e)
{
    MRS_ASSERT(f->hop <= f->spec->route.n_hops);
    struct ext_node *n = &f->node[f->hop];
    const struct mrs_step *step = n->hop->step;
    int side = n->hop->side_in[f->coll];
    enum mrs_fate fate;
    enum mrs_status s;
    mrs_err_clear(&f->err);
    switch (step->desc.family) {
    case MRS_FAMILY_FOLD: s = ext_fold_take(n, f->doc, e); break;
    case MRS_FAMILY_JOIN: s = ext_join_take(n, f->doc, e); break;
    default:
        mrs_arena_reset(&n->arena);
        s = step->type->spread->begin(step->state, &n->ctx, n->work, side, f->doc, &fate);
        break;
    }
    if (s == MRS_SKIP) {
        return refused(f, step, e);
    }
    f->open[f->hop] = s == MRS_OK;
    f->doc.p = NULL;
    return settled(f, s, e);
}

/* The next product of the deepest open hop: OK, END (no hop is open), or an error. */
static enum mrs_status
pull(struct ext_flow *f, struct mrs_err *e)
{
    MRS_ASSERT(f->hop <= f->spec->route.n_hops);
    uint32_t i = f->spec->route.n_hops;
    while (i > 0 && !f->open[i - 1]) {
        i--;
    }
    if (i == 0) {
        return MRS_END;
    }
    struct ext_node *n = &f->node[i - 1];
    const struct mrs_step *step = n->hop->step;
    struct mrs_product p;
    enum mrs_status s;
    if (step->type->spread && (step->desc.family == MRS_FAMILY_MAP || step->desc.family == MRS_FAMILY_SPREAD)) {
        s = step->type->spread->next(step->state, &n->ctx, n->work, &p);
    } else {
        s = next_item(n, &p) ? MRS_OK : MRS_END;
    }
    if (s == MRS_OK) {
        f->doc = p.doc;
        f->coll = n->hop->coll_of[p.side];
        f->hop = i;
        return MRS_OK;
    }
    f->open[i - 1] = false;
    return s == MRS_END ? MRS_OK : settled(f, s, e);
}

/* The groups still open after the last document, hop by hop. OK; END: none left. */
static enum mrs_status
pull_groups(struct ext_flow *f, struct mrs_err *e)
{
    MRS_ASSERT(f->end_at <= f->spec->route.n_hops);
    for (; f->ended && f->end_at < f->spec->route.n_hops; f->end_at++) {
        struct ext_node *n = &f->node[f->end_at];
        if (n->groups) {
            mrs_err_clear(&f->err);
            enum mrs_status s = ext_fold_end(n, e);
            f->open[f->end_at++] = true;
            return settled(f, s, e);
        }
    }
    return MRS_END;
}

/* At the end of its hops: is the current document output of the stage? */
static enum mrs_status
arrive(struct ext_flow *f, struct mrs_view *out, bool *yes, struct mrs_err *e)
{
    *yes = f->coll == f->spec->route.emit;
    *out = f->doc;
    f->doc.p = NULL;
    if (*yes && out->n > MRS_DOC_MAX) {
        *yes = false;
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "a document would be %u bytes, more than 16 MiB", out->n);
    }
    return MRS_OK;
}

enum mrs_status
ext_flow_next(struct ext_flow *f, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(out);
    enum mrs_status s = MRS_OK;
    bool arrived = false;
    while (s == MRS_OK && !arrived) {
        if (!f->doc.p) {
            s = pull(f, e);
            s = s == MRS_END ? pull_groups(f, e) : s;
        } else if (f->hop == f->spec->route.n_hops) {
            s = arrive(f, out, &arrived, e);
        } else if (f->node[f->hop].hop->side_in[f->coll] < 0) {
            f->hop++;
        } else {
            s = pass_hop(f, e);
        }
    }
    return s;
}
