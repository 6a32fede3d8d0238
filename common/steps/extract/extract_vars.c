/* SPDX-License-Identifier: Apache-2.0 */
/* extract_vars.c - the variables of expressions on a part: $$PARENT, $$POSITION, $$ELEMENTS and $$NAME.
 *
 * The documents around a part are built once for all parts of one list inside the same part. The bytes for one document
 * are limited: large documents with many nested parts would be copied again and again. */
#include "extract.h"
#include "mongoreshape/context.h"

/* The indexes of the arrays that contain a part. With `nested` only its own array counts. */
enum mrs_status
mrsi_extract_position(struct ext_doc *x, const struct ext_part *p, struct mrs_val *out)
{
    MRS_ASSERT(p->n_index <= EXT_INDEX_MAX);
    const uint32_t *all = (const uint32_t *)(const void *)x->w->index.p;
    bool own = x->s->nested.present;
    uint32_t n = own ? !p->alone : p->n_index;
    *out = mrs_missing();
    if (!n) {
        return MRS_OK;
    }
    const uint32_t *index = all + p->index + (own ? p->n_index - 1 : 0);
    uint8_t *room = mrs_arena_alloc(x->c->arena, n == 1 ? 16 : 5 + n * 9u);
    MRS_TRY(mrs_allocated(room, n * 9u, x->c->err));
    if (n == 1) {
        *out = mrs_make_i32(room, (int32_t)index[0]);
        return MRS_OK;
    }
    uint8_t *at = room + 4; /* paths have at most 100 names, so an index name has at most two digits */
    for (uint32_t i = 0; i < n; i++) {
        *at++ = MRS_INT32;
        at += mrs_index_name((char *)at, i) + 1;
        mrs_put32(at, index[i]);
        at += 4;
    }
    *at++ = 0;
    mrs_put32(room, (uint32_t)(at - room));
    *out = (struct mrs_val){room, (uint32_t)(at - room), MRS_ARRAY};
    return MRS_OK;
}

enum mrs_status
mrsi_extract_name(struct ext_doc *x, const struct ext_part *p, struct mrs_val *out)
{
    MRS_ASSERT(x->s->map);
    *out = mrs_make_text(x->c->arena, p->name, p->name_len);
    return out->type == MRS_STRING ? MRS_OK : mrs_err_memory(x->c->err, p->name_len);
}

/* Adds the parts around p to the array, the outermost first. */
static enum mrs_status
add_around(struct ext_doc *x, const struct ext_part *p, struct mrsi_shape_items *it)
{
    MRS_ASSERT(p->n_index <= EXT_INDEX_MAX);
    uint32_t n = 0, i;
    for (i = p->around; i != EXT_NONE; i = ext_parts(x->w)[i].around) {
        n++;
    }
    uint32_t *no = mrs_arena_alloc(x->c->arena, (n + 1u) * sizeof *no);
    MRS_TRY(mrs_allocated(no, n * sizeof *no, x->c->err));
    uint32_t at = n;
    for (i = p->around; i != EXT_NONE; i = ext_parts(x->w)[i].around) {
        no[--at] = i;
    }
    for (i = 0; i < n; i++) {
        mrsi_items_add(it, ext_parts(x->w)[no[i]].v);
    }
    return MRS_OK;
}

static enum mrs_status
elements_of(struct ext_doc *x, const struct ext_part *p, struct mrs_val *out)
{
    struct ext_work *w = x->w;
    uint32_t each = x->s->path.n ? x->s->path.n - 1 : 0;
    const struct mrs_val *way = (const struct mrs_val *)(const void *)w->way.p;
    struct mrsi_shape_items it;
    enum mrs_status st = MRS_OK;
    if (w->elements_list != p->list || w->elements_around != p->around) {
        mrs_buf_reset(&w->elements);
        mrsi_items_open(&it, &w->elements);
        for (uint32_t i = 0; i < each; i++) {
            mrsi_items_add(&it, way[(size_t)p->list * each + i]);
        }
        st = add_around(x, p, &it);
        mrsi_items_close(&it);
        MRS_THEN(st, mrsi_buf_end(&w->elements, 0, x->c, NULL));
        w->elements_made += w->elements.n;
        w->elements_list = p->list;
        w->elements_around = p->around;
    }
    if (st == MRS_OK && w->elements_made > MRS_EVAL_BYTES_MAX) {
        return mrsi_step_refuse(x->c, NULL, "$$ELEMENTS would take more than %u MiB for one document",
                                MRS_EVAL_BYTES_MAX >> 20);
    }
    *out = (struct mrs_val){w->elements.p, (uint32_t)w->elements.n, MRS_ARRAY};
    return st;
}

enum mrs_status
mrsi_extract_vars(struct ext_doc *x, const struct ext_part *p, struct mrs_val vars[EXT_VARS])
{
    vars[EXT_PARENT] = mrs_view_val(x->doc);
    vars[EXT_ELEMENTS] = vars[EXT_NAME] = mrs_missing();
    enum mrs_status st = mrsi_extract_position(x, p, &vars[EXT_POSITION]);
    if (st == MRS_OK && x->s->map) {
        st = mrsi_extract_name(x, p, &vars[EXT_NAME]);
    }
    return st == MRS_OK && x->s->reads_elements ? elements_of(x, p, &vars[EXT_ELEMENTS]) : st;
}
