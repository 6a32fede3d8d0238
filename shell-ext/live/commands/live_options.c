/* SPDX-License-Identifier: Apache-2.0 */
/* live_options.c - the table of commands and options of mongoreshape-live.
 *
 * Help, manual and completions are generated from these texts, so an option is documented here and only here. Rows are
 * in the order in which users should read them. Defines the syntax of words, not their effects. */
#include "live_options.h"

#include "live_commands.h"
#include "mongoreshape/version.h"

#define AT(member) offsetof(struct live_cli, member)

enum {
    APPLY = 1,
    VERIFY = 2,
    CONTRACT = 4,
    ROLLBACK = 8,
    STATUS = 16,
    PAUSE = 32,
    RESUME = 64,
    THROTTLE = 128,
    ABORT = 256,
    HELP = 512,
    INSPECT = 1024,
    PRIVILEGES = 2048,
    WORK = APPLY | VERIFY | CONTRACT | ROLLBACK,
    SERVER = WORK | STATUS | PAUSE | RESUME | THROTTLE | ABORT | PRIVILEGES,
    ALL = SERVER | INSPECT | HELP
};

/* "auto" is 0. */
static const char *
batch(const char *text, void *to)
{
    uint64_t n = 0;
    if (strcmp(text, "auto") != 0) {
        for (const char *at = text; *at >= '0' && *at <= '9' && n <= 10000; at++) {
            n = 10 * n + (uint64_t)(*at - '0');
        }
        if (n == 0 || n > 10000 || text[strspn(text, "0123456789")] != '\0') {
            return "auto, or 1 to 10000";
        }
    }
    *(uint64_t *)to = n;
    return NULL;
}

static const struct mrs_cli_option options[] = {
    {"uri", 0, "URI", SERVER | INSPECT, MRS_CLI_TEXT, AT(uri), NULL, "MONGODB_URI of the environment",
     "the deployment, as mongodb://HOST/DB or mongodb+srv://...",
     "A URI on the command line is overwritten in memory as soon as it is read, so lists of processes show it only "
     "briefly; `--uri-file` and `MONGODB_URI` never show it. Passwords are never printed. Reads and writes go to the "
     "primary with majority concern, whatever the URI says; `inspect` reads from a secondary if there is one.",
     NULL},
    {"uri-file", 0, "FILE", SERVER | INSPECT, MRS_CLI_PATH, AT(uri_file), NULL, NULL,
     "a file whose first line is the URI; `-`: standard input",
     "A file of yours that holds a password and may be read by others is refused, as ssh refuses keys: `chmod 600` it.",
     NULL},
    {"execute", 0, NULL, WORK | ABORT, MRS_CLI_FLAG, AT(execute), NULL, NULL,
     "do it; without it nothing is written to your collections",
     "Without it the command shows what it would do, and prints the command that does it. `apply` then writes nothing "
     "at all; `verify`, `contract` and `rollback` take leases and store their progress in the state database. Called "
     "again after an interruption, a crash or a kill, it resumes the run.",
     NULL},
    {"mode", 0, "MODE", APPLY | PRIVILEGES, MRS_CLI_WORD, AT(mode), "expand|direct", "expand; direct with --quiet-by",
     "expand: add the new schema next to the old; direct: change in place",
     "While writers run `direct` takes only repeatable steps: backfills.", NULL},
    {"quiet-by", 0, "HOW", APPLY | CONTRACT | PRIVILEGES, MRS_CLI_WORD, AT(quiet_by), "block|validator|word", NULL,
     "writers are stopped: by block, by validator, or by your word",
     "`block` blocks writes of the whole cluster (setUserWriteBlockMode, replica sets from 6.0 on); `validator` sets a "
     "validator that refuses inserts and updates on each collection of the plan, and restores the old one; `word` does "
     "nothing: you have stopped the writers. In each case the run watches for foreign writes, and ends before it loses "
     "one.",
     NULL},
    {"engine", 0, "ENGINE", APPLY, MRS_CLI_WORD, AT(engine), "client|pipeline", "client",
     "the engine of expand: this program, or pipelines of the server",
     "`pipeline`: range by range the server itself reads, derives and merges what a step adds, if `explain --pipeline` "
     "gives the step as a pipeline. Documents that a pipeline would have to refuse are counted before; the client does "
     "such ranges, and all other steps. At the end all is verified and repaired. Through a mongos it is the only "
     "engine, and a range that a pipeline cannot do ends the run. A repeated command may use another engine.",
     NULL},
    {"run", 0, "ID", SERVER, MRS_CLI_TEXT, AT(run), NULL, NULL,
     "the run, by the first digits of its id, instead of PLAN", "The run keeps its plan on the server.", NULL},
    {"db", 0, "NAME", SERVER | INSPECT, MRS_CLI_TEXT, AT(db), NULL, "that of the URI",
     "database of collections without one in the plan; `inspect`: only this database",
     "A plan with another `database` is an error. If neither it nor the URI names one, `inspect` reads all databases "
     "that the user may read.", NULL},
    {"ns", 0, "DB.COLL", INSPECT, MRS_CLI_TEXT, AT(ns), NULL, "all", "only collections that match",
     "A pattern over the whole name as in `mongodump --nsInclude`: `*` matches any characters, `\\` makes the next "
     "character plain.",
     NULL},
    {"sample", 0, "N", INSPECT, MRS_CLI_COUNT, AT(sample), "10000|100000|1000000", "100000",
     "read only N documents of larger collections",
     "The server draws them at random; they are the same in all passes of one inspection, and others in the "
     "next.", NULL},
    {"whole", 0, NULL, INSPECT, MRS_CLI_FLAG, AT(whole), NULL, NULL, "read all documents of all collections",
     "In the order of `_id`, two to five times: on a busy server set limits (`--docs`, `--bytes`, `--sleep`).",
     NULL},
    {"state-db", 0, "NAME", SERVER, MRS_CLI_TEXT, AT(state_db), NULL, "__mdb_internal_mongoreshape",
     "database for checkpoints, leases and refused documents",
     "It holds the whole state of a run; `abort --clean` removes it. mongodump leaves out the default database. "
     "Without this option runs of an older version in `mongoreshape` are found, and moved by `--execute`.",
     NULL},
    {"batch", 0, "N", WORK, MRS_CLI_OWN, AT(batch), "auto|100|1000", "auto", "documents in one batch, at most 10000",
     "`auto` begins with 1,000 and aims at half a second a batch.", batch},
    {"workers", 0, "N", APPLY, MRS_CLI_COUNT, AT(workers), "1|2|4|8", "1",
     "do the first walk over each collection with N processes, at most 16",
     "While writers run (--mode expand), on a replica set. The walk is cut into ranges of `_id`, which workers take "
     "one by one; if one of them dies, another resumes its range. `--docs` and `--bytes` limit all of them together. A "
     "step that could make one `_id` of two documents has one worker. A repeated command may use another number.",
     NULL},
    {"worker", 0, NULL, APPLY, MRS_CLI_FLAG, AT(worker), NULL, NULL,
     "with --execute: help a run that another process leads, on this machine or another",
     "It takes ranges of a run that was begun with `--workers` until none is left, and may be ended at any time. Its "
     "limits are those of the run.",
     NULL},
    {"max-refused", 0, "N|any", APPLY, MRS_CLI_LIMIT, AT(max_refused), NULL, "0",
     "allow at most N refused documents",
     "A document is refused if the plan's policies give no result for it. It stays unchanged and is recorded in the "
     "state database with the reason.",
     NULL},
    {"allow-scan", 0, NULL, APPLY | VERIFY | CONTRACT | ROLLBACK, MRS_CLI_FLAG, AT(allow_scan), NULL, NULL,
     "let joins read without an index, which loads the server", NULL, NULL},
    {"allow-ttl", 0, NULL, APPLY, MRS_CLI_FLAG, AT(allow_ttl), NULL, NULL,
     "continue although a TTL index may remove sources meanwhile", NULL, NULL},
    {"no-transactions", 0, NULL, WORK, MRS_CLI_FLAG, AT(no_transactions), NULL, NULL,
     "write batches without transactions", "It is as safe; after a crash a batch may be done again.", NULL},
    {"keep-before", 0, NULL, APPLY | CONTRACT, MRS_CLI_FLAG, AT(keep_before), NULL, NULL,
     "with --quiet-by: save the old documents, which `rollback` of a quiet `apply` needs",
     "The state database then holds the old bytes of every document that is changed or removed, until `abort --clean`. "
     "A `contract` cannot be rolled back: there they are only a copy.", NULL},
    {"now", 0, "DATE", APPLY, MRS_CLI_DATE, AT(now_ms), NULL, "the clock at the start",
     "the value of `$$NOW` in this run, as "
     "2024-05-01T00:00:00Z", "A resumed run keeps its first value.", NULL},
    {"repair", 0, NULL, VERIFY, MRS_CLI_FLAG, AT(repair), NULL, NULL,
     "with --execute: derive documents that differ again, and write them",
     NULL, NULL},
    {"discard-new-writes", 0, NULL, APPLY | CONTRACT | ROLLBACK, MRS_CLI_FLAG, AT(discard_new_writes), NULL, NULL,
     "continue although this discards what was written since",
     "`rollback` first exports values that only the new schema holds to the refused documents of the state database. "
     "With `--quiet-by`: a collection is dropped although it was written to meanwhile; those writes are not exported.",
     NULL},
    {"clean", 0, NULL, ABORT, MRS_CLI_FLAG, AT(clean), NULL, NULL,
     "with --execute: remove the run from the state database", NULL, NULL},
    {"discard-refused", 0, NULL, ABORT, MRS_CLI_FLAG, AT(discard_refused), NULL, NULL,
     "remove refused documents, too", NULL, NULL},
    {"discard-changes", 0, NULL, ABORT, MRS_CLI_FLAG, AT(discard_changes), NULL, NULL,
     "remove the changes of a run that can be neither finished nor rolled back",
     "Only where the server or a collection is not the one that the run began with. What the run has changed stays.",
     NULL},
    {"docs", 0, "N", WORK | THROTTLE | INSPECT, MRS_CLI_COUNT, AT(docs_per_s), NULL, "0",
     "at most N documents a second; 0: no limit", NULL, NULL},
    {"bytes", 0, "SIZE", WORK | THROTTLE | INSPECT, MRS_CLI_SIZE, AT(bytes_per_s), "1M|10M", "0",
     "at most so many bytes a second, as 5M; 0: no limit", NULL, NULL},
    {"sleep", 0, "MS", WORK | THROTTLE | INSPECT, MRS_CLI_COUNT, AT(sleep_ms), NULL, "0",
     "milliseconds to wait between batches", NULL, NULL},
    {"max-lag", 0, "TIME", WORK | THROTTLE, MRS_CLI_TEXT, AT(max_lag), "1s|5s|30s|0", "5s",
     "maximum lag of secondaries, as 5s or 1500ms; 0: not watched",
     "From 70 % of it on the run becomes slower; above it the speed is halved every second; above twice of it the run "
     "waits. Only members that the primary lists as hosts count, not hidden or delayed ones.",
     NULL},
    {"max-latency", 0, "TIME", WORK | THROTTLE, MRS_CLI_TEXT, AT(max_latency), "100ms|500ms|0", "500ms",
     "maximum time of a read by `_id`, as 500ms; 0: not watched",
     "It is measured once a second, with the round trip. The speed follows it as in `--max-lag`.", NULL},
    {"max-load", 0, "NAME=N", WORK | THROTTLE, MRS_CLI_TEXT, AT(max_load), NULL, NULL,
     "limits for numbers of serverStatus, as connections.active=200,metrics.x.y=3",
     "The speed follows them as in `--max-lag`. Use gauges, not counters. The user needs the privilege `serverStatus`. "
     "`none` removes the limits.",
     NULL},
    {"critical-load", 0, "NAME=N", WORK | THROTTLE, MRS_CLI_TEXT, AT(critical_load), NULL, NULL,
     "the same; if one is reached twice, a second apart, the run ends",
     "With status 6, at a safe point; the same command resumes it. `none` removes the limits.", NULL},
    {"hours", 0, "FROM-TO", WORK | THROTTLE, MRS_CLI_TEXT, AT(hours), NULL, "all",
     "work only at these times, as 22:00-06:00 or 00:30-05:00,12:00-13:00",
     "By the clock and time zone of the working machine. Ignored while writers are stopped. `all` removes the "
     "limit.", NULL},
    {"metrics", 0, "FILE|ADDRESS", WORK, MRS_CLI_PATH, AT(metrics), NULL, NULL,
     "metrics for monitoring: to FILE, or on a port of this machine, as 127.0.0.1:9216",
     "OpenMetrics text, written every second. The file is replaced as a whole and stays at the end, with the exit "
     "status; an existing file that holds no metrics is not overwritten. A port answers `GET /metrics` to this machine "
     "alone, as long as the command runs. Port 0: a free port, which is printed.",
     NULL},
    {"on-success", 0, "CMD", WORK, MRS_CLI_TEXT, AT(on_success), NULL, NULL,
     "run CMD with `sh -c` when the command has ended with status 0",
     "After `verify` also without `--execute`, else only with it. It runs when the state is stored and the leases are "
     "released. Its output goes to standard error. Its environment has MONGORESHAPE_COMMAND, _STATUS, _RUN, _PHASE, "
     "_PLAN, _STATE_DB, _DOCUMENTS, _WRITTEN, _REFUSED, _DIFFERS, _SECONDS and _ERROR. If it fails a message says so; "
     "the exit status stays.",
     NULL},
    {"on-failure", 0, "CMD", WORK, MRS_CLI_TEXT, AT(on_failure), NULL, NULL,
     "the same when it has ended with any other status", NULL, NULL},
    {"memory", 0, "SIZE", APPLY | VERIFY | CONTRACT, MRS_CLI_SIZE, AT(memory), "256M|1G|4G", "256M",
     "memory for joins of a quiet run and for verify; at least 64M", NULL, NULL},
    {"tmp", 0, "DIR", APPLY | CONTRACT | INSPECT, MRS_CLI_FOLDER, AT(tmp), NULL, "TMPDIR, else /tmp",
     "folder for temporary files; --quiet-by copies the collections there",
     "A quiet run needs space for the plan's collections, twice. The files are removed at the end, except refused "
     "documents of a run that ends with status 7: its message names their file.", NULL},
    {"passes", 0, "N", APPLY | VERIFY | CONTRACT, MRS_CLI_COUNT, AT(passes), NULL, "3",
     "at most N further walks over a collection, to catch up with writers", NULL, NULL},
    {"lease", 0, "MS", WORK, MRS_CLI_COUNT, AT(lease), NULL, "30000",
     "duration of a lease in milliseconds: after that a process that does not renew it counts as dead",
     "For tests; at least 1000.", NULL},
    {"list", 0, NULL, STATUS, MRS_CLI_FLAG, AT(list), NULL, NULL, "all runs, and the size of their state", NULL,
     NULL},
    {"watch", 0, NULL, STATUS, MRS_CLI_FLAG, AT(watch), NULL, NULL, "repeat every second, until Ctrl-C", NULL, NULL},
    {"suggest", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(suggest), NULL, NULL,
     "write a plan to FILE that corrects the findings; a plan that you changed is not replaced",
     "As `mongoreshape inspect` does. Check it against the server with `apply FILE`, which writes nothing.", NULL},
    {"html", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(html), NULL, NULL,
     "write the report as a page for a browser, too: one file that needs no network",
     "The page of `mongoreshape inspect`: a diagram of the references, and for each finding the plan step that "
     "corrects it, to copy. It may hold values of documents, so only its owner may read it. An existing page is "
     "overwritten, any other file stays.",
     NULL},
    {"hints", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(hints), NULL, NULL,
     "known references, as lines `db.coll.path -> db.coll.path`; `!` before a line: no reference", NULL, NULL},
    {"workload", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(workload), NULL, NULL,
     "how often collections are read and written, for advice that depends on it", NULL, NULL},
    {"all", 0, NULL, INSPECT, MRS_CLI_FLAG, AT(all), NULL, NULL, "every path of every collection", NULL, NULL},
    {"json", 0, NULL, SERVER | INSPECT, MRS_CLI_FLAG, AT(json), NULL, NULL,
     "one JSON object on standard output instead of words", NULL, NULL},
    {"progress", 0, NULL, WORK | INSPECT, MRS_CLI_FLAG, AT(progress), NULL, "when standard error is a terminal",
     "show progress, rate and time left", NULL, NULL},
    {"man", 0, NULL, HELP, MRS_CLI_FLAG, AT(line.man), NULL, NULL, "print the manual page, in roff", NULL, NULL},
    {"completion", 0, "SHELL", HELP, MRS_CLI_WORD, AT(line.completion), "bash|zsh|fish", NULL,
     "print the completions for a shell: bash, zsh or fish", NULL, NULL},
    {"help", 'h', NULL, ALL, MRS_CLI_FLAG, AT(line.help), NULL, NULL, "explain the command", NULL, NULL},
    {"version", 0, NULL, HELP, MRS_CLI_FLAG, AT(line.version), NULL, NULL, "print the version", NULL, NULL},
    {NULL, 0, NULL, 0, MRS_CLI_FLAG, 0, NULL, NULL, NULL, NULL, NULL},
};

static const char *const apply_text[] = {
    "Applies the steps of PLAN to the collections of a running MongoDB, in batches, with checkpoints. Without "
    "`--execute` it makes a dry run: it connects, checks the plan against the server, tries it on up to 1,000 "
    "documents of each collection, reports what it would do, what it found and roughly how long it takes, and writes "
    "nothing at all.",
    "While writers run it expands: it adds new fields and collections and removes nothing, and applications continue "
    "with the old schema. Call `verify` next, then `contract` or `rollback`. A plan that cannot run this way is "
    "refused with the reason.",
    "With `--quiet-by` writers are stopped, and every plan is applied completely, with the same documents as the "
    "offline tool.",
    "After any crash call it again: it resumes.",
    NULL};
static const struct mrs_cli_example apply_examples[] = {
    {"mongoreshape-live apply embed.yaml --uri mongodb://localhost/shop", "a dry run"},
    {"mongoreshape-live apply embed.yaml --uri-file ~/.shop --execute", "add the new schema while writers run"},
    {"mongoreshape-live apply embed.yaml --quiet-by validator --execute",
     "the whole change while writers are stopped"},
    {NULL, NULL}};

static const char *const verify_text[] = {
    "Derives everything again from the old schema and compares it with the new one, in both directions. Differences "
    "are named. While writers run, a difference may only mean that a document is not up to date yet; `--repair "
    "--execute` updates it.",
    "After a quiet run it compares the collections with the run's list of changes.", NULL};
static const struct mrs_cli_example verify_examples[] = {
    {"mongoreshape-live verify embed.yaml --uri-file ~/.shop", "list the differences"},
    {"mongoreshape-live verify embed.yaml --uri-file ~/.shop --repair --execute",
     "update what writers changed"},
    {NULL, NULL}};

static const char *const contract_text[] = {
    "Removes the old schema after a verified expand. It checks again, document by document, and removes only data that "
    "the new schema holds. After its first write there is no way back. Without `--execute` it shows what it would "
    "remove: how many documents, the first of them, fields, collections and indexes.",
    "Plans whose steps change one document each may be contracted while writers run; all others need `--quiet-by`.",
    NULL};
static const struct mrs_cli_example contract_examples[] = {
    {"mongoreshape-live contract embed.yaml --quiet-by validator", "what would be removed?"},
    {"mongoreshape-live contract embed.yaml --quiet-by validator --execute",
     "remove the old schema"},
    {NULL, NULL}};

static const char *const rollback_text[] = {
    "Removes the new schema: fields that still hold the derived values, and collections that the run made. Data that "
    "only the new schema holds are counted first; if there are any, it needs `--discard-new-writes`. Without "
    "`--execute` it shows what it would remove.",
    "A quiet run can be rolled back only with `--keep-before`.", NULL};
static const struct mrs_cli_example rollback_examples[] = {
    {"mongoreshape-live rollback embed.yaml --uri-file ~/.shop", "what would be removed?"},
    {"mongoreshape-live rollback embed.yaml --uri-file ~/.shop --execute", "remove the new schema"},
    {NULL, NULL}};

static const char *const status_text[] = {
    "Shows the progress of a run: phase, range, documents done and estimated, rate, time left, what limits it, and "
    "since when derived data may be out of date. Reads only.",
    NULL};
static const struct mrs_cli_example status_examples[] = {
    {"mongoreshape-live status --uri-file ~/.shop --watch", "watch a run"},
    {"mongoreshape-live status --uri-file ~/.shop --list", "list the runs"},
    {NULL, NULL}};

static const char *const pause_text[] = {"Halts a run between two batches, within a second. It waits until `resume`.",
                                         NULL};
static const struct mrs_cli_example pause_examples[] = {
    {"mongoreshape-live pause embed.yaml --uri-file ~/.shop", "pause the run"}, {NULL, NULL}};

static const char *const resume_text[] = {"Continues a paused run.",
                                          "A run whose process has ended is resumed by `apply --execute`.", NULL};
static const struct mrs_cli_example resume_examples[] = {
    {"mongoreshape-live resume embed.yaml --uri-file ~/.shop", "continue"}, {NULL, NULL}};

static const char *const throttle_text[] = {
    "Sets the limits of a running run; they take effect within a second. Other limits stay. Without options all limits "
    "are removed, and `--max-lag` and `--max-latency` get their defaults.", NULL};
static const struct mrs_cli_example throttle_examples[] = {
    {"mongoreshape-live throttle embed.yaml --uri-file ~/.shop --docs 500", "at most 500 documents a second"},
    {"mongoreshape-live throttle embed.yaml --uri-file ~/.shop --hours 22:00-06:00", "at night only"},
    {"mongoreshape-live throttle embed.yaml --uri-file ~/.shop", "without limits"},
    {NULL, NULL}};

static const char *const abort_text[] = {
    "With `--clean --execute` it removes the state of a run from the state database; without `--execute` it shows that "
    "state. A run that has made only a part of its changes is not removed, since only its state can finish or undo "
    "them: finish it, or roll it back. If it can be neither, since a collection was dropped or restored meanwhile, "
    "`--discard-changes` removes it.",
    "Refused documents are removed only with `--discard-refused`. The new schema that an expand added stays; "
    "`rollback` removes it.",
    NULL};
static const struct mrs_cli_example abort_examples[] = {
    {"mongoreshape-live abort embed.yaml --uri-file ~/.shop --clean --execute",
     "remove the state of a finished run"},
    {NULL, NULL}};

static const char *const inspect_text[] = {
    "Reports figures of each collection and path of a server's databases, references with their orphans, schema rules "
    "that the data break, and with `--suggest` a plan that corrects them. The report is that of `mongoreshape inspect` "
    "for a dump. It writes nothing, needs only the role `read`, and reads from a secondary if there is one.",
    "Of a collection with more than 100,000 documents it reads a sample of that size, drawn by the server; `--whole` "
    "reads all. Figures of a sample are marked.",
    NULL};
static const struct mrs_cli_example inspect_examples[] = {
    {"mongoreshape-live inspect --uri mongodb://localhost/shop", "the findings, worst first"},
    {"mongoreshape-live inspect --uri-file ~/.shop --suggest better.yaml", "and a plan that corrects them"},
    {"mongoreshape-live inspect --uri-file ~/.shop --whole --bytes 20M", "exactly, and slowly"},
    {NULL, NULL}};

static const char *const privileges_text[] = {
    "Prints the command that creates the role for `apply`, `verify`, `contract`, `rollback` and `abort` of PLAN on "
    "this server, with the least privileges: on each collection, on the state database, and on the cluster to end the "
    "operations of a dead process. Give it to an administrator of the server. Reads only.",
    "With `--quiet-by` it is the role of quiet mode, which may have to rebuild collections: some actions then apply to "
    "a whole database.",
    NULL};
static const struct mrs_cli_example privileges_examples[] = {
    {"mongoreshape-live privileges embed.yaml --uri-file ~/.shop", "the role for a change while writers run"},
    {"mongoreshape-live privileges embed.yaml --uri-file ~/.shop --quiet-by validator > role.js",
     "for mongosh: load(\"role.js\")"},
    {NULL, NULL}};

static const char *const help_text[] = {
    "Explains the program or one of its commands, and prints the manual page and the completions for shells.",
    NULL};
static const struct mrs_cli_example help_examples[] = {
    {"mongoreshape-live help apply", "everything about `apply`"},
    {"mongoreshape-live help --man | man -l -", "the manual"},
    {NULL, NULL}};

static const struct mrs_cli_command commands[] = {
    {"apply", APPLY, "[PLAN]", "[--uri URI] [--execute]", "apply a plan to a running MongoDB", apply_text,
     apply_examples, live_cmd_apply},
    {"verify", VERIFY, "[PLAN]", "[--repair --execute]", "compare the new schema with the old, in both "
                                                         "directions", verify_text,
     verify_examples, live_cmd_verify},
    {"contract", CONTRACT, "[PLAN]", "[--quiet-by HOW] [--execute]", "remove the old schema", contract_text,
     contract_examples, live_cmd_contract},
    {"rollback", ROLLBACK, "[PLAN]", "[--execute]", "remove the new schema", rollback_text, rollback_examples,
     live_cmd_rollback},
    {"status", STATUS, "[PLAN]", "[--list] [--watch]", "show the progress of a run", status_text, status_examples,
     live_cmd_status},
    {"pause", PAUSE, "[PLAN]", "", "pause a run between two batches", pause_text, pause_examples, live_cmd_pause},
    {"resume", RESUME, "[PLAN]", "", "continue a paused run", resume_text, resume_examples, live_cmd_resume},
    {"throttle", THROTTLE, "[PLAN]", "[--docs N] [--max-lag TIME]", "set the limits of a run",
     throttle_text, throttle_examples, live_cmd_throttle},
    {"abort", ABORT, "[PLAN]", "--clean [--execute]", "remove a run from the state database", abort_text,
     abort_examples, live_cmd_abort},
    {"privileges", PRIVILEGES, "[PLAN]", "[--quiet-by HOW]", "print the role that a plan needs", privileges_text,
     privileges_examples, live_cmd_privileges},
    {"inspect", INSPECT, "", "", "report the contents, references and problems of the data", inspect_text,
     inspect_examples, live_cmd_inspect},
    {"help", HELP, "[COMMAND]", "", "explain the program or a command", help_text, help_examples, mrs_cli_help},
    {NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct mrs_cli_row exits[] = {
    {"0", "done; of a dry run: `--execute` is possible"},
    {"1", "done, but documents were refused; of a dry run of `apply`: some of the tried documents would be refused; of "
          "`verify`: there are differences, or the run is not complete"},
    {"2", "wrong usage, an error of the plan, or no such run; nothing was changed"},
    {"3", "damaged data"},
    {"4", "an I/O error on this machine"},
    {"5", "a limit was exceeded, or memory is exhausted"},
    {"6", "the server refused, cannot be reached, or does not support this plan"},
    {"7", "documents prevent it: more refused than --max-refused, or data that would be lost; the command stopped "
          "there"},
    {"128+n", "stopped by signal n at a safe point"},
    {NULL, NULL},
};

static const struct mrs_cli_row signals[] = {
    {NULL, "The first interrupt (Ctrl-C) ends the run after the current batch; the same command resumes at its "
           "checkpoint. The second ends the program at once, which is as safe."},
    {NULL, NULL},
};
static const struct mrs_cli_row environment[] = {
    {"\\fBMONGODB_URI\\fR", "the deployment, if neither `--uri` nor `--uri-file` is given."},
    {"\\fBNO_COLOR\\fR", "no colours in messages."},
    {"\\fBTMPDIR\\fR", "folder for the temporary copy of a quiet run without `--tmp`."},
    {NULL, NULL},
};
static const struct mrs_cli_row state[] = {
    {NULL, "The state database (`--state-db`) holds the run with its plan (`runs`), the process that works on each "
           "collection (`leases`), its progress (`checkpoints`), refused documents (`refused`), and of quiet runs the "
           "list of changes (`changes_` and the first digits of the run). It never holds a password."},
    {NULL, NULL},
};
static const struct mrs_cli_section sections[] = {
    {"SIGNALS", signals}, {"ENVIRONMENT", environment}, {"STATE", state}, {NULL, NULL}};

const struct mrs_cli_tool live_tool = {
    .name = "mongoreshape-live",
    .version = MRS_VERSION,
    .summary = "migrates data of a running MongoDB from one schema to another",
    .purpose = "migrate data of a running MongoDB from one schema to another",
    .about = "A plan (a YAML file, the same as for mongoreshape) describes the change of the schema. While writers "
             "run, apply adds the new schema, verify compares it, and contract removes the old schema, or rollback the "
             "new one. With writers stopped (--quiet-by) apply takes every plan and makes the whole change. Nothing is "
             "written to your collections without --execute.",
    .sketch = "the usual way:\n"
              "  apply embed.yaml                      # dry run: writes nothing\n"
              "  apply embed.yaml --execute            # adds the new schema, removes nothing\n"
              "  verify embed.yaml --repair --execute  # compares, corrects\n"
              "  contract embed.yaml --quiet-by word   # what would it remove? then with --execute\n",
    .start = "\nset MONGODB_URI to the URI of the server, then\n"
             "  mongoreshape-live apply plan.yaml                        # dry run: writes nothing\n"
             "  mongoreshape-live apply plan.yaml --execute              # add the new schema\n"
             "  mongoreshape-live verify plan.yaml --repair --execute    # compare, and correct\n",
    .offer_plan = "apply",
    .manual = "A plan, a YAML file, describes the change of the schema. This tool applies it to a running MongoDB, a "
              "replica set or a standalone server from version 4.4 on, in batches, with checkpoints on the server. It "
              "can be killed at any time and resumes when it is called again.",
    .options = options,
    .commands = commands,
    .exits = exits,
    .sections = sections,
    .see_also = ".BR mongoreshape (1),\n.BR mongodump (1)",
};
