/* SPDX-License-Identifier: Apache-2.0 */
/* column.c - reads a column: complete values, words of differences, and documents.
 *
 * A byte determines what follows: an element without a name, words that belong to the value before them, the end, or a
 * document that is the template of the following ones. The values of such documents are separate streams, one for each
 * value of the template in the order of its fields, and the stream that is exhausted takes the next bytes: so their
 * order is known without being stored. Documents lack missing values, and nested documents that became empty; those
 * that are empty in the template stay. The bytes are foreign input: each length is checked, and nothing is
 * recursive. */
#include "column.h"

enum { END_BYTE = 0, TOGETHER_NO_ARRAYS = 0xF0, TOGETHER = 0xF1, TOGETHER_ARRAY = 0xF2, VALUES_MASK = 0xE0 };
enum { FIELDS_KEPT = 1000, BYTES_KEPT = 64 << 10 };

enum column_op { OPEN, VALUE, CLOSE };
struct mrsi_column_field {
    enum column_op op;
    uint8_t type;  /* type of the opened document */
    bool empty;    /* it was empty in the template, and may be so */
    const uint8_t *name; /* of name_n bytes with its NUL */
    uint32_t name_n;
    uint32_t other; /* VALUE: its stream; OPEN: its output offset; CLOSE: its OPEN */
};

void
mrsi_column_init(struct mrsi_column_reader *c, struct mrs_mem *mem, uint32_t *room)
{
    memset(c, 0, sizeof *c);
    c->mem = mem;
    c->room = room;
    mrs_buf_init(&c->built, mem, MRS_DOC_READ_MAX);
}

void
mrsi_column_clear(struct mrsi_column_reader *c)
{
    mrs_free(c->mem, c->stream);
    mrs_free(c->mem, c->field);
    mrs_buf_clear(&c->built);
    c->stream = NULL;
    c->field = NULL;
    c->cap_streams = c->cap_fields = 0;
}

void
mrsi_column_begin(struct mrsi_column_reader *c, const uint8_t *p, uint32_t n)
{
    c->start = c->at = p;
    c->end = p + n;
    c->together = false;
    c->n_fields = 0;
    if (c->cap_fields > FIELDS_KEPT || c->built.cap > BYTES_KEPT) {
        mrsi_column_clear(c); /* the last bucket was unusual */
    }
    mrsi_deltas_set(&c->plain, mrs_missing());
}

static enum mrs_status
damaged(const struct mrsi_column_reader *c, const char *why, struct mrs_err *e)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_BSON, "byte %zu of the column: %s", (size_t)(c->at - c->start), why);
}

/* ---- complete values and words ---- */
static bool
is_whole(uint8_t byte)
{
    return (byte & VALUES_MASK) == 0 || byte == MRS_MINKEY || byte == MRS_MAXKEY;
}

/* An element with an empty name. */
static enum mrs_status
take_whole(struct mrsi_column_reader *c, struct mrsi_deltas *s, struct mrs_val *v, struct mrs_err *e)
{
    size_t room = (size_t)(c->end - c->at);
    int64_t n = room >= 2 && c->at[1] == 0 ? mrs_value_size(*c->at, c->at + 2, room - 2) : -1;
    if (n < 0) {
        return damaged(c, "a value that is cut short or has an impossible length", e);
    }
    *v = (struct mrs_val){c->at + 2, (uint32_t)n, *c->at};
    c->at += 2 + n;
    mrsi_deltas_set(s, *v);
    return MRS_OK;
}

static enum mrs_status
take_next(struct mrsi_column_reader *c, struct mrsi_deltas *s, struct mrs_val *v, struct mrs_err *e)
{
    const char *why = NULL;
    int got = mrsi_deltas_next(s, v, &why);
    return got > 0 ? MRS_OK : got == 0 ? MRS_END : damaged(c, why, e);
}

/* Applies the current control byte to a stream with nothing left; the byte is neither an end nor a template
 * document. */
static enum mrs_status
take_control(struct mrsi_column_reader *c, struct mrsi_deltas *s, struct mrs_val *v, struct mrs_err *e)
{
    struct mrsi_delta_control control;
    if (c->at == c->end) {
        return damaged(c, "it has no end", e);
    }
    if (*c->at == END_BYTE) {
        return damaged(c, "documents end before all their values have come", e);
    }
    if (is_whole(*c->at)) {
        return take_whole(c, s, v, e);
    }
    if (!mrsi_delta_control(*c->at, &control)) {
        return damaged(c, "a control byte that does not exist", e);
    }
    if ((size_t)(c->end - c->at) < 1 + (size_t)control.words * MRSI_WORD) {
        return damaged(c, "words that are cut short", e);
    }
    const char *why = mrsi_deltas_begin(s, control, c->at + 1);
    if (why) {
        return damaged(c, why, e);
    }
    c->at += 1 + (size_t)control.words * MRSI_WORD;
    return take_next(c, s, v, e); /* each word has a number */
}

/* ---- documents of one template ---- */
static enum mrs_status
add_field(struct mrsi_column_reader *c, struct mrsi_column_field f, struct mrs_err *e)
{
    if (*c->room == 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "more than %u fields in documents of one bucket",
                           MRS_BUCKET_FIELDS_MAX);
    }
    struct mrsi_column_field *list = mrs_more(c->mem, c->field, c->n_fields, &c->cap_fields, sizeof *list);
    MRS_TRY(mrs_allocated(list, sizeof *list, e));
    --*c->room;
    c->field = list;
    list[c->n_fields++] = f;
    return MRS_OK;
}

static enum mrs_status
open_field(struct mrsi_column_reader *c, uint8_t type, struct mrs_view d, const struct mrs_elem *el, struct mrs_err *e)
{
    struct mrsi_column_field f = {.op = OPEN, .type = type, .empty = d.n == MRS_DOC_MIN};
    if (el) {
        f.name = (const uint8_t *)el->name;
        f.name_n = el->name_len + 1;
    }
    return add_field(c, f, e);
}

/* Lists the fields of the template, in its order. It has been checked. */
static enum mrs_status
list_fields(struct mrsi_column_reader *c, uint8_t type, struct mrs_view first, bool arrays, struct mrs_err *e)
{
    struct mrs_walk walk[MRS_DEPTH_MAX];
    uint32_t open[MRS_DEPTH_MAX], depth = 0;
    struct mrs_elem el;
    enum mrs_status s = open_field(c, type, first, NULL, e);
    open[depth] = 0;
    mrs_walk_init(&walk[depth++], first);
    while (s == MRS_OK && depth) {
        if (mrs_walk_next(&walk[depth - 1], &el) <= 0) {
            depth--;
            s = add_field(c, (struct mrsi_column_field){.op = CLOSE, .other = open[depth]}, e);
        } else if (el.v.type == MRS_DOCUMENT || (arrays && el.v.type == MRS_ARRAY)) {
            open[depth] = c->n_fields;
            mrs_walk_init(&walk[depth++], mrs_val_view(el.v));
            s = open_field(c, el.v.type, mrs_val_view(el.v), &el, e);
        } else {
            s = add_field(c, (struct mrsi_column_field){.op = VALUE, .name = (const uint8_t *)el.name,
                                                        .name_n = el.name_len + 1, .other = c->n_streams++}, e);
        }
    }
    return s;
}

/* Each stream begins with the value of the template, which is no document of the column itself. */
static enum mrs_status
begin_streams(struct mrsi_column_reader *c, struct mrs_err *e)
{
    if (c->cap_streams < c->n_streams) {
        mrs_free(c->mem, c->stream);
        c->cap_streams = 0;
        c->stream = mrs_alloc_array(c->mem, c->n_streams, sizeof *c->stream);
        MRS_TRY(mrs_allocated(c->stream, c->n_streams * sizeof *c->stream, e));
        c->cap_streams = c->n_streams;
    }
    for (uint32_t i = 0; i < c->n_fields; i++) {
        const struct mrsi_column_field *f = &c->field[i];
        if (f->op == VALUE) {
            const uint8_t *p = f->name + f->name_n;
            uint8_t type = f->name[-1];
            int64_t n = mrs_value_size(type, p, (uint64_t)(c->end - p));
            mrsi_deltas_set(&c->stream[f->other], (struct mrs_val){p, (uint32_t)n, type});
        }
    }
    return MRS_OK;
}

static enum mrs_status
begin_together(struct mrsi_column_reader *c, struct mrs_err *e)
{
    const uint8_t *p = c->at + 1;
    size_t room = (size_t)(c->end - p);
    int64_t n = mrs_value_size(MRS_DOCUMENT, p, room);
    struct mrs_err inner;
    mrs_err_clear(&inner);
    if (n < 0 || mrs_doc_check(p, (uint64_t)n, MRS_DEPTH_MAX, &inner) != MRS_OK) {
        return damaged(c, n < 0 ? "a document that is cut short or has an impossible length" : inner.msg, e);
    }
    *c->room += c->n_fields;
    c->n_fields = c->n_streams = 0;
    enum mrs_status s = list_fields(c, *c->at == TOGETHER_ARRAY ? MRS_ARRAY : MRS_DOCUMENT,
                                    (struct mrs_view){p, (uint32_t)n}, *c->at != TOGETHER_NO_ARRAYS, e);
    MRS_THEN(s, begin_streams(c, e));
    if (s == MRS_OK && c->n_streams == 0) {
        s = damaged(c, "a document without values, and others that are to be like it", e);
    }
    c->at += 1 + n;
    c->together = true;
    bool over = s == MRS_OK && c->at < c->end && *c->at == END_BYTE;
    return over ? damaged(c, "a document, and none that is like it", e) : s;
}

static void
put_open(struct mrsi_column_reader *c, struct mrsi_column_field *f)
{
    f->other = (uint32_t)c->built.n;
    if (f->name) {
        mrs_buf_byte(&c->built, f->type);
        mrs_buf_put(&c->built, f->name, f->name_n);
    }
    mrs_buf_put(&c->built, "\0\0\0", 4);
}

/* Writes length and end of a document, or removes it. */
static void
put_close(struct mrsi_column_reader *c, const struct mrsi_column_field *f)
{
    const struct mrsi_column_field *opened = &c->field[f->other];
    size_t head = opened->other + (opened->name ? 1u + opened->name_n : 0);
    if (c->built.bad) {
        return;
    }
    if (c->built.n == head + 4 && !opened->empty) {
        c->built.n = opened->other;
        return;
    }
    mrs_buf_byte(&c->built, 0);
    if (!c->built.bad) {
        mrs_put32(c->built.p + head, (uint32_t)(c->built.n - head));
    }
}

static void
put_value(struct mrsi_column_reader *c, const struct mrsi_column_field *f, struct mrs_val v)
{
    if (v.type != MRS_MISSING) {
        mrs_buf_byte(&c->built, v.type);
        mrs_buf_put(&c->built, f->name, f->name_n);
        mrs_buf_put(&c->built, v.p, v.n);
    }
}

static struct mrs_val
built_value(const struct mrsi_column_reader *c)
{
    return c->built.n ? (struct mrs_val){c->built.p, (uint32_t)c->built.n, c->field[0].type} : mrs_missing();
}

/* Whether the part ends: its first stream has nothing left, and the end follows. */
static bool
is_over(const struct mrsi_column_reader *c)
{
    return mrsi_simple8b_is_empty(&c->stream[0].deltas) && c->at < c->end && *c->at == END_BYTE;
}

/* After the part its last document can repeat. */
static enum mrs_status
end_together(struct mrsi_column_reader *c, struct mrs_err *e)
{
    for (uint32_t i = 1; i < c->n_streams; i++) {
        if (!mrsi_simple8b_is_empty(&c->stream[i].deltas)) {
            return damaged(c, "documents end before all their values have come", e);
        }
    }
    c->at++;
    c->together = false;
    mrsi_deltas_set(&c->plain, built_value(c));
    return MRS_OK;
}

/* One document, in c->built: none if all values are missing. */
static enum mrs_status
build(struct mrsi_column_reader *c, struct mrs_val *v, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    mrs_buf_reset(&c->built);
    for (uint32_t i = 0; s == MRS_OK && i < c->n_fields; i++) {
        struct mrsi_column_field *f = &c->field[i];
        if (f->op == OPEN) {
            put_open(c, f);
        } else if (f->op == CLOSE) {
            put_close(c, f);
        } else {
            s = take_next(c, &c->stream[f->other], v, e);
            s = s == MRS_END ? take_control(c, &c->stream[f->other], v, e) : s;
            if (s == MRS_OK) {
                put_value(c, f, *v);
            }
        }
    }
    MRS_THEN(s, mrs_buf_status(&c->built, e));
    *v = s == MRS_OK ? built_value(c) : mrs_missing();
    return s;
}

/* Outside such a part; if one begins, there is no value yet. */
static enum mrs_status
next_plain(struct mrsi_column_reader *c, struct mrs_val *v, struct mrs_err *e)
{
    enum mrs_status s = take_next(c, &c->plain, v, e);
    if (s != MRS_END) {
        return s;
    }
    if (c->at < c->end && *c->at == END_BYTE) {
        return c->at + 1 == c->end ? MRS_END : damaged(c, "bytes after its end", e);
    }
    if (c->at < c->end && *c->at >= TOGETHER_NO_ARRAYS && *c->at <= TOGETHER_ARRAY) {
        return begin_together(c, e);
    }
    return take_control(c, &c->plain, v, e);
}

enum mrs_status
mrsi_column_next(struct mrsi_column_reader *c, struct mrs_val *v, struct mrs_err *e)
{
    for (;;) {
        enum mrs_status s = MRS_OK;
        if (c->together && !is_over(c)) {
            return build(c, v, e);
        }
        MRS_THEN(s, c->together ? end_together(c, e) : MRS_OK);
        MRS_THEN(s, next_plain(c, v, e));
        if (s != MRS_OK || !c->together) {
            return s;
        }
    }
}
