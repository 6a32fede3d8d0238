/* SPDX-License-Identifier: Apache-2.0 */
/* value_steps.c - suggested steps that change values: cast, copy, link, pack. */
#include "steps.h"
#include <stdio.h>

enum { ROOM = MRSI_PLACE };
static const char *const odd_name = "a name in its path holds a dot, a dollar or a star, or is data";

static uint64_t
count_of(const struct mrsi_path *p, uint8_t type)
{
    for (uint32_t i = 0; i < p->types; i++) {
        if (p->type[i].type == type) {
            return p->type[i].n;
        }
    }
    return 0;
}

static uint64_t
numbers_of(const struct mrsi_path *p)
{
    return count_of(p, MRS_INT32) + count_of(p, MRS_INT64) + count_of(p, MRS_DOUBLE) + count_of(p, MRS_DECIMAL128);
}

/* The type name for `cast` that represents all numbers there: the most frequent type, or a wider one. NULL: none. */
static const char *
number_type(const struct mrsi_path *p)
{
    static const struct {
        uint8_t type;
        const char *name;
    } types[] = {{MRS_INT32, "int"}, {MRS_INT64, "long"}, {MRS_DOUBLE, "double"}, {MRS_DECIMAL128, "decimal"}};
    int best = 0;
    for (int i = 1; i < 4; i++) {
        best = count_of(p, types[i].type) > count_of(p, types[best].type) ? i : best;
    }
    bool wide = p->count.least < INT32_MIN || p->count.most > INT32_MAX;
    bool exact = p->count.least >= -(1ll << 53) && p->count.most <= 1ll << 53; /* a double represents them all */
    if (p->count.n[MRSI_FRACTION] && best < 2) {
        best = 2;
    }
    best = best == 0 && wide ? 1 : best;
    return best == 2 && !exact ? NULL : types[best].name;
}

/* The cast of a reference's values to the type of its target. NULL: none. */
static const char *
reference_type(const struct mrsi_reference *r)
{
    const struct mrsi_path *key = r->to[0];
    if (r->from[0]->count.too_long || r->from[0]->types == 0) {
        return NULL;
    }
    if (count_of(key, MRS_OBJECTID) * 2 > key->present) {
        return "objectId";
    }
    if (numbers_of(key) * 2 > key->present) {
        return number_type(key);
    }
    return count_of(key, MRS_STRING) * 2 > key->present ? "string" : NULL;
}

/* For values of two types, if one converts to the other without loss. */
static const char *
mixed_type(const struct mrsi_path *p)
{
    uint64_t text = count_of(p, MRS_STRING), numbers = numbers_of(p), dates = count_of(p, MRS_DATE);
    uint64_t ids = count_of(p, MRS_OBJECTID), all = p->present - p->null;
    if (text && text + numbers == all && numbers > text && p->count.digits == text) {
        return number_type(p);
    }
    if (text && text + numbers == all && numbers && text >= numbers && !p->count.n[MRSI_FRACTION]) {
        return "string";
    }
    if (text && text + ids == all && ids > text && p->count.from_text == text) {
        return "objectId";
    }
    return text && text + dates == all && dates > text ? "date" : NULL;
}

bool
mrsi_suggest_cast(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char path[ROOM];
    const struct mrsi_path *at = r->reference ? r->reference->from[0] : r->at;
    const char *type = r->reference ? reference_type(r->reference) : mixed_type(at);
    if (at->names || !mrsi_dotted(at, path, sizeof path)) {
        return mrsi_planning_no(p, odd_name);
    }
    if (!type) {
        return mrsi_planning_no(p, "decide which type is right");
    }
    if (strcmp(path, "_id") == 0) {
        return mrsi_planning_no(p, "an _id that changes takes all references with it");
    }
    for (uint32_t i = 0; i < p->x->rules; i++) { /* one cast a path: that of the reference */
        const struct mrsi_rule_found *o = &p->x->rule[i];
        if (!r->reference && o->reference && strcmp(o->rule, "reference-type-differs") == 0 &&
            o->reference->from[0] == at) {
            return mrsi_planning_no(p, "the cast of the reference does it");
        }
    }
    mrs_buf_printf(p->out, "  - cast:\n      in: ");
    mrsi_put_collection(p, r->in);
    mrs_buf_printf(p->out, "\n      fields: { ");
    mrsi_put_word(p, path);
    mrs_buf_printf(p->out, ": %s }\n      errors: keep   # other values stay unchanged\n", type);
    return true;
}

bool
mrsi_suggest_copy(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char of[ROOM], key[ROOM], ref[ROOM];
    const struct mrsi_copied *c = r->copy;
    if (!c) {
        return mrsi_planning_no(p, "decide which fields to copy");
    }
    if (!mrsi_dotted(c->of, of, sizeof of) || !mrsi_dotted(c->beside->to[0], key, sizeof key) ||
        !mrsi_dotted(c->beside->from[0], ref, sizeof ref)) {
        return mrsi_planning_no(p, odd_name);
    }
    if (c->from->parent != c->beside->from[0]->parent) {
        return mrsi_planning_no(p, "the copy is not right next to its reference");
    }
    if (strcmp(c->beside->match, "equal") != 0 && strcmp(c->beside->match, "number") != 0) {
        return mrsi_planning_no(p, "the reference has another type than what it refers to");
    }
    mrs_buf_printf(p->out, "  - copy:\n      from: ");
    mrsi_put_collection(p, c->of->in);
    mrs_buf_printf(p->out, "\n      into: ");
    mrsi_put_collection(p, c->from->in);
    mrs_buf_printf(p->out, "\n      match: { ");
    mrsi_put_word(p, key);
    mrs_buf_printf(p->out, ": ");
    mrsi_put_word(p, ref);
    mrs_buf_printf(p->out, " }\n      fields: { ");
    mrsi_put_word(p, c->from->last);
    mrs_buf_printf(p->out, ": ");
    mrsi_put_field(p, of);
    mrs_buf_printf(p->out, " }\n      replace: true   # overwrite the copies\n      keep: all\n");
    return true;
}

bool
mrsi_suggest_link(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char up[ROOM], down[ROOM];
    const struct mrsi_reference *ref = r->reference, *list = ref->two_way->list;
    if (!mrsi_dotted(ref->from[0], up, sizeof up) || !mrsi_dotted(list->from[0], down, sizeof down)) {
        return mrsi_planning_no(p, odd_name);
    }
    if (strcmp(ref->to[0]->text, "_id") != 0 || strcmp(list->to[0]->text, "_id") != 0 ||
        strcmp(ref->match, "equal") != 0 || strcmp(list->match, "equal") != 0) {
        return mrsi_planning_no(p, "it takes references to _ids of one type");
    }
    mrs_buf_printf(p->out, "  - link:\n      parent: ");
    mrsi_put_collection(p, ref->to[0]->in);
    mrs_buf_printf(p->out, "\n      child: ");
    mrsi_put_collection(p, ref->from[0]->in);
    mrs_buf_printf(p->out, "\n      parent_ref: ");
    mrsi_put_word(p, up);
    mrs_buf_printf(p->out, "\n      child_refs: ");
    mrsi_put_word(p, down);
    mrs_buf_printf(p->out,
                   "\n      derive: child_refs\n      prefer: child   # or parent: the side that decides if both "
                   "disagree\n");
    return true;
}

/* An unused name for the packed field: the word, else the word with `_list`. */
static bool
free_name(const struct mrsi_collection *c, const char *word, char *out, size_t size)
{
    snprintf(out, size, "%ss", word);
    if (mrsi_has_path(c, out)) {
        snprintf(out, size, "%s_list", word);
    }
    return !mrsi_has_path(c, out);
}

static bool
pack_family(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char prefix[ROOM], word[ROOM], as[ROOM + 8];
    snprintf(prefix, sizeof prefix, "%s", r->path);
    size_t n = strlen(prefix) - 1;
    prefix[n] = 0;
    snprintf(word, sizeof word, "%s", prefix);
    while (n && strchr("_- .", word[n - 1])) {
        word[--n] = 0;
    }
    if (r->at->ways != 1 || strpbrk(prefix, ".$*") || !free_name(r->in, word, as, sizeof as)) {
        return mrsi_planning_no(p, "pack takes fields of the root with plain names");
    }
    mrs_buf_printf(p->out, "  - pack:\n      in: ");
    mrsi_put_collection(p, r->in);
    mrs_buf_printf(p->out, "\n      fields: [\"%s*\"]\n      strip: ", prefix);
    mrsi_put_word(p, prefix);
    mrs_buf_printf(p->out, "\n      as: ");
    mrsi_put_word(p, as);
    mrs_buf_byte(p->out, '\n');
    return true;
}

bool
mrsi_suggest_pack(struct mrsi_planning *p, struct mrsi_rule_found *r)
{
    char path[ROOM];
    if (r->at->kind != MRSI_ANY) {
        return pack_family(p, r);
    }
    const struct mrsi_path *map = r->at->parent;
    if (!map || map->lists || !mrsi_dotted(map, path, sizeof path)) {
        return mrsi_planning_no(p, "the names are in an array, or below another odd name");
    }
    if (map->ways != 1) {
        return mrsi_planning_no(p, "it takes a set with $objectToArray inside of a document");
    }
    for (const struct mrsi_path *o = r->in->path; o < r->in->path + r->in->paths; o++) {
        if (o != map && o->ways > map->ways && o->parent == map && o->kind != MRSI_ANY) {
            return mrsi_planning_no(p, "there are other fields among the names that are data");
        }
    }
    mrs_buf_printf(p->out, "  - set:             # to an array of { k: name, v: value }\n      in: ");
    mrsi_put_collection(p, r->in);
    mrs_buf_printf(p->out, "\n      where: { ");
    mrsi_put_word(p, path);
    mrs_buf_printf(p->out, ": { $type: object } }\n      fields: { ");
    mrsi_put_word(p, path);
    mrs_buf_printf(p->out, ": { $objectToArray: ");
    mrsi_put_field(p, path);
    mrs_buf_printf(p->out, " } }\n");
    return true;
}
