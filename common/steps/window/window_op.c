/* SPDX-License-Identifier: Apache-2.0 */
/* window_op.c - reads one operator of a window step from the plan. */
#include "window.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/value.h"
#include "mongoreshape/words.h"

enum { WIDE = 1000 }; /* documents */

/* ---- the table ---- */
enum window_frames { NO_FRAME, NEEDS_FRAME, ANY_FRAME };
struct window_row {
    const char *name;
    enum window_kind kind;
    enum window_frames frames;
    bool sorted; /* needs `sort` */
    bool keyed;  /* needs `sort` with one key, and reads it */
};
static const struct window_row rows[] = {
    {"$documentNumber", WINDOW_NUMBER, NO_FRAME, false, false},
    {"$rank", WINDOW_RANK, NO_FRAME, true, false},
    {"$denseRank", WINDOW_DENSE_RANK, NO_FRAME, true, false},
    {"$shift", WINDOW_SHIFT, NO_FRAME, false, false},
    {"$expMovingAvg", WINDOW_AVERAGE, NO_FRAME, true, false},
    {"$derivative", WINDOW_DERIVATIVE, NEEDS_FRAME, true, true},
    {"$integral", WINDOW_INTEGRAL, ANY_FRAME, true, true},
    {"$locf", WINDOW_LOCF, NO_FRAME, false, false},
    {"$linearFill", WINDOW_FILL, NO_FRAME, true, true},
};
static const struct window_row accumulator = {NULL, WINDOW_ACC, ANY_FRAME, false, false};

static const struct window_row *
row_of(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

bool
mrsi_window_function(const char *name)
{
    MRS_ASSERT(name);
    return row_of(name) != NULL;
}

const char *
mrsi_window_meant(const char *name)
{
    MRS_ASSERT(name);
    const char *names[sizeof rows / sizeof *rows];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        names[i] = rows[i].name;
    }
    return mrs_nearest(name, names, sizeof rows / sizeof *rows);
}

bool
mrsi_window_slides(const struct window_op *op)
{
    bool together = op->kind == WINDOW_ACC || op->kind == WINDOW_INTEGRAL;
    return together && op->frame.lo.kind != WINDOW_UNBOUNDED;
}

/* ---- formulas ---- */
bool
mrsi_window_formula(struct mrsi_read *r, struct mrsi_window *s, enum window_formula f)
{
#define GAP "{\"$subtract\": [\"$$X2\", \"$$X1\"]}"
#define RISE "{\"$subtract\": [\"$$Y2\", \"$$Y1\"]}"
    static const char *const vars[WINDOW_VARS] = {"X", "X1", "Y1", "X2", "Y2", "K"};
    static const char *const text[WINDOW_FORMULAS] = {
        [WINDOW_F_DECIMAL] = "{\"f\": {\"$toDecimal\": \"$$X\"}}",
        [WINDOW_F_DOUBLE] = "{\"f\": {\"$toDouble\": \"$$X\"}}",
        [WINDOW_F_RATE] = "{\"f\": {\"$divide\": [" RISE ", " GAP "]}}",
        [WINDOW_F_TIMES] = "{\"f\": {\"$multiply\": [\"$$X\", \"$$K\"]}}",
        [WINDOW_F_OVER] = "{\"f\": {\"$divide\": [\"$$X\", \"$$K\"]}}",
        [WINDOW_F_AREA] = "{\"f\": {\"$divide\": [{\"$multiply\": [{\"$add\": [\"$$Y2\", \"$$Y1\"]}, " GAP "]}, 2.0]}}",
        [WINDOW_F_FILL] = "{\"f\": {\"$add\": [\"$$Y1\", {\"$multiply\": [{\"$subtract\": [\"$$X\", \"$$X1\"]}, "
                          "{\"$divide\": [" RISE ", " GAP "]}]}]}}",
        [WINDOW_F_MIX] = ("{\"f\": {\"$add\": [{\"$multiply\": [\"$$X\", \"$$K\"]}, "
                          "{\"$multiply\": [\"$$X1\", \"$$X2\"]}]}}"),
        [WINDOW_F_ALPHA] = "{\"f\": {\"$divide\": [{\"$numberDecimal\": \"2\"}, {\"$add\": [\"$$X\", 1]}]}}",
        [WINDOW_F_REST] = "{\"f\": {\"$subtract\": [{\"$numberDecimal\": \"1\"}, \"$$X\"]}}",
    };
    struct mrs_buf buf;
    size_t used;
    if (s->formula[f]) {
        return true;
    }
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status st = mrs_ejson_read(text[f], strlen(text[f]), MRS_EJSON_DATA, &buf, &used, &e);
    bool good = st == MRS_OK || mrsi_read_failed(r, "fields", NULL, st, &e);
    if (good) {
        struct mrsi_slot slot = {mrs_doc_get((struct mrs_view){buf.p, (uint32_t)buf.n}, "f"), "fields", NULL, NULL};
        r->vars = vars;
        r->n_vars = WINDOW_VARS;
        good = mrsi_read_expr(r, slot, &s->formula[f]);
        r->vars = NULL;
        r->n_vars = 0;
    }
    mrs_buf_clear(&buf);
    return good;
}

/* The value of a formula for X, in the plan's arena. */
static bool
value_of(struct mrsi_read *r, struct mrsi_window *s, enum window_formula f, struct mrs_val x, struct mrs_val *out)
{
    struct mrs_val v[WINDOW_VARS] = {x};
    if (!mrsi_window_formula(r, s, f)) {
        return false;
    }
    struct mrs_err e;
    mrs_err_clear(&e);
    struct mrs_eval ev = {.arena = r->args->arena, .root = mrs_empty_doc(), .vars = v, .err = &e};
    enum mrs_status st = mrs_expr_eval(s->formula[f], &ev, out);
    return st == MRS_OK || mrsi_read_failed(r, "fields", NULL, st, &e);
}

/* ---- arguments ---- */
static struct window_arg *
new_arg(struct mrsi_read *r, struct mrsi_window *s, uint32_t *no)
{
    MRS_ASSERT(s->n_arg <= s->cap_arg && no);
    if (s->n_arg == s->cap_arg) {
        uint32_t cap = s->cap_arg ? 2 * s->cap_arg : 8;
        struct window_arg *arg = mrsi_read_alloc(r, cap, sizeof *arg);
        if (!arg) {
            return NULL;
        }
        if (s->n_arg) {
            memcpy(arg, s->arg, s->n_arg * sizeof *arg);
        }
        s->arg = arg;
        s->cap_arg = cap;
    }
    *no = s->n_arg;
    return &s->arg[s->n_arg++];
}

/* Indexes of the stored arguments, when all are known. */
void
mrsi_window_number_args(struct mrsi_window *s)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < s->n_arg; i++) {
        s->arg[i].place = place;
        place += s->arg[i].fixed.type == MRS_MISSING;
    }
}

/* An existing argument with the same path; NONE. */
static uint32_t
same_path(const struct mrsi_window *s, const char *path)
{
    for (uint32_t i = 0; path && i < s->n_arg; i++) {
        const struct window_arg *a = &s->arg[i];
        const char *other = a->acc ? mrs_acc_bare_path(a->acc) : mrs_expr_bare_path(a->x);
        if (other && strcmp(other, path) == 0) {
            return i;
        }
    }
    return WINDOW_NONE;
}

static bool
read_arg(struct mrsi_read *r, struct mrsi_window *s, struct mrsi_slot slot, uint32_t *no)
{
    struct mrs_expr *x;
    if (!mrsi_read_expr(r, slot, &x)) {
        return slot.v.type == MRS_MISSING && mrsi_read_error(r, slot.key, slot.sub, "there is no expression");
    }
    *no = same_path(s, mrs_expr_bare_path(x));
    struct window_arg *a = *no == WINDOW_NONE ? new_arg(r, s, no) : NULL;
    if (a) {
        *a = (struct window_arg){.x = x, .fixed = mrs_missing()};
        mrs_expr_constant(x, &a->fixed);
    }
    return *no != WINDOW_NONE;
}

uint32_t
mrsi_window_key_arg(struct mrsi_read *r, struct mrsi_window *s, const char *field)
{
    const char *text = s->x == WINDOW_NONE ? mrsi_read_text_of(r, "$%s", s->sort_path) : NULL;
    if (text) {
        struct mrs_val v = mrs_make_text(r->args->arena, text, (uint32_t)strlen(text));
        read_arg(r, s, (struct mrsi_slot){v, "fields", field, NULL}, &s->x);
    }
    return s->x;
}

/* ---- after the name ---- */
static bool
read_nothing(struct mrsi_read *r, struct mrsi_slot spec, const char *name)
{
    return (spec.v.type == MRS_DOCUMENT && mrs_val_count(spec.v) == 0) ||
           mrsi_read_error(r, spec.key, spec.sub, "%s takes an empty document: {}", name);
}

/* A value that is constant for all documents. */
static bool
read_constant(struct mrsi_read *r, struct mrsi_slot slot, struct mrs_val *out)
{
    struct mrs_expr *x;
    return mrsi_read_expr(r, slot, &x) &&
           (mrs_expr_constant(x, out) || mrsi_read_error(r, slot.key, slot.sub, "must be a constant"));
}

static bool
read_shift(struct mrsi_read *r, struct mrsi_window *s, struct mrsi_slot spec, struct window_op *op)
{
    static const struct mrs_key keys[] = {{"output", MRS_ARG_EXPR, true, NULL, "what is taken of the other document"},
                                          {"by", MRS_ARG_ANY, true, NULL, "how many places further on it lies"},
                                          {"default", MRS_ARG_ANY, false, NULL, "where there is none"}};
    struct mrs_val by;
    if (!mrsi_read_map(r, spec, keys, 3)) {
        return false;
    }
    struct mrsi_slot where = mrsi_slot_below(r, spec, keys, 3, "by"),
                     other = mrsi_slot_below(r, spec, keys, 3, "default");
    bool good = read_constant(r, where, &by) &&
                (mrs_val_integral(by, &op->by) || mrsi_read_error(r, where.key, where.sub, "must be a whole number"));
    op->fallback = mrs_null();
    good = (!mrsi_slot_present(other) || read_constant(r, other, &op->fallback)) && good;
    op->fallback = op->fallback.type == MRS_MISSING ? mrs_null() : op->fallback;
    return read_arg(r, s, mrsi_slot_below(r, spec, keys, 3, "output"), &op->arg) && good;
}

static bool
read_average(struct mrsi_read *r, struct mrsi_window *s, struct mrsi_slot spec, struct window_op *op)
{
    static const struct mrs_key keys[] = {{"input", MRS_ARG_EXPR, true, NULL, "what is averaged"},
                                          {"N", MRS_ARG_COUNT, false, NULL, "documents that count most"},
                                          {"alpha", MRS_ARG_ANY, false, NULL, "weight of the newest one"}};
    int64_t n = 0;
    struct mrs_val v;
    if (!mrsi_read_map(r, spec, keys, 3)) {
        return false;
    }
    struct mrsi_slot by_n = mrsi_slot_below(r, spec, keys, 3, "N"),
                     alpha = mrsi_slot_below(r, spec, keys, 3, "alpha");
    if (mrsi_slot_present(by_n) == mrsi_slot_present(alpha)) {
        return mrsi_read_error(r, spec.key, spec.sub, "$expMovingAvg takes either `N` or `alpha`");
    }
    bool good = read_arg(r, s, mrsi_slot_below(r, spec, keys, 3, "input"), &op->arg);
    if (mrsi_slot_present(by_n)) {
        good = read_constant(r, by_n, &v) && good;
        good = good && ((mrs_val_integral(v, &n) && n > 0) ||
                        mrsi_read_error(r, by_n.key, by_n.sub, "must be a whole number above 0"));
        good = good && value_of(r, s, WINDOW_F_ALPHA, v, &op->alpha);
    } else {
        static const uint8_t zero[4] = {0}, one[4] = {1};
        good = read_constant(r, alpha, &v) && good;
        good = good && ((mrs_is_number(v) && mrs_compare(v, (struct mrs_val){zero, 4, MRS_INT32}) > 0 &&
                         mrs_compare(v, (struct mrs_val){one, 4, MRS_INT32}) < 0) ||
                        mrsi_read_error(r, alpha.key, alpha.sub, "must be a number between 0 and 1"));
        good = good && value_of(r, s, WINDOW_F_DECIMAL, v, &op->alpha);
    }
    return good && value_of(r, s, WINDOW_F_REST, op->alpha, &op->rest) && mrsi_window_formula(r, s, WINDOW_F_MIX) &&
           mrsi_window_formula(r, s, WINDOW_F_DOUBLE) && mrsi_window_formula(r, s, WINDOW_F_DECIMAL);
}

static bool
read_unit(struct mrsi_read *r, struct mrsi_slot slot, struct window_op *op)
{
    const char *unit;
    int64_t ms;
    op->unit = mrs_missing();
    if (!mrsi_slot_present(slot)) {
        return true;
    }
    if (!mrsi_read_text(r, slot, &unit)) {
        return false;
    }
    uint8_t *room = mrsi_read_alloc(r, 1, 16);
    if (!mrsi_window_unit(unit, &ms) || !ms) {
        return mrsi_read_error(r, slot.key, slot.sub, "`%.60s` is none of week, day, hour, minute, second, millisecond",
                               unit);
    }
    op->dates = true;
    op->unit = room ? mrs_make_i64(room, ms, MRS_INT64) : mrs_missing();
    return room != NULL;
}

/* Builds {name: spec} in the arena. */
static struct mrs_val
alone(struct mrsi_read *r, const char *name, struct mrs_val spec)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_val v = mrs_missing();
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_val(&b, name, (uint32_t)strlen(name), spec);
    if (mrs_build_finish(&b, &doc, r->err) != MRS_OK || !mrs_val_copy(r->args->arena, mrs_view_val(doc), &v)) {
        r->status = mrs_err_memory(r->err, buf.n);
    }
    mrs_buf_clear(&buf);
    return v;
}

static bool
read_slope(struct mrsi_read *r, struct mrsi_window *s, struct mrsi_slot spec, struct window_op *op)
{
    static const struct mrs_key keys[] = {{"input", MRS_ARG_EXPR, true, NULL, "the value"},
                                          {"unit", MRS_ARG_TEXT, false, NULL, "of time, where the sort key is a date"}};
    if (!mrsi_read_map(r, spec, keys, 2)) {
        return false;
    }
    bool good = read_arg(r, s, mrsi_slot_below(r, spec, keys, 2, "input"), &op->arg);
    good = read_unit(r, mrsi_slot_below(r, spec, keys, 2, "unit"), op) && good;
    if (op->kind == WINDOW_INTEGRAL) { /* areas are summed up */
        static const uint8_t none[4] = {0};
        struct mrsi_slot sum = spec;
        sum.v = alone(r, "$sum", (struct mrs_val){none, 4, MRS_INT32});
        good = sum.v.type != MRS_MISSING && mrsi_read_acc(r, sum, &op->acc) && good;
    }
    return good && mrsi_window_formula(r, s, op->kind == WINDOW_INTEGRAL ? WINDOW_F_AREA : WINDOW_F_RATE) &&
           mrsi_window_formula(r, s, op->kind == WINDOW_INTEGRAL ? WINDOW_F_OVER : WINDOW_F_TIMES);
}

static bool
read_acc(struct mrsi_read *r, struct mrsi_window *s, struct mrsi_slot spec, struct window_op *op)
{
    if (strcmp(op->name, "$mergeObjects") == 0) {
        return mrsi_read_error(r, spec.key, spec.sub, "$mergeObjects goes over no window");
    }
    spec.v = alone(r, op->name, spec.v);
    if (spec.v.type == MRS_MISSING || !mrsi_read_acc(r, spec, &op->acc)) {
        return false;
    }
    op->arg = same_path(s, mrs_acc_bare_path(op->acc));
    struct window_arg *a = op->arg == WINDOW_NONE ? new_arg(r, s, &op->arg) : NULL;
    if (a) {
        *a = (struct window_arg){.acc = op->acc, .fixed = mrs_missing()};
        if (!mrs_acc_constant(op->acc, &a->fixed)) {
            a->fixed = mrs_missing();
        }
    }
    return op->arg != WINDOW_NONE;
}

static bool
read_spec(struct mrsi_read *r, struct mrsi_window *s, struct mrsi_slot spec, struct window_op *op)
{
    switch (op->kind) {
    case WINDOW_SHIFT: return read_shift(r, s, spec, op);
    case WINDOW_ACC: return read_acc(r, s, spec, op);
    case WINDOW_AVERAGE: return read_average(r, s, spec, op);
    case WINDOW_DERIVATIVE:
    case WINDOW_INTEGRAL: return read_slope(r, s, spec, op);
    case WINDOW_LOCF: return read_arg(r, s, spec, &op->arg);
    case WINDOW_FILL: return read_arg(r, s, spec, &op->arg) && mrsi_window_formula(r, s, WINDOW_F_FILL);
    default: return read_nothing(r, spec, op->name);
    }
}

/* ---- compile ---- */
static bool
is_whole(const struct window_frame *f)
{
    return !f->range && f->lo.kind == WINDOW_UNBOUNDED && f->hi.kind == WINDOW_UNBOUNDED;
}

static bool
read_frame(struct mrsi_read *r, struct mrsi_window *s, const struct window_row *row, struct mrsi_slot spec,
           struct mrs_val w, struct window_op *op)
{
    bool has_frame = w.type != MRS_MISSING, quantile = !strcmp(op->name, "$median") || !strcmp(op->name, "$percentile");
    op->frame.hi.kind = s->running ? WINDOW_BY : WINDOW_UNBOUNDED;
    if (row->frames == NO_FRAME) {
        return !has_frame || mrsi_read_error(r, spec.key, spec.sub, "%s takes no `window`", op->name);
    }
    if (row->frames == NEEDS_FRAME && !has_frame) {
        return mrsi_read_error(r, spec.key, spec.sub, "%s needs `window` next to it", op->name);
    }
    if (has_frame && !mrsi_window_read_frame(r, s, spec.sub, w, &op->frame)) {
        return false;
    }
    op->common = is_whole(&op->frame);
    return !quantile || op->common ||
           mrsi_read_error(r, spec.key, spec.sub, "%s is of a whole group only: use `window: group`", op->name);
}

/* A sliding window is computed anew for each document: warns if it is large. */
static void
warn_of_cost(struct mrsi_read *r, const char *field, const struct window_op *op)
{
    const struct window_frame *f = &op->frame;
    bool open = f->hi.kind == WINDOW_UNBOUNDED;
    bool wide = !f->range && !open && (uint64_t)f->hi.places - (uint64_t)f->lo.places >= WIDE;
    if (mrsi_window_slides(op) && (open || wide)) {
        mrsi_read_warn(r, "fields", field, "%s is computed again for each document from %s: slow where groups are "
                                           "large",
                       op->name, open ? "all that come after it" : "a wide window");
    }
}

bool
mrsi_window_read_op(struct mrsi_read *r, struct mrsi_window *s, const char *field, const struct mrs_elem *el,
                    struct mrs_val w, struct window_op *out)
{
    MRS_ASSERT(el->name && out);
    MRS_ASSERT(mrs_val_is_sized(w));
    const struct window_row *row = row_of(el->name);
    struct mrsi_slot spec = {el->v, "fields", field, NULL};
    row = row ? row : &accumulator;
    *out = (struct window_op){.name = mrsi_read_text_of(r, "%s", el->name), .kind = row->kind, .arg = WINDOW_NONE};
    if (!out->name) {
        return false;
    }
    if ((row->sorted && !s->sort) || (row->keyed && !s->sort_path)) {
        return mrsi_read_error(r, "fields", field, "%s needs `sort`%s", el->name, row->keyed ? " with one key" : "");
    }
    bool good = read_frame(r, s, row, spec, w, out);
    good = read_spec(r, s, spec, out) && good;
    if (good) {
        warn_of_cost(r, field, out);
    }
    return good && (!row->keyed || mrsi_window_key_arg(r, s, field) != WINDOW_NONE);
}
