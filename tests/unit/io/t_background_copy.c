/* SPDX-License-Identifier: Apache-2.0 */
/* t_background_copy.c - a copy that is begun before its turn ends as one that was not, or leaves nothing behind. */
#include "io_ground.h"
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct mrs_input *in;
static struct mrs_output *out;
static struct bytes docs;

/* A dump of one collection, d.c, and an output into the folder `name`. */
static void
open_both(const char *name, uint32_t jobs)
{
    struct mrs_output_opts opts = {.compress = {MRS_CODEC_AS_INPUT, 0}, .jobs = jobs};
    OK(mrs_input_open(mem, at("in"), NULL, &in, &err));
    OK(mrs_output_open(mem, at("%s", name), &opts, &out, &err));
}

static void
close_both(void)
{
    mrs_output_free(out);
    mrs_input_close(in);
}

static int
begin_dump(void **state)
{
    int r = begin(state);
    docs = make_docs(30000, 1, 200);
    mkdir(at("in"), 0700);
    mkdir(at("in/d"), 0700);
    put(at("in/d/c.bson"), docs.p, docs.n);
    put_text(at("in/d/c.metadata.json"), "{}");
    return r;
}

static int
finish_dump(void **state)
{
    free(docs.p);
    return finish(state);
}

/* Until the file has its last length; 100 seconds at most. */
static void
wait_for_whole(const char *path)
{
    struct stat st = {0};
    for (int i = 0; i < 100000 && (stat(path, &st) < 0 || (size_t)st.st_size < docs.n); i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(st.st_size, docs.n);
}

static void
copies(void)
{
    OK(mrs_output_copy(out, in, 0, &err));
    OK(mrs_output_commit(out, mrs_empty_doc(), NULL, &err));
    close_both();
}

static void
ends_like_any_other(void **state)
{
    (void)state;
    open_both("late", 2);
    copies();
    for (int whole = 0; whole < 2; whole++) { /* taken over as it comes, and when all is there */
        open_both("out", 2);
        mrs_output_copy_in_background(out, in, 0);
        if (whole) {
            wait_for_whole(at("out.partial/d/c.bson"));
        }
        copies();
        same_file(at("in/d/c.bson"), at("out/d/c.bson"));
        same_file(at("late/mongoreshape.manifest.json"), at("out/mongoreshape.manifest.json"));
        OK(mrsi_remove_tree(at("out"), &err));
    }
}

static void
is_for_several_threads(void **state)
{
    (void)state;
    open_both("out", 1);
    mrs_output_copy_in_background(out, in, 0);
    assert_false(there(at("out.partial/d/c.bson")));
    copies();
}

static void
counts_what_was_copied(void **state)
{
    (void)state;
    struct bytes stray = make_docs(3, 2, 200);
    open_both("out", 2);
    mrs_output_copy_in_background(out, in, 0);
    wait_for_whole(at("out.partial/d/c.bson"));
    int fd = open(at("out.partial/d/c.bson"), O_WRONLY | O_APPEND); /* as of a part that has failed */
    assert_int_equal(write(fd, stray.p, stray.n), stray.n);
    close(fd);
    copies();
    same_file(at("in/d/c.bson"), at("out/d/c.bson"));
    free(stray.p);
}

static void
is_forgotten(void **state)
{
    (void)state;
    struct mrs_sink *sink;
    struct bytes few = make_docs(3, 2, 200);
    open_both("out", 2);
    mrs_output_copy_in_background(out, in, 0);
    OK(mrs_output_coll(out, "d", "c", NULL, 0, true, &sink, &err)); /* it is written after all */
    OK(mrs_sink_write(sink, few.p, few.n, &err));
    OK(mrs_sink_close(sink, 3, NULL, &err));
    OK(mrs_output_commit(out, mrs_empty_doc(), NULL, &err));
    close_both();
    put(at("few"), few.p, few.n);
    same_file(at("few"), at("out/d/c.bson"));
    open_both("none", 2);
    mrs_output_copy_in_background(out, in, 0);
    OK(mrs_output_commit(out, mrs_empty_doc(), NULL, &err));
    close_both();
    assert_false(there(at("none/d/c.bson")));
    open_both("given up", 2);
    mrs_output_copy_in_background(out, in, 0);
    mrs_output_abort(out);
    close_both();
    assert_false(there(at("given up.partial")));
    free(few.p);
}

static void
sees_an_input_that_became_shorter(void **state)
{
    (void)state;
    open_both("out", 2);
    mrs_output_copy_in_background(out, in, 0);
    wait_for_whole(at("out.partial/d/c.bson"));
    assert_int_equal(truncate(at("in/d/c.bson"), 1000), 0);
    FAILS(mrs_output_copy(out, in, 0, &err), MRS_E_CHANGED);
    mrs_output_abort(out);
    close_both();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_like_any_other, begin_dump, finish_dump),
        cmocka_unit_test_setup_teardown(is_for_several_threads, begin_dump, finish_dump),
        cmocka_unit_test_setup_teardown(counts_what_was_copied, begin_dump, finish_dump),
        cmocka_unit_test_setup_teardown(is_forgotten, begin_dump, finish_dump),
        cmocka_unit_test_setup_teardown(sees_an_input_that_became_shorter, begin_dump, finish_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
