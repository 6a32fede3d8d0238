/* SPDX-License-Identifier: Apache-2.0 */
/* bucket_plain.c - fast path for plain plans: series and time are top-level fields, the item is the document without
 * some of them. One walk over the document finds and copies all of it; the result equals that of the general code.
 * Types and names of an item belong to the shared record, so that many readings share them; the payload has only the
 * values.
 *
 * Nearly all documents of a collection have the same names in the same order, with some left out. The names of one
 * document without duplicates are kept; the next documents are only compared with them, each name with the expected
 * one, and not at all if the field finder reports the same names as before. Their presence and types then determine the
 * shared record. A document with other names is walked field by field, and replaces the known names. */
#include "bucket.h"
#include "mongoreshape/fold_ops.h"

/* ---- the plan ---- */
/* Index of a name in the list, to which it is added if missing; BUCKET_TEMPLATES: the list is full. */
static uint32_t
add_field(struct mrsi_bucket *s, const char *name, size_t len)
{
    uint32_t i = 0;
    while (i < s->n_template && (s->tpl[i].len != len || memcmp(s->tpl[i].name, name, len) != 0)) {
        i++;
    }
    if (i == s->n_template && i < BUCKET_TEMPLATES) {
        s->tpl[s->n_template++] = (struct bucket_template){name, (uint32_t)len, false};
    }
    return i;
}

static bool
add_value(struct mrsi_bucket *s, const struct mrs_expr *x, uint32_t *value)
{
    const char *bare = mrs_expr_bare_path(x);
    *value = bare && *bare && !strchr(bare, '.') ? add_field(s, bare, strlen(bare)) : BUCKET_TEMPLATES;
    return *value < BUCKET_TEMPLATES;
}

/* The fields that the item omits; false: not simple enough for the fast path. */
static bool
add_omitted(struct mrsi_bucket *s)
{
    bool less = s->omitted.n && !s->shape.fields.present, good = !s->shape.fields.present;
    const struct mrsi_paths *drop = less ? &s->rest.drop : &s->shape.drop;
    good = good && !(less && s->less) && !(less && s->shape.drop.n && !s->both) && (less || s->shape.drop_flat);
    for (uint32_t i = 0; good && i < drop->n; i++) {
        uint32_t at = add_field(s, drop->path[i].part[0].name, drop->path[i].part[0].len);
        good = at < BUCKET_TEMPLATES;
        if (good) {
            s->tpl[at].omitted = true;
        }
    }
    return good;
}

void
mrsi_bucket_plan_plain(struct mrsi_read *r, struct mrsi_bucket *s)
{
    const struct mrsi_fields *by = &s->by.fields;
    bool good = !s->by.nested;
    s->tpl = mrsi_read_alloc(r, BUCKET_TEMPLATES, sizeof *s->tpl);
    s->value = mrsi_read_alloc(r, by->n + 1u, sizeof *s->value);
    if (!s->tpl || !s->value) {
        return;
    }
    for (uint32_t i = 0; good && i < by->n; i++) {
        good = add_value(s, by->expr[i], &s->value[i]);
    }
    s->value[by->n] = BUCKET_TEMPLATES + 1; /* always missing */
    good = good && (!s->time || add_value(s, s->time, &s->value[by->n]));
    s->plain = good && add_omitted(s);
}

/* ---- documents with known names ---- */
static inline bool
same_name(const struct bucket_field *f, const struct mrs_elem *e, const uint8_t *end)
{
    const uint8_t *p = (const uint8_t *)e->name;
    if (f->size != e->name_len + 1) {
        return false;
    }
    if (end - p < 8) {
        return memcmp(p, f->name, f->size) == 0;
    }
    return (mrs_le64(p) & f->mask) == f->first && (f->size <= 8 || memcmp(p + 8, f->name + 8, f->size - 8) == 0);
}

/* False: another name or another order. name and values have room. */
static bool
take_known(struct bucket_plain *x, const struct mrs_eval *ev, struct mrs_buf *name, struct mrs_buf *values)
{
    MRS_ASSERT(x->known.n_values <= BUCKET_LAYOUT && x->known.n_by <= BUCKET_TEMPLATES);
    const struct bucket_field *f = x->field, *last = f + x->n;
    const uint8_t *end = ev->root.p + ev->root.n;
    uint8_t *to_name = name->p + name->n + 8, *to_value = values->p + values->n;
    bool compared = x->same && x->same == ev->fields->names;
    x->same = compared ? x->same : 0;
    for (uint32_t i = 0; i < ev->fields->n; i++, f++) {
        const struct mrs_elem *e = &ev->fields->e[i];
        f = compared ? x->field + x->at[i] : f;
        while (!compared && f < last && !same_name(f, e, end)) {
            f++;
        }
        if (f == last) {
            return false;
        }
        x->at[i] = (uint8_t)(f - x->field);
        x->v[f->tpl] = e->v;
        if (!f->omitted) {
            *to_name++ = (uint8_t)(f - x->field + 1);
            *to_name++ = e->v.type;
            mrs_copy_short(to_value, e->v.p, e->v.n);
            to_value += e->v.n;
        }
    }
    *to_name++ = 0; /* end of the list */
    mrs_put64(name->p + name->n, x->learned);
    name->n = (size_t)(to_name - name->p);
    x->same = ev->fields->names;
    values->n = (size_t)(to_value - values->p);
    return true;
}

/* ---- documents with other names ---- */
static uint32_t
index_of(const struct mrsi_bucket *s, const struct mrs_elem *e)
{
    uint32_t i = 0;
    while (i < s->n_template && !mrs_name_is(e, s->tpl[i].name, s->tpl[i].len)) {
        i++;
    }
    return i;
}

static void
learn(const struct mrsi_bucket *s, struct bucket_plain *x, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_walk w;
    struct mrs_elem e;
    size_t at = 0;
    x->n = 0;
    x->same = 0;
    x->learned++;
    mrs_buf_reset(&x->names);
    for (mrs_walk_init(&w, doc); x->n < BUCKET_LAYOUT && mrs_walk_next(&w, &e) == 1; x->n++) {
        struct bucket_field *f = &x->field[x->n];
        *f = (struct bucket_field){.size = e.name_len + 1, .tpl = index_of(s, &e)};
        f->omitted = f->tpl < s->n_template && s->tpl[f->tpl].omitted;
        f->mask = f->size < 8 ? (1ull << 8 * f->size) - 1 : ~0ull;
        mrs_buf_put(&x->names, e.name, f->size);
        mrs_buf_put(&x->names, "\0\0\0\0\0\0\0", 8);
    }
    x->n = x->names.bad || w.at < w.end ? 0 : x->n; /* too many fields */
    for (uint32_t i = 0; i < x->n; i++) {
        x->field[i].name = x->names.p + at;
        x->field[i].first = mrs_le64(x->names.p + at) & x->field[i].mask;
        at += x->field[i].size + 8u;
    }
    x->names.bad = 0;
}

/* Each header after its length; before all, their number and total size. */
static void
walk_heads(const struct mrsi_bucket *s, struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_walk w;
    struct mrs_elem e;
    uint8_t size[4];
    size_t at = out->n;
    uint32_t n = 0;
    mrs_buf_put(out, "\0\0\0\0\0\0\0", 8);
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &e) == 1;) {
        uint32_t tpl = index_of(s, &e);
        if (tpl == s->n_template || !s->tpl[tpl].omitted) {
            mrs_put32(size, e.name_len + 2);
            mrs_buf_put(out, size, sizeof size);
            mrs_buf_put(out, e.p, e.name_len + 2u);
            n++;
        }
    }
    if (!out->bad) {
        mrs_put32(out->p + at, n);
        mrs_put32(out->p + at + 4, (uint32_t)(out->n - at - 8));
    }
}

static void
take_strange(const struct mrsi_bucket *s, struct bucket_plain *x, struct mrs_view doc, struct mrs_buf *name,
             struct mrs_buf *values)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_walk w;
    struct mrs_elem e;
    mrsi_name_set_begin(&x->seen);
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &e) == 1;) {
        uint32_t tpl = index_of(s, &e);
        mrsi_name_set_add(&x->seen, &e);
        if (x->v[tpl].type == MRS_MISSING) { /* the first field of this name */
            x->v[tpl] = e.v;
        }
        if (tpl < s->n_template && s->tpl[tpl].omitted) {
            x->gap = true;
            continue;
        }
        mrs_buf_put(values, e.v.p, e.v.n);
    }
    mrs_buf_put(name, "\0\0\0\0\0\0\0", 8); /* nothing is known yet if a number is 0 */
    walk_heads(s, doc, name);
    /* not every time, in case two kinds of documents alternate */
    if (x->misses++ % 8 == 0 && !mrs_doc_has_duplicates(name->mem, doc, true)) {
        learn(s, x, doc);
    }
}

static void
forget_values(const struct mrsi_bucket *s, struct bucket_plain *x)
{
    for (uint32_t i = 0; i < s->n_template; i++) {
        x->v[i] = mrs_missing();
    }
    x->gap = false;
}

/* ---- documents of a known template ---- */
/* values has room. */
static inline void
take_values(const struct bucket_known *k, const uint8_t *doc, struct mrs_buf *values)
{
    uint8_t *to = values->p + values->n;
    for (uint32_t i = 0; i < k->n_values; i++) {
        mrs_copy_value(to, doc + k->value[i].at, k->value[i].n);
        to += k->value[i].n;
    }
    values->n += k->value_bytes;
}

/* The key of a shared record without the window. It has the number of the template where other keys have `learned`,
 * which never becomes as large. */
static inline uint8_t *
put_series(const struct bucket_known *k, const uint8_t *doc, uint8_t *to)
{
    mrs_put64(to, k->tpl | 1ull << 63);
    to += 8;
    for (uint32_t i = 0; i < k->n_by; i++) {
        mrs_copy_short(to, doc + k->by[i].at, k->by[i].n);
        to += k->by[i].n;
    }
    return to;
}

bool
mrsi_bucket_enter_fast(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_fold_fast *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_bucket *s = state;
    struct bucket_work *w = work;
    const struct mrs_template *tpl = mrsi_step_template(c, doc);
    const struct bucket_known *k = &w->plain.known;
    if (!tpl || tpl->no != k->tpl || !k->dated) {
        return false;
    }
    const int64_t ms = (int64_t)mrs_le64(doc.p + k->found[s->value[s->by.fields.n]].at);
    const size_t name = 8u + k->by_bytes + sizeof w->from;
    bool takes = true;
    mrs_buf_grow(out->shared, name);
    if (ms < w->from || ms >= w->to || out->shared->bad ||
        (s->where && (mrsi_step_where(s->where, c, doc, &takes) != MRS_OK || !takes))) {
        return false;
    }
    memcpy(put_series(k, doc.p, out->shared->p), &w->from, sizeof w->from);
    out->shared->n = name;
    out->date = ms;
    out->date_at = k->date_at;
    out->payload = k->value;
    out->n_spans = k->n_values;
    out->payload_bytes = k->value_bytes;
    w->start = w->from;
    return true;
}

static inline void
read_known(const struct mrsi_bucket *s, struct bucket_plain *x, const uint8_t *doc, struct mrs_buf *name,
           struct mrs_buf *values)
{
    const struct bucket_known *k = &x->known;
    for (uint32_t i = 0; i < s->n_template; i++) {
        x->v[i] = (struct mrs_val){doc + k->found[i].at, k->found[i].n, k->found[i].type};
    }
    take_values(k, doc, values);
    name->n = (size_t)(put_series(k, doc, name->p + name->n) - name->p);
    x->named = true;
    x->gap = false;
}

static struct bucket_span
span_of(struct mrs_val v, const uint8_t *doc)
{
    return v.type == MRS_MISSING ? (struct bucket_span){0, 0, MRS_MISSING}
                                 : (struct bucket_span){(uint16_t)(v.p - doc), (uint16_t)v.n, v.type};
}

/* The bytes of a string without length and terminator, which are equal within one template. */
static struct bucket_span
free_bytes(struct bucket_span v)
{
    return v.type == MRS_STRING ? (struct bucket_span){(uint16_t)(v.at + 4), (uint16_t)(v.n - 5), v.type} : v;
}

static bool
names_series(const struct mrsi_bucket *s, uint32_t tpl)
{
    uint32_t i = 0;
    while (i < s->by.fields.n && s->value[i] != tpl) {
        i++;
    }
    return i < s->by.fields.n;
}

/* Records the offsets of the fields that were just read from a document of this template. */
static void
learn_template(const struct mrsi_bucket *s, struct bucket_plain *x, const struct mrs_eval *ev)
{
    MRS_ASSERT(x->n <= BUCKET_LAYOUT);
    struct bucket_known *k = &x->known;
    const uint8_t *doc = ev->root.p;
    k->tpl = ev->fields->tpl->no;
    mrs_buf_reset(&k->heads);
    const uint32_t time = s->value[s->by.fields.n];
    k->n_values = k->n_by = k->by_bytes = k->value_bytes = 0;
    k->date_at = MRS_FOLD_ELSEWHERE;
    for (uint32_t i = 0; i < s->n_template; i++) {
        k->found[i] = span_of(x->v[i], doc);
    }
    for (uint32_t i = 0; i < ev->fields->n; i++) {
        if (!x->field[x->at[i]].omitted) {
            struct bucket_span v = span_of(ev->fields->e[i].v, doc);
            k->date_at = x->field[x->at[i]].tpl == time ? k->value_bytes : k->date_at;
            k->value[k->n_values++] = (struct mrs_fold_span){v.at, v.n};
            k->value_bytes += ev->fields->e[i].v.n;
        }
    }
    for (uint32_t i = 0; i < s->n_template; i++) {
        if (names_series(s, i)) {
            k->by[k->n_by] = free_bytes(k->found[i]);
            k->by_bytes += k->by[k->n_by++].n;
        }
    }
    k->dated = s->every && s->time && k->found[time].type == MRS_DATE && !s->tail && !s->by.nested;
}

void
mrsi_bucket_plain(const struct mrsi_bucket *s, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_eval_fields *room,
                  struct bucket_plain *x, struct mrs_buf *name, struct mrs_buf *values)
{
    MRS_ASSERT(mrs_buf_is_sound(name) && mrs_buf_is_sound(values));
    struct mrs_view doc = ev->root;
    const struct mrs_template *tpl = mrsi_step_template(c, doc);
    x->v[BUCKET_TEMPLATES + 1] = mrs_missing();
    x->named = false;
    mrs_buf_grow(name, 8 + 2 * BUCKET_LAYOUT + 1 + MRS_TEMPLATE_MAX);
    mrs_buf_grow(values, doc.n);
    if (name->bad || values->bad) {
        return;
    }
    if (tpl && tpl->no == x->known.tpl) {
        read_known(s, x, doc.p, name, values);
        return;
    }
    mrsi_step_fields(c, ev, room);
    forget_values(s, x);
    if (!x->n || !ev->fields->all || !take_known(x, ev, name, values)) {
        forget_values(s, x);
        take_strange(s, x, doc, name, values);
    } else if (tpl) {
        learn_template(s, x, ev);
    }
}

void
mrsi_bucket_put_heads(const struct mrsi_bucket *s, const struct mrs_ctx *c, struct bucket_plain *x,
                      struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(out));
    const struct mrs_template *tpl = mrsi_step_template(c, doc);
    struct mrs_buf *heads = &x->known.heads;
    if (!tpl || tpl->no != x->known.tpl) {
        walk_heads(s, doc, out);
        return;
    }
    if (!heads->n) {
        walk_heads(s, doc, heads);
    }
    mrs_buf_put(out, heads->p, heads->n);
    if (heads->bad) {
        out->bad = heads->bad;
        mrs_buf_reset(heads);
    }
}

/* ---- rebuild items ---- */
static inline int64_t
size_of(uint8_t type, const uint8_t *p, const uint8_t *end)
{
    uint8_t fixed = mrs_fixed_size[type];
    return fixed != 0x80 ? fixed : mrs_value_size_quick(type, p, (uint64_t)(end - p));
}

static void
add_place(struct bucket_item_template *m, struct bucket_place place, uint32_t size)
{
    if (size == 8) {
        m->eight[m->n_eight++] = place;
    } else {
        m->size_of_other[m->n_other] = (uint8_t)size;
        m->other[m->n_other++] = place;
    }
}

/* Builds the template of the item with empty values; false: values of variable size, or too large. */
static bool
payload_template(const struct bucket_shared *shared, struct bucket_item_template *m)
{
    MRS_ASSERT(m->n_eight <= BUCKET_LAYOUT && m->n_other <= BUCKET_LAYOUT);
    const uint8_t *p = shared->heads.p, *end = p + shared->heads.n;
    uint32_t at = 4, from = 0;
    for (m->n_eight = m->n_other = 0; p < end;) {
        uint32_t head = mrs_le32(p), n = mrs_fixed_size[p[4]];
        if (m->n_eight + m->n_other == BUCKET_LAYOUT || n == 0x80 || at + head + n >= MRS_TEMPLATE_MAX) {
            return false;
        }
        memcpy(m->bytes + at, p + 4, head);
        add_place(m, (struct bucket_place){(uint16_t)(at + head), (uint16_t)from}, n);
        at += head + n;
        from += n;
        p += 4 + head;
    }
    m->bytes[at] = 0;
    m->size = at + 1;
    mrs_put32(m->bytes, m->size);
    return true;
}

void
mrsi_bucket_make_item_template(const struct bucket_shared *shared, struct bucket_item_template *m)
{
    struct mrs_buf *of = &m->heads;
    if (of->n == shared->heads.n && (!of->n || memcmp(of->p, shared->heads.p, of->n) == 0)) {
        return;
    }
    mrs_buf_reset(of);
    mrs_buf_put(of, shared->heads.p, shared->heads.n);
    m->size = 0;
    if (of->bad || !payload_template(shared, m)) {
        m->size = 0;
    }
}

/* Appends each value after its header. */
static void
put_values(const struct bucket_reading *r, uint8_t *to)
{
    MRS_ASSERT(r->packed && to);
    const uint8_t *p = r->shared->heads.p, *end = p + r->shared->heads.n, *v = r->item.p, *last = v + r->item.n;
    mrs_put32(to, r->item_size);
    to += 4;
    while (p < end) {
        uint32_t head = mrs_le32(p), n = (uint32_t)size_of(p[4], v, last);
        mrs_copy_short(to, p + 4, head);
        mrs_copy_short(to + head, v, n);
        to += head + n;
        v += n;
        p += 4 + head;
    }
    *to = 0;
}

void
mrsi_bucket_put_item(const struct bucket_reading *r, const struct bucket_item_template *m, uint8_t *to)
{
    MRS_ASSERT(to);
    if (!r->packed) {
        memcpy(to, r->item.p, r->item.n);
    } else if (!m->size) {
        put_values(r, to);
    } else {
        mrsi_bucket_fill_item_template(m, r->item.p, to);
    }
}
