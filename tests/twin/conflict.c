/* SPDX-License-Identifier: Apache-2.0 */
/* conflict.c - equal `_id`s with different contents, decided from all candidates at once. */
#include "twin.h"

#include <string.h>

/* `$` begins a name, but for a DBRef: $ref, a text, first, then $id, then $db, a text, or nothing more. */
static bool
has_dollar(const struct val *v)
{
    static const char *const parts[] = {"$ref", "$id", "$db"};
    uint32_t part = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        bool of_dbref = i == part && part < 3 && strcmp(v->f[i].name, parts[part]) == 0 &&
                        (part == 1 || v->f[i].v->type == T_STRING);
        if ((v->f[i].name[0] == '$' || part == 1) && !of_dbref)
            return true;
        part += of_dbref;
    }
    return part == 1;
}

bool
tw_bad_id(const struct val *id)
{
    return !id || id->type == T_ARRAY || id->type == T_REGEX || id->type == T_UNDEFINED ||
           (id->type == T_DOC && has_dollar(id));
}

static bool
clash(const struct val *a, const struct val *b)
{
    const struct val *x = tw_get(a, "_id"), *y = tw_get(b, "_id");
    return x && y && !tw_compare(x, y);
}

/* Does anything else that has this document's `_id` look different? Then the whole key disagrees. */
static bool
disagrees(const struct vals *have, const struct cand *c, uint32_t n, const struct val *doc, const bool *refused,
          bool overwrite)
{
    const struct val *one = doc;
    for (uint32_t i = 0; !overwrite && i < have->n; i++)
        if (clash(have->v[i], doc) && !tw_same_bytes(have->v[i], one))
            return true;
    for (uint32_t i = 0; i < n; i++)
        if (!refused[c[i].source] && clash(c[i].doc, doc) && !tw_same_bytes(c[i].doc, one))
            return true;
    return false;
}

static bool
is_two(const struct vals *have, const struct cand *c, uint32_t n, const struct val *doc, const bool *refused)
{
    uint32_t made = 0, of = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (refused[c[i].source] || !clash(c[i].doc, doc))
            continue;
        of++;
        made |= c[i].made;
    }
    for (uint32_t i = 0; made & MADE_HERE && i < have->n; i++)
        of += clash(have->v[i], doc);
    return made && of > 1;
}

void
tw_conflicts(const struct vals *have, const struct cand *c, uint32_t n, const char *policy, bool *refused,
             bool overwrite)
{
    if (strcmp(policy, "refuse"))
        return;
    bool *hit = tw_new(n + 1);
    for (uint32_t i = 0; i < n; i++)
        hit[i] = !refused[c[i].source] && disagrees(have, c, n, c[i].doc, refused, overwrite);
    for (uint32_t i = 0; i < n; i++)
        refused[c[i].source] |= hit[i];
    for (uint32_t i = 0; i < n; i++)
        hit[i] = !refused[c[i].source] && is_two(have, c, n, c[i].doc, refused);
    for (uint32_t i = 0; i < n; i++)
        refused[c[i].source] |= hit[i];
}

/* What is there keeps its `_id`, to the byte. */
static struct val *
with_id(const struct val *doc, struct val *id)
{
    struct val *now = tw_copy(doc);
    tw_put(now, "_id", tw_copy(id));
    return now;
}

void
tw_admit(struct vals *have, const struct cand *c, uint32_t n, const char *policy,
         const bool *refused, bool overwrite)
{
    uint32_t before = have->n;
    for (uint32_t i = 0; i < n; i++) {
        int at = -1;
        if (refused[c[i].source])
            continue;
        for (uint32_t k = 0; k < have->n; k++) {
            if (!clash(have->v[k], c[i].doc))
                continue;
            if (at < 0)
                at = (int)k;
        }
        if (at < 0)
            tw_add(have, c[i].doc);
        else if (overwrite || !strcmp(policy, "last")) /* in the place of the first */
            have->v[at] = (uint32_t)at < before ? with_id(c[i].doc, tw_get(have->v[at], "_id")) : c[i].doc;
    }
}
