/* SPDX-License-Identifier: Apache-2.0 */
/* index_rules.c - finds indexes that no server builds.
 *
 * A server refuses such an index after the data is loaded, and then builds no index of the collection. An index of the
 * step `index` is refused before anything is read; an index of the dump, which an older server once built, gets a note.
 * The rules are those of servers since 5.0, for every `v` of an index, because mongorestore removes `v`. */
#include "indexes.h"
#include "mongoreshape/value.h"
#include "mongoreshape/words.h"
#include <stdarg.h>
#include <stdio.h>

enum { FIELDS_MAX = 32, EXPIRE_MAX = 2147483647, WEIGHT_MAX = 99999, TEXT_VERSION_MAX = 4 };

struct why {
    char *text;
    size_t size;
};
struct facts { /* about a key */
    uint32_t n, hashed, flat, texts, last_text; /* flat: "2d" */
    bool flat_first, wildcard, gap;  /* gap: a field between texts */
    bool all;                        /* a wildcard over all paths */
    bool odd;                        /* a wildcard whose value is neither 1 nor text */
    const char *kind;                /* "text", "hashed", ...; NULL: only ascending or descending fields */
};

__attribute__((format(printf, 2, 3))) static bool
refuse(struct why *w, const char *fmt, ...)
{
    MRS_ASSERT(fmt && w->size > 0);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(w->text, w->size, fmt, ap);
    va_end(ap);
    return false;
}

static double
number_of(struct mrs_val v)
{
    int64_t n;
    return mrs_val_integral(v, &n) ? (double)n : mrs_val_double(v);
}

/* No part is empty or begins with `$`, except a last `$**` and the parts of a DBRef. */
static bool
path_good(struct why *w, const char *path, bool *wildcard)
{
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, ".");
        if (n == 0) {
            return refuse(w, "the path `%.100s` has an empty part", path);
        }
        bool dbref = p != path && mrs_name_is_dbref(p, n);
        *wildcard = strcmp(p, "$**") == 0;
        if (*p == '$' && !dbref && !*wildcard) {
            return refuse(w, "`%.100s` is no path for an index", path);
        }
        p += n;
        if (!*p) {
            return true;
        }
    }
}

static bool
kind_good(struct why *w, const struct mrs_elem *e, struct facts *f)
{
    static const char *const kinds[] = {"text", "hashed", "2d", "2dsphere", "2dsphere_bucket",
                                        "queryable_encrypted_range"};
    const char *kind = e->v.type == MRS_STRING ? (const char *)e->v.p + 4 : "";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i]) != 0) {
            continue;
        }
        if (f->kind && strcmp(f->kind, kind) != 0) {
            return refuse(w, "%s and %s do not go into one index", f->kind, kind);
        }
        f->gap = f->gap || (i == 0 && f->texts && f->n != f->last_text + 1);
        f->last_text = f->n;
        f->texts += i == 0;
        f->flat_first = f->flat_first || (i == 2 && f->n == 0);
        f->hashed += i == 1;
        f->flat += i == 2;
        f->kind = kind;
        return true;
    }
    if (strcmp(kind, "geoHaystack") == 0) {
        return refuse(w, "geoHaystack is gone since version 5.0: use 2d");
    }
    return refuse(w, "`%.100s` of the key must be 1, -1, text, hashed, 2d or 2dsphere", e->name);
}

static bool
order_good(struct why *w, const struct mrs_elem *e, bool wildcard)
{
    double d = number_of(e->v);
    if (d > 0 || (d < 0 && !wildcard)) {
        return true;
    }
    return refuse(w, "`%.100s` of the key must be 1%s, not %s", e->name, wildcard ? "" : " or -1",
                  d < 0 ? "a negative number" : d == 0 ? "0" : "NaN");
}

static bool
key_good(struct why *w, struct mrs_val key, struct facts *f)
{
    struct mrs_walk walk;
    struct mrs_elem e;
    if (key.type != MRS_DOCUMENT) {
        return refuse(w, "`key` must be a map of path: direction");
    }
    for (mrs_walk_init(&walk, mrs_val_view(key)); mrs_walk_next(&walk, &e) == 1; f->n++) {
        bool wildcard = false;
        if (!path_good(w, e.name, &wildcard) ||
            !(mrs_is_number(e.v) ? order_good(w, &e, wildcard) : kind_good(w, &e, f))) {
            return false;
        }
        if (wildcard && f->wildcard) {
            return refuse(w, "a key has one wildcard at most");
        }
        f->wildcard = f->wildcard || (wildcard && mrs_is_number(e.v));
        f->all = f->all || strcmp(e.name, "$**") == 0;
        f->odd = f->odd || (wildcard && !mrs_is_number(e.v) && strcmp(f->kind, "text") != 0);
    }
    return (f->n > 0 || refuse(w, "`key` names no path")) &&
           (!f->odd || refuse(w, "a wildcard of the key must be 1 or text, not %s", f->kind)) &&
           (f->n <= FIELDS_MAX || refuse(w, "the key has %u fields, and %d is the most", f->n, (int)FIELDS_MAX)) &&
           (f->hashed < 2 || refuse(w, "one field of a key can be hashed, not %u", f->hashed)) &&
           (f->flat < 2 || refuse(w, "one field of a key can be 2d, not %u", f->flat)) &&
           (!f->flat || f->flat_first || refuse(w, "the 2d field must be the first of the key"));
}

/* ---- the filter ---- */
/* One condition on a path. $exists: false is a negation to a server. */
static bool
operator_good(const struct mrs_elem *e)
{
    MRS_ASSERT(e->name);
    static const char *const good[] = {"$eq", "$gt", "$gte", "$lt", "$lte", "$type", "$in", "$geoWithin",
                                       "$geoIntersects", "$comment"};
    int64_t n;
    if (MRS_IS_ONE_OF(e->name, good)) {
        return true;
    }
    bool on = e->v.type == MRS_BOOL ? e->v.p[0] != 0 : !mrs_val_integral(e->v, &n) || n != 0;
    return strcmp(e->name, "$exists") == 0 && on;
}

static bool
condition_good(struct why *w, const struct mrs_elem *field)
{
    struct mrs_walk walk;
    struct mrs_elem e;
    if (field->v.type == MRS_REGEX) {
        return refuse(w, "a partial filter takes no regular expression");
    }
    if (field->v.type != MRS_DOCUMENT) {
        return true;
    }
    for (mrs_walk_init(&walk, mrs_val_view(field->v)); mrs_walk_next(&walk, &e) == 1;) {
        if (e.name[0] != '$') {
            return true; /* an equality with a document */
        }
        if (!operator_good(&e)) {
            return refuse(w, "a partial filter takes no %.40s%s", e.name,
                          strcmp(e.name, "$exists") == 0 ? ": false" : "");
        }
    }
    return true;
}

static bool
filter_good(struct why *w, struct mrs_val filter)
{
    struct mrs_walk stack[MRS_DEPTH_MAX];
    bool list[MRS_DEPTH_MAX] = {false}; /* depths at which the element is a list of filters */
    struct mrs_elem e;
    int depth = 1;
    if (filter.type != MRS_DOCUMENT) {
        return filter.type == MRS_MISSING || refuse(w, "`partialFilterExpression` must be a map");
    }
    mrs_walk_init(&stack[0], mrs_val_view(filter));
    while (depth) {
        if (mrs_walk_next(&stack[depth - 1], &e) != 1) {
            depth--;
            continue;
        }
        bool lists = !list[depth - 1] && (strcmp(e.name, "$and") == 0 || strcmp(e.name, "$or") == 0);
        if (lists || list[depth - 1]) {
            if (e.v.type != (lists ? MRS_ARRAY : MRS_DOCUMENT) || depth == MRS_DEPTH_MAX) {
                return refuse(w, "the partial filter has no list of conditions where one must be");
            }
            list[depth] = lists;
            mrs_walk_init(&stack[depth++], mrs_val_view(e.v));
        } else if (strcmp(e.name, "$comment") == 0) {
            continue;
        } else if (e.name[0] == '$') {
            return refuse(w, "a partial filter takes no %.40s", e.name);
        } else if (!condition_good(w, &e)) {
            return false;
        }
    }
    return true;
}

/* ---- options ---- */
static bool
expiry_good(struct why *w, struct mrs_view index, const struct facts *f)
{
    struct mrs_val v = mrs_doc_get(index, "expireAfterSeconds");
    if (v.type == MRS_MISSING) {
        return true;
    }
    if (f->n != 1 || f->wildcard) {
        return refuse(w, "`expireAfterSeconds` needs a key of one field, and no wildcard");
    }
    double d = mrs_is_number(v) ? number_of(v) : -1;
    return !(d < 0 || d > EXPIRE_MAX) || refuse(w, "`expireAfterSeconds` must be from 0 to %d", (int)EXPIRE_MAX);
}

static bool
within(struct mrs_val v, double least, double most)
{
    return mrs_is_number(v) && number_of(v) >= least && number_of(v) <= most;
}

/* Options of 2d: bounds of the plane, and precision. */
static bool
plane_good(struct why *w, struct mrs_view index)
{
    struct mrs_val bits = mrs_doc_get(index, "bits"), min = mrs_doc_get(index, "min"), max = mrs_doc_get(index, "max");
    if (bits.type != MRS_MISSING && !within(bits, 1, 32)) {
        return refuse(w, "`bits` must be from 1 to 32");
    }
    double from = mrs_is_number(min) ? number_of(min) : -180, to = mrs_is_number(max) ? number_of(max) : 180;
    return from < to || refuse(w, "`min` must be less than `max`");
}

/* ---- text ---- */
static bool
weights_good(struct why *w, struct mrs_val weights)
{
    struct mrs_walk walk;
    struct mrs_elem e;
    if (weights.type != MRS_DOCUMENT) {
        return weights.type == MRS_MISSING || refuse(w, "`weights` must be a map of path: number");
    }
    for (mrs_walk_init(&walk, mrs_val_view(weights)); mrs_walk_next(&walk, &e) == 1;) {
        if (!within(e.v, 1, WEIGHT_MAX)) {
            return refuse(w, "the weight of `%.100s` must be from 1 to %d", e.name, (int)WEIGHT_MAX);
        }
    }
    return true;
}

const char *
mrs_text_language_fault(struct mrs_val v)
{
    static const char *const known[] = {
        "none", "danish", "da", "dutch", "nl", "english", "en", "finnish", "fi", "french", "fr", "german", "de",
        "hungarian", "hu", "italian", "it", "norwegian", "nb", "portuguese", "pt", "romanian", "ro", "russian", "ru",
        "spanish", "es", "swedish", "sv", "turkish", "tr", "arabic", "ara", "farsi", "persian", "fas", "pes",
        "iranian", "dari", "prs", "urdu", "urd", "zhs", "hans", "trad", "zht", "hant",
        "simplified chinese", "traditional chinese"};
    if (v.type == MRS_MISSING) {
        return NULL;
    }
    for (size_t i = 0; v.type == MRS_STRING && i < sizeof known / sizeof *known; i++) {
        if (strcasecmp((const char *)v.p + 4, known[i]) == 0) {
            return NULL;
        }
    }
    return v.type == MRS_STRING ? "a language that no server knows" : "a language that is no text";
}

static bool
text_good(struct why *w, struct mrs_view index)
{
    struct mrs_val by = mrs_doc_get(index, "language_override"), version = mrs_doc_get(index, "textIndexVersion");
    uint32_t n = 0;
    const char *name = by.type == MRS_STRING ? mrs_val_text(by, &n) : "";
    if (by.type != MRS_MISSING && (n == 0 || *name == '$' || memchr(name, '.', n))) {
        return refuse(w, "`language_override` must be the name of a field");
    }
    if (version.type != MRS_MISSING && !within(version, 1, TEXT_VERSION_MAX)) {
        return refuse(w, "`textIndexVersion` must be from 1 to %d", (int)TEXT_VERSION_MAX);
    }
    const char *fault = mrs_text_language_fault(mrs_doc_get(index, "default_language"));
    if (fault) {
        return refuse(w, "`default_language` is %s", fault);
    }
    return weights_good(w, mrs_doc_get(index, "weights"));
}

/* ---- wildcards ---- */
/* The paths of the projection: only the named ones, or all others. */
static bool
projection_good(struct why *w, struct mrs_view index, const struct facts *f)
{
    struct mrs_val v = mrs_doc_get(index, "wildcardProjection");
    struct mrs_walk walk;
    struct mrs_elem e;
    uint32_t n = 0, taken = 0;
    if (mrs_is_nullish(v)) {
        return !f->all || !f->wildcard || f->n == 1 ||
               refuse(w, "`$**` together with other fields needs a `wildcardProjection` without these");
    }
    if (!f->all) {
        return refuse(w, "`wildcardProjection` needs a key with `$**`");
    }
    if (v.type != MRS_DOCUMENT || mrs_val_view(v).n <= MRS_DOC_MIN) {
        return refuse(w, "`wildcardProjection` must name a path");
    }
    for (mrs_walk_init(&walk, mrs_val_view(v)); mrs_walk_next(&walk, &e) == 1;) {
        bool scalar = mrs_is_number(e.v) || e.v.type == MRS_BOOL;
        bool in = mrs_is_number(e.v) ? number_of(e.v) != 0 : e.v.type != MRS_BOOL || e.v.p[0] != 0;
        if (scalar && strcmp(e.name, "_id") != 0) {
            n++;
            taken += in;
        }
    }
    return taken == 0 || taken == n || refuse(w, "`wildcardProjection` takes paths in or leaves paths out, not both");
}

static bool
collation_names_good(struct why *w, struct mrs_view collation)
{
    static const char *const known[] = {"locale",          "strength",  "caseLevel",   "caseFirst",
                                        "numericOrdering", "alternate", "maxVariable", "backwards",
                                        "normalization",   "version"};
    struct mrs_walk walk;
    struct mrs_elem e;
    for (mrs_walk_init(&walk, collation); mrs_walk_next(&walk, &e) == 1;) {
        if (!MRS_IS_ONE_OF(e.name, known)) {
            return refuse(w, "`collation` has no option `%.100s`", e.name);
        }
    }
    return true;
}

bool
mrsi_locale_is_known(struct mrs_val v)
{
    static const char languages[] =
        " af am ar as az be bg bn bo br bs ca ceb chr cs cy da de dsb dz ee el en eo es et eu fa ff fi fil fo "
        "fr fy ga gl gu ha haw he hi hr hsb hu hy id ig in is it iw ja ka kk kl km kn ko kok ku ky la lb lkt "
        "ln lo lt lv mi mk ml mn mo mr ms mt my nb ne nl nn no om or pa pl ps pt ro root ru sa sd se sh si "
        "simple sk sl smn so sq sr sv sw ta te tg th tk tl to tr tt ug uk ur uz vi wae wo xh yi yo zh zu ";
    char word[16];
    const char *text = v.type == MRS_STRING ? (const char *)v.p + 4 : "";
    size_t n = strcspn(text, "_@");
    if (n < 2 || n > 8 || memchr(text, ' ', n)) {
        return false;
    }
    snprintf(word, sizeof word, " %.*s ", (int)n, text);
    return strstr(languages, word);
}

static bool
collation_good(struct why *w, struct mrs_view index, const struct facts *f)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_val v = mrs_doc_get(index, "collation");
    struct mrs_val locale = v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "locale") : mrs_missing();
    if (v.type == MRS_MISSING) {
        return true;
    }
    if (locale.type != MRS_STRING) {
        return refuse(w, "`collation` needs a locale");
    }
    if (!mrsi_locale_is_known(locale)) {
        return refuse(w, "`collation` has a locale that no server knows, `%.40s`: they are like de or en_US",
                      (const char *)locale.p + 4);
    }
    if (!collation_names_good(w, mrs_val_view(v))) {
        return false;
    }
    struct mrs_val strength = mrs_doc_get(mrs_val_view(v), "strength");
    if (strength.type != MRS_MISSING && !within(strength, 1, 5)) {
        return refuse(w, "the strength of a collation must be from 1 to 5");
    }
    bool without = f->kind && (strcmp(f->kind, "text") == 0 || strcmp(f->kind, "2d") == 0);
    return !without || mrs_val_is_text(locale, "simple") ||
           refuse(w, "an index of kind %s takes no collation", f->kind);
}

static bool
options_good(struct why *w, struct mrs_view index, const struct facts *f)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    bool partial = mrs_doc_get(index, "partialFilterExpression").type != MRS_MISSING;
    bool sparse = mrsi_index_option(index, "sparse"), unique = mrsi_index_option(index, "unique");
    if (partial && sparse) {
        return refuse(w, "`sparse` and `partialFilterExpression` exclude each other");
    }
    if (f->hashed && unique) {
        return refuse(w, "a hashed index cannot be unique");
    }
    if (f->wildcard && (unique || sparse)) {
        return refuse(w, "a wildcard index cannot be %s", unique ? "unique" : "sparse");
    }
    if (f->gap) {
        return refuse(w, "text fields must be adjacent in the key");
    }
    bool hidden = mrsi_index_option(index, "hidden");
    if (mrsi_index_is_id(index) && (partial || sparse || hidden || mrsi_index_expires(index))) {
        return refuse(w, "an index on _id takes none of sparse, hidden, expireAfterSeconds, partialFilterExpression");
    }
    struct mrs_val name = mrs_doc_get(index, "name");
    if (mrs_val_is_text(name, "_id_") && !mrsi_index_is_id(index)) {
        return refuse(w, "`_id_` is the name of the index on _id alone");
    }
    if (mrs_val_is_text(name, "") || mrs_val_is_text(name, "*")) {
        return refuse(w, "no index can be called `%s`", mrsi_index_name(index));
    }
    return expiry_good(w, index, f) && projection_good(w, index, f) && (!f->texts || text_good(w, index)) &&
           collation_good(w, index, f) && (!f->flat || plane_good(w, index)) &&
           filter_good(w, mrs_doc_get(index, "partialFilterExpression"));
}

bool
mrsi_index_buildable(struct mrs_view index, char *why, size_t size)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct why w = {why, size};
    struct facts f = {.n = 0};
    *why = 0;
    return key_good(&w, mrs_doc_get(index, "key"), &f) && options_good(&w, index, &f);
}
