/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - memory: a counting allocator, an arena for scratch, a growing buffer with a ceiling.
 *
 * All memory of the library comes through a struct mrs_mem made by the caller, so that tests can count what
 * is live and fail the n-th allocation. Out of memory is an ordinary status (MRS_DEAD, MRS_E_MEMORY).
 * Threads: mrs_mem may be shared (its counters are atomic); an arena or buffer belongs to one thread. */
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

/* A new allocator; fail_at 0: never fails on purpose, n: the n-th allocation (from 1) and only that one fails,
 * UINT64_MAX - n: every allocation from the n-th on fails. NULL when the system has no memory. */
struct mrs_mem *mrs_mem_new(uint64_t fail_at);
/* Frees the allocator itself; returns the number of blocks still live (a leak where not 0). NULL: 0. */
uint64_t mrs_mem_close(struct mrs_mem *m);
uint64_t mrs_mem_live(const struct mrs_mem *m);   /* blocks */
uint64_t mrs_mem_bytes(const struct mrs_mem *m);  /* bytes now */
uint64_t mrs_mem_peak(const struct mrs_mem *m);   /* greatest number of bytes so far */
uint64_t mrs_mem_count(const struct mrs_mem *m);  /* allocations so far */
/* What the program is to have at most, for callers that must know it before memory is taken; nothing is refused because
 * of it. Said before other threads begin; 0, as at first: not said. */
void mrs_mem_set_budget(struct mrs_mem *m, uint64_t bytes);
uint64_t mrs_mem_budget(const struct mrs_mem *m);
/* From here on the allocator refuses what would make it more than so many bytes, as a system without memory would;
 * 0, as at first: no bound. For a guest in another program, and for a document that is worked on alone.
 * mrs_mem_is_over: whether it has refused anything so. */
void mrs_mem_set_limit(struct mrs_mem *m, uint64_t bytes);
bool mrs_mem_is_over(const struct mrs_mem *m);

/* As malloc, calloc, realloc, free, strdup of n bytes plus NUL. NULL on failure; size 0 gives a block. */
void *mrs_alloc(struct mrs_mem *m, size_t n);
void *mrs_zalloc(struct mrs_mem *m, size_t n);
void *mrs_realloc(struct mrs_mem *m, void *p, size_t n);
void mrs_free(struct mrs_mem *m, void *p); /* p may be NULL */
char *mrs_strndup(struct mrs_mem *m, const char *s, size_t n);
/* n * size, NULL where the product does not fit. */
void *mrs_alloc_array(struct mrs_mem *m, size_t n, size_t size);
/* Room for one more in a list of n items of `size` bytes, of which it has *cap: the list itself, or what it becomes
 * when it grows to double (*cap says so). NULL without memory: list and *cap are as they were. */
void *mrs_more(struct mrs_mem *m, void *list, uint32_t n, uint32_t *cap, size_t size);

/* Sets MRS_E_MEMORY and returns MRS_DEAD. */
enum mrs_status mrs_err_memory(struct mrs_err *e, size_t wanted) MRS_RARE;

/* ---- arena: many small pieces that are let go together ---- */
struct mrs_arena_chunk;
struct mrs_arena_block;
struct mrs_arena {
    struct mrs_mem *mem;
    struct mrs_arena_chunk *head; /* newest chunk; private */
    struct mrs_arena_block *block; /* newest of those that were adopted; private */
    uint8_t *at, *end;            /* what is free of the newest chunk; private */
    uint64_t used;                /* bytes of all pieces */
    uint64_t most;                /* of used: beyond it there is no memory; 0: any */
    uint64_t steps;               /* work done since the last reset, counted by the user of the pieces */
    int (*ask)(void *);           /* called now and then by long work: not 0 stops it; NULL: never */
    void *ask_arg;
};
void mrs_arena_init(struct mrs_arena *a, struct mrs_mem *mem); /* without bounds */
static inline bool
mrs_arena_is_sound(const struct mrs_arena *a) /* for assertions: free bytes are those of a chunk */
{
    return a->at <= a->end && (a->head || !a->at);
}
static inline bool
mrs_arena_is_over(const struct mrs_arena *a) /* why an allocation failed: its bound, or no memory */
{
    return a->most && a->used > a->most;
}
/* A place to come back to: what was allocated since is let go. */
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
void mrs_arena_clear(struct mrs_arena *a); /* frees all; may be used again; harmless twice */
void mrs_arena_let_go(struct mrs_arena *a); /* mrs_arena_reset of one that was used */
/* Lets go of everything allocated, keeping the largest chunk: one call per document. */
static inline void
mrs_arena_reset(struct mrs_arena *a)
{
    if (a->used) {
        mrs_arena_let_go(a);
    }
    a->steps = 0;
}
/* 8-byte aligned, not zeroed; NULL without memory. Pieces live until reset or clear. */
void *mrs_arena_alloc(struct mrs_arena *a, size_t n);
void *mrs_arena_copy(struct mrs_arena *a, const void *p, size_t n);
#define MRS_ARENA_LARGE (1u << 20) /* bytes of a piece that is rather adopted than copied */
/* A block of n bytes of the arena's allocator becomes a piece. False without memory: then it has been freed. */
bool mrs_arena_adopt(struct mrs_arena *a, void *p, size_t n);
/* A piece of n bytes (NULL: none) that is to have `want`; one that is large leaves nothing behind. NULL without memory:
 * p is as it was. */
void *mrs_arena_enlarge(struct mrs_arena *a, void *p, size_t n, size_t want);
/* As mrs_more; a list that was outgrown stays in the arena, but for large ones. */
void *mrs_arena_more(struct mrs_arena *a, void *list, uint32_t n, uint32_t *cap, size_t size);

/* As memcpy of few bytes, without a call where they are: names, numbers, short texts. */
static inline void
mrs_copy_short(void *to, const void *from, size_t n)
{
    uint64_t a, b, c, d;
    uint32_t x, y;
    uint8_t *p = (uint8_t *)to;
    const uint8_t *q = (const uint8_t *)from;
    if (n > 32) {
        memcpy(to, from, n);
    } else if (n > 16) { /* two loads from either end, which may overlap */
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
/* The same of a value; most have eight bytes. */
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

/* Whether bytes are the same, without a call where they are few. */
static inline int
mrs_same_short(const void *pa, const void *pb, size_t n)
{
    uint64_t a, b, c, d;
    uint32_t x, y, z, u;
    const uint8_t *p = (const uint8_t *)pa, *q = (const uint8_t *)pb;
    if (n > 16) {
        return memcmp(p, q, n) == 0;
    }
    if (n >= 8) { /* two loads from either end, which may overlap */
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
