/* SPDX-License-Identifier: Apache-2.0 */
/* t_manual.c - docs/PLANS.md knows every step, every key and every choice that the table of steps has.
 *
 * Run from the top of the project, as make does. */
#include "mongoreshape/step.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static char manual[1 << 18];

static int
read_manual(void **state)
{
    (void)state;
    FILE *f = fopen("docs/PLANS.md", "rb");
    size_t n = f ? fread(manual, 1, sizeof manual - 1, f) : 0;
    if (f) {
        fclose(f);
    }
    return n > 0 && n < sizeof manual - 1 ? 0 : -1;
}

static bool
part_of_a_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool
says(const char *word, size_t n)
{
    for (const char *at = manual; (at = strstr(at, word)) != NULL; at++) {
        if (!part_of_a_word(at[n]) && (at == manual || !part_of_a_word(at[-1]))) {
            return true;
        }
    }
    return false;
}

static void
every_word_is_there(void **state)
{
    (void)state;
    unsigned missing = 0;
    for (uint32_t i = 0; mrs_step_type_at(i); i++) {
        const struct mrs_step_type *t = mrs_step_type_at(i);
        char head[64];
        int n = snprintf(head, sizeof head, "- %s:", t->name);
        if (!says(head, (size_t)n)) {
            print_error("no example of the step %s\n", t->name);
            missing++;
        }
        for (uint32_t k = 0; k < t->n_keys; k++) {
            if (!says(t->keys[k].name, strlen(t->keys[k].name))) {
                print_error("%s: the key %s is not in the manual\n", t->name, t->keys[k].name);
                missing++;
            }
        }
    }
    assert_int_equal(missing, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_word_is_there)};
    return cmocka_run_group_tests(tests, read_manual, NULL);
}
