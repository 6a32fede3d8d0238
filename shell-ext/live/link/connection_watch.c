/* SPDX-License-Identifier: Apache-2.0 */
/* connection_watch.c - change streams: writes of all clients to some collections.
 *
 * One stream serves any number of collections: on one collection, on a database, or on the whole deployment if they are
 * in several databases, with a filter by namespace that also passes events of a whole collection (dropped, renamed,
 * another renamed over it). The caller decides which writes are foreign. */
#include "connection_driver.h"

struct live_watch {
    struct live_link *l;
    mongoc_change_stream_t *stream;
};

/* {$or: [{"ns.db", "ns.coll"}, {"to.db", "to.coll"}, ..., {operationType}]} */
static enum mrs_status
make_filter(const struct live_watch_opts *o, struct mrs_arena *a, struct mrs_view *filter, struct mrs_err *e)
{
    MRS_ASSERT(o->n > 0 && (!o->also || o->also_id));
    struct mrs_buf alternatives;
    struct mrs_build b;
    struct mrs_view list, one;
    enum mrs_status s = MRS_OK;
    uint32_t last = 2 * o->n;
    mrs_buf_init(&alternatives, a->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &alternatives);
    for (uint32_t i = 0; i <= last + (o->also != NULL) && s == MRS_OK; i++) {
        char name[12];
        const struct mrs_coll *c = i > last ? o->also : o->colls[i / 2 < o->n ? i / 2 : 0];
        if (i == last) {
            s = live_doc_in(a, &one, e, "{operationType:{$in:['dropDatabase','invalidate']}}");
        } else if (i > last) {
            s = live_doc_in(a, &one, e, "{ns.db:%s, ns.coll:%s, documentKey._id:{$eq:%s}}", c->db, c->coll, o->also_id);
        } else if (i % 2 == 0) {
            s = live_doc_in(a, &one, e, "{ns.db:%s, ns.coll:%s}", c->db, c->coll);
        } else {
            s = live_doc_in(a, &one, e, "{to.db:%s, to.coll:%s}", c->db, c->coll);
        }
        if (s == MRS_OK) {
            mrs_build_val(&b, name, mrs_index_name(name, i), mrs_view_val(one));
        }
    }
    MRS_THEN(s, mrs_build_finish(&b, &list, e));
    MRS_THEN(s, live_doc_in(a, filter, e, "{$or:%a}", list));
    mrs_buf_clear(&alternatives);
    return s;
}

static enum mrs_status
make_pipeline(const struct live_watch_opts *o, struct mrs_arena *a, struct mrs_view *pipeline, struct mrs_err *e)
{
    struct mrs_view filter;
    enum mrs_status s = make_filter(o, a, &filter, e);
    if (s != MRS_OK || !o->brief) {
        return s != MRS_OK ? s : live_doc_in(a, pipeline, e, "[{$match:%d}]", filter);
    }
    return live_doc_in(a, pipeline, e,
                       "[{$match:%d}, {$project:{operationType:1, ns:1, documentKey:1, "
                       "set:{$map:{input:{$objectToArray:'$updateDescription.updatedFields'}, in:'$$this.k'}}, "
                       "unset:'$updateDescription.removedFields', cut:'$updateDescription.truncatedArrays.field', "
                       "seq:'$updateDescription.updatedFields.seq'}}]",
                       filter);
}

static mongoc_change_stream_t *
start(struct live_link *l, const struct live_watch_opts *o, const bson_t *pipeline, const bson_t *opts)
{
    MRS_ASSERT(o->n > 0);
    mongoc_change_stream_t *stream;
    const struct mrs_coll *first = o->colls[0];
    bool one_db = !o->also || strcmp(o->also->db, first->db) == 0;
    for (uint32_t i = 1; i < o->n; i++) {
        one_db = one_db && strcmp(o->colls[i]->db, first->db) == 0;
    }
    if (o->n == 1 && !o->also) {
        mongoc_collection_t *c = mongoc_client_get_collection(l->client, first->db, first->coll);
        stream = mongoc_collection_watch(c, pipeline, opts);
        mongoc_collection_destroy(c);
    } else if (one_db) {
        mongoc_database_t *db = mongoc_client_get_database(l->client, first->db);
        stream = mongoc_database_watch(db, pipeline, opts);
        mongoc_database_destroy(db);
    } else {
        stream = mongoc_client_watch(l->client, pipeline, opts);
    }
    return stream;
}

static enum mrs_status
open_stream(struct live_watch *w, const struct live_watch_opts *o, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(!w->stream && (o->after.n == 0 || mrs_view_is_framed(o->after)));
    struct mrs_arena a;
    struct mrs_view pipeline;
    bson_t p, after, opts = BSON_INITIALIZER;
    const bson_t *reply = NULL;
    bson_error_t error;
    BSON_APPEND_INT64(&opts, "maxAwaitTimeMS", 1);
    if (w->l->comment[0]) {
        BSON_APPEND_UTF8(&opts, "comment", w->l->comment);
    }
    mrs_arena_init(&a, w->l->mem);
    enum mrs_status s = make_pipeline(o, &a, &pipeline, e);
    MRS_THEN(s, live_bytes(pipeline, &p, e));
    if (s == MRS_OK && o->after.n) {
        s = live_bytes(o->after, &after, e);
        if (s == MRS_OK && !BSON_APPEND_DOCUMENT(&opts, "resumeAfter", &after)) {
            s = mrs_err_memory(e, o->after.n);
        }
    }
    if (s == MRS_OK) {
        w->stream = start(w->l, o, &p, &opts);
        if (mongoc_change_stream_error_document(w->stream, &error, &reply)) {
            s = live_fault_report(w->l, "change stream", &error, reply, f, e);
        }
    }
    bson_destroy(&opts);
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_watch_open(struct live_link *l, const struct live_watch_opts *o, struct live_watch **out, struct live_fault *f,
                struct mrs_err *e)
{
    *out = NULL;
    if (o->n == 0 || !l->replicated) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a watch needs collections and a replica set");
    }
    struct live_watch *w = mrs_zalloc(l->mem, sizeof *w);
    MRS_TRY(mrs_allocated(w, sizeof *w, e));
    w->l = l;
    enum mrs_status s = open_stream(w, o, f, e);
    if (s != MRS_OK) {
        live_watch_close(w);
        return s;
    }
    *out = w;
    return MRS_OK;
}

enum mrs_status
live_watch_token(struct live_watch *w, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(w->stream && mrs_buf_is_sound(out));
    const bson_t *t = mongoc_change_stream_get_resume_token(w->stream);
    if (!t) {
        return MRS_END;
    }
    mrs_buf_put(out, bson_get_data(t), t->len);
    return mrs_buf_status(out, e);
}

enum mrs_status
live_watch_next(struct live_watch *w, struct mrs_view *event, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(w->stream && event);
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
        return live_fault_report(w->l, "change stream", &error, reply, f, e);
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
