/* SPDX-License-Identifier: Apache-2.0 */
/* join_slice.c - cuts documents of `into` at the boundaries of their records' partitions.
 *
 * A slice extends over several read blocks, so that a partition is loaded once. A partition that is too large for a
 * worker is split when its turn comes; its file is reused for the next one, so the split parts stay in the page cache.
 * Savepoints need not wait for the end of a block: they contain the rest of it. */
#include "join_slice.h"
#include "heavy_parents.h"

#define SLICE_MIN (2u << 20)

void
mrsi_slice_init(struct mrsi_slice *x, struct mrs_mem *mem)
{
    mrs_block_init(&x->block, mem);
    mrs_buf_init(&x->loaded, mem, SIZE_MAX);
    mrs_buf_init(&x->recs, mem, SIZE_MAX);
}

void
mrsi_slice_clear(struct mrsi_slice *x)
{
    mrs_block_clear(&x->block);
    mrs_buf_clear(&x->loaded);
    mrs_buf_clear(&x->recs);
}

void
mrsi_slices_clear(struct mrsi_join_run *j)
{
    mrs_block_clear(&j->slices.block);
    mrsi_spill_clear(&j->slices.split.spill);
    memset(&j->slices, 0, sizeof j->slices);
}

/* ---- documents ---- */
static enum mrs_status
refill(struct mrsi_join_run *j, struct mrs_err *e)
{
    MRS_ASSERT(j->slices.at <= j->slices.block.n);
    struct mrsi_slices *x = &j->slices;
    const struct mrsi_part *part;
    if (x->at < x->block.n) {
        return MRS_OK;
    }
    if (!x->block.mem) {
        mrs_block_init(&x->block, j->en->mem);
    }
    x->at = x->block.n = 0;
    enum mrs_status s = mrsi_scan_next(&j->scan, &x->block, &part, e);
    if (s == MRS_OK) {
        x->part = (uint32_t)(part - j->scan.parts);
        x->next = x->block.first_doc;
    } else {
        x->block.n = 0; /* a sample ends with a block that it does not include */
    }
    return s;
}

static enum mrs_status
append(struct mrs_block *b, const uint8_t *p, size_t n, struct mrs_err *e)
{
    if (b->cap - b->n < n) {
        size_t cap = b->n + n + b->n / 2;
        uint8_t *grown = mrs_realloc(b->mem, b->p, cap);
        MRS_TRY(mrs_allocated(grown, cap, e));
        b->p = grown;
        b->cap = cap;
    }
    memcpy(b->p + b->n, p, n);
    b->n += n;
    return MRS_OK;
}

/* Number of bytes of the block that belong to the slice, which has space for so many more; at least one document. */
static size_t
slice_bytes(const struct mrsi_slices *x, uint64_t hi, size_t room, bool any, uint32_t *docs)
{
    MRS_ASSERT(x->at <= x->block.n);
    size_t n = 0;
    *docs = 0;
    while (x->at + n < x->block.n && x->next + *docs < hi) {
        uint32_t len = mrs_le32(x->block.p + x->at + n);
        if ((any || *docs) && n + len > room) {
            break;
        }
        n += len;
        ++*docs;
    }
    return n;
}

/* Does the block just read continue the slice? */
static bool
continues(const struct mrsi_join_run *j, const struct mrsi_slice *slice)
{
    const struct mrsi_slices *x = &j->slices;
    return slice->part == &j->scan.parts[x->part] && x->block.off + x->at == slice->block.off + slice->block.n;
}

static enum mrs_status
take_documents(struct mrsi_join_run *j, struct mrsi_slice *slice, uint64_t hi, size_t most, struct mrs_err *e)
{
    MRS_ASSERT(j->slices.next < hi);
    struct mrsi_slices *x = &j->slices;
    struct mrs_block *b = &slice->block;
    enum mrs_status s = MRS_OK;
    b->n = b->n_docs = 0;
    b->first_doc = x->next;
    b->off = x->block.off + x->at;
    slice->part = &j->scan.parts[x->part];
    while (s == MRS_OK && x->next < hi && continues(j, slice)) {
        uint32_t docs;
        size_t n = slice_bytes(x, hi, most > b->n ? most - b->n : 0, b->n != 0, &docs);
        if (!n) {
            break;
        }
        s = append(b, x->block.p + x->at, n, e);
        b->n_docs += docs;
        x->at += n;
        x->next += docs;
        MRS_THEN(s, refill(j, e));
    }
    return s == MRS_END ? MRS_OK : s;
}

/* ---- records of slices ---- */
static enum mrs_status
find_partition(struct mrsi_join_run *j, struct mrsi_slice *slice, struct mrs_err *e)
{
    struct mrsi_slices *x = &j->slices;
    if (x->next >= j->spill.total) { /* only if the resumed state is wrong */
        return mrsi_state_damaged("the step", e);
    }
    enum mrs_status s = mrsi_spill_find(&j->spill, &x->split, x->next, &slice->spill, &slice->partition, e);
    if (s == MRS_OK) {
        slice->is_loaded = slice->spill == &x->split.spill;
        slice->is_heavy = mrsi_spill_is_heavy(slice->spill, slice->partition);
    }
    return s;
}

static enum mrs_status
load(struct mrsi_slice *slice, struct mrs_err *e)
{
    MRS_ASSERT(!slice->is_heavy);
    uint64_t lo = slice->block.first_doc;
    return mrsi_partition_load(slice->spill, &slice->spill->part[slice->partition], lo, lo + slice->block.n_docs,
                               &slice->loaded, &slice->recs, e);
}

enum mrs_status
mrsi_slice_load(struct mrsi_slice *slice, struct mrs_err *e)
{
    return slice->is_loaded ? MRS_OK : load(slice, e);
}

enum mrs_status
mrsi_slice_next(struct mrsi_join_run *j, struct mrsi_slice *slice, struct mrs_err *e)
{
    uint64_t most = mrsi_layout_load(j->en->memory, j->en->jobs);
    most = most < SLICE_MIN ? SLICE_MIN : most;
    MRS_TRY(refill(j, e));
    MRS_TRY(find_partition(j, slice, e));
    enum mrs_status s = take_documents(j, slice, slice->spill->part[slice->partition].hi, most, e);
    slice->is_large = slice->block.n > most && mrsi_is_large(j->en, slice->block.n);
    return s == MRS_OK && slice->is_loaded && !slice->is_heavy ? load(slice, e) : s;
}

/* ---- savepoints ---- */
enum mrs_status
mrsi_slices_save(const struct mrsi_join_run *j, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(j->slices.at <= j->slices.block.n);
    const struct mrsi_slices *x = &j->slices;
    size_t n = x->block.n - x->at;
    mrs_build_i64(b, "slicePart", x->part);
    mrs_build_i64(b, "sliceNext", (int64_t)x->next);
    mrs_build_i64(b, "sliceOff", (int64_t)(x->block.off + x->at));
    return mrsi_save_bytes(j->en, "sliceRest", n ? x->block.p + x->at : NULL, n, b, files, e);
}

static bool
are_documents(const uint8_t *p, size_t n)
{
    while (n >= MRS_DOC_MIN && mrs_le32(p) <= n && mrsi_savepoint_is_doc(p, mrs_le32(p))) {
        uint32_t len = mrs_le32(p);
        p += len;
        n -= len;
    }
    return n == 0;
}

enum mrs_status
mrsi_slices_load(struct mrsi_join_run *j, struct mrs_err *e)
{
    struct mrsi_slices *x = &j->slices;
    struct mrs_view saved = j->pass.from;
    const struct mrsi_coll *into = &j->en->coll[j->en->side[j->step][1]];
    struct mrs_buf rest;
    bool bad = false;
    x->part = (uint32_t)mrsi_state_number(saved, "slicePart", into->n_part ? into->n_part - 1 : 0, &bad);
    x->next = mrsi_state_number(saved, "sliceNext", INT64_MAX, &bad);
    uint64_t off = mrsi_state_number(saved, "sliceOff", INT64_MAX, &bad);
    mrs_buf_init(&rest, j->en->mem, SIZE_MAX);
    enum mrs_status s = bad ? mrsi_state_damaged("the step", e) : MRS_OK;
    MRS_THEN(s, mrsi_load_bytes(j->en, saved, "sliceRest", &rest, e));
    s = s == MRS_OK && !are_documents(rest.p, rest.n) ? mrsi_state_damaged("the step", e) : s;
    mrs_block_init(&x->block, j->en->mem);
    if (s == MRS_OK && rest.n) {
        s = append(&x->block, rest.p, rest.n, e);
        x->block.off = off;
    }
    mrs_buf_clear(&rest);
    return s;
}
