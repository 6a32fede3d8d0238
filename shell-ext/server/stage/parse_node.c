/* SPDX-License-Identifier: Apache-2.0 */
/* parse_node.c - the stage as written: its descriptor, its shape for statistics, its form for the log. */
#include "stage_nodes.h"

#include "mongoreshape/build.h"

#include <stddef.h>

struct parse_node {
    struct mdb_node face;
    struct ext_spec *spec;
};
struct expanded {
    struct mdb_expanded face;
    struct mrs_mem *mem;
    struct mdb_ast *ast; /* NULL: ownership passed on */
};

static struct parse_node *
node(const struct mdb_node *n)
{
    return (struct parse_node *)(uintptr_t)n;
}

/* ---- expansion: one AST node ---- */
static void
expanded_destroy(struct mdb_expanded *x)
{
    struct expanded *e = (struct expanded *)(void *)x;
    if (e->ast) {
        e->ast->calls->destroy(e->ast);
    }
    mrs_free(e->mem, e);
}

static size_t
expanded_size(const struct mdb_expanded *x)
{
    (void)x;
    return 1;
}

static struct mdb_status *
expanded_transfer(struct mdb_expanded *x, struct mdb_elements *to)
{
    struct expanded *e = (struct expanded *)(void *)x;
    if (to->n != 1 || !e->ast) {
        return ext_misused(EXT_WRONG_SIZE);
    }
    to->element[0] = (struct mdb_element){1, e->ast};
    e->ast = NULL;
    return ext_ok();
}

static const struct mdb_expanded_calls expanded_calls = {expanded_destroy, expanded_size, expanded_transfer};

static struct mdb_status *
node_expand(const struct mdb_node *n, struct mdb_expanded **out)
{
    struct mrs_mem *mem = node(n)->spec->home->mem;
    struct expanded *x = mrs_zalloc(mem, sizeof *x);
    if (!x) {
        return ext_no_memory();
    }
    *x = (struct expanded){{&expanded_calls}, mem, NULL};
    struct mdb_status *s = ext_ast_make(node(n)->spec, &x->ast);
    if (!ext_is_ok(s)) {
        mrs_free(mem, x);
        return s;
    }
    *out = &x->face;
    return ext_ok();
}

/* ---- query shape ---- */
struct shape {
    const struct mdb_shape_opts *opts;
    struct mrs_build b;
    struct mdb_status *bad; /* the first error */
};

/* A string in the form that the server uses in a shape. */
static void
shape_text(struct shape *s, bool field, const char *name, uint32_t name_len, const char *text, uint32_t n)
{
    MRS_ASSERT((name || name_len == 0) && (text || n == 0));
    struct mdb_buf *buf = NULL;
    if (s->bad) {
        return;
    }
    struct mdb_bytes from = {(const uint8_t *)text, n};
    struct mdb_status *status = field ? s->opts->calls->field_path(s->opts, from, &buf)
                                    : s->opts->calls->identifier(s->opts, from, &buf);
    if (!ext_is_ok(status)) {
        s->bad = status;
    } else if (!buf) {
        s->bad = ext_misused(EXT_BAD_ANSWER);
    } else {
        struct mdb_bytes v = buf->calls->get_view(buf);
        mrs_build_text(&s->b, name, (const char *)v.data, (uint32_t)v.len);
    }
    (void)name_len;
    if (buf) {
        buf->calls->destroy(buf);
    }
}

static void
shape_literal(struct shape *s, const struct mrs_elem *e)
{
    MRS_ASSERT(e->name);
    struct mdb_buf *buf = NULL;
    if (s->bad) {
        return;
    }
    struct mdb_bytes from = {e->p, (uint64_t)(e->v.p + e->v.n - e->p)};
    struct mdb_status *status = s->opts->calls->literal(s->opts, from, &buf);
    struct mdb_bytes v = {NULL, 0};
    if (!ext_is_ok(status)) {
        s->bad = status;
    } else if (buf) {
        v = buf->calls->get_view(buf);
    }
    if (!s->bad && (v.len > MRS_DOC_MAX || mrs_doc_check(v.data, v.len, MRS_DEPTH_READ, NULL) != MRS_OK)) {
        s->bad = ext_misused(EXT_BAD_ANSWER);
    }
    if (!s->bad) {
        struct mrs_view d = {v.data, (uint32_t)v.len};
        mrs_build_val(&s->b, e->name, e->name_len, mrs_doc_get(d, ""));
    }
    if (buf) {
        buf->calls->destroy(buf);
    }
}

/* Names of collections, or of the fields of partners. */
static void
shape_names(struct shape *s, const struct mrs_elem *e, bool fields)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n;
    if (e->v.type == MRS_STRING) {
        const char *text = mrs_val_text(e->v, &n);
        shape_text(s, fields, e->name, e->name_len, text, n);
        return;
    }
    mrs_build_open(&s->b, e->name, e->name_len, MRS_DOCUMENT);
    mrs_walk_init(&w, mrs_val_view(e->v));
    while (mrs_walk_next(&w, &el) == 1) {
        if (el.v.type == MRS_STRING) {
            const char *text = mrs_val_text(el.v, &n);
            shape_text(s, fields, el.name, el.name_len, text, n);
        }
    }
    mrs_build_close(&s->b);
}

static struct mdb_status *
node_shape(const struct mdb_node *n, const struct mdb_shape_opts *opts, struct mdb_buf **out)
{
    const struct ext_spec *spec = node(n)->spec;
    struct mrs_walk outer, w;
    struct mrs_elem stage, e;
    struct mrs_buf buf;
    struct mrs_view doc;
    struct shape s = {.opts = opts};
    mrs_buf_init(&buf, spec->home->mem, 2u * MRS_DOC_MAX);
    mrs_build_init(&s.b, &buf);
    mrs_build_open(&s.b, EXT_STAGE, sizeof EXT_STAGE - 1, MRS_DOCUMENT);
    mrs_walk_init(&outer, spec->stage);
    (void)mrs_walk_next(&outer, &stage);
    mrs_walk_init(&w, mrs_val_view(stage.v));
    while (mrs_walk_next(&w, &e) == 1) {
        bool names = strcmp(e.name, "of") == 0 || strcmp(e.name, "emit") == 0, with = strcmp(e.name, "with") == 0;
        if (names || with) {
            shape_names(&s, &e, with);
        } else if (strcmp(e.name, "refused") == 0) {
            mrs_build_elem(&s.b, &e);
        } else {
            shape_literal(&s, &e);
        }
    }
    mrs_build_close(&s.b);
    if (!s.bad && mrs_build_finish(&s.b, &doc, NULL) != MRS_OK) {
        s.bad = ext_no_memory();
    }
    if (s.bad) {
        mrs_buf_clear(&buf);
        return s.bad;
    }
    return ext_return_buf(spec->home->mem, &buf, out);
}

/* ---- the node ---- */
static void
node_destroy(struct mdb_node *n)
{
    struct ext_spec *spec = node(n)->spec;
    mrs_free(spec->home->mem, n);
    ext_spec_drop(spec);
}

static struct mdb_bytes
node_name(const struct mdb_node *n)
{
    (void)n;
    return ext_stage_name();
}

static struct mdb_status *
node_clone(const struct mdb_node *n, struct mdb_node **out)
{
    return ext_node_make(node(n)->spec, out);
}

static struct mdb_status *
node_for_log(const struct mdb_node *n, struct mdb_buf **out)
{
    const struct ext_spec *spec = node(n)->spec;
    return ext_return(spec->home->mem, spec->stage.p, spec->stage.n, out);
}

static const struct mdb_node_calls node_calls = {node_destroy, node_name,  node_shape,
                                                 node_expand,  node_clone, node_for_log};

struct mdb_status *
ext_node_make(struct ext_spec *spec, struct mdb_node **out)
{
    MRS_ASSERT(spec->users > 0 && out);
    struct parse_node *n = mrs_zalloc(spec->home->mem, sizeof *n);
    if (!n) {
        return ext_no_memory();
    }
    *n = (struct parse_node){{&node_calls}, ext_spec_retain(spec)};
    *out = &n->face;
    return ext_ok();
}

/* ---- the descriptor ---- */
static struct mdb_bytes
descriptor_name(const struct mdb_descriptor *d)
{
    (void)d;
    return ext_stage_name();
}

static uint32_t
client_type(const struct mdb_descriptor *d)
{
    (void)d;
    return 0;
}

static struct mdb_status *
parse(const struct mdb_descriptor *d, struct mdb_bytes stage, struct mdb_node **out)
{
    MRS_ASSERT(stage.data || stage.len == 0);
    const uint8_t *at = (const uint8_t *)d - offsetof(struct ext_home, descriptor);
    struct ext_spec *spec = NULL;
    struct mdb_status *s = ext_spec_read((struct ext_home *)(uintptr_t)at, stage, &spec);
    if (!spec) {
        return s;
    }
    s = ext_node_make(spec, out);
    ext_spec_drop(spec);
    return s;
}

const struct mdb_descriptor_calls ext_descriptor_calls = {descriptor_name, client_type, parse};
