/* SPDX-License-Identifier: Apache-2.0 */
/* t_compare.c - two dumps beside each other: what differs, named and counted, whatever the memory; a dump beside a
 * manifest, also one that somebody has damaged; failing memory. */
#include "dump_test.h"

struct compared {
    struct mrs_mem *mem;
    struct mrs_input *in[2];
    struct mrs_diff d;
    struct mrs_err err;
    enum mrs_status status;
};

static struct compared
open_both(const char *a, const char *b, uint64_t fail_at)
{
    struct compared c;
    const char *names[2] = {a, b};
    memset(&c, 0, sizeof c);
    mrs_err_clear(&c.err);
    c.mem = mrs_mem_new(fail_at);
    mrs_arena_init(&c.d.arena, c.mem);
    for (int i = 0; i < 2 && c.status == MRS_OK; i++) {
        c.status = names[i] ? mrs_input_open(c.mem, at(names[i]), NULL, &c.in[i], &c.err) : MRS_OK;
    }
    return c;
}

static struct compared
compare_with(const char *a, const char *b, uint64_t memory, uint64_t limit, uint64_t fail_at)
{
    struct compared c = open_both(a, b, fail_at);
    struct mrs_diff_opts o = {.memory = memory, .jobs = 2, .limit = limit, .tmp = top};
    c.status = c.status == MRS_OK ? mrs_diff(c.mem, c.in[0], c.in[1], &o, &c.d, &c.err) : c.status;
    return c;
}

static struct compared
compare_in(uint64_t memory, uint64_t limit)
{
    return compare_with("in", "other", memory, limit, 0);
}

static void
end(struct compared *c)
{
    mrs_diff_clear(&c->d);
    mrs_input_close(c->in[0]);
    mrs_input_close(c->in[1]);
    assert_int_equal(mrs_mem_close(c->mem), 0);
}

/* Two dumps with one collection each. */
static void
two(const char *a, const char *b)
{
    begin();
    assert_int_equal(mkdir(at("other"), 0777), 0);
    assert_int_equal(mkdir(at("other/d"), 0777), 0);
    put_docs("in/d/c.bson", a);
    put_docs("other/d/c.bson", b);
}

/* "changed onlyA onlyB | kind id path a b | ...", as one line. */
static const char *
told(const struct mrs_diff *d)
{
    static char text[20000];
    static const char *const kinds[] = {"~", "-", "+"};
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < d->n_coll; i++) {
        const struct mrs_diff_coll *c = &d->coll[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %d %d %d", c->ns, (int)c->changed, (int)c->only[0],
                              (int)c->only[1]);
        for (uint32_t k = 0; k < c->n_doc; k++) {
            const struct mrs_diff_doc *x = &c->doc[k];
            n += (size_t)snprintf(text + n, sizeof text - n, " | %s %s", kinds[x->kind], x->id ? x->id : "none");
            for (uint32_t v = 0; v < x->n_value; v++) {
                const struct mrs_diff_value *y = &x->value[v];
                n += (size_t)snprintf(text + n, sizeof text - n, " %s%s=%s:%s", y->order ? "order of " : "", y->path,
                                      y->a ? y->a : "", y->b ? y->b : "");
            }
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", x->more ? " more" : "");
        }
        for (uint32_t k = 0; k < c->n_meta; k++) {
            n += (size_t)snprintf(text + n, sizeof text - n, " | %s", c->meta[k]);
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "\n");
    }
    for (char *q = text; *q; q++) {
        *q = *q == '"' ? '\'' : *q;
    }
    return text;
}

static void
expect(const char *a, const char *b, const char *wanted)
{
    static const uint64_t memories[] = {256u << 20, 1};
    two(a, b);
    for (size_t i = 0; i < 2; i++) {
        struct compared c = compare_in(memories[i], 20);
        assert_int_equal(c.status, MRS_OK);
        assert_string_equal(told(&c.d), wanted);
        assert_int_equal(c.d.n_differ, strcmp(wanted, "d.c 0 0 0\n") != 0);
        end(&c);
    }
}

static void
documents(void **state)
{
    (void)state;
    expect("", "", "d.c 0 0 0\n");
    expect("{'_id': 1, 'a': 2} {'_id': 2}", "{'_id': 2} {'_id': 1, 'a': 2}", "d.c 0 0 0\n");
    expect("{'_id': 1} {'_id': 2} {'_id': 4}", "{'_id': 3} {'_id': 2}", "d.c 0 2 1 | - 1 | + 3 | - 4\n");
    expect("{'_id': 1, 'a': 2}", "{'_id': 1, 'a': 3}", "d.c 1 0 0 | ~ 1 a={'$numberInt':'2'}:{'$numberInt':'3'}\n");
    expect("{'_id': 1, 'a': {'b': [1, {'c': 'x'}]}}", "{'_id': 1, 'a': {'b': [1, {'c': 'y'}, 2]}}",
           "d.c 1 0 0 | ~ 1 a.b.1.c='x':'y' a.b.2=:{'$numberInt':'2'}\n");
    expect("{'_id': 1, 'a': 1, 'b': 2, 'c': 3}", "{'_id': 1, 'b': 2, 'c': 4, 'd': 5}",
           "d.c 1 0 0 | ~ 1 a={'$numberInt':'1'}: c={'$numberInt':'3'}:{'$numberInt':'4'} d=:{'$numberInt':'5'}\n");
    expect("{'_id': 1, 'a': {'x': 1, 'y': 1}, 'z': true}", "{'_id': 1, 'a': {'y': 1, 'x': 1}, 'z': false}",
           "d.c 1 0 0 | ~ 1 order of a=x:y z=true:false\n");
    expect("{'_id': 1, 'a': 1, 'b': 1, 'c': 1, 'd': 1}", "{'_id': 1, 'a': 2, 'b': 2, 'c': 2, 'd': 2}",
           "d.c 1 0 0 | ~ 1 a={'$numberInt':'1'}:{'$numberInt':'2'} b={'$numberInt':'1'}:{'$numberInt':'2'}"
           " c={'$numberInt':'1'}:{'$numberInt':'2'} more\n");
}

/* One `_id` is what a server takes as one; documents are what their bytes are. */
static void
ids(void **state)
{
    (void)state;
    expect("{'_id': 1, 'a': 1}", "{'_id': 1.0, 'a': 1}",
           "d.c 1 0 0 | ~ 1 _id={'$numberInt':'1'}:{'$numberDouble':'1.0'}\n");
    expect("{'_id': {'a': 1, 'b': 1}}", "{'_id': {'b': 1, 'a': 1}}",
           "d.c 0 1 1 | - {'a':1,'b':1} | + {'b':1,'a':1}\n");
    expect("{'a': 1} {'a': 1} {'a': 2}", "{'a': 1} {'a': 3}", "d.c 0 2 1 | - none | - none | + none\n");
    expect("{'_id': 7, 'a': 1} {'_id': 7, 'a': 1} {'_id': 7, 'a': 2}", "{'_id': 7, 'a': 1} {'_id': 7, 'a': 3}",
           "d.c 1 1 0 | ~ 7 a={'$numberInt':'1'}:{'$numberInt':'3'} | - 7\n");
    expect("{'_id': null} {'_id': {'$undefined': true}}", "{'_id': null}", "d.c 0 1 0 | - {'$undefined':true}\n");
    expect("{'_id': {'$numberDouble': 'NaN'}, 'a': 1}", "{'_id': {'$numberDecimal': 'NaN'}, 'a': 1}",
           "d.c 1 0 0 | ~ {'$numberDouble':'NaN'} _id={'$numberDouble':'NaN'}:{'$numberDecimal':'NaN'}\n");
    expect("{'x': 1, '_id': 1}", "{'_id': 1, 'x': 1}", "d.c 1 0 0 | ~ 1 order of =x:_id\n");
}

/* Values of one text are told by their bytes; long ones are shown where they part. */
static void
values(void **state)
{
    static uint8_t doc[] = "\x19\0\0\0\x10_id\0\x01\0\0\0\x01n\0\x01\0\0\0\0\0\xf8\x7f";
    static char a[40000], b[40000];
    (void)state;
    two("", "");
    put_file("in/d/c.bson", doc, 25);
    doc[16] = 2;
    put_file("other/d/c.bson", doc, 25);
    doc[16] = 1;
    struct compared c = compare_in(0, 20);
    assert_int_equal(c.status, MRS_OK);
    assert_string_equal(told(&c.d), "d.c 1 0 0 | ~ 1 n=double of bytes 010000000000f87f:double of bytes"
         " 020000000000f87f\n");
    end(&c);
    int n = snprintf(a, sizeof a, "{'_id': 1, 's': '");
    memset(a + n, 'x', 30000);
    memcpy(b, a, sizeof b);
    snprintf(a + n + 30000, 100, "A'}");
    snprintf(b + n + 30000, 100, "BC'}");
    two(a, b);
    c = compare_in(0, 20);
    assert_int_equal(c.status, MRS_OK);
    assert_string_equal(told(&c.d), "d.c 1 0 0 | ~ 1"
         " s='...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxA':'...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxBC'\n");
    end(&c);
}

static void
put_meta(const char *name, const char *text)
{
    char copy[4000];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *q = copy; *q; q++) {
        *q = *q == '\'' ? '"' : *q;
    }
    put_file(name, copy, strlen(copy));
}

static void
metadata(void **state)
{
    static const struct {
        const char *a, *b, *wanted;
    } rows[] = {
        {"{'options': {'capped': true, 'size': 5}, 'uuid': 'x', 'indexes': [{'v': 2, 'key': {'_id': 1}, 'name':"
         " '_id_'}, "
         "{'v': 2, 'key': {'a': 1}, 'name': 'a_1', 'unique': true}, {'v': 2, 'key': {'b': 1}, 'name': 'b_1'}]}",
         "{'indexes': [{'v': 2, 'name': 'b_1', 'ns': 'd.c', 'key': {'b': 1.0}}, {'v': 2, 'unique': true, 'key':"
         " {'a': 1}, "
         "'name': 'a_1'}], 'options': {'size': 5.0, 'capped': true}, 'type': 'collection', 'uuid': 'y'}",
         "d.c 0 0 0\n"},
        {"{'options': {'size': 5}, 'indexes': [{'v': 2, 'key': {'a': 1, 'b': 1}, 'name': 'x'}]}",
         "{'options': {'max': 5}, 'indexes': [{'v': 2, 'key': {'b': 1, 'a': 1}, 'name': 'x', 'sparse': true}]}",
         "d.c 0 0 0 | option max: nothing in A, 5 in B | option size: 5 in A, nothing in B"
         " | index x, key: {'a':1,'b':1} in A, {'b':1,'a':1} in B | index x, sparse: nothing in A, true in B\n"},
        {"{'type': 'view'}", "{'indexes': [{'v': 2, 'key': {'a': 1}, 'name': 'y'}], 'odd': 1}",
         "d.c 0 0 0 | type: 'view' in A, 'collection' in B"
         " | index y: nothing in A, {'v':2,'key':{'a':1},'name':'y'} in B | metadata field odd: nothing in A, 1"
         " in B\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        two("{'_id': 1}", "{'_id': 1}");
        put_meta("in/d/c.metadata.json", rows[i].a);
        put_meta("other/d/c.metadata.json", rows[i].b);
        struct compared c = compare_in(0, 20);
        assert_int_equal(c.status, MRS_OK);
        assert_string_equal(told(&c.d), rows[i].wanted);
        assert_int_equal(c.d.n_differ, i > 0);
        end(&c);
    }
}

static void
namespaces(void **state)
{
    (void)state;
    two("{'_id': 1}", "{'_id': 1}");
    put_docs("in/d/a.bson", "{'_id': 1} {'_id': 2}");
    put_docs("other/d/x.bson.gz", "{'_id': 1}");
    put_docs("in/oplog.bson", "{'ts': 1} {'ts': 2}");
    put_docs("other/oplog.bson", "{'ts': 1} {'ts': 3}");
    put_file("in/prelude.json", "{}", 2);
    struct compared c = compare_in(0, 20);
    assert_int_equal(c.status, MRS_OK);
    assert_string_equal(told(&c.d), "d.a 0 2 0\nd.c 0 0 0\nd.x 0 0 1\noplog.bson 0 1 1 | - none | + none\n");
    assert_int_equal(c.d.n_differ, 3);
    assert_true(c.d.coll[0].there[0] && !c.d.coll[0].there[1]);
    end(&c);
}

/* ---- many, against counting by hand ---- */
static uint64_t
roll(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15ull;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    return x ^ (x >> 31);
}

enum { IDS = 300, VARIANTS = 3 };

/* Documents by `_id` (the last: none) and variant, in random order; their numbers in count. */
static void
put_random(const char *name, uint64_t *seed, int count[IDS + 1][VARIANTS])
{
    static char text[400000];
    static int order[8000];
    int n = 0, len = 0;
    for (int i = 0; i <= IDS; i++) {
        for (int v = 0; v < VARIANTS; v++) {
            for (int k = 0; k < count[i][v]; k++) {
                order[n++] = i * VARIANTS + v;
            }
        }
    }
    for (int i = n; i > 1; i--) {
        int k = (int)(roll(seed) % (uint64_t)i), swap = order[k];
        order[k] = order[i - 1];
        order[i - 1] = swap;
    }
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        int id = order[i] / VARIANTS, v = order[i] % VARIANTS;
        len += id == IDS ? snprintf(text + len, sizeof text - (size_t)len, "{'v': %d}", v)
                         : snprintf(text + len, sizeof text - (size_t)len, "{'_id': %d%s, 'v': %d}", id,
                                    v == 1 ? ".0" : "", v);
    }
    put_docs(name, text);
}

static void
many(void **state)
{
    static const uint64_t memories[] = {256u << 20, 100000, 1};
    static int count[2][IDS + 1][VARIANTS];
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t s = seed, changed = 0, only[2] = {0, 0};
        for (int i = 0; i <= IDS; i++) {
            int left[2] = {0, 0};
            for (int v = 0; v < VARIANTS; v++) {
                uint64_t r = roll(&s) % 40;
                count[0][i][v] = v == 0 ? 1 : r < 4;
                count[1][i][v] = r == 7 ? 0 : r == 8 ? 2 : count[0][i][v];
                int more = count[0][i][v] - count[1][i][v];
                left[0] += more > 0 ? more : 0;
                left[1] += more < 0 ? -more : 0;
            }
            int pairs = i == IDS ? 0 : left[0] < left[1] ? left[0] : left[1];
            changed += (uint64_t)pairs;
            only[0] += (uint64_t)(left[0] - pairs);
            only[1] += (uint64_t)(left[1] - pairs);
        }
        two("", "");
        put_random("in/d/c.bson", &s, count[0]);
        put_random("other/d/c.bson", &s, count[1]);
        for (size_t m = 0; m < 3; m++) {
            struct compared c = compare_in(memories[m], 7);
            assert_int_equal(c.status, MRS_OK);
            const struct mrs_diff_coll *x = &c.d.coll[0];
            uint64_t all = changed + only[0] + only[1];
            assert_int_equal(x->changed, changed);
            assert_int_equal(x->only[0], only[0]);
            assert_int_equal(x->only[1], only[1]);
            assert_int_equal(x->n_doc, all < 7 ? all : 7);
            assert_int_equal(x->differs, all > 0);
            end(&c);
        }
    }
}

/* ---- damage ---- */
static void
damage(void **state)
{
    (void)state;
    two("{'_id': 1} {'_id': 2}", "{'_id': 1} {'_id': 2}");
    put_file("other/d/c.bson", "\x0e\0\0\0\x10_id\0\x01\0\0\0\0\x0e\0\0\0\x55_id\0\x02\0\0\0\0", 28);
    struct compared c = compare_in(0, 20);
    assert_int_equal(c.err.code, MRS_E_BSON);
    assert_string_equal(c.err.ns, "d.c");
    assert_int_equal(c.err.doc_no, 2);
    assert_int_equal(c.err.byte_off, 18);
    end(&c);
}

static void
failing_memory(void **state)
{
    (void)state;
    two("{'_id': 1, 'a': 1} {'_id': 2, 'a': [1, 2]} {'a': 1}", "{'_id': 1, 'a': 2} {'_id': 2, 'a': [1, 3]} {'b': 1}");
    put_meta("in/d/c.metadata.json", "{'options': {'size': 5}}");
    for (uint64_t n = 1;; n++) {
        struct compared c = compare_with("in", "other", 1, 20, n);
        bool done = c.status == MRS_OK;
        if (!done) {
            assert_int_equal(c.status, MRS_DEAD);
            assert_int_equal(c.err.code, MRS_E_MEMORY);
        }
        end(&c);
        if (done) {
            assert_true(n > 40);
            return;
        }
    }
}

/* ---- manifests ---- */
static struct compared
check_manifest(const char *text, size_t n, bool input, const char *dump)
{
    struct compared c = open_both(NULL, dump, 0);
    struct mrs_diff_opts o = {.jobs = 2};
    struct mrs_manifest_text m = {.text = text, .name = "m.json", .n = n, .input = input};
    assert_int_equal(c.status, MRS_OK);
    c.status = mrs_diff_manifest(c.mem, &m, c.in[1], &o, &c.d, &c.err);
    return c;
}

/* A run that changes one collection, copies another, drops one and makes one. */
static size_t
ran_manifest(char *text, size_t size)
{
    struct mrs_run_opts o = defaults();
    begin();
    put_docs("in/d/c.bson", "{'_id': 1, 'a': [{'x': 1}]} {'_id': 2}");
    put_docs("in/d/copied.bson", "{'_id': 1} {'_id': 2} {'_id': 3}");
    put_docs("in/d/gone.bson", "{'_id': 1}");
    put_docs("in/d/empty.bson", "");
    put_meta("in/d/view.metadata.json", "{'type': 'view', 'options': {'viewOn': 'c', 'pipeline': []}}");
    struct ran r = run("- set: { in: c, fields: { b: 1 } }\n- drop_collection: { in: gone }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    ran_end(&r);
    size_t n = get_file("out/mongoreshape.manifest.json", (uint8_t *)text, size - 1);
    text[n] = 0;
    return n;
}

static void
manifest(void **state)
{
    static char text[10000];
    (void)state;
    size_t n = ran_manifest(text, sizeof text);
    struct compared c = check_manifest(text, n, false, "out");
    assert_int_equal(c.status, MRS_OK);
    assert_int_equal(c.d.n_differ, 0);
    assert_int_equal(c.d.n_coll, 4);
    end(&c);
    c = check_manifest(text, n, true, "in");
    assert_int_equal(c.status, MRS_OK);
    assert_int_equal(c.d.n_differ, 0);
    assert_int_equal(c.d.n_coll, 5);
    end(&c);
    put_docs("out/d/copied.bson", "{'_id': 1} {'_id': 2} {'_id': 4}");
    put_docs("out/d/new.bson", "{'_id': 1}");
    drop("out/d/view.metadata.json");
    c = check_manifest(text, n, false, "out");
    assert_int_equal(c.status, MRS_OK);
    assert_int_equal(c.d.n_differ, 3);
    for (uint32_t i = 0; i < c.d.n_coll; i++) {
        const char *ns = c.d.coll[i].ns;
        assert_int_equal(c.d.coll[i].differs, strcmp(ns, "d.c") != 0 && strcmp(ns, "d.empty") != 0);
    }
    end(&c);
}

/* Documents that stay as they are between others that change, that are refused, or that are put together by two steps:
 * the sums are those of what was read and of what was written. */
static void
manifest_of_some(void **state)
{
    static const char *const plans[] = {
        "- set: { in: c, where: { n: { $gt: 2 } }, fields: { b: 1 } }\n",
        "- set: { in: c, where: { n: 5 }, fields: { n: 1 } }\n- unset: { in: c, fields: [m] }\n",
        "- cast: { in: c, fields: { m: int }, errors: refuse }\n",
        "- rename: { in: c, fields: { m: k } }\n- set: { in: c, where: { k: 7 }, fields: { k: 7 } }\n",
    };
    static char text[10000];
    struct mrs_run_opts o = defaults();
    o.max_refused = 10;
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        begin();
        put_docs("in/d/c.bson", "{'_id': 1, 'n': 1} {'_id': 2, 'n': 2, 'm': '7'} {'_id': 3, 'n': 5} {'_id': 4, 'n': 0}"
                                "{'_id': 5, 'm': 'x'} {'_id': 6, 'n': 7, 'm': 7} {'_id': 7}");
        struct ran r = run(plans[i], &o);
        assert_int_equal(r.status, MRS_OK);
        ran_end(&r);
        size_t n = get_file("out/mongoreshape.manifest.json", (uint8_t *)text, sizeof text - 1);
        for (int input = 0; input < 2; input++) {
            struct compared c = check_manifest(text, n, input, input ? "in" : "out");
            assert_int_equal(c.status, MRS_OK);
            assert_int_equal(c.d.n_coll, 1);
            assert_int_equal(c.d.n_differ, 0);
            end(&c);
        }
    }
}

/* Two runs of the same work write the same manifest. */
static void
same_manifest(void **state)
{
    static char one[10000], again[10000];
    struct mrs_run_opts o = defaults();
    (void)state;
    ran_manifest(one, sizeof one);
    drop("out");
    o.jobs = 1;
    o.memory = 4096;
    struct ran r = run("- set: { in: c, fields: { b: 1 } }\n- drop_collection: { in: gone }\n", &o);
    assert_int_equal(r.status, MRS_OK);
    ran_end(&r);
    size_t n = get_file("out/mongoreshape.manifest.json", (uint8_t *)again, sizeof again - 1);
    again[n] = 0;
    assert_string_equal(one, again);
}

static void
no_manifest(void **state)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{}",
        "{'planId': 'x'}",
        "{'planId': 'x', 'collections': 1}",
        "{'planId': 'x', 'collections': [1]}",
        "{'planId': 'x', 'collections': [{}]}",
        "{'planId': 'x', 'collections': [{'ns': ''}]}",
        "{'planId': 'x', 'collections': [{'ns': 'a\\u0000b'}]}",
        "{'planId': 'x', 'collections': [{'ns': 'd.c', 'codec': 'none'}]}",
        "{'planId': 'x', 'collections': [{'ns': 'd.c'}, {'ns': 'd.c'}]}",
        "{'planId': 'x', 'collections': [{'ns': 'd.c', 'docs': -1, 'bytes': 1, 'digest': "
        "'00000000000000000000000000000000'}]}",
        "{'planId': 'x', 'collections': [{'ns': 'd.c', 'docs': 1, 'digest': '00000000000000000000000000000000'}]}",
        "{'planId': 'x', 'collections': [{'ns': 'd.c', 'docs': 1, 'bytes': 1, 'digest': "
        "'0000000000000000000000000000000G'}]}",
        "{'planId': 'x', 'collections': [{'ns': 'd.c', 'docs': 1, 'bytes': 1, 'digest': '00'}]}",
        "{'planId': 'x', 'collections': []} x",
    };
    (void)state;
    two("{'_id': 1}", "{'_id': 1}");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s", wrong[i]);
        for (char *q = text; *q; q++) {
            *q = *q == '\'' ? '"' : *q;
        }
        struct compared c = check_manifest(text, strlen(text), false, "in");
        if (c.err.code != MRS_E_FORMAT || strncmp(c.err.msg, "m.json: ", 8) != 0) {
            fail_msg("%s: %s", wrong[i], c.err.msg);
        }
        end(&c);
    }
}

/* A manifest of which a byte is other, or the end is missing, is refused, differs, or says the same; nothing worse. */
static void
damaged_manifest(void **state)
{
    static char text[10000], copy[10000];
    uint64_t seed = 3;
    uint32_t refused = 0;
    (void)state;
    size_t n = ran_manifest(text, sizeof text);
    for (int i = 0; i < 1500; i++) {
        memcpy(copy, text, n);
        size_t len = i % 4 ? n : roll(&seed) % n;
        copy[roll(&seed) % n] = (char)roll(&seed);
        struct compared c = check_manifest(copy, len, i % 2, i % 2 ? "in" : "out");
        assert_true(c.status == MRS_OK || c.err.code == MRS_E_FORMAT);
        refused += c.status != MRS_OK;
        end(&c);
    }
    assert_true(refused > 300 && refused < 1500);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),      cmocka_unit_test(ids),         cmocka_unit_test(values),
        cmocka_unit_test(metadata),       cmocka_unit_test(namespaces),  cmocka_unit_test(many),
        cmocka_unit_test(damage),         cmocka_unit_test(failing_memory), cmocka_unit_test(manifest),
        cmocka_unit_test(manifest_of_some),
        cmocka_unit_test(same_manifest),  cmocka_unit_test(no_manifest), cmocka_unit_test(damaged_manifest),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
