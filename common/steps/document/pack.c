/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - the step `pack`: turns fields of one kind into an array of key and value (attribute pattern), or into a
 * document.
 *
 * The fields leave the top level, and an array of {key: name, value: value} is appended, in document order; it is empty
 * if the document has none of the fields. In the form of a document, a field keeps its name less `strip`, and none is
 * added for nothing. A field may be given by a prefix. Which names match is known only when a document is read, so
 * `_id` and `as` itself never match, and the step requires that writers are stopped. Indexes on the fields are dropped,
 * and one on key and value is added; in a document they follow. */
#include "steps/kit/invert.h"
#include "packed.h"
#include "steps/kit/shape.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/context.h"
#include <stdio.h>

struct field {
    const char *name;
    uint32_t len;
    bool begins; /* a prefix of names */
    uint64_t matched; /* its bit in mrs_ctx.matched */
};
struct pack {
    struct mrsi_packed packed;
    struct mrsi_paths fields; /* as in the plan */
    struct field *field;      /* one for each path */
    uint32_t patterns;
    const char *strip;
    uint32_t strip_len;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"fields", MRS_ARG_PATHS, true, NULL, "top-level names; release_* is every name that begins so"},
    {"as", MRS_ARG_PATH, true, NULL, "where the fields go: an array of {key, value}, or a document"},
    {"strip", MRS_ARG_TEXT, false, NULL, "prefix to remove from the names"},
    MRSI_PACKED_KEYS,
    {"replace", MRS_ARG_BOOL, false, NULL, "whether `as` may exist already (false)"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

/* ---- compile ---- */
/* One entry of the list: a text that ends in `*` is a prefix; a list is a literal name. */
static void
read_field(struct mrsi_read *r, struct pack *s, const struct mrs_elem *e, const struct mrs_path *p, struct field *out)
{
    *out = (struct field){p->part[0].name, p->part[0].len, false, 0};
    const char *star = e->v.type == MRS_STRING ? strchr(out->name, '*') : NULL;
    if (p->n != 1) {
        mrsi_read_error(r, "fields", e->name, "`%s` is no top-level field; only those can be packed", p->text);
    } else if (star && star[1]) {
        mrsi_read_error(r, "fields", e->name, "`%s`: `*` is allowed only at the end of a name; a field with a star in "
                                              "its name is written [\"%s\"]", p->text, p->text);
    } else if (star) {
        out->begins = true;
        out->matched = s->patterns < MRS_PATTERNS ? 1ull << s->patterns : 0;
        s->patterns++;
        out->len--;
    } else if (s->packed.as.n && strcmp(out->name, s->packed.as.part[0].name) == 0) {
        mrsi_read_error(r, "fields", e->name, "`%s` is where the %s goes (`as`)", out->name,
                        mrsi_packed_form(&s->packed));
    } else {
        mrsi_read_not_id(r, (struct mrsi_slot){e->v, "fields", e->name, NULL}, p);
    }
}

static void
read_fields(struct mrsi_read *r, struct pack *s)
{
    struct mrsi_slot slot = mrsi_slot(r, "fields");
    struct mrs_walk w;
    struct mrs_elem e;
    r->patterns = true;
    bool named = mrsi_read_paths(r, slot, &s->fields);
    r->patterns = false;
    if (!named) {
        return;
    }
    if (s->fields.n == 0) {
        mrsi_read_error(r, "fields", NULL, "names no field");
    }
    s->field = mrsi_read_alloc(r, s->fields.n, sizeof *s->field);
    mrs_walk_init(&w, mrs_val_view(slot.v));
    for (uint32_t i = 0; i < s->fields.n && s->field && mrs_walk_next(&w, &e) == 1; i++) {
        read_field(r, s, &e, &s->fields.path[i], &s->field[i]);
    }
}

/* The name less `strip`, and its length. */
static const char *
stripped(const struct pack *s, const char *name, uint32_t *n)
{
    bool begins = *n >= s->strip_len && memcmp(name, s->strip, s->strip_len) == 0;
    *n -= begins ? s->strip_len : 0;
    return begins ? name + s->strip_len : name;
}

/* Where an index path through a field that a pattern matches is in the document. */
static const char *
into_document(const void *arg, struct mrs_arena *a, const char *path, bool *dead)
{
    const struct pack *s = arg;
    uint32_t n = (uint32_t)strcspn(path, ".");
    const char *top = s->packed.as.part[0].name, *name = NULL;
    bool kept = (n == 3 && memcmp(path, "_id", 3) == 0) || (strlen(top) == n && memcmp(path, top, n) == 0);
    for (uint32_t i = 0; i < s->fields.n && !kept && !name; i++) {
        const struct field *f = &s->field[i];
        name = f->begins && n >= f->len && memcmp(path, f->name, f->len) == 0 ? stripped(s, path, &n) : NULL;
    }
    if (!name || !n) {
        return name ? NULL : path;
    }
    path = mrsi_path_below(a, s->packed.as.text, name);
    *dead = *dead || !path;
    return path;
}

/* `as` keeps its own indexes even if a pattern matches its name. */
static void
plan_indexes(struct mrsi_read *r, struct pack *s)
{
    struct mrsi_map *m = &s->packed.map;
    struct mrsi_move *mv = mrsi_read_alloc(r, s->fields.n + 1, sizeof *mv);
    const char **begins = mrsi_read_alloc(r, s->fields.n, sizeof *begins);
    bool follow = s->packed.form == MRSI_AS_DOCUMENT && mrsi_index_plain(&s->packed.as);
    if (!mv || !begins) {
        return;
    }
    const char *top = s->packed.as.part[0].name;
    mv[m->moves.n++] = (struct mrsi_move){top, top};
    for (uint32_t i = 0; i < s->fields.n; i++) {
        const struct field *f = &s->field[i];
        uint32_t n = f->len;
        const char *to = stripped(s, f->name, &n);
        if (f->begins && !follow) {
            begins[m->moves.n_begins++] = mrsi_read_text_of(r, "%.*s", (int)f->len, f->name);
        } else if (!f->begins && mrsi_index_plain(&s->fields.path[i])) {
            to = follow && n ? mrsi_read_text_of(r, "%s.%s", s->packed.as.text, to) : NULL;
            mv[m->moves.n++] = (struct mrsi_move){f->name, to};
        }
    }
    m->moves.begins = begins;
    m->moves.move = mv;
    m->moves.through = follow && s->patterns ? into_document : NULL;
    m->moves.patterns = s;
}

static enum mrs_status edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d,
                                     struct mrs_buf *out, bool *changed);

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct pack *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->packed.map.edit = edit_document;
    s->packed.map.place = "as";
    s->strip = "";
    mrsi_packed_read(&r, &s->packed);
    mrsi_read_text(&r, mrsi_slot(&r, "strip"), &s->strip);
    s->strip_len = (uint32_t)strlen(s->strip);
    read_fields(&r, s);
    if (mrsi_read_good(&r)) {
        plan_indexes(&r, s);
    }
    mrsi_packed_edit(&r, &s->packed, &s->packed.as);
    return mrsi_read_end(&r, state);
}

/* ---- documents ---- */
struct pack_packing {
    const struct pack *s;
    struct mrs_ctx *c;
    struct mrs_buf *buf;           /* for what goes to `as` */
    struct mrsi_shape_items items; /* an array */
    struct mrsi_name_set keys;     /* of a document */
    struct mrs_val made;           /* the array or document */
    bool any, nameless, placed;
    size_t place; /* offset that replaces the existing `as`; 0: append */
};

static bool
is_as(const struct pack *s, const struct mrs_elem *e)
{
    return mrs_name_is(e, s->packed.as.part[0].name, s->packed.as.part[0].len);
}

static bool
is_packed(const struct pack_packing *x, const struct mrs_elem *e)
{
    MRS_ASSERT(e->name);
    const struct pack *s = x->s;
    bool packed = false;
    for (uint32_t i = 0; i < s->fields.n; i++) {
        const struct field *f = &s->field[i];
        bool fits = !f->begins ? !packed && mrs_name_is(e, f->name, f->len)
                               : e->name_len >= f->len && memcmp(e->name, f->name, f->len) == 0 &&
                                     !is_as(s, e) && !mrs_name_is(e, "_id", 3);
        x->c->matched |= fits ? f->matched : 0;
        if (fits && f->matched && x->c->reached) {
            x->c->reached->field(x->c->reached, (uint32_t)__builtin_ctzll(f->matched), e->name, e->name_len);
        }
        packed = packed || fits;
    }
    return packed;
}

static void
open_packed(struct pack_packing *x, struct mrs_buf *buf)
{
    x->buf = buf;
    mrs_buf_reset(buf);
    mrsi_name_set_begin(&x->keys);
    if (x->s->packed.form == MRSI_AS_DOCUMENT) {
        mrsi_put_open(buf);
    } else {
        mrsi_items_open(&x->items, buf);
    }
}

static enum mrs_status
close_packed(struct pack_packing *x)
{
    bool document = x->s->packed.form == MRSI_AS_DOCUMENT;
    if (document) {
        mrsi_put_close(x->buf, 0);
    } else {
        mrsi_items_close(&x->items);
    }
    enum mrs_status st = mrs_buf_status(x->buf, x->c->err);
    if (st == MRS_OK) {
        x->made = document ? (struct mrs_val){x->buf->p, (uint32_t)x->buf->n, MRS_DOCUMENT} : mrsi_items_val(&x->items);
    }
    return st;
}

static void
put_item(struct pack_packing *x, const struct mrs_elem *e)
{
    MRS_ASSERT(e->name);
    const struct pack *s = x->s;
    struct mrs_buf *b = x->buf;
    struct mrs_elem key = {.name_len = e->name_len};
    key.name = stripped(s, e->name, &key.name_len);
    x->any = true;
    if (s->packed.form == MRSI_AS_DOCUMENT) {
        x->nameless = x->nameless || key.name_len == 0;
        mrsi_name_set_add(&x->keys, &key);
        mrsi_put_elem(b, key.name, key.name_len, e->v);
        return;
    }
    mrsi_put_head(b, MRS_DOCUMENT, x->items.name, x->items.name_len);
    size_t at = mrsi_put_open(b);
    mrsi_put_text(b, s->packed.key, s->packed.key_len, key.name, key.name_len);
    mrsi_put_elem(b, s->packed.value, s->packed.value_len, e->v);
    mrsi_put_close(b, at);
    mrsi_items_step(&x->items);
}

/* Appends the document without the fields to rest, and the fields to what goes to `as`. */
static enum mrs_status
take_out(struct pack_packing *x, struct mrs_view d, struct mrs_buf *rest, struct mrsi_name_set *names)
{
    MRS_ASSERT(rest != x->buf);
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct pack *s = x->s;
    struct mrs_walk w;
    struct mrs_elem e;
    const uint8_t *run = d.p + 4;
    size_t at = mrsi_put_open(rest);
    mrsi_name_set_begin(names);
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        bool there = !s->packed.edit && !x->place && is_as(s, &e);
        mrsi_name_set_add(names, &e);
        if (!there && !is_packed(x, &e)) {
            continue;
        }
        mrs_buf_put(rest, run, (size_t)(e.p - run));
        run = w.at;
        if (there) {
            x->place = rest->n;
        } else {
            put_item(x, &e);
        }
    }
    mrs_buf_put(rest, run, (size_t)(w.end - run));
    mrsi_put_close(rest, at);
    enum mrs_status st = mrs_buf_status(rest, x->c->err);
    MRS_THEN(st, close_packed(x));
    return st;
}

/* Refuses names that a document cannot have, and an `as` that exists. */
static enum mrs_status
check_packed(struct pack_packing *x)
{
    const struct mrsi_packed *p = &x->s->packed;
    if (x->nameless) {
        return mrsi_step_refuse(x->c, "fields", "the field `%s` would have no name", x->s->strip);
    }
    if (p->form == MRSI_AS_DOCUMENT && !mrsi_name_set_good(&x->keys, x->c, mrs_val_view(x->made))) {
        return mrsi_packed_twice(x->c, "fields", mrs_val_view(x->made));
    }
    return x->place && !p->replace ? mrsi_step_refuse(x->c, "as", "%s exists already", p->as.text) : MRS_OK;
}

/* Inserts into the document that begins at `at`, whose last byte is its terminator. */
static enum mrs_status
put_at_top(struct pack_packing *x, struct mrs_buf *out, size_t at)
{
    MRS_ASSERT(at <= out->n);
    const struct mrs_part *as = &x->s->packed.as.part[0];
    size_t n = 2 + (size_t)as->len + x->made.n, place = x->place ? x->place : out->n - 1;
    if (!mrs_buf_take(out, n)) {
        return mrs_buf_status(out, x->c->err);
    }
    uint8_t *p = out->p + place;
    memmove(p + n, p, out->n - n - place);
    *p++ = x->made.type;
    memcpy(p, as->name, (size_t)as->len + 1);
    memcpy(p + as->len + 1, x->made.p, x->made.n);
    mrs_put32(out->p + at, (uint32_t)(out->n - at));
    return MRS_OK;
}

static enum mrs_status
put_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
         struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct pack_packing *x = arg;
    const char *as = x->s->packed.as.text;
    (void)raw;
    (void)e;
    if (site->blocked) {
        return mrsi_step_blocked(x->c, "as", site, as);
    }
    if (site->old.type != MRS_MISSING && !x->s->packed.replace) {
        return mrsi_step_refuse(x->c, "as", "%s exists already", as);
    }
    x->placed = true;
    *verdict = !x->any && site->old.type != MRS_MISSING ? MRS_EDIT_KEEP : MRS_EDIT_PUT;
    *put = x->made;
    return MRS_OK;
}

static enum mrs_status
put_below(struct pack_packing *x, struct mrs_view rest, struct mrs_buf *out)
{
    struct mrs_edit_run how = {.fn = put_site, .arg = x, .visit_missing = true};
    bool changed;
    enum mrs_status st = mrs_edit_run(x->s->packed.edit, &how, rest, out, &changed, x->c->err);
    if (st == MRS_OK && !x->placed) {
        return mrsi_step_refuse(x->c, "as", "%s has no place: an array on its way is empty", x->s->packed.as.text);
    }
    return st;
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct pack *s = state;
    struct pack_packing x = {.s = s, .c = c};
    struct mrs_buf *rest = s->packed.edit ? &w->out[1] : out;
    struct mrsi_name_set names;
    size_t at = rest->n, start = out->n;
    open_packed(&x, &w->raw);
    enum mrs_status st = take_out(&x, d, rest, &names);
    bool earlier = x.place && s->packed.replace; /* packed by an earlier run: an empty array would lose its contents */
    if (st == MRS_OK && !x.any && (earlier || s->packed.form == MRSI_AS_DOCUMENT)) {
        out->n = start;
        mrs_buf_put(out, d.p, d.n);
        *changed = false;
        return mrs_buf_status(out, c->err);
    }
    MRS_THEN(st, check_packed(&x));
    MRS_THEN(st, s->packed.edit ? put_below(&x, mrsi_buf_view(rest, at), out) : put_at_top(&x, out, at));
    if (st != MRS_OK) {
        return st;
    }
    *changed = out->n - start != d.n || memcmp(out->p + start, d.p, d.n) != 0;
    if (*changed && (x.any || !s->packed.edit)) {
        st = mrsi_name_set_check(&names, c, d);
    }
    return st == MRS_OK && *changed ? mrsi_step_depth(c, "fields", d, mrsi_buf_view(out, start)) : st;
}

/* ---- description ---- */
static void
describe_losses(struct mrsi_describe *t, const struct pack *s, const char *names)
{
    mrsi_describe_loss(t, "the places of %s among the fields", names);
    for (uint32_t i = 0; i < s->fields.n && s->strip_len; i++) {
        const struct field *f = &s->field[i];
        if (f->len < s->strip_len || memcmp(f->name, s->strip, s->strip_len) != 0) {
            mrsi_describe_loss(t, "which keys were names that do not begin with `%s`", s->strip);
            break;
        }
    }
    if (s->packed.replace) {
        mrsi_describe_loss(t, "old values of %s, where there were any", s->packed.as.text);
    }
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct pack *s = state;
    struct mrsi_describe t;
    mrsi_map_describe(&t, &s->packed.map, arena, out, e);
    for (uint32_t i = 0; i < s->fields.n; i++) {
        mrsi_describe_touch(&t, 0, 'R', s->field[i].begins ? "" : s->fields.path[i].text);
        mrsi_describe_touch(&t, 0, 'D', s->fields.path[i].text);
        if (s->field[i].begins) {
            mrsi_describe_pattern(&t, s->fields.path[i].text);
        }
    }
    mrsi_describe_touch(&t, 0, 'A', s->packed.as.text);
    out->takes_away = true;
    if (s->patterns) {
        mrsi_describe_quiet(&t,
                            "which fields a pattern takes is known only when a document is read: name the fields, or "
                            "run the plan with --quiet-by");
    }
    mrsi_describe_not_direct(&t, "it takes fields away that are still being read" MRSI_DO_CONTRACT);
    if (!s->packed.replace && s->packed.form == MRSI_AS_ARRAY) {
        mrsi_describe_once(&t, "in a second run its result exists already");
    }
    const char *names = mrsi_describe_paths(&t, s->fields.path, s->fields.n, 6);
    mrsi_describe_words(&t, "packs %s of %s%s into the %s %s", names, mrsi_map_those(&s->packed.map),
                        s->packed.map.in.ns, mrsi_packed_form(&s->packed), s->packed.as.text);
    if (s->packed.form == MRSI_AS_ARRAY) {
        mrsi_describe_words(&t, " of {%s, %s}", s->packed.key, s->packed.value);
    }
    describe_losses(&t, s, names);
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct pack *s = state;
    const struct mrsi_map *m = &s->packed.map;
    enum mrs_status st = mrsi_map_catalog(describe, state, cat, e);
    struct mrs_cat_coll *cc = mrs_catalog_find(cat, m->in.db, m->in.coll);
    if (st != MRS_OK || !m->indexes || s->packed.form == MRSI_AS_DOCUMENT ||
        !mrsi_index_named(cat, &m->in, &s->packed.as)) {
        return st;
    }
    const char *path[2], *part[2] = {s->packed.key, s->packed.value};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(s->packed.as.text) + strlen(part[i]) + 2;
        char *text = mrs_arena_alloc(mrs_catalog_arena(cat), n);
        MRS_TRY(mrs_allocated(text, n, e));
        snprintf(text, n, "%s.%s", s->packed.as.text, part[i]);
        path[i] = text;
    }
    return mrsi_index_reference(cat, cc, path, 2, e);
}

const struct mrs_step_type mrsi_step_pack = {
    .name = "pack",
    .summary = "turns similar fields into an array of keys and values, or into a document",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .since_2 = "form",
    .example = "in: movies\nfields: [release_*]\nas: releases\n\nstrip: release_\nkey: country\nvalue: date\n"
               "where: { kind: film }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_pack_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &mrsi_map_ops,
};
