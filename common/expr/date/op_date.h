/* SPDX-License-Identifier: Apache-2.0 */
/* op_date.h - shared by the files of the date operators: arguments that are dates, zones, units, and the operators
 * outside the file of the table (op_date.c). */
#ifndef MRS_EXPR_OP_DATE_H
#define MRS_EXPR_OP_DATE_H

#include "expr/date.h"
#include "tz.h"

/* Gives x a cache of zones if it has the argument i, and looks up a constant zone at once. The cache is x->extra. */
enum mrs_status mrsi_compile_zone(struct mrsi_compile *c, struct mrs_expr *x, uint32_t i,
                                  struct mrs_err *e);
/* The zone of argument i; UTC if it is absent. *null: it is nullish. */
enum mrs_status mrsi_zone_arg(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev,
                              struct mrsi_tz *tz, bool *null);
/* The zone of a value that is not nullish. */
enum mrs_status mrsi_zone_value(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v,
                                struct mrsi_tz *tz);
/* mrsi_zone_value with another cache than x->extra. */
enum mrs_status mrsi_zone_among(struct mrsi_zones *zones, const struct mrs_expr *x, struct mrs_eval *ev,
                                struct mrs_val v, struct mrsi_tz *tz);

bool mrsi_unit_known(struct mrs_val v);
enum mrs_status mrsi_no_unit(const struct mrs_expr *x, struct mrs_eval *ev); /* the message lists the known units */

/* Milliseconds, split by the clock of a zone. */
struct mrsi_local {
    int64_t utc_seconds, local_seconds;
    int32_t ms;
    bool dst;
};
static inline struct mrsi_local
mrsi_local_of(const struct mrsi_tz *tz, int64_t ms)
{
    struct mrsi_local l;
    l.utc_seconds = mrsi_floor_div(ms, 1000);
    l.ms = (int32_t)((uint64_t)ms -
                     (uint64_t)l.utc_seconds * 1000u); /* unsigned: the product may not fit */
    struct mrsi_tz_span span = mrsi_tz_at(tz, l.utc_seconds);
    l.local_seconds = l.utc_seconds + span.offset;
    l.dst = span.dst;
    return l;
}
/* Milliseconds from UTC seconds and a rest; false: beyond int64. */
bool mrsi_join_ms(int64_t utc_seconds, int64_t ms, int64_t *out);

enum mrs_status mrsi_compile_date_math(struct mrsi_compile *c, struct mrs_expr *x,
                                       struct mrs_val spec, struct mrs_err *e);
enum mrs_status mrsi_eval_date_math(const struct mrs_expr *x, struct mrs_eval *ev,
                                    struct mrs_val *out);
enum mrs_status mrsi_compile_date_diff(struct mrsi_compile *c, struct mrs_expr *x,
                                       struct mrs_val spec, struct mrs_err *e);
enum mrs_status mrsi_eval_date_diff(const struct mrs_expr *x, struct mrs_eval *ev,
                                    struct mrs_val *out);
enum mrs_status mrsi_compile_date_trunc(struct mrsi_compile *c, struct mrs_expr *x,
                                        struct mrs_val spec, struct mrs_err *e);
enum mrs_status mrsi_eval_date_trunc(const struct mrs_expr *x, struct mrs_eval *ev,
                                     struct mrs_val *out);
void mrsi_free_trunc(struct mrs_expr *x);
enum mrs_status mrsi_compile_date_to_string(struct mrsi_compile *c, struct mrs_expr *x,
                                            struct mrs_val spec, struct mrs_err *e);
enum mrs_status mrsi_eval_date_to_string(const struct mrs_expr *x, struct mrs_eval *ev,
                                         struct mrs_val *out);
enum mrs_status mrsi_compile_date_from_string(struct mrsi_compile *c, struct mrs_expr *x,
                                              struct mrs_val spec, struct mrs_err *e);
enum mrs_status mrsi_eval_date_from_string(const struct mrs_expr *x, struct mrs_eval *ev,
                                           struct mrs_val *out);

#endif
