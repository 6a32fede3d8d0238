/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.c - whether a file is the one that was read before.
 *
 * Two files are taken as the same if their stamps (input_watch.c) and their first and last 64 KiB are equal. Data
 * without a permanent file (a stream copied to a file of ours) has no such time: there all bytes count. */
#include "input.h"
#include <errno.h>
#include <unistd.h>

#define ENDS (64u << 10)

struct print {
    struct mrs_hash128 sum;
    uint8_t *room; /* ENDS bytes */
};

static void
add(struct print *p, const void *bytes, size_t n)
{
    struct mrs_hash128 h = mrs_hash(bytes, n, p->sum.lo ^ (p->sum.hi << 1));
    p->sum.lo ^= h.lo;
    p->sum.hi += h.hi;
}

static void
add_number(struct print *p, uint64_t n)
{
    add(p, &n, sizeof n);
}

/* Bytes [off, off + n) of a file, as far as they exist. */
static enum mrs_status
add_bytes(struct print *p, int fd, uint64_t off, uint64_t n, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && p->room);
    enum mrs_status s = MRS_OK;
    size_t got = 1;
    for (uint64_t at = 0; s == MRS_OK && got && at < n; at += got) {
        uint64_t left = n - at;
        s = mrsi_pread_full(fd, p->room, left < ENDS ? (size_t)left : ENDS, off + at, name, &got, e);
        if (s == MRS_OK) {
            add(p, p->room, got);
        }
    }
    return s;
}

static enum mrs_status
add_extent(struct print *p, int fd, struct mrsi_src_extent x, bool all, const char *name, struct mrs_err *e)
{
    add_number(p, x.n);
    if (all || x.n <= 2 * ENDS) {
        return add_bytes(p, fd, x.off, x.n, name, e);
    }
    enum mrs_status s = add_bytes(p, fd, x.off, ENDS, name, e);
    return s == MRS_OK ? add_bytes(p, fd, x.off + x.n - ENDS, ENDS, name, e) : s;
}

static enum mrs_status
add_file(struct print *p, const struct mrsi_source_from *from, struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0);
    struct stat st;
    if (fstat(from->fd, &st) < 0) {
        return mrs_err_sys(e, errno, "stat %s", from->name);
    }
    bool nameless = st.st_nlink == 0 || !S_ISREG(st.st_mode);
    if (!nameless) {
        struct mrsi_stamp stamp = mrsi_stamp_of(&st);
        stamp.dev = 0; /* disks may be renumbered at a reboot */
        add(p, &stamp, sizeof stamp);
    }
    if (!from->place) {
        uint64_t size = (uint64_t)st.st_size, left = size > from->start ? size - from->start : 0;
        struct mrsi_src_extent x = {from->start, from->bytes < left ? from->bytes : left};
        return add_extent(p, from->fd, x, nameless, from->name, e);
    }
    enum mrs_status s = MRS_OK;
    const struct mrsi_src_extents *at = from->place;
    add_number(p, at->bytes);
    for (uint32_t i = 0; s == MRS_OK && i < at->n_extents; i++) {
        if (nameless || i == 0 || i + 1 == at->n_extents) {
            s = add_extent(p, from->fd, at->extent[i], nameless, from->name, e);
        } else {
            add(p, &at->extent[i], sizeof at->extent[i]);
        }
    }
    return s;
}

static enum mrs_status
add_path(struct print *p, const char *path, struct mrs_err *e)
{
    struct mrsi_source_from from = {.start = 0, .bytes = UINT64_MAX, .name = path};
    struct stat st;
    enum mrs_status s = mrsi_open_read(path, &from.fd, &st, e);
    if (s == MRS_OK) {
        s = add_file(p, &from, e);
        close(from.fd);
    }
    return s;
}

static enum mrs_status
add_namespace(struct print *p, struct mrs_input *in, const struct mrs_input_ns *ns, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    const char *name = ns->kind == MRS_INPUT_DATA ? ns->ns : ns->rel_path;
    add_number(p, (uint64_t)ns->kind);
    add(p, name, strlen(name));
    add(p, ns->metadata.p, ns->metadata.n);
    if (ns->data_path) {
        struct mrsi_source_from from;
        memset(&from, 0, sizeof from);
        s = mrsi_input_from(in, ns, &from, e);
        if (s == MRS_OK) {
            s = add_file(p, &from, e);
            if (from.own) {
                close(from.fd);
            }
        }
    }
    if (s == MRS_OK && ns->meta_path && !ns->meta_place) {
        s = add_path(p, ns->meta_path, e);
    }
    return s;
}

static enum mrs_status
finish(struct mrs_mem *mem, struct print *p, enum mrs_status s, struct mrs_hash128 *out)
{
    *out = p->sum;
    mrs_free(mem, p->room);
    return s;
}

enum mrs_status
mrs_input_fingerprint(struct mrs_input *in, uint32_t i, struct mrs_hash128 *out, struct mrs_err *e)
{
    MRS_ASSERT(i < mrs_input_count(in));
    struct print p = {{0, 0}, mrs_alloc(in->mem, ENDS)};
    enum mrs_status s = p.room ? add_namespace(&p, in, &in->list[i], e) : mrs_err_memory(e, ENDS);
    return finish(in->mem, &p, s, out);
}

enum mrs_status
mrs_file_fingerprint(struct mrs_mem *mem, const char *path, struct mrs_hash128 *out, struct mrs_err *e)
{
    struct print p = {{0, 0}, mrs_alloc(mem, ENDS)};
    enum mrs_status s = p.room ? add_path(&p, path, e) : mrs_err_memory(e, ENDS);
    return finish(mem, &p, s, out);
}
