/* SPDX-License-Identifier: Apache-2.0 */
/* extract.h - the parts of the extract step among themselves. */
#ifndef MRSI_EXTRACT_H
#define MRSI_EXTRACT_H

#include "steps/kit/join_match.h"
#include "steps/kit/shape.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/group_ops.h"
#include "mongoreshape/inverse.h"

enum ext_refs { EXT_REFS_PARENT, EXT_REFS_CHILD, EXT_REFS_BOTH, EXT_REFS_NONE };
enum ext_id { EXT_ID_KEEP, EXT_ID_NEW, EXT_ID_EXPR };
#define EXT_BUF_MAX (8u * MRS_DOC_READ_MAX) /* of what is made of one document */
#define EXT_NONE UINT32_MAX

struct mrsi_extract {
    struct mrsi_owned keeper;
    struct mrs_coll from, into;
    struct mrs_query *where;
    struct mrs_path path;        /* n 0: the list form */
    struct mrsi_paths listed;    /* path: {fields: [...]} */
    struct mrs_val path_spec;    /* as the plan has it, for ids */
    struct mrs_path parent_key, child_refs, count, flag; /* n 0: none */
    uint32_t key_share, child_share, count_share; /* names in common with path */
    struct mrsi_paths unique;
    struct mrs_expr *id_expr;
    bool value_given;
    const char *parent_ref, *position, *value; /* parent_ref and position: NULL where there is none */
    uint32_t parent_ref_len, position_len;     /* 0 there */
    struct mrsi_shape shape;
    struct {
        bool given, limited, id;
        uint64_t limit;
        struct mrs_sort *sort;
        struct mrsi_shape shape;
    } leave;
    struct {
        bool given;
        uint64_t size;
        const char *ref, *number, *items;
    } pages;
    bool to_parent, to_child;    /* references: the child's to its parent, the parent's to its children */
    bool child_is_path;          /* the ids stand where the elements stood */
    bool rest, replace, indexes;
    int id, conflicts, errors;
    struct mrs_edit *edit;       /* path (or the listed names), child_refs, flag, count */
    uint32_t no_child, no_flag, no_count; /* EXT_NONE */
    bool quick;                  /* the source only loses a top-level field */
};

/* An element on its way out. */
struct ext_part {
    struct mrs_val v;
    struct mrs_val key;       /* of its parent; missing */
    uint32_t index, n_index;  /* positions in the arrays on the way, its own last: in work.index */
    bool stays;               /* a copy stays (`leave`) */
    bool out;                 /* it is extracted */
    uint32_t rank;            /* place among those that stay */
};
/* One field that holds elements: an array, or a single document. */
struct ext_list {
    uint32_t part, n_part;
    bool array;
};
struct ext_span {
    uint32_t off, len;
    bool made; /* its `_id` is a new one */
};

struct ext_work {
    bool ready;
    struct mrs_buf part, list, index, child_group, count_group;
    struct mrs_buf listed;    /* the document of the listed names */
    struct mrs_buf keys, rank; /* `leave`: sort keys, numbers of parts */
    struct mrs_buf element, shaped, value; /* scratch of one document */
    struct mrs_buf made;      /* children or pages */
    struct mrs_buf span;      /* struct ext_span of each */
    struct mrs_buf id;        /* struct ext_span of each extracted part's `_id`, type byte first, in ids */
    struct mrs_buf ids;
    struct mrs_buf source, raw;
    struct mrs_view self;     /* the source as it leaves the step */
    uint32_t at;              /* next product */
    uint32_t n_pages;
};

static inline struct ext_part *
ext_parts(const struct ext_work *w)
{
    return (struct ext_part *)(void *)w->part.p;
}
static inline uint32_t
ext_n_parts(const struct ext_work *w)
{
    return (uint32_t)(w->part.n / sizeof(struct ext_part));
}
static inline struct ext_list *
ext_lists(const struct ext_work *w)
{
    return (struct ext_list *)(void *)w->list.p;
}

/* One document on its way through the step. */
struct ext_doc {
    const struct mrsi_extract *s;
    struct mrs_ctx *c;
    struct ext_work *w;
    struct mrs_view doc;
    struct mrs_val own_id; /* the source's `_id`; missing */
};

/* ---- extract_parts.c ---- */
void mrsi_extract_work_start(struct ext_work *w, struct mrs_mem *mem);
void mrsi_extract_work_clear(struct mrs_ctx *c, void *work);
/* Finds the elements of the document, and decides which stay. */
enum mrs_status mrsi_extract_find(struct ext_doc *x);

/* ---- extract_child.c ---- */
/* The element as `fields` and `drop` leave it; without made `_id`, references and position. wrap: an element
 * that is no document becomes {value: element}; else it is given as it is. *out points into the document or into
 * scratch of the work. *own: it may still bring the element's own `_id`. */
enum mrs_status mrsi_extract_shape(struct ext_doc *x, const struct ext_part *p, bool wrap, struct mrs_val *out,
                                   struct mrs_val *own);
/* Appends the document made of part p to out, without parent_ref where `bare`. *made: its `_id` was made. key:
 * where not NULL the encoded key of `unique` is appended there (nothing: not merged). */
enum mrs_status mrsi_extract_child(struct ext_doc *x, const struct ext_part *p, bool bare, struct mrs_buf *out,
                                   bool *made, struct mrs_buf *key);
/* The encoded key of a document under `unique`, appended to out. *whole false: a part is missing or null,
 * nothing is appended. */
enum mrs_status mrsi_extract_key(const struct mrsi_extract *s, struct mrs_ctx *c, struct mrs_view d,
                                 struct mrs_buf *out, bool *whole);

/* ---- extract_pages.c ---- */
enum mrs_status mrsi_extract_pages(struct ext_doc *x);

/* ---- extract_source.c ---- */
/* The source afterwards, appended to out. ids: array document of the `_id`s of the extracted parts in their
 * order; empty where the step needs none. */
enum mrs_status mrsi_extract_source(struct ext_doc *x, struct mrs_view ids, struct mrs_buf *out);

/* ---- extract_kernels.c ---- */
extern const struct mrs_spread_ops mrsi_extract_spread;
extern const struct mrs_group_ops mrsi_extract_group;

/* ---- extract_describe.c ---- */
enum mrs_status mrsi_extract_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out,
                                      struct mrs_err *e);
enum mrs_status mrsi_extract_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e);

/* extract_invert.c */
enum mrs_status mrsi_extract_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);

#endif
