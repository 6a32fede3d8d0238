/* SPDX-License-Identifier: Apache-2.0 */
/* Writers and their documents: what they write, and a model of what must be there afterwards.
 *
 * Each writer has documents of its own, so that the last acknowledged write of each is known exactly: the model holds
 * its bytes, and a test compares bytes. Updates set fields that are there, one new field at a time, so that the order
 * of fields is known, too. A write that the server puts off (a transaction of the tool holds the document) is tried
 * again; one that finds no document where there must be one is a finding. */
#include "writers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const writers_op_names[N_KINDS] = {"insert-parent",  "update-parent", "replace-parent", "delete-parent",
                                               "reinsert-parent", "insert-child",  "update-child",   "move-child",
                                               "delete-child",    "reinsert-child", "all",           "nothing",
                                               "kill",            "swarm"};
enum { CROWD = 60 };
static _Atomic int items;

const char *
writers_coll(int coll)
{
    return coll == POSTS ? "posts" : "comments";
}

uint64_t
writers_random(uint64_t *state, uint64_t n)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return n ? (z ^ (z >> 31)) % n : 0;
}

static int
pick_number(struct writer *w, int n)
{
    return (int)writers_random(&w->random, (uint64_t)n);
}

/* `_id`s of several types, so that ranges meet them mixed. */
void
writers_id(int coll, int id, bson_value_t *out)
{
    static _Thread_local char text[16];
    memset(out, 0, sizeof *out);
    if (coll == POSTS && id % 4 == 3) {
        int n = snprintf(text, sizeof text, "p%04d", id);
        out->value_type = BSON_TYPE_UTF8;
        out->value.v_utf8.str = text;
        out->value.v_utf8.len = (uint32_t)n;
    } else {
        out->value_type = BSON_TYPE_INT32;
        out->value.v_int32 = coll == POSTS ? id : CHILD_IDS + id;
    }
}

static void
append_text(bson_t *doc, const char *name, char first, int n)
{
    char text[16];
    snprintf(text, sizeof text, "%c%d", first, n);
    BSON_APPEND_UTF8(doc, name, text);
}

static void
append_token(struct writer *w, bson_t *doc)
{
    char text[32];
    snprintf(text, sizeof text, "w%d.%d", w->no, ++w->tokens);
    BSON_APPEND_UTF8(doc, "tok", text);
}

static void
append_item(bson_t *list, unsigned at, int id, int q)
{
    char key[16];
    bson_t item = BSON_INITIALIZER;
    snprintf(key, sizeof key, "%u", at);
    BSON_APPEND_INT32(&item, "_id", id);
    BSON_APPEND_INT32(&item, "q", q);
    BSON_APPEND_DOCUMENT(list, key, &item);
    bson_destroy(&item);
}

static int
any_id(struct writer *w, int coll)
{
    int from = pick_number(w, IDS_MAX);
    for (int i = 0; i < IDS_MAX; i++) {
        int id = (from + i) % IDS_MAX;
        if (id % w->of == w->no && w->model->doc[coll][id]) {
            return id;
        }
    }
    return -1;
}

/* Whether there are so many that one should go before another one comes. */
static bool
crowded(struct writer *w, int coll)
{
    int n = 0;
    for (int i = w->no; i < IDS_MAX; i += w->of) {
        n += w->model->doc[coll][i] != NULL;
    }
    return n > CROWD / w->of;
}

static int
new_id(struct writer *w, int coll)
{
    int *next = &w->next[coll];
    for (; *next < IDS_MAX && (*next % w->of != w->no || w->model->doc[coll][*next]); ++*next) {
    }
    return *next < IDS_MAX ? (*next)++ : -1;
}

static void
append_parent(struct writer *w, bson_t *doc)
{
    int id = any_id(w, POSTS);
    bson_value_t v;
    writers_id(POSTS, id >= 0 && pick_number(w, 8) ? id : 9999, &v);
    BSON_APPEND_VALUE(doc, "postId", &v);
}

static void
append_number(struct writer *w, bson_t *doc)
{
    int n = pick_number(w, 3);
    if (pick_number(w, 2)) {
        BSON_APPEND_INT32(doc, "d", n);
    } else {
        BSON_APPEND_DOUBLE(doc, "d", n);
    }
}

static void
append_items(struct writer *w, bson_t *doc)
{
    bson_t list;
    int n = pick_number(w, 4);
    BSON_APPEND_ARRAY_BEGIN(doc, "items", &list);
    for (int i = 0; i < n; i++) {
        append_item(&list, (unsigned)i, ++items, pick_number(w, 9));
    }
    bson_append_array_end(doc, &list);
}

static void
append_parts(struct writer *w, bson_t *doc)
{
    bson_t list;
    int n = pick_number(w, 3);
    BSON_APPEND_ARRAY_BEGIN(doc, "parts", &list);
    for (int i = 0; i < n; i++) {
        char key[16];
        bson_value_t v;
        int id = any_id(w, COMMENTS);
        writers_id(COMMENTS, id < 0 ? 3999 : id, &v);
        snprintf(key, sizeof key, "%d", i);
        BSON_APPEND_VALUE(&list, key, &v);
    }
    bson_append_array_end(doc, &list);
}

static void
append_inner(struct writer *w, bson_t *doc)
{
    bson_t inner;
    BSON_APPEND_DOCUMENT_BEGIN(doc, "s", &inner);
    append_text(&inner, "t", 't', pick_number(w, 9));
    BSON_APPEND_INT32(&inner, "u", pick_number(w, 5));
    bson_append_document_end(doc, &inner);
}

bson_t *
writers_make(struct writer *w, int coll, int id)
{
    bson_t *doc = bson_new();
    bson_value_t v;
    writers_id(coll, id, &v);
    BSON_APPEND_VALUE(doc, "_id", &v);
    if (coll == POSTS) {
        append_text(doc, "a", 'a', pick_number(w, 9));
        append_text(doc, "b", 'b', pick_number(w, 4));
        append_number(w, doc);
        append_items(w, doc);
        append_parts(w, doc);
        append_inner(w, doc);
    } else {
        append_parent(w, doc);
        append_text(doc, "text", 't', pick_number(w, 9));
        BSON_APPEND_INT32(doc, "n", pick_number(w, 5));
    }
    append_token(w, doc);
    return doc;
}

void
writers_fill(struct writer *w, int posts, int comments)
{
    for (int id = 1; id <= posts; id++) {
        w->model->doc[POSTS][id] = writers_make(w, POSTS, id);
    }
    for (int id = 1; id <= comments; id++) {
        w->model->doc[COMMENTS][id] = writers_make(w, COMMENTS, id);
    }
    for (int id = 1; id <= posts; id++) { /* now that there are comments to refer to */
        bson_destroy(w->model->doc[POSTS][id]);
        w->model->doc[POSTS][id] = writers_make(w, POSTS, id);
    }
}

void
writers_clear(struct model *m)
{
    for (int c = 0; c < N_COLLS; c++) {
        for (int i = 0; i < IDS_MAX; i++) {
            if (m->doc[c][i]) {
                bson_destroy(m->doc[c][i]);
            }
            m->doc[c][i] = NULL;
        }
    }
}

/* Fields of a document, or of one in it, whose names begin with `above`, less those named. */
static void
put_less(bson_iter_t *it, const char *above, const char *const *claims, bson_t *out)
{
    while (bson_iter_next(it)) {
        char path[64];
        bool claimed = false, inside = false;
        size_t n = (size_t)snprintf(path, sizeof path, "%s%s", above, bson_iter_key(it));
        for (int i = 0; i < CLAIMS_MAX && claims[i]; i++) {
            claimed = claimed || strcmp(claims[i], path) == 0;
            inside = inside || (strncmp(claims[i], path, n) == 0 && claims[i][n] == '.');
        }
        bson_iter_t below;
        if (inside && BSON_ITER_HOLDS_DOCUMENT(it) && bson_iter_recurse(it, &below)) {
            bson_t inner;
            BSON_APPEND_DOCUMENT_BEGIN(out, bson_iter_key(it), &inner);
            snprintf(path + n, sizeof path - n, ".");
            put_less(&below, path, claims, &inner);
            bson_append_document_end(out, &inner);
        } else if (!claimed) {
            bson_append_iter(out, NULL, 0, it);
        }
    }
}

bson_t *
writers_less(const bson_t *doc, const char *const *claims)
{
    bson_t *out = bson_new();
    bson_iter_t it;
    if (bson_iter_init(&it, doc)) {
        put_less(&it, "", claims, out);
    }
    return out;
}

/* ---- writes ---- */
static mongoc_collection_t *
handle(struct writer *w, int coll)
{
    return mongoc_client_get_collection(w->client, w->db, writers_coll(coll));
}

/* Whether a failed write is to be tried again: nothing of it was done. */
static bool
put_off(const bson_error_t *e, int *tries)
{
    static const int codes[] = {112, 24, 50, 251, 246, 11602};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if ((int)e->code == codes[i] && ++*tries < 2000) {
            usleep(5000);
            return true;
        }
    }
    return false;
}

static void
wrong(struct writer *w, const char *what, int coll, int id, const char *why)
{
    if (!*w->wrong) {
        snprintf(w->wrong, sizeof w->wrong, "%s of %s %d: %.300s", what, writers_coll(coll), id, why);
    }
}

static long
count_of(const bson_t *reply, const char *name)
{
    bson_iter_t it;
    return bson_iter_init_find(&it, reply, name) && BSON_ITER_HOLDS_NUMBER(&it) ? (long)bson_iter_as_int64(&it) : -1;
}

enum verb { INSERT, SET, REPLACE, DELETE };

/* One acknowledged write; then the model says so. after: NULL: deleted. change: of SET. */
static void
put(struct writer *w, enum verb verb, int coll, int id, const bson_t *change, bson_t *after)
{
    static const char *const names[] = {"insert", "update", "replacement", "delete"};
    static const char *const counts[] = {"insertedCount", "matchedCount", "matchedCount", "deletedCount"};
    mongoc_collection_t *c = handle(w, coll);
    bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER, reply;
    bson_error_t e;
    bson_value_t v;
    int tries = 0;
    bool ok;
    writers_id(coll, id, &v);
    BSON_APPEND_VALUE(&filter, "_id", &v);
    if (change) {
        BSON_APPEND_DOCUMENT(&update, "$set", change);
    }
    for (;;) {
        ok = verb == INSERT    ? mongoc_collection_insert_one(c, after, NULL, &reply, &e)
             : verb == SET     ? mongoc_collection_update_one(c, &filter, &update, NULL, &reply, &e)
             : verb == REPLACE ? mongoc_collection_replace_one(c, &filter, after, NULL, &reply, &e)
                               : mongoc_collection_delete_one(c, &filter, NULL, &reply, &e);
        if (ok || !put_off(&e, &tries)) {
            break;
        }
        bson_destroy(&reply);
    }
    if (!ok) {
        wrong(w, names[verb], coll, id, e.message);
    } else if (count_of(&reply, counts[verb]) != 1) {
        wrong(w, names[verb], coll, id, "the document was not there");
    }
    w->writes++;
    bson_destroy(&reply);
    bson_destroy(&filter);
    bson_destroy(&update);
    mongoc_collection_destroy(c);
    bson_t *before = w->model->doc[coll][id];
    w->model->doc[coll][id] = after;
    if (before) {
        bson_destroy(before);
    }
}

/* doc with the fields of change in it: in their places, new ones at the end. */
static bson_t *
merged(const bson_t *doc, const bson_t *change)
{
    bson_t *out = bson_new();
    bson_iter_t it, in;
    for (bool ok = bson_iter_init(&it, doc) && bson_iter_next(&it); ok; ok = bson_iter_next(&it)) {
        if (bson_iter_init_find(&in, change, bson_iter_key(&it))) {
            bson_append_iter(out, NULL, 0, &in);
        } else {
            bson_append_iter(out, NULL, 0, &it);
        }
    }
    for (bool ok = bson_iter_init(&in, change) && bson_iter_next(&in); ok; ok = bson_iter_next(&in)) {
        if (!bson_iter_init_find(&it, doc, bson_iter_key(&in))) {
            bson_append_iter(out, NULL, 0, &in);
        }
    }
    return out;
}

static void
set(struct writer *w, int coll, int id, const bson_t *change)
{
    put(w, SET, coll, id, change, merged(w->model->doc[coll][id], change));
}

static void
put_gone(struct writer *w, int coll)
{
    int id = any_id(w, coll);
    if (id >= 0) {
        put(w, DELETE, coll, id, NULL, NULL);
    }
}

static void
put_new(struct writer *w, int coll)
{
    if (crowded(w, coll)) {
        put_gone(w, coll);
    }
    int id = new_id(w, coll);
    if (id >= 0) {
        put(w, INSERT, coll, id, NULL, writers_make(w, coll, id));
    }
}

static void
put_again(struct writer *w, int coll)
{
    int id = any_id(w, coll);
    if (id >= 0) {
        put(w, DELETE, coll, id, NULL, NULL);
        put(w, INSERT, coll, id, NULL, writers_make(w, coll, id));
    }
}

static void
update_parent(struct writer *w)
{
    int id = any_id(w, POSTS), what = pick_number(w, w->rename_safe ? 1 : w->sc->new_fields ? 8 : 7);
    bson_t change = BSON_INITIALIZER;
    if (id < 0) {
        return;
    }
    switch (what) {
        case 1: append_text(&change, "a", 'a', pick_number(w, 9)); break;
        case 2: append_text(&change, "b", 'b', pick_number(w, 4)); break;
        case 3: append_number(w, &change); break;
        case 4: append_items(w, &change); break;
        case 5: append_parts(w, &change); break;
        case 6: append_inner(w, &change); break;
        case 7: append_text(&change, "x", 'x', pick_number(w, 4)); break;
        default: break;
    }
    if (what != 7) {
        append_token(w, &change);
    }
    set(w, POSTS, id, &change);
    bson_destroy(&change);
}

static void
update_child(struct writer *w, bool move)
{
    int id = any_id(w, COMMENTS);
    bson_t change = BSON_INITIALIZER;
    if (id < 0) {
        return;
    }
    if (move) {
        append_parent(w, &change);
    } else if (pick_number(w, 2)) {
        append_text(&change, "text", 't', pick_number(w, 9));
    } else {
        BSON_APPEND_INT32(&change, "n", pick_number(w, 5));
    }
    append_token(w, &change);
    set(w, COMMENTS, id, &change);
    bson_destroy(&change);
}

/* ---- children that are elements of their parent ---- */
/* The array of posts.id without its element `out` (-1: all stay), and with `more` at the end (NULL: none); the element
 * taken out goes to `taken`. */
static void
rearrange(struct writer *w, int id, const char *array, int out, const bson_t *more, bson_t *taken)
{
    bson_t change = BSON_INITIALIZER, list;
    bson_iter_t it, in;
    int i = 0;
    unsigned n = 0;
    char key[16];
    BSON_APPEND_ARRAY_BEGIN(&change, array, &list);
    if (bson_iter_init_find(&it, w->model->doc[POSTS][id], array) && bson_iter_recurse(&it, &in)) {
        for (; bson_iter_next(&in); i++) {
            if (i == out) {
                bson_append_iter(taken, "v", 1, &in);
                continue;
            }
            snprintf(key, sizeof key, "%u", n++);
            bson_append_iter(&list, key, -1, &in);
        }
    }
    if (more && bson_iter_init_find(&in, more, "v")) {
        snprintf(key, sizeof key, "%u", n);
        bson_append_iter(&list, key, -1, &in);
    }
    bson_append_array_end(&change, &list);
    append_token(w, &change);
    set(w, POSTS, id, &change);
    bson_destroy(&change);
}

static int
length_of(const bson_t *doc, const char *array)
{
    bson_iter_t it, in;
    int n = 0;
    if (bson_iter_init_find(&it, doc, array) && bson_iter_recurse(&it, &in)) {
        while (bson_iter_next(&in)) {
            n++;
        }
    }
    return n;
}

/* A parent that has elements, and one of them. */
static int
any_element(struct writer *w, const char *array, int *at)
{
    for (int i = 0; i < 50; i++) {
        int id = any_id(w, POSTS), n = id < 0 ? 0 : length_of(w->model->doc[POSTS][id], array);
        if (n) {
            *at = pick_number(w, n);
            return id;
        }
    }
    return -1;
}

static void
fresh_item(struct writer *w, bson_t *out)
{
    bson_t list = BSON_INITIALIZER;
    bson_iter_t it;
    append_item(&list, 0, ++items, pick_number(w, 9));
    if (bson_iter_init_find(&it, &list, "0")) {
        bson_append_iter(out, "v", 1, &it);
    }
    bson_destroy(&list);
}

static void
fresh_part(struct writer *w, bson_t *out)
{
    bson_value_t v;
    put_new(w, COMMENTS);
    int id = any_id(w, COMMENTS);
    writers_id(COMMENTS, id < 0 ? 3999 : id, &v);
    BSON_APPEND_VALUE(out, "v", &v);
}

static void
element(struct writer *w, enum op op, const char *array)
{
    int at = -1, id = op == OP_C_INSERT ? any_id(w, POSTS) : any_element(w, array, &at), to = any_id(w, POSTS);
    bson_t taken = BSON_INITIALIZER, more = BSON_INITIALIZER;
    bool is_item = strcmp(array, "items") == 0;
    if (id < 0) {
        bson_destroy(&taken);
        bson_destroy(&more);
        return;
    }
    if (op == OP_C_INSERT || op == OP_C_UPDATE) {
        (is_item ? fresh_item : fresh_part)(w, &more);
        rearrange(w, id, array, at, &more, &taken);
    } else {
        rearrange(w, id, array, at, NULL, &taken);
        if (op != OP_C_DELETE) {
            rearrange(w, op == OP_C_MOVE ? to : id, array, -1, &taken, NULL);
        }
    }
    bson_destroy(&taken);
    bson_destroy(&more);
}

static void
child(struct writer *w, enum op op)
{
    if (w->sc->children != BY_PARENT && pick_number(w, 4)) {
        element(w, op, w->sc->children == BY_ITEMS ? "items" : "parts");
        return;
    }
    switch (op) {
        case OP_C_INSERT: put_new(w, COMMENTS); break;
        case OP_C_UPDATE: update_child(w, false); break;
        case OP_C_MOVE: update_child(w, true); break;
        case OP_C_DELETE: put_gone(w, COMMENTS); break;
        default: put_again(w, COMMENTS); break;
    }
}

void
writers_do(struct writer *w, enum op op)
{
    int id;
    if (w->rename_safe && (op == OP_P_INSERT || op == OP_P_REPLACE || op == OP_P_REINSERT)) {
        op = OP_P_UPDATE;
    }
    switch (op) {
        case OP_P_INSERT: put_new(w, POSTS); break;
        case OP_P_UPDATE: update_parent(w); break;
        case OP_P_REPLACE:
            id = any_id(w, POSTS);
            if (id >= 0) {
                put(w, REPLACE, POSTS, id, NULL, writers_make(w, POSTS, id));
            }
            break;
        case OP_P_DELETE: put_gone(w, POSTS); break;
        case OP_P_REINSERT: put_again(w, POSTS); break;
        case OP_ALL:
            for (int i = 0; i < N_OPS; i++) {
                writers_do(w, (enum op)i);
            }
            break;
        default: child(w, op); break;
    }
}
