/* SPDX-License-Identifier: Apache-2.0 */
/* near_texts.h - texts that `where` compares a path with, and texts of documents that differ in case or blanks only. */
#ifndef MRSI_RUN_NEAR_TEXTS_H
#define MRSI_RUN_NEAR_TEXTS_H

#include "mongoreshape/mem.h"
#include "mongoreshape/value.h"
#include <pthread.h>
#include <stdatomic.h>

enum { MRSI_NEAR_TEXTS = 16 };
struct mrsi_near_texts { /* of the paths of a row; zero: empty */
    uint32_t n;
    struct mrsi_near_text {
        uint32_t path; /* its number */
        uint32_t len;
        const char *text;            /* in the plan, which must stay */
        _Atomic(const char *) found; /* the first of the documents' texts; NULL: none yet */
    } of[MRSI_NEAR_TEXTS];
};

/* Adds a text of the plan; those beyond the limit are left out. One thread. */
void mrsi_near_texts_add(struct mrsi_near_texts *t, uint32_t path, struct mrs_val text);
/* Checks a value at a path. The first text found is copied to the arena, under the lock. Any thread. */
void mrsi_near_texts_check(struct mrsi_near_texts *t, uint32_t path, struct mrs_val v, struct mrs_arena *arena,
                           pthread_mutex_t *lock);
/* Writes the texts of the path for which one was found: "closed" ("Closed"), "open" (" open"). False: none. */
bool mrsi_near_texts_name(const struct mrsi_near_texts *t, uint32_t path, char *line, size_t size);

#endif
