/* fold.h - documents of `from` with equal keys become documents of `into`; for fold*.c.
 *
 * `from` is read once: what each document brings goes through a sort by group and order. Whole groups are handed out
 * in the order of their keys, folded in parallel and written in order. What a fold puts is held back until its group
 * has ended, since a failing group takes it back. Whatever is told of a document of `from` (it stands nowhere, it is
 * refused after all) is noted by its ordinal, and `from` is read again, and written, only where something stays or
 * was refused. */
#ifndef MRS_RUN_FOLD_H
#define MRS_RUN_FOLD_H

#include "join.h"

/* Bits of a document that took part, beside those of enum in join.h. None: it stands in a document of into. */
enum {
    MRSI_FOLD_UNUSED = MRS_USED_CUT, /* no document was made of it */
    MRSI_FOLD_LATE = MRS_USED_LEFT   /* refused while its group was folded: the reason is in `late` */
};

struct mrsi_fold {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_fold_ops *ops;
    struct mrsi_sides sides;
    struct mrsi_scan scan;
    struct mrsi_sorter members; /* by group and order; ties as they came */
    struct mrsi_sorted next;    /* the member that follows those handed out */
    bool have_next;
    struct mrsi_fates fates;    /* of the documents of from */
    struct mrsi_sorter late;    /* by ordinal: place and reason, each with its NUL */
    struct mrsi_tape serials;   /* RESOLVE and VERDICT: the number of the first document of each job */
    uint64_t n_docs;            /* documents put, up to the job that was committed last */
};

/* The payload of a member in the sort; the shape follows. */
struct mrsi_member_of {
    uint64_t ordinal;
    uint32_t group_len, pad;
};

/* ---- fold_one.c: one group through the step ---- */
struct mrsi_fold_source {
    enum mrs_status (*next)(struct mrsi_fold_source *s, struct mrs_view *shape, struct mrs_err *e); /* OK, END, DEAD */
    uint64_t at; /* ordinal of the member that next gave */
    uint64_t (*ordinal)(const struct mrsi_fold_source *s, uint64_t i); /* of the i-th, once next has given END */
};
/* What has been made, until the commit. */
struct mrsi_fold_out {
    struct mrsi_out *outs;
    struct mrsi_lists lists;
    struct mrs_buf late;    /* ordinal, length, place NUL reason NUL */
    uint64_t n_docs;        /* of the job, so far */
    uint64_t first_doc;     /* VERDICT: number of the first of them */
};
/* A group while it is folded. */
struct mrsi_fold_one {
    struct mrsi_fold *f;
    struct mrsi_worker *w;
    struct mrsi_fold_out *out;
    struct mrsi_fold_source *source;
    struct mrsi_tape docs;  /* struct held */
    struct mrsi_tape alone; /* uint64_t: members refused alone */
    struct mrs_buf bytes;   /* of documents, what is not in the file */
    struct mrsi_temp *file;
    uint64_t filed;         /* bytes in the file */
    struct mrs_buf room;
    uint64_t n_given;
    bool ended;
    bool live; /* ready for use */
};
void mrsi_fold_one_init(struct mrsi_fold_one *o, struct mrsi_fold *f);
void mrsi_fold_one_clear(struct mrsi_fold_one *o);
/* One group: what it makes goes to out. */
enum mrs_status mrsi_fold_group(struct mrsi_fold_one *o, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                struct mrsi_fold_source *source, struct mrs_err *e);
/* Hands over what has been made so far: in a commit, or in work when it is the job's turn. */
enum mrs_status mrsi_fold_hand_over(struct mrsi_fold *f, struct mrsi_worker *w, struct mrsi_fold_out *out,
                                    struct mrs_err *e);

enum mrs_status mrsi_fold_read(struct mrsi_fold *f, struct mrs_err *e);   /* fold_read.c */
enum mrs_status mrsi_fold_write(struct mrsi_fold *f, struct mrs_err *e);  /* fold_write.c: all groups, one pass */
enum mrs_status mrsi_fold_settle(struct mrsi_fold *f, struct mrs_err *e); /* fold_settle.c */

#endif
