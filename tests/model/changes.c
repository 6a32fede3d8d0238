/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c - the model of the change list: list, seal, apply, while tool and server are killed and somebody writes.
 *
 * The plan is the one that loses most easily: a child is embedded in its parent and then deleted, so a second
 * derivation finds no child and would write an empty array. `now` is what the server holds; `safe` is what it holds
 * after it was killed: only what a journaled write forced. The regime is quiet, yet one foreign write comes at any
 * time. Nothing may be lost at any moment: the child stands somewhere, and what the foreign writer was told is
 * written stays written. */
#include "mc.h"

#include <string.h>

enum { ARR_NONE, ARR_FULL, ARR_EMPTY };
enum { PHASE_LISTING, PHASE_APPLYING, PHASE_DONE, PHASE_STOPPED };
enum { NOT_SEALED = 1, CHECKPOINT_FIRST = 2, GUARD_OFF = 4, DELETE_FIRST = 8, MEMORY_RULES = 16 };

struct store {
    uint8_t arr, other; /* the parent: the embedded child, a field of the application */
    uint8_t child;
    uint8_t phase;
    uint8_t n;          /* entries of the list: 0 the parent's update, 1 the child's delete */
    uint8_t before[2], after[2]; /* of the parent: arr and other; entry 1 stands for the child itself */
    uint8_t seq;        /* checkpoint: entries done */
};
struct state {
    struct store now, safe;
    uint8_t pc;         /* of the tool */
    uint8_t arr, other, child; /* as it read them */
    uint8_t seq;        /* as it remembers it */
    uint8_t crashes, kills, foreign, foreign_done;
};

/* Where the tool stands. */
enum { START, READ, ENTRY0, ENTRY1, SEAL, LOOK, WRITE, CHECK, ENDING, OFF };

static void
start(void *p)
{
    struct state *s = p;
    memset(s, 0, sizeof *s);
    s->now.child = 1;
    s->safe = s->now;
    s->crashes = 2;
    s->kills = 1;
    s->foreign = 1;
}

/* Which entry is number seq. */
static int
entry(unsigned x, int seq)
{
    return x & DELETE_FIRST ? !seq : seq;
}

static void
list_step(struct mc_run *r, struct state s, unsigned x)
{
    switch (s.pc) {
    case START:
        s.seq = s.now.seq;
        s.pc = s.now.phase == PHASE_LISTING ? READ : s.now.phase == PHASE_APPLYING ? LOOK : OFF;
        if (s.pc == READ) {
            s.now.n = 0; /* what an earlier try listed is thrown away */
            s.seq = s.now.seq = 0;
        }
        mc_to(r, &s, "the tool starts");
        break;
    case READ:
        s.arr = s.now.arr;
        s.other = s.now.other;
        s.child = s.now.child;
        s.pc = ENTRY0;
        mc_to(r, &s, "reads parent and child");
        break;
    case ENTRY0:
        s.now.before[0] = s.arr;
        s.now.before[1] = s.other;
        s.now.after[0] = s.child ? ARR_FULL : ARR_EMPTY;
        s.now.after[1] = s.other;
        s.now.n = 1;
        s.pc = s.child ? ENTRY1 : SEAL;
        mc_to(r, &s, "lists the parent's update");
        break;
    case ENTRY1:
        s.now.n = 2;
        s.pc = SEAL;
        mc_to(r, &s, "lists the child's delete");
        break;
    default:
        s.now.phase = x & NOT_SEALED ? PHASE_LISTING : PHASE_APPLYING;
        s.pc = LOOK;
        s.safe = s.now;
        mc_to(r, &s, "seals the list");
        break;
    }
}

/* One entry by its digests; the compare and the write are one guarded update. */
static void
write_entry(struct state *s, unsigned x)
{
    if (entry(x, s->seq) == 1) {
        s->now.child = 0;
    } else if (x & GUARD_OFF) {
        s->now.arr = s->now.after[0];
        s->now.other = s->now.after[1];
    } else if (s->now.arr == s->now.before[0] && s->now.other == s->now.before[1]) {
        s->now.arr = s->now.after[0];
        s->now.other = s->now.after[1];
    } else if (s->now.arr != s->now.after[0] || s->now.other != s->now.after[1]) {
        s->now.phase = PHASE_STOPPED;
        s->pc = OFF;
        s->safe = s->now;
    }
}

static void
save(struct state *s)
{
    s->now.seq = (uint8_t)(s->seq + 1);
    s->safe = s->now;
}

static void
apply_step(struct mc_run *r, struct state s, unsigned x)
{
    bool first = x & CHECKPOINT_FIRST;
    switch (s.pc) {
    case LOOK:
        s.pc = s.seq == s.now.n ? ENDING : WRITE;
        mc_to(r, &s, "looks for the next entry");
        break;
    case WRITE:
        s.pc = CHECK;
        if (first) {
            save(&s);
        } else {
            write_entry(&s, x);
        }
        mc_to(r, &s, first ? "checkpoint" : "writes an entry");
        break;
    case CHECK:
        s.pc = LOOK;
        if (first) {
            write_entry(&s, x);
        } else {
            save(&s);
        }
        s.seq += s.pc == LOOK;
        mc_to(r, &s, first ? "writes an entry" : "checkpoint");
        break;
    default:
        s.now.phase = PHASE_DONE;
        s.safe = s.now;
        s.pc = OFF;
        mc_to(r, &s, "done");
        break;
    }
}

static void
next(struct mc_run *r, const void *p, unsigned x)
{
    const struct state *was = p;
    struct state s = *was;
    if (s.pc <= SEAL) {
        list_step(r, s, x);
    } else if (s.pc != OFF) {
        apply_step(r, s, x);
    }
    if (s.crashes && s.pc != OFF) {
        s.crashes--;
        s.pc = START;
        mc_to(r, &s, "the tool is killed");
        s = *was;
    }
    if (s.kills && s.pc != OFF) { /* the tool lives on and connects again */
        s.kills--;
        s.now = s.safe;
        s.pc = x & MEMORY_RULES ? s.pc : START;
        mc_to(r, &s, "the server is killed");
        s = *was;
    }
    if (s.foreign) { /* an application that waits for the journal */
        s.foreign--;
        s.now.other = s.foreign_done = 1;
        s.safe = s.now;
        mc_to(r, &s, "somebody else writes");
    }
}

static const char *
wrong(const void *p, bool last)
{
    const struct state *s = p;
    if (!s->now.child && s->now.arr != ARR_FULL) {
        return "the child is lost";
    }
    if (s->foreign_done && !s->now.other) {
        return "a foreign write is lost";
    }
    if (last && s->now.phase != PHASE_STOPPED && (s->now.child || s->now.arr != ARR_FULL)) {
        return "done, but not as derived";
    }
    return NULL;
}

static const struct mc_mutant mutants[] = {{"list not sealed before applying", NOT_SEALED},
                                           {"checkpoint before write", CHECKPOINT_FIRST},
                                           {"guard off", GUARD_OFF},
                                           {"deletes before updates", DELETE_FIRST},
                                           {"memory rules after reconnect", MEMORY_RULES},
                                           {NULL, 0}};

const struct mc_model model_changes = {"change list", sizeof(struct state), start, next, wrong, mutants};
