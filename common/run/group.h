/* group.h - parts of documents with equal keys become one document of `into` (extract with unique); for group*.c.
 *
 * All members of all keys go through a sort by key. A first look finds the keys whose members disagree and bars the
 * documents they come from; a second look, without those, decides for each key which document it becomes, what it
 * adds to a document that is there, and which `_id` each source is to refer to. Three more sorts bring these
 * decisions into the order in which they are written. A document that turns out too large while it is written bars
 * its sources, and the second look begins again: it ends, because every time fewer documents take part. */
#ifndef MRS_RUN_GROUP_H
#define MRS_RUN_GROUP_H

#include "join.h"
#include "sorter.h"

enum {
    MRSI_BARRED = MRS_USED_LEFT,  /* its key disagrees with another document */
    MRSI_LATE = MRS_USED_CUT      /* refused when it was about to be written */
};

struct mrsi_group {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_group_ops *ops;
    struct mrsi_sides sides;
    struct mrsi_scan scan;
    uint32_t side;                  /* being read */
    struct mrsi_sorter members;     /* by key, there first, source, part */
    struct mrsi_sorter made;        /* new documents, by first member */
    struct mrsi_sorter gains;       /* what documents of into gain, by their ordinal */
    struct mrsi_sorter refs;        /* ids for sources, by source and part */
    struct mrsi_fates from, there;  /* bits of the documents of from and into */
    bool again;
    char late_why[512], late_where[64];
};

/* What is known of a member beside its key and place. */
struct mrsi_member_head {
    struct mrs_hash128 body, bare; /* of the document, and of it without `_id` */
    uint32_t made, doc_len, ref_len, pad;
};
/* The key of a member in the sort: 16 bytes of hash, 1 byte 0 there / 1 source, 8 bytes ordinal, 4 bytes part;
 * big-endian. */
enum { MRSI_MEMBER_KEY = 29 };

enum mrs_status mrsi_group_read(struct mrsi_group *g, struct mrs_err *e);  /* group_read.c: members */
enum mrs_status mrsi_group_judge(struct mrsi_group *g, struct mrs_err *e); /* group_judge.c: first look */
enum mrs_status mrsi_group_decide(struct mrsi_group *g, struct mrs_err *e); /* group_decide.c: second look */
enum mrs_status mrsi_group_write(struct mrsi_group *g, struct mrs_err *e); /* group_write.c */

#endif
