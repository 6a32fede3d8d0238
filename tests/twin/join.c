/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - the matches of embed and copy: which documents of `from` belong to which of `into`, by comparing all. */
#include "twin.h"

#include <string.h>

static struct side
side_of(const struct val *spec, bool list_form)
{
    struct side s = {.expr = false};
    const char *text = tw_str(spec);
    if (!list_form) {
        s.path = tw_path(spec);
    } else if (text && text[0] == '$' && text[1] != '$') {
        s.path = tw_path_of(text + 1);
    } else {
        s.expr = true;
        s.e = (struct val *)spec;
    }
    return s;
}

static bool
is_id(const struct side *s)
{
    return !s->expr && s->path.n == 1 && !strcmp(s->path.p[0], "_id");
}

void
tw_join_open(struct world *w, struct join *j, bool copy)
{
    const struct val *m = tw_arg(w, "match");
    memset(j, 0, sizeof *j);
    j->nulls = !strcmp(tw_word(w, "nulls", ""), "match");
    for (uint32_t i = 0; i < m->n && i < 8; i++, j->n++) {
        if (m->type == T_ARRAY) {
            j->from[i] = side_of(tw_get(m->f[i].v, "from"), true);
            j->into[i] = side_of(tw_get(m->f[i].v, "into"), true);
        } else {
            struct val *name = tw_string(m->f[i].name);
            j->from[i] = side_of(name, false);
            j->into[i] = side_of(m->f[i].v, false);
        }
    }
    const char *word = tw_word(w, "reference", NULL);
    if (copy)
        j->into_refers = !is_id(&j->into[0]);
    else
        j->into_refers = word ? !strcmp(word, "into") : is_id(&j->from[0]);
}

int
tw_side_values(struct world *w, const struct side *s, struct val *doc, struct vals *out)
{
    struct vars vars = {.root = doc};
    struct val *v;
    memset(out, 0, sizeof *out);
    if (!s->expr) {
        tw_match_values(doc, &s->path, 0, out);
        return 0;
    }
    if (tw_eval(w, s->e, &vars, &v))
        return 1;
    if (v && v->type == T_ARRAY)
        for (uint32_t i = 0; i < v->n; i++)
            tw_add(out, v->f[i].v);
    else
        tw_add(out, v);
    return 0;
}

bool
tw_key_equal(const struct join *j, const struct val *a, const struct val *b)
{
    if (tw_is_nullish(a) || tw_is_nullish(b))
        return j->nulls && tw_is_nullish(a) && tw_is_nullish(b);
    return !tw_compare(a, b);
}

bool
tw_any_equal(const struct join *j, const struct vals *a, const struct vals *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < b->n; k++)
            if (tw_key_equal(j, a->v[i], b->v[k]))
                return true;
    return false;
}

bool
tw_known(const struct join *j, const struct child *kids, uint32_t n, const struct val *key)
{
    struct vals one = {0};
    tw_add(&one, (struct val *)key);
    for (uint32_t i = 0; i < n; i++)
        if (kids[i].part && tw_any_equal(j, &one, &kids[i].key[0]))
            return true;
    return false;
}

/* Whether it is the key of a document that is refused. */
bool
tw_named(const struct join *j, const struct child *kids, uint32_t n, const struct val *key)
{
    struct vals one = {0};
    tw_add(&one, (struct val *)key);
    for (uint32_t i = 0; i < n; i++)
        if (kids[i].named && tw_any_equal(j, &one, &kids[i].key[0]))
            return true;
    return false;
}

struct child *
tw_children(struct world *w, const struct join *j, struct coll *from)
{
    struct child *kids = tw_new((from->docs.n + 1) * sizeof *kids);
    for (uint32_t i = 0; i < from->docs.n; i++) {
        struct child *k = &kids[i];
        k->doc = from->docs.v[i];
        bool bad = tw_query(w, tw_arg(w, "where"), k->doc, &k->part);
        k->named = bad;
        for (uint32_t p = 0; (k->named || (!bad && k->part)) && p < j->n; p++) {
            bool fails = tw_side_values(w, &j->from[p], k->doc, &k->key[p]);
            bad |= fails;
            k->named &= !fails;
        }
        if (bad) {
            k->part = false;
            k->refused = true;
            tw_refuse(w, from, k->doc, "where or match fails");
        }
    }
    return kids;
}

/* What becomes of every document of `from`. */
void
tw_settle(struct world *w, struct coll *from, struct child *kids, uint32_t n, const char *keep)
{
    const struct val *orphans = tw_arg(w, "orphans");
    const char *policy = orphans && tw_str(orphans) ? tw_str(orphans) : "keep";
    struct coll *other = orphans && orphans->type == T_DOC ? tw_coll(w, tw_get(orphans, "into"), true) : NULL;
    struct vals left = {0};
    struct cand *c = tw_new((n + 1) * sizeof *c);
    bool *refused = tw_new(n + 1);
    uint32_t nc = 0;
    for (uint32_t i = 0; i < n; i++) {
        kids[i].orphan = kids[i].part && !kids[i].matched;
        if (kids[i].orphan && other)
            c[nc++] = (struct cand){kids[i].doc, i, GIVEN};
    }
    if (other)
        tw_conflicts(&other->docs, c, nc, "refuse", refused, false);
    for (uint32_t i = 0; i < n; i++) {
        const struct child *k = &kids[i];
        bool stays = true;
        if (k->refused)
            stays = false;
        else if (k->orphan && other)
            stays = false;
        else if (k->orphan)
            stays = !strcmp(policy, "keep");
        else if (k->part && strcmp(keep, "all") && !k->stay)
            stays = k->cut && !strcmp(keep, "unmatched");
        if (k->orphan && (refused[i] || (!other && !strcmp(policy, "refuse"))))
            tw_refuse(w, from, k->doc, "orphan");
        if (stays)
            tw_add(&left, k->doc);
    }
    if (other)
        tw_admit(&other->docs, c, nc, "refuse", refused, false);
    from->docs = left;
}
