/* SPDX-License-Identifier: Apache-2.0 */
/* step_outputs.h - the collections that a step writes: their writers, and existing documents. Shared by the drivers of
 * all families. */
#ifndef MRS_RUN_STEP_OUTPUTS_H
#define MRS_RUN_STEP_OUTPUTS_H

#include "id_check.h"
#include "mongoreshape/spread_ops.h"

struct mrsi_step_outputs {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_desc *desc;
    struct mrsi_ids ids;
    struct mrsi_writer *wr;        /* n_wr writers */
    uint32_t wr_of[MRS_SIDES_MAX]; /* writer of each side; MRSI_NONE: none (the side is only read, or not opened yet) */
    uint32_t n_wr;
    struct mrsi_pass *pass; /* NULL: without savepoints */
    uint32_t there;         /* the writer whose existing documents are being read; n_wr: done */
    uint32_t at;            /* the writer that copies existing documents; n_wr: done */
};

enum mrs_status mrsi_step_outputs_init(struct mrsi_step_outputs *s, struct mrsi_engine *en, uint32_t step,
                                       struct mrs_err *e);
/* Opens the writer of a side, or finds the one that its collection already has. */
enum mrs_status mrsi_step_outputs_open(struct mrsi_step_outputs *s, uint32_t side, struct mrs_err *e);
/* Starts a round of writing: discards counts and refusals after `log`. again: also discards the output, and replaces a
 * savepoint on disk that refers to it. A savepoint may be taken here: set its contents before. */
enum mrs_status mrsi_step_outputs_begin(struct mrsi_step_outputs *s, struct mrsi_refused_position log, bool again,
                                        struct mrs_err *e);
/* In a round, before sources are read: handles the existing documents of collections that are only added to. The phases
 * OPTIMISTIC and COLLECT read their `_id`s, unless known; all phases but COLLECT write and count them. restart: empties
 * all writers first, unless the pass is resumed; a savepoint of a restarted pass has them empty. */
enum mrs_status mrsi_step_outputs_existing(struct mrsi_step_outputs *s, bool known, bool restart, struct mrs_err *e);
/* Is that complete? It is when sources are read, in a round whose `_id`s were unknown. */
bool mrsi_step_outputs_have_existing(const struct mrsi_step_outputs *s);
/* Lists of a job, added to the step's in its commit. */
struct mrsi_lists {
    struct mrs_buf hashes, members;
    struct mrs_buf room; /* a document that replaces another */
};
void mrsi_lists_init(struct mrsi_lists *l, struct mrs_mem *mem);
void mrsi_lists_clear(struct mrsi_lists *l);
/* Handles a document for a target: *write (OPTIMISTIC, APPLY; *doc may be replaced by the contents of a later one), or
 * adds its hash or member to the lists. A document that another one stands for (APPLY, not *write) counts as placed. */
struct mrsi_candidate {
    uint32_t coll;
    uint64_t source;   /* existing document: its ordinal */
    uint32_t product;
    bool there;
    bool made; /* made by the step: an equal one is another document, never the same */
};
enum mrs_status mrsi_step_outputs_admit(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_lists *lists,
                                        const struct mrsi_candidate *c, struct mrs_view *doc, bool *write,
                                        struct mrs_err *e);
/* NULL: the source is not refused because of an `_id`, as far as known in this phase. */
static inline const struct mrsi_rejected *
mrsi_step_outputs_rejected(const struct mrsi_step_outputs *s, uint64_t source)
{
    return s->ids.phase == MRSI_IDS_APPLY ? mrsi_ids_rejected(&s->ids, source) : NULL;
}
/* Refuses a document of a rejected source: MRS_SKIP, with reason, place and the other document in w->err, or DEAD. key:
 * the common `_id`, or a document with the common key; missing: not reported. */
enum mrs_status mrsi_step_outputs_clash(const struct mrsi_step_outputs *s, struct mrsi_worker *w,
                                        const struct mrsi_rejected *b,
                                        struct mrs_val key, const char *where, const char *why, struct mrs_err *e);
/* Adds a job's lists to the step's and empties them, in its commit. */
enum mrs_status mrsi_step_outputs_take(struct mrsi_step_outputs *s, struct mrsi_lists *l, struct mrs_err *e);
/* Writes a document to a side's writer and counts it there. */
enum mrs_status mrsi_step_outputs_write(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_out *outs,
                                        uint32_t side, struct mrs_view doc, struct mrs_err *e);
/* OPTIMISTIC: admits and writes documents of one side in one batch, and returns their number. */
enum mrs_status mrsi_step_outputs_write_all(struct mrsi_step_outputs *s, struct mrsi_worker *w,
                                            struct mrsi_lists *lists,
                                            struct mrsi_out *outs, const struct mrs_products *all, uint64_t *n,
                                            struct mrs_err *e);
/* Like mrsi_step_outputs_write for a document that another function appended to the writer's buffer, from `at` on; not
 * with fused steps. */
void mrsi_step_outputs_written(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_out *outs,
                               uint32_t side, size_t at);
/* One mrsi_out for each writer; NULL: out of memory. */
struct mrsi_out *mrsi_step_outputs_outs(struct mrsi_step_outputs *s);
void mrsi_step_outputs_outs_free(struct mrsi_step_outputs *s, struct mrsi_out *outs);
enum mrs_status mrsi_step_outputs_commit(struct mrsi_step_outputs *s, struct mrsi_out *outs, struct mrs_err *e);
/* Data of a job that reads documents and writes them: initially zero. */
struct mrsi_step_outputs_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrsi_out *out; /* NULL: not initialized, nothing to clear */
};
/* Fetches the next block of the scan. *fresh: this call initialized the job's data; the caller initializes the rest
 * then, even if the call fails. *big: as for a pipe. OK, END, FAIL, DEAD. */
enum mrs_status mrsi_step_outputs_job_next(struct mrsi_step_outputs *s, struct mrsi_scan *scan,
                                           struct mrsi_step_outputs_job *job,
                                           bool *fresh, bool *big, struct mrs_err *e);
void mrsi_step_outputs_job_clear(struct mrsi_step_outputs *s, struct mrsi_step_outputs_job *job);
/* Their counts and known `_id`s, as fields of a savepoint. The writers are those of the pass. */
enum mrs_status mrsi_step_outputs_save(struct mrsi_step_outputs *s, struct mrs_build *b, struct mrs_buf *files,
                                       struct mrs_err *e);
enum mrs_status mrsi_step_outputs_load(struct mrsi_step_outputs *s, struct mrs_view saved, struct mrs_err *e);
/* Ends the step: closes all writers (status MRS_OK) or discards everything. */
enum mrs_status mrsi_step_outputs_end(struct mrsi_step_outputs *s, enum mrs_status status, struct mrs_err *e);

#endif
