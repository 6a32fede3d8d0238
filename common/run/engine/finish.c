/* SPDX-License-Identifier: Apache-2.0 */
/* finish.c - the end of a run: collections that no step has written, files without a namespace, the account.
 *
 * Documents of collections without a step are validated, then the files are copied byte for byte. */
#include "run_engine.h"
#include "run/account/amend.h"
#include "run/pass/checkpoint.h"
#include "run/series/unpack_buckets.h"

/* Reads a collection to its end, through pending steps, without output. */
static enum mrs_status
read_through(struct mrsi_engine *en, uint32_t coll, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    struct mrsi_writer wr = {.en = en, .coll = coll, .blind = true};
    return mrsi_copy_through(en, coll, &wr, NULL, e);
}

static bool
has_pending(const struct mrsi_coll *c)
{
    for (uint32_t i = 0; i < c->n_part; i++) {
        if (c->part[i].n_pend) {
            return true;
        }
    }
    return false;
}

/* Is the collection still the file of the input? A step that only reads it may have refused documents. */
static bool
is_as_read(const struct mrsi_engine *en, const struct mrsi_coll *c)
{
    bool has_file = c->in_index != MRSI_NONE && mrs_input_at(en->in, c->in_index)->data_path;
    return c->in_index != MRSI_NONE && c->n_part == has_file && (!has_file || c->part[0].in_index == c->in_index);
}

static bool
passes_through(const struct mrsi_engine *en, const struct mrsi_coll *c)
{
    return !en->opts->sample && is_as_read(en, c) && !c->touched && !c->content && !has_pending(c) &&
           !mrsi_amend_touches(en->amend, c->in_index);
}

static void
begin_in_background(struct mrsi_engine *en, const struct mrsi_coll *c)
{
    if (en->out && c->n_part && !c->written && c->dropped_at == MRSI_NONE && passes_through(en, c)) {
        mrs_output_copy_in_background(en->out, en->in, c->in_index);
    }
}

void
mrsi_copy_in_background(struct mrsi_engine *en, uint32_t step)
{
    for (uint32_t i = 0; i < en->plan->steps[step].desc.n_sides; i++) {
        begin_in_background(en, &en->coll[en->side[step][i]]);
    }
}

/* Size of the collection, every document of which has been validated then. */
static enum mrs_status
check_all(struct mrsi_engine *en, uint32_t coll, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    struct mrsi_coll *c = &en->coll[coll];
    struct mrsi_writer wr = {.en = en, .coll = coll, .blind = true};
    struct mrsi_pass pass = {.en = en, .kind = "check", .wr = &wr, .n_wr = 1};
    if (!c->read) {
        begin_in_background(en, c);
        mrsi_ckpt_savepoint_for(&pass);
        enum mrs_status s = mrsi_pass_is_resumed(&pass) ? mrsi_pass_load(&pass, e) : MRS_OK;
        MRS_THEN(s, mrsi_copy_through(en, coll, &wr, &pass, e));
        c->docs = wr.docs;
        c->bytes = wr.bytes;
        return s;
    }
    c->docs = c->read_docs;
    c->bytes = c->read_bytes;
    atomic_fetch_add(&en->done_bytes, mrs_input_at(en->in, c->in_index)->file_bytes);
    mrsi_tick(en);
    return MRS_OK;
}

enum mrs_status
mrsi_copy_file(struct mrsi_engine *en, uint32_t coll, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    struct mrsi_coll *c = &en->coll[coll];
    struct mrsi_pass pass;
    enum mrs_status s = mrsi_copying_begin(en, c, &pass, e);
    s = s == MRS_OK && c->n_part && !mrsi_pass_is_resumed(&pass) ? check_all(en, coll, e) : s;
    c->copied = true;
    c->written = true;
    s = s == MRS_OK && en->out ? mrsi_copying(&pass, c->in_index, e) : s;
    if (s == MRS_OK && en->out && c->n_part && mrsi_input_digest_docs(en, c->in_index)) {
        s = mrs_output_copied(en->out, c->ns, mrsi_input_digest_docs(en, c->in_index), e);
    }
    return s;
}

static enum mrs_status
write_last(struct mrsi_engine *en, uint32_t coll, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll && !en->coll[coll].written);
    struct mrsi_writer wr;
    struct mrsi_pass pass = {.en = en, .kind = "last", .wr = &wr, .n_wr = 1};
    enum mrs_status s;
    mrsi_ckpt_savepoint_for(&pass);
    mrsi_rows_begin(en);
    if (mrsi_pass_is_resumed(&pass)) {
        s = mrsi_writer_prepare(en, coll, en->plan->n_steps, &wr, e);
        MRS_THEN(s, mrsi_pass_load(&pass, e));
    } else {
        s = mrsi_writer_open(en, coll, en->plan->n_steps, &wr, e);
    }
    MRS_THEN(s, mrsi_copy_through(en, coll, &wr, &pass, e));
    if (s != MRS_OK) {
        mrsi_writer_drop(&wr);
        return s;
    }
    mrsi_rows_accept(en);
    return mrsi_writer_close(&wr, false, e);
}

static enum mrs_status
copy_extra(struct mrsi_engine *en, uint32_t i, struct mrs_err *e)
{
    struct mrsi_pass pass;
    enum mrs_status s = mrsi_ckpt_boundary(en, en->plan->n_steps, e);
    MRS_THEN(s, mrsi_copying_begin(en, NULL, &pass, e));
    return s == MRS_OK ? mrsi_copying(&pass, i, e) : s;
}

/* A view, or a namespace with metadata only, whose metadata no step changed, is one file. */
enum mrs_status
mrsi_finish_collections(struct mrsi_engine *en, struct mrs_err *e)
{
    enum mrs_status s = mrsi_series_settle(en, e);
    snprintf(en->phase_text, sizeof en->phase_text, "writing the other collections");
    mrsi_tick(en);
    for (uint32_t i = 0; s == MRS_OK && i < en->n_coll; i++) {
        struct mrsi_coll *c = &en->coll[i];
        if (!c->written && c->dropped_at == MRSI_NONE) {
            s = mrsi_ckpt_boundary(en, en->plan->n_steps, e);
            s = s != MRS_OK ? s : passes_through(en, c) ? mrsi_copy_file(en, i, e) : write_last(en, i, e);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && en->out && i < mrs_input_count(en->in); i++) {
        /* all other files of a stream were written before */
        if (mrsi_extra_is_copied(en, i) && (!en->opts->stream || mrsi_is_oplog(en, i))) {
            s = mrs_output_has(en->out, mrs_input_at(en->in, i)->rel_path) ? MRS_OK : copy_extra(en, i, e);
        }
    }
    return s;
}

enum mrs_status
mrsi_drain(struct mrsi_engine *en, uint32_t last, struct mrs_err *e)
{
    MRS_ASSERT(last <= en->plan->n_steps);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < en->n_coll; i++) {
        struct mrsi_coll *c = &en->coll[i];
        bool waits = false;
        for (uint32_t k = 0; k < c->n_part; k++) {
            struct mrsi_part *p = &c->part[k];
            while (p->n_pend && p->pend[p->n_pend - 1] > last) {
                p->n_pend--;
            }
            waits = waits || p->n_pend > p->n_counted;
        }
        if (waits && !c->written) {
            mrsi_rows_begin(en);
            s = read_through(en, i, e);
            mrsi_rows_accept(en);
        }
    }
    return s;
}

/* A restore of a capped collection drops the oldest documents if there are too many: the limits of the input, or of the
 * step `options`, apply to the plan's result. */
enum mrs_status
mrsi_check_capped(const struct mrsi_engine *en, struct mrs_err *e)
{
    for (uint32_t i = 0; i < en->n_coll; i++) {
        const struct mrsi_coll *c = &en->coll[i];
        int64_t size = INT64_MAX, max = INT64_MAX;
        if (!c->written || c->copied || !c->cat || !mrs_catalog_capped(c->cat)) {
            continue;
        }
        mrs_val_integral(mrs_doc_get(c->cat->options, "size"), &size);
        mrs_val_integral(mrs_doc_get(c->cat->options, "max"), &max);
        max = max > 0 ? max : INT64_MAX;
        if (c->docs > (uint64_t)max || (size >= 0 && c->bytes > (uint64_t)size)) {
            bool many = c->docs > (uint64_t)max;
            char instead[MRS_NS_MAX + 50] = "give it a larger one";
            if (!c->cat->made) {
                snprintf(instead, sizeof instead, "say `options: { in: %s, capped: null }`", c->last.coll);
            }
            return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN,
                               "%s is capped, and %llu %s are more than its `%s` of %lld: a restore would drop the "
                               "oldest documents; %s, or delete some", c->last.ns,
                               (unsigned long long)(many ? c->docs : c->bytes), many ? "documents" : "bytes",
                               many ? "max" : "size", (long long)(many ? max : size), instead);
        }
    }
    return MRS_OK;
}

/* Checks that every document has one fate, and that the last step's output of each collection was written. */
enum mrs_status
mrsi_check_account(const struct mrsi_engine *en, struct mrs_err *e)
{
    for (uint32_t step = 0; step < en->plan->n_steps; step++) {
        const struct mrs_step *st = &en->plan->steps[step];
        for (uint32_t i = 0; i < st->desc.n_sides; i++) {
            const struct mrsi_row *r = &en->rows[en->row_of[step][i]];
            const struct mrsi_coll *c = &en->coll[en->side[step][i]];
            if (r->before + r->created + r->entered != r->after + r->taken + r->dropped + r->refused) {
                return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT,
                                   "step %u, %s: before %llu + created %llu + entered %llu is not after %llu + taken "
                                   "%llu + dropped %llu + refused %llu",
                                   st->no, c->ns, (unsigned long long)r->before, (unsigned long long)r->created,
                                   (unsigned long long)r->entered, (unsigned long long)r->after,
                                   (unsigned long long)r->taken, (unsigned long long)r->dropped,
                                   (unsigned long long)r->refused);
            }
        }
    }
    for (uint32_t i = 0; i < en->n_coll; i++) {
        const struct mrsi_coll *c = &en->coll[i];
        if (!c->written && c->dropped_at == MRSI_NONE) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "%s: nothing was written, and no step drops it", c->ns);
        }
        for (uint32_t step = en->plan->n_steps; c->written && !c->copied && step-- > 0;) {
            const struct mrs_desc *d = &en->plan->steps[step].desc;
            uint32_t side = 0;
            while (side < d->n_sides && en->side[step][side] != i) {
                side++;
            }
            if (side < d->n_sides && d->family != MRS_FAMILY_CATALOG) {
                if (en->rows[en->row_of[step][side]].after != c->docs) {
                    return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT,
                                       "%s: step %u left %llu documents, %llu were written", c->ns, step + 1,
                                       (unsigned long long)en->rows[en->row_of[step][side]].after,
                                       (unsigned long long)c->docs);
                }
                break;
            }
        }
    }
    return MRS_OK;
}
