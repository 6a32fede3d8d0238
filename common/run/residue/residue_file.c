/* SPDX-License-Identifier: Apache-2.0 */
/* residue_file.c - the records of a residue file, each with a checksum. */
#include "residue.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t
check_of(const uint8_t head[12], const void *p, size_t n)
{
    return mrs_hash(p, n, mrs_hash(head, 12, 0).lo).lo;
}

enum mrs_status
mrsi_residue_put(struct mrsi_residue_out *o, enum mrsi_record type, const void *p, size_t n, struct mrs_err *e)
{
    uint8_t head[MRSI_RESIDUE_HEAD];
    enum mrs_status s = MRS_OK;
    if (o->bytes == 0) {
        s = mrsi_savepoint_file_put(&o->file, MRSI_RESIDUE_MAGIC, 8, e);
        o->bytes = 8;
    }
    mrs_put32(head, (uint32_t)type);
    mrs_put64(head + 4, n);
    mrs_put64(head + 12, check_of(head, p, n));
    MRS_THEN(s, mrsi_savepoint_file_put(&o->file, head, sizeof head, e));
    MRS_THEN(s, mrsi_savepoint_file_put(&o->file, p, n, e));
    o->bytes += sizeof head + n;
    o->records++;
    return s;
}

struct residue_file_copying {
    struct mrsi_engine *en;
    struct mrs_atomic_file *to;
};

static enum mrs_status
copy(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    const struct residue_file_copying *c = arg;
    enum mrs_status s = mrsi_interrupted(c->en, e);
    return s == MRS_OK ? mrs_atomic_file_put(c->to, p, n, e) : s;
}

enum mrs_status
mrsi_residue_publish(struct mrsi_residue_out *o, const char *path, uint64_t copier, struct mrs_err *e)
{
    struct residue_file_copying c = {o->file.en, NULL};
    struct mrsi_savepoint_items all = {c.en, 1, copy, &c};
    enum mrs_status s = mrsi_savepoint_file_end(&o->file, MRS_OK, e);
    MRS_THEN(s, mrs_atomic_file_take_up(c.en->mem, path, copier, &c.to, e));
    MRS_THEN(s, mrsi_savepoint_items_each(&all, o->file.temp, o->bytes, e));
    if (s != MRS_OK && c.en->keep && mrsi_cancelled(c.en)) {
        mrs_atomic_file_leave(c.to);
        return s;
    }
    enum mrs_status t = mrs_atomic_file_close(c.to, s == MRS_OK, s == MRS_OK ? e : NULL);
    return s == MRS_OK ? t : s;
}

void
mrsi_residue_out_clear(struct mrsi_residue_out *o)
{
    if (o->file.en) {
        mrsi_temp_drop(o->file.en, o->file.temp);
        o->file.temp = NULL;
        mrs_buf_clear(&o->file.buf);
    }
}

/* The file continues after the savepoint. */
enum mrs_status
mrsi_residue_out_save(struct mrsi_residue_out *o, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    enum mrs_status s = mrsi_savepoint_file_end(&o->file, MRS_OK, e);
    mrs_build_i64(b, "records", (int64_t)o->records);
    mrsi_save_temp("residue", o->file.temp, o->file.bytes, b, files);
    return s;
}

enum mrs_status
mrsi_residue_out_load(struct mrsi_residue_out *o, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    o->records = mrsi_state_number(saved, "records", INT64_MAX, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the residue", e) : MRS_OK;
    MRS_THEN(s, mrsi_load_temp(o->file.en, saved, "residue", &o->file.temp, &o->file.bytes, e));
    o->bytes = o->file.bytes;
    return s;
}

enum mrs_status
mrsi_residue_damaged(const struct mrs_residue *r, const char *what, struct mrs_err *e)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "%s is not a complete residue file: %s", r->path, what);
}

enum mrs_status
mrsi_residue_next(struct mrs_residue *r, enum mrsi_record *type, struct mrs_err *e)
{
    MRS_ASSERT(r->fd >= 0 && r->at <= r->size);
    uint8_t head[MRSI_RESIDUE_HEAD];
    if (r->size - r->at < sizeof head) {
        return mrsi_residue_damaged(r, "it ends too early", e);
    }
    MRS_TRY(mrs_read_at(r->fd, head, sizeof head, r->at, e));
    uint64_t n = mrs_le64(head + 4);
    r->at += sizeof head;
    if (n > r->size - r->at || n > MRSI_RESIDUE_MAX) {
        return mrsi_residue_damaged(r, "a record is longer than the file", e);
    }
    mrs_buf_reset(&r->record);
    uint8_t *to = mrs_buf_take(&r->record, n + 1);
    MRS_TRY(mrs_allocated(to, n, e));
    r->record.n = n;
    enum mrs_status s = mrs_read_at(r->fd, to, n, r->at, e);
    if (s == MRS_OK && check_of(head, to, n) != mrs_le64(head + 12)) {
        s = mrsi_residue_damaged(r, "a checksum is wrong", e);
    }
    r->at += n;
    r->records++;
    *type = (enum mrsi_record)mrs_le32(head);
    return s;
}

enum mrs_status
mrsi_residue_doc(const struct mrs_residue *r, struct mrs_view *d, struct mrs_err *e)
{
    *d = (struct mrs_view){r->record.p, (uint32_t)r->record.n};
    struct mrs_walk w;
    struct mrs_elem el;
    int more = -1;
    if (r->record.n >= MRS_DOC_MIN && mrs_le32(r->record.p) == r->record.n && r->record.p[r->record.n - 1] == 0) {
        mrs_walk_init(&w, *d);
        while ((more = mrs_walk_next(&w, &el)) == 1) {
        }
    }
    return more == 0 ? MRS_OK : mrsi_residue_damaged(r, "a record is no document", e);
}

/* ---- open ---- */
static enum mrs_status
open_file(struct mrs_residue *r, struct mrs_err *e)
{
    struct stat st;
    char magic[8];
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0 && errno == ENOENT) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "there is no file %s", r->path);
    }
    if (r->fd < 0 || fstat(r->fd, &st) < 0) {
        return mrs_err_sys(e, errno, "opening %s", r->path);
    }
    if (!S_ISREG(st.st_mode)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--residue %s: it is no file, as run --write-residue writes it",
                           r->path);
    }
    r->size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    if (r->size < sizeof magic) {
        return mrsi_residue_damaged(r, "it is too short", e);
    }
    enum mrs_status s = mrs_read_at(r->fd, magic, sizeof magic, 0, e);
    if (s == MRS_OK && memcmp(magic, MRSI_RESIDUE_MAGIC, sizeof magic) != 0) {
        s = mrsi_residue_damaged(r, "it does not begin like one; `run --write-residue` writes them", e);
    }
    r->at = sizeof magic;
    return s;
}

static bool
read_secret(struct mrs_residue *r, struct mrs_view head)
{
    bool bad = false;
    size_t n = 0;
    const uint8_t *p = mrsi_state_bytes(head, "secret", &n, &bad);
    r->keyed = !bad && n == MRS_SECRET;
    if (r->keyed) {
        mrs_secret_expand(&r->secret, p);
    }
    return r->keyed;
}

static enum mrs_status
read_head(struct mrs_residue *r, struct mrs_err *e)
{
    enum mrsi_record type;
    struct mrs_view d;
    int64_t version;
    enum mrs_status s = mrsi_residue_next(r, &type, e);
    s = s == MRS_OK && type != MRSI_HEAD ? mrsi_residue_damaged(r, "it has no head", e) : s;
    MRS_THEN(s, mrsi_residue_doc(r, &d, e));
    if (s != MRS_OK) {
        return s;
    }
    bool known = mrs_val_integral(mrs_doc_get(d, "version"), &version) && version >= 1 &&
                 version <= MRSI_RESIDUE_VERSION;
    if (!known || (version > 1 && !read_secret(r, d)) ||
        mrs_doc_get(d, "now").type != MRS_DATE || mrs_doc_get(d, "inverse").type != MRS_STRING ||
        mrs_doc_get(d, "plan").type != MRS_STRING || mrs_doc_get(d, "touched").type != MRS_ARRAY) {
        return mrsi_residue_damaged(r, "its head is of another version", e);
    }
    mrs_buf_put(&r->head, d.p, d.n);
    return mrs_buf_status(&r->head, e);
}

enum mrs_status
mrs_residue_open(struct mrs_mem *mem, const char *path, struct mrs_residue **out, struct mrs_err *e)
{
    *out = NULL;
    struct mrs_residue *r = mrs_zalloc(mem, sizeof *r);
    MRS_TRY(mrs_allocated(r, sizeof *r, e));
    r->mem = mem;
    r->fd = -1;
    mrs_buf_init(&r->record, mem, MRSI_RESIDUE_MAX + 1);
    mrs_buf_init(&r->head, mem, MRSI_RESIDUE_MAX);
    r->path = mrs_strndup(mem, path, strlen(path));
    enum mrs_status s = r->path ? open_file(r, e) : mrs_err_memory(e, strlen(path));
    MRS_THEN(s, read_head(r, e));
    if (s != MRS_OK) {
        mrs_residue_close(r);
        return s;
    }
    *out = r;
    return MRS_OK;
}

void
mrs_residue_close(struct mrs_residue *r)
{
    if (!r) {
        return;
    }
    if (r->fd >= 0) {
        close(r->fd);
    }
    mrs_buf_clear(&r->record);
    mrs_buf_clear(&r->head);
    mrs_free(r->mem, r->path);
    mrs_free(r->mem, r);
}

int64_t
mrs_residue_now(const struct mrs_residue *r)
{
    return mrs_val_i64(mrs_doc_get(mrsi_residue_head(r), "now"));
}

/* ---- numbers ---- */
void
mrsi_put_varint(struct mrs_buf *b, uint64_t v)
{
    while (v >= 0x80) {
        mrs_buf_byte(b, (uint8_t)(v | 0x80));
        v >>= 7;
    }
    mrs_buf_byte(b, (uint8_t)v);
}

bool
mrsi_get_varint(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
    MRS_ASSERT(*p <= end);
    *v = 0;
    for (int shift = 0; *p < end && shift < 64; shift += 7) {
        uint8_t byte = *(*p)++;
        *v |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}
