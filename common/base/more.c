/* SPDX-License-Identifier: Apache-2.0 */
/* more.c - lists that grow by doubling, in separate blocks or in an arena. */
#include "mongoreshape/mem.h"

enum { FIRST = 16 };

/* The next capacity of a full list; 0: too large. */
static uint32_t
next_cap(uint32_t cap, size_t size)
{
    MRS_ASSERT(size > 0);
    uint32_t new_cap = cap ? cap * 2 : FIRST;
    return new_cap > cap && new_cap <= SIZE_MAX / size ? new_cap : 0;
}

void *
mrs_more(struct mrs_mem *m, void *list, uint32_t n, uint32_t *cap, size_t size)
{
    MRS_ASSERT(n <= *cap && (list || *cap == 0));
    if (n < *cap) {
        return list;
    }
    uint32_t new_cap = next_cap(*cap, size);
    void *more = new_cap ? mrs_realloc(m, list, new_cap * size) : NULL;
    *cap = more ? new_cap : *cap;
    return more;
}

void *
mrs_arena_more(struct mrs_arena *a, void *list, uint32_t n, uint32_t *cap, size_t size)
{
    MRS_ASSERT(n <= *cap && (list || *cap == 0));
    if (n < *cap) {
        return list;
    }
    uint32_t new_cap = next_cap(*cap, size);
    void *more = new_cap ? mrs_arena_enlarge(a, list, n * size, new_cap * size) : NULL;
    *cap = more ? new_cap : *cap;
    return more;
}
