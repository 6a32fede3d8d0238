/* SPDX-License-Identifier: Apache-2.0 */
/* facts - asks the server at MONGODB_URI whether it does what the online tool relies on.
 *
 * Every claim about the server that the tool's safety rests on is a probe with a name. "fact NAME true|false|error:
 * detail" is written for each; a false one is no failure here, but the tests that need it are not run on this server,
 * and say so (lib.sh, needs_fact). Each probe has a collection of its own in one database that is dropped at the end;
 * nothing else is touched. --markdown writes a table, --list only the names, NAME... asks only those.
 * Exit status: 0 whenever the asking worked, whatever the answers; 2 when there is no server.
 */
#include "facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct fact *const tables[] = {facts_of_updates, facts_of_writes, facts_of_catalogue,
                                            facts_of_transactions};

/* The names and sentences, for a table of several servers. */
static int
list(void)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct fact *fact = tables[t]; fact->name != NULL; fact++)
            printf("%s|%s\n", fact->name, fact->what);
    return 0;
}

FILE *
text_open(char **text, size_t *n)
{
    FILE *s = open_memstream(text, n);

    if (s == NULL) {
        perror("facts");
        exit(2);
    }
    return s;
}

/* Single quotes to double ones, names for their signs. */
static char *
spelt(const struct facts *f, const char *text)
{
    char *made;
    size_t n;
    FILE *s = text_open(&made, &n);

    for (; *text != 0; text++) {
        if (*text == '@')
            fputs(f->coll, s);
        else if (*text == '#')
            fputs(f->db, s);
        else
            fputc(*text == '\'' ? '"' : *text, s);
    }
    fclose(s);
    return made;
}

bson_t *
document(struct facts *f, const char *text)
{
    char *json = spelt(f, text);
    bson_error_t error;
    bson_t *b = bson_new_from_json((const uint8_t *)json, -1, &error);

    if (b == NULL) {
        fprintf(stderr, "facts: %s: %s\n", json, error.message);
        exit(2);
    }
    free(json);
    return b;
}

bool
reply_at(const struct facts *f, const char *path, bson_iter_t *at)
{
    bson_iter_t iter;

    return bson_iter_init(&iter, f->reply) && bson_iter_find_descendant(&iter, path, at);
}

int64_t
reply_number(const struct facts *f, const char *path)
{
    bson_iter_t at;

    return reply_at(f, path, &at) && BSON_ITER_HOLDS_NUMBER(&at) ? bson_iter_as_int64(&at) : -1;
}

bool
reply_has_label(const struct facts *f, const char *label)
{
    return mongoc_error_has_label(f->reply, label);
}

bool
seen(struct facts *f, const char *text, ...)
{
    va_list args;

    va_start(args, text);
    vsnprintf(f->detail, sizeof f->detail, text, args);
    va_end(args);
    return false;
}

/* The first error a reply tells of: of the command, of a write, of the write concern. */
static void
read_error(struct facts *f, const bson_error_t *error)
{
    static const char *const places[][2] = {{"code", "errmsg"},
                                            {"writeErrors.0.code", "writeErrors.0.errmsg"},
                                            {"writeConcernError.code", "writeConcernError.errmsg"}};
    bson_iter_t at;

    f->code = 0;
    for (size_t i = 0; i < 3; i++) {
        int64_t code = reply_number(f, places[i][0]);

        if (code <= 0)
            continue;
        f->code = (int)code;
        seen(f, "%d %.160s", f->code, reply_at(f, places[i][1], &at) && BSON_ITER_HOLDS_UTF8(&at) ?
             bson_iter_utf8(&at, NULL) : "");
        return;
    }
    if (error->code != 0) {
        f->code = (int)error->code;
        f->lost = error->domain != MONGOC_ERROR_SERVER;
        seen(f, "%d %.160s", f->code, error->message);
    }
}

bool
ask(struct facts *f, mongoc_client_t *client, const char *db, mongoc_client_session_t *session, const bson_t *command)
{
    bson_t opts = BSON_INITIALIZER;
    bson_error_t error = {0};
    bool fine = true;

    if (session != NULL)
        fine = mongoc_client_session_append(session, &opts, &error);
    bson_destroy(f->reply);
    f->reply = bson_new();
    if (fine) {
        bson_t reply;

        fine = mongoc_client_command_with_opts(client, db != NULL ? db : f->db, command, NULL, &opts, &reply, &error);
        bson_copy_to(&reply, f->reply);
        bson_destroy(&reply);
    }
    if (fine)
        memset(&error, 0, sizeof error);
    read_error(f, &error);
    bson_destroy(&opts);
    return f->code == 0;
}

static bool __attribute__((format(printf, 5, 0)))
ask_text(struct facts *f, mongoc_client_t *client, const char *db, mongoc_client_session_t *session, const char *text,
         va_list args)
{
    char *filled = bson_strdupv_printf(text, args);
    bson_t *command = document(f, filled);
    bool fine = ask(f, client, db, session, command);

    bson_destroy(command);
    bson_free(filled);
    return fine;
}

#define ASKER(name, client, db)                                                                                        \
    bool name(struct facts *f, const char *text, ...)                                                                  \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        bool fine;                                                                                                     \
                                                                                                                       \
        va_start(args, text);                                                                                          \
        fine = ask_text(f, client, db, NULL, text, args);                                                              \
        va_end(args);                                                                                                  \
        return fine;                                                                                                   \
    }
ASKER(say, f->one, NULL)
ASKER(say_two, f->two, NULL)
ASKER(say_admin, f->one, "admin")

bool
say_in(struct facts *f, mongoc_client_session_t *session, const char *text, ...)
{
    va_list args;
    bool fine;

    va_start(args, text);
    fine = ask_text(f, mongoc_client_session_get_client(session), NULL, session, text, args);
    va_end(args);
    return fine;
}

bool
put(struct facts *f, const char *documents)
{
    return say(f, "{'insert':'@','documents':[%s]}", documents);
}

bool
is_bson(struct facts *f, const char *id, const bson_t *wanted)
{
    bson_iter_t at;
    const uint8_t *data;
    uint32_t size;
    bson_t got;
    char *json;

    if (!say(f, "{'find':'@','filter':{'_id':%s}}", id))
        return false;
    if (!reply_at(f, "cursor.firstBatch.0", &at) || !BSON_ITER_HOLDS_DOCUMENT(&at))
        return seen(f, "no document with _id %s", id);
    bson_iter_document(&at, &size, &data);
    if (size == wanted->len && memcmp(data, bson_get_data(wanted), size) == 0)
        return true;
    if (!bson_init_static(&got, data, size))
        return seen(f, "no BSON");
    json = bson_as_relaxed_extended_json(&got, NULL);
    seen(f, "the document is %.200s", json != NULL ? json : "?");
    bson_free(json);
    return false;
}

bool
is(struct facts *f, const char *id, const char *wanted)
{
    bson_t *b = document(f, wanted);
    bool same = is_bson(f, id, b);

    bson_destroy(b);
    return same;
}

bool
finds(struct facts *f, const char *filter, const char *ids)
{
    bson_iter_t batch, one, id;
    char *got;
    size_t n;
    bool same;

    if (!say(f, "{'find':'@','filter':%s,'sort':{'_id':1},'batchSize':1000}", filter))
        return false;
    FILE *s = text_open(&got, &n);
    if (reply_at(f, "cursor.firstBatch", &batch) && bson_iter_recurse(&batch, &one)) {
        while (bson_iter_next(&one)) {
            if (bson_iter_recurse(&one, &id) && bson_iter_find(&id, "_id"))
                fprintf(s, "%s%" PRId64, ftell(s) > 0 ? "," : "", bson_iter_as_int64(&id));
        }
    }
    fclose(s);
    same = strcmp(got, ids) == 0;
    if (!same)
        seen(f, "%.120s finds %.60s instead of %.60s", filter, got, ids);
    free(got);
    return same;
}

mongoc_client_t *
client_new(const struct facts *f)
{
    mongoc_client_t *client = mongoc_client_new_from_uri(f->uri);

    if (client != NULL)
        mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
    return client;
}

static bool
chosen(const char *name, int argc, char **argv)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        any = true;
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return !any;
}

static void
probe(struct facts *f, const struct fact *fact, bool markdown)
{
    bool holds;
    const char *word;

    f->coll = fact->name;
    f->detail[0] = 0;
    f->lost = false;
    holds = fact->holds(f);
    word = holds ? "true" : f->lost ? "error" : "false";
    for (char *p = f->detail; *p != 0; p++)
        if (*p == '\n' || *p == '|')
            *p = ' ';
    if (markdown)
        printf("| %s | %s | %s |\n", fact->name, fact->what, word);
    else
        printf("fact %s %s: %s\n", fact->name, word, holds ? fact->what : f->detail);
    fflush(stdout);
}

static void
introduce(struct facts *f)
{
    bson_iter_t at;
    const char *version = "?", *set = "standalone";

    if (say_admin(f, "{'buildInfo':1}") && reply_at(f, "version", &at) && BSON_ITER_HOLDS_UTF8(&at))
        version = bson_iter_utf8(&at, NULL);
    printf("server: version %s, ", version);
    if (say_admin(f, "{'hello':1}") && reply_at(f, "setName", &at))
        set = "replica set";
    printf("%s\n", set);
}

int
main(int argc, char **argv)
{
    struct facts f = {.db = "mongoreshape_facts"};
    const char *text = getenv("MONGODB_URI");
    bool markdown = false;
    bson_error_t error;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            return list();
        markdown = markdown || strcmp(argv[i], "--markdown") == 0;
    }
    if (text == NULL) {
        fprintf(stderr, "facts: MONGODB_URI is not set; tests/server/with sets it\n");
        return 2;
    }
    mongoc_init();
    mongoc_log_set_handler(NULL, NULL);
    f.uri = mongoc_uri_new_with_error(text, &error);
    f.reply = bson_new();
    f.coll = "none";
    f.one = f.uri != NULL ? client_new(&f) : NULL;
    f.two = f.uri != NULL ? client_new(&f) : NULL;
    if (f.one == NULL || f.two == NULL || !say_admin(&f, "{'ping':1}")) {
        fprintf(stderr, "facts: no server: %s\n", f.uri != NULL ? f.detail : error.message);
        return 2;
    }
    say(&f, "{'dropDatabase':1}");
    if (!markdown)
        introduce(&f);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct fact *fact = tables[t]; fact->name != NULL; fact++)
            if (chosen(fact->name, argc, argv))
                probe(&f, fact, markdown);
    say(&f, "{'dropDatabase':1}");
    bson_destroy(f.reply);
    mongoc_client_destroy(f.one);
    mongoc_client_destroy(f.two);
    mongoc_uri_destroy(f.uri);
    mongoc_cleanup();
    return 0;
}
