/* SPDX-License-Identifier: Apache-2.0 */
/* kept_files.c - the numbered files in OUT.checkpoint that a state may refer to; removes those that are not needed. */
#include "state.h"
#include <unistd.h>

enum mrs_status
mrsi_kept_files_open(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(!en->kept && en->opts->output);
    struct mrsi_kept_files *k = mrs_zalloc(en->mem, sizeof *k);
    MRS_TRY(mrs_allocated(k, sizeof *k, e));
    struct mrs_buf *const bufs[] = {&k->files, &k->on_disk, &k->doomed, &k->pass_temps};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        mrs_buf_init(bufs[i], en->mem, MRS_DOC_MAX);
    }
    k->dir = (struct mrs_ckpt_dir){en->mem, en->opts->output, en->opts->tmp};
    k->next = 1;
    en->kept = k;
    return MRS_OK;
}

void
mrsi_kept_files_close(struct mrsi_engine *en)
{
    struct mrsi_kept_files *k = en->kept;
    if (!k) {
        return;
    }
    en->kept = NULL;
    struct mrs_buf *const bufs[] = {&k->files, &k->on_disk, &k->doomed, &k->pass_temps};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        mrs_buf_clear(bufs[i]);
    }
    mrs_free(en->mem, k);
}

bool
mrsi_kept_files_has(const struct mrs_buf *list, uint32_t no)
{
    for (size_t i = 0; i + sizeof no <= list->n; i += sizeof no) {
        if (memcmp(list->p + i, &no, sizeof no) == 0) {
            return true;
        }
    }
    return false;
}

/* Removes files to which neither the state on disk nor the boundary refers. */
void
mrsi_kept_files_sweep(struct mrsi_engine *en)
{
    struct mrsi_kept_files *k = en->kept;
    size_t left = 0;
    for (size_t i = 0; i + sizeof(uint32_t) <= k->doomed.n; i += sizeof(uint32_t)) {
        uint32_t no;
        memcpy(&no, k->doomed.p + i, sizeof no);
        if (mrsi_kept_files_has(&k->on_disk, no) || mrsi_kept_files_has(&k->files, no)) {
            memmove(k->doomed.p + left, &no, sizeof no);
            left += sizeof no;
        } else {
            mrs_ckpt_dir_drop(&k->dir, no);
        }
    }
    k->doomed.n = left;
}

uint32_t
mrsi_ckpt_next(const struct mrsi_engine *en)
{
    MRS_ASSERT(en->kept);
    return en->kept->next;
}

enum mrs_status
mrsi_ckpt_temp(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e)
{
    int fd;
    if (!en->kept) {
        return mrsi_temp_new(en, out, e);
    }
    *out = NULL;
    pthread_mutex_lock(&en->temp_lock);
    uint32_t no = en->kept->next;
    enum mrs_status s = mrs_ckpt_dir_file(&en->kept->dir, no, true, &fd, e);
    en->kept->next += s == MRS_OK;
    pthread_mutex_unlock(&en->temp_lock);
    return s == MRS_OK ? mrsi_temp_of(en, fd, no, out, e) : s;
}

enum mrs_status
mrsi_ckpt_reopen(struct mrsi_engine *en, uint32_t no, uint64_t bytes, struct mrsi_temp **out, struct mrs_err *e)
{
    MRS_ASSERT(no > 0);
    int fd;
    MRS_TRY(mrs_ckpt_dir_file(&en->kept->dir, no, false, &fd, e));
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || (uint64_t)size < bytes) {
        close(fd);
        return mrsi_state_damaged("a file of it is too short", e);
    }
    enum mrs_status s = mrsi_temp_of(en, fd, no, out, e);
    if (s == MRS_OK) {
        (*out)->bytes = bytes;
    }
    return s;
}

void
mrsi_ckpt_dropped(struct mrsi_engine *en, uint32_t no)
{
    MRS_ASSERT(no > 0);
    struct mrsi_kept_files *k = en->kept;
    if (!k) {
        return; /* all files were handled at the end */
    }
    if (mrsi_kept_files_has(&k->on_disk, no) || mrsi_kept_files_has(&k->files, no)) {
        mrs_buf_put(&k->doomed, &no, sizeof no);
    } else {
        mrs_ckpt_dir_drop(&k->dir, no);
    }
}

enum mrs_status
mrsi_ckpt_until_savepoint(struct mrsi_engine *en, struct mrsi_temp *t, struct mrs_err *e)
{
    MRS_ASSERT(en->kept && t);
    struct mrs_buf *temps = &en->kept->pass_temps;
    mrs_buf_put(temps, &t, sizeof t);
    if (temps->bad) {
        mrsi_temp_drop(en, t);
    }
    return mrs_buf_status(temps, e);
}

void
mrsi_kept_files_drop_marked(struct mrsi_engine *en)
{
    struct mrs_buf *temps = &en->kept->pass_temps;
    for (size_t i = 0; i + sizeof(struct mrsi_temp *) <= temps->n; i += sizeof(struct mrsi_temp *)) {
        struct mrsi_temp *t;
        memcpy(&t, temps->p + i, sizeof t);
        mrsi_temp_drop(en, t);
    }
    mrs_buf_reset(temps);
}
