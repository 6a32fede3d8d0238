/* SPDX-License-Identifier: Apache-2.0 */
/* copy_splice.c - writes copies next to the references of a document, into the documents that wrap them, or at its top.
 *
 * The matches are collected and looked up by reference (match_set.c). Without `as`, copies are fields of the
 * reference's holder: existing ones are overwritten in place, or removed if the source lacks them; new ones are
 * appended together, in the order of the source. A wrapped reference is rebuilt completely. All other bytes are copied
 * unchanged. */
#include "copy.h"
#include "mongoreshape/join_ops.h"

struct copy_splice_copying {
    const struct mrsi_copy *s;
    struct mrs_ctx *c;
    struct copy_work *w;
    uint32_t cursor, next_occ;
    const struct mrsi_match_group *group; /* the group of `payload` */
    const struct mrsi_match_group *spliced; /* the group whose new copies have been appended */
    struct mrsi_match_group top;          /* represents the whole document, for copies at the top */
    struct mrs_view payload;        /* payload of the current match; p NULL: none */
    uint32_t chosen_ref;            /* at the top: the reference of the chosen match */
    bool chosen;                    /* at the top: a match was chosen */
    bool *silent, again;            /* silent: for each target, its path is blocked and nothing is written there; again:
                                     * a blocked path was just found */
    struct mrsi_existing existing;  /* at the place of a copy */
    const struct mrsi_match_group **seen; /* for each target: the place visited last */
    uint32_t *n_seen;               /* for each target: number of places visited */
    bool left;                      /* a copy was not written */
};

/* ---- buffers of a thread ---- */
static void
work_start(struct copy_work *w, struct mrs_mem *mem)
{
    struct mrs_buf *list[] = {&w->value, &w->raw, &w->doc, &w->element, &w->copies};
    if (w->ready) {
        return;
    }
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        mrs_buf_init(list[i], mem, COPY_BUF_MAX);
    }
    mrsi_match_set_init(&w->hits, mem);
    mrsi_refs_init(&w->refs, mem);
    w->ready = true;
}

void
mrsi_copy_work_clear(struct mrs_ctx *c, void *work)
{
    struct copy_work *w = work;
    struct mrs_buf *list[] = {&w->value, &w->raw, &w->doc, &w->element, &w->copies};
    (void)c;
    if (!w->ready) {
        return;
    }
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        mrs_buf_clear(list[i]);
    }
    mrsi_match_set_clear(&w->hits);
    mrsi_refs_clear(&w->refs);
    w->ready = false;
}

/* ---- the payload of a match ---- */
/* Does the old value of this name stay, because its expression failed? */
static bool
is_kept(struct mrs_view payload, const char *name, uint32_t len)
{
    struct mrs_elem e, k;
    return mrs_doc_find(payload, "", 0, &e) && e.v.type == MRS_DOCUMENT &&
           mrs_doc_find(mrs_val_view(e.v), name, len, &k);
}

/* The copies as a document; old: the existing one, whose kept fields stay. */
static enum mrs_status
subdocument(struct copy_splice_copying *k, struct mrs_val old, struct mrs_val *out)
{
    struct mrs_buf *b = &k->w->copies;
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_buf_reset(b);
    mrsi_put_open(b);
    mrs_walk_init(&w, k->payload);
    while (mrs_walk_next(&w, &e) == 1) {
        if (e.name_len) {
            mrs_buf_put(b, e.p, (size_t)(e.v.p + e.v.n - e.p));
        }
    }
    if (old.type == MRS_DOCUMENT) {
        mrs_walk_init(&w, mrs_val_view(old));
        while (mrs_walk_next(&w, &e) == 1) {
            if (is_kept(k->payload, e.name, e.name_len)) {
                mrs_buf_put(b, e.p, (size_t)(e.v.p + e.v.n - e.p));
            }
        }
    }
    mrsi_put_close(b, 0);
    *out = mrs_view_val(mrsi_buf_view(b, 0));
    return mrsi_buf_end(b, 0, k->c, "fields");
}

static bool
is_name(const struct mrsi_copy *s, const struct mrs_elem *e)
{
    for (uint32_t i = 0; i < s->n_names; i++) {
        if (mrs_name_is(e, s->name[i].name, s->name[i].len)) {
            return true;
        }
    }
    return false;
}

/* One of the matches that `many` selects; none: payload.p is NULL. */
static enum mrs_status
choose(struct copy_splice_copying *k, uint32_t *hit)
{
    struct mrsi_match_set *h = &k->w->hits;
    uint32_t n = mrsi_match_set_n(h), chosen;
    k->payload = (struct mrs_view){NULL, 0};
    if (!n) {
        return MRS_OK;
    }
    enum mrs_status st = mrsi_match_set_choose(h, k->c, k->s->many, n, &chosen);
    if (st == MRS_OK) {
        *hit = mrsi_match_set_pick(h, chosen);
        k->payload = mrsi_match_set_payload(h, *hit);
    }
    return st;
}

/* ---- next to the reference, or at the top ---- */
/* Sets k->payload to the payload of this place; false: nothing to write. */
static enum mrs_status
match_at(struct copy_splice_copying *k, const struct mrs_edit_site *site, bool *due)
{
    uint32_t hit = 0;
    enum mrs_status st = MRS_OK;
    if (k->s->at_root) {
        k->group = &k->top;
        *due = k->chosen;
        return MRS_OK;
    }
    const struct mrsi_match_group *g = mrsi_group_find(&k->w->refs.group, &k->w->refs.index, site->index, site->n_index,
                                                       &k->cursor);
    if (g && g != k->group) {
        k->group = g;
        st = mrsi_match_set_collect(&k->w->hits, k->c, g->n_occ ? mrsi_refs_occurrence(&k->w->refs) + g->occ : NULL,
                                    g->n_occ);
        MRS_THEN(st, choose(k, &hit));
    }
    *due = st == MRS_OK && g && k->payload.p;
    return st;
}

static enum mrs_status
put_missing(struct copy_splice_copying *k, const struct mrs_edit_site *site, struct mrs_buf *raw,
            enum mrs_edit_verdict *verdict)
{
    struct mrs_walk w;
    struct mrs_elem e, there;
    if (k->spliced == k->group) {
        return MRS_OK;
    }
    k->spliced = k->group;
    mrs_walk_init(&w, k->payload);
    while (mrs_walk_next(&w, &e) == 1) {
        if (e.name_len && !mrs_doc_find(site->holder, e.name, e.name_len, &there)) {
            mrs_buf_put(raw, e.p, (size_t)(e.v.p + e.v.n - e.p));
        }
    }
    *verdict = MRS_EDIT_SPLICE;
    return MRS_OK;
}

/* A copy under a name of a list: an existing field is removed if the source lacks it. */
static enum mrs_status
listed(struct copy_splice_copying *k, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict,
       struct mrs_val *put, struct mrs_buf *raw)
{
    struct mrs_elem e;
    if (site->old.type == MRS_MISSING) {
        return put_missing(k, site, raw, verdict);
    }
    bool there = mrs_doc_find(k->payload, site->name, site->name_len, &e);
    *verdict = there ? MRS_EDIT_PUT : MRS_EDIT_REMOVE;
    *put = e.v;
    return MRS_OK;
}

/* One name of a map; dotted names are paths below the holder. */
static void
mapped(struct copy_splice_copying *k, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict,
       struct mrs_val *put)
{
    const struct mrs_path *p = &k->s->shape.fields.path[site->path_no];
    *put = mrs_path_get(p, k->payload);
    if (put->type != MRS_MISSING) {
        *verdict = MRS_EDIT_PUT;
    } else if (!is_kept(k->payload, p->text, (uint32_t)strlen(p->text))) {
        *verdict = MRS_EDIT_REMOVE;
    }
}

static enum mrs_status
blocked(struct copy_splice_copying *k, const struct mrs_edit_site *site)
{
    const struct mrsi_copy *s = k->s;
    uint32_t no = site->path_no;
    if (s->errors == MRSI_ERRORS_REFUSE) {
        return mrsi_step_blocked(k->c, s->as.n ? "as" : "fields", site,
                                 s->as.n ? s->as.text : s->shape.fields.path[no].text);
    }
    mrsi_step_eased_blocked(k->c);
    k->silent[no] = k->again = k->left = true;
    return MRS_OK;
}

static enum mrs_status
place(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
      struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct copy_splice_copying *k = arg;
    const struct mrsi_copy *s = k->s;
    uint32_t no = site->path_no;
    bool due = false;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    enum mrs_status st = match_at(k, site, &due);
    if (st != MRS_OK || !due) {
        return st;
    }
    k->n_seen[no] += k->seen[no] != k->group;
    k->seen[no] = k->group;
    if (k->silent[no]) {
        return MRS_OK;
    }
    if (site->blocked) {
        return blocked(k, site);
    }
    if (site->old.type != MRS_MISSING && !s->replace) {
        mrsi_existing_add(&k->existing, site, s->as.n ? "as" : "fields");
        return MRS_OK;
    }
    if (s->as.n) {
        *verdict = MRS_EDIT_PUT;
        return subdocument(k, site->old, put);
    }
    if (!s->shape.fields.map) {
        return listed(k, site, verdict, put, raw);
    }
    mapped(k, site, verdict, put);
    return MRS_OK;
}

/* ---- wrapped ---- */
static enum mrs_status
rewrap(struct copy_splice_copying *k, struct mrs_view old, struct mrs_buf *b)
{
    MRS_ASSERT(mrs_view_is_framed(old));
    const struct mrsi_copy *s = k->s;
    struct mrsi_name_set seen;
    struct mrs_walk w;
    struct mrs_elem e, v;
    mrsi_name_set_begin(&seen);
    mrs_walk_init(&w, old);
    while (mrs_walk_next(&w, &e) == 1) {
        bool copy = s->as.n ? mrs_name_is(&e, s->as.part[0].name, s->as.part[0].len) : is_name(s, &e);
        mrsi_name_set_add(&seen, &e);
        if (s->drop_ref && mrs_name_is(&e, s->wrap, s->wrap_len)) {
            continue;
        }
        if (!copy) {
            mrs_buf_put(b, e.p, (size_t)(e.v.p + e.v.n - e.p));
        } else if (s->as.n) {
            struct mrs_val doc;
            MRS_TRY(subdocument(k, e.v, &doc));
            mrsi_put_elem(b, e.name, e.name_len, doc);
        } else if (mrs_doc_find(k->payload, e.name, e.name_len, &v)) {
            mrs_buf_put(b, v.p, (size_t)(v.v.p + v.v.n - v.p));
        } else if (is_kept(k->payload, e.name, e.name_len)) {
            mrs_buf_put(b, e.p, (size_t)(e.v.p + e.v.n - e.p));
        }
    }
    return mrsi_name_set_check(&seen, k->c, old);
}

static enum mrs_status
append_copies(struct copy_splice_copying *k, struct mrs_view old, struct mrs_buf *b)
{
    MRS_ASSERT(mrs_view_is_framed(old));
    const struct mrsi_copy *s = k->s;
    struct mrs_walk w;
    struct mrs_elem e, there;
    if (s->as.n) {
        struct mrs_val doc;
        if (mrs_doc_find(old, s->as.part[0].name, s->as.part[0].len, &there)) {
            return MRS_OK;
        }
        enum mrs_status st = subdocument(k, mrs_missing(), &doc);
        if (st == MRS_OK) {
            mrsi_put_elem(b, s->as.part[0].name, s->as.part[0].len, doc);
        }
        return st;
    }
    mrs_walk_init(&w, k->payload);
    while (mrs_walk_next(&w, &e) == 1) {
        if (e.name_len && !mrs_doc_find(old, e.name, e.name_len, &there)) {
            mrs_buf_put(b, e.p, (size_t)(e.v.p + e.v.n - e.p));
        }
    }
    return MRS_OK;
}

/* v with its copies: {wrap: v, ...}, or the updated document if v is wrapped already. */
static enum mrs_status
wrapped(struct copy_splice_copying *k, struct mrs_val v, struct mrs_val *out)
{
    const struct mrsi_copy *s = k->s;
    struct mrs_buf *b = &k->w->element;
    struct mrs_elem e;
    struct mrs_view old = mrs_empty_doc();
    enum mrs_status st = MRS_OK;
    mrs_buf_reset(b);
    mrsi_put_open(b);
    if (v.type == MRS_DOCUMENT && mrs_doc_find(mrs_val_view(v), s->wrap, s->wrap_len, &e)) {
        old = mrs_val_view(v);
        st = rewrap(k, old, b);
    } else if (!s->drop_ref) {
        mrsi_put_elem(b, s->wrap, s->wrap_len, v);
    }
    MRS_THEN(st, append_copies(k, old, b));
    mrsi_put_close(b, 0);
    *out = mrs_view_val(mrsi_buf_view(b, 0));
    return st == MRS_OK ? mrsi_buf_end(b, 0, k->c, "wrap") : st;
}

/* The new value for the reference v; missing: none. */
static enum mrs_status
instead(struct copy_splice_copying *k, struct mrs_val v, struct mrs_val *out)
{
    const struct mrsi_refs *f = &k->w->refs;
    const struct mrsi_ref_occurrence *o = mrsi_refs_next(f, &k->next_occ);
    uint32_t hit = 0;
    *out = v;
    if (!o || !o->n_keys) {
        return MRS_OK;
    }
    MRS_TRY(mrsi_match_set_collect(&k->w->hits, k->c, o, 1));
    MRS_TRY(choose(k, &hit));
    if (k->payload.p) {
        return wrapped(k, v, out);
    }
    bool dangling = !f->incomplete && !o->null && !mrsi_match_set_found(&k->w->hits, o, MRSI_FOUND_REFUSED);
    if (dangling && k->s->dangling == MRSI_DANGLING_DROP) {
        *out = mrs_missing();
    } else if (dangling && k->s->dangling == MRSI_DANGLING_NULL) {
        *out = mrs_null();
    }
    return MRS_OK;
}

static enum mrs_status
wrap_array(struct copy_splice_copying *k, struct mrs_val old, bool *changed, struct mrs_val *put)
{
    MRS_ASSERT(old.type == MRS_ARRAY);
    struct mrs_buf *b = &k->w->value;
    struct mrsi_shape_items it;
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_buf_reset(b);
    mrsi_items_open(&it, b);
    mrs_walk_init(&w, mrs_val_view(old));
    while (mrs_walk_next(&w, &e) == 1) {
        struct mrs_val v;
        MRS_TRY(instead(k, e.v, &v));
        *changed = *changed || !mrs_identical(v, e.v);
        if (v.type != MRS_MISSING) {
            mrsi_items_add(&it, v);
        }
    }
    mrsi_items_close(&it);
    *put = mrsi_items_val(&it);
    return mrsi_buf_end(b, 0, k->c, "wrap");
}

static enum mrs_status
wrap_place(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
           struct mrs_buf *raw,
           struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct copy_splice_copying *k = arg;
    bool changed = false;
    enum mrs_status st;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (site->blocked || site->old.type == MRS_MISSING) {
        return MRS_OK;
    }
    if (site->old.type == MRS_ARRAY) {
        st = wrap_array(k, site->old, &changed, put);
    } else {
        st = instead(k, site->old, put);
        changed = st == MRS_OK && !mrs_identical(*put, site->old);
    }
    if (st == MRS_OK && changed) {
        *verdict = put->type == MRS_MISSING ? MRS_EDIT_REMOVE : MRS_EDIT_PUT;
    }
    return st;
}

/* ---- removed references ---- */
static enum mrsi_taking
taking(const void *arg, const struct mrsi_ref_occurrence *o)
{
    const struct copy_splice_copying *k = arg;
    const struct mrsi_match_set *h = &k->w->hits;
    if (!o->n_keys) {
        return MRSI_TAKE_KEEP;
    }
    if (mrsi_match_set_found(h, o, MRSI_FOUND_MATCH)) {
        uint32_t first = h->same_ref && o->key < h->n_refs ? h->same_ref[o->key] : o->key;
        bool copied = !k->s->at_root || first == k->chosen_ref;
        return k->s->drop_ref && copied ? MRSI_TAKE_REMOVE : MRSI_TAKE_KEEP;
    }
    if (o->null || k->w->refs.incomplete || mrsi_match_set_found(h, o, MRSI_FOUND_REFUSED)) {
        return MRSI_TAKE_KEEP;
    }
    return k->s->dangling == MRSI_DANGLING_DROP   ? MRSI_TAKE_REMOVE
           : k->s->dangling == MRSI_DANGLING_NULL ? MRSI_TAKE_NULL
                                                  : MRSI_TAKE_KEEP;
}

static enum mrs_status
refuse_dangling(const struct copy_splice_copying *k)
{
    const struct mrsi_refs *f = &k->w->refs;
    for (uint32_t i = 0; i < mrsi_refs_n_occurrence(f) && !f->incomplete; i++) {
        const struct mrsi_ref_occurrence *o = &mrsi_refs_occurrence(f)[i];
        if (o->n_keys && !o->null && !mrsi_match_set_found(&k->w->hits, o, MRSI_FOUND_ANY)) {
            return mrsi_step_refuse(k->c, "dangling", "a reference matches no document of %s", k->s->join.from.ns);
        }
    }
    return MRS_OK;
}

/* ---- kernel ---- */
/* Allocates the state of each target for one document. */
static enum mrs_status
open_targets(struct copy_splice_copying *k)
{
    MRS_ASSERT(k->s->n_targets == 0 || k->s->target);
    uint32_t n = k->s->n_targets + 1u;
    size_t size = n * (sizeof *k->seen + sizeof *k->n_seen + sizeof *k->silent);
    uint8_t *p = mrs_arena_alloc(k->c->arena, size);
    MRS_TRY(mrs_allocated(p, size, k->c->err));
    memset(p, 0, size);
    k->seen = (const struct mrsi_match_group **)(void *)p;
    k->n_seen = (uint32_t *)(void *)(k->seen + n);
    k->silent = (bool *)(k->n_seen + n);
    return MRS_OK;
}

/* All targets must have been visited at the same number of places, at the top at least once: else an array on the path
 * of one is empty. */
static enum mrs_status
all_placed(struct copy_splice_copying *k)
{
    for (uint32_t i = 0; i < k->s->n_targets; i++) {
        if (k->n_seen[i] != k->n_seen[0] || (k->chosen && !k->n_seen[i])) {
            return mrsi_step_refuse(k->c, k->s->as.n ? "as"
                                    : "fields", "an array on the way is empty: there is no place for a copy");
        }
    }
    return MRS_OK;
}

static enum mrs_status
write_places(struct copy_splice_copying *k, struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_copy *s = k->s;
    size_t start = out->n;
    bool changed;
    enum mrs_status st = open_targets(k);
    for (bool first = true; (first && st == MRS_OK) || (k->again && (st == MRS_OK || st == MRS_FAIL)); first = false) {
        struct mrs_edit_run run = {
            .fn = s->wrap ? wrap_place : place, .arg = k, .visit_missing = !s->wrap, .raw = &k->w->raw};
        k->cursor = k->next_occ = 0;
        k->group = k->spliced = NULL;
        k->again = false;
        k->existing = (struct mrsi_existing){0};
        mrs_err_clear(k->c->err);
        memset(k->seen, 0, (s->n_targets + 1u) * (sizeof *k->seen + sizeof *k->n_seen));
        out->n = start;
        st = mrs_edit_run(s->edit, &run, doc, out, &changed, k->c->err);
    }
    st = mrsi_step_existing(k->c, st, s->wrap ? "wrap" : s->as.n ? "as" : "fields", &k->existing);
    return st == MRS_OK ? all_placed(k) : st;
}

/* Finds the references and collects the matches; at the top, chooses one. */
static enum mrs_status
prepare(struct copy_splice_copying *k, struct mrs_view doc, struct mrs_matches *m)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_copy *s = k->s;
    struct mrsi_match_set *h = &k->w->hits;
    enum mrs_status st = MRS_OK;
    uint32_t hit = 0;
    h->sorted = s->sort != NULL;
    if (s->join.refs) {
        st = mrsi_refs_find(&s->join, k->c, doc, COPY_NONE, &k->w->refs);
    }
    MRS_THEN(st, mrsi_match_set_gather(h, k->c, m, s->join.refs, UINT64_MAX));
    if (st == MRS_OK && s->join.refs && s->dangling == MRSI_DANGLING_REFUSE) {
        st = refuse_dangling(k);
    }
    if (st == MRS_OK && !s->at_root && !s->wrap && k->w->refs.in_array) {
        st = mrsi_step_refuse(k->c, "match", "an array of bare references needs `wrap` (or `at: root`)");
    }
    if (st == MRS_OK && s->at_root) {
        st = mrsi_match_set_all(h, k->c);
        MRS_THEN(st, choose(k, &hit));
        k->chosen = st == MRS_OK && k->payload.p;
        if (k->chosen) {
            k->chosen_ref = ((const struct mrsi_match_item *)(const void *)h->hit.p)[hit].ref;
        }
    }
    return st;
}

static enum mrs_status
splice(struct copy_splice_copying *k, struct mrs_view doc, struct mrs_matches *m, struct mrs_buf *out)
{
    size_t start = out->n;
    bool any = false, homeless = false;
    enum mrs_status st = prepare(k, doc, m);
    if (st == MRS_OK && k->s->ref_edit) {
        struct mrsi_ref_removal t = {.c = k->c, .refs = &k->w->refs, .edit = k->s->ref_edit, .value = &k->w->value,
                              .raw = &k->w->raw,
                              .drop_empty = k->s->drop_ref, .what = taking, .arg = k, .key = "refs"};
        mrs_buf_reset(&k->w->doc);
        st = mrsi_refs_take(&t, doc, &k->w->doc, &any);
        doc = any ? mrsi_buf_view(&k->w->doc, 0) : doc;
    }
    MRS_THEN(st, write_places(k, doc, out));
    if (st == MRS_OK && !out->bad && out->n - start > MRS_DOC_MAX && out->n - start > doc.n) {
        st = mrsi_step_too_large(k->c, "oversize", "the document would pass 16 MiB", out, start);
    }
    MRS_THEN(st, mrsi_buf_end(out, start, k->c, "oversize"));
    MRS_THEN(st, mrsi_match_set_describe(&k->w->hits, k->c, m, k->left, &homeless));
    if (st == MRS_OK && homeless) {
        st = mrsi_step_refuse(k->c, "as", "an array on the way is empty: there is no place for the copies");
    }
    return st;
}

enum mrs_status
mrsi_copy_splice(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_matches *m,
                 const struct mrs_put *put,
                 struct mrs_buf *out, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct copy_splice_copying k = {.s = state, .c = c, .w = work, .chosen_ref = COPY_NONE};
    size_t start = out->n;
    (void)put;
    work_start(work, c->mem);
    bool done = false;
    enum mrs_status st = k.s->quick ? mrsi_copy_quick(k.s, c, work, doc, m, out, &done) : MRS_OK;
    st = st == MRS_OK && !done ? splice(&k, doc, m, out) : st;
    return mrsi_step_end(st, doc, out, start, fate);
}
