/* SPDX-License-Identifier: Apache-2.0 */
/* run_stream.c - an output that is sent while the run is under way.
 *
 * The plan and the input's metadata alone determine all collections of the output and their metadata, so they are
 * announced first. Collections that no step names are sent at once, users and roles first; the others as soon as they
 * are complete. The oplog is sent last. */
#include "run_engine.h"
#include "run/account/amend.h"

/* Does no step use it? */
static bool
is_unused(const struct mrsi_engine *en, uint32_t coll)
{
    MRS_ASSERT(coll < en->n_coll);
    const struct mrsi_coll *c = &en->coll[coll];
    bool named = c->in_index == MRSI_NONE || c->touched || c->dropped_at != MRSI_NONE || en->opts->sample ||
                 mrsi_amend_touches(en->amend, c->in_index);
    for (uint32_t step = 0; !named && step < en->plan->n_steps; step++) {
        for (uint32_t i = 0; !named && i < en->plan->steps[step].desc.n_sides; i++) {
            named = en->side[step][i] == coll;
        }
    }
    return !named;
}

static enum mrs_status
announce_coll(struct mrsi_engine *en, uint32_t coll, struct mrs_output_item *item, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    const struct mrsi_coll *c = &en->coll[coll];
    struct mrs_buf text;
    mrs_buf_init(&text, en->mem, MRS_METADATA_MAX);
    bool as_is = c->in_index != MRSI_NONE && !c->touched;
    enum mrs_status s = as_is ? mrs_input_metadata_text(en->in, c->in_index, &text, e)
                              : mrsi_metadata_now(en, c, &text, e);
    mrs_buf_byte(&text, 0);
    MRS_THEN(s, mrs_buf_status(&text, e));
    item->name = c->last.ns;
    item->data = !as_is || mrs_input_at(en->in, c->in_index)->data_path;
    item->metadata = s == MRS_OK ? mrs_arena_copy(&en->arena, text.p, text.n) : NULL;
    mrs_buf_clear(&text);
    if (s == MRS_OK && mrs_archive_special(en->coll[coll].last.db, en->coll[coll].last.coll) && !is_unused(en, coll)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN,
                           "%s must be the first in an archive, and the plan names it: it cannot go out as a stream",
                           item->name);
    }
    return s == MRS_OK && !item->metadata ? mrs_err_memory(e, 0) : s;
}

static enum mrs_status
announce(struct mrsi_engine *en, struct mrs_err *e)
{
    uint32_t n = 0;
    enum mrs_status s = MRS_OK;
    struct mrs_output_item *items =
        mrs_zalloc(en->mem, ((size_t)en->n_coll + mrs_input_count(en->in) + 1) * sizeof *items);
    MRS_TRY(mrs_allocated(items, en->n_coll * sizeof *items, e));
    for (uint32_t i = 0; s == MRS_OK && i < en->n_coll; i++) {
        if (en->coll[i].dropped_at == MRSI_NONE) {
            s = announce_coll(en, i, &items[n++], e);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(en->in); i++) {
        if (mrsi_extra_is_copied(en, i)) {
            items[n++] = (struct mrs_output_item){mrs_input_at(en->in, i)->rel_path, true, true, ""};
        }
    }
    MRS_THEN(s, mrs_output_announce(en->out, items, n, e));
    mrs_free(en->mem, items);
    return s;
}

enum mrs_status
mrsi_stream_begin(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(en->out);
    enum mrs_status s = announce(en, e);
    snprintf(en->phase_text, sizeof en->phase_text, "writing the collections that no step names");
    mrsi_tick(en);
    for (int special = 1; special >= 0; special--) {
        for (uint32_t i = 0; s == MRS_OK && i < en->n_coll; i++) {
            if (is_unused(en, i) && mrs_archive_special(en->coll[i].last.db, en->coll[i].last.coll) == special) {
                s = mrsi_copy_file(en, i, e);
            }
        }
        for (uint32_t i = 0; s == MRS_OK && special && i < mrs_input_count(en->in); i++) {
            if (mrsi_extra_is_copied(en, i) && !mrsi_is_oplog(en, i)) {
                s = mrs_output_copy(en->out, en->in, i, e);
            }
        }
    }
    return s;
}
