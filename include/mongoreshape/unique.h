/* SPDX-License-Identifier: Apache-2.0 */
/* unique.h - the keys of a collection's documents in its unique indexes, made as a server makes them: each field by its
 * path, arrays fanned out once, missing fields as null.
 *
 * Two documents with an equal key violate the index. What only a server can decide (text, hashed, geographic, wildcard,
 * positions in arrays) is left to it. */
#ifndef MONGORESHAPE_UNIQUE_H
#define MONGORESHAPE_UNIQUE_H

#include "mongoreshape/doc.h"
#include "mongoreshape/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The partial filter of an index. *out: NULL if it has none. OK; FAIL: it uses a collation, or cannot be evaluated
 * here; DEAD. Documents on which it fails count as excluded: only a server can decide. One thread. */
struct mrs_index_filter;
enum mrs_status mrs_index_filter_new(struct mrs_mem *mem, struct mrs_view spec, int64_t now_ms,
                                     struct mrs_index_filter **out, struct mrs_err *e);
bool mrs_index_filter_takes(struct mrs_index_filter *f, struct mrs_view doc); /* NULL: yes */
void mrs_index_filter_free(struct mrs_index_filter *f); /* NULL: no effect */

/* Whether an option of an index is on: true, or a number other than 0. */
bool mrs_index_is(struct mrs_view spec, const char *option);

struct mrs_unique_index {
    const char *name;
    const char *left; /* why it is left to the server, perhaps only after some document; NULL: it is not */
    bool collated;    /* only texts of the same bytes are equal here, not those that its collation treats as equal */
};
struct mrs_unique;
/* metadata: {options, indexes} as in a metadata file, alive until the free. The index of `_id` is not included. wants:
 * whether to check an index; NULL: all. */
struct mrs_unique_spec {
    struct mrs_view metadata;
    int64_t now_ms;
    const struct mrs_secret *secret; /* of the hashes; lives until the free */
    bool any;      /* also indexes that are not unique: only whether a server accepts a document */
    bool (*wants)(void *arg, struct mrs_elem index);
    void *arg;
};
enum mrs_status mrs_unique_new(struct mrs_mem *mem, const struct mrs_unique_spec *spec, struct mrs_unique **out,
                               struct mrs_err *e);
void mrs_unique_free(struct mrs_unique *u); /* NULL: no effect */
uint32_t mrs_unique_count(const struct mrs_unique *u);
const struct mrs_unique_index *mrs_unique_at(const struct mrs_unique *u, uint32_t i);
/* Passes the keys of one document to put (NULL: not needed), for each index that is not left to the server; a key may
 * occur twice. OK; SKIP with *bad: no server accepts the document in that index, since two of its fields are arrays;
 * the status of put; DEAD. One thread. */
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
