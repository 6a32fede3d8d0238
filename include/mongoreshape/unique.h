/* SPDX-License-Identifier: Apache-2.0 */
/* unique.h - the keys that the unique indexes of a collection would hold of its documents, made as a server makes them:
 * each field by its path, arrays fanned out once, what is missing null.
 *
 * Two documents with an equal key do not fit the index. What only a server can judge (text, hashed, geographic,
 * wildcard, positions in arrays) is left to it. */
#ifndef MONGORESHAPE_UNIQUE_H
#define MONGORESHAPE_UNIQUE_H

#include "mongoreshape/doc.h"
#include "mongoreshape/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The partial filter of an index. *out: NULL where it has none. OK; FAIL: it compares by a collation, or is none that
 * can be asked here; DEAD. What it fails at counts as left out: only a server can tell. One thread. */
struct mrs_index_filter;
enum mrs_status mrs_index_filter_new(struct mrs_mem *mem, struct mrs_view spec, int64_t now_ms,
                                     struct mrs_index_filter **out, struct mrs_err *e);
bool mrs_index_filter_takes(struct mrs_index_filter *f, struct mrs_view doc); /* NULL: yes */
void mrs_index_filter_free(struct mrs_index_filter *f); /* NULL: nothing */

/* Whether an option of an index is on: true, or a number other than 0. */
bool mrs_index_is(struct mrs_view spec, const char *option);

struct mrs_unique_index {
    const char *name;
    const char *left; /* why it is left to the server, perhaps from some document on; NULL: it is not */
    bool collated;    /* only texts of the same bytes are equal here, not what its collation takes as equal */
};
struct mrs_unique;
/* metadata: {options, indexes} as in a metadata file, alive until the free. The index of `_id` is none of them.
 * wants: whether an index, as it is there, is to be examined; NULL: all are. */
struct mrs_unique_spec {
    struct mrs_view metadata;
    int64_t now_ms;
    const struct mrs_secret *secret; /* of the hashes; lives until the free */
    bool any;      /* also of indexes that are not unique: only whether a server takes a document */
    bool (*wants)(void *arg, struct mrs_elem index);
    void *arg;
};
enum mrs_status mrs_unique_new(struct mrs_mem *mem, const struct mrs_unique_spec *spec, struct mrs_unique **out,
                               struct mrs_err *e);
void mrs_unique_free(struct mrs_unique *u); /* NULL: nothing */
uint32_t mrs_unique_count(const struct mrs_unique *u);
const struct mrs_unique_index *mrs_unique_at(const struct mrs_unique *u, uint32_t i);
/* Gives put (NULL: not wanted) the keys of one document, for each index that is not left; a key may be given
 * twice. OK; SKIP with *bad: no server takes the document in that index, it has arrays in two of its fields; what put
 * returns; DEAD. One thread. */
struct mrs_unique_put {
    enum mrs_status (*put)(void *arg, uint32_t index, struct mrs_hash128 key, struct mrs_err *e);
    void *arg;
};
enum mrs_status mrs_unique_keys(struct mrs_unique *u, struct mrs_view doc, const struct mrs_unique_put *put,
                                uint32_t *bad, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
