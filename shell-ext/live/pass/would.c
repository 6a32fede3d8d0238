/* SPDX-License-Identifier: Apache-2.0 */
/* would.c - the report of a dry run: counts, and the first documents of each kind. */
#include "range_pass.h"
#include "work.h"

#include "mongoreshape/ejson.h"

enum { FIRST = 10 }; /* number of documents listed of each kind */

void
live_preview_count(struct live_pass_report *r, uint64_t *figure, const char *ns, struct mrs_val id, const char *what)
{
    if (++*figure <= FIRST) {
        live_name(r, ns, id, what);
    }
}

void
live_preview_line(struct live_job *job, const char *what, const char *ns, struct mrs_view doc)
{
    struct mrs_buf line;
    if (!job->print_line) {
        return;
    }
    mrs_buf_init(&line, job->mem, 1u << 20);
    mrs_buf_printf(&line, "would %s %s", what, ns);
    if (doc.n > MRS_DOC_MIN) {
        mrs_buf_printf(&line, ": ");
        mrs_ejson_write(doc, false, &line);
    }
    mrs_buf_byte(&line, 0);
    if (!line.bad) {
        job->print_line(job->arg, (char *)line.p);
    }
    mrs_buf_clear(&line);
}
