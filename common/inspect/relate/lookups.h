/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.h - references into a collection of which only a sample was read: looks up some values of the path in all of
 * it, by an index.
 *
 * The values with the smallest hashes are looked up: a sample of the different values, the same for every key. */
#ifndef MRSI_INSPECT_LOOKUPS_H
#define MRSI_INSPECT_LOOKUPS_H

#include "relate.h"

enum { MRSI_PROBES = 256, MRSI_PROBE_BYTES = MRSI_TEXT_MAX + 5 };
struct mrsi_probe {
    uint64_t hash, count;
    bool found;
    uint8_t type, n;
    uint8_t value[MRSI_PROBE_BYTES];
};
/* False: no memory. */
bool mrsi_probes_add(struct mrsi_probes *p, struct mrs_mem *mem, uint64_t hash, uint64_t count, struct mrs_val v);
bool mrsi_probes_merge(struct mrsi_probes *to, struct mrs_mem *mem, const struct mrsi_probes *from);

/* Whether the key is in a sampled collection, and has an index. */
bool mrsi_can_look_up(const struct mrsi_relating *x, const struct mrsi_path *key);
/* Looks up the probes and stores the results in r. */
enum mrs_status mrsi_look_up(struct mrsi_relating *x, struct mrsi_reference *r, struct mrsi_probes *p,
                             struct mrs_err *e);

#endif
