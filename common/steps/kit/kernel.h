/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - shared by kernels of steps: refusals, `where`, and the work of steps that process one document at a time.
 * MAP steps: map.h. */
#ifndef MRSI_KERNEL_H
#define MRSI_KERNEL_H

#include "args.h"
#include "mongoreshape/context.h"
#include "mongoreshape/spread_ops.h"

/* Refuses the document: err gets the reason and the key of the plan (NULL: none). Always SKIP; out of memory stays
 * DEAD. */
enum mrs_status mrsi_step_refuse(struct mrs_ctx *c, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Converts the result of a called function: FAIL becomes SKIP at `where`, all else stays. */
enum mrs_status mrsi_step_failed(struct mrs_ctx *c, enum mrs_status s, const char *where);
static inline enum mrs_status
mrsi_step_skip(struct mrs_ctx *c, enum mrs_status s, const char *where)
{
    return s == MRS_OK ? s : mrsi_step_failed(c, s, where);
}
/* The first existing field that an edit may not replace, and the key of the plan that would write it; NULL: none. */
struct mrsi_existing {
    const char *name, *key;
};
static inline void
mrsi_existing_add(struct mrsi_existing *x, const struct mrs_edit_site *site, const char *key)
{
    *x = x->name ? *x : (struct mrsi_existing){site->name, key};
}
/* Ends an edit that is repeated without its blocked paths, so that a field which exists refuses the document only if no
 * path is blocked there. x: it was met before any failure in s. Without a field: like mrsi_step_skip at key. */
enum mrs_status mrsi_step_existing(struct mrs_ctx *c, enum mrs_status s, const char *key,
                                   const struct mrsi_existing *x);
/* Field i failed, and `errors` allows it (struct mrs_desc, fallible). */
static inline void
mrsi_step_eased(struct mrs_ctx *c, uint32_t i)
{
    c->eased |= 1ull << (i < MRS_EASED - 2 ? i : MRS_EASED - 2);
}
/* A path was blocked, and nothing is written there. */
static inline void
mrsi_step_eased_blocked(struct mrs_ctx *c)
{
    c->eased |= 1ull << (MRS_EASED - 1);
}
/* The same at "KEY.NAME". */
enum mrs_status mrsi_step_skip_in(struct mrs_ctx *c, enum mrs_status s, const char *key, const char *name);
/* Refuses a document in which `path` is blocked (site->blocked); NULL: without the path's name. */
enum mrs_status mrsi_step_blocked(struct mrs_ctx *c, const char *where, const struct mrs_edit_site *site,
                                  const char *path);
/* Does the document match? SKIP at "where". */
enum mrs_status mrsi_step_query(const struct mrs_query *q, struct mrs_ctx *c, struct mrs_view d, bool *takes);
/* Does the step process the document? q NULL: yes. SKIP at "where". */
static inline enum mrs_status
mrsi_step_where(const struct mrs_query *q, struct mrs_ctx *c, struct mrs_view d, bool *takes)
{
    *takes = true;
    return q ? mrsi_step_query(q, c, d, takes) : MRS_OK;
}
/* Appends the key of doc in the order of s. SKIP at key. */
enum mrs_status mrsi_step_sort_key(struct mrs_ctx *c, const struct mrs_sort *s, struct mrs_view doc,
                                   struct mrs_buf *out, const char *key);
/* Refuses a document, built from `start` on, that exceeds 16 MiB; the message has its size and its largest field. */
enum mrs_status mrsi_step_too_large(struct mrs_ctx *c, const char *where, const char *what, const struct mrs_buf *out,
                                    size_t start);
/* The same for an incomplete one: doc plus about so many bytes in a field. */
enum mrs_status mrsi_step_too_large_with(struct mrs_ctx *c, const char *where, const char *what, struct mrs_view doc,
                                         const char *field, uint64_t bytes);
/* Ends a kernel that appended the new document from `start` on: truncates it if st is a failure, else sets *fate
 * depending on whether bytes changed. Returns st. */
enum mrs_status mrsi_step_end(enum mrs_status st, struct mrs_view doc, struct mrs_buf *out, size_t start,
                              enum mrs_fate *fate);
/* Refuses a finished document that exceeds 16 MiB. */
enum mrs_status mrsi_step_size(struct mrs_ctx *c, const struct mrs_buf *out);
/* Refuses one that is nested deeper than a server allows, unless it was before. */
enum mrs_status mrsi_step_depth(struct mrs_ctx *c, const char *where, struct mrs_view before, struct mrs_view after);
/* NULL if a server takes the value as the `_id` of a document, else what it is, for messages. */
const char *mrsi_step_id_fault(struct mrs_val v);

/* An empty text, which $toLower and similar operators give for a missing field. */
static inline bool
mrsi_step_is_empty(struct mrs_val v)
{
    return v.type == MRS_STRING && v.n == 5; /* length and NUL */
}

static inline struct mrs_eval
mrsi_step_eval(struct mrs_ctx *c, struct mrs_view d)
{
    return (struct mrs_eval){.arena = c->arena, .root = d, .err = c->err, .lists = c->lists};
}

/* Has the engine found the fields of a document? */
static inline bool
mrsi_step_at_hand(const struct mrs_ctx *c, struct mrs_view d)
{
    return c->fields && c->fields_of == d.p;
}

/* Gives ev the fields of its root: those that the engine has found, or found now in room. */
static inline void
mrsi_step_fields(const struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_eval_fields *room)
{
    if (!mrsi_step_at_hand(c, ev->root)) {
        mrs_eval_fields(ev, room);
    } else if (c->fields->tpl) {
        mrs_template_fields(c->fields->tpl, ev->root.p, room);
        ev->fields = room;
    } else {
        ev->fields = c->fields;
    }
}

/* The template of a document; NULL: unknown. */
static inline const struct mrs_template *
mrsi_step_template(const struct mrs_ctx *c, struct mrs_view d)
{
    return mrsi_step_at_hand(c, d) ? c->fields->tpl : NULL;
}

/* All fields of a document, if the engine has found them; NULL: walk it. */
static inline const struct mrs_eval_fields *
mrsi_step_found(const struct mrs_ctx *c, struct mrs_view d)
{
    return mrsi_step_at_hand(c, d) && c->fields->all && !c->fields->tpl ? c->fields : NULL;
}

/* Like mrs_doc_find, in the document at p with this template. */
static inline bool
mrsi_step_find_in_template(const struct mrs_template *k, const uint8_t *p, const char *name, uint32_t len,
                           struct mrs_elem *e)
{
    for (uint32_t i = 0; i < k->n; i++) {
        const struct mrs_template_field *x = &k->field[i];
        const uint8_t *at = p + x->at, *value = p + x->value;
        *e = (struct mrs_elem){at, (const char *)at + 1, (uint32_t)(x->value - x->at) - 2, {value, x->n, x->type}};
        if (mrs_name_is(e, name, len)) {
            return true;
        }
    }
    e->v = mrs_missing();
    return false;
}

/* Like mrs_doc_find. */
static inline bool
mrsi_step_find(const struct mrs_ctx *c, struct mrs_view d, const char *name, uint32_t len, struct mrs_elem *e)
{
    const struct mrs_eval_fields *f = mrsi_step_at_hand(c, d) ? c->fields : NULL;
    if (f && f->tpl) {
        return mrsi_step_find_in_template(f->tpl, d.p, name, len, e);
    }
    for (uint32_t i = 0; f && i < f->n; i++) {
        if (mrs_name_is(&f->e[i], name, len)) {
            *e = f->e[i];
            return true;
        }
    }
    e->v = mrs_missing();
    return !(f && f->all) && mrs_doc_find(d, name, len, e);
}

/* ---- saved state of an unfinished group, see struct mrs_fold_ops.save ---- */
/* Appends an accumulator's state, or a marker that it has failed for this group. */
enum mrs_status mrsi_step_put_acc(const struct mrs_acc_state *acc, bool failed, struct mrs_buf *out,
                                  struct mrs_err *e);
/* Loads it from the front of rest. FAIL MRS_E_FORMAT: invalid. */
enum mrs_status mrsi_step_get_acc(struct mrs_acc_state *acc, bool *failed, struct mrs_view *rest, struct mrs_err *e);
/* Removes and returns the document at the front of rest; an empty one at the end. */
struct mrs_view mrsi_step_get_doc(struct mrs_view *rest);
enum mrs_status mrsi_step_damaged(struct mrs_err *e); /* FAIL MRS_E_FORMAT: not a state saved by a fold */

/* Per-thread work of all MAP and SPREAD steps that make at most two documents from one. */
struct mrsi_work {
    struct mrs_buf out[2]; /* made on the first begin, kept between documents */
    struct mrs_buf raw;    /* scratch of mrs_edit_run */
    struct mrs_buf key;    /* an encoded key */
    struct mrs_product product[2];
    uint32_t n, at;
    bool ready;
};
/* Resets the work for the next document. */
void mrsi_work_start(struct mrsi_work *w, struct mrs_ctx *c);
void mrsi_work_emit(struct mrsi_work *w, int side, bool self, struct mrs_view doc);
void mrsi_work_emit_generated(struct mrsi_work *w, int side, struct mrs_view doc); /* its `_id` is generated */
void mrsi_work_clear(struct mrs_ctx *c, void *work);
enum mrs_status mrsi_work_next(const void *state, struct mrs_ctx *c, void *work, struct mrs_product *out);

#endif
