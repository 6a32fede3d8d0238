/* SPDX-License-Identifier: Apache-2.0 */
/* t_codec.c - gzip and zstd, against zlib and libzstd: what they write we read, what we write they
 * read. */
#include "io_test.h"

static struct bytes
unpack_gzip(const uint8_t *p, size_t n, size_t room)
{
    z_stream z = {0};
    struct bytes b = {malloc(room + 1), 0};
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)p;
    z.avail_in = (uInt)n;
    z.next_out = b.p;
    z.avail_out = (uInt)room + 1;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    b.n = z.total_out;
    inflateEnd(&z);
    return b;
}

static struct bytes
pack(struct mrs_mem *mem, const char *path, struct mrs_compress how, struct bytes in, size_t piece)
{
    struct mrs_err err;
    struct mrsi_encoder *enc;
    mrs_err_clear(&err);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct mrsi_encoder_to to = {fd, path, how, 5000, NULL, false, 0};
    OK(mrsi_encoder_open(mem, &to, &enc, &err));
    for (size_t i = 0; i < in.n; i += piece) {
        OK(mrsi_encoder_write(enc, in.p + i, in.n - i < piece ? in.n - i : piece, &err));
    }
    OK(mrsi_encoder_finish(enc, &err));
    mrsi_encoder_close(enc);
    close(fd);
    return get(path);
}

static void
round_trips(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    static const struct mrs_compress hows[] = {
        {MRS_CODEC_NONE, 0}, {MRS_CODEC_GZIP, 0}, {MRS_CODEC_GZIP, 1}, {MRS_CODEC_GZIP, 9},
        {MRS_CODEC_ZSTD, 0}, {MRS_CODEC_ZSTD, 1}, {MRS_CODEC_ZSTD, 12}};
    static const uint32_t counts[] = {0, 1, 17, 3000};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct bytes in = make_docs(counts[k], 7, 300);
        for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
            struct bytes a = pack(mem, at("x"), hows[i], in, 1000),
                         b = pack(mem, at("y"), hows[i], in, 400000), c;
            assert_int_equal(a.n, b.n); /* the cut of the writes does not show */
            assert_memory_equal(a.p, b.p, a.n);
            assert_int_equal(read_source(mem, at("x"), hows[i].codec, 777, &c, &err), MRS_END);
            assert_int_equal(c.n, in.n);
            assert_memory_equal(c.p, in.p, in.n);
            if (hows[i].codec == MRS_CODEC_GZIP) {
                struct bytes d = unpack_gzip(a.p, a.n, in.n);
                assert_int_equal(d.n, in.n);
                assert_memory_equal(d.p, in.p, in.n);
                assert_memory_equal(a.p, "\x1f\x8b\x08\4\0\0\0\0\0\xff\x08\0mr\4\0", 16);
                free(d.p);
            } else if (hows[i].codec == MRS_CODEC_ZSTD) {
                uint8_t *d = malloc(in.n + 1);
                assert_int_equal(ZSTD_decompress(d, in.n + 1, a.p, a.n), in.n);
                assert_memory_equal(d, in.p, in.n);
                free(d);
            }
            free(a.p);
            free(b.p);
            free(c.p);
        }
        free(in.p);
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Several members or frames, as parallel compressors write them, read in pieces of every kind. */
static void
several_members(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    struct bytes in = make_docs(400, 3, 900), all = {malloc(1), 0}, zs = {malloc(1), 0};
    size_t done = 0;
    for (int i = 0; done < in.n; i++) {
        size_t part = i % 3 == 0 ? 1 : i % 3 == 1 ? 5000 : 40000;
        part = in.n - done < part ? in.n - done : part;
        struct bytes g = gzip_by_zlib(in.p + done, part, 1 + i % 9),
                     z = zstd_by_lib(in.p + done, part, 1 + i % 5);
        struct bytes none = gzip_by_zlib(in.p, 0, 6),
                     skip = {(uint8_t *)"\x52\x2a\x4d\x18\3\0\0\0abc", 11};
        struct bytes a = joined(all, g), b = joined(a, none), c = joined(zs, z),
                     d = joined(c, skip);
        void *old[] = {all.p, zs.p, g.p, z.p, none.p, a.p, c.p};
        for (size_t k = 0; k < sizeof old / sizeof *old; k++) {
            free(old[k]);
        }
        all = b;
        zs = d;
        done += part;
    }
    put(at("m.gz"), all.p, all.n);
    put(at("m.zst"), zs.p, zs.n);
    for (size_t piece = 1; piece < 100000; piece = piece * 3 + 1) {
        struct bytes x, y;
        assert_int_equal(read_source(mem, at("m.gz"), MRS_CODEC_GZIP, piece, &x, &err), MRS_END);
        assert_int_equal(read_source(mem, at("m.zst"), MRS_CODEC_ZSTD, piece, &y, &err), MRS_END);
        assert_int_equal(x.n, in.n);
        assert_memory_equal(x.p, in.p, in.n);
        assert_int_equal(y.n, in.n);
        assert_memory_equal(y.p, in.p, in.n);
        free(x.p);
        free(y.p);
    }
    free(in.p);
    free(all.p);
    free(zs.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* The decoder fed one byte at a time, through headers with every optional part, and members of a
 * few bytes. */
static void
byte_by_byte(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    uint8_t head[64] = {
        0x1f, 0x8b, 8, 4 | 8 | 16 | 2, 1, 2, 3, 4, 2, 3, 3, 0, 'e', 'x', 't', 'n', 0, 'c', 'c', 0};
    uint32_t sum = (uint32_t)crc32(0, head, 20);
    head[20] = (uint8_t)sum;
    head[21] = (uint8_t)(sum >> 8);
    struct bytes z = gzip_by_zlib("hello", 5, 6), whole = {malloc(4096), 22};
    memcpy(whole.p, head, 22);
    memcpy(whole.p + 22, z.p + 10, z.n - 10); /* deflate and trailer behind our header */
    whole.n += z.n - 10;
    for (int i = 0; i < 20; i++) {
        memcpy(whole.p + whole.n, z.p, z.n);
        whole.n += z.n;
    }
    for (int damage = 0; damage < 2; damage++) {
        void *d = mrsi_codec_gzip.dec_open(mem);
        uint8_t out[200];
        struct mrsi_flow f = {whole.p, 0, out, sizeof out};
        const char *why = "";
        enum mrs_status s = MRS_OK;
        whole.p[damage ? 12 : 63] ^= damage ? 1 : 0; /* the header has a checksum of its own */
        for (size_t i = 0; i < whole.n && s == MRS_OK; i++) {
            f.in = whole.p + i;
            f.in_n = 1;
            s = mrsi_codec_gzip.dec_step(d, &f, &why);
            assert_true(s != MRS_OK || f.in_n == 0);
        }
        assert_int_equal(s, damage ? MRS_FAIL : MRS_OK);
        if (!damage) {
            assert_true(mrsi_codec_gzip.dec_may_end(d));
            assert_int_equal(sizeof out - f.out_n, 21 * 5);
            assert_memory_equal(out + 100, "hello", 5);
        }
        mrsi_codec_gzip.dec_close(d);
    }
    free(z.p);
    free(whole.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* The frame by so many bytes at a time. */
static enum mrs_status
unpack_in_steps(struct mrs_mem *mem, const uint8_t *frame, size_t n, size_t step)
{
    void *d = mrsi_codec_zstd.dec_open(mem);
    uint8_t out[100];
    const char *why = NULL;
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; at < n && s == MRS_OK;) {
        size_t some = n - at < step ? n - at : step;
        struct mrsi_flow f = {frame + at, some, out, sizeof out};
        s = mrsi_codec_zstd.dec_step(d, &f, &why);
        at += some - f.in_n;
    }
    assert_int_equal(why != NULL, s != MRS_OK);
    assert_true(s != MRS_OK || mrsi_codec_zstd.dec_may_end(d));
    mrsi_codec_zstd.dec_close(d);
    return s;
}

/* A frame whose last block is empty, and that says of six bytes (the library looks only at frames that lie whole before
 * it) or of none; as many bytes at a time. */
static void
frames_that_end_early(void **state)
{
    static uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 6, 1, 0, 0};
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    for (size_t step = 1; step <= sizeof frame; step++) {
        frame[5] = 6;
        assert_int_equal(unpack_in_steps(mem, frame, sizeof frame, step), MRS_FAIL);
        frame[5] = 0;
        assert_int_equal(unpack_in_steps(mem, frame, sizeof frame, step), MRS_OK);
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* A frame of no bytes whose window is as large as the budget allows, and a little larger: refused, however it is cut.
 * Nobody said a budget: what the library takes for streams. */
static void
windows_that_are_too_large(void **state)
{
    static uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x80, 17 << 3, 0, 0, 0, 0, 1, 0, 0};
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    for (size_t step = 1; step <= 2 * sizeof frame; step++) {
        mrs_mem_set_budget(mem, step > sizeof frame ? 256u << 20 : 0);
        frame[5] = 17 << 3; /* 128 MiB */
        assert_int_equal(unpack_in_steps(mem, frame, sizeof frame, step), MRS_OK);
        frame[5] = 17 << 3 | 1;
        assert_int_equal(unpack_in_steps(mem, frame, sizeof frame, step), MRS_FAIL);
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* A packed block without bytes between others, behind a sound frame and a skippable one: refused, however it is cut.
 * Plain and repeated ones, and bytes that look like such a block, are not. */
static void
blocks_that_are_empty(void **state)
{
    static uint8_t frames[] = {
        0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00, 0x13, 0x00, 0x00, 'x',    /* repeated */
        0x50, 0x2a, 0x4d, 0x18, 6, 0, 0, 0, 4, 0, 0, 4, 0, 0,         /* skippable */
        0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00, 0x30, 0x00, 0x00, 4, 0, 0, 4, 0, 0, /* plain: looks like two */
        0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
    };
    uint8_t *kind = &frames[sizeof frames - 6];
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    for (size_t step = 1; step <= sizeof frames; step++) {
        *kind = 0; /* plain, of no bytes */
        assert_int_equal(unpack_in_steps(mem, frames, sizeof frames, step), MRS_OK);
        *kind = 4;
        assert_int_equal(unpack_in_steps(mem, frames, sizeof frames, step), MRS_FAIL);
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* A frame of the format of 2016 (0.7), which the library may know, by itself and behind one of today: refused, however
 * it is cut. */
static void
frames_of_older_formats(void **state)
{
    static const uint8_t bytes[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0, /* an empty one */
                                    0x27, 0xb5, 0x2f, 0xfd, 0x00, 0x50, 0x40, 0x00, 0x01, 'x', 0xc0, 0x00, 0x00};
    static const size_t from[] = {0, 9};
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *p = bytes + from[i];
        size_t n = sizeof bytes - from[i], in, out_n;
        for (size_t step = 1; step <= n; step++) {
            void *d = mrsi_codec_zstd.dec_open(mem);
            uint8_t out[100];
            const char *why = "";
            enum mrs_status s = MRS_OK;
            for (size_t at = 0; at < n && s == MRS_OK;) {
                size_t some = n - at < step ? n - at : step;
                struct mrsi_flow f = {p + at, some, out, sizeof out};
                s = mrsi_codec_zstd.dec_step(d, &f, &why);
                assert_int_equal(f.out_n, sizeof out);
                at += some - f.in_n;
                assert_true(s == MRS_OK || at == (i ? 0 : 9));
            }
            assert_int_equal(s, MRS_FAIL);
            assert_string_equal(why, i ? "Unknown frame descriptor" : "other bytes after the last frame");
            mrsi_codec_zstd.dec_close(d);
        }
        assert_int_equal(mrsi_codec_zstd.unit(p, n, &in, &out_n), i == 0);
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
truncated(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    struct bytes in = make_docs(40, 9, 400);
    for (int kind = 0; kind < 2; kind++) {
        enum mrs_codec codec = kind ? MRS_CODEC_ZSTD : MRS_CODEC_GZIP;
        struct bytes z = pack(mem, at("whole"), (struct mrs_compress){codec, 0}, in, in.n), x;
        for (size_t n = 0; n < z.n; n++) {
            put(at("cut"), z.p, n);
            FAILS(read_source(mem, at("cut"), codec, 1000, &x, &err), MRS_E_FORMAT);
            assert_true(x.n <= in.n && memcmp(x.p, in.p, x.n) == 0);
            free(x.p);
        }
        free(z.p);
    }
    free(in.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Any single flipped bit is found, or harmless: the same bytes come out (gzip's time and the like). */
static void
flipped(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    struct bytes in = make_docs(12, 5, 200);
    for (int kind = 0; kind < 2; kind++) {
        enum mrs_codec codec = kind ? MRS_CODEC_ZSTD : MRS_CODEC_GZIP;
        struct bytes z = pack(mem, at("whole"), (struct mrs_compress){codec, 0}, in, in.n), x;
        unsigned found = 0, harmless = 0;
        for (size_t bit = 0; bit < z.n * 8; bit++) {
            z.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
            put(at("flip"), z.p, z.n);
            z.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
            enum mrs_status s = read_source(mem, at("flip"), codec, 4000, &x, &err);
            if (s == MRS_END) {
                assert_int_equal(x.n, in.n);
                assert_memory_equal(x.p, in.p, in.n);
                harmless++;
            } else {
                assert_true(err.code == MRS_E_FORMAT || (kind && err.code == MRS_E_LIMIT)); /* a window too large */
                mrs_err_clear(&err);
                found++;
            }
            free(x.p);
        }
        assert_true(found > 8 * (z.n - 18)); /* gzip: the header's time, system and extra field */
        assert_true(harmless < 144);
        free(z.p);
    }
    free(in.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
junk_behind(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    struct bytes in = make_docs(30, 2, 100), x;
    struct bytes packed[2] = {gzip_by_zlib(in.p, in.n, 6), zstd_by_lib(in.p, in.n, 3)};
    for (int kind = 0; kind < 2; kind++) {
        for (size_t n = 1; n < 600; n = n * 2 + 1) {
            for (int byte = 0; byte < 2; byte++) {
                struct bytes junk = {calloc(1, n), n};
                memset(junk.p, byte ? 'j' : 0, n);
                struct bytes both = joined(packed[kind], junk);
                put(at("junk"), both.p, both.n);
                enum mrs_codec codec = kind ? MRS_CODEC_ZSTD : MRS_CODEC_GZIP;
                enum mrs_status s = read_source(mem, at("junk"), codec, 999, &x, &err);
                assert_int_equal(s, byte ? MRS_FAIL : MRS_END); /* zeros fill up tapes */
                assert_int_equal(err.code, byte ? MRS_E_FORMAT : MRS_E_NONE);
                mrs_err_clear(&err);
                assert_int_equal(x.n, in.n);
                free(x.p);
                free(junk.p);
                free(both.p);
            }
        }
        free(packed[kind].p);
    }
    free(in.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
words(void **state)
{
    (void)state;
    struct mrs_err err;
    struct mrs_compress c;
    mrs_err_clear(&err);
    OK(mrs_compress_parse("none", &c, &err));
    assert_int_equal(c.codec, MRS_CODEC_NONE);
    OK(mrs_compress_parse("gzip", &c, &err));
    assert_int_equal(c.codec, MRS_CODEC_GZIP);
    assert_int_equal(c.level, 0);
    OK(mrs_compress_parse("zstd:19", &c, &err));
    assert_int_equal(c.codec, MRS_CODEC_ZSTD);
    assert_int_equal(c.level, 19);
    static const char *const bad[] = {"",        "zip",     "gzip:",   "gzip:0",
                                      "gzip:10", "zstd:23", "zstd:1x", "zstd:-1",
                                      "zstd3",   "none:1",  "gzipx",   "zstd:99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FAILS(mrs_compress_parse(bad[i], &c, &err), MRS_E_USAGE);
    }
}

/* gzip's first bytes are also the length of a document of 559,903 bytes. */
static void
recognised(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    enum mrs_codec codec;
    uint8_t *doc = malloc(559903);
    put_doc(doc, 1, 559903);
    put(at("big.bson"), doc, 559903);
    struct bytes g = gzip_by_zlib(doc, 559903, 6), z = zstd_by_lib(doc, 559903, 3);
    put(at("a.bson"), g.p, g.n);
    put(at("b.bson"), z.p, z.n);
    put(at("empty.bson"), "", 0);
    put(at("empty.bson.gz"), "", 0);
    static const struct {
        const char *name;
        enum mrs_codec codec;
    } want[] = {{"big.bson", MRS_CODEC_NONE},
                {"a.bson", MRS_CODEC_GZIP},
                {"b.bson", MRS_CODEC_ZSTD},
                {"empty.bson", MRS_CODEC_NONE}};
    for (size_t i = 0; i < 4; i++) {
        struct mrsi_source_from from = {open(at("%s", want[i].name), O_RDONLY),
                                        true,
                                        0,
                                        UINT64_MAX,
                                        MRS_CODEC_NONE,
                                        want[i].name,
                                        NULL};
        OK(mrsi_sniff(mem, &from, &codec, &err));
        assert_int_equal(codec, want[i].codec);
        close(from.fd);
    }
    struct mrsi_source_from from = {
        open(at("empty.bson.gz"), O_RDONLY), true, 0, UINT64_MAX, MRS_CODEC_NONE, "empty.bson.gz",
        NULL};
    FAILS(mrsi_sniff(mem, &from, &codec, &err), MRS_E_FORMAT);
    close(from.fd);
    free(doc);
    free(g.p);
    free(z.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* A thread that packs has to fit a small budget, with the pieces that it packs from and to. */
static void
encoders_are_small(void **state)
{
    (void)state;
    static const struct {
        struct mrs_compress how;
        uint64_t most;
    } want[] = {{{MRS_CODEC_NONE, 0}, 300 << 10},  {{MRS_CODEC_GZIP, 0}, 3 << 20},
                {{MRS_CODEC_GZIP, 9}, 3 << 20},    {{MRS_CODEC_ZSTD, 1}, 3 << 20},
                {{MRS_CODEC_ZSTD, 0}, 4 << 20},    {{MRS_CODEC_ZSTD, 9}, 10 << 20},
                {{MRS_CODEC_ZSTD, 19}, 14 << 20},  {{MRS_CODEC_ZSTD, 22}, 14 << 20}};
    struct bytes in = make_docs(1500, 1, 2000);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrs_err err;
        struct mrsi_encoder *enc;
        mrs_err_clear(&err);
        struct mrsi_encoder_to to = {open(at("s"), O_RDWR | O_CREAT | O_TRUNC, 0600), "s",
                                     want[i].how, 0, NULL, false, 0};
        OK(mrsi_encoder_open(mem, &to, &enc, &err));
        OK(mrsi_encoder_write(enc, in.p, in.n, &err));
        OK(mrsi_encoder_finish(enc, &err));
        mrsi_encoder_close(enc);
        close(to.fd);
        if (mrs_mem_peak(mem) > want[i].most) {
            print_message("codec %d level %d: %llu bytes\n", want[i].how.codec, want[i].how.level,
                          (unsigned long long)mrs_mem_peak(mem));
        }
        assert_true(mrs_mem_peak(mem) <= want[i].most);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
    free(in.p);
}

/* Packers that lie at different places make the same of the same bytes: what is found in a stream must not depend on
 * where in memory it is, or two runs of the same work write different files. */
static void
wherever_it_lies(void **state)
{
    enum { PLACES = 60, TEXTS = 150 };
    static const int levels[] = {1, 5, 9};
    static uint8_t first[MRSI_CHUNK_ROOM], again[MRSI_CHUNK_ROOM];
    (void)state;
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        struct mrs_mem *mem = mrs_mem_new(0);
        void *at[PLACES];
        for (size_t i = 0; i < PLACES; i++) {
            at[i] = mrsi_codec_gzip.pack_open(mem, levels[l]);
            assert_non_null(at[i]);
        }
        for (uint32_t t = 0; t < TEXTS; t++) {
            struct bytes in = make_docs(1 + t % 4, t, 24 + t % 60);
            size_t want = 0;
            for (size_t i = 0; i < PLACES; i++) {
                const char *why;
                uint8_t *to = i ? again : first;
                struct mrsi_flow f = {in.p, in.n, to, sizeof first};
                assert_int_equal(mrsi_codec_gzip.pack(at[i], &f, NULL, &why), MRS_OK);
                size_t n = (size_t)(f.out - to);
                assert_true(i == 0 || n == want);
                assert_true(i == 0 || memcmp(first, again, n) == 0);
                want = n;
            }
            free(in.p);
        }
        for (size_t i = 0; i < PLACES; i++) {
            mrsi_codec_gzip.pack_close(at[i]);
        }
        assert_int_equal(mrs_mem_close(mem), 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(several_members),
        cmocka_unit_test(byte_by_byte),
        cmocka_unit_test(frames_that_end_early),
        cmocka_unit_test(windows_that_are_too_large),
        cmocka_unit_test(blocks_that_are_empty),
        cmocka_unit_test(frames_of_older_formats),
        cmocka_unit_test(truncated),
        cmocka_unit_test(flipped),
        cmocka_unit_test(junk_behind),
        cmocka_unit_test(words),
        cmocka_unit_test(recognised),
        cmocka_unit_test(encoders_are_small),
        cmocka_unit_test(wherever_it_lies),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
