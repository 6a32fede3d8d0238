/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - paths with stars (`**`: any number of levels, `a*`: names with a prefix) in set, unset, rename and
 * cast. */
#ifndef MRSI_PATTERN_H
#define MRSI_PATTERN_H

#include "steps/kit/map.h"

/* The parts of a pattern that the names of a level may match: bit i is part i, bit path.n means that the path is
 * complete. */
typedef unsigned __int128 mrsi_states;

struct mrsi_pattern {
    struct mrs_path path;    /* a part that ends in `*` is a prefix; `**` is any number of levels */
    uint32_t deep;           /* index of `**`; path.n: none */
    uint32_t star;           /* index of the last part with a star */
    struct mrsi_slot value;  /* its value in the plan; missing in a list */
    const char *touch;       /* the reachable paths, for the description */
    struct mrs_expr *expr;   /* set: the value; rename: the name, or NULL */
    bool of_name;            /* the expression reads only the name */
    const char *text;        /* rename: the new name; its star becomes what the last star matched */
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

/* Reads the entries of `fields` (a map or list of paths) that are patterns; *plain gets the others, missing if there
 * are none. */
bool mrsi_patterns_read(struct mrsi_read *r, struct mrsi_slot fields, struct mrsi_patterns *out,
                        struct mrsi_slot *plain);
/* Reads `types`, after the patterns. plain_too: it also applies to plain paths; else it requires patterns. */
void mrsi_patterns_types(struct mrsi_read *r, struct mrsi_patterns *p, bool plain_too);
/* Compiles the value of a pattern as an expression with $$NAME and $$VALUE. */
void mrsi_pattern_expr(struct mrsi_read *r, struct mrsi_pattern *p);

/* The states at the top of a document, and after a name. */
mrsi_states mrsi_pattern_begin(const struct mrsi_pattern *p);
mrsi_states mrsi_pattern_step(const struct mrsi_pattern *p, mrsi_states at, const char *name, uint32_t len);
static inline bool
mrsi_pattern_reached(const struct mrsi_pattern *p, mrsi_states s)
{
    return s >> p->path.n & 1;
}
/* The new name of a field from p->text; name: what the last star matched. In the arena; NULL: out of memory. */
const char *mrsi_pattern_new_name(const struct mrsi_pattern *p, struct mrs_arena *a, const char *name, uint32_t len);

/* The new path of an index: struct mrsi_moves.through of unset and rename. */
const char *mrsi_patterns_unset_path(const void *patterns, struct mrs_arena *a, const char *path, bool *dead);
const char *mrsi_patterns_rename_path(const void *patterns, struct mrs_arena *a, const char *path, bool *dead);

/* Describes what patterns can reach and what their expressions read. */
void mrsi_patterns_describe(struct mrsi_describe *t, const struct mrsi_patterns *p, const char *kinds);
/* "a, b and 7 more": of plain paths and patterns. */
const char *mrsi_patterns_names(struct mrsi_describe *t, const struct mrs_path *path, uint32_t n,
                                const struct mrsi_patterns *p);

/* ---- documents ---- */
struct mrsi_pattern_place {
    const struct mrsi_pattern *pattern;
    const char *name; /* of the field; for an element: of the field with its array */
    uint32_t len;
    struct mrs_val v; /* with nested values already visited */
    bool top;         /* a field of the document itself */
    const char *took; /* the name that the last star of the pattern matched */
    uint32_t took_len;
};
/* KEEP, REMOVE, PUT; SPLICE: the field gets the name *put. *put may be in the value or in the arena, which is released
 * afterwards. */
typedef enum mrs_status (*mrsi_pattern_fn)(void *arg, const struct mrsi_pattern_place *at,
                                           enum mrs_edit_verdict *verdict, struct mrs_val *put);
struct mrsi_pattern_run {
    const struct mrsi_patterns *patterns;
    mrsi_pattern_fn fn;
    void *arg;
    bool items;   /* also visit elements if `**` ends the path */
    bool lists;   /* visit arrays for all `types`: the visit checks their elements */
    bool first;   /* visit a value before its nested values: unset */
    bool inner;   /* names also match inside arrays in arrays, not only `**` */
    bool replace; /* a renamed field may replace another one */
};
/* Applies all patterns in turn. out: empty, or, if *changed, d after the plain paths. Afterwards it has the current
 * document; it is undefined if nothing changed. */
enum mrs_status mrsi_patterns_run(const struct mrsi_pattern_run *how, struct mrs_ctx *c, struct mrsi_work *w,
                                  struct mrs_view d, bool *changed);

#endif
