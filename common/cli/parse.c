/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - parses the command line by the tool's table.
 *
 * `--name value`, `--name=value`, `-x value`, `-xvalue`; `--` ends the options. The first word is the command. For an
 * option that is unknown, or not allowed for this command, the nearest allowed one is suggested; one line of hint and
 * status 2, never the whole help. */
#include "mongoreshape/cli.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/words.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

struct parser {
    struct mrs_cli *cli;
    char **argv;
    int argc, at;
    int status;
};

#define OPTIONS_MAX 64

/* A text that looks like a URI may contain a password, wherever on the line it was put by mistake. */
static void
mask_uris(char *text)
{
    for (char *at = strstr(text, "://"); at; at = strstr(at, "://")) {
        at += 3;
        size_t n = strcspn(at, " `");
        memset(at, '*', n);
        at += n;
    }
}

int
mrs_cli_misuse(const struct mrs_cli *cli, const char *fmt, ...)
{
    MRS_ASSERT(fmt);
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mask_uris(text);
    mrs_say(stderr, "%s: %s\ntry `%s help%s%s`\n", cli->tool->name, text, cli->tool->name, cli->command ? " " : "",
            cli->command ? cli->command->name : "");
    return 2;
}

/* Prints how to begin, for a call without arguments. */
static void
report_start(const struct mrs_cli *cli)
{
    if (cli->tool->start) {
        fputs(cli->tool->start, stderr);
    }
}

static uint32_t
row_of(const struct mrs_cli *cli, const char *name)
{
    uint32_t i = 0;
    while (cli->tool->options[i].name && strcmp(cli->tool->options[i].name, name) != 0) {
        i++;
    }
    return i;
}

bool
mrs_cli_given(const struct mrs_cli *cli, const char *name)
{
    uint32_t i = row_of(cli, name);
    return cli->tool->options[i].name && (cli->given >> i & 1);
}

bool
mrs_cli_takes(const struct mrs_cli *cli, const char *name)
{
    MRS_ASSERT(cli->tool);
    uint32_t i = row_of(cli, name);
    return cli->tool->options[i].name && (cli->tool->options[i].commands & cli->command->bit);
}

/* ---- values ---- */
static bool
number(const char *text, const char **end, uint64_t *out)
{
    *out = 0;
    *end = text;
    while (**end >= '0' && **end <= '9') {
        if (__builtin_mul_overflow(*out, (uint64_t)10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(**end - '0'), out)) {
            return false;
        }
        ++*end;
    }
    return *end > text;
}

static bool
size(const char *text, uint64_t *out)
{
    static const char units[] = "kmgt";
    const char *at;
    if (!number(text, &at, out)) {
        return false;
    }
    const char *unit = *at ? strchr(units, *at | 0x20) : NULL;
    if (unit) {
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        if (*out > UINT64_MAX >> shift) {
            return false;
        }
        *out <<= shift;
        at += at[1] == 'i' && at[2] == 'B' ? 3 : 1;
    }
    return *at == '\0';
}

static bool
date(struct mrs_mem *mem, const char *text, int64_t *out)
{
    struct mrs_arena arena;
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_arena_init(&arena, mem);
    mrs_buf_init(&buf, mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_text(&b, "$date", text, (uint32_t)strlen(text));
    bool good = mrs_build_finish(&b, &doc, NULL) == MRS_OK;
    if (good) {
        struct mrs_val v = mrs_view_val(doc);
        good = mrs_ejson_unwrap(&arena, MRS_EJSON_STRICT, &v, NULL) == MRS_OK && v.type == MRS_DATE;
        *out = good ? mrs_val_i64(v) : 0;
    }
    mrs_buf_clear(&buf);
    mrs_arena_clear(&arena);
    return good;
}

static bool
word(const char *words, const char *text)
{
    size_t n = strlen(text);
    for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|') {
        if (strcspn(at, "|") == n && memcmp(at, text, n) == 0) {
            return true;
        }
    }
    return false;
}

static bool
append(struct mrs_mem *mem, struct mrs_cli_list *list, const char *text)
{
    MRS_ASSERT(list->n == 0 || list->at);
    const char **more = mrs_realloc(mem, list->at, (list->n + 1) * sizeof *more);
    if (more) {
        list->at = more;
        list->at[list->n++] = text;
    }
    return more != NULL;
}

static bool
is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* NULL, or a description of the expected text. */
static const char *
store(struct mrs_cli *cli, const struct mrs_cli_option *o, const char *text)
{
    MRS_ASSERT(o->name);
    void *to = (char *)cli + o->offset;
    const char *end;
    switch (o->type) {
    case MRS_CLI_FLAG: *(bool *)to = true; return NULL;
    case MRS_CLI_TEXT:
    case MRS_CLI_PATH: *(const char **)to = text; return *text ? NULL : "something, not nothing";
    case MRS_CLI_FOLDER: *(const char **)to = text; return is_folder(text) ? NULL : "a folder that exists";
    case MRS_CLI_LIST: return append(cli->mem, to, text) ? NULL : "less: memory is out";
    case MRS_CLI_COUNT: return number(text, &end, to) && !*end ? NULL : "a whole number";
    case MRS_CLI_LIMIT:
        if (strcmp(text, "any") == 0) {
            *(uint64_t *)to = UINT64_MAX;
            return NULL;
        }
        return number(text, &end, to) && !*end ? NULL : "a whole number, or any";
    case MRS_CLI_SIZE: return size(text, to) ? NULL : "a size, as 512M or 2G";
    case MRS_CLI_DATE:
        return date(cli->mem, text, to) ? NULL : "a date, as 2024-05-01 or 2024-05-01T12:00:00Z";
    case MRS_CLI_WORD: *(const char **)to = text; return word(o->words, text) ? NULL : o->words;
    case MRS_CLI_OWN: return o->own(text, to);
    }
    return NULL;
}

/* ---- words of the line ---- */
static bool
wrong(struct parser *p, int status)
{
    p->status = status;
    return false;
}

static bool
unknown(struct parser *p, const char *name, const struct mrs_cli_option *elsewhere)
{
    const char *names[OPTIONS_MAX] = {0};
    const struct mrs_cli_option *rows = p->cli->tool->options;
    uint32_t n = 0;
    for (uint32_t i = 0; rows[i].name && n < OPTIONS_MAX; i++) {
        if (rows[i].commands & p->cli->command->bit) {
            names[n++] = rows[i].name;
        }
    }
    const char *near = mrs_nearest(name, names, n);
    for (uint32_t i = 0; i < n && !near; i++) {
        near = *name && strncmp(names[i], name, strlen(name)) == 0 ? names[i] : NULL;
    }
    if (elsewhere) {
        return wrong(p, mrs_cli_misuse(p->cli, "`--%s` is no option of `%s`", elsewhere->name,
                                        p->cli->command->name));
    }
    return wrong(p, mrs_cli_misuse(p->cli, "unknown option `--%s`%s%s%s", name,
                                    near ? ", did you mean `--" : "", near ? near : "",
                                    near ? "`?" : ""));
}

static bool
option(struct parser *p, uint32_t row, const char *value)
{
    MRS_ASSERT(p->at <= p->argc);
    struct mrs_cli *cli = p->cli;
    const struct mrs_cli_option *o = &cli->tool->options[row];
    if (!(o->commands & cli->command->bit)) {
        return unknown(p, o->name, o);
    }
    if (!o->arg && value) {
        return wrong(p, mrs_cli_misuse(cli, "`--%s` takes no value", o->name));
    }
    if (o->arg && !value) {
        if (p->at == p->argc) {
            return wrong(
                p, mrs_cli_misuse(cli, "`--%s` needs a value: --%s %s", o->name, o->name, o->arg));
        }
        value = p->argv[p->at++];
    }
    if (o->arg && o->type != MRS_CLI_LIST && ((cli->given >> row) & 1)) {
        return wrong(p, mrs_cli_misuse(cli, "`--%s` is given twice", o->name));
    }
    cli->given |= (uint64_t)1 << row;
    const char *expected = store(cli, o, value);
    if (expected) {
        return wrong(p, mrs_cli_misuse(cli, "`--%s %s`: it must be %s", o->name, value, expected));
    }
    return true;
}

static bool
long_option(struct parser *p, const char *text)
{
    char name[64];
    size_t n = strcspn(text, "=");
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), text);
    const struct mrs_cli_option *rows = p->cli->tool->options;
    for (uint32_t i = 0; rows[i].name; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return option(p, i, text[n] ? text + n + 1 : NULL);
        }
    }
    return unknown(p, name, NULL);
}

static bool
short_options(struct parser *p, const char *text)
{
    const struct mrs_cli_option *rows = p->cli->tool->options;
    while (*text) {
        uint32_t i = 0;
        while (rows[i].name && rows[i].letter != *text) {
            i++;
        }
        if (!rows[i].name) {
            return wrong(p, mrs_cli_misuse(p->cli, "unknown option `-%c`", *text));
        }
        text++;
        if (rows[i].arg) {
            return option(p, i, *text ? text : NULL);
        }
        if (!option(p, i, NULL)) {
            return false;
        }
    }
    return true;
}

/* An operand is one too many, or is missing: shows the whole line. */
static bool
wrong_operand(struct parser *p, const char *what, bool surplus)
{
    MRS_ASSERT(p->cli->command);
    const struct mrs_cli_command *c = p->cli->command;
    return wrong(p, mrs_cli_misuse(p->cli, "%s%s%s: %s %s%s%s%s%s", surplus ? "`" : "", what,
                                   surplus ? "` is an unexpected argument" : " is missing", p->cli->tool->name, c->name,
                                   *c->operand ? " " : "", c->operand, *c->needs ? " " : "", c->needs));
}

static bool
operand(struct parser *p, const char *text)
{
    struct mrs_cli *cli = p->cli;
    bool second = cli->operand != NULL;
    const char *names = cli->command->operand;
    if (!*names || cli->operand2 || (second && !strchr(names, ' '))) {
        return wrong_operand(p, text, true);
    }
    if (!*text) {
        return wrong(p, mrs_cli_misuse(cli, "an argument is empty, instead of %s", names));
    }
    *(second ? &cli->operand2 : &cli->operand) = text;
    return true;
}

static bool
no_command(struct parser *p)
{
    char text[256];
    int n = 0;
    for (const struct mrs_cli_command *c = p->cli->tool->commands; c->name && n < (int)sizeof text; c++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", n == 0 ? "" : c[1].name ? ", " : " or ", c->name);
    }
    p->status = mrs_cli_misuse(p->cli, "a command is missing: %s", text);
    report_start(p->cli);
    return false;
}

static bool
is_plan(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* A line with only a dump, or only a plan, is a typical first attempt. */
static bool
offers(struct parser *p, const char *path)
{
    const struct mrs_cli_tool *t = p->cli->tool;
    const struct mrs_cli_command *c = t->commands;
    const char *offer = is_plan(path) ? t->offer_plan : t->offer;
    while (offer && c->name && strcmp(c->name, offer) != 0) {
        c++;
    }
    if (!offer || !c->name || p->argc != 2 || access(path, F_OK) != 0) {
        return false;
    }
    struct mrs_buf line;
    mrs_buf_init(&line, p->cli->mem, 1 << 16);
    mrs_buf_printf(&line, "%s %s ", t->name, c->name);
    mrs_buf_word(&line, path);
    mrs_buf_byte(&line, 0);
    mrs_say(stderr, "%s: a command is missing; this one would %s:\n  ", t->name, c->summary);
    mrs_say(stderr, "%s\n", line.bad ? c->name : (const char *)line.p);
    mrs_buf_clear(&line);
    p->status = mrs_code_exit(MRS_E_USAGE);
    return true;
}

/* Before a command only options that request help are allowed. */
static bool
command(struct parser *p)
{
    MRS_ASSERT(p->cli->tool);
    const char *names[OPTIONS_MAX] = {0};
    uint32_t n = 0;
    struct mrs_cli *cli = p->cli;
    const char *first = p->argc > 1 ? p->argv[1] : NULL;
    for (const struct mrs_cli_command *c = cli->tool->commands; c->name; c++) {
        names[n++] = c->name;
        if (first && strcmp(first, c->name) == 0) {
            cli->command = c;
            p->at = 2;
            return true;
        }
    }
    if (!first) {
        return no_command(p);
    }
    if (first[0] == '-' && strcmp(first, "-h") != 0 && strcmp(first, "--help") != 0 &&
        strcmp(first, "--version") != 0) {
        return wrong(
            p, mrs_cli_misuse(cli, "a command must come first, as in `%s %s %s %s`", cli->tool->name,
                              cli->tool->commands->name, cli->tool->commands->operand,
                              cli->tool->commands->needs));
    }
    if (first[0] == '-') {
        cli->command = &cli->tool->commands[n - 1];
        p->at = 1;
        return true;
    }
    if (offers(p, first)) {
        return false;
    }
    const char *near = mrs_nearest(first, names, n);
    return wrong(p, mrs_cli_misuse(cli, "unknown command `%s`%s%s%s", first,
                                    near ? ", did you mean `" : "", near ? near : "",
                                    near ? "`?" : ""));
}

bool
mrs_cli_parse(struct mrs_cli *cli, int argc, char **argv, int *status)
{
    MRS_ASSERT(argc >= 0 && status);
    struct parser p = {.cli = cli, .argv = argv, .argc = argc};
    bool good = command(&p), options = true;
    while (good && p.at < argc) {
        const char *text = argv[p.at++];
        if (options && strcmp(text, "--") == 0) {
            options = false;
        } else if (options && strncmp(text, "--", 2) == 0) {
            good = long_option(&p, text + 2);
        } else if (options && text[0] == '-' && text[1]) {
            good = short_options(&p, text + 1);
        } else {
            good = operand(&p, text);
        }
    }
    if (good && !cli->help && !cli->operand && *cli->command->operand && *cli->command->operand != '[') {
        good = wrong_operand(&p, cli->command->operand, false);
        if (argc == 2 && cli->command == cli->tool->commands) {
            report_start(cli);
        }
    }
    *status = p.status;
    return good;
}

void
mrs_cli_clear(struct mrs_cli *cli)
{
    for (const struct mrs_cli_option *o = cli->tool->options; o->name; o++) {
        if (o->type == MRS_CLI_LIST) {
            struct mrs_cli_list *list = (struct mrs_cli_list *)(void *)((char *)cli + o->offset);
            mrs_free(cli->mem, list->at);
            list->at = NULL;
            list->n = 0;
        }
    }
}
