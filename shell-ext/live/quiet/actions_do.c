/* SPDX-License-Identifier: Apache-2.0 */
/* actions_do.c - executes the list of actions on the server.
 *
 * Each action checks whether it was done before it fails: a resume repeats the action at which a process was killed,
 * never an earlier one, because the checkpoint counts them. Collections that the run itself creates, drops or renames
 * are removed from the list of checked uuids first and recorded again afterwards. Does not depend on the reason of an
 * action. */
#include "live/link/bson.h"
#include "quiet.h"
#include "live/state/state_io.h"

#include <stdio.h>

struct doing {
    struct live_job *job;
    struct mrs_arena arena;
    struct mrs_coll coll, to; /* to: ns NULL if there is none */
    const char *name;         /* of an index; else NULL */
    struct mrs_view doc;
    struct mrs_err *e;
};

static enum mrs_status
names(struct doing *d, struct mrs_val ns, struct mrs_coll *out)
{
    uint32_t n;
    *out = (struct mrs_coll){NULL, NULL, NULL};
    enum mrs_status s = live_coll_of(&d->arena, ns.type == MRS_STRING ? mrs_val_text(ns, &n) : "", out, d->e);
    return s == MRS_END ? MRS_OK : s;
}

/* fine: the fault of an action that was already done. */
static enum mrs_status
send(struct doing *d, const char *db, struct mrs_view cmd, enum live_fault_kind fine)
{
    struct live_fault f = {LIVE_FAULT_NONE, 0, ""};
    struct mrs_err why;
    mrs_err_clear(&why);
    enum mrs_status s = live_state_command(d->job, db, cmd, LIVE_WRITE | LIVE_JOURNALED, NULL, &f, &why);
    if (s != MRS_OK && f.kind == fine) {
        return MRS_OK;
    }
    if (s != MRS_OK && f.kind == LIVE_FAULT_DUPLICATE) {
        return mrs_err_set(d->e, MRS_FAIL, MRS_E_SERVER,
                           "%s: a unique index of the new design does not hold for its documents: %.240s. Nothing is "
                           "lost: change or remove one of those with equal values (where validators keep writers out, "
                           "with bypassDocumentValidation), then give the same command again", d->coll.ns, why.msg);
    }
    if (s != MRS_OK && d->e && d->e->code == MRS_E_NONE) {
        *d->e = why;
        mrs_err_at(d->e, "%.60s", d->coll.ns);
    }
    return s;
}

static enum mrs_status
is_there(struct doing *d, const struct mrs_coll *c, bool *there)
{
    char uuid[40] = "";
    enum mrs_status s = live_server_uuid(d->job->link, c, uuid, d->e);
    *there = uuid[0] != 0;
    return s == MRS_END ? MRS_OK : s;
}

/* ---- check before a drop ---- */
enum { BREATH = 1000 };

static enum mrs_status
sum_up(struct doing *d, const struct mrs_coll *c, int64_t *docs, struct mrs_hash_sum *sum)
{
    struct mrs_view none = {NULL, 0}, opts, doc;
    struct live_cursor *cur = NULL;
    struct live_fault f;
    enum mrs_status s = live_doc_in(&d->arena, &opts, d->e, "{maxTimeMS: 0}");
    MRS_THEN(s, live_find(d->job->link, c, none, opts, 0, &cur, d->e));
    while (s == MRS_OK && (s = live_cursor_next(cur, &doc, &f, d->e)) == MRS_OK) {
        struct mrs_hash128 h = live_run_hash(d->job, doc);
        mrs_hash_sum_add(sum, h.lo, h.hi);
        s = ++*docs % BREATH == 0 ? live_run_breathe(d->job, 0, 0, d->e) : MRS_OK;
        s = s == MRS_END ? MRS_OK : s;
    }
    live_cursor_close(cur);
    return s == MRS_END ? MRS_OK : s;
}

/* The documents of a collection that is dropped completely are not checked one by one: so here. */
static enum mrs_status
as_it_was(struct doing *d, const struct mrs_coll *c)
{
    struct mrs_hash_sum sum = {0, 0};
    int64_t docs = 0;
    if (mrs_doc_get(d->doc, "docs").type == MRS_MISSING || d->job->opts.discard_new_writes ||
        LIVE_MUTANT("no-digest")) {
        return MRS_OK;
    }
    enum mrs_status s = sum_up(d, c, &docs, &sum);
    if (s == MRS_OK && (docs != live_int_at(d->doc, "docs", -1) || (int64_t)sum.lo != live_int_at(d->doc, "lo", 0) ||
                        (int64_t)sum.hi != live_int_at(d->doc, "hi", 0))) {
        s = mrs_err_set(d->e, MRS_FAIL, MRS_E_SERVER,
                        "%s is to go, but it was written to although writers are stopped. Nothing is lost: save what "
                        "was written, then give the same command with --discard-new-writes", c->ns);
    }
    return s;
}

/* ---- actions ---- */
static enum mrs_status
do_create(struct doing *d)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view cmd;
    struct mrs_walk w;
    struct mrs_elem el;
    bool there;
    enum mrs_status s = is_there(d, &d->coll, &there);
    if (s == MRS_OK && !there) {
        mrs_buf_init(&buf, d->job->mem, MRS_DOC_MAX);
        mrs_build_init(&b, &buf);
        mrs_build_text(&b, "create", d->coll.coll, (uint32_t)strlen(d->coll.coll));
        mrs_walk_init(&w, d->doc.n ? d->doc : mrs_empty_doc());
        while (mrs_walk_next(&w, &el) == 1) {
            if (strcmp(el.name, "uuid") != 0) {
                mrs_build_elem(&b, &el);
            }
        }
        s = mrs_build_finish(&b, &cmd, d->e);
        MRS_THEN(s, send(d, d->coll.db, cmd, LIVE_FAULT_EXISTS));
        mrs_buf_clear(&buf);
    }
    return s == MRS_OK ? live_run_watch(d->job, &d->coll, true, d->e) : s;
}

static enum mrs_status
do_index(struct doing *d)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view spec, cmd;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_buf_init(&buf, d->job->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    for (mrs_walk_init(&w, d->doc); mrs_walk_next(&w, &el) == 1;) {
        if (strcmp(el.name, "ns") != 0) {
            mrs_build_elem(&b, &el);
        }
    }
    enum mrs_status s = mrs_build_finish(&b, &spec, d->e);
    MRS_THEN(s, live_doc_in(&d->arena, &cmd, d->e, "{createIndexes: %s, indexes: [%d], maxTimeMS: 0}",
                            d->coll.coll, spec)
             );
    mrs_buf_clear(&buf);
    return s == MRS_OK ? send(d, d->coll.db, cmd, LIVE_FAULT_NONE) : s;
}

static enum mrs_status
do_drop_index(struct doing *d)
{
    struct mrs_view cmd;
    enum mrs_status s = live_doc_in(&d->arena, &cmd, d->e, "{dropIndexes: %s, index: %s}", d->coll.coll, d->name);
    return s == MRS_OK ? send(d, d->coll.db, cmd, LIVE_FAULT_MISSING) : s;
}

static enum mrs_status
do_drop(struct doing *d)
{
    struct mrs_view cmd;
    bool there;
    enum mrs_status s = is_there(d, &d->coll, &there);
    s = s == MRS_OK && there ? as_it_was(d, &d->coll) : s;
    MRS_THEN(s, live_run_watch(d->job, &d->coll, false, d->e));
    MRS_THEN(s, live_doc_in(&d->arena, &cmd, d->e, "{drop: %s}", d->coll.coll));
    LIVE_STOP("before-drop");
    return s == MRS_OK ? send(d, d->coll.db, cmd, LIVE_FAULT_MISSING) : s;
}

/* If others wrote documents into it meanwhile, they stay, and so does the collection. */
static enum mrs_status
do_drop_empty(struct doing *d)
{
    struct mrs_buf buf;
    const struct mrs_view any = mrs_empty_doc();
    struct live_fault f;
    char line[400];
    mrs_buf_init(&buf, d->job->mem, 2 * MRS_DOC_READ_MAX);
    enum mrs_status s = live_find_one(d->job->link, &d->coll, any, any, &buf, &f, d->e);
    mrs_buf_clear(&buf);
    if (s == MRS_OK && d->job->print_line) {
        snprintf(line, sizeof line, "%s holds documents that are not ours: it stays", d->coll.ns);
        d->job->print_line(d->job->arg, line);
    }
    return s == MRS_END ? do_drop(d) : s;
}

static enum mrs_status
rename_to(struct doing *d, const struct mrs_coll *from, const struct mrs_coll *to, bool over)
{
    struct mrs_view cmd;
    bool from_there, to_there;
    enum mrs_status s = is_there(d, from, &from_there);
    MRS_THEN(s, is_there(d, to, &to_there));
    if (s == MRS_OK && !from_there && !to_there) {
        s = mrs_err_set(d->e, MRS_FAIL, MRS_E_SERVER, "neither %s nor %s is there: it cannot be renamed", from->ns,
                        to->ns);
    }
    if (s == MRS_OK && from_there) {
        s = !over || to_there ? as_it_was(d, over ? to : from) : MRS_OK;
        MRS_THEN(s, live_run_watch(d->job, from, false, d->e));
        MRS_THEN(s, live_run_watch(d->job, to, false, d->e));
        MRS_THEN(s, live_doc_in(&d->arena, &cmd, d->e, "{renameCollection: %s, to: %s, dropTarget: %b}", from->ns,
                                to->ns, (int)over)
                 );
        LIVE_STOP("before-rename");
        MRS_THEN(s, send(d, "admin", cmd, LIVE_FAULT_NONE));
        LIVE_STOP("after-rename");
    }
    return s == MRS_OK ? live_run_watch(d->job, to, true, d->e) : s;
}

static enum mrs_status
do_rename(struct doing *d)
{
    return rename_to(d, &d->coll, &d->to, false);
}

static enum mrs_status
do_replace(struct doing *d)
{
    return rename_to(d, &d->coll, &d->to, true);
}

/* Renames it back, unless it still has its original name. */
static enum mrs_status
do_unrename(struct doing *d)
{
    bool there;
    enum mrs_status s = is_there(d, &d->coll, &there);
    return s == MRS_OK && !there ? rename_to(d, &d->to, &d->coll, false) : s;
}

static enum mrs_status
do_options(struct doing *d)
{
    struct mrs_view cmd, validator = mrs_empty_doc(), none = {NULL, 0}, images = none;
    struct mrs_val v = mrs_doc_get(d->doc, "validator"), p = mrs_doc_get(d->doc, "changeStreamPreAndPostImages");
    char level[32], action[32];
    live_text_at(d->doc, "validationLevel", level, sizeof level);
    live_text_at(d->doc, "validationAction", action, sizeof action);
    validator = v.type == MRS_DOCUMENT ? mrs_val_view(v) : validator;
    images = p.type == MRS_DOCUMENT ? mrs_val_view(p) : images;
    enum mrs_status s = live_doc_in(&d->arena, &cmd, d->e,
                                    "{collMod: %s, validator: %d, validationLevel: %s, validationAction: %s, "
                                    "changeStreamPreAndPostImages: %d}", d->coll.coll, validator,
                                    *level ? level : "strict", *action ? action : "error", images);
    return s == MRS_OK ? send(d, d->coll.db, cmd, LIVE_FAULT_NONE) : s;
}

/* ---- the list ---- */
static const struct {
    const char *name;
    enum mrs_status (*run)(struct doing *d);
} table[] = {
    {"create", do_create}, {"index", do_index},     {"drop_index", do_drop_index}, {"drop", do_drop},
    {"drop_empty", do_drop_empty}, {"rename", do_rename}, {"unrename", do_unrename}, {"replace", do_replace},
    {"options", do_options},
};

static enum mrs_status
do_one(struct live_job *job, struct mrs_view action, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(action));
    struct doing d = {.job = job, .e = e};
    struct mrs_val doc = mrs_doc_get(action, "doc"), to = mrs_doc_get(action, "to");
    char what[24];
    mrs_arena_init(&d.arena, job->mem);
    live_text_at(action, "do", what, sizeof what);
    d.doc = doc.type == MRS_DOCUMENT ? mrs_val_view(doc) : mrs_empty_doc();
    d.name = to.type == MRS_STRING ? (const char *)to.p + 4 : NULL;
    enum mrs_status s = names(&d, mrs_doc_get(action, "ns"), &d.coll);
    MRS_THEN(s, names(&d, to, &d.to));
    size_t i = 0;
    while (i < sizeof table / sizeof *table && strcmp(table[i].name, what) != 0) {
        i++;
    }
    if (s == MRS_OK && (i == sizeof table / sizeof *table || !d.coll.ns)) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the run document holds an action that is not known: %s", what);
    }
    LIVE_STOP("before-action");
    MRS_THEN(s, table[i].run(&d));
    LIVE_STOP("after-action");
    mrs_arena_clear(&d.arena);
    return s;
}

enum mrs_status
live_actions_do(struct live_job *job, struct mrs_view list, enum live_stage stage, struct live_checkpoint *c,
                struct mrs_err *e)
{
    MRS_ASSERT(list.n == 0 || mrs_view_is_framed(list));
    struct mrs_walk w;
    struct mrs_elem el;
    int64_t i = 0;
    enum mrs_status s = MRS_OK;
    mrs_walk_init(&w, list.n ? list : mrs_empty_doc());
    for (; s == MRS_OK && mrs_walk_next(&w, &el) == 1; i++) {
        struct mrs_view one = live_doc_of(el.v);
        if (i < c->at) {
            continue;
        }
        if (live_int_at(one, "s", -1) > (int64_t)stage) {
            break;
        }
        s = live_run_breathe(job, 0, 0, e);
        s = s == MRS_END ? MRS_OK : s;
        MRS_THEN(s, do_one(job, one, e));
        c->at = i + 1;
        MRS_THEN(s, live_checkpoint_save(job, c, e));
    }
    return s;
}

const char *
live_actions_name(struct mrs_view list, int64_t n, const char *ns)
{
    MRS_ASSERT(n >= 0 && ns);
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, list.n ? list : mrs_empty_doc());
    for (int64_t i = 0; i < n && mrs_walk_next(&w, &el) == 1; i++) {
        struct mrs_view one = live_doc_of(el.v);
        struct mrs_val from = mrs_doc_get(one, "ns"), to = mrs_doc_get(one, "to"), what = mrs_doc_get(one, "do");
        bool moves = what.type == MRS_STRING && (strcmp((const char *)what.p + 4, "rename") == 0 ||
                                                 strcmp((const char *)what.p + 4, "replace") == 0);
        if (moves && from.type == MRS_STRING && to.type == MRS_STRING && strcmp((const char *)from.p + 4, ns) == 0) {
            ns = (const char *)to.p + 4;
        }
    }
    return ns;
}
