/* SPDX-License-Identifier: Apache-2.0 */
/* contract_units.c - removes the old schema, document by document, while writers run: for plans of one-document steps.
 *
 * After the first write there is no way back, and nothing is derived from a source that may be removed already: a
 * document is contracted only if its claims equal what its old schema gives (see unit.h). A document without claims was
 * inserted after expand: they are added, never changed, and it is contracted in the next round of the same walk. A
 * document that differs is reported and stays unchanged. Old indexes are dropped last; unique and expiring ones are
 * created then. */
#include "live/link/bson.h"
#include "work.h"

#include "mongoreshape/value.h"

#include <stdio.h>

enum { PASSES_MAX = 100, LATE_MAX = 3 };

struct contracting {
    struct live_batch b;
    struct live_scan t;
    bool late; /* a document was inserted behind the walk that adds claims: some are missing */
};

/* Adds missing claims; if one exists with another value, leaves the document. */
static enum mrs_status
added_result(struct live_batch *b, const struct live_unit *u, const struct live_task *t, struct mrs_view *result,
             struct mrs_err *e)
{
    struct live_claimed k = live_claims_of(b->job, b->group, b->side);
    bool pure = !u->refused && !t->refuse && !live_claimed_differs(k, u->doc, u->result, true);
    (void)e;
    *result = pure ? u->result : u->doc;
    return MRS_OK;
}

/* Only for the mutant: removes the old schema whatever the new one contains. */
static enum mrs_status
unchecked_result(struct live_batch *b, const struct live_unit *u, struct mrs_view *result, struct mrs_err *e)
{
    const struct mrs_live_group *g = &b->job->live->group[b->group];
    struct mrs_live_group *own = mrs_arena_copy(&b->make, g, sizeof *g);
    struct mrs_live live = {.group = own, .n_groups = 1};
    struct live_job job = {.mem = b->job->mem, .live = &live};
    MRS_TRY(mrs_allocated(own, sizeof *g, e));
    own->claims = g->gone;
    own->n_claims = g->n_gone;
    own->claims_side = b->side;
    return live_less_claims(&job, 0, b->side, u->doc, &b->make, result, e);
}

static enum mrs_status
contracted_result(struct live_batch *b, const struct live_unit *u, const struct live_task *t, struct mrs_view *result,
                  struct mrs_err *e)
{
    *result = u->refused || t->refuse ? u->doc : u->result;
    if (u->differs && LIVE_MUTANT("contract-without-check")) {
        return unchecked_result(b, u, result, e);
    }
    if (u->differs && !u->refused && t->tries == 0) {
        struct contracting *k = b->arg;
        if (b->job->opts.dry_run && !live_claimed_any(live_claims_of(b->job, b->group, b->side), u->doc)) {
            live_preview_count(b->r, &b->r->written, b->coll->ns, mrs_doc_get(u->doc, "_id"),
                               "would get the new schema and lose the old one");
            return MRS_OK;
        }
        k->late = k->late || u->late; /* an application's replacement may have removed some claims */
        b->r->differs++;
        live_name(b->r, b->coll->ns, mrs_doc_get(u->doc, "_id"),
                  "the new shape is not what the old one gives: left as it is");
    }
    return MRS_OK;
}

static enum mrs_status
write_batch(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct contracting *k = arg;
    uint64_t before = k->b.r->differs;
    enum mrs_status st = live_batch_write(&k->b, docs, n, c, e);
    c->differs += k->b.r->differs - before; /* saved with the next batch; the next walk counts again anyway */
    k->t.wrote_docs = k->b.wrote_docs;
    k->t.wrote_bytes = k->b.wrote_bytes;
    return st;
}

/* A dry run: the changes that a batch would make. A document without any claim would get its claims first. */
static enum mrs_status
preview_batch(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct contracting *k = arg;
    struct live_batch *b = &k->b;
    struct live_task *tasks;
    uint64_t before = b->r->differs;
    enum mrs_status st = live_batch_tasks(b, docs, n, &tasks, e);
    b->r->docs += n;
    for (struct live_slices s = {.n = n, .step = n}; !st && live_slices_next(&s);) {
        st = live_batch_make(b, tasks + s.at, s.k, &s.why);
        if (live_slices_halved(&s, st)) {
            st = MRS_OK;
            continue;
        }
        st = st ? live_slices_failed(&s, st, e) : st;
        for (uint32_t i = 0; i < b->burst.n && !st; i++) {
            const struct live_change *ch = &b->burst.change[i];
            live_preview_count(b->r, &b->r->written, ch->coll.ns, mrs_doc_get(ch->before, "_id"),
                               "would lose the old schema");
        }
    }
    c->differs += b->r->differs - before;
    return st ? st : live_checkpoint_save(b->job, c, e);
}

static enum mrs_status
walk(struct live_job *job, uint32_t group, uint32_t no, bool add, bool *changed, bool *late,
     struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    struct contracting k;
    char name[48], phase[96];
    memset(&k, 0, sizeof k);
    enum mrs_status st = live_batch_open(&k.b, job, group, 0, add ? LIVE_FOR_EXPAND : LIVE_FOR_CONTRACT, r, e);
    k.b.result = add ? added_result : contracted_result;
    k.b.record_later = add; /* only the other pass can tell whether a document is contracted already */
    k.b.arg = &k;
    const char *what = job->opts.dry_run ? "contract-look" : add ? "contract-add" : "contract";
    k.t = (struct live_scan){.job = job, .pass = live_pass_name(name, what, group, 0, no),
                             .phase = live_phase_name(job, phase, "contract", group), .coll = k.b.coll,
                             .bounded = true, .writes = no % PASSES_MAX == 0 && !job->opts.dry_run,
                             .batch = job->opts.dry_run ? preview_batch : write_batch, .arg = &k};
    MRS_THEN(st, live_scan_run(&k.t, e));
    *changed = *changed || k.t.written || k.t.missed;
    *late = *late || k.late;
    live_batch_close(&k.b);
    return st;
}

static enum mrs_status
contract_group(struct live_job *job, uint32_t g, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(g < job->live->n_groups);
    uint32_t first, named = r->n_named;
    bool changed = true;
    uint64_t before = r->differs;
    int late_rounds = 0;
    enum mrs_status st = live_next_number(job, "contract_no", &first, e);
    for (uint32_t no = 0; no < PASSES_MAX && changed && !st; no++) {
        bool late = false;
        changed = false;
        r->differs = before; /* of the last walk only */
        r->n_named = named;
        if (job->live->group[g].n_claims) {
            st = walk(job, g, first * PASSES_MAX + no, true, &changed, &late, r, e);
        }
        MRS_THEN(st, walk(job, g, first * PASSES_MAX + no, false, &changed, &late, r, e));
        changed = changed || (late && ++late_rounds < LATE_MAX);
    }
    return st || !changed ? st : mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                                             "writers add documents in the old schema as fast as they are contracted: "
                                             "switch them to the new schema, then call contract again");
}

/* Serializes the names of the old fields to remove. */
static void
preview_removals(struct live_job *job, uint32_t g)
{
    MRS_ASSERT(g < job->live->n_groups);
    const struct mrs_live_group *lg = &job->live->group[g];
    const struct mrs_step *s = &job->plan->steps[lg->first];
    for (uint32_t i = 0; i < lg->n_gone; i++) {
        char what[300];
        snprintf(what, sizeof what, "remove field %.255s from", lg->gone[i]);
        live_preview_line(job, what, s->desc.sides[lg->claims_side < 0 ? 0 : lg->claims_side].coll.ns, mrs_empty_doc());
    }
}

/* A dry run: one walk over each group, then the catalogue. */
static enum mrs_status
preview(struct live_job *job, struct live_claims *c, struct live_pass_report *r, struct mrs_err *e)
{
    bool changed, late;
    enum mrs_status st = live_claims_make(job, c, e);
    for (uint32_t g = 0; g < job->live->n_groups && !st; g++) {
        uint32_t no = 0;
        if (job->live->group[g].removes) {
            preview_removals(job, g);
            st = live_next_number(job, "look_no", &no, e);
            MRS_THEN(st, walk(job, g, no, false, &changed, &late, r, e));
        }
    }
    return st ? st : live_catalogue_make(job, c, true, e);
}

static enum mrs_status
may_contract(const struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct mrs_view doc = {job->run->doc.p, (uint32_t)job->run->doc.n};
    if (!live_contracts_alongside(job)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                           "this plan can only be contracted with writers stopped: use --quiet-by");
    }
    if (live_run_in(job, "contract") || live_run_in(job, "done")) {
        return MRS_OK;
    }
    if (!live_run_in(job, "expanded")) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "this run is in phase \"%s\": only what is expanded can be "
                           "contracted", job->run->phase);
    }
    if (mrs_doc_get(doc, "verified").type == MRS_MISSING) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                           "this run is not verified: give `verify --repair --execute` first");
    }
    return MRS_OK;
}

/* No way back after this. */
static enum mrs_status
begin(struct live_job *job, struct mrs_err *e)
{
    struct mrs_buf buf, catalogue;
    struct mrs_view set;
    if (live_run_in(job, "contract")) {
        return live_run_phase(job, "contract", job->run->group, mrs_empty_doc(), e);
    }
    mrs_buf_init(&buf, job->mem, MRS_DOC_MAX);
    mrs_buf_init(&catalogue, job->mem, MRS_DOC_MAX / 2);
    enum mrs_status st = live_catalogue_note(job, &catalogue, e);
    MRS_THEN(st, live_doc(&buf, &set, e, "{catalogue: %v}",
                          (struct mrs_val){catalogue.p, (uint32_t)catalogue.n, MRS_BINARY}));
    MRS_THEN(st, live_run_phase(job, "contract", job->run->group, set, e));
    mrs_buf_clear(&catalogue);
    mrs_buf_clear(&buf);
    return st;
}

enum mrs_status
live_contract_units(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->live);
    struct live_claims c = {.cat = NULL};
    struct mrs_buf buf;
    struct mrs_view set;
    enum mrs_status st = may_contract(job, e);
    if (st || live_run_in(job, "done")) {
        return st;
    }
    if (job->opts.dry_run) {
        st = preview(job, &c, r, e);
        live_claims_clear(&c);
        return st;
    }
    mrs_buf_init(&buf, job->mem, 4096);
    st = live_foresee_contract(job, e);
    MRS_THEN(st, begin(job, e));
    MRS_THEN(st, live_claims_make(job, &c, e));
    MRS_THEN(st, live_catalogue_clear_way(job, &c, e));
    for (uint32_t g = 0; g < job->live->n_groups && !st; g++) {
        st = job->live->group[g].removes ? contract_group(job, g, r, e) : MRS_OK;
    }
    if (!st && r->differs) {
        st = mrs_err_set(e, MRS_FAIL, MRS_E_REFUSED,
                         "%llu documents keep the old schema, because their new fields differ from the derived values; "
                         "correct them and call contract again", (unsigned long long)r->differs);
    }
    MRS_THEN(st, live_catalogue_make(job, &c, true, e));
    live_claims_clear(&c);
    MRS_THEN(st, live_doc(&buf, &set, e, "{claims: null, catalogue: null}"));
    MRS_THEN(st, live_run_phase(job, "done", job->live->n_groups, set, e));
    mrs_buf_clear(&buf);
    return st;
}
