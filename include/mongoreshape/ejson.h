/* SPDX-License-Identifier: Apache-2.0 */
/* ejson.h - Extended JSON v2 (specification: mongodb/specifications extended-json), read and written without recursion.
 *
 * libbson's own reader truncates silently from 219 levels and treats `$regex` query operators as values; this one does
 * neither. Threads: pure functions. */
#ifndef MONGORESHAPE_EJSON_H
#define MONGORESHAPE_EJSON_H

#include "mongoreshape/doc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to read wrappers like {"$oid": ...}. */
enum mrs_ejson_mode {
    /* as drivers do: legacy {"$regex": text, "$options": text} and {"$binary","$type"} are values too; for metadata and
     * .jsonl files */
    MRS_EJSON_DATA,
    /* plans: only maps with exactly the keys of a wrapper; $regex, $options and $type are operators, never values */
    MRS_EJSON_STRICT,
    MRS_EJSON_PLAIN    /* no wrapper is a value: {"$oid": ...} stays a document */
};

/* Reads one JSON object from text and appends its BSON document to out. used: bytes of text read, up to the end of the
 * object (without blanks after it), so that lines can be read one by one. Integers become int32 if they fit, else
 * int64; other numbers double. FAIL MRS_E_FORMAT (byte_off: offset in text), MRS_E_LIMIT (depth), DEAD MRS_E_MEMORY. */
enum mrs_status mrs_ejson_read(const char *text, size_t n, enum mrs_ejson_mode mode, struct mrs_buf *out,
                               size_t *used, struct mrs_err *e);

#define MRS_JSON_DEPTH_MAX 200 /* levels of objects and arrays, including the outermost */
/* Reads the whole text, strict JSON with blanks around it, and appends it to out as a document or an array (*type). No
 * wrapper is a value, numbers as above; of equal names in an object the last value stays, in the place of the first.
 * Errors as above. */
enum mrs_status mrs_json_read(const char *text, size_t n, struct mrs_buf *out, uint8_t *type, struct mrs_err *e);

/* Replaces a document that is a wrapper of this mode by its value: *v is replaced, its bytes allocated in a. Otherwise
 * *v stays. For plans, which are YAML. FAIL MRS_E_FORMAT with the reason: a wrapper with invalid content. */
enum mrs_status mrs_ejson_unwrap(struct mrs_arena *a, enum mrs_ejson_mode mode, struct mrs_val *v, struct mrs_err *e);

/* Appends compact text, no newline. canonical: preserves all types; else relaxed. Any byte that is not UTF-8 is written
 * as U+FFFD (relaxed and canonical alike). */
void mrs_ejson_write(struct mrs_view d, bool canonical, struct mrs_buf *out);
void mrs_ejson_write_val(struct mrs_val v, bool canonical, struct mrs_buf *out);
/* Length of the UTF-8 character at the start of p[0..n), n > 0; 0: none. */
uint32_t mrs_utf8_length(const uint8_t *p, size_t n);
/* Parses n hexadecimal digits, two for each byte; false: invalid. */
bool mrs_hex_bytes(const char *text, size_t n, uint8_t *out);
/* "2020-01-01T00:00:00Z", with milliseconds if not 0; returns the length. ms: years 0 to 9999. */
uint32_t mrs_date_write(int64_t ms, char text[32]);
/* A shortened value for messages: "string \"abc...\"", "array of 3"; always ends in NUL; returns text. */
const char *mrs_val_picture(struct mrs_val v, char *text, uint32_t size);

#ifdef __cplusplus
}
#endif
#endif
