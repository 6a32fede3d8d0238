/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - a main for fuzz targets without a fuzzer: runs files through the target, whole, cut and damaged.
 *
 * replay FILE...    Each file as it is, then cut off at 64 places, then with one byte changed at 64 places. Places and
 * bytes are the same every time. A finding is a crash: which file it was is in the last line printed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define ROUNDS 64

static uint64_t state;

static size_t
below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* A block of its own for each call, so that a sanitizer sees reads past the end. */
static void
run(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n + (n == 0));
    if (!copy) {
        exit(2);
    }
    memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static void
replay(uint8_t *data, size_t n)
{
    run(data, n);
    for (int i = 0; i < ROUNDS && n > 0; i++) {
        run(data, below(n));
        size_t at = below(n);
        uint8_t was = data[at];
        data[at] = (uint8_t)(i % 2 ? was ^ 1u << below(8) : below(256));
        run(data, n);
        data[at] = was;
    }
}

int
main(int argc, char **argv)
{
    static uint8_t data[1 << 20];
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 2;
        }
        size_t n = fread(data, 1, sizeof data, f);
        fclose(f);
        fprintf(stderr, "%s\n", argv[i]);
        state = n;
        replay(data, n);
    }
    printf("%d passed, 0 failed, 0 skipped\n", argc - 1);
    return 0;
}
