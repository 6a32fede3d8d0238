/* matches.h - the documents of `from` that one document of `into` meets, put in order and handed to a splice. */
#ifndef MRS_RUN_MATCHES_H
#define MRS_RUN_MATCHES_H

#include "join.h"

/* A record and the reference of this into document that it meets (a lookup's records serve many). */
struct mrsi_met {
    const struct mrsi_rec *rec;
    const uint8_t *doc; /* a copy, near by, of the document that the shape has yet to be made of; NULL: none */
    uint64_t ref;
};

/* Makes the shapes that were put off until now, one at a time. */
struct mrsi_shaper {
    struct mrsi_join *j;
    struct mrs_ctx ctx;
    struct mrs_arena arena;
    struct mrs_err err;
    struct mrs_buf shape;
};
void mrsi_shaper_init(struct mrsi_shaper *s, struct mrsi_join *j);
void mrsi_shaper_clear(struct mrsi_shaper *s);

struct mrsi_match_list {
    struct mrs_matches m;          /* what the step sees */
    struct mrsi_shaper *shaper;
    struct mrsi_met *met;          /* in the order of the step */
    uint8_t *used;                 /* 0x80 | bits told; 0: nothing told */
    uint64_t n, at;
    const struct mrsi_met *line,
        *line_end; /* records in the order in which they will be wanted, of this document and of those behind it */
    const struct mrsi_met *fetched;         /* up to here they are on their way into the processor's cache */
    struct mrs_buf useds, spare;   /* memory of the above */
};
/* What a step sees of a record. OK, DEAD. */
enum mrs_status mrsi_match_from(struct mrsi_shaper *s, const struct mrsi_met *met, struct mrs_match *out,
                                struct mrs_err *e);
void mrsi_match_list_init(struct mrsi_match_list *l, struct mrsi_shaper *s, struct mrs_mem *mem);
void mrsi_match_list_clear(struct mrsi_match_list *l);
/* Makes the list of these n, in their own place: those that are verified, sorted as the step wants them, each once.
 * n_line: how many there are with those of later documents. */
enum mrs_status mrsi_match_list_set(struct mrsi_match_list *l, struct mrsi_join *j, struct mrsi_met *met, size_t n,
                                    size_t n_line, const struct mrsi_hashed *into, struct mrs_err *e);
/* Puts what became of them into the fates: as told, or (refused) left. Returns how many were placed. */
uint64_t mrsi_match_list_settle(struct mrsi_match_list *l, struct mrsi_join *j, bool refused);

#endif
