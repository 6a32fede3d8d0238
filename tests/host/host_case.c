/* SPDX-License-Identifier: Apache-2.0 */
/* host_case.c - a plan over a dump, collection by collection through the stage, held against what the offline tool
 * made of it.
 *
 *   host SO case PLAN.yaml IN-DIR OUT-DIR    directories of a dump: DB/COLL.bson
 * Each collection of the output must be what the stage makes of all collections of the input together: those that a
 * step reads are streamed in, and so is the collection itself. Prints one line a collection: same, sorted, differs, or
 * why it was not tried. What becomes of the documents that a join or a group takes is the client's, not the stage's. */
#include "host.h"

#include "mongoreshape/build.h"
#include "mongoreshape/context.h"
#include "mongoreshape/fold_ops.h"
#include "mongoreshape/plan.h"
#include "mongoreshape/value.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

struct coll_file {
    char db[300], coll[300];
    struct host_docs docs;
};
struct side {
    struct coll_file file[40];
    uint32_t n;
};
struct trial {
    struct host *host;
    struct mrs_mem *mem;
    struct mrs_view plan_doc;
    struct mrs_plan *plan;
    struct side in, out;
    struct host_docs refused;
    char why[4096];
};

static void
load_side(struct side *s, const char *dir)
{
    struct dirent **dbs = NULL, **files = NULL;
    int n = scandir(dir, &dbs, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s", dir, dbs[i]->d_name);
        int k = *dbs[i]->d_name == '.' ? 0 : scandir(path, &files, NULL, alphasort);
        for (int j = 0; j < k; j++) {
            const char *end = strstr(files[j]->d_name, ".bson");
            if (end && !end[5] && s->n < 40) {
                struct coll_file *f = &s->file[s->n++];
                char file[1600];
                snprintf(f->db, sizeof f->db, "%s", dbs[i]->d_name);
                snprintf(f->coll, sizeof f->coll, "%.*s", (int)(end - files[j]->d_name), files[j]->d_name);
                snprintf(file, sizeof file, "%s/%s", path, files[j]->d_name);
                host_load(&f->docs, file);
            }
            free(files[j]);
        }
        if (k > 0) {
            free(files);
        }
        free(dbs[i]);
    }
    free(dbs);
}

static const struct coll_file *
find(const struct side *s, const char *db, const char *coll)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (strcmp(s->file[i].db, db) == 0 && strcmp(s->file[i].coll, coll) == 0) {
            return &s->file[i];
        }
    }
    return NULL;
}

/* ---- the specification ---- */
static void
put_coll(struct mrs_build *b, const char *key, const struct coll_file *f)
{
    mrs_build_open(b, key, (uint32_t)strlen(key), MRS_DOCUMENT);
    mrs_build_text(b, "db", f->db, (uint32_t)strlen(f->db));
    mrs_build_text(b, "coll", f->coll, (uint32_t)strlen(f->coll));
    mrs_build_close(b);
}

/* The joins that documents of a collection meet: the fields in which their partners are to arrive. */
static uint32_t
joins_of(const struct trial *t, const struct coll_file *of, const struct mrs_coll *from[16])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->plan->n_steps; i++) {
        const struct mrs_desc *d = &t->plan->steps[i].desc;
        bool here = d->family == MRS_FAMILY_JOIN && strcmp(d->sides[1].coll.coll, of->coll) == 0 &&
                    strcmp(d->sides[1].coll.db, of->db) == 0;
        bool twice = false;
        for (uint32_t k = 0; here && k < n; k++) {
            twice = twice || strcmp(from[k]->ns, d->sides[0].coll.ns) == 0;
        }
        if (here && !twice && n < 16) {
            from[n++] = &d->sides[0].coll;
        }
    }
    return n;
}

static void
make_spec(const struct trial *t, const struct coll_file *of, const struct coll_file *emit, struct mrs_buf *out)
{
    const struct mrs_coll *from[16];
    uint32_t n = joins_of(t, of, from);
    struct mrs_build b;
    struct mrs_view doc;
    mrs_build_init(&b, out);
    mrs_build_open(&b, "$reshape", 8, MRS_DOCUMENT);
    mrs_build_val(&b, "plan", 4, mrs_view_val(t->plan_doc));
    put_coll(&b, "of", of);
    put_coll(&b, "emit", emit);
    if (n) {
        mrs_build_open(&b, "with", 4, MRS_DOCUMENT);
        for (uint32_t i = 0; i < n; i++) {
            char field[20];
            snprintf(field, sizeof field, "__%u", i);
            mrs_build_text(&b, from[i]->coll, field, (uint32_t)strlen(field));
        }
        mrs_build_close(&b);
    }
    mrs_build_text(&b, "refused", "skip", 4);
    mrs_build_close(&b);
    mrs_build_finish(&b, &doc, NULL);
}

/* Whether the offline tool has refused the document before this step: then it was there no more. */
static bool
was_refused(const struct trial *t, const struct mrs_coll *c, struct mrs_view doc)
{
    uint32_t step = UINT32_MAX;
    for (uint32_t i = 0; i < t->plan->n_steps; i++) {
        const struct mrs_desc *d = &t->plan->steps[i].desc;
        step = d->family == MRS_FAMILY_JOIN && strcmp(d->sides[0].coll.ns, c->ns) == 0 ? i + 1 : step;
    }
    for (uint32_t i = 0; i < t->refused.n; i++) {
        int64_t at = 0;
        struct mrs_val d = mrs_doc_get(t->refused.doc[i], "doc");
        (void)mrs_val_integral(mrs_doc_get(t->refused.doc[i], "step"), &at);
        if (at < step && mrs_val_is_text(mrs_doc_get(t->refused.doc[i], "ns"), c->ns) && d.type == MRS_DOCUMENT &&
            d.n == doc.n && memcmp(d.p, doc.p, doc.n) == 0) {
            return true;
        }
    }
    return false;
}

/* Every document with all of each partner collection in its field: the stage looks who matches. */
static void
add_partners(const struct trial *t, const struct coll_file *of, struct host_docs *docs)
{
    const struct mrs_coll *from[16];
    uint32_t n = joins_of(t, of, from);
    for (uint32_t i = 0; i < of->docs.n; i++) {
        struct mrs_buf buf;
        struct mrs_build b;
        struct mrs_view d;
        mrs_buf_init(&buf, t->mem, 256u << 20);
        mrs_build_init(&b, &buf);
        mrs_build_raw(&b, of->docs.doc[i].p + 4, of->docs.doc[i].n - MRS_DOC_MIN);
        for (uint32_t k = 0; k < n; k++) {
            const struct coll_file *f = find(&t->in, from[k]->db, from[k]->coll);
            char field[20];
            snprintf(field, sizeof field, "__%u", k);
            mrs_build_open(&b, field, (uint32_t)strlen(field), MRS_ARRAY);
            for (uint32_t j = 0; f && j < f->docs.n; j++) {
                if (!was_refused(t, from[k], f->docs.doc[j])) {
                    mrs_build_item(&b, mrs_view_val(f->docs.doc[j]));
                }
            }
            mrs_build_close(&b);
        }
        if (mrs_build_finish(&b, &d, NULL) == MRS_OK) {
            host_add(docs, d);
        }
        mrs_buf_clear(&buf);
    }
}

/* ---- the `$sort` that a grouped step needs ---- */
struct sort_item {
    struct mrs_buf key;
    uint32_t at;
};

static int
by_key(const void *pa, const void *pb)
{
    const struct sort_item *a = pa, *b = pb;
    size_t n = a->key.n < b->key.n ? a->key.n : b->key.n;
    int c = n ? memcmp(a->key.p, b->key.p, n) : 0;
    c = c ? c : (a->key.n > b->key.n) - (a->key.n < b->key.n);
    return c ? c : (a->at > b->at) - (a->at < b->at);
}

static void
group_place(const struct mrs_step *s, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_buf *key)
{
    struct mrs_fold_entry x = {0};
    struct mrs_buf shared, *all[] = {&x.group, &x.order, &x.payload, &x.shared, &shared};
    for (size_t i = 0; i < 5; i++) {
        mrs_buf_init(all[i], c->mem, 64u << 20);
    }
    const struct mrs_fold_ops *ops = s->type->fold;
    mrs_arena_reset(c->arena);
    mrs_err_clear(c->err);
    if (ops->enter(s->state, c, work, doc, &x) == MRS_OK && x.takes_part) {
        struct mrs_buf *k = &x.shared;
        if (ops->shared) {
            ops->shared(s->state, c, work, doc, (struct mrs_view){x.shared.p, (uint32_t)x.shared.n}, &shared);
            k = &shared;
        }
        ops->place(s->state, c, (struct mrs_view){k->p, (uint32_t)k->n}, key);
    }
    for (size_t i = 0; i < 5; i++) {
        mrs_buf_clear(all[i]);
    }
}

static void
sort_for(const struct trial *t, const struct coll_file *of, const struct coll_file *emit, struct host_docs *docs)
{
    const struct mrs_step *s = NULL;
    for (uint32_t i = 0; i < t->plan->n_steps; i++) {
        const struct mrs_desc *d = &t->plan->steps[i].desc;
        bool here = d->family == MRS_FAMILY_FOLD && strcmp(d->sides[0].coll.coll, of->coll) == 0;
        bool best = here && (!s || strcmp(d->sides[1].coll.coll, emit->coll) == 0);
        s = best ? &t->plan->steps[i] : s;
    }
    if (!s || !docs->n) {
        return;
    }
    struct mrs_arena arena;
    struct mrs_err err;
    mrs_arena_init(&arena, t->mem);
    struct mrs_ctx c = {.mem = t->mem, .arena = &arena, .err = &err};
    void *work = mrs_zalloc(t->mem, s->type->work_size + 1);
    struct sort_item *item = calloc(docs->n, sizeof *item);
    struct host_docs sorted = {0};
    for (uint32_t i = 0; i < docs->n; i++) {
        mrs_buf_init(&item[i].key, t->mem, 64u << 20);
        item[i].at = i;
        group_place(s, &c, work, docs->doc[i], &item[i].key);
    }
    qsort(item, docs->n, sizeof *item, by_key);
    for (uint32_t i = 0; i < docs->n; i++) {
        host_add(&sorted, docs->doc[item[i].at]);
        mrs_buf_clear(&item[i].key);
    }
    free(item);
    s->type->work_clear(&c, work);
    mrs_free(t->mem, work);
    mrs_arena_clear(&arena);
    host_clear(docs);
    *docs = sorted;
}

/* ---- one stream ---- */
enum result { RAN, NOT_REACHED, NOT_ADMITTED, FAILED };

static enum result
stream(struct trial *t, const struct coll_file *of, const struct coll_file *emit, struct host_docs *out)
{
    struct mrs_buf spec;
    struct host_docs docs = {0};
    struct host_source source;
    struct host_context c;
    mrs_buf_init(&spec, t->mem, 64u << 20);
    make_spec(t, of, emit, &spec);
    struct mdb_exec *x = host_stage(t->host, (struct mrs_view){spec.p, (uint32_t)spec.n}, of->db);
    mrs_buf_clear(&spec);
    if (!x) {
        snprintf(t->why, sizeof t->why, "%s", t->host->error);
        bool far = strstr(t->why, "no document of this stage comes to") || strstr(t->why, "the plan has no collection");
        return far && strstr(t->why, ": 1 mistake: ") ? NOT_REACHED : NOT_ADMITTED;
    }
    add_partners(t, of, &docs);
    sort_for(t, of, emit, &docs);
    host_context(&c);
    host_source(&source, &docs, HOST_MIXES);
    source.pause_every = 3;
    host_ok(t->host, x->calls->set_source(x, &source.face));
    int ended = host_drain(t->host, x, &c, out);
    snprintf(t->why, sizeof t->why, "%s", t->host->error);
    x->calls->destroy(x);
    host_source_clear(&source);
    host_clear(&docs);
    return ended == HOST_DONE ? RAN : FAILED;
}

/* ---- one collection of the output ---- */
static bool
is_coll(const struct mrs_coll *c, const struct coll_file *f)
{
    return strcmp(c->db, f->db) == 0 && strcmp(c->coll, f->coll) == 0;
}

/* Documents that a join or a group takes, or finds without a partner: what becomes of them is not the stage's. */
static bool
is_partner(const struct trial *t, const struct coll_file *f)
{
    for (uint32_t i = 0; i < t->plan->n_steps; i++) {
        const struct mrs_desc *d = &t->plan->steps[i].desc;
        if (d->family == MRS_FAMILY_JOIN && is_coll(&d->sides[0].coll, f) && !is_coll(&d->sides[1].coll, f)) {
            return true;
        }
    }
    return false;
}

static bool
is_named(const struct trial *t, const struct coll_file *f)
{
    bool yes = false;
    for (uint32_t i = 0; i < t->plan->n_steps; i++) {
        const struct mrs_desc *d = &t->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            yes = yes || is_coll(&d->sides[k].coll, f);
        }
    }
    return yes;
}

static bool
is_clients(const struct trial *t, const struct coll_file *f)
{
    for (uint32_t i = 0; i < t->plan->n_steps; i++) {
        const struct mrs_desc *d = &t->plan->steps[i].desc;
        bool two = d->family == MRS_FAMILY_JOIN || d->family == MRS_FAMILY_FOLD;
        for (uint32_t k = 0; two && k < d->n_sides; k++) {
            bool taken = k == 0 && !is_coll(&d->sides[1].coll, f);
            if ((taken || strncmp(d->sides[k].what, "orphans", 7) == 0) && is_coll(&d->sides[k].coll, f)) {
                return true;
            }
        }
    }
    return false;
}

static int
by_bytes(const void *pa, const void *pb)
{
    const struct mrs_view *a = pa, *b = pb;
    uint32_t n = a->n < b->n ? a->n : b->n;
    int c = memcmp(a->p, b->p, n);
    return c ? c : (a->n > b->n) - (a->n < b->n);
}

static bool
same(const struct host_docs *a, const struct host_docs *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        if (by_bytes(&a->doc[i], &b->doc[i]) != 0) {
            return false;
        }
    }
    return a->n == b->n;
}

/* What `$merge` makes of documents with one `_id`: the last one is there. True: there were some. */
static bool
merge(struct host_docs *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        bool last = true;
        for (uint32_t k = i + 1; k < d->n && last; k++) {
            last = mrs_compare(mrs_doc_get(d->doc[i], "_id"), mrs_doc_get(d->doc[k], "_id")) != 0;
        }
        if (last) {
            d->doc[n++] = d->doc[i];
        } else {
            free((void *)(uintptr_t)d->doc[i].p);
        }
    }
    bool any = n < d->n;
    d->n = n;
    return any;
}

static void
show(const char *whose, const struct host_docs *d)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    mrs_buf_init(&b, mem, 64u << 20);
    for (uint32_t i = 0; i < d->n && i < 20; i++) {
        mrs_buf_reset(&b);
        mrs_ejson_write(d->doc[i], true, &b);
        printf("    %s %.*s\n", whose, (int)b.n, (const char *)b.p);
    }
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
}

static int
try_coll(struct trial *t, const struct coll_file *want)
{
    struct host_docs got = {0}, offline = {0};
    const char *verdict = "same";
    char why[4096] = "";
    if (!is_named(t, want)) {
        printf("untouched %s.%s\n", want->db, want->coll);
        return 0;
    }
    for (uint32_t i = 0; i < 2 * t->in.n && *verdict == 's'; i++) { /* what is there already comes first */
        const struct coll_file *of = &t->in.file[i % t->in.n];
        bool own = strcmp(of->coll, want->coll) == 0 && strcmp(of->db, want->db) == 0;
        bool now = own == (i < t->in.n) && !is_partner(t, of);
        enum result r = now ? stream(t, of, want, &got) : NOT_REACHED;
        verdict = r == NOT_ADMITTED ? "refused" : r == FAILED ? "differs" : verdict;
        if (r == NOT_ADMITTED || r == FAILED) {
            snprintf(why, sizeof why, "%.4000s", t->why);
        }
    }
    for (uint32_t i = 0; i < want->docs.n; i++) {
        host_add(&offline, want->docs.doc[i]);
    }
    bool equal = same(&got, &offline), merged = *verdict == 's' && !equal && merge(&got);
    if (*verdict == 's' && !equal) {
        qsort(got.doc, got.n, sizeof *got.doc, by_bytes);
        qsort(offline.doc, offline.n, sizeof *offline.doc, by_bytes);
        verdict = !same(&got, &offline) ? "differs" : merged ? "merged" : "sorted";
    }
    printf("%s %s.%s (%u documents) %s\n", verdict, want->db, want->coll, want->docs.n, why);
    if (*verdict == 'd') {
        show("offline", &offline);
        show("stage  ", &got);
    }
    host_clear(&got);
    host_clear(&offline);
    return *verdict == 'd';
}

static bool
load_plan(struct trial *t, const char *file, char *text, size_t size)
{
    struct mrs_plan_opts opts = {.file = "plan", .default_db = t->in.n ? t->in.file[0].db : "t", .now_ms = 0};
    struct mrs_buf doc;
    struct mrs_err e;
    FILE *f = fopen(file, "rb");
    size_t n = f ? fread(text, 1, size, f) : 0;
    mrs_buf_init(&doc, t->mem, 64u << 20);
    mrs_err_clear(&e);
    bool ok = f && mrs_yaml_doc(t->mem, text, n, &doc, &e) == MRS_OK &&
              mrs_plan_load(t->mem, text, n, &opts, &t->plan, &e) == MRS_OK;
    if (f) {
        fclose(f);
    }
    t->plan_doc = (struct mrs_view){doc.p, (uint32_t)doc.n};
    if (!ok) {
        printf("not loaded: %s\n", e.msg);
    }
    return ok;
}

/* Equal `_id`s are found by the offline tool, and by `$merge` behind a stage. */
static bool
has_conflicts(struct trial *t, const char *refused)
{
    bool yes = false;
    host_load(&t->refused, refused);
    for (uint32_t i = 0; i < t->refused.n; i++) {
        yes = yes || mrs_val_is_text(mrs_doc_get(t->refused.doc[i], "place"), "conflicts");
    }
    return yes;
}

static void
clear(struct trial *t)
{
    struct side *sides[] = {&t->in, &t->out};
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < sides[i]->n; k++) {
            host_clear(&sides[i]->file[k].docs);
        }
    }
    host_clear(&t->refused);
    mrs_plan_free(t->plan);
    mrs_free(t->mem, (void *)(uintptr_t)t->plan_doc.p);
    CHECK(mrs_mem_close(t->mem) == 0);
    free(t);
}

int
host_case(const char *so, int argc, char **argv)
{
    static char text[1 << 20];
    struct host h;
    struct trial *t = calloc(1, sizeof *t);
    int bad = 0;
    if (argc != 4 || !t) {
        return 2;
    }
    t->host = &h;
    t->mem = mrs_mem_new(0);
    load_side(&t->in, argv[1]);
    load_side(&t->out, argv[2]);
    if (has_conflicts(t, argv[3])) {
        printf("merge: equal _ids are left to $merge\n");
    } else if (!load_plan(t, argv[0], text, sizeof text) || !host_open(&h, so, "")) {
        bad = 2;
    } else {
        for (uint32_t i = 0; i < t->out.n; i++) {
            if (is_clients(t, &t->out.file[i])) {
                printf("client's %s\n", t->out.file[i].coll);
            } else {
                bad |= try_coll(t, &t->out.file[i]);
            }
        }
    }
    CHECK(host_counts.statuses == 0 && host_counts.bufs == 0 && !host_counts.tripwire);
    clear(t);
    return bad || host_failed ? 1 : 0;
}
