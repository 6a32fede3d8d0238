/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - writes documents sequentially into a growing buffer, and makes values from C numbers. */
#ifndef MONGORESHAPE_BUILD_H
#define MONGORESHAPE_BUILD_H

#include "mongoreshape/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends elements to a mrs_buf. Documents nest by begin/end; the length word is patched at end. Any failure (memory,
 * ceiling, nesting over MRS_DEPTH_MAX) is recorded in the buffer's bad or in too_deep: call mrs_build_finish once at
 * the end. */
struct mrs_build {
    struct mrs_buf *buf;
    uint32_t start[MRS_DEPTH_MAX + 4]; /* offsets of open length words, relative to the start of buf */
    uint32_t index[MRS_DEPTH_MAX + 4]; /* next index of an open array */
    int depth;
    bool too_deep;
};
/* Starts a document at the end of buf (which may contain other bytes before). */
void mrs_build_init(struct mrs_build *b, struct mrs_buf *buf);
/* Closes the outermost document; the view points into buf and lives until buf changes.
 * OK; FAIL MRS_E_LIMIT (ceiling, depth); DEAD MRS_E_MEMORY. The size is not compared with MRS_DOC_MAX. */
enum mrs_status mrs_build_finish(struct mrs_build *b, struct mrs_view *doc, struct mrs_err *e);

void mrs_build_val(struct mrs_build *b, const char *name, uint32_t name_len, struct mrs_val v); /* missing: no effect */
void mrs_build_elem(struct mrs_build *b, const struct mrs_elem *e); /* unchanged, byte for byte */
void mrs_build_raw(struct mrs_build *b, const uint8_t *elems, size_t n); /* complete elements, byte for byte */
void mrs_build_open(struct mrs_build *b, const char *name, uint32_t name_len, uint8_t type); /* DOCUMENT or ARRAY */
void mrs_build_close(struct mrs_build *b);
/* Inside an open array: the name is the next index. */
void mrs_build_item(struct mrs_build *b, struct mrs_val v); /* missing: no effect */
void mrs_build_item_open(struct mrs_build *b, uint8_t type);
void mrs_build_i32(struct mrs_build *b, const char *name, int32_t v);
void mrs_build_i64(struct mrs_build *b, const char *name, int64_t v);
/* int32 if it fits, else int64 */
void mrs_build_count(struct mrs_build *b, const char *name, uint32_t name_len, uint64_t n);
void mrs_build_bool(struct mrs_build *b, const char *name, bool v);
void mrs_build_double(struct mrs_build *b, const char *name, double v);
void mrs_build_null(struct mrs_build *b, const char *name, uint32_t name_len);
void mrs_build_text(struct mrs_build *b, const char *name, const char *text, uint32_t n);

/* Values made from C numbers; the bytes are in 16 bytes of the caller (`room`) and live as long as they do. */
struct mrs_val mrs_make_i32(uint8_t room[16], int32_t v);
struct mrs_val mrs_make_i64(uint8_t room[16], int64_t v, uint8_t type); /* INT64, DATE or TIMESTAMP */
struct mrs_val mrs_make_count(uint8_t room[16], uint64_t n);
struct mrs_val mrs_make_double(uint8_t room[16], double v);
struct mrs_val mrs_make_bool(uint8_t room[16], bool v);
struct mrs_val mrs_null(void);
/* A string value in an arena; missing without memory. */
struct mrs_val mrs_make_text(struct mrs_arena *a, const char *text, uint32_t n);
/* A deep copy of a value in an arena; missing stays missing; false without memory. */
bool mrs_val_copy(struct mrs_arena *a, struct mrs_val v, struct mrs_val *out);

/* Decimal digits of n and a NUL, as names of array elements; returns the number of digits. room: 12 bytes. */
uint32_t mrs_index_name(char room[12], uint32_t n);

#ifdef __cplusplus
}
#endif
#endif
