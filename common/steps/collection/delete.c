/* SPDX-License-Identifier: Apache-2.0 */
/* delete.c - the step `delete`: deletes documents.
 *
 * The only step that loses data on purpose, so it requires `where`, counts the dropped documents, and refuses a
 * document for which the query fails; with `errors: keep` such a document stays. Indexes and options do not change. */
#include "steps/catalog/catalog.h"
#include "steps/kit/invert.h"
#include "steps/kit/kernel.h"
#include "steps/kit/describe.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"

struct delete {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrs_query *where;
    int errors;
    bool indexes;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection that loses documents"},
    {"where", MRS_ARG_QUERY, true, NULL, "the documents to drop"},
    {"errors", MRS_ARG_CHOICE, false, "refuse|keep", "when `where` fails for a document"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true); delete touches none"},
};

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(args->body));
    struct mrsi_read r;
    struct delete *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    mrsi_read_coll(&r, mrsi_slot(&r, "in"), &s->in);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_choice(&r, mrsi_slot(&r, "errors"), &s->errors);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    return mrsi_read_end(&r, state);
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct delete *s = state;
    bool selected;
    mrsi_work_start(work, c);
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &selected);
    if (st == MRS_SKIP && s->errors == 1) {
        mrs_err_clear(c->err);
        mrsi_step_eased(c, 0);
        st = MRS_OK;
        selected = false;
    }
    *fate = selected ? MRS_FATE_DROPPED : MRS_FATE_STAYS;
    if (st == MRS_OK && !selected) {
        mrsi_work_emit(work, side, true, doc);
    }
    return st;
}

static const struct mrs_spread_ops ops = {.begin = begin, .next = mrsi_work_next};

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_arena_is_sound(arena));
    const struct delete *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_SPREAD, e);
    mrsi_describe_side(&t, &s->in, MRS_ROLE_READ | MRS_ROLE_TAKE | MRS_ROLE_MAIN, "in");
    mrsi_describe_errors(&t, s->errors, &(struct mrs_path){.text = "where"}, 1);
    mrsi_describe_query(&t, 0, s->where);
    mrsi_describe_touch(&t, 0, 'D', "");
    mrsi_describe_not_direct(&t, "it takes documents away for good" MRSI_DO_CONTRACT);
    mrsi_describe_words(&t, "drops those documents that `where` takes of %s", s->in.ns);
    mrsi_describe_loss(&t, "every document of %s that `where` takes", s->in.ns);
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct delete *s = state;
    struct mrs_cat_coll *cc = NULL;
    return mrsi_cat_need(cat, &s->in, true, "in", &cc, e);
}

const struct mrs_step_type mrsi_step_delete = {
    .name = "delete",
    .summary = "drops the documents that match a query",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .example = "in: sessions\nwhere: { state: expired }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_delete_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &ops,
};
