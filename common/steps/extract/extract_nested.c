/* SPDX-License-Identifier: Apache-2.0 */
/* extract_nested.c - `nested`: parts inside parts, at any depth.
 *
 * The data decides the depth, so the walk has an explicit stack: an array in progress is a frame; a single document is
 * followed at once. A part is found before the parts inside it, and its `_id` is made before theirs, which refer to
 * it. */
#include "extract.h"
#include "mongoreshape/context.h"

struct extract_nested_frame {
    struct mrs_walk w;
    uint32_t level;   /* number of inner path names that lead to its elements; all of them: they are parts */
    uint32_t n_index; /* of the walk, without its own */
    uint32_t around, next;
};

static enum mrs_status
open_array(struct ext_walker *w, struct mrs_val v, uint32_t level, uint32_t around)
{
    struct mrs_buf *frames = &w->x->w->frame;
    struct extract_nested_frame f = {.level = level, .n_index = w->n_index, .around = around};
    mrs_walk_init(&f.w, mrs_val_view(v));
    mrs_buf_put(frames, &f, sizeof f);
    return mrsi_buf_end(frames, frames->n, w->x->c, "nested");
}

/* Sets *around to the index of this part. */
static enum mrs_status
add(struct ext_walker *w, struct mrs_val v, uint32_t index, bool alone, uint32_t *around)
{
    struct ext_part p = {.v = v, .around = *around, .alone = alone};
    *around = ext_n_parts(w->x->w);
    w->index[w->n_index++] = index;
    return mrsi_extract_add(w, p);
}

/* Descends from a document: a single document at the end of the path is a part, and is then searched, too. */
static enum mrs_status
follow(struct ext_walker *w, struct mrs_view d, uint32_t level, uint32_t around)
{
    MRS_ASSERT(w->n_index <= EXT_INDEX_MAX);
    const struct mrs_path *p = &w->x->s->nested.path;
    struct mrs_elem e;
    enum mrs_status st = MRS_OK;
    while (st == MRS_OK && mrs_doc_find(d, p->part[level].name, p->part[level].len, &e)) {
        if (e.v.type == MRS_ARRAY) {
            return open_array(w, e.v, level + 1, around);
        }
        if (e.v.type != MRS_DOCUMENT) {
            return MRS_OK;
        }
        d = mrs_val_view(e.v);
        if (++level == p->n) {
            level = 0;
            st = add(w, e.v, 0, true, &around);
        }
    }
    return st;
}

static enum mrs_status
next(struct ext_walker *w)
{
    MRS_ASSERT(w->n_index <= EXT_INDEX_MAX);
    struct mrs_buf *frames = &w->x->w->frame;
    struct extract_nested_frame *f =
        (struct extract_nested_frame *)(void *)(frames->p + frames->n - sizeof *f);
    struct mrs_elem e;
    if (mrs_walk_next(&f->w, &e) != 1) {
        frames->n -= sizeof *f;
        return MRS_OK;
    }
    uint32_t level = f->level, index = f->next++, around = f->around;
    w->n_index = f->n_index;
    if (level < w->x->s->nested.path.n) {
        w->index[w->n_index++] = index;
        return e.v.type == MRS_DOCUMENT ? follow(w, mrs_val_view(e.v), level, around) : MRS_OK;
    }
    if (e.v.type != MRS_DOCUMENT) {
        return mrsi_step_refuse(w->x->c, "nested", "an element is %s, no document", mrs_type_name(e.v.type));
    }
    enum mrs_status st = add(w, e.v, index, false, &around);
    return st == MRS_OK ? follow(w, mrs_val_view(e.v), 0, around) : st;
}

enum mrs_status
mrsi_extract_nested(struct ext_walker *w, struct mrs_val v)
{
    MRS_ASSERT(w->x->s->nested.present && mrs_val_is_sized(v));
    struct mrs_buf *frames = &w->x->w->frame;
    uint32_t slot = w->n_index, around = EXT_NONE;
    enum mrs_status st;
    mrs_buf_reset(frames);
    if (v.type == MRS_ARRAY) {
        st = open_array(w, v, w->x->s->nested.path.n, EXT_NONE);
    } else {
        st = add(w, v, 0, true, &around);
        MRS_THEN(st, follow(w, mrs_val_view(v), 0, around));
    }
    while (st == MRS_OK && frames->n) {
        st = next(w);
    }
    w->n_index = slot;
    return st;
}

/* ---- a part without inner parts ---- */
static enum mrs_status
take_out(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
         struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    (void)arg;
    (void)put;
    (void)raw;
    (void)e;
    bool parts = site->old.type == MRS_ARRAY || site->old.type == MRS_DOCUMENT;
    *verdict = parts ? MRS_EDIT_REMOVE : MRS_EDIT_KEEP;
    return MRS_OK;
}

enum mrs_status
mrsi_extract_bare(struct ext_doc *x, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_edit_run how = {.fn = take_out};
    struct mrs_buf *b = &x->w->element;
    bool changed;
    mrs_buf_reset(b);
    enum mrs_status st = mrs_edit_run(x->s->nested.edit, &how, mrs_val_view(v), b, &changed, x->c->err);
    *out = mrs_view_val(mrsi_buf_view(b, 0));
    return mrsi_step_skip(x->c, st, "nested");
}

enum mrs_status
mrsi_extract_inner_key(struct ext_doc *x, struct ext_part *p)
{
    MRS_ASSERT(p->out);
    const struct ext_span *span = (const struct ext_span *)(const void *)x->w->span.p;
    if (p->around == EXT_NONE || !x->s->nested.parent_ref) {
        return MRS_OK;
    }
    struct mrs_view outer = {x->w->made.p + span[p->around].off, span[p->around].len};
    struct mrs_val id = mrs_doc_get(outer, "_id"); /* its buffer will move */
    return mrs_val_copy(x->c->arena, id, &p->key) ? MRS_OK : mrs_err_memory(x->c->err, id.n);
}
