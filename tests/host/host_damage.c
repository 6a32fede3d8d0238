/* SPDX-License-Identifier: Apache-2.0 */
/* host_damage.c - specifications that somebody has cut, nested or changed, each at the end of a page behind which
 * nothing may be read. Whatever they say, the answer is a node or an error that names what is wrong. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const whole[] = {
    "{'$reshape': {'plan': {'plan': 'p', 'version': 1, 'steps': [{'set': {'in': 'a', 'where': {'y': {'$gt': 3}}, "
    "'fields': "
    "{'x': {'$add': ['$y', 1]}}}}, {'unset': {'in': 'a', 'fields': ['z']}}]}, 'of': 'a', 'emit': 'a', 'refused': "
    "'skip', "
    "'memory': 8388608, 'now': {'$date': {'$numberLong': '0'}}}}",
    "{'$reshape': {'plan': {'steps': [{'embed': {'from': 'c', 'into': 'p', 'match': {'p': '_id'}, 'as': 'cs', 'sort': "
    "{'n': -1}}}]}, 'of': 'p', 'with': {'c': '__c'}}}",
    "{'$reshape': {'plan': {'database': 'd', 'server': '8.2', 'steps': [{'bucket': {'from': 'a', 'into': 'b', 'by': "
    "['k'], "
    "'time': 't', 'every': '1h', 'items': 'v', 'start': 's'}}]}}}",
};
enum { WHOLE = sizeof whole / sizeof *whole };

struct guard {
    uint8_t *page;
    size_t n;
};

static void
open_guard(struct guard *g)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    g->n = 2u << 20;
    g->page = mmap(NULL, g->n + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->page == MAP_FAILED || mprotect(g->page + g->n, page, PROT_NONE) != 0) {
        fprintf(stderr, "host: no guard page\n");
        exit(2);
    }
}

static void
parse(struct host *h, const struct guard *g, const uint8_t *p, size_t n)
{
    struct mdb_node *node = NULL;
    uint8_t *at = g->page + g->n - n;
    memcpy(at, p, n);
    bool ok = host_ok(h, h->stage->calls->parse(h->stage, (struct mdb_bytes){at, n}, &node));
    CHECK(ok == (node != NULL) && (ok || (h->error[0] && h->code != -1 && h->code != 0)));
    if (!node) {
        return;
    }
    struct mdb_logical *l = host_promote(h, node, "shop");
    struct mdb_exec *x = l ? host_compile(h, l) : NULL;
    if (x) {
        x->calls->destroy(x);
    }
}

static uint64_t
next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void
change(uint8_t *p, size_t n, uint64_t *seed)
{
    for (uint64_t k = 1 + next(seed) % 4; k > 0; k--) {
        uint64_t at = next(seed) % n;
        switch (next(seed) % 4) {
        case 0: p[at] = (uint8_t)next(seed); break;
        case 1: p[at] ^= (uint8_t)(1u << next(seed) % 8); break;
        case 2: p[at] = 0; break;
        default: p[at] = p[next(seed) % n]; break;
        }
    }
}

/* Nested `depth` deep; the plan is what is nested. */
static void
nested(struct host *h, const struct guard *g, uint32_t depth)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    mrs_buf_init(&b, mem, 1u << 20);
    size_t n = 5;
    uint8_t *p = calloc(1, 5 + (size_t)depth * 8 + 32), *q;
    if (!p) {
        exit(2);
    }
    p[0] = 5;
    for (uint32_t i = 0; i < depth; i++) { /* {a: what there was} */
        memmove(p + 7, p, n);
        q = p;
        mrs_put32(q, (uint32_t)(n + 8));
        q[4] = 3;
        q[5] = 'a';
        q[6] = 0;
        q[7 + n] = 0;
        n += 8;
    }
    memmove(p + 14, p, n); /* {$reshape: ...} */
    mrs_put32(p, (uint32_t)(n + 15));
    memcpy(p + 4, "\3$reshape", 10);
    p[14 + n] = 0;
    parse(h, g, p, n + 15);
    CHECK(h->code != 0);
    free(p);
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
}

void
host_damage(struct host *h, unsigned seeds)
{
    struct guard g;
    open_guard(&g);
    for (size_t w = 0; w < WHOLE; w++) {
        struct mrs_view d = host_doc(whole[w]);
        uint8_t *p = malloc(d.n + 1);
        uint64_t seed = 88172645463325252ull + w;
        parse(h, &g, d.p, d.n);
        CHECK(h->code == 0);
        for (uint32_t n = 0; p && n < d.n; n++) { /* cut, its length as it was or as it is now */
            memcpy(p, d.p, n);
            parse(h, &g, p, n);
            CHECK(h->code == 1970000003);
            if (n >= 5) {
                mrs_put32(p, n);
                p[n - 1] = 0;
                parse(h, &g, p, n);
            }
        }
        for (unsigned i = 0; p && i < seeds / WHOLE; i++) {
            memcpy(p, d.p, d.n);
            change(p, d.n, &seed);
            parse(h, &g, p, d.n);
        }
        free(p);
        free((void *)(uintptr_t)d.p);
    }
    for (uint32_t depth = 1; depth < 3000; depth = depth * 3 / 2 + 1) {
        nested(h, &g, depth);
    }
    uint8_t *much = calloc(1, (1u << 20) + 1);
    if (much) {
        mrs_put32(much, (1u << 20) + 1);
        parse(h, &g, much, (1u << 20) + 1);
        CHECK(h->code == 1970000006 && strstr(h->error, "1 MiB"));
    }
    free(much);
    munmap(g.page, g.n + (size_t)sysconf(_SC_PAGESIZE));
    CHECK(host_counts.bufs == 0 && host_counts.statuses == 0);
}
