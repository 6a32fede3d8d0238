/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - calls a function for the documents of a dump, on several threads or in order.
 *
 * Threads: a scanner belongs to one thread; it calls `doc` from its own threads. */
#ifndef MONGORESHAPE_SCAN_H
#define MONGORESHAPE_SCAN_H

#include "mongoreshape/run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_scan_opts {
    uint32_t jobs;     /* threads; 0: processors */
    const char *tmp;
    const int *cancel; /* read atomically; not 0: stop (MRS_E_CANCEL). NULL: never */
    void (*progress)(void *arg, const struct mrs_progress *p); /* may be NULL */
    void *progress_arg;
};
struct mrs_scan_doc {
    /* A complete, checked document. worker: 0 .. workers - 1, one call at a time for each. END, only in order: stop. */
    enum mrs_status (*doc)(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e);
    void *arg;
    bool in_order; /* by one worker, in document order */
    bool checked;  /* they were read and checked before: not checked again */
};
struct mrs_scanner;
/* in: open as long as the scanner is. FAIL, DEAD: no threads, no memory. */
enum mrs_status mrs_scanner_open(struct mrs_mem *mem, struct mrs_input *in, const struct mrs_scan_opts *opts,
                                 struct mrs_scanner **out, struct mrs_err *e);
uint32_t mrs_scanner_workers(const struct mrs_scanner *s);
/* what: text of the progress line. total: bytes of all files that the scanner will read; 0: unknown. */
void mrs_scanner_phase(struct mrs_scanner *s, const char *what, uint64_t total);
/* Scans all documents of namespace i. FAIL: damage with its place (MRS_E_BSON, MRS_E_FORMAT, MRS_E_IO), MRS_E_CANCEL,
 * or the status of doc. */
enum mrs_status mrs_scanner_scan(struct mrs_scanner *s, uint32_t i, const struct mrs_scan_doc *to, struct mrs_err *e);
void mrs_scanner_close(struct mrs_scanner *s); /* NULL: no effect */

#ifdef __cplusplus
}
#endif
#endif
