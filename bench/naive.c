/* SPDX-License-Identifier: Apache-2.0 */
/* naive.c - the yardstick: what a competent programmer writes first, with libbson, in memory, in one thread.
 *
 * naive embed   POSTS COMMENTS OUT_POSTS      comments go into their posts, less postId; orphans are dropped
 * naive extract POSTS OUT_POSTS OUT_COMMENTS  and out of them again, with postId behind _id
 * naive copy    PRODUCTS PARTS OUT_PRODUCTS   a reference becomes {_id, name, price}
 * naive set     COMMENTS OUT_COMMENTS         a field `popular`: likes > 250
 * naive link    POSTS COMMENTS OUT_POSTS      the `_id`s of their comments go into the posts
 * naive rekey   POSTS COMMENTS OUT_POSTS OUT_COMMENTS   posts get other `_id`s, their comments follow
 * naive bucket  SENSORS OUT_HOURS             the readings of each sensor and hour in one document
 * naive rollup  SENSORS OUT_HOURS             how many they are, sum of rssi, least and greatest value
 * naive window  SENSORS OUT_READINGS          each reading with the sum of rssi up to it and the value before it
 * naive unbucket HOURS OUT_READINGS           the readings out of them again, with sensorId and new `_id`s
 *
 * It gives the same bytes as the tool, so it must keep the order of everything; it knows the fields and trusts the
 * data. It is for speed only: whether the steps are right is judged by tests/twin. */
#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static void
die(const char *what)
{
    fprintf(stderr, "naive: %s\n", what);
    exit(1);
}

static bson_reader_t *
reader(const char *path)
{
    bson_error_t e;
    bson_reader_t *r = bson_reader_new_from_file(path, &e);
    if (!r) {
        die(e.message);
    }
    return r;
}

static FILE *
writer(const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f) {
        die(path);
    }
    setvbuf(f, NULL, _IOFBF, 1 << 20);
    return f;
}

static void
put(FILE *f, const bson_t *b)
{
    if (fwrite(bson_get_data(b), 1, b->len, f) != b->len) {
        die("cannot write");
    }
}

static void
done(FILE *f)
{
    if (fclose(f) != 0) {
        die("cannot write");
    }
}

/* Another document in the place of each. */
static void
rewrite(const char *from, const char *to, void (*make)(const bson_t *b, bson_t *out))
{
    bson_reader_t *r = reader(from);
    FILE *f = writer(to);
    const bson_t *b;
    bson_t out;
    bson_init(&out);
    while ((b = bson_reader_read(r, NULL))) {
        bson_reinit(&out);
        make(b, &out);
        put(f, &out);
    }
    bson_reader_destroy(r);
    done(f);
}

/* ---- a table from ObjectId to anything: open addressing, doubled when 60 % full ---- */
struct slot {
    bson_oid_t key;
    void *value; /* NULL: free */
};

static struct {
    struct slot *slots;
    size_t cap, n;
} table;

static struct slot *
find(const bson_oid_t *key)
{
    uint64_t h;
    uint32_t tail;
    memcpy(&h, key->bytes, 8);
    memcpy(&tail, key->bytes + 8, 4);
    h = (h ^ (uint64_t)tail << 32) * 0x9e3779b97f4a7c15u;
    size_t i = (h ^ h >> 32) & (table.cap - 1);
    while (table.slots[i].value && !bson_oid_equal(&table.slots[i].key, key)) {
        i = (i + 1) & (table.cap - 1);
    }
    return &table.slots[i];
}

/* The slot of a key, new or not; the caller gives a new one its value. */
static struct slot *
find_or_add(const bson_oid_t *key)
{
    if (table.n * 10 >= table.cap * 6) {
        struct slot *old = table.slots;
        size_t n = table.cap;
        table.cap = n ? n * 2 : 1024;
        table.slots = calloc(table.cap, sizeof *table.slots);
        for (size_t i = 0; i < n; i++) {
            if (old[i].value) {
                *find(&old[i].key) = old[i];
            }
        }
        free(old);
    }
    struct slot *s = find(key);
    if (!s->value) {
        s->key = *key;
        table.n++;
    }
    return s;
}

/* ---- embed ---- */
struct child {
    struct child *next;
    bson_t *doc;
};

struct children {
    struct child *first, *last;
};

static void
read_children(const char *path)
{
    bson_reader_t *r = reader(path);
    const bson_t *b;
    bson_iter_t it;
    while ((b = bson_reader_read(r, NULL))) {
        if (!bson_iter_init_find(&it, b, "postId")) {
            continue;
        }
        struct slot *s = find_or_add(bson_iter_oid(&it));
        if (!s->value) {
            s->value = calloc(1, sizeof(struct children));
        }
        struct children *all = s->value;
        struct child *c = malloc(sizeof *c);
        c->next = NULL;
        c->doc = bson_new();
        bson_copy_to_excluding_noinit(b, c->doc, "postId", NULL);
        if (all->last) {
            all->last->next = c;
        } else {
            all->first = c;
        }
        all->last = c;
    }
    bson_reader_destroy(r);
}

/* A post with an array of what the table holds for it. */
static void
add_comments(const bson_t *b, bson_t *out, void (*append)(bson_t *array, const void *all))
{
    bson_iter_t it;
    bson_t array;
    bson_concat(out, b);
    bson_append_array_begin(out, "comments", 8, &array);
    if (bson_iter_init_find(&it, b, "_id") && table.cap) {
        const void *all = find(bson_iter_oid(&it))->value;
        if (all) {
            append(&array, all);
        }
    }
    bson_append_array_end(out, &array);
}

static void
append_children(bson_t *array, const void *p)
{
    const struct children *all = p;
    uint32_t i = 0;
    for (const struct child *c = all->first; c; c = c->next) {
        char room[16];
        const char *key;
        size_t n = bson_uint32_to_string(i++, &key, room, sizeof room);
        bson_append_document(array, key, (int)n, c->doc);
    }
}

static void
embed_one(const bson_t *b, bson_t *out)
{
    add_comments(b, out, append_children);
}

static void
embed(const char *posts, const char *comments, const char *out_posts)
{
    read_children(comments);
    rewrite(posts, out_posts, embed_one);
}

/* ---- extract ---- */
/* Each comment begins with its _id, an ObjectId: postId goes behind it, the rest is copied as it is. That is cheaper
 * than appending field by field. */
static void
extract_comments(FILE *f, bson_iter_t *array, const bson_oid_t *post)
{
    enum { ID = 1 + 4 + 12, REF = 1 + 7 + 12 };
    uint8_t front[4 + ID + REF] = {0};
    memcpy(front + 4 + ID, "\x07postId", 8);
    memcpy(front + 4 + ID + 8, post->bytes, 12);
    while (bson_iter_next(array)) {
        const uint8_t *bytes;
        uint32_t n;
        bson_iter_document(array, &n, &bytes);
        uint32_t longer = BSON_UINT32_TO_LE(n + REF);
        memcpy(front, &longer, 4);
        memcpy(front + 4, bytes + 4, ID);
        if (fwrite(front, 1, sizeof front, f) != sizeof front ||
            fwrite(bytes + 4 + ID, 1, n - 4 - ID, f) != n - 4 - ID) {
            die("cannot write");
        }
    }
}

static void
extract(const char *posts, const char *out_posts, const char *out_comments)
{
    bson_reader_t *r = reader(posts);
    FILE *fp = writer(out_posts), *fc = writer(out_comments);
    const bson_t *b;
    bson_iter_t id, it, array;
    bson_t out;
    bson_init(&out);
    while ((b = bson_reader_read(r, NULL))) {
        if (!bson_iter_init_find(&it, b, "comments") || !bson_iter_recurse(&it, &array) || !bson_iter_next(&array)) {
            put(fp, b); /* nothing to take out: stays as it is */
            continue;
        }
        bson_reinit(&out);
        bson_copy_to_excluding_noinit(b, &out, "comments", NULL);
        put(fp, &out);
        if (!bson_iter_init_find(&id, b, "_id")) {
            die("a post without _id");
        }
        bson_iter_recurse(&it, &array);
        extract_comments(fc, &array, bson_iter_oid(&id));
    }
    bson_reader_destroy(r);
    done(fp);
    done(fc);
}

/* ---- copy ---- */
static void
read_parts(const char *path)
{
    bson_reader_t *r = reader(path);
    const bson_t *b;
    bson_iter_t it;
    while ((b = bson_reader_read(r, NULL))) {
        bson_t *d = bson_new();
        bson_oid_t key = {{0}};
        bson_iter_init(&it, b);
        while (bson_iter_next(&it)) {
            const char *name = bson_iter_key(&it);
            bool is_id = strcmp(name, "_id") == 0;
            if (is_id) {
                key = *bson_iter_oid(&it);
            }
            if (is_id || strcmp(name, "name") == 0 || strcmp(name, "price") == 0) {
                bson_append_iter(d, NULL, 0, &it);
            }
        }
        find_or_add(&key)->value = d;
    }
    bson_reader_destroy(r);
}

static void
copy_one(const bson_t *b, bson_t *out)
{
    bson_iter_t it, ref;
    bson_t array;
    bson_iter_init(&it, b);
    while (bson_iter_next(&it)) {
        if (strcmp(bson_iter_key(&it), "parts") != 0) {
            bson_append_iter(out, NULL, 0, &it);
            continue;
        }
        bson_append_array_begin(out, "parts", 5, &array);
        bson_iter_recurse(&it, &ref);
        while (bson_iter_next(&ref)) {
            const bson_t *d = find(bson_iter_oid(&ref))->value;
            if (d) {
                bson_append_document(&array, bson_iter_key(&ref), (int)bson_iter_key_len(&ref), d);
            } else {
                bson_append_iter(&array, NULL, 0, &ref);
            }
        }
        bson_append_array_end(out, &array);
    }
}

static void
copy(const char *products, const char *parts, const char *out_products)
{
    read_parts(parts);
    rewrite(products, out_products, copy_one);
}

/* ---- set ---- */
static void
set_one(const bson_t *b, bson_t *out)
{
    bson_iter_t it;
    bson_concat(out, b);
    bson_append_bool(out, "popular", 7, bson_iter_init_find(&it, b, "likes") && bson_iter_as_int64(&it) > 250);
}

/* ---- bucket, rollup ---- */
struct reading {
    int64_t ts;
    double value, humidity;
    int32_t rssi;
    uint32_t no;
};

struct hour {
    char sensor[16];
    int64_t from;
    uint32_t n, cap;
    int32_t rssi;
    double low, high;
    struct reading *all;
};

static int
by_sensor(const void *pa, const void *pb)
{
    const struct hour *a = *(struct hour *const *)pa, *b = *(struct hour *const *)pb;
    int c = strcmp(a->sensor, b->sensor);
    return c ? c : a->from < b->from ? -1 : a->from > b->from;
}

static int
by_time(const void *pa, const void *pb)
{
    const struct reading *a = pa, *b = pb;
    return a->ts != b->ts ? (a->ts < b->ts ? -1 : 1) : a->no < b->no ? -1 : 1;
}

static struct reading
read_fields(const bson_t *b, const char **sensor)
{
    struct reading r = {0};
    bson_iter_t it;
    bson_iter_init(&it, b);
    while (bson_iter_next(&it)) {
        const char *name = bson_iter_key(&it);
        if (strcmp(name, "sensorId") == 0) {
            *sensor = bson_iter_utf8(&it, NULL);
        } else if (strcmp(name, "ts") == 0) {
            r.ts = bson_iter_date_time(&it);
        } else if (strcmp(name, "value") == 0) {
            r.value = bson_iter_double(&it);
        } else if (strcmp(name, "humidity") == 0) {
            r.humidity = bson_iter_double(&it);
        } else if (strcmp(name, "rssi") == 0) {
            r.rssi = bson_iter_int32(&it);
        }
    }
    return r;
}

/* The hour of a reading, found by the number in the sensor's name and the time; keep: the reading is put there. */
static void
add_reading(const bson_t *b, bool keep)
{
    const char *sensor = "";
    struct reading r = read_fields(b, &sensor);
    int64_t from = r.ts / 3600000 * 3600000;
    uint32_t number = (uint32_t)strtoul(sensor + 7, NULL, 10);
    bson_oid_t key;
    memcpy(key.bytes, &from, 8);
    memcpy(key.bytes + 8, &number, 4);
    struct slot *s = find_or_add(&key);
    struct hour *h = s->value;
    if (!h) {
        h = s->value = calloc(1, sizeof *h);
        snprintf(h->sensor, sizeof h->sensor, "%s", sensor);
        h->from = from;
        h->low = h->high = r.value;
    }
    h->rssi += r.rssi;
    h->low = r.value < h->low ? r.value : h->low;
    h->high = r.value > h->high ? r.value : h->high;
    r.no = h->n++;
    if (keep) {
        if (h->n > h->cap) {
            h->cap = h->cap ? h->cap * 2 : 16;
            h->all = realloc(h->all, h->cap * sizeof *h->all);
        }
        h->all[r.no] = r;
    }
}

static void
append_readings(bson_t *out, struct hour *h)
{
    bson_t array, item;
    qsort(h->all, h->n, sizeof *h->all, by_time);
    bson_append_array_begin(out, "readings", 8, &array);
    for (uint32_t i = 0; i < h->n; i++) {
        char room[16];
        const char *key;
        size_t n = bson_uint32_to_string(i, &key, room, sizeof room);
        bson_append_document_begin(&array, key, (int)n, &item);
        bson_append_date_time(&item, "ts", 2, h->all[i].ts);
        bson_append_double(&item, "value", 5, h->all[i].value);
        bson_append_double(&item, "humidity", 8, h->all[i].humidity);
        bson_append_int32(&item, "rssi", 4, h->all[i].rssi);
        bson_append_document_end(&array, &item);
    }
    bson_append_array_end(out, &array);
}

static void
append_group(bson_t *out, const struct hour *h)
{
    bson_append_utf8(out, "sensorId", 8, h->sensor, -1);
    bson_append_date_time(out, "hour", 4, h->from);
}

static void
hours(const char *sensors, const char *out_hours, bool keep)
{
    bson_reader_t *r = reader(sensors);
    const bson_t *b;
    while ((b = bson_reader_read(r, NULL))) {
        add_reading(b, keep);
    }
    bson_reader_destroy(r);
    struct hour **sorted = malloc((table.n + 1) * sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < table.cap; i++) {
        if (table.slots[i].value) {
            sorted[n++] = table.slots[i].value;
        }
    }
    qsort(sorted, n, sizeof *sorted, by_sensor);
    FILE *f = writer(out_hours);
    bson_t out, id;
    bson_init(&out);
    for (size_t i = 0; i < n; i++) {
        bson_reinit(&out);
        bson_append_document_begin(&out, "_id", 3, &id);
        append_group(&id, sorted[i]);
        bson_append_document_end(&out, &id);
        if (keep) {
            append_group(&out, sorted[i]);
            append_readings(&out, sorted[i]);
        } else {
            bson_append_int32(&out, "count", 5, (int32_t)sorted[i]->n);
            bson_append_int32(&out, "rssi", 4, sorted[i]->rssi);
            bson_append_double(&out, "low", 3, sorted[i]->low);
            bson_append_double(&out, "high", 4, sorted[i]->high);
        }
        put(f, &out);
    }
    done(f);
}

/* ---- unbucket ---- */
/* A new `_id` is a hash of where the document comes from: collections, bucket, field and position. */
static void
new_id(bson_t *from, const bson_iter_t *bucket, int64_t position, bson_oid_t *out)
{
    XXH128_canonical_t canonical;
    bson_t array;
    bson_reinit(from);
    bson_append_utf8(from, "ns", 2, "bench.readings", -1);
    bson_append_utf8(from, "from", 4, "bench.hours", -1);
    bson_append_iter(from, "key", 3, bucket);
    bson_append_utf8(from, "path", 4, "readings", -1);
    bson_append_array_begin(from, "pos", 3, &array);
    bson_append_int64(&array, "0", 1, position);
    bson_append_array_end(from, &array);
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bson_get_data(from), from->len));
    memset(out->bytes, 0, 4);
    memcpy(out->bytes + 4, canonical.digest, 8);
}

static void
unbucket(const char *hours, const char *out_readings)
{
    bson_reader_t *r = reader(hours);
    FILE *f = writer(out_readings);
    const bson_t *b;
    bson_iter_t id, sensor, it, array;
    bson_t out, from;
    bson_init(&out);
    bson_init(&from);
    while ((b = bson_reader_read(r, NULL))) {
        if (!bson_iter_init_find(&id, b, "_id") || !bson_iter_init_find(&sensor, b, "sensorId") ||
            !bson_iter_init_find(&it, b, "readings") || !bson_iter_recurse(&it, &array)) {
            die("an hour that is none");
        }
        for (int64_t i = 0; bson_iter_next(&array); i++) {
            const uint8_t *bytes;
            uint32_t n;
            bson_oid_t oid;
            bson_t item;
            bson_iter_document(&array, &n, &bytes);
            bson_init_static(&item, bytes, n);
            new_id(&from, &id, i, &oid);
            bson_reinit(&out);
            bson_append_oid(&out, "_id", 3, &oid);
            bson_append_iter(&out, NULL, 0, &sensor);
            bson_concat(&out, &item);
            put(f, &out);
        }
    }
    bson_reader_destroy(r);
    done(f);
}

/* ---- link ---- */
struct ids {
    bson_oid_t *id;
    size_t n, cap;
};

static void
read_ids(const char *path)
{
    bson_reader_t *r = reader(path);
    const bson_t *b;
    bson_iter_t id, ref;
    while ((b = bson_reader_read(r, NULL))) {
        if (!bson_iter_init_find(&id, b, "_id") || !bson_iter_init_find(&ref, b, "postId")) {
            continue;
        }
        struct slot *s = find_or_add(bson_iter_oid(&ref));
        struct ids *all = s->value;
        if (!all) {
            s->value = all = calloc(1, sizeof *all);
        }
        if (all->n == all->cap) {
            all->cap = all->cap ? all->cap * 2 : 4;
            all->id = realloc(all->id, all->cap * sizeof *all->id);
        }
        bson_oid_copy(bson_iter_oid(&id), &all->id[all->n++]);
    }
    bson_reader_destroy(r);
}

static void
append_ids(bson_t *array, const void *p)
{
    const struct ids *all = p;
    for (uint32_t i = 0; i < all->n; i++) {
        char room[16];
        const char *key;
        size_t n = bson_uint32_to_string(i, &key, room, sizeof room);
        bson_append_oid(array, key, (int)n, &all->id[i]);
    }
}

static void
link_one(const bson_t *b, bson_t *out)
{
    add_comments(b, out, append_ids);
}

static void
link_both(const char *posts, const char *comments, const char *out_posts)
{
    read_ids(comments);
    rewrite(posts, out_posts, link_one);
}

/* ---- rekey ---- */
/* The field that holds the `_id` of a post, as text behind a letter, where there is such a post. */
static void
follow(const bson_t *b, bson_t *out, const char *field)
{
    bson_iter_t it;
    bson_iter_init(&it, b);
    while (bson_iter_next(&it)) {
        bool there = strcmp(bson_iter_key(&it), field) == 0 && BSON_ITER_HOLDS_OID(&it);
        if (there && find(bson_iter_oid(&it))->value) {
            char text[26] = "p";
            bson_oid_to_string(bson_iter_oid(&it), text + 1);
            bson_append_utf8(out, field, -1, text, 25);
        } else {
            bson_append_iter(out, NULL, -1, &it);
        }
    }
}

static void
rekey_post(const bson_t *b, bson_t *out)
{
    follow(b, out, "_id");
}

static void
rekey_comment(const bson_t *b, bson_t *out)
{
    follow(b, out, "postId");
}

static void
read_posts(const char *path)
{
    bson_reader_t *r = reader(path);
    const bson_t *b;
    bson_iter_t it;
    bool eof;
    while ((b = bson_reader_read(r, &eof))) {
        if (bson_iter_init_find(&it, b, "_id")) {
            find_or_add(bson_iter_oid(&it))->value = &table; /* of a post, whichever */
        }
    }
    bson_reader_destroy(r);
}

static void
rekey(const char *posts, const char *comments, const char *out_posts, const char *out_comments)
{
    read_posts(posts);
    rewrite(posts, out_posts, rekey_post);
    rewrite(comments, out_comments, rekey_comment);
}

/* ---- window ---- */
struct member {
    unsigned sensor;
    struct reading of;
};
struct given {
    int32_t sum;
    bool any;
    double before;
};

static int
by_place(const void *pa, const void *pb)
{
    const struct member *a = pa, *b = pb;
    return a->sensor != b->sensor ? (a->sensor < b->sensor ? -1 : 1) : by_time(&a->of, &b->of);
}

static struct member *
read_members(const char *path, uint32_t *n)
{
    bson_reader_t *r = reader(path);
    struct member *all = NULL;
    const bson_t *b;
    uint32_t cap = 0;
    for (*n = 0; (b = bson_reader_read(r, NULL)) != NULL; ++*n) {
        const char *sensor = "";
        if (*n == cap) {
            cap = cap ? 2 * cap : 1024;
            all = bson_realloc(all, cap * sizeof *all);
        }
        all[*n].of = read_fields(b, &sensor);
        all[*n].of.no = *n;
        if (sscanf(sensor, "sensor-%u", &all[*n].sensor) != 1) {
            die("a sensor has another name");
        }
    }
    bson_reader_destroy(r);
    return all;
}

static struct given *
compute(const struct member *all, uint32_t n)
{
    struct given *g = bson_malloc0(((size_t)n + 1) * sizeof *g);
    int32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool same = i && all[i].sensor == all[i - 1].sensor;
        sum = (same ? sum : 0) + all[i].of.rssi;
        g[all[i].of.no] = (struct given){sum, same, same ? all[i - 1].of.value : 0};
    }
    return g;
}

static void
window(const char *from, const char *to)
{
    uint32_t n, no = 0;
    struct member *all = read_members(from, &n);
    qsort(all, n, sizeof *all, by_place);
    struct given *g = compute(all, n);
    bson_reader_t *r = reader(from);
    FILE *f = writer(to);
    const bson_t *b;
    for (; no < n && (b = bson_reader_read(r, NULL)) != NULL; no++) {
        bson_t *out = bson_copy(b);
        BSON_APPEND_INT32(out, "sum", g[no].sum);
        if (g[no].any) {
            BSON_APPEND_DOUBLE(out, "before", g[no].before);
        } else {
            BSON_APPEND_NULL(out, "before");
        }
        put(f, out);
        bson_destroy(out);
    }
    done(f);
    bson_reader_destroy(r);
    bson_free(all);
    bson_free(g);
}

int
main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "embed") == 0) {
        embed(argv[2], argv[3], argv[4]);
    } else if (argc == 5 && strcmp(argv[1], "extract") == 0) {
        extract(argv[2], argv[3], argv[4]);
    } else if (argc == 5 && strcmp(argv[1], "copy") == 0) {
        copy(argv[2], argv[3], argv[4]);
    } else if (argc == 4 && strcmp(argv[1], "set") == 0) {
        rewrite(argv[2], argv[3], set_one);
    } else if (argc == 5 && strcmp(argv[1], "link") == 0) {
        link_both(argv[2], argv[3], argv[4]);
    } else if (argc == 6 && strcmp(argv[1], "rekey") == 0) {
        rekey(argv[2], argv[3], argv[4], argv[5]);
    } else if (argc == 4 && (strcmp(argv[1], "bucket") == 0 || strcmp(argv[1], "rollup") == 0)) {
        hours(argv[2], argv[3], argv[1][0] == 'b');
    } else if (argc == 4 && strcmp(argv[1], "window") == 0) {
        window(argv[2], argv[3]);
    } else if (argc == 4 && strcmp(argv[1], "unbucket") == 0) {
        unbucket(argv[2], argv[3]);
    } else {
        fprintf(stderr, "usage: naive embed|extract|copy|set|link|rekey|bucket|rollup|window|unbucket FILES...\n");
        return 2;
    }
    return 0;
}
