/* SPDX-License-Identifier: Apache-2.0 */
/* fz_container.c - any bytes as a file whose kind is told by its content: tar, zip, 7z, cpio, xz, gzip, zstd, BSON. */
#include "every_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    every_input(data, n);
    return 0;
}
