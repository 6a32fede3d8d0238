/* SPDX-License-Identifier: Apache-2.0 */
/* place_steps.c - suggested steps that move data: extract, embed, bucket, tree, index. */
#include "inspect/relate/field_names.h"
#include "steps.h"
#include "mongoreshape/words.h"
#include <stdio.h>

enum { ROOM = MRSI_PLACE, ROOM_IN_PARENT = 8 << 20 };
static const char *const another_step = "another step changes the collection: look again at the result";
static const char *const odd_name = "a name in its path holds a dot, a dollar or a star, or is data";

static const struct mrsi_path *
below(const struct mrsi_path *p, const struct mrsi_path *parent, const char *name)
{
    for (const struct mrsi_path *q = p; q < p->in->path + p->in->paths; q++) {
        if (q->parent == parent &&
            (name ? q->kind == MRSI_FIELD && strcmp(q->last, name) == 0 : q->kind == MRSI_EACH)) {
            return q;
        }
    }
    return NULL;
}

/* The name in out, followed by `_` if the elements have such a field. */
static bool
free_field(const struct mrsi_path *each, char *out, size_t size)
{
    size_t n = strlen(out);
    if (below(each, each, out) && n + 2 <= size) {
        memcpy(out + n, "_", 2);
    }
    return !below(each, each, out);
}

/* "postId" for posts. */
static void
reference_name(const struct mrsi_collection *c, char *out, size_t size)
{
    struct mrsi_name n;
    mrsi_name_split(c->name, NULL, true, &n);
    snprintf(out, size, "%sId", n.n ? n.word[n.n - 1] : "parent");
}

static bool
ids_are_unique(const struct mrsi_path *each)
{
    const struct mrsi_path *id = below(each, each, "_id");
    return !id || (id->null == 0 && (id->exact ? id->distinct == id->present
                                               : id->count.n[MRSI_OID] == id->present && id->count.from_text == 0));
}

static void
put_pages(struct mrsi_planning *p, const struct mrsi_path *list, const char *ref)
{
    uint64_t keep = list->length->p99 < 20 ? 20 : list->length->p99;
    mrs_buf_printf(p->out, "\n      leave: { limit: %llu }\n      extracted: rest\n      pages: { size: %llu, ref: ",
                   (unsigned long long)keep, (unsigned long long)keep);
    mrsi_put_word(p, ref);
    mrs_buf_printf(p->out, ", number: page, items: items, flag: hasMore }\n");
}

bool
mrsi_suggest_extract(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char path[ROOM], into[ROOM], ref[ROOM], pos[ROOM];
    const struct mrsi_path *list = r->at, *each = list && list->length ? below(list, list, NULL) : NULL;
    bool outlier = strcmp(r->rule, "outlier-array") == 0;
    uint64_t documents = each ? each->count.n[MRSI_OBJECT] : 0;
    bool values = !documents && (outlier || r->reference); /* many numbers in every document may be a vector */
    if (!each || (!values && documents != each->count.all) || strcmp(r->rule, "repeated-parts") == 0) {
        return mrsi_planning_no(p, "decide what to do with it");
    }
    if (list->lists || list->ways != 1) {
        return mrsi_planning_no(p, "it is not at the top level");
    }
    if (!mrsi_dotted(list, path, sizeof path)) {
        return mrsi_planning_no(p, odd_name);
    }
    if (p->fate[r->in->no] & (MRSI_GONE | MRSI_TAKEN_APART)) {
        return mrsi_planning_no(p, another_step);
    }
    snprintf(into, sizeof into, "%.400s_%.400s", r->in->name, path);
    reference_name(r->in, ref, sizeof ref);
    if (mrsi_is_collection(p->x, r->in, into)) {
        return mrsi_planning_no(p, "a collection of its new name exists");
    }
    if (!outlier && !ids_are_unique(each)) {
        return mrsi_planning_no(p, "its elements have _ids that repeat");
    }
    if (mrsi_has_path(r->in, "hasMore")) {
        return mrsi_planning_no(p, "documents have a field `hasMore` already");
    }
    snprintf(pos, sizeof pos, "position");
    if (!free_field(each, ref, sizeof ref) || !free_field(each, pos, sizeof pos)) {
        return mrsi_planning_no(p, "its elements have fields of the names that it takes");
    }
    mrs_buf_printf(p->out, "  - extract:\n      from: ");
    mrsi_put_collection(p, r->in);
    mrs_buf_printf(p->out, "\n      path: ");
    mrsi_put_word(p, path);
    mrs_buf_printf(p->out, "\n      into: ");
    mrsi_put_new(p, r->in, into);
    if (outlier) {
        put_pages(p, list, ref);
    } else {
        mrs_buf_printf(p->out, "\n      refs: parent\n      parent_ref: ");
        mrsi_put_word(p, ref);
        mrs_buf_printf(p->out, "\n      position: %s   # so that embed can restore the order\n%s", pos,
                       values ? "      value: value\n" : "");
    }
    p->fate[r->in->no] |= MRSI_TAKEN_APART;
    return true;
}

bool
mrsi_suggest_embed(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char ref[ROOM], key[ROOM];
    const struct mrsi_reference *x = r->reference;
    struct mrsi_collection *child = r->in, *parent = x->to[0]->in;
    const char *as = child->name;
    if (!mrsi_dotted(x->from[0], ref, sizeof ref) || !mrsi_dotted(x->to[0], key, sizeof key) || strpbrk(as, ".$*")) {
        return mrsi_planning_no(p, odd_name);
    }
    if (strcmp(x->match, "equal") != 0 && strcmp(x->match, "number") != 0) {
        return mrsi_planning_no(p, "cast the reference first: it has another type than what it refers to");
    }
    if (mrsi_reads_alone(p->x, child) > mrsi_reads_together(p->x, child, parent)) {
        return mrsi_planning_no(p, "the workload reads them on their own");
    }
    if (mrsi_has_path(parent, as)) {
        return mrsi_planning_no(p, "the parent has a field of the collection's name already");
    }
    if (x->to[0]->distinct != x->to[0]->present) {
        return mrsi_planning_no(p, "the key that they name is not unique");
    }
    if ((double)x->per_parent.max * (double)child->size.max + (double)parent->size.max > ROOM_IN_PARENT) {
        return mrsi_planning_no(p, "the largest parents would become too large");
    }
    if ((p->fate[child->no] | p->fate[parent->no]) & (MRSI_GONE | MRSI_TAKEN_APART) ||
        p->fate[child->no] & MRSI_WRITTEN) {
        return mrsi_planning_no(p, "another step changes one of the collections");
    }
    bool one = x->per_parent.max <= 1;
    mrs_buf_printf(p->out, "  - embed:\n      from: ");
    mrsi_put_collection(p, child);
    mrs_buf_printf(p->out, "\n      into: ");
    mrsi_put_collection(p, parent);
    mrs_buf_printf(p->out, "\n      match: { ");
    mrsi_put_word(p, ref);
    mrs_buf_printf(p->out, ": ");
    mrsi_put_word(p, key);
    mrs_buf_printf(p->out, " }\n      as: ");
    mrsi_put_word(p, as);
    mrs_buf_printf(p->out, "\n%s%s      keep: unmatched   # documents without a match stay\n",
                   one ? "      one: true\n      empty: absent\n" : "",
                   strcmp(ref, "_id") == 0 ? "      reference: from   # these documents point, not the others\n" : "");
    p->fate[child->no] |= MRSI_GONE;
    p->fate[parent->no] |= MRSI_WRITTEN;
    return true;
}

/* The series keeps the name of its field, unless a bucket has another field of this name. */
static const char *
name_of_series(const char *path)
{
    static const char *const taken[] = {"_id", "items", "start", "end"};
    const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
    return MRS_IS_ONE_OF(name, taken) ? "series" : name;
}

bool
mrsi_suggest_bucket(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char time[ROOM], series[ROOM], into[ROOM];
    const struct mrsi_collection *c = r->in;
    double step = c->series.step_seconds;
    snprintf(into, sizeof into, "%.400s_buckets", c->name);
    if (!mrsi_dotted(c->series.time, time, sizeof time) || !mrsi_dotted(c->series.series, series, sizeof series)) {
        return mrsi_planning_no(p, odd_name);
    }
    if (p->fate[c->no]) {
        return mrsi_planning_no(p, another_step);
    }
    if (mrsi_is_collection(p->x, c, into)) {
        return mrsi_planning_no(p, "a collection of its new name exists");
    }
    mrs_buf_printf(p->out, "  - bucket:\n      from: ");
    mrsi_put_collection(p, c);
    mrs_buf_printf(p->out, "\n      into: ");
    mrsi_put_new(p, c, into);
    mrs_buf_printf(p->out, "\n      by: { ");
    mrsi_put_word(p, name_of_series(series));
    mrs_buf_printf(p->out, ": ");
    mrsi_put_field(p, series);
    mrs_buf_printf(p->out, " }\n      time: ");
    mrsi_put_word(p, time);
    mrs_buf_printf(p->out,
                   "\n      every: %s\n      max: 1000\n      items: items\n      start: start\n      end: end\n"
                   "      untimed: keep\n      keep: none\n",
                   step <= 60     ? "1h"
                   : step <= 1200 ? "1d"
                                  : "1w");
    p->fate[c->no] |= MRSI_GONE;
    return true;
}

bool
mrsi_suggest_tree(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    const struct mrsi_tree_figures *t = &r->in->tree;
    for (uint32_t i = 0; i < p->x->refs; i++) {
        const struct mrsi_reference *x = p->x->ref[i];
        if (x->from[0] == t->path && x->self &&
            (x->orphans || strcmp(x->match, "equal") != 0 || strcmp(x->to[0]->text, "_id") != 0)) {
            return mrsi_planning_no(p, "nodes name parents that are not there, or not by their _id");
        }
    }
    if (t->cycles) {
        return mrsi_planning_no(p, "some nodes are above themselves");
    }
    if (t->path->ways != 1 || strpbrk(t->path->last, ".$*")) {
        return mrsi_planning_no(p, odd_name);
    }
    if (mrsi_has_path(r->in, "ancestors")) {
        return mrsi_planning_no(p, "`ancestors` exists: use `where` and `replace`");
    }
    if (p->fate[r->in->no]) {
        return mrsi_planning_no(p, another_step);
    }
    mrs_buf_printf(p->out, "  - tree:\n      in: ");
    mrsi_put_collection(p, r->in);
    mrs_buf_printf(p->out, "\n      form: parent\n      to_form: ancestors   # all nodes on the way up, in one array\n"
                           "      names: { parent: ");
    mrsi_put_word(p, t->path->last);
    mrs_buf_printf(p->out, " }\n");
    p->fate[r->in->no] |= MRSI_TAKEN_APART;
    return true;
}

bool
mrsi_suggest_index(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char path[ROOM];
    if (p->fate[r->in->no] & (MRSI_GONE | MRSI_TAKEN_APART)) {
        return mrsi_planning_no(p, another_step);
    }
    if (strcmp(r->rule, "redundant-index") == 0) {
        mrs_buf_printf(p->out, "  - index:\n      in: ");
        mrsi_put_collection(p, r->in);
        mrs_buf_printf(p->out, "\n      drop: [");
        mrsi_put_word(p, r->index);
        mrs_buf_printf(p->out, "]\n");
        return true;
    }
    if (!r->reference) {
        return mrsi_planning_no(p, "decide which one to drop");
    }
    for (uint32_t i = 0; i < r->reference->parts; i++) {
        if (!mrsi_dotted(r->reference->from[i], path, sizeof path)) {
            return mrsi_planning_no(p, odd_name);
        }
    }
    mrs_buf_printf(p->out, "  - index:\n      in: ");
    mrsi_put_collection(p, r->in);
    mrs_buf_printf(p->out, "\n      create: [{ key: { ");
    for (uint32_t i = 0; i < r->reference->parts && mrsi_dotted(r->reference->from[i], path, sizeof path); i++) {
        mrs_buf_printf(p->out, i ? ": 1, " : "");
        mrsi_put_word(p, path);
    }
    mrs_buf_printf(p->out, ": 1 } }]\n");
    return true;
}
