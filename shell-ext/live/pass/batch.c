/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - writes a batch of units, also while other writers change its documents.
 *
 * It derives and writes the units, and derives missed units again from the current documents: up to three times, then
 * in a transaction that writes to the document first, or, without transactions, in the next walk over the collection.
 * If the server refuses a unit (a foreign document has its product's `_id`, a unique index, a validator), the refusal
 * is recorded and the unit is derived again as refused, so that no part of it stays. Contention is never a refusal. The
 * checkpoint is saved with the last burst if that one writes everything, else after it. */
#include "live/link/bson.h"
#include "work.h"

#include "mongoreshape/value.h"

enum { MISSES_MAX = 3, ROUNDS_MAX = 5 };

static enum mrs_status
default_result(struct live_batch *b, const struct live_unit *u, const struct live_task *t, struct mrs_view *result,
               struct mrs_err *e)
{
    if ((u->refused || t->refuse) && b->purpose == LIVE_FOR_EXPAND) {
        return live_less_claims(b->job, b->group, b->side, u->doc, &b->make, result, e);
    }
    *result = u->refused || t->refuse ? u->doc : u->result;
    return MRS_OK;
}

static bool
has_products(const struct live_job *job, uint32_t group)
{
    for (uint32_t s = 0; s < job->plan->steps[job->live->group[group].first].desc.n_sides; s++) {
        if (live_side_listed(job, group, s)) {
            return true;
        }
    }
    return false;
}

enum mrs_status
live_batch_open(struct live_batch *b, struct live_job *job, uint32_t group, uint32_t main, enum live_purpose purpose,
                struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    memset(b, 0, sizeof *b);
    b->job = job;
    b->group = group;
    b->main = main;
    b->purpose = purpose;
    b->r = r;
    b->result = default_result;
    b->products = purpose != LIVE_FOR_CONTRACT && has_products(job, group);
    b->sweep = purpose == LIVE_FOR_EXPAND;
    live_burst_init(&b->burst, job);
    mrs_arena_init(&b->batch_arena, job->mem);
    mrs_arena_init(&b->make, job->mem);
    enum mrs_status st = live_units_open(job, group, purpose, &b->units, e);
    if (!st) {
        b->coll = live_units_main(b->units, main, &b->side);
        b->reads = live_units_reads(b->units, &b->reads_n);
        b->reads_whole = !b->reads;
    }
    return st;
}

void
live_batch_close(struct live_batch *b)
{
    MRS_ASSERT(b->job);
    live_units_close(b->units);
    live_units_close(b->others);
    live_burst_clear(&b->burst);
    mrs_free(b->job->mem, b->unit);
    mrs_arena_clear(&b->batch_arena);
    mrs_arena_clear(&b->make);
    b->units = b->others = NULL;
    b->unit = NULL;
}

/* ---- read documents again ---- */

/* Those of tasks with `again`. */
static enum mrs_status
reload(struct live_batch *b, struct live_task *tasks, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || tasks);
    enum { PIECE = 100 };
    enum mrs_status st = MRS_OK;
    for (uint32_t from = 0; from < n && !st;) {
        struct mrs_view ids[PIECE];
        struct live_read got = {.coll = b->coll, .bytes = UINT64_MAX, .a = &b->batch_arena};
        uint32_t at[PIECE], k = 0;
        for (; from < n && k < PIECE; from++) {
            if (tasks[from].again) {
                at[k] = from;
                ids[k++] = tasks[from].doc;
            }
        }
        st = k ? live_ids_filter(&b->batch_arena, ids, k, &got.filter, e) : MRS_OK;
        st = st || !k ? st : live_read_all(b->job, &got, e);
        for (uint32_t i = 0; i < k && !st; i++) {
            struct live_task *t = &tasks[at[i]];
            t->deleted = true;
            for (uint32_t j = 0; j < got.n && t->deleted; j++) {
                if (mrs_compare(mrs_doc_get(got.docs[j], "_id"), mrs_doc_get(ids[i], "_id")) == 0) {
                    t->deleted = false;
                    t->doc = got.docs[j];
                }
            }
        }
    }
    return st;
}

/* ---- refusals ---- */

static enum mrs_status
put_refused(struct live_batch *b, const struct live_task *t, const struct live_unit *u, struct mrs_err *e)
{
    MRS_ASSERT(t->refuse || u->refused);
    struct mrs_err why;
    uint32_t step = b->job->live->group[b->group].first + 1;
    if (t->refuse) {
        mrs_err_clear(&why);
        mrs_err_set(&why, MRS_SKIP, MRS_E_REFUSED, "%s", t->why ? t->why : "the server refuses it");
    } else {
        why = u->why;
        step = u->step ? u->step : step;
    }
    return live_refused_put(b->job, step, b->coll->ns, t->doc, &why, e);
}

/* A query for the records of these documents: all of the collection if there are few, else by `_id`. */
static enum mrs_status
records_of(struct live_batch *b, const struct live_task *tasks, uint32_t n, bool few, struct mrs_view *out,
           struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    const struct mrs_live_group *g = &b->job->live->group[b->group];
    struct mrs_buf buf;
    struct mrs_build list;
    struct mrs_view ids;
    if (few) {
        return live_doc_in(&b->make, out, e, "{_id.run: %s, _id.ns: %s}", b->job->run->id, b->coll->ns);
    }
    mrs_buf_init(&buf, b->job->mem, MRS_DOC_READ_MAX);
    mrs_build_init(&list, &buf);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < n * mrs_live_steps(g) && !st; i++) {
        struct mrs_view one;
        uint32_t step = mrs_live_first(g) + 1 + i / n;
        st = live_refused_id(b->job, step, b->coll->ns, mrs_doc_get(tasks[i % n].doc, "_id"), &b->make, &one, e);
        if (!st) {
            mrs_build_item(&list, mrs_view_val(one));
        }
    }
    MRS_THEN(st, mrs_build_finish(&list, &ids, e));
    MRS_THEN(st, live_doc_in(&b->make, out, e, "{_id: {$in: %a}}", ids));
    mrs_buf_clear(&buf);
    return st;
}

/* Removes the record with this `_id` if its document is among [from, from + n) and no longer refused. */
static enum mrs_status
drop_record(struct live_batch *b, const struct live_task *tasks, uint32_t from, uint32_t n, struct mrs_view record,
            struct mrs_err *e)
{
    const struct mrs_live_group *g = &b->job->live->group[b->group];
    struct mrs_view key = live_doc_of(mrs_doc_get(record, "_id"));
    struct mrs_val id = mrs_doc_get(key, "id");
    uint32_t step = (uint32_t)live_int_at(key, "step", 0);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = from; i < from + n && !st && step > mrs_live_first(g) && step <= g->first + g->n; i++) {
        if (!tasks[i].deleted && !tasks[i].refuse && !b->unit[i].refused &&
            mrs_compare(id, mrs_doc_get(tasks[i].doc, "_id")) == 0) {
            st = live_refused_drop(b->job, step, b->coll->ns, id, e);
        }
    }
    return st;
}

/* Removes the records of earlier refused documents of this batch that are no longer refused. */
static enum mrs_status
drop_refused(struct live_batch *b, const struct live_task *tasks, uint32_t n, struct mrs_err *e)
{
    enum { FEW = 100 };
    bool few = b->job->run->n_refused <= FEW;
    uint32_t steps = mrs_live_steps(&b->job->live->group[b->group]);
    uint32_t some = steps < LIVE_IN_MAX ? LIVE_IN_MAX / steps : 1;
    enum mrs_status st = MRS_OK;
    for (uint32_t from = 0, k; from < n && !st; from += k) {
        struct live_read got = {.coll = &b->job->run->state_refused, .ids = true, .bytes = 256u << 20, .a = &b->make};
        k = few || n - from < some ? n - from : some;
        st = records_of(b, tasks + from, k, few, &got.filter, e);
        MRS_THEN(st, live_read_all(b->job, &got, e));
        for (uint32_t i = 0; i < got.n && !st; i++) {
            st = drop_record(b, tasks, from, k, got.docs[i], e);
        }
    }
    return st;
}

static enum mrs_status
account_refused(struct live_batch *b, struct live_task *tasks, uint32_t n, struct live_checkpoint *c,
                struct mrs_err *e)
{
    MRS_ASSERT(n <= b->cap);
    enum mrs_status st = b->job->run->n_refused && !b->keep_refused ? drop_refused(b, tasks, n, e) : MRS_OK;
    for (uint32_t i = 0; i < n && !st; i++) {
        if (!tasks[i].deleted && (tasks[i].refuse || (b->unit[i].refused && !b->record_later))) {
            st = put_refused(b, &tasks[i], &b->unit[i], e);
            if (!tasks[i].again) {
                b->r->refused++;
                c->refused++;
            }
        }
    }
    return st;
}

/* ---- write ---- */

/* Evaluates the results of a burst: missed units are derived again; units with a duplicate key are refused first. */
static void
judge(struct live_batch *b, struct live_task *tasks, struct live_checkpoint *c)
{
    for (uint32_t i = 0; i < b->burst.n; i++) {
        const struct live_change *ch = &b->burst.change[i];
        struct live_task *t = ch->unit == UINT32_MAX ? NULL : &tasks[ch->unit];
        if (ch->outcome == LIVE_WRITTEN) {
            b->r->inserted += ch->kind == LIVE_INSERT;
            b->r->deleted += ch->kind == LIVE_DELETE;
            b->r->written++;
            b->wrote_docs++;
            continue;
        }
        c->written--;
        if (t && ch->outcome == LIVE_FOREIGN && b->patient) {
            t->put_off = true;
        } else if (t && ch->outcome != LIVE_MISSED) {
            char *why = ch->why ? mrs_arena_copy(&b->batch_arena, ch->why, strlen(ch->why) + 1) : NULL;
            t->refuse = true;
            t->why = ch->outcome == LIVE_FOREIGN ? "the target holds another document with this _id" : why;
            b->r->foreign += ch->outcome == LIVE_FOREIGN;
        }
        if (t) {
            t->again = true;
        }
    }
    b->wrote_bytes += b->burst.bytes;
}

enum mrs_status
live_batch_add_stale(struct live_batch *b, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < b->burst.n && !st; i++) {
        const struct live_change *ch = &b->burst.change[i];
        st = ch->kind == LIVE_DELETE ? live_stale_put(b->job, ch->coll.ns, ch->before, e) : MRS_OK;
    }
    return st;
}

/* Writes one slice of the tasks; final: the checkpoint may be saved with it. *saved: it was. */
static enum mrs_status
write_slice(struct live_batch *b, struct live_task *tasks, uint32_t n, struct live_checkpoint *c, bool final,
            bool *saved, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    bool short_ = false, again = false;
    MRS_TRY(live_batch_make(b, tasks, n, e));
    for (uint32_t i = 0; i < n; i++) {
        again = again || tasks[i].again;
    }
    MRS_TRY(account_refused(b, tasks, n, c, e));
    MRS_TRY(live_batch_add_stale(b, e));
    c->written += b->burst.n;
    bool with = final && !again && !b->more;
    enum mrs_status st = b->burst.n || with ? live_burst_write(&b->burst, with ? c : NULL, &short_, e) : MRS_OK;
    if (!st) {
        *saved = with && !short_;
        judge(b, tasks, c);
    }
    return st;
}

/* Writes all tasks, in slices as large as memory allows. */
static enum mrs_status
write_round(struct live_batch *b, struct live_task *tasks, uint32_t n, struct live_checkpoint *c, bool *saved,
            struct mrs_err *e)
{
    MRS_ASSERT(saved);
    bool clean = true;
    for (struct live_slices s = {.n = n, .step = n}; live_slices_next(&s);) {
        enum mrs_status st = write_slice(b, tasks + s.at, s.k, c, clean && s.at + s.k == n, saved, &s.why);
        if (live_slices_halved(&s, st)) {
            continue;
        }
        if (st) {
            return live_slices_failed(&s, st, e);
        }
        for (uint32_t i = 0; i < s.k; i++) {
            clean = clean && !tasks[s.at + i].again;
        }
    }
    return MRS_OK;
}

/* Moves the tasks to derive again to the front and finishes the contended ones here. Returns the number left. */
static enum mrs_status
next_round(struct live_batch *b, struct live_task *tasks, uint32_t *n, struct live_checkpoint *c, struct mrs_err *e)
{
    uint32_t k = 0;
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < *n && !st; i++) {
        struct live_task t = tasks[i];
        bool done = false;
        if (!t.again) {
            continue;
        }
        if (!t.put_off && ++t.tries <= MISSES_MAX) {
            tasks[k++] = t;
            continue;
        }
        if (!t.put_off && live_link_replicated(b->job->link) && !b->job->opts.no_transactions) {
            st = live_batch_contended(b, &t, &done, e);
        }
        c->missed += !done;
        b->r->missed += !done;
        c->written += done;
    }
    *n = k;
    return st;
}

enum mrs_status
live_batch_tasks(struct live_batch *b, const struct mrs_view *docs, uint32_t n, struct live_task **out,
                 struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || docs);
    mrs_arena_reset(&b->batch_arena);
    *out = mrs_arena_alloc(&b->batch_arena, (n + 1) * sizeof **out);
    if (!*out) {
        return mrs_err_memory(e, n * sizeof **out);
    }
    memset(*out, 0, (n + 1) * sizeof **out);
    for (uint32_t i = 0; i < n; i++) {
        (*out)[i].doc = docs[i];
    }
    return MRS_OK;
}

enum mrs_status
live_batch_settle(struct live_batch *b, struct live_task *tasks, uint32_t n, struct live_checkpoint *c,
                  struct mrs_err *e)
{
    MRS_ASSERT(b->job->run);
    bool saved = false;
    int64_t again = 0;
    enum mrs_status st = MRS_OK;
    b->wrote_docs = b->wrote_bytes = 0;
    while (n && !st) {
        st = write_round(b, tasks, n, c, &saved, e);
        again = again ? again : mrs_clock_asleep();
        MRS_THEN(st, next_round(b, tasks, &n, c, e));
        MRS_THEN(st, reload(b, tasks, n, e));
        for (uint32_t i = 0; i < n; i++) {
            tasks[i].again = false;
        }
    }
    if (again) {
        live_spent_again(&b->job->run->spent, mrs_clock_asleep() - again);
    }
    return st || saved || b->more ? st : live_checkpoint_save(b->job, c, e);
}

enum mrs_status
live_batch_write(struct live_batch *b, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c,
                 struct mrs_err *e)
{
    struct live_task *tasks;
    enum mrs_status st = live_batch_tasks(b, docs, n, &tasks, e);
    b->r->docs += n;
    return st ? st : live_batch_settle(b, tasks, n, c, e);
}

enum mrs_status
live_batch_write_ids(struct live_batch *b, const struct mrs_view *ids, uint32_t n, struct live_checkpoint *c,
                     struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || ids);
    enum { PIECE = 1000 };
    struct mrs_arena read;
    bool more = b->more;
    uint64_t wrote_docs = 0, wrote_bytes = 0;
    enum mrs_status st = n || more ? MRS_OK : live_checkpoint_save(b->job, c, e);
    mrs_arena_init(&read, b->job->mem);
    for (struct live_slices s = {.n = n, .step = PIECE}; !st && live_slices_next(&s);) {
        struct live_read got = {.coll = b->coll, .bytes = 17u << 20, .a = &read};
        mrs_arena_reset(&read);
        st = live_ids_filter(&read, ids + s.at, s.k, &got.filter, &s.why);
        MRS_THEN(st, live_read_all(b->job, &got, &s.why));
        if (live_slices_halved(&s, st)) {
            st = MRS_OK;
            continue;
        }
        b->more = more || s.at + s.k < n;
        MRS_THEN(st, live_batch_write(b, got.docs, got.n, c, &s.why));
        st = st ? live_slices_failed(&s, st, e) : MRS_OK;
        wrote_docs += b->wrote_docs;
        wrote_bytes += b->wrote_bytes;
    }
    b->more = more;
    b->wrote_docs = wrote_docs;
    b->wrote_bytes = wrote_bytes;
    mrs_arena_clear(&read);
    return st;
}

/* ---- compare ---- */

static const char *
difference(struct live_batch *b, const struct live_change *ch, char out[320], struct mrs_err *e)
{
    struct mrs_buf names;
    struct live_delta d;
    const char *text = ch->kind == LIVE_INSERT ? "is missing"
                       : ch->kind == LIVE_DELETE ? "belongs to no document of the source" : "differs";
    if (ch->kind != LIVE_UPDATE || strcmp(ch->coll.ns, b->coll->ns) != 0) {
        return text;
    }
    mrs_buf_init(&names, b->job->mem, 64u << 20);
    if (live_delta_find(ch->before, ch->after, &d, &names, e) == MRS_OK && names.n) {
        size_t n = strlen((char *)names.p);
        int most = n > 255 ? 255 : (int)n;
        struct mrs_buf line;
        mrs_buf_init(&line, b->job->mem, 4096);
        mrs_buf_printf(&line, "field %.*s %s", most, (char *)names.p,
                       mrs_doc_get(ch->before, (char *)names.p).type == MRS_MISSING ? "is missing" : "differs");
        if (!line.bad && line.n < 320) {
            memcpy(out, line.p, line.n);
            out[line.n] = 0;
            text = out;
        }
        mrs_buf_clear(&line);
    }
    mrs_buf_clear(&names);
    return text;
}

/* Skips changes of units that are being written, and targets that seem to have no unit: not conclusive yet. */
static enum mrs_status
leave_moving(struct live_batch *b, struct live_task *tasks, uint32_t n, struct mrs_err *e)
{
    uint32_t k = 0;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        tasks[i].moving = false;
    }
    enum mrs_status st = b->moving && b->burst.n ? b->moving(b->moving_arg, tasks, n, e) : MRS_OK;
    for (uint32_t i = 0; i < n; i++) {
        any = any || tasks[i].moving;
    }
    for (uint32_t i = 0; i < b->burst.n; i++) {
        uint32_t unit = b->burst.change[i].unit;
        if (unit == UINT32_MAX ? !any : !tasks[unit].moving) {
            b->burst.change[k++] = b->burst.change[i];
        }
    }
    b->burst.n = k;
    return st;
}

/* Reports the differences that count. */
static void
name_all(struct live_batch *b)
{
    char room[320];
    b->r->differs += b->burst.n;
    for (uint32_t i = 0; i < b->burst.n; i++) {
        const struct live_change *ch = &b->burst.change[i];
        struct mrs_err quiet;
        mrs_err_clear(&quiet);
        struct mrs_view d = ch->kind == LIVE_INSERT ? ch->after : ch->before;
        live_name(b->r, ch->coll.ns, mrs_doc_get(d, "_id"), difference(b, ch, room, &quiet));
    }
}

/* Counts units refused by kernels, and records them if the pass writes at all. */
static enum mrs_status
note_refused(struct live_batch *b, const struct live_task *tasks, uint32_t n, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < n && !st; i++) {
        if (!tasks[i].deleted && !tasks[i].refuse && b->unit[i].refused) {
            b->r->refused++;
            st = b->record ? put_refused(b, &tasks[i], &b->unit[i], e) : MRS_OK;
        }
    }
    return st;
}

/* Compares units refused by the server as refused, so that their remaining parts are found. */
static enum mrs_status
compare_refused(struct live_batch *b, struct live_task *tasks, uint32_t n, bool last, struct mrs_err *e)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        if (tasks[i].again && tasks[i].refuse) {
            tasks[i].again = false;
            any = true;
            if (last) {
                b->r->foreign++;
                live_name(b->r, b->coll->ns, mrs_doc_get(tasks[i].doc, "_id"), tasks[i].why);
            }
        }
    }
    return any ? live_batch_make(b, tasks, n, e) : MRS_OK;
}

/* Compares once; sets `again` for a unit with a difference or a refusal by the server, and for all units of the slice
 * if a target has no unit. */
static enum mrs_status
compare_once(struct live_batch *b, struct live_task *tasks, uint32_t n, bool last, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    enum mrs_status st = live_batch_make(b, tasks, n, e);
    MRS_THEN(st, compare_refused(b, tasks, n, last, e));
    st = st || last ? st : note_refused(b, tasks, n, e);
    for (uint32_t i = 0; i < n && !st; i++) {
        tasks[i].again = tasks[i].refuse;
    }
    for (uint32_t i = 0; i < b->burst.n && !st; i++) {
        uint32_t unit = b->burst.change[i].unit;
        for (uint32_t k = unit == UINT32_MAX ? 0 : unit; k < (unit == UINT32_MAX ? n : unit + 1); k++) {
            tasks[k].again = true;
        }
    }
    if (!st && last) {
        st = leave_moving(b, tasks, n, e);
        name_all(b);
    }
    return st;
}

static enum mrs_status
compare_round(struct live_batch *b, struct live_task *tasks, uint32_t n, bool last, struct mrs_err *e)
{
    for (struct live_slices s = {.n = n, .step = n}; live_slices_next(&s);) {
        enum mrs_status st = compare_once(b, tasks + s.at, s.k, last, &s.why);
        if (!live_slices_halved(&s, st) && st) {
            return live_slices_failed(&s, st, e);
        }
    }
    return MRS_OK;
}

/* Keeps the units that were written meanwhile, to compare them again. */
static uint32_t
keep_moving(struct live_task *tasks, uint32_t n)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (tasks[i].again && tasks[i].moving && !tasks[i].refuse) {
            tasks[k++] = tasks[i];
        }
    }
    return k;
}

static uint32_t
keep_again(struct live_task *tasks, uint32_t n)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (tasks[i].again) {
            tasks[k++] = tasks[i];
        }
    }
    return k;
}

enum mrs_status
live_batch_compare(struct live_batch *b, const struct mrs_view *docs, uint32_t n, struct live_task **out,
                   uint32_t *n_differ, struct mrs_err *e)
{
    MRS_ASSERT(out && n_differ);
    struct live_task *tasks;
    enum mrs_status st = live_batch_tasks(b, docs, n, &tasks, e);
    b->r->docs += n;
    b->find_missing = true;
    MRS_THEN(st, compare_round(b, tasks, n, false, e));
    n = keep_again(tasks, n);
    for (uint32_t rounds = 0; !st && n && rounds < ROUNDS_MAX; rounds++) {
        st = reload(b, tasks, n, e);
        for (uint32_t i = 0; i < n; i++) {
            tasks[i].refuse = false;
        }
        MRS_THEN(st, compare_round(b, tasks, n, true, e));
        if (!b->moving) {
            n = keep_again(tasks, n);
            break;
        }
        n = keep_moving(tasks, n);
    }
    b->r->moving += b->moving ? n : 0;
    b->find_missing = false;
    *out = tasks;
    *n_differ = n;
    return st;
}
