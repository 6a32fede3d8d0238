/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - loads a plan file as a checked, frozen list of steps.
 *
 * Parsed by libyaml (JSON is YAML), values as strict Extended JSON v2, scalars by the YAML 1.2 core schema. Every error
 * in the file is collected, with line, column, key and nearest known key. A loaded plan is immutable and may be shared
 * between threads. */
#ifndef MONGORESHAPE_PLAN_H
#define MONGORESHAPE_PLAN_H

#include "mongoreshape/step.h"
#include "mongoreshape/words.h"

#define MRS_PLAN_VERSION 2u /* of the plan language, for a plan without a version */

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_plan_error {
    uint32_t line, col; /* from 1; 0: unknown */
    bool warning;
    char msg[512];      /* contains the key, and the nearest known one */
};

struct mrs_plan_opts {
    const char *file;       /* name for messages; may be NULL */
    /* the only database of the input; NULL: unknown or several (then a plan without `database` must not use a string as
     * a collection) */
    const char *default_db;
    bool any_db; /* there is no input (check, explain without data): assume "db"; the plan id is unknown */
    int64_t now_ms;
};

struct mrs_plan {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    const char *name;     /* `plan:`; "" */
    const char *server;   /* "8.2" or "8.3" */
    uint32_t version;     /* of the language, 1 or 2 */
    const char *database; /* as resolved; "" */
    struct mrs_step *steps;
    uint32_t n_steps;
    struct mrs_step *written; /* as written in the plan, with stars; the steps before mrs_plan_fit */
    uint32_t n_written;
    bool stars, fitted;       /* stars: a step has one; fitted: mrs_plan_fit was called */
    uint32_t n_lists;     /* number of lists of values of other collections: struct mrs_condition */
    uint8_t id[16];       /* plan id, big-endian XXH3-128 of `canonical` */
    bool id_known;
    struct mrs_view canonical; /* the plan as canonical BSON */
    int64_t now_ms;
    char tzdata[32]; /* edition of the time zone data for its expressions ("2025b"); "": unknown */
    bool may_fit_none; /* the caller may set it: a name with a star without a match is no mistake */
    bool notes_all; /* the caller may set it: notes also on facts that the plan does not change */
    struct mrs_plan_error *errors; /* n_errors + n_warnings of them, in file order */
    uint32_t n_errors, n_warnings;
    const char *file;
};

/* Reads a plan. OK; FAIL MRS_E_PLAN: *out is set, with all errors, but without usable steps; DEAD: *out NULL. text: n
 * bytes, only used during the call. */
enum mrs_status mrs_plan_load(struct mrs_mem *mem, const char *text, size_t n, const struct mrs_plan_opts *opts,
                              struct mrs_plan **out, struct mrs_err *e);
void mrs_plan_free(struct mrs_plan *p);
/* Appends a map in YAML (values as in plans) to out as a BSON document. FAIL MRS_E_PLAN: e has the first mistake with
 * its line; DEAD. */
enum mrs_status mrs_yaml_doc(struct mrs_mem *mem, const char *text, size_t n, struct mrs_buf *out, struct mrs_err *e);
/* A query outside of a plan, with the checks that a `where` of a plan has: literals of shells are errors. */
struct mrs_query_text {
    const char *text;            /* a map in YAML, or JSON */
    const char *command, *option; /* for messages */
    void (*warn)(void *arg, const char *text); /* called for each warning */
    void *arg;
};
/* Like mrs_yaml_doc. */
enum mrs_status mrs_yaml_query(struct mrs_mem *mem, const struct mrs_query_text *q, struct mrs_buf *out,
                               struct mrs_err *e);
/* Converts a plan in BSON to text for mrs_plan_load: each key of the plan and of its steps on a separate line. Appended
 * to out. FAIL MRS_E_PLAN: a text in it is not UTF-8; DEAD. plan: a document that mrs_doc_check passed. */
enum mrs_status mrs_plan_text(struct mrs_view plan, struct mrs_buf *out, struct mrs_err *e);
/* Appends the path of that line of that text ("steps.2.embed.match"; "": none). */
void mrs_plan_place(struct mrs_view plan, uint32_t line, struct mrs_buf *out);
/* Documents of the input, for steps that name collections by values. */
struct mrs_fit_documents {
    /* Calls take for each document of a collection, in input order, until its status is not OK. */
    enum mrs_status (*documents)(void *arg, const char *ns, enum mrs_status (*take)(void *to, struct mrs_view doc),
                                 void *to, struct mrs_err *e);
    void *arg;
};
/* Whether a name matches a pattern with a star, which is one or more characters. */
bool mrs_star_fits(const char *pattern, const char *name);
/* Replaces each step with stars by the steps for the collections that match, as the previous steps leave them: in
 * place, once. cat: the collections of the input, consumed. docs: NULL without documents. No effect without stars.
 * Status as of mrs_plan_check, or of documents. */
enum mrs_status mrs_plan_fit(struct mrs_plan *p, struct mrs_catalog *cat, const struct mrs_fit_documents *docs,
                             struct mrs_err *e);
/* The fitted plan as text for mrs_plan_load: a plan without stars, with its own id. Appended to out. FAIL: several
 * collections have one tag, which a text cannot express. */
enum mrs_status mrs_plan_fitted(const struct mrs_plan *p, struct mrs_buf *out, struct mrs_err *e);
/* Applies all steps to the catalogue: existence, kinds, indexes, targets; errors are appended to the plan's errors with
 * their step's position. OK or FAIL MRS_E_PLAN, DEAD. */
enum mrs_status mrs_plan_check(struct mrs_plan *p, struct mrs_catalog *cat, struct mrs_err *e);
/* Hex of the id: 32 digits and a NUL. */
void mrs_plan_id_text(const struct mrs_plan *p, char text[33]);
/* Describes steps, passes, memory, repeated reads, losses; as text lines, or as one JSON object. After mrs_plan_check
 * also the notes of the catalogue. Appended to out. */
enum mrs_status mrs_plan_explain(const struct mrs_plan *p, bool json, struct mrs_buf *out, struct mrs_err *e);

/* ---- the language, from its tables of keys ---- */
/* What does here what a step, stage or command of this name does elsewhere, as "`extract` makes ..."; NULL: unknown. */
const char *mrs_plan_done_by(const char *word);
/* The keys of a plan itself; the last one is `steps`. */
const struct mrs_key *mrs_plan_keys(uint32_t *n);
/* The kind of value for a key, in a word or two. */
const char *mrs_arg_word(enum mrs_arg_type type);
/* A starting plan of one step: its required keys, and as comments all optional ones. */
struct mrs_plan_start {
    const char *database; /* NULL: none */
    struct mrs_view fill; /* {key: value}: values that replace the example's; n 0: none */
    const char *const *remarks; /* lines of comment at the top */
    uint32_t n_remarks;
};
/* Appended to out. */
void mrs_plan_skeleton(const struct mrs_step_type *t, const struct mrs_plan_start *start, struct mrs_buf *out);
/* The language as a JSON Schema (draft-07), appended to out. */
void mrs_plan_schema(struct mrs_buf *out);

/* ---- the inverse ---- */
struct mrs_inverse_entry {
    uint32_t step;         /* of the original plan, from 1 */
    struct mrs_view entry; /* {step: {keys}} */
};
struct mrs_inverse_loss {
    uint32_t step;    /* 0: of the plan as a whole */
    const char *type; /* "embed"; "" */
    unsigned kinds;   /* enum mrs_loss_kind */
    const char *text;
};
/* The plan that undoes a plan, and its losses. Depends on the plan alone, not on its input. */
struct mrs_inverse_plan {
    struct mrs_arena arena;             /* owns all data below */
    const char *name, *server, *database; /* database "": unknown, or none */
    uint32_t version; /* of the language */
    struct mrs_inverse_entry *entry;    /* in the order of execution */
    uint32_t n_entries;
    struct mrs_inverse_loss *loss;      /* in the order of their steps */
    uint32_t n_losses;
};
/* OK, DEAD. Must be cleared also after a failure. */
enum mrs_status mrs_plan_invert(const struct mrs_plan *p, struct mrs_inverse_plan *out, struct mrs_err *e);
void mrs_inverse_plan_clear(struct mrs_inverse_plan *inv);
/* A plan file with the losses as comments; it loads as the same plan. Appended to out. */
void mrs_inverse_yaml(const struct mrs_inverse_plan *inv, struct mrs_buf *out);
/* {inverse: {plan, server, database, steps}, losses: [{step, type, kinds, text}]} and a newline: `inverse` is a
 * plan. */
enum mrs_status mrs_inverse_json(const struct mrs_inverse_plan *inv, struct mrs_buf *out, struct mrs_err *e);
/* "order of documents" and so on: the name of bit i of enum mrs_loss_kind. */
const char *mrs_loss_word(uint32_t i);

#ifdef __cplusplus
}
#endif
#endif
