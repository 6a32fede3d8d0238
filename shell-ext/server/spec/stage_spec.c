/* SPDX-License-Identifier: Apache-2.0 */
/* stage_spec.c - parses `{ $reshape: {...} }`: from untrusted bytes to an immutable specification.
 *
 * The bytes are validated before anything is read from them. Then each key is checked, and the plan loaded by the
 * loader of all our tools; all errors are collected and reported together, each with its path. */
#include "stage_spec.h"

#include "mongoreshape/build.h"
#include "mongoreshape/clock.h"

#include <stdatomic.h>
#include <stdio.h>

static const char *const spec_keys[] = {"plan", "planId", "of", "emit", "with", "refused", "memory", "now"};
#define N_SPEC_KEYS (sizeof spec_keys / sizeof *spec_keys)
#define MISTAKES_SHOWN 50u

struct reader {
    struct ext_spec *spec;
    const struct ext_spec *before; /* an earlier specification, made without a database; NULL: none */
    const char *database; /* NULL: unknown */
    struct mrs_val at[N_SPEC_KEYS];
    struct mrs_buf text;  /* error messages */
    uint32_t n;
    int32_t code;
};
enum { AT_PLAN, AT_PLAN_ID, AT_OF, AT_EMIT, AT_WITH, AT_REFUSED, AT_MEMORY, AT_NOW };

static void
mistake(void *arg, const char *place, const char *msg)
{
    struct reader *r = arg;
    if (r->n++ < MISTAKES_SHOWN) {
        mrs_buf_say(&r->text, "%s%s%s%s", r->n > 1 ? "; " : "", place, *place ? ": " : "", msg);
    }
}

static void mistake_f(struct reader *r, const char *place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void
mistake_f(struct reader *r, const char *place, const char *fmt, ...)
{
    char msg[700];
    va_list args;
    va_start(args, fmt);
    vsnprintf(msg, sizeof msg, fmt, args);
    va_end(args);
    mistake(r, place, msg);
}

/* ---- keys ---- */
static void
read_keys(struct reader *r, struct mrs_view body)
{
    MRS_ASSERT(mrs_view_is_framed(body));
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, body);
    while (mrs_walk_next(&w, &e) == 1) {
        size_t i = 0;
        while (i < N_SPEC_KEYS && strcmp(e.name, spec_keys[i]) != 0) {
            i++;
        }
        if (i < N_SPEC_KEYS && r->at[i].type == MRS_MISSING) {
            r->at[i] = e.v;
        } else if (i < N_SPEC_KEYS) {
            mistake(r, e.name, "occurs twice");
        } else {
            const char *near = mrs_nearest(e.name, spec_keys, N_SPEC_KEYS);
            mistake_f(r, e.name, "unknown key%s%s%s", near ? " (did you mean `" : "; " EXT_STAGE " has the keys "
                                        "plan, planId, "
                      "of, emit, with, refused, memory and now", near ? near : "", near ? "`?)" : "");
        }
    }
}

/* A string without NULs, which lives as long as the specification; NULL: none. */
static const char *
plain_text(struct mrs_val v)
{
    uint32_t n;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    return text && n && !memchr(text, 0, n) ? text : NULL;
}

static void
read_coll(struct reader *r, int key, struct mrs_coll *out)
{
    MRS_ASSERT(key >= 0 && (size_t)key < N_SPEC_KEYS && out);
    struct mrs_val v = r->at[key];
    out->coll = plain_text(v);
    if (v.type == MRS_DOCUMENT) {
        out->db = plain_text(mrs_doc_get(mrs_val_view(v), "db"));
        out->coll = plain_text(mrs_doc_get(mrs_val_view(v), "coll"));
        out->coll = out->db && mrs_val_count(v) == 2 ? out->coll : NULL;
    }
    if (v.type != MRS_MISSING && !out->coll) {
        mistake(r, spec_keys[key], "must be the name of a collection of the plan, or { db: ..., coll: ... }");
    }
}

static void
read_policies(struct reader *r)
{
    struct ext_spec *spec = r->spec;
    struct mrs_val v = r->at[AT_REFUSED];
    spec->skip = mrs_val_is_text(v, "skip");
    if (v.type != MRS_MISSING && !spec->skip && !mrs_val_is_text(v, "error")) {
        mistake(r, "refused", "must be \"error\" (a document that the plan refuses ends the operation) or \"skip\" "
                                        "(it is "
                "left out and counted)");
    }
    v = r->at[AT_MEMORY];
    spec->memory = spec->home->memory;
    if (v.type != MRS_MISSING && (!mrs_val_integral(v, &spec->memory) || spec->memory < EXT_MEMORY_MIN ||
                                  spec->memory > EXT_MEMORY_MAX)) {
        mistake_f(r, "memory", "must be a number of bytes from %lld to %lld", EXT_MEMORY_MIN, EXT_MEMORY_MAX);
    }
    v = r->at[AT_NOW];
    spec->now = v.type == MRS_DATE ? mrs_val_i64(v) : r->before ? r->before->now : mrs_clock_wall();
    if (v.type != MRS_MISSING && v.type != MRS_DATE) {
        mistake(r, "now", "must be a date: what $$NOW is in the plan's expressions");
    }
    v = r->at[AT_WITH];
    spec->with = v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc();
    if (v.type != MRS_MISSING && v.type != MRS_DOCUMENT) {
        mistake(r, "with", "must say for each collection in which field its documents arrive, as in "
                "{ comments: \"__c\" }");
    }
}

/* ---- the plan ---- */
static bool
is_plan_id(const char *text)
{
    return text && strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

/* The plan with this id in the options. */
static bool
find_plan(struct reader *r)
{
    const char *id = plain_text(r->at[AT_PLAN_ID]);
    const struct mrs_buf *o = &r->spec->home->options;
    if (!is_plan_id(id)) {
        mistake(r, "planId", "must be the 32 digits that `mongoreshape explain` shows as the plan id");
        return false;
    }
    struct mrs_view options = {o->p, (uint32_t)o->n};
    struct mrs_val plan = o->n ? mrs_doc_get(options, id) : mrs_missing();
    if (plan.type != MRS_DOCUMENT) {
        mistake_f(r, "planId", "no plan %s in `plans` of this server's extensionOptions", id);
        return false;
    }
    r->spec->plan_doc = mrs_val_view(plan);
    return true;
}

static bool
choose_plan(struct reader *r)
{
    bool doc = r->at[AT_PLAN].type != MRS_MISSING, id = r->at[AT_PLAN_ID].type != MRS_MISSING;
    if (doc == id) {
        mistake(r, doc ? "planId" : "plan", doc ? "is next to `plan`: one of them says what is to be done"
                                                : "is missing: { plan: { steps: [...] } }, or planId");
        return false;
    }
    if (id) {
        return find_plan(r);
    }
    if (r->at[AT_PLAN].type != MRS_DOCUMENT) {
        mistake(r, "plan", "must be a document, as in { steps: [ { set: { in: ..., fields: ... } } ] }");
        return false;
    }
    r->spec->plan_doc = mrs_val_view(r->at[AT_PLAN]);
    return true;
}

static void
plan_mistakes(struct reader *r, const struct mrs_plan *p)
{
    MRS_ASSERT(p->n_errors > 0);
    struct mrs_buf place;
    mrs_buf_init(&place, r->spec->mem, EXT_SPEC_MAX);
    for (uint32_t i = 0; i < p->n_errors + p->n_warnings; i++) {
        if (p->errors[i].warning) {
            continue;
        }
        mrs_buf_reset(&place);
        mrs_buf_put(&place, "plan.", 5);
        mrs_plan_place(r->spec->plan_doc, p->errors[i].line, &place);
        place.n -= place.n == 5;
        mrs_buf_byte(&place, 0);
        mistake(r, place.bad ? "plan" : (const char *)place.p, p->errors[i].msg);
    }
    mrs_buf_clear(&place);
}

static enum mrs_status
load_plan(struct reader *r, struct mrs_err *e)
{
    struct ext_spec *spec = r->spec;
    struct mrs_plan_opts opts = {.file = "plan", .default_db = r->database, .any_db = !r->database,
        .now_ms = spec->now};
    struct mrs_buf text;
    mrs_buf_init(&text, spec->mem, MRS_PLAN_BYTES_MAX);
    enum mrs_status s = mrs_plan_text(spec->plan_doc, &text, e);
    MRS_THEN(s, mrs_plan_load(spec->mem, (const char *)text.p, text.n, &opts, &spec->plan, e));
    mrs_buf_clear(&text);
    if (s == MRS_FAIL && spec->plan) {
        plan_mistakes(r, spec->plan);
        return MRS_OK;
    }
    if (s == MRS_OK && spec->plan->stars) {
        mistake(r, "plan.steps", MRS_STAGE_STARS);
    }
    return s;
}

static enum mrs_status
route(struct reader *r, struct mrs_err *e)
{
    struct ext_spec *spec = r->spec;
    if (r->n) {
        return MRS_OK;
    }
    struct mrs_stage_request request = {.of = spec->of.coll ? &spec->of : NULL,
                                        .emit = spec->emit.coll ? &spec->emit : NULL,
                                        .with = spec->with,
                                        .report = mistake,
                                        .arg = r};
    return mrs_stage_find_route(spec->plan, &request, &spec->arena, &spec->route, e);
}

/* ---- entry points ---- */
/* One status for all errors: made by the server, so that it counts as a user error. */
static struct mdb_status *
report(struct reader *r, const struct mrs_err *e)
{
    const struct ext_home *home = r->spec->home;
    struct mrs_buf msg, bson;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&msg, home->mem, 1u << 20);
    mrs_buf_init(&bson, home->mem, 1u << 20);
    if (r->n) {
        mrs_buf_printf(&msg, EXT_STAGE ": %u mistake%s: ", r->n, r->n == 1 ? "" : "s");
        mrs_buf_put(&msg, r->text.p, r->text.n);
    } else {
        mrs_buf_say(&msg, EXT_STAGE ": %s", e->msg);
    }
    if (r->n > MISTAKES_SHOWN) {
        mrs_buf_printf(&msg, "; and %u more", r->n - MISTAKES_SHOWN);
    }
    mrs_build_init(&b, &bson);
    mrs_build_text(&b, "message", (const char *)msg.p, (uint32_t)msg.n);
    mrs_build_i32(&b, "errorCode", r->n ? ext_code(MRS_E_PLAN) : ext_code(e->code));
    bool built = mrs_build_finish(&b, &doc, NULL) == MRS_OK && !msg.bad && !r->text.bad;
    struct mdb_status *s = built && home->services
                               ? home->services->calls->user_asserted((struct mdb_bytes){doc.p, doc.n})
                               : NULL;
    s = s ? s : built ? ext_error(home->mem, ext_code(MRS_E_PLAN), (const char *)msg.p, msg.n) : ext_no_memory();
    mrs_buf_clear(&msg);
    mrs_buf_clear(&bson);
    return s;
}

static struct ext_spec *
new_spec(struct ext_home *home, struct mdb_bytes stage)
{
    MRS_ASSERT(stage.data || stage.len == 0);
    struct mrs_mem *mem = mrs_mem_new(0);
    if (mem) {
        mrs_mem_set_limit(mem, EXT_PLAN_MEMORY);
    }
    struct ext_spec *spec = mem ? mrs_zalloc(mem, sizeof *spec) : NULL;
    if (!spec) {
        mrs_mem_close(mem);
        return NULL;
    }
    *spec = (struct ext_spec){.home = home, .mem = mem, .users = 1};
    mrs_arena_init(&spec->arena, mem);
    uint8_t *copy = mrs_arena_copy(&spec->arena, stage.data, stage.len);
    if (!copy) {
        ext_spec_drop(spec);
        return NULL;
    }
    spec->stage = (struct mrs_view){copy, (uint32_t)stage.len};
    return spec;
}

static enum mrs_status
read_spec(struct reader *r, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, r->spec->stage);
    if (mrs_walk_next(&w, &el) != 1 || el.v.type != MRS_DOCUMENT) {
        mistake(r, "", "must be a document, as in { " EXT_STAGE ": { plan: {...} } }");
        return MRS_OK;
    }
    read_keys(r, mrs_val_view(el.v));
    read_coll(r, AT_OF, &r->spec->of);
    read_coll(r, AT_EMIT, &r->spec->emit);
    read_policies(r);
    enum mrs_status s = choose_plan(r) ? load_plan(r, e) : MRS_OK;
    MRS_THEN(s, route(r, e));
    return s;
}

static struct mdb_status *
make(struct ext_home *home, struct mdb_bytes stage, const struct ext_spec *before, const char *database,
     struct ext_spec **out)
{
    struct mrs_err e;
    struct reader r = {.spec = new_spec(home, stage), .before = before, .database = database};
    mrs_err_clear(&e);
    if (!r.spec) {
        return ext_no_memory();
    }
    mrs_buf_init(&r.text, r.spec->mem, 1u << 20);
    enum mrs_status s = mrs_doc_check(r.spec->stage.p, r.spec->stage.n, MRS_DEPTH_MAX, &e);
    MRS_THEN(s, read_spec(&r, &e));
    struct mdb_status *status = s == MRS_DEAD ? ext_no_memory() : s != MRS_OK || r.n ? report(&r, &e) : NULL;
    mrs_buf_clear(&r.text);
    if (status) {
        ext_spec_drop(r.spec);
        return status;
    }
    *out = r.spec;
    return ext_ok();
}

struct mdb_status *
ext_spec_read(struct ext_home *home, struct mdb_bytes stage, struct ext_spec **out)
{
    static const char too_large[] = EXT_STAGE ": the stage has more than 1 MiB: name its plan by planId";
    if (stage.len > EXT_SPEC_MAX) {
        return ext_error(home->mem, ext_code(MRS_E_LIMIT), too_large, sizeof too_large - 1);
    }
    return make(home, stage, NULL, NULL, out);
}

struct mdb_status *
ext_spec_bind(struct ext_spec *spec, struct mdb_bytes database, struct ext_spec **out)
{
    MRS_ASSERT(out);
    if (spec->plan->id_known) {
        *out = ext_spec_retain(spec);
        return ext_ok();
    }
    char *name = database.len && database.len <= MRS_DB_MAX
                     ? mrs_strndup(spec->home->mem, (const char *)database.data, database.len)
                     : NULL;
    if (!name) {
        return ext_no_memory();
    }
    struct mdb_bytes stage = {spec->stage.p, spec->stage.n};
    struct mdb_status *s = make(spec->home, stage, spec, name, out);
    mrs_free(spec->home->mem, name);
    return s;
}

struct ext_spec *
ext_spec_retain(struct ext_spec *spec)
{
    MRS_ASSERT(spec->users > 0);
    atomic_fetch_add_explicit(&spec->users, 1, memory_order_relaxed);
    return spec;
}

void
ext_spec_drop(struct ext_spec *spec)
{
    MRS_ASSERT(spec->users > 0);
    if (atomic_fetch_sub_explicit(&spec->users, 1, memory_order_acq_rel) > 1) {
        return;
    }
    struct mrs_mem *mem = spec->mem;
    mrs_plan_free(spec->plan);
    mrs_arena_clear(&spec->arena);
    mrs_free(mem, spec);
    mrs_mem_close(mem);
}

/* ---- the normal form ---- */
static void
normal_plan(const struct ext_spec *spec, struct mrs_build *b)
{
    const struct mrs_plan *p = spec->plan;
    bool server = mrs_doc_get(spec->plan_doc, "server").type != MRS_MISSING;
    bool database = mrs_doc_get(spec->plan_doc, "database").type != MRS_MISSING;
    mrs_build_open(b, "plan", 4, MRS_DOCUMENT);
    mrs_build_raw(b, spec->plan_doc.p + 4, spec->plan_doc.n - MRS_DOC_MIN);
    if (!server) {
        mrs_build_text(b, "server", p->server, (uint32_t)strlen(p->server));
    }
    if (!database && p->id_known && *p->database) {
        mrs_build_text(b, "database", p->database, (uint32_t)strlen(p->database));
    }
    mrs_build_close(b);
}

static void
normal_coll(const struct ext_spec *spec, struct mrs_build *b, const char *key, uint32_t coll)
{
    MRS_ASSERT(key && coll < spec->route.n_colls);
    const struct mrs_coll *c = spec->route.coll[coll];
    if (strcmp(c->db, spec->plan->database) == 0) {
        mrs_build_text(b, key, c->coll, (uint32_t)strlen(c->coll));
        return;
    }
    mrs_build_open(b, key, (uint32_t)strlen(key), MRS_DOCUMENT);
    mrs_build_text(b, "db", c->db, (uint32_t)strlen(c->db));
    mrs_build_text(b, "coll", c->coll, (uint32_t)strlen(c->coll));
    mrs_build_close(b);
}

void
ext_spec_normal(const struct ext_spec *spec, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct mrs_build b;
    struct mrs_view doc;
    uint8_t room[16];
    mrs_build_init(&b, out);
    mrs_build_open(&b, EXT_STAGE, sizeof EXT_STAGE - 1, MRS_DOCUMENT);
    normal_plan(spec, &b);
    normal_coll(spec, &b, "of", spec->route.of);
    normal_coll(spec, &b, "emit", spec->route.emit);
    if (spec->with.n > MRS_DOC_MIN) {
        mrs_build_val(&b, "with", 4, mrs_view_val(spec->with));
    }
    mrs_build_text(&b, "refused", spec->skip ? "skip" : "error", spec->skip ? 4 : 5);
    mrs_build_i64(&b, "memory", spec->memory);
    mrs_build_val(&b, "now", 3, mrs_make_i64(room, spec->now, MRS_DATE));
    mrs_build_close(&b);
    if (mrs_build_finish(&b, &doc, NULL) != MRS_OK) {
        out->bad = out->bad ? out->bad : 1;
    }
}
