/* SPDX-License-Identifier: Apache-2.0 */
/* ext_home.h - shared by all files of the extension: its object in the server, its errors, and buffers for the server.
 *
 * We run inside the server's process: no output, no exit, bounded memory, and no call leaks. */
#ifndef EXT_HOME_H
#define EXT_HOME_H

#include "mongoreshape/mem.h"
#include "mongoreshape/view.h"
#include "server/abi/stage_abi.h"

#define EXT_STAGE "$reshape"
/* Our error codes: this plus the number in docs/ERRORS.md. */
#define EXT_CODE_BASE 1970000000
#define EXT_CODE_MEMORY 146                 /* the server's code for an operation that needs too much memory */
#define EXT_MEMORY_DEFAULT (64ll << 20)
#define EXT_MEMORY_MIN (1ll << 20)
#define EXT_MEMORY_MAX (100ll << 20)
#define EXT_PLAN_MEMORY (256ull << 20)      /* for reading and checking a specification */
#define EXT_SPEC_MAX (1u << 20)

/* Made once, when the server requests the extension; lives until the process ends. */
struct ext_home {
    struct mdb_extension extension;
    struct mdb_descriptor descriptor;
    const struct mdb_services *services;
    struct mrs_mem *mem;      /* for small objects of the interface */
    struct mrs_buf options;   /* BSON of extensionOptions, or empty */
    int64_t memory;           /* default for an operation */
};
extern const struct mdb_descriptor_calls ext_descriptor_calls; /* parse_node.c */

static inline struct mdb_bytes
ext_text(const char *text)
{
    return (struct mdb_bytes){(const uint8_t *)text, strlen(text)};
}

/* ---- ext_status.c ---- */
/* Success; shared, may be destroyed any number of times. */
struct mdb_status *ext_ok(void);
/* Out of memory: code 146; needs none itself. */
struct mdb_status *ext_no_memory(void);
/* Misuse of the interface, with a text. Needs no memory. text: one of these constants: */
enum ext_misuse { EXT_NO_SOURCE, EXT_BAD_VERSION, EXT_WRONG_SIZE, EXT_BAD_ANSWER, EXT_N_MISUSES };
struct mdb_status *ext_misused(enum ext_misuse what);
/* An error with a text; without memory for it: ext_no_memory. */
struct mdb_status *ext_error(struct mrs_mem *mem, int32_t code, const char *text, size_t n);
/* The same for an error of our libraries. over: our own memory limit was reached. */
struct mdb_status *ext_error_of(struct mrs_mem *mem, const struct mrs_err *e, const char *before);
int32_t ext_code(enum mrs_code code);
/* A status that the host may write; code 0. NULL: out of memory. */
struct mdb_status *ext_fresh(struct mrs_mem *mem);
/* Does a status say success? Then it is destroyed. */
bool ext_is_ok(struct mdb_status *s);

/* ---- ext_bytes.c ---- */
/* A buffer for the server with a copy of these bytes. OK, or out of memory. */
struct mdb_status *ext_return(struct mrs_mem *mem, const void *p, size_t n, struct mdb_buf **out);
/* The same for built bytes; clears b. */
struct mdb_status *ext_return_buf(struct mrs_mem *mem, struct mrs_buf *b, struct mdb_buf **out);

#endif
