/* SPDX-License-Identifier: Apache-2.0 */
/* group_read.c - collects the members of all keys: one pass over `into`, one over `from`. Keys and contents are equal
 * if their hashes with the run's secret are (mrs_hash_secret): no author of documents can produce a collision. */
#include "group.h"
#include "mongoreshape/group_ops.h"

enum { KEYED, NO_KEY, BODY }; /* domains of hashes: keys, documents without a key, contents */

struct group_read_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_parts parts;
    struct mrs_buf ids, trial;  /* the source after the step */
    struct mrs_buf bits, found; /* found: key, head, document, reference of each member */
};

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_read_job *job = p;
    if (!job->block.mem) {
        mrs_block_init(&job->block, g->en->mem);
        mrs_buf_init(&job->parts.bytes, g->en->mem, SIZE_MAX);
        mrs_buf_init(&job->bits, g->en->mem, SIZE_MAX);
        mrs_buf_init(&job->found, g->en->mem, SIZE_MAX);
        mrs_buf_init(&job->ids, g->en->mem, SIZE_MAX);
        mrs_buf_init(&job->trial, g->en->mem, SIZE_MAX);
    }
    enum mrs_status s = mrsi_scan_next(&g->scan, &job->block, &job->part, e);
    *big = mrsi_is_large(g->en, job->block.n);
    return s;
}

static struct mrs_hash128
hash_bare(const struct mrs_secret *secret, struct mrs_view doc, struct mrs_buf *scratch)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_buf_reset(scratch);
    mrs_walk_init(&w, doc);
    while (mrs_walk_next(&w, &el) > 0) {
        if (!mrs_name_is(&el, "_id", 3)) {
            mrs_buf_put(scratch, el.p, (size_t)(el.v.p + el.v.n - el.p));
        }
    }
    return mrs_hash_secret(secret, BODY, scratch->p, scratch->n);
}

static void
put_member(struct mrsi_group_run *g, struct mrsi_worker *w, struct group_read_job *job, const struct mrs_part_doc *part,
           uint64_t ordinal, uint32_t no)
{
    MRS_ASSERT(g->side < 2 && part->doc_len >= MRS_DOC_MIN);
    const uint8_t *bytes = job->parts.bytes.p;
    struct mrs_view doc = {bytes + part->doc_off, part->doc_len};
    uint8_t key[MRSI_MEMBER_KEY];
    /* without a key it is not merged, but the same bytes, including `_id`, count once */
    const struct mrs_secret *secret = &g->en->secret;
    struct mrs_hash128 h = part->key_len ? mrs_hash_secret(secret, KEYED, bytes + part->key_off, part->key_len)
                                         : mrs_hash_secret(secret, NO_KEY, doc.p, doc.n);
    struct mrsi_member_head head = {.made = part->made_id, .doc_len = part->doc_len, .ref_len = part->ref_len,
                                    .lone = !part->key_len};
    head.body = mrs_hash_secret(secret, BODY, doc.p, doc.n);
    struct mrs_buf bare;
    mrs_buf_init(&bare, g->en->mem, SIZE_MAX);
    head.bare = hash_bare(secret, doc, &bare);
    job->found.bad |= bare.bad;
    mrs_buf_clear(&bare);
    (void)w;
    memcpy(key, &h, 16);
    key[16] = g->side == 0;
    mrsi_put_be(key + 17, ordinal, 8);
    mrsi_put_be(key + 25, no, 4);
    mrs_buf_put(&job->found, key, sizeof key);
    mrs_buf_put(&job->found, &head, sizeof head);
    mrs_buf_put(&job->found, doc.p, doc.n);
    mrs_buf_put(&job->found, bytes + part->ref_off, part->ref_len);
}

static enum mrs_status
parts_of(struct mrsi_group_run *g, struct mrsi_worker *w, struct group_read_job *job, void *work, struct mrs_view doc)
{
    mrs_buf_reset(&job->parts.bytes);
    job->parts.n = 0;
    return g->ops->parts(g->st->state, &w->ctx, work, (int)g->side, doc, &job->parts);
}

/* The `_id`s of all parts; if there are many, the parts are made piece by piece. */
static enum mrs_status
trial_ids(struct mrsi_group_run *g, struct mrsi_worker *w, struct group_read_job *job, void *work, struct mrs_view doc,
          struct mrs_view *ids)
{
    struct mrs_build b;
    uint32_t no = 0;
    char name[12];
    enum mrs_status s = MRS_OK;
    mrs_buf_reset(&job->ids);
    mrs_build_init(&b, &job->ids);
    for (bool more = true; s == MRS_OK && more;) {
        for (uint32_t i = 0; !job->parts.no_ids && i < job->parts.n; i++) {
            struct mrs_view part = {job->parts.bytes.p + job->parts.part[i].doc_off, job->parts.part[i].doc_len};
            uint32_t n = mrs_index_name(name, no++);
            mrs_build_val(&b, name, n, mrs_doc_get(part, "_id"));
        }
        more = job->parts.more;
        s = more ? parts_of(g, w, job, work, doc) : MRS_OK;
    }
    return s == MRS_OK ? mrs_build_finish(&b, ids, &w->err) : s;
}

/* The document after the step, with the current `_id`s of its parts: a source that cannot be written is refused here
 * and takes part in no key. *whole: all its parts are in memory. */
static enum mrs_status
try_source(struct mrsi_group_run *g, struct mrsi_worker *w, struct group_read_job *job, void *work, struct mrs_view doc,
           bool *whole)
{
    MRS_ASSERT(g->side == 0);
    struct mrs_view ids;
    enum mrs_fate fate;
    *whole = !job->parts.more;
    enum mrs_status s = trial_ids(g, w, job, work, doc, &ids);
    mrs_buf_reset(&job->trial);
    return s == MRS_OK ? g->ops->source(g->st->state, &w->ctx, work, doc, ids, &job->trial, &fate) : s;
}

/* The members of a job are sorted when it is committed; those of a large document earlier, in the job's turn. */
static enum mrs_status
sort_found(struct mrsi_group_run *g, struct group_read_job *job, struct mrs_err *e)
{
    enum mrs_status s = mrs_buf_status(&job->found, e);
    for (size_t at = 0; s == MRS_OK && at < job->found.n;) {
        struct mrsi_member_head head;
        const uint8_t *key = job->found.p + at, *rest = key + MRSI_MEMBER_KEY;
        memcpy(&head, rest, sizeof head);
        uint32_t n = (uint32_t)sizeof head + head.doc_len + head.ref_len;
        s = mrsi_sorter_put(&g->members, key, MRSI_MEMBER_KEY, rest, n, e);
        at += MRSI_MEMBER_KEY + n;
    }
    mrs_buf_reset(&job->found);
    return s;
}

static enum mrs_status
put_members(struct mrsi_group_run *g, struct mrsi_worker *w, struct group_read_job *job, uint64_t ordinal, uint32_t *no,
            struct mrs_err *e)
{
    for (uint32_t i = 0; i < job->parts.n; i++) {
        put_member(g, w, job, &job->parts.part[i], ordinal, (*no)++);
    }
    if (job->found.n <= MRSI_BIG || !w->pipe) {
        return mrs_buf_status(&job->found, e);
    }
    return mrsi_pipe_await(w) ? sort_found(g, job, e) : mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted");
}

/* All members of a document; whole: its parts are in memory. */
static enum mrs_status
all_members(struct mrsi_group_run *g, struct mrsi_worker *w, struct group_read_job *job, void *work, uint64_t ordinal,
            struct mrs_view doc, bool whole, struct mrs_err *e)
{
    uint32_t no = 0;
    enum mrs_status s = MRS_OK;
    if (whole) {
        return put_members(g, w, job, ordinal, &no, e);
    }
    job->parts.more = false;
    do {
        s = parts_of(g, w, job, work, doc);
        s = s == MRS_OK ? put_members(g, w, job, ordinal, &no, e) : mrsi_kernel_failed(w, s, e);
    } while (s == MRS_OK && job->parts.more);
    return s;
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_read_job *job = p;
    MRS_ASSERT(ordinal - job->block.first_doc < job->block.n_docs);
    uint8_t *bit = job->bits.p + (ordinal - job->block.first_doc);
    void *work = mrsi_work_of(w, g->step, e);
    if (!work) {
        return MRS_DEAD;
    }
    mrsi_row(w, g->step, g->side)->before++;
    bool whole = true;
    job->parts.more = false;
    *bit = 0;
    mrs_err_clear(&w->err);
    mrsi_remarks_begin(w);
    enum mrs_status s = parts_of(g, w, job, work, doc);
    if (s == MRS_OK && g->side == 0) {
        s = try_source(g, w, job, work, doc, &whole);
    }
    if (s == MRS_SKIP) {
        *bit = MRSI_FATE_REFUSED;
        mrsi_row(w, g->step, g->side)->refused++;
        return mrsi_refuse(w, g->step, g->side, g->en->side[g->step][g->side], ordinal, doc, e);
    }
    if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    mrsi_remark(mrsi_row(w, g->step, g->side), w->ctx.remarks);
    mrsi_eased(mrsi_row(w, g->step, g->side), w->ctx.eased, doc);
    return all_members(g, w, job, work, ordinal, doc, whole, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_read_job *job = p;
    struct mrsi_cursor cur;
    mrs_buf_reset(&job->bits);
    uint8_t *bits = mrs_buf_take(&job->bits, job->block.n_docs);
    if (!bits) {
        return mrs_buf_status(&job->bits, e);
    }
    memset(bits, MRSI_FATE_REFUSED | MRSI_FATE_OUTSIDE, job->block.n_docs);
    mrsi_cursor_begin(&cur, &g->en->coll[g->en->side[g->step][g->side]], job->part, &job->block);
    return mrsi_cursor_each(&cur, one_document, g, w, job, e);
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_read_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    s = s == MRS_OK ? mrsi_fates_take(g->side == 0 ? &g->from : &g->there, &job->block, &job->bits, e) : s;
    return s == MRS_OK ? sort_found(g, job, e) : s;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_group_run *g = arg;
    struct group_read_job *job = p;
    if (job->block.mem) {
        mrs_free(g->en->mem, job->parts.part);
        mrs_buf_clear(&job->parts.bytes);
        mrs_buf_clear(&job->bits);
        mrs_buf_clear(&job->found);
        mrs_buf_clear(&job->ids);
        mrs_buf_clear(&job->trial);
        mrs_block_clear(&job->block);
    }
}

static enum mrs_status
read_side(struct mrsi_group_run *g, struct mrs_err *e)
{
    struct mrsi_pipe p = {g->en, sizeof(struct group_read_job), fetch, work, commit, clear, g};
    struct mrsi_coll *coll = &g->en->coll[g->en->side[g->step][g->side]];
    return mrsi_pass_scan(&g->pass, &p, coll, &g->scan, e);
}

enum mrs_status
mrsi_group_read(struct mrsi_group_run *g, struct mrs_err *e)
{
    MRS_ASSERT(g->stage == MRSI_GROUP_READ);
    enum mrs_status s = MRS_OK;
    if (g->side == 1) { /* existing documents first */
        s = read_side(g, e);
        g->side = 0;
    }
    return s == MRS_OK ? read_side(g, e) : s;
}
