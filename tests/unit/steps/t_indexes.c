/* SPDX-License-Identifier: Apache-2.0 */
/* t_indexes.c - what happens to indexes and validators: rewritten in place, carried, named, left out. */
#include "mongoreshape/catalogue.h"
#include "bench.h"

#include "steps/catalog/indexes.h"

#define ID "{'v':2,'key':{'_id':1},'name':'_id_'}"
#define END "],'collectionName':'a','type':'collection'}\n"

/* One collection with these indexes beside `_id_`. */
#define COLL(indexes) ((const char *const[]){"a", "{'indexes':[" ID "," indexes "]}", NULL})
#define VALID(validator) \
    ((const char *const[]){ \
        "a", "{'options':{'validator':" validator ",'validationLevel':'off','x':1},'indexes':[" ID "]}", NULL})

static const struct bench_catalog in_place[] = {
    /* names and keys */
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'y':1},'name':'y_1'}" END},
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'a':-1.0,'x.k':'2dsphere'},"
     "'name':'a_-1_x.k_2dsphere'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'a':-1.0,'y.k':'2dsphere'},'name':'a_-1_y.k_2dsphere'}" END},
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'x':1},'name':'mine','unique':true,"
     "'ns':'shop.a'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'y':1},'name':'mine','unique':true}" END},
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'xx':1},'name':'xx_1'},{'v':2,'key':{'a.x':1},"
     "'name':'a.x_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'xx':1},'name':'xx_1'},{'v':2,'key':{'a.x':1},'name':'a.x_1'}" END},
    {"rename", "{'in':'a','fields':{'x':'y','y':'x'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1'},{'v':2,"
     "'key':{'y':1},'name':'y_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'y':1},'name':'y_1'},{'v':2,'key':{'x':1},'name':'x_1'}" END},
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1'},{'v':2,'key':{'z':1},"
     "'name':'y_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'y':1},'name':'y_1_'},{'v':2,'key':{'z':1},'name':'y_1'}" END},
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1'},{'v':2,'key':{'y':1},"
     "'name':'y_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'y':1},'name':'y_1'}" END "- index x_1 of shop.a left out: y_1 has the "
     "same key now\n"},
    {"rename", "{'in':'a','fields':{'x.a':'x.b','x.c':'d'}}", COLL("{'v':2,'key':{'x.a.q':1,'x.c':1},"
     "'name':'x.a.q_1_x.c_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'x.b.q':1,'d':1},'name':'x.b.q_1_d_1'}" END},
    {"rename", "{'in':'a','fields':{'x.a':'y'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'x':1},'name':'x_1'}" END},
    {"rename", "{'in':'a','fields':{'x':['y.z']}}", COLL("{'v':2,'key':{'x':1},'name':'x_1'}"),
     "{'indexes':[" ID END "- index x_1 of shop.a left out: a path it needs is gone: x\n"},
    {"rename", "{'in':'a','indexes':false,'fields':{'x':'y'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'x':1},'name':'x_1'}" END},
    /* paths elsewhere in an index */
    {"rename", "{'in':'a','fields':{'x':'y','s':'t'}}", COLL("{'v':2,'key':{'z':1},'name':'z_1',"
     "'partialFilterExpression':"
     "{'x':{'$gt':5},'$or':[{'x.k':1},{'$and':[{'s':{'$exists':true}},{'q':{'x':1}}]}]}}"),
     "{'indexes':[" ID ",{'v':2,'key':{'z':1},'name':'z_1','partialFilterExpression':{'y':{'$gt':5},'$or':[{'y.k':1},"
     "{'$and':[{'t':{'$exists':true}},{'q':{'x':1}}]}]}}" END},
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'$**':1},'name':'$**_1',"
     "'wildcardProjection':{'x':1,'a.x':1}},"
     "{'v':2,'key':{'x.$**':1},'name':'x.$**_1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'$**':1},'name':'$**_1','wildcardProjection':{'y':1,'a.x':1}},"
     "{'v':2,'key':{'y.$**':1},'name':'y.$**_1'}" END},
    {"rename", "{'in':'a','fields':{'x':'y','lang':'l'}}", COLL("{'v':2,'key':{'p':1,'_fts':'text','_ftsx':1},"
     "'name':'p_1_q_text_x.k_text',"
     "'weights':{'q':1,'x.k':5},'default_language':'english','language_override':'lang','textIndexVersion':3}"),
     "{'indexes':[" ID ",{'v':2,'key':{'p':1,'_fts':'text','_ftsx':1},'name':'p_1_q_text_y.k_text',"
     "'weights':{'q':1,'y.k':5},"
     "'default_language':'english','language_override':'l','textIndexVersion':3}" END},
    /* some documents keep the old shape */
    {"rename", "{'in':'a','where':{'v':1},'fields':{'x':'y'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1'},{'v':2,"
     "'key':{'x':1,'z':1},"
     "'name':'n','expireAfterSeconds':5}"),
     "{'indexes':[" ID ",{'v':2,'key':{'x':1},'name':'x_1'},{'v':2,'key':{'y':1},'name':'y_1'},{'v':2,"
     "'key':{'x':1,'z':1},'name':'n',"
     "'expireAfterSeconds':5},{'v':2,'key':{'y':1,'z':1},'name':'n_','expireAfterSeconds':5}" END},
    {"rename", "{'in':'a','where':{'v':1},'fields':{'x':'y'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1',"
     "'unique':true},"
     "{'v':2,'key':{'x':-1},'name':'x_-1','unique':true,'sparse':true}"),
     "{'indexes':[" ID ",{'v':2,'key':{'x':1},'name':'x_1'},{'v':2,'key':{'y':1},'name':'y_1'},{'v':2,"
     "'key':{'x':-1},'name':'x_-1',"
     "'unique':true,'sparse':true},{'v':2,'key':{'y':-1},'name':'y_-1','unique':true,'sparse':true}" END
     "- index x_1 of shop.a is no longer unique: some documents do not have its fields now\n"},
    {"rename", "{'in':'a','where':{'v':1},'fields':{'x':'y'}}", COLL("{'v':2,'key':{'_fts':'text','_ftsx':1},"
     "'name':'x_text','weights':{'x':1}}"),
     "{'indexes':[" ID ",{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'x_text','weights':{'x':1}}" END
     "- index x_text of shop.a stays on the old paths only: a collection has one text index at most\n"},
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'y':1,'x':-1},'name':'y_1_x_-1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'y':1},'name':'y_1'}" END},
    {"rename", "{'in':'a','fields':{'x':'y'}}", COLL("{'v':2,'key':{'y':1},'name':'y_1','prepareUnique':true}"),
     "{'indexes':[" ID ",{'v':2,'key':{'y':1},'name':'y_1','prepareUnique':true}" END
     "- index y_1 of shop.a is unique on y, which gets new values: a restore fails if they clash\n"},
    /* removed paths */
    {"unset", "{'in':'a','fields':['x']}", COLL("{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'x_text_z_text',"
     "'weights':{'x':1,'z':2}}"),
     "{'indexes':[" ID ",{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'z_text','weights':{'z':2}}" END
     "- index x_text_z_text of shop.a takes in fewer fields: some are gone\n"},
    {"unset", "{'in':'a','fields':['x']}", COLL("{'v':2,'key':{'x':1},'name':'x_1'},{'v':2,'key':{'z':1,'x.k':1},"
     "'name':'zx'},"
     "{'v':2,'key':{'z':1},'name':'z_1','partialFilterExpression':{'x':1}},{'v':2,'key':{'z':-1},'name':'z_-1'}"),
     "{'indexes':[" ID ",{'v':2,'key':{'z':-1},'name':'z_-1'}" END
     "- index x_1 of shop.a left out: a path it needs is gone: x\n"
     "- index zx of shop.a left out: a path it needs is gone: x.k\n"
     "- index z_1 of shop.a left out: a path it needs is gone: x\n"},
    {"unset", "{'in':'a','fields':['x'],'where':{'v':1}}", COLL("{'v':2,'key':{'x':1},'name':'x_1','unique':true}"),
     "{'indexes':[" ID ",{'v':2,'key':{'x':1},'name':'x_1'}" END
     "- index x_1 of shop.a is no longer unique: some documents do not have its fields now\n"},
    {"unset", "{'in':'a','fields':['x','q']}", COLL("{'v':2,'key':{'$**':1},'name':'w',"
     "'wildcardProjection':{'x':1}},{'v':2,'key':{'$**':1},"
     "'name':'w2','wildcardProjection':{'x':0}},{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'t',"
     "'weights':{'q':1}}"),
     "{'indexes':[" ID ",{'v':2,'key':{'$**':1},'name':'w2','wildcardProjection':{'x':0}}" END
     "- index w of shop.a left out: a path it needs is gone\n"
     "- index t of shop.a left out: a path it needs is gone: q\n"},
    {"cast", "{'in':'a','fields':{'x.k':'int'}}", COLL("{'v':2,'key':{'x':1},'name':'x_1','unique':true},{'v':2,"
     "'key':{'x.k.m':1},'name':'m',"
     "'unique':true},{'v':2,'key':{'xk':1},'name':'n','unique':true}"),
     "{'indexes':[" ID ",{'v':2,'key':{'x':1},'name':'x_1','unique':true},{'v':2,'key':{'x.k.m':1},'name':'m',"
     "'unique':true},"
     "{'v':2,'key':{'xk':1},'name':'n','unique':true}" END
     "- index x_1 of shop.a is unique on x.k, which gets new values: a restore fails if they clash\n"
     "- index m of shop.a is unique on x.k, which gets new values: a restore fails if they clash\n"},
    {"order", "{'in':'a','fields':['x']}", COLL("{'v':2,'key':{'x':1},'name':'x_1','unique':true}"),
     "{'indexes':[" ID ",{'v':2,'key':{'x':1},'name':'x_1','unique':true}" END},
    /* validators */
    {"unset", "{'in':'a','fields':['x']}", VALID("{'x':{'$gt':1}}"),
     "{'options':{'x':1},'indexes':[" ID END "- the validator of shop.a left out: it may concern x\n"},
    {"unset", "{'in':'a','fields':['x.y']}", VALID("{'$and':[{'q':1},{'$or':[{'x.z':1}]}]}"),
     "{'options':{'x':1},'indexes':[" ID END "..."},
    {"unset", "{'in':'a','fields':['x']}", VALID("{'$expr':{'$gt':['$q','$x.z']}}"),
     "{'options':{'x':1},'indexes':[" ID END "..."},
    {"unset", "{'in':'a','fields':['x']}", VALID("{'$expr':{'$gt':['$$ROOT.x',1]}}"),
     "{'options':{'x':1},'indexes':[" ID END "..."},
    {"unset", "{'in':'a','fields':['x']}", VALID("{'$expr':{'$gt':['$$ROOT',1]}}"),
     "{'options':{'x':1},'indexes':[" ID END "..."},
    {"unset", "{'in':'a','fields':['x']}", VALID("{'$jsonSchema':{'required':['a','x']}}"),
     "{'options':{'x':1},'indexes':[" ID END "..."},
    {"unset", "{'in':'a','fields':['x']}", VALID("{'$jsonSchema':{'properties':{'x':{'bsonType':'int'}}}}"),
     "{'options':{'x':1},'indexes':[" ID END "..."},
    {"unset", "{'in':'a','fields':['x']}", VALID("{'$jsonSchema':{'additionalProperties':false,"
     "'properties':{'q':{}}}}"),
     "{'options':{'x':1},'indexes':[" ID END "..."},
    {"unset", "{'in':'a','fields':['x']}", VALID("{'q':{'$gt':1},'xx':1,'$expr':{'$eq':['$xx','$$NOW']}}"),
     "{'options':{'validator':{'q':{'$gt':1},'xx':1,'$expr':{'$eq':['$xx','$$NOW']}},'validationLevel':'off',"
     "'x':1},'indexes':[" ID END},
};

static void
rewritten(void **arg)
{
    (void)arg;
    bench_catalogs(in_place, BENCH_N(in_place));
    bench_catalog_torture(in_place, BENCH_N(in_place));
}

/* ---- carried ---- */
struct carried {
    const char *from, *into; /* indexes beside `_id_` */
    struct mrsi_move move[3];
    bool others_lost;
    unsigned lose;
    const char *want; /* indexes of into as an array, then notes */
};

#define EMBED {{"postId", NULL}, {"", "comments"}, {NULL, NULL}}, false, \
              MRSI_LOSE_UNIQUE | MRSI_LOSE_SPARSE | MRSI_LOSE_PARTIAL | MRSI_LEAVE_TTL | MRSI_LEAVE_HASHED
#define EXTRACT {{"items", ""}, {"_id", "parent"}, {NULL, NULL}}, true, \
                MRSI_LOSE_UNIQUE | MRSI_LOSE_PARTIAL | MRSI_LEAVE_TTL

static const struct carried carried[] = {
    {"{'v':2,'key':{'x':1},'name':'x_1'}", "", EMBED, "{'v':2,'key':{'comments.x':1},'name':'comments.x_1'}]"},
    {"{'v':2,'key':{'postId':1},'name':'postId_1'}", "", EMBED, "]"},
    {"{'v':2,'key':{'postId':1,'x':1},'name':'c'}", "", EMBED,
     "]\n- index c of shop.f is not copied to shop.i: it needs paths that are not there: postId"},
    {"{'v':2,'key':{'x':1},'name':'mine','unique':true,'sparse':true},{'v':2,'key':{'y':1},'name':'y_1',"
     "'partialFilterExpression':{'postId':1}}",
     "", EMBED, "{'v':2,'key':{'comments.x':1},'name':'mine'},{'v':2,'key':{'comments.y':1},'name':'comments.y_1'}]\n"
     "- index mine of shop.f, carried to shop.i, is no longer unique and sparse: why\n"
     "- index y_1 of shop.f, carried to shop.i, is no longer partial: why"},
    {"{'v':2,'key':{'x':1},'name':'x_1','expireAfterSeconds':1},{'v':2,'key':{'x':'hashed'},'name':'x_hashed'}",
     "", EMBED,
     "]\n- index x_1 of shop.f is not copied to shop.i: it would expire other documents than before\n"
     "- index x_hashed of shop.f is not copied to shop.i: a hashed index cannot hold an array"},
    {"{'v':2,'key':{'x':1},'name':'x_1'}", "{'v':2,'key':{'comments.x':1.0},'name':'there'}", EMBED,
     "{'v':2,'key':{'comments.x':1.0},'name':'there'}]"},
    {"{'v':2,'key':{'x':1},'name':'mine'}", "{'v':2,'key':{'z':1},'name':'mine'}", EMBED,
     "{'v':2,'key':{'z':1},'name':'mine'},{'v':2,'key':{'comments.x':1},'name':'mine_'}]"},
    {"{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'x_text_y_text','weights':{'x':1,'y':2}},{'v':2,"
     "'key':{'$**':1},'name':'$**_1'}", "", EMBED,
     "{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'comments.x_text_comments.y_text','weights':{'comments.x':1,"
     "'comments.y':2}},"
     "{'v':2,'key':{'comments.$**':1},'name':'comments.$**_1'}]"},
    {"{'v':2,'key':{'_fts':'text','_ftsx':1},'name':'t','weights':{'$**':1}},{'v':2,'key':{'p':1,'_fts':'text',"
     "'_ftsx':1},'name':'u','weights':{'x':1}},{'v':2,'key':{'x':1},'name':'q','prepareUnique':true}", "", EMBED,
     "{'v':2,'key':{'comments.x':1},'name':'q'}]\n"
     "- index t of shop.f is not copied to shop.i: a text index over all fields cannot be limited to a part of the "
     "document\n"
     "- index u of shop.f is not copied to shop.i: a text index takes no array among its other keys\n"
     "- index q of shop.f, carried to shop.i, is no longer unique: why"},
    {"{'v':2,'key':{'x':1},'name':'q','unique':true}", "{'v':2,'key':{'x':1},'name':'r'}", {{NULL, NULL}}, false, 0,
     "{'v':2,'key':{'x':1},'name':'r'}]\n"
     "- index q of shop.f is not copied to shop.i: r has the same key there, with other options"},
    {"{'v':2,'key':{'$**':1},'name':'w','wildcardProjection':{'items.x':1,'y':1}},{'v':2,'key':{'x':1},'name':'x_1'}",
     "", {{"items", ""}, {NULL, NULL}}, true, MRSI_WHOLE,
     "{'v':2,'key':{'$**':1},'name':'w','wildcardProjection':{'x':1}}]\n"
     "- index w of shop.f, carried to shop.i, takes in fewer fields: some are not there\n"
     "- index x_1 of shop.f is not copied to shop.i: it needs paths that are not there: x"},
    {"{'v':2,'key':{'items.x':1},'name':'items.x_1','unique':true},{'v':2,'key':{'y':1},'name':'y_1'},{'v':2,"
     "'key':{'y':1,'items.x':1},'name':'yx'},"
     "{'v':2,'key':{'items':1},'name':'items_1'},{'v':2,'key':{'items._id':1},'name':'items._id_1'},{'v':2,"
     "'key':{'$**':1},'name':'$**_1'},"
     "{'v':2,'key':{'items.$**':1},'name':'items.$**_1'},{'v':2,'key':{'_id':1,'items.z':1},'name':'pz'}", "",
     EXTRACT,
     "{'v':2,'key':{'x':1},'name':'x_1'},{'v':2,'key':{'$**':1},'name':'$**_1'},{'v':2,'key':{'parent':1,'z':1},"
     "'name':'pz'}]\n"
     "- index items.x_1 of shop.f, carried to shop.i, is no longer unique: why\n"
     "- index yx of shop.f is not copied to shop.i: it needs paths that are not there: y\n"
     "- index $**_1 of shop.f is not copied to shop.i: it covers all fields there: make one with the step `index` "
     "where it is wanted"},
    {"{'v':2,'key':{'items.x':1},'name':'i','sparse':true,'partialFilterExpression':{'items.x':{'$gt':1}}}", "",
     EXTRACT,
     "{'v':2,'key':{'x':1},'name':'i','sparse':true}]\n- index i of shop.f, carried to shop.i, is no longer "
     "partial: why"},
    {"{'v':2,'key':{'items.x':1},'name':'i','partialFilterExpression':{'items.x':{'$gt':1}}},"
     "{'v':2,'key':{'items.y':1},'name':'j','partialFilterExpression':{'q':{'$gt':1}}}", "",
     {{"items", ""}, {NULL, NULL}}, true, 0, "{'v':2,'key':{'x':1},'name':'i',"
     "'partialFilterExpression':{'x':{'$gt':1}}}]\n"
     "- index j of shop.f is not copied to shop.i: it needs paths that are not there: q"},
    {"{'v':2,'key':{'a':1,'items.x':1},'name':'i'}", "", {{"items", ""}, {NULL, NULL}}, true, MRSI_QUIET, "]"},
};

static bool
run_carried(const struct carried *k, uint64_t fail_at)
{
    static char text[BENCH_TEXT], got[BENCH_TEXT], want[BENCH_TEXT];
    struct mrs_mem *mem = mrs_mem_new(fail_at);
    struct mrs_catalog *cat = NULL;
    struct mrs_err err;
    mrs_err_clear(&err);
    enum mrs_status s = mrs_catalog_new(mem, &cat, &err);
    for (int i = 0; i < 2 && s == MRS_OK; i++) {
        struct mrs_view d;
        const char *own = i ? k->into : k->from;
        snprintf(text, sizeof text, "{'indexes':[" ID "%s%s]}", *own ? "," : "", own);
        uint8_t *p = bench_doc(text, &d);
        s = mrs_catalog_add(cat, "shop", i ? "i" : "f", d, &err);
        free(p);
    }
    struct mrsi_moves moves = {.move = k->move, .others_lost = k->others_lost};
    while (moves.n < 3 && k->move[moves.n].from) {
        moves.n++;
    }
    struct mrsi_carry how = {.moves = &moves, .lose = k->lose, .why = "why"};
    if (s == MRS_OK) {
        s = mrsi_indexes_carry(cat, mrs_catalog_at(cat, 0), mrs_catalog_at(cat, 1), &how, &err);
    }
    if (s == MRS_OK) {
        struct mrs_cat_coll *cc = mrs_catalog_at(cat, 1);
        got[0] = 0;
        for (uint32_t i = 1; i < cc->n_index; i++) {
            strcat(got, i > 1 ? "," : "");
            bench_put_doc(got, cc->index[i], false);
        }
        strcat(got, "]");
        for (uint32_t i = 0; i < mrs_catalog_notes(cat); i++) {
            strcat(strcat(got, "\n- "), mrs_catalog_note_at(cat, i));
        }
        bench_quotes(k->want, want);
        if (strcmp(got, want) != 0) {
            fail_msg("%s\n got %s\n want %s", k->from, got, want);
        }
    } else {
        assert_int_equal(s, MRS_DEAD);
        assert_int_equal(err.code, MRS_E_MEMORY);
    }
    mrs_catalog_free(cat);
    assert_int_equal(mrs_mem_close(mem), 0);
    return s == MRS_OK;
}

static void
carries(void **arg)
{
    (void)arg;
    for (size_t i = 0; i < BENCH_N(carried); i++) {
        assert_true(run_carried(&carried[i], 0));
        for (uint64_t at = 1; !run_carried(&carried[i], at); at++) {
            assert_true(at < 1000);
        }
    }
}

static void
references(void **arg)
{
    (void)arg;
    static const char *const one[] = {"postId"}, *const two[] = {"by.k", "start"}, *const id[] = {"_id"};
    static char got[BENCH_TEXT], want[BENCH_TEXT];
    for (uint64_t at = 0; at < 60; at++) {
        struct mrs_mem *mem = mrs_mem_new(at);
        struct mrs_catalog *cat = NULL;
        struct mrs_err err;
        struct mrs_view d;
        mrs_err_clear(&err);
        uint8_t *p = bench_doc("{'indexes':[" ID ",{'v':2,'key':{'z':1},'name':'by.k_1_start_1'}]}", &d);
        enum mrs_status s = mrs_catalog_new(mem, &cat, &err);
        s = s == MRS_OK ? mrs_catalog_add(cat, "shop", "a", d, &err) : s;
        free(p);
        for (int i = 0; i < 2 && s == MRS_OK; i++) {
            s = mrsi_index_reference(cat, mrs_catalog_at(cat, 0), one, 1, &err);
            s = s == MRS_OK ? mrsi_index_reference(cat, mrs_catalog_at(cat, 0), two, 2, &err) : s;
            s = s == MRS_OK ? mrsi_index_reference(cat, mrs_catalog_at(cat, 0), id, 1, &err) : s;
        }
        if (s == MRS_OK) {
            mrs_catalog_at(cat, 0)->touched = true;
            got[0] = 0;
            bench_catalog_text(cat, got);
            bench_quotes("{'indexes':[" ID ",{'v':2,'key':{'z':1},'name':'by.k_1_start_1'},{'v':2,"
            "'key':{'postId':1},'name':'postId_1'},"
                         "{'v':2,'key':{'by.k':1,'start':1},'name':'by.k_1_start_1_'}" END, want);
            assert_string_equal(got, want);
        } else {
            assert_int_equal(s, MRS_DEAD);
            assert_true(at > 0);
        }
        mrs_catalog_free(cat);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

/* ---- superfluous ones ---- */
static const struct surplus {
    const char *index; /* of the collection as it is found */
    bool all;
    const char *want;
} surplus[] = {
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':-1,'b':1},'name':'l'}", true, "s:l"},
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':1,'b':1},'name':'l'}", false, ""},
    {"{'v':2,'key':{'a':1,'b':-1},'name':'s'},{'v':2,'key':{'a':-1.0,'b':1,'c':1},'name':'l'}", true, "s:l"},
    {"{'v':2,'key':{'a':1,'b':1},'name':'s'},{'v':2,'key':{'a':1,'b':-1,'c':1},'name':'l'}", true, ""},
    {"{'v':2,'key':{'b':1},'name':'s'},{'v':2,'key':{'a':1,'b':1},'name':'l'}", true, ""},
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':-1},'name':'l'}", true, ""},
    {"{'v':2,'key':{'a':1},'name':'s','unique':true},{'v':2,'key':{'a':1,'b':1},'name':'l','unique':true}", true, ""},
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':1,'b':1},'name':'l','unique':true}", true, "s:l"},
    {"{'v':2,'key':{'a':1},'name':'s','sparse':true},{'v':2,'key':{'a':1,'b':1},'name':'l'}", true, ""},
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':1,'b':1},'name':'l','sparse':true}", true, ""},
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':1,'b':1},'name':'l','hidden':true}", true, ""},
    {"{'v':2,'key':{'a':1},'name':'s','expireAfterSeconds':1},{'v':2,'key':{'a':1,'b':1},'name':'l'}", true, ""},
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':1,'b':1},'name':'l','partialFilterExpression':{'b':1}}", true,
     ""},
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':1,'b':1},'name':'l','collation':{'locale':'fr'}}", true, ""},
    {"{'v':2,'key':{'a':1},'name':'s','collation':{'locale':'fr'}},{'v':2,'key':{'a':1,'b':1},'name':'l',"
     "'collation':{'locale':'fr'}}", true, "s:l"},
    {"{'v':2,'key':{'a':1},'name':'s'},{'v':2,'key':{'a':1,'b':'2dsphere'},'name':'l'}", true, ""},
    {"{'v':2,'key':{'a':'hashed'},'name':'s'},{'v':2,'key':{'a':'hashed','b':1},'name':'l'}", true, ""},
    {"{'v':2,'key':{'$**':1},'name':'s'},{'v':2,'key':{'a':1,'$**':1},'name':'l',"
     "'wildcardProjection':{'a':0}}", true, ""},
    {"{'v':2,'key':{'_id':1,'b':1},'name':'l'}", true, ""},
};

static bool
run_surplus(const struct surplus *k, uint64_t fail_at)
{
    char text[600], want[200] = "", s[20], l[20];
    struct mrs_mem *mem = mrs_mem_new(fail_at);
    struct mrs_catalog *cat = NULL;
    struct mrs_view d;
    struct mrs_err err;
    mrs_err_clear(&err);
    snprintf(text, sizeof text, "{'indexes':[" ID ",%s]}", k->index);
    uint8_t *p = bench_doc(text, &d);
    enum mrs_status st = mrs_catalog_new(mem, &cat, &err);
    st = st == MRS_OK ? mrs_catalog_add(cat, "shop", "a", d, &err) : st;
    free(p);
    if (st == MRS_OK) {
        mrs_catalog_at(cat, 0)->touched = true;
        st = mrs_catalog_surplus(cat, k->all, &err);
    }
    if (st == MRS_OK) {
        if (sscanf(k->want, "%19[^:]:%19s", s, l) == 2) {
            snprintf(want, sizeof want, "index %s of shop.a is redundant: %s begins with the same keys", s, l);
        }
        assert_int_equal(mrs_catalog_notes(cat), *want != 0);
        assert_string_equal(*want ? mrs_catalog_note_at(cat, 0) : "", want);
    } else {
        assert_int_equal(st, MRS_DEAD);
        assert_int_equal(err.code, MRS_E_MEMORY);
    }
    mrs_catalog_free(cat);
    assert_int_equal(mrs_mem_close(mem), 0);
    return st == MRS_OK;
}

static void
superfluous(void **arg)
{
    (void)arg;
    for (size_t i = 0; i < BENCH_N(surplus); i++) {
        assert_true(run_surplus(&surplus[i], 0));
        for (uint64_t at = 1; !run_surplus(&surplus[i], at); at++) {
            assert_true(at < 1000);
        }
    }
}

static void
plain_paths(void **arg)
{
    (void)arg;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_arena a;
    struct mrs_view d;
    struct mrs_path p;
    static const char *const yes[] = {"{'p':'a.b'}", "{'p':['a','b']}"}, *const no[] = {"{'p':['a.b']}",
     "{'p':['a','$b']}"};
    mrs_arena_init(&a, mem);
    for (int i = 0; i < 4; i++) {
        uint8_t *bytes = bench_doc(i < 2 ? yes[i] : no[i - 2], &d);
        assert_int_equal(mrs_path_compile(&a, mrs_doc_get(d, "p"), true, &p, NULL), MRS_OK);
        assert_int_equal(mrsi_index_plain(&p), i < 2);
        free(bytes);
    }
    mrs_arena_clear(&a);
    assert_int_equal(mrs_mem_close(mem), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewritten), cmocka_unit_test(carries), cmocka_unit_test(references),
        cmocka_unit_test(superfluous),
        cmocka_unit_test(plain_paths),
    };
    return cmocka_run_group_tests_name("steps: indexes", tests, NULL, NULL);
}
