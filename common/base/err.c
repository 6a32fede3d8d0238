/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - fills and prints struct mrs_err.
 *
 * One table gives each code its name and exit status; docs/ERRORS.md has the same rows and the lint compares them.
 * Nothing here allocates. */
#include "mongoreshape/err.h"
#include "mongoreshape/mem.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    int exit;
} CODES[] = {
    [MRS_E_NONE] = {"no error", 0},
    [MRS_E_USAGE] = {"usage", 2},
    [MRS_E_PLAN] = {"plan", 2},
    [MRS_E_BSON] = {"damaged document", 3},
    [MRS_E_FORMAT] = {"damaged file", 3},
    [MRS_E_IO] = {"input/output", 4},
    [MRS_E_LIMIT] = {"limit", 5},
    [MRS_E_MEMORY] = {"out of memory", 5},
    [MRS_E_REFUSED] = {"refused document", 1},
    [MRS_E_TOO_MANY] = {"too many refused", 7},
    [MRS_E_EXPR] = {"expression", 1},
    [MRS_E_EXISTS] = {"output exists", 2},
    [MRS_E_MISSING] = {"not found", 2},
    [MRS_E_CANCEL] = {"interrupted", 130},
    [MRS_E_ACCOUNT] = {"account does not balance", 4},
    [MRS_E_SERVER] = {"server", 6},
    [MRS_E_CHANGED] = {"input changed", 3},
};

void
mrs_err_clear(struct mrs_err *e)
{
    if (e) {
        e->code = MRS_E_NONE;
        e->os_errno = 0;
        e->doc_no = 0;
        e->byte_off = UINT64_MAX;
        e->kind_len = 0;
        e->ns[0] = e->where[0] = e->msg[0] = 0;
    }
}

enum mrs_status
mrs_err_set(struct mrs_err *e, enum mrs_status s, enum mrs_code code, const char *fmt, ...)
{
    MRS_ASSERT(code > MRS_E_NONE && code < sizeof CODES / sizeof *CODES);
    MRS_ASSERT(s < MRS_OK);
    if (e && e->code == MRS_E_NONE) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(e->msg, sizeof e->msg, fmt, args);
        va_end(args);
        e->code = code;
    }
    return s;
}

enum mrs_status
mrs_err_sys(struct mrs_err *e, int os_errno, const char *fmt, ...)
{
    if (e && e->code == MRS_E_NONE) {
        va_list args;
        va_start(args, fmt);
        int n = vsnprintf(e->msg, sizeof e->msg, fmt, args);
        va_end(args);
        if (n >= 0 && (size_t)n < sizeof e->msg) {
            char room[128];
            snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %s", strerror_r(os_errno, room, sizeof room));
        }
        e->code = MRS_E_IO;
        e->os_errno = os_errno;
    }
    return MRS_FAIL;
}

enum mrs_status
mrs_err_checkpoint(struct mrs_err *e, const char *fmt, ...)
{
    if (e && e->code == MRS_E_NONE) {
        char what[384];
        va_list args;
        va_start(args, fmt);
        vsnprintf(what, sizeof what, fmt, args);
        va_end(args);
        snprintf(e->ns, sizeof e->ns, "%s", MRS_CHECKPOINT);
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT,
                           "the checkpoint is damaged (%s): start over with --force instead of --resume", what);
    }
    return MRS_FAIL;
}

void
mrs_err_more(struct mrs_err *e, const char *fmt, ...)
{
    size_t n = e ? strlen(e->msg) : 0;
    if (!e || e->code == MRS_E_NONE || e->kind_len || n + 3 >= sizeof e->msg) {
        return;
    }
    va_list args;
    va_start(args, fmt);
    e->kind_len = (uint32_t)n;
    memcpy(e->msg + n, ": ", 3);
    vsnprintf(e->msg + n + 2, sizeof e->msg - n - 2, fmt, args);
    va_end(args);
}

void
mrs_err_at(struct mrs_err *e, const char *fmt, ...)
{
    if (e && !e->where[0]) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(e->where, sizeof e->where, fmt, args);
        va_end(args);
    }
}

enum mrs_status
mrs_err_memory(struct mrs_err *e, size_t wanted)
{
    return mrs_err_set(e, MRS_DEAD, MRS_E_MEMORY, "out of memory (%zu bytes wanted)", wanted);
}

const char *
mrs_code_name(enum mrs_code code)
{
    MRS_ASSERT(code < sizeof CODES / sizeof *CODES && CODES[code].name);
    return (size_t)code < sizeof CODES / sizeof *CODES ? CODES[code].name : "unknown";
}

int
mrs_code_exit(enum mrs_code code)
{
    MRS_ASSERT(code < sizeof CODES / sizeof *CODES && CODES[code].name);
    return (size_t)code < sizeof CODES / sizeof *CODES ? CODES[code].exit : 4;
}

static size_t
add(char *text, uint32_t size, size_t at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static size_t
add(char *text, uint32_t size, size_t at, const char *fmt, ...)
{
    MRS_ASSERT(at <= size || size == 0);
    va_list args;
    va_start(args, fmt);
    int n = at < size ? vsnprintf(text + at, size - at, fmt, args) : 0;
    va_end(args);
    return n < 0 ? at : at + (size_t)n;
}

const char *
mrs_err_text(const struct mrs_err *e, char *text, uint32_t size)
{
    MRS_ASSERT(e && (text || !size));
    size_t at = 0;
    if (!size) {
        return text;
    }
    text[0] = 0;
    if (e->ns[0]) {
        at = add(text, size, at, "%s: ", e->ns);
    }
    if (e->doc_no) {
        at = add(text, size, at, "document %" PRIu64 "%s", e->doc_no, e->byte_off == UINT64_MAX ? ": " : ", ");
    }
    if (e->byte_off != UINT64_MAX) {
        at = add(text, size, at, "offset %" PRIu64 ": ", e->byte_off);
    }
    if (e->where[0]) {
        at = add(text, size, at, "%s: ", e->where);
    }
    add(text, size, at, "%s", e->msg);
    return text;
}
