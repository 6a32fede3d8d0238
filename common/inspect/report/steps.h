/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - one function for each kind of step in a suggested plan. */
#ifndef MRSI_INSPECT_STEPS_H
#define MRSI_INSPECT_STEPS_H

#include "mongoreshape/ejson.h"
#include "inspect_print.h"

/* Effects of earlier steps of the plan on a collection. */
enum { MRSI_GONE = 1 /* its documents have moved */, MRSI_TAKEN_APART = 2 /* arrays left it */, MRSI_WRITTEN = 4 };
struct mrsi_planning {
    struct mrsi_inspection *x;
    struct mrs_buf *out;
    unsigned *fate; /* of each collection */
    uint32_t written;
    bool one_db;
    const char *why; /* the reason if a step was not written */
};
/* Appends the step, its first line "  - NAME:". False: it cannot be planned, for the reason in `why`. */
typedef bool mrsi_suggest_fn(struct mrsi_planning *p, struct mrsi_rule_found *r);
mrsi_suggest_fn mrsi_suggest_cast, mrsi_suggest_copy, mrsi_suggest_link, mrsi_suggest_extract, mrsi_suggest_pack,
    mrsi_suggest_embed, mrsi_suggest_bucket, mrsi_suggest_tree, mrsi_suggest_index;

bool mrsi_planning_no(struct mrsi_planning *p, const char *why); /* false */
void mrsi_put_word(struct mrsi_planning *p, const char *text);
enum { MRSI_PLACE = 1024 }; /* size of a path with dots */
void mrsi_put_field(struct mrsi_planning *p, const char *path); /* its value, in an expression */
void mrsi_put_collection(struct mrsi_planning *p, const struct mrsi_collection *c);
void mrsi_put_new(struct mrsi_planning *p, const struct mrsi_collection *beside, const char *name);
bool mrsi_is_collection(const struct mrsi_inspection *x, const struct mrsi_collection *beside, const char *name);
bool mrsi_dotted(const struct mrsi_path *p, char *out, size_t size);
bool mrsi_has_path(const struct mrsi_collection *c, const char *top);

#endif
