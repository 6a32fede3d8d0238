/* SPDX-License-Identifier: Apache-2.0 */
/* mongosh_text.h - prints collections, documents and stages as lines for mongosh. */
#ifndef MRSI_MONGOSH_TEXT_H
#define MRSI_MONGOSH_TEXT_H

#include "mongoreshape/step.h"

/* `db.getSiblingDB("db").getCollection("coll").CALL(` */
void mrsi_shell_coll(struct mrs_buf *out, const struct mrs_coll *c, const char *call);
/* A document with all its types. */
void mrsi_shell_doc(struct mrs_buf *out, struct mrs_view d);
/* `[ stages ]`, followed by END. */
void mrsi_shell_stages(struct mrs_buf *out, struct mrs_view pipeline, const char *end);

#endif
