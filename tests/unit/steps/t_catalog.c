/* SPDX-License-Identifier: Apache-2.0 */
/* t_catalog.c - the catalogue itself and the steps on whole collections: index, options, rename_collection,
drop_collection. */
#include "mongoreshape/catalogue.h"
#include "bench.h"

#include "steps/catalog/catalog.h"

#define ID "{'v':2,'key':{'_id':1},'name':'_id_'}"

struct fixture {
    struct mrs_mem *mem;
    struct mrs_catalog *cat;
    struct mrs_err err;
};

static void
open_cat(struct fixture *f, const char *const *colls)
{
    f->mem = mrs_mem_new(0);
    mrs_err_clear(&f->err);
    assert_int_equal(mrs_catalog_new(f->mem, &f->cat, &f->err), MRS_OK);
    for (; *colls; colls += 2) {
        struct mrs_view d;
        uint8_t *p = bench_doc(colls[1], &d);
        assert_int_equal(mrs_catalog_add(f->cat, "shop", colls[0], d, &f->err), MRS_OK);
        free(p);
    }
}

static void
close_cat(struct fixture *f)
{
    mrs_catalog_free(f->cat);
    assert_int_equal(mrs_mem_close(f->mem), 0);
}

/* Metadata as mongodump 100.18 writes them: order of keys, what is left out where it is empty. */
static void
metadata(void **arg)
{
    (void)arg;
    static const char *const colls[] = {
        "plain", "{'indexes':[" ID "],'uuid':'dfb7','collectionName':'plain','type':'collection'}",
        "opts", "{'options':{'validator':{'a':1}},'indexes':[" ID "],'collectionName':'opts','type':'collection'}",
        "old", "{'options':{},'indexes':[" ID "]}",
        "none", "{}",
        "view", "{'options':{'viewOn':'plain','pipeline':[]},'indexes':[],'collectionName':'view','type':'view'}",
        "ts", "{'options':{'timeseries':{'timeField':'t'}},'indexes':[],'collectionName':'ts',"
        "'type':'timeseries'}", NULL};
    static const char *const want[] = {
        "{'indexes':[" ID "],'uuid':'dfb7','collectionName':'plain','type':'collection'}",
        "{'options':{'validator':{'a':1}},'indexes':[" ID "],'collectionName':'opts','type':'collection'}",
        "{'indexes':[" ID "],'collectionName':'old','type':'collection'}",
        "{'indexes':[" ID "],'collectionName':'none','type':'collection'}",
        "{'options':{'viewOn':'plain','pipeline':[]},'indexes':[],'collectionName':'view','type':'view'}",
        "{'options':{'timeseries':{'timeField':'t'}},'indexes':[],'collectionName':'ts','type':'timeseries'}"};
    static char got[BENCH_TEXT], text[BENCH_TEXT];
    struct fixture f;
    open_cat(&f, colls);
    assert_int_equal(mrs_catalog_count(f.cat), 6);
    assert_null(mrs_catalog_at(f.cat, 6));
    for (uint32_t i = 0; i < 6; i++) {
        struct mrs_buf b;
        struct mrs_cat_coll *cc = mrs_catalog_at(f.cat, i);
        mrs_buf_init(&b, f.mem, 1u << 20);
        mrs_catalog_metadata(cc, &b);
        got[0] = 0;
        bench_put_doc(got, (struct mrs_view){b.p, (uint32_t)b.n}, false);
        bench_quotes(want[i], text);
        assert_string_equal(got, text);
        assert_true(cc->exists && !cc->touched && !cc->made);
        mrs_buf_clear(&b);
    }
    assert_int_equal(mrs_catalog_at(f.cat, 4)->kind, MRS_COLL_VIEW);
    assert_int_equal(mrs_catalog_at(f.cat, 5)->kind, MRS_COLL_TIMESERIES);
    assert_int_equal(mrs_catalog_add(f.cat, "shop", "plain", mrs_empty_doc(), &f.err), MRS_FAIL);
    close_cat(&f);
}

/* Everything that cannot be reshaped is an error of the plan that says what to do. */
static void
obstacles(void **arg)
{
    (void)arg;
    static const char *const colls[] = {
        "view", "{'options':{'viewOn':'x','pipeline':[]},'indexes':[],'type':'view'}",
        "oldview", "{'options':{'viewOn':'x','pipeline':[]},'indexes':[]}",
        "ts", "{'options':{'timeseries':{'timeField':'t'}},'indexes':[],'type':'timeseries'}",
        "capped", "{'options':{'capped':true,'size':4096},'indexes':[" ID "]}",
        "capped1", "{'options':{'capped':1.0,'size':4096},'indexes':[" ID "]}",
        "german", "{'options':{'collation':{'locale':'de'}},'indexes':[" ID "]}",
        "crypt", "{'options':{'encryptedFields':{'fields':[]}},'indexes':[" ID "]}",
        "system.js", "{'indexes':[" ID "]}", "system.buckets.ts", "{}",
        "simple", "{'options':{'collation':{'locale':'simple'},'capped':false},'indexes':[" ID "],'uuid':'12'}",
        NULL};
    static const struct {
        const char *name, *says;
    } wrong[] = {{"view", "is a view"}, {"oldview", "is a view"}, {"ts", "is a time series"}, {"capped",
     "capped collection: copy it"},
                 {"capped1", "capped"}, {"german", "collation of its own"}, {"crypt", "encrypted"},
                 {"system.js", "belongs to the server"}, {"system.buckets.ts", "belongs to the server"},
                 {"nope", "there is no collection shop.nope"}};
    struct fixture f;
    struct mrs_cat_coll *cc = NULL;
    open_cat(&f, colls);
    for (size_t i = 0; i < BENCH_N(wrong); i++) {
        char ns[64];
        snprintf(ns, sizeof ns, "shop.%s", wrong[i].name);
        struct mrs_coll c = {"shop", wrong[i].name, ns};
        for (int change = 0; change < 3; change++) {
            mrs_err_clear(&f.err);
            if (change == 2 && strcmp(wrong[i].name, "nope") == 0) {
                continue;
            }
            assert_int_equal(change == 2 ? mrs_catalog_target(f.cat, &c, &cc, &f.err)
                                         : mrs_catalog_need(f.cat, &c, change, &cc, &f.err), MRS_FAIL);
            assert_int_equal(f.err.code, MRS_E_PLAN);
            if (!strstr(f.err.msg, wrong[i].says)) {
                fail_msg("%s: %s", wrong[i].name, f.err.msg);
            }
        }
    }
    struct mrs_coll c = {"shop", "simple", "shop.simple"};
    assert_int_equal(mrs_catalog_need(f.cat, &c, false, &cc, &f.err), MRS_OK);
    assert_true(!cc->touched && strcmp(cc->uuid, "12") == 0);
    assert_int_equal(mrs_catalog_need(f.cat, &c, true, &cc, &f.err), MRS_OK);
    assert_true(cc->touched && !cc->uuid[0]);
    close_cat(&f);
}

static void
targets(void **arg)
{
    (void)arg;
    static const char *const colls[] = {"a", "{'options':{'validator':{'x':1}},'indexes':[" ID ",{'v':2,"
    "'key':{'x':1},'name':'x_1'}]}", NULL};
    struct fixture f;
    struct mrs_cat_coll *cc = NULL, *again = NULL;
    struct mrs_coll a = {"shop", "a", "shop.a"}, b = {"shop", "b", "shop.b"};
    struct mrs_coll bad[] = {{"shop", "x$y", "shop.x$y"}, {"shop", "system.x", "shop.system.x"}};
    open_cat(&f, colls);
    assert_int_equal(mrs_catalog_target(f.cat, &b, &cc, &f.err), MRS_OK);
    assert_true(cc->exists && cc->made && cc->touched && cc->n_index == 1 && cc->options.n == 5);
    assert_string_equal(cc->coll.ns, "shop.b");
    assert_int_equal(mrs_catalog_target(f.cat, &b, &again, &f.err), MRS_OK);
    assert_ptr_equal(again, cc);
    /* dropped and made again: nothing of the old one is left */
    assert_int_equal(mrsi_cat_drop(f.cat, &a, &f.err), MRS_OK);
    cc = mrs_catalog_find(f.cat, "shop", "a");
    assert_true(cc && !cc->exists);
    assert_int_equal(mrs_catalog_need(f.cat, &a, false, &again, &f.err), MRS_FAIL);
    assert_non_null(strstr(f.err.msg, "an earlier step dropped or renamed it"));
    assert_int_equal(mrs_catalog_target(f.cat, &a, &again, &f.err), MRS_OK);
    assert_true(again == cc && cc->exists && cc->made && cc->n_index == 1 && cc->options.n == 5);
    for (size_t i = 0; i < BENCH_N(bad); i++) {
        mrs_err_clear(&f.err);
        assert_int_equal(mrs_catalog_target(f.cat, &bad[i], &cc, &f.err), MRS_FAIL);
        assert_int_equal(f.err.code, MRS_E_PLAN);
    }
    close_cat(&f);
}

/* What the engine has tied to a collection goes with its documents. */
static void
renamed(void **arg)
{
    (void)arg;
    static const char *const colls[] = {"a", "{'indexes':[" ID "]}", NULL};
    struct fixture f;
    struct mrs_coll a = {"shop", "a", "shop.a"}, b = {"shop", "b", "shop.b"};
    int mark;
    open_cat(&f, colls);
    mrs_catalog_find(f.cat, "shop", "a")->engine = &mark;
    assert_int_equal(mrsi_cat_rename(f.cat, &a, &b, &f.err), MRS_OK);
    assert_null(mrs_catalog_find(f.cat, "shop", "a")->engine);
    assert_ptr_equal(mrs_catalog_find(f.cat, "shop", "b")->engine, &mark);
    assert_int_equal(mrsi_cat_rename(f.cat, &b, &a, &f.err), MRS_OK);
    assert_ptr_equal(mrs_catalog_find(f.cat, "shop", "a")->engine, &mark);
    assert_false(mrs_catalog_find(f.cat, "shop", "b")->exists);
    assert_false(mrs_catalog_find(f.cat, "shop", "a")->made);
    close_cat(&f);
}

static const char *const shop[] = {
    "a", "{'options':{'validator':{'x':1},'validationLevel':'strict'},'indexes':[" ID ",{'v':2,'key':{'x':1.0},"
    "'name':'x_1'},"
         "{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'t_text','weights':{'t':1},'default_language':'english',"
         "'language_override':'language','textIndexVersion':3},{'v':2,'key':{'u':1},'name':'mine','unique':true}],"
         "'uuid':'77'}",
    "b", "{'indexes':[" ID "],'uuid':'78'}",
    "v", "{'options':{'viewOn':'a','pipeline':[]},'indexes':[],'collectionName':'v','type':'view'}", NULL};

#define A_OPTIONS "'options':{'validator':{'x':1},'validationLevel':'strict'},"
#define A_INDEXES ID ",{'v':2,'key':{'x':1.0},'name':'x_1'},{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'t_text'," \
    "'weights':{'t':1},'default_language':'english','language_override':'language','textIndexVersion':3}," \
    "{'v':2,'key':{'u':1},'name':'mine','unique':true}"
#define A_END "],'collectionName':'a','type':'collection'}\n"

static const struct bench_catalog cats[] = {
    /* index */
    {"index", "{'in':'a','create':[{'key':{'postId':1,'createdAt':-1}}]}", shop,
     "{" A_OPTIONS "'indexes':[" A_INDEXES ",{'v':2,'key':{'postId':1,'createdAt':-1},"
     "'name':'postId_1_createdAt_-1'}" A_END},
    {"index", "{'in':'a','create':[{'name':'n','unique':true,'sparse':false,'key':{'p':1},"
     "'partialFilterExpression':{'p':{'$gt':1}}}]}",
     shop,
     "{" A_OPTIONS "'indexes':[" A_INDEXES ",{'v':2,'key':{'p':1},'name':'n','unique':true,"
     "'partialFilterExpression':{'p':{'$gt':1}}}" A_END
     "- index n of shop.a is unique and new: a restore fails if documents clash in it\n"},
    {"index", "{'in':'a','create':[{'key':{'l':'2dsphere'}},{'key':{'h':'hashed'}},{'key':{'$**':1}}]}",
     shop, "{" A_OPTIONS "'indexes':[" A_INDEXES ",{'v':2,'key':{'l':'2dsphere'},'name':'l_2dsphere'},{'v':2,"
     "'key':{'h':'hashed'},"
     "'name':'h_hashed'},{'v':2,'key':{'$**':1},'name':'$**_1'}" A_END},
    {"index", "{'in':'a','create':[{'key':{'q':'text','r':'text'}}],'drop':['t_text']}",
     ((const char *const[]){"a", "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'_fts':'text',"
     "'_ftsx':1},'name':'t_text','weights':{'t':1}}]}", NULL}),
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'q':'text','r':'text'},"
     "'name':'q_text_r_text'}" A_END},
    {"index", "{'in':'a','create':[{'key':{'q':'text'}}]}", shop, "! create: shop.a has the text index t_text already, "
     "and a collection has one at most: drop that, or name its fields as well"},
    {"index", "{'in':'a','create':[{'key':{'x':1}},{'key':{'x':1},'name':'other','hidden':false},"
     "{'key':{'t':'text'}},{'key':{'_id':1}},"
              "{'key':{'u':1},'unique':true}]}", shop, "{" A_OPTIONS "'indexes':[" A_INDEXES A_END},
    {"index", "{'in':'a','create':[{'key':{'u':1}}]}", shop,
     "! create: index mine of shop.a exists already with the same key and other options"},
    {"index", "{'in':'a','create':[{'key':{'x':1},'expireAfterSeconds':5}]}", shop, "! create: index x_1 of ..."},
    {"index", "{'in':'a','create':[{'key':{'z':1},'name':'mine'}]}", shop, "! create: index mine of shop.a exists "
     "already with another key"},
    {"index", "{'in':'a','drop':['x_1'],'create':[{'key':{'x':1},'unique':true}]}", shop,
     "{" A_OPTIONS "'indexes':[" ID ",{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'t_text','weights':{'t':1},"
     "'default_language':'english','language_override':'language','textIndexVersion':3},{'v':2,'key':{'u':1},"
     "'name':'mine',"
     "'unique':true},{'v':2,'key':{'x':1},'name':'x_1','unique':true}" A_END
     "- index x_1 of shop.a is unique and new: a restore fails if documents clash in it\n"},
    {"index", "{'in':'a','drop':['x_1','mine','t_text']}", shop, "{" A_OPTIONS "'indexes':[" ID A_END},
    {"index", "{'in':'a','drop':['nope']}", shop, "! drop: shop.a has no index nope"},
    {"index", "{'in':'c','drop':['nope']}", shop, "! in: there is no collection shop.c"},
    /* options */
    {"options", "{'in':'a','validator':{'y':{'$gt':2}},'validationAction':'warn'}", shop,
     "{'options':{'validator':{'y':{'$gt':2}},'validationLevel':'strict','validationAction':'warn'},"
     "'indexes':[" A_INDEXES A_END},
    {"options", "{'in':'a','validator':null}", shop, "{'options':{'validationLevel':'strict'},"
     "'indexes':[" A_INDEXES A_END},
    {"options", "{'in':'a','validator':null,'validationLevel':null,'max':null}", shop,
     "{'indexes':[" A_INDEXES A_END},
    {"options", "{'in':'a','capped':true,'size':4096}", shop, "! capped: shop.a exists: ..."},
    {"options", "{'in':'a','timeseries':{'timeField':'t'}}", shop, "! timeseries: shop.a exists: ..."},
    {"options", "{'in':'v','validator':null}", shop, "! in: shop.v is a view ..."},
    {"index", "{'in':'orders','create':[{'key':{'x':1}}]}", (const char *const[]){"order", "{}", NULL},
     "! in: there is no collection shop.orders; is `order` meant?"},
    /* whole collections */
    {"rename_collection", "{'from':'a','into':'z'}", shop,
     "gone shop.a\n{" A_OPTIONS "'indexes':[" A_INDEXES "],'collectionName':'z','type':'collection'}\n"
     "- the view shop.v reads from shop.a, which is renamed: define it again\n"},
    {"rename_collection", "{'from':'a','into':'b'}", shop, "! into: shop.b exists already: ..."},
    {"rename_collection", "{'from':'c','into':'d'}", shop, "! from: there is no collection shop.c"},
    {"rename_collection", "{'from':'b','into':'system.x'}", shop,
     "! into: shop.system.x belongs to the server and is copied ..."},
    {"drop_collection", "{'in':'a'}", shop, "gone shop.a\n- the view shop.v reads from shop.a, which is dropped: "
     "define it again\n"},
    {"drop_collection", "{'in':'v'}", shop, "! in: shop.v is a view ..."},
};

static const struct bench_wrong wrong[] = {
    {"index", "{'in':'a'}", ": neither `create` nor `drop` names an index\n"},
    {"index", "{'in':'a','create':{'key':{'x':1}}}", "create: must be a list of indexes {key: {...}}\n"},
    {"index", "{'in':'a','create':[{'x':1}]}", "create/0.x: unknown key `x`\ncreate/0: `key` is needed here\n"},
    {"index", "{'in':'a','create':[{'key':{'x':1},'uniqe':true}]}", "create/0.uniqe: unknown key `uniqe`; is "
     "`unique` meant?\n"},
    {"index", "{'in':'a','create':[{'key':{'x':0}},{'key':{}},{'key':{'x':'hash'}},{'key':5},{'key':{'':1}},"
     "{'key':{'$x':1}}]}",
     "create/0: no server builds this index: `x` of the key must be 1 or -1, not 0\ncreate/1: no server builds ..."},
    {"index", "{'in':'a','create':[{'key':{'x':1},'unique':1,'name':2,'weights':3,'expireAfterSeconds':'x'}]}",
     "create/0.name: must be a text, not int\ncreate/0.unique: must be true or false, not "
     "int\ncreate/0.expireAfterSeconds: must be a "
     "number\ncreate/0.weights: must be a map\n"},
    {"index", "{'in':'a','drop':'x'}", "drop: must be a list of names\n"},
    {"index", "{'in':'a','drop':['_id_',5]}", "drop/0: the index on _id cannot be dropped\ndrop/1: must be a text,"
     " not int\n"},
    {"options", "{'in':'a'}", ": names no option\n"},
    {"options", "{'in':'a','validator':5}", "validator: must be a map or null, not int\n"},
    {"options", "{'in':'a','validator':{'$nope':1}}", "warn validator: not understood here, a server may take it: "
     "..."},
    {"options", "{'in':'a','validationLevel':'hard','validationAction':'shout'}",
     "validationLevel: `hard` is none of ..."},
    {"options", "{'in':'a','capped':true}", "capped: needs `size`\n"},
    {"options", "{'in':'a','capped':true,'size':0}", "size: must be greater than 0\n"},
    {"options", "{'in':'a','size':10,'max':5}", "size: needs `capped: true`\nmax: needs `capped: true`\n"},
    {"options", "{'in':'a','capped':true,'size':10,'timeseries':{'timeField':'t'}}",
     "capped: and `timeseries` exclude each other\n"},
    {"options", "{'in':'a','timeseries':{'timefield':'t','granularity':'days'}}",
     "timeseries/timefield: unknown key `timefield`; is `timeField` meant?\ntimeseries: `timeField` is needed "
     "here\n"},
    {"options", "{'in':'a','timeseries':{'timeField':'a.t','granularity':'days','bucketMaxSpanSeconds':-1}}",
     "timeseries/timeField: ..."},
    {"rename_collection", "{'from':'a','into':'a'}", "into: is the same collection as `from`\n"},
    {"drop_collection", "{'in':['a']}", "in: must be a text, not array\n"},
};

static const struct bench_telling tells[] = {
    {"index", "{'in':'a','create':[{'key':{'x':1}},{'key':{'y':1}}],'drop':['z_1']}",
     "drops indexes z_1 and makes x_1, y_1 of shop.a\n"
     "side 0 shop.a  in\nloss: index z_1 of shop.a\nonce: an index that was dropped cannot be dropped again\n"},
    {"index", "{'in':'a','create':[{'key':{'x':1}}]}", "makes indexes x_1 of shop.a\nside 0 shop.a  in\n"},
    {"options", "{'in':'a','validator':null,'validationLevel':'off'}", "sets options of shop.a: validator "
     "(removed) validationLevel\n"
     "side 0 shop.a  in\nloss: the options that shop.a had under these names\n"},
    {"rename_collection", "{'from':'a','into':'b'}", "renames shop.a to shop.b\nside 0 shop.a T from\nside 1 "
     "shop.b A into\nD0 \nA1 \n"
     "once: the old name is gone after it\n"},
    {"drop_collection", "{'in':'a'}", "drops shop.a with whatever is left in it\nside 0 shop.a T in\nD0 \nloss: ..."},
};

/* Plays several steps one behind the other; the last one's status and message. */
static void
play(const char *const *colls, const char *const *steps, enum mrs_status want, const char *says, char *out)
{
    struct fixture f;
    enum mrs_status s = MRS_OK;
    open_cat(&f, colls);
    for (; *steps && s == MRS_OK; steps += 2) {
        struct bench b;
        bench_open(&b, steps[0], steps[1], 0);
        assert_int_equal(b.status, MRS_OK);
        s = b.type->catalog(b.state, f.cat, &f.err);
        assert_int_equal(bench_close(&b), 0);
    }
    assert_int_equal(s, want);
    if (says && !strstr(f.err.msg, says)) {
        fail_msg("%s", f.err.msg);
    }
    out[0] = 0;
    bench_catalog_text(f.cat, out);
    close_cat(&f);
}

static void
sequences(void **arg)
{
    (void)arg;
    static const char *const colls[] = {"a", "{'indexes':[" ID "]}", NULL};
    static const char *const series[] = {"move", "{'from':'a','into':'t'}", "options",
     "{'in':'t','timeseries':{'timeField':'at'}}", NULL};
    static const char *const late[] = {"move", "{'from':'a','into':'t'}", "options",
     "{'in':'t','capped':true,'size':4096}",
                                       "unset", "{'in':'t','fields':['x']}", NULL};
    static const char *const renamed[] = {"rename_collection", "{'from':'a','into':'t'}", "options",
                                          "{'in':'t','capped':true,'size':4096}", NULL};
    static const char *const again[] = {"drop_collection", "{'in':'a'}", "rename_collection",
     "{'from':'b','into':'a'}", NULL};
    static const char *const anew[] = {"move", "{'from':'a','into':'t'}", "drop_collection", "{'in':'a'}", "move",
                                       "{'from':'t','into':'a'}", "options", "{'in':'a','capped':true,'size':4096,"
                                       "'max':10}", NULL};
    static const char *const two[] = {"a", "{'indexes':[" ID "]}", "b", "{'options':{'validator':{'q':1}},"
    "'indexes':[" ID "]}", NULL};
    static char got[BENCH_TEXT], want[BENCH_TEXT];
    play(colls, series, MRS_OK, NULL, got);
    bench_quotes("{'indexes':[" ID "],'collectionName':'a','type':'collection'}\n"
                 "{'options':{'timeseries':{'timeField':'at'}},"
                 "'indexes':[],'collectionName':'t','type':'collection'}\n", want);
    assert_string_equal(got, want);
    play(colls, late, MRS_FAIL, "let that step be the last one", got);
    play(colls, renamed, MRS_FAIL, "exists: only a collection", got);
    play(two, again, MRS_OK, NULL, got);
    bench_quotes("{'options':{'validator':{'q':1}},'indexes':[" ID "],'collectionName':'a',"
    "'type':'collection'}\ngone shop.b\n", want);
    assert_string_equal(got, want);
    play(colls, anew, MRS_OK, NULL, got);
    bench_quotes("{'options':{'capped':true,'size':4096,'max':10},'indexes':[" ID "],'collectionName':'a',"
    "'type':'collection'}\n"
                 "{'indexes':[" ID "],'collectionName':'t','type':'collection'}\n", want);
    assert_string_equal(got, want);
}

static void
catalogues(void **arg)
{
    (void)arg;
    bench_catalogs(cats, BENCH_N(cats));
    bench_catalog_torture(cats, BENCH_N(cats));
}

BENCH_ROWS(wrong_plans, bench_wrong, wrong)
BENCH_ROWS(descriptions, bench_tells, tells)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata),    cmocka_unit_test(obstacles),    cmocka_unit_test(targets),
        cmocka_unit_test(catalogues),
        cmocka_unit_test(wrong_plans), cmocka_unit_test(descriptions), cmocka_unit_test(sequences),
        cmocka_unit_test(renamed),
    };
    return cmocka_run_group_tests_name("steps: catalogue", tests, NULL, NULL);
}
