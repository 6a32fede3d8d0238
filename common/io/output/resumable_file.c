/* SPDX-License-Identifier: Apache-2.0 */
/* resumable_file.c - an output file that takes long to write: one file with everything, or a copy without changes.
 *
 * Between its parts the writer calls the run. If the run requests a savepoint, all written bytes are synced and the
 * state is saved: the number of valid bytes, the piece that is not compressed yet, and the writer's own read position.
 * A resumed run truncates the file to those bytes and continues, to the same final bytes. Must not know when, or for
 * what, a savepoint is taken. */
#include "resumable_file.h"
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define SPAN_LEAST (1ull << 20)
#define SPAN_MOST (64ull << 20)

uint64_t
mrsi_saved_number(struct mrs_view d, const char *name)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_INT64 ? (uint64_t)mrs_val_i64(v) : 0;
}

const char *
mrsi_saved_text(struct mrs_view d, const char *name)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_STRING && strlen((const char *)v.p + 4) + 5 == v.n ? (const char *)v.p + 4 : NULL;
}

enum mrs_status
mrsi_resumable_damaged(const struct mrsi_resumable *h, struct mrs_err *e)
{
    return mrs_err_checkpoint(e, "its place in %s", h->path);
}

/* ---- pausing ---- */
static enum mrs_status
put_into_words(struct mrsi_resumable *h, struct mrs_err *e)
{
    struct mrs_buf pending;
    struct mrs_build b;
    struct mrs_view d;
    uint64_t bytes = 0;
    mrs_buf_init(&pending, h->words->mem, MRS_DOC_MAX);
    enum mrs_status s = h->enc ? mrsi_encoder_mark(h->enc, &bytes, &pending, e) : MRS_OK;
    off_t at = s == MRS_OK && !h->enc ? lseek(h->fd, 0, SEEK_CUR) : 0;
    s = at < 0 ? mrs_err_sys(e, errno, "seek in %s", h->path) : s;
    MRS_THEN(s, mrsi_sync_fd(h->fd, h->path, e));
    if (s == MRS_OK) {
        mrs_build_init(&b, h->words);
        mrs_build_text(&b, "path", h->path, (uint32_t)strlen(h->path));
        if (h->name) {
            mrs_build_text(&b, "name", h->name, (uint32_t)strlen(h->name));
            mrs_build_i64(&b, "extra", h->extra);
        }
        mrs_build_i64(&b, "file", (int64_t)(h->enc ? h->base + bytes : (uint64_t)at));
        mrs_build_text(&b, "pending", (const char *)pending.p, (uint32_t)pending.n);
        if (h->add_fields) {
            h->add_fields(h->arg, &b);
        }
        s = mrs_build_finish(&b, &d, e);
    }
    mrs_buf_clear(&pending);
    return s;
}

enum mrs_status
mrsi_resumable_rest(struct mrsi_resumable *h, uint64_t bytes, struct mrs_err *e)
{
    if (!h || !h->pause->due || !h->pause->due(h->pause->arg, bytes)) {
        return MRS_OK;
    }
    enum mrs_status s = h->words ? put_into_words(h, e) : MRS_OK;
    MRS_THEN(s, h->pause->rest(h->pause->arg, e));
    if (h->words) {
        mrs_buf_reset(h->words);
    }
    return s;
}

/* ---- resuming ---- */
/* Truncates the file to the length in the saved document, and seeks to its end. */
static enum mrs_status
cut_to_words(const struct mrsi_resumable *h, const char *name, struct mrs_err *e)
{
    return mrsi_cut_file(h->fd, name, mrsi_saved_number(h->from, "file"), e);
}

enum mrs_status
mrsi_resumable_encoder(struct mrs_mem *mem, struct mrsi_resumable *h, const struct mrsi_encoder_to *to,
                       struct mrsi_encoder **enc, struct mrs_err *e)
{
    MRS_ASSERT(to->fd >= 0 && enc);
    enum mrs_status s;
    if (!mrsi_resumable_is_resumed(h)) {
        s = mrsi_encoder_open(mem, to, enc, e);
    } else {
        struct mrs_val pending = mrs_doc_get(h->from, "pending");
        uint64_t file = mrsi_saved_number(h->from, "file");
        uint32_t n = 0;
        if (pending.type != MRS_STRING || file < h->base) {
            return mrsi_resumable_damaged(h, e);
        }
        const char *p = mrs_val_text(pending, &n);
        struct mrsi_encoder_mark saved = {file - h->base, p, n, h->base};
        s = mrsi_encoder_resume(mem, to, &saved, enc, e);
    }
    if (h && s == MRS_OK) {
        h->enc = *enc;
    }
    return s;
}

/* Parts grow: so a small file has pauses, too, and a large one not too many. */
enum mrs_status
mrsi_resumable_span(struct mrsi_resumable *h, const struct mrsi_file_span *from, uint64_t *done, int to,
                    const char *to_name, struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0 && to >= 0 && done);
    struct mrsi_file_span left = *from;
    uint64_t most = h ? SPAN_LEAST : UINT64_MAX;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && left.n) {
        struct mrsi_file_span part = {left.fd, left.off, left.n < most ? left.n : most, left.name};
        s = mrsi_copy_span(&part, to, to_name, e);
        left.off += part.n;
        left.n -= part.n;
        *done += part.n;
        MRS_THEN(s, mrsi_resumable_rest(h, part.n, e));
        most = most < SPAN_MOST ? 2 * most : most;
    }
    return s;
}

/* ---- files of the output ---- */
void
mrsi_resumable_begin(struct mrs_output *o, const char *path, const char *name, bool extra, struct mrsi_resumable *h)
{
    MRS_ASSERT(path);
    bool reported = o->kind != MRSI_OUT_STDOUT && !o->to_stdout;
    *h = (struct mrsi_resumable){.pause = &o->pause,
                            .words = reported ? &o->resumed : NULL,
                            .path = path,
                            .name = name,
                            .extra = extra,
                            .fd = -1,
                            .from = mrs_empty_doc()};
    if (o->resumed_from.n && !o->resumed_taken) {
        struct mrs_view d = {o->resumed_from.p, (uint32_t)o->resumed_from.n};
        const char *was = mrsi_saved_text(d, "name");
        bool same = was && name ? strcmp(was, name) == 0 : !was && !name;
        same = same && extra == (mrsi_saved_number(d, "extra") != 0);
        if (same && strcmp(mrsi_saved_text(d, "path"), path) == 0) {
            h->from = d;
            o->resumed_taken = true;
        }
    }
}

bool
mrsi_resumable_of(const struct mrs_output *o, const char *ns)
{
    struct mrs_view d = {o->resumed_from.p, (uint32_t)o->resumed_from.n};
    const char *name = d.n && !o->resumed_taken ? mrsi_saved_text(d, "name") : NULL;
    return name && strcmp(name, ns) == 0 && !mrsi_saved_number(d, "extra");
}

bool
mrsi_resumable_is_copy(const struct mrs_output *o)
{
    return mrsi_saved_text((struct mrs_view){o->resumed_from.p, (uint32_t)o->resumed_from.n}, "name");
}

enum mrs_status
mrsi_resumable_open(struct mrs_output *o, struct mrsi_resumable *h, char **path, struct mrs_err *e)
{
    if (!mrsi_resumable_is_resumed(h)) {
        return mrsi_output_create(o, h->path, &h->fd, path, e);
    }
    char *full = mrsi_format(o->mem, "%s/%s", o->partial, h->path);
    MRS_TRY(mrs_allocated(full, strlen(h->path), e));
    h->fd = open(full, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    enum mrs_status s = h->fd < 0 ? mrs_err_sys(e, errno, "open %s", full) : cut_to_words(h, full, e);
    if (s != MRS_OK) {
        if (h->fd >= 0) {
            close(h->fd);
        }
        mrs_free(o->mem, full);
        return s;
    }
    *path = full;
    return MRS_OK;
}
