/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.h - a growing byte buffer with a ceiling, and text in it. */
#ifndef MONGORESHAPE_BUFFER_H
#define MONGORESHAPE_BUFFER_H

#include "mongoreshape/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- growing bytes ----
 * Appends return no status: a failure is recorded (bad) and later appends have no effect; the user of the bytes calls
 * mrs_buf_status first. */
struct mrs_buf {
    uint8_t *p;
    size_t n, cap;
    size_t ceiling; /* maximum bytes */
    struct mrs_mem *mem;
    const struct mrs_arena *beside; /* asked before the buffer grows (mrs_arena_may_hold); NULL: none */
    int bad; /* 0; 1 no memory; 2 over the ceiling */
};
void mrs_buf_init(struct mrs_buf *b, struct mrs_mem *mem, size_t ceiling);
void mrs_buf_clear(struct mrs_buf *b);  /* frees; may be called twice; b may be used again */
void mrs_buf_enlarge(struct mrs_buf *b, size_t extra) MRS_RARE; /* mrs_buf_grow if there is no room */
enum mrs_status mrs_buf_failure(const struct mrs_buf *b, struct mrs_err *e) MRS_RARE; /* for a buffer that is bad */

/* For assertions: the bytes lie within the allocation, and only an unused buffer has no block. */
static inline bool
mrs_buf_is_sound(const struct mrs_buf *b)
{
    return b->n <= b->cap && (b->p || b->cap == 0);
}

/* OK, or DEAD (memory), FAIL (limit) */
static inline enum mrs_status
mrs_buf_status(const struct mrs_buf *b, struct mrs_err *e)
{
    return b->bad ? mrs_buf_failure(b, e) : MRS_OK;
}

static inline void
mrs_buf_grow(struct mrs_buf *b, size_t extra) /* room for extra more bytes, or bad */
{
    MRS_ASSERT(mrs_buf_is_sound(b));
    if (b->cap - b->n < extra) {
        mrs_buf_enlarge(b, extra);
    }
}

static inline void
mrs_buf_reset(struct mrs_buf *b) /* empty again, memory kept, bad cleared */
{
    b->n = 0;
    b->bad = 0;
}

/* Room for n bytes at the end, counted as written; NULL if bad. */
static inline uint8_t *
mrs_buf_take(struct mrs_buf *b, size_t n)
{
    MRS_ASSERT(mrs_buf_is_sound(b));
    if (b->cap - b->n < n) {
        mrs_buf_enlarge(b, n);
        if (b->bad) {
            return NULL;
        }
    }
    uint8_t *at = b->n ? b->p + b->n : b->p; /* NULL if nothing was ever written */
    b->n += n;
    MRS_ASSERT(b->n <= b->cap);
    return at;
}

static inline void
mrs_buf_put(struct mrs_buf *b, const void *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    uint8_t *at = b->bad ? NULL : mrs_buf_take(b, n);
    if (at && n) {
        memcpy(at, p, n);
    }
}

static inline void
mrs_buf_byte(struct mrs_buf *b, uint8_t byte)
{
    mrs_buf_put(b, &byte, 1);
}

/* A POSIX shell word without control characters: always quoted, or only if necessary. */
void mrs_buf_quoted(struct mrs_buf *b, const char *word);
void mrs_buf_word(struct mrs_buf *b, const char *word);
/* Text without its NUL, as printf. */
void mrs_buf_printf(struct mrs_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- text for people (say.c) ---- */
/* As mrs_buf_printf for output to people: control characters in arguments of `%s` are escaped. */
void mrs_buf_say(struct mrs_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct mrs_say {
    void (*put)(void *arg, const char *p, size_t n);
    void *arg;
};
void mrs_say_args(const struct mrs_say *to, const char *fmt, va_list *args);
/* "1,234,567"; returns text. */
const char *mrs_text_count(uint64_t n, char text[32]);

#ifdef __cplusplus
}
#endif
#endif
