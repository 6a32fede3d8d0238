/* SPDX-License-Identifier: Apache-2.0 */
/* laws.c - invariants of every run, for any plan: checked in input, output and report alone.
 *
 * A tag is a number in a field `u`, at any level; gen_clash.c gives one to all contents. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

enum { TAGS = 400 };

static const struct val *
only_step(const struct val *plan, const char **name)
{
    const struct val *steps = tw_get(plan, "steps");
    *name = steps->n == 1 ? steps->f[0].v->f[0].name : "";
    return steps->n == 1 ? steps->f[0].v->f[0].v : NULL;
}

static bool
is_word(const struct val *step, const char *key, const char *word)
{
    const struct val *v = tw_get(step, key);
    return v && tw_str(v) && !strcmp(tw_str(v), word);
}

static bool
broken(const char *law, const char *ns, const struct val *doc)
{
    printf("  %s: %s%s%s\n", law, ns, doc ? " " : "", doc ? tw_json(doc) : "");
    return false;
}

/* ---- the account ---- */
static int64_t
figure(const struct val *row, const char *name)
{
    const struct val *v = tw_get(row, name);
    return v ? tw_num_int64(v) : 0;
}

static bool
balances(const struct val *report, const struct world *got, int64_t *once)
{
    const struct val *rows = tw_get(report, "account");
    bool ok = rows && rows->n;
    *once = 0;
    for (uint32_t i = 0; ok && i < rows->n; i++) {
        const struct val *r = rows->f[i].v;
        const char *ns = tw_str(tw_get(r, "ns"));
        bool last = true;
        ok = figure(r, "before") + figure(r, "created") + figure(r, "entered") ==
             figure(r, "after") + figure(r, "taken") + figure(r, "dropped") + figure(r, "refused");
        for (uint32_t k = i + 1; k < rows->n; k++)
            last = last && strcmp(tw_str(tw_get(rows->f[k].v, "ns")), ns);
        for (uint32_t k = 0; k < got->n && last; k++)
            ok = ok && (strcmp(got->c[k]->ns, ns) || got->c[k]->docs.n == (uint32_t)figure(r, "after"));
        *once += figure(r, "once");
    }
    return ok || broken("the account does not balance", "", report);
}

/* ---- `_id`s ---- */
static uint32_t
with_id(const struct vals *docs, const struct val *id)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < docs->n; i++) {
        const struct val *other = tw_get(docs->v[i], "_id");
        n += other && !tw_compare(other, id);
    }
    return n;
}

static bool
no_new_twins(const struct coll *in, uint32_t n_in, const struct world *got)
{
    for (uint32_t i = 0; i < got->n; i++) {
        const struct vals *docs = &got->c[i]->docs;
        for (uint32_t k = 0; k < docs->n; k++) {
            const struct val *id = tw_get(docs->v[k], "_id");
            bool before = !id || with_id(docs, id) < 2;
            for (uint32_t c = 0; c < n_in && !before; c++)
                before = with_id(&in[c].docs, id) > 1;
            if (!before)
                return broken("an _id is there twice", got->c[i]->ns, docs->v[k]);
        }
    }
    return true;
}

static bool
is_refused(const struct vals *refused, const char *ns, const struct val *doc, bool *used)
{
    for (uint32_t i = 0; i < refused->n; i++) {
        const char *whose = tw_str(tw_get(refused->v[i], "ns"));
        if (!used[i] && whose && !strcmp(whose, ns) && tw_same_bytes(tw_get(refused->v[i], "doc"), doc))
            return used[i] = true;
    }
    return false;
}

/* The collection t is only added to. */
static bool
targets_keep(const struct coll *in, uint32_t n_in, const struct world *got, const struct vals *refused)
{
    bool *used = tw_new(refused->n + 1);
    for (uint32_t c = 0; c < n_in; c++)
        for (uint32_t i = 0; !strcmp(in[c].name, "t") && i < in[c].docs.n; i++) {
            struct val *doc = in[c].docs.v[i], *id = tw_get(doc, "_id");
            bool there = !id || is_refused(refused, in[c].ns, doc, used);
            for (uint32_t k = 0; k < got->n && !there; k++)
                for (uint32_t d = 0; d < got->c[k]->docs.n && !there; d++) {
                    const struct val *now = tw_get(got->c[k]->docs.v[d], "_id");
                    there = !strcmp(got->c[k]->ns, in[c].ns) && now && now->type == id->type && !tw_compare(now, id);
                }
            if (!there)
                return broken("an _id that was there has gone", in[c].ns, doc);
        }
    return true;
}

/* ---- contents ---- */
static void
count_tags(const struct val *v, uint32_t *n)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct val *x = v->f[i].v;
        if (x->type == T_DOC || x->type == T_ARRAY)
            count_tags(x, n);
        else if (v->type == T_DOC && !strcmp(v->f[i].name, "u") && x->type == T_INT32 && tw_as_int(x, 0) < TAGS)
            n[tw_as_int(x, 0)]++;
    }
}

/* Whether the plan itself lets contents go. */
static bool
lets_go(const struct val *step, const char *name)
{
    const struct val *fields = tw_get(step, "fields");
    bool wins = is_word(step, "conflicts", "first") || is_word(step, "conflicts", "last");
    bool shapes = tw_get(step, "drop") || (fields && strcmp(name, "split") && strcmp(name, "copy") &&
                                           strcmp(name, "set") && strcmp(name, "embed"));
    bool cuts = !strcmp(name, "set") && tw_get(fields, "u");
    bool leaves = !strcmp(name, "copy") && is_word(step, "keep", "none");
    return wins || shapes || cuts || leaves || !strcmp(name, "grid");
}

/* What is not refused is in the output: as often as it was, unless equal documents became one. */
static bool
nothing_is_lost(const struct coll *in, uint32_t n_in, const struct val *plan, const struct world *got,
                const struct vals *refused, bool once)
{
    const char *name;
    const struct val *step = only_step(plan, &name);
    uint32_t before[TAGS] = {0}, after[TAGS] = {0};
    bool *used = tw_new(refused->n + 1);
    if (!step || lets_go(step, name))
        return true;
    once |= tw_get(step, "unique") != NULL;
    bool places = !strcmp(name, "embed"); /* overwritten pages, and a field that was there, may go */
    for (uint32_t c = 0; c < n_in; c++)
        for (uint32_t i = 0; i < in[c].docs.n; i++) {
            struct val *doc = in[c].docs.v[i];
            if (is_refused(refused, in[c].ns, doc, used) || (places && !strcmp(in[c].name, "t")))
                continue;
            if (!strcmp(name, "unbucket") && !is_word(step, "keep", "all") && !strcmp(in[c].name, "a") &&
                tw_get(doc, "i"))
                doc = gen_one("i", tw_get(doc, "i")); /* the fields of a bucket beside its items */
            count_tags(doc, before);
        }
    for (uint32_t c = 0; c < got->n; c++)
        for (uint32_t i = 0; i < got->c[c]->docs.n; i++)
            count_tags(got->c[c]->docs.v[i], after);
    for (uint32_t u = 0; u < TAGS; u++)
        if (once ? before[u] && !after[u] : after[u] < before[u])
            return broken("contents are lost", tw_text("u: %u, %u times, %u times now", u, before[u], after[u]), NULL);
    return true;
}

bool
laws_hold(const struct coll *in, uint32_t n_in, const struct val *plan, const struct world *got,
          const struct vals *refused, const struct val *report)
{
    int64_t once = 0;
    bool ok = balances(report, got, &once);
    ok &= no_new_twins(in, n_in, got);
    ok &= targets_keep(in, n_in, got, refused);
    return nothing_is_lost(in, n_in, plan, got, refused, once > 0) && ok;
}
