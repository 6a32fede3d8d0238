/* SPDX-License-Identifier: Apache-2.0 */
/* temp.c - temporary files of a run. They are unlinked at once, so that nothing stays when the process dies, except
 * files that a checkpoint may refer to (checkpoint.c).
 *
 * A file is shared by the parts and scans that read it and closed by its last user. Until then files only grow, so
 * their total size is largest just before one is closed: it is measured there. */
#include "state.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum mrs_status
mrsi_temp_of(struct mrsi_engine *en, int fd, uint32_t no, struct mrsi_temp **out, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0);
    struct mrsi_temp *t = mrs_zalloc(en->mem, sizeof *t);
    *out = NULL;
    if (!t) {
        close(fd);
        return mrs_err_memory(e, sizeof *t);
    }
    t->fd = fd;
    t->no = no;
    t->users = 1;
    pthread_mutex_lock(&en->temp_lock);
    t->behind = en->temps;
    if (t->behind) {
        t->behind->before = t;
    }
    en->temps = t;
    pthread_mutex_unlock(&en->temp_lock);
    *out = t;
    return MRS_OK;
}

enum mrs_status
mrsi_temp_new(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e)
{
    int fd;
    *out = NULL;
    enum mrs_status s = mrs_temp_open(en->tmp, &fd, e);
    return s == MRS_OK ? mrsi_temp_of(en, fd, 0, out, e) : s;
}

static void
measure(struct mrsi_engine *en)
{
    uint64_t sum = 0;
    struct stat st;
    for (const struct mrsi_temp *t = en->temps; t; t = t->behind) {
        sum += !t->aside && fstat(t->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    }
    en->temp_most = sum > en->temp_most ? sum : en->temp_most;
}

void
mrsi_temp_drop(struct mrsi_engine *en, struct mrsi_temp *t)
{
    MRS_ASSERT(!t || t->users > 0);
    if (!t || --t->users) {
        return;
    }
    pthread_mutex_lock(&en->temp_lock);
    measure(en);
    if (t->before) {
        t->before->behind = t->behind;
    } else {
        en->temps = t->behind;
    }
    if (t->behind) {
        t->behind->before = t->before;
    }
    pthread_mutex_unlock(&en->temp_lock);
    close(t->fd);
    if (t->no) {
        mrsi_ckpt_dropped(en, t->no);
    }
    mrs_free(en->mem, t);
}

void
mrsi_temp_sum(struct mrsi_temp *t, const void *p, size_t n)
{
    mrs_hash_run_begin(&t->sum);
    mrs_hash_run_add(&t->sum, p, n);
    t->summed = n;
}

enum mrs_status
mrsi_temp_append(struct mrsi_temp *t, const void *p, size_t n, uint64_t off, struct mrs_err *e)
{
    if (t->no && (!off || off != t->summed)) { /* the checksum would not cover the final contents */
        mrs_hash_run_begin(&t->sum);
        t->summed = 0;
    }
    if (t->no && off == t->summed) {
        mrs_hash_run_add(&t->sum, p, n);
        t->summed += n;
    }
    return mrs_write_at(t->fd, p, n, off, e);
}

uint64_t
mrsi_temp_most(struct mrsi_engine *en)
{
    pthread_mutex_lock(&en->temp_lock);
    measure(en);
    uint64_t most = en->temp_most;
    pthread_mutex_unlock(&en->temp_lock);
    return most;
}

void
mrsi_advise_huge(void *p, size_t n)
{
    const uintptr_t page = 2u << 20;
    uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1), to = ((uintptr_t)p + n) & ~(page - 1);
    if (to > from) {
        madvise((void *)from, to - from, MADV_HUGEPAGE);
    }
}
