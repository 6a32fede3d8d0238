/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_world.c - one worker's part of the server: filled, looked at, brought into the offline tool.
 *
 * Pictures hold documents byte for byte, indexes and validators in one spelling, and what was refused, without the
 * times that differ from run to run. Must not know what is tried, nor why.
 */
#include "matrix.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- texts ---- */
bson_t *
json(const char *text)
{
    char *spelt = strdup(text);
    bson_error_t error;

    for (char *c = spelt; *c; c++)
        if (*c == '\'')
            *c = '"';
    bson_t *b = bson_new_from_json((const uint8_t *)spelt, -1, &error);
    if (b == NULL)
        die("%s: %s", spelt, error.message);
    free(spelt);
    return b;
}

static bson_t *
row(const struct rows *r, int number)
{
    char text[1024];
    size_t n = 0;

    for (const char *c = r->text; *c && n + 16 < sizeof text; c++) {
        if (*c == '#')
            n += (size_t)snprintf(text + n, 16, "%d", number);
        else if (*c == '@')
            n += (size_t)snprintf(text + n, 16, "%d", (number - r->from) % r->of + 1);
        else
            text[n++] = *c;
    }
    text[n] = 0;
    return json(text);
}

/* ---- pictures ---- */
void
picture_add(struct picture *p, const char *head, const bson_t *b)
{
    size_t n = strlen(head) + 1;

    if (p->n == p->room) {
        p->room = p->room * 2 + 64;
        p->line = realloc(p->line, p->room * sizeof *p->line);
        if (p->line == NULL)
            die("out of memory");
    }
    struct line *l = &p->line[p->n++];
    l->n = n + b->len;
    l->p = malloc(l->n);
    if (l->p == NULL)
        die("out of memory");
    memcpy(l->p, head, n);
    memcpy(l->p + n, bson_get_data(b), b->len);
}

static int
by_bytes(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int c = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

    return c != 0 ? c : (x->n > y->n) - (x->n < y->n);
}

void
picture_sort(struct picture *p)
{
    if (p->n > 0)
        qsort(p->line, p->n, sizeof *p->line, by_bytes);
}

void
picture_take(struct picture *p, const struct picture *from, const char *head)
{
    for (size_t i = 0; i < from->n; i++) {
        bson_t b;
        size_t n = strlen(from->line[i].p) + 1;
        if (strcmp(from->line[i].p, head) == 0 &&
            bson_init_static(&b, (const uint8_t *)from->line[i].p + n, from->line[i].n - n))
            picture_add(p, head, &b);
    }
    picture_sort(p);
}

bool
picture_same(const struct picture *a, const struct picture *b)
{
    bool same = a->n == b->n;

    for (size_t i = 0; same && i < a->n; i++)
        same = by_bytes(&a->line[i], &b->line[i]) == 0;
    return same;
}

static void
show(FILE *f, const char *which, const struct line *l)
{
    bson_t b;
    size_t head = strlen(l->p) + 1;

    if (bson_init_static(&b, (const uint8_t *)l->p + head, l->n - head)) {
        char *text = bson_as_relaxed_extended_json(&b, NULL);
        fprintf(f, "      %s %s %.300s\n", which, l->p, text);
        bson_free(text);
    }
}

char *
picture_difference(const struct picture *want, const struct picture *got)
{
    char *text = NULL;
    size_t n, i = 0, k = 0, shown = 0;
    FILE *f = open_memstream(&text, &n);

    while ((i < want->n || k < got->n) && shown < 10) {
        int c = i == want->n ? 1 : k == got->n ? -1 : by_bytes(&want->line[i], &got->line[k]);
        if (c < 0)
            show(f, "lacks", &want->line[i]);
        else if (c > 0)
            show(f, "has  ", &got->line[k]);
        shown += c != 0;
        i += c <= 0;
        k += c >= 0;
    }
    fclose(f);
    return text;
}

void
picture_clear(struct picture *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->line[i].p);
    free(p->line);
    memset(p, 0, sizeof *p);
}

/* ---- indexes and validators in one spelling ---- */
static void
key_of(const bson_t *spec, bson_t *out)
{
    bson_iter_t at, in;
    bson_t key;

    bson_append_document_begin(out, "key", -1, &key);
    bool there = bson_iter_init_find(&at, spec, "key") && bson_iter_recurse(&at, &in);
    while (there && bson_iter_next(&in)) {
        if (BSON_ITER_HOLDS_NUMBER(&in))
            bson_append_int64(&key, bson_iter_key(&in), -1, bson_iter_as_int64(&in));
        else
            bson_append_iter(&key, NULL, 0, &in);
    }
    bson_append_document_end(out, &key);
}

static void
add_index(struct picture *p, const char *coll, const bson_t *spec)
{
    static const char *const options[] = {"name", "unique", "sparse", "expireAfterSeconds", "partialFilterExpression"};
    bson_t out = BSON_INITIALIZER;
    char head[300];

    key_of(spec, &out);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        bson_iter_t at;
        if (!bson_iter_init_find(&at, spec, options[i]))
            continue;
        if (BSON_ITER_HOLDS_BOOL(&at) && !bson_iter_bool(&at))
            continue;
        if (BSON_ITER_HOLDS_NUMBER(&at))
            bson_append_int64(&out, options[i], -1, bson_iter_as_int64(&at));
        else
            bson_append_iter(&out, options[i], -1, &at);
    }
    snprintf(head, sizeof head, "index of %s", coll);
    picture_add(p, head, &out);
    bson_destroy(&out);
}

static void
add_options(struct picture *p, const char *coll, const bson_t *holder)
{
    bson_t out = BSON_INITIALIZER, validator;
    bson_iter_t at, in;
    char head[300];
    const uint8_t *data;
    uint32_t n;

    snprintf(head, sizeof head, "collection %s", coll);
    if (bson_iter_init(&at, holder) && bson_iter_find_descendant(&at, "options.validator", &in) &&
        BSON_ITER_HOLDS_DOCUMENT(&in)) {
        bson_iter_document(&in, &n, &data);
        if (bson_init_static(&validator, data, n) && bson_count_keys(&validator) > 0) {
            bson_append_document(&out, "validator", -1, &validator);
            bool has = bson_iter_init(&at, holder) && bson_iter_find_descendant(&at, "options.validationLevel", &in);
            bson_append_utf8(&out, "level", -1, has ? bson_iter_utf8(&in, NULL) : "strict", -1);
        }
    }
    picture_add(p, head, &out);
    bson_destroy(&out);
}

/* ---- the server ---- */
static bool
say(struct world *w, const char *db, const bson_t *command, bson_t *reply, bson_error_t *error)
{
    return mongoc_client_command_with_opts(w->client, db, command, NULL, NULL, reply, error);
}

static void
must(struct world *w, const char *db, const bson_t *command)
{
    bson_error_t error;
    bson_t reply;

    if (!say(w, db, command, &reply, &error)) {
        char *text = bson_as_relaxed_extended_json(command, NULL);
        die("%s: %s", text, error.message);
    }
    bson_destroy(&reply);
}

static void
must_text(struct world *w, const char *db, const char *text)
{
    bson_t *b = json(text);

    must(w, db, b);
    bson_destroy(b);
}

static void
must_all(struct world *w, const char *texts)
{
    bson_t *all = texts != NULL ? json(texts) : bson_new(), one;
    bson_iter_t at;

    bson_iter_init(&at, all);
    while (bson_iter_next(&at)) {
        const uint8_t *data;
        uint32_t n;
        bson_iter_document(&at, &n, &data);
        bson_init_static(&one, data, n);
        must(w, w->db, &one);
    }
    bson_destroy(all);
}

static void
insert_rows(struct world *w, const struct rows *r)
{
    mongoc_collection_t *c = mongoc_client_get_collection(w->client, w->db, r->coll);
    mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(c, NULL);
    bson_error_t error;
    bson_t reply;

    for (int i = r->from; i <= r->to; i++) {
        bson_t *doc = row(r, i);
        mongoc_bulk_operation_insert(bulk, doc);
        bson_destroy(doc);
    }
    if (mongoc_bulk_operation_execute(bulk, &reply, &error) == 0)
        die("insert of %s: %s", r->coll, error.message);
    bson_destroy(&reply);
    mongoc_bulk_operation_destroy(bulk);
    mongoc_collection_destroy(c);
}

void
world_load(struct world *w, const struct scene *scene)
{
    char path[300];

    w->scene = scene;
    must_text(w, w->db, "{'dropDatabase':1}");
    must_text(w, w->state, "{'dropDatabase':1}");
    for (int i = 0; i < ROWS_MAX && scene->rows[i].coll != NULL; i++)
        insert_rows(w, &scene->rows[i]);
    must_all(w, scene->indexes);
    snprintf(path, sizeof path, "%s/plan.yaml", w->dir);
    FILE *f = fopen(path, "w");
    if (f == NULL || fprintf(f, "steps:\n%s", scene->steps) < 0 || fclose(f) != 0)
        die("cannot write %s", path);
}

void
world_change(struct world *w)
{
    must_all(w, w->scene->change);
}

static void
each_document(struct world *w, const char *db, const char *coll, void (*see)(void *arg, const bson_t *doc), void *arg)
{
    bson_t all = BSON_INITIALIZER;
    bson_error_t error;
    const bson_t *doc;
    mongoc_collection_t *c = mongoc_client_get_collection(w->client, db, coll);
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(c, &all, NULL, NULL);

    while (mongoc_cursor_next(cursor, &doc))
        see(arg, doc);
    if (mongoc_cursor_error(cursor, &error))
        die("find of %s.%s: %s", db, coll, error.message);
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(c);
    bson_destroy(&all);
}

struct adding {
    struct picture *p;
    const char *head;
};

static void
add_document(void *arg, const bson_t *doc)
{
    struct adding *a = arg;

    picture_add(a->p, a->head, doc);
}

static void
add_refused(void *arg, const bson_t *doc)
{
    struct adding *a = arg;
    bson_t out = BSON_INITIALIZER;
    bson_iter_t at;

    if (bson_iter_init(&at, doc) && bson_iter_find(&at, "_id")) {
        bson_iter_t in;
        bson_iter_recurse(&at, &in);
        while (bson_iter_next(&in))
            if (strcmp(bson_iter_key(&in), "run") != 0)
                bson_append_iter(&out, NULL, 0, &in);
    }
    if (bson_iter_init_find(&at, doc, "reason"))
        bson_append_iter(&out, NULL, 0, &at);
    if (bson_iter_init_find(&at, doc, "doc"))
        bson_append_iter(&out, NULL, 0, &at);
    picture_add(a->p, a->head, &out);
    bson_destroy(&out);
}

static void
picture_collection(struct world *w, struct picture *p, const char *name, const bson_t *listed)
{
    char head[300];
    const bson_t *spec;
    bson_error_t error;
    mongoc_collection_t *c = mongoc_client_get_collection(w->client, w->db, name);
    mongoc_cursor_t *indexes = mongoc_collection_find_indexes_with_opts(c, NULL);

    add_options(p, name, listed);
    while (mongoc_cursor_next(indexes, &spec))
        add_index(p, name, spec);
    if (mongoc_cursor_error(indexes, &error))
        die("indexes of %s: %s", name, error.message);
    mongoc_cursor_destroy(indexes);
    mongoc_collection_destroy(c);
    snprintf(head, sizeof head, "document of %s", name);
    each_document(w, w->db, name, add_document, &(struct adding){p, head});
}

static void
each_collection(struct world *w, const char *db,
                void (*see)(struct world *w, void *arg, const char *name, const bson_t *listed), void *arg)
{
    const bson_t *listed;
    bson_error_t error;
    bson_iter_t at;
    mongoc_database_t *d = mongoc_client_get_database(w->client, db);
    mongoc_cursor_t *cursor = mongoc_database_find_collections_with_opts(d, NULL);

    while (mongoc_cursor_next(cursor, &listed))
        if (bson_iter_init_find(&at, listed, "name"))
            see(w, arg, bson_iter_utf8(&at, NULL), listed);
    if (mongoc_cursor_error(cursor, &error))
        die("collections of %s: %s", db, error.message);
    mongoc_cursor_destroy(cursor);
    mongoc_database_destroy(d);
}

static void
see_collection(struct world *w, void *arg, const char *name, const bson_t *listed)
{
    if (strncmp(name, "system.", 7) != 0)
        picture_collection(w, arg, name, listed);
}

void
world_picture(struct world *w, struct picture *p)
{
    each_collection(w, w->db, see_collection, p);
    each_document(w, w->state, "refused", add_refused, &(struct adding){p, "refused"});
    picture_sort(p);
}

void
world_expire(struct world *w)
{
    must_text(w, w->state,
              "{'update':'leases','updates':[{'q':{},'u':{'$set':{'until':{'$date':{'$numberLong':'0'}}}},"
              "'multi':true}]}");
}

void
world_wait(struct world *w)
{
    bson_t *hello = json("{'ping':1}"), reply;
    bson_error_t error;

    for (int i = 0; i < 300; i++) {
        bool there = say(w, "admin", hello, &reply, &error);
        bson_destroy(&reply);
        if (there) {
            bson_destroy(hello);
            return;
        }
        usleep(100000);
    }
    die("the server does not come back: %s", error.message);
}

static void
take_phase(void *arg, const bson_t *doc)
{
    bson_iter_t at;

    if (bson_iter_init_find(&at, doc, "phase") && BSON_ITER_HOLDS_UTF8(&at))
        snprintf(arg, 64, "%s", bson_iter_utf8(&at, NULL));
}

void
world_phase(struct world *w, char out[64])
{
    out[0] = 0;
    each_document(w, w->state, "runs", take_phase, out);
}

/* ---- marks ---- */
static size_t
mark_at(const char *p, size_t n)
{
    size_t k = 1;

    if (n < 3 || p[0] != '~')
        return 0;
    while (k < n && ((p[k] >= 'a' && p[k] <= 'z') || (p[k] >= '0' && p[k] <= '9')))
        k++;
    return k > 1 && k < n && p[k] == '~' ? k + 1 : 0;
}

char *
marks_of(const struct picture *p, size_t *n)
{
    char *out = NULL;
    FILE *f = open_memstream(&out, n);

    for (size_t i = 0; i < p->n; i++)
        for (size_t at = 0; at < p->line[i].n;) {
            size_t k = mark_at(p->line[i].p + at, p->line[i].n - at);
            if (k > 0) {
                fwrite(p->line[i].p + at, 1, k, f);
                fputc(0, f);
            }
            at += k > 0 ? k : 1;
        }
    fclose(f);
    return out;
}

static bool
holds(const struct picture *p, const char *mark)
{
    for (size_t i = 0; i < p->n; i++)
        if (memmem(p->line[i].p, p->line[i].n, mark, strlen(mark)) != NULL)
            return true;
    return false;
}

static void
see_everything(struct world *w, void *arg, const char *name, const bson_t *listed)
{
    struct adding *a = arg;

    (void)listed;
    if (strcmp(a->head, "state") != 0)
        each_document(w, w->db, name, add_document, a);
    else if (strncmp(name, "changes_", 8) == 0)
        each_document(w, w->state, name, add_document, a);
}

const char *
world_lacks(struct world *w, const char *marks, size_t n, const struct picture *end)
{
    struct picture all = {NULL, 0, 0};
    char phase[64];
    const char *lost = NULL;

    world_phase(w, phase);
    each_collection(w, w->db, see_everything, &(struct adding){&all, "user"});
    if (strncmp(phase, "applying", 8) == 0 || strncmp(phase, "finishing", 9) == 0 || strcmp(phase, "done") == 0 ||
        strncmp(phase, "contract", 8) == 0 || strncmp(phase, "roll", 4) == 0)
        each_collection(w, w->state, see_everything, &(struct adding){&all, "state"});
    for (const char *m = marks; lost == NULL && m < marks + n; m += strlen(m) + 1)
        if (holds(end, m) && !holds(&all, m))
            lost = m;
    picture_clear(&all);
    return lost;
}

/* ---- the offline tool ---- */
struct dumping {
    FILE *f;
};

static void
write_document(void *arg, const bson_t *doc)
{
    struct dumping *d = arg;

    if (fwrite(bson_get_data(doc), 1, doc->len, d->f) != doc->len)
        die("cannot write a dump");
}

static void
dump_collection(struct world *w, void *arg, const char *name, const bson_t *listed)
{
    char path[700];
    const char *folder = arg;
    const bson_t *spec;
    bson_iter_t at;
    bson_t meta = BSON_INITIALIZER, list;
    uint32_t n = 0;
    char digits[16];

    snprintf(path, sizeof path, "%s/%s.bson", folder, name);
    FILE *f = fopen(path, "w");
    if (f == NULL)
        die("cannot write %s", path);
    each_document(w, w->db, name, write_document, &(struct dumping){f});
    fclose(f);
    if (bson_iter_init_find(&at, listed, "options"))
        bson_append_iter(&meta, NULL, 0, &at);
    mongoc_collection_t *c = mongoc_client_get_collection(w->client, w->db, name);
    mongoc_cursor_t *indexes = mongoc_collection_find_indexes_with_opts(c, NULL);
    bson_append_array_begin(&meta, "indexes", -1, &list);
    while (mongoc_cursor_next(indexes, &spec)) {
        snprintf(digits, sizeof digits, "%u", n++);
        bson_append_document(&list, digits, -1, spec);
    }
    bson_append_array_end(&meta, &list);
    mongoc_cursor_destroy(indexes);
    mongoc_collection_destroy(c);
    char *text = bson_as_canonical_extended_json(&meta, NULL);
    snprintf(path, sizeof path, "%s/%s.metadata.json", folder, name);
    f = fopen(path, "w");
    if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
        die("cannot write %s", path);
    bson_free(text);
    bson_destroy(&meta);
}

static void
each_in_file(const char *path, void (*see)(void *arg, const bson_t *doc), void *arg)
{
    bson_error_t error;
    bson_reader_t *r = bson_reader_new_from_file(path, &error);
    const bson_t *doc;

    if (r == NULL)
        return;
    while ((doc = bson_reader_read(r, NULL)) != NULL)
        see(arg, doc);
    bson_reader_destroy(r);
}

static void
read_metadata(struct picture *p, const char *path, const char *coll)
{
    char *text = text_file(path);
    bson_t *meta = bson_new_from_json((const uint8_t *)text, -1, NULL), spec;
    bson_iter_t at, in;

    if (meta == NULL)
        die("%s is no JSON", path);
    add_options(p, coll, meta);
    if (bson_iter_init_find(&at, meta, "indexes") && bson_iter_recurse(&at, &in))
        while (bson_iter_next(&in)) {
            const uint8_t *data;
            uint32_t n;
            bson_iter_document(&in, &n, &data);
            bson_init_static(&spec, data, n);
            add_index(p, coll, &spec);
        }
    bson_destroy(meta);
    free(text);
}

/* A refused document stays where it was; and it is told with its reason. */
static void
take_refused(void *arg, const bson_t *record)
{
    struct adding *a = arg;
    bson_t out = BSON_INITIALIZER, doc;
    bson_iter_t ns, at, step, id;
    const uint8_t *data;
    uint32_t n;
    char head[300];

    if (!bson_iter_init_find(&ns, record, "ns") || !bson_iter_init_find(&at, record, "doc") ||
        !bson_iter_init_find(&step, record, "step"))
        die("a refused record lacks its fields");
    const char *coll = strchr(bson_iter_utf8(&ns, NULL), '.');
    bson_iter_document(&at, &n, &data);
    bson_init_static(&doc, data, n);
    snprintf(head, sizeof head, "document of %s", coll != NULL ? coll + 1 : "");
    picture_add(a->p, head, &doc);
    bson_append_iter(&out, NULL, 0, &step);
    bson_append_iter(&out, NULL, 0, &ns);
    if (bson_iter_init_find(&id, &doc, "_id"))
        bson_append_iter(&out, "id", -1, &id);
    if (bson_iter_init_find(&at, record, "reason"))
        bson_append_iter(&out, NULL, 0, &at);
    bson_append_binary(&out, "doc", -1, BSON_SUBTYPE_BINARY, data, n);
    picture_add(a->p, "refused", &out);
    bson_destroy(&out);
}

bool
world_offline(struct world *w, struct picture *p, char said[TEXT])
{
    char path[700], head[300];

    shell("rm -rf %s/in %s/out* && mkdir -p %s/in/%s", w->dir, w->dir, w->dir, w->db);
    snprintf(path, sizeof path, "%s/in/%s", w->dir, w->db);
    each_collection(w, w->db, dump_collection, path);
    int status = shell("%s run %s/plan.yaml -i %s/in -o %s/out --compress none --max-refused 1000 "
                       "--now 2024-05-01T00:00:00Z --jobs 1 >%s/offline.txt 2>&1",
                       w->use->offline, w->dir, w->dir, w->dir, w->dir);
    if (status != 0 && status != 1) {
        snprintf(path, sizeof path, "%s/offline.txt", w->dir);
        char *text = text_file(path);
        snprintf(said, TEXT, "status %d: %.400s", status, text);
        free(text);
        return false;
    }
    snprintf(path, sizeof path, "%s/out/%s", w->dir, w->db);
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char coll[300];
        size_t n = strlen(e->d_name);
        if (n < 6 || strcmp(e->d_name + n - 5, ".bson") != 0)
            continue;
        snprintf(coll, sizeof coll, "%.*s", (int)(n - 5), e->d_name);
        snprintf(head, sizeof head, "document of %.280s", coll);
        snprintf(path, sizeof path, "%s/out/%s/%.300s", w->dir, w->db, e->d_name);
        each_in_file(path, add_document, &(struct adding){p, head});
        snprintf(path, sizeof path, "%s/out/%s/%.280s.metadata.json", w->dir, w->db, coll);
        read_metadata(p, path, coll);
    }
    if (d != NULL)
        closedir(d);
    snprintf(path, sizeof path, "%s/out.refused.bson", w->dir);
    each_in_file(path, take_refused, &(struct adding){p, ""});
    picture_sort(p);
    return true;
}
