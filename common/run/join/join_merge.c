/* SPDX-License-Identifier: Apache-2.0 */
/* join_merge.c - a join whose keys outgrow memory: both sides are sorted by key on disk and merged.
 *
 * Slower than a table, and never needed while the keys of `into` fit; but no number of them is too large. What meets
 * is thrown into the same partitions as always, only not in the order of `from`, so that a partition is sorted when
 * it is loaded. */
#include "join.h"

static enum mrs_status
put_logged(struct mrsi_join_run *j, const struct mrsi_logged *l, size_t n, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        s = mrsi_sorter_put(&j->into_keys, &l[i].key, sizeof l[i].key, &l[i], sizeof l[i], e);
    }
    return s;
}

enum mrs_status
mrsi_merge_into(struct mrsi_join_run *j, const struct mrsi_logged *l, size_t n, struct mrs_err *e)
{
    if (j->merge) {
        return put_logged(j, l, n, e);
    }
    mrs_buf_put(&j->log, l, n * sizeof *l);
    if (j->log.bad || j->log.n < j->en->memory / 4) {
        return mrs_buf_status(&j->log, e);
    }
    j->merge = true;
    mrsi_sorter_init(&j->into_keys, j->en, j->en->memory / 4);
    j->into_keys.kept = true;
    enum mrs_status s = put_logged(j, (const struct mrsi_logged *)(const void *)j->log.p, j->log.n / sizeof *l, e);
    mrs_buf_clear(&j->log);
    mrsi_mark_list_clear(&j->log_kept);
    return s;
}

enum mrs_status
mrsi_merge_from(struct mrsi_join_run *j, const struct mrs_buf *recs, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < recs->n;) {
        struct mrsi_rec r;
        const uint8_t *key = recs->p + at, *rec = key + sizeof(struct mrsi_key);
        memcpy(&r, rec, sizeof r);
        s = mrsi_sorter_put(&j->from_recs, key, sizeof(struct mrsi_key), rec, r.total, e);
        at += sizeof(struct mrsi_key) + r.total;
    }
    return s;
}

/* All into entries of one key. */
struct mrsi_merging {
    uint8_t key[sizeof(struct mrsi_key)];
    struct mrs_buf entries; /* struct mrsi_logged */
    struct mrsi_sorted next;
    bool have, end;
};

/* What was sorted may be what another run has left. */
static bool
is_entry(const struct mrsi_join_run *j, const struct mrsi_sorted *x)
{
    struct mrsi_logged l;
    if (x->n != sizeof l || x->key_len != sizeof l.key) {
        return false;
    }
    memcpy(&l, x->p, sizeof l);
    return l.ord < j->n_into;
}

static bool
is_record(const struct mrsi_sorted *x)
{
    struct mrsi_rec r;
    if (x->key_len != sizeof(struct mrsi_key) || !mrsi_rec_is_whole(x->p, x->n)) {
        return false;
    }
    memcpy(&r, x->p, sizeof r);
    return r.total == x->n;
}

static enum mrs_status
advance(struct mrsi_join_run *j, struct mrsi_merging *k, struct mrs_err *e)
{
    mrs_buf_reset(&k->entries);
    for (;;) {
        if (!k->have && !k->end) {
            enum mrs_status s = mrsi_sorter_next(&j->into_keys, &k->next, e);
            if (s < MRS_OK) {
                return s;
            }
            k->end = s == MRS_END;
            k->have = s == MRS_OK;
            s = k->have && !is_entry(j, &k->next) ? mrsi_state_damaged("a merge", e) : MRS_OK;
            if (s != MRS_OK) {
                return s;
            }
        }
        if (k->end || (k->entries.n && memcmp(k->key, k->next.key, sizeof k->key) != 0)) {
            return mrs_buf_status(&k->entries, e);
        }
        memcpy(k->key, k->next.key, sizeof k->key);
        mrs_buf_put(&k->entries, k->next.p, k->next.n);
        k->have = false;
    }
}

static enum mrs_status
route_record(struct mrsi_spiller *out, const struct mrsi_merging *k, const uint8_t *bytes, struct mrs_err *e)
{
    const struct mrsi_logged *l = (const struct mrsi_logged *)(const void *)k->entries.p;
    struct mrsi_rec r;
    enum mrs_status s = MRS_OK;
    memcpy(&r, bytes, sizeof r);
    const uint8_t *rest = bytes + sizeof r;
    struct mrsi_rec_parts x = {rest, rest + r.verify_len, rest + r.verify_len + r.sort_len};
    for (size_t i = 0; s == MRS_OK && i < k->entries.n / sizeof *l; i++) {
        r.ord = l[i].ord;
        r.ref = l[i].ref;
        s = mrsi_spiller_put(out, &r, &x, e);
    }
    return s;
}

/* The record of into that was looked at too early is given again, by whoever goes on. */
static enum mrs_status
take_mark(struct mrsi_join_run *j, struct mrsi_merging *k, struct mrs_err *e)
{
    if (!mrsi_keep_due(j->en)) {
        return MRS_OK;
    }
    if (k->have) {
        mrsi_sorter_unread(&j->into_keys);
        k->have = false;
    }
    return mrsi_keep_mark(&j->pass, e);
}

static enum mrs_status
merge_all(struct mrsi_join_run *j, struct mrsi_spiller *out, struct mrsi_merging *k, struct mrs_err *e)
{
    enum { BETWEEN = 32 }; /* records from one look at the clock to the next */
    struct mrsi_sorted from;
    enum mrs_status s = MRS_OK;
    for (uint64_t n = 1; s == MRS_OK && (s = mrsi_sorter_next(&j->from_recs, &from, e)) == MRS_OK; n++) {
        int c = 1;
        s = is_record(&from) ? MRS_OK : mrsi_state_damaged("a merge", e);
        while (s == MRS_OK && k->entries.n && (c = memcmp(k->key, from.key, sizeof k->key)) < 0) {
            s = advance(j, k, e);
        }
        if (s == MRS_OK && k->entries.n && c == 0) {
            s = route_record(out, k, from.p, e);
        }
        s = s == MRS_OK && n % BETWEEN == 0 ? take_mark(j, k, e) : s;
    }
    return s == MRS_END ? MRS_OK : s;
}

/* ---- marks ---- */
enum mrs_status
mrsi_merge_describe(const struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    const struct mrsi_merging *k = j->merging;
    mrsi_state_put_bytes(b, "key", k->key, sizeof k->key);
    return mrsi_mark_bytes(j->en, "entries", k->entries.p, k->entries.n, b, files, e);
}

static enum mrs_status
go_on(struct mrsi_join_run *j, struct mrsi_merging *k, struct mrs_err *e)
{
    bool bad = false;
    size_t n;
    const uint8_t *key = mrsi_state_bytes(j->pass.from, "key", &n, &bad);
    if (bad || n != sizeof k->key) {
        return mrsi_state_damaged("a merge", e);
    }
    memcpy(k->key, key, n);
    enum mrs_status s = mrsi_mark_bytes_back(j->en, j->pass.from, "entries", &k->entries, e);
    for (size_t i = 0; s == MRS_OK && i < k->entries.n; i += sizeof(struct mrsi_logged)) {
        size_t left = k->entries.n - i, one = sizeof(struct mrsi_logged);
        struct mrsi_sorted x = {k->key, k->entries.p + i, sizeof k->key, (uint32_t)(left < one ? left : one)};
        s = is_entry(j, &x) ? MRS_OK : mrsi_state_damaged("a merge", e);
    }
    j->pass.from = mrs_empty_doc();
    MRS_THEN(s, mrsi_sorter_go_on(&j->into_keys, e));
    return s == MRS_OK ? mrsi_sorter_go_on(&j->from_recs, e) : s;
}

static enum mrs_status
begin(struct mrsi_join_run *j, struct mrsi_merging *k, struct mrs_err *e)
{
    enum mrs_status s = mrsi_sorter_rewind(&j->into_keys, e);
    MRS_THEN(s, mrsi_sorter_rewind(&j->from_recs, e));
    return s == MRS_OK ? advance(j, k, e) : s;
}

enum mrs_status
mrsi_merge_route(struct mrsi_join_run *j, struct mrs_err *e)
{
    struct mrsi_spiller out = {.sp = NULL};
    struct mrsi_merging k;
    memset(&k, 0, sizeof k);
    mrs_buf_init(&k.entries, j->en->mem, SIZE_MAX);
    j->merging = &k;
    enum mrs_status s = mrsi_pass_goes_on(&j->pass) ? go_on(j, &k, e) : begin(j, &k, e);
    MRS_THEN(s, mrsi_spiller_init(&out, &j->spill, 0, e));
    MRS_THEN(s, merge_all(j, &out, &k, e));
    MRS_THEN(s, mrsi_spiller_end(&out, e));
    mrsi_spiller_clear(&out);
    mrs_buf_clear(&k.entries);
    j->merging = NULL;
    mrsi_sorter_clear(&j->into_keys);
    mrsi_sorter_clear(&j->from_recs);
    return s;
}
