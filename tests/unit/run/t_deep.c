/* SPDX-License-Identifier: Apache-2.0 */
/* t_deep.c - an `_id` may be a document as deep as a server takes; in a list it would lie one level deeper. */
#include "dump_test.h"

/* A document of n levels. */
static const char *
nested(int n)
{
    static char ring[4][2048];
    static int next;
    char *text = ring[next++ % 4], *to = text;
    for (int i = 0; i < n; i++) {
        to += sprintf(to, "{'a':");
    }
    *to++ = '1';
    memset(to, '}', (size_t)n);
    to[n] = 0;
    return text;
}

static void
refused(const char *steps, const char *ns, uint64_t count, uint64_t after)
{
    struct mrs_run_opts o = defaults();
    o.max_refused = UINT64_MAX;
    struct ran r = run(steps, &o);
    assert_int_equal(r.status, MRS_OK);
    assert_int_equal(row(&r.report, 1, ns)->refused, count);
    assert_int_equal(row(&r.report, 1, ns)->after, after);
    ran_end(&r);
}

static void
ancestors(void **state)
{
    char docs[8192];
    (void)state;
    begin();
    snprintf(docs, sizeof docs,
             "{'_id':%s} {'_id':1,'parent':%s} {'_id':%s} {'_id':2,'parent':%s} {'_id':3,'parent':1}", nested(179),
             nested(179), nested(178), nested(178));
    put_docs("in/d/c.bson", docs);
    refused("- tree: { in: c, form: parent, to_form: ancestors }\n", "d.c", 2, 3);
}

static void
child_refs(void **state)
{
    char docs[8192];
    (void)state;
    begin();
    snprintf(docs, sizeof docs, "{'_id':%s,'owner':1} {'_id':%s,'owner':2}", nested(179), nested(178));
    put_docs("in/d/c.bson", docs);
    put_docs("in/d/p.bson", "{'_id':1} {'_id':2}");
    refused("- link: { parent: p, child: c, parent_ref: owner, child_refs: cs, derive: child_refs }\n", "d.p", 1, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ancestors), cmocka_unit_test(child_refs)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
