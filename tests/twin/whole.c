/* SPDX-License-Identifier: Apache-2.0 */
/* whole.c - steps that move complete documents between collections. */
#include "twin.h"

#include <string.h>

struct carry {
    struct coll *from;
    struct val *doc;   /* as it was */
    struct coll *into; /* NULL: stays */
    struct val *made, *stays; /* what goes, and what is left in `from` (NULL: nothing) */
    bool dropped;
};

/* Decides the conflicts of every target and writes both sides. sources: all documents of all `from`, in order. */
static void
deliver(struct world *w, struct coll **from, uint32_t nfrom, struct carry *k, uint32_t n, bool *refused)
{
    const char *policy = tw_word(w, "conflicts", "refuse");
    struct cand *c = tw_new((n + 1) * sizeof *c);
    for (uint32_t t = 0; t < w->n; t++) {
        uint32_t m = 0;
        for (uint32_t i = 0; i < n; i++)
            if (!refused[i] && k[i].into == w->c[t] && k[i].made)
                c[m++] = (struct cand){k[i].made, i, GIVEN};
        tw_conflicts(&w->c[t]->docs, c, m, policy, refused, false);
    }
    for (uint32_t f = 0; f < nfrom; f++) {
        struct vals left = {0};
        for (uint32_t i = 0; i < n; i++) {
            if (k[i].from != from[f])
                continue;
            if (refused[i])
                tw_refuse(w, k[i].from, k[i].doc, "refused");
            else if (k[i].stays && !k[i].dropped)
                tw_add(&left, k[i].stays);
        }
        from[f]->docs = left;
    }
    for (uint32_t t = 0; t < w->n; t++) {
        uint32_t m = 0;
        for (uint32_t i = 0; i < n; i++)
            if (!refused[i] && k[i].into == w->c[t] && k[i].made)
                c[m++] = (struct cand){k[i].made, i, GIVEN};
        if (m)
            tw_admit(&w->c[t]->docs, c, m, policy, refused, false);
    }
}

static struct carry *
all_of(struct coll **from, uint32_t nfrom, uint32_t *n)
{
    uint32_t total = 0;
    for (uint32_t f = 0; f < nfrom; f++)
        total += from[f]->docs.n;
    struct carry *k = tw_new((total + 1) * sizeof *k);
    *n = 0;
    for (uint32_t f = 0; f < nfrom; f++)
        for (uint32_t i = 0; i < from[f]->docs.n; i++)
            k[(*n)++] = (struct carry){.from = from[f], .doc = from[f]->docs.v[i], .stays = from[f]->docs.v[i]};
    return k;
}

static bool
takes_part(struct world *w, struct carry *k, bool *refused)
{
    bool part = false;
    if (tw_query(w, tw_arg(w, "where"), k->doc, &part))
        *refused = true;
    return part && !*refused;
}

void
tw_step_move(struct world *w)
{
    struct coll *from = tw_coll(w, tw_arg(w, "from"), false), *into = tw_coll(w, tw_arg(w, "into"), true);
    struct shape s = {tw_arg(w, "fields"), tw_arg(w, "drop"), tw_word(w, "errors", "refuse"), true};
    uint32_t n;
    struct carry *k = all_of(&from, 1, &n);
    bool *refused = tw_new(n + 1);
    for (uint32_t i = 0; i < n; i++) {
        struct vars vars = {.root = k[i].doc};
        if (!takes_part(w, &k[i], &refused[i]))
            continue;
        k[i].into = into;
        k[i].stays = NULL;
        k[i].made = k[i].doc;
        if ((s.fields || s.drop) && tw_shape(w, &s, &vars, &k[i].made))
            refused[i] = true;
    }
    deliver(w, &from, 1, k, n, refused);
}

void
tw_step_union(struct world *w)
{
    struct val *list = tw_arg(w, "from");
    struct coll *from[32], *into = tw_coll(w, tw_arg(w, "into"), true);
    const char *tag = tw_word(w, "tag", NULL);
    uint32_t n, nf = list->n < 32 ? list->n : 32;
    for (uint32_t i = 0; i < nf; i++)
        from[i] = tw_coll(w, list->f[i].v, false);
    struct carry *k = all_of(from, nf, &n);
    bool *refused = tw_new(n + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = 0;
        if (!takes_part(w, &k[i], &refused[i]))
            continue;
        while (from[f] != k[i].from)
            f++;
        k[i].into = into;
        k[i].stays = NULL;
        k[i].made = tw_copy(k[i].doc);
        if (!tag)
            continue;
        struct path p = tw_path_of(tag);
        enum put r = tw_probe(k[i].made, &p, tw_flag(w, "replace"));
        if (r == PUT_OK || r == PUT_DUPLICATES)
            tw_write(k[i].made, &p, tw_string(list->type == T_DOC ? list->f[f].name : from[f]->name));
        refused[i] = (r != PUT_OK && r != PUT_DUPLICATES) ||
                     (r == PUT_DUPLICATES && !tw_same_bytes(k[i].made, k[i].doc));
    }
    deliver(w, from, nf, k, n, refused);
}

static struct val *
plain_value(struct world *w, struct val *doc, const struct path *p)
{
    struct val *v = doc;
    for (uint32_t i = 0; v && i < p->n; i++) {
        if (v->type == T_ARRAY)
            tw_unclear(w, "by through an array");
        v = v->type == T_DOC ? tw_get(v, p->p[i]) : NULL;
    }
    return v;
}

/* The name that a value has as a collection; NULL: none. */
static const char *
name_of(const struct val *v)
{
    const char *text = "";
    if (!v)
        return NULL;
    if (tw_is_number(v))
        return tw_whole_text(v);
    if (v->type == T_BOOL)
        return v->raw[0] ? "true" : "false";
    if (v->type == T_STRING || v->type == T_SYMBOL)
        return (const char *)v->raw + 4;
    for (int i = 0; v->type == T_OID && i < 12; i++)
        text = tw_text("%s%02x", text, v->raw[i]);
    return *text ? text : NULL;
}

/* The collection that the value of document i names; false: refused. An equal name of an unequal value before it is
 * that one's. */
static bool
by_value(struct world *w, const struct carry *k, uint32_t i, const struct path *by, const char *pattern,
         const struct coll **into, struct coll **out)
{
    struct val *v = plain_value(w, k[i].doc, by);
    const char *name = name_of(v), *star = strchr(pattern, '*');
    *out = NULL;
    if (!name)
        return true;
    for (uint32_t b = 0; b < i; b++) {
        struct val *other = into[b] ? plain_value(w, k[b].doc, by) : NULL;
        if (other && !strcmp(name_of(other), name) && tw_compare(other, v))
            return false;
    }
    const char *full = tw_text("%.*s%s%s", (int)(star - pattern), pattern, name, star + 1);
    size_t n = strlen(name);
    if (!n || strpbrk(name, "$*") || !strcmp(full, k[i].from->name) || full[strlen(full) - 1] == '.' ||
        (v->type == T_STRING && v->len != n + 5) || strlen(k[i].from->db) + 1 + strlen(full) > 255)
        return false;
    *out = tw_coll_named(w, k[i].from->db, full, true);
    if (!*out)
        tw_unclear(w, "more collections than the twin holds");
    into[i] = *out;
    return true;
}

void
tw_step_partition(struct world *w)
{
    struct val *map = tw_arg(w, "into"), *others = tw_arg(w, "others");
    struct coll *from = tw_coll(w, tw_arg(w, "from"), false);
    struct coll *into[32], *rest = others && others->type == T_DOC ? tw_coll(w, tw_get(others, "into"), true) : NULL;
    struct path by = tw_path(tw_arg(w, "by"));
    const char *word = others && tw_str(others) ? tw_str(others) : "keep";
    bool drop = tw_flag(w, "drop");
    uint32_t n, nt = map->n < 32 ? map->n : 32;
    const char *pattern = map->type == T_DOC ? tw_str(tw_get(map, "*")) : NULL;
    for (uint32_t t = 0; t < nt; t++)
        if (!pattern || strcmp(map->f[t].name, "*"))
            into[t] = tw_coll(w, map->type == T_DOC ? map->f[t].v : tw_get(map->f[t].v, "into"), true);
    struct carry *k = all_of(&from, 1, &n);
    const struct coll **named = tw_new((n + 1) * sizeof *named);
    bool *refused = tw_new(n + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (!takes_part(w, &k[i], &refused[i]))
            continue;
        struct val *v = plain_value(w, k[i].doc, &by);
        for (uint32_t t = 0; t < nt && !k[i].into; t++) {
            struct val *want = map->type == T_DOC ? tw_string(map->f[t].name) : tw_get(map->f[t].v, "value");
            bool star = pattern && !strcmp(map->f[t].name, "*");
            if (v && !star && !tw_compare(v, want))
                k[i].into = into[t];
        }
        if (pattern && !k[i].into && !by_value(w, k, i, &by, pattern, named, &k[i].into)) {
            refused[i] = true;
            continue;
        }
        if (k[i].into) {
            k[i].made = tw_copy(k[i].doc);
            if (drop && tw_remove_needs_duplicates(k[i].made, &by))
                refused[i] = true;
            if (drop)
                tw_remove(k[i].made, &by);
        } else if (rest) {
            k[i].into = rest;
            k[i].made = k[i].doc;
        } else if (!strcmp(word, "refuse")) {
            refused[i] = true;
        } else if (!strcmp(word, "drop")) {
            k[i].dropped = true;
        }
        if (k[i].into)
            k[i].stays = NULL;
    }
    deliver(w, &from, 1, k, n, refused);
}

void
tw_step_split(struct world *w)
{
    struct coll *from = tw_coll(w, tw_arg(w, "from"), false), *into = tw_coll(w, tw_arg(w, "into"), true);
    struct val *fields = tw_arg(w, "fields");
    uint32_t n;
    struct carry *k = all_of(&from, 1, &n);
    bool *refused = tw_new(n + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (!takes_part(w, &k[i], &refused[i]))
            continue;
        struct val *cold = tw_include(k[i].doc, fields, false), *hot = tw_copy(k[i].doc), *id = tw_get(hot, "_id");
        for (uint32_t f = 0; f < fields->n; f++) {
            struct path p = tw_path(fields->f[f].v);
            if (p.n > 1)
                tw_unclear(w, "split below the top");
            tw_remove(hot, &p);
        }
        if (!cold->n)
            continue;
        if (!id)
            tw_unclear(w, "split of a document without _id");
        if (tw_has_duplicates(k[i].doc))
            refused[i] = true;
        k[i].into = into;
        k[i].made = tw_include(k[i].doc, fields, true);
        k[i].stays = hot;
    }
    deliver(w, &from, 1, k, n, refused);
}

void
tw_step_rename_collection(struct world *w)
{
    struct coll *c = tw_coll(w, tw_arg(w, "from"), false);
    const struct val *to = tw_arg(w, "into");
    c->db = tw_str(to) ? w->database : tw_str(tw_get(to, "db"));
    c->name = tw_str(to) ? tw_str(to) : tw_str(tw_get(to, "coll"));
    c->ns = tw_text("%s.%s", c->db, c->name);
}

void
tw_step_drop_collection(struct world *w)
{
    struct coll *c = tw_coll(w, tw_arg(w, "in"), false);
    c->docs.n = 0;
    c->gone = true;
}

void
tw_step_delete(struct world *w)
{
    struct coll *c = tw_coll(w, tw_arg(w, "in"), false);
    bool keep = !strcmp(tw_word(w, "errors", "refuse"), "keep");
    struct vals out = {0};
    for (uint32_t i = 0; i < c->docs.n; i++) {
        bool hit = false, fails = tw_query(w, tw_arg(w, "where"), c->docs.v[i], &hit);
        if (fails && !keep)
            tw_refuse(w, c, c->docs.v[i], "where fails");
        else if (fails || !hit)
            tw_add(&out, c->docs.v[i]);
    }
    c->docs = out;
}

/* ---- grid */
static struct vals
axis_values(struct world *w, const struct val *spec)
{
    struct vals all = {0}, out = {0};
    struct vars vars = {.root = tw_doc()};
    struct val *v;
    if (spec->type == T_DOC && tw_get(spec, "from")) {
        const struct coll *c = tw_coll(w, tw_get(spec, "from"), false);
        struct path p = tw_path(tw_get(spec, "field"));
        for (uint32_t i = 0; c && i < c->docs.n; i++)
            tw_match_values(c->docs.v[i], &p, 0, &all);
        for (uint32_t i = 0; i < all.n; i++) {
            bool there = all.v[i] == NULL;
            for (uint32_t k = 0; k < out.n && !there; k++)
                there = !tw_compare(out.v[k], all.v[i]);
            if (!there)
                tw_add(&out, all.v[i]);
        }
    } else if (tw_eval(w, spec, &vars, &v) || !v || v->type != T_ARRAY) {
        w->wrong = "an axis is no list";
    } else {
        for (uint32_t i = 0; i < v->n; i++)
            tw_add(&out, v->f[i].v);
    }
    return out;
}

/* The document made of one combination; NULL: refused. */
static struct val *
grid_document(struct world *w, const char *ns, struct val *axes, enum made *how)
{
    struct shape s = {tw_arg(w, "fields"), NULL, "refuse", false};
    struct vars vars = {.root = axes};
    struct val *body = tw_copy(axes), *id = NULL, *expr = tw_arg(w, "id");
    *how = GIVEN;
    bool fresh = tw_str(expr) && !strcmp(tw_str(expr), "new");
    if (s.fields && tw_shape(w, &s, &vars, &body))
        return NULL;
    if (expr && !fresh) {
        if (tw_eval(w, expr, &vars, &id) || tw_bad_id(id))
            return NULL;
    } else {
        id = fresh ? NULL : tw_get(body, "_id");
        *how = id ? GIVEN : MADE;
        if (!id)
            id = tw_new_id(ns, ns, axes, NULL, tw_array(), false);
        else if (tw_bad_id(id))
            return NULL;
    }
    struct val *made = tw_doc();
    tw_push(made, "_id", id);
    for (uint32_t i = 0; i < body->n; i++)
        if (strcmp(body->f[i].name, "_id"))
            tw_push(made, body->f[i].name, body->f[i].v);
    return made;
}

void
tw_step_grid(struct world *w)
{
    struct val *by = tw_arg(w, "by");
    struct vals *axis = tw_new((by->n + 1) * sizeof *axis);
    uint32_t total = 1, m = 0;
    for (uint32_t i = 0; i < by->n; i++) {
        axis[i] = axis_values(w, by->f[i].v);
        if (total && axis[i].n > 2000 / total)
            return tw_unclear(w, "a large grid");
        total *= axis[i].n;
    }
    struct coll *into = tw_coll(w, tw_arg(w, "into"), true);
    const char *policy = tw_word(w, "conflicts", "refuse");
    struct cand *c = tw_new((total + 1) * sizeof *c);
    struct val **axes = tw_new((total + 1) * sizeof *axes);
    bool *refused = tw_new(total + 1);
    for (uint32_t no = 0; no < total; no++) {
        uint32_t left = no, each = total;
        axes[no] = tw_doc();
        for (uint32_t i = 0; i < by->n; i++) {
            each /= axis[i].n;
            tw_push(axes[no], by->f[i].name, axis[i].v[left / each]);
            left %= each;
        }
        enum made how;
        struct val *made = grid_document(w, into->ns, axes[no], &how);
        refused[no] = !made;
        if (made)
            c[m++] = (struct cand){made, no, how};
    }
    tw_conflicts(&into->docs, c, m, policy, refused, false);
    tw_admit(&into->docs, c, m, policy, refused, false);
    for (uint32_t no = 0; no < total; no++)
        if (refused[no])
            tw_refuse(w, into, axes[no], "refused");
}

/* Options are no documents, but those of a time series have a date each. */
void
tw_step_options(struct world *w)
{
    struct val *series = tw_arg(w, "timeseries");
    struct coll *c = tw_coll(w, tw_arg(w, "in"), false);
    struct vals out = {0};
    if (!c || !series || series->type != T_DOC)
        return;
    for (uint32_t i = 0; i < c->docs.n; i++) {
        struct val *time = tw_get(c->docs.v[i], tw_str(tw_get(series, "timeField")));
        if (time && time->type == T_DATE)
            tw_add(&out, c->docs.v[i]);
        else
            tw_refuse(w, c, c->docs.v[i], "no date");
    }
    c->docs = out;
}
