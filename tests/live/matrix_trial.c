/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_trial.c - a scene on its way: carried out unbroken, broken off and taken up again, looked at in the end.
 *
 * The unbroken run is the measure of all that follows, and is itself held against the offline tool (or, where the way
 * leads back, against the beginning). Must not know how things are broken.
 */
#include "matrix.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 6 };

struct tally *tally;
struct asked asked = {.workers = 2, .shares = 1};

/* ---- telling ---- */
void
fail(struct trial *t, const char *fmt, ...)
{
    char text[4096];
    va_list args;
    int n = snprintf(text, sizeof text, "FAIL %s %s%s, %s: ", t->scene->name, t->way->name,
                     t->plain ? " --no-transactions" : "", t->what);

    va_start(args, fmt);
    n += vsnprintf(text + n, sizeof text - (size_t)n - 1, fmt, args);
    va_end(args);
    n = n < (int)sizeof text - 2 ? n : (int)sizeof text - 2;
    text[n++] = '\n';
    if (write(1, text, (size_t)n) < 0)
        _exit(2);
    tally->failed++;
}

void
now_trying(struct trial *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(t->what, sizeof t->what, fmt, args);
    va_end(args);
}

/* ---- acts ---- */
pid_t
start_act(struct trial *t, int k, const struct call *how)
{
    struct call c = how != NULL ? *how : (struct call){0};
    char more[64];

    if (c.lease_ms == 0)
        c.lease_ms = t->w->use->replicated ? 20000 : 1000;
    snprintf(more, sizeof more, "--lease %d%s", c.lease_ms,
             t->plain ? " --no-transactions" : "");
    c.act = t->way->acts[k];
    c.more = more;
    return tool_start(t->w, &c);
}

int
act(struct trial *t, int k, const struct call *how)
{
    if (strcmp(t->way->acts[k], "!") == 0) {
        world_change(t->w);
        return 0;
    }
    return tool_wait(start_act(t, k, how));
}

bool
before(struct trial *t, int k)
{
    world_load(t->w, t->scene);
    for (int i = 0; i < k; i++) {
        int status = act(t, i, NULL);
        if (status != t->status[i]) {
            fail(t, "act %d before ended with %d: %s", i + 1, status, tool_said(t->w, NULL));
            return false;
        }
    }
    return true;
}

bool
run_is_over(struct trial *t, char phase[64])
{
    world_phase(t->w, phase);
    return strcmp(phase, "done") == 0 || strcmp(phase, "rolled back") == 0 || strcmp(phase, "contracted") == 0;
}

bool
finish(struct trial *t, int k)
{
    for (int tries = 0; k < ACTS && t->way->acts[k] != NULL; k++, tries = 0) {
        int status;
        world_wait(t->w);
        while ((status = act(t, k, NULL)) != t->status[k]) {
            const char *said = tool_said(t->w, NULL);
            char phase[64];
            if (run_is_over(t, phase))
                break;
            if (status != 6 || ++tries == TRIES) {
                fail(t, "again act %d ended with %d instead of %d (phase %s): %s", k + 1, status, t->status[k], phase,
                     said);
                return false;
            }
            world_expire(t->w);
            world_wait(t->w);
        }
    }
    return true;
}

static bool
compare(struct trial *t)
{
    struct picture got = {NULL, 0, 0};

    world_picture(t->w, &got);
    bool same = picture_same(&t->end, &got);
    if (!same) {
        char *text = picture_difference(&t->end, &got);
        fail(t, "another end:\n%s", text);
        free(text);
    }
    picture_clear(&got);
    return same;
}

void
nothing_lost(struct trial *t)
{
    const char *lost = world_lacks(t->w, t->marks, t->marks_n, &t->end);

    if (lost != NULL) {
        char phase[64];
        world_phase(t->w, phase);
        fail(t, "at this moment %s is nowhere (phase %s)", lost, phase);
    }
}

void
end_trial(struct trial *t, int k)
{
    world_wait(t->w);
    world_expire(t->w); /* nobody is left; whose release was lost need not be waited for */
    bool fine = finish(t, k) && compare(t);

    tally->passed += fine;
    if (asked.verbose)
        printf("%s %s %s%s, %s\n", fine ? "right" : "wrong", t->scene->name, t->way->name,
               t->plain ? " --no-transactions" : "", t->what);
}

/* ---- the unbroken run ---- */
static bool
hold_against(struct trial *t, struct picture *start, struct picture *offline)
{
    struct picture *want = t->way->goal == AS_BEFORE ? start : offline;

    if (want == start) /* that a document was refused is remembered */
        picture_take(start, &t->end, "refused");
    bool same = picture_same(want, &t->end);

    if (!same) {
        char *text = picture_difference(want, &t->end);
        fail(t, "not as %s:\n%s", want == start ? "before" : "offline", text);
        free(text);
    } else {
        tally->passed++;
    }
    return same;
}

static char *
take_list(struct trial *t)
{
    char path[300];

    snprintf(path, sizeof path, "%s/stops.txt", t->w->dir);
    char *text = text_file(path);
    unlink(path);
    return text;
}

void
close_trial(struct trial *t)
{
    picture_clear(&t->end);
    free(t->marks);
    for (int i = 0; i < ACTS; i++)
        free(t->stops[i]);
}

static bool
offline_end(struct trial *t, struct picture *start, struct picture *offline)
{
    char said[TEXT];

    world_load(t->w, t->scene);
    world_picture(t->w, start);
    for (int k = 0; k < ACTS && t->way->acts[k] != NULL; k++)
        if (strcmp(t->way->acts[k], "!") == 0)
            world_change(t->w);
    if (!world_offline(t->w, offline, said)) {
        fail(t, "offline: %s", said);
        return false;
    }
    return true;
}

bool
open_trial(struct trial *t, struct world *w, const struct scene *scene, const struct way *way, bool plain)
{
    struct picture start = {NULL, 0, 0}, offline = {NULL, 0, 0};
    char path[300];
    bool fine;

    *t = (struct trial){.w = w, .scene = scene, .way = way, .plain = plain, .what = "unbroken"};
    snprintf(path, sizeof path, "%s/stops.txt", w->dir);
    unlink(path);
    fine = offline_end(t, &start, &offline) && before(t, 0);
    for (int k = 0; fine && k < ACTS && way->acts[k] != NULL; k++) {
        t->status[k] = act(t, k, &(struct call){.list = path});
        t->stops[k] = take_list(t);
        if (k == 0 && (t->status[k] == 2 ||
                       (t->status[k] == 6 && strstr(tool_said(w, NULL), "nothing was written") != NULL))) {
            tally->refused++;
            fine = false;
        } else if (t->status[k] != 0 && t->status[k] != 1) {
            fail(t, "act %d ended with %d: %s", k + 1, t->status[k], tool_said(w, NULL));
            fine = false;
        }
    }
    if (fine) {
        world_picture(w, &t->end);
        t->marks = marks_of(&start, &t->marks_n);
        hold_against(t, &start, &offline);
        tally->cases++;
    }
    picture_clear(&start);
    picture_clear(&offline);
    if (!fine)
        close_trial(t);
    return fine;
}


/* ---- stops ---- */
int
stops_in(const char *list)
{
    int n = 0;

    for (const char *c = list; c != NULL && *c; c++)
        n += *c == '\n';
    return n;
}

const char *
stop_name(const char *list, int n, char out[128])
{
    const char *at = list;

    for (int i = 1; i < n && at != NULL; i++)
        at = strchr(at, '\n') + 1;
    snprintf(out, 128, "%.*s", (int)strcspn(at, "\n"), at);
    return out;
}
