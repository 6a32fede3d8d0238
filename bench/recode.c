/* SPDX-License-Identifier: Apache-2.0 */
/* recode.c - what the codecs alone cost: unpacks each file and packs it again, in one thread, and looks at nothing.
 *
 * recode zstd|gzip LEVEL FILE... OUT_DIR
 *
 * By the libraries that the tool uses: libzstd; ISA-L, at the level of its own that is given. Frames carry a checksum,
 * as the tool's do. */
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define PIECE (1u << 20)

static uint8_t packed[PIECE], plain[PIECE], repacked[2 * PIECE];

static void
die(const char *what)
{
    fprintf(stderr, "recode: %s\n", what);
    exit(1);
}

static size_t
take(int in)
{
    ssize_t n = read(in, packed, sizeof packed);
    if (n < 0) {
        die("cannot read");
    }
    return (size_t)n;
}

static void
give(int out, size_t n)
{
    if (write(out, repacked, n) != (ssize_t)n) {
        die("cannot write");
    }
}

/* ---- zstd ---- */
static void
pack_zstd(ZSTD_CCtx *c, int out, size_t n, ZSTD_EndDirective how)
{
    ZSTD_inBuffer from = {plain, n, 0};
    size_t left;
    do {
        ZSTD_outBuffer to = {repacked, sizeof repacked, 0};
        left = ZSTD_compressStream2(c, &to, &from, how);
        if (ZSTD_isError(left)) {
            die(ZSTD_getErrorName(left));
        }
        give(out, to.pos);
    } while (from.pos < from.size || (how == ZSTD_e_end && left));
}

static void
recode_zstd(int in, int out, int level)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_DCtx *d = ZSTD_createDCtx();
    if (!c || !d) {
        die("no memory");
    }
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    for (size_t n; (n = take(in)) > 0;) {
        ZSTD_inBuffer from = {packed, n, 0};
        ZSTD_outBuffer to;
        do {
            to = (ZSTD_outBuffer){plain, sizeof plain, 0};
            size_t r = ZSTD_decompressStream(d, &to, &from);
            if (ZSTD_isError(r)) {
                die(ZSTD_getErrorName(r));
            }
            pack_zstd(c, out, to.pos, ZSTD_e_continue);
        } while (from.pos < from.size || to.pos == to.size);
    }
    pack_zstd(c, out, 0, ZSTD_e_end);
    ZSTD_freeCCtx(c);
    ZSTD_freeDCtx(d);
}

/* ---- gzip ---- */
static void
pack_gzip(struct isal_zstream *c, int out, size_t n, bool last)
{
    c->next_in = plain;
    c->avail_in = (uint32_t)n;
    c->end_of_stream = last;
    do {
        c->next_out = repacked;
        c->avail_out = sizeof repacked;
        if (isal_deflate(c) != COMP_OK) {
            die("cannot deflate");
        }
        give(out, sizeof repacked - c->avail_out);
    } while (c->avail_in > 0 || c->avail_out == 0);
}

static void
recode_gzip(int in, int out, int level)
{
    static struct inflate_state d;
    static struct isal_zstream c;
    static uint8_t room[ISAL_DEF_LVL3_DEFAULT];
    isal_inflate_init(&d);
    d.crc_flag = ISAL_GZIP;
    isal_deflate_init(&c);
    c.gzip_flag = IGZIP_GZIP;
    c.level = (uint32_t)level;
    c.level_buf = room;
    c.level_buf_size = sizeof room;
    for (size_t n; (n = take(in)) > 0;) {
        d.next_in = packed;
        d.avail_in = (uint32_t)n;
        do {
            if (d.block_state == ISAL_BLOCK_FINISH) { /* another member */
                isal_inflate_reset(&d);
            }
            d.next_out = plain;
            d.avail_out = sizeof plain;
            if (isal_inflate(&d) != ISAL_DECOMP_OK) {
                die("cannot inflate");
            }
            pack_gzip(&c, out, sizeof plain - d.avail_out, false);
        } while (d.avail_in > 0 || d.avail_out == 0);
    }
    pack_gzip(&c, out, 0, true);
}

int
main(int argc, char **argv)
{
    bool zstd = argc > 4 && strcmp(argv[1], "zstd") == 0;
    char path[4096];
    if (argc < 5 || (!zstd && strcmp(argv[1], "gzip") != 0)) {
        fprintf(stderr, "usage: recode zstd|gzip LEVEL FILE... OUT_DIR\n");
        return 2;
    }
    for (int i = 3; i < argc - 1; i++) {
        const char *name = strrchr(argv[i], '/');
        snprintf(path, sizeof path, "%s/%s", argv[argc - 1], name ? name + 1 : argv[i]);
        int in = open(argv[i], O_RDONLY), out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (in < 0 || out < 0) {
            die(in < 0 ? argv[i] : path);
        }
        (zstd ? recode_zstd : recode_gzip)(in, out, atoi(argv[2]));
        close(in);
        if (close(out) < 0) {
            die(path);
        }
    }
    return 0;
}
