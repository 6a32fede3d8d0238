/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - paths with stars in set, unset, rename and cast: every field and element is compared with the path, with
 * the set of positions in it that its names may have reached. */
#include "twin.h"

#include <string.h>

struct hunt {
    struct world *w;
    struct path p;
    const struct val *what; /* what the plan says of the path */
    const char *step, *errors;
    struct val *root;
    bool ends_deep; /* the path ends in two stars */
};

bool
tw_is_pattern(const char *name)
{
    return strchr(name, '*') != NULL;
}

bool
tw_has_type(struct world *w, const struct val *v)
{
    static const char *const names[] = {
        [T_DOUBLE] = "double", [T_STRING] = "string", [T_DOC] = "object", [T_ARRAY] = "array", [T_BINARY] = "binData",
        [T_UNDEFINED] = "undefined", [T_OID] = "objectId", [T_BOOL] = "bool", [T_DATE] = "date", [T_NULL] = "null",
        [T_INT32] = "int", [T_TIMESTAMP] = "timestamp", [T_INT64] = "long", [T_DECIMAL] = "decimal"};
    const struct val *types = tw_arg(w, "types");
    const char *mine = v->type < 20 && names[v->type] ? names[v->type] : "another";
    bool fits = !types;
    for (uint32_t i = 0; types && i < types->n; i++) {
        const char *name = tw_str(types->f[i].v);
        fits |= !strcmp(name, mine) || (!strcmp(name, "number") && tw_is_number(v));
    }
    return fits;
}

/* ---- places in a path, as bits: i is before part i, n behind all */
static uint32_t
passed(const struct path *p, uint32_t at)
{
    for (uint32_t i = 0; i < p->n; i++)
        if ((at >> i & 1) && !strcmp(p->p[i], "**"))
            at |= 1u << (i + 1);
    return at;
}

static uint32_t
follow_name(const struct path *p, uint32_t at, const char *name)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        size_t n = strlen(p->p[i]);
        if (!(at >> i & 1))
            continue;
        if (!strcmp(p->p[i], "**"))
            next |= 1u << i;
        else if (p->p[i][n - 1] == '*' ? !strncmp(p->p[i], name, n - 1) : !strcmp(p->p[i], name))
            next |= 1u << (i + 1);
    }
    return passed(p, next);
}

/* ---- one value; *out NULL: it goes */
static bool
visit(const struct hunt *h, const char *name, struct val *v, struct val **out)
{
    struct vars vars = {.root = h->root, .name = tw_string(name), .value = v};
    *out = v;
    if (!strcmp(h->step, "cast"))
        return (h->ends_deep && (v->type == T_DOC || v->type == T_ARRAY)) ||
               !tw_cast_value(h->w, v, h->what, h->errors, out);
    if (!tw_has_type(h->w, v))
        return true;
    if (!strcmp(h->step, "unset")) {
        *out = NULL;
        return true;
    }
    if (!tw_eval(h->w, h->what, &vars, out)) {
        *out = *out ? tw_copy(*out) : NULL;
        return true;
    }
    *out = !strcmp(h->errors, "keep") ? v : !strcmp(h->errors, "null") ? tw_null() : NULL;
    return strcmp(h->errors, "refuse") != 0;
}

/* ---- rename: all fields of a document at once */
static bool
new_name(const struct hunt *h, const struct field *f, bool top, const char **out)
{
    struct vars vars = {.root = h->root, .name = tw_string(f->name), .value = f->v};
    const char *text = tw_str(h->what), *star = text && text[0] != '$' ? strchr(text, '*') : NULL;
    struct val *v = NULL;
    if (text && text[0] != '$') {
        size_t prefix = strlen(h->p.p[h->p.n - 1]) - 1; /* random plans have the star in the last part */
        *out = star ? tw_text("%.*s%s%s", (int)(star - text), text, f->name + prefix, star + 1) : text;
    } else {
        if (tw_eval(h->w, h->what, &vars, &v) || !tw_str(v))
            return false;
        *out = tw_str(v);
    }
    return **out && !(top && !strcmp(*out, "_id"));
}

static bool
rename_fields(const struct hunt *h, struct val *d, bool *mine, bool top)
{
    bool replace = tw_flag(h->w, "replace"), any = false;
    const char **name = tw_new((d->n + 1) * sizeof *name);
    bool *gone = tw_new(d->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        name[i] = d->f[i].name;
        if (mine[i] && !new_name(h, &d->f[i], top, &name[i]))
            return false;
        mine[i] = strcmp(name[i], d->f[i].name) != 0; /* to its own name is no rename */
        any |= mine[i];
    }
    if (any && tw_has_duplicates(d))
        return false;
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->n; k++) {
            if (k == i || !mine[i] || strcmp(name[i], name[k]))
                continue;
            if (mine[k] || !replace)
                return false;
            gone[k] = true;
        }
    for (uint32_t i = 0; i < d->n; i++)
        if (!gone[i])
            d->f[n++] = (struct field){name[i], d->f[i].v};
    d->n = n;
    return true;
}

/* ---- all of a document, what is inside a value before the value */
static bool walk_fields(const struct hunt *h, struct val *d, uint32_t at, bool top);

/* What leads through an array in an array: two stars, and all of unset. */
static uint32_t
deeper(const struct hunt *h, uint32_t at)
{
    uint32_t stars = 0;
    for (uint32_t i = 0; i < h->p.n; i++)
        stars |= (uint32_t)!strcmp(h->p.p[i], "**") << i;
    return !strcmp(h->step, "unset") ? at : passed(&h->p, at & stars);
}

static bool
walk_inside(const struct hunt *h, const char *name, struct val *v, uint32_t at)
{
    bool elements = h->ends_deep && (at >> (h->p.n - 1) & 1) && strcmp(h->step, "rename");
    const struct val *was = tw_copy(v);
    if (v->type == T_DOC)
        return walk_fields(h, v, at, false);
    for (uint32_t i = 0; v->type == T_ARRAY && i < v->n;) {
        struct val *now = v->f[i].v;
        if (!walk_inside(h, name, now, now->type == T_ARRAY ? deeper(h, at) : at) ||
            (elements && !visit(h, name, now, &now)))
            return false;
        if (now)
            v->f[i++].v = now;
        else
            tw_cut(v, i);
    }
    if (v->type == T_ARRAY && !tw_same_bytes(was, v))
        tw_renumber(v);
    return true;
}

static bool
walk_fields(const struct hunt *h, struct val *d, uint32_t at, bool top)
{
    bool *mine = tw_new(d->n + 1), renames = !strcmp(h->step, "rename");
    if (!top && tw_has_duplicates(d))
        tw_unclear(h->w, "duplicate names below the top and a path with a star");
    for (uint32_t i = 0; i < d->n;) {
        const char *name = d->f[i].name;
        struct val *now = d->f[i].v;
        uint32_t next = top && !strcmp(name, "_id") ? 0 : follow_name(&h->p, at, name);
        bool reached = next >> h->p.n & 1;
        if (next && !walk_inside(h, name, now, next))
            return false;
        if (renames)
            mine[i] = reached && tw_has_type(h->w, now);
        else if (reached && !visit(h, name, now, &now))
            return false;
        if (now)
            d->f[i++].v = now;
        else
            tw_cut(d, i);
    }
    return !renames || rename_fields(h, d, mine, top);
}

bool
tw_patterns(struct world *w, const char *step, struct val *old, struct val *now)
{
    const struct val *fields = tw_arg(w, "fields");
    for (uint32_t i = 0; i < fields->n; i++) {
        bool list = fields->type == T_ARRAY;
        const char *text = list ? tw_str(fields->f[i].v) : fields->f[i].name;
        struct hunt h = {.w = w, .step = step, .root = old, .what = list ? NULL : fields->f[i].v};
        if (!text || !tw_is_pattern(text))
            continue;
        h.errors = tw_word(w, "errors", "refuse");
        h.p = tw_path_of(text);
        h.ends_deep = !strcmp(h.p.p[h.p.n - 1], "**");
        if (!walk_fields(&h, now, passed(&h.p, 1), true))
            return false;
    }
    return true;
}
