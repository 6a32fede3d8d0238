/* SPDX-License-Identifier: Apache-2.0 */
/* t_base.c - the allocator counts and fails as told, arenas keep what they promise, buffers stop at their ceiling,
 * the first error wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "mongoreshape/mem.h"
#include "mongoreshape/words.h"

#include <string.h>

static void
allocator_counts_and_fails(void **state)
{
    (void)state;
    struct mrs_mem *m = mrs_mem_new(2);
    void *a = mrs_alloc(m, 10);
    assert_non_null(a);
    assert_null(mrs_alloc(m, 10));
    void *b = mrs_zalloc(m, 100);
    assert_non_null(b);
    assert_int_equal(mrs_mem_live(m), 2);
    assert_int_equal(mrs_mem_bytes(m), 110);
    b = mrs_realloc(m, b, 300);
    assert_int_equal(mrs_mem_bytes(m), 310);
    mrs_free(m, a);
    assert_int_equal(mrs_mem_peak(m), 310);
    mrs_free(m, b);
    assert_null(mrs_alloc_array(m, SIZE_MAX / 2, 3));
    assert_int_equal(mrs_mem_close(m), 0);
    m = mrs_mem_new(UINT64_MAX - 2);
    a = mrs_alloc(m, 1);
    assert_null(mrs_alloc(m, 1));
    assert_null(mrs_alloc(m, 1));
    assert_non_null(a);
    static void *volatile left; /* a leak on purpose: reachable, so that no sanitizer minds */
    left = a;
    assert_int_equal(mrs_mem_close(m), 1);
    assert_non_null(left);
}

static void
arena_pieces_stay_until_reset(void **state)
{
    (void)state;
    struct mrs_mem *m = mrs_mem_new(0);
    struct mrs_arena a;
    mrs_arena_init(&a, m);
    char *text = mrs_arena_copy(&a, "hello", 6);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal((uintptr_t)mrs_arena_alloc(&a, 100 + (size_t)i) % 8, 0);
    }
    assert_string_equal(text, "hello");
    mrs_arena_reset(&a);
    assert_int_equal(mrs_mem_live(m), 1);
    uint64_t before = mrs_mem_count(m);
    assert_non_null(mrs_arena_alloc(&a, 1000));
    assert_int_equal(mrs_mem_count(m), before);
    mrs_arena_clear(&a);
    mrs_arena_clear(&a);
    assert_int_equal(mrs_mem_close(m), 0);
}

static void
buffer_stops_at_its_ceiling(void **state)
{
    (void)state;
    struct mrs_mem *m = mrs_mem_new(0);
    struct mrs_buf b;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_buf_init(&b, m, 10);
    mrs_buf_put(&b, "12345678", 8);
    mrs_buf_put(&b, "9a", 2);
    assert_int_equal(mrs_buf_status(&b, &e), MRS_OK);
    mrs_buf_put(&b, "b", 1);
    assert_int_equal(mrs_buf_status(&b, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_LIMIT);
    assert_int_equal(b.n, 10);
    mrs_buf_reset(&b);
    mrs_buf_printf(&b, "%d-%s", 7, "x");
    assert_int_equal(mrs_buf_status(&b, &e), MRS_OK);
    assert_memory_equal(b.p, "7-x", 3);
    mrs_buf_clear(&b);
    assert_int_equal(mrs_mem_close(m), 0);
}

static void
first_cause_wins(void **state)
{
    (void)state;
    struct mrs_err e;
    char text[200];
    mrs_err_clear(&e);
    assert_int_equal(mrs_err_set(&e, MRS_FAIL, MRS_E_BSON, "length %d", 3), MRS_FAIL);
    mrs_err_set(&e, MRS_DEAD, MRS_E_IO, "later");
    mrs_err_at(&e, "sort");
    e.doc_no = 7;
    e.byte_off = 99;
    assert_int_equal(e.code, MRS_E_BSON);
    assert_string_equal(mrs_err_text(&e, text, sizeof text), "document 7, offset 99: sort: length 3");
    assert_string_equal(mrs_err_text(&e, text, 12), "document 7,");
    assert_int_equal(mrs_code_exit(MRS_E_BSON), 3);
    assert_int_equal(mrs_err_set(NULL, MRS_SKIP, MRS_E_PLAN, "x"), MRS_SKIP);
}

/* What concerns one failure alone comes after what is like others, once, and cut where there is no room. */
static void
more_behind_the_kind(void **state)
{
    (void)state;
    struct mrs_err e;
    char room[600];
    mrs_err_clear(&e);
    mrs_err_more(&e, "no cause yet");
    assert_int_equal(e.msg[0], 0);
    mrs_err_set(&e, MRS_SKIP, MRS_E_REFUSED, "one _id");
    mrs_err_more(&e, "document %d", 3);
    mrs_err_more(&e, "later");
    assert_string_equal(e.msg, "one _id: document 3");
    assert_int_equal(e.kind_len, 7);
    mrs_err_clear(&e);
    assert_int_equal(e.kind_len, 0);
    memset(room, 'x', sizeof room);
    room[sizeof room - 1] = 0;
    mrs_err_set(&e, MRS_SKIP, MRS_E_REFUSED, "one _id");
    mrs_err_more(&e, "%s", room);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    assert_int_equal(e.kind_len, 7);
    mrs_err_clear(&e);
    mrs_err_set(&e, MRS_SKIP, MRS_E_REFUSED, "%s", room);
    mrs_err_more(&e, "no room");
    assert_int_equal(e.kind_len, 0);
    mrs_err_more(NULL, "x");
}

static void
damaged_checkpoint(void **state)
{
    (void)state;
    struct mrs_err e;
    char text[200];
    mrs_err_clear(&e);
    assert_int_equal(mrs_err_checkpoint(&e, "file %d", 3), MRS_FAIL);
    mrs_err_checkpoint(&e, "later");
    assert_int_equal(e.code, MRS_E_FORMAT);
    assert_string_equal(mrs_err_text(&e, text, sizeof text),
                        ".checkpoint: the checkpoint is damaged (file 3): start over with --force instead of --resume");
    mrs_err_clear(&e);
    mrs_err_set(&e, MRS_FAIL, MRS_E_BSON, "the cause");
    mrs_err_checkpoint(&e, "later");
    assert_string_equal(mrs_err_text(&e, text, sizeof text), "the cause");
    assert_int_equal(mrs_err_checkpoint(NULL, "x"), MRS_FAIL);
}

static void
allocator_keeps_its_limit(void **state)
{
    struct mrs_mem *m = mrs_mem_new(0);
    (void)state;
    mrs_mem_set_limit(m, 1000);
    void *a = mrs_alloc(m, 600), *b = mrs_alloc(m, 400);
    assert_non_null(a);
    assert_non_null(b);
    assert_false(mrs_mem_is_over(m));
    assert_null(mrs_alloc(m, 1));
    assert_true(mrs_mem_is_over(m));
    assert_null(mrs_realloc(m, a, 601)); /* the block is as it was */
    a = mrs_realloc(m, a, 100);
    assert_non_null(a);
    void *c = mrs_alloc(m, 500);
    assert_non_null(c);
    assert_int_equal(mrs_mem_bytes(m), 1000);
    mrs_free(m, a);
    mrs_free(m, b);
    mrs_free(m, c);
    assert_int_equal(mrs_mem_close(m), 0);
}

static void
words_have_a_distance(void **state)
{
    static const struct {
        const char *a, *b;
        uint32_t want;
    } PAIRS[] = {
        {"", "", 0},       {"abc", "", 3},   {"", "ab", 2},        {"add", "add", 0},     {"add", "ADD", 0},
        {"ad", "add", 1},  {"adx", "add", 1}, {"dad", "add", 1},   {"kitten", "sitting", 3}, {"ca", "abc", 3},
    };
    char far[MRS_WORD_MAX + 1];
    (void)state;
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        const char *a = PAIRS[i].a, *b = PAIRS[i].b;
        assert_int_equal(mrs_word_distance(a, strlen(a), b, strlen(b)), PAIRS[i].want);
        assert_int_equal(mrs_word_distance(b, strlen(b), a, strlen(a)), PAIRS[i].want);
    }
    memset(far, 'x', sizeof far);
    assert_int_equal(mrs_word_distance(far, MRS_WORD_MAX, "x", 1), MRS_WORD_MAX - 1);
    assert_int_equal(mrs_word_distance(far, MRS_WORD_MAX + 1, "x", 1), UINT32_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocator_counts_and_fails),
        cmocka_unit_test(arena_pieces_stay_until_reset),
        cmocka_unit_test(buffer_stops_at_its_ceiling),
        cmocka_unit_test(first_cause_wins), cmocka_unit_test(more_behind_the_kind),
        cmocka_unit_test(damaged_checkpoint),
        cmocka_unit_test(words_have_a_distance), cmocka_unit_test(allocator_keeps_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
