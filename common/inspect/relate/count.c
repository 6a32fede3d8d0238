/* SPDX-License-Identifier: Apache-2.0 */
/* count.c - exact counts: all values of the referring paths and of their possible keys, as sorted hashes, and each pair
 * joined. */
#include "lookups.h"
#include <stdlib.h>

enum { AHEAD = 128, COLLECTING = 16 << 20 };
enum typed { OID_RAW, OID_TEXT, UUID_RAW, UUID_OLD, UUID_TEXT, TEXTS, BINARIES, SMALL, LARGE, DOUBLES, DECIMALS,
             KINDS };
_Static_assert(KINDS * sizeof(uint64_t) == sizeof((struct mrsi_column *)0)->typed, "a count for each");

struct column_ahead { /* of a worker */
    struct mrsi_hash_row row[AHEAD], number[AHEAD];
    uint32_t n, numbers;
    uint64_t values, typed[KINDS];
    struct mrsi_probes probes;
};
struct counting {
    struct mrsi_relating *x;
    const struct mrsi_collection *c;
    struct mrsi_column *column; /* of this collection */
    uint32_t columns;
    struct column_ahead *ahead; /* [worker][column] */
    struct mrsi_ref_pair **own; /* pairs within the collection */
    uint32_t owns;
    struct mrsi_own *compared; /* [worker][own] */
};

static enum mrs_status
flush(struct mrsi_column *c, struct column_ahead *a, struct mrs_err *e)
{
    enum mrs_status s = mrsi_rowset_put(&c->rows, a->row, a->n, e);
    MRS_THEN(s, a->numbers ? mrsi_rowset_put(&c->numbers, a->number, a->numbers, e) : MRS_OK);
    a->n = a->numbers = 0;
    return s;
}

static enum typed
kind_of(struct mrs_val v, const struct mrsi_canon *c)
{
    switch (c->is) {
    case MRSI_OID:
        return c->from_text ? OID_TEXT : OID_RAW;
    case MRSI_UUID:
        return c->from_text ? UUID_TEXT : v.p[4] == 3 ? UUID_OLD : UUID_RAW;
    case MRSI_BINARY:
        return BINARIES;
    case MRSI_NUMBER:
        return v.type == MRS_INT32 ? SMALL : v.type == MRS_INT64 ? LARGE : v.type == MRS_DOUBLE ? DOUBLES : DECIMALS;
    default:
        return TEXTS;
    }
}

struct column_taking {
    struct mrs_mem *mem;
    struct mrsi_column *column;
    struct column_ahead *ahead;
};

static enum mrs_status
take(void *arg, const struct mrs_val *v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(*v));
    struct column_taking *t = arg;
    struct column_ahead *a = t->ahead;
    struct mrsi_canon c;
    mrsi_canon(v, &c);
    if (c.is >= MRSI_OBJECT && c.is <= MRSI_NOTHING) {
        return MRS_OK;
    }
    if (t->column->needs_probes && !mrsi_probes_add(&a->probes, t->mem, c.hash, 1, *v)) {
        return mrs_err_memory(e, sizeof *a->probes.at);
    }
    a->values++;
    a->typed[kind_of(*v, &c)]++;
    if (mrsi_sieve_passes(&t->column->sieve, c.hash)) {
        a->row[a->n++] = (struct mrsi_hash_row){{c.hash}, 1};
    }
    if (t->column->needs_numbers) { /* other values stay as they are */
        bool integer = c.digits || c.is == MRSI_NUMBER;
        a->number[a->numbers++] = (struct mrsi_hash_row){{integer ? mrsi_number_hash(c.number) : c.hash}, 1};
    }
    return a->n == AHEAD || a->numbers == AHEAD ? flush(t->column, a, e) : MRS_OK;
}

struct comparing {
    struct mrsi_canon own;
    int64_t least; /* of all keys */
    struct mrsi_own *count;
};

static enum mrs_status
compare(void *arg, const struct mrs_val *v, struct mrs_err *e)
{
    struct comparing *t = arg;
    struct mrsi_canon c;
    (void)e;
    mrsi_canon(v, &c);
    t->count->same += c.hash == t->own.hash && c.is != MRSI_OBJECT && c.is != MRSI_LIST && c.is != MRSI_NOTHING;
    if (c.is == MRSI_NUMBER && t->own.is == MRSI_NUMBER && c.number < t->own.number) {
        double part = (double)c.number - (double)t->least, all = (double)t->own.number - (double)t->least;
        t->count->below++;
        t->count->far_below += part < all / 2;
    }
    return MRS_OK;
}

static enum mrs_status
count_doc(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct counting *k = arg;
    enum mrs_status s = MRS_OK;
    struct mrs_val in = mrs_view_val(doc);
    (void)ordinal;
    for (uint32_t i = 0; s == MRS_OK && i < k->columns; i++) {
        const struct mrsi_path *p = k->column[i].path;
        struct column_taking t = {k->x->x->mem, &k->column[i], &k->ahead[(size_t)worker * k->columns + i]};
        s = mrsi_pick(in, p->way, p->ways, p->names, take, &t, e);
    }
    for (uint32_t i = 0; s == MRS_OK && i < k->owns; i++) {
        const struct mrsi_path *p = k->own[i]->r.from[0], *key = k->own[i]->r.to[0];
        struct comparing t = {.least = key->count.least, .count = &k->compared[(size_t)worker * k->owns + i]};
        struct mrs_val own = mrsi_pick_one(in, key->way, key->ways);
        mrsi_canon(&own, &t.own);
        s = t.own.is == MRSI_NOTHING ? MRS_OK : mrsi_pick(in, p->way, p->ways, p->names, compare, &t, e);
    }
    return s;
}

static enum mrs_status
settle(struct counting *k, struct mrs_err *e)
{
    MRS_ASSERT(k->column || k->columns == 0);
    enum mrs_status s = MRS_OK;
    uint32_t workers = k->x->source->workers;
    for (uint32_t w = 0; s == MRS_OK && w < workers; w++) {
        for (uint32_t i = 0; s == MRS_OK && i < k->columns; i++) {
            struct column_ahead *a = &k->ahead[(size_t)w * k->columns + i];
            s = flush(&k->column[i], a, e);
            k->column[i].values += a->values;
            for (int t = 0; t < KINDS; t++) {
                k->column[i].typed[t] += a->typed[t];
            }
            if (s == MRS_OK && !mrsi_probes_merge(&k->column[i].probes, k->x->x->mem, &a->probes)) {
                s = mrs_err_memory(e, sizeof *a->probes.at);
            }
        }
        for (uint32_t i = 0; i < k->owns; i++) {
            const struct mrsi_own *more = &k->compared[(size_t)w * k->owns + i];
            k->own[i]->own.same += more->same;
            k->own[i]->own.below += more->below;
            k->own[i]->own.far_below += more->far_below;
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < k->columns; i++) {
        s = mrsi_rowset_seal(&k->column[i].rows, e);
        MRS_THEN(s, k->column[i].needs_numbers ? mrsi_rowset_seal(&k->column[i].numbers, e) : MRS_OK);
    }
    return s;
}

static enum mrs_status
one_collection(struct counting *k, struct mrs_err *e)
{
    struct mrsi_relating *x = k->x;
    struct mrs_mem *mem = x->x->mem;
    uint32_t workers = x->source->workers;
    k->owns = 0;
    k->own = mrs_alloc_array(mem, x->pairs + 1, sizeof(struct mrsi_ref_pair *));
    for (uint32_t i = 0; k->own && i < x->pairs; i++) {
        if (x->pair[i].r.self && !x->pair[i].r.to[0]->lists && x->pair[i].r.from[0]->in == k->c) {
            k->own[k->owns++] = &x->pair[i];
        }
    }
    k->ahead = mrs_zalloc(mem, ((size_t)workers * k->columns + 1) * sizeof *k->ahead);
    k->compared = mrs_zalloc(mem, ((size_t)workers * k->owns + 1) * sizeof *k->compared);
    for (uint32_t i = 0; i < k->columns; i++) {
        mrsi_rowset_begin(&k->column[i].rows, &x->store, 1, COLLECTING / k->columns);
        if (k->column[i].needs_numbers) {
            mrsi_rowset_begin(&k->column[i].numbers, &x->store, 1, COLLECTING / k->columns);
        }
    }
    enum mrs_status s = k->own && k->ahead && k->compared ? MRS_OK : mrs_err_memory(e, sizeof *k->ahead);
    MRS_THEN(s, mrsi_scan(x, k->c, false, count_doc, k, e));
    MRS_THEN(s, settle(k, e));
    for (size_t i = 0; k->ahead && i < (size_t)workers * k->columns; i++) {
        mrs_free(mem, k->ahead[i].probes.at);
    }
    mrs_free(mem, k->own);
    mrs_free(mem, k->ahead);
    mrs_free(mem, k->compared);
    return s;
}

/* ---- selection of columns ---- */
static int
by_place(const void *a, const void *b)
{
    const struct mrsi_path *x = ((const struct mrsi_column *)a)->path, *y = ((const struct mrsi_column *)b)->path;
    if (x->in != y->in) {
        return x->in->no < y->in->no ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

static enum mrs_status
list_columns(struct mrsi_relating *x, struct mrs_err *e)
{
    x->column = mrs_zalloc(x->x->mem, ((size_t)x->pairs * 2 + 1) * sizeof *x->column);
    MRS_TRY(mrs_allocated(x->column, x->pairs * sizeof *x->column, e));
    for (uint32_t i = 0; i < x->pairs; i++) {
        for (int to = 0; to < 2; to++) {
            x->column[x->columns].needs_numbers = x->pair[i].r.as_number;
            x->column[x->columns].refers = !to;
            x->column[x->columns].needs_probes = !to && mrsi_can_look_up(x, x->pair[i].r.to[0]);
            x->column[x->columns++].path = to ? x->pair[i].r.to[0] : x->pair[i].r.from[0];
        }
    }
    qsort(x->column, x->columns, sizeof *x->column, by_place);
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->columns; i++) {
        if (n && x->column[n - 1].path == x->column[i].path) {
            x->column[n - 1].needs_numbers |= x->column[i].needs_numbers;
            x->column[n - 1].needs_probes |= x->column[i].needs_probes;
            x->column[n - 1].refers |= x->column[i].refers;
        } else {
            x->column[n++] = x->column[i];
        }
    }
    x->columns = n;
    return MRS_OK;
}

static struct mrsi_column *
column_of(const struct mrsi_relating *x, struct mrsi_path *p)
{
    struct mrsi_column key = {.path = p};
    return bsearch(&key, x->column, x->columns, sizeof key, by_place);
}

/* ---- joining ---- */
static bool
mixes(const struct mrsi_column *c, enum typed a, enum typed b)
{
    return c->typed[a] && c->typed[b];
}

static bool
crosses(const struct mrsi_column *p, const struct mrsi_column *k, enum typed a, enum typed b)
{
    return (p->typed[a] && k->typed[b]) || (p->typed[b] && k->typed[a]);
}

static bool
lacks(const struct mrsi_column *k, const struct mrsi_column *p, enum typed a)
{
    return p->typed[a] && !k->typed[a];
}

static const char *
match_of(const struct mrsi_reference *r, const struct mrsi_column *p, const struct mrsi_column *k)
{
    MRS_ASSERT(r->parts == 1);
    if (r->dbref) {
        return "dbref";
    }
    bool digits = p->typed[TEXTS] > 0,
         numbers = p->typed[SMALL] + p->typed[LARGE] + p->typed[DOUBLES] + p->typed[DECIMALS] > 0;
    if (r->as_number) {
        return digits && numbers ? "mixed" : "numberString";
    }
    if (mixes(p, OID_RAW, OID_TEXT) || mixes(p, UUID_RAW, UUID_TEXT) || mixes(p, UUID_OLD, UUID_TEXT)) {
        return "mixed";
    }
    if (crosses(p, k, OID_RAW, OID_TEXT)) {
        return "objectIdString";
    }
    if (crosses(p, k, UUID_RAW, UUID_TEXT) || crosses(p, k, UUID_OLD, UUID_TEXT)) {
        return "uuidString";
    }
    if (lacks(k, p, UUID_RAW) || lacks(k, p, UUID_OLD)) {
        return "uuidSubtype";
    }
    for (int t = SMALL; t <= DECIMALS; t++) {
        if ((p->typed[t] != 0) != (k->typed[t] != 0)) {
            return "number";
        }
    }
    return "equal";
}

static enum mrs_status
join(struct mrsi_relating *x, struct mrsi_ref_pair *pair, struct mrs_err *e)
{
    MRS_ASSERT(pair->r.parts == 1);
    struct mrsi_reference *r = &pair->r;
    const struct mrsi_column *cp = column_of(x, r->from[0]), *ck = column_of(x, r->to[0]);
    const struct mrsi_rowset *from = r->as_number ? &cp->numbers : &cp->rows;
    const struct mrsi_rowset *to = r->as_number ? &ck->numbers : &ck->rows;
    r->values = cp->values;
    r->distinct = from->total;
    r->keys = ck->sieve.bits ? ck->values : to->total; /* an _id: all are different */
    enum mrs_status s = mrsi_join(x, from, to, r, e);
    r->match = match_of(r, cp, ck);
    r->among_types = true;
    for (int t = 0; t < KINDS; t++) {
        r->among_types &= ck->typed[t] == 0 || cp->typed[t] != 0;
    }
    if (mrsi_is_sampled(r->from[0]->in)) { /* most of a parent's children were not read */
        r->per_parent = (struct mrsi_quantiles){.n = 0};
        r->parents = r->none = 0;
    }
    return s;
}

static enum mrs_status
one_pair(struct mrsi_relating *x, struct mrsi_ref_pair *pair, struct mrs_err *e)
{
    struct mrsi_reference *r = &pair->r;
    enum mrs_status s = join(x, pair, e);
    if (s == MRS_OK && mrsi_can_look_up(x, r->to[0])) {
        s = mrsi_look_up(x, r, &column_of(x, r->from[0])->probes, e);
    }
    if (s == MRS_OK && !r->dbref && !r->hinted) {
        mrsi_judge(x, r);
    }
    bool to_others = r->v >= .95 && pair->own.same * 10 <= r->values * 9; /* ids: of the first version, say */
    if (s == MRS_OK && pair->own.same * 2 > r->values && !r->hinted && !to_others) {
        r->score = 0; /* it refers to its own document */
    }
    return s;
}

/* ---- keys that are larger than all paths that may refer to them ---- */
enum { SIEVED = 1 << 20, LARGER = 8 };

/* The number of different values that refer to the key; UINT64_MAX: some are not counted yet. */
static uint64_t
named_in_all(const struct mrsi_relating *x, const struct mrsi_column *c)
{
    MRS_ASSERT(c->path);
    uint64_t n = 0;
    for (uint32_t i = 0; i < x->pairs; i++) {
        const struct mrsi_reference *r = &x->pair[i].r;
        if (r->to[0] == c->path) {
            const struct mrsi_column *from = column_of(x, r->from[0]);
            if (!from->rows.sealed) {
                return UINT64_MAX;
            }
            n += from->rows.total;
        }
    }
    return n;
}

static enum mrs_status
sift(const struct mrsi_relating *x, struct mrsi_column *c, struct mrs_err *e)
{
    MRS_ASSERT(c->path);
    enum mrs_status s = MRS_OK;
    if (!mrsi_path_is_id(c->path) || c->refers || c->needs_numbers || x->x->sampled) {
        return s;
    }
    uint64_t n = named_in_all(x, c);
    if (n > SIEVED || n * LARGER > c->path->in->documents) {
        return s;
    }
    if (!mrsi_sieve_make(&c->sieve, x->x->mem, n)) {
        return mrs_err_memory(e, n);
    }
    for (uint32_t i = 0; s == MRS_OK && i < x->pairs; i++) {
        if (x->pair[i].r.to[0] == c->path) {
            s = mrsi_sieve_put_rows(&c->sieve, &column_of(x, x->pair[i].r.from[0])->rows, e);
        }
    }
    return s;
}

/* A range of columns of one collection. */
struct column_group {
    struct mrsi_column *column;
    uint32_t n;
};

static int
smaller_first(const void *a, const void *b)
{
    const struct mrsi_collection *x = ((const struct column_group *)a)->column->path->in;
    const struct mrsi_collection *y = ((const struct column_group *)b)->column->path->in;
    return x->documents != y->documents ? (x->documents < y->documents ? -1 : 1) : x->no < y->no ? -1 : x->no > y->no;
}

/* Small collections first: all references to a large key are known when it is counted. */
static enum mrs_status
count_all(struct mrsi_relating *x, struct mrs_err *e)
{
    struct column_group *group = mrs_alloc_array(x->x->mem, x->columns + 1, sizeof *group);
    uint32_t n = 0;
    enum mrs_status s = mrs_allocated(group, x->columns * sizeof *group, e);
    for (uint32_t i = 0; group && i < x->columns; i++) {
        if (i == 0 || x->column[i].path->in != x->column[i - 1].path->in) {
            group[n++] = (struct column_group){&x->column[i], 0};
        }
        group[n - 1].n++;
    }
    if (n) {
        qsort(group, n, sizeof *group, smaller_first);
    }
    for (uint32_t g = 0; s == MRS_OK && g < n; g++) {
        struct counting k = {.x = x, .c = group[g].column->path->in, .column = group[g].column, .columns = group[g].n};
        for (uint32_t i = 0; s == MRS_OK && i < k.columns; i++) {
            s = sift(x, &k.column[i], e);
        }
        MRS_THEN(s, one_collection(&k, e));
    }
    mrs_free(x->x->mem, group);
    return s;
}

enum mrs_status
mrsi_count(struct mrsi_relating *x, struct mrs_err *e)
{
    enum mrs_status s = list_columns(x, e);
    MRS_THEN(s, count_all(x, e));
    for (uint32_t i = 0; s == MRS_OK && i < x->columns; i++) {
        struct mrsi_path *p = x->column[i].path;
        p->distinct = x->column[i].sieve.bits ? x->column[i].values : x->column[i].rows.total;
        p->exact = true;
    }
    for (uint32_t i = 0; s == MRS_OK && i < x->pairs; i++) {
        s = mrsi_check_cancel(&x->store, e);
        MRS_THEN(s, one_pair(x, &x->pair[i], e));
    }
    for (uint32_t i = 0; i < x->columns; i++) {
        mrs_free(x->x->mem, x->column[i].probes.at);
        mrsi_sieve_free(&x->column[i].sieve, x->x->mem);
    }
    return s;
}
