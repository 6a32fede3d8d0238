/* SPDX-License-Identifier: Apache-2.0 */
/* t_joins.c - what embed, extract and copy do to the catalogue, what they say of themselves, and documents near
 * 16 MiB. */
#include "host.h"

#define ID "{'v':2,'key':{'_id':1},'name':'_id_'}"
#define END "],'collectionName':"
#define COLL ",'type':'collection'}\n"
#define IX(key, name, more) ",{'v':2,'key':{" key "},'name':'" name "'" more "}"

static const char *const blog[] = {
    "comments",
    "{'indexes':[" ID IX("'postId':1", "postId_1", "") IX("'who':1", "who_1", ",'unique':true") IX("'at':1", "at_1",
            ",'expireAfterSeconds':9")
        IX("'postId':1,'at':-1", "postId_1_at_-1", "") IX("'who':'hashed'", "h",
                                                          "") "],'uuid':'00112233445566778899aabbccddeeff'}",
    "posts",
    "{'options':{'validator':{'comments.who':{'$gt':1}}},'indexes':[" ID IX("'tags':1", "tags_1", ",'unique':true")
        IX("'comments.who':1", "mine", ",'sparse':true,'unique':true") IX("'tags':1,'comments.at':1", "both", "")
        IX("'parts':1", "parts_1", "") "],'uuid':'00112233445566778899aabbccddee00'}",
    NULL};

static const struct bench_catalog cats[] = {
    {"embed", "{'from':'comments','into':'posts','match':{'postId':'_id'},'as':'cs','drop':['postId']}", blog,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'postId':1},'name':'postId_1'},{'v':2,"
     "'key':{'who':1},'name':'who_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':9},"
     "{'v':2,'key':{'postId':1,'at':-1},'name':'postId_1_at_-1'},{'v':2,'key':{'who':'hashed'},'name':'h'}],"
     "'collectionName':'comments','type':'collection'}\n"
     "{'options':{'validator':{'comments.who':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,"
     "'key':{'tags':1},'name':'tags_1','unique':true},{'v':2,'key':{'comments.who':1},'name':'mine','sparse':true,"
     "'unique':true},{'v':2,'key':{'tags':1,'comments.at':1},'name':'both'},{'v':2,'key':{'parts':1},"
     "'name':'parts_1'},{'v':2,'key':{'cs.who':1},'name':'cs.who_1'}],'collectionName':'posts','type':'collection'}\n"
     "- index postId_1 of shop.comments is not copied to shop.posts: the documents that it found together are in one "
     "document now\n"
     "- index who_1 of shop.comments, carried to shop.posts, is no longer unique: its documents are now embedded in "
     "others\n- index at_1 of shop.comments is not copied to shop.posts: it would expire other documents than before\n"
     "- index postId_1_at_-1 of shop.comments is not copied to shop.posts: it needs paths that are not there: postId\n"
     "- index h of shop.comments is not copied to shop.posts: a hashed index cannot hold an array\n"},
    {"embed", "{'from':'comments','into':'posts','match':{'postId':'_id'},'as':'comments','keep':'all',"
     "'fields':{'w':'$who','a.t':'$at'},"
              "'overflow':{'into':'more','size':9,'ref':'post','number':'n','items':'i'},'orphans':{'into':'lost'}}",
     blog,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'postId':1},'name':'postId_1'},{'v':2,"
     "'key':{'who':1},'name':'who_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':9},"
     "{'v':2,'key':{'postId':1,'at':-1},'name':'postId_1_at_-1'},{'v':2,'key':{'who':'hashed'},'name':'h'}],"
     "'collectionName':'comments','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'tags':1},'name':'tags_1','unique':true},"
     "{'v':2,'key':{'comments.who':1},'name':'mine','sparse':true,'unique':true},{'v':2,'key':{'tags':1,"
     "'comments.at':1},'name':'both'},{'v':2,'key':{'parts':1},'name':'parts_1'},{'v':2,'key':{'comments.w':1},"
     "'name':'comments.w_1'}],'collectionName':'posts','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'post':1},'name':'post_1'}],"
     "'collectionName':'more','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'}],'collectionName':'lost','type':'collection'}\n"
     "- index mine of shop.posts is unique on comments, which gets new values: a restore fails if they "
     "clash\n"
     "- index postId_1 of shop.comments is not copied to shop.posts: the documents that it found together are in one "
     "document now\n"
     "- index who_1 of shop.comments, carried to shop.posts, is no longer unique: its documents are now embedded in "
     "others\n- index at_1 of shop.comments is not copied to shop.posts: it would expire other documents than before\n"
     "- index postId_1_at_-1 of shop.comments is not copied to shop.posts: it needs paths that are not there: postId\n"
     "- index h of shop.comments is not copied to shop.posts: a hashed index cannot hold an array\n"
     "- the validator of shop.posts left out: it may concern comments\n"},
    {"embed", "{'from':'comments','into':'posts','match':{'_id':'parts'},'as':'parts','keep':'all'}", blog,
     "{'options':{'validator':{'comments.who':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,"
     "'key':{'tags':1},'name':'tags_1','unique':true},{'v':2,'key':{'comments.who':1},'name':'mine','sparse':true,"
     "'unique':true},{'v':2,'key':{'tags':1,'comments.at':1},'name':'both'},{'v':2,'key':{'parts._id':1},"
     "'name':'parts._id_1'}],'collectionName':'posts','type':'collection'}\n"},
    {"embed", "{'from':'comments','into':'posts','match':{'postId':'_id'},'as':'cs','indexes':false}", blog,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'postId':1},'name':'postId_1'},{'v':2,"
     "'key':{'who':1},'name':'who_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':9},"
     "{'v':2,'key':{'postId':1,'at':-1},'name':'postId_1_at_-1'},{'v':2,'key':{'who':'hashed'},'name':'h'}],"
     "'collectionName':'comments','type':'collection'}\n"
     "{'options':{'validator':{'comments.who':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,"
     "'key':{'tags':1},'name':'tags_1','unique':true},{'v':2,'key':{'comments.who':1},'name':'mine','sparse':true,"
     "'unique':true},{'v':2,'key':{'tags':1,'comments.at':1},'name':'both'},{'v':2,'key':{'parts':1},"
     "'name':'parts_1'}],'collectionName':'posts','type':'collection'}\n"},
    {"embed", "{'from':'comments','into':'other','match':{'postId':'_id'},'as':'cs'}", blog,
     "! into: there is no collection shop.other"},
    {"extract", "{'from':'posts','path':'comments','into':'c2','parent_ref':'post'}", blog,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'tags':1},'name':'tags_1','unique':true},"
     "{'v':2,'key':{'parts':1},'name':'parts_1'}],'collectionName':'posts','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'who':1},'name':'mine','sparse':true},{'v':2,"
     "'key':{'post':1},'name':'post_1'}],'collectionName':'c2','type':'collection'}\n"
     "- index mine of shop.posts, carried to shop.c2, is no longer unique: elements of one document may be equal\n"
     "- index both of shop.posts left out: a path it needs is gone: comments.at\n"
     "- the validator of shop.posts left out: it may concern comments\n"},
    {"extract", "{'from':'posts','path':'comments','into':'c2','refs':'both','parent_ref':'post','child_refs':'ids',"
     "'leave':{'limit':1},'drop':['who']}", blog,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'tags':1},'name':'tags_1','unique':true},"
     "{'v':2,'key':{'comments.who':1},'name':'mine','sparse':true,'unique':true},{'v':2,'key':{'tags':1,"
     "'comments.at':1},'name':'both'},{'v':2,'key':{'parts':1},'name':'parts_1'},{'v':2,'key':{'ids':1},"
     "'name':'ids_1'}],'collectionName':'posts','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'post':1},'name':'post_1'}],"
     "'collectionName':'c2','type':'collection'}\n"
     "- index both of shop.posts is not copied to shop.c2: it needs paths that are not there: tags\n"
     "- the validator of shop.posts left out: it may concern comments\n"},
    {"extract", "{'from':'posts','path':'comments','into':'c2','pages':{'size':2,'ref':'post','number':'n',"
     "'items':'i'}}", blog,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'tags':1},'name':'tags_1','unique':true},"
     "{'v':2,'key':{'parts':1},'name':'parts_1'}],'collectionName':'posts','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'i.who':1},'name':'mine','sparse':true},"
     "{'v':2,'key':{'post':1},'name':'post_1'}],'collectionName':'c2','type':'collection'}\n"
     "- index mine of shop.posts, carried to shop.c2, is no longer unique: elements of one document may be equal\n"
     "- index both of shop.posts left out: a path it needs is gone: comments.at\n"
     "- the validator of shop.posts left out: it may concern comments\n"},
    {"extract", "{'from':'posts','path':{'fields':['tags']},'into':'c2','refs':'child','child_refs':'t'}", blog,
     "{'options':{'validator':{'comments.who':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,"
     "'key':{'comments.who':1},'name':'mine','sparse':true,'unique':true},{'v':2,'key':{'parts':1},'name':'parts_1'}"
     ",{'v':2,'key':{'t':1},'name':'t_1'}],'collectionName':'posts','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'tags':1},'name':'tags_1'}],"
     "'collectionName':'c2','type':'collection'}\n"
     "- index tags_1 of shop.posts, carried to shop.c2, is no longer unique: elements of one document may be equal\n"
     "- index both of shop.posts left out: a path it needs is gone: tags\n"},
    {"copy", "{'from':'comments','into':'posts','match':{'_id':'parts'},'fields':['who'],'wrap':'id'}", blog,
     "{'options':{'validator':{'comments.who':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,"
     "'key':{'tags':1},'name':'tags_1','unique':true},{'v':2,'key':{'comments.who':1},'name':'mine','sparse':true,"
     "'unique':true},{'v':2,'key':{'tags':1,'comments.at':1},'name':'both'},{'v':2,'key':{'parts.id':1},"
     "'name':'parts.id_1'}],'collectionName':'posts','type':'collection'}\n"},
    {"copy", "{'from':'comments','into':'posts','match':{'_id':'parts'},'fields':['who'],'at':'root','refs':'drop',"
     "'keep':'none','orphans':'drop'}", blog,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'postId':1},'name':'postId_1'},{'v':2,"
     "'key':{'who':1},'name':'who_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':9},"
     "{'v':2,'key':{'postId':1,'at':-1},'name':'postId_1_at_-1'},{'v':2,'key':{'who':'hashed'},'name':'h'}],"
     "'collectionName':'comments','type':'collection'}\n"
     "{'options':{'validator':{'comments.who':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,"
     "'key':{'tags':1},'name':'tags_1','unique':true},{'v':2,'key':{'comments.who':1},'name':'mine','sparse':true,"
     "'unique':true},{'v':2,'key':{'tags':1,'comments.at':1},'name':'both'},{'v':2,'key':{'parts':1},"
     "'name':'parts_1'}],'collectionName':'posts','type':'collection'}\n"},
};

static const struct bench_telling tells[] = {
    {"embed", "{'from':'c','into':'p','match':{'ref':'_id'},'as':'cs','drop':['ref'],'limit':3,'count':'n',"
     "'orphans':'drop'}",
     "documents of shop.c are put into the documents of shop.p that they match, as an array cs; at most 3 each. "
     "Embedded documents leave shop.c\n"
     "side 0 shop.c RTM from\n"
     "side 1 shop.p RCM into\n"
     "R0 ref\n"
     "R1 _id\n"
     "R0 \n"
     "D0 \n"
     "A1 cs\n"
     "A1 n\n"
     "loss: orphans dropped: documents of shop.c without a match\n"
     "loss: order of shop.c across parents\n"
     "once: the fields that it adds would exist already, and the documents would have left from; use `keep: all` "
     "and `replace: true`\n"},
    {"embed", "{'from':'c','into':'p','match':{'_id':'parts'},'as':'parts','keep':'all','dangling':'drop'}",
     "every reference in parts of shop.p becomes the document of shop.c that it names. shop.c stays as it is\n"
     "side 0 shop.c RM from\n"
     "side 1 shop.p RCM into\n"
     "R0 _id\n"
     "R1 parts\n"
     "R0 \n"
     "D1 parts\n"
     "A1 parts\n"},
    {"extract", "{'from':'p','path':'cs','into':'c','parent_ref':'post','count':'n'}",
     "cs of shop.p becomes documents of shop.c; post holds the _id of the parent\n"
     "side 0 shop.p RCM from\n"
     "side 1 shop.c A into\n"
     "R0 cs\n"
     "D0 cs\n"
     "R0 _id\n"
     "A0 n\n"
     "A1 \n"
     "loss: array order of cs: add `position`\n"
     "loss: place of cs in its parent: `refs: child` would keep it\n"
     "once: the second run would count no elements\n"},
    {"extract", "{'from':'p','path':'cs','into':'c','refs':'child','unique':['name']}",
     "cs of shop.p becomes documents of shop.c, one for each name; the parent keeps their _ids in cs\n"
     "side 0 shop.p RCM from\n"
     "side 1 shop.c RCAM into\n"
     "R0 cs\n"
     "D0 cs\n"
     "R0 _id\n"
     "A0 cs\n"
     "R1 \n"
     "A1 \n"
     "loss: 1 and 1.0 merged in `unique`, and how often an element was repeated unless references tell\n"
     "once: the ids that stay at the path would be extracted as elements\n"},
    {"copy", "{'from':'h','into':'l','match':{'_id':'host'},'fields':['ip','name'],'refs':'drop','keep':'none',"
     "'orphans':'keep'}",
     "ip and name of shop.h copied into the documents of shop.l that refer to it; the references go\n"
     "side 0 shop.h RTM from\n"
     "side 1 shop.l RCM into\n"
     "R0 _id\n"
     "R1 host\n"
     "R0 ip\n"
     "R0 name\n"
     "D0 \n"
     "A1 ip\n"
     "A1 name\n"
     "D1 host\n"
     "loss: references to shop.h\n"
     "loss: documents of shop.h, but for the fields that were copied\n"
     "once: the documents that it copies from are gone afterwards\n"},
};

/* ---- near 16 MiB ---- */
/* {_id, ref: 1, pad: binary of n bytes} */
static void
padded(struct host_coll *c, int id, uint32_t n)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    struct mrs_build d;
    struct mrs_view v;
    uint8_t *pad = calloc(1, n + 5);
    mrs_put32(pad, n);
    mrs_buf_init(&b, mem, 64u << 20);
    mrs_build_init(&d, &b);
    mrs_build_i32(&d, "_id", id);
    mrs_build_i32(&d, "ref", 1);
    mrs_build_val(&d, "pad", 3, (struct mrs_val){pad, n + 5, MRS_BINARY});
    assert_int_equal(mrs_build_finish(&d, &v, NULL), MRS_OK);
    host_put(c, v);
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
    free(pad);
}

static void
run_big(const char *body, struct host_db *db)
{
    struct bench b;
    struct mrs_desc d;
    bench_open(&b, "embed", body, 0);
    assert_int_equal(b.status, MRS_OK);
    assert_int_equal(b.type->describe(b.state, &b.plan, &d, &b.err), MRS_OK);
    assert_int_equal(host_push(db, &b, &d), MRS_OK);
    assert_int_equal(bench_close(&b), 0);
}

static uint32_t
items_of(const struct host_doc *d, const char *name)
{
    struct mrs_val v = mrs_doc_get((struct mrs_view){d->p, d->n}, name);
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n = 0;
    assert_int_equal(v.type, MRS_ARRAY);
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &e) == 1) {
        n++;
    }
    return n;
}

#define MIB (1u << 20)
static void
test_oversize(void **s)
{
    struct host_db db;
    (void)s;
    /* one byte decides: 3 children fill the parent to 16 MiB exactly */
    for (uint32_t more = 0; more < 2; more++) {
        host_load(&db, "{'p':[{'_id':1}],'c':[]}");
        struct host_coll *c = &db.coll[1];
        padded(c, 1, 5 * MIB);
        padded(c, 2, 5 * MIB);
        /* parent 5 + _id 9 + as "cs" 4 + array 5; items 3 each; children 33 and their pad */
        padded(c, 3, MRS_DOC_MAX - 10 * MIB - 23 - 9 - 3 * 33 + more);
        run_big("{'from':'c','into':'p','match':{'ref':'_id'},'as':'cs'}", &db);
        assert_int_equal(db.coll[0].doc[0].gone, more);
        assert_string_equal(db.refused, more ? "p 1 oversize\n" : "");
        if (!more) {
            assert_int_equal(db.coll[0].doc[0].n, MRS_DOC_MAX);
        }
        host_free(&db);
    }
    /* as many as fit, the rest to pages, each of which holds what fits */
    host_load(&db, "{'p':[{'_id':1}],'c':[]}");
    for (int i = 1; i <= 9; i++) {
        padded(&db.coll[1], i, 5 * MIB);
    }
    run_big("{'from':'c','into':'p','match':{'ref':'_id'},'as':'cs','oversize':'overflow','count':'n',"
     "'overflow':{'into':'m','size':100,"
            "'ref':'r','number':'n','items':'i','flag':'f'}}", &db);
    assert_int_equal(items_of(&db.coll[0].doc[0], "cs"), 3);
    assert_int_equal(db.coll[2].n, 2);
    assert_int_equal(items_of(&db.coll[2].doc[0], "i"), 3);
    assert_int_equal(items_of(&db.coll[2].doc[1], "i"), 3);
    assert_int_equal(mrs_val_i32(mrs_doc_get((struct mrs_view){db.coll[2].doc[1].p, db.coll[2].doc[1].n}, "n")), 3);
    assert_int_equal(mrs_val_i32(mrs_doc_get((struct mrs_view){db.coll[0].doc[0].p, db.coll[0].doc[0].n}, "n")), 9);
    assert_int_equal(mrs_doc_get((struct mrs_view){db.coll[0].doc[0].p, db.coll[0].doc[0].n}, "f").type, MRS_BOOL);
    host_free(&db);
    /* the same with `oversize` not said: refused, nothing put aside */
    host_load(&db, "{'p':[{'_id':1}],'c':[],'m':[]}");
    for (int i = 1; i <= 4; i++) {
        padded(&db.coll[1], i, 5 * MIB);
    }
    run_big("{'from':'c','into':'p','match':{'ref':'_id'},'as':'cs','overflow':{'into':'m','size':100,'ref':'r',"
     "'number':'n','items':'i'}}", &db);
    assert_string_equal(db.refused, "p 1 oversize\n");
    assert_int_equal(db.coll[2].n, 0);
    assert_false(db.coll[1].doc[0].gone);
    host_free(&db);
    /* the flag is what no longer fits: one item more goes */
    host_load(&db, "{'p':[{'_id':1}],'c':[]}");
    padded(&db.coll[1], 1, 8 * MIB);
    padded(&db.coll[1], 2, MRS_DOC_MAX - 8 * MIB - 23 - 6 - 2 * 33);
    padded(&db.coll[1], 3, 1);
    run_big("{'from':'c','into':'p','match':{'ref':'_id'},'as':'cs','oversize':'overflow','overflow':{'into':'m',"
     "'size':2,"
            "'ref':'r','number':'n','items':'i','flag':'f'}}", &db);
    assert_int_equal(items_of(&db.coll[0].doc[0], "cs"), 1);
    assert_int_equal(items_of(&db.coll[2].doc[0], "i"), 2);
    host_free(&db);
}

static void
test_doubles(void **s)
{
    /* {_id: 1, x: 1, x: 2}: kept as it is, refused where its level must be rewritten */
    static const uint8_t twice[] = "\x1c\0\0\0\x10_id\0\1\0\0\0\x10x\0\1\0\0\0\x10x\0\2\0\0\0";
    struct mrs_view v = {twice, 28};
    struct host_db db;
    (void)s;
    assert_int_equal(mrs_doc_check(v.p, v.n, 10, NULL), MRS_OK);
    host_load(&db, "{'p':[],'c':[{'_id':5,'ref':1}]}");
    host_put(&db.coll[0], v);
    run_big("{'from':'c','into':'p','match':{'ref':'_id'},'as':'cs'}", &db);
    assert_string_equal(db.refused, "p 1 \n");
    host_free(&db);
    host_load(&db, "{'p':[],'c':[]}");
    host_put(&db.coll[0], v);
    run_big("{'from':'c','into':'p','match':{'ref':'_id'},'as':'cs','empty':'absent'}", &db);
    assert_string_equal(db.refused, "");
    host_free(&db);
    host_load(&db, "{'p':[{'_id':1}],'c':[]}"); /* as a child: whole as it is, refused where a field would be left
                                                   out */
    host_put(&db.coll[1], v);
    run_big("{'from':'c','into':'p','match':{'x':'_id'},'as':'cs','keep':'all'}", &db);
    assert_string_equal(db.refused, "");
    run_big("{'from':'c','into':'p','match':{'x':'_id'},'as':'cs','drop':['x'],'replace':true}", &db);
    assert_string_equal(db.refused, "p 1 \n");
    host_free(&db);
}

static void test_catalog(void **s) { (void)s; bench_catalogs(cats, BENCH_N(cats)); bench_catalog_torture(cats,
        BENCH_N(cats)); }
static void test_describe(void **s) { (void)s; bench_tells(tells, BENCH_N(tells)); }

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_oversize), cmocka_unit_test(test_doubles),
                                       cmocka_unit_test(test_catalog),
                                       cmocka_unit_test(test_describe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
