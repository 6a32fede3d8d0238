/* SPDX-License-Identifier: Apache-2.0 */
/* spill_savepoint.c - saves a spill as fields of a savepoint, and loads it.
 *
 * Pieces in memory are appended once to the file of the spill, and stay in memory. Open pieces still grow, so their
 * contents go to a file that belongs to the savepoint alone. A third file lists the pieces, since there may be
 * millions; it is written again only if there are more. Pieces never change, and the file only grows, so the savepoint
 * stays valid while the run continues. Each piece has a checksum, which a resumed run verifies when it reads the
 * piece. */
#include "state.h"
#include "spill.h"

struct spill_saved_piece { /* entry of the list */
    uint64_t off, sum;
    uint32_t n, part, stream;
    uint32_t open; /* 1: in the file of the open pieces */
};

/* ---- save ---- */
static enum mrs_status
to_file(struct mrsi_spill *sp, struct mrsi_spill_piece *x, struct mrs_err *e)
{
    enum mrs_status s = sp->temp ? MRS_OK : mrsi_ckpt_temp(sp->en, &sp->temp, e);
    uint64_t off = atomic_load(&sp->spilled);
    MRS_THEN(s, mrs_write_at(sp->temp->fd, x->p, x->n, off, e));
    if (s == MRS_OK) {
        x->off = off;
        x->sum = mrsi_piece_sum(sp, x->p, x->n);
        atomic_store(&sp->spilled, off + x->n);
    }
    return s;
}

static enum mrs_status
list_pieces(struct mrsi_spill *sp, struct mrsi_savepoint_file *list, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < sp->n_part; i++) {
        struct mrsi_spill_piece *x = (struct mrsi_spill_piece *)(void *)sp->part[i].pieces.p;
        for (size_t k = 0; s == MRS_OK && k < sp->part[i].pieces.n / sizeof *x; k++) {
            s = x[k].off == MRSI_NO_PLACE ? to_file(sp, &x[k], e) : MRS_OK;
            struct spill_saved_piece t = {x[k].off, x[k].sum, x[k].n, i, x[k].stream, 0};
            MRS_THEN(s, mrsi_savepoint_file_put(list, &t, sizeof t, e));
        }
    }
    return s;
}

static enum mrs_status
list_open(const struct mrsi_spill *sp, struct mrsi_savepoint_file *list, struct mrsi_savepoint_file *open, uint64_t *at,
          struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (const struct mrsi_spiller *w = sp->spillers; w; w = w->next) {
        for (uint32_t i = 0; s == MRS_OK && w->open && i < sp->n_part; i++) {
            struct spill_saved_piece t = {*at, 0, w->open[i].n, i, w->stream, 1};
            if (t.n) {
                t.sum = mrsi_piece_sum(sp, w->open[i].p, t.n);
                s = mrsi_savepoint_file_put(list, &t, sizeof t, e);
                MRS_THEN(s, mrsi_savepoint_file_put(open, w->open[i].p, t.n, e));
                *at += t.n;
            }
        }
    }
    return s;
}

/* Lists the current pieces, with open ones in a file of their own. */
static enum mrs_status
make_list(struct mrsi_spill *sp, struct mrsi_savepoint_file *open, struct mrs_err *e)
{
    struct mrsi_savepoint_file list;
    uint64_t at = 0;
    mrsi_savepoint_file_begin(&list, sp->en);
    enum mrs_status s = list_pieces(sp, &list, e);
    MRS_THEN(s, list_open(sp, &list, open, &at, e));
    s = mrsi_savepoint_file_end(&list, s, e);
    if (s == MRS_OK) {
        mrsi_temp_drop(sp->en, sp->list);
        sp->list = list.temp;
        sp->list_bytes = list.bytes;
        sp->listed = at ? 0 : sp->n_pieces; /* open pieces must be listed again next time */
    }
    return s;
}

enum mrs_status
mrsi_spill_save(struct mrsi_spill *sp, const char *name, struct mrs_build *b, struct mrs_buf *files,
                struct mrs_err *e)
{
    struct mrsi_savepoint_file open;
    enum mrs_status s = MRS_OK;
    mrsi_savepoint_file_begin(&open, sp->en);
    if (!sp->listed || sp->listed != sp->n_pieces || sp->spillers) {
        s = make_list(sp, &open, e);
    }
    s = mrsi_savepoint_file_end(&open, s, e);
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    mrs_build_i64(b, "ordinals", (int64_t)sp->total);
    mrs_build_i64(b, "partitions", sp->n_part);
    mrs_build_i64(b, "added", sp->added);
    mrs_build_i64(b, "spare", sp->spare);
    mrs_build_i64(b, "streams", sp->streams);
    mrsi_save_temp_unsummed("records", sp->temp, atomic_load(&sp->spilled), b, files);
    mrsi_save_temp("pieces", sp->list, sp->list_bytes, b, files);
    MRS_THEN(s, mrsi_savepoint_file_save(&open, "open", b, files, e));
    mrs_build_close(b);
    return s;
}

/* ---- load ---- */
/* Maximum numbers of partitions, and of streams, each of which takes 11 KB in a merge: one for each thread, and new
 * ones in each resumed run. In practice a few thousand. */
enum { MOST = 1 << 20, STREAMS_MOST = 1 << 16 };

static enum mrs_status
make_partitions(struct mrsi_spill *sp, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > sp->added);
    struct mrsi_partition *part = mrs_zalloc(sp->en->mem, ((size_t)n + sp->spare) * sizeof *part);
    MRS_TRY(mrs_allocated(part, n * sizeof *part, e));
    for (uint32_t i = 0; i < sp->n_part; i++) {
        mrs_buf_clear(&sp->part[i].pieces);
    }
    mrs_free(sp->en->mem, sp->part);
    sp->part = part;
    sp->n_part = n;
    sp->piece_bytes = mrsi_layout_piece(sp->en->memory, sp->en->jobs, n, sp->piece_most);
    mrsi_spill_cut(sp);
    return MRS_OK;
}

struct taking {
    struct mrsi_spill *sp;
    uint64_t records, open; /* sizes */
};

static enum mrs_status
take_pieces(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    const struct taking *x = arg;
    struct mrsi_spill *sp = x->sp;
    for (size_t i = 0; i < n; i++) {
        struct spill_saved_piece t;
        memcpy(&t, p + i * sizeof t, sizeof t);
        uint64_t most = t.open ? x->open : x->records;
        if (t.part >= sp->n_part || t.stream >= sp->streams || t.n > most || t.off > most - t.n || !t.n) {
            return mrsi_state_damaged("what was put aside", e);
        }
        struct mrsi_spill_piece piece = {NULL, t.off + (t.open ? x->records : 0), t.n, t.stream, t.sum};
        struct mrsi_partition *part = &sp->part[t.part];
        mrs_buf_put(&part->pieces, &piece, sizeof piece);
        part->bytes += t.n;
        sp->n_pieces++;
        if (part->pieces.bad) {
            return mrs_buf_status(&part->pieces, e);
        }
    }
    return MRS_OK;
}

static enum mrs_status
take_open(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    struct taking *x = arg;
    struct mrsi_spill *sp = x->sp;
    enum mrs_status s = sp->temp ? MRS_OK : mrsi_ckpt_temp(sp->en, &sp->temp, e);
    MRS_THEN(s, mrs_write_at(sp->temp->fd, p, n, x->records + x->open, e));
    x->open += n;
    return s;
}

enum mrs_status
mrsi_spill_load(struct mrsi_spill *sp, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_view d = mrsi_savepoint_doc(saved, name);
    struct taking x = {sp, 0, 0};
    struct mrsi_savepoint_items open = {sp->en, 1, take_open, &x}, list = {sp->en, sizeof(struct spill_saved_piece),
                                                                      take_pieces, &x};
    sp->total = mrsi_state_number(d, "ordinals", INT64_MAX, &bad);
    uint32_t n = (uint32_t)mrsi_state_number(d, "partitions", MOST, &bad);
    sp->added = (uint32_t)mrsi_state_number(d, "added", MOST, &bad);
    sp->spare = (uint32_t)mrsi_state_number(d, "spare", MOST, &bad);
    sp->streams = (uint32_t)mrsi_state_number(d, "streams", STREAMS_MOST, &bad);
    if (bad || sp->added >= n || !sp->streams) {
        return mrsi_state_damaged("what was put aside", e);
    }
    enum mrs_status s = make_partitions(sp, n, e);
    MRS_THEN(s, mrsi_load_temp_unsummed(sp->en, d, "records", &sp->temp, &x.records, e));
    MRS_THEN(s, mrsi_load_items(&open, d, "open", e));
    MRS_THEN(s, mrsi_load_items(&list, d, "pieces", e));
    atomic_store(&sp->spilled, x.records + x.open);
    sp->old_streams = sp->streams;
    return s;
}
