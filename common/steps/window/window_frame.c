/* SPDX-License-Identifier: Apache-2.0 */
/* window_frame.c - the window of an operator: `window` in the plan, and the documents in it.
 *
 * Offsets in documents are counted. Values are compared, as decimals if numbers are added, so that 0.1 plus 0.2 equals
 * 0.3. Except with months, bounds never go back from one document to the next, so they are found by advancing. */
#include "window.h"
#include "mongoreshape/value.h"

/* ---- the plan ---- */
struct window_unit {
    const char *name;
    int64_t ms;
};
static const struct window_unit units[] = {
    {"week", 604800000}, {"day", 86400000}, {"hour", 3600000}, {"minute", 60000}, {"second", 1000},
    {"millisecond", 1},  {"month", 0},      {"quarter", 0},    {"year", 0},
};

bool
mrsi_window_unit(const char *unit, int64_t *ms)
{
    MRS_ASSERT(unit && ms);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].name, unit) == 0) {
            *ms = units[i].ms;
            return true;
        }
    }
    return false;
}

/* The expression for X plus `amount`: for a date in units (not NULL), else as a decimal. */
static bool
read_plus(struct mrsi_read *r, struct mrsi_slot slot, const char *unit, struct mrs_val amount, struct mrs_expr **out)
{
    static const char *const vars[] = {"X"};
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &buf);
    if (unit) {
        mrs_build_open(&b, "$dateAdd", 8, MRS_DOCUMENT);
        mrs_build_text(&b, "startDate", "$$X", 3);
        mrs_build_text(&b, "unit", unit, (uint32_t)strlen(unit));
        mrs_build_val(&b, "amount", 6, amount);
    } else {
        mrs_build_open(&b, "$add", 4, MRS_ARRAY);
        mrs_build_text(&b, "0", "$$X", 3);
        mrs_build_open(&b, "1", 1, MRS_DOCUMENT);
        mrs_build_val(&b, "$toDecimal", 10, amount);
        mrs_build_close(&b);
    }
    mrs_build_close(&b);
    bool good = mrs_build_finish(&b, &doc, r->err) == MRS_OK;
    if (!good) {
        r->status = MRS_DEAD;
    }
    slot.v = good ? mrs_view_val(doc) : mrs_missing();
    r->vars = vars;
    r->n_vars = 1;
    good = good && mrsi_read_expr(r, slot, out);
    r->vars = NULL;
    r->n_vars = 0;
    mrs_buf_clear(&buf);
    return good;
}

static bool
read_number(struct mrsi_read *r, struct mrsi_slot slot, const char *unit, bool range, struct mrs_val v,
            struct window_bound *b)
{
    static const uint8_t none[4] = {0};
    struct mrs_val zero = {none, 4, MRS_INT32};
    uint8_t room[16];
    bool whole = mrs_val_integral(v, &b->places);
    b->kind = WINDOW_BY;
    if ((!range || unit) && !whole) {
        return mrsi_read_error(r, slot.key, slot.sub, "a bound is `unbounded`, `current` or a whole number");
    }
    if (!mrs_is_number(v) || (v.type == MRS_DOUBLE && mrs_val_double(v) != mrs_val_double(v))) {
        return mrsi_read_error(r, slot.key, slot.sub, "a bound is `unbounded`, `current` or a number");
    }
    b->number = v;
    v = unit ? mrs_make_i64(room, b->places, MRS_INT64) : v;
    return !range || mrs_compare(v, zero) == 0 || read_plus(r, slot, unit, v, &b->plus);
}

static bool
read_bound(struct mrsi_read *r, struct mrsi_slot slot, const char *unit, bool range, struct mrs_val v,
           struct window_bound *b)
{
    static const uint8_t none[4] = {0};
    b->number = (struct mrs_val){none, 4, MRS_INT32};
    if (mrs_val_is_text(v, "unbounded")) {
        b->kind = WINDOW_UNBOUNDED;
        return true;
    }
    if (mrs_val_is_text(v, "current")) {
        b->kind = range ? WINDOW_CURRENT : WINDOW_BY;
        return true;
    }
    return read_number(r, slot, unit, range, v, b);
}

static bool
read_bounds(struct mrsi_read *r, struct mrsi_slot slot, const char *unit, struct window_frame *f)
{
    struct mrs_walk w;
    struct mrs_elem lo, hi, more;
    if (slot.v.type != MRS_ARRAY) {
        return mrsi_read_error(r, slot.key, slot.sub, "must be two bounds, as [-3, current]");
    }
    mrs_walk_init(&w, mrs_val_view(slot.v));
    if (mrs_walk_next(&w, &lo) != 1 || mrs_walk_next(&w, &hi) != 1 || mrs_walk_next(&w, &more) == 1) {
        return mrsi_read_error(r, slot.key, slot.sub, "must be two bounds, as [-3, current]");
    }
    bool good = read_bound(r, slot, unit, f->range, lo.v, &f->lo);
    good = read_bound(r, slot, unit, f->range, hi.v, &f->hi) && good;
    bool open = f->lo.kind == WINDOW_UNBOUNDED || f->hi.kind == WINDOW_UNBOUNDED;
    return good && (open || mrs_compare(f->lo.number, f->hi.number) <= 0 ||
                    mrsi_read_error(r, slot.key, slot.sub, "the first bound is after the second"));
}

static bool
read_range(struct mrsi_read *r, struct mrsi_window *s, struct mrsi_slot slot, struct mrsi_slot unit_slot,
           struct window_frame *f)
{
    const char *unit = NULL;
    int64_t ms;
    f->range = true;
    if (!s->sort_path || !s->ascending) {
        return mrsi_read_error(r, slot.key, slot.sub, "needs `sort` with one key, which ascends");
    }
    if (mrsi_slot_present(unit_slot)) {
        if (!mrsi_read_text(r, unit_slot, &unit)) {
            return false;
        }
        if (!mrsi_window_unit(unit, &ms)) {
            return mrsi_read_error(r, unit_slot.key, unit_slot.sub, "`%.60s` is none of year, quarter, month, week, "
                                   "day, hour, minute, second, millisecond", unit);
        }
        f->dates = true;
        f->months = ms == 0;
    }
    return read_bounds(r, slot, unit, f) && mrsi_window_key_arg(r, s, slot.sub) != WINDOW_NONE &&
           mrsi_window_formula(r, s, WINDOW_F_DECIMAL);
}

bool
mrsi_window_read_frame(struct mrsi_read *r, struct mrsi_window *s, const char *field, struct mrs_val w,
                       struct window_frame *out)
{
    MRS_ASSERT(mrs_val_is_sized(w));
    static const struct mrs_key keys[] = {
        {"documents", MRS_ARG_LIST, false, NULL, "two bounds, in places: unbounded, current or a whole number"},
        {"range", MRS_ARG_LIST, false, NULL, "two bounds, in values of the sort key"},
        {"unit", MRS_ARG_TEXT, false, NULL, "of range, where the sort key is a date"}};
    struct mrsi_slot slot = {w, "fields", field, NULL};
    memset(out, 0, sizeof *out);
    if (mrs_val_is_text(w, "group") || mrs_val_is_text(w, "running")) {
        out->hi.kind = mrs_val_is_text(w, "group") ? WINDOW_UNBOUNDED : WINDOW_BY;
        return true;
    }
    if (w.type != MRS_DOCUMENT) {
        return mrsi_read_error(r, slot.key, slot.sub, "`window` is running, group, {documents: [a, b]} or "
                               "{range: [a, b], unit}");
    }
    if (!mrsi_read_map(r, slot, keys, 3)) {
        return false;
    }
    struct mrsi_slot documents = mrsi_slot_below(r, slot, keys, 3, "documents"),
                     range = mrsi_slot_below(r, slot, keys, 3, "range"),
                     unit = mrsi_slot_below(r, slot, keys, 3, "unit");
    if (mrsi_slot_present(documents) == mrsi_slot_present(range)) {
        return mrsi_read_error(r, slot.key, slot.sub, "`window` takes either `documents` or `range`");
    }
    if (mrsi_slot_present(range)) {
        return read_range(r, s, range, unit, out);
    }
    return mrsi_slot_present(unit) ? mrsi_read_error(r, slot.key, slot.sub, "`unit` goes with `range`")
                                   : read_bounds(r, documents, NULL, out);
}

/* ---- a document ---- */
bool
mrsi_window_key_ok(bool dates, struct mrs_val x)
{
    return dates ? x.type == MRS_DATE : mrs_is_number(x);
}

bool
mrsi_window_in_frame(const struct window_now *now, const struct window_frame *f, uint64_t i)
{
    return !f->range || mrsi_window_key_ok(f->dates, mrsi_window_group_value(now, i, now->s->x).v);
}

/* Index of the member at this offset, in a group of n; behind: the one after it. */
static uint64_t
further(uint64_t i, int64_t by, uint64_t n, uint64_t behind)
{
    uint64_t away = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
    if (by < 0) {
        return away > i ? 0 : i - away + behind;
    }
    return away >= n - i ? n : i + away + behind;
}

/* A bound for the current member, whose key is x. */
static enum mrs_status
bound_of(const struct window_now *now, const struct window_bound *b, struct mrs_val x, struct mrs_val *out)
{
    struct mrs_eval ev = {.arena = now->c->arena, .root = mrs_empty_doc(), .vars = &x, .err = now->c->err};
    *out = x;
    return b->plus ? mrs_expr_eval(b->plus, &ev, out) : MRS_OK;
}

/* The first member, from `at` on, whose key is not before the bound; behind: is after it. */
static enum mrs_status
move_forward(const struct window_now *now, const struct window_frame *f, const struct window_bound *b,
             struct mrs_val bound, bool behind, uint64_t *at)
{
    for (; *at < now->g->n; ++*at) {
        struct mrs_val x = mrsi_window_group_value(now, *at, now->s->x).v, v[WINDOW_VARS] = {x};
        if (!mrsi_window_key_ok(f->dates, x)) {
            continue;
        }
        enum mrs_status st = b->plus && !f->dates ? mrsi_window_eval(now, WINDOW_F_DECIMAL, v, &x) : MRS_OK;
        int order = st == MRS_OK ? mrs_compare(x, bound) : 0;
        if (st != MRS_OK || order > 0 || (order == 0 && !behind)) {
            return st;
        }
    }
    return MRS_OK;
}

/* Months vary in length, so a bound may lie before that of the previous document: the 30th at noon minus a month is
 * February 29th at noon, the 31st at midnight minus a month is February 29th at midnight. */
static void
move_back(const struct window_now *now, const struct window_frame *f, struct mrs_val bound, bool behind, uint64_t *at)
{
    for (uint64_t i = *at; i > 0; i--) {
        struct mrs_val x = mrsi_window_group_value(now, i - 1, now->s->x).v;
        bool ok = mrsi_window_key_ok(f->dates, x);
        int order = ok ? mrs_compare(x, bound) : 0;
        if (ok && (behind ? order <= 0 : order < 0)) {
            return;
        }
        *at = ok ? i - 1 : *at;
    }
}

/* One end of the window of a document with key x. */
static enum mrs_status
find_end(const struct window_now *now, const struct window_frame *f, const struct window_bound *b, struct mrs_val x,
         bool behind, uint64_t *at)
{
    struct mrs_val bound;
    enum mrs_status s = bound_of(now, b, x, &bound);
    if (s == MRS_OK && f->months) {
        move_back(now, f, bound, behind, at);
    }
    return s == MRS_OK ? move_forward(now, f, b, bound, behind, at) : s;
}

static enum mrs_status
span_of_values(const struct window_now *now, const struct window_frame *f, struct window_state *st)
{
    MRS_ASSERT(st->lo <= st->hi);
    struct mrs_val x = mrsi_window_group_value(now, now->i, now->s->x).v;
    enum mrs_status s = MRS_OK;
    if (!mrsi_window_key_ok(f->dates, x)) {
        return mrs_err_set(now->c->err, MRS_FAIL, MRS_E_EXPR, "%s is %s and no %s, so that it has no window by range",
                           now->s->sort_path, mrs_type_name(x.type), f->dates ? "date" : "number");
    }
    if (f->lo.kind == WINDOW_CURRENT) {
        st->lo = now->i;
    } else if (f->lo.kind == WINDOW_BY) {
        s = find_end(now, f, &f->lo, x, false, &st->lo);
    }
    if (s != MRS_OK) {
        return s;
    }
    if (f->hi.kind == WINDOW_BY) {
        return find_end(now, f, &f->hi, x, true, &st->hi);
    }
    st->hi = f->hi.kind == WINDOW_CURRENT ? now->i + 1 : now->g->n;
    return MRS_OK;
}

enum mrs_status
mrsi_window_span(const struct window_now *now, const struct window_op *op, struct window_state *st)
{
    MRS_ASSERT(now->i < now->g->n);
    const struct window_frame *f = &op->frame;
    if (f->range) {
        return span_of_values(now, f, st);
    }
    st->lo = f->lo.kind == WINDOW_UNBOUNDED ? 0 : further(now->i, f->lo.places, now->g->n, 0);
    st->hi = f->hi.kind == WINDOW_UNBOUNDED ? now->g->n : further(now->i, f->hi.places, now->g->n, 1);
    return MRS_OK;
}
