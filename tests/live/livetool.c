/* livetool - puts a case of tests/cases onto a server, and says whether what stands there is what the case wants.
 *
 *   livetool load CASE WORK          in/ of the case onto the server at MONGODB_URI, read back, kept in WORK/before (as
 *                                    the server tells it) and WORK/in (as a dump, in the order of `_id`)
 *   livetool wants CASE WORK         what is to be seen: "as-offline", or "refusal" where a refused document would stay
 *                                    under an `_id` that the result needs
 *   livetool check CASE WORK STAGE   the server against WORK/expect (the offline tool's dump) and out/; STAGE: quiet,
 *                                    live, or before (nothing was changed, no run was left)
 *   livetool databases CASE          names of the databases that the case uses
 *   livetool drop CASE...            drops them, and the state database
 *   livetool foreign CASE...         which of these databases are there already; 1 if any is
 * `load` ends with 77 and a reason where a server cannot hold the case, which it finds out by reading back. Documents
 * are compared byte for byte, but with `_id` first as servers keep it, collections as sets of them. A refused
 * document stays in its collection and is recorded in the state database. Written on libmongoc alone, so that it
 * shares no bug with the tool. */
#include <dirent.h>
#include <mongoc/mongoc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STATE "mongoreshape"

/* It does one job and ends, so it gives nothing back before that; the leak checker need not look. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "detect_leaks=0";
}

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

/* ---- small things ---- */
static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
static char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void
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

static char *
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

static void *
more(void *p, size_t n, size_t size)
{
    p = realloc(p, n * size);
    if (!p)
        abort();
    return p;
}

static char *
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

static void
put_file(const char *file, const void *p, size_t n, const char *mode)
{
    FILE *f = fopen(file, mode);
    if (!f || fwrite(p, 1, n, f) != n || fclose(f))
        die("cannot write %s", file);
}

static const char *
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

static void
push(struct docs *l, bson_t *b)
{
    l->d = more(l->d, l->n + 1, sizeof *l->d);
    l->d[l->n++] = b;
}

/* A document inside of another one; empty where there is none. */
static bson_t *
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

static const char *
text_at(const bson_t *b, const char *name)
{
    bson_iter_t it;
    return b && bson_iter_init_find(&it, b, name) && BSON_ITER_HOLDS_UTF8(&it) ? bson_iter_utf8(&it, NULL) : "";
}

static bool
has_file(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0;
}

static struct coll *
coll_of(struct data *d, const char *db, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->c[i].db, db) && !strcmp(d->c[i].name, name))
            return &d->c[i];
    d->c = more(d->c, d->n + 1, sizeof *d->c);
    d->c[d->n] = (struct coll){strdup(db), strdup(name), NULL, {NULL, 0}};
    return &d->c[d->n++];
}

static struct coll *
find_coll(const struct data *d, const char *db, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->c[i].db, db) && !strcmp(d->c[i].name, name))
            return &d->c[i];
    return NULL;
}

/* As a server keeps it: `_id` first. */
static bson_t *
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

static struct docs
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

/* A folder of db.coll.jsonl and db.coll.metadata.json. */
static struct data
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
            coll_of(all, db, name)->meta = from_json(slurp(file, &n), file);
        } else if (ends(name, ".bson")) {
            name[strlen(name) - 5] = 0;
            coll_of(all, db, name)->docs = read_bson(file);
        }
    }
    if (d)
        closedir(d);
}

static struct data
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

static bool
is_view(const struct coll *c)
{
    return *text_at(part(c->meta, "options"), "viewOn") != 0;
}

static void
to_dump(const struct data *all, const char *folder)
{
    mkdir(folder, 0777);
    for (size_t i = 0; i < all->n; i++) {
        const struct coll *c = &all->c[i];
        const char *json = c->meta ? bson_as_canonical_extended_json(c->meta, NULL)
                                   : text("{\"indexes\":[{\"v\":2,\"key\":{\"_id\":1},\"name\":\"_id_\"}],"
                                          "\"collectionName\":\"%s\",\"type\":\"collection\"}", c->name);
        char *base = text("%s/%s/%s", folder, c->db, c->name);
        mkdir(text("%s/%s", folder, c->db), 0777);
        put_file(text("%s.metadata.json", base), json, strlen(json), "wb");
        if (!is_view(c))
            put_file(text("%s.bson", base), "", 0, "wb");
        for (size_t k = 0; k < c->docs.n; k++)
            put_file(text("%s.bson", base), bson_get_data(c->docs.d[k]), c->docs.d[k]->len, "ab");
    }
}

/* ---- the server ---- */
static mongoc_client_t *client;

/* Whether the server did it; what it said else. */
static bool
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

static struct data
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
static char **
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

/* ---- load ---- */
/* Servers remove what expires when they like: indexes that do that get so many seconds more. */
enum { LATER = 2000000000 };

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

static bool
same_bytes(const bson_t *a, const bson_t *b)
{
    return a->len == b->len && !memcmp(bson_get_data(a), bson_get_data(b), a->len);
}

/* Documents that only one of two lists holds are told; false if there are any. */
static bool
same_sets(const char *what, const struct docs *want, const struct docs *got)
{
    bool *taken = calloc(got->n + 1, sizeof *taken), ok = true;
    for (size_t i = 0; i < want->n; i++) {
        size_t at = 0;
        while (at < got->n && (taken[at] || !same_bytes(want->d[i], got->d[at])))
            at++;
        taken[at] = true;
        if (at == got->n) {
            printf("    %s: wanted %s\n", what, show(want->d[i]));
            ok = false;
        }
    }
    for (size_t i = 0; i < got->n; i++)
        if (!taken[i]) {
            printf("    %s: got    %s\n", what, show(got->d[i]));
            ok = false;
        }
    free(taken);
    return ok;
}

/* The first document that the server does not give back as it got it. */
static const char *
not_held(const struct coll *want, const struct coll *got)
{
    for (size_t i = 0; i < want->docs.n; i++) {
        size_t at = 0;
        while (at < got->docs.n && !same_bytes(want->docs.d[i], got->docs.d[at]))
            at++;
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

/* ---- what is wanted ---- */
struct refused { /* one that the offline tool refused */
    char *db, *name;
    int64_t step;
    bson_t *doc;
};

/* What a collection is called at the end that has this name at a step: `rename_collection` as cases write it. */
static char *
last_name(const char *folder, int64_t step, char *name)
{
    size_t n;
    int64_t at = 0;
    char from[64], into[64], *save = NULL, *all = slurp(text("%s/plan.yaml", folder), &n);
    for (char *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        at += !strncmp(line, "  - ", 4);
        if (at > step && sscanf(line, "  - rename_collection: { from: %63[^, ], into: %63[^ }]", from, into) == 2 &&
            !strcmp(from, name))
            name = strdup(into);
    }
    return name;
}

static struct refused *
read_refused(const char *work, size_t *n)
{
    struct docs l = read_bson(text("%s/expect.refused.bson", work));
    struct refused *r = more(NULL, l.n + 1, sizeof *r);
    *n = l.n;
    for (size_t i = 0; i < l.n; i++) {
        bson_iter_t it;
        r[i].db = strdup(text_at(l.d[i], "ns"));
        r[i].name = strchr(r[i].db, '.') + 1;
        r[i].name[-1] = 0;
        r[i].step = bson_iter_init_find(&it, l.d[i], "step") ? bson_iter_as_int64(&it) : -1;
        r[i].doc = part(l.d[i], "doc");
    }
    return r;
}

/* Whether two documents have one `_id` for a server: numbers by their value, anything else by its bytes. */
static bool
same_id(const bson_t *a, const bson_t *b)
{
    bson_iter_t x, y;
    bson_t one = BSON_INITIALIZER, two = BSON_INITIALIZER;
    if (!bson_iter_init_find(&x, a, "_id") || !bson_iter_init_find(&y, b, "_id"))
        return false;
    if (BSON_ITER_HOLDS_NUMBER(&x) && BSON_ITER_HOLDS_NUMBER(&y))
        return bson_iter_as_double(&x) == bson_iter_as_double(&y);
    bson_append_iter(&one, "", 0, &x);
    bson_append_iter(&two, "", 0, &y);
    return same_bytes(&one, &two);
}

static bson_t *
with_id_of(const struct coll *c, const bson_t *doc)
{
    for (size_t i = 0; c && i < c->docs.n; i++)
        if (same_id(c->docs.d[i], doc))
            return c->docs.d[i];
    return NULL;
}

/* Beside writers one group of steps after the other is added: a refused document stays as it was at first or, where an
 * earlier group gave it something, as it was refused. */
static bson_t *
stays_as(const struct refused *r, const struct data *before, const struct docs *there)
{
    bson_t *first = before ? with_id_of(find_coll(before, r->db, r->name), r->doc) : NULL;
    for (size_t i = 0; first && i < there->n; i++)
        if (same_bytes(there->d[i], first))
            return first;
    return r->doc;
}

/* Adds refused documents to where they stay: as they were refused or, beside writers (before, got), as said above.
 * False where one of them has the `_id` of another document. */
static bool
add_refused(struct data *want, const struct data *before, const struct data *got, const char *folder, const char *work)
{
    static const struct docs none = {NULL, 0};
    size_t n;
    struct refused *r = read_refused(work, &n);
    for (size_t i = 0; i < n; i++) {
        const char *name = last_name(folder, r[i].step, r[i].name);
        struct coll *c = coll_of(want, r[i].db, name), *g = got ? find_coll(got, r[i].db, name) : NULL;
        bson_t *stays = stays_as(&r[i], before, g ? &g->docs : &none), *other = with_id_of(c, stays);
        if (!other)
            push(&c->docs, stays);
        else if (!same_bytes(other, stays))
            return false;
    }
    return true;
}

static int
wants(const char *folder, const char *work)
{
    struct data want = from_dump(text("%s/expect", work));
    puts(add_refused(&want, NULL, NULL, folder, work) ? "as-offline" : "refusal");
    return 0;
}

/* ---- check ---- */
static bool alike(const bson_t *a, const bson_t *b, bool ordered);

/* Values of specifications: numbers by what they are worth. */
static bool
alike_values(const bson_iter_t *x, const bson_iter_t *y)
{
    bson_t one = BSON_INITIALIZER, two = BSON_INITIALIZER;
    if (BSON_ITER_HOLDS_NUMBER(x) && BSON_ITER_HOLDS_NUMBER(y)) {
        double apart = bson_iter_as_double(x) - bson_iter_as_double(y);
        return apart == 0 || (!strcmp(bson_iter_key(x), "expireAfterSeconds") && (apart == LATER || apart == -LATER));
    }
    bson_append_iter(&one, "", 0, x);
    bson_append_iter(&two, "", 0, y);
    if (bson_iter_type(x) == bson_iter_type(y) && (BSON_ITER_HOLDS_DOCUMENT(x) || BSON_ITER_HOLDS_ARRAY(x)))
        return alike(part(&one, ""), part(&two, ""), true);
    return same_bytes(&one, &two);
}

/* What servers write of themselves is as good as absent. */
static bool
is_default(const bson_iter_t *it)
{
    static const char *const names[] = {"v", "ns", "background", "validationLevel", "validationAction"};
    bson_t one = BSON_INITIALIZER;
    bson_append_iter(&one, "", 0, it);
    if (!strcmp(bson_iter_key(it), "validator"))
        return part(&one, "")->len == 5; /* taken away */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(bson_iter_key(it), names[i]))
            return i < 3 || !strcmp(bson_iter_utf8(it, NULL), i == 3 ? "strict" : "error");
    return false;
}

static bool
alike(const bson_t *a, const bson_t *b, bool ordered)
{
    const bson_t *side[2] = {a, b};
    bson_iter_t x, y;
    for (int i = 0; i < 2 && !ordered; i++) {
        bson_iter_init(&x, side[i]);
        while (bson_iter_next(&x))
            if (!is_default(&x) &&
                (!bson_iter_init_find(&y, side[!i], bson_iter_key(&x)) || !alike_values(&x, &y)))
                return false;
    }
    if (!ordered)
        return true;
    bson_iter_init(&x, a);
    bson_iter_init(&y, b);
    while (bson_iter_next(&x))
        if (!bson_iter_next(&y) || strcmp(bson_iter_key(&x), bson_iter_key(&y)) || !alike_values(&x, &y))
            return false;
    return !bson_iter_next(&y);
}

static bson_t *
index_named(const bson_t *indexes, const char *name)
{
    bson_iter_t it;
    bson_iter_init(&it, indexes);
    while (bson_iter_next(&it)) {
        bson_t *spec = part(indexes, bson_iter_key(&it));
        if (!strcmp(text_at(spec, "name"), name))
            return spec;
    }
    return NULL;
}

/* Every index of one is the same in the other; called both ways. */
static bool
same_indexes(const char *what, const bson_t *want, const bson_t *got, const char *word)
{
    bson_iter_t it;
    bool ok = true;
    bson_iter_init(&it, want);
    while (bson_iter_next(&it)) {
        bson_t *spec = part(want, bson_iter_key(&it)), *other = index_named(got, text_at(spec, "name"));
        if (!other || !alike(spec, other, false)) {
            printf("    %s: %s index %s, not %s\n", what, word, show(spec), show(other));
            ok = false;
        }
    }
    return ok;
}

/* partial: what is not said of a collection is not compared. */
static bool
same_meta(const char *what, const bson_t *want, const bson_t *got, bool partial)
{
    bool ok = true;
    if (bson_has_field(want, "indexes"))
        ok = same_indexes(what, part(want, "indexes"), part(got, "indexes"), "wanted") &&
             same_indexes(what, part(got, "indexes"), part(want, "indexes"), "got");
    if ((!partial || bson_has_field(want, "options")) && !alike(part(want, "options"), part(got, "options"), false)) {
        printf("    %s: wanted options %s\n    %s: got    options %s\n", what, show(part(want, "options")), what,
               show(part(got, "options")));
        ok = false;
    }
    return ok;
}

static bool
same_data(const struct data *want, const struct data *got, bool partial)
{
    bool ok = true;
    for (size_t i = 0; i < want->n; i++) {
        const struct coll *w = &want->c[i], *g = find_coll(got, w->db, w->name);
        const char *what = text("%s.%s", w->db, w->name);
        if (!g) {
            printf("    %s is missing\n", what);
            ok = false;
            continue;
        }
        for (size_t k = 0; k < w->docs.n; k++)
            w->docs.d[k] = stored(w->docs.d[k]);
        ok &= same_sets(what, &w->docs, &g->docs);
        if (w->meta)
            ok &= same_meta(what, w->meta, g->meta, partial);
    }
    for (size_t i = 0; i < got->n; i++)
        if (!find_coll(want, got->c[i].db, got->c[i].name) && !is_view(&got->c[i])) {
            printf("    %s.%s is there and should not be\n", got->c[i].db, got->c[i].name);
            ok = false;
        }
    return ok;
}

/* Documents of the records in the state database: {_id: {run, step, ns, id}, reason, doc: BinData}. */
static struct docs
recorded(const struct data *state)
{
    const struct coll *c = find_coll(state, STATE, "refused");
    struct docs l = {NULL, 0};
    for (size_t i = 0; c && i < c->docs.n; i++) {
        bson_iter_t it;
        const uint8_t *p;
        uint32_t len;
        bson_t *doc = bson_new();
        if (bson_iter_init_find(&it, c->docs.d[i], "doc") && BSON_ITER_HOLDS_BINARY(&it)) {
            bson_iter_binary(&it, NULL, &len, &p);
            doc = bson_new_from_data(p, len);
        }
        push(&l, doc);
    }
    return l;
}

static bson_t *
record(const char *ns, int64_t step, const bson_t *doc)
{
    return BCON_NEW("ns", BCON_UTF8(ns), "step", BCON_INT64(step), "doc", BCON_DOCUMENT(doc));
}

/* Each refused document is recorded, once. */
static bool
same_records(const struct data *state, const struct data *before, const char *work)
{
    const struct coll *c = find_coll(state, STATE, "refused");
    struct docs want = {NULL, 0}, got = {NULL, 0}, docs = recorded(state);
    size_t n;
    struct refused *r = read_refused(work, &n);
    for (size_t i = 0; i < n; i++) {
        push(&want, record(text("%s.%s", r[i].db, r[i].name), r[i].step, stays_as(&r[i], before, &docs)));
        for (size_t k = 0; k + 1 < want.n; k++)
            if (same_bytes(want.d[k], want.d[want.n - 1])) {
                want.n--;
                break;
            }
    }
    for (size_t i = 0; i < docs.n; i++) {
        bson_t *id = part(c->docs.d[i], "_id");
        bson_iter_t step;
        push(&got, record(text_at(id, "ns"), bson_iter_init_find(&step, id, "step") ? bson_iter_as_int64(&step) : -1,
                          docs.d[i]));
        if (!*text_at(c->docs.d[i], "reason")) {
            printf("    a refused document without a reason: %s\n", show(c->docs.d[i]));
            return false;
        }
    }
    return same_sets("refused", &want, &got);
}

static bool
nothing_done(const char *folder, const char *work)
{
    size_t n;
    char **db = databases(folder, &n);
    struct data want = from_dump(text("%s/before", work)), got = from_server(db, n);
    return same_data(&want, &got, false);
}

static int
check(const char *folder, const char *work, const char *stage)
{
    size_t n;
    char **db = databases(folder, &n), *state_db[] = {STATE};
    bool live = !strcmp(stage, "live");
    if (!strcmp(stage, "before"))
        return nothing_done(folder, work) ? 0 : 1;
    if (!live && strcmp(stage, "quiet"))
        die("no such stage: %s", stage);
    struct data start = from_dump(text("%s/before", work)), *before = live ? &start : NULL;
    struct data expect = from_dump(text("%s/expect", work)), out = from_text(text("%s/out", folder));
    struct data got = from_server(db, n), state = from_server(state_db, 1);
    bool ok = add_refused(&expect, before, &got, folder, work) && same_data(&expect, &got, false);
    if (ok && !has_file(text("%s/reordered", work)))
        ok = add_refused(&out, before, &got, folder, work) && same_data(&out, &got, true);
    return same_records(&state, before, work) && ok ? 0 : 1;
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
    mongoc_init();
    mongoc_log_set_handler(NULL, NULL);
    client = uri ? mongoc_client_new(uri) : NULL;
    if (!client)
        die("MONGODB_URI names no server");
    if (argc == 4 && !strcmp(verb, "load"))
        status = load(argv[2], argv[3]);
    else if (argc == 5 && !strcmp(verb, "check"))
        status = check(argv[2], argv[3], argv[4]);
    else if (argc > 2 && !strcmp(verb, "foreign"))
        status = foreign(argv + 2, argc - 2);
    else if (argc > 2 && !strcmp(verb, "drop"))
        for (status = 0, n = 2; n < (size_t)argc; n++)
            drop(argv[n]);
    else
        die("usage: livetool load|wants|databases|drop|foreign|check CASE [WORK [STAGE]]");
    mongoc_client_destroy(client);
    mongoc_cleanup();
    return status;
}
