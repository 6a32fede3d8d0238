/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_ahead.c - resolves references of several documents together.
 *
 * A reference leads to a slot of the index, from there to the document's entry, from there to the new `_id`: three
 * dependent random accesses to memory. One document after the other would wait for three cache misses each time. So
 * documents in the block are queued, and handled together: first all references are hashed, then all slots read, then
 * all entries, so that the misses overlap; then the documents are written in order. A document that an earlier step has
 * changed is in a buffer of the thread that the next document will reuse: it is written alone, after the queued
 * ones. */
#include "rekey_pass.h"

/* ---- queue ---- */
struct rekey_hashing {
    struct mrsi_rekey_run *k;
    struct mrsi_worker *w;
    struct mrsi_rekey_ahead *a;
};

/* References that cannot be hashed here are resolved when the document is written. */
static void
hash_one(void *arg, struct mrs_val id)
{
    struct rekey_hashing *x = arg;
    struct mrsi_rekey_ahead *a = x->a;
    struct mrsi_rekey_ref *ref = &a->ref[a->n_refs];
    struct mrs_err e;
    mrs_err_clear(&e);
    if (a->n_refs < MRSI_REKEY_REFS && mrsi_rekey_hash(x->k, id, &x->w->scratch, &ref->key, &e) == MRS_OK) {
        mrsi_index_fetch(&x->k->ids, ref->key);
        ref->p = id.p;
        a->n_refs++;
    }
}

static void
look_up(struct mrsi_rekey_run *k, struct mrsi_rekey_ahead *a)
{
    const uint64_t *called = (const uint64_t *)k->called.p;
    for (uint32_t i = 0; i < a->n_refs; i++) {
        a->ref[i].ordinal = mrsi_index_find(&k->ids, a->ref[i].key);
        if (a->ref[i].ordinal < k->n) {
            __builtin_prefetch(&called[a->ref[i].ordinal]);
        }
    }
    for (uint32_t i = 0; i < a->n_refs; i++) {
        uint64_t at = a->ref[i].ordinal < k->n ? called[a->ref[i].ordinal] : MRSI_NO_ORDINAL;
        if (at != MRSI_NO_ORDINAL) {
            __builtin_prefetch(k->names.p + at);
        }
    }
}

const struct mrsi_rekey_ref *
mrsi_rekey_ahead_of(struct mrsi_rekey_ahead *a, struct mrs_val id)
{
    for (uint32_t i = a ? a->at : 0; a && i < a->n_refs; i++) {
        if (a->ref[i].p == id.p) {
            a->at = i + 1;
            return &a->ref[i];
        }
    }
    return NULL;
}

/* ---- the documents ---- */
static enum mrs_status
flush(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_write_job *job, struct mrs_err *e)
{
    struct mrsi_rekey_ahead *a = &job->ahead;
    enum mrs_status s = MRS_OK;
    look_up(k, a);
    for (uint32_t i = 0; i < a->n && (s == MRS_OK || s == MRS_SKIP); i++) {
        mrs_arena_reset(&w->arena);
        s = mrsi_rekey_point_document(k, w, job, a->ordinal[i], a->doc[i], e);
    }
    a->n = a->n_refs = a->at = 0;
    return s == MRS_SKIP ? MRS_OK : s;
}

static void
wait(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct mrsi_rekey_ahead *a, uint64_t ordinal, struct mrs_view doc)
{
    MRS_ASSERT(a->n < MRSI_REKEY_AHEAD);
    struct rekey_hashing x = {k, w, a};
    a->doc[a->n] = doc;
    a->ordinal[a->n++] = ordinal;
    k->ops->look(k->st->state, (int)k->now, doc, hash_one, &x);
}

enum mrs_status
mrsi_rekey_point_block(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_write_job *job = p;
    const struct mrs_block *b = &job->io.block;
    struct mrsi_cursor cur;
    struct mrs_view doc;
    enum mrs_status s = MRS_OK, next = MRS_OK;
    job->ahead.n = job->ahead.n_refs = job->ahead.at = 0;
    mrsi_cursor_begin(&cur, k->scan.coll, job->io.part, b);
    while (s == MRS_OK && (next == MRS_OK || next == MRS_SKIP)) {
        next = mrsi_cursor_next(&cur, w, &doc, e);
        bool there = next == MRS_OK, in_block = there && doc.p >= b->p && doc.p < b->p + b->n;
        if (in_block) {
            wait(k, w, &job->ahead, cur.ordinal, doc);
        }
        if (there ? !in_block || job->ahead.n == MRSI_REKEY_AHEAD : next == MRS_END) {
            s = flush(k, w, job, e);
        }
        if (s == MRS_OK && there && !in_block) {
            s = mrsi_rekey_point_document(k, w, job, cur.ordinal, doc, e);
            s = s == MRS_SKIP ? MRS_OK : s;
        }
    }
    return s != MRS_OK || next == MRS_END ? s : next;
}
