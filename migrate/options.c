/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the table of commands and options.
 *
 * Help, manual and completions use these texts, so an option is documented here and only here. Rows are in the order in
 * which users should read them. */
#include "options.h"

#include "commands.h"

#include "mongoreshape/version.h"

#define AT(member) offsetof(struct mrsi_cli, member)

enum { RUN = 1, CHECK = 2, EXPLAIN = 4, HELP = 8, INVERT = 16, CAT = 32, DIFF = 64, PLAN = 128, INSPECT = 256 };
enum { ALL = 511 };

static const char *
compress(const char *text, void *to)
{
    return mrs_compress_parse(text, to, NULL) == MRS_OK ? NULL : "none, gzip or zstd, with a level as in zstd:3";
}

static const char *
format(const char *text, void *to)
{
    return mrs_format_parse(text, to, NULL) == MRS_OK ? NULL : "directory, archive, bson, tar or zip";
}

static const struct mrs_cli_option options[] = {
    {"input", 'i', "IN", RUN | CHECK | EXPLAIN | INVERT | DIFF | PLAN, MRS_CLI_PATH, AT(input), NULL, NULL,
     "the dump to read: a mongodump directory or one database's folder in it, also packed as tar, zip, 7z or cpio; an "
     "archive; a .bson file; or `-`",
     "It is opened read-only. Its bytes decide what it is and whether it is compressed, not its name. `-` is an "
     "archive on standard input, as from `mongodump --archive`, or one collection, named by `--ns`.", NULL},
    {"output", 'o', "OUT", RUN, MRS_CLI_PATH, AT(output), NULL, NULL,
     "the dump to write; it must not exist yet",
     "Everything is written to `OUT.partial`, synced, and renamed to OUT at the very end, so OUT is always complete. A "
     "killed run leaves `OUT.partial` and, for `--resume`, `OUT.checkpoint`.", NULL},
    {"format", 0, "FORMAT", RUN, MRS_CLI_OWN, AT(format), "directory|archive|bson|tar|zip", "by the name of OUT",
     "the format of OUT: directory, archive, bson (one collection), tar or zip",
     "Without it the name of OUT decides: `.archive` and `.agz`, `.tar`, `.tgz` and `.zip` (with `.gz` or `.zst` after "
     "it compressed as a whole), `.bson` is one collection, `-` is an archive, and everything else is a directory. `-` "
     "is one collection if `--ns` is given or the input is one.", format},
    {"stream", 0, NULL, RUN, MRS_CLI_FLAG, AT(stream), NULL, NULL,
     "with `-o -`: send each collection as soon as it is done",
     "Without it the output is sent when the run has succeeded. With it, mongorestore may have restored documents by "
     "the time a run fails; the archive then has no end, so that mongorestore fails too.", NULL},
    {"dry-run", 'n', NULL, RUN, MRS_CLI_FLAG, AT(dry_run), NULL, NULL,
     "do everything except write the output",
     "Reads all data, and reports what would be written and refused. `check -i IN` does the same "
     "and lets any number be refused.", NULL},
    {"resume", 0, NULL, RUN, MRS_CLI_FLAG, AT(resume), NULL, NULL,
     "resume the run to OUT that was killed or stopped",
     "Give the same plan, input and options: the output is that of an uninterrupted run. If one of them has changed, "
     "the run is refused with the reason; `--memory`, `--jobs` and `--tmp` may differ, and `$$NOW` is that of the "
     "first run. If there is nothing to resume, the run starts over; if OUT exists and is the result of this plan and "
     "input, it says so and changes nothing. Not for `-o -`.", NULL},
    {"checkpoint", 0, "SECONDS", RUN, MRS_CLI_COUNT, AT(checkpoint), "10|30|60", "30",
     "maximum time between two checkpoints, if the step allows one",
     "0 writes one wherever that is possible; for tests.", NULL},
    {"force", 0, NULL, RUN, MRS_CLI_FLAG, AT(force), NULL, NULL,
     "replace OUT, and the files of --refused and --write-residue, if they exist",
     "The old OUT is removed only after the new one is synced. The state of a stopped run (see `--resume`) is removed "
     "as well.", NULL},
    {"max-refused", 0, "N|any", RUN, MRS_CLI_LIMIT, AT(max_refused), NULL, "0",
     "allow at most N refused documents",
     "A document is refused if the plan's policies (`errors`, `conflicts`, `many`, `oversize`, ...) give no result for "
     "it. With more than N the run ends with status 7 and writes no output, only the file of refused documents.", NULL},
    {"refused", 0, "FILE", RUN | CHECK, MRS_CLI_PATH, AT(refused), NULL, "OUT.refused.bson",
     "file for refused documents, as BSON and as FILE.jsonl",
     "`check`, which has no OUT, and `--dry-run` write it only if this is given. Each record is `{ns, step, reason, "
     "place, doc}`, with `doc` as it entered the step that refused it. Correct `doc` and give the file to `--amend`, "
     "unless an earlier step had changed it. A file of an earlier run that was not edited is overwritten; any other "
     "file stays, and the run is refused. A pipe or device gets the BSON alone.", NULL},
    {"amend", 0, "FILE", RUN | CHECK, MRS_CLI_PATH, AT(amend), NULL, NULL,
     "replace the documents of the input that have the same ns and _id as one in FILE",
     "FILE holds records `{ns, doc}`, as BSON or as Extended JSON lines. Each must match exactly one document of the "
     "input. A record whose `step` is after one that changes the collection is an error: that step would change it "
     "twice.", NULL},
    {"now", 0, "DATE", RUN | CHECK | EXPLAIN | CAT, MRS_CLI_DATE, AT(now_ms), NULL,
     "the clock at the start", "the value of `$$NOW` in this run, as 2024-05-01T00:00:00Z",
     "With the same value two runs write the same bytes.", NULL},
    {"memory", 0, "SIZE", RUN | CHECK | EXPLAIN | DIFF, MRS_CLI_SIZE, AT(memory), "256M|1G|4G",
     "a quarter of the machine's; of `diff`: 256M", "memory for the whole program, as 512M or 2G; at least 64M",
     "Data that do not fit go to temporary files. The documents written are the same for any budget.", NULL},
    {"jobs", 'j', "N", RUN | CHECK | EXPLAIN | CAT | DIFF | INSPECT, MRS_CLI_COUNT, AT(jobs), "1|2|4|8",
     "the number of processors", "threads; the documents written are the same for any number",
     NULL, NULL},
    {"tmp", 0, "DIR", RUN | CHECK | CAT | DIFF | PLAN | INSPECT, MRS_CLI_FOLDER, AT(tmp), NULL,
     "next to OUT, else $TMPDIR or /tmp",
     "folder for temporary files",
     "They can become as large as the collections that are joined. Files that only the running program needs are "
     "unlinked at once and disappear even if it is killed. The files that `run --resume` needs are in DIR if it is "
     "given, else in `OUT.checkpoint`, until the resumed run ends or `--force` starts over.",
     NULL},
    {"compress", 0, "CODEC", RUN, MRS_CLI_OWN, AT(compress), "none|gzip|zstd|zstd:3|gzip:6",
     "as the input", "compress data files: none, gzip or zstd, with a level as in zstd:3",
     "Without it the output has the compression of most bytes of the input's documents. All files of a folder have the "
     "same, metadata too, since mongorestore reads plain files or, with `--gzip`, compressed ones. It cannot read "
     "zstd: the command printed at the end decompresses first.", compress},
    {"nsInclude", 0, "PATTERN", RUN | CHECK | EXPLAIN | PLAN, MRS_CLI_LIST, AT(include),
     NULL, NULL, "only collections that match, as 'shop.*'; may be repeated",
     "`*` matches any characters of `db.coll`; a backslash makes it a plain star. Other collections are not written, "
     "and the report says so. A plan cannot name them.", NULL},
    {"nsExclude", 0, "PATTERN", RUN | CHECK | EXPLAIN | PLAN, MRS_CLI_LIST, AT(exclude),
     NULL, NULL, "all except collections that match; may be repeated", NULL, NULL},
    {"ns", 0, "DB.COLL", RUN | CHECK | EXPLAIN | CAT | DIFF | PLAN | INSPECT, MRS_CLI_TEXT, AT(ns), NULL,
     "from the file's name and folder",
     "the namespace of a single file, or of `-`; `cat`, `diff`, `inspect`: only collections that match",
     "In `cat`, `diff` and `inspect` it is a pattern as in `--nsInclude`.", NULL},
    {"where", 0, "QUERY", CAT, MRS_CLI_TEXT, AT(where), NULL, NULL,
     "only documents that this query matches, as '{ age: { $gte: 18 } }'",
     "A query as in `where` of a plan: YAML or JSON, typed values as Extended JSON.", NULL},
    {"limit", 0, "N", CAT | DIFF, MRS_CLI_COUNT, AT(limit), "10|100", "all; of `diff`: 20",
     "`cat`: print at most N documents in all; `diff`: name at most N in each collection",
     "`diff` always counts all of them.", NULL},
    {"relaxed", 0, NULL, CAT, MRS_CLI_FLAG, AT(relaxed), NULL, NULL,
     "relaxed Extended JSON: plain numbers and dates",
     "Without it the text is canonical, which keeps all types and reads back as the same document.", NULL},
    {"with-ns", 0, NULL, CAT, MRS_CLI_FLAG, AT(with_ns), NULL, NULL,
     "print lines of the form {\"ns\":\"db.coll\",\"doc\":{...}}",
     "For programs that read several collections.", NULL},
    {"manifest", 0, "FILE", DIFF, MRS_CLI_PATH, AT(manifest), NULL, NULL,
     "compare a dump with the output, or `-i IN` with the input, that FILE, the manifest of a run, describes",
     "FILE is `mongoreshape.manifest.json` in a folder that `run` wrote, or `OUT.manifest.json` next to a file. "
     "Counts, bytes and digests are compared, so neither the input nor another copy is needed. This finds damage and "
     "mistakes; against forgery keep checksums of the files (`sha256sum`) as well.", NULL},
    {"oplog", 0, "drop", RUN | CHECK, MRS_CLI_WORD, AT(oplog), "drop", NULL,
     "leave oplog.bson out",
     "Needed if the dump was made with `mongodump --oplog` and the plan changes a collection that has entries in the "
     "oplog: they have the old schema.", NULL},
    {"sample", 0, "N", RUN, MRS_CLI_COUNT, AT(sample), NULL, NULL,
     "only about N documents of each collection that drives a step, and their related documents",
     "Shows the result of a plan in seconds. The output is marked as a sample; do not restore it over real "
     "data.", NULL},
    {"write-residue", 0, "FILE", RUN, MRS_CLI_PATH, AT(write_residue), NULL, NULL,
     "save in FILE what the inverse plan cannot restore",
     "After the run the inverse plan (see `invert`) is applied to the new dump, and all differences from IN are "
     "written to FILE, which must not exist yet. OUT gets its name only when FILE is synced. This needs space for one "
     "more copy of the dump in the folder for temporary files.", NULL},
    {"residue", 0, "FILE", RUN, MRS_CLI_PATH, AT(residue), NULL, NULL,
     "restore what FILE holds: PLAN is an inverse, IN the output of the plan that it undoes",
     "OUT becomes the original dump, byte for byte. PLAN must be the inverse that FILE was made for, and IN must be "
     "unchanged since the run.", NULL},
    {"live", 0, NULL, EXPLAIN, MRS_CLI_FLAG, AT(live), NULL, NULL,
     "whether the plan may run on a database in use",
     "For each step what it reads, adds and removes; whether it may run while writers run, and if not, why and what to "
     "do. `mongoreshape-live` follows it.", NULL},
    {"pipeline", 0, NULL, EXPLAIN, MRS_CLI_FLAG, AT(pipeline), NULL, NULL,
     "the steps as aggregation pipelines that a server runs by itself, for mongosh",
     "For each step the pipeline that gives the same documents byte for byte, with filters that must find nothing "
     "before it may run; or why there is none. With `--json` for programs, as canonical Extended JSON.", NULL},
    {"stage", 0, NULL, EXPLAIN, MRS_CLI_FLAG, AT(stage), NULL, NULL,
     "the plan as the stage `$reshape` of a MongoDB 9.0 with the extension, for mongosh",
     "For each step its class, or why it cannot be in a stage; then for each pair of collections, one where documents "
     "arrive and one where they leave, the whole pipeline. docs/SERVER.md explains the classes.", NULL},
    {"schema", 0, NULL, EXPLAIN, MRS_CLI_FLAG, AT(schema), NULL, NULL,
     "print a JSON Schema (draft-07) of the plan language, for editors; without PLAN",
     "Made from the tables that `check` reads. A YAML language server completes keys and marks errors with it.",
     NULL},
    {"json", 0, NULL, RUN | CHECK | EXPLAIN | INVERT | DIFF | INSPECT, MRS_CLI_FLAG, AT(json), NULL, NULL,
     "one JSON object on standard output instead of words", NULL, NULL},
    {"html", 0, "FILE", RUN | DIFF | INSPECT, MRS_CLI_PATH, AT(html), NULL, NULL,
     "write the report as a page for a browser, too: one file that needs no network",
     "The report of `--json`: `inspect` with a diagram of the references, and for each finding the plan step that "
     "corrects it, to copy; `run` with the account of each step; `diff` with the differences. It may hold values of "
     "documents, so only its owner may read it. An existing page is overwritten, any other file stays.",
     NULL},
    {"progress", 0, NULL, RUN | CHECK | DIFF | INSPECT, MRS_CLI_FLAG, AT(progress), NULL,
     "when standard error is a terminal", "show progress, rate and time left", NULL, NULL},
    {"quiet", 'q', NULL, RUN | CHECK | EXPLAIN | INVERT | DIFF | INSPECT, MRS_CLI_FLAG, AT(quiet), NULL, NULL,
     "print only errors", NULL, NULL},
    {"verbose", 'v', NULL, RUN | CHECK | EXPLAIN, MRS_CLI_FLAG, AT(verbose), NULL, NULL,
     "print more: plan id, settings, every collection, all redundant indexes", NULL, NULL},
    {"suggest", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(suggest), NULL, NULL,
     "write a plan to FILE that corrects the findings; a plan that you changed is not replaced",
     "A comment above each step gives the figures for it; alternatives are comments. You can run it unchanged, but "
     "read it first: which schema is right depends on how the data are read and written.", NULL},
    {"all", 0, NULL, INSPECT, MRS_CLI_FLAG, AT(all), NULL, NULL, "every path of every collection", NULL, NULL},
    {"keep-going", 0, NULL, INSPECT, MRS_CLI_FLAG, AT(keep_going), NULL, NULL,
     "continue after damage: the collection ends there, the report says so, and the status is 1", NULL, NULL},
    {"hints", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(hints), NULL, NULL,
     "known references, as lines `db.coll.path -> db.coll.path`; `!` before a line: no reference", NULL, NULL},
    {"workload", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(workload), NULL, NULL,
     "how often collections are read and written, for advice that depends on it", "docs/INSPECT.md describes the "
                                                                                  "format.",
     NULL},
    {"man", 0, NULL, HELP, MRS_CLI_FLAG, AT(line.man), NULL, NULL,
     "print the manual page, in roff; `help --man plan`: that of the plan language",
     NULL, NULL},
    {"completion", 0, "SHELL", HELP, MRS_CLI_WORD, AT(line.completion), "bash|zsh|fish", NULL,
     "print the completions for a shell: bash, zsh or fish", NULL, NULL},
    {"help", 'h', NULL, ALL, MRS_CLI_FLAG, AT(line.help), NULL, NULL, "explain the command", NULL, NULL},
    {"version", 0, NULL, HELP, MRS_CLI_FLAG, AT(line.version), NULL, NULL, "print the version", NULL, NULL},
    {NULL, 0, NULL, 0, MRS_CLI_FLAG, 0, NULL, NULL, NULL, NULL, NULL},
};

static const char *const run_text[] = {
    "Reads the dump IN, applies the steps of PLAN to it, and writes the dump OUT. Collections that no step names are "
    "copied byte for byte. IN is never changed.",
    "No document is lost unless the plan says so: every document is written, moved, dropped by the plan, or refused. "
    "The summary accounts for all of them, and the program counts the written documents again before it gives OUT its "
    "name.",
    "The last lines name the collections to drop at the target first, and the mongorestore command for the result.",
    NULL};
static const struct mrs_cli_example run_examples[] = {
    {"mongoreshape run embed.yaml -i dump -o dump.new", "put comments into their posts"},
    {"mongoreshape run embed.yaml -i dump -o dump.new --max-refused 100",
     "allow up to 100 refused documents"},
    {"mongoreshape run embed.yaml -i dump -o sample --sample 10", "see the result of a few documents first"},
    {"mongoreshape run copy.yaml -i dump -o out --compress zstd:3",
     "with `steps: []` in the plan: change the compression only"},
    {NULL, NULL}};

static const char *const check_text[] = {
    "Reads the plan and reports all errors in it at once, with line, column and the nearest known word.",
    "With `-i IN` the plan is also checked against the dump: first collections, indexes and options, then all "
    "documents, as `run` would with the same options. It reports documents that would be refused, with the reason and "
    "their `_id`s; notes on documents without a match, dangling references and documents beyond a limit; the size of "
    "the output, and the disk space that the run needs. It writes only the file of `--refused`, if given. With "
    "`--json` the report has up to 100 `_id`s of each kind.",
    NULL};
static const struct mrs_cli_example check_examples[] = {
    {"mongoreshape check embed.yaml", "is the plan valid?"},
    {"mongoreshape check embed.yaml -i dump", "does it fit this dump?"},
    {"mongoreshape check embed.yaml -i dump --refused refused.bson", "save refused documents, to correct them first"},
    {NULL, NULL}};

static const char *const explain_text[] = {
    "Explains each step: the collections and fields it reads and writes, how often data are read, what is kept in "
    "memory, whether the step can be repeated, and what it loses.",
    "With `-i IN` it also shows the changes of the indexes and options of the dump's collections.",
    NULL};
static const struct mrs_cli_example explain_examples[] = {
    {"mongoreshape explain embed.yaml", "what does the plan do?"},
    {"mongoreshape explain embed.yaml -i dump --json", "the same for programs, with indexes"},
    {"mongoreshape explain embed.yaml --live", "may it run while applications write?"},
    {"mongoreshape explain embed.yaml --pipeline", "stages to paste into mongosh"},
    {"mongoreshape explain --schema > plan.schema.json", "for an editor: completes keys, marks errors"},
    {NULL, NULL}};

static const char *const plan_text[] = {
    "Prints a plan with one STEP to begin with: its required keys with an example, and all other keys as comments with "
    "their meaning. Without STEP it lists the steps.",
    "With `-i IN` it first lists the fields of each collection of the dump, and fills in collections and fields whose "
    "names seem to fit. This is a guess by names: read it first. `inspect` examines the data.",
    NULL};
static const struct mrs_cli_example plan_examples[] = {
    {"mongoreshape plan", "list the steps"},
    {"mongoreshape plan embed > embed.yaml", "a plan to begin with"},
    {"mongoreshape plan embed -i dump > embed.yaml", "with names of the dump"},
    {NULL, NULL}};

static const char *const invert_text[] = {
    "Prints the plan that undoes PLAN; comments name what it cannot restore. Write it to a file and give it to `run`.",
    "To lose nothing, run the plan with `--write-residue FILE`; the inverse plan with `--residue FILE`, run on its "
    "output, then restores the input byte for byte.",
    "With `-i IN` the plan is checked against the dump, and the inverse names the database if the plan does not.",
    NULL};
static const struct mrs_cli_example invert_examples[] = {
    {"mongoreshape invert embed.yaml", "the inverse plan, and its losses"},
    {"mongoreshape invert embed.yaml > back.yaml", "write it to a file"},
    {NULL, NULL}};

static const char *const cat_text[] = {
    "Prints the documents of IN, one line of Extended JSON each, collections in the order of their names, documents in "
    "the order of their files. IN is any input of `run`.",
    "At a damaged document it ends with status 3 and the position; the documents before it are printed. Every line is "
    "a document, also with several collections: `--with-ns` adds the namespace.",
    NULL};
static const struct mrs_cli_example cat_examples[] = {
    {"mongoreshape cat dump --ns blog.posts --relaxed | jq .title", "a field of each document"},
    {"mongoreshape cat comments.bson.gz --where '{ votes: { $gt: 9 } }' --limit 5",
     "the first documents that match"},
    {NULL, NULL}};

static const char *const diff_text[] = {
    "Compares two dumps in any format and compression: documents byte for byte but in any order, matched by `_id` as a "
    "server compares it (1 and 1.0 are one `_id`); options and indexes in any order, without uuids. Status 0: they are "
    "equal; 1: they differ; 3: one is damaged.",
    "Documents that differ are named by collection, `_id` and the paths of the first values that differ. Other files "
    "of documents (oplog.bson, users and roles) are compared as well; prelude.json and unknown files are not.",
    "Equal dumps are read once, in 256 MiB of memory for any size; collections that differ are read up to three times "
    "more.",
    "With `--manifest FILE` one dump is compared with the output of a run, or, given as `-i IN`, with its input.",
    NULL};
static const struct mrs_cli_example diff_examples[] = {
    {"mongoreshape diff dump dump.restored", "do both hold the same?"},
    {"mongoreshape diff dump archive.gz --json --limit 100", "for programs"},
    {"mongoreshape diff --manifest out/mongoreshape.manifest.json out", "is the output still what the run wrote?"},
    {"mongoreshape diff --manifest out/mongoreshape.manifest.json -i dump", "is this the dump that the run read?"},
    {NULL, NULL}};

static const char *const inspect_text[] = {
    "Reads the dump IN and reports figures of each collection and path, which path refers to which collection and with "
    "how many orphans, and the schema rules that the data break, each with the figure and the step that corrects it. "
    "It writes only the files of `--suggest` and `--html`.",
    "References are found by values and names: each is shown with its evidence; likely but uncertain ones are listed "
    "separately. Correct them with `--hints FILE`.",
    "Memory stays below 64 MiB for any size of the data; the rest goes to a temporary file.",
    NULL};
static const struct mrs_cli_example inspect_examples[] = {
    {"mongoreshape inspect dump", "the findings, worst first"},
    {"mongoreshape inspect dump --suggest plan.yaml", "and a plan to begin with"},
    {"mongoreshape inspect dump --json | jq .references", "for programs"},
    {NULL, NULL}};

static const char *const help_text[] = {
    "Explains the program or one of its commands, and prints the manual page and the completions for shells.",
    NULL};
static const struct mrs_cli_example help_examples[] = {
    {"mongoreshape help run", "everything about `run`"},
    {"mongoreshape help --man | man -l -", "the manual"},
    {"mongoreshape help --man plan | man -l -", "the plan language: every key of every step"},
    {"eval \"$(mongoreshape help --completion bash)\"", "completions in this shell"},
    {NULL, NULL}};

static const struct mrs_cli_command commands[] = {
    {"run", RUN, "PLAN", "-i IN -o OUT", "apply a plan to a dump", run_text, run_examples,
     mrsi_cmd_run},
    {"check", CHECK, "PLAN", "[-i IN]", "find the errors of a plan, alone or against a dump",
     check_text, check_examples, mrsi_cmd_check},
    {"plan", PLAN, "[STEP]", "[-i IN]", "print a plan to begin with, or list the steps", plan_text, plan_examples,
     mrsi_cmd_plan},
    {"explain", EXPLAIN, "[PLAN]", "[-i IN]", "say in words what a plan does", explain_text,
     explain_examples, mrsi_cmd_explain},
    {"invert", INVERT, "PLAN", "[-i IN]", "print the plan that undoes a plan, and what is lost", invert_text,
     invert_examples, mrsi_cmd_invert},
    {"cat", CAT, "IN", "", "print the documents of a dump as lines of Extended JSON", cat_text, cat_examples,
     mrsi_cmd_cat},
    {"diff", DIFF, "[A] [B]", "", "compare two dumps, or a dump with the manifest of a run", diff_text, diff_examples,
     mrsi_cmd_diff},
    {"inspect", INSPECT, "IN", "", "report the contents, references and problems of a dump", inspect_text,
     inspect_examples, mrsi_cmd_inspect},
    {"help", HELP, "[COMMAND]", "", "explain the program or a command", help_text,
     help_examples, mrs_cli_help},
    {NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct mrs_cli_row exits[] = {
    {"0", "done"},
    {"1", "done, but some documents were refused (`check`: would be, or a restore would fail); `diff`: the dumps "
          "differ; `inspect --keep-going`: some data could not be read"},
    {"2", "wrong usage or an error of the plan; nothing was changed"},
    {"3", "damaged input, or one that changed while it was read"},
    {"4", "an I/O error, or a full disk"},
    {"5", "a limit was exceeded, or memory is exhausted"},
    {"7", "more documents were refused than --max-refused; no output"},
    {"128+n", "stopped by signal n; no output"},
    {NULL, NULL},
};

static const struct mrs_cli_row signals[] = {
    {NULL, "The first interrupt (Ctrl-C) ends the run at the next safe point, without output. If the run was long "
           "enough, its checkpoint stays, and the command to resume is printed. The second interrupt ends the program "
           "at once; `--resume` then uses the last checkpoint."},
    {NULL, NULL},
};
static const struct mrs_cli_row environment[] = {
    {"\\fBNO_COLOR\\fR", "no colours in messages."},
    {"\\fBTMPDIR\\fR", "folder for temporary files if there is no output file."},
    {NULL, NULL},
};
static const struct mrs_cli_row files[] = {
    {"\\fIOUT\\fB.partial\\fR", "the output until it is complete."},
    {"\\fIOUT\\fB.checkpoint\\fR", "the state for `--resume`, and collections between two steps."},
    {"\\fIOUT\\fB.inverse.partial\\fR", "the output of the inverse plan, while a residue is written or restored."},
    {"\\fIOUT\\fB.inverse.checkpoint\\fR", "the state of that run for `--resume`."},
    {"\\fIOUT\\fB.refused.bson\\fR, \\fIOUT\\fB.refused.bson.jsonl\\fR", "the refused documents."},
    {NULL, NULL},
};
static const struct mrs_cli_section sections[] = {
    {"SIGNALS", signals}, {"ENVIRONMENT", environment}, {"FILES", files}, {NULL, NULL}};

const struct mrs_cli_tool mrsi_tool = {
    .name = "mongoreshape",
    .topic = mrsi_help_topic,
    .page = mrsi_help_page,
    .word = mrsi_help_word,
    .version = MRS_VERSION,
    .summary = "migrates MongoDB data from one schema to another",
    .purpose = "migrate MongoDB data from one schema to another",
    .about = "A plan (a YAML file) describes the change of the schema: embed comments into their posts, move parts of "
             "documents into a collection of their own, compute, rename, split. The input is a mongodump directory, "
             "the output is another one, for mongorestore.",
    .sketch = "a plan:\n"
              "  steps:\n"
              "    - embed:\n"
              "        from: comments          # documents of this collection\n"
              "        into: posts             # go into documents of this one\n"
              "        match: { postId: _id }  # postId refers to _id\n"
              "        as: comments            # as this array\n"
              "        drop: [postId]          # without this field\n",
    .manual = "A plan, a YAML file, describes the change of the schema. The input is a dump of mongodump; the output "
              "is another one, for mongorestore. The input is never changed.",
    .start = "\nfrom a dump to a new schema:\n"
             "  mongoreshape inspect dump --suggest plan.yaml    # findings, and a plan that corrects them\n"
             "  mongoreshape check plan.yaml -i dump             # what the plan would do and refuse\n"
             "  mongoreshape run plan.yaml -i dump -o dump.new   # do it; dump stays unchanged\n",
    .offer_plan = "check",
    .offer = "inspect",
    .options = options,
    .commands = commands,
    .exits = exits,
    .sections = sections,
    .see_also = ".BR mongoreshape\\-plan (5),\n.BR mongoreshape\\-live (1),\n.BR mongodump (1),\n.BR mongorestore (1)",
};
