/* SPDX-License-Identifier: Apache-2.0 */
/* connection_watch.c - a change stream as a watch for writes that are not ours.
 *
 * One stream serves any number of collections: on one collection, on a database, or on the whole deployment where they
 * lie in several, with a filter by namespace that also lets through what happens to a collection as a whole (dropped,
 * renamed, another renamed over it). It must not know which writes are foreign: the caller does. */
#include "connection_driver.h"

#include <stdio.h>

struct live_watch {
    struct live_link *l;
    mongoc_change_stream_t *stream;
};

/* [{$match: {$or: [{"ns.db", "ns.coll"}, {"to.db", "to.coll"}, ..., {operationType}]}}] */
static enum mrs_status
make_pipeline(struct mrs_mem *mem, const struct mrs_coll *const *colls, uint32_t n, struct mrs_buf *out,
              struct mrs_view *pipeline, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_buf alternatives;
    struct mrs_build b;
    struct mrs_view list, one;
    enum mrs_status s = MRS_OK;
    mrs_arena_init(&a, mem);
    mrs_buf_init(&alternatives, mem, MRS_DOC_MAX);
    mrs_build_init(&b, &alternatives);
    for (uint32_t i = 0; i < 2 * n + 1 && s == MRS_OK; i++) {
        char name[12];
        const struct mrs_coll *c = colls[i / 2 < n ? i / 2 : 0];
        if (i == 2 * n) {
            s = live_doc_in(&a, &one, e, "{operationType:{$in:['dropDatabase','invalidate']}}");
        } else if (i % 2 == 0) {
            s = live_doc_in(&a, &one, e, "{ns.db:%s, ns.coll:%s}", c->db, c->coll);
        } else {
            s = live_doc_in(&a, &one, e, "{to.db:%s, to.coll:%s}", c->db, c->coll);
        }
        if (s == MRS_OK) {
            mrs_build_val(&b, name, mrs_index_name(name, i), mrs_view_val(one));
        }
    }
    if (s == MRS_OK) {
        s = mrs_build_finish(&b, &list, e);
    }
    if (s == MRS_OK) {
        s = live_doc(out, pipeline, e, "[{$match:{$or:%a}}]", list);
    }
    mrs_buf_clear(&alternatives);
    mrs_arena_clear(&a);
    return s;
}

static mongoc_change_stream_t *
start(struct live_link *l, const struct mrs_coll *const *colls, uint32_t n, const bson_t *pipeline, const bson_t *opts)
{
    mongoc_change_stream_t *stream;
    bool one_db = true;
    for (uint32_t i = 1; i < n; i++) {
        one_db = one_db && strcmp(colls[i]->db, colls[0]->db) == 0;
    }
    if (n == 1) {
        mongoc_collection_t *c = mongoc_client_get_collection(l->client, colls[0]->db, colls[0]->coll);
        stream = mongoc_collection_watch(c, pipeline, opts);
        mongoc_collection_destroy(c);
    } else if (one_db) {
        mongoc_database_t *db = mongoc_client_get_database(l->client, colls[0]->db);
        stream = mongoc_database_watch(db, pipeline, opts);
        mongoc_database_destroy(db);
    } else {
        stream = mongoc_client_watch(l->client, pipeline, opts);
    }
    return stream;
}

enum mrs_status
live_watch_open(struct live_link *l, const struct mrs_coll *const *colls, uint32_t n, struct live_watch **out,
                struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_view pipeline;
    bson_t p, opts = BSON_INITIALIZER;
    const bson_t *reply = NULL;
    bson_error_t error;
    *out = NULL;
    if (n == 0 || !l->replicated) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a watch needs collections and a replica set");
    }
    struct live_watch *w = mrs_zalloc(l->mem, sizeof *w);
    if (!w) {
        return mrs_err_memory(e, sizeof *w);
    }
    w->l = l;
    mrs_buf_init(&buf, l->mem, MRS_DOC_MAX);
    BSON_APPEND_INT64(&opts, "maxAwaitTimeMS", 1);
    if (l->comment[0]) {
        BSON_APPEND_UTF8(&opts, "comment", l->comment);
    }
    enum mrs_status s = make_pipeline(l->mem, colls, n, &buf, &pipeline, e);
    if (s == MRS_OK) {
        s = live_bytes(pipeline, &p, e);
    }
    if (s == MRS_OK) {
        w->stream = start(l, colls, n, &p, &opts);
        if (mongoc_change_stream_error_document(w->stream, &error, &reply)) {
            s = live_fault_tell(l, "change stream", &error, reply, NULL, e);
        }
    }
    bson_destroy(&opts);
    mrs_buf_clear(&buf);
    if (s != MRS_OK) {
        live_watch_close(w);
        return s;
    }
    *out = w;
    return MRS_OK;
}

enum mrs_status
live_watch_next(struct live_watch *w, struct mrs_view *event, struct live_fault *f, struct mrs_err *e)
{
    const bson_t *b, *reply = NULL;
    bson_error_t error;
    struct live_fault own;
    f = f ? f : &own;
    memset(f, 0, sizeof *f);
    if (mongoc_change_stream_next(w->stream, &b)) {
        event->p = bson_get_data(b);
        event->n = b->len;
        return mrs_doc_check(event->p, event->n, MRS_DEPTH_READ, e);
    }
    if (mongoc_change_stream_error_document(w->stream, &error, &reply)) {
        return live_fault_tell(w->l, "change stream", &error, reply, f, e);
    }
    return MRS_END;
}

void
live_watch_close(struct live_watch *w)
{
    if (w) {
        if (w->stream) {
            mongoc_change_stream_destroy(w->stream);
        }
        mrs_free(w->l->mem, w);
    }
}
