/* SPDX-License-Identifier: Apache-2.0 */
/* template.c - matches documents with a template: same length, same types, names and lengths at the same offsets.
 *
 * These bytes are all that mrs_doc_check examines, so a document that shares them with a checked one needs no walk, and
 * its fields are at the same offsets. The bytes are compared under a mask, sixteen at a time, which costs a small part
 * of a walk. */
#include "doc_internal.h"

bool
mrsi_template_fits(uint32_t n)
{
    return n >= sizeof(mrsi_wide) && n <= MRS_TEMPLATE_MAX;
}

/* Clears the mask for the bytes of a value that may differ between documents of the template. */
static void
free_value(struct mrs_template *k, const uint8_t *doc, struct mrs_val v)
{
    MRS_ASSERT(v.p > doc);
    uint8_t *mask = k->mask + (v.p - doc);
    switch (v.type) {
    case MRS_STRING:
    case MRS_SYMBOL:
    case MRS_CODE:
        memset(mask + 4, 0, v.n - 5u);
        break;
    case MRS_BINARY:
        memset(mask + 5, 0, v.n - 5u);
        break;
    case MRS_BOOL:
        *mask = (uint8_t)~1;
        break;
    case MRS_DOCUMENT:
    case MRS_ARRAY:
    case MRS_REGEX:
    case MRS_DBPOINTER:
    case MRS_CODE_W_SCOPE:
        break;
    default:
        memset(mask, 0, v.n);
    }
}

void
mrsi_template_of(struct mrs_template *k, struct mrs_view d)
{
    MRS_ASSERT(mrsi_template_fits(d.n) && mrs_view_is_framed(d));
    struct mrs_walk stack[MRS_TEMPLATE_MAX / MRS_DOC_MIN];
    struct mrs_elem e;
    int depth = 1;
    k->size = d.n;
    memcpy(k->bytes, d.p, d.n);
    memset(k->mask, 0xff, d.n);
    mrs_walk_init(&stack[0], d);
    while (depth > 0) {
        if (mrs_walk_next(&stack[depth - 1], &e) <= 0) {
            depth--;
            continue;
        }
        free_value(k, d.p, e.v);
        if (e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY) {
            mrs_walk_init(&stack[depth++], mrs_val_view(e.v));
        }
    }
}

/* Not for each document of another template, in case they alternate. */
void
mrsi_template_learn(struct mrs_layout *layout, struct mrs_template *k, struct mrs_view d,
                    const struct mrs_eval_fields *f)
{
    MRS_ASSERT(f->n <= MRS_EVAL_FIELDS_MAX);
    bool again = k->other_size == d.n;
    k->other_size = d.n;
    if (!again || !mrsi_template_fits(d.n) || !f->all || k->misses++ % 8) {
        return;
    }
    k->no = ++layout->looks;
    k->names = f->names;
    k->n = f->n;
    mrsi_template_of(k, d);
    for (uint32_t i = 0; i < f->n; i++) {
        const struct mrs_elem *e = &f->e[i];
        k->field[i] = (struct mrs_template_field){(uint16_t)(e->p - d.p), (uint16_t)(e->v.p - d.p), (uint16_t)e->v.n,
                                              e->v.type};
    }
}

void
mrs_template_fields(const struct mrs_template *k, const uint8_t *p, struct mrs_eval_fields *f)
{
    MRS_ASSERT(k->size && mrs_le32(p) == k->size && k->n <= MRS_EVAL_FIELDS_MAX);
    f->n = k->n;
    f->all = true;
    f->names = k->names;
    f->tpl = k;
    for (uint32_t i = 0; i < k->n; i++) {
        const struct mrs_template_field *x = &k->field[i];
        const uint8_t *at = p + x->at, *value = p + x->value;
        f->e[i] = (struct mrs_elem){at, (const char *)at + 1, (uint32_t)(x->value - x->at) - 2, {value, x->n, x->type}};
    }
}
