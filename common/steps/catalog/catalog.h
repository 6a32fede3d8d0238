/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.h - what steps do to the catalogue, apart from asking for collections (those functions are in step.h). */
#ifndef MRSI_CATALOG_H
#define MRSI_CATALOG_H

#include "mongoreshape/step.h"
#include "mongoreshape/catalogue.h"

/* As mrs_catalog_need and mrs_catalog_target; key: the key of the plan that an error is charged to. */
enum mrs_status mrsi_cat_need(struct mrs_catalog *cat, const struct mrs_coll *coll, bool change, const char *key,
                              struct mrs_cat_coll **out, struct mrs_err *e);
/* fresh (may be NULL): whether this call made the collection. */
enum mrs_status mrsi_cat_target(struct mrs_catalog *cat, const struct mrs_coll *coll, const char *key,
                                struct mrs_cat_coll **out, bool *fresh, struct mrs_err *e);
/* The collection under its new name; into must not exist. */
enum mrs_status mrsi_cat_rename(struct mrs_catalog *cat, const struct mrs_coll *from, const struct mrs_coll *into,
                                struct mrs_err *e);
enum mrs_status mrsi_cat_drop(struct mrs_catalog *cat, const struct mrs_coll *coll, struct mrs_err *e);
enum mrs_status mrsi_cat_add_index(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_view index,
                                   struct mrs_err *e);
enum mrs_status mrsi_cat_set_options(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_view options,
                                     struct mrs_err *e);
/* Copies bytes into the catalogue; p NULL without memory. */
struct mrs_view mrsi_cat_copy(struct mrs_catalog *cat, struct mrs_view v);
/* The indexes of the collection as it was in the input. */
const struct mrs_view *mrsi_cat_was(const struct mrs_cat_coll *cc, uint32_t *n);
/* Notes what the collection of this name had in the input and lacks, where a plan dropped or renamed that one and put
 * another one in its place. */
void mrsi_cat_note_replaced(struct mrs_catalog *cat, const struct mrs_cat_coll *cc);
/* Notes a collection of the plan if its database and another one differ only in case. */
void mrsi_cat_note_other_case(struct mrs_catalog *cat, const struct mrs_cat_coll *cc);
/* DEAD where some line of the report was lost for lack of memory: the last call of every catalog hook. */
enum mrs_status mrsi_cat_status(const struct mrs_catalog *cat, struct mrs_err *e);

#endif
