/* SPDX-License-Identifier: Apache-2.0 */
/* livetool_check.c - what must stand on the server after a case, and whether it does.
 *
 * Wanted is what the offline tool wrote, and what the case says, with the refused documents put back into their
 * collections: there they stay on a server. Collections are compared as sets of documents, byte for byte; indexes and
 * options by what they mean, with numbers by their value and without what servers add of themselves. */
#include "livetool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Alongside writers one group of steps after the other is added: a refused document stays as it was at first or, where
 * an earlier group gave it something, as it was refused. */
static bson_t *
stays_as(const struct refused *r, const struct data *before, const struct docs *there)
{
    bson_t *first = before ? with_id_of(find_coll(before, r->db, r->name), r->doc) : NULL;
    for (size_t i = 0; first && i < there->n; i++)
        if (same_bytes(there->d[i], first))
            return first;
    return r->doc;
}

/* Adds refused documents to where they stay: as they were refused or, alongside writers (before, got), as said above.
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
        if (!bson_has_field(r[i].doc, "_id")) /* made of axes: it never was on a server */
            continue;
        if (!other)
            push(&c->docs, stays);
        else if (!same_bytes(other, stays))
            return false;
    }
    return true;
}

int
wants(const char *folder, const char *work)
{
    struct data want = from_dump(text("%s/expect", work));
    puts(add_refused(&want, NULL, NULL, folder, work) ? "as-offline" : "refusal");
    return 0;
}

/* ---- check ---- */
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

static bool alike(const bson_t *a, const bson_t *b, bool ordered);
static bool alike_values(const bson_iter_t *x, const bson_iter_t *y);

/* A server spells out a collation with all that it takes for granted. */
static bool
holds_all(const bson_t *all, const bson_t *some)
{
    bson_iter_t x, y;
    bool is = true;
    bson_iter_init(&x, some);
    while (is && bson_iter_next(&x))
        is = bson_iter_init_find(&y, all, bson_iter_key(&x)) && alike_values(&x, &y);
    return is;
}

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
    if (!strcmp(bson_iter_key(x), "collation") && BSON_ITER_HOLDS_DOCUMENT(x) && BSON_ITER_HOLDS_DOCUMENT(y))
        return holds_all(part(&one, ""), part(&two, "")) || holds_all(part(&two, ""), part(&one, ""));
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

int
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
