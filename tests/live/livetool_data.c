/* SPDX-License-Identifier: Apache-2.0 */
/* livetool_data.c - collections read from the text of a case, from a dump and from a server; and written as a dump.
 *
 * One shape for all of them, so that any two can be compared. Documents are never touched on the way. Whatever cannot
 * be read ends the program: a test that cannot look must not say that all is well. */
#include "livetool.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- small things ---- */

void
die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("livetool: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(2);
}

char *
text(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        abort();
    va_end(ap);
    return s;
}

void *
more(void *p, size_t n, size_t size)
{
    p = realloc(p, n * size);
    if (!p)
        abort();
    return p;
}

char *
slurp(const char *file, size_t *n)
{
    FILE *f = fopen(file, "rb");
    char *p = NULL;
    *n = 0;
    while (f) {
        p = more(p, *n + 65536, 1);
        size_t got = fread(p + *n, 1, 65535, f);
        *n += got;
        if (!got)
            break;
    }
    if (f)
        fclose(f);
    if (p)
        p[*n] = 0;
    return p;
}

void
put_file(const char *file, const void *p, size_t n, const char *mode)
{
    FILE *f = fopen(file, mode);
    if (!f || fwrite(p, 1, n, f) != n || fclose(f))
        die("cannot write %s", file);
}

const char *
show(const bson_t *b)
{
    return b ? bson_as_canonical_extended_json(b, NULL) : "(none)";
}

static bson_t *
from_json(const char *json, const char *where)
{
    bson_error_t e;
    bson_t *b = bson_new_from_json((const uint8_t *)json, -1, &e);
    if (!b)
        die("%s: %s", where, e.message);
    return b;
}

void
push(struct docs *l, bson_t *b)
{
    l->d = more(l->d, l->n + 1, sizeof *l->d);
    l->d[l->n++] = b;
}

/* A document inside of another one; empty where there is none. */
bson_t *
part(const bson_t *b, const char *name)
{
    bson_iter_t it;
    const uint8_t *p;
    uint32_t n;
    if (!b || !bson_iter_init_find(&it, b, name))
        return bson_new();
    if (BSON_ITER_HOLDS_ARRAY(&it))
        bson_iter_array(&it, &n, &p);
    else if (BSON_ITER_HOLDS_DOCUMENT(&it))
        bson_iter_document(&it, &n, &p);
    else
        return bson_new();
    return bson_new_from_data(p, n);
}

const char *
text_at(const bson_t *b, const char *name)
{
    bson_iter_t it;
    return b && bson_iter_init_find(&it, b, name) && BSON_ITER_HOLDS_UTF8(&it) ? bson_iter_utf8(&it, NULL) : "";
}

bool
has_file(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0;
}

struct coll *
coll_of(struct data *d, const char *db, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->c[i].db, db) && !strcmp(d->c[i].name, name))
            return &d->c[i];
    d->c = more(d->c, d->n + 1, sizeof *d->c);
    d->c[d->n] = (struct coll){strdup(db), strdup(name), NULL, {NULL, 0}};
    return &d->c[d->n++];
}

struct coll *
find_coll(const struct data *d, const char *db, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->c[i].db, db) && !strcmp(d->c[i].name, name))
            return &d->c[i];
    return NULL;
}

/* As a server keeps it: `_id` first. */
bson_t *
stored(const bson_t *b)
{
    bson_t *s = bson_new();
    bson_iter_t it;
    if (bson_iter_init_find(&it, b, "_id"))
        bson_append_iter(s, NULL, 0, &it);
    bson_iter_init(&it, b);
    while (bson_iter_next(&it))
        if (strcmp(bson_iter_key(&it), "_id") != 0)
            bson_append_iter(s, NULL, 0, &it);
    return s;
}

/* ---- from the text of a case, from a dump ---- */
static struct docs
read_lines(const char *file)
{
    struct docs l = {NULL, 0};
    size_t n;
    char *all = slurp(file, &n), *save = NULL;
    for (char *line = all ? strtok_r(all, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
        push(&l, from_json(line, file));
    return l;
}

struct docs
read_bson(const char *file)
{
    struct docs l = {NULL, 0};
    size_t n, at = 0;
    char *all = slurp(file, &n);
    while (all && at < n) {
        uint32_t len;
        if (n - at < 5 || (memcpy(&len, all + at, 4), len > n - at) || len < 5)
            die("%s is damaged", file);
        push(&l, bson_new_from_data((const uint8_t *)all + at, len));
        at += len;
    }
    return l;
}

static bool
ends(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && !strcmp(s + n - m, tail);
}

/* The name that mongodump wrote into the name of a file: %2A is a star. */
static void
unescape(char *name)
{
    char *to = name;
    unsigned c;
    for (const char *at = name; *at; at++) {
        bool escaped = *at == '%' && sscanf(at + 1, "%2x", &c) == 1;
        *to++ = escaped ? (char)c : *at;
        at += escaped ? 2 : 0;
    }
    *to = 0;
}

/* As a name of a file, where it needs that. */
static char *
escape(const char *name)
{
    char *out = text("%s", "");
    for (; *name; name++)
        out = text(strchr("*%/", *name) ? "%s%%%02X" : "%s%c", out, *name);
    return out;
}

/* A folder of db.coll.jsonl and db.coll.metadata.json. */
struct data
from_text(const char *folder)
{
    struct data all = {NULL, 0};
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        bool meta = ends(e->d_name, ".metadata.json");
        char *db = strdup(e->d_name), *dot = strchr(db, '.');
        if (!dot || (!meta && !ends(e->d_name, ".jsonl")))
            continue;
        *dot = 0;
        dot[1 + strlen(dot + 1) - strlen(meta ? ".metadata.json" : ".jsonl")] = 0;
        unescape(dot + 1);
        struct coll *c = coll_of(&all, db, dot + 1);
        char *file = text("%s/%s", folder, e->d_name);
        size_t n;
        if (meta)
            c->meta = from_json(slurp(file, &n), file);
        else
            c->docs = read_lines(file);
    }
    if (d)
        closedir(d);
    return all;
}

static void
from_dump_db(const char *folder, const char *db, struct data *all)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *name = strdup(e->d_name), *file = text("%s/%s", folder, e->d_name);
        size_t n;
        if (ends(name, ".metadata.json")) {
            name[strlen(name) - 14] = 0;
            unescape(name);
            coll_of(all, db, name)->meta = from_json(slurp(file, &n), file);
        } else if (ends(name, ".bson")) {
            name[strlen(name) - 5] = 0;
            unescape(name);
            coll_of(all, db, name)->docs = read_bson(file);
        }
    }
    if (d)
        closedir(d);
}

struct data
from_dump(const char *folder)
{
    struct data all = {NULL, 0};
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            from_dump_db(text("%s/%s", folder, e->d_name), e->d_name, &all);
    if (d)
        closedir(d);
    return all;
}

bool
is_view(const struct coll *c)
{
    return *text_at(part(c->meta, "options"), "viewOn") != 0;
}

void
to_dump(const struct data *all, const char *folder)
{
    mkdir(folder, 0777);
    for (size_t i = 0; i < all->n; i++) {
        const struct coll *c = &all->c[i];
        const char *json = c->meta ? bson_as_canonical_extended_json(c->meta, NULL)
                                   : text("{\"indexes\":[{\"v\":2,\"key\":{\"_id\":1},\"name\":\"_id_\"}],"
                                          "\"collectionName\":\"%s\",\"type\":\"collection\"}", c->name);
        char *base = text("%s/%s/%s", folder, c->db, escape(c->name));
        mkdir(text("%s/%s", folder, c->db), 0777);
        put_file(text("%s.metadata.json", base), json, strlen(json), "wb");
        if (!is_view(c))
            put_file(text("%s.bson", base), "", 0, "wb");
        for (size_t k = 0; k < c->docs.n; k++)
            put_file(text("%s.bson", base), bson_get_data(c->docs.d[k]), c->docs.d[k]->len, "ab");
    }
}

/* ---- the server ---- */
mongoc_client_t *client;

/* Whether the server did it; what it said else. */
bool
ask(const char *db, const bson_t *command, bson_t *reply, const char **why)
{
    bson_error_t e;
    bson_t own, *r = reply ? reply : &own;
    bson_iter_t it, error;
    bool ok = mongoc_client_command_simple(client, db, command, NULL, r, &e);
    *why = ok ? NULL : text("code %u: %s", e.code, e.message);
    if (ok && bson_iter_init(&it, r) && bson_iter_find_descendant(&it, "writeErrors.0.errmsg", &error)) {
        *why = text("%s", bson_iter_utf8(&error, NULL));
        ok = false;
    }
    return ok;
}

static struct docs
cursor_docs(mongoc_cursor_t *cursor)
{
    struct docs l = {NULL, 0};
    const bson_t *b;
    bson_error_t e;
    while (mongoc_cursor_next(cursor, &b))
        push(&l, bson_copy(b));
    if (mongoc_cursor_error(cursor, &e))
        die("cannot read: %s", e.message);
    mongoc_cursor_destroy(cursor);
    return l;
}

static void
read_coll(struct coll *c, const bson_t *info)
{
    bson_t *opts = BCON_NEW("sort", "{", "_id", BCON_INT32(1), "}"), *filter = bson_new(), indexes;
    mongoc_collection_t *m = mongoc_client_get_collection(client, c->db, c->name);
    char key[16];
    const char *k;
    c->meta = bson_new();
    bson_append_document(c->meta, "options", -1, part(info, "options"));
    bson_append_utf8(c->meta, "type", -1, text_at(info, "type"), -1);
    if (!strcmp(text_at(info, "type"), "view"))
        return;
    struct docs l = cursor_docs(mongoc_collection_find_indexes_with_opts(m, NULL));
    bson_append_array_begin(c->meta, "indexes", -1, &indexes);
    for (size_t i = 0; i < l.n; i++) {
        bson_uint32_to_string((uint32_t)i, &k, key, sizeof key);
        bson_append_document(&indexes, k, -1, l.d[i]);
    }
    bson_append_array_end(c->meta, &indexes);
    c->docs = cursor_docs(mongoc_collection_find_with_opts(m, filter, opts, NULL));
    mongoc_collection_destroy(m);
}

struct data
from_server(char **dbs, size_t n)
{
    struct data all = {NULL, 0};
    for (size_t i = 0; i < n; i++) {
        mongoc_database_t *db = mongoc_client_get_database(client, dbs[i]);
        struct docs l = cursor_docs(mongoc_database_find_collections_with_opts(db, NULL));
        for (size_t k = 0; k < l.n; k++)
            if (strncmp(text_at(l.d[k], "name"), "system.", 7) != 0)
                read_coll(coll_of(&all, dbs[i], text_at(l.d[k], "name")), l.d[k]);
        mongoc_database_destroy(db);
    }
    return all;
}

/* The databases that a case uses, each once. */
char **
databases(const char *folder, size_t *n)
{
    static const char *const where[] = {"in", "out"};
    char **db = NULL;
    *n = 0;
    for (int i = 0; i < 2; i++) {
        struct data all = from_text(text("%s/%s", folder, where[i]));
        for (size_t k = 0; k < all.n; k++) {
            size_t at = 0;
            while (at < *n && strcmp(db[at], all.c[k].db) != 0)
                at++;
            if (at == *n) {
                db = more(db, *n + 1, sizeof *db);
                db[(*n)++] = all.c[k].db;
            }
        }
    }
    return db;
}

bool
same_bytes(const bson_t *a, const bson_t *b)
{
    return a->len == b->len && !memcmp(bson_get_data(a), bson_get_data(b), a->len);
}
