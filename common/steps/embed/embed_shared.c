/* SPDX-License-Identifier: Apache-2.0 */
/* embed_shared.c - embed with several places in a parent, each with the matches of its own references.
 *
 * Two forms: `as` is the reference itself (in place: every occurrence becomes the document), or `as` is next to it in
 * an array of documents. The matches of a parent are collected first and looked up by reference (match_set.c).
 * References, groups and places all come in document order, which connects them. */
#include "embed.h"
#include "mongoreshape/join_ops.h"

struct shared {
    struct embed_splice *x;
    uint32_t next_occ;      /* in place: index of the next occurrence */
    uint32_t as_at, count_at; /* cursors into the groups */
    bool blocked, silent;   /* blocked: the path of `as` is; silent: nothing is written there */
    bool count_blocked, count_silent;
    struct mrsi_existing existing;
    uint8_t room[16];
};

static enum mrs_status
collect(struct shared *sh, uint32_t occ, uint32_t n)
{
    struct embed_work *w = sh->x->w;
    return mrsi_match_set_collect(&w->hits, sh->x->c, n ? mrsi_refs_occurrence(&w->refs) + occ : NULL, n);
}

/* ---- `as` next to the reference ---- */
static enum mrs_status
blocked(struct shared *sh, const char *key, const struct mrs_edit_site *site, bool *flag)
{
    const struct mrsi_embed *s = sh->x->s;
    *flag = true;
    if (s->errors == MRSI_ERRORS_REFUSE) {
        return mrsi_step_blocked(sh->x->c, key, site, flag == &sh->blocked ? s->as.text : s->count.text);
    }
    mrsi_step_eased_blocked(sh->x->c);
    return MRS_OK;
}

static enum mrs_status
array_of(struct shared *sh, struct mrs_val *put)
{
    struct embed_splice *x = sh->x;
    const struct mrsi_embed *s = x->s;
    struct mrsi_match_set *h = &x->w->hits;
    uint32_t n = mrsi_match_set_n(h);
    uint64_t take = s->limited && s->limit < n ? s->limit : n;
    struct mrsi_shape_items it;
    if (take < n && s->overflow.present) {
        return mrsi_step_refuse(x->c, "overflow",
                                "an element of an array has more than %llu matches, and pages are of whole parents",
                                (unsigned long long)s->limit);
    }
    mrs_buf_reset(&x->w->value);
    mrsi_items_open(&it, &x->w->value);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t hit = mrsi_match_set_pick(h, i);
        MRS_TRY(i < take ? mrsi_match_set_taken(h, x->c, hit) : MRS_OK);
        mrsi_match_set_use(h, hit, i < take ? MRS_USED_PLACED : MRS_USED_CUT);
        if (i < take) {
            mrsi_items_add(&it, mrs_view_val(mrsi_match_set_payload(h, hit)));
        }
    }
    mrsi_items_close(&it);
    *put = mrsi_items_val(&it);
    return mrsi_buf_end(&x->w->value, 0, x->c, "oversize");
}

static enum mrs_status
one_of(struct shared *sh, struct mrs_val *put)
{
    const struct mrsi_embed *s = sh->x->s;
    struct mrsi_match_set *h = &sh->x->w->hits;
    uint32_t n = mrsi_match_set_n(h), take = s->limited && s->limit < n ? (uint32_t)s->limit : n, chosen;
    for (uint32_t i = take; i < n; i++) {
        mrsi_match_set_use(h, mrsi_match_set_pick(h, i), MRS_USED_CUT);
    }
    *put = s->empty == EMBED_EMPTY_NULL ? mrs_null() : mrs_missing();
    if (!take) {
        return MRS_OK;
    }
    enum mrs_status st = mrsi_match_set_choose(h, sh->x->c, s->many, take, &chosen);
    if (st == MRS_OK) {
        *put = mrs_view_val(mrsi_match_set_payload(h, mrsi_match_set_pick(h, chosen)));
    }
    return st;
}

static enum mrs_status
next_to_reference(struct shared *sh, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict,
                  struct mrs_val *put)
{
    struct embed_splice *x = sh->x;
    const struct mrsi_embed *s = x->s;
    const struct mrsi_match_group *g = mrsi_group_find(&x->w->refs.group, &x->w->refs.index, site->index, site->n_index,
                                                       &sh->as_at);
    enum mrs_status st = collect(sh, g ? g->occ : 0, g ? g->n_occ : 0);
    if (st != MRS_OK || (!g && !site->blocked)) {
        return st; /* the array itself is missing: no element to write to */
    }
    bool any = mrsi_match_set_n(&x->w->hits) > 0;
    if (!any && s->empty == EMBED_EMPTY_ABSENT) {
        return MRS_OK;
    }
    if (site->blocked) {
        return blocked(sh, "as", site, &sh->blocked);
    }
    if (s->one) {
        st = one_of(sh, put);
    } else {
        st = array_of(sh, put);
    }
    if (st != MRS_OK || put->type == MRS_MISSING) {
        return st;
    }
    if (site->old.type != MRS_MISSING && !s->replace) {
        mrsi_existing_add(&sh->existing, site, "as");
        return MRS_OK;
    }
    mrsi_embed_replaces(x, site->old, any);
    *verdict = MRS_EDIT_PUT;
    return MRS_OK;
}

/* ---- in place ---- */
/* The new value for v; missing: none. */
static enum mrs_status
instead(struct shared *sh, struct mrs_val v, struct mrs_val *put)
{
    struct embed_splice *x = sh->x;
    const struct mrsi_refs *f = &x->w->refs;
    const struct mrsi_ref_occurrence *o = mrsi_refs_next(f, &sh->next_occ);
    uint32_t chosen;
    *put = v;
    if (!o || !o->n_keys) {
        return MRS_OK;
    }
    enum mrs_status st = mrsi_match_set_collect(&x->w->hits, x->c, o, 1);
    struct mrsi_match_set *h = &x->w->hits;
    uint32_t n = mrsi_match_set_n(h);
    if (st == MRS_OK && n) {
        st = mrsi_match_set_choose(h, x->c, x->s->many, n, &chosen);
        *put = st == MRS_OK ? mrs_view_val(mrsi_match_set_payload(h, mrsi_match_set_pick(h, chosen))) : v;
        return st;
    }
    if (st != MRS_OK || v.type == MRS_DOCUMENT || mrs_is_nullish(v) || f->incomplete ||
        mrsi_match_set_found(h, o, MRSI_FOUND_REFUSED)) {
        return st;
    }
    switch (x->s->dangling) {
    case MRSI_DANGLING_DROP: *put = mrs_missing(); return MRS_OK;
    case MRSI_DANGLING_NULL: *put = mrs_null(); return MRS_OK;
    case MRSI_DANGLING_REFUSE:
        return mrsi_step_refuse(x->c, "dangling", "a reference matches no document of %s", x->s->join.from.ns);
    default: return MRS_OK;
    }
}

static enum mrs_status
in_array(struct shared *sh, struct mrs_val old, bool *changed, struct mrs_val *put)
{
    MRS_ASSERT(old.type == MRS_ARRAY && changed);
    struct embed_splice *x = sh->x;
    struct mrsi_shape_items it;
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_buf_reset(&x->w->value);
    mrsi_items_open(&it, &x->w->value);
    mrs_walk_init(&w, mrs_val_view(old));
    while (mrs_walk_next(&w, &e) == 1) {
        struct mrs_val v;
        MRS_TRY(instead(sh, e.v, &v));
        *changed = *changed || !mrs_identical(v, e.v);
        if (v.type != MRS_MISSING) {
            mrsi_items_add(&it, v);
        }
    }
    mrsi_items_close(&it);
    *put = mrsi_items_val(&it);
    return mrsi_buf_end(&x->w->value, 0, x->c, "oversize");
}

static enum mrs_status
in_place(struct shared *sh, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    bool changed = false;
    enum mrs_status st;
    if (site->blocked || site->old.type == MRS_MISSING) {
        return MRS_OK;
    }
    if (site->old.type == MRS_ARRAY) {
        st = in_array(sh, site->old, &changed, put);
    } else {
        st = instead(sh, site->old, put);
        changed = st == MRS_OK && !mrs_identical(*put, site->old);
    }
    if (st == MRS_OK && changed) {
        *verdict = put->type == MRS_MISSING ? MRS_EDIT_REMOVE : MRS_EDIT_PUT;
    }
    return st;
}

/* ---- count ---- */
/* Number of matches in a range of occurrences, for all references of one holder, without duplicates. */
static enum mrs_status
count_of(struct shared *sh, const struct mrsi_match_group *g, uint64_t *n)
{
    MRS_ASSERT(g->n_index <= MRS_PATH_PARTS_MAX);
    const struct mrsi_ref_occurrence *occ = mrsi_refs_occurrence(&sh->x->w->refs);
    *n = 0;
    for (uint32_t i = g ? g->occ : 0, end = g ? g->occ + g->n_occ : 0; i < end;) {
        uint32_t to = i + 1;
        while (to < end && occ[to].group == occ[i].group) {
            to++;
        }
        MRS_TRY(collect(sh, i, to - i));
        *n += mrsi_match_set_n(&sh->x->w->hits);
        i = to;
    }
    return MRS_OK;
}

static enum mrs_status
count(struct shared *sh, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    struct embed_splice *x = sh->x;
    uint64_t n;
    const struct mrsi_match_group *g = mrsi_group_find(&x->w->refs.count_group, &x->w->refs.index, site->index,
                                                       site->n_index, &sh->count_at);
    if (sh->count_silent || (!g && x->s->count_share)) {
        return MRS_OK; /* not a document, or missing */
    }
    if (site->blocked) {
        return blocked(sh, "count", site, &sh->count_blocked);
    }
    if (site->old.type != MRS_MISSING && !x->s->replace) {
        mrsi_existing_add(&sh->existing, site, "count");
        return MRS_OK;
    }
    enum mrs_status st = count_of(sh, g, &n);
    *verdict = MRS_EDIT_PUT;
    *put = mrs_make_count(sh->room, n);
    return st;
}

/* ---- the parent ---- */
static enum mrs_status
place(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
      struct mrs_buf *raw,
      struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct shared *sh = arg;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (site->path_no == sh->x->s->no_flag) { /* an overflow would be refused here, so the flag is never needed */
        *verdict = sh->x->s->replace && !site->blocked ? MRS_EDIT_REMOVE : MRS_EDIT_KEEP;
        return MRS_OK;
    }
    if (site->path_no) {
        return count(sh, site, verdict, put);
    }
    if (sh->silent) {
        return MRS_OK;
    }
    return sh->x->s->in_place ? in_place(sh, site, verdict, put) : next_to_reference(sh, site, verdict, put);
}

static enum mrs_status
write_places(struct shared *sh, struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct embed_splice *x = sh->x;
    size_t start = out->n;
    for (;;) {
        struct mrs_edit_run run = {.fn = place, .arg = sh, .visit_missing = true, .raw = &x->w->raw};
        bool changed;
        out->n = start;
        sh->next_occ = sh->as_at = sh->count_at = 0;
        sh->existing = (struct mrsi_existing){0};
        memset(x->w->hits.used.p, 0, x->w->hits.used.n);
        enum mrs_status st = mrs_edit_run(x->s->edit, &run, doc, out, &changed, x->c->err);
        bool again = sh->blocked > sh->silent || sh->count_blocked > sh->count_silent;
        if (!again || (st != MRS_OK && st != MRS_FAIL)) {
            return mrsi_step_existing(x->c, st, "as", &sh->existing);
        }
        mrs_err_clear(x->c->err);
        sh->silent = sh->blocked;
        sh->count_silent = sh->count_blocked;
    }
}

enum mrs_status
mrsi_embed_shared(struct embed_splice *x, struct mrs_buf *out)
{
    MRS_ASSERT(x->s->shared && mrs_buf_is_sound(out));
    const struct mrsi_embed *s = x->s;
    struct shared sh = {.x = x};
    struct mrs_view doc = x->doc;
    size_t start = out->n;
    bool homeless = false;
    enum mrs_status st = mrsi_refs_find(&s->join, x->c, doc, s->count.n ? s->count_share : EMBED_NONE, &x->w->refs);
    x->w->hits.sorted = s->sort != NULL;
    x->w->hits.by_from = !s->join.into_points;
    st = st == MRS_OK ? mrsi_match_set_gather(&x->w->hits, x->c, x->m, true, s->limited ? s->limit : UINT64_MAX) : st;
    if (st == MRS_OK && !s->in_place) {
        st = mrsi_embed_dangling(x, &doc);
    }
    MRS_THEN(st, write_places(&sh, doc, out));
    if (st == MRS_OK && !out->bad && out->n - start > MRS_DOC_MAX) {
        st = mrsi_step_too_large(x->c, "oversize", "the document would pass 16 MiB", out, start);
    }
    MRS_THEN(st, mrsi_buf_end(out, start, x->c, "oversize"));
    MRS_THEN(st, mrsi_match_set_describe(&x->w->hits, x->c, x->m, sh.silent, &homeless));
    if (st == MRS_OK && homeless) {
        st = mrsi_step_refuse(x->c, "as", "an array on the way is empty: there is no place for the result");
    }
    return st;
}
