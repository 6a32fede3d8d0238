/* SPDX-License-Identifier: Apache-2.0 */
/* field_names.h - the words in names of fields and collections, and how well a field name matches a collection. */
#ifndef MRSI_INSPECT_NAMES_H
#define MRSI_INSPECT_NAMES_H

#include "inspect/figures/model.h"

enum { MRSI_NAME_WORDS = 10, MRSI_NAME_ROOM = 160 };
struct mrsi_name {
    char room[MRSI_NAME_ROOM];
    const char *word[MRSI_NAME_WORDS]; /* lower case, singular */
    uint32_t n;
    bool id; /* an id word was removed */
};
struct mrsi_vocabulary { /* of all collections of the input */
    struct mrsi_name *title; /* by collection: its words, without common ones */
    struct mrsi_name *prefix; /* by collection: the first word of nine tenths of its fields, or none */
    bool *persons; /* by collection: its documents are persons, by its name */
    uint32_t n;
};
/* Splits at capitals and punctuation; removes id words unless `whole`. */
void mrsi_name_split(const char *text, const struct mrsi_vocabulary *v, bool whole, struct mrsi_name *out);
bool mrsi_vocabulary_make(struct mrsi_inspection *x, struct mrsi_vocabulary *out);
/* 0 to 1: how well the name of `from` matches the key or its collection. cover: fraction of the key's values that from
 * has. */
double mrsi_name_score(const struct mrsi_path *from, const struct mrsi_path *key, const struct mrsi_vocabulary *v,
                       double cover, bool unique);
int mrsi_name_before(const struct mrsi_path *p, const struct mrsi_path *q, const struct mrsi_vocabulary *v,
                     char *before, size_t size);
uint32_t mrsi_name_shared(const struct mrsi_collection *a, const struct mrsi_collection *b,
                          const struct mrsi_vocabulary *v);
/* The value of a `type` is the name of a collection, in singular or plural. */
bool mrsi_name_is_kind(const struct mrsi_name *value, const struct mrsi_name *title);
bool mrsi_name_is_own(const struct mrsi_path *p, const struct mrsi_vocabulary *v);
bool mrsi_name_has_id(const struct mrsi_path *p);
bool mrsi_name_is_measure(const struct mrsi_path *p);
bool mrsi_name_is_plural(const struct mrsi_path *p);
/* The key has the name of its collection, or only an id word. */
bool mrsi_name_is_title(const struct mrsi_path *key, const struct mrsi_vocabulary *v);
bool mrsi_name_is_version(const char *name);

#endif
