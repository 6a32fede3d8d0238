/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - merges parts of documents with equal keys into one document of `into` (extract with unique); for group*.c.
 *
 * All members of all keys are sorted by key. A first pass over the sort finds the keys whose members disagree and
 * rejects the documents they come from. A second pass, without those, decides for each key which document it becomes,
 * what it adds to an existing document, and which `_id` each source refers to. Three more sorts bring these decisions
 * into the order in which they are written. If a document turns out too large while it is written, its sources are
 * rejected and the second pass starts over: this ends, because every time fewer documents take part. */
#ifndef MRS_RUN_GROUP_H
#define MRS_RUN_GROUP_H

#include "run/pass/checkpoint.h"
#include "run/pass/step_outputs.h"
#include "run/account/fates.h"
#include "run/store/sorter.h"
#include "run/store/spill.h"
#include "run/store/table.h"
#include "run/store/sorter.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/group_ops.h"

enum {
    MRSI_REJECTED = MRS_USED_LEFT,  /* its key disagrees with another document */
    MRSI_LATE = MRS_USED_CUT      /* refused when it was about to be written */
};

/* The stages of a step: each can have savepoints. */
enum mrsi_group_stage {
    MRSI_GROUP_READ,
    MRSI_GROUP_JUDGE_KEYS, /* first pass: keys whose members disagree, */
    MRSI_GROUP_JUDGE_IDS,  /* different keys with equal `_id`s */
    MRSI_GROUP_DECIDE,     /* the second pass */
    MRSI_GROUP_WRITE_INTO,
    MRSI_GROUP_WRITE_NEW,
    MRSI_GROUP_WRITE_FROM,
    MRSI_GROUP_DONE
};

struct mrsi_group_run {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_group_ops *ops;
    struct mrsi_step_outputs sides;
    struct mrsi_scan scan;
    struct mrsi_pass pass;
    enum mrsi_group_stage stage;
    bool reading;                   /* the stage has begun to read a sort */
    bool was_reading;               /* it had, at the savepoint from which it resumes */
    bool resumed;                   /* some of the sorted records are from the stopped run */
    uint32_t side;                  /* being read */
    struct mrsi_refused_position log; /* of refused documents, before any output */
    uint64_t bytes_read;            /* bytes of members since the last possible savepoint */
    struct mrsi_sorter members;     /* by key, existing documents first, source, part */
    struct mrsi_sorter ids;         /* first pass: members by hash of the `_id`, then as in `members` */
    struct mrsi_sorter bars;        /* first pass: by source and part, struct mrsi_rejected for each rejected one, */
    struct mrsi_file_array rejected; /* and the same for look-ups */
    struct mrsi_sorter made;        /* new documents, by first member */
    struct mrsi_sorter gains;       /* additions to documents of into, by their ordinal */
    struct mrsi_sorter refs;        /* ids for sources, by source and part */
    struct mrsi_sorter *notes;      /* the one of these that is read while a side is written; */
    struct mrsi_sorted next;        /* its next record, */
    bool have;                      /* if it was read */
    struct mrsi_fates from, there;  /* flags of the documents of from and into */
    bool again;
    char late_why[512], late_where[64];
};

/* Data of a member other than its key and position. */
struct mrsi_member_head {
    struct mrs_hash128 body, bare; /* hashes of the document, with and without `_id` */
    uint32_t made, doc_len, ref_len;
    uint32_t lone; /* it has no key: equal only to a member with the same bytes, including `_id` */
};
/* The key of a member in the sort: 16 bytes of hash, 1 byte 0 existing / 1 source, 8 bytes ordinal, 4 bytes part;
 * big-endian. */
enum { MRSI_MEMBER_KEY = 29 };

enum mrs_status mrsi_group_read(struct mrsi_group_run *g, struct mrs_err *e); /* group_read.c: members */
/* group_judge.c */
enum mrs_status mrsi_group_judge_keys(struct mrsi_group_run *g, struct mrs_err *e);
enum mrs_status mrsi_group_judge_ids(struct mrsi_group_run *g, struct mrs_err *e);
void mrsi_group_forget_ids(struct mrsi_group_run *g); /* empties that sort */
/* group_decide.c */
enum mrs_status mrsi_group_decide(struct mrsi_group_run *g, struct mrs_err *e);
void mrsi_group_decided(struct mrsi_group_run *g); /* empties the three sorts */
/* group_write.c: writes a side (from 0, into 1), and the new documents. */
enum mrs_status mrsi_group_write_side(struct mrsi_group_run *g, uint32_t side, struct mrs_err *e);
enum mrs_status mrsi_group_write_new(struct mrsi_group_run *g, struct mrs_err *e);
/* group_savepoint.c */
enum mrs_status mrsi_group_mark(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
/* Restores the stage and its data from the savepoint; opens the writers. */
enum mrs_status mrsi_group_from_mark(struct mrsi_group_run *g, struct mrs_err *e);
/* Begins to read a sort, or resumes reading it. */
enum mrs_status mrsi_group_begin_sort(struct mrsi_group_run *g, struct mrsi_sorter *sort, struct mrs_err *e);
/* Called in a pass between two keys, after `of`, the first record of the next one, was returned. *saved: a savepoint
 * may have been taken; `of` is returned again. */
enum mrs_status mrsi_group_between_keys(struct mrsi_group_run *g, struct mrsi_sorter *of, bool *saved,
                                        struct mrs_err *e);
/* Validates a record of a resumed sort: of members, ids and notes. */
bool mrsi_group_is_member(const struct mrsi_group_run *g, const struct mrsi_sorted *r);
bool mrsi_group_is_id(const struct mrsi_group_run *g, const struct mrsi_sorted *r);
bool mrsi_group_is_note(const struct mrsi_group_run *g, const struct mrsi_sorted *r, struct mrs_buf *room);
#define MRSI_GROUP_SORTS 3
static inline void
mrsi_group_sorts(struct mrsi_group_run *g, struct mrsi_sorter *out[MRSI_GROUP_SORTS])
{
    out[0] = &g->made;
    out[1] = &g->gains;
    out[2] = &g->refs;
}

#endif
