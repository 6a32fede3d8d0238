/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - what writers change while a group is walked over, learned from a change stream
 *
 * follow.c reads the stream and keeps its token; follow_units.c knows which units an event is about. */
#ifndef LIVE_FOLLOW_H
#define LIVE_FOLLOW_H

#include "work.h"

struct live_follow_of { /* what is followed */
    const char *what;           /* as its checkpoints are named */
    uint32_t group, no;         /* no: of the first walk */
    enum live_purpose purpose;
    bool targets;               /* the walks read targets, too, that no unit makes any more */
    bool note_only;             /* events are noted, for live_follow_noted, and not applied; no other walk follows */
};
struct live_follow {
    struct live_job *job;
    struct live_follow_of of;
    bool on;                    /* events name what writers changed since before the first batch; else only another
                                   walk finds that */
    struct live_checkpoint c;   /* at: the walk under way; token: behind all events that are applied; missed: what
                                   only another walk can find */
    struct live_batch *b;       /* one a main collection, n_mains */
    uint32_t n_mains;
    struct live_watch *watch;
    uint64_t generation;        /* of the link, when it was opened */
    struct mrs_buf mark;        /* token that the stream has to reach; empty: the event of the checkpoint */
    int64_t mark_seq;
    struct live_pass_report *r;
    /* ---- of the events in hand: follow_units.c ---- */
    struct mrs_arena hold;
    struct mrs_buf *ids;        /* struct mrs_view {_id: v}, one list a main collection */
    struct mrs_buf from;        /* the same, of `from` */
};

/* Before the first walk over a group: the stream is opened, or resumed, and its token is in the state before
 * anything is read. Where a group, a server or a user's rights do not allow that, it is said and f->on is false. Only
 * what is added is followed (EXPAND). */
enum mrs_status live_follow_begin(struct live_follow *f, struct live_job *job, const struct live_follow_of *of,
                                  struct live_pass_report *r, struct mrs_err *e);
/* A walk with this number begins: what only it can find is not missed any more. */
enum mrs_status live_follow_walk(struct live_follow *f, uint32_t no, struct mrs_err *e);
/* All that was written until now is applied. *again: another walk is needed. patient: as of a batch. missed: the walk
 * has put units off. */
enum mrs_status live_follow_apply(struct live_follow *f, bool patient, bool missed, bool *again, struct mrs_err *e);
/* With of->note_only: the units of all events since the last call, or since the beginning. *all: the units are not
 * known, so all may be concerned. */
enum mrs_status live_follow_noted(struct live_follow *f, bool *all, struct mrs_err *e);
bool live_follow_named(const struct live_follow *f, uint32_t main, struct mrs_view doc);
void live_follow_end(struct live_follow *f);

/* ---- follow_units.c ---- */
/* Why events of this group do not tell its units; NULL: they do. room: of n bytes, for the text. */
const char *live_follow_cannot(const struct live_follow *f, char *room, size_t n);
/* Collections that events are needed of; out has room for all sides of the step. */
uint32_t live_follow_colls(const struct live_follow *f, const struct mrs_coll **out);
void live_follow_forget(struct live_follow *f); /* the events in hand */
/* An event: its units are noted by what it names; if it does not identify its units it is counted in c.missed. */
enum mrs_status live_follow_note(struct live_follow *f, struct mrs_view event, struct mrs_err *e);
/* The units of what is noted, each once. */
enum mrs_status live_follow_meet(struct live_follow *f, struct mrs_err *e);
/* They are derived and written; c is not saved. */
enum mrs_status live_follow_write(struct live_follow *f, struct mrs_err *e);

#endif
