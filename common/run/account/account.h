/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - the fate of each document: rows of the account, and refused documents. */
#ifndef MRSI_RUN_ACCOUNT_H
#define MRSI_RUN_ACCOUNT_H

#include "run/store/store.h"

/* ---- refused.c ---- */
/* Adds a refused document to the job's list; takes reason and place from w->err, which is cleared. */
enum mrs_status mrsi_refuse(struct mrsi_worker *w, uint32_t step, uint32_t side, uint32_t coll, uint64_t order,
                            struct mrs_view doc, struct mrs_err *e);
enum mrs_status mrsi_refused_commit(struct mrsi_worker *w, struct mrs_err *e); /* in commit order */
struct mrsi_refused_position mrsi_refused_position(const struct mrsi_engine *en);
void mrsi_refused_rewind(struct mrsi_engine *en, struct mrsi_refused_position m);
enum mrs_status mrsi_refused_finish(struct mrsi_engine *en, uint64_t *distinct, uint32_t *past, struct mrs_err *e);
uint64_t mrsi_refused_up_to(const struct mrsi_engine *en, uint32_t last_step); /* distinct documents, after finish */
void mrsi_refused_clear(struct mrsi_engine *en);
enum mrs_status mrsi_refusals(struct mrsi_engine *en, struct mrs_err *e); /* writes them into the report */
/* Adds the sizes of its files to the report's. */
enum mrs_status mrsi_refused_write(struct mrsi_engine *en, const char *path, uint32_t last_step, struct mrs_err *e);
/* Is FILE, or FILE.jsonl with its FILE, exactly as a run wrote it? en: a struct mrsi_engine. */
enum mrs_status mrsi_refused_is_ours(void *en, const char *path, bool *ours, struct mrs_err *e);
enum mrs_status mrsi_refused_weigh(struct mrsi_engine *en, struct mrs_err *e); /* only adds the sizes */
/* An `_id` as relaxed Extended JSON into room; returns the number of bytes to show, at most `most`. */
size_t mrsi_id_write(struct mrs_val id, size_t most, struct mrs_buf *room);
/* The same in the report's memory; NULL: out of memory. */
const char *mrsi_id_text(struct mrs_report *r, struct mrs_val id, struct mrs_buf *room);
/* Appends the `_id` of a document to a list with enough space. */
enum mrs_status mrsi_ids_add(struct mrs_report *r, struct mrs_ids *ids, struct mrs_view doc, struct mrs_buf *room,
                             struct mrs_err *e);

/* ---- account.c ---- */
/* Before a kernel reads a document. */
static inline void
mrsi_remarks_begin(struct mrsi_worker *w)
{
    w->ctx.remarks = w->ctx.matched = w->ctx.eased = 0;
}

static inline void
mrsi_remark(struct mrsi_row *row, uint64_t bits)
{
    for (; bits; bits &= bits - 1) {
        row->remarks[__builtin_ctzll(bits)]++;
    }
}

/* Bits of mrs_ctx.eased for a document. */
void mrsi_eased_add(struct mrsi_row *row, uint64_t bits, struct mrs_view doc);
static inline void
mrsi_eased(struct mrsi_row *row, uint64_t bits, struct mrs_view doc)
{
    if (bits) {
        mrsi_eased_add(row, bits, doc);
    }
}
void mrsi_rows_begin(struct mrsi_engine *en);  /* zeroes all workers' counts */
void mrsi_rows_accept(struct mrsi_engine *en); /* adds them to the run's rows */
void mrsi_rows_sum(const struct mrsi_engine *en, struct mrsi_row *sum); /* adds all workers' counts to sum */
/* Passes on the error of a kernel that failed worse than SKIP. Returns s. */
enum mrs_status mrsi_kernel_failed(struct mrsi_worker *w, enum mrs_status s, struct mrs_err *e);
static inline bool
mrsi_differ(struct mrs_view a, struct mrs_view b)
{
    return a.p != b.p && (a.n != b.n || memcmp(a.p, b.p, a.n) != 0);
}
static inline struct mrsi_row *
mrsi_row(struct mrsi_worker *w, uint32_t step, uint32_t side)
{
    return &w->rows[w->en->row_of[step][side]];
}
#endif
