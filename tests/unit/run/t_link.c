/* SPDX-License-Identifier: Apache-2.0 */
/* t_link.c - what is not a matter of single references: more of them than a document holds. */
#include "dump_test.h"

enum { ID = 900000 }; /* bytes of an `_id`: 18 fit in 16 MiB */

/* n children {_id: <ID bytes>, p: parent}, from number `first` on. */
static void
put_children(FILE *f, int first, int n, int32_t parent)
{
    static uint8_t doc[ID + 64];
    for (int i = 0; i < n; i++) {
        uint8_t *p = doc + 4;
        int32_t len = ID;
        memcpy(p, "\2_id", 5);
        memcpy(p + 5, &len, 4);
        memset(p + 9, 'x', ID - 1);
        sprintf((char *)p + 9, "%08d", first + i);
        p[9 + 8] = 'x';
        p[9 + ID - 1] = 0;
        p += 9 + ID;
        memcpy(p, "\20p", 3);
        memcpy(p + 3, &parent, 4);
        p[7] = 0;
        len = (int32_t)(p + 8 - doc);
        memcpy(doc, &len, 4);
        assert_int_equal(fwrite(doc, 1, (size_t)len, f), len);
    }
}

/* Nothing is laid down that no document holds: of 40 references 19 are enough to refuse the parent. */
static void
more_than_a_document_holds(void **state)
{
    static uint8_t log[4096];
    struct mrs_run_opts o = defaults();
    (void)state;
    begin();
    put_docs("in/d/parents.bson", "{'_id':1} {'_id':2} {'_id':3}");
    FILE *f = fopen(at("in/d/children.bson"), "wb");
    assert_non_null(f);
    put_children(f, 0, 18, 1);
    put_children(f, 18, 40, 2);
    assert_int_equal(fclose(f), 0);
    o.max_refused = 1;
    const char *plan =
        "- link: { parent: parents, child: children, parent_ref: p, child_refs: c, derive: child_refs }\n";
    struct ran r = run(plan, &o);
    assert_int_equal(r.status, MRS_OK);
    assert_int_equal(row(&r.report, 1, "d.parents")->refused, 1);
    assert_int_equal(row(&r.report, 1, "d.parents")->after, 2);
    assert_int_equal(row(&r.report, 1, "d.parents")->placed, 18);
    assert_int_equal(row(&r.report, 1, "d.children")->after, 58);
    ran_end(&r);
    log[get_file("out.refused.bson.jsonl", log, sizeof log - 1)] = 0;
    assert_non_null(strstr((char *)log, "more than 16 MiB: 19 of the references that it would gain"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_than_a_document_holds)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
