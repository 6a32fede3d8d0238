/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - reads concurrent writes to a group from a change stream
 *
 * follow.c reads the stream and stores its token; follow_units.c maps events to units. */
#ifndef LIVE_FOLLOW_H
#define LIVE_FOLLOW_H

#include "work.h"

struct live_follow_of { /* what to follow */
    const char *what;           /* prefix of its checkpoint names */
    uint32_t group, no;         /* no: of the first walk */
    enum live_purpose purpose;
    bool targets;               /* the walks also read targets that no unit makes any more */
    bool note_only;             /* records events for live_follow_noted, does not apply them; no other walk follows */
};
struct live_follow {
    struct live_job *job;
    struct live_follow_of of;
    bool on;                    /* events identify all writes since before the first batch; else only another walk finds
                                 * them */
    struct live_checkpoint c;   /* at: the current walk; token: after all applied events; missed: what only another walk
                                 * can find */
    struct live_batch *b;       /* one for each main collection, n_mains */
    uint32_t n_mains;
    struct live_watch *watch;
    uint64_t generation;        /* of the link, when the stream was opened */
    int64_t saved_ms, next_ms;  /* when c was saved; when live_follow_between does something again */
    struct mrs_buf mark;        /* token that the stream must reach; empty: the event of the checkpoint */
    int64_t mark_seq;           /* of that event; INT64_MAX: none is waited for */
    struct live_pass_report *r;
    /* ---- of the current events: follow_units.c ---- */
    struct mrs_arena events_arena;
    struct mrs_buf *ids;        /* struct mrs_view {_id: v}, one list for each main collection */
    struct mrs_buf from;        /* the same for `from` */
};

/* Before the first walk over a group: opens or resumes the stream, and stores its token before anything is read. If the
 * group, the server or the user's privileges do not allow that, reports it and sets f->on to false. Only additions are
 * followed (EXPAND). */
enum mrs_status live_follow_begin(struct live_follow *f, struct live_job *job, const struct live_follow_of *of,
                                  struct live_pass_report *r, struct mrs_err *e);
/* Begins a walk with this number, and clears c.missed, which it covers. */
enum mrs_status live_follow_walk(struct live_follow *f, uint32_t no, struct mrs_err *e);
/* Between two batches of a walk, about once a second: applies the writes that the stream has now, unless this is the
 * last walk (not patient), where a unit that has to wait for another would be refused too early. *anew: what the walk
 * has read ahead may be older than these, and must be read again. END: the connection was lost. */
enum mrs_status live_follow_between(struct live_follow *f, bool patient, bool *anew, struct mrs_err *e);
/* Applies all writes until now. *again: another walk is needed. patient: as of a batch. missed: the walk has postponed
 * units. */
enum mrs_status live_follow_apply(struct live_follow *f, bool patient, bool missed, bool *again, struct mrs_err *e);
/* With of->note_only: the units of all events since the last call, or since the beginning. *all: the units are not
 * known, so all may have changed. */
enum mrs_status live_follow_noted(struct live_follow *f, bool *all, struct mrs_err *e);
bool live_follow_named(const struct live_follow *f, uint32_t main, struct mrs_view doc);
void live_follow_end(struct live_follow *f);

/* ---- follow_units.c ---- */
/* Why events of this group do not identify its units; NULL: they do. room: buffer of n bytes for the text. */
const char *live_follow_cannot(const struct live_follow *f, char *room, size_t n);
/* Collections to watch; out has space for all sides of the step. */
uint32_t live_follow_colls(const struct live_follow *f, const struct mrs_coll **out);
void live_follow_forget(struct live_follow *f); /* discards the current events */
/* Records the units of an event; if it does not identify them, increments c.missed. */
enum mrs_status live_follow_note(struct live_follow *f, struct mrs_view event, struct mrs_err *e);
/* Looks up the units of the recorded events, without duplicates. */
enum mrs_status live_follow_meet(struct live_follow *f, struct mrs_err *e);
/* Derives and writes them; does not save c. */
enum mrs_status live_follow_write(struct live_follow *f, struct mrs_err *e);

#endif
