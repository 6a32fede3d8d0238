/* SPDX-License-Identifier: Apache-2.0 */
/* compare_docs.c - finds the documents of a namespace that differ, in bounded memory.
 *
 * 1. Every document of A is added to one of many buckets by its `_id`, every document of B is subtracted: a bucket that
 * is not zero holds a difference. (Skipped if all documents can be sorted in memory.)
 * 2. For documents in such buckets `_id`, hash and position are sorted. Equal documents with one `_id` cancel out
 * pairwise; documents left on both sides are pairs that differ, the others exist on one side only.
 * 3. The documents to report are fetched by their positions.
 *
 * The differences found must add up to the difference of the two digests. Documents are equal if their hashes with the
 * comparison's secret are (mrs_hash_secret), and so are long `_id`s; the bytes of reported documents are compared. */
#include "compare_dumps.h"
#include "run/store/sorter.h"
#include <stdlib.h>

enum {
    ID_MOST = 1024, /* bytes of an `_id`'s key in a record; longer keys end in their hash */
    ORDER_N = 8, /* of a hash without a secret, so that repeated comparisons report the same documents */
    HASH_N = ORDER_N + 16,
    TAIL = HASH_N + 1 + 8, /* of a record's key after that of the `_id`: hash, side, position */
    SUMMED = sizeof(struct mrs_hash128), /* after the key: the document's part in the digest of its side */
    MIN_BITS = 12,
    MISSING = 0 /* the key of a missing `_id`: no other key begins like this */
};

struct finding {
    struct mrsi_compare *c;
    const struct mrsi_compare_pair *pair;
    struct mrs_diff_coll *coll;
    uint64_t *bucket; /* NULL: sort all documents */
    unsigned shift;   /* 64 minus the logarithm of their number */
    uint32_t side;    /* side being read */
    struct mrsi_sorter sorter;
    struct mrs_hash_sum left[2]; /* of documents that did not cancel out */
    struct mrs_buf named;        /* struct compare_docs_named */
};
/* A document to report, on both sides. */
struct compare_docs_named {
    uint64_t ordinal[2]; /* UINT64_MAX: missing */
};
#define NOWHERE UINT64_MAX

/* Writes the key of a document's `_id` to w->scratch; false: out of memory. */
static bool
key_of(struct mrsi_worker *w, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_buf *key = &w->scratch;
    struct mrs_val id = mrs_doc_get(doc, "_id");
    mrs_buf_reset(key);
    if (id.type == MRS_MISSING) {
        mrs_buf_byte(key, MISSING);
    } else {
        mrs_key_append(key, id, false);
    }
    if (!key->bad && key->n > ID_MOST) {
        struct mrs_hash128 h = mrs_hash_secret(&w->en->secret, MRSI_COMPARE_ID, key->p, key->n);
        key->n = ID_MOST;
        mrs_buf_put(key, &h, sizeof h);
    }
    return !key->bad;
}

static uint64_t *
bucket_of(const struct finding *f, const struct mrs_buf *key)
{
    MRS_ASSERT(!f->bucket || (f->shift > 0 && f->shift < 64));
    return f->bucket ? &f->bucket[mrs_hash64(key->p, key->n, f->c->en->secret.seed) >> f->shift] : NULL;
}

static enum mrs_status
nothing_more(void *arg, struct mrsi_read_job *job, struct mrs_err *e)
{
    (void)arg;
    (void)job;
    (void)e;
    return MRS_OK;
}

static enum mrs_status
read_side(struct finding *f, uint32_t side, struct mrsi_reading *r, struct mrs_err *e)
{
    MRS_ASSERT(side < 2);
    f->side = side;
    r->en = f->c->en;
    r->in = f->c->in[side];
    r->index = f->pair->at[side];
    r->checked = true;
    r->arg = f;
    return mrsi_read_all(r, e);
}

/* ---- buckets ---- */
static enum mrs_status
weigh(void *arg, struct mrsi_worker *w, struct mrsi_read_job *job, struct mrs_view doc, uint64_t ordinal,
      struct mrs_err *e)
{
    struct finding *f = arg;
    (void)job;
    (void)ordinal;
    if (!key_of(w, doc)) {
        return mrs_buf_status(&w->scratch, e);
    }
    struct mrs_hash128 h = mrs_hash_secret(&w->en->secret, MRSI_COMPARE_DOC, doc.p, doc.n);
    uint64_t weight = h.lo ^ (h.hi << 32 | h.hi >> 32);
    __atomic_fetch_add(bucket_of(f, &w->scratch), f->side ? 0 - weight : weight, __ATOMIC_RELAXED);
    return MRS_OK;
}

/* Uses a quarter of the memory for buckets, unless all documents can be sorted in another quarter. */
static enum mrs_status
fill_buckets(struct finding *f, struct mrs_err *e)
{
    MRS_ASSERT(f->shift < 64);
    uint64_t docs = f->coll->docs[0].n + f->coll->docs[1].n, share = f->c->memory / 4;
    unsigned bits = MIN_BITS;
    if (docs < share / 120) {
        return MRS_OK;
    }
    while (bits < 40 && (sizeof *f->bucket << (bits + 1)) <= share) {
        bits++;
    }
    f->shift = 64 - bits;
    f->bucket = mrs_zalloc(f->c->en->mem, sizeof *f->bucket << bits);
    MRS_TRY(mrs_allocated(f->bucket, sizeof *f->bucket << bits, e));
    enum mrs_status s = MRS_OK;
    for (uint32_t side = 0; s == MRS_OK && side < 2; side++) {
        struct mrsi_reading r = {.doc = weigh, .block = nothing_more};
        s = read_side(f, side, &r, e);
    }
    return s;
}

/* ---- records ---- */
static enum mrs_status
record(void *arg, struct mrsi_worker *w, struct mrsi_read_job *job, struct mrs_view doc, uint64_t ordinal,
       struct mrs_err *e)
{
    const struct finding *f = arg;
    struct mrs_buf *key = &w->scratch;
    if (!key_of(w, doc)) {
        return mrs_buf_status(key, e);
    }
    const uint64_t *bucket = bucket_of(f, key);
    if (bucket && !*bucket) {
        return MRS_OK;
    }
    struct mrs_hash128 h = mrs_hash_secret(&w->en->secret, MRSI_COMPARE_DOC, doc.p, doc.n);
    uint32_t n = (uint32_t)key->n;
    mrs_buf_put(&job->out, &n, sizeof n);
    mrs_buf_put(&job->out, key->p, n);
    uint8_t *tail = job->out.bad ? NULL : mrs_buf_take(&job->out, TAIL + SUMMED);
    if (!tail) {
        return mrs_buf_status(&job->out, e);
    }
    struct mrs_hash128 summed = mrs_hash_salted(&f->c->salt, doc.p, doc.n);
    mrsi_put_be(tail, mrs_hash(doc.p, doc.n, 0).hi, ORDER_N);
    mrsi_put_be(tail + ORDER_N, h.hi, 8);
    mrsi_put_be(tail + ORDER_N + 8, h.lo, 8);
    tail[HASH_N] = (uint8_t)f->side;
    mrsi_put_be(tail + HASH_N + 1, ordinal, 8);
    memcpy(tail + TAIL, &summed, sizeof summed);
    return MRS_OK;
}

static enum mrs_status
put_records(void *arg, struct mrsi_read_job *job, struct mrs_err *e)
{
    struct finding *f = arg;
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < job->out.n;) {
        uint32_t n;
        memcpy(&n, job->out.p + at, sizeof n);
        const uint8_t *key = job->out.p + at + sizeof n;
        s = mrsi_sorter_put(&f->sorter, key, n + TAIL, key + n + TAIL, SUMMED, e);
        at += sizeof n + n + TAIL + SUMMED;
    }
    return s;
}

/* ---- documents with one `_id` ---- */
struct group {
    struct mrs_buf id;         /* key of the `_id`; empty before the first */
    uint64_t n[2];             /* number of documents left */
    struct mrs_buf left_at[2]; /* positions of the first of them, up to c->limit */
    uint8_t hash[HASH_N];      /* of the current equal documents */
    struct mrs_hash128 summed; /* part of one of these in a digest */
    uint64_t same[2];          /* their number on either side */
    struct mrs_buf same_at[2]; /* positions of the first of them, up to c->limit */
};

static uint64_t
place(const struct mrs_buf *list, uint64_t i)
{
    MRS_ASSERT((i + 1) * sizeof(uint64_t) <= list->n);
    uint64_t at;
    memcpy(&at, list->p + i * sizeof at, sizeof at);
    return at;
}

static uint64_t
places(const struct mrs_buf *list)
{
    MRS_ASSERT(list->n % sizeof(uint64_t) == 0);
    return list->n / sizeof(uint64_t);
}

/* As mrs_buf_reset, but a failure is kept until group_status has reported it. */
static void
empty(struct mrs_buf *b)
{
    b->n = 0;
}

/* Completes a run of equal documents with one `_id`. */
static void
end_same(struct finding *f, struct group *g)
{
    uint32_t side = g->same[1] > g->same[0];
    uint64_t n = g->same[side] - g->same[!side];
    unsigned __int128 h = (unsigned __int128)g->summed.hi << 64 | g->summed.lo;
    h *= n;
    mrs_hash_sum_add(&f->left[side], (uint64_t)h, (uint64_t)(h >> 64));
    for (uint64_t i = 0; i < n && i < places(&g->same_at[side]) && places(&g->left_at[side]) < f->c->limit; i++) {
        uint64_t at = place(&g->same_at[side], i); /* they are equal, so any will do */
        mrs_buf_put(&g->left_at[side], &at, sizeof at);
    }
    g->n[side] += n;
    for (int i = 0; i < 2; i++) {
        g->same[i] = 0;
        empty(&g->same_at[i]);
    }
}

static void
name(struct finding *f, const struct group *g, uint64_t a, uint64_t b)
{
    struct compare_docs_named x = {{NOWHERE, NOWHERE}};
    if (f->named.n / sizeof x < f->c->limit) {
        x.ordinal[0] = a < places(&g->left_at[0]) ? place(&g->left_at[0], a) : NOWHERE;
        x.ordinal[1] = b < places(&g->left_at[1]) ? place(&g->left_at[1], b) : NOWHERE;
        mrs_buf_put(&f->named, &x, sizeof x);
    }
}

/* Completes all documents with one `_id`. Those without an `_id` cannot be paired. */
static void
end_id(struct finding *f, struct group *g)
{
    MRS_ASSERT(!g->same[0] && !g->same[1]);
    struct mrs_diff_coll *coll = f->coll;
    uint64_t pairs = g->n[0] < g->n[1] ? g->n[0] : g->n[1], room = f->c->limit;
    pairs = g->id.n && g->id.p[0] == MISSING ? 0 : pairs;
    coll->changed += pairs;
    for (uint64_t i = 0; i < pairs && i < room; i++) {
        name(f, g, i, i);
    }
    for (uint32_t side = 0; side < 2; side++) {
        coll->only[side] += g->n[side] - pairs;
        for (uint64_t i = pairs; i < g->n[side] && i < room; i++) {
            name(f, g, side ? NOWHERE : i, side ? i : NOWHERE);
        }
        g->n[side] = 0;
        empty(&g->left_at[side]);
    }
}

static void
take_record(struct finding *f, struct group *g, const struct mrsi_sorted *rec)
{
    MRS_ASSERT(rec->key_len >= TAIL && rec->n == SUMMED);
    uint32_t id_n = rec->key_len - TAIL;
    const uint8_t *hash = rec->key + id_n;
    bool same_id = g->id.n == id_n && memcmp(g->id.p, rec->key, id_n) == 0;
    if (!same_id || memcmp(g->hash, hash, HASH_N) != 0) {
        end_same(f, g);
        memcpy(g->hash, hash, HASH_N);
        memcpy(&g->summed, rec->p, SUMMED);
    }
    if (!same_id) {
        end_id(f, g);
        empty(&g->id);
        mrs_buf_put(&g->id, rec->key, id_n);
    }
    uint32_t side = hash[HASH_N];
    uint64_t at = mrsi_get_be(hash + HASH_N + 1, 8);
    g->same[side]++;
    if (places(&g->same_at[side]) < f->c->limit) {
        mrs_buf_put(&g->same_at[side], &at, sizeof at);
    }
}

static enum mrs_status
group_status(const struct finding *f, const struct group *g, struct mrs_err *e)
{
    const struct mrs_buf *all[] = {&g->id,         &g->left_at[0], &g->left_at[1],
                                   &g->same_at[0], &g->same_at[1], &f->named};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i]->bad) {
            return mrs_buf_status(all[i], e);
        }
    }
    return MRS_OK;
}

static enum mrs_status
merge(struct finding *f, struct mrs_err *e)
{
    struct group g = {.n = {0, 0}};
    struct mrs_buf *all[] = {&g.id, &g.left_at[0], &g.left_at[1], &g.same_at[0], &g.same_at[1]};
    struct mrsi_sorted rec;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_init(all[i], f->c->en->mem, SIZE_MAX);
    }
    enum mrs_status s = mrsi_sorter_rewind(&f->sorter, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&f->sorter, &rec, e)) == MRS_OK) {
        take_record(f, &g, &rec);
        s = group_status(f, &g, e);
    }
    if (s == MRS_END) {
        end_same(f, &g);
        end_id(f, &g);
        s = group_status(f, &g, e);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_clear(all[i]);
    }
    return s;
}

static unsigned __int128
less(struct mrs_hash_sum a, struct mrs_hash_sum b)
{
    return ((unsigned __int128)a.hi << 64 | a.lo) - ((unsigned __int128)b.hi << 64 | b.lo);
}

static enum mrs_status
adds_up(const struct finding *f, struct mrs_err *e)
{
    const struct mrs_diff_coll *c = f->coll;
    uint64_t left = c->docs[0].n - c->only[0], right = c->docs[1].n - c->only[1];
    if (left == right && less(f->left[0], f->left[1]) == less(c->docs[0].digest, c->docs[1].digest)) {
        return MRS_OK;
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_IO,
                       "%s: the documents that were found to differ are not the difference of the two sides (did a "
                       "file change while it was read?)",
                       c->ns);
}

/* ---- documents to report ---- */
struct place_of {
    uint64_t ordinal;
    uint32_t named; /* index */
    uint64_t off;   /* in the temporary file; with n: after it was fetched */
    uint32_t n;
};
struct fetch {
    struct mrsi_temp *temp;
    uint64_t bytes;
    struct place_of *at[2]; /* by ordinal, then by index of named */
    uint32_t n[2];
};

static int
by_ordinal(const void *a, const void *b)
{
    const struct place_of *x = a, *y = b;
    return x->ordinal != y->ordinal ? (x->ordinal < y->ordinal ? -1 : 1) : 0;
}

static int
by_named(const void *a, const void *b)
{
    const struct place_of *x = a, *y = b;
    return x->named < y->named ? -1 : x->named > y->named;
}

/* Writes the wanted documents of a block to the file; *next: the next wanted one after the block. */
static enum mrs_status
fetch_block(struct fetch *x, uint32_t side, const struct mrs_block *b, uint32_t *next, struct mrs_err *e)
{
    MRS_ASSERT(side < 2 && *next <= x->n[side]);
    enum mrs_status s = MRS_OK;
    uint64_t ordinal = b->first_doc;
    for (size_t at = 0; s == MRS_OK && at < b->n && *next < x->n[side]; ordinal++) {
        struct place_of *p = &x->at[side][*next];
        uint32_t n = mrs_le32(b->p + at);
        if (p->ordinal == ordinal) {
            p->off = x->bytes;
            p->n = n;
            x->bytes += n;
            s = mrs_write_at(x->temp->fd, b->p + at, n, p->off, e);
            ++*next;
        }
        at += n;
    }
    return s;
}

static enum mrs_status
fetch_side(struct finding *f, struct fetch *x, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(side < 2);
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    uint32_t next = 0;
    mrs_block_init(&b, f->c->en->mem);
    qsort(x->at[side], x->n[side], sizeof **x->at, by_ordinal);
    enum mrs_status s = MRS_OK;
    if (x->n[side]) {
        s = mrs_reader_open(f->c->in[side], f->pair->at[side], MRSI_BLOCK, &r, e);
    }
    while (s == MRS_OK && next < x->n[side] && (s = mrs_reader_next(r, &b, e)) == MRS_OK) {
        s = mrsi_interrupted(f->c->en, e);
        MRS_THEN(s, fetch_block(x, side, &b, &next, e));
    }
    mrs_reader_close(r);
    mrs_block_clear(&b);
    qsort(x->at[side], x->n[side], sizeof **x->at, by_named);
    return s == MRS_END ? mrs_err_set(e, MRS_FAIL, MRS_E_IO, "%s: it became shorter while it was read", f->coll->ns)
                        : s;
}

static enum mrs_status
load(struct finding *f, const struct fetch *x, const struct place_of *p, uint8_t **bytes, struct mrs_err *e)
{
    *bytes = mrs_alloc(f->c->en->mem, p->n);
    return *bytes ? mrs_read_at(x->temp->fd, *bytes, p->n, p->off, e) : mrs_err_memory(e, p->n);
}

/* One row of the report; p: its documents, NULL if missing on that side. */
static enum mrs_status
describe(struct finding *f, const struct fetch *x, const struct place_of *const p[2], struct mrs_err *e)
{
    MRS_ASSERT(p[0] || p[1]);
    struct mrs_diff_doc *d = &f->coll->doc[f->coll->n_doc++];
    struct mrs_arena *arena = &f->c->out->arena;
    uint8_t *bytes[2] = {NULL, NULL};
    struct mrs_view doc[2];
    enum mrs_status s = MRS_OK;
    memset(d, 0, sizeof *d);
    d->kind = !p[1] ? MRS_DIFF_ONLY_A : !p[0] ? MRS_DIFF_ONLY_B : MRS_DIFF_CHANGED;
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        if (p[i]) {
            s = load(f, x, p[i], &bytes[i], e);
            doc[i] = (struct mrs_view){bytes[i], p[i]->n};
            d->no[i] = p[i]->ordinal + 1;
        }
    }
    if (s == MRS_OK) {
        struct mrs_val id = mrs_doc_get(doc[p[0] ? 0 : 1], "_id");
        d->id = id.type == MRS_MISSING ? NULL : mrsi_compare_text(arena, id);
        s = id.type != MRS_MISSING && !d->id ? mrs_err_memory(e, id.n) : MRS_OK;
    }
    if (s == MRS_OK && d->kind == MRS_DIFF_CHANGED) {
        s = mrsi_compare_values(arena, doc[0], doc[1], d, e);
    }
    mrs_free(f->c->en->mem, bytes[0]);
    mrs_free(f->c->en->mem, bytes[1]);
    return s;
}

static enum mrs_status
fetch_named(struct finding *f, struct fetch *x, uint32_t n, struct mrs_err *e)
{
    struct mrs_mem *mem = f->c->en->mem;
    f->coll->doc = mrs_arena_alloc(&f->c->out->arena, n * sizeof *f->coll->doc);
    x->at[0] = mrs_zalloc(mem, n * sizeof **x->at);
    x->at[1] = mrs_zalloc(mem, n * sizeof **x->at);
    if (!f->coll->doc || !x->at[0] || !x->at[1]) {
        return mrs_err_memory(e, n * sizeof *f->coll->doc);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct compare_docs_named one;
        memcpy(&one, f->named.p + i * sizeof one, sizeof one);
        for (uint32_t side = 0; side < 2; side++) {
            if (one.ordinal[side] != NOWHERE) {
                x->at[side][x->n[side]++] = (struct place_of){one.ordinal[side], i, 0, 0};
            }
        }
    }
    enum mrs_status s = mrsi_temp_new(f->c->en, &x->temp, e);
    MRS_THEN(s, fetch_side(f, x, 0, e));
    return s == MRS_OK ? fetch_side(f, x, 1, e) : s;
}

static enum mrs_status
describe_all(struct finding *f, struct mrs_err *e)
{
    struct fetch x = {.bytes = 0};
    uint32_t n = (uint32_t)(f->named.n / sizeof(struct compare_docs_named)), next[2] = {0, 0};
    enum mrs_status s = n ? fetch_named(f, &x, n, e) : MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        const struct place_of *p[2];
        for (uint32_t side = 0; side < 2; side++) {
            bool has = next[side] < x.n[side] && x.at[side][next[side]].named == i;
            p[side] = has ? &x.at[side][next[side]++] : NULL;
        }
        s = describe(f, &x, p, e);
    }
    mrs_free(f->c->en->mem, x.at[0]);
    mrs_free(f->c->en->mem, x.at[1]);
    mrsi_temp_drop(f->c->en, x.temp);
    return s;
}

enum mrs_status
mrsi_compare_docs(struct mrsi_compare *c, const struct mrsi_compare_pair *pair, struct mrs_diff_coll *coll,
                  struct mrs_err *e)
{
    struct finding f = {.c = c, .pair = pair, .coll = coll};
    mrs_buf_init(&f.named, c->en->mem, SIZE_MAX);
    mrsi_sorter_init(&f.sorter, c->en, c->memory / 4);
    enum mrs_status s = fill_buckets(&f, e);
    for (uint32_t side = 0; s == MRS_OK && side < 2; side++) {
        struct mrsi_reading r = {.doc = record, .block = put_records};
        s = read_side(&f, side, &r, e);
    }
    mrs_free(c->en->mem, f.bucket);
    MRS_THEN(s, merge(&f, e));
    MRS_THEN(s, adds_up(&f, e));
    mrsi_sorter_clear(&f.sorter);
    MRS_THEN(s, describe_all(&f, e));
    mrs_buf_clear(&f.named);
    return s;
}
