/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - a server that is none: it loads the extension as MongoDB 9.0 does and calls what that calls.
 *
 * All that is lent to the extension is overwritten when its time is over, all that is given in either direction is
 * counted. One host at a time: the services of a server have no object. */
#ifndef HOST_EXT_H
#define HOST_EXT_H

#include "mongoreshape/doc.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/value.h"
#include "server/abi/stage_abi.h"

struct host_docs {
    struct mrs_view *doc;
    uint32_t n, cap;
};
void host_add(struct host_docs *d, struct mrs_view doc);
void host_clear(struct host_docs *d);
/* Documents of a .bson file, added. False: there is no such file. */
bool host_load(struct host_docs *d, const char *file);
/* From Extended JSON with ' for "; freed by the caller. */
struct mrs_view host_doc(const char *text);

/* ---- counts ---- */
struct host_counts {
    long statuses, bufs;  /* of the host, alive now */
    long assertions;      /* calls of user_asserted */
    long logs;
    bool tripwire;
};
extern struct host_counts host_counts;
extern bool host_no_user_status; /* user_asserted answers nothing */

/* ---- the server ---- */
struct host {
    void *library;
    const struct mdb_extension *extension;
    const struct mdb_descriptor *stage;
    char error[4096]; /* of what failed last */
    int32_t code;
};
/* Loads as the server does: versions, both symbols, every slot. options: YAML. False: refused, with error and code. */
bool host_open(struct host *h, const char *path, const char *options);
/* NULL: refused, with error and code. */
struct mdb_node *host_parse(struct host *h, struct mrs_view stage);
struct mdb_logical *host_promote(struct host *h, struct mdb_node *n, const char *db); /* n is destroyed */
struct mdb_exec *host_compile(struct host *h, struct mdb_logical *l);                 /* l is destroyed */
/* All of it; NULL: refused. */
struct mdb_exec *host_stage(struct host *h, struct mrs_view stage, const char *db);
/* Takes a status: true where all is well; else error and code. It is destroyed. */
bool host_ok(struct host *h, struct mdb_status *s);
struct mdb_status *host_status(int32_t code, const char *text);
struct mdb_buf *host_give(const void *p, size_t n);
/* The bytes of a buffer that the extension gave, copied, and the buffer destroyed; p NULL: none. */
struct mrs_view host_take(struct mdb_buf *b);

enum host_lends { HOST_LENDS, HOST_GIVES, HOST_MIXES };
struct host_source { /* the stage before */
    struct mdb_exec face;
    const struct host_docs *docs;
    enum host_lends how;
    uint32_t at;
    uint32_t pause_every; /* 0: never; n: before each n-th document */
    uint32_t fail_at;     /* from 1: this call fails with code 4711; 0: none does */
    bool meta, paused, strange; /* strange: answers a code that there is none of */
    uint32_t calls, after_end;
    uint8_t *lent, *lent_meta;
};
void host_source(struct host_source *s, const struct host_docs *docs, enum host_lends how);
void host_source_clear(struct host_source *s);

struct host_context { /* of one call after the other */
    struct mdb_context face;
    struct mdb_metrics *metrics;
    uint32_t checks;
    uint32_t kill_at;  /* from 1: this check finds the operation killed, code 11601 */
    uint32_t break_at; /* from 1: this check fails, code 4712 */
};
void host_context(struct host_context *c);

enum { HOST_DONE = 1, HOST_FAILED = 2, HOST_PAUSED = 3 };
/* One call of get_next. 0: a document was added to out (and its metadata to meta, NULL: not looked at). */
int host_next(struct host *h, struct mdb_exec *x, struct host_context *c, struct host_docs *out,
              struct host_docs *meta);
/* Until the end or an error; pauses are waited for. */
int host_drain(struct host *h, struct mdb_exec *x, struct host_context *c, struct host_docs *out);

/* ---- checks ---- */
extern long host_passed, host_failed;
#define CHECK(what) host_check((what), #what, __FILE__, __LINE__)
void host_note(const char *wanted, const char *got);
bool host_check(bool ok, const char *what, const char *file, int line);

/* ---- the memory of the extension ---- */
bool host_memory_watch(void); /* once it is loaded. False: memory cannot be watched in this build */
long host_memory_live(void);  /* blocks */
long host_memory_fail(long at); /* the at-th allocation from now on fails, 0: none; returns how many there were */

/* ---- the programs ---- */
int host_case(const char *so, int argc, char **argv); /* host_case.c */
/* What docs/SERVER.md says, sentence by sentence. */
void host_forms(struct host *h);    /* host_forms.c: the stage in each of its forms */
void host_running(struct host *h);  /* host_running.c: at work */
void host_kinds(struct host *h);    /* host_kinds.c: groups, joins, limits */
void host_options(const char *so);  /* host_loading.c */
void host_versions(const char *so);
void host_shown(const char *so, const char *file); /* the stages and options that a page shows */
void host_stages(const char *so, const char *file, const char *db);
void host_damage(struct host *h, unsigned seeds);   /* host_damage.c: specifications that somebody has cut or changed */
void host_failing(struct host *h, const char *so);  /* host_failing.c: each allocation fails */

#endif
