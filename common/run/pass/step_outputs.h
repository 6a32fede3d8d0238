/* SPDX-License-Identifier: Apache-2.0 */
/* step_outputs.h - the collections that a step writes: their writers, and what the targets hold already. Shared by the
 * drivers of all families. */
#ifndef MRS_RUN_STEP_OUTPUTS_H
#define MRS_RUN_STEP_OUTPUTS_H

#include "id_check.h"
#include "mongoreshape/spread_ops.h"

struct mrsi_step_outputs {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_desc *desc;
    struct mrsi_ids ids;
    struct mrsi_writer *wr;        /* n_wr of them */
    uint32_t wr_of[MRS_SIDES_MAX]; /* side -> writer; MRSI_NONE: none (the side is only read, or not opened yet) */
    uint32_t n_wr;
    struct mrsi_pass *pass; /* NULL: without savepoints */
    uint32_t there;         /* the writer whose collection is examined for what is there; n_wr: that is done */
    uint32_t at;            /* the writer that copies what is there; n_wr: that is done */
};

enum mrs_status mrsi_step_outputs_init(struct mrsi_step_outputs *s, struct mrsi_engine *en, uint32_t step,
                                       struct mrs_err *e);
/* Opens the writer of a side, or finds the one its collection has already. */
enum mrs_status mrsi_step_outputs_open(struct mrsi_step_outputs *s, uint32_t side, struct mrs_err *e);
/* A round of writing begins: what was counted and refused behind `log` is forgotten. again: so is what was written,
 * and a savepoint on disk that speaks of it is replaced. A savepoint may be taken here: what is to be in it is set
 * before. */
enum mrs_status mrsi_step_outputs_begin(struct mrsi_step_outputs *s, struct mrsi_refused_mark log, bool again,
                                        struct mrs_err *e);
/* In a round, before sources are read: the existing documents of collections that are only added to. The phases
 * OPTIMISTIC and COLLECT take their `_id`s, unless they are known; all phases but COLLECT write and count them.
 * restart: empties all writers first, unless the pass is resumed; a savepoint of a pass that begins again has them
 * empty. */
enum mrs_status mrsi_step_outputs_held(struct mrsi_step_outputs *s, bool known, bool restart, struct mrs_err *e);
/* Whether that is over, as it is once sources are read: of a round whose `_id`s were not known. */
bool mrsi_step_outputs_have_held(const struct mrsi_step_outputs *s);
/* A job's own, handed over at its commit. */
struct mrsi_lists {
    struct mrs_buf hashes, members;
    struct mrs_buf room; /* a document that takes another's place */
};
void mrsi_lists_init(struct mrsi_lists *l, struct mrs_mem *mem);
void mrsi_lists_clear(struct mrsi_lists *l);
/* What happens with a document for a target: *write (OPTIMISTIC, APPLY; *doc may be replaced by a later one's
 * contents), or its hash or membership goes to the lists. A document that counts as another (APPLY, not *write) is
 * counted as placed. */
struct mrsi_candidate {
    uint32_t coll;
    uint64_t source;   /* what is there: its ordinal */
    uint32_t product;
    bool there;
    bool made; /* by the step: an equal one is another one, never the same */
};
enum mrs_status mrsi_step_outputs_admit(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_lists *lists,
                                        const struct mrsi_candidate *c, struct mrs_view *doc, bool *write,
                                        struct mrs_err *e);
/* NULL: the source is not refused for a conflict, as far as is known in this phase. */
static inline const struct mrsi_rejected *
mrsi_step_outputs_rejected(const struct mrsi_step_outputs *s, uint64_t source)
{
    return s->ids.phase == MRSI_IDS_APPLY ? mrsi_ids_rejected(&s->ids, source) : NULL;
}
/* Refuses a document of a rejected source: MRS_SKIP, with why, where and the rival in w->err, or DEAD. key: the `_id`,
 * or the document of a key, that both have; missing: not reported. */
enum mrs_status mrsi_step_outputs_clash(const struct mrsi_step_outputs *s, struct mrsi_worker *w,
                                        const struct mrsi_rejected *b,
                                        struct mrs_val key, const char *where, const char *why, struct mrs_err *e);
/* Hands a job's lists over and empties them, in its commit. */
enum mrs_status mrsi_step_outputs_take(struct mrsi_step_outputs *s, struct mrsi_lists *l, struct mrs_err *e);
/* Writes a document to a side's writer and counts it there. */
enum mrs_status mrsi_step_outputs_write(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_out *outs,
                                        uint32_t side, struct mrs_view doc, struct mrs_err *e);
/* OPTIMISTIC: admits and writes documents of one side in one batch, and returns their number. */
enum mrs_status mrsi_step_outputs_write_all(struct mrsi_step_outputs *s, struct mrsi_worker *w,
                                            struct mrsi_lists *lists,
                                            struct mrsi_out *outs, const struct mrs_products *all, uint64_t *n,
                                            struct mrs_err *e);
/* As mrsi_step_outputs_write for a document that was appended to the writer's buffer, from `at` on, by another
 * function; not where steps are fused. */
void mrsi_step_outputs_written(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_out *outs,
                               uint32_t side, size_t at);
/* One mrsi_out for each writer; NULL without memory. */
struct mrsi_out *mrsi_step_outputs_outs(struct mrsi_step_outputs *s);
void mrsi_step_outputs_outs_free(struct mrsi_step_outputs *s, struct mrsi_out *outs);
enum mrs_status mrsi_step_outputs_commit(struct mrsi_step_outputs *s, struct mrsi_out *outs, struct mrs_err *e);
/* What a job of a pass that reads documents and writes them has: begun with zeroes. */
struct mrsi_step_outputs_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrsi_out *out; /* NULL: nothing is ready yet, and nothing to be cleared */
};
/* The next block of the scan. *fresh: this call made ready what the job has; the caller makes the rest of the job
 * ready then, also where the call fails. *big: as a pipe asks it. OK, END, FAIL, DEAD. */
enum mrs_status mrsi_step_outputs_job_next(struct mrsi_step_outputs *s, struct mrsi_scan *scan,
                                           struct mrsi_step_outputs_job *job,
                                           bool *fresh, bool *big, struct mrs_err *e);
void mrsi_step_outputs_job_clear(struct mrsi_step_outputs *s, struct mrsi_step_outputs_job *job);
/* Counts of these and the `_id`s that were seen, as fields of a savepoint. Writers are those of the pass. */
enum mrs_status mrsi_step_outputs_save(struct mrsi_step_outputs *s, struct mrs_build *b, struct mrs_buf *files,
                                       struct mrs_err *e);
enum mrs_status mrsi_step_outputs_load(struct mrsi_step_outputs *s, struct mrs_view mark, struct mrs_err *e);
/* Ends the step: closes all writers (status MRS_OK) or lets go of everything. */
enum mrs_status mrsi_step_outputs_end(struct mrsi_step_outputs *s, enum mrs_status status, struct mrs_err *e);

#endif
