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
#define EXT_AT_ONCE (2u << 20) /* of children that are kept until they are asked for */
#define EXT_NONE UINT32_MAX
/* What is at the path and has no parts: bits of mrs_ctx.remarks. */
enum ext_remark { EXT_ARRAY, EXT_NULL, EXT_EMPTY, EXT_SCALAR };

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
    const char *map; /* field for the names of the parts, which are the fields of a document; NULL */
    uint32_t map_len;
    struct {
        bool given;
        struct mrs_path path;
        const char *parent_ref; /* NULL: none */
        uint32_t parent_ref_len;
        struct mrs_edit *edit;  /* takes the path out of a part */
    } nested;                   /* parts inside of parts */
    bool reads_elements;        /* an expression may ask for $$ELEMENTS */
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
    bool child_is_path;          /* the ids are where the elements were */
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
    uint32_t list;            /* no. of its list */
    uint32_t around;          /* `nested`: no. of the part that it lies in; EXT_NONE */
    const char *name;         /* `map`: of its field */
    uint32_t name_len;
    bool alone;               /* `nested`: a single document, its index counts for ids only */
    bool stays;               /* a copy stays (`leave`) */
    bool out;                 /* it is extracted */
    uint32_t rank;            /* place among those that stay */
};
/* One field that holds elements: an array, or a single document (with `map` its fields are the elements). */
struct ext_list {
    struct mrs_val v, key;   /* itself, and the key of its parent */
    uint32_t part, n_part;
    uint32_t index, n_index; /* as in struct ext_part, of each of its elements in its turn */
    uint32_t id_at;          /* where the `_id` of the first part lies in the list of ids */
    bool array;
};
/* The parts of a document in their order (extract_each.c). */
struct ext_each {
    uint32_t at, list; /* of the next */
    uint32_t left;     /* in the list that is gone through */
    struct mrs_walk walk;
    struct ext_part part;
};
struct ext_span {
    uint32_t off, len;
    bool made; /* its `_id` is a new one */
};

struct ext_work {
    bool ready;
    struct mrs_buf part, list, index, child_group, count_group;
    struct mrs_buf listed;    /* the document of the listed names */
    struct mrs_buf way;       /* struct mrs_val: of each list the documents on the way to it */
    struct mrs_buf frame;     /* `nested`: open arrays */
    struct mrs_buf elements;  /* $$ELEMENTS of the part `around` it and of its list */
    uint32_t elements_list, elements_around;
    uint64_t elements_made;   /* bytes, of this document */
    struct mrs_buf keys, rank; /* `leave`: sort keys, numbers of parts */
    struct mrs_buf element, shaped, value; /* scratch of one document */
    struct mrs_buf made;      /* children or pages */
    struct mrs_buf span;      /* struct ext_span of each */
    struct mrs_buf id;        /* struct ext_span of each extracted part's `_id`, type byte first, in ids */
    struct mrs_buf ids;
    struct mrs_buf source, raw;
    struct mrs_view self;     /* the source as it leaves the step */
    struct mrs_view doc;      /* as it came */
    bool later;               /* there are children that are made when they are asked for: */
    struct ext_each rest;
    uint32_t at;              /* next product */
    uint32_t n_pages;
};

static inline struct ext_part *
ext_parts(const struct ext_work *w)
{
    return (struct ext_part *)(void *)w->part.p;
}
/* Whether parts lie in work.part; else they are found again in the document whenever they are asked for. */
static inline bool
ext_stores(const struct mrsi_extract *s)
{
    return s->leave.given || s->nested.given;
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

/* $$PARENT, $$POSITION, $$ELEMENTS */
enum { EXT_VARS = 3 };

/* One document on its way through the step. */
struct ext_doc {
    const struct mrsi_extract *s;
    struct mrs_ctx *c;
    struct ext_work *w;
    struct mrs_view doc;
    struct mrs_val own_id; /* the source's `_id`; missing */
};

/* The walk along the path: where it is. index: of the arrays, and with `nested` one of each level, which end with the
 * levels that documents are read with. */
#define EXT_INDEX_MAX (MRS_PATH_PARTS_MAX + MRS_DEPTH_READ)
struct ext_walker {
    struct ext_doc *x;
    struct mrs_val key;                      /* of the parent */
    struct mrs_val way[MRS_PATH_PARTS_MAX];  /* documents passed below the source, one a name */
    uint32_t n_index, index[EXT_INDEX_MAX];
};

/* ---- extract_parts.c ---- */
/* A part at the place where the walk is. */
enum mrs_status mrsi_extract_add(struct ext_walker *w, struct ext_part part);
void mrsi_extract_work_start(struct ext_work *w, struct mrs_mem *mem);
void mrsi_extract_work_clear(struct mrs_ctx *c, void *work);
/* Finds the elements of the document, and decides which stay. */
enum mrs_status mrsi_extract_find(struct ext_doc *x);

/* ---- extract_each.c ---- */
/* The next part; NULL: there is none. It lives until the next call. */
struct ext_part *mrsi_extract_next(const struct ext_doc *x, struct ext_each *each);

/* ---- extract_nested.c ---- */
/* The parts of a list and those inside of them. */
enum mrs_status mrsi_extract_nested(struct ext_walker *w, struct mrs_val v);
/* A part without the parts inside of it, in scratch of the work. */
enum mrs_status mrsi_extract_bare(struct ext_doc *x, struct mrs_val v, struct mrs_val *out);
/* Fills in the key of a part that lies in another one: the `_id` of that, which was made before. */
enum mrs_status mrsi_extract_inner_key(struct ext_doc *x, struct ext_part *p);

/* ---- extract_vars.c ---- */
enum mrs_status mrsi_extract_position(struct ext_doc *x, const struct ext_part *p, struct mrs_val *out);
/* The variables of the expressions that see a part; $$ELEMENTS only where one may ask for it. */
enum mrs_status mrsi_extract_vars(struct ext_doc *x, const struct ext_part *p, struct mrs_val vars[EXT_VARS]);

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
