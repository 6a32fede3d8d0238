/* SPDX-License-Identifier: Apache-2.0 */
/* input_digest.c - what a run has read of its input: documents, bytes and digest of each namespace, for the manifest.
 *
 * A namespace may be read in several passes, by several workers, and passes may be aborted and restarted. The
 * boundaries of blocks depend on the data alone, so each block has a number, and its first reader counts its documents:
 * they are summed up one by one while they are processed, when they are in the processor's cache. */
#include "checkpoint.h"

struct mrsi_input_digest {
    pthread_mutex_t lock;
    uint32_t n;
    struct one {
        struct mrs_buf blocks; /* one bit each: counted */
        struct mrs_docs docs;
    } at[];
};

enum mrs_status
mrsi_input_digest_new(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(!en->seen);
    uint32_t n = mrs_input_count(en->in);
    size_t size = sizeof(struct mrsi_input_digest) + n * sizeof(struct one);
    if (en->opts->dry_run || en->opts->discard) {
        return MRS_OK;
    }
    en->seen = mrs_zalloc(en->mem, size);
    MRS_TRY(mrs_allocated(en->seen, size, e));
    pthread_mutex_init(&en->seen->lock, NULL);
    en->seen->n = n;
    for (uint32_t i = 0; i < n; i++) {
        mrs_buf_init(&en->seen->at[i].blocks, en->mem, SIZE_MAX);
    }
    return MRS_OK;
}

void
mrsi_input_digest_free(struct mrsi_engine *en)
{
    if (!en->seen) {
        return;
    }
    for (uint32_t i = 0; i < en->seen->n; i++) {
        mrs_buf_clear(&en->seen->at[i].blocks);
    }
    pthread_mutex_destroy(&en->seen->lock);
    mrs_free(en->mem, en->seen);
    en->seen = NULL;
}

/* Was the block counted? */
static bool
is_in(const struct mrs_buf *blocks, uint64_t seq)
{
    size_t byte = (size_t)(seq / 8);
    return byte < blocks->n && blocks->p[byte] >> seq % 8 & 1;
}

static enum mrs_status
note(struct mrs_buf *blocks, uint64_t seq, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(blocks));
    size_t byte = (size_t)(seq / 8);
    if (blocks->n <= byte) {
        size_t more = byte + 1 - blocks->n;
        uint8_t *p = mrs_buf_take(blocks, more);
        if (!p) {
            return mrs_buf_status(blocks, e);
        }
        memset(p, 0, more);
    }
    blocks->p[byte] |= (uint8_t)(1u << seq % 8);
    return MRS_OK;
}

bool
mrsi_input_digest_needs(struct mrsi_engine *en, uint32_t in_index, uint64_t seq)
{
    MRS_ASSERT(in_index < mrs_input_count(en->in));
    if (!en->seen) {
        return false;
    }
    pthread_mutex_lock(&en->seen->lock);
    bool needed = !is_in(&en->seen->at[in_index].blocks, seq);
    pthread_mutex_unlock(&en->seen->lock);
    return needed;
}

enum mrs_status
mrsi_input_digest_block(struct mrsi_engine *en, uint32_t in_index, uint64_t seq, const struct mrsi_cursor *c,
                        struct mrs_err *e)
{
    MRS_ASSERT(in_index < mrs_input_count(en->in));
    struct one *o = &en->seen->at[in_index];
    enum mrs_status s = MRS_OK;
    pthread_mutex_lock(&en->seen->lock);
    if (!is_in(&o->blocks, seq)) {
        s = note(&o->blocks, seq, e);
        if (s == MRS_OK) {
            mrs_docs_sum(&o->docs, &c->docs);
            mrsi_equal_ids_block(en, in_index, &c->ids, c->docs.n);
        }
    }
    pthread_mutex_unlock(&en->seen->lock);
    return s;
}

const struct mrs_docs *
mrsi_input_digest_docs(const struct mrsi_engine *en, uint32_t in_index)
{
    return en->seen ? &en->seen->at[in_index].docs : NULL;
}

void
mrsi_input_digest_write(const struct mrsi_engine *en, struct mrs_build *b)
{
    mrs_build_open(b, "input", 5, MRS_ARRAY);
    for (uint32_t i = 0; en->seen && i < en->seen->n; i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        if (in->kind != MRS_INPUT_DATA) {
            continue;
        }
        mrs_build_item_open(b, MRS_DOCUMENT);
        mrs_build_text(b, "ns", in->ns, (uint32_t)strlen(in->ns));
        if (in->data_path) {
            mrs_docs_write(&en->seen->at[i].docs, b);
        }
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

/* ---- for checkpoints ---- */
void
mrsi_input_digest_save(const struct mrsi_engine *en, struct mrs_build *b)
{
    mrs_build_open(b, "seen", 4, MRS_ARRAY);
    for (uint32_t i = 0; en->seen && i < en->seen->n; i++) {
        const struct one *o = &en->seen->at[i];
        mrs_build_item_open(b, MRS_DOCUMENT);
        mrsi_state_put_bytes(b, "blocks", o->blocks.p, o->blocks.n);
        mrsi_state_put_docs(&o->docs, b);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static enum mrs_status
apply_one(struct one *o, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false;
    size_t n;
    const uint8_t *p = mrsi_state_bytes(d, "blocks", &n, &bad);
    mrsi_state_get_docs(d, &o->docs, &bad);
    if (bad) {
        return mrsi_state_damaged("what was read", e);
    }
    mrs_buf_reset(&o->blocks);
    mrs_buf_put(&o->blocks, p, n);
    return mrs_buf_status(&o->blocks, e);
}

enum mrs_status
mrsi_input_digest_load(struct mrsi_engine *en, struct mrs_view state, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(state));
    bool bad = false;
    struct mrs_walk w;
    struct mrs_elem at;
    uint32_t i = 0;
    struct mrs_view list = mrsi_state_list(state, "seen", &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("what was read", e) : MRS_OK;
    mrs_walk_init(&w, list);
    while (s == MRS_OK && en->seen && mrs_walk_next(&w, &at) == 1) {
        s = i < en->seen->n ? apply_one(&en->seen->at[i++], mrs_val_view(at.v), e)
                            : mrsi_state_damaged("what was read", e);
    }
    return s == MRS_OK && en->seen && i != en->seen->n ? mrsi_state_damaged("what was read", e) : s;
}
