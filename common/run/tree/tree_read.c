/* SPDX-License-Identifier: Apache-2.0 */
/* tree_read.c - the first pass over a tree's documents: reads the relations of each. Nothing is refused here: the
 * second pass reads the document again and finds the same error. */
#include "tree_pass.h"
#include "mongoreshape/join_ops.h"

struct self {
    struct mrs_hash128 key;
    uint32_t who;
};
enum what { BEGINS, ENDS, ORDER };
struct sorted_head { /* for a sorter: the key follows */
    uint32_t key_len, who;
    enum what what;
};
struct tree_read_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_node node;
    struct mrs_buf bits, id_n, ids; /* id_n: size of each in ids, uint32_t */
    struct mrs_buf doc_n, docs;     /* the same for documents, if they are stored */
    struct mrs_buf selves, named;   /* struct self, struct mrsi_named */
    struct mrs_buf sorted;          /* struct sorted_head, key */
};

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_tree_run *t = arg;
    struct tree_read_job *job = p;
    if (!job->block.mem) {
        struct mrs_buf *bufs[] = {&job->bits,   &job->id_n,  &job->ids,    &job->doc_n,     &job->docs,
                                  &job->selves, &job->named, &job->sorted, &job->node.order};
        mrs_block_init(&job->block, t->en->mem);
        mrs_keys_init(&job->node.keys, t->en->mem);
        for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
            mrs_buf_init(bufs[i], t->en->mem, SIZE_MAX);
        }
    }
    enum mrs_status s = mrsi_scan_next(&t->scan, &job->block, &job->part, e);
    *big = mrsi_is_large(t->en, job->block.n);
    if (s == MRS_OK && job->block.first_doc + job->block.n_docs >= MRSI_NONE) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "%s has more than %u documents, too many for one tree",
                        t->scan.coll->ns, MRSI_NONE);
    }
    return s;
}

static void
clear(void *arg, void *p)
{
    struct tree_read_job *job = p;
    struct mrs_buf *bufs[] = {&job->bits,   &job->id_n,  &job->ids,    &job->doc_n,     &job->docs,
                              &job->selves, &job->named, &job->sorted, &job->node.order};
    (void)arg;
    if (job->block.mem) {
        for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
            mrs_buf_clear(bufs[i]);
        }
        mrs_keys_clear(&job->node.keys);
        mrs_block_clear(&job->block);
    }
}

static void
put_sorted(struct tree_read_job *job, enum what what, uint32_t who, const uint8_t *key, size_t n)
{
    struct sorted_head h = {(uint32_t)n, who, what};
    mrs_buf_put(&job->sorted, &h, sizeof h);
    mrs_buf_put(&job->sorted, key, n);
}

static void
take_keys(const struct mrsi_tree_run *t, struct tree_read_job *job, uint32_t who)
{
    const struct mrs_keys *k = &job->node.keys;
    uint32_t child = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        const struct mrs_keyspan *span = &k->span[i];
        const uint8_t *p = k->bytes.p + span->off;
        if (span->pair == MRS_NODE_LEFT || span->pair == MRS_NODE_RIGHT) {
            put_sorted(job, span->pair == MRS_NODE_LEFT ? BEGINS : ENDS, who, p, span->len);
            continue;
        }
        struct mrs_hash128 h = mrs_hash_secret(&t->en->secret, 0, p, span->len);
        if (span->pair == MRS_NODE_SELF) {
            struct self self = {h, who};
            mrs_buf_put(&job->selves, &self, sizeof self);
        } else {
            struct mrsi_named n = {h, who, span->pair == MRS_NODE_CHILD ? child++ : MRSI_NONE};
            mrs_buf_put(&job->named, &n, sizeof n);
        }
    }
}

/* Siblings are linked from the last to the first, so their order is reversed. */
static void
take_order(struct tree_read_job *job, uint32_t who)
{
    struct mrs_buf *b = &job->node.order;
    uint8_t last[4];
    mrsi_put_be(last, who, 4);
    mrs_buf_put(b, last, 4);
    for (size_t i = 0; i < b->n; i++) {
        b->p[i] = (uint8_t)~b->p[i];
    }
    job->sorted.bad |= b->bad;
    put_sorted(job, ORDER, who, b->p, b->n);
}

/* Stores a document that is embedded in another one, with its sizes. */
static void
keep_doc(struct tree_read_job *job, uint32_t at, struct mrs_view doc)
{
    struct mrsi_weight weight = {job->node.own, job->node.deep};
    uint32_t size = (uint32_t)sizeof weight + doc.n;
    memcpy(job->doc_n.p + at * sizeof size, &size, sizeof size);
    mrs_buf_put(&job->docs, &weight, sizeof weight);
    mrs_buf_put(&job->docs, doc.p, doc.n);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrsi_tree_run *t = arg;
    struct tree_read_job *job = p;
    uint32_t who = (uint32_t)ordinal;
    struct mrs_node *n = &job->node;
    uint32_t at = (uint32_t)(who - job->block.first_doc);
    n->state = MRS_NODE_STATE_NONE;
    n->id = mrs_missing();
    n->unusable = false;
    mrs_keys_reset(&n->keys);
    mrs_buf_reset(&n->order);
    mrs_err_clear(&w->err);
    enum mrs_status s = t->ops->read(t->st->state, &w->ctx, doc, n);
    if (s != MRS_OK && s != MRS_SKIP) {
        return mrsi_kernel_failed(w, s, e);
    }
    job->bits.p[at] = (uint8_t)((n->state != MRS_NODE_STATE_NONE ? MRSI_NODE : 0) |
                                (n->state == MRS_NODE_STATE_OUT ? MRSI_NODE_OUT : 0) |
                                (s == MRS_SKIP ? MRSI_NODE_REFUSED : 0) | (n->unusable ? MRSI_NODE_UNUSABLE : 0) |
                                (n->order.n ? MRSI_NODE_ORDERED : 0));
    if (n->state == MRS_NODE_STATE_NONE) {
        return MRS_OK;
    }
    if (n->id.type != MRS_MISSING) {
        uint32_t size = n->id.n + 1;
        memcpy(job->id_n.p + at * sizeof size, &size, sizeof size);
        mrs_buf_byte(&job->ids, n->id.type);
        mrs_buf_put(&job->ids, n->id.p, n->id.n);
    }
    take_keys(t, job, who);
    if (n->order.n) {
        take_order(job, who);
    }
    if ((t->needs & MRS_TREE_WHOLE) && n->state == MRS_NODE_STATE_IN) {
        keep_doc(job, at, doc);
    }
    bool bad = job->docs.bad || job->ids.bad || job->selves.bad || job->named.bad || job->sorted.bad;
    return bad ? mrs_err_memory(e, job->named.n) : MRS_OK;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_tree_run *t = arg;
    struct tree_read_job *job = p;
    struct mrsi_cursor cur;
    mrs_buf_reset(&job->bits);
    mrs_buf_reset(&job->id_n);
    uint8_t *bits = mrs_buf_take(&job->bits, job->block.n_docs);
    uint8_t *sizes = mrs_buf_take(&job->id_n, job->block.n_docs * sizeof(uint32_t));
    mrs_buf_reset(&job->doc_n);
    uint8_t *docs = mrs_buf_take(&job->doc_n, job->block.n_docs * sizeof(uint32_t));
    if (!bits || !sizes || !docs) {
        return mrs_err_memory(e, job->block.n_docs * sizeof(uint32_t));
    }
    memset(bits, 0, job->bits.n);
    memset(sizes, 0, job->id_n.n);
    memset(docs, 0, job->doc_n.n);
    mrsi_cursor_begin(&cur, t->scan.coll, job->part, &job->block);
    return mrsi_cursor_each(&cur, one_document, t, w, job, e);
}

/* ---- commit ---- */
/* Appends the values of all documents of a job, and their offsets. */
static enum mrs_status
keep_values(struct mrsi_file_array *where, struct mrsi_file_array *values, const struct mrs_buf *sizes,
            const struct mrs_buf *bytes, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(sizes) && mrs_buf_is_sound(bytes));
    uint64_t at = values->n;
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; s == MRS_OK && i < sizes->n; i += sizeof(uint32_t)) {
        uint32_t size;
        s = mrsi_file_array_put(where, &at, e);
        memcpy(&size, sizes->p + i, sizeof size);
        at += size;
    }
    return s == MRS_OK ? mrsi_file_array_put_n(values, bytes->p, bytes->n, e) : s;
}

static enum mrs_status
keep_ids(struct mrsi_tree_run *t, const struct tree_read_job *job, struct mrs_err *e)
{
    enum mrs_status s = mrsi_file_array_put_n(&t->bits, job->bits.p, job->bits.n, e);
    MRS_THEN(s, keep_values(&t->id_at, &t->ids, &job->id_n, &job->ids, e));
    return s == MRS_OK && (t->needs & MRS_TREE_WHOLE)
               ? keep_values(&t->doc_at, &t->docs, &job->doc_n, &job->docs, e)
               : s;
}

static enum mrs_status
keep_selves(struct mrsi_tree_run *t, const struct tree_read_job *job, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < job->selves.n; at += sizeof(struct self)) {
        struct self self;
        uint64_t first;
        memcpy(&self, job->selves.p + at, sizeof self);
        s = mrsi_index_put(&t->index, self.key, self.who, &first, e);
        if (s == MRS_OK && first != self.who) {
            uint32_t both[2] = {(uint32_t)first, self.who};
            s = mrsi_file_array_put_n(&t->twice, both, 2, e);
        }
    }
    return s;
}

static enum mrs_status
keep_sorted(struct mrsi_tree_run *t, const struct tree_read_job *job, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < job->sorted.n;) {
        struct sorted_head h;
        memcpy(&h, job->sorted.p + at, sizeof h);
        const uint8_t *key = job->sorted.p + at + sizeof h;
        uint32_t payload[2] = {h.who, h.what};
        s = mrsi_sorter_put(h.what == ORDER ? &t->orders : &t->ends, key, h.key_len, payload, sizeof payload, e);
        t->intervals += h.what == BEGINS;
        at += sizeof h + h.key_len;
    }
    return s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_tree_run *t = arg;
    struct tree_read_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e); /* documents refused by earlier fused steps */
    MRS_THEN(s, keep_ids(t, job, e));
    MRS_THEN(s, keep_selves(t, job, e));
    MRS_THEN(s, mrsi_file_array_put_n(&t->named, job->named.p, job->named.n / sizeof(struct mrsi_named), e));
    MRS_THEN(s, keep_sorted(t, job, e));
    struct mrs_buf *bufs[] = {&job->ids, &job->docs, &job->selves, &job->named, &job->sorted};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        if (bufs[i]->cap > MRSI_BIG) {
            mrs_buf_clear(bufs[i]);
        }
        mrs_buf_reset(bufs[i]);
    }
    if (job->node.keys.bytes.cap > MRSI_BIG) {
        mrs_keys_clear(&job->node.keys);
    }
    return s;
}

enum mrs_status
mrsi_tree_read(struct mrsi_tree_run *t, struct mrs_err *e)
{
    struct mrsi_pipe p = {t->en, sizeof(struct tree_read_job), fetch, work, commit, clear, t};
    struct mrsi_coll *coll = &t->en->coll[t->en->side[t->step][0]];
    return mrsi_pass_scan(&t->pass, &p, coll, &t->scan, e);
}
