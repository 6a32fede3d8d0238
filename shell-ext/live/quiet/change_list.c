/* SPDX-License-Identifier: Apache-2.0 */
/* change_list.c - computes the inserts, updates and deletes that turn one dump into another.
 *
 * Documents are matched by `_id` as a server compares it (1 and 1.0 are equal). Each collection is split by a hash of
 * the `_id` into parts that fit memory: the documents of before in a table, those of after streamed past it.
 * Differences go into one spool for each kind, so that the caller first gets their numbers and then all inserts before
 * the first update. Refused documents join the result: offline they leave it, on a server they stay, in the form in
 * which they reached the refusing step, so that no addition of earlier steps is lost. Sends no command to the
 * server. */
#include "live/link/bson.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/unique.h"
#include "quiet.h"
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct row {
    uint64_t hash, off;
    uint64_t seen;
};
struct table { /* documents of a part, by `_id`; not a common table, because `_id`s are compared as a server does */
    struct mrs_buf docs, rows;
    uint32_t *slot;
    uint64_t mask;
};
struct change_list_head { /* header of a record in a spool */
    uint32_t pair, before, after;
};
struct live_compare {
    struct live_job *job;
    struct mrs_mem *mem;
    struct mrs_input *in, *out;
    struct mrs_arena arena;
    struct live_tally *pair;
    uint32_t n_pairs, cap, at; /* at: the current one */
    int refused_fd;
    bool leave;                /* refused documents stay as in `in`, not as they were when refused */
    struct live_spool kind[4];
    uint64_t memory;
    struct mrs_buf key, kept; /* kept: a document as a server stores it */
    struct table before, refused;
    struct live_split split[3]; /* before, refused, after */
    const struct whole *whole;  /* receiver of a complete result */
    uint32_t parts;
    struct mrs_err *e;
};
enum { BEFORE, REFUSED, AFTER };
typedef enum mrs_status (*feed)(struct live_compare *c, int what, struct mrs_view doc);

/* ---- `_id`s ---- */
static enum mrs_status
hash_id(struct live_compare *c, struct mrs_view doc, struct mrs_val *id, struct mrs_hash128 *h)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    *id = mrs_doc_get(doc, "_id");
    mrs_buf_reset(&c->key);
    mrs_key_append(&c->key, *id, false);
    enum mrs_status s = mrs_buf_status(&c->key, c->e);
    if (s == MRS_OK && id->type == MRS_MISSING) {
        s = mrs_err_set(c->e, MRS_FAIL, MRS_E_MISSING, "a document has no _id");
    }
    *h = mrs_hash_secret(&c->job->secret, 0, c->key.p, c->key.n);
    return s;
}

static const char *
id_text(struct mrs_view doc, char text[80])
{
    return mrs_val_picture(mrs_doc_get(doc, "_id"), text, 80);
}

/* ---- table ---- */
static struct mrs_view
doc_at(const struct table *t, const struct row *r)
{
    MRS_ASSERT(r->off < t->docs.n);
    struct mrs_view d = {t->docs.p + r->off, mrs_le32(t->docs.p + r->off)};
    return d;
}

static struct row *
rows(const struct table *t, uint64_t *n)
{
    *n = t->rows.n / sizeof(struct row);
    return (struct row *)(void *)t->rows.p;
}

static enum mrs_status
remember(struct live_compare *c, int what, struct mrs_view doc)
{
    struct table *t = what == BEFORE ? &c->before : &c->refused;
    struct mrs_val id;
    struct mrs_hash128 h;
    enum mrs_status s = hash_id(c, doc, &id, &h);
    struct row r = {h.lo, t->docs.n, 0};
    mrs_buf_put(&t->docs, doc.p, doc.n);
    mrs_buf_put(&t->rows, &r, sizeof r);
    MRS_THEN(s, mrs_buf_status(&t->docs, c->e));
    return s == MRS_OK ? mrs_buf_status(&t->rows, c->e) : s;
}

static enum mrs_status
index_rows(struct live_compare *c, struct table *t)
{
    uint64_t n, size = 16;
    struct row *r = rows(t, &n);
    while (size < n * 2) {
        size *= 2;
    }
    if (n >= UINT32_MAX) {
        return mrs_err_set(c->e, MRS_FAIL, MRS_E_LIMIT, "too many documents for one part: give more memory");
    }
    mrs_free(c->mem, t->slot);
    t->slot = mrs_alloc_array(c->mem, size, sizeof *t->slot);
    MRS_TRY(mrs_allocated(t->slot, size * sizeof *t->slot, c->e));
    memset(t->slot, 0, size * sizeof *t->slot);
    t->mask = size - 1;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = r[i].hash & t->mask;
        while (t->slot[at]) {
            at = (at + 1) & t->mask;
        }
        t->slot[at] = (uint32_t)i + 1;
    }
    return MRS_OK;
}

static struct row *
find(const struct table *t, uint64_t hash, struct mrs_val id)
{
    uint64_t n;
    struct row *r = rows(t, &n);
    for (uint64_t at = hash & t->mask; n && t->slot[at]; at = (at + 1) & t->mask) {
        struct row *one = &r[t->slot[at] - 1];
        if (one->hash == hash && mrs_compare(mrs_doc_get(doc_at(t, one), "_id"), id) == 0) {
            return one;
        }
    }
    return NULL;
}

static void
table_reset(struct table *t)
{
    mrs_buf_reset(&t->docs);
    mrs_buf_reset(&t->rows);
}

/* ---- compare ---- */
static enum mrs_status
note(struct live_compare *c, enum live_op_kind kind, struct mrs_view before, struct mrs_view after)
{
    MRS_ASSERT(c->at < c->n_pairs && c->kind[kind].mem);
    struct change_list_head h = {c->at, before.n, after.n};
    struct live_spool *s = &c->kind[kind];
    c->pair[c->at].n[kind]++;
    enum mrs_status st = live_spool_put(s, &h, sizeof h, c->e);
    st = st == MRS_OK && before.n ? live_spool_put(s, before.p, before.n, c->e) : st;
    return st == MRS_OK && after.n ? live_spool_put(s, after.p, after.n, c->e) : st;
}

/* Can the values change in a unique index that the collection has before and after? */
static bool
touches_unique(const struct live_tally *t, struct mrs_view old, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(old) && mrs_view_is_framed(doc));
    struct mrs_walk w, k;
    struct mrs_elem index, path;
    mrs_walk_init(&w, live_doc_of(mrs_doc_get(t->now_meta, "indexes")));
    while (mrs_walk_next(&w, &index) == 1) {
        struct mrs_view spec = live_doc_of(index.v);
        if (!mrs_index_is(spec, "unique")) {
            continue;
        }
        if (mrs_doc_get(spec, "partialFilterExpression").type != MRS_MISSING) {
            return true;
        }
        for (mrs_walk_init(&k, live_doc_of(mrs_doc_get(spec, "key"))); mrs_walk_next(&k, &path) == 1;) {
            const char *dot = memchr(path.name, '.', path.name_len);
            uint32_t n = dot ? (uint32_t)(dot - path.name) : path.name_len;
            struct mrs_elem a, b;
            mrs_doc_find(old, path.name, n, &a);
            mrs_doc_find(doc, path.name, n, &b);
            if (!mrs_identical(a.v, b.v)) {
                return true;
            }
        }
    }
    return false;
}

static enum mrs_status
place(struct live_compare *c, struct mrs_view doc, uint64_t hash, struct mrs_val id)
{
    struct live_tally *t = &c->pair[c->at];
    struct mrs_view none = {NULL, 0}, old;
    struct row *r = find(&c->before, hash, id);
    char text[80];
    if (!r) {
        return note(c, LIVE_INSERT, none, doc);
    }
    if (r->seen) {
        return mrs_err_set(c->e, MRS_FAIL, MRS_E_ACCOUNT, "the result holds _id %s twice in %s", id_text(doc, text),
                           t->now.ns);
    }
    r->seen = 1;
    old = doc_at(&c->before, r);
    if (old.n == doc.n && memcmp(old.p, doc.p, doc.n) == 0) {
        t->kept++;
        return MRS_OK;
    }
    t->id_changed = t->id_changed || !mrs_identical(mrs_doc_get(old, "_id"), id);
    t->unique_changed += t->unique && touches_unique(t, old, doc);
    return note(c, LIVE_UPDATE, old, doc);
}

static enum mrs_status
judge(struct live_compare *c, int what, struct mrs_view doc)
{
    struct mrs_val id;
    struct mrs_hash128 h;
    char text[80];
    enum mrs_status s = hash_id(c, doc, &id, &h);
    if (s == MRS_OK && what == AFTER && find(&c->refused, h.lo, id)) {
        s = mrs_err_set(c->e, MRS_FAIL, MRS_E_REFUSED,
                        "%s: a refused document stays under _id %s, where the result needs another one; correct it or "
                        "change the plan; nothing was changed", c->pair[c->at].now.ns, id_text(doc, text));
    }
    return s == MRS_OK ? place(c, doc, h.lo, id) : s;
}

/* Equal refused documents count once; different ones with the same `_id` cannot both stay. */
static enum mrs_status
judge_refused(struct live_compare *c)
{
    uint64_t n;
    struct row *r = rows(&c->refused, &n);
    enum mrs_status s = MRS_OK;
    char text[80];
    for (uint64_t i = 0; s == MRS_OK && i < n; i++) {
        struct mrs_view doc = doc_at(&c->refused, &r[i]), first;
        struct row *one = find(&c->refused, r[i].hash, mrs_doc_get(doc, "_id"));
        first = doc_at(&c->refused, one);
        struct row *kept_row = c->leave ? find(&c->before, r[i].hash, mrs_doc_get(doc, "_id")) : NULL;
        c->pair[c->at].refused++;
        if (kept_row) {
            c->pair[c->at].kept += !kept_row->seen;
            kept_row->seen = 1;
        } else if (one == &r[i]) {
            s = place(c, doc, r[i].hash, mrs_doc_get(doc, "_id"));
        } else if (first.n != doc.n || memcmp(first.p, doc.p, doc.n) != 0) {
            s = mrs_err_set(c->e, MRS_FAIL, MRS_E_REFUSED,
                            "%s: two refused documents would stay under _id %s; nothing was changed",
                            c->pair[c->at].now.ns, id_text(doc, text));
        }
    }
    return s;
}

static enum mrs_status
judge_rest(struct live_compare *c)
{
    uint64_t n;
    struct row *r = rows(&c->before, &n);
    struct mrs_view none = {NULL, 0};
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < n; i++) {
        s = r[i].seen ? MRS_OK : note(c, LIVE_DELETE, doc_at(&c->before, &r[i]), none);
    }
    return s;
}

/* ---- input ---- */
static void
count_before(const struct live_job *job, struct live_tally *t, struct mrs_view doc)
{
    struct mrs_hash128 h = live_run_hash(job, doc);
    mrs_hash_sum_add(&t->sum, h.lo, h.hi);
    t->docs++;
}

static enum mrs_status
only_count(struct live_compare *c, int what, struct mrs_view doc)
{
    (void)c;
    (void)what;
    (void)doc;
    return MRS_OK;
}

/* Renews the lease during a long comparison, else another process would take over the run. */
static enum mrs_status
breathe(struct live_compare *c)
{
    enum mrs_status s = c->job->run && c->job->link ? live_run_breathe(c->job, 0, 0, c->e) : MRS_OK;
    return s == MRS_END ? MRS_OK : s;
}

/* Converts each document to the form in which a server stores it, else it would never equal the stored one; records are
 * unchanged. */
static enum mrs_status
feed_reader(struct live_compare *c, struct mrs_reader *r, feed f, int what)
{
    MRS_ASSERT(r && f);
    struct mrs_block b;
    enum mrs_status s = MRS_OK;
    mrs_block_init(&b, c->mem);
    while (s == MRS_OK && (s = mrs_reader_next(r, &b, c->e)) == MRS_OK) {
        s = breathe(c);
        for (size_t at = 0; s == MRS_OK && at < b.n;) {
            struct mrs_view doc = {b.p + at, mrs_le32(b.p + at)};
            at += doc.n;
            s = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, c->e);
            if (s == MRS_OK && what == BEFORE) {
                count_before(c->job, &c->pair[c->at], doc);
            }
            s = s == MRS_OK && what != REFUSED ? live_stored(doc, &c->kept, &doc, c->e) : s;
            MRS_THEN(s, f(c, what, doc));
        }
    }
    mrs_block_clear(&b);
    mrs_reader_close(r);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
feed_input(struct live_compare *c, struct mrs_input *in, int index, feed f, int what)
{
    MRS_ASSERT(index < 0 || (uint32_t)index < mrs_input_count(in));
    struct mrs_reader *r = NULL;
    if (index < 0 || !mrs_input_at(in, (uint32_t)index)->data_path) {
        return MRS_OK;
    }
    enum mrs_status s = mrs_reader_open(in, (uint32_t)index, 0, &r, c->e);
    return s == MRS_OK ? feed_reader(c, r, f, what) : s;
}

/* The name at the end of the plan of the collection that is called ns before step `from`. */
static const char *
last_name(const struct mrs_plan *p, uint32_t from, const char *ns)
{
    for (uint32_t i = from; i < p->n_steps; i++) {
        const struct mrs_desc *d = &p->steps[i].desc;
        if (strcmp(p->steps[i].type->name, "rename_collection") == 0 && strcmp(d->sides[0].coll.ns, ns) == 0) {
            ns = d->sides[1].coll.ns;
        }
    }
    return ns;
}

static const char *
refused_ns(const struct live_compare *c, struct mrs_view record)
{
    struct mrs_val ns = mrs_doc_get(record, "ns"), doc = mrs_doc_get(record, "doc");
    int64_t step;
    if (ns.type != MRS_STRING || doc.type != MRS_DOCUMENT || !mrs_val_integral(mrs_doc_get(record, "step"), &step) ||
        step < 0) {
        return NULL;
    }
    return last_name(c->job->plan, (uint32_t)step, (const char *)ns.p + 4);
}

/* A document refused by the step that is in no collection: made from axes, so there is none to stay. */
static bool
lies_nowhere(const struct live_compare *c, struct mrs_view record)
{
    const struct mrs_plan *p = c->job->plan;
    int64_t step;
    return mrs_val_integral(mrs_doc_get(record, "step"), &step) && step > 0 && step <= (int64_t)p->n_steps &&
           p->steps[step - 1].desc.family == MRS_FAMILY_GRID;
}

static enum mrs_status
feed_one_refused(struct live_compare *c, int what, struct mrs_view record)
{
    MRS_ASSERT(c->parts > 0);
    const char *ns = refused_ns(c, record), *now = c->pair[c->at].now.ns; /* NULL: the collection is dropped */
    if (!ns || !now || strcmp(ns, now) != 0 || lies_nowhere(c, record)) {
        return MRS_OK;
    }
    struct mrs_view doc = live_doc_of(mrs_doc_get(record, "doc"));
    struct mrs_val id;
    struct mrs_hash128 h;
    enum mrs_status s = live_stored(doc, &c->kept, &doc, c->e);
    if (s != MRS_OK || c->parts == 1) {
        return s == MRS_OK ? remember(c, what, doc) : s;
    }
    s = hash_id(c, doc, &id, &h);
    return s == MRS_OK ? live_split_put(&c->split[what], (uint32_t)(h.hi % c->parts), doc, c->e) : s;
}

static enum mrs_status
feed_refused(struct live_compare *c, feed f)
{
    struct mrs_reader *r = NULL;
    if (c->refused_fd < 0) {
        return MRS_OK;
    }
    enum mrs_status s = mrs_reader_fd(c->mem, c->refused_fd, UINT64_MAX, "refused documents", 0, &r, c->e);
    return s == MRS_OK ? feed_reader(c, r, f, REFUSED) : s;
}

static enum mrs_status
spread(struct live_compare *c, int what, struct mrs_view doc)
{
    MRS_ASSERT(c->parts > 1);
    struct mrs_val id;
    struct mrs_hash128 h;
    enum mrs_status s = hash_id(c, doc, &id, &h);
    return s == MRS_OK ? live_split_put(&c->split[what], (uint32_t)(h.hi % c->parts), doc, c->e) : s;
}

/* ---- one collection ---- */
static enum mrs_status
tables_done(struct live_compare *c)
{
    enum mrs_status s = index_rows(c, &c->before);
    return s == MRS_OK ? index_rows(c, &c->refused) : s;
}

static enum mrs_status
compare_at_once(struct live_compare *c, const struct live_tally *t)
{
    if (t->in_index >= 0) {
        mrs_buf_grow(&c->before.docs, mrs_input_at(c->in, (uint32_t)t->in_index)->file_bytes);
    }
    enum mrs_status s = feed_input(c, c->in, t->in_index, remember, BEFORE);
    MRS_THEN(s, feed_refused(c, feed_one_refused));
    MRS_THEN(s, tables_done(c));
    MRS_THEN(s, feed_input(c, c->out, t->out_index, judge, AFTER));
    MRS_THEN(s, judge_refused(c));
    return s == MRS_OK ? judge_rest(c) : s;
}

static enum mrs_status
feed_part(struct live_compare *c, int what, uint32_t part, feed f)
{
    MRS_ASSERT(part < c->parts);
    struct live_stream st;
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    live_stream_part(&st, &c->split[what], part);
    while (s == MRS_OK && (s = live_stream_doc(&st, &doc, c->e)) == MRS_OK) {
        s = f(c, what, doc);
    }
    live_stream_close(&st);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
compare_part(struct live_compare *c, uint32_t part)
{
    MRS_ASSERT(part < c->parts);
    table_reset(&c->before);
    table_reset(&c->refused);
    mrs_buf_grow(&c->before.docs, c->split[BEFORE].part[part].bytes);
    enum mrs_status s = feed_part(c, BEFORE, part, remember);
    MRS_THEN(s, feed_part(c, REFUSED, part, remember));
    MRS_THEN(s, tables_done(c));
    MRS_THEN(s, feed_part(c, AFTER, part, judge));
    MRS_THEN(s, judge_refused(c));
    return s == MRS_OK ? judge_rest(c) : s;
}

static enum mrs_status
compare_parts(struct live_compare *c, const struct live_tally *t)
{
    enum mrs_status s = MRS_OK;
    for (int i = 0; s == MRS_OK && i < 3; i++) {
        s = live_split_open(&c->split[i], c->mem, c->job->opts.tmp, c->parts, c->memory / 8, c->e);
        if (s == MRS_OK) {
            s = i == BEFORE   ? feed_input(c, c->in, t->in_index, spread, BEFORE)
                : i == AFTER  ? feed_input(c, c->out, t->out_index, spread, AFTER)
                              : feed_refused(c, feed_one_refused);
        }
        MRS_THEN(s, live_split_end(&c->split[i], c->e));
    }
    for (uint32_t part = 0; s == MRS_OK && part < c->parts; part++) {
        s = breathe(c);
        MRS_THEN(s, compare_part(c, part));
    }
    for (int i = 0; i < 3; i++) {
        live_split_close(&c->split[i]);
    }
    return s;
}

static enum mrs_status
compare_pair(struct live_compare *c)
{
    MRS_ASSERT(c->at < c->n_pairs);
    struct live_tally *t = &c->pair[c->at];
    t->unique = live_indexes_unique(t->old_meta) && live_indexes_unique(t->now_meta);
    uint64_t bytes = t->in_index < 0 ? 0 : mrs_input_at(c->in, (uint32_t)t->in_index)->file_bytes;
    uint64_t most = c->memory / 4 < 16384 ? 16384 : c->memory / 4, parts = bytes / most + 1;
    c->parts = parts > 1u << 16 ? 1u << 16 : (uint32_t)parts;
    table_reset(&c->before);
    table_reset(&c->refused);
    enum mrs_status s = c->parts == 1 ? compare_at_once(c, t) : compare_parts(c, t);
    mrs_buf_clear(&c->before.docs);
    mrs_buf_clear(&c->before.rows);
    mrs_err_at(s == MRS_OK ? NULL : c->e, "%s", t->now.ns ? t->now.ns : t->old.ns);
    return s;
}

/* ---- pairs of collections ---- */
static int
index_of(const struct mrs_input *in, const char *ns)
{
    for (uint32_t i = 0; in && i < mrs_input_count(in); i++) {
        const struct mrs_input_ns *one = mrs_input_at(in, i);
        if (one->kind == MRS_INPUT_DATA && strcmp(one->ns, ns) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static struct mrs_coll
coll_of(const struct mrs_input_ns *ns)
{
    struct mrs_coll c = {ns->db, ns->coll, ns->ns};
    return c;
}

static struct live_tally *
add_pair(struct live_compare *c, int in, int out)
{
    MRS_ASSERT(c->n_pairs <= c->cap);
    struct live_tally *t = &c->pair[c->n_pairs++];
    memset(t, 0, sizeof *t);
    t->in_index = in;
    t->out_index = out;
    t->old_meta = t->now_meta = mrs_empty_doc();
    if (in >= 0) {
        t->old = coll_of(mrs_input_at(c->in, (uint32_t)in));
        t->old_meta = mrs_input_at(c->in, (uint32_t)in)->metadata;
    }
    if (out >= 0) {
        t->now = coll_of(mrs_input_at(c->out, (uint32_t)out));
        t->now_meta = mrs_input_at(c->out, (uint32_t)out)->metadata;
    }
    return t;
}

/* Uses a rename on the server if the name is free and the old one is not used again; else the documents are compared
 * under their present names, which is right for every plan. */
static int
partner(const struct live_compare *c, const char *ns)
{
    MRS_ASSERT(strchr(ns, '.'));
    const char *last = last_name(c->job->plan, 0, ns);
    int same = index_of(c->out, ns), other = index_of(c->out, last);
    size_t db = (size_t)(strchr(ns, '.') - ns) + 1; /* to another database a server copies */
    bool renamed = same < 0 && strncmp(last, ns, db) == 0 && index_of(c->in, last) < 0;
    return renamed ? other : same;
}

static bool
taken(const struct live_compare *c, int out)
{
    for (uint32_t i = 0; i < c->n_pairs; i++) {
        if (c->pair[i].out_index == out) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
list_pairs(struct live_compare *c)
{
    MRS_ASSERT(!c->pair);
    uint32_t n_in = mrs_input_count(c->in), n_out = c->out ? mrs_input_count(c->out) : 0;
    c->cap = n_in + n_out;
    for (uint32_t i = 0; i < c->job->plan->n_steps; i++) {
        c->cap += c->job->plan->steps[i].desc.n_sides;
    }
    c->pair = mrs_arena_alloc(&c->arena, (c->cap + 1) * sizeof *c->pair);
    MRS_TRY(mrs_allocated(c->pair, c->cap * sizeof *c->pair, c->e));
    for (uint32_t i = 0; i < n_in; i++) {
        const struct mrs_input_ns *ns = mrs_input_at(c->in, i);
        if (ns->kind == MRS_INPUT_DATA) {
            int out = partner(c, ns->ns);
            add_pair(c, (int)i, out >= 0 && taken(c, out) ? -1 : out);
        }
    }
    for (uint32_t i = 0; i < n_out; i++) {
        if (mrs_input_at(c->out, i)->kind == MRS_INPUT_DATA && !taken(c, (int)i)) {
            add_pair(c, -1, (int)i);
        }
    }
    return MRS_OK;
}

/* The collection in which a refused document stays; created or kept if the result does not have it. */
static enum mrs_status
keep_for_refused(struct live_compare *c, int what, struct mrs_view record)
{
    const char *ns = refused_ns(c, record), *dot = ns ? strchr(ns, '.') : NULL;
    (void)what;
    if (!dot || c->n_pairs > c->cap) {
        return mrs_err_set(c->e, MRS_FAIL, MRS_E_FORMAT, "a record of the refused documents is damaged");
    }
    if (lies_nowhere(c, record)) {
        return MRS_OK;
    }
    for (uint32_t i = 0; i < c->n_pairs; i++) {
        struct live_tally *t = &c->pair[i];
        if (t->now.ns && strcmp(t->now.ns, ns) == 0) {
            return MRS_OK;
        }
        if (!t->now.ns && strcmp(t->old.ns, ns) == 0) {
            t->now = t->old;
            t->now_meta = t->old_meta;
            return MRS_OK;
        }
    }
    size_t n = strlen(ns);
    char *copy = mrs_arena_copy(&c->arena, ns, n + 1), *db = mrs_arena_copy(&c->arena, ns, n + 1);
    if (!copy || !db) {
        return mrs_err_memory(c->e, n);
    }
    db[dot - ns] = 0;
    struct live_tally *t = add_pair(c, -1, -1);
    t->now = (struct mrs_coll){db, copy + (dot - ns) + 1, copy};
    return MRS_OK;
}

/* ---- open, close, read ---- */
/* A plan may leave none of its collections: then the folder exists without a dump. */
static enum mrs_status
open_out(struct live_compare *c, const char *out)
{
    struct mrs_input_opts opts = {0};
    struct mrs_err why;
    mrs_err_clear(&why);
    enum mrs_status s = mrs_input_open(c->mem, out, &opts, &c->out, &why);
    if (s == MRS_FAIL && why.code == MRS_E_MISSING && access(out, F_OK) == 0) {
        c->out = NULL;
        return MRS_OK;
    }
    if (s != MRS_OK && c->e) {
        *c->e = why;
    }
    return s;
}

static enum mrs_status
open_all(struct live_compare *c, const char *in, const char *out, const char *refused)
{
    struct mrs_input_opts opts = {0};
    enum mrs_status s = mrs_input_open(c->mem, in, &opts, &c->in, c->e);
    MRS_THEN(s, open_out(c, out));
    if (s == MRS_OK && refused) {
        c->refused_fd = open(refused, O_RDONLY | O_CLOEXEC);
        s = c->refused_fd < 0 ? mrs_err_sys(c->e, errno, "cannot open %s", refused) : MRS_OK;
    }
    for (int i = 0; s == MRS_OK && i < 4; i++) {
        s = i == LIVE_REPLACE ? MRS_OK : live_spool_open(&c->kind[i], c->mem, c->job->opts.tmp, c->e);
    }
    MRS_THEN(s, list_pairs(c));
    return s == MRS_OK ? feed_refused(c, keep_for_refused) : s;
}

enum mrs_status
live_compare_open(struct live_job *job, const char *in, const char *out, const char *refused, bool leave,
                  struct live_compare **result, struct mrs_err *e)
{
    MRS_ASSERT(in && result);
    struct live_compare *c = mrs_zalloc(job->mem, sizeof *c);
    *result = c;
    MRS_TRY(mrs_allocated(c, sizeof *c, e));
    c->job = job;
    c->mem = job->mem;
    c->e = e;
    c->refused_fd = -1;
    c->leave = leave;
    c->memory = job->opts.memory ? job->opts.memory : 256u << 20;
    mrs_arena_init(&c->arena, c->mem);
    mrs_buf_init(&c->key, c->mem, MRS_KEY_MAX);
    mrs_buf_init(&c->kept, c->mem, SIZE_MAX);
    struct mrs_buf *all[] = {&c->before.docs, &c->before.rows, &c->refused.docs, &c->refused.rows};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_init(all[i], c->mem, SIZE_MAX);
    }
    enum mrs_status s = open_all(c, in, out, refused);
    for (c->at = 0; s == MRS_OK && c->at < c->n_pairs; c->at++) {
        const struct live_tally *t = &c->pair[c->at];
        s = t->now.ns || job->opts.keep_before ? compare_pair(c)
                                               : feed_input(c, c->in, t->in_index, only_count, BEFORE);
    }
    for (int i = 0; s == MRS_OK && i < 4; i++) {
        s = c->kind[i].mem ? live_spool_end(&c->kind[i], e) : MRS_OK;
    }
    if (s != MRS_OK) {
        live_compare_close(c);
        *result = NULL;
    }
    return s;
}

void
live_compare_close(struct live_compare *c)
{
    if (!c) {
        return;
    }
    struct mrs_buf *all[] = {&c->before.docs, &c->before.rows, &c->refused.docs, &c->refused.rows, &c->key,
                             &c->kept};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_clear(all[i]);
    }
    mrs_free(c->mem, c->before.slot);
    mrs_free(c->mem, c->refused.slot);
    for (int i = 0; i < 4; i++) {
        live_spool_close(&c->kind[i]);
    }
    if (c->refused_fd >= 0) {
        close(c->refused_fd);
    }
    mrs_input_close(c->in);
    mrs_input_close(c->out);
    mrs_arena_clear(&c->arena);
    mrs_free(c->mem, c);
}

uint32_t
live_compare_count(const struct live_compare *c)
{
    return c->n_pairs;
}

struct live_tally *
live_compare_at(struct live_compare *c, uint32_t i)
{
    MRS_ASSERT(i < c->n_pairs);
    return &c->pair[i];
}

enum mrs_status
live_compare_each(struct live_compare *c, enum live_op_kind kind, enum live_build_mode turn,
                  live_planned_change_put put, void *arg, struct mrs_err *e)
{
    MRS_ASSERT(put);
    struct live_stream st;
    const uint8_t *p;
    enum mrs_status s = MRS_OK;
    live_stream_spool(&st, &c->kind[kind]);
    while (s == MRS_OK && (s = live_stream_take(&st, sizeof(struct change_list_head), &p, e)) == MRS_OK) {
        struct change_list_head h;
        memcpy(&h, p, sizeof h);
        const struct live_tally *t = &c->pair[h.pair];
        s = live_stream_take(&st, (size_t)h.before + h.after, &p, e);
        if (s == MRS_OK && t->turn == turn) {
            struct live_planned_change one = {kind, t->old.ns ? t->old : t->now, {p, h.before}, {p + h.before,
                    h.after}};
            s = put(arg, &one, e);
        }
    }
    live_stream_close(&st);
    return s == MRS_END ? MRS_OK : s;
}

/* ---- the complete result of a collection ---- */
struct whole {
    live_planned_change_put put;
    void *arg;
};

static enum mrs_status
put_insert(struct live_compare *c, const struct whole *w, struct mrs_view doc)
{
    MRS_ASSERT(c->at < c->n_pairs);
    struct live_planned_change one = {LIVE_INSERT, c->pair[c->at].now, {NULL, 0}, doc};
    return w->put(w->arg, &one, c->e);
}

/* A refused document of before, in its present form. */
static enum mrs_status
put_refused_now(struct live_compare *c, int what, struct mrs_view doc)
{
    struct mrs_val id;
    struct mrs_hash128 h;
    enum mrs_status s = hash_id(c, doc, &id, &h);
    struct row *r = s == MRS_OK ? find(&c->refused, h.lo, id) : NULL;
    (void)what;
    if (!r) {
        return s;
    }
    r->seen = 1;
    return put_insert(c, c->whole, doc);
}

static enum mrs_status
put_blocks(struct live_compare *c, const struct whole *w, struct mrs_reader *r)
{
    struct mrs_block b;
    enum mrs_status s = MRS_OK;
    mrs_block_init(&b, c->mem);
    while (s == MRS_OK && (s = mrs_reader_next(r, &b, c->e)) == MRS_OK) {
        for (size_t at = 0; s == MRS_OK && at < b.n;) {
            struct mrs_view doc = {b.p + at, mrs_le32(b.p + at)};
            at += doc.n;
            s = live_stored(doc, &c->kept, &doc, c->e);
            MRS_THEN(s, put_insert(c, w, doc));
        }
    }
    mrs_block_clear(&b);
    mrs_reader_close(r);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
live_compare_whole(struct live_compare *c, uint32_t i, live_planned_change_put put, void *arg, struct mrs_err *e)
{
    MRS_ASSERT(i < c->n_pairs);
    const struct live_tally *t = &c->pair[i];
    struct whole w = {put, arg};
    struct mrs_reader *r = NULL;
    enum mrs_status s = MRS_OK;
    c->at = i;
    c->e = e;
    c->parts = 1;
    table_reset(&c->before);
    table_reset(&c->refused);
    if (t->out_index >= 0 && mrs_input_at(c->out, (uint32_t)t->out_index)->data_path) {
        s = mrs_reader_open(c->out, (uint32_t)t->out_index, 0, &r, e);
        MRS_THEN(s, put_blocks(c, &w, r));
    }
    MRS_THEN(s, feed_refused(c, feed_one_refused));
    MRS_THEN(s, index_rows(c, &c->refused));
    uint64_t n;
    struct row *one = rows(&c->refused, &n);
    c->whole = &w;
    s = s == MRS_OK && c->leave && n ? feed_input(c, c->in, t->in_index, put_refused_now, AFTER) : s;
    for (uint64_t k = 0; s == MRS_OK && k < n; k++) {
        struct mrs_view doc = doc_at(&c->refused, &one[k]);
        if (!one[k].seen && find(&c->refused, one[k].hash, mrs_doc_get(doc, "_id")) == &one[k]) {
            s = put_insert(c, &w, doc);
        }
    }
    c->whole = NULL;
    return s;
}
