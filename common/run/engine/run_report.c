/* SPDX-License-Identifier: Apache-2.0 */
/* run_report.c - the report of a run: the account, the written files, the owner's next steps. */
#include "run_engine.h"
#include "run/notices/pattern_fields.h"
#include "run/notices/unknown_paths.h"
#include "run/account/amend.h"
#include "run/conditions/condition_lists.h"
#include "run/notices/lost_fields.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/context.h"

static void *
take(struct mrs_report *r, size_t n, size_t size)
{
    return mrs_arena_alloc(&r->arena, (n + 1) * size);
}

static const char *
text(struct mrs_report *r, const char *s)
{
    return mrs_arena_copy(&r->arena, s, strlen(s) + 1);
}

/* If the list cannot grow, its last note becomes NULL, as a text without memory: all_texts refuses both. */
void
mrsi_report_note(struct mrsi_engine *en, const char *line)
{
    struct mrs_report *rep = en->report;
    MRS_ASSERT(rep->notes);
    const char **more = mrs_arena_more(&rep->arena, rep->notes, rep->n_notes, &en->note_cap, sizeof *more);
    if (more) {
        rep->notes = more;
        rep->notes[rep->n_notes++] = text(rep, line);
    } else {
        rep->notes[rep->n_notes - 1] = NULL;
    }
}

static bool
has_row(const struct mrs_desc *d, const struct mrsi_row *r)
{
    return d->family != MRS_FAMILY_CATALOG || r->before;
}

static enum mrs_status
put_account(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    rep->account = take(rep, en->n_rows, sizeof *rep->account);
    MRS_TRY(mrs_allocated(rep->account, en->n_rows * sizeof *rep->account, e));
    for (uint32_t step = 0; step < en->plan->n_steps; step++) {
        const struct mrs_desc *d = &en->plan->steps[step].desc;
        for (uint32_t i = 0; i < d->n_sides; i++) {
            const struct mrsi_row *r = &en->rows[en->row_of[step][i]];
            bool repeated = false, map = d->family == MRS_FAMILY_MAP || d->family == MRS_FAMILY_REKEY ||
                                         d->family == MRS_FAMILY_WINDOW;
            for (uint32_t k = 0; k < i; k++) {
                repeated = repeated || en->row_of[step][k] == en->row_of[step][i];
            }
            if (!repeated && has_row(d, r)) {
                rep->account[rep->n_account++] = (struct mrs_account){.step = en->plan->steps[step].no,
                                                                      .ns = text(rep, d->sides[i].coll.ns),
                                                                      .before = r->before,
                                                                      .created = r->created,
                                                                      .entered = r->entered,
                                                                      .after = r->after,
                                                                      .taken = r->taken,
                                                                      .dropped = r->dropped,
                                                                      .refused = r->refused,
                                                                      .placed = r->placed,
                                                                      .changed = map ? r->changed : 0,
                                                                      .merged = r->merged,
                                                                      .references = r->references,
                                                                      .dangling = r->dangling,
                                                                      .groups = r->groups,
                                                                      .failed = r->failed,
                                                                      .once = r->once};
            }
        }
    }
    return MRS_OK;
}

static enum mrs_status
put_written(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    rep->written = take(rep, en->n_coll, sizeof *rep->written);
    rep->drop_first = take(rep, en->n_coll, sizeof *rep->drop_first);
    if (!rep->written || !rep->drop_first) {
        return mrs_err_memory(e, en->n_coll * sizeof *rep->written);
    }
    for (uint32_t i = 0; i < en->n_coll; i++) {
        const struct mrsi_coll *c = &en->coll[i];
        if (c->written) {
            rep->written[rep->n_written++] =
                (struct mrs_written){.ns = text(rep, c->last.ns),
                                     .docs = c->docs,
                                     .bytes = c->bytes,
                                     .copied = c->copied,
                                     .empty_now = c->content && !c->copied && c->docs == 0 &&
                                                  !c->cat->no_data}; /* its buckets have the data */
            rep->out_bytes += c->bytes;
        }
        bool renamed = c->was_there && c->last.ns && strcmp(c->ns, c->last.ns) != 0;
        bool buckets = strncmp(c->ns + strcspn(c->ns, ".") + 1, MRS_BUCKETS, sizeof MRS_BUCKETS - 1) == 0;
        if (c->was_there && !buckets && (c->dropped_at != MRSI_NONE || renamed || (c->written && !c->copied))) {
            rep->drop_first[rep->n_drop_first++] = text(rep, c->ns);
        }
    }
    return MRS_OK;
}

/* Estimated size of the manifest: a canonical Extended JSON object with fixed fields and texts, and one for each
 * file. */
enum { MANIFEST_HEAD = 210, MANIFEST_COLL = 170, MANIFEST_COPY = 180, MANIFEST_READ = 115, MANIFEST_FILE = 60 };

/* Size of all output files without compression. */
static enum mrs_status
put_disk(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    struct mrs_buf text;
    enum mrs_status s = MRS_OK;
    rep->disk_bytes = MANIFEST_HEAD + strlen(en->plan->name);
    mrs_buf_init(&text, en->mem, SIZE_MAX);
    for (uint32_t i = 0; s == MRS_OK && i < en->n_coll; i++) {
        const struct mrsi_coll *c = &en->coll[i];
        mrs_buf_reset(&text);
        if (c->written && c->copied) {
            s = mrs_input_metadata_text(en->in, c->in_index, &text, e);
        }
        if (c->written) {
            rep->disk_bytes += c->bytes + c->meta_bytes + text.n + strlen(c->last.ns);
            rep->disk_bytes += c->copied ? MANIFEST_COPY : MANIFEST_COLL;
        }
    }
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        rep->disk_bytes += in->kind == MRS_INPUT_DATA ? MANIFEST_READ + strlen(in->ns) : 0;
        if (mrsi_extra_is_copied(en, i)) {
            rep->disk_bytes += in->file_bytes + MANIFEST_FILE + strlen(in->rel_path);
        }
    }
    mrs_buf_clear(&text);
    return s;
}

/* Did a step that could have moved or made documents read some and do nothing? */
static bool
is_idle(const struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    uint64_t done = 0;
    for (uint32_t i = 0; i < d->n_sides; i++) {
        const struct mrsi_row *r = &en->rows[en->row_of[step][i]];
        done |= r->created | r->entered | r->taken | r->dropped | r->refused | r->placed;
    }
    bool empty = !en->rows[en->row_of[step][0]].before;
    if (d->family == MRS_FAMILY_JOIN) {
        return !en->rows[en->row_of[step][0]].matched && !empty && en->rows[en->row_of[step][1]].before;
    }
    if (d->family == MRS_FAMILY_MAP || d->family == MRS_FAMILY_WINDOW) {
        const struct mrsi_row *r = &en->rows[en->row_of[step][0]];
        return !empty && !r->changed && !r->refused && !r->dropped;
    }
    bool reads_all = d->family == MRS_FAMILY_SPREAD || d->family == MRS_FAMILY_GROUP || d->family == MRS_FAMILY_FOLD;
    return reads_all && !done && !empty;
}

/* A step that matched nothing is more often a slip in `match`, `path` or `where` than intended. */
static void
note_idle_steps(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *step = &en->plan->steps[i];
        char line[700];
        const struct mrsi_row *from = &en->rows[en->row_of[i][0]];
        if (step->desc.family == MRS_FAMILY_SPREAD && from->dropped && from->dropped == from->before) {
            snprintf(line, sizeof line, "step %u, %s: it drops all documents of %s (%llu)", step->no, step->type->name,
                     step->desc.sides[0].coll.ns, (unsigned long long)from->dropped);
            mrsi_report_note(en, line);
        }
        if (!is_idle(en, i)) {
            continue;
        }
        if (step->desc.family == MRS_FAMILY_JOIN && from->outside == from->before) {
            snprintf(line, sizeof line, "step %u, %s: `where` leaves out all documents of %s", step->no,
                     step->type->name, step->desc.sides[0].coll.ns);
        } else if (step->desc.family == MRS_FAMILY_JOIN) {
            snprintf(line, sizeof line, "step %u, %s: no document of %s matches one of %s", step->no, step->type->name,
                     step->desc.sides[0].coll.ns, step->desc.sides[1].coll.ns);
        } else if (step->desc.family == MRS_FAMILY_MAP || step->desc.family == MRS_FAMILY_WINDOW) {
            snprintf(line, sizeof line, "step %u, %s: it changed nothing in %s", step->no, step->type->name,
                     step->desc.sides[0].coll.ns);
        } else {
            snprintf(line, sizeof line, "step %u, %s: it found nothing to do in %s", step->no, step->type->name,
                     step->desc.sides[0].coll.ns);
        }
        mrsi_report_note(en, line);
    }
}

/* The number of a step before `step` that took documents out of the collection that this one drops; 0: none did. */
static uint32_t
taken_before(const struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const char *ns = en->plan->steps[step].desc.sides[0].coll.ns;
    uint32_t found = 0;
    for (uint32_t i = 0; i < step; i++) {
        const struct mrs_desc *d = &en->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            bool takes = strcmp(d->sides[k].coll.ns, ns) == 0 && en->rows[en->row_of[i][k]].taken;
            found = takes ? en->plan->steps[i].no : found;
        }
    }
    return found;
}

/* What a step left in a collection, as documents without a match, is rarely meant to be dropped with it. */
static void
note_drops(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        uint64_t n = st->desc.family == MRS_FAMILY_CATALOG ? en->rows[en->row_of[i][0]].dropped : 0;
        uint32_t before = n ? taken_before(en, i) : 0;
        char line[500];
        if (before) {
            snprintf(line, sizeof line, "step %u, %s: it drops %llu document%s of %.255s that step %u did not take",
                     st->no, st->type->name, (unsigned long long)n, n == 1 ? "" : "s", st->desc.sides[0].coll.ns,
                     before);
            mrsi_report_note(en, line);
        }
    }
}

/* References to the old `_id`s are data like any other to a step that computes one. */
static void
note_new_ids(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        bool changed = st->desc.family == MRS_FAMILY_MAP && st->desc.new_ids && en->rows[en->row_of[i][0]].changed;
        char line[500];
        if (changed) {
            snprintf(line, sizeof line, "step %u, %.255s: references to the old _ids stay as they were; `rekey` with "
                     "`references` changes both", st->no, st->desc.sides[0].coll.ns);
            mrsi_report_note(en, line);
        }
    }
}

/* A pattern without a match is a slip, as is a path that no document has, even if the step does something else. */
static void
note_patterns(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps && !en->opts->sample; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        const struct mrsi_row *row = &en->rows[en->row_of[i][0]];
        for (uint32_t k = 0; row->before && k < st->desc.n_patterns && k < MRS_PATTERNS; k++) {
            char line[700];
            if (!(row->patterns >> k & 1)) {
                bool some = mrs_doc_get(st->body, "where").type != MRS_MISSING;
                snprintf(line, sizeof line, "step %u, %.255s: `%.255s` fits no field of any document%s", st->no,
                         st->desc.sides[0].coll.ns, st->desc.patterns[k], some ? " that `where` takes" : "");
                mrsi_report_note(en, line);
            }
        }
    }
}

/* Equal documents become one. Only their number is lost, so it is reported, after the account. */
static void
note_equal(struct mrsi_engine *en)
{
    struct mrs_report *rep = en->report;
    for (uint32_t i = 0; i < rep->n_account; i++) {
        const struct mrs_account *a = &rep->account[i];
        char line[400];
        if (a->once) {
            snprintf(line, sizeof line, "step %u, %.255s: %llu document%s equal to another one, _id and all, %s not "
                     "written twice", a->step, a->ns, (unsigned long long)a->once, a->once == 1 ? "" : "s",
                     a->once == 1 ? "was" : "were");
            mrsi_report_note(en, line);
        }
    }
}

static void
note_lost(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        char line[1900];
        if (mrsi_lost_line(en, i, 0, line, sizeof line)) {
            mrsi_report_note(en, line);
        }
    }
}

static void
note_why(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        char line[1300];
        enum mrs_family f = en->plan->steps[i].desc.family;
        bool refers = f == MRS_FAMILY_JOIN || f == MRS_FAMILY_LINK || f == MRS_FAMILY_REKEY;
        if (refers && mrsi_why_line(en, i, line, sizeof line)) {
            mrsi_report_note(en, line);
        }
    }
}

static void
note_remarks(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        for (uint32_t k = 0; st->type->remark && k < MRS_REMARKS; k++) {
            uint64_t n = en->rows[en->row_of[i][0]].remarks[k];
            char line[900], what[500];
            if (n) {
                st->type->remark(st->state, k, what, sizeof what);
                snprintf(line, sizeof line, "step %u, %.255s: %llu document%s%s", st->no, st->desc.sides[0].coll.ns,
                         (unsigned long long)n, n == 1 ? "" : "s", what);
                mrsi_report_note(en, line);
            }
        }
    }
}

/* `replace: true` in a second run, after the first one has taken the matching documents away. */
static void
note_replaced(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        bool join = st->desc.family == MRS_FAMILY_JOIN && en->row_of[i][0] != en->row_of[i][1];
        uint64_t n = join ? en->rows[en->row_of[i][1]].remarks[__builtin_ctzll(MRS_REMARK_REPLACED)] : 0;
        char line[900];
        if (n) {
            snprintf(line, sizeof line, "step %u, %.255s: %llu document%s a value to `replace: true`, and no document "
                     "of %.255s matches: an earlier run may have taken these away", st->no, st->desc.sides[1].coll.ns,
                     (unsigned long long)n, n == 1 ? " loses" : "s lose", st->desc.sides[0].coll.ns);
            mrsi_report_note(en, line);
        }
    }
}

/* $toLower and similar operators make an empty text of a missing field, and so documents without it match. */
static void
note_empty_keys(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        unsigned long long n = en->rows[en->row_of[i][0]].empty_from;
        char line[900];
        if (st->desc.family == MRS_FAMILY_JOIN && n && en->rows[en->row_of[i][1]].empty_into) {
            snprintf(line, sizeof line, "step %u, %.255s: %llu document%s, `match`: the key is an empty text, which "
                     "$toLower and others make of a missing field, and matches those of %.255s of which it is one, too",
                     st->no, st->desc.sides[0].coll.ns, n, n == 1 ? "" : "s", st->desc.sides[1].coll.ns);
            mrsi_report_note(en, line);
        }
    }
}

/* The failures of a row that `errors` allowed, by bit k of mrs_ctx.eased. */
static void
eased_line(const struct mrs_step *st, const char *ns, const struct mrsi_eased *x, uint32_t k, const char *id,
           char *line, size_t size)
{
    const struct mrs_desc *d = &st->desc;
    const char *errors = d->errors ? d->errors : "keep";
    bool blocked = k == MRS_EASED - 1, more = k == MRS_EASED - 2 && d->n_fallible > MRS_EASED - 1;
    const char *what = strcmp(errors, "null") == 0   ? "what failed is null now"
                       : strcmp(errors, "drop") == 0 ? "what failed was left out"
                                                     : "what failed was left as it was";
    what = blocked ? "a path is blocked by a value that is no document, and nothing is written there" : what;
    int n = snprintf(line, size, "step %u, %.255s: %llu document%s", st->no, ns, (unsigned long long)x->n,
                     x->n == 1 ? "" : "s");
    if (!blocked && k < d->n_fallible && n > 0 && (size_t)n < size) {
        n += snprintf(line + n, size - (size_t)n, ", `%.150s`%s", d->fallible[k], more ? " and fields after it" : "");
    }
    if (n > 0 && (size_t)n < size) {
        snprintf(line + n, size - (size_t)n, ": %s (`errors: %s`)%s%s", what, errors,
                 id ? "; one of them: _id " : "", id ? id : "");
    }
}

static void
note_eased(struct mrsi_engine *en)
{
    struct mrs_buf room;
    mrs_buf_init(&room, en->mem, MRS_DOC_MAX);
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        for (uint32_t side = 0; side < st->desc.n_sides; side++) {
            const struct mrsi_row *r = &en->rows[en->row_of[i][side]];
            bool same_row = side && en->row_of[i][side] <= en->row_of[i][side - 1];
            for (uint32_t k = 0; k < MRS_EASED && r->failed && !same_row; k++) {
                char line[900];
                const struct mrsi_eased *x = &r->eased[k];
                const char *id = x->type ? mrsi_id_text(en->report, (struct mrs_val){x->id, x->size, x->type}, &room)
                                         : NULL;
                if (x->n) {
                    eased_line(st, st->desc.sides[side].coll.ns, x, k, id, line, sizeof line);
                    mrsi_report_note(en, line);
                }
            }
        }
    }
    mrs_buf_clear(&room);
}

static void
note_paths(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < MRSI_PATH_NOTES * en->plan->n_steps; i++) {
        char line[1300];
        if (mrsi_paths_note(en, i / MRSI_PATH_NOTES, i % MRSI_PATH_NOTES, line, sizeof line)) {
            mrsi_report_note(en, line);
        }
    }
}

static void
note_amended(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        char line[700];
        if (mrsi_amend_line(en->amend, i, line, sizeof line)) {
            mrsi_report_note(en, line);
        }
    }
}

static void
note_conditions(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        for (uint32_t k = 0; k < MRSI_CONDITION_LINES * en->plan->steps[i].desc.n_conditions; k++) {
            char line[1600];
            if (mrsi_condition_line(en, i, k / MRSI_CONDITION_LINES, k % MRSI_CONDITION_LINES, line, sizeof line)) {
                mrsi_report_note(en, line);
            }
        }
    }
}

/* Who takes one collection of thousands does not need the names of all others. */
static void
note_left_out(struct mrsi_engine *en)
{
    enum { NAMED = 20 };
    uint32_t left = 0;
    char line[400];
    for (uint32_t i = 0; i < mrs_input_excluded(en->in); i++) {
        const char *ns = mrs_input_excluded_at(en->in, i);
        bool internal = mrs_ns_internal(ns);
        left += !internal;
        if (internal || left <= NAMED) {
            snprintf(line, sizeof line, "%.250s %s", ns,
                     internal ? "is not in the output: tools keep their state in databases __mdb_internal_*, and "
                                "mongodump leaves them out"
                              : "was left out (--nsInclude, --nsExclude) and is not in the output");
            mrsi_report_note(en, line);
        }
    }
    if (left > NAMED) {
        snprintf(line, sizeof line, "%u other%s left out as well (--nsInclude, --nsExclude)", left - NAMED,
                 left == NAMED + 1 ? " was" : "s were");
        mrsi_report_note(en, line);
    }
}

/* A dump contains what older versions of mongoreshape-live stored on the server. */
static void
note_live_state(struct mrsi_engine *en)
{
    bool runs = false, leases = false;
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        bool data = in->kind == MRS_INPUT_DATA;
        runs |= data && strcmp(in->ns, "mongoreshape.runs") == 0;
        leases |= data && strcmp(in->ns, "mongoreshape.leases") == 0;
    }
    if (runs && leases) {
        mrsi_report_note(en, "the database mongoreshape holds the state of runs of an older mongoreshape-live: do not "
                         "restore it where such a run is under way (--nsExclude 'mongoreshape.*' leaves it out)");
    }
}

/* x.bson.xz, x.bson.bak, x.BSON, x.metadata.JSON: names that no tool takes for those of a collection. Not oplog.bson,
 * $admin.system.users.bson. */
static bool
resembles(const char *rel_path)
{
    const char *slash = strrchr(rel_path, '/'), *name = slash ? slash + 1 : rel_path;
    size_t n = strlen(name);
    bool known = n > 5 && strcmp(name + n - 5, ".bson") == 0;
    return !known && (strcasestr(name, ".bson") || strcasestr(name, ".metadata"));
}

static bool
is_of_system(const struct mrs_input_ns *in)
{
    return strncmp(in->coll, "system.", 7) == 0;
}

static bool
has_metadata_files(const struct mrs_input *input)
{
    bool has = false;
    for (uint32_t i = 0; i < mrs_input_count(input); i++) {
        has = has || mrs_input_at(input, i)->meta_path;
    }
    return has;
}

/* A metadata file of no bytes, as a full disk leaves it, is none to mongorestore, which builds no index then. A copy
 * may lack one. Dumps of old servers have none, or none for collections of the system; that of buckets is one of the
 * time series. */
static void
note_no_metadata(struct mrsi_engine *en)
{
    bool others = has_metadata_files(en->in);
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        bool data = in->kind == MRS_INPUT_DATA, lacks = data && others && !in->meta_path && !is_of_system(in);
        char line[500];
        if (lacks || (data && in->meta_path && in->metadata.n <= MRS_DOC_MIN)) {
            snprintf(line, sizeof line, "%s of %.250s%s: its indexes and options, if it had any, are lost",
                     lacks ? "the dump has metadata files, but none" : "the metadata file", in->ns,
                     lacks ? "" : " holds nothing");
            mrsi_report_note(en, line);
        }
    }
}

/* Files that are not part of a dump, though some look similar. */
static void
note_extras(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        const char *why = in->kind != MRS_INPUT_EXTRA ? NULL
                          : !mrs_format_holds(en->shape.format, in->rel_path)
                              ? "was left out: archives have no place for it"
                          : resembles(in->rel_path)
                              ? "is copied as it is: by its name it is no collection, to mongorestore neither; if it "
                                "holds documents or indexes, unpack or rename it first"
                              : NULL;
        char line[500];
        if (why) {
            snprintf(line, sizeof line, "%.300s %s", in->rel_path, why);
            mrsi_report_note(en, line);
        }
    }
}

static void
note_index_fit(struct mrsi_engine *en)
{
    char line[900];
    for (uint32_t i = 0, most = mrsi_fit_most(en); i < most; i++) {
        if (mrsi_fit_line(en, i, line, sizeof line)) {
            mrsi_report_note(en, line);
        }
    }
}

static void
note_passed(struct mrsi_engine *en)
{
    uint32_t n = mrs_input_passed(en->in);
    char line[400], others[40] = "";
    if (!n) {
        return;
    }
    if (n > 1) {
        snprintf(others, sizeof others, n == 2 ? " and one other" : " and %u others", n - 1);
    }
    snprintf(line, sizeof line, "%.300s%s: passed over, no part of a dump", mrs_input_passed_at(en->in, 0), others);
    mrsi_report_note(en, line);
}

static enum mrs_status
put_notes(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    mrsi_note_refused_before(en);
    rep->notes = mrs_arena_more(&rep->arena, NULL, 0, &en->note_cap, sizeof *rep->notes);
    MRS_TRY(mrs_allocated(rep->notes, sizeof *rep->notes, e));
    for (uint32_t i = 0; i < mrs_catalog_notes(en->cat); i++) {
        mrsi_report_note(en, mrs_catalog_note_at(en->cat, i));
    }
    note_index_fit(en);
    note_amended(en);
    note_equal(en);
    note_lost(en);
    note_new_ids(en);
    note_drops(en);
    note_remarks(en);
    note_replaced(en);
    note_empty_keys(en);
    note_eased(en);
    note_paths(en);
    note_patterns(en);
    note_conditions(en);
    note_left_out(en);
    note_live_state(en);
    note_passed(en);
    if (en->opts->sample) {
        mrsi_report_note(en, "this is a sample: documents that belong to none of it were left out");
    } else {
        note_idle_steps(en);
        note_why(en);
    }
    note_extras(en);
    note_no_metadata(en);
    if (en->drop_oplog) {
        mrsi_report_note(en, "oplog.bson was left out (--oplog drop)");
    }
    mrsi_note_unrestored(en);
    return MRS_OK;
}

static enum mrs_status
all_texts(const struct mrs_report *rep, struct mrs_err *e)
{
    for (uint32_t i = 0; i < rep->n_account; i++) {
        MRS_TRY(mrs_allocated(rep->account[i].ns, 1, e));
    }
    for (uint32_t i = 0; i < rep->n_written; i++) {
        MRS_TRY(mrs_allocated(rep->written[i].ns, 1, e));
    }
    for (uint32_t i = 0; i < rep->n_notes; i++) {
        MRS_TRY(mrs_allocated(rep->notes[i], 1, e));
    }
    for (uint32_t i = 0; i < rep->n_drop_first; i++) {
        MRS_TRY(mrs_allocated(rep->drop_first[i], 1, e));
    }
    return MRS_OK;
}

enum mrs_status
mrsi_report(struct mrsi_engine *en, struct mrs_err *e)
{
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        en->report->in_bytes += mrs_input_at(en->in, i)->file_bytes;
    }
    enum mrs_status s = put_account(en, e);
    MRS_THEN(s, put_written(en, e));
    MRS_THEN(s, put_disk(en, e));
    MRS_THEN(s, mrsi_notices_report(en, e));
    MRS_THEN(s, mrsi_equal_ids_report(en, e));
    MRS_THEN(s, mrsi_paths_report(en, e));
    MRS_THEN(s, mrsi_pattern_fields_report(en, e));
    MRS_THEN(s, put_notes(en, e));
    MRS_THEN(s, mrsi_put_restore(en, e));
    return s == MRS_OK ? all_texts(en->report, e) : s;
}

void
mrs_report_clear(struct mrs_report *r)
{
    mrs_arena_clear(&r->arena);
}
