/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.h - references into a collection of which only a sample was read: some values of the path are looked up in
 * the whole of it, by an index.
 *
 * Those with the smallest hashes are asked for: a sample of the different values, and the same for every key. */
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

/* Whether the key lies in a sampled collection, and an index finds its values. */
bool mrsi_can_look_up(const struct mrsi_relating *x, const struct mrsi_path *key);
/* Looks the probes up and puts the results into r. */
enum mrs_status mrsi_look_up(struct mrsi_relating *x, struct mrsi_reference *r, struct mrsi_probes *p,
                             struct mrs_err *e);

#endif
