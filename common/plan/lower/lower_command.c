/* SPDX-License-Identifier: Apache-2.0 */
/* lower_command.c - converts steps to commands: indexes, options, names of collections. */
#include "lower.h"
#include "mongoreshape/catalogue.h"

#define NO_DATABASE "a collection of another database: use the client engine"

/* ---- index ---- */
/* An index for createIndexes, which requires a name. */
static struct mrs_view
named(struct mrsi_lower *l, struct mrs_view index)
{
    struct mrs_buf name;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_buf_init(&name, l->arena->mem, MRS_METADATA_MAX);
    mrsi_lower_open(l);
    mrs_build_val(&l->b, "key", 3, mrs_doc_get(index, "key"));
    if (mrs_doc_get(index, "name").type == MRS_MISSING) {
        mrs_index_default_name(index, &name);
        mrs_build_text(&l->b, "name", (const char *)name.p, (uint32_t)name.n);
    }
    mrs_walk_init(&w, index);
    while (mrs_walk_next(&w, &el) == 1) {
        if (strcmp(el.name, "key") != 0) {
            mrs_build_elem(&l->b, &el);
        }
    }
    l->failed = l->failed || name.bad;
    mrs_buf_clear(&name);
    return mrsi_lower_end(l);
}

const char *
mrsi_lower_index(struct mrsi_lower *l)
{
    const struct mrs_coll *c = l->out->on;
    struct mrs_val drop = mrsi_lower_key(l, "drop"), create = mrsi_lower_key(l, "create");
    struct mrs_walk w;
    struct mrs_elem el;
    bool room = true;
    mrs_walk_init(&w, drop.type == MRS_ARRAY ? mrs_val_view(drop) : mrs_empty_doc());
    while (room && mrs_walk_next(&w, &el) == 1) {
        room = mrsi_lower_command(l, c->db, mrsi_lower_doc(l, "{dropIndexes: %s, index: %v}", c->coll, el.v));
    }
    mrs_walk_init(&w, create.type == MRS_ARRAY ? mrs_val_view(create) : mrs_empty_doc());
    while (room && mrs_walk_next(&w, &el) == 1) {
        struct mrs_view index = named(l, mrs_val_view(el.v));
        room = mrsi_lower_command(l, c->db,
                                  mrsi_lower_doc(l, "{createIndexes: %s, indexes: [%d]}", c->coll, index));
    }
    return room ? NULL : MRSI_LOWER_MANY;
}

/* ---- options ---- */
/* The given options; null becomes the server's default. */
static struct mrs_val
option(struct mrsi_lower *l, const char *key, const char *unset)
{
    struct mrs_val v = mrsi_lower_key(l, key);
    return v.type == MRS_NULL ? mrs_doc_get(mrsi_lower_doc(l, "{v: %s}", unset), "v") : v;
}

const char *
mrsi_lower_options(struct mrsi_lower *l)
{
    const struct mrs_coll *c = l->out->on;
    struct mrs_val v = mrsi_lower_key(l, "validator");
    struct mrs_view all = mrs_empty_doc();
    struct mrs_view d = mrsi_lower_doc(l, "{collMod: %s, validator: %v, validationLevel: %v, validationAction: %v}",
                                       c->coll, v.type == MRS_NULL ? mrs_view_val(all) : v,
                                       option(l, "validationLevel", "strict"), option(l, "validationAction", "error"));
    (void)mrsi_lower_command(l, c->db, d);
    return NULL;
}

/* ---- names ---- */
const char *
mrsi_lower_rename_collection(struct mrsi_lower *l)
{
    const struct mrs_coll *from = &l->out->step->desc.sides[0].coll, *into = &l->out->step->desc.sides[1].coll;
    if (strcmp(from->db, into->db) != 0) {
        return NO_DATABASE;
    }
    (void)mrsi_lower_command(l, "admin", mrsi_lower_doc(l, "{renameCollection: %s, to: %s}", from->ns, into->ns));
    return NULL;
}

const char *
mrsi_lower_drop_collection(struct mrsi_lower *l)
{
    (void)mrsi_lower_command(l, l->out->on->db, mrsi_lower_doc(l, "{drop: %s}", l->out->on->coll));
    return NULL;
}
