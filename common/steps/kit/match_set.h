/* SPDX-License-Identifier: Apache-2.0 */
/* match_set.h - the matches of one document of `into`, indexed by its references. */
#ifndef MRSI_MATCH_SET_H
#define MRSI_MATCH_SET_H

#include "join_match.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/number_table.h"

/* ---- set of input positions ---- */
enum mrs_status mrsi_orders_add(struct mrs_number_table *o, uint64_t order, bool *before, struct mrs_err *e);

/* ---- collected matches ---- */
struct mrsi_match_item {
    uint64_t order;
    uint32_t ref;
    uint32_t off, len; /* of the payload; if it failed, of place and reason, each ended by NUL */
    bool failed;       /* its payload was refused, which matters only if it is used */
};
enum {
    MRSI_FOUND_MATCH = 1,   /* something matched */
    MRSI_FOUND_REFUSED = 2, /* a refused document would match */
    MRSI_FOUND_ANY = 3      /* either: the reference is not dangling */
};
struct mrsi_match_set { /* per thread; buffers keep their memory */
    struct mrs_buf hit, payload, first, by_ref, stamp, used;
    struct mrs_buf found; /* one for each reference: MRSI_FOUND_*, 0: no match */
    struct mrs_buf pick; /* indexes of matches: the result of collect, in the order of the place */
    struct mrs_number_table seen; /* input positions */
    uint32_t site;
    uint32_t n_refs;
    const uint32_t *same_ref;
    bool sorted;  /* the step sorts: results are in the order in which the matches came */
    bool by_from; /* not sorted, references on the from side: in the order of from */
};
#define MRSI_MATCH_SET_BYTES (4u * MRS_DOC_READ_MAX) /* maximum of payloads; more cannot be in one document anyway */
void mrsi_match_set_init(struct mrsi_match_set *h, struct mrs_mem *mem);
void mrsi_match_set_clear(struct mrsi_match_set *h);
/* Empties `found`, but for the references of m that a refused document would match. */
enum mrs_status mrsi_match_set_begin(struct mrsi_match_set *h, struct mrs_ctx *c, const struct mrs_matches *m);
/* Reads all matches; at most `most` payloads are stored for each reference. refs false: all matches belong to one place
 * (reference 0). */
enum mrs_status mrsi_match_set_gather(struct mrsi_match_set *h, struct mrs_ctx *c, struct mrs_matches *m, bool refs,
                                      uint64_t most);
/* Fills pick with the matches of n occurrences, without duplicates. */
enum mrs_status mrsi_match_set_collect(struct mrsi_match_set *h, struct mrs_ctx *c,
                                       const struct mrsi_ref_occurrence *occ, uint32_t n);
/* Fills pick with all matches, without duplicates, in the order of the references. */
enum mrs_status mrsi_match_set_all(struct mrsi_match_set *h, struct mrs_ctx *c);
/* Does one of the keys of an occurrence have such a mark? */
bool mrsi_match_set_found(const struct mrsi_match_set *h, const struct mrsi_ref_occurrence *o, unsigned bits);
/* Reports the bits of every match to the engine; all LEFT if `left`. *homeless: some match has no bits; then nothing is
 * reported. */
enum mrs_status mrsi_match_set_describe(struct mrsi_match_set *h, struct mrs_ctx *c, struct mrs_matches *m, bool left,
                                        bool *homeless);

static inline uint32_t
mrsi_match_set_n(const struct mrsi_match_set *h)
{
    return (uint32_t)(h->pick.n / sizeof(uint32_t));
}
static inline uint32_t
mrsi_match_set_pick(const struct mrsi_match_set *h, uint32_t i)
{
    return ((const uint32_t *)(const void *)h->pick.p)[i];
}
static inline struct mrs_view
mrsi_match_set_payload(const struct mrsi_match_set *h, uint32_t hit)
{
    const struct mrsi_match_item *p = (const struct mrsi_match_item *)(const void *)h->hit.p + hit;
    struct mrs_view v = {h->payload.p + p->off, p->len};
    return v;
}
static inline void
mrsi_match_set_use(struct mrsi_match_set *h, uint32_t hit, unsigned bits)
{
    h->used.p[hit] |= (uint8_t)bits;
}

enum mrsi_many { MRSI_MANY_REFUSE, MRSI_MANY_FIRST, MRSI_MANY_LAST };
/* For a match that is written: SKIP if its payload was refused. */
enum mrs_status mrsi_match_set_taken(const struct mrsi_match_set *h, struct mrs_ctx *c, uint32_t hit);
/* Chooses one of the first n picks, by policy, and returns its index in pick. It is recorded as PLACED, the others as
 * LEFT. SKIP: several matches, or the chosen one has no payload. */
enum mrs_status mrsi_match_set_choose(struct mrsi_match_set *h, struct mrs_ctx *c, int many, uint32_t n,
                                      uint32_t *chosen);

/* ---- remove references from a document ---- */
enum mrsi_dangling { MRSI_DANGLING_KEEP, MRSI_DANGLING_DROP, MRSI_DANGLING_NULL, MRSI_DANGLING_REFUSE };
enum mrsi_taking { MRSI_TAKE_KEEP, MRSI_TAKE_REMOVE, MRSI_TAKE_NULL };
struct mrsi_ref_removal {
    struct mrs_ctx *c;
    const struct mrsi_refs *refs;
    const struct mrs_edit *edit; /* the path of the references */
    struct mrs_buf *value, *raw; /* scratch */
    bool drop_empty;             /* an array that becomes empty is removed, too */
    enum mrsi_taking (*what)(const void *arg, const struct mrsi_ref_occurrence *o);
    const void *arg;
    const char *key;             /* key of the plan, for refusals */
    uint32_t at;                 /* private: next occurrence */
};
/* Appends the document without them to out; *any false: nothing goes, nothing is appended. */
enum mrs_status mrsi_refs_take(struct mrsi_ref_removal *t, struct mrs_view doc, struct mrs_buf *out, bool *any);

#endif
