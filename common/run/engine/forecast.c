/* SPDX-License-Identifier: Apache-2.0 */
/* forecast.c - estimates the temporary files of a plan's joins from the size of the input.
 *
 * It uses the arithmetic of the run (spill_layout.c), with the average size of the first documents. There is no
 * estimate for a collection that an earlier step changes: its size is unknown. */
#include "run_engine.h"
#include "run/pass/drivers.h"
#include "run/pass/pass.h"
#include "mongoreshape/run.h"

struct sized { /* a collection of the input */
    uint64_t bytes, docs;
};

/* Does an earlier step write the collection? */
static bool
is_changed(const struct mrs_plan *p, uint32_t step, const struct mrs_coll *c)
{
    const unsigned written = MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD;
    for (uint32_t i = 0; i < step; i++) {
        const struct mrs_desc *d = &p->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            if ((d->sides[k].role & written) && strcmp(d->sides[k].coll.ns, c->ns) == 0) {
                return true;
            }
        }
    }
    return false;
}

static enum mrs_status
average(struct mrs_input *in, uint32_t no, struct mrs_mem *mem, uint64_t *bytes, struct mrs_err *e)
{
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    mrs_block_init(&b, mem);
    enum mrs_status s = mrs_reader_open(in, no, 0, &r, e);
    MRS_THEN(s, mrs_reader_next(r, &b, e));
    *bytes = s == MRS_OK && b.n_docs ? b.n / b.n_docs : 0;
    mrs_reader_close(r);
    mrs_block_clear(&b);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
size_up(struct mrs_input *in, const struct mrs_coll *c, struct mrs_mem *mem, struct sized *out, struct mrs_err *e)
{
    uint32_t i = mrsi_input_find(in, c->ns);
    uint64_t one = 0;
    *out = (struct sized){0, 0};
    if (i == MRSI_NONE || !mrs_input_at(in, i)->data_path) {
        return MRS_OK;
    }
    enum mrs_status s = average(in, i, mem, &one, e);
    out->bytes = mrsi_input_bytes(mrs_input_at(in, i));
    out->docs = one ? out->bytes / one : 0;
    return s;
}

/* Does the step leave out documents, or fields? A map of `fields` may also add some. */
static bool
stores_a_part(const struct mrs_step *st)
{
    struct mrs_view body = st->body.p ? st->body : mrs_empty_doc();
    return mrs_doc_get(body, "where").type != MRS_MISSING || mrs_doc_get(body, "drop").type != MRS_MISSING ||
           mrs_doc_get(body, "fields").type == MRS_ARRAY;
}

enum mrs_status
mrs_run_forecast(struct mrs_mem *mem, const struct mrs_plan *plan, struct mrs_input *in,
                 const struct mrs_run_opts *opts, uint32_t step, struct mrs_forecast *out, struct mrs_err *e)
{
    const struct mrs_desc *d = &plan->steps[step].desc;
    struct sized from, into;
    memset(out, 0, sizeof *out);
    if (d->family != MRS_FAMILY_JOIN || is_changed(plan, step, &d->sides[0].coll) ||
        is_changed(plan, step, &d->sides[1].coll)) {
        return MRS_SKIP;
    }
    enum mrs_status s = size_up(in, &d->sides[0].coll, mem, &from, e);
    MRS_THEN(s, size_up(in, &d->sides[1].coll, mem, &into, e));
    if (s == MRS_OK) {
        struct mrsi_join_size size = {from.bytes, from.docs, into.bytes, into.docs, 0, 0};
        mrsi_choose_size(opts, &size.memory, &size.jobs);
        mrsi_join_forecast(d, &size, out);
        out->from = d->sides[0].coll.ns;
        out->most = stores_a_part(&plan->steps[step]);
        uint32_t i = mrsi_input_find(in, out->from);
        out->guessed = i != MRSI_NONE && mrs_input_at(in, i)->codec != MRS_CODEC_NONE;
    }
    return s;
}
