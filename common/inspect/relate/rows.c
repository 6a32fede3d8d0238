/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - sorted rows; see rows.h.
 *
 * The first key is a hash, so its first bits split a buffer into short buckets: sorting takes little more than one
 * pass. */
#include "rows.h"
#include <stdlib.h>
#include <unistd.h>

enum { LEAST = 1024, FEW = 48 };

void
mrsi_row_store_begin(struct mrsi_row_store *s, struct mrs_mem *mem, const char *tmp, uint64_t memory,
                     const int *cancel)
{
    MRS_ASSERT(mem);
    memset(s, 0, sizeof *s);
    s->mem = mem;
    s->tmp = tmp;
    s->memory = memory;
    s->cancel = cancel;
    s->fd = -1;
    pthread_mutex_init(&s->lock, NULL);
}

enum mrs_status
mrsi_check_cancel(const struct mrsi_row_store *s, struct mrs_err *e)
{
    MRS_ASSERT(s->mem);
    bool cancelled = s->cancel && __atomic_load_n(s->cancel, __ATOMIC_RELAXED);
    return cancelled ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted") : MRS_OK;
}

void
mrsi_row_store_end(struct mrsi_row_store *s)
{
    if (s->fd >= 0) {
        close(s->fd);
    }
    pthread_mutex_destroy(&s->lock);
}

static uint32_t
width(const struct mrsi_rowset *r)
{
    return r->keys + 1;
}

void
mrsi_rowset_begin(struct mrsi_rowset *r, struct mrsi_row_store *store, uint32_t keys, uint64_t bytes)
{
    MRS_ASSERT(keys > 0 && keys <= MRSI_ROW_KEYS);
    memset(r, 0, sizeof *r);
    r->store = store;
    r->keys = keys;
    r->most = bytes / (width(r) * sizeof *r->buf);
    r->most = r->most < LEAST ? LEAST : r->most;
    pthread_mutex_init(&r->lock, NULL);
}

void
mrsi_rowset_end(struct mrsi_rowset *r)
{
    if (!r->store) {
        return;
    }
    if (r->sealed && r->buf) {
        r->store->kept -= r->cap * width(r) * sizeof *r->buf;
    }
    mrs_free(r->store->mem, r->buf);
    mrs_free(r->store->mem, r->run);
    pthread_mutex_destroy(&r->lock);
    memset(r, 0, sizeof *r);
}

/* Rows are short: a call of memcpy costs more than the copy. */
static inline void
copy_row(uint64_t *to, const uint64_t *from, uint32_t w)
{
    to[0] = from[0];
    to[1] = from[1];
    if (w > 2) {
        to[2] = from[2];
    }
    if (w > 3) {
        to[3] = from[3];
    }
}

static int
compare(const uint64_t *a, const uint64_t *b, uint32_t keys)
{
    for (uint32_t i = 0; i < keys; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static int
by_one(const void *a, const void *b)
{
    return compare(a, b, 1);
}

static int
by_two(const void *a, const void *b)
{
    return compare(a, b, 2);
}

static int
by_three(const void *a, const void *b)
{
    return compare(a, b, 3);
}

/* Merges equal rows. */
static uint64_t
collapse(uint64_t *p, uint64_t n, uint32_t keys)
{
    uint32_t w = keys + 1;
    uint64_t k = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (k && compare(p + (k - 1) * w, p + i * w, keys) == 0) {
            p[k * w - 1] += p[i * w + keys];
        } else {
            memmove(p + k++ * w, p + i * w, w * sizeof *p);
        }
    }
    return k;
}

/* A bucket mostly has few different rows, and may have many equal ones: merges them. Returns the number of rows
 * left. */
static uint64_t
sort_few(uint64_t *p, uint64_t n, uint32_t keys)
{
    MRS_ASSERT(p || n == 0);
    static int (*const by[])(const void *, const void *) = {by_one, by_one, by_two, by_three};
    uint32_t w = keys + 1;
    uint64_t x[MRSI_ROW_KEYS + 1], kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t k = kept;
        int d = 1;
        while (k > 0 && (d = compare(p + i * w, p + (k - 1) * w, keys)) < 0) {
            k--;
        }
        if (k > 0 && d == 0) {
            p[k * w - 1] += p[i * w + keys];
            continue;
        }
        if (kept == FEW) { /* more than expected in a bucket */
            memmove(p + kept * w, p + i * w, (n - i) * w * sizeof *p);
            kept += n - i;
            qsort(p, kept, w * sizeof *p, by[keys]);
            return collapse(p, kept, keys);
        }
        copy_row(x, p + i * w, w);
        for (uint64_t at = kept; at > k; at--) {
            copy_row(p + at * w, p + (at - 1) * w, w);
        }
        copy_row(p + k * w, x, w);
        kept++;
    }
    return kept;
}

/* Sorts the buffer into another one of the same size, which replaces it. */
static enum mrs_status
sort(struct mrsi_rowset *r, struct mrs_err *e)
{
    MRS_ASSERT(r->n <= r->cap);
    struct mrs_mem *mem = r->store->mem;
    uint32_t bits = 1;
    while (bits < 18 && (8ull << bits) < r->n) {
        bits++;
    }
    uint64_t buckets = 1ull << bits;
    uint32_t w = width(r);
    uint64_t *to = mrs_alloc_array(mem, r->n + 1, w * sizeof *to);
    uint64_t *start = mrs_zalloc(mem, (buckets + 2) * sizeof *start);
    if (!to || !start) {
        mrs_free(mem, to);
        mrs_free(mem, start);
        return mrs_err_memory(e, r->n * w * sizeof *to);
    }
    for (uint64_t i = 0; i < r->n; i++) {
        start[(r->buf[i * w] >> (64 - bits)) + 2]++;
    }
    for (uint64_t i = 1; i <= buckets; i++) {
        start[i + 1] += start[i];
    }
    for (uint64_t i = 0; i < r->n; i++) {
        copy_row(to + start[(r->buf[i * w] >> (64 - bits)) + 1]++ * w, r->buf + i * w, w);
    }
    uint64_t kept = 0;
    for (uint64_t i = 0; i < buckets; i++) {
        uint64_t n = sort_few(to + start[i] * w, start[i + 1] - start[i], r->keys);
        for (uint64_t k = 0; k < n; k++) {
            copy_row(to + kept++ * w, to + (start[i] + k) * w, w);
        }
    }
    mrs_free(mem, start);
    mrs_free(mem, r->buf);
    r->buf = to;
    r->cap = r->n + 1;
    r->n = kept;
    return MRS_OK;
}

/* Appends n words to the file. */
static enum mrs_status
append(struct mrsi_row_store *s, const uint64_t *p, uint64_t n, uint64_t *off, struct mrs_err *e)
{
    pthread_mutex_lock(&s->lock);
    enum mrs_status st = s->fd < 0 ? mrs_temp_open(s->tmp, &s->fd, e) : MRS_OK;
    *off = s->end;
    s->end += n * sizeof *p;
    pthread_mutex_unlock(&s->lock);
    return st == MRS_OK ? mrs_write_at(s->fd, p, n * sizeof *p, *off, e) : st;
}

static enum mrs_status
spill(struct mrsi_rowset *r, struct mrs_err *e)
{
    MRS_ASSERT(r->n > 0 && r->runs <= r->run_cap);
    struct mrsi_row_run *more = mrs_more(r->store->mem, r->run, r->runs, &r->run_cap, sizeof *r->run);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    r->run = more;
    r->run[r->runs] = (struct mrsi_row_run){0, r->n};
    enum mrs_status s = append(r->store, r->buf, r->n * width(r), &r->run[r->runs].off, e);
    r->runs++;
    r->n = 0;
    return s;
}

static enum mrs_status
make_room(struct mrsi_rowset *r, struct mrs_err *e)
{
    MRS_ASSERT(r->n <= r->cap);
    enum mrs_status s = MRS_OK;
    if (r->cap >= r->most) { /* merging equal rows may free enough space */
        s = sort(r, e);
        if (s == MRS_OK && r->n * 2 > r->most) {
            s = spill(r, e);
        }
    }
    uint64_t new_cap = r->cap ? r->cap * 2 : LEAST;
    new_cap = new_cap < r->most ? new_cap : r->most;
    if (s == MRS_OK && new_cap > r->cap) {
        uint64_t *more = mrs_realloc(r->store->mem, r->buf, new_cap * width(r) * sizeof *more);
        MRS_TRY(mrs_allocated(more, new_cap * width(r) * sizeof *more, e));
        r->buf = more;
        r->cap = new_cap;
    }
    return s;
}

enum mrs_status
mrsi_rowset_put(struct mrsi_rowset *r, const struct mrsi_hash_row *row, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(!r->sealed && (row || n == 0));
    enum mrs_status s = MRS_OK;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        if (r->n == r->cap) {
            s = make_room(r, e);
        }
        if (s == MRS_OK) {
            uint64_t *to = r->buf + r->n++ * width(r);
            /* with one key one word too many, in the place of the count */
            copy_row(to, row[i].key, r->keys < 2 ? 2 : r->keys);
            to[r->keys] = row[i].count;
            r->count += row[i].count;
        }
    }
    pthread_mutex_unlock(&r->lock);
    return s;
}

/* ---- reading a run, and merging several ---- */
struct merged {
    uint64_t *ahead;
    uint32_t at, n; /* rows */
    uint64_t off, left;
};
struct merging {
    struct mrsi_rowset *r;
    struct merged *run;
    uint64_t *out;
    uint32_t n, each; /* rows in out; rows in one part of the room */
    struct mrsi_row_run whole;
};

static enum mrs_status
fill(const struct merging *g, struct merged *m, struct mrs_err *e)
{
    size_t row = width(g->r) * sizeof *m->ahead;
    m->at = 0;
    m->n = m->left < g->each ? (uint32_t)m->left : g->each;
    enum mrs_status s = mrsi_check_cancel(g->r->store, e);
    s = s == MRS_OK && m->n ? mrs_read_at(g->r->store->fd, m->ahead, m->n * row, m->off, e) : s;
    m->off += m->n * row;
    m->left -= m->n;
    return s;
}

static struct merged *
least(const struct merging *g)
{
    struct merged *best = NULL;
    uint32_t w = width(g->r);
    for (struct merged *m = g->run; m < g->run + g->r->runs; m++) {
        if (m->at < m->n && (!best || compare(m->ahead + m->at * w, best->ahead + best->at * w, g->r->keys) < 0)) {
            best = m;
        }
    }
    return best;
}

/* Writes the first `rows` of the output. */
static enum mrs_status
put_out(struct merging *g, uint32_t rows, struct mrs_err *e)
{
    uint64_t off;
    enum mrs_status s = append(g->r->store, g->out, (uint64_t)rows * width(g->r), &off, e);
    g->whole.off = g->whole.off == UINT64_MAX ? off : g->whole.off;
    g->whole.rows += rows;
    return s;
}

static enum mrs_status
one_row(struct merging *g, const uint64_t *row, struct mrs_err *e)
{
    MRS_ASSERT(g->n <= g->each);
    uint32_t w = width(g->r), keys = g->r->keys;
    enum mrs_status s = MRS_OK;
    if (g->n && compare(g->out + (g->n - 1) * w, row, keys) == 0) {
        g->out[g->n * w - 1] += row[keys];
        return s;
    }
    if (g->n == g->each) { /* the last row may still grow */
        s = put_out(g, g->n - 1, e);
        memcpy(g->out, g->out + (g->n - 1) * w, w * sizeof *row);
        g->n = 1;
    }
    memcpy(g->out + g->n++ * w, row, w * sizeof *row);
    return s;
}

/* Merges all runs into one, written after them. */
static enum mrs_status
merge(struct mrsi_rowset *r, struct mrs_err *e)
{
    struct mrs_mem *mem = r->store->mem;
    struct merging g = {.r = r, .each = (uint32_t)(r->most / (r->runs + 1)), .whole = {UINT64_MAX, 0}};
    g.each = g.each < 64 ? 64 : g.each;
    size_t part = (size_t)g.each * width(r);
    g.run = mrs_zalloc(mem, r->runs * sizeof *g.run);
    g.out = mrs_alloc_array(mem, part * (r->runs + 1), sizeof *g.out);
    enum mrs_status s = g.run && g.out ? MRS_OK : mrs_err_memory(e, part * sizeof *g.out);
    for (uint32_t i = 0; s == MRS_OK && i < r->runs; i++) {
        g.run[i] = (struct merged){.ahead = g.out + part * (i + 1), .off = r->run[i].off, .left = r->run[i].rows};
        s = fill(&g, &g.run[i], e);
    }
    struct merged *x;
    while (s == MRS_OK && (x = least(&g)) != NULL) {
        s = one_row(&g, x->ahead + x->at++ * width(r), e);
        if (s == MRS_OK && x->at == x->n && x->left) {
            s = fill(&g, x, e);
        }
    }
    MRS_THEN(s, put_out(&g, g.n, e));
    if (s == MRS_OK) {
        r->run[0] = g.whole;
        r->runs = 1;
    }
    mrs_free(mem, g.run);
    mrs_free(mem, g.out);
    return s;
}

enum mrs_status
mrsi_rowset_seal(struct mrsi_rowset *r, struct mrs_err *e)
{
    MRS_ASSERT(!r->sealed);
    enum mrs_status s = r->n ? sort(r, e) : MRS_OK;
    struct mrsi_row_store *store = r->store;
    if (s == MRS_OK && r->runs == 0 && store->kept + r->cap * width(r) * sizeof *r->buf <= store->memory) {
        store->kept += r->cap * width(r) * sizeof *r->buf;
        r->total = r->n;
    } else if (s == MRS_OK) {
        s = r->n ? spill(r, e) : MRS_OK;
        mrs_free(store->mem, r->buf);
        r->buf = NULL;
        r->cap = r->n = 0;
        MRS_THEN(s, r->runs > 1 ? merge(r, e) : MRS_OK);
        r->total = r->runs ? r->run[0].rows : 0;
    }
    r->sealed = true;
    return s;
}

void
mrsi_rowset_read(struct mrsi_rowset_at *c, const struct mrsi_rowset *r)
{
    MRS_ASSERT(r->sealed);
    memset(&c->row, 0, sizeof c->row);
    c->of = r;
    c->next = 0;
    c->at = c->n = 0;
}

static enum mrs_status
read_ahead(struct mrsi_rowset_at *c, struct mrs_err *e)
{
    const struct mrsi_rowset *r = c->of;
    uint64_t left = r->total - c->next, room = MRSI_WORDS_AHEAD / width(r);
    size_t row = width(r) * sizeof *c->ahead;
    c->n = (uint32_t)(left < room ? left : room);
    c->at = 0;
    enum mrs_status s = mrsi_check_cancel(r->store, e);
    MRS_THEN(s, mrs_read_at(r->store->fd, c->ahead, c->n * row, r->run[0].off + c->next * row, e));
    c->next += c->n;
    return s;
}

const struct mrsi_hash_row *
mrsi_rowset_next(struct mrsi_rowset_at *c, enum mrs_status *s, struct mrs_err *e)
{
    MRS_ASSERT(c->of && c->at <= c->n);
    const struct mrsi_rowset *r = c->of;
    const uint64_t *p;
    if (r->buf) {
        if (c->next == r->n) {
            return NULL;
        }
        p = r->buf + c->next++ * width(r);
    } else {
        if (c->at == c->n) {
            if (c->next == r->total || (*s = read_ahead(c, e)) != MRS_OK) {
                return NULL;
            }
        }
        p = c->ahead + c->at++ * width(r);
    }
    memcpy(c->row.key, p, r->keys * sizeof *p);
    c->row.count = p[r->keys];
    return &c->row;
}
