/* SPDX-License-Identifier: Apache-2.0 */
/* archive_log.c - records the extents of each namespace, in input order.
 *
 * Archives have few extents of many megabytes or, if hostile, one for each document. A fixed number of the newest is in
 * memory; older ones go to a temporary file, which is read once from its beginning. */
#include "archive.h"
#include <unistd.h>

#define IN_MEMORY (128u << 10) /* pieces: 3 MiB */

void
mrsi_log_init(struct mrsi_log *l, struct mrs_mem *mem, const char *tmp)
{
    MRS_ASSERT(mem);
    memset(l, 0, sizeof *l);
    l->mem = mem;
    l->tmp = tmp;
    l->fd = -1;
}

void
mrsi_log_clear(struct mrsi_log *l)
{
    if (l->fd >= 0) {
        close(l->fd);
    }
    mrs_free(l->mem, l->at);
    mrsi_log_init(l, l->mem, l->tmp);
}

static enum mrs_status
make_room(struct mrsi_log *l, struct mrs_err *e)
{
    MRS_ASSERT(l->n <= l->cap);
    enum mrs_status s = MRS_OK;
    if (l->cap < IN_MEMORY) {
        struct mrsi_piece_at *more = mrs_more(l->mem, l->at, l->n, &l->cap, sizeof *more);
        l->at = more ? more : l->at;
        return mrs_allocated(more, sizeof *more, e);
    }
    if (l->fd < 0) {
        s = mrs_temp_open(l->tmp, &l->fd, e);
    }
    uint32_t n = l->n - 1; /* the last one may still grow */
    MRS_THEN(s, mrs_write_at(l->fd, l->at, n * sizeof *l->at, l->written * sizeof *l->at, e));
    if (s == MRS_OK) {
        l->written += n;
        l->at[0] = l->at[n];
        l->n = 1;
    }
    return s;
}

enum mrs_status
mrsi_log_add(struct mrsi_log *l, uint32_t ns, uint64_t off, uint64_t n, struct mrs_err *e)
{
    MRS_ASSERT(l->n <= l->cap);
    struct mrsi_piece_at *last = l->n ? &l->at[l->n - 1] : NULL;
    if (last && last->ns == ns && last->off + last->n == off) {
        last->n += n;
        return MRS_OK;
    }
    if (l->n == l->cap) {
        MRS_TRY(make_room(l, e));
    }
    memset(&l->at[l->n], 0, sizeof *l->at); /* its padding is written to a file */
    l->at[l->n].ns = ns;
    l->at[l->n].off = off;
    l->at[l->n++].n = n;
    return MRS_OK;
}

enum mrs_status
mrsi_log_each(const struct mrsi_log *l, mrsi_log_fn fn, void *arg, struct mrs_err *e)
{
    MRS_ASSERT(fn);
    enum { ROOM = 1024 };
    struct mrsi_piece_at room[ROOM];
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < l->written; i += ROOM) {
        uint64_t n = l->written - i < ROOM ? l->written - i : ROOM;
        s = mrs_read_at(l->fd, room, n * sizeof *room, i * sizeof *room, e);
        for (uint64_t k = 0; s == MRS_OK && k < n; k++) {
            s = fn(arg, &room[k], e);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < l->n; i++) {
        s = fn(arg, &l->at[i], e);
    }
    return s;
}
