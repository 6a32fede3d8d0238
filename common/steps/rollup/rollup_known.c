/* SPDX-License-Identifier: Apache-2.0 */
/* rollup_known.c - fast path of rollup for documents of a known template.
 *
 * Documents of one template have the same fields at the same offsets, with values of the same types and lengths. If key
 * and arguments are top-level fields or truncated dates, the entries of such documents differ only in some values,
 * which are copied from the document without evaluating anything. Their offsets are learned from a document that was
 * computed normally: each value is compared with its expected field. */
#include "rollup.h"
#include "mongoreshape/value.h"
#include "mongoreshape/fold_ops.h"

/* ---- the plan ---- */
static const char *
top_level(const char *path)
{
    return path && *path && !strchr(path, '.') ? path : NULL;
}

static const char *
field_of(const struct mrs_expr *x)
{
    const char *bare = mrs_expr_bare_path(x);
    return top_level(bare ? bare : mrs_expr_truncated_path(x));
}

bool
mrsi_rollup_is_plain(const struct mrsi_rollup *s)
{
    bool plain = s->by && !s->sort && (!s->group.key || field_of(s->group.key));
    for (uint32_t i = 0; plain && i < s->group.n_parts; i++) {
        plain = field_of(s->group.part[i]) != NULL;
    }
    for (uint32_t i = 0; plain && i < s->n_stores; i++) {
        plain = top_level(mrs_acc_bare_path(s->acc[s->stored[i]])) != NULL;
    }
    return plain;
}

/* ---- a document of a known template ---- */
bool
mrsi_rollup_known(struct rollup_work *w, struct mrs_ctx *c, struct mrs_view doc, struct mrs_fold_entry *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrs_template *tpl = mrsi_step_template(c, doc);
    struct rollup_known *k = tpl && w->known ? &w->known[tpl->no % ROLLUP_KNOWN] : NULL;
    if (!k || k->tpl != tpl->no) {
        return false;
    }
    for (uint32_t i = 0; i < k->n_cuts; i++) {
        struct rollup_cut *cut = &k->cut[i];
        int64_t ms = (int64_t)mrs_le64(doc.p + cut->from);
        if (ms < cut->start || ms >= cut->end) {
            if (!mrs_expr_truncates(cut->x, ms, &cut->start, &cut->end)) {
                cut->start = cut->end = 0;
                return false;
            }
            mrs_put64(k->bytes + cut->to, (uint64_t)cut->start);
        }
    }
    for (uint32_t i = 0; i < k->n_moves; i++) {
        mrs_copy_value(k->bytes + k->move[i].to, doc.p + k->move[i].from, k->move[i].n);
    }
    uint8_t *shared = mrs_buf_take(&out->shared, k->shared), *payload = mrs_buf_take(&out->payload, k->payload);
    if (!shared || !payload) {
        mrs_buf_reset(&out->shared); /* the general code reports the error */
        mrs_buf_reset(&out->payload);
        return false;
    }
    mrs_copy_short(shared, k->bytes, k->shared);
    mrs_copy_short(payload, k->bytes + k->shared, k->payload);
    c->remarks |= k->remarks;
    return true;
}

/* ---- learning ---- */
struct lesson {
    struct rollup_known *k;
    struct mrs_view doc;
};

/* Can documents of the template differ in these bytes, and only in these? */
static bool
is_movable(struct mrs_val v)
{
    return mrs_fixed_size[v.type] != 0x80 || v.type == MRS_STRING;
}

/* Learns that the value at `at` of the entry is a copy of a field. False: it is not. */
static bool
learn_copy(const struct lesson *l, struct mrs_val field, struct mrs_val v, const uint8_t *at)
{
    MRS_ASSERT(mrs_val_is_sized(field) && mrs_val_is_sized(v));
    struct rollup_known *k = l->k;
    if (v.type != field.type || v.n != field.n || !is_movable(v) || k->n_moves == ROLLUP_MOVES ||
        memcmp(v.p, field.p, v.n) != 0) {
        return false;
    }
    if (v.n) {
        k->move[k->n_moves++] = (struct rollup_move){(uint16_t)(field.p - l->doc.p), (uint16_t)(at - k->bytes),
                                                     (uint16_t)v.n};
    }
    return true;
}

static bool
learn_cut(const struct lesson *l, const struct mrs_expr *x, struct mrs_val field, struct mrs_val v, const uint8_t *at)
{
    struct rollup_known *k = l->k;
    if (field.type != MRS_DATE || v.type != MRS_DATE || k->n_cuts == ROLLUP_CUTS) {
        return false;
    }
    k->cut[k->n_cuts++] = (struct rollup_cut){x, 0, 0, (uint16_t)(field.p - l->doc.p), (uint16_t)(at - k->bytes)};
    return true;
}

/* Learns a value of the key; if the template lacks the field, the value is equal in all its documents. */
static bool
learn_key(const struct lesson *l, const struct mrs_expr *x, struct mrs_val v)
{
    struct mrs_val field = mrs_doc_get(l->doc, field_of(x));
    if (field.type == MRS_MISSING) {
        return true;
    }
    return mrs_expr_bare_path(x) ? learn_copy(l, field, v, v.p) : learn_cut(l, x, field, v, v.p);
}

static bool
learn_shared(const struct mrsi_rollup *s, const struct lesson *l)
{
    const uint8_t *at = l->k->bytes;
    struct mrs_val key = mrsi_get_value(&at, at + l->k->shared);
    struct mrs_walk w;
    struct mrs_elem e;
    const struct mrsi_by *by = &s->group;
    bool good = true;
    if (by->key) {
        return learn_key(l, by->key, key);
    }
    uint32_t i = 0;
    for (mrs_walk_init(&w, by->n_parts ? mrs_val_view(key) : mrs_empty_doc()); good && mrs_walk_next(&w, &e) == 1;
         i++) {
        while (i < by->n_parts && !mrs_name_is(&e, by->part_name[i], by->part_len[i])) { /* missing fields */
            i++;
        }
        good = i < by->n_parts && learn_key(l, by->part[i], e.v);
    }
    return good;
}

static bool
learn_payload(const struct mrsi_rollup *s, const struct lesson *l)
{
    const uint8_t *at = l->k->bytes + l->k->shared, *end = at + l->k->payload;
    bool good = true;
    for (uint32_t i = 0; good && i < s->n_stores; i++) {
        struct mrs_val field = mrs_doc_get(l->doc, mrs_acc_bare_path(s->acc[s->stored[i]]));
        struct mrs_val v = mrsi_get_value(&at, end);
        good = field.type == MRS_MISSING ? v.type == MRS_MISSING : learn_copy(l, field, v, v.p);
    }
    return good && at == end;
}

void
mrsi_rollup_learn(const struct mrsi_rollup *s, struct rollup_work *w, const struct mrs_ctx *c, struct mrs_view doc,
                  const struct mrs_fold_entry *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrs_template *tpl = mrsi_step_template(c, doc);
    if (!tpl || out->shared.n + out->payload.n > ROLLUP_STORES) {
        return;
    }
    w->known = w->known ? w->known : mrs_zalloc(c->mem, ROLLUP_KNOWN * sizeof *w->known);
    if (!w->known) {
        return;
    }
    struct rollup_known *k = &w->known[tpl->no % ROLLUP_KNOWN];
    struct lesson l = {k, doc};
    if (k->tried == tpl->no) { /* learning failed, or a date cannot be truncated this way */
        return;
    }
    k->tried = tpl->no;
    k->tpl = 0;
    k->shared = (uint16_t)out->shared.n;
    k->payload = (uint16_t)out->payload.n;
    k->n_moves = k->n_cuts = 0;
    k->remarks = c->remarks;
    mrs_copy_short(k->bytes, out->shared.p, out->shared.n);
    mrs_copy_short(k->bytes + k->shared, out->payload.p, out->payload.n);
    if (learn_shared(s, &l) && learn_payload(s, &l)) {
        k->tpl = tpl->no;
    }
}
