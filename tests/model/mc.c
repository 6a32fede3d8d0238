/* SPDX-License-Identifier: Apache-2.0 */
/* mc.c - breadth-first search over the states of a model, and the program that runs all models with all mutants.
 *
 * States are in one growing array in the order in which they were met, with the number of the state before; a table
 * of hashes finds those already met. A model of a million states takes a second. */
#include "mc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_MAX 64
#define STATES_MAX 20000000u

struct mc_node {
    uint8_t state[STATE_MAX];
    uint32_t before;
    const char *how;
};
struct mc_run {
    const struct mc_model *m;
    unsigned mutants;
    struct mc_node *node;
    uint32_t n, cap, now;
    uint32_t *slot, n_slots; /* number of a node + 1 */
    bool follows;
};

static uint64_t
hash(const uint8_t *p, size_t n)
{
    uint64_t h = 1469598103934665603ull;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * 1099511628211ull;
    }
    return h ^ h >> 29;
}

static void
must(bool ok, const char *what)
{
    if (!ok) {
        printf("FAILED: %s\n", what);
        exit(1);
    }
}

static uint32_t *
place(const struct mc_run *r, const uint8_t *state)
{
    uint32_t at = (uint32_t)hash(state, STATE_MAX) & (r->n_slots - 1);
    while (r->slot[at] && memcmp(r->node[r->slot[at] - 1].state, state, STATE_MAX) != 0) {
        at = (at + 1) & (r->n_slots - 1);
    }
    return &r->slot[at];
}

static void
grow(struct mc_run *r)
{
    r->cap = r->cap ? r->cap * 2 : 1024;
    must(r->cap <= STATES_MAX, "too many states");
    r->node = realloc(r->node, r->cap * sizeof *r->node);
    free(r->slot);
    r->n_slots = r->cap * 2;
    r->slot = calloc(r->n_slots, sizeof *r->slot);
    must(r->node && r->slot, "no memory");
    for (uint32_t i = 0; i < r->n; i++) {
        *place(r, r->node[i].state) = i + 1;
    }
}

static void
meet(struct mc_run *r, const void *state, const char *how)
{
    uint8_t full[STATE_MAX] = {0};
    memcpy(full, state, r->m->size);
    if (r->n == r->cap) {
        grow(r);
    }
    uint32_t *at = place(r, full);
    if (!*at) {
        memcpy(r->node[r->n].state, full, STATE_MAX);
        r->node[r->n].before = r->now;
        r->node[r->n].how = how;
        *at = ++r->n;
    }
}

void
mc_to(struct mc_run *r, const void *state, const char *how)
{
    r->follows = true;
    meet(r, state, how);
}

static void
print_way(const struct mc_run *r, uint32_t at)
{
    if (at) {
        print_way(r, r->node[at].before);
        printf("      %s\n", r->node[at].how);
    }
}

/* What is wrong, or NULL. */
static const char *
search(const struct mc_model *m, unsigned mutants, bool print, uint32_t *n)
{
    struct mc_run r = {.m = m, .mutants = mutants};
    uint8_t first[STATE_MAX] = {0}, state[STATE_MAX];
    const char *wrong = NULL;
    m->start(first);
    meet(&r, first, "start");
    for (r.now = 0; r.now < r.n && !wrong; r.now++) {
        memcpy(state, r.node[r.now].state, STATE_MAX);
        r.follows = false;
        m->next(&r, state, mutants);
        wrong = m->wrong(state, !r.follows);
        if (wrong && print) {
            printf("    %s:\n", wrong);
            print_way(&r, r.now);
        }
    }
    *n = r.n;
    free(r.node);
    free(r.slot);
    return wrong;
}

int
main(int argc, char **argv)
{
    static const struct mc_model *const models[] = {&model_changes, &model_lease_replicated, &model_lease_standalone,
                                                    &model_expand};
    bool show = argc > 1 && strcmp(argv[1], "--show") == 0;
    unsigned passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        uint32_t n;
        const char *wrong = search(models[i], 0, true, &n);
        printf("%-18s %-34s %8u states: %s\n", models[i]->name, "as designed", n, wrong ? "WRONG" : "right");
        passed += !wrong;
        failed += wrong != NULL;
        for (const struct mc_mutant *x = models[i]->mutants; x->name; x++) {
            wrong = search(models[i], x->bit, show, &n);
            printf("%-18s %-34s %8u states: %s\n", models[i]->name, x->name, n, wrong ? wrong : "NOT FOUND WRONG");
            passed += wrong != NULL;
            failed += !wrong;
        }
    }
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
