/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c - rewrites a document at paths, as raw bytes.
 *
 * The idea: `from` is the first source byte that is not in the output yet. Nothing is copied while nothing changes; a
 * change copies all bytes before it at once, writes its own bytes and moves `from` after the old ones. As copying
 * preserves distances, the output offset of any later source byte is known in advance, and so is the offset of each
 * length word that has to be corrected when its document is closed. Missing fields are written where their document
 * ends; missing intermediate documents are written provisionally and removed again if they stay empty. The same walk
 * has three uses: edits by a function, removing paths, and keeping only paths. Levels of the document are on a stack of
 * fixed size, since a path has a bounded number of names. It must not know what is written or why: that is up to the
 * function. */
#include "doc_internal.h"
#include "path_tree.h"

#define LEVELS (3 * MRS_PATH_PARTS_MAX) /* a document and an array for each name, and some arrays in arrays */
#define WORDS 256                       /* bits of found children: enough for most trees */

struct mrs_edit {
    struct mrsi_path_tree tree;
};

struct mrs_projection {
    struct mrsi_path_tree tree;
    bool keep;
};

enum mode { EDIT, DROP, PICK };
enum edit_kind { DOCUMENT, ARRAY, MADE /* a document that was missing */ };

struct edit_level {
    /* the node whose children are searched: in the document, or in each element of the array */
    const struct mrsi_path_node *node;
    struct mrs_walk w;
    struct mrs_view holder;
    size_t start;     /* offset in out of the length word */
    size_t elem;      /* MADE: offset in out of the element */
    uint32_t seen;    /* first word of the bits of found children */
    uint32_t unseen;  /* number of children not found yet */
    uint32_t missing; /* next child to check when the document has ended */
    uint32_t pos;     /* ARRAY: number of elements passed */
    enum edit_kind kind;
    bool changed;
    bool crooked; /* ARRAY: names are not (or no longer) 0, 1, 2 ... */
};

struct edit_run {
    enum mode mode;
    bool inner;                     /* also pass through arrays directly inside arrays */
    bool twice;                     /* a changed level has duplicate names */
    const struct mrs_edit_run *how; /* EDIT */
    struct mrs_view root;
    struct mrs_buf *out;
    const uint8_t *from;
    struct mrs_err *e;
    int depth;
    uint32_t n_index, words;
    uint64_t *seen;
    uint32_t index[LEVELS];
    struct edit_level stack[LEVELS];
};

/* ---- bytes ---- */
static inline void
copy_to(struct edit_run *r, const uint8_t *to)
{
    MRS_ASSERT(to >= r->from);
    if (to > r->from) {
        mrs_buf_put(r->out, r->from, (size_t)(to - r->from));
        r->from = to;
    }
}

static void
put_header(struct mrs_buf *out, uint8_t type, const char *name, uint32_t len)
{
    uint8_t *p = out->bad ? NULL : mrs_buf_take(out, (size_t)len + 2);
    if (p) {
        p[0] = type;
        memcpy(p + 1, name, len);
        p[1 + len] = 0;
    }
}

static void
mark_changed(struct edit_run *r, struct edit_level *l)
{
    if (!l->changed && l->kind == DOCUMENT) {
        r->twice = r->twice || mrsi_level_duplicates(r->out->mem, l->holder);
    }
    l->changed = true;
}

/* Removes the source bytes [p, end). */
static enum mrs_status
cut(struct edit_run *r, struct edit_level *l, const uint8_t *p, const uint8_t *end)
{
    MRS_ASSERT(p <= end);
    copy_to(r, p);
    r->from = end;
    l->crooked = true;
    mark_changed(r, l);
    return MRS_OK;
}

/* ---- levels ---- */
static enum mrs_status
push(struct edit_run *r, const struct mrsi_path_node *node, enum edit_kind kind, struct mrs_view d)
{
    MRS_ASSERT(r->depth >= 0 && r->depth <= LEVELS);
    if (r->depth == LEVELS) {
        return mrs_err_set(r->e, MRS_FAIL, MRS_E_LIMIT, "arrays are nested too deeply on the way of a path");
    }
    struct edit_level *l = &r->stack[r->depth++];
    l->node = node;
    l->holder = d;
    l->kind = kind;
    l->changed = l->crooked = false;
    l->missing = l->pos = 0;
    l->seen = r->words;
    l->unseen = node->n_child;
    mrs_walk_init(&l->w, d);
    if (kind == ARRAY) {
        r->index[r->n_index++] = 0;
    } else {
        uint32_t n = (node->n_child + 63) / 64;
        memset(r->seen + r->words, 0, n * sizeof *r->seen);
        r->words += n;
    }
    if (kind != MADE) {
        l->start = r->out->n + (size_t)(d.p - r->from);
    }
    return MRS_OK;
}

static enum mrs_status
push_made(struct edit_run *r, const struct mrsi_path_node *node)
{
    MRS_ASSERT(r->depth >= 0 && r->depth <= LEVELS);
    size_t elem = r->out->n;
    put_header(r->out, MRS_DOCUMENT, node->name, node->len);
    size_t start = r->out->n;
    mrs_buf_put(r->out, "\0\0\0\0", 4);
    enum mrs_status s = push(r, node, MADE, mrs_empty_doc());
    if (s == MRS_OK) {
        r->stack[r->depth - 1].elem = elem;
        r->stack[r->depth - 1].start = start;
    }
    return s;
}

/* Renames the elements of the array at the end of out, from `start` on, to 0, 1, 2 ... */
static void
renumber(struct mrs_buf *out, size_t start)
{
    MRS_ASSERT(start < out->n);
    struct mrs_walk w;
    struct mrs_elem e;
    char name[12];
    uint32_t i = 0;
    size_t old = out->n - start, size = MRS_DOC_MIN;
    struct mrs_view d = {out->p + start, (uint32_t)old};
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) > 0; i++) {
        size += 2 + (size_t)mrs_index_name(name, i) + e.v.n;
    }
    uint8_t *to = mrs_buf_take(out, size);
    if (!to) {
        return;
    }
    uint8_t *at = to + 4;
    d.p = out->p + start;
    i = 0;
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) > 0; i++) {
        uint32_t len = mrs_index_name(name, i);
        *at++ = e.v.type;
        memcpy(at, name, (size_t)len + 1);
        at += len + 1;
        memcpy(at, e.v.p, e.v.n);
        at += e.v.n;
    }
    *at = 0;
    mrs_put32(to, (uint32_t)size);
    memmove(out->p + start, to, size);
    out->n = start + size;
}

static void
finish_changed(struct edit_run *r, struct edit_level *l)
{
    if (l->kind == MADE) {
        mrs_buf_byte(r->out, 0);
    } else if (l->kind == ARRAY && l->crooked) {
        copy_to(r, l->w.end + 1);
    }
    size_t pending = l->kind == MADE ? 0 : (size_t)(l->w.end + 1 - r->from);
    size_t n = r->out->n + pending - l->start;
    if (r->out->bad || n > INT32_MAX) {
        r->out->bad = r->out->bad ? r->out->bad : 2;
        return;
    }
    mrs_put32(r->out->p + l->start, (uint32_t)n);
    if (l->kind == ARRAY && l->crooked) {
        renumber(r->out, l->start);
    }
}

static enum mrs_status
pop(struct edit_run *r)
{
    MRS_ASSERT(r->depth > 0);
    struct edit_level *l = &r->stack[--r->depth];
    r->words = l->seen;
    r->n_index -= l->kind == ARRAY;
    if (!l->changed) {
        if (l->kind == MADE && !r->out->bad) {
            r->out->n = l->elem;
        }
        return MRS_OK;
    }
    finish_changed(r, l);
    if (r->depth > 0) {
        mark_changed(r, &r->stack[r->depth - 1]);
    }
    return MRS_OK;
}

/* ---- calls of the function ---- */
static enum mrs_status
call_site(struct edit_run *r, struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    *verdict = MRS_EDIT_KEEP;
    *put = mrs_missing();
    site->root = r->root;
    site->index = r->index;
    site->n_index = r->n_index;
    if (r->how->raw) {
        mrs_buf_reset(r->how->raw);
    }
    enum mrs_status s = r->how->fn(r->how->arg, site, verdict, put, r->how->raw, r->e);
    if (s == MRS_OK && *verdict == MRS_EDIT_SPLICE) {
        s = mrs_buf_status(r->how->raw, r->e);
    }
    if (*verdict == MRS_EDIT_PUT && put->type == MRS_MISSING) {
        *verdict = MRS_EDIT_REMOVE;
    }
    return s;
}

static struct mrs_edit_site
site_of(const struct mrsi_path_node *leaf, struct mrs_view holder)
{
    MRS_ASSERT(leaf->leaf);
    struct mrs_edit_site site = {0};
    site.path_no = leaf->path_no;
    site.holder = holder;
    site.old = mrs_missing();
    site.name = leaf->name;
    site.name_len = leaf->len;
    return site;
}

static enum mrs_status
edit_present(struct edit_run *r, struct edit_level *l, const struct mrsi_path_node *leaf, const struct mrs_elem *x)
{
    MRS_ASSERT(leaf->leaf && l == &r->stack[r->depth - 1]);
    struct mrs_edit_site site = site_of(leaf, l->holder);
    enum mrs_edit_verdict verdict;
    struct mrs_val put;
    const uint8_t *end = x->v.p + x->v.n;
    site.old = x->v;
    enum mrs_status s = call_site(r, &site, &verdict, &put);
    if (s != MRS_OK || verdict == MRS_EDIT_KEEP) {
        return s;
    }
    const struct mrs_buf *raw = r->how->raw;
    if (verdict == MRS_EDIT_PUT) {
        if (put.type == x->v.type && put.n == x->v.n && (put.n == 0 || memcmp(put.p, x->v.p, put.n) == 0)) {
            return MRS_OK;
        }
        copy_to(r, x->p);
        put_header(r->out, put.type, x->name, x->name_len);
        mrs_buf_put(r->out, put.p, put.n);
    } else if (verdict == MRS_EDIT_SPLICE) {
        if (raw->n == (size_t)(end - x->p) && memcmp(raw->p, x->p, raw->n) == 0) {
            return MRS_OK;
        }
        copy_to(r, x->p);
        mrs_buf_put(r->out, raw->p, raw->n);
    }
    return cut(r, l, x->p, end);
}

static enum mrs_status
edit_missing(struct edit_run *r, struct edit_level *l, const struct mrsi_path_node *leaf)
{
    MRS_ASSERT(leaf->leaf && l == &r->stack[r->depth - 1]);
    struct mrs_edit_site site = site_of(leaf, l->holder);
    enum mrs_edit_verdict verdict;
    struct mrs_val put;
    enum mrs_status s = call_site(r, &site, &verdict, &put);
    if (s != MRS_OK || verdict == MRS_EDIT_KEEP || verdict == MRS_EDIT_REMOVE) {
        return s;
    }
    if (verdict == MRS_EDIT_SPLICE && r->how->raw->n == 0) {
        return MRS_OK;
    }
    if (l->kind == DOCUMENT) {
        copy_to(r, l->w.end);
    }
    if (verdict == MRS_EDIT_PUT) {
        put_header(r->out, put.type, leaf->name, leaf->len);
        mrs_buf_put(r->out, put.p, put.n);
    } else {
        mrs_buf_put(r->out, r->how->raw->p, r->how->raw->n);
    }
    mark_changed(r, l);
    return MRS_OK;
}

/* The path is blocked: reports every path below. Recursion follows the paths of the plan. */
static enum mrs_status
edit_blocked(struct edit_run *r, const struct mrsi_path_node *node, const struct mrs_edit_site *by)
{
    MRS_ASSERT(!node->leaf || by->blocked);
    if (node->leaf) {
        struct mrs_edit_site site = *by;
        enum mrs_edit_verdict verdict;
        struct mrs_val put;
        site.path_no = node->path_no;
        site.name = node->name;
        site.name_len = node->len;
        return call_site(r, &site, &verdict, &put);
    }
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < node->n_child && s == MRS_OK; i++) {
        s = edit_blocked(r, &node->child[i], by);
    }
    return s;
}

/* The children of `node` are searched in a value that is no document. */
static enum mrs_status
blocked(struct edit_run *r, struct edit_level *l, const struct mrsi_path_node *node, const struct mrs_elem *x)
{
    if (r->mode == PICK) {
        return cut(r, l, x->p, x->v.p + x->v.n);
    }
    if (r->mode == DROP || !r->how->visit_missing) {
        return MRS_OK;
    }
    struct mrs_edit_site by = {.old = mrs_missing(), .blocked = true, .block_type = x->v.type,
                               .block_item = l->kind == ARRAY, .block = node->name, .block_len = node->len};
    while (l->kind == ARRAY) {
        l--;
    }
    by.holder = l->holder;
    return edit_blocked(r, node, &by);
}

/* ---- the walk ---- */
static enum mrs_status
field(struct edit_run *r, struct edit_level *l, const struct mrs_elem *x)
{
    MRS_ASSERT(l->kind != ARRAY && l == &r->stack[r->depth - 1]);
    int64_t i = mrsi_tree_lookup(l->node, x->name, x->name_len);
    uint64_t bit = 1ull << (i & 63);
    uint64_t *word = i < 0 ? NULL : &r->seen[l->seen + (i >> 6)];
    if (i < 0 || (*word & bit)) { /* the first of equal names counts */
        return r->mode == PICK ? cut(r, l, x->p, x->v.p + x->v.n) : MRS_OK;
    }
    *word |= bit;
    l->unseen--;
    const struct mrsi_path_node *child = &l->node->child[i];
    if (child->leaf) {
        return r->mode == EDIT   ? edit_present(r, l, child, x)
               : r->mode == DROP ? cut(r, l, x->p, x->v.p + x->v.n)
                                 : MRS_OK;
    }
    if (x->v.type == MRS_DOCUMENT || x->v.type == MRS_ARRAY) {
        return push(r, child, x->v.type == MRS_ARRAY ? ARRAY : DOCUMENT, mrs_val_view(x->v));
    }
    return blocked(r, l, child, x);
}

static enum mrs_status
item(struct edit_run *r, struct edit_level *l, const struct mrs_elem *x)
{
    MRS_ASSERT(l->kind == ARRAY && l == &r->stack[r->depth - 1]);
    char name[12];
    r->index[r->n_index - 1] = l->pos;
    if (!l->crooked) {
        uint32_t len = mrs_index_name(name, l->pos);
        l->crooked = !mrs_name_is(x, name, len);
    }
    l->pos++;
    if (x->v.type == MRS_DOCUMENT || (x->v.type == MRS_ARRAY && r->inner)) {
        return push(r, l->node, x->v.type == MRS_ARRAY ? ARRAY : DOCUMENT, mrs_val_view(x->v));
    }
    return blocked(r, l, l->node, x);
}

/* The document has ended: processes the next missing child, or the end of the level. */
static enum mrs_status
absent(struct edit_run *r, struct edit_level *l)
{
    const struct mrsi_path_node *node = l->node;
    bool visit = r->mode == EDIT && r->how->visit_missing && l->kind != ARRAY && l->unseen > 0;
    while (visit && l->missing < node->n_child) {
        uint32_t i = l->missing++;
        if (r->seen[l->seen + (i >> 6)] >> (i & 63) & 1) {
            continue;
        }
        if (node->child[i].leaf) {
            return edit_missing(r, l, &node->child[i]);
        }
        if (l->kind == DOCUMENT) {
            copy_to(r, l->w.end);
        }
        return push_made(r, &node->child[i]);
    }
    return pop(r);
}

static enum mrs_status
walk(struct edit_run *r)
{
    struct mrs_elem x;
    enum mrs_status s = MRS_OK;
    while (r->depth > 0 && s == MRS_OK && !r->out->bad) {
        struct edit_level *l = &r->stack[r->depth - 1];
        if (l->kind != ARRAY && l->unseen == 0) { /* all found: the remaining bytes are kept or removed at once */
            if (r->mode == PICK && l->w.at < l->w.end) {
                s = cut(r, l, l->w.at, l->w.end);
            }
            l->w.at = l->w.end;
        }
        int more = s == MRS_OK ? mrs_walk_next(&l->w, &x) : 0;
        if (more < 0) {
            s = mrs_err_set(r->e, MRS_FAIL, MRS_E_BSON, "damaged document");
        } else if (s == MRS_OK) {
            s = more == 0 ? absent(r, l) : l->kind == ARRAY ? item(r, l, &x) : field(r, l, &x);
        }
    }
    return s;
}

/* Runs r over d; the caller has set the fields of r that define the edit. */
static enum mrs_status
run_tree(struct edit_run *r, const struct mrsi_path_tree *tree, struct mrs_view d, bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    uint64_t few[WORDS];
    size_t before = r->out->n, words = tree->n_nodes / 64 + MRS_PATH_PARTS_MAX + 2;
    r->seen = few;
    if (words > WORDS) {
        r->seen = mrs_alloc_array(tree->mem, words, sizeof *r->seen);
        MRS_TRY(mrs_allocated(r->seen, words * sizeof *r->seen, r->e));
    }
    r->root = d;
    r->from = d.p;
    r->depth = 0;
    r->n_index = r->words = 0;
    r->twice = false;
    enum mrs_status s = push(r, &tree->root, DOCUMENT, d);
    MRS_THEN(s, walk(r));
    if (s == MRS_OK) {
        copy_to(r, d.p + d.n);
        s = mrs_buf_status(r->out, r->e);
    }
    if (s == MRS_OK && r->twice) { /* only now, after the function was called for every place */
        s = mrs_err_set(r->e, MRS_FAIL, MRS_E_REFUSED,
                        "duplicate field: a document that must be rewritten holds a name twice");
    }
    if (s == MRS_OK) {
        *changed = r->stack[0].changed;
    } else {
        r->out->n = before;
    }
    if (words > WORDS) {
        mrs_free(tree->mem, r->seen);
    }
    return s;
}

/* ---- edits ---- */
enum mrs_status
mrs_edit_new(struct mrs_mem *mem, struct mrs_edit **out, struct mrs_err *e)
{
    *out = mrs_zalloc(mem, sizeof **out);
    if (!*out) {
        return mrs_err_memory(e, sizeof **out);
    }
    (*out)->tree.mem = mem;
    return MRS_OK;
}

enum mrs_status
mrs_edit_add(struct mrs_edit *ed, const struct mrs_path *path, struct mrs_err *e)
{
    return mrsi_tree_add(&ed->tree, path, e);
}

void
mrs_edit_free(struct mrs_edit *ed)
{
    if (ed) {
        struct mrs_mem *mem = ed->tree.mem;
        mrsi_tree_clear(&ed->tree);
        mrs_free(mem, ed);
    }
}

enum mrs_status
mrs_edit_run(const struct mrs_edit *ed, const struct mrs_edit_run *how, struct mrs_view d, struct mrs_buf *out,
             bool *changed, struct mrs_err *e)
{
    MRS_ASSERT(how->fn && mrs_buf_is_sound(out));
    struct edit_run r;
    r.mode = EDIT;
    r.inner = how->inner_arrays;
    r.how = how;
    r.out = out;
    r.e = e;
    return run_tree(&r, &ed->tree, d, changed);
}

/* ---- projections ---- */
static const struct mrs_part id_part = {"_id", 3};
static const struct mrs_path id_path = {(struct mrs_part *)&id_part, 1, "_id"};

enum mrs_status
mrs_projection_new(struct mrs_mem *mem, const struct mrs_path *paths, uint32_t n, bool keep, bool without_id,
                   struct mrs_projection **out, struct mrs_err *e)
{
    MRS_ASSERT(paths || n == 0);
    struct mrs_projection *p = mrs_zalloc(mem, sizeof *p);
    enum mrs_status s = MRS_OK;
    *out = NULL;
    MRS_TRY(mrs_allocated(p, sizeof *p, e));
    p->tree.mem = mem;
    p->keep = keep;
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        s = mrsi_tree_add(&p->tree, &paths[i], e);
    }
    if (s == MRS_OK && keep && !without_id && mrsi_tree_lookup(&p->tree.root, "_id", 3) < 0) {
        s = mrsi_tree_add(&p->tree, &id_path, e);
    }
    if (s != MRS_OK) {
        mrs_projection_free(p);
        return s;
    }
    *out = p;
    return MRS_OK;
}

void
mrs_projection_free(struct mrs_projection *p)
{
    if (p) {
        struct mrs_mem *mem = p->tree.mem;
        mrsi_tree_clear(&p->tree);
        mrs_free(mem, p);
    }
}

enum mrs_status
mrs_projection_run(const struct mrs_projection *p, struct mrs_view d, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct edit_run r;
    bool changed;
    r.mode = p->keep ? PICK : DROP;
    r.inner = true;
    r.how = NULL;
    r.out = out;
    r.e = e;
    return run_tree(&r, &p->tree, d, &changed);
}
