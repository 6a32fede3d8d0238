/* SPDX-License-Identifier: Apache-2.0 */
/* live_options.c - the table of commands and options of mongoreshape-live.
 *
 * Help, manual and completions are made of these texts, so this is the place to explain an option, and the only one.
 * Rows are in the order in which people should meet them. Knows what words mean on the line, not what they do. */
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
     "A URI on the command line is overwritten in memory as soon as it is read, so that lists of processes do not show "
     "it for long; `--uri-file` and `MONGODB_URI` never show it. Passwords are never printed. Reads and writes go to "
     "the primary and ask for the majority, whatever the URI says; `inspect` reads from a secondary where there is "
     "one.",
     NULL},
    {"uri-file", 0, "FILE", SERVER | INSPECT, MRS_CLI_PATH, AT(uri_file), NULL, NULL,
     "a file whose first line is the URI; `-`: standard input",
     "A file of yours that holds a password and may be read by others is refused, as ssh refuses keys: `chmod 600` it.",
     NULL},
    {"execute", 0, NULL, WORK | ABORT, MRS_CLI_FLAG, AT(execute), NULL, NULL,
     "do it; without it nothing of yours is written",
     "Without it the command shows what it would do, and prints the line that does it. `apply` then writes nothing at "
     "all; `verify`, `contract` and `rollback` take leases and note in the state database how far they have looked. "
     "Called again after an interruption, a crash or a kill, it goes on where the run stands.",
     NULL},
    {"mode", 0, "MODE", APPLY | PRIVILEGES, MRS_CLI_WORD, AT(mode), "expand|direct", "expand; direct with --quiet-by",
     "expand: add the new design beside the old; direct: change in place",
     "Alongside writers `direct` takes only steps that may be done twice without harm: backfills.", NULL},
    {"quiet-by", 0, "HOW", APPLY | CONTRACT | PRIVILEGES, MRS_CLI_WORD, AT(quiet_by), "block|validator|word", NULL,
     "writers are kept out: by block, by validator, or by your word",
     "`block` blocks writes of the whole cluster (setUserWriteBlockMode, replica sets from 6.0 on); `validator` sets a "
     "validator that refuses inserts and updates on each collection that the plan touches, and puts the old one back; "
     "`word` does nothing: you have stopped the writers. In each case foreign writes are watched for, and end the run "
     "before anything of theirs is lost.",
     NULL},
    {"engine", 0, "ENGINE", APPLY, MRS_CLI_WORD, AT(engine), "client|pipeline", "client",
     "who does the work of expand: this program, or pipelines that the server runs",
     "`pipeline`: range by range the server itself reads, derives and merges what a step adds, where `explain "
     "--pipeline` gives the step as a pipeline; what a pipeline cannot refuse is counted before, and such ranges, and "
     "all other steps, are done by the client. At its end everything is verified and repaired. Through a mongos it is "
     "the only way, and a range that a pipeline cannot do ends the run. It may be another one when the command is "
     "called again.",
     NULL},
    {"run", 0, "ID", SERVER, MRS_CLI_TEXT, AT(run), NULL, NULL,
     "the run, by the first digits of its id, instead of PLAN", "The run keeps its plan on the server.", NULL},
    {"db", 0, "NAME", SERVER | INSPECT, MRS_CLI_TEXT, AT(db), NULL, "that of the URI",
     "database of collections for which the plan names none; `inspect`: only this database",
     "Where neither it nor the URI names one, `inspect` looks at all databases that the user may see.", NULL},
    {"ns", 0, "DB.COLL", INSPECT, MRS_CLI_TEXT, AT(ns), NULL, "all", "only collections like this",
     "A pattern over the whole name as of `mongodump --nsInclude`: `*` stands for anything, `\\` takes the next "
     "character as it is.",
     NULL},
    {"sample", 0, "N", INSPECT, MRS_CLI_COUNT, AT(sample), "10000|100000|1000000", "100000",
     "look at N documents of each collection that has more",
     "The server draws them; they are the same in all passes of one inspection, and others in the next.", NULL},
    {"whole", 0, NULL, INSPECT, MRS_CLI_FLAG, AT(whole), NULL, NULL, "read all documents of all collections",
     "In the order of `_id`, two to five times: give it limits (`--docs`, `--bytes`, `--sleep`) where others wait for "
     "the server.",
     NULL},
    {"state-db", 0, "NAME", SERVER, MRS_CLI_TEXT, AT(state_db), NULL, "__mdb_internal_mongoreshape",
     "database for checkpoints, leases and refused documents",
     "Everything that a run leaves on the server lies there; `abort --clean` removes it. mongodump leaves the default "
     "out. Without this option runs that an older version left in `mongoreshape` are found, and moved by `--execute`.",
     NULL},
    {"batch", 0, "N", WORK, MRS_CLI_OWN, AT(batch), "auto|100|1000", "auto", "documents in one batch, at most 10000",
     "`auto` begins with 1,000 and aims at half a second a batch.", batch},
    {"workers", 0, "N", APPLY, MRS_CLI_COUNT, AT(workers), "1|2|4|8", "1",
     "do the first walk over each collection with N processes, at most 16",
     "Alongside writers (--mode expand), on a replica set. The walk is cut into ranges of `_id`, which workers take "
     "one by one; if one of them dies, another goes on with its range. `--docs` and `--bytes` limit all of them "
     "together. A step that could make one `_id` of two documents is done by one. It may be another number when the "
     "command is called again.",
     NULL},
    {"worker", 0, NULL, APPLY, MRS_CLI_FLAG, AT(worker), NULL, NULL,
     "with --execute: help a run that another process leads, on this machine or another",
     "It takes ranges of a run that was begun with `--workers` until that adds no more, and may be ended at any time. "
     "Knobs are those of the run.",
     NULL},
    {"max-refused", 0, "N|any", APPLY, MRS_CLI_LIMIT, AT(max_refused), NULL, "0",
     "go on while at most N documents are refused",
     "A document is refused where the plan's own words leave no place for it. It stays where it is and is noted in "
     "the state database with the reason.",
     NULL},
    {"allow-scan", 0, NULL, APPLY | VERIFY | CONTRACT | ROLLBACK, MRS_CLI_FLAG, AT(allow_scan), NULL, NULL,
     "let joins read without an index: slow for your server", NULL, NULL},
    {"allow-ttl", 0, NULL, APPLY, MRS_CLI_FLAG, AT(allow_ttl), NULL, NULL,
     "go on although a TTL index may remove sources meanwhile", NULL, NULL},
    {"no-transactions", 0, NULL, WORK, MRS_CLI_FLAG, AT(no_transactions), NULL, NULL,
     "write batches without transactions", "Nothing is less safe then; after a crash a batch may be done again.", NULL},
    {"keep-before", 0, NULL, APPLY | CONTRACT, MRS_CLI_FLAG, AT(keep_before), NULL, NULL,
     "keep what a quiet run changes, so that it can be rolled back",
     "The state database then holds the old bytes of every document that is changed or removed.", NULL},
    {"now", 0, "DATE", APPLY, MRS_CLI_DATE, AT(now_ms), NULL, "the clock at the start",
     "what `$$NOW` is in this run, as 2024-05-01T00:00:00Z", "A run that goes on keeps the time it began with.", NULL},
    {"repair", 0, NULL, VERIFY, MRS_CLI_FLAG, AT(repair), NULL, NULL,
     "with --execute: derive again what differs, and write it",
     NULL, NULL},
    {"discard-new-writes", 0, NULL, APPLY | CONTRACT | ROLLBACK, MRS_CLI_FLAG, AT(discard_new_writes), NULL, NULL,
     "roll back although the new design holds values that the old does not",
     "They are exported to the refused documents of the state database first. In a quiet run: let a collection go "
     "although it was written to meanwhile; that is not exported.", NULL},
    {"clean", 0, NULL, ABORT, MRS_CLI_FLAG, AT(clean), NULL, NULL,
     "with --execute: remove what the run left in the state database", NULL, NULL},
    {"discard-refused", 0, NULL, ABORT, MRS_CLI_FLAG, AT(discard_refused), NULL, NULL,
     "remove refused documents, too", NULL, NULL},
    {"docs", 0, "N", WORK | THROTTLE | INSPECT, MRS_CLI_COUNT, AT(docs_per_s), NULL, "0",
     "at most N documents a second; 0: no limit", NULL, NULL},
    {"bytes", 0, "SIZE", WORK | THROTTLE | INSPECT, MRS_CLI_SIZE, AT(bytes_per_s), "1M|10M", "0",
     "at most so many bytes a second, as 5M; 0: no limit", NULL, NULL},
    {"sleep", 0, "MS", WORK | THROTTLE | INSPECT, MRS_CLI_COUNT, AT(sleep_ms), NULL, "0",
     "milliseconds to wait between batches", NULL, NULL},
    {"max-lag", 0, "TIME", WORK | THROTTLE, MRS_CLI_TEXT, AT(max_lag), "1s|5s|30s|0", "5s",
     "how far secondaries may fall behind, as 5s or 1500ms; 0: not watched",
     "From 70 % of it on the run becomes slower, at it its speed is halved every second, at twice of it the run waits. "
     "Members count that the primary lists as hosts, not hidden or delayed ones.",
     NULL},
    {"max-latency", 0, "TIME", WORK | THROTTLE, MRS_CLI_TEXT, AT(max_latency), "100ms|500ms|0", "500ms",
     "how long a read by `_id` may take, as 500ms; 0: not watched",
     "It is asked once a second, and the way there and back is in it. The law is that of `--max-lag`.", NULL},
    {"max-load", 0, "NAME=N", WORK | THROTTLE, MRS_CLI_TEXT, AT(max_load), NULL, NULL,
     "numbers of serverStatus and what they may be, as connections.active=200,metrics.x.y=3",
     "The law is that of `--max-lag`. Only numbers that go up and down say something, not counters. The user needs the "
     "privilege `serverStatus`. `none` takes it away again.",
     NULL},
    {"critical-load", 0, "NAME=N", WORK | THROTTLE, MRS_CLI_TEXT, AT(critical_load), NULL, NULL,
     "the same: where one is reached twice, a second apart, the run ends",
     "With status 6, at a safe point; the same command goes on. `none` takes it away again.", NULL},
    {"hours", 0, "FROM-TO", WORK | THROTTLE, MRS_CLI_TEXT, AT(hours), NULL, "all",
     "work only then, as 22:00-06:00 or 00:30-05:00,12:00-13:00",
     "By the clock and time zone of the machine that works. While writers are kept out it does not count. `all` takes "
     "it away again.", NULL},
    {"metrics", 0, "FILE|ADDRESS", WORK, MRS_CLI_PATH, AT(metrics), NULL, NULL,
     "figures for monitoring: to FILE, or on a port of this machine, as 127.0.0.1:9216",
     "OpenMetrics text, new every second. A file is replaced as a whole and stays, with the exit status; what has its "
     "name at first must be metrics, too. A port "
     "answers `GET /metrics` to this machine alone, as long as the command works. Port 0: a free one, which is said.",
     NULL},
    {"on-success", 0, "CMD", WORK, MRS_CLI_TEXT, AT(on_success), NULL, NULL,
     "run CMD with `sh -c` when the command has ended with status 0",
     "Also without `--execute` behind `verify`, else only with it. It is run when the state is stored and the leases "
     "are given back. What it prints goes to standard error. It knows MONGORESHAPE_COMMAND, _STATUS, _RUN, _PHASE, "
     "_PLAN, _STATE_DB, _DOCUMENTS, _WRITTEN, _REFUSED, _DIFFERS, _SECONDS and _ERROR. That it fails is told, and "
     "changes nothing.",
     NULL},
    {"on-failure", 0, "CMD", WORK, MRS_CLI_TEXT, AT(on_failure), NULL, NULL,
     "the same when it has ended with any other status", NULL, NULL},
    {"memory", 0, "SIZE", APPLY | VERIFY | CONTRACT, MRS_CLI_SIZE, AT(memory), "256M|1G|4G", "256M",
     "memory for joins of a quiet run and for verify; at least 64M", NULL, NULL},
    {"tmp", 0, "DIR", APPLY | CONTRACT | INSPECT, MRS_CLI_PATH, AT(tmp), NULL, "TMPDIR, else /tmp",
     "folder for temporary files: the copy that a quiet run makes of the collections",
     "A quiet run needs room for what the plan touches, twice. They are removed at the end.", NULL},
    {"passes", 0, "N", APPLY | VERIFY | CONTRACT, MRS_CLI_COUNT, AT(passes), NULL, "3",
     "end passes at most, to catch up with writers", NULL, NULL},
    {"lease", 0, "MS", WORK, MRS_CLI_COUNT, AT(lease), NULL, "30000",
     "how long a run is thought alive that gives no sign of life", "For tests; at least 1000.", NULL},
    {"list", 0, NULL, STATUS, MRS_CLI_FLAG, AT(list), NULL, NULL, "all runs, and what they keep on the server", NULL,
     NULL},
    {"watch", 0, NULL, STATUS, MRS_CLI_FLAG, AT(watch), NULL, NULL, "again every second, until Ctrl-C", NULL, NULL},
    {"suggest", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(suggest), NULL, NULL,
     "write a plan to FILE that mends what was found; a plan that you changed is not replaced",
     "As `mongoreshape inspect` does. Hold it against the server with `apply FILE`, which writes nothing.", NULL},
    {"html", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(html), NULL, NULL,
     "write the report as a page for a browser, too: one file that needs no network",
     "The page of `mongoreshape inspect`: a diagram of the references, and for each finding the plan step that cures "
     "it, to copy. It may hold values of documents, and is for its owner alone. A page that is there is written anew, "
     "any other file is left alone.",
     NULL},
    {"hints", 0, "FILE", INSPECT, MRS_CLI_PATH, AT(hints), NULL, NULL,
     "references you know, as lines `db.coll.path -> db.coll.path`; `!` before one that is none", NULL, NULL},
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
    "`--execute` it connects, holds the plan against the server, tries it on up to 1,000 documents of each collection, "
    "says what it would do, what it found and roughly how long it takes, and writes nothing at all.",
    "Alongside writers it expands: new fields and new collections are added, nothing is taken away, applications go on "
    "with the old design. Then come `verify`, and `contract` or `rollback` when you say so. Plans for which that "
    "cannot be right are refused with the reason.",
    "With `--quiet-by` writers are kept out, and every plan is done to its end: the same documents as the offline tool "
    "would write.",
    "Whatever dies, whenever: call it again, and it goes on.",
    NULL};
static const struct mrs_cli_example apply_examples[] = {
    {"mongoreshape-live apply embed.yaml --uri mongodb://localhost/shop", "what would be done?"},
    {"mongoreshape-live apply embed.yaml --uri-file ~/.shop --execute", "add the new design while writers go on"},
    {"mongoreshape-live apply embed.yaml --quiet-by validator --execute",
     "the whole change while writers are kept out"},
    {NULL, NULL}};

static const char *const verify_text[] = {
    "Derives everything again from the old design and compares it with the new one, both ways. What differs is named. "
    "While writers go on, a difference may only mean that nobody has brought it up to date yet; `--repair --execute` "
    "does.",
    "After a quiet run it compares the collections with the run's list of changes.", NULL};
static const struct mrs_cli_example verify_examples[] = {
    {"mongoreshape-live verify embed.yaml --uri-file ~/.shop", "what differs?"},
    {"mongoreshape-live verify embed.yaml --uri-file ~/.shop --repair --execute",
     "bring up to date what writers changed"},
    {NULL, NULL}};

static const char *const contract_text[] = {
    "Removes the old design after an expand that was verified. It checks again, document by document, and takes away "
    "only what it finds in the new design. From its first write on there is no way back. Without `--execute` it says "
    "what would go: how many documents, the first of them, fields, collections and indexes.",
    "Plans whose steps each change one document may be contracted while writers go on; all others need `--quiet-by`.",
    NULL};
static const struct mrs_cli_example contract_examples[] = {
    {"mongoreshape-live contract embed.yaml --quiet-by validator", "what would go?"},
    {"mongoreshape-live contract embed.yaml --quiet-by validator --execute",
     "take the old design away"},
    {NULL, NULL}};

static const char *const rollback_text[] = {
    "Removes the new design again: fields that still hold what was derived, collections that the run made. What only "
    "the new design holds is counted first, and where there is any, nothing is done without `--discard-new-writes`. "
    "Without `--execute` it says what would go.",
    "A quiet run goes back only if it was made with `--keep-before`.", NULL};
static const struct mrs_cli_example rollback_examples[] = {
    {"mongoreshape-live rollback embed.yaml --uri-file ~/.shop", "what would go?"},
    {"mongoreshape-live rollback embed.yaml --uri-file ~/.shop --execute", "as if nothing had been"},
    {NULL, NULL}};

static const char *const status_text[] = {
    "Says how far a run is: phase, range, documents done of about how many, rate, time left, what holds it back, and "
    "since when derived data may be out of date. Reads only.",
    NULL};
static const struct mrs_cli_example status_examples[] = {
    {"mongoreshape-live status --uri-file ~/.shop --watch", "look on"},
    {"mongoreshape-live status --uri-file ~/.shop --list", "what is there of runs?"},
    {NULL, NULL}};

static const char *const pause_text[] = {"Halts a run between two batches, within a second. It waits until `resume`.",
                                         NULL};
static const struct mrs_cli_example pause_examples[] = {
    {"mongoreshape-live pause embed.yaml --uri-file ~/.shop", "give the server a rest"}, {NULL, NULL}};

static const char *const resume_text[] = {"Lets a run that was paused go on.",
                                          "A run whose process is gone is taken up again by `apply --execute`.", NULL};
static const struct mrs_cli_example resume_examples[] = {
    {"mongoreshape-live resume embed.yaml --uri-file ~/.shop", "go on"}, {NULL, NULL}};

static const char *const throttle_text[] = {
    "Sets how fast a run may go, within a second, while it goes on. What is not given stays as it is; given nothing, "
    "all limits are taken away, and `--max-lag` and `--max-latency` are as without them.", NULL};
static const struct mrs_cli_example throttle_examples[] = {
    {"mongoreshape-live throttle embed.yaml --uri-file ~/.shop --docs 500", "at most 500 documents a second"},
    {"mongoreshape-live throttle embed.yaml --uri-file ~/.shop --hours 22:00-06:00", "at night only"},
    {"mongoreshape-live throttle embed.yaml --uri-file ~/.shop", "as fast as it can"},
    {NULL, NULL}};

static const char *const abort_text[] = {
    "With `--clean --execute` it removes what a run left in the state database; without `--execute` it says what that "
    "is. A run that is half-way through changes that "
    "nobody else could finish or take back is not removed: finish it, or roll it back.",
    "Refused documents are removed only with `--discard-refused`. The new design that an expand added stays; "
    "`rollback` removes it.",
    NULL};
static const struct mrs_cli_example abort_examples[] = {
    {"mongoreshape-live abort embed.yaml --uri-file ~/.shop --clean --execute",
     "leave no trace of a run that is done"},
    {NULL, NULL}};

static const char *const inspect_text[] = {
    "Says what the databases of a server hold, how their collections hang together, and what will hurt: figures of "
    "each collection and path, references with their orphans, rules of thumb that the data break, and with "
    "`--suggest` the plan that mends it. The same as `mongoreshape inspect` says of a dump. It writes nothing, needs "
    "no more than the role `read`, and reads from a secondary where there is one.",
    "Of a collection with more than 100,000 documents it looks at as many, drawn by the server; `--whole` reads all. "
    "What is said of a sample is marked so.",
    NULL};
static const struct mrs_cli_example inspect_examples[] = {
    {"mongoreshape-live inspect --uri mongodb://localhost/shop", "what is there, and what will hurt?"},
    {"mongoreshape-live inspect --uri-file ~/.shop --suggest better.yaml", "and the plan that mends it"},
    {"mongoreshape-live inspect --uri-file ~/.shop --whole --bytes 20M", "exactly, and slowly"},
    {NULL, NULL}};

static const char *const privileges_text[] = {
    "Prints the command that makes the role which `apply`, `verify`, `contract`, `rollback` and `abort` of PLAN need "
    "on this server, and no more: collection by collection, the state database, and of the cluster what ends the work "
    "of a process that died. Give it to whoever administers the server. Reads only.",
    "With `--quiet-by` it is the role of the quiet regime, in which collections may have to be built anew: some "
    "actions then count for a whole database.",
    NULL};
static const struct mrs_cli_example privileges_examples[] = {
    {"mongoreshape-live privileges embed.yaml --uri-file ~/.shop", "the role for a change alongside writers"},
    {"mongoreshape-live privileges embed.yaml --uri-file ~/.shop --quiet-by validator > role.js",
     "for mongosh: load(\"role.js\")"},
    {NULL, NULL}};

static const char *const help_text[] = {
    "Explains the program or one of its commands. The manual page and the shells' completions are "
    "printed by the same table.",
    NULL};
static const struct mrs_cli_example help_examples[] = {
    {"mongoreshape-live help apply", "everything about `apply`"},
    {"mongoreshape-live help --man | man -l -", "the manual"},
    {NULL, NULL}};

static const struct mrs_cli_command commands[] = {
    {"apply", APPLY, "[PLAN]", "[--uri URI] [--execute]", "apply a plan to a running MongoDB", apply_text,
     apply_examples, live_cmd_apply},
    {"verify", VERIFY, "[PLAN]", "[--repair --execute]", "compare the new design with the old, both ways", verify_text,
     verify_examples, live_cmd_verify},
    {"contract", CONTRACT, "[PLAN]", "[--quiet-by HOW] [--execute]", "remove the old design", contract_text,
     contract_examples, live_cmd_contract},
    {"rollback", ROLLBACK, "[PLAN]", "[--execute]", "remove the new design", rollback_text, rollback_examples,
     live_cmd_rollback},
    {"status", STATUS, "[PLAN]", "[--list] [--watch]", "how far a run is", status_text, status_examples,
     live_cmd_status},
    {"pause", PAUSE, "[PLAN]", "", "halt a run between two batches", pause_text, pause_examples, live_cmd_pause},
    {"resume", RESUME, "[PLAN]", "", "let a paused run go on", resume_text, resume_examples, live_cmd_resume},
    {"throttle", THROTTLE, "[PLAN]", "[--docs N] [--max-lag TIME]", "set how fast a run may go",
     throttle_text, throttle_examples, live_cmd_throttle},
    {"abort", ABORT, "[PLAN]", "--clean [--execute]", "remove what a run left in the state database", abort_text,
     abort_examples, live_cmd_abort},
    {"privileges", PRIVILEGES, "[PLAN]", "[--quiet-by HOW]", "print the role that a plan needs", privileges_text,
     privileges_examples, live_cmd_privileges},
    {"inspect", INSPECT, "", "", "say what the data are, how they hang together, and what will hurt", inspect_text,
     inspect_examples, live_cmd_inspect},
    {"help", HELP, "[COMMAND]", "", "explain the program or a command", help_text, help_examples, mrs_cli_help},
    {NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL},
};

static const struct mrs_cli_row exits[] = {
    {"0", "done; of a dry run: it could be done"},
    {"1", "done, but documents were refused; of a dry run of `apply`: some of those tried would be; of `verify`: "
          "something differs"},
    {"2", "wrong usage or a wrong plan, or no such run; nothing was touched"},
    {"3", "damaged data"},
    {"4", "reading or writing failed here"},
    {"5", "a limit was passed, or memory is out"},
    {"6", "the server refused, could not be reached, or is not fit for this plan"},
    {"7", "documents are in the way: more refused than --max-refused, or such as would be lost; nothing more was done"},
    {"128+n", "stopped by signal n at a safe point"},
    {NULL, NULL},
};

static const struct mrs_cli_row signals[] = {
    {NULL, "The first interrupt (Ctrl-C) ends the run behind the batch in hand; its checkpoint stands, and the same "
           "command goes on from there. The second ends the program at once, which is as safe: the checkpoint rules."},
    {NULL, NULL},
};
static const struct mrs_cli_row environment[] = {
    {"\\fBMONGODB_URI\\fR", "the deployment, where neither `--uri` nor `--uri-file` is given."},
    {"\\fBNO_COLOR\\fR", "no colours in messages."},
    {"\\fBTMPDIR\\fR", "where a quiet run puts its temporary copy without `--tmp`."},
    {NULL, NULL},
};
static const struct mrs_cli_row state[] = {
    {NULL, "The state database (`--state-db`) holds the run with its plan (`runs`), who works on which collection "
           "(`leases`), how far (`checkpoints`), documents that were refused (`refused`), and of quiet runs the list "
           "of changes (`changes_` and the first digits of the run). It never holds a password."},
    {NULL, NULL},
};
static const struct mrs_cli_section sections[] = {
    {"SIGNALS", signals}, {"ENVIRONMENT", environment}, {"STATE", state}, {NULL, NULL}};

const struct mrs_cli_tool live_tool = {
    .name = "mongoreshape-live",
    .version = MRS_VERSION,
    .summary = "moves data of a running MongoDB from one schema design to another",
    .purpose = "move data of a running MongoDB from one schema design to another",
    .about = "A plan (a YAML file, the same as for mongoreshape) says how documents go from one design to another. "
             "Alongside writers the new design is added first (apply), compared (verify), and the old one removed when "
             "you say so (contract), or the new one (rollback). With writers kept out (--quiet-by) every plan is done "
             "to its end. Nothing of yours is written without --execute.",
    .sketch = "the usual way:\n"
              "  apply embed.yaml                      # what would be done? writes nothing\n"
              "  apply embed.yaml --execute            # adds the new design, removes nothing\n"
              "  verify embed.yaml --repair --execute  # compares, brings up to date\n"
              "  contract embed.yaml --quiet-by word   # what would it remove? then with --execute\n",
    .start = "\nMONGODB_URI says where the server is, then\n"
             "  mongoreshape-live apply plan.yaml                        # what would be done; writes nothing\n"
             "  mongoreshape-live apply plan.yaml --execute              # the new design beside the old\n"
             "  mongoreshape-live verify plan.yaml --repair --execute    # compares, and brings up to date\n",
    .manual = "A plan, a YAML file, says how documents go from one design to another. This tool applies it to a "
              "running MongoDB, a replica set or a standalone server from version 4.4 on, in batches, with checkpoints "
              "on the server. It can be killed at any time and goes on when it is called again.",
    .options = options,
    .commands = commands,
    .exits = exits,
    .sections = sections,
    .see_also = ".BR mongoreshape (1),\n.BR mongodump (1)",
};
