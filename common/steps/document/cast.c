/* SPDX-License-Identifier: Apache-2.0 */
/* cast.c - the step `cast`: converts values to another type.
 *
 * Each value follows the rules of $convert. An array is cast element by element, including nested arrays, with an
 * explicit stack, because the data decides how deep they nest. Missing, null and undefined stay. `errors` applies to
 * each single value: in an array `drop` removes one element. A document without changes keeps its bytes. Successful
 * conversions that are rarely intended are remarks: one of each kind for each of the first fields; the last one stands
 * for the rest. */
#include "cast_uuid.h"
#include "steps/kit/invert.h"
#include "pattern.h"
#include "mongoreshape/value.h"
#include "steps/kit/shape.h"
#include "mongoreshape/context.h"
#include <stdio.h>
#include <strings.h>

enum { TRUE_TEXT, TRUE_VALUE, CUT, EARLY, LEADING, REST, KINDS };
enum { NAMED = MRS_REMARKS / KINDS, YEAR_1980 = 315532800 };

struct cast {
    struct mrsi_map map;
    struct mrsi_fields fields; /* paths only */
    struct mrsi_patterns patterns;
    struct cast_type {
        const char *name; /* name of the type; for a UUID the name for messages */
        bool is_uuid;
        struct mrsi_uuid uuid;
    } *to, *to_star; /* one for each path, one for each pattern */
    struct mrs_edit *edit;
    int errors, id;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"fields", MRS_ARG_MAP, true, NULL, "path: type, one of double string objectId bool date int long decimal "
     "binData uuid object array (of JSON text); { uuid: driver }, { legacy_uuid: driver } for what old drivers "
     "(csharp, java, python) wrote"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when a value cannot be converted"},
    {MRSI_TYPES_KEY, "only values of these types, as `$type` names them"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

/* ---- compile ---- */
/* Names of types in other systems. */
static const char *
called(const char *name)
{
    static const char *const words[][2] = {
        {"integer", "int"}, {"int32", "int"},     {"int64", "long"},     {"bigint", "long"},   {"float", "double"},
        {"number", "double"}, {"boolean", "bool"}, {"text", "string"},    {"str", "string"},    {"varchar", "string"},
        {"datetime", "date"}, {"timestamp", "date"}, {"numeric", "decimal"}, {"binary", "binData"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(name, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    return NULL;
}

static bool
read_type(struct mrsi_read *r, struct mrsi_slot s, struct cast_type *to)
{
    static const struct mrs_key types[] = {
        {.name = "double"}, {.name = "string"}, {.name = "objectId"}, {.name = "bool"},   {.name = "date"},
        {.name = "int"},    {.name = "long"},   {.name = "decimal"},  {.name = "binData"},
        {.name = "uuid"},   {.name = "object"}, {.name = "array"},
    };
    to->is_uuid = r->args->version > 1 && (s.v.type == MRS_DOCUMENT || mrs_val_is_text(s.v, "uuid"));
    if (to->is_uuid) {
        return mrsi_uuid_read(r, s, &to->uuid, &to->name);
    }
    if (!mrsi_read_text(r, s, &to->name)) {
        return false;
    }
    bool json = strcmp(to->name, "object") == 0 || strcmp(to->name, "array") == 0, first = r->args->version < 2;
    if (json && !first && r->args->server_8_2) {
        return mrsi_read_error(r, s.key, s.sub, "a cast to `%s` came with MongoDB 8.3, and this plan has the rules of "
                               "8.2 (write `server: \"8.3\"`)", to->name);
    }
    if (mrs_convert_known(to->name) && !(json && first)) {
        return true;
    }
    const char *near = called(to->name);
    near = near ? near : mrsi_arg_nearest(to->name, types, sizeof types / sizeof *types - (first ? 3 : 0));
    return near ? mrsi_read_error(r, s.key, s.sub, "unknown type `%s`; is `%s` meant?", to->name, near)
                : mrsi_read_error(r, s.key, s.sub,
                                  "unknown type `%s`: one of double string objectId bool date int long decimal "
                                  "binData%s is meant", to->name, first ? "" : " uuid object array");
}

static void
add_field(struct mrsi_read *r, struct cast *s, const struct mrs_elem *el)
{
    MRS_ASSERT(el->name);
    struct mrs_err e;
    struct mrsi_slot one = {el->v, "fields", el->name, NULL};
    uint32_t i = s->fields.n;
    struct mrs_path *p = &s->fields.path[i];
    bool named = mrsi_read_path_text(r, "fields", el->name, el->name, p);
    if (!read_type(r, one, &s->to[i]) || !named) {
        return;
    }
    mrs_err_clear(&e);
    enum mrs_status st = mrs_edit_add(s->edit, p, &e);
    if (st != MRS_OK) {
        mrsi_read_failed(r, "fields", el->name, st, &e);
        return;
    }
    s->id = strcmp(p->part[0].name, "_id") == 0 ? (int)i : s->id;
    s->fields.n++;
}

static void
read_fields(struct mrsi_read *r, struct cast *s, struct mrsi_slot f)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (f.v.type != MRS_DOCUMENT || f.v.n <= 5) {
        if (mrsi_slot_present(f)) {
            mrsi_read_error(r, "fields", NULL, "must be a map of path: type with at least one entry");
        }
        return;
    }
    uint32_t room = 0;
    for (mrs_walk_init(&w, mrs_val_view(f.v)); mrs_walk_next(&w, &el) == 1;) {
        room++;
    }
    s->fields.path = mrsi_read_alloc(r, room, sizeof *s->fields.path);
    s->to = mrsi_read_alloc(r, room, sizeof *s->to);
    if (!s->fields.path || !s->to) {
        return;
    }
    s->edit = mrsi_read_new_edit(r);
    for (mrs_walk_init(&w, mrs_val_view(f.v)); r->status == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        add_field(r, s, &el);
    }
}

static enum mrs_status edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d,
                                     struct mrs_buf *out, bool *changed);

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_slot plain;
    struct cast *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->id = -1;
    s->map.edit = edit_document;
    s->map.place = "fields";
    mrsi_map_read(&r, &s->map);
    mrsi_read_choice(&r, mrsi_slot(&r, "errors"), &s->errors);
    mrsi_patterns_read(&r, mrsi_slot(&r, "fields"), &s->patterns, &plain);
    mrsi_patterns_types(&r, &s->patterns, true);
    s->to_star = mrsi_read_alloc(&r, s->patterns.n, sizeof *s->to_star);
    for (uint32_t i = 0; i < s->patterns.n && s->to_star; i++) {
        read_type(&r, s->patterns.item[i].value, &s->to_star[i]);
    }
    read_fields(&r, s, plain);
    const char **write = mrsi_read_alloc(&r, s->fields.n, sizeof *write);
    for (uint32_t i = 0; i < s->fields.n && write; i++) {
        write[i] = s->fields.path[i].text;
    }
    s->map.write = write;
    s->map.n_write = write ? s->fields.n : 0;
    return mrsi_read_end(&r, state);
}

/* ---- documents ---- */
struct casting {
    const struct cast *s;
    uint32_t path_no;
    struct mrs_ctx *c;
    struct mrs_eval ev;
    struct mrs_buf *buf; /* buffer for arrays */
};

/* Do both read as the same number? The decimal of 15 digits made of the double 0.1 equals it in that sense only. */
static bool
read_equal(struct casting *x, struct mrs_val a, struct mrs_val b)
{
    struct mrs_val *both[] = {&a, &b};
    enum mrs_status st = MRS_OK;
    for (int i = 0; i < 2 && st == MRS_OK; i++) {
        st = mrs_convert(&x->ev, *both[i], "string", both[i]);
        MRS_THEN(st, mrs_convert(&x->ev, *both[i], "decimal", both[i]));
    }
    if (st != MRS_OK) {
        mrs_err_clear(x->c->err); /* other forms of numbers, as 0x1F; a lack of memory ends the next conversion */
    }
    return st != MRS_OK || mrs_compare(a, b) == 0;
}

/* The kind of a remark on a number that was made; KINDS: none. */
static uint32_t
slip_of_number(struct casting *x, struct mrs_val old, struct mrs_val v)
{
    MRS_ASSERT(mrs_is_number(v));
    uint32_t n = 0;
    if (old.type == MRS_STRING) {
        const char *text = mrs_val_text(old, &n);
        text += *text == '-';
        if (*text == '+' || (*text == '0' && text[1] >= '0' && text[1] <= '9')) {
            return LEADING;
        }
        return v.type == MRS_DOUBLE && n > 15 && !read_equal(x, old, v) ? CUT : KINDS; /* a double keeps 15 digits */
    }
    if (old.type == MRS_DOUBLE && v.type == MRS_DECIMAL128) { /* 15 digits: enough if they give the double again */
        struct mrs_val back;
        bool same = mrs_convert(&x->ev, v, "double", &back) == MRS_OK && mrs_compare(old, back) == 0;
        return same ? KINDS : CUT;
    }
    bool same = !mrs_is_number(old) || mrs_compare(old, v) == 0;
    return same || ((v.type == MRS_DOUBLE || v.type == MRS_DECIMAL128) && read_equal(x, old, v)) ? KINDS : CUT;
}

/* The kind of a remark on a conversion that loses what a value said; KINDS: none. */
static uint32_t
slip(struct casting *x, struct mrs_val old, struct mrs_val v)
{
    if (old.type == v.type) {
        return KINDS;
    }
    if (mrs_is_number(v)) {
        return slip_of_number(x, old, v);
    }
    if (v.type == MRS_BOOL && v.p[0]) {
        int64_t n;
        return old.type == MRS_STRING ? (mrs_val_is_text(old, "true") ? KINDS : TRUE_TEXT)
               : mrs_val_integral(old, &n) && n == 1 ? KINDS : TRUE_VALUE;
    }
    if (v.type == MRS_DATE && mrs_is_number(old)) {
        return (int64_t)mrs_le64(v.p) < YEAR_1980 * 1000LL ? EARLY : KINDS;
    }
    bool more = old.type == MRS_OBJECTID || (old.type == MRS_TIMESTAMP && mrs_le32(old.p));
    return v.type == MRS_DATE && more ? REST : KINDS;
}

static void
remark(struct casting *x, struct mrs_val old, struct mrs_val v)
{
    uint32_t kind = slip(x, old, v);
    if (kind < KINDS) {
        x->c->remarks |= 1ull << ((x->path_no < NAMED ? x->path_no : NAMED - 1) * KINDS + kind);
    }
}

/* Casts one value; missing: it is dropped. */
static enum mrs_status
convert(struct casting *x, struct mrs_val v, const struct cast_type *to, struct mrs_val *out)
{
    MRS_ASSERT(to->name && mrs_val_is_sized(v));
    *out = v;
    if (mrs_is_nullish(v) || !(x->s->patterns.types & mrs_type_bit(v.type))) {
        return MRS_OK;
    }
    enum mrs_status st = to->is_uuid ? mrsi_uuid_cast(&to->uuid, &x->ev, v, out)
                                     : mrs_convert(&x->ev, v, to->name, out);
    if (st == MRS_OK) {
        remark(x, v, *out);
    }
    if (st != MRS_FAIL || x->s->errors == MRSI_ERRORS_REFUSE) {
        return st;
    }
    mrs_err_clear(x->c->err);
    mrsi_step_eased(x->c, x->path_no);
    *out = x->s->errors == MRSI_ERRORS_KEEP ? v : x->s->errors == MRSI_ERRORS_NULL ? mrs_null() : mrs_missing();
    return MRS_OK;
}

struct open_array {
    struct mrs_walk w;
    struct mrs_val old;
    size_t at;     /* offset of its length */
    uint32_t next; /* index of the next element */
    bool changed;
};

static void
put_item(struct mrs_buf *b, struct open_array *a, struct mrs_val v)
{
    char name[12];
    uint32_t n = mrs_index_name(name, a->next++);
    mrsi_put_elem(b, name, n, v);
}

/* An array without changes keeps its bytes, including irregular element names. */
static void
close_array(struct mrs_buf *b, const struct open_array *a, struct open_array *outer)
{
    MRS_ASSERT(a != outer);
    if (a->changed) {
        mrsi_put_close(b, a->at);
    } else if (!b->bad) {
        b->n = a->at;
        mrs_buf_put(b, a->old.p, a->old.n);
    }
    if (outer) {
        outer->changed = outer->changed || a->changed;
    }
}

static struct open_array
open_array(struct mrs_buf *b, struct mrs_val v)
{
    struct open_array a = {.old = v, .at = mrsi_put_open(b)};
    mrs_walk_init(&a.w, mrs_val_view(v));
    return a;
}

/* Casts an array, down to the maximum depth of documents. */
static enum mrs_status
convert_array(struct casting *x, struct mrs_val v, const struct cast_type *to, struct mrs_val *out)
{
    MRS_ASSERT(v.type == MRS_ARRAY);
    struct open_array stack[MRS_DEPTH_MAX];
    struct mrs_elem e;
    struct mrs_val one;
    char name[12];
    int depth = 1;
    mrs_buf_reset(x->buf);
    stack[0] = open_array(x->buf, v);
    while (depth) {
        struct open_array *a = &stack[depth - 1];
        if (mrs_walk_next(&a->w, &e) != 1) {
            depth--;
            close_array(x->buf, a, depth ? a - 1 : NULL);
        } else if (e.v.type == MRS_ARRAY && depth < MRS_DEPTH_MAX) {
            mrsi_put_head(x->buf, MRS_ARRAY, name, mrs_index_name(name, a->next++));
            stack[depth++] = open_array(x->buf, e.v);
        } else {
            MRS_TRY(convert(x, e.v, to, &one));
            a->changed = a->changed || !mrs_identical(one, e.v);
            if (one.type != MRS_MISSING) {
                put_item(x->buf, a, one);
            }
        }
    }
    enum mrs_status st = mrs_buf_status(x->buf, x->c->err);
    *out = (struct mrs_val){x->buf->p, (uint32_t)x->buf->n, MRS_ARRAY};
    return st;
}

static enum mrs_status
cast_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
          struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct casting *x = arg;
    const struct cast_type *to = &x->s->to[site->path_no];
    (void)raw;
    (void)e;
    *verdict = mrs_is_nullish(site->old) ? MRS_EDIT_KEEP : MRS_EDIT_PUT;
    x->path_no = site->path_no;
    bool items = site->old.type == MRS_ARRAY && strcmp(to->name, "array") != 0; /* else it is an array already */
    enum mrs_status st = items ? convert_array(x, site->old, to, put) : convert(x, site->old, to, put);
    if (st == MRS_FAIL) {
        st = mrsi_step_skip_in(x->c, st, "fields", x->s->fields.path[site->path_no].text);
    }
    return st;
}

/* The paths without a star. */
static enum mrs_status
edit_plain(const struct cast *s, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
           bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct casting x = {s, 0, c, mrsi_step_eval(c, d), &w->out[1]};
    struct mrs_edit_run how = {.fn = cast_site, .arg = &x, .raw = &w->raw};
    enum mrs_status st = mrs_edit_run(s->edit, &how, d, out, changed, c->err);
    if (st == MRS_OK && *changed && s->id >= 0) {
        const char *fault = mrsi_step_id_fault(mrs_doc_get(mrsi_buf_view(out, 0), "_id"));
        if (fault) {
            return mrsi_step_refuse(c, "fields", "the _id would be %s, which no server takes", fault);
        }
    }
    return st;
}

/* If `**` ends the path, each element is visited separately. */
static enum mrs_status
cast_reached(void *arg, const struct mrsi_pattern_place *at, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    struct casting *x = arg;
    const struct mrsi_pattern *p = at->pattern;
    bool each = p->deep + 1 == p->path.n, nested = at->v.type == MRS_DOCUMENT || at->v.type == MRS_ARRAY;
    if ((each && nested) || mrs_is_nullish(at->v)) {
        return MRS_OK;
    }
    *verdict = MRS_EDIT_PUT;
    uint32_t no = (uint32_t)(p - x->s->patterns.item);
    const struct cast_type *to = &x->s->to_star[no];
    x->path_no = x->s->fields.n + no;
    enum mrs_status st = at->v.type == MRS_ARRAY ? convert_array(x, at->v, to, put) : convert(x, at->v, to, put);
    return st == MRS_FAIL ? mrsi_step_skip_in(x->c, st, "fields", p->path.text) : st;
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d) && mrs_buf_is_sound(out));
    const struct cast *s = state;
    struct casting x = {s, 0, c, mrsi_step_eval(c, d), &w->raw};
    struct mrsi_pattern_run stars = {.patterns = &s->patterns, .fn = cast_reached, .arg = &x, .items = true,
                                    .lists = true};
    enum mrs_status st = s->fields.n ? edit_plain(s, c, w, d, out, changed) : MRS_OK;
    MRS_THEN(st, mrsi_patterns_run(&stars, c, w, d, changed));
    return st;
}

/* ---- description ---- */
static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct cast *s = state;
    struct mrsi_describe t;
    mrsi_map_describe(&t, &s->map, arena, out, e);
    out->new_ids = s->id >= 0;
    if (s->id >= 0) {
        out->compares_nothing = false;
        mrsi_describe_quiet(&t, MRSI_NEW_IDS);
    }
    mrsi_describe_errors(&t, s->errors, s->fields.path, s->fields.n);
    bool removed = s->errors == MRSI_ERRORS_NULL || s->errors == MRSI_ERRORS_DROP;
    mrsi_describe_words(&t, "casts ");
    for (uint32_t i = 0; i < s->fields.n; i++) {
        const char *path = s->fields.path[i].text;
        mrsi_describe_touch(&t, 0, 'R', path);
        mrsi_describe_touch(&t, 0, 'D', path);
        if (i < 6) {
            mrsi_describe_words(&t, "%s%s to %s", i ? ", " : "", path, s->to[i].name);
        }
        mrsi_describe_loss(&t, "the type that %s had%s", path, removed ? ", and values that cannot be converted" : "");
    }
    if (s->fields.n > 6) {
        mrsi_describe_words(&t, " and %u more", s->fields.n - 6);
    }
    mrsi_patterns_describe(&t, &s->patterns, "RD");
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        const struct mrsi_pattern *p = &s->patterns.item[i];
        mrsi_describe_errors(&t, s->errors, &p->path, 1);
        mrsi_describe_words(&t, "%s%s to %s", s->fields.n + i ? ", " : "", p->path.text, s->to_star[i].name);
        mrsi_describe_loss(&t, "the type that %s had%s", p->path.text,
                           removed ? ", and values that cannot be converted" : "");
    }
    mrsi_describe_words(&t, " in %s%s", mrsi_map_those(&s->map), s->map.in.ns);
    return mrsi_describe_end(&t);
}

static void
describe_remark(const void *state, uint32_t i, char *text, size_t size)
{
    static const char *const words[KINDS] = {
        [TRUE_TEXT] = "a text other than `true` is true now, as \"false\" and \"no\" are",
        [TRUE_VALUE] = "a value other than 1 is true now",
        [CUT] = "a number lost its fraction or last digits",
        [EARLY] = "a number became a date before 1980: dates are made of milliseconds, multiply seconds by 1000",
        [LEADING] = "a text lost a leading 0 or +, which postcodes and telephone numbers need",
        [REST] = "an ObjectId or timestamp kept its time alone"};
    const struct cast *s = state;
    uint32_t no = i / KINDS;
    const struct mrs_path *p = no < s->fields.n                   ? &s->fields.path[no]
                               : no < s->fields.n + s->patterns.n ? &s->patterns.item[no - s->fields.n].path
                                                                  : NULL;
    snprintf(text, size, ", `%.150s`%s: %s", p ? p->text : "",
             no == NAMED - 1 && s->fields.n + s->patterns.n > NAMED ? " and the fields after it" : "",
             words[i % KINDS]);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    return mrsi_map_catalog(describe, state, cat, e);
}

const struct mrs_step_type mrsi_step_cast = {
    .name = "cast",
    .summary = "converts values to other types",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .since_2 = "types",
    .example = "in: users\nfields: { age: int, joined: date }\n\nwhere: { age: { $type: string } }\n"
               "types: [string]\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_cast_invert,
    .catalog = catalog,
    .remark = describe_remark,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &mrsi_map_ops,
};
