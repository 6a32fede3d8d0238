/* SPDX-License-Identifier: Apache-2.0 */
/* current.c - loads the current documents for the entries of the change list.
 *
 * One find by `_id` for as many as one $in takes. Documents return in any order, and an `_id` may return with another
 * numeric type than in the query, so they are matched by the server's own equality. Does not depend on their use. */
#include "live/link/bson.h"
#include "quiet.h"

#include <stdlib.h>

struct current_id {
    uint64_t hash;
    uint32_t at;
};

static int
by_hash(const void *a, const void *b)
{
    const struct current_id *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static enum mrs_status
hash_of(struct mrs_buf *key, struct mrs_val id, uint64_t *hash, struct mrs_err *e)
{
    mrs_buf_reset(key);
    mrs_key_append(key, id, false);
    *hash = mrs_hash(key->p, key->n, 0).lo;
    return mrs_buf_status(key, e);
}

static void
match(const struct current_id *list, uint32_t n, uint64_t hash, const struct live_journal_entry *entry,
      struct mrs_view d, struct mrs_view *doc)
{
    MRS_ASSERT(n > 0);
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (list[mid].hash < hash) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    for (; lo < n && list[lo].hash == hash; lo++) {
        if (mrs_compare(entry[list[lo].at].id, mrs_doc_get(d, "_id")) == 0) {
            doc[list[lo].at] = d;
        }
    }
}

static enum mrs_status
find_current(struct live_job *job, const struct mrs_coll *now, const struct live_journal_entry *entry, uint32_t n,
             struct mrs_arena *a, struct live_cursor **out, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view ids, filter, none = {NULL, 0};
    mrs_buf_init(&buf, job->mem, 3 * MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    for (uint32_t i = 0; i < n; i++) {
        mrs_build_item(&b, entry[i].id);
    }
    enum mrs_status s = mrs_build_finish(&b, &ids, e);
    MRS_THEN(s, live_doc_in(a, &filter, e, "{_id: {$in: %a}}", ids));
    MRS_THEN(s, live_find(job->link, now, filter, none, 0, out, e));
    mrs_buf_clear(&buf);
    return s;
}

static enum mrs_status
read_piece(struct live_job *job, const struct mrs_coll *now, const struct live_journal_entry *entry, uint32_t n,
           struct mrs_arena *a, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(n > 0 && n <= LIVE_IN_MAX);
    struct current_id *list = mrs_arena_alloc(a, (n + 1) * sizeof *list);
    struct live_cursor *c = NULL;
    struct live_fault f;
    struct mrs_buf key;
    struct mrs_view d;
    enum mrs_status s = mrs_allocated(list, n * sizeof *list, e);
    mrs_buf_init(&key, job->mem, MRS_KEY_MAX);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        doc[i] = (struct mrs_view){NULL, 0};
        list[i].at = i;
        s = hash_of(&key, entry[i].id, &list[i].hash, e);
    }
    if (s == MRS_OK) {
        qsort(list, n, sizeof *list, by_hash);
        s = find_current(job, now, entry, n, a, &c, e);
    }
    while (s == MRS_OK && (s = live_cursor_next(c, &d, &f, e)) == MRS_OK) {
        struct mrs_view copy = {mrs_arena_copy(a, d.p, d.n), d.n};
        uint64_t hash = 0;
        s = copy.p ? hash_of(&key, mrs_doc_get(copy, "_id"), &hash, e) : mrs_err_memory(e, d.n);
        if (s == MRS_OK) {
            match(list, n, hash, entry, copy, doc);
        }
    }
    live_cursor_close(c);
    mrs_buf_clear(&key);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
live_current_read(struct live_job *job, const struct mrs_coll *now, const struct live_journal_entry *entry, uint32_t n,
                  struct mrs_arena *a, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || (entry && doc));
    enum mrs_status s = MRS_OK;
    for (uint32_t at = 0; at < n && s == MRS_OK; at += LIVE_IN_MAX) {
        s = read_piece(job, now, entry + at, n - at < LIVE_IN_MAX ? n - at : LIVE_IN_MAX, a, doc + at, e);
    }
    return s;
}
