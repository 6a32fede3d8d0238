/* SPDX-License-Identifier: Apache-2.0 */
/* join_by_key.c - a join whose keys do not fit into memory: both sides are partitioned by the hash of their key.
 *
 * Slower than one table, and never used while the keys of `into` fit; but it works for any number of keys. The keys of
 * a partition become a table; the records of the same partition look up their matches in it and go to the partitions of
 * ordinals, as usual. If a partition has more keys than a table can hold (a million documents with one key are in one
 * partition), the table is filled several times, and the records of the partition are read for each. */
#include "join.h"

#define HASHES (1ull << 32) /* partitions are ranges of hashes */

static uint32_t
part_of(const struct mrsi_spill *sp, struct mrsi_key key)
{
    uint64_t h = (key.a ^ (key.b * 0x9E3779B97F4A7C15ull)) * 0xC2B2AE3D27D4EB4Full;
    h ^= h >> 32; /* not the hash of the table: all keys of a partition would have adjacent slots */
    return mrsi_spill_part_of(sp, (h * 0x94D049BB133111EBull) >> 32);
}

/* Number of partitions for so many bytes of keys. */
static enum mrs_status
begin_spills(struct mrsi_join_run *j, uint64_t keys, struct mrs_err *e)
{
    MRS_ASSERT(!j->by_key);
    struct mrsi_by_key *k = j->by_key = mrs_zalloc(j->en->mem, sizeof *k);
    struct mrsi_spill_layout l = mrsi_layout_by_key(j->en->memory, j->en->jobs, keys);
    enum mrs_status s = k ? mrsi_spill_init(&k->keys, j->en, HASHES, &l, e) : mrs_err_memory(e, sizeof *k);
    return s == MRS_OK ? mrsi_spill_init(&k->records, j->en, HASHES, &l, e) : s;
}

/* Estimated size of all keys of into, from those read so far. */
static uint64_t
guess_keys(const struct mrsi_join_run *j)
{
    uint64_t bytes = mrsi_guess_bytes(j->en, &j->en->coll[j->en->side[j->step][1]]);
    double grows = j->into_read ? (double)bytes / (double)j->into_read : 1;
    return (uint64_t)((double)j->log.n * (grows < 1 ? 1 : grows));
}

/* ---- input of both sides ---- */
/* Reserves n bytes in the partition of a key, a multiple of 8; then put_end. */
static enum mrs_status
put_begin(struct mrsi_spiller *out, struct mrsi_key key, uint32_t n, uint32_t *part, uint8_t **at, struct mrs_err *e)
{
    MRS_ASSERT(n % 8 == 0);
    *part = part_of(out->sp, key);
    enum mrs_status s = mrsi_spiller_fits(out, *part, n) ? MRS_OK : mrsi_spiller_open(out, *part, n, e);
    *at = s == MRS_OK ? mrsi_spiller_take(out, *part, n) : NULL;
    return s;
}

static enum mrs_status
put_end(struct mrsi_spiller *out, uint32_t part, uint32_t n, struct mrs_err *e)
{
    return out->large ? mrsi_spiller_large(out, part, n, e) : MRS_OK;
}

static enum mrs_status
put_logged(struct mrsi_join_run *j, const struct mrsi_logged *l, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(j->by_key);
    struct mrsi_spiller *out = &j->by_key->out;
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        uint32_t part;
        uint8_t *at;
        s = put_begin(out, l[i].key, sizeof *l, &part, &at, e);
        if (s == MRS_OK) {
            memcpy(at, &l[i], sizeof *l);
            s = put_end(out, part, sizeof *l, e);
        }
    }
    return s;
}

/* Moves the keys read so far to partitions; all later ones go there, too. */
static enum mrs_status
begin(struct mrsi_join_run *j, struct mrs_err *e)
{
    MRS_ASSERT(j->log.n > 0);
    enum mrs_status s = begin_spills(j, guess_keys(j), e);
    MRS_THEN(s, mrsi_spiller_init(&j->by_key->out, &j->by_key->keys, 0, e));
    MRS_THEN(s, put_logged(j, (const struct mrsi_logged *)(const void *)j->log.p,
                           j->log.n / sizeof(struct mrsi_logged), e));
    mrs_buf_clear(&j->log);
    mrsi_savepoint_list_clear(&j->log_kept);
    return s;
}

enum mrs_status
mrsi_by_key_into(struct mrsi_join_run *j, const struct mrsi_logged *l, size_t n, struct mrs_err *e)
{
    if (j->by_key) {
        return put_logged(j, l, n, e);
    }
    mrs_buf_put(&j->log, l, n * sizeof *l);
    return j->log.bad || j->log.n < j->en->memory / 4 ? mrs_buf_status(&j->log, e) : begin(j, e);
}

enum mrs_status
mrsi_by_key_into_end(struct mrsi_join_run *j, struct mrs_err *e)
{
    MRS_ASSERT(j->by_key);
    enum mrs_status s = mrsi_spiller_end(&j->by_key->out, e);
    mrsi_spiller_clear(&j->by_key->out);
    return s;
}

enum mrs_status
mrsi_by_key_from(struct mrsi_spiller *out, struct mrsi_key key, const struct mrsi_rec *r,
                 const struct mrsi_rec_parts *x, struct mrs_err *e)
{
    uint32_t part, n = (uint32_t)sizeof key + r->total;
    uint8_t *at;
    MRS_TRY(put_begin(out, key, n, &part, &at, e));
    memcpy(at, &key, sizeof key);
    mrsi_rec_fill(at + sizeof key, r, x);
    return put_end(out, part, n, e);
}

void
mrsi_by_key_clear(struct mrsi_join_run *j)
{
    if (j->by_key) {
        mrsi_spiller_clear(&j->by_key->out);
        mrsi_spill_clear(&j->by_key->keys);
        mrsi_spill_clear(&j->by_key->records);
        mrs_free(j->en->mem, j->by_key);
        j->by_key = NULL;
    }
}

/* ---- matching ---- */
struct meeting {
    struct mrsi_join_run *j;
    struct mrsi_spiller *out; /* for the partitions of ordinals */
    uint32_t part;
};

static enum mrs_status
route(struct mrsi_join_run *j, struct mrsi_spiller *out, struct mrsi_key key, const uint8_t *bytes, struct mrs_err *e)
{
    struct mrsi_rec r;
    enum mrs_status s = MRS_OK;
    memcpy(&r, bytes, sizeof r);
    const uint8_t *rest = bytes + sizeof r;
    struct mrsi_rec_parts x = {rest, rest + r.verify_len, rest + r.verify_len + r.sort_len};
    for (const struct mrsi_table_entry *m = mrsi_table_find(&j->table, key); s == MRS_OK && m;
         m = mrsi_table_next(&j->table, m)) {
        r.ord = m->ord;
        r.ref = m->ref;
        s = mrsi_spiller_put(out, &r, &x, e);
    }
    return s;
}

/* Reads a piece of records with keys; the stopped run may have left it. */
static enum mrs_status
route_piece(void *arg, const uint8_t *p, uint32_t n, struct mrs_err *e)
{
    struct meeting *m = arg;
    enum mrs_status s = mrsi_interrupted(m->j->en, e);
    for (const uint8_t *end = p + n; s == MRS_OK && p < end;) {
        struct mrsi_key key;
        uint32_t total;
        if ((size_t)(end - p) < sizeof key || !mrsi_rec_is_whole(p + sizeof key, (uint64_t)(end - p) - sizeof key)) {
            return mrsi_state_damaged("the records of a join", e);
        }
        memcpy(&key, p, sizeof key);
        memcpy(&total, p + sizeof key, sizeof total);
        s = route(m->j, m->out, key, p + sizeof key, e);
        p += sizeof key + total;
    }
    return s;
}

/* Looks up the records of the partition in a table of the listed keys. */
static enum mrs_status
meet_listed(struct meeting *m, struct mrs_err *e)
{
    struct mrsi_join_run *j = m->j;
    MRS_ASSERT(j->log.n > 0);
    enum mrs_status s = mrsi_join_build_table(j, e);
    const struct mrsi_spill *records = &j->by_key->records;
    MRS_THEN(s, mrsi_partition_pieces(records, &records->part[m->part], route_piece, m, e));
    mrsi_table_clear(&j->table);
    return s;
}

/* Reads a piece of keys; the stopped run may have left it. */
static enum mrs_status
list_piece(void *arg, const uint8_t *p, uint32_t n, struct mrs_err *e)
{
    struct meeting *m = arg;
    struct mrsi_join_run *j = m->j;
    for (uint32_t at = 0; at < n; at += (uint32_t)sizeof(struct mrsi_logged)) {
        struct mrsi_logged l;
        if (n - at < sizeof l) {
            return mrsi_state_damaged("the keys of a join", e);
        }
        memcpy(&l, p + at, sizeof l);
        if (!l.key.b || l.ord >= j->n_into) {
            return mrsi_state_damaged("the keys of a join", e);
        }
        mrs_buf_put(&j->log, &l, sizeof l);
    }
    enum mrs_status s = mrs_buf_status(&j->log, e);
    return s == MRS_OK && j->log.n >= mrsi_layout_list(j->en->memory) ? meet_listed(m, e) : s;
}

static enum mrs_status
meet_all(struct meeting *m, struct mrs_err *e)
{
    struct mrsi_join_run *j = m->j;
    struct mrsi_by_key *k = j->by_key;
    struct mrsi_pause_clock pauses = {j->en, &j->pass, 0};
    enum mrs_status s = MRS_OK;
    for (; s == MRS_OK && k->n_done < k->keys.n_part; k->n_done++) {
        m->part = k->n_done;
        s = mrsi_rest(&pauses, e);
        MRS_THEN(s, mrsi_partition_pieces(&k->keys, &k->keys.part[m->part], list_piece, m, e));
        s = s == MRS_OK && j->log.n ? meet_listed(m, e) : s;
    }
    return s;
}

enum mrs_status
mrsi_by_key_meet(struct mrsi_join_run *j, struct mrs_err *e)
{
    MRS_ASSERT(j->by_key && j->stage == MRSI_JOIN_MEET);
    struct mrsi_spiller out = {.sp = NULL};
    struct meeting m = {j, &out, 0};
    enum mrs_status s = mrsi_spiller_init(&out, &j->spill, 0, e);
    MRS_THEN(s, meet_all(&m, e));
    MRS_THEN(s, mrsi_spiller_end(&out, e));
    mrsi_spiller_clear(&out);
    mrs_buf_clear(&j->log);
    mrsi_by_key_clear(j);
    return s;
}

/* ---- savepoints ---- */
enum mrs_status
mrsi_by_key_save(struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(j->by_key);
    struct mrsi_by_key *k = j->by_key;
    mrs_build_i64(b, "met", k->n_done);
    enum mrs_status s = mrsi_spill_save(&k->keys, "intoKeys", b, files, e);
    return s == MRS_OK ? mrsi_spill_save(&k->records, "fromRecords", b, files, e) : s;
}

enum mrs_status
mrsi_by_key_load(struct mrsi_join_run *j, struct mrs_err *e)
{
    bool bad = false;
    enum mrs_status s = begin_spills(j, 0, e);
    struct mrsi_by_key *k = j->by_key;
    if (s != MRS_OK) {
        return s;
    }
    k->n_done = (uint32_t)mrsi_state_number(j->pass.from, "met", UINT32_MAX, &bad);
    s = bad ? mrsi_state_damaged("a join", e) : MRS_OK;
    MRS_THEN(s, mrsi_spill_load(&k->keys, j->pass.from, "intoKeys", e));
    MRS_THEN(s, mrsi_spill_load(&k->records, j->pass.from, "fromRecords", e));
    bool same = s == MRS_OK && k->keys.total == HASHES && k->records.total == HASHES &&
                k->keys.n_part == k->records.n_part && !k->keys.added && !k->records.added;
    s = s == MRS_OK && !same ? mrsi_state_damaged("a join", e) : s;
    return s == MRS_OK && j->stage == MRSI_JOIN_KEYS ? mrsi_spiller_init(&k->out, &k->keys, 0, e) : s;
}
