/* link.c - a linking step from its first pass to its last; the idea is in link.h. */
#include "link.h"

static void
begin(struct mrsi_link *l)
{
    struct mrsi_engine *en = l->en;
    l->ops->wants(l->st->state, &l->wants);
    for (int i = 0; i < 2; i++) {
        struct mrsi_link_side *sd = &l->side[i];
        mrsi_index_init(&sd->ids, en, en->memory / 4);
        mrsi_fates_init(&sd->fates, en);
        mrsi_tape_init(&sd->whose, en, sizeof(uint64_t), en->memory / 32);
        mrsi_tape_init(&sd->keys, en, sizeof(struct mrs_hash128), en->memory / 32);
        mrsi_tape_init(&sd->found, en, sizeof(uint64_t), en->memory / 32);
        mrsi_tape_init(&sd->at, en, sizeof(uint64_t), en->memory / 16);
        mrsi_tape_init(&sd->bytes, en, 1, en->memory / 16);
        sd->keeps = i == 0 ? l->wants.refs : l->wants.lists;
    }
}

static void
clear(struct mrsi_link *l)
{
    for (int i = 0; i < 2; i++) {
        struct mrsi_link_side *sd = &l->side[i];
        mrsi_index_clear(&sd->ids);
        mrsi_fates_clear(&sd->fates);
        mrsi_tape_clear(&sd->whose);
        mrsi_tape_clear(&sd->keys);
        mrsi_tape_clear(&sd->found);
        mrsi_tape_clear(&sd->at);
        mrsi_tape_clear(&sd->bytes);
        mrsi_area_clear(&sd->named);
        mrsi_area_clear(&sd->gains.start);
        mrsi_area_clear(&sd->gains.to);
    }
    mrsi_area_clear(&l->listed);
    mrsi_area_clear(&l->parent);
}

enum mrs_status
mrsi_link_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    const struct mrs_step *st = &en->plan->steps[step];
    struct mrsi_link l = {
        .en = en, .step = step, .st = st, .ops = st->type->link, .self = en->side[step][0] == en->side[step][1]};
    begin(&l);
    enum mrs_status s = mrsi_sides_init(&l.sides, en, step, e);
    s = s == MRS_OK ? mrsi_link_read(&l, e) : s;
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
        s = mrsi_link_decide(&l, e);
    }
    s = s == MRS_OK ? mrsi_link_write(&l, e) : s;
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
        s = mrsi_look_name(en, step, e);
    }
    clear(&l);
    return mrsi_sides_end(&l.sides, s, e);
}
