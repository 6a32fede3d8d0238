/* SPDX-License-Identifier: Apache-2.0 */
/* file_array.c - see file_array.h. The file is complete before it is mapped: a full disk is a write error, never a
 * signal. This file does not know what an item is. */
#include "state.h"
#include "spill.h"
#include "file_array.h"
#include <stdlib.h>
#include <sys/mman.h>

void
mrsi_file_array_init(struct mrsi_file_array *t, struct mrsi_engine *en, size_t item, uint64_t limit)
{
    MRS_ASSERT(item > 0);
    memset(t, 0, sizeof *t);
    t->en = en;
    t->item = item;
    t->limit = limit < 4096 ? 4096 : limit;
    mrs_buf_init(&t->buf, en->mem, SIZE_MAX);
}

void
mrsi_file_array_clear(struct mrsi_file_array *t)
{
    if (t->en) {
        if (t->map) {
            munmap(t->map, t->bytes);
        }
        mrs_buf_clear(&t->buf);
        mrsi_temp_drop(t->en, t->temp);
        memset(t, 0, sizeof *t);
    }
}

void
mrsi_file_array_reset(struct mrsi_file_array *t)
{
    if (t->map) {
        munmap(t->map, t->bytes);
        t->map = NULL;
    }
    if (t->named) { /* data of a savepoint does not change */
        mrsi_temp_drop(t->en, t->temp);
        t->temp = NULL;
        t->named = false;
    }
    mrs_buf_reset(&t->buf);
    t->bytes = 0;
    t->n = 0;
    t->ended = false;
}

static enum mrs_status
open_file(struct mrsi_file_array *t, struct mrs_err *e)
{
    if (t->temp) {
        return MRS_OK;
    }
    return t->kept ? mrsi_ckpt_temp(t->en, &t->temp, e) : mrsi_temp_new(t->en, &t->temp, e);
}

static enum mrs_status
flush(struct mrsi_file_array *t, struct mrs_err *e)
{
    MRS_ASSERT(!t->map && t->buf.n > 0);
    enum mrs_status s = open_file(t, e);
    MRS_THEN(s, mrsi_temp_append(t->temp, t->buf.p, t->buf.n, t->bytes, e));
    t->bytes += t->buf.n;
    mrs_buf_reset(&t->buf);
    return s;
}

enum mrs_status
mrsi_file_array_spill(struct mrsi_file_array *t, struct mrs_err *e)
{
    return t->buf.n && !t->ended ? flush(t, e) : MRS_OK;
}

void
mrsi_file_array_expect(struct mrsi_file_array *t, uint64_t n)
{
    MRS_ASSERT(!t->ended);
    enum { FEW = 4 << 20 };
    uint64_t bytes = n < t->limit / t->item ? n * t->item : t->limit;
    if (!t->buf.p && bytes >= FEW) {
        mrs_buf_grow(&t->buf, bytes);
        t->buf.bad = 0; /* a smaller request may succeed */
        mrsi_advise_huge(t->buf.p, t->buf.cap);
    }
}

enum mrs_status
mrsi_file_array_put_n(struct mrsi_file_array *t, const void *items, size_t n, struct mrs_err *e)
{
    mrs_buf_put(&t->buf, items, t->item * n);
    t->n += n;
    if (t->buf.bad) {
        return mrs_buf_status(&t->buf, e);
    }
    return t->buf.n >= t->limit ? flush(t, e) : MRS_OK;
}

enum mrs_status
mrsi_file_array_put(struct mrsi_file_array *t, const void *item, struct mrs_err *e)
{
    return mrsi_file_array_put_n(t, item, 1, e);
}

enum mrs_status
mrsi_file_array_end(struct mrsi_file_array *t, struct mrs_err *e)
{
    t->ended = true;
    if (!t->bytes || t->map) { /* mapped: it was complete at the savepoint */
        t->p = t->map ? t->map : t->buf.p;
        return MRS_OK;
    }
    MRS_TRY(t->buf.n ? flush(t, e) : MRS_OK);
    void *map = mmap(NULL, t->bytes, PROT_READ, MAP_SHARED, t->temp->fd, 0);
    if (map == MAP_FAILED) {
        return mrs_err_memory(e, t->bytes);
    }
    t->map = map;
    t->p = map;
    return MRS_OK;
}

const void *
mrsi_file_array_find(const struct mrsi_file_array *t, const void *key, int (*cmp)(const void *, const void *))
{
    return t->n ? bsearch(key, t->p, t->n, t->item, cmp) : NULL;
}

/* ---- savepoints ---- */
/* Writes all items to the file. Complete arrays in memory are still read there. */
static enum mrs_status
save(struct mrsi_file_array *t, struct mrs_err *e)
{
    if (!t->buf.n || (t->ended && t->named)) {
        return MRS_OK;
    }
    if (!t->ended) {
        return flush(t, e);
    }
    enum mrs_status s = open_file(t, e);
    return s == MRS_OK ? mrsi_temp_append(t->temp, t->buf.p, t->buf.n, 0, e) : s;
}

/* The name of its file, which the checksum covers, says whether it is complete. */
static const char *const file_name[2] = {"begun", "whole"};

enum mrs_status
mrsi_file_array_save(struct mrsi_file_array *t, const char *name, struct mrs_build *b, struct mrs_buf *files,
                     struct mrs_err *e)
{
    enum mrs_status s = save(t, e);
    t->named = s == MRS_OK && t->temp && t->n; /* an empty array has no file in the savepoint */
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    mrsi_save_temp(file_name[t->ended], t->n ? t->temp : NULL, t->n * t->item, b, files);
    mrs_build_close(b);
    return s;
}

enum mrs_status
mrsi_file_array_load(struct mrsi_file_array *t, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(!t->temp && t->n == 0);
    struct mrs_view d = mrsi_savepoint_doc(saved, name);
    bool ended = mrs_doc_get(d, file_name[true]).type != MRS_MISSING;
    enum mrs_status s = mrsi_load_temp(t->en, d, file_name[ended], &t->temp, &t->bytes, e);
    if (s == MRS_OK && t->bytes % t->item) {
        s = mrsi_state_damaged(name, e);
    }
    if (s != MRS_OK) {
        return s;
    }
    t->n = t->bytes / t->item;
    t->named = t->temp != NULL;
    return ended ? mrsi_file_array_end(t, e) : MRS_OK;
}
