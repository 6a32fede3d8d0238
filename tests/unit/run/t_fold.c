/* t_fold.c - the engine of folds, driven by a step made for it, against a naive grouping of the same documents.
 *
 * Documents of d.from are {_id, g, o, v, f, s}: group, order, value, what shall happen to it, and bytes. The step makes
 * of each group documents {_id, g, v: [...]} of at most `most` members. */
#include "dump_test.h"

#define DOCS_MAX 700

enum what { PLAIN, OUTSIDE, BAD, ALONE, FAILS, STOPS, WHATS };
struct knobs {
    uint32_t most;     /* members of a document */
    bool ahead;        /* a document is put when the member behind it is known */
    bool leave;        /* members of a last document that is not full stand nowhere */
    uint32_t ids;      /* `_id` is g % ids and the part: documents clash; 0: g and the part */
    bool same;         /* documents that clash are alike */
    bool sorted, take;
    uint32_t chance[WHATS]; /* of 1000 documents */
    uint32_t groups, orders, pad, there;
    enum mrs_conflicts conflicts;
    bool rising;       /* groups follow the input */
    /* What documents of a group have alike; with the group in it; and told by a name. */
    enum { NO_KIN, KIN, KIN_SAYS_IT, KIN_HAS_NAME, KINDS } kin;
    enum { NEVER_SMALL, SMALL, SMALL_UP_TO_THE_END } small; /* groups of few plain members; the last: some fail then */
};

/* ---- the step ---- */
static struct mrs_val
field(struct mrs_view doc, const char *name)
{
    return mrs_doc_get(doc, name);
}

static enum mrs_status
refuse(struct mrs_ctx *c, const char *where, const char *why)
{
    mrs_err_set(c->err, MRS_SKIP, MRS_E_REFUSED, "%s", why);
    mrs_err_at(c->err, "%s", where);
    return MRS_SKIP;
}

static bool
is_odd(struct mrs_view doc)
{
    return mrs_val_i32(field(doc, "v")) % 16 == 1;
}

static void
put_kin(struct mrs_view doc, struct mrs_buf *out) /* some groups have several */
{
    mrs_buf_put(out, field(doc, "g").p, 4);
    mrs_buf_put(out, "odd", is_odd(doc) ? 3 : 0);
}

static enum mrs_status
enter(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_fold_entry *out)
{
    const struct knobs *k = state;
    int32_t what = mrs_val_i32(field(doc, "f"));
    (void)work;
    assert_int_equal(out->group.n + out->order.n + out->shape.n, 0);
    if (what == BAD) {
        return refuse(c, "enter", "a bad one");
    }
    out->takes_part = what != OUTSIDE;
    if (k->kin < KIN_SAYS_IT) {
        mrs_key_append(&out->group, field(doc, "g"), false);
    }
    if (k->kin == KIN_HAS_NAME) {
        mrs_buf_byte(&out->kin, is_odd(doc));
        mrs_buf_put(&out->kin, field(doc, "g").p, 4);
    } else if (k->kin) {
        put_kin(doc, &out->kin);
    }
    if (k->sorted) { /* numbers come before dates */
        int32_t o = mrs_val_i32(field(doc, "o"));
        uint8_t room[16];
        struct mrs_val date = mrs_make_i64(room, o, MRS_DATE);
        mrs_key_append(&out->order, (uint32_t)o < k->orders / 2 ? field(doc, "o") : date, false);
    }
    mrs_buf_put(&out->shape, doc.p, doc.n);
    return MRS_OK;
}

struct made {
    struct mrs_buf buf;
    struct mrs_build b;
    int32_t g;
    uint32_t n, part;
};

static void
open_document(const struct knobs *k, struct made *m)
{
    char id[40];
    mrs_buf_reset(&m->buf);
    mrs_build_init(&m->b, &m->buf);
    snprintf(id, sizeof id, "%u:%u", k->ids ? (uint32_t)m->g % k->ids : (uint32_t)m->g, m->part);
    mrs_build_text(&m->b, "_id", id, (uint32_t)strlen(id));
    if (!k->same) {
        mrs_build_i32(&m->b, "g", m->g);
        mrs_build_open(&m->b, "v", 1, MRS_ARRAY);
    }
    m->n = 0;
}

static enum mrs_status
close_document(const struct knobs *k, struct made *m, const struct mrs_fold_put *put, bool but_last, struct mrs_err *e)
{
    struct mrs_view doc;
    if (!k->same) {
        mrs_build_close(&m->b);
    }
    enum mrs_status s = mrs_build_finish(&m->b, &doc, e);
    m->part++;
    return s == MRS_OK ? put->put(put->arg, doc, but_last, e) : s;
}

static enum mrs_status
one_member(const struct knobs *k, struct mrs_ctx *c, struct made *m, struct mrs_members *members, struct mrs_view shape,
           const struct mrs_fold_put *put)
{
    int32_t what = mrs_val_i32(field(shape, "f"));
    uint32_t odd = k->kin && is_odd(shape) ? 3 : 0;
    enum mrs_status s = MRS_OK;
    assert_int_equal(members->kin.n, k->kin ? 4 + odd : 0);
    if (k->kin) {
        assert_memory_equal(members->kin.p, field(shape, "g").p, 4);
    }
    if (what == FAILS) {
        return refuse(c, "group", "a failing group");
    }
    if (what == ALONE) {
        refuse(c, "member", "alone");
        return members->refuse(members, c->err);
    }
    m->g = mrs_val_i32(field(shape, "g"));
    if (m->n == k->most && k->ahead) {
        s = close_document(k, m, put, true, c->err);
        m->n = 0;
    }
    if (s == MRS_OK && m->n == 0) {
        open_document(k, m);
    }
    m->n++;
    if (!k->same) {
        mrs_build_item(&m->b, field(shape, "v"));
    }
    if (s == MRS_OK && m->n == k->most && !k->ahead) {
        s = close_document(k, m, put, false, c->err);
        m->n = 0;
    }
    return s == MRS_OK && what == STOPS ? MRS_END : s;
}

static enum mrs_status
fold(const void *state, struct mrs_ctx *c, void *work, struct mrs_members *members, const struct mrs_fold_put *put)
{
    const struct knobs *k = state;
    struct made *m = work;
    struct mrs_view shape;
    enum mrs_status s = MRS_OK;
    if (!m->buf.mem) {
        mrs_buf_init(&m->buf, c->mem, SIZE_MAX);
    }
    m->n = m->part = 0;
    while (s == MRS_OK && (s = members->next(members, &shape, c->err)) == MRS_OK) {
        s = one_member(k, c, m, members, shape, put);
    }
    if (s == MRS_END && m->n && !k->leave) {
        s = close_document(k, m, put, false, c->err);
    }
    return s == MRS_END ? MRS_OK : s;
}

static void
work_clear(struct mrs_ctx *c, void *work)
{
    (void)c;
    mrs_buf_clear(&((struct made *)work)->buf);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    static const struct mrs_coll from = {"d", "from", "d.from"}, into = {"d", "into", "d.into"};
    const struct knobs *k = state;
    struct mrs_cat_coll *c;
    enum mrs_status s = mrs_catalog_need(cat, &from, k->take, &c, e);
    return s == MRS_OK ? mrs_catalog_target(cat, &into, &c, e) : s;
}

struct small {
    int32_t g, v[24];
    uint32_t n;
};

static size_t
small_size(const void *state)
{
    const struct knobs *k = state;
    return k->small && !k->sorted ? sizeof(struct small) : 0;
}

static uint32_t
small_name(const void *state, struct mrs_view shape)
{
    (void)state;
    return shape.n;
}

static enum mrs_status
small_feed(const void *state, struct mrs_ctx *c, void *work, uint8_t *small, bool first, struct mrs_view shape)
{
    struct small x = {.n = 0};
    (void)state;
    (void)work;
    if (!first) {
        memcpy(&x, small, sizeof x);
    }
    if (mrs_val_i32(field(shape, "f")) != PLAIN || x.n == sizeof x.v / sizeof *x.v) {
        return refuse(c, "small", "it does not fit");
    }
    x.g = mrs_val_i32(field(shape, "g"));
    x.v[x.n++] = mrs_val_i32(field(shape, "v"));
    memcpy(small, &x, sizeof x);
    return MRS_OK;
}

static enum mrs_status
small_end(const void *state, struct mrs_ctx *c, void *work, const struct mrs_fold_small *small,
          const struct mrs_fold_put *put)
{
    const struct knobs *k = state;
    struct made *m = work;
    struct small x;
    memcpy(&x, small->state, sizeof x);
    assert_int_equal(small->n, x.n);
    assert_int_equal(mrs_val_i32(field(small->name, "v")), x.v[0]);
    if (k->small == SMALL_UP_TO_THE_END && x.g % 7 == 3) {
        return refuse(c, "small", "it cannot be written");
    }
    if (!m->buf.mem) {
        mrs_buf_init(&m->buf, c->mem, SIZE_MAX);
    }
    m->g = x.g;
    m->part = 0;
    open_document(k, m);
    for (uint32_t i = 0; i < x.n && !k->same; i++) {
        mrs_build_item(&m->b, mrs_make_i32((uint8_t[16]){0}, x.v[i]));
    }
    return close_document(k, m, put, false, c->err);
}

static enum mrs_status
group(const void *state, struct mrs_ctx *c, void *work, struct mrs_view kin, struct mrs_buf *out)
{
    (void)state;
    (void)c;
    assert_non_null(work);
    mrs_key_append(out, (struct mrs_val){kin.p, 4, MRS_INT32}, false);
    return MRS_OK;
}

static enum mrs_status
kin_of(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_view name,
       struct mrs_buf *out)
{
    (void)state;
    (void)c;
    assert_non_null(work);
    assert_int_equal(name.n, 5);
    assert_int_equal(name.p[0], is_odd(doc));
    assert_memory_equal(name.p + 1, field(doc, "g").p, 4);
    put_kin(doc, out);
    return MRS_OK;
}

static const struct mrs_fold_ops ops[] = {{enter, fold, small_size, small_name, small_feed, small_end, NULL, NULL},
                                          {.enter = enter, .fold = fold, .group = group},
                                          {.enter = enter, .fold = fold, .group = group, .kin = kin_of}};
#define GATHER(i) \
    {.name = "gather", .catalog = catalog, .work_size = sizeof(struct made), .work_clear = work_clear, .fold = &ops[i]}
static const struct mrs_step_type type[] = {GATHER(0), GATHER(1), GATHER(2)};

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
    steps[at_step] = (struct mrs_step){.type = &type[k->kin < KIN_SAYS_IT ? 0 : k->kin - KIN],
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
    bool there, barred, merged;
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
        len += (size_t)snprintf(input + len, sizeof input - len, "{'_id':%u,'g':%d,'o':%d,'v':%d,'f':%d,'s':'%0*d'}\n",
                                i, docs[i].g, docs[i].o, docs[i].v, (int)docs[i].what,
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
    bool agree = true, fresh = false;
    uint32_t last = i;
    for (uint32_t x = i; x < n_results; x++) {
        if (strcmp(results[x].id, results[i].id) == 0) {
            agree = agree && strcmp(results[x].text, results[i].text) == 0;
            fresh = fresh || !results[x].there;
            last = x;
        }
    }
    if (last == i || !fresh) {
        return;
    }
    for (uint32_t x = i; x < n_results; x++) {
        bool same = strcmp(results[x].id, results[i].id) == 0 && !results[x].there;
        results[x].barred = results[x].barred || (same && !agree && k->conflicts == MRS_CONFLICTS_REFUSE);
        results[x].merged = results[x].merged || (same && x != i && !results[x].barred);
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
            if (r->barred) {
                refuse_doc(sorted[m], "conflicts");
            } else if (d->fate != REFUSED && k->take) {
                d->fate = TAKEN;
            }
        }
        if (!r->barred && !r->merged) {
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
    const struct mrs_account *from = row(rep, 1, "d.from"), *into = row(rep, 1, "d.into");
    uint64_t fates[3] = {0, 0, 0}, written = 0;
    for (uint32_t i = 0; i < n_docs; i++) {
        fates[docs[i].fate]++;
    }
    for (uint32_t i = 0; i < n_results; i++) {
        written += !results[i].barred && !results[i].merged && !results[i].there;
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
    begin();
    make_docs(k, n, seed);
    naive(k);
    for (size_t m = 0; m < sizeof memory / sizeof *memory; m++) {
        for (uint32_t jobs = 1; jobs < 4; jobs++) {
            struct mrs_run_opts o = defaults();
            o.memory = memory[m];
            o.jobs = jobs;
            o.max_refused = DOCS_MAX;
            o.force = true;
            struct ran r = run_fold(k, "", "", &o, 0);
            if (r.status != MRS_OK) {
                fail_msg("%s", r.err.msg);
            }
            assert_string_equal(docs_of("out/d/into.bson"), want_into);
            assert_string_equal(ids_of("out/d/from.bson"), want_from);
            check_refused(&r.report);
            check_rows(k, &r.report);
            ran_end(&r);
            drop("out.refused.bson");
        }
    }
}

static void
plain(void **state)
{
    (void)state;
    struct knobs k = {.most = 5, .groups = 20, .orders = 30, .pad = 50, .take = true};
    for (uint32_t i = 0; i < 8; i++) {
        k.ahead = i & 1;
        k.sorted = i & 2;
        k.take = !(i & 4);
        k.kin = i % KINDS;
        fold_against_naive(&k, 600, i);
    }
    k.groups = 500;
    fold_against_naive(&k, 600, 11);
    for (uint32_t i = 0; i < 4; i++) {
        k.rising = true;
        k.groups = i % 2 ? 600 : 30;
        k.pad = i < 2 ? 50 : 600;
        k.kin = i % KINDS;
        fold_against_naive(&k, 600, 13 + i);
    }
    k.rising = false;
    k.pad = 50;
    k.groups = 1;
    k.kin = KIN;
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
        k.small = i % 3 == 2 ? SMALL_UP_TO_THE_END : SMALL;
        k.ids = i % 5 ? 0 : 25;
        k.same = i % 10 == 5;
        k.there = i % 7 ? 0 : 3;
        k.conflicts = (enum mrs_conflicts)(i % 3);
        k.chance[OUTSIDE] = i % 2 ? 0 : 50;
        k.chance[BAD] = i % 6 ? 0 : 50;
        k.chance[FAILS] = i % 8 == 7 ? 3 : 0;
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
        k.kin = i / 2 % KINDS;
        k.pad = i % 4 ? 60 : 1500;
        k.chance[OUTSIDE] = i % 2 ? 0 : 50;
        k.chance[BAD] = i % 3 ? 0 : 50;
        k.chance[ALONE] = 40;
        k.chance[FAILS] = i % 5 ? 10 : 0;
        k.chance[STOPS] = i % 7 ? 10 : 0;
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
        k.kin = i / 3 % KINDS;
        k.pad = 60;
        k.chance[OUTSIDE] = i % 2 ? 0 : 50;
        k.chance[ALONE] = i % 3 ? 20 : 0;
        k.chance[FAILS] = i % 5 ? 5 : 0;
        fold_against_naive(&k, 400, i * 31);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain),       cmocka_unit_test(small),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(clashes),     cmocka_unit_test(among_steps),
                                       cmocka_unit_test(no_memory),   cmocka_unit_test(cancelled)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
