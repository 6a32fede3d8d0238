/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - memory: a counting allocator, an arena for scratch, helpers for short copies.
 *
 * All memory of the library is allocated through a struct mrs_mem of the caller, so that tests can count live blocks
 * and fail the n-th allocation. Out of memory is an ordinary status (MRS_DEAD, MRS_E_MEMORY). Threads: mrs_mem may be
 * shared (its counters are atomic); an arena or buffer belongs to one thread. */
#ifndef MONGORESHAPE_MEM_H
#define MONGORESHAPE_MEM_H

#include "mongoreshape/err.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_mem;

/* A new allocator. fail_at 0: no forced failure; n: only the n-th allocation (from 1) fails; UINT64_MAX - n: every
 * allocation from the n-th on fails. NULL if the system has no memory. */
struct mrs_mem *mrs_mem_new(uint64_t fail_at);
/* Frees the allocator itself; returns the number of live blocks (a leak if not 0). NULL: 0. */
uint64_t mrs_mem_close(struct mrs_mem *m);
uint64_t mrs_mem_live(const struct mrs_mem *m);   /* blocks */
uint64_t mrs_mem_bytes(const struct mrs_mem *m);  /* current bytes */
uint64_t mrs_mem_peak(const struct mrs_mem *m);   /* maximum of bytes so far */
uint64_t mrs_mem_count(const struct mrs_mem *m);  /* allocations so far */
/* The memory budget of the program, for callers that must know it before they allocate; no allocation fails because of
 * it. Set before other threads start; 0, the default: none. */
void mrs_mem_set_budget(struct mrs_mem *m, uint64_t bytes);
uint64_t mrs_mem_budget(const struct mrs_mem *m);
/* From now on an allocation that would exceed this many bytes in total fails, as on a system without memory; 0, the
 * default: no limit. For a guest in another program, and for a document processed alone. mrs_mem_is_over: whether an
 * allocation failed for this reason. */
void mrs_mem_set_limit(struct mrs_mem *m, uint64_t bytes);
bool mrs_mem_is_over(const struct mrs_mem *m);

/* As malloc, calloc, realloc, free, strdup of n bytes plus NUL. NULL on failure; size 0 returns a block. */
void *mrs_alloc(struct mrs_mem *m, size_t n);
void *mrs_zalloc(struct mrs_mem *m, size_t n);
void *mrs_realloc(struct mrs_mem *m, void *p, size_t n);
void mrs_free(struct mrs_mem *m, void *p); /* p may be NULL */
char *mrs_strndup(struct mrs_mem *m, const char *s, size_t n);
/* n * size bytes; NULL if the product overflows. */
void *mrs_alloc_array(struct mrs_mem *m, size_t n, size_t size);
/* Makes room for one more item in a list of n items of `size` bytes and capacity *cap. Returns the list, perhaps moved
 * because it doubled (*cap is updated). NULL without memory: list and *cap are unchanged. */
void *mrs_more(struct mrs_mem *m, void *list, uint32_t n, uint32_t *cap, size_t size);

/* Sets MRS_E_MEMORY and returns MRS_DEAD. */
enum mrs_status mrs_err_memory(struct mrs_err *e, size_t wanted) MRS_RARE;
/* OK, or mrs_err_memory where an allocation has failed: p is NULL. */
static inline enum mrs_status
mrs_allocated(const void *p, size_t wanted, struct mrs_err *e)
{
    return p ? MRS_OK : mrs_err_memory(e, wanted);
}

/* ---- arena: many small allocations that are freed together ---- */
struct mrs_arena_chunk;
struct mrs_arena_block;
struct mrs_arena {
    struct mrs_mem *mem;
    struct mrs_arena_chunk *head; /* newest chunk; private */
    struct mrs_arena_block *block; /* newest adopted block; private */
    uint8_t *at, *end;            /* the free part of the newest chunk; private */
    uint64_t used;                /* bytes of all allocations */
    uint64_t most;                /* limit of used: beyond it allocations fail; 0: none */
    uint64_t calm;                /* beyond it `swell` is asked before each allocation; 0: never */
    uint64_t steps;               /* work done since the last reset, counted by the arena's user */
    uint64_t read;                /* bytes of large values read, counted by the arena's user */
    int (*ask)(void *);           /* called at intervals by long work: not 0 stops it; NULL: never */
    bool (*swell)(void *);        /* may it hold this much? false: the allocation fails */
    void *ask_arg;                /* of both */
};
void mrs_arena_init(struct mrs_arena *a, struct mrs_mem *mem); /* without limits */
void mrs_arena_init_as(struct mrs_arena *a, const struct mrs_arena *other); /* with its memory, limits and calls */
static inline bool
mrs_arena_is_sound(const struct mrs_arena *a) /* for assertions: free bytes are those of a chunk */
{
    return a->at <= a->end && (a->head || !a->at);
}
static inline bool
mrs_arena_is_over(const struct mrs_arena *a) /* why an allocation failed: its limit, or no memory */
{
    return a->most && a->used > a->most;
}
/* Before it takes more bytes, or a buffer does that counts beside it; may wait. */
static inline bool
mrs_arena_may_hold(const struct mrs_arena *a, uint64_t more)
{
    return !a->calm || a->used + more <= a->calm || a->swell(a->ask_arg);
}
/* A position to return to: release frees later allocations. */
struct mrs_arena_mark {
    struct mrs_arena_chunk *head;
    struct mrs_arena_block *block;
    uint8_t *at;
    uint64_t used;
};
static inline struct mrs_arena_mark
mrs_arena_mark(const struct mrs_arena *a)
{
    return (struct mrs_arena_mark){a->head, a->block, a->at, a->used};
}
void mrs_arena_release(struct mrs_arena *a, struct mrs_arena_mark m);
void mrs_arena_clear(struct mrs_arena *a); /* frees all; may be used again; may be called twice */
void mrs_arena_let_go(struct mrs_arena *a); /* mrs_arena_reset of a used arena */
/* Frees all allocations, keeps the largest chunk: one call per document. */
static inline void
mrs_arena_reset(struct mrs_arena *a)
{
    if (a->used) {
        mrs_arena_let_go(a);
    }
    a->steps = 0;
}
/* 8-byte aligned, not zeroed; NULL without memory. Allocations live until reset or clear. */
void *mrs_arena_alloc(struct mrs_arena *a, size_t n);
void *mrs_arena_copy(struct mrs_arena *a, const void *p, size_t n);
#define MRS_ARENA_LARGE (1u << 20) /* size in bytes from which adopting is cheaper than copying */
/* Takes ownership of a block of n bytes of the arena's allocator. False without memory: then it has been freed. */
bool mrs_arena_adopt(struct mrs_arena *a, void *p, size_t n);
/* Enlarges an allocation of n bytes (NULL: none) to `want`; a large one leaves no unused copy behind. NULL without
 * memory: p is unchanged. */
void *mrs_arena_enlarge(struct mrs_arena *a, void *p, size_t n, size_t want);
/* As mrs_more; a list that moved leaves its old copy in the arena, unless it is large. */
void *mrs_arena_more(struct mrs_arena *a, void *list, uint32_t n, uint32_t *cap, size_t size);

/* As memcpy, without a call for few bytes: names, numbers, short texts. */
static inline void
mrs_copy_short(void *to, const void *from, size_t n)
{
    uint64_t a, b, c, d;
    uint32_t x, y;
    uint8_t *p = (uint8_t *)to;
    const uint8_t *q = (const uint8_t *)from;
    if (n > 32) {
        memcpy(to, from, n);
    } else if (n > 16) { /* two loads at each end, which may overlap */
        memcpy(&a, q, 8);
        memcpy(&b, q + 8, 8);
        memcpy(&c, q + n - 16, 8);
        memcpy(&d, q + n - 8, 8);
        memcpy(p, &a, 8);
        memcpy(p + 8, &b, 8);
        memcpy(p + n - 16, &c, 8);
        memcpy(p + n - 8, &d, 8);
    } else if (n >= 8) {
        memcpy(&a, q, 8);
        memcpy(&b, q + n - 8, 8);
        memcpy(p, &a, 8);
        memcpy(p + n - 8, &b, 8);
    } else if (n >= 4) {
        memcpy(&x, q, 4);
        memcpy(&y, q + n - 4, 4);
        memcpy(p, &x, 4);
        memcpy(p + n - 4, &y, 4);
    } else {
        for (size_t i = 0; i < n; i++) {
            p[i] = q[i];
        }
    }
}
/* mrs_copy_short for values; most have eight bytes. */
static inline void
mrs_copy_value(void *to, const void *from, size_t n)
{
    MRS_ASSERT(n == 0 || (to && from));
    if (n == 8) {
        memcpy(to, from, 8);
    } else {
        mrs_copy_short(to, from, n);
    }
}

/* Whether bytes are equal, without a call for few bytes. */
static inline int
mrs_same_short(const void *pa, const void *pb, size_t n)
{
    uint64_t a, b, c, d;
    uint32_t x, y, z, u;
    const uint8_t *p = (const uint8_t *)pa, *q = (const uint8_t *)pb;
    if (n > 16) {
        return memcmp(p, q, n) == 0;
    }
    if (n >= 8) { /* a load at each end, which may overlap */
        memcpy(&a, p, 8);
        memcpy(&b, q, 8);
        memcpy(&c, p + n - 8, 8);
        memcpy(&d, q + n - 8, 8);
        return ((a ^ b) | (c ^ d)) == 0;
    }
    if (n >= 4) {
        memcpy(&x, p, 4);
        memcpy(&y, q, 4);
        memcpy(&z, p + n - 4, 4);
        memcpy(&u, q + n - 4, 4);
        return ((x ^ y) | (z ^ u)) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (p[i] != q[i]) {
            return 0;
        }
    }
    return 1;
}

#ifdef __cplusplus
}
#endif
#include "mongoreshape/buffer.h"
#endif
