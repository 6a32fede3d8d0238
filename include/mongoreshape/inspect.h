/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h - analyzes data: structure, relations and schema problems: `mongoreshape inspect`.
 *
 * The caller's source (a dump, a server) supplies documents, collection by collection, up to a few times each: one pass
 * collects figures, the second counts exactly the candidates of the first. Memory does not grow with the data. The
 * result depends on the documents alone, not on their order within a pass nor on the number of threads. Threads: an
 * inspection belongs to one thread; the source may call `doc` from several. */
#ifndef MONGORESHAPE_INSPECT_H
#define MONGORESHAPE_INSPECT_H

#include "mongoreshape/doc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Receives documents of a collection. worker: 0 .. workers - 1, one call at a time for each; ordinal: from 0. END, only
 * in order: no more documents needed, and the scan is OK; any other status but OK ends the scan and is returned. */
struct mrs_inspect_sink {
    enum mrs_status (*doc)(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e);
    void *arg;
    bool in_order; /* documents come in their order, from one worker */
    bool again;    /* all of them were read and checked before: no second check needed */
};
struct mrs_inspect_collection {
    const char *ns;
    struct mrs_view metadata; /* {options, indexes}; the empty document if there is none */
    bool has_data;
    bool is_view;
};
/* Which of these values exist in documents at `path`? For a sampled collection: in all of it. */
struct mrs_inspect_question {
    const char *path;
    const char *index; /* the index to use; NULL: that of `_id` */
    struct mrs_view values; /* an array's bytes */
    void (*hit)(void *arg, struct mrs_val v); /* called for each that exists, with the stored value */
    void *arg;
};
struct mrs_inspect_source {
    uint32_t collections, workers;
    /* Describes collection i; texts and views live as long as the source. */
    enum mrs_status (*describe)(void *arg, uint32_t i, struct mrs_inspect_collection *out, struct mrs_err *e);
    /* All documents of it, or a sample that is the same each time. share: the fraction that was read, 1: all. */
    enum mrs_status (*scan)(void *arg, uint32_t i, const struct mrs_inspect_sink *to, double *share, struct mrs_err *e);
    /* {name: {uses: n, since: date, days: n, members: "host, host"}} of the indexes of collection i, as far as known.
     * May be NULL. */
    enum mrs_status (*index_uses)(void *arg, uint32_t i, struct mrs_view *out, struct mrs_err *e);
    /* Operations recorded by a profiler (documents of system.profile), in order. May be NULL. */
    enum mrs_status (*profile)(void *arg, const struct mrs_inspect_sink *to, struct mrs_err *e);
    /* Answers a question about collection i. May be NULL if no share is below 1. */
    enum mrs_status (*look_up)(void *arg, uint32_t i, const struct mrs_inspect_question *q, struct mrs_err *e);
    void (*phase)(void *arg, const char *what); /* for progress; may be NULL */
    void *arg;
};

struct mrs_inspect_opts {
    const char *name;   /* of the input, as the user wrote it */
    const char *kind;   /* "directory", "archive", "server" ... */
    const char *tool;   /* "mongoreshape 0.9" */
    const char *tmp;    /* folder for temporary files; NULL: $TMPDIR, else /tmp */
    /* text of --hints: lines `db.coll.path -> db.coll.path`, with `!` before it: not a reference; NULL */
    const char *hints;
    const char *workload; /* JSON text of --workload; NULL */
    bool keep_going;    /* damage ends its collection, and is reported; else it ends the inspection */
    const int *cancel;  /* read atomically; not 0: stop (MRS_E_CANCEL). NULL: never */
};
struct mrsi_inspection;
/* FAIL: errors of the source, MRS_E_USAGE (hints, workload), MRS_E_IO (temporary file), MRS_E_CANCEL. */
enum mrs_status mrs_inspect(struct mrs_mem *mem, const struct mrs_inspect_source *source,
                            const struct mrs_inspect_opts *opts, struct mrsi_inspection **out, struct mrs_err *e);
void mrs_inspect_free(struct mrsi_inspection *x); /* NULL: no effect */

/* Appends the findings as one document {inspect: 1, ...} (fields: docs/INSPECT.md) to out. */
enum mrs_status mrs_inspect_document(struct mrsi_inspection *x, struct mrs_buf *out, struct mrs_err *e);
/* The findings as JSON and a newline. */
enum mrs_status mrs_inspect_json(struct mrsi_inspection *x, struct mrs_buf *out, struct mrs_err *e);
/* The findings as text for people, lines of at most `width` columns. all: every path. */
enum mrs_status mrs_inspect_text(struct mrsi_inspection *x, uint32_t width, bool all, bool colour, struct mrs_buf *out,
                                 struct mrs_err *e);
/* A plan that corrects the findings: YAML, each step under a comment with the evidence. */
enum mrs_status mrs_inspect_plan(struct mrsi_inspection *x, struct mrs_buf *out, struct mrs_err *e);
/* Writes the plan as a file, atomically. An existing file is replaced if it is such a plan and unchanged since; `look`
 * checks this before long work. FAIL MRS_E_EXISTS: it is another file; MRS_E_IO. */
enum mrs_status mrs_inspect_plan_check(struct mrs_mem *mem, const char *path, struct mrs_err *e);
enum mrs_status mrs_inspect_plan_write(struct mrsi_inspection *x, const char *path, struct mrs_err *e);
/* Number of steps of the last plan. */
uint32_t mrs_inspect_steps(const struct mrsi_inspection *x);
/* Whether damage ended a collection before its end (keep_going). */
bool mrs_inspect_is_cut(const struct mrsi_inspection *x);

#ifdef __cplusplus
}
#endif
#endif
