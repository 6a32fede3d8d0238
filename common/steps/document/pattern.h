/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - paths with stars (`**` any number of levels, `a*` names that begin so) in set, unset, rename and cast. */
#ifndef MRSI_PATTERN_H
#define MRSI_PATTERN_H

#include "steps/kit/map.h"

/* Which parts of a pattern the names of a level may be: bit i is part i, bit path.n means that the path ends there. */
typedef unsigned __int128 mrsi_states;

struct mrsi_pattern {
    struct mrs_path path;    /* a part that ends in `*` is a prefix, `**` is any number of levels */
    uint32_t deep;           /* index of `**`; path.n: there is none */
    uint32_t star;           /* index of the last part with a star */
    struct mrsi_slot value;  /* what the plan says of it; missing in a list */
    const char *touch;       /* what it can reach, as a path of a description */
    struct mrs_expr *expr;   /* set: of the value; rename: of the name, or NULL */
    bool of_name;            /* the expression reads nothing but the name */
    const char *text;        /* rename: the new name, in which a star is what the last one stood for */
};
struct mrsi_patterns {
    struct mrsi_pattern *item;
    uint32_t n;
    uint32_t types; /* bits of mrs_type_bit: only values of these */
    bool typed;     /* the plan has `types` */
};
/* The step's own variables in expressions of patterns. */
enum { MRSI_NAME, MRSI_VALUE, MRSI_PATTERN_VARS };

#define MRSI_TYPES_KEY "types", MRS_ARG_LIST, false, NULL

/* Takes the entries of `fields`, a map or list of paths, that are patterns; *plain is left with the others, missing
 * where there are none. */
bool mrsi_patterns_read(struct mrsi_read *r, struct mrsi_slot fields, struct mrsi_patterns *out,
                        struct mrsi_slot *plain);
/* Reads `types`, after the patterns. plain_too: it holds for plain paths as well, else it needs patterns. */
void mrsi_patterns_types(struct mrsi_read *r, struct mrsi_patterns *p, bool plain_too);
/* Reads the value of a pattern as an expression that sees $$NAME and $$VALUE. */
void mrsi_pattern_expr(struct mrsi_read *r, struct mrsi_pattern *p);

/* The states of the top of a document, and those behind a name. */
mrsi_states mrsi_pattern_begin(const struct mrsi_pattern *p);
mrsi_states mrsi_pattern_step(const struct mrsi_pattern *p, mrsi_states at, const char *name, uint32_t len);
static inline bool
mrsi_pattern_reached(const struct mrsi_pattern *p, mrsi_states s)
{
    return s >> p->path.n & 1;
}
/* The new name of a field by p->text; name: that which the last star took. In the arena; NULL without memory. */
const char *mrsi_pattern_new_name(const struct mrsi_pattern *p, struct mrs_arena *a, const char *name, uint32_t len);

/* What becomes of a path of an index: struct mrsi_moves.through of unset, and of rename. */
const char *mrsi_patterns_unset_path(const void *patterns, struct mrs_arena *a, const char *path, bool *dead);
const char *mrsi_patterns_rename_path(const void *patterns, struct mrs_arena *a, const char *path, bool *dead);

/* Touches of each kind for what patterns reach, and what their expressions read. */
void mrsi_patterns_describe(struct mrsi_describe *t, const struct mrsi_patterns *p, const char *kinds);
/* "a, b and 7 more": of plain paths and patterns. */
const char *mrsi_patterns_names(struct mrsi_describe *t, const struct mrs_path *path, uint32_t n,
                                const struct mrsi_patterns *p);

/* ---- documents ---- */
struct mrsi_pattern_place {
    const struct mrsi_pattern *pattern;
    const char *name; /* of the field; of an element: of the field that holds its array */
    uint32_t len;
    struct mrs_val v; /* with its inside done */
    bool top;         /* a field of the document itself */
    const char *took; /* the name that the last star of the pattern took */
    uint32_t took_len;
};
/* KEEP, REMOVE, PUT; SPLICE: the field gets the name that the text *put is. *put may lie in the value, or in the arena,
 * which is released behind it. */
typedef enum mrs_status (*mrsi_pattern_fn)(void *arg, const struct mrsi_pattern_place *at,
                                           enum mrs_edit_verdict *verdict, struct mrs_val *put);
struct mrsi_pattern_run {
    const struct mrsi_patterns *patterns;
    mrsi_pattern_fn fn;
    void *arg;
    bool items;   /* where `**` ends the path, elements are visited, too */
    bool lists;   /* else arrays are visited whatever `types` says: the visit judges their elements */
    bool first;   /* a value is visited before its inside: unset */
    bool inner;   /* arrays directly inside arrays are passed by names as well, not by `**` alone */
    bool replace; /* a renamed field takes the name of another one */
};
/* All patterns in turn. out: empty, or, where *changed, what plain paths have made of d; behind it the document as it
 * is now, or of no meaning where it was not changed. */
enum mrs_status mrsi_patterns_run(const struct mrsi_pattern_run *how, struct mrs_ctx *c, struct mrsi_work *w,
                                  struct mrs_view d, bool *changed);

#endif
