/* SPDX-License-Identifier: Apache-2.0 */
/* expr.c - the few expressions and query predicates that random plans and small cases need.
 *
 * One function per idea, no tables, nothing precompiled. Unknown operators, or results that depend on something not
 * modelled (text of decimals, dates as text), mark the world as unclear, so that the seed is skipped instead of
 * compared. */
#include "twin.h"

#include <bson/bson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct val *
field_path(struct val *v, const struct path *p, uint32_t i)
{
    if (!v)
        return NULL;
    if (i == p->n)
        return v;
    if (v->type == T_DOC)
        return field_path(tw_get(v, p->p[i]), p, i + 1);
    if (v->type != T_ARRAY)
        return NULL;
    struct val *out = tw_array();
    for (uint32_t k = 0; k < v->n; k++) {
        struct val *e = v->f[k].v->type == T_DOC ? field_path(v->f[k].v, p, i) : NULL;
        if (e)
            tw_append(out, e);
    }
    return out;
}

static int
variable(struct world *w, const char *s, const struct vars *vars, struct val **out)
{
    struct path p = tw_path_of(s);
    struct val *base = NULL;
    if (!strcmp(p.p[0], "ROOT") || !strcmp(p.p[0], "CURRENT") || !strcmp(p.p[0], "ITEM"))
        base = vars->root;
    else if (!strcmp(p.p[0], "PARENT") || !strcmp(p.p[0], "BUCKET"))
        base = vars->parent;
    else if (!strcmp(p.p[0], "POSITION"))
        base = vars->position;
    else if (!strcmp(p.p[0], "ELEMENTS"))
        base = vars->elements;
    else if (!strcmp(p.p[0], "NAME") || !strcmp(p.p[0], "VALUE"))
        base = p.p[0][0] == 'N' ? vars->name : vars->value;
    else if (strcmp(p.p[0], "REMOVE"))
        tw_unclear(w, "variable");
    *out = field_path(base, &p, 1);
    return 0;
}

static bool
truth(const struct val *v)
{
    if (tw_is_nullish(v))
        return false;
    if (v->type == T_BOOL)
        return v->raw[0];
    return !tw_is_number(v) || tw_num_double(v) != 0;
}

static int
add(struct world *w, struct val **arg, uint32_t n, struct val **out)
{
    __int128 whole = 0;
    bool wide = false;
    for (uint32_t i = 0; i < n; i++) {
        if (tw_is_nullish(arg[i])) {
            *out = tw_null();
            return 0;
        }
        if (arg[i]->type == T_DATE) {
            tw_unclear(w, "date in $add");
            return 0;
        }
        if (!tw_is_number(arg[i]))
            return 1;
    }
    double sum = 0;
    bool real = false;
    for (uint32_t i = 0; i < n; i++) {
        if (arg[i]->type == T_DECIMAL)
            tw_unclear(w, "decimal in $add");
        real |= arg[i]->type == T_DOUBLE;
        wide |= arg[i]->type == T_INT64;
        if (arg[i]->type != T_DOUBLE && arg[i]->type != T_DECIMAL)
            whole += tw_num_int64(arg[i]);
        sum += tw_num_double(arg[i]);
    }
    if (real)
        *out = tw_double(sum);
    else if (whole > INT64_MAX || whole < INT64_MIN)
        *out = tw_double((double)whole);
    else if (wide || whole > INT32_MAX || whole < INT32_MIN)
        *out = tw_int64((int64_t)whole);
    else
        *out = tw_int32((int32_t)whole);
    if (real && n > 2)
        tw_unclear(w, "rounding of three doubles");
    return 0;
}

static int
concat(struct val **arg, uint32_t n, struct val **out)
{
    const char *text = "";
    for (uint32_t i = 0; i < n; i++) {
        if (tw_is_nullish(arg[i])) {
            *out = tw_null();
            return 0;
        }
        if (!tw_str(arg[i]))
            return 1;
        text = tw_text("%s%s", text, tw_str(arg[i]));
    }
    *out = tw_string(text);
    return 0;
}

static int
other_case(struct world *w, const char *op, const struct val *v, struct val **out)
{
    const char *text = "";
    if (tw_is_nullish(v)) {
        *out = tw_string("");
        return 0;
    }
    if (v->type == T_INT32 || v->type == T_INT64)
        text = tw_text("%lld", (long long)tw_num_int64(v));
    else if (tw_str(v))
        text = tw_str(v);
    else if (v->type == T_BOOL || v->type == T_OID || v->type == T_BINARY || v->type == T_DOC || v->type == T_ARRAY)
        return 1;
    else
        tw_unclear(w, "type in $toUpper or $toLower");
    char *up = tw_text("%s", text);
    for (char *s = up; *s; s++)
        if (op[3] == 'U' ? *s >= 'a' && *s <= 'z' : *s >= 'A' && *s <= 'Z')
            *s = (char)(*s ^ 32);
    *out = tw_string(up);
    return 0;
}

static int
compare_op(const char *op, struct val *a, struct val *b, struct val **out)
{
    int r = tw_compare(a, b);
    if (!strcmp(op, "$cmp"))
        *out = tw_int32(r);
    else
        *out = tw_bool(!strcmp(op, "$eq") ? r == 0 : !strcmp(op, "$ne") ? r != 0 : !strcmp(op, "$gt") ? r > 0
                       : !strcmp(op, "$gte") ? r >= 0 : !strcmp(op, "$lt") ? r < 0 : r <= 0);
    return 0;
}

static int
array_op(const char *op, struct val **arg, uint32_t n, struct val **out)
{
    struct val *a = n ? arg[0] : NULL;
    if (!strcmp(op, "$size")) {
        if (!a || a->type != T_ARRAY)
            return 1;
        *out = tw_int32((int32_t)a->n);
        return 0;
    }
    if (tw_is_nullish(a)) {
        *out = tw_null();
        return 0;
    }
    if (a->type != T_ARRAY || (n > 1 && !tw_is_number(arg[1])))
        return 1;
    int32_t i = n > 1 ? tw_as_int(arg[1], 0) : 0;
    if (i < 0)
        i += (int32_t)a->n;
    *out = i < 0 || i >= (int32_t)a->n ? NULL : a->f[i].v;
    return 0;
}

static int
split(struct val **arg, struct val **out)
{
    if (tw_is_nullish(arg[0]) || tw_is_nullish(arg[1])) {
        *out = tw_null();
        return 0;
    }
    const char *s = tw_str(arg[0]), *by = tw_str(arg[1]);
    if (!s || !by || !*by)
        return 1;
    *out = tw_array();
    for (const char *hit; (hit = strstr(s, by)); s = hit + strlen(by))
        tw_append(*out, tw_string(tw_text("%.*s", (int)(hit - s), s)));
    tw_append(*out, tw_string(s));
    return 0;
}

static int
is_in(const struct val *v, const struct val *list, struct val **out)
{
    bool found = false;
    if (!list || list->type != T_ARRAY)
        return 1;
    for (uint32_t i = 0; i < list->n; i++)
        found |= !tw_compare(v, list->f[i].v);
    *out = tw_bool(found);
    return 0;
}

static int
lazy(struct world *w, const char *op, const struct val *a, const struct vars *vars, struct val **out)
{
    struct val *v = NULL;
    if (!strcmp(op, "$ifNull")) {
        for (uint32_t i = 0; i < a->n; i++) {
            if (tw_eval(w, a->f[i].v, vars, &v))
                return 1;
            if (!tw_is_nullish(v) || i + 1 == a->n)
                break;
        }
        *out = v;
        return 0;
    }
    struct val *c = a->type == T_ARRAY ? a->f[0].v : tw_get(a, "if");
    struct val *t = a->type == T_ARRAY ? a->f[1].v : tw_get(a, "then");
    struct val *e = a->type == T_ARRAY ? a->f[2].v : tw_get(a, "else");
    if (tw_eval(w, c, vars, &v))
        return 1;
    return tw_eval(w, truth(v) ? t : e, vars, out);
}

static bool
has_decimal(struct val *const *arg, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= arg[i] && arg[i]->type == T_DECIMAL;
    return any;
}

static int
call(struct world *w, const char *op, const struct val *a, const struct vars *vars, struct val **out)
{
    struct val *arg[8] = {0};
    uint32_t n = a->type == T_ARRAY ? a->n : 1;
    if (!strcmp(op, "$literal")) {
        *out = tw_copy(a);
        return 0;
    }
    if (!strcmp(op, "$ifNull") || !strcmp(op, "$cond"))
        return lazy(w, op, a, vars, out);
    for (uint32_t i = 0; i < n && i < 8; i++)
        if (tw_eval(w, a->type == T_ARRAY ? a->f[i].v : a, vars, &arg[i]))
            return 1;
    const char *two = n == 2 ? strstr("$add + $subtract - $multiply * $divide / ", tw_text("%s ", op)) : NULL;
    if (two && (two[strlen(op) + 1] != '+' || has_decimal(arg, n)))
        return tw_arith(w, two[strlen(op) + 1], arg[0], arg[1], out);
    if (!strcmp(op, "$add"))
        return add(w, arg, n, out);
    if (!strcmp(op, "$concat"))
        return concat(arg, n, out);
    if (!strcmp(op, "$toUpper") || !strcmp(op, "$toLower"))
        return other_case(w, op, arg[0], out);
    if (!strcmp(op, "$split"))
        return split(arg, out);
    if (!strcmp(op, "$in"))
        return is_in(arg[0], arg[1], out);
    if (!strcmp(op, "$size") || !strcmp(op, "$arrayElemAt") || !strcmp(op, "$first"))
        return array_op(op, arg, n, out);
    if (!strcmp(op, "$toInt"))
        return tw_convert(w, arg[0], "int", out);
    if (!strcmp(op, "$toString"))
        return tw_convert(w, arg[0], "string", out);
    static const char *const cmps[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp"};
    for (size_t i = 0; i < sizeof cmps / sizeof *cmps; i++)
        if (!strcmp(op, cmps[i]))
            return compare_op(op, arg[0], arg[1], out);
    tw_unclear(w, tw_text("operator %s", op));
    *out = NULL;
    return 0;
}

int
tw_eval(struct world *w, const struct val *e, const struct vars *vars, struct val **out)
{
    const char *s = tw_str(e);
    *out = NULL;
    if (s && s[0] == '$' && s[1] == '$')
        return variable(w, s + 2, vars, out);
    if (s && s[0] == '$') {
        struct path p = tw_path_of(s + 1);
        *out = field_path(vars->root, &p, 0);
        return 0;
    }
    if (e->type == T_DOC && e->n && e->f[0].name[0] == '$')
        return call(w, e->f[0].name, e->f[0].v, vars, out);
    if (e->type != T_DOC && e->type != T_ARRAY) {
        *out = tw_copy(e);
        return 0;
    }
    struct val *made = e->type == T_DOC ? tw_doc() : tw_array();
    for (uint32_t i = 0; i < e->n; i++) {
        struct val *v;
        if (tw_eval(w, e->f[i].v, vars, &v))
            return 1;
        if (e->type == T_ARRAY)
            tw_append(made, v ? v : tw_null());
        else if (v)
            tw_push(made, e->f[i].name, v);
    }
    *out = made;
    return 0;
}

/* ---- $convert, for `cast` */
static const char *
double_text(double d)
{
    if (isnan(d))
        return "NaN";
    if (isinf(d))
        return d < 0 ? "-Infinity" : "Infinity";
    char s[64];
    int prec = 0;
    do
        snprintf(s, sizeof s, "%.*e", prec++, d);
    while (strtod(s, NULL) != d);
    int exp = (int)strtol(strchr(s, 'e') + 1, NULL, 10);
    if (d == 0)
        return signbit(d) ? "-0" : "0";
    if (exp >= 16 || exp < -4) /* already digits.e+XX, as wanted */
        return tw_text("%s", s);
    int decimals = prec - 1 - exp;
    return tw_text("%.*f", decimals > 0 ? decimals : 0, d);
}

static int
to_text(struct world *w, const struct val *v, struct val **out)
{
    switch (v->type) {
    case T_INT32: case T_INT64: *out = tw_string(tw_text("%lld", (long long)tw_num_int64(v))); return 0;
    case T_DOUBLE: *out = tw_string(double_text(tw_num_double(v))); return 0;
    case T_BOOL: *out = tw_string(v->raw[0] ? "true" : "false"); return 0;
    case T_STRING: *out = tw_copy(v); return 0;
    case T_OID: {
        char hex[25];
        for (int i = 0; i < 12; i++)
            snprintf(hex + 2 * i, 3, "%02x", v->raw[i]);
        *out = tw_string(hex);
        return 0;
    }
    case T_DOC: case T_ARRAY: case T_REGEX: case T_TIMESTAMP: case T_CODE: case T_MINKEY: case T_MAXKEY: return 1;
    default: tw_unclear(w, "text of this type"); return 0;
    }
}

static int
text_to_int(const char *s, int64_t low, int64_t high, int64_t *out)
{
    bool neg = *s == '-';
    __int128 x = 0;
    if (*s == '+' || *s == '-')
        s++;
    if (!*s)
        return 1;
    for (; *s; s++) {
        if (*s < '0' || *s > '9')
            return 1;
        if (x < (__int128)1 << 100)
            x = x * 10 + (*s - '0');
    }
    x = neg ? -x : x;
    *out = (int64_t)x;
    return x < low || x > high;
}

static int
to_whole(struct world *w, const struct val *v, bool wide, struct val **out)
{
    int64_t low = wide ? INT64_MIN : INT32_MIN, high = wide ? INT64_MAX : INT32_MAX, x = 0;
    double d;
    switch (v->type) {
    case T_BOOL: x = v->raw[0] != 0; break;
    case T_INT32: case T_INT64:
        x = tw_num_int64(v);
        if (x < low || x > high)
            return 1;
        break;
    case T_DOUBLE:
        d = tw_num_double(v);
        if (isnan(d) || d < (double)low || (wide ? d >= 9223372036854775808.0 : d > (double)high))
            return 1;
        x = (int64_t)d;
        break;
    case T_STRING:
        if (text_to_int(tw_str(v), low, high, &x))
            return 1;
        break;
    case T_DATE:
        if (!wide)
            return 1;
        memcpy(&x, v->raw, 8);
        break;
    case T_DECIMAL:
        d = tw_num_double(v);
        if (isnan(d) || isinf(d))
            return 1;
        if (d != floor(d) || fabs(d) > 1e9)
            tw_unclear(w, "decimal to integer");
        x = (int64_t)d;
        break;
    case T_BINARY: tw_unclear(w, "binary to integer"); return 0;
    default: return 1;
    }
    *out = wide ? tw_int64(x) : tw_int32((int32_t)x);
    return 0;
}

static int
to_real(struct world *w, const struct val *v, struct val **out)
{
    int64_t x;
    const char *s = tw_str(v);
    if (tw_is_number(v)) {
        *out = tw_double(tw_num_double(v));
    } else if (v->type == T_BOOL) {
        *out = tw_double(v->raw[0] != 0);
    } else if (v->type == T_DATE) {
        memcpy(&x, v->raw, 8);
        *out = tw_double((double)x);
    } else if (s) {
        char *end;
        double d = strtod(s, &end);
        if (!*s || *end || *s == ' ')
            return 1;
        if (strpbrk(s, "xXpP"))
            tw_unclear(w, "hexadecimal text");
        *out = tw_double(d);
    } else if (v->type == T_BINARY) {
        tw_unclear(w, "binary to double");
    } else {
        return 1;
    }
    return 0;
}

static int
to_date(struct world *w, const struct val *v, struct val **out)
{
    int64_t x = 0;
    int32_t seconds;
    switch (v->type) {
    case T_DATE: *out = tw_copy(v); return 0;
    case T_INT64: x = tw_num_int64(v); break;
    case T_DOUBLE:
        if (isnan(tw_num_double(v)) || fabs(tw_num_double(v)) >= 9223372036854775808.0)
            return 1;
        x = (int64_t)tw_num_double(v);
        break;
    case T_OID:
        seconds =
            (int32_t)((uint32_t)v->raw[0] << 24 | (uint32_t)v->raw[1] << 16 | (uint32_t)v->raw[2] << 8 | v->raw[3]);
        x = (int64_t)seconds * 1000;
        break;
    case T_STRING: case T_TIMESTAMP: case T_DECIMAL: tw_unclear(w, "date from this type"); return 0;
    default: return 1;
    }
    *out = tw_leaf(T_DATE, &x, 8);
    return 0;
}

static int
to_oid(const struct val *v, struct val **out)
{
    const char *s = tw_str(v);
    if (v->type == T_OID) {
        *out = tw_copy(v);
        return 0;
    }
    if (!s || strlen(s) != 24 || strspn(s, "0123456789abcdefABCDEF") != 24)
        return 1;
    bson_oid_t oid;
    bson_oid_init_from_string(&oid, s);
    *out = tw_leaf(T_OID, oid.bytes, 12);
    return 0;
}

int
tw_convert(struct world *w, const struct val *v, const char *to, struct val **out)
{
    *out = NULL;
    if (tw_is_nullish(v)) {
        *out = tw_null();
        return 0;
    }
    if (!strcmp(to, "int") || !strcmp(to, "long"))
        return to_whole(w, v, *to == 'l', out);
    if (!strcmp(to, "double"))
        return to_real(w, v, out);
    if (!strcmp(to, "string"))
        return to_text(w, v, out);
    if (!strcmp(to, "date"))
        return to_date(w, v, out);
    if (!strcmp(to, "objectId"))
        return to_oid(v, out);
    if (!strcmp(to, "bool")) {
        *out = tw_bool(tw_is_number(v) || v->type == T_BOOL ? truth(v) : true);
        return 0;
    }
    tw_unclear(w, "cast to this type");
    return 0;
}

/* ---- queries */
static void
query_values(struct val *doc, const struct path *p, uint32_t i, struct vals *out, bool *absent)
{
    struct val *v = tw_get(doc, p->p[i]);
    if (i + 1 == p->n) {
        if (!v) {
            *absent = true;
            return;
        }
        tw_add(out, v);
        for (uint32_t k = 0; v->type == T_ARRAY && k < v->n; k++)
            tw_add(out, v->f[k].v);
    } else if (v && v->type == T_DOC) {
        query_values(v, p, i + 1, out, absent);
    } else if (v && v->type == T_ARRAY) {
        for (uint32_t k = 0; k < v->n; k++)
            if (v->f[k].v->type == T_DOC)
                query_values(v->f[k].v, p, i + 1, out, absent);
    } else {
        *absent = true;
    }
}

static bool
bracket(const struct val *a, const struct val *b)
{
    static const uint8_t kind[20] = {[T_DOUBLE] = 1, [T_INT32] = 1, [T_INT64] = 1, [T_DECIMAL] = 1, [T_STRING] = 2,
                                     [T_SYMBOL] = 2};
    int ka = a->type < 20 && kind[a->type] ? kind[a->type] : 100 + a->type;
    int kb = b->type < 20 && kind[b->type] ? kind[b->type] : 100 + b->type;
    return ka == kb;
}

static bool
holds(struct world *w, const char *op, const struct val *x, const struct vals *v, bool absent)
{
    if (!strcmp(op, "$exists"))
        return truth(x) == (v->n > 0);
    if (!strcmp(op, "$ne"))
        return !holds(w, "$eq", x, v, absent);
    if (!strcmp(op, "$nin"))
        return !holds(w, "$in", x, v, absent);
    if (!strcmp(op, "$in")) {
        for (uint32_t i = 0; i < x->n; i++)
            if (holds(w, "$eq", x->f[i].v, v, absent))
                return true;
        return false;
    }
    if (!strstr(" $eq $gt $gte $lt $lte ", tw_text(" %s ", op)))
        tw_unclear(w, tw_text("operator %s", op));
    if (!strcmp(op, "$eq") && x->type == T_NULL && absent)
        return true;
    if (x->type == T_UNDEFINED || (x->type == T_NULL && strcmp(op, "$eq")) || x->type == T_REGEX)
        tw_unclear(w, "query literal");
    for (uint32_t i = 0; i < v->n; i++) {
        const struct val *y = v->v[i];
        if (y->type == T_UNDEFINED && x->type == T_NULL)
            tw_unclear(w, "null and undefined in a query");
        if (!bracket(x, y))
            continue;
        int r = tw_compare(y, x);
        bool nan = tw_is_number(y) && (isnan(tw_num_double(y)) != isnan(tw_num_double(x)));
        if (nan && strcmp(op, "$eq"))
            continue;
        if ((!strcmp(op, "$eq") && !r) || (!strcmp(op, "$gt") && r > 0) || (!strcmp(op, "$gte") && r >= 0) ||
            (!strcmp(op, "$lt") && r < 0) || (!strcmp(op, "$lte") && r <= 0))
            return true;
    }
    return false;
}

static int
all_of(struct world *w, const struct val *list, struct val *doc, bool any, bool *yes)
{
    *yes = !any;
    for (uint32_t i = 0; i < list->n; i++) {
        bool one;
        if (tw_query(w, list->f[i].v, doc, &one))
            return 1;
        if (one == any) {
            *yes = any;
            return 0;
        }
    }
    return 0;
}

int
tw_query(struct world *w, const struct val *q, struct val *doc, bool *yes)
{
    *yes = true;
    for (uint32_t i = 0; q && i < q->n && *yes; i++) {
        const char *name = q->f[i].name;
        struct val *c = q->f[i].v, *v;
        if (!strcmp(name, "$expr")) {
            struct vars vars = {.root = doc};
            if (tw_eval(w, c, &vars, &v))
                return 1;
            *yes = truth(v);
            continue;
        }
        if (!strcmp(name, "$and") || !strcmp(name, "$or")) {
            if (all_of(w, c, doc, name[1] == 'o', yes))
                return 1;
            continue;
        }
        struct path p = tw_path_of(name);
        struct vals found = {0};
        bool absent = false;
        query_values(doc, &p, 0, &found, &absent);
        if (c->type != T_DOC || !c->n || c->f[0].name[0] != '$') {
            *yes = holds(w, "$eq", c, &found, absent);
            continue;
        }
        for (uint32_t k = 0; k < c->n && *yes; k++)
            *yes = holds(w, c->f[k].name, c->f[k].v, &found, absent);
    }
    return 0;
}

/* ---- `fields` and `drop` */
int
tw_shape(struct world *w, const struct shape *s, const struct vars *vars, struct val **out)
{
    struct val *from = vars->root, *d = tw_copy(from);
    if (tw_has_duplicates(from) && (s->fields || s->drop))
        tw_unclear(w, "shape of a document with duplicate names");
    if (s->fields && s->fields->type == T_ARRAY)
        d = tw_include(from, s->fields, true);
    if (s->fields && s->fields->type == T_DOC) {
        d = tw_doc();
        for (uint32_t i = 0; i < s->fields->n; i++) {
            struct val *v;
            struct path p = tw_path_of(s->fields->f[i].name);
            if (tw_eval(w, s->fields->f[i].v, vars, &v)) {
                if (!s->errors || !strcmp(s->errors, "refuse"))
                    return 1;
                v = !strcmp(s->errors, "null") ? tw_null() : NULL;
            }
            if (v)
                tw_write(d, &p, v);
        }
    }
    for (uint32_t i = 0; s->drop && i < s->drop->n; i++) {
        struct path p = tw_path(s->drop->f[i].v);
        tw_remove(d, &p);
    }
    if (s->keep_id && tw_get(from, "_id") && !tw_get(d, "_id"))
        tw_insert(d, 0, "_id", tw_copy(tw_get(from, "_id")));
    *out = d;
    return 0;
}
