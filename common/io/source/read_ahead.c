/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead.c - reads and unpacks a compressed file ahead of its reader.
 *
 * One task, the scout, reads the file and cuts it where possible: a frame or member that states its packed and unpacked
 * length is unpacked by a separate task, several at a time. The scout unpacks everything else itself, a chunk at a
 * time. Chunks are in a ring, in the order of the file; the scout pauses while the ring is full, so memory is bounded
 * and no task ever waits. Stated lengths are verified: a frame that ends elsewhere is damaged, which is reported at its
 * turn. Must not know where the bytes come from. */
#include "io/codec/decoder.h"
#include "source.h"

struct read_ahead_slot {
    struct mrsi_task task; /* first */
    struct mrsi_read_ahead *of;
    struct mrsi_chunk *raw, *out; /* raw: a frame or member as in the file */
    uint64_t off, taken;          /* its offset in the file, and the end of the bytes read for it */
    bool done;
    enum mrs_status status; /* after the bytes of out; END: the last one */
    struct mrs_err err;
};

struct mrsi_read_ahead {
    struct mrsi_task scout; /* first */
    struct mrsi_codec_pool *pool;
    struct mrsi_decoder d; /* the scout's */
    bool fresh;            /* the scout has not unpacked anything */
    /* under the lock of the codec pool */
    uint32_t n_slot, head, count, at_work;
    bool scouting, over, closing;
    /* for the reader */
    size_t at; /* in the head's bytes */
    uint64_t taken;
    struct read_ahead_slot slot[];
};

static void
unpack(struct read_ahead_slot *s, struct mrsi_tools *tools)
{
    MRS_ASSERT(s->raw);
    const struct mrsi_decoder *d = &s->of->d;
    const char *why = "it cannot be decoded";
    void *dec = mrsi_tools_unpack(tools, d->codec);
    s->out = dec ? mrsi_chunk_take(s->of->pool) : NULL;
    if (!s->out) {
        s->status = mrs_err_memory(&s->err, sizeof *s->out);
        return;
    }
    struct mrsi_flow f = {s->raw->p, s->raw->n, s->out->p, sizeof s->out->p};
    s->status = d->codec->dec_step(dec, &f, &why);
    s->out->n = (size_t)(f.out - s->out->p);
    if (s->status == MRS_OK && (f.in_n || !d->codec->dec_may_end(dec))) {
        s->status = MRS_FAIL;
    }
    if (s->status != MRS_OK) {
        s->status = mrsi_decoder_damaged(d, dec, s->off + (s->raw->n - f.in_n), s->status, why, &s->err);
        mrsi_tools_spoilt(tools);
    }
}

static void
run_slot(struct mrsi_task *task, struct mrsi_tools *tools)
{
    MRS_ASSERT(task->run == run_slot);
    struct read_ahead_slot *s = (struct read_ahead_slot *)task;
    struct mrsi_read_ahead *a = s->of;
    struct mrsi_codec_pool *pool = a->pool;
    unpack(s, tools);
    mrsi_chunk_release(pool, s->raw);
    s->raw = NULL;
    mrsi_codec_pool_lock(pool);
    s->done = true;
    a->at_work--;
    mrsi_codec_pool_changed(pool);
    mrsi_codec_pool_unlock(pool);
}

/* The next complete frame or member; false: it cannot be cut. */
static bool
cut(struct mrsi_read_ahead *a, struct read_ahead_slot *s)
{
    MRS_ASSERT(s->of == a);
    struct mrsi_decoder *d = &a->d;
    size_t in = 0, out = 0;
    if (!a->fresh && !d->codec->dec_may_end(d->dec)) {
        return false;
    }
    bool whole = d->codec->unit(d->in + d->in_at, d->in_n - d->in_at, &in, &out);
    if (!whole) {
        s->status = mrsi_decoder_fill(d, &s->err);
        whole = s->status == MRS_OK && d->codec->unit(d->in + d->in_at, d->in_n - d->in_at, &in, &out);
    }
    s->raw = whole && out <= MRSI_CHUNK_ROOM ? mrsi_chunk_take(a->pool) : NULL;
    if (!s->raw) {
        return false;
    }
    memcpy(s->raw->p, d->in + d->in_at, in);
    s->raw->n = in;
    s->off = mrsi_decoder_taken(d);
    d->in_at += in;
    d->codec->dec_passed(d->dec);
    return true;
}

/* Unpacks a chunk of data that cannot be cut. */
static void
unpack_here(struct mrsi_read_ahead *a, struct read_ahead_slot *s)
{
    bool ended = false;
    a->fresh = false;
    s->out = mrsi_chunk_take(a->pool);
    if (!s->out) {
        s->status = mrs_err_memory(&s->err, sizeof *s->out);
        return;
    }
    struct mrsi_flow f = {NULL, 0, s->out->p, MRSI_PIECE};
    while (s->status == MRS_OK && f.out_n && !ended) {
        s->status = mrsi_decoder_step(&a->d, &f, &ended, &s->err);
    }
    s->out->n = (size_t)(f.out - s->out->p);
    s->status = s->status == MRS_OK && ended ? MRS_END : s->status;
}

static void
scout(struct mrsi_task *task, struct mrsi_tools *tools)
{
    MRS_ASSERT(task->run == scout);
    struct mrsi_read_ahead *a = (struct mrsi_read_ahead *)task;
    struct mrsi_codec_pool *pool = a->pool;
    (void)tools;
    mrsi_codec_pool_lock(pool);
    while (!a->closing && !a->over && a->count < a->n_slot) {
        struct read_ahead_slot *s = &a->slot[(a->head + a->count) % a->n_slot];
        mrsi_codec_pool_unlock(pool);
        *s = (struct read_ahead_slot){.task = {run_slot, NULL}, .of = a};
        mrs_err_clear(&s->err);
        bool whole = cut(a, s);
        if (!whole && s->status == MRS_OK) {
            unpack_here(a, s);
        }
        s->taken = mrsi_decoder_taken(&a->d);
        mrsi_codec_pool_lock(pool);
        s->done = !whole;
        a->over = s->status != MRS_OK;
        a->count++;
        a->at_work += whole;
        mrsi_codec_pool_changed(pool);
        if (whole) {
            mrsi_codec_pool_unlock(pool);
            mrsi_codec_pool_add(pool, &s->task);
            mrsi_codec_pool_lock(pool);
        }
    }
    a->scouting = false;
    mrsi_codec_pool_changed(pool);
    mrsi_codec_pool_unlock(pool);
}

/* Chunks unpacked or being unpacked, packed ones, and the one being read. */
uint64_t
mrsi_read_ahead_memory(uint32_t threads)
{
    return (2 * threads + 2ull) * sizeof(struct mrsi_chunk);
}

struct mrsi_read_ahead *
mrsi_read_ahead_open(const struct mrsi_decoder *from, struct mrsi_codec_pool *pool)
{
    MRS_ASSERT(from->codec && pool);
    uint32_t threads = mrsi_codec_pool_start(pool), n = threads + 1;
    struct mrsi_read_ahead *a = threads ? mrs_zalloc(from->mem, sizeof *a + n * sizeof a->slot[0]) : NULL;
    if (!a) {
        return NULL;
    }
    a->scout.run = scout;
    a->pool = pool;
    a->n_slot = n;
    a->fresh = true;
    a->d = *from;
    a->d.room = MRSI_CHUNK_ROOM;
    if (mrsi_decoder_open(&a->d, NULL) != MRS_OK) {
        mrsi_read_ahead_close(a);
        return NULL;
    }
    return a;
}

/* The slot with the next bytes, once it is ready. */
static struct read_ahead_slot *
next_slot(struct mrsi_read_ahead *a)
{
    struct read_ahead_slot *s = &a->slot[a->head];
    mrsi_codec_pool_lock(a->pool);
    for (;;) {
        MRS_ASSERT(a->count <= a->n_slot);
        bool wake = !a->scouting && !a->over && a->count < a->n_slot;
        a->scouting = a->scouting || wake;
        if (wake) {
            mrsi_codec_pool_unlock(a->pool);
            mrsi_codec_pool_add(a->pool, &a->scout);
            mrsi_codec_pool_lock(a->pool);
        }
        if (a->count && s->done) {
            break;
        }
        mrsi_codec_pool_wait(a->pool);
    }
    mrsi_codec_pool_unlock(a->pool);
    return s;
}

static void
release_slot(struct mrsi_read_ahead *a, struct read_ahead_slot *s)
{
    MRS_ASSERT(a->count > 0);
    mrsi_chunk_release(a->pool, s->out);
    s->out = NULL;
    a->at = 0;
    mrsi_codec_pool_lock(a->pool);
    a->head = (a->head + 1) % a->n_slot;
    a->count--;
    mrsi_codec_pool_unlock(a->pool);
}

enum mrs_status
mrsi_read_ahead_read(struct mrsi_read_ahead *a, void *p, size_t n, size_t *got, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    *got = 0;
    while (*got < n) {
        struct read_ahead_slot *s = next_slot(a);
        size_t left = s->out ? s->out->n - a->at : 0, part = left < n - *got ? left : n - *got;
        a->taken = s->taken;
        if (part) {
            memcpy((uint8_t *)p + *got, s->out->p + a->at, part);
            a->at += part;
            *got += part;
        } else if (s->status == MRS_OK) {
            release_slot(a, s);
        } else {
            if (s->status < MRS_OK && *got == 0 && e && e->code == MRS_E_NONE) {
                *e = s->err;
            }
            return *got ? MRS_OK : s->status;
        }
    }
    return MRS_OK;
}

uint64_t
mrsi_read_ahead_taken(const struct mrsi_read_ahead *a)
{
    return a->taken;
}

void
mrsi_read_ahead_close(struct mrsi_read_ahead *a)
{
    if (!a) {
        return;
    }
    mrsi_codec_pool_lock(a->pool);
    a->closing = true;
    while (a->scouting || a->at_work) {
        mrsi_codec_pool_wait(a->pool);
    }
    mrsi_codec_pool_unlock(a->pool);
    for (uint32_t i = 0; i < a->n_slot; i++) {
        mrsi_chunk_release(a->pool, a->slot[i].raw);
        mrsi_chunk_release(a->pool, a->slot[i].out);
    }
    mrsi_decoder_close(&a->d);
    mrs_free(a->d.mem, a);
}
