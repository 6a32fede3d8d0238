/* SPDX-License-Identifier: Apache-2.0 */
/* window_pass.h - documents that receive values computed from others of their group: a step from its first pass to its
 * last.
 *
 * A first pass collects the input of each document, in memory, or, if that is too much, sorted on disk by group, by
 * the order in the group, and by input order. Then group by group: the input of its members is contiguous, in memory
 * or in a mapped temporary file; the step reads it in any order, and its result for each member is kept by the ordinal
 * of the document. A second pass writes each document with its result. Groups are distinguished by 128 bits of hash
 * under the secret of the run. */
#ifndef MRSI_RUN_WINDOW_H
#define MRSI_RUN_WINDOW_H

#include "run/pass/checkpoint.h"
#include "run/pass/step_outputs.h"
#include "run/store/file_array.h"
#include "run/store/ordinal_index.h"
#include "run/store/sorter.h"
#include "mongoreshape/window_ops.h"

/* What the first pass found of a document. */
enum mrsi_window_bit { MRSI_WINDOW_OUT, MRSI_WINDOW_IN, MRSI_WINDOW_REFUSED };

enum mrsi_window_stage { MRSI_WINDOW_READ, MRSI_WINDOW_COMPUTE, MRSI_WINDOW_WRITE, MRSI_WINDOW_DONE };

/* ---- window_gather.c: groups in memory ---- */
enum { MRSI_WINDOW_ALIGN = 8 };
struct mrsi_window_record { /* what a document brings; order and shape lie behind it, padded */
    uint64_t group, ordinal; /* group: by number, in memory only */
    uint32_t order, shape;
};
struct mrsi_window_member { /* of a group, in its order; prefix: the first bytes of order */
    uint64_t prefix;
    const struct mrsi_window_record *record;
};
static inline uint64_t
mrsi_window_size(const struct mrsi_window_record *r)
{
    return (sizeof *r + r->order + r->shape + MRSI_WINDOW_ALIGN - 1) & ~((uint64_t)MRSI_WINDOW_ALIGN - 1);
}
struct mrsi_window_lists {
    struct mrs_buf recs, table, groups, members;
    uint64_t n, n_slots, n_groups, limit;
    bool on; /* else the sorter has all */
};

#define MRSI_WINDOW_ALONE UINT64_MAX /* nothing was given for all of its group */

struct mrsi_window_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_window_ops *ops;
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_window_stage stage;
    bool resumed;                /* tables are of another run */
    struct mrsi_file_array bits; /* of each document, by ordinal */
    struct mrsi_window_lists lists; /* what documents bring, or where that is too much: */
    struct mrsi_sorter members; /* key: hash of the group, order; payload: ordinal, shape */
    struct mrsi_mapped_mem place; /* of each document, by ordinal: where in given, and 1; 0: nowhere */
    struct mrsi_file_array given; /* for a group: a document; for a member: where that is, or ALONE, and a document */
};

enum mrs_status mrsi_window_read(struct mrsi_window_run *r, struct mrs_err *e);    /* window_read.c */
/* window_gather.c. put: key and payload as the sorter has them. end: nothing is put from here on, and list gives the
 * members of a group. */
void mrsi_window_lists_init(struct mrsi_window_lists *l, struct mrsi_engine *en, uint64_t limit);
void mrsi_window_lists_clear(struct mrsi_window_lists *l);
enum mrs_status mrsi_window_put(struct mrsi_window_run *r, const uint8_t *key, uint32_t key_len, const uint8_t *p,
                                uint32_t n, struct mrs_err *e);
enum mrs_status mrsi_window_to_sorter(struct mrsi_window_run *r, struct mrs_err *e);
enum mrs_status mrsi_window_lists_end(struct mrsi_window_lists *l, struct mrs_err *e);
const struct mrsi_window_member *mrsi_window_list(struct mrsi_window_lists *l, uint64_t no, uint64_t *n);
enum mrs_status mrsi_window_compute(struct mrsi_window_run *r, struct mrs_err *e); /* window_groups.c */
enum mrs_status mrsi_window_write(struct mrsi_window_run *r, struct mrs_err *e);   /* window_write.c */
/* Where the places lie: of as many documents as there are bits. */
uint64_t mrsi_window_places(const struct mrsi_window_run *r);
enum mrs_status mrsi_window_open(struct mrsi_window_run *r, struct mrs_err *e); /* the writer */
/* window_savepoint.c: for struct mrsi_pass; and back. */
enum mrs_status mrsi_window_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_window_from_mark(struct mrsi_window_run *r, struct mrs_err *e);
enum mrs_status mrsi_window_check_given(const struct mrsi_window_run *r, struct mrs_err *e); /* of another run */

#endif
