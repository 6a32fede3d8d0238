/* SPDX-License-Identifier: Apache-2.0 */
/* existing_ids.c - reads the `_id`s of the documents that a collection has before a step adds to it: one pass. */
#include "checkpoint.h"
#include "id_check.h"

struct existing_ids_there {
    struct mrsi_ids *ids;
    uint32_t coll;
    struct mrsi_scan scan;
};
struct existing_ids_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_buf found; /* hashes or members */
};

static enum mrs_status
fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct existing_ids_there *t = arg;
    struct existing_ids_job *j = job;
    if (!j->block.mem) {
        mrs_block_init(&j->block, t->ids->en->mem);
        mrs_buf_init(&j->found, t->ids->en->mem, SIZE_MAX);
    }
    enum mrs_status s = mrsi_scan_next(&t->scan, &j->block, &j->part, e);
    *big = mrsi_is_large(t->ids->en, j->block.n);
    return s;
}

static enum mrs_status
note(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct existing_ids_there *t = arg;
    struct existing_ids_job *j = job;
    uint64_t id;
    enum mrs_status s = mrsi_ids_short(t->ids, t->coll, doc, &w->scratch, &id, e);
    if (s != MRS_OK) {
        return s == MRS_END ? MRS_OK : s;
    }
    if (t->ids->phase == MRSI_IDS_OPTIMISTIC) {
        mrs_buf_put(&j->found, &id, sizeof id);
    } else if (mrsi_ids_has_dup_hash(t->ids, id)) {
        struct mrs_hash128 h, body = mrs_hash_secret(&t->ids->en->secret, 0, doc.p, doc.n);
        s = mrsi_ids_hash(t->ids, t->coll, doc, &w->scratch, &h, e);
        if (s == MRS_OK) {
            struct mrsi_id_member m = {h.lo, h.hi, body.lo, body.hi, ordinal, 0, t->coll, 1, 0, 0, 0, 0};
            mrs_buf_put(&j->found, &m, sizeof m);
        }
    }
    return s;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct existing_ids_there *t = arg;
    struct existing_ids_job *j = job;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, &t->ids->en->coll[t->coll], j->part, &j->block);
    cur.quiet = true;
    enum mrs_status s = mrsi_cursor_each(&cur, note, t, w, j, e);
    return s == MRS_OK ? mrs_buf_status(&j->found, e) : s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct existing_ids_there *t = arg;
    struct existing_ids_job *j = job;
    enum mrs_status s = MRS_OK;
    (void)w;
    if (t->ids->phase == MRSI_IDS_OPTIMISTIC) {
        s = mrsi_ids_take(t->ids, (const uint64_t *)(const void *)j->found.p, j->found.n / 8, e);
    } else {
        s = mrsi_ids_members(t->ids, &j->found, e);
    }
    mrs_buf_reset(&j->found);
    return s;
}

static void
clear(void *arg, void *job)
{
    struct existing_ids_job *j = job;
    (void)arg;
    if (j->block.mem) {
        mrs_block_clear(&j->block);
        mrs_buf_clear(&j->found);
    }
}

enum mrs_status
mrsi_ids_there(struct mrsi_ids *ids, uint32_t coll, struct mrsi_pass *pass, struct mrs_err *e)
{
    MRS_ASSERT(coll < ids->en->n_coll);
    struct existing_ids_there t = {.ids = ids, .coll = coll};
    struct mrsi_pipe p = {ids->en, sizeof(struct existing_ids_job), fetch, work, commit, clear, &t};
    return mrsi_pass_scan(pass, &p, &ids->en->coll[coll], &t.scan, e);
}
