/* SPDX-License-Identifier: Apache-2.0 */
/* equal_ids.c - finds documents of the input with equal `_id`s, as in dumps of several shards: a step counts, sums or
 * embeds each of them, and mongorestore keeps one.
 *
 * Most collections are in ascending order of their ObjectIds. The first reader of a block records its smallest and
 * largest `_id` if they ascend; if all blocks ascend and do not overlap, there are no duplicates. Any other collection
 * is read once more at the end of the run: 64-bit hashes of all `_id`s find candidates, and of these the 128-bit hashes
 * are counted. The ranges are not part of a checkpoint: a resumed run reads the collection again. */
#include "id_check.h"
#include <stdlib.h>

enum { ID_MAX = 80 };

/* ---- search ---- */
struct equal_ids_search {
    struct mrsi_engine *en;
    struct mrsi_ids ids;
    uint32_t in_index;
    struct mrs_reader *reader;
    struct mrsi_sorter found; /* candidates: by 128-bit hash, in input order */
};
struct equal_ids_job {
    struct mrs_block block;
    struct mrs_buf hashes; /* or struct candidate */
};
struct candidate {
    struct mrs_hash128 key;
    struct candidate_document {
        uint64_t no;
        char id[ID_MAX];
    } doc;
};

static enum mrs_status
fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct equal_ids_search *t = arg;
    struct equal_ids_job *j = job;
    if (!j->block.mem) {
        mrs_block_init(&j->block, t->en->mem);
        mrs_buf_init(&j->hashes, t->en->mem, SIZE_MAX);
    }
    enum mrs_status s = mrs_reader_next(t->reader, &j->block, e);
    *big = s == MRS_OK && mrsi_is_large(t->en, j->block.n);
    return s;
}

static enum mrs_status
put_candidate(struct equal_ids_search *t, struct mrsi_worker *w, struct equal_ids_job *j, struct mrs_view doc,
              uint64_t no, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct candidate c;
    enum mrs_status s = mrsi_ids_hash(&t->ids, 0, doc, &w->scratch, &c.key, e);
    size_t n = s == MRS_OK ? mrsi_id_write(mrs_doc_get(doc, "_id"), ID_MAX - 1, &w->scratch) : 0;
    MRS_THEN(s, mrs_buf_status(&w->scratch, e));
    if (s == MRS_OK) {
        c.doc = (struct candidate_document){.no = no};
        memcpy(c.doc.id, w->scratch.p, n);
        mrs_buf_put(&j->hashes, &c, sizeof c);
    }
    return s;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct equal_ids_search *t = arg;
    struct equal_ids_job *j = job;
    const struct mrs_input_ns *in = mrs_input_at(t->en->in, t->in_index);
    enum mrs_status s = MRS_OK;
    uint64_t no = j->block.first_doc, hash;
    for (size_t at = 0; s == MRS_OK && at < j->block.n; no++) {
        struct mrs_view doc = {j->block.p + at, mrs_le32(j->block.p + at)};
        s = mrsi_check_input(in, doc, no, j->block.off + at, e);
        MRS_THEN(s, mrsi_ids_short(&t->ids, 0, doc, &w->scratch, &hash, e));
        if (s == MRS_OK && t->ids.phase == MRSI_IDS_OPTIMISTIC) {
            mrs_buf_put(&j->hashes, &hash, sizeof hash);
        } else if (s == MRS_OK && mrsi_ids_has_dup_hash(&t->ids, hash)) {
            s = put_candidate(t, w, j, doc, no, e);
        }
        s = s == MRS_END ? MRS_OK : s; /* without `_id` */
        at += doc.n;
    }
    return s == MRS_OK ? mrs_buf_status(&j->hashes, e) : s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct equal_ids_search *t = arg;
    struct equal_ids_job *j = job;
    enum mrs_status s = MRS_OK;
    (void)w;
    if (t->ids.phase == MRSI_IDS_OPTIMISTIC) {
        s = mrsi_ids_take(&t->ids, (const uint64_t *)(const void *)j->hashes.p, j->hashes.n / 8, e);
    }
    for (size_t at = 0; s == MRS_OK && t->ids.phase != MRSI_IDS_OPTIMISTIC && at < j->hashes.n;
         at += sizeof(struct candidate)) {
        struct candidate c;
        memcpy(&c, j->hashes.p + at, sizeof c);
        s = mrsi_sorter_put(&t->found, &c.key, sizeof c.key, &c.doc, sizeof c.doc, e);
    }
    mrs_buf_reset(&j->hashes);
    return s;
}

static void
clear(void *arg, void *job)
{
    struct equal_ids_job *j = job;
    (void)arg;
    if (j->block.mem) {
        mrs_block_clear(&j->block);
        mrs_buf_clear(&j->hashes);
    }
}

static enum mrs_status
read_through(struct equal_ids_search *t, struct mrs_err *e)
{
    struct mrsi_pipe p = {t->en, sizeof(struct equal_ids_job), fetch, work, commit, clear, t};
    enum mrs_status s = mrs_reader_open(t->en->in, t->in_index, mrsi_block_bytes(t->en), &t->reader, e);
    MRS_THEN(s, mrsi_pipe_run(&p, e));
    mrs_reader_close(t->reader);
    t->reader = NULL;
    return s;
}

/* Counts documents whose `_id` an earlier one has, and reports the first of them in input order: the order of hashes
 * differs from run to run. */
static enum mrs_status
count(struct equal_ids_search *t, struct mrs_twins *out, struct mrs_err *e)
{
    struct mrsi_sorted r;
    uint8_t last[sizeof(struct mrs_hash128)];
    struct candidate_document x, first = {.no = UINT64_MAX};
    bool any = false;
    struct mrs_report *rep = t->en->report;
    enum mrs_status s = mrsi_sorter_rewind(&t->found, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&t->found, &r, e)) == MRS_OK) {
        if (any && memcmp(last, r.key, sizeof last) == 0) {
            out->count++;
            memcpy(&x, r.p, sizeof x);
            first = x.no < first.no ? x : first;
        }
        any = true;
        memcpy(last, r.key, sizeof last);
    }
    if (s != MRS_END || !out->count) {
        return s == MRS_END ? MRS_OK : s;
    }
    out->id = mrs_arena_copy(&rep->arena, first.id, strlen(first.id) + 1);
    return mrs_allocated(out->id, strlen(first.id), e);
}

static enum mrs_status
search(struct mrsi_engine *en, uint32_t in_index, struct mrs_twins *out, struct mrs_err *e)
{
    MRS_ASSERT(in_index < mrs_input_count(en->in));
    struct equal_ids_search t = {.en = en, .in_index = in_index};
    bool equal = false;
    snprintf(en->phase_text, sizeof en->phase_text, "looking for equal _ids in %.90s", out->ns);
    mrsi_tick(en);
    enum mrs_status s = mrsi_ids_init(&t.ids, en, MRS_CONFLICTS_REFUSE, e);
    mrsi_sorter_init(&t.found, en, en->memory / 4);
    MRS_THEN(s, read_through(&t, e));
    MRS_THEN(s, mrsi_ids_find_duplicates(&t.ids, NULL, &equal, e));
    if (s == MRS_OK && equal) {
        s = read_through(&t, e);
        MRS_THEN(s, count(&t, out, e));
    }
    mrsi_sorter_clear(&t.found);
    mrsi_ids_clear(&t.ids);
    return s;
}

/* Does a duplicate matter? In `check`, if a step names the collection. After a step that checks its `_id`s there are no
 * duplicates. */
static bool
counts(const struct mrsi_engine *en, uint32_t coll)
{
    MRS_ASSERT(coll < en->n_coll);
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        enum mrs_family f = st->desc.family;
        bool adds_up = f == MRS_FAMILY_JOIN || f == MRS_FAMILY_FOLD || f == MRS_FAMILY_LINK || f == MRS_FAMILY_TREE ||
                       f == MRS_FAMILY_WINDOW;
        if (st->desc.new_ids && en->side[i][0] == coll) {
            return false;
        }
        for (uint32_t k = 0; (adds_up || en->notices) && k < st->desc.n_sides; k++) {
            if (en->side[i][k] == coll) {
                return true;
            }
        }
    }
    return false;
}

/* May the output have them? Not if the collection is gone or empty, or a step refused them that refuses all. */
static bool
stay(const struct mrsi_engine *en, uint32_t coll)
{
    const struct mrsi_coll *c = &en->coll[coll];
    bool may = c->dropped_at == MRSI_NONE && (!c->content || c->docs > 0);
    for (uint32_t i = 0; i < en->plan->n_steps && may; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        enum mrs_family f = st->desc.family;
        bool all = st->body.p && mrs_doc_get(st->body, "where").type == MRS_MISSING;
        bool apart = f == MRS_FAMILY_LINK || (all && (f == MRS_FAMILY_TREE || f == MRS_FAMILY_REKEY));
        uint32_t n = f == MRS_FAMILY_LINK ? st->desc.n_sides : 1;
        for (uint32_t k = 0; apart && k < n && may; k++) {
            may = en->side[i][k] != coll;
        }
    }
    return may;
}

enum mrs_status
mrsi_equal_ids_report(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    enum mrs_status s = MRS_OK;
    if (en->opts->sample) {
        return MRS_OK;
    }
    rep->twins = mrs_arena_alloc(&rep->arena, (en->n_coll + 1) * sizeof *rep->twins);
    MRS_TRY(mrs_allocated(rep->twins, en->n_coll * sizeof *rep->twins, e));
    for (uint32_t i = 0; s == MRS_OK && i < en->n_coll; i++) {
        const struct mrsi_coll *c = &en->coll[i];
        struct mrs_twins *x = &rep->twins[rep->n_twins];
        if (c->in_index == MRSI_NONE || !mrs_input_at(en->in, c->in_index)->data_path || !counts(en, i)) {
            continue;
        }
        const char *ns = mrs_input_at(en->in, c->in_index)->ns;
        *x = (struct mrs_twins){.ns = mrs_arena_copy(&rep->arena, ns, strlen(ns) + 1), .stay = stay(en, i)};
        s = mrs_allocated(x->ns, 1, e);
        if (s == MRS_OK && !(c->read && mrsi_ids_ascend(en, c->in_index, c->read_docs))) {
            s = search(en, c->in_index, x, e);
        }
        rep->n_twins += x->count > 0;
    }
    return s;
}
