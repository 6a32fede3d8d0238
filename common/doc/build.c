/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - writes BSON: a builder over a growing buffer, and small values made from C numbers.
 *
 * The builder appends and never moves written bytes: an opened document reserves four bytes for its length, closing it
 * fills them in. Failures (memory, ceiling, depth) are recorded and checked once, at the end, so that building code
 * needs no status checks. It must not check names or sizes: duplicates and the 16 MiB limit are up to the writer of the
 * document. */
#include "doc_internal.h"

/* Room for an element with n bytes of value; writes its header. NULL if the buffer is bad. */
static uint8_t *
element(struct mrs_buf *buf, uint8_t type, const char *name, uint32_t name_len, size_t n)
{
    MRS_ASSERT(name || name_len == 0);
    uint8_t *p = buf->bad ? NULL : mrs_buf_take(buf, (size_t)name_len + 2 + n);
    if (!p) {
        return NULL;
    }
    *p = type;
    memcpy(p + 1, name, name_len);
    p[1 + name_len] = 0;
    return p + 2 + name_len;
}

static void
open_frame(struct mrs_build *b)
{
    MRS_ASSERT(b->depth >= 0);
    if (b->depth >= MRS_DEPTH_MAX) {
        b->too_deep = true;
        b->depth++;
        return;
    }
    if (!b->buf->bad && b->buf->n > UINT32_MAX - 16) {
        b->buf->bad = 2;
    }
    b->start[b->depth] = (uint32_t)b->buf->n;
    b->index[b->depth] = 0;
    b->depth++;
    if (!b->buf->bad) {
        uint8_t *p = mrs_buf_take(b->buf, 4);
        if (p) {
            mrs_put32(p, 0);
        }
    }
}

void
mrs_build_init(struct mrs_build *b, struct mrs_buf *buf)
{
    MRS_ASSERT(mrs_buf_is_sound(buf));
    b->buf = buf;
    b->depth = 0;
    b->too_deep = false;
    open_frame(b);
}

void
mrs_build_close(struct mrs_build *b)
{
    MRS_ASSERT(b->too_deep || b->depth > 0);
    if (b->depth <= 0) {
        return;
    }
    b->depth--;
    if (b->depth >= MRS_DEPTH_MAX) {
        return;
    }
    mrs_buf_byte(b->buf, 0);
    if (!b->buf->bad) {
        uint32_t start = b->start[b->depth];
        mrs_put32(b->buf->p + start, (uint32_t)(b->buf->n - start));
    }
}

enum mrs_status
mrs_build_finish(struct mrs_build *b, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(b->too_deep || b->depth == 1);
    while (b->depth > 0) {
        mrs_build_close(b);
    }
    doc->p = mrs_empty_bytes;
    doc->n = MRS_DOC_MIN;
    MRS_TRY(mrs_buf_status(b->buf, e));
    if (b->too_deep) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "document would be nested more than %d levels deep",
                           MRS_DEPTH_MAX);
    }
    doc->p = b->buf->p + b->start[0];
    doc->n = (uint32_t)(b->buf->n - b->start[0]);
    return MRS_OK;
}

void
mrs_build_val(struct mrs_build *b, const char *name, uint32_t name_len, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (v.type == MRS_MISSING) {
        return;
    }
    uint8_t *p = element(b->buf, v.type, name, name_len, v.n);
    if (p && v.n) {
        memcpy(p, v.p, v.n);
    }
}

void
mrs_build_elem(struct mrs_build *b, const struct mrs_elem *e)
{
    MRS_ASSERT(e->v.p == (const uint8_t *)e->name + e->name_len + 1);
    if (e->v.type != MRS_MISSING) {
        mrs_buf_put(b->buf, e->p, (size_t)(e->v.p + e->v.n - e->p));
    }
}

void
mrs_build_raw(struct mrs_build *b, const uint8_t *elems, size_t n)
{
    mrs_buf_put(b->buf, elems, n);
}

void
mrs_build_open(struct mrs_build *b, const char *name, uint32_t name_len, uint8_t type)
{
    MRS_ASSERT(type == MRS_DOCUMENT || type == MRS_ARRAY);
    element(b->buf, type, name, name_len, 0);
    open_frame(b);
}

/* The next index name of the innermost array. */
static uint32_t
next_index(struct mrs_build *b, char name[12])
{
    MRS_ASSERT(b->too_deep || b->depth > 0);
    if (b->depth < 1 || b->depth > MRS_DEPTH_MAX) {
        return mrs_index_name(name, 0);
    }
    return mrs_index_name(name, b->index[b->depth - 1]++);
}

void
mrs_build_item(struct mrs_build *b, struct mrs_val v)
{
    if (v.type != MRS_MISSING) {
        char name[12];
        uint32_t n = next_index(b, name);
        mrs_build_val(b, name, n, v);
    }
}

void
mrs_build_item_open(struct mrs_build *b, uint8_t type)
{
    MRS_ASSERT(type == MRS_DOCUMENT || type == MRS_ARRAY);
    char name[12];
    uint32_t n = next_index(b, name);
    mrs_build_open(b, name, n, type);
}

void
mrs_build_i32(struct mrs_build *b, const char *name, int32_t v)
{
    uint8_t room[16];
    mrs_build_val(b, name, (uint32_t)strlen(name), mrs_make_i32(room, v));
}

void
mrs_build_i64(struct mrs_build *b, const char *name, int64_t v)
{
    uint8_t room[16];
    mrs_build_val(b, name, (uint32_t)strlen(name), mrs_make_i64(room, v, MRS_INT64));
}

void
mrs_build_count(struct mrs_build *b, const char *name, uint32_t name_len, uint64_t n)
{
    uint8_t room[16];
    mrs_build_val(b, name, name_len, mrs_make_count(room, n));
}

void
mrs_build_bool(struct mrs_build *b, const char *name, bool v)
{
    uint8_t room[16];
    mrs_build_val(b, name, (uint32_t)strlen(name), mrs_make_bool(room, v));
}

void
mrs_build_double(struct mrs_build *b, const char *name, double v)
{
    uint8_t room[16];
    mrs_build_val(b, name, (uint32_t)strlen(name), mrs_make_double(room, v));
}

void
mrs_build_null(struct mrs_build *b, const char *name, uint32_t name_len)
{
    element(b->buf, MRS_NULL, name, name_len, 0);
}

void
mrs_build_text(struct mrs_build *b, const char *name, const char *text, uint32_t n)
{
    MRS_ASSERT(text || n == 0);
    if (n > INT32_MAX - 1) {
        b->buf->bad = b->buf->bad ? b->buf->bad : 2;
        return;
    }
    uint8_t *p = element(b->buf, MRS_STRING, name, (uint32_t)strlen(name), (size_t)n + 5);
    if (p) {
        mrs_put32(p, n + 1);
        if (n) {
            memcpy(p + 4, text, n);
        }
        p[4 + (size_t)n] = 0;
    }
}

/* ---- values ---- */
static struct mrs_val
made(const uint8_t *p, uint32_t n, uint8_t type)
{
    struct mrs_val v = {p, n, type};
    return v;
}

struct mrs_val
mrs_make_i32(uint8_t room[16], int32_t v)
{
    mrs_put32(room, (uint32_t)v);
    return made(room, 4, MRS_INT32);
}

struct mrs_val
mrs_make_i64(uint8_t room[16], int64_t v, uint8_t type)
{
    MRS_ASSERT(type == MRS_INT64 || type == MRS_DATE || type == MRS_TIMESTAMP);
    mrs_put64(room, (uint64_t)v);
    return made(room, 8, type);
}

struct mrs_val
mrs_make_count(uint8_t room[16], uint64_t n)
{
    if (n <= INT32_MAX) {
        return mrs_make_i32(room, (int32_t)n);
    }
    return mrs_make_i64(room, n > INT64_MAX ? INT64_MAX : (int64_t)n, MRS_INT64);
}

struct mrs_val
mrs_make_double(uint8_t room[16], double v)
{
    memcpy(room, &v, 8);
    return made(room, 8, MRS_DOUBLE);
}

struct mrs_val
mrs_make_bool(uint8_t room[16], bool v)
{
    room[0] = v;
    return made(room, 1, MRS_BOOL);
}

struct mrs_val
mrs_null(void)
{
    return made(mrs_empty_bytes, 0, MRS_NULL);
}

struct mrs_val
mrs_make_text(struct mrs_arena *a, const char *text, uint32_t n)
{
    MRS_ASSERT(text || n == 0);
    uint8_t *p = n > INT32_MAX - 1 ? NULL : mrs_arena_alloc(a, (size_t)n + 5);
    if (!p) {
        return mrs_missing();
    }
    mrs_put32(p, n + 1);
    if (n) {
        memcpy(p + 4, text, n);
    }
    p[4 + (size_t)n] = 0;
    return made(p, n + 5, MRS_STRING);
}

bool
mrs_val_copy(struct mrs_arena *a, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    const uint8_t *p = v.type == MRS_MISSING ? NULL : mrs_empty_bytes;
    if (v.n) {
        p = mrs_arena_copy(a, v.p, v.n);
        if (!p) {
            return false;
        }
    }
    *out = made(p, v.n, v.type);
    return true;
}

struct mrs_view
mrsi_scope(struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_CODE_W_SCOPE && v.n >= 14);
    uint32_t skip = 8 + mrs_le32(v.p + 4);
    struct mrs_view d = {v.p + skip, v.n - skip};
    return d;
}

struct mrs_val
mrsi_scope_code(struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_CODE_W_SCOPE && v.n >= 14);
    return made(v.p + 4, 4 + mrs_le32(v.p + 4), MRS_CODE);
}

uint32_t
mrs_index_name(char room[12], uint32_t n)
{
    char digit[10];
    uint32_t len = 0;
    if (n < 10) { /* most arrays are short */
        room[0] = (char)('0' + n);
        room[1] = 0;
        return 1;
    }
    do {
        digit[len++] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    for (uint32_t i = 0; i < len; i++) {
        room[i] = digit[len - 1 - i];
    }
    room[len] = 0;
    return len;
}
