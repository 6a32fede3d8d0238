/* SPDX-License-Identifier: Apache-2.0 */
/* rekey.c - the step `rekey`: new `_id`s, or one document for all with the same key; all references follow.
 *
 * The kernels for one document of `in`: its old and new `_id`, and the written document. The engine finds other
 * documents with its key and resolves references. */
#include "rekey.h"
#include "steps/kit/id_policy.h"
#include "mongoreshape/value.h"
#include <stdio.h>

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents get other _ids"},
    {"id", MRS_ARG_ANY, false, NULL, "new, or an expression: the _id of each document"},
    {"merge", MRS_ARG_MAP, false, NULL, "merges documents with a common key: by, any, sort, fields, dropped"},
    {"references", MRS_ARG_ANY, false, NULL,
     "references to update: a map { collection: paths }, or a list of { in, fields, where }"},
    {"old", MRS_ARG_PATH, false, NULL, "field for the old _id; with merge an array of the old _ids"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents of in that match this query"},
    {"dangling", MRS_ARG_CHOICE, false, "keep|drop|null|refuse", "references that match neither an old nor a new _id"},
    {"distinct", MRS_ARG_BOOL, false, NULL, "in arrays with changed references, keep equal elements once (false)"},
    {"replace", MRS_ARG_BOOL, false, NULL, "whether an existing field `old` is overwritten (false)"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"}};

/* ---- work ---- */
void
mrsi_rekey_work_begin(struct rekey_work *w, struct mrs_ctx *c)
{
    MRS_ASSERT(w);
    struct mrs_buf *all[] = {&w->raw, &w->array, &w->item, &w->key, &w->span};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!w->ready) {
            mrs_buf_init(all[i], c->mem, SIZE_MAX);
        }
        mrs_buf_reset(all[i]);
    }
    w->ready = true;
}

static void
work_clear(struct mrs_ctx *c, void *work)
{
    struct rekey_work *w = work;
    struct mrs_buf *all[] = {&w->raw, &w->array, &w->item, &w->key, &w->span};
    for (size_t i = 0; w->ready && i < sizeof all / sizeof *all; i++) {
        mrs_buf_clear(all[i]);
    }
    for (uint32_t i = 0; w->acc && w->acc[i]; i++) {
        mrs_acc_state_free(w->acc[i]);
    }
    mrs_free(c->mem, w->acc);
    w->acc = NULL;
    w->ready = false;
}

/* ---- keys of a document ---- */
static void
wants(const void *state, struct mrs_rekey_wants *out)
{
    const struct mrsi_rekey *s = state;
    *out = (struct mrs_rekey_wants){.merge = s->merge,
                                    .values = s->n_fields > 0,
                                    .sorted = s->sort != NULL,
                                    .olds = s->old.n > 0,
                                    .into = s->side_dropped};
}

static enum mrs_status
make_id(const struct mrsi_rekey *s, struct mrs_ctx *c, struct rekey_work *w, struct mrs_val id, struct mrs_val *to)
{
    MRS_ASSERT(to && mrs_val_is_sized(id));
    static const uint8_t path[] = {4, 0, 0, 0, '_', 'i', 'd', 0};
    uint8_t *made = mrs_arena_alloc(c->arena, 12);
    struct mrs_new_id in = {.ns = s->in.ns,
                            .from = s->in.ns,
                            .key = id,
                            .path = {path, sizeof path, MRS_STRING},
                            .time_secs = mrsi_id_time(id)};
    MRS_TRY(mrs_allocated(made, 12, c->err));
    *to = (struct mrs_val){made, 12, MRS_OBJECTID};
    return mrsi_step_skip(c, mrs_id_make(&in, &w->raw, made, c->err), "id");
}

static enum mrs_status
new_id(const struct mrsi_rekey *s, struct mrs_ctx *c, struct rekey_work *w, struct mrs_view doc, struct mrs_val id,
       struct mrs_val *to)
{
    MRS_ASSERT(to && mrs_val_is_sized(id));
    if (s->fresh) {
        return make_id(s, c, w, id, to);
    }
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    enum mrs_status st = mrs_expr_eval(s->id, &ev, to);
    const char *fault = st == MRS_OK ? mrsi_step_id_fault(*to) : NULL;
    return fault ? mrsi_step_refuse(c, "id", "the new _id is %s, which no server takes", fault)
                 : mrsi_step_skip(c, st, "id");
}

static enum mrs_status
read_document(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_rekey_entry *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_rekey *s = state;
    out->id = mrs_doc_get(doc, "_id");
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &out->takes_part);
    if (st != MRS_OK || !out->takes_part) {
        return st;
    }
    mrsi_rekey_work_begin(work, c);
    if (s->merge) {
        st = mrsi_rekey_keys(s, c, doc, &out->keys);
        out->takes_part = st != MRS_OK || out->keys.n;
    }
    if (st == MRS_OK && out->takes_part && out->id.type == MRS_MISSING) {
        return mrsi_step_refuse(c, s->merge ? "merge" : "id", "it has no _id that a reference could hold");
    }
    return st == MRS_OK && !s->merge ? new_id(s, c, work, doc, out->id, &out->to) : st;
}

static enum mrs_status
order(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    const struct mrsi_rekey *s = state;
    return mrsi_step_sort_key(c, s->sort, doc, out, "merge.sort");
}

/* ---- the written document ---- */
struct rekey_writing {
    const struct mrsi_rekey *s;
    struct mrs_ctx *c;
    const struct mrs_rekey_gain *gain;
    struct mrs_val *value; /* one for each field; missing: nothing is written */
    bool found;            /* the place of `old` exists */
};

static enum mrs_status
write_old(struct rekey_writing *x, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict,
          struct mrs_val *put)
{
    if (x->gain->old.type == MRS_MISSING) {
        return MRS_OK;
    }
    if (site->old.type != MRS_MISSING && !x->s->replace) {
        return mrsi_step_refuse(x->c, "old", "the field %s exists already", x->s->old.text);
    }
    x->found = true;
    *verdict = MRS_EDIT_PUT;
    *put = x->gain->old;
    return MRS_OK;
}

static enum mrs_status
write_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
           struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct rekey_writing *x = arg;
    const struct mrsi_rekey *s = x->s;
    uint32_t field = site->path_no - !s->merge;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (!s->merge && site->path_no == 0) {
        *verdict = MRS_EDIT_PUT;
        *put = x->gain->to;
        return MRS_OK;
    }
    bool old = field == s->n_fields;
    struct mrs_val v = old ? x->gain->old : x->value[field];
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    if (site->blocked) {
        return mrsi_step_blocked(x->c, old ? "old" : "merge.fields", site, old ? s->old.text : s->field[field].text);
    }
    if (old) {
        return write_old(x, site, verdict, put);
    }
    *verdict = MRS_EDIT_PUT;
    *put = v;
    return MRS_OK;
}

static enum mrs_status
write_document(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
               const struct mrs_rekey_gain *gain, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(out));
    const struct mrsi_rekey *s = state;
    struct rekey_work *w = work;
    struct rekey_writing x = {.s = s, .c = c, .gain = gain};
    struct mrs_edit_run how = {.fn = write_site, .arg = &x, .visit_missing = true, .raw = &w->raw};
    struct mrs_walk walk;
    struct mrs_elem el;
    bool changed;
    mrsi_rekey_work_begin(w, c);
    x.value = mrs_arena_alloc(c->arena, (s->n_fields + 1) * sizeof *x.value);
    MRS_TRY(mrs_allocated(x.value, (s->n_fields + 1) * sizeof *x.value, c->err));
    mrs_walk_init(&walk, gain->values.n ? gain->values : mrs_empty_doc());
    for (uint32_t i = 0; i < s->n_fields; i++) {
        x.value[i] = mrs_walk_next(&walk, &el) == 1 ? el.v : mrs_missing();
    }
    enum mrs_status st = mrs_edit_run(s->edit, &how, doc, out, &changed, c->err);
    if (st == MRS_OK && gain->old.type != MRS_MISSING && !x.found) {
        return mrsi_step_refuse(c, "old", "%s has no place: an empty array is on its way", s->old.text);
    }
    st = mrsi_step_skip(c, st, s->merge ? "merge" : "id");
    MRS_THEN(st, mrsi_step_size(c, out));
    return st == MRS_OK ? mrsi_step_depth(c, s->merge ? "merge.fields" : "id", doc, mrsi_buf_view(out, 0)) : st;
}

static void
remark(const void *state, uint32_t i, char *text, size_t size)
{
    (void)state;
    snprintf(text, size, i == 0 ? " became one with others that have a key in common"
                                : ", `merge.by`: the key is an empty text, which $toLower and others make of a missing "
                                  "field: all of these are one group");
}

static const struct mrs_rekey_ops ops = {wants,
                                         read_document,
                                         order,
                                         mrsi_rekey_group_begin,
                                         mrsi_rekey_group_add,
                                         mrsi_rekey_group_end,
                                         write_document,
                                         mrsi_rekey_point,
                                         mrsi_rekey_references};

static const struct mrs_inner inner[] = {{"merge", mrsi_rekey_merge_keys, MRSI_REKEY_MERGE_KEYS, false},
                                         {"references", mrsi_rekey_reference_keys, MRSI_REKEY_REFERENCE_KEYS, true}};

const struct mrs_step_type mrsi_step_rekey = {
    .name = "rekey",
    .since = 2,
    .summary = "gives new _ids, or merges documents with a common key; updates references",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .inner = inner,
    .n_inner = sizeof inner / sizeof *inner,
    .example = "in: users\nid: new\nreferences: { posts: [author, likes.by] }\n\n"
               "merge: { by: { $toLower: $email }, sort: { logins: -1 }, dropped: { into: users_merged } }\n"
               "old: legacyId\nwhere: { kind: guest }\n",
    .compile = mrsi_rekey_compile,
    .free_state = mrsi_state_free,
    .describe = mrsi_rekey_describe,
    .catalog = mrsi_rekey_catalog,
    .invert = mrsi_rekey_invert,
    .work_size = sizeof(struct rekey_work),
    .remark = remark,
    .work_clear = work_clear,
    .rekey = &ops,
};
