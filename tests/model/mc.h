/* SPDX-License-Identifier: Apache-2.0 */
/* mc.h - an exhaustive check of a small protocol: every order of its steps, crashes and foreign writes.
 *
 * A model is a state of plain bytes, a function that names every state which can follow, and one that says what is
 * wrong with a state. Breadth first, so the first wrong state has the shortest way to it, which is printed. Mutants
 * are switches of a model: each is a mistake that must be found wrong, or the model proves nothing. */
#ifndef MC_H
#define MC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mc_run;
struct mc_mutant {
    const char *name; /* NULL behind the last */
    unsigned bit;
};
struct mc_model {
    const char *name;
    size_t size; /* of a state, at most 64 bytes without holes */
    void (*start)(void *state);
    /* Calls mc_to for each state that may follow. mutants: bits. */
    void (*next)(struct mc_run *r, const void *state, unsigned mutants);
    /* What is wrong with it, or NULL. last: nothing follows. */
    const char *(*wrong)(const void *state, bool last);
    const struct mc_mutant *mutants;
};
void mc_to(struct mc_run *r, const void *state, const char *how);
unsigned mc_mutants(const struct mc_run *r);

extern const struct mc_model model_changes, model_lease_replicated, model_lease_standalone, model_expand;

#endif
