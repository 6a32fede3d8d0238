/* SPDX-License-Identifier: Apache-2.0 */
/* job_state.c - the data of a pass between two jobs, as fields of its savepoint. */
#include "state.h"

/* Includes the name, so that one file does not pass for another. */
static int64_t
sum_of(const struct mrsi_temp *t, const char *name)
{
    return (int64_t)mrs_hash64(name, strlen(name), mrs_hash_run_end(&t->sum));
}

void
mrsi_save_sum(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b)
{
    MRS_ASSERT(!bytes || t->summed == bytes);
    if (bytes) {
        mrs_build_i64(b, "sum", sum_of(t, name));
    }
}

static void
put_file(const char *name, const struct mrsi_temp *t, uint64_t bytes, bool summed, struct mrs_build *b,
         struct mrs_buf *files)
{
    MRS_ASSERT(!t || t->no > 0);
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    mrs_build_i64(b, "file", t ? t->no : 0);
    mrs_build_i64(b, "bytes", t ? (int64_t)bytes : 0);
    if (t && summed) {
        mrsi_save_sum(name, t, bytes, b);
    }
    mrs_build_close(b);
    if (t) {
        mrs_buf_put(files, &t->no, sizeof t->no);
    }
}

void
mrsi_save_temp(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b, struct mrs_buf *files)
{
    put_file(name, t, bytes, true, b, files);
}

void
mrsi_save_temp_unsummed(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b,
                        struct mrs_buf *files)
{
    put_file(name, t, bytes, false, b, files);
}

enum mrs_status
mrsi_save_bytes(struct mrsi_engine *en, const char *name, const void *p, size_t n, struct mrs_build *b,
                struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_temp *t = NULL;
    enum mrs_status s = n ? mrsi_ckpt_temp(en, &t, e) : MRS_OK;
    if (s == MRS_OK && t) {
        s = mrsi_temp_append(t, p, n, 0, e);
        t->bytes = n;
    }
    if (s != MRS_OK) {
        mrsi_temp_drop(en, t);
        return s;
    }
    mrsi_save_temp(name, t, n, b, files);
    return t ? mrsi_ckpt_until_savepoint(en, t, e) : MRS_OK;
}

struct mrs_view
mrsi_savepoint_doc(struct mrs_view saved, const char *name)
{
    struct mrs_val v = mrs_doc_get(saved, name);
    return v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc();
}

enum mrs_status
mrsi_load_temp_unsummed(struct mrsi_engine *en, struct mrs_view saved, const char *name, struct mrsi_temp **t,
                        uint64_t *bytes, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_view d = mrsi_savepoint_doc(saved, name);
    uint32_t no = (uint32_t)mrsi_state_number(d, "file", mrsi_ckpt_next(en) - 1, &bad);
    *t = NULL;
    *bytes = mrsi_state_number(d, "bytes", INT64_MAX, &bad);
    if (bad || (!no && *bytes)) {
        return mrsi_state_damaged(name, e);
    }
    return no ? mrsi_ckpt_reopen(en, no, *bytes, t, e) : MRS_OK;
}

static enum mrs_status
sum_up(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    struct mrsi_temp *t = arg;
    (void)e;
    mrs_hash_run_add(&t->sum, p, n);
    t->summed += n;
    return MRS_OK;
}

enum mrs_status
mrsi_save_sum_again(struct mrsi_engine *en, struct mrsi_temp *t, uint64_t bytes, struct mrs_err *e)
{
    struct mrsi_savepoint_items all = {en, 1, sum_up, t};
    mrs_hash_run_begin(&t->sum);
    t->summed = 0;
    return mrsi_savepoint_items_each(&all, t, bytes, e);
}

enum mrs_status
mrsi_load_sum(struct mrsi_engine *en, struct mrs_view d, const char *name, struct mrsi_temp *t, uint64_t bytes,
              struct mrs_err *e)
{
    struct mrs_val sum = mrs_doc_get(d, "sum");
    enum mrs_status s = mrsi_save_sum_again(en, t, bytes, e);
    if (s == MRS_OK && bytes && (sum.type != MRS_INT64 || mrs_val_i64(sum) != sum_of(t, name))) {
        s = mrs_err_checkpoint(e, "its file %u, %s, is not as it was", t->no, name);
    }
    return s;
}

enum mrs_status
mrsi_load_temp(struct mrsi_engine *en, struct mrs_view saved, const char *name, struct mrsi_temp **t,
               uint64_t *bytes, struct mrs_err *e)
{
    enum mrs_status s = mrsi_load_temp_unsummed(en, saved, name, t, bytes, e);
    if (s == MRS_OK && *t) {
        s = mrsi_load_sum(en, mrsi_savepoint_doc(saved, name), name, *t, *bytes, e);
    }
    if (s != MRS_OK) {
        mrsi_temp_drop(en, *t);
        *t = NULL;
    }
    return s;
}

enum mrs_status
mrsi_load_bytes(struct mrsi_engine *en, struct mrs_view saved, const char *name, struct mrs_buf *out,
                struct mrs_err *e)
{
    struct mrsi_temp *t;
    uint64_t n;
    enum mrs_status s = mrsi_load_temp(en, saved, name, &t, &n, e);
    if (s != MRS_OK || !t) {
        return s;
    }
    uint8_t *p = mrs_buf_take(out, n);
    s = p ? mrs_read_at(t->fd, p, n, 0, e) : mrs_buf_status(out, e);
    mrsi_temp_drop(en, t);
    return s;
}

void
mrsi_save_place(const struct mrs_reader_at *at, struct mrs_build *b)
{
    mrs_build_i64(b, "off", (int64_t)at->off);
    mrs_build_i64(b, "doc", (int64_t)at->doc);
    mrs_build_i64(b, "block", (int64_t)at->seq);
}

struct mrs_reader_at
mrsi_load_place(struct mrs_view d, bool *bad)
{
    return (struct mrs_reader_at){mrsi_state_number(d, "off", INT64_MAX, bad),
                                  mrsi_state_number(d, "doc", INT64_MAX, bad),
                                  mrsi_state_number(d, "block", INT64_MAX, bad)};
}

void
mrsi_save_log(const char *name, struct mrsi_refused_position at, struct mrs_build *b)
{
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    mrs_build_i64(b, "docs", (int64_t)at.n);
    mrs_build_i64(b, "bytes", (int64_t)at.bytes);
    mrs_build_close(b);
}

/* Limited by the log of the savepoint: the engine's may still be the one from before the step. */
struct mrsi_refused_position
mrsi_load_log(struct mrs_view saved, const char *name, bool *bad)
{
    struct mrs_view d = mrsi_savepoint_doc(saved, name);
    uint64_t most = mrsi_state_number(saved, "refused", INT64_MAX, bad);
    uint64_t most_bytes = mrsi_state_number(saved, "refusedBytes", INT64_MAX, bad);
    uint64_t n = mrsi_state_number(d, "docs", most, bad), bytes = mrsi_state_number(d, "bytes", most_bytes, bad);
    return (struct mrsi_refused_position){.bytes = bytes, .n = n};
}

bool
mrsi_savepoint_is_doc(const uint8_t *p, uint64_t n)
{
    return n >= MRS_DOC_MIN && mrs_le32(p) == n && mrs_doc_check(p, n, MRS_DEPTH_READ, NULL) == MRS_OK;
}

bool
mrsi_savepoint_is_value(uint8_t type, const uint8_t *p, uint32_t n, struct mrs_buf *room)
{
    uint8_t head[6] = {0, 0, 0, 0, type, 0}; /* header of a document with this value under an empty name */
    mrs_buf_reset(room);
    mrs_put32(head, n + (uint32_t)sizeof head + 1);
    mrs_buf_put(room, head, sizeof head);
    mrs_buf_put(room, p, n);
    mrs_buf_byte(room, 0);
    return !room->bad && n < MRS_DOC_READ_MAX && mrsi_savepoint_is_doc(room->p, room->n);
}
