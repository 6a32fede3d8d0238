/* SPDX-License-Identifier: Apache-2.0 */
/* archive_list.c - makes entries of an input from the records of an archive.
 *
 * A time series is two entries, as in a directory: the collection with its metadata and the bucket collection. The
 * oplog, and users and roles of a single database, become the extra files that they are in a directory. */
#include "archive_in.h"
#include <stdlib.h>
#include <unistd.h>

#define COPY_ROOM (1u << 20)

/* ---- the spool ---- */
static enum mrs_status
flush(struct mrsi_archive_in *r, struct mrs_err *e)
{
    enum mrs_status s = mrs_write_at(r->in->fd, r->room, r->room_n, r->spooled, e);
    r->spooled += r->room_n;
    r->room_n = 0;
    return s;
}

enum mrs_status
mrsi_archive_keep(struct mrsi_archive_in *r, const void *p, size_t n, uint64_t off, uint64_t *at, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    *at = r->spool ? r->spooled + r->room_n : r->start + off;
    if (!r->spool) {
        return MRS_OK;
    }
    enum mrs_status s = n > MRSI_SPOOL_ROOM - r->room_n ? flush(r, e) : MRS_OK;
    if (s == MRS_OK && n > MRSI_SPOOL_ROOM) {
        s = mrs_write_at(r->in->fd, p, n, r->spooled, e);
        r->spooled += n;
    } else if (s == MRS_OK) {
        memcpy(r->room + r->room_n, p, n);
        r->room_n += n;
    }
    return s;
}

/* ---- places ---- */
static enum mrs_status
count_piece(void *arg, const struct mrsi_piece_at *piece, struct mrs_err *e)
{
    struct mrsi_archive_in *r = arg;
    (void)e;
    r->list[piece->ns].n_extents++;
    return MRS_OK;
}

static enum mrs_status
note_piece(void *arg, const struct mrsi_piece_at *piece, struct mrs_err *e)
{
    struct mrsi_archive_in *r = arg;
    struct mrsi_found *f = &r->list[piece->ns];
    (void)e;
    f->extent[f->n_extents++] = (struct mrsi_src_extent){piece->off, piece->n};
    return MRS_OK;
}

/* Each piece separately. */
static enum mrs_status
note_all(struct mrsi_archive_in *r, struct mrs_err *e)
{
    struct mrsi_src_extent *at = mrs_arena_alloc(&r->in->arena, (r->log.n + 1) * sizeof *at);
    MRS_TRY(mrs_allocated(at, r->log.n * sizeof *at, e));
    enum mrs_status s = mrsi_log_each(&r->log, count_piece, r, e);
    for (uint32_t i = 0; i < r->n; i++) {
        r->list[i].extent = at;
        at += r->list[i].n_extents;
        r->list[i].n_extents = 0;
    }
    return s == MRS_OK ? mrsi_log_each(&r->log, note_piece, r, e) : s;
}

/* The state of sorting documents: a read also fetches the following pieces, since many are small. */
struct archive_list_order {
    struct mrsi_archive_in *r;
    int fd;
    uint8_t *room; /* bytes [off, off + n) of the old file */
    uint64_t off;
    size_t n;
};

static enum mrs_status
move(struct archive_list_order *o, uint64_t from, uint64_t n, uint64_t to, struct mrs_err *e)
{
    MRS_ASSERT(o->fd >= 0 && o->room);
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && n) {
        if (from < o->off || from >= o->off + o->n) {
            o->off = from;
            s = mrsi_pread_full(o->r->in->fd, o->room, COPY_ROOM, from, o->r->name, &o->n, e);
            if (s == MRS_OK && !o->n) {
                s = MRSI_FAIL(e, MRS_E_IO, "archive %.200s: it became shorter while it was read", o->r->name);
            }
        }
        if (s == MRS_OK) {
            uint64_t left = o->off + o->n - from;
            size_t k = (size_t)(n < left ? n : left);
            s = mrs_write_at(o->fd, o->room + (from - o->off), k, to, e);
            from += k;
            to += k;
            n -= k;
        }
    }
    return s;
}

static enum mrs_status
move_piece(void *arg, const struct mrsi_piece_at *piece, struct mrs_err *e)
{
    struct archive_list_order *o = arg;
    struct mrsi_src_extent *to = o->r->list[piece->ns].extent;
    enum mrs_status s = move(o, piece->off, piece->n, to->off + to->n, e);
    to->n += piece->n;
    return s;
}

static enum mrs_status
move_all(struct archive_list_order *o, struct mrsi_src_extent *at, struct mrs_err *e)
{
    struct mrsi_archive_in *r = o->r;
    uint64_t end = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        struct mrsi_found *f = &r->list[i];
        at[i] = (struct mrsi_src_extent){end, 0};
        f->extent = &at[i];
        f->n_extents = f->bytes > 0;
        end += f->bytes;
    }
    enum mrs_status s = mrsi_log_each(&r->log, move_piece, o, e);
    o->n = 0; /* metadata precede the documents */
    for (uint32_t i = 0; s == MRS_OK && i < r->n; i++) {
        struct mrsi_src_extent *meta = &r->list[i].meta;
        s = move(o, meta->off, meta->n, end, e);
        meta->off = end;
        end += meta->n;
    }
    return s;
}

/* More pieces than can be kept: makes the documents of each namespace contiguous in a new file, which replaces the old
 * one. */
static enum mrs_status
put_in_order(struct mrsi_archive_in *r, struct mrs_err *e)
{
    struct archive_list_order o = {r, -1, NULL, 0, 0};
    struct mrsi_src_extent *at = mrs_arena_alloc(&r->in->arena, (r->n + 1) * sizeof *at);
    o.room = mrs_alloc(r->in->mem, COPY_ROOM);
    enum mrs_status s = at && o.room ? mrs_temp_open(r->tmp, &o.fd, e) : mrs_err_memory(e, COPY_ROOM);
    MRS_THEN(s, move_all(&o, at, e));
    if (s == MRS_OK) {
        close(r->in->fd);
        r->in->fd = o.fd;
    } else if (o.fd >= 0) {
        close(o.fd);
    }
    mrs_free(r->in->mem, o.room);
    return s;
}

/* ---- entries ---- */
static enum mrs_status
place(struct mrsi_archive_in *r, const struct mrsi_src_extent *extent, uint32_t n, uint64_t bytes,
      const struct mrsi_src_extents **out, struct mrs_err *e)
{
    MRS_ASSERT(extent || n == 0);
    struct mrsi_src_extents *p = mrs_arena_alloc(&r->in->arena, sizeof *p);
    MRS_TRY(mrs_allocated(p, sizeof *p, e));
    *p = (struct mrsi_src_extents){r->in->fd, extent, n, bytes};
    *out = p;
    return MRS_OK;
}

static enum mrs_status
add_data(struct mrsi_archive_in *r, const struct mrsi_found *f, struct mrs_input_ns *ns, struct mrs_err *e)
{
    ns->data_path = mrsi_archive_text(r->in, r->name, ": ", f->body_ns);
    ns->file_bytes = f->bytes;
    return ns->data_path ? place(r, f->extent, f->n_extents, f->bytes, &ns->data_place, e)
                         : mrs_err_memory(e, strlen(f->ns));
}

static enum mrs_status
add_metadata(struct mrsi_archive_in *r, const struct mrsi_found *f, struct mrs_input_ns *ns, struct mrs_err *e)
{
    const char *file = mrsi_archive_text(r->in, r->name, ": metadata of ", f->ns);
    struct mrsi_src_extent *at = mrs_arena_alloc(&r->in->arena, sizeof *at);
    if (!file || !at) {
        return mrs_err_memory(e, strlen(f->ns));
    }
    *at = f->meta;
    ns->metadata = f->doc;
    ns->meta_path = file;
    return place(r, at, 1, at->n, &ns->meta_place, e);
}

static struct mrs_input_ns *
new_entry(struct mrsi_archive_in *r, const struct mrsi_found *f, const char *coll, const char *name)
{
    struct mrs_input_ns *ns = mrsi_input_add(r->in);
    if (ns) {
        ns->kind = MRS_INPUT_DATA;
        ns->db = f->db;
        ns->coll = coll;
        ns->ns = name;
    }
    return ns;
}

static enum mrs_status
add_extra(struct mrsi_archive_in *r, const struct mrsi_found *f, struct mrs_err *e)
{
    struct mrs_input_ns *ns = mrsi_input_add(r->in);
    const char *dir = f->oplog ? "" : mrsi_archive_text(r->in, f->db, "/", "");
    if (!ns || !dir) {
        return mrs_err_memory(e, sizeof *ns);
    }
    ns->kind = MRS_INPUT_EXTRA;
    ns->rel_path = mrsi_archive_text(r->in, dir, f->coll, ".bson");
    ns->empty_oplog = f->oplog && !f->bytes;
    return ns->rel_path ? add_data(r, f, ns, e) : mrs_err_memory(e, strlen(f->coll));
}

static enum mrs_status
add_found(struct mrsi_archive_in *r, const struct mrsi_found *f, struct mrs_err *e)
{
    MRS_ASSERT(f->db && f->coll);
    if (!f->taken) {
        return mrsi_input_exclude(r->in, f->ns, e);
    }
    if (f->oplog || f->users) {
        return add_extra(r, f, e);
    }
    struct mrs_input_ns *ns = new_entry(r, f, f->coll, f->ns);
    enum mrs_status s = mrs_allocated(ns, sizeof *ns, e);
    if (s == MRS_OK && f->meta.n) {
        s = add_metadata(r, f, ns, e);
    }
    if (s == MRS_OK && f->buckets) {
        ns = new_entry(r, f, f->body, f->body_ns);
        s = mrs_allocated(ns, sizeof *ns, e);
    }
    bool no_data = f->view && !f->bytes;
    return s == MRS_OK && !no_data ? add_data(r, f, ns, e) : s;
}

static int
by_name(const void *a, const void *b)
{
    const struct mrs_input_ns *x = a, *y = b;
    bool extra = x->kind == MRS_INPUT_EXTRA;
    if (x->kind != y->kind) {
        return extra ? 1 : -1;
    }
    return extra ? strcmp(x->rel_path, y->rel_path) : strcmp(x->ns, y->ns);
}

enum mrs_status
mrsi_archive_list(struct mrsi_archive_in *r, struct mrs_err *e)
{
    struct mrs_input *in = r->in;
    enum mrs_status s = r->spool ? flush(r, e) : MRS_OK;
    MRS_THEN(s, r->log.written ? put_in_order(r, e) : note_all(r, e));
    for (uint32_t i = 0; s == MRS_OK && i < r->n; i++) {
        s = add_found(r, &r->list[i], e);
    }
    if (s == MRS_OK && in->n) {
        qsort(in->list, in->n, sizeof *in->list, by_name);
    }
    for (uint32_t i = 1; s == MRS_OK && i < in->n; i++) {
        if (by_name(&in->list[i - 1], &in->list[i]) == 0) {
            s = MRSI_FAIL(e, MRS_E_FORMAT, "archive %.100s: its prelude has %.250s twice", r->name,
                          in->list[i].ns ? in->list[i].ns : in->list[i].rel_path);
        }
    }
    return s;
}
