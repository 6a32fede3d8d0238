/* SPDX-License-Identifier: Apache-2.0 */
/* livetool.h - what the files of livetool share: documents and collections, wherever they come from.
 *
 * The program does one job and ends: nothing is given back, and what cannot be is said and ends it. */
#ifndef MONGORESHAPE_TESTS_LIVETOOL_H
#define MONGORESHAPE_TESTS_LIVETOOL_H

#include <mongoc/mongoc.h>
#include <stdbool.h>

#define STATE "__mdb_internal_mongoreshape" /* the state database */
enum { LATER = 2000000000 }; /* seconds by which indexes that expire are loaded later */

struct docs {
    bson_t **d;
    size_t n;
};
struct coll {
    char *db, *name;
    bson_t *meta; /* {options, indexes, type} and whatever else a dump has; NULL: not known */
    struct docs docs;
};
struct data { /* collections of some databases, wherever they come from */
    struct coll *c;
    size_t n;
};

/* ---- livetool_data.c ---- */
extern mongoc_client_t *client;

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *more(void *p, size_t n, size_t size); /* realloc */
char *slurp(const char *file, size_t *n);   /* a whole file and a NUL; NULL: it is not there */
void put_file(const char *file, const void *p, size_t n, const char *mode);
bool has_file(const char *file);
const char *show(const bson_t *b); /* canonical Extended JSON */
void push(struct docs *l, bson_t *b);
/* A document or array inside of another one; empty where there is none. */
bson_t *part(const bson_t *b, const char *name);
const char *text_at(const bson_t *b, const char *name); /* "" where there is none */
bson_t *stored(const bson_t *b);                        /* as a server keeps it: `_id` first */
bool same_bytes(const bson_t *a, const bson_t *b);
struct coll *coll_of(struct data *d, const char *db, const char *name); /* made where it is not there */
struct coll *find_coll(const struct data *d, const char *db, const char *name);
bool is_view(const struct coll *c);
struct docs read_bson(const char *file);
struct data from_text(const char *folder); /* db.coll.jsonl and db.coll.metadata.json */
struct data from_dump(const char *folder);
void to_dump(const struct data *all, const char *folder);
/* Whether the server did it; what it said else. */
bool ask(const char *db, const bson_t *command, bson_t *reply, const char **why);
struct data from_server(char **dbs, size_t n);
char **databases(const char *folder, size_t *n); /* those that a case uses, each once */

/* ---- livetool_check.c: commands ---- */
int wants(const char *folder, const char *work);
int check(const char *folder, const char *work, const char *stage);

#endif
