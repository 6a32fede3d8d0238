/* SPDX-License-Identifier: Apache-2.0 */
/* mem.c - the counting allocator.
 *
 * Every block has its size in a 16-byte header, so that live bytes are known without a side table. One allocation can
 * be made to fail by number: tests iterate over all of them and check that each failure is reported and nothing leaks.
 * The only file of the library that calls malloc. It must not know what the memory is for. */
#include "mongoreshape/mem.h"
#include <stdatomic.h>
#include <stdlib.h>

struct mrs_mem {
    _Atomic uint64_t live, bytes, peak, count;
    uint64_t fail_at, budget;
    _Atomic uint64_t limit;
    _Atomic int over;
};

enum { HEAD = 16 };

struct mrs_mem *
mrs_mem_new(uint64_t fail_at)
{
    struct mrs_mem *m = calloc(1, sizeof *m);
    if (m) {
        m->fail_at = fail_at;
    }
    return m;
}

uint64_t
mrs_mem_close(struct mrs_mem *m)
{
    uint64_t live = m ? atomic_load(&m->live) : 0;
    free(m);
    return live;
}

uint64_t
mrs_mem_live(const struct mrs_mem *m)
{
    return atomic_load(&m->live);
}

uint64_t
mrs_mem_bytes(const struct mrs_mem *m)
{
    return atomic_load(&m->bytes);
}

uint64_t
mrs_mem_peak(const struct mrs_mem *m)
{
    return atomic_load(&m->peak);
}

uint64_t
mrs_mem_count(const struct mrs_mem *m)
{
    return atomic_load(&m->count);
}

void
mrs_mem_set_budget(struct mrs_mem *m, uint64_t bytes)
{
    m->budget = bytes;
}

uint64_t
mrs_mem_budget(const struct mrs_mem *m)
{
    return m->budget;
}

void
mrs_mem_set_limit(struct mrs_mem *m, uint64_t bytes)
{
    atomic_store(&m->limit, bytes);
}

bool
mrs_mem_is_over(const struct mrs_mem *m)
{
    return atomic_load(&m->over) != 0;
}

/* Whether `more` further bytes would exceed the limit. */
static bool
is_too_much(struct mrs_mem *m, size_t more)
{
    uint64_t now = atomic_load(&m->bytes), limit = atomic_load(&m->limit);
    bool over = limit && (now > limit || more > limit - now);
    if (over) {
        atomic_store(&m->over, 1);
    }
    return over;
}

static int
must_fail(struct mrs_mem *m)
{
    uint64_t no = atomic_fetch_add(&m->count, 1) + 1;
    if (m->fail_at > UINT64_MAX / 2) {
        return no >= UINT64_MAX - m->fail_at;
    }
    return no == m->fail_at;
}

static void
add_bytes(struct mrs_mem *m, size_t n)
{
    uint64_t now = atomic_fetch_add(&m->bytes, n) + n;
    uint64_t peak = atomic_load(&m->peak);
    while (now > peak && !atomic_compare_exchange_weak(&m->peak, &peak, now)) {
    }
}

static void *
head_to_block(uint8_t *head, size_t n)
{
    MRS_ASSERT(((uintptr_t)head & 15) == 0);
    memcpy(head, &n, sizeof n);
    return head + HEAD;
}

static size_t
block_size(const void *p)
{
    size_t n;
    memcpy(&n, (const uint8_t *)p - HEAD, sizeof n);
    return n;
}

static void *
take(struct mrs_mem *m, size_t n, int zero)
{
    if (must_fail(m) || n > SIZE_MAX - HEAD || is_too_much(m, n)) {
        return NULL;
    }
    uint8_t *head = zero ? calloc(1, n + HEAD) : malloc(n + HEAD);
    if (!head) {
        return NULL;
    }
    atomic_fetch_add(&m->live, 1);
    add_bytes(m, n);
    return head_to_block(head, n);
}

void *
mrs_alloc(struct mrs_mem *m, size_t n)
{
    return take(m, n, 0);
}

void *
mrs_zalloc(struct mrs_mem *m, size_t n)
{
    return take(m, n, 1);
}

void *
mrs_realloc(struct mrs_mem *m, void *p, size_t n)
{
    MRS_ASSERT(!p || atomic_load(&m->bytes) >= block_size(p));
    if (!p) {
        return mrs_alloc(m, n);
    }
    size_t old = block_size(p);
    if (must_fail(m) || n > SIZE_MAX - HEAD || (n > old && is_too_much(m, n - old))) {
        return NULL;
    }
    uint8_t *head = realloc((uint8_t *)p - HEAD, n + HEAD);
    if (!head) {
        return NULL;
    }
    atomic_fetch_sub(&m->bytes, old);
    add_bytes(m, n);
    return head_to_block(head, n);
}

void
mrs_free(struct mrs_mem *m, void *p)
{
    MRS_ASSERT(!p || atomic_load(&m->live) > 0);
    MRS_ASSERT(!p || atomic_load(&m->bytes) >= block_size(p));
    if (p) {
        atomic_fetch_sub(&m->live, 1);
        atomic_fetch_sub(&m->bytes, block_size(p));
        free((uint8_t *)p - HEAD);
    }
}

char *
mrs_strndup(struct mrs_mem *m, const char *s, size_t n)
{
    MRS_ASSERT(s || n == 0);
    char *copy = n < SIZE_MAX ? mrs_alloc(m, n + 1) : NULL;
    if (copy) {
        memcpy(copy, s, n);
        copy[n] = 0;
    }
    return copy;
}

void *
mrs_alloc_array(struct mrs_mem *m, size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? NULL : mrs_alloc(m, bytes);
}
