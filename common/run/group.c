/* group.c - a grouping step from its first pass to its last; the idea is in group.h. */
#include "group.h"

static enum mrs_status
write_once(struct mrsi_group *g, struct mrsi_refused_mark mark, bool restart, struct mrs_err *e)
{
    mrsi_refused_rewind(g->en, mark);
    mrsi_rows_begin(g->en);
    enum mrs_status s = mrsi_group_decide(g, e);
    for (uint32_t i = 0; s == MRS_OK && restart && i < g->sides.n_wr; i++) {
        s = mrsi_writer_restart(&g->sides.wr[i], e);
    }
    return s == MRS_OK ? mrsi_group_write(g, e) : s;
}

static enum mrs_status
write_all(struct mrsi_group *g, struct mrs_err *e)
{
    struct mrsi_refused_mark mark = mrsi_refused_mark(g->en);
    bool restart = false;
    enum mrs_status s;
    do {
        s = write_once(g, mark, restart, e);
        restart = true;
    } while (s == MRS_OK && g->again);
    return s;
}

enum mrs_status
mrsi_group_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    const struct mrs_step *st = &en->plan->steps[step];
    struct mrsi_group g = {.en = en, .step = step, .st = st, .ops = st->type->group};
    mrsi_sorter_init(&g.members, en, en->memory / 3);
    mrsi_fates_init(&g.from, en);
    mrsi_fates_init(&g.there, en);
    enum mrs_status s = mrsi_sides_init(&g.sides, en, step, e);
    s = s == MRS_OK ? mrsi_group_read(&g, e) : s;
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
        s = mrsi_group_judge(&g, e);
    }
    for (uint32_t i = 0; s == MRS_OK && i < 2; i++) {
        s = mrsi_sides_open(&g.sides, i, e);
    }
    s = s == MRS_OK ? write_all(&g, e) : s;
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
    }
    struct mrsi_sorter *all[] = {&g.members, &g.made, &g.gains, &g.refs};
    for (int i = 0; i < 4; i++) {
        mrsi_sorter_clear(all[i]);
    }
    mrsi_fates_clear(&g.from);
    mrsi_fates_clear(&g.there);
    return mrsi_sides_end(&g.sides, s, e);
}
