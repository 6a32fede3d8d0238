/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.c - runs the vectors that were observed on a MongoDB server (8.2.4) against common/expr.
 *
 *   vectors FOLDER [--differences FILE] [--only OPERATOR] [--verbose]
 *
 * FOLDER holds expressions.bson, queries.bson, sort.bson and group.bson: BSON documents one behind the other, one a
 * vector. A vector gives documents, what to evaluate, and what the server answered: a value, `absent`, or an error code
 * (we must fail too, at plan time or later). Values must agree in type and bytes; the payload of NaN and the
 * order of the options of a regex are let go. A vector that fails because of an operator we do not have
 * is skipped, by name. What we do differently on purpose is in differences.txt with its reason; a line there
 * whose vector passes is a failure too, so that the list stays true. */
#include "mongoreshape/expr.h"
#include "mongoreshape/value.h"
#include "compare.h"
#include "stages.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define OPERATORS_MAX 400
#define DIFFERENCES_MAX 400
#define NOW_MS 1764547200000 /* 2025-12-01 */

struct tally {
    char name[48];
    uint32_t passed, failed, skipped;
};

struct suite {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    struct tally by[OPERATORS_MAX];
    uint32_t n_by;
    struct {
        char *id, *reason;
        bool met;
    } differences[DIFFERENCES_MAX];
    uint32_t n_differences;
    uint32_t passed, failed, skipped, accepted;
    const char *only;
    bool verbose;
};

/* One vector and what came out of it. */
struct vector {
    struct mrs_view doc;
    const char *id;
    char what[48]; /* the operator it is counted under */
    struct mrs_err err;
    const char *wrong; /* NULL: as the server */
};

static struct tally *
tally_of(struct suite *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_by; i++) {
        if (strcmp(s->by[i].name, name) == 0) {
            return &s->by[i];
        }
    }
    if (s->n_by == OPERATORS_MAX) {
        fprintf(stderr, "vectors: more than %d operators\n", OPERATORS_MAX);
        exit(2);
    }
    struct tally *t = &s->by[s->n_by++];
    snprintf(t->name, sizeof t->name, "%s", name);
    return t;
}

/* ---- which operators a vector uses ---- */

static bool
known(const char *name, bool query)
{
    const struct mrs_op_row *row;
    for (uint32_t i = 0; (row = mrs_op_rows(i)); i++) {
        bool usable = strncmp(row->family, "refused", 7) != 0 && strcmp(row->family, "accumulator") != 0;
        if (usable && strcmp(row->name, name) == 0 && (query || strcmp(row->family, "query") != 0)) {
            return true;
        }
    }
    return false;
}

/* The first operator inside that we do not have; NULL: none. */
static const char *
unknown_operator(struct mrs_val v, bool query)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) {
        return NULL;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &el) == 1) {
        bool dollar = v.type == MRS_DOCUMENT && el.name[0] == '$' && el.name_len > 1;
        if (dollar && !known(el.name, query)) {
            return el.name;
        }
        bool quoted = dollar && (strcmp(el.name, "$literal") == 0 || strcmp(el.name, "$const") == 0);
        const char *inside = quoted ? NULL : unknown_operator(el.v, query);
        if (inside) {
            return inside;
        }
    }
    return NULL;
}

static void
first_operator(struct mrs_val v, char what[48])
{
    struct mrs_walk w;
    struct mrs_elem el;
    snprintf(what, 48, "(path or literal)");
    if (v.type == MRS_DOCUMENT) {
        mrs_walk_init(&w, mrs_val_view(v));
        if (mrs_walk_next(&w, &el) == 1 && el.name[0] == '$') {
            snprintf(what, 48, "%s", el.name);
        }
    }
}

/* ---- the four kinds ---- */

static void
judge_failure(struct vector *v, enum mrs_status got)
{
    bool must_fail = mrs_doc_get(v->doc, "code").type != MRS_MISSING;
    if (got == MRS_OK) {
        v->wrong = must_fail ? "should fail" : v->wrong;
    } else if (!must_fail || got == MRS_DEAD) {
        v->wrong = v->err.msg;
    }
}

static void
run_expression(struct suite *s, struct vector *v)
{
    struct mrs_expr_env env = {.mem = s->mem, .now_ms = NOW_MS, .server_8_2 = true};
    struct mrs_eval ev = {.arena = &s->arena, .root = mrs_val_view(mrs_doc_get(v->doc, "doc")), .err = &v->err};
    struct mrs_expr *x = NULL;
    struct mrs_val got = mrs_missing(), expected = mrs_doc_get(v->doc, "expected");
    enum mrs_status st = mrs_expr_compile(&env, mrs_doc_get(v->doc, "expr"), &x, &v->err);
    st = st == MRS_OK ? mrs_expr_eval(x, &ev, &got) : st;
    judge_failure(v, st);
    if (st == MRS_OK && !v->wrong) {
        struct how how = {.any_order = mrs_doc_get(v->doc, "set").type == MRS_BOOL,
                          .any_fields = mrs_doc_get(v->doc, "fields_free").type == MRS_BOOL};
        if (!same_value(got, expected, &how)) {
            v->wrong = describe_difference(got, expected);
        }
    }
    mrs_expr_free(x);
}

static struct picked
list_of(struct suite *s, struct mrs_val array)
{
    struct picked p = {mrs_arena_alloc(&s->arena, (array.n / 2 + 1) * sizeof(struct mrs_val)), 0};
    struct mrs_walk w;
    struct mrs_elem el;
    if (array.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(array));
        while (mrs_walk_next(&w, &el) == 1) {
            p.v[p.n++] = el.v;
        }
    }
    return p;
}

static void
judge_list(struct suite *s, struct vector *v, struct picked got)
{
    struct picked expected = list_of(s, mrs_doc_get(v->doc, "expected"));
    struct mrs_val loose = mrs_doc_get(v->doc, "order_free_in");
    struct how how = {.any_order = mrs_doc_get(v->doc, "docs_order_free").type == MRS_BOOL,
                      .any_fields = mrs_doc_get(v->doc, "fields_free").type == MRS_BOOL,
                      .any_order_in = loose.type == MRS_ARRAY ? mrs_val_view(loose) : mrs_empty_doc()};
    if (!same_list(got.v, got.n, expected.v, expected.n, &how)) {
        static char text[80];
        snprintf(text, sizeof text, "%u documents instead of %u, or others", got.n, expected.n);
        v->wrong = text;
    }
}

static void
run_query(struct suite *s, struct vector *v)
{
    struct mrs_expr_env env = {.mem = s->mem, .now_ms = NOW_MS, .server_8_2 = true};
    struct mrs_query *q = NULL;
    struct picked docs = list_of(s, mrs_doc_get(v->doc, "docs")), got = {docs.v, 0};
    struct mrs_val filter = mrs_doc_get(v->doc, "filter");
    enum mrs_status st = filter.type == MRS_DOCUMENT
                             ? mrs_query_compile(&env, mrs_val_view(filter), &q, &v->err)
                             : mrs_err_set(&v->err, MRS_FAIL, MRS_E_PLAN, "a filter is a document");
    for (uint32_t i = 0; st == MRS_OK && i < docs.n; i++) {
        struct mrs_eval ev = {.arena = &s->arena, .root = mrs_val_view(docs.v[i]), .err = &v->err};
        bool yes = false;
        st = mrs_query_match(q, &ev, &yes);
        if (yes) {
            got.v[got.n++] = docs.v[i];
        }
    }
    judge_failure(v, st);
    if (st == MRS_OK && !v->wrong) {
        judge_list(s, v, got);
    }
    mrs_query_free(q);
}

struct keyed {
    struct mrs_val v;
    struct mrs_buf key;
    uint32_t at;
};

static int
by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    size_t n = x->key.n < y->key.n ? x->key.n : y->key.n;
    int order = memcmp(x->key.p, y->key.p, n);
    order = order ? order : (x->key.n > y->key.n) - (x->key.n < y->key.n);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static enum mrs_status
sort_documents(struct suite *s, struct vector *v, const struct mrs_sort *sort, struct picked docs)
{
    struct keyed *k = mrs_arena_alloc(&s->arena, (docs.n + 1) * sizeof *k);
    enum mrs_status st = MRS_OK;
    uint32_t n = 0;
    for (; n < docs.n && st == MRS_OK; n++) {
        k[n].v = docs.v[n];
        k[n].at = n;
        mrs_buf_init(&k[n].key, s->mem, MRS_KEY_MAX);
        st = mrs_sort_key(sort, mrs_val_view(docs.v[n]), &k[n].key, &v->err);
    }
    if (st == MRS_OK && n) {
        qsort(k, n, sizeof *k, by_key);
    }
    for (uint32_t i = 0; i < n; i++) {
        docs.v[i] = k[i].v;
        mrs_buf_clear(&k[i].key);
    }
    return st;
}

static void
run_sort(struct suite *s, struct vector *v)
{
    struct mrs_expr_env env = {.mem = s->mem, .now_ms = NOW_MS, .server_8_2 = true};
    struct mrs_sort *sort = NULL;
    struct picked docs = list_of(s, mrs_doc_get(v->doc, "docs"));
    struct picked stages = list_of(s, mrs_doc_get(v->doc, "pipeline"));
    struct mrs_val spec = stages.n ? mrs_doc_get(mrs_val_view(stages.v[0]), "$sort") : mrs_missing();
    enum mrs_status st = spec.type == MRS_DOCUMENT ? mrs_sort_compile(&env, mrs_val_view(spec), false, &sort, &v->err)
                                                   : mrs_err_set(&v->err, MRS_FAIL, MRS_E_PLAN,
                                                                 "$sort takes a document");
    st = st == MRS_OK ? sort_documents(s, v, sort, docs) : st;
    judge_failure(v, st);
    if (st == MRS_OK && !v->wrong) {
        judge_list(s, v, docs);
    }
    mrs_sort_free(sort);
}

static enum mrs_status
run_stage(struct suite *s, struct vector *v, const struct mrs_expr_env *env, struct mrs_elem *stage,
          struct picked *docs)
{
    struct picked in = *docs;
    if (strcmp(stage->name, "$group") == 0) {
        return stage_group(env, &s->arena, stage->v, in, docs, &v->err);
    }
    if (strcmp(stage->name, "$project") == 0) {
        return stage_project(env, &s->arena, stage->v, in, docs, &v->err);
    }
    struct mrs_sort *sort = NULL;
    enum mrs_status st = mrs_sort_compile(env, mrs_val_view(stage->v), false, &sort, &v->err);
    st = st == MRS_OK ? sort_documents(s, v, sort, *docs) : st;
    mrs_sort_free(sort);
    return st;
}

static void
run_group(struct suite *s, struct vector *v)
{
    struct mrs_expr_env env = {.mem = s->mem, .now_ms = NOW_MS, .server_8_2 = true};
    struct picked docs = list_of(s, mrs_doc_get(v->doc, "docs"));
    struct picked stages = list_of(s, mrs_doc_get(v->doc, "pipeline"));
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < stages.n; i++) {
        struct mrs_walk w;
        struct mrs_elem el;
        mrs_walk_init(&w, mrs_val_view(stages.v[i]));
        st = mrs_walk_next(&w, &el) == 1 ? run_stage(s, v, &env, &el, &docs) : MRS_OK;
    }
    judge_failure(v, st);
    if (st == MRS_OK && !v->wrong) {
        judge_list(s, v, docs);
    }
}

/* ---- counting ---- */

static bool
accepted(struct suite *s, const char *id, bool wrong)
{
    for (uint32_t i = 0; i < s->n_differences; i++) {
        if (strcmp(s->differences[i].id, id) == 0) {
            s->differences[i].met = wrong;
            return wrong;
        }
    }
    return false;
}

static void
count(struct suite *s, struct vector *v)
{
    struct tally *t = tally_of(s, v->what);
    if (accepted(s, v->id, v->wrong != NULL)) {
        s->accepted++;
    } else if (v->wrong) {
        printf("FAILED %s: %s\n", v->id, v->wrong);
        t->failed++;
        s->failed++;
    } else {
        t->passed++;
        s->passed++;
    }
}

typedef void (*run_fn)(struct suite *s, struct vector *v);

static void
run_one(struct suite *s, struct mrs_view doc, const char *kind, run_fn run)
{
    struct vector v = {.doc = doc};
    uint32_t n;
    struct mrs_val id = mrs_doc_get(doc, "id");
    bool expression = run == run_expression;
    struct mrs_val spec = mrs_doc_get(doc, expression ? "expr" : "filter");
    v.id = id.type == MRS_STRING ? mrs_val_text(id, &n) : "(no id)";
    snprintf(v.what, sizeof v.what, "%s", kind);
    if (expression) {
        first_operator(spec, v.what);
    }
    if (s->only && strcmp(s->only, v.what) != 0) {
        return;
    }
    const char *unknown = unknown_operator(spec, !expression);
    bool must_fail = mrs_doc_get(doc, "code").type != MRS_MISSING;
    mrs_err_clear(&v.err);
    run(s, &v);
    if (v.wrong && unknown && !must_fail) {
        tally_of(s, unknown)->skipped++;
        s->skipped++;
        mrs_arena_reset(&s->arena);
        return;
    }
    count(s, &v);
    if (s->verbose && !v.wrong) {
        printf("passed %s%s%s\n", v.id, v.err.msg[0] ? ": " : "", v.err.msg);
    }
    mrs_arena_reset(&s->arena);
}

static uint8_t *
read_file(const char *folder, const char *name, size_t *n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    *n = 0;
    if (f) {
        for (size_t got = 1; got; *n += got) {
            uint8_t *more = realloc(bytes, *n + (1u << 20));
            if (!more) {
                break;
            }
            bytes = more;
            got = fread(bytes + *n, 1, 1u << 20, f);
        }
        fclose(f);
    }
    if (!bytes) {
        fprintf(stderr, "vectors: cannot read %s: %s\n", path, strerror(errno));
        exit(2);
    }
    return bytes;
}

static void
run_file(struct suite *s, const char *folder, const char *name, const char *kind, run_fn run)
{
    size_t n, at = 0;
    uint8_t *bytes = read_file(folder, name, &n);
    while (n - at >= 5) {
        uint32_t len = mrs_le32(bytes + at);
        if (len < 5 || len > n - at) {
            fprintf(stderr, "vectors: %s is damaged at byte %zu\n", name, at);
            exit(2);
        }
        run_one(s, (struct mrs_view){bytes + at, len}, kind, run);
        at += len;
    }
    free(bytes);
}

/* "id<TAB>reason" a line; # begins a comment. */
static void
read_differences(struct suite *s, const char *path)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "vectors: cannot read %s: %s\n", path, strerror(errno));
        exit(2);
    }
    while (fgets(line, sizeof line, f)) {
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || line[0] == 0) {
            continue;
        }
        if (!tab || s->n_differences == DIFFERENCES_MAX) {
            fprintf(stderr, "vectors: %s: a line without a tab, or too many: %s\n", path, line);
            exit(2);
        }
        *tab = 0;
        s->differences[s->n_differences].id = strdup(line);
        s->differences[s->n_differences++].reason = strdup(tab + 1);
    }
    fclose(f);
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct tally *)a)->name, ((const struct tally *)b)->name);
}

static void
report(struct suite *s)
{
    qsort(s->by, s->n_by, sizeof *s->by, by_name);
    printf("\n%-24s %7s %7s %7s\n", "operator", "passed", "failed", "skipped");
    for (uint32_t i = 0; i < s->n_by; i++) {
        printf("%-24s %7u %7u %7u\n", s->by[i].name, s->by[i].passed, s->by[i].failed, s->by[i].skipped);
    }
    for (uint32_t i = 0; i < s->n_differences; i++) {
        if (!s->only && !s->differences[i].met) {
            printf("FAILED %s: listed as a difference, but it passes or is not there\n", s->differences[i].id);
            s->failed++;
        } else if (!s->only) {
            printf("accepted %s: %s\n", s->differences[i].id, s->differences[i].reason);
        }
        free(s->differences[i].id);
        free(s->differences[i].reason);
    }
}

int
main(int argc, char **argv)
{
    static struct suite s;
    const char *folder = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--differences") == 0 && i + 1 < argc) {
            read_differences(&s, argv[++i]);
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            s.only = argv[++i];
        } else if (strcmp(argv[i], "--verbose") == 0) {
            s.verbose = true;
        } else {
            folder = argv[i];
        }
    }
    if (!folder) {
        fprintf(stderr, "usage: vectors FOLDER [--differences FILE] [--only OPERATOR] [--verbose]\n");
        return 2;
    }
    s.mem = mrs_mem_new(0);
    mrs_arena_init(&s.arena, s.mem);
    run_file(&s, folder, "expressions.bson", "", run_expression);
    run_file(&s, folder, "queries.bson", "(query)", run_query);
    run_file(&s, folder, "sort.bson", "(sort)", run_sort);
    run_file(&s, folder, "group.bson", "(group)", run_group);
    mrs_arena_clear(&s.arena);
    report(&s);
    uint64_t leaked = mrs_mem_close(s.mem);
    if (leaked) {
        printf("FAILED %llu blocks of memory are still live\n", (unsigned long long)leaked);
        s.failed++;
    }
    printf("%u accepted differences\n", s.accepted);
    printf("%u passed, %u failed, %u skipped\n", s.passed, s.failed, s.skipped);
    return s.failed ? 1 : 0;
}
