/* SPDX-License-Identifier: Apache-2.0 */
/* collection_options.c - the step `options`: changes options of a collection.
 *
 * Each key of the step replaces the option of that name, null removes it. `timeseries` and `capped` make a collection
 * that no step can reshape afterwards, and on a server an existing collection cannot become either. So they are only
 * for collections that the plan creates, and the catalog refuses later steps on such a collection. A validator that our
 * query compiler cannot read causes only a warning: the server decides. */
#include "mongoreshape/unique.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "steps/kit/kernel.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/value.h"
#include "steps/kit/describe.h"
#include "mongoreshape/catalogue.h"

enum { VALIDATOR, LEVEL, ACTION, TIMESERIES, CAPPED, SIZE, MAX, COLLATION, N_OPTIONS };

struct options {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrs_val option[N_OPTIONS]; /* missing: not named; null: removed */
    const char *time; /* time field of `timeseries`, if documents without a date in it are refused; else NULL */
    bool indexes;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection"},
    {"validator", MRS_ARG_ANY, false, NULL, "a query that documents must match; null: none"},
    {"validationLevel", MRS_ARG_ANY, false, "off|strict|moderate", "which documents are validated; null: the "
     "default"},
    {"validationAction", MRS_ARG_ANY, false, "error|warn|errorAndLog", "what happens to invalid documents"},
    {"timeseries", MRS_ARG_ANY, false, NULL, "timeField, metaField, ...; of a collection that the plan creates"},
    {"capped", MRS_ARG_ANY, false, NULL, "true: capped, needs size; of a collection that the plan creates"},
    {"size", MRS_ARG_ANY, false, NULL, "bytes of a capped collection"},
    {"max", MRS_ARG_ANY, false, NULL, "maximum number of documents of a capped collection"},
    {"collation", MRS_ARG_ANY, false, NULL, "locale, strength, ...; of a collection that the plan creates; null: none"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "accepted everywhere; options touch no index"},
};

/* ---- compile ---- */
static void
check_validator(struct mrsi_read *r, struct mrsi_slot s)
{
    struct mrs_expr_env env = {
        .mem = r->args->mem, .now_ms = r->args->now_ms, .server_8_2 = r->args->server_8_2};
    struct mrs_query *q = NULL;
    struct mrs_err e;
    if (s.v.type != MRS_DOCUMENT) {
        mrsi_read_error(r, s.key, NULL, "must be a map or null, not %s", mrs_type_name(s.v.type));
        return;
    }
    mrs_err_clear(&e);
    enum mrs_status st = mrs_query_compile(&env, mrs_val_view(s.v), &q, &e);
    mrs_query_free(q);
    if (st == MRS_DEAD) {
        mrsi_read_failed(r, s.key, NULL, st, &e);
    } else if (st != MRS_OK) {
        mrsi_read_warn(r, s.key, NULL, "not understood here, a server may take it: %s", e.msg);
    }
}

static const struct mrs_key series_keys[] = {
    {"timeField", MRS_ARG_NAME, true, NULL, "the field with the time"},
    {"metaField", MRS_ARG_NAME, false, NULL, "the field that names the series"},
    {"granularity", MRS_ARG_CHOICE, false, "seconds|minutes|hours", "how dense readings are"},
    {"bucketMaxSpanSeconds", MRS_ARG_COUNT, false, NULL, "maximum seconds in a bucket"},
    {"bucketRoundingSeconds", MRS_ARG_COUNT, false, NULL, "what a bucket's first time is rounded to"},
};
enum { N_SERIES = sizeof series_keys / sizeof *series_keys };

static void
check_timeseries(struct mrsi_read *r, struct mrsi_slot s, const char **time)
{
    const uint32_t n = N_SERIES;
    const char *name;
    int choice;
    uint64_t count;
    if (!mrsi_read_map(r, s, series_keys, n)) {
        return;
    }
    if (mrsi_read_name(r, mrsi_slot_in(s, series_keys, n, "timeField"), &name) && r->args->version > 1) {
        *time = name;
    }
    mrsi_read_name(r, mrsi_slot_in(s, series_keys, n, "metaField"), &name);
    mrsi_read_choice(r, mrsi_slot_in(s, series_keys, n, "granularity"), &choice);
    mrsi_read_count(r, mrsi_slot_in(s, series_keys, n, "bucketMaxSpanSeconds"), &count);
    mrsi_read_count(r, mrsi_slot_in(s, series_keys, n, "bucketRoundingSeconds"), &count);
}

static const struct mrs_key collation_keys[] = {
    {"locale", MRS_ARG_TEXT, true, NULL, "the language, as de or en_US; simple: bytes are compared"},
    {"strength", MRS_ARG_COUNT, false, NULL, "1 to 5: which differences count"},
    {"caseLevel", MRS_ARG_BOOL, false, NULL, "whether case counts below strength 3"},
    {"caseFirst", MRS_ARG_CHOICE, false, "off|upper|lower", "which case comes first"},
    {"numericOrdering", MRS_ARG_BOOL, false, NULL, "whether digits are compared as numbers"},
    {"alternate", MRS_ARG_CHOICE, false, "non-ignorable|shifted", "whether blanks and punctuation count"},
    {"maxVariable", MRS_ARG_CHOICE, false, "punct|space", "characters that `alternate: shifted` ignores"},
    {"backwards", MRS_ARG_BOOL, false, NULL, "whether accents are compared from the end"},
    {"normalization", MRS_ARG_BOOL, false, NULL, "whether texts are normalized"},
};
enum { N_COLLATION = sizeof collation_keys / sizeof *collation_keys };

static void
check_collation(struct mrsi_read *r, struct mrsi_slot s)
{
    const char *text;
    bool on;
    int choice;
    uint64_t count = 1;
    if (!mrsi_read_map(r, s, collation_keys, N_COLLATION)) {
        return;
    }
    for (uint32_t i = 0; i < N_COLLATION; i++) {
        struct mrsi_slot one = mrsi_slot_in(s, collation_keys, N_COLLATION, collation_keys[i].name);
        switch (collation_keys[i].type) {
        case MRS_ARG_TEXT:
            if (mrsi_read_text(r, one, &text) && !mrsi_locale_is_known(one.v)) {
                mrsi_read_error(r, s.key, "locale", "must be one that servers know, like de or en_US");
            }
            break;
        case MRS_ARG_BOOL: mrsi_read_bool(r, one, &on); break;
        case MRS_ARG_CHOICE: mrsi_read_choice(r, one, &choice); break;
        default:
            if (mrsi_read_count(r, one, &count) && (count < 1 || count > 5)) {
                mrsi_read_error(r, s.key, collation_keys[i].name, "must be 1 to 5");
            }
        }
    }
}

static bool
turned_on(struct mrs_val v)
{
    return v.type == MRS_BOOL && v.p[0];
}

static void
check(struct mrsi_read *r, struct options *o, int i, struct mrsi_slot s)
{
    MRS_ASSERT(i >= 0 && i < N_OPTIONS);
    bool on;
    int choice;
    uint64_t count;
    switch (i) {
    case VALIDATOR: check_validator(r, s); break;
    case LEVEL:
    case ACTION: mrsi_read_choice(r, s, &choice); break;
    case TIMESERIES: check_timeseries(r, s, &o->time); break;
    case CAPPED: mrsi_read_bool(r, s, &on); break;
    case COLLATION: check_collation(r, s); break;
    default:
        if (mrsi_read_count(r, s, &count) && count == 0) {
            mrsi_read_error(r, s.key, NULL, "must be greater than 0");
        }
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct options *s = mrsi_read_begin(&r, args, sizeof *s, e);
    bool any = false;
    if (!s) {
        return MRS_DEAD;
    }
    mrsi_read_coll(&r, mrsi_slot(&r, "in"), &s->in);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    for (int i = 0; i < N_OPTIONS; i++) {
        struct mrsi_slot one = mrsi_slot(&r, keys[i + 1].name);
        s->option[i] = one.v;
        any = any || mrsi_slot_present(one);
        if (mrsi_slot_present(one) && one.v.type != MRS_NULL) {
            check(&r, s, i, one);
        }
    }
    if (!any) {
        mrsi_read_error(&r, NULL, NULL, "names no option");
    }
    for (int i = SIZE; i <= MAX && s->option[CAPPED].type == MRS_NULL; i++) { /* without `capped` they have no effect */
        s->option[i] = s->option[i].type == MRS_MISSING ? s->option[CAPPED] : s->option[i];
    }
    bool sized = s->option[SIZE].type != MRS_MISSING && s->option[SIZE].type != MRS_NULL;
    if (turned_on(s->option[CAPPED]) && !sized) {
        mrsi_read_error(&r, "capped", NULL, "needs `size`");
    }
    if (turned_on(s->option[CAPPED]) && s->option[TIMESERIES].type == MRS_DOCUMENT) {
        mrsi_read_error(&r, "capped", NULL, "and `timeseries` exclude each other");
    }
    for (int i = SIZE; i <= MAX; i++) {
        bool set = s->option[i].type != MRS_MISSING && s->option[i].type != MRS_NULL;
        if (set && !turned_on(s->option[CAPPED])) {
            mrsi_read_error(&r, keys[i + 1].name, NULL, "needs `capped: true`");
        }
    }
    return mrsi_read_end(&r, state);
}

/* ---- description ---- */
static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct options *s = state;
    struct mrsi_describe t;
    unsigned reads = s->time ? MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN : 0;
    mrsi_describe_begin(&t, arena, out, s->time ? MRS_FAMILY_MAP : MRS_FAMILY_CATALOG, e);
    out->compares_nothing = true;
    mrsi_describe_side(&t, &s->in, reads, "in");
    if (s->time) {
        mrsi_describe_touch(&t, 0, 'R', s->time);
    }
    mrsi_describe_words(&t, "sets options of %s:", s->in.ns);
    for (int i = 0; i < N_OPTIONS; i++) {
        if (s->option[i].type != MRS_MISSING) {
            mrsi_describe_words(&t, " %s%s", keys[i + 1].name, s->option[i].type == MRS_NULL ? " (removed)" : "");
        }
    }
    if (s->option[CAPPED].type != MRS_MISSING || s->option[TIMESERIES].type != MRS_MISSING) {
        mrsi_describe_quiet(&t, "documents of a capped or time-series collection cannot be put right one by one"
                            MRSI_DO_QUIET);
    }
    if (s->option[COLLATION].type != MRS_MISSING) {
        mrsi_describe_quiet(&t, "a server never changes the collation of a collection: it is made anew" MRSI_DO_QUIET);
    }
    mrsi_describe_loss(&t, "the options that %s had under these names", s->in.ns);
    return mrsi_describe_end(&t);
}

/* ---- documents of a time series: each needs a date ---- */
static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct options *s = state;
    struct mrs_val time = mrs_doc_get(doc, s->time);
    mrsi_work_start(work, c);
    *fate = MRS_FATE_STAYS;
    if (time.type != MRS_DATE) {
        return mrsi_step_refuse(c, "timeseries", "%s is %s, and a server takes measurements with a date only", s->time,
                                time.type == MRS_MISSING ? "missing" : mrs_type_name(time.type));
    }
    mrsi_work_emit(work, side, true, doc);
    return MRS_OK;
}

static const struct mrs_spread_ops measurements = {.begin = begin, .next = mrsi_work_next};

/* The new options: existing ones in their order, then new ones. */
static enum mrs_status
merge(const struct options *s, struct mrs_view old, struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(old));
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem el;
    bool done[N_OPTIONS] = {false};
    mrs_build_init(&b, buf);
    for (mrs_walk_init(&w, old); mrs_walk_next(&w, &el) == 1;) {
        int i = 0;
        while (i < N_OPTIONS && (s->option[i].type == MRS_MISSING || strcmp(keys[i + 1].name, el.name) != 0)) {
            i++;
        }
        if (i == N_OPTIONS) {
            mrs_build_elem(&b, &el);
            continue;
        }
        done[i] = true;
        if (s->option[i].type != MRS_NULL) {
            mrs_build_val(&b, el.name, el.name_len, s->option[i]);
        }
    }
    for (int i = 0; i < N_OPTIONS; i++) {
        if (!done[i] && s->option[i].type != MRS_NULL) {
            mrs_build_val(&b, keys[i + 1].name, (uint32_t)strlen(keys[i + 1].name), s->option[i]);
        }
    }
    return mrs_build_finish(&b, out, e);
}

/* A time-series collection has no index on `_id`. */
static enum mrs_status
without_id_index(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_err *e)
{
    uint32_t n = 0;
    struct mrs_view *kept = mrs_arena_alloc(mrs_catalog_arena(cat), (cc->n_index + 1) * sizeof *kept);
    MRS_TRY(mrs_allocated(kept, cc->n_index * sizeof *kept, e));
    for (uint32_t i = 0; i < cc->n_index; i++) {
        struct mrs_val name = mrs_doc_get(cc->index[i], "name");
        if (name.type != MRS_STRING || strcmp((const char *)name.p + 4, "_id_") != 0) {
            kept[n++] = cc->index[i];
        }
    }
    cc->index = kept;
    cc->n_index = n;
    return MRS_OK;
}

/* Is each field of the key the metaField or in it? */
static bool
within_meta(struct mrs_view index, struct mrs_val meta)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_val key = mrs_doc_get(index, "key");
    uint32_t n = 0;
    const char *name = meta.type == MRS_STRING ? mrs_val_text(meta, &n) : "";
    bool within = key.type == MRS_DOCUMENT;
    for (mrs_walk_init(&w, within ? mrs_val_view(key) : mrs_empty_doc()); mrs_walk_next(&w, &el) == 1;) {
        within = within && n && strncmp(el.name, name, n) == 0 && (el.name[n] == '.' || !el.name[n]);
    }
    return within;
}

/* Why a server builds no such index of a time series; NULL: it does. */
static const char *
not_in_series(struct mrs_view index, struct mrs_val meta)
{
    struct mrs_val key = mrs_doc_get(index, "key");
    struct mrs_walk w;
    struct mrs_elem el;
    bool text = false, flat = false, within = within_meta(index, meta);
    for (mrs_walk_init(&w, key.type == MRS_DOCUMENT ? mrs_val_view(key) : mrs_empty_doc());
         mrs_walk_next(&w, &el) == 1;) {
        text = text || mrs_val_is_text(el.v, "text");
        flat = flat || mrs_val_is_text(el.v, "2d");
    }
    bool expires = mrs_doc_get(index, "expireAfterSeconds").type != MRS_MISSING &&
                   mrs_doc_get(index, "partialFilterExpression").type == MRS_MISSING;
    return mrs_index_is(index, "unique")              ? "unique"
           : text                                     ? "a text index"
           : expires                                  ? "one that expires documents"
           : mrs_index_is(index, "sparse") && !within ? "sparse outside of the metaField"
           : flat && !within                          ? "a 2d index outside of the metaField"
                                                      : NULL;
}

/* A restore would fail at what a server refuses for a time series. */
static enum mrs_status
fits_series(const struct options *s, const struct mrs_cat_coll *cc, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    struct mrs_val meta = mrs_doc_get(mrs_val_view(s->option[TIMESERIES]), "metaField");
    if (mrs_doc_get(cc->options, "validator").type != MRS_MISSING) {
        st = mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s has a validator, and a time series cannot have one: remove it by "
                         "`validator: null`", s->in.ns);
    }
    for (uint32_t i = 0; st == MRS_OK && i < cc->n_index; i++) {
        const char *why = not_in_series(cc->index[i], meta);
        if (why) {
            st = mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "index %s of %s is %s, and a time series cannot have one: drop "
                             "it in a step `index` before", mrsi_index_name(cc->index[i]), s->in.ns, why);
        }
    }
    if (st != MRS_OK) {
        mrs_err_at(e, "%s", keys[TIMESERIES + 1].name);
    }
    return st;
}

/* The index on `_id` has the collation of its collection. */
static enum mrs_status
collate_id_index(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_val collation, struct mrs_err *e)
{
    struct mrs_arena *a = mrs_catalog_arena(cat);
    struct mrs_view *list = mrs_arena_alloc(a, (cc->n_index + 1) * sizeof *list), made;
    struct mrs_buf buf;
    enum mrs_status st = mrs_allocated(list, cc->n_index * sizeof *list, e);
    mrs_buf_init(&buf, a->mem, MRS_METADATA_MAX);
    for (uint32_t i = 0; st == MRS_OK && i < cc->n_index; i++) {
        struct mrs_build b;
        struct mrs_walk w;
        struct mrs_elem el;
        list[i] = cc->index[i];
        if (!mrsi_index_is_id(list[i])) {
            continue;
        }
        mrs_buf_reset(&buf);
        mrs_build_init(&b, &buf);
        for (mrs_walk_init(&w, cc->index[i]); mrs_walk_next(&w, &el) == 1;) {
            if (strcmp(el.name, "collation") != 0) {
                mrs_build_elem(&b, &el);
            }
        }
        if (collation.type == MRS_DOCUMENT) {
            mrs_build_val(&b, "collation", 9, collation);
        }
        st = mrs_build_finish(&b, &made, e);
        list[i] = st == MRS_OK ? mrsi_cat_copy(cat, made) : made;
        st = st == MRS_OK && !list[i].p ? mrs_err_memory(e, made.n) : st;
    }
    mrs_buf_clear(&buf);
    cc->index = st == MRS_OK ? list : cc->index;
    return st;
}

/* The requested option that only a collection created by the plan can have; NULL: none. */
static const char *
only_new(const struct options *s, const struct mrs_cat_coll *cc, int *key)
{
    bool series = s->option[TIMESERIES].type == MRS_DOCUMENT;
    bool capped = turned_on(s->option[CAPPED]) && !mrs_catalog_capped(cc);
    *key = series ? TIMESERIES : capped ? CAPPED : COLLATION;
    return series                                      ? "become a time series"
           : capped                                    ? "become capped"
           : s->option[COLLATION].type == MRS_DOCUMENT ? "get a collation"
                                                       : NULL;
}

/* A restore checks documents against a validator; a run does not. */
static void
note_validator(const struct options *s, struct mrs_catalog *cat, const struct mrs_cat_coll *cc)
{
    struct mrs_val v = s->option[VALIDATOR];
    if (v.type == MRS_DOCUMENT && mrs_val_view(v).n > MRS_DOC_MIN &&
        !mrs_val_is_text(mrs_doc_get(cc->options, "validationLevel"), "off") &&
        !mrs_val_is_text(mrs_doc_get(cc->options, "validationAction"), "warn")) {
        mrs_catalog_note(cat, "documents of %s are not compared with its new validator: a restore leaves out those "
                              "that do not match, unless mongorestore is given --bypassDocumentValidation",
                         cc->coll.ns);
    }
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct options *s = state;
    struct mrs_cat_coll *cc = NULL;
    struct mrs_buf buf;
    struct mrs_view d;
    bool series = s->option[TIMESERIES].type == MRS_DOCUMENT;
    int key = 0;
    MRS_TRY(mrsi_cat_need(cat, &s->in, true, "in", &cc, e));
    const char *what = only_new(s, cc, &key);
    if (what && !cc->made) {
        mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s exists: only a collection that the plan creates can %s",
                    s->in.ns, what);
        mrs_err_at(e, "%s", keys[key + 1].name);
        return MRS_FAIL;
    }
    mrs_buf_init(&buf, mrs_catalog_arena(cat)->mem, MRS_METADATA_MAX);
    enum mrs_status st = merge(s, cc->options, &buf, &d, e);
    MRS_THEN(st, mrsi_cat_set_options(cat, cc, d, e));
    mrs_buf_clear(&buf);
    if (st == MRS_OK) {
        note_validator(s, cat, cc);
    }
    if (st == MRS_OK && s->option[COLLATION].type != MRS_MISSING) {
        st = collate_id_index(cat, cc, s->option[COLLATION], e);
    }
    if (st == MRS_OK && series) {
        cc->kind = MRS_COLL_TIMESERIES;
        st = without_id_index(cat, cc, e);
        MRS_THEN(st, fits_series(s, cc, e));
    }
    return st;
}

static const struct mrs_inner inner[] = {{"timeseries", series_keys, N_SERIES, false},
                                         {"collation", collation_keys, N_COLLATION, false}};

const struct mrs_step_type mrsi_step_options = {
    .name = "options",
    .summary = "sets options of a collection",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .inner = inner,
    .n_inner = sizeof inner / sizeof *inner,
    .example = "in: users\nvalidator: { email: { $type: string } }\n\n"
               "timeseries: { timeField: timestamp, metaField: sensor, granularity: minutes }\ncapped: true\n"
               "size: 1048576\nmax: 1000\ncollation: { locale: de, strength: 2 }\n",
    .since_2 = "collation",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_options_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &measurements,
};
