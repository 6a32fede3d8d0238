/* SPDX-License-Identifier: Apache-2.0 */
/* near_texts.c - texts of documents that differ from those of `where` in case or blanks only: most often they were
 * meant, and `where` does not select them. */
#include "near_texts.h"
#include "run/store/value_kind.h"
#include "mongoreshape/assert.h"
#include <stdio.h>
#include <string.h>

enum { LONGEST = 120 };

void
mrsi_near_texts_add(struct mrsi_near_texts *t, uint32_t path, struct mrs_val text)
{
    MRS_ASSERT(text.type == MRS_STRING);
    uint32_t n;
    const char *p = mrs_val_text(text, &n);
    if (t->n < MRSI_NEAR_TEXTS && n && n <= LONGEST && !memchr(p, 0, n)) {
        struct mrsi_near_text *x = &t->of[t->n++];
        x->path = path;
        x->len = n;
        x->text = p;
    }
}

static bool
is_near(const struct mrsi_near_text *x, const char *p, uint32_t n)
{
    const char *q = x->text;
    uint32_t m = x->len;
    mrsi_trim_blanks(&p, &n);
    mrsi_trim_blanks(&q, &m);
    return n && n == m && strncasecmp(p, q, n) == 0;
}

static bool
is_compared(const struct mrsi_near_texts *t, uint32_t path, const char *p, uint32_t n)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->of[i].path == path && t->of[i].len == n && memcmp(t->of[i].text, p, n) == 0) {
            return true;
        }
    }
    return false;
}

void
mrsi_near_texts_check(struct mrsi_near_texts *t, uint32_t path, struct mrs_val v, struct mrs_arena *arena,
                      pthread_mutex_t *lock)
{
    MRS_ASSERT(t->n <= MRSI_NEAR_TEXTS);
    uint32_t n = 0;
    const char *p = t->n && v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    bool known = !n || n > LONGEST || memchr(p, 0, n) || is_compared(t, path, p, n);
    for (uint32_t i = 0; !known && i < t->n; i++) {
        struct mrsi_near_text *x = &t->of[i];
        if (x->path != path || atomic_load(&x->found) || !is_near(x, p, n)) {
            continue;
        }
        pthread_mutex_lock(lock);
        if (!atomic_load(&x->found)) {
            atomic_store(&x->found, mrs_arena_copy(arena, p, n + 1)); /* without memory it is left out */
        }
        pthread_mutex_unlock(lock);
    }
}

bool
mrsi_near_texts_name(const struct mrsi_near_texts *t, uint32_t path, char *line, size_t size)
{
    MRS_ASSERT(t->n <= MRSI_NEAR_TEXTS && size);
    size_t n = 0;
    for (uint32_t i = 0; i < t->n && n < size; i++) {
        const struct mrsi_near_text *x = &t->of[i];
        const char *found = x->path == path ? atomic_load(&x->found) : NULL;
        if (found) {
            n += (size_t)snprintf(line + n, size - n, "%s\"%.60s\" (\"%.60s\")", n ? ", " : "", x->text, found);
        }
    }
    return n > 0;
}
