/* SPDX-License-Identifier: Apache-2.0 */
/* cast_uuid.h - types of the step `cast` for UUIDs as old drivers wrote them. */
#ifndef MRSI_CAST_UUID_H
#define MRSI_CAST_UUID_H

#include "steps/kit/args.h"
#include "mongoreshape/expr.h"

struct mrsi_uuid {
    int driver;  /* index into csharp java python; -1: none, text only */
    bool legacy; /* back to the old form */
};

/* Reads the type `uuid`, {uuid: driver} or {legacy_uuid: driver}; *words is its name for messages. False: none of
 * these, or an error was reported. */
bool mrsi_uuid_read(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_uuid *out, const char **words);
/* Casts one value that is not null. OK; FAIL MRS_E_EXPR; DEAD. */
enum mrs_status mrsi_uuid_cast(const struct mrsi_uuid *u, struct mrs_eval *ev, struct mrs_val v, struct mrs_val *out);

#endif
