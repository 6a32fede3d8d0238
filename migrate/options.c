/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the table of commands and options.
 *
 * Help, manual and completions read these texts, so this is the place to explain an option, and the
 * only one. Rows are in the order in which people should meet them. */
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
     "It is opened read-only. What it is, and whether it is compressed, is told by its bytes, whatever its name says. "
     "`-` is an archive on standard input, as from `mongodump --archive`, or one collection, named by `--ns`.", NULL},
    {"output", 'o', "OUT", RUN, MRS_CLI_PATH, AT(output), NULL, NULL,
     "the dump to write; it must not exist yet",
     "Everything is written to `OUT.partial`, synced, and renamed to OUT at the very end: what has "
     "the name OUT is whole. A run that was killed leaves only `OUT.partial` and, with what `--resume` needs, "
     "`OUT.checkpoint`.", NULL},
    {"format", 0, "FORMAT", RUN, MRS_CLI_OWN, AT(format), "directory|archive|bson|tar|zip", "by the name of OUT",
     "what OUT is: directory, archive, bson (one collection), tar or zip",
     "Without it `.archive` and `.agz`, `.tar`, `.tgz` and `.zip` say it (followed by `.gz` or `.zst` it is compressed "
     "as a whole), `.bson` is one collection, `-` is an archive, and everything else is a directory. `-` is one "
     "collection where `--ns` is given or the input is one.", format},
    {"stream", 0, NULL, RUN, MRS_CLI_FLAG, AT(stream), NULL, NULL,
     "with `-o -`: send each collection as soon as it is done",
     "Otherwise the first byte goes out when the run is decided. With it, documents may have been restored by the time "
     "a run fails; its archive then ends without what closes it, so that mongorestore fails too.", NULL},
    {"dry-run", 'n', NULL, RUN, MRS_CLI_FLAG, AT(dry_run), NULL, NULL,
     "do everything but write the output",
     "Reads all data, and reports what would be written and refused. `check -i IN` does the same "
     "and lets any number be refused.", NULL},
    {"resume", 0, NULL, RUN, MRS_CLI_FLAG, AT(resume), NULL, NULL,
     "resume the run to OUT that was killed or stopped",
     "Give the same plan, input and options: the documents written are the same as if it had never been stopped. What "
     "decides about them may not have changed, else the run is refused with the reason; `--memory`, `--jobs` and "
     "`--tmp` may be others, and `$$NOW` is that of the first run. Where nothing was left to go on with, it begins at "
     "the beginning; where OUT is there, made by this plan of this input, it says so "
     "and changes nothing. Not for `-o -`.", NULL},
    {"checkpoint", 0, "SECONDS", RUN, MRS_CLI_COUNT, AT(checkpoint), "10|30|60", "30",
     "most time between two checkpoints, where the pass allows one",
     "With 0 one is written wherever that is possible, which is for tests.", NULL},
    {"force", 0, NULL, RUN, MRS_CLI_FLAG, AT(force), NULL, NULL,
     "replace OUT, and the files of --refused and --write-residue, if they are there",
     "The old OUT is set aside and removed only after the new one is synced. What a stopped run left for `--resume` "
     "is removed as well.", NULL},
    {"max-refused", 0, "N|any", RUN, MRS_CLI_LIMIT, AT(max_refused), NULL, "0",
     "go on while at most N documents are refused",
     "A document is refused where the plan's own words (`errors`, `conflicts`, `many`, `oversize`, "
     "...) leave no place for it. Past N the run ends with status 7 and publishes nothing; the "
     "refused file is written all the same.", NULL},
    {"refused", 0, "FILE", RUN | CHECK, MRS_CLI_PATH, AT(refused), NULL, "OUT.refused.bson",
     "where refused documents go, as BSON and as FILE.jsonl",
     "`check`, which has no OUT, and `--dry-run` write them only where this is given. Each record is "
     "`{ns, step, reason, place, doc}`, with `doc` as it entered the step that refused it. Mend `doc` and "
     "give the file to `--amend`. Files of that name are written anew where they are what an earlier run wrote and "
     "nobody has edited; any other stays, and the run does not begin. A pipe or device gets the BSON alone.", NULL},
    {"amend", 0, "FILE", RUN | CHECK, MRS_CLI_PATH, AT(amend), NULL, NULL,
     "take the documents in FILE instead of those with the same ns and _id in the input",
     "FILE holds records `{ns, doc}`, as BSON or as Extended JSON lines. Each must "
     "replace exactly one document of the input.", NULL},
    {"now", 0, "DATE", RUN | CHECK | EXPLAIN | CAT, MRS_CLI_DATE, AT(now_ms), NULL,
     "the clock at the start", "what `$$NOW` is in this run, as 2024-05-01T00:00:00Z",
     "Give it to get the same bytes again.", NULL},
    {"memory", 0, "SIZE", RUN | CHECK | EXPLAIN | DIFF, MRS_CLI_SIZE, AT(memory), "256M|1G|4G",
     "a quarter of the machine's; of `diff`: 256M", "memory for the whole program, as 512M or 2G; at least 64M",
     "What does not fit goes to temporary files. The documents written are the same whatever the "
     "budget.", NULL},
    {"jobs", 'j', "N", RUN | CHECK | EXPLAIN | CAT | DIFF | INSPECT, MRS_CLI_COUNT, AT(jobs), "1|2|4|8",
     "the number of processors", "threads; the documents written are the same for any number",
     NULL, NULL},
    {"tmp", 0, "DIR", RUN | CHECK | CAT | DIFF | PLAN | INSPECT, MRS_CLI_PATH, AT(tmp), NULL,
     "beside OUT, else $TMPDIR or /tmp",
     "folder for temporary files",
     "They can become as large as the collections that are joined. What is needed only while the program works has no "
     "name and is gone even if it is killed; what `run --resume` goes on with lies there as well where DIR is given, "
     "else in `OUT.checkpoint`: until a run ends that goes on with it, or `--force` starts over.",
     NULL},
    {"compress", 0, "CODEC", RUN, MRS_CLI_OWN, AT(compress), "none|gzip|zstd|zstd:3|gzip:6",
     "as the input", "compress data files: none, gzip or zstd, with a level as in zstd:3",
     "Without it a dump is packed as most bytes of its documents in the input were. All files of a folder are packed "
     "in one way, metadata with them, since mongorestore takes plain files or, with `--gzip`, packed ones. zstd has to "
     "be unpacked before: the command printed at the end does it.", compress},
    {"nsInclude", 0, "PATTERN", RUN | CHECK | EXPLAIN | PLAN, MRS_CLI_LIST, AT(include),
     NULL, NULL, "only collections like this, as 'shop.*'; may be repeated",
     "`*` stands for any characters of `db.coll`, a backslash takes it as it is. What is left out "
     "is not written, and the report says so. A plan cannot name what is left out.", NULL},
    {"nsExclude", 0, "PATTERN", RUN | CHECK | EXPLAIN | PLAN, MRS_CLI_LIST, AT(exclude),
     NULL, NULL, "all but collections like this; may be repeated", NULL, NULL},
    {"ns", 0, "DB.COLL", RUN | CHECK | EXPLAIN | CAT | DIFF | PLAN | INSPECT, MRS_CLI_TEXT, AT(ns), NULL,
     "from the file's name and folder",
     "what a single file, or `-`, holds; `cat`, `diff`, `inspect`: only collections like this",
     "In `cat`, `diff` and `inspect` it is a pattern as of `--nsInclude`.", NULL},
    {"where", 0, "QUERY", CAT, MRS_CLI_TEXT, AT(where), NULL, NULL,
     "only documents that this query matches, as '{\"age\": {\"$gte\": 18}}'",
     "A query of MongoDB as Extended JSON; it knows the operators that plans know in `where`.", NULL},
    {"limit", 0, "N", CAT | DIFF, MRS_CLI_COUNT, AT(limit), "10|100", "all; of `diff`: 20",
     "`cat`: print at most N documents in all; `diff`: name at most N in each collection",
     "`diff` always counts all of them.", NULL},
    {"relaxed", 0, NULL, CAT, MRS_CLI_FLAG, AT(relaxed), NULL, NULL,
     "relaxed Extended JSON: numbers and dates as people write them",
     "Without it the text is canonical, which keeps all types and reads back as the same document.", NULL},
    {"with-ns", 0, NULL, CAT, MRS_CLI_FLAG, AT(with_ns), NULL, NULL,
     "print lines of the form {\"ns\":\"db.coll\",\"doc\":{...}}",
     "So that a program that reads several collections can tell them apart.", NULL},
    {"manifest", 0, "FILE", DIFF, MRS_CLI_PATH, AT(manifest), NULL, NULL,
     "compare a dump with what FILE, the manifest of a run, says of its output, or `-i IN` with what of its input",
     "FILE is `mongoreshape.manifest.json` in a folder that `run` wrote, or `OUT.manifest.json` beside a file. Counts, "
     "bytes and digests are compared, so that neither the input nor another copy is needed. This finds damage and "
     "mistakes; against forgers keep checksums of the files (`sha256sum`) as well.", NULL},
    {"oplog", 0, "drop", RUN | CHECK, MRS_CLI_WORD, AT(oplog), "drop", NULL,
     "leave oplog.bson out",
     "Needed when the dump was made with `mongodump --oplog`, entries are in it and the plan "
     "changes a collection that they name: they speak of the old shape.", NULL},
    {"sample", 0, "N", RUN, MRS_CLI_COUNT, AT(sample), NULL, NULL,
     "only about N documents of each collection that drives a step, and what belongs to them",
     "To look at the result of a plan in seconds. The output is marked as a sample and should not "
     "be restored over real data.", NULL},
    {"write-residue", 0, "FILE", RUN, MRS_CLI_PATH, AT(write_residue), NULL, NULL,
     "keep in FILE what the inverse plan does not bring back",
     "After the run the inverse plan (see `invert`) is run over the new dump, and what then differs from IN is "
     "written to FILE, which must not be there yet. Nothing is published before it is on disk. It needs room for one "
     "more copy of the dump in the folder for temporary files.", NULL},
    {"residue", 0, "FILE", RUN, MRS_CLI_PATH, AT(residue), NULL, NULL,
     "put back what FILE holds: PLAN is an inverse, IN what its plan wrote",
     "OUT becomes the dump that the plan was run on, byte for byte. The plan must be the inverse that FILE was made "
     "for, and IN must be as the run left it.", NULL},
    {"live", 0, NULL, EXPLAIN, MRS_CLI_FLAG, AT(live), NULL, NULL,
     "how the plan may run on a database that is in use",
     "For each step what it reads, adds and removes; whether it may run alongside writers, and if not, why and what to "
     "do. `mongoreshape-live` goes by it.", NULL},
    {"pipeline", 0, NULL, EXPLAIN, MRS_CLI_FLAG, AT(pipeline), NULL, NULL,
     "the steps as aggregation pipelines that a server runs by itself, for mongosh",
     "For each step the pipeline that gives the same documents byte for byte, with filters that must find nothing "
     "before it may run; or why there is none. With `--json` for programs, as canonical Extended JSON.", NULL},
    {"stage", 0, NULL, EXPLAIN, MRS_CLI_FLAG, AT(stage), NULL, NULL,
     "the plan as the stage `$reshape` of a MongoDB 9.0 with the extension, for mongosh",
     "For each step its class, or why it can be in no stage; then for each pair of collections, one where documents "
     "arrive and one where they leave, the whole pipeline. docs/SERVER.md says what the classes are.", NULL},
    {"schema", 0, NULL, EXPLAIN, MRS_CLI_FLAG, AT(schema), NULL, NULL,
     "print a JSON Schema (draft-07) of the plan language, for editors; without PLAN",
     "Made from the tables that `check` reads. A YAML language server that knows it completes keys and marks mistakes.",
     NULL},
    {"json", 0, NULL, RUN | CHECK | EXPLAIN | INVERT | DIFF | INSPECT, MRS_CLI_FLAG, AT(json), NULL, NULL,
     "one JSON object on standard output instead of words", NULL, NULL},
    {"html", 0, "FILE", RUN | DIFF | INSPECT, MRS_CLI_PATH, AT(html), NULL, NULL,
     "write the report as a page for a browser, too: one file that needs no network",
     "It shows what `--json` says: `inspect` with a diagram of the references, and for each finding the plan step that "
     "cures it, to copy; `run` with the account of each step; `diff` with what differs. It may hold values of "
     "documents, and is for its owner alone. A page that is there is written anew, any other file is left alone.",
     NULL},
    {"progress", 0, NULL, RUN | CHECK | DIFF | INSPECT, MRS_CLI_FLAG, AT(progress), NULL,
     "when standard error is a terminal", "show progress, rate and time left", NULL, NULL},
    {"quiet", 'q', NULL, RUN | CHECK | EXPLAIN | INVERT | DIFF | INSPECT, MRS_CLI_FLAG, AT(quiet), NULL, NULL,
     "say nothing but errors", NULL, NULL},
    {"verbose", 'v', NULL, RUN | CHECK | EXPLAIN, MRS_CLI_FLAG, AT(verbose), NULL, NULL,
     "say more: plan id, settings, every collection, all redundant indexes", NULL, NULL},
    {"suggest", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(suggest), NULL, NULL,
     "write a plan to FILE that mends what was found; a plan that you changed is not replaced",
     "Each step stands below a comment with the figures that speak for it; second-best cures are comments. It runs as "
     "it is, but read it first: which design is right depends on how the data are read and written.", NULL},
    {"all", 0, NULL, INSPECT, MRS_CLI_FLAG, AT(all), NULL, NULL, "every path of every collection", NULL, NULL},
    {"keep-going", 0, NULL, INSPECT, MRS_CLI_FLAG, AT(keep_going), NULL, NULL,
     "go on after damage: its collection ends there, the report says so, and the status is 1", NULL, NULL},
    {"hints", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(hints), NULL, NULL,
     "references you know, as lines `db.coll.path -> db.coll.path`; `!` before one that is none", NULL, NULL},
    {"workload", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(workload), NULL, NULL,
     "how often collections are read and written, for advice that depends on it", "docs/INSPECT.md has its form.",
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
    "Reads the dump IN, applies the steps of PLAN to it, and writes the dump OUT. Collections that "
    "no step names pass through byte for byte. IN is never changed.",
    "Nothing is lost without a word of the plan: every document is written, moved, dropped because "
    "the plan says so, or refused. The summary accounts for each of them, and the program counts "
    "again what it wrote before it gives OUT its name.",
    "At the end stand the mongorestore command for the result and the collections that must be "
    "dropped at the target before.",
    NULL};
static const struct mrs_cli_example run_examples[] = {
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
    "then all documents, as `run` would with the same options. It reports what would be refused and why, with `_id`s; "
    "what is not refused but worth a look: documents without a match, dangling references, what a limit "
    "leaves out; what would be written; and how much disk that needs. Nothing is written but, where it is given, the "
    "file of `--refused`. With `--json` the report has up to 100 `_id`s of each kind.",
    NULL};
static const struct mrs_cli_example check_examples[] = {
    {"mongoreshape check embed.yaml", "is the plan right in itself?"},
    {"mongoreshape check embed.yaml -i dump", "and for this dump?"},
    {"mongoreshape check embed.yaml -i dump --refused refused.bson", "keep what would be refused, to correct it first"},
    {NULL, NULL}};

static const char *const explain_text[] = {
    "Says in words what each step does: the collections and fields it touches, how often data are "
    "read, what is kept in memory, whether the step can be repeated, and what it loses for good.",
    "With `-i IN` it also tells what becomes of the indexes and options of the dump's collections.",
    NULL};
static const struct mrs_cli_example explain_examples[] = {
    {"mongoreshape explain embed.yaml", "what will happen?"},
    {"mongoreshape explain embed.yaml -i dump --json", "the same for programs, with indexes"},
    {"mongoreshape explain embed.yaml --live", "may it run while applications write?"},
    {"mongoreshape explain embed.yaml --pipeline", "stages to paste into mongosh"},
    {"mongoreshape explain --schema > plan.schema.json", "for an editor: keys are completed, mistakes marked"},
    {NULL, NULL}};

static const char *const plan_text[] = {
    "Prints a plan with one STEP to begin with: the keys it needs with an example, all others as comments, each with "
    "what it means. Without STEP the steps are listed.",
    "With `-i IN` collections and fields of the dump stand in it where names let guess what is meant, and above it "
    "what each collection holds. It is a guess by names, for a person to read; `inspect` measures.",
    NULL};
static const struct mrs_cli_example plan_examples[] = {
    {"mongoreshape plan", "the steps there are"},
    {"mongoreshape plan embed > embed.yaml", "a plan to begin with"},
    {"mongoreshape plan embed -i dump > embed.yaml", "with names of the dump"},
    {NULL, NULL}};

static const char *const invert_text[] = {
    "Prints the plan that undoes PLAN, with what it does not bring back as comments. Write it to a file and give it to "
    "`run`.",
    "What is lost is kept where the plan runs with `--write-residue FILE`; the inverse plan run on its output with "
    "`--residue FILE` then gives the input back byte for byte.",
    "With `-i IN` the plan is held against the dump, and the database that it means without naming one is written "
    "down.",
    NULL};
static const struct mrs_cli_example invert_examples[] = {
    {"mongoreshape invert embed.yaml", "the way back, and what is lost on it"},
    {"mongoreshape invert embed.yaml > back.yaml", "keep it as a plan"},
    {NULL, NULL}};

static const char *const cat_text[] = {
    "Prints the documents of IN, one line of Extended JSON each, collection after collection in the order of their "
    "names, documents in the order of their files. IN is whatever `run` reads.",
    "A damaged document ends it with status 3 and its place; what stands before it has been printed. Lines are "
    "documents and nothing else, also of several collections: `--with-ns` says where each is from.",
    NULL};
static const struct mrs_cli_example cat_examples[] = {
    {"mongoreshape cat dump --ns blog.posts --relaxed | jq .title", "a field of each document"},
    {"mongoreshape cat comments.bson.gz --where '{\"votes\": {\"$gt\": 9}}' --limit 5",
     "the first documents that match"},
    {NULL, NULL}};

static const char *const diff_text[] = {
    "Compares two dumps in whatever they are packed: documents byte for byte but in any order, matched by `_id` as a "
    "server compares it (1 and 1.0 are one `_id`); options and indexes in any order, uuids left out. Status 0: they "
    "hold the same; 1: they differ; 3: one is damaged.",
    "Documents that differ are named by collection, `_id` and the paths of the first values that do. Files of "
    "documents beside the collections (oplog.bson, users and roles) are compared as well; prelude.json and unknown "
    "files are not.",
    "Where the dumps are equal each is read once, in 256 MiB of memory whatever their size; collections that differ "
    "are read up to three times more.",
    "With `--manifest FILE` a single dump is compared with what a run has written, or, given as `-i IN`, has read.",
    NULL};
static const struct mrs_cli_example diff_examples[] = {
    {"mongoreshape diff dump dump.restored", "is all there, and nothing else?"},
    {"mongoreshape diff dump archive.gz --json --limit 100", "for programs"},
    {"mongoreshape diff --manifest out/mongoreshape.manifest.json out", "is the output still what the run wrote?"},
    {"mongoreshape diff --manifest out/mongoreshape.manifest.json -i dump", "is this the dump that the run read?"},
    {NULL, NULL}};

static const char *const inspect_text[] = {
    "Reads the dump IN and says what is in it: figures of each collection and path, which path refers to which "
    "collection and with how many orphans, and the rules of thumb for schemas that the data break, each with the "
    "number that breaks it and the step that mends it. Nothing is written but what `--suggest` and `--html` ask for.",
    "References are found by values and names: each is given with its evidence, and those that are likely but not "
    "certain stand apart. `--hints FILE` says what you know better.",
    "Memory stays below 64 MiB whatever the size of the data; what does not fit goes to a temporary file.",
    NULL};
static const struct mrs_cli_example inspect_examples[] = {
    {"mongoreshape inspect dump", "what is there, worst first"},
    {"mongoreshape inspect dump --suggest plan.yaml", "and a plan to begin with"},
    {"mongoreshape inspect dump --json | jq .references", "for programs"},
    {NULL, NULL}};

static const char *const help_text[] = {
    "Explains the program or one of its commands. The manual page and the shell's completions are "
    "printed by the same table.",
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
    {"check", CHECK, "PLAN", "[-i IN]", "find the mistakes in a plan, alone or against a dump",
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
    {"inspect", INSPECT, "IN", "", "say what a dump holds, how it hangs together, and what will hurt", inspect_text,
     inspect_examples, mrsi_cmd_inspect},
    {"help", HELP, "[COMMAND]", "", "explain the program or a command", help_text,
     help_examples, mrs_cli_help},
    {NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct mrs_cli_row exits[] = {
    {"0", "done"},
    {"1", "the output is published, but some documents were refused (`check`: would be); `diff`: something differs; "
          "`inspect --keep-going`: something could not be read"},
    {"2", "wrong usage or a wrong plan; nothing was touched"},
    {"3", "damaged input"},
    {"4", "reading or writing failed"},
    {"5", "a limit was passed, or memory is out"},
    {"7", "more documents were refused than --max-refused; nothing is published"},
    {"128+n", "stopped by signal n; nothing is published"},
    {NULL, NULL},
};

static const struct mrs_cli_row signals[] = {
    {NULL, "The first interrupt (Ctrl-C) ends the run at the next safe point: nothing is published, and where the run "
           "had come far enough, what `--resume` needs stays, and the command to go on is printed. The second ends the "
           "program at once; then the last checkpoint counts."},
    {NULL, NULL},
};
static const struct mrs_cli_row environment[] = {
    {"\\fBNO_COLOR\\fR", "no colours in messages."},
    {"\\fBTMPDIR\\fR", "where temporary files go when there is no output to put them beside."},
    {NULL, NULL},
};
static const struct mrs_cli_row files[] = {
    {"\\fIOUT\\fB.partial\\fR", "the output until it is whole."},
    {"\\fIOUT\\fB.checkpoint\\fR", "what `--resume` needs, and collections between two steps."},
    {"\\fIOUT\\fB.inverse.partial\\fR", "what the inverse plan made, while a residue is written or put back."},
    {"\\fIOUT\\fB.inverse.checkpoint\\fR", "what `--resume` needs of that."},
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
    .summary = "moves MongoDB data from one schema design to another",
    .purpose = "move MongoDB data from one schema design to another",
    .about = "A plan (a YAML file) says how documents go from one design to another: embed "
             "comments into their posts, move parts of documents into a "
             "collection of their own, compute, rename, split. The input is a mongodump "
             "directory, the output is another one, for mongorestore.",
    .sketch = "a plan:\n"
              "  steps:\n"
              "    - embed:\n"
              "        from: comments          # documents of this collection\n"
              "        into: posts             # go into documents of that one\n"
              "        match: { postId: _id }  # whose _id they name\n"
              "        as: comments            # as this array\n"
              "        drop: [postId]          # without this field\n",
    .manual = "A plan, a YAML file, says how documents go from one design to another. The input is a "
              "dump as mongodump writes it; the output is another one, for "
              "mongorestore. The input is never changed.",
    .start = "\nfrom a dump to a new design:\n"
             "  mongoreshape inspect dump --suggest plan.yaml    # what is there, what will hurt, and a plan for it\n"
             "  mongoreshape check plan.yaml -i dump             # what the plan would do, and what it would refuse\n"
             "  mongoreshape run plan.yaml -i dump -o dump.new   # do it; dump stays as it is\n",
    .offer = "inspect",
    .options = options,
    .commands = commands,
    .exits = exits,
    .sections = sections,
    .see_also = ".BR mongoreshape\\-plan (5),\n.BR mongoreshape\\-live (1),\n.BR mongodump (1),\n.BR mongorestore (1)",
};
