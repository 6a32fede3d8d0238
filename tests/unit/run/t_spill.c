/* SPDX-License-Identifier: Apache-2.0 */
/* t_spill.c - records of several workers thrown into partitions come back whole and in order, from memory and disk. */
#include "mark_test.h"
#include "run/join/join.h"

/* What a record must hold, so that one that is mixed up is noticed. */
static uint32_t
make(struct mrsi_rec *r, uint8_t *verify, uint8_t *sort, uint8_t *payload, uint64_t ord, uint64_t order, uint32_t large)
{
    memset(r, 0, sizeof *r);
    r->ord = ord;
    r->order = order;
    r->ref = (uint32_t)(order * 3);
    r->verify_len = (uint32_t)(order % 2) * 24;
    r->sort_len = (uint32_t)(order % 5);
    r->payload_len = order % 50 == 49 ? large : (uint32_t)(order % 100);
    memset(verify, (int)(order & 255), r->verify_len);
    memset(sort, (int)((order + 1) & 255), r->sort_len);
    memset(payload, (int)((order + 2) & 255), r->payload_len);
    r->total = (uint32_t)((sizeof *r + r->verify_len + r->sort_len + r->payload_len + 7) & ~(size_t)7);
    return r->total;
}

static void
check(const struct mrsi_rec *r, uint32_t large)
{
    static uint8_t verify[64], sort[64], payload[1 << 20];
    struct mrsi_rec want;
    make(&want, verify, sort, payload, r->ord, r->order, large);
    assert_int_equal((uintptr_t)r % 8, 0);
    assert_int_equal(r->total, want.total);
    assert_int_equal(r->ref, want.ref);
    assert_memory_equal(mrsi_rec_verify(r), verify, want.verify_len);
    assert_memory_equal(mrsi_rec_sort(r), sort, want.sort_len);
    assert_memory_equal(mrsi_rec_payload(r), payload, want.payload_len);
}

struct plan {
    uint64_t memory, ordinals, records;
    uint32_t jobs, large;
    bool unordered, on_disk;
    uint32_t more_jobs; /* of the run that goes on; 0: none does */
    uint64_t less;      /* memory of that one */
};

static uint64_t
ord_of(const struct plan *p, uint64_t order)
{
    uint64_t x = order + 99;
    return roll(&x) % p->ordinals;
}

static enum mrs_status
put_some(const struct plan *p, struct mrsi_spiller *s, uint32_t jobs, uint64_t from, uint64_t to, struct mrs_err *e)
{
    static uint8_t verify[64], sort[64], payload[1 << 20];
    enum mrs_status st = MRS_OK;
    for (uint64_t k = from; st == MRS_OK && k < to; k++) {
        uint64_t order = p->unordered ? (k * 7919) % p->records : k;
        struct mrsi_rec r;
        struct mrsi_rec_parts x = {verify, sort, payload};
        make(&r, verify, sort, payload, ord_of(p, order), order, p->large);
        st = mrsi_spiller_put(&s[order / 10 % jobs], &r, &x, e);
    }
    return st;
}

static enum mrs_status
put_all(const struct plan *p, struct mrsi_spill *sp, struct mrs_err *e)
{
    struct mrsi_spiller s[8];
    enum mrs_status st = MRS_OK;
    memset(s, 0, sizeof s);
    for (uint32_t i = 0; st == MRS_OK && i < p->jobs; i++) {
        st = mrsi_spiller_init(&s[i], sp, i, e);
    }
    st = st == MRS_OK ? put_some(p, s, p->jobs, 0, p->records, e) : st;
    for (uint32_t i = 0; i < p->jobs; i++) {
        st = st == MRS_OK ? mrsi_spiller_end(&s[i], e) : st;
        mrsi_spiller_clear(&s[i]);
    }
    return st;
}

struct count {
    const struct plan *p;
    uint64_t n, sum;
};

static enum mrs_status
count(void *arg, const struct mrsi_rec *r, struct mrs_err *e)
{
    struct count *c = arg;
    (void)e;
    check(r, c->p->large);
    c->n++;
    c->sum += r->order;
    return MRS_OK;
}

static enum mrs_status
begin(struct mrsi_spill *sp, struct bare *b, uint64_t ordinals, uint64_t bytes)
{
    struct mrsi_spill_need need = {.ordinals = ordinals, .records = bytes};
    struct mrsi_spill_layout l = mrsi_layout_join(b->en.memory, b->en.jobs, &need);
    return mrsi_spill_init(sp, &b->en, ordinals, &l, &b->err);
}

static enum mrs_status
look(const struct plan *p, struct mrsi_spill *sp, struct mrs_err *e)
{
    struct mrs_buf buf, list;
    enum mrs_status st = MRS_OK;
    uint64_t loaded = 0, at = 0;
    struct count each = {p, 0, 0};
    mrs_buf_init(&buf, sp->en->mem, SIZE_MAX);
    mrs_buf_init(&list, sp->en->mem, SIZE_MAX);
    for (uint32_t i = 0; st == MRS_OK && i < sp->n_part; i++) {
        struct mrsi_partition *part = &sp->part[i];
        assert_int_equal(part->lo, at); /* no ordinal is in two partitions, or in none */
        at = part->hi;
        uint64_t mid = (part->lo + part->hi) / 2;
        for (int resumed = 0; st == MRS_OK && resumed < 2; resumed++) {
            uint64_t lo = resumed ? mid : part->lo, hi = resumed ? part->hi : mid, before = 0;
            uint32_t streams = 1;
            st = mrsi_partition_load(sp, part, lo, hi, &buf, &list, e);
            const struct mrsi_loaded *at_hand = (const struct mrsi_loaded *)(void *)list.p;
            for (size_t k = 0; st == MRS_OK && k < list.n / sizeof *at_hand; k++, loaded++) {
                const struct mrsi_rec *rec = at_hand[k].rec;
                assert_true(rec->ord >= lo && rec->ord < hi && rec->ord == ord_of(p, rec->order));
                assert_int_equal(at_hand[k].rel, rec->ord - lo);
                assert_int_equal(at_hand[k].ref, rec->ref);
                streams += k && rec->order < before;
                assert_true(rec->order != before || !before);
                before = rec->order;
                check(rec, p->large);
            }
            assert_true(st != MRS_OK || p->unordered || streams <= sp->streams);
        }
        st = st == MRS_OK ? mrsi_partition_each(sp, part, part->lo, part->hi, count, &each, e) : st;
    }
    if (st == MRS_OK) {
        assert_int_equal(at, sp->first + sp->total);
        assert_int_equal(loaded, p->records);
        assert_int_equal(each.n, p->records);
        assert_int_equal(each.sum, p->records ? p->records * (p->records - 1) / 2 : 0);
    }
    mrs_buf_clear(&buf);
    mrs_buf_clear(&list);
    return st;
}

static enum mrs_status
spill(const struct plan *p, struct bare *b)
{
    struct mrsi_spill sp;
    enum mrs_status st = begin(&sp, b, p->ordinals, p->records * 150);
    st = st == MRS_OK ? put_all(p, &sp, &b->err) : st;
    st = st == MRS_OK ? look(p, &sp, &b->err) : st;
    if (st == MRS_OK) {
        assert_int_equal(sp.temp != NULL, p->on_disk);
    }
    mrsi_spill_clear(&sp);
    mrsi_spill_clear(&sp);
    return st;
}

static void
all_ways(void **state)
{
    static const struct plan rows[] = {
        {1 << 30, 1000, 20000, 1, 99, false, false, 0, 0}, {1 << 30, 1000, 20000, 4, 99, false, false, 0, 0},
        {1 << 20, 1000, 20000, 3, 99, false, true, 0, 0},  {1 << 20, 1, 20000, 3, 99, false, true, 0, 0},
        {4 << 20, 5, 5000, 2, 300000, false, true, 0, 0},  {1 << 20, 300, 20011, 3, 99, true, true, 0, 0},
        {4096, 50, 3000, 2, 99, false, true, 0, 0},        {1 << 20, 10, 0, 2, 99, false, false, 0, 0},
        {2 << 20, 100000, 40000, 2, 99, false, true, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bare b;
        bare_begin(&b, 0, rows[i].memory, rows[i].jobs);
        assert_int_equal(spill(&rows[i], &b), MRS_OK);
        bare_end(&b);
    }
}

/* ---- a partition that is split ---- */
struct tally {
    const struct mrsi_partition *of;
    uint64_t n, sum;
};

static enum mrs_status
tally(void *arg, const struct mrsi_rec *r, struct mrs_err *e)
{
    struct tally *t = arg;
    (void)e;
    assert_true(r->ord >= t->of->lo && r->ord < t->of->hi);
    check(r, 99);
    t->n++;
    t->sum += r->order * 31 + r->ord;
    return MRS_OK;
}

static struct tally
tally_of(const struct mrsi_spill *sp, const struct mrsi_partition *p, struct mrs_err *e)
{
    struct tally t = {p, 0, 0};
    assert_int_equal(mrsi_partition_each(sp, p, p->lo, p->hi, tally, &t, e), MRS_OK);
    return t;
}

/* Its parts have all of its records, each where its ordinal belongs; one after the other through one file. */
static void
split_partitions(void **state)
{
    static const struct plan p = {256 << 10, 5000, 30000, 2, 99, false, true, 0, 0};
    struct mrsi_spill sp, sub;
    struct bare b;
    (void)state;
    memset(&sub, 0, sizeof sub);
    bare_begin(&b, 0, p.memory, p.jobs);
    assert_int_equal(begin(&sp, &b, p.ordinals, p.records * 150), MRS_OK);
    assert_int_equal(put_all(&p, &sp, &b.err), MRS_OK);
    for (uint32_t i = 0; i < sp.n_part; i++) {
        struct tally all = tally_of(&sp, &sp.part[i], &b.err), sum = {NULL, 0, 0};
        assert_int_equal(mrsi_spill_split(&sub, &sp, i, &b.err), MRS_OK);
        assert_true(sub.n_part > 1 && sub.part[0].lo == sp.part[i].lo);
        assert_int_equal(sub.part[sub.n_part - 1].hi, sp.part[i].hi);
        for (uint32_t k = 0; k < sub.n_part; k++) {
            struct tally t = tally_of(&sub, &sub.part[k], &b.err);
            assert_true(k == 0 || sub.part[k].lo == sub.part[k - 1].hi);
            assert_int_equal(mrsi_spill_part_of(&sub, sub.part[k].lo), k);
            sum.n += t.n;
            sum.sum += t.sum;
        }
        assert_true(sum.n == all.n && sum.sum == all.sum && all.n > 0);
    }
    mrsi_spill_clear(&sub);
    mrsi_spill_clear(&sp);
    bare_end(&b);
}

/* What the rule promises: pieces large where the budget allows it, no partition too large for a worker where one level
 * is enough, nothing written that fits, the budget kept. */
static void
layouts(void **state)
{
    (void)state;
    for (uint64_t memory = 16 << 20; memory <= 8ull << 30; memory *= 2) {
        for (uint64_t records = 1 << 20; records < 64ull << 30; records *= 3) {
            for (uint32_t jobs = 1; jobs <= 16 && memory / jobs >= 8 << 20; jobs *= 2) {
                struct mrsi_spill_need need = {records / 200 + 1, records, records / 4, 0};
                struct mrsi_spill_layout l = mrsi_layout_join(memory, jobs, &need);
                uint64_t open = (uint64_t)l.parts * l.piece * jobs, load = mrsi_layout_load(memory, jobs);
                assert_true(l.parts && l.piece >= 16 << 10 && l.piece <= 256 << 10);
                assert_true(open <= memory / 4 + l.piece * (uint64_t)jobs);
                assert_true(open + l.memory <= memory);
                if (l.memory < records) {
                    bool one_level = records / l.parts <= load;
                    assert_true(l.piece >= 64 << 10 || l.parts <= 2);
                    assert_true(one_level || l.piece == 256 << 10 || l.parts == 1);
                    assert_true(one_level || records / load + 1 > memory / 4 / jobs / (64 << 10));
                }
                struct mrsi_spill_layout fold = mrsi_layout_fold(memory, jobs, 1000, records);
                assert_true(fold.parts && fold.parts <= 1000 && fold.piece >= 4096 && fold.piece <= 64 << 10);
                assert_true((uint64_t)fold.parts * fold.piece * jobs <= memory / 4 + fold.piece * (uint64_t)jobs);
                assert_true(fold.memory >= records || !fold.memory);
                struct mrsi_spill_layout split = mrsi_layout_split(memory, jobs, records / l.parts, need.ordinals);
                assert_true((uint64_t)split.parts * split.piece <= memory / 4 + split.piece && !split.memory);
            }
        }
    }
}

static void
memory_fails(void **state)
{
    static const struct plan p = {4 << 20, 5, 400, 2, 300000, true, true, 0, 0};
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct bare b;
        bare_begin(&b, n, 64 << 10, p.jobs);
        enum mrs_status s = spill(&p, &b);
        bool reached = mrs_mem_count(b.mem) >= n;
        if (reached) {
            is_memory(s, &b.err);
        }
        bare_end(&b);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            assert_true(n > 10);
            return;
        }
    }
}

/* ---- marks ---- */
/* Half of the records, a mark, some more that the mark knows nothing of. */
static enum mrs_status
until_killed(const struct plan *p, struct mrsi_spill *sp, struct mrsi_spiller *s, struct mark *m, struct bare *b)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < p->jobs; i++) {
        st = mrsi_spiller_init(&s[i], sp, i, &b->err);
    }
    for (int twice = 0; twice < 2; twice++) { /* what the first mark has put into the file is there for the second */
        uint64_t resumed = p->records / 2, from = twice ? resumed / 2 : 0;
        st = st == MRS_OK ? put_some(p, s, p->jobs, from, twice ? resumed : resumed / 2, &b->err) : st;
        mark_again(m);
        st = st == MRS_OK ? mrsi_spill_save(sp, "spill", &m->b, &m->files, &b->err) : st;
        st = mark_finish(m, b, st);
    }
    uint64_t most = p->records * 3 / 4;
    return st == MRS_OK ? put_some(p, s, p->jobs, p->records / 2, most, &b->err) : st;
}

/* Goes on from the mark, with other memory and more or fewer workers. */
static enum mrs_status
go_on(const struct plan *p, struct mark *m, struct bare *b)
{
    struct mrsi_spill sp;
    struct mrsi_spiller s[8];
    memset(s, 0, sizeof s);
    enum mrs_status st = begin(&sp, b, 0, 0);
    st = st == MRS_OK ? mrsi_spill_load(&sp, m->doc, "spill", &b->err) : st;
    for (uint32_t i = 0; st == MRS_OK && i < p->more_jobs; i++) {
        st = mrsi_spiller_init(&s[i], &sp, i, &b->err);
    }
    st = st == MRS_OK ? put_some(p, s, p->more_jobs, p->records / 2, p->records, &b->err) : st;
    for (uint32_t i = 0; i < 8; i++) {
        st = st == MRS_OK && i < p->more_jobs ? mrsi_spiller_end(&s[i], &b->err) : st;
        mrsi_spiller_clear(&s[i]);
    }
    st = st == MRS_OK ? look(p, &sp, &b->err) : st;
    mark_again(m); /* nothing is open: the list of pieces is made once */
    st = st == MRS_OK ? mrsi_spill_save(&sp, "spill", &m->b, &m->files, &b->err) : st;
    uint32_t list = sp.list ? sp.list->no : 0;
    st = st == MRS_OK ? mrsi_spill_save(&sp, "again", &m->b, &m->files, &b->err) : st;
    assert_true(st != MRS_OK || sp.list->no == list);
    st = mark_finish(m, b, st);
    mrsi_spill_clear(&sp);
    return st;
}

static enum mrs_status
marked(const struct plan *p, struct bare *b)
{
    struct mrsi_spill sp;
    struct mrsi_spiller s[8];
    struct mark m;
    memset(s, 0, sizeof s);
    memset(&sp, 0, sizeof sp);
    enum mrs_status st = mark_begin(&m, b);
    st = st == MRS_OK ? begin(&sp, b, p->ordinals, p->records * 150) : st;
    st = st == MRS_OK ? until_killed(p, &sp, s, &m, b) : st;
    if (st == MRS_OK) {
        b->en.memory = p->less;
        b->en.jobs = p->more_jobs;
        st = go_on(p, &m, b);
        b->en.jobs = p->jobs;
    }
    for (uint32_t i = 0; i < 8; i++) {
        mrsi_spiller_clear(&s[i]);
    }
    mrsi_spill_clear(&sp);
    mark_end(&m, b);
    return st;
}

static void
marks(void **state)
{
    static const struct plan rows[] = {
        {1 << 30, 1000, 20000, 1, 99, false, false, 1, 1 << 30},
        {1 << 30, 1000, 20000, 4, 99, false, false, 2, 1 << 20},
        {1 << 20, 1000, 20000, 3, 99, false, true, 5, 1 << 30},
        {1 << 20, 1, 20000, 3, 99, false, true, 1, 4096},
        {4 << 20, 5, 5000, 2, 300000, false, true, 2, 4 << 20},
        {1 << 20, 300, 20011, 3, 99, true, true, 2, 1 << 20},
        {4096, 50, 3000, 2, 99, false, true, 2, 1 << 24},
        {1 << 20, 10, 2, 2, 99, false, false, 3, 1 << 20}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bare b;
        bare_begin(&b, 0, rows[i].memory, rows[i].jobs);
        assert_int_equal(marked(&rows[i], &b), MRS_OK);
        bare_end(&b);
    }
}

static void
marks_without_memory(void **state)
{
    static const struct plan p = {4 << 20, 5, 400, 2, 300000, true, true, 3, 1 << 20};
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct bare b;
        bare_begin(&b, n, 64 << 10, p.jobs);
        enum mrs_status s = marked(&p, &b);
        bool reached = mrs_mem_count(b.mem) >= n;
        if (reached && s != MRS_OK) { /* a file that was not removed for want of memory goes at the end */
            is_memory(s, &b.err);
        }
        bare_end(&b);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            return;
        }
    }
}

/* What a mark says is not believed: each number of it, and of its list, as large as can be. */
static void
damaged_marks(void **state)
{
    static const char *const names[] = {"ordinals", "partitions", "added", "spare", "streams"};
    static const struct plan p = {4096, 50, 300, 2, 99, false, true, 2, 4096};
    struct mrsi_spill sp;
    struct mrsi_spiller s[8];
    struct bare b;
    struct mark m;
    (void)state;
    bare_begin(&b, 0, p.memory, p.jobs);
    memset(s, 0, sizeof s);
    assert_int_equal(mark_begin(&m, &b), MRS_OK);
    assert_int_equal(begin(&sp, &b, p.ordinals, 99999), MRS_OK);
    assert_int_equal(until_killed(&p, &sp, s, &m, &b), MRS_OK);
    struct mrs_view d = mrsi_savepoint_doc(m.doc, "spill");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct mrsi_spill other;
        uint8_t *at = (uint8_t *)(uintptr_t)mrs_doc_get(d, names[i]).p, was[8];
        memcpy(was, at, 8);
        memset(at, 0xff, 8);
        assert_int_equal(begin(&other, &b, 0, 0), MRS_OK);
        assert_int_equal(mrsi_spill_load(&other, m.doc, "spill", &b.err), MRS_FAIL);
        assert_int_equal(b.err.code, MRS_E_FORMAT);
        mrsi_spill_clear(&other);
        memcpy(at, was, 8);
        mrs_err_clear(&b.err);
    }
    for (uint32_t at = 0; at < 24; at += 4) { /* of the first piece: place, length, partition, stream */
        struct mrsi_spill other;
        uint32_t was, bad = UINT32_MAX;
        assert_int_equal(pread(sp.list->fd, &was, 4, at), 4);
        assert_int_equal(pwrite(sp.list->fd, &bad, 4, at), 4);
        assert_int_equal(begin(&other, &b, 0, 0), MRS_OK);
        assert_int_equal(mrsi_spill_load(&other, m.doc, "spill", &b.err), MRS_FAIL);
        mrsi_spill_clear(&other);
        assert_int_equal(pwrite(sp.list->fd, &was, 4, at), 4);
    }
    for (uint32_t i = 0; i < 8; i++) {
        mrsi_spiller_clear(&s[i]);
    }
    mrsi_spill_clear(&sp);
    mark_end(&m, &b);
    bare_end(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_ways), cmocka_unit_test(split_partitions),
                                       cmocka_unit_test(layouts),  cmocka_unit_test(memory_fails),
                                       cmocka_unit_test(marks),    cmocka_unit_test(marks_without_memory),
                                       cmocka_unit_test(damaged_marks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
