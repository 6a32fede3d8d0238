/* SPDX-License-Identifier: Apache-2.0 */
/* fz_archive.c - any bytes behind an archive's magic number; without it where the first byte says so. */
#include "every_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const uint8_t magic[4] = {0x6d, 0xe2, 0x99, 0x81};
    static uint8_t room[1 << 20];
    if (!n || n + sizeof magic > sizeof room) {
        return 0;
    }
    if (data[0] & 1) {
        every_input(data + 1, n - 1);
        return 0;
    }
    memcpy(room, magic, sizeof magic);
    memcpy(room + sizeof magic, data + 1, n - 1);
    every_input(room, sizeof magic + n - 1);
    return 0;
}
