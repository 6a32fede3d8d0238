/* SPDX-License-Identifier: Apache-2.0 */
/* archive_in.c - an archive as input: read once from end to end, checked, and listed.
 *
 * Steps read complete collections, some of them twice, and an archive interleaves their pieces. So one pass applies all
 * checks of mongorestore, computes the checksums, and records the extents of each collection; after that a collection
 * is read in place. A plain file is not copied. From a pipe or a compressed archive the documents go to an unlinked
 * file. If an archive has so many pieces that their list would be large, the documents are sorted into such a file.
 * Collections that the patterns exclude are skipped as mongorestore skips them: each must exist and be closed, its
 * checksum is not verified. */
#include "archive_in.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_NAMESPACES 500000u
#define MOST_PRELUDE (512ull << 20)

/* ---- the list of namespaces ---- */
static uint64_t
hash_of(const char *db, const char *coll)
{
    return mrs_hash(coll, strlen(coll), mrs_hash(db, strlen(db), 0).lo).lo;
}

/* The slot of a name in the table: its namespace + 1, or 0 for a new name. */
static uint32_t *
slot_of(const struct mrsi_archive_in *r, const char *db, const char *coll)
{
    MRS_ASSERT(r->n < r->n_slots && (r->n_slots & (r->n_slots - 1)) == 0);
    uint64_t at = hash_of(db, coll);
    for (;; at++) {
        uint32_t *slot = &r->slots[at & (r->n_slots - 1)];
        const struct mrsi_found *f = *slot ? &r->list[*slot - 1] : NULL;
        if (!f || (strcmp(f->db, db) == 0 && strcmp(f->body, coll) == 0)) {
            return slot;
        }
    }
}

static enum mrs_status
grow_table(struct mrsi_archive_in *r, struct mrs_err *e)
{
    MRS_ASSERT(r->n <= r->cap);
    uint32_t n = r->n_slots ? 2 * r->n_slots : 64;
    uint32_t *slots = mrs_zalloc(r->in->mem, n * sizeof *slots);
    MRS_TRY(mrs_allocated(slots, n * sizeof *slots, e));
    mrs_free(r->in->mem, r->slots);
    r->slots = slots;
    r->n_slots = n;
    for (uint32_t i = 0; i < r->n; i++) {
        *slot_of(r, r->list[i].db, r->list[i].body) = i + 1;
    }
    return MRS_OK;
}

const char *
mrsi_archive_text(struct mrs_input *in, const char *a, const char *b, const char *c)
{
    size_t an = strlen(a), bn = strlen(b), cn = strlen(c);
    char *to = mrs_arena_alloc(&in->arena, an + bn + cn + 1);
    if (to) {
        memcpy(to, a, an);
        memcpy(to + an, b, bn);
        memcpy(to + an + bn, c, cn + 1);
    }
    return to;
}

static enum mrs_status
name_it(struct mrsi_archive_in *r, const struct mrsi_archive_entry *entry, struct mrsi_found *f, struct mrs_err *e)
{
    MRS_ASSERT(entry->db && entry->coll);
    struct mrs_input *in = r->in;
    f->oplog = !*entry->db;
    f->special = mrs_archive_special(entry->db, entry->coll);
    f->users = f->special && *entry->coll == '$';
    f->view = strcmp(entry->type, "view") == 0;
    f->buckets = strcmp(entry->type, "timeseries") == 0 && mrsi_version_has_buckets(in->origin.server_version);
    f->db = mrs_arena_copy(&in->arena, entry->db, strlen(entry->db) + 1);
    f->ns = mrsi_archive_text(in, entry->db, f->oplog ? "" : ".", entry->coll);
    f->coll = f->ns ? f->ns + strlen(entry->db) + !f->oplog : NULL;
    f->body_ns = f->buckets && f->ns ? mrsi_archive_text(in, entry->db, "." MRSI_BUCKETS, f->coll) : f->ns;
    f->body = f->body_ns ? f->body_ns + strlen(entry->db) + !f->oplog : NULL;
    if (!f->db || !f->body) {
        return mrs_err_memory(e, strlen(entry->coll));
    }
    f->taken = r->only ? strcmp(f->ns, r->only) == 0 || strcmp(f->body_ns, r->only) == 0
                       : f->oplog || f->users || mrsi_input_takes(in, f->db, f->coll, f->ns);
    return MRS_OK;
}

/* Stores its text for a later read, and parses it now. */
static enum mrs_status
take_metadata(struct mrsi_archive_in *r, const struct mrsi_archive_entry *entry, uint64_t off, struct mrsi_found *f,
              struct mrs_err *e)
{
    struct mrs_view doc;
    struct mrs_err own;
    char name[400];
    if (!f->taken || !entry->metadata_n || f->oplog || f->users) {
        return MRS_OK;
    }
    mrs_err_clear(&own);
    own.byte_off = 0;
    snprintf(name, sizeof name, "archive %.100s: metadata of %.250s", r->name, f->ns);
    enum mrs_status s = mrsi_metadata_parse(&r->scratch, entry->metadata, entry->metadata_n, name, &doc, &own);
    if (s != MRS_OK && e && e->code == MRS_E_NONE) {
        own.byte_off = s == MRS_FAIL ? off + (own.byte_off == UINT64_MAX ? 0 : own.byte_off) : UINT64_MAX;
        *e = own;
    }
    if (s != MRS_OK) {
        return s;
    }
    if (doc.n > MRS_DOC_MIN) {
        f->doc.p = mrs_arena_copy(&r->in->arena, doc.p, doc.n);
        f->doc.n = doc.n;
    }
    f->meta.n = entry->metadata_n;
    return f->doc.p ? mrsi_archive_keep(r, entry->metadata, entry->metadata_n, off, &f->meta.off, e)
                    : mrs_err_memory(e, doc.n);
}

static enum mrs_status
add_entry(struct mrsi_archive_in *r, uint64_t off, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(r->n <= r->cap);
    struct mrsi_archive_entry entry;
    MRS_TRY(mrsi_archive_entry(&r->f, off, doc, &entry, e));
    if (r->n == MOST_NAMESPACES || off > MOST_PRELUDE) {
        return MRSI_FAIL(e, MRS_E_LIMIT, "archive %.200s: its prelude has more than %u namespaces or %llu bytes",
                         r->name, MOST_NAMESPACES, MOST_PRELUDE);
    }
    struct mrsi_found *more = mrs_more(r->in->mem, r->list, r->n, &r->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    r->list = more;
    struct mrsi_found *f = &r->list[r->n];
    memset(f, 0, sizeof *f);
    f->doc = mrs_empty_doc();
    enum mrs_status s = name_it(r, &entry, f, e);
    s = s == MRS_OK && 2 * (r->n + 1) > r->n_slots ? grow_table(r, e) : s;
    if (s != MRS_OK) {
        return s;
    }
    uint32_t *slot = slot_of(r, f->db, f->body);
    if (*slot) {
        return mrsi_archive_bad(&r->f, off, f->ns, e, "its prelude has this namespace twice");
    }
    uint64_t text_off = off + (uint64_t)((const uint8_t *)entry.metadata - doc.p);
    s = take_metadata(r, &entry, text_off, f, e);
    *slot = ++r->n;
    return s;
}

static enum mrs_status
read_head(struct mrsi_archive_in *r, struct mrs_err *e)
{
    struct mrsi_archive_head head;
    struct mrs_view doc;
    enum mrsi_frame kind;
    uint64_t off = mrsi_frames_off(&r->f);
    enum mrs_status s = mrsi_frames_next(&r->f, &kind, &doc, e);
    if (s == MRS_END || (s == MRS_OK && kind != MRSI_FRAME_DOC)) {
        return mrsi_archive_bad(&r->f, off, NULL, e, "it has no head: nothing follows its first four bytes");
    }
    MRS_THEN(s, mrsi_archive_head(&r->f, off, doc, &head, e));
    if (s != MRS_OK) {
        return s;
    }
    struct mrs_input_origin *o = &r->in->origin;
    o->concurrent = head.concurrent;
    o->server_version = mrsi_archive_text(r->in, head.server_version, "", "");
    o->tool_version = mrsi_archive_text(r->in, head.tool_version, "", "");
    return o->server_version && o->tool_version ? MRS_OK : mrs_err_memory(e, doc.n);
}

static enum mrs_status
read_prelude(struct mrsi_archive_in *r, struct mrs_err *e)
{
    struct mrs_view doc;
    enum mrsi_frame kind;
    enum mrs_status s = read_head(r, e);
    MRS_THEN(s, grow_table(r, e));
    while (s == MRS_OK) {
        uint64_t off = mrsi_frames_off(&r->f);
        s = mrsi_frames_next(&r->f, &kind, &doc, e);
        if (s == MRS_END) {
            return mrsi_archive_bad(&r->f, off, NULL, e, "it ends within its prelude: it is cut short");
        }
        if (s == MRS_OK && kind == MRSI_FRAME_END) {
            return MRS_OK;
        }
        MRS_THEN(s, add_entry(r, off, doc, e));
    }
    return s;
}

/* ---- blocks ---- */
static enum mrs_status
in_ns(enum mrs_status s, const struct mrsi_found *f, struct mrs_err *e)
{
    if (s < MRS_OK && e && !e->ns[0]) {
        snprintf(e->ns, sizeof e->ns, "%.250s", f->body_ns);
    }
    return s;
}

static enum mrs_status
begin_block(struct mrsi_archive_in *r, uint64_t off, const struct mrsi_archive_block *b, struct mrsi_found **out,
            struct mrs_err *e)
{
    uint32_t slot = *slot_of(r, b->db, b->coll);
    struct mrsi_found *f = slot ? &r->list[slot - 1] : NULL;
    *out = f;
    if (!f) {
        return mrsi_archive_bad(&r->f, off, NULL, e, "a block is of %.63s.%.250s, which its prelude does not have",
                                b->db, b->coll);
    }
    if (f->state == MRSI_FOUND_CLOSED) {
        return mrsi_archive_bad(&r->f, off, f->body_ns, e, "a block of this namespace comes after its last one");
    }
    if (f->state == MRSI_FOUND_UNSEEN && f->special && f->taken && r->any_ordinary) {
        return mrsi_archive_bad(&r->f, off, f->body_ns, e,
                                "users, roles and their version must be before all collections: mongorestore does not "
                                "find them here (--nsExclude leaves them out)");
    }
    r->any_ordinary = r->any_ordinary || !(f->special || f->oplog);
    f->state = MRSI_FOUND_OPEN;
    return MRS_OK;
}

static enum mrs_status
documents(struct mrsi_archive_in *r, struct mrsi_found *f, struct mrs_err *e)
{
    MRS_ASSERT(f->state == MRSI_FOUND_OPEN);
    struct mrs_view doc;
    enum mrsi_frame kind;
    uint32_t no = (uint32_t)(f - r->list);
    for (;;) {
        uint64_t off = mrsi_frames_off(&r->f), at;
        enum mrs_status s = mrsi_frames_next(&r->f, &kind, &doc, e);
        if (s == MRS_END) {
            return mrsi_archive_bad(&r->f, off, f->body_ns, e,
                                    "it ends within a block: it is cut short (an unfinished dump or download?)");
        }
        if (s != MRS_OK || kind == MRSI_FRAME_END) {
            return in_ns(s, f, e);
        }
        if (!f->taken) {
            continue;
        }
        f->crc = mrsi_crc64(f->crc, doc.p, doc.n);
        f->docs++;
        f->bytes += doc.n;
        s = mrsi_archive_keep(r, doc.p, doc.n, off, &at, e);
        MRS_THEN(s, mrsi_log_add(&r->log, no, at, doc.n, e));
        if (s != MRS_OK) {
            return s;
        }
    }
}

static enum mrs_status
close_ns(struct mrsi_archive_in *r, uint64_t off, const struct mrsi_archive_block *b, struct mrsi_found *f,
         struct mrs_err *e)
{
    MRS_ASSERT(f->state != MRSI_FOUND_CLOSED);
    struct mrs_view doc;
    enum mrsi_frame kind;
    if (f->taken && b->crc != f->crc) {
        return mrsi_archive_bad(&r->f, off, f->body_ns, e,
                                "the checksum of its %llu documents is %016llx, the archive says %016llx: they were "
                                "damaged or changed on the way; dump or copy it again",
                                (unsigned long long)f->docs, (unsigned long long)f->crc, (unsigned long long)b->crc);
    }
    f->state = MRSI_FOUND_CLOSED;
    uint64_t at = mrsi_frames_off(&r->f);
    enum mrs_status s = mrsi_frames_next(&r->f, &kind, &doc, e);
    if (s == MRS_END) {
        return mrsi_archive_bad(&r->f, at, f->body_ns, e, "it ends within a block: it is cut short");
    }
    if (s == MRS_OK && kind == MRSI_FRAME_DOC) {
        return mrsi_archive_bad(&r->f, at, f->body_ns, e, "the block that closes a namespace has documents");
    }
    return in_ns(s, f, e);
}

static enum mrs_status
all_closed(const struct mrsi_archive_in *r, struct mrs_err *e)
{
    const struct mrsi_found *open = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        bool closed = r->list[i].state == MRSI_FOUND_CLOSED;
        n += closed;
        open = !closed && !open ? &r->list[i] : open;
    }
    if (!open) {
        return MRS_OK;
    }
    return mrsi_archive_bad(&r->f, mrsi_frames_off(&r->f), open->body_ns, e,
                            "it ends %s: %u of its %u namespaces are whole, so it is cut short (an unfinished dump or "
                            "download?)",
                            open->state == MRSI_FOUND_OPEN ? "before the last block of this namespace"
                                                           : "before this namespace came",
                            n, r->n);
}

static enum mrs_status
read_blocks(struct mrsi_archive_in *r, struct mrs_err *e)
{
    for (;;) {
        struct mrsi_archive_block b;
        struct mrsi_found *f = NULL;
        struct mrs_view doc;
        enum mrsi_frame kind;
        uint64_t off = mrsi_frames_off(&r->f);
        enum mrs_status s = mrsi_frames_next(&r->f, &kind, &doc, e);
        if (s == MRS_END) {
            return all_closed(r, e);
        }
        if (s == MRS_OK && kind == MRSI_FRAME_END) {
            return mrsi_archive_bad(&r->f, off, NULL, e, "an end mark or the end of the file, where a block must "
                                                         "begin");
        }
        MRS_THEN(s, mrsi_archive_block(&r->f, off, doc, &b, e));
        MRS_THEN(s, begin_block(r, off, &b, &f, e));
        MRS_THEN(s, b.last ? close_ns(r, off, &b, f, e) : documents(r, f, e));
        if (s != MRS_OK) {
            return s;
        }
    }
}

/* ---- opening ---- */
static void
clear(struct mrsi_archive_in *r)
{
    mrsi_frames_clear(&r->f);
    mrsi_log_clear(&r->log);
    mrs_buf_clear(&r->scratch);
    mrs_free(r->in->mem, r->room);
    mrs_free(r->in->mem, r->list);
    mrs_free(r->in->mem, r->slots);
}

/* Chooses the file of the documents: the archive itself, or an unlinked one. The input closes it. */
static enum mrs_status
choose_place(struct mrsi_archive_in *r, const struct mrsi_source_from *from, bool pipe, struct mrs_err *e)
{
    if (!pipe && from->codec == MRS_CODEC_NONE) {
        r->start = from->start;
        r->in->fd = from->fd;
        return MRS_OK;
    }
    r->spool = true;
    r->room = mrs_alloc(r->in->mem, MRSI_SPOOL_ROOM);
    return r->room ? mrs_temp_open(r->tmp, &r->in->fd, e) : mrs_err_memory(e, MRSI_SPOOL_ROOM);
}

enum mrs_status
mrsi_archive_open(struct mrs_input *in, const struct mrsi_source_from *from, const struct mrsi_archive_opts *opts,
                  struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0);
    struct mrsi_archive_in r = {.in = in, .name = from->name, .tmp = opts->tmp, .only = opts->only};
    struct mrsi_source_from own = *from;
    struct mrsi_source *src = NULL;
    own.own = false;
    in->format = MRS_FORMAT_ARCHIVE;
    in->codec = from->codec;
    mrsi_log_init(&r.log, in->mem, opts->tmp);
    mrs_buf_init(&r.scratch, in->mem, MRS_METADATA_MAX);
    enum mrs_status s = choose_place(&r, from, opts->head != NULL, e);
    MRS_THEN(s, mrsi_source_open(in->mem, &own, &src, e));
    if (s == MRS_OK) {
        mrsi_frames_init(&r.f, in->mem, src, r.name);
        r.f.pause = &in->pause;
        if (opts->head) {
            mrsi_source_pipe(src, opts->head, opts->head_n, r.f.pause);
        }
        s = mrsi_frames_magic(&r.f, e);
        MRS_THEN(s, read_prelude(&r, e));
        MRS_THEN(s, read_blocks(&r, e));
        MRS_THEN(s, mrsi_archive_list(&r, e));
        if (s == MRS_OK && r.only && !in->n) {
            s = MRSI_FAIL(e, MRS_E_MISSING, "archive %.200s: there is no namespace %.250s in it", r.name, r.only);
        }
        clear(&r);
    } else {
        mrs_free(in->mem, r.room);
    }
    mrsi_source_close(src);
    if (from->own && r.spool) {
        close(from->fd);
    }
    return s;
}
