/* SPDX-License-Identifier: Apache-2.0 */
/* op_type.c - $type, $isNumber, $convert and its short forms ($toInt, $toDate, ...).
 *
 * $convert checks in the server's order: a null input first, then a null `to`, then whether the request is valid, then
 * the conversion itself, whose failure alone goes to onError. */
#include "expr/convert.h"

static enum mrs_status
op_type(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    const char *name = mrs_type_name(v.type);
    return mrsi_ret_text(ev, name, strlen(name), out);
}

static enum mrs_status
op_is_number(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    return mrsi_ret_bool(ev, mrs_is_number(v), out);
}

/* ---- types by name and by code ---- */

static const uint8_t TYPES[] = {
    MRS_DOUBLE,     MRS_STRING, MRS_DOCUMENT,     MRS_ARRAY, MRS_BINARY,    MRS_UNDEFINED,
    MRS_OBJECTID,   MRS_BOOL,   MRS_DATE,         MRS_NULL,  MRS_REGEX,     MRS_DBPOINTER,
    MRS_CODE,       MRS_SYMBOL, MRS_CODE_W_SCOPE, MRS_INT32, MRS_TIMESTAMP, MRS_INT64,
    MRS_DECIMAL128, MRS_MAXKEY, MRS_MINKEY,       MRS_MISSING,
};

static bool
type_by_name(const char *name, uint32_t n, uint8_t *type)
{
    MRS_ASSERT(name || n == 0);
    for (size_t i = 0; i < sizeof TYPES; i++) {
        if (mrsi_text_is(name, n, mrs_type_name(TYPES[i]))) {
            *type = TYPES[i];
            return true;
        }
    }
    return false;
}

static bool
type_by_code(int64_t code, uint8_t *type)
{
    for (size_t i = 0; i < sizeof TYPES; i++) {
        if (code == (TYPES[i] == MRS_MINKEY ? -1 : TYPES[i])) {
            *type = TYPES[i];
            return true;
        }
    }
    return false;
}

/* ---- $convert ---- */

enum { INPUT, TO, ON_ERROR, ON_NULL, FORMAT, BYTE_ORDER, BASE };

bool
mrsi_convert_type(struct mrs_val to, uint8_t *type)
{
    MRS_ASSERT(mrs_val_is_sized(to));
    int64_t code;
    uint32_t n;
    if (to.type == MRS_DOCUMENT) {
        to = mrs_doc_get(mrs_val_view(to), "type");
    }
    if (to.type == MRS_STRING) {
        const char *name = mrs_val_text(to, &n);
        return type_by_name(name, n, type);
    }
    return mrs_val_integral(to, &code) && type_by_code(code, type);
}

static enum mrs_status
read_type(struct mrsi_convert *cv, struct mrs_val to)
{
    int64_t code;
    uint32_t n;
    if (to.type == MRS_STRING) {
        const char *name = mrs_val_text(to, &n);
        int shown = (int)(n < 40 ? n : 40);
        return type_by_name(name, n, &cv->to) ? MRS_OK
                                              : mrsi_eval_error(cv->x, cv->ev, "there is no type '%.*s'", shown, name);
    }
    if (!mrs_val_integral(to, &code) || !type_by_code(code, &cv->to)) {
        return mrsi_eval_error(cv->x, cv->ev, "'to' must be the name or the number of a type");
    }
    return MRS_OK;
}

static enum mrs_status
read_subtype(struct mrsi_convert *cv, struct mrs_val subtype)
{
    int64_t n;
    if (subtype.type == MRS_MISSING) { /* null is not missing, as in servers */
        return MRS_OK;
    }
    if (!mrs_val_integral(subtype, &n) || n < 0 || n > 255 || (n > 9 && n < 128)) {
        return mrsi_eval_error(cv->x, cv->ev, "'subtype' must be a subtype of binary data (0 to 9, 128 to 255)");
    }
    cv->subtype = (uint8_t)n;
    return MRS_OK;
}

static enum mrs_status
read_format(struct mrsi_convert *cv, struct mrs_val format)
{
    static const char *const NAMES[] = {"", "auto", "base64", "base64url", "hex", "utf8", "uuid"};
    uint32_t n;
    if (mrs_is_nullish(format)) {
        return MRS_OK;
    }
    if (format.type == MRS_STRING) {
        const char *name = mrs_val_text(format, &n);
        for (int i = MRSI_FORMAT_AUTO; i <= MRSI_FORMAT_UUID; i++) {
            if (mrsi_text_is(name, n, NAMES[i])) {
                cv->format = (enum mrsi_format)i;
                return MRS_OK;
            }
        }
    }
    return mrsi_eval_error(cv->x, cv->ev, "'format' must be one of auto, base64, base64url, hex, utf8, uuid");
}

static enum mrs_status
read_byte_order(struct mrsi_convert *cv, struct mrs_val order)
{
    uint32_t n;
    if (mrs_is_nullish(order)) {
        return MRS_OK;
    }
    const char *name = order.type == MRS_STRING ? mrs_val_text(order, &n) : NULL;
    if (!name || (!mrsi_text_is(name, n, "little") && !mrsi_text_is(name, n, "big"))) {
        return mrsi_eval_error(cv->x, cv->ev, "'byteOrder' must be little or big");
    }
    cv->big = n == 3;
    return MRS_OK;
}

static enum mrs_status
read_base(struct mrsi_convert *cv, struct mrs_val base)
{
    int64_t n;
    if (mrs_is_nullish(base)) {
        return MRS_OK;
    }
    if (!mrs_val_integral(base, &n) || (n != 2 && n != 8 && n != 10 && n != 16)) {
        return mrsi_eval_error(cv->x, cv->ev, "'base' must be one of 2, 8, 10, 16");
    }
    cv->base = (unsigned)n;
    return MRS_OK;
}

/* Reads the request; `to` is not null. */
static enum mrs_status
read_request(const struct mrs_expr *x, struct mrsi_convert *cv, struct mrs_val to)
{
    struct mrs_val format, order, base, subtype = mrs_missing();
    MRS_TRY(mrsi_arg(x, FORMAT, cv->ev, &format));
    MRS_TRY(mrsi_arg(x, BYTE_ORDER, cv->ev, &order));
    MRS_TRY(mrsi_arg(x, BASE, cv->ev, &base));
    if (to.type == MRS_DOCUMENT) {
        subtype = mrs_doc_get(mrs_val_view(to), "subtype");
        to = mrs_doc_get(mrs_val_view(to), "type");
    }
    MRS_TRY(read_type(cv, to));
    MRS_TRY(read_subtype(cv, subtype));
    MRS_TRY(read_format(cv, format));
    MRS_TRY(read_byte_order(cv, order));
    return read_base(cv, base);
}

/* The target types of conversions. */
static const uint8_t CASTS[] = {MRS_DOUBLE, MRS_STRING, MRS_OBJECTID, MRS_BOOL, MRS_DATE, MRS_INT32, MRS_INT64,
                                MRS_DECIMAL128, MRS_BINARY, MRS_DOCUMENT, MRS_ARRAY};

/* Whether the rules of this plan do not have a conversion yet. */
static bool
is_later(const struct mrs_expr *x, uint8_t to)
{
    return x && x->root->server_8_2 && (to == MRS_DOCUMENT || to == MRS_ARRAY);
}

static enum mrs_status
refuse_later(struct mrsi_convert *cv)
{
    return mrsi_convert_refuse(cv, "a conversion to %s came with MongoDB 8.3, and this plan has the rules of 8.2 "
                                   "(write `server: \"8.3\"`)", mrs_type_name(cv->to));
}

static bool
is_known(const struct mrs_expr *arg)
{
    return !arg || mrsi_is_constant(arg);
}

enum mrs_status
mrsi_convert_check(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val to)
{
    MRS_ASSERT(mrs_val_is_sized(to));
    struct mrsi_convert cv = {.x = x, .ev = ev};
    bool reachable = false;
    if (!is_known(x->args[FORMAT]) || !is_known(x->args[BYTE_ORDER]) || !is_known(x->args[BASE])) {
        return MRS_OK;
    }
    MRS_TRY(read_request(x, &cv, to));
    if (is_later(x, cv.to)) {
        refuse_later(&cv);
        return mrsi_eval_error(x, ev, "%s", cv.why);
    }
    for (size_t i = 0; i < sizeof CASTS; i++) {
        reachable = reachable || cv.to == CASTS[i];
    }
    return reachable || x->args[ON_ERROR] ? MRS_OK
                                          : mrsi_eval_error(x, ev, "nothing converts to %s", mrs_type_name(cv.to));
}

static enum mrs_status
compile_convert(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, x->op->named, e));
    return x->args[BASE] ? mrsi_compile_needs_8_3(c, x, "`base`", e) : MRS_OK;
}

static enum mrs_status
op_convert(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrsi_convert cv = {.x = x, .ev = ev};
    struct mrs_val input, to;
    MRS_TRY(mrsi_arg(x, INPUT, ev, &input));
    MRS_TRY(mrsi_arg(x, TO, ev, &to));
    if (mrsi_is_nullish(input)) {
        return x->args[ON_NULL] ? mrsi_arg(x, ON_NULL, ev, out) : mrsi_ret_null(out);
    }
    if (mrsi_is_nullish(to)) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(read_request(x, &cv, to));
    enum mrs_status s = is_later(x, cv.to) ? refuse_later(&cv) : mrsi_convert_run(&cv, input, out);
    if (s != MRS_SKIP) {
        return s;
    }
    return x->args[ON_ERROR] ? mrsi_arg(x, ON_ERROR, ev, out) : mrsi_eval_error(x, ev, "%s", cv.why);
}

/* ---- the short forms, and the interface for `cast` ---- */

static enum mrs_status
convert_to(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v, uint8_t to, struct mrs_val *out)
{
    struct mrsi_convert cv = {.x = x, .ev = ev, .to = to, .format = MRSI_FORMAT_AUTO};
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    enum mrs_status s = mrsi_convert_run(&cv, v, out);
    return s == MRS_SKIP ? mrsi_eval_error(x, ev, "%s", cv.why) : s;
}

#define SHORT(name, type)                                                                                            \
    static enum mrs_status op_to_##name(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)          \
    {                                                                                                                \
        struct mrs_val v;                                                                                            \
        MRS_TRY(mrsi_arg(x, 0, ev, &v));                                                                            \
        return convert_to(x, ev, v, type, out);                                                                      \
    }
SHORT(bool, MRS_BOOL)
SHORT(int, MRS_INT32)
SHORT(long, MRS_INT64)
SHORT(double, MRS_DOUBLE)
SHORT(decimal, MRS_DECIMAL128)
SHORT(date, MRS_DATE)
SHORT(object_id, MRS_OBJECTID)
SHORT(string, MRS_STRING)
SHORT(object, MRS_DOCUMENT)
SHORT(array, MRS_ARRAY)

static enum mrs_status
convert_to_uuid(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v, struct mrs_val *out)
{
    struct mrsi_convert cv = {.x = x, .ev = ev, .to = MRS_BINARY, .format = MRSI_FORMAT_UUID, .subtype = 4};
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    enum mrs_status s = mrsi_convert_run(&cv, v, out);
    return s == MRS_SKIP ? mrsi_eval_error(x, ev, "%s", cv.why) : s;
}

static enum mrs_status
op_to_uuid(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    return convert_to_uuid(x, ev, v, out);
}

static bool
cast_by_name(const char *to, uint8_t *type)
{
    for (size_t i = 0; i < sizeof CASTS; i++) {
        if (strcmp(mrs_type_name(CASTS[i]), to) == 0) {
            *type = CASTS[i];
            return true;
        }
    }
    return false;
}

bool
mrs_convert_known(const char *to)
{
    uint8_t type;
    return cast_by_name(to, &type);
}

enum mrs_status
mrs_convert(struct mrs_eval *ev, struct mrs_val v, const char *to, struct mrs_val *out)
{
    MRS_ASSERT(to && mrs_val_is_sized(v));
    uint8_t type;
    if (strcmp(to, "uuid") == 0) {
        return convert_to_uuid(NULL, ev, v, out);
    }
    if (!cast_by_name(to, &type)) {
        return mrsi_eval_error(NULL, ev, "'%.40s' is no type to convert to", to);
    }
    bool there = v.type == type && (type == MRS_DOCUMENT || type == MRS_ARRAY); /* not of text: it stays unchanged */
    *out = v;
    return there ? MRS_OK : convert_to(NULL, ev, v, type, out);
}

#define ROW(n) .row = {"$" n, "type", ""}
const struct mrs_op mrsi_ops_type[] = {
    {ROW("type"), .eval = op_type, .n_min = 1, .n_max = 1},
    {ROW("isNumber"), .eval = op_is_number, .n_min = 1, .n_max = 1},
    {.row = {"$convert", "type", "`base`, and to an object or array: " MRSI_SINCE_8_3},
     .eval = op_convert, .compile = compile_convert,
     .named = "input,to|onError,onNull,format,byteOrder,base"},
    {.row = {"$toArray", "type", MRSI_SINCE_8_3}, .eval = op_to_array, .n_min = 1, .n_max = 1, .since_8_3 = true},
    {ROW("toBool"), .eval = op_to_bool, .n_min = 1, .n_max = 1},
    {ROW("toInt"), .eval = op_to_int, .n_min = 1, .n_max = 1},
    {ROW("toLong"), .eval = op_to_long, .n_min = 1, .n_max = 1},
    {ROW("toDouble"), .eval = op_to_double, .n_min = 1, .n_max = 1},
    {ROW("toDecimal"), .eval = op_to_decimal, .n_min = 1, .n_max = 1},
    {.row = {"$toDate", "type", "a text whose year has five digits or more is refused, the server misreads it"},
     .eval = op_to_date, .n_min = 1, .n_max = 1},
    {.row = {"$toObject", "type", MRSI_SINCE_8_3}, .eval = op_to_object, .n_min = 1, .n_max = 1, .since_8_3 = true},
    {ROW("toObjectId"), .eval = op_to_object_id, .n_min = 1, .n_max = 1},
    {ROW("toString"), .eval = op_to_string, .n_min = 1, .n_max = 1},
    {ROW("toUUID"), .eval = op_to_uuid, .n_min = 1, .n_max = 1},
    {.row = {NULL, NULL, NULL}},
};
