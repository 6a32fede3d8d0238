/* SPDX-License-Identifier: Apache-2.0 */
/* extract_source.c - rewrites the document from which parts were extracted.
 *
 * The field of the parts is removed, or keeps ids, or keeps copies; then child_refs, flag and count are added, in this
 * order. This is one edit, whose places come in the order in which the walk found lists and groups. If only a top-level
 * field is removed, two memcpys are enough. */
#include "extract.h"

struct extract_source {
    struct ext_doc *x;
    struct mrs_view ids;        /* of the extracted parts */
    struct mrs_val *id;         /* `leave`: id of each part, in the arena; missing if it is not extracted. Else NULL */
    uint32_t list;              /* index of the next list */
    uint32_t child_at, count_at;
    uint32_t placed;            /* number of lists whose ids are written */
    bool blocked[2], silent[2]; /* flag, count */
    struct mrsi_existing existing;
    uint8_t room[16];
};

static uint32_t
n_lists(const struct ext_work *w)
{
    return (uint32_t)(w->list.n / sizeof(struct ext_list));
}

/* ---- values ---- */
/* `leave` knows the id of each part, otherwise only where those of each list begin. */
static enum mrs_status
read_ids(struct extract_source *s, struct mrs_view ids)
{
    MRS_ASSERT(mrs_view_is_framed(ids));
    bool leave = s->x->s->leave.present;
    uint32_t n = leave ? ext_n_parts(s->x->w) : 0;
    struct mrs_walk w;
    struct mrs_elem e;
    s->ids = ids;
    s->id = leave ? mrs_arena_alloc(s->x->c->arena, (n + 1u) * sizeof *s->id) : NULL;
    if (leave && !s->id) {
        return mrs_err_memory(s->x->c->err, n * sizeof *s->id);
    }
    mrs_walk_init(&w, ids);
    for (uint32_t i = 0; i < n; i++) {
        s->id[i] = mrs_missing();
        if (ext_parts(s->x->w)[i].out && mrs_walk_next(&w, &e) == 1) {
            s->id[i] = e.v;
        }
    }
    for (uint32_t l = 0; !leave && l < n_lists(s->x->w); l++) {
        struct ext_list *list = &ext_lists(s->x->w)[l];
        list->id_at = (uint32_t)(w.at - ids.p);
        for (uint32_t i = 0; i < list->n_part && mrs_walk_next(&w, &e) == 1; i++) {
        }
    }
    return MRS_OK;
}

/* The ids of the parts of a list that have one. */
static void
put_ids(const struct extract_source *s, const struct ext_list *l, struct mrsi_shape_items *it)
{
    struct mrs_walk w = {s->ids.p + l->id_at, s->ids.p + s->ids.n - 1};
    struct mrs_elem e;
    for (uint32_t i = 0; i < l->n_part; i++) {
        if (s->id && s->id[l->part + i].type != MRS_MISSING) {
            mrsi_items_add(it, s->id[l->part + i]);
        } else if (!s->id && mrs_walk_next(&w, &e) == 1) {
            mrsi_items_add(it, e.v);
        }
    }
}

static enum mrs_status
ids_of(struct extract_source *s, const struct ext_list *l, struct mrs_val *out)
{
    struct mrs_buf *b = &s->x->w->value;
    struct mrsi_shape_items it;
    if (!l->array && s->id) {
        *out = s->id[l->part];
        return MRS_OK;
    }
    if (l->array && !s->id && n_lists(s->x->w) == 1) {
        *out = (struct mrs_val){s->ids.p, s->ids.n, MRS_ARRAY};
        return MRS_OK;
    }
    mrs_buf_reset(b);
    mrsi_items_open(&it, b);
    put_ids(s, l, &it);
    mrsi_items_close(&it);
    *out = mrsi_items_val(&it);
    if (!l->array && !b->bad) {
        *out = mrs_doc_get(mrs_val_view(*out), "0");
    }
    return mrsi_buf_end(b, 0, s->x->c, "child_refs");
}

/* The copy of a part that stays, in x->w->shaped if it had to be made. */
static enum mrs_status
copy_of(struct extract_source *s, uint32_t i, struct mrs_val *out)
{
    struct ext_doc *x = s->x;
    const struct mrsi_extract *st = x->s;
    struct mrs_val v = ext_parts(x->w)[i].v;
    struct mrs_elem id;
    *out = v;
    if (v.type != MRS_DOCUMENT) {
        return MRS_OK;
    }
    if (mrsi_shape_is_set(&st->leave.shape)) {
        struct mrs_val vars[EXT_VARS];
        struct mrsi_shaping how = {x->c, vars, (enum mrsi_errors)st->errors, NULL, st->shape.fields.n};
        mrs_buf_reset(&x->w->shaped);
        MRS_TRY(mrsi_extract_vars(x, &ext_parts(x->w)[i], vars));
        MRS_TRY(mrsi_shape_run(&st->leave.shape, &how, mrs_val_view(v), &x->w->shaped));
        v = *out = mrs_view_val(mrsi_buf_view(&x->w->shaped, 0));
    }
    if (!st->leave.id || s->id[i].type == MRS_MISSING) {
        return MRS_OK;
    }
    struct mrs_buf *b = &x->w->element;
    bool there = mrs_doc_find(mrs_val_view(v), "_id", 3, &id);
    const uint8_t *at = v.p + 4, *to = there ? id.p : at;
    mrs_buf_reset(b);
    mrsi_put_open(b);
    mrs_buf_put(b, at, (size_t)(to - at));
    mrsi_put_elem(b, "_id", 3, s->id[i]);
    at = there ? id.v.p + id.v.n : at;
    mrs_buf_put(b, at, (size_t)(v.p + v.n - 1 - at));
    mrsi_put_close(b, 0);
    *out = mrs_view_val(mrsi_buf_view(b, 0));
    return mrsi_buf_end(b, 0, x->c, "leave");
}

/* The copies of a list that stay, in rank order. */
static enum mrs_status
left_of(struct extract_source *s, const struct ext_list *l, struct mrs_val *out)
{
    MRS_ASSERT(l->n_part * sizeof(struct ext_part) <= s->x->w->part.n);
    struct ext_work *w = s->x->w;
    struct mrsi_shape_items it;
    uint32_t n = 0, *by_rank = mrs_arena_alloc(s->x->c->arena, (l->n_part + 1u) * sizeof *by_rank);
    MRS_TRY(mrs_allocated(by_rank, l->n_part * sizeof *by_rank, s->x->c->err));
    for (uint32_t i = l->part; i < l->part + l->n_part; i++) {
        if (ext_parts(w)[i].keeps_copy) {
            by_rank[ext_parts(w)[i].rank] = i;
            n++;
        }
    }
    if (!l->array) {
        *out = mrs_missing();
        return n ? copy_of(s, by_rank[0], out) : MRS_OK;
    }
    mrs_buf_reset(&w->raw);
    mrsi_items_open(&it, &w->raw);
    for (uint32_t i = 0; i < n; i++) {
        struct mrs_val v;
        MRS_TRY(copy_of(s, by_rank[i], &v));
        mrsi_items_add(&it, v);
    }
    mrsi_items_close(&it);
    *out = mrsi_items_val(&it);
    return mrsi_buf_end(&w->raw, 0, s->x->c, "leave");
}

/* ---- places ---- */
static enum mrs_status
at_path(struct extract_source *s, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    struct ext_doc *x = s->x;
    bool map = x->s->map != NULL;
    bool list = site->old.type == MRS_DOCUMENT ? !map || site->old.n > 5
                                               : site->old.type == MRS_ARRAY && !map && site->old.n > 5;
    if (site->blocked || (!x->s->listed.n && !list)) {
        return MRS_OK;
    }
    if (x->s->listed.n) {
        *verdict = MRS_EDIT_REMOVE;
        return MRS_OK;
    }
    if (s->list >= n_lists(x->w)) {
        return MRS_OK;
    }
    const struct ext_list *l = &ext_lists(x->w)[s->list++];
    enum mrs_status st = MRS_OK;
    *put = mrs_missing();
    if (x->s->leave.present) {
        st = left_of(s, l, put);
    } else if (x->s->child_is_path) {
        st = ids_of(s, l, put);
        s->placed++;
    }
    *verdict = put->type == MRS_MISSING ? MRS_EDIT_REMOVE : MRS_EDIT_PUT;
    return st;
}

/* May the field be written? If not, write_places refuses the document. */
static bool
is_free(struct extract_source *s, const struct mrs_edit_site *site, const char *key)
{
    bool is = site->old.type == MRS_MISSING || s->x->s->replace;
    if (!is) {
        mrsi_existing_add(&s->existing, site, key);
    }
    return is;
}

static enum mrs_status
at_child(struct extract_source *s, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict,
         struct mrs_val *put)
{
    struct ext_work *w = s->x->w;
    const struct mrsi_match_group *g = mrsi_group_find(&w->child_group, &w->index, site->index, site->n_index,
                                                       &s->child_at);
    if (!g || !g->n_occ) {
        return MRS_OK;
    }
    if (site->blocked) {
        return mrsi_step_blocked(s->x->c, "child_refs", site, NULL);
    }
    if (g->n_occ > 1) {
        return mrsi_step_refuse(s->x->c, "child_refs", "%u lists of ids for one field: put it next to the elements",
                                g->n_occ);
    }
    if (!is_free(s, site, "child_refs")) {
        return MRS_OK;
    }
    *verdict = MRS_EDIT_PUT;
    s->placed++;
    return ids_of(s, &ext_lists(w)[g->occ], put);
}

/* Writes flag or count (no: 0 flag, 1 count). If its path is blocked it is omitted, unless `errors` refuses. */
static enum mrs_status
at_computed(struct extract_source *s, const struct mrs_edit_site *site, int no, enum mrs_edit_verdict *verdict)
{
    static const char *const key[] = {"pages", "count"};
    if (s->silent[no]) {
        return MRS_OK;
    }
    if (site->blocked) {
        s->blocked[no] = true;
        if (s->x->s->errors == MRSI_ERRORS_REFUSE) {
            return mrsi_step_blocked(s->x->c, key[no], site, NULL);
        }
        mrsi_step_eased_blocked(s->x->c);
        return MRS_OK;
    }
    *verdict = is_free(s, site, key[no]) ? MRS_EDIT_PUT : MRS_EDIT_KEEP;
    return MRS_OK;
}

static enum mrs_status
at_flag(struct extract_source *s, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    *put = mrs_make_bool(s->room, true);
    if (s->x->w->n_pages) {
        return at_computed(s, site, 0, verdict);
    }
    if (s->x->s->replace && !site->blocked) {
        *verdict = MRS_EDIT_REMOVE; /* an old value */
    }
    return MRS_OK;
}

static enum mrs_status
at_count(struct extract_source *s, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict,
         struct mrs_val *put)
{
    struct ext_work *w = s->x->w;
    const struct mrsi_match_group *g = mrsi_group_find(&w->count_group, &w->index, site->index, site->n_index,
                                                       &s->count_at);
    uint64_t n = 0;
    if (!g && s->x->s->count_share) {
        return MRS_OK; /* not a document, or missing */
    }
    for (uint32_t i = 0; g && i < g->n_occ; i++) {
        n += ext_lists(w)[g->occ + i].n_part;
    }
    *put = mrs_make_count(s->room, n);
    return at_computed(s, site, 1, verdict);
}

static enum mrs_status
place(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
      struct mrs_buf *raw,
      struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct extract_source *s = arg;
    const struct mrsi_extract *st = s->x->s;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (site->path_no == st->no_child) {
        return at_child(s, site, verdict, put);
    }
    if (site->path_no == st->no_flag) {
        return at_flag(s, site, verdict, put);
    }
    return site->path_no == st->no_count ? at_count(s, site, verdict, put) : at_path(s, site, verdict, put);
}

/* ---- the document ---- */
/* Removes the top-level field of the path. */
static enum mrs_status
quick(struct ext_doc *x, struct mrs_buf *out)
{
    const struct mrs_part *name = &x->s->path.part[0];
    struct mrsi_name_set seen;
    struct mrs_walk w;
    struct mrs_elem e;
    size_t at = mrsi_put_open(out);
    const uint8_t *from = x->doc.p + 4;
    mrsi_name_set_begin(&seen);
    mrs_walk_init(&w, x->doc);
    while (mrs_walk_next(&w, &e) == 1) {
        mrsi_name_set_add(&seen, &e);
        if (mrs_name_is(&e, name->name, name->len)) {
            mrs_buf_put(out, from, (size_t)(e.p - from));
            from = e.v.p + e.v.n;
        }
    }
    mrs_buf_put(out, from, (size_t)(w.end - from));
    mrsi_put_close(out, at);
    enum mrs_status st = mrsi_name_set_check(&seen, x->c, x->doc);
    return st == MRS_OK ? mrsi_buf_end(out, at, x->c, "path") : st;
}

static enum mrs_status
write_places(struct extract_source *s, struct mrs_buf *out)
{
    struct ext_doc *x = s->x;
    size_t start = out->n;
    for (;;) {
        struct mrs_edit_run run = {.fn = place, .arg = s, .visit_missing = true};
        bool changed;
        out->n = start;
        s->list = s->child_at = s->count_at = s->placed = 0;
        s->existing = (struct mrsi_existing){0};
        enum mrs_status st = mrs_edit_run(x->s->edit, &run, x->doc, out, &changed, x->c->err);
        bool again = (s->blocked[0] && !s->silent[0]) || (s->blocked[1] && !s->silent[1]);
        if (st != MRS_OK || !again) {
            return mrsi_step_existing(x->c, st, "path", &s->existing);
        }
        s->silent[0] = s->blocked[0];
        s->silent[1] = s->blocked[1];
    }
}

enum mrs_status
mrsi_extract_source(struct ext_doc *x, struct mrs_view ids, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    MRS_ASSERT(mrs_view_is_framed(ids));
    struct extract_source s = {.x = x};
    size_t start = out->n;
    if (!x->w->list.n && !x->s->count.n && !x->s->flag.n) {
        mrs_buf_put(out, x->doc.p, x->doc.n);
        return mrsi_buf_end(out, start, x->c, NULL);
    }
    if (x->s->quick) {
        return quick(x, out);
    }
    enum mrs_status st = read_ids(&s, ids);
    MRS_THEN(st, write_places(&s, out));
    if (st == MRS_OK && x->s->to_child && s.placed < n_lists(x->w)) {
        st = mrsi_step_refuse(x->c, "child_refs", "an array on the way is empty: there is no place for the ids");
    }
    if (st == MRS_OK && !out->bad && out->n - start > MRS_DOC_MAX && out->n - start > x->doc.n) {
        st = mrsi_step_too_large(x->c, NULL, "the document would pass 16 MiB", out, start);
    }
    return st == MRS_OK ? mrsi_buf_end(out, start, x->c, NULL) : st;
}
