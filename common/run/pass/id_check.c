/* SPDX-License-Identifier: Apache-2.0 */
/* id_check.c - finds equal `_id`s in bounded memory.
 *
 * Hashes are put into lists by their top bits; lists that exceed their share of memory go to a temporary file. Equal
 * hashes are in one list, and each list is sorted alone. See id_check.h for the phases; id_verdicts.c decides about the
 * duplicates. */
#include "id_check.h"
#include <stdlib.h>

enum {
    WEIGHT = 8 /* estimated cost of checking a hash, in bytes of reading */
};

struct extent {
    uint64_t off;
    uint32_t list, n;
};

enum mrs_status
mrsi_ids_init(struct mrsi_ids *ids, struct mrsi_engine *en, enum mrs_conflicts policy, struct mrs_err *e)
{
    memset(ids, 0, sizeof *ids);
    ids->en = en;
    ids->policy = policy;
    MRS_TRY(mrsi_hashes_init(&ids->hashes, en->mem, en->memory / 4, e));
    mrs_buf_init(&ids->extents, en->mem, SIZE_MAX);
    ids->extents_kept = (struct mrsi_savepoint_list){en, &ids->extents, NULL, 0};
    mrsi_file_array_init(&ids->dup_hashes, en, sizeof(uint64_t), en->memory / 32);
    mrsi_sorter_init(&ids->members, en, en->memory / 4);
    mrsi_file_array_init(&ids->rejected, en, sizeof(struct mrsi_rejected), en->memory / 32);
    mrsi_file_array_init(&ids->verdicts, en, sizeof(struct mrsi_product), en->memory / 32);
    mrsi_file_array_init(&ids->replaced, en, sizeof(struct mrsi_replaced), en->memory / 32);
    ids->dup_hashes.kept = ids->members.kept = ids->rejected.kept = ids->verdicts.kept = ids->replaced.kept = true;
    return MRS_OK;
}

static void
drop_hashes(struct mrsi_ids *ids)
{
    mrsi_hashes_clear(&ids->hashes);
    mrs_buf_clear(&ids->extents);
    mrsi_savepoint_list_clear(&ids->extents_kept);
    mrsi_temp_drop(ids->en, ids->spill);
    ids->spill = NULL;
}

void
mrsi_ids_clear(struct mrsi_ids *ids)
{
    if (ids->en) {
        drop_hashes(ids);
        mrsi_id_decision_free(ids);
        mrsi_file_array_clear(&ids->dup_hashes);
        mrsi_sorter_clear(&ids->members);
        mrsi_file_array_clear(&ids->rejected);
        mrsi_file_array_clear(&ids->verdicts);
        mrsi_file_array_clear(&ids->replaced);
        mrsi_temp_drop(ids->en, ids->bodies);
        ids->bodies = NULL;
    }
}

/* The bytes that represent an `_id`, and their kind. */
enum id_check_kind { IS_OBJECT_ID, IS_KEY, IS_BYTES, N_KINDS };
struct to_hash {
    const uint8_t *p;
    size_t n;
    uint32_t kind;
};

static inline struct to_hash
object_id(const uint8_t *p) /* equals no value of another type, so it needs no key */
{
    return (struct to_hash){p, MRSI_OBJECT_ID, IS_OBJECT_ID};
}

static __attribute__((noinline)) enum mrs_status
any_id(struct mrs_view doc, struct mrs_buf *scratch, struct to_hash *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_elem id;
    if (!mrs_doc_find(doc, "_id", 3, &id)) {
        return MRS_END;
    }
    if (id.v.type == MRS_OBJECTID) {
        *out = object_id(id.v.p);
        return MRS_OK;
    }
    mrs_buf_reset(scratch);
    mrs_key_append(scratch, id.v, false);
    if (scratch->bad == 1) {
        return mrs_buf_status(scratch, e);
    }
    /* an _id above the key limit: its raw bytes, which find duplicates with equal bytes */
    *out = scratch->bad ? (struct to_hash){id.v.p, id.v.n, IS_BYTES} : (struct to_hash){scratch->p, scratch->n, IS_KEY};
    return MRS_OK;
}

enum mrs_status
mrsi_ids_short(const struct mrsi_ids *ids, uint32_t target, struct mrs_view doc, struct mrs_buf *scratch, uint64_t *out,
               struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const uint8_t *usual = mrsi_first_object_id(doc);
    struct to_hash id = object_id(usual);
    enum mrs_status s = usual ? MRS_OK : any_id(doc, scratch, &id, e);
    if (s == MRS_OK) {
        uint64_t seed = ids->en->secret.seed ^ (target * (uint64_t)N_KINDS + id.kind + 1) * 0x9E3779B97F4A7C15ull;
        *out = mrs_hash64(id.p, id.n, seed);
    }
    return s;
}

enum mrs_status
mrsi_ids_hash(const struct mrsi_ids *ids, uint32_t target, struct mrs_view doc, struct mrs_buf *scratch,
              struct mrs_hash128 *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct to_hash id = {NULL, 0, 0};
    enum mrs_status s = any_id(doc, scratch, &id, e);
    if (s == MRS_OK) {
        *out = mrs_hash_secret(&ids->en->secret, target * N_KINDS + id.kind, id.p, id.n);
    }
    return s;
}

static enum mrs_status
flush(struct mrsi_ids *ids, struct mrs_err *e)
{
    struct mrs_buf all;
    enum mrs_status s = ids->spill ? MRS_OK : mrsi_ckpt_temp(ids->en, &ids->spill, e);
    mrs_buf_init(&all, ids->en->mem, SIZE_MAX);
    for (uint32_t i = 0; s == MRS_OK && i < MRSI_HASH_LISTS; i++) {
        mrs_buf_reset(&all);
        s = mrsi_hashes_gather(&ids->hashes, i, &all, e);
        if (s != MRS_OK || !all.n) {
            continue;
        }
        struct extent x = {ids->spilled, i, (uint32_t)all.n};
        s = mrsi_temp_append(ids->spill, all.p, all.n, ids->spilled, e);
        ids->spilled += all.n;
        mrs_buf_put(&ids->extents, &x, sizeof x);
    }
    mrs_buf_clear(&all);
    mrsi_hashes_drop_all(&ids->hashes);
    ids->buffered = 0;
    return s == MRS_OK ? mrs_buf_status(&ids->extents, e) : s;
}

enum mrs_status
mrsi_ids_take(struct mrsi_ids *ids, const uint64_t *hash, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || hash);
    enum mrs_status s = mrsi_hashes_put(&ids->hashes, hash, n, e);
    ids->buffered += n * 8;
    return s == MRS_OK && ids->buffered > ids->en->memory / 4 ? flush(ids, e) : s;
}

int
mrsi_by_u64(const void *pa, const void *pb)
{
    uint64_t a, b;
    memcpy(&a, pa, 8);
    memcpy(&b, pb, 8);
    return a < b ? -1 : a > b;
}

/* Appends the spilled hashes of list i to those in memory. */
static enum mrs_status
load_list(struct mrsi_ids *ids, uint32_t i, struct mrs_buf *all, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(all));
    const struct extent *x = (const struct extent *)(const void *)ids->extents.p;
    size_t n = ids->extents.n / sizeof *x;
    for (size_t k = 0; k < n; k++) {
        if (x[k].list == i) {
            uint8_t *p = mrs_buf_take(all, x[k].n);
            MRS_TRY(p ? mrs_read_at(ids->spill->fd, p, x[k].n, x[k].off, e) : mrs_buf_status(all, e));
        }
    }
    return MRS_OK;
}

/* Most lists prove free of duplicates without a sort. A hash set of its own: 64 bits of a hash are enough to find
 * candidates. */
static bool
has_twice(const uint64_t *h, size_t n, uint32_t *slot, size_t slots)
{
    MRS_ASSERT(slots > n && (slots & (slots - 1)) == 0);
    memset(slot, 0, slots * sizeof *slot);
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)h[i] & (slots - 1);
        uint32_t v = (uint32_t)(h[i] >> (MRSI_HASH_TOP - 32)) | 1; /* never 0; false candidates are very rare */
        while (slot[at] && slot[at] != v) {
            at = (at + 1) & (slots - 1);
        }
        if (slot[at]) {
            return true;
        }
        slot[at] = v;
    }
    return false;
}

static enum mrs_status
search_list(struct mrsi_ids *ids, struct mrs_buf *all, struct mrs_buf *set, struct mrs_err *e)
{
    uint64_t *h = (uint64_t *)(void *)all->p;
    size_t n = all->n / 8, slots = 64;
    while (slots < n * 2) {
        slots *= 2;
    }
    mrs_buf_reset(set);
    uint32_t *slot = (uint32_t *)(void *)mrs_buf_take(set, slots * sizeof *slot);
    if (!slot) {
        return mrs_buf_status(set, e);
    }
    if (n < 2 || !has_twice(h, n, slot, slots)) {
        return MRS_OK;
    }
    qsort(h, n, 8, mrsi_by_u64);
    enum mrs_status s = MRS_OK;
    for (size_t i = 1; s == MRS_OK && i < n; i++) {
        if (h[i] == h[i - 1] && (i < 2 || h[i] != h[i - 2])) {
            s = mrsi_file_array_put(&ids->dup_hashes, &h[i], e);
        }
    }
    return s;
}

/* Hashes that the stopped run left may be damaged in their file. */
static enum mrs_status
check_list(const struct mrs_buf *all, uint32_t no, struct mrs_err *e)
{
    const uint64_t *h = (const uint64_t *)(const void *)all->p;
    for (size_t i = 0; i < all->n / 8; i++) {
        if (h[i] >> MRSI_HASH_TOP != no) {
            return mrsi_state_damaged("the keys", e);
        }
    }
    return MRS_OK;
}

void
mrsi_ids_begin_between(struct mrsi_ids *ids, struct mrsi_pass *pass)
{
    ids->pauses = (struct mrsi_pause_clock){ids->en, pass, 0};
    if (pass) {
        pass->from = mrs_empty_doc(); /* a resumed pass has one, and the next pass begins */
    }
}

static enum mrs_status
search_next(struct mrsi_ids *ids, struct mrs_buf *all, struct mrs_buf *set, struct mrs_err *e)
{
    mrs_buf_reset(all);
    enum mrs_status s = mrsi_hashes_gather(&ids->hashes, ids->searched, all, e);
    s = s == MRS_OK && ids->spilled ? load_list(ids, ids->searched, all, e) : s;
    s = s == MRS_OK && ids->resumed ? check_list(all, ids->searched, e) : s;
    MRS_THEN(s, search_list(ids, all, set, e));
    mrsi_hashes_drop(&ids->hashes, ids->searched);
    ids->searched++;
    return s == MRS_OK ? mrsi_pause_after(&ids->pauses, WEIGHT * all->n, e) : s;
}

enum mrs_status
mrsi_ids_find_duplicates(struct mrsi_ids *ids, struct mrsi_pass *pass, bool *clash, struct mrs_err *e)
{
    MRS_ASSERT(clash);
    struct mrs_buf all, set;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&all, ids->en->mem, SIZE_MAX);
    mrs_buf_init(&set, ids->en->mem, SIZE_MAX);
    mrsi_ids_begin_between(ids, pass);
    ids->phase = MRSI_IDS_FIND_DUPLICATES;
    while (s == MRS_OK && ids->searched < MRSI_HASH_LISTS) { /* lists ascend: the result is sorted */
        s = search_next(ids, &all, &set, e);
    }
    mrs_buf_clear(&all);
    mrs_buf_clear(&set);
    drop_hashes(ids);
    *clash = ids->dup_hashes.n > 0;
    ids->phase = MRSI_IDS_COLLECT;
    return s == MRS_OK ? mrsi_file_array_end(&ids->dup_hashes, e) : s;
}

bool
mrsi_ids_has_dup_hash(const struct mrsi_ids *ids, uint64_t hash)
{
    return mrsi_file_array_find(&ids->dup_hashes, &hash, mrsi_by_u64);
}

/* ---- savepoints ---- */
/* Hashes so far, and in FIND_DUPLICATES the number of finished lists. */
static enum mrs_status
save_hashes(struct mrsi_ids *ids, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = ids->buffered ? flush(ids, e) : MRS_OK;
    mrsi_save_temp("hashes", ids->spill, ids->spilled, b, files);
    mrs_build_i64(b, "looked", ids->searched);
    MRS_THEN(s, mrsi_savepoint_list_save(&ids->extents_kept, "extents", b, files, e));
    return s == MRS_OK ? mrsi_file_array_save(&ids->dup_hashes, "suspicious", b, files, e) : s;
}

static enum mrs_status
apply_hashes(struct mrsi_ids *ids, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false;
    ids->searched = (uint32_t)mrsi_state_number(d, "looked", ids->phase == MRSI_IDS_FIND_DUPLICATES ? MRSI_HASH_LISTS :
                                              0, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the keys", e) : MRS_OK;
    MRS_THEN(s, mrsi_load_temp(ids->en, d, "hashes", &ids->spill, &ids->spilled, e));
    MRS_THEN(s, mrsi_savepoint_list_load(&ids->extents_kept, d, "extents", e));
    MRS_THEN(s, mrsi_file_array_load(&ids->dup_hashes, d, "suspicious", e));
    bad = ids->extents.n % sizeof(struct extent) || ids->dup_hashes.ended ||
          (ids->phase == MRSI_IDS_OPTIMISTIC && ids->dup_hashes.n);
    for (size_t i = 0; s == MRS_OK && !bad && i < ids->extents.n; i += sizeof(struct extent)) {
        struct extent x;
        memcpy(&x, ids->extents.p + i, sizeof x);
        bad = x.list >= MRSI_HASH_LISTS || x.n % 8 || x.off > ids->spilled || x.n > ids->spilled - x.off;
    }
    return s == MRS_OK && bad ? mrsi_state_damaged("the keys", e) : s;
}

static enum mrs_status
describe_verdicts(struct mrsi_ids *ids, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_save(&ids->rejected, "barred", b, files, e);
    MRS_THEN(s, mrsi_file_array_save(&ids->verdicts, "decisions", b, files, e));
    return s == MRS_OK ? mrsi_file_array_save(&ids->replaced, "replaced", b, files, e) : s;
}

/* From COLLECT on. */
static enum mrs_status
describe_members(struct mrsi_ids *ids, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    mrsi_save_temp("bodies", ids->bodies, ids->bodies_bytes, b, files);
    if (ids->phase == MRSI_IDS_COLLECT) {
        s = mrsi_file_array_save(&ids->dup_hashes, "suspicious", b, files, e);
    } else {
        s = describe_verdicts(ids, b, files, e);
    }
    if (s == MRS_OK && ids->phase < MRSI_IDS_APPLY) {
        s = mrsi_sorter_save(&ids->members, "members", b, files, e);
    }
    return s == MRS_OK && ids->judge ? mrsi_id_decision_save(ids, b, files, e) : s;
}

enum mrs_status
mrsi_ids_save(struct mrsi_ids *ids, const char *name, struct mrs_build *b, struct mrs_buf *files,
              struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    mrs_build_i64(b, "phase", ids->phase);
    enum mrs_status s = ids->phase < MRSI_IDS_COLLECT ? save_hashes(ids, b, files, e)
                                                      : describe_members(ids, b, files, e);
    mrs_build_close(b);
    return s;
}

static enum mrs_status
apply_verdicts(struct mrsi_ids *ids, struct mrs_view d, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_load(&ids->rejected, d, "barred", e);
    MRS_THEN(s, mrsi_file_array_load(&ids->verdicts, d, "decisions", e));
    MRS_THEN(s, mrsi_file_array_load(&ids->replaced, d, "replaced", e));
    bool ended = ids->rejected.ended && ids->verdicts.ended && ids->replaced.ended;
    return s == MRS_OK && ids->phase == MRSI_IDS_APPLY && !ended ? mrsi_state_damaged("verdicts", e) : s;
}

static enum mrs_status
apply_members(struct mrsi_ids *ids, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    enum mrs_status s = mrsi_load_temp(ids->en, d, "bodies", &ids->bodies, &ids->bodies_bytes, e);
    if (s == MRS_OK && ids->phase == MRSI_IDS_COLLECT) {
        s = mrsi_file_array_load(&ids->dup_hashes, d, "suspicious", e);
        s = s == MRS_OK && !ids->dup_hashes.ended ? mrsi_state_damaged("the keys", e) : s;
    } else if (s == MRS_OK) {
        s = apply_verdicts(ids, d, e);
    }
    if (s == MRS_OK && ids->phase < MRSI_IDS_APPLY) {
        s = mrsi_sorter_load(&ids->members, d, "members", e);
    }
    return s == MRS_OK && ids->phase == MRSI_IDS_DECIDE ? mrsi_id_decision_load(ids, d, e) : s;
}

enum mrs_status
mrsi_ids_load(struct mrsi_ids *ids, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    struct mrs_view d = mrsi_savepoint_doc(saved, name);
    ids->phase = (enum mrsi_ids_phase)mrsi_state_number(d, "phase", MRSI_IDS_APPLY, &bad);
    if (bad || (mrsi_ids_is_between(ids) && mrs_doc_get(saved, "scan").type != MRS_MISSING)) {
        return mrsi_state_damaged(name, e);
    }
    ids->resumed = true;
    if (ids->phase < MRSI_IDS_COLLECT) {
        return apply_hashes(ids, d, e);
    }
    drop_hashes(ids);
    return apply_members(ids, d, e);
}
