/* SPDX-License-Identifier: Apache-2.0 */
/* claims.c - the additions of a run: the claims in the run document, and the matching catalogue.
 *
 * Before the first write, all additions of the plan (fields of existing documents, collections, indexes) are recorded
 * as claims; none of them may exist before. So a second call knows its own additions, and rollback knows what to
 * remove. The catalogue is computed by the steps from the server's, without earlier claims of this run: so a second
 * call starts from the same catalogue as the first. Contract creates unique and expiring indexes: while both schemas
 * exist, they would refuse or remove incomplete documents. */
#include "live/link/bson.h"
#include "live/server/preflight.h"
#include "work.h"

#include "mongoreshape/ejson.h"
#include "mongoreshape/catalogue.h"

#include <stdio.h>

struct claim_list {
    struct mrs_build b;
    uint32_t n;
};

/* ---- existing claims ---- */

static struct mrs_val
recorded_claims(const struct live_job *job)
{
    if (!job->run || job->run->doc.n == 0) {
        return mrs_missing();
    }
    return mrs_doc_get((struct mrs_view){job->run->doc.p, (uint32_t)job->run->doc.n}, "claims");
}

/* Does the run document list this claim already? key: "field", "index"; NULL: the collection itself. */
static bool
is_listed(const struct live_job *job, const char *ns, const char *key, const char *name)
{
    MRS_ASSERT(ns);
    struct mrs_val list = recorded_claims(job);
    struct mrs_walk w;
    struct mrs_elem el;
    if (list.type != MRS_ARRAY) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(list));
    while (mrs_walk_next(&w, &el) == 1) {
        struct mrs_view c = live_doc_of(el.v);
        if (el.v.type == MRS_DOCUMENT && mrs_val_is_text(mrs_doc_get(c, "ns"), ns) &&
            (key ? mrs_val_is_text(mrs_doc_get(c, key), name) : live_bool_at(c, "made", false))) {
            return true;
        }
    }
    return false;
}

/* ---- the catalogue ---- */

/* Metadata of a collection without the indexes of this run. */
static enum mrs_status
metadata_less(struct live_job *job, const struct live_coll_info *info, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(info);
    struct mrs_buf buf;
    struct mrs_walk w, wi;
    struct mrs_elem el, ix;
    struct mrs_build b;
    struct mrs_view made;
    mrs_buf_init(&buf, job->mem, MRS_METADATA_MAX);
    enum mrs_status st = live_server_metadata(info, &buf, e);
    mrs_build_init(&b, out);
    if (!st) {
        mrs_walk_init(&w, (struct mrs_view){buf.p, (uint32_t)buf.n});
        while (mrs_walk_next(&w, &el) == 1) {
            if (strcmp(el.name, "indexes") != 0 || el.v.type != MRS_ARRAY) {
                mrs_build_elem(&b, &el);
                continue;
            }
            mrs_build_open(&b, "indexes", 7, MRS_ARRAY);
            mrs_walk_init(&wi, live_doc_of(el.v));
            while (mrs_walk_next(&wi, &ix) == 1) {
                char name[256];
                live_text_at(live_doc_of(ix.v), "name", name, sizeof name);
                if (!is_listed(job, info->coll.ns, "index", name)) {
                    mrs_build_item(&b, ix.v);
                }
            }
            mrs_build_close(&b);
        }
        st = mrs_build_finish(&b, &made, e);
    }
    mrs_buf_clear(&buf);
    return st;
}

/* The catalogue from before contract began to change it; empty: not recorded. */
static struct mrs_view
noted(const struct live_job *job)
{
    struct mrs_val v = job->run ? mrs_doc_get(live_run_doc(job->run), "catalogue") : mrs_missing();
    return v.type == MRS_BINARY && v.n > 5 ? (struct mrs_view){v.p + 5, v.n - 5} : (struct mrs_view){NULL, 0};
}

static enum mrs_status
take_noted(struct mrs_view list, struct mrs_catalog *cat, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n;
    enum mrs_status st = mrs_doc_check(list.p, list.n, MRS_DEPTH_READ, e);
    mrs_walk_init(&w, list);
    while (!st && mrs_walk_next(&w, &el) == 1) {
        struct mrs_view one = el.v.type == MRS_DOCUMENT ? live_doc_of(el.v) : mrs_empty_doc();
        struct mrs_val db = mrs_doc_get(one, "db"), coll = mrs_doc_get(one, "coll"), meta = mrs_doc_get(one, "meta");
        if (db.type != MRS_STRING || coll.type != MRS_STRING || meta.type != MRS_DOCUMENT) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the run document is damaged: its catalogue");
        }
        st = mrs_catalog_add(cat, mrs_val_text(db, &n), mrs_val_text(coll, &n), mrs_val_view(meta), e);
    }
    return st;
}

static enum mrs_status
take_in(struct live_job *job, struct mrs_catalog *cat, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_view before = noted(job);
    if (before.n) {
        return take_noted(before, cat, e);
    }
    enum mrs_status st = MRS_OK;
    mrs_buf_init(&buf, job->mem, MRS_METADATA_MAX);
    for (uint32_t i = 0; i < job->server->n_coll && !st; i++) {
        const struct live_coll_info *info = &job->server->coll[i];
        if (is_listed(job, info->coll.ns, NULL, NULL)) {
            continue;
        }
        mrs_buf_reset(&buf);
        st = metadata_less(job, info, &buf, e);
        MRS_THEN(st, mrs_catalog_add(cat, info->coll.db, info->coll.coll,
                                     (struct mrs_view){buf.p, (uint32_t)buf.n}, e));
    }
    mrs_buf_clear(&buf);
    return st;
}

static const struct live_coll_info *
on_server(const struct live_job *job, const struct mrs_cat_coll *cc)
{
    const struct live_coll_info *info = live_server_coll(job->server, &cc->coll);
    return info && !is_listed(job, cc->coll.ns, NULL, NULL) ? info : NULL;
}

/* The current index of this name on the server. */
static struct mrs_val
server_index(const struct live_coll_info *info, struct mrs_view index)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_val name = mrs_doc_get(index, "name");
    if (info && info->indexes.n) {
        mrs_walk_init(&w, info->indexes);
        while (mrs_walk_next(&w, &el) == 1) {
            if (el.v.type == MRS_DOCUMENT && mrs_identical(mrs_doc_get(live_doc_of(el.v), "name"), name)) {
                return el.v;
            }
        }
    }
    return mrs_missing();
}

static bool
waits_for_contract(struct mrs_view index)
{
    return live_bool_at(index, "unique", false) || mrs_doc_get(index, "expireAfterSeconds").type != MRS_MISSING;
}

/* ---- new claims ---- */

static void
open_claim(struct claim_list *l, const char *ns)
{
    MRS_ASSERT(ns[0]);
    char index[12];
    mrs_build_open(&l->b, index, mrs_index_name(index, l->n++), MRS_DOCUMENT);
    mrs_build_text(&l->b, "ns", ns, (uint32_t)strlen(ns));
}

static void
claim_fields(const struct live_job *job, struct claim_list *l)
{
    MRS_ASSERT(job->live);
    for (uint32_t g = 0; g < job->live->n_groups; g++) {
        const struct mrs_live_group *lg = &job->live->group[g];
        for (uint32_t i = 0; i < lg->n_claims && lg->claims_side >= 0; i++) {
            open_claim(l, job->plan->steps[lg->first].desc.sides[lg->claims_side].coll.ns);
            mrs_build_text(&l->b, "field", lg->claims[i], (uint32_t)strlen(lg->claims[i]));
            mrs_build_close(&l->b);
        }
    }
}

static void
claim_catalogue(const struct live_job *job, struct mrs_catalog *cat, struct claim_list *l)
{
    for (uint32_t i = 0; i < mrs_catalog_count(cat); i++) {
        const struct mrs_cat_coll *cc = mrs_catalog_at(cat, i);
        const struct live_coll_info *info = on_server(job, cc);
        if (!cc->exists || (!info && !cc->made)) {
            continue; /* dropped, or exists under a name that it gets at the end */
        }
        if (!info) {
            open_claim(l, cc->coll.ns);
            mrs_build_bool(&l->b, "made", true);
            mrs_build_close(&l->b);
            continue;
        }
        for (uint32_t k = 0; k < cc->n_index; k++) {
            uint32_t n;
            struct mrs_val name = mrs_doc_get(cc->index[k], "name");
            struct mrs_val there = server_index(info, cc->index[k]);
            if (name.type == MRS_STRING && !waits_for_contract(cc->index[k]) && there.type == MRS_MISSING) {
                const char *text = mrs_val_text(name, &n);
                open_claim(l, cc->coll.ns);
                mrs_build_text(&l->b, "index", text, n);
                mrs_build_close(&l->b);
            }
        }
    }
}

static bool
plan_names(const struct mrs_plan *p, const char *ns)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        for (uint32_t k = 0; k < p->steps[i].desc.n_sides; k++) {
            if (strcmp(p->steps[i].desc.sides[k].coll.ns, ns) == 0) {
                return true;
            }
        }
    }
    return false;
}

enum mrs_status
live_catalogue_note(struct live_job *job, struct mrs_buf *out, struct mrs_err *e)
{
    static const uint8_t frame[5];
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view list;
    char index[12];
    uint32_t n = 0;
    enum mrs_status st = MRS_OK;
    mrs_buf_init(&buf, job->mem, MRS_METADATA_MAX);
    mrs_buf_put(out, frame, sizeof frame); /* binary value: the server does not interpret names in it */
    mrs_build_init(&b, out);
    for (uint32_t i = 0; i < job->server->n_coll && !st; i++) {
        const struct live_coll_info *info = &job->server->coll[i];
        if (!plan_names(job->plan, info->coll.ns) || is_listed(job, info->coll.ns, NULL, NULL)) {
            continue;
        }
        mrs_buf_reset(&buf);
        st = metadata_less(job, info, &buf, e);
        mrs_build_open(&b, index, mrs_index_name(index, n++), MRS_DOCUMENT);
        mrs_build_text(&b, "db", info->coll.db, (uint32_t)strlen(info->coll.db));
        mrs_build_text(&b, "coll", info->coll.coll, (uint32_t)strlen(info->coll.coll));
        mrs_build_val(&b, "meta", 4, mrs_view_val((struct mrs_view){buf.p, (uint32_t)buf.n}));
        mrs_build_close(&b);
    }
    MRS_THEN(st, mrs_build_finish(&b, &list, e));
    if (!st) {
        mrs_put32(out->p, (uint32_t)out->n - 5);
    }
    mrs_buf_clear(&buf);
    return st;
}

void
live_claims_clear(struct live_claims *c)
{
    mrs_catalog_free(c->cat);
    mrs_arena_clear(&c->arena);
    c->cat = NULL;
}

enum mrs_status
live_claims_make(struct live_job *job, struct live_claims *c, struct mrs_err *e)
{
    MRS_ASSERT(job->plan && job->live);
    struct mrs_buf buf;
    memset(c, 0, sizeof *c);
    mrs_arena_init(&c->arena, job->mem);
    mrs_buf_init(&buf, job->mem, MRS_DOC_MAX);
    enum mrs_status st = mrs_catalog_new(job->mem, &c->cat, e);
    MRS_THEN(st, take_in(job, c->cat, e));
    for (uint32_t i = 0; i < job->plan->n_steps && !st; i++) {
        st = mrs_catalog_play(c->cat, &job->plan->steps[i], job->plan->version, e);
    }
    if (!st) {
        struct claim_list l = {.n = 0};
        mrs_build_init(&l.b, &buf);
        mrs_build_open(&l.b, "claims", 6, MRS_ARRAY);
        claim_fields(job, &l);
        claim_catalogue(job, c->cat, &l);
        mrs_build_close(&l.b);
        st = mrs_build_finish(&l.b, &c->doc, e);
    }
    if (!st) {
        c->doc.p = mrs_arena_copy(&c->arena, c->doc.p, c->doc.n);
        st = mrs_allocated(c->doc.p, c->doc.n, e);
    }
    mrs_buf_clear(&buf);
    return st;
}

/* ---- check for existing objects ---- */

static enum mrs_status
split_ns(struct mrs_arena *a, struct mrs_val ns, struct mrs_coll *out, struct mrs_err *e)
{
    uint32_t n;
    const char *text = mrs_val_text(ns, &n);
    enum mrs_status st = live_coll_of(a, text, out, e);
    return st == MRS_END ? mrs_err_set(e, MRS_DEAD, MRS_E_ACCOUNT, "a claim of \"%s\" names no collection", text) : st;
}

static enum mrs_status
check_fields(struct live_job *job, struct mrs_arena *a, const struct mrs_live_group *g, struct mrs_err *e)
{
    struct live_existing found;
    enum mrs_status st = live_find_claimed(job, g, a, &found, e);
    if (st == MRS_OK) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_EXISTS,
                           "the plan adds the field %s to documents of %s, and some have it already (_id %s): use "
                           "another name, or run the plan with --quiet-by", found.field, found.coll->ns, found.id);
    }
    return st == MRS_END ? MRS_OK : st;
}

static enum mrs_status
check_made(struct live_job *job, struct mrs_arena *a, struct mrs_view claim, struct mrs_err *e)
{
    struct mrs_coll coll;
    char uuid[40];
    enum mrs_status st = split_ns(a, mrs_doc_get(claim, "ns"), &coll, e);
    if (!st && live_bool_at(claim, "made", false) && !is_listed(job, coll.ns, NULL, NULL)) {
        st = live_server_uuid(job->link, &coll, uuid, e);
        if (!st && (uuid[0] || live_server_coll(job->server, &coll))) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_EXISTS,
                               "the plan makes the collection %s, which exists already: use another name, drop it, or "
                               "run the plan with --quiet-by", coll.ns);
        }
    }
    return st;
}

/* Calls fn for each claim of a list. */
static enum mrs_status
each_claim(struct live_job *job, struct mrs_val list,
           enum mrs_status (*fn)(struct live_job *job, struct mrs_arena *a, struct mrs_view claim, struct mrs_err *e),
           struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_arena a;
    enum mrs_status st = MRS_OK;
    if (list.type != MRS_ARRAY) {
        return MRS_OK;
    }
    mrs_arena_init(&a, job->mem);
    mrs_walk_init(&w, mrs_val_view(list));
    while (!st && mrs_walk_next(&w, &el) == 1) {
        mrs_arena_reset(&a);
        st = el.v.type == MRS_DOCUMENT ? fn(job, &a, live_doc_of(el.v), e) : MRS_OK;
    }
    mrs_arena_clear(&a);
    return st;
}

enum mrs_status
live_claims_check(struct live_job *job, const struct live_claims *c, struct mrs_err *e)
{
    struct mrs_arena a;
    enum mrs_status st = each_claim(job, mrs_doc_get(c->doc, "claims"), check_made, e);
    mrs_arena_init(&a, job->mem);
    for (uint32_t i = 0; i < job->live->n_groups && !st; i++) {
        const struct mrs_live_group *g = &job->live->group[i];
        st = g->n_claims && g->claims_side >= 0 ? check_fields(job, &a, g, e) : MRS_OK;
    }
    mrs_arena_clear(&a);
    return st;
}

/* ---- create and drop ---- */

/* A command on the catalogue; an object that already exists, or is already gone, is no error. */
static enum mrs_status
ddl(struct live_job *job, const struct mrs_coll *coll, struct mrs_view cmd, struct mrs_err *e)
{
    struct mrs_err why;
    enum mrs_status st = MRS_FAIL;
    if (job->opts.dry_run) {
        live_preview_line(job, "run on", coll->ns, cmd);
        return MRS_OK;
    }
    for (uint32_t again = 1; again <= 60; again++) {
        struct live_fault f = {.kind = LIVE_FAULT_NONE};
        mrs_err_clear(&why);
        LIVE_STOP("before-catalogue");
        st = live_command(job->link, coll->db, cmd, LIVE_WRITE, NULL, &f, &why);
        LIVE_STOP("after-catalogue");
        if (st == MRS_FAIL && ((f.kind == LIVE_FAULT_EXISTS && f.code == 48) || f.kind == LIVE_FAULT_MISSING)) {
            return MRS_OK;
        }
        if (st != MRS_FAIL || (f.kind != LIVE_FAULT_NETWORK && f.kind != LIVE_FAULT_TRANSIENT)) {
            break;
        }
        st = live_run_breathe(job, 0, 0, &why); /* the lease may be lost with the connection */
        if (st < 0) {
            break;
        }
        live_back_off(again);
        st = MRS_FAIL;
    }
    if (st < 0 && e) {
        *e = why;
    }
    return st;
}

static enum mrs_status
create(struct live_job *job, const struct mrs_cat_coll *cc, struct mrs_err *e)
{
    MRS_ASSERT(cc->made);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_view cmd;
    mrs_buf_init(&buf, job->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_text(&b, "create", cc->coll.coll, (uint32_t)strlen(cc->coll.coll));
    if (cc->options.n) {
        mrs_walk_init(&w, cc->options);
        while (mrs_walk_next(&w, &el) == 1) {
            mrs_build_elem(&b, &el);
        }
    }
    enum mrs_status st = mrs_build_finish(&b, &cmd, e);
    MRS_THEN(st, ddl(job, &cc->coll, cmd, e));
    mrs_buf_clear(&buf);
    return st;
}

static enum mrs_status
create_index(struct live_job *job, const struct mrs_coll *coll, struct mrs_view index, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_buf buf;
    struct mrs_view cmd, spec;
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_buf ix;
    mrs_buf_init(&buf, job->mem, MRS_METADATA_MAX);
    mrs_buf_init(&ix, job->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &ix);
    mrs_walk_init(&w, index);
    while (mrs_walk_next(&w, &el) == 1) {
        if (strcmp(el.name, "ns") != 0) {
            mrs_build_elem(&b, &el);
        }
    }
    enum mrs_status st = mrs_build_finish(&b, &spec, e);
    MRS_THEN(st, live_doc(&buf, &cmd, e, "{createIndexes: %s, indexes: [%d]}", coll->coll, spec));
    MRS_THEN(st, ddl(job, coll, cmd, e));
    mrs_buf_clear(&ix);
    mrs_buf_clear(&buf);
    return st;
}

static enum mrs_status
drop_index(struct live_job *job, const struct mrs_coll *coll, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(coll->coll && name);
    struct mrs_buf buf;
    struct mrs_view cmd;
    mrs_buf_init(&buf, job->mem, 1u << 20);
    enum mrs_status st = live_doc(&buf, &cmd, e, "{dropIndexes: %s, index: %s}", coll->coll, name);
    MRS_THEN(st, ddl(job, coll, cmd, e));
    mrs_buf_clear(&buf);
    return st;
}

/* The plan must not drop objects that others created since contract began. */
static bool
made_since(const struct live_job *job, const char *ns, struct mrs_val name)
{
    struct mrs_view before = noted(job);
    struct mrs_walk w, wi;
    struct mrs_elem el, ix;
    uint32_t n;
    if (!before.n) {
        return false;
    }
    mrs_walk_init(&w, before);
    while (mrs_walk_next(&w, &el) == 1) {
        struct mrs_view one = live_doc_of(el.v);
        const char *db = mrs_val_text(mrs_doc_get(one, "db"), &n), *dot = strchr(ns, '.');
        struct mrs_val indexes = mrs_doc_get(live_doc_of(mrs_doc_get(one, "meta")), "indexes");
        if (!dot || n != (size_t)(dot - ns) || memcmp(db, ns, n) != 0 ||
            !mrs_val_is_text(mrs_doc_get(one, "coll"), dot + 1) ||
            indexes.type != MRS_ARRAY) {
            continue;
        }
        mrs_walk_init(&wi, live_doc_of(indexes));
        while (mrs_walk_next(&wi, &ix) == 1) {
            if (ix.v.type == MRS_DOCUMENT && mrs_identical(mrs_doc_get(live_doc_of(ix.v), "name"), name)) {
                return false;
            }
        }
    }
    return true;
}

/* Does b contain everything of index a except its version and build options? */
static bool
index_within(struct mrs_view a, struct mrs_view b)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool all = true;
    for (mrs_walk_init(&w, a); all && mrs_walk_next(&w, &el) == 1;) {
        bool fixed = strcmp(el.name, "v") == 0 || strcmp(el.name, "ns") == 0 || strcmp(el.name, "background") == 0;
        all = fixed || mrs_identical(el.v, mrs_doc_get(b, el.name));
    }
    return all;
}

static bool
same_index(struct mrs_view a, struct mrs_view b)
{
    return index_within(a, b) && index_within(b, a);
}

/* Drops indexes that the plan removes or redefines under the same name. */
static enum mrs_status
drop_old(struct live_job *job, const struct mrs_cat_coll *cc, const struct live_coll_info *info, bool only_unique,
         struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status st = MRS_OK;
    if (!info || !info->indexes.n) {
        return MRS_OK;
    }
    mrs_walk_init(&w, info->indexes);
    while (!st && mrs_walk_next(&w, &el) == 1) {
        struct mrs_view ix = live_doc_of(el.v);
        char name[256];
        bool keep = only_unique && !live_bool_at(ix, "unique", false);
        live_text_at(ix, "name", name, sizeof name);
        for (uint32_t k = 0; k < cc->n_index && !keep; k++) {
            keep = same_index(cc->index[k], ix);
        }
        if (!keep && strcmp(name, "_id_") != 0 && !is_listed(job, cc->coll.ns, "index", name) &&
            !made_since(job, cc->coll.ns, mrs_doc_get(ix, "name"))) {
            st = drop_index(job, &cc->coll, name, e);
        }
    }
    return st;
}

/* Validation in the options: 0 validator, 1 level, 2 action; the server's default if absent. */
static struct mrs_val
validation(struct mrs_view options, int which, struct mrs_arena *a)
{
    MRS_ASSERT(which >= 0 && which < 3);
    static const char *const names[] = {"validator", "validationLevel", "validationAction"};
    struct mrs_val v = options.n ? mrs_doc_get(options, names[which]) : mrs_missing();
    if (v.type != MRS_MISSING) {
        return v;
    }
    const char *text = which == 1 ? "strict" : "error";
    return which == 0 ? mrs_view_val(mrs_empty_doc()) : mrs_make_text(a, text, (uint32_t)strlen(text));
}

static enum mrs_status
set_validator(struct live_job *job, const struct mrs_cat_coll *cc, const struct live_coll_info *info,
              struct mrs_err *e)
{
    struct mrs_val then[3];
    struct mrs_arena a;
    struct mrs_view cmd;
    bool differs = false;
    if (!info) {
        return MRS_OK;
    }
    mrs_arena_init(&a, job->mem);
    for (int i = 0; i < 3; i++) {
        then[i] = validation(cc->options, i, &a);
        differs = differs || !mrs_identical(validation(info->options, i, &a), then[i]);
    }
    enum mrs_status st = MRS_OK;
    if (differs) {
        st = live_doc_in(&a, &cmd, e, "{collMod: %s, validator: %v, validationLevel: %v, validationAction: %v}",
                         cc->coll.coll, then[0], then[1], then[2]);
        MRS_THEN(st, ddl(job, &cc->coll, cmd, e));
    }
    mrs_arena_clear(&a);
    return st;
}

static enum mrs_status
make_one(struct live_job *job, struct mrs_cat_coll *cc, bool final, struct mrs_err *e)
{
    const struct live_coll_info *info = on_server(job, cc);
    if (!info && !cc->made) {
        return MRS_OK;
    }
    enum mrs_status st = info ? MRS_OK : create(job, cc, e);
    if (final) {
        MRS_THEN(st, drop_old(job, cc, info, false, e));
        MRS_THEN(st, set_validator(job, cc, info, e));
    }
    for (uint32_t k = 0; k < cc->n_index && !st; k++) {
        struct mrs_val there = server_index(info, cc->index[k]);
        char name[256];
        live_text_at(cc->index[k], "name", name, sizeof name);
        bool same = there.type == MRS_DOCUMENT && same_index(live_doc_of(there), cc->index[k]);
        bool now = final || (!waits_for_contract(cc->index[k]) && there.type == MRS_MISSING);
        if (now && !same && strcmp(name, "_id_") != 0) {
            st = create_index(job, &cc->coll, cc->index[k], e);
        }
    }
    return st;
}

enum mrs_status
live_catalogue_make(struct live_job *job, const struct live_claims *c, bool final, struct mrs_err *e)
{
    MRS_ASSERT(c->cat);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < mrs_catalog_count(c->cat) && !st; i++) {
        struct mrs_cat_coll *cc = mrs_catalog_at(c->cat, i);
        if (cc->exists && cc->kind == MRS_COLL_PLAIN && (cc->made || cc->touched)) {
            st = make_one(job, cc, final, e);
        }
    }
    return st;
}

/* Does a group write documents into this collection? Then rollback has checked each of them. */
static bool
fills(const struct live_job *job, const char *ns)
{
    for (uint32_t g = 0; g < job->live->n_groups; g++) {
        const struct mrs_desc *d = &job->plan->steps[job->live->group[g].first].desc;
        for (uint32_t side = 0; side < d->n_sides; side++) {
            if (live_side_listed(job, g, side) && strcmp(d->sides[side].coll.ns, ns) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Does a collection that the run created and never fills have documents? Others wrote them, and it stays. */
static enum mrs_status
has_foreign_docs(struct live_job *job, const struct mrs_coll *coll, bool *foreign, struct mrs_err *e)
{
    struct mrs_buf doc;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    char line[400];
    mrs_buf_init(&doc, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status st = live_find_one(job->link, coll, mrs_empty_doc(), mrs_empty_doc(), &doc, &f, e);
    mrs_buf_clear(&doc);
    *foreign = st == MRS_OK;
    if (*foreign && job->print_line) {
        snprintf(line, sizeof line, "%s holds documents that are not ours: it stays", coll->ns);
        job->print_line(job->arg, line);
    }
    return st == MRS_END ? MRS_OK : st;
}

enum mrs_status
live_catalogue_clear_way(struct live_job *job, const struct live_claims *c, struct mrs_err *e)
{
    MRS_ASSERT(c->cat);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < mrs_catalog_count(c->cat) && !st; i++) {
        struct mrs_cat_coll *cc = mrs_catalog_at(c->cat, i);
        if (cc->exists && cc->kind == MRS_COLL_PLAIN && cc->touched) {
            st = drop_old(job, cc, on_server(job, cc), true, e);
        }
    }
    return st;
}

static enum mrs_status
drop_claim(struct live_job *job, struct mrs_arena *a, struct mrs_view claim, struct mrs_err *e)
{
    struct mrs_coll coll;
    char index[256];
    struct mrs_view cmd;
    enum mrs_status st = split_ns(a, mrs_doc_get(claim, "ns"), &coll, e);
    live_text_at(claim, "index", index, sizeof index);
    if (!st && live_bool_at(claim, "made", false)) {
        bool keep = false;
        st = fills(job, coll.ns) ? MRS_OK : has_foreign_docs(job, &coll, &keep, e);
        st = st || keep ? st : live_doc_in(a, &cmd, e, "{drop: %s}", coll.coll);
        return st || keep ? st : ddl(job, &coll, cmd, e);
    }
    return st || !index[0] ? st : drop_index(job, &coll, index, e);
}

enum mrs_status
live_catalogue_drop(struct live_job *job, struct mrs_err *e)
{
    struct mrs_val list = recorded_claims(job);
    struct mrs_buf copy; /* the run document may be read again meanwhile */
    mrs_buf_init(&copy, job->mem, MRS_DOC_READ_MAX);
    mrs_buf_put(&copy, list.p, list.n);
    enum mrs_status st = mrs_buf_status(&copy, e);
    list.p = copy.p;
    MRS_THEN(st, each_claim(job, list, drop_claim, e));
    mrs_buf_clear(&copy);
    return st;
}
