/* SPDX-License-Identifier: Apache-2.0 */
/* host_forms.c - the stage as it is written, in a pipeline, in a plan of execution: each form says what it must, and
 * what is made of it lives longer than it does. */
#include "host.h"

#include "mongoreshape/clock.h"

#include <stdlib.h>
#include <time.h>

#define SET "{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': {'$add': ['$y', 1]}}}}]}}}"
#define GROUPED "{'$reshape': {'plan': {'steps': [{'rollup': {'from': 'a', 'into': 'b', 'by': '$k', 'fields': " \
                "{'n': {'$sum': 1}}}}]}}}"
#define JOINED "{'$reshape': {'plan': {'steps': [{'embed': {'from': 'c', 'into': 'p', 'match': {'p': '_id'}, " \
               "'as': 'cs'}}]}, 'of': 'p', 'with': {'c': '__c'}}}"

static void
drop(struct mrs_view d)
{
    free((void *)(uintptr_t)d.p);
}

/* ---- mistakes ---- */
static const struct {
    const char *stage, *says[5];
} wrong[] = {
    {"{'$reshape': 5}", {"must be a document"}},
    {"{}", {"must be a document"}},
    {"{'$reshape': {}}", {"1 mistake", "plan: is missing"}},
    {"{'$reshape': {'plan': 5}}", {"plan: must be a document"}},
    {"{'$reshape': {'plan': {'steps': []}, 'planId': 'x'}}", {"planId: is next to"}},
    {"{'$reshape': {'planId': 'x'}}", {"planId: must be the 32 digits"}},
    {"{'$reshape': {'planId': '00000000000000000000000000000000'}}", {"planId: no plan 0000"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}]}, 'memry': 1}}",
     {"memry: unknown key (did you mean `memory`?)"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}]}, 'memory': 1, 'memory': 1}}",
     {"memory: occurs twice"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}]}, 'memory': 1, 'refused': 'no', "
     "'now': 1, "
     "'with': 1, 'of': 5}}", {"of: must be", "refused: must be", "memory: must be", "now: must be", "with: must say"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}]}, 'memory': {'$numberLong': "
     "'200000000'}}}", {"memory: must be a number of bytes from 1048576 to 104857600"}},
    {"{'$reshape': {'plan': {'stps': [], 'steps': [{'set': {'in': 'a', 'feilds': 1}}, {'unset': {'in': 'a'}}]}}}",
     {"plan.stps: unknown key `stps` (did you mean `steps`?)", "plan.steps.0.set.feilds: set: unknown key",
      "did you mean `fields`", "plan.steps.1.unset", "4 mistakes"}},
    {"{'$reshape': {'plan': {'steps': [{'sett': {'in': 'a'}}]}}}", {"plan.steps.0.sett: unknown step", "`set`"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': {'$ad': [1]}}}}]}}}",
     {"plan.steps.0.set.fields", "$ad"}},
    {"{'$reshape': {'plan': {'steps': [{'link': {'parents': 'a', 'children': 'b', 'child_refs': 'x', 'parent_ref': "
     "'y'}}]}}}",
     {"plan.steps.0.link"}},
    {"{'$reshape': {'plan': {'steps': [{'drop_collection': {'collection': 'a'}}]}}}", {"plan.steps.0.drop_collection"}},
    {"{'$reshape': {'plan': {'steps': [{'move': {'from': 'a', 'into': 'b', 'conflicts': 'last'}}]}}}",
     {"plan.steps.0.move: `conflicts: first`"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}]}, 'of': 'b'}}",
     {"of: the plan has no collection `b`", "there are: a"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'orders', 'fields': {'x': 1}}}]}, 'of': 'ordrs'}}",
     {"of: the plan has no collection `ordrs` (did you mean `orders`?)"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}, {'set': {'in': 'b', 'fields': "
     "{'x': 1}}}]}}}", {"of: say which collection's documents arrive: a, b"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}, {'set': {'in': 'b', 'fields': "
     "{'x': 1}}}]}, 'of': 'a', 'emit': 'b'}}", {"emit: no document of this stage comes to `b`; there are: a"}},
    {"{'$reshape': {'plan': {'steps': [{'embed': {'from': 'c', 'into': 'p', 'match': {'p': '_id'}, 'as': 'cs'}}]}, "
     "'of': 'p'}}", {"plan.steps.0.embed: the documents of `c` must arrive in a field", "$lookup"}},
    {"{'$reshape': {'plan': {'steps': [{'embed': {'from': 'c', 'into': 'p', 'match': {'p': '_id'}, 'as': 'cs'}}]}, "
     "'of': 'c'}}", {"plan.steps.0.embed: the documents of this stage would go into"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'c', 'fields': {'x': 1}}}, {'embed': {'from': 'c', 'into': 'p', "
     "'match': {'p': '_id'}, 'as': 'cs'}}]}, 'of': 'p', 'with': {'c': '__c'}}}", {"plan.steps.1.embed: an earlier "
     "step"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}]}, 'with': {'a': 'b'}}}",
     {"with.a: no step of this stage"}},
    {"{'$reshape': {'plan': {'steps': [{'set': {'in': 'a', 'fields': {'x': 1}}}]}, 'with': {'a': 'b.c'}}}",
     {"with.a: must be the name of a top-level field"}},
    {"{'$reshape': {'plan': {'steps': [{'embed': {'from': 'c', 'into': 'p', 'match': {'p': '_id'}, 'as': 'cs'}}, "
     "{'copy': {'from': 'h', 'into': 'p', 'match': {'_id': 'host'}, 'fields': ['n'], 'as': 'hi'}}]}, "
     "'of': 'p', 'with': {'c': '__x', 'h': '__x'}}}",
     {"with.h: give each collection one field, and a field of its own", "1 mistake"}},
    {"{'$reshape': {'plan': {'steps': [{'embed': {'from': 'c', 'into': 'p', 'match': {'p': '_id'}, 'as': 'cs'}}]}, "
     "'of': 'p', 'with': {'c': '__x', 'c': '__y'}}}", {"with.c: give each collection one field", "1 mistake"}},
    {"{'$reshape': {'plan': {'steps': [{'embed': {'from': 'c', 'into': 'p', 'match': {'p': '_id'}, 'as': 'cs'}}]}, "
     "'of': 'p', 'with': {'c': '_id'}}}", {"with.c: must be the name of a top-level field other than _id"}},
};

static void
mistakes(struct host *h)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mrs_view d = host_doc(wrong[i].stage);
        long asserted = host_counts.assertions;
        struct mdb_node *n = host_parse(h, d);
        if (n) {
            n->calls->destroy(n);
        }
        CHECK(!n && h->code > 1970000000 && h->code < 1970000100);
        CHECK(host_counts.assertions == asserted + 1);
        for (size_t k = 0; k < 5 && wrong[i].says[k]; k++) {
            if (!CHECK(strstr(h->error, wrong[i].says[k]) != NULL)) {
                host_note(wrong[i].says[k], h->error);
            }
        }
        drop(d);
    }
    struct mrs_view d = host_doc("{'$reshape': {}}");
    host_no_user_status = true; /* then it says so itself */
    CHECK(!host_parse(h, d) && strstr(h->error, "plan: is missing") && h->code == 1970000002);
    host_no_user_status = false;
    drop(d);
}

/* ---- parse node ---- */
struct shape {
    struct mdb_shape_opts face;
    bool fails;
    unsigned identifiers, paths, literals;
};

static struct mdb_status *
give_text(struct shape *s, const char *text, struct mdb_buf **out)
{
    if (s->fails) {
        return host_status(4713, "no shape");
    }
    *out = host_give(text, strlen(text));
    return host_status(0, "");
}

static struct mdb_status *
identifier(const struct mdb_shape_opts *o, struct mdb_bytes b, struct mdb_buf **out)
{
    struct shape *s = (struct shape *)(uintptr_t)o;
    s->identifiers += b.len > 0;
    return give_text(s, "ID", out);
}

static struct mdb_status *
field_path(const struct mdb_shape_opts *o, struct mdb_bytes b, struct mdb_buf **out)
{
    struct shape *s = (struct shape *)(uintptr_t)o;
    s->paths += b.len > 0;
    return give_text(s, "PATH", out);
}

static struct mdb_status *
literal(const struct mdb_shape_opts *o, struct mdb_bytes b, struct mdb_buf **out)
{
    struct shape *s = (struct shape *)(uintptr_t)o;
    static const uint8_t doc[] = "\x0d\0\0\0\2\0\2\0\0\0?\0"; /* {"": "?"}, its end being that of the text */
    s->literals += b.len > 2;
    if (s->fails) {
        return host_status(4713, "no shape");
    }
    *out = host_give(doc, sizeof doc);
    return host_status(0, "");
}

static const struct mdb_shape_calls shape_calls = {identifier, field_path, literal};

static void
shapes(struct host *h)
{
    struct mrs_view d = host_doc(JOINED);
    struct shape s = {.face = {&shape_calls}};
    struct mdb_node *n = host_parse(h, d);
    struct mdb_buf *buf = NULL;
    CHECK(host_ok(h, n->calls->get_query_shape(n, &s.face, &buf)) && buf);
    struct mrs_view shape = host_take(buf), want = host_doc("{'$reshape': {'plan': '?', 'of': 'ID', 'with': {'c': "
                                        "'PATH'}}}");
    CHECK(shape.n == want.n && memcmp(shape.p, want.p, want.n) == 0);
    CHECK(s.identifiers == 1 && s.paths == 1 && s.literals == 1);
    s.fails = true;
    buf = NULL;
    CHECK(!host_ok(h, n->calls->get_query_shape(n, &s.face, &buf)) && h->code == 4713 && !buf);
    CHECK(host_ok(h, n->calls->for_log(n, &buf)) && buf);
    struct mrs_view log = host_take(buf);
    CHECK(log.n == d.n && memcmp(log.p, d.p, d.n) == 0);
    n->calls->destroy(n);
    drop(shape);
    drop(want);
    drop(log);
    drop(d);
}

static void
expansion(struct host *h)
{
    struct mrs_view d = host_doc(SET);
    struct mdb_node *n = host_parse(h, d), *copy = NULL;
    struct mdb_expanded *x = NULL;
    struct mdb_element slot[2] = {{9, NULL}, {9, NULL}};
    struct mdb_elements two = {2, slot}, one = {1, slot};
    struct mdb_bytes name = n->calls->get_name(n);
    CHECK(name.len == 8 && memcmp(name.data, "$reshape", 8) == 0);
    CHECK(host_ok(h, n->calls->clone(n, &copy)) && copy && copy != n);
    n->calls->destroy(n);
    CHECK(host_ok(h, copy->calls->expand(copy, &x)) && x);
    x->calls->destroy(x); /* not transferred: what is in it goes, too */
    x = NULL;
    CHECK(host_ok(h, copy->calls->expand(copy, &x)) && x);
    CHECK(!host_ok(h, x->calls->transfer(x, &two)) && !slot[0].object);
    CHECK(host_ok(h, x->calls->transfer(x, &one)) && slot[0].object);
    CHECK(!host_ok(h, x->calls->transfer(x, &one)));
    x->calls->destroy(x);
    copy->calls->destroy(copy);
    struct mdb_ast *a = slot[0].object;
    a->calls->destroy(a);
    drop(d);
}

/* ---- AST node ---- */
static struct mdb_ast *
ast_of(struct host *h, const char *stage)
{
    struct mrs_view d = host_doc(stage);
    struct mdb_node *n = host_parse(h, d);
    struct mdb_expanded *x = NULL;
    struct mdb_element slot = {9, NULL};
    struct mdb_elements one = {1, &slot};
    drop(d);
    CHECK(host_ok(h, n->calls->expand(n, &x)) && host_ok(h, x->calls->transfer(x, &one)));
    n->calls->destroy(n);
    x->calls->destroy(x);
    return slot.object;
}

static void
properties(struct host *h, const char *stage, bool keeps)
{
    static const char *const yes[] = {"requiresInputDocSource", "allowedInUnionWith", "allowedInLookup"};
    struct mdb_ast *a = ast_of(h, stage), *copy = NULL;
    struct mdb_buf *buf = NULL;
    uint32_t policy = 99;
    struct mdb_resolved_ns ns = {0};
    CHECK(host_ok(h, a->calls->clone(a, &copy)) && copy);
    a->calls->destroy(a);
    CHECK(host_ok(h, copy->calls->get_properties(copy, &buf)) && buf);
    struct mrs_view p = host_take(buf);
    for (size_t i = 0; i < 3; i++) {
        struct mrs_val v = mrs_doc_get(p, yes[i]);
        CHECK(v.type == MRS_BOOL && *v.p);
    }
    CHECK(mrs_val_is_text(mrs_doc_get(p, "streamType"), "streaming"));
    CHECK(mrs_val_is_text(mrs_doc_get(p, "position"), "none"));
    CHECK(mrs_doc_get(p, "preservesUpstreamMetadata").p[0] == keeps);
    CHECK(host_ok(h, copy->calls->get_view_policy(copy, &policy)) && policy == 0);
    CHECK(host_ok(h, copy->calls->bind_namespace(copy, &ns)));
    copy->calls->destroy(copy);
    drop(p);
}

/* ---- logical stage ---- */
static struct mdb_logical *
logical_of(struct host *h, const char *stage)
{
    struct mrs_view d = host_doc(stage);
    struct mdb_logical *l = host_promote(h, host_parse(h, d), "shop");
    drop(d);
    return l;
}

static void
unconcerned(struct host *h, struct mdb_logical *l)
{
    struct mdb_buf *buf = NULL;
    bool yes = true;
    long long limit = 5;
    struct mdb_bytes name = {(const uint8_t *)"rule", 4};
    CHECK(host_ok(h, l->calls->set_vector_limit(l, NULL)) && host_ok(h, l->calls->set_vector_limit(l, &limit)));
    CHECK(host_ok(h, l->calls->rule_holds(l, name, NULL, &yes)) && !yes);
    yes = true;
    CHECK(host_ok(h, l->calls->apply_rule(l, name, NULL, &yes)) && !yes);
    CHECK(host_ok(h, l->calls->get_filter(l, &buf)) && !buf);
    CHECK(host_ok(h, l->calls->apply_dependencies(l, NULL)));
    CHECK(host_ok(h, l->calls->get_sort_pattern(l, &buf)) && !buf);
    CHECK(host_ok(h, l->calls->skip_stream(l, 1)));
    CHECK(host_ok(h, l->calls->get_docs_needed(l, &buf)) && !buf);
    CHECK(limit == 5);
}

/* What serialize gives is a stage that serializes to the same bytes, wherever it is parsed. */
static void
normal_form(struct host *h, const char *stage)
{
    struct mdb_logical *l = logical_of(h, stage), *copy = NULL;
    struct mdb_buf *buf = NULL;
    CHECK(host_ok(h, l->calls->clone(l, &copy)) && copy);
    unconcerned(h, l);
    l->calls->destroy(l);
    CHECK(host_ok(h, copy->calls->serialize(copy, &buf)) && buf);
    struct mrs_view first = host_take(buf);
    struct mrs_val spec = mrs_doc_get(first, "$reshape"), plan = mrs_doc_get(mrs_val_view(spec), "plan");
    CHECK(mrs_val_is_text(mrs_doc_get(mrs_val_view(plan), "database"), "shop"));
    CHECK(mrs_val_is_text(mrs_doc_get(mrs_val_view(plan), "server"), "8.3"));
    CHECK(mrs_doc_get(mrs_val_view(spec), "now").type == MRS_DATE);
    copy->calls->destroy(copy);
    l = host_promote(h, host_parse(h, first), "elsewhere");
    buf = NULL;
    CHECK(host_ok(h, l->calls->serialize(l, &buf)) && buf);
    struct mrs_view second = host_take(buf);
    CHECK(second.n == first.n && memcmp(second.p, first.p, first.n) == 0);
    l->calls->destroy(l);
    drop(first);
    drop(second);
}

/* The time of a stage that says none is the time at which it was parsed, also once it has a database. */
static void
time_of_parsing(struct host *h)
{
    struct mrs_view d = host_doc(SET);
    struct mdb_buf *buf = NULL;
    int64_t from = mrs_clock_wall();
    struct mdb_node *n = host_parse(h, d);
    int64_t to = mrs_clock_wall();
    struct timespec some = {0, 20000000};
    nanosleep(&some, NULL);
    struct mdb_logical *l = host_promote(h, n, "shop");
    CHECK(host_ok(h, l->calls->serialize(l, &buf)) && buf);
    struct mrs_view first = host_take(buf);
    struct mrs_val spec = mrs_doc_get(first, "$reshape"), now = mrs_doc_get(mrs_val_view(spec), "now");
    CHECK(now.type == MRS_DATE && mrs_val_i64(now) >= from && mrs_val_i64(now) <= to);
    l->calls->destroy(l);
    drop(first);
    drop(d);
}

static void
explained(struct host *h, const char *stage, const char *class, const char *need)
{
    struct mdb_logical *l = logical_of(h, stage);
    struct mdb_buf *buf = NULL;
    char text[2000] = "";
    CHECK(host_ok(h, l->calls->explain(l, NULL, 1, &buf)) && buf);
    struct mrs_view d = host_take(buf);
    struct mrs_val x = mrs_doc_get(d, "$reshape");
    CHECK(mrs_val_is_text(mrs_doc_get(mrs_val_view(x), "class"), class));
    CHECK(mrs_doc_get(mrs_val_view(x), "planId").n == 4 + 33);
    struct mrs_val needs = mrs_doc_get(mrs_val_view(x), "needs");
    CHECK(needs.type == MRS_ARRAY);
    memcpy(text, needs.p, needs.n < sizeof text ? needs.n : sizeof text);
    CHECK(memmem(text, sizeof text, need, strlen(need)) != NULL);
    l->calls->destroy(l);
    drop(d);
}

static void
distributed(struct host *h)
{
    struct mdb_logical *one = logical_of(h, SET), *l = logical_of(h, GROUPED);
    struct mdb_dpl *d = NULL;
    struct mdb_dpl_list *list = NULL;
    struct mdb_dpl_part part = {9, NULL};
    struct mdb_dpl_parts parts = {1, &part};
    struct mdb_buf *buf = NULL;
    CHECK(host_ok(h, one->calls->get_distributed_plan(one, &d)) && !d);
    one->calls->destroy(one);
    CHECK(host_ok(h, l->calls->get_distributed_plan(l, &d)) && d);
    l->calls->destroy(l);
    CHECK(host_ok(h, d->calls->extract_shards(d, &list)) && !list);
    CHECK(host_ok(h, d->calls->get_sort_pattern(d, &buf)) && !buf);
    CHECK(host_ok(h, d->calls->extract_merging(d, &list)) && list && list->calls->size(list) == 1);
    CHECK(host_ok(h, list->calls->transfer(list, &parts)) && part.type == 1 && part.object);
    CHECK(!host_ok(h, list->calls->transfer(list, &parts)));
    list->calls->destroy(list);
    list = NULL;
    CHECK(host_ok(h, d->calls->extract_merging(d, &list)) && !list); /* once */
    d->calls->destroy(d);
    l = part.object;
    l->calls->destroy(l);
    l = logical_of(h, GROUPED);
    d = NULL;
    CHECK(host_ok(h, l->calls->get_distributed_plan(l, &d)) && host_ok(h, d->calls->extract_merging(d, &list)) && list);
    l->calls->destroy(l);
    d->calls->destroy(d);
    list->calls->destroy(list); /* not transferred */
}

/* ---- statuses that we were given ---- */
static void
written_into(struct host *h)
{
    struct mrs_view d = host_doc("{'$reshape': {}}");
    struct mdb_node *n = NULL;
    host_no_user_status = true;
    struct mdb_status *s = h->stage->calls->parse(h->stage, (struct mdb_bytes){d.p, d.n}, &n), *copy = NULL;
    host_no_user_status = false;
    CHECK(host_ok(h, s->calls->clone(s, &copy)) && copy);
    s->calls->set_code(s, 77);
    CHECK(host_ok(h, s->calls->set_reason(s, (struct mdb_bytes){(const uint8_t *)"other", 5})));
    CHECK(s->calls->get_code(s) == 77 && s->calls->get_reason(s).len == 5);
    CHECK(copy->calls->get_code(copy) == 1970000002 && copy->calls->get_reason(copy).len > 5);
    s->calls->destroy(s);
    copy->calls->destroy(copy);
    drop(d);
    d = host_doc(SET);
    s = h->stage->calls->parse(h->stage, (struct mdb_bytes){d.p, d.n}, &n); /* the shared OK stays as it is */
    s->calls->set_code(s, 5);
    CHECK(host_ok(h, s->calls->set_reason(s, (struct mdb_bytes){(const uint8_t *)"x", 1})));
    CHECK(s->calls->get_code(s) == 0 && host_ok(h, s->calls->clone(s, &copy)) && copy->calls->get_code(copy) == 0);
    s->calls->destroy(s);
    copy->calls->destroy(copy);
    n->calls->destroy(n);
    drop(d);
}

void
host_forms(struct host *h)
{
    mistakes(h);
    shapes(h);
    expansion(h);
    properties(h, SET, true);
    properties(h, GROUPED, false);
    properties(h, JOINED, false);
    normal_form(h, SET);
    normal_form(h, GROUPED);
    normal_form(h, JOINED);
    time_of_parsing(h);
    explained(h, SET, "one", "$merge");
    explained(h, GROUPED, "grouped", "$sort");
    explained(h, JOINED, "joined", "$lookup");
    distributed(h);
    written_into(h);
}
