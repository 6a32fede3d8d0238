/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - a command line made from one table: parsing, help, manual, completions; and what else two tools of this
 * project say alike: diagnostics, progress, JSON, interrupts.
 *
 * For the executables of this project only; not installed and no part of the library. A tool is a const struct
 * mrs_cli_tool. Its values live in a struct of its own whose first member is struct mrs_cli; options are stored into it
 * by offset. Texts use `...` for words of the command line, plans and files. Data go to standard output, words to
 * standard error. All of it belongs to one thread; the flag of interrupts may be read by any. */
#ifndef MONGORESHAPE_CLI_H
#define MONGORESHAPE_CLI_H

#include "mongoreshape/doc.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the table ---- */
enum mrs_cli_type {
    MRS_CLI_FLAG,  /* bool */
    MRS_CLI_TEXT,  /* const char * */
    MRS_CLI_PATH,  /* const char *, completed as a file */
    MRS_CLI_LIST,  /* struct mrs_cli_list: may be repeated */
    MRS_CLI_COUNT, /* uint64_t */
    MRS_CLI_LIMIT, /* uint64_t; the word `any` is UINT64_MAX */
    MRS_CLI_SIZE,  /* uint64_t, 512M */
    MRS_CLI_DATE,  /* int64_t, milliseconds */
    MRS_CLI_WORD,  /* const char *, one of `words` */
    MRS_CLI_OWN    /* what `own` makes of the text */
};

struct mrs_cli_list {
    const char **at;
    uint32_t n;
};

struct mrs_cli_option {
    const char *name;
    char letter;       /* 0: none */
    const char *arg;   /* name of its value; NULL: a flag */
    unsigned commands; /* bits of the commands that take it */
    enum mrs_cli_type type;
    size_t offset;        /* in the tool's struct of values */
    const char *words;    /* "gzip|zstd": for MRS_CLI_WORD, and as hints for completion */
    const char *fallback; /* what holds without it; NULL */
    const char *help;     /* one line */
    const char *more;     /* what the manual adds; NULL */
    const char *(*own)(const char *text, void *to); /* MRS_CLI_OWN: NULL, or what would have been right */
};

struct mrs_cli_example {
    const char *line, *text;
};

struct mrs_cli;
struct mrs_cli_command {
    const char *name;
    unsigned bit;
    const char *operand; /* "PLAN", "[COMMAND]": may be left out; "A [B]": a second one; "": none */
    const char *needs;   /* options it cannot do without, for the usage line */
    const char *summary;
    const char *const *text;                 /* paragraphs; NULL behind the last */
    const struct mrs_cli_example *examples;  /* line NULL behind the last */
    int (*run)(struct mrs_cli *cli);         /* the exit status */
};

struct mrs_cli_row { /* two columns: exit status and meaning, or term and text of a section of the manual */
    const char *term, *text;
};
struct mrs_cli_section { /* of the manual: a paragraph where `term` is NULL; terms are roff */
    const char *title;
    const struct mrs_cli_row *rows; /* text NULL behind the last */
};

struct mrs_cli_tool {
    const char *name;    /* "mongoreshape" */
    const char *version;
    const char *summary; /* "moves ..." */
    const char *purpose; /* the same for the manual: "move ..." */
    const char *about;   /* a paragraph for the help */
    const char *sketch;  /* lines printed as they are below it */
    const char *manual;  /* a paragraph for the manual */
    const struct mrs_cli_option *options;   /* name NULL behind the last; at most 64 */
    const struct mrs_cli_command *commands; /* name NULL behind the last, which is `help` */
    const struct mrs_cli_row *exits;        /* term NULL behind the last */
    const struct mrs_cli_section *sections; /* title NULL behind the last */
    const char *see_also;                   /* roff */
    bool (*topic)(const char *name);        /* `help NAME` that is no command: printed, or false; NULL: none is */
    const char *start;   /* lines for who calls it without anything, or the first command so: how to begin; NULL */
    const char *offer;   /* the command that is offered to who names nothing but a file or folder; NULL */
    /* the i-th word that the operand of a command may be, for completions; NULL: no more; without any it is a file */
    const char *(*word)(const struct mrs_cli_command *c, uint32_t i);
    bool (*page)(const char *name);         /* the same for `help --man NAME`: a manual page of its own */
};

/* What the command line says. Texts point into argv. */
struct mrs_cli {
    struct mrs_mem *mem;
    const struct mrs_cli_tool *tool;
    const struct mrs_cli_command *command;
    const char *operand;    /* PLAN, or the command that help is about; NULL */
    const char *operand2;   /* the second; NULL */
    const char *completion; /* of help: the shell */
    bool help, version, man;
    uint64_t given;         /* bit i: row i of the table was on the line */
};

/* ---- the line ---- */
/* Parses the line, runs the command, lets the values go, and makes sure that what was written to standard output
 * arrived. mem and tool are set, and every value has its default. Returns the exit status. */
int mrs_cli_main(struct mrs_cli *cli, int argc, char **argv);
/* Parses alone. False: *status is the exit status, and what there was to say has been said. */
bool mrs_cli_parse(struct mrs_cli *cli, int argc, char **argv, int *status);
/* Frees lists; harmless twice. */
void mrs_cli_clear(struct mrs_cli *cli);
/* "TOOL: ..." and where to read on, on standard error; returns 2. */
/* As fprintf, for people: control characters in what `%s` brings are escaped. All that may hold names goes this way. */
void mrs_say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int mrs_cli_misuse(const struct mrs_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether an option was on the line. */
bool mrs_cli_given(const struct mrs_cli *cli, const char *name);
/* Whether it could, behind this command. */
bool mrs_cli_takes(const struct mrs_cli *cli, const char *name);
/* The command `help`: of the tool, of a command, as manual or completions. */
int mrs_cli_help(struct mrs_cli *cli);

/* ---- what help is made of; standard output ---- */
void mrs_cli_help_tool(const struct mrs_cli_tool *t);
void mrs_cli_help_command(const struct mrs_cli_tool *t, const struct mrs_cli_command *c);
void mrs_cli_help_man(const struct mrs_cli_tool *t);
/* A text as roff; what is in `...` becomes bold. */
void mrs_cli_roff(const char *text);
/* Completions; shell: "bash", "zsh" or "fish". */
void mrs_cli_help_shell(const struct mrs_cli_tool *t, const char *shell);

/* ---- diagnostics, on standard error ---- */
/* "TOOL: ns: where: what". */
void mrs_cli_tell(const struct mrs_cli *cli, const struct mrs_err *e);
/* "FILE:LINE:COLUMN: error: what", as compilers do. */
void mrs_cli_tell_at(const char *file, uint32_t line, uint32_t col, bool warning, const char *msg);

/* ---- text for people's eyes ---- */
#define MRS_TEXT_WIDTH 80
/* Columns of f where it is a terminal, 40 to 200; else MRS_TEXT_WIDTH. */
int mrs_text_width(FILE *f);
/* Prints text folded at that width, every line but the first behind `indent` blanks; col: where the first begins.
 * Ends the line. */
void mrs_text_fold(FILE *f, const char *text, int indent, int col);
/* "12.3 MiB"; returns text. */
const char *mrs_text_size(uint64_t bytes, char text[32]);
/* "0.42 s", "3 min 05 s"; returns text. */
const char *mrs_text_time(uint64_t ms, char text[32]);
/* Whether f is a terminal that wants colours (NO_COLOR, TERM=dumb). */
bool mrs_text_colour(FILE *f);

/* ---- the line that says how far a run is, on standard error ---- */
struct mrs_cli_progress {
    bool on, terminal, drawn;
    uint64_t start_ms, last_ms;
    uint64_t last_done;
    double rate; /* a second, smoothed */
};
/* wanted: also where standard error is no terminal. */
void mrs_cli_progress_begin(struct mrs_cli_progress *p, bool wanted, bool quiet);
/* Whether it is time for a line (on terminals six times a second, else once); notes how much is done by now. */
bool mrs_cli_progress_due(struct mrs_cli_progress *p, uint64_t done);
/* "  2:05 left"; "" where that is not known (a negative number) or far off. */
const char *mrs_cli_time_left(int64_t seconds, char text[40]);
/* The same by the smoothed rate. */
const char *mrs_cli_progress_left(const struct mrs_cli_progress *p, uint64_t done, uint64_t total, char text[40]);
void mrs_cli_progress_draw(struct mrs_cli_progress *p, const char *line);
/* Takes the line away. */
void mrs_cli_progress_end(struct mrs_cli_progress *p);

/* ---- Ctrl-C and its relatives ---- */
/* From now on SIGINT, SIGTERM and SIGHUP set the flag, once; the second ends the process. SIGPIPE and SIGXFSZ are
 * ignored: writing reports it. on_bus_error: what is said before a file that cannot be read any more ends the process
 * with status 4; it lives as long as the process. */
void mrs_signals_begin(const char *on_bus_error);
/* Read atomically: not 0 once a signal came. */
const int *mrs_signals_flag(void);
/* The signal that came, or 0. */
int mrs_signals_number(void);

/* ---- one JSON object for programs ---- */
struct mrs_cli_json {
    struct mrs_build b;
    struct mrs_buf buf;
    struct mrs_arena arena; /* for values that must live until the end */
};
void mrs_cli_json_begin(struct mrs_cli_json *j, struct mrs_mem *mem);
/* value NULL: null. name NULL, here and in open: a member of an array. */
void mrs_cli_json_text(struct mrs_cli_json *j, const char *name, const char *value);
void mrs_cli_json_count(struct mrs_cli_json *j, const char *name, uint64_t n);
void mrs_cli_json_bool(struct mrs_cli_json *j, const char *name, bool v);
/* type: MRS_DOCUMENT or MRS_ARRAY. */
void mrs_cli_json_open(struct mrs_cli_json *j, const char *name, uint8_t type);
void mrs_cli_json_close(struct mrs_cli_json *j);
void mrs_cli_json_texts(struct mrs_cli_json *j, const char *name, const char *const *at, uint32_t n);
/* {name, message, ns, where, document, offset}. */
void mrs_cli_json_error(struct mrs_cli_json *j, const char *name, const struct mrs_err *e);
/* Writes the object and a newline to f, and lets everything go. False: no memory, nothing was written. */
bool mrs_cli_json_end(struct mrs_cli_json *j, FILE *f);
/* The same, appended to out without a newline; out is bad where memory is out. */
void mrs_cli_json_take(struct mrs_cli_json *j, struct mrs_buf *out);

/* ---- a report as a page for a browser: one file that needs nothing else ---- */
/* Whether a page may be written to path (NULL: none is wanted): nothing has that name, or an earlier page, and it does
 * not lie in one of the inputs (NULL: none). 0, or the exit status once it was told why not. */
int mrs_cli_page_look(const struct mrs_cli *line, const char *path, const char *const input[2]);
/* Written whole. kind: "inspect", "run", "diff"; report: one JSON object, bad where memory was out; plan: text of one
 * that belongs to it, or NULL. */
enum mrs_status mrs_cli_page_write(const char *path, const char *kind, const struct mrs_buf *report, const char *plan,
                                   struct mrs_err *e);

/* ---- what an inspection (inspect.h) found ---- */
struct mrsi_inspection;
struct mrs_cli_inspected {
    const char *suggest, *html; /* files for the plan and the page; NULL: not wanted */
    const char *input;          /* as `check` takes it, for the line about the plan; NULL: there is none */
    bool json, all, quiet;      /* all: every path; quiet: no words */
};
/* Before the long work: whether the files may be written; input as above. 0, or the exit status once it was told. */
int mrs_cli_inspect_look(const struct mrs_cli *line, const struct mrs_cli_inspected *to, const char *input);
enum mrs_status mrs_cli_inspect_tell(struct mrs_mem *mem, struct mrsi_inspection *found,
                                     const struct mrs_cli_inspected *to, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
