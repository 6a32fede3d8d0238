/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c - the table of codecs: by name, and by the first bytes of a stream. */
#include "codec.h"

const struct mrsi_codec *
mrsi_codec_of(enum mrs_codec codec)
{
    return codec == MRS_CODEC_GZIP   ? &mrsi_codec_gzip
           : codec == MRS_CODEC_ZSTD ? &mrsi_codec_zstd
           : codec == MRS_CODEC_TWICE ? &mrsi_codec_twice
                                     : NULL;
}

enum mrs_codec
mrsi_codec_by_magic(const uint8_t *head, size_t n)
{
    MRS_ASSERT(head || n == 0);
    uint32_t first = n >= 4 ? mrs_le32(head) : 0;
    if (first == 0xFD2FB528u || (first & 0xFFFFFFF0u) == 0x184D2A50u) {
        return MRS_CODEC_ZSTD;
    }
    return n >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 ? MRS_CODEC_GZIP : MRS_CODEC_NONE;
}
