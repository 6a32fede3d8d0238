/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - detects time series: many measurements, each with a time, in time order within a few series. */
#include "gather.h"

enum { LEAST = 5000, LOOKED_AT = 200000, TIMES = 3, SERIES = 3, HOUR = 3600 * 1000 };

struct series_trial {
    const struct mrsi_path *time, *series;
    struct mrs_number_table last; /* ms, by the hash of the series */
    uint64_t steps, back;
    struct mrsi_tally step; /* ms */
};
struct trials {
    struct mrs_mem *mem;
    struct series_trial trial[TIMES * SERIES];
    uint32_t n;
};

static bool
is_measure(const struct mrsi_inspection *x, const struct mrsi_path *p)
{
    return !p->lists && p->kind == MRSI_FIELD && !mrsi_path_is_id(p) && !mrsi_reference_from(x, p) &&
           (p->count.n[MRSI_NUMBER] + p->count.n[MRSI_FRACTION]) * 2 > p->in->documents;
}

static bool
has_measure(const struct mrsi_inspection *x, const struct mrsi_collection *c)
{
    for (uint32_t i = 0; i < c->paths; i++) {
        if (is_measure(x, &c->path[i])) {
            return true;
        }
    }
    return false;
}

static bool
is_time(const struct mrsi_path *p)
{
    return !p->lists && p->kind == MRSI_FIELD && p->count.n[MRSI_DATE] * 100 >= p->in->documents * 99;
}

static bool
is_series(const struct mrsi_inspection *x, const struct mrsi_path *p, bool reference)
{
    if (p->lists || p->kind != MRSI_FIELD || p->names || p->distinct * 50 > p->in->documents ||
        (p->present - p->null) * 10 < p->in->documents * 9 || mrsi_path_is_id(p)) {
        return false;
    }
    return reference ? mrsi_reference_from(x, p) != NULL
                     : !mrsi_reference_from(x, p) && p->count.n[MRSI_TEXT] * 2 > p->present;
}

static void
list(const struct mrsi_inspection *x, const struct mrsi_collection *c, struct trials *t)
{
    MRS_ASSERT(c->path || c->paths == 0);
    const struct mrsi_path *time[TIMES], *series[SERIES];
    uint32_t times = 0, n = 0;
    for (uint32_t i = 0; i < c->paths && times < TIMES; i++) {
        if (is_time(&c->path[i])) {
            time[times++] = &c->path[i];
        }
    }
    for (int text = 0; text < 2; text++) {
        for (uint32_t i = 0; i < c->paths && n < SERIES; i++) {
            if (is_series(x, &c->path[i], !text)) {
                series[n++] = &c->path[i];
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < times; k++) {
            t->trial[t->n] = (struct series_trial){.time = time[k], .series = series[i]};
            mrs_buf_init(&t->trial[t->n++].last.slots, t->mem, SIZE_MAX);
        }
    }
}

static bool
step(struct series_trial *t, struct mrs_mem *mem, uint64_t series, int64_t ms)
{
    uint64_t before = t->last.n;
    struct mrs_number_slot *last = mrs_number_table_put(&t->last, series);
    bool ok = last != NULL;
    if (ok && t->last.n == before) {
        int64_t d = ms - (int64_t)last->value;
        t->steps++;
        t->back += d < 0;
        ok = d < 0 || mrsi_tally_add(&t->step, mem, (uint64_t)d, 1);
    }
    if (last) {
        last->value = (uint64_t)ms;
    }
    return ok;
}

static enum mrs_status
see(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct trials *t = arg;
    (void)worker;
    if (ordinal == LOOKED_AT) {
        return MRS_END;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        struct series_trial *y = &t->trial[i];
        struct mrs_val in = mrs_view_val(doc), time = mrsi_pick_one(in, y->time->way, y->time->ways);
        uint64_t series = mrsi_row_hash(mrsi_pick_one(in, y->series->way, y->series->ways), false);
        if (time.type == MRS_DATE && series && !step(y, t->mem, series, mrs_val_i64(time))) {
            return mrs_err_memory(e, y->last.slots.n);
        }
    }
    return MRS_OK;
}

static bool
passes(struct series_trial *t, struct mrs_mem *mem, double *seconds)
{
    uint64_t median = t->step.n ? mrsi_tally_rank(&t->step, mem, (t->step.n + 1) / 2) : 0;
    median = (uint64_t)((double)median * t->time->in->share); /* missing values are between the sampled ones */
    *seconds = (double)median / 1000;
    uint64_t of = t->time->in->documents < LOOKED_AT ? t->time->in->documents : LOOKED_AT;
    return t->steps * 2 >= of && t->back * 20 < t->steps && median > 0 && median <= HOUR;
}

static enum mrs_status
one_collection(struct mrsi_relating *x, struct mrsi_collection *c, struct mrs_err *e)
{
    struct trials *t = mrs_zalloc(x->x->mem, sizeof *t);
    MRS_TRY(mrs_allocated(t, sizeof *t, e));
    t->mem = x->x->mem;
    list(x->x, c, t);
    enum mrs_status s = t->n ? mrsi_scan(x, c, true, see, t, e) : MRS_OK;
    for (uint32_t i = 0; i < t->n; i++) {
        double seconds;
        if (s == MRS_OK && !c->series.time && passes(&t->trial[i], t->mem, &seconds)) {
            c->series = (struct mrsi_series){t->trial[i].time, t->trial[i].series, t->trial[i].series->distinct,
                                             seconds};
        }
        mrs_buf_clear(&t->trial[i].last.slots);
        mrsi_tally_clear(&t->trial[i].step, t->mem);
    }
    mrs_free(x->x->mem, t);
    return s;
}

enum mrs_status
mrsi_series(struct mrsi_relating *x, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < x->x->colls; i++) {
        struct mrsi_collection *c = &x->x->coll[i];
        if (c->documents >= LEAST && has_measure(x->x, c)) {
            s = one_collection(x, c, e);
        }
    }
    return s;
}
