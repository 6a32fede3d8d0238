/* SPDX-License-Identifier: Apache-2.0 */
/* extract.h - interfaces between the files of the extract step. */
#ifndef MRSI_EXTRACT_H
#define MRSI_EXTRACT_H

#include "steps/kit/join_match.h"
#include "steps/kit/shape.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/group_ops.h"
#include "mongoreshape/inverse.h"

enum ext_refs { EXT_REFS_PARENT, EXT_REFS_CHILD, EXT_REFS_BOTH, EXT_REFS_NONE };
enum ext_id { EXT_ID_KEEP, EXT_ID_NEW, EXT_ID_EXPR };
#define EXT_BUF_MAX (8u * MRS_DOC_READ_MAX) /* maximum of a buffer for one document */
#define EXT_AT_ONCE (2u << 20) /* bytes of children that are stored before the engine requests them */
#define EXT_NONE UINT32_MAX
/* Bits of mrs_ctx.remarks: values at the path that are not parts; an `_id` was made of a place in an array. */
enum ext_remark { EXT_ARRAY, EXT_NULL, EXT_EMPTY, EXT_SCALAR, EXT_PLACE };

struct mrsi_extract {
    struct mrsi_owned keeper;
    struct mrs_coll from, into;
    struct mrs_query *where;
    struct mrs_path path;        /* n 0: the list form */
    struct mrsi_paths listed;    /* path: {fields: [...]} */
    struct mrs_val path_spec;    /* as in the plan, for ids */
    struct mrs_path parent_key, child_refs, count, flag; /* n 0: none */
    uint32_t key_share, child_share, count_share; /* length of the common prefix with path */
    struct mrsi_paths unique;
    struct mrs_expr *id_expr;
    const char *map; /* field for the names of the parts, which are the fields of a document; NULL */
    uint32_t map_len;
    struct {
        bool present;
        struct mrs_path path;
        const char *parent_ref; /* NULL: none */
        uint32_t parent_ref_len;
        struct mrs_edit *edit;  /* removes the path from a part */
    } nested;                   /* parts inside parts */
    bool reads_elements;        /* an expression may read $$ELEMENTS */
    bool value_present;
    const char *parent_ref, *position, *value; /* parent_ref and position: NULL if not used */
    uint32_t parent_ref_len, position_len;     /* then 0 */
    struct mrsi_shape shape;
    struct {
        bool present, limited, id;
        uint64_t limit;
        struct mrs_sort *sort;
        struct mrsi_shape shape;
    } leave;
    struct {
        bool present;
        uint64_t size;
        const char *ref, *number, *items;
    } pages;
    bool to_parent, to_child;    /* references: of the child to its parent, of the parent to its children */
    bool child_is_path;          /* the ids replace the elements */
    bool rest, replace, indexes;
    int id, conflicts, errors;
    struct mrs_edit *edit;       /* path (or the listed names), child_refs, flag, count */
    uint32_t no_child, no_flag, no_count; /* EXT_NONE */
    bool quick;                  /* fast path: the source only loses a top-level field */
};

/* An element to extract. */
struct ext_part {
    struct mrs_val v;
    struct mrs_val key;       /* key of its parent; missing */
    uint32_t index, n_index;  /* positions in the arrays on the path, its own last: in work.index */
    uint32_t list;            /* index of its list */
    uint32_t around;          /* `nested`: index of the part that contains it; EXT_NONE */
    const char *name;         /* `map`: name of its field */
    uint32_t name_len;
    bool alone;               /* `nested`: a single document, its index is used for ids only */
    bool keeps_copy;          /* the source keeps a copy (`leave`) */
    bool out;                 /* is extracted */
    uint32_t rank;            /* rank among the copies */
};
/* A field with elements: an array, or a single document (with `map` its fields are the elements). */
struct ext_list {
    struct mrs_val v, key;   /* its value, and the key of its parent */
    uint32_t part, n_part;
    uint32_t index, n_index; /* as in struct ext_part; set for one element after the other */
    uint32_t id_at;          /* offset of the `_id` of the first part in the list of ids */
    bool array;
};
/* Iterates over the parts of a document in order (extract_each.c). */
struct ext_each {
    uint32_t at, list; /* indexes of the next part and list */
    uint32_t left;     /* elements left in the current list */
    struct mrs_walk walk;
    struct ext_part part;
};
struct ext_span {
    uint32_t off, len;
    bool made; /* its `_id` is generated */
};

struct ext_work {
    bool ready;
    struct mrs_buf part, list, index, child_group, count_group;
    struct mrs_buf listed;    /* the document of the listed fields */
    struct mrs_buf way;       /* struct mrs_val: for each list the documents on its path */
    struct mrs_buf frame;     /* `nested`: open arrays */
    struct mrs_buf elements;  /* $$ELEMENTS of the list in the part `around` */
    uint32_t elements_list, elements_around;
    uint64_t elements_made;   /* bytes, in this document */
    struct mrs_buf keys, rank; /* `leave`: sort keys, indexes of parts */
    struct mrs_buf element, shaped, value; /* scratch for one document */
    struct mrs_buf made;      /* children or pages */
    struct mrs_buf span;      /* struct ext_span for each */
    struct mrs_buf id;        /* struct ext_span for each extracted part's `_id` in ids, type byte first */
    struct mrs_buf ids;
    struct mrs_buf source, raw;
    struct mrs_view self;     /* the resulting source */
    struct mrs_view doc;      /* the original source */
    bool later;               /* some children are made when the engine requests them: */
    struct ext_each rest;
    uint32_t at;              /* index of the next product */
    uint32_t n_pages;
};

static inline struct ext_part *
ext_parts(const struct ext_work *w)
{
    return (struct ext_part *)(void *)w->part.p;
}
/* Are the parts stored in work.part? Otherwise the document is walked again each time. */
static inline bool
ext_stores(const struct mrsi_extract *s)
{
    return s->leave.present || s->nested.present;
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

/* $$PARENT, $$POSITION, $$ELEMENTS, and with `map` $$NAME */
enum { EXT_PARENT, EXT_POSITION, EXT_ELEMENTS, EXT_NAME, EXT_VARS };

/* State of one document. */
struct ext_doc {
    const struct mrsi_extract *s;
    struct mrs_ctx *c;
    struct ext_work *w;
    struct mrs_view doc;
    struct mrs_val own_id; /* `_id` of the source; missing */
};

/* Position of the walk along the path. index: positions in the arrays; with `nested` one for each level, limited by the
 * depth of documents that are read. */
#define EXT_INDEX_MAX (MRS_PATH_PARTS_MAX + MRS_DEPTH_READ)
struct ext_walker {
    struct ext_doc *x;
    struct mrs_val key;                      /* key of the parent */
    struct mrs_val way[MRS_PATH_PARTS_MAX];  /* documents below the source on the path, one for each name */
    uint32_t n_index, index[EXT_INDEX_MAX];
};

/* ---- extract_parts.c ---- */
/* A part at the current position of the walk. */
enum mrs_status mrsi_extract_add(struct ext_walker *w, struct ext_part part);
void mrsi_extract_work_start(struct ext_work *w, struct mrs_mem *mem);
void mrsi_extract_work_clear(struct mrs_ctx *c, void *work);
/* Finds the elements of the document, and decides which of them stay. */
enum mrs_status mrsi_extract_find(struct ext_doc *x);

/* ---- extract_each.c ---- */
/* The next part; NULL: none. Valid until the next call. */
struct ext_part *mrsi_extract_next(const struct ext_doc *x, struct ext_each *each);

/* ---- extract_nested.c ---- */
/* Adds the parts of a list, and the parts inside them. */
enum mrs_status mrsi_extract_nested(struct ext_walker *w, struct mrs_val v);
/* A part without the parts inside it, in the work's scratch. */
enum mrs_status mrsi_extract_bare(struct ext_doc *x, struct mrs_val v, struct mrs_val *out);
/* Sets the key of a part inside another one: that one's `_id`, which was made before. */
enum mrs_status mrsi_extract_inner_key(struct ext_doc *x, struct ext_part *p);

/* ---- extract_vars.c ---- */
enum mrs_status mrsi_extract_position(struct ext_doc *x, const struct ext_part *p, struct mrs_val *out);
/* `map`: the name of the field that is the part, as a text in the arena. */
enum mrs_status mrsi_extract_name(struct ext_doc *x, const struct ext_part *p, struct mrs_val *out);
/* The variables of expressions on a part; $$ELEMENTS only if an expression may read it. */
enum mrs_status mrsi_extract_vars(struct ext_doc *x, const struct ext_part *p, struct mrs_val vars[EXT_VARS]);

/* ---- extract_child.c ---- */
/* The element after `fields` and `drop`, without generated `_id`, references and position. wrap: an element that is not
 * a document becomes {value: element}; else it is returned unchanged. *out points into the document or into the work's
 * scratch. *own: it may contain the element's own `_id`. */
enum mrs_status mrsi_extract_shape(struct ext_doc *x, const struct ext_part *p, bool wrap, struct mrs_val *out,
                                   struct mrs_val *own);
/* Appends the document for part p to out, without parent_ref if `bare`. *made: its `_id` is generated. key: if not
 * NULL, gets the encoded key of `unique` (nothing: not merged). */
enum mrs_status mrsi_extract_child(struct ext_doc *x, const struct ext_part *p, bool bare, struct mrs_buf *out,
                                   bool *made, struct mrs_buf *key);
/* Appends the encoded key of a document under `unique` to out. *whole false: a part is missing or null, nothing is
 * appended. */
enum mrs_status mrsi_extract_key(const struct mrsi_extract *s, struct mrs_ctx *c, struct mrs_view d,
                                 struct mrs_buf *out, bool *whole);

/* ---- extract_pages.c ---- */
enum mrs_status mrsi_extract_pages(struct ext_doc *x);

/* ---- extract_source.c ---- */
/* Appends the resulting source to out. ids: array document with the `_id`s of the extracted parts in order; empty if
 * the step does not need them. */
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
