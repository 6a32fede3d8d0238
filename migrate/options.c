/* options.c - the table of commands and options.
 *
 * Help, manual and completions read these texts, so this is the place to explain an option, and the
 * only one. Rows stand in the order in which people should meet them. */
#include "options.h"

#include "commands.h"

#define AT(member) offsetof(struct mrsi_cli, member)

const struct mrsi_option mrsi_options[] = {
    {"input", 'i', "IN", MRSI_RUN | MRSI_CHECK | MRSI_EXPLAIN, MRSI_PATH, AT(input), NULL, NULL,
     "the dump to read: a mongodump directory, one database's folder in it, a .bson file, or `-`",
     "It is opened read-only. Files may be compressed with gzip or zstd, whatever their names say. "
     "`-` is one collection on standard input, named by `--ns`."},
    {"output", 'o', "OUT", MRSI_RUN, MRSI_PATH, AT(output), NULL, NULL,
     "the dump to write; it must not exist yet",
     "Everything is written to `OUT.partial`, synced, and renamed to OUT at the very end: what has "
     "the name OUT is whole. A run that was killed leaves only `OUT.partial`, which the next one "
     "removes."},
    {"dry-run", 'n', NULL, MRSI_RUN, MRSI_FLAG, AT(dry_run), NULL, NULL,
     "do everything but write the output",
     "Reads all data, and reports what would be written and refused. `check -i IN` does the same "
     "and lets any number be refused."},
    {"force", 0, NULL, MRSI_RUN, MRSI_FLAG, AT(force), NULL, NULL, "replace OUT if it is there",
     "The old OUT is set aside and removed only after the new one is synced."},
    {"max-refused", 0, "N", MRSI_RUN, MRSI_COUNT, AT(max_refused), NULL, "0",
     "go on while at most N documents are refused",
     "A document is refused where the plan's own words (`errors`, `conflicts`, `many`, `oversize`, "
     "...) leave no place for it. Past N the run ends with status 7 and publishes nothing; the "
     "refused file is written all the same."},
    {"refused", 0, "FILE", MRSI_RUN, MRSI_PATH, AT(refused), NULL, "OUT.refused.bson",
     "where refused documents go, as BSON and as FILE.jsonl",
     "Each record is `{ns, step, reason, place, doc}`, with `doc` as it entered the step that "
     "refused it. Mend `doc` and give the file to `--amend`."},
    {"amend", 0, "FILE", MRSI_RUN | MRSI_CHECK, MRSI_PATH, AT(amend), NULL, NULL,
     "take the documents in FILE instead of those with the same ns and _id in the input",
     "FILE holds BSON records `{ns, doc}`. Each must replace exactly one document of the input."},
    {"now", 0, "DATE", MRSI_RUN | MRSI_CHECK | MRSI_EXPLAIN, MRSI_DATE, AT(now_ms), NULL,
     "the clock at the start", "what `$$NOW` is in this run, as 2024-05-01T00:00:00Z",
     "Give it to get the same bytes again."},
    {"memory", 0, "SIZE", MRSI_RUN | MRSI_CHECK, MRSI_SIZE, AT(memory), "256M|1G|4G",
     "a quarter of the machine's", "memory for the whole program, as 512M or 2G; at least 64M",
     "What does not fit goes to temporary files. The documents written are the same whatever the "
     "budget."},
    {"jobs", 'j', "N", MRSI_RUN | MRSI_CHECK, MRSI_COUNT, AT(jobs), "1|2|4|8",
     "the number of processors", "threads; the documents written are the same for any number",
     NULL},
    {"tmp", 0, "DIR", MRSI_RUN | MRSI_CHECK, MRSI_PATH, AT(tmp), NULL, "beside OUT",
     "folder for temporary files",
     "They have no names, so nothing is left behind even if the program is killed. They can become "
     "as large as the collections that are joined."},
    {"compress", 0, "CODEC", MRSI_RUN, MRSI_COMPRESS, AT(compress), "none|gzip|zstd|zstd:3|gzip:6",
     "as the input", "compress data files: none, gzip or zstd, with a level as in zstd:3",
     "Give mongorestore `--gzip` for gzip. zstd files must be decompressed before mongorestore "
     "reads them."},
    {"nsInclude", 0, "PATTERN", MRSI_RUN | MRSI_CHECK | MRSI_EXPLAIN, MRSI_LIST_OF, AT(include),
     NULL, NULL, "only collections like this, as 'shop.*'; may be repeated",
     "`*` stands for any characters of `db.coll`, a backslash takes it as it is. What is left out "
     "is not written, and the report says so."},
    {"nsExclude", 0, "PATTERN", MRSI_RUN | MRSI_CHECK | MRSI_EXPLAIN, MRSI_LIST_OF, AT(exclude),
     NULL, NULL, "all but collections like this; may be repeated", NULL},
    {"ns", 0, "DB.COLL", MRSI_RUN | MRSI_CHECK | MRSI_EXPLAIN, MRSI_TEXT, AT(ns), NULL,
     "from the file's name and folder", "what a single file, or `-`, holds", NULL},
    {"oplog", 0, "drop", MRSI_RUN | MRSI_CHECK, MRSI_WORD, AT(oplog), "drop", NULL,
     "leave oplog.bson out",
     "Needed when the dump was made with `mongodump --oplog`, entries are in it and the plan "
     "changes a collection that they name: they speak of the old shape."},
    {"sample", 0, "N", MRSI_RUN, MRSI_COUNT, AT(sample), NULL, NULL,
     "only about N documents of each collection that drives a step, and what belongs to them",
     "To look at the result of a plan in seconds. The output is marked as a sample and should not "
     "be restored over real data."},
    {"json", 0, NULL, MRSI_RUN | MRSI_CHECK | MRSI_EXPLAIN, MRSI_FLAG, AT(json), NULL, NULL,
     "one JSON object on standard output instead of words", NULL},
    {"progress", 0, NULL, MRSI_RUN | MRSI_CHECK, MRSI_FLAG, AT(progress), NULL,
     "when standard error is a terminal", "show progress, rate and time left", NULL},
    {"quiet", 'q', NULL, MRSI_RUN | MRSI_CHECK | MRSI_EXPLAIN, MRSI_FLAG, AT(quiet), NULL, NULL,
     "say nothing but errors", NULL},
    {"verbose", 'v', NULL, MRSI_RUN | MRSI_CHECK | MRSI_EXPLAIN, MRSI_FLAG, AT(verbose), NULL, NULL,
     "say more: plan id, settings, every collection", NULL},
    {"man", 0, NULL, MRSI_HELP, MRSI_FLAG, AT(man), NULL, NULL, "print the manual page, in roff",
     NULL},
    {"completion", 0, "SHELL", MRSI_HELP, MRSI_WORD, AT(completion), "bash", NULL,
     "print the completions for a shell: bash", NULL},
    {"help", 'h', NULL, MRSI_ALL, MRSI_FLAG, AT(help), NULL, NULL, "explain the command", NULL},
    {"version", 0, NULL, MRSI_HELP, MRSI_FLAG, AT(version), NULL, NULL, "print the version", NULL},
    {NULL, 0, NULL, 0, MRSI_FLAG, 0, NULL, NULL, NULL, NULL},
};

static const char *const run_text[] = {
    "Reads the dump IN, applies the steps of PLAN to it, and writes the dump OUT. Collections that "
    "no step names pass through byte for byte. IN is never changed.",
    "Nothing is lost without a word of the plan: every document is written, moved, dropped because "
    "the plan says so, or refused. The summary accounts for each of them, and the program counts "
    "again what it wrote before it gives OUT its name.",
    "At the end stand the mongorestore command for the result and the collections that must be "
    "dropped at the target before.",
    NULL};
static const struct mrsi_example run_examples[] = {
    {"mongoreshape run embed.yaml -i dump -o dump.new", "put comments into their posts"},
    {"mongoreshape run embed.yaml -i dump -o dump.new --max-refused 100",
     "go on although some documents have no place in the new design"},
    {"mongoreshape run embed.yaml -i dump -o sample --sample 10", "look at the result first"},
    {"mongoreshape run copy.yaml -i dump -o out --compress zstd:3",
     "with `steps: []` in the plan: change the compression only"},
    {NULL, NULL}};

static const char *const check_text[] = {
    "Reads the plan and reports every mistake in it at once, with line, column and the nearest "
    "known word.",
    "With `-i IN` the plan is also held against the dump: first collections, indexes and options, "
    "then all documents. It reports what would be refused and why, what would be written and how "
    "large it is. Nothing is written.",
    NULL};
static const struct mrsi_example check_examples[] = {
    {"mongoreshape check embed.yaml", "is the plan right in itself?"},
    {"mongoreshape check embed.yaml -i dump", "and for this dump?"},
    {NULL, NULL}};

static const char *const explain_text[] = {
    "Says in words what each step does: the collections and fields it touches, how often data are "
    "read, what is kept in memory, whether the step can be repeated, and what it loses for good.",
    "With `-i IN` it also tells what becomes of the indexes and options of the dump's collections.",
    NULL};
static const struct mrsi_example explain_examples[] = {
    {"mongoreshape explain embed.yaml", "what will happen?"},
    {"mongoreshape explain embed.yaml -i dump --json", "the same for programs, with indexes"},
    {NULL, NULL}};

static const char *const help_text[] = {
    "Explains the program or one of its commands. The manual page and the shell's completions are "
    "printed by the same table.",
    NULL};
static const struct mrsi_example help_examples[] = {
    {"mongoreshape help run", "everything about `run`"},
    {"mongoreshape help --man | man -l -", "the manual"},
    {"eval \"$(mongoreshape help --completion bash)\"", "completions in this shell"},
    {NULL, NULL}};

const struct mrsi_command mrsi_commands[] = {
    {"run", MRSI_RUN, "PLAN", "-i IN -o OUT", "apply a plan to a dump", run_text, run_examples,
     mrsi_cmd_run},
    {"check", MRSI_CHECK, "PLAN", "[-i IN]", "find the mistakes in a plan, alone or against a dump",
     check_text, check_examples, mrsi_cmd_check},
    {"explain", MRSI_EXPLAIN, "PLAN", "[-i IN]", "say in words what a plan does", explain_text,
     explain_examples, mrsi_cmd_explain},
    {"help", MRSI_HELP, "[COMMAND]", "", "explain the program or a command", help_text,
     help_examples, mrsi_cmd_help},
    {NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL},
};
