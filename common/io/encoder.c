/* encoder.c - bytes to the end of a file, plain or compressed.
 *
 * Encoders get their input in pieces of one fixed size however the caller cuts it, because what
 * they write may depend on the cut, and output must repeat byte for byte for any number of threads
 * and any budget. Plain files have a buffer of a size the caller chooses, and pieces larger than
 * that go to the file directly. Must not know documents, names of collections or when a file counts
 * as published. */
#include "codec.h"
#include "internal.h"

#define OUT_CHUNK (64u << 10)

struct mrsi_encoder {
    struct mrs_mem *mem;
    int fd;
    char *name;
    const struct mrsi_codec *codec; /* NULL: plain */
    void *enc;
    uint8_t *in; /* input that is not yet given to the codec or to the file */
    size_t in_n, in_cap;
    uint8_t *out; /* OUT_CHUNK bytes, of codecs */
};

enum mrs_status
mrs_compress_parse(const char *text, struct mrs_compress *out, struct mrs_err *e)
{
    static const enum mrs_codec codecs[] = {MRS_CODEC_GZIP, MRS_CODEC_ZSTD};
    if (strcmp(text, "none") == 0) {
        out->codec = MRS_CODEC_NONE;
        out->level = 0;
        return MRS_OK;
    }
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        const struct mrsi_codec *c = mrsi_codec_of(codecs[i]);
        size_t n = strlen(c->name);
        if (strncmp(text, c->name, n) != 0 || (text[n] && text[n] != ':')) {
            continue;
        }
        int level = 0;
        const char *p = text + n + 1;
        for (; text[n] && *p >= '0' && *p <= '9' && level < 1000; p++) {
            level = level * 10 + (*p - '0');
        }
        if (text[n] && (*p || p == text + n + 1 || level < c->level_min || level > c->level_max)) {
            return MRSI_FAIL(e, MRS_E_USAGE, "levels of %s are %d to %d, not '%s'", c->name,
                             c->level_min, c->level_max, text + n + 1);
        }
        out->codec = codecs[i];
        out->level = level;
        return MRS_OK;
    }
    return MRSI_FAIL(e, MRS_E_USAGE,
                     "unknown compression '%s': gzip, zstd (both with :level) or none", text);
}

enum mrs_status
mrsi_encoder_open(struct mrs_mem *mem, const struct mrsi_encoder_to *to, struct mrsi_encoder **out,
                  struct mrs_err *e)
{
    struct mrsi_encoder *c = mrs_zalloc(mem, sizeof *c);
    if (!c) {
        return mrs_err_memory(e, sizeof *c);
    }
    c->mem = mem;
    c->fd = to->fd;
    c->codec = mrsi_codec_of(to->compress.codec);
    c->in_cap = c->codec ? MRSI_ENC_CHUNK : to->buffer ? to->buffer : MRSI_SINK_BUFFER;
    c->name = mrs_strndup(mem, to->name, strlen(to->name));
    c->in = mrs_alloc(mem, c->in_cap);
    bool ok = c->name && c->in;
    if (ok && c->codec) {
        int level = to->compress.level ? to->compress.level : c->codec->level_default;
        c->out = mrs_alloc(mem, OUT_CHUNK);
        c->enc = c->out ? c->codec->enc_open(mem, level) : NULL;
        ok = c->enc != NULL;
    }
    if (!ok) {
        mrsi_encoder_close(c);
        return mrs_err_memory(e, MRSI_ENC_CHUNK);
    }
    *out = c;
    return MRS_OK;
}

void
mrsi_encoder_close(struct mrsi_encoder *c)
{
    if (!c) {
        return;
    }
    if (c->enc) {
        c->codec->enc_close(c->enc);
    }
    mrs_free(c->mem, c->name);
    mrs_free(c->mem, c->in);
    mrs_free(c->mem, c->out);
    mrs_free(c->mem, c);
}

/* Runs one whole piece through the codec; with finish also its end. */
static enum mrs_status
encode(struct mrsi_encoder *c, const uint8_t *p, size_t n, bool finish, struct mrs_err *e)
{
    struct mrsi_flow f = {p, n, NULL, 0};
    enum mrs_status s = MRS_OK;
    bool full = false; /* the last round filled its room: there may be more */
    while (s == MRS_OK && (f.in_n || finish || full)) {
        const char *why = "failed";
        f.out = c->out;
        f.out_n = OUT_CHUNK;
        s = c->codec->enc_step(c->enc, &f, finish, &why);
        if (s == MRS_DEAD) {
            return mrs_err_memory(e, 0);
        }
        if (s == MRS_FAIL) {
            return MRSI_FAIL(e, MRS_E_IO, "%s: %s: %s", c->name, c->codec->name, why);
        }
        size_t made = OUT_CHUNK - f.out_n;
        full = f.out_n == 0;
        if (made) {
            enum mrs_status w = mrsi_write_full(c->fd, c->out, made, c->name, e);
            s = w == MRS_OK ? s : w;
        }
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
flush(struct mrsi_encoder *c, const uint8_t *p, size_t n, struct mrs_err *e)
{
    return c->codec ? encode(c, p, n, false, e) : mrsi_write_full(c->fd, p, n, c->name, e);
}

enum mrs_status
mrsi_encoder_write(struct mrsi_encoder *c, const void *p, size_t n, struct mrs_err *e)
{
    const uint8_t *at = p;
    enum mrs_status s = MRS_OK;
    while (n && s == MRS_OK) {
        if (c->in_n == 0 && n >= c->in_cap) {
            size_t direct = c->codec ? c->in_cap : n;
            s = flush(c, at, direct, e);
            at += direct;
            n -= direct;
            continue;
        }
        size_t part = n < c->in_cap - c->in_n ? n : c->in_cap - c->in_n;
        memcpy(c->in + c->in_n, at, part);
        c->in_n += part;
        at += part;
        n -= part;
        if (c->in_n == c->in_cap) {
            s = flush(c, c->in, c->in_n, e);
            c->in_n = 0;
        }
    }
    return s;
}

enum mrs_status
mrsi_encoder_finish(struct mrsi_encoder *c, struct mrs_err *e)
{
    size_t n = c->in_n;
    c->in_n = 0;
    return c->codec ? encode(c, c->in, n, true, e) : mrsi_write_full(c->fd, c->in, n, c->name, e);
}
