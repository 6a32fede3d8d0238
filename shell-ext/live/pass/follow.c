/* SPDX-License-Identifier: Apache-2.0 */
/* follow.c - reads concurrent writes to a group from a change stream, instead of a second walk.
 *
 * The stream is opened before the first batch is read, and its token stored before anything depends on it; so each
 * application write either precedes the read of its unit, or has an event after the token. Events are applied between
 * the batches of the walk, since the server keeps them for a limited time only, and after it. The units of the next
 * events are looked up after the last ones are written, so that none is in flight meanwhile. The token is saved
 * together with the writes and never before them. A walk that has read documents ahead reads them again after events
 * were applied: what it has may be older than these, and no later event would correct it.
 *
 * The end is a mark: a position in the stream that is newer than the walk. If tokens sort as text, as those of a mongod
 * do, it is the token of another stream, opened then; else it is our own write to the checkpoint, and the stream is
 * opened again, at its position, such that this write appears in it. Events that do not identify their units (see
 * follow_units.c), or that the server has discarded, need another walk, and the stream continues after that one too. */
#include "follow.h"

#include "live/link/bson.h"

#include <stdio.h>

enum { EVENTS = 1000, SILENCE_MS = 30000, TRIES = 3, BETWEEN_MS = 1000, ANEW_MS = 10000, SAVE_MS = 10000 };

/* Reports why another walk is needed, and clears e. */
static void
report_new_walk(const struct live_follow *f, struct mrs_err *e)
{
    char text[500], line[700], phase[96];
    mrs_err_text(e, text, sizeof text);
    mrs_err_clear(e);
    if (f->job->print_line && !f->of.note_only) {
        snprintf(line, sizeof line, "%s: what is written meanwhile is looked for by another walk: %s",
                 live_phase_name(f->job, phase, "step", f->of.group), text);
        f->job->print_line(f->job->arg, line);
    }
}

/* ---- tokens ---- */
/* The text of a sortable token: 82, sixteen digits of time, 2B. */
static struct mrs_val
sorting(const struct mrs_buf *token)
{
    struct mrs_val v = token->n ? live_at((struct mrs_view){token->p, (uint32_t)token->n}, "_data") : mrs_missing();
    uint32_t n = 0;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
    bool sorts = n > 20 && memcmp(text, "82", 2) == 0 && memcmp(text + 18, "2B", 2) == 0;
    return sorts && strspn(text, "0123456789ABCDEF") == n ? v : mrs_missing();
}

static bool
not_before(const struct mrs_buf *token, const struct mrs_buf *mark)
{
    struct mrs_val a = sorting(token), b = sorting(mark);
    uint32_t n = 0;
    return a.type == MRS_STRING && b.type == MRS_STRING && strcmp(mrs_val_text(a, &n), mrs_val_text(b, &n)) >= 0;
}

/* ---- the stream ---- */
/* Classifies a stream error: END: connection lost; SKIP: the server does not have the position, or no longer. */
static enum mrs_status
failed(const struct live_fault *fault, enum mrs_status st, struct mrs_err *e)
{
    st = live_lost(fault, st, e);
    return st == MRS_FAIL && e->code == MRS_E_SERVER ? MRS_SKIP : st;
}

/* also: include our checkpoint. */
static enum mrs_status
open_watch(struct live_follow *f, struct mrs_view after, bool also, struct live_watch **out, struct mrs_err *e)
{
    struct live_fault fault = {.kind = LIVE_FAULT_NONE};
    const struct mrs_desc *d = &f->job->plan->steps[f->job->live->group[f->of.group].first].desc;
    const struct mrs_coll **colls = mrs_alloc_array(f->job->mem, d->n_sides + 1u, sizeof *colls);
    MRS_TRY(mrs_allocated(colls, d->n_sides * sizeof *colls, e));
    struct live_watch_opts o = {.colls = colls, .n = live_follow_colls(f, colls), .after = after, .brief = true,
                                .also = also ? &f->job->run->state_checkpoints : NULL, .also_id = f->c.id};
    enum mrs_status st = failed(&fault, live_watch_open(f->job->link, &o, out, &fault, e), e);
    mrs_free(f->job->mem, colls);
    return st;
}

/* Opens a stream at the current time, and gets its token. */
static enum mrs_status
open_now(struct live_follow *f, struct live_watch **out, struct mrs_buf *token, struct mrs_err *e)
{
    enum mrs_status st = MRS_END;
    for (int tries = 0; tries < TRIES && st == MRS_END; tries++) {
        struct live_fault fault = {.kind = LIVE_FAULT_NONE};
        struct mrs_view event;
        st = open_watch(f, (struct mrs_view){NULL, 0}, false, out, e);
        if (st) {
            return st;
        }
        mrs_buf_reset(token);
        st = live_watch_token(*out, token, e);
        if (st == MRS_END) { /* known with the first answer; an event there would be before it */
            st = live_watch_next(*out, &event, &fault, e);
            st = st == MRS_END ? live_watch_token(*out, token, e) : st == MRS_OK ? MRS_END : failed(&fault, st, e);
        }
        if (st) {
            live_watch_close(*out);
            *out = NULL;
        }
    }
    return st != MRS_END ? st : mrs_err_set(e, MRS_SKIP, MRS_E_SERVER, "the server sends no resume token");
}

static void
leave(struct live_follow *f)
{
    if (f->watch) {
        live_watch_close(f->watch);
    }
    f->watch = NULL;
}

static enum mrs_status
save(struct live_follow *f, struct mrs_err *e)
{
    f->saved_ms = mrs_clock_asleep();
    return live_checkpoint_save(f->job, &f->c, e);
}

/* Starts at the current time and saves the token. */
static enum mrs_status
begin_stream(struct live_follow *f, struct mrs_err *e)
{
    leave(f);
    f->generation = live_link_generation(f->job->link);
    enum mrs_status st = open_now(f, &f->watch, &f->c.token, e);
    return st ? st : save(f, e);
}

/* Stops reading events. */
static enum mrs_status
stop_reading(struct live_follow *f, struct mrs_err *e)
{
    report_new_walk(f, e);
    f->on = false;
    return MRS_OK;
}

/* If the server has discarded the position: requires another walk, and starts a new stream if possible. */
static enum mrs_status
restart_stream(struct live_follow *f, struct mrs_err *e)
{
    report_new_walk(f, e);
    f->c.missed++;
    enum mrs_status st = begin_stream(f, e);
    return st == MRS_SKIP ? stop_reading(f, e) : st;
}

/* Opens it again at the token in c. */
static enum mrs_status
reopen(struct live_follow *f, bool also, struct mrs_err *e)
{
    leave(f);
    f->generation = live_link_generation(f->job->link);
    return open_watch(f, (struct mrs_view){f->c.token.p, (uint32_t)f->c.token.n}, also, &f->watch, e);
}

/* Resumes at the stored token. */
static enum mrs_status
resume_stream(struct live_follow *f, struct mrs_err *e)
{
    enum mrs_status st = reopen(f, false, e);
    return st == MRS_SKIP ? restart_stream(f, e) : st;
}

static enum mrs_status
reload(struct live_follow *f, struct mrs_err *e)
{
    char what[24], name[48];
    snprintf(what, sizeof what, "%.10s-events", f->of.what);
    live_pass_name(name, what, f->of.group, 0, f->of.no);
    live_checkpoint_clear(&f->c);
    uint64_t gen = live_link_generation(f->job->link);
    return live_lost_since(f->job, gen, live_checkpoint_open(f->job, name, &f->c, e), e);
}

/* Nothing is waited for: no event reaches it. */
static void
clear_mark(struct live_follow *f)
{
    mrs_buf_reset(&f->mark);
    f->mark_seq = INT64_MAX;
}

/* ---- begin ---- */
static enum mrs_status
open_batches(struct live_follow *f, struct mrs_err *e)
{
    MRS_ASSERT(!f->b && !f->ids);
    struct live_units *u;
    enum mrs_status st = live_units_open(f->job, f->of.group, f->of.purpose, &u, e);
    uint32_t n = st ? 0 : live_units_mains(u);
    live_units_close(st ? NULL : u);
    f->b = st ? NULL : mrs_zalloc(f->job->mem, (n + 1u) * sizeof *f->b);
    f->ids = st ? NULL : mrs_zalloc(f->job->mem, (n + 1u) * sizeof *f->ids);
    if (!st && (!f->b || !f->ids)) {
        return mrs_err_memory(e, n * sizeof *f->b);
    }
    while (f->n_mains < n && !st) {
        mrs_buf_init(&f->ids[f->n_mains], f->job->mem, 1u << 30);
        st = live_batch_open(&f->b[f->n_mains], f->job, f->of.group, f->n_mains, f->of.purpose, f->r, e);
        f->n_mains++;
    }
    return st;
}

/* Has a walk over the group begun already? */
static enum mrs_status
has_begun(struct live_follow *f, bool *begun, struct mrs_err *e)
{
    struct live_checkpoint c;
    char name[48];
    enum mrs_status st = live_checkpoint_open(f->job, live_pass_name(name, f->of.what, f->of.group, 0, f->of.no), &c,
                                              e);
    *begun = !st && c.seq > 0;
    live_checkpoint_clear(&c);
    return st;
}

/* SKIP: not possible; the reason is in e. */
static enum mrs_status
begin(struct live_follow *f, struct mrs_err *e)
{
    char room[400];
    bool begun = false;
    const char *why = live_follow_cannot(f, room, sizeof room);
    if (why) {
        return mrs_err_set(e, MRS_SKIP, MRS_E_SERVER, "%s", why);
    }
    enum mrs_status st = reload(f, e);
    if (st || f->c.token.n) {
        return st ? st : resume_stream(f, e);
    }
    st = has_begun(f, &begun, e);
    if (!st && begun) {
        return mrs_err_set(e, MRS_SKIP, MRS_E_SERVER, "the walk that goes on began without a change stream");
    }
    return st ? st : begin_stream(f, e);
}

enum mrs_status
live_follow_begin(struct live_follow *f, struct live_job *job, const struct live_follow_of *of,
                  struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(of->what && of->group < job->live->n_groups);
    enum mrs_status st;
    memset(f, 0, sizeof *f);
    f->job = job;
    f->of = *of;
    f->r = r;
    mrs_arena_init(&f->events_arena, job->mem);
    mrs_buf_init(&f->from, job->mem, 1u << 30);
    mrs_buf_init(&f->mark, job->mem, MRS_DOC_READ_MAX);
    clear_mark(f);
    if (of->purpose != LIVE_FOR_EXPAND || !live_link_replicated(job->link)) {
        return MRS_OK;
    }
    f->on = true;
    st = open_batches(f, e);
    for (uint32_t lost = 1; !st && (st = begin(f, e)) == MRS_END; lost++) {
        st = live_scan_wait(job, lost, e);
    }
    return st == MRS_SKIP ? stop_reading(f, e) : st;
}

void
live_follow_end(struct live_follow *f)
{
    leave(f);
    for (uint32_t i = 0; i < f->n_mains; i++) {
        live_batch_close(&f->b[i]);
        mrs_buf_clear(&f->ids[i]);
    }
    mrs_free(f->job->mem, f->b);
    mrs_free(f->job->mem, f->ids);
    live_checkpoint_clear(&f->c);
    mrs_buf_clear(&f->from);
    mrs_buf_clear(&f->mark);
    mrs_arena_clear(&f->events_arena);
}

/* ---- events ---- */
static bool
tokens_sort(const struct live_follow *f)
{
    return sorting(&f->c.token).type == MRS_STRING;
}

static enum mrs_status
set_mark(struct live_follow *f, struct mrs_err *e)
{
    MRS_ASSERT(f->on && f->watch);
    struct live_watch *other = NULL;
    mrs_buf_reset(&f->mark);
    LIVE_STOP("before-mark");
    bool sorts = tokens_sort(f);
    enum mrs_status st = sorts ? MRS_OK : reopen(f, true, e);
    MRS_THEN(st, save(f, e)); /* newer than everything the walk has read */
    f->mark_seq = f->c.seq;
    if (!st && sorts) {
        st = open_now(f, &other, &f->mark, e);
        live_watch_close(other);
    }
    return st;
}

static bool
is_mark(const struct live_follow *f, struct mrs_view event, bool *reached)
{
    if (!mrs_val_is_text(live_at(event, "documentKey._id"), f->c.id)) {
        return false;
    }
    *reached = *reached || live_int_at(event, "seq", 0) >= f->mark_seq;
    return true;
}

/* Copies the token after the last read event into c. *moved: the stream has advanced, with or without an event for
 * us. */
static enum mrs_status
take_token(struct live_follow *f, bool *moved, struct mrs_err *e)
{
    struct mrs_buf now;
    mrs_buf_init(&now, f->job->mem, MRS_DOC_READ_MAX);
    enum mrs_status st = live_watch_token(f->watch, &now, e);
    *moved = st || now.n != f->c.token.n || memcmp(now.p, f->c.token.p, now.n) != 0;
    mrs_buf_clear(&f->c.token);
    f->c.token = now;
    return st == MRS_END ? mrs_err_set(e, MRS_SKIP, MRS_E_SERVER, "the server sends no resume token") : st;
}

/* Reads and records the available events; sets the token after them in c. SKIP: the stream is broken. */
static enum mrs_status
take(struct live_follow *f, uint32_t *n, bool *reached, bool *moved, struct mrs_err *e)
{
    MRS_ASSERT(f->watch);
    struct live_fault fault = {.kind = LIVE_FAULT_NONE};
    struct mrs_view event;
    enum mrs_status st = MRS_OK;
    if (!f->of.note_only) {
        live_follow_forget(f);
    }
    *n = 0;
    while (*n < EVENTS && !*reached && (st = live_watch_next(f->watch, &event, &fault, e)) == MRS_OK) {
        ++*n;
        st = is_mark(f, event, reached) ? MRS_OK : live_follow_note(f, event, e);
        if (st) {
            return st;
        }
    }
    if (st && st != MRS_END) {
        return failed(&fault, st, e);
    }
    st = take_token(f, moved, e);
    *reached = *reached || (!st && f->mark.n && not_before(&f->c.token, &f->mark));
    return st;
}

static enum mrs_status
report(struct live_follow *f, struct mrs_err *e)
{
    char phase[96];
    struct live_progress p = {.phase = live_phase_name(f->job, phase, "catch up", f->of.group), .ns = f->b[0].coll->ns,
                              .done = f->c.docs, .limiting = "server"};
    return live_run_report(f->job, &p, e);
}

/* Has any of the current events a unit? */
static bool
names_units(const struct live_follow *f)
{
    bool any = f->from.n > 0;
    for (uint32_t i = 0; i < f->n_mains; i++) {
        any = any || f->ids[i].n > 0;
    }
    return any;
}

/* Saves a token after events that need nothing: this may wait a while. */
static enum mrs_status
save_late(struct live_follow *f, struct mrs_err *e)
{
    return mrs_clock_asleep() - f->saved_ms < SAVE_MS ? MRS_OK : save(f, e);
}

/* Writes, then saves the token: only if the server that sent the events also served the reads. */
static enum mrs_status
apply(struct live_follow *f, uint32_t n, bool reached, struct mrs_err *e)
{
    bool needed = reached || names_units(f);
    enum mrs_status st = LIVE_MUTANT("token-before-write") ? save(f, e) : MRS_OK;
    f->c.docs += n;
    MRS_THEN(st, live_follow_write(f, e));
    if (!st && f->generation != live_link_generation(f->job->link)) {
        return MRS_END;
    }
    MRS_THEN(st, needed ? save(f, e) : save_late(f, e));
    return st ? st : report(f, e);
}

static void
be_patient(struct live_follow *f, bool patient)
{
    for (uint32_t i = 0; i < f->n_mains; i++) {
        f->b[i].patient = patient;
    }
}

static enum mrs_status
breathe(struct live_follow *f, struct mrs_err *e)
{
    uint64_t docs = 0, bytes = 0;
    for (uint32_t i = 0; i < f->n_mains; i++) {
        docs += f->b[i].wrote_docs;
        bytes += f->b[i].wrote_bytes;
        f->b[i].wrote_docs = f->b[i].wrote_bytes = 0;
    }
    live_run_wrote(f->job->run, docs, bytes);
    return live_run_breathe(f->job, docs, bytes, e);
}

/* Reads and applies the available events, *n of them. As of take. */
static enum mrs_status
look(struct live_follow *f, uint32_t *n, bool *reached, bool *moved, struct mrs_err *e)
{
    *n = 0;
    enum mrs_status st = breathe(f, e);
    MRS_THEN(st, take(f, n, reached, moved, e));
    if (st || f->of.note_only) {
        return st;
    }
    return *n || *reached ? apply(f, *n, *reached, e) : *moved ? save_late(f, e) : MRS_OK;
}

/* Applies what the stream has now, for a second at most. *anew: it named units. */
static enum mrs_status
drain(struct live_follow *f, bool *anew, struct mrs_err *e)
{
    MRS_ASSERT(f->watch);
    int64_t end = mrs_clock_asleep() + BETWEEN_MS;
    enum mrs_status st = MRS_OK;
    bool more = true;
    while (!st && more && mrs_clock_asleep() < end) {
        uint32_t n;
        bool reached = false, moved = false;
        st = look(f, &n, &reached, &moved, e);
        more = n > 0 || moved;
        *anew = *anew || names_units(f);
    }
    f->next_ms = mrs_clock_asleep() + LIVE_PERIOD(*anew && !more ? ANEW_MS : BETWEEN_MS);
    return st;
}

/* Reads up to the mark. Reads again at once while the server still scans other writes; sortable tokens always reach the
 * mark. SKIP: the stream is broken. */
static enum mrs_status
catch_up(struct live_follow *f, struct mrs_err *e)
{
    bool reached = false, moved = false, anew = false;
    int64_t last_event = mrs_clock_asleep();
    /* A stream over more collections costs more: it gets the last few events only. */
    enum mrs_status st = tokens_sort(f) ? MRS_OK : drain(f, &anew, e);
    MRS_THEN(st, set_mark(f, e));
    while (!st && !reached) {
        uint32_t n;
        st = look(f, &n, &reached, &moved, e);
        if (n || reached || (moved && f->mark.n)) {
            last_event = mrs_clock_asleep();
        } else if (!st && !moved) {
            st = live_scan_wait(f->job, 0, e);
        }
        if (!st && mrs_clock_asleep() - last_event > SILENCE_MS) {
            st = mrs_err_set(e, MRS_SKIP, MRS_E_SERVER, "the change stream does not report what was written");
        }
    }
    clear_mark(f);
    return st;
}

/* Restores the stored state after a lost connection. */
static enum mrs_status
recover(struct live_follow *f, struct mrs_err *e)
{
    uint64_t gen = live_link_generation(f->job->link);
    enum mrs_status st = reload(f, e);
    MRS_THEN(st, resume_stream(f, e));
    return live_lost_since(f->job, gen, st, e);
}

/* Repeats catch_up after a lost connection. A broken stream is reopened at its position, else from the start. */
static enum mrs_status
reach_mark(struct live_follow *f, struct mrs_err *e)
{
    /* The connection may have been lost during the walk. */
    enum mrs_status st = f->watch || !f->on ? MRS_OK : MRS_END;
    uint32_t lost = 0, broken = 0;
    while (f->on) {
        uint64_t gen = live_link_generation(f->job->link);
        MRS_THEN(st, live_lost_since(f->job, gen, catch_up(f, e), e));
        if (st == MRS_SKIP && broken++) {
            st = broken == 2 ? restart_stream(f, e) : stop_reading(f, e);
        } else if (st == MRS_SKIP || st == MRS_END) {
            mrs_err_clear(e);
            st = live_scan_wait(f->job, ++lost, e);
            MRS_THEN(st, recover(f, e));
        } else {
            break;
        }
    }
    return st;
}

enum mrs_status
live_follow_between(struct live_follow *f, bool patient, bool *anew, struct mrs_err *e)
{
    *anew = false;
    if (!f->on || !(patient || f->of.note_only) || mrs_clock_asleep() < f->next_ms || LIVE_MUTANT("follow-late")) {
        return MRS_OK;
    }
    uint64_t gen = live_link_generation(f->job->link);
    be_patient(f, true);
    bool open = f->watch && f->generation == gen;
    enum mrs_status st = open ? live_lost_since(f->job, gen, drain(f, anew, e), e) : MRS_END;
    if (f->of.note_only) {
        live_follow_forget(f); /* they precede what is compared next */
    }
    if (st == MRS_SKIP || st == MRS_END) {
        mrs_err_clear(e);
        *anew = true;
        f->next_ms = 0;
        st = recover(f, e);
    }
    *anew = *anew && !LIVE_MUTANT("old-after-events");
    return st || gen == live_link_generation(f->job->link) ? st : MRS_END;
}

enum mrs_status
live_follow_noted(struct live_follow *f, bool *all, struct mrs_err *e)
{
    MRS_ASSERT(f->of.note_only);
    f->c.missed = 0;
    live_follow_forget(f);
    enum mrs_status st = reach_mark(f, e);
    MRS_THEN(st, live_follow_meet(f, e));
    *all = !f->on || f->c.missed > 0;
    return st;
}

enum mrs_status
live_follow_apply(struct live_follow *f, bool patient, bool missed, bool *again, struct mrs_err *e)
{
    MRS_ASSERT(again && !f->of.note_only);
    be_patient(f, patient);
    enum mrs_status st = f->on && LIVE_MUTANT("follow-late") ? begin_stream(f, e) : MRS_OK;
    MRS_THEN(st, reach_mark(f, e));
    *again = missed || !f->on || f->c.missed > 0;
    return st;
}

enum mrs_status
live_follow_walk(struct live_follow *f, uint32_t no, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    if (!f->on || f->c.at >= no) {
        return MRS_OK;
    }
    for (uint32_t lost = 0; f->on;) {
        uint64_t gen = live_link_generation(f->job->link);
        f->c.at = no;
        f->c.missed = 0;
        MRS_THEN(st, live_lost_since(f->job, gen, live_checkpoint_save(f->job, &f->c, e), e));
        if (st != MRS_END) {
            break;
        }
        st = live_scan_wait(f->job, ++lost, e);
        MRS_THEN(st, recover(f, e));
    }
    return st;
}
