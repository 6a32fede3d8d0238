/* SPDX-License-Identifier: Apache-2.0 */
/* match_rows.c - joins the values of a path with those of its key: match counts and distribution. */
#include "relate.h"

static int
compare(const struct mrsi_hash_row *p, const struct mrsi_hash_row *q)
{
    for (int i = 0; i < MRSI_ROW_KEYS; i++) {
        if (p->key[i] != q->key[i]) {
            return p->key[i] < q->key[i] ? -1 : 1;
        }
    }
    return 0;
}

/* Both sorted by hash; unmatched values of the path are orphans, unmatched ones of the key have no child. */
static enum mrs_status
match(const struct mrsi_rowset *from, const struct mrsi_rowset *to, struct mrs_mem *mem, struct mrsi_tally *tally,
      struct mrsi_reference *r, struct mrs_err *e)
{
    MRS_ASSERT(from->keys == to->keys || r->parts > 0);
    struct mrsi_rowset_at *a = mrs_alloc(mem, sizeof *a), *b = mrs_alloc(mem, sizeof *b);
    enum mrs_status s = a && b ? MRS_OK : mrs_err_memory(e, sizeof *a);
    if (s == MRS_OK) {
        mrsi_rowset_read(a, from);
        mrsi_rowset_read(b, to);
        const struct mrsi_hash_row *p = mrsi_rowset_next(a, &s, e), *q = mrsi_rowset_next(b, &s, e);
        while (s == MRS_OK && p && q) {
            int d = compare(p, q);
            if (d == 0) {
                r->matched += p->count;
                r->matched_distinct++;
                s = mrsi_tally_add(tally, mem, p->count, 1) ? s : mrs_err_memory(e, sizeof *tally);
            }
            p = d <= 0 && s == MRS_OK ? mrsi_rowset_next(a, &s, e) : p;
            q = d >= 0 && s == MRS_OK ? mrsi_rowset_next(b, &s, e) : q;
        }
    }
    mrs_free(mem, a);
    mrs_free(mem, b);
    return s;
}

enum mrs_status
mrsi_join(struct mrsi_relating *x, const struct mrsi_rowset *from, const struct mrsi_rowset *to,
          struct mrsi_reference *r, struct mrs_err *e)
{
    MRS_ASSERT(from->sealed && to->sealed);
    struct mrsi_tally tally = {0};
    r->matched = r->matched_distinct = 0;
    enum mrs_status s = match(from, to, x->x->mem, &tally, r, e);
    if (s == MRS_OK && !mrsi_tally_spread(&tally, x->x->mem, &x->x->arena, &r->per_parent)) {
        s = mrs_err_memory(e, sizeof tally);
    }
    mrsi_tally_clear(&tally, x->x->mem);
    r->orphans = r->values - r->matched;
    r->orphan_distinct = r->distinct - r->matched_distinct;
    r->parents = r->matched_distinct;
    r->none = r->keys - r->matched_distinct;
    r->contained = r->distinct ? (double)r->matched_distinct / (double)r->distinct : 0;
    r->cover = r->keys ? (double)r->matched_distinct / (double)r->keys : 0;
    r->exact = true;
    return s;
}
