/* SPDX-License-Identifier: Apache-2.0 */
/* t_temp.c - the most that temporary files have at one time. */
#include "run_test.h"

static void
grow(struct bare *b, struct mrsi_temp *t, uint64_t bytes)
{
    assert_int_equal(mrs_write_at(t->fd, "x", 1, bytes - 1, &b->err), MRS_OK);
}

static void
most_at_one_time(void **state)
{
    struct bare b;
    struct mrsi_temp *one, *two, *three;
    (void)state;
    bare_begin(&b, 0, 4096, 1);
    assert_int_equal(mrsi_temp_most(&b.en), 0);
    assert_int_equal(mrsi_temp_new(&b.en, &one, &b.err), MRS_OK);
    assert_int_equal(mrsi_temp_new(&b.en, &two, &b.err), MRS_OK);
    grow(&b, one, 1000);
    grow(&b, two, 300);
    assert_int_equal(mrsi_temp_most(&b.en), 1300);
    two->users++;
    mrsi_temp_drop(&b.en, two); /* somebody still reads it */
    mrsi_temp_drop(&b.en, one);
    assert_int_equal(mrsi_temp_new(&b.en, &three, &b.err), MRS_OK);
    grow(&b, three, 900);
    assert_int_equal(mrsi_temp_most(&b.en), 1300); /* 300 and 900 */
    grow(&b, two, 500);
    mrsi_temp_drop(&b.en, two);
    mrsi_temp_drop(&b.en, three);
    assert_int_equal(mrsi_temp_most(&b.en), 1400);
    assert_null(b.en.temps);
    mrsi_temp_drop(&b.en, NULL);
    bare_end(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(most_at_one_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
