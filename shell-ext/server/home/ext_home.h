/* SPDX-License-Identifier: Apache-2.0 */
/* ext_home.h - what all files of the extension share: where it lives in the server, its errors, and bytes it gives
 * away.
 *
 * We are a guest: nothing is printed, no process ends, memory has bounds, and no call leaves anything behind. */
#ifndef EXT_HOME_H
#define EXT_HOME_H

#include "mongoreshape/mem.h"
#include "mongoreshape/view.h"
#include "server/abi/stage_abi.h"

#define EXT_STAGE "$reshape"
/* Codes of our own: this, and the number of docs/ERRORS.md. */
#define EXT_CODE_BASE 1970000000
#define EXT_CODE_MEMORY 146                 /* the server's own for an operation that needs too much memory */
#define EXT_MEMORY_DEFAULT (64ll << 20)
#define EXT_MEMORY_MIN (1ll << 20)
#define EXT_MEMORY_MAX (100ll << 20)
#define EXT_PLAN_MEMORY (256ull << 20)      /* while a specification is read and checked */
#define EXT_SPEC_MAX (1u << 20)

/* Made once, when the server asks for the extension, and there until the process ends. */
struct ext_home {
    struct mdb_extension extension;
    struct mdb_descriptor descriptor;
    const struct mdb_services *services;
    struct mrs_mem *mem;      /* of the small things that are handed to and fro */
    struct mrs_buf options;   /* BSON of extensionOptions, or nothing */
    int64_t memory;           /* of an operation that does not say */
};
extern const struct mdb_descriptor_calls ext_descriptor_calls; /* parse_node.c */

static inline struct mdb_bytes
ext_text(const char *text)
{
    return (struct mdb_bytes){(const uint8_t *)text, strlen(text)};
}

/* ---- ext_status.c ---- */
/* All is well; shared, may be destroyed any number of times. */
struct mdb_status *ext_ok(void);
/* Out of memory: code 146; needs none itself. */
struct mdb_status *ext_no_memory(void);
/* The interface is not used as it must be: the text says how. Needs no memory. text: a constant of these: */
enum ext_misuse { EXT_NO_SOURCE, EXT_BAD_VERSION, EXT_WRONG_SIZE, EXT_BAD_ANSWER, EXT_N_MISUSES };
struct mdb_status *ext_misused(enum ext_misuse what);
/* An error with a text; where there is no memory for it: ext_no_memory. */
struct mdb_status *ext_error(struct mrs_mem *mem, int32_t code, const char *text, size_t n);
/* The same of what our own rooms say. over: memory ran out because of our own bound. */
struct mdb_status *ext_error_of(struct mrs_mem *mem, const struct mrs_err *e, const char *before);
int32_t ext_code(enum mrs_code code);
/* One that the host may write into; code 0. NULL: no memory. */
struct mdb_status *ext_fresh(struct mrs_mem *mem);
/* Whether a status says that all is well; such a one is destroyed. */
bool ext_is_ok(struct mdb_status *s);

/* ---- ext_bytes.c ---- */
/* A buffer for the server with a copy of these bytes. OK, or no memory. */
struct mdb_status *ext_give(struct mrs_mem *mem, const void *p, size_t n, struct mdb_buf **out);
/* The same of what was built, which is cleared. */
struct mdb_status *ext_give_buf(struct mrs_mem *mem, struct mrs_buf *b, struct mdb_buf **out);

#endif
