/* parse.c - the command line, by the table.
 *
 * `--name value`, `--name=value`, `-x value`, `-xvalue`; `--` ends the options. The first word is
 * the command. An option that is not known, or not for this command, gets the nearest that is; one
 * line of hint and status 2, never the whole help. */
#include "options.h"

#include "mongoreshape/ejson.h"

#include <stdarg.h>
#include <stdio.h>

struct parser {
    struct mrsi_cli *cli;
    char **argv;
    int argc, at;
    int status;
};

#define OPTIONS_MAX 64

int
mrsi_cli_misuse(const struct mrsi_cli *cli, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("mongoreshape: ", stderr);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\ntry `mongoreshape help%s%s`\n", cli->command ? " " : "",
            cli->command ? cli->command->name : "");
    return 2;
}

bool
mrsi_cli_given(const struct mrsi_cli *cli, const char *name)
{
    for (uint32_t i = 0; mrsi_options[i].name; i++) {
        if (strcmp(mrsi_options[i].name, name) == 0) {
            return (cli->given >> i) & 1;
        }
    }
    return false;
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
append(struct mrs_mem *mem, struct mrsi_list *list, const char *text)
{
    const char **more = mrs_realloc(mem, list->at, (list->n + 1) * sizeof *more);
    if (more) {
        list->at = more;
        list->at[list->n++] = text;
    }
    return more != NULL;
}

/* NULL, or what would have been right. */
static const char *
store(struct mrsi_cli *cli, const struct mrsi_option *o, const char *text)
{
    void *to = (char *)cli + o->offset;
    const char *end;
    struct mrs_err e;
    mrs_err_clear(&e);
    switch (o->type) {
    case MRSI_FLAG: *(bool *)to = true; return NULL;
    case MRSI_TEXT:
    case MRSI_PATH: *(const char **)to = text; return *text ? NULL : "something, not nothing";
    case MRSI_LIST_OF: return append(cli->mem, to, text) ? NULL : "less: memory is out";
    case MRSI_COUNT: return number(text, &end, to) && !*end ? NULL : "a whole number";
    case MRSI_SIZE: return size(text, to) ? NULL : "a size, as 512M or 2G";
    case MRSI_COMPRESS:
        return mrs_compress_parse(text, to, &e) == MRS_OK
                   ? NULL
                   : "none, gzip or zstd, with a level as in zstd:3";
    case MRSI_DATE:
        return date(cli->mem, text, to) ? NULL : "a date, as 2024-05-01 or 2024-05-01T12:00:00Z";
    case MRSI_WORD: *(const char **)to = text; return word(o->words, text) ? NULL : o->words;
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
unknown(struct parser *p, const char *name, const struct mrsi_option *elsewhere)
{
    const char *names[OPTIONS_MAX] = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; mrsi_options[i].name && n < OPTIONS_MAX; i++) {
        if (mrsi_options[i].commands & p->cli->command->bit) {
            names[n++] = mrsi_options[i].name;
        }
    }
    const char *near = mrs_nearest(name, names, n);
    for (uint32_t i = 0; i < n && !near; i++) {
        near = *name && strncmp(names[i], name, strlen(name)) == 0 ? names[i] : NULL;
    }
    if (elsewhere) {
        return wrong(p, mrsi_cli_misuse(p->cli, "`--%s` is no option of `%s`", elsewhere->name,
                                        p->cli->command->name));
    }
    return wrong(p, mrsi_cli_misuse(p->cli, "unknown option `--%s`%s%s%s", name,
                                    near ? ", did you mean `--" : "", near ? near : "",
                                    near ? "`?" : ""));
}

static bool
option(struct parser *p, uint32_t row, const char *value)
{
    struct mrsi_cli *cli = p->cli;
    const struct mrsi_option *o = &mrsi_options[row];
    if (!(o->commands & cli->command->bit)) {
        return unknown(p, o->name, o);
    }
    if (!o->arg && value) {
        return wrong(p, mrsi_cli_misuse(cli, "`--%s` takes no value", o->name));
    }
    if (o->arg && !value) {
        if (p->at == p->argc) {
            return wrong(
                p, mrsi_cli_misuse(cli, "`--%s` needs a value: --%s %s", o->name, o->name, o->arg));
        }
        value = p->argv[p->at++];
    }
    if (o->arg && o->type != MRSI_LIST_OF && ((cli->given >> row) & 1)) {
        return wrong(p, mrsi_cli_misuse(cli, "`--%s` is given twice", o->name));
    }
    cli->given |= (uint64_t)1 << row;
    const char *expected = store(cli, o, value);
    if (expected) {
        return wrong(p, mrsi_cli_misuse(cli, "`--%s %s`: it must be %s", o->name, value, expected));
    }
    return true;
}

static bool
long_option(struct parser *p, const char *text)
{
    char name[64];
    size_t n = strcspn(text, "=");
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), text);
    for (uint32_t i = 0; mrsi_options[i].name; i++) {
        if (strcmp(mrsi_options[i].name, name) == 0) {
            return option(p, i, text[n] ? text + n + 1 : NULL);
        }
    }
    return unknown(p, name, NULL);
}

static bool
short_options(struct parser *p, const char *text)
{
    while (*text) {
        uint32_t i = 0;
        while (mrsi_options[i].name && mrsi_options[i].letter != *text) {
            i++;
        }
        if (!mrsi_options[i].name) {
            return wrong(p, mrsi_cli_misuse(p->cli, "unknown option `-%c`", *text));
        }
        text++;
        if (mrsi_options[i].arg) {
            return option(p, i, *text ? text : NULL);
        }
        if (!option(p, i, NULL)) {
            return false;
        }
    }
    return true;
}

static bool
operand(struct parser *p, const char *text)
{
    if (p->cli->operand) {
        return wrong(p, mrsi_cli_misuse(p->cli, "`%s` is one word too many", text));
    }
    p->cli->operand = text;
    return true;
}

/* Options may stand alone before any command only where they ask for help. */
static bool
command(struct parser *p)
{
    const char *names[OPTIONS_MAX] = {0};
    uint32_t n = 0;
    struct mrsi_cli *cli = p->cli;
    const char *first = p->argc > 1 ? p->argv[1] : NULL;
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        names[n++] = c->name;
        if (first && strcmp(first, c->name) == 0) {
            cli->command = c;
            p->at = 2;
            return true;
        }
    }
    if (!first) {
        return wrong(p, mrsi_cli_misuse(cli, "a command is missing: run, check, explain or help"));
    }
    if (first[0] == '-' && strcmp(first, "-h") != 0 && strcmp(first, "--help") != 0 &&
        strcmp(first, "--version") != 0) {
        return wrong(
            p, mrsi_cli_misuse(
                   cli, "a command must come first, as in `mongoreshape run PLAN -i IN -o OUT`"));
    }
    if (first[0] == '-') {
        cli->command = &mrsi_commands[n - 1];
        p->at = 1;
        return true;
    }
    const char *near = mrs_nearest(first, names, n);
    return wrong(p, mrsi_cli_misuse(cli, "unknown command `%s`%s%s%s", first,
                                    near ? ", did you mean `" : "", near ? near : "",
                                    near ? "`?" : ""));
}

bool
mrsi_cli_parse(struct mrsi_cli *cli, int argc, char **argv, int *status)
{
    struct parser p = {.cli = cli, .argv = argv, .argc = argc};
    bool good = command(&p), options = true;
    cli->compress.codec = MRS_CODEC_AS_INPUT;
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
    if (good && !cli->help && !cli->operand && cli->command->operand[0] != '[') {
        good = wrong(&p, mrsi_cli_misuse(cli, "%s is missing: mongoreshape %s %s %s",
                                         cli->command->operand, cli->command->name,
                                         cli->command->operand, cli->command->needs));
    }
    *status = p.status;
    return good;
}

void
mrsi_cli_clear(struct mrsi_cli *cli)
{
    mrs_free(cli->mem, cli->include.at);
    mrs_free(cli->mem, cli->exclude.at);
    cli->include.at = cli->exclude.at = NULL;
}
