/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - how everything here reports what went wrong.
 *
 * A function that can fail returns enum mrs_status and takes a struct mrs_err as its last argument. The
 * caller owns the struct (it may live on the stack), NULL is welcome, nothing is allocated on this path.
 * The first cause wins: a later mrs_err_set on a struct that already holds a code changes nothing, so that
 * callers on the way up can only add the place (mrs_err_at, and the ns, doc_no and byte_off fields).
 * Codes are numbered by hand, never renumbered; each has a row in docs/ERRORS.md.
 * Threads: a struct mrs_err belongs to one thread at a time. */
#ifndef MONGORESHAPE_ERR_H
#define MONGORESHAPE_ERR_H

#include "mongoreshape/assert.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Worse is smaller; two results combine by the smaller. */
enum mrs_status {
    MRS_END = 1,   /* no more; never an error */
    MRS_OK = 0,
    MRS_SKIP = -10, /* this document is refused, the run may go on */
    MRS_FAIL = -20, /* this operation failed, the handle may still be closed */
    MRS_DEAD = -30  /* stop everything */
};
/* The next call of several, as long as none has failed: s is what it returns, or stays what it is. */
#define MRS_THEN(s, ...) ((s) = (s) == MRS_OK ? (__VA_ARGS__) : (s))

enum mrs_code {
    MRS_E_NONE = 0,
    MRS_E_USAGE = 1,     /* command line */
    MRS_E_PLAN = 2,      /* the plan, or the plan against this input */
    MRS_E_BSON = 3,      /* a damaged document */
    MRS_E_FORMAT = 4,    /* a damaged container, metadata file or compressed stream */
    MRS_E_IO = 5,        /* the operating system refused to read or write */
    MRS_E_LIMIT = 6,     /* one of limits.h was passed */
    MRS_E_MEMORY = 7,    /* an allocation failed */
    MRS_E_REFUSED = 8,   /* a document that the plan's policies refuse */
    MRS_E_TOO_MANY = 9,  /* more refused documents than --max-refused */
    MRS_E_EXPR = 10,     /* an expression, cast or query failed on a document */
    MRS_E_EXISTS = 11,   /* the output is there already */
    MRS_E_MISSING = 12,  /* a file, namespace or field that must be there is not */
    MRS_E_CANCEL = 13,   /* interrupted */
    MRS_E_ACCOUNT = 14,  /* the account of a run does not balance: a bug, nothing is published */
    MRS_E_SERVER = 15,   /* a MongoDB server said no */
    MRS_E_CHANGED = 16   /* the input changed while it was read */
};

struct mrs_err {
    enum mrs_code code;
    int os_errno;      /* errno of the failing call, 0 where there was none */
    uint64_t doc_no;   /* from 1; 0: unknown */
    uint64_t byte_off; /* in the uncompressed stream; UINT64_MAX: unknown */
    char ns[256];      /* "db.coll" or the file's name; "" unknown */
    char where[64];    /* key of the plan, field path, step; "" unknown */
    uint32_t kind_len; /* bytes of msg that failures of one kind have alike; 0: all of it */
    char msg[512];     /* one line, lower case, no dot at the end */
};

/* An empty error: code MRS_E_NONE, byte_off unknown. */
void mrs_err_clear(struct mrs_err *e);

/* What is called where something went wrong, and next to never: a compiler keeps the way there out of the way. */
#define MRS_RARE __attribute__((cold))

/* Record a cause and return s, so that one line reports and returns. The first cause wins. e may be NULL. */
enum mrs_status mrs_err_set(struct mrs_err *e, enum mrs_status s, enum mrs_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5))) MRS_RARE;

/* The same with errno: ": " and the system's text are appended, os_errno is filled. */
enum mrs_status mrs_err_sys(struct mrs_err *e, int os_errno, const char *fmt, ...)
    __attribute__((format(printf, 3, 4))) MRS_RARE;

#define MRS_CHECKPOINT ".checkpoint" /* behind the name of the output: what a stopped run left to go on with */
/* The same where what `--resume` reads is not as it was written: MRS_FAIL and MRS_E_FORMAT, with what is to be done. ns
 * becomes MRS_CHECKPOINT alone; who knows the output makes a path of it (mrs_ckpt_dir_place). */
enum mrs_status mrs_err_checkpoint(struct mrs_err *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))) MRS_RARE;

/* Append ": " and what concerns this failure alone, as the values of its document; a report counts failures of one kind
 * together, whatever comes after it. Nothing where no code is set, or where it was called before. e may be NULL. */
void mrs_err_more(struct mrs_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3))) MRS_RARE;

/* Say where; keeps what is there already. e may be NULL. */
void mrs_err_at(struct mrs_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3))) MRS_RARE;

/* Name of a code as docs/ERRORS.md has it ("damaged document"), and its exit status (ARCHITECTURE: 0..7). */
const char *mrs_code_name(enum mrs_code code);
int mrs_code_exit(enum mrs_code code);

/* One line for people: "ns: document 7, offset 1234: where: msg". Always ends in NUL; returns text. */
const char *mrs_err_text(const struct mrs_err *e, char *text, uint32_t size);

#ifdef __cplusplus
}
#endif
#endif
