/* SPDX-License-Identifier: Apache-2.0 */
/* union.c - the step `union`: merges several collections into one.
 *
 * All documents (or those that match `where`) leave their collections and enter the target, in the order of the plan. A
 * tag records the source: the key of the map, or the collection's name in the list form. A document that already has
 * the tag field is refused unless `replace` is given. A unique index of one source holds for its documents only: with a
 * tag it becomes partial on the tag, without one it loses unique. */
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "steps/kit/shape.h"
#include "steps/kit/describe.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"

struct union_source {
    struct mrs_coll coll;
    struct mrs_val tag;
};
struct unite {
    struct mrsi_owned keep;
    struct union_source *from;
    uint32_t n;
    struct mrs_coll into;
    struct mrs_query *where;
    struct mrs_path tag; /* n 0: no tag */
    struct mrs_edit *edit;
    int conflicts;
    bool replace, indexes;
};

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLLS, true, NULL, "the collections: a list, or a map tag: collection"},
    {"into", MRS_ARG_COLL, true, NULL, "the target collection; created if missing"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query; others stay"},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "which of several documents with one `_id` is kept"},
    {"tag", MRS_ARG_PATH, false, NULL, "field for the tag of the source collection"},
    {"replace", MRS_ARG_BOOL, false, NULL, "whether an existing tag is overwritten (false)"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

static void
add_source(struct mrsi_read *r, struct unite *s, struct mrsi_slot slot, bool named)
{
    struct union_source *x = &s->from[s->n];
    if (!mrsi_read_coll(r, slot, &x->coll)) {
        return;
    }
    const char *tag = named ? slot.sub : x->coll.coll;
    x->tag = mrs_make_text(r->args->arena, tag, (uint32_t)strlen(tag));
    if (x->tag.type == MRS_MISSING) {
        r->status = mrs_err_memory(r->err, 0);
        return;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (mrsi_coll_same(&s->from[i].coll, &x->coll)) {
            mrsi_read_error(r, slot.key, slot.sub, "%s is named twice", x->coll.ns);
        }
    }
    if (mrsi_coll_same(&x->coll, &s->into)) {
        mrsi_read_error(r, slot.key, slot.sub, "%s is `into` as well", x->coll.ns);
    }
    s->n++;
}

static void
read_sources(struct mrsi_read *r, struct unite *s)
{
    struct mrsi_slot f = mrsi_slot(r, "from");
    struct mrs_walk w;
    struct mrs_elem e;
    if (f.v.type == MRS_STRING && r->args->version > 1) {
        s->from = mrsi_read_alloc(r, 1, sizeof *s->from);
        if (s->from) {
            add_source(r, s, f, false);
        }
        return;
    }
    if (f.v.type != MRS_ARRAY && f.v.type != MRS_DOCUMENT) {
        if (mrsi_slot_present(f)) {
            mrsi_read_error(r, "from", NULL, "must be a list of collections or a map tag: collection");
        }
        return;
    }
    s->from = mrsi_read_alloc(r, MRS_SIDES_MAX, sizeof *s->from);
    uint32_t n = 0;
    mrs_walk_init(&w, mrs_val_view(f.v));
    while (s->from && r->status == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        struct mrsi_slot one = {e.v, "from", e.name, NULL};
        if (++n >= MRS_SIDES_MAX) {
            mrsi_read_error(r, "from", NULL, "has more than %d collections", MRS_SIDES_MAX - 1);
            return;
        }
        add_source(r, s, one, f.v.type == MRS_DOCUMENT);
    }
    if (n == 0) {
        mrsi_read_error(r, "from", NULL, "names no collection");
    }
}

static void
read_tag(struct mrsi_read *r, struct unite *s)
{
    struct mrsi_slot t = mrsi_slot(r, "tag");
    if (mrsi_read_path(r, t, &s->tag) && mrsi_read_not_id(r, t, &s->tag)) {
        s->edit = mrsi_read_new_edit(r);
        mrsi_read_edit_path(r, s->edit, "tag", NULL, &s->tag);
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct unite *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    mrsi_read_coll(&r, mrsi_slot(&r, "into"), &s->into);
    read_sources(&r, s);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_choice(&r, mrsi_slot(&r, "conflicts"), &s->conflicts);
    read_tag(&r, s);
    mrsi_read_bool(&r, mrsi_slot(&r, "replace"), &s->replace);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    if (s->replace && !mrsi_slot_present(mrsi_slot(&r, "tag"))) {
        mrsi_read_error(&r, "replace", NULL, "needs `tag`: nothing else is added");
    }
    return mrsi_read_end(&r, state);
}

/* ---- documents ---- */
struct tagging {
    const struct unite *s;
    struct mrs_ctx *c;
    struct mrs_val tag;
    uint32_t written;
};

static enum mrs_status
tag_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
         struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct tagging *x = arg;
    (void)raw;
    (void)e;
    if (site->blocked) {
        return mrsi_step_blocked(x->c, "tag", site, x->s->tag.text);
    }
    if (site->old.type != MRS_MISSING && !x->s->replace) {
        return mrsi_step_refuse(x->c, "tag", "%s exists already", x->s->tag.text);
    }
    x->written++;
    *verdict = MRS_EDIT_PUT;
    *put = x->tag;
    return MRS_OK;
}

static enum mrs_status
tagged(const struct unite *s, struct mrs_ctx *c, struct mrsi_work *w, int side, struct mrs_view *doc)
{
    MRS_ASSERT(side >= 0 && (uint32_t)side < s->n);
    struct tagging x = {s, c, s->from[side].tag, 0};
    struct mrs_edit_run how = {.fn = tag_site, .arg = &x, .visit_missing = true, .raw = &w->raw};
    bool changed;
    enum mrs_status st = mrsi_step_skip(c, mrs_edit_run(s->edit, &how, *doc, &w->out[0], &changed, c->err), "tag");
    if (st == MRS_OK && x.written == 0) {
        return mrsi_step_refuse(c, "tag", "%s has no place: an array on its way is empty", s->tag.text);
    }
    MRS_THEN(st, mrsi_step_size(c, &w->out[0]));
    *doc = st == MRS_OK ? mrsi_buf_view(&w->out[0], 0) : *doc;
    return st;
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct unite *s = state;
    bool selected;
    mrsi_work_start(work, c);
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &selected);
    if (st == MRS_OK && selected && s->edit) {
        st = tagged(s, c, work, side, &doc);
    }
    if (st != MRS_OK) {
        return st;
    }
    *fate = selected ? MRS_FATE_TAKEN : MRS_FATE_STAYS;
    mrsi_work_emit(work, selected ? (int)s->n : side, !selected, doc);
    return MRS_OK;
}

static const struct mrs_spread_ops ops = {.begin = begin, .next = mrsi_work_next};

/* ---- description ---- */
static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct unite *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_SPREAD, e);
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    out->takes_away = out->compares_nothing = !s->where;
    mrsi_describe_words(&t, "moves %s of ", s->where ? "those documents that `where` takes" : "all documents");
    for (uint32_t i = 0; i < s->n; i++) {
        int side = mrsi_describe_side(&t, &s->from[i].coll, MRS_ROLE_READ | MRS_ROLE_TAKE | MRS_ROLE_MAIN, "from");
        mrsi_describe_query(&t, side, s->where);
        mrsi_describe_touch(&t, side, 'R', "");
        mrsi_describe_touch(&t, side, 'D', "");
        mrsi_describe_words(&t, "%s%s", i == 0 ? "" : i + 1 == s->n ? " and " : ", ", s->from[i].coll.ns);
    }
    int into = mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD, "into");
    mrsi_describe_touch(&t, into, 'A', "");
    mrsi_describe_listing(&t, into, "_id", "_id");
    mrsi_describe_conflicts(&t);
    mrsi_describe_not_direct(&t, MRSI_TAKES_DOCUMENTS);
    mrsi_describe_words(&t, " to %s", s->into.ns);
    if (s->tag.n) {
        mrsi_describe_words(&t, " and says in %s where each came from", s->tag.text);
    } else if (s->n > 1) {
        mrsi_describe_loss(&t, "which collection a document came from: add `tag`");
    }
    if (s->replace) {
        mrsi_describe_loss(&t, "values of %s that were there before", s->tag.text);
    }
    mrsi_describe_loss(&t, "which documents of %s were there before", s->into.ns);
    if (s->conflicts) {
        mrsi_describe_loss(&t, "documents of which another one with the same _id counts");
    }
    return mrsi_describe_end(&t);
}

static enum mrs_status
carry(const struct unite *s, struct mrs_catalog *cat, uint32_t i, struct mrs_cat_coll *into, bool fresh,
      struct mrs_err *e)
{
    MRS_ASSERT(i < s->n);
    const struct mrs_cat_coll *from = mrs_catalog_find(cat, s->from[i].coll.db, s->from[i].coll.coll);
    static const struct mrsi_moves as_is = {.move = NULL};
    bool alone = fresh && s->n == 1;
    bool tags = fresh && s->tag.n && mrsi_index_plain(&s->tag);
    struct mrsi_carry how = {.moves = &as_is, .lose = alone ? 0 : MRSI_LOSE_UNIQUE | MRSI_LEAVE_TTL};
    how.why = "other documents are in the collection as well";
    if (tags && !alone) {
        how.tag = s->tag.text;
        how.tag_value = s->from[i].tag;
    }
    return mrsi_indexes_carry(cat, from, into, &how, e);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct unite *s = state;
    struct mrs_cat_coll *from = NULL, *into = NULL;
    struct mrs_desc d;
    bool fresh = false;
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < s->n && st == MRS_OK; i++) {
        st = mrsi_cat_need(cat, &s->from[i].coll, true, "from", &from, e);
    }
    MRS_THEN(st, mrsi_cat_target(cat, &s->into, "into", &into, &fresh, e));
    for (uint32_t i = 0; i < s->n && st == MRS_OK && s->indexes; i++) {
        st = carry(s, cat, i, into, fresh, e);
    }
    MRS_THEN(st, describe(state, mrs_catalog_arena(cat), &d, e));
    return st == MRS_OK ? mrsi_cat_validators(cat, &d, e) : st;
}

const struct mrs_step_type mrsi_step_union = {
    .name = "union",
    .summary = "merges several collections into one",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_LIST,
    .example = "from: { car: cars, truck: trucks }\ninto: vehicles\ntag: type\n\nwhere: { sold: { $ne: true } }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_union_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &ops,
};
