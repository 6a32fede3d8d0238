/* SPDX-License-Identifier: Apache-2.0 */
/* dumps.c - the inputs of the fault tests: small, with documents for every policy of the plans. */
#include "dumps.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

void
put_bytes(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || (n && fwrite(p, 1, n, f) != n) || fclose(f) != 0) {
        die("%s cannot be written: %s", path, strerror(errno));
    }
}

/* One frame or member of a compressed file; how long it is. */
static size_t
pack_one(enum mrs_codec codec, const uint8_t *p, size_t n, uint8_t *out, size_t room)
{
    if (codec == MRS_CODEC_ZSTD) {
        ZSTD_CCtx *c = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
        room = ZSTD_compress2(c, out, room, p, n);
        ZSTD_freeCCtx(c);
        return room;
    }
    z_stream z = {0};
    deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef *)(uintptr_t)p;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return z.total_out;
}

void
put_packed(const char *path, enum mrs_codec codec, const void *p, size_t n)
{
    size_t room = ZSTD_compressBound(n) + 1024 + n / 100, at = 0, first = n > 600 ? n / 3 : n;
    uint8_t *out = malloc(room);
    if (codec == MRS_CODEC_NONE) {
        put_bytes(path, p, n);
    } else {
        at = pack_one(codec, p, first, out, room);
        if (first < n) {
            at += pack_one(codec, (const uint8_t *)p + first, n - first, out + at, room - at);
        }
        put_bytes(path, out, at);
    }
    free(out);
}

void
put_lines(const char *path, enum mrs_codec codec, const char *lines)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf out;
    size_t at = 0, n = strlen(lines);
    mrs_buf_init(&out, mem, SIZE_MAX);
    while (at < n) {
        struct mrs_err e;
        size_t used = 0;
        mrs_err_clear(&e);
        if (mrs_ejson_read(lines + at, n - at, MRS_EJSON_DATA, &out, &used, &e) != MRS_OK) {
            die("%s: %s: %.60s", path, e.msg, lines + at);
        }
        at += used + strspn(lines + at + used, "\n");
    }
    put_packed(path, codec, out.p, out.n);
    mrs_buf_clear(&out);
    mrs_mem_close(mem);
}

/* ---- text that grows ---- */
struct text {
    char *p;
    size_t n, cap;
};

static void __attribute__((format(printf, 2, 3)))
say(struct text *t, const char *fmt, ...)
{
    va_list args;
    if (t->cap - t->n < 8192) {
        t->cap = t->cap * 2 + 16384;
        t->p = realloc(t->p, t->cap);
    }
    va_start(args, fmt);
    t->n += (size_t)vsnprintf(t->p + t->n, t->cap - t->n, fmt, args);
    va_end(args);
}

static const char *
suffix(enum mrs_codec codec)
{
    return codec == MRS_CODEC_GZIP ? ".gz" : codec == MRS_CODEC_ZSTD ? ".zst" : "";
}

/* Ends a collection: its two files. meta NULL: none. */
static void
collection(const char *dir, const char *name, enum mrs_codec codec, struct text *docs, const char *meta)
{
    char path[512];
    if (docs) {
        snprintf(path, sizeof path, "%s/d/%s.bson%s", dir, name, suffix(codec));
        put_lines(path, codec, docs->p ? docs->p : "");
        free(docs->p);
        memset(docs, 0, sizeof *docs);
    }
    if (meta) {
        bool packed = codec == MRS_CODEC_GZIP;
        snprintf(path, sizeof path, "%s/d/%s.metadata.json%s", dir, name, packed ? ".gz" : "");
        put_packed(path, packed ? MRS_CODEC_GZIP : MRS_CODEC_NONE, meta, strlen(meta));
    }
}

#define META(name, more)                                                                                     \
    "{\"options\":{},\"indexes\":[{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"_id\":{\"$numberInt\":\"1\"}}," \
    "\"name\":\"_id_\"}" more "],\"uuid\":\"00112233445566778899aabbccddeeff\",\"collectionName\":\"" name \
    "\",\"type\":\"collection\"}"
#define INDEX(field) \
    ",{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"" field "\":{\"$numberInt\":\"1\"}},\"name\":\"" field "_1\"}"

static void
folders(const char *dir)
{
    char path[512];
    mkdir(dir, 0777);
    snprintf(path, sizeof path, "%s/d", dir);
    mkdir(path, 0777);
}

/* A view, a collection that is empty, one that no plan names, and a file that is no namespace. */
static void
bystanders(const char *dir, enum mrs_codec codec)
{
    struct text t = {0};
    char path[512];
    say(&t, "{\"_id\":1,\"x\":\"untouched\"}\n");
    collection(dir, "rest", codec, &t, META("rest", ""));
    collection(dir, "none", codec, &t, META("none", ""));
    collection(dir, "view", codec, NULL,
               "{\"options\":{\"viewOn\":\"rest\",\"pipeline\":[]},\"indexes\":[],\"collectionName\":\"view\","
               "\"type\":\"view\"}");
    snprintf(path, sizeof path, "%s/d/$admin.system.users.bson", dir);
    put_lines(path, MRS_CODEC_NONE, "{\"_id\":\"d.me\",\"user\":\"me\",\"db\":\"d\"}\n");
    snprintf(path, sizeof path, "%s/prelude.json", dir);
    put_bytes(path, "{\"ServerVersion\":\"8.0.4\"}\n", 26);
}

void
dump_blog(const char *dir, enum mrs_codec codec)
{
    struct text t = {0};
    folders(dir);
    bystanders(dir, codec);
    for (int i = 0; i < 14; i++) {
        say(&t, "{\"_id\":%d,\"name\":\"user %d\",\"age\":%s,\"tags\":[\"a%d\",\"b\"],\"city\":{\"zip\":%d}}\n", i, i,
            i == 5 ? "\"old\"" : "\"31\"", i % 3, i * 7);
    }
    collection(dir, "users", codec, &t, META("users", INDEX("name")));
    for (int i = 0; i < 26; i++) {
        say(&t, "{\"_id\":%d,\"owner\":%d,\"title\":\"post %d\",\"n\":%d,\"s\":%s,\"lines\":[", i, i * 5 % 16, i, i % 4,
            i == 7 ? "[1,2]" : "3");
        for (int k = 0; k < i % 4; k++) {
            say(&t, "%s{\"_id\":\"%d-%d\",\"p\":%d,\"name\":\"part %d\"}", k ? "," : "", i, k, (i + k) % 9,
                (i + k) % 9);
        }
        say(&t, "]}\n");
    }
    collection(dir, "posts", codec, &t, META("posts", INDEX("owner") INDEX("lines.p")));
    for (int i = 0; i < 12; i++) { /* some of these are in users too, with other contents */
        say(&t, "{\"_id\":%d,\"name\":\"guest %d\"}\n", i * 4, i);
    }
    collection(dir, "guests", codec, &t, META("guests", ""));
}

#define BINARY(base64) "{\"$binary\":{\"base64\":\"" base64 "\",\"subType\":\"07\"}}"

/* A time series: buckets of both kinds, two or three measurements each; in some of them a number is a text. */
void
dump_series(const char *dir, enum mrs_codec codec)
{
    static const char times[] = "CQDoAwAAAAAAAIANAAAAAAAAAAA=";
    /* a number, then two documents */
    static const char values[] = "EAABAAAA8RsAAAAQYQABAAAAA2IADAAAABBjAAIAAAAAAIANAAAAAAAAAIANAAAAAAAAAAAA";
    struct text t = {0};
    folders(dir);
    for (int i = 0; i < 12; i++) {
        say(&t, "{\"_id\":%d,\"control\":{\"version\":%d},\"meta\":%d,\"data\":", i, i % 3 ? 2 : 1, i % 4);
        if (i % 3) {
            say(&t, "{\"t\":" BINARY("%s") ",\"v\":" BINARY("%s") "}}\n", times, values);
        } else {
            say(&t, "{\"t\":{\"0\":{\"$date\":%d},\"1\":{\"$date\":5}},\"_id\":{\"0\":%d,\"1\":%d},", i, 2 * i,
                2 * i + 1);
            say(&t, "\"v\":{\"1\":%s}}}\n", i % 2 ? "\"x\"" : "7");
        }
    }
    collection(dir, "system.buckets.s", codec, &t, NULL);
    collection(dir, "s", codec, NULL,
               "{\"options\":{\"timeseries\":{\"timeField\":\"t\",\"metaField\":\"m\"}},\"indexes\":[],"
               "\"collectionName\":\"s\",\"type\":\"timeseries\"}");
    say(&t, "{\"_id\":1}\n{\"_id\":2}\n");
    collection(dir, "devices", codec, &t, META("devices", ""));
}

/* Many parents, some with many children: past every bound that a small opts.memory sets. */
void
dump_wide(const char *dir, enum mrs_codec codec)
{
    struct text t = {0};
    folders(dir);
    for (int i = 0; i < 70; i++) {
        say(&t, "{\"_id\":%d,\"name\":\"host %d\",\"two\":[%d,%d],\"three\":%s}\n", i, i, i, i + 1000,
            i % 20 == 5 ? "[1,2]" : "3");
    }
    collection(dir, "hosts", codec, &t, META("hosts", ""));
    for (int i = 0; i < 90; i++) {
        say(&t, "{\"_id\":%d,\"host\":%d,\"day\":%d,\"k\":%d,\"text\":\"message %d of %d\"}\n", i,
            i % 3 ? i * 7 % 80 : 3, i * 13 % 30, i % 5, i, i);
    }
    collection(dir, "logs", codec, &t, META("logs", INDEX("host")));
}

/* One parent with more children than a worker may hold. */
static void
put_heavy(const char *dir, enum mrs_codec codec, int width)
{
    struct text t = {0};
    folders(dir);
    for (int i = 0; i < 3; i++) {
        say(&t, "{\"_id\":%d}\n", i);
    }
    collection(dir, "hosts", codec, &t, META("hosts", ""));
    for (int i = 0; i < 100; i++) {
        say(&t, "{\"_id\":%d,\"host\":%d,\"day\":%d,\"text\":\"%0*d\"}\n", i, i == 4 ? 2 : 1, i * 13 % 30, width, i);
    }
    collection(dir, "logs", codec, &t, META("logs", ""));
}

void
dump_heavy(const char *dir, enum mrs_codec codec)
{
    put_heavy(dir, codec, 300);
}

void
dump_heavy_short(const char *dir, enum mrs_codec codec)
{
    put_heavy(dir, codec, 2);
}

/* Long enough to be killed in the middle. */
void
dump_large(const char *dir, enum mrs_codec codec)
{
    struct text t = {0};
    folders(dir);
    for (int i = 0; i < 3000; i++) {
        say(&t, "{\"_id\":%d,\"name\":\"host %d\"}\n", i, i);
    }
    collection(dir, "hosts", codec, &t, META("hosts", ""));
    for (int i = 0; i < 20000; i++) {
        say(&t, "{\"_id\":%d,\"host\":%d,\"day\":%d,\"text\":\"%0100d\"}\n", i, i * 7 % 3100, i * 13 % 30, i);
    }
    collection(dir, "logs", codec, &t, META("logs", INDEX("host")));
}

/* More documents of from than the first chunk of fates has room for. */
void
dump_many(const char *dir, enum mrs_codec codec)
{
    enum { N = (1 << 20) + 5000 };
    struct text t = {0};
    char path[512];
    folders(dir);
    say(&t, "{\"_id\":1}\n{\"_id\":2}\n");
    collection(dir, "hosts", codec, &t, META("hosts", ""));
    uint8_t *p = malloc(N * 14u);
    for (uint32_t i = 0; i < N; i++) {
        memcpy(p + i * 14u, "\x0e\0\0\0\x10_id", 9);
        mrs_put32(p + i * 14u + 9, i);
        p[i * 14u + 13] = 0;
    }
    snprintf(path, sizeof path, "%s/d/logs.bson%s", dir, suffix(codec));
    put_packed(path, codec, p, N * 14u);
    free(p);
}

/* Few documents and more bytes than one piece of a compressed file has. */
void
dump_thick(const char *dir, enum mrs_codec codec)
{
    struct text t = {0};
    folders(dir);
    for (int i = 0; i < 400; i++) {
        say(&t, "{\"_id\":%d,\"text\":\"%04000d\"}\n", i, i * 7919);
    }
    collection(dir, "one", codec, &t, META("one", ""));
}

/* One file of one namespace. */
void
dump_single(const char *dir, enum mrs_codec codec)
{
    struct text t = {0};
    folders(dir);
    for (int i = 0; i < 9; i++) {
        say(&t, "{\"_id\":%d,\"n\":%d}\n", i, i * i);
    }
    collection(dir, "one", codec, &t, META("one", ""));
}
