/* SPDX-License-Identifier: Apache-2.0 */
/* t_file.c - whole reads and writes, temporary files, files that appear whole. */
#include "io_test.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void
temp_files(void **state)
{
    (void)state;
    struct mrs_err err;
    int fd;
    mrs_err_clear(&err);
    OK(mrs_temp_open(top, &fd, &err));
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, 0); /* it has no name */
    OK(mrs_write_at(fd, "abcdef", 6, 0, &err));
    OK(mrs_write_at(fd, "XY", 2, 1000000, &err));
    char room[8] = "";
    OK(mrs_read_at(fd, room, 6, 0, &err));
    assert_memory_equal(room, "abcdef", 6);
    OK(mrs_read_at(fd, room, 2, 1000000, &err));
    assert_memory_equal(room, "XY", 2);
    FAILS(mrs_read_at(fd, room, 3, 1000000, &err), MRS_E_IO);
    close(fd);
    FAILS(mrs_write_at(fd, "a", 1, 0, &err), MRS_E_IO);
    FAILS(mrs_temp_open(at("no/such/folder"), &fd, &err), MRS_E_IO);
    setenv("TMPDIR", top, 1);
    OK(mrs_temp_open(NULL, &fd, &err));
    close(fd);
    unsetenv("TMPDIR");
}

static void
whole_files(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    char *text;
    size_t n;
    mrs_err_clear(&err);
    OK(mrs_file_write(at("f"), "hello", 5, &err));
    OK(mrs_file_read(mem, at("f"), 5, &text, &n, &err));
    assert_int_equal(n, 5);
    assert_string_equal(text, "hello");
    mrs_free(mem, text);
    FAILS(mrs_file_read(mem, at("f"), 4, &text, &n, &err), MRS_E_LIMIT);
    OK(mrs_file_write(at("f"), "", 0, &err));
    OK(mrs_file_read(mem, at("f"), 0, &text, &n, &err));
    assert_int_equal(n, 0);
    assert_string_equal(text, "");
    mrs_free(mem, text);
    FAILS(mrs_file_read(mem, at("none"), 4, &text, &n, &err), MRS_E_MISSING);
    FAILS(mrs_file_read(mem, top, 4, &text, &n, &err), MRS_E_MISSING);
    FAILS(mrs_file_write(at("no/f"), "x", 1, &err), MRS_E_IO);
    /* A file of unknown size: a pipe with a name. */
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    if (fork() == 0) {
        FILE *f = fopen(at("pipe"), "w");
        for (int i = 0; i < 50000; i++) {
            fputs("0123456789", f);
        }
        fclose(f);
        _exit(0);
    }
    OK(mrs_file_read(mem, at("pipe"), 1 << 20, &text, &n, &err));
    assert_int_equal(n, 500000);
    assert_memory_equal(text + 499990, "0123456789", 11);
    mrs_free(mem, text);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* A full disk leaves the old file and nothing beside it. */
static void
full_disk(void **state)
{
    (void)state;
    struct mrs_err err;
    struct rlimit was, tiny;
    char big[9000];
    int fd;
    mrs_err_clear(&err);
    memset(big, 'b', sizeof big);
    put_text(at("kept"), "old");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &was);
    tiny = was;
    tiny.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    enum mrs_status s = mrs_file_write(at("kept"), big, sizeof big, &err);
    struct mrs_err first = err;
    mrs_err_clear(&err);
    enum mrs_status t = mrs_temp_open(top, &fd, &err);
    enum mrs_status u = mrs_write_at(fd, big, sizeof big, 0, &err);
    setrlimit(RLIMIT_FSIZE, &was);
    close(fd);
    FAILS(u, MRS_E_IO);
    err = first;
    assert_non_null(strstr(err.msg, "kept"));
    assert_int_equal(err.os_errno, EFBIG);
    FAILS(s, MRS_E_IO);
    assert_int_equal(t, MRS_OK);
    struct bytes b = get(at("kept"));
    assert_string_equal((char *)b.p, "old");
    free(b.p);
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_arena a;
    const char **names;
    uint32_t n;
    mrs_arena_init(&a, mem);
    OK(mrsi_list_dir(&a, top, &names, &n, &err));
    for (uint32_t i = 0; i < n; i++) {
        assert_null(strstr(names[i], "tmp"));
    }
    mrs_arena_clear(&a);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
copies(void **state)
{
    (void)state;
    struct mrs_err err;
    mrs_err_clear(&err);
    struct bytes in = make_docs(2000, 1, 200);
    put(at("from"), in.p, in.n);
    int from = open(at("from"), O_RDONLY), to = open(at("to"), O_RDWR | O_CREAT, 0600), ends[2];
    struct mrsi_file_span span = {from, 100, in.n - 200, "from"};
    OK(mrsi_copy_span(&span, to, "to", &err));
    struct bytes out = get(at("to"));
    assert_int_equal(out.n, in.n - 200);
    assert_memory_equal(out.p, in.p + 100, out.n);
    free(out.p);
    /* A pipe is no file for copy_file_range on all kernels: the loop. */
    assert_int_equal(pipe(ends), 0);
    span.n = 5000;
    OK(mrsi_copy_span(&span, ends[1], "pipe", &err));
    uint8_t room[5000];
    size_t got;
    struct mrsi_pipe_in end = {ends[0], "pipe", NULL};
    OK(mrsi_read_pipe(&end, room, sizeof room, &got, &err));
    assert_int_equal(got, 5000);
    assert_memory_equal(room, in.p + 100, 5000);
    span.n = in.n + 1;
    FAILS(mrsi_copy_span(&span, to, "to", &err), MRS_E_CHANGED);
    close(ends[0]);
    close(ends[1]);
    close(from);
    close(to);
    free(in.p);
}

static void
trees(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    mkdir(at("t"), 0700);
    mkdir(at("t/a"), 0700);
    mkdir(at("t/b"), 0700);
    put_text(at("t/a/x.bson"), "");
    put_text(at("t/a/x.metadata.json.gz"), "");
    put_text(at("t/prelude.json"), "");
    mkdir(at("outside"), 0700);
    put_text(at("outside/precious"), "");
    OK(mrsi_is_dump(mem, at("t"), &err));
    assert_int_equal(symlink(at("outside"), at("t/b/link.bson")), 0);
    OK(mrsi_is_dump(mem, at("t"), &err));
    put_text(at("t/a/thesis.txt"), "");
    FAILS(mrsi_is_dump(mem, at("t"), &err), MRS_E_EXISTS);
    unlink(at("t/a/thesis.txt"));
    mkdir(at("t/a/deep"), 0700);
    FAILS(mrsi_is_dump(mem, at("t"), &err), MRS_E_EXISTS);
    OK(mrsi_remove_tree(at("t"), &err));
    assert_false(there(at("t")));
    assert_true(there(at("outside/precious"))); /* soft links are not followed */
    OK(mrsi_remove_tree(at("t"), &err));
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* A killed process had the same id and the same file, as in a container: a new one has another name. */
static void
left_by_the_same_id(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    struct mrs_atomic_file *w;
    mrs_err_clear(&err);
    for (int i = 0; i < 3; i++) {
        OK(mrs_atomic_file_open(mem, at("again"), &w, &err));
        OK(mrs_atomic_file_put(w, "left", 4, &err));
        mrs_atomic_file_leave(w);
    }
    OK(mrs_atomic_file_open(mem, at("again"), &w, &err));
    OK(mrs_atomic_file_put(w, "new", 3, &err));
    OK(mrs_atomic_file_close(w, true, &err));
    struct bytes b = get(at("again"));
    assert_int_equal(b.n, 3);
    free(b.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Pieces become visible together, or never. */
static void
piece_by_piece(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    struct mrs_atomic_file *w;
    mrs_err_clear(&err);
    put_text(at("w"), "old");
    OK(mrs_atomic_file_open(mem, at("w"), &w, &err));
    for (int i = 0; i < 30000; i++) {
        OK(mrs_atomic_file_put(w, "0123456789", 10, &err));
    }
    struct bytes b = get(at("w"));
    assert_string_equal((char *)b.p, "old");
    free(b.p);
    OK(mrs_atomic_file_close(w, true, &err));
    b = get(at("w"));
    assert_int_equal(b.n, 300000);
    assert_memory_equal(b.p + 299990, "0123456789", 10);
    free(b.p);
    OK(mrs_atomic_file_open(mem, at("w2"), &w, &err));
    OK(mrs_atomic_file_put(w, "x", 1, &err));
    OK(mrs_atomic_file_close(w, false, &err));
    assert_false(there(at("w2")));
    /* What could not be written is not published later on. */
    struct rlimit was, tiny;
    static char big[200000];
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &was);
    tiny = was;
    tiny.rlim_cur = 4096;
    OK(mrs_atomic_file_open(mem, at("w2"), &w, &err));
    setrlimit(RLIMIT_FSIZE, &tiny);
    enum mrs_status s = mrs_atomic_file_put(w, big, sizeof big, &err);
    setrlimit(RLIMIT_FSIZE, &was);
    FAILS(s, MRS_E_IO);
    FAILS(mrs_atomic_file_close(w, true, &err), MRS_E_IO);
    assert_false(there(at("w2")));
    assert_int_equal(mrs_mem_close(mem), 0);
    for (uint64_t n = 1;; n++) {
        mem = mrs_mem_new(n);
        w = NULL;
        s = mrs_atomic_file_open(mem, at("w3"), &w, &err);
        s = s == MRS_OK ? mrs_atomic_file_put(w, "abc", 3, &err) : s;
        enum mrs_status c = mrs_atomic_file_close(w, s == MRS_OK, &err);
        s = s == MRS_OK ? c : s;
        bool reached = mrs_mem_count(mem) >= n;
        assert_int_equal(mrs_mem_close(mem), 0);
        assert_int_equal(there(at("w3")), s == MRS_OK);
        if (!reached) {
            OK(s);
            break;
        }
        FAILS(s, MRS_E_MEMORY);
    }
}

/* ---- a file that another process has left unfinished ---- */
enum { PIECES = 9000 };

static void
put_pieces(struct mrs_atomic_file *w, int n)
{
    char text[40];
    struct mrs_err err;
    mrs_err_clear(&err);
    for (int i = 0; i < n; i++) {
        OK(mrs_atomic_file_put(w, text, (size_t)snprintf(text, sizeof text, "piece number %d; ", i), &err));
    }
}

/* What is left is cut to `keep` bytes, one of them changed at `wrong`, or (UINT64_MAX) none; `more` bytes behind it. */
static void
left_and_taken_up(struct mrs_mem *mem, const struct bytes *want, uint64_t keep, uint64_t wrong, size_t more)
{
    struct mrs_err err;
    struct mrs_atomic_file *w;
    struct stat before, after;
    mrs_err_clear(&err);
    struct bytes left = {malloc((size_t)keep + more + 1), (size_t)keep + more};
    memset(left.p, 'x', left.n);
    memcpy(left.p, want->p, (size_t)keep);
    if (wrong != UINT64_MAX) {
        left.p[wrong] ^= 1;
    }
    put(at("v.77.partial"), left.p, left.n);
    free(left.p);
    assert_int_equal(stat(at("v.77.partial"), &before), 0);
    OK(mrs_atomic_file_take_up(mem, at("v"), 77, &w, &err));
    put_pieces(w, PIECES);
    OK(mrs_atomic_file_close(w, true, &err));
    assert_int_equal(stat(at("v"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_false(there(at("v.77.partial")));
    struct bytes got = get(at("v"));
    assert_int_equal(got.n, want->n);
    assert_memory_equal(got.p, want->p, want->n);
    free(got.p);
    unlink(at("v"));
}

static void
taken_up(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    struct mrs_atomic_file *w;
    struct stat st;
    mrs_err_clear(&err);
    OK(mrs_atomic_file_take_up(mem, at("v"), 77, &w, &err)); /* nothing was left */
    put_pieces(w, PIECES);
    mrs_atomic_file_leave(w);
    mrs_atomic_file_leave(NULL);
    assert_true(there(at("v.77.partial")));
    assert_false(there(at("v")));
    assert_int_equal(stat(at("v.77.partial"), &st), 0);
    assert_in_range(st.st_size, 1, 1 << 20);
    OK(mrs_atomic_file_take_up(mem, at("v"), 77, &w, &err));
    put_pieces(w, PIECES);
    OK(mrs_atomic_file_close(w, true, &err));
    struct bytes want = get(at("v"));
    unlink(at("v"));
    const uint64_t ends[] = {0, 1, 65536, 65560, want.n / 2, want.n - 1, want.n};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        left_and_taken_up(mem, &want, ends[i], UINT64_MAX, 0);
        left_and_taken_up(mem, &want, ends[i], UINT64_MAX, 100000);
        if (ends[i]) {
            left_and_taken_up(mem, &want, ends[i], ends[i] - 1, 0);
            left_and_taken_up(mem, &want, ends[i], 0, 5);
        }
    }
    free(want.p);
    put_text(at("other"), "somebody's");
    assert_int_equal(symlink(at("other"), at("v.77.partial")), 0);
    FAILS(mrs_atomic_file_take_up(mem, at("v"), 77, &w, &err), MRS_E_FORMAT);
    unlink(at("v.77.partial"));
    assert_int_equal(link(at("other"), at("v.77.partial")), 0);
    FAILS(mrs_atomic_file_take_up(mem, at("v"), 77, &w, &err), MRS_E_FORMAT);
    unlink(at("v.77.partial"));
    assert_int_equal(mrs_mem_close(mem), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(temp_files), cmocka_unit_test(whole_files),
        cmocka_unit_test(full_disk),  cmocka_unit_test(copies),
        cmocka_unit_test(trees),      cmocka_unit_test(piece_by_piece),
      cmocka_unit_test(left_by_the_same_id),
        cmocka_unit_test(taken_up),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
