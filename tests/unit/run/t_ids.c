/* SPDX-License-Identifier: Apache-2.0 */
/* t_ids.c - equal `_id`s are found in memory and on disk, and judged by the plan's policy. */
#include "run_test.h"
#include "run/pass/id_check.h"

/* { _id: id, v: v } with int32s; twelve documents may be used at a time. */
static struct mrs_view
doc_of(int32_t id, int32_t v)
{
    static uint8_t ring[12][22];
    static int next;
    uint8_t *p = ring[next++ % 12];
    memcpy(p, "\x15\0\0\0\x10_id", 9);
    mrs_put32(p + 9, (uint32_t)id);
    memcpy(p + 13, "\x10v", 3);
    mrs_put32(p + 16, (uint32_t)v);
    p[20] = 0;
    struct mrs_view d = {p, 21};
    return d;
}

static struct mrs_hash128
hash_of(struct mrsi_ids *ids, uint32_t target, struct mrs_view doc)
{
    struct mrs_hash128 h = {0, 0};
    assert_int_equal(mrsi_ids_hash(ids, target, doc, &ids->en->worker[0].scratch, &h, NULL), MRS_OK);
    return h;
}

/* Whether two `_id`s are one: by the short hash and by the long one alike. */
static bool
same_id(struct mrsi_ids *ids, uint32_t target, struct mrs_view a, uint32_t other, struct mrs_view b)
{
    struct mrs_hash128 x = hash_of(ids, target, a), y = hash_of(ids, other, b);
    struct mrs_buf *scratch = &ids->en->worker[0].scratch;
    uint64_t u = 0, v = 0;
    assert_int_equal(mrsi_ids_short(ids, target, a, scratch, &u, NULL), MRS_OK);
    assert_int_equal(mrsi_ids_short(ids, other, b, scratch, &v, NULL), MRS_OK);
    assert_int_equal(u == v, x.lo == y.lo && x.hi == y.hi);
    return u == v;
}

static void
hashes(void **state)
{
    struct mrsi_ids ids;
    struct bare b;
    struct mrs_hash128 h;
    uint64_t u;
    uint8_t as_double[] = "\x12\0\0\0\x01_id\0\0\0\0\0\0\0\x1c\x40";
    uint8_t first[] = "\x1d\0\0\0\x07_id\0abcdefghijkl\x10x\0\1\0\0\0";
    uint8_t second[] = "\x1d\0\0\0\x10x\0\1\0\0\0\x07_id\0abcdefghijkl";
    struct mrs_view none = mrs_empty_doc(), seven = {as_double, 18}, in_front = {first, 29}, behind = {second, 29};
    (void)state;
    bare_begin(&b, 0, 1 << 20, 1);
    assert_int_equal(mrsi_ids_init(&ids, &b.en, MRS_CONFLICTS_REFUSE, &b.err), MRS_OK);
    assert_int_equal(mrsi_ids_hash(&ids, 0, none, &b.en.worker[0].scratch, &h, NULL), MRS_END);
    assert_int_equal(mrsi_ids_short(&ids, 0, none, &b.en.worker[0].scratch, &u, NULL), MRS_END);
    assert_true(same_id(&ids, 0, doc_of(7, 1), 0, doc_of(7, 2)));
    assert_true(same_id(&ids, 0, doc_of(7, 1), 0, seven)); /* 7 = 7.0 */
    assert_false(same_id(&ids, 0, doc_of(7, 1), 1, doc_of(7, 1)));
    assert_false(same_id(&ids, 0, doc_of(7, 1), 0, doc_of(8, 1)));
    assert_true(same_id(&ids, 0, in_front, 0, behind));
    assert_false(same_id(&ids, 0, in_front, 1, behind));
    mrsi_ids_clear(&ids);
    bare_end(&b);
}

/* n hashes, put and gathered again, are the same in any order; each is in the list of its top bits. */
static void
put_and_gather(struct mrsi_hashes *lists, const uint64_t *h, uint32_t n)
{
    struct mrs_buf all;
    struct mrs_err err;
    uint64_t *sorted = malloc((n + 1) * sizeof *h);
    memcpy(sorted, h, n * sizeof *h);
    qsort(sorted, n, sizeof *h, mrsi_by_u64);
    mrs_err_clear(&err);
    mrs_buf_init(&all, lists->mem, SIZE_MAX);
    for (uint32_t i = 0; i < n; i += 1000) {
        assert_int_equal(mrsi_hashes_put(lists, h + i, n - i < 1000 ? n - i : 1000, &err), MRS_OK);
    }
    for (uint32_t i = 0; i < MRSI_HASH_LISTS; i++) {
        size_t before = all.n;
        assert_int_equal(mrsi_hashes_gather(lists, i, &all, &err), MRS_OK);
        if (all.n > before) {
            qsort(all.p + before, (all.n - before) / sizeof *h, sizeof *h, mrsi_by_u64);
        }
    }
    assert_int_equal(all.n, n * sizeof *h);
    assert_memory_equal(all.p ? (const void *)all.p : "", sorted, all.n);
    mrs_buf_clear(&all);
    free(sorted);
}

static void
lists_of_hashes(void **state)
{
    static const uint32_t rows[] = {0, 1, 512 * 15, 40000, 300000};
    enum { MOST = 300000 };
    uint64_t seed = 5, *h = malloc(MOST * sizeof *h);
    (void)state;
    for (uint32_t i = 0; i < MOST; i++) {
        h[i] = roll(&seed) >> (i % 4 == 0 ? 12 : 0); /* some lists have many */
    }
    for (uint64_t memory = 1000; memory < 1 << 26; memory *= 40) {
        struct mrsi_hashes lists;
        struct bare b;
        bare_begin(&b, 0, 1 << 20, 1);
        assert_int_equal(mrsi_hashes_init(&lists, b.en.mem, memory, &b.err), MRS_OK);
        for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            put_and_gather(&lists, h, rows[i]);
            mrsi_hashes_drop_all(&lists);
        }
        uint32_t slabs = (uint32_t)lists.slabs.n;
        put_and_gather(&lists, h, MOST);
        assert_int_equal(lists.slabs.n, slabs); /* room is used again */
        mrsi_hashes_drop(&lists, 0);
        struct mrs_buf all;
        mrs_buf_init(&all, b.en.mem, SIZE_MAX);
        assert_int_equal(mrsi_hashes_gather(&lists, 0, &all, &b.err), MRS_OK);
        assert_int_equal(all.n, 0);
        mrs_buf_clear(&all);
        mrsi_hashes_clear(&lists);
        bare_end(&b);
    }
    free(h);
}

/* n hashes, of which `twice` come once more. */
static enum mrs_status
look_for(struct bare *b, uint64_t n, uint64_t twice, bool *clash, uint64_t *dup_hashes)
{
    struct mrsi_ids ids;
    uint64_t seed = n, *h = malloc((n + 1) * 8);
    enum mrs_status s = mrsi_ids_init(&ids, &b->en, MRS_CONFLICTS_REFUSE, &b->err);
    for (uint64_t i = 0; i < n; i++) {
        h[i] = roll(&seed) & ~(uint64_t)1;
    }
    for (uint64_t i = 0; s == MRS_OK && i < n; i += 100) {
        s = mrsi_ids_take(&ids, h + i, n - i < 100 ? n - i : 100, &b->err);
    }
    s = s == MRS_OK ? mrsi_ids_take(&ids, h, twice, &b->err) : s;
    s = s == MRS_OK ? mrsi_ids_take(&ids, h, twice / 2, &b->err) : s;
    s = s == MRS_OK ? mrsi_ids_find_duplicates(&ids, NULL, clash, &b->err) : s;
    if (s == MRS_OK) {
        *dup_hashes = ids.dup_hashes.n;
        for (uint64_t i = 0; i < n; i++) {
            assert_int_equal(mrsi_ids_has_dup_hash(&ids, h[i]), i < twice);
        }
    }
    mrsi_ids_clear(&ids);
    free(h);
    return s;
}

static void
many_hashes(void **state)
{
    static const uint64_t rows[][3] = {{0, 0, 1 << 20},          {1, 0, 1 << 20},    {1, 1, 1 << 20},
                                       {100000, 0, 1 << 26},     {100000, 50, 4096}, {100000, 0, 1 << 16},
                                       {100000, 100000, 1 << 16}, {100000, 50, 1 << 22}, {100000, 50, 1 << 20}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bare b;
        bool clash = true;
        uint64_t found = 9;
        bare_begin(&b, 0, rows[i][2], 1);
        assert_int_equal(look_for(&b, rows[i][0], rows[i][1], &clash, &found), MRS_OK);
        assert_int_equal(clash, rows[i][1] > 0);
        assert_int_equal(found, rows[i][1]);
        bare_end(&b);
    }
}

static void
memory_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 3000; n = n < 40 ? n + 1 : n * 3 / 2) {
        struct bare b;
        bool clash;
        uint64_t found;
        bare_begin(&b, n, 4096, 1);
        enum mrs_status s = look_for(&b, 3000, 5, &clash, &found);
        if (mrs_mem_count(b.mem) >= n) {
            is_memory(s, &b.err);
        } else {
            assert_int_equal(s, MRS_OK);
        }
        bare_end(&b);
    }
}

/* ---- judging ---- */
struct member {
    int32_t id, v;
    uint64_t source;
    uint32_t there, made;
};

static void
add(struct mrsi_ids *ids, const struct member *x)
{
    struct mrs_view doc = doc_of(x->id, x->v);
    struct mrs_hash128 h = hash_of(ids, 3, doc), body = mrs_hash(doc.p, doc.n, 0);
    struct mrs_buf list;
    struct mrs_err e;
    uint32_t keep = !x->there && mrsi_ids_keeps_bodies(ids, 3) ? doc.n : 0;
    struct mrsi_id_member m = {h.lo, h.hi, body.lo, body.hi, x->source, 0, 3, x->there, x->made, 0, keep, 0};
    mrs_err_clear(&e);
    mrs_buf_init(&list, ids->en->mem, SIZE_MAX);
    mrs_buf_put(&list, &m, sizeof m);
    mrs_buf_put(&list, doc.p, keep);
    assert_int_equal(mrsi_ids_members(ids, &list, &e), MRS_OK);
    mrs_buf_clear(&list);
}

/* What becomes of a place: "-" refused, "m" merged, else the v that is there in the end. */
static void
tell(struct mrsi_ids *ids, const struct member *x, char *text)
{
    struct mrs_view doc = doc_of(x->id, x->v);
    struct mrs_buf room;
    struct mrs_err e;
    uint64_t a = x->there ? 3 : x->source, b = x->there ? x->source : 0;
    mrs_err_clear(&e);
    mrs_buf_init(&room, ids->en->mem, SIZE_MAX);
    assert_int_equal(mrsi_ids_replace(ids, x->there, a, b, &room, &doc, &e), MRS_OK);
    if (!x->there && mrsi_ids_rejected(ids, x->source)) {
        strcat(text, "- ");
    } else if (!x->there && mrsi_ids_verdict(ids, x->source, 0) >= MRSI_EQUAL) {
        strcat(text, "m ");
    } else {
        sprintf(text + strlen(text), "%u ", mrs_le32(doc.p + 16));
    }
    mrs_buf_clear(&room);
}

static void
judged(enum mrs_conflicts policy, bool over, const struct member *x, size_t n, const char *want)
{
    struct mrsi_ids ids;
    struct bare b;
    char text[200] = "";
    bare_begin(&b, 0, 1 << 20, 1);
    assert_int_equal(mrsi_ids_init(&ids, &b.en, policy, &b.err), MRS_OK);
    if (over) {
        ids.over[ids.n_over++] = 3;
    }
    ids.phase = MRSI_IDS_COLLECT;
    for (size_t i = 0; i < n; i++) {
        add(&ids, &x[n - 1 - i]); /* in any order */
    }
    assert_int_equal(mrsi_ids_decide(&ids, NULL, &b.err), MRS_OK);
    for (size_t i = 0; i < n; i++) {
        tell(&ids, &x[i], text);
    }
    assert_string_equal(text, want);
    mrsi_ids_clear(&ids);
    bare_end(&b);
}

static void
policies(void **state)
{
    /* id 1: there and one source agree; id 2: two sources differ; id 3: a source differs from what is there;
     * id 4: alone; id 5: there twice, nobody comes; id 6: equal sources; id 7: of three sources one differs */
    static const struct member x[] = {{1, 10, 0, 1, 0},   {1, 10, 100, 0, 0}, {2, 20, 101, 0, 0}, {2, 21, 102, 0, 0},
                                      {3, 30, 1, 1, 0},   {3, 31, 103, 0, 0}, {4, 40, 104, 0, 0}, {5, 50, 2, 1, 0},
                                      {5, 51, 3, 1, 0},   {6, 60, 105, 0, 0}, {6, 60, 106, 0, 0}, {7, 70, 107, 0, 0},
                                      {7, 71, 108, 0, 0}, {7, 70, 109, 0, 0}};
    enum { N = sizeof x / sizeof *x };
    (void)state;
    judged(MRS_CONFLICTS_REFUSE, false, x, N, "10 m - - 30 - 40 50 51 60 m - - - ");
    judged(MRS_CONFLICTS_FIRST, false, x, N, "10 m 20 m 30 m 40 50 51 60 m 70 m m ");
    judged(MRS_CONFLICTS_LAST, false, x, N, "10 m 21 m 31 m 40 50 51 60 m 70 m m ");
    judged(MRS_CONFLICTS_REFUSE, true, x, N, "10 m - - 31 m 40 50 51 60 m - - - ");
}

/* A source that another key bars stands for nobody; what was made is never the same, unless the other one is there. */
static void
rejected_first(void **state)
{
    static const struct member x[] = {{1, 10, 100, 0, 0}, {1, 10, 102, 0, 0}, {1, 10, 103, 0, 0}, {2, 20, 100, 0, 0},
                                      {2, 21, 101, 0, 0}, {3, 30, 104, 0, 1}, {3, 30, 105, 0, 1}, {4, 40, 105, 0, 0},
                                      {4, 40, 106, 0, 0}, {5, 50, 0, 1, 0},   {5, 50, 107, 0, 1}, {6, 60, 1, 1, 1},
                                      {6, 60, 108, 0, 1}, {7, 70, 100, 0, 1}, {7, 70, 109, 0, 1}};
    enum { N = sizeof x / sizeof *x };
    (void)state;
    judged(MRS_CONFLICTS_REFUSE, false, x, N, "- 10 m - - - - - 40 50 m 60 - - 70 ");
}

/* Each that is refused is told whom it met: of equal ones the first that differs, else the first one. */
static void
whom_they_met(void **state)
{
    static const struct member x[] = {{1, 10, 101, 0, 0}, {1, 10, 102, 0, 0}, {1, 11, 103, 0, 0}, {2, 20, 5, 1, 0},
                                      {2, 21, 104, 0, 0}, {3, 30, 105, 0, 1}, {3, 30, 106, 0, 1}};
    static const uint64_t met[] = {103, 103, 101, 5, 106, 105};
    struct mrsi_ids ids;
    struct bare b;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 1);
    assert_int_equal(mrsi_ids_init(&ids, &b.en, MRS_CONFLICTS_REFUSE, &b.err), MRS_OK);
    ids.phase = MRSI_IDS_COLLECT;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        add(&ids, &x[i]);
    }
    assert_int_equal(mrsi_ids_decide(&ids, NULL, &b.err), MRS_OK);
    for (uint64_t i = 0; i < sizeof met / sizeof *met; i++) {
        const struct mrsi_rejected *k = mrsi_ids_rejected(&ids, 101 + i);
        assert_non_null(k);
        assert_int_equal(k->other, met[i]);
        assert_int_equal(k->there, met[i] == 5);
    }
    assert_null(mrsi_ids_rejected(&ids, 100));
    mrsi_ids_clear(&ids);
    bare_end(&b);
}

/* Thousands of keys, one of them with thousands of members, in the least memory there is: files throughout. */
static void
many_members(void **state)
{
    enum { N = 3000 };
    struct mrsi_ids ids;
    struct bare b;
    (void)state;
    for (enum mrs_conflicts policy = MRS_CONFLICTS_REFUSE; policy <= MRS_CONFLICTS_LAST; policy++) {
        bare_begin(&b, 0, 4096, 1);
        assert_int_equal(mrsi_ids_init(&ids, &b.en, policy, &b.err), MRS_OK);
        ids.phase = MRSI_IDS_COLLECT;
        for (int32_t i = N - 1; i >= 0; i--) {
            struct member there = {i, i, (uint64_t)i, 1, 0}, comes = {i, i + i % 2, (uint64_t)(N + i), 0, 0};
            struct member crowd = {-1, i, (uint64_t)(3 * N + i), 0, 0};
            add(&ids, &comes);
            add(&ids, &crowd);
            add(&ids, &there);
        }
        assert_int_equal(mrsi_ids_decide(&ids, NULL, &b.err), MRS_OK);
        for (int32_t i = 0; i < N; i++) {
            struct member there = {i, i, (uint64_t)i, 1, 0}, comes = {i, i + i % 2, (uint64_t)(N + i), 0, 0};
            struct member crowd = {-1, i, (uint64_t)(3 * N + i), 0, 0};
            char text[64] = "", want[64];
            bool refuses = policy == MRS_CONFLICTS_REFUSE, last = policy == MRS_CONFLICTS_LAST;
            tell(&ids, &there, text);
            tell(&ids, &comes, text);
            tell(&ids, &crowd, text);
            snprintf(want, sizeof want, "%d %s ", last ? i + i % 2 : i, refuses && i % 2 ? "-" : "m");
            snprintf(want + strlen(want), 32, i || refuses ? "%s " : "%s", refuses ? "-" : i ? "m" : "");
            if (!i && !refuses) { /* the first of the crowd has the place */
                snprintf(want + strlen(want), 32, "%d ", last ? N - 1 : 0);
            }
            assert_string_equal(text, want);
        }
        mrsi_ids_clear(&ids);
        bare_end(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashes),      cmocka_unit_test(lists_of_hashes),
                                       cmocka_unit_test(many_hashes), cmocka_unit_test(memory_fails),
                                       cmocka_unit_test(policies),    cmocka_unit_test(rejected_first),
                                       cmocka_unit_test(whom_they_met),
                                       cmocka_unit_test(many_members)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
