/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what the files of the facts program share: a place to ask from, and ways to ask.
 *
 * Commands are written as JSON with single quotes; '@' stands for the probe's own collection, '#' for the database.
 */
#ifndef MONGORESHAPE_TESTS_FACTS_H
#define MONGORESHAPE_TESTS_FACTS_H

#include <mongoc/mongoc.h>
#include <stdbool.h>
#include <stdio.h>

struct facts {
    mongoc_uri_t *uri;
    mongoc_client_t *one, *two;         /* two clients, as unlike as two programs */
    const char *db;
    const char *coll;                   /* the probe's own */
    bson_t *reply;                      /* of the last command */
    int code;                           /* of the last command: 0, or of its first error */
    bool lost;                          /* the server went away or cannot be reached */
    char detail[256];                   /* what was seen, for people */
};

struct fact {
    const char *name;
    const char *what;                   /* the sentence that is true or false */
    bool (*holds)(struct facts *f);
};

extern const struct fact facts_of_updates[], facts_of_writes[], facts_of_transactions[], facts_of_catalogue[];

/* Sends a command to a database (NULL: the probes' own); the reply is in f->reply, the code in f->code. True: no error
 * of any kind. `say` speaks to the own database by client one, `say_in` by a session of its client. */
bool ask(struct facts *f, mongoc_client_t *client, const char *db, mongoc_client_session_t *session,
         const bson_t *command);
bool say(struct facts *f, const char *text, ...) __attribute__((format(printf, 2, 3)));
bool say_two(struct facts *f, const char *text, ...) __attribute__((format(printf, 2, 3)));
bool say_admin(struct facts *f, const char *text, ...) __attribute__((format(printf, 2, 3)));
bool say_in(struct facts *f, mongoc_client_session_t *session, const char *text, ...)
    __attribute__((format(printf, 3, 4)));
/* A text to be written to: when it is closed, it is *text, for the caller to free. Ends the program without memory. */
FILE *text_open(char **text, size_t *n);
/* JSON as above to BSON; the caller destroys it. */
bson_t *document(struct facts *f, const char *text);
/* Inserts documents, given as the inside of an array. */
bool put(struct facts *f, const char *documents);
/* The reply's field at a dotted path. */
bool reply_at(const struct facts *f, const char *path, bson_iter_t *at);
int64_t reply_number(const struct facts *f, const char *path);
bool reply_has_label(const struct facts *f, const char *label);
/* True when the document with that _id is, byte for byte, this one. */
bool is(struct facts *f, const char *id, const char *wanted);
bool is_bson(struct facts *f, const char *id, const bson_t *wanted);
/* True when the filter finds exactly these _ids: JSON numbers, ascending, without spaces: "1,3". */
bool finds(struct facts *f, const char *filter, const char *ids);
/* Says in f->detail what was seen; gives false, to be returned. */
bool seen(struct facts *f, const char *text, ...) __attribute__((format(printf, 2, 3)));
mongoc_client_t *client_new(const struct facts *f);

#endif
