/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.c - follows the collections, options and indexes of the input through a plan.
 *
 * Which collections exist after a run, and with which metadata, must be known before the first document is read, so
 * every step is first applied to this catalog. Here a plan also learns that a collection cannot be reshaped: a server
 * does not take back rewritten documents of a view, a capped or a time-series collection. Everything lives in one arena
 * and entries never move, so engines may keep pointers. This file must not know documents, files or the meaning of a
 * single step. */
#include "indexes.h"
#include "mongoreshape/words.h"
#include "mongoreshape/value.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/condition.h"
#include <stdarg.h>
#include <stdio.h>

struct catalog_entry {
    struct mrs_cat_coll coll; /* first: callers hold this */
    const struct mrs_view *was;
    uint32_t n_was;
    struct mrs_view options_was;
    bool removed; /* dropped or renamed: its name is free, or that of another collection */
};
struct left_out {
    const char *ns;
    const struct left_out *before;
};
enum { NEAREST_AMONG = 1000 }; /* collections */

struct mrs_catalog {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    struct mrs_cat_coll **coll;
    uint32_t n, cap;
    const char **note;
    uint32_t n_notes, note_cap;
    bool lost; /* a note, because memory was out */
    unsigned takes; /* enum mrs_takes, of the current step */
    const struct mrs_step *playing;
    const struct left_out *left_out; /* the last one */
};

enum mrs_status
mrs_catalog_new(struct mrs_mem *mem, struct mrs_catalog **out, struct mrs_err *e)
{
    *out = mrs_zalloc(mem, sizeof **out);
    if (!*out) {
        return mrs_err_memory(e, sizeof **out);
    }
    (*out)->mem = mem;
    mrs_arena_init(&(*out)->arena, mem);
    return MRS_OK;
}

void
mrs_catalog_free(struct mrs_catalog *c)
{
    if (c) {
        mrs_arena_clear(&c->arena);
        mrs_free(c->mem, c->coll);
        mrs_free(c->mem, c->note);
        mrs_free(c->mem, c);
    }
}

enum mrs_status
mrs_catalog_leave_out(struct mrs_catalog *c, const char *ns, struct mrs_err *e)
{
    MRS_ASSERT(ns && strchr(ns, '.'));
    struct left_out *x = mrs_arena_alloc(&c->arena, sizeof *x);
    const char *copy = mrs_arena_copy(&c->arena, ns, strlen(ns) + 1), *dot = strchr(ns, '.');
    char *db = mrs_arena_copy(&c->arena, ns, strlen(ns) + 1);
    if (!x || !copy || !db) {
        return mrs_err_memory(e, strlen(ns));
    }
    db[dot - ns] = '\0';
    *x = (struct left_out){copy, c->left_out};
    c->left_out = x;
    struct mrs_coll coll = {db, copy + (dot - ns) + 1, copy};
    return mrsi_views_note_removed(c, &coll, "left out of the output: it shows what the target has there", e);
}

struct mrs_arena *
mrs_catalog_arena(struct mrs_catalog *c)
{
    return &c->arena;
}

uint32_t
mrs_catalog_count(const struct mrs_catalog *c)
{
    return c->n;
}

struct mrs_cat_coll *
mrs_catalog_at(struct mrs_catalog *c, uint32_t i)
{
    MRS_ASSERT(c->n <= c->cap);
    return i < c->n ? c->coll[i] : NULL;
}

struct mrs_cat_coll *
mrs_catalog_find(struct mrs_catalog *c, const char *db, const char *coll)
{
    MRS_ASSERT(db && coll);
    for (uint32_t i = 0; i < c->n; i++) {
        struct mrs_cat_coll *cc = c->coll[i];
        if (strcmp(cc->coll.coll, coll) == 0 && strcmp(cc->coll.db, db) == 0) {
            return cc;
        }
    }
    return NULL;
}

/* ---- notes ---- */
void
mrs_catalog_note(struct mrs_catalog *c, const char *fmt, ...)
{
    MRS_ASSERT(fmt);
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = n < 0 ? NULL : mrs_arena_alloc(&c->arena, (size_t)n + 1);
    if (text) {
        vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    for (uint32_t i = 0; text && i < c->n_notes; i++) {
        if (strcmp(c->note[i], text) == 0) {
            return; /* several steps may have the same note for a collection */
        }
    }
    const char **more = text ? mrs_more(c->mem, c->note, c->n_notes, &c->note_cap, sizeof *more) : NULL;
    if (!more) {
        c->lost = true;
        return;
    }
    c->note = more;
    c->note[c->n_notes++] = text;
}

uint32_t
mrs_catalog_notes(const struct mrs_catalog *c)
{
    return c->n_notes;
}

const char *
mrs_catalog_note_at(const struct mrs_catalog *c, uint32_t i)
{
    MRS_ASSERT(i < mrs_catalog_notes(c));
    return i < c->n_notes ? c->note[i] : NULL;
}

enum mrs_status
mrsi_cat_status(const struct mrs_catalog *cat, struct mrs_err *e)
{
    return cat->lost ? mrs_err_memory(e, 0) : MRS_OK;
}

/* ---- entries ---- */
struct mrs_view
mrsi_cat_copy(struct mrs_catalog *cat, struct mrs_view v)
{
    struct mrs_view out = {mrs_arena_copy(&cat->arena, v.p, v.n), v.n};
    return out;
}

/* Replaces the index list of the collection by a copy of these n index documents. */
static enum mrs_status
set_indexes(struct mrs_catalog *cat, struct mrs_cat_coll *cc, const struct mrs_view *index, uint32_t n,
            struct mrs_err *e)
{
    MRS_ASSERT(index || n == 0);
    struct mrs_view *list = mrs_arena_alloc(&cat->arena, (n + 1) * sizeof *list);
    for (uint32_t i = 0; list && i < n; i++) {
        list[i] = mrsi_cat_copy(cat, index[i]);
        list = list[i].p ? list : NULL;
    }
    MRS_TRY(mrs_allocated(list, n * sizeof *list, e));
    cc->index = list;
    cc->n_index = n;
    return MRS_OK;
}

enum mrs_status
mrsi_cat_add_index(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_view index, struct mrs_err *e)
{
    MRS_ASSERT(cc->exists && mrs_view_is_framed(index));
    struct mrs_view *list = mrs_arena_alloc(&cat->arena, (cc->n_index + 1) * sizeof *list);
    struct mrs_view copy = list ? mrsi_cat_copy(cat, index) : index;
    if (!list || !copy.p) {
        return mrs_err_memory(e, (cc->n_index + 1) * sizeof *list);
    }
    if (cc->n_index) {
        memcpy(list, cc->index, cc->n_index * sizeof *list);
    }
    list[cc->n_index++] = copy;
    cc->index = list;
    return MRS_OK;
}

enum mrs_status
mrsi_cat_set_options(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_view options, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(options));
    struct mrs_view copy = mrsi_cat_copy(cat, options);
    MRS_TRY(mrs_allocated(copy.p, options.n, e));
    cc->options = copy;
    return MRS_OK;
}

/* {v: 2, key: {_id: 1}, name: "_id_"} */
static const uint8_t id_index[] = "\x2e\0\0\0" "\x10" "v\0" "\x02\0\0\0" "\x03" "key\0" "\x0e\0\0\0" "\x10" "_id\0"
                                  "\x01\0\0\0" "\0" "\x02" "name\0" "\x05\0\0\0" "_id_\0";

static enum mrs_status
only_id_index(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_err *e)
{
    struct mrs_view v = {id_index, sizeof id_index};
    return set_indexes(cat, cc, &v, 1, e);
}

/* A new, empty, ordinary entry, not yet existing. */
static enum mrs_status
new_entry(struct mrs_catalog *c, const char *db, const char *coll, struct mrs_cat_coll **out, struct mrs_err *e)
{
    size_t n = strlen(db), m = strlen(coll);
    struct catalog_entry *entry = mrs_arena_alloc(&c->arena, sizeof *entry);
    struct mrs_cat_coll *cc = entry ? &entry->coll : NULL;
    char *ns = cc ? mrs_arena_alloc(&c->arena, n + m + 2) : NULL;
    char *name = ns ? mrs_arena_copy(&c->arena, db, n + 1) : NULL;
    struct mrs_cat_coll **more = name ? mrs_more(c->mem, c->coll, c->n, &c->cap, sizeof *more) : NULL;
    MRS_TRY(mrs_allocated(more, sizeof *entry, e));
    c->coll = more;
    memset(entry, 0, sizeof *entry);
    memcpy(ns, db, n);
    ns[n] = '.';
    memcpy(ns + n + 1, coll, m + 1);
    cc->coll = (struct mrs_coll){name, ns + n + 1, ns};
    cc->options = mrs_empty_doc();
    c->coll[c->n++] = cc;
    *out = cc;
    return MRS_OK;
}

/* The index documents of metadata; other elements of the list are skipped. A file may list any number of them, so the
 * array is allocated once. */
static enum mrs_status
take_indexes(struct mrs_catalog *c, struct mrs_cat_coll *cc, struct mrs_val list, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (list.type != MRS_ARRAY) {
        return list.type == MRS_MISSING && cc->kind == MRS_COLL_PLAIN ? only_id_index(c, cc, e) : MRS_OK;
    }
    uint32_t n = mrs_val_count(list);
    cc->index = mrs_arena_alloc(&c->arena, (n + 1u) * sizeof *cc->index);
    MRS_TRY(mrs_allocated(cc->index, n * sizeof *cc->index, e));
    mrs_walk_init(&w, mrs_val_view(list));
    while (mrs_walk_next(&w, &el) == 1) {
        struct mrs_view *to = &cc->index[cc->n_index];
        if (el.v.type == MRS_DOCUMENT) {
            *to = mrsi_cat_copy(c, mrs_val_view(el.v));
            MRS_TRY(mrs_allocated(to->p, el.v.n, e));
            cc->n_index++;
        }
    }
    return MRS_OK;
}

enum mrs_status
mrs_catalog_add(struct mrs_catalog *c, const char *db, const char *coll, struct mrs_view metadata, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(metadata));
    struct mrs_cat_coll *cc = NULL;
    if (mrs_catalog_find(c, db, coll)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "%s.%s is there twice", db, coll);
    }
    enum mrs_status s = new_entry(c, db, coll, &cc, e);
    if (s != MRS_OK) {
        return s;
    }
    struct mrs_val options = mrs_doc_get(metadata, "options"), uuid = mrs_doc_get(metadata, "uuid");
    struct mrs_val type = mrs_doc_get(metadata, "type");
    if (options.type == MRS_DOCUMENT) {
        s = mrsi_cat_set_options(c, cc, mrs_val_view(options), e);
    }
    if (mrs_val_is_text(type, "view") || mrs_doc_get(cc->options, "viewOn").type != MRS_MISSING) {
        cc->kind = MRS_COLL_VIEW;
    } else if (mrs_val_is_text(type, "timeseries") || mrs_doc_get(cc->options, "timeseries").type != MRS_MISSING) {
        cc->kind = MRS_COLL_TIMESERIES;
        cc->measured = mrs_val_is_text(type, "collection");
    }
    uint32_t n;
    if (uuid.type == MRS_STRING && mrs_val_text(uuid, &n) && n < sizeof cc->uuid) {
        memcpy(cc->uuid, mrs_val_text(uuid, &n), n);
    }
    cc->exists = true;
    MRS_THEN(s, take_indexes(c, cc, mrs_doc_get(metadata, "indexes"), e));
    ((struct catalog_entry *)cc)->was = cc->index; /* lists are replaced, never changed */
    ((struct catalog_entry *)cc)->n_was = cc->n_index;
    ((struct catalog_entry *)cc)->options_was = cc->options;
    return s;
}

const struct mrs_view *
mrsi_cat_was(const struct mrs_cat_coll *cc, uint32_t *n)
{
    const struct catalog_entry *entry = (const struct catalog_entry *)cc;
    *n = entry->n_was;
    return entry->was;
}

/* Options that decide which documents an index holds, refuses or deletes. */
static bool
is_alike(struct mrs_view a, struct mrs_view b)
{
    static const char *const option[] = {"unique", "prepareUnique", "sparse"};
    static const char *const value[] = {"collation", "expireAfterSeconds", "partialFilterExpression", "weights",
                                        "wildcardProjection"};
    bool same = true;
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        same = same && mrsi_index_option(a, option[i]) == mrsi_index_option(b, option[i]);
    }
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        same = same && mrs_compare(mrs_doc_get(a, value[i]), mrs_doc_get(b, value[i])) == 0;
    }
    return same;
}

static void
note_lost_index(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, struct mrs_view index)
{
    bool of_key = false;
    for (uint32_t i = 0; i < cc->n_index; i++) {
        bool same = mrs_compare(mrs_doc_get(cc->index[i], "key"), mrs_doc_get(index, "key")) == 0;
        if (same && is_alike(cc->index[i], index)) {
            return;
        }
        of_key = of_key || same;
    }
    mrs_catalog_note(cat, "index %s of the old %s is not in the new one%s: make it with the step `index` if it is "
                          "needed",
                     mrsi_index_name(index), cc->coll.ns,
                     of_key ? ", which has one of its key with other options" : "");
}

static bool
truthy(struct mrs_val v)
{
    int64_t n;
    return v.type == MRS_BOOL ? v.p[0] != 0 : mrs_val_integral(v, &n) && n != 0;
}

static void
note_lost_option(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, struct mrs_view was, const char *option)
{
    struct mrs_val old = mrs_doc_get(was, option), now = mrs_doc_get(cc->options, option);
    bool set = old.type == MRS_DOCUMENT ? old.n > MRS_DOC_MIN : truthy(old);
    if (set && mrs_compare(old, now) != 0 && !truthy(now)) {
        mrs_catalog_note(cat, "%s%s of the old %s is not in the new one: set it with the step `options` if it is "
                              "needed",
                         strcmp(option, "validator") == 0 ? "the " : "the option ", option, cc->coll.ns);
    }
}

void
mrsi_cat_note_replaced(struct mrs_catalog *cat, const struct mrs_cat_coll *cc)
{
    static const char *const options[] = {"validator", "collation", "capped"};
    const struct catalog_entry *entry = (const struct catalog_entry *)cc;
    if (!entry->removed) {
        return;
    }
    for (uint32_t i = 0; i < entry->n_was; i++) {
        note_lost_index(cat, cc, entry->was[i]);
    }
    struct mrs_view was = entry->options_was.n ? entry->options_was : mrs_empty_doc();
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        note_lost_option(cat, cc, was, options[i]);
    }
}

/* ---- what cannot be reshaped ---- */
bool
mrs_catalog_capped(const struct mrs_cat_coll *cc)
{
    return truthy(mrs_doc_get(cc->options, "capped"));
}

static bool
own_collation(struct mrs_view options)
{
    struct mrs_val c = mrs_doc_get(options, "collation");
    return c.type == MRS_DOCUMENT && c.n > 5 && !mrs_val_is_text(mrs_doc_get(mrs_val_view(c), "locale"), "simple");
}

const char *
mrs_catalog_obstacle(const struct mrs_cat_coll *cc, unsigned takes)
{
    bool capped = mrs_catalog_capped(cc), series = cc->kind == MRS_COLL_TIMESERIES;
    if (cc->kind == MRS_COLL_VIEW && !(takes & MRS_TAKES_WHOLE)) {
        return "is a view and has no documents of its own: name the collection that it reads from";
    }
    if (cc->made && (capped || cc->kind == MRS_COLL_TIMESERIES)) {
        return "was made capped or a time series by an earlier step: let that step be the last one that names it";
    }
    if (series && !(takes & MRS_TAKES_CAPPED)) {
        return "is a time series, which a plan of version 1 cannot read: leave `version` out";
    }
    if (series && !(takes & (MRS_TAKES_WHOLE | MRS_TAKES_MEASUREMENTS))) {
        return "is a time series: steps can read its measurements and take them away, not change them or add to them; "
               "`move` them into a new collection first, and name that";
    }
    if (capped && !(takes & MRS_TAKES_CAPPED)) {
        return "is a capped collection: copy it into a plain one on the server first ($out), then reshape that";
    }
    if (own_collation(cc->options) && (takes & MRS_TAKES_CAPPED) && !(takes & MRS_TAKES_COLLATED)) {
        return "has its own collation, and this step compares values by the simple one: set `collation: null` first, "
               "in a step `options`";
    }
    if (own_collation(cc->options) && !(takes & MRS_TAKES_COLLATED)) {
        return "has a collation of its own, and equality here is the simple one: copy it into a collection without "
               "one on the server first ($out), then reshape that";
    }
    if (mrs_doc_get(cc->options, "encryptedFields").type == MRS_DOCUMENT) {
        return "is encrypted, and its values cannot be read: decrypt it with a client into a plain collection first";
    }
    return NULL;
}

unsigned
mrs_step_takes(const struct mrs_step *st, uint32_t version)
{
    MRS_ASSERT(st->type && version > 0);
    if (version < 2) {
        return 0;
    }
    bool measures = st->desc.n_sides && mrs_step_measures(st, &st->desc.sides[0].coll);
    return MRS_TAKES_CAPPED | (st->desc.compares_nothing || st->desc.whole_only ? MRS_TAKES_COLLATED : 0) |
           (st->desc.whole_only ? MRS_TAKES_WHOLE : 0) | (measures ? MRS_TAKES_MEASUREMENTS : 0);
}

bool
mrs_step_measures(const struct mrs_step *st, const struct mrs_coll *coll)
{
    unsigned roles = 0;
    for (uint32_t i = 0; i < st->desc.n_sides; i++) {
        roles |= strcmp(st->desc.sides[i].coll.ns, coll->ns) == 0 ? st->desc.sides[i].role : 0;
    }
    return (roles & MRS_ROLE_READ) && !(roles & (MRS_ROLE_CHANGE | MRS_ROLE_ADD));
}

/* What the current step accepts in the place of this collection. */
static unsigned
takes_of(const struct mrs_catalog *c, const struct mrs_cat_coll *cc)
{
    bool measures = cc->kind == MRS_COLL_TIMESERIES && (c->takes & MRS_TAKES_CAPPED) && c->playing &&
                    mrs_step_measures(c->playing, &cc->coll);
    return (c->takes & ~(unsigned)MRS_TAKES_MEASUREMENTS) | (measures ? MRS_TAKES_MEASUREMENTS : 0);
}

enum mrs_status
mrs_catalog_play(struct mrs_catalog *c, const struct mrs_step *st, uint32_t version, struct mrs_err *e)
{
    MRS_ASSERT(st->type);
    enum mrs_status s = MRS_OK;
    c->playing = st;
    c->takes = mrs_step_takes(st, version) & MRS_TAKES_CAPPED; /* values are compared */
    for (uint32_t i = 0; s == MRS_OK && i < st->desc.n_conditions; i++) {
        struct mrs_cat_coll *from;
        s = mrsi_cat_need(c, &st->desc.conditions[i].from, false, "where", &from, e);
    }
    c->takes = mrs_step_takes(st, version);
    s = s == MRS_OK && st->type->catalog ? st->type->catalog(st->state, c, e) : s;
    c->takes = 0;
    c->playing = NULL;
    return s;
}

/* Was a collection of this name in the input left out by an option? */
static bool
is_left_out(const struct mrs_catalog *c, const char *ns)
{
    const struct left_out *x = c->left_out;
    while (x && strcmp(x->ns, ns) != 0) {
        x = x->before;
    }
    return x != NULL;
}

static enum mrs_status
check_name(const struct mrs_catalog *c, const struct mrs_coll *coll, struct mrs_err *e)
{
    if (is_left_out(c, coll->ns)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%.255s is in the input, but --nsInclude or --nsExclude leaves it "
                           "out: let the option take it in, or name another collection", coll->ns);
    }
    if (strncmp(coll->coll, "system.", 7) == 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN,
                           "%s belongs to the server and is copied unchanged: leave it out of the plan", coll->ns);
    }
    return MRS_OK;
}

/* The plan has `shop.orders` as the name of a collection: how to write it in the plan, if that collection exists. */
static bool
with_database(struct mrs_catalog *c, const struct mrs_coll *coll, char *text, size_t size)
{
    MRS_ASSERT(coll->db && coll->coll && size);
    for (uint32_t i = 0; i < mrs_catalog_count(c); i++) {
        const struct mrs_cat_coll *cc = mrs_catalog_at(c, i);
        if (cc->exists && strcmp(cc->coll.ns, coll->coll) == 0) {
            bool here = strcmp(cc->coll.db, coll->db) == 0;
            snprintf(text, size, here ? "%.0s%.200s" : "{ db: %.63s, coll: %.120s }", cc->coll.db, cc->coll.coll);
            return true;
        }
    }
    return false;
}

/* The existing collection with the most similar name: the same name in another database, if none in this one. */
static const char *
nearest_coll(struct mrs_catalog *c, const struct mrs_coll *coll)
{
    const char *names[NEAREST_AMONG], *elsewhere = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < mrs_catalog_count(c) && n < NEAREST_AMONG; i++) {
        const struct mrs_cat_coll *cc = mrs_catalog_at(c, i);
        bool here = cc->exists && strcmp(cc->coll.db, coll->db) == 0;
        if (here) {
            names[n++] = cc->coll.coll;
        } else if (cc->exists && strcmp(cc->coll.coll, coll->coll) == 0) {
            elsewhere = cc->coll.ns;
        }
    }
    const char *near = mrs_nearest(coll->coll, names, n);
    return near ? near : elsewhere;
}

enum mrs_status
mrs_catalog_need(struct mrs_catalog *c, const struct mrs_coll *coll, bool change, struct mrs_cat_coll **out,
                 struct mrs_err *e)
{
    MRS_ASSERT(coll->db && coll->coll && coll->ns);
    MRS_TRY(check_name(c, coll, e));
    struct mrs_cat_coll *cc = mrs_catalog_find(c, coll->db, coll->coll);
    if (cc && !cc->exists) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "there is no collection %s any more: an earlier step dropped or "
                           "renamed it", coll->ns);
    }
    if (!cc) {
        char text[256];
        const char *near = with_database(c, coll, text, sizeof text) ? text : nearest_coll(c, coll);
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "there is no collection %s%s%.200s%s", coll->ns,
                           near ? "; is `" : "", near ? near : "", near ? "` meant?" : "");
    }
    unsigned takes = takes_of(c, cc);
    const char *why = mrs_catalog_obstacle(cc, takes);
    if (why) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s %s", coll->ns, why);
    }
    if (cc->n_index > MRS_INDEXES_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT,
                           "%s has %u indexes, and no server holds more than 64: correct its metadata.json first",
                           coll->ns, cc->n_index);
    }
    if (change) {
        cc->touched = true;
        cc->uuid[0] = 0;
    }
    if (change && !(takes & MRS_TAKES_WHOLE)) {
        mrs_catalog_measure(c, cc);
    }
    *out = cc;
    return MRS_OK;
}

/* A collection that the plan creates; nothing remains of an earlier one of this name. */
static enum mrs_status
make(struct mrs_catalog *c, const struct mrs_coll *coll, struct mrs_cat_coll **out, struct mrs_err *e)
{
    struct mrs_cat_coll *cc = mrs_catalog_find(c, coll->db, coll->coll);
    if (strchr(coll->coll, '$') || coll->coll[0] == '.' || coll->coll[strlen(coll->coll) - 1] == '.') {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s: a server takes no collection of this name", coll->ns);
    }
    if (!cc) {
        MRS_TRY(new_entry(c, coll->db, coll->coll, &cc, e));
    }
    cc->kind = MRS_COLL_PLAIN;
    cc->measured = cc->no_data = false;
    cc->options = mrs_empty_doc();
    cc->uuid[0] = 0;
    cc->exists = cc->touched = cc->made = true;
    *out = cc;
    return only_id_index(c, cc, e);
}

enum mrs_status
mrs_catalog_target(struct mrs_catalog *c, const struct mrs_coll *coll, struct mrs_cat_coll **out, struct mrs_err *e)
{
    MRS_ASSERT(coll->db && coll->coll && coll->ns);
    struct mrs_cat_coll *cc = mrs_catalog_find(c, coll->db, coll->coll);
    if (cc && cc->exists) {
        return mrs_catalog_need(c, coll, true, out, e);
    }
    enum mrs_status s = check_name(c, coll, e);
    return s == MRS_OK ? make(c, coll, out, e) : s;
}

enum mrs_status
mrsi_cat_need(struct mrs_catalog *cat, const struct mrs_coll *coll, bool change, const char *key,
              struct mrs_cat_coll **out, struct mrs_err *e)
{
    enum mrs_status s = mrs_catalog_need(cat, coll, change, out, e);
    if (s == MRS_FAIL) {
        mrs_err_at(e, "%s", key);
    }
    return s;
}

enum mrs_status
mrsi_cat_target(struct mrs_catalog *cat, const struct mrs_coll *coll, const char *key, struct mrs_cat_coll **out,
                bool *fresh, struct mrs_err *e)
{
    MRS_ASSERT(key);
    struct mrs_cat_coll *cc = mrs_catalog_find(cat, coll->db, coll->coll);
    bool there = cc && cc->exists;
    enum mrs_status s = mrs_catalog_target(cat, coll, out, e);
    if (s == MRS_FAIL) {
        mrs_err_at(e, "%s", key);
    }
    if (s == MRS_OK && there) {
        mrsi_indexes_note_arrivals(cat, *out);
    }
    if (fresh) {
        *fresh = !there;
    }
    return s;
}

/* ---- whole collections ---- */
static bool
has_buckets(const struct mrs_cat_coll *cc)
{
    return cc->kind == MRS_COLL_TIMESERIES && !cc->made && !cc->measured;
}

/* The collection with the documents of a time series, if it is a separate one; NULL: none. */
static struct mrs_cat_coll *
buckets_of(struct mrs_catalog *cat, const struct mrs_cat_coll *cc)
{
    static const char name[] = MRS_BUCKETS;
    for (uint32_t i = 0; has_buckets(cc) && i < cat->n; i++) {
        struct mrs_cat_coll *b = cat->coll[i];
        if (b->exists && strcmp(b->coll.db, cc->coll.db) == 0 && strncmp(b->coll.coll, name, sizeof name - 1) == 0 &&
            strcmp(b->coll.coll + sizeof name - 1, cc->coll.coll) == 0) {
            return b;
        }
    }
    return NULL;
}

struct mrs_cat_coll *
mrs_catalog_buckets(struct mrs_catalog *c, struct mrs_cat_coll *cc)
{
    struct mrs_cat_coll *own = buckets_of(c, cc);
    return own ? own : has_buckets(cc) ? cc : NULL;
}

static void
take_away(struct mrs_cat_coll *cc)
{
    cc->exists = false;
    ((struct catalog_entry *)cc)->removed = true;
}

void
mrs_catalog_measure(struct mrs_catalog *c, struct mrs_cat_coll *cc)
{
    struct mrs_cat_coll *buckets = mrs_catalog_buckets(c, cc);
    if (!buckets) {
        return;
    }
    if (buckets != cc) {
        take_away(buckets);
    }
    cc->measured = cc->touched = true;
    cc->no_data = false;
    cc->uuid[0] = 0;
    mrs_catalog_note(c, "%s is a time series: its remaining documents are written as measurements, which a restore "
                        "inserts, and not as buckets", cc->coll.ns);
}

/* The buckets go with the time series. */
static enum mrs_status
rename_buckets(struct mrs_catalog *cat, struct mrs_cat_coll *a, struct mrs_cat_coll *b, struct mrs_err *e)
{
    struct mrs_cat_coll *from = buckets_of(cat, a), *to = NULL;
    size_t n = strlen(b->coll.coll);
    if (!from) {
        return MRS_OK;
    }
    char *name = mrs_arena_alloc(&cat->arena, sizeof MRS_BUCKETS + n);
    MRS_TRY(mrs_allocated(name, n, e));
    memcpy(name, MRS_BUCKETS, sizeof MRS_BUCKETS - 1);
    memcpy(name + sizeof MRS_BUCKETS - 1, b->coll.coll, n + 1);
    to = mrs_catalog_find(cat, b->coll.db, name);
    if (to && to->exists) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s.%s is there already, with documents of another time series",
                           b->coll.db, name);
    }
    enum mrs_status s = to ? MRS_OK : new_entry(cat, b->coll.db, name, &to, e);
    if (s == MRS_OK) {
        to->engine = from->engine;
        to->exists = to->touched = to->no_metadata = b->no_data = true;
        from->engine = NULL;
        take_away(from);
    }
    return s;
}

enum mrs_status
mrsi_cat_drop(struct mrs_catalog *cat, const struct mrs_coll *coll, struct mrs_err *e)
{
    MRS_ASSERT(coll->db && coll->coll);
    struct mrs_cat_coll *cc = NULL;
    MRS_TRY(mrsi_cat_need(cat, coll, true, "in", &cc, e));
    struct mrs_cat_coll *buckets = buckets_of(cat, cc);
    if (buckets) {
        take_away(buckets);
    }
    take_away(cc);
    enum mrs_status s = mrsi_views_note_removed(cat, coll, "dropped: define it again", e);
    return s == MRS_OK ? mrsi_cat_status(cat, e) : s;
}

enum mrs_status
mrsi_cat_rename(struct mrs_catalog *cat, const struct mrs_coll *from, const struct mrs_coll *into, struct mrs_err *e)
{
    MRS_ASSERT(from->coll && into->coll);
    struct mrs_cat_coll *a = NULL, *b = mrs_catalog_find(cat, into->db, into->coll);
    MRS_TRY(mrsi_cat_need(cat, from, true, "from", &a, e));
    if (b && b->exists) {
        mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s exists already: drop it in a step before, or use `move`", into->ns);
        mrs_err_at(e, "into");
        return MRS_FAIL;
    }
    MRS_TRY(mrsi_cat_target(cat, into, "into", &b, NULL, e));
    MRS_TRY(rename_buckets(cat, a, b, e));
    b->made = a->made;
    b->measured = a->measured;
    b->no_data = b->no_data || a->no_data;
    b->kind = a->kind;
    b->options = a->options;
    b->index = a->index;
    b->n_index = a->n_index;
    b->engine = a->engine; /* it is the same collection */
    a->engine = NULL;
    take_away(a);
    enum mrs_status s = mrsi_views_note_removed(cat, from, "renamed: define it again", e);
    return s == MRS_OK ? mrsi_cat_status(cat, e) : s;
}

/* ---- metadata ---- */
void
mrs_catalog_metadata(const struct mrs_cat_coll *coll, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const char *type = coll->kind == MRS_COLL_VIEW ? "view" : has_buckets(coll) ? "timeseries" : "collection";
    struct mrs_build b;
    struct mrs_view done;
    mrs_build_init(&b, out);
    if (coll->options.n > 5) {
        mrs_build_val(&b, "options", 7, mrs_view_val(coll->options));
    }
    mrs_build_open(&b, "indexes", 7, MRS_ARRAY);
    for (uint32_t i = 0; i < coll->n_index; i++) {
        mrs_build_item(&b, mrs_view_val(coll->index[i]));
    }
    mrs_build_close(&b);
    if (coll->uuid[0]) {
        mrs_build_text(&b, "uuid", coll->uuid, (uint32_t)strlen(coll->uuid));
    }
    mrs_build_text(&b, "collectionName", coll->coll.coll, (uint32_t)strlen(coll->coll.coll));
    mrs_build_text(&b, "type", type, (uint32_t)strlen(type));
    mrs_build_finish(&b, &done, NULL);
}
