/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the file of a checkpoint; and data that outlives a job, as fields of a savepoint in it. */
#ifndef MRSI_RUN_STATE_H
#define MRSI_RUN_STATE_H

#include "kept_files.h"

#define MRSI_STATE_FORMAT 13 /* of the file; other formats are refused */

/* The contents of a file; views point into its bytes. */
struct mrsi_checkpoint {
    const char *tool, *plan, *plan_id;
    int64_t now_ms;
    const uint8_t *secret; /* MRS_SECRET bytes */
    struct mrs_view options; /* texts by name of the option */
    struct mrs_view input;   /* array of {name, low, high} */
    struct mrs_view state;   /* of the run at the boundary */
    struct mrs_view output;  /* mrs_output_describe, in the state */
    struct mrs_view pass;    /* of the pass after it; empty: none */
};

/* FAIL MRS_E_FORMAT. body: without header and checksum. */
enum mrs_status mrsi_checkpoint_parse(const void *p, size_t n, struct mrsi_checkpoint *out, struct mrs_err *e);
enum mrs_status mrsi_checkpoint_parse_body(const void *p, size_t n, struct mrsi_checkpoint *out, struct mrs_err *e);

/* Adds header and checksum to body, and appends all to out. */
void mrsi_checkpoint_frame(struct mrs_view body, struct mrs_buf *out);

/* Fields of one type; *bad is set if one is missing or out of range. */
uint64_t mrsi_state_number(struct mrs_view d, const char *name, uint64_t most, bool *bad);
struct mrs_view mrsi_state_list(struct mrs_view d, const char *name, bool *bad);

/* Bytes of a BINARY field. */
const uint8_t *mrsi_state_bytes(struct mrs_view d, const char *name, size_t *n, bool *bad);
void mrsi_state_put_bytes(struct mrs_build *b, const char *name, const void *p, size_t n);
enum mrs_status mrsi_state_damaged(const char *what, struct mrs_err *e);

/* ---- checkpoint_state.c: the engine as a document ---- */
void mrsi_state_put_docs(const struct mrs_docs *d, struct mrs_build *b);
void mrsi_state_get_docs(struct mrs_view d, struct mrs_docs *docs, bool *bad);

/* ---- job_state.c: the data of a pass between two jobs, as fields of its savepoint ----
 * Each structure that outlives a job has a pair of functions of the same form: X_save(x, name, b, files, e) appends
 * field `name` and the numbers of the files it refers to; X_load(x, saved, name, e) restores x, which is initialized
 * and empty. save may move data from memory to a file; x can still be used. One thread, with no job under way. load
 * validates everything: FAIL MRS_E_FORMAT if a length or a type is wrong. */
/* Writes memory to a new file that lives as long as a state refers to it. */
enum mrs_status mrsi_save_bytes(struct mrsi_engine *en, const char *name, const void *p, size_t n, struct mrs_build *b,
                                struct mrs_buf *files, struct mrs_err *e);
/* Appends them to out. */
enum mrs_status mrsi_load_bytes(struct mrsi_engine *en, struct mrs_view saved, const char *name,
                                struct mrs_buf *out, struct mrs_err *e);
/* The `bytes` bytes that mrsi_temp_append has written to a file of mrsi_ckpt_temp, with their checksum; NULL: none.
 * They must not change after the savepoint. */
void mrsi_save_temp(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b,
                    struct mrs_buf *files);
/* Opens it again, reads it and verifies the checksum, so its contents are what was written; other data of the savepoint
 * may still be wrong. *t NULL: there was none. */
enum mrs_status mrsi_load_temp(struct mrsi_engine *en, struct mrs_view saved, const char *name,
                               struct mrsi_temp **t, uint64_t *bytes, struct mrs_err *e);
/* The checksum alone, as field `sum` of a document with the number and the length. */
void mrsi_save_sum(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b);
enum mrs_status mrsi_load_sum(struct mrsi_engine *en, struct mrs_view d, const char *name, struct mrsi_temp *t,
                              uint64_t bytes, struct mrs_err *e);
/* Computes it from the file if it was truncated, or its checksum is for another length. */
enum mrs_status mrsi_save_sum_again(struct mrsi_engine *en, struct mrsi_temp *t, uint64_t bytes, struct mrs_err *e);
#define MRSI_SAVEPOINT_DOCS "documents" /* name of a file that becomes a part of a collection */
/* The same without a checksum, for a file that does not only grow: the caller has checksums of its contents. */
void mrsi_save_temp_unsummed(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b,
                             struct mrs_buf *files);
enum mrs_status mrsi_load_temp_unsummed(struct mrsi_engine *en, struct mrs_view saved, const char *name,
                                        struct mrsi_temp **t, uint64_t *bytes, struct mrs_err *e);
/* The position of a reader, as fields of an open document. */
void mrsi_save_place(const struct mrs_reader_at *at, struct mrs_build *b);
struct mrs_reader_at mrsi_load_place(struct mrs_view d, bool *bad);
/* The length of the log of refused documents at some time: at most that of the savepoint. */
void mrsi_save_log(const char *name, struct mrsi_refused_position at, struct mrs_build *b);
struct mrsi_refused_position mrsi_load_log(struct mrs_view saved, const char *name, bool *bad);
/* The document of a field, empty if it is missing. */
struct mrs_view mrsi_savepoint_doc(struct mrs_view saved, const char *name);
/* Validates bytes of a resumed file: as a document; as a value, put into room, which is bad if memory is out. */
bool mrsi_savepoint_is_doc(const uint8_t *p, uint64_t n);
bool mrsi_savepoint_is_value(uint8_t type, const uint8_t *p, uint32_t n, struct mrs_buf *room);

/* ---- file_state.c: files of a savepoint that are written and read in pieces ---- */
#define MRSI_SAVEPOINT_WINDOW (256u << 10)
struct mrsi_savepoint_file {
    struct mrsi_engine *en;
    struct mrsi_temp *temp; /* NULL: nothing was written */
    uint64_t bytes;
    struct mrs_buf buf;
};
void mrsi_savepoint_file_begin(struct mrsi_savepoint_file *f, struct mrsi_engine *en);
enum mrs_status mrsi_savepoint_file_put(struct mrsi_savepoint_file *f, const void *p, size_t n, struct mrs_err *e);
/* Returns s, or the failure; then there is no file. Else the caller owns temp. */
enum mrs_status mrsi_savepoint_file_end(struct mrsi_savepoint_file *f, enum mrs_status s, struct mrs_err *e);
/* After end: the file becomes field `name` and belongs to the savepoint. */
enum mrs_status mrsi_savepoint_file_save(struct mrsi_savepoint_file *f, const char *name, struct mrs_build *b,
                                         struct mrs_buf *files, struct mrs_err *e);
/* Reads the items of a file, some at a time. */
struct mrsi_savepoint_items {
    struct mrsi_engine *en;
    size_t item; /* size of one; at most MRSI_SAVEPOINT_WINDOW */
    enum mrs_status (*take)(void *arg, const uint8_t *p, size_t n, struct mrs_err *e);
    void *arg;
};
/* Of an open file with `bytes` bytes of items; and of a file in a savepoint. */
enum mrs_status mrsi_savepoint_items_each(const struct mrsi_savepoint_items *x, const struct mrsi_temp *t,
                                          uint64_t bytes, struct mrs_err *e);
enum mrs_status mrsi_load_items(const struct mrsi_savepoint_items *x, struct mrs_view saved, const char *name,
                                struct mrs_err *e);
/* A list in memory that only grows: its file grows with it, so each savepoint writes only new items. */
struct mrsi_savepoint_list {
    struct mrsi_engine *en;
    struct mrs_buf *buf;
    struct mrsi_temp *temp;
    uint64_t bytes; /* in the file */
};
void mrsi_savepoint_list_clear(struct mrsi_savepoint_list *l); /* also before the list starts over */
enum mrs_status mrsi_savepoint_list_save(struct mrsi_savepoint_list *l, const char *name, struct mrs_build *b,
                                         struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_savepoint_list_load(struct mrsi_savepoint_list *l, struct mrs_view saved, const char *name,
                                         struct mrs_err *e);
#endif
