/* SPDX-License-Identifier: Apache-2.0 */
/* twin.h - a second, naive implementation of the plan language, for comparison only.
 *
 * All data are trees in memory, every join is a double loop, every decision is made by reading all documents again. It
 * was written from the contract alone and shares no line with common/: a result on which both programs agree is very
 * probably that of the contract. It must not include anything of <mongoreshape/...>. */
#ifndef TWIN_H
#define TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* BSON type codes as they are in the bytes. */
enum {
    T_DOUBLE = 1, T_STRING = 2, T_DOC = 3, T_ARRAY = 4, T_BINARY = 5, T_UNDEFINED = 6, T_OID = 7, T_BOOL = 8,
    T_DATE = 9, T_NULL = 10, T_REGEX = 11, T_DBPOINTER = 12, T_CODE = 13, T_SYMBOL = 14, T_CODEWSCOPE = 15,
    T_INT32 = 16, T_TIMESTAMP = 17, T_INT64 = 18, T_DECIMAL = 19, T_MINKEY = 255, T_MAXKEY = 127
};

struct val;
struct field {
    const char *name;
    struct val *v;
};
/* A value; a NULL pointer is "missing". Leaves keep their BSON payload as it was read. */
struct val {
    int type;
    const uint8_t *raw;
    uint32_t len;
    struct field *f; /* of documents and arrays */
    uint32_t n, cap;
};

struct vals {
    struct val **v;
    uint32_t n, cap;
};

#define PATH_MAX_PARTS 16
struct path {
    const char *p[PATH_MAX_PARTS];
    uint32_t n;
};

/* ---- value.c: memory (one arena, emptied between seeds), trees, comparison, numbers */
void *tw_new(size_t n);
char *tw_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tw_free_all(void);
struct val *tw_parse(const uint8_t *bytes, uint32_t len);       /* a document; NULL: damaged */
const uint8_t *tw_bytes(const struct val *doc, uint32_t *len);  /* of a document or array */
struct val *tw_leaf(int type, const void *raw, uint32_t len);
struct val *tw_doc(void);
struct val *tw_array(void);
struct val *tw_int32(int32_t x);
struct val *tw_int64(int64_t x);
struct val *tw_double(double x);
struct val *tw_string(const char *s);
struct val *tw_bool(bool b);
struct val *tw_null(void);
struct val *tw_copy(const struct val *v); /* deep */
struct val *tw_get(const struct val *doc, const char *name); /* the first of that name */
int tw_index(const struct val *doc, const char *name);       /* -1: none */
void tw_push(struct val *doc, const char *name, struct val *v);
void tw_append(struct val *array, struct val *v);
void tw_put(struct val *doc, const char *name, struct val *v); /* in its place, else at the end */
void tw_cut(struct val *doc, uint32_t i);
void tw_insert(struct val *doc, uint32_t at, const char *name, struct val *v);
void tw_renumber(struct val *array);
void tw_fix_names(const struct val *old, struct val *now); /* arrays in which something changed are renumbered */
bool tw_has_duplicates(const struct val *doc);
void tw_add(struct vals *list, struct val *v);
bool tw_is_nullish(const struct val *v);
bool tw_is_number(const struct val *v);
const char *tw_str(const struct val *v); /* text of a string, else NULL */
int32_t tw_as_int(const struct val *v, int32_t otherwise);
bool tw_as_bool(const struct val *v, bool otherwise);
double tw_num_double(const struct val *v);
int64_t tw_num_int64(const struct val *v);
int tw_compare(const struct val *a, const struct val *b); /* MongoDB's order over all types */
bool tw_same_bytes(const struct val *a, const struct val *b);
struct val *tw_new_id(const char *ns, const char *from, struct val *key, struct val *path, struct val *pos,
                      bool with_time);
const char *tw_json(const struct val *doc);

/* ---- the world: collections, refused documents, and what the contract leaves open */
struct coll {
    const char *db, *name, *ns;
    struct vals docs;
    bool gone;
    bool series, apart;   /* a time series of the input; its buckets lie in a collection of their own */
    struct vals buckets;
    uint32_t n_was;       /* measurements in them */
};
struct refused {
    const char *ns;
    int step;
    struct val *doc;
    const char *why;
};
struct world {
    struct coll *c[64];
    uint32_t n;
    struct refused *r;
    uint32_t nr, cap;
    const char *database;
    int step;
    struct val *args; /* of the step that runs */
    const char *unclear; /* not NULL: the contract does not settle what this input needs; compare nothing */
    const char *wrong;   /* not NULL: a plan that the twin does not take */
};

void tw_refuse(struct world *w, const struct coll *c, struct val *doc, const char *why);
void tw_unclear(struct world *w, const char *why);
struct coll *tw_coll(struct world *w, const struct val *spec, bool create);
struct coll *tw_coll_named(struct world *w, const char *db, const char *name, bool create);
struct val *tw_arg(const struct world *w, const char *name);
const char *tw_word(const struct world *w, const char *name, const char *otherwise);
bool tw_flag(const struct world *w, const char *name);
bool tw_world_read(struct world *w, const char *dir);
bool tw_world_write(const struct world *w, const char *dir);
/* series.c: time series become their measurements; whether all of them are still there */
void tw_series_read(struct world *w, const char *dir);
bool tw_series_is_whole(const struct coll *c);
bool tw_run_plan(struct world *w, const struct val *plan); /* false: w->wrong */

/* ---- path.c */
struct path tw_path(const struct val *spec);
struct path tw_path_of(const char *text);
struct path tw_rest(const struct path *p, uint32_t skip);
bool tw_path_same(const struct path *a, const struct path *b);
uint32_t tw_common(const struct path *a, const struct path *b); /* equal names in front, last names never count */
void tw_match_values(struct val *doc, const struct path *p, uint32_t i, struct vals *out);

enum put { PUT_OK, PUT_BLOCKED, PUT_NO_PLACE, PUT_EXISTS, PUT_DUPLICATES };
enum put tw_probe(struct val *doc, const struct path *p, bool replace);
void tw_write(struct val *doc, const struct path *p, struct val *v);
void tw_remove(struct val *doc, const struct path *p);
bool tw_remove_needs_duplicates(struct val *doc, const struct path *p);

/* A document that a path reaches without its last names, with the documents passed and the places in arrays. */
struct holder {
    struct val *doc;
    struct val *chain[PATH_MAX_PARTS];
    uint32_t at; /* names of the path used up to here */
    int32_t pos[PATH_MAX_PARTS];
    uint32_t npos;
};
struct holders {
    struct holder *h;
    uint32_t n, cap;
    struct holder *lack; /* documents where the way ends because the next name is missing */
    uint32_t nlack, caplack;
    uint32_t blocked; /* values on the way that are no documents */
    uint32_t arrays;
};
void tw_holders(struct val *doc, const struct path *p, uint32_t names, struct holders *out);

struct val *tw_include(const struct val *doc, const struct val *list, bool id); /* a `fields` list */
int tw_sort_key(struct val *doc, const struct val *spec, struct vals *key);     /* not 0: parallel arrays */
int tw_sort_compare(const struct vals *a, const struct vals *b, const struct val *spec);

/* ---- expr.c; 0: done (*out NULL is missing), 1: the expression fails */
struct vars {
    struct val *root, *parent, *position, *elements, *name, *value;
};
int tw_eval(struct world *w, const struct val *e, const struct vars *vars, struct val **out);
void tw_resolve_where(struct world *w); /* far.c */
int tw_query(struct world *w, const struct val *q, struct val *doc, bool *yes);
int tw_convert(struct world *w, const struct val *v, const char *to, struct val **out);
/* `fields` (list or map) and `drop` on a document; 1: fails. errors: the policy word. */
struct shape {
    struct val *fields, *drop;
    const char *errors;
    bool keep_id; /* `_id` stays whatever the keys say */
};
int tw_shape(struct world *w, const struct shape *s, const struct vars *vars, struct val **out);

/* ---- acc.c: {$sum: ...} over all documents of a group, in order; 1: fails */
int tw_accumulate(struct world *w, const struct val *acc, struct val **docs, uint32_t n, struct val **out);

int tw_group_key(struct world *w, struct val *doc, struct val **out); /* rollup.c: `by` of a document; 1: fails */

/* ---- pattern.c: paths with a star of the step's `fields`, one after the other, on `now`; false: it is refused */
bool tw_is_pattern(const char *name);
bool tw_has_type(struct world *w, const struct val *v); /* of those in `types` */
bool tw_patterns(struct world *w, const char *step, struct val *old, struct val *now);
/* single.c: as cast does it, arrays element by element; 1: refused */
int tw_cast_value(struct world *w, struct val *v, const struct val *to, const char *errors, struct val **out);

/* ---- number.c: one of + - * / as the expression of that name; 1: fails */
int tw_arith(struct world *w, char op, const struct val *a, const struct val *b, struct val **out);
const char *tw_whole_text(const struct val *number); /* NULL: it is no whole number */
struct val *tw_decimal(const struct val *number); /* a double has 15 digits */

/* ---- window_ops.c: what an operator of a window says of one document of its group */
struct frame {
    const struct val *lo, *hi; /* a number, `current` or `unbounded` */
    const char *unit;
    bool range;
};
struct group_of {
    struct val **doc; /* in order */
    struct vals *key; /* of `sort`, NULL: none */
    const struct val *sort;
    const char *over;
    uint32_t n;
};
bool tw_is_window_op(const struct val *e, bool top);
int tw_window_op(struct world *w, const struct group_of *g, const struct val *op, uint32_t i, struct val **out);

/* ---- conflict.c */
enum made {
    GIVEN,     /* the document had its `_id`, or the plan says it: equal ones are one */
    MADE,      /* the step made it: an equal one of this step is another one */
    MADE_HERE, /* so is one that is there, for it is of the same collection */
};
struct cand {
    struct val *doc;
    uint32_t source;
    enum made made;
};
/* Marks in refused[] the sources of candidates whose `_id` disagrees, then, without these, those of equal documents
 * that are two all the same (policy refuse only). */
void tw_conflicts(const struct vals *have, const struct cand *c, uint32_t n, const char *policy, bool *refused,
                  bool overwrite);
/* Adds what is left; policy first and last decide who stays. */
void tw_admit(struct vals *have, const struct cand *c, uint32_t n, const char *policy,
              const bool *refused, bool overwrite);
bool tw_bad_id(const struct val *id);

/* ---- steps */
void tw_step_embed(struct world *w);
void tw_step_extract(struct world *w);
void tw_step_copy(struct world *w);
void tw_step_rollup(struct world *w);
void tw_step_window(struct world *w);
void tw_step_link(struct world *w);
void tw_step_rekey(struct world *w);
void tw_step_set(struct world *w);
void tw_step_unset(struct world *w);
void tw_step_rename(struct world *w);
void tw_step_cast(struct world *w);
void tw_step_replace(struct world *w);
void tw_step_order(struct world *w);
void tw_step_pack(struct world *w);
void tw_step_unpack(struct world *w);
void tw_step_split(struct world *w);
void tw_step_move(struct world *w);
void tw_step_union(struct world *w);
void tw_step_partition(struct world *w);
void tw_step_grid(struct world *w);
void tw_step_tree(struct world *w);
void tw_step_bucket(struct world *w);
void tw_step_unbucket(struct world *w);
void tw_step_rename_collection(struct world *w);
void tw_step_drop_collection(struct world *w);
void tw_step_delete(struct world *w);
void tw_step_options(struct world *w);

/* ---- join.c: what embed and copy have in common */
struct side {
    bool expr;
    struct path path;
    struct val *e;
};
struct join {
    uint32_t n;
    struct side from[8], into[8];
    bool nulls;
    bool into_refers; /* the reference is on the `into` side */
};
struct child {
    struct val *doc;
    bool part, refused, matched, stay, cut, orphan;
    bool named; /* refused, but its keys are known: a reference to it does not dangle */
    struct vals key[8];
};
void tw_join_open(struct world *w, struct join *j, bool copy);
int tw_side_values(struct world *w, const struct side *s, struct val *doc, struct vals *out);
bool tw_key_equal(const struct join *j, const struct val *a, const struct val *b);
bool tw_any_equal(const struct join *j, const struct vals *a, const struct vals *b);
struct child *tw_children(struct world *w, const struct join *j, struct coll *from);
bool tw_named(const struct join *j, const struct child *kids, uint32_t n, const struct val *key);
bool tw_known(const struct join *j, const struct child *kids, uint32_t n, const struct val *key);
void tw_settle(struct world *w, struct coll *from, struct child *kids, uint32_t n, const char *keep);

#endif
