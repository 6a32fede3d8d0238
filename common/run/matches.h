/* matches.h - the documents of `from` that one document of `into` meets, put in order and handed to a splice. */
#ifndef MRS_RUN_MATCHES_H
#define MRS_RUN_MATCHES_H

#include "join.h"

/* A record and the reference of this into document that it meets (a lookup's records serve many). */
struct mrsi_met {
    const struct mrsi_rec *rec;
    uint64_t ref;
};

struct mrsi_match_list {
    struct mrs_matches m;          /* what the step sees */
    struct mrsi_met *met;          /* in the order of the step */
    uint8_t *used;                 /* 0x80 | bits told; 0: nothing told */
    uint64_t n, at;
    struct mrs_buf mets, useds, spare; /* memory of the above */
};
/* What a step sees of a record. */
void mrsi_match_from(const struct mrsi_rec *r, uint64_t ref, struct mrs_match *out);
void mrsi_match_list_init(struct mrsi_match_list *l, struct mrs_mem *mem);
void mrsi_match_list_clear(struct mrsi_match_list *l);
/* Makes the list of these n: those that are verified, sorted as the step wants them, each once. */
enum mrs_status mrsi_match_list_set(struct mrsi_match_list *l, struct mrsi_join *j, const struct mrsi_met *met,
                                    size_t n, const struct mrsi_hashed *into, struct mrs_err *e);
/* Puts what became of them into the fates: as told, or (refused) left. Returns how many were placed. */
uint64_t mrsi_match_list_settle(struct mrsi_match_list *l, struct mrsi_join *j, bool refused);

#endif
