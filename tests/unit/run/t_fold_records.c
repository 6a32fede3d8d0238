/* SPDX-License-Identifier: Apache-2.0 */
/* t_fold_records.c - what folds keep of documents, in every form of record, comes back as it was: ordinals that lie far
 * apart, orders as numbers and as bytes, shared records that are in several pieces. */
#include "mongoreshape/fold_ops.h"
#include "run_test.h"
#include "run/fold/fold.h"

enum { DOCS = 6000, WORKERS = 3, GROUPS = 7, SHARED = GROUPS * 3, PAYLOAD_MAX = 400 };

/* How a document is kept: with its order, or entered the fast way. */
enum way { NO_ORDER, SHORT_ORDER, LONG_ORDER, LONGEST_ORDER, FIRST_WAY_IS_FAST, DATED = FIRST_WAY_IS_FAST,
           DATED_AT_THE_END, DATED_TOO_FAR, DATED_ELSEWHERE, WAYS };
struct one {
    uint64_t ordinal;
    uint32_t shared, worker;
    enum way way;
    uint8_t order[40], payload[PAYLOAD_MAX];
    uint32_t n_order, n_payload, date_at;
    int64_t date;
};
static struct one docs[DOCS];

struct keeping {
    struct mrsi_fold f;
    struct mrsi_fold_router router[WORKERS];
    struct mrsi_fold_shared_cache seen[WORKERS][SHARED];
    uint32_t shared_all; /* records of them */
};

/* ---- documents ---- */
/* Mostly the next; the second, the third and some others as far as a piece may reach, or just too far. */
static uint64_t
next_ordinal(uint32_t i, uint64_t before, uint64_t *chance)
{
    if (i < 3) {
        return i ? (uint64_t)UINT32_MAX + i - 1 : 0;
    }
    uint64_t x = roll(chance);
    return before + (x % 400 ? 1 + x % 3 : x % 3 ? (uint64_t)UINT32_MAX + x % 2 : 1ull << 40);
}

static void
make_order(struct one *d, uint64_t *chance)
{
    static const uint32_t bytes[] = {0, 9, 5, 33};
    d->n_order = bytes[d->way];
    for (uint32_t k = 0; k < d->n_order; k++) {
        d->order[k] = (uint8_t)(1 + roll(chance) % 2);
    }
}

static void
make_date(struct one *d, uint64_t *chance)
{
    d->date = (int64_t)(roll(chance) % 50) - 25;
    d->date_at = d->way == DATED ? 4 : d->way == DATED_ELSEWHERE ? MRS_FOLD_ELSEWHERE : d->n_payload - 8;
    if (d->way != DATED_ELSEWHERE) {
        memcpy(d->payload + d->date_at, &d->date, 8);
    }
    mrs_key_date(d->order, d->date);
    d->n_order = MRS_KEY_DATE;
}

static void
make_docs(void)
{
    uint64_t chance = 4711, ordinal = 0;
    for (uint32_t i = 0; i < DOCS; i++) {
        struct one *d = &docs[i];
        memset(d, 0, sizeof *d);
        ordinal = d->ordinal = next_ordinal(i, ordinal, &chance);
        d->shared = i < 3 ? 0 : (uint32_t)(roll(&chance) % SHARED);
        d->worker = i < 3 ? 0 : (uint32_t)(roll(&chance) % WORKERS);
        d->way = (enum way)(roll(&chance) % WAYS);
        d->n_payload = d->way == DATED_TOO_FAR ? 300 + i % 90
                       : d->way == DATED_AT_THE_END ? 252 + i % 8 /* about what a byte says */
                                                    : 12 + i % 40;
        memset(d->payload, (int)(i & 255), d->n_payload);
        memcpy(d->payload, &i, sizeof i);
        if (d->way < FIRST_WAY_IS_FAST) {
            make_order(d, &chance);
        } else {
            make_date(d, &chance);
        }
    }
}

/* ---- keeping ---- */
/* Of groups the key, of shared records the rest: two shared records of three differ in it. */
static struct mrsi_fold_parts
parts_of(const struct one *d, uint8_t key[8])
{
    memset(key, 'g', 4);
    key[3] = (uint8_t)('a' + d->shared % GROUPS);
    key[4] = d->shared / GROUPS ? 'x' : 'y';
    struct mrsi_fold_parts x = {.group = {key, 4}, .shared = {key + 4, 1}, .order = {d->order, d->n_order},
                                .payload = {d->payload, d->n_payload}, .ordinal = d->ordinal};
    return x;
}

static bool
keep_in_open_piece(struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen, const struct one *d,
                   const struct mrsi_fold_parts *x)
{
    const struct mrs_fold_span all[] = {{0, 4}, {4, (uint16_t)(d->n_payload - 4)}};
    struct mrs_fold_fast g = {d->date, d->date_at, all, 2, d->n_payload, NULL};
    return d->way < FIRST_WAY_IS_FAST ? mrsi_fold_keep(r, seen, x)
                                          : mrsi_fold_keep_fast(r, seen, &g, d->payload, d->ordinal);
}

static enum mrs_status
keep_all(struct keeping *k, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < DOCS; i++) {
        struct mrsi_fold_shared_cache *seen = &k->seen[docs[i].worker][docs[i].shared];
        struct mrsi_fold_router *r = &k->router[docs[i].worker];
        uint8_t key[8];
        struct mrsi_fold_parts x = parts_of(&docs[i], key);
        seen->part = docs[i].shared % GROUPS % k->f.spill.n_part;
        if (!seen->piece || !keep_in_open_piece(r, seen, &docs[i], &x)) {
            s = mrsi_fold_keep_shared(r, seen, &x, docs[i].shared % GROUPS * 77, e);
            k->shared_all++;
        }
    }
    return s;
}

static enum mrs_status
begin(struct keeping *k, struct bare *b)
{
    memset(k, 0, sizeof *k);
    k->f.en = &b->en;
    struct mrsi_spill_layout layout = mrsi_layout_fold(b->en.memory, b->en.jobs, 4, 1 << 20);
    enum mrs_status s = mrsi_spill_init(&k->f.spill, &b->en, 4, &layout, &b->err);
    for (uint32_t i = 0; s == MRS_OK && i < WORKERS; i++) {
        k->router[i].open = mrs_zalloc(b->mem, k->f.spill.n_part * sizeof *k->router[i].open);
        s = k->router[i].open ? mrsi_spiller_init(&k->router[i].spiller, &k->f.spill, i, &b->err)
                              : mrs_err_memory(&b->err, k->f.spill.n_part);
    }
    return s;
}

static enum mrs_status
end(struct keeping *k, struct bare *b, enum mrs_status s)
{
    for (uint32_t i = 0; s == MRS_OK && i < WORKERS; i++) {
        s = mrsi_spiller_end(&k->router[i].spiller, &b->err);
    }
    return s;
}

static void
clear(struct keeping *k)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        mrsi_spiller_clear(&k->router[i].spiller);
        mrs_free(k->f.en->mem, k->router[i].open);
    }
    mrsi_spill_clear(&k->f.spill);
}

/* ---- what comes back ---- */
static const struct one *
check_member(const struct mrsi_fold_load *l, const struct mrsi_fold_group *g, const struct mrsi_fold_member *m)
{
    struct mrs_view payload = mrsi_fold_payload(m->rec);
    uint32_t no;
    memcpy(&no, payload.p, sizeof no);
    assert_true(no < DOCS);
    const struct one *d = &docs[no];
    uint8_t key[8], room[9];
    struct mrsi_fold_parts x = parts_of(d, key);
    struct mrs_view rest = mrsi_fold_shared_rest(mrsi_fold_shared_of(l, m)->rec), order = mrsi_fold_order(m->rec, room);
    assert_int_equal(mrsi_fold_ordinal_of(l, m), d->ordinal);
    assert_int_equal(payload.n, d->n_payload);
    assert_memory_equal(payload.p, d->payload, d->n_payload);
    assert_int_equal(mrsi_fold_compare(g->key, x.group), 0);
    assert_int_equal(mrsi_fold_compare(rest, x.shared), 0);
    assert_int_equal(mrsi_fold_compare(order, x.order), 0);
    return d;
}

static void
check_group(const struct mrsi_fold_load *l, const struct mrsi_fold_group *g)
{
    const struct mrsi_fold_member *m = (const struct mrsi_fold_member *)(const void *)l->members.p + g->at;
    const struct one *before = NULL;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct one *d = check_member(l, g, &m[i]);
        if (before) {
            struct mrs_view a = {before->order, before->n_order}, b = {d->order, d->n_order};
            int c = mrsi_fold_compare(a, b);
            assert_true(c < 0 || (c == 0 && before->ordinal < d->ordinal));
        }
        before = d;
    }
}

/* Shared records of a group are alike or they are not; in many pieces, some of those that are share a number. */
static uint32_t
check_shared(const struct mrsi_fold_load *l)
{
    const struct mrsi_fold_shared *shared = (const struct mrsi_fold_shared *)(const void *)l->shared_all.p;
    uint32_t alike = 0;
    for (uint32_t i = 0; i < l->shared_all.n / sizeof *shared; i++) {
        const struct mrsi_fold_shared *other = &shared[shared[i].first_equal];
        assert_true(shared[i].first_equal <= i && other->group == shared[i].group);
        assert_true(other->first_equal == shared[i].first_equal);
        assert_int_equal(mrsi_fold_compare(mrsi_fold_shared_rest(other->rec), mrsi_fold_shared_rest(shared[i].rec)), 0);
        alike += shared[i].first_equal != i;
    }
    return alike;
}

static enum mrs_status
look(struct keeping *k, struct mrs_err *e)
{
    struct mrsi_fold_load l;
    uint32_t groups = 0, members = 0, shared_all = 0, shared = 0;
    enum mrs_status s = MRS_OK;
    mrsi_fold_load_init(&l, k->f.en->mem);
    for (uint32_t p = 0; s == MRS_OK && p < k->f.spill.n_part; p++) {
        s = mrsi_fold_load(&k->f, &l, &k->f.spill.part[p], e);
        for (uint32_t i = 0; s == MRS_OK && i < l.n_groups; i++) {
            const struct mrsi_fold_group *g = mrsi_fold_group_at(&l, i);
            check_group(&l, g);
            members += g->n;
            groups++;
        }
        shared += s == MRS_OK ? check_shared(&l) : 0;
        shared_all += s == MRS_OK ? (uint32_t)(l.shared_all.n / sizeof(struct mrsi_fold_shared)) : 0;
    }
    if (s == MRS_OK) {
        assert_int_equal(groups, GROUPS);
        assert_int_equal(members, DOCS);
        assert_int_equal(shared_all, k->shared_all);
        assert_true(shared > 0 && shared_all > SHARED * WORKERS);
    }
    mrsi_fold_load_clear(&l);
    return s;
}

static enum mrs_status
keep_and_look(struct bare *b)
{
    static struct keeping k;
    enum mrs_status s = begin(&k, b);
    s = s == MRS_OK ? keep_all(&k, &b->err) : s;
    s = end(&k, b, s);
    s = s == MRS_OK ? look(&k, &b->err) : s;
    clear(&k);
    return s;
}

static void
all_forms(void **state)
{
    static const uint64_t memory[] = {1 << 30, 1 << 20, 4096};
    (void)state;
    make_docs();
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        struct bare b;
        bare_begin(&b, 0, memory[i], WORKERS);
        assert_int_equal(keep_and_look(&b), MRS_OK);
        bare_end(&b);
    }
}

static void
memory_fails(void **state)
{
    (void)state;
    make_docs();
    for (uint64_t n = 1;; n++) {
        struct bare b;
        bare_begin(&b, n, 64 << 10, WORKERS);
        enum mrs_status s = keep_and_look(&b);
        bool reached = mrs_mem_count(b.mem) >= n;
        if (reached) {
            is_memory(s, &b.err);
        }
        bare_end(&b);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            assert_true(n > 10);
            return;
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_forms), cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
