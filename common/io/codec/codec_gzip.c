/* SPDX-License-Identifier: Apache-2.0 */
/* codec_gzip.c - gzip (RFC 1952) around raw deflate: headers, trailers, several members.
 *
 * Parallel compressors write many members in sequence, and mongorestore reads them as one stream. Only zeros may follow
 * the last one, as padding of tapes; other bytes are damage. A small state machine reads header and trailer byte by
 * byte, since a buffer may end inside them. Our header has no name and no time, so that output repeats exactly, and an
 * extra field with the length of the member: so its end is found without unpacking it. Readers that do not know the
 * field skip it, as RFC 1952 requires. */
#include "codec.h"

enum { HEAD = 20, EXTRA_AT = 12, EXTRA = 8, SIZE_AT = 16, TAIL = 8 };
/* no time, an unknown system; eight bytes of extra field: "mr", then in four bytes the length of the whole member */
static const uint8_t head[HEAD] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 8, 0, 'm', 'r', 4, 0};

enum at {
    AT_START, /* between members: the file may end here after the first one */
    AT_FIXED, /* the ten bytes every header has */
    AT_EXTRA_LEN,
    AT_EXTRA,
    AT_NAME,
    AT_COMMENT,
    AT_HEADER_CRC,
    AT_BODY,
    AT_TRAILER,
    AT_ZEROS /* after the last member: nothing else may follow */
};
enum { F_HCRC = 2, F_EXTRA = 4, F_NAME = 8, F_COMMENT = 16, F_RESERVED = 0xE0 };

struct codec_gzip_dec {
    struct mrs_mem *mem;
    struct mrsi_inflate *z;
    enum at at;
    uint8_t bytes[10]; /* of the part that is being read */
    uint32_t n;        /* number of them read; of AT_EXTRA: still to skip */
    uint8_t flags;
    uint32_t crc, size, header_crc;
    uint8_t tail[8]; /* bytes after the last deflate stream that were read with it */
    uint32_t tail_at, tail_n;
    bool any; /* a member is complete */
    uint64_t taken, begun;    /* bytes read, and number of them before this member */
    uint8_t extra[EXTRA];     /* of this member, if it is as long as ours */
    uint32_t extra_n, length; /* length: of the member, from its header; 0: none */
};

static void *
dec_open(struct mrs_mem *mem)
{
    struct codec_gzip_dec *d = mrs_zalloc(mem, sizeof *d);
    if (!d) {
        return NULL;
    }
    d->mem = mem;
    d->z = mrsi_inflate_open(mem);
    if (!d->z) {
        mrs_free(mem, d);
        return NULL;
    }
    return d;
}

static void
dec_close(void *p)
{
    struct codec_gzip_dec *d = p;
    if (d) {
        mrsi_inflate_close(d->z);
        mrs_free(d->mem, d);
    }
}

/* The next byte of the wrapper, from the tail first; false: more input is needed. */
static bool
take(struct codec_gzip_dec *d, struct mrsi_flow *f, uint8_t *byte)
{
    MRS_ASSERT(f->in || f->in_n == 0);
    if (d->tail_at < d->tail_n) {
        *byte = d->tail[d->tail_at++];
        return true;
    }
    if (!f->in_n) {
        return false;
    }
    *byte = *f->in++;
    f->in_n--;
    d->taken++;
    return true;
}

/* The part of the header after part `done`. */
static void
next_part(struct codec_gzip_dec *d, enum at done)
{
    d->n = 0;
    if (done < AT_EXTRA_LEN && (d->flags & F_EXTRA)) {
        d->at = AT_EXTRA_LEN;
    } else if (done < AT_NAME && (d->flags & F_NAME)) {
        d->at = AT_NAME;
    } else if (done < AT_COMMENT && (d->flags & F_COMMENT)) {
        d->at = AT_COMMENT;
    } else if (done < AT_HEADER_CRC && (d->flags & F_HCRC)) {
        d->at = AT_HEADER_CRC;
    } else {
        d->at = AT_BODY;
        d->crc = d->size = 0;
        mrsi_inflate_reset(d->z);
    }
}

static enum mrs_status
fixed_part(struct codec_gzip_dec *d, const char **why)
{
    MRS_ASSERT(d->n <= sizeof d->bytes);
    if (d->n == 1 && d->bytes[0] != 0x1f) {
        *why = d->any ? "other bytes after the last member" : "no gzip header";
        return MRS_FAIL;
    }
    if (d->n == 2 && d->bytes[1] != 0x8b) {
        *why = d->any ? "other bytes after the last member" : "no gzip header";
        return MRS_FAIL;
    }
    if (d->n < 10) {
        return MRS_OK;
    }
    d->flags = d->bytes[3];
    if (d->bytes[2] != 8 || (d->flags & F_RESERVED)) {
        *why = d->bytes[2] != 8 ? "an unknown compression method" : "unknown flags in the header";
        return MRS_FAIL;
    }
    next_part(d, AT_FIXED);
    return MRS_OK;
}

static enum mrs_status
header_byte(struct codec_gzip_dec *d, uint8_t byte, const char **why)
{
    MRS_ASSERT(d->at == AT_EXTRA || d->n <= sizeof d->bytes);
    if (d->at != AT_HEADER_CRC) {
        d->header_crc = mrsi_crc32(d->header_crc, &byte, 1);
    }
    switch (d->at) {
    case AT_FIXED:
        d->bytes[d->n++] = byte;
        return fixed_part(d, why);
    case AT_EXTRA_LEN:
        d->bytes[d->n++] = byte;
        if (d->n == 2) {
            d->n = (uint32_t)d->bytes[0] | (uint32_t)d->bytes[1] << 8;
            d->at = AT_EXTRA;
            d->extra_n = d->n;
            if (d->n == 0) {
                next_part(d, AT_EXTRA);
            }
        }
        return MRS_OK;
    case AT_EXTRA:
        if (d->extra_n == EXTRA) {
            d->extra[EXTRA - d->n] = byte;
        }
        if (--d->n == 0) {
            d->length = d->extra_n == EXTRA && memcmp(d->extra, head + EXTRA_AT, 4) == 0 ? mrs_le32(d->extra + 4) : 0;
            next_part(d, AT_EXTRA);
        }
        return MRS_OK;
    case AT_NAME:
    case AT_COMMENT:
        if (byte == 0) {
            next_part(d, d->at);
        }
        return MRS_OK;
    default:
        d->bytes[d->n++] = byte;
        if (d->n == 2) {
            if (((uint32_t)d->bytes[0] | (uint32_t)d->bytes[1] << 8) != (d->header_crc & 0xffff)) {
                *why = "the checksum of the header is wrong";
                return MRS_FAIL;
            }
            next_part(d, AT_HEADER_CRC);
        }
        return MRS_OK;
    }
}

static enum mrs_status
trailer_byte(struct codec_gzip_dec *d, uint8_t byte, const char **why)
{
    MRS_ASSERT(d->tail_n <= sizeof d->tail);
    d->bytes[d->n++] = byte;
    if (d->n < 8) {
        return MRS_OK;
    }
    if (mrs_le32(d->bytes) != d->crc) {
        *why = "the checksum is wrong";
        return MRS_FAIL;
    }
    if (mrs_le32(d->bytes + 4) != d->size) {
        *why = "the stored size is wrong";
        return MRS_FAIL;
    }
    if (d->length && d->taken - (d->tail_n - d->tail_at) - d->begun != d->length) {
        *why = "the length of a member differs from its header";
        return MRS_FAIL;
    }
    d->at = AT_START;
    d->any = true;
    return MRS_OK;
}

/* Runs inflate over one flow and keeps checksum and size. */
static enum mrs_status
inflate_flow(struct codec_gzip_dec *d, struct mrsi_flow *f, const char **why)
{
    const uint8_t *out = f->out;
    enum mrs_status s = mrsi_inflate_step(d->z, f, why);
    size_t made = (size_t)(f->out - out);
    d->crc = mrsi_crc32(d->crc, out, made);
    d->size += (uint32_t)made;
    return s;
}

static enum mrs_status
body(struct codec_gzip_dec *d, struct mrsi_flow *f, const char **why)
{
    MRS_ASSERT(d->z);
    enum mrs_status s;
    if (d->tail_at < d->tail_n) { /* the start of this stream was read with the previous member */
        struct mrsi_flow early = {d->tail + d->tail_at, d->tail_n - d->tail_at, f->out, f->out_n};
        s = inflate_flow(d, &early, why);
        d->tail_at = d->tail_n - (uint32_t)early.in_n;
        f->out = early.out;
        f->out_n = early.out_n;
    } else {
        const uint8_t *in = f->in;
        s = inflate_flow(d, f, why);
        d->taken += (uint64_t)(f->in - in);
    }
    if (s == MRS_END) {
        uint8_t tail[16];
        uint32_t n = (uint32_t)mrsi_inflate_tail(d->z, tail);
        while (d->tail_at < d->tail_n) {
            tail[n++] = d->tail[d->tail_at++];
        }
        memcpy(d->tail, tail, n < sizeof d->tail ? n : sizeof d->tail);
        d->tail_at = 0;
        d->tail_n = n;
        d->at = AT_TRAILER;
        d->n = 0;
        s = MRS_OK;
    }
    return s;
}

static enum mrs_status
dec_step(void *p, struct mrsi_flow *f, const char **why)
{
    struct codec_gzip_dec *d = p;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK) {
        uint8_t byte;
        if (d->at == AT_BODY) {
            size_t in = f->in_n + d->tail_n - d->tail_at, out = f->out_n;
            if (!out) {
                break;
            }
            s = body(d, f, why);
            if (d->at == AT_BODY && f->in_n + d->tail_n - d->tail_at == in && f->out_n == out) {
                break; /* needs more input */
            }
            continue;
        }
        if (!take(d, f, &byte)) {
            break;
        }
        if ((d->at == AT_START && d->any && !byte) || d->at == AT_ZEROS) {
            d->at = AT_ZEROS;
            *why = "other bytes after the last member";
            s = byte ? MRS_FAIL : MRS_OK;
            continue;
        }
        if (d->at == AT_START) {
            d->at = AT_FIXED;
            d->begun = d->taken - (d->tail_n - d->tail_at) - 1;
            d->n = d->length = 0;
            d->header_crc = 0;
        }
        s = d->at == AT_TRAILER ? trailer_byte(d, byte, why) : header_byte(d, byte, why);
    }
    return s;
}

static bool
dec_may_end(const void *p)
{
    const struct codec_gzip_dec *d = p;
    return ((d->at == AT_START && d->any) || d->at == AT_ZEROS) && d->tail_at == d->tail_n;
}

static void
dec_passed(void *p)
{
    struct codec_gzip_dec *d = p;
    d->any = true;
}

static bool
unit(const uint8_t *p, size_t n, size_t *in, size_t *out)
{
    if (n < HEAD + TAIL || memcmp(p, head, 4) != 0 || memcmp(p + EXTRA_AT - 2, head + EXTRA_AT - 2, 6) != 0) {
        return false;
    }
    *in = mrs_le32(p + SIZE_AT);
    if (*in < HEAD + TAIL || *in > n) {
        return false;
    }
    *out = mrs_le32(p + *in - 4);
    return true;
}

struct codec_gzip_packer {
    struct mrs_mem *mem;
    struct mrsi_deflate *z;
};

static size_t
pack_bytes(int level)
{
    return sizeof(struct codec_gzip_packer) + mrsi_deflate_bytes(level);
}

static void *
pack_open(struct mrs_mem *mem, int level)
{
    struct codec_gzip_packer *c = mrs_zalloc(mem, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->mem = mem;
    c->z = mrsi_deflate_open(mem, level);
    if (!c->z) {
        mrs_free(mem, c);
        return NULL;
    }
    return c;
}

static void
pack_close(void *p)
{
    struct codec_gzip_packer *c = p;
    mrsi_deflate_close(c->z);
    mrs_free(c->mem, c);
}

static enum mrs_status
pack(void *p, struct mrsi_flow *f, const struct mrs_stop *stop, const char **why)
{
    (void)stop; /* a piece takes some ten milliseconds at most */
    struct codec_gzip_packer *c = p;
    uint32_t crc = mrsi_crc32(0, f->in, f->in_n), size = (uint32_t)f->in_n;
    uint8_t *member = f->out;
    bool room = f->out_n > HEAD + TAIL;
    f->out += HEAD;
    f->out_n -= room ? HEAD + TAIL : f->out_n;
    if (!room || !mrsi_deflate_piece(c->z, f, true)) {
        *why = "the encoder refused its input";
        return MRS_FAIL;
    }
    mrs_put32(f->out, crc);
    mrs_put32(f->out + 4, size);
    f->out += TAIL;
    memcpy(member, head, HEAD);
    mrs_put32(member + SIZE_AT, (uint32_t)(f->out - member));
    return MRS_OK;
}

static enum mrs_status
pack_part(void *p, struct mrsi_flow *f, const struct mrs_stop *stop, const char **why)
{
    (void)stop;
    struct codec_gzip_packer *c = p;
    bool whole = mrsi_deflate_piece(c->z, f, false);
    *why = "the encoder refused its input";
    return whole ? MRS_OK : MRS_FAIL;
}

const struct mrsi_codec mrsi_codec_gzip = {
    "gzip", ".gz", 1, 9, 5, dec_open, dec_step, dec_may_end, NULL, unit, dec_passed, dec_close,
    pack_bytes, pack_open, pack, pack_close,
};

const struct mrsi_codec mrsi_codec_deflate = {
    .name = "deflate", .suffix = "", .level_min = 1, .level_max = 9, .level_default = 5,
    .pack_bytes = pack_bytes, .pack_open = pack_open, .pack = pack_part, .pack_close = pack_close,
};
