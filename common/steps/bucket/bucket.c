/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.c - bucket: groups the readings of a series into documents. Compiles the step.
 *
 * `by` becomes a map of expressions in all of its forms, `time` an expression, `every` windows as $dateTrunc cuts them.
 * No field of a bucket may be a path inside another one: such conflicts are errors of the plan, so none can occur while
 * documents are written. */
#include "bucket.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "mongoreshape/fold_ops.h"

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the readings"},
    {"into", MRS_ARG_COLL, true, NULL, "collection of the buckets; created if missing"},
    {"items", MRS_ARG_NAME, true, NULL, "field for the array of readings"},
    {"by", MRS_ARG_ANY, false, NULL, "the series: a map of name: expression, or a list of fields"},
    {"time", MRS_ARG_ANY, false, NULL, "a path or an expression: decides window and order"},
    {"every", MRS_ARG_ANY, false, NULL, "the window: 30s, 15m, 1h, 1d, 1w, or {unit, size, timezone, startOfWeek}"},
    {"max", MRS_ARG_COUNT, false, NULL, "maximum readings in a bucket"},
    {"fields", MRS_ARG_FIELDS, false, NULL, "fields of a reading in its item; default: all"},
    {"set", MRS_ARG_MAP, false, NULL, "more fields of the bucket: accumulators over its readings, expressions on it"},
    {"start", MRS_ARG_NAME, false, NULL, "field for the start of the window, or the first time"},
    {"end", MRS_ARG_NAME, false, NULL, "field for the end of the window (exclusive), or the last time"},
    {"id", MRS_ARG_EXPR, false, NULL, "the `_id`, of the finished bucket; default: a new one"},
    {"untimed", MRS_ARG_CHOICE, false, "refuse|keep", "readings whose time is no date"},
    {"where", MRS_ARG_QUERY, false, NULL, "only readings that match this query; others stay"},
    {"keep", MRS_ARG_CHOICE, false, "none|all", "whether the readings also stay"},
    {"drop", MRS_ARG_PATHS, false, NULL, "fields of a reading to omit"},
    {MRSI_TWINS_KEY},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "which of several buckets with one `_id` is kept"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when an expression of `fields` or `set` fails"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};
static const struct mrs_key every_keys[] = {
    {"unit", MRS_ARG_TEXT, true, NULL, "second, minute, hour, day, week, month, quarter or year"},
    {"size", MRS_ARG_COUNT, false, NULL, "number of units (1)"},
    {"timezone", MRS_ARG_TEXT, false, NULL, "time zone of the calendar (UTC)"},
    {"startOfWeek", MRS_ARG_TEXT, false, NULL, "first day of a week (sunday)"},
};
#define N_EVERY ((uint32_t)(sizeof every_keys / sizeof *every_keys))

static bool
has_key(const struct mrsi_read *r, const char *key)
{
    return mrsi_slot_present(mrsi_slot(r, key));
}

/* ---- by ---- */
/* The value at a path as an expression: "$a.b", or a nest of $getField for names that no such text can have. */
static bool
path_expr(struct mrsi_read *r, struct mrsi_slot slot, const struct mrs_path *path, struct mrs_expr **out)
{
    MRS_ASSERT(slot.v.type != MRS_MISSING);
    struct mrs_buf b;
    struct mrs_build build;
    struct mrs_view d;
    struct mrs_val v;
    mrs_buf_init(&b, r->args->mem, MRS_PLAN_BYTES_MAX);
    if (mrsi_index_plain(path)) {
        mrs_buf_printf(&b, "$%s", path->text);
        v = b.bad ? mrs_missing() : mrs_make_text(r->args->arena, (const char *)b.p, (uint32_t)b.n);
    } else {
        mrs_build_init(&build, &b);
        for (uint32_t i = path->n; i > 0; i--) {
            mrs_build_open(&build, i == path->n ? "v" : "input", i == path->n ? 1 : 5, MRS_DOCUMENT);
            mrs_build_open(&build, "$getField", 9, MRS_DOCUMENT);
            mrs_build_open(&build, "field", 5, MRS_DOCUMENT);
            mrs_build_text(&build, "$literal", path->part[i - 1].name, path->part[i - 1].len);
            mrs_build_close(&build);
        }
        mrs_build_text(&build, "input", "$$ROOT", 6);
        for (uint32_t i = 0; i < 2 * path->n; i++) {
            mrs_build_close(&build);
        }
        bool made = mrs_build_finish(&build, &d, NULL) == MRS_OK;
        v = mrs_missing();
        if (made && !mrs_val_copy(r->args->arena, mrs_doc_get(d, "v"), &v)) {
            v = mrs_missing();
        }
    }
    mrs_buf_clear(&b);
    if (v.type == MRS_MISSING) {
        r->status = mrs_err_memory(r->err, 0);
        return false;
    }
    slot.v = v;
    return mrsi_read_expr(r, slot, out);
}

static bool
list_as_map(struct mrsi_read *r, struct mrsi_slot by, struct mrsi_fields *out)
{
    struct mrsi_paths list = {NULL, 0};
    bool good = mrsi_read_paths(r, by, &list);
    *out = (struct mrsi_fields){.present = true, .map = true, .path = list.path, .n = list.n};
    out->expr = mrsi_read_alloc(r, list.n, sizeof *out->expr);
    for (uint32_t i = 0; i < list.n && out->expr && good; i++) {
        good = path_expr(r, by, &list.path[i], &out->expr[i]);
    }
    return good && out->expr;
}

/* Adds a path to those that the default item omits, unless the list has it or a parent of it. */
static void
leave_out(struct mrsi_paths *omitted, const struct mrs_path *path)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < omitted->n; i++) {
        int how = mrs_path_relation(&omitted->path[i], path);
        if (how == 1 || how == 2) {
            return;
        }
        if (how != 3) {
            omitted->path[kept++] = omitted->path[i];
        }
    }
    omitted->n = kept;
    omitted->path[omitted->n++] = *path;
}

static void
read_omitted(struct mrsi_read *r, struct mrsi_bucket *s, struct mrsi_slot by)
{
    const struct mrsi_fields *f = &s->by.fields;
    struct mrs_path path;
    s->omitted.path = mrsi_read_alloc(r, f->n, sizeof *s->omitted.path);
    for (uint32_t i = 0; i < f->n && s->omitted.path; i++) {
        if (by.v.type == MRS_ARRAY) {
            leave_out(&s->omitted, &f->path[i]);
            continue;
        }
        const char *bare = mrs_expr_bare_path(f->expr[i]);
        if (bare && *bare && mrsi_read_path_text(r, "by", f->path[i].text, bare, &path)) {
            leave_out(&s->omitted, &path);
        }
    }
    bool flat = true;
    for (uint32_t i = 0; i < s->omitted.n; i++) {
        flat = flat && s->omitted.path[i].n == 1;
    }
    s->rest = (struct mrsi_shape){.drop = s->omitted, .drop_flat = true, .fields_key = "by", .drop_key = "by"};
    if (!flat) {
        mrsi_read_edit(r, "by", s->omitted.path, s->omitted.n, &s->less);
    }
}

static bool
is_constant(const struct mrsi_fields *f)
{
    bool all = true;
    for (uint32_t i = 0; i < f->n; i++) {
        all = all && mrs_expr_constant(f->expr[i], NULL);
    }
    return all;
}

static void
read_by(struct mrsi_read *r, struct mrsi_bucket *s)
{
    struct mrsi_slot by = mrsi_slot(r, "by"), none = {.v = mrs_missing(), .key = "by"};
    s->by.fields_key = s->by.drop_key = "by";
    if (!mrsi_slot_present(by)) {
        return;
    }
    bool good;
    if (by.v.type == MRS_ARRAY) {
        good = list_as_map(r, by, &s->by.fields);
    } else if (by.v.type == MRS_DOCUMENT) {
        good = mrsi_read_exprs(r, by, &s->by.fields);
    } else {
        good = mrsi_read_error(r, "by", NULL, "must be a map of name: expression or a list of fields, not %s",
                               mrs_type_name(by.v.type));
    }
    if (!good || !mrsi_shape_ready(r, by, none, &s->by)) {
        return;
    }
    if (s->by.fields.n == 0) {
        mrsi_read_error(r, "by", NULL, "names no field");
    } else if (is_constant(&s->by.fields)) {
        mrsi_read_error(r, "by", NULL, "is the same for every document: a field is written \"$name\"; for one series "
                        "leave `by` out");
    }
    read_omitted(r, s, by);
}

/* ---- time and every ---- */
static void
read_time(struct mrsi_read *r, struct mrsi_bucket *s)
{
    struct mrsi_slot time = mrsi_slot(r, "time");
    struct mrs_path path;
    uint32_t n;
    bool is_path = time.v.type == MRS_ARRAY || (time.v.type == MRS_STRING && mrs_val_text(time.v, &n)[0] != '$');
    if (!is_path) {
        mrsi_read_expr(r, time, &s->time);
        const char *bare = s->time ? mrs_expr_bare_path(s->time) : NULL;
        s->time_path = bare && *bare ? bare : NULL;
    } else if (mrsi_read_path(r, time, &path)) {
        s->time_path = path.text;
        path_expr(r, time, &path, &s->time);
    }
}

/* Splits "15m" into size and unit. */
static bool
short_every(const char *text, uint32_t n, struct mrs_windows_spec *spec, struct mrs_arena *a)
{
    MRS_ASSERT(text || n == 0);
    static const struct {
        char letter;
        const char *unit;
    } units[] = {{'s', "second"}, {'m', "minute"}, {'h', "hour"}, {'d', "day"}, {'w', "week"}};
    int64_t size = 0;
    uint32_t i = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
        if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, text[i] - '0', &size)) {
            return false;
        }
    }
    spec->size = size;
    spec->unit = mrs_missing();
    for (size_t u = 0; u < sizeof units / sizeof *units && i > 0 && i + 1 == n; u++) {
        if (units[u].letter == text[i]) {
            spec->unit = mrs_make_text(a, units[u].unit, (uint32_t)strlen(units[u].unit));
        }
    }
    return spec->unit.type == MRS_STRING;
}

static bool
long_every(struct mrsi_read *r, struct mrsi_slot every, struct mrs_windows_spec *spec)
{
    MRS_ASSERT(every.v.type != MRS_MISSING);
    const char *text;
    if (!mrsi_read_map(r, every, every_keys, N_EVERY)) {
        return false;
    }
    struct mrsi_slot unit = mrsi_slot_in(every, every_keys, N_EVERY, "unit");
    struct mrsi_slot size = mrsi_slot_in(every, every_keys, N_EVERY, "size");
    struct mrsi_slot zone = mrsi_slot_in(every, every_keys, N_EVERY, "timezone");
    struct mrsi_slot week = mrsi_slot_in(every, every_keys, N_EVERY, "startOfWeek");
    bool good = mrsi_read_text(r, unit, &text);
    good = (!mrsi_slot_present(zone) || mrsi_read_text(r, zone, &text)) && good;
    good = (!mrsi_slot_present(week) || mrsi_read_text(r, week, &text)) && good;
    if (mrsi_slot_present(size) && !mrs_val_integral(size.v, &spec->size)) {
        good = mrsi_read_error(r, "every", "size", "must be a whole number greater than 0");
    }
    if (mrsi_slot_present(week) && good && !mrs_val_is_text(unit.v, "week")) {
        mrsi_read_warn(r, "every", "startOfWeek", "not used: the unit is not week");
    }
    spec->unit = unit.v;
    spec->timezone = zone.v;
    spec->start_of_week = week.v;
    return good;
}

static void
read_every(struct mrsi_read *r, struct mrsi_bucket *s)
{
    struct mrsi_slot every = mrsi_slot(r, "every");
    struct mrs_windows_spec spec = {mrs_missing(), 1, mrs_missing(), mrs_missing()};
    struct mrs_err e;
    uint32_t n = 0;
    if (!mrsi_slot_present(every)) {
        return;
    }
    if (!has_key(r, "time")) {
        mrsi_read_error(r, "every", NULL, "needs `time`");
    }
    bool text = every.v.type == MRS_STRING;
    const char *word = text ? mrs_val_text(every.v, &n) : "";
    if (text && !short_every(word, n, &spec, r->args->arena)) {
        mrsi_read_error(r, "every", NULL, "`%s` is no window: a number and one of s m h d w, or a map { unit: month }",
                        word);
        return;
    }
    if (!text && every.v.type != MRS_DOCUMENT) {
        mrsi_read_error(r, "every", NULL, "must be a number and one of s m h d w, as 1h, or a map { unit: month }");
        return;
    }
    if (!text && !long_every(r, every, &spec)) {
        return;
    }
    mrs_err_clear(&e);
    enum mrs_status st = mrs_windows_new(r->args->mem, &spec, &s->every, &e);
    if (st != MRS_OK) {
        const char *sub = text ? NULL : mrsi_read_text_of(r, "%s", e.where);
        e.where[0] = 0;
        mrsi_read_failed(r, "every", sub, st, &e);
    } else if (!mrsi_level_add(r->keep, MRSI_WINDOWS, s->every)) {
        r->status = mrs_err_memory(r->err, 0);
    }
}

/* ---- set ---- */
static void
read_set(struct mrsi_read *r, struct mrsi_bucket *s)
{
    struct mrsi_slot map = mrsi_slot(r, "set");
    struct mrs_walk w;
    struct mrs_elem e;
    if (!mrsi_slot_present(map)) {
        return;
    }
    if (map.v.type != MRS_DOCUMENT) {
        mrsi_read_error(r, "set", NULL, "must be a map of name: expression, not %s", mrs_type_name(map.v.type));
        return;
    }
    uint32_t room = 0;
    for (mrs_walk_init(&w, mrs_val_view(map.v)); mrs_walk_next(&w, &e) == 1;) {
        room++;
    }
    s->set = mrsi_read_alloc(r, room, sizeof *s->set);
    mrs_walk_init(&w, mrs_val_view(map.v));
    while (s->set && r->status == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        struct bucket_set *one = &s->set[s->n_set];
        struct mrsi_slot slot = {e.v, "set", e.name, NULL};
        bool named = mrsi_read_path_text(r, "set", e.name, e.name, &one->path);
        bool made = mrs_acc_is(e.v) ? mrsi_read_acc(r, slot, &one->acc) : mrsi_read_expr(r, slot, &one->expr);
        one->where = mrsi_read_text_of(r, "set.%s", e.name);
        if (named && one->path.n > 1) {
            mrsi_read_edit(r, "set", &one->path, 1, &one->edit);
        }
        s->has_exprs = s->has_exprs || one->expr;
        s->n_set += named && made;
    }
}

/* ---- compile ---- */
struct bucket_name {
    struct mrs_path path;
    const char *key, *sub;
};

/* No field of a bucket may be inside another. */
static void
check_names(struct mrsi_read *r, struct mrsi_bucket *s)
{
    const char *const plain[] = {"_id", s->items, s->start, s->end};
    static const char *const plain_key[] = {"id", "items", "start", "end"};
    struct bucket_name *name = mrsi_read_alloc(r, 4u + s->by.fields.n + s->n_set, sizeof *name);
    uint32_t n = 0;
    for (int i = 0; i < 4 && name; i++) {
        if (plain[i] && mrsi_read_path_text(r, plain_key[i], NULL, plain[i], &name[n].path)) {
            name[n++].key = plain_key[i];
        }
    }
    for (uint32_t i = 0; i < s->by.fields.n && name; i++) {
        name[n++] = (struct bucket_name){s->by.fields.path[i], "by", s->by.fields.path[i].text};
    }
    for (uint32_t i = 0; i < s->n_set && name; i++) {
        name[n++] = (struct bucket_name){s->set[i].path, "set", s->set[i].path.text};
    }
    for (uint32_t i = 1; i < n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (mrs_path_relation(&name[i].path, &name[k].path)) {
                mrsi_read_error(r, name[i].key, name[i].sub, "%s would be written twice: `%s` writes %s",
                                name[i].path.text, name[k].key, name[k].path.text);
                break;
            }
        }
    }
}

static void
check(struct mrsi_read *r, struct mrsi_bucket *s)
{
    if (mrsi_coll_same(&s->from, &s->into)) {
        mrsi_read_error(r, "into", NULL, "must be another collection than `from`");
    }
    if (has_key(r, "max") && s->max == 0) {
        mrsi_read_error(r, "max", NULL, "a bucket holds at least 1 reading");
    }
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "end" : "start";
        if (has_key(r, key) && !has_key(r, "time")) {
            mrsi_read_error(r, key, NULL, "needs `time`");
        }
    }
    if (has_key(r, "untimed") && !has_key(r, "every")) {
        mrsi_read_warn(r, "untimed", NULL, "not used: without `every` a time may be anything");
    }
    if ((has_key(r, "fields") || has_key(r, "drop")) && !has_key(r, "keep")) {
        mrsi_read_error(r, "keep", NULL, "is required with `%s`: `none` loses the fields that the items omit",
                        has_key(r, "fields") ? "fields" : "drop");
    }
    check_names(r, s);
}

/* A top-level field that is needed for two purposes is found in one walk. */
static void
drop_at_once(struct mrsi_read *r, struct mrsi_bucket *s)
{
    uint32_t n = s->omitted.n + s->shape.drop.n;
    if (!s->omitted.n || s->less || !s->shape.drop.n || !s->shape.drop_flat || s->shape.fields.present) {
        return;
    }
    struct mrs_path *path = mrsi_read_alloc(r, n, sizeof *path);
    if (path) {
        memcpy(path, s->omitted.path, s->omitted.n * sizeof *path);
        memcpy(path + s->omitted.n, s->shape.drop.path, s->shape.drop.n * sizeof *path);
        s->rest.drop = (struct mrsi_paths){.path = path, .n = n};
        s->both = true;
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_bucket *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    s->max = UINT64_MAX;
    mrsi_read_coll(&r, mrsi_slot(&r, "from"), &s->from);
    mrsi_read_coll(&r, mrsi_slot(&r, "into"), &s->into);
    mrsi_read_name(&r, mrsi_slot(&r, "items"), &s->items);
    mrsi_read_name(&r, mrsi_slot(&r, "start"), &s->start);
    mrsi_read_name(&r, mrsi_slot(&r, "end"), &s->end);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_count(&r, mrsi_slot(&r, "max"), &s->max);
    read_by(&r, s);
    read_time(&r, s);
    read_every(&r, s);
    mrsi_shape_read(&r, mrsi_slot(&r, "fields"), mrsi_slot(&r, "drop"), &s->shape);
    read_set(&r, s);
    mrsi_read_expr(&r, mrsi_slot(&r, "id"), &s->id);
    s->has_exprs = s->has_exprs || s->id;
    mrsi_read_choice(&r, mrsi_slot(&r, "untimed"), &s->untimed);
    mrsi_read_choice(&r, mrsi_slot(&r, "keep"), &s->keep);
    mrsi_read_choice(&r, mrsi_slot(&r, "conflicts"), &s->conflicts);
    mrsi_read_choice(&r, mrsi_slot(&r, "errors"), &s->errors);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    if (mrsi_read_good(&r)) {
        check(&r, s);
        drop_at_once(&r, s);
        s->timed = !s->every && (s->start || s->end);
        s->tail = s->timed || s->n_set;
        mrsi_bucket_plan_plain(&r, s);
    }
    return mrsi_read_end(&r, state);
}

static const struct mrs_fold_ops ops = {
    .enter = mrsi_bucket_enter, .fold = mrsi_bucket_fold, .save = mrsi_bucket_save, .group = mrsi_bucket_group,
    .place = mrsi_bucket_place, .shared = mrsi_bucket_shared, .enter_fast = mrsi_bucket_enter_fast};

static const struct mrs_inner inner[] = {{"every", every_keys, sizeof every_keys / sizeof *every_keys, false}};

static void
remark(const void *state, uint32_t i, char *text, size_t size)
{
    const struct mrsi_bucket *s = state;
    mrsi_group_remark(i, i && i < MRS_REMARKS - 1 && i - 1 < s->n_set ? s->set[i - 1].path.text : NULL, text, size);
}

const struct mrs_step_type mrsi_step_bucket = {
    .name = "bucket",
    .summary = "collects readings in documents that hold many of them, by series and time",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .inner = inner,
    .n_inner = sizeof inner / sizeof *inner,
    .example = "from: readings\ninto: readings_hourly\nitems: readings\nby: { sensor: $sensorId }\n"
               "time: timestamp\nevery: 1h\nkeep: none\n\nmax: 1000\nfields: { at: $timestamp, value: $value }\n"
               "set: { count: { $sum: 1 }, average: { $avg: $value } }\nstart: start\nend: end\n"
               "id: { sensor: $sensor, at: { $min: $readings.timestamp } }\nwhere: { valid: true }\n"
               "drop: [debug]\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = mrsi_bucket_describe,
    .invert = mrsi_bucket_invert,
    .catalog = mrsi_bucket_catalog,
    .work_size = sizeof(struct bucket_work),
    .work_clear = mrsi_bucket_work_clear,
    .remark = remark,
    .fold = &ops,
};
