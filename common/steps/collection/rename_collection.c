/* SPDX-License-Identifier: Apache-2.0 */
/* rename_collection.c - the step `rename_collection`: renames a collection.
 *
 * Documents, options and indexes stay unchanged, except the uuid: with it a restore could replace the old collection.
 * The new name must be free: to join two collections use `union` or `move`, which have policies for equal `_id`s. */
#include "steps/catalog/catalog.h"
#include "steps/kit/invert.h"
#include "steps/kit/describe.h"

struct rename_coll {
    struct mrsi_owned keep;
    struct mrs_coll from, into;
    bool indexes;
};

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the collection"},
    {"into", MRS_ARG_COLL, true, NULL, "its new name, which must be free"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "accepted everywhere; indexes go with their collection"},
};

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct rename_coll *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    mrsi_read_from_into(&r, &s->from, &s->into);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    return mrsi_read_end(&r, state);
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct rename_coll *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_CATALOG, e);
    out->whole_only = true;
    mrsi_describe_touch(&t, mrsi_describe_side(&t, &s->from, MRS_ROLE_TAKE, "from"), 'D', "");
    mrsi_describe_touch(&t, mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD, "into"), 'A', "");
    mrsi_describe_quiet(&t,
                        "the new name is there only when the old one is gone, and writers would make a new collection "
                        "under the old one: `move` and then `drop_collection` have both alongside writers"
                        MRSI_DO_QUIET);
    mrsi_describe_words(&t, "renames %s to %s", s->from.ns, s->into.ns);
    mrsi_describe_once(&t, "the old name is gone after it");
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct rename_coll *s = state;
    return mrsi_cat_rename(cat, &s->from, &s->into, e);
}

const struct mrs_step_type mrsi_step_rename_collection = {
    .name = "rename_collection",
    .summary = "renames a collection",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_PAIR,
    .example = "from: people\ninto: users\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_rename_collection_invert,
    .catalog = catalog,
};
