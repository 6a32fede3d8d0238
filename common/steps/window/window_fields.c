/* SPDX-License-Identifier: Apache-2.0 */
/* window_fields.c - the fields of a window step: extracts operators that read other documents from expressions.
 *
 * The specification of a field is copied, with a variable in the place of each such operator, and compiled like any
 * expression. At the top of a field an accumulator is such an operator; deeper inside, a name that is also an
 * expression operator needs `window` next to it. Recursion follows the plan. */
#include "window.h"
#include "mongoreshape/expr.h"

struct window_walk {
    struct mrsi_read *r;
    struct mrsi_window *s;
    const char *field;
    struct mrs_build *b;
    bool good;
};

/* ---- which documents are operators ---- */
static bool
row_is(const char *name, bool accumulator)
{
    const struct mrs_op_row *row;
    for (uint32_t i = 0; (row = mrs_op_rows(i)); i++) {
        bool is = strcmp(row->family, "accumulator") == 0;
        bool other = strcmp(row->family, "query") == 0 || strcmp(row->family, "refused query") == 0;
        if (is == accumulator && !other && strcmp(row->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The operator in a document, and the `window` next to it. False: no operator that reads other documents. */
static bool
find_op(struct mrs_val v, bool top, struct mrs_elem *op, struct mrs_val *window)
{
    struct mrs_walk w;
    struct mrs_elem e;
    bool any = false;
    *window = mrs_missing();
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &e) == 1;) {
        if (!any && e.name[0] == '$') {
            *op = e;
            any = true;
        } else if (strcmp(e.name, "window") == 0) {
            *window = e.v;
        }
    }
    if (!any || mrsi_window_function(op->name)) {
        return any;
    }
    if (!row_is(op->name, true)) {
        return false;
    }
    bool merges = strcmp(op->name, "$mergeObjects") == 0;
    return window->type != MRS_MISSING || (!merges && (top || !row_is(op->name, false)));
}

/* The name of an operator anywhere in a value; NULL: none. */
static const char *
op_inside(struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem e, op;
    struct mrs_val window;
    if (v.type == MRS_DOCUMENT && find_op(v, false, &op, &window)) {
        return op.name;
    }
    if (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) {
        return NULL;
    }
    const char *found = NULL;
    for (mrs_walk_init(&w, mrs_val_view(v)); !found && mrs_walk_next(&w, &e) == 1;) {
        found = strcmp(e.name, "$literal") == 0 ? NULL : op_inside(e.v);
    }
    return found;
}

/* ---- extract operators ---- */
static const char *
new_var(struct window_walk *x)
{
    struct mrsi_window *s = x->s;
    if (s->n_op == s->cap_op) {
        uint32_t cap = s->cap_op ? 2 * s->cap_op : 8;
        struct window_op *op = mrsi_read_alloc(x->r, cap, sizeof *op);
        const char **var = mrsi_read_alloc(x->r, cap, sizeof *var);
        if (!op || !var) {
            return NULL;
        }
        if (s->n_op) {
            memcpy(op, s->op, s->n_op * sizeof *op);
            memcpy(var, s->op_var, s->n_op * sizeof *var);
        }
        s->op = op;
        s->op_var = var;
        s->cap_op = cap;
    }
    s->op_var[s->n_op] = mrsi_read_text_of(x->r, "operator %u", s->n_op + 1); /* a name that no plan can use */
    return s->op_var[s->n_op];
}

static bool
one_more(struct window_walk *x, const struct mrs_elem *el, struct mrs_val doc, struct mrs_val w)
{
    MRS_ASSERT(el->name);
    const char *inner = op_inside(el->v), *var = new_var(x);
    uint32_t expected = w.type == MRS_MISSING ? 1 : 2;
    if (inner) {
        return mrsi_read_error(x->r, "fields", x->field, "%s is inside of %s: a window operator cannot read the result "
                                                         "of another; use two steps", inner, el->name);
    }
    if (mrs_val_count(doc) != expected) {
        return mrsi_read_error(x->r, "fields", x->field, "next to %s only `window` is allowed", el->name);
    }
    if (!var || !mrsi_window_read_op(x->r, x->s, x->field, el, w, &x->s->op[x->s->n_op])) {
        return false;
    }
    x->s->n_op++;
    return true;
}

/* `window` next to an operator that does not read documents. */
static bool
is_misplaced(struct window_walk *x, struct mrs_val doc)
{
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, mrs_val_view(doc));
    bool op = mrs_walk_next(&w, &e) == 1 && e.name[0] == '$' && strcmp(e.name, "$literal") != 0;
    return op && mrs_doc_get(mrs_val_view(doc), "window").type != MRS_MISSING &&
           !mrsi_read_error(x->r, "fields", x->field, "`window` is next to %s, which is no accumulator", e.name);
}

static void copy(struct window_walk *x, const struct mrs_elem *e, bool top);

static void
copy_inside(struct window_walk *x, const struct mrs_elem *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_build_open(x->b, e->name, e->name_len, e->v.type);
    for (mrs_walk_init(&w, mrs_val_view(e->v)); mrs_walk_next(&w, &el) == 1;) {
        if (strcmp(el.name, "$literal") == 0) {
            mrs_build_elem(x->b, &el);
        } else {
            copy(x, &el, false);
        }
    }
    mrs_build_close(x->b);
}

static void
copy(struct window_walk *x, const struct mrs_elem *e, bool top)
{
    struct mrs_elem op;
    struct mrs_val window;
    if (e->v.type == MRS_DOCUMENT && find_op(e->v, top, &op, &window)) {
        x->good = one_more(x, &op, e->v, window) && x->good;
        const char *var = x->good ? mrsi_read_text_of(x->r, "$$%s", x->s->op_var[x->s->n_op - 1]) : "";
        mrs_build_val(x->b, e->name, e->name_len,
                      mrs_make_text(x->r->args->arena, var ? var : "", var ? (uint32_t)strlen(var) : 0));
    } else if (e->v.type == MRS_DOCUMENT && is_misplaced(x, e->v)) {
        x->good = false;
    } else if (e->v.type == MRS_DOCUMENT || e->v.type == MRS_ARRAY) {
        copy_inside(x, e);
    } else {
        mrs_build_elem(x->b, e);
    }
}

/* The specification with variables, in the arena; missing: an error was reported. */
static struct mrs_val
take_out(struct mrsi_read *r, struct mrsi_window *s, const struct mrs_elem *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_val v = mrs_missing();
    struct window_walk x = {r, s, e->name, &b, true};
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &buf);
    copy(&x, e, true);
    struct mrs_err why;
    mrs_err_clear(&why);
    enum mrs_status st = mrs_build_finish(&b, &doc, &why);
    if (st != MRS_OK) {
        mrsi_read_failed(r, "fields", e->name, st, &why);
    } else if (x.good && !mrs_val_copy(r->args->arena, mrs_doc_get(doc, e->name), &v)) {
        r->status = mrs_err_memory(r->err, doc.n);
    }
    mrs_buf_clear(&buf);
    return v;
}

static void
read_field(struct mrsi_read *r, struct mrsi_window *s, const struct mrs_elem *e, struct mrs_path *path)
{
    struct window_field *f = &s->field[s->added.n];
    struct mrsi_slot one = {e->v, "fields", e->name, NULL};
    bool named = mrsi_read_path_text(r, "fields", e->name, e->name, path) && mrsi_read_not_id(r, one, path);
    f->first = s->n_op;
    one.v = take_out(r, s, e);
    f->end = s->n_op;
    if (one.v.type == MRS_MISSING || !named) {
        return;
    }
    if (f->first == f->end) {
        struct mrs_walk w;
        struct mrs_elem op;
        mrs_walk_init(&w, one.v.type == MRS_DOCUMENT ? mrs_val_view(one.v) : mrs_empty_doc());
        const char *meant = mrs_walk_next(&w, &op) == 1 ? mrsi_window_meant(op.name) : NULL;
        mrsi_read_error(r, "fields", e->name, "looks at no other document: %s%s%s",
                        meant ? "did you mean " : "use `set` for it", meant ? meant : "", meant ? "?" : "");
        return;
    }
    r->vars = s->op_var;
    r->n_vars = s->n_op;
    s->added.n += mrsi_read_expr(r, one, &f->x);
    r->vars = NULL;
    r->n_vars = 0;
}

void
mrsi_window_read_fields(struct mrsi_read *r, struct mrsi_window *s)
{
    struct mrsi_slot map = mrsi_slot(r, "fields");
    struct mrs_walk w;
    struct mrs_elem e;
    if (map.v.type != MRS_DOCUMENT) {
        return;
    }
    uint32_t n = mrs_val_count(map.v);
    struct mrs_path *path = mrsi_read_alloc(r, n + 1, sizeof *path);
    s->field = mrsi_read_alloc(r, n + 1, sizeof *s->field);
    if (!path || !s->field) {
        return;
    }
    s->added.path = path;
    s->added.flat = true;
    for (mrs_walk_init(&w, mrs_val_view(map.v)); r->status == MRS_OK && mrs_walk_next(&w, &e) == 1;) {
        struct mrs_path *p = &path[s->added.n];
        read_field(r, s, &e, p);
        s->added.flat = s->added.flat && p->n == 1;
    }
    if (!n) {
        mrsi_read_error(r, "fields", NULL, "names no field");
    }
    mrsi_read_edit(r, "fields", path, s->added.n, &s->added.edit);
}
