/* SPDX-License-Identifier: Apache-2.0 */
/* delete.c - the step `delete`: deletes documents.
 *
 * The only step that loses data on purpose, so it requires `where`, counts the dropped documents, and refuses a
 * document for which the query fails; with `errors: keep` such a document stays. Indexes and options do not change.
 *
 * A condition that a document without the field meets ($ne, $nin, null) is rarely meant to drop such documents: they
 * are counted in remarks. */
#include "steps/catalog/catalog.h"
#include "steps/kit/invert.h"
#include "steps/kit/kernel.h"
#include "steps/kit/describe.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/words.h"
#include <stdio.h>

enum { LOOSE_MAX = 16 };
struct delete {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrs_query *where;
    int errors;
    bool indexes;
    struct mrs_path loose[LOOSE_MAX]; /* paths of conditions that documents without them meet */
    uint32_t n_loose;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection that loses documents"},
    {"where", MRS_ARG_QUERY, true, NULL, "the documents to drop"},
    {"errors", MRS_ARG_CHOICE, false, "refuse|keep", "when `where` fails for a document"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true); delete touches none"},
};

static bool
has_null(struct mrs_val list)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool found = list.type != MRS_ARRAY; /* values of another collection have notes of their own */
    for (mrs_walk_init(&w, found ? mrs_empty_doc() : mrs_val_view(list)); !found && mrs_walk_next(&w, &el) == 1;) {
        found = el.v.type == MRS_NULL;
    }
    return found;
}

/* Does a document without the field meet the condition, and none of it asks for the field? */
static bool
is_loose(struct mrs_val v)
{
    static const char *const known[] = {"$exists", "$type", "$in", "$eq", "$gt", "$gte", "$lt", "$lte", "$regex"};
    struct mrs_walk w;
    struct mrs_elem el;
    bool loose = v.type == MRS_NULL, open = true;
    for (mrs_walk_init(&w, v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc()); mrs_walk_next(&w, &el) == 1;) {
        loose = loose || (strcmp(el.name, "$ne") == 0 && el.v.type != MRS_NULL) ||
                (strcmp(el.name, "$nin") == 0 && !has_null(el.v));
        open = open && !MRS_IS_ONE_OF(el.name, known) && !(strcmp(el.name, "$ne") == 0 && el.v.type == MRS_NULL);
    }
    return loose && open;
}

static void
find_loose(struct mrsi_read *r, struct delete *s)
{
    struct mrs_val where = mrsi_slot(r, "where").v;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, where.type == MRS_DOCUMENT ? mrs_val_view(where) : mrs_empty_doc());
    while (s->n_loose < LOOSE_MAX && mrs_walk_next(&w, &el) == 1) {
        struct mrs_val name = *el.name != '$' && is_loose(el.v)
                                  ? mrs_make_text(r->args->arena, el.name, el.name_len) : mrs_missing();
        struct mrs_err odd; /* a name that is no path has no remark */
        mrs_err_clear(&odd);
        s->n_loose += name.type != MRS_MISSING &&
                      mrs_path_compile(r->args->arena, name, false, &s->loose[s->n_loose], &odd) == MRS_OK;
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct delete *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    mrsi_read_coll(&r, mrsi_slot(&r, "in"), &s->in);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_choice(&r, mrsi_slot(&r, "errors"), &s->errors);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    if (mrsi_read_good(&r)) {
        find_loose(&r, s);
    }
    return mrsi_read_end(&r, state);
}

static enum mrs_status
note_missing(void *arg, struct mrs_val v)
{
    *(bool *)arg = v.type == MRS_MISSING;
    return MRS_OK;
}

static void
remark_loose(const struct delete *s, struct mrs_ctx *c, struct mrs_view doc)
{
    for (uint32_t i = 0; i < s->n_loose; i++) {
        bool missing = false;
        mrs_path_each(&s->loose[i], doc, true, note_missing, &missing);
        c->remarks |= (uint64_t)missing << i;
    }
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
    if (selected) {
        remark_loose(s, c, doc);
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

static void
describe_remark(const void *state, uint32_t i, char *text, size_t size)
{
    const struct delete *s = state;
    snprintf(text, size, ", `%.150s` is missing, which `where` takes as well: `$exists: true` leaves such documents",
             i < s->n_loose ? s->loose[i].text : "");
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
    .remark = describe_remark,
    .spread = &ops,
};
