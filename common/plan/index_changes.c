/* SPDX-License-Identifier: Apache-2.0 */
/* index_changes.c - the indexes that a plan creates, drops and changes, found by comparing the catalog before and
 * after.
 *
 * Steps report only losses; an owner also wants to see the result. This file does not know why an index changed: it
 * compares indexes by name. */
#include "plan_internal.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/catalogue.h"

static const char *
name_of(struct mrs_view index)
{
    struct mrs_val v = mrs_doc_get(index, "name");
    return v.type == MRS_STRING ? (const char *)v.p + 4 : "";
}

/* The index with this name; the search begins after the last one found: both lists usually have the same order, and a
 * dump may have very many. */
static const struct mrs_view *
find(const struct mrs_view *list, uint32_t n, uint32_t *from, const char *name)
{
    MRS_ASSERT(*from <= n && name);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = *from + k < n ? *from + k : *from + k - n;
        if (strcmp(name_of(list[i]), name) == 0) {
            *from = i + 1 < n ? i + 1 : 0;
            return &list[i];
        }
    }
    return NULL;
}

struct mrsi_before *
mrsi_changes_before(struct mrsi_plan *p, struct mrs_catalog *cat)
{
    uint32_t n = mrs_catalog_count(cat);
    struct mrsi_before *b = mrs_arena_alloc(&p->pub.arena, sizeof *b);
    if (!b || !(b->coll = mrs_arena_alloc(&p->pub.arena, (n + 1u) * sizeof *b->coll))) {
        return NULL;
    }
    for (b->n = 0; b->n < n; b->n++) {
        const struct mrs_cat_coll *c = mrs_catalog_at(cat, b->n);
        struct mrs_view *list = NULL;
        if (c->n_index && !(list = mrs_arena_copy(&p->pub.arena, c->index, c->n_index * sizeof *list))) {
            return NULL;
        }
        b->coll[b->n] = (struct mrsi_before_coll){c->coll.ns, list, c->n_index};
    }
    return b;
}

static bool
add(struct mrsi_plan *p, const struct mrs_cat_coll *c, char sign, struct mrs_view index)
{
    MRS_ASSERT((sign == '+' || sign == '-' || sign == '~') && p->n_changes <= p->cap_changes);
    struct mrsi_change *more = mrs_arena_more(&p->pub.arena, p->changes, p->n_changes, &p->cap_changes, sizeof *more);
    if (!more) {
        return false;
    }
    p->changes = more;
    struct mrsi_change *at = &p->changes[p->n_changes++];
    at->sign = sign;
    at->ns = mrs_arena_copy(&p->pub.arena, c->coll.ns, strlen(c->coll.ns) + 1);
    at->index = (struct mrs_view){mrs_arena_copy(&p->pub.arena, index.p, index.n), index.n};
    return at->ns && at->index.p;
}

static bool
compare(struct mrsi_plan *p, const struct mrsi_before *before, const struct mrs_cat_coll *c)
{
    MRS_ASSERT(c->n_index == 0 || c->index);
    const struct mrsi_before_coll none = {0}, *old = &none;
    for (uint32_t i = 0; i < before->n; i++) {
        old = strcmp(before->coll[i].ns, c->coll.ns) == 0 ? &before->coll[i] : old;
    }
    uint32_t now_at = 0, old_at = 0;
    for (uint32_t i = 0; i < old->n; i++) {
        if (!find(c->index, c->n_index, &now_at, name_of(old->index[i])) && !add(p, c, '-', old->index[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < c->n_index; i++) {
        const struct mrs_view *was = find(old->index, old->n, &old_at, name_of(c->index[i]));
        bool same = was ? was->n == c->index[i].n && memcmp(was->p, c->index[i].p, was->n) == 0
                        : strcmp(name_of(c->index[i]), "_id_") == 0;
        if (!same && !add(p, c, was ? '~' : '+', c->index[i])) {
            return false;
        }
    }
    return true;
}

bool
mrsi_changes_after(struct mrsi_plan *p, struct mrs_catalog *cat, const struct mrsi_before *before)
{
    MRS_ASSERT(before->coll || before->n == 0);
    p->n_changes = 0;
    for (uint32_t i = 0; i < mrs_catalog_count(cat); i++) {
        const struct mrs_cat_coll *c = mrs_catalog_at(cat, i);
        if (c->exists && c->kind == MRS_COLL_PLAIN && !compare(p, before, c)) {
            return false;
        }
    }
    return true;
}

/* `unique`, `sparse` ... as words, other options in full. */
void
mrsi_change_words(const struct mrsi_change *c, struct mrs_buf *out)
{
    MRS_ASSERT(c->ns && mrs_view_is_framed(c->index));
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_buf_say(out, "%c %s of %s", c->sign, name_of(c->index), c->ns);
    if (c->sign == '-') {
        return;
    }
    mrs_buf_say(out, ": ");
    mrs_ejson_write_val(mrs_doc_get(c->index, "key"), false, out);
    for (mrs_walk_init(&w, c->index); mrs_walk_next(&w, &e) == 1;) {
        if (strcmp(e.name, "v") == 0 || strcmp(e.name, "key") == 0 || strcmp(e.name, "name") == 0) {
            continue;
        }
        mrs_buf_say(out, ", %s", e.name);
        if (e.v.type != MRS_BOOL || !e.v.p[0]) {
            mrs_buf_byte(out, ' ');
            mrs_ejson_write_val(e.v, false, out);
        }
    }
}
