/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - status, codes and details of errors.
 *
 * A function that can fail returns enum mrs_status and takes a struct mrs_err as its last argument. The caller owns the
 * struct (it may be on the stack), NULL is accepted, and no function here allocates. The first cause wins: mrs_err_set
 * on a struct that already has a code changes nothing, so that callers up the stack can only add the place (mrs_err_at,
 * and the ns, doc_no and byte_off fields). Codes are numbered by hand and never renumbered; each has a row in
 * docs/ERRORS.md. Threads: a struct mrs_err belongs to one thread at a time. */
#ifndef MONGORESHAPE_ERR_H
#define MONGORESHAPE_ERR_H

#include "mongoreshape/assert.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Smaller is worse; two results combine by the minimum. */
enum mrs_status {
    MRS_END = 1,   /* no more; never an error */
    MRS_OK = 0,
    MRS_SKIP = -10, /* this document is refused, the run may continue */
    MRS_FAIL = -20, /* this operation failed, the handle may still be closed */
    MRS_DEAD = -30  /* stop everything */
};
/* The next call of a sequence, if none has failed yet: s becomes its result, else s is unchanged. */
#define MRS_THEN(s, ...) ((s) = (s) == MRS_OK ? (__VA_ARGS__) : (s))
/* A call whose failure ends the calling function, with its status; not where something has to be cleared first. */
#define MRS_TRY(...)                                                                                                   \
    do {                                                                                                               \
        enum mrs_status try_status = (__VA_ARGS__);                                                                    \
        if (try_status != MRS_OK) {                                                                                    \
            return try_status;                                                                                         \
        }                                                                                                              \
    } while (0)

enum mrs_code {
    MRS_E_NONE = 0,
    MRS_E_USAGE = 1,     /* command line */
    MRS_E_PLAN = 2,      /* the plan, or the plan against this input */
    MRS_E_BSON = 3,      /* a damaged document */
    MRS_E_FORMAT = 4,    /* a damaged container, metadata file or compressed stream */
    MRS_E_IO = 5,        /* the operating system refused to read or write */
    MRS_E_LIMIT = 6,     /* a limit of limits.h was exceeded */
    MRS_E_MEMORY = 7,    /* an allocation failed */
    MRS_E_REFUSED = 8,   /* a document that the plan's policies refuse */
    MRS_E_TOO_MANY = 9,  /* more refused documents than --max-refused */
    MRS_E_EXPR = 10,     /* an expression, cast or query failed on a document */
    MRS_E_EXISTS = 11,   /* the output exists */
    MRS_E_MISSING = 12,  /* a required file, namespace or field is missing */
    MRS_E_CANCEL = 13,   /* interrupted */
    MRS_E_ACCOUNT = 14,  /* the account of a run does not balance: a bug, the output is not written */
    MRS_E_SERVER = 15,   /* a MongoDB server returned an error */
    MRS_E_CHANGED = 16   /* the input changed while it was read */
};

struct mrs_err {
    enum mrs_code code;
    int os_errno;      /* errno of the failing call, 0: none */
    uint64_t doc_no;   /* from 1; 0: unknown */
    uint64_t byte_off; /* in the uncompressed stream; UINT64_MAX: unknown */
    char ns[256];      /* "db.coll" or the file's name; "" unknown */
    char where[64];    /* key of the plan, field path, step; "" unknown */
    uint32_t kind_len; /* length of the part of msg that all failures of one kind share; 0: all of it */
    char msg[512];     /* one line, lower case, no dot at the end */
};

/* An empty error: code MRS_E_NONE, byte_off unknown. */
void mrs_err_clear(struct mrs_err *e);

/* For functions called only on failure: the compiler moves such paths out of the hot code. */
#define MRS_RARE __attribute__((cold))

/* Record a cause and return s, so that one line reports and returns. The first cause wins. e may be NULL. */
enum mrs_status mrs_err_set(struct mrs_err *e, enum mrs_status s, enum mrs_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5))) MRS_RARE;

/* mrs_err_set with errno: appends ": " and the system's text, fills os_errno. */
enum mrs_status mrs_err_sys(struct mrs_err *e, int os_errno, const char *fmt, ...)
    __attribute__((format(printf, 3, 4))) MRS_RARE;

#define MRS_CHECKPOINT ".checkpoint" /* suffix of the output's name: the state from which a stopped run resumes */
/* mrs_err_set for damaged state that `--resume` reads: MRS_FAIL and MRS_E_FORMAT, with the remedy. ns becomes
 * MRS_CHECKPOINT alone; a caller that knows the output makes it a path (mrs_ckpt_dir_place). */
enum mrs_status mrs_err_checkpoint(struct mrs_err *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))) MRS_RARE;

/* Append ": " and details of this failure alone, as values of its document; a report counts failures of one kind
 * together, whatever their details. No effect without a code, or after an earlier call. e may be NULL. */
void mrs_err_more(struct mrs_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3))) MRS_RARE;

/* Set the place, unless it is set. e may be NULL. */
void mrs_err_at(struct mrs_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3))) MRS_RARE;

/* Name of a code as in docs/ERRORS.md ("damaged document"), and its exit status (ARCHITECTURE: 0..7). */
const char *mrs_code_name(enum mrs_code code);
int mrs_code_exit(enum mrs_code code);

/* One line for people: "ns: document 7, offset 1234: where: msg". Always ends in NUL; returns text. */
const char *mrs_err_text(const struct mrs_err *e, char *text, uint32_t size);

#ifdef __cplusplus
}
#endif
#endif
