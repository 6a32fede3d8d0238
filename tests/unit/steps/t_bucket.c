/* SPDX-License-Identifier: Apache-2.0 */
/* t_bucket.c - bucket and unbucket: kernels behind a naive host, wrong plans, descriptions, indexes, no memory.
 *
 * The host reads all documents, sorts what they bring by group, order and place, and folds group after group. */
#include "mongoreshape/fold_ops.h"
#include "bench.h"
#include "mongoreshape/value.h"

struct member {
    struct mrs_fold_entry e;
    struct mrs_buf shared;
    uint32_t no;
    bool gone;
};
struct glances { /* documents that were told at one, and those of them whose item has the time */
    uint32_t n, dated;
};
struct host {
    struct bench *b;
    struct member m[64];
    uint32_t n;
    uint32_t group[64], n_group, at; /* the group that is folded */
    uint32_t given;
    bool wide;     /* sizes instead of documents */
    bool together; /* members are given several at a time, too */
    struct glances *glances; /* NULL: no matter */
    char made[BENCH_TEXT], *out;
};

static int
compare_bytes(const struct mrs_buf *a, const struct mrs_buf *b)
{
    int c = memcmp(a->p ? a->p : (const uint8_t *)"", b->p ? b->p : (const uint8_t *)"", a->n < b->n ? a->n : b->n);
    return c ? c : (a->n > b->n) - (a->n < b->n);
}

static int
by_place(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int c = compare_bytes(&x->e.group, &y->e.group);
    c = c ? c : compare_bytes(&x->e.order, &y->e.order);
    return c ? c : (x->no > y->no) - (x->no < y->no);
}

static enum mrs_status
next_member(struct mrs_members *m, struct mrs_view *payload, struct mrs_err *e)
{
    struct host *h = m->impl;
    (void)e;
    if (h->at == h->n_group) {
        return MRS_END;
    }
    const struct member *one = &h->m[h->group[h->at++]];
    *payload = (struct mrs_view){one->e.payload.p, (uint32_t)one->e.payload.n};
    m->shared = (struct mrs_view){one->shared.p, (uint32_t)one->shared.n};
    m->same_shared = h->at > 1 && compare_bytes(&one->shared, &h->m[h->group[h->at - 2]].shared) == 0;
    h->given++;
    return MRS_OK;
}

/* Not always all there are. */
static uint32_t
more_members(struct mrs_members *m, struct mrs_view *payload, uint32_t most)
{
    struct host *h = m->impl;
    const struct mrs_buf *shared = &h->m[h->group[h->at - 1]].shared;
    uint32_t n = 0;
    for (most = most < 3 ? most : 3; n < most && h->at < h->n_group; n++, h->at++) {
        const struct member *one = &h->m[h->group[h->at]];
        if (compare_bytes(&one->shared, shared) != 0) {
            break;
        }
        payload[n] = (struct mrs_view){one->e.payload.p, (uint32_t)one->e.payload.n};
    }
    h->given += n;
    return n;
}

static enum mrs_status
refuse_member(struct mrs_members *m, struct mrs_err *e)
{
    struct host *h = m->impl;
    size_t n = strlen(h->made);
    assert_int_not_equal(e->code, MRS_E_NONE);
    snprintf(h->made + n, sizeof h->made - n, "alone %u %s: %s\n", h->m[h->group[h->at - 1]].no, e->where, e->msg);
    h->given--;
    return MRS_OK;
}

static enum mrs_status
put_doc(void *arg, struct mrs_view doc, bool but_last, struct mrs_err *e)
{
    struct host *h = arg;
    size_t n = strlen(h->made);
    (void)e;
    assert_int_equal(mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, NULL), MRS_OK);
    assert_true(doc.n <= MRS_DOC_MAX);
    assert_true(h->given > (but_last ? 1u : 0u));
    snprintf(h->made + n, sizeof h->made - n, "%u ", h->given - but_last);
    if (h->wide) {
        n = strlen(h->made);
        snprintf(h->made + n, sizeof h->made - n, "%u bytes", doc.n);
    } else {
        bench_put_doc(h->made, doc, false);
    }
    strcat(h->made, "\n");
    h->given = but_last;
    return MRS_OK;
}

/* Shared record and group of a member. Equal names stand for equal shared records. */
static enum mrs_status
ask(struct host *h, struct mrs_ctx *c, struct mrs_view doc, struct member *m)
{
    const struct mrs_fold_ops *ops = h->b->type->fold;
    struct mrs_view name = {m->e.shared.p, (uint32_t)m->e.shared.n};
    enum mrs_status s = ops->shared(h->b->state, c, h->b->work, doc, name, &m->shared);
    assert_int_equal(m->e.group.n, 0);
    for (const struct member *other = h->m; s == MRS_OK && other < m; other++) {
        if (compare_bytes(&other->e.shared, &m->e.shared) == 0) {
            assert_int_equal(compare_bytes(&other->shared, &m->shared), 0);
        }
    }
    struct mrs_view shared = {m->shared.p, (uint32_t)m->shared.n};
    return s == MRS_OK ? ops->group(h->b->state, c, h->b->work, shared, &m->e.group) : s;
}

static bool
enter_fast(struct host *h, struct mrs_ctx *c, struct mrs_view doc, struct mrs_fold_entry *x)
{
    struct mrs_fold_fast g = {.shared = &x->shared};
    size_t bytes = 0;
    if (!h->b->type->fold->enter_fast(h->b->state, c, h->b->work, doc, &g)) {
        mrs_buf_reset(&x->shared);
        mrs_err_clear(c->err);
        return false;
    }
    mrs_key_append(&x->order, mrs_make_i64((uint8_t[16]){0}, g.date, MRS_DATE), false);
    for (uint32_t i = 0; i < g.n_spans; i++) {
        mrs_buf_put(&x->payload, doc.p + g.payload[i].at, g.payload[i].n);
        bytes += g.payload[i].n;
    }
    assert_int_equal(bytes, g.payload_bytes);
    assert_true(g.date_at == MRS_FOLD_ELSEWHERE || g.date_at + 8 <= bytes);
    if (g.date_at != MRS_FOLD_ELSEWHERE) {
        assert_int_equal((int64_t)mrs_le64(x->payload.p + g.date_at), g.date);
    }
    x->takes_part = true;
    if (h->glances) {
        h->glances->n++;
        h->glances->dated += g.date_at != MRS_FOLD_ELSEWHERE;
    }
    return true;
}

static enum mrs_status
enter(struct host *h, struct mrs_ctx *c, struct mrs_view doc, uint32_t no)
{
    struct member *m = &h->m[h->n];
    struct mrs_buf *bufs[] = {&m->e.group, &m->e.order, &m->e.payload, &m->e.shared, &m->shared};
    for (int i = 0; i < 5; i++) {
        mrs_buf_init(bufs[i], h->b->mem, i < 2 ? MRS_KEY_MAX : 64u << 20);
    }
    m->no = no;
    h->n++;
    mrs_arena_reset(&h->b->arena);
    mrs_err_clear(&h->b->err);
    enum mrs_status s = MRS_OK;
    if (!enter_fast(h, c, doc, &m->e)) {
        s = h->b->type->fold->enter(h->b->state, c, h->b->work, doc, &m->e);
    }
    if (s == MRS_OK && m->e.takes_part) {
        s = ask(h, c, doc, m);
    }
    size_t n = strlen(h->out);
    if (s == MRS_SKIP) {
        snprintf(h->out + n, BENCH_TEXT - n, "refused %u %s: %s\n", no, h->b->err.where, h->b->err.msg);
    } else if (s == MRS_OK && !m->e.takes_part) {
        snprintf(h->out + n, BENCH_TEXT - n, "stays %u\n", no);
    }
    if (s != MRS_OK || !m->e.takes_part) {
        h->n--;
        for (int i = 0; i < 5; i++) {
            mrs_buf_clear(bufs[i]);
        }
    }
    return s == MRS_SKIP ? MRS_OK : s;
}

static enum mrs_status
fold(struct host *h, struct mrs_ctx *c, uint32_t from, uint32_t to)
{
    struct mrs_members members = {.next = next_member, .refuse = refuse_member, .impl = h};
    struct mrs_fold_put put = {put_doc, h};
    members.more = h->together ? more_members : NULL;
    h->n_group = h->at = h->given = 0;
    for (uint32_t i = from; i < to; i++) {
        h->group[h->n_group++] = i;
    }
    h->made[0] = 0;
    mrs_arena_reset(&h->b->arena);
    mrs_err_clear(&h->b->err);
    enum mrs_status s = h->b->type->fold->fold(h->b->state, c, h->b->work, &members, &put);
    size_t n = strlen(h->out);
    if (s == MRS_SKIP) {
        snprintf(h->out + n, BENCH_TEXT - n, "refused all %u %s: %s\n", to - from, h->b->err.where, h->b->err.msg);
    } else if (s == MRS_OK) {
        assert_int_equal(h->at, h->n_group);
        assert_int_equal(h->given, 0);
        snprintf(h->out + n, BENCH_TEXT - n, "%s", h->made);
    }
    return s == MRS_SKIP ? MRS_OK : s;
}

/* The documents, an array, through the step. */
static enum mrs_status
run_with(struct bench *b, struct mrs_view docs, bool wide, struct mrs_layout *layout, struct glances *glances,
         char *out)
{
    static struct host h;
    struct mrs_ctx c = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct mrs_eval_fields fields;
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t no = 0, from = 0;
    enum mrs_status s = MRS_OK;
    memset(&h, 0, sizeof h);
    h.b = b;
    h.out = out;
    h.wide = wide;
    h.glances = glances;
    h.together = b->work != NULL; /* the same once more */
    out[0] = 0;
    b->work = b->work ? b->work : calloc(1, b->type->work_size);
    mrs_walk_init(&w, docs);
    while (s == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        if (layout) {
            assert_int_equal(mrs_doc_check_fields(e.v.p, e.v.n, MRS_DEPTH_READ, &fields, layout, NULL), MRS_OK);
            c.fields = &fields;
            c.fields_of = e.v.p;
        }
        s = enter(&h, &c, mrs_val_view(e.v), no++);
    }
    qsort(h.m, h.n, sizeof *h.m, by_place);
    for (uint32_t i = 1; i <= h.n && s == MRS_OK; i++) {
        if (i == h.n || compare_bytes(&h.m[i].e.group, &h.m[from].e.group)) {
            s = fold(&h, &c, from, i);
            from = i;
        }
    }
    for (uint32_t i = 0; i < h.n; i++) {
        mrs_buf_clear(&h.m[i].e.group);
        mrs_buf_clear(&h.m[i].e.order);
        mrs_buf_clear(&h.m[i].e.payload);
        mrs_buf_clear(&h.m[i].e.shared);
        mrs_buf_clear(&h.m[i].shared);
    }
    return s;
}

static enum mrs_status
run(struct bench *b, struct mrs_view docs, bool wide, char *out)
{
    return run_with(b, docs, wide, NULL, NULL, out);
}

struct fold_case {
    const char *body, *docs, *want;
};

static bool
fold_one(const struct fold_case *k, uint64_t fail_at)
{
    static char got[BENCH_TEXT], want[BENCH_TEXT], text[BENCH_TEXT];
    struct bench b;
    struct mrs_view d;
    snprintf(text, sizeof text, "{'docs':%s}", k->docs);
    uint8_t *bytes = bench_doc(text, &d);
    bench_open(&b, "bucket", k->body, fail_at);
    if (b.status == MRS_FAIL) {
        fail_msg("%s: %s", k->body, b.errors);
    }
    bool whole = b.status == MRS_OK;
    for (int i = 0; i < 2 && whole; i++) {
        if (run(&b, mrs_val_view(mrs_doc_get(d, "docs")), false, got) == MRS_DEAD) {
            assert_int_equal(b.err.code, MRS_E_MEMORY);
            whole = false;
            break;
        }
        bench_quotes(k->want, want);
        if (!bench_like(got, want)) {
            fail_msg("%s\n of %s\n got\n%s\n want\n%s", k->body, k->docs, got, want);
        }
    }
    free(bytes);
    assert_int_equal(bench_close(&b), 0);
    return whole;
}

#define HEAD "'from':'readings','into':'hours','items':'v'"
#define D(ms) "{'$date':{'$numberLong':'" #ms "'}}"
#define NO_ID "'id':{'$concat':[{'$toString':{'$ifNull':['$s','-']}},'/',{'$toString':{'$size':'$v'}}]}"

static const struct fold_case folds[] = {
    /* series, order, equal times in input order */
    {"{" HEAD ",'by':['s'],'time':'t','every':'1h','max':2,'start':'f','end':'e',"
     "'set':{'n':{'$sum':1},'avg':{'$avg':'$x'},'twice':{'$multiply':['$n',2]}},'id':'$f'}",
     "[{'s':2,'t':" D(3600001) ",'x':1},{'s':1,'t':" D(5) ",'x':4},{'s':1,'t':" D(3) ",'x':5},{'s':1,'t':" D(5)
     ",'x':6}]",
     "2 {'_id':{'$date':'1970-01-01T00:00:00Z'},'s':1,'f':{'$date':'1970-01-01T00:00:00Z'},"
     "'e':{'$date':'1970-01-01T01:00:00Z'},'v':[{'t':{'$date':'1970-01-01T00:00:00.003Z'},'x':5},"
     "{'t':{'$date':'1970-01-01T00:00:00.005Z'},'x':4}],'n':2,'avg':4.5,'twice':4}\n"
     "1 {'_id':{'$date':'1970-01-01T00:00:00Z'},'s':1,'f':{'$date':'1970-01-01T00:00:00Z'},"
     "'e':{'$date':'1970-01-01T01:00:00Z'},'v':[{'t':{'$date':'1970-01-01T00:00:00.005Z'},'x':6}],'n':1,'avg':6.0,"
     "'twice':2}\n"
     "1 {'_id':{'$date':'1970-01-01T01:00:00Z'},'s':2,'f':{'$date':'1970-01-01T01:00:00Z'},"
     "'e':{'$date':'1970-01-01T02:00:00Z'},'v':[{'t':{'$date':'1970-01-01T01:00:00.001Z'},'x':1}],'n':1,'avg':1.0,"
     "'twice':2}\n"},
    /* missing, null and undefined are three series; 1 and 1.0 one */
    {"{" HEAD ",'by':['s']," NO_ID "}",
     "[{'s':1,'a':1},{'a':2},{'s':null,'a':3},{'s':{'$undefined':true},'a':4},{'s':{'$numberDouble':'1.0'},'a':5},"
     "{'a':6}]",
     "2 {'_id':'-/2','v':[{'a':2},{'a':6}]}\n1 {'_id':'-/1','s':{'$undefined':true},'v':[{'a':4}]}\n"
     "1 {'_id':'-/1','s':null,'v':[{'a':3}]}\n2 {'_id':'1/2','s':1,'v':[{'a':1},{'a':5}]}\n"},
    /* a map, dotted names, a bare path inside */
    {"{" HEAD ",'by':{'k.s':'$m.s','k.d':{'$add':['$x',1]}},'set':{'k.n':{'$sum':1}},'id':'$k'}",
     "[{'m':{'s':7,'o':1},'x':1}]", "1 {'_id':{'s':7,'d':2,'n':1},'k':{'s':7,'d':2,'n':1},'v':[{'m':{'o':1},"
     "'x':1}]}\n"},
    {"{" HEAD ",'by':[['a.b']],'id':{'$literal':1}}", "[{'a.b':5,'c':1}]", "1 {'_id':1,'a.b':5,'v':[{'c':1}]}\n"},
    /* what is no date */
    {"{" HEAD ",'time':'t','every':'1d','id':{'$literal':1}}", "[{'t':5},{},{'t':{'$timestamp':{'t':1,'i':1}}},"
     "{'t':null},{'t':[" D(1) "]}]",
     "refused 0 untimed: its time is no date: int\nrefused 1 untimed: its time is no date: missing\n"
     "refused 2 untimed: its time is no date: timestamp\nrefused 3 untimed: its time is no date: null\n"
     "refused 4 untimed: its time is no date: array\n"},
    {"{" HEAD ",'time':'t','every':'1d','untimed':'keep','id':{'$literal':1}}", "[{'t':5},{'t':" D(-1) "}]",
     "stays 0\n1 {'_id':1,'v':[{'t':{'$date':{'$numberLong':'-1'}}}]}\n"},
    {"{" HEAD ",'time':'t','every':{'unit':'day'},'end':'e','id':{'$literal':1}}", "[{'t':" D(9223372036854775807)
     "},{'t':" D(-9223372036854775807) "}]",
     "refused 0 end: its window ends at no date that can be stored\n"
     "refused 1 every: its window begins at no date that can be stored\n"},
    /* without every: anything is a time, and first and last stand for the window */
    {"{" HEAD ",'time':'t','start':'f','end':'e','id':{'$literal':1}}", "[{'t':'b'},{'t':2},{},{'t':null},{'t':3.5}]",
     "5 {'_id':1,'e':'b','v':[{},{'t':null},{'t':2},{'t':3.5},{'t':'b'}]}\n"},
    {"{" HEAD ",'time':'t','start':'f','end':'e','max':2,'id':'$f'}", "[{'t':3},{'t':1},{'t':2}]",
     "2 {'_id':1,'f':1,'e':2,'v':[{'t':1},{'t':2}]}\n1 {'_id':3,'f':3,'e':3,'v':[{'t':3}]}\n"},
    /* fields, drop, where, errors */
    {"{" HEAD ",'fields':{'y':{'$add':['$x',1]},'z':'$z'},'keep':'all','id':{'$literal':1},'where':{'x':{'$ne':0}}}",
     "[{'x':1,'z':2},{'x':0},{'x':'q'}]", "stays 1\nrefused 2 fields.y: ..."},
    {"{" HEAD ",'fields':{'y':{'$add':['$x',1]},'z':'$z'},'keep':'none','errors':null,'id':{'$literal':1}}",
     "[{'x':1,'z':2},{'x':'q'}]", "2 {'_id':1,'v':[{'y':2,'z':2},{'y':null}]}\n"},
    {"{" HEAD ",'by':['s'],'fields':['s','x'],'drop':['_id'],'keep':'none','id':{'$literal':1}}",
     "[{'_id':7,'x':1,'s':2,'o':3}]", "1 {'_id':1,'s':2,'v':[{'x':1,'s':2}]}\n"},
    {"{" HEAD ",'by':['s'],'drop':['x'],'keep':'none','id':{'$literal':1}}",
     "[{'_id':7,'x':1,'s':2,'o':3}]", "1 {'_id':1,'s':2,'v':[{'_id':7,'o':3}]}\n"},
    /* a failing set refuses series and window, or follows errors */
    {"{" HEAD ",'by':['s'],'set':{'q':{'$sum':{'$divide':[1,'$x']}}},'id':'$s'}",
     "[{'s':1,'x':2},{'s':1,'x':0},{'s':2,'x':1}]", "refused all 2 set.q: ..."},
    {"{" HEAD ",'by':['s'],'set':{'q':{'$sum':{'$divide':[1,'$x']}},'n':{'$count':{}}},'errors':null,'id':'$s'}",
     "[{'s':1,'x':2},{'s':1,'x':0},{'s':2,'x':1}]",
     "2 {'_id':1,'s':1,'v':[{'x':2},{'x':0}],'q':null,'n':2}\n1 {'_id':2,'s':2,'v':[{'x':1}],'q':1.0,'n':1}\n"},
    {"{" HEAD ",'by':['s'],'max':1,'set':{'q':{'$divide':[1,{'$first':'$v.x'}]}},'errors':'drop','id':'$v'}",
     "[{'s':1,'x':2},{'s':1,'x':0}]", "refused all 2 id: array cannot be an _id\n"},
    {"{" HEAD ",'by':['s'],'max':1,'set':{'q':{'$divide':[1,{'$first':'$v.x'}]}},'errors':'drop','id':'$q'}",
     "[{'s':1,'x':2},{'s':1,'x':0}]", "refused all 2 id: missing cannot be an _id\n"},
    {"{" HEAD ",'set':{'m':{'$mergeObjects':'$x'}},'id':{'$literal':1}}", "[{'x':{'a':1}},{'x':5}]",
     "refused all 2 set.m: ..."},
    /* expressions see the bucket so far, also the one before */
    {"{" HEAD ",'set':{'a':'$v','b':{'$size':'$a'},'c.d':'$b','c.e':'$c.d','g':'$$REMOVE'},'id':'$c'}", "[{'x':1}]",
     "1 {'_id':{'d':1,'e':1},'v':[{'x':1}],'a':[{'x':1}],'b':1,'c':{'d':1,'e':1}}\n"},
    {"{" HEAD ",'by':['s'],'id':'$s'}", "[{'s':1,'s':2}]", "refused 0 : duplicate field..."},
    {"{" HEAD ",'by':['m.s'],'id':'$m'}", "[{'m':[{'s':1},{'s':2,'o':3}]}]",
     "1 {'_id':{'s':[1,2]},'m':{'s':[1,2]},'v':[{'m':[{},{'o':3}]}]}\n"},
    /* new ids: the vectors of the plan language (window, and without one the second part) */
};

static const struct fold_case vectors[] = {
    {"{'from':{'db':'iot','coll':'readings'},'into':{'db':'iot','coll':'hours'},'items':'v','by':['sensorId'],"
     "'time':'t','every':'1h','fields':{},'keep':'none'}",
     "[{'sensorId':7,'t':" D(1577838000000) "}]",
     "1 {'_id':{'$oid':'5e0be1002bbbbd69a8541407'},'sensorId':7,'v':[{}]}\n"},
    {"{'from':{'db':'iot','coll':'readings'},'into':{'db':'iot','coll':'packs'},'items':'v',"
     "'by':{'sensorId':'$sensorId'},'max':1,'fields':{},'keep':'none'}",
     "[{'sensorId':7},{'sensorId':{'$numberDouble':'7'}}]",
     "1 {'_id':{'$oid':'000000007..."},
};

static void
folded(void **state)
{
    (void)state;
    for (size_t i = 0; i < BENCH_N(folds); i++) {
        assert_true(fold_one(&folds[i], 0));
    }
}

static void
new_ids(void **state)
{
    static char got[BENCH_TEXT];
    struct bench b;
    struct mrs_view d;
    (void)state;
    assert_true(fold_one(&vectors[0], 0));
    bench_open(&b, "bucket", vectors[1].body, 0);
    char text[256];
    snprintf(text, sizeof text, "{'docs':%s}", vectors[1].docs);
    uint8_t *bytes = bench_doc(text, &d);
    assert_int_equal(run(&b, mrs_val_view(mrs_doc_get(d, "docs")), false, got), MRS_OK);
    assert_non_null(strstr(got, "000000009e75669491fc7f93"));
    free(bytes);
    assert_int_equal(bench_close(&b), 0);
}

static void
no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < BENCH_N(folds); i++) {
        for (uint64_t at = 1; !fold_one(&folds[i], at); at++) {
            assert_true(at < 5000);
        }
    }
}

/* ---- looks ---- */
static void
put_date(struct mrs_build *b, const char *name, int64_t ms)
{
    uint8_t room[16];
    mrs_build_val(b, name, (uint32_t)strlen(name), mrs_make_i64(room, ms, MRS_DATE));
}

/* A reading of one of a few looks: more bytes of text, another order, a field more, a time that is none. */
static void
put_reading(struct mrs_build *b, uint32_t kind)
{
    const char *series = kind != 1 ? "s" : rand() % 2 ? "wider" : "width"; /* alike in the beginning */
    uint32_t which = (uint32_t)rand() % 3, n = (uint32_t)strlen(series);
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_i64(b, "_id", rand());
    if (kind == 2) {
        mrs_build_double(b, "x", rand());
    }
    mrs_build_text(b, "s", which ? series : "z", which ? n : 1);
    if (kind == 3) {
        mrs_build_i64(b, "t", rand());
    } else {
        put_date(b, "t", rand() % 3 * 3600000ll + (which ? rand() % 3600000 : 0));
    }
    if (kind != 2) {
        mrs_build_double(b, "x", rand());
    }
    mrs_build_bool(b, "b", which == 1);
    if (kind == 4) {
        mrs_build_open(b, "d", 1, MRS_DOCUMENT);
        mrs_build_text(b, "text", "abcdef", which * 2);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static uint8_t *
readings(struct mrs_mem *mem, uint32_t kinds, struct mrs_view *out)
{
    struct mrs_buf b;
    struct mrs_build build;
    mrs_buf_init(&b, mem, 1u << 20);
    mrs_build_init(&build, &b);
    mrs_build_open(&build, "docs", 4, MRS_ARRAY);
    for (uint32_t i = 0; i < 60; i++) {
        put_reading(&build, rand() % 4 ? 0 : (uint32_t)rand() % kinds);
    }
    mrs_build_close(&build);
    assert_int_equal(mrs_build_finish(&build, out, NULL), MRS_OK);
    uint8_t *p = malloc(b.n);
    assert_non_null(p);
    memcpy(p, b.p, b.n);
    out->p = p;
    mrs_buf_clear(&b);
    return p;
}

/* Readings whose looks are known become the buckets that they become else. */
static void
looks(void **state)
{
    static const char *const bodies[] = {
        "{" HEAD ",'by':['s'],'time':'t','every':'1h','drop':['_id'],'keep':'none'}",
        "{" HEAD ",'by':['s','b'],'time':'t','every':{'unit':'minute','size':90},'start':'f','end':'e','keep':'none'}",
        "{" HEAD ",'by':['s','no'],'time':'t','every':'1d','max':3,'id':{'s':'$s','n':{'$size':'$v'}},'keep':'none'}",
        "{" HEAD ",'by':['s'],'time':'t','every':'1h','untimed':'keep','set':{'n':{'$sum':1},'x':{'$avg':'$x'}}}",
        "{" HEAD ",'by':['t'],'time':'s','end':'e','keep':'none'}",
        "{" HEAD ",'by':{'q':'$d'},'where':{'b':true},'drop':['s','d'],'keep':'none'}",
        "{" HEAD ",'by':['s'],'time':'t','every':'1h','set':{'all':'$v'},'id':'$all','keep':'none','errors':'drop'}",
        "{" HEAD ",'by':['s'],'time':'t','every':'1d','where':{'b':true},'drop':['s'],'keep':'none'}",
        "{" HEAD ",'by':['s'],'time':'t','every':'1h','drop':['_id','t'],'keep':'none'}",
    };
    struct glances glances[BENCH_N(bodies)] = {{0, 0}};
    static char got[BENCH_TEXT], want[BENCH_TEXT];
    (void)state;
    for (uint32_t i = 0; i < 20 * BENCH_N(bodies); i++) {
        static struct mrs_layout layout;
        struct bench plain, known;
        memset(&layout, 0, sizeof layout);
        bench_open(&plain, "bucket", bodies[i % BENCH_N(bodies)], 0);
        bench_open(&known, "bucket", bodies[i % BENCH_N(bodies)], 0);
        assert_int_equal(plain.status | known.status, MRS_OK);
        for (uint32_t k = 1; k < 6; k++) {
            struct mrs_view d;
            uint8_t *bytes = readings(plain.mem, k, &d);
            struct mrs_view docs = mrs_val_view(mrs_doc_get(d, "docs"));
            assert_int_equal(run_with(&plain, docs, false, NULL, NULL, want), MRS_OK);
            assert_int_equal(run_with(&known, docs, false, &layout, &glances[i % BENCH_N(bodies)], got), MRS_OK);
            assert_string_equal(got, want);
            free(bytes);
        }
        assert_true(layout.looks > 0);
        assert_int_equal(bench_close(&plain), 0);
        assert_int_equal(bench_close(&known), 0);
    }
    for (uint32_t i = 0; i < BENCH_N(bodies); i++) { /* of windows, with nothing beside the item */
        assert_int_equal(glances[i].n > 0, i < 3 || i >= 7);
        assert_int_equal(glances[i].dated, i == 8 ? 0 : glances[i].n);
    }
}

/* ---- sizes ---- */
/* n readings with a text of so many bytes, and one at the end with `last`. */
static uint8_t *
large(uint32_t n, uint32_t size, uint32_t last, struct mrs_mem *mem, struct mrs_view *out)
{
    struct mrs_buf b;
    struct mrs_build build;
    mrs_buf_init(&b, mem, 256u << 20);
    mrs_build_init(&build, &b);
    char *text = calloc(1, size > last ? size : last + 1);
    assert_non_null(text);
    memset(text, 'x', size > last ? size : last);
    mrs_build_open(&build, "docs", 4, MRS_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        mrs_build_item_open(&build, MRS_DOCUMENT);
        mrs_build_i32(&build, "x", (int32_t)i);
        mrs_build_text(&build, "p", text, i + 1 < n ? size : last);
        mrs_build_close(&build);
    }
    mrs_build_close(&build);
    assert_int_equal(mrs_build_finish(&build, out, NULL), MRS_OK);
    uint8_t *p = malloc(b.n);
    assert_non_null(p);
    memcpy(p, b.p, b.n);
    out->p = p;
    mrs_buf_clear(&b);
    free(text);
    return p;
}

static void
sizes(void **state)
{
    /* a reading of text n has 5 + (1+2+4) + (1+2+4+n+1) = n+20 bytes, its element in the array 2 digits or so more */
    static const struct {
        const char *more;
        uint32_t n, size, last;
        const char *want;
    } rows[] = {
        /* 20 of 1 MiB: 15 fit, since 16 of them and the rest pass */
        {"", 20, 1u << 20, 1u << 20, "15 15729...\n5 "},
        /* just as large as can be: 16777216 = 4+17 + (3+4+..) */
        {"", 1, 0, 16777216 - 53, "1 16777216 bytes\n"},
        {"", 1, 0, 16777216 - 52, "alone 0 : a bucket with this reading alone would pass 16 MiB\n"},
        {"", 3, 100, 16777216 - 52, "2 276 bytes\nalone 2 ..."},
        /* everything twice: 7 fit */
        {",'set':{'all':{'$push':'$p'}}", 20, 1u << 20, 1u << 20, "7 14680...\n7 14680...\n6 "},
        {",'set':{'all':'$v.p'}", 20, 1u << 20, 1u << 20, "7 14680...\n7 14680...\n6 "},
        {",'set':{'all':{'$push':'$p'},'again':'$all'}", 12, 1u << 20, 1u << 20, "5 15728...\n5 15728...\n2 "},
        {",'set':{'n':{'$sum':1},'big':{'$max':'$p'}}", 20, 1u << 20, 1u << 20, "14 15729...\n6 "},
    };
    static char got[BENCH_TEXT];
    (void)state;
    for (size_t k = 0; k < 2 * BENCH_N(rows); k++) {
        const size_t i = k / 2;
        struct bench b;
        struct mrs_view d;
        char body[512];
        snprintf(body, sizeof body, "{" HEAD "%s}", rows[i].more);
        bench_open(&b, "bucket", body, 0);
        if (b.status != MRS_OK) {
            fail_msg("%s: %s", body, b.errors);
        }
        uint8_t *p = large(rows[i].n, rows[i].size, rows[i].last, b.mem, &d);
        assert_int_equal(run(&b, mrs_val_view(mrs_doc_get(d, "docs")), true, got), MRS_OK);
        const char *at = got, *want = rows[i].want;
        while (*want) { /* "..." is the rest of a line */
            if (strncmp(want, "...", 3) == 0) {
                at += strcspn(at, "\n");
                want += 3;
            } else if (*want == *at) {
                want++;
                at++;
            } else {
                fail_msg("row %zu: got %s", i, got);
            }
        }
        free(p);
        assert_int_equal(bench_close(&b), 0);
    }
}

/* ---- many readings of one size ---- */
struct again { /* one reading, many times */
    struct mrs_view payload, shared;
    uint32_t item, left, given, docs;
    uint64_t max;
    bool first, in_id; /* a number of each reading is in the `_id`, too */
};

static enum mrs_status
next_again(struct mrs_members *m, struct mrs_view *payload, struct mrs_err *e)
{
    struct again *x = m->impl;
    (void)e;
    if (!x->left) {
        return MRS_END;
    }
    *payload = x->payload;
    m->shared = x->shared;
    m->same_shared = !x->first;
    x->first = false;
    x->left--;
    x->given++;
    return MRS_OK;
}

static uint32_t
more_again(struct mrs_members *m, struct mrs_view *payload, uint32_t most)
{
    struct again *x = m->impl;
    uint32_t n = most < x->left ? most : x->left;
    n = x->left % 5 ? n : n / 2;
    for (uint32_t i = 0; i < n; i++) {
        payload[i] = x->payload;
    }
    x->left -= n;
    x->given += n;
    return n;
}

/* A bucket that ends though there are more readings holds as many as it may, or one more would pass 16 MiB. */
static enum mrs_status
put_full(void *arg, struct mrs_view doc, bool but_last, struct mrs_err *e)
{
    struct again *x = arg;
    struct mrs_val items = mrs_doc_get(doc, "v");
    char digits[16];
    (void)e;
    assert_int_equal(mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, NULL), MRS_OK);
    uint32_t n = mrs_doc_count(mrs_val_view(items));
    assert_int_equal(n, x->given - but_last);
    assert_true(doc.n <= MRS_DOC_MAX && n <= x->max);
    uint32_t head = (uint32_t)snprintf(digits, sizeof digits, "%u", n) + 2;
    uint32_t more = head + x->item + (x->in_id ? head + 8 : 0);
    assert_true(!but_last || n == x->max || doc.n + more > MRS_DOC_MAX);
    x->given = but_last;
    x->docs++;
    return MRS_OK;
}

static void
full(void **state)
{
    static const struct {
        const char *more;
        uint64_t max;
        uint32_t n, docs;
    } rows[] = {
        {"", UINT64_MAX, 300000, 3},
        {",'id':{'$size':'$v'}", UINT64_MAX, 300000, 3},
        {",'id':{'k':'$v.a'}", UINT64_MAX, 300000, 3}, /* grows as the items do */
        {",'max':1000", 1000, 10001, 11},
    };
    (void)state;
    for (size_t k = 0; k < 2 * BENCH_N(rows); k++) {
        const size_t i = k / 2;
        struct bench b;
        struct mrs_view d;
        char body[512];
        struct mrs_fold_entry x = {.takes_part = false};
        struct mrs_buf shared;
        uint8_t *p = bench_doc("{'a':1.5,'b':2.5,'c':3.5,'d':4.5,'e':5.5,'f':6.5,'g':7.5,'h':8.5,'i':9.5,'j':1.5,"
                               "'k':2.5,'l':3.5}", &d);
        snprintf(body, sizeof body, "{" HEAD "%s}", rows[i].more);
        bench_open(&b, "bucket", body, 0);
        assert_int_equal(b.status, MRS_OK);
        b.work = calloc(1, b.type->work_size);
        struct mrs_ctx c = {.mem = b.mem, .arena = &b.arena, .err = &b.err};
        struct mrs_buf *const bufs[] = {&x.group, &x.order, &x.payload, &x.shared, &shared};
        for (size_t of = 0; of < BENCH_N(bufs); of++) {
            mrs_buf_init(bufs[of], b.mem, 1u << 20);
        }
        assert_int_equal(b.type->fold->enter(b.state, &c, b.work, d, &x), MRS_OK);
        struct mrs_view name = {x.shared.p, (uint32_t)x.shared.n};
        assert_int_equal(b.type->fold->shared(b.state, &c, b.work, d, name, &shared), MRS_OK);
        struct again all = {.payload = {x.payload.p, (uint32_t)x.payload.n}, .shared = {shared.p, (uint32_t)shared.n},
                .item = d.n,
                            .left = rows[i].n, .max = rows[i].max, .first = true,
                            .in_id = strstr(rows[i].more, "$v.a") != NULL};
        struct mrs_members members = {.next = next_again, .more = k % 2 ? more_again : NULL, .impl = &all};
        struct mrs_fold_put put = {put_full, &all};
        assert_int_equal(b.type->fold->fold(b.state, &c, b.work, &members, &put), MRS_OK);
        assert_int_equal(all.given, 0);
        assert_int_equal(all.docs, rows[i].docs);
        for (size_t of = 0; of < BENCH_N(bufs); of++) {
            mrs_buf_clear(bufs[of]);
        }
        free(p);
        assert_int_equal(bench_close(&b), 0);
    }
}

/* ---- unbucket ---- */
#define BACK "'from':'hours','into':'readings','items':'v'"
static const struct bench_case docs[] = {
    {"unbucket", "{" BACK ",'by':['s']}", 0, "{'_id':1,'s':7,'n':2,'v':[{'_id':5,'x':1},{'y':2,'_id':6}]}",
     "taken 1 {'_id':5,'s':7,'x':1} 1 {'_id':6,'s':7,'y':2}"},
    {"unbucket", "{" BACK "}", 0, "{'_id':1,'s':7,'v':[{'x':1,'_id':5},{'y':2,'_id':6}]}",
     "taken 1 {'x':1,'_id':5} 1 {'y':2,'_id':6}"},
    {"unbucket", "{" BACK ",'keep':'all'}", 0, "{'_id':1,'v':[{'_id':5}]}", "stays *0 {'_id':1,'v':[{'_id':5}]} 1 "
     "{'_id':5}"},
    {"unbucket", "{" BACK "}", 0, "{'_id':1,'v':[]}", "stays *0 {'_id':1,'v':[]}"},
    {"unbucket", "{" BACK "}", 0, "{'_id':1,'v':null}", "stays *0 {'_id':1,'v':null}"},
    {"unbucket", "{" BACK "}", 0, "{'_id':1,'v':{'_id':2}}", "stays *0 {'_id':1,'v':{'_id':2}}"},
    {"unbucket", "{" BACK ",'where':{'k':1}}", 0, "{'_id':1,'v':[{'_id':2}]}", "stays *0 {'_id':1,'v':[{'_id':2}]}"},
    {"unbucket", "{" BACK ",'by':['s'],'id':{'$add':['$x',10]}}", 0, "{'_id':1,'s':7,'v':[{'_id':5,'x':1}]}",
     "taken 1 {'_id':11,'s':7,'x':1}"},
    {"unbucket", "{" BACK ",'id':{'$add':['$x',10]}}", 0, "{'_id':1,'s':7,'v':[{'x':1,'_id':5}]}",
     "taken 1 {'_id':11,'x':1}"},
    {"unbucket", "{" BACK ",'id':['$$BUCKET._id','$$POSITION']}", 0, "{'_id':1,'v':[{'x':1}]}",
     "refused id: array cannot be an _id"},
    {"unbucket", "{" BACK ",'id':{'b':'$$BUCKET._id','p':'$$POSITION'}}", 0, "{'_id':1,'v':['a',{'x':1}]}",
     "taken 1 {'_id':{'b':1,'p':0},'value':'a'} 1 {'_id':{'b':1,'p':1},'x':1}"},
    {"unbucket", "{" BACK ",'fields':{'s':'$$BUCKET.s','v':'$$ITEM.x','p':'$$POSITION'}}", 0,
     "{'_id':1,'s':7,'v':[{'x':1,'_id':5}]}", "taken 1 {'_id':5,'s':7,'v':1,'p':0}"},
    {"unbucket", "{" BACK ",'fields':{'a':'$x','_id':'$k'}}", 0, "{'_id':1,'v':[{'x':1,'_id':5,'k':8}]}",
     "taken 1 {'a':1,'_id':8}"},
    {"unbucket", "{" BACK ",'fields':['x']}", 0, "{'_id':1,'v':[{'x':1,'y':2,'_id':5}]}", "taken 1 {'x':1,'_id':5}"},
    {"unbucket", "{" BACK ",'drop':['x']}", 0, "{'_id':1,'v':[{'x':1,'y':2,'_id':5}]}", "taken 1 {'y':2,'_id':5}"},
    {"unbucket", "{" BACK ",'fields':{'a':{'$divide':[1,'$x']},'b':'$x'},'errors':null}", 0,
     "{'_id':1,'v':[{'x':0,'_id':5}]}", "taken 1 {'_id':5,'a':null,'b':0}"},
    {"unbucket", "{" BACK ",'fields':{'a':{'$divide':[1,'$x']}}}", 0, "{'_id':1,'v':[{'x':0,'_id':5}]}",
     "refused fields.a: ..."},
    /* dotted names and the item's own */
    {"unbucket", "{" BACK ",'by':['m.a','m.b','t']}", 0,
     "{'_id':1,'m':{'a':1,'b':2,'c':3},'v':[{'_id':5,'x':0,'m':{'z':9,'b':8},'t':4}]}",
     "taken 1 {'_id':5,'m':{'a':1,'b':8,'z':9},'x':0,'t':4}"},
    {"unbucket", "{" BACK ",'by':['m.a','t']}", 0, "{'_id':1,'v':[{'_id':5,'x':0}]}", "taken 1 {'_id':5,'x':0}"},
    {"unbucket", "{" BACK ",'by':['m.a']}", 0, "{'_id':1,'m':{'a':1},'v':[{'_id':5,'m':5},{'_id':6,'m':{}}]}",
     "taken 1 {'_id':5,'m':5} 1 {'_id':6,'m':{'a':1}}"},
    {"unbucket", "{" BACK ",'by':['m']}", 0, "{'_id':1,'m':{'a':1},'v':[{'_id':5,'m':{'b':1}}]}",
     "taken 1 {'_id':5,'m':{'b':1}}"},
    {"unbucket", "{" BACK ",'by':['s']}", 0, "{'_id':1,'s':1,'v':[{'_id':5,'x':1,'x':2}]}", "refused : duplicate..."},
    {"unbucket", "{" BACK "}", 0, "{'_id':1,'v':[{'_id':5}],'v':[{'_id':6}]}", "refused : duplicate field..."},
    {"unbucket", "{" BACK "}", 0, "{'_id':1,'v':[{'_id':[5]}]}", "refused id: array cannot be an _id"},
    {"unbucket", "{'from':'hours','into':'readings','items':'m.v'}", 0, "{'_id':1,'m':{'v':[{'_id':5}]}}",
     "taken 1 {'_id':5}"},
};

static const struct bench_wrong wrong[] = {
    {"bucket", "{'from':'a','into':'a','items':'v'}", "into: must be another collection than `from`\n"},
    {"bucket", "{" HEAD ",'every':'1h'}", "every: needs `time`\n"},
    {"bucket", "{" HEAD ",'start':'f','end':'e'}", "start: needs `time`\nend: needs `time`\n"},
    {"bucket", "{" HEAD ",'max':0}", "max: a bucket holds at least 1 reading\n"},
    {"bucket", "{" HEAD ",'max':-1}", "max: must be a whole number, 0 or more\n"},
    {"bucket", "{" HEAD ",'by':'s'}", "by: must be a map of name: expression or a list of fields, not string\n"},
    {"bucket", "{" HEAD ",'by':[]}", "by: names no field\n"},
    {"bucket", "{" HEAD ",'by':{}}", "by: names no field\n"},
    {"bucket", "{" HEAD ",'by':['_id']}", "by/_id: _id would be written twice: `id` writes _id\n"},
    {"bucket", "{" HEAD ",'by':['v']}", "by/v: v would be written twice: `items` writes v\n"},
    {"bucket", "{" HEAD ",'by':['a.b'],'set':{'a':1}}", "set/a: a would be written twice: `by` writes a.b\n"},
    {"bucket", "{" HEAD ",'set':{'v':1}}", "set/v: v would be written twice: `items` writes v\n"},
    {"bucket", "{" HEAD ",'time':'t','start':'v'}", "start: v would be written twice: `items` writes v\n"},
    {"bucket", "{" HEAD ",'fields':['x']}", "keep: is required with `fields`: `none` loses the fields that the "
     "items omit\n"},
    {"bucket", "{" HEAD ",'drop':['x']}", "keep: is required with `drop`: `none` loses the fields that the "
     "items omit\n"},
    {"bucket", "{" HEAD ",'time':'t','every':'h'}", "every: `h` is no window: ..."},
    {"bucket", "{" HEAD ",'time':'t','every':'1y'}", "every: `1y` is no window: ..."},
    {"bucket", "{" HEAD ",'time':'t','every':'-1h'}", "every: `-1h` is no window: ..."},
    {"bucket", "{" HEAD ",'time':'t','every':'0h'}", "every: must be a whole number greater than 0\n"},
    {"bucket", "{" HEAD ",'time':'t','every':'99999999999999999999h'}", "every: `99999999999999999999h` is no ..."},
    {"bucket", "{" HEAD ",'time':'t','every':'9999999999999h'}", "every: no date that can be stored is so far ..."},
    {"bucket", "{" HEAD ",'time':'t','every':5}",
     "every: must be a number and one of s m h d w, as 1h, or a map { unit: month }\n"},
    {"bucket", "{" HEAD ",'time':'t','every':{'unit':'days'}}", "every/unit: must be one of ..."},
    {"bucket", "{" HEAD ",'time':'t','every':{'size':1}}", "every: `unit` is needed here\n"},
    {"bucket", "{" HEAD ",'time':'t','every':{'unit':'day','size':-2}}", "every/size: must be a whole number greater "
     "than 0\n"},
    {"bucket", "{" HEAD ",'time':'t','every':{'unit':'day','size':1.5}}", "every/size: must be a whole number greater "
     "than 0\n"},
    {"bucket", "{" HEAD ",'time':'t','every':{'unit':'month','timezone':'Mars/Olympus'}}", "every/timezone: ..."},
    {"bucket", "{" HEAD ",'time':'t','every':{'unit':'week','startOfWeek':'noday'}}",
     "every/startOfWeek: must be the name of a weekday\n"},
    {"bucket", "{" HEAD ",'time':'t','every':{'unit':'day','startOfWeek':'monday'}}",
     "warn every/startOfWeek: not used: the unit is not week\n"},
    {"bucket", "{" HEAD ",'time':'t','untimed':'keep'}", "warn untimed: not used: without `every` ..."},
    {"bucket", "{" HEAD ",'set':5}", "set: must be a map of name: expression, not int\n"},
    {"bucket", "{" HEAD ",'set':{'a':{'$avg':['$x','$y']},'b':{'$nope':1}}}", "set/a: ..."},
    {"unbucket", "{'from':'a','into':'a','items':'v'}", "into: must be another collection than `from`\n"},
    {"unbucket", "{" BACK ",'by':['_id.s']}", "by: `_id.s`: the `_id` cannot change, name another field\n"},
    {"unbucket", "{" BACK ",'by':['a','a.b']}", "by/1: ..."},
    {"unbucket", "{" BACK ",'id':'old'}", "id: must be keep, new or an expression\n"},
};

/* ---- catalogue ---- */
#define ID_INDEX "{'v':2,'key':{'_id':1},'name':'_id_'}"
#define IX(key, name, more) "{'v':2,'key':" key ",'name':'" name "'" more "}"
static const char *const none[] = {"readings", "{'indexes':[" ID_INDEX "]}", NULL};
static const char *const many[] = {
    "readings",
    "{'indexes':[" ID_INDEX "," IX("{'s':1,'t':1}", "s_1_t_1", ",'unique':true") "," IX("{'x':1}", "x_1",
                                                                                       ",'sparse':true") ","
    IX("{'t':1}", "ttl", ",'expireAfterSeconds':5") "]}",
    NULL};
static const struct bench_catalog catalogs[] = {
    {"bucket", "{" HEAD ",'by':['s','m.k'],'time':'t','start':'f','keep':'all'}", none,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'s':1,'m.k':1,'f':1},'name':'s_1_m.k_1_f_1'}],"
     "'collectionName':'hours','type':'collection'}\n..."},
    {"bucket", "{" HEAD ",'by':['s'],'time':'t','keep':'all'}", many,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'s':1,'v.t':1},'name':'s_1_v.t_1'},"
     "{'v':2,'key':{'v.x':1},'name':'v.x_1'},{'v':2,'key':{'s':1},'name':'s_1'}],"
     "'collectionName':'hours','type':'collection'}\n..."},
    {"bucket", "{" HEAD ",'keep':'all','indexes':false,'by':['s']}", none,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'}],'collectionName':'hours','type':'collection'}\n..."},
};

static void
documents(void **state)
{
    (void)state;
    bench_cases(docs, BENCH_N(docs));
    bench_torture(docs, BENCH_N(docs));
}

static void
wrong_plans(void **state)
{
    (void)state;
    bench_wrong(wrong, BENCH_N(wrong));
}

static void
catalogue(void **state)
{
    (void)state;
    bench_catalogs(catalogs, BENCH_N(catalogs));
    bench_catalog_torture(catalogs, BENCH_N(catalogs));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded),    cmocka_unit_test(new_ids),     cmocka_unit_test(sizes),
        cmocka_unit_test(documents), cmocka_unit_test(wrong_plans), cmocka_unit_test(catalogue),
        cmocka_unit_test(no_memory), cmocka_unit_test(looks),       cmocka_unit_test(full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
