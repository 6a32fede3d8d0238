/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c - the model of the lease: an owner that was asleep must not write after somebody took over.
 *
 * Owner A expands; it may sleep at any point for any time. B waits for the lease to pass, takes over with a new epoch
 * and rolls back; after that nothing may appear. On a replica set the write and the check of the epoch are one
 * transaction, so A may sleep as long as it likes. On a standalone the check comes before the command; that is right
 * only as long as A does not sleep a whole lease between the two, which is why B waits another lease, and why documents
 * on a standalone are guarded besides.
 *
 * Taking is two steps, a look (clock and lease) and an update that matches only what was seen; either taker may sleep
 * or be killed between them, and a third party, C, takes by the same rule as B. The time a lease runs to is counted
 * from the look. */
#include "mc.h"

#include <string.h>

#define LEASE 3
#define END 12
enum { UNCHECKED = 1, NO_WAIT = 2, ANY_SLEEP = 4, CLIENT_CLOCK = 8, NO_COMPARE = 16 };
enum { WAITS = 1, SAW, TOOK, ROLLED_BACK, KILLED };

struct state {
    uint8_t now;            /* the server's clock */
    uint8_t owner, epoch, until;
    uint8_t data;           /* 1: A's work is there */
    uint8_t a_pc, a_epoch;  /* 0 to take the lease, 1 to check, 2 to write, 3 gone */
    uint8_t checked;        /* when A looked */
    uint8_t pc[2];          /* of B and C: WAITS to KILLED */
    uint8_t saw_epoch[2], saw_until[2], saw_now[2]; /* what they read before they take */
    uint8_t epoch_of[2];    /* under which each has taken it */
    uint8_t both;           /* 1: two of them held the lease at once */
    uint8_t writes;         /* that A still has to make */
};

static void
start(void *p)
{
    struct state *s = p;
    memset(s, 0, sizeof *s);
    s->writes = 2;
    s->pc[0] = s->pc[1] = WAITS;
}

/* B (0) or C (1): looks, takes what it saw, rolls back. */
static void
taker(struct mc_run *r, struct state s, int i, unsigned x, bool replicated)
{
    uint8_t wait = replicated || (x & NO_WAIT) ? 0 : LEASE;
    uint8_t clock = x & CLIENT_CLOCK ? (uint8_t)(s.now + LEASE) : s.now; /* his own clock goes ahead */
    if (s.pc[i] == WAITS && s.owner != 0 && clock >= s.until + wait) {
        s.saw_epoch[i] = s.epoch;
        s.saw_until[i] = s.until;
        s.saw_now[i] = s.now;
        s.pc[i] = SAW;
        mc_to(r, &s, i ? "C looks: the lease is over" : "B looks: the lease is over");
        s.pc[i] = KILLED;
        mc_to(r, &s, i ? "C is killed" : "B is killed");
    } else if (s.pc[i] == SAW && !(x & NO_COMPARE) && (s.saw_epoch[i] != s.epoch || s.saw_until[i] != s.until)) {
        s.pc[i] = WAITS;
        mc_to(r, &s, i ? "C finds it changed, looks again" : "B finds it changed, looks again");
    } else if (s.pc[i] == SAW) {
        /* the other holds it, and it is not the lease that was seen to be over */
        bool other = s.owner == (i ? 'b' : 'c') && s.pc[!i] == TOOK && s.epoch_of[!i] == s.epoch &&
                     s.saw_epoch[i] != s.epoch;
        s.both |= other;
        s.owner = i ? 'c' : 'b';
        s.epoch_of[i] = ++s.epoch;
        s.until = (uint8_t)(s.saw_now[i] + LEASE); /* counted from the look: never later than the taker thinks */
        s.pc[i] = TOOK;
        mc_to(r, &s, i ? "C takes over" : "B takes over");
    } else if (s.pc[i] == TOOK && s.epoch_of[i] == s.epoch) {
        s.data = 0;
        s.pc[i] = ROLLED_BACK;
        mc_to(r, &s, i ? "C rolls back" : "B rolls back");
    }
}

static void
owner_a(struct mc_run *r, struct state s, unsigned x, bool replicated)
{
    bool mine = s.owner == 'a' && s.epoch == s.a_epoch;
    switch (s.a_pc) {
    case 0:
        s.owner = 'a';
        s.a_epoch = ++s.epoch;
        s.until = (uint8_t)(s.now + LEASE);
        s.a_pc = 1;
        mc_to(r, &s, "A takes the lease");
        break;
    case 1: /* on a standalone a lease past its time is as good as lost */
        mine = mine && (replicated || s.now < s.until);
        s.a_pc = mine || (x & UNCHECKED) ? 2 : 3;
        s.checked = s.now;
        mc_to(r, &s, "A looks at its lease");
        if (mine && s.until != s.now + LEASE) {
            s.until = (uint8_t)(s.now + LEASE);
            mc_to(r, &s, "A renews its lease");
        }
        break;
    case 2:
        if (!replicated && !(x & (ANY_SLEEP | UNCHECKED)) && s.now >= s.checked + LEASE) {
            return; /* asleep too long between the two: not claimed */
        }
        if (mine || !replicated || (x & UNCHECKED)) {
            s.data = 1;
            s.writes--;
        }
        s.a_pc = (mine || !replicated || (x & UNCHECKED)) && s.writes ? 1 : 3;
        mc_to(r, &s, "A writes");
        break;
    default: break;
    }
}

static void
both(struct mc_run *r, const void *p, unsigned x, bool replicated)
{
    struct state s = *(const struct state *)p;
    owner_a(r, s, x, replicated);
    taker(r, s, 0, x, replicated);
    taker(r, s, 1, x, replicated);
    if (s.now < END) {
        s.now++;
        mc_to(r, &s, "time passes");
    }
}

static void
next_replicated(struct mc_run *r, const void *p, unsigned x)
{
    both(r, p, x, true);
}

static void
next_standalone(struct mc_run *r, const void *p, unsigned x)
{
    both(r, p, x, false);
}

static const char *
wrong(const void *p, bool last)
{
    const struct state *s = p;
    (void)last;
    bool back = s->pc[0] == ROLLED_BACK || s->pc[1] == ROLLED_BACK;
    return s->both ? "two hold the lease" : back && s->data ? "the sleeper wrote after the rollback" : NULL;
}

static const struct mc_mutant replicated[] = {{"lease not checked", UNCHECKED}, {"taken without comparing", NO_COMPARE},
                                              {NULL, 0}};
static const struct mc_mutant standalone[] = {{"lease not checked", UNCHECKED},
                                              {"taken without comparing", NO_COMPARE},
                                              {"takeover without waiting", NO_WAIT},
                                              {"lease by the client's clock", CLIENT_CLOCK},
                                              {"asleep between look and write", ANY_SLEEP},
                                              {NULL, 0}};

const struct mc_model model_lease_replicated = {"lease, replica set", sizeof(struct state), start, next_replicated,
                                                wrong, replicated};
const struct mc_model model_lease_standalone = {"lease, standalone", sizeof(struct state), start, next_standalone,
                                                wrong, standalone};
