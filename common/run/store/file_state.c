/* SPDX-License-Identifier: Apache-2.0 */
/* file_state.c - files of a savepoint that are written and read in pieces, so that a savepoint needs no memory for
 * scattered or computed data, and lists whose file grows with them. */
#include "state.h"

void
mrsi_savepoint_file_begin(struct mrsi_savepoint_file *f, struct mrsi_engine *en)
{
    memset(f, 0, sizeof *f);
    f->en = en;
    mrs_buf_init(&f->buf, en->mem, SIZE_MAX);
}

static enum mrs_status
flush(struct mrsi_savepoint_file *f, const void *p, size_t n, struct mrs_err *e)
{
    enum mrs_status s = f->temp || !n ? MRS_OK : mrsi_ckpt_temp(f->en, &f->temp, e);
    s = s == MRS_OK && n ? mrsi_temp_append(f->temp, p, n, f->bytes, e) : s;
    if (s == MRS_OK && n) {
        f->bytes += n;
        f->temp->bytes = f->bytes;
    }
    return s;
}

enum mrs_status
mrsi_savepoint_file_put(struct mrsi_savepoint_file *f, const void *p, size_t n, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    bool large = n > MRSI_SAVEPOINT_WINDOW / 2;
    if (large || f->buf.n + n > MRSI_SAVEPOINT_WINDOW) {
        s = flush(f, f->buf.p, f->buf.n, e);
        mrs_buf_reset(&f->buf);
    }
    if (s == MRS_OK && large) {
        return flush(f, p, n, e);
    }
    mrs_buf_put(&f->buf, p, n);
    return s == MRS_OK ? mrs_buf_status(&f->buf, e) : s;
}

enum mrs_status
mrsi_savepoint_file_end(struct mrsi_savepoint_file *f, enum mrs_status s, struct mrs_err *e)
{
    MRS_THEN(s, flush(f, f->buf.p, f->buf.n, e));
    mrs_buf_clear(&f->buf);
    if (s != MRS_OK) {
        mrsi_temp_drop(f->en, f->temp);
        f->temp = NULL;
        f->bytes = 0;
    }
    return s;
}

enum mrs_status
mrsi_savepoint_file_save(struct mrsi_savepoint_file *f, const char *name, struct mrs_build *b, struct mrs_buf *files,
                         struct mrs_err *e)
{
    struct mrsi_temp *t = f->temp;
    mrsi_save_temp(name, t, f->bytes, b, files);
    f->temp = NULL;
    return t ? mrsi_ckpt_until_savepoint(f->en, t, e) : MRS_OK;
}

/* ---- load ---- */
enum mrs_status
mrsi_savepoint_items_each(const struct mrsi_savepoint_items *x, const struct mrsi_temp *t, uint64_t bytes,
                          struct mrs_err *e)
{
    MRS_ASSERT(x->item > 0 && x->item <= MRSI_SAVEPOINT_WINDOW && bytes % x->item == 0);
    struct mrs_buf room;
    enum mrs_status s = MRS_OK;
    size_t window = MRSI_SAVEPOINT_WINDOW / x->item * x->item;
    mrs_buf_init(&room, x->en->mem, SIZE_MAX);
    uint8_t *p = mrs_buf_take(&room, window < bytes ? window : (size_t)bytes);
    if (!p) {
        s = mrs_buf_status(&room, e);
    }
    for (uint64_t at = 0; s == MRS_OK && at < bytes;) {
        size_t n = window < bytes - at ? window : (size_t)(bytes - at);
        s = mrs_read_at(t->fd, p, n, at, e);
        MRS_THEN(s, x->take(x->arg, p, n / x->item, e));
        at += n;
    }
    mrs_buf_clear(&room);
    return s;
}

enum mrs_status
mrsi_load_items(const struct mrsi_savepoint_items *x, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    struct mrsi_temp *t;
    uint64_t bytes;
    enum mrs_status s = mrsi_load_temp(x->en, saved, name, &t, &bytes, e);
    if (s == MRS_OK && bytes % x->item) {
        s = mrsi_state_damaged(name, e);
    }
    if (t) {
        MRS_THEN(s, mrsi_savepoint_items_each(x, t, bytes, e));
        mrsi_temp_drop(x->en, t);
    }
    return s;
}

/* ---- lists that grow ---- */
void
mrsi_savepoint_list_clear(struct mrsi_savepoint_list *l)
{
    mrsi_temp_drop(l->en, l->temp);
    l->temp = NULL;
    l->bytes = 0;
}

enum mrs_status
mrsi_savepoint_list_save(struct mrsi_savepoint_list *l, const char *name, struct mrs_build *b, struct mrs_buf *files,
                         struct mrs_err *e)
{
    uint64_t more = l->buf->n > l->bytes ? l->buf->n - l->bytes : 0;
    enum mrs_status s = l->temp || !more ? MRS_OK : mrsi_ckpt_temp(l->en, &l->temp, e);
    if (s == MRS_OK && more) {
        s = mrsi_temp_append(l->temp, l->buf->p + l->bytes, more, l->bytes, e);
        l->bytes += s == MRS_OK ? more : 0;
    }
    bool any = l->buf->n > 0; /* an emptied list has no file */
    mrsi_save_temp(name, any ? l->temp : NULL, l->bytes, b, files);
    return s;
}

enum mrs_status
mrsi_savepoint_list_load(struct mrsi_savepoint_list *l, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(!l->temp && l->buf->n == 0);
    enum mrs_status s = mrsi_load_temp(l->en, saved, name, &l->temp, &l->bytes, e);
    if (s != MRS_OK || !l->temp) {
        return s;
    }
    uint8_t *p = mrs_buf_take(l->buf, l->bytes);
    return p ? mrs_read_at(l->temp->fd, p, l->bytes, 0, e) : mrs_buf_status(l->buf, e);
}
