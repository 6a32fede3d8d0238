/* SPDX-License-Identifier: Apache-2.0 */
/* host_loading.c - versions and options: what is said before there is a stage. */
#include "host.h"

#include "mongoreshape/ejson.h"
#include "mongoreshape/plan.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void
host_versions(const char *so)
{
    static const struct mdb_version others[] = {{0, 1}, {1, 1}, {2, 0}, {0, 0}, {UINT32_MAX, UINT32_MAX}};
    struct host h;
    void *library = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    struct mdb_status *(*get)(struct mdb_version, const struct mdb_services *, const struct mdb_extension **);
    if (!CHECK(library != NULL)) {
        return;
    }
    *(void **)&get = dlsym(library, "get_mongodb_extension");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct mdb_extension *x = NULL;
        CHECK(!host_ok(&h, get(others[i], NULL, &x)) && x == NULL);
        CHECK(strstr(h.error, "version 1.0") != NULL);
    }
    long logs = host_counts.logs;
    CHECK(host_open(&h, so, ""));
    CHECK(host_counts.logs == logs + 1);
    struct mdb_bytes name = h.stage->calls->get_name(h.stage);
    CHECK(name.len == 8 && memcmp(name.data, "$reshape", 8) == 0 && h.stage->calls->get_client_type(h.stage) == 0);
}

#define PLANS "plans:\n- database: shop\n  steps:\n  - set: { in: a, fields: { x: 1 } }\n"
/* A stage that names its plan: it is there, or it is said that it is not. */
static void
by_id(struct host *h, const char *id, bool there)
{
    char text[200];
    snprintf(text, sizeof text, "{'$reshape': {'planId': '%s'}}", id);
    struct mrs_view d = host_doc(text);
    struct mdb_exec *x = host_stage(h, d, "elsewhere");
    CHECK(there == (x != NULL));
    if (x) {
        x->calls->destroy(x);
    } else {
        CHECK(strstr(h->error, "no plan") && strstr(h->error, id));
    }
    free((void *)(uintptr_t)d.p);
}

void
host_options(const char *so)
{
    static const struct {
        const char *options, *says; /* says NULL: it is taken */
    } tries[] = {
        {"{}", NULL},
        {"memory: 2097152", NULL},
        {"{ memory: 33554432, plans: [] }", NULL},
        {PLANS, NULL},
        {"memory: 5", "`memory` must be"},
        {"memory: 1000000000000", "`memory` must be"},
        {"memori: 5", "did you mean `memory`"},
        {"zzz: 5", "there are `plans` and `memory`"},
        {"plans: 5", "`plans` must be a list"},
        {"plans: [ 5 ]", "list of plans"},
        {"plans: [ { steps: [ { set: { in: a, fields: { x: 1 } } } ] } ]", "needs a `database`"},
        {"plans: [ { database: shop, steps: [ { sett: { in: a } } ] } ]", "did you mean `set`"},
        {"- 1", "a map is expected"},
        {"{ a: [ }", "line 1"},
    };
    struct host h;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        bool ok = host_open(&h, so, tries[i].options);
        CHECK(ok == !tries[i].says);
        CHECK(ok || strstr(h.error, tries[i].says));
        CHECK(ok || strstr(h.error, "extensionOptions"));
    }
    CHECK(host_open(&h, so, PLANS));
    static const char text[] = "database: shop\nsteps:\n- set: { in: a, fields: { x: 1 } }\n";
    struct mrs_plan_opts opts = {.file = "plan"};
    struct mrs_plan *p = NULL;
    struct mrs_mem *mem = mrs_mem_new(0);
    char id[33];
    if (CHECK(mrs_plan_load(mem, text, sizeof text - 1, &opts, &p, NULL) == MRS_OK)) {
        mrs_plan_id_text(p, id);
        by_id(&h, id, true);
    }
    mrs_plan_free(p);
    mrs_mem_close(mem);
    by_id(&h, "0b5a0bd6f8c8a3a2b4a7c4c1a8c9d0e1", false);
}

/* ---- what docs/SERVER.md shows ---- */
/* The text of the braces that begin at p; their end in *end. */
static char *
braces(const char *p, const char **end)
{
    int depth = 0;
    const char *q = p;
    do {
        depth += (*q == '{') - (*q == '}');
        q++;
    } while (depth && *q);
    *end = q;
    return strndup(p, (size_t)(q - p));
}

static void
shown_stage(struct host *h, const char *text)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_buf_init(&b, mem, 1u << 20);
    CHECK(mrs_yaml_doc(mem, text, strlen(text), &b, &e) == MRS_OK);
    struct mdb_exec *x = host_stage(h, (struct mrs_view){b.p, (uint32_t)b.n}, "shop");
    if (CHECK(x != NULL)) {
        x->calls->destroy(x);
    } else {
        host_note(text, h->error);
    }
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
}

void
host_shown(const char *so, const char *file)
{
    static char text[1 << 20];
    struct host h;
    FILE *f = fopen(file, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0, shown = 0;
    const char *options = strstr(text, "extensionOptions:\n"), *end = options ? strstr(options, "   ```") : NULL;
    if (f) {
        fclose(f);
    }
    if (!CHECK(n > 0 && end)) {
        return;
    }
    char *yaml = strndup(options + 18, (size_t)(end - options) - 18);
    CHECK(host_open(&h, so, yaml));
    free(yaml);
    for (const char *p = text; (p = strstr(p, "\n  { $reshape: {")) != NULL;) {
        char *stage = braces(p + 3, &p);
        shown_stage(&h, stage);
        free(stage);
        shown++;
    }
    CHECK(shown == 2);
}

/* ---- what `explain --stage` shows ---- */
/* Each `$reshape` of a pipeline is taken as it stands. */
static void
try_pipeline(struct host *h, struct mrs_view pipeline, const char *db)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    mrs_walk_init(&w, pipeline);
    while (mrs_walk_next(&w, &el) == 1) {
        if (mrs_doc_get(mrs_val_view(el.v), "$reshape").type != MRS_DOCUMENT) {
            continue;
        }
        struct mdb_exec *x = host_stage(h, mrs_val_view(el.v), db);
        if (CHECK(x != NULL)) {
            x->calls->destroy(x);
        } else {
            host_note("explain --stage", h->error);
        }
        n++;
    }
    CHECK(n == 1);
}

void
host_stages(const char *so, const char *file, const char *db)
{
    static char text[1 << 24];
    struct host h;
    struct mrs_buf doc;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_walk w;
    struct mrs_elem el;
    FILE *f = fopen(file, "rb");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0, used = 0;
    if (f) {
        fclose(f);
    }
    mrs_buf_init(&doc, mem, 1u << 26);
    if (CHECK(mrs_ejson_read(text, n, MRS_EJSON_STRICT, &doc, &used, NULL) == MRS_OK) && CHECK(host_open(&h, so, ""))) {
        struct mrs_view d = {doc.p, (uint32_t)doc.n};
        mrs_walk_init(&w, mrs_val_view(mrs_doc_get(d, "stages")));
        while (mrs_walk_next(&w, &el) == 1) {
            try_pipeline(&h, mrs_val_view(mrs_doc_get(mrs_val_view(el.v), "pipeline")), db);
        }
    }
    mrs_buf_clear(&doc);
    mrs_mem_close(mem);
}
