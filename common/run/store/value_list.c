/* SPDX-License-Identifier: Apache-2.0 */
/* value_list.c - a set of any number of values, first collected, then searched.
 *
 * Values are sorted by hash and bytes, so equal ones are adjacent, and the table of slots is written from front to
 * back: the slot of a value is the first free one at or after the position of its hash, without wrapping around. So the
 * table is never completely in memory while it is built. */
#include "value_list.h"

enum { HASH_N = 8, LEN_N = 4, ITEMS = 256 };

void
mrsi_value_list_init(struct mrsi_value_list *l, struct mrsi_engine *en)
{
    memset(l, 0, sizeof *l);
    l->en = en;
    mrs_buf_init(&l->key, en->mem, SIZE_MAX);
    mrsi_sorter_init(&l->sort, en, en->memory / 4);
    mrsi_file_array_init(&l->bytes, en, 1, 0); /* always in files, for checkpoints, and for the estimates of `check` */
    mrsi_file_array_init(&l->slots, en, sizeof(struct mrsi_value_slot), 0);
    l->bytes.kept = l->slots.kept = en->kept != NULL;
}

void
mrsi_value_list_clear(struct mrsi_value_list *l)
{
    if (!l->en) {
        return;
    }
    mrs_buf_clear(&l->key);
    mrsi_sorter_clear(&l->sort);
    mrsi_file_array_clear(&l->bytes);
    mrsi_file_array_clear(&l->slots);
    memset(l, 0, sizeof *l);
}

static uint64_t
hash_of(const struct mrsi_value_list *l, const uint8_t *p, size_t n)
{
    return mrs_hash(p, n, l->en->secret.seed).lo;
}

enum mrs_status
mrsi_value_list_put(struct mrsi_value_list *l, const uint8_t *p, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(!l->ready);
    uint8_t head[HASH_N];
    mrsi_put_be(head, hash_of(l, p, n), HASH_N);
    mrs_buf_reset(&l->key);
    mrs_buf_put(&l->key, head, HASH_N);
    mrs_buf_put(&l->key, p, n);
    return l->key.bad ? mrs_buf_status(&l->key, e)
                      : mrsi_sorter_put(&l->sort, l->key.p, (uint32_t)l->key.n, NULL, 0, e);
}

/* ---- the table ---- */
struct value_writer {
    struct mrsi_value_list *l;
    struct mrs_buf last; /* the previous key, in the order of the sorter */
    uint64_t at;    /* in bytes */
    uint64_t place; /* index of the next slot */
};

/* Equal ones are adjacent. */
static bool
is_new(struct value_writer *x, const struct mrsi_sorted *r)
{
    bool same = x->last.n == r->key_len && memcmp(x->last.p, r->key, r->key_len) == 0;
    if (!same) {
        mrs_buf_reset(&x->last);
        mrs_buf_put(&x->last, r->key, r->key_len);
    }
    return !same;
}

static enum mrs_status
put_bytes(struct value_writer *x, const struct mrsi_sorted *r, struct mrs_err *e)
{
    MRS_ASSERT(r->key_len >= HASH_N);
    uint8_t len[LEN_N];
    uint32_t n = r->key_len - HASH_N;
    mrs_put32(len, n);
    x->l->n++;
    enum mrs_status s = mrsi_file_array_put_n(&x->l->bytes, len, LEN_N, e);
    return s == MRS_OK ? mrsi_file_array_put_n(&x->l->bytes, r->key + HASH_N, n, e) : s;
}

static enum mrs_status
put_empty(struct value_writer *x, uint64_t up_to, struct mrs_err *e)
{
    static const struct mrsi_value_slot none[ITEMS];
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && x->place < up_to) {
        uint64_t n = up_to - x->place < ITEMS ? up_to - x->place : ITEMS;
        s = mrsi_file_array_put_n(&x->l->slots, none, n, e);
        x->place += n;
    }
    return s;
}

static uint64_t
home_of(const struct mrsi_value_list *l, uint64_t hash)
{
    return (uint64_t)((unsigned __int128)hash * l->n_slot >> 64);
}

static enum mrs_status
put_slot(struct value_writer *x, uint64_t hash, const struct mrsi_sorted *r, struct mrs_err *e)
{
    MRS_ASSERT(x->place <= x->l->n_slot + x->l->n);
    struct mrsi_value_slot one = {hash, x->at + 1};
    enum mrs_status s = put_empty(x, home_of(x->l, hash), e);
    MRS_THEN(s, mrsi_file_array_put(&x->l->slots, &one, e));
    x->place++;
    x->at += LEN_N + (uint64_t)r->key_len - HASH_N;
    return s;
}

/* Calls fn for each distinct value. */
static enum mrs_status
each_value(struct value_writer *x, enum mrs_status (*fn)(struct value_writer *x, uint64_t hash,
                                                         const struct mrsi_sorted *r, struct mrs_err *e),
           struct mrs_err *e)
{
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_sorter_rewind(&x->l->sort, e);
    mrs_buf_reset(&x->last);
    while (s == MRS_OK && (s = mrsi_sorter_next(&x->l->sort, &r, e)) == MRS_OK) {
        uint64_t hash = mrsi_get_be(r.key, HASH_N);
        s = is_new(x, &r) ? fn(x, hash, &r, e) : MRS_OK;
        s = s == MRS_OK && x->last.bad ? mrs_buf_status(&x->last, e) : s;
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
put_value(struct value_writer *x, uint64_t hash, const struct mrsi_sorted *r, struct mrs_err *e)
{
    (void)hash;
    return put_bytes(x, r, e);
}

enum mrs_status
mrsi_value_list_end(struct mrsi_value_list *l, struct mrs_err *e)
{
    MRS_ASSERT(!l->ready);
    struct value_writer x = {.l = l};
    mrs_buf_init(&x.last, l->en->mem, SIZE_MAX);
    enum mrs_status s = each_value(&x, put_value, e);
    l->n_slot = l->n + l->n / 2 + 1;
    MRS_THEN(s, each_value(&x, put_slot, e));
    MRS_THEN(s, put_empty(&x, (x.place < l->n_slot ? l->n_slot : x.place) + 1, e)); /* every search ends here */
    mrs_buf_clear(&x.last);
    mrs_buf_clear(&l->key);
    mrsi_sorter_clear(&l->sort);
    MRS_THEN(s, mrsi_file_array_spill(&l->bytes, e));
    MRS_THEN(s, mrsi_file_array_spill(&l->slots, e));
    MRS_THEN(s, mrsi_file_array_end(&l->bytes, e));
    MRS_THEN(s, mrsi_file_array_end(&l->slots, e));
    l->ready = s == MRS_OK;
    return s;
}

bool
mrsi_value_list_has(const struct mrsi_value_list *l, const uint8_t *p, size_t n)
{
    MRS_ASSERT(l->ready);
    uint64_t hash = hash_of(l, p, n);
    const struct mrsi_value_slot *s = (const struct mrsi_value_slot *)(const void *)l->slots.p + home_of(l, hash);
    for (; s->at && s->hash <= hash; s++) {
        const uint8_t *have = l->bytes.p + s->at - 1;
        if (s->hash == hash && mrs_le32(have) == n && memcmp(have + LEN_N, p, n) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- savepoints ---- */
enum mrs_status
mrsi_value_lists_save(struct mrsi_engine *en, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    mrs_build_open(b, "lists", 5, MRS_ARRAY);
    for (uint32_t i = 0; s == MRS_OK && en->list && i < en->plan->n_lists; i++) { /* an inverse run makes none itself */
        struct mrsi_value_list *l = &en->list[i];
        if (l->ready) {
            mrs_build_item_open(b, MRS_DOCUMENT);
            mrs_build_i64(b, "no", i);
            mrs_build_i64(b, "values", (int64_t)l->n);
            mrs_build_i64(b, "types", (int64_t)l->types);
            s = mrsi_file_array_save(&l->bytes, "bytes", b, files, e);
            MRS_THEN(s, mrsi_file_array_save(&l->slots, "slots", b, files, e));
            mrs_build_close(b);
        }
    }
    mrs_build_close(b);
    return s;
}

/* Does every search stay inside the data? */
static bool
is_valid(const struct mrsi_value_list *l)
{
    const struct mrsi_value_slot *s = (const struct mrsi_value_slot *)(const void *)l->slots.p;
    if (!l->slots.ended || l->slots.n <= l->n_slot || s[l->slots.n - 1].at) {
        return false;
    }
    for (size_t i = 0; i < l->slots.n; i++) {
        uint64_t at = s[i].at;
        if (at && (at - 1 > l->bytes.n || l->bytes.n - (at - 1) < LEN_N ||
                   mrs_le32(l->bytes.p + at - 1) > l->bytes.n - (at - 1) - LEN_N)) {
            return false;
        }
    }
    return true;
}

static enum mrs_status
list_back(struct mrsi_engine *en, struct mrs_view d, struct mrs_buf *files, struct mrs_err *e)
{
    bool bad = false;
    uint64_t no = mrsi_state_number(d, "no", UINT32_MAX, &bad);
    uint64_t values = mrsi_state_number(d, "values", INT64_MAX / 2, &bad);
    struct mrs_val types = mrs_doc_get(d, "types");
    if (bad || !en->list || no >= en->plan->n_lists || en->list[no].ready || types.type != MRS_INT64) {
        return mrsi_state_damaged("the values of a condition", e);
    }
    struct mrsi_value_list *l = &en->list[no];
    mrsi_value_list_init(l, en);
    l->n = values;
    l->n_slot = values + values / 2 + 1;
    l->types = (uint64_t)mrs_val_i64(types);
    enum mrs_status s = mrsi_file_array_load(&l->bytes, d, "bytes", e);
    if (s == MRS_OK && !l->bytes.ended) { /* a list without values */
        s = mrsi_file_array_end(&l->bytes, e);
    }
    MRS_THEN(s, mrsi_file_array_load(&l->slots, d, "slots", e));
    if (s == MRS_OK && !is_valid(l)) {
        s = mrsi_state_damaged("the values of a condition", e);
    }
    const struct mrsi_temp *const temp[] = {l->bytes.temp, l->slots.temp};
    for (int i = 0; s == MRS_OK && i < 2; i++) {
        if (temp[i]) {
            mrs_buf_put(files, &temp[i]->no, sizeof temp[i]->no);
        }
    }
    l->ready = s == MRS_OK;
    return s;
}

enum mrs_status
mrsi_value_lists_load(struct mrsi_engine *en, struct mrs_view state, struct mrs_buf *files, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_walk w;
    struct mrs_elem at;
    enum mrs_status s = MRS_OK;
    struct mrs_view lists = mrsi_state_list(state, "lists", &bad);
    if (bad) {
        return mrsi_state_damaged("the values of conditions", e);
    }
    for (mrs_walk_init(&w, lists); s == MRS_OK && mrs_walk_next(&w, &at) == 1;) {
        s = list_back(en, mrs_val_view(at.v), files, e);
    }
    return s;
}
