/* SPDX-License-Identifier: Apache-2.0 */
/* value_list.h - a set of any number of values, first collected, then searched by several threads.
 *
 * A value is the bytes of mrs_key_append, so equal values have equal bytes. The bytes decide; the hash only gives the
 * position. Values are sorted within a share of memory. The searched data is in memory, or in mapped files if it is
 * larger than a small share. */
#ifndef MRSI_RUN_VALUE_LIST_H
#define MRSI_RUN_VALUE_LIST_H

#include "file_array.h"
#include "sorter.h"
#include "state.h"
#include "value_kind.h"

struct mrsi_value_list {
    struct mrsi_engine *en;
    struct mrsi_sorter sort; /* while values are put, each as its hash and its bytes */
    struct mrs_buf key;      /* scratch for one of them */
    struct mrsi_file_array bytes; /* for each value: 4 bytes of length, its bytes */
    struct mrsi_file_array slots; /* struct mrsi_value_slot, by hash */
    uint64_t n_slot, n;      /* numbers of slots and values */
    uint64_t types;          /* of all values: bits of mrsi_kind_bit */
    bool ready;              /* it can be searched */
};
struct mrsi_value_slot {
    uint64_t hash, at; /* at: offset in bytes + 1; 0: empty */
};
void mrsi_value_list_init(struct mrsi_value_list *l, struct mrsi_engine *en);
void mrsi_value_list_clear(struct mrsi_value_list *l); /* may be called twice, and on zeros */
enum mrs_status mrsi_value_list_put(struct mrsi_value_list *l, const uint8_t *p, uint32_t n, struct mrs_err *e);
/* No more values follow. */
enum mrs_status mrsi_value_list_end(struct mrsi_value_list *l, struct mrs_err *e);
bool mrsi_value_list_has(const struct mrsi_value_list *l, const uint8_t *p, size_t n);
/* As fields of a state: all lists of the run that are ready. */
enum mrs_status mrsi_value_lists_save(struct mrsi_engine *en, struct mrs_build *b, struct mrs_buf *files,
                                      struct mrs_err *e);
/* files: appends the numbers of the files it refers to. */
enum mrs_status mrsi_value_lists_load(struct mrsi_engine *en, struct mrs_view state, struct mrs_buf *files,
                                      struct mrs_err *e);

#endif
