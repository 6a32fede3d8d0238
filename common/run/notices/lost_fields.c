/* SPDX-License-Identifier: Apache-2.0 */
/* lost_fields.c - fields that leave with their documents although the plan does not name them: number of documents, and
 * the names of the first fields.
 *
 * The number is in the account's row, so it is saved and discarded with it. Names are stored separately; a resumed run
 * finds them again. */
#include "notices.h"
#include "lost_fields.h"
#include "mongoreshape/spread_ops.h"
#include <stdlib.h>

enum { NAMES = 20, NAME_BYTES = 60 };

struct mrsi_lost { /* for a step */
    pthread_mutex_t lock;
    char name[NAMES][NAME_BYTES];
    _Atomic uint32_t n;
    bool more;
};

static bool
is_known(const struct mrsi_lost *l, const char *name)
{
    for (uint32_t i = 0, n = l->n; i < n; i++) {
        if (strncmp(l->name[i], name, NAME_BYTES - 1) == 0) {
            return true;
        }
    }
    return false;
}

static void
keep_name(struct mrsi_lost *l, const char *name)
{
    if (is_known(l, name)) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    if (!is_known(l, name) && l->n < NAMES) {
        snprintf(l->name[l->n], NAME_BYTES, "%s", name);
        l->n++; /* other threads may read earlier entries */
    } else if (!is_known(l, name)) {
        l->more = true;
    }
    pthread_mutex_unlock(&l->lock);
}

/* Created by the first document that loses a field; NULL: out of memory, the number is still reported. */
static struct mrsi_lost *
of_step(struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    pthread_mutex_lock(&en->lock);
    if (!en->lost) {
        en->lost = mrs_zalloc(en->mem, en->plan->n_steps * sizeof *en->lost);
    }
    struct mrsi_lost **l = en->lost ? &en->lost[step] : NULL;
    if (l && !*l) {
        *l = mrs_zalloc(en->mem, sizeof **l);
        if (*l) {
            pthread_mutex_init(&(*l)->lock, NULL);
        }
    }
    pthread_mutex_unlock(&en->lock);
    return l ? *l : NULL;
}

void
mrsi_lost_check(struct mrsi_worker *w, uint32_t step, uint32_t side, struct mrs_view doc)
{
    MRS_ASSERT(step < w->en->plan->n_steps && mrs_view_is_framed(doc));
    const struct mrs_step *st = &w->en->plan->steps[step];
    struct mrsi_lost *l = NULL;
    struct mrs_walk walk;
    struct mrs_elem el;
    bool any = false;
    mrs_walk_init(&walk, doc);
    while (mrs_walk_next(&walk, &el) == 1) {
        if (st->type->spread->loses(st->state, el.name, el.name_len)) {
            l = any ? l : of_step(w->en, step);
            any = true;
            if (l) {
                keep_name(l, el.name);
            }
        }
    }
    mrsi_row(w, step, side)->lost += any;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

bool
mrsi_lost_line(struct mrsi_engine *en, uint32_t step, uint32_t side, char *line, size_t size)
{
    MRS_ASSERT(step < en->plan->n_steps && size > 0);
    const struct mrs_step *st = &en->plan->steps[step];
    uint64_t lost = en->rows[en->row_of[step][side]].lost;
    struct mrsi_lost *l = en->lost ? en->lost[step] : NULL;
    if (!lost) {
        return false;
    }
    size_t at = (size_t)snprintf(line, size, "step %u, %s: %llu document%s of %.255s %s fields that are lost", st->no,
                                 st->type->name, (unsigned long long)lost, lost == 1 ? "" : "s",
                                 st->desc.sides[side].coll.ns, lost == 1 ? "has" : "have");
    if (l) {
        qsort(l->name, l->n, sizeof *l->name, by_text);
    }
    for (uint32_t i = 0; l && i < l->n && at < size; i++) {
        at += (size_t)snprintf(line + at, size - at, "%s %s", i ? "," : ":", l->name[i]);
    }
    if (at < size) {
        snprintf(line + at, size - at, "%s; name them in `by` or `drop`, or keep the documents with `keep: all`",
                 l && l->more ? " and others" : "");
    }
    return true;
}

void
mrsi_lost_free(struct mrsi_engine *en)
{
    for (uint32_t i = 0; en->lost && i < en->plan->n_steps; i++) {
        if (en->lost[i]) {
            pthread_mutex_destroy(&en->lost[i]->lock);
            mrs_free(en->mem, en->lost[i]);
        }
    }
    mrs_free(en->mem, en->lost);
    en->lost = NULL;
}
