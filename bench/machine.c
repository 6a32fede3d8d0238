/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - one line on what the machine gives at this moment, so that figures of two days can be set side by side.
 *
 * Instructions: eight additions of which four can go at once, counted with their loop. A core that shares itself with
 * another machine gives half. Fresh memory: a page written for the first time, which is slow where the host takes back
 * what lies free. Copied memory: more of it than caches hold. Each is the best of several rounds. */
#include "clock.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS 5
#define LOOPS 100000000u
#define BYTES ((size_t)256 << 20)

/* Billions of instructions a second. */
static double
instructions(void)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    double begun = now();
    for (uint32_t i = 0; i < LOOPS; i++) {
        a += 1, b += 1, c += 1, d += 1;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d)); /* each addition is really made */
        a += 3, b += 3, c += 3, d += 3;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    }
    return 10.0 * LOOPS / (now() - begun) / 1e9;
}

static void
memory(double *fresh, double *copied)
{
    uint8_t *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return;
    }
    double begun = now();
    for (size_t i = 0; i < BYTES; i += 4096) {
        p[i] = 1;
    }
    double touched = now();
    memcpy(p, p + BYTES / 2, BYTES / 2);
    double done = now();
    double of_fresh = (double)BYTES / (touched - begun) / 1e9, of_copied = (double)BYTES / 2 / (done - touched) / 1e9;
    *fresh = of_fresh > *fresh ? of_fresh : *fresh;
    *copied = of_copied > *copied ? of_copied : *copied;
    munmap(p, BYTES);
}

int
main(void)
{
    double most = 0, fresh = 0, copied = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double n = instructions();
        most = n > most ? n : most;
        memory(&fresh, &copied);
    }
    printf("this machine now: %.1f billion simple instructions a second, fresh memory %.1f GB/s, copied %.1f "
           "GB/s\n",
           most, fresh, copied);
    return 0;
}
