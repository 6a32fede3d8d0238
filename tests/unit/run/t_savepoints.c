/* SPDX-License-Identifier: Apache-2.0 */
/* t_savepoints.c - what outlives a job goes into a mark and comes back from it: the same in memory and in files,
 * however much is put or read behind the mark, and with another share of memory. */
#include "run_test.h"
#include "run/pass/checkpoint.h"
#include "run/pass/id_check.h"
#include "run/store/ordinal_index.h"
#include <fcntl.h>

static char top[256];

static int
make_top(void **state)
{
    const char *tmp = getenv("TMPDIR");
    (void)state;
    snprintf(top, sizeof top, "%s/mrs-marks-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return mkdtemp(top) ? 0 : -1;
}

static int
drop_top(void **state)
{
    (void)state;
    return rmdir(top);
}

/* An engine that keeps its files in top/out.checkpoint, and a mark. */
struct keeper {
    struct bare b;
    char output[300];
    struct mrs_buf words, files;
    struct mrs_build build;
    struct mrs_view mark;
};

static enum mrs_status
keeper_begin(struct keeper *k, uint64_t fail_at, uint64_t memory)
{
    bare_begin(&k->b, fail_at, memory, 1);
    snprintf(k->output, sizeof k->output, "%s/out", top);
    k->b.opts.output = k->output;
    k->b.opts.checkpoints = true;
    mrs_buf_init(&k->words, k->b.mem, SIZE_MAX);
    mrs_buf_init(&k->files, k->b.mem, SIZE_MAX);
    return mrsi_ckpt_begin(&k->b.en, &k->b.err);
}

static void
keeper_end(struct keeper *k)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_ckpt_dir side = {.mem = mem, .output = k->output};
    mrs_buf_clear(&k->words);
    mrs_buf_clear(&k->files);
    mrsi_ckpt_end(&k->b.en, MRS_FAIL, NULL);
    assert_int_equal(mrs_ckpt_dir_clear(&side, NULL, NULL), MRS_OK);
    assert_int_equal(mrs_mem_close(mem), 0);
    bare_end(&k->b);
}

static struct mrs_build *
mark_begin(struct keeper *k)
{
    mrs_buf_reset(&k->words);
    mrs_buf_reset(&k->files);
    mrs_build_init(&k->build, &k->words);
    return &k->build;
}

/* All but *s, which is that of describe. */
static enum mrs_status
mark_end(struct keeper *k, enum mrs_status s)
{
    enum mrs_status built = mrs_build_finish(&k->build, &k->mark, &k->b.err);
    return s == MRS_OK ? built : s;
}

/* A run that is killed leaves its files. */
static void
leave(struct mrsi_temp *t)
{
    if (t) {
        t->no = 0;
    }
}

static uint64_t
files_named(const struct keeper *k)
{
    return k->files.n / sizeof(uint32_t);
}

/* ---- file arrays ---- */
static enum mrs_status
put_numbers(struct mrsi_file_array *t, uint64_t from, uint64_t to, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint64_t i = from; s == MRS_OK && i < to; i++) {
        uint64_t x = i * i;
        s = mrsi_file_array_put(t, &x, e);
    }
    return s;
}

static void
has_numbers(const struct mrsi_file_array *t, uint64_t n)
{
    assert_int_equal(t->n, n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x;
        memcpy(&x, t->p + i * 8, 8);
        assert_int_equal(x, i * i);
    }
}

static enum mrs_status
mark_array(struct keeper *k, struct mrsi_file_array *t)
{
    return mark_end(k, mrsi_file_array_save(t, "t", mark_begin(k), &k->files, &k->b.err));
}

static enum mrs_status
file_array_back(struct keeper *k, struct mrsi_file_array *t, uint64_t limit)
{
    mrsi_file_array_init(t, &k->b.en, 8, limit);
    t->kept = true;
    return mrsi_file_array_load(t, k->mark, "t", &k->b.err);
}

/* Marked in the middle with `at` items, gone on with to n of them, marked at its end and used again. */
static enum mrs_status
file_array_through_marks(struct keeper *k, uint64_t limit, uint64_t at, uint64_t n)
{
    struct mrsi_file_array t, again, ended;
    struct mrs_err *e = &k->b.err;
    mrsi_file_array_init(&t, &k->b.en, 8, limit);
    mrsi_file_array_init(&again, &k->b.en, 8, limit);
    mrsi_file_array_init(&ended, &k->b.en, 8, limit);
    t.kept = true;
    enum mrs_status s = put_numbers(&t, 0, at, e);
    s = s == MRS_OK ? mark_array(k, &t) : s;
    s = s == MRS_OK ? put_numbers(&t, at, at + 100, e) : s; /* as a run does that is killed there */
    enum mrs_status a = s == MRS_OK ? file_array_back(k, &again, 4096 + limit / 2) : s;
    leave(t.temp);
    mrsi_file_array_clear(&t);
    if (s != MRS_OK) {
        return s;
    }
    a = a == MRS_OK ? put_numbers(&again, at, n, e) : a;
    a = a == MRS_OK ? mrsi_file_array_end(&again, e) : a;
    a = a == MRS_OK ? mark_array(k, &again) : a;
    a = a == MRS_OK ? file_array_back(k, &ended, limit) : a;
    leave(again.temp);
    if (a == MRS_OK) {
        has_numbers(&again, n);
        has_numbers(&ended, n);
    }
    mrsi_file_array_reset(&again); /* what the mark names stays as it is */
    a = a == MRS_OK ? put_numbers(&again, 7, 2000, e) : a;
    if (a == MRS_OK) {
        has_numbers(&ended, n);
    }
    mrsi_file_array_clear(&again);
    mrsi_file_array_clear(&ended);
    return a;
}

static void
arrays(void **state)
{
    static const uint64_t limits[] = {0, 1 << 20}, sizes[][2] = {{0, 0}, {0, 3}, {5, 9}, {511, 512}, {3000, 9000}};
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct keeper k;
            assert_int_equal(keeper_begin(&k, 0, 1 << 20), MRS_OK);
            assert_int_equal(file_array_through_marks(&k, limits[l], sizes[i][0], sizes[i][1]), MRS_OK);
            assert_int_equal(files_named(&k), sizes[i][1] > 0);
            keeper_end(&k);
        }
    }
}

/* ---- sorters ---- */
static enum mrs_status
put_records(struct mrsi_sorter *s, uint64_t from, uint64_t to, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint64_t i = from; st == MRS_OK && i < to; i++) {
        uint64_t seed = i, x = roll(&seed);
        uint8_t key[8], body[300];
        mrsi_put_be(key, x % 1000, 8); /* many have equal keys: the order in which they were put decides */
        memset(body, (int)i, sizeof body);
        memcpy(body, &i, sizeof i);
        st = mrsi_sorter_put(s, key, sizeof key, body, 8 + (uint32_t)(x >> 32) % 290, e);
    }
    return st;
}

/* The next `n` records (all: UINT64_MAX); *sum: of their order. */
static enum mrs_status
read_records(struct mrsi_sorter *s, uint64_t n, uint64_t *count, uint64_t *sum, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    struct mrsi_sorted r;
    while (st == MRS_OK && n-- > 0 && (st = mrsi_sorter_next(s, &r, e)) == MRS_OK) {
        uint64_t i;
        memcpy(&i, r.p, sizeof i);
        *sum = *sum * 31 + i;
        ++*count;
        if (*count % 7 == 3) { /* one that is held over a while comes again */
            mrsi_sorter_unread(s);
            st = mrsi_sorter_next(s, &r, e);
            uint64_t same;
            memcpy(&same, r.p, sizeof same);
            assert_true(st != MRS_OK || same == i);
        }
    }
    return st == MRS_END ? MRS_OK : st;
}

static enum mrs_status
mark_sorter(struct keeper *k, struct mrsi_sorter *s)
{
    return mark_end(k, mrsi_sorter_save(s, "s", mark_begin(k), &k->files, &k->b.err));
}

/* In place of `s` the one that the mark has. */
static enum mrs_status
sorter_back(struct keeper *k, struct mrsi_sorter *s, uint64_t limit)
{
    struct mrsi_sorter old = *s;
    mrsi_sorter_init(s, &k->b.en, limit);
    s->kept = true;
    enum mrs_status st = mrsi_sorter_load(s, k->mark, "s", &k->b.err);
    leave(old.temp);
    mrsi_sorter_clear(&old);
    return st;
}

/* n records; marked and gone on with behind `at` of them, when all are put, and behind `read` that were read. */
static enum mrs_status
sorter_through_marks(struct keeper *k, uint64_t limit, const uint64_t row[3], uint64_t *sum)
{
    struct mrsi_sorter s;
    struct mrs_err *e = &k->b.err;
    uint64_t n = row[0], at = row[1], read = row[2], count = 0;
    mrsi_sorter_init(&s, &k->b.en, limit);
    s.kept = true;
    *sum = 0;
    enum mrs_status st = put_records(&s, 0, at, e);
    st = st == MRS_OK ? mark_sorter(k, &s) : st;
    st = st == MRS_OK ? put_records(&s, 1000, 1200, e) : st;
    st = st == MRS_OK ? sorter_back(k, &s, limit * 2) : st;
    st = st == MRS_OK ? put_records(&s, at, n, e) : st;
    st = st == MRS_OK ? mrsi_sorter_rewind(&s, e) : st;
    st = st == MRS_OK ? mark_sorter(k, &s) : st;
    st = st == MRS_OK ? read_records(&s, read, &count, sum, e) : st;
    st = st == MRS_OK ? mark_sorter(k, &s) : st;
    uint64_t count_then = count, sum_then = *sum;
    st = st == MRS_OK ? read_records(&s, UINT64_MAX, &count_then, &sum_then, e) : st;
    st = st == MRS_OK ? sorter_back(k, &s, limit) : st;
    st = st == MRS_OK ? mrsi_sorter_resume(&s, e) : st;
    st = st == MRS_OK ? read_records(&s, UINT64_MAX, &count, sum, e) : st;
    if (st == MRS_OK) {
        assert_int_equal(count, n);
        assert_int_equal(count_then, n);
        assert_true(*sum == sum_then);
    }
    count = sum_then = 0; /* and all of them from the first */
    st = st == MRS_OK ? mark_sorter(k, &s) : st;
    st = st == MRS_OK ? sorter_back(k, &s, limit) : st;
    st = st == MRS_OK ? mrsi_sorter_rewind(&s, e) : st;
    st = st == MRS_OK ? read_records(&s, UINT64_MAX, &count, &sum_then, e) : st;
    if (st == MRS_OK) {
        assert_int_equal(count, n);
        assert_true(*sum == sum_then);
    }
    mrsi_sorter_clear(&s);
    return st;
}

static void
sorters(void **state)
{
    static const uint64_t rows[][3] = {{0, 0, 0},       {1, 0, 0},       {1, 1, 1},          {40, 20, 13},
                                       {900, 899, 898}, {3000, 1000, 1}, {3000, 1700, 2999}, {3000, 3000, 3000}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t sum[2];
        for (int l = 0; l < 2; l++) {
            struct keeper k;
            assert_int_equal(keeper_begin(&k, 0, 1 << 20), MRS_OK);
            assert_int_equal(sorter_through_marks(&k, l ? 1 << 22 : 5000, rows[i], &sum[l]), MRS_OK);
            keeper_end(&k);
        }
        assert_true(sum[0] == sum[1]);
    }
}

/* ---- mapped memory and indexes ---- */
static enum mrs_status
mem_through_marks(struct keeper *k, uint64_t limit, uint64_t then)
{
    enum { BYTES = 9000 };
    struct mrsi_mapped_mem a, again = {.en = NULL};
    struct mrs_err *e = &k->b.err;
    enum mrs_status s = mrsi_mapped_mem_new(&a, &k->b.en, BYTES, limit, e);
    if (s != MRS_OK) {
        return s;
    }
    for (int i = 0; i < BYTES; i++) {
        ((uint8_t *)a.p)[i] = (uint8_t)(i * 7);
    }
    for (int twice = 0; s == MRS_OK && twice < 2; twice++) {
        s = mark_end(k, mrsi_mapped_mem_save(&a, "a", mark_begin(k), &k->files, e));
        assert_true(s != MRS_OK || files_named(k) == 1);
    }
    struct mrsi_mapped_mem wrong = {.en = NULL};
    struct mrs_err own;
    mrs_err_clear(&own);
    s = s == MRS_OK ? mrsi_mapped_mem_load(&again, &k->b.en, BYTES, then, k->mark, "a", e) : s;
    if (s == MRS_OK) {
        assert_true(mrsi_mapped_mem_load(&wrong, &k->b.en, BYTES + 1, then, k->mark, "a", &own) != MRS_OK);
        assert_int_equal(again.temp != NULL, then < BYTES);
        assert_memory_equal(again.p, a.p, BYTES);
    }
    mrsi_mapped_mem_clear(&a);
    mrsi_mapped_mem_clear(&again);
    return s;
}

static enum mrs_status
put_keys(struct mrsi_index *x, uint64_t from, uint64_t to, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint64_t i = from; s == MRS_OK && i < to; i++) {
        uint64_t key = i % 3 ? i : i / 2, first; /* some come twice */
        s = mrsi_index_put(x, mrs_hash(&key, sizeof key, 3), i, &first, e);
    }
    return s;
}

/* Marked behind `at` puts; others that follow are forgotten; gone on with. It is the index that was never marked. */
static enum mrs_status
index_through_marks(struct keeper *k, uint64_t limit, uint64_t then, uint64_t at)
{
    enum { N = 20000 };
    struct mrsi_index x, good, again;
    struct mrs_err *e = &k->b.err;
    mrsi_index_init(&x, &k->b.en, limit);
    mrsi_index_init(&good, &k->b.en, 1 << 24);
    mrsi_index_init(&again, &k->b.en, then);
    enum mrs_status s = put_keys(&x, 0, at, e);
    s = s == MRS_OK ? mark_end(k, mrsi_index_save(&x, "x", mark_begin(k), &k->files, e)) : s;
    s = s == MRS_OK ? put_keys(&x, N + 5, N + 5 + at / 9, e) : s;
    leave(x.slots.temp);
    leave(x.slots.copy);
    mrsi_index_clear(&x);
    s = s == MRS_OK ? mrsi_index_load(&again, k->mark, "x", e) : s;
    s = s == MRS_OK ? put_keys(&again, at, N, e) : s;
    for (int settled = 0; s == MRS_OK && settled < 2; settled++) { /* copied once where it does not change */
        struct mrsi_temp *copy = again.slots.copy;
        s = mark_end(k, mrsi_index_save(&again, "x", mark_begin(k), &k->files, e));
        assert_true(!settled || again.slots.copy == copy);
    }
    s = s == MRS_OK ? put_keys(&good, 0, N, e) : s;
    for (uint64_t i = 0; s == MRS_OK && i < 2 * N; i++) {
        struct mrs_hash128 h = mrs_hash(&i, sizeof i, 3);
        assert_int_equal(mrsi_index_find(&again, h), mrsi_index_find(&good, h));
    }
    assert_true(s != MRS_OK || again.n == good.n);
    mrsi_index_clear(&good);
    mrsi_index_clear(&again);
    return s;
}

static void
mapped_memory_and_indexes(void **state)
{
    static const uint64_t limits[][2] = {{0, 0}, {0, 1 << 22}, {1 << 22, 0}, {1 << 22, 1 << 22}, {100000, 200000}};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct keeper k;
        assert_int_equal(keeper_begin(&k, 0, 1 << 20), MRS_OK);
        assert_int_equal(mem_through_marks(&k, limits[i][0], limits[i][1]), MRS_OK);
        for (uint64_t at = 0; at < 20000; at += at < 100 ? 20 : 6000) {
            assert_int_equal(index_through_marks(&k, limits[i][0], limits[i][1], at), MRS_OK);
        }
        keeper_end(&k);
    }
}

/* ---- `_id`s ---- */
static enum mrs_status
mark_ids(struct keeper *k, struct mrsi_ids *ids)
{
    return mark_end(k, mrsi_ids_save(ids, "ids", mark_begin(k), &k->files, &k->b.err));
}

/* In place of `ids` what the mark has. */
static void
ids_back(struct keeper *k, struct mrsi_ids *ids)
{
    struct mrsi_ids old = *ids;
    old.extents_kept.buf = &old.extents;
    assert_int_equal(mark_ids(k, &old), MRS_OK);
    assert_int_equal(mrsi_ids_init(ids, &k->b.en, MRS_CONFLICTS_LAST, &k->b.err), MRS_OK);
    assert_int_equal(mrsi_ids_load(ids, k->mark, "ids", &k->b.err), MRS_OK);
    assert_int_equal(ids->phase, old.phase);
    leave(old.spill);
    leave(old.extents_kept.temp);
    leave(old.bodies);
    leave(old.members.temp);
    struct mrsi_file_array *arrays[] = {&old.dup_hashes, &old.rejected, &old.verdicts, &old.replaced};
    for (int i = 0; i < 4; i++) {
        leave(arrays[i]->temp);
    }
    mrsi_ids_clear(&old);
}

/* n documents for a target, each of the first `twice` with a second one that wins. */
static void
put_candidates(struct mrsi_ids *ids, uint64_t n, uint64_t twice, struct mrs_err *e)
{
    struct mrs_buf list;
    mrs_buf_init(&list, ids->en->mem, SIZE_MAX);
    for (uint64_t i = 0; i < n + twice; i++) {
        uint8_t doc[] = "\x0c\0\0\0\x10v\0\0\0\0\0";
        struct mrs_hash128 key = mrs_hash(&(uint64_t){i % n}, 8, 1);
        doc[7] = (uint8_t)i;
        struct mrs_hash128 body = mrs_hash(&i, 8, 2);
        struct mrsi_id_member m = {key.lo, key.hi, body.lo, body.hi, i, 0, 3, 0, 0, 0, 12, 0};
        mrs_buf_put(&list, &m, sizeof m);
        mrs_buf_put(&list, doc, 12);
    }
    assert_int_equal(mrsi_ids_members(ids, &list, e), MRS_OK);
    mrs_buf_clear(&list);
}

static void
ids_in_each_phase(void **state)
{
    enum { N = 700, TWICE = 40 };
    struct keeper k;
    struct mrsi_ids ids;
    struct mrs_buf room;
    bool clash;
    (void)state;
    assert_int_equal(keeper_begin(&k, 0, 8192), MRS_OK);
    mrs_buf_init(&room, k.b.mem, SIZE_MAX);
    assert_int_equal(mrsi_ids_init(&ids, &k.b.en, MRS_CONFLICTS_LAST, &k.b.err), MRS_OK);
    for (uint64_t i = 0; i < N + TWICE; i++) {
        struct mrs_hash128 key = mrs_hash(&(uint64_t){i % N}, 8, 1);
        assert_int_equal(mrsi_ids_take(&ids, &key.lo, 1, &k.b.err), MRS_OK);
        if (i % 300 == 7) {
            ids_back(&k, &ids);
        }
    }
    assert_int_equal(mrsi_ids_find_duplicates(&ids, NULL, &clash, &k.b.err), MRS_OK);
    assert_true(clash);
    ids_back(&k, &ids);
    assert_int_equal(ids.dup_hashes.n, TWICE);
    put_candidates(&ids, N, TWICE, &k.b.err);
    ids_back(&k, &ids);
    assert_int_equal(mrsi_ids_decide(&ids, NULL, &k.b.err), MRS_OK);
    ids_back(&k, &ids);
    for (uint64_t i = 0; i < N + TWICE; i++) { /* the first keeps its place, the second gives the contents */
        struct mrs_view doc = mrs_empty_doc();
        assert_int_equal(mrsi_ids_verdict(&ids, i, 0), i >= N ? MRSI_MERGED : i < TWICE ? MRSI_REPRESENTS : MRSI_ALONE);
        assert_int_equal(mrsi_ids_replace(&ids, false, i, 0, &room, &doc, &k.b.err), MRS_OK);
        assert_int_equal(doc.n, i < TWICE ? 12 : MRS_DOC_MIN);
        assert_true(i >= TWICE || doc.p[7] == (uint8_t)(i + N));
    }
    mrs_buf_clear(&room);
    mrsi_ids_clear(&ids);
    keeper_end(&k);
}

/* ---- what must not be believed ---- */
static void
shorten(const struct keeper *k)
{
    uint32_t no;
    char path[400];
    memcpy(&no, k->files.p, sizeof no);
    snprintf(path, sizeof path, "%s.checkpoint/%u", k->output, no);
    assert_int_equal(truncate(path, 10), 0);
}

/* A sorter's file is too short; a mark is of something else. */
static void
damage(void **state)
{
    struct keeper k;
    struct mrsi_sorter s, wrong;
    struct mrsi_file_array t;
    struct mrsi_index x;
    (void)state;
    assert_int_equal(keeper_begin(&k, 0, 1 << 20), MRS_OK);
    mrsi_sorter_init(&s, &k.b.en, 1 << 20);
    s.kept = true;
    assert_int_equal(put_records(&s, 0, 50, &k.b.err), MRS_OK);
    assert_int_equal(mark_sorter(&k, &s), MRS_OK);
    mrsi_sorter_init(&wrong, &k.b.en, 1 << 20);
    assert_int_equal(mrsi_sorter_load(&wrong, k.mark, "other", &k.b.err), MRS_FAIL);
    assert_int_equal(k.b.err.code, MRS_E_FORMAT);
    mrsi_file_array_init(&t, &k.b.en, 8, 4096);
    assert_int_equal(mrsi_file_array_load(&t, k.mark, "s", &k.b.err), MRS_FAIL);
    mrsi_index_init(&x, &k.b.en, 4096);
    assert_int_equal(mrsi_index_load(&x, k.mark, "s", &k.b.err), MRS_FAIL);
    shorten(&k);
    assert_int_equal(mrsi_sorter_load(&wrong, k.mark, "s", &k.b.err), MRS_FAIL);
    mrsi_sorter_clear(&wrong);
    mrsi_sorter_clear(&s);
    mrsi_file_array_clear(&t);
    mrsi_index_clear(&x);
    keeper_end(&k);
}

/* One bit of the file that the mark names first. */
static void
turn_bit(const struct keeper *k, uint64_t at)
{
    uint32_t no;
    char path[400];
    uint8_t byte;
    memcpy(&no, k->files.p, sizeof no);
    snprintf(path, sizeof path, "%s.checkpoint/%u", k->output, no);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= 1u << at % 8;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

enum { ARRAY, SORTER, AREA, INDEX, KINDS };
struct table {
    struct mrsi_file_array array;
    struct mrsi_sorter sorter;
    struct mrsi_mapped_mem mem;
    struct mrsi_index index;
};

static void
table_init(struct keeper *k, struct table *t)
{
    memset(t, 0, sizeof *t);
    mrsi_file_array_init(&t->array, &k->b.en, 8, 4096);
    mrsi_sorter_init(&t->sorter, &k->b.en, 4096);
    mrsi_index_init(&t->index, &k->b.en, 4096);
    t->array.kept = t->sorter.kept = true;
}

static void
table_clear(struct table *t)
{
    struct mrsi_temp *const files[] = {t->array.temp, t->sorter.temp, t->mem.temp, t->mem.copy, t->index.slots.temp};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        leave(files[i]);
    }
    mrsi_file_array_clear(&t->array);
    mrsi_sorter_clear(&t->sorter);
    mrsi_mapped_mem_clear(&t->mem);
    mrsi_index_clear(&t->index);
}

/* A mark of one of them, with something in it; how many bytes its file has. */
static uint64_t
mark_table(struct keeper *k, struct table *t, int kind)
{
    struct mrs_err *e = &k->b.err;
    if (kind == ARRAY) {
        assert_int_equal(put_numbers(&t->array, 0, 700, e), MRS_OK);
        assert_int_equal(mark_array(k, &t->array), MRS_OK);
        return t->array.bytes;
    }
    if (kind == SORTER) {
        assert_int_equal(put_records(&t->sorter, 0, 50, e), MRS_OK);
        assert_int_equal(mark_sorter(k, &t->sorter), MRS_OK);
        return t->sorter.bytes;
    }
    if (kind == AREA) {
        assert_int_equal(mrsi_mapped_mem_new(&t->mem, &k->b.en, 5000, 4096, e), MRS_OK);
        memset(t->mem.p, 7, 5000);
        assert_int_equal(mark_end(k, mrsi_mapped_mem_save(&t->mem, "a", mark_begin(k), &k->files, e)), MRS_OK);
        return 5000;
    }
    assert_int_equal(put_keys(&t->index, 0, 300, e), MRS_OK);
    assert_int_equal(mark_end(k, mrsi_index_save(&t->index, "x", mark_begin(k), &k->files, e)), MRS_OK);
    return t->index.slots.bytes;
}

static enum mrs_status
table_back(struct keeper *k, struct table *t, int kind)
{
    struct mrs_err *e = &k->b.err;
    return kind == ARRAY     ? mrsi_file_array_load(&t->array, k->mark, "t", e)
           : kind == SORTER ? mrsi_sorter_load(&t->sorter, k->mark, "s", e)
           : kind == AREA   ? mrsi_mapped_mem_load(&t->mem, &k->b.en, 5000, 4096, k->mark, "a", e)
                            : mrsi_index_load(&t->index, k->mark, "x", e);
}

/* Of an index what lies in an empty slot does not count, but for the bit of an ordinal that there could be. */
static bool
counts(const struct table *t, int kind, uint64_t at)
{
    const struct mrsi_index_slot *slot = t->index.slots.p;
    return kind != INDEX || slot[at / sizeof *slot].ord || at % sizeof *slot == offsetof(struct mrsi_index_slot, ord);
}

/* A table with the bit at `at` turned (past its end: none) comes back only where that bit means nothing. Its bytes. */
static uint64_t
turn_and_go_on(int kind, uint64_t at, uint64_t *found)
{
    struct keeper k;
    struct table was, again;
    assert_int_equal(keeper_begin(&k, 0, 1 << 20), MRS_OK);
    table_init(&k, &was);
    table_init(&k, &again);
    uint64_t n = mark_table(&k, &was, kind);
    bool is_lost = at < n && counts(&was, kind, at);
    if (at < n) {
        turn_bit(&k, at);
    }
    assert_int_equal(table_back(&k, &again, kind), is_lost ? MRS_FAIL : MRS_OK);
    assert_int_equal(k.b.err.code, is_lost ? MRS_E_FORMAT : MRS_E_NONE);
    *found += is_lost;
    table_clear(&again);
    table_clear(&was);
    keeper_end(&k);
    return n;
}

/* Any bit that is another one than it was is found out, wherever it is. */
static void
bits_that_turned(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t found = 0, n = turn_and_go_on(kind, UINT64_MAX, &found);
        for (uint64_t at = 0; at < n; at += 131) {
            turn_and_go_on(kind, at, &found);
        }
        assert_true(found > 20);
    }
}

/* ---- the log of refused documents ---- */
static void
refuse(struct keeper *k, int fill)
{
    struct mrsi_worker w = {.en = &k->b.en};
    struct mrsi_refused_head h = {.doc_len = 40};
    uint8_t doc[40];
    memset(doc, fill, sizeof doc);
    mrs_buf_init(&w.refused, k->b.mem, SIZE_MAX);
    mrs_buf_put(&w.refused, &h, sizeof h);
    mrs_buf_put(&w.refused, doc, sizeof doc);
    assert_int_equal(mrsi_refused_commit(&w, &k->b.err), MRS_OK);
    mrs_buf_clear(&w.refused);
}

/* A mark of it, with which another run goes on. */
static void
log_through_mark(struct keeper *k)
{
    struct mrsi_engine *en = &k->b.en;
    uint64_t bytes = en->refused_bytes;
    assert_int_equal(mark_end(k, mrsi_state_put_progress(en, mark_begin(k), &k->files, &k->b.err)), MRS_OK);
    leave(en->refused_log);
    mrsi_temp_drop(en, en->refused_log);
    en->refused_log = NULL;
    assert_int_equal(mrsi_state_get_progress(en, k->mark, &k->b.err), MRS_OK);
    assert_int_equal(en->refused_bytes, bytes);
}

/* A log that is taken back and grows on, to the same length and beyond: what a mark says of it is what lies there. */
static void
log_taken_back(void **state)
{
    (void)state;
    for (int behind = 0; behind < 3; behind++) {
        struct keeper k;
        assert_int_equal(keeper_begin(&k, 0, 1 << 20), MRS_OK);
        refuse(&k, 'a');
        struct mrsi_refused_position at = mrsi_refused_position(&k.b.en);
        refuse(&k, 'b');
        mrsi_refused_rewind(&k.b.en, at);
        for (int i = 0; i < behind; i++) {
            refuse(&k, 'c' + i);
        }
        log_through_mark(&k);
        refuse(&k, 'x');
        log_through_mark(&k);
        mrsi_temp_drop(&k.b.en, k.b.en.refused_log);
        k.b.en.refused_log = NULL;
        keeper_end(&k);
    }
}

static void
memory_fails(void **state)
{
    static const uint64_t row[3] = {300, 100, 50};
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct keeper k;
        uint64_t sum;
        enum mrs_status s = keeper_begin(&k, n, 1 << 20);
        s = s == MRS_OK ? file_array_through_marks(&k, 0, 600, 900) : s;
        s = s == MRS_OK ? file_array_through_marks(&k, 1 << 20, 600, 900) : s;
        s = s == MRS_OK ? sorter_through_marks(&k, 5000, row, &sum) : s;
        s = s == MRS_OK ? sorter_through_marks(&k, 1 << 20, row, &sum) : s;
        s = s == MRS_OK ? mem_through_marks(&k, 1 << 20, 1 << 20) : s;
        s = s == MRS_OK ? mem_through_marks(&k, 0, 0) : s;
        bool reached = mrs_mem_count(k.b.mem) >= n;
        if (reached && s != MRS_OK) { /* a file that is not removed for want of memory is no failure */
            is_memory(s, &k.b.err);
        }
        keeper_end(&k);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            return;
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays), cmocka_unit_test(sorters),
                                       cmocka_unit_test(mapped_memory_and_indexes), cmocka_unit_test(ids_in_each_phase),
                                       cmocka_unit_test(damage), cmocka_unit_test(bits_that_turned),
                                       cmocka_unit_test(log_taken_back), cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
