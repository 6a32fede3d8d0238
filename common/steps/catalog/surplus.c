/* SPDX-License-Identifier: Apache-2.0 */
/* surplus.c - finds indexes that another index of the collection makes redundant, and indexes that no server builds.
 *
 * Reshaping brings indexes together: a copied one may be a prefix of the index of a reference. Each costs every write,
 * so the report names it. It is never dropped, because a query hint may name it. Indexes that were redundant before the
 * plan are reported only on request. Reads metadata only. */
#include "indexes.h"
#include "mongoreshape/value.h"
#include "mongoreshape/catalogue.h"

enum { SERVER_INDEXES_MAX = 64 }; /* of one collection */

/* 1 ascending, -1 descending, 0 something else (text, hashed, a wildcard). */
static int
direction(const struct mrs_elem *e)
{
    int64_t n = 0;
    if (!mrs_is_number(e->v) || strstr(e->name, "$**")) {
        return 0;
    }
    if (!mrs_val_integral(e->v, &n)) {
        double d = mrs_val_double(e->v);
        n = d > 0 ? 1 : d < 0 ? -1 : 0;
    }
    return n > 0 ? 1 : n < 0 ? -1 : 0;
}

/* Do the keys of b begin with all keys of a, in the same or in reversed directions, and continue? */
static bool
begins_with(struct mrs_val a, struct mrs_val b)
{
    MRS_ASSERT(mrs_val_is_sized(a) && mrs_val_is_sized(b));
    struct mrs_walk w, v;
    struct mrs_elem e, f;
    int turn = 0;
    if (a.type != MRS_DOCUMENT || b.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(a));
    mrs_walk_init(&v, mrs_val_view(b));
    while (mrs_walk_next(&w, &e) == 1) {
        if (mrs_walk_next(&v, &f) != 1 || strcmp(e.name, f.name) != 0) {
            return false;
        }
        int now = direction(&e) * direction(&f);
        if (now == 0 || (turn && now != turn)) {
            return false;
        }
        turn = now;
    }
    bool more = false;
    while (mrs_walk_next(&v, &f) == 1) {
        if (direction(&f) == 0) {
            return false;
        }
        more = true;
    }
    return turn && more;
}

/* Does the index cover only some documents? */
static bool
is_narrow(struct mrs_view index)
{
    return mrsi_index_option(index, "sparse") || mrsi_index_option(index, "hidden") ||
           mrs_doc_get(index, "partialFilterExpression").type != MRS_MISSING;
}

/* Can b replace a? Not if a refuses or expires documents. */
static bool
is_surplus(struct mrs_view a, struct mrs_view b)
{
    return !mrsi_index_is_id(a) && !mrsi_index_unique(a) && !mrsi_index_expires(a) && !is_narrow(a) && !is_narrow(b) &&
           mrs_compare(mrs_doc_get(a, "collation"), mrs_doc_get(b, "collation")) == 0 &&
           begins_with(mrs_doc_get(a, "key"), mrs_doc_get(b, "key"));
}

static bool
in_list(const struct mrs_view *list, uint32_t n, struct mrs_view index)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].n == index.n && memcmp(list[i].p, index.p, index.n) == 0) {
            return true;
        }
    }
    return false;
}

/* Were both in one collection before the plan: this one, or one whose documents are here now? */
static bool
existed_before(struct mrs_catalog *cat, struct mrs_view a, struct mrs_view b)
{
    for (uint32_t i = 0; i < mrs_catalog_count(cat); i++) {
        uint32_t n;
        const struct mrs_view *was = mrsi_cat_was(mrs_catalog_at(cat, i), &n);
        if (in_list(was, n, a) && in_list(was, n, b)) {
            return true;
        }
    }
    return false;
}

static void
note_surplus(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, bool all)
{
    for (uint32_t i = 0; i < cc->n_index; i++) {
        struct mrs_view a = cc->index[i];
        for (uint32_t j = 0; j < cc->n_index; j++) {
            struct mrs_view b = cc->index[j];
            if (is_surplus(a, b) && (all || !existed_before(cat, a, b))) {
                mrs_catalog_note(cat, "index %s of %s is redundant: %s begins with the same keys", mrsi_index_name(a),
                                 cc->coll.ns, mrsi_index_name(b));
                break;
            }
        }
    }
}

/* expireAfterSeconds; NaN is possible, old clients wrote it */
static void
note_expiry(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, struct mrs_view index)
{
    struct mrs_val v = mrs_doc_get(index, "expireAfterSeconds");
    double d = v.type == MRS_DOUBLE ? mrs_val_double(v) : 0;
    if (d != d) {
        mrs_catalog_note(cat, "index %s of %s has NaN as `expireAfterSeconds`, which some servers take for 0, so that "
                              "they delete all documents, and others refuse: make it again with `index`",
                         mrsi_index_name(index), cc->coll.ns);
    }
}

/* A server refuses a second index with the same name. Too many indexes have a note of their own. */
static void
note_namesake(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, uint32_t i)
{
    MRS_ASSERT(i < cc->n_index);
    struct mrs_val name = mrs_doc_get(cc->index[i], "name");
    bool comparable = name.type == MRS_STRING && cc->n_index <= SERVER_INDEXES_MAX, again = false;
    for (uint32_t k = 0; k < i && comparable && !again; k++) {
        again = mrs_identical(mrs_doc_get(cc->index[k], "name"), name);
    }
    if (again) {
        mrs_catalog_note(cat, MRS_NOTE_RESTORE_FAILS "the second index of %s that is called %s", cc->coll.ns,
                         mrsi_index_name(cc->index[i]));
    }
}

static void
note_unbuildable(struct mrs_catalog *cat, const struct mrs_cat_coll *cc)
{
    char why[MRSI_WHY_MAX];
    for (uint32_t i = 0; i < cc->n_index; i++) {
        note_expiry(cat, cc, cc->index[i]);
        note_namesake(cat, cc, i);
        if (!mrsi_index_buildable(cc->index[i], why, sizeof why)) {
            mrs_catalog_note(cat, MRS_NOTE_RESTORE_FAILS "index %s of %s, which no server builds: %s",
                             mrsi_index_name(cc->index[i]), cc->coll.ns, why);
        }
    }
}

enum mrs_status
mrs_catalog_surplus(struct mrs_catalog *c, bool all, struct mrs_err *e)
{
    for (uint32_t i = 0; i < mrs_catalog_count(c); i++) {
        const struct mrs_cat_coll *cc = mrs_catalog_at(c, i);
        if (cc->exists) {
            note_unbuildable(c, cc);
            mrsi_cat_note_other_case(c, cc);
        }
        if (!cc->exists || cc->kind != MRS_COLL_PLAIN) {
            continue;
        }
        if (cc->n_index > SERVER_INDEXES_MAX) {
            mrs_catalog_note(c, MRS_NOTE_RESTORE_FAILS "%s, which has %u indexes, and a server takes %d: drop some "
                                "with the step `index`", cc->coll.ns, cc->n_index, (int)SERVER_INDEXES_MAX);
        }
        if (cc->touched) {
            mrsi_cat_note_replaced(c, cc);
            note_surplus(c, cc, all);
        }
    }
    return mrsi_cat_status(c, e);
}
