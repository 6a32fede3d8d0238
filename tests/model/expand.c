/* SPDX-License-Identifier: Apache-2.0 */
/* expand.c - the model of expand: ranges, a guard, a writer that goes on, then verify with repair when it is quiet.
 *
 * Two parents with an element each; the plan extracts the element into a document of a new collection and writes a
 * count beside it. The second parent may be inserted behind the cursor. The tool reads a parent, writes the child,
 * then the parent as it read it with the count (guarded by what it read), then the checkpoint; it may be killed at
 * any point. While the writer goes on, nothing that it was told is written may be lost; when it has stopped, one
 * repair, both ways, must leave exactly what would be derived offline. */
#include "mc.h"

#include <string.h>

#define NONE 9
enum { GUARD_OFF = 1, ONE_WAY = 2, NO_REPAIR = 4, UPSERT = 8, NO_SWEEP = 16 };

struct parent {
    uint8_t there, element, count; /* element: 0 none, 1, 2; count NONE: not there */
};
struct state {
    struct parent parent[2];
    uint8_t child[2];           /* what the child of this parent says; 0: there is none */
    uint8_t told[2], told_there[2]; /* what the writer was told */
    uint8_t cursor, pc;         /* checkpoint, and where the tool is in the unit */
    struct parent read;
    uint8_t quiet, phase;       /* phase: 0 expand, 1 repair by source, 2 repair by target, 3 done */
    uint8_t crashes, writes;
};

static void
start(void *p)
{
    struct state *s = p;
    memset(s, 0, sizeof *s);
    s->parent[1] = (struct parent){1, 1, NONE};
    s->parent[0] = (struct parent){0, 0, NONE};
    s->told[1] = s->told_there[1] = 1;
    s->crashes = 1;
    s->writes = 3;
}

/* One unit: read, child, parent, checkpoint. */
static void
unit(struct mc_run *r, struct state s, unsigned x)
{
    uint8_t i = s.cursor;
    bool repair = s.phase == 1;
    switch (s.pc) {
    case 0:
        s.read = s.parent[i];
        s.pc = s.read.there ? 1 : 3;
        mc_to(r, &s, repair ? "verify reads a parent" : "expand reads a parent");
        break;
    case 1:
        if (s.read.element || !(x & NO_SWEEP)) {
            s.child[i] = s.read.element;
        }
        s.pc = 2;
        mc_to(r, &s, "writes the child, or removes it");
        break;
    case 2:
        s.pc = 3;
        if ((s.parent[i].there && s.parent[i].element == s.read.element) || (x & UPSERT) ||
            ((x & GUARD_OFF) && s.parent[i].there)) {
            s.parent[i] = s.read;
            s.parent[i].count = s.read.element != 0;
        } else {
            s.pc = 0; /* missed: derived again */
        }
        mc_to(r, &s, s.pc ? "writes the parent" : "misses the parent");
        break;
    default:
        s.pc = 0;
        s.cursor++;
        mc_to(r, &s, "checkpoint");
        break;
    }
}

static void
tool(struct mc_run *r, struct state s, unsigned x)
{
    if (s.phase < 2 && s.cursor < 2) {
        unit(r, s, x);
        return;
    }
    if (s.phase == 0 && s.quiet) {
        s.phase = x & NO_REPAIR ? 3 : 1;
        s.cursor = 0;
        mc_to(r, &s, "verify --repair begins");
    } else if (s.phase == 1) {
        s.phase = x & ONE_WAY ? 3 : 2;
        mc_to(r, &s, "every source was compared");
    } else if (s.phase == 2) {
        for (int i = 0; i < 2; i++) {
            s.child[i] = s.parent[i].there ? s.child[i] : 0;
        }
        s.phase = 3;
        mc_to(r, &s, "every target was compared");
    }
}

static void
writer(struct mc_run *r, const struct state *was)
{
    static const char *const says[] = {"the writer takes the element out", "the writer writes element 1",
                                       "the writer writes element 2"};
    for (int i = 0; i < 2; i++) {
        struct state s = *was;
        s.writes--;
        for (uint8_t e = 0; e < 3 && was->parent[i].there; e++) {
            s.parent[i].element = s.told[i] = e;
            mc_to(r, &s, says[e]);
        }
        s = *was;
        s.writes--;
        s.parent[i] = was->parent[i].there ? (struct parent){0, 0, NONE} : (struct parent){1, 1, NONE};
        s.told[i] = s.told_there[i] = s.parent[i].there;
        mc_to(r, &s, s.parent[i].there ? "the writer inserts a parent" : "the writer deletes a parent");
    }
}

static void
next(struct mc_run *r, const void *p, unsigned x)
{
    const struct state *was = p;
    struct state s = *was;
    if (s.phase < 3) {
        tool(r, s, x);
    }
    if (s.crashes && s.phase < 3) {
        s.crashes--;
        s.pc = 0;
        memset(&s.read, 0, sizeof s.read);
        mc_to(r, &s, "the tool is killed");
        s = *was;
    }
    if (!s.quiet && s.writes) {
        writer(r, was);
    }
    if (!s.quiet) {
        s.quiet = 1;
        mc_to(r, &s, "the writer stops");
    }
}

static const char *
wrong(const void *p, bool last)
{
    const struct state *s = p;
    for (int i = 0; i < 2; i++) {
        if (s->parent[i].there != s->told_there[i] || (s->told_there[i] && s->parent[i].element != s->told[i])) {
            return "a write of the application is lost";
        }
        if (last && s->child[i] != (s->parent[i].there ? s->parent[i].element : 0)) {
            return "the children are not those of the sources";
        }
        if (last && s->parent[i].there && s->parent[i].count != (s->parent[i].element != 0)) {
            return "a count is stale";
        }
    }
    return NULL;
}

static const struct mc_mutant mutants[] = {{"guard off", GUARD_OFF},
                                           {"upsert on parents", UPSERT},
                                           {"stale targets are not removed", NO_SWEEP},
                                           {"verify one way", ONE_WAY},
                                           {"no repair when quiet", NO_REPAIR},
                                           {NULL, 0}};

const struct mc_model model_expand = {"expand", sizeof(struct state), start, next, wrong, mutants};
