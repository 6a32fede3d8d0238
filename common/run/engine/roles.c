/* SPDX-License-Identifier: Apache-2.0 */
/* roles.c - notes roles of the dump whose privileges name a collection from which documents or fields are moved, and
 * users and roles with rights on a whole database that documents leave.
 *
 * mongorestore restores them unchanged: a role on `orders` neither grants nor denies `orders_archive`, and readWrite on
 * `shop` is nothing on `shop_2024`. The new privileges are the owner's decision, so they are named and none is
 * changed: each role on a collection, and the first of those on a database, which may be many. */
#include "run_engine.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/words.h"
#include <stdio.h>

const struct mrs_step *
mrsi_step_that_takes(const struct mrs_plan *plan, const char *db, const char *coll, bool parts)
{
    MRS_ASSERT(db && coll);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        const struct mrs_desc *d = &plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_touches; k++) {
            const struct mrs_touch *t = &d->touches[k];
            const struct mrs_coll *c = &d->sides[t->side].coll;
            if (t->kind == 'D' && (!t->path[0] || (parts && d->n_sides > 1)) && (!*db || strcmp(c->db, db) == 0) &&
                strcmp(c->coll, coll) == 0) {
                return &plan->steps[i];
            }
        }
    }
    return NULL;
}

struct roles_whole { /* users and roles with rights on a database that documents leave */
    const struct mrs_step *step;
    char who[200], db[MRS_DB_MAX + 1]; /* the first of them */
    uint64_t n;
};

/* The first step that moves documents of the database to another one; NULL: none. */
static const struct mrs_step *
step_that_leaves(const struct mrs_plan *plan, const char *db)
{
    for (uint32_t i = 0; *db && i < plan->n_steps; i++) {
        const struct mrs_desc *d = &plan->steps[i].desc;
        bool from = false, to = false;
        for (uint32_t k = 0; k < d->n_touches; k++) {
            const struct mrs_touch *t = &d->touches[k];
            bool here = strcmp(d->sides[t->side].coll.db, db) == 0;
            from = from || (t->kind == 'D' && !t->path[0] && here);
            to = to || (t->kind == 'A' && !t->path[0] && !here);
        }
        if (from && to) {
            return &plan->steps[i];
        }
    }
    return NULL;
}

static const char *
text_of(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_STRING ? (const char *)v.p + 4 : "";
}

static void
note_role(struct mrsi_engine *en, struct mrs_view role)
{
    MRS_ASSERT(mrs_view_is_framed(role));
    struct mrs_val list = mrs_doc_get(role, "privileges");
    struct mrs_walk w;
    struct mrs_elem e;
    if (list.type != MRS_ARRAY) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &e) == 1;) {
        struct mrs_val r = e.v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(e.v), "resource") : mrs_missing();
        const char *db = r.type == MRS_DOCUMENT ? text_of(mrs_val_view(r), "db") : "";
        const char *coll = r.type == MRS_DOCUMENT ? text_of(mrs_val_view(r), "collection") : "";
        const struct mrs_step *step = *coll ? mrsi_step_that_takes(en->plan, db, coll, true) : NULL;
        if (step) {
            mrs_catalog_note(en->cat, "the role %s.%s has privileges on %s%s%s, which step %u (%s) changes: check what "
                                      "it should grant afterwards", text_of(role, "db"), text_of(role, "role"),
                             db, *db ? "." : "", coll, step->no, step->type->name);
        }
    }
}

/* The database that an entry of `privileges` or of `roles` is about as a whole; "": none. */
static const char *
whole_database(struct mrs_elem e)
{
    struct mrs_view entry = e.v.type == MRS_DOCUMENT ? mrs_val_view(e.v) : mrs_empty_doc();
    struct mrs_val r = mrs_doc_get(entry, "resource");
    return r.type != MRS_DOCUMENT                         ? text_of(entry, "db")
           : *text_of(mrs_val_view(r), "collection") == 0 ? text_of(mrs_val_view(r), "db")
                                                          : "";
}

static void
count_whole(const struct mrsi_engine *en, struct mrs_view doc, struct roles_whole *all)
{
    static const char *const lists[] = {"privileges", "roles"};
    const struct mrs_step *step = NULL;
    const char *db = "";
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct mrs_val list = mrs_doc_get(doc, lists[i]);
        struct mrs_walk w;
        struct mrs_elem e;
        mrs_walk_init(&w, list.type == MRS_ARRAY ? mrs_val_view(list) : mrs_empty_doc());
        while (!step && mrs_walk_next(&w, &e) == 1) {
            db = whole_database(e);
            step = step_that_leaves(en->plan, db);
        }
    }
    if (step && all->n++ == 0) {
        const char *user = text_of(doc, "user");
        all->step = step;
        snprintf(all->db, sizeof all->db, "%s", db);
        snprintf(all->who, sizeof all->who, "%s %.60s.%.120s", *user ? "user" : "role", text_of(doc, "db"),
                 *user ? user : text_of(doc, "role"));
    }
}

static void
note_whole(struct mrsi_engine *en, const struct roles_whole *all)
{
    char others[60] = " has";
    if (all->n > 1) {
        snprintf(others, sizeof others, " and %llu other%s have", (unsigned long long)all->n - 1,
                 all->n == 2 ? "" : "s");
    }
    if (all->n) {
        mrs_catalog_note(en->cat, "the %s%s rights on the database %s, and step %u (%s) moves documents to another: "
                                  "check what to grant there", all->who, others, all->db, all->step->no,
                         all->step->type->name);
    }
}

static bool
has_rights(const struct mrs_input_ns *in)
{
    static const char *const ns[] = {"admin.system.roles", "admin.system.users"};
    static const char roles[] = "$admin.system.roles.bson", users[] = "$admin.system.users.bson";
    if (in->kind == MRS_INPUT_DATA) {
        return in->data_path && MRS_IS_ONE_OF(in->ns, ns);
    }
    const char *slash = strrchr(in->rel_path, '/'), *name = slash ? slash + 1 : "";
    return in->kind == MRS_INPUT_EXTRA &&
           (strncmp(name, roles, sizeof roles - 1) == 0 || strncmp(name, users, sizeof users - 1) == 0);
}

enum mrs_status
mrsi_note_roles(struct mrsi_engine *en, struct mrs_err *e)
{
    struct roles_whole all = {.n = 0};
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(en->in); i++) {
        struct mrs_reader *r = NULL;
        struct mrs_block b;
        struct mrs_err ignored;
        if (!has_rights(mrs_input_at(en->in, i))) {
            continue;
        }
        mrs_err_clear(&ignored);
        mrs_block_init(&b, en->mem);
        s = mrs_reader_open(en->in, i, MRSI_BLOCK, &r, e);
        while (s == MRS_OK && (s = mrs_reader_next(r, &b, e)) == MRS_OK) {
            for (size_t at = 0; at < b.n;) {
                struct mrs_view doc = {b.p + at, mrs_le32(b.p + at)};
                at += doc.n;
                /* copying it reports damage */
                if (mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, &ignored) == MRS_OK) {
                    note_role(en, doc);
                    count_whole(en, doc, &all);
                }
            }
        }
        mrs_reader_close(r);
        mrs_block_clear(&b);
        s = s == MRS_END ? MRS_OK : s;
    }
    note_whole(en, &all);
    return s;
}
