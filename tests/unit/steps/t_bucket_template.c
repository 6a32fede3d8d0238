/* SPDX-License-Identifier: Apache-2.0 */
/* t_bucket_template.c - a document looks as another one exactly where a walk finds the same types, names and lengths.
 * */
#include "steps/bucket/shared_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static bool
same_walk(struct mrs_view a, struct mrs_view b)
{
    struct mrs_walk wa, wb;
    struct mrs_elem ea, eb;
    mrs_walk_init(&wa, a);
    mrs_walk_init(&wb, b);
    for (;;) {
        int ra = mrs_walk_next(&wa, &ea), rb = mrs_walk_next(&wb, &eb);
        if (ra != 1 || rb != 1) {
            return a.n == b.n && ra == rb;
        }
        if (ea.v.type != eb.v.type || ea.v.n != eb.v.n || !mrs_name_is(&ea, eb.name, eb.name_len)) {
            return false;
        }
    }
}

static void
put_random(struct mrs_build *b)
{
    static const char *const names[] = {"", "a", "ab", "temp", "value", "humidity", "_id", "a.name.of.19.letters"};
    static const char text[] = "texts of many lengths";
    const char *name = names[rand() % 8];
    uint8_t room[16] = {7, 1, 2, 3};
    switch (rand() % 8) {
    case 0: mrs_build_null(b, name, (uint32_t)strlen(name)); break;
    case 1: mrs_build_i32(b, name, rand()); break;
    case 2: mrs_build_i64(b, name, rand()); break;
    case 3: mrs_build_bool(b, name, rand() % 2); break;
    case 4: mrs_build_text(b, name, text, (uint32_t)(rand() % 21)); break;
    case 5:
        mrs_build_open(b, name, (uint32_t)strlen(name), rand() % 2 ? MRS_DOCUMENT : MRS_ARRAY);
        mrs_build_i32(b, "0", 5);
        mrs_build_close(b);
        break;
    case 6: {
        struct mrs_val v = {room, 12, MRS_OBJECTID};
        mrs_build_val(b, name, (uint32_t)strlen(name), v);
        break;
    }
    default: {
        struct mrs_val v = {room, 12, MRS_BINARY};
        mrs_put32(room, 7);
        mrs_build_val(b, name, (uint32_t)strlen(name), v);
    }
    }
}

/* Every byte of a copy is changed in turn; what is still a document is asked about. */
static void
compare_changed(const struct mrsi_bucket_template *a, struct mrs_view d)
{
    uint8_t copy[1 << 12];
    struct mrs_view other = {copy, d.n};
    assert_true(d.n <= sizeof copy);
    for (uint32_t i = 0; i < d.n * 3; i++) {
        memcpy(copy, d.p, d.n);
        copy[i / 3] = (uint8_t)(i % 3 == 0 ? copy[i / 3] ^ 1 : i % 3 == 1 ? MRS_INT64 : 0);
        if (mrs_doc_check(copy, d.n, MRS_DEPTH_READ, NULL) == MRS_OK) {
            assert_int_equal(mrsi_bucket_template(a, other), same_walk(d, other));
        }
    }
}

static void
as_a_walk_finds(void **state)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf buf;
    uint32_t learned = 0;
    (void)state;
    srand(7);
    mrs_buf_init(&buf, mem, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        struct mrsi_bucket_template a = {0};
        struct mrs_build b;
        struct mrs_view d;
        mrs_buf_reset(&buf);
        mrs_build_init(&b, &buf);
        for (int n = rand() % 7; n > 0; n--) {
            put_random(&b);
        }
        assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
        assert_false(mrsi_bucket_template(&a, d));
        assert_false(mrsi_bucket_template_learn(&a, d));
        assert_false(mrsi_bucket_template(&a, d));
        if (mrsi_bucket_template_learn(&a, d)) {
            assert_true(mrsi_bucket_template(&a, d));
            compare_changed(&a, d);
            learned++;
        } else {
            assert_true(d.n < 8);
        }
    }
    assert_in_range(learned, 700, 1000);
    mrs_buf_clear(&buf);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* More names than there is room for, and a value whose length is elsewhere: never alike. */
static void
unknown_looks(void **state)
{
    static const uint8_t regex[] = {12, 0, 0, 0, 0x0b, 'r', 0, 'a', 0, 'i', 0, 0};
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_view r = {regex, sizeof regex}, d;
    struct mrsi_bucket_template a = {0};
    struct mrs_buf buf;
    struct mrs_build b;
    (void)state;
    assert_int_equal(mrs_doc_check(regex, sizeof regex, 3, NULL), MRS_OK);
    assert_false(mrsi_bucket_template_learn(&a, r) || mrsi_bucket_template_learn(&a, r) || mrsi_bucket_template(&a, r));
    mrs_buf_init(&buf, mem, 1 << 20);
    mrs_build_init(&b, &buf);
    for (int i = 0; i <= MRSI_BUCKET_TEMPLATE_WORDS; i++) {
        mrs_build_i32(&b, "n", i);
    }
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    assert_false(mrsi_bucket_template_learn(&a, d) || mrsi_bucket_template_learn(&a, d) || mrsi_bucket_template(&a, d));
    mrs_buf_clear(&buf);
    assert_int_equal(mrs_mem_close(mem), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_a_walk_finds), cmocka_unit_test(unknown_looks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
