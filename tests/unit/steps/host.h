/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - three small engines in memory, to prove that a step's meaning does not depend on who moves the
 * documents.
 *
 * All of them work on a database of texts: {'posts': [{...}, ...], 'comments': [...]}. host_push goes through
 * everything at once; host_live works like the live engine: ranges of units by _id, each found through keys(),
 * written by _id with a checkpoint behind each range, and it can be stopped at every write and started again;
 * host_pull is a stage of a server: asked for one document after the other. */
#ifndef HOST_H
#define HOST_H

#include "mongoreshape/join_ops.h"
#include "bench.h"
#include <stdlib.h>
#include <string.h>

struct host_doc {
    uint8_t *p;
    uint32_t n;
    int gone;
};
struct host_coll {
    char ns[128];
    struct host_doc *doc;
    uint32_t n, cap;
};
struct host_db {
    struct host_coll coll[12];
    uint32_t n;
    char refused[8192]; /* "coll _id place\n" each, sorted by nothing */
};

void host_load(struct host_db *db, const char *text);
void host_free(struct host_db *db);
/* One line a collection that holds documents, in the order of their names: "posts: {...} {...}", canonical where
 * said. */
void host_text(const struct host_db *db, bool canonical, char *out);
struct host_coll *host_coll(struct host_db *db, const struct mrs_coll *c);
void host_put(struct host_coll *c, struct mrs_view d);

void host_refuse(struct host_db *db, const struct host_coll *c, struct mrs_view d, const char *place);

/* ---- what the hosts share about joins ---- */
/* A document of from, and what became of it. */
struct host_from {
    struct mrs_keys keys;
    struct mrs_buf payload, order;
    char why[512], where[64];
    bool takes, failed;
    bool unsorted, wanted; /* its sort key failed; somebody matches it */
    unsigned used;
};
void host_from_init(struct host_from *from, uint32_t n, struct bench *b);
void host_from_clear(struct host_from *from, uint32_t n);
/* Asks the step about every document of from; refused ones are recorded and marked gone. */
enum mrs_status host_read_from(struct host_db *db, struct bench *b, const struct mrs_desc *d, struct host_coll *c,
                               struct host_from *f);
/* What a splice put elsewhere. */
struct host_pages {
    struct host_db *db;
    const struct mrs_desc *d;
    struct {
        int side;
        struct host_doc doc;
    } put[64];
    uint32_t n;
};

/* One document of into with everything that matches it. out: its bytes afterwards; used bits are added to from.
 * SKIP: refused (b->err). */
enum mrs_status host_join_one(struct bench *b, const struct mrs_desc *d, struct host_from *from, uint32_t n_from,
                              struct mrs_view doc,
                              struct host_pages *pages, struct mrs_buf *out, enum mrs_fate *fate);

/* ---- the hosts ---- */
/* OK, or DEAD (memory). */
enum mrs_status host_push(struct host_db *db, struct bench *b, const struct mrs_desc *d);

/* Stops after `writes` writes (0: never) and starts again from what was written, until it is done; `once`: stops
 * only the first time. */
void host_live(struct host_db *db, struct bench *b, const struct mrs_desc *d, uint32_t writes, bool once);
/* Pulls one document after the other. */
void host_pull(struct host_db *db, struct bench *b, const struct mrs_desc *d);

/* A step on a database: compiled, described, run by push; what the database is afterwards. */
struct host_case {
    const char *step, *body, *in, *out, *refused;
};
/* Runs it with the fail_at-th allocation failing; true when all went through. */
bool host_one(const struct host_case *k, uint64_t fail_at);
void host_cases(const struct host_case *k, size_t n);
void host_torture(const struct host_case *k, size_t n);

#endif
