/* SPDX-License-Identifier: Apache-2.0 */
/* roles.c - notes roles of the dump whose privileges name a collection from which documents or fields are moved.
 *
 * mongorestore restores the roles unchanged: a role on `orders` neither grants nor denies `orders_archive`. The new
 * privileges are the owner's decision, so each role is named and none is changed. */
#include "run_engine.h"
#include "mongoreshape/catalogue.h"

/* The first step that moves something, or all, out of the collection; NULL: none. */
static const struct mrs_step *
step_that_takes(const struct mrs_plan *plan, const char *db, const char *coll)
{
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        const struct mrs_desc *d = &plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_touches; k++) {
            const struct mrs_touch *t = &d->touches[k];
            const struct mrs_coll *c = &d->sides[t->side].coll;
            if (t->kind == 'D' && (!t->path[0] || d->n_sides > 1) && (!*db || strcmp(c->db, db) == 0) &&
                strcmp(c->coll, coll) == 0) {
                return &plan->steps[i];
            }
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
        const struct mrs_step *step = *coll ? step_that_takes(en->plan, db, coll) : NULL;
        if (step) {
            mrs_catalog_note(en->cat, "the role %s.%s has privileges on %s%s%s, which step %u (%s) changes: check what "
                                      "it should grant afterwards", text_of(role, "db"), text_of(role, "role"),
                             db, *db ? "." : "", coll, step->no, step->type->name);
        }
    }
}

static bool
has_roles(const struct mrs_input_ns *in)
{
    static const char name[] = "$admin.system.roles.bson";
    if (in->kind == MRS_INPUT_DATA) {
        return in->data_path && strcmp(in->ns, "admin.system.roles") == 0;
    }
    const char *slash = strrchr(in->rel_path, '/');
    return in->kind == MRS_INPUT_EXTRA && strncmp(slash ? slash + 1 : "", name, sizeof name - 1) == 0;
}

enum mrs_status
mrsi_note_roles(struct mrsi_engine *en, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(en->in); i++) {
        struct mrs_reader *r = NULL;
        struct mrs_block b;
        struct mrs_err ignored;
        if (!has_roles(mrs_input_at(en->in, i))) {
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
                }
            }
        }
        mrs_reader_close(r);
        mrs_block_clear(&b);
        s = s == MRS_END ? MRS_OK : s;
    }
    return s;
}
