/* plan.h - a plan file becomes a checked, frozen list of steps.
 *
 * Read with libyaml (JSON is YAML), values as strict Extended JSON v2, scalars by the YAML 1.2 core schema. Every
 * error in the file is collected, with line, column, key and nearest known key. A loaded plan is immutable and may be
 * shared between threads. */
#ifndef MONGORESHAPE_PLAN_H
#define MONGORESHAPE_PLAN_H

#include "mongoreshape/step.h"
#include "mongoreshape/words.h"

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
    bool any_db; /* there is no input to take it from (check, explain without data): "db" stands in and the plan id is
                    not known */
    int64_t now_ms;
};

struct mrs_plan {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    const char *name;     /* `plan:`; "" */
    const char *server;   /* "8.2" */
    const char *database; /* as resolved; "" */
    struct mrs_step *steps;
    uint32_t n_steps;
    uint8_t id[16];       /* plan id, big-endian XXH3-128 of `canonical` */
    bool id_known;
    struct mrs_view canonical; /* the plan as canonical BSON */
    int64_t now_ms;
    struct mrs_plan_error *errors; /* n_errors + n_warnings of them, in file order */
    uint32_t n_errors, n_warnings;
    const char *file;
};

/* Reads a plan. OK; FAIL MRS_E_PLAN: *out is set all the same and holds all errors, but no usable steps; DEAD: *out
 * NULL. text: n bytes, not kept. */
enum mrs_status mrs_plan_load(struct mrs_mem *mem, const char *text, size_t n, const struct mrs_plan_opts *opts,
                              struct mrs_plan **out, struct mrs_err *e);
void mrs_plan_free(struct mrs_plan *p);
/* Takes the catalogue through all steps: existence, kinds, indexes, targets; errors are appended to the plan's errors
 * with their step's position. OK or FAIL MRS_E_PLAN, DEAD. */
enum mrs_status mrs_plan_check(struct mrs_plan *p, struct mrs_catalog *cat, struct mrs_err *e);
/* Hex of the id: 32 digits and a NUL. */
void mrs_plan_id_text(const struct mrs_plan *p, char text[33]);
/* Steps in words, passes, memory, what is read twice, losses; as text lines, or as one JSON object. After
 * mrs_plan_check also what the catalogue noted. Appended to out. */
enum mrs_status mrs_plan_explain(const struct mrs_plan *p, bool json, struct mrs_buf *out, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
