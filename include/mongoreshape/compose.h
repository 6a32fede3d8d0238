/* SPDX-License-Identifier: Apache-2.0 */
/* compose.h - makes small documents from a one-line template: commands, filters, stages of a pipeline.
 *
 * mrs_compose(buf, &d, e, "{update:%s, q:{_id:%v}, w:%i, u:[%d]}", ...): relaxed JSON with unquoted names and $names;
 * %s C string, %i int64_t (int32 if it fits), %I int64_t as int64, %b int (bool), %v struct mrs_val (missing: omits the
 * field), %d struct mrs_view as a document, %a struct mrs_view as an array, %f double, %t int64_t milliseconds as a
 * date, true false null and plain integers and 'text' as literals. %s may also be used as a name; a view of 0 bytes is
 * omitted like a missing value; a template that begins with [ makes an array document ({"0": ...}), as for a pipeline.
 * %i, %I and %t take an int64_t: a plain int must be cast. An error in the template is MRS_E_ACCOUNT. */
#ifndef MONGORESHAPE_COMPOSE_H
#define MONGORESHAPE_COMPOSE_H

#include "mongoreshape/build.h"

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the document to buf; *out points into buf and lives until buf changes. OK, FAIL, DEAD. ap is consumed. */
enum mrs_status mrs_compose(struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e, const char *text,
                            va_list *ap);
/* mrs_compose into an arena. */
enum mrs_status mrs_compose_in(struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e, const char *text,
                               va_list *ap);

#ifdef __cplusplus
}
#endif
#endif
