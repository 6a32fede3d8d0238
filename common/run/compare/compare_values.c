/* SPDX-License-Identifier: Apache-2.0 */
/* compare_values.c - finds where two documents with one `_id` differ.
 *
 * Both are walked in parallel. If names differ, the one that the other document lacks is reported and skipped, so that
 * a new field at the front does not hide later differences; if both documents have both names, the order differs and
 * that level ends. Each reported value costs one pass over its level, and only the first few are reported, so the work
 * is bounded by the size of the documents. Values are compared as bytes: 1 and 1.0 differ. */
#include "compare_dumps.h"
#include "mongoreshape/ejson.h"

enum { SHOWN = 120, BEFORE = 30, PATH_SHOWN = 200, CLIP = 4096, CLIP_ROOM = CLIP + 8, TEXT_MOST = 256 << 10 };

struct compare_values_level {
    struct mrs_walk w[2];
    struct mrs_elem e[2];
    bool have[2];
    size_t path_n; /* length of the current path */
};
struct compare_values_walk {
    struct mrs_arena *arena;
    struct mrs_diff_doc *doc;
    struct mrs_buf path;
    struct compare_values_level *stack;
    int depth;
};

/* ---- texts ---- */
static const char *
copy_text(struct mrs_arena *a, const char *from, size_t n)
{
    char *text = mrs_arena_alloc(a, n + 1);
    if (text) {
        memcpy(text, from, n);
        text[n] = 0;
    }
    return text;
}

/* Start of the character at or before i. */
static size_t
start_of_char(const uint8_t *p, size_t i)
{
    while (i > 0 && (p[i] & 0xC0) == 0x80) {
        i--;
    }
    return i;
}

/* The part of a text that shows what follows `same` equal bytes. */
static const char *
cut(struct mrs_arena *a, const struct mrs_buf *text, size_t same)
{
    MRS_ASSERT(same <= text->n);
    size_t from = text->n > SHOWN && same > SHOWN / 2 ? start_of_char(text->p, same - BEFORE) : 0;
    size_t to = from + SHOWN < text->n ? start_of_char(text->p, from + SHOWN) : text->n;
    char *out = mrs_arena_alloc(a, to - from + 8);
    if (out) {
        size_t n = 0;
        if (from) {
            memcpy(out, "...", 3);
            n = 3;
        }
        memcpy(out + n, text->p + from, to - from);
        n += to - from;
        memcpy(out + n, to < text->n ? "..." : "", to < text->n ? 4 : 1);
    }
    return out;
}

/* The part of a long text that shows what follows `same` equal bytes, as a value in room. */
static struct mrs_val
clip(struct mrs_val v, size_t same, uint8_t room[CLIP_ROOM])
{
    MRS_ASSERT(mrs_val_is_sized(v));
    uint32_t n, dots;
    const uint8_t *p = (const uint8_t *)mrs_val_text(v, &n);
    size_t from = same > 4 + BEFORE ? start_of_char(p, same - 4 - BEFORE) : 0;
    size_t to = from + CLIP < n ? start_of_char(p, from + CLIP) : n;
    dots = from ? 3 : 0;
    memcpy(room + 4, "...", dots);
    memcpy(room + 4 + dots, p + from, to - from);
    n = dots + (uint32_t)(to - from);
    room[4 + n] = 0;
    mrs_put32(room, n + 1);
    return (struct mrs_val){room, n + 5, v.type};
}

/* The text of a value, or enough of it to cut from; false: out of memory. */
static bool
put_text(struct mrs_buf *out, struct mrs_val v, size_t same, bool canonical)
{
    uint8_t room[CLIP_ROOM];
    mrs_buf_init(out, out->mem, TEXT_MOST);
    if (v.type == MRS_STRING && v.n > sizeof room) {
        v = clip(v, same, room);
    }
    mrs_ejson_write_val(v, canonical, out);
    bool good = out->bad != 1;
    out->bad = 0;
    return good;
}

const char *
mrsi_compare_text(struct mrs_arena *a, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_buf text = {.mem = a->mem};
    const char *out = put_text(&text, v, 0, false) ? cut(a, &text, 0) : NULL;
    mrs_buf_clear(&text);
    return out;
}

/* Values with equal texts (NaN with other bits, text that is not UTF-8) are reported by their bytes. */
static void
put_hex(struct mrs_buf *out, struct mrs_val v, size_t same)
{
    size_t from = same > 8 ? same - 8 : 0, to = v.n < from + 32 ? v.n : from + 32;
    mrs_buf_printf(out, "%s of bytes %s", mrs_type_name(v.type), from ? "..." : "");
    for (size_t i = from; i < to; i++) {
        mrs_buf_printf(out, "%02x", v.p[i]);
    }
    mrs_buf_printf(out, "%s", to < v.n ? "..." : "");
}

static size_t
common(const uint8_t *a, size_t na, const uint8_t *b, size_t nb)
{
    size_t i = 0;
    while (i < na && i < nb && a[i] == b[i]) {
        i++;
    }
    return i;
}

bool
mrsi_compare_texts(struct mrs_arena *arena, const struct mrs_val v[2], bool canonical, const char *out[2])
{
    struct mrs_buf text[2] = {{.mem = arena->mem}, {.mem = arena->mem}};
    bool both = v[0].type != MRS_MISSING && v[1].type != MRS_MISSING;
    bool strings = v[0].type == MRS_STRING && v[1].type == MRS_STRING; /* compare after their lengths */
    size_t skip = strings ? 4 : 0;
    size_t bytes = both ? skip + common(v[0].p + skip, v[0].n - skip, v[1].p + skip, v[1].n - skip) : 0;
    bool good = put_text(&text[0], v[0], bytes, canonical);
    good = put_text(&text[1], v[1], bytes, canonical) && good;
    size_t same = both && good ? common(text[0].p, text[0].n, text[1].p, text[1].n) : 0;
    if (both && good && text[0].n == text[1].n && same == text[0].n) {
        for (int i = 0; i < 2; i++) {
            mrs_buf_reset(&text[i]);
            put_hex(&text[i], v[i], bytes);
            good = good && !text[i].bad;
        }
        same = 0;
    }
    for (int i = 0; i < 2; i++) {
        out[i] = good && v[i].type != MRS_MISSING ? cut(arena, &text[i], same) : NULL;
        good = good && (out[i] || v[i].type == MRS_MISSING);
        mrs_buf_clear(&text[i]);
    }
    return good;
}

/* ---- the walk ---- */
/* The path of a field of the current level, in the arena; NULL: out of memory. */
static const char *
path_of(struct compare_values_walk *k, const char *name, size_t name_n)
{
    size_t n = k->path.n;
    mrs_buf_put(&k->path, ".", n && name_n ? 1 : 0);
    mrs_buf_put(&k->path, name, name_n);
    size_t shown = k->path.n < PATH_SHOWN ? k->path.n : start_of_char(k->path.p, PATH_SHOWN);
    const char *path = k->path.bad ? NULL : copy_text(k->arena, shown ? (const char *)k->path.p : "", shown);
    k->path.n = n;
    return path;
}

/* Adds a difference; false: out of memory. If the list is full, it only records that there are more. */
static bool
report(struct compare_values_walk *k, const struct mrs_elem *name, struct mrs_val a, struct mrs_val b)
{
    struct mrs_diff_doc *d = k->doc;
    struct mrs_val v[2] = {a, b};
    const char *text[2];
    if (d->n_value == MRS_DIFF_VALUES) {
        d->more = true;
        return true;
    }
    const char *path = path_of(k, name->name, name->name_len);
    bool good = path && mrsi_compare_texts(k->arena, v, true, text);
    if (good) {
        d->value[d->n_value++] = (struct mrs_diff_value){path, text[0], text[1], false};
    }
    return good;
}

/* Ends the current level: its fields are in another order. */
static bool
report_order(struct compare_values_walk *k, struct compare_values_level *l)
{
    MRS_ASSERT(k->depth > 0);
    struct mrs_diff_doc *d = k->doc;
    l->have[0] = l->have[1] = false;
    if (d->n_value == MRS_DIFF_VALUES) {
        d->more = true;
        return true;
    }
    const char *path = path_of(k, "", 0);
    const char *a = copy_text(k->arena, l->e[0].name, l->e[0].name_len < SHOWN ? l->e[0].name_len : SHOWN);
    const char *b = copy_text(k->arena, l->e[1].name, l->e[1].name_len < SHOWN ? l->e[1].name_len : SHOWN);
    d->value[d->n_value++] = (struct mrs_diff_value){path, a, b, true};
    return path && a && b;
}

static bool
has_name(struct mrs_walk w, const struct mrs_elem *e)
{
    struct mrs_elem x;
    while (mrs_walk_next(&w, &x) > 0) {
        if (mrs_name_is(&x, e->name, e->name_len)) {
            return true;
        }
    }
    return false;
}

static void
step(struct compare_values_level *l, int side)
{
    l->have[side] = mrs_walk_next(&l->w[side], &l->e[side]) > 0;
}

static void
enter(struct compare_values_walk *k, struct mrs_view a, struct mrs_view b)
{
    struct compare_values_level *l = &k->stack[k->depth++];
    mrs_walk_init(&l->w[0], a);
    mrs_walk_init(&l->w[1], b);
    l->path_n = k->path.n;
    step(l, 0);
    step(l, 1);
}

/* Two fields with the same name. */
static bool
same_name(struct compare_values_walk *k, struct compare_values_level *l)
{
    struct mrs_elem a = l->e[0], b = l->e[1];
    bool nested = a.v.type == b.v.type && (a.v.type == MRS_DOCUMENT || a.v.type == MRS_ARRAY);
    step(l, 0);
    step(l, 1);
    if (mrs_identical(a.v, b.v)) {
        return true;
    }
    if (!nested || k->depth == MRS_DEPTH_READ) {
        return report(k, &a, a.v, b.v);
    }
    mrs_buf_put(&k->path, ".", k->path.n ? 1 : 0);
    mrs_buf_put(&k->path, a.name, a.name_len);
    enter(k, mrs_val_view(a.v), mrs_val_view(b.v));
    return !k->path.bad;
}

/* Fields with different names, or one side has ended. */
static bool
other_names(struct compare_values_walk *k, struct compare_values_level *l)
{
    MRS_ASSERT(k->depth > 0);
    bool in_b = l->have[0] && l->have[1] && has_name(l->w[1], &l->e[0]);
    bool in_a = l->have[0] && l->have[1] && has_name(l->w[0], &l->e[1]);
    if (in_a && in_b) { /* both have both names: the order differs */
        return report_order(k, l);
    }
    int side = l->have[0] && !in_b ? 0 : 1;
    struct mrs_elem e = l->e[side];
    step(l, side);
    return report(k, &e, side == 0 ? e.v : mrs_missing(), side == 1 ? e.v : mrs_missing());
}

enum mrs_status
mrsi_compare_values(struct mrs_arena *a, struct mrs_view left, struct mrs_view right, struct mrs_diff_doc *doc,
                    struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(left) && mrs_view_is_framed(right));
    struct compare_values_walk k = {.arena = a, .doc = doc};
    bool good = true;
    mrs_buf_init(&k.path, a->mem, SIZE_MAX);
    k.stack = mrs_alloc(a->mem, MRS_DEPTH_READ * sizeof *k.stack);
    MRS_TRY(mrs_allocated(k.stack, MRS_DEPTH_READ * sizeof *k.stack, e));
    enter(&k, left, right);
    while (good && k.depth > 0 && !doc->more) {
        struct compare_values_level *l = &k.stack[k.depth - 1];
        k.path.n = l->path_n;
        if (!l->have[0] && !l->have[1]) {
            k.depth--;
        } else if (l->have[0] && l->have[1] &&
                   mrs_name_is(&l->e[0], l->e[1].name, l->e[1].name_len)) {
            good = same_name(&k, l);
        } else {
            good = other_names(&k, l);
        }
    }
    mrs_free(a->mem, k.stack);
    mrs_buf_clear(&k.path);
    return good ? MRS_OK : mrs_err_memory(e, 1);
}
