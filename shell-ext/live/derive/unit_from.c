/* SPDX-License-Identifier: Apache-2.0 */
/* unit_from.c - reads the documents of `from` for the units of one load, in one query.
 *
 * A join matches by encoded keys; the server only knows values at paths. So the values at the units' path are queried
 * by $in, which an index answers, and the kernels decide which of the returned documents match. Both must agree, which
 * is checked: a unit with a key that no queried value could return is refused, since unread documents would look like
 * missing matches. If the first pair of match is an expression no query is possible, and the whole collection is read;
 * only documents that some unit needs are stored.
 *
 * The units were read before: the documents of `from` are therefore never older than the unit. */
#include "derive.h"
#include "mongoreshape/join_ops.h"

#include <stdlib.h>

enum { VALUES_BYTES = 8 << 20 };

struct queried_value { /* a value to query */
    struct mrs_val v;
    uint32_t off, len; /* its key in live_from.queried */
};

/* ---- memory ---- */
static struct mrs_buf *
buffer(struct live_from *f, size_t i)
{
    struct mrs_buf *all[] = {&f->queried_values, &f->recs, &f->entries, &f->heads, &f->payload, &f->sort,
                             &f->bases,        &f->same, &f->order,   &f->matches, NULL};
    return all[i];
}

static struct mrs_keys *
key_list(struct live_from *f, size_t i)
{
    struct mrs_keys *all[] = {&f->needed, &f->queried, &f->keys, &f->unit_keys, NULL};
    return all[i];
}

static enum mrs_status
compile(struct live_units *u, const char *path, struct mrs_path *out, struct mrs_err *e)
{
    struct mrs_val text = mrs_make_text(&u->life, path, (uint32_t)strlen(path));
    return text.type == MRS_MISSING ? mrs_err_memory(e, 0) : mrs_path_compile(&u->life, text, false, out, e);
}

enum mrs_status
live_from_open(struct live_units *u, struct mrs_err *e)
{
    MRS_ASSERT(!u->from);
    const struct mrs_desc *d = &u->step->desc;
    struct live_from *f = mrs_zalloc(u->job->mem, sizeof *f);
    MRS_TRY(mrs_allocated(f, sizeof *f, e));
    u->from = f;
    for (size_t i = 0; buffer(f, i); i++) {
        mrs_buf_init(buffer(f, i), u->job->mem, SIZE_MAX);
    }
    f->sort.ceiling = MRS_KEY_MAX;
    for (size_t i = 0; key_list(f, i); i++) {
        mrs_keys_init(key_list(f, i), u->job->mem);
    }
    f->claimed = strcmp(d->sides[0].coll.ns, d->sides[1].coll.ns) == 0;
    f->by_path = d->n_pairs && d->pairs && d->pairs[0].from && d->pairs[0].into;
    if (!f->by_path) {
        return u->job->opts.allow_scan ? MRS_OK
            : mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "step %u: %s has an expression in match, so every batch reads all "
                                                   "of %s: give --allow-scan, or match by "
                                                   "paths", u->step->no, u->step->type->name,
                          d->sides[0].coll.ns);
    }
    enum mrs_status s = compile(u, d->pairs[0].from, &f->path[0], e);
    return s == MRS_OK ? compile(u, d->pairs[0].into, &f->path[1], e) : s;
}

void
live_from_close(struct live_units *u)
{
    struct live_from *f = u->from;
    if (!f) {
        return;
    }
    for (size_t i = 0; buffer(f, i); i++) {
        mrs_buf_clear(buffer(f, i));
    }
    for (size_t i = 0; key_list(f, i); i++) {
        mrs_keys_clear(key_list(f, i));
    }
    mrs_free(u->job->mem, f);
    u->from = NULL;
}

static void
forget(struct live_from *f)
{
    for (size_t i = 0; buffer(f, i); i++) {
        mrs_buf_reset(buffer(f, i));
    }
    for (size_t i = 0; key_list(f, i); i++) {
        mrs_keys_reset(key_list(f, i));
    }
    f->nulls = f->lacking = false;
}

/* ---- sorted keys ---- */
static int
compare_bytes(const uint8_t *a, uint32_t n, const uint8_t *b, uint32_t m)
{
    int c = memcmp(a, b, n < m ? n : m);
    return c ? c : (n > m) - (n < m);
}

static int
by_key(const void *a, const void *b, void *arg)
{
    const struct mrs_keyspan *x = a, *y = b;
    const uint8_t *p = ((const struct mrs_keys *)arg)->bytes.p;
    int c = compare_bytes(p + x->off, x->len, p + y->off, y->len);
    return c ? c : x->kind - y->kind;
}

static void
sort_keys(struct mrs_keys *k)
{
    uint32_t n = 0;
    if (k->n > 1) {
        qsort_r(k->span, k->n, sizeof *k->span, by_key, k);
    }
    for (uint32_t i = 0; i < k->n; i++) {
        if (n == 0 || by_key(&k->span[n - 1], &k->span[i], k) != 0) {
            k->span[n++] = k->span[i];
        }
    }
    k->n = n;
}

uint32_t
live_keys_find(const struct mrs_keys *k, const uint8_t *p, uint32_t n, uint8_t kind)
{
    uint32_t lo = 0, hi = k->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const struct mrs_keyspan *s = &k->span[mid];
        int c = compare_bytes(k->bytes.p + s->off, s->len, p, n);
        c = c ? c : s->kind - kind;
        if (c == 0) {
            return mid;
        }
        lo = c < 0 ? mid + 1 : lo;
        hi = c < 0 ? hi : mid;
    }
    return UINT32_MAX;
}

static int
by_queried_value(const void *a, const void *b, void *arg)
{
    const struct queried_value *x = a, *y = b;
    const uint8_t *p = ((const struct mrs_keys *)arg)->bytes.p;
    return compare_bytes(p + x->off, x->len, p + y->off, y->len);
}

static uint32_t
sort_queried_values(struct live_from *f)
{
    struct queried_value *w = (struct queried_value *)(void *)f->queried_values.p;
    uint32_t n = 0, all = (uint32_t)(f->queried_values.n / sizeof *w);
    if (all > 1) {
        qsort_r(w, all, sizeof *w, by_queried_value, &f->queried);
    }
    for (uint32_t i = 0; i < all; i++) {
        if (n == 0 || by_queried_value(&w[n - 1], &w[i], &f->queried) != 0) {
            w[n++] = w[i];
        }
    }
    f->queried_values.n = n * sizeof *w;
    return n;
}

/* Does a queried value return this key? It does if it is its first part (all of it, except for keys made from several
 * values). No key is a prefix of another, so the greatest one that is not above it is the only candidate. */
static bool
is_queried(const struct live_from *f, uint32_t n, const uint8_t *p, uint32_t len)
{
    const struct queried_value *w = (const struct queried_value *)(const void *)f->queried_values.p;
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (compare_bytes(f->queried.bytes.p + w[mid].off, w[mid].len, p, len) <= 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo > 0 && w[lo - 1].len <= len && memcmp(f->queried.bytes.p + w[lo - 1].off, p, w[lo - 1].len) == 0;
}

/* ---- keys of the units ---- */
static enum mrs_status
query_value(void *arg, struct mrs_val v)
{
    struct live_units *u = arg;
    struct live_from *f = u->from;
    if (mrs_is_nullish(v)) {
        return MRS_OK; /* queried if the step makes a key from it */
    }
    enum mrs_status s = mrs_keys_add(&f->queried, 0, 0, v, &u->err);
    if (s == MRS_OK) {
        struct queried_value w = {v, f->queried.span[0].off, f->queried.span[0].len};
        f->queried.n = 0;
        mrs_buf_put(&f->queried_values, &w, sizeof w);
        s = mrs_buf_status(&f->queried_values, &u->err);
    }
    return s;
}

/* Adds the keys of a document of this side, only those of the first pair, to `needed`, and its values to the queried
 * ones. */
static enum mrs_status
query_keys(struct live_units *u, int side, struct mrs_view doc)
{
    MRS_ASSERT(side == 0 || side == 1);
    struct live_from *f = u->from;
    uint32_t first = f->needed.n, n = first;
    enum mrs_status s = u->step->type->join->keys(u->step->state, &u->ctx, side, doc, &f->needed);
    if (s == MRS_OK && f->by_path) {
        s = mrs_path_each(&f->path[side], doc, false, query_value, u);
    }
    for (uint32_t i = first; i < f->needed.n && s == MRS_OK; i++) {
        if (f->needed.span[i].pair == 0) {
            f->nulls = f->nulls || f->needed.span[i].null;
            f->needed.span[n++] = f->needed.span[i];
        }
    }
    f->needed.n = n;
    return s;
}

/* Adds the keys of a unit. */
static enum mrs_status
query_unit_keys(struct live_units *u, struct mrs_view base)
{
    bool part = true;
    mrs_arena_reset(&u->scratch);
    mrs_err_clear(&u->err);
    enum mrs_status s = u->step->type->join->takes_part(u->step->state, &u->ctx, 1, base, &part);
    return s != MRS_OK || !part ? s : query_keys(u, 1, base);
}

static enum mrs_status
note_unit(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    struct mrs_view base = unit->doc;
    enum mrs_status s = MRS_OK;
    if (!unit->refused) {
        s = live_unit_base(u, main, unit->doc, &base, e);
        if (s == MRS_OK && base.p != unit->doc.p) {
            s = live_unit_copy(u, base, &base, e);
        }
        if (s != MRS_OK) {
            return s;
        }
        s = query_unit_keys(u, base);
        if (s == MRS_SKIP) {
            live_unit_refuse(u, unit, u->step->no);
        } else if (s != MRS_OK) {
            return live_unit_failed(u, s, e);
        }
    }
    mrs_buf_put(&u->from->bases, &base, sizeof base);
    return mrs_buf_status(&u->from->bases, e);
}

static void
check_queried(struct live_from *f, uint32_t n_queried)
{
    for (uint32_t i = 0; i < f->needed.n; i++) {
        struct mrs_keyspan *s = &f->needed.span[i];
        bool queried = s->kind == 0 && (s->null || is_queried(f, n_queried, f->needed.bytes.p + s->off, s->len));
        s->pair = queried ? 0 : 1;
        f->lacking = f->lacking || !queried;
    }
}

/* ---- documents of from ---- */
enum mrs_status
live_from_refuse(struct live_units *u, struct mrs_view doc, struct mrs_err *e)
{
    const char *ns = u->step->desc.sides[0].coll.ns;
    return u->job->run ? live_refused_put(u->job, u->step->no, ns, doc, &u->err, e) : MRS_OK;
}

/* Copies a text that lives until the next load. */
static const char *
copy_text(struct live_units *u, const char *text)
{
    return mrs_arena_copy(&u->load_arena, text, strlen(text) + 1);
}

static enum mrs_status
make_payload(struct live_units *u, struct mrs_view doc, struct live_rec *r, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct live_from *f = u->from;
    mrs_buf_reset(&f->payload);
    mrs_err_clear(&u->err);
    enum mrs_status s = u->step->type->join->payload(u->step->state, &u->ctx, doc, &f->payload);
    if (s == MRS_SKIP) {
        r->failed = true;
        r->payload = mrs_empty_doc();
        r->why = copy_text(u, u->err.msg);
        r->why_where = copy_text(u, u->err.where);
        return r->why && r->why_where ? MRS_OK : mrs_err_memory(e, 0);
    }
    if (s != MRS_OK) {
        return live_unit_failed(u, s, e);
    }
    s = mrs_buf_status(&f->payload, e);
    return s == MRS_OK ? live_unit_copy(u, (struct mrs_view){f->payload.p, (uint32_t)f->payload.n}, &r->payload, e) : s;
}

/* A document without a sort key has no position; it is refused if a unit matches it. */
static enum mrs_status
make_order(struct live_units *u, struct mrs_view doc, struct live_rec *r, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct live_from *f = u->from;
    mrs_buf_reset(&f->sort);
    mrs_err_clear(&u->err);
    enum mrs_status s = u->step->type->join->order(u->step->state, &u->ctx, doc, &f->sort);
    if (s == MRS_SKIP) {
        r->unsorted = true;
        r->why = copy_text(u, u->err.msg);
        r->why_where = copy_text(u, u->err.where);
        return r->why && r->why_where ? live_unit_copy(u, doc, &r->doc, e) : mrs_err_memory(e, 0);
    }
    if (s != MRS_OK) {
        return live_unit_failed(u, s, e);
    }
    s = mrs_buf_status(&f->sort, e);
    return s == MRS_OK ? live_unit_copy(u, (struct mrs_view){f->sort.p, (uint32_t)f->sort.n}, &r->sort, e) : s;
}

static bool
is_needed(const struct live_from *f, uint32_t first)
{
    for (uint32_t i = first; i < f->keys.n; i++) {
        const struct mrs_keyspan *s = &f->keys.span[i];
        if (s->pair == 0 && live_keys_find(&f->needed, f->keys.bytes.p + s->off, s->len, s->kind) != UINT32_MAX) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
keep_rec(struct live_units *u, struct mrs_view doc, uint32_t first, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct live_from *f = u->from;
    struct live_rec r = {.first_key = first, .n_keys = f->keys.n - first};
    if (!mrs_val_copy(&u->load_arena, mrs_doc_get(doc, "_id"), &r.id)) {
        return mrs_err_memory(e, doc.n);
    }
    for (uint32_t i = first; i < f->keys.n; i++) {
        u->load_bytes += f->keys.span[i].len;
    }
    enum mrs_status s = u->step->desc.sorted ? make_order(u, doc, &r, e) : MRS_OK;
    s = s == MRS_OK && !r.unsorted ? make_payload(u, doc, &r, e) : s;
    if (s == MRS_OK) {
        mrs_buf_put(&f->recs, &r, sizeof r);
        s = mrs_buf_status(&f->recs, e);
    }
    return s;
}

static enum mrs_status
take_doc(struct live_units *u, uint32_t main, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    struct live_from *f = u->from;
    const struct mrs_join_ops *ops = u->step->type->join;
    struct mrs_view seen = doc;
    uint32_t first = f->keys.n;
    size_t bytes = f->keys.bytes.n;
    bool part = true;
    enum mrs_status s = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, e);
    s = s == MRS_OK && f->claimed ? live_unit_base(u, main, doc, &seen, e) : s;
    if (s != MRS_OK) {
        mrs_err_at(e, "%s", u->step->desc.sides[0].coll.ns);
        return s;
    }
    mrs_arena_reset(&u->scratch);
    mrs_err_clear(&u->err);
    s = ops->takes_part(u->step->state, &u->ctx, 0, seen, &part);
    if (s == MRS_OK && !part) {
        return MRS_OK;
    }
    MRS_THEN(s, ops->keys(u->step->state, &u->ctx, 0, seen, &f->keys));
    if (s == MRS_OK && is_needed(f, first)) {
        return keep_rec(u, seen, first, e);
    }
    f->keys.n = first;
    f->keys.bytes.n = bytes;
    return s == MRS_SKIP ? live_from_refuse(u, doc, e) : s == MRS_OK ? MRS_OK : live_unit_failed(u, s, e);
}

static enum mrs_status
read_docs(struct live_units *u, uint32_t main, struct mrs_view filter, struct mrs_err *e)
{
    struct live_cursor *c = NULL;
    struct live_fault fault = {.kind = LIVE_FAULT_NONE};
    struct mrs_view doc;
    enum mrs_status s =
        live_find(u->job->link, &u->step->desc.sides[0].coll, filter, mrs_empty_doc(), 0, &c, e);
    if (s != MRS_OK) {
        return s;
    }
    while (s == MRS_OK && (s = live_cursor_next(c, &doc, &fault, e)) == MRS_OK) {
        s = take_doc(u, main, doc, e);
    }
    live_cursor_close(c);
    if (s == MRS_FAIL && fault.kind == LIVE_FAULT_NETWORK) {
        mrs_err_clear(e);
        return MRS_END;
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
read_queried(struct live_units *u, uint32_t main, struct live_value_filter *values, struct mrs_buf *room,
             struct mrs_err *e)
{
    struct mrs_view filter;
    mrs_buf_reset(room);
    enum mrs_status s = live_value_filter_finish(values, room, &filter, e);
    MRS_THEN(s, read_docs(u, main, filter, e));
    live_value_filter_reset(values);
    return s;
}

static bool
is_full(const struct live_value_filter *values, struct mrs_val next)
{
    uint32_t n = values->n_in + values->n_clauses;
    return n >= LIVE_IN_MAX || (n && live_value_filter_bytes(values) + next.n > VALUES_BYTES);
}

static enum mrs_status
read_by_path(struct live_units *u, uint32_t main, uint32_t n_queried, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    const struct queried_value *w = (const struct queried_value *)(const void *)u->from->queried_values.p;
    struct live_value_filter values;
    struct mrs_buf room;
    enum mrs_status s = MRS_OK;
    live_value_filter_init(&values, u->job->mem, u->step->desc.pairs[0].from);
    mrs_buf_init(&room, u->job->mem, MRS_DOC_READ_MAX);
    for (uint32_t i = 0; i < n_queried && s == MRS_OK; i++) {
        s = is_full(&values, w[i].v) ? read_queried(u, main, &values, &room, e) : MRS_OK;
        live_value_filter_add(&values, w[i].v);
    }
    if (s == MRS_OK && u->from->nulls && is_full(&values, mrs_null())) {
        s = read_queried(u, main, &values, &room, e);
    }
    if (s == MRS_OK && u->from->nulls) {
        live_value_filter_add_nulls(&values);
    }
    if (s == MRS_OK && (values.n_in || values.n_clauses)) {
        s = read_queried(u, main, &values, &room, e);
    }
    mrs_buf_clear(&room);
    live_value_filter_clear(&values);
    return s;
}

/* ---- sort, and index by key ---- */
static int
by_id(const void *a, const void *b)
{
    return mrs_compare(((const struct live_rec *)a)->id, ((const struct live_rec *)b)->id);
}

/* A document that two queries return counts once. */
static void
sort_recs(struct live_from *f)
{
    MRS_ASSERT(f->recs.n % sizeof(struct live_rec) == 0);
    struct live_rec *r = (struct live_rec *)(void *)f->recs.p;
    size_t n = 0, all = f->recs.n / sizeof *r;
    if (all > 1) {
        qsort(r, all, sizeof *r, by_id);
    }
    for (size_t i = 0; i < all; i++) {
        if (n == 0 || by_id(&r[n - 1], &r[i]) != 0) {
            r[n++] = r[i];
        }
    }
    f->recs.n = n * sizeof *r;
}

static enum mrs_status
build_table(struct live_from *f, struct mrs_err *e)
{
    const struct live_rec *r = (const struct live_rec *)(const void *)f->recs.p;
    uint32_t cap = 16, n = (uint32_t)(f->recs.n / sizeof *r);
    while (cap < f->keys.n) {
        cap *= 2;
    }
    uint32_t *heads = (uint32_t *)(void *)mrs_buf_take(&f->heads, cap * sizeof *heads);
    struct live_entry *t = (struct live_entry *)(void *)mrs_buf_take(&f->entries, (f->keys.n + 1u) * sizeof *t);
    if (!heads || !t) {
        return mrs_err_memory(e, f->keys.n * sizeof *t);
    }
    memset(heads, 0, cap * sizeof *heads);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = r[i].first_key; k < r[i].first_key + r[i].n_keys; k++) {
            const struct mrs_keyspan *s = &f->keys.span[k];
            if (s->pair == 0) {
                uint64_t hash = mrs_hash(f->keys.bytes.p + s->off, s->len, s->kind).lo;
                t[at] = (struct live_entry){hash, i, k, heads[hash & (cap - 1)]};
                heads[hash & (cap - 1)] = ++at;
            }
        }
    }
    return MRS_OK;
}

/* For the test that detects sources read before their target: reads the units again, with older sources. */
static enum mrs_status
read_units_again(struct live_units *u, uint32_t main, struct live_unit *units, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains);
    struct mrs_view *bases = (struct mrs_view *)(void *)u->from->bases.p;
    struct mrs_buf filter, found;
    struct live_fault fault;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&filter, u->job->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&found, u->job->mem, SIZE_MAX);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        struct mrs_build b;
        struct mrs_view q;
        mrs_buf_reset(&filter);
        mrs_buf_reset(&found);
        mrs_build_init(&b, &filter);
        mrs_build_val(&b, "_id", 3, mrs_doc_get(units[i].doc, "_id"));
        s = mrs_build_finish(&b, &q, e);
        s = s == MRS_OK
            ? live_find_one(u->job->link, &u->main[main].coll, q, mrs_empty_doc(), &found, &fault, e) : s;
        if (s == MRS_OK) {
            s = live_unit_copy(u, (struct mrs_view){found.p, (uint32_t)found.n}, &units[i].doc, e);
            MRS_THEN(s, live_unit_base(u, main, units[i].doc, &bases[i], e));
            MRS_THEN(s, live_unit_copy(u, bases[i], &bases[i], e));
        }
        s = s == MRS_END ? MRS_OK : s;
    }
    mrs_buf_clear(&filter);
    mrs_buf_clear(&found);
    return s;
}

enum mrs_status
live_from_load(struct live_units *u, uint32_t main, struct live_unit *units, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains && u->from);
    struct live_from *f = u->from;
    enum mrs_status s = MRS_OK;
    forget(f);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        s = note_unit(u, main, &units[i], e);
    }
    if (s != MRS_OK) {
        return s;
    }
    sort_keys(&f->needed);
    uint32_t n_queried = sort_queried_values(f);
    if (f->by_path) {
        check_queried(f, n_queried);
    }
    if (f->needed.n) {
        s = f->by_path ? read_by_path(u, main, n_queried, e) : read_docs(u, main, mrs_empty_doc(), e);
    }
    LIVE_STOP("after-read-from");
    if (s == MRS_OK && LIVE_MUTANT("sources-before-target")) {
        s = read_units_again(u, main, units, n, e);
    }
    if (s != MRS_OK) {
        return s;
    }
    sort_recs(f);
    return build_table(f, e);
}

/* ---- units of documents of from ---- */
const struct mrs_pair_path *
live_units_pair(const struct live_units *u)
{
    return u->from && u->from->by_path ? &u->step->desc.pairs[0] : NULL;
}

/* Adds the keys of documents of `from`. A refused document has none that a unit could match. */
static enum mrs_status
query_from_keys(struct live_units *u, const struct mrs_view *docs, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(u->from);
    enum mrs_status s = MRS_OK;
    forget(u->from);
    mrs_arena_reset(&u->load_arena);
    u->load_bytes = 0;
    u->n = n;
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        struct mrs_view seen = docs[i];
        s = u->from->claimed ? live_unit_base(u, 0, docs[i], &seen, e) : MRS_OK;
        if (s == MRS_OK && seen.p != docs[i].p) {
            s = live_unit_copy(u, seen, &seen, e);
        }
        mrs_arena_reset(&u->scratch);
        mrs_err_clear(&u->err);
        s = s == MRS_OK ? live_unit_failed(u, query_keys(u, 0, seen), e) : s;
        s = s == MRS_SKIP ? MRS_OK : s;
    }
    return s;
}

enum mrs_status
live_units_meeting(struct live_units *u, const struct mrs_view *docs, uint32_t n, struct mrs_buf *out, bool *all,
                   struct mrs_err *e)
{
    MRS_ASSERT(u->from && all);
    struct live_from *f = u->from;
    struct live_value_filter values;
    struct mrs_view filter;
    enum mrs_status s = query_from_keys(u, docs, n, e);
    if (s != MRS_OK) {
        return s;
    }
    sort_keys(&f->needed);
    uint32_t n_queried = sort_queried_values(f);
    const struct queried_value *w = (const struct queried_value *)(const void *)f->queried_values.p;
    check_queried(f, n_queried);
    *all = !f->lacking;
    if (n_queried + f->nulls == 0) {
        return MRS_END;
    }
    if (n_queried + f->nulls > LIVE_IN_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "%u keys are too many for one question", n_queried);
    }
    live_value_filter_init(&values, u->job->mem, u->step->desc.pairs[0].into);
    for (uint32_t i = 0; i < n_queried; i++) {
        live_value_filter_add(&values, w[i].v);
    }
    if (f->nulls) {
        live_value_filter_add_nulls(&values);
    }
    if (live_value_filter_bytes(&values) > VALUES_BYTES) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "the keys of %u documents are more than %d MiB", n,
                        VALUES_BYTES >> 20);
    } else {
        s = live_value_filter_finish(&values, out, &filter, e);
    }
    live_value_filter_clear(&values);
    return s;
}
