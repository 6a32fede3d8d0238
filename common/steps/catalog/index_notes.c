/* SPDX-License-Identifier: Apache-2.0 */
/* index_notes.c - notes about indexes that stay unchanged while their values or documents change.
 *
 * A unique index refuses duplicates, and one with expireAfterSeconds makes a server delete documents. Both are the
 * owner's decision, so they stay; but a change of their fields is reported before the data is loaded. This file changes
 * no index: indexes.c does. */
#include "indexes.h"
#include "mongoreshape/value.h"
#include "mongoreshape/catalogue.h"

const char *
mrsi_index_name(struct mrs_view index)
{
    struct mrs_val v = mrs_doc_get(index, "name");
    return v.type == MRS_STRING ? (const char *)v.p + 4 : "?";
}

bool
mrsi_index_option(struct mrs_view index, const char *option)
{
    struct mrs_val v = mrs_doc_get(index, option);
    int64_t n;
    return v.type == MRS_BOOL ? v.p[0] != 0 : mrs_val_integral(v, &n) && n != 0;
}

bool
mrsi_index_unique(struct mrs_view index)
{
    return mrsi_index_option(index, "unique") || mrsi_index_option(index, "prepareUnique");
}

bool
mrsi_index_expires(struct mrs_view index)
{
    return mrs_doc_get(index, "expireAfterSeconds").type != MRS_MISSING;
}

uint32_t
mrsi_index_keys(struct mrs_view index)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_val key = mrs_doc_get(index, "key");
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n = 0;
    if (key.type == MRS_DOCUMENT) {
        for (mrs_walk_init(&w, mrs_val_view(key)); mrs_walk_next(&w, &e) == 1;) {
            n++;
        }
    }
    return n;
}

bool
mrsi_index_is_id(struct mrs_view index)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_val key = mrs_doc_get(index, "key");
    return key.type == MRS_DOCUMENT && mrsi_index_keys(index) == 1 &&
           mrs_doc_get(mrs_val_view(key), "_id").type != MRS_MISSING &&
           mrs_doc_get(mrs_val_view(key), "_id").type != MRS_STRING;
}

/* Does the index have a key at, above or below the path, or does its filter test it? */
static bool
covers(struct mrs_view index, const char *path)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_val key = mrs_doc_get(index, "key"), filter = mrs_doc_get(index, "partialFilterExpression");
    struct mrs_walk w;
    struct mrs_elem e;
    size_t n = strlen(path);
    if (key.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(key));
    while (mrs_walk_next(&w, &e) == 1) {
        size_t least = n < e.name_len ? n : e.name_len;
        if (memcmp(e.name, path, least) == 0 && (n == e.name_len || (n > least ? path : e.name)[least] == '.')) {
            return true;
        }
    }
    return filter.type == MRS_DOCUMENT && mrsi_names_path(mrs_val_view(filter), path);
}

void
mrsi_indexes_note_values(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, const char *const *path, uint32_t n)
{
    MRS_ASSERT(path || n == 0);
    for (uint32_t i = 0; i < cc->n_index; i++) {
        struct mrs_view index = cc->index[i];
        uint32_t at = 0;
        while (at < n && !covers(index, path[at])) {
            at++;
        }
        if (at == n) {
            continue;
        }
        if (mrsi_index_unique(index)) {
            mrs_catalog_note(cat, "index %s of %s is unique on %s, which gets new values: a restore fails "
                                  "if they clash", mrsi_index_name(index), cc->coll.ns, path[at]);
        }
        if (mrsi_index_expires(index)) {
            mrs_catalog_note(cat, "index %s of %s expires documents by %s, which gets new values: a server deletes "
                                  "those that are old by them", mrsi_index_name(index), cc->coll.ns, path[at]);
        }
    }
}

static bool
takes_away(const struct mrs_desc *d, int side, const char *path)
{
    for (uint32_t i = 0; i < d->n_touches; i++) {
        if (d->touches[i].side == side && d->touches[i].kind == 'D' && strcmp(d->touches[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

void
mrsi_indexes_note_added(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, const struct mrs_desc *d, int side)
{
    MRS_ASSERT(side >= 0 && (uint32_t)side < d->n_sides);
    for (uint32_t i = 0; i < d->n_touches; i++) {
        const struct mrs_touch *t = &d->touches[i];
        if (t->side == side && t->kind == 'A' && t->path[0] && !takes_away(d, side, t->path)) {
            mrsi_indexes_note_values(cat, cc, &t->path, 1);
        }
    }
}

void
mrsi_indexes_note_arrivals(struct mrs_catalog *cat, const struct mrs_cat_coll *cc)
{
    for (uint32_t i = 0; i < cc->n_index; i++) {
        struct mrs_view index = cc->index[i];
        if (mrsi_index_unique(index) && !mrsi_index_is_id(index)) {
            mrs_catalog_note(cat, "index %s of %s is unique: a restore fails if documents that come in clash in it",
                             mrsi_index_name(index), cc->coll.ns);
        }
        if (mrsi_index_expires(index)) {
            mrs_catalog_note(cat, "index %s of %s expires documents: those that come in as well",
                             mrsi_index_name(index), cc->coll.ns);
        }
    }
}

bool
mrsi_index_named(struct mrs_catalog *cat, const struct mrs_coll *coll, const struct mrs_path *path)
{
    MRS_ASSERT(path->n > 0);
    bool plain = mrsi_index_plain(path);
    if (!plain) {
        mrs_catalog_note(cat, "no index on %s of %s: an index cannot name it", path->text, coll->ns);
    }
    return plain;
}
