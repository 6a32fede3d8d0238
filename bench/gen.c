/* SPDX-License-Identifier: Apache-2.0 */
/* gen.c - data for the benchmark: gen OUTDIR SCALE
 *
 * Writes OUTDIR/bench/{posts,comments,products,parts,sensors}.bson, the same bytes for the same scale. Scale 1:
 * 200,000 posts (118 MB), 2,000,000 comments (491 MB) that name their post in random order, 50,000 products (90 MB)
 * with 10 to 200 references to 200,000 parts (41 MB), 5,000,000 readings of 1,000 sensors (525 MB), a few seconds out
 * of order. How many comments a post has follows Zipf's law: half of them have three or fewer, one has thousands; one
 * comment in 200 names a post that is not there.
 *
 * Documents are laid down as bytes in one buffer; that is all of BSON that is needed here, and fast enough to be made
 * anew for each benchmark. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { POST = 1, COMMENT, PRODUCT, PART, USER, READING };

static uint64_t state;

static uint64_t
next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
}

static uint32_t
below(uint32_t n)
{
    return (uint32_t)(((next_random() >> 32) * n) >> 32);
}

static double
unit(void) /* [0, 1) */
{
    return (double)(next_random() >> 11) / 9007199254740992.0;
}

/* Zipf-Mandelbrot: ranks 0 .. n-1, rank k as often as 1 / (k + shift). */
static uint32_t
rank(double n, double shift)
{
    double k = shift * (pow((n + shift) / shift, unit()) - 1);
    return k < n - 1 ? (uint32_t)k : (uint32_t)n - 1;
}

/* ---- a document in the making ---- */
static uint8_t doc[1 << 16];
static size_t at;
static size_t open_at[8];
static int depth;

static void
put(const void *p, size_t n)
{
    memcpy(doc + at, p, n);
    at += n;
}

static void
put32(uint32_t v)
{
    uint8_t b[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    put(b, 4);
}

static void
put64(uint64_t v)
{
    put32((uint32_t)v);
    put32((uint32_t)(v >> 32));
}

static void
head(uint8_t type, const char *name)
{
    put(&type, 1);
    put(name, strlen(name) + 1);
}

static void
begin(void)
{
    open_at[depth++] = at;
    at += 4;
}

static void
end(void)
{
    size_t from = open_at[--depth], to;
    doc[at++] = 0;
    to = at;
    at = from;
    put32((uint32_t)(to - from));
    at = to;
}

static void
put_int(const char *name, uint32_t v)
{
    head(0x10, name);
    put32(v);
}

static void
put_double(const char *name, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    head(0x01, name);
    put64(bits);
}

static void
put_bool(const char *name, int yes)
{
    head(0x08, name);
    doc[at++] = yes != 0;
}

static void
put_date(const char *name, uint64_t ms)
{
    head(0x09, name);
    put64(ms);
}

static void
put_text(const char *name, const char *text, size_t n)
{
    head(0x02, name);
    put32((uint32_t)n + 1);
    put(text, n);
    doc[at++] = 0;
}

/* As a driver makes them: seconds, five bytes of the process, a counter. */
static void
put_oid(const char *name, uint32_t kind, uint32_t i, uint32_t a_second)
{
    uint32_t t = 1700000000u + i / a_second, c = i + kind * 0x10001u;
    uint8_t b[12] = {(uint8_t)(t >> 24), (uint8_t)(t >> 16), (uint8_t)(t >> 8), (uint8_t)t, 0x7b, 0x21, (uint8_t)kind,
                     0xc4, 0x0e, (uint8_t)(c >> 16), (uint8_t)(c >> 8), (uint8_t)c};
    head(0x07, name);
    put(b, 12);
}

/* ---- words ---- */
#define WORDS 5000
static struct {
    char text[16];
    uint8_t n;
} words[WORDS];

static void
invent_words(void)
{
    static const char onsets[] = "bdfgklmnprstvz", vowels[] = "aeiou", codas[] = "nrslt";
    for (int i = 0; i < WORDS; i++) {
        int n = 0;
        for (uint32_t syllable = 1 + below(i < 150 ? 2 : 3); syllable > 0; syllable--) {
            words[i].text[n++] = onsets[below(sizeof onsets - 1)];
            words[i].text[n++] = vowels[below(sizeof vowels - 1)];
            if (below(2)) {
                words[i].text[n++] = codas[below(sizeof codas - 1)];
            }
        }
        if (i % 90 == 7) { /* some that are not ASCII */
            words[i].text[n++] = '\xc3';
            words[i].text[n++] = '\xb6';
        }
        words[i].n = (uint8_t)n;
    }
}

/* A text of at least n bytes, common words more often. */
static void
put_prose(const char *name, uint32_t n)
{
    char text[2048];
    uint32_t len = 0;
    while (len < n) {
        uint32_t w = rank(WORDS, 12);
        memcpy(text + len, words[w].text, words[w].n);
        len += words[w].n;
        text[len++] = ' ';
    }
    put_text(name, text, len - 1);
}

static void
put_user(const char *name, uint32_t i)
{
    char text[32];
    put_text(name, text, (size_t)snprintf(text, sizeof text, "user%05u", i));
}

/* ---- collections ---- */
static uint32_t n_posts, n_comments, n_products, n_parts, n_readings;

static void
post(uint32_t i)
{
    put_oid("_id", POST, i, 3);
    put_prose("title", 20 + below(40));
    uint32_t user = below(5000);
    head(0x03, "author");
    begin();
    put_oid("id", USER, user, 1);
    put_user("name", user);
    end();
    put_prose("body", 150 + below(400));
    head(0x04, "tags");
    begin();
    for (uint32_t k = 0, n = 1 + below(5); k < n; k++) {
        const char index[2] = {(char)('0' + k), 0};
        uint32_t w = below(300);
        put_text(index, words[w].text, words[w].n);
    }
    end();
    put_date("created", 1700000000000u + i * 333ull + below(300));
    put_int("views", below(100000));
    put_double("score", unit() * 10);
    put_bool("published", below(10) != 0);
}

static void
comment(uint32_t i)
{
    put_oid("_id", COMMENT, i, 20);
    put_date("created", 1700000000000u + i * 50ull + below(50));
    uint32_t of = (uint32_t)((rank(n_posts, 50) * 2654435761ull + 12345) % n_posts); /* favourites lie scattered */
    put_oid("postId", POST, below(200) ? of : n_posts + below(n_posts), 3);
    head(0x03, "author");
    begin();
    put_user("name", below(50000));
    put_int("karma", below(10000));
    end();
    put_prose("text", 30 + below(160));
    put_int("likes", below(500));
    put_bool("hidden", below(50) == 0);
}

static void
product(uint32_t i)
{
    put_oid("_id", PRODUCT, i, 1);
    put_prose("name", 15 + below(30));
    put_double("price", below(1000000) / 100.0);
    head(0x04, "parts");
    begin();
    for (uint32_t k = 0, n = 10 + below(191); k < n; k++) {
        char index[12];
        snprintf(index, sizeof index, "%u", k);
        put_oid(index, PART, below(n_parts), 5);
    }
    end();
    put_date("updated", 1700000000000u + i * 1000ull);
}

static void
part(uint32_t i)
{
    char text[32];
    put_oid("_id", PART, i, 5);
    put_prose("name", 10 + below(20));
    put_double("price", below(100000) / 100.0);
    put_prose("description", 40 + below(80));
    put_text("location", text, (size_t)snprintf(text, sizeof text, "WH-%02u-%04u", below(40), below(5000)));
    put_int("stock", below(10000));
}

static void
reading(uint32_t i)
{
    char text[32];
    put_oid("_id", READING, i, 33);
    put_text("sensorId", text, (size_t)snprintf(text, sizeof text, "sensor-%06u", below(1000)));
    put_date("ts", 1700000000000u + i * 30ull + below(4000));
    put_double("value", 15 + unit() * 10);
    put_double("humidity", 40 + below(300) / 10.0);
    put_int("rssi", below(90));
}

static int
write_coll(const char *dir, const char *name, uint32_t n, void (*fields)(uint32_t))
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bench/%s.bson", dir, name);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        return 1;
    }
    state = 0x9e3779b97f4a7c15u ^ (uint64_t)name[0] << 8 ^ (uint64_t)name[1] << 24 ^ (uint64_t)name[2];
    setvbuf(f, NULL, _IOFBF, 1 << 20);
    for (uint32_t i = 0; i < n; i++) {
        at = 0;
        begin();
        fields(i);
        end();
        fwrite(doc, 1, at, f);
    }
    long bytes = ftell(f);
    if (ferror(f) || fclose(f) != 0) {
        perror(path);
        return 1;
    }
    printf("%-9s %9u documents %7.1f MB\n", name, n, (double)bytes / 1e6);
    return 0;
}

int
main(int argc, char **argv)
{
    double scale = argc == 3 ? strtod(argv[2], NULL) : 0;
    if (!(scale > 0 && scale <= 80)) {
        fprintf(stderr, "usage: gen OUTDIR SCALE (up to 80)\n");
        return 2;
    }
    n_posts = (uint32_t)(200000 * scale);
    n_comments = (uint32_t)(2000000 * scale);
    n_products = (uint32_t)(50000 * scale);
    n_parts = (uint32_t)(200000 * scale);
    n_readings = (uint32_t)(5000000 * scale);
    char path[4096];
    snprintf(path, sizeof path, "%s/bench", argv[1]);
    if ((mkdir(argv[1], 0777) != 0 && errno != EEXIST) || (mkdir(path, 0777) != 0 && errno != EEXIST)) {
        perror(path);
        return 1;
    }
    state = 42;
    invent_words();
    return write_coll(argv[1], "posts", n_posts, post) || write_coll(argv[1], "comments", n_comments, comment) ||
           write_coll(argv[1], "products", n_products, product) || write_coll(argv[1], "parts", n_parts, part) ||
           write_coll(argv[1], "sensors", n_readings, reading);
}
