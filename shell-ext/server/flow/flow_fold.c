/* SPDX-License-Identifier: Apache-2.0 */
/* flow_fold.c - grouped steps in a stage: sorted documents become a document for each group.
 *
 * The entry of a document is stored until its group has ended, which is when a document of a later place arrives.
 * Groups of one place - a server sorts missing and null as equal, and arrays by their least element - are open at the
 * same time. An earlier place than before shows that the stream is not sorted. There is no spill: a group has the
 * memory of the stage. */
#include "stage_flow.h"

#include "mongoreshape/build.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/fold_ops.h"

#include <stdlib.h>

struct group_bytes {
    size_t at, n;
};
struct group_member {
    uint32_t group;
    struct group_bytes order, payload, shared;
};
struct ext_groups {
    struct ext_node *node;
    struct mrs_fold_entry entry; /* of the current document */
    struct mrs_buf key, place, shared; /* of the current document */
    struct mrs_buf open;         /* the place of all open groups */
    struct mrs_buf bytes;        /* of all open groups */
    struct group_bytes *group;   /* keys */
    uint32_t n_groups, cap_groups;
    struct group_member *member;
    uint32_t n, cap;
    /* the group being folded */
    uint32_t folding;
    struct group_member **mine;  /* n_mine, in order */
    uint32_t n_mine, at;
};

enum mrs_status
ext_fold_open(struct ext_node *n, struct mrs_err *e)
{
    MRS_ASSERT(!n->groups);
    struct mrs_mem *mem = n->ctx.mem;
    struct ext_groups *g = mrs_zalloc(mem, sizeof *g);
    MRS_TRY(mrs_allocated(g, sizeof *g, e));
    g->node = n;
    n->groups = g;
    struct mrs_buf *all[] = {&g->entry.group, &g->entry.order, &g->entry.payload, &g->entry.shared, &g->key, &g->place,
        &g->open, &g->shared, &g->bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_init(all[i], mem, SIZE_MAX);
    }
    return MRS_OK;
}

void
ext_fold_close(struct ext_node *n)
{
    struct ext_groups *g = n->groups;
    if (!g) {
        return;
    }
    struct mrs_buf *all[] = {&g->entry.group, &g->entry.order, &g->entry.payload, &g->entry.shared, &g->key, &g->place,
        &g->open, &g->shared, &g->bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_clear(all[i]);
    }
    mrs_free(n->ctx.mem, g->group);
    mrs_free(n->ctx.mem, g->member);
    mrs_free(n->ctx.mem, g->mine);
    mrs_free(n->ctx.mem, g);
    n->groups = NULL;
}

/* ---- fold one group ---- */
static struct mrs_view
view_of(const struct ext_groups *g, struct group_bytes b)
{
    return (struct mrs_view){g->bytes.p + b.at, (uint32_t)b.n};
}

static enum mrs_status
member_next(struct mrs_members *m, struct mrs_view *payload, struct mrs_err *e)
{
    struct ext_groups *g = m->impl;
    (void)e;
    if (g->at == g->n_mine) {
        return MRS_END;
    }
    const struct group_member *x = g->mine[g->at++];
    *payload = view_of(g, x->payload);
    m->shared = view_of(g, x->shared);
    m->same_shared = g->at > 1 && g->mine[g->at - 2]->shared.at == x->shared.at &&
            g->mine[g->at - 2]->shared.n == x->shared.n;
    return MRS_OK;
}

static enum mrs_status
member_refuse(struct mrs_members *m, struct mrs_err *e)
{
    MRS_ASSERT(m->impl);
    struct ext_groups *g = m->impl;
    const struct mrs_err *why = g->node->ctx.err;
    g->node->account->refused++;
    return g->node->account->skip
               ? MRS_OK
               : mrs_err_set(e, MRS_FAIL, MRS_E_REFUSED, "step %u (%s) refuses a document: %.400s; correct it, or say "
                             "`refused: \"skip\"`", g->node->hop->step->no, g->node->hop->step->type->name, why->msg);
}

static enum mrs_status
group_put(void *arg, struct mrs_view doc, bool but_last, struct mrs_err *e)
{
    struct ext_groups *g = arg;
    (void)but_last; /* the members of an output document are not needed here */
    return ext_node_put(g->node, 1, doc, e);
}

static int
compare(struct mrs_view a, struct mrs_view b)
{
    uint32_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int
compare_bytes(const struct ext_groups *g, struct group_bytes a, struct group_bytes b)
{
    return compare(view_of(g, a), view_of(g, b));
}

static int
by_order(const void *pa, const void *pb, void *arg)
{
    const struct group_member *a = *(struct group_member *const *)pa, *b = *(struct group_member *const *)pb;
    int c = compare_bytes(arg, a->order, b->order);
    return c ? c : (a > b) - (a < b);
}

/* The members of a group, in their order, which is mostly the order of arrival. */
static enum mrs_status
collect(struct ext_groups *g, uint32_t group, struct mrs_err *e)
{
    MRS_ASSERT(group < g->n_groups);
    bool sorted = true;
    mrs_free(g->node->ctx.mem, g->mine);
    g->mine = mrs_alloc_array(g->node->ctx.mem, g->n + 1u, sizeof(struct group_member *));
    g->n_mine = g->at = 0;
    g->folding = group;
    MRS_TRY(mrs_allocated(g->mine, g->n * sizeof *g->mine, e));
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->member[i].group == group) {
            struct group_member *last = g->n_mine ? g->mine[g->n_mine - 1] : NULL;
            sorted = sorted && (!last || compare_bytes(g, last->order, g->member[i].order) <= 0);
            g->mine[g->n_mine++] = &g->member[i];
        }
    }
    if (!sorted) {
        qsort_r(g->mine, g->n_mine, sizeof *g->mine, by_order, g);
    }
    return MRS_OK;
}

static enum mrs_status
fold_one(struct ext_groups *g, uint32_t group, struct mrs_err *e)
{
    MRS_ASSERT(group < g->n_groups);
    struct ext_node *n = g->node;
    const struct mrs_step *step = n->hop->step;
    struct mrs_members members = {.next = member_next, .refuse = member_refuse, .impl = g};
    struct mrs_fold_put put = {group_put, g};
    size_t out = n->out.n, items = n->items.n;
    MRS_TRY(collect(g, group, e));
    mrs_arena_reset(&n->arena);
    mrs_err_clear(n->ctx.err);
    enum mrs_status s = step->type->fold->fold(step->state, &n->ctx, n->work, &members, &put);
    if (s != MRS_SKIP) {
        return s;
    }
    n->out.n = out;
    n->items.n = items;
    n->account->refused += g->n_mine;
    return n->account->skip
               ? MRS_OK
               : mrs_err_set(e, MRS_FAIL, n->ctx.err->code ? n->ctx.err->code : MRS_E_REFUSED,
                             "step %u (%s) refuses a group of %u documents: %s%s%.400s; correct them, or say `refused: "
                             "\"skip\"`", step->no, step->type->name, g->n_mine, n->ctx.err->where,
                             *n->ctx.err->where ? ": " : "", n->ctx.err->msg);
}

/* The open group with the least key greater than that of `after`; UINT32_MAX: none. */
static uint32_t
next_group(const struct ext_groups *g, uint32_t after)
{
    MRS_ASSERT(after == UINT32_MAX || after < g->n_groups);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < g->n_groups; i++) {
        bool behind = after == UINT32_MAX || compare_bytes(g, g->group[i], g->group[after]) > 0;
        if (behind && (best == UINT32_MAX || compare_bytes(g, g->group[i], g->group[best]) < 0)) {
            best = i;
        }
    }
    return best;
}

enum mrs_status
ext_fold_end(struct ext_node *n, struct mrs_err *e)
{
    MRS_ASSERT(n->groups);
    struct ext_groups *g = n->groups;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = next_group(g, UINT32_MAX); i != UINT32_MAX && s == MRS_OK; i = next_group(g, i)) {
        s = fold_one(g, i, e);
    }
    g->n = g->n_groups = 0;
    mrs_buf_reset(&g->bytes);
    return s;
}

/* ---- input ---- */
static void
describe_sort(const struct ext_node *n, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    static const char *const keys[] = {"by", "time"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct mrs_val v = mrs_doc_get(n->hop->step->body, keys[i]);
        if (v.type != MRS_MISSING) {
            mrs_buf_printf(out, "`%s` ", keys[i]);
            mrs_ejson_write_val(v, false, out);
            mrs_buf_put(out, ", ", 2);
        }
    }
    mrs_buf_printf(out, "_id");
}

static enum mrs_status
refuse_order(const struct ext_groups *g, struct mrs_err *e)
{
    struct mrs_buf how;
    mrs_buf_init(&how, g->node->ctx.mem, MRS_KEY_MAX);
    describe_sort(g->node, &how);
    mrs_buf_byte(&how, 0);
    mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "step %u (%s): the documents do not arrive sorted by group: put a `$sort` "
                                        "before "
                "the stage, by %.300s", g->node->hop->step->no, g->node->hop->step->type->name,
                how.bad ? "what the step groups by" : (const char *)how.p);
    mrs_buf_clear(&how);
    return MRS_FAIL;
}

/* A document of a later place ends all open groups, which become documents. */
static enum mrs_status
arrive(struct ext_groups *g, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(&g->place) && mrs_buf_is_sound(&g->open));
    struct mrs_view place = {g->place.p, (uint32_t)g->place.n}, open = {g->open.p, (uint32_t)g->open.n};
    int c = g->n_groups ? compare(place, open) : 1;
    if (c < 0) {
        return refuse_order(g, e);
    }
    enum mrs_status s = c > 0 && g->n_groups ? ext_fold_end(g->node, e) : MRS_OK;
    if (s == MRS_OK && c > 0) {
        mrs_buf_reset(&g->open);
        mrs_buf_put(&g->open, place.p, place.n);
        s = mrs_buf_status(&g->open, e);
    }
    return s;
}

/* Finds or opens the group of the current key. */
static enum mrs_status
find_group(struct ext_groups *g, uint32_t *out, struct mrs_err *e)
{
    MRS_ASSERT(out && g->n_groups <= g->cap_groups);
    struct group_bytes key = {g->bytes.n, g->key.n};
    mrs_buf_put(&g->bytes, g->key.p, g->key.n);
    enum mrs_status s = mrs_buf_status(&g->bytes, e);
    for (uint32_t i = 0; i < g->n_groups && s == MRS_OK; i++) {
        if (compare_bytes(g, key, g->group[i]) == 0) {
            g->bytes.n = key.at;
            *out = i;
            return MRS_OK;
        }
    }
    struct group_bytes *list = s == MRS_OK ? mrs_more(g->node->ctx.mem, g->group, g->n_groups, &g->cap_groups,
                                                      sizeof *list) : NULL;
    if (!list) {
        return s == MRS_OK ? mrs_err_memory(e, sizeof *list) : s;
    }
    g->group = list;
    g->group[g->n_groups] = key;
    *out = g->n_groups++;
    return MRS_OK;
}

static enum mrs_status
entry_status(const struct ext_groups *g, struct mrs_err *e)
{
    const struct mrs_buf *filled[] = {&g->entry.group, &g->entry.order, &g->entry.payload, &g->entry.shared, &g->shared,
        &g->key, &g->place};
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; i < sizeof filled / sizeof *filled && s == MRS_OK; i++) {
        s = mrs_buf_status(filled[i], e);
    }
    return s;
}

/* Makes the entry of a document: OK with entry, key and shared record filled, SKIP, DEAD. */
static enum mrs_status
enter(struct ext_groups *g, struct mrs_view doc, bool *takes_part, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && takes_part);
    struct ext_node *n = g->node;
    const struct mrs_fold_ops *ops = n->hop->step->type->fold;
    const void *state = n->hop->step->state;
    struct mrs_fold_entry *x = &g->entry;
    mrs_arena_reset(&n->arena);
    mrs_buf_reset(&x->group);
    mrs_buf_reset(&x->order);
    mrs_buf_reset(&x->payload);
    mrs_buf_reset(&x->shared);
    mrs_buf_reset(&g->shared);
    mrs_buf_reset(&g->key);
    mrs_buf_reset(&g->place);
    enum mrs_status s = ops->enter(state, &n->ctx, n->work, doc, x);
    *takes_part = s == MRS_OK && x->takes_part;
    if (!*takes_part) {
        return s;
    }
    s = entry_status(g, e);
    if (s == MRS_OK && ops->shared) {
        s = ops->shared(state, &n->ctx, n->work, doc, (struct mrs_view){x->shared.p, (uint32_t)x->shared.n},
                        &g->shared);
    } else {
        mrs_buf_put(&g->shared, x->shared.p, x->shared.n);
    }
    MRS_THEN(s, mrs_buf_status(&g->shared, e));
    struct mrs_view shared = {g->shared.p, (uint32_t)g->shared.n};
    MRS_THEN(s, ops->place(state, &n->ctx, shared, &g->place));
    if (s == MRS_OK && ops->group) {
        return ops->group(state, &n->ctx, n->work, shared, &g->key);
    }
    mrs_buf_put(&g->key, x->group.p, x->group.n);
    return s;
}

static struct group_bytes
keep(struct ext_groups *g, const struct mrs_buf *b)
{
    struct group_bytes at = {g->bytes.n, b->n};
    mrs_buf_put(&g->bytes, b->p, b->n);
    return at;
}

/* Reuses the shared record of the preceding member if it is equal: it is for most members of a group. */
static struct group_bytes
keep_shared(struct ext_groups *g)
{
    MRS_ASSERT(g->n_groups <= g->cap_groups);
    if (g->n) {
        struct group_bytes last = g->member[g->n - 1].shared;
        if (last.n == g->shared.n && memcmp(g->bytes.p + last.at, g->shared.p, last.n) == 0) {
            return last;
        }
    }
    return keep(g, &g->shared);
}

enum mrs_status
ext_fold_take(struct ext_node *n, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(n->groups && mrs_view_is_framed(doc));
    struct ext_groups *g = n->groups;
    struct group_member m = {0};
    bool takes_part;
    enum mrs_status s = enter(g, doc, &takes_part, e);
    if (s != MRS_OK || !takes_part) {
        return s;
    }
    MRS_TRY(entry_status(g, e));
    MRS_TRY(arrive(g, e));
    MRS_TRY(find_group(g, &m.group, e));
    m.order = keep(g, &g->entry.order);
    m.payload = keep(g, &g->entry.payload);
    m.shared = keep_shared(g);
    struct group_member *list = mrs_more(n->ctx.mem, g->member, g->n, &g->cap, sizeof *list);
    MRS_TRY(mrs_allocated(list, sizeof *list, e));
    g->member = list;
    g->member[g->n++] = m;
    return mrs_buf_status(&g->bytes, e);
}
