/* SPDX-License-Identifier: Apache-2.0 */
/* t_checkpoint_dir.c - numbered files of OUT.checkpoint: beside the output or on another disk, found again, removed
 * with their number; and nobody else's file is opened or removed by way of a link. */
#include "io_ground.h"
#include <fcntl.h>
#include <sys/stat.h>

static char out[512], one_dir[512], two_dir[512];

static struct mrs_ckpt_dir
side_of(const char *tmp)
{
    return (struct mrs_ckpt_dir){mem, out, tmp};
}

static void
make(const struct mrs_ckpt_dir *side, uint32_t no, const char *text)
{
    int fd;
    OK(mrs_ckpt_dir_file(side, no, true, &fd, &err));
    OK(mrs_write_at(fd, text, strlen(text), 0, &err));
    assert_int_equal(close(fd), 0);
}

static void
reads(const struct mrs_ckpt_dir *side, uint32_t no, const char *text)
{
    int fd;
    char room[64] = {0};
    OK(mrs_ckpt_dir_file(side, no, false, &fd, &err));
    OK(mrs_read_at(fd, room, strlen(text), 0, &err));
    assert_string_equal(room, text);
    assert_int_equal(close(fd), 0);
}

static void
opens_not(const struct mrs_ckpt_dir *side, uint32_t no, enum mrs_code code, const char *word)
{
    int fd = -1;
    enum mrs_status s = mrs_ckpt_dir_file(side, no, false, &fd, &err);
    if (s == MRS_OK || !strstr(err.msg, word)) {
        fail_msg("'%s' is not in '%s'", word, err.msg);
    }
    FAILS(s, code);
}

/* Where link `no` leads. */
static const char *
leads(uint32_t no)
{
    static char room[512];
    ssize_t n = readlink(at("out.checkpoint/%u", no), room, sizeof room - 1);
    room[n > 0 ? n : 0] = 0;
    return room;
}

static unsigned
how_many(const char *dir)
{
    struct mrs_arena a;
    const char **names;
    uint32_t n = 0;
    mrs_arena_init(&a, mem);
    OK(mrsi_list_dir(&a, dir, &names, &n, &err));
    mrs_arena_clear(&a);
    return n;
}

static void
folders(void)
{
    snprintf(out, sizeof out, "%s", at("out"));
    snprintf(one_dir, sizeof one_dir, "%s", at("one"));
    snprintf(two_dir, sizeof two_dir, "%s", at("two"));
    assert_int_equal(mkdir(at("one"), 0777), 0);
    assert_int_equal(mkdir(at("two"), 0777), 0);
}

static void
beside_or_away(void **state)
{
    (void)state;
    folders();
    struct mrs_ckpt_dir near = side_of(NULL), one = side_of(one_dir), two = side_of(two_dir);
    make(&near, 1, "near");
    make(&one, 2, "far");
    make(&two, 3, "farther");
    assert_string_equal(leads(1), "");
    assert_non_null(strstr(leads(2), "/one/mongoreshape-"));
    struct stat st;
    assert_int_equal(stat(leads(2), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    reads(&two, 1, "near"); /* wherever new ones go, old ones are found */
    reads(&two, 2, "far");
    reads(&near, 3, "farther");
    OK(mrs_ckpt_dir_sync(&near, 2, &err));
    uint32_t all[] = {1, 2, 3, 4};
    OK(mrs_ckpt_dir_check(&near, &(struct mrs_ckpt_dir_keep){all, 3}, &err));
    FAILS(mrs_ckpt_dir_check(&near, &(struct mrs_ckpt_dir_keep){all, 4}, &err), MRS_E_MISSING);
    mrs_ckpt_dir_drop(&near, 3);
    assert_int_equal(how_many(at("two")), 0);
    make(&two, 4, "x");
    OK(mrs_ckpt_dir_write(&near, "s", 1, &err));
    assert_int_equal(stat(at("out.checkpoint/state"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600); /* the secret of hashes is in it */
    OK(mrs_ckpt_dir_clear(&near, &(struct mrs_ckpt_dir_keep){all + 1, 1}, &err)); /* all but 2 */
    assert_int_equal(how_many(at("two")), 0);
    assert_int_equal(how_many(at("out.checkpoint")), 2);
    reads(&near, 2, "far");
    OK(mrs_ckpt_dir_clear(&near, NULL, &err));
    assert_int_equal(how_many(at("one")), 0);
    assert_false(there(at("out.checkpoint")));
}

/* An error of the checkpoint gets its path, shortened where there is no room; another one stays as it is. */
static void
named(void **state)
{
    (void)state;
    char far[5000];
    struct mrs_ckpt_dir side = {mem, "a/out//", NULL}, root = {mem, "/", NULL}, deep = {mem, far, NULL};
    memset(far, 'x', sizeof far - 1);
    far[sizeof far - 1] = 0;
    mrs_err_checkpoint(&err, "no");
    mrs_ckpt_dir_place(&side, &err);
    assert_string_equal(err.ns, "a/out.checkpoint");
    mrs_ckpt_dir_place(&root, &err); /* the first one knew */
    assert_string_equal(err.ns, "a/out.checkpoint");
    mrs_err_clear(&err);
    mrs_err_checkpoint(&err, "no");
    mrs_ckpt_dir_place(&deep, &err);
    assert_int_equal(strlen(err.ns), sizeof err.ns - 1);
    assert_string_equal(err.ns + sizeof err.ns - sizeof MRS_CHECKPOINT, MRS_CHECKPOINT);
    mrs_err_clear(&err);
    mrs_err_set(&err, MRS_FAIL, MRS_E_FORMAT, "the input");
    mrs_ckpt_dir_place(&side, &err);
    assert_string_equal(err.ns, "");
    mrs_err_clear(&err);
    mrs_ckpt_dir_place(&side, NULL);
}

static void
missing(void **state)
{
    (void)state;
    folders();
    struct mrs_ckpt_dir one = side_of(one_dir), near = side_of(NULL), none = side_of("/nowhere/at/all");
    int fd;
    FAILS(mrs_ckpt_dir_file(&none, 1, true, &fd, &err), MRS_E_IO);
    assert_int_equal(how_many(at("out.checkpoint")), 0);
    make(&one, 1, "text");
    FAILS(mrs_ckpt_dir_file(&one, 1, true, &fd, &err), MRS_E_IO); /* a number is given once */
    assert_int_equal(how_many(at("one")), 1);
    char path[512];
    snprintf(path, sizeof path, "%s", at("gone"));
    assert_int_equal(rename(at("one"), path), 0);
    opens_not(&near, 1, MRS_E_MISSING, "mount the disk of its --tmp again");
    opens_not(&near, 2, MRS_E_MISSING, "--force starts over");
    assert_int_equal(rename(path, at("one")), 0);
    reads(&near, 1, "text");
    assert_int_equal(rename(at("one"), path), 0);
    struct mrs_ckpt_dir_keep nothing = {NULL, 0};
    FAILS(mrs_ckpt_dir_clear(&near, &nothing, &err), MRS_E_MISSING); /* who goes on brings it back, also to tidy up */
    OK(mrs_ckpt_dir_clear(&near, NULL, &err)); /* a disk that is away is no reason to stay */
    assert_false(there(at("out.checkpoint")));
}

static void
link_of(uint32_t no, const char *to)
{
    unlink(at("out.checkpoint/%u", no));
    assert_int_equal(symlink(to, at("out.checkpoint/%u", no)), 0);
}

/* Links that somebody has put there: what they lead to is not opened, and stays when they go. */
static void
planted(void **state)
{
    static const char name[] = "mongoreshape-00112233445566778899aabbccddeeff";
    char good[600], folder[600], twice[600], pipe[600], link[600], relative[100], longer[600], victim[600];
    (void)state;
    folders();
    struct mrs_ckpt_dir near = side_of(NULL);
    make(&near, 1, "x");
    snprintf(good, sizeof good, "%s/%s", one_dir, name);
    snprintf(folder, sizeof folder, "%s/%s", two_dir, name);
    snprintf(twice, sizeof twice, "%s/mongoreshape-00112233445566778899aabbccddee00", one_dir);
    snprintf(pipe, sizeof pipe, "%s/mongoreshape-00112233445566778899aabbccddee01", one_dir);
    snprintf(link, sizeof link, "%s/mongoreshape-00112233445566778899aabbccddee02", one_dir);
    snprintf(longer, sizeof longer, "%s/%s0", one_dir, name);
    snprintf(victim, sizeof victim, "%s/victim", one_dir);
    snprintf(relative, sizeof relative, "../one/%s", name);
    put(good, "keep", 4);
    put(longer, "keep", 4);
    put(victim, "keep", 4);
    put(twice, "keep", 4);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink(good, link), 0);
    assert_int_equal(linkat(AT_FDCWD, twice, AT_FDCWD, at("second"), 0), 0);
    const char *const bad[] = {victim, relative, longer, folder, twice, pipe, link, "/dev/null"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int fd;
        link_of(1, bad[i]);
        enum mrs_status s = mrs_ckpt_dir_file(&near, 1, false, &fd, &err);
        if (s == MRS_OK || (err.code != MRS_E_FORMAT && err.code != MRS_E_IO)) {
            fail_msg("%s: %d: %s", bad[i], s, err.msg);
        }
        mrs_err_clear(&err);
        mrs_ckpt_dir_drop(&near, 1);
        assert_true(there(bad[i]) || bad[i] == relative);
        assert_false(there(at("out.checkpoint/1")));
    }
    assert_true(there(good));
    if (geteuid() == 0) { /* a file, or a link, of somebody else */
        link_of(1, good);
        assert_int_equal(chown(good, 12345, 12345), 0);
        opens_not(&near, 1, MRS_E_FORMAT, "was not made by mongoreshape");
        mrs_ckpt_dir_drop(&near, 1);
        assert_true(there(good));
        assert_int_equal(chown(good, 0, 0), 0);
        link_of(1, good);
        assert_int_equal(lchown(at("out.checkpoint/1"), 12345, 12345), 0);
        opens_not(&near, 1, MRS_E_FORMAT, "was not made by mongoreshape");
        OK(mrs_ckpt_dir_clear(&near, NULL, &err));
        assert_true(there(good));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(beside_or_away, begin, finish),
        cmocka_unit_test_setup_teardown(named, begin, finish),
        cmocka_unit_test_setup_teardown(missing, begin, finish),
        cmocka_unit_test_setup_teardown(planted, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
