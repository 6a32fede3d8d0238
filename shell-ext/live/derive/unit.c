/* SPDX-License-Identifier: Apache-2.0 */
/* unit.c - derives units through the kernels of their group.
 *
 * A unit is one document of a main collection with all that the steps make from it. When a plan is expanded, the
 * document may already contain output of an earlier attempt or of another pass: those fields are claimed by the run, so
 * they are removed before the kernels see the document (the base), and only they are taken from the kernels' output. So
 * deriving twice gives the same as deriving once, whatever was written in between.
 *
 * Fused one-document steps are a chain: each reads the output of the one before. Nothing here writes, and only a join
 * reads (unit_from.c). */
#include "derive.h"

#include "live/link/bson.h"
#include "live/state/state_io.h"
#include "mongoreshape/spread_ops.h"

/* ---- names ---- */
static bool
is_claimed(const struct live_units *u, const char *name)
{
    for (uint32_t i = 0; i < u->group->n_claims; i++) {
        if (strcmp(u->group->claims[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static struct live_claimed
claims_of(const struct live_units *u)
{
    return (struct live_claimed){u->group->claims, u->group->n_claims};
}

/* Do the units of this main collection have claims that count for this purpose? */
static bool
has_claims(const struct live_units *u, int side)
{
    return u->purpose != LIVE_FOR_DIRECT && u->group->n_claims && side == u->group->claims_side;
}

static bool
is_main_side(const struct live_units *u, int side)
{
    for (uint32_t i = 0; i < u->n_mains; i++) {
        if (u->main[i].side == side) {
            return true;
        }
    }
    return false;
}

static bool
is_listed(const struct mrs_buf *names, const char *name)
{
    for (size_t at = 0; at < names->n; at += strlen((const char *)names->p + at) + 1) {
        if (strcmp((const char *)names->p + at, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The top-level name of a path; *whole: the path is the whole document. */
static enum mrs_status
add_read(struct live_units *u, const struct mrs_touch *t, int side, struct mrs_buf *names, bool *whole,
         struct mrs_err *e)
{
    size_t n = strcspn(t->path, ".");
    char *name = mrs_arena_alloc(&u->scratch, n + 1);
    MRS_TRY(mrs_allocated(name, n, e));
    memcpy(name, t->path, n);
    name[n] = 0;
    *whole = *whole || n == 0;
    if (!is_listed(names, name) && !(has_claims(u, side) && is_claimed(u, name))) {
        mrs_buf_put(names, name, n + 1);
    }
    return MRS_OK;
}

static enum mrs_status
list_reads(struct live_units *u, struct mrs_err *e)
{
    struct mrs_buf names;
    bool whole = false;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&names, u->job->mem, SIZE_MAX);
    mrs_buf_put(&names, "_id", sizeof "_id");
    for (uint32_t i = 0; i < u->n_steps; i++) {
        const struct mrs_desc *d = &u->chain[i].desc;
        for (uint32_t k = 0; k < d->n_touches && s == MRS_OK; k++) {
            int side = i < u->group->before ? u->main[0].side : d->touches[k].side;
            if (d->touches[k].kind == 'R' && is_main_side(u, side)) {
                s = add_read(u, &d->touches[k], side, &names, &whole, e);
            }
        }
    }
    MRS_THEN(s, mrs_buf_status(&names, e));
    if (s == MRS_OK && !whole) {
        u->reads = mrs_arena_copy(&u->life, names.p, names.n);
        u->reads_n = names.n;
        s = mrs_allocated(u->reads, names.n, e);
    }
    mrs_buf_clear(&names);
    return s;
}

/* ---- open ---- */
/* Does a group claim fields in a main collection? */
static bool
claims_in(const struct live_units *u, const struct mrs_live_group *g, uint32_t main)
{
    return g->n_claims && strcmp(u->job->plan->steps[g->first].desc.sides[g->claims_side].coll.ns,
                                 u->main[main].coll.ns) == 0;
}

/* Lists the fields outside the base of a main collection: own claims, and those of later groups, to which contract
 * leaves them. */
static enum mrs_status
list_left(struct live_units *u, uint32_t main, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    const struct mrs_live_group *end = u->job->live->group + u->job->live->n_groups;
    uint32_t n = 0, cap = 1, own = has_claims(u, u->main[main].side) ? u->group->n_claims : 0;
    for (const struct mrs_live_group *g = u->group; g < end; g++) {
        cap += g->n_claims;
    }
    const char **name = mrs_arena_alloc(&u->life, cap * sizeof *name);
    MRS_TRY(mrs_allocated(name, cap * sizeof *name, e));
    for (; n < own; n++) {
        name[n] = u->group->claims[n];
    }
    for (const struct mrs_live_group *g = u->group + 1; u->purpose == LIVE_FOR_CONTRACT && g < end; g++) {
        for (uint32_t i = 0; i < g->n_claims && claims_in(u, g, main); i++) {
            name[n++] = g->claims[i];
        }
    }
    u->left[main] = (struct live_claimed){name, n};
    u->later[main] = (struct live_claimed){name + own, n - own};
    return MRS_OK;
}

static enum mrs_status
list_mains(struct live_units *u, struct mrs_err *e)
{
    MRS_ASSERT(!u->main);
    const struct mrs_desc *d = &u->step->desc;
    u->main = mrs_arena_alloc(&u->life, (d->n_sides + 1u) * sizeof *u->main);
    u->left = mrs_arena_alloc(&u->life, (d->n_sides + 1u) * sizeof *u->left);
    u->later = mrs_arena_alloc(&u->life, (d->n_sides + 1u) * sizeof *u->later);
    if (!u->main || !u->left || !u->later) {
        return mrs_err_memory(e, d->n_sides * sizeof *u->main);
    }
    for (uint32_t i = 0; i < d->n_sides; i++) {
        if ((d->sides[i].role & MRS_ROLE_MAIN) && (d->family != MRS_FAMILY_JOIN || i == 1)) {
            u->main[u->n_mains++] = (struct live_product){.coll = d->sides[i].coll, .side = (int)i};
        }
    }
    return MRS_OK;
}

static enum mrs_status
make_work(struct live_units *u, struct mrs_err *e)
{
    MRS_ASSERT(!u->work);
    u->work = mrs_zalloc(u->job->mem, u->n_steps * sizeof *u->work);
    MRS_TRY(mrs_allocated(u->work, u->n_steps * sizeof *u->work, e));
    for (uint32_t i = 0; i < u->n_steps; i++) {
        const struct mrs_step_type *t = u->chain[i].type;
        u->work[i] = mrs_zalloc(u->job->mem, t->work_size + 1);
        MRS_TRY(mrs_allocated(u->work[i], t->work_size, e));
    }
    return MRS_OK;
}

static int
is_cancelled(void *job)
{
    return live_cancelled(job);
}

enum mrs_status
live_units_open(struct live_job *job, uint32_t group, enum live_purpose purpose, struct live_units **out,
                struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    struct live_units *u = mrs_zalloc(job->mem, sizeof *u);
    *out = NULL;
    MRS_TRY(mrs_allocated(u, sizeof *u, e));
    u->job = job;
    u->group = &job->live->group[group];
    u->step = &job->plan->steps[u->group->first];
    u->chain = &job->plan->steps[mrs_live_first(u->group)];
    u->n_steps = mrs_live_steps(u->group);
    u->purpose = purpose;
    u->ctx = (struct mrs_ctx){.mem = job->mem, .arena = &u->scratch, .err = &u->err};
    mrs_arena_init(&u->life, job->mem);
    mrs_arena_init(&u->load_arena, job->mem);
    mrs_arena_init(&u->scratch, job->mem);
    u->scratch.most = MRS_EVAL_BYTES_MAX;
    u->scratch.ask = is_cancelled;
    u->scratch.ask_arg = job;
    mrs_buf_init(&u->out, job->mem, SIZE_MAX);
    mrs_buf_init(&u->base, job->mem, SIZE_MAX);
    mrs_buf_init(&u->kept, job->mem, SIZE_MAX);
    mrs_buf_init(&u->products, job->mem, SIZE_MAX);
    enum mrs_family f = u->step->desc.family;
    enum mrs_status s = MRS_OK;
    if (f != MRS_FAMILY_MAP && f != MRS_FAMILY_SPREAD && f != MRS_FAMILY_JOIN) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "step %u: %s can only run with writers stopped", u->step->no,
                        u->step->type->name);
    }
    MRS_THEN(s, list_mains(u, e));
    for (uint32_t i = 0; i < u->n_mains && s == MRS_OK; i++) {
        s = list_left(u, i, e);
    }
    MRS_THEN(s, list_reads(u, e));
    MRS_THEN(s, make_work(u, e));
    s = s == MRS_OK && f == MRS_FAMILY_JOIN ? live_from_open(u, e) : s;
    if (s != MRS_OK) {
        live_units_close(u);
        return s;
    }
    *out = u;
    return MRS_OK;
}

static void
clear_work(struct live_units *u, uint32_t i)
{
    MRS_ASSERT(i < u->n_steps);
    void (*clear)(struct mrs_ctx *, void *) = u->chain[i].type->work_clear;
    if (u->work[i] && clear) {
        clear(&u->ctx, u->work[i]);
    }
    mrs_free(u->job->mem, u->work[i]);
}

void
live_units_close(struct live_units *u)
{
    if (!u) {
        return;
    }
    for (uint32_t i = 0; u->work && i < u->n_steps; i++) {
        clear_work(u, i);
    }
    mrs_free(u->job->mem, u->work);
    live_from_close(u);
    mrs_buf_clear(&u->out);
    mrs_buf_clear(&u->base);
    mrs_buf_clear(&u->kept);
    mrs_buf_clear(&u->products);
    mrs_arena_clear(&u->scratch);
    mrs_arena_clear(&u->load_arena);
    mrs_arena_clear(&u->life);
    mrs_free(u->job->mem, u);
}

uint32_t
live_units_mains(const struct live_units *u)
{
    return u->n_mains;
}

const struct mrs_coll *
live_units_main(const struct live_units *u, uint32_t i, int *side)
{
    MRS_ASSERT(i < u->n_mains);
    *side = u->main[i].side;
    return &u->main[i].coll;
}

const char *
live_units_reads(const struct live_units *u, size_t *n)
{
    *n = u->reads_n;
    return u->reads;
}

/* ---- shared by the files of units ---- */
enum mrs_status
live_unit_base(struct live_units *u, uint32_t main, struct mrs_view doc, struct mrs_view *base, struct mrs_err *e)
{
    return live_claimed_out(u->left[main], doc, &u->base, base, e);
}

enum mrs_status
live_unit_copy(struct live_units *u, struct mrs_view doc, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(doc.p || doc.n == 0);
    uint64_t memory = u->job->opts.memory ? u->job->opts.memory : LIVE_ONE_BYTES;
    u->load_bytes += doc.n;
    if (u->n > 1 && u->load_bytes > LIVE_LOAD_BYTES) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "what belongs to %u documents is more than %u MiB", u->n,
                           LIVE_LOAD_BYTES >> 20);
    }
    if (u->load_bytes > memory) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "what belongs to this document is more than %llu MiB: give more "
                           "--memory, or run the plan with --quiet-by", (unsigned long long)(memory >> 20));
    }
    uint8_t *p = mrs_arena_copy(&u->load_arena, doc.p, doc.n);
    *out = (struct mrs_view){p, doc.n};
    return mrs_allocated(p, doc.n, e);
}

void
live_unit_refuse(struct live_units *u, struct live_unit *unit, uint32_t step)
{
    MRS_ASSERT(step > 0 && step <= u->job->plan->n_steps);
    unit->refused = true;
    unit->why = u->err;
    unit->step = step;
    unit->result = unit->doc;
    unit->n_products = 0;
}

enum mrs_status
live_unit_failed(const struct live_units *u, enum mrs_status s, struct mrs_err *e)
{
    if (s < MRS_SKIP) {
        mrs_err_set(e, s, u->err.code, "%s", u->err.msg);
        mrs_err_at(e, "%s", u->err.where);
    }
    return s;
}

/* ---- contract ---- */
static bool
has_a_claim(const struct live_units *u, uint32_t main, struct mrs_view doc)
{
    return has_claims(u, u->main[main].side) && live_claimed_any(claims_of(u), doc);
}

/* Does the document have fields that contract removes? */
static enum mrs_status
has_old_shape(struct live_units *u, struct mrs_view doc, bool *any, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    enum mrs_status s = MRS_OK;
    *any = false;
    for (uint32_t i = 0; i < u->group->n_gone && !*any && s == MRS_OK; i++) {
        s = live_any_at(&u->scratch, doc, u->group->gone[i], any, e);
    }
    return s;
}

/* Is the group's output the document, but for fields behind the claims, which the group puts last? A later group has
 * added those in place, before the walk began again. */
static enum mrs_status
is_done(struct live_units *u, uint32_t main, struct mrs_view doc, struct mrs_view after, bool *done, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    struct mrs_view base, rest, last;
    MRS_TRY(live_claimed_out(u->left[main], doc, &u->out, &base, e));
    MRS_TRY(live_claimed_out(u->left[main], after, &u->kept, &rest, e));
    *done = live_same(base, rest);
    if (*done) {
        MRS_TRY(live_claimed_in(claims_of(u), base, after, &u->kept, &last, e));
        *done = live_same(last, after);
    }
    return MRS_OK;
}

/* The document becomes the group's output for its base only if its present fields equal what the base gives: else it
 * has been contracted already, and its base has lost the source of the new fields, or an application wrote. */
static enum mrs_status
contract(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_view after, struct mrs_view *result,
         struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    if (has_claims(u, u->main[main].side) && live_claimed_differs(claims_of(u), unit->doc, after, false)) {
        unit->late = !live_claimed_differs(claims_of(u), unit->doc, after, true);
        return has_old_shape(u, unit->doc, &unit->differs, e);
    }
    bool done;
    MRS_TRY(is_done(u, main, unit->doc, after, &done, e));
    if (done) {
        return MRS_OK;
    }
    *result = after;
    return u->later[main].n ? live_claimed_in(u->later[main], after, unit->doc, &u->out, result, e) : MRS_OK;
}

enum mrs_status
live_unit_result(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_view after, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    uint32_t last = u->step[u->group->n - 1].no;
    struct mrs_view result = unit->doc;
    enum mrs_status s = MRS_OK;
    if (u->purpose == LIVE_FOR_CONTRACT) {
        s = contract(u, main, unit, after, &result, e);
    } else if (u->purpose == LIVE_FOR_DIRECT) {
        result = after;
    } else if (has_claims(u, u->main[main].side)) {
        s = live_claimed_in(claims_of(u), unit->doc, after, &u->out, &result, e);
    }
    MRS_THEN(s, live_stored(result, &u->kept, &result, e));
    if (s != MRS_OK) {
        return s;
    }
    if (live_same(result, unit->doc)) {
        unit->result = unit->doc;
        return MRS_OK;
    }
    mrs_err_clear(&u->err);
    if (result.n > MRS_DOC_MAX && result.n > unit->doc.n) {
        mrs_err_set(&u->err, MRS_SKIP, MRS_E_LIMIT, "the document would be %u bytes, more than 16 MiB", result.n);
        live_unit_refuse(u, unit, last);
        return MRS_OK;
    }
    if (!mrs_identical(mrs_doc_get(result, "_id"), mrs_doc_get(unit->doc, "_id"))) {
        mrs_err_set(&u->err, MRS_SKIP, MRS_E_REFUSED, "its _id would change, which cannot be done in place");
        live_unit_refuse(u, unit, last);
        return MRS_OK;
    }
    return live_unit_copy(u, result, &unit->result, e);
}

/* ---- one-document steps, and steps that make documents in other collections ---- */
/* A contracted document may lack fields that the steps need: that is no refusal. Such a document has claims, and no
 * field of the old schema; if a group claims nothing, its output has been checked (check_again). */
static enum mrs_status
refuse_map(struct live_units *u, uint32_t main, struct live_unit *unit, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step > 0);
    bool genuine = u->purpose != LIVE_FOR_CONTRACT ||
                   (!has_a_claim(u, main, unit->doc) && !LIVE_MUTANT("refusal-unheard"));
    enum mrs_status s = genuine ? MRS_OK : has_old_shape(u, unit->doc, &genuine, e);
    if (s == MRS_OK && genuine) {
        live_unit_refuse(u, unit, step);
    }
    return s;
}

/* Runs the first n steps on a document one after the other; SKIP: refused by *step. */
static enum mrs_status
run_chain(struct live_units *u, uint32_t n, struct mrs_view *doc, uint32_t *step)
{
    MRS_ASSERT(n <= u->n_steps);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        const struct mrs_spread_ops *ops = u->chain[i].type->spread;
        struct mrs_product p = {.doc = *doc};
        enum mrs_fate fate;
        mrs_err_clear(&u->err);
        *step = u->chain[i].no;
        s = ops->begin(u->chain[i].state, &u->ctx, u->work[i], 0, *doc, &fate);
        if (s == MRS_OK && fate == MRS_FATE_CHANGED) {
            s = ops->next(u->chain[i].state, &u->ctx, u->work[i], &p);
        }
        *doc = p.doc;
    }
    return s;
}

/* The document after the steps, or refused; existing claims are taken into account. */
static enum mrs_status
derive_map(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_err *e)
{
    struct mrs_view doc;
    uint32_t step = 0;
    MRS_TRY(live_unit_base(u, main, unit->doc, &doc, e));
    enum mrs_status s = run_chain(u, u->n_steps, &doc, &step);
    if (s == MRS_SKIP) {
        return refuse_map(u, main, unit, step, e);
    }
    return s == MRS_OK ? live_unit_result(u, main, unit, doc, e) : live_unit_failed(u, s, e);
}

/* While the old schema is removed, a document may be read again after its change; then it must not change any more. The
 * static rule guarantees that for the steps; this checks it for the current document. */
static enum mrs_status
check_again(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_err *e)
{
    struct live_unit next = {.doc = unit->result, .result = unit->result};
    if (u->purpose == LIVE_FOR_EXPAND || unit->refused || live_same(unit->result, unit->doc) ||
        LIVE_MUTANT("once-is-enough")) {
        return MRS_OK;
    }
    enum mrs_status s = derive_map(u, main, &next, e);
    if (s == MRS_OK && (next.refused || next.differs || !live_same(next.result, unit->result))) {
        mrs_err_clear(&u->err);
        mrs_err_set(&u->err, MRS_SKIP, MRS_E_REFUSED,
                    "what it becomes would be changed once more when it is met again: change it by hand, or run the "
                    "plan with --quiet-by");
        live_unit_refuse(u, unit, u->step[u->group->n - 1].no);
    }
    return s;
}

/* Refuses a product that a server would silently change on insert. */
static bool
keeps_no_time(struct live_units *u, struct live_unit *unit, const struct mrs_product *p)
{
    const char *name = live_zero_time(p->doc);
    if (name) {
        mrs_err_clear(&u->err);
        mrs_err_set(&u->err, MRS_SKIP, MRS_E_REFUSED,
                    "field %.64s of a document that it makes in %.120s is Timestamp(0, 0): the server would put its "
                    "own time there; let the plan give it another value", name, u->step->desc.sides[p->side].coll.ns);
        live_unit_refuse(u, unit, u->step->no);
    }
    return name != NULL;
}

static enum mrs_status
keep_product(struct live_units *u, struct live_unit *unit, const struct mrs_product *p, struct mrs_err *e)
{
    MRS_ASSERT(p->side >= 0);
    struct live_product made = {.coll = u->step->desc.sides[p->side].coll, .side = p->side};
    enum mrs_status s = live_stored(p->doc, &u->kept, &made.doc, e);
    MRS_THEN(s, live_unit_copy(u, made.doc, &made.doc, e));
    if (s == MRS_OK) {
        mrs_buf_put(&u->products, &made, sizeof made);
        unit->n_products++;
        s = mrs_buf_status(&u->products, e);
    }
    return s;
}

static enum mrs_status
derive_spread(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_view base, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    const struct mrs_spread_ops *ops = u->step->type->spread;
    struct mrs_view after = unit->doc; /* if it moves to another collection: it stays for the moment */
    struct mrs_product p;
    enum mrs_fate fate;
    void *work = u->work[u->group->before];
    uint32_t step;
    enum mrs_status s = run_chain(u, u->group->before, &base, &step);
    if (s == MRS_OK) {
        mrs_err_clear(&u->err);
        step = u->step->no;
        s = ops->begin(u->step->state, &u->ctx, work, u->main[main].side, base, &fate);
    }
    if (s == MRS_SKIP) {
        live_unit_refuse(u, unit, step);
        return MRS_OK;
    }
    while (s == MRS_OK && (s = ops->next(u->step->state, &u->ctx, work, &p)) == MRS_OK) {
        if (p.self) {
            after = p.doc;
        } else if (keeps_no_time(u, unit, &p)) {
            return MRS_OK;
        } else {
            s = keep_product(u, unit, &p, e);
            if (s != MRS_OK) {
                return s;
            }
        }
    }
    return s == MRS_END ? live_unit_result(u, main, unit, after, e) : live_unit_failed(u, s, e);
}

static enum mrs_status
derive_one(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    struct mrs_view base;
    size_t products = u->products.n;
    enum mrs_status s;
    mrs_arena_reset(&u->scratch);
    if (u->step->desc.family == MRS_FAMILY_MAP) {
        s = derive_map(u, main, unit, e);
        MRS_THEN(s, check_again(u, main, unit, e));
    } else {
        s = live_unit_base(u, main, unit->doc, &base, e);
        MRS_THEN(s, derive_spread(u, main, unit, base, e));
    }
    if (unit->refused) {
        u->products.n = products;
    }
    return s;
}

/* A duplicate name has no value on which kernels and server agree. */
static void
begin_unit(struct live_units *u, struct live_unit *unit, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    memset(unit, 0, sizeof *unit);
    mrs_err_clear(&unit->why);
    unit->doc = unit->result = doc;
    if (mrs_doc_has_duplicates(u->job->mem, doc, true)) {
        mrs_err_clear(&u->err);
        mrs_err_set(&u->err, MRS_SKIP, MRS_E_REFUSED, "a field name stands in it twice");
        live_unit_refuse(u, unit, u->step->no);
    }
}

/* A load of one unit cannot be divided: a unit that is too large by itself is refused. */
static enum mrs_status
too_much(struct live_units *u, struct live_unit *units, enum mrs_status s, struct mrs_err *e)
{
    if (s != MRS_FAIL || e->code != MRS_E_LIMIT || u->n != 1) {
        return s;
    }
    u->err = *e;
    mrs_err_clear(e);
    live_unit_refuse(u, &units[0], u->step->no);
    return MRS_OK;
}

enum mrs_status
live_units_load(struct live_units *u, uint32_t main, const struct mrs_view *docs, uint32_t n, struct live_unit *units,
                struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    bool join = u->step->desc.family == MRS_FAMILY_JOIN;
    enum mrs_status s = MRS_OK;
    mrs_arena_reset(&u->load_arena);
    mrs_buf_reset(&u->products);
    u->load_bytes = 0;
    u->n = n;
    for (uint32_t i = 0; i < n; i++) {
        begin_unit(u, &units[i], docs[i]);
    }
    if (join) {
        s = live_from_load(u, main, units, n, e);
        MRS_THEN(s, live_join_derive(u, main, units, n, e));
        return too_much(u, units, s, e);
    }
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        s = units[i].refused ? MRS_OK : derive_one(u, main, &units[i], e);
    }
    s = too_much(u, units, s, e);
    struct live_product *p = (struct live_product *)(void *)u->products.p;
    for (uint32_t i = 0; i < n; i++) {
        units[i].product = units[i].n_products ? p : NULL;
        p = units[i].n_products ? p + units[i].n_products : p;
    }
    return s;
}
