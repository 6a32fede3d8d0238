/* options.h - the commands and options of the tool: one table from which the parser, `--help`, the
 * man page and the completions are made.
 *
 * A new option is a row in options.c and a member of struct mrsi_cli. Texts use `...` for words of
 * the command line, plans and files. */
#ifndef MRSI_OPTIONS_H
#define MRSI_OPTIONS_H

#include "mongoreshape/run.h"

struct mrsi_list {
    const char **at;
    uint32_t n;
};

/* What the command line says. Texts point into argv. */
struct mrsi_cli {
    struct mrs_mem *mem;
    const struct mrsi_command *command;
    const char *operand; /* PLAN, or the command that help is about; NULL */
    const char *input, *output, *ns, *tmp, *refused, *amend, *completion, *oplog;
    struct mrsi_list include, exclude;
    uint64_t memory, jobs, max_refused, sample;
    struct mrs_compress compress;
    int64_t now_ms;
    bool force, dry_run, progress, json, quiet, verbose, man, help, version;
    uint64_t given; /* bit i: row i of the table stood on the line */
};

enum mrsi_option_type {
    MRSI_FLAG,     /* bool */
    MRSI_TEXT,     /* const char * */
    MRSI_PATH,     /* const char *, completed as a file */
    MRSI_LIST_OF,  /* struct mrsi_list: may be repeated */
    MRSI_COUNT,    /* uint64_t */
    MRSI_SIZE,     /* uint64_t, 512M */
    MRSI_COMPRESS, /* struct mrs_compress */
    MRSI_DATE,     /* int64_t, milliseconds */
    MRSI_WORD      /* const char *, one of `words` */
};

enum { MRSI_RUN = 1, MRSI_CHECK = 2, MRSI_EXPLAIN = 4, MRSI_HELP = 8, MRSI_ALL = 15 };

struct mrsi_option {
    const char *name;
    char letter;     /* 0: none */
    const char *arg; /* name of its value; NULL: a flag */
    unsigned commands;
    enum mrsi_option_type type;
    size_t offset;        /* in struct mrsi_cli */
    const char *words;    /* "gzip|zstd": for MRSI_WORD, and as hints for completion */
    const char *fallback; /* what holds without it; NULL */
    const char *help;     /* one line */
    const char *more;     /* what the manual adds; NULL */
};

struct mrsi_example {
    const char *line, *text;
};

struct mrsi_command {
    const char *name;
    unsigned bit;
    const char *operand; /* "PLAN", "[COMMAND]" */
    const char *needs;   /* options it cannot do without, for the usage line */
    const char *summary;
    const char *const *text;             /* paragraphs; NULL behind the last */
    const struct mrsi_example *examples; /* line NULL behind the last */
    int (*run)(struct mrsi_cli *cli);
};

extern const struct mrsi_option mrsi_options[]; /* name NULL behind the last */
extern const struct mrsi_command mrsi_commands[];

/* Parses the line. False: *status is the exit status, and what there was to say has been said. */
bool mrsi_cli_parse(struct mrsi_cli *cli, int argc, char **argv, int *status);
void mrsi_cli_clear(struct mrsi_cli *cli);
/* "mongoreshape: ..." and where to read on, on stderr; returns 2. */
int mrsi_cli_misuse(const struct mrsi_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
bool mrsi_cli_given(const struct mrsi_cli *cli, const char *name);

#endif
