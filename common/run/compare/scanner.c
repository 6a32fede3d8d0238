/* SPDX-License-Identifier: Apache-2.0 */
/* scanner.c - passes the documents of a dump to a function; see mongoreshape/scan.h */
#include "mongoreshape/scan.h"
#include "readers.h"

struct mrs_scanner {
    struct mrs_input *in;
    struct mrsi_readers readers[2]; /* with all workers; with one, for ordered output */
    uint64_t total;
};

enum mrs_status
mrs_scanner_open(struct mrs_mem *mem, struct mrs_input *in, const struct mrs_scan_opts *opts, struct mrs_scanner **out,
                 struct mrs_err *e)
{
    struct mrs_scanner *s = mrs_zalloc(mem, sizeof *s);
    *out = NULL;
    MRS_TRY(mrs_allocated(s, sizeof *s, e));
    s->in = in;
    struct mrs_run_opts how = {.jobs = opts->jobs,
                               .tmp = opts->tmp,
                               .cancel = opts->cancel,
                               .progress = opts->progress,
                               .progress_arg = opts->progress_arg};
    enum mrs_status st = mrsi_readers_begin(&s->readers[0], mem, &how, e);
    how.jobs = 1;
    if (st == MRS_OK) {
        st = mrsi_readers_begin(&s->readers[1], mem, &how, e);
        if (st != MRS_OK) {
            mrsi_readers_end(&s->readers[1]);
        }
    }
    if (st != MRS_OK) {
        mrsi_readers_end(&s->readers[0]);
        mrs_free(mem, s);
        return st;
    }
    *out = s;
    return MRS_OK;
}

uint32_t
mrs_scanner_workers(const struct mrs_scanner *s)
{
    return s->readers[0].en.jobs;
}

void
mrs_scanner_phase(struct mrs_scanner *s, const char *what, uint64_t total)
{
    for (int i = 0; i < 2; i++) {
        snprintf(s->readers[i].en.phase_text, sizeof s->readers[i].en.phase_text, "%s", what);
    }
    s->total = total;
}

struct scanning {
    const struct mrs_scan_doc *to;
    const struct mrsi_engine *en;
    bool enough; /* in order: stop reading */
};

static enum mrs_status
pass_on(void *arg, struct mrsi_worker *w, struct mrsi_read_job *job, struct mrs_view doc, uint64_t ordinal,
        struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct scanning *x = arg;
    (void)job;
    enum mrs_status s = x->enough ? MRS_OK : x->to->doc(x->to->arg, (uint32_t)(w - x->en->worker), doc, ordinal, e);
    x->enough |= s == MRS_END; /* only set in order, by the one worker */
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
next_block(void *arg, struct mrsi_read_job *job, struct mrs_err *e)
{
    const struct scanning *x = arg;
    (void)job;
    (void)e;
    return x->enough ? MRS_END : MRS_OK;
}

enum mrs_status
mrs_scanner_scan(struct mrs_scanner *s, uint32_t i, const struct mrs_scan_doc *to, struct mrs_err *e)
{
    MRS_ASSERT(i < mrs_input_count(s->in) && to->doc);
    struct mrsi_engine *en = &s->readers[to->in_order].en;
    struct mrsi_engine *other = &s->readers[!to->in_order].en;
    struct scanning x = {to, en, false};
    struct mrsi_reading r = {.en = en, .in = s->in, .index = i, .checked = to->checked, .doc = pass_on,
                             .block = next_block, .arg = &x};
    if (!mrs_input_at(s->in, i)->data_path) {
        return MRS_OK;
    }
    en->total_bytes = s->total;
    enum mrs_status st = mrsi_read_all(&r, e);
    atomic_store(&other->done_bytes, atomic_load(&en->done_bytes));
    atomic_store(&other->done_docs, atomic_load(&en->done_docs));
    return mrs_input_blame(s->in, st, e);
}

void
mrs_scanner_close(struct mrs_scanner *s)
{
    if (s) {
        struct mrs_mem *mem = s->readers[0].en.mem;
        mrsi_readers_end(&s->readers[0]);
        mrsi_readers_end(&s->readers[1]);
        mrs_free(mem, s);
    }
}
