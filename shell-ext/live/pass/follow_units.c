/* SPDX-License-Identifier: Apache-2.0 */
/* follow_units.c - finds the units of an event.
 *
 * A unit is found by the current key of its source and by its key before the event. The units' own documents keep their
 * `_id`, so both are equal; a document of `from` may have belonged to another unit before. If the event says that its
 * key may have changed, that unit is unknown: such an event is counted, and another walk reads all units. The recorded
 * set may be too large, never too small: each unit is derived from the data present when all its events were read, and
 * written only if it differs.
 *
 * An update that sets only claimed fields, each completely, changes no source, since nothing is derived from claimed
 * fields. Nearly all of these are our own. */
#include "follow.h"

#include "live/link/bson.h"
#include "live/server/server.h"
#include "mongoreshape/value.h"

#include <stdio.h>
#include <stdlib.h>

static const uint64_t hosts_bytes = 32u << 20;
static const size_t events_max = 100000;

static const struct mrs_desc *
desc(const struct live_follow *f)
{
    return &f->job->plan->steps[f->job->live->group[f->of.group].first].desc;
}

static const struct mrs_coll *
from_coll(const struct live_follow *f)
{
    return desc(f)->family == MRS_FAMILY_JOIN ? &desc(f)->sides[0].coll : NULL;
}

const char *
live_follow_cannot(const struct live_follow *f, char *room, size_t n)
{
    MRS_ASSERT(n > 0 && f->n_mains > 0);
    if (desc(f)->family != MRS_FAMILY_JOIN) {
        return NULL;
    }
    const struct mrs_pair_path *p = live_units_pair(f->b[0].units);
    const struct live_coll_info *into = live_server_coll(f->job->server, f->b[0].coll);
    if (!p) {
        return "its match is an expression";
    }
    if (!into || !live_server_indexed(into, p->into)) {
        snprintf(room, n, "no index of %s begins with %s", f->b[0].coll->ns, p->into);
        return room;
    }
    return NULL;
}

uint32_t
live_follow_colls(const struct live_follow *f, const struct mrs_coll **out)
{
    uint32_t n = 0;
    const struct mrs_coll *from = from_coll(f);
    for (uint32_t i = 0; i < f->n_mains; i++) {
        out[n++] = f->b[i].coll;
    }
    if (from && strcmp(from->ns, f->b[0].coll->ns) != 0) {
        out[n++] = from;
    }
    return n;
}

void
live_follow_forget(struct live_follow *f)
{
    mrs_arena_reset(&f->events_arena);
    mrs_buf_reset(&f->from);
    for (uint32_t i = 0; i < f->n_mains; i++) {
        mrs_buf_reset(&f->ids[i]);
    }
}

/* ---- events ---- */
static bool
is_coll(struct mrs_view event, const struct mrs_coll *c)
{
    struct mrs_val db = live_at(event, "ns.db"), coll = live_at(event, "ns.coll");
    return mrs_val_is_text(db, c->db) && mrs_val_is_text(coll, c->coll);
}

/* Does a path in the list begin with the first name of this one? */
static bool
touches(struct mrs_val list, const char *path)
{
    struct mrs_walk w;
    struct mrs_elem el;
    size_t n = strcspn(path, ".");
    if (list.type != MRS_ARRAY) {
        return false;
    }
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &el) == 1;) {
        uint32_t len = 0;
        const char *text = el.v.type == MRS_STRING ? mrs_val_text(el.v, &len) : "";
        if (len >= n && memcmp(text, path, n) == 0 && (len == n || text[n] == '.')) {
            return true;
        }
    }
    return false;
}

static bool
is_empty(struct mrs_val list)
{
    return list.type == MRS_MISSING || mrs_is_nullish(list) || (list.type == MRS_ARRAY && list.n <= MRS_DOC_MIN);
}

static bool
claims_only(const struct live_follow *f, int side, struct mrs_view event)
{
    struct live_claimed k = live_claims_of(f->job, f->of.group, side);
    struct mrs_val set = live_at(event, "set");
    struct mrs_walk w;
    struct mrs_elem el;
    if (set.type != MRS_ARRAY || is_empty(set) || !is_empty(live_at(event, "unset")) ||
        !is_empty(live_at(event, "cut"))) {
        return false;
    }
    for (mrs_walk_init(&w, mrs_val_view(set)); mrs_walk_next(&w, &el) == 1;) {
        bool claimed = false;
        for (uint32_t i = 0; i < k.n && !claimed; i++) {
            claimed = mrs_val_is_text(el.v, k.name[i]);
        }
        if (!claimed) {
            return false;
        }
    }
    return true;
}

static enum mrs_status
note_id(struct live_follow *f, struct mrs_buf *list, struct mrs_val id, struct mrs_err *e)
{
    struct mrs_view doc;
    if (f->of.note_only && list->n / sizeof doc >= events_max) {
        f->c.missed++;
        return MRS_OK;
    }
    enum mrs_status st = live_doc_in(&f->events_arena, &doc, e, "{_id: %v}", id);
    if (!st) {
        mrs_buf_put(list, &doc, sizeof doc);
        st = mrs_buf_status(list, e);
    }
    return st;
}

/* Is the key of a document of `from` after this event its only one? */
static bool
same_key(struct mrs_view event, const char *op, const char *path)
{
    if (strcmp(path, "_id") == 0 || strcmp(op, "insert") == 0) {
        return true;
    }
    struct mrs_val set = live_at(event, "set");
    return strcmp(op, "update") == 0 && set.type == MRS_ARRAY && !touches(set, path) &&
           !touches(live_at(event, "unset"), path) && !touches(live_at(event, "cut"), path);
}

/* Does the document after the event find the targets that it made before? */
static bool
same_targets(const struct live_follow *f, const struct live_batch *b, struct mrs_view event, const char *op)
{
    const struct mrs_desc *d = desc(f);
    for (uint32_t i = 0; b->products && i < d->n_listings; i++) {
        if (strcmp(op, "delete") == 0 || !same_key(event, op, d->listings[i].key)) {
            return false;
        }
    }
    return true;
}

enum mrs_status
live_follow_note(struct live_follow *f, struct mrs_view event, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(event));
    char op[32];
    struct mrs_val id = live_at(event, "documentKey._id");
    const struct mrs_coll *from = from_coll(f);
    enum mrs_status st = MRS_OK;
    live_text_at(event, "operationType", op, sizeof op);
    bool update = strcmp(op, "update") == 0, deleted = strcmp(op, "delete") == 0;
    if ((!update && !deleted && strcmp(op, "insert") != 0 && strcmp(op, "replace") != 0) || id.type == MRS_MISSING) {
        f->c.missed++; /* concerns the whole collection */
        return MRS_OK;
    }
    for (uint32_t i = 0; i < f->n_mains && !st; i++) {
        if (is_coll(event, f->b[i].coll)) {
            if (update && claims_only(f, f->b[i].side, event)) {
                return MRS_OK;
            }
            f->c.missed += f->of.targets && !same_targets(f, &f->b[i], event, op);
            st = deleted ? MRS_OK : note_id(f, &f->ids[i], id, e);
        }
    }
    if (!st && from && is_coll(event, from)) {
        f->c.missed += !same_key(event, op, live_units_pair(f->b[0].units)->from);
        st = note_id(f, &f->from, id, e);
    }
    return st;
}

/* ---- from documents of `from` to units ---- */
static int
by_id(const void *x, const void *y)
{
    return mrs_compare(mrs_doc_get(*(const struct mrs_view *)x, "_id"),
                       mrs_doc_get(*(const struct mrs_view *)y, "_id"));
}

/* Sorts, and removes duplicates. */
static uint32_t
each_once(struct mrs_buf *list)
{
    MRS_ASSERT(list->n % sizeof(struct mrs_view) == 0);
    struct mrs_view *v = (struct mrs_view *)(void *)list->p;
    uint32_t n = 0, all = (uint32_t)(list->n / sizeof *v);
    if (all > 1) {
        qsort(v, all, sizeof *v, by_id);
    }
    for (uint32_t i = 0; i < all; i++) {
        if (n == 0 || by_id(&v[n - 1], &v[i]) != 0) {
            v[n++] = v[i];
        }
    }
    list->n = n * sizeof *v;
    return n;
}

/* With so many units a walk costs less: leaves them to one. */
static enum mrs_status
too_many(enum mrs_status st, bool last, bool *all, struct mrs_err *e)
{
    if (st != MRS_FAIL || e->code != MRS_E_LIMIT || !last) {
        return st;
    }
    mrs_err_clear(e);
    *all = false;
    return MRS_END;
}

/* The units that these documents of `from` belong to now. */
static enum mrs_status
meet(struct live_follow *f, const struct mrs_view *docs, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    struct live_read got = {.coll = f->b[0].coll, .ids = true, .bytes = hosts_bytes, .a = &f->events_arena};
    struct mrs_buf filter;
    bool all = true;
    mrs_buf_init(&filter, f->job->mem, MRS_DOC_READ_MAX);
    enum mrs_status st = live_units_meeting(f->b[0].units, docs, n, &filter, &all, e);
    bool none = (st = too_many(st, n == 1, &all, e)) == MRS_END;
    if (!st) {
        got.filter = (struct mrs_view){filter.p, (uint32_t)filter.n};
        st = live_read_all(f->job, &got, e);
        none = st == MRS_FAIL && (st = too_many(st, true, &all, e)) == MRS_END;
    }
    mrs_buf_clear(&filter);
    st = none ? MRS_OK : st;
    if (!st && !none && got.n) {
        mrs_buf_put(&f->ids[0], got.docs, got.n * sizeof *got.docs);
        st = mrs_buf_status(&f->ids[0], e);
    }
    f->c.missed += !st && !all;
    return st;
}

static enum mrs_status
meet_slice(struct live_follow *f, const struct mrs_view *ids, uint32_t n, struct mrs_err *e)
{
    struct mrs_arena a;
    struct live_read got = {.coll = from_coll(f), .bytes = 17u << 20, .a = &a};
    enum mrs_status st;
    if (strcmp(live_units_pair(f->b[0].units)->from, "_id") == 0) {
        return meet(f, ids, n, e); /* also for deleted ones */
    }
    mrs_arena_init(&a, f->job->mem);
    st = live_ids_filter(&a, ids, n, &got.filter, e);
    MRS_THEN(st, live_read_all(f->job, &got, e));
    st = st || got.n == 0 ? st : meet(f, got.docs, got.n, e);
    mrs_arena_clear(&a);
    return st;
}

enum mrs_status
live_follow_meet(struct live_follow *f, struct mrs_err *e)
{
    const struct mrs_view *from = (const struct mrs_view *)(const void *)f->from.p;
    uint32_t n = each_once(&f->from);
    enum mrs_status st = MRS_OK;
    for (struct live_slices s = {.n = n, .step = n < LIVE_IN_MAX ? n : LIVE_IN_MAX}; !st && live_slices_next(&s);) {
        st = meet_slice(f, from + s.at, s.k, &s.why);
        st = live_slices_halved(&s, st) ? MRS_OK : st ? live_slices_failed(&s, st, e) : MRS_OK;
    }
    for (uint32_t i = 0; i < f->n_mains && !st; i++) {
        each_once(&f->ids[i]);
    }
    return st;
}

bool
live_follow_named(const struct live_follow *f, uint32_t main, struct mrs_view doc)
{
    const struct mrs_buf *ids = &f->ids[main];
    return ids->n && bsearch(&doc, ids->p, ids->n / sizeof doc, sizeof doc, by_id);
}

enum mrs_status
live_follow_write(struct live_follow *f, struct mrs_err *e)
{
    enum mrs_status st = live_follow_meet(f, e);
    for (uint32_t i = 0; i < f->n_mains && !st; i++) {
        uint32_t n = (uint32_t)(f->ids[i].n / sizeof(struct mrs_view));
        f->b[i].more = true; /* c is saved later */
        st = live_batch_write_ids(&f->b[i], (const struct mrs_view *)(const void *)f->ids[i].p, n, &f->c, e);
    }
    return st;
}
