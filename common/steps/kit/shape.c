/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c - `fields` and `drop`: makes one document from another, as raw bytes.
 *
 * Nearly every plan keeps or omits a few top-level names. That is one walk with a memcpy for each run of fields that
 * stays, since it happens for every embedded document. Dotted names use the projection of common/doc; a map of
 * expressions becomes a new document, built directly if its names are plain, or by an edit of an empty document if they
 * are nested. A level with a duplicate name is refused if it must be rewritten. This file knows no step. */
#include "shape.h"
#include "mongoreshape/context.h"

/* ---- reading ---- */
static bool
flat(const struct mrs_path *path, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (path[i].n != 1) {
            return false;
        }
    }
    return true;
}

static bool
made(struct mrsi_read *r, enum mrsi_kind kind, void *p, enum mrs_status st, struct mrsi_slot s, const struct mrs_err *e)
{
    if (st != MRS_OK) {
        return mrsi_read_failed(r, s.key, s.sub, st, e);
    }
    if (!mrsi_level_add(r->keep, kind, p)) {
        r->status = mrs_err_memory(r->err, 0);
        return false;
    }
    return true;
}

static bool
projection(struct mrsi_read *r, struct mrsi_slot s, const struct mrs_path *path, uint32_t n, bool keep, bool without_id,
           struct mrs_projection **out)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status st = mrs_projection_new(r->args->mem, path, n, keep, without_id, out, &e);
    return made(r, MRSI_PROJECTION, *out, st, s, &e);
}

static bool
nested(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_shape *out)
{
    out->nested = mrsi_read_new_edit(r);
    bool good = out->nested != NULL;
    for (uint32_t i = 0; i < out->fields.n && good; i++) {
        good = mrsi_read_edit_path(r, out->nested, s.key, s.sub, &out->fields.path[i]);
    }
    return good;
}

bool
mrsi_shape_read(struct mrsi_read *r, struct mrsi_slot fields, struct mrsi_slot drop, struct mrsi_shape *out)
{
    out->fields_key = fields.key;
    out->drop_key = drop.key;
    bool good = mrsi_read_fields(r, fields, &out->fields) || !mrsi_slot_present(fields);
    good = (mrsi_read_paths(r, drop, &out->drop) || !mrsi_slot_present(drop)) && good;
    return good && mrsi_shape_ready(r, fields, drop, out);
}

bool
mrsi_shape_ready(struct mrsi_read *r, struct mrsi_slot fields, struct mrsi_slot drop, struct mrsi_shape *out)
{
    MRS_ASSERT(out);
    struct mrsi_fields *f = &out->fields;
    bool good = true;
    out->fields_flat = flat(f->path, f->n);
    out->drop_flat = flat(out->drop.path, out->drop.n);
    if (f->present && !out->fields_flat) {
        good = f->map ? nested(r, fields, out) : projection(r, fields, f->path, f->n, true, f->without_id, &out->keep);
    }
    if (out->drop.n && !out->drop_flat) {
        good = projection(r, drop, out->drop.path, out->drop.n, false, false, &out->leave) && good;
    }
    return good;
}

/* ---- plain names ---- */
bool
mrsi_name_set_good(const struct mrsi_name_set *s, struct mrs_ctx *c, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const uint32_t n = sizeof c->known / sizeof *c->known;
    for (uint32_t i = 0; i < n; i++) {
        if (c->known[i] == s->names) {
            return true;
        }
    }
    if (mrs_doc_has_duplicates(c->mem, d, true)) {
        return false;
    }
    c->known[c->next_known++ % n] = s->names;
    return true;
}

enum mrs_status
mrsi_name_set_check(const struct mrsi_name_set *s, struct mrs_ctx *c, struct mrs_view d)
{
    return mrsi_name_set_good(s, c, d) ? MRS_OK
                                   : mrsi_step_refuse(c, NULL, "duplicate field: a document that must be "
                                                               "rewritten holds a name twice");
}

enum mrs_status
mrsi_buf_failed(struct mrs_buf *b, size_t to, struct mrs_ctx *c, const char *where)
{
    MRS_ASSERT(to <= b->n || b->bad);
    MRS_ASSERT(mrs_buf_is_sound(b));
    enum mrs_status st = mrsi_step_skip(c, mrs_buf_status(b, c->err), where);
    b->n = to < b->n ? to : b->n;
    b->bad = 0;
    return st;
}

static bool
named(const struct mrs_path *path, uint32_t n, const struct mrs_elem *e)
{
    for (uint32_t i = 0; i < n; i++) {
        if (mrs_name_is(e, path[i].part[0].name, path[i].part[0].len)) {
            return true;
        }
    }
    return false;
}

struct picking {
    const struct mrs_path *path;
    uint32_t n;
    bool keep, id; /* keep the listed fields, or all others; `_id` counts as listed */
    bool gap;      /* a field was omitted */
    struct mrsi_name_set seen;
    const uint8_t *run; /* start of the fields to copy next; NULL: none */
    struct mrs_buf *out;
};

static inline bool
is_listed(const struct picking *x, const struct mrs_elem *e)
{
    return named(x->path, x->n, e) || (x->id && mrs_name_is(e, "_id", 3));
}

static inline void
pick_field(struct picking *x, const struct mrs_elem *e)
{
    MRS_ASSERT(e->name);
    mrsi_name_set_add(&x->seen, e);
    if (is_listed(x, e) == x->keep) {
        x->run = x->run ? x->run : e->p;
        return;
    }
    x->gap = true;
    if (x->run) {
        mrs_buf_put(x->out, x->run, (size_t)(e->p - x->run));
        x->run = NULL;
    }
}

/* The listed fields in documents with these names, known from an earlier document; NULL: unknown. */
static const struct mrs_listed *
find_listed(const struct mrs_ctx *c, const struct picking *x, const struct mrs_eval_fields *found)
{
    const uint32_t n = found && found->names && x->n ? sizeof c->listed / sizeof *c->listed : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (c->listed[i].names == found->names && c->listed[i].list == x->path) {
            return &c->listed[i];
        }
    }
    return NULL;
}

static void
keep_listed(struct mrs_ctx *c, const struct picking *x, const struct mrs_eval_fields *found)
{
    struct mrs_listed *l = &c->listed[c->next_listed++ % (sizeof c->listed / sizeof *c->listed)];
    *l = (struct mrs_listed){x->path, found->names, 0};
    for (uint32_t i = 0; i < found->n; i++) {
        l->fields |= is_listed(x, &found->e[i]) ? 1u << i : 0;
    }
}

static void
pick_known(const struct picking *x, const struct mrs_listed *l, const struct mrs_eval_fields *found, const uint8_t *end)
{
    uint32_t kept_bits = (x->keep ? l->fields : ~l->fields) & ((1u << found->n) - 1);
    while (kept_bits) {
        uint32_t from = (uint32_t)__builtin_ctz(kept_bits), n = (uint32_t)__builtin_ctz(~(kept_bits >> from));
        const uint8_t *p = found->e[from].p, *to = from + n < found->n ? found->e[from + n].p : end;
        mrs_buf_put(x->out, p, (size_t)(to - p));
        kept_bits &= ~0u << (from + n);
    }
}

static enum mrs_status
pick_all(struct mrs_ctx *c, struct picking *x, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_walk w;
    struct mrs_elem e;
    mrsi_name_set_begin(&x->seen);
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) == 1) {
        pick_field(x, &e);
    }
    if (x->run) {
        mrs_buf_put(x->out, x->run, (size_t)(w.end - x->run));
    }
    return x->gap ? mrsi_name_set_check(&x->seen, c, d) : MRS_OK;
}

/* Copies each run of fields that stay at once. */
static enum mrs_status
pick(struct mrs_ctx *c, struct picking x, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrs_eval_fields *found = mrsi_step_found(c, d);
    const struct mrs_listed *known = find_listed(c, &x, found);
    struct mrs_buf *out = x.out;
    size_t at = mrsi_put_open(out);
    enum mrs_status st = MRS_OK;
    if (known) {
        pick_known(&x, known, found, d.p + d.n - 1);
    } else {
        st = pick_all(c, &x, d);
    }
    if (!known && st == MRS_OK && found && found->names && x.n) {
        keep_listed(c, &x, found);
    }
    mrsi_put_close(out, at);
    if (st != MRS_OK) {
        out->n = at;
    }
    return st;
}

/* ---- maps ---- */
struct shape_made {
    const struct mrsi_shape *s;
    const struct mrsi_shaping *how;
    struct mrs_view doc;
};

static enum mrs_status
value(const struct shape_made *m, uint32_t i, struct mrs_val *v)
{
    MRS_ASSERT(i < m->s->fields.n);
    struct mrs_ctx *c = m->how->c;
    struct mrs_err local, *e = c->err;
    struct mrs_eval ev = mrsi_step_eval(c, m->doc);
    ev.vars = m->how->vars;
    if (m->how->errors != MRSI_ERRORS_REFUSE) {
        mrs_err_clear(&local);
        ev.err = &local;
    }
    enum mrs_status st = mrs_expr_eval(m->s->fields.expr[i], &ev, v);
    if (st == MRS_OK || st == MRS_DEAD || m->how->errors == MRSI_ERRORS_REFUSE) {
        if (st == MRS_DEAD) {
            mrs_err_memory(e, 0);
        } else if (st != MRS_OK && e && !e->where[0]) {
            mrs_err_at(e, "%s.%s", m->s->fields_key, m->s->fields.path[i].text);
        }
        return st == MRS_FAIL ? MRS_SKIP : st;
    }
    mrsi_step_eased(c, m->how->first + i);
    if (m->how->failed) {
        m->how->failed[i] = true;
    }
    *v = m->how->errors == MRSI_ERRORS_NULL ? mrs_null() : mrs_missing();
    return MRS_OK;
}

static enum mrs_status
put_nested(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
           struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_PUT;
    return value(arg, site->path_no, put);
}

static enum mrs_status
make(const struct shape_made *m, struct mrs_buf *out)
{
    size_t at = out->n;
    enum mrs_status st = MRS_OK;
    if (m->s->nested) {
        struct mrs_edit_run how = {.fn = put_nested, .arg = (void *)(uintptr_t)m, .visit_missing = true};
        bool changed;
        struct mrs_buf raw;
        mrs_buf_init(&raw, m->how->c->mem, MRS_DOC_READ_MAX);
        how.raw = &raw;
        st = mrs_edit_run(m->s->nested, &how, mrs_empty_doc(), out, &changed, m->how->c->err);
        mrs_buf_clear(&raw);
        return mrsi_step_skip(m->how->c, st, m->s->fields_key);
    }
    mrsi_put_open(out);
    for (uint32_t i = 0; i < m->s->fields.n; i++) {
        const struct mrs_part *name = &m->s->fields.path[i].part[0];
        struct mrs_val v = mrs_missing();
        st = value(m, i, &v);
        if (st != MRS_OK) {
            out->n = at;
            return st;
        }
        if (v.type != MRS_MISSING) {
            mrsi_put_elem(out, name->name, name->len, v);
        }
    }
    mrsi_put_close(out, at);
    return MRS_OK;
}

/* ---- running ---- */
static enum mrs_status
fields(const struct mrsi_shape *s, const struct mrsi_shaping *how, struct mrs_view d, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrsi_fields *f = &s->fields;
    if (f->map) {
        struct shape_made m = {s, how, d};
        return make(&m, out);
    }
    if (s->keep) {
        return mrsi_step_skip(how->c, mrs_projection_run(s->keep, d, out, how->c->err), s->fields_key);
    }
    struct picking x = {.path = f->path, .n = f->n, .keep = true, .id = !f->without_id, .out = out};
    return pick(how->c, x, d);
}

static enum mrs_status
drop(const struct mrsi_shape *s, const struct mrsi_shaping *how, struct mrs_view d, struct mrs_buf *out)
{
    if (s->leave) {
        return mrsi_step_skip(how->c, mrs_projection_run(s->leave, d, out, how->c->err), s->drop_key);
    }
    struct picking x = {.path = s->drop.path, .n = s->drop.n, .out = out};
    return pick(how->c, x, d);
}

enum mrs_status
mrsi_shape_run(const struct mrsi_shape *s, const struct mrsi_shaping *how, struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    size_t at = out->n;
    enum mrs_status st = MRS_OK;
    if (!s->drop.n) {
        if (s->fields.present) {
            st = fields(s, how, doc, out);
        } else {
            mrs_buf_put(out, doc.p, doc.n);
        }
    } else if (!s->fields.present) {
        st = drop(s, how, doc, out);
    } else {
        struct mrs_buf between;
        mrs_buf_init(&between, how->c->mem, 2u * MRS_DOC_READ_MAX);
        st = fields(s, how, doc, &between);
        MRS_THEN(st, mrsi_buf_end(&between, 0, how->c, s->fields_key));
        MRS_THEN(st, drop(s, how, mrsi_buf_view(&between, 0), out));
        mrs_buf_clear(&between);
    }
    MRS_THEN(st, mrsi_buf_end(out, at, how->c, s->fields_key));
    return st;
}

/* ---- arrays ---- */
void
mrsi_items_open(struct mrsi_shape_items *it, struct mrs_buf *buf)
{
    MRS_ASSERT(mrs_buf_is_sound(buf));
    it->buf = buf;
    it->start = mrsi_put_open(buf);
    it->name[0] = '0';
    it->name[1] = 0;
    it->name_len = 1;
}

void
mrsi_items_close(struct mrsi_shape_items *it)
{
    MRS_ASSERT(it->start < it->buf->n || it->buf->bad);
    mrsi_put_close(it->buf, it->start);
}

void
mrsi_items_carry(struct mrsi_shape_items *it)
{
    uint32_t i = it->name_len;
    while (i && it->name[i - 1] == '9') {
        it->name[--i] = '0';
    }
    if (i) {
        it->name[i - 1]++;
        return;
    }
    it->name[0] = '1'; /* all nines: one digit more, the others are 0 already */
    it->name[it->name_len++] = '0';
    it->name[it->name_len] = 0;
}

/* ---- for indexes ---- */
/* The rest of path after name with its dot, "" if equal, else NULL. */
static const char *
inside(const char *path, const char *name)
{
    size_t n = strlen(name);
    return strncmp(path, name, n) == 0 && (path[n] == 0 || path[n] == '.') ? path + n : NULL;
}

bool
mrsi_shape_drops(const struct mrsi_shape *s, const struct mrs_path *p)
{
    MRS_ASSERT(p->n > 0);
    bool yes = false;
    for (uint32_t i = 0; s->fields.map && i < s->drop.n; i++) {
        yes = yes || mrs_path_relation(&s->drop.path[i], p) != 0;
    }
    return yes;
}

static const char *
renamed(const struct mrsi_fields *f, struct mrs_arena *a, const char *path)
{
    for (uint32_t i = 0; i < f->n; i++) {
        const char *bare = mrs_expr_bare_path(f->expr[i]);
        const char *rest = bare ? inside(path, bare) : NULL;
        if (rest) {
            size_t n = strlen(f->path[i].text), m = strlen(rest);
            char *text = mrs_arena_alloc(a, n + m + 1);
            if (text) {
                memcpy(text, f->path[i].text, n);
                memcpy(text + n, rest, m + 1);
            }
            return text;
        }
    }
    return NULL;
}

const char *
mrsi_shape_path(const struct mrsi_shape *s, struct mrs_arena *a, const char *path)
{
    MRS_ASSERT(path);
    const struct mrsi_fields *f = &s->fields;
    if (f->present && f->map) {
        path = renamed(f, a, path);
    } else if (f->present) {
        bool found = !f->without_id && inside(path, "_id");
        for (uint32_t i = 0; i < f->n && !found; i++) {
            found = inside(path, f->path[i].text) != NULL;
        }
        path = found ? path : NULL;
    }
    for (uint32_t i = 0; path && i < s->drop.n; i++) {
        if (inside(path, s->drop.path[i].text) || inside(s->drop.path[i].text, path)) {
            path = NULL;
        }
    }
    return path;
}
