/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - what `make bench-live` needs beside the tool, on libmongoc: data, the loop that people write, native
 * pipelines, digests.
 *
 *   live load JOB N       database `bench` and the state database dropped, the data of a job for N documents put there
 *   live naive JOB        the job by a loop: a cursor over all, one look-up for 1,000 documents, bulks of 1,000
 *   live native JOB       the job by one pipeline that ends in $merge
 *   live digest COLL...   of each collection of `bench`: name, documents, sum of the digests of their bytes
 *   live stamp COMMAND..  runs the tool's test build; how often it passed pairs of named stops, and seconds in between
 *
 * Jobs: backfill (two fields of customers into N orders), embed (N comments into N / 4 posts), extract (the reverse),
 * remove (extract, and the old array goes). The server is the one of MONGODB_URI. The loop has no guard, no checkpoint
 * and no second look: whoever writes beside it or kills it loses. */
#include "clock.h"
#include <errno.h>
#include <fcntl.h>
#include <mongoc/mongoc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

enum { BULK = 1000, CUSTOMERS = 1000, CHILDREN = 4 };

static mongoc_client_t *client;
static mongoc_database_t *db;

static void
die(const char *what, const char *why)
{
    fprintf(stderr, "live: %s: %s\n", what, why);
    exit(2);
}

static void
need(bool good, const char *what, const bson_error_t *e)
{
    if (!good) {
        die(what, e->message);
    }
}

static mongoc_collection_t *
coll(const char *name)
{
    return mongoc_database_get_collection(db, name);
}

/* ---- data: the same for the same N ---- */
static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t
below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((((state * 0x2545f4914f6cdd1du) >> 32) * n) >> 32);
}

/* As a driver makes them: seconds, five bytes of the process, a counter; in ascending order. */
static bson_oid_t
oid(uint8_t kind, uint32_t i)
{
    uint32_t t = 1700000000u + i / 100;
    bson_oid_t o = {{(uint8_t)(t >> 24), (uint8_t)(t >> 16), (uint8_t)(t >> 8), (uint8_t)t, 0x7b, 0x21, kind, 0xc4,
                     0x0e, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i}};
    return o;
}

static void
put_prose(bson_t *d, const char *name, uint32_t n)
{
    static const char words[] = "the order was sent with care and came back after a week of rain and long roads ";
    char text[512];
    for (uint32_t i = 0, at = below(40); i < n; i++) {
        text[i] = words[at];
        at = at + 1 < sizeof words - 1 ? at + 1 : 0;
    }
    bson_append_utf8(d, name, -1, text, (int)n);
}

static void
customer(bson_t *d, uint32_t i)
{
    char name[32];
    snprintf(name, sizeof name, "Customer %u", i);
    BSON_APPEND_INT32(d, "_id", (int32_t)i);
    BSON_APPEND_UTF8(d, "name", name);
    BSON_APPEND_UTF8(d, "segment", i % 3 ? "retail" : "wholesale");
    put_prose(d, "address", 40 + below(40));
}

static void
order(bson_t *d, uint32_t i)
{
    bson_oid_t id = oid(1, i);
    BSON_APPEND_OID(d, "_id", &id);
    BSON_APPEND_INT32(d, "customer", (int32_t)below(CUSTOMERS));
    BSON_APPEND_DATE_TIME(d, "created", 1700000000000 + (int64_t)i * 10);
    BSON_APPEND_DOUBLE(d, "amount", below(100000) / 100.0);
    put_prose(d, "note", 60 + below(80));
}

static void
post_body(bson_t *d, uint32_t i)
{
    bson_oid_t id = oid(2, i);
    BSON_APPEND_OID(d, "_id", &id);
    put_prose(d, "title", 20 + below(30));
    BSON_APPEND_DATE_TIME(d, "created", 1700000000000 + (int64_t)i * 40);
    put_prose(d, "body", 150 + below(200));
}

static void
comment_rest(bson_t *d, uint32_t i)
{
    BSON_APPEND_DATE_TIME(d, "created", 1700000000000 + (int64_t)i * 10);
    put_prose(d, "text", 40 + below(100));
    BSON_APPEND_INT32(d, "likes", (int32_t)below(500));
}

static uint32_t n_posts;

/* The comments of a post lie scattered: every post is named once in each quarter of them. */
static void
comment(bson_t *d, uint32_t i)
{
    bson_oid_t id = oid(3, i), post = oid(2, (uint32_t)((i % n_posts * 2654435761ull + i / n_posts * 977) % n_posts));
    BSON_APPEND_OID(d, "_id", &id);
    BSON_APPEND_OID(d, "postId", &post);
    comment_rest(d, i);
}

static void
full_post(bson_t *d, uint32_t i)
{
    bson_t list, one;
    post_body(d, i);
    BSON_APPEND_ARRAY_BEGIN(d, "comments", &list);
    for (uint32_t k = 0; k < CHILDREN; k++) {
        const char index[2] = {(char)('0' + k), 0};
        bson_oid_t id = oid(3, i * CHILDREN + k);
        BSON_APPEND_DOCUMENT_BEGIN(&list, index, &one);
        BSON_APPEND_OID(&one, "_id", &id);
        comment_rest(&one, i * CHILDREN + k);
        bson_append_document_end(&list, &one);
    }
    bson_append_array_end(d, &list);
}

/* ---- bulks ---- */
struct bulk {
    mongoc_collection_t *coll;
    mongoc_bulk_operation_t *op;
    uint32_t n;
};

static void
bulk_send(struct bulk *b)
{
    bson_error_t e;
    if (b->n) {
        need(mongoc_bulk_operation_execute(b->op, NULL, &e) != 0, "bulk", &e);
    }
    if (b->op) {
        mongoc_bulk_operation_destroy(b->op);
    }
    b->op = NULL;
    b->n = 0;
}

static mongoc_bulk_operation_t *
bulk_next(struct bulk *b)
{
    if (b->n == BULK) {
        bulk_send(b);
    }
    if (!b->op) {
        bson_t *opts = BCON_NEW("ordered", BCON_BOOL(false));
        b->op = mongoc_collection_create_bulk_operation_with_opts(b->coll, opts);
        bson_destroy(opts);
    }
    b->n++;
    return b->op;
}

static void
bulk_insert(struct bulk *b, const bson_t *d)
{
    mongoc_bulk_operation_insert(bulk_next(b), d);
}

static void
bulk_update(struct bulk *b, const bson_value_t *id, const bson_t *update)
{
    bson_error_t e;
    bson_t filter = BSON_INITIALIZER;
    BSON_APPEND_VALUE(&filter, "_id", id);
    need(mongoc_bulk_operation_update_one_with_opts(bulk_next(b), &filter, update, NULL, &e), "update", &e);
    bson_destroy(&filter);
}

static void
bulk_close(struct bulk *b)
{
    bulk_send(b);
    mongoc_collection_destroy(b->coll);
}

static void
fill(const char *name, uint32_t n, void (*make)(bson_t *, uint32_t))
{
    struct bulk b = {.coll = coll(name)};
    for (uint32_t i = 0; i < n; i++) {
        bson_t d = BSON_INITIALIZER;
        make(&d, i);
        bulk_insert(&b, &d);
        bson_destroy(&d);
    }
    bulk_close(&b);
}

static void
command(const bson_t *cmd)
{
    bson_error_t e;
    need(mongoc_database_write_command_with_opts(db, cmd, NULL, NULL, &e), "command", &e);
}

static void
drop(const char *name)
{
    bson_error_t e;
    mongoc_database_t *old = mongoc_client_get_database(client, name);
    need(mongoc_database_drop(old, &e), "drop", &e);
    mongoc_database_destroy(old);
}

static void
load(const char *job, uint32_t n)
{
    drop("bench");
    drop("__mdb_internal_mongoreshape");
    n_posts = n / CHILDREN;
    if (strcmp(job, "backfill") == 0) {
        fill("customers", CUSTOMERS, customer);
        fill("orders", n, order);
    } else if (strcmp(job, "embed") == 0) {
        fill("posts", n_posts, post_body);
        fill("comments", n_posts * CHILDREN, comment);
        bson_t *index = BCON_NEW("createIndexes", "comments", "indexes", "[", "{", "key", "{", "postId", BCON_INT32(1),
                                 "}", "name", "postId_1", "}", "]");
        command(index);
        bson_destroy(index);
    } else {
        fill("posts", n_posts, full_post);
    }
}

/* ---- the loop ---- */
struct found { /* documents that a look-up gave, by a field */
    bson_t **d;
    size_t n, cap;
    const char *field;
};
struct todo { /* documents of the cursor that are looked up together */
    bson_t *d[BULK];
    uint32_t n;
};

static bson_value_t
value(const bson_t *d, const char *name)
{
    bson_iter_t it;
    if (!bson_iter_init_find(&it, d, name)) {
        die(name, "is missing");
    }
    return *bson_iter_value(&it);
}

/* Keys of the jobs are int32 or ObjectIds. */
static int
compare_keys(const bson_value_t *a, const bson_value_t *b)
{
    if (a->value_type == BSON_TYPE_INT32) {
        return (a->value.v_int32 > b->value.v_int32) - (a->value.v_int32 < b->value.v_int32);
    }
    return bson_oid_compare(&a->value.v_oid, &b->value.v_oid);
}

static int
by_field(const void *a, const void *b, void *field)
{
    const char *const names[2] = {field, "_id"};
    int c = 0;
    for (int i = 0; i < 2 && c == 0; i++) {
        bson_value_t x = value(*(bson_t *const *)a, names[i]), y = value(*(bson_t *const *)b, names[i]);
        c = compare_keys(&x, &y);
    }
    return c;
}

static void
found_clear(struct found *f)
{
    for (size_t i = 0; i < f->n; i++) {
        bson_destroy(f->d[i]);
    }
    f->n = 0;
}

/* All documents of `from` whose field is the key of one of todo, by field, then `_id`. */
static void
look_up(mongoc_collection_t *from, const struct todo *t, const char *key, struct found *f)
{
    bson_t filter = BSON_INITIALIZER, in, list;
    bson_error_t e;
    const bson_t *d;
    char index[16];
    BSON_APPEND_DOCUMENT_BEGIN(&filter, f->field, &in);
    BSON_APPEND_ARRAY_BEGIN(&in, "$in", &list);
    for (uint32_t i = 0; i < t->n; i++) {
        bson_value_t v = value(t->d[i], key);
        snprintf(index, sizeof index, "%u", i);
        BSON_APPEND_VALUE(&list, index, &v);
    }
    bson_append_array_end(&in, &list);
    bson_append_document_end(&filter, &in);
    mongoc_cursor_t *c = mongoc_collection_find_with_opts(from, &filter, NULL, NULL);
    found_clear(f);
    while (mongoc_cursor_next(c, &d)) {
        if (f->n == f->cap) {
            f->cap = f->cap ? f->cap * 2 : 1024;
            f->d = realloc(f->d, f->cap * sizeof(bson_t *));
            if (!f->d) {
                die("find", "out of memory");
            }
        }
        f->d[f->n++] = bson_copy(d);
    }
    need(!mongoc_cursor_error(c, &e), "find", &e);
    mongoc_cursor_destroy(c);
    bson_destroy(&filter);
    qsort_r(f->d, f->n, sizeof(bson_t *), by_field, (void *)f->field);
}

/* The first of those with this key, or f->n. */
static size_t
first_of(const struct found *f, const bson_value_t *key)
{
    size_t lo = 0, hi = f->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        bson_value_t v = value(f->d[mid], f->field);
        if (compare_keys(&v, key) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static bool
is_key(const struct found *f, size_t at, const bson_value_t *key)
{
    if (at >= f->n) {
        return false;
    }
    bson_value_t v = value(f->d[at], f->field);
    return compare_keys(&v, key) == 0;
}

static void
backfill_update(const struct found *f, const bson_t *d, struct bulk *out)
{
    bson_value_t key = value(d, "customer"), id = value(d, "_id");
    size_t at = first_of(f, &key);
    bson_t update = BSON_INITIALIZER, set;
    if (is_key(f, at, &key)) {
        bson_value_t name = value(f->d[at], "name"), segment = value(f->d[at], "segment");
        BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
        BSON_APPEND_VALUE(&set, "customerName", &name);
        BSON_APPEND_VALUE(&set, "customerSegment", &segment);
        bson_append_document_end(&update, &set);
        bulk_update(out, &id, &update);
    }
    bson_destroy(&update);
}

static void
embed_update(const struct found *f, const bson_t *d, struct bulk *out)
{
    bson_value_t id = value(d, "_id");
    bson_t update = BSON_INITIALIZER, set, list;
    char index[16];
    uint32_t n = 0;
    BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
    BSON_APPEND_ARRAY_BEGIN(&set, "comments", &list);
    for (size_t at = first_of(f, &id); is_key(f, at, &id); at++) {
        bson_t one = BSON_INITIALIZER;
        bson_copy_to_excluding_noinit(f->d[at], &one, "postId", NULL);
        snprintf(index, sizeof index, "%u", n++);
        BSON_APPEND_DOCUMENT(&list, index, &one);
        bson_destroy(&one);
    }
    bson_append_array_end(&set, &list);
    bson_append_document_end(&update, &set);
    bulk_update(out, &id, &update);
    bson_destroy(&update);
}

static void
look_up_all(const char *job, mongoc_collection_t *from, struct todo *t, struct found *f, struct bulk *out)
{
    bool backfill = strcmp(job, "backfill") == 0;
    look_up(from, t, backfill ? "customer" : "_id", f);
    for (uint32_t i = 0; i < t->n; i++) {
        (backfill ? backfill_update : embed_update)(f, t->d[i], out);
        bson_destroy(t->d[i]);
    }
    t->n = 0;
}

static mongoc_cursor_t *
all_of(mongoc_collection_t *c)
{
    bson_t none = BSON_INITIALIZER;
    mongoc_cursor_t *cur = mongoc_collection_find_with_opts(c, &none, NULL, NULL);
    bson_destroy(&none);
    return cur;
}

static void
naive_join(const char *job)
{
    bool backfill = strcmp(job, "backfill") == 0;
    struct todo t = {.n = 0};
    struct found f = {.field = backfill ? "_id" : "postId"};
    mongoc_collection_t *in = coll(backfill ? "orders" : "posts"), *from = coll(backfill ? "customers" : "comments");
    struct bulk out = {.coll = coll(backfill ? "orders" : "posts")};
    mongoc_cursor_t *c = all_of(in);
    const bson_t *d;
    bson_error_t e;
    while (mongoc_cursor_next(c, &d)) {
        t.d[t.n++] = bson_copy(d);
        if (t.n == BULK) {
            look_up_all(job, from, &t, &f, &out);
        }
    }
    need(!mongoc_cursor_error(c, &e), "find", &e);
    if (t.n) {
        look_up_all(job, from, &t, &f, &out);
    }
    bulk_close(&out);
    mongoc_cursor_destroy(c);
    found_clear(&f);
    free(f.d);
    mongoc_collection_destroy(in);
    mongoc_collection_destroy(from);
}

/* A child for each element; the parent's key first behind its `_id`. */
static void
put_children(const bson_t *post, struct bulk *out)
{
    bson_iter_t it, list, field;
    bson_value_t post_id = value(post, "_id");
    if (!bson_iter_init_find(&it, post, "comments") || !bson_iter_recurse(&it, &list)) {
        return;
    }
    while (bson_iter_next(&list)) {
        bson_t d = BSON_INITIALIZER;
        if (!bson_iter_recurse(&list, &field)) {
            die("comments", "holds no documents");
        }
        for (int n = 0; bson_iter_next(&field); n++) {
            BSON_APPEND_VALUE(&d, bson_iter_key(&field), bson_iter_value(&field));
            if (n == 0) {
                BSON_APPEND_VALUE(&d, "postId", &post_id);
            }
        }
        bulk_insert(out, &d);
        bson_destroy(&d);
    }
}

static void
naive_extract(bool remove)
{
    mongoc_collection_t *in = coll("posts");
    struct bulk out = {.coll = coll("comments")}, less = {.coll = coll("posts")};
    mongoc_cursor_t *c = all_of(in);
    const bson_t *d;
    bson_error_t e;
    bson_t *unset = BCON_NEW("$unset", "{", "comments", BCON_INT32(1), "}");
    while (mongoc_cursor_next(c, &d)) {
        bson_value_t id = value(d, "_id");
        put_children(d, &out);
        if (remove) {
            if (less.n == BULK) { /* never before its children */
                bulk_send(&out);
            }
            bulk_update(&less, &id, unset);
        }
    }
    need(!mongoc_cursor_error(c, &e), "find", &e);
    bulk_close(&out);
    bulk_close(&less);
    bson_destroy(unset);
    mongoc_cursor_destroy(c);
    mongoc_collection_destroy(in);
}

/* ---- native ---- */
static void
native(const char *job)
{
    static const char backfill[] =
        "[{'$lookup':{'from':'customers','localField':'customer','foreignField':'_id','as':'c'}},{'$unwind':'$c'},"
        "{'$project':{'customerName':'$c.name','customerSegment':'$c.segment'}},"
        "{'$merge':{'into':'orders','on':'_id','whenMatched':'merge','whenNotMatched':'discard'}}]";
    static const char embed[] =
        "[{'$lookup':{'from':'comments','localField':'_id','foreignField':'postId','as':'comments'}},"
        "{'$project':{'comments':{'$map':{'input':{'$sortArray':{'input':'$comments','sortBy':{'_id':1}}},'as':'c',"
        "'in':{'_id':'$$c._id','created':'$$c.created','text':'$$c.text','likes':'$$c.likes'}}}}},"
        "{'$merge':{'into':'posts','on':'_id','whenMatched':'merge','whenNotMatched':'discard'}}]";
    static const char extract[] =
        "[{'$unwind':'$comments'},{'$replaceWith':{'$mergeObjects':[{'_id':'$comments._id','postId':'$_id'},"
        "'$comments']}},{'$merge':{'into':'comments','on':'_id','whenMatched':'fail','whenNotMatched':'insert'}}]";
    bool first = strcmp(job, "backfill") == 0, second = strcmp(job, "embed") == 0;
    char *text = strdup(first ? backfill : second ? embed : extract);
    for (char *p = text; p && *p; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    bson_error_t e;
    const bson_t *d;
    bson_t *pipeline = bson_new_from_json((uint8_t *)text, -1, &e);
    need(pipeline != NULL, "pipeline", &e);
    mongoc_collection_t *in = coll(first ? "orders" : "posts");
    mongoc_cursor_t *c = mongoc_collection_aggregate(in, MONGOC_QUERY_NONE, pipeline, NULL, NULL);
    while (mongoc_cursor_next(c, &d)) {
    }
    need(!mongoc_cursor_error(c, &e), "aggregate", &e);
    mongoc_cursor_destroy(c);
    mongoc_collection_destroy(in);
    bson_destroy(pipeline);
    free(text);
}

/* ---- what is there ---- */
static void
digest(const char *name)
{
    mongoc_collection_t *in = coll(name);
    mongoc_cursor_t *c = all_of(in);
    const bson_t *d;
    bson_error_t e;
    uint64_t n = 0, lo = 0, hi = 0;
    for (; mongoc_cursor_next(c, &d); n++) {
        XXH128_hash_t h = XXH3_128bits(bson_get_data(d), d->len);
        lo += h.low64;
        hi += h.high64;
    }
    need(!mongoc_cursor_error(c, &e), "find", &e);
    printf("%s %llu %016llx%016llx\n", name, (unsigned long long)n, (unsigned long long)hi, (unsigned long long)lo);
    mongoc_cursor_destroy(c);
    mongoc_collection_destroy(in);
}

/* ---- time between named stops ---- */
enum { PAIRS_MAX = 64 };
struct pairs { /* of stops named before-X and after-X */
    struct {
        char what[64];
        double since, sum;
        uint32_t n;
    } p[PAIRS_MAX];
    uint32_t n;
};

static void
passed(const char *name, double at, struct pairs *all)
{
    bool before = strncmp(name, "before-", 7) == 0;
    uint32_t i = 0;
    if (!before && strncmp(name, "after-", 6) != 0) {
        return;
    }
    name += before ? 7 : 6;
    while (i < all->n && strcmp(all->p[i].what, name) != 0) {
        i++;
    }
    if (i == PAIRS_MAX) {
        die(name, "is one name too many");
    }
    if (i == all->n) {
        snprintf(all->p[all->n++].what, sizeof all->p[i].what, "%s", name);
    }
    if (before) {
        all->p[i].since = at;
    } else if (all->p[i].since > 0) {
        all->p[i].sum += at - all->p[i].since;
        all->p[i].since = 0;
        all->p[i].n++;
    }
}

/* Each name comes through the pipe as it is passed, so the times are those of passing, a wake-up late. Returns the
 * status of the child. */
static int
read_stops(int fd, pid_t child, struct pairs *all)
{
    char room[65536];
    size_t have = 0;
    int status = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        if (poll(&p, 1, 20) == 0) {
            if (waitpid(child, &status, WNOHANG) == child) {
                return status;
            }
            continue;
        }
        ssize_t got = read(fd, room + have, sizeof room - have);
        double at = now();
        char *from = room, *end;
        have += got > 0 ? (size_t)got : 0;
        while ((end = memchr(from, '\n', have - (size_t)(from - room))) != NULL) {
            *end = 0;
            passed(from, at, all);
            from = end + 1;
        }
        have -= (size_t)(from - room);
        memmove(room, from, have);
    }
}

static void
start(char *const *argv, const char *pipe)
{
    setenv("MRS_STOP_LIST", pipe, 1);
    if (!freopen("/dev/null", "w", stdout)) {
        die("/dev/null", strerror(errno));
    }
    execv(argv[0], argv);
    die(argv[0], strerror(errno));
}

static int
stamp(char *const *argv)
{
    static struct pairs all;
    char name[64];
    int status = 0;
    snprintf(name, sizeof name, "/tmp/mongoreshape-bench.%ld", (long)getpid());
    if (mkfifo(name, 0600) != 0) {
        die(name, strerror(errno));
    }
    double begun = now();
    pid_t child = fork();
    if (child == 0) {
        start(argv, name);
    }
    int fd = child < 0 ? -1 : open(name, O_RDWR);
    if (fd < 0) {
        die(name, strerror(errno));
    }
    status = read_stops(fd, child, &all);
    unlink(name);
    printf("wall %.3f status %d\n", now() - begun, WIFEXITED(status) ? WEXITSTATUS(status) : 255);
    for (uint32_t i = 0; i < all.n; i++) {
        printf("%s %u %.3f\n", all.p[i].what, all.p[i].n, all.p[i].sum);
    }
    return 0;
}

static int
act(int argc, char **argv)
{
    const char *verb = argv[1];
    if (strcmp(verb, "load") == 0 && argc == 4) {
        load(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
    } else if (strcmp(verb, "naive") == 0 && argc == 3) {
        if (strcmp(argv[2], "backfill") == 0 || strcmp(argv[2], "embed") == 0) {
            naive_join(argv[2]);
        } else {
            naive_extract(strcmp(argv[2], "remove") == 0);
        }
    } else if (strcmp(verb, "native") == 0 && argc == 3) {
        native(argv[2]);
    } else if (strcmp(verb, "digest") == 0) {
        for (int i = 2; i < argc; i++) {
            digest(argv[i]);
        }
    } else {
        die("usage", "live load JOB N | naive JOB | native JOB | digest COLL... | stamp COMMAND...");
    }
    return 0;
}

int
main(int argc, char **argv)
{
    const char *uri = getenv("MONGODB_URI");
    if (argc < 3 || !uri) {
        die("usage", "with MONGODB_URI: live load|naive|native|digest|stamp ...");
    }
    if (strcmp(argv[1], "stamp") == 0) {
        return stamp(argv + 2);
    }
    mongoc_init();
    client = mongoc_client_new(uri);
    if (!client) {
        die(uri, "is no URI");
    }
    db = mongoc_client_get_database(client, "bench");
    int status = act(argc, argv);
    mongoc_database_destroy(db);
    mongoc_client_destroy(client);
    mongoc_cleanup();
    return status;
}
