/* SPDX-License-Identifier: Apache-2.0 */
/* t_sorter.c - the external sort against a sort in memory, from no record to thousands of runs. */
#include "run_test.h"
#include "run/store/sorter.h"

struct line {
    uint8_t key[40];
    uint32_t key_len, seq, n;
};

static int
by_key(const void *pa, const void *pb)
{
    const struct line *a = pa, *b = pb;
    int c = memcmp(a->key, b->key, a->key_len < b->key_len ? a->key_len : b->key_len);
    c = c ? c : a->key_len < b->key_len ? -1 : a->key_len > b->key_len;
    return c ? c : a->seq < b->seq ? -1 : 1;
}

/* The payload of a record says which one it is, and fills up with that number. */
static void
make_payload(uint8_t *p, const struct line *l)
{
    memset(p, (int)(l->seq & 255), l->n);
    memcpy(p, &l->seq, sizeof l->seq);
}

static struct line *
make_lines(uint32_t n, uint32_t keys, uint32_t most, uint64_t seed)
{
    struct line *l = calloc(n + 1, sizeof *l);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t k = roll(&seed) % keys;
        l[i].key_len = (uint32_t)(k % 38) + 1;
        memset(l[i].key, (int)(k % 251), l[i].key_len);
        l[i].key[0] = (uint8_t)(k >> 3);
        l[i].seq = i;
        l[i].n = 4 + (uint32_t)(roll(&seed) % most);
    }
    return l;
}

static enum mrs_status
put_all(struct mrsi_sorter *s, const struct line *l, uint32_t n, struct mrs_err *e)
{
    uint8_t *room = malloc(8 << 20);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < n; i++) {
        make_payload(room, &l[i]);
        st = mrsi_sorter_put(s, l[i].key, l[i].key_len, room, l[i].n, e);
    }
    free(room);
    return st;
}

/* Reads to the end; OK when everything came in order. */
static enum mrs_status
read_all(struct mrsi_sorter *s, const struct line *l, uint32_t n, uint32_t stop, struct mrs_err *e)
{
    uint8_t *room = malloc(8 << 20);
    struct mrsi_sorted r;
    enum mrs_status st = mrsi_sorter_rewind(s, e);
    uint32_t i = 0;
    while (st == MRS_OK && i < stop && (st = mrsi_sorter_next(s, &r, e)) == MRS_OK) {
        assert_true(i < n);
        make_payload(room, &l[i]);
        assert_int_equal(r.key_len, l[i].key_len);
        assert_memory_equal(r.key, l[i].key, r.key_len);
        assert_int_equal(r.n, l[i].n);
        assert_memory_equal(r.p, room, r.n);
        i++;
    }
    if (st == MRS_END) {
        assert_int_equal(i, n);
        assert_int_equal(mrsi_sorter_next(s, &r, e), MRS_END); /* and stays there */
    }
    free(room);
    return st == MRS_END ? MRS_OK : st;
}

static enum mrs_status
sort_lines(struct bare *b, uint32_t n, uint32_t keys, uint32_t most, uint64_t limit, size_t *runs)
{
    struct mrsi_sorter s;
    struct line *l = make_lines(n, keys, most, n + keys);
    mrsi_sorter_init(&s, &b->en, limit);
    enum mrs_status st = put_all(&s, l, n, &b->err);
    *runs = s.runs.n;
    qsort(l, n, sizeof *l, by_key);
    st = st == MRS_OK ? read_all(&s, l, n, UINT32_MAX, &b->err) : st;
    st = st == MRS_OK ? read_all(&s, l, n, n / 3, &b->err) : st; /* not to the end */
    st = st == MRS_OK ? read_all(&s, l, n, UINT32_MAX, &b->err) : st;
    mrsi_sorter_clear(&s);
    mrsi_sorter_clear(&s); /* harmless twice */
    free(l);
    return st;
}

static void
random_records(void **state)
{
    static const struct {
        uint32_t n, keys, most;
        uint64_t limit;
        bool spills;
    } rows[] = {{0, 1, 1, 4096, false},      {1, 1, 1, 4096, false},     {3000, 100000, 50, 1 << 30, false},
                {3000, 100000, 50, 1, true}, {3000, 3, 50, 4096, true},  {20000, 1000, 20, 4096, true},
                {300, 20, 9000, 4096, true}, {3, 2, 6 << 20, 4096, true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bare b;
        size_t runs;
        bare_begin(&b, 0, 1 << 20, 1);
        assert_int_equal(sort_lines(&b, rows[i].n, rows[i].keys, rows[i].most, rows[i].limit, &runs), MRS_OK);
        assert_int_equal(runs > 0, rows[i].spills);
        bare_end(&b);
    }
}

static void
memory_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct bare b;
        size_t runs;
        bare_begin(&b, n, 1 << 20, 1);
        enum mrs_status s = sort_lines(&b, 300, 50, 100, 4096, &runs);
        bool reached = mrs_mem_count(b.mem) >= n;
        if (reached) {
            is_memory(s, &b.err);
        }
        bare_end(&b);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            assert_true(n > 20);
            return;
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_records), cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
