/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - dotted paths: reads keys for `match`, and rewrites documents at paths as raw bytes.
 *
 * In MongoDB a path has several meanings (reference: server document_path_support, projection executor); each is a
 * separate function here. Expression paths are in expr.h. A compiled path is immutable and may be shared between
 * threads; its bytes live as long as the memory it was compiled into. */
#ifndef MONGORESHAPE_PATH_H
#define MONGORESHAPE_PATH_H

#include "mongoreshape/doc.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_part {
    const char *name; /* ends in NUL */
    uint32_t len;
};
struct mrs_path {
    struct mrs_part *part;
    uint32_t n;
    const char *text; /* the dotted text, for messages and ids; list paths are joined by dots */
};

/* Whether a path may contain this name after its first part although it begins with a dollar sign: the fields of a
 * DBRef. */
static inline bool
mrs_name_is_dbref(const char *name, size_t n)
{
    return (n == 4 && memcmp(name, "$ref", 4) == 0) ||
           (n == 3 && (memcmp(name, "$id", 3) == 0 || memcmp(name, "$db", 3) == 0));
}

/* Compiles a string value "a.b.c" or an array value ["a", "b.c"] (names with dots or `$`; only if list_ok). FAIL
 * MRS_E_PLAN, the reason in msg: empty, empty parts, NUL, a part that begins with `$` (string form), more than
 * MRS_PATH_PARTS_MAX parts, wrong type. */
enum mrs_status mrs_path_compile(struct mrs_arena *a, struct mrs_val spec, bool list_ok, struct mrs_path *out,
                                 struct mrs_err *e);
bool mrs_path_equal(const struct mrs_path *a, const struct mrs_path *b);
/* 0: unrelated; 1: equal; 2: a is a prefix of b (a contains b); 3: b is a prefix of a. */
int mrs_path_relation(const struct mrs_path *a, const struct mrs_path *b);
/* For dotted texts: whether they are equal or one contains the other. "" contains everything, `a*` is every name with
 * that prefix, and a path that begins with `**.` may be anywhere. */
bool mrs_path_texts_meet(const char *a, const char *b);

/* ---- match meaning (PLAN.md section 2) ----
 * Calls fn for each value at the path in d. Each name fans out over arrays by one level, digits are field names. The
 * last value fans out too: an array at the end yields its elements (an inner array is one value), [] none. If nothing
 * at all was found and no array was on the way, fn is called once with a missing value; inside arrays missing elements
 * yield nothing. In document order. fn returns OK to continue; any other status stops and is returned. whole: an array
 * at the end is one value instead. */
typedef enum mrs_status (*mrs_path_fn)(void *arg, struct mrs_val v);
enum mrs_status mrs_path_each(const struct mrs_path *path, struct mrs_view d, bool whole, mrs_path_fn fn, void *arg);
/* The value at the path through documents only; missing if an array or a scalar is on the way. First of duplicate
 * names. */
struct mrs_val mrs_path_get(const struct mrs_path *path, struct mrs_view d);

/* ---- rewriting ----
 * An edit is a set of paths, compiled to a tree; none may equal or lie inside another. mrs_edit_run copies a document
 * and calls fn at every place that a path leads to: through documents, and through arrays into each of their documents.
 * fn sees the element there (or that it is missing), and returns its replacement. Bytes outside the paths are copied
 * unchanged; so is an array without changes; a changed array is renumbered.
 *
 * Field order: existing fields keep their place. A missing field is appended at the end of its document, in the order
 * in which the paths were added. Missing intermediate documents are created (one for all paths through them) only if a
 * call of fn below writes something. */
struct mrs_edit;

enum mrs_edit_verdict {
    MRS_EDIT_KEEP,   /* leave the element (or leave it missing) */
    MRS_EDIT_REMOVE, /* remove the element; missing: no effect */
    MRS_EDIT_PUT,    /* replace the element by *put, same name; a missing value counts as REMOVE */
    /* fn appended complete elements itself (any number, any names) to `raw`; they replace the element in its place (or
     * are appended) */
    MRS_EDIT_SPLICE
};

struct mrs_edit_site {
    uint32_t path_no;             /* index in the order of mrs_edit_add */
    struct mrs_view root;         /* the document being edited */
    struct mrs_view holder;       /* the document that contains, or would contain, the field, before the edit */
    struct mrs_val old;           /* value before the edit; missing */
    const char *name;             /* last part of the path */
    uint32_t name_len;
    const uint32_t *index;        /* positions in the arrays on the way, outermost first */
    uint32_t n_index;
    /* the path is blocked here: instead of a document there is null, a scalar, or an array directly inside an array.
     * holder is the nearest document above. Verdict KEEP continues (nothing can be written here), any status but OK
     * stops */
    bool blocked;
    uint8_t block_type;           /* type of the blocking value, */
    bool block_item;              /* which is an element of the array */
    const char *block;            /* in the field of this name */
    uint32_t block_len;
};
typedef enum mrs_status (*mrs_edit_fn)(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict,
                                       struct mrs_val *put, struct mrs_buf *raw, struct mrs_err *e);

/* An edit without paths. OK with *out, which the caller frees by mrs_edit_free; DEAD MRS_E_MEMORY. */
enum mrs_status mrs_edit_new(struct mrs_mem *mem, struct mrs_edit **out, struct mrs_err *e);
/* Adds a path. FAIL MRS_E_PLAN: it equals, contains or lies inside a path added before. The path's memory must outlive
 * the edit. */
enum mrs_status mrs_edit_add(struct mrs_edit *ed, const struct mrs_path *path, struct mrs_err *e);
void mrs_edit_free(struct mrs_edit *ed); /* NULL: no effect */

/* Further parameters of mrs_edit_run. */
struct mrs_edit_run {
    mrs_edit_fn fn;
    void *arg;
    bool visit_missing; /* call fn also if the field is missing (writes); false: only for existing fields (removals) */
    struct mrs_buf *raw; /* scratch for SPLICE, reset before each call of fn; NULL: fn never splices */
    /* also pass through arrays directly inside arrays, as the server's $unset does; false: they block writes and end
     * removals */
    bool inner_arrays;
};
/* Appends the edited document to out. *changed: whether any byte differs (if false, out still receives a copy). A
 * document with duplicate names on a level that must be rewritten: FAIL MRS_E_REFUSED ("duplicate field"), after fn was
 * called for every place. OK, the status of fn, FAIL MRS_E_LIMIT (depth), DEAD MRS_E_MEMORY. On failure out is as long
 * as before. */
enum mrs_status mrs_edit_run(const struct mrs_edit *ed, const struct mrs_edit_run *how, struct mrs_view d,
                             struct mrs_buf *out, bool *changed, struct mrs_err *e);

/* ---- projection: keep or leave out named fields (`fields` as a list, `drop`) ----
 * keep: only these paths, and _id if it exists unless without_id, in the document's order (inclusion goes through
 * arrays into each of their documents; scalars in such arrays are removed, as in the server's inclusion projection).
 * drop: all but these paths. Both pass through arrays directly inside arrays. Appends to out; duplicates as in
 * mrs_edit_run. */
struct mrs_projection;
enum mrs_status mrs_projection_new(struct mrs_mem *mem, const struct mrs_path *paths, uint32_t n, bool keep,
                                   bool without_id, struct mrs_projection **out, struct mrs_err *e);
void mrs_projection_free(struct mrs_projection *p);
enum mrs_status mrs_projection_run(const struct mrs_projection *p, struct mrs_view d, struct mrs_buf *out,
                                   struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
