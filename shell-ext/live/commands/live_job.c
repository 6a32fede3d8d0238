/* SPDX-License-Identifier: Apache-2.0 */
/* live_job.c - from the command line to an open job: options, URI, plan, server, run; and its end.
 *
 * The plan is read first, since its errors need no server. A resumed run takes its plan's time, its mode and its way of
 * stopping writers from the run document, never from the clock or the line. The URI on the command line is overwritten
 * as soon as it is copied, and only its masked form is ever printed. */
#include "live_job.h"

#include "live/link/bson.h"
#include "mongoreshape/clock.h"
#include "live/server/server.h"
#include "mongoreshape/catalogue.h"

#include <errno.h>

/* ---- command line ---- */
static enum live_quiet
quiet_of(const char *word)
{
    return !word || !*word                   ? LIVE_NOT_QUIET
           : strcmp(word, "block") == 0      ? LIVE_BY_BLOCK
           : strcmp(word, "validator") == 0  ? LIVE_BY_VALIDATOR
                                             : LIVE_BY_WORD;
}

/* The server's own databases cannot hold state: transactions cannot write to them, and `local` is not replicated. */
static int
database_misuse(const struct live_cli *cli)
{
    static const char *const own[] = {"admin", "config", "local"};
    const struct {
        const char *option, *name;
    } names[] = {{"db", cli->db}, {"state-db", cli->state_db}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i].name;
        const char *wrong = name ? mrs_db_wrong(name, strlen(name)) : NULL;
        if (wrong) {
            return mrs_cli_misuse(&cli->line, "--%s must be the name of a database: %s", names[i].option, wrong);
        }
    }
    for (size_t i = 0; cli->state_db && i < sizeof own / sizeof *own; i++) {
        if (strcmp(cli->state_db, own[i]) == 0) {
            return mrs_cli_misuse(&cli->line, "--state-db %s is a database of the server itself: choose another name",
                                  own[i]);
        }
    }
    return 0;
}

static int
misuse(const struct live_cli *cli)
{
    const struct mrs_cli *line = &cli->line;
    if (line->operand && strstr(line->operand, "://")) {
        return mrs_cli_misuse(line, "PLAN is a file; a URI is given with --uri, --uri-file or MONGODB_URI");
    }
    if (line->operand && cli->run) {
        return mrs_cli_misuse(line, "PLAN and --run both name a run: give one of them");
    }
    if (cli->uri && cli->uri_file) {
        return mrs_cli_misuse(line, "--uri and --uri-file both name a deployment: give one of them");
    }
    if (mrs_cli_given(line, "memory") && cli->memory < (uint64_t)64 << 20) {
        return mrs_cli_misuse(line, "--memory must be at least 64M");
    }
    if (mrs_cli_given(line, "passes") && (cli->passes == 0 || cli->passes > 1000)) {
        return mrs_cli_misuse(line, "--passes must be 1 to 1000");
    }
    if (mrs_cli_given(line, "lease") && (cli->lease < 1000 || cli->lease > 3600000)) {
        return mrs_cli_misuse(line, "--lease must be 1000 to 3600000 (milliseconds)");
    }
    if (cli->quiet_by && cli->mode && strcmp(cli->mode, "expand") == 0) {
        return mrs_cli_misuse(line, "--mode expand is for live writers: with --quiet-by the whole change is made");
    }
    if (cli->keep_before && !cli->quiet_by) {
        return mrs_cli_misuse(line, "--keep-before saves what a quiet run changes: it needs --quiet-by");
    }
    if (cli->engine && strcmp(cli->engine, "pipeline") == 0 &&
        (cli->quiet_by || (cli->mode && strcmp(cli->mode, "direct") == 0))) {
        return mrs_cli_misuse(line, "--engine pipeline adds the new schema next to the old (--mode expand): it "
                                    "excludes --quiet-by and --mode direct");
    }
    if (mrs_cli_given(line, "workers") && (cli->workers == 0 || cli->workers > LIVE_WORKERS_MAX)) {
        return mrs_cli_misuse(line, "--workers must be 1 to %d", LIVE_WORKERS_MAX);
    }
    if (cli->workers > 1 && (cli->quiet_by || (cli->mode && strcmp(cli->mode, "direct") == 0))) {
        return mrs_cli_misuse(line, "--workers shares the first walk of --mode expand: with --quiet-by and with --mode "
                                    "direct one process does all");
    }
    if (cli->worker && live_call_worker_misuse(cli)) {
        return mrs_cli_misuse(line, "%s", live_call_worker_misuse(cli));
    }
    if (cli->metrics && live_metrics_wrong(cli->metrics)) {
        return mrs_cli_misuse(line, "--metrics must be %s", live_metrics_wrong(cli->metrics));
    }
    int status = database_misuse(cli);
    return status ? status : live_call_knobs_misuse(cli);
}

static void
options(struct live_call *c)
{
    const struct live_cli *cli = c->cli;
    struct live_opts *o = &c->job.opts;
    o->db = c->db;
    o->state_db = cli->state_db ? cli->state_db : LIVE_STATE_DB;
    o->state_old = cli->state_db ? NULL : LIVE_STATE_DB_OLD;
    o->quiet = quiet_of(cli->quiet_by);
    o->mode = o->quiet != LIVE_NOT_QUIET || (cli->mode && strcmp(cli->mode, "direct") == 0) ? LIVE_DIRECT : LIVE_EXPAND;
    o->native = cli->engine && strcmp(cli->engine, "pipeline") == 0;
    o->batch = (uint32_t)cli->batch;
    o->memory = cli->memory ? cli->memory : (uint64_t)256 << 20;
    o->max_refused = cli->max_refused;
    o->passes = (uint32_t)cli->passes;
    o->tmp = cli->tmp;
    o->execute = cli->execute;
    o->dry_run = !cli->execute;
    o->allow_scan = cli->allow_scan;
    o->allow_ttl = cli->allow_ttl;
    o->no_transactions = cli->no_transactions;
    o->keep_before = cli->keep_before;
    o->repair = cli->repair;
    o->discard_new_writes = cli->discard_new_writes;
    o->discard_refused = cli->discard_refused;
    o->discard_changes = cli->discard_changes;
    o->lease_ms = (int64_t)cli->lease;
}

/* Copies the URI and overwrites the arguments that contain it. */
static enum mrs_status
take_uri(struct live_call *c)
{
    struct live_cli *cli = c->cli;
    enum mrs_status s = live_uri_find(&c->arena, cli->uri, cli->uri_file, &c->uri, &c->err);
    if (cli->uri) {
        memset((char *)(uintptr_t)cli->uri, '*', strlen(cli->uri));
    }
    size_t room = s == MRS_OK ? 3 * strlen(c->uri) + 64 : 0;
    char *shown = s == MRS_OK ? mrs_arena_alloc(&c->arena, room) : NULL;
    if (s == MRS_OK && !shown) {
        return mrs_err_memory(&c->err, room);
    }
    if (s == MRS_OK) {
        live_uri_mask(c->uri, shown, room);
        c->shown = shown;
        s = live_uri_database(c->uri, c->db, &c->err);
    }
    if (s == MRS_OK && cli->db) {
        memcpy(c->db, cli->db, strlen(cli->db) + 1); /* database_misuse() knows its length */
    }
    return s;
}

/* ---- callbacks of the engines ---- */
/* Share and time left: of the whole command, if known. */
static void
how_far(const struct live_call *c, const struct live_progress *p, char out[80])
{
    char left[40];
    if (p->course) {
        snprintf(out, 80, ", %u %% in all%s", p->percent, mrs_cli_time_left(p->seconds_left, left));
    } else {
        snprintf(out, 80, "%s", mrs_cli_progress_left(&c->progress, p->done, p->estimated, left));
    }
}

static void
print_progress(void *arg, const struct live_progress *p)
{
    struct live_call *c = arg;
    char done[32], total[32], rate[32], eta[80], line[512], walk[40] = "";
    if (!mrs_cli_progress_due(&c->progress, p->done)) {
        return;
    }
    bool limited = p->limiting && *p->limiting, reason = limited && p->why && *p->why;
    if (p->walks) {
        snprintf(walk, sizeof walk, ", walk %u of %u", p->walk, p->walks);
    }
    how_far(c, p, eta);
    snprintf(line, sizeof line, "%.80s%s%.120s%s  %s%s%s documents  %s/s%s%s%s%s%s%s", p->phase ? p->phase : "",
             p->ns && *p->ns ? "  " : "", p->ns ? p->ns : "", walk, mrs_text_count(p->done, done),
             p->estimated ? " of ~" : "", p->estimated ? mrs_text_count(p->estimated, total) : "",
             mrs_text_count((uint64_t)(p->docs_per_s > 0 ? p->docs_per_s : c->progress.rate), rate),
             eta, limited ? "  [" : "", limited ? p->limiting : "", reason ? ": " : "", reason ? p->why : "",
             limited ? "]" : "");
    mrs_cli_progress_draw(&c->progress, line);
}

static void
print_line(void *arg, const char *line)
{
    struct live_call *c = arg;
    if (!c->cli->json) {
        mrs_cli_progress_end(&c->progress);
        mrs_say(stdout, "%s\n", line);
        fflush(stdout);
        return;
    }
    const char **more = mrs_more(c->job.mem, c->lines, c->n_lines, &c->cap_lines, sizeof *more);
    if (!more) {
        return;
    }
    c->lines = more;
    char *copy = mrs_arena_copy(&c->arena, line, strlen(line) + 1);
    if (copy) {
        c->lines[c->n_lines++] = copy;
    }
}

/* ---- the plan ---- */
static enum mrs_status
load(struct live_call *c, int64_t now_ms)
{
    MRS_ASSERT(c->text);
    struct mrs_plan_opts opts = {.file = c->file, .default_db = *c->db ? c->db : NULL, .now_ms = now_ms};
    uint8_t drawn[MRS_SECRET] = {0};
    mrs_plan_free(c->job.plan);
    c->job.plan = NULL;
    if (!mrs_random(drawn, sizeof drawn)) {
        return mrs_err_sys(&c->err, errno, "random bytes of the system");
    }
    mrs_secret_expand(&c->job.secret, drawn);
    return mrs_plan_load(c->job.mem, c->text, c->text_n, &opts, &c->job.plan, &c->err);
}

/* --db says where to work, and the plan says something else. With --json it is the current database of a shell. */
static enum mrs_status
same_database(struct live_call *c)
{
    MRS_ASSERT(c->job.plan);
    const char *db = c->cli->db, *own = c->job.plan->database;
    return !db || c->cli->json || !*own || strcmp(db, own) == 0
               ? MRS_OK
               : mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE,
                             "--db %s: the plan names the database %s; leave one of the two out", db, own);
}

/* s: of the URI; a file that cannot be read is reported before a server that is not named. */
static enum mrs_status
read_plan(struct live_call *c, enum mrs_status s)
{
    const struct live_cli *cli = c->cli;
    struct mrs_err why;
    mrs_err_clear(&why);
    c->file = cli->line.operand;
    enum mrs_status got = mrs_file_read(c->job.mem, c->file, (size_t)MRS_PLAN_BYTES_MAX + 1, &c->text, &c->text_n,
                                        &why);
    if (got != MRS_OK) {
        c->err = why;
        return got;
    }
    MRS_THEN(s, load(c, mrs_cli_given(&cli->line, "now") ? cli->now_ms : mrs_clock_wall()));
    MRS_THEN(s, same_database(c));
    return s;
}

static void
report_plan(const struct live_call *c)
{
    const struct mrs_plan *p = c->job.plan;
    for (uint32_t i = 0; i < p->n_errors + p->n_warnings; i++) {
        mrs_cli_report_at(p->file, p->errors[i].line, p->errors[i].col, p->errors[i].warning, p->errors[i].msg);
    }
    if (p->n_errors && c->starred) {
        mrs_say(stderr, "%s: names with stars match the collections that exist now; for a run that has changed some "
                        "give --run ID\n", c->cli->line.tool->name);
    } else if (p->n_errors && !*p->database && !*c->db) {
        mrs_say(stderr, "%s: neither --db nor the URI names a database\n", c->cli->line.tool->name);
    }
}

bool
live_call_begin(struct live_call *c, struct live_cli *cli, int *status)
{
    MRS_ASSERT(cli->line.mem && status);
    memset(c, 0, sizeof *c);
    mrs_err_clear(&c->err);
    c->cli = cli;
    c->job.mem = cli->line.mem;
    c->job.progress = print_progress;
    c->job.print_line = print_line;
    c->job.arg = c;
    c->job.cancel = mrs_signals_flag();
    c->job.command = cli->line.command->name;
    c->begun_ms = mrs_clock_steady();
    mrs_arena_init(&c->arena, c->job.mem);
    c->report.arena = &c->arena;
    live_workers_of(&c->processes, c);
    *status = misuse(cli);
    if (*status) {
        return false;
    }
    mrs_cli_progress_begin(&c->progress, cli->progress, cli->json);
    enum mrs_status s = take_uri(c);
    options(c);
    if (s == MRS_OK) {
        live_call_name_server(c);
    }
    if (cli->line.operand) {
        s = read_plan(c, s);
    }
    if (s != MRS_OK) {
        *status = live_call_end(c, s, 0);
        return false;
    }
    return true;
}

/* ---- the run ---- */
/* Copies fields of the run document; also the plan, if --run named it. */
static enum mrs_status
remember(struct live_call *c)
{
    MRS_ASSERT(c->job.run);
    struct mrs_view doc = {c->job.run->doc.p, (uint32_t)c->job.run->doc.n};
    char word[32];
    c->known = true;
    memcpy(c->run, c->job.run->id, sizeof c->run);
    live_text_at(doc, "phase", c->phase, sizeof c->phase);
    live_text_at(doc, "quiet_by", word, sizeof word);
    c->quiet = strcmp(word, "none") == 0 ? LIVE_NOT_QUIET : quiet_of(word);
    live_text_at(doc, "mode", word, sizeof word);
    c->mode = strcmp(word, "direct") == 0 ? LIVE_DIRECT : LIVE_EXPAND;
    if (c->job.plan) {
        return MRS_OK;
    }
    struct mrs_val v = live_at(doc, "plan");
    if (v.type != MRS_STRING) {
        return mrs_err_set(&c->err, MRS_FAIL, MRS_E_MISSING, "run %s does not hold its plan", c->run);
    }
    uint32_t n = 0;
    const char *text = mrs_val_text(v, &n);
    c->text = mrs_strndup(c->job.mem, text, n);
    c->text_n = n;
    c->file = "(plan of the run)";
    live_text_at(doc, "db", c->db, sizeof c->db);
    return c->text ? load(c, mrs_val_i64(live_at(doc, "now"))) : mrs_err_memory(&c->err, n);
}

/* If the user may not read the state, there is no run for `apply` to resume: all missing privileges are reported later,
 * at once. */
static bool
read_denied(const struct live_call *c)
{
    struct mrs_arena a;
    struct mrs_view cmd;
    struct live_fault f = {.code = 0};
    mrs_arena_init(&a, c->job.mem);
    bool denied = strcmp(c->cli->line.command->name, "apply") == 0 && c->job.plan &&
                  live_doc_in(&a, &cmd, NULL, "{find: 'runs', limit: 1}") == MRS_OK &&
                  live_command(c->job.link, c->job.opts.state_db, cmd, 0, NULL, &f, NULL) == MRS_FAIL && f.code == 13;
    mrs_arena_clear(&a);
    return denied;
}

static enum mrs_status
find(struct live_call *c)
{
    char id[33];
    const char *run_id = c->cli->run;
    if (c->job.plan && c->job.plan->stars) {
        return mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE, "%s: names with stars match the collections that exist when "
                                                           "the run begins; give --run ID (`status` lists the "
                                                           "runs)", c->file);
    }
    if (c->job.plan) {
        mrs_plan_id_text(c->job.plan, id);
        run_id = id;
    }
    enum mrs_status s = live_run_find(&c->job, run_id, &c->err);
    if (s == MRS_END || (s == MRS_FAIL && (c->err.code == MRS_E_MISSING ||
                                           (c->err.code == MRS_E_SERVER && read_denied(c))))) {
        return MRS_END;
    }
    return s == MRS_OK ? remember(c) : s;
}

enum mrs_status
live_call_connect(struct live_call *c)
{
    if (c->job.link) {
        return MRS_OK;
    }
    enum mrs_status s = live_link_open(c->job.mem, c->uri, c->job.opts.state_db, &c->job.link, &c->err);
    if (s == MRS_OK) {
        live_link_dry_run(c->job.link, c->job.opts.dry_run);
        s = live_state_place(&c->job, &c->err);
    }
    return s;
}

enum mrs_status
live_call_find(struct live_call *c)
{
    enum mrs_status s = live_call_connect(c);
    return s == MRS_OK ? find(c) : s;
}

enum mrs_status
live_call_find_run(struct live_call *c)
{
    enum mrs_status s = live_call_find(c);
    if (s == MRS_END) {
        mrs_err_clear(&c->err);
        s = mrs_err_set(&c->err, MRS_FAIL, MRS_E_MISSING,
                        "there is no such run in `%s`; `status --list` lists the runs", c->job.opts.state_db);
    }
    return s;
}

/* ---- databases ---- */
struct names { /* the list is in the arena of the call */
    const char **at;
    uint32_t n, cap;
};

static enum mrs_status
add_name(struct live_call *c, const char *name, struct names *to)
{
    MRS_ASSERT(to->n <= to->cap);
    for (uint32_t i = 0; i < to->n; i++) {
        if (strcmp(to->at[i], name) == 0) {
            return MRS_OK;
        }
    }
    const char **more = mrs_arena_more(&c->arena, to->at, to->n, &to->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, &c->err));
    to->at = more;
    to->at[to->n++] = name;
    return MRS_OK;
}

/* Names of the databases of the plan. */
static enum mrs_status
databases(struct live_call *c, struct names *out)
{
    MRS_ASSERT(c->job.plan);
    const struct mrs_plan *p = c->job.plan;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct mrs_desc *d = &p->steps[i].desc;
        for (uint32_t k = 0; s == MRS_OK && k < d->n_sides; k++) {
            s = add_name(c, d->sides[k].coll.db, out);
        }
    }
    return s;
}

/* The state database, which no star matches. */
static bool
is_state(const struct live_call *c, const char *db)
{
    const struct live_opts *o = &c->job.opts;
    return strcmp(db, o->state_db) == 0 || (o->state_old && strcmp(db, o->state_old) == 0);
}

/* The same, with names that contain a star replaced by matching databases. */
static enum mrs_status
databases_that_fit(struct live_call *c, struct names *out)
{
    struct names written = {.n = 0};
    const char **all = NULL;
    uint32_t n_all = 0;
    enum mrs_status s = databases(c, &written);
    for (uint32_t i = 0; s == MRS_OK && i < written.n; i++) {
        if (!strchr(written.at[i], '*')) {
            s = add_name(c, written.at[i], out);
            continue;
        }
        s = c->job.listed ? MRS_OK
                          : live_server_databases(c->job.mem, c->job.link, &c->arena, &all, &n_all, &c->err);
        c->job.listed = true;
        for (uint32_t k = 0; s == MRS_OK && k < n_all; k++) {
            bool fits = mrs_star_fits(written.at[i], all[k]) && !is_state(c, all[k]);
            s = fits ? add_name(c, all[k], out) : MRS_OK;
        }
    }
    return s;
}

static enum mrs_status
check(struct live_call *c)
{
    MRS_ASSERT(c->job.plan && c->job.server);
    struct mrs_catalog *cat = NULL;
    enum mrs_status s = live_server_catalog(c->job.mem, c->job.server, &cat, &c->err);
    MRS_THEN(s, mrs_plan_check(c->job.plan, cat, &c->err));
    mrs_catalog_free(cat);
    return s;
}

/* A resumed run has its original mode and time. */
static enum mrs_status
resume(struct live_call *c)
{
    struct live_opts *o = &c->job.opts;
    int64_t now = 0;
    if (strcmp(c->cli->line.command->name, "apply") == 0) {
        if ((c->cli->mode && o->mode != c->mode) || (c->cli->quiet_by && o->quiet != c->quiet)) {
            return mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE,
                               "run %.12s of this plan was begun with another mode (%s) and keeps it: repeat the "
                               "command without --mode and --quiet-by, or end the run first (`rollback`, then "
                               "`abort --clean`)", c->run, live_report_mode(c));
        }
        o->quiet = c->quiet;
    }
    o->mode = c->mode;
    live_run_allowed(&c->job);
    live_run_close(&c->job);
    enum mrs_status s = live_run_moment(&c->job, &now, &c->err);
    return s == MRS_OK && now != c->job.plan->now_ms ? load(c, now) : s == MRS_END ? MRS_OK : s;
}

/* Through a mongos the cluster does the work by its own pipelines, and this program only observes. */
static bool
works_sharded(const struct live_call *c)
{
    const char *name = c->cli->line.command->name;
    const struct live_opts *o = &c->job.opts;
    return (strcmp(name, "apply") == 0 && o->native && o->mode == LIVE_EXPAND && o->quiet == LIVE_NOT_QUIET) ||
           (strcmp(name, "verify") == 0 && !o->repair);
}

/* Replaces the plan by the one with expanded names. */
static enum mrs_status
load_fitted(struct live_call *c)
{
    struct mrs_buf text;
    mrs_buf_init(&text, c->job.mem, MRS_PLAN_BYTES_MAX);
    enum mrs_status s = mrs_plan_fitted(c->job.plan, &text, &c->err);
    char *own = s == MRS_OK ? mrs_strndup(c->job.mem, (const char *)text.p, text.n) : NULL;
    if (s == MRS_OK && !own) {
        s = mrs_err_memory(&c->err, text.n);
    }
    if (own) {
        mrs_free(c->job.mem, c->text);
        c->text = own;
        c->text_n = text.n;
        s = load(c, c->job.plan->now_ms);
    }
    mrs_buf_clear(&text);
    return s;
}

/* Names with stars expand to the present collections, and the run is that of the expanded plan. After collections were
 * added or dropped the plan differs: then the run is found by its id. */
static enum mrs_status
fit_stars(struct live_call *c)
{
    struct names db = {.n = 0};
    struct live_server *server = NULL;
    struct mrs_catalog *cat = NULL;
    if (!c->job.plan || !c->job.plan->stars) {
        return MRS_OK;
    }
    c->starred = true;
    enum mrs_status s = live_call_connect(c);
    MRS_THEN(s, databases_that_fit(c, &db));
    MRS_THEN(s, live_server_read(c->job.mem, c->job.link, db.at, db.n, &server, &c->err));
    MRS_THEN(s, live_server_catalog(c->job.mem, server, &cat, &c->err));
    MRS_THEN(s, mrs_plan_fit(c->job.plan, cat, NULL, &c->err));
    mrs_catalog_free(cat);
    live_server_free(server);
    return s == MRS_OK ? load_fitted(c) : s;
}

/* --metrics, except for a dry run of `apply`, which has no work to measure. */
static enum mrs_status
open_metrics(struct live_call *c)
{
    const char *where = c->cli->metrics;
    if (!where || (!c->cli->execute && strcmp(c->cli->line.command->name, "apply") == 0)) {
        return MRS_OK;
    }
    enum mrs_status s = live_metrics_open(c->job.mem, where, &c->job.metrics, &c->err);
    MRS_THEN(s, live_run_publish(&c->job, NULL, &c->err));
    if (s != MRS_OK) {
        live_metrics_close(c->job.metrics);
        c->job.metrics = NULL;
    } else if (live_metrics_url(c->job.metrics)) {
        char line[128];
        snprintf(line, sizeof line, "metrics: %s", live_metrics_url(c->job.metrics));
        c->job.print_line(c, line);
    }
    return s;
}

enum mrs_status
live_call_open(struct live_call *c)
{
    struct names db = {.n = 0};
    enum mrs_status s = open_metrics(c);
    MRS_THEN(s, fit_stars(c));
    MRS_THEN(s, live_call_find(c));
    if (s == MRS_END && !c->job.plan) {
        return mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE, "%s", c->cli->run ? "there is no such run"
                                                                 : "PLAN is missing, or --run ID");
    }
    if (s == MRS_END) {
        mrs_err_clear(&c->err);
        s = MRS_OK;
    } else if (s == MRS_OK) {
        s = resume(c);
    }
    MRS_THEN(s, databases(c, &db));
    MRS_THEN(s, live_server_read(c->job.mem, c->job.link, db.at, db.n, &c->job.server, &c->err));
    if (s == MRS_OK && c->job.server->sharded && !works_sharded(c)) {
        s = mrs_err_set(&c->err, MRS_FAIL, MRS_E_SERVER,
                        "the server is a mongos: only `apply --engine pipeline`, and `verify` without --repair, work "
                        "through one; else dump the collections and use `mongoreshape run`");
    }
    if (s == MRS_OK && !c->known) {
        s = check(c);
    }
    if (s == MRS_OK && !c->cli->json) {
        report_plan(c);
    }
    if (s == MRS_OK) {
        s = mrs_live_judge(c->job.plan, &c->arena, &c->live, &c->err);
        c->job.live = &c->live;
    }
    return s;
}

enum mrs_status
live_call_no_run(struct live_call *c, const char *so)
{
    MRS_ASSERT(!c->known && so);
    return mrs_err_set(&c->err, MRS_FAIL, MRS_E_MISSING, "no run of this plan: %s%s", so,
                       c->starred ? "; its names with stars may match other collections than when a run of it began: "
                                    "`status --list` lists the runs, `--run ID` selects one" : "");
}

enum mrs_status
live_call_run(struct live_call *c, bool create)
{
    MRS_ASSERT(c->job.plan && c->job.server);
    enum mrs_status s = live_call_knobs_check(c);
    MRS_THEN(s, live_run_open(&c->job, create, c->text, c->text_n, &c->err));
    return s == MRS_OK ? live_call_knobs_set(c) : s;
}

enum mrs_status
live_call_would_open(struct live_call *c)
{
    MRS_ASSERT(c->job.plan && c->job.server && !c->job.run);
    enum mrs_status s = live_run_would_open(&c->job, &c->err);
    if (s == MRS_FAIL && c->err.code == MRS_E_SERVER && !c->known && read_denied(c)) {
        mrs_err_clear(&c->err); /* the missing privilege is among the findings */
        s = MRS_OK;
    }
    return s;
}

enum mrs_status
live_call_admit(struct live_call *c)
{
    MRS_ASSERT(c->job.plan);
    const struct live_opts *o = &c->job.opts;
    bool direct = o->mode == LIVE_DIRECT;
    if (o->quiet != LIVE_NOT_QUIET || (direct ? c->live.direct : c->live.expand)) {
        return MRS_OK;
    }
    const char *why = direct ? c->live.direct_why : c->live.expand_why;
    return mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE,
                       "this plan cannot be applied %swhile writers run%s%s; or stop the writers with --quiet-by "
                       "validator, block or word",
                       direct ? "in place (--mode direct) " : "", why ? ": " : "", why ? why : "");
}

enum mrs_status
live_call_preflight(struct live_call *c, const char *command)
{
    MRS_ASSERT(c->job.server && command);
    c->preflighted = true;
    bool dry = strcmp(command, "apply") == 0 && !c->cli->execute; /* its findings are in the outlook */
    enum live_quiet quiet = c->job.opts.quiet;
    if (c->known && c->quiet != LIVE_NOT_QUIET) {
        c->job.opts.quiet = c->quiet; /* commands on a quiet run derive nothing */
    }
    enum mrs_status s = live_preflight(&c->job, command, &c->preflight, &c->err);
    c->job.opts.quiet = quiet;
    if (s == MRS_OK && !dry && !c->cli->json) {
        live_report_findings(c);
    }
    if (s == MRS_OK && c->preflight.n_refuse) {
        s = mrs_err_set(&c->err, MRS_FAIL, MRS_E_SERVER, "%u problem%s must be corrected first; nothing was written",
                        c->preflight.n_refuse, c->preflight.n_refuse == 1 ? "" : "s");
    }
    return s;
}

/* ---- end ---- */
static void
report_end(const struct live_call *c)
{
    if (c->err.code == MRS_E_PLAN && c->job.plan && c->job.plan->n_errors) {
        report_plan(c);
    } else {
        mrs_cli_report(&c->cli->line, &c->err);
    }
}

static int
exit_status(const struct live_call *c)
{
    int number = mrs_signals_number();
    enum mrs_code code = c->err.code;
    if (code == MRS_E_REFUSED) {
        code = MRS_E_TOO_MANY; /* refused documents prevent the command: not a partial result, which status 1 would
                                * mean */
    }
    return code == MRS_E_CANCEL && number ? 128 + number : mrs_code_exit(code);
}

/* Writes the last figures. */
static void
close_metrics(struct live_call *c, int status)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    if (c->job.metrics && live_run_publish(&c->job, &status, &e) != MRS_OK) {
        mrs_cli_report(&c->cli->line, &e);
    }
    live_metrics_close(c->job.metrics);
    c->job.metrics = NULL;
}

/* A command that ended early may leave writers blocked. */
static void
report_blocked_writers(struct live_call *c)
{
    char by[16];
    struct mrs_val v = live_at(live_run_doc(c->job.run), "blocked.by");
    live_text_at(live_run_doc(c->job.run), "blocked.by", by, sizeof by);
    if (v.type == MRS_STRING && strcmp(by, "word") != 0) {
        char line[128];
        snprintf(line, sizeof line,
                 "note: writers are still kept out (--quiet-by %s) until this run is resumed and ends", by);
        print_line(c, line);
    }
}

int
live_call_end(struct live_call *c, enum mrs_status s, int status)
{
    MRS_ASSERT(status >= 0);
    mrs_cli_progress_end(&c->progress);
    if (c->job.run && s != MRS_OK) {
        report_blocked_writers(c);
    }
    if (c->job.run) {
        memcpy(c->run, c->job.run->id, sizeof c->run);
        memcpy(c->phase, c->job.run->phase, sizeof c->phase);
    }
    if (s != MRS_OK) {
        status = exit_status(c);
    }
    close_metrics(c, status);
    live_workers_end(&c->processes);
    live_run_close(&c->job);
    if (c->cli->json) {
        live_report_json(c, status);
    } else {
        if (c->worked) {
            live_report_pass(c);
        }
        if (s != MRS_OK) {
            fflush(stdout);
            report_end(c);
        }
        if (c->next) {
            mrs_say(stdout, "next:\n  %s\n", c->next);
        }
    }
    if (c->preflighted) {
        live_preflight_clear(&c->preflight);
    }
    live_server_free(c->job.server);
    live_link_close(c->job.link);
    mrs_plan_free(c->job.plan);
    mrs_free(c->job.mem, c->text);
    mrs_free(c->job.mem, c->lines);
    live_call_hook(c, status);
    mrs_arena_clear(&c->arena);
    return status;
}
