/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - checks the data against all rules, worst first. */
#include "advise.h"
#include "mongoreshape/build.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- findings ---- */
struct mrsi_rule_found *
mrsi_note(struct mrsi_advice *y, struct mrsi_collection *c, const char *rule, const char *path, const char *fmt, ...)
{
    MRS_ASSERT(rule && fmt && y->x->rules <= y->x->rule_cap);
    struct mrsi_inspection *x = y->x;
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct mrsi_rule_found *list = mrs_arena_more(&x->arena, x->rule, x->rules, &x->rule_cap, sizeof *list);
    const char *kept = list ? mrs_arena_copy(&x->arena, text, strlen(text) + 1) : NULL;
    const char *at = path && kept ? mrs_arena_copy(&x->arena, path, strlen(path) + 1) : NULL;
    if (!kept || (path && !at)) {
        y->s = y->s == MRS_OK ? mrs_err_memory(y->e, sizeof *list) : y->s;
        return &y->nowhere;
    }
    x->rule = list;
    x->rule[x->rules] = (struct mrsi_rule_found){.rule = rule,
                                                 .path = at,
                                                 .text = kept,
                                                 .in = c,
                                                 .severity = 1,
                                                 .figures = mrs_empty_doc()};
    return &x->rule[x->rules++];
}

void
mrsi_add_figures(struct mrsi_advice *y, const struct mrsi_figure *f, uint32_t n)
{
    MRS_ASSERT(f || n == 0);
    struct mrs_view doc;
    mrs_buf_reset(&y->figures);
    mrs_build_init(&y->build, &y->figures);
    for (uint32_t i = 0; i < n; i++) {
        if (f[i].value == (double)(int64_t)f[i].value) {
            mrs_build_i64(&y->build, f[i].name, (int64_t)f[i].value);
        } else {
            mrs_build_double(&y->build, f[i].name, f[i].value);
        }
    }
    if (y->s == MRS_OK) {
        y->s = mrs_build_finish(&y->build, &doc, y->e);
    }
    if (y->s == MRS_OK) {
        const uint8_t *p = mrs_arena_copy(&y->x->arena, doc.p, doc.n);
        y->s = p ? MRS_OK : mrs_err_memory(y->e, doc.n);
        y->x->rule[y->x->rules - 1].figures = p ? (struct mrs_view){p, doc.n} : mrs_empty_doc();
    }
}

static int
worst_first(const void *a, const void *b)
{
    const struct mrsi_rule_found *x = a, *y = b;
    if (x->severity != y->severity) {
        return y->severity - x->severity;
    }
    int d = strcmp(x->in->ns, y->in->ns);
    d = d ? d : strcmp(x->rule, y->rule);
    d = d ? d : strcmp(x->path ? x->path : "", y->path ? y->path : "");
    return d ? d : strcmp(x->index ? x->index : "", y->index ? y->index : "");
}

enum mrs_status
mrsi_advise(struct mrsi_inspection *x, struct mrs_err *e)
{
    MRS_ASSERT(x->coll || x->colls == 0);
    struct mrsi_advice y = {.x = x, .e = e, .s = MRS_OK};
    mrs_buf_init(&y.figures, x->mem, SIZE_MAX);
    for (uint32_t i = 0; y.s == MRS_OK && i < x->colls; i++) {
        mrsi_rules_of_arrays(&y, &x->coll[i]);
        mrsi_rules_of_fields(&y, &x->coll[i]);
        mrsi_rules_of_indexes(&y, &x->coll[i]);
    }
    if (y.s == MRS_OK) {
        mrsi_rules_of_references(&y);
        mrsi_rules_of_workload(&y);
    }
    if (x->rules) {
        qsort(x->rule, x->rules, sizeof *x->rule, worst_first);
    }
    mrs_buf_clear(&y.figures);
    return y.s;
}
