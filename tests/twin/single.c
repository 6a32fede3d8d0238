/* SPDX-License-Identifier: Apache-2.0 */
/* single.c - the steps on one document at a time. */
#include "twin.h"

#include <stdlib.h>
#include <string.h>

typedef bool (*one_fn)(struct world *w, struct val *old, struct val *now, const char **why);

/* Runs fn on every document that takes part; false refuses. */
static void
each(struct world *w, one_fn fn)
{
    struct coll *c = tw_coll(w, tw_arg(w, "in"), false);
    struct vals out = {0};
    for (uint32_t i = 0; i < c->docs.n; i++) {
        struct val *old = c->docs.v[i], *now = tw_copy(old);
        const char *why = "where fails";
        bool part, ok = !tw_query(w, tw_arg(w, "where"), old, &part);
        if (ok && part)
            ok = fn(w, old, now, &why);
        if (ok && tw_has_duplicates(old) && !tw_same_bytes(old, now)) {
            ok = false;
            why = "duplicate names";
        }
        if (!ok)
            tw_refuse(w, c, old, why);
        else
            tw_add(&out, now);
    }
    c->docs = out;
}

/* ---- set */
static bool
set_one(struct world *w, struct val *old, struct val *now, const char **why)
{
    const struct val *fields = tw_arg(w, "fields");
    const char *errors = tw_word(w, "errors", "refuse");
    struct vars vars = {.root = old};
    for (uint32_t i = 0; i < fields->n; i++) {
        struct path p = tw_path_of(fields->f[i].name);
        struct val *v;
        if (tw_is_pattern(fields->f[i].name))
            continue;
        bool id = !strcmp(p.p[0], "_id");
        if (tw_eval(w, fields->f[i].v, &vars, &v)) {
            *why = "an expression fails";
            if (!strcmp(errors, "refuse"))
                return false;
            if (!strcmp(errors, "keep"))
                continue;
            v = !strcmp(errors, "null") ? tw_null() : NULL;
        }
        if (id && tw_bad_id(v)) {
            *why = "no _id";
            return false;
        }
        if (!v) {
            tw_remove(now, &p);
            continue;
        }
        enum put r = tw_probe(now, &p, true);
        *why = "blocked";
        if (r == PUT_BLOCKED && !strcmp(errors, "refuse"))
            return false;
        if (r == PUT_DUPLICATES && p.n > 1 && !tw_has_duplicates(now))
            tw_unclear(w, "duplicate names below the top");
        if (r == PUT_OK || r == PUT_DUPLICATES) /* each() refuses what changed and has duplicate names */
            tw_write(now, &p, v);
    }
    *why = "a path with a star";
    bool ok = tw_patterns(w, "set", old, now);
    tw_fix_names(old, now);
    return ok;
}

static bool
same_id(const struct val *a, const struct val *b)
{
    const struct val *x = tw_get(a, "_id"), *y = tw_get(b, "_id");
    return x && y && !tw_compare(x, y);
}

/* Whether a document keeps its place: what takes no part does, else the first of those with one `_id`, if none is
 * there. */
static bool
stands(struct val *const *now, const bool *part, const bool *refused, uint32_t n, uint32_t i)
{
    for (uint32_t k = 0; part[i] && k < n; k++)
        if (!refused[k] && (!part[k] || k < i) && same_id(now[k], now[i]))
            return false;
    return true;
}

/* What is there with conflicts last. One that was there keeps its `_id`. */
static struct val *
last_of(const struct cand *c, uint32_t n, const bool *refused, struct val *doc, bool there)
{
    struct val *last = doc;
    for (uint32_t i = 0; i < n; i++)
        if (!refused[c[i].source] && same_id(c[i].doc, doc))
            last = c[i].doc;
    if (last == doc || !there)
        return last;
    last = tw_copy(last);
    tw_put(last, "_id", tw_copy(tw_get(doc, "_id")));
    return last;
}

/* `_id`s change: the documents that take part are candidates, the others are what is there. */
static void
set_ids(struct world *w)
{
    struct coll *c = tw_coll(w, tw_arg(w, "in"), false);
    struct vals out = {0}, there = {0};
    uint32_t n = c->docs.n, nc = 0;
    struct val **now = tw_new((n + 1) * sizeof *now);
    struct cand *cand = tw_new((n + 1) * sizeof *cand);
    bool *refused = tw_new(n + 1), *part = tw_new(n + 1);
    const char *policy = tw_word(w, "conflicts", "refuse"), *why = "conflict";
    for (uint32_t i = 0; i < n; i++) {
        now[i] = tw_copy(c->docs.v[i]);
        refused[i] = tw_query(w, tw_arg(w, "where"), now[i], &part[i]) ||
                     (part[i] && !set_one(w, c->docs.v[i], now[i], &why)) ||
                     (tw_has_duplicates(c->docs.v[i]) && !tw_same_bytes(now[i], c->docs.v[i]));
        if (!refused[i] && part[i] && !tw_get(c->docs.v[i], "_id"))
            tw_unclear(w, "set _id where there is none");
        if (!refused[i] && part[i])
            cand[nc++] = (struct cand){now[i], i, MADE_HERE};
        else if (!refused[i])
            tw_add(&there, now[i]);
    }
    tw_conflicts(&there, cand, nc, policy, refused, false);
    for (uint32_t i = 0; i < n; i++) {
        struct val *doc = refused[i] ? NULL : now[i];
        bool stays = refused[i] || !part[i], twin = false;
        for (uint32_t k = 0; doc && stays && k < i; k++) /* of those that are there the first has the place */
            twin |= !refused[k] && !part[k] && same_id(now[k], doc);
        if (refused[i])
            tw_refuse(w, c, c->docs.v[i], why);
        if (doc && stands(now, part, refused, n, i))
            tw_add(&out, !twin && !strcmp(policy, "last") ? last_of(cand, nc, refused, doc, stays) : doc);
    }
    c->docs = out;
}

void
tw_step_set(struct world *w)
{
    if (tw_get(tw_arg(w, "fields"), "_id"))
        set_ids(w);
    else
        each(w, set_one);
}

/* ---- unset */
static bool
unset_one(struct world *w, struct val *old, struct val *now, const char **why)
{
    const struct val *list = tw_arg(w, "fields");
    for (uint32_t i = 0; i < list->n; i++) {
        struct path p = tw_path(list->f[i].v);
        *why = "duplicate names";
        if (tw_str(list->f[i].v) && tw_is_pattern(tw_str(list->f[i].v)))
            continue;
        if (tw_remove_needs_duplicates(now, &p))
            return false;
        tw_remove(now, &p);
    }
    bool ok = tw_patterns(w, "unset", old, now);
    tw_fix_names(old, now);
    return ok;
}

void
tw_step_unset(struct world *w)
{
    each(w, unset_one);
}

/* ---- rename: all at once, level by level */
struct move {
    struct path from, to;
    uint32_t shared;
    bool level; /* stays in its document */
};

/* Renames inside one document: the renamed field keeps its place, one that is overwritten goes. */
static bool
rename_level(struct val *doc, const struct move *m, uint32_t n, const uint32_t *mine, uint32_t count, bool replace)
{
    bool *renamed = tw_new(doc->n + 1);
    const char **name = tw_new((doc->n + 1) * sizeof *name);
    uint32_t before = doc->n;
    (void)n;
    for (uint32_t i = 0; i < doc->n; i++)
        name[i] = doc->f[i].name;
    for (uint32_t k = 0; k < count; k++) {
        const struct move *one = &m[mine[k]];
        int at = tw_index(doc, one->from.p[one->from.n - 1]);
        if (at < 0)
            continue;
        if (tw_has_duplicates(doc))
            return false;
        name[at] = one->to.p[one->to.n - 1];
        renamed[at] = true;
    }
    for (uint32_t i = 0, at = 0; i < before; i++, at++) {
        bool gone = false;
        for (uint32_t k = 0; k < before && !renamed[i]; k++)
            gone |= renamed[k] && !strcmp(name[k], name[i]);
        if (gone && !replace)
            return false;
        if (gone)
            tw_cut(doc, at--);
        else
            doc->f[at].name = name[i];
    }
    return true;
}

/* The entries of a map whose paths have no star. */
static struct val *
plain_of(const struct val *map)
{
    struct val *d = tw_doc();
    for (uint32_t i = 0; i < map->n; i++)
        if (!tw_is_pattern(map->f[i].name))
            tw_push(d, map->f[i].name, map->f[i].v);
    return d;
}

static bool
rename_plain(struct world *w, struct val *old, struct val *now, const char **why)
{
    const struct val *map = plain_of(tw_arg(w, "fields"));
    bool replace = tw_flag(w, "replace"), across = false;
    struct move *m = tw_new((map->n + 1) * sizeof *m);
    *why = "rename";
    for (uint32_t i = 0; i < map->n; i++) {
        m[i].from = tw_path_of(map->f[i].name);
        m[i].to = tw_path(map->f[i].v);
        m[i].shared = tw_common(&m[i].from, &m[i].to);
        m[i].level = m[i].from.n == m[i].to.n && m[i].shared + 1 == m[i].from.n;
        across |= !m[i].level;
    }
    if (across && map->n > 1)
        tw_unclear(w, "several renames to another level");
    if (across) { /* one field, to another level */
        struct holders h;
        tw_holders(now, &m[0].from, m[0].shared, &h);
        struct path from = tw_rest(&m[0].from, m[0].shared), to = tw_rest(&m[0].to, m[0].shared);
        for (uint32_t i = 0; i < h.n; i++) {
            struct holders src, dst;
            tw_holders(h.h[i].doc, &from, from.n - 1, &src);
            struct val *v = NULL;
            for (uint32_t k = 0; k < src.n; k++)
                if (tw_get(src.h[k].doc, from.p[from.n - 1]))
                    v = tw_get(src.h[k].doc, from.p[from.n - 1]);
            if (!v)
                continue;
            tw_holders(h.h[i].doc, &to, to.n - 1, &dst);
            if (src.arrays || dst.arrays)
                return false;
            tw_remove(h.h[i].doc, &from);
            if (tw_has_duplicates(h.h[i].doc) || tw_probe(h.h[i].doc, &to, replace) != PUT_OK)
                return false;
            struct val *there = tw_get(h.h[i].doc, to.p[0]);
            if (to.n == 1 && there) /* the overwritten one goes */
                tw_cut(h.h[i].doc, (uint32_t)tw_index(h.h[i].doc, to.p[0]));
            else if (to.n > 1 && replace)
                tw_remove(h.h[i].doc, &to);
            tw_write(h.h[i].doc, &to, v);
        }
        tw_fix_names(old, now);
        return true;
    }
    bool *done = tw_new(map->n + 1);
    for (uint32_t i = map->n; i-- > 0;) { /* deeper levels do not lie below renamed ones in what we generate */
        struct holders h;
        uint32_t *mine = tw_new((map->n + 1) * sizeof *mine), count = 0;
        if (done[i])
            continue;
        for (uint32_t k = 0; k < map->n; k++) {
            struct path a = m[i].from, b = m[k].from;
            a.n--;
            b.n--;
            if (tw_path_same(&a, &b)) {
                mine[count++] = k;
                done[k] = true;
            }
        }
        tw_holders(now, &m[i].from, m[i].from.n - 1, &h);
        for (uint32_t k = 0; k < h.n; k++)
            if (!rename_level(h.h[k].doc, m, map->n, mine, count, replace))
                return false;
        if (h.arrays)
            tw_fix_names(old, now);
    }
    return true;
}

static bool
rename_one(struct world *w, struct val *old, struct val *now, const char **why)
{
    bool ok = rename_plain(w, old, now, why) && tw_patterns(w, "rename", old, now);
    tw_fix_names(old, now);
    return ok;
}

void
tw_step_rename(struct world *w)
{
    each(w, rename_one);
}

/* ---- cast */
/* What a UUID is printed as: hexadecimal digits, in groups of 8, 4, 4, 4 and 12. */
static bool
uuid_of_text(const char *s, uint8_t b[16])
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    char digits[33];
    int n = 0;
    if (strlen(s) != 36)
        return false;
    for (int i = 0; i < 36; i++) {
        if (shape[i] == '-' ? s[i] != '-' : !strchr("0123456789abcdefABCDEF", s[i]))
            return false;
        if (shape[i] != '-')
            digits[n++] = s[i];
    }
    digits[32] = 0;
    for (int i = 0; i < 16; i++) {
        char two[3] = {digits[2 * i], digits[2 * i + 1], 0};
        b[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return true;
}

static int
cast_uuid(const struct val *v, const struct val *to, struct val **out)
{
    static const int csharp[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    static const int java[16] = {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8};
    const char *driver = to->type == T_DOC ? tw_str(to->f[0].v) : "";
    bool back = to->type == T_DOC && !strcmp(to->f[0].name, "legacy_uuid");
    uint8_t raw[21] = {16, 0, 0, 0, back ? 3 : 4};
    if (v->type == T_STRING && !back) {
        if (!uuid_of_text(tw_str(v), raw + 5) || v->len != 41)
            return 1;
    } else {
        if (v->type != T_BINARY || v->len != 21)
            return 1;
        bool stays = v->raw[4] == raw[4];
        if (!stays && (v->raw[4] != (back ? 4 : 3) || !*driver))
            return 1;
        for (int i = 0; i < 16; i++) {
            bool plain = stays || !strcmp(driver, "python");
            raw[5 + i] = v->raw[5 + (plain ? i : !strcmp(driver, "java") ? java[i] : csharp[i])];
        }
    }
    *out = tw_leaf(T_BINARY, raw, sizeof raw);
    return 0;
}

static int
cast_value(struct world *w, struct val *v, const struct val *to, const char *errors, struct val **out, bool *changed)
{
    *out = v;
    if (tw_is_nullish(v) || (v->type != T_ARRAY && !tw_has_type(w, v)))
        return 0;
    if (v->type == T_ARRAY) {
        struct val *list = tw_array();
        for (uint32_t i = 0; i < v->n; i++) {
            struct val *e;
            if (cast_value(w, v->f[i].v, to, errors, &e, changed))
                return 1;
            if (e)
                tw_append(list, e);
        }
        *out = tw_same_bytes(list, v) || !*changed ? v : list;
        return 0;
    }
    struct val *c;
    bool uuid = to->type == T_DOC || !strcmp(tw_str(to), "uuid");
    if (!(uuid ? cast_uuid(v, to, &c) : tw_convert(w, v, tw_str(to), &c))) {
        *changed |= !tw_same_bytes(c, v);
        *out = c;
        return 0;
    }
    if (!strcmp(errors, "refuse"))
        return 1;
    if (strcmp(errors, "keep"))
        *changed = true;
    *out = !strcmp(errors, "keep") ? v : !strcmp(errors, "null") ? tw_null() : NULL;
    return 0;
}

int
tw_cast_value(struct world *w, struct val *v, const struct val *to, const char *errors, struct val **out)
{
    bool changed = false;
    return cast_value(w, v, to, errors, out, &changed);
}

static bool
cast_one(struct world *w, struct val *old, struct val *now, const char **why)
{
    const struct val *map = tw_arg(w, "fields");
    const char *errors = tw_word(w, "errors", "refuse");
    *why = "cast";
    for (uint32_t i = 0; i < map->n; i++) {
        struct path p = tw_path_of(map->f[i].name);
        const char *name = p.p[p.n - 1];
        struct holders h;
        if (tw_is_pattern(map->f[i].name))
            continue;
        tw_holders(now, &p, p.n - 1, &h);
        for (uint32_t k = 0; k < h.n; k++) {
            struct val *v = tw_get(h.h[k].doc, name), *c;
            if (!v)
                continue;
            if (tw_cast_value(w, v, map->f[i].v, errors, &c))
                return false;
            if (c)
                tw_put(h.h[k].doc, name, c);
            else
                tw_cut(h.h[k].doc, (uint32_t)tw_index(h.h[k].doc, name));
        }
    }
    bool ok = tw_patterns(w, "cast", old, now);
    tw_fix_names(old, now);
    return ok;
}

void
tw_step_cast(struct world *w)
{
    each(w, cast_one);
}

/* ---- replace */
static bool
replace_one(struct world *w, struct val *old, struct val *now, const char **why)
{
    struct vars vars = {.root = old};
    struct val *v = NULL, *own = tw_get(old, "_id");
    bool good = !tw_eval(w, tw_arg(w, "with"), &vars, &v) && v && v->type == T_DOC;
    struct val *id = good ? tw_get(v, "_id") : NULL;
    good = good && (!id || (own && !tw_compare(id, own)));
    *why = "nothing to replace it with";
    if (tw_has_duplicates(old))
        tw_unclear(w, "names that stand twice in what is replaced");
    if (!good)
        return !strcmp(tw_word(w, "errors", "refuse"), "keep");
    now->n = 0;
    if (own)
        tw_push(now, "_id", own);
    for (uint32_t i = 0; i < v->n; i++)
        if (strcmp(v->f[i].name, "_id"))
            tw_push(now, v->f[i].name, v->f[i].v);
    return true;
}

void
tw_step_replace(struct world *w)
{
    each(w, replace_one);
}

/* ---- order */
static bool
order_one(struct world *w, struct val *old, struct val *now, const char **why)
{
    const struct val *list = tw_arg(w, "fields");
    bool named = false;
    *why = "order";
    now->n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        named |= !strcmp(tw_str(list->f[i].v), "_id");
    if (!named && tw_get(old, "_id"))
        tw_put(now, "_id", tw_get(old, "_id"));
    for (uint32_t i = 0; i < list->n; i++) {
        const char *name = tw_str(list->f[i].v);
        if (strchr(name, '.'))
            tw_unclear(w, "order below the top");
        if (tw_get(old, name))
            tw_put(now, name, tw_get(old, name));
    }
    for (uint32_t i = 0; i < old->n; i++)
        if (!tw_get(now, old->f[i].name) || tw_index(old, old->f[i].name) != (int)i)
            tw_push(now, old->f[i].name, old->f[i].v);
    return true;
}

void
tw_step_order(struct world *w)
{
    each(w, order_one);
}

/* ---- pack and unpack */
static bool
is_packed(const struct val *list, const char *name, const char *as)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const char *entry = tw_str(list->f[i].v);
        size_t n = entry ? strlen(entry) : 0;
        if (!entry && !strcmp(tw_str(list->f[i].v->f[0].v), name))
            return true;
        if (entry && n && entry[n - 1] == '*') {
            if (!strncmp(entry, name, n - 1) && strcmp(name, "_id") && strcmp(name, as))
                return true;
        } else if (entry && !strcmp(entry, name)) {
            return true;
        }
    }
    return false;
}

/* With nothing to pack, what is at the path stays. True: nothing is left to write. */
static bool
keep_packed(struct val *doc, const struct path *as, struct val *array)
{
    const char *last = as->p[as->n - 1];
    struct holders h;
    tw_holders(doc, as, as->n - 1, &h);
    uint32_t there = 0;
    for (uint32_t i = 0; i < h.n; i++)
        there += tw_get(h.h[i].doc, last) != NULL;
    if (h.n && there == h.n && !h.nlack)
        return true;
    struct val **old = calloc(h.n + 1, sizeof *old);
    for (uint32_t i = 0; i < h.n; i++)
        old[i] = tw_get(h.h[i].doc, last);
    tw_write(doc, as, array);
    for (uint32_t i = 0; i < h.n; i++)
        if (old[i])
            tw_put(h.h[i].doc, last, old[i]);
    free(old);
    return false;
}

/* The fields as a document instead of a list of pairs. False: refused. */
static bool
pack_document(struct world *w, struct val *now, const struct path *as, const struct val *pairs, const char **why)
{
    struct val *made = tw_doc();
    *why = "fields";
    for (uint32_t i = 0; i < pairs->n; i++) {
        const char *name = tw_str(pairs->f[i].v->f[0].v);
        if (!*name || tw_get(made, name))
            return false;
        tw_push(made, name, pairs->f[i].v->f[1].v);
    }
    *why = "as";
    if (tw_probe(now, as, tw_flag(w, "replace")) != PUT_OK)
        return false;
    tw_write(now, as, made);
    return true;
}

static bool
pack_one(struct world *w, struct val *old, struct val *now, const char **why)
{
    const char *strip = tw_word(w, "strip", "");
    struct path as = tw_path(tw_arg(w, "as"));
    struct val *array = tw_array();
    now->n = 0;
    for (uint32_t i = 0; i < old->n; i++) {
        const char *name = old->f[i].name;
        if (!is_packed(tw_arg(w, "fields"), name, as.p[0])) {
            tw_push(now, name, tw_copy(old->f[i].v));
            continue;
        }
        struct val *item = tw_doc();
        bool begins = !strncmp(name, strip, strlen(strip));
        tw_push(item, tw_word(w, "key", "k"), tw_string(begins ? name + strlen(strip) : name));
        tw_push(item, tw_word(w, "value", "v"), tw_copy(old->f[i].v));
        tw_append(array, item);
    }
    if (!strcmp(tw_word(w, "form", "array"), "document")) {
        if (array->n && !pack_document(w, now, &as, array, why))
            return false;
        if (array->n)
            tw_fix_names(old, now);
        return true;
    }
    *why = "as";
    enum put r = tw_probe(now, &as, tw_flag(w, "replace"));
    if (array->n == 0 && (r == PUT_OK || r == PUT_DUPLICATES) && keep_packed(now, &as, array))
        return true;
    if (r != PUT_OK)
        return false;
    if (array->n)
        tw_write(now, &as, array);
    tw_fix_names(old, now);
    return true;
}

void
tw_step_pack(struct world *w)
{
    each(w, pack_one);
}

static bool
unpack_in(struct world *w, struct val *doc, const char *last, bool top)
{
    int at = tw_index(doc, last);
    struct val *array = at < 0 ? NULL : doc->f[at].v, *made = tw_doc(), *now = tw_doc();
    if (tw_is_nullish(array))
        return true;
    bool document = !strcmp(tw_word(w, "form", "array"), "document");
    if (array->type != (document ? T_DOC : T_ARRAY) || tw_has_duplicates(doc))
        return false;
    for (uint32_t i = 0; i < array->n; i++) {
        struct val *item = array->f[i].v;
        if (document) {
            struct val *pair = tw_doc();
            tw_push(pair, "k", tw_string(array->f[i].name));
            tw_push(pair, "v", item);
            item = pair;
        }
        if (item->type != T_DOC || item->n != 2 || strcmp(item->f[0].name, tw_word(w, "key", "k")) ||
            strcmp(item->f[1].name, tw_word(w, "value", "v")) || !tw_str(item->f[0].v))
            return false;
        const char *name = tw_text("%s%s", tw_word(w, "prefix", ""), tw_str(item->f[0].v));
        bool nul = item->f[0].v->len != strlen(tw_str(item->f[0].v)) + 5;
        if (nul || tw_get(made, name) || (top && !strcmp(name, "_id")))
            return false;
        tw_push(made, name, item->f[1].v);
    }
    if (!top && tw_get(made, last))
        tw_unclear(w, "the positions in an array that takes the place of another one");
    for (uint32_t i = 0; i < doc->n; i++) {
        struct val *v = (int)i == at ? NULL : tw_get(made, doc->f[i].name);
        if (v && !tw_flag(w, "replace"))
            return false;
        if ((int)i != at)
            tw_push(now, doc->f[i].name, v ? v : doc->f[i].v);
        for (uint32_t k = 0; (int)i == at && k < made->n; k++)
            if (tw_index(doc, made->f[k].name) < 0 || tw_index(doc, made->f[k].name) == at)
                tw_push(now, made->f[k].name, made->f[k].v);
    }
    *doc = *now;
    return true;
}

static bool
unpack_one(struct world *w, struct val *old, struct val *now, const char **why)
{
    struct path as = tw_path(tw_arg(w, "as"));
    struct holders h;
    *why = "as";
    tw_holders(now, &as, as.n - 1, &h);
    for (uint32_t i = 0; i < h.n; i++)
        if (!unpack_in(w, h.h[i].doc, as.p[as.n - 1], as.n == 1))
            return false;
    if (as.n > 1) /* at the top no array is rewritten */
        tw_fix_names(old, now);
    return true;
}

void
tw_step_unpack(struct world *w)
{
    each(w, unpack_one);
}
