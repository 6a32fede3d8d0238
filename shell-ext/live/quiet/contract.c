/* SPDX-License-Identifier: Apache-2.0 */
/* contract.c - removes the old schema while writers are stopped: contract of an expanded plan.
 *
 * The plan runs over the collections as if expand had never run (without its additions), and the result is compared
 * with the current data. Additions of expand must be equal, byte for byte: any difference means that they are not
 * verified, and nothing is removed. The remaining changes are removals; they are executed like every quiet list.
 * Documents that others wrote into a new collection stay and are reported; refused documents stay unchanged. */
#include "mongoreshape/ejson.h"
#include "quiet.h"
#include "live/state/state_io.h"

struct contract_check {
    struct live_quiet_run *q;
    struct live_pass_report *r;
    struct mrs_arena arena; /* for the current change */
};

/* A claimed field that differs; NULL: none. */
static enum mrs_status
claim_differs(struct contract_check *k, const struct live_planned_change *c, const char **field, struct mrs_err *e)
{
    struct live_claimed claims;
    mrs_arena_reset(&k->arena);
    enum mrs_status s = live_claims_in(k->q->job, c->coll.ns, &k->arena, &claims, e);
    *field = s == MRS_OK ? live_claimed_differs(claims, c->before, c->after, false) : NULL;
    return s;
}

/* Do its documents leave another collection only now, as orphans that a join moves? Expand removes nothing, so it could
 * not move them; the list does. */
static bool
filled_now(const struct live_job *job, const char *ns)
{
    bool beside = false;
    for (uint32_t i = 0; i < job->plan->n_steps; i++) {
        const struct mrs_desc *d = &job->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            bool added = (d->sides[k].role & MRS_ROLE_ADD) && strcmp(d->sides[k].coll.ns, ns) == 0;
            if (added && d->family != MRS_FAMILY_JOIN) {
                return false;
            }
            beside = beside || (added && k > 1);
        }
    }
    return beside;
}

static enum mrs_status
check_one(void *arg, const struct live_planned_change *c, struct mrs_err *e)
{
    struct contract_check *k = arg;
    struct live_pass_report *r = k->r;
    bool fresh = live_is_new_coll(k->q->job, c->coll.ns);
    const char *field = "";
    enum mrs_status s = MRS_OK;
    char id[120];
    mrs_val_picture(mrs_doc_get(c->after.n ? c->after : c->before, "_id"), id, sizeof id);
    if (c->kind == LIVE_INSERT) {
        bool missing = !filled_now(k->q->job, c->coll.ns);
        r->differs += missing;
        if (missing) {
            live_report_name(r, "%s %s: is missing", c->coll.ns, id);
        }
    } else if (c->kind == LIVE_DELETE && fresh) {
        r->foreign++;
        live_report_name(r, "%s %s: others wrote it, or its source is refused: it stays", c->coll.ns, id);
    } else if (c->kind == LIVE_UPDATE) {
        s = fresh ? MRS_OK : claim_differs(k, c, &field, e);
        r->differs += s == MRS_OK && field;
        if (s == MRS_OK && field) {
            live_report_name(r, "%s %s: %s%s differs", c->coll.ns, id, *field ? "field " : "the document", field);
        }
    }
    return s;
}

static enum mrs_status
check_all(struct live_quiet_run *q, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(q->compare);
    static const enum live_op_kind kinds[] = {LIVE_INSERT, LIVE_UPDATE, LIVE_DELETE};
    struct contract_check k = {.q = q, .r = r};
    enum mrs_status s = MRS_OK;
    mrs_arena_init(&k.arena, q->job->mem);
    for (enum live_build_mode turn = LIVE_BUILD_INPLACE; turn <= LIVE_BUILD_BESIDE; turn++) {
        for (int i = 0; s == MRS_OK && i < 3; i++) {
            s = live_compare_each(q->compare, kinds[i], turn, check_one, &k, e);
        }
    }
    mrs_arena_clear(&k.arena);
    if (s == MRS_OK && r->differs && !LIVE_MUTANT("contract-without-check")) {
        bool one = r->differs == 1, refused = q->job->run->n_refused > 0;
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                        "%llu document%s of the new schema differ%s from the old one: nothing was removed; %sgive "
                        "`verify --repair --execute`, then contract again",
                        (unsigned long long)r->differs, one ? "" : "s", one ? "s" : "",
                        refused ? "correct the refused documents, which may be the cause, then " : "");
    }
    return s;
}

static bool
is_removal(struct live_quiet_run *q, const struct live_planned_change *c)
{
    return c->kind != LIVE_DELETE || !live_is_new_coll(q->job, c->coll.ns);
}

/* New collections are final; documents of others in them stay. */
static void
leave_new_colls(struct live_quiet_run *q)
{
    MRS_ASSERT(q->compare);
    for (uint32_t i = 0; i < live_compare_count(q->compare); i++) {
        struct live_tally *t = live_compare_at(q->compare, i);
        if (t->old.ns && live_is_new_coll(q->job, t->old.ns)) {
            t->turn = LIVE_BUILD_INPLACE;
        }
    }
}

enum mrs_status
live_quiet_contract(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    enum mrs_status s = MRS_OK;
    if (live_run_in(job, "done")) { /* derived again, the target would seem wrong: its source is removed */
        if (job->print_line) {
            job->print_line(job->arg, "nothing is left to remove");
        }
        return MRS_OK;
    }
    if (strncmp(job->run->phase, "roll", 4) == 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "run %s is in phase \"%s\": the old schema stays, there is "
                           "nothing to contract", job->run->short_id, job->run->phase);
    }
    if (!live_run_in(job, "contract") && !live_run_in(job, "contract finishing")) {
        struct live_quiet_run q = {.job = job, .contract = true};
        s = live_quiet_derive(&q, e);
        if (s == MRS_OK) {
            leave_new_colls(&q);
            s = check_all(&q, r, e);
        }
        s = s != MRS_OK       ? s
            : job->opts.dry_run ? live_quiet_preview(&q, is_removal, r, e)
                             : live_quiet_seal(&q, "contract", is_removal, e);
        s = live_quiet_end(&q, s, NULL, e);
    } else if (job->opts.dry_run) {
        s = live_change_totals_preview(job, false, r, e);
    }
    if (job->opts.dry_run) {
        return s;
    }
    return s == MRS_OK ? live_quiet_carry_out(job, LIVE_WAY_CONTRACT, r, e) : s;
}
