/* SPDX-License-Identifier: Apache-2.0 */
/* unpack.c - the step `unpack`: turns an array of key and value, or a document, into fields, the inverse of `pack`.
 *
 * The fields replace it. The document is refused for an element other than {key: text, value}, for two elements
 * with the same name and for a field that exists: each would lose data. The field names depend on the data, so the step
 * requires that writers are stopped. Existing fields are searched only with `replace`; otherwise the finished level is
 * checked for duplicate names, which is free for documents that match a template. */
#include "steps/kit/invert.h"
#include "packed.h"
#include "steps/kit/shape.h"
#include "mongoreshape/context.h"
#include <stdlib.h>

struct unpack {
    struct mrsi_packed packed;
    struct mrs_path above; /* the document that contains the array; n 0: the top */
    const char *prefix;
    uint32_t prefix_len;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"as", MRS_ARG_PATH, true, NULL, "the array of {key, value}, or the document, that becomes fields"},
    {"prefix", MRS_ARG_TEXT, false, NULL, "prefix to add to the names"},
    MRSI_PACKED_KEYS,
    {"replace", MRS_ARG_BOOL, false, NULL, "whether the fields may exist already (false)"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

/* ---- compile ---- */
/* Where an index path through the document is: below its parent, with the prefix. */
static const char *
out_of_document(const void *arg, struct mrs_arena *a, const char *path, bool *dead)
{
    const struct unpack *s = arg;
    const char *as = s->packed.as.text, *dot = strrchr(as, '.');
    size_t n = strlen(as), above = dot ? (size_t)(dot - as) + 1 : 0;
    if (strncmp(path, as, n) != 0 || (path[n] && path[n] != '.')) {
        return path;
    }
    char *text = path[n] ? mrs_arena_alloc(a, above + s->prefix_len + strlen(path + n)) : NULL;
    if (text) {
        memcpy(text, as, above);
        memcpy(text + above, s->prefix, s->prefix_len);
        memcpy(text + above + s->prefix_len, path + n + 1, strlen(path + n));
    }
    *dead = *dead || (path[n] && !text);
    return text;
}

static void
plan_indexes(struct mrsi_read *r, struct unpack *s)
{
    struct mrsi_move *mv = mrsi_read_alloc(r, 1, sizeof *mv);
    if (!mv || !mrsi_read_good(r) || !mrsi_index_plain(&s->packed.as)) {
        return;
    }
    bool follow = s->packed.form == MRSI_AS_DOCUMENT && !strpbrk(s->prefix, ".$");
    *mv = (struct mrsi_move){s->packed.as.text, NULL};
    s->packed.map.moves = (struct mrsi_moves){.move = follow ? NULL : mv,
                                              .n = !follow,
                                              .through = follow ? out_of_document : NULL,
                                              .patterns = s};
}

static enum mrs_status edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d,
                                     struct mrs_buf *out, bool *changed);

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct unpack *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->packed.map.edit = edit_document;
    s->packed.map.place = "as";
    s->prefix = "";
    mrsi_packed_read(&r, &s->packed);
    mrsi_read_text(&r, mrsi_slot(&r, "prefix"), &s->prefix);
    s->prefix_len = (uint32_t)strlen(s->prefix);
    plan_indexes(&r, s);
    s->above = s->packed.as;
    s->above.n -= s->above.n > 0;
    mrsi_packed_edit(&r, &s->packed, &s->above);
    return mrsi_read_end(&r, state);
}

/* ---- documents ---- */
struct unpack_made { /* one field; no: index in the array */
    const char *name;
    uint32_t len, no;
    struct mrs_val v;
    bool placed; /* it replaces an existing field of its name */
};
struct unpacking {
    const struct unpack *s;
    struct mrs_ctx *c;
    struct mrs_buf *level; /* below the top: buffer for values */
};

/* Reads the key and the value of {key: text, value}. */
static bool
is_pair(const struct mrsi_packed *p, struct mrs_val item, struct mrs_val *key, struct mrs_val *value)
{
    struct mrs_walk w;
    struct mrs_elem k, v, more;
    if (item.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(item));
    if (mrs_walk_next(&w, &k) != 1 || mrs_walk_next(&w, &v) != 1 || mrs_walk_next(&w, &more) != 0) {
        return false;
    }
    *key = k.v;
    *value = v.v;
    return k.v.type == MRS_STRING && mrs_name_is(&k, p->key, p->key_len) && mrs_name_is(&v, p->value, p->value_len);
}

/* The name and the value of an element, or of a field of the document. */
static enum mrs_status
name_and_value(struct unpacking *x, const struct mrs_elem *e, uint32_t no, const char **text, uint32_t *n,
               struct mrs_val *value)
{
    const struct mrsi_packed *p = &x->s->packed;
    struct mrs_val key;
    if (p->form == MRSI_AS_DOCUMENT) {
        *text = e->name;
        *n = e->name_len;
        *value = e->v;
        return MRS_OK;
    }
    if (!is_pair(p, e->v, &key, value)) {
        return mrsi_step_refuse(x->c, "as", "element %u of %s is not exactly {%s: text, %s: value}", no, p->as.text,
                                p->key, p->value);
    }
    *text = mrs_val_text(key, n);
    if (memchr(*text, 0, *n)) {
        return mrsi_step_refuse(x->c, "as", "the key of element %u of %s holds a NUL byte, which no name can", no,
                                p->as.text);
    }
    return MRS_OK;
}

static enum mrs_status
make_field(struct unpacking *x, const struct mrs_elem *e, uint32_t no, struct unpack_made *out)
{
    MRS_ASSERT(out && mrs_val_is_sized(e->v));
    const struct unpack *s = x->s;
    struct mrs_val value;
    const char *text = "";
    uint32_t n = 0;
    MRS_TRY(name_and_value(x, e, no, &text, &n, &value));
    if (s->prefix_len) {
        char *name = mrs_arena_alloc(x->c->arena, (size_t)s->prefix_len + n + 1);
        MRS_TRY(mrs_allocated(name, (size_t)s->prefix_len + n, x->c->err));
        memcpy(name, s->prefix, s->prefix_len);
        memcpy(name + s->prefix_len, text, (size_t)n + 1);
        text = name;
        n += s->prefix_len;
    }
    *out = (struct unpack_made){text, n, no, value, false};
    if (!s->packed.edit && strcmp(text, "_id") == 0) {
        return s->packed.form == MRSI_AS_DOCUMENT
                   ? mrsi_step_refuse(x->c, "as", "`_id` of %s would become the _id", s->packed.as.text)
                   : mrsi_step_refuse(x->c, "as", "element %u of %s would become the _id", no, s->packed.as.text);
    }
    return MRS_OK;
}

static enum mrs_status
make_fields(struct unpacking *x, struct mrs_view packed, struct unpack_made **out, uint32_t *n)
{
    MRS_ASSERT(mrs_view_is_framed(packed));
    struct mrs_walk w;
    struct mrs_elem e;
    size_t room = (size_t)mrs_doc_count(packed) + 1;
    *n = 0;
    *out = mrs_arena_alloc(x->c->arena, room * sizeof **out);
    if (!*out) {
        return mrs_err_memory(x->c->err, room * sizeof **out);
    }
    enum mrs_status st = MRS_OK;
    for (mrs_walk_init(&w, packed); st == MRS_OK && mrs_walk_next(&w, &e) == 1; ++*n) {
        st = make_field(x, &e, *n, *out + *n);
    }
    return st;
}

static int
by_name(const void *pa, const void *pb)
{
    const struct unpack_made *a = *(struct unpack_made *const *)pa, *b = *(struct unpack_made *const *)pb;
    return mrsi_packed_order(a->name, a->len, b->name, b->len);
}

struct unpack_fields {
    struct unpack_made *made, **by_name; /* by_name: only with `replace` */
    uint32_t n;
};

static const struct unpack_made *
named(const struct unpack_fields *f, const struct mrs_elem *e)
{
    struct unpack_made key = {.name = e->name, .len = e->name_len}, *p = &key;
    struct unpack_made **found = f->by_name && f->n ? bsearch(&p, f->by_name, f->n, sizeof p, by_name) : NULL;
    return found ? *found : NULL;
}

/* Finds those that replace an existing field. */
static enum mrs_status
find_there(struct unpacking *x, struct mrs_view d, const struct mrs_elem *array, struct unpack_fields *f)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_walk w;
    struct mrs_elem e;
    f->by_name = mrs_arena_alloc(x->c->arena, (f->n + 1) * sizeof *f->by_name);
    MRS_TRY(mrs_allocated(f->by_name, f->n * sizeof *f->by_name, x->c->err));
    for (uint32_t i = 0; i < f->n; i++) {
        f->by_name[i] = &f->made[i];
    }
    qsort(f->by_name, f->n, sizeof *f->by_name, by_name);
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        const struct unpack_made *m = e.p == array->p ? NULL : named(f, &e);
        if (m) {
            f->made[m->no].placed = true;
        }
    }
    return MRS_OK;
}

static void
put_field(struct mrs_buf *out, struct mrsi_name_set *names, const struct mrs_elem *e, struct mrs_val v)
{
    mrsi_name_set_add(names, e);
    mrsi_put_elem(out, e->name, e->name_len, v);
}

/* Appends the level with the fields instead of the array or document. */
static enum mrs_status
put_level(struct unpacking *x, struct mrs_view d, const struct mrs_elem *array, struct mrs_buf *out)
{
    MRS_ASSERT(array->v.type == MRS_ARRAY || array->v.type == MRS_DOCUMENT);
    MRS_ASSERT(mrs_view_is_framed(d));
    struct unpack_fields f = {NULL, NULL, 0};
    struct mrsi_name_set names;
    struct mrs_walk w;
    struct mrs_elem e;
    enum mrs_status st = make_fields(x, mrs_val_view(array->v), &f.made, &f.n);
    st = st == MRS_OK && x->s->packed.replace ? find_there(x, d, array, &f) : st;
    if (st != MRS_OK) {
        return st;
    }
    size_t at = mrsi_put_open(out);
    bool twice = false; /* a second field with the array's name, which would remain */
    mrsi_name_set_begin(&names);
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        const struct unpack_made *m = named(&f, &e);
        if (e.p != array->p) {
            twice = twice || mrs_name_is(&e, array->name, array->name_len);
            put_field(out, &names, &e, m ? m->v : e.v);
            continue;
        }
        for (uint32_t i = 0; i < f.n; i++) {
            struct mrs_elem one = {.name = f.made[i].name, .name_len = f.made[i].len};
            if (!f.made[i].placed) {
                put_field(out, &names, &one, f.made[i].v);
            }
        }
    }
    mrsi_put_close(out, at);
    st = mrs_buf_status(out, x->c->err);
    struct mrs_view now = mrsi_buf_view(out, at);
    if (st == MRS_OK && twice) {
        return mrsi_packed_twice(x->c, "as", d);
    }
    return st != MRS_OK || mrsi_name_set_good(&names, x->c, now) ? st : mrsi_packed_twice(x->c, "as", now);
}

/* Appends one document that may contain the array, if it does (*held). */
static enum mrs_status
unpack_level(struct unpacking *x, struct mrs_view d, struct mrs_buf *out, bool *found)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrs_path *as = &x->s->packed.as;
    const struct mrs_part *last = &as->part[as->n - 1];
    struct mrs_elem e;
    *found = mrs_doc_find(d, last->name, last->len, &e) && !mrs_is_nullish(e.v);
    if (!*found) {
        return MRS_OK;
    }
    if (e.v.type != (x->s->packed.form == MRSI_AS_DOCUMENT ? MRS_DOCUMENT : MRS_ARRAY)) {
        return mrsi_step_refuse(x->c, "as", "%s is no %s but %s", as->text, mrsi_packed_form(&x->s->packed),
                                mrs_type_name(e.v.type));
    }
    return put_level(x, d, &e, out);
}

/* Appends the documents of an array to the level's buffer, as an array; *held: some contained one. */
static enum mrs_status
unpack_items(struct unpacking *x, struct mrs_view array, bool *found)
{
    MRS_ASSERT(mrs_view_is_framed(array));
    struct mrsi_shape_items items;
    struct mrs_walk w;
    struct mrs_elem e;
    enum mrs_status st = MRS_OK;
    *found = false;
    mrsi_items_open(&items, x->level);
    for (mrs_walk_init(&w, array); st == MRS_OK && mrs_walk_next(&w, &e) == 1;) {
        bool one = false;
        size_t at = x->level->n;
        mrsi_put_head(x->level, e.v.type, items.name, items.name_len);
        st = e.v.type == MRS_DOCUMENT ? unpack_level(x, mrs_val_view(e.v), x->level, &one) : MRS_OK;
        *found = *found || one;
        if (one) {
            mrsi_items_step(&items);
        } else if (st == MRS_OK && !x->level->bad) {
            x->level->n = at;
            mrsi_items_add(&items, e.v);
        }
    }
    mrsi_items_close(&items);
    return st == MRS_OK ? mrs_buf_status(x->level, x->c->err) : st;
}

static enum mrs_status
unpack_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
            struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct unpacking *x = arg;
    bool found = false;
    enum mrs_status st = MRS_OK;
    (void)raw;
    (void)e;
    mrs_buf_reset(x->level);
    if (site->old.type == MRS_DOCUMENT) {
        st = unpack_level(x, mrs_val_view(site->old), x->level, &found);
    } else if (site->old.type == MRS_ARRAY) {
        st = unpack_items(x, mrs_val_view(site->old), &found);
    }
    *verdict = st == MRS_OK && found ? MRS_EDIT_PUT : MRS_EDIT_KEEP;
    if (st == MRS_OK && found) {
        *put = (struct mrs_val){x->level->p, (uint32_t)x->level->n, site->old.type};
    }
    return st;
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d) && mrs_buf_is_sound(out));
    const struct unpack *s = state;
    struct unpacking x = {s, c, &w->out[1]};
    const struct mrs_edit *edit = s->packed.edit;
    struct mrs_edit_run how = {.fn = unpack_site, .arg = &x};
    return edit ? mrs_edit_run(edit, &how, d, out, changed, c->err) : unpack_level(&x, d, out, changed);
}

/* ---- description ---- */
/* The names of the added fields depend on data: the prefix plus any key. */
static const char *
names_added(struct mrsi_describe *t, const struct unpack *s)
{
    const char *as = s->packed.as.text, *dot = strrchr(as, '.');
    size_t n = s->packed.edit && dot ? (size_t)(dot - as) + 1 : 0;
    char *text = mrs_arena_alloc(t->arena, n + s->prefix_len + 2);
    if (!text) {
        t->bad = true;
        return "";
    }
    memcpy(text, as, n);
    memcpy(text + n, s->prefix, s->prefix_len);
    memcpy(text + n + s->prefix_len, "*", 2);
    return text;
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct unpack *s = state;
    const char *as = s->packed.as.text;
    struct mrsi_describe t;
    mrsi_map_describe(&t, &s->packed.map, arena, out, e);
    mrsi_describe_touch(&t, 0, 'R', "");
    mrsi_describe_names(&t, 0, NULL, &s->packed.as, 1);
    mrsi_describe_touch(&t, 0, 'A', names_added(&t, s));
    mrsi_describe_touch(&t, 0, 'D', as);
    out->takes_away = true;
    mrsi_describe_quiet(&t,
                        "how the fields are called that it adds is known only when a document is read" MRSI_DO_QUIET);
    mrsi_describe_words(&t, "makes fields of the %s %s", mrsi_packed_form(&s->packed), as);
    if (s->packed.form == MRSI_AS_ARRAY) {
        mrsi_describe_words(&t, " of {%s, %s}", s->packed.key, s->packed.value);
    }
    mrsi_describe_words(&t, " in %s%s", mrsi_map_those(&s->packed.map), s->packed.map.in.ns);
    if (s->prefix_len) {
        mrsi_describe_words(&t, ", called %s and the %s", s->prefix, s->packed.form == MRSI_AS_ARRAY ? "key" : "name");
    }
    const char *last = s->packed.as.part[s->packed.as.n - 1].name;
    if (strncmp(last, s->prefix, s->prefix_len) == 0) {
        mrsi_describe_once(&t,
                           "a field that it makes may have the name of `as`: run again, it would be taken apart, too");
    }
    mrsi_describe_loss(&t, "whether %s was there, null or empty", as);
    if (s->packed.replace) {
        mrsi_describe_loss(&t, "old values of fields that were there already");
    }
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    return mrsi_map_catalog(describe, state, cat, e);
}

const struct mrs_step_type mrsi_step_unpack = {
    .name = "unpack",
    .summary = "turns an array of keys and values, or a document, into fields",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .since_2 = "form",
    .example = "in: movies\nas: releases\n\nprefix: release_\nkey: country\nvalue: date\nwhere: { kind: film }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_unpack_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &mrsi_map_ops,
};
