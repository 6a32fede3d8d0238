/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - many small allocations that are freed together.
 *
 * Chunks form a list, the newest first; a reset keeps the largest one, so that after a few documents an arena no longer
 * calls the allocator. Allocations are never freed one by one. Large blocks made elsewhere are adopted instead of being
 * copied; a large list is such a block, so that it can grow without leaving its old copy behind. */
#include "mongoreshape/mem.h"

struct mrs_arena_chunk {
    struct mrs_arena_chunk *older;
    size_t n;
    uint8_t bytes[];
};

struct mrs_arena_block { /* is in a chunk */
    struct mrs_arena_block *older;
    void *p;
    size_t n;
};

enum { FIRST = 4096 - 64, LARGEST_STEP = 1 << 20 };

void
mrs_arena_init(struct mrs_arena *a, struct mrs_mem *mem)
{
    MRS_ASSERT(mem);
    memset(a, 0, sizeof *a);
    a->mem = mem;
}

void
mrs_arena_init_as(struct mrs_arena *a, const struct mrs_arena *other)
{
    mrs_arena_init(a, other->mem);
    a->most = other->most;
    a->calm = other->calm;
    a->ask = other->ask;
    a->swell = other->swell;
    a->ask_arg = other->ask_arg;
}

static void
free_blocks(struct mrs_arena *a, const struct mrs_arena_block *down_to)
{
    while (a->block != down_to) {
        struct mrs_arena_block *older = a->block->older;
        mrs_free(a->mem, a->block->p);
        a->block = older;
    }
}

void
mrs_arena_clear(struct mrs_arena *a)
{
    free_blocks(a, NULL);
    while (a->head) {
        struct mrs_arena_chunk *older = a->head->older;
        mrs_free(a->mem, a->head);
        a->head = older;
    }
    a->at = a->end = NULL;
    a->used = 0;
}

void
mrs_arena_let_go(struct mrs_arena *a)
{
    MRS_ASSERT(mrs_arena_is_sound(a));
    struct mrs_arena_chunk *keep = a->head;
    free_blocks(a, NULL);
    a->used = 0;
    if (!keep) {
        return; /* nothing could be allocated */
    }
    while (keep->older) { /* chunks only grow: the newest is the largest, except for allocations larger than a step */
        struct mrs_arena_chunk *other = keep->older;
        struct mrs_arena_chunk *rest = other->older;
        if (other->n > keep->n) {
            mrs_free(a->mem, keep);
            keep = other;
        } else {
            mrs_free(a->mem, other);
            keep->older = rest;
        }
    }
    a->head = keep;
    a->at = keep->bytes;
    a->end = keep->bytes + keep->n;
}

/* The newest chunk is kept, so that work that releases repeatedly does not allocate each time. */
void
mrs_arena_release(struct mrs_arena *a, struct mrs_arena_mark m)
{
    MRS_ASSERT(m.used <= a->used);
    MRS_ASSERT(m.head ? a->head != NULL : !m.at);
    free_blocks(a, m.block);
    if (a->head == m.head) {
        a->at = m.at;
    } else if (a->head) {
        while (a->head->older != m.head) {
            struct mrs_arena_chunk *rest = a->head->older->older;
            mrs_free(a->mem, a->head->older);
            a->head->older = rest;
        }
        a->at = a->head->bytes;
    }
    a->used = m.used;
}

static size_t
next_size(const struct mrs_arena *a, size_t n)
{
    MRS_ASSERT(n % 8 == 0);
    size_t new_size = a->head ? a->head->n * 2 : FIRST;
    if (new_size > LARGEST_STEP) {
        new_size = LARGEST_STEP;
    }
    return new_size < n ? n : new_size;
}

static bool
may_take(struct mrs_arena *a, size_t n)
{
    a->used += n;
    return !mrs_arena_is_over(a) && mrs_arena_may_hold(a, 0);
}

void *
mrs_arena_alloc(struct mrs_arena *a, size_t n)
{
    MRS_ASSERT(a->mem && mrs_arena_is_sound(a));
    if (n > SIZE_MAX - 64) {
        return NULL;
    }
    size_t padded = (n + 7) & ~(size_t)7;
    if (!may_take(a, padded)) {
        return NULL;
    }
    if ((size_t)(a->end - a->at) < padded || !a->at) {
        size_t size = next_size(a, padded);
        struct mrs_arena_chunk *chunk = mrs_alloc(a->mem, sizeof *chunk + size);
        if (!chunk) {
            return NULL;
        }
        chunk->older = a->head;
        chunk->n = size;
        a->head = chunk;
        a->at = chunk->bytes;
        a->end = chunk->bytes + size;
    }
    void *piece = a->at;
    a->at += padded;
    return piece;
}

void *
mrs_arena_copy(struct mrs_arena *a, const void *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    void *piece = mrs_arena_alloc(a, n);
    if (piece && n) {
        memcpy(piece, p, n);
    }
    return piece;
}

bool
mrs_arena_adopt(struct mrs_arena *a, void *p, size_t n)
{
    struct mrs_arena_block *b = mrs_arena_alloc(a, sizeof *b);
    if (!b || !may_take(a, n)) {
        mrs_free(a->mem, p);
        return false;
    }
    *b = (struct mrs_arena_block){a->block, p, n};
    a->block = b;
    return true;
}

void *
mrs_arena_enlarge(struct mrs_arena *a, void *p, size_t n, size_t new_size)
{
    MRS_ASSERT(n <= new_size);
    struct mrs_arena_block *own = a->block && a->block->p == p ? a->block : NULL;
    if (!own && new_size < MRS_ARENA_LARGE) {
        void *more = mrs_arena_alloc(a, new_size);
        if (more && n) {
            memcpy(more, p, n);
        }
        return more;
    }
    bool may = may_take(a, own ? new_size - own->n : 0);
    uint8_t *more = may ? mrs_realloc(a->mem, own ? p : NULL, new_size) : NULL;
    if (!more || own) {
        if (more) {
            own->p = more;
            own->n = new_size;
        }
        return more;
    }
    if (n) {
        memcpy(more, p, n);
    }
    return mrs_arena_adopt(a, more, new_size) ? more : NULL;
}
