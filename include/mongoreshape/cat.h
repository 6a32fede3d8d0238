/* SPDX-License-Identifier: Apache-2.0 */
/* cat.h - prints a dump as lines of Extended JSON. */
#ifndef MONGORESHAPE_CAT_H
#define MONGORESHAPE_CAT_H

#include "mongoreshape/io.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_cat_opts {
    bool relaxed;       /* else canonical */
    bool with_ns;       /* lines are {"ns": ..., "doc": ...} */
    uint64_t limit;     /* lines in all; 0: no limit */
    uint32_t jobs;      /* threads; 0: processors */
    const int *cancel;  /* read atomically; not 0: stop (MRS_E_CANCEL). NULL: never */
    /* Whether to print a document, called on any thread; scratch is empty. NULL: all. An error gets the document's
     * place. */
    enum mrs_status (*takes)(void *arg, struct mrs_arena *scratch, struct mrs_view doc, bool *yes, struct mrs_err *e);
    /* Complete lines, in document order, one call at a time, from any thread. Any status but OK ends the output. */
    enum mrs_status (*put)(void *arg, const void *p, size_t n, struct mrs_err *e);
    void *arg;
};
/* Prints the documents of all namespaces of a dump, in sequence. FAIL MRS_E_BSON, MRS_E_FORMAT: damage, or the status
 * of takes and put; all lines before it have been put. */
enum mrs_status mrs_cat(struct mrs_mem *mem, struct mrs_input *in, const struct mrs_cat_opts *opts, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
