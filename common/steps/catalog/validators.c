/* SPDX-License-Identifier: Apache-2.0 */
/* validators.c - finds validators that may use a path that a step changes.
 *
 * A validator is a query, a $jsonSchema or both, with two path dialects. Rewriting it safely requires understanding all
 * of it, and a wrong validator makes a restore refuse documents. So this file only checks whether it may use the path:
 * any key or text with the same first name counts, and so does a schema that counts or closes the set of fields. Such a
 * validator is removed, and the report says so. It is user data, so the walk has an explicit stack. */
#include "indexes.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/words.h"

/* The first name of a path, also of "$a.b" and "$$ROOT.a.b". */
static const char *
first_name(const char *text, size_t *n)
{
    while (*text == '$') {
        text++;
    }
    for (int i = 0; i < 2; i++) {
        static const char *const whole[] = {"ROOT.", "CURRENT."};
        if (strncmp(text, whole[i], strlen(whole[i])) == 0) {
            text += strlen(whole[i]);
        }
    }
    *n = strcspn(text, ".");
    return text;
}

/* Do they begin with the same name? A path that ends in `*` stands for every name with its prefix. */
static bool
same_first(const char *text, const char *path)
{
    size_t n, m;
    const char *a = first_name(text, &n), *b = first_name(path, &m);
    bool begins = m && b[m - 1] == '*';
    m -= begins;
    return (n == m || (begins && n > m)) && memcmp(a, b, m) == 0;
}

/* Keywords of a schema or an expression that read all fields. */
static bool
reads_whole_document(const char *text)
{
    static const char *const words[] = {"additionalProperties", "patternProperties", "minProperties", "maxProperties",
                                        "$$ROOT", "$$CURRENT"};
    return MRS_IS_ONE_OF(text, words);
}

/* Is one of the names in a text the name after `**.`, or does it have that prefix, if that ends in a star? */
static bool
any_part(const char *text, const char *path)
{
    bool found = false;
    if (strncmp(path, "**.", 3) != 0) {
        return false;
    }
    size_t m = strlen(path + 3), n;
    bool begins = path[2 + m] == '*';
    m -= begins;
    for (text += strspn(text, "$"); *text && !found; text += n + (text[n] == '.')) {
        n = strcspn(text, ".");
        found = (n == m || (begins && n > m)) && memcmp(text, path + 3, m) == 0;
    }
    return found;
}

static bool
elem_names(const struct mrs_elem *e, const char *path)
{
    const char *text = e->v.type == MRS_STRING ? (const char *)e->v.p + 4 : "";
    return reads_whole_document(e->name) || reads_whole_document(text) || same_first(e->name, path) ||
           same_first(text, path) || any_part(e->name, path) || any_part(text, path);
}

bool
mrsi_names_path(struct mrs_view validator, const char *path)
{
    MRS_ASSERT(mrs_view_is_framed(validator));
    struct mrs_walk stack[MRS_DEPTH_MAX];
    struct mrs_elem e;
    int depth = 1;
    mrs_walk_init(&stack[0], validator);
    while (depth) {
        if (mrs_walk_next(&stack[depth - 1], &e) != 1) {
            depth--;
            continue;
        }
        if (elem_names(&e, path)) {
            return true;
        }
        if (e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY) {
            if (depth == MRS_DEPTH_MAX) {
                return true;
            }
            mrs_walk_init(&stack[depth++], mrs_val_view(e.v));
        }
    }
    return false;
}

/* The options without the validator and its settings. */
static enum mrs_status
leave_out(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view d;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_buf_init(&buf, mrs_catalog_arena(cat)->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &buf);
    mrs_walk_init(&w, cc->options);
    while (mrs_walk_next(&w, &el) == 1) {
        if (strncmp(el.name, "validat", 7) != 0) {
            mrs_build_elem(&b, &el);
        }
    }
    enum mrs_status s = mrs_build_finish(&b, &d, e);
    MRS_THEN(s, mrsi_cat_set_options(cat, cc, d, e));
    mrs_buf_clear(&buf);
    return s;
}

static enum mrs_status
check_side(struct mrs_catalog *cat, const struct mrs_desc *d, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(side < d->n_sides);
    const struct mrs_coll *coll = &d->sides[side].coll;
    struct mrs_cat_coll *cc = mrs_catalog_find(cat, coll->db, coll->coll);
    struct mrs_val v = cc && cc->exists ? mrs_doc_get(cc->options, "validator") : mrs_missing();
    bool whole = false;
    if (v.type != MRS_DOCUMENT || v.n <= 5) {
        return MRS_OK;
    }
    for (uint32_t i = 0; i < d->n_touches; i++) {
        const struct mrs_touch *t = &d->touches[i];
        if (t->side != (int)side || t->kind == 'R') {
            continue;
        }
        whole = whole || (!t->path[0] && t->kind == 'A');
        bool anew = !t->path[0] && t->kind == 'D' && d->family == MRS_FAMILY_MAP;
        if (anew || (t->path[0] && mrsi_names_path(mrs_val_view(v), t->path))) {
            mrs_catalog_note(cat, "the validator of %s left out: it may concern %s", cc->coll.ns,
                             anew ? "fields that documents have no more" : t->path);
            return leave_out(cat, cc, e);
        }
    }
    if (whole) {
        mrs_catalog_note(cat, "the validator of %s stays: documents that come in must satisfy it, or be restored with "
                              "--bypassDocumentValidation", cc->coll.ns);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_cat_validators(struct mrs_catalog *cat, const struct mrs_desc *d, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < d->n_sides && s == MRS_OK; i++) {
        s = check_side(cat, d, i, e);
        MRS_THEN(s, mrsi_views_note_changes(cat, d, i, e));
    }
    return s == MRS_OK ? mrsi_cat_status(cat, e) : s;
}
