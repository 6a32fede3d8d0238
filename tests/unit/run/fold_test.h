/* SPDX-License-Identifier: Apache-2.0 */
/* fold_test.h - a folding step made for t_fold.c.
 *
 * Documents of d.from are {_id, g, o, d, v, f, s}: group, order, perhaps that as a date, value, what shall happen to
 * it, and bytes. The step makes of each group documents {_id, g, v: [...]} of at most `most` members. */
#ifndef UNIT_RUN_FOLD_TEST_H
#define UNIT_RUN_FOLD_TEST_H

#include "mongoreshape/fold_ops.h"
#include "mongoreshape/catalogue.h"
#include "dump_test.h"

#define DOCS_MAX 700

enum what { PLAIN, OUTSIDE, BAD, ALONE, FAILS, STOPS, WHATS };
struct knobs {
    uint32_t most;     /* members of a document */
    bool ahead;        /* a document is put when the member behind it is known */
    bool leave;        /* members of a last document that is not full are nowhere */
    uint32_t ids;      /* `_id` is g % ids and the part: documents clash; 0: g and the part */
    bool same;         /* documents that clash are alike */
    bool sorted, take;
    uint32_t chance[WHATS]; /* of 1000 documents */
    uint32_t groups, orders, pad, there;
    enum mrs_conflicts conflicts;
    bool rising;       /* groups follow the input */
    bool dated;        /* the order as a date is in documents, too: d, behind o */
    bool changed;      /* documents come with another v from a step before */
    /* What documents of a group have alike; with the group in it; told by a name; and some of that entered the fast
       way. */
    enum { NO_SHARED, SHARED, SHARED_SAYS_IT, SHARED_HAS_NAME, SHARED_IS_FAST, KINDS } shared;
    uint32_t nameless; /* not 0: groups that it divides have a shared record, but no key; with SHARED_SAYS_IT or
                          SHARED_HAS_NAME */
    /* Groups of few plain members, with SHARED_SAYS_IT; the last: some fail then. */
    enum { NEVER_SMALL, SMALL, SMALL_UP_TO_THE_END } small;
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
put_shared(struct mrs_view doc, struct mrs_buf *out) /* some groups have several */
{
    mrs_buf_put(out, field(doc, "g").p, 4);
    mrs_buf_put(out, "odd", is_odd(doc) ? 3 : 0);
}

enum { TOLD = 64 }; /* documents, more than the engine lets wait */
struct made {
    struct mrs_buf buf;
    struct mrs_build b;
    int32_t g;
    uint32_t n, part;
    struct mrs_val v[DOCS_MAX]; /* of the open document: 32 bits each, in room */
    uint8_t room[DOCS_MAX][4];
    const uint8_t *told[TOLD]; /* the document that was entered last, and those that were entered the fast way since */
    struct mrs_fold_span seen[TOLD][2]; /* of those: its length, the rest; nothing any more when another is entered */
    uint32_t n_told;
};

/* The spans are for what is seen of it. */
static struct mrs_fold_span *
remember(struct made *m, struct mrs_view doc)
{
    uint32_t i = m->n_told++ % TOLD;
    m->told[i] = doc.p;
    return m->seen[i];
}

static bool
is_remembered(const struct made *m, struct mrs_view doc)
{
    bool is = false;
    for (uint32_t i = 0; i < m->n_told && i < TOLD; i++) {
        is = is || m->told[i] == doc.p;
    }
    return is;
}

static enum mrs_status
enter(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_fold_entry *out)
{
    const struct knobs *k = state;
    struct made *m = work;
    int32_t what = mrs_val_i32(field(doc, "f"));
    m->n_told = 0;
    memset(m->seen, 0, sizeof m->seen);
    remember(m, doc);
    assert_int_equal(out->group.n + out->order.n + out->payload.n, 0);
    if (what == BAD) {
        return refuse(c, "enter", "a bad one");
    }
    out->takes_part = what != OUTSIDE;
    if (k->shared < SHARED_SAYS_IT) {
        mrs_key_append(&out->group, field(doc, "g"), false);
    }
    if (k->shared >= SHARED_HAS_NAME) {
        mrs_buf_byte(&out->shared, is_odd(doc));
        mrs_buf_put(&out->shared, field(doc, "g").p, 4);
    } else if (k->shared) {
        put_shared(doc, &out->shared);
    }
    if (k->sorted) { /* numbers come before dates */
        int32_t o = mrs_val_i32(field(doc, "o"));
        uint8_t room[16];
        struct mrs_val date = mrs_make_i64(room, o, MRS_DATE);
        mrs_key_append(&out->order, (uint32_t)o < k->orders / 2 ? field(doc, "o") : date, false);
    }
    mrs_buf_put(&out->payload, doc.p, doc.n);
    return MRS_OK;
}

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

static void
add_value(const struct knobs *k, struct made *m, struct mrs_val v)
{
    m->v[m->n] = mrs_make_i32(m->room[m->n], (int32_t)mrs_le32(v.p));
    if (!k->same) {
        mrs_build_item(&m->b, m->v[m->n]);
    }
    m->n++;
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
one_member(const struct knobs *k, struct mrs_ctx *c, struct made *m, struct mrs_members *members,
           struct mrs_view payload, const struct mrs_fold_put *put)
{
    int32_t what = mrs_val_i32(field(payload, "f"));
    uint32_t odd = k->shared && is_odd(payload) ? 3 : 0;
    enum mrs_status s = MRS_OK;
    assert_int_equal(members->shared.n, k->shared ? 4 + odd : 0);
    if (k->shared) {
        assert_memory_equal(members->shared.p, field(payload, "g").p, 4);
    }
    if (what == FAILS) {
        return refuse(c, "group", "a failing group");
    }
    if (what == ALONE) {
        refuse(c, "member", "alone");
        return members->refuse(members, c->err);
    }
    m->g = mrs_val_i32(field(payload, "g"));
    if (m->n == k->most && k->ahead) {
        s = close_document(k, m, put, true, c->err);
        m->n = 0;
    }
    if (s == MRS_OK && m->n == 0) {
        open_document(k, m);
    }
    add_value(k, m, field(payload, "v"));
    if (s == MRS_OK && m->n == k->most && !k->ahead) {
        s = close_document(k, m, put, false, c->err);
        m->n = 0;
    }
    return s == MRS_OK && what == STOPS ? MRS_END : s;
}

/* In two documents: numbers, and the values of the open document. */
static enum mrs_status
save(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out)
{
    const struct made *m = work;
    struct mrs_build b;
    struct mrs_view d;
    (void)state;
    mrs_build_init(&b, out);
    mrs_build_i32(&b, "g", m->g);
    mrs_build_i32(&b, "part", (int32_t)m->part);
    enum mrs_status s = mrs_build_finish(&b, &d, c->err);
    mrs_build_init(&b, out);
    for (uint32_t i = 0; i < m->n; i++) {
        mrs_build_val(&b, "v", 1, m->v[i]);
    }
    return s == MRS_OK ? mrs_build_finish(&b, &d, c->err) : s;
}

static void
take_back(const struct knobs *k, struct made *m, struct mrs_view from)
{
    struct mrs_view values = {from.p + mrs_le32(from.p), mrs_le32(from.p + mrs_le32(from.p))};
    struct mrs_walk w;
    struct mrs_elem e;
    assert_int_equal(from.n, mrs_le32(from.p) + values.n);
    m->g = mrs_val_i32(field(from, "g"));
    m->part = (uint32_t)mrs_val_i32(field(from, "part"));
    mrs_walk_init(&w, values);
    while (mrs_walk_next(&w, &e) == 1) {
        if (!m->n) {
            open_document(k, m);
        }
        add_value(k, m, e.v);
    }
}

/* More plain members at once, as many as the open document takes. */
static void
take_more(const struct knobs *k, struct made *m, struct mrs_members *members)
{
    struct mrs_view payload[8];
    bool all_plain = k->chance[ALONE] + k->chance[FAILS] + k->chance[STOPS] == 0;
    uint32_t most = k->most - m->n;
    if (!all_plain || !members->more || !m->n || most < 2) {
        return;
    }
    uint32_t n = members->more(members, payload, most - 1 < 8 ? most - 1 : 8);
    assert_true(n < most);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(members->shared.n, k->shared ? 4 + (is_odd(payload[i]) ? 3 : 0) : 0);
        assert_int_equal(mrs_val_i32(field(payload[i], "g")), m->g);
        add_value(k, m, field(payload[i], "v"));
    }
}

static enum mrs_status
fold(const void *state, struct mrs_ctx *c, void *work, struct mrs_members *members, const struct mrs_fold_put *put)
{
    const struct knobs *k = state;
    struct made *m = work;
    struct mrs_view payload;
    enum mrs_status s = MRS_OK;
    if (!m->buf.mem) {
        mrs_buf_init(&m->buf, c->mem, SIZE_MAX);
    }
    m->n = m->part = 0;
    if (members->from.n) {
        take_back(k, m, members->from);
    }
    while (s == MRS_OK && (s = members->next(members, &payload, c->err)) == MRS_OK) {
        s = one_member(k, c, m, members, payload, put);
        if (s == MRS_OK) {
            take_more(k, m, members);
        }
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

static enum mrs_status
small_feed(const void *state, struct mrs_ctx *c, void *work, uint8_t *small, bool first, struct mrs_view payload)
{
    struct small x = {.n = 0};
    (void)state;
    (void)work;
    if (!first) {
        memcpy(&x, small, sizeof x);
    }
    if (mrs_val_i32(field(payload, "f")) != PLAIN || x.n == sizeof x.v / sizeof *x.v) {
        return refuse(c, "small", "it does not fit");
    }
    x.g = mrs_val_i32(field(payload, "g"));
    x.v[x.n++] = mrs_val_i32(field(payload, "v"));
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
    assert_memory_equal(small->shared.p, &x.g, 4);
    assert_int_equal(small->shared.n, 4 + (x.v[0] % 16 == 1 ? 3 : 0)); /* that of the first */
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
group(const void *state, struct mrs_ctx *c, void *work, struct mrs_view shared, struct mrs_buf *out)
{
    const struct knobs *k = state;
    assert_non_null(work);
    if (k->nameless && mrs_le32(shared.p) % k->nameless == 0) {
        return refuse(c, "key", "it has no key");
    }
    mrs_key_append(out, (struct mrs_val){shared.p, 4, MRS_INT32}, false);
    return MRS_OK;
}

/* What is said of the document to the step. */
static void
check_look(const struct mrs_ctx *c, struct mrs_view doc)
{
    const struct mrs_template *tpl = c->fields && c->fields_of == doc.p ? c->fields->tpl : NULL;
    assert_true(!tpl || tpl->size == doc.n);
    for (uint32_t i = 0; tpl && i < doc.n; i++) {
        assert_int_equal((doc.p[i] ^ tpl->bytes[i]) & tpl->mask[i], 0);
    }
}

static enum mrs_status
shared_of(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_view name,
          struct mrs_buf *out)
{
    (void)state;
    check_look(c, doc);
    assert_true(is_remembered(work, doc));
    assert_int_equal(name.n, 5);
    assert_int_equal(name.p[0], is_odd(doc));
    assert_memory_equal(name.p + 1, field(doc, "g").p, 4);
    put_shared(doc, out);
    return MRS_OK;
}

/* Documents that are ordered by a date, but for some of them. */
static bool
enter_fast(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_fold_fast *out)
{
    const struct knobs *k = state;
    struct made *m = work;
    int32_t what = mrs_val_i32(field(doc, "f")), o = mrs_val_i32(field(doc, "o"));
    assert_int_equal(out->shared->n, 0);
    mrs_buf_byte(out->shared, is_odd(doc));
    if (what == BAD || what == OUTSIDE || !k->sorted || (uint32_t)o < k->orders / 2 ||
        mrs_val_i32(field(doc, "v")) % 5 == 0) {
        refuse(c, "glance", "nobody reads this");
        return false;
    }
    mrs_buf_put(out->shared, field(doc, "g").p, 4);
    struct mrs_fold_span *seen = remember(m, doc);
    seen[0] = (struct mrs_fold_span){0, 4};
    seen[1] = (struct mrs_fold_span){4, (uint16_t)(doc.n - 4)};
    out->date = o;
    out->date_at = k->dated ? (uint32_t)(field(doc, "d").p - doc.p) : MRS_FOLD_ELSEWHERE;
    out->payload = seen;
    out->n_spans = 2;
    out->payload_bytes = doc.n;
    return true;
}

static const struct mrs_fold_ops ops[] = {
    {.enter = enter, .fold = fold, .save = save},
    {.enter = enter, .fold = fold, .save = save, .small_size = small_size, .small_feed = small_feed,
     .small_end = small_end, .group = group},
    {.enter = enter, .fold = fold, .save = save, .group = group, .shared = shared_of},
    {.enter = enter, .fold = fold, .save = save, .group = group, .shared = shared_of, .enter_fast = enter_fast}};
#define GATHER(i) \
    {.name = "gather", .catalog = catalog, .work_size = sizeof(struct made), .work_clear = work_clear, .fold = &ops[i]}
static const struct mrs_step_type type[] = {GATHER(0), GATHER(1), GATHER(2), GATHER(3)};

#endif
