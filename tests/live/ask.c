/* SPDX-License-Identifier: Apache-2.0 */
/* ask - one command to the server at MONGODB_URI, or a picture of all that it holds.
 *
 *   ask DB COMMAND    the command, as Extended JSON; prints the reply; 1 where the server refuses it
 *   ask --picture     each database that is not the server's own: collections with their options, indexes and
 *                     documents, in an order that does not depend on how they were made
 * Users, passwords and certificates are those of the URI, for which tests/server/wire.py is too small. Written on
 * libmongoc alone, so that it shares no bug with the tool. */
#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mongoc_client_t *client;

static void
die(const char *what, const char *why)
{
    fprintf(stderr, "ask: %s: %s\n", what, why);
    exit(1);
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prints the documents as text, sorted, and forgets them. */
static void
print_sorted(const char *what, mongoc_cursor_t *cursor)
{
    const bson_t *doc;
    bson_error_t error;
    char **line = NULL;
    size_t n = 0;
    while (mongoc_cursor_next(cursor, &doc)) {
        line = realloc(line, (n + 1) * sizeof *line);
        if (!line) {
            abort();
        }
        line[n++] = bson_as_canonical_extended_json(doc, NULL);
    }
    if (mongoc_cursor_error(cursor, &error)) {
        die(what, error.message);
    }
    if (n) {
        qsort(line, n, sizeof *line, by_text);
    }
    for (size_t i = 0; i < n; i++) {
        printf("%s %s\n", what, line[i]);
        bson_free(line[i]);
    }
    free(line);
    mongoc_cursor_destroy(cursor);
}

static void
picture_of(const char *db, const char *name)
{
    char what[400];
    bson_t none = BSON_INITIALIZER;
    mongoc_collection_t *coll = mongoc_client_get_collection(client, db, name);
    printf("%s.%s\n", db, name);
    snprintf(what, sizeof what, "%s.%s index", db, name);
    print_sorted(what, mongoc_collection_find_indexes_with_opts(coll, NULL));
    snprintf(what, sizeof what, "%s.%s", db, name);
    print_sorted(what, mongoc_collection_find_with_opts(coll, &none, NULL, NULL));
    mongoc_collection_destroy(coll);
}

static void
picture(void)
{
    bson_error_t error;
    char **db = mongoc_client_get_database_names_with_opts(client, NULL, &error);
    if (!db) {
        die("databases", error.message);
    }
    for (size_t i = 0; db[i]; i++) {
        if (!strcmp(db[i], "admin") || !strcmp(db[i], "config") || !strcmp(db[i], "local")) {
            continue;
        }
        mongoc_database_t *one = mongoc_client_get_database(client, db[i]);
        print_sorted(db[i], mongoc_database_find_collections_with_opts(one, NULL));
        char **coll = mongoc_database_get_collection_names_with_opts(one, NULL, &error);
        for (size_t k = 0; coll && coll[k]; k++) {
            if (strncmp(coll[k], "system.", 7) != 0) {
                picture_of(db[i], coll[k]);
            }
        }
        bson_strfreev(coll);
        mongoc_database_destroy(one);
    }
    bson_strfreev(db);
}

static int
command(const char *db, const char *text)
{
    bson_error_t error;
    bson_t reply, *cmd = bson_new_from_json((const uint8_t *)text, -1, &error);
    if (!cmd) {
        die(text, error.message);
    }
    bool ok = mongoc_client_command_simple(client, db, cmd, NULL, &reply, &error);
    char *shown = bson_as_relaxed_extended_json(&reply, NULL);
    puts(shown);
    if (!ok) {
        fprintf(stderr, "ask: %s\n", error.message);
    }
    bson_free(shown);
    bson_destroy(&reply);
    bson_destroy(cmd);
    return !ok;
}

int
main(int argc, char **argv)
{
    const char *uri = getenv("MONGODB_URI");
    int status = 0;
    mongoc_init();
    client = uri ? mongoc_client_new(uri) : NULL;
    if (!client) {
        die("MONGODB_URI", "names no server");
    }
    if (argc == 2 && !strcmp(argv[1], "--picture")) {
        picture();
    } else if (argc == 3) {
        status = command(argv[1], argv[2]);
    } else {
        die("usage", "ask DB COMMAND, or ask --picture");
    }
    mongoc_client_destroy(client);
    mongoc_cleanup();
    return status;
}
