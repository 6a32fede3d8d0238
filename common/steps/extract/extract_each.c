/* SPDX-License-Identifier: Apache-2.0 */
/* extract_each.c - iterates over the parts of a document.
 *
 * A struct ext_part is larger than a small element, so parts are stored only if all must be known together (`leave`,
 * `nested`); otherwise the lists are walked again. */
#include "extract.h"

static void
open_list(const struct ext_doc *x, struct ext_each *each)
{
    const struct ext_list *l = &ext_lists(x->w)[each->list];
    each->left = l->n_part;
    each->part = (struct ext_part){.v = l->v,
                                   .key = l->key,
                                   .index = l->index,
                                   .n_index = l->n_index,
                                   .list = each->list,
                                   .around = EXT_NONE,
                                   .out = true};
    mrs_walk_init(&each->walk, mrs_val_view(l->v));
    each->list++;
}

/* The next element of the list; sets its position in work.index. */
static void
next_element(const struct ext_doc *x, struct ext_each *each)
{
    const struct ext_list *l = &ext_lists(x->w)[each->part.list];
    uint32_t *index = (uint32_t *)(void *)x->w->index.p;
    struct mrs_elem e;
    if ((l->array || x->s->map) && mrs_walk_next(&each->walk, &e) == 1) {
        each->part.v = e.v;
        each->part.name = e.name;
        each->part.name_len = e.name_len;
    }
    if (l->array) {
        index[l->index + l->n_index - 1] = l->n_part - each->left;
    }
    each->left--;
}

struct ext_part *
mrsi_extract_next(const struct ext_doc *x, struct ext_each *each)
{
    if (ext_stores(x->s)) {
        return each->at < ext_n_parts(x->w) ? &ext_parts(x->w)[each->at++] : NULL;
    }
    if (!each->left) {
        if (each->list * sizeof(struct ext_list) >= x->w->list.n) {
            return NULL;
        }
        open_list(x, each);
    }
    next_element(x, each);
    return &each->part;
}
