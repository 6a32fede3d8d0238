/* SPDX-License-Identifier: Apache-2.0 */
/* key_paths.c - which paths can be targets, which can be references, and the overlap of their samples. */
#include "relate.h"
#include <strings.h>

bool
mrsi_path_is_id(const struct mrsi_path *p)
{
    return strcmp(p->text, "_id") == 0;
}

static uint64_t
of_use(const struct mrsi_path *p)
{
    const uint64_t *n = p->count.n;
    return n[MRSI_NUMBER] + n[MRSI_OID] + n[MRSI_UUID] + n[MRSI_TEXT] + n[MRSI_BINARY] - p->count.too_long;
}

bool
mrsi_path_is_unique(const struct mrsi_path *p)
{
    uint64_t n = p->present - p->null;
    double slack = p->exact ? 0.005 * p->in->share : 0.04; /* estimates have an error of 1.6 % */
    return n > 0 && (double)p->distinct >= (1 - slack) * (double)n;
}

/* All fields of an `_id` that is a document. */
static bool
are_id(const struct mrsi_path *const *p, uint32_t parts)
{
    const struct mrsi_path *id = p[0]->parent;
    uint32_t fields = 0, of_id = 0;
    for (uint32_t i = 0; id && i < p[0]->in->paths; i++) {
        fields += p[0]->in->path[i].parent == id;
    }
    for (uint32_t i = 0; i < parts; i++) {
        of_id += p[i]->parent == id;
    }
    return id && mrsi_path_is_id(id) && of_id == parts && fields == parts;
}

bool
mrsi_paths_have_unique_index(const struct mrsi_path *const *p, uint32_t parts)
{
    MRS_ASSERT(parts > 0 && p[0]->in);
    if (are_id(p, parts)) {
        return true;
    }
    for (uint32_t i = 0; i < p[0]->in->indexes; i++) {
        const struct mrsi_seen_index *x = &p[0]->in->index[i];
        if (x->unique && mrs_doc_count(x->key) == parts && mrsi_index_starts_with(x, p, parts)) {
            return true;
        }
    }
    return false;
}

bool
mrsi_path_has_unique_index(const struct mrsi_path *p)
{
    return mrsi_paths_have_unique_index(&p, 1);
}

bool
mrsi_path_is_short_list(const struct mrsi_path *p)
{
    return p->hash && p->kind == MRSI_FIELD && p->ways == 1 && !p->names && p->exact && p->distinct >= 3 &&
           p->distinct == p->in->documents && p->count.n[MRSI_TEXT] == p->present;
}

/* Whether a value of a `targetType` is the name of a collection. */
bool
mrsi_path_names(const struct mrsi_path *kind, uint32_t collection, const struct mrsi_vocabulary *v)
{
    MRS_ASSERT(collection < v->n);
    for (uint32_t i = 0; i < kind->n_frequent; i++) {
        struct mrs_val x = kind->frequent[i].value;
        char text[64];
        struct mrsi_name n;
        if (x.type != MRS_STRING || x.n < 6 || x.n > 64 || mrs_le32(x.p) + 4 != x.n) {
            continue;
        }
        memcpy(text, x.p + 4, x.n - 4);
        mrsi_name_split(text, v, true, &n);
        if (mrsi_name_is_kind(&n, &v->title[collection])) {
            return true;
        }
    }
    return false;
}

/* Few texts, at least two of them the names of collections. */
static bool
names_several(const struct mrsi_path *q, const struct mrsi_vocabulary *v)
{
    uint32_t named = 0;
    for (uint32_t i = 0; i < v->n && named < 2; i++) {
        named += mrsi_path_names(q, i, v);
    }
    return named == 2;
}

/* `res_id`, `objectId`, `ref`: the id of something. */
static bool
names_any(const char *field)
{
    static const char *const words[] = {"res", "resource", "object", "obj", "ref", "reference", "entity", "item",
                                        "record", "target", "subject", "source", "doc", "document", "related",
                                        "content", "linked"};
    struct mrsi_name name;
    mrsi_name_split(field, NULL, true, &name);
    name.n -= name.n > 1 && strcmp(name.word[name.n - 1], "id") == 0;
    for (size_t i = 0; name.n == 1 && i < sizeof words / sizeof *words; i++) {
        if (strcmp(name.word[0], words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A `targetType` next to `targetId`, or `kind`, in any language, next to `id` in an object of its own: few texts, the
 * names of collections. */
const struct mrsi_path *
mrsi_path_kind(const struct mrsi_path *p, const struct mrsi_vocabulary *v)
{
    MRS_ASSERT(p->type || p->types == 0);
    struct mrsi_name name;
    mrsi_name_split(p->last, v, false, &name);
    static const char *const kinds[] = {"type", "Type", "kind", "Kind", "class", "Class", "model", "Model"};
    size_t n = strlen(p->last);
    n -= n > 2 && strncasecmp(p->last + n - 2, "id", 2) == 0 ? 2 : 0; /* `target` of target_id, targetId */
    n -= n > 1 && p->last[n - 1] == '_';
    for (uint32_t i = 0; i < p->in->paths; i++) {
        const struct mrsi_path *q = &p->in->path[i];
        if (q->parent != p->parent || q == p || !q->count.n[MRSI_TEXT] || q->distinct > 20 || q->distinct < 2) {
            continue;
        }
        if (p->parent && name.n == 0 && names_several(q, v)) {
            return q;
        }
        bool general = strcmp(q->last, "model") == 0 || strcmp(q->last, "kind") == 0 || strcmp(q->last, "type") == 0;
        if (general && names_any(p->last) && names_several(q, v)) { /* `model` of res_id */
            return q;
        }
        if (strncmp(q->last, p->last, n) != 0) {
            continue;
        }
        const char *rest = q->last + n + (q->last[n] == '_');
        if (n && *rest == 0 && names_several(q, v)) { /* `owner` of ownerId */
            return q;
        }
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (strcmp(rest, kinds[k]) == 0) {
                return q;
            }
        }
    }
    return NULL;
}

bool
mrsi_path_can_refer(const struct mrsi_path *p)
{
    return p->hash != NULL && (p->kind != MRSI_ANY || p->names || p->hashes) && of_use(p) > 0;
}

/* Also a field of subdocuments in an array, if it is unique in the whole collection. */
bool
mrsi_path_is_key(const struct mrsi_path *p)
{
    MRS_ASSERT(p->in);
    if (!p->hash || p->kind != MRSI_FIELD || p->names || !mrsi_path_is_unique(p) || of_use(p) == 0) {
        return false;
    }
    if (mrsi_path_is_id(p)) {
        return true;
    }
    for (uint32_t i = 0; i < p->ways; i++) {
        if (p->way[i].kind == MRSI_ANY) {
            return false;
        }
    }
    if ((p->present - p->null) * 5 < p->in->documents || p->count.n[MRSI_FRACTION]) {
        return false;
    }
    if (p->count.n[MRSI_NUMBER] * 2 > p->present) {
        return mrsi_path_has_unique_index(p) || mrsi_name_has_id(p);
    }
    return p->distinct >= 10 || mrsi_name_has_id(p) || mrsi_path_has_unique_index(p);
}

/* How many of the first n hashes of a are in b; both sorted. */
static uint32_t
common(const uint64_t *a, uint32_t an, const uint64_t *b, uint32_t bn)
{
    uint32_t n = 0, j = 0;
    for (uint32_t i = 0; i < an; i++) {
        while (j < bn && b[j] < a[i]) {
            j++;
        }
        n += j < bn && b[j] == a[i];
    }
    return n;
}

static uint32_t
up_to(const uint64_t *a, uint32_t n, uint64_t limit)
{
    while (n && a[n - 1] > limit) {
        n--;
    }
    return n;
}

static double
part(const uint64_t *a, uint32_t an, const uint64_t *b, uint32_t bn, uint64_t b_limit, bool *known)
{
    uint32_t n = up_to(a, an, b_limit);
    *known = n >= 12 || (b_limit == UINT64_MAX && n > 0);
    return n ? (double)common(a, n, b, bn) / n : 0;
}

/* The sample of a path: of its values, or of those that are integers, as text or not, by value. */
struct sample {
    const uint64_t *hash;
    uint32_t n;
    uint64_t limit;
    bool mixed; /* integers in both forms: no single sample has them */
};

static struct sample
sample_of(const struct mrsi_path *p, bool as_number)
{
    if (as_number && p->count.digits) {
        return (struct sample){p->number_hash, p->number_hashes, p->number_limit, p->count.n[MRSI_NUMBER] > 0};
    }
    return (struct sample){p->hash, p->hashes, p->limit, false};
}

static double
part_of(const struct mrsi_path *p, const struct mrsi_path *of, bool as_number, bool *known)
{
    struct sample a = sample_of(p, as_number), b = sample_of(of, as_number);
    double d = part(a.hash, a.n, b.hash, b.n, b.limit, known);
    *known = *known && !a.mixed && !b.mixed;
    return d;
}

static const struct mrsi_type_figures *
type_of(const struct mrsi_path *p, uint8_t type)
{
    for (uint32_t i = 0; i < p->types; i++) {
        if (p->type[i].type == type) {
            return &p->type[i];
        }
    }
    return NULL;
}

/* Whether all values of one type are below or above all of the other's. */
static bool
apart(const struct mrsi_path *p, const struct mrsi_path *key, uint8_t type)
{
    const struct mrsi_type_figures *a = type_of(p, type), *b = type_of(key, type);
    return a && b && a->min.type == type && b->min.type == type &&
           (mrs_compare(a->max, b->min) < 0 || mrs_compare(a->min, b->max) > 0);
}

/* If the samples are inconclusive, uses extremes and lengths: false if hardly a value can be in the key. */
bool
mrsi_path_may_be_in(const struct mrsi_path *p, bool as_number, const struct mrsi_path *key)
{
    const uint64_t *a = p->count.n, *b = key->count.n;
    bool sampled = p->in->share < 1 || key->in->share < 1; /* the extremes are those of the sample */
    if (sampled || as_number || p->names || p->count.from_text || key->count.from_text) {
        return true;
    }
    bool ids = a[MRSI_OID] && b[MRSI_OID] && !apart(p, key, MRS_OBJECTID);
    bool numbers = a[MRSI_NUMBER] && b[MRSI_NUMBER] && p->count.least <= key->count.most &&
                   p->count.most >= key->count.least;
    bool texts = a[MRSI_TEXT] && b[MRSI_TEXT] && !apart(p, key, MRS_STRING);
    if (texts) { /* sentences are no references */
        double mine = (double)p->count.text_bytes / (double)a[MRSI_TEXT];
        double its = (double)key->count.text_bytes / (double)b[MRSI_TEXT];
        texts = mine <= 3 * its + 3 && its <= 3 * mine + 3;
    }
    return ids || numbers || texts || (a[MRSI_UUID] && b[MRSI_UUID]) || (a[MRSI_BINARY] && b[MRSI_BINARY]);
}

double
mrsi_sample_contained(const struct mrsi_path *p, bool as_number, const struct mrsi_path *key, bool *known)
{
    return part_of(p, key, as_number, known);
}

double
mrsi_sample_covered(const struct mrsi_path *p, bool as_number, const struct mrsi_path *key, bool *known)
{
    return part_of(key, p, as_number, known);
}
