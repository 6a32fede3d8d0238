/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - a plan file becomes a checked, frozen list of steps.
 *
 * Read with libyaml (JSON is YAML), values as strict Extended JSON v2, scalars by the YAML 1.2 core schema. Every
 * error in the file is collected, with line, column, key and nearest known key. A loaded plan is immutable and may be
 * shared between threads. */
#ifndef MONGORESHAPE_PLAN_H
#define MONGORESHAPE_PLAN_H

#include "mongoreshape/step.h"
#include "mongoreshape/words.h"

#define MRS_PLAN_VERSION 2u /* of the plan language, where a plan does not say */

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_plan_error {
    uint32_t line, col; /* from 1; 0: unknown */
    bool warning;
    char msg[512];      /* names the key, and the nearest known one */
};

struct mrs_plan_opts {
    const char *file;       /* name for messages; may be NULL */
    const char *default_db; /* the only database of the input; NULL: unknown or several (then a plan without
                               `database` that names a collection by a string is wrong) */
    bool any_db; /* there is no input to take it from (check, explain without data): "db" is in and the plan id is
                    not known */
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
    struct mrs_step *written; /* as the plan has them, stars and all; steps, before mrs_plan_fit */
    uint32_t n_written;
    bool stars, fitted;       /* stars: some of them has one; fitted: mrs_plan_fit has been here */
    uint32_t n_lists;     /* of values of other collections: struct mrs_condition */
    uint8_t id[16];       /* plan id, big-endian XXH3-128 of `canonical` */
    bool id_known;
    struct mrs_view canonical; /* the plan as canonical BSON */
    int64_t now_ms;
    char tzdata[32]; /* edition of the time zone data that its expressions use ("2025b"); "": not known */
    bool may_fit_none; /* the caller may set it: a name with a star that fits nothing is no mistake */
    bool tells_all; /* the caller may set it: notes also on what was so before */
    struct mrs_plan_error *errors; /* n_errors + n_warnings of them, in file order */
    uint32_t n_errors, n_warnings;
    const char *file;
};

/* Reads a plan. OK; FAIL MRS_E_PLAN: *out is set all the same and holds all errors, but no usable steps; DEAD: *out
 * NULL. text: n bytes, not kept. */
enum mrs_status mrs_plan_load(struct mrs_mem *mem, const char *text, size_t n, const struct mrs_plan_opts *opts,
                              struct mrs_plan **out, struct mrs_err *e);
void mrs_plan_free(struct mrs_plan *p);
/* A map in YAML (values as in plans) as a BSON document, appended to out. FAIL MRS_E_PLAN: e has the first mistake with
 * its line; DEAD. */
enum mrs_status mrs_yaml_doc(struct mrs_mem *mem, const char *text, size_t n, struct mrs_buf *out, struct mrs_err *e);
/* A plan that comes as BSON, as text for mrs_plan_load: each key of the plan and of its steps on a line of its own.
 * Appended to out. FAIL MRS_E_PLAN: a text in it is no UTF-8; DEAD. plan: a document that mrs_doc_check passed. */
enum mrs_status mrs_plan_text(struct mrs_view plan, struct mrs_buf *out, struct mrs_err *e);
/* What is on that line of that text, as a path ("steps.2.embed.match"; "" where there is none), appended. */
void mrs_plan_place(struct mrs_view plan, uint32_t line, struct mrs_buf *out);
/* Documents of the input, for steps that name collections by values. */
struct mrs_fit_documents {
    /* Calls take for each document of a collection, in input order, until it does not return OK. */
    enum mrs_status (*documents)(void *arg, const char *ns, enum mrs_status (*take)(void *to, struct mrs_view doc),
                                 void *to, struct mrs_err *e);
    void *arg;
};
/* Whether a name fits a pattern with a star, which is one or more characters. */
bool mrs_star_fits(const char *pattern, const char *name);
/* Puts for each step with stars the steps for the collections that fit, as the steps before leave them: in place,
 * once. cat: the collections of the input, spent afterwards. docs: NULL where there are no documents. Nothing to do
 * without stars. As mrs_plan_check, or as documents failed. */
enum mrs_status mrs_plan_fit(struct mrs_plan *p, struct mrs_catalog *cat, const struct mrs_fit_documents *docs,
                             struct mrs_err *e);
/* The fitted plan as text for mrs_plan_load: a plan without stars, with an id of its own. Appended to out. FAIL:
 * several collections have one tag, for which a text has no words. */
enum mrs_status mrs_plan_fitted(const struct mrs_plan *p, struct mrs_buf *out, struct mrs_err *e);
/* Takes the catalogue through all steps: existence, kinds, indexes, targets; errors are appended to the plan's errors
 * with their step's position. OK or FAIL MRS_E_PLAN, DEAD. */
enum mrs_status mrs_plan_check(struct mrs_plan *p, struct mrs_catalog *cat, struct mrs_err *e);
/* Hex of the id: 32 digits and a NUL. */
void mrs_plan_id_text(const struct mrs_plan *p, char text[33]);
/* Steps in words, passes, memory, what is read twice, losses; as text lines, or as one JSON object. After
 * mrs_plan_check also what the catalogue noted. Appended to out. */
enum mrs_status mrs_plan_explain(const struct mrs_plan *p, bool json, struct mrs_buf *out, struct mrs_err *e);

/* ---- the language, out of the tables of its keys ---- */
/* The keys of a plan itself; the last one is `steps`. */
const struct mrs_key *mrs_plan_keys(uint32_t *n);
/* What a plan writes behind a key, in a word or two. */
const char *mrs_arg_word(enum mrs_arg_type type);
/* A plan of one step to begin with: what it needs, and as comments all that it may have. */
struct mrs_plan_start {
    const char *database; /* NULL: none is named */
    struct mrs_view fill; /* {key: value}: values to take instead of the example's; n 0: none */
    const char *const *remarks; /* lines of comment at the top */
    uint32_t n_remarks;
};
/* Appended to out. */
void mrs_plan_skeleton(const struct mrs_step_type *t, const struct mrs_plan_start *start, struct mrs_buf *out);
/* The language as a JSON Schema (draft-07), appended to out. */
void mrs_plan_schema(struct mrs_buf *out);

/* ---- the way back ---- */
struct mrs_inverse_entry {
    uint32_t step;         /* of the plan that it undoes, from 1 */
    struct mrs_view entry; /* {step: {keys}} */
};
struct mrs_inverse_loss {
    uint32_t step;    /* 0: of the plan as a whole */
    const char *type; /* "embed"; "" */
    unsigned kinds;   /* enum mrs_loss_kind */
    const char *text;
};
/* The plan that undoes a plan, and what it does not bring back. Depends on the plan alone, not on its input. */
struct mrs_inverse_plan {
    struct mrs_arena arena;             /* owns all below */
    const char *name, *server, *database; /* database "": not known, or none */
    uint32_t version; /* of the language */
    struct mrs_inverse_entry *entry;    /* in the order in which they run */
    uint32_t n_entries;
    struct mrs_inverse_loss *loss;      /* in the order of the steps they belong to */
    uint32_t n_losses;
};
/* OK, DEAD. To be cleared also after a failure. */
enum mrs_status mrs_plan_invert(const struct mrs_plan *p, struct mrs_inverse_plan *out, struct mrs_err *e);
void mrs_inverse_plan_clear(struct mrs_inverse_plan *inv);
/* A plan file with the losses as comments; read again it is the plan that is meant. Appended to out. */
void mrs_inverse_yaml(const struct mrs_inverse_plan *inv, struct mrs_buf *out);
/* {inverse: {plan, server, database, steps}, losses: [{step, type, kinds, text}]} and a newline: `inverse` is a
 * plan. */
enum mrs_status mrs_inverse_json(const struct mrs_inverse_plan *inv, struct mrs_buf *out, struct mrs_err *e);
/* "order of documents" and so on: the word for bit i of enum mrs_loss_kind. */
const char *mrs_loss_word(uint32_t i);

#ifdef __cplusplus
}
#endif
#endif
