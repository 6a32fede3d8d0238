/* SPDX-License-Identifier: Apache-2.0 */
/* tree_embed.c - the part of each document when a tree becomes one document.
 *
 * The engine joins the parts. A part is written around its children: the bytes before and after them. Its size without
 * children is computed first, so that a tree that would be too large is refused completely. */
#include "steps/kit/shape.h"
#include "tree.h"

/* Is the element removed? It has the node's old position, or is overwritten. */
static bool
is_removed(const struct mrsi_tree_args *s, const struct mrs_elem *el)
{
    return mrsi_tree_field_no(&s->old, el) < s->old.n || mrsi_tree_field_no(&s->made, el) < s->made.n;
}

/* Do the children replace this element? */
static bool
is_place(const struct mrsi_tree_args *s, const struct mrs_elem *el)
{
    return mrsi_tree_field_no(&s->made, el) < s->made.n && mrsi_tree_field_no(&s->old, el) == s->old.n;
}

enum mrs_status
mrsi_tree_weigh(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrsi_name_set seen;
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t own = doc.n + s->made.field[0].len + 2 + MRS_DOC_MIN;
    mrsi_name_set_begin(&seen);
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &el) == 1;) {
        mrsi_name_set_add(&seen, &el);
        own -= is_removed(s, &el) ? (uint32_t)(el.v.p + el.v.n - el.p) : 0;
        if (is_place(s, &el) && !s->replace) {
            return mrsi_step_refuse(c, "to_form", "the field %s exists already", s->made.field[0].name);
        }
    }
    int deep = mrs_doc_depth(doc);
    out->own = own;
    out->deep = deep < 2 ? 2 : (uint32_t)deep;
    return mrsi_name_set_check(&seen, c, doc);
}

enum mrs_status
mrsi_tree_part(const void *state, struct mrs_ctx *c, struct mrs_view doc, bool behind, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(out));
    const struct mrsi_tree_args *s = state;
    const struct mrsi_tree_field *f = &s->made.field[0];
    bool passed = false;
    struct mrs_walk w;
    struct mrs_elem el;
    if (!behind) {
        mrsi_put_open(out);
    }
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &el) == 1;) {
        passed = passed || is_place(s, &el);
        if (passed == behind && !is_removed(s, &el)) {
            mrs_buf_put(out, el.p, (size_t)(el.v.p + el.v.n - el.p));
        }
    }
    if (!behind) {
        mrsi_put_head(out, MRS_ARRAY, f->name, f->len);
    }
    return mrs_buf_status(out, c->err);
}
