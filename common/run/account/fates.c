/* SPDX-License-Identifier: Apache-2.0 */
/* fates.c - one byte of flags for each document of `from`, by its ordinal.
 *
 * Stored in chunks: the first ones in memory, the others in a mapped temporary file, so that a billion documents do not
 * count against the budget. */
#include "account.h"
#include "run/store/state.h"
#include "fates.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

void
mrsi_fates_init(struct mrsi_fates *f, struct mrsi_engine *en)
{
    memset(f, 0, sizeof *f);
    f->en = en;
}

static uint64_t
chunks_in_memory(const struct mrsi_fates *f)
{
    return 1 + f->en->memory / 16 / MRSI_FATE_CHUNK;
}

void
mrsi_fates_clear(struct mrsi_fates *f)
{
    for (uint64_t i = 0; i < f->n_chunk; i++) {
        if (i < chunks_in_memory(f)) {
            mrs_free(f->en->mem, f->chunk[i]);
        } else {
            munmap(f->chunk[i], MRSI_FATE_CHUNK);
        }
    }
    if (f->en) {
        mrs_free(f->en->mem, f->chunk);
        mrsi_temp_drop(f->en, f->temp);
    }
    memset(f, 0, sizeof *f);
}

static enum mrs_status
map_chunk(struct mrsi_fates *f, uint8_t **out, struct mrs_err *e)
{
    MRS_ASSERT(f->n_chunk >= chunks_in_memory(f));
    enum mrs_status s = f->temp ? MRS_OK : mrsi_temp_new(f->en, &f->temp, e);
    uint64_t off = (f->n_chunk - chunks_in_memory(f)) * MRSI_FATE_CHUNK;
    int err = EINTR;
    while (s == MRS_OK && err == EINTR) { /* a hole would cause a signal when the disk is full */
        err = posix_fallocate(f->temp->fd, (off_t)off, MRSI_FATE_CHUNK);
    }
    if (s == MRS_OK && err) {
        s = mrs_err_sys(e, err, "temporary file");
    }
    if (s != MRS_OK) {
        return s;
    }
    *out = mmap(NULL, MRSI_FATE_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, f->temp->fd, (off_t)off);
    return *out == MAP_FAILED ? mrs_err_memory(e, MRSI_FATE_CHUNK) : MRS_OK;
}

/* Chunk i is complete: its pages stay in the file and count against no budget until they are touched again. */
static void
drop_pages(const struct mrsi_fates *f, uint64_t i)
{
    MRS_ASSERT(i < f->n_chunk);
    if (i >= chunks_in_memory(f)) {
        madvise(f->chunk[i], MRSI_FATE_CHUNK, MADV_DONTNEED);
    }
}

static enum mrs_status
add_chunk(struct mrsi_fates *f, struct mrs_err *e)
{
    MRS_ASSERT(f->n == f->n_chunk * MRSI_FATE_CHUNK);
    uint8_t **list = mrs_realloc(f->en->mem, f->chunk, (f->n_chunk + 1) * sizeof *list);
    MRS_TRY(mrs_allocated(list, MRSI_FATE_CHUNK, e));
    f->chunk = list;
    if (f->n_chunk < chunks_in_memory(f)) {
        list[f->n_chunk] = mrs_zalloc(f->en->mem, MRSI_FATE_CHUNK);
        MRS_TRY(mrs_allocated(list[f->n_chunk], MRSI_FATE_CHUNK, e));
    } else {
        MRS_TRY(map_chunk(f, &list[f->n_chunk], e));
    }
    f->n_chunk++;
    return MRS_OK;
}

enum mrs_status
mrsi_fates_append(struct mrsi_fates *f, const uint8_t *bits, uint64_t n, struct mrs_err *e)
{
    MRS_ASSERT(f->n <= f->n_chunk * MRSI_FATE_CHUNK);
    while (n) {
        if (f->n == f->n_chunk * MRSI_FATE_CHUNK) {
            if (f->n_chunk) {
                drop_pages(f, f->n_chunk - 1);
            }
            MRS_TRY(add_chunk(f, e));
        }
        uint64_t room = f->n_chunk * MRSI_FATE_CHUNK - f->n, some = n < room ? n : room;
        memcpy(f->chunk[f->n / MRSI_FATE_CHUNK] + f->n % MRSI_FATE_CHUNK, bits, some);
        f->n += some;
        bits += some;
        n -= some;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_fates_take(struct mrsi_fates *f, const struct mrs_block *b, const struct mrs_buf *bits, struct mrs_err *e)
{
    return b->first_doc == f->n ? mrsi_fates_append(f, bits->p, bits->n, e)
                                : mrsi_state_damaged("the fates of documents", e);
}

void
mrsi_fates_add(struct mrsi_fates *f, uint64_t order, unsigned bits)
{
    MRS_ASSERT(bits <= UINT8_MAX);
    if (order >= f->n) {
        __atomic_store_n(&f->beyond, true, __ATOMIC_RELAXED);
        return;
    }
    uint8_t *p = f->chunk[order / MRSI_FATE_CHUNK] + order % MRSI_FATE_CHUNK;
    if ((__atomic_load_n(p, __ATOMIC_RELAXED) & bits) != bits) {
        __atomic_fetch_or(p, (uint8_t)bits, __ATOMIC_RELAXED);
    }
}

unsigned
mrsi_fates_get(const struct mrsi_fates *f, uint64_t order)
{
    return order < f->n ? __atomic_load_n(&f->chunk[order / MRSI_FATE_CHUNK][order % MRSI_FATE_CHUNK], __ATOMIC_RELAXED)
                        : 0;
}

enum mrs_status
mrsi_fates_sound(const struct mrsi_fates *f, struct mrs_err *e)
{
    return f->beyond ? mrsi_state_damaged("the fates of documents", e) : MRS_OK;
}

enum mrs_status
mrsi_fates_there(const struct mrsi_fates *f, const struct mrs_block *b, struct mrs_err *e)
{
    return b->first_doc + b->n_docs <= f->n ? MRS_OK : mrsi_state_damaged("the fates of documents", e);
}

void
mrsi_fates_clear_used(struct mrsi_fates *f)
{
    for (uint64_t i = 0; i < f->n; i++) {
        uint8_t *p = &f->chunk[i / MRSI_FATE_CHUNK][i % MRSI_FATE_CHUNK];
        *p &= (uint8_t)~(MRSI_FATE_USED | (*p & MRSI_FATE_REFUSED ? 0 : MRSI_FATE_UNSORTED));
    }
}

uint64_t
mrsi_fates_refuse_unsorted(struct mrsi_fates *f)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < f->n; i++) {
        uint8_t *p = &f->chunk[i / MRSI_FATE_CHUNK][i % MRSI_FATE_CHUNK];
        if ((*p & (MRSI_FATE_UNSORTED | MRSI_FATE_REFUSED)) == MRSI_FATE_UNSORTED) {
            *p |= MRSI_FATE_REFUSED;
            n++;
        }
    }
    return n;
}

void
mrsi_fates_count(const struct mrsi_fates *f, uint64_t counts[MRSI_FATES])
{
    memset(counts, 0, MRSI_FATES * sizeof *counts);
    for (uint64_t i = 0; i < f->n; i++) {
        counts[f->chunk[i / MRSI_FATE_CHUNK][i % MRSI_FATE_CHUNK] & (MRSI_FATES - 1)]++;
        if (i % MRSI_FATE_CHUNK == MRSI_FATE_CHUNK - 1) {
            drop_pages(f, i / MRSI_FATE_CHUNK);
        }
    }
}

/* ---- savepoints ----
 * Flags change in place while a pass runs, also those in the file, so a savepoint gets a copy of all. */
enum mrs_status
mrsi_fates_save(struct mrsi_fates *f, const char *name, struct mrs_build *b, struct mrs_buf *files,
                struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct mrsi_savepoint_file copy;
    enum mrs_status s = MRS_OK;
    mrsi_savepoint_file_begin(&copy, f->en);
    for (uint64_t i = 0; s == MRS_OK && i < f->n_chunk; i++) {
        uint64_t left = f->n - i * MRSI_FATE_CHUNK;
        s = mrsi_savepoint_file_put(&copy, f->chunk[i], left < MRSI_FATE_CHUNK ? left : MRSI_FATE_CHUNK, e);
        drop_pages(f, i);
    }
    s = mrsi_savepoint_file_end(&copy, s, e);
    return s == MRS_OK ? mrsi_savepoint_file_save(&copy, name, b, files, e) : s;
}

static enum mrs_status
take_back(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    return mrsi_fates_append(arg, p, n, e);
}

enum mrs_status
mrsi_fates_load(struct mrsi_fates *f, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(f->n == 0);
    struct mrsi_savepoint_items x = {f->en, 1, take_back, f};
    return mrsi_load_items(&x, saved, name, e);
}
