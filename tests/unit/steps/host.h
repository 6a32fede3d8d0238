/* host.h - three small engines in memory, to prove that a step's meaning does not depend on who moves the documents.
 *
 * All of them work on a database of texts: {'posts': [{...}, ...], 'comments': [...]}. host_push goes through everything at once; host_live works like the
 * live engine: ranges of units by _id, each found through keys(), written by _id with a checkpoint behind each range, and it can be stopped at
 * every write and started again; host_pull is a stage of a server: asked for one document after the other. */
#ifndef HOST_H
#define HOST_H

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
/* One line a collection that holds documents, in the order of their names: "posts: {...} {...}", canonical where said. */
void host_text(const struct host_db *db, bool canonical, char *out);
struct host_coll *host_coll(struct host_db *db, const struct mrs_coll *c);
void host_put(struct host_coll *c, struct mrs_view d);

/* OK, or DEAD (memory). */
enum mrs_status host_push(struct host_db *db, struct bench *b, const struct mrs_desc *d);

/* A step on a database: compiled, described, run by push; what the database is afterwards. */
struct host_case {
    const char *step, *body, *in, *out, *refused;
};
/* Runs it with the fail_at-th allocation failing; true when all went through. */
bool host_one(const struct host_case *k, uint64_t fail_at);
void host_cases(const struct host_case *k, size_t n);
void host_torture(const struct host_case *k, size_t n);

#endif
