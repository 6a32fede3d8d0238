/* SPDX-License-Identifier: Apache-2.0 */
/* drop_collection.c - the step `drop_collection`: drops a collection with its documents, indexes and options.
 *
 * The engine counts its documents as dropped. A later step may create a collection of the same name. The report names
 * views that read from the dropped one. */
#include "steps/catalog/catalog.h"
#include "steps/kit/invert.h"
#include "steps/kit/describe.h"

struct drop {
    struct mrsi_owned keep;
    struct mrs_coll in;
    bool indexes;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection to drop"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "accepted everywhere; without effect here"},
};

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct drop *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    mrsi_read_coll(&r, mrsi_slot(&r, "in"), &s->in);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    return mrsi_read_end(&r, state);
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct drop *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_CATALOG, e);
    out->whole_only = true;
    mrsi_describe_touch(&t, mrsi_describe_side(&t, &s->in, MRS_ROLE_TAKE, "in"), 'D', "");
    mrsi_describe_not_direct(&t, "it takes a collection away for good" MRSI_DO_CONTRACT);
    mrsi_describe_words(&t, "drops %s with whatever is left in it", s->in.ns);
    mrsi_describe_loss(&t, "the documents left in %s, its options and indexes", s->in.ns);
    mrsi_describe_once(&t, "the collection is gone after it");
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct drop *s = state;
    return mrsi_cat_drop(cat, &s->in, e);
}

const struct mrs_step_type mrsi_step_drop_collection = {
    .name = "drop_collection",
    .summary = "drops a collection",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .example = "in: users_old\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_drop_collection_invert,
    .catalog = catalog,
};
