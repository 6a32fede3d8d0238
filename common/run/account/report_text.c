/* SPDX-License-Identifier: Apache-2.0 */
/* report_text.c - the findings of a report as text */
#include "mongoreshape/report_text.h"
#include "account.h"

enum { SHOWN = 5 };

void
mrs_text_ids(const struct mrs_ids *x, uint64_t count, struct mrs_buf *out)
{
    MRS_ASSERT(x->n <= count);
    const char *comma = "_id ";
    uint32_t n = x->n < SHOWN ? x->n : SHOWN;
    for (uint32_t i = 0; i < n; i++) {
        mrs_buf_printf(out, "%s%s", comma, *x->at[i] ? x->at[i] : "missing");
        comma = ", ";
    }
    mrs_buf_printf(out, "%s", n && count > n ? " first" : "");
}

void
mrs_text_refusal(const struct mrs_refusal *x, struct mrs_buf *out)
{
    char count[32];
    mrs_buf_printf(out, "step %u, %s: %s%s%s%s%s (%s, ", x->step, x->ns, *x->place ? "`" : "", x->place,
                   *x->place ? "`: " : "", x->reason, x->count == 1 ? x->more : "", mrs_text_count(x->count, count));
    mrs_text_ids(&x->ids, x->count, out);
    mrs_buf_printf(out, ")%s%s", x->count > 1 && *x->more ? "; the first" : "", x->count > 1 ? x->more : "");
}

void
mrs_text_unmet(const struct mrs_unmet *x, struct mrs_buf *out)
{
    MRS_ASSERT(x->step);
    mrs_buf_printf(out, "step %u, %s: no document has `%s`", x->step, x->ns, x->path);
    if (x->nearest && strcmp(x->nearest, x->path) == 0) {
        mrs_buf_printf(out, "; " MRS_TEXT_DOTTED);
    } else if (x->nearest) {
        mrs_buf_printf(out, "; the nearest that is there: `%s`", x->nearest);
    }
}

void
mrs_text_notice(const struct mrs_notice *x, struct mrs_buf *out)
{
    static const char *const words[MRS_NOTICE_KINDS][2] = {
        [MRS_NOTICE_ORPHAN] = {"document matches none", "documents match none"},
        [MRS_NOTICE_DANGLING] = {"document has references that name none", "documents have references that name none"},
        [MRS_NOTICE_DISAGREES] = {"document names one parent and is listed by another",
                                  "documents name one parent and are listed by another"},
        [MRS_NOTICE_CUT] = {"document is left out somewhere by a limit", "documents are left out by a limit"},
        [MRS_NOTICE_LEFT] = {"document is not placed in all it matches", "documents are not placed in all they match"}};
    char count[32];
    MRS_ASSERT(x->step && x->kind < MRS_NOTICE_KINDS && words[x->kind][0]);
    mrs_buf_printf(out, "step %u, %s: %s %s%s", x->step, x->ns, mrs_text_count(x->count, count),
                   words[x->kind][x->count > 1], x->ids.n ? " (" : "");
    mrs_text_ids(&x->ids, x->count, out);
    mrs_buf_printf(out, "%s", x->ids.n ? ")" : "");
}
