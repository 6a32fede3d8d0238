/* SPDX-License-Identifier: Apache-2.0 */
/* t_fold.c - the engine of folds, driven by a step made for it (fold_test.h), against a naive grouping of the same
 * documents, also where it is stopped in the middle of groups. */
#include "fold_test.h"
#include "run/pass/checkpoint.h"

/* ---- running it, between steps of a plan ---- */
static struct ran
run_fold(const struct knobs *k, const char *before, const char *after, const struct mrs_run_opts *opts,
         uint64_t fail_at)
{
    const struct mrs_side sides[] = {
        {{"d", "from", "d.from"}, MRS_ROLE_READ | MRS_ROLE_MAIN | (k->take ? MRS_ROLE_TAKE : 0), "from"},
        {{"d", "into", "d.into"}, MRS_ROLE_ADD, "into"}};
    struct mrs_step steps[8];
    struct ran r;
    struct mrs_run_opts o = *opts;
    struct mrs_input *in = NULL;
    struct mrs_plan *plan = NULL;
    char text[2000];
    memset(&r, 0, sizeof r);
    mrs_err_clear(&r.err);
    r.mem = mrs_mem_new(0);
    struct mrs_mem *mem = mrs_mem_new(fail_at);
    o.input = at("in");
    o.output = at("out");
    snprintf(text, sizeof text, "database: d\nsteps:\n%s%s- index: { in: from, create: [{ key: { g: 1 } }] }\n", before,
             after);
    struct mrs_plan_opts po = {.file = "p", .default_db = "d"};
    assert_int_equal(mrs_plan_load(r.mem, text, strlen(text), &po, &plan, &r.err), MRS_OK);
    struct mrs_plan all = *plan;
    uint32_t at_step = *before != 0;
    memset(steps, 0, sizeof steps);
    memcpy(steps, plan->steps, at_step * sizeof *steps);
    memcpy(steps + at_step + 1, plan->steps + at_step, (plan->n_steps - at_step) * sizeof *steps);
    steps[at_step] = (struct mrs_step){.type = &type[k->shared < SHARED_SAYS_IT ? 0 : k->shared - SHARED],
                                       .state = (void *)(uintptr_t)k,
                                       .desc = {.family = MRS_FAMILY_FOLD,
                                                .sides = sides,
                                                .n_sides = 2,
                                                .conflicts = k->conflicts}};
    all.steps = steps;
    all.n_steps = plan->n_steps; /* without the index, which was there so that there is a step at all */
    for (uint32_t i = 0; i < all.n_steps; i++) {
        steps[i].no = i + 1;
    }
    assert_int_equal(mrs_input_open(r.mem, o.input, &o.in, &in, &r.err), MRS_OK);
    r.status = mrs_run(mem, &all, in, &o, &r.report, &r.err);
    balanced(&r.report);
    mrs_plan_free(plan);
    mrs_input_close(in);
    if (r.status != MRS_OK) {
        mrs_report_clear(&r.report);
        assert_int_equal(mrs_mem_close(mem), 0);
    } else {
        mrs_mem_close(r.mem);
        r.mem = mem;
    }
    return r;
}

/* ---- documents, and what must become of them ---- */
struct one {
    int32_t g, o, v;
    enum what what;
    enum { STAYS, TAKEN, REFUSED } fate;
    const char *place;
};
struct result {
    char id[40];
    char text[8000];
    uint32_t from, to; /* members: places in `sorted` */
    bool there, rejected, merged;
};
static struct one docs[DOCS_MAX];
static struct result results[DOCS_MAX * 2];
static uint32_t n_docs, n_results, sorted[DOCS_MAX];
static char input[TEXT_MAX], want_into[TEXT_MAX], want_from[TEXT_MAX];

static uint64_t
roll(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15ull;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

static void
make_docs(const struct knobs *k, uint32_t n, uint64_t seed)
{
    size_t len = 0;
    n_docs = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at_chance = (uint32_t)(roll(&seed) % 1000), what = WHATS - 1;
        for (; what > PLAIN && at_chance >= k->chance[what]; what--) {
            at_chance -= k->chance[what];
        }
        docs[i] = (struct one){.g = (int32_t)(roll(&seed) % k->groups),
                               .o = (int32_t)(roll(&seed) % k->orders),
                               .v = (int32_t)(roll(&seed) % 100000),
                               .what = (enum what)what,
                               .place = ""};
        docs[i].g = k->rising ? (int32_t)((uint64_t)k->groups * i / n) : docs[i].g;
        char date[64] = "";
        if (k->dated) {
            snprintf(date, sizeof date, "'d':{'$date':{'$numberLong':'%d'}},", docs[i].o);
        }
        const int v = docs[i].v + (int)k->changed, f = (int)docs[i].what;
        const bool turned = i / 3 % 2; /* documents of one size have two looks */
        len += (size_t)snprintf(input + len, sizeof input - len,
                                "{'_id':%u,'g':%d,'o':%d,%s'%c':%d,'%c':%d,'s':'%0*d'}\n", i, docs[i].g, docs[i].o,
                                date, turned ? 'f' : 'v', turned ? f : v, turned ? 'v' : 'f', turned ? v : f,
                                (int)(roll(&seed) % (k->pad + 1)) + 1, 0);
    }
    input[len] = 0;
    put_docs("in/d/from.bson", input);
    len = 0;
    n_results = 0;
    input[0] = 0;
    for (uint32_t i = 0; i < k->there; i++) {
        struct result *r = &results[n_results++];
        *r = (struct result){.there = true};
        snprintf(r->id, sizeof r->id, "%u:0", i * 2);
        snprintf(r->text, sizeof r->text, k->same && i % 2 ? "{'_id':'%s'}\n" : "{'_id':'%s','there':1}\n", r->id);
        len += (size_t)snprintf(input + len, sizeof input - len, "%s", r->text);
    }
    if (k->there) {
        put_docs("in/d/into.bson", input);
    }
}

static const struct knobs *sort_by;
static int
by_group(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    if (docs[a].g != docs[b].g) {
        return docs[a].g < docs[b].g ? -1 : 1;
    }
    if (sort_by->sorted && docs[a].o != docs[b].o) {
        return docs[a].o < docs[b].o ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static void
refuse_doc(uint32_t i, const char *place)
{
    if (docs[i].fate != REFUSED) {
        docs[i].fate = REFUSED;
        docs[i].place = place;
    }
}

/* Documents of the group of sorted[from, to): results are appended. */
static void
naive_group(const struct knobs *k, uint32_t from, uint32_t to)
{
    uint32_t part = 0, n = 0, first = from, first_result = n_results;
    for (uint32_t i = from; i < to; i++) {
        const struct one *d = &docs[sorted[i]];
        if (d->what == FAILS) {
            n_results = first_result;
            for (uint32_t x = from; x < to; x++) {
                refuse_doc(sorted[x], x < i && docs[sorted[x]].what == ALONE ? "member" : "group");
            }
            return;
        }
        if (d->what == ALONE) {
            refuse_doc(sorted[i], "member");
            continue;
        }
        struct result *r = &results[n_results];
        if (!n) {
            *r = (struct result){.from = first};
            snprintf(r->id, sizeof r->id, "%u:%u", k->ids ? (uint32_t)d->g % k->ids : (uint32_t)d->g, part);
            snprintf(r->text, sizeof r->text, k->same ? "{'_id':'%s'" : "{'_id':'%s','g':%d,'v':[", r->id, d->g);
        }
        if (!k->same) {
            snprintf(r->text + strlen(r->text), sizeof r->text - strlen(r->text), n ? ",%d" : "%d", d->v);
        }
        bool stops = d->what == STOPS, last = true;
        for (uint32_t x = i + 1; x < to && !stops; x++) { /* an ALONE behind the last does not begin a document */
            last = last && docs[sorted[x]].what == ALONE;
        }
        last = last || stops;
        if (last ? (++n == k->most && !k->ahead) || !k->leave : ++n == k->most) {
            strcat(r->text, k->same ? "}\n" : "]}\n");
            r->to = first = i + 1;
            n = 0;
            part++;
            n_results++;
        }
        if (stops) {
            break;
        }
    }
}

static void
judge(const struct knobs *k, uint32_t i)
{
    bool agree = true;
    uint32_t fresh = 0; /* equal ones that the step makes are two all the same */
    uint32_t last = i;
    for (uint32_t x = i; x < n_results; x++) {
        if (strcmp(results[x].id, results[i].id) == 0) {
            agree = agree && strcmp(results[x].text, results[i].text) == 0;
            fresh += !results[x].there;
            last = x;
        }
    }
    if (last == i || !fresh) {
        return;
    }
    for (uint32_t x = i; x < n_results; x++) {
        bool same = strcmp(results[x].id, results[i].id) == 0 && !results[x].there;
        results[x].rejected =
            results[x].rejected || (same && (!agree || fresh > 1) && k->conflicts == MRS_CONFLICTS_REFUSE);
        results[x].merged = results[x].merged || (same && x != i && !results[x].rejected);
    }
    if (k->conflicts == MRS_CONFLICTS_LAST) {
        memcpy(results[i].text, results[last].text, sizeof results[i].text);
    }
}

static void
naive(const struct knobs *k)
{
    uint32_t n = 0;
    size_t into = 0, from = 0;
    for (uint32_t i = 0; i < n_docs; i++) {
        docs[i].fate = STAYS;
        docs[i].place = "";
        if (docs[i].what == BAD) {
            refuse_doc(i, "enter");
        } else if (docs[i].what != OUTSIDE && k->nameless && (uint32_t)docs[i].g % k->nameless == 0) {
            refuse_doc(i, "key");
        } else if (docs[i].what != OUTSIDE) {
            sorted[n++] = i;
        }
    }
    sort_by = k;
    qsort(sorted, n, sizeof *sorted, by_group);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && docs[sorted[end]].g == docs[sorted[i]].g; end++) {
        }
        naive_group(k, i, end);
    }
    for (uint32_t i = 0; i < n_results; i++) {
        bool seen = false;
        for (uint32_t x = 0; x < i; x++) {
            seen = seen || strcmp(results[x].id, results[i].id) == 0;
        }
        if (!seen) {
            judge(k, i);
        }
    }
    want_into[0] = want_from[0] = 0;
    for (uint32_t i = 0; i < n_results; i++) {
        const struct result *r = &results[i];
        for (uint32_t m = r->from; m < r->to; m++) {
            struct one *d = &docs[sorted[m]];
            if (r->rejected) {
                refuse_doc(sorted[m], "conflicts");
            } else if (d->fate != REFUSED && k->take) {
                d->fate = TAKEN;
            }
        }
        if (!r->rejected && !r->merged) {
            into += (size_t)sprintf(want_into + into, "%s", r->text);
        }
    }
    for (uint32_t i = 0; i < n_docs; i++) {
        from += docs[i].fate == STAYS ? (size_t)sprintf(want_from + from, "%u ", i) : 0;
    }
}

static const char *
ids_of(const char *name)
{
    static char text[TEXT_MAX];
    static uint8_t bytes[TEXT_MAX];
    size_t n = get_file(name, bytes, sizeof bytes), out = 0;
    text[0] = 0;
    for (size_t i = 0; i < n; i += mrs_le32(bytes + i)) {
        struct mrs_view doc = {bytes + i, mrs_le32(bytes + i)};
        out += (size_t)sprintf(text + out, "%d ", mrs_val_i32(field(doc, "_id")));
    }
    return text;
}

static void
check_refused(const struct mrs_report *rep)
{
    static uint8_t bytes[TEXT_MAX];
    uint64_t refused = 0;
    size_t at_byte = 0;
    for (uint32_t i = 0; i < n_docs; i++) {
        refused += docs[i].fate == REFUSED;
    }
    assert_int_equal(rep->refused, refused);
    size_t n = refused ? get_file("out.refused.bson", bytes, sizeof bytes) : 0;
    for (uint32_t i = 0; i < n_docs; i++) {
        if (docs[i].fate != REFUSED) {
            continue;
        }
        assert_true(at_byte < n);
        struct mrs_view rec = {bytes + at_byte, mrs_le32(bytes + at_byte)};
        struct mrs_view doc = mrs_val_view(field(rec, "doc"));
        assert_int_equal(mrs_val_i32(field(doc, "_id")), i);
        if (!mrs_val_is_text(field(rec, "place"), docs[i].place)) {
            fail_msg("document %u: not %s", i, docs[i].place);
        }
        at_byte += rec.n;
    }
    assert_int_equal(at_byte, n);
}

static void
check_rows(const struct knobs *k, const struct mrs_report *rep)
{
    const uint32_t step = 1 + k->changed;
    const struct mrs_account *from = row(rep, step, "d.from"), *into = row(rep, step, "d.into");
    uint64_t fates[3] = {0, 0, 0}, written = 0;
    for (uint32_t i = 0; i < n_docs; i++) {
        fates[docs[i].fate]++;
    }
    for (uint32_t i = 0; i < n_results; i++) {
        written += !results[i].rejected && !results[i].merged && !results[i].there;
    }
    assert_int_equal(from->before, n_docs);
    assert_int_equal(from->after, fates[STAYS]);
    assert_int_equal(from->taken, fates[TAKEN]);
    assert_int_equal(from->refused, fates[REFUSED]);
    assert_int_equal(into->before, k->there);
    assert_int_equal(into->created, written);
    assert_int_equal(into->after, written + k->there);
    if (k->take) {
        assert_int_equal(into->placed, fates[TAKEN]);
    }
}

static void
fold_against_naive(const struct knobs *k, uint32_t n, uint64_t seed)
{
    static const uint64_t memory[] = {1u << 30, 1200000, 300000, 4096};
    const char *before = k->changed ? "- set: { in: from, fields: { v: { $subtract: [\"$v\", 1] } } }\n" : "";
    begin();
    make_docs(k, n, seed);
    naive(k);
    for (size_t m = 0; m < sizeof memory / sizeof *memory; m++) {
        for (uint32_t jobs = 1; jobs < 4; jobs++) {
            struct mrs_run_opts o = defaults();
            o.memory = memory[m];
            o.jobs = jobs;
            o.block_bytes = jobs == 2 ? 0 : 4000; /* then most are read once ranges are known */
            o.max_refused = DOCS_MAX;
            o.force = true;
            struct ran r = run_fold(k, before, "", &o, 0);
            if (r.status != MRS_OK) {
                fail_msg("%s", r.err.msg);
            }
            assert_string_equal(docs_of("out/d/into.bson"), want_into);
            assert_string_equal(ids_of("out/d/from.bson"), want_from);
            check_refused(&r.report);
            check_rows(k, &r.report);
            ran_end(&r);
            drop("out.refused.bson");
            drop("out.refused.bson.jsonl");
        }
    }
}

static void
plain(void **state)
{
    (void)state;
    struct knobs k = {.most = 5, .groups = 20, .orders = 30, .pad = 50, .take = true};
    for (uint32_t i = 0; i < 12; i++) {
        k.ahead = i & 1;
        k.sorted = i & 2 || i > 7;
        k.take = !(i & 4);
        k.shared = i < 8 ? i % KINDS : SHARED_IS_FAST;
        k.dated = i == 8;
        k.pad = i < 8 ? 50 : 0;
        k.changed = i > 9;
        fold_against_naive(&k, 600, i);
    }
    k.pad = 50;
    k.changed = false;
    k.groups = 500;
    fold_against_naive(&k, 600, 11);
    for (uint32_t i = 0; i < 4; i++) {
        k.rising = true;
        k.groups = i % 2 ? 600 : 30;
        k.pad = i < 2 ? 50 : 600;
        k.shared = i % KINDS;
        fold_against_naive(&k, 600, 13 + i);
    }
    k.rising = false;
    k.pad = 50;
    k.groups = 1;
    k.shared = SHARED;
    k.sorted = true;
    fold_against_naive(&k, 600, 12);
    fold_against_naive(&k, 0, 1);
    fold_against_naive(&k, 1, 1);
}

/* Groups that grow while documents are read, and what makes that impossible. */
static void
small(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        struct knobs k = {.most = 10000, .groups = i % 4 ? 200 : 20, .orders = 1, .pad = 40, .take = i & 1};
        k.shared = SHARED_SAYS_IT;
        k.small = i % 3 == 2 ? SMALL_UP_TO_THE_END : SMALL;
        k.ids = i % 5 ? 0 : 25;
        k.same = i % 10 == 5;
        k.there = i % 7 ? 0 : 3;
        k.conflicts = (enum mrs_conflicts)(i % 3);
        k.chance[OUTSIDE] = i % 2 ? 0 : 50;
        k.chance[BAD] = i % 6 ? 0 : 50;
        k.chance[FAILS] = i % 8 == 7 ? 3 : 0;
        k.nameless = i % 5 == 3 ? 7 : 0;
        fold_against_naive(&k, 600, i * 31);
    }
}

static void
refusals(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        struct knobs k = {.most = 1 + i % 7, .ahead = i & 1, .sorted = i & 2, .take = i & 4, .leave = i & 8};
        k.groups = i % 3 ? 40 : 3;
        k.orders = 20;
        k.shared = i / 2 % KINDS;
        k.dated = i % 5 != 3;
        k.pad = i % 4 ? 60 : 1500;
        k.chance[OUTSIDE] = i % 2 ? 0 : 50;
        k.chance[BAD] = i % 3 ? 0 : 50;
        k.chance[ALONE] = 40;
        k.chance[FAILS] = i % 5 ? 10 : 0;
        k.chance[STOPS] = i % 7 ? 10 : 0;
        k.nameless = k.shared >= SHARED_SAYS_IT && i % 3 == 1 ? 11 : 0;
        k.changed = i % 6 == 5;
        fold_against_naive(&k, i % 5 ? 500 : 300, i * 77);
    }
}

static void
clashes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 36; i++) {
        struct knobs k = {.most = 3 + i % 5, .ahead = i & 1, .sorted = i & 2, .take = i % 5 != 0, .leave = i % 7 == 0};
        k.conflicts = (enum mrs_conflicts)(i % 3);
        k.groups = 40;
        k.ids = i % 4 ? 25 : 0;
        k.there = i % 4 == 3 ? 0 : 12;
        k.same = i % 5 == 1;
        k.orders = 20;
        k.shared = i / 3 % KINDS;
        k.dated = i & 1;
        k.pad = 60;
        k.chance[OUTSIDE] = i % 2 ? 0 : 50;
        k.chance[ALONE] = i % 3 ? 20 : 0;
        k.chance[FAILS] = i % 5 ? 5 : 0;
        fold_against_naive(&k, 400, i * 31);
    }
}

/* ---- stopped and gone on, at checkpoints inside of groups ---- */
enum { WAYS = 3 }; /* of enum mrsi_fold_way */
static unsigned written, stop_at, in_way[WAYS], in_open, in_docs, in_reported, in_failed;
static int cancel;

static void
on_checkpoint(void *arg, bool is_written)
{
    (void)arg;
    written += is_written;
    cancel = cancel || (is_written && written == stop_at);
}

static void
look_at_mark(void)
{
    static uint8_t room[1 << 20];
    struct mrsi_checkpoint cp;
    struct mrs_err e;
    size_t n = get_file("out.checkpoint/state", room, sizeof room);
    bool none = false, bad = false;
    mrs_err_clear(&e);
    assert_int_equal(mrsi_checkpoint_parse(room, n, &cp, &e), MRS_OK);
    struct mrs_view group = mrsi_savepoint_doc(cp.pass, "group");
    uint64_t way = mrsi_state_number(group, "way", WAYS - 1, &none);
    if (!none) {
        in_way[way]++;
        in_open += way == 0 && mrsi_state_number(group, "given", INT64_MAX, &bad) > 0;
        in_docs += mrsi_state_number(group, "released", INT64_MAX, &bad) > 0;
        in_reported += mrsi_state_number(group, "reported", INT64_MAX, &bad) > 0;
        mrsi_state_bytes(group, "why", &n, &bad);
        in_failed += way == WAYS - 1 && n > 0;
        assert_false(bad);
    }
}

/* A run until its n-th checkpoint from now, or to its end: then true. */
static bool
run_until(const struct knobs *k, struct mrs_run_opts *o, unsigned n)
{
    written = 0;
    stop_at = n;
    cancel = 0;
    o->checkpoint_ms = n ? 1 : 0;
    struct ran r = run_fold(k, "", "", o, 0);
    bool whole = r.status == MRS_OK;
    o->resume = true;
    if (whole) {
        assert_string_equal(docs_of("out/d/into.bson"), want_into);
        assert_string_equal(ids_of("out/d/from.bson"), want_from);
        check_refused(&r.report);
        check_rows(k, &r.report);
        ran_end(&r);
        return true;
    }
    if (r.err.code != MRS_E_CANCEL) {
        fail_msg("%s", r.err.msg);
    }
    mrs_mem_close(r.mem);
    look_at_mark();
    return false;
}

/* Stopped at some checkpoints: one, then others of what is left, until none is met any more. */
static void
stop_and_go_on(const struct knobs *k, uint32_t n, uint64_t seed)
{
    begin();
    make_docs(k, n, seed);
    naive(k);
    for (unsigned first = 1; first < 400; first += 1 + (unsigned)(roll(&seed) % 40)) {
        struct mrs_run_opts o = defaults();
        o.memory = 4096;
        o.jobs = 1 + first % 2;
        o.max_refused = DOCS_MAX;
        o.block_bytes = 64;
        o.checkpoints = true;
        o.checkpoint = on_checkpoint;
        o.cancel = &cancel;
        bool whole = run_until(k, &o, first), again = !whole && roll(&seed) % 3 == 0;
        first = whole ? 400 : first;
        if (again) {
            whole = run_until(k, &o, 1 + (unsigned)(roll(&seed) % 50));
        }
        assert_true(whole || run_until(k, &o, 0));
        drop("out");
        drop("out.refused.bson");
        drop("out.refused.bson.jsonl");
    }
}

static void
stopped_inside(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 48; i++) {
        struct knobs k = {.most = 2 + i % 7, .ahead = i & 1, .sorted = i & 2, .take = i % 5 != 0, .leave = i % 7 == 0};
        k.conflicts = (enum mrs_conflicts)(i % 3);
        k.groups = 1 + i % 4 / 3;
        k.ids = i % 4 == 2;
        k.there = i % 6 ? 0 : 4;
        k.orders = 20;
        k.shared = i / 3 % KINDS;
        k.dated = i & 1;
        k.pad = 60;
        k.chance[OUTSIDE] = i % 2 ? 0 : 50;
        k.chance[ALONE] = i % 3 ? 60 : 0;
        k.chance[FAILS] = i % 5 ? 0 : 30;
        k.chance[STOPS] = i % 11 ? 0 : 30;
        stop_and_go_on(&k, 60, i * 31 + 7);
    }
    for (unsigned i = 0; i < WAYS; i++) {
        assert_in_range(in_way[i], 10, 10000);
    }
    assert_in_range(in_open, 10, 10000);
    assert_in_range(in_docs, 10, 10000);
    assert_in_range(in_reported, 10, 10000);
    assert_in_range(in_failed, 10, 10000);
}

/* Steps that wait before it, steps that are fused behind it, a dry run, a sample, too many refusals. */
static void
among_steps(void **state)
{
    struct knobs k = {.most = 5, .groups = 4, .orders = 3, .pad = 9, .take = true};
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/from.bson", "{'_id':1,'g':1,'o':1,'v':7,'f':0} {'_id':2,'g':0,'o':1,'v':8,'f':0} {'_id':3,'g':1,"
                               "'o':1,'v':9,'f':1} {'_id':4,'f':0,'g':1,'v':{}}");
    o.max_refused = 1;
    struct ran r = run_fold(&k, "- set: { in: from, fields: { v: { $add: [\"$v\", 1] } } }\n",
                            "- set: { in: into, fields: { n: { $size: \"$v\" } } }\n", &o, 0);
    assert_int_equal(r.status, MRS_OK);
    assert_int_equal(row(&r.report, 2, "d.from")->before, 3);
    assert_int_equal(r.report.refused, 1);
    ran_end(&r);
    assert_string_equal(docs_of("out/d/into.bson"), "{'_id':'0:0','g':0,'v':[9],'n':1}\n"
                                                    "{'_id':'1:0','g':1,'v':[8],'n':1}\n");
    assert_string_equal(docs_of("out/d/from.bson"), "{'_id':3,'g':1,'o':1,'v':10,'f':1}\n");
    drop("out");
    o.dry_run = true;
    r = run_fold(&k, "", "", &o, 0);
    assert_int_equal(r.status, MRS_OK);
    assert_int_equal(row(&r.report, 1, "d.into")->created, 2);
    assert_int_equal(row(&r.report, 1, "d.into")->placed, 3);
    ran_end(&r);
    assert_false(there("out"));
    o.dry_run = false;
    o.sample = 1;
    r = run_fold(&k, "", "", &o, 0);
    assert_int_equal(r.status, MRS_OK);
    ran_end(&r);
    assert_string_equal(docs_of("out/d/into.bson"), "{'_id':'1:0','g':1,'v':[7]}\n");
    drop("out");
    o.sample = 0;
    o.max_refused = 0;
    put_docs("in/d/from.bson", "{'_id':1,'g':1,'o':1,'v':7,'f':4} {'_id':2,'g':0,'o':1,'v':8,'f':0}");
    r = run_fold(&k, "", "- set: { in: into, fields: { n: 1 } }\n", &o, 0);
    assert_int_equal(r.err.code, MRS_E_TOO_MANY);
    mrs_mem_close(r.mem);
    assert_false(there("out"));
}

/* Every allocation fails once: a status, nothing published, nothing leaked. A few can be done without. */
static void
no_memory(void **state)
{
    struct knobs k = {.most = 3, .groups = 6, .orders = 4, .pad = 40, .there = 3, .ids = 5, .take = true};
    (void)state;
    k.sorted = true;
    k.chance[ALONE] = k.chance[FAILS] = k.chance[OUTSIDE] = 50;
    begin();
    make_docs(&k, 60, 5);
    naive(&k);
    for (uint32_t how = 0; how < 2; how++) {
        uint64_t most = 0, failed = 0;
        for (uint64_t n = 0; n <= most; n++) {
            struct mrs_run_opts o = defaults();
            o.memory = how ? 4096 : 1u << 30;
            o.jobs = 1 + how;
            o.max_refused = DOCS_MAX;
            o.force = true;
            struct ran r = run_fold(&k, "", "", &o, n);
            most = n ? most : mrs_mem_count(r.mem);
            if (r.status == MRS_OK) {
                assert_string_equal(docs_of("out/d/into.bson"), want_into);
                ran_end(&r);
                drop("out");
            } else {
                assert_int_equal(r.err.code, MRS_E_MEMORY);
                assert_int_equal(mrs_mem_close(r.mem), 0);
                assert_false(there("out"));
                failed++;
            }
        }
        assert_true(failed > most / 2);
    }
}

static void
stop_at_once(void *arg, const struct mrs_progress *p)
{
    (void)p;
    __atomic_store_n((int *)arg, 2, __ATOMIC_RELAXED);
}

static void
cancelled(void **state)
{
    struct knobs k = {.most = 3, .groups = 6, .orders = 4, .pad = 40, .take = true};
    struct mrs_run_opts o = defaults();
    int flag = 0;
    (void)state;
    begin();
    make_docs(&k, 60, 5);
    o.cancel = &flag;
    o.progress = stop_at_once;
    o.progress_arg = &flag;
    struct ran r = run_fold(&k, "", "", &o, 0);
    assert_int_equal(r.err.code, MRS_E_CANCEL);
    mrs_mem_close(r.mem);
    assert_false(there("out"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain),          cmocka_unit_test(small),
                                       cmocka_unit_test(refusals),       cmocka_unit_test(clashes),
                                       cmocka_unit_test(stopped_inside), cmocka_unit_test(among_steps),
                                       cmocka_unit_test(no_memory),      cmocka_unit_test(cancelled)};
    return cmocka_run_group_tests(tests, make_top_in_memory, drop_top);
}
