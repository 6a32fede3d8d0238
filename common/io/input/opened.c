/* SPDX-License-Identifier: Apache-2.0 */
/* opened.c - a file or stream given as input: opened once, and recognized by its first bytes.
 *
 * Content decides, not a name. Compressed input is decoded as far as needed to recognize the content. Only the first
 * bytes of a pipe are read, and they are kept for its reader. */
#include "archive.h"
#include "io/codec/codec.h"
#include "container.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define HEAD (64u << 10)

static enum mrs_status
open_fd(const char *path, struct mrsi_opened *o, struct mrs_err *e)
{
    bool named = strcmp(path, "-") != 0;
    o->name = named ? path : "standard input";
    o->fd = STDIN_FILENO;
    MRS_TRY(named ? mrsi_open_read(path, &o->fd, &o->st, e) : MRS_OK);
    o->own = named;
    off_t here = lseek(o->fd, 0, SEEK_CUR);
    if (fstat(o->fd, &o->st) < 0) {
        return mrs_err_sys(e, errno, "stat %s", o->name);
    }
    o->pipe = here < 0 || !S_ISREG(o->st.st_mode);
    o->start = o->pipe ? 0 : (uint64_t)here;
    o->bytes = !o->pipe && o->st.st_size > here ? (uint64_t)(o->st.st_size - here) : 0;
    if (!named && !o->pipe) {
        o->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        o->own = o->fd >= 0;
    }
    return o->fd < 0 ? mrs_err_sys(e, errno, "open standard input") : MRS_OK;
}

/* Decodes the head as far as possible; the reader of the input reports damage. */
static enum mrs_status
decode_head(struct mrsi_opened *o, struct mrs_err *e)
{
    MRS_ASSERT(o->fd >= 0);
    const char *why;
    const struct mrsi_codec *codec = mrsi_codec_of(o->codec);
    void *dec = codec->dec_open(o->mem);
    MRS_TRY(mrs_allocated(dec, HEAD, e));
    struct mrsi_flow f = {o->head, o->head_n, o->plain, sizeof o->plain};
    enum mrs_status s = MRS_OK;
    for (size_t in = SIZE_MAX, out = SIZE_MAX; s == MRS_OK && f.out_n && (f.in_n != in || f.out_n != out);) {
        in = f.in_n;
        out = f.out_n;
        s = codec->dec_step(dec, &f, &why);
    }
    codec->dec_close(dec);
    o->plain_n = sizeof o->plain - f.out_n;
    return s == MRS_DEAD ? mrs_err_memory(e, HEAD) : MRS_OK;
}

static enum mrs_status
inspect_content(struct mrsi_opened *o, struct mrs_err *e)
{
    o->codec = mrsi_codec_by_magic(o->head, o->head_n);
    o->plain_n = o->head_n < sizeof o->plain ? o->head_n : sizeof o->plain;
    memcpy(o->plain, o->head, o->plain_n);
    enum mrs_status s = o->codec == MRS_CODEC_NONE ? MRS_OK : decode_head(o, e);
    if (s == MRS_OK && o->codec == MRS_CODEC_GZIP && mrsi_codec_by_magic(o->plain, o->plain_n) == MRS_CODEC_GZIP) {
        o->codec = MRS_CODEC_TWICE;
        s = decode_head(o, e);
    }
    return s;
}

static enum mrs_status
inspect(struct mrsi_opened *o, struct mrs_err *e)
{
    struct mrsi_pipe_in pipe = {o->fd, o->name, o->pause};
    enum mrs_status s = o->pipe ? mrsi_read_pipe(&pipe, o->head, HEAD, &o->head_n, e)
                                : mrsi_pread_full(o->fd, o->head, HEAD, o->start, o->name, &o->head_n, e);
    return s == MRS_OK ? inspect_content(o, e) : s;
}

enum mrs_status
mrsi_opened_file(const char *path, struct mrsi_opened *o, struct mrs_err *e)
{
    MRS_ASSERT(path && o->mem);
    *o = (struct mrsi_opened){.mem = o->mem, .pause = o->pause, .fd = -1};
    enum mrs_status s = open_fd(path, o, e);
    o->head = s == MRS_OK ? mrs_alloc(o->mem, HEAD) : NULL;
    if (s == MRS_OK && !o->head) {
        return mrs_err_memory(e, HEAD);
    }
    return s == MRS_OK ? inspect(o, e) : s;
}

static void
replace(struct mrsi_opened *o, int fd)
{
    MRS_ASSERT(fd >= 0);
    if (o->own) {
        close(o->fd);
    }
    o->fd = fd;
    o->own = true;
    o->pipe = false;
    o->start = 0;
}

enum mrs_status
mrsi_opened_decode(struct mrsi_opened *o, const char *tmp, struct mrs_err *e)
{
    MRS_ASSERT(o->fd >= 0);
    int fd = -1;
    enum mrs_status s = o->pipe ? mrsi_opened_spool(o, tmp, e) : MRS_OK;
    struct mrsi_source_from from = {o->fd, false, o->start, o->bytes, MRS_CODEC_NONE, o->name, NULL};
    struct mrsi_spot spot = {tmp, o->pause};
    MRS_THEN(s, mrsi_container_decode(o->mem, &from, &spot, &fd, &o->bytes, e));
    if (s != MRS_OK) {
        return s;
    }
    replace(o, fd);
    return inspect(o, e);
}

enum mrs_status
mrsi_opened_spool(struct mrsi_opened *o, const char *tmp, struct mrs_err *e)
{
    MRS_ASSERT(o->pipe);
    struct mrsi_pipe_from from = {{o->fd, o->name, o->pause}, o->head, o->head_n};
    int spool = -1;
    enum mrs_status s = mrsi_spool(&from, tmp, &spool, &o->bytes, e);
    if (s == MRS_OK) {
        replace(o, spool);
    }
    return s;
}

bool
mrsi_opened_is_archive(const struct mrsi_opened *o)
{
    MRS_ASSERT(o->plain_n <= sizeof o->plain);
    static const char *const ends[] = {".archive", ".archive.gz", ".archive.zst", ".agz"};
    bool named = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(o->name), k = strlen(ends[i]);
        named = named || (n > k && strcmp(o->name + n - k, ends[i]) == 0);
    }
    return named || (o->plain_n >= 4 && mrs_le32(o->plain) == MRSI_ARCHIVE_MAGIC);
}

/* Content also decides for zips, except for files named like those of a dump: documents may contain a zip. */
bool
mrsi_opened_is_container(const struct mrsi_opened *o)
{
    struct mrsi_source_from from = {o->fd, false, o->start, o->bytes, MRS_CODEC_NONE, o->name, NULL};
    bool other = mrsi_file_name(mrsi_base_name(o->name)).kind == MRSI_FILE_OTHER;
    return mrsi_container_packing(o->plain, o->plain_n) != MRSI_PACKING_NONE ||
           (other && o->own && !o->pipe && o->codec == MRS_CODEC_NONE && mrsi_zip_behind(o->mem, &from));
}

/* Can these be the first bytes of a document? Its length, and the type of its first field. */
static bool
begins_document(const uint8_t *p, size_t got)
{
    uint32_t n = got < 4 ? MRS_DOC_MIN : mrs_le32(p);
    uint8_t type = got < MRS_DOC_MIN ? 0 : p[4];
    bool known = type <= MRS_DECIMAL128 || type == MRS_MINKEY || type == MRS_MAXKEY;
    return n >= MRS_DOC_MIN && n <= MRS_DOC_READ_MAX && known && (type || n == MRS_DOC_MIN || got < MRS_DOC_MIN);
}

bool
mrsi_opened_is_foreign(const struct mrsi_opened *o)
{
    MRS_ASSERT(o->plain_n <= sizeof o->plain);
    bool possible = begins_document(o->plain, o->plain_n);
    enum mrsi_file_kind kind = mrsi_file_name(mrsi_base_name(o->name)).kind;
    bool named = kind != MRSI_FILE_OTHER; /* like files of a dump */
    if (mrsi_foreign(o->plain, o->plain_n)) {
        return kind != MRSI_FILE_META && (!possible || !named);
    }
    return !possible && !named && o->own && !o->pipe;
}

void
mrsi_opened_close(struct mrsi_opened *o)
{
    if (o->own) {
        close(o->fd);
    }
    mrs_free(o->mem, o->head);
    o->own = false;
    o->head = NULL;
}
