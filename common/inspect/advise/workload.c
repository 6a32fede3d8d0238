/* SPDX-License-Identifier: Apache-2.0 */
/* workload.c - the frequency of reads and writes, as given by the user, and the rules that use it.
 *
 * {workload: 1, per: "1h", collections: {"db.coll": {find: {path: n}, insert: n, update: {path: n}, together:
 * {"db.other": n}, sum: {path: n}}}}; all numbers are for the same period. */
#include "advise.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/walk.h"
#include "mongoreshape/words.h"

static double
number(struct mrs_val v)
{
    int64_t n;
    return v.type == MRS_DOUBLE ? mrs_val_double(v) : mrs_val_integral(v, &n) ? (double)n : 0;
}

static double
sum_of(struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem x;
    double all = 0;
    if (v.type != MRS_DOCUMENT) {
        return number(v);
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &x) > 0) {
        all += number(x.v);
    }
    return all;
}

static struct mrs_val
entry(const struct mrsi_inspection *x, const struct mrsi_collection *c)
{
    struct mrs_val list = mrs_doc_get(x->workload, "collections");
    return list.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(list), c->ns) : mrs_missing();
}

static struct mrs_val
part(const struct mrsi_inspection *x, const struct mrsi_collection *c, const char *name)
{
    struct mrs_val e = entry(x, c);
    return e.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(e), name) : mrs_missing();
}

static double
of_path(struct mrs_val map, const char *path)
{
    return map.type == MRS_DOCUMENT ? number(mrs_doc_get(mrs_val_view(map), path)) : 0;
}

double
mrsi_reads_alone(const struct mrsi_inspection *x, const struct mrsi_collection *c)
{
    return sum_of(part(x, c, "find"));
}

double
mrsi_reads_together(const struct mrsi_inspection *x, const struct mrsi_collection *a, const struct mrsi_collection *b)
{
    return of_path(part(x, a, "together"), b->ns) + of_path(part(x, b, "together"), a->ns);
}

/* ---- reading it ---- */
static enum mrs_status
wrong(struct mrs_err *e, const char *what, const char *name)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--workload: %s %.200s", what, name);
}

static bool
is_count(struct mrs_val v)
{
    return mrs_is_number(v) && number(v) >= 0; /* NaN is none */
}

/* The numbers of one kind of operations, by path, or by collection. */
static enum mrs_status
check_counts(struct mrs_elem of, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem x;
    if (of.v.type != MRS_DOCUMENT) {
        return is_count(of.v) ? MRS_OK : wrong(e, "a number from 0 on, or {path: number}, is expected at", of.name);
    }
    mrs_walk_init(&w, mrs_val_view(of.v));
    while (mrs_walk_next(&w, &x) > 0) {
        if (!is_count(x.v)) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--workload: a number from 0 on is expected at %.100s: %.200s",
                               of.name, x.name);
        }
    }
    return MRS_OK;
}

static enum mrs_status
check_entry(struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    static const char *const known[] = {"find", "insert", "update", "together", "sum", "delete", "writes"};
    struct mrs_walk w;
    struct mrs_elem x;
    enum mrs_status s = MRS_OK;
    mrs_walk_init(&w, doc);
    while (s == MRS_OK && mrs_walk_next(&w, &x) > 0) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            found |= strcmp(x.name, known[i]) == 0;
        }
        if (!found) {
            const char *near = mrs_nearest(x.name, known, sizeof known / sizeof *known);
            return near ? mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--workload: unknown key %.100s; did you mean %s?",
                                      x.name, near)
                        : wrong(e, "unknown key", x.name);
        }
        s = check_counts(x, e);
    }
    return s;
}

static enum mrs_status
check(const struct mrsi_inspection *y, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val list = mrs_doc_get(doc, "collections");
    struct mrs_walk w;
    struct mrs_elem x;
    int64_t version;
    enum mrs_status s = MRS_OK;
    if (!mrs_val_integral(mrs_doc_get(doc, "workload"), &version) || version != 1 || list.type != MRS_DOCUMENT) {
        return wrong(e, "{workload: 1, collections: {...}} is expected,", "see docs/INSPECT.md");
    }
    mrs_walk_init(&w, mrs_val_view(list));
    while (s == MRS_OK && mrs_walk_next(&w, &x) > 0) {
        bool found = false;
        for (uint32_t i = 0; i < y->colls; i++) {
            found |= strcmp(y->coll[i].ns, x.name) == 0;
        }
        s = !found                     ? wrong(e, "the input has no collection", x.name)
            : x.v.type != MRS_DOCUMENT ? wrong(e, "a document is expected at", x.name)
                                       : check_entry(mrs_val_view(x.v), e);
    }
    return s;
}

enum mrs_status
mrsi_workload_read(struct mrsi_inspection *x, const char *text, struct mrs_err *e)
{
    struct mrs_buf bson;
    size_t used = 0;
    x->workload = mrs_empty_doc();
    if (!text) {
        return MRS_OK;
    }
    mrs_buf_init(&bson, x->mem, MRS_DOC_MAX);
    enum mrs_status s = mrs_ejson_read(text, strlen(text), MRS_EJSON_DATA, &bson, &used, e);
    if (s != MRS_OK && e) {
        e->code = MRS_E_USAGE;
        mrs_err_at(e, "--workload");
    }
    MRS_THEN(s, check(x, (struct mrs_view){bson.p, (uint32_t)bson.n}, e));
    if (s == MRS_OK) {
        const uint8_t *p = mrs_arena_copy(&x->arena, bson.p, bson.n);
        x->workload_source = "--workload";
        x->workload = p ? (struct mrs_view){p, (uint32_t)bson.n} : mrs_empty_doc();
        s = mrs_allocated(p, bson.n, e);
    }
    mrs_buf_clear(&bson);
    return s;
}

/* ---- rules ---- */
/* An array of documents that is read without its surrounding document. */
static void
read_alone(struct mrsi_advice *y, struct mrsi_collection *c)
{
    struct mrs_val find = part(y->x, c, "find");
    double all = sum_of(find);
    for (uint32_t i = 0; i < c->paths; i++) {
        struct mrsi_path *p = &c->path[i];
        double n = of_path(find, p->text);
        if (n > 0 && n * 2 >= all && (p->length || p->count.n[MRSI_OBJECT] * 2 > p->present) && p->kind == MRSI_FIELD) {
            struct mrsi_rule_found *r = mrsi_note(
                y, c, "read-alone", p->text, "%.0f of %.0f reads want it alone: it could be a collection of its own", n,
                all);
            r->step = "extract";
            r->at = p;
            mrsi_add_figures(y, (struct mrsi_figure[]){{"reads", n}, {"allReads", all}}, 2);
        }
    }
}

static void
copy_worn(struct mrsi_advice *y)
{
    for (uint32_t i = 0; i < y->x->copies; i++) {
        struct mrsi_copied *c = &y->x->copy[i];
        double writes = c->reported ? of_path(part(y->x, c->of->in, "update"), c->of->text) : 0;
        double reads = sum_of(part(y->x, c->from->in, "find"));
        if (writes > 0 && writes * 10 > reads) {
            struct mrsi_rule_found *r = mrsi_note(
                y, c->from->in, "copy-worn", c->from->text,
                "its original is written %.0f times for %.0f reads of the copies: each write has to reach all of them",
                writes, reads);
            mrsi_add_figures(y, (struct mrsi_figure[]){{"writes", writes}, {"reads", reads}}, 2);
            r->copy = c;
        }
    }
}

static void
join_heavy(struct mrsi_advice *y)
{
    for (uint32_t i = 0; i < y->x->refs; i++) {
        struct mrsi_reference *r = y->x->ref[i];
        struct mrsi_collection *c = r->from[0]->in;
        double n = r->candidate || r->dropped ? 0 : mrsi_reads_together(y->x, c, r->to[0]->in);
        double all = mrsi_reads_alone(y->x, c);
        if (n > 0 && n * 2 >= all) {
            struct mrsi_rule_found *f = mrsi_note(
                y, c, "join-heavy", r->from[0]->text,
                "%.0f reads want %s as well, %.0f do not: copies of the fields they show would spare the join", n,
                mrsi_target_name(r->to[0]->in, c), all);
            f->step = "copy";
            f->reference = r;
            mrsi_add_figures(y, (struct mrsi_figure[]){{"together", n}, {"alone", all}}, 2);
        }
    }
}

static void
sum_on_read(struct mrsi_advice *y, struct mrsi_collection *c)
{
    struct mrs_val sums = part(y->x, c, "sum");
    struct mrs_walk w;
    struct mrs_elem x;
    struct mrs_val once = part(y->x, c, "writes"); /* an update of several paths counts once */
    double writes = sum_of(part(y->x, c, "insert")) + sum_of(once.type == MRS_MISSING ? part(y->x, c, "update") : once);
    if (sums.type != MRS_DOCUMENT) {
        return;
    }
    mrs_walk_init(&w, mrs_val_view(sums));
    while (mrs_walk_next(&w, &x) > 0) {
        if (number(x.v) > writes) {
            struct mrsi_rule_found *r = mrsi_note(y, c, "sum-on-read", x.name,
                                                  "summed up %.0f times for %.0f writes: a stored sum costs less",
                                                  number(x.v), writes);
            r->step = "rollup";
            mrsi_add_figures(y, (struct mrsi_figure[]){{"sums", number(x.v)}, {"writes", writes}}, 2);
        }
    }
}

/* An index whose first path no read uses. A profile covers only a period, so it proves nothing: $indexStats does. */
static void
unused_index(struct mrsi_advice *y, struct mrsi_collection *c)
{
    struct mrs_val find = part(y->x, c, "find");
    for (uint32_t i = 0; find.type == MRS_DOCUMENT && !y->x->measured && i < c->indexes; i++) {
        struct mrs_walk w;
        struct mrs_elem first;
        mrs_walk_init(&w, c->index[i].key);
        if (mrs_walk_next(&w, &first) > 0 && strcmp(first.name, "_id") != 0 && !c->index[i].unique &&
            mrs_doc_get(mrs_val_view(find), first.name).type == MRS_MISSING) {
            struct mrsi_rule_found *r = mrsi_note(y, c, "unused-index", NULL, "no read of the workload asks for %s",
                                                  first.name);
            r->index = c->index[i].name;
            r->step = "index";
        }
    }
}

/* A figure is reported with its source. */
static void
report_source(struct mrsi_advice *y, struct mrsi_rule_found *r)
{
    struct mrs_buf text;
    mrs_buf_init(&text, y->x->mem, SIZE_MAX);
    mrs_buf_printf(&text, "%s (by %s)", r->text, y->x->workload_source);
    mrs_buf_byte(&text, 0);
    const char *kept = text.bad ? NULL : mrs_arena_copy(&y->x->arena, text.p, text.n);
    y->s = kept || y->s != MRS_OK ? y->s : mrs_err_memory(y->e, text.n);
    r->text = kept ? kept : r->text;
    mrs_buf_clear(&text);
}

void
mrsi_rules_of_workload(struct mrsi_advice *y)
{
    uint32_t before = y->x->rules;
    if (y->x->workload.n <= MRS_DOC_MIN) {
        return;
    }
    for (uint32_t i = 0; i < y->x->colls; i++) {
        read_alone(y, &y->x->coll[i]);
        sum_on_read(y, &y->x->coll[i]);
        unused_index(y, &y->x->coll[i]);
    }
    copy_worn(y);
    join_heavy(y);
    for (uint32_t i = before; i < y->x->rules; i++) {
        report_source(y, &y->x->rule[i]);
    }
}
