/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.h - how a run that is stopped or killed at any instant is gone on with, to the same bytes.
 *
 * A run is a row of passes, and between two of them everything that matters lies in files: collections of the input,
 * parts that steps wrote, finished files of the output, the log of refused documents. Such a place is a boundary: the
 * beginning of a step, of a collection that no step has written, of the publication. There the state is put into
 * words (a BSON document); it goes to disk where enough time has passed, and when the run is interrupted. So that files
 * can be named, what outlives a pass lies in OUT.checkpoint under a number instead of in a nameless temporary file.
 *
 * Inside a pass that works in input order a mark can be taken as well: no more jobs are fetched, those under way are
 * committed, and then the place in the input, the lengths of what is written and the counts of the pass say all that is
 * needed to go on from there. A mark stands beside the boundary from which its pass began, and is void as soon as the
 * pass begins again.
 *
 * The rules that make it safe:
 * - the state is replaced in one rename, after all that it names is on disk;
 * - what the state on disk, or the boundary that may still be written, names is not removed; files that nobody needs
 *   any more are removed once a newer state is there;
 * - who goes on takes from OUT.partial and OUT.checkpoint only what the state names, in the length that it says, and
 *   removes the rest;
 * - what a state says is believed no more than a foreign dump: a checksum, types, ranges and lengths are checked before
 *   anything is touched;
 * - plan, version of the tool, `$$NOW`, the options that decide about bytes, and the input (fingerprint.c) must be the
 *   same, else the run is refused and everything stays as it is. Memory, jobs and folders may differ. */
#ifndef MRS_RUN_CHECKPOINT_H
#define MRS_RUN_CHECKPOINT_H

#include "internal.h"

#define MRSI_STATE_FORMAT 8 /* of the file; one of another is refused */

/* What a file says; views point into its bytes. */
struct mrsi_checkpoint {
    const char *tool, *plan, *plan_id;
    int64_t now_ms;
    uint64_t seed;
    struct mrs_view options; /* texts by the name of the option */
    struct mrs_view input;   /* array of {name, low, high} */
    struct mrs_view state;   /* of the run at the boundary */
    struct mrs_view output;  /* mrs_output_describe, in the state */
    struct mrs_view pass;    /* of the pass that was begun there; empty: none */
};
/* FAIL MRS_E_FORMAT. body: without the frame and its checksum. */
enum mrs_status mrsi_checkpoint_parse(const void *p, size_t n, struct mrsi_checkpoint *out, struct mrs_err *e);
enum mrs_status mrsi_checkpoint_parse_body(const void *p, size_t n, struct mrsi_checkpoint *out, struct mrs_err *e);
/* Puts the frame around body and appends all to out. */
void mrsi_checkpoint_frame(struct mrs_view body, struct mrs_buf *out);

/* Fields of one type; *bad is set where one is missing or out of range. */
uint64_t mrsi_state_number(struct mrs_view d, const char *name, uint64_t most, bool *bad);
struct mrs_view mrsi_state_list(struct mrs_view d, const char *name, bool *bad);
/* Bytes of a BINARY field. */
const uint8_t *mrsi_state_bytes(struct mrs_view d, const char *name, size_t *n, bool *bad);
void mrsi_state_put_bytes(struct mrs_build *b, const char *name, const void *p, size_t n);
enum mrs_status mrsi_state_damaged(const char *what, struct mrs_err *e);

/* ---- checkpoint_state.c: the engine in words ---- */
/* Appends the state before step `step` as fields. files: the numbers of the files that it names (uint32_t). */
enum mrs_status mrsi_state_describe(struct mrsi_engine *en, uint32_t step, struct mrs_build *b, struct mrs_buf *files,
                                    struct mrs_err *e);
/* The engine becomes as the state says. */
enum mrs_status mrsi_state_apply(struct mrsi_engine *en, struct mrs_view state, uint32_t *step, struct mrs_buf *files,
                                 struct mrs_err *e);
void mrsi_state_put_rows(const char *name, const struct mrsi_row *rows, uint32_t n, struct mrs_build *b);
enum mrs_status mrsi_state_get_rows(struct mrs_view d, const char *name, struct mrsi_row *rows, uint32_t n,
                                    struct mrs_err *e);

/* How far the run is, what was refused and read up to now. */
enum mrs_status mrsi_state_put_progress(struct mrsi_engine *en, struct mrs_build *b, struct mrs_buf *files,
                                        struct mrs_err *e);
enum mrs_status mrsi_state_get_progress(struct mrsi_engine *en, struct mrs_view d, struct mrs_err *e);
void mrsi_state_put_docs(const struct mrs_docs *d, struct mrs_build *b);
void mrsi_state_get_docs(struct mrs_view d, struct mrs_docs *docs, bool *bad);
/* ---- seen.c ---- */
void mrsi_seen_describe(const struct mrsi_engine *en, struct mrs_build *b);
enum mrs_status mrsi_seen_apply(struct mrsi_engine *en, struct mrs_view state, struct mrs_err *e);

/* ---- checkpoint_same.c: whether it is the same run ---- */
/* What must be the same, as fields: options and input. */
enum mrs_status mrsi_same_options(struct mrsi_engine *en, struct mrs_build *b, struct mrs_err *e);
enum mrs_status mrsi_same_input(struct mrsi_engine *en, struct mrs_build *b, struct mrs_err *e);
enum mrs_status mrsi_same_check(struct mrsi_engine *en, const struct mrsi_checkpoint *cp, struct mrs_view options,
                                struct mrs_view input, struct mrs_err *e);

/* ---- checkpoint.c: when, and where ---- */
/* Before the output is opened: decides whether there will be checkpoints and reads the one to go on from. */
enum mrs_status mrsi_keep_begin(struct mrsi_engine *en, struct mrs_err *e);
bool mrsi_keep_resumes(const struct mrsi_engine *en);    /* the output is to be taken over */
bool mrsi_keep_is_published(const struct mrsi_engine *en); /* it has been done: only the report is missing */
bool mrsi_keep_was_whole(const struct mrsi_engine *en);   /* the output was whole when the run was stopped */
/* Behind it: takes over what was left; *step: where to go on. */
enum mrs_status mrsi_keep_take_up(struct mrsi_engine *en, uint32_t *step, struct mrs_err *e);
/* A boundary: all steps before `step` are done. */
enum mrs_status mrsi_keep_boundary(struct mrsi_engine *en, uint32_t step, struct mrs_err *e);
/* The output is whole and about to be published. */
enum mrs_status mrsi_keep_whole(struct mrsi_engine *en, struct mrs_err *e);
/* Nothing is left to go on with. */
enum mrs_status mrsi_keep_forget(struct mrsi_engine *en, struct mrs_err *e);
/* The run is over: published, or stopped with status s. The output goes, or stays for another run. */
void mrsi_keep_end(struct mrsi_engine *en, enum mrs_status s, struct mrs_err *e);

/* ---- checkpoint_pass.c: marks inside a pass ---- */
/* A pass that can say where it is: its writers, and where it reads. */
struct mrsi_pass {
    struct mrsi_engine *en;
    const char *kind;
    struct mrsi_scan *scan;  /* set while a pipe of the pass runs that reads a collection; else NULL */
    struct mrsi_writer *wr;
    uint32_t n_wr;
    bool (*ready)(const void *arg); /* whether a mark may be taken between these two jobs; NULL: between any two */
    bool blank;              /* what the writers have is nothing that counts: a mark has them empty */
    /* What else it needs; NULL: nothing. files: the numbers of files that it names. */
    enum mrs_status (*describe)(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
    void *arg;
    struct mrs_view from;    /* the mark that it goes on from; empty: it begins */
};
enum mrs_status mrsi_pass_describe(const struct mrsi_pass *p, struct mrs_build *b, struct mrs_buf *files,
                                   struct mrs_err *e);
/* Counts (those of the pass, and of what the step has accepted already), refused documents and writers (open but for
 * their files) as the mark says. */
enum mrs_status mrsi_pass_apply(struct mrsi_pass *p, struct mrs_err *e);
/* The counts and the refused documents alone: once more, where something was read again meanwhile. */
enum mrs_status mrsi_pass_apply_counts(struct mrsi_pass *p, struct mrs_err *e);
/* One pass of a pipe over a collection. Its jobs are fetched from `scan`, which begins where the collection does, or
 * where the mark says; then the pass has gone on. p NULL: a pass without marks. A mark that was taken between two
 * passes says of no place. */
enum mrs_status mrsi_pass_scan(struct mrsi_pass *p, const struct mrsi_pipe *pipe, struct mrsi_coll *c,
                               struct mrsi_scan *scan, struct mrs_err *e);
/* A place between two passes of a step, where nothing is under way: a mark is taken where one is due. */
enum mrs_status mrsi_pass_between(struct mrsi_pass *p, struct mrs_err *e);
/* The same where what a mark on disk speaks of is written anew from here on: that mark is replaced now. */
enum mrs_status mrsi_pass_anew(struct mrsi_pass *p, struct mrs_err *e);
/* Work between two passes, or behind all of them, that goes on item by item. */
struct mrsi_rests {
    struct mrsi_engine *en;
    struct mrsi_pass *pass; /* what marks are of; NULL: there are none */
    uint64_t since;         /* bytes of work since the last look at the clock */
};
/* So many more have been done: whether it is time for a rest. */
bool mrsi_rest_is_due(struct mrsi_rests *r, uint64_t bytes);
/* What the pass describes is true now: a mark is taken where one is due. FAIL MRS_E_CANCEL: the run is to end. */
enum mrs_status mrsi_rest(struct mrsi_rests *r, struct mrs_err *e);
/* Both: a rest where it is time for one. */
enum mrs_status mrsi_rest_after(struct mrsi_rests *r, uint64_t bytes, struct mrs_err *e);
static inline bool
mrsi_pass_goes_on(const struct mrsi_pass *p)
{
    return p && p->from.n > MRS_DOC_MIN;
}
/* The mark for the pass that begins now, given once. */
void mrsi_keep_mark_for(struct mrsi_pass *p);
/* Whether a mark should be taken now. */
bool mrsi_keep_due(const struct mrsi_engine *en);
/* Takes one; nothing is under way. One that is too large for a document is left out: the older one stays. */
enum mrs_status mrsi_keep_mark(const struct mrsi_pass *p, struct mrs_err *e);
/* The same, but the older one is void in any case. */
enum mrs_status mrsi_keep_mark_anew(const struct mrsi_pass *p, struct mrs_err *e);
bool mrsi_keep_has_mark(const struct mrsi_engine *en); /* the state on disk has one */

/* ---- checkpoint_part.c: what a pass holds between two jobs, as fields of its mark ----
 * Each structure that outlives a job has a pair of functions of the same form: X_describe(x, name, b, files, e), which
 * appends field `name` and the numbers of the files it speaks of, and X_apply(x, mark, name, e), which makes an
 * initialised, empty x what it was. describe may move what is in memory to a file; x is used on afterwards. One thread,
 * nothing under way. apply believes nothing: FAIL MRS_E_FORMAT where a length or a type is wrong. */
/* Bytes in memory, into a new file that lives as long as a state names it. */
enum mrs_status mrsi_mark_bytes(struct mrsi_engine *en, const char *name, const void *p, size_t n, struct mrs_build *b,
                                struct mrs_buf *files, struct mrs_err *e);
/* Appends them to out. */
enum mrs_status mrsi_mark_bytes_back(struct mrsi_engine *en, struct mrs_view mark, const char *name,
                                     struct mrs_buf *out, struct mrs_err *e);
/* The `bytes` bytes that mrsi_temp_append has put into a file made by mrsi_keep_temp, with their sum; NULL: none. They
 * must not change after the mark. */
void mrsi_mark_temp(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b,
                    struct mrs_buf *files);
/* Open again, read through and held against the sum, so that what lies in it is what was put there; what the mark says
 * beside it may still be wrong. *t NULL: there was none. */
enum mrs_status mrsi_mark_temp_back(struct mrsi_engine *en, struct mrs_view mark, const char *name,
                                    struct mrsi_temp **t, uint64_t *bytes, struct mrs_err *e);
/* The sum alone, as field `sum` of a document that has the number and the length. */
void mrsi_mark_sum(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b);
enum mrs_status mrsi_mark_sum_back(struct mrsi_engine *en, struct mrs_view d, const char *name, struct mrsi_temp *t,
                                   uint64_t bytes, struct mrs_err *e);
/* Reads them through, where the file was cut or its sum is not of so many bytes. */
enum mrs_status mrsi_mark_sum_again(struct mrsi_engine *en, struct mrsi_temp *t, uint64_t bytes, struct mrs_err *e);
#define MRSI_MARK_DOCS "documents" /* name of a file that becomes a part of a collection */
/* The same without a sum, of a file that does not only grow: who names it has sums of what is in it. */
void mrsi_mark_temp_unsummed(const char *name, const struct mrsi_temp *t, uint64_t bytes, struct mrs_build *b,
                             struct mrs_buf *files);
enum mrs_status mrsi_mark_temp_unsummed_back(struct mrsi_engine *en, struct mrs_view mark, const char *name,
                                             struct mrsi_temp **t, uint64_t *bytes, struct mrs_err *e);
/* Where a reader stands, as fields of an open document. */
void mrsi_mark_place(const struct mrs_reader_at *at, struct mrs_build *b);
struct mrs_reader_at mrsi_mark_place_back(struct mrs_view d, bool *bad);
/* How long the log of refused documents was at some time: never longer than the mark has it. */
void mrsi_mark_log(const char *name, struct mrsi_refused_mark at, struct mrs_build *b);
struct mrsi_refused_mark mrsi_mark_log_back(struct mrs_view mark, const char *name, bool *bad);
/* The document of a field, empty where there is none. */
struct mrs_view mrsi_mark_doc(struct mrs_view mark, const char *name);
/* Whether bytes that another run left in a file are what they should be: a document; a value, put into room for that,
 * which is bad without memory. */
bool mrsi_mark_is_doc(const uint8_t *p, uint64_t n);
bool mrsi_mark_is_value(uint8_t type, const uint8_t *p, uint32_t n, struct mrs_buf *room);
/* Keeps a temporary file open until the mark that is being made is on disk; takes t over. */
enum mrs_status mrsi_keep_until_mark(struct mrsi_engine *en, struct mrsi_temp *t, struct mrs_err *e);

/* ---- checkpoint_output.c: marks while the output copies or packs ---- */
/* For struct mrs_pause; arg: the engine. */
bool mrsi_output_due(void *arg, uint64_t bytes);
enum mrs_status mrsi_output_rest(void *arg, struct mrs_err *e);
/* A pass that copies collection c as it is (NULL: an extra file). Where it goes on c has been checked and counted. */
enum mrs_status mrsi_copying_begin(struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_pass *p,
                                   struct mrs_err *e);
enum mrs_status mrsi_copying(struct mrsi_pass *p, uint32_t in_index, struct mrs_err *e);
#define MRSI_KEEP_RESIDUE "residue" /* kind of the pass in which a whole output is compared with its inverse */
#define MRSI_KEEP_BACK "back"       /* kind of the pass in which a residue is put back */
#define MRSI_KEEP_PUBLISH "publish" /* kind of the pass in which the output gets its name */
enum mrs_status mrsi_commit(struct mrsi_engine *en, struct mrs_view extra, struct mrs_err *e);

/* ---- checkpoint_file.c: files of a mark that are written and read piece by piece ---- */
#define MRSI_MARK_WINDOW (256u << 10)
struct mrsi_mark_file {
    struct mrsi_engine *en;
    struct mrsi_temp *temp; /* NULL: nothing has been written */
    uint64_t bytes;
    struct mrs_buf buf;
};
void mrsi_mark_file_begin(struct mrsi_mark_file *f, struct mrsi_engine *en);
enum mrs_status mrsi_mark_file_put(struct mrsi_mark_file *f, const void *p, size_t n, struct mrs_err *e);
/* Returns s, or what failed; then there is no file. Else temp and bytes are the caller's. */
enum mrs_status mrsi_mark_file_end(struct mrsi_mark_file *f, enum mrs_status s, struct mrs_err *e);
/* Behind end: the file becomes field `name` and belongs to the mark. */
enum mrs_status mrsi_mark_file_describe(struct mrsi_mark_file *f, const char *name, struct mrs_build *b,
                                        struct mrs_buf *files, struct mrs_err *e);
/* Hands over the items of a file, some at a time. */
struct mrsi_mark_items {
    struct mrsi_engine *en;
    size_t item; /* bytes of one; at most MRSI_MARK_WINDOW */
    enum mrs_status (*take)(void *arg, const uint8_t *p, size_t n, struct mrs_err *e);
    void *arg;
};
/* Of one that is open, which has `bytes` bytes of them; and of one that a mark names. */
enum mrs_status mrsi_mark_items_each(const struct mrsi_mark_items *x, const struct mrsi_temp *t, uint64_t bytes,
                                     struct mrs_err *e);
enum mrs_status mrsi_mark_items_back(const struct mrsi_mark_items *x, struct mrs_view mark, const char *name,
                                     struct mrs_err *e);

/* A list in memory that only grows: its file grows with it, so that each mark writes what is new. */
struct mrsi_mark_list {
    struct mrsi_engine *en;
    struct mrs_buf *buf;
    struct mrsi_temp *temp;
    uint64_t bytes; /* in the file */
};
void mrsi_mark_list_clear(struct mrsi_mark_list *l); /* also where the list is to begin anew */
enum mrs_status mrsi_mark_list_describe(struct mrsi_mark_list *l, const char *name, struct mrs_build *b,
                                        struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_mark_list_apply(struct mrsi_mark_list *l, struct mrs_view mark, const char *name,
                                     struct mrs_err *e);

/* A file that a boundary or a mark may name, as a temporary file; nameless where there are no checkpoints. Any
 * thread. */
enum mrs_status mrsi_keep_temp(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e);
enum mrs_status mrsi_keep_reopen(struct mrsi_engine *en, uint32_t no, uint64_t bytes, struct mrsi_temp **out,
                                 struct mrs_err *e);
void mrsi_keep_dropped(struct mrsi_engine *en, uint32_t no); /* its last user has gone */
uint32_t mrsi_keep_next(const struct mrsi_engine *en);

#endif
