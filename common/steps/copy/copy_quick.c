/* SPDX-License-Identifier: Apache-2.0 */
/* copy_quick.c - fast path of copy: a top-level array of references becomes an array of documents that wrap them, in
 * one pass.
 *
 * Matches come in the order of the references, so each is written directly into the result; a repeated reference takes
 * its copies from there. All other cases (a wrapped reference, several matches, a failed one, too large a result, a
 * duplicate name) go to the general code. No match has been reported to the engine before that. */
#include "copy.h"
#include "mongoreshape/join_ops.h"

struct copy_quick_span { /* copies written for a reference; n 0: none */
    uint32_t off, n;
};

struct quick {
    const struct mrsi_copy *s;
    struct mrs_ctx *c;
    struct mrs_matches *m;
    struct mrs_match match; /* the next one */
    bool have;
    struct mrs_buf *out;
    size_t start;
    struct mrsi_shape_items it;
    struct copy_quick_span *span;      /* by reference */
    uint32_t key;           /* number of the next reference */
    bool changed;
};

static enum mrs_status
next_match(struct quick *q)
{
    enum mrs_status st = q->m->next(q->m, &q->match, q->c->err);
    q->have = st == MRS_OK;
    return st == MRS_END ? MRS_OK : st;
}

/* Writes {wrap: v, copies}; the copies are n bytes at p, or at `off` of the result if p is NULL. */
static struct copy_quick_span
put_wrapped(struct quick *q, struct mrs_val v, const uint8_t *p, size_t off, uint32_t n)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    const struct mrsi_copy *s = q->s;
    uint32_t size = 4 + 1 + s->wrap_len + 1 + v.n + n + 1;
    struct copy_quick_span none = {0, 0};
    uint8_t *at = q->out->bad ? NULL : mrs_buf_take(q->out, 1 + q->it.name_len + 1 + (size_t)size);
    if (!at) {
        return none;
    }
    *at++ = MRS_DOCUMENT;
    memcpy(at, q->it.name, q->it.name_len + 1);
    at += q->it.name_len + 1;
    mrs_put32(at, size);
    at[4] = v.type;
    memcpy(at + 5, s->wrap, s->wrap_len + 1);
    at += 5 + s->wrap_len + 1;
    memcpy(at, v.p, v.n);
    at += v.n;
    memcpy(at, p ? p : q->out->p + off, n);
    at[n] = 0;
    mrsi_items_step(&q->it);
    q->changed = true;
    return (struct copy_quick_span){(uint32_t)((size_t)(at - q->out->p) - q->start), n};
}

/* The next reference; *everyday false: it needs the general code. */
static enum mrs_status
reference(struct quick *q, struct mrs_val v, bool *everyday)
{
    uint32_t k = q->key++, first;
    if (k >= q->m->n_refs) {
        *everyday = false;
        return MRS_OK;
    }
    first = q->m->same_ref ? q->m->same_ref[k] : k;
    if (first != k) {
        struct copy_quick_span again = q->span[first];
        if (again.n) {
            put_wrapped(q, v, NULL, q->start + again.off, again.n);
        } else {
            mrsi_items_add(&q->it, v);
        }
        return MRS_OK;
    }
    q->span[k].n = 0;
    if (!q->have || q->match.ref != k) {
        mrsi_items_add(&q->it, v);
        return MRS_OK;
    }
    if (q->match.failed || q->match.payload.n <= MRS_DOC_MIN) {
        *everyday = false;
        return MRS_OK;
    }
    q->span[k] = put_wrapped(q, v, q->match.payload.p + 4, 0, q->match.payload.n - MRS_DOC_MIN);
    enum mrs_status st = next_match(q);
    *everyday = !q->have || q->match.ref > k;
    return st;
}

static enum mrs_status
references(struct quick *q, struct mrs_val array, bool *everyday)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem e;
    enum mrs_status st = next_match(q);
    mrs_walk_init(&w, mrs_val_view(array));
    while (st == MRS_OK && *everyday && mrs_walk_next(&w, &e) == 1) {
        if (e.v.type == MRS_DOCUMENT || q->out->n - q->start > MRS_DOC_MAX) {
            *everyday = false;
        } else if (mrs_is_nullish(e.v)) {
            mrsi_items_add(&q->it, e.v);
        } else {
            st = reference(q, e.v, everyday);
        }
    }
    *everyday = *everyday && !q->have && !q->out->bad;
    return st;
}

/* Finds the first field with the reference's name and adds all names to `seen`. */
static bool
find(const struct mrsi_copy *s, struct mrs_view doc, struct mrsi_name_set *seen, struct mrs_elem *ref)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrs_part *name = &s->join.pair[0].into.path.part[0];
    struct mrs_walk w;
    struct mrs_elem e;
    memset(ref, 0, sizeof *ref);
    mrsi_name_set_begin(seen);
    mrs_walk_init(&w, doc);
    while (mrs_walk_next(&w, &e) == 1) {
        mrsi_name_set_add(seen, &e);
        if (!ref->p && mrs_name_is(&e, name->name, name->len)) {
            *ref = e;
        }
    }
    return ref->v.type == MRS_ARRAY;
}

enum mrs_status
mrsi_copy_quick(const struct mrsi_copy *s, struct mrs_ctx *c, struct copy_work *w, struct mrs_view doc,
                struct mrs_matches *m, struct mrs_buf *out, bool *done)
{
    MRS_ASSERT(s->quick && done);
    struct quick q = {.s = s, .c = c, .m = m, .out = out, .start = out->n};
    struct mrsi_name_set seen;
    struct mrs_elem ref;
    *done = false;
    if (!find(s, doc, &seen, &ref)) {
        return MRS_OK;
    }
    mrs_buf_reset(&w->value);
    q.span = (struct copy_quick_span *)(void *)mrs_buf_take(&w->value, (m->n_refs + 1u) * sizeof *q.span);
    if (!q.span) {
        return mrsi_buf_end(&w->value, 0, c, "wrap");
    }
    bool everyday = true;
    mrs_buf_put(out, doc.p, (size_t)(ref.v.p - doc.p));
    mrsi_items_open(&q.it, out);
    enum mrs_status st = references(&q, ref.v, &everyday);
    mrsi_items_close(&q.it);
    const uint8_t *rest = ref.v.p + ref.v.n;
    mrs_buf_put(out, rest, (size_t)(doc.p + doc.n - 1 - rest));
    mrsi_put_close(out, q.start);
    if (st != MRS_OK) {
        return st;
    }
    if (everyday && !q.changed) {
        out->n = q.start;
        mrs_buf_put(out, doc.p, doc.n);
        everyday = !out->bad;
    } else if (everyday) {
        everyday = !out->bad && out->n - q.start <= MRS_DOC_MAX && mrsi_name_set_good(&seen, c, doc);
    }
    *done = everyday;
    if (!everyday) {
        out->n = q.start;
        out->bad = 0;
        return m->rewind(m, c->err);
    }
    return MRS_OK;
}
