/* SPDX-License-Identifier: Apache-2.0 */
/* buf.c - a growing byte buffer with a fixed ceiling.
 *
 * Failures are recorded (bad) instead of being returned by every append, so that code which writes a document reads
 * like the document; the user of the bytes calls mrs_buf_status once. */
#include "mongoreshape/mem.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Between these sizes a buffer contains a large document, or its result, and grows by little; larger ones are
 * tables. */
enum { LARGE = 1 << 20, TABLE = 64 << 20 };

void
mrs_buf_init(struct mrs_buf *b, struct mrs_mem *mem, size_t ceiling)
{
    MRS_ASSERT(mem && ceiling);
    memset(b, 0, sizeof *b);
    b->mem = mem;
    b->ceiling = ceiling;
}

void
mrs_buf_clear(struct mrs_buf *b)
{
    MRS_ASSERT(mrs_buf_is_sound(b));
    mrs_free(b->mem, b->p);
    b->p = NULL;
    b->n = b->cap = 0;
    b->bad = 0;
}

void
mrs_buf_enlarge(struct mrs_buf *b, size_t extra)
{
    MRS_ASSERT(b->mem && mrs_buf_is_sound(b));
    MRS_ASSERT(b->cap - b->n < extra);
    if (b->bad) {
        return;
    }
    if (extra > b->ceiling || b->n > b->ceiling - extra) {
        b->bad = 2;
        return;
    }
    size_t new_size = b->cap < 256 ? 256 : b->cap + (b->cap < LARGE || b->cap > TABLE ? b->cap / 2 : b->cap / 8);
    if (new_size < b->n + extra) {
        new_size = b->n + extra;
    }
    if (new_size > b->ceiling) {
        new_size = b->ceiling;
    }
    bool may = !b->beside || mrs_arena_may_hold(b->beside, new_size);
    uint8_t *p = may ? mrs_realloc(b->mem, b->p, new_size) : NULL;
    if (!p) {
        b->bad = 1;
        return;
    }
    b->p = p;
    b->cap = new_size;
}

enum mrs_status
mrs_buf_failure(const struct mrs_buf *b, struct mrs_err *e)
{
    MRS_ASSERT(b->bad == 1 || b->bad == 2);
    return b->bad == 1 ? mrs_err_memory(e, b->n)
                       : mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "more than %zu bytes", b->ceiling);
}

void
mrs_buf_printf(struct mrs_buf *b, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    mrs_buf_grow(b, n < 0 ? 1 : (size_t)n + 1);
    if (n >= 0 && !b->bad) {
        vsnprintf((char *)b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void
mrs_buf_quoted(struct mrs_buf *b, const char *word)
{
    bool odd = false;
    for (const char *at = word; *at; at++) {
        odd = odd || (uint8_t)*at < ' ' || *at == 0x7f;
    }
    mrs_buf_printf(b, odd ? "\"$(printf '" : "'");
    const char *end = word + strlen(word);
    while (end > word && end[-1] == '\n') {
        end--; /* $(...) would remove them */
    }
    for (const char *at = word; at < end; at++) {
        bool option = at == word && *at == '-'; /* an option of printf */
        bool octal = odd && (option || (uint8_t)*at < ' ' || *at == 0x7f || *at == '%' || *at == '\\');
        mrs_buf_printf(b, octal ? "\\%03o" : *at == '\'' ? "'\\''" : "%c", (uint8_t)*at);
    }
    mrs_buf_printf(b, odd ? "')%s\"" : "'", end);
}

void
mrs_buf_word(struct mrs_buf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+@%-";
    if (*word && *word != '=' && strspn(word, plain) == strlen(word)) {
        mrs_buf_printf(b, "%s", word);
    } else {
        mrs_buf_quoted(b, word);
    }
}
