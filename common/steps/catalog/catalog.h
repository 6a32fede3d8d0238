/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.h - how steps change the catalog. The functions that ask for collections are in step.h. */
#ifndef MRSI_CATALOG_H
#define MRSI_CATALOG_H

#include "mongoreshape/step.h"
#include "mongoreshape/catalogue.h"

/* Like mrs_catalog_need and mrs_catalog_target; key: the key of the plan to which an error refers. */
enum mrs_status mrsi_cat_need(struct mrs_catalog *cat, const struct mrs_coll *coll, bool change, const char *key,
                              struct mrs_cat_coll **out, struct mrs_err *e);
/* fresh (may be NULL): did this call create the collection? */
enum mrs_status mrsi_cat_target(struct mrs_catalog *cat, const struct mrs_coll *coll, const char *key,
                                struct mrs_cat_coll **out, bool *fresh, struct mrs_err *e);
/* Renames the collection; into must not exist. */
enum mrs_status mrsi_cat_rename(struct mrs_catalog *cat, const struct mrs_coll *from, const struct mrs_coll *into,
                                struct mrs_err *e);
enum mrs_status mrsi_cat_drop(struct mrs_catalog *cat, const struct mrs_coll *coll, struct mrs_err *e);
enum mrs_status mrsi_cat_add_index(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_view index,
                                   struct mrs_err *e);
enum mrs_status mrsi_cat_set_options(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_view options,
                                     struct mrs_err *e);
/* Copies bytes into the catalog; p NULL: out of memory. */
struct mrs_view mrsi_cat_copy(struct mrs_catalog *cat, struct mrs_view v);
/* The indexes of the collection as it was in the input. */
const struct mrs_view *mrsi_cat_was(const struct mrs_cat_coll *cc, uint32_t *n);
/* Notes what the input's collection of this name had and this one lacks, if a plan dropped or renamed the first and
 * created the second in its place. */
void mrsi_cat_note_replaced(struct mrs_catalog *cat, const struct mrs_cat_coll *cc);
/* Notes a collection of the plan if its database and another one differ only in case. */
void mrsi_cat_note_other_case(struct mrs_catalog *cat, const struct mrs_cat_coll *cc);
/* DEAD if a line of the report was lost because memory was out: the last call of every catalog hook. */
enum mrs_status mrsi_cat_status(const struct mrs_catalog *cat, struct mrs_err *e);

#endif
