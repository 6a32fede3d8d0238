/* SPDX-License-Identifier: Apache-2.0 */
/* invert.c - the inverse of a plan.
 *
 * Each step gives its own inverse; here they are put in reverse order. An entry with a collection that does not exist
 * at that point, because a later step of the plan dropped it, cannot run: it is omitted, and that is a loss. The
 * inverse depends on the plan alone, so a plan has one inverse with one id. */
#include "plan_internal.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/inverse.h"

#include <stdio.h>

#define ALL_KINDS ((1u << MRS_LOSS_KINDS) - 1)

struct invert_names { /* names of collections, "db.coll" */
    const char **at;
    uint32_t n, cap;
};
struct inverting {
    const struct mrs_plan *p;
    struct mrs_inverse_plan *out;
    struct invert_names removed, closed; /* closed: later entries must not use them */
    uint32_t cap_entries, cap_losses;
    struct mrs_err *e;
    bool dead;
};

static void *
grow(struct inverting *x, void *list, uint32_t n, uint32_t *cap, size_t size)
{
    void *p = mrs_arena_more(&x->out->arena, list, n, cap, size);
    x->dead = x->dead || !p;
    return p;
}

/* ---- names of collections ---- */
static uint32_t
find(const struct invert_names *s, const char *ns)
{
    uint32_t i = 0;
    while (i < s->n && strcmp(s->at[i], ns) != 0) {
        i++;
    }
    return i;
}

static void
add(struct inverting *x, struct invert_names *s, const char *ns)
{
    MRS_ASSERT(ns && s->n <= s->cap);
    if (find(s, ns) < s->n) {
        return;
    }
    const char **list = grow(x, s->at, s->n, &s->cap, sizeof *list);
    if (list) {
        s->at = list;
        s->at[s->n++] = ns;
    }
}

static void
take(struct invert_names *s, const char *ns)
{
    uint32_t i = find(s, ns);
    if (i < s->n) {
        s->at[i] = s->at[--s->n];
    }
}

/* "db.coll" of a collection name in a plan; NULL: not a name. */
static const char *
ns_of(struct inverting *x, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    const char *db = x->p->database, *coll;
    uint32_t n;
    if (v.type == MRS_DOCUMENT) {
        struct mrs_val d = mrs_doc_get(mrs_val_view(v), "db"), c = mrs_doc_get(mrs_val_view(v), "coll");
        if (d.type != MRS_STRING || c.type != MRS_STRING) {
            return NULL;
        }
        db = mrs_val_text(d, &n);
        v = c;
    }
    if (v.type != MRS_STRING) {
        return NULL;
    }
    coll = mrs_val_text(v, &n);
    size_t size = strlen(db) + strlen(coll) + 2;
    char *ns = mrs_arena_alloc(&x->out->arena, size);
    x->dead = x->dead || !ns;
    if (ns) {
        snprintf(ns, size, "%s.%s", db, coll);
    }
    return ns;
}

/* Calls fn for each collection in the value of `from` or `into`: one, or a list or map of them. */
static void
each_coll(struct inverting *x, struct mrs_val v, void (*fn)(struct inverting *x, const char *ns, void *arg), void *arg)
{
    struct mrs_walk w;
    struct mrs_elem el;
    const char *ns = ns_of(x, v);
    if (ns) {
        fn(x, ns, arg);
        return;
    }
    if (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_val inner = el.v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(el.v), "into") : mrs_missing();
        ns = ns_of(x, inner.type == MRS_MISSING ? el.v : inner);
        if (ns) {
            fn(x, ns, arg);
        }
    }
}

static void
must_be_there(struct inverting *x, const char *ns, void *arg)
{
    const char **lacks = arg;
    if (find(&x->removed, ns) < x->removed.n || find(&x->closed, ns) < x->closed.n) {
        *lacks = ns;
    }
}

static void
must_be_open(struct inverting *x, const char *ns, void *arg)
{
    const char **lacks = arg;
    if (find(&x->closed, ns) < x->closed.n) {
        *lacks = ns;
    }
}

static void
is_made(struct inverting *x, const char *ns, void *arg)
{
    (void)arg;
    take(&x->removed, ns);
}

/* ---- the plan forwards: collections that are gone at its end ---- */
static struct mrs_view
body_of(const struct mrs_plan *p, uint32_t i)
{
    return p->written[i].body;
}

static void
follow(struct inverting *x, uint32_t i)
{
    MRS_ASSERT(i < x->p->n_written);
    const struct mrs_step *st = &x->p->written[i];
    struct mrs_view body = body_of(x->p, i);
    for (uint32_t k = 0; k < st->desc.n_sides; k++) {
        if (st->desc.sides[k].role & MRS_ROLE_ADD) {
            take(&x->removed, st->desc.sides[k].coll.ns);
        }
    }
    if (strcmp(st->type->name, "drop_collection") == 0 || strcmp(st->type->name, "rename_collection") == 0) {
        add(x, &x->removed, st->desc.sides[0].coll.ns);
        take(&x->closed, st->desc.sides[0].coll.ns);
    }
    struct mrs_val capped = mrs_doc_get(body, "capped"), series = mrs_doc_get(body, "timeseries");
    if ((capped.type == MRS_BOOL && *capped.p) || series.type == MRS_DOCUMENT) {
        add(x, &x->closed, st->desc.sides[0].coll.ns);
    }
}

/* ---- backwards ---- */
static void
add_loss(struct inverting *x, struct mrs_inverse_loss loss)
{
    struct mrs_inverse_plan *o = x->out;
    struct mrs_inverse_loss *list = grow(x, o->loss, o->n_losses, &x->cap_losses, sizeof *list);
    if (list) {
        o->loss = list;
        o->loss[o->n_losses++] = loss;
    }
}

/* A required collection of the entry that does not exist; NULL: the entry can run. */
static const char *
lacks_what(struct inverting *x, const char *type, struct mrs_view keys)
{
    MRS_ASSERT(type && mrs_view_is_framed(keys));
    const char *lacks = NULL;
    struct mrs_val into = mrs_doc_get(keys, "into");
    bool in_there = strcmp(type, "embed") == 0 || strcmp(type, "copy") == 0;
    each_coll(x, mrs_doc_get(keys, "in"), must_be_there, &lacks);
    each_coll(x, mrs_doc_get(keys, "from"), must_be_there, &lacks);
    each_coll(x, mrs_doc_get(keys, "parent"), must_be_there, &lacks);
    each_coll(x, mrs_doc_get(keys, "child"), must_be_there, &lacks);
    each_coll(x, into, in_there ? must_be_there : must_be_open, &lacks);
    if (!lacks && strcmp(type, "rename_collection") == 0) {
        const char *ns = ns_of(x, into);
        lacks = ns && find(&x->removed, ns) == x->removed.n ? ns : NULL;
    }
    return lacks;
}

static void
leave_out(struct inverting *x, const struct mrs_step *st, const char *type, const char *ns)
{
    char text[512];
    snprintf(text, sizeof text, "its `%s` cannot run: a later step takes %s away, or puts something in its place", type,
             ns);
    const char *copy = mrs_arena_copy(&x->out->arena, text, strlen(text) + 1);
    x->dead = x->dead || !copy;
    if (copy) {
        add_loss(x, (struct mrs_inverse_loss){st->no, st->type->name, ALL_KINDS, copy});
    }
}

static void
add_entry(struct inverting *x, const struct mrs_step *st, struct mrs_view entry)
{
    MRS_ASSERT(mrs_view_is_framed(entry));
    struct mrs_inverse_plan *o = x->out;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, entry);
    if (mrs_walk_next(&w, &el) != 1 || el.v.type != MRS_DOCUMENT) {
        return;
    }
    struct mrs_view keys = mrs_val_view(el.v);
    const char *lacks = lacks_what(x, el.name, keys);
    if (lacks) {
        leave_out(x, st, el.name, lacks);
        return;
    }
    if (strcmp(el.name, "rename_collection") == 0) {
        const char *from = ns_of(x, mrs_doc_get(keys, "from"));
        if (from) {
            add(x, &x->removed, from);
        }
    }
    if (strcmp(el.name, "drop_collection") == 0) {
        const char *in = ns_of(x, mrs_doc_get(keys, "in"));
        if (in) {
            add(x, &x->removed, in);
        }
    }
    each_coll(x, mrs_doc_get(keys, "into"), is_made, NULL);
    struct mrs_inverse_entry *list = grow(x, o->entry, o->n_entries, &x->cap_entries, sizeof *list);
    if (list) {
        o->entry = list;
        o->entry[o->n_entries++] = (struct mrs_inverse_entry){st->no, entry};
    }
}

static bool
alone(const struct mrs_plan *p, uint32_t i)
{
    MRS_ASSERT(i < p->n_steps);
    const struct mrs_desc *d = &p->written[i].desc;
    for (uint32_t k = i + 1; k < p->n_written; k++) {
        for (uint32_t j = 0; j < p->written[k].desc.n_sides; j++) {
            if (d->n_sides && strcmp(p->written[k].desc.sides[j].coll.ns, d->sides[0].coll.ns) == 0) {
                return false;
            }
        }
    }
    return true;
}

static void
invert_step(struct inverting *x, uint32_t i)
{
    MRS_ASSERT(i < x->p->n_steps);
    const struct mrs_step *st = &x->p->written[i];
    struct mrs_inverse inv = {.mem = x->p->mem,
                              .arena = &x->out->arena,
                              .body = body_of(x->p, i),
                              .alone = alone(x->p, i)};
    if (!st->type->invert) {
        add_loss(x, (struct mrs_inverse_loss){st->no, st->type->name, ALL_KINDS, "what it did stays"});
        return;
    }
    if (st->type->invert(st->state, &inv, x->e) != MRS_OK) {
        x->dead = true;
        return;
    }
    for (uint32_t k = 0; k < inv.n_losses; k++) {
        add_loss(x, (struct mrs_inverse_loss){st->no, st->type->name, inv.loss[k].kinds, inv.loss[k].text});
    }
    for (uint32_t k = 0; k < inv.n_entries && !x->dead; k++) {
        add_entry(x, st, inv.entry[k]);
    }
}

/* Losses were found from the last step to the first: reverses them. */
static void
in_order(struct mrs_inverse_plan *o)
{
    MRS_ASSERT(o->entry || o->n_entries == 0);
    for (uint32_t i = 1; i < o->n_losses; i++) {
        struct mrs_inverse_loss one = o->loss[i];
        uint32_t k = i;
        for (; k > 0 && o->loss[k - 1].step > one.step; k--) {
            o->loss[k] = o->loss[k - 1];
        }
        o->loss[k] = one;
    }
}

static const char *
name_of(struct inverting *x)
{
    static const char words[] = "inverse of ";
    const char *name = *x->p->name ? x->p->name : x->p->file ? x->p->file : "a plan";
    size_t n = strlen(name) + sizeof words;
    char *text = mrs_arena_alloc(&x->out->arena, n);
    x->dead = x->dead || !text;
    if (text) {
        snprintf(text, n, "%s%s", words, name);
    }
    return text ? text : "";
}

enum mrs_status
mrs_plan_invert(const struct mrs_plan *p, struct mrs_inverse_plan *out, struct mrs_err *e)
{
    MRS_ASSERT(p->steps || p->n_steps == 0);
    struct inverting x = {.p = p, .out = out, .e = e};
    memset(out, 0, sizeof *out);
    mrs_arena_init(&out->arena, p->mem);
    out->name = name_of(&x);
    out->server = p->server;
    out->version = p->version;
    out->database = p->id_known ? p->database : "";
    if (p->n_written) {
        add_loss(&x, (struct mrs_inverse_loss){0, "", MRS_LOSS_REFUSED,
                                               "documents that the plan or its inverse refuses"});
        add_loss(&x, (struct mrs_inverse_loss){0, "", MRS_LOSS_METADATA | MRS_LOSS_COLLECTIONS,
                                               "uuids of collections that the plan names, and indexes and options that "
                                               "come or go with a change; collections that it makes stay"});
    }
    for (uint32_t i = 0; i < p->n_written && !x.dead; i++) {
        follow(&x, i);
    }
    for (uint32_t i = p->n_written; i-- > 0 && !x.dead;) {
        invert_step(&x, i);
    }
    in_order(out);
    return x.dead ? mrs_err_memory(e, 0) : MRS_OK;
}

void
mrs_inverse_plan_clear(struct mrs_inverse_plan *inv)
{
    mrs_arena_clear(&inv->arena);
    memset(inv, 0, sizeof *inv);
}

const char *
mrs_loss_word(uint32_t i)
{
    static const char *const words[] = {"order of documents", "order of fields",   "types",
                                        "values",             "documents",         "surplus documents",
                                        "refused documents",  "metadata",          "collections"};
    return i < MRS_LOSS_KINDS ? words[i] : "";
}

/* ---- as text ---- */
static void
put_losses(const struct mrs_inverse_plan *inv, struct mrs_buf *out)
{
    MRS_ASSERT(inv->loss || inv->n_losses == 0);
    if (!inv->n_losses) {
        mrs_buf_printf(out, "# nothing is lost on the way back\n");
        return;
    }
    mrs_buf_printf(out, "# Not restored (`run --write-residue FILE` saves it, `run --residue FILE` restores it):\n");
    for (uint32_t i = 0; i < inv->n_losses; i++) {
        mrs_buf_printf(out, "# - ");
        if (inv->loss[i].step) {
            mrs_buf_printf(out, "step %u %s: ", inv->loss[i].step, inv->loss[i].type);
        }
        mrs_yaml_comment(out, inv->loss[i].text);
        mrs_buf_byte(out, '\n');
    }
}

/* "- step:", then each of its keys on a line. */
static void
put_entry(struct mrs_view entry, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(entry));
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, entry);
    if (mrs_walk_next(&w, &el) != 1) {
        return;
    }
    mrs_buf_printf(out, "  - %s:\n", el.name);
    for (mrs_walk_init(&w, mrs_val_view(el.v)); mrs_walk_next(&w, &el) == 1;) {
        mrs_buf_printf(out, "      %s: ", el.name);
        mrsi_flow_val(out, el.v);
        mrs_buf_byte(out, '\n');
    }
}

void
mrs_inverse_yaml(const struct mrs_inverse_plan *inv, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    put_losses(inv, out);
    mrs_buf_printf(out, "plan: ");
    mrs_yaml_text(out, inv->name, strlen(inv->name));
    if (inv->version != MRS_PLAN_VERSION) {
        mrs_buf_printf(out, "\nversion: %u", inv->version);
    }
    mrs_buf_printf(out, "\nserver: \"%s\"\n", inv->server);
    if (*inv->database) {
        mrs_buf_printf(out, "database: ");
        mrs_yaml_text(out, inv->database, strlen(inv->database));
        mrs_buf_byte(out, '\n');
    }
    mrs_buf_printf(out, "steps:%s\n", inv->n_entries ? "" : " []");
    for (uint32_t i = 0; i < inv->n_entries; i++) {
        put_entry(inv->entry[i].entry, out);
    }
}

static void
json_text(struct mrs_build *b, const char *name, const char *text)
{
    mrs_build_text(b, name, text, (uint32_t)strlen(text));
}

static void
json_loss(struct mrs_build *b, const struct mrs_inverse_loss *loss)
{
    MRS_ASSERT(loss->text);
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_i32(b, "step", (int32_t)loss->step);
    json_text(b, "type", loss->type);
    mrs_build_open(b, "kinds", 5, MRS_ARRAY);
    for (uint32_t i = 0, k = 0; i < MRS_LOSS_KINDS; i++) {
        if (loss->kinds & 1u << i) {
            char name[12];
            mrs_index_name(name, k++);
            json_text(b, name, mrs_loss_word(i));
        }
    }
    mrs_build_close(b);
    json_text(b, "text", loss->text);
    mrs_build_close(b);
}

enum mrs_status
mrs_inverse_json(const struct mrs_inverse_plan *inv, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(inv->entry || inv->n_entries == 0);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&buf, out->mem, 16 * (size_t)MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_open(&b, "inverse", 7, MRS_DOCUMENT);
    json_text(&b, "plan", inv->name);
    if (inv->version != MRS_PLAN_VERSION) {
        mrs_build_i32(&b, "version", (int32_t)inv->version);
    }
    json_text(&b, "server", inv->server);
    if (*inv->database) {
        json_text(&b, "database", inv->database);
    }
    mrs_build_open(&b, "steps", 5, MRS_ARRAY);
    for (uint32_t i = 0; i < inv->n_entries; i++) {
        mrs_build_item(&b, mrs_view_val(inv->entry[i].entry));
    }
    mrs_build_close(&b);
    mrs_build_close(&b);
    mrs_build_open(&b, "losses", 6, MRS_ARRAY);
    for (uint32_t i = 0; i < inv->n_losses; i++) {
        json_loss(&b, &inv->loss[i]);
    }
    mrs_build_close(&b);
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    if (s == MRS_OK) {
        struct mrs_buf text;
        mrs_buf_init(&text, out->mem, 64 * (size_t)MRS_DOC_MAX);
        mrs_ejson_write(doc, true, &text);
        s = mrs_buf_status(&text, e);
        mrs_yaml_json(out, text.p, text.n);
        mrs_buf_byte(out, '\n');
        mrs_buf_clear(&text);
    }
    mrs_buf_clear(&buf);
    return s;
}
