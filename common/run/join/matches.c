/* SPDX-License-Identifier: Apache-2.0 */
/* matches.c - see matches.h. The sort is a bottom-up merge sort of pointers: stable, not recursive, and fast for lists
 * that are nearly sorted. */
#include "matches.h"
#include "mongoreshape/join_ops.h"

enum { AHEAD = 16, LINE = 64, LINES = 6 }; /* number of records to prefetch */

/* ---- payloads ---- */
void
mrsi_match_from(const struct mrsi_match_record *match, struct mrs_match *out)
{
    const struct mrsi_rec *r = match->rec;
    const uint8_t *payload = match->payload ? match->payload : mrsi_rec_payload(r);
    out->order = r->order;
    out->ref = (uint32_t)match->ref;
    out->failed = r->failed;
    out->why = out->why_where = NULL;
    out->payload = (struct mrs_view){payload, r->payload_len};
    if (r->failed) {
        out->why_where = (const char *)payload;
        out->why = (const char *)payload + strlen(out->why_where) + 1;
        out->payload = mrs_empty_doc();
    }
}

/* ---- documents that are no matches ---- */
enum mrs_status
mrsi_match_no(struct mrsi_join_run *j, const struct mrsi_rec *r, uint64_t ref, const struct mrsi_hashed *into,
              struct mrs_buf *named, struct mrs_err *e)
{
    size_t n = into->same.n / sizeof(uint32_t);
    if (r->failed == MRSI_REC_UNSORTED) {
        mrsi_fates_add(&j->fates, r->order, MRSI_FATE_UNSORTED);
    }
    if (!j->st->desc.by_reference) {
        return MRS_OK;
    }
    if (!named->n) {
        uint8_t *p = mrs_buf_take(named, n + 1);
        if (!p) {
            return mrs_buf_status(named, e);
        }
        memset(p, 0, n + 1);
    }
    if (ref < n) {
        named->p[ref] = 1;
    }
    return MRS_OK;
}

/* ---- lists ---- */
void
mrsi_match_list_init(struct mrsi_match_list *l, struct mrsi_join_run *j, struct mrs_mem *mem)
{
    memset(l, 0, sizeof *l);
    l->j = j;
    mrs_buf_init(&l->useds, mem, SIZE_MAX);
    mrs_buf_init(&l->spare, mem, SIZE_MAX);
    mrs_buf_init(&l->named, mem, SIZE_MAX);
}

void
mrsi_match_list_clear(struct mrsi_match_list *l)
{
    mrs_buf_clear(&l->useds);
    mrs_buf_clear(&l->spare);
    mrs_buf_clear(&l->named);
}

static int
compare_bytes(const struct mrsi_rec *a, const struct mrsi_rec *b)
{
    uint32_t n = a->sort_len < b->sort_len ? a->sort_len : b->sort_len;
    int c = n ? memcmp(mrsi_rec_sort(a), mrsi_rec_sort(b), n) : 0;
    return c ? c : a->sort_len < b->sort_len ? -1 : a->sort_len > b->sort_len;
}

static int
compare_matches(const struct mrs_desc *d, const struct mrsi_match_record *a, const struct mrsi_match_record *b)
{
    if (!d->sorted && d->by_reference && a->ref != b->ref) {
        return a->ref < b->ref ? -1 : 1;
    }
    int c = d->sorted ? compare_bytes(a->rec, b->rec) : 0;
    if (c) {
        return c;
    }
    if (a->rec->order != b->rec->order) {
        return a->rec->order < b->rec->order ? -1 : 1;
    }
    return d->by_reference && a->ref != b->ref ? (a->ref < b->ref ? -1 : 1) : 0;
}

static void
merge_runs(const struct mrs_desc *d, const struct mrsi_match_record *from, struct mrsi_match_record *to, size_t lo,
           size_t width, size_t n)
{
    MRS_ASSERT(width > 0 && lo < n);
    size_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
    size_t a = lo, b = mid;
    for (size_t i = lo; i < hi; i++) {
        to[i] = b == hi || (a < mid && compare_matches(d, &from[a], &from[b]) <= 0) ? from[a++] : from[b++];
    }
}

static enum mrs_status
sort_matches(struct mrsi_match_list *l, const struct mrs_desc *d, struct mrs_err *e)
{
    size_t n = l->n;
    bool sorted = true, by_ref = d->by_reference && !d->sorted;
    for (size_t i = 1; sorted && i < n; i++) {
        const struct mrsi_match_record *m = &l->match[i];
        sorted = (by_ref && m[-1].ref < m->ref) || compare_matches(d, &m[-1], m) <= 0;
    }
    if (sorted) {
        return MRS_OK;
    }
    mrs_buf_reset(&l->spare);
    struct mrsi_match_record *from = l->match, *to = (struct mrsi_match_record *)(void *)mrs_buf_take(&l->spare,
                                                                                                      n * sizeof *to);
    if (!to) {
        return mrs_buf_status(&l->spare, e);
    }
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            merge_runs(d, from, to, lo, width, n);
        }
        struct mrsi_match_record *swap = from;
        from = to;
        to = swap;
    }
    l->match = from;
    return MRS_OK;
}

static void
drop_repeats(struct mrsi_match_list *l, bool by_reference)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct mrsi_match_record *last = kept ? &l->match[kept - 1] : NULL;
        if (!last || (by_reference && last->ref != l->match[i].ref) || last->rec->order != l->match[i].rec->order) {
            l->match[kept++] = l->match[i];
        }
    }
    l->n = kept;
}

/* Records are scattered in memory: prefetches the next ones while one is spliced. */
static void
fetch_ahead(struct mrsi_match_list *l)
{
    const struct mrsi_match_record *from = l->fetched, *to = l->line_end - from > AHEAD ? from + AHEAD : l->line_end;
    for (const struct mrsi_match_record *m = from; m < to; m++) {
        mrsi_fates_fetch(&l->j->fates, m->rec->order);
        for (uint32_t i = 0; !m->payload && i < m->rec->total && i < LINES * LINE; i += LINE) {
            __builtin_prefetch((const uint8_t *)m->rec + i);
        }
    }
    l->fetched = to;
}

static enum mrs_status
next(struct mrs_matches *m, struct mrs_match *out, struct mrs_err *e)
{
    MRS_ASSERT(((struct mrsi_match_list *)m->impl)->at <= ((struct mrsi_match_list *)m->impl)->n);
    struct mrsi_match_list *l = m->impl;
    (void)e;
    if (l->at == l->n) {
        return MRS_END;
    }
    if (l->line + l->at + AHEAD / 2 >= l->fetched && l->fetched < l->line_end) {
        fetch_ahead(l);
    }
    mrsi_match_from(&l->match[l->at++], out);
    return MRS_OK;
}

static enum mrs_status
rewind_list(struct mrs_matches *m, struct mrs_err *e)
{
    struct mrsi_match_list *l = m->impl;
    (void)e;
    l->at = 0;
    return MRS_OK;
}

static void
used(struct mrs_matches *m, unsigned bits)
{
    struct mrsi_match_list *l = m->impl;
    if (l->at) {
        l->used[l->at - 1] |= (uint8_t)(0x80 | bits);
    }
}

enum mrs_status
mrsi_match_list_set(struct mrsi_match_list *l, struct mrsi_join_run *j, struct mrsi_match_record *match, size_t n,
                    size_t n_line, const struct mrsi_hashed *into, struct mrs_err *e)
{
    MRS_ASSERT(n <= n_line);
    bool verify = j->n_hashed < j->st->desc.n_pairs;
    enum mrs_status s = MRS_OK;
    mrs_buf_reset(&l->named);
    mrs_buf_reset(&l->useds);
    l->n = l->at = 0;
    l->match = match;
    l->line = match;
    l->line_end = n_line ? match + n_line : match; /* match may be NULL */
    l->fetched = l->fetched > match && l->fetched <= l->line_end ? l->fetched : match;
    l->used = mrs_buf_take(&l->useds, n + 1);
    MRS_TRY(mrs_allocated(l->used, n, e));
    for (size_t i = 0; i < n; i++) {
        if (verify && !mrsi_verified(j, match[i].rec, into)) {
            continue;
        }
        if (match[i].rec->failed >= MRSI_REC_UNSORTED) {
            MRS_THEN(s, mrsi_match_no(j, match[i].rec, match[i].ref, into, &l->named, e));
        } else {
            match[l->n++] = match[i];
        }
    }
    s = s == MRS_OK && l->n > 1 ? sort_matches(l, &j->st->desc, e) : s;
    drop_repeats(l, j->st->desc.by_reference);
    memset(l->used, 0, l->n + 1);
    l->m.n = l->n;
    l->m.next = next;
    l->m.rewind = rewind_list;
    l->m.used = used;
    l->m.impl = l;
    l->m.same_ref = (const uint32_t *)(const void *)into->same.p;
    l->m.n_refs = (uint32_t)(into->same.n / sizeof(uint32_t));
    l->m.named = l->named.n ? l->named.p : NULL;
    return s;
}

uint64_t
mrsi_match_list_settle(struct mrsi_match_list *l, struct mrsi_join_run *j, bool refused)
{
    uint64_t placed = 0;
    for (uint64_t i = 0; i < l->n; i++) {
        unsigned bits = refused ? MRS_USED_LEFT : l->used[i] ? l->used[i] & MRSI_FATE_USED : MRS_USED_PLACED;
        placed += bits & MRS_USED_PLACED;
        mrsi_fates_add(&j->fates, l->match[i].rec->order, bits);
    }
    return placed;
}
