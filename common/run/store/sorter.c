/* SPDX-License-Identifier: Apache-2.0 */
/* sorter.c - an external merge sort; see sorter.h. */
#include "state.h"
#include "sorter.h"
#include <stdlib.h>

struct sorter_head {
    uint32_t key_len, n;
};
struct sorter_run {
    uint64_t off, bytes;
};
struct mrsi_run_at {
    uint64_t off, end;   /* the unread range of the file */
    uint8_t *p;
    size_t n, cap, pos;  /* read buffer; pos: current record */
};

void
mrsi_put_be(uint8_t *p, uint64_t v, int bytes)
{
    MRS_ASSERT(bytes > 0 && bytes <= 8);
    for (int i = 0; i < bytes; i++) {
        p[i] = (uint8_t)(v >> (8 * (bytes - 1 - i)));
    }
}

uint64_t
mrsi_get_be(const uint8_t *p, int bytes)
{
    MRS_ASSERT(bytes > 0 && bytes <= 8);
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) {
        v = v << 8 | p[i];
    }
    return v;
}

void
mrsi_sorter_init(struct mrsi_sorter *s, struct mrsi_engine *en, uint64_t limit)
{
    memset(s, 0, sizeof *s);
    s->en = en;
    s->limit = limit < 4096 ? 4096 : limit;
    mrs_buf_init(&s->recs, en->mem, SIZE_MAX);
    mrs_buf_init(&s->index, en->mem, SIZE_MAX);
    mrs_buf_init(&s->runs, en->mem, SIZE_MAX);
    mrs_buf_init(&s->from, en->mem, SIZE_MAX);
}

static void
drop_windows(struct mrsi_sorter *s)
{
    for (uint32_t i = 0; i < s->n_at; i++) {
        mrs_free(s->en->mem, s->at[i].p);
    }
    mrs_free(s->en->mem, s->at);
    mrs_free(s->en->mem, s->heap);
    s->at = NULL;
    s->heap = NULL;
    s->n_at = s->n_heap = 0;
}

void
mrsi_sorter_clear(struct mrsi_sorter *s)
{
    if (s->en) {
        drop_windows(s);
        mrs_buf_clear(&s->recs);
        mrs_buf_clear(&s->index);
        mrs_buf_clear(&s->runs);
        mrs_buf_clear(&s->from);
        mrsi_temp_drop(s->en, s->temp);
        memset(s, 0, sizeof *s);
    }
}

static struct mrsi_sorted
at(const uint8_t *rec)
{
    struct sorter_head h;
    memcpy(&h, rec, sizeof h);
    struct mrsi_sorted r = {rec + sizeof h, rec + sizeof h + h.key_len, h.key_len, h.n};
    return r;
}

static int
compare(const uint8_t *a, const uint8_t *b)
{
    struct mrsi_sorted x = at(a), y = at(b);
    int c = memcmp(x.key, y.key, x.key_len < y.key_len ? x.key_len : y.key_len);
    return c ? c : x.key_len < y.key_len ? -1 : x.key_len > y.key_len;
}

static int
by_key(const void *pa, const void *pb, void *arg)
{
    size_t a, b;
    memcpy(&a, pa, sizeof a);
    memcpy(&b, pb, sizeof b);
    int c = compare((const uint8_t *)arg + a, (const uint8_t *)arg + b);
    return c ? c : a < b ? -1 : a > b;
}

static void
sort_index(struct mrsi_sorter *s)
{
    bool sorted = true;
    for (size_t i = sizeof(size_t); sorted && i < s->index.n; i += sizeof(size_t)) {
        sorted = by_key(s->index.p + i - sizeof(size_t), s->index.p + i, s->recs.p) < 0;
    }
    if (!sorted) {
        qsort_r(s->index.p, s->index.n / sizeof(size_t), sizeof(size_t), by_key, s->recs.p);
    }
}

static size_t
rec_bytes(const uint8_t *rec)
{
    struct sorter_head h;
    memcpy(&h, rec, sizeof h);
    return sizeof h + h.key_len + h.n;
}

static enum mrs_status
open_file(struct mrsi_sorter *s, struct mrs_err *e)
{
    if (s->temp) {
        return MRS_OK;
    }
    enum mrs_status st = s->kept ? mrsi_ckpt_temp(s->en, &s->temp, e) : mrsi_temp_new(s->en, &s->temp, e);
    if (st == MRS_OK) {
        s->temp->aside = s->aside;
    }
    return st;
}

/* Appends the records in memory to the file, in the order of the index. */
static enum mrs_status
write_records(struct mrsi_sorter *s, struct mrs_err *e)
{
    struct mrs_buf out;
    enum mrs_status st = open_file(s, e);
    mrs_buf_init(&out, s->en->mem, SIZE_MAX);
    for (size_t i = 0; st == MRS_OK && i < s->index.n; i += sizeof(size_t)) {
        size_t off;
        memcpy(&off, s->index.p + i, sizeof off);
        mrs_buf_put(&out, s->recs.p + off, rec_bytes(s->recs.p + off));
        bool last = i + sizeof(size_t) == s->index.n;
        if (out.bad) {
            st = mrs_buf_status(&out, e);
        } else if (out.n > MRSI_BLOCK || last) {
            st = mrsi_temp_append(s->temp, out.p, out.n, s->bytes, e);
            s->bytes += out.n;
            mrs_buf_reset(&out);
        }
    }
    mrs_buf_clear(&out);
    return st;
}

static enum mrs_status
write_run(struct mrsi_sorter *s, struct mrs_err *e)
{
    struct sorter_run run = {s->bytes, 0};
    sort_index(s);
    enum mrs_status st = write_records(s, e);
    run.bytes = s->bytes - run.off;
    mrs_buf_put(&s->runs, &run, sizeof run);
    mrs_buf_reset(&s->recs);
    mrs_buf_reset(&s->index);
    return st == MRS_OK ? mrs_buf_status(&s->runs, e) : st;
}

enum mrs_status
mrsi_sorter_put(struct mrsi_sorter *s, const void *key, uint32_t key_len, const void *p, uint32_t n, struct mrs_err *e)
{
    struct sorter_head h = {key_len, n};
    size_t off = s->recs.n;
    mrs_buf_put(&s->recs, &h, sizeof h);
    mrs_buf_put(&s->recs, key, key_len);
    mrs_buf_put(&s->recs, p, n);
    mrs_buf_put(&s->index, &off, sizeof off);
    if (s->recs.bad || s->index.bad) {
        return mrs_err_memory(e, s->recs.n);
    }
    return s->recs.n + s->index.n > s->limit ? write_run(s, e) : MRS_OK;
}

enum mrs_status
mrsi_sorter_cut(struct mrsi_sorter *s, struct mrs_err *e)
{
    MRS_ASSERT(!s->done);
    return s->index.n ? write_run(s, e) : MRS_OK;
}

/* ---- reading runs ---- */
/* Loads the record at pos completely; pos == n at the end of the run. */
static enum mrs_status
fill(struct mrsi_sorter *s, struct mrsi_run_at *r, struct mrs_err *e)
{
    MRS_ASSERT(r->pos <= r->n && r->n <= r->cap && r->off <= r->end);
    size_t have = r->n - r->pos, need = sizeof(struct sorter_head);
    if (have >= need) {
        need = rec_bytes(r->p + r->pos);
    }
    while (have < need && r->off < r->end) {
        if (need - have > r->end - r->off) {
            return mrsi_state_damaged("what was sorted", e); /* only if the resumed state is wrong */
        }
        memmove(r->p, r->p + r->pos, have);
        r->pos = 0;
        r->n = have;
        if (r->cap < need) {
            uint8_t *p = mrs_realloc(s->en->mem, r->p, need);
            MRS_TRY(mrs_allocated(p, need, e));
            r->p = p;
            r->cap = need;
        }
        size_t some = r->cap - r->n < r->end - r->off ? r->cap - r->n : (size_t)(r->end - r->off);
        MRS_TRY(mrs_read_at(s->temp->fd, r->p + r->n, some, r->off, e));
        r->off += some;
        r->n += some;
        have = r->n;
        need = have >= sizeof(struct sorter_head) ? rec_bytes(r->p) : sizeof(struct sorter_head);
    }
    return have && have < need ? mrsi_state_damaged("what was sorted", e) : MRS_OK;
}

static bool
earlier(const struct mrsi_sorter *s, uint32_t a, uint32_t b)
{
    MRS_ASSERT(a < s->n_at && b < s->n_at);
    int c = compare(s->at[a].p + s->at[a].pos, s->at[b].p + s->at[b].pos);
    return c < 0 || (c == 0 && a < b);
}

static void
sift(struct mrsi_sorter *s, uint32_t i)
{
    for (;;) {
        uint32_t least = i, l = 2 * i + 1;
        for (uint32_t k = l; k < l + 2 && k < s->n_heap; k++) {
            least = earlier(s, s->heap[k], s->heap[least]) ? k : least;
        }
        if (least == i) {
            return;
        }
        uint32_t swap = s->heap[i];
        s->heap[i] = s->heap[least];
        s->heap[least] = swap;
        i = least;
    }
}

static uint64_t
begin_of_run(const struct mrsi_sorter *s, const struct sorter_run *run, uint32_t i)
{
    MRS_ASSERT(!s->from.n || (i + 1) * sizeof(uint64_t) <= s->from.n);
    uint64_t from = 0;
    if (s->from.n) {
        memcpy(&from, s->from.p + i * sizeof from, sizeof from);
    }
    return run[i].off + from;
}

/* From the positions in s->from, or from the first records. */
static enum mrs_status
open_runs(struct mrsi_sorter *s, struct mrs_err *e)
{
    MRS_ASSERT(s->runs.n > 0);
    const struct sorter_run *run = (const struct sorter_run *)(const void *)s->runs.p;
    uint32_t n = (uint32_t)(s->runs.n / sizeof *run);
    size_t window = s->limit / n;
    window = window < 4096 ? 4096 : window > MRSI_BLOCK ? MRSI_BLOCK : window;
    drop_windows(s);
    s->at = mrs_zalloc(s->en->mem, n * sizeof *s->at);
    s->heap = mrs_alloc(s->en->mem, n * sizeof *s->heap);
    if (!s->at || !s->heap) {
        return mrs_err_memory(e, n * sizeof *s->at);
    }
    for (s->n_at = 0; s->n_at < n; s->n_at++) {
        struct mrsi_run_at *r = &s->at[s->n_at];
        r->p = mrs_alloc(s->en->mem, window);
        MRS_TRY(mrs_allocated(r->p, window, e));
        r->cap = window;
        r->off = begin_of_run(s, run, s->n_at);
        r->end = run[s->n_at].off + run[s->n_at].bytes;
        enum mrs_status st = fill(s, r, e);
        if (st != MRS_OK) {
            s->n_at++;
            return st;
        }
        if (r->n) {
            s->heap[s->n_heap++] = s->n_at;
        }
    }
    for (uint32_t i = s->n_heap; i-- > 0;) {
        sift(s, i);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_sorter_rewind(struct mrsi_sorter *s, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    if (!s->done && s->runs.n && s->index.n) {
        st = write_run(s, e);
    } else if (!s->done) {
        sort_index(s);
    }
    if (!s->done && s->runs.n) {
        mrs_buf_clear(&s->recs);
        mrs_buf_clear(&s->index);
    }
    s->done = true;
    s->pos = 0;
    mrs_buf_clear(&s->from);
    return st == MRS_OK && s->runs.n ? open_runs(s, e) : st;
}

static enum mrs_status
next_of_runs(struct mrsi_sorter *s, struct mrsi_sorted *out, struct mrs_err *e)
{
    MRS_ASSERT(!s->pos || s->n_heap > 0);
    if (s->pos) { /* releases the last record returned */
        struct mrsi_run_at *r = &s->at[s->heap[0]];
        r->pos += rec_bytes(r->p + r->pos);
        MRS_TRY(fill(s, r, e));
        if (r->pos == r->n) {
            s->heap[0] = s->heap[--s->n_heap];
        }
        sift(s, 0);
    }
    s->pos = 1;
    if (!s->n_heap) {
        s->pos = 0;
        return MRS_END;
    }
    *out = at(s->at[s->heap[0]].p + s->at[s->heap[0]].pos);
    return MRS_OK;
}

enum mrs_status
mrsi_sorter_next(struct mrsi_sorter *s, struct mrsi_sorted *out, struct mrs_err *e)
{
    if (mrsi_cancelled(s->en)) { /* a sort may be read for minutes without a pass over documents */
        return mrsi_interrupted(s->en, e);
    }
    if (s->runs.n) {
        return next_of_runs(s, out, e);
    }
    if (s->pos == s->index.n) {
        return MRS_END;
    }
    size_t off;
    memcpy(&off, s->index.p + s->pos, sizeof off);
    s->pos += sizeof off;
    *out = at(s->recs.p + off);
    return MRS_OK;
}

void
mrsi_sorter_unread(struct mrsi_sorter *s)
{
    MRS_ASSERT(s->pos > 0);
    s->pos = s->runs.n ? 0 : s->pos - sizeof(size_t);
}

/* ---- savepoints ---- */
/* Position of the next record in its run. */
static uint64_t
next_of_run(const struct mrsi_sorter *s, uint32_t i)
{
    MRS_ASSERT(i < s->n_at);
    const struct sorter_run *run = (const struct sorter_run *)(const void *)s->runs.p;
    const struct mrsi_run_at *r = &s->at[i];
    bool at_head = s->pos && s->n_heap && s->heap[0] == i;
    return r->off - (r->n - r->pos) + (at_head ? rec_bytes(r->p + r->pos) : 0) - run[i].off;
}

static uint64_t
next_in_memory(const struct mrsi_sorter *s)
{
    MRS_ASSERT(s->pos <= s->index.n);
    uint64_t sum = 0;
    for (size_t i = 0; i < s->pos; i += sizeof(size_t)) {
        size_t off;
        memcpy(&off, s->index.p + i, sizeof off);
        sum += rec_bytes(s->recs.p + off);
    }
    return sum;
}

static void
put_places(const struct mrsi_sorter *s, struct mrs_buf *out)
{
    uint64_t at;
    for (uint32_t i = 0; i < s->n_at; i++) {
        at = next_of_run(s, i);
        mrs_buf_put(out, &at, sizeof at);
    }
    if (s->saved) {
        at = next_in_memory(s);
        mrs_buf_put(out, &at, sizeof at);
    }
}

/* Writes everything in memory to the file: as a run if more may be put, else it also stays in memory. */
static enum mrs_status
save(struct mrsi_sorter *s, struct mrs_err *e)
{
    if (!s->index.n || s->saved) {
        return MRS_OK;
    }
    if (!s->done) {
        return write_run(s, e);
    }
    enum mrs_status st = write_records(s, e);
    s->saved = st == MRS_OK ? s->bytes : 0;
    return st;
}

enum mrs_status
mrsi_sorter_save(struct mrsi_sorter *s, const char *name, struct mrs_build *b, struct mrs_buf *files,
                 struct mrs_err *e)
{
    struct mrs_buf places;
    mrs_buf_init(&places, s->en->mem, SIZE_MAX);
    enum mrs_status st = save(s, e);
    struct sorter_run whole = {0, s->saved};
    put_places(s, &places);
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    mrsi_save_temp("records", s->temp, s->bytes, b, files);
    mrsi_state_put_bytes(b, "runs", s->saved ? (const void *)&whole : s->runs.p, s->saved ? sizeof whole : s->runs.n);
    mrsi_state_put_bytes(b, "places", places.p, places.n);
    mrs_build_bool(b, "done", s->done);
    mrs_build_close(b);
    MRS_THEN(st, mrs_buf_status(&places, e));
    mrs_buf_clear(&places);
    return st;
}

/* Validates that runs are contiguous in the file, and positions are in their runs. */
static bool
are_right(const struct mrsi_sorter *s)
{
    const struct sorter_run *run = (const struct sorter_run *)(const void *)s->runs.p;
    const uint64_t *from = (const uint64_t *)(const void *)s->from.p;
    size_t n = s->runs.n / sizeof *run;
    uint64_t at = 0;
    if (s->runs.n % sizeof *run || (s->from.n && s->from.n != n * sizeof *from) || n > UINT32_MAX) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (run[i].off != at || run[i].bytes > s->bytes - at || (s->from.n && from[i] > run[i].bytes)) {
            return false;
        }
        at += run[i].bytes;
    }
    return at == s->bytes;
}

enum mrs_status
mrsi_sorter_load(struct mrsi_sorter *s, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(!s->temp && s->recs.n == 0);
    bool bad = false;
    size_t n, n_from;
    struct mrs_view d = mrsi_savepoint_doc(saved, name);
    struct mrs_val done = mrs_doc_get(d, "done");
    const uint8_t *runs = mrsi_state_bytes(d, "runs", &n, &bad), *from = mrsi_state_bytes(d, "places", &n_from, &bad);
    MRS_TRY(bad || done.type != MRS_BOOL ? mrsi_state_damaged(name, e) : MRS_OK);
    MRS_TRY(mrsi_load_temp(s->en, d, "records", &s->temp, &s->bytes, e));
    mrs_buf_put(&s->runs, runs, n);
    mrs_buf_put(&s->from, from, n_from);
    if (s->runs.bad || s->from.bad) {
        return mrs_err_memory(e, n);
    }
    s->done = *done.p;
    return are_right(s) ? MRS_OK : mrsi_state_damaged(name, e);
}

enum mrs_status
mrsi_sorter_resume(struct mrsi_sorter *s, struct mrs_err *e)
{
    if (!s->from.n) {
        return mrsi_sorter_rewind(s, e);
    }
    s->pos = 0;
    enum mrs_status st = open_runs(s, e);
    mrs_buf_clear(&s->from);
    return st;
}
