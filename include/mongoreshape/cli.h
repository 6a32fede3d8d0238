/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - a command line defined by one table: parsing, help, manual, completions; and further functions shared by the
 * tools of this project: diagnostics, progress, JSON, interrupts.
 *
 * Only for the executables of this project; not installed and no part of the library. A tool is a const struct
 * mrs_cli_tool. Its values are in a struct whose first member is struct mrs_cli; options are stored into it by offset.
 * Texts mark words of the command line, plans and files by `...`. Data go to standard output, messages to standard
 * error. All of it belongs to one thread; any thread may read the flag of interrupts. */
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
    MRS_CLI_FOLDER, /* const char *, an existing folder */
    MRS_CLI_LIST,  /* struct mrs_cli_list: may be repeated */
    MRS_CLI_COUNT, /* uint64_t */
    MRS_CLI_LIMIT, /* uint64_t; the word `any` is UINT64_MAX */
    MRS_CLI_SIZE,  /* uint64_t, 512M */
    MRS_CLI_DATE,  /* int64_t, milliseconds */
    MRS_CLI_WORD,  /* const char *, one of `words` */
    MRS_CLI_OWN    /* converted by `own` */
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
    const char *fallback; /* the default; NULL */
    const char *help;     /* one line */
    const char *more;     /* addition for the manual; NULL */
    const char *(*own)(const char *text, void *to); /* MRS_CLI_OWN: NULL, or a description of the expected text */
};

struct mrs_cli_example {
    const char *line, *text;
};

struct mrs_cli;
struct mrs_cli_command {
    const char *name;
    unsigned bit;
    const char *operand; /* "PLAN", "[COMMAND]": optional; "A [B]": a second one; "": none */
    const char *needs;   /* required options, for the usage line */
    const char *summary;
    const char *const *text;                 /* paragraphs; NULL after the last */
    const struct mrs_cli_example *examples;  /* line NULL after the last */
    int (*run)(struct mrs_cli *cli);         /* the exit status */
};

struct mrs_cli_row { /* two columns: exit status and meaning, or term and text of a section of the manual */
    const char *term, *text;
};
struct mrs_cli_section { /* of the manual: a paragraph if `term` is NULL; terms are roff */
    const char *title;
    const struct mrs_cli_row *rows; /* text NULL after the last */
};

struct mrs_cli_tool {
    const char *name;    /* "mongoreshape" */
    const char *version;
    const char *summary; /* "moves ..." */
    const char *purpose; /* the same for the manual: "move ..." */
    const char *about;   /* a paragraph for the help */
    const char *sketch;  /* preformatted lines after it */
    const char *manual;  /* a paragraph for the manual */
    const struct mrs_cli_option *options;   /* name NULL after the last; at most 64 */
    const struct mrs_cli_command *commands; /* name NULL after the last, which is `help` */
    const struct mrs_cli_row *exits;        /* term NULL after the last */
    const struct mrs_cli_section *sections; /* title NULL after the last */
    const char *see_also;                   /* roff */
    bool (*topic)(const char *name); /* `help NAME` for a NAME that is no command: prints it, or false; NULL: none */
    /* lines for a call without arguments, or of the first command without arguments: how to begin; NULL */
    const char *start;
    /* the command to suggest for a line with only a plan, or only another file or folder; NULL: none */
    const char *offer_plan, *offer;
    /* the i-th possible word for the operand of a command, for completions; NULL: no more; without any it is a file */
    const char *(*word)(const struct mrs_cli_command *c, uint32_t i);
    bool (*page)(const char *name);         /* topic for `help --man NAME`: a separate manual page */
};

/* The parsed command line. Texts point into argv. */
struct mrs_cli {
    struct mrs_mem *mem;
    const struct mrs_cli_tool *tool;
    const struct mrs_cli_command *command;
    const char *operand;    /* PLAN, or the command that `help` explains; NULL */
    const char *operand2;   /* the second; NULL */
    const char *completion; /* of `help`: the shell */
    bool help, version, man;
    uint64_t given;         /* bit i: row i of the table was on the line */
};

/* ---- the line ---- */
/* Parses the line, runs the command, frees the values, and checks that standard output was written. mem and tool are
 * set, and every value has its default. Returns the exit status. */
int mrs_cli_main(struct mrs_cli *cli, int argc, char **argv);
/* Only parses. False: *status is the exit status, and messages have been printed. */
bool mrs_cli_parse(struct mrs_cli *cli, int argc, char **argv, int *status);
/* Frees lists; may be called twice. */
void mrs_cli_clear(struct mrs_cli *cli);
/* As fprintf, for people: control characters in arguments of `%s` are escaped. Required for all output that may contain
 * names. */
void mrs_say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "TOOL: ..." and a reference to the help, on standard error; returns 2. */
int mrs_cli_misuse(const struct mrs_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether an option was on the line. */
bool mrs_cli_given(const struct mrs_cli *cli, const char *name);
/* Whether it is allowed with this command. */
bool mrs_cli_takes(const struct mrs_cli *cli, const char *name);
/* The command `help`: of the tool, of a command, as manual or completions. */
int mrs_cli_help(struct mrs_cli *cli);

/* ---- the parts of help, on standard output ---- */
void mrs_cli_help_command(const struct mrs_cli_tool *t, const struct mrs_cli_command *c);
void mrs_cli_help_man(const struct mrs_cli_tool *t);
/* A text as roff; text in `...` becomes bold. */
void mrs_cli_roff(const char *text);
/* Completions; shell: "bash", "zsh" or "fish". */
void mrs_cli_help_shell(const struct mrs_cli_tool *t, const char *shell);

/* ---- diagnostics, on standard error ---- */
/* "TOOL: ns: where: what". */
void mrs_cli_report(const struct mrs_cli *cli, const struct mrs_err *e);
/* "FILE:LINE:COLUMN: error: what", as compilers do. */
void mrs_cli_report_at(const char *file, uint32_t line, uint32_t col, bool warning, const char *msg);

/* ---- text for people ---- */
#define MRS_TEXT_WIDTH 80
/* Columns of f if it is a terminal, 40 to 200; else MRS_TEXT_WIDTH. */
int mrs_text_width(FILE *f);
/* Prints text folded at that width, every line but the first indented by `indent` blanks; col: the start column of the
 * first. Ends the line. */
void mrs_text_fold(FILE *f, const char *text, int indent, int col);
/* "12.3 MiB"; returns text. */
const char *mrs_text_size(uint64_t bytes, char text[32]);
/* "0.42 s", "3 min 05 s"; returns text. */
const char *mrs_text_time(uint64_t ms, char text[32]);
/* Whether to color f: a terminal, without NO_COLOR or TERM=dumb. */
bool mrs_text_colour(FILE *f);

/* ---- the progress line, on standard error ---- */
struct mrs_cli_progress {
    bool on, terminal, drawn;
    uint64_t start_ms, last_ms;
    uint64_t last_done;
    double rate; /* per second, smoothed */
};
/* wanted: also if standard error is no terminal. */
void mrs_cli_progress_begin(struct mrs_cli_progress *p, bool wanted, bool quiet);
/* Whether a line is due (on terminals six times a second, else once); updates the rate by the work done. */
bool mrs_cli_progress_due(struct mrs_cli_progress *p, uint64_t done);
/* "  2:05 left"; "" if unknown (a negative number) or far off. */
const char *mrs_cli_time_left(int64_t seconds, char text[40]);
/* mrs_cli_time_left by the smoothed rate. */
const char *mrs_cli_progress_left(const struct mrs_cli_progress *p, uint64_t done, uint64_t total, char text[40]);
void mrs_cli_progress_draw(struct mrs_cli_progress *p, const char *line);
/* Erases the line. */
void mrs_cli_progress_end(struct mrs_cli_progress *p);

/* ---- signals ---- */
/* From now on SIGINT, SIGTERM and SIGHUP set the flag, once; the second signal ends the process. SIGPIPE and SIGXFSZ
 * are ignored: writes report them. on_bus_error: the message before an unreadable mapped file ends the process with
 * status 4; it lives as long as the process. */
void mrs_signals_begin(const char *on_bus_error);
/* Read atomically: not 0 after a signal. */
const int *mrs_signals_flag(void);
/* The received signal, or 0. */
int mrs_signals_number(void);

/* ---- one JSON object for programs ---- */
struct mrs_cli_json {
    struct mrs_build b;
    struct mrs_buf buf;
    struct mrs_arena arena; /* for values that must live until mrs_cli_json_end */
};
void mrs_cli_json_begin(struct mrs_cli_json *j, struct mrs_mem *mem);
/* value NULL: null. name NULL, here and in open: an element of an array. */
void mrs_cli_json_text(struct mrs_cli_json *j, const char *name, const char *value);
void mrs_cli_json_count(struct mrs_cli_json *j, const char *name, uint64_t n);
void mrs_cli_json_bool(struct mrs_cli_json *j, const char *name, bool v);
/* type: MRS_DOCUMENT or MRS_ARRAY. */
void mrs_cli_json_open(struct mrs_cli_json *j, const char *name, uint8_t type);
void mrs_cli_json_close(struct mrs_cli_json *j);
void mrs_cli_json_texts(struct mrs_cli_json *j, const char *name, const char *const *at, uint32_t n);
/* {name, message, ns, where, document, offset}. */
void mrs_cli_json_error(struct mrs_cli_json *j, const char *name, const struct mrs_err *e);
/* Writes the object and a newline to f, and frees everything. False: no memory, nothing was written. */
bool mrs_cli_json_end(struct mrs_cli_json *j, FILE *f);
/* mrs_cli_json_end into a buffer, without a newline; out is bad without memory. */
void mrs_cli_json_take(struct mrs_cli_json *j, struct mrs_buf *out);

/* ---- a report as an HTML page: one self-contained file ---- */
/* Whether a page may be written to path (NULL: none): the name is unused, or that of an earlier page, and it is not in
 * one of the inputs (NULL: none). 0, or the exit status after the reason was printed. */
int mrs_cli_page_check(const struct mrs_cli *line, const char *path, const char *const input[2]);
/* Writes the page atomically. kind: "inspect", "run", "diff"; report: one JSON object, bad without memory; plan: text
 * of a related plan, or NULL. */
enum mrs_status mrs_cli_page_write(const char *path, const char *kind, const struct mrs_buf *report, const char *plan,
                                   struct mrs_err *e);

/* ---- output of an inspection (inspect.h) ---- */
struct mrsi_inspection;
struct mrs_cli_inspected {
    const char *suggest, *html; /* files for the plan and the page; NULL: none */
    const char *input;          /* as an argument of `check`, for the message about the plan; NULL: none */
    bool json, all, quiet;      /* all: every path; quiet: no messages */
};
/* Before the long work: whether the files may be written; input as above. 0, or the exit status after the reason was
 * printed. */
int mrs_cli_inspect_check(const struct mrs_cli *line, const struct mrs_cli_inspected *to, const char *input);
enum mrs_status mrs_cli_inspect_report(struct mrs_mem *mem, struct mrsi_inspection *found,
                                       const struct mrs_cli_inspected *to, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif
