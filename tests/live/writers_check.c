/* SPDX-License-Identifier: Apache-2.0 */
/* What must stand on the server: the writers' last words, and what the offline tool makes of them.
 *
 * Documents are compared byte for byte, collections as sets. The dump that the offline tool gets is made of the model,
 * in the order of `_id`, after the server has been found to hold just that. */
#include "writers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct docs {
    bson_t **d;
    size_t n, cap;
};

static void
add(struct docs *s, bson_t *doc)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->d = realloc(s->d, s->cap * sizeof *s->d);
        if (!s->d) {
            abort();
        }
    }
    s->d[s->n++] = doc;
}

static void
clear(struct docs *s)
{
    for (size_t i = 0; i < s->n; i++) {
        bson_destroy(s->d[i]);
    }
    free(s->d);
    *s = (struct docs){NULL, 0, 0};
}

static int
by_bytes(const void *x, const void *y)
{
    const bson_t *a = *(bson_t *const *)x, *b = *(bson_t *const *)y;
    uint32_t n = a->len < b->len ? a->len : b->len;
    int d = memcmp(bson_get_data(a), bson_get_data(b), n);
    return d ? d : a->len < b->len ? -1 : a->len > b->len;
}

static bool
read_coll(const struct place *p, const char *coll, const char *const *less, struct docs *out, char why[512])
{
    bson_t all = BSON_INITIALIZER;
    bson_error_t e;
    const bson_t *doc;
    mongoc_collection_t *c = mongoc_client_get_collection(p->client, p->db, coll);
    mongoc_cursor_t *cur = mongoc_collection_find_with_opts(c, &all, NULL, NULL);
    while (mongoc_cursor_next(cur, &doc)) {
        add(out, less ? writers_less(doc, less) : bson_copy(doc));
    }
    bool ok = !mongoc_cursor_error(cur, &e);
    if (!ok) {
        snprintf(why, 512, "reading %s: %.300s", coll, e.message);
    }
    mongoc_cursor_destroy(cur);
    mongoc_collection_destroy(c);
    bson_destroy(&all);
    return ok;
}

static bool
same_set(const char *what, struct docs *have, struct docs *want, char why[512])
{
    if (have->n) {
        qsort(have->d, have->n, sizeof *have->d, by_bytes);
    }
    if (want->n) {
        qsort(want->d, want->n, sizeof *want->d, by_bytes);
    }
    for (size_t i = 0; i < have->n || i < want->n; i++) {
        if (i < have->n && i < want->n && by_bytes(&have->d[i], &want->d[i]) == 0) {
            continue;
        }
        char *h = i < have->n ? bson_as_relaxed_extended_json(have->d[i], NULL) : NULL;
        char *w = i < want->n ? bson_as_relaxed_extended_json(want->d[i], NULL) : NULL;
        snprintf(why, 512, "%s: %zu documents, wanted %zu; has %.180s, wants %.180s", what, have->n, want->n,
                 h ? h : "no more", w ? w : "no more");
        bson_free(h);
        bson_free(w);
        return false;
    }
    return true;
}

static bool
no_other(const struct place *p, char why[512])
{
    bson_error_t e;
    mongoc_database_t *db = mongoc_client_get_database(p->client, p->db);
    char **names = mongoc_database_get_collection_names_with_opts(db, NULL, &e);
    bool ok = names != NULL;
    for (char **n = names; n && *n && ok; n++) {
        ok = strcmp(*n, "posts") == 0 || strcmp(*n, "comments") == 0;
        if (!ok) {
            snprintf(why, 512, "collection %s is still there", *n);
        }
    }
    bson_strfreev(names);
    mongoc_database_destroy(db);
    return ok;
}

bool
writers_sources_kept(const struct place *p, const struct scenario *sc, const struct model *m, bool alone,
                     char why[512])
{
    static const char *const none[CLAIMS_MAX] = {NULL};
    bool ok = true;
    for (int c = 0; c < N_COLLS && ok; c++) {
        struct docs have = {NULL, 0, 0}, want = {NULL, 0, 0};
        for (int i = 0; i < IDS_MAX; i++) {
            if (m->doc[c][i]) {
                add(&want, writers_less(m->doc[c][i], alone ? none : sc->claims[c]));
            }
        }
        ok = read_coll(p, writers_coll(c), alone ? NULL : sc->claims[c], &have, why) &&
             same_set(writers_coll(c), &have, &want, why);
        clear(&have);
        clear(&want);
    }
    return ok && (!alone || no_other(p, why));
}

bool
writers_none_lost(const struct place *p, const struct model *m, char why[512])
{
    bson_error_t e;
    struct docs have = {NULL, 0, 0};
    mongoc_database_t *db = mongoc_client_get_database(p->client, p->db);
    char **names = mongoc_database_get_collection_names_with_opts(db, NULL, &e);
    bool ok = names != NULL;
    for (char **n = names; n && *n && ok; n++) {
        ok = read_coll(p, *n, NULL, &have, why);
    }
    for (int c = 0; c < N_COLLS && ok; c++) {
        for (int i = 0; i < IDS_MAX && ok; i++) {
            bson_iter_t it;
            bool found = !m->doc[c][i] || !bson_iter_init_find(&it, m->doc[c][i], "tok");
            const char *tok = found ? "" : bson_iter_utf8(&it, NULL);
            for (size_t k = 0; k < have.n && !found; k++) {
                found = memmem(bson_get_data(have.d[k]), have.d[k]->len, tok, strlen(tok) + 1) != NULL;
            }
            ok = found;
            if (!ok) {
                snprintf(why, 512, "%s %d is nowhere while the tool is dead", writers_coll(c), i);
            }
        }
    }
    clear(&have);
    bson_strfreev(names);
    mongoc_database_destroy(db);
    return ok;
}

/* ---- the offline tool ---- */
/* Starts a program, its output appended to a log. env: NAME=VALUE, NULL at the end; may be NULL. */
int
writers_spawn(const char *const *argv, const char *const *env, const char *log)
{
    pid_t pid = fork();
    if (pid) {
        return pid;
    }
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644), null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(fd, 1);
    dup2(fd, 2);
    for (int i = 0; env && env[i]; i++) {
        putenv(strdup(env[i]));
    }
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

void
writers_plan(const struct place *p, const struct scenario *sc)
{
    char file[300];
    snprintf(file, sizeof file, "%s/plan.yaml", p->dir);
    FILE *f = fopen(file, "w");
    if (!f) {
        abort();
    }
    fprintf(f, "plan: %s\ndatabase: %s\nsteps:\n%s", sc->name, p->db, sc->steps);
    fclose(f);
}

static int
by_id(const void *x, const void *y)
{
    bson_iter_t a, b;
    if (!bson_iter_init_find(&a, *(bson_t *const *)x, "_id") || !bson_iter_init_find(&b, *(bson_t *const *)y, "_id")) {
        abort();
    }
    if (bson_iter_type(&a) != bson_iter_type(&b)) {
        return bson_iter_type(&a) == BSON_TYPE_INT32 ? -1 : 1;
    }
    return bson_iter_type(&a) == BSON_TYPE_INT32 ? bson_iter_int32(&a) - bson_iter_int32(&b)
                                                 : strcmp(bson_iter_utf8(&a, NULL), bson_iter_utf8(&b, NULL));
}

static void
dump(const struct place *p, const struct model *m, int coll)
{
    char file[400];
    struct docs all = {NULL, 0, 0};
    for (int i = 0; i < IDS_MAX; i++) {
        if (m->doc[coll][i]) {
            add(&all, m->doc[coll][i]);
        }
    }
    if (all.n) {
        qsort(all.d, all.n, sizeof *all.d, by_id);
    }
    snprintf(file, sizeof file, "%s/in/%s/%s.bson", p->dir, p->db, writers_coll(coll));
    FILE *f = fopen(file, "wb");
    snprintf(file, sizeof file, "%s/in/%s/%s.metadata.json", p->dir, p->db, writers_coll(coll));
    FILE *meta = fopen(file, "w");
    if (!f || !meta) {
        abort();
    }
    for (size_t i = 0; i < all.n; i++) {
        fwrite(bson_get_data(all.d[i]), 1, all.d[i]->len, f);
    }
    fprintf(meta, "{\"options\":{},\"indexes\":[{\"v\":2,\"key\":{\"_id\":1},\"name\":\"_id_\"}],"
                  "\"collectionName\":\"%s\",\"type\":\"collection\"}", writers_coll(coll));
    fclose(meta);
    fclose(f);
    free(all.d);
}

static bool
offline(const struct place *p, const struct model *m, char why[512])
{
    char in[300], out[300], plan[300], log[300], path[400];
    snprintf(in, sizeof in, "%s/in", p->dir);
    snprintf(out, sizeof out, "%s/out", p->dir);
    snprintf(plan, sizeof plan, "%s/plan.yaml", p->dir);
    snprintf(log, sizeof log, "%s/log", p->dir);
    snprintf(path, sizeof path, "%s/%s", in, p->db);
    const char *clean[] = {"/bin/rm", "-rf", in, out, NULL};
    int status = 0;
    waitpid(writers_spawn(clean, NULL, log), &status, 0);
    mkdir(in, 0755);
    mkdir(path, 0755);
    dump(p, m, POSTS);
    dump(p, m, COMMENTS);
    const char *argv[] = {p->offline, "run", plan, "-i", in, "-o", out, "--compress", "none", NULL};
    waitpid(writers_spawn(argv, NULL, log), &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        snprintf(why, 512, "the offline tool ended with %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        return false;
    }
    return true;
}

static void
read_file(const char *file, struct docs *out)
{
    FILE *f = fopen(file, "rb");
    bson_reader_t *r = f ? bson_reader_new_from_fd(fileno(f), false) : NULL;
    const bson_t *doc;
    while (r && (doc = bson_reader_read(r, NULL))) {
        add(out, bson_copy(doc));
    }
    if (r) {
        bson_reader_destroy(r);
        fclose(f);
    }
}

/* The documents that are there. */
static bool
load(const struct place *p, struct model *m, char why[512])
{
    bool ok = true;
    for (int c = 0; c < N_COLLS && ok; c++) {
        struct docs have = {NULL, 0, 0};
        bson_iter_t it;
        ok = read_coll(p, writers_coll(c), NULL, &have, why);
        for (size_t i = 0; i < have.n && ok; i++) {
            bool found = bson_iter_init_find(&it, have.d[i], "_id");
            long id = !found ? -1
                      : BSON_ITER_HOLDS_UTF8(&it) ? strtol(bson_iter_utf8(&it, NULL) + 1, NULL, 10)
                                                  : bson_iter_int32(&it) - (c == POSTS ? 0 : CHILD_IDS);
            if (id < 0 || id >= IDS_MAX) {
                abort();
            }
            m->doc[c][id] = have.d[i];
        }
        free(have.d);
    }
    return ok;
}

bool
writers_as_offline(const struct place *p, const struct scenario *sc, const struct model *m, char why[512])
{
    bson_error_t e;
    static struct model stands;
    if (sc->direct && (*sc->claims[POSTS] || *sc->claims[COMMENTS])) {
        writers_clear(&stands);
        if (!writers_sources_kept(p, sc, m, false, why) || !load(p, &stands, why)) {
            return false;
        }
        m = &stands;
    }
    if (!offline(p, m, why)) {
        return false;
    }
    mongoc_database_t *db = mongoc_client_get_database(p->client, p->db);
    char **names = mongoc_database_get_collection_names_with_opts(db, NULL, &e);
    bool ok = names != NULL;
    unsigned n = 0;
    for (char **name = names; name && *name && ok; name++, n++) {
        char file[600];
        struct docs have = {NULL, 0, 0}, want = {NULL, 0, 0};
        snprintf(file, sizeof file, "%s/out/%s/%s.bson", p->dir, p->db, *name);
        if (access(file, R_OK) != 0) {
            snprintf(why, 512, "the offline tool makes no collection %.200s", *name);
            ok = false;
            break;
        }
        read_file(file, &want);
        ok = read_coll(p, *name, NULL, &have, why) && same_set(*name, &have, &want, why);
        clear(&have);
        clear(&want);
    }
    bson_strfreev(names);
    mongoc_database_destroy(db);
    char command[500], line[32] = "";
    snprintf(command, sizeof command, "ls '%s/out/%s' | grep -c '\\.bson$'", p->dir, p->db);
    FILE *f = ok ? popen(command, "r") : NULL;
    if (f && (!fgets(line, sizeof line, f) || strtoul(line, NULL, 10) != n)) {
        snprintf(why, 512, "there are %u collections, and the offline tool makes %s", n, line);
        ok = false;
    }
    if (f) {
        pclose(f);
    }
    return ok;
}
