/* SPDX-License-Identifier: Apache-2.0 */
/* spill_split.c - the partition of an ordinal; one that is too large for a worker is split first. */
#include "spill.h"

static enum mrs_status
put_again(void *arg, const struct mrsi_rec *r, struct mrs_err *e)
{
    struct mrsi_rec_parts x = {mrsi_rec_verify(r), mrsi_rec_sort(r), mrsi_rec_payload(r)};
    return mrsi_spiller_put(arg, r, &x, e);
}

/* Makes partitions for so many bytes; frees those of the previous partition. */
static enum mrs_status
begin_split(struct mrsi_spill *sub, const struct mrsi_spill *sp, const struct mrsi_partition *p, struct mrs_err *e)
{
    MRS_ASSERT(sub != sp);
    struct mrsi_temp *temp = sub->temp; /* its pages are in memory already */
    struct mrsi_spill_layout l = mrsi_layout_split(sp->en->memory, sp->en->jobs, p->bytes, p->hi - p->lo);
    sub->temp = NULL;
    mrsi_spill_clear(sub);
    enum mrs_status s = mrsi_spill_init(sub, sp->en, p->hi - p->lo, &l, e);
    sub->temp = temp;
    sub->first = p->lo;
    if (s == MRS_OK) {
        mrsi_spill_cut(sub);
    }
    return s == MRS_OK && !temp ? mrsi_temp_new(sp->en, &sub->temp, e) : s;
}

enum mrs_status
mrsi_spill_split(struct mrsi_spill *sub, const struct mrsi_spill *sp, uint32_t part, struct mrs_err *e)
{
    MRS_ASSERT(part < sp->n_part);
    const struct mrsi_partition *p = &sp->part[part];
    struct mrsi_spiller out = {.sp = NULL};
    enum mrs_status s = begin_split(sub, sp, p, e);
    MRS_THEN(s, mrsi_spiller_init(&out, sub, 0, e));
    MRS_THEN(s, mrsi_partition_each(sp, p, p->lo, p->hi, put_again, &out, e));
    MRS_THEN(s, mrsi_spiller_end(&out, e));
    mrsi_spiller_clear(&out);
    return s;
}

bool
mrsi_spill_is_heavy(const struct mrsi_spill *sp, uint32_t part)
{
    MRS_ASSERT(part < sp->n_part);
    return sp->part[part].bytes > mrsi_layout_most(sp->en->memory, sp->en->jobs);
}

enum mrs_status
mrsi_spill_find(const struct mrsi_spill *sp, struct mrsi_spill_split *sub, uint64_t ord, const struct mrsi_spill **in,
                uint32_t *part, struct mrs_err *e)
{
    MRS_ASSERT(ord >= sp->first && ord - sp->first < sp->total);
    uint32_t no = mrsi_spill_part_of(sp, ord);
    enum mrs_status s = MRS_OK;
    *in = sp;
    *part = no;
    if (!mrsi_spill_is_heavy(sp, no) || sp->part[no].hi - sp->part[no].lo <= 1) {
        return s;
    }
    if (sub->of != no + 1) {
        sub->of = no + 1;
        s = mrsi_spill_split(&sub->spill, sp, no, e);
    }
    *in = &sub->spill;
    *part = s == MRS_OK ? mrsi_spill_part_of(&sub->spill, ord) : 0;
    return s;
}
