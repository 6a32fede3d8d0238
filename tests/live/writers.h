/* SPDX-License-Identifier: Apache-2.0 */
/* writers.h - what the files of live-writers share: a database, what its writers were told, and one trial. */
#ifndef WRITERS_H
#define WRITERS_H

#include <mongoc/mongoc.h>
#include <stdbool.h>
#include <stdint.h>

enum { POSTS, COMMENTS, N_COLLS };
enum { IDS_MAX = 4000, CHILD_IDS = 10000, CLAIMS_MAX = 4 };
enum children { BY_PARENT, BY_ITEMS, BY_REFS }; /* comments.postId; elements of posts.items; posts.parts */

struct scenario {
    const char *name, *steps; /* the plan's, as YAML */
    enum children children;
    bool direct;              /* in place alongside writers, not expand and contract */
    bool quiet;               /* writers are kept out: nobody writes, the tool is killed only */
    bool new_fields;          /* writers add a field, too: contract makes documents anew, so that it gets its place */
    bool live_contract;       /* contract may run alongside writers */
    const char *claims[N_COLLS][CLAIMS_MAX];
};
extern const struct scenario writers_scenarios[];

enum op {
    OP_P_INSERT, OP_P_UPDATE, OP_P_REPLACE, OP_P_DELETE, OP_P_REINSERT,
    OP_C_INSERT, OP_C_UPDATE, OP_C_MOVE, OP_C_DELETE, OP_C_REINSERT,
    N_OPS,
    OP_ALL = N_OPS, OP_NOTHING, OP_KILL, OP_SWARM, N_KINDS
};
extern const char *const writers_op_names[N_KINDS];

/* What stands on the server when only the writers are asked: the last acknowledged bytes of each document. */
struct model {
    bson_t *doc[N_COLLS][IDS_MAX];
};
struct writer { /* has to itself the documents whose number is `no` modulo `of` */
    struct model *model;
    const struct scenario *sc;
    mongoc_client_t *client;
    const char *db;
    uint64_t random;
    int no, of, tokens, next[N_COLLS];
    bool rename_safe;  /* old-shape fields are left alone, new documents too: contract is under way */
    long writes;
    char wrong[512];   /* "" : every write was acknowledged and found what it had to find */
};

/* ---- writers_data.c ---- */
const char *writers_coll(int coll);
uint64_t writers_random(uint64_t *state, uint64_t n); /* 0..n-1 */
void writers_id(int coll, int id, bson_value_t *out);
/* A fresh document under this number. */
bson_t *writers_make(struct writer *w, int coll, int id);
void writers_fill(struct writer *w, int posts, int comments); /* the model alone */
void writers_do(struct writer *w, enum op op);
void writers_clear(struct model *m);
/* doc less the fields named. */
bson_t *writers_less(const bson_t *doc, const char *const *claims);

/* ---- writers_check.c ---- */
struct place { /* where a trial is made */
    mongoc_client_t *client;
    char db[32], state[32];
    char dir[200];
    const char *offline;
};
/* "" or what is wrong, in `why`. */
bool writers_sources_kept(const struct place *p, const struct scenario *sc, const struct model *m, bool alone,
                          char why[512]);
/* Collections are what the offline tool makes of the model; in a direct run with claims, of what is there, and that
 * is the model but for the claims. */
bool writers_as_offline(const struct place *p, const struct scenario *sc, const struct model *m, char why[512]);
/* Each document of the model stands somewhere, as itself or as a part: its token is found. */
bool writers_none_lost(const struct place *p, const struct model *m, char why[512]);
void writers_plan(const struct place *p, const struct scenario *sc);
int writers_spawn(const char *const *argv, const char *const *env, const char *log);

#endif
