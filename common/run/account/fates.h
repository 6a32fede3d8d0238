/* SPDX-License-Identifier: Apache-2.0 */
/* fates.h - flags for each document of `from`, by its ordinal. */
#ifndef MRSI_RUN_FATES_H
#define MRSI_RUN_FATES_H

#include "account.h"
#include "run/store/state.h"

enum {
    MRSI_FATE_OUTSIDE = 8,  /* not processed by the step */
    MRSI_FATE_REFUSED = 16, /* refused itself */
    MRSI_FATE_UNSORTED = 32, /* it has a match, but `sort` fails on it: it is refused, its partners are written */
    MRSI_FATE_USED = 7,     /* enum mrs_used */
    MRSI_FATE_TOLERATED = 64,   /* a field for its partners failed, and `errors` allowed that */
    MRSI_FATES = 128,       /* number of values */
    MRSI_FATE_CHUNK = 1 << 20
};
struct mrsi_fates {
    struct mrsi_engine *en;
    uint8_t **chunk;
    uint64_t n_chunk, n;
    struct mrsi_temp *temp;
    bool beyond; /* flags were set for an ordinal that does not exist */
};
void mrsi_fates_init(struct mrsi_fates *f, struct mrsi_engine *en);
void mrsi_fates_clear(struct mrsi_fates *f);
/* One thread at a time. */
enum mrs_status mrsi_fates_append(struct mrsi_fates *f, const uint8_t *bits, uint64_t n, struct mrs_err *e);
/* Adds the documents of the next block. FAIL MRS_E_FORMAT: another block is next, because a savepoint has other
 * counts. */
enum mrs_status mrsi_fates_take(struct mrsi_fates *f, const struct mrs_block *b, const struct mrs_buf *bits,
                                struct mrs_err *e);
/* Thread-safe. An ordinal that does not exist only sets `beyond`, and its fate is 0. */
void mrsi_fates_add(struct mrsi_fates *f, uint64_t order, unsigned bits);
unsigned mrsi_fates_get(const struct mrsi_fates *f, uint64_t order);
/* Called when no thread adds any more. FAIL MRS_E_FORMAT: `beyond` is set, which only the state of another run can
 * cause. */
enum mrs_status mrsi_fates_sound(const struct mrsi_fates *f, struct mrs_err *e);
/* FAIL MRS_E_FORMAT: not all documents of the block have flags; another run may have left them. */
enum mrs_status mrsi_fates_there(const struct mrsi_fates *f, const struct mrs_block *b, struct mrs_err *e);
/* From now on, documents that failed in `sort` count as refused; returns the number of new ones. */
uint64_t mrsi_fates_refuse_unsorted(struct mrsi_fates *f);
static inline void
mrsi_fates_fetch(const struct mrsi_fates *f, uint64_t order) /* prefetch for mrsi_fates_add */
{
    if (order < f->n) {
        __builtin_prefetch(f->chunk[order / MRSI_FATE_CHUNK] + order % MRSI_FATE_CHUNK, 1);
    }
}
void mrsi_fates_clear_used(struct mrsi_fates *f);
void mrsi_fates_count(const struct mrsi_fates *f, uint64_t counts[MRSI_FATES]); /* number of documents for each value */
/* In a savepoint (checkpoint.h). */
enum mrs_status mrsi_fates_save(struct mrsi_fates *f, const char *name, struct mrs_build *b, struct mrs_buf *files,
                                struct mrs_err *e);
enum mrs_status mrsi_fates_load(struct mrsi_fates *f, struct mrs_view saved, const char *name, struct mrs_err *e);

/* ---- match_reasons.c ---- */
/* Finds the reason why documents do not match, before the step's output replaces the collections. fates: of side 0,
 * NULL: a LINK has none. */
enum mrs_status mrsi_match_reasons(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f,
                                   struct mrs_err *e);

#endif
