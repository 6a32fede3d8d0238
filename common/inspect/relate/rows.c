/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - sorted rows; see rows.h.
 *
 * The first key is a hash, so its first bits cut a buffer into short buckets: sorting takes one pass and a little. */
#include "rows.h"
#include <stdlib.h>
#include <unistd.h>

enum { LEAST = 1024 };

void
mrsi_row_store_begin(struct mrsi_row_store *s, struct mrs_mem *mem, const char *tmp, uint64_t memory)
{
    memset(s, 0, sizeof *s);
    s->mem = mem;
    s->tmp = tmp;
    s->memory = memory;
    s->fd = -1;
    pthread_mutex_init(&s->lock, NULL);
}

void
mrsi_row_store_end(struct mrsi_row_store *s)
{
    if (s->fd >= 0) {
        close(s->fd);
    }
    pthread_mutex_destroy(&s->lock);
}

void
mrsi_rowset_begin(struct mrsi_rowset *r, struct mrsi_row_store *store, uint32_t keys, uint64_t bytes)
{
    memset(r, 0, sizeof *r);
    r->store = store;
    r->keys = keys;
    r->most = bytes / sizeof *r->buf;
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
        r->store->kept -= r->cap * sizeof *r->buf;
    }
    mrs_free(r->store->mem, r->buf);
    mrs_free(r->store->mem, r->run);
    pthread_mutex_destroy(&r->lock);
    memset(r, 0, sizeof *r);
}

static int
compare(const struct mrsi_hash_row *a, const struct mrsi_hash_row *b)
{
    for (int i = 0; i < MRSI_ROW_KEYS; i++) {
        if (a->key[i] != b->key[i]) {
            return a->key[i] < b->key[i] ? -1 : 1;
        }
    }
    return 0;
}

static int
by_keys(const void *a, const void *b)
{
    return compare(a, b);
}

static void
sort_few(struct mrsi_hash_row *p, uint64_t n)
{
    if (n > 24) {
        qsort(p, n, sizeof *p, by_keys);
        return;
    }
    for (uint64_t i = 1; i < n; i++) {
        struct mrsi_hash_row x = p[i];
        uint64_t k = i;
        for (; k > 0 && compare(&x, &p[k - 1]) < 0; k--) {
            p[k] = p[k - 1];
        }
        p[k] = x;
    }
}

/* Equal rows become one. */
static uint64_t
collapse(struct mrsi_hash_row *p, uint64_t n)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (k && compare(&p[k - 1], &p[i]) == 0) {
            p[k - 1].count += p[i].count;
        } else {
            p[k++] = p[i];
        }
    }
    return k;
}

/* Sorts the buffer into another one of the same size, which takes its place. */
static enum mrs_status
sort(struct mrsi_rowset *r, struct mrs_err *e)
{
    struct mrs_mem *mem = r->store->mem;
    uint32_t bits = 1;
    while (bits < 18 && (8ull << bits) < r->n) {
        bits++;
    }
    uint64_t buckets = 1ull << bits;
    struct mrsi_hash_row *to = mrs_alloc_array(mem, r->n + 1, sizeof *to);
    uint64_t *start = mrs_zalloc(mem, (buckets + 2) * sizeof *start);
    if (!to || !start) {
        mrs_free(mem, to);
        mrs_free(mem, start);
        return mrs_err_memory(e, r->n * sizeof *to);
    }
    for (uint64_t i = 0; i < r->n; i++) {
        start[(r->buf[i].key[0] >> (64 - bits)) + 2]++;
    }
    for (uint64_t i = 1; i <= buckets; i++) {
        start[i + 1] += start[i];
    }
    for (uint64_t i = 0; i < r->n; i++) {
        to[start[(r->buf[i].key[0] >> (64 - bits)) + 1]++] = r->buf[i];
    }
    for (uint64_t i = 0; i < buckets; i++) {
        sort_few(to + start[i], start[i + 1] - start[i]);
    }
    mrs_free(mem, start);
    mrs_free(mem, r->buf);
    r->buf = to;
    r->cap = r->n + 1;
    r->n = collapse(to, r->n);
    return MRS_OK;
}

/* Appends n rows to the file. */
static enum mrs_status
append(struct mrsi_row_store *s, const struct mrsi_hash_row *p, uint64_t n, uint64_t *off, struct mrs_err *e)
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
    struct mrsi_row_run *more = mrs_more(r->store->mem, r->run, r->runs, &r->run_cap, sizeof *r->run);
    if (!more) {
        return mrs_err_memory(e, sizeof *more);
    }
    r->run = more;
    r->run[r->runs] = (struct mrsi_row_run){0, r->n};
    enum mrs_status s = append(r->store, r->buf, r->n, &r->run[r->runs].off, e);
    r->runs++;
    r->n = 0;
    return s;
}

static enum mrs_status
make_room(struct mrsi_rowset *r, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (r->cap >= r->most) { /* equal rows may make room enough */
        s = sort(r, e);
        if (s == MRS_OK && r->n * 2 > r->most) {
            s = spill(r, e);
        }
    }
    uint64_t want = r->cap ? r->cap * 2 : LEAST;
    want = want < r->most ? want : r->most;
    if (s == MRS_OK && want > r->cap) {
        struct mrsi_hash_row *more = mrs_realloc(r->store->mem, r->buf, want * sizeof *more);
        if (!more) {
            return mrs_err_memory(e, want * sizeof *more);
        }
        r->buf = more;
        r->cap = want;
    }
    return s;
}

enum mrs_status
mrsi_rowset_put(struct mrsi_rowset *r, const struct mrsi_hash_row *row, uint32_t n, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        if (r->n == r->cap) {
            s = make_room(r, e);
        }
        if (s == MRS_OK) {
            r->buf[r->n++] = row[i];
        }
    }
    pthread_mutex_unlock(&r->lock);
    return s;
}

/* ---- reading a run, and merging several ---- */
struct merged {
    struct mrsi_hash_row *ahead;
    uint32_t at, n;
    uint64_t off, left;
};

static enum mrs_status
fill(const struct mrsi_rowset *r, struct merged *m, uint32_t most, struct mrs_err *e)
{
    m->at = 0;
    m->n = m->left < most ? (uint32_t)m->left : most;
    enum mrs_status s = m->n ? mrs_read_at(r->store->fd, m->ahead, m->n * sizeof *m->ahead, m->off, e) : MRS_OK;
    m->off += m->n * sizeof *m->ahead;
    m->left -= m->n;
    return s;
}

static struct merged *
least(struct merged *m, uint32_t n)
{
    struct merged *best = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (m[i].at < m[i].n && (!best || compare(&m[i].ahead[m[i].at], &best->ahead[best->at]) < 0)) {
            best = &m[i];
        }
    }
    return best;
}

/* All runs become one, which is written behind them. */
static enum mrs_status
merge(struct mrsi_rowset *r, struct mrs_err *e)
{
    struct mrs_mem *mem = r->store->mem;
    uint32_t each = (uint32_t)(r->most / (r->runs + 1)), n = 0;
    each = each < 64 ? 64 : each;
    struct merged *m = mrs_zalloc(mem, r->runs * sizeof *m);
    struct mrsi_hash_row *room = mrs_alloc_array(mem, (size_t)each * (r->runs + 1), sizeof *room);
    struct mrsi_hash_row *out = room;
    struct mrsi_row_run whole = {UINT64_MAX, 0};
    enum mrs_status s = m && room ? MRS_OK : mrs_err_memory(e, (size_t)each * sizeof *room);
    for (uint32_t i = 0; s == MRS_OK && i < r->runs; i++) {
        m[i].ahead = room + (size_t)each * (i + 1);
        m[i].off = r->run[i].off;
        m[i].left = r->run[i].rows;
        s = fill(r, &m[i], each, e);
    }
    struct merged *x;
    while (s == MRS_OK && (x = least(m, r->runs)) != NULL) {
        struct mrsi_hash_row row = x->ahead[x->at++];
        if (n && compare(&out[n - 1], &row) == 0) {
            out[n - 1].count += row.count;
        } else {
            if (n == each) { /* the last row may still grow */
                uint64_t off;
                s = append(r->store, out, n - 1, &off, e);
                whole.off = whole.off == UINT64_MAX ? off : whole.off;
                whole.rows += n - 1;
                out[0] = out[n - 1];
                n = 1;
            }
            out[n++] = row;
        }
        if (s == MRS_OK && x->at == x->n && x->left) {
            s = fill(r, x, each, e);
        }
    }
    if (s == MRS_OK) {
        uint64_t off;
        s = append(r->store, out, n, &off, e);
        whole.off = whole.off == UINT64_MAX ? off : whole.off;
        whole.rows += n;
        r->run[0] = whole;
        r->runs = 1;
    }
    mrs_free(mem, m);
    mrs_free(mem, room);
    return s;
}

enum mrs_status
mrsi_rowset_seal(struct mrsi_rowset *r, struct mrs_err *e)
{
    enum mrs_status s = r->n ? sort(r, e) : MRS_OK;
    struct mrsi_row_store *store = r->store;
    if (s == MRS_OK && r->runs == 0 && store->kept + r->cap * sizeof *r->buf <= store->memory) {
        store->kept += r->cap * sizeof *r->buf;
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
    struct mrsi_rowset_at c;
    const struct mrsi_hash_row *row;
    mrsi_rowset_read(&c, r);
    while (s == MRS_OK && (row = mrsi_rowset_next(&c, &s, e)) != NULL) {
        r->count += row->count;
    }
    return s;
}

void
mrsi_rowset_read(struct mrsi_rowset_at *c, const struct mrsi_rowset *r)
{
    c->of = r;
    c->next = 0;
    c->at = c->n = 0;
}

const struct mrsi_hash_row *
mrsi_rowset_next(struct mrsi_rowset_at *c, enum mrs_status *s, struct mrs_err *e)
{
    const struct mrsi_rowset *r = c->of;
    if (r->buf) {
        return c->next < r->n ? &r->buf[c->next++] : NULL;
    }
    if (c->at == c->n) {
        uint64_t left = r->total - c->next;
        c->n = left < MRSI_ROWS_AHEAD ? (uint32_t)left : MRSI_ROWS_AHEAD;
        c->at = 0;
        if (c->n == 0) {
            return NULL;
        }
        *s = mrs_read_at(r->store->fd, c->ahead, c->n * sizeof *c->ahead, r->run[0].off + c->next * sizeof *c->ahead,
                         e);
        if (*s != MRS_OK) {
            return NULL;
        }
        c->next += c->n;
    }
    return &c->ahead[c->at++];
}
