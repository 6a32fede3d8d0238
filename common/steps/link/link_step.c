/* SPDX-License-Identifier: Apache-2.0 */
/* link_step.c - the step `link`: completes references of parents to children and of children to parents from each
 * other.
 *
 * Compiles the step; the kernels that read the references of a document and derive others. The engine resolves them;
 * link_splice.c writes the documents. */
#include "steps/kit/invert.h"
#include "steps/kit/shape.h"
#include "link_step.h"
#include "mongoreshape/join_ops.h"

static const struct mrs_key keys[] = {
    {"parent", MRS_ARG_COLL, true, NULL, "documents that list their children"},
    {"child", MRS_ARG_COLL, true, NULL, "documents that refer to their parent"},
    {"parent_ref", MRS_ARG_PATH, true, NULL, "field of child that holds the _id of its parent"},
    {"child_refs", MRS_ARG_PATH, true, NULL, "field of parent that holds the array of the _ids of its children"},
    {"derive", MRS_ARG_CHOICE, true, "child_refs|parent_ref|both", "references to complete from the others"},
    {"sort", MRS_ARG_SORT, false, NULL, "order of child_refs, by fields of child"},
    {"strip", MRS_ARG_CHOICE, false, "none|parent_ref|child_refs", "references to remove afterwards"},
    {"prefer", MRS_ARG_CHOICE, false, "none|parent|child", "the side that decides when both disagree"},
    {"dangling", MRS_ARG_CHOICE, false, "keep|drop|null|refuse", "dangling references"},
    {"orphans", MRS_ARG_CHOICE_OR_COLL, false, "keep|drop|refuse", "children without a parent reference that no parent "
                                                                   "lists"},
    {MRSI_TWIN_NODES_KEY},
    {"indexes", MRS_ARG_BOOL, false, NULL, "an index for derived references, none for stripped ones; default true"}};

const char *const mrsi_link_key[2] = {"child_refs", "parent_ref"};

/* ---- compile ---- */
static void
check(struct mrsi_read *r, const struct mrsi_link_args *s)
{
    if (s->strip != LINK_STRIP_NONE &&
        (s->derive == LINK_DERIVE_BOTH ||
         (s->derive == LINK_DERIVE_CHILD_REFS) == (s->strip == LINK_STRIP_CHILD_REFS))) {
        mrsi_read_error(r, "strip", NULL, "would remove what `derive` completes");
    }
    if (s->sort && !s->wants.lists) {
        mrsi_read_warn(r, "sort", NULL, "has no effect: `child_refs` is not derived");
    }
    if (s->self && s->path[0].n && s->path[1].n && mrs_path_relation(&s->path[0], &s->path[1])) {
        mrsi_read_error(r, "parent_ref", NULL, "parents and children are one collection, where `child_refs` is, holds "
                                               "or lies in the same field");
    }
    if (s->self && s->orphans != LINK_ORPHANS_KEEP) {
        mrsi_read_error(r, "orphans", NULL, "documents cannot leave where parents and children are one collection");
    }
    if (s->orphans == LINK_ORPHANS_INTO && mrsi_coll_same(&s->orphans_into, &s->coll[1])) {
        mrsi_read_error(r, "orphans", "into", "is `child` itself; use `keep`");
    }
    if (s->orphans == LINK_ORPHANS_INTO && mrsi_coll_same(&s->orphans_into, &s->coll[0])) {
        mrsi_read_error(r, "orphans", "into", "is `parent`");
    }
}

static void
read_words(struct mrsi_read *r, struct mrsi_link_args *s)
{
    s->indexes = true;
    mrsi_read_choice(r, mrsi_slot(r, "derive"), &s->derive);
    mrsi_read_choice(r, mrsi_slot(r, "strip"), &s->strip);
    mrsi_read_choice(r, mrsi_slot(r, "prefer"), &s->prefer);
    mrsi_read_choice(r, mrsi_slot(r, "dangling"), &s->dangling);
    mrsi_read_choice_or_coll(r, mrsi_slot(r, "orphans"), &s->orphans, &s->orphans_into);
    mrsi_read_sort(r, mrsi_slot(r, "sort"), &s->sort);
    mrsi_read_bool(r, mrsi_slot(r, "indexes"), &s->indexes);
    bool changes = s->dangling == LINK_DANGLING_DROP || s->dangling == LINK_DANGLING_NULL;
    s->strips[0] = s->strip == LINK_STRIP_CHILD_REFS;
    s->strips[1] = s->strip == LINK_STRIP_PARENT_REF;
    s->wants.lists = s->derive != LINK_DERIVE_PARENT_REF;
    s->wants.refs = s->derive != LINK_DERIVE_CHILD_REFS || s->prefer == LINK_PREFER_PARENT;
    s->wants.leaves = s->prefer == LINK_PREFER_CHILD;
    s->wants.sorted = s->sort && s->wants.lists;
    s->wants.kinds[0] = changes || s->strips[0];
    s->wants.kinds[1] = changes || s->strips[1];
}

static void
read_paths(struct mrsi_read *r, struct mrsi_link_args *s)
{
    for (int i = 0; i < 2; i++) {
        struct mrsi_slot slot = mrsi_slot(r, mrsi_link_key[i]);
        struct mrs_err e;
        mrs_err_clear(&e);
        if (!mrsi_read_path(r, slot, &s->path[i]) || !mrsi_read_not_id(r, slot, &s->path[i])) {
            continue;
        }
        enum mrs_status st = mrs_edit_new(r->args->mem, &s->edit[i], &e);
        if (st == MRS_OK && !mrsi_level_add(&s->keep, MRSI_EDIT, s->edit[i])) {
            st = mrs_err_memory(&e, 0);
        }
        MRS_THEN(st, mrs_edit_add(s->edit[i], &s->path[i], &e));
        if (st != MRS_OK) {
            mrsi_read_failed(r, mrsi_link_key[i], NULL, st, &e);
        }
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_link_args *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    bool both = mrsi_read_coll(&r, mrsi_slot(&r, "parent"), &s->coll[0]);
    both = mrsi_read_coll(&r, mrsi_slot(&r, "child"), &s->coll[1]) && both;
    s->self = both && mrsi_coll_same(&s->coll[0], &s->coll[1]);
    read_words(&r, s);
    read_paths(&r, s);
    if (both && mrsi_read_good(&r)) {
        check(&r, s);
    }
    return mrsi_read_end(&r, state);
}

/* ---- kernels ---- */
static void
wants(const void *state, struct mrs_link_wants *out)
{
    *out = ((const struct mrsi_link_args *)state)->wants;
}

bool
mrsi_link_changes(const struct mrsi_link_args *s, int side)
{
    return s->wants.kinds[side] || (side == 0 ? s->wants.lists || s->wants.leaves : s->wants.refs);
}

/* Values below an array on the path: a missing one only means that there was no array. */
struct behind {
    mrs_path_fn fn;
    void *arg;
    uint64_t n;
};

static enum mrs_status
each_behind(void *arg, struct mrs_val v)
{
    struct behind *b = arg;
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    b->n++;
    return b->fn(b->arg, v);
}

enum mrs_status
mrsi_link_each(const struct mrsi_link_args *s, const struct mrs_ctx *c, int side, struct mrs_view doc, mrs_path_fn fn,
               void *arg, enum mrs_link_shape *shape)
{
    MRS_ASSERT((side == 0 || side == 1) && fn);
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrs_path *p = &s->path[side];
    struct mrs_elem el;
    struct mrs_val v = mrs_missing();
    enum mrs_status st = MRS_OK;
    *shape = MRS_LINK_NONE;
    if (p->n == 1 && mrsi_step_find(c, doc, p->part[0].name, p->part[0].len, &el)) {
        v = el.v;
    } else if (p->n > 1) {
        v = mrs_path_get(p, doc);
    }
    if (v.type == MRS_MISSING && p->n > 1) {
        struct behind b = {fn, arg, 0};
        st = mrs_path_each(p, doc, false, each_behind, &b);
        *shape = b.n ? MRS_LINK_LIST : MRS_LINK_NONE;
    } else if (v.type == MRS_ARRAY) {
        struct mrs_walk w;
        *shape = MRS_LINK_LIST;
        mrs_walk_init(&w, mrs_val_view(v));
        while (st == MRS_OK && mrs_walk_next(&w, &el) > 0) {
            st = fn(arg, el.v);
        }
    } else if (!mrs_is_nullish(v)) {
        *shape = MRS_LINK_ONE;
        st = fn(arg, v);
    }
    return st;
}

struct adding {
    struct mrs_keys *k;
    struct mrs_err *err;
};

static enum mrs_status
add_key(void *arg, struct mrs_val v)
{
    struct adding *a = arg;
    return mrs_keys_add(a->k, 1, 0, v, a->err);
}

static enum mrs_status
read_references(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k,
                enum mrs_link_shape *shape)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_link_args *s = state;
    struct mrs_elem id; /* missing: no `_id` */
    mrsi_step_find(c, doc, "_id", 3, &id);
    if (mrsi_step_id_fault(id.v) || id.v.type == MRS_NULL) {
        return mrsi_step_refuse(c, NULL, "it has no `_id` that a reference could hold");
    }
    enum mrs_status st = mrsi_step_skip(c, mrs_keys_add(k, 0, 0, id.v, c->err), NULL);
    if (st == MRS_OK) {
        struct adding a = {k, c->err};
        st = mrsi_step_skip(c, mrsi_link_each(s, c, side, doc, add_key, &a, shape), mrsi_link_key[side]);
    }
    return st;
}

static enum mrs_status
order(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    const struct mrsi_link_args *s = state;
    return mrsi_step_sort_key(c, s->sort, doc, out, "sort");
}

/* A single reference that some lists contradict. */
static enum mrs_status
disagreement(const struct mrsi_link_args *s, struct mrs_ctx *c, const struct mrs_link_facts *f, unsigned *verdict)
{
    if (s->prefer == LINK_PREFER_CHILD) {
        *verdict = MRS_LINK_LEAVES | (f->names && s->wants.lists ? MRS_LINK_GAINS : 0);
        return MRS_OK;
    }
    if (s->prefer == LINK_PREFER_PARENT && f->listed == 1) {
        *verdict = MRS_LINK_TAKES;
        return MRS_OK;
    }
    return mrsi_step_refuse(c, "prefer", "%s and is listed by %s", f->names ? "it names one parent"
                                                                            : "it names a parent that is not there",
                            f->listed > 1 ? "several" : "another");
}

static enum mrs_status
judge(const void *state, struct mrs_ctx *c, int side, const struct mrs_link_facts *f, unsigned *verdict)
{
    MRS_ASSERT((side == 0 || side == 1) && verdict);
    const struct mrsi_link_args *s = state;
    *verdict = 0;
    if (f->dangling && s->dangling == LINK_DANGLING_REFUSE) {
        return mrsi_step_refuse(c, "dangling", "a reference in %s names no document of %s", mrsi_link_key[side],
                                s->coll[!side].ns);
    }
    if (side == 0) {
        return MRS_OK;
    }
    if (f->shape == MRS_LINK_ONE && f->elsewhere) {
        return disagreement(s, c, f, verdict);
    }
    if (!f->names && !f->dangling && !f->listed) {
        *verdict = MRS_LINK_ORPHAN;
        return MRS_OK;
    }
    bool refs = s->derive != LINK_DERIVE_CHILD_REFS;
    if (f->shape == MRS_LINK_NONE && f->listed > 1 && refs) {
        return mrsi_step_refuse(c, "parent_ref", "several parents list it, and it names none");
    }
    if (f->names && s->wants.lists) {
        *verdict |= MRS_LINK_GAINS;
    }
    if (f->shape != MRS_LINK_ONE && f->listed && refs) {
        *verdict |= MRS_LINK_TAKES;
    }
    return MRS_OK;
}

static enum mrs_fate
orphan(const void *state, int *side)
{
    const struct mrsi_link_args *s = state;
    *side = -1;
    switch (s->orphans) {
    case LINK_ORPHANS_DROP: return MRS_FATE_DROPPED;
    case LINK_ORPHANS_REFUSE: return MRS_FATE_REFUSED;
    case LINK_ORPHANS_INTO: *side = 2; return MRS_FATE_TAKEN;
    default: return MRS_FATE_STAYS;
    }
}

static const struct mrs_link_ops ops = {wants, read_references, order, judge, mrsi_link_splice, orphan};

const struct mrs_step_type mrsi_step_link = {
    .name = "link",
    .summary = "completes the references of parents and children from each other",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .example = "parent: projects\nchild: tasks\nparent_ref: projectId\nchild_refs: tasks\nderive: child_refs\n\n"
               "sort: { due: 1 }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = mrsi_link_describe,
    .invert = mrsi_link_invert,
    .catalog = mrsi_link_catalog,
    .work_size = sizeof(struct mrsi_link_work),
    .work_clear = mrsi_link_work_clear,
    .link = &ops,
};
