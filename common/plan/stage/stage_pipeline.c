/* SPDX-License-Identifier: Apache-2.0 */
/* stage_pipeline.c - the pipeline for one pair of collections: the stages before $reshape, the stage, and the stages
 * after it.
 *
 * Stages before it see the documents before the plan. So documents can be joined or sorted only by paths that no step
 * has changed before; otherwise a note says what the user has to write. */
#include "stage_pipeline.h"

#include "mongoreshape/build.h"
#include "mongoreshape/limits.h"

struct maker {
    const struct mrs_plan *plan;
    struct mrsi_stage_pair *pair;
    struct mrs_build b;
};

static void
text(struct mrs_build *b, const char *key, const char *value)
{
    mrs_build_text(b, key, value, (uint32_t)strlen(value));
}

static void
open_doc(struct mrs_build *b, const char *key, uint8_t type)
{
    mrs_build_open(b, key, (uint32_t)strlen(key), type);
}

/* ---- is it allowed? ---- */
static void
no_report(void *arg, const char *place, const char *msg)
{
    (void)arg;
    (void)place;
    (void)msg;
}

static void
report(void *arg, const char *place, const char *msg)
{
    struct mrsi_stage_pair *pair = arg;
    mrs_buf_say(&pair->why, "%s%s%s\n", place, *place ? ": " : "", msg);
}

/* A field for the documents of a collection, which user documents do not have. */
static void
put_field(struct mrs_buf *out, const char *coll)
{
    mrs_buf_put(out, "__mrs_", 6);
    for (const char *c = coll; *c; c++) {
        mrs_buf_byte(out, *c == '.' ? '_' : (uint8_t)*c);
    }
    mrs_buf_byte(out, 0);
}

/* {collection: field} for all joins of a route, in the arena. */
static enum mrs_status
make_with(const struct mrs_plan *p, const struct mrs_stage_route *route, struct mrs_arena *a, struct mrs_view *with,
          struct mrs_err *e)
{
    MRS_ASSERT(route->n_hops == 0 || route->hop);
    struct mrs_buf buf, field;
    struct mrs_build b;
    mrs_buf_init(&buf, p->mem, MRS_DOC_MAX);
    mrs_buf_init(&field, p->mem, 4096);
    mrs_build_init(&b, &buf);
    for (uint32_t i = 0; i < route->n_hops; i++) {
        const struct mrs_desc *d = &route->hop[i].step->desc;
        const char *coll = d->family == MRS_FAMILY_JOIN ? d->sides[0].coll.coll : NULL;
        bool twice = false;
        for (uint32_t k = 0; coll && k < i; k++) {
            const struct mrs_desc *other = &route->hop[k].step->desc;
            twice = twice || (other->family == MRS_FAMILY_JOIN && strcmp(other->sides[0].coll.coll, coll) == 0);
        }
        if (coll && !twice) {
            mrs_buf_reset(&field);
            put_field(&field, coll);
            text(&b, coll, field.bad ? "" : (const char *)field.p);
        }
    }
    struct mrs_view doc;
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    MRS_THEN(s, mrs_buf_status(&field, e));
    uint8_t *copy = s == MRS_OK ? mrs_arena_copy(a, doc.p, doc.n) : NULL;
    *with = (struct mrs_view){copy, copy ? doc.n : 0};
    s = s == MRS_OK && !copy ? mrs_err_memory(e, doc.n) : s;
    mrs_buf_clear(&field);
    mrs_buf_clear(&buf);
    return s;
}

/* ---- before the stage ---- */
static bool
same_top(const char *a, const char *b)
{
    size_t n = strcspn(a, ".");
    return n == strcspn(b, ".") && strncmp(a, b, n) == 0;
}

/* Does an earlier step of the stage change the value at the path? */
static bool
changed_before(const struct mrs_stage_route *r, uint32_t hop, const char *path)
{
    MRS_ASSERT(hop <= r->n_hops && path);
    for (uint32_t i = 0; i < hop; i++) {
        const struct mrs_desc *d = &r->hop[i].step->desc;
        for (uint32_t t = 0; t < d->n_touches; t++) {
            const struct mrs_touch *touch = &d->touches[t];
            if (touch->kind != 'R' && (!*touch->path || same_top(touch->path, path))) {
                return true;
            }
        }
    }
    return false;
}

static const struct mrs_pair_path *
pair_of(const struct mrs_desc *d)
{
    for (uint32_t i = 0; d->pairs && i < d->n_pairs; i++) {
        if (d->pairs[i].from && d->pairs[i].into) {
            return &d->pairs[i];
        }
    }
    return NULL;
}

/* Has an earlier join fetched these documents by the same paths? *other: by other paths. */
static bool
fetched(const struct mrs_stage_route *r, uint32_t hop, const struct mrs_pair_path *by, bool *other)
{
    MRS_ASSERT(hop < r->n_hops);
    bool same = false;
    for (uint32_t i = 0; i < hop; i++) {
        if (r->hop[i].field && r->hop[i].field_no == r->hop[hop].field_no) {
            const struct mrs_pair_path *q = pair_of(&r->hop[i].step->desc);
            bool equal = q && by && strcmp(q->from, by->from) == 0 && strcmp(q->into, by->into) == 0;
            same = same || equal;
            *other = *other || !equal;
        }
    }
    return same;
}

static void
put_lookup(struct maker *m, uint32_t hop)
{
    MRS_ASSERT(hop < m->pair->route.n_hops);
    const struct mrs_stage_hop *h = &m->pair->route.hop[hop];
    const struct mrs_coll *from = &h->step->desc.sides[0].coll;
    const struct mrs_pair_path *by = pair_of(&h->step->desc);
    bool other = false, done = fetched(&m->pair->route, hop, by, &other);
    const char *why = strcmp(from->db, m->pair->of->db) != 0 ? "lie in another database, which a $lookup does not reach"
                      : !by                                  ? "are matched by an expression"
                      : other                                ? "are taken by two steps, by other paths"
                      : changed_before(&m->pair->route, hop, by->into) ? "are matched by what an earlier step changes"
                                                                       : NULL;
    if (why) {
        mrs_buf_say(&m->pair->notes, "step %u (%s): documents of %s %s: bring those that may match in the field %s\n",
                    h->step->no, h->step->type->name, from->ns, why, h->field);
    } else if (!done) {
        mrs_build_item_open(&m->b, MRS_DOCUMENT);
        open_doc(&m->b, "$lookup", MRS_DOCUMENT);
        text(&m->b, "from", from->coll);
        text(&m->b, "localField", by->into);
        text(&m->b, "foreignField", by->from);
        text(&m->b, "as", h->field);
        mrs_build_close(&m->b);
        mrs_build_close(&m->b);
    }
}

/* Adds the path of "path" or "$path" to a $sort; false: not a path. */
static bool
sort_by(struct mrs_build *b, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    uint32_t n = 0;
    const char *path = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    if (path && n && *path == '$') {
        path++;
        n--;
    }
    if (!path || !n || *path == '$') {
        return false;
    }
    uint8_t one[4] = {1, 0, 0, 0};
    mrs_build_val(b, path, n, (struct mrs_val){one, sizeof one, MRS_INT32});
    return true;
}

static bool
sort_by_all(struct mrs_build *b, struct mrs_val by)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool all = true;
    if (by.type != MRS_DOCUMENT && by.type != MRS_ARRAY) {
        return by.type == MRS_MISSING || by.type == MRS_NULL || sort_by(b, by);
    }
    mrs_walk_init(&w, mrs_val_view(by));
    while (mrs_walk_next(&w, &el) == 1) {
        all = all && sort_by(b, el.v);
    }
    return all;
}

/* Each key once: a server refuses a $sort that names one twice, and the first of them decides. */
static void
put_keys(struct mrs_build *b, struct mrs_view keys)
{
    struct mrs_walk w;
    struct mrs_elem el, first;
    mrs_walk_init(&w, keys);
    while (mrs_walk_next(&w, &el) == 1) {
        if (mrs_doc_find(keys, el.name, el.name_len, &first) && first.v.p == el.v.p) {
            mrs_build_elem(b, &el);
        }
    }
}

static void
put_sort(struct maker *m, uint32_t hop)
{
    MRS_ASSERT(hop < m->pair->route.n_hops);
    const struct mrs_step *s = m->pair->route.hop[hop].step;
    struct mrs_val time = mrs_doc_get(s->body, "time"), order = mrs_doc_get(s->body, "sort");
    uint8_t one[4] = {1, 0, 0, 0};
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&buf, m->plan->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    bool paths = sort_by_all(&b, mrs_doc_get(s->body, "by")) && (time.type == MRS_MISSING || sort_by(&b, time));
    if (paths && order.type == MRS_DOCUMENT) {
        mrs_build_raw(&b, mrs_val_view(order).p + 4, mrs_val_view(order).n - MRS_DOC_MIN);
    }
    mrs_build_val(&b, "_id", 3, (struct mrs_val){one, sizeof one, MRS_INT32});
    enum mrs_status st = mrs_build_finish(&b, &doc, NULL);
    if (st != MRS_OK) {
        m->pair->notes.bad = m->pair->notes.bad ? m->pair->notes.bad : 1;
    } else if (paths && hop == 0) {
        mrs_build_item_open(&m->b, MRS_DOCUMENT);
        open_doc(&m->b, "$sort", MRS_DOCUMENT);
        put_keys(&m->b, doc);
        mrs_build_close(&m->b);
        mrs_build_close(&m->b);
    } else {
        mrs_buf_say(&m->pair->notes, "step %u (%s): %s: put a $sort before, by what it groups by, its time, and _id\n",
                    s->no, s->type->name, hop ? "it groups what earlier steps made" : "it groups by an expression");
    }
    mrs_buf_clear(&buf);
}

/* ---- the stage, and after it ---- */
static void
put_coll(struct mrs_build *b, const char *key, const struct mrs_coll *c, const char *db)
{
    MRS_ASSERT(key && c->coll && db);
    if (strcmp(c->db, db) == 0) {
        text(b, key, c->coll);
        return;
    }
    open_doc(b, key, MRS_DOCUMENT);
    text(b, "db", c->db);
    text(b, "coll", c->coll);
    mrs_build_close(b);
}

static void
put_plan(struct maker *m)
{
    const struct mrs_plan *p = m->plan;
    open_doc(&m->b, "plan", MRS_DOCUMENT);
    if (p->version != MRS_PLAN_VERSION) {
        mrs_build_i32(&m->b, "version", (int32_t)p->version);
    }
    text(&m->b, "server", p->server);
    if (p->id_known && *p->database) {
        text(&m->b, "database", p->database);
    }
    open_doc(&m->b, "steps", MRS_ARRAY);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        mrs_build_item_open(&m->b, MRS_DOCUMENT);
        mrs_build_val(&m->b, p->steps[i].type->name, (uint32_t)strlen(p->steps[i].type->name),
                      mrs_view_val(p->steps[i].body));
        mrs_build_close(&m->b);
    }
    mrs_build_close(&m->b);
    mrs_build_close(&m->b);
}

static void
put_stage(struct maker *m, struct mrs_view with)
{
    MRS_ASSERT(mrs_view_is_framed(with));
    mrs_build_item_open(&m->b, MRS_DOCUMENT);
    open_doc(&m->b, "$reshape", MRS_DOCUMENT);
    put_coll(&m->b, "of", m->pair->of, m->plan->database);
    put_coll(&m->b, "emit", m->pair->emit, m->plan->database);
    if (with.n > MRS_DOC_MIN) {
        mrs_build_val(&m->b, "with", 4, mrs_view_val(with));
    }
    put_plan(m);
    mrs_build_close(&m->b);
    mrs_build_close(&m->b);
}

/* "replace" would put the server's own time for a Timestamp(0, 0), an expression stores what it is given. */
static void
replace_by_expression(struct maker *m)
{
    mrs_build_open(&m->b, "whenMatched", 11, MRS_ARRAY);
    mrs_build_item_open(&m->b, MRS_DOCUMENT);
    text(&m->b, "$replaceWith", "$$new");
    mrs_build_close(&m->b);
    mrs_build_close(&m->b);
}

/* In place nothing is created; in another collection nothing is overwritten. */
static void
put_merge(struct maker *m)
{
    bool in_place = strcmp(m->pair->of->ns, m->pair->emit->ns) == 0;
    mrs_build_item_open(&m->b, MRS_DOCUMENT);
    open_doc(&m->b, "$merge", MRS_DOCUMENT);
    put_coll(&m->b, "into", m->pair->emit, m->pair->of->db);
    text(&m->b, "on", "_id");
    if (in_place) {
        replace_by_expression(m);
    } else {
        text(&m->b, "whenMatched", "fail");
    }
    text(&m->b, "whenNotMatched", in_place ? "discard" : "insert");
    mrs_build_close(&m->b);
    mrs_build_close(&m->b);
}

/* The note on what a stream cannot do: documents that leave a collection still exist there. */
static void
note_leaving(struct maker *m)
{
    const struct mrs_stage_route *r = &m->pair->route;
    for (uint32_t i = 0; i < r->n_hops; i++) {
        const struct mrs_step *s = r->hop[i].step;
        for (uint32_t k = 0; k < s->desc.n_sides; k++) {
            if (s->desc.sides[k].role & MRS_ROLE_TAKE) {
                mrs_buf_say(&m->pair->notes, "step %u (%s): what it takes out of %s has to be removed there\n", s->no,
                            s->type->name, s->desc.sides[k].coll.ns);
            }
        }
    }
}

static enum mrs_status
make(const struct mrs_plan *p, struct mrsi_stage_pair *pair, struct mrs_view with, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(with));
    struct maker m = {.plan = p, .pair = pair};
    mrs_build_init(&m.b, &pair->bytes);
    for (uint32_t i = 0; i < pair->route.n_hops; i++) {
        if (pair->route.hop[i].field) {
            put_lookup(&m, i);
        }
    }
    for (uint32_t i = 0; i < pair->route.n_hops; i++) {
        if (pair->route.hop[i].step->desc.family == MRS_FAMILY_FOLD) {
            put_sort(&m, i);
        }
    }
    put_stage(&m, with);
    put_merge(&m);
    note_leaving(&m);
    return mrs_build_finish(&m.b, &pair->pipeline, e);
}

enum mrs_status
mrsi_stage_pair_find(const struct mrs_plan *p, const struct mrs_coll *of, const struct mrs_coll *emit,
                     struct mrs_arena *a, struct mrsi_stage_pair *out, struct mrs_err *e)
{
    MRS_ASSERT(of->ns && emit->ns);
    struct mrs_stage_request request = {.of = of, .emit = emit, .with = mrs_empty_doc(), .report = no_report};
    *out = (struct mrsi_stage_pair){.of = of, .emit = emit};
    mrs_buf_init(&out->why, p->mem, (size_t)1 << 20);
    mrs_buf_init(&out->notes, p->mem, (size_t)1 << 20);
    mrs_buf_init(&out->bytes, p->mem, 4 * (size_t)MRS_DOC_MAX);
    enum mrs_status s = mrs_stage_find_route(p, &request, a, &out->route, e); /* the joins that use the documents */
    MRS_THEN(s, make_with(p, &out->route, a, &request.with, e));
    request.report = report;
    request.arg = out;
    MRS_THEN(s, mrs_stage_find_route(p, &request, a, &out->route, e));
    if (s != MRS_OK) {
        return s;
    }
    out->admitted = out->why.n == 0 && out->route.n_hops > 0 && out->route.emit != MRS_STAGE_NO_COLL;
    s = out->admitted ? make(p, out, request.with, e) : MRS_OK;
    MRS_THEN(s, mrs_buf_status(&out->why, e));
    MRS_THEN(s, mrs_buf_status(&out->notes, e));
    return s;
}

void
mrsi_stage_pair_clear(struct mrsi_stage_pair *pair)
{
    mrs_buf_clear(&pair->why);
    mrs_buf_clear(&pair->notes);
    mrs_buf_clear(&pair->bytes);
}
