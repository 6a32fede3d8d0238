/* SPDX-License-Identifier: Apache-2.0 */
/* plan_internal.h - internal to common/plan: the tree of a plan's text, with positions, and the private part of the
 * plan.
 *
 * The tree is kept with the plan, so that a later error (against the catalog of an input) still has a line and
 * column. */
#ifndef MRSI_PLAN_INTERNAL_H
#define MRSI_PLAN_INTERNAL_H

#include "mongoreshape/yaml_text.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/plan.h"

#define MRSI_ERRORS_MAX 500u          /* further errors are counted in one line */
#define MRSI_ANCHORS_MAX 1000u        /* a plan has a handful; bounds the linear search */
#define MRSI_DIRECTIVES_MAX 100u      /* libyaml compares each %TAG with all earlier ones */
#define MRSI_EXPANDED_MAX MRS_DOC_MAX /* BSON bytes of a plan with its aliases expanded */

enum mrsi_node_kind { MRSI_SCALAR, MRSI_LIST, MRSI_MAP };

struct mrsi_yaml_node;
struct mrsi_yaml_entry { /* of a map (with key) or of a list */
    struct mrsi_yaml_entry *next;
    const char *key; /* "" in a list */
    uint32_t key_n;
    uint32_t line, col; /* of the key, in a list of the entry */
    struct mrsi_yaml_node *node;
};
struct mrsi_yaml_node { /* shared if the text has aliases: immutable after parsing */
    enum mrsi_node_kind kind;
    bool open;  /* its end was not parsed yet */
    bool plain; /* a scalar without quotes and tag */
    bool empty; /* an empty scalar */
    uint32_t line, col;
    uint32_t height; /* depth of nested containers, including itself; a scalar has 0 */
    uint32_t count;
    uint64_t size;      /* estimated BSON bytes, with aliases expanded */
    struct mrs_val val; /* of a scalar */
    struct mrsi_yaml_entry *first, *last;
};

struct mrsi_step_src {
    const char *type_name;
    uint32_t line, col;
    struct mrsi_yaml_node *body; /* NULL: none */
};

struct mrsi_change {
    char sign; /* '+' new, '-' dropped, '~' changed */
    const char *ns;
    struct mrs_view index; /* the current index; if dropped, the old one */
};

struct mrsi_plan {
    struct mrs_plan pub; /* first: a struct mrs_plan * can be cast to this */
    struct mrsi_yaml_node *root;
    struct mrsi_step_src *src;   /* one for each step */
    uint32_t cap_errors, unseen; /* unseen: beyond MRSI_ERRORS_MAX */
    bool dead;                   /* memory was out */
    const char **notes;          /* of the catalogue, after mrs_plan_check */
    uint32_t n_notes;
    struct mrsi_change *changes; /* to indexes, after mrs_plan_check */
    uint32_t n_changes, cap_changes;
};

/* yaml.c: parses text into p->root. Errors go to p; true: the tree is complete enough to continue. */
bool mrsi_yaml_read(struct mrsi_plan *p, const char *text, size_t n);
/* pairs.c: text with JSON's surrogate pairs in YAML's form; itself, or a copy in the plan's arena. False: out of
 * memory. */
bool mrsi_json_pairs(struct mrsi_plan *p, const char *text, size_t n, const char **out,
                     size_t *out_n);

/* yaml_tree.c */
struct mrsi_yaml_entry *mrsi_tree_find(const struct mrsi_yaml_node *map, const char *key);
/* Position of `path` ("match.postId", "create.0.key") below node, or of the deepest part of it that exists. */
void mrsi_tree_locate(const struct mrsi_yaml_node *node, const char *path, uint32_t *line,
                      uint32_t *col);
/* The BSON value of a node, Extended JSON wrappers resolved, in the plan's arena. False: errors were reported, or
 * memory is out. */
bool mrsi_tree_val(struct mrsi_plan *p, const struct mrsi_yaml_node *node, struct mrs_val *out);

/* error.c */
void mrsi_plan_error(struct mrsi_plan *p, uint32_t line, uint32_t col, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void mrsi_plan_warning(struct mrsi_plan *p, uint32_t line, uint32_t col, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void mrsi_plan_errors_sort(struct mrsi_plan *p); /* by position in the file, without duplicates */
/* OK; or FAIL MRS_E_PLAN with the first error; DEAD: memory was out. */
enum mrs_status mrsi_plan_errors_status(const struct mrsi_plan *p, struct mrs_err *e);

/* key_shapes.c: checks the type of one key of a step. True: valid; *v may be replaced (null that means the word
 * `null`). */
bool mrsi_plan_key_check(struct mrsi_plan *p, const struct mrs_step_type *type,
                         const struct mrs_key *key, const struct mrsi_yaml_entry *at,
                         const char *default_db, struct mrs_val *v);
/* " (did you mean `x`?)" or ""; text has 96 bytes. */
const char *mrsi_plan_hint(char text[96], const char *word, const char *const *words, uint32_t n);

/* language_version.c: may a plan of this version have the step, and this key of it? */
#define MRSI_LATER "version 2 of the plan language has it, and this plan says `version: 1`"
bool mrsi_step_known(const struct mrs_step_type *t, uint32_t version);
bool mrsi_key_known(const struct mrs_step_type *t, const char *key, uint32_t version);

/* stars.c: a collection name in a plan. False: invalid. */
struct mrsi_star_name {
    const char *db, *coll;
    bool db_star, coll_star;
};
bool mrsi_star_name(const struct mrs_plan *p, struct mrs_val v, struct mrsi_star_name *out);
bool mrsi_star_there(const struct mrsi_star_name *n);
/* Reports an error at a key of a step; NULL or "": at the step. */
void mrsi_stars_wrong(struct mrsi_plan *p, const struct mrsi_step_src *src, const char *type, const char *key,
                      const char *what);
/* Checks the names with stars of a loaded step, and whether stars are allowed there. */
void mrsi_stars_check(struct mrsi_plan *p, struct mrs_step *s, const struct mrsi_step_src *src);

/* id.c: sets p->pub.canonical and id. version: from the plan, 0 if not given. bodies: one document for each step, keys
 * in the order of its table. */
enum mrs_status mrsi_plan_make_id(struct mrsi_plan *p, uint32_t version,
                                  const struct mrs_view *bodies, struct mrs_err *e);

/* index_changes.c: records the indexes of a catalog before the steps, and compares them afterwards. NULL, false: out of
 * memory. The catalog's bytes are borrowed in between. */
struct mrsi_before_coll {
    const char *ns;
    const struct mrs_view *index;
    uint32_t n;
};
struct mrsi_before {
    struct mrsi_before_coll *coll;
    uint32_t n;
};
struct mrsi_before *mrsi_changes_before(struct mrsi_plan *p, struct mrs_catalog *cat);
bool mrsi_changes_after(struct mrsi_plan *p, struct mrs_catalog *cat, const struct mrsi_before *before);
/* "+ postId_1 of blog.comments: {...}, unique" */
void mrsi_change_words(const struct mrsi_change *c, struct mrs_buf *out);

/* explain.c: a labelled paragraph, wrapped; further lines are indented under the first. */
void mrsi_plan_fold(struct mrs_buf *out, const char *label, const char *text);
/* The same with the contents of line, which is emptied; a failure of line becomes one of out. */
void mrsi_plan_fold_line(struct mrs_buf *out, const char *label, struct mrs_buf *line);

/* live.c: the set of a touch while the plan expands: R, A or D. */
char mrsi_live_kind(const struct mrs_desc *d, const struct mrs_touch *t);

/* flow.c, beside yaml_text.h: a value as YAML on one line, which the loader reads back to the same bytes. */
void mrsi_flow_val(struct mrs_buf *out, struct mrs_val v);

#endif
