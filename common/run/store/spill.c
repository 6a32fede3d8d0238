/* SPDX-License-Identifier: Apache-2.0 */
/* spill.c - distributes records to partitions, each a range of the ordinals of `into`.
 *
 * A worker fills one piece for each partition; full pieces stay in memory within the budget, else they are written to
 * one temporary file and the piece is reused. Records of one worker (a stream) come in ascending order of `from`, so
 * sorting a partition is a merge of a few lists. Reserved memory comes in slabs with huge pages: the first touch of
 * small pages costs more than the copy. */
#include "state.h"
#include "spill.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { SLAB_MIN = 16 << 20, SLAB_MAX = 64 << 20 };

void
mrsi_spill_cut(struct mrsi_spill *sp)
{
    MRS_ASSERT(sp->added < sp->n_part);
    uint32_t n = sp->n_part - sp->added;
    for (uint32_t i = 0; i < sp->n_part; i++) {
        sp->part[i].lo = i < n ? sp->first + (uint64_t)((unsigned __int128)sp->total * i / n) : 0;
        sp->part[i].hi = i < n ? sp->first + (uint64_t)((unsigned __int128)sp->total * (i + 1) / n) : 0;
        mrs_buf_init(&sp->part[i].pieces, sp->en->mem, SIZE_MAX);
    }
    sp->parts_per_ordinal = sp->total ? (double)n / (double)sp->total : 0;
}

enum mrs_status
mrsi_spill_init(struct mrsi_spill *sp, struct mrsi_engine *en, uint64_t ordinals,
                const struct mrsi_spill_layout *layout, struct mrs_err *e)
{
    MRS_ASSERT(layout->parts > 0 && layout->piece > 0);
    memset(sp, 0, sizeof *sp);
    sp->en = en;
    sp->total = ordinals;
    sp->n_part = layout->parts;
    sp->piece_bytes = layout->piece;
    sp->piece_most = layout->piece_most;
    sp->memory = layout->memory;
    sp->streams = 1;
    mrs_buf_init(&sp->slabs, en->mem, SIZE_MAX);
    pthread_mutex_init(&sp->lock, NULL);
    sp->part = mrs_zalloc(en->mem, sp->n_part * sizeof *sp->part);
    MRS_TRY(mrs_allocated(sp->part, sp->n_part * sizeof *sp->part, e));
    mrsi_spill_cut(sp);
    return MRS_OK;
}

enum mrs_status
mrsi_spill_spare(struct mrsi_spill *sp, uint32_t n, struct mrs_err *e)
{
    struct mrsi_partition *more = mrs_realloc(sp->en->mem, sp->part, ((size_t)sp->n_part + n) * sizeof *more);
    MRS_TRY(mrs_allocated(more, ((size_t)sp->n_part + n) * sizeof *more, e));
    memset(more + sp->n_part, 0, n * sizeof *more);
    sp->part = more;
    sp->spare = n;
    return MRS_OK;
}

void
mrsi_spill_add(struct mrsi_spill *sp)
{
    MRS_ASSERT(sp->spare > 0);
    mrs_buf_init(&sp->part[sp->n_part].pieces, sp->en->mem, SIZE_MAX);
    sp->n_part++;
    sp->added++;
    sp->spare--;
}

uint64_t
mrsi_spill_bytes(struct mrsi_spill *sp, uint32_t part)
{
    pthread_mutex_lock(&sp->lock);
    uint64_t n = sp->part[part].bytes;
    pthread_mutex_unlock(&sp->lock);
    return n;
}

void
mrsi_slabs_free(struct mrs_mem *mem, struct mrs_buf *slabs)
{
    for (size_t i = 0; i + sizeof(void *) <= slabs->n; i += sizeof(void *)) {
        void *slab;
        memcpy(&slab, slabs->p + i, sizeof slab);
        mrs_free(mem, slab);
    }
    mrs_buf_clear(slabs);
}

static void
free_slabs(struct mrsi_spill *sp)
{
    mrsi_slabs_free(sp->en->mem, &sp->slabs);
    sp->slab_at = sp->slab_end = NULL;
}

void
mrsi_spill_clear(struct mrsi_spill *sp)
{
    if (!sp->en) {
        return;
    }
    for (uint32_t i = 0; sp->part && i < sp->n_part; i++) {
        mrs_buf_clear(&sp->part[i].pieces);
    }
    mrs_free(sp->en->mem, sp->part);
    free_slabs(sp);
    mrsi_temp_drop(sp->en, sp->temp);
    mrsi_temp_drop(sp->en, sp->list);
    pthread_mutex_destroy(&sp->lock);
    memset(sp, 0, sizeof *sp);
}

/* Large ones, since the huge page at the beginning of an allocation is lost to small ones: its header was touched
 * before. */
static size_t
slab_bytes(const struct mrsi_spill *sp)
{
    uint64_t share = sp->memory / 4;
    return share < SLAB_MIN ? sp->piece_bytes * 16 : share < SLAB_MAX ? (size_t)share : SLAB_MAX;
}

static enum mrs_status
add_slab(struct mrsi_spill *sp, size_t n, struct mrs_err *e)
{
    void *slab = mrs_alloc(sp->en->mem, n);
    MRS_TRY(mrs_allocated(slab, n, e));
    mrs_buf_put(&sp->slabs, &slab, sizeof slab);
    if (sp->slabs.bad) {
        mrs_free(sp->en->mem, slab);
        return mrs_buf_status(&sp->slabs, e);
    }
    sp->slab_at = (uint8_t *)(((uintptr_t)slab + 63) & ~(uintptr_t)63);
    sp->slab_end = (uint8_t *)slab + n;
    mrsi_advise_huge(slab, n);
    return MRS_OK;
}

/* Allocates a piece, which lives as long as the spill. NULL: out of memory. */
static uint8_t *
piece_room(struct mrsi_spill *sp, size_t n, struct mrs_err *e)
{
    uint8_t *p = NULL;
    pthread_mutex_lock(&sp->lock);
    enum mrs_status s = MRS_OK;
    if (!sp->slab_at || (size_t)(sp->slab_end - sp->slab_at) < n) {
        size_t slab = slab_bytes(sp);
        s = add_slab(sp, (slab < n ? n : slab) + 64, e);
    }
    if (s == MRS_OK) {
        p = sp->slab_at;
        sp->slab_at += n;
    }
    pthread_mutex_unlock(&sp->lock);
    return p;
}

uint64_t
mrsi_piece_sum(const struct mrsi_spill *sp, const uint8_t *p, uint32_t n)
{
    return mrs_hash64(p, n, sp->en->secret.seed);
}

/* Verifies the checksum of a piece that the stopped run wrote. */
static enum mrs_status
read_piece(const struct mrsi_spill *sp, const struct mrsi_spill_piece *x, uint8_t *to, struct mrs_err *e)
{
    MRS_ASSERT(sp->temp && !x->p);
    enum mrs_status s = mrs_read_at(sp->temp->fd, to, x->n, x->off, e);
    if (s == MRS_OK && x->stream < sp->old_streams && mrsi_piece_sum(sp, to, x->n) != x->sum) {
        s = mrsi_state_damaged("what was put aside", e);
    }
    return s;
}

static enum mrs_status
add_piece(struct mrsi_spill *sp, uint32_t part, struct mrsi_spill_piece piece, struct mrs_err *e)
{
    MRS_ASSERT(piece.n > 0);
    pthread_mutex_lock(&sp->lock);
    mrs_buf_put(&sp->part[part].pieces, &piece, sizeof piece);
    sp->part[part].bytes += piece.n;
    sp->n_pieces++;
    enum mrs_status s = mrs_buf_status(&sp->part[part].pieces, e);
    pthread_mutex_unlock(&sp->lock);
    return s;
}

static enum mrs_status
to_file(struct mrsi_spill *sp, uint32_t part, const uint8_t *p, uint32_t n, uint32_t stream, struct mrs_err *e)
{
    pthread_mutex_lock(&sp->lock);
    enum mrs_status s = sp->temp ? MRS_OK : mrsi_ckpt_temp(sp->en, &sp->temp, e);
    pthread_mutex_unlock(&sp->lock);
    if (s != MRS_OK) {
        return s;
    }
    struct mrsi_spill_piece piece = {NULL, atomic_fetch_add(&sp->spilled, n), n, stream, 0};
    piece.sum = sp->temp->no ? mrsi_piece_sum(sp, p, n) : 0;
    s = mrs_write_at(sp->temp->fd, p, n, piece.off, e);
    return s == MRS_OK ? add_piece(sp, part, piece, e) : s;
}

enum mrs_status
mrsi_spiller_init(struct mrsi_spiller *s, struct mrsi_spill *sp, uint32_t worker, struct mrs_err *e)
{
    s->sp = sp;
    pthread_mutex_lock(&sp->lock);
    s->stream = sp->old_streams + worker;
    sp->streams = sp->streams > s->stream ? sp->streams : s->stream + 1;
    s->next = sp->spillers;
    sp->spillers = s;
    pthread_mutex_unlock(&sp->lock);
    size_t n = (size_t)sp->n_part + sp->spare;
    s->open = mrs_zalloc(sp->en->mem, n * sizeof *s->open);
    return mrs_allocated(s->open, n * sizeof *s->open, e);
}

void
mrsi_spiller_clear(struct mrsi_spiller *s)
{
    if (s->sp) {
        struct mrsi_spiller **at = &s->sp->spillers;
        while (*at && *at != s) {
            at = &(*at)->next;
        }
        *at = *at ? s->next : NULL;
        mrs_free(s->sp->en->mem, s->open);
        mrs_free(s->sp->en->mem, s->large);
        if (!s->sp->spillers && !s->sp->memory) { /* all pieces are in the file */
            free_slabs(s->sp);
        }
        s->open = NULL;
        s->large = NULL;
    }
}

/* Completes an open piece: it stays in memory, or is written and reused. */
static enum mrs_status
hand_over(struct mrsi_spiller *s, uint32_t part, struct mrs_err *e)
{
    MRS_ASSERT(s->open[part].n <= s->open[part].cap);
    struct mrsi_spill *sp = s->sp;
    uint32_t n = s->open[part].n;
    if (!n) {
        return MRS_OK;
    }
    s->open[part].n = 0;
    if (atomic_fetch_add(&sp->used_bytes, s->open[part].cap) < sp->memory) {
        struct mrsi_spill_piece piece = {s->open[part].p, MRSI_NO_PLACE, n, s->stream, 0};
        s->open[part].p = NULL;
        s->open[part].cap = 0;
        return add_piece(sp, part, piece, e);
    }
    return to_file(sp, part, s->open[part].p, n, s->stream, e);
}

uint32_t
mrsi_spill_part_of(const struct mrsi_spill *sp, uint64_t ord)
{
    MRS_ASSERT(ord >= sp->first && ord - sp->first < sp->total);
    uint32_t i = (uint32_t)((double)(ord - sp->first) * sp->parts_per_ordinal); /* may be off by one */
    i = i < sp->n_part ? i : sp->n_part - 1;
    while (sp->part[i].lo > ord) {
        i--;
    }
    while (sp->part[i].hi <= ord) {
        i++;
    }
    return i;
}

enum mrs_status
mrsi_spiller_open(struct mrsi_spiller *s, uint32_t part, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(!s->large);
    struct mrsi_spill *sp = s->sp;
    enum mrs_status st = hand_over(s, part, e);
    if (st != MRS_OK || (n <= sp->piece_bytes && s->open[part].p)) {
        return st;
    }
    if (n > sp->piece_bytes) {
        s->large = mrs_alloc(sp->en->mem, n);
        return mrs_allocated(s->large, n, e);
    }
    s->open[part].p = piece_room(sp, sp->piece_bytes, e);
    if (!s->open[part].p) {
        return MRS_DEAD;
    }
    s->open[part].cap = sp->piece_bytes;
    return MRS_OK;
}

enum mrs_status
mrsi_spiller_large(struct mrsi_spiller *s, uint32_t part, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(s->large);
    enum mrs_status st = to_file(s->sp, part, s->large, (uint32_t)n, s->stream, e);
    mrs_free(s->sp->en->mem, s->large);
    s->large = NULL;
    return st;
}

enum mrs_status
mrsi_spiller_put(struct mrsi_spiller *s, const struct mrsi_rec *head, const struct mrsi_rec_parts *x, struct mrs_err *e)
{
    MRS_ASSERT(head->total >= sizeof *head);
    uint32_t part = mrsi_spill_part_of(s->sp, head->ord);
    if (!mrsi_spiller_fits(s, part, head->total)) {
        MRS_TRY(mrsi_spiller_open(s, part, head->total, e));
    }
    mrsi_rec_fill(mrsi_spiller_take(s, part, head->total), head, x);
    return s->large ? mrsi_spiller_large(s, part, head->total, e) : MRS_OK;
}

enum mrs_status
mrsi_spiller_end(struct mrsi_spiller *s, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->sp->n_part; i++) {
        if (!s->sp->memory) {
            st = hand_over(s, i, e);
        } else if (s->open[i].n) { /* the last pieces stay in memory: they were counted when they were opened */
            struct mrsi_spill_piece piece = {s->open[i].p, MRSI_NO_PLACE, s->open[i].n, s->stream, 0};
            s->open[i].p = NULL;
            s->open[i].n = s->open[i].cap = 0;
            st = add_piece(s->sp, i, piece, e);
        }
    }
    return st;
}

/* ---- load ---- */
enum { AHEAD = 1024 }; /* prefetch distance in bytes of records, which vary in length */

static void
list_piece(const uint8_t *p, uint32_t n, uint64_t lo, uint64_t hi, struct mrs_buf *list)
{
    for (const uint8_t *end = p + n; p < end;) {
        const struct mrsi_rec *rec = (const struct mrsi_rec *)(const void *)p;
        __builtin_prefetch(p + AHEAD);
        p += rec->total;
        if (rec->ord >= lo && rec->ord < hi) {
            struct mrsi_loaded one = {rec, (uint32_t)(rec->ord - lo), rec->ref};
            mrs_buf_put(list, &one, sizeof one);
        }
    }
}

enum mrs_status
mrsi_partition_load_pieces(const struct mrsi_spill *sp, const struct mrsi_partition *p, struct mrs_buf *buf,
                           uint8_t ***pieces, struct mrs_err *e)
{
    const struct mrsi_spill_piece *x = (const struct mrsi_spill_piece *)(const void *)p->pieces.p;
    size_t n = p->pieces.n / sizeof *x, bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += x[i].p ? 0 : x[i].n;
    }
    mrs_buf_reset(buf);
    uint8_t *at = mrs_buf_take(buf, bytes + n * sizeof(uint8_t *) + 8);
    if (!at) {
        return mrs_buf_status(buf, e);
    }
    uint8_t **loaded = *pieces = (uint8_t **)(void *)at;
    at += n * sizeof *loaded;
    for (size_t i = 0; i < n; i++) {
        loaded[i] = x[i].p ? x[i].p : at;
        if (!x[i].p) {
            MRS_TRY(read_piece(sp, &x[i], at, e));
            at += x[i].n;
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_partition_load(const struct mrsi_spill *sp, const struct mrsi_partition *p, uint64_t lo, uint64_t hi,
                    struct mrs_buf *buf, struct mrs_buf *list, struct mrs_err *e)
{
    MRS_ASSERT(lo <= hi);
    const struct mrsi_spill_piece *x = (const struct mrsi_spill_piece *)(const void *)p->pieces.p;
    size_t n = p->pieces.n / sizeof *x;
    uint8_t **loaded;
    mrs_buf_reset(list);
    enum mrs_status s = mrsi_partition_load_pieces(sp, p, buf, &loaded, e);
    for (uint32_t stream = 0; s == MRS_OK && stream < sp->streams; stream++) {
        for (size_t i = 0; i < n; i++) {
            if (x[i].stream == stream) {
                list_piece(loaded[i], x[i].n, lo, hi, list);
            }
        }
    }
    return s == MRS_OK ? mrs_buf_status(list, e) : s;
}

enum mrs_status
mrsi_partition_pieces(const struct mrsi_spill *sp, const struct mrsi_partition *p, mrsi_piece_fn *fn, void *arg,
                      struct mrs_err *e)
{
    const struct mrsi_spill_piece *x = (const struct mrsi_spill_piece *)(const void *)p->pieces.p;
    size_t n = p->pieces.n / sizeof *x;
    struct mrs_buf room;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&room, sp->en->mem, SIZE_MAX);
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        const uint8_t *at = x[i].p;
        if (!at) {
            mrs_buf_reset(&room);
            uint8_t *to = mrs_buf_take(&room, x[i].n);
            s = to ? read_piece(sp, &x[i], to, e) : mrs_buf_status(&room, e);
            at = to;
        }
        MRS_THEN(s, fn(arg, at, x[i].n, e));
    }
    mrs_buf_clear(&room);
    return s;
}

struct each {
    uint64_t lo, hi;
    enum mrs_status (*fn)(void *arg, const struct mrsi_rec *r, struct mrs_err *e);
    void *arg;
};

static enum mrs_status
each_record(void *arg, const uint8_t *p, uint32_t n, struct mrs_err *e)
{
    const struct each *x = arg;
    enum mrs_status s = MRS_OK;
    for (const uint8_t *end = p + n; s == MRS_OK && p < end;) {
        const struct mrsi_rec *r = (const struct mrsi_rec *)(const void *)p;
        if ((size_t)(end - p) < sizeof *r || r->total < sizeof *r || r->total > (size_t)(end - p)) {
            return mrsi_state_damaged("what was put aside", e);
        }
        p += r->total;
        s = r->ord >= x->lo && r->ord < x->hi ? x->fn(x->arg, r, e) : MRS_OK;
    }
    return s;
}

enum mrs_status
mrsi_partition_each(const struct mrsi_spill *sp, const struct mrsi_partition *p, uint64_t lo, uint64_t hi,
                    enum mrs_status (*fn)(void *arg, const struct mrsi_rec *r, struct mrs_err *e), void *arg,
                    struct mrs_err *e)
{
    MRS_ASSERT(lo <= hi);
    struct each each = {lo, hi, fn, arg};
    return mrsi_partition_pieces(sp, p, each_record, &each, e);
}
