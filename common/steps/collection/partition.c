/* SPDX-License-Identifier: Apache-2.0 */
/* partition.c - the step `partition`: splits one collection into several.
 *
 * Each document goes to the collection that the plan gives for its value at `by`; the inverse of `union`. Values are
 * equal as in MongoDB (1 equals 1.0), null is not missing, and an array is one value. The plan's values are stored as
 * sorted encoded keys, so each document costs one binary search. Documents without a collection follow `others`. */
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "mongoreshape/value.h"
#include "steps/kit/shape.h"
#include "steps/kit/describe.h"
#include "value_name.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/words.h"
#include <stdio.h>
#include <stdlib.h>

enum others { OTHERS_KEEP, OTHERS_DROP, OTHERS_REFUSE, OTHERS_INTO };

struct value { /* an encoded value and its target */
    uint8_t *key;
    uint32_t len;
    int side;
};
struct partition {
    struct mrsi_owned keep;
    struct mrs_coll from;
    struct mrs_coll *into; /* sides 1, 2, ...; the last may be the target of `others` */
    uint32_t n_into;
    struct value *value;   /* sorted by key */
    uint32_t n;
    struct mrs_path by;
    struct mrs_query *where;
    struct mrs_projection *less; /* removes `by` from the document; NULL: it stays */
    struct mrs_coll others_into;
    int conflicts, others, others_side;
    bool drop, indexes;
    bool by_value;         /* values that are not in the list name their collection */
    struct mrs_coll named; /* the name with the star */
};

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the collection to split"},
    {"into", MRS_ARG_COLLS, true, NULL, "value: collection, or a list of {value, into}; `*`: a name with a star, "
     "which is the value"},
    {"by", MRS_ARG_PATH, true, NULL, "the path whose value decides; compute one with `set` in a step before, remove it "
                                     "with `drop`"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query; others stay"},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "which of several documents with one `_id` is kept"},
    {"others", MRS_ARG_CHOICE_OR_COLL, false, "keep|drop|refuse", "documents whose value has no collection"},
    {"drop", MRS_ARG_BOOL, false, NULL, "whether the field is removed (false)"},
    {"most", MRS_ARG_COUNT, false, NULL, "with `*`: maximum number of collections (1000)"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

/* ---- compile ---- */
static int
compare_keys(const uint8_t *a, uint32_t n, const uint8_t *b, uint32_t m)
{
    int c = memcmp(a, b, n < m ? n : m);
    return c ? c : (n > m) - (n < m);
}

static int
by_key(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return compare_keys(x->key, x->len, y->key, y->len);
}

/* The side of a collection, added if new; 0: an error was reported. */
static int
side_of(struct mrsi_read *r, struct partition *s, const struct mrs_coll *coll, const char *key, const char *sub)
{
    MRS_ASSERT(s->into || s->n_into == 0);
    if (mrsi_coll_same(coll, &s->from)) {
        mrsi_read_error(r, key, sub, "%s is `from` as well", coll->ns);
        return 0;
    }
    for (uint32_t i = 0; i < s->n_into; i++) {
        if (mrsi_coll_same(coll, &s->into[i])) {
            return (int)i + 1;
        }
    }
    if (s->n_into + 1 == MRS_SIDES_MAX) {
        mrsi_read_error(r, key, NULL, "has more than %d collections", MRS_SIDES_MAX - 1);
        return 0;
    }
    s->into[s->n_into++] = *coll;
    return (int)s->n_into;
}

static void
add_value(struct mrsi_read *r, struct partition *s, struct mrs_val v, struct mrsi_slot into)
{
    struct mrs_coll coll = {NULL, NULL, NULL};
    struct mrs_buf key;
    struct mrs_err e;
    if (!mrsi_read_coll(r, into, &coll)) {
        return;
    }
    mrs_err_clear(&e);
    mrs_buf_init(&key, r->args->mem, MRS_KEY_MAX);
    mrs_key_append(&key, v, false);
    enum mrs_status st = mrs_buf_status(&key, &e);
    struct value *x = &s->value[s->n];
    x->key = st == MRS_OK ? mrs_arena_copy(r->args->arena, key.p, key.n) : NULL;
    x->len = (uint32_t)key.n;
    st = st == MRS_OK && !x->key ? mrs_err_memory(&e, key.n) : st;
    mrs_buf_clear(&key);
    if (st != MRS_OK) {
        mrsi_read_failed(r, into.key, into.sub, st, &e);
        return;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (by_key(x, &s->value[i]) == 0) {
            mrsi_read_error(r, into.key, into.sub, "names a value for the second time");
        }
    }
    x->side = side_of(r, s, &coll, into.key, into.sub);
    s->n++;
}

static void
add_pair(struct mrsi_read *r, struct partition *s, const struct mrs_elem *e)
{
    static const struct mrs_key pair[] = {{"value", MRS_ARG_ANY, true, NULL, "the value"},
                                          {"into", MRS_ARG_COLL, true, NULL, "its collection"}};
    struct mrsi_slot one = {e->v, "into", e->name, NULL};
    if (mrsi_read_map(r, one, pair, 2)) {
        add_value(r, s, mrs_doc_get(mrs_val_view(e->v), "value"), mrsi_slot_below(r, one, pair, 2, "into"));
    }
}

/* `*`: each value names its collection. When the values are known, the list has them next to the name. */
static void
read_named(struct mrsi_read *r, struct partition *s, struct mrsi_slot name)
{
    s->by_value = mrsi_slot_present(name);
    if (!mrsi_read_coll(r, name, &s->named) || strchr(s->named.ns, '*')) {
        return;
    }
    mrsi_read_error(r, "into", "*", "needs a name with a star, which is the value: `*` alone, or as in log_*");
}

/* A key that as a plain value is no text: nothing equals it where the documents hold that value. */
static void
warn_of_key(struct mrsi_read *r, const char *key, size_t n)
{
    static const char *const constants[] = {"true", "false", "null"};
    if (n && strspn(key, "+-.0123456789") == n) {
        mrsi_read_warn(r, "into", key, "a key is text: for a number write [{ value: %s, into: ... }]", key);
    } else if (MRS_IS_ONE_OF(key, constants)) {
        mrsi_read_warn(r, "into", key, "a key is text: for the value %s write [{ value: %s, into: ... }]", key, key);
    } else if (n == 24 && strspn(key, "0123456789abcdefABCDEF") == n) {
        mrsi_read_warn(r, "into", key, "a key is text: for an ObjectId write [{ value: { $oid: %s }, into: ... }]",
                       key);
    }
}

static void
read_values(struct mrsi_read *r, struct partition *s)
{
    struct mrsi_slot f = mrsi_slot(r, "into");
    struct mrs_walk w;
    struct mrs_elem e;
    bool none = f.v.n <= 5 && mrs_doc_get(r->args->body, "*").type == MRS_MISSING; /* no value has named a collection */
    s->into = mrsi_read_alloc(r, MRS_SIDES_MAX, sizeof *s->into);
    if ((f.v.type != MRS_ARRAY && f.v.type != MRS_DOCUMENT) || none) {
        if (mrsi_slot_present(f)) {
            mrsi_read_error(r, "into", NULL, "must be a map value: collection or a list of {value, into}");
        }
        return;
    }
    s->value = mrsi_read_alloc(r, mrs_val_count(f.v) + 1, sizeof *s->value);
    mrs_walk_init(&w, mrs_val_view(f.v));
    while (s->value && s->into && r->status == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        if (f.v.type == MRS_ARRAY) {
            add_pair(r, s, &e);
            continue;
        }
        struct mrsi_slot one = {e.v, "into", e.name, NULL};
        warn_of_key(r, e.name, e.name_len);
        if (strcmp(e.name, "*") == 0 && r->args->version > 1) {
            read_named(r, s, one);
            continue;
        }
        if (strcmp(e.name, "*") == 0) {
            mrsi_read_error(r, "into", e.name, "a key is one value, not a pattern: for all others write `others: "
                                               "{ into: COLL }`, for the text itself [{ value: \"*\", into: COLL }]");
            return;
        }
        struct mrs_val v = mrs_make_text(r->args->arena, e.name, e.name_len);
        if (v.type == MRS_MISSING) {
            r->status = mrs_err_memory(r->err, e.name_len);
            return;
        }
        add_value(r, s, v, one);
    }
}

static void
plan_documents(struct mrsi_read *r, struct partition *s)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    qsort(s->value, s->n, sizeof *s->value, by_key);
    if (s->others == OTHERS_INTO) {
        s->others_side = side_of(r, s, &s->others_into, "others", NULL);
    }
    if (s->drop) {
        enum mrs_status st = mrs_projection_new(r->args->mem, &s->by, 1, false, false, &s->less, &e);
        if (st == MRS_OK && !mrsi_level_add(&s->keep, MRSI_PROJECTION, s->less)) {
            st = mrs_err_memory(&e, 0);
        }
        if (st != MRS_OK) {
            mrsi_read_failed(r, "drop", NULL, st, &e);
        }
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    uint64_t most;
    struct partition *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    mrsi_read_coll(&r, mrsi_slot(&r, "from"), &s->from);
    read_values(&r, s);
    if (!s->by_value) {
        read_named(&r, s, (struct mrsi_slot){mrs_doc_get(args->body, "*"), "into", "*", NULL});
    }
    if (mrsi_read_count(&r, mrsi_slot(&r, "most"), &most) && !s->by_value) {
        mrsi_read_error(&r, "most", NULL, "is for `into: { \"*\": ... }` only");
    }
    mrsi_read_path(&r, mrsi_slot(&r, "by"), &s->by);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_choice(&r, mrsi_slot(&r, "conflicts"), &s->conflicts);
    mrsi_read_choice_or_coll(&r, mrsi_slot(&r, "others"), &s->others, &s->others_into);
    mrsi_read_bool(&r, mrsi_slot(&r, "drop"), &s->drop);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    if (s->drop) {
        mrsi_read_not_id(&r, mrsi_slot(&r, "by"), &s->by);
    }
    if (mrsi_read_good(&r)) {
        plan_documents(&r, s);
    }
    return mrsi_read_end(&r, state);
}

/* ---- documents ---- */
/* The side for documents with this value; 0: none. A value too long for a key equals no value of the plan. */
static enum mrs_status
find_side(const struct partition *s, struct mrs_ctx *c, struct mrs_buf *key, struct mrs_val v, int *side)
{
    MRS_ASSERT(mrs_buf_is_sound(key));
    uint32_t lo = 0, hi = s->n;
    *side = 0;
    mrs_key_append(key, v, false);
    if (key->bad == 1) {
        return mrs_buf_status(key, c->err);
    }
    while (lo < hi && !key->bad) {
        uint32_t mid = lo + (hi - lo) / 2;
        int cmp = compare_keys(key->p, (uint32_t)key->n, s->value[mid].key, s->value[mid].len);
        if (cmp == 0) {
            *side = s->value[mid].side;
            return MRS_OK;
        }
        lo = cmp > 0 ? mid + 1 : lo;
        hi = cmp > 0 ? hi : mid;
    }
    return MRS_OK;
}

/* A value of a suitable type that still cannot name a collection. */
static enum mrs_status
no_name(const struct partition *s, struct mrs_ctx *c, struct mrs_val name)
{
    uint32_t n;
    const char *text = mrs_val_text(name, &n), *star = strchr(s->named.coll, '*'), *dot = strchr(s->named.ns, '.');
    char coll[600], db[600];
    snprintf(coll, sizeof coll, "%.*s%.300s%s", star ? (int)(star - s->named.coll) : 0, s->named.coll, star ? text : "",
             star ? star + 1 : s->named.coll);
    star = memchr(s->named.ns, '*', (size_t)(dot - s->named.ns));
    snprintf(db, sizeof db, "%.*s%.300s%.*s", star ? (int)(star - s->named.ns) : 0, s->named.ns, star ? text : "",
             (int)(dot - (star ? star + 1 : s->named.ns)), star ? star + 1 : s->named.ns);
    const char *why = n == 0 ? "is made of no character" : mrs_catalog_check_name(db, coll);
    why = memchr(text, 0, n) ? "holds a NUL byte" : why;
    size_t m = strlen(db);
    bool own = strncmp(s->from.ns, db, m) == 0 && s->from.ns[m] == '.' && strcmp(s->from.ns + m + 1, coll) == 0;
    if (why || own) {
        return mrsi_step_refuse(c, "into", "its value of %s names the collection %.60s.%.255s, which %s", s->by.text,
                                db, coll, why ? why : "is `from`");
    }
    return mrsi_step_refuse(c, "into", "its value of %s names the collection %.60s.%.255s, as an earlier one does that "
                                       "is not equal", s->by.text, db, coll);
}

static enum mrs_status
other(const struct partition *s, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(s->others_side >= 0);
    MRS_ASSERT(mrs_view_is_framed(doc));
    switch (s->others) {
    case OTHERS_REFUSE:
        return mrsi_step_refuse(c, "others", "no collection is named for its value of %s", s->by.text);
    case OTHERS_DROP: *fate = MRS_FATE_DROPPED; return MRS_OK;
    case OTHERS_INTO:
        *fate = MRS_FATE_TAKEN;
        mrsi_work_emit(w, s->others_side, false, doc);
        return MRS_OK;
    default: mrsi_work_emit(w, 0, true, doc); return MRS_OK;
    }
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    const struct partition *s = state;
    struct mrsi_work *w = work;
    bool takes;
    int to = 0;
    mrsi_work_start(w, c);
    *fate = MRS_FATE_STAYS;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &takes);
    if (st == MRS_OK && !takes) {
        mrsi_work_emit(w, side, true, doc);
        return MRS_OK;
    }
    struct mrs_val v = st == MRS_OK ? mrs_path_get(&s->by, doc) : mrs_missing();
    st = st == MRS_OK && v.type != MRS_MISSING ? find_side(s, c, &w->key, v, &to) : st;
    if (st == MRS_OK && to == 0 && s->by_value) {
        struct mrs_val name = mrs_missing();
        st = mrsi_value_name(c->arena, v, &name) ? MRS_OK : mrs_err_memory(c->err, v.n);
        if (st == MRS_OK && name.type == MRS_STRING) {
            return no_name(s, c, name);
        }
    }
    if (st != MRS_OK || to == 0) {
        return st == MRS_OK ? other(s, c, w, doc, fate) : st;
    }
    if (s->less) {
        st = mrsi_step_skip(c, mrs_projection_run(s->less, doc, &w->out[0], c->err), "drop");
        doc = st == MRS_OK ? mrsi_buf_view(&w->out[0], 0) : doc;
    }
    *fate = MRS_FATE_TAKEN;
    if (st == MRS_OK) {
        mrsi_work_emit(w, to, false, doc);
    }
    return st;
}

static enum mrs_status
names(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_val *value, struct mrs_val *name)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct partition *s = state;
    struct mrs_buf key;
    bool takes;
    int to = 0;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &takes);
    if (st != MRS_OK || !takes) {
        return st;
    }
    *value = mrs_path_get(&s->by, doc);
    mrs_buf_init(&key, c->mem, MRS_KEY_MAX);
    st = s->n && value->type != MRS_MISSING ? find_side(s, c, &key, *value, &to) : MRS_OK;
    mrs_buf_clear(&key);
    if (st == MRS_OK && to == 0 && !mrsi_value_name(c->arena, *value, name)) {
        st = mrs_err_memory(c->err, value->n);
    }
    return st;
}

static const struct mrs_spread_ops ops = {.begin = begin, .next = mrsi_work_next, .names = names};

/* ---- description ---- */
static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct partition *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_SPREAD, e);
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    mrsi_describe_side(&t, &s->from, MRS_ROLE_READ | MRS_ROLE_TAKE | MRS_ROLE_MAIN, "from");
    mrsi_describe_query(&t, 0, s->where);
    mrsi_describe_touch(&t, 0, 'R', "");
    mrsi_describe_names(&t, 0, NULL, &s->by, 1);
    mrsi_describe_touch(&t, 0, 'D', "");
    out->takes_away = !s->where && s->others != OTHERS_KEEP;
    mrsi_describe_words(&t, "moves %s of %s by %s to ", s->where ? "those documents that `where` takes" :
                        "the documents",
                        s->from.ns, s->by.text);
    for (uint32_t i = 0; i < s->n_into; i++) {
        bool rest = s->others == OTHERS_INTO && (int)i + 1 == s->others_side;
        int side = mrsi_describe_side(&t, &s->into[i], MRS_ROLE_ADD, rest ? "others" : "into");
        mrsi_describe_touch(&t, side, 'A', "");
        mrsi_describe_listing(&t, side, "_id", "_id");
        mrsi_describe_words(&t, "%s%s", i == 0 ? "" : i + 1 == s->n_into ? " and " : ", ", s->into[i].ns);
    }
    if (s->by_value) {
        mrsi_describe_words(&t, "%sthe collection %s that the value names", s->n_into ? ", else to " : "", s->named.ns);
        mrsi_describe_loss(&t, "the type of %s, where the name of its collection does not tell it", s->by.text);
        mrsi_describe_quiet(&t, "which collections it makes is known only from all documents" MRSI_DO_QUIET);
    }
    mrsi_describe_conflicts(&t);
    mrsi_describe_not_direct(&t, MRSI_TAKES_DOCUMENTS);
    if (s->others == OTHERS_DROP) {
        mrsi_describe_loss(&t, "documents whose value of %s has no collection", s->by.text);
    }
    if (s->drop) {
        mrsi_describe_loss(&t,
                           "the place of %s among the fields, and its type where equal values differ in it (1 and 1.0)",
                           s->by.text);
    }
    mrsi_describe_loss(&t, "the order of %s across the collections", s->from.ns);
    if (s->conflicts) {
        mrsi_describe_loss(&t, "documents of which another one with the same _id counts");
    }
    return mrsi_describe_end(&t);
}

static enum mrs_status
carry(const struct partition *s, struct mrs_catalog *cat, uint32_t i, struct mrs_cat_coll *into, bool fresh,
      struct mrs_err *e)
{
    const struct mrs_cat_coll *from = mrs_catalog_find(cat, s->from.db, s->from.coll);
    struct mrsi_move removed = {s->by.text, NULL};
    bool rest = s->others == OTHERS_INTO && (int)i + 1 == s->others_side;
    struct mrsi_moves moves = {.move = &removed, .n = s->drop && !rest && mrsi_index_plain(&s->by)};
    struct mrsi_carry how = {.moves = &moves, .lose = MRSI_WHOLE | (fresh ? 0 : MRSI_LOSE_UNIQUE | MRSI_LEAVE_TTL)};
    how.why = "the collection has documents of its own";
    return mrsi_indexes_carry(cat, from, into, &how, e);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct partition *s = state;
    struct mrs_cat_coll *from = NULL, *into = NULL;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->from, true, "from", &from, e);
    for (uint32_t i = 0; i < s->n_into && st == MRS_OK; i++) {
        bool fresh = false, rest = s->others == OTHERS_INTO && (int)i + 1 == s->others_side;
        st = mrsi_cat_target(cat, &s->into[i], rest ? "others" : "into", &into, &fresh, e);
        if (st == MRS_OK && s->indexes) {
            st = carry(s, cat, i, into, fresh, e);
        }
    }
    MRS_THEN(st, describe(state, mrs_catalog_arena(cat), &d, e));
    return st == MRS_OK ? mrsi_cat_validators(cat, &d, e) : st;
}

const struct mrs_step_type mrsi_step_partition = {
    .name = "partition",
    .summary = "splits a collection into several by a value",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_VALUES,
    .since_2 = "most",
    .example = "from: vehicles\ninto: { car: cars, truck: trucks }\nby: type\n\nwhere: { sold: { $ne: true } }\n"
               "most: 1000\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_partition_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &ops,
};
