/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - the list of a plan's errors and warnings.
 *
 * Every reader of a plan reports here and continues, so that one read of a file finds all its errors. At the end the
 * list is sorted by position in the file. An error that an alias repeats at every place of use is kept once. */
#include "plan_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void append(struct mrsi_plan *p, uint32_t line, uint32_t col, bool warning, const char *fmt,
                   va_list ap) __attribute__((format(printf, 5, 0)));

static void
append(struct mrsi_plan *p, uint32_t line, uint32_t col, bool warning, const char *fmt, va_list ap)
{
    MRS_ASSERT(fmt && p->pub.n_errors <= p->cap_errors);
    struct mrs_plan *pub = &p->pub;
    uint32_t n = pub->n_errors + pub->n_warnings;
    if (p->dead) {
        return;
    }
    if (n >= MRSI_ERRORS_MAX && (warning || pub->n_errors)) {
        p->unseen++;
        return;
    }
    struct mrs_plan_error *more = mrs_more(pub->mem, pub->errors, n, &p->cap_errors, sizeof *more);
    if (!more) {
        p->dead = true;
        return;
    }
    pub->errors = more;
    struct mrs_plan_error *at = &pub->errors[n];
    memset(at, 0, sizeof *at);
    at->line = line;
    at->col = col;
    at->warning = warning;
    vsnprintf(at->msg, sizeof at->msg, fmt, ap);
    *(warning ? &pub->n_warnings : &pub->n_errors) += 1;
}

void
mrsi_plan_error(struct mrsi_plan *p, uint32_t line, uint32_t col, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    append(p, line, col, false, fmt, ap);
    va_end(ap);
}

void
mrsi_plan_warning(struct mrsi_plan *p, uint32_t line, uint32_t col, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    append(p, line, col, true, fmt, ap);
    va_end(ap);
}

static int
by_place(const void *left, const void *right)
{
    const struct mrs_plan_error *a = left, *b = right;
    uint32_t la = a->line ? a->line : UINT32_MAX, lb = b->line ? b->line : UINT32_MAX;
    if (la != lb) {
        return la < lb ? -1 : 1;
    }
    if (a->col != b->col) {
        return a->col < b->col ? -1 : 1;
    }
    return a->warning != b->warning ? (a->warning ? 1 : -1) : strcmp(a->msg, b->msg);
}

void
mrsi_plan_errors_sort(struct mrsi_plan *p)
{
    MRS_ASSERT(p->pub.n_errors <= p->cap_errors);
    struct mrs_plan *pub = &p->pub;
    uint32_t n = pub->n_errors + pub->n_warnings, kept = 0;
    if (p->dead || n == 0) {
        return;
    }
    qsort(pub->errors, n, sizeof *pub->errors, by_place);
    pub->n_errors = pub->n_warnings = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kept && by_place(&pub->errors[kept - 1], &pub->errors[i]) == 0) {
            continue;
        }
        pub->errors[kept] = pub->errors[i];
        *(pub->errors[kept].warning ? &pub->n_warnings : &pub->n_errors) += 1;
        kept++;
    }
    if (p->unseen) {
        struct mrs_plan_error *last = &pub->errors[kept - 1];
        size_t used = strlen(last->msg);
        snprintf(last->msg + used, sizeof last->msg - used, " (and %u more, not shown)", p->unseen);
        p->unseen = 0;
    }
}

enum mrs_status
mrsi_plan_errors_status(const struct mrsi_plan *p, struct mrs_err *e)
{
    MRS_ASSERT(p->pub.n_errors <= p->cap_errors);
    const struct mrs_plan *pub = &p->pub;
    if (p->dead) {
        return mrs_err_memory(e, sizeof *pub->errors);
    }
    if (pub->n_errors == 0) {
        return MRS_OK;
    }
    const struct mrs_plan_error *first = pub->errors;
    while (first->warning) {
        first++;
    }
    char more[48] = "";
    if (pub->n_errors > 1) {
        snprintf(more, sizeof more, " (and %u more)", pub->n_errors - 1);
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s:%u:%u: %.400s%s", pub->file, first->line,
                       first->col, first->msg, more);
}
