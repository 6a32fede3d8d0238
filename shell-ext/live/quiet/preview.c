/* SPDX-License-Identifier: Apache-2.0 */
/* preview.c - reports of a dry run of contract and rollback: number of documents, the first of them, collections,
 * indexes.
 *
 * It makes the same comparisons as the command that writes, and refuses where that would refuse. Only leases and
 * checkpoints of the preview are written, to the state database; the link sends no other write. */
#include "quiet.h"
#include "live/state/state_io.h"
#include "live/pass/work.h"

#include "mongoreshape/ejson.h"

#include <stdio.h>

enum { FIRST = 10 }; /* number of documents listed of each kind */

static void
preview_actions(struct live_job *job, struct mrs_view list)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, list); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_view one = live_doc_of(el.v);
        char what[24], ns[256], to[256], text[320], names[600];
        live_text_at(one, "do", what, sizeof what);
        live_text_at(one, "ns", ns, sizeof ns);
        live_text_at(one, "to", to, sizeof to);
        bool drop = strcmp(what, "drop_index") == 0, index = strcmp(what, "index") == 0;
        bool details = index || strcmp(what, "options") == 0 || strcmp(what, "create") == 0;
        snprintf(text, sizeof text, "%s%s%s", drop ? "drop index " : index ? "make an index on" : what, drop ? to : "",
                 drop ? " of" : "");
        snprintf(names, sizeof names, "%s%s%s", ns, !drop && to[0] ? " to " : "", drop ? "" : to);
        live_preview_line(job, text, names, details ? live_doc_of(mrs_doc_get(one, "doc")) : mrs_empty_doc());
    }
}

struct preview {
    struct live_quiet_run *q;
    struct live_pass_report *r;
    live_keep keep;
};

static enum mrs_status
preview_one(void *arg, const struct live_planned_change *c, struct mrs_err *e)
{
    struct preview *l = arg;
    struct live_pass_report *r = l->r;
    (void)e;
    if (l->keep && !l->keep(l->q, c)) {
        return MRS_OK;
    }
    bool ins = c->kind == LIVE_INSERT, del = c->kind == LIVE_DELETE;
    live_preview_count(r, ins ? &r->inserted : del ? &r->deleted : &r->written, c->coll.ns,
                       mrs_doc_get(c->after.n ? c->after : c->before, "_id"),
                       ins ? "would be inserted" : del ? "would be deleted" : "would be changed");
    return MRS_OK;
}

enum mrs_status
live_quiet_preview(struct live_quiet_run *q, live_keep keep, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(q->compare && q->job->opts.dry_run);
    static const enum live_op_kind kinds[] = {LIVE_INSERT, LIVE_UPDATE, LIVE_DELETE};
    struct preview l = {q, r, keep};
    struct mrs_buf list, back;
    mrs_buf_init(&list, q->job->mem, MRS_DOC_MAX / 4);
    mrs_buf_init(&back, q->job->mem, MRS_DOC_MAX / 4);
    enum mrs_status s = live_unique_check(q, keep, e);
    MRS_THEN(s, live_actions_make(q->job, q->compare, &list, &back, e));
    for (enum live_build_mode turn = LIVE_BUILD_INPLACE; turn <= LIVE_BUILD_BESIDE; turn++) {
        for (int i = 0; s == MRS_OK && i < 3; i++) {
            s = live_compare_each(q->compare, kinds[i], turn, preview_one, &l, e);
        }
    }
    r->written += r->inserted + r->deleted; /* as a run counts them */
    if (s == MRS_OK) {
        preview_actions(q->job, (struct mrs_view){list.p, (uint32_t)list.n});
    }
    mrs_buf_clear(&list);
    mrs_buf_clear(&back);
    return s;
}

/* Lists the first entries of a sealed list, and their number. */
enum mrs_status
live_change_totals_preview(struct live_job *job, bool back, struct live_pass_report *r, struct mrs_err *e)
{
    struct live_journal_entry *entry;
    struct live_change_totals sealed;
    struct mrs_arena a;
    uint32_t n = 0;
    int64_t all = 0;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_change_totals_read(job, &a, &sealed, e);
    for (int i = 0; s == MRS_OK && i < 4; i++) {
        all += sealed.n[i];
    }
    for (int64_t at = 0; s == MRS_OK && at < all && at < FIRST; at += n) {
        s = live_journal_read(job, at, all < FIRST ? all : FIRST, 1u << 20, &a, &entry, &n, e);
        for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
            live_name(r, entry[i].coll.ns, entry[i].id,
                      back ? "would be as it was before" : "is in the list of changes");
        }
    }
    r->written = (uint64_t)all;
    if (s == MRS_OK) {
        r->inserted = (uint64_t)sealed.n[back ? LIVE_PASS_DELETE : LIVE_PASS_INSERT];
        r->deleted = (uint64_t)sealed.n[back ? LIVE_PASS_INSERT : LIVE_PASS_DELETE];
        preview_actions(job, back ? sealed.back : sealed.list);
    }
    mrs_arena_clear(&a);
    return s;
}
