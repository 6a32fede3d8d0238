/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the commands and options of the tool: one table, from which the parser, `--help`, the man page and the
 * completions are made.
 *
 * A new option is a row in options.c and a member of struct mrsi_cli. Texts use `...` for words of the command line,
 * plans and files. */
#ifndef MRSI_OPTIONS_H
#define MRSI_OPTIONS_H

#include "mongoreshape/cli.h"
#include "mongoreshape/run.h"

/* The parsed command line. Texts point into argv. */
struct mrsi_cli {
    struct mrs_cli line; /* first: the parser uses only this part */
    const char *input, *output, *ns, *tmp, *refused, *amend, *oplog, *write_residue, *residue,
        *where, *manifest, *suggest, *html, *hints, *workload;
    struct mrs_cli_list include, exclude;
    uint64_t memory, jobs, max_refused, sample, limit, checkpoint;
    struct mrs_compress compress;
    enum mrs_format format;
    int64_t now_ms;
    char **argv; /* the whole line, to print it again */
    bool force, resume, dry_run, progress, json, live, pipeline, stage, quiet, verbose, relaxed, with_ns, stream;
    bool schema, all, keep_going;
};

/* topics.c: the steps, listed after `plan`. */
const char *mrsi_help_word(const struct mrs_cli_command *c, uint32_t i);
/* `help NAME` for a step, `steps` or `operators`; false: no such topic. */
bool mrsi_help_topic(const char *name);
bool mrsi_help_page(const char *name); /* `help --man plan`: mongoreshape-plan(5) */
extern const struct mrs_cli_tool mrsi_tool;

#endif
