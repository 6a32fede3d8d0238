/* SPDX-License-Identifier: Apache-2.0 */
/* stream_output.c - an archive that is written to standard output while it is made.
 *
 * Its prelude lists all namespaces, so they are announced before the first one; each is written when it is complete.
 * The closing block of the newest is delayed until the run has succeeded. So a failed run leaves an archive that
 * mongorestore refuses, although it may have restored documents by then. */
#include "archive_out.h"
#include <unistd.h>

struct mrsi_stream_output {
    struct mrsi_archive_items items;
    struct mrsi_archive_out out;
    struct mrsi_resumable resumed;
    pthread_mutex_t lock; /* sinks are closed by several threads */
    bool lock_ready;
};

void
mrsi_stream_free(struct mrsi_stream_output *s)
{
    if (s) {
        mrsi_archive_out_clear(&s->out);
        mrsi_items_clear(&s->items);
        if (s->lock_ready) {
            pthread_mutex_destroy(&s->lock);
        }
        mrs_free(s->items.o->mem, s);
    }
}

static enum mrs_status
add_items(struct mrsi_stream_output *st, const struct mrs_output_item *items, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(items || n == 0);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        struct mrsi_archive_entry_out *item;
        if (items[i].extra && mrsi_is_prelude(items[i].name)) {
            continue;
        }
        s = mrsi_items_add(&st->items, items[i].name, items[i].extra, &item, e);
        if (s == MRS_OK) {
            item->metadata = items[i].metadata;
            item->metadata_n = strlen(items[i].metadata);
            item->data.there = items[i].data;
        }
    }
    return s;
}

enum mrs_status
mrs_output_announce(struct mrs_output *o, const struct mrs_output_item *items, uint32_t n, struct mrs_err *e)
{
    struct mrsi_archive_head head;
    static const struct mrs_pause none; /* each collection is a pass of the run, which can stop there */
    struct mrsi_stream_output *st = mrs_zalloc(o->mem, sizeof *st);
    if (!st) {
        return mrsi_output_fail(o, mrs_err_memory(e, sizeof *st));
    }
    o->stream = st;
    st->resumed = (struct mrsi_resumable){.pause = &none, .path = "-", .fd = STDOUT_FILENO, .from = mrs_empty_doc()};
    mrsi_items_init(&st->items, o);
    st->lock_ready = pthread_mutex_init(&st->lock, NULL) == 0;
    enum mrs_status s = st->lock_ready ? MRS_OK : mrs_err_memory(e, sizeof st->lock);
    MRS_THEN(s, add_items(st, items, n, e));
    MRS_THEN(s, mrsi_items_settle(&st->items, &head, e));
    MRS_THEN(s, mrsi_archive_out_open(o, &st->resumed, "standard output", &st->out, e));
    MRS_THEN(s, mrsi_items_prelude(&st->items, &head, &st->out, e));
    return mrsi_output_fail(o, s);
}

/* Whether the order is violated: an item that must come earlier or later. */
static bool
is_late(const struct mrsi_stream_output *st, const struct mrsi_archive_entry_out *item)
{
    for (uint32_t i = 0; i < st->items.n; i++) {
        const struct mrsi_archive_entry_out *other = &st->items.at[i];
        bool special = mrs_archive_special(item->db, item->coll), plain = *other->db && *item->db;
        if ((special && plain && other->done && !mrs_archive_special(other->db, other->coll)) ||
            (!*item->db && *other->db && !other->done && !other->merged)) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
put_item(struct mrsi_stream_output *st, struct mrsi_archive_entry_out *item, const struct mrsi_out_rec *rec,
         struct mrs_err *e)
{
    if (item->done || is_late(st, item)) {
        return MRSI_FAIL(e, MRS_E_ACCOUNT, "%s: no stream can have it here: users come first, the oplog last",
                         rec->name);
    }
    item->data.copied = rec->copied;
    item->data.there = rec->data;
    item->rec = rec->data && !rec->copied ? rec : NULL;
    enum mrs_status s = mrsi_items_body(&st->items, item, false, &st->out, e);
    item->rec = NULL;
    item->done = true;
    return s;
}

enum mrs_status
mrsi_stream_put(struct mrs_output *o, uint32_t index, struct mrs_err *e)
{
    struct mrsi_stream_output *st = o->stream;
    if (!st) {
        return MRS_OK;
    }
    pthread_mutex_lock(&o->lock);
    MRS_ASSERT(index < o->n_recs);
    struct mrsi_out_rec rec = o->recs[index];
    pthread_mutex_unlock(&o->lock);
    enum mrs_status s = MRS_OK;
    bool known = false;
    pthread_mutex_lock(&st->lock);
    for (uint32_t i = 0; s == MRS_OK && i < st->items.n; i++) {
        struct mrsi_archive_entry_out *item = &st->items.at[i];
        known = known || strcmp(item->meta.name, rec.name) == 0;
        if (!item->merged && item->extra == rec.extra && strcmp(item->data.name, rec.name) == 0) {
            s = put_item(st, item, &rec, e);
        }
    }
    pthread_mutex_unlock(&st->lock);
    return s == MRS_OK && !known ? MRSI_FAIL(e, MRS_E_ACCOUNT, "%s was not announced to the stream", rec.name) : s;
}

enum mrs_status
mrsi_stream_finish(struct mrs_output *o, struct mrs_err *e)
{
    MRS_ASSERT(o->stream);
    const struct mrsi_archive_items *items = &o->stream->items;
    for (uint32_t i = 0; i < items->n; i++) {
        if (!items->at[i].merged && !items->at[i].done) {
            return MRSI_FAIL(e, MRS_E_ACCOUNT, "%s was announced to the stream and never came", items->at[i].data.name);
        }
    }
    enum mrs_status s = mrsi_output_input_same(o, e);
    return s == MRS_OK ? mrsi_archive_out_finish(&o->stream->out, e) : s;
}
