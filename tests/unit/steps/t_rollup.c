/* SPDX-License-Identifier: Apache-2.0 */
/* t_rollup.c - what documents bring to the groups of a rollup: the same, whether or not the look of a document is known
 * that looked as it does. */
#include "mongoreshape/fold_ops.h"
#include "bench.h"
#include "mongoreshape/value.h"

#include <math.h>
#include <string.h>

enum { DOCS = 4000, HOUR = 3600000 };

static const char *const plans[] = {
    "{'from':'a','into':'b','by':{'s':'$s','h':{'$dateTrunc':{'date':'$t','unit':'hour'}}},"
    "'fields':{'n':{'$sum':1},'x':{'$sum':'$x'},'low':{'$min':'$v'},'high':{'$max':'$v'}}}",
    "{'from':'a','into':'b','by':{'h':{'$dateTrunc':{'date':'$t','unit':'day','timezone':'Europe/Berlin'}},'s':'$s'},"
    "'fields':{'x':{'$avg':'$x'},'v':{'$push':'$v'}}}",
    "{'from':'a','into':'b','by':{'$dateTrunc':{'date':'$t','unit':'month'}},'fields':{'x':{'$first':'$x'}}}",
    "{'from':'a','into':'b','by':'$s','where':{'x':{'$gt':2}},'fields':{'x':{'$last':'$x'},'s':{'$addToSet':'$s'}}}",
    "{'from':'a','into':'b','by':{'v':'$v'},'fields':{'t':{'$max':'$t'}}}",
    "{'from':'a','into':'b','by':{'s':'$s','v':'$v','x':'$x'},'fields':{'n':{'$count':{}}}}",
    "{'from':'a','into':'b','by':null,'fields':{'x':{'$sum':'$x'}}}",
    "{'from':'a','into':'b','by':'$s.deep','fields':{'x':{'$sum':{'$add':['$x',1]}}}}"};

/* Some documents have the same fields as others; times lie in few hours, in and out of order. */
static struct mrs_view
make(struct mrs_buf *buf, int i)
{
    static const char *const texts[] = {"first", "other", "third"}; /* of which three letters are taken, or all */
    struct mrs_build b;
    struct mrs_view d;
    uint8_t room[16];
    int kind = rand() % 8;
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    mrs_build_i32(&b, "_id", i);
    mrs_build_text(&b, "s", texts[rand() % 3], (uint32_t)(3 + 2 * (rand() % 20 == 0)));
    if (kind != 1) {
        int64_t t = (int64_t)i * 60000 - rand() % (2 * HOUR) - (kind == 2 ? INT64_MAX / 2 : 0);
        mrs_build_val(&b, "t", 1, kind == 3 ? mrs_make_i64(room, t, MRS_TIMESTAMP) : mrs_make_i64(room, t, MRS_DATE));
    }
    if (kind == 4) {
        mrs_build_null(&b, "x", 1);
    } else if (kind == 5) {
        mrs_build_open(&b, "x", 1, MRS_ARRAY);
        mrs_build_i32(&b, "0", rand() % 3);
        mrs_build_close(&b);
    } else {
        mrs_build_i32(&b, "x", rand() % 9);
    }
    if (kind != 6) {
        mrs_build_double(&b, "v", kind == 7 ? (double)NAN : rand() % 50 / 4.0);
    }
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    return d;
}

struct side {
    void *work;
    struct mrs_fold_entry e;
    enum mrs_status s;
    struct mrs_err err;
};

static void
begin(struct bench *b, struct side *x)
{
    struct mrs_buf *bufs[] = {&x->e.group, &x->e.order, &x->e.payload, &x->e.shared};
    for (int i = 0; i < 4; i++) {
        mrs_buf_init(bufs[i], b->mem, 1 << 20);
    }
    x->work = calloc(1, b->type->work_size);
    assert_non_null(x->work);
}

static void
end(struct bench *b, struct side *x)
{
    struct mrs_ctx c = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct mrs_buf *bufs[] = {&x->e.group, &x->e.order, &x->e.payload, &x->e.shared};
    b->type->work_clear(&c, x->work);
    free(x->work);
    for (int i = 0; i < 4; i++) {
        mrs_buf_clear(bufs[i]);
    }
}

static void
enter(struct bench *b, struct side *x, struct mrs_view doc, const struct mrs_eval_fields *fields)
{
    struct mrs_ctx c = {.mem = b->mem, .arena = &b->arena, .err = &x->err, .fields = fields, .fields_of = doc.p};
    struct mrs_buf *bufs[] = {&x->e.group, &x->e.order, &x->e.payload, &x->e.shared};
    for (int i = 0; i < 4; i++) {
        mrs_buf_reset(bufs[i]);
    }
    mrs_arena_reset(&b->arena);
    mrs_err_clear(&x->err);
    x->e.takes_part = false;
    x->s = b->type->fold->enter(b->state, &c, x->work, doc, &x->e);
}

static void
assert_same(const struct side *a, const struct side *b)
{
    assert_int_equal(a->s, b->s);
    assert_string_equal(a->err.msg, b->err.msg);
    if (a->s != MRS_OK) {
        return;
    }
    assert_int_equal(a->e.takes_part, b->e.takes_part);
    if (a->e.takes_part) {
        assert_int_equal(a->e.shared.n, b->e.shared.n);
        assert_int_equal(a->e.payload.n, b->e.payload.n);
        assert_memory_equal(a->e.shared.p, b->e.shared.p, a->e.shared.n);
        assert_true(!a->e.payload.n || memcmp(a->e.payload.p, b->e.payload.p, a->e.payload.n) == 0);
    }
}

/* Returns the share of documents, in percent, whose look was known. */
static int
one_plan(const char *plan)
{
    static struct mrs_layout layout;
    struct bench b;
    struct side known, plain;
    struct mrs_eval_fields fields;
    struct mrs_buf doc;
    int looks = 0;
    memset(&layout, 0, sizeof layout);
    bench_open(&b, "rollup", plan, 0);
    if (b.status != MRS_OK) {
        fail_msg("%s: %s", plan, b.errors);
    }
    mrs_buf_init(&doc, b.mem, 1 << 20);
    begin(&b, &known);
    begin(&b, &plain);
    for (int i = 0; i < DOCS; i++) {
        struct mrs_view d = make(&doc, i);
        assert_int_equal(mrs_doc_check_fields(d.p, d.n, MRS_DEPTH_READ, &fields, &layout, NULL), MRS_OK);
        enter(&b, &known, d, &fields);
        enter(&b, &plain, d, NULL);
        assert_same(&known, &plain);
        looks += fields.tpl != NULL;
    }
    end(&b, &known);
    end(&b, &plain);
    mrs_buf_clear(&doc);
    bench_close(&b);
    return 100 * looks / DOCS;
}

static void
looks_change_nothing(void **state)
{
    (void)state;
    srand(11);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        assert_in_range(one_plan(plans[i]), 20, 100);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(looks_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
