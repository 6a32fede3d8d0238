/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_output.c - savepoints inside long work of the output: copies of unchanged files, and the final compression
 * into one file.
 *
 * The io library calls back between its parts; the description of the output then has its progress, so the savepoint of
 * such a pass adds only what was computed before it. The first Ctrl-C also ends this work. */
#include "checkpoint.h"

bool
mrsi_output_due(void *arg, uint64_t bytes)
{
    struct mrsi_engine *en = arg;
    atomic_fetch_add(&en->done_bytes, bytes);
    mrsi_tick(en);
    return mrsi_cancelled(en) || (en->output_pass && mrsi_ckpt_due(en));
}

enum mrs_status
mrsi_output_rest(void *arg, struct mrs_err *e)
{
    struct mrsi_engine *en = arg;
    enum mrs_status s = en->output_pass && mrsi_ckpt_due(en) ? mrsi_ckpt_savepoint(en->output_pass, e) : MRS_OK;
    return s == MRS_OK ? mrsi_interrupted(en, e) : s;
}

/* After an interrupt, compressed output is removed with the rest, unless a state can describe it. */
bool
mrsi_output_unwanted(void *arg)
{
    const struct mrsi_engine *en = arg;
    return mrsi_cancelled(en) && !mrsi_ckpt_is_worth(en);
}

/* ---- copies ---- */
static enum mrs_status
save_copy(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    const struct mrsi_coll *c = arg;
    (void)files;
    (void)e;
    mrs_build_i64(b, "docs", (int64_t)c->docs);
    mrs_build_i64(b, "bytes", (int64_t)c->bytes);
    return MRS_OK;
}

enum mrs_status
mrsi_copying_begin(struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_pass *p, struct mrs_err *e)
{
    bool bad = false;
    *p = (struct mrsi_pass){.en = en, .kind = c ? "copy" : "copy of an extra file"};
    if (c) {
        p->save = save_copy;
        p->arg = c;
    }
    mrsi_ckpt_savepoint_for(p);
    if (!mrsi_pass_is_resumed(p)) {
        return MRS_OK;
    }
    if (c) {
        c->docs = mrsi_state_number(p->from, "docs", INT64_MAX, &bad);
        c->bytes = mrsi_state_number(p->from, "bytes", INT64_MAX, &bad);
    }
    return bad ? mrsi_state_damaged("what is copied", e) : mrsi_pass_load(p, e);
}

enum mrs_status
mrsi_copying(struct mrsi_pass *p, uint32_t in_index, struct mrs_err *e)
{
    MRS_ASSERT(in_index < mrs_input_count(p->en->in));
    struct mrsi_engine *en = p->en;
    en->total_bytes += mrs_input_at(en->in, in_index)->file_bytes;
    en->output_pass = p;
    enum mrs_status s = mrs_output_copy(en->out, en->in, in_index, e);
    en->output_pass = NULL;
    return s;
}

/* ---- the final file ---- */
enum mrs_status
mrsi_commit(struct mrsi_engine *en, struct mrs_view extra, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(extra));
    struct mrsi_pass pass = {.en = en, .kind = MRSI_CKPT_PUBLISH};
    mrsi_ckpt_savepoint_for(&pass);
    en->total_bytes += mrs_output_packs(en->out);
    snprintf(en->phase_text, sizeof en->phase_text, "finishing the output");
    mrsi_tick(en);
    en->output_pass = &pass;
    enum mrs_status s = mrs_output_commit(en->out, extra, &en->report->sync_ms, e);
    en->output_pass = NULL;
    return s;
}
