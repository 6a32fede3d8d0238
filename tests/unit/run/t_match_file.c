/* SPDX-License-Identifier: Apache-2.0 */
/* t_match_file.c - the matches of one document when they lie in a file: each once, in order, again after a rewind. */
#include "mongoreshape/join_ops.h"
#include "run_test.h"
#include "run/join/match_file.h"

enum { N = 3000, LARGE = 1500000 };

/* Record i: order i / 2 (each comes twice), ref i % 3; its shape is a document that tells i. */
static struct mrsi_rec *
record(uint64_t i, uint8_t *room)
{
    struct mrsi_rec *r = (struct mrsi_rec *)(void *)room;
    uint32_t n = i == 700 ? LARGE : 12 + (uint32_t)(i % 900);
    memset(r, 0, sizeof *r);
    r->order = i / 2;
    r->ref = (uint32_t)(i % 3);
    r->payload_len = n;
    r->total = (uint32_t)((sizeof *r + n + 7) & ~(size_t)7);
    memset(room + sizeof *r, 0, r->total - sizeof *r);
    mrs_put32(room + sizeof *r, n);
    mrs_put32(room + sizeof *r + 5, (uint32_t)i);
    return r;
}

static enum mrs_status
put_all(struct mrsi_match_file *f, uint8_t *room, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < N; i++) {
        s = mrsi_match_file_put(f, record(i, room), e);
    }
    return s;
}

/* Reads `most` matches; every third is told to be placed, every third left. */
static enum mrs_status
read_some(struct mrsi_match_file *f, bool by_reference, uint64_t most, struct mrs_err *e)
{
    struct mrs_match m;
    uint64_t i = 0;
    enum mrs_status s = f->m.rewind(&f->m, e);
    while (s == MRS_OK && i < most && (s = f->m.next(&f->m, &m, e)) == MRS_OK) {
        uint64_t no = by_reference ? i : i * 2; /* of two with one order the first counts */
        assert_int_equal(m.order, no / 2);
        assert_int_equal(mrs_le32(m.payload.p + 5), no);
        assert_int_equal(m.payload.n, no == 700 ? LARGE : 12 + no % 900);
        if (i % 3 < 2) {
            f->m.used(&f->m, i % 3 ? MRS_USED_LEFT : MRS_USED_PLACED);
        }
        i++;
    }
    if (s == MRS_END) {
        assert_int_equal(i, by_reference ? N : N / 2);
        assert_int_equal(f->m.n, i);
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
whole(struct bare *b, bool by_reference, bool refused)
{
    static uint8_t zero[N];
    struct mrsi_join_run j;
    struct mrsi_match_file f;
    struct mrsi_hashed into;
    uint64_t placed = 0;
    uint8_t *room = malloc(LARGE + 200);
    memset(&j, 0, sizeof j);
    memset(&into, 0, sizeof into);
    j.en = &b->en;
    mrsi_fates_init(&j.fates, &b->en);
    mrsi_match_file_init(&f, &b->en);
    enum mrs_status s = mrsi_fates_append(&j.fates, zero, N / 2, &b->err);
    for (int round = 0; s == MRS_OK && round < 2; round++) {
        mrsi_match_file_begin(&f, by_reference);
        s = put_all(&f, room, &b->err);
        s = s == MRS_OK ? mrsi_match_file_end(&f, &into, &b->err) : s;
    }
    s = s == MRS_OK ? read_some(&f, by_reference, 40, &b->err) : s;
    s = s == MRS_OK ? read_some(&f, by_reference, UINT64_MAX, &b->err) : s;
    s = s == MRS_OK ? mrsi_match_file_settle(&f, &j, refused, &placed, &b->err) : s;
    if (s == MRS_OK) {
        uint64_t n = by_reference ? N : N / 2;
        assert_int_equal(placed, refused ? 0 : (n + 2) / 3 + n / 3); /* nothing told counts as placed */
        unsigned all = refused ? MRS_USED_LEFT : MRS_USED_PLACED;
        assert_int_equal(mrsi_fates_get(&j.fates, 0) & all, all);
        assert_int_equal(mrsi_fates_get(&j.fates, N / 2 - 1) & all, all);
    }
    mrsi_match_file_clear(&f);
    mrsi_fates_clear(&j.fates);
    free(room);
    return s;
}

static void
all_ways(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bare b;
        bare_begin(&b, 0, 1 << 20, 1);
        assert_int_equal(whole(&b, i & 1, i & 2), MRS_OK);
        bare_end(&b);
    }
}

static void
memory_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct bare b;
        bare_begin(&b, n, 1 << 20, 1);
        enum mrs_status s = whole(&b, true, false);
        bool reached = mrs_mem_count(b.mem) >= n;
        if (reached) {
            is_memory(s, &b.err);
        }
        bare_end(&b);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            return;
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_ways), cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
