/* SPDX-License-Identifier: Apache-2.0 */
/* window_pass.h - documents that receive values computed from others of their group: a step from its first pass to its
 * last.
 *
 * A first pass collects the input of each document, in memory, or, if that is too much, sorted on disk by group, by
 * the order in the group, and by input order. Then group by group: the input of its members is contiguous, in memory
 * or in a mapped temporary file; the step reads it in any order, and its result for each member goes to the partition
 * of the document's ordinal. A second pass writes each document with its result. Groups are distinguished by 128 bits
 * of hash under the secret of the run. */
#ifndef MRSI_RUN_WINDOW_H
#define MRSI_RUN_WINDOW_H

#include "run/pass/checkpoint.h"
#include "run/pass/step_outputs.h"
#include "run/store/file_array.h"
#include "run/store/sorter.h"
#include "run/store/spill.h"
#include "mongoreshape/window_ops.h"

/* What the first pass found of a document. */
enum mrsi_window_bit { MRSI_WINDOW_OUT, MRSI_WINDOW_IN, MRSI_WINDOW_REFUSED };

enum mrsi_window_stage { MRSI_WINDOW_READ, MRSI_WINDOW_COMPUTE, MRSI_WINDOW_WRITE, MRSI_WINDOW_DONE };

/* ---- window_gather.c: groups in memory ---- */
enum { MRSI_WINDOW_ALIGN = 8 };
struct mrsi_window_record { /* what a document brings; order and payload lie behind it, padded */
    uint64_t group, ordinal; /* group: by number, in memory only */
    uint32_t order, payload;
};
struct mrsi_window_member { /* of a group, in its order; prefix: the first bytes of order */
    uint64_t prefix;
    const struct mrsi_window_record *record;
};
static inline uint64_t
mrsi_window_size(const struct mrsi_window_record *r)
{
    return (sizeof *r + r->order + r->payload + MRSI_WINDOW_ALIGN - 1) & ~((uint64_t)MRSI_WINDOW_ALIGN - 1);
}
struct mrsi_window_lists {
    struct mrs_buf recs, table, groups, members;
    uint64_t n, n_slots, n_groups, limit;
    bool on; /* else the sorter has some of them */
};

#define MRSI_WINDOW_ALONE UINT64_MAX /* its group has no common result */

/* ---- window_results.c: results ---- */
struct mrsi_window_results {
    struct mrsi_engine *en;        /* NULL: not initialized */
    struct mrsi_spill spill;       /* of each member a record: its ordinal; as order the place of its group's result in
                                      shared, or ALONE; as payload a document */
    struct mrsi_file_array shared; /* of groups: documents */
    pthread_mutex_t lock;          /* for shared, while groups are computed */
    struct mrsi_spill_split split;
    struct mrs_buf pieces, list, place; /* of the partition of ordinals lo to hi: struct mrsi_rec *, or NULL, of each */
    uint64_t lo, hi;
    bool resumed;                 /* of another run: */
    uint64_t last;                /* place in shared that was examined last */
};
/* documents: in the collection; other_bytes: memory of the run for other data meanwhile. clear: also of zeros. */
enum mrs_status mrsi_window_results_init(struct mrsi_window_results *g, struct mrsi_engine *en, uint64_t documents,
                                         uint64_t other_bytes, struct mrs_err *e);
void mrsi_window_results_clear(struct mrsi_window_results *g);
/* By any worker; to: its own spiller. *at: place of the result common to a group. */
enum mrs_status mrsi_window_put_shared(struct mrsi_window_results *g, struct mrs_view doc, uint64_t *at,
                                       struct mrs_err *e);
enum mrs_status mrsi_window_put_result(struct mrsi_spiller *to, uint64_t ordinal, uint64_t shared, struct mrs_view doc,
                                       struct mrs_err *e);
struct mrsi_window_taken {
    uint64_t first, n;       /* documents */
    struct mrs_buf at, bytes; /* uint64_t of each: the place of its result in bytes and 1, 0: it has none; results: a
                                uint64_t for mrsi_window_shared, and a document */
};
/* The results of documents from t->first to `end`, by one thread at a time; fewer if they are large, one at least. */
enum mrs_status mrsi_window_take(struct mrsi_window_results *g, struct mrsi_window_taken *t, uint64_t end,
                                 struct mrs_err *e);
static inline struct mrs_view
mrsi_window_doc_at(const uint8_t *p)
{
    return (struct mrs_view){p, mrs_le32(p)};
}
struct mrs_view mrsi_window_shared(const struct mrsi_window_results *g, uint64_t at);
/* load: after init. */
enum mrs_status mrsi_window_results_save(struct mrsi_window_results *g, struct mrs_build *b, struct mrs_buf *files,
                                         struct mrs_err *e);
enum mrs_status mrsi_window_results_load(struct mrsi_window_results *g, struct mrs_view saved, struct mrs_err *e);

struct mrsi_window_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_window_ops *ops;
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_window_stage stage;
    struct mrsi_file_array bits; /* of each document, by ordinal */
    struct mrsi_window_lists lists; /* what documents bring, until that is too much for memory: */
    struct mrsi_sorter members; /* key: hash of the group, order; payload: ordinal, payload of the step */
    struct mrsi_window_results results;
};

enum mrs_status mrsi_window_read(struct mrsi_window_run *r, struct mrs_err *e);    /* window_read.c */
/* window_gather.c. put: key and payload as the sorter has them. end: nothing is put from here on, and list gives the
 * members of a group. to_sorter: with all that is in memory, which is empty then. */
void mrsi_window_lists_init(struct mrsi_window_lists *l, struct mrsi_engine *en, uint64_t limit);
void mrsi_window_lists_clear(struct mrsi_window_lists *l);
enum mrs_status mrsi_window_put(struct mrsi_window_run *r, const uint8_t *key, uint32_t key_len, const uint8_t *p,
                                uint32_t n, struct mrs_err *e);
enum mrs_status mrsi_window_to_sorter(struct mrsi_window_run *r, struct mrs_err *e);
enum mrs_status mrsi_window_lists_end(struct mrsi_window_lists *l, struct mrs_err *e);
const struct mrsi_window_member *mrsi_window_list(struct mrsi_window_lists *l, uint64_t no, uint64_t *n);
enum mrs_status mrsi_window_compute(struct mrsi_window_run *r, struct mrs_err *e); /* window_groups.c */
enum mrs_status mrsi_window_write(struct mrsi_window_run *r, struct mrs_err *e);   /* window_write.c */
enum mrs_status mrsi_window_open(struct mrsi_window_run *r, struct mrs_err *e); /* the writer */
/* window_savepoint.c: for struct mrsi_pass; and back. */
enum mrs_status mrsi_window_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_window_from_mark(struct mrsi_window_run *r, struct mrs_err *e);

#endif
