/* SPDX-License-Identifier: Apache-2.0 */
/* livetool - puts a case of tests/cases onto a server, and says whether what is there is what the case wants.
 *
 *   livetool load CASE WORK          in/ of the case onto the server at MONGODB_URI, read back, kept in WORK/before (as
 *                                    the server tells it) and WORK/in (as a dump, in the order of `_id`)
 *   livetool wants CASE WORK         what is to be seen: "as-offline", or "refusal" where a refused document would stay
 *                                    under an `_id` that the result needs
 *   livetool check CASE WORK STAGE   the server against WORK/expect (the offline tool's dump) and out/; STAGE: quiet,
 *                                    live, or before (nothing was changed, no run was left)
 *   livetool finds CASE WORK         77 and a reason where the server does not find a document by its own value
 *   livetool databases CASE          names of the databases that the case uses
 *   livetool drop CASE...            drops them, and the state database
 *   livetool foreign CASE...         which of these databases are there already; 1 if any is
 * `load` ends with 77 and a reason where a server cannot hold the case, which it finds out by reading back. Documents
 * are compared byte for byte, but with `_id` first as servers keep it, collections as sets of them. A refused
 * document stays in its collection and is recorded in the state database. Written on libmongoc alone, so that it
 * shares no bug with the tool. */
#include "livetool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* It does one job and ends, so it gives nothing back before that; the leak checker need not look. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* ---- load ---- */
/* Servers remove what expires when they like: indexes that do that get so many seconds more. */
static bson_t *
later(const bson_t *spec)
{
    bson_t *copy = bson_new();
    bson_iter_t it;
    bson_iter_init(&it, spec);
    while (bson_iter_next(&it)) {
        if (!strcmp(bson_iter_key(&it), "expireAfterSeconds"))
            bson_append_int32(copy, bson_iter_key(&it), -1, (int32_t)bson_iter_as_int64(&it) + LATER);
        else
            bson_append_iter(copy, NULL, 0, &it);
    }
    return copy;
}

static int
cannot(const struct coll *c, const char *why)
{
    printf("%s.%s: %s\n", c->db, c->name, why);
    return 77;
}

static bool
create(const struct coll *c, const char **why)
{
    bson_t command = BSON_INITIALIZER, *options = part(c->meta, "options"), *indexes = part(c->meta, "indexes");
    bson_t list, *make = bson_new();
    bson_iter_t it;
    uint32_t n = 0;
    bson_append_utf8(&command, "create", -1, c->name, -1);
    bson_concat(&command, options);
    if (!ask(c->db, &command, NULL, why))
        return false;
    bson_append_utf8(make, "createIndexes", -1, c->name, -1);
    bson_append_array_begin(make, "indexes", -1, &list);
    bson_iter_init(&it, indexes);
    while (bson_iter_next(&it)) {
        char key[16];
        const char *k;
        bson_t *spec = part(indexes, bson_iter_key(&it));
        if (!strcmp(text_at(spec, "name"), "_id_"))
            continue;
        bson_uint32_to_string(n++, &k, key, sizeof key);
        bson_append_document(&list, k, -1, later(spec));
    }
    bson_append_array_end(make, &list);
    return n == 0 || ask(c->db, make, NULL, why);
}

static bool
insert(const struct coll *c, const char **why)
{
    for (size_t i = 0; i < c->docs.n; i++) {
        bson_t command = BSON_INITIALIZER, list;
        bson_append_utf8(&command, "insert", -1, c->name, -1);
        bson_append_bool(&command, "bypassDocumentValidation", -1, true);
        bson_append_array_begin(&command, "documents", -1, &list);
        bson_append_document(&list, "0", -1, c->docs.d[i]);
        bson_append_array_end(&command, &list);
        if (!ask(c->db, &command, NULL, why)) {
            *why = text("the server does not take %s: %s", show(c->docs.d[i]), *why);
            return false;
        }
        bson_destroy(&command);
    }
    return true;
}

/* The first document that the server does not give back as it got it; `_id` goes first, as every server has it. */
static const char *
not_held(const struct coll *want, const struct coll *got)
{
    for (size_t i = 0; i < want->docs.n; i++) {
        bson_t *kept = stored(want->docs.d[i]);
        size_t at = 0;
        while (at < got->docs.n && !same_bytes(kept, got->docs.d[at]))
            at++;
        bson_destroy(kept);
        if (at == got->docs.n)
            return text("the server does not give back %s", show(want->docs.d[i]));
    }
    return want->docs.n == got->docs.n ? NULL : "the server gives back other documents";
}

static bool
in_order(const struct coll *want, const struct coll *got)
{
    for (size_t i = 0; i < want->docs.n; i++)
        if (!same_bytes(want->docs.d[i], got->docs.d[i]))
            return false;
    return true;
}

static void
drop(const char *folder)
{
    size_t n;
    char **db = databases(folder, &n);
    const char *why;
    bson_t *command = BCON_NEW("dropDatabase", BCON_INT32(1));
    for (size_t i = 0; i <= n; i++)
        if (!ask(i < n ? db[i] : STATE, command, NULL, &why))
            die("cannot drop a database: %s", why);
}

static int
load(const char *folder, const char *work)
{
    struct data in = from_text(text("%s/in", folder));
    size_t n;
    char **db = databases(folder, &n);
    bool ordered = true;
    const char *why;
    drop(folder);
    for (int views = 0; views < 2; views++)
        for (size_t i = 0; i < in.n; i++)
            if (is_view(&in.c[i]) == views && (!create(&in.c[i], &why) || !insert(&in.c[i], &why)))
                return cannot(&in.c[i], why);
    struct data got = from_server(db, n);
    mkdir(work, 0777);
    to_dump(&got, text("%s/before", work));
    for (size_t i = 0; i < in.n; i++) {
        struct coll *g = find_coll(&got, in.c[i].db, in.c[i].name);
        why = g ? not_held(&in.c[i], g) : "the server does not have it";
        if (why)
            return cannot(&in.c[i], why);
        ordered &= in_order(&in.c[i], g);
        in.c[i].docs = g->docs;
    }
    to_dump(&in, text("%s/in", work));
    if (!ordered)
        put_file(text("%s/reordered", work), "", 0, "wb");
    return 0;
}

/* ---- finds ---- */
static bool
found(const bson_t *doc)
{
    bson_iter_t it;
    bson_t literal = BSON_INITIALIZER, filter = BSON_INITIALIZER, expr, eq, reply;
    const char *why;
    bson_append_document(&literal, "$literal", -1, doc);
    bson_append_document_begin(&filter, "$expr", -1, &expr);
    bson_append_array_begin(&expr, "$eq", -1, &eq);
    bson_append_utf8(&eq, "0", -1, "$$ROOT", -1);
    bson_append_document(&eq, "1", -1, &literal);
    bson_append_array_end(&expr, &eq);
    bson_append_document_end(&filter, &expr);
    bson_t *count = BCON_NEW("count", "probe", "query", BCON_DOCUMENT(&filter));
    return ask(STATE, count, &reply, &why) && bson_iter_init_find(&it, &reply, "n") && bson_iter_as_int64(&it) == 1;
}

/* Writes are guarded by what a document is: a server that takes it for unlike itself lets none through. */
static int
finds(const char *work)
{
    struct data in = from_dump(text("%s/in", work));
    const char *why;
    bson_t *drop_probe = BCON_NEW("drop", "probe");
    for (size_t i = 0; i < in.n; i++)
        for (size_t k = 0; k < in.c[i].docs.n; k++) {
            struct coll probe = {STATE, "probe", NULL, {&in.c[i].docs.d[k], 1}};
            ask(STATE, drop_probe, NULL, &why);
            if (!insert(&probe, &why))
                return cannot(&in.c[i], why);
            if (!found(in.c[i].docs.d[k]))
                return cannot(&in.c[i], text("the server does not find by $eq %s", show(in.c[i].docs.d[k])));
        }
    return 0;
}

/* Nothing of somebody else's is dropped. */
static int
foreign(char **folders, int n_folders)
{
    bson_error_t e;
    int status = 0;
    char **there = mongoc_client_get_database_names_with_opts(client, NULL, &e);
    if (!there)
        die("cannot list databases: %s", e.message);
    for (char **name = there; *name; name++) {
        bool used = !strcmp(*name, STATE);
        for (int i = 0; i < n_folders && !used; i++) {
            size_t n;
            char **db = databases(folders[i], &n);
            for (size_t k = 0; k < n; k++)
                used = used || !strcmp(db[k], *name);
        }
        if (used) {
            printf("there is a database %s already, which is not touched\n", *name);
            status = 1;
        }
    }
    return status;
}

int
main(int argc, char **argv)
{
    const char *uri = getenv("MONGODB_URI"), *verb = argc > 1 ? argv[1] : "";
    int status = 2;
    size_t n;
    if (argc == 3 && !strcmp(verb, "databases")) {
        char **db = databases(argv[2], &n);
        for (size_t i = 0; i < n; i++)
            puts(db[i]);
        return 0;
    }
    if (argc == 4 && !strcmp(verb, "wants"))
        return wants(argv[2], argv[3]);
    mongoc_log_set_handler(NULL, NULL);
    mongoc_init();
    client = uri ? mongoc_client_new(uri) : NULL;
    if (!client)
        die("MONGODB_URI names no server");
    if (argc == 4 && !strcmp(verb, "load"))
        status = load(argv[2], argv[3]);
    else if (argc == 4 && !strcmp(verb, "finds"))
        status = finds(argv[3]);
    else if (argc == 5 && !strcmp(verb, "check"))
        status = check(argv[2], argv[3], argv[4]);
    else if (argc > 2 && !strcmp(verb, "foreign"))
        status = foreign(argv + 2, argc - 2);
    else if (argc > 2 && !strcmp(verb, "drop"))
        for (status = 0, n = 2; n < (size_t)argc; n++)
            drop(argv[n]);
    else
        die("usage: livetool load|finds|wants|databases|drop|foreign|check CASE [WORK [STAGE]]");
    mongoc_client_destroy(client);
    mongoc_cleanup();
    return status;
}
