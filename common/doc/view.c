/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - reads untrusted BSON: sizes of values, lookup, and the one full check.
 *
 * All other code walks documents with mrs_walk_next without checks, because mrs_doc_check has validated the bytes once.
 * The check keeps a stack of end pointers instead of recursing, so that nesting costs eight bytes a level and no input
 * can exhaust the C stack. Since the last byte of a checked frame is NUL, a name can be scanned without comparing with
 * the end for every byte. It must not know what a document means: no field name is special here, and UTF-8 is not
 * checked. */
#include "doc_internal.h"

#include <stdio.h>

#define VAR 0x80

const uint8_t mrs_empty_bytes[5] = {5, 0, 0, 0, 0};

#define VAR4 VAR, VAR, VAR, VAR
#define VAR12 VAR4, VAR4, VAR4
const uint8_t mrs_fixed_size[256] = {
    /* 0x00 */ VAR, 8, VAR, VAR, VAR, VAR, 0, 12, 1, 8, 0, VAR, VAR, VAR, VAR, VAR,
    /* 0x10 */ 4, 8, 8, 16, VAR12,
    /* 0x20 */ VAR12, VAR4, VAR12, VAR4, VAR12, VAR4, VAR12, VAR4, VAR12, VAR4,
    /* 0x70 */ VAR12, VAR, VAR, VAR, 0,
    /* 0x80 */ VAR12, VAR4, VAR12, VAR4, VAR12, VAR4, VAR12, VAR4, VAR12, VAR4, VAR12, VAR4, VAR12, VAR4,
    /* 0xF0 */ VAR12, VAR, VAR, VAR, 0};

static int64_t
text_size(const uint8_t *p, uint64_t room)
{
    if (room < 5) {
        return -1;
    }
    uint32_t n = mrs_le32(p);
    if (n < 1 || n > room - 4 || p[3 + (uint64_t)n] != 0) {
        return -1;
    }
    return 4 + (int64_t)n;
}

static int64_t
frame_size(const uint8_t *p, uint64_t room)
{
    if (room < MRS_DOC_MIN) {
        return -1;
    }
    uint32_t n = mrs_le32(p);
    if (n < MRS_DOC_MIN || n > room || p[(uint64_t)n - 1] != 0) {
        return -1;
    }
    return n;
}

static int64_t
regex_size(const uint8_t *p, uint64_t room)
{
    const uint8_t *nul = memchr(p, 0, room);
    if (!nul) {
        return -1;
    }
    nul++;
    const uint8_t *last = memchr(nul, 0, room - (uint64_t)(nul - p));
    return last ? last + 1 - p : -1;
}

static int64_t
scope_size(const uint8_t *p, uint64_t room)
{
    if (room < 4) {
        return -1;
    }
    uint32_t n = mrs_le32(p);
    if (n < 4 || n > room) {
        return -1;
    }
    int64_t code = text_size(p + 4, n - 4);
    if (code < 0 || frame_size(p + 4 + code, (uint64_t)(n - 4 - code)) != n - 4 - code) {
        return -1;
    }
    return n;
}

int64_t
mrs_value_size(uint8_t type, const uint8_t *p, uint64_t room)
{
    MRS_ASSERT(p || room == 0);
    int64_t n;
    switch (type) {
    case MRS_STRING:
    case MRS_SYMBOL:
    case MRS_CODE:
        return text_size(p, room);
    case MRS_DOCUMENT:
    case MRS_ARRAY:
        return frame_size(p, room);
    case MRS_BINARY:
        n = room < 5 ? -1 : (int64_t)mrs_le32(p);
        return n < 0 || n > INT32_MAX || (uint64_t)n > room - 5 ? -1 : 5 + n;
    case MRS_REGEX:
        return regex_size(p, room);
    case MRS_DBPOINTER:
        n = text_size(p, room);
        return n < 0 || room - (uint64_t)n < 12 ? -1 : n + 12;
    case MRS_CODE_W_SCOPE:
        return scope_size(p, room);
    default:
        n = mrs_fixed_size[type];
        return n == VAR || (uint64_t)n > room ? -1 : n;
    }
}

bool
mrs_doc_find(struct mrs_view d, const char *name, uint32_t name_len, struct mrs_elem *e)
{
    MRS_ASSERT(name && d.p && d.n >= MRS_DOC_MIN);
    struct mrs_walk w;
    struct mrs_elem at; /* a local copy, so that it stays in registers */
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &at) > 0) {
        if (mrs_name_is(&at, name, name_len)) {
            *e = at;
            return true;
        }
    }
    e->v = mrs_missing();
    return false;
}

struct mrs_val
mrs_doc_get(struct mrs_view d, const char *name)
{
    MRS_ASSERT(name);
    struct mrs_elem e;
    mrs_doc_find(d, name, (uint32_t)strlen(name), &e);
    return e.v;
}

uint32_t
mrs_doc_count(struct mrs_view d)
{
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n = 0;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) > 0) {
        n++;
    }
    return n;
}

/* ---- the check ---- */
static enum mrs_status
damaged(struct mrs_err *e, enum mrs_code code, const char *why, uint64_t off)
{
    bool first = e && e->code == MRS_E_NONE;
    enum mrs_status s = mrs_err_set(e, MRS_FAIL, code, "%s", why);
    if (first) {
        e->byte_off = off;
    }
    return s;
}

static enum mrs_status
check_frame(const uint8_t *bytes, uint64_t n, struct mrs_err *e)
{
    MRS_ASSERT(bytes || n == 0);
    if (n < MRS_DOC_MIN) {
        return damaged(e, MRS_E_BSON, "document is cut off", 0);
    }
    uint32_t len = mrs_le32(bytes);
    if (len < MRS_DOC_MIN || len > INT32_MAX) {
        return damaged(e, MRS_E_BSON, "impossible length of a document", 0);
    }
    if (len > MRS_DOC_READ_MAX) {
        return damaged(e, MRS_E_LIMIT, "document is larger than any server writes", 0);
    }
    if (len > n) {
        return damaged(e, MRS_E_BSON, "document is cut off", 0);
    }
    if (bytes[len - 1] != 0) {
        return damaged(e, MRS_E_BSON, "document does not end in a zero byte", 0);
    }
    return MRS_OK;
}

static enum mrs_status
bad_value(struct mrs_err *e, uint8_t type, uint64_t off)
{
    char why[64];
    bool known = mrs_fixed_size[type] != VAR || (type >= MRS_STRING && type <= MRS_CODE_W_SCOPE);
    snprintf(why, sizeof why, known ? "a value of type 0x%02x does not fit into its document" : "unknown type 0x%02x",
             type);
    return damaged(e, MRS_E_BSON, why, off);
}

/* The first element of the document inside a container value. */
static const uint8_t *
inside(uint8_t type, const uint8_t *value)
{
    return type == MRS_CODE_W_SCOPE ? value + 8 + mrs_le32(value + 4) + 4 : value + 4;
}

static inline struct mrs_elem
element(const uint8_t *elem, const uint8_t *value, int64_t size)
{
    return (struct mrs_elem){.p = elem,
                             .name = (const char *)elem + 1,
                             .name_len = (uint32_t)(value - elem - 2),
                             .v = {value, (uint32_t)size, *elem}};
}

static inline void
note_field(struct mrs_eval_fields *f, const uint8_t *elem, const uint8_t *value, int64_t size)
{
    MRS_ASSERT(value > elem && size >= 0);
    if (f->n == MRS_EVAL_FIELDS_MAX) {
        f->all = false;
        return;
    }
    f->e[f->n++] = element(elem, value, size);
}

/* Whether the name at p, with `room` readable bytes, is the expected one with its NUL. */
static inline bool
is_expected(const struct mrs_layout_field *f, const uint8_t *p, ptrdiff_t room)
{
    if (room >= 8) {
        return (mrs_le64(p) & f->mask) == f->first && f->size <= room &&
               (f->size <= 8 || mrs_le64(p + f->size - 8) == f->last);
    }
    uint64_t name = 0;
    for (uint8_t i = 0; i < f->size && i < room; i++) {
        name |= (uint64_t)p[i] << 8 * i;
    }
    return f->size <= room && name == f->first;
}

/* As mrs_value_size for a value of the expected type; also -1 if mrs_doc_check would refuse it. */
static inline int64_t
expected_value(const struct mrs_layout_field *f, const uint8_t *p, uint64_t room, int max_depth)
{
    if (f->value != VAR) {
        return f->value > room || (f->type == MRS_BOOL && *p > 1) ? -1 : f->value;
    }
    if (f->type == MRS_STRING) {
        return text_size(p, room);
    }
    return max_depth > 1 && mrs_doc_check(p, room, max_depth - 1, NULL) == MRS_OK ? (int64_t)mrs_le32(p) : -1;
}

/* Walks the fields from p on as long as they match the layout. Returns the first one that differs. */
static const uint8_t *
walk_known(const uint8_t *p, const uint8_t *end, int max_depth, const struct mrs_layout *layout,
           struct mrs_eval_fields *fields)
{
    uint32_t i = 0, n = layout->n;
    for (; i < n && p < end; i++) {
        const struct mrs_layout_field *f = &layout->field[i];
        if (*p != f->type || !is_expected(f, p + 1, end - p - 1)) {
            break;
        }
        const uint8_t *value = p + 1 + f->size;
        int64_t size = expected_value(f, value, (uint64_t)(end - value), max_depth);
        if (size < 0) {
            break;
        }
        fields->e[i] = element(p, value, size);
        p = value + size;
    }
    fields->n = i;
    return p;
}

/* Learns the first fields of a document, if they are easy to check: short names, values of fixed size, texts, and
 * documents, which are checked separately. */
static void
learn(struct mrs_layout *layout, const struct mrs_eval_fields *fields)
{
    MRS_ASSERT(fields->n <= MRS_EVAL_FIELDS_MAX);
    layout->no++;
    layout->n = 0;
    for (uint32_t i = 0; i < fields->n; i++) {
        const struct mrs_elem *x = &fields->e[i];
        struct mrs_layout_field *f = &layout->field[i];
        uint32_t size = x->name_len + 1;
        bool fixed = mrs_fixed_size[x->v.type] != VAR;
        if (size > 16 || (!fixed && x->v.type != MRS_STRING && x->v.type != MRS_DOCUMENT && x->v.type != MRS_ARRAY)) {
            return;
        }
        uint8_t name[16] = {0};
        memcpy(name, x->name, size);
        *f = (struct mrs_layout_field){.size = (uint8_t)size, .type = x->v.type, .value = mrs_fixed_size[x->v.type]};
        f->mask = size < 8 ? (1ull << 8 * size) - 1 : ~0ull;
        f->first = mrs_le64(name);
        f->last = size < 8 ? 0 : mrs_le64(name + size - 8);
        layout->n++;
    }
}

/* Not for each document of another layout: two layouts may alternate. */
static void
compare_layout(struct mrs_layout *layout, struct mrs_eval_fields *fields, uint32_t known)
{
    MRS_ASSERT(known <= fields->n);
    if (known == layout->n && known) {
        fields->names = fields->all && fields->n == known ? layout->no : 0;
    } else if (layout->misses++ % 8 == 0) {
        learn(layout, fields);
    }
}

/* Nested documents of the checked one: items of an array mostly equal the previous one. */
struct inner {
    const uint8_t *last; /* the last one seen; NULL: none */
    uint32_t n;          /* its bytes */
    int depth;           /* where it was seen */
    uint32_t learned;    /* how often a template could have been learned */
    struct mrs_template tpl;
    int most;            /* depth at which a document of the template passed the check */
};

/* The one at p does not match the template: remembers it, and from time to time makes the previous one the template.
 * Returns whether p matches that. */
static __attribute__((noinline)) bool
meet(struct inner *in, const uint8_t *p, uint32_t n, int depth)
{
    MRS_ASSERT(depth > 0);
    const uint8_t *last = in->last;
    bool again = last && in->n == n && in->depth == depth && n <= (uint64_t)(p - last) && mrsi_template_fits(n);
    in->last = p;
    in->n = n;
    in->depth = depth;
    if (!again || in->learned++ % 8) {
        return false;
    }
    mrsi_template_of(&in->tpl, (struct mrs_view){last, n});
    in->most = depth;
    return mrsi_template_has(&in->tpl, p);
}

/* Whether the one at p equals an earlier one that was checked to the same depth, and so needs no walk. */
static inline bool
is_as_before(struct inner *in, const uint8_t *p, uint32_t n, int depth)
{
    return (in->tpl.size == n && depth <= in->most && mrsi_template_has(&in->tpl, p)) || meet(in, p, n, depth);
}

/* fields: NULL or receives the fields found; from: where the walk continues. */
static inline __attribute__((always_inline)) enum mrs_status
check(const uint8_t *bytes, const uint8_t *from, int max_depth, struct mrs_eval_fields *fields, struct mrs_err *e)
{
    const uint8_t *ends[MRS_DEPTH_READ];
    int depth = 1, most = max_depth < MRS_DEPTH_READ ? max_depth : MRS_DEPTH_READ;
    const uint8_t *p = from, *end = bytes + mrs_le32(bytes) - 1;
    struct inner in;
    in.last = NULL;
    in.learned = in.tpl.size = 0;
    for (;;) {
        if (p == end) {
            if (--depth == 0) {
                return MRS_OK;
            }
            p = end + 1;
            end = ends[depth];
            continue;
        }
        const uint8_t *elem = p;
        uint8_t type = *p;
        p = mrsi_name_end(p + 1, end) + 1;
        if (p > end) {
            return damaged(e, MRS_E_BSON, "field name does not end", (uint64_t)(elem - bytes));
        }
        uint8_t fixed = mrs_fixed_size[type];
        if (fixed != VAR && fixed <= end - p) {
            if (type == MRS_BOOL && *p > 1) {
                return damaged(e, MRS_E_BSON, "boolean is neither 0 nor 1", (uint64_t)(elem - bytes));
            }
            if (fields && depth == 1) {
                note_field(fields, elem, p, fixed);
            }
            p += fixed;
            continue;
        }
        int64_t size = mrs_value_size_quick(type, p, (uint64_t)(end - p));
        if (size < 0) {
            return bad_value(e, type, (uint64_t)(elem - bytes));
        }
        if (fields && depth == 1) {
            note_field(fields, elem, p, size);
        }
        if (!mrsi_is_nested(type)) {
            p += size;
            continue;
        }
        if (depth >= most) {
            return damaged(e, MRS_E_LIMIT, "document is nested too deeply", (uint64_t)(elem - bytes));
        }
        if (type == MRS_DOCUMENT && is_as_before(&in, p, (uint32_t)size, depth)) {
            p += size;
            continue;
        }
        ends[depth++] = end;
        end = p + size - 1;
        p = inside(type, p);
    }
}

enum mrs_status
mrs_doc_check(const uint8_t *bytes, uint64_t n, int max_depth, struct mrs_err *e)
{
    MRS_ASSERT(bytes && max_depth > 0);
    enum mrs_status s = check_frame(bytes, n, e);
    return s == MRS_OK ? check(bytes, bytes + 4, max_depth, NULL, e) : s;
}

static __attribute__((noinline)) enum mrs_status
check_layout(const uint8_t *bytes, uint64_t n, int max_depth, struct mrs_eval_fields *fields,
             struct mrs_layout *layout, struct mrs_err *e)
{
    MRS_ASSERT(bytes && max_depth > 0);
    const uint8_t *from = bytes + 4;
    uint32_t known = 0;
    fields->n = 0;
    fields->all = true;
    fields->names = 0;
    enum mrs_status s = check_frame(bytes, n, e);
    if (s == MRS_OK && layout) {
        from = walk_known(from, bytes + mrs_le32(bytes) - 1, max_depth, layout, fields);
        known = fields->n;
    }
    MRS_THEN(s, check(bytes, from, max_depth, fields, e));
    if (s == MRS_OK && layout) {
        compare_layout(layout, fields, known);
    }
    return s;
}

enum mrs_status
mrs_doc_check_fields(const uint8_t *bytes, uint64_t n, int max_depth, struct mrs_eval_fields *fields,
                     struct mrs_layout *layout, struct mrs_err *e)
{
    uint32_t size = n < MRS_DOC_MIN ? 0 : mrs_le32(bytes);
    struct mrs_template *tpl = layout ? &layout->tpl[size % (sizeof layout->tpl / sizeof *layout->tpl)] : NULL;
    if (tpl && size && tpl->size == size && size <= n && mrsi_template_has(tpl, bytes)) {
        fields->tpl = tpl;
        return MRS_OK;
    }
    fields->tpl = NULL;
    enum mrs_status s = check_layout(bytes, n, max_depth, fields, layout, e);
    if (s == MRS_OK && tpl) {
        mrsi_template_learn(layout, tpl, (struct mrs_view){bytes, size}, fields);
    }
    return s;
}

int
mrs_doc_depth(struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_walk stack[MRS_DEPTH_READ];
    struct mrs_elem e;
    int depth = 1, deepest = 1;
    mrs_walk_init(&stack[0], d);
    while (depth > 0) {
        if (mrs_walk_next(&stack[depth - 1], &e) <= 0) {
            depth--;
        } else if (mrsi_is_nested(e.v.type)) {
            if (depth == MRS_DEPTH_READ) {
                return depth + 1;
            }
            stack[depth].at = inside(e.v.type, e.v.p);
            stack[depth++].end = e.v.p + e.v.n - 1;
            deepest = depth > deepest ? depth : deepest;
        }
    }
    return deepest;
}
