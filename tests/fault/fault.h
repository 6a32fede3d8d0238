/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - shared by the files of the fault tests: scenes (a dump, a plan, options), calls that fail on demand, and
 * pictures of a folder, to check that no output was written or that the bytes are equal. */
#ifndef FAULT_H
#define FAULT_H

#include "mongoreshape/mrs.h"
#include <stdbool.h>

/* ---- calls.c: the operating system, failing by number ---- */
enum call {
    CALL_OPEN, CALL_READ, CALL_PREAD, CALL_WRITE, CALL_PWRITE, CALL_FSYNC, CALL_RENAME, CALL_TRUNCATE, CALL_MMAP,
    CALL_THREAD, CALL_COPY, CALL_MKDIR, CALL_STAT, CALL_SEEK, CALL_UNLINK, CALLS
};
enum how {
    HOW_ERROR,       /* the n-th call fails */
    HOW_ERROR_ON,    /* the n-th and all behind it */
    HOW_SHORT,       /* the n-th call does half of its work: nobody may notice */
    HOW_INTERRUPTED, /* the n-th call says EINTR: nobody may notice */
    HOW_CANCEL,      /* the n-th call works, and the owner of the run wants it to stop */
    HOW_KILL         /* the process is killed before the n-th call */
};
const char *call_name(enum call c);
bool call_can(enum call c, enum how how);
void calls_fail(enum call c, enum how how, uint64_t n, int error);
void calls_work(void);           /* from now on all succeed; counts begin at 0 */
void calls_stop(void);           /* all succeed, counts stay */
uint64_t calls_made(enum call c);
const int *calls_cancel(void);   /* for struct mrs_run_opts */
bool calls_hit(void);            /* the failing call was reached */

/* ---- forms.c: the same dump, packed ---- */
enum form { FORM_FOLDER, FORM_ARCHIVE, FORM_TAR, FORM_ZIP, FORM_7Z, FORM_CPIO };
/* The dump in folder as the file path; codec: around an archive or tar as a whole. */
void put_form(const char *folder, enum form form, enum mrs_codec codec, const char *path);

/* ---- dumps.c ---- */
enum way { WAY_THERE, WAY_RESIDUE, WAY_BACK };
struct scene {
    const char *name;
    void (*dump)(const char *dir, enum mrs_codec codec); /* NULL: dump_blog */
    enum mrs_codec codec;        /* of the input */
    enum form form;              /* not a folder: `in` is in/dump */
    bool piped;                  /* the file `in` comes as standard input */
    const char *plan;
    const char *in, *out;        /* below the folder; NULL: "in" and "out" */
    const char *amend;           /* lines of Extended JSON; NULL: none */
    uint64_t memory;             /* 0: 256 MiB, much */
    uint32_t jobs;               /* 0: one */
    uint64_t max_refused;
    struct mrs_compress compress;
    const char *single_ns;
    const char *exclude;
    enum way way;                /* with a residue written; or back: the inverse with it on what the plan made */
    bool force, dry_run, to_stdout;
    enum mrs_format made;        /* of the output, where its name does not say it */
    bool stream;                 /* to standard output while it is made */
    bool slow;                   /* in the long part only */
    bool killed;                 /* is killed and runs out of disk, nothing else */
    bool aside;                  /* temporary files have a folder of their own */
    bool marked;                 /* several blocks in a pass: is gone on with, nothing else */
    bool damaged;                /* the input is: the plan need not fit it */
    bool meets;                  /* what is refused makes the run end with MRS_E_TOO_MANY */
};
extern const struct scene scenes[];
extern const unsigned n_scenes;
void put_bytes(const char *path, const void *p, size_t n);
/* In two frames or members, if it is not very short; zstd with checksums. */
void put_packed(const char *path, enum mrs_codec codec, const void *p, size_t n);
/* Lines of Extended JSON as BSON, packed. */
void put_lines(const char *path, enum mrs_codec codec, const char *lines);

/* ---- main.c ---- */
struct result {
    enum mrs_status status;
    struct mrs_err err;
    uint64_t picture, out_picture; /* of the whole folder but the input, of the output alone */
    uint64_t allocations, leaks, refused;
    bool published;
    char names[2048]; /* of the files that are left, with a hash each */
};
const char *below(const char *name);
void new_top(void); /* the folder, empty */
void clean_scene(const struct scene *sc);
struct result run_scene(const struct scene *sc, uint64_t fail_at);
/* With checkpoints wherever one is possible; resume: goes on with what is there; fail_at as for run_scene. */
struct result run_going(const struct scene *sc, bool resume, uint64_t fail_at);
void look_at(struct result *r);
void wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* with -v */
void set_doing(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void note_try(void);
uint64_t random_number(unsigned i); /* the i-th that the seed makes */

/* ---- kills.c ---- */
void kill_runs(const struct scene *sc, const struct result *good, const struct result *before, double took, unsigned n);
void fill_disk(const struct scene *sc, const struct result *good, const struct result *before, bool all);

/* ---- resume.c ---- */
struct places { /* where something happens to a run; pieces together are all */
    bool all;     /* every n, else ever fewer */
    bool few;     /* soon fewer */
    uint32_t piece, pieces; /* of all: every pieces-th, from the piece-th on; else 1 of 1 */
};
void resume_runs(const struct scene *sc, const struct result *good, double took, const struct places *at);

/* ---- flips.c ---- */
/* Damaged inputs; only: the name of a form, NULL: all; all: of every sample dump, a thousand each. */
void flip_all(unsigned long seed, const char *only, bool all);

/* ---- picture.c ---- */
/* A hash over names and contents of everything below a folder but `without`; names, unless it is NULL: "name:hash " of
 * each file, as many as fit into size bytes. */
uint64_t picture(const char *dir, const char *without, char *names, size_t size);
/* Names directly in a folder, sorted, with a blank behind each. */
void names_in(const char *dir, char *text, size_t size);
unsigned open_files(void);

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
