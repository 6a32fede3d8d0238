/* SPDX-License-Identifier: Apache-2.0 */
/* advise.h - checks data against schema rules, and names the steps that correct violations. */
#ifndef MRSI_INSPECT_ADVISE_H
#define MRSI_INSPECT_ADVISE_H

#include "inspect/figures/model.h"
#include "mongoreshape/inspect.h"

const char *mrsi_iso_time(int64_t ms, char out[40]); /* 2024-05-01T00:00:00Z */
/* When the largest document reaches 16 MiB at its growth rate; false: it does not grow. */
bool mrsi_limit_date(const struct mrsi_limit *l, int64_t *ms);
/* "one-to-one", "one-to-few", "one-to-many", "one-to-squillions", "many-to-many"; NULL: unknown for a sample */
const char *mrsi_cardinality(const struct mrsi_reference *r);

/* "3.8 MiB", in memory of the caller. */
const char *mrsi_bytes_text(double n, char out[32]);

/* The output of rules; figures are added to the last finding, up to four. */
struct mrsi_advice {
    struct mrsi_inspection *x;
    struct mrs_buf figures;
    struct mrs_build build;
    enum mrs_status s;
    struct mrs_err *e;
    struct mrsi_rule_found nowhere; /* receives findings without memory, never read */
};
struct mrsi_rule_found *mrsi_note(struct mrsi_advice *y, struct mrsi_collection *c, const char *rule, const char *path,
                                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
struct mrsi_figure {
    const char *name;
    double value;
};
void mrsi_add_figures(struct mrsi_advice *y, const struct mrsi_figure *f, uint32_t n);
void mrsi_rules_of_arrays(struct mrsi_advice *y, struct mrsi_collection *c); /* shape_rules.c */
void mrsi_rules_of_fields(struct mrsi_advice *y, struct mrsi_collection *c);
void mrsi_rules_of_references(struct mrsi_advice *y); /* reference_rules.c */
void mrsi_rules_of_indexes(struct mrsi_advice *y, struct mrsi_collection *c); /* index_advice.c */

void mrsi_rules_of_workload(struct mrsi_advice *y); /* workload.c */

/* profile.c: makes the workload from the database profiler, if none was given. */
enum mrs_status mrsi_workload_measure(struct mrsi_inspection *x, const struct mrs_inspect_source *source,
                                      struct mrs_err *e);
/* FAIL MRS_E_USAGE: the text is not a valid workload of these collections. NULL: none. */
enum mrs_status mrsi_workload_read(struct mrsi_inspection *x, const char *text, struct mrs_err *e);
/* Reads of a collection; reads of documents of both together. 0: none, or unknown. */
double mrsi_reads_alone(const struct mrsi_inspection *x, const struct mrsi_collection *c);
double mrsi_reads_together(const struct mrsi_inspection *x, const struct mrsi_collection *a,
                           const struct mrsi_collection *b);

enum mrs_status mrsi_advise(struct mrsi_inspection *x, struct mrs_err *e);

#endif
