/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - reports the state of a run, for users and for programs.
 *
 * All facts are gathered into one document first, from the run document, its leases and the last updated checkpoint;
 * text and JSON are two renderings of it, so they cannot differ. Estimates are marked as such: share and time left
 * cover the whole command (course.c), and are omitted if unknown. Only reads, and outputs nothing of the URI. */
#include "ranges.h"
#include "state_io.h"

#include "mongoreshape/ejson.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static bool
begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- facts ---- */
/* Appends the first result of a pipeline over a state collection to out; END: none. */
static enum mrs_status
first_of(struct live_job *job, const struct mrs_coll *coll, const char *template, const char *id, struct mrs_buf *out,
         struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view pipeline;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &pipeline, e, template, id);
    MRS_THEN(s, live_state_list(job, coll, pipeline, out, e));
    mrs_arena_clear(&a);
    return s == MRS_OK && out->n == 0 ? MRS_END : s;
}

struct sources {
    struct mrs_view run, lease, checkpoint; /* empty views: none */
    struct mrs_buf lease_buf, checkpoint_buf;
    bool alive; /* the lease is valid, by the server's clock */
    struct live_ranges_sum ranges; /* of the shared walk */
};

static enum mrs_status
gather(struct live_job *job, struct mrs_view run, struct sources *f, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(run));
    const struct live_run *r = job->run;
    char id[33];
    memset(f, 0, sizeof *f);
    mrs_buf_init(&f->lease_buf, job->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&f->checkpoint_buf, job->mem, 2 * MRS_DOC_READ_MAX);
    f->run = run;
    live_text_at(run, "_id", id, sizeof id);
    enum mrs_status s = first_of(job, &r->state_leases,
                                 "[{$match: {run: %s, owner: {$ne: ''}}}, {$sort: {until: 1}}, {$limit: 1}]",
                                 id, &f->lease_buf, e);
    if (s >= MRS_OK) {
        s = first_of(job, &r->state_checkpoints,
                     "[{$match: {run: %s, done: false, last: {$exists: true}, walk: {$exists: false}, cuts: {$exists: "
                     "false}}}, {$sort: {updated: -1}}, {$limit: "
                     "1}]", id,
                     &f->checkpoint_buf, e);
    }
    int64_t now = INT64_MAX;
    s = s >= MRS_OK && f->lease_buf.n ? live_state_now(job, &now, e) : s;
    f->lease = (struct mrs_view){f->lease_buf.p, (uint32_t)f->lease_buf.n};
    f->checkpoint = (struct mrs_view){f->checkpoint_buf.p, (uint32_t)f->checkpoint_buf.n};
    f->alive = live_date_at(f->lease, "until", 0) >= now;
    s = s >= MRS_OK ? live_ranges_sum(job, id, NULL, &f->ranges, e) : s;
    return s >= MRS_OK ? MRS_OK : s;
}

static void
sources_clear(struct sources *f)
{
    mrs_buf_clear(&f->lease_buf);
    mrs_buf_clear(&f->checkpoint_buf);
}

/* Derived data are as of the last clean verify, else of the beginning; nothing is stale after contract. */
static struct mrs_val
stale_since(struct mrs_view run, const char *phase)
{
    struct mrs_val verified = live_at(run, "verified");
    if (live_phase_over(phase) || begins(phase, "contract")) {
        return mrs_missing();
    }
    return verified.type == MRS_DATE ? verified : live_at(run, "stale_since");
}

/* The command that resumes the run, as advice to the user. */
static void
next_command(const struct live_job *job, struct mrs_view run, bool alive, struct mrs_buf *out)
{
    char id[33], phase[32], mode[16], quiet[16];
    bool paused = live_bool_at(run, "control.pause", false);
    live_text_at(run, "_id", id, sizeof id);
    live_text_at(run, "phase", phase, sizeof phase);
    live_text_at(run, "mode", mode, sizeof mode);
    live_text_at(run, "quiet_by", quiet, sizeof quiet);
    bool by = quiet[0] && strcmp(quiet, "none") != 0, direct = strcmp(mode, "direct") == 0;
    const char *what = "apply", *more = " --execute";
    if (paused) {
        what = "resume";
        more = "";
    } else if (alive) {
        what = "status";
        more = " --watch";
    } else if (live_phase_over(phase)) {
        what = "abort";
        more = " --clean";
    } else if (begins(phase, "contract")) {
        what = "contract";
        more = "";
    } else if (begins(phase, "roll")) {
        what = "rollback";
        more = "";
    } else if (!direct && (begins(phase, "expanded") || begins(phase, "verif"))) {
        const bool verified = live_at(run, "verified").type == MRS_DATE;
        what = verified ? "contract" : "verify";
        more = by                              ? ""
               : !verified                     ? " --repair --execute"
               : live_contracts_alongside(job) ? ""
                                               : " --quiet-by validator";
    }
    bool apply = strcmp(what, "apply") == 0;
    const char *mode_word = apply && direct && !by ? " --mode direct" : "";
    by = by && (apply || strcmp(what, "contract") == 0);
    mrs_buf_printf(out, "mongoreshape-live %s --run %.12s%s", what, id,
                   job->opts.server ? job->opts.server : "");
    if (!job->opts.state_old) {
        mrs_buf_printf(out, " --state-db ");
        mrs_buf_word(out, live_state_db(job));
    }
    mrs_buf_printf(out, "%s%s%s%s", mode_word, by ? " --quiet-by " : "", by ? quiet : "", more);
}

static void
copy_field(struct mrs_build *b, struct mrs_view from, const char *path, const char *name)
{
    mrs_build_val(b, name, (uint32_t)strlen(name), live_at(from, path));
}

/* Copies the knobs; omits empty texts. */
static void
copy_control(struct mrs_build *b, struct mrs_view run)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_build_open(b, "control", 7, MRS_DOCUMENT);
    mrs_walk_init(&w, live_doc_of(live_at(run, "control")));
    while (mrs_walk_next(&w, &el) > 0) {
        if (el.v.type != MRS_STRING || el.v.n > 5) {
            mrs_build_elem(b, &el);
        }
    }
    mrs_build_close(b);
}

/* Progress of the command over all its walks. */
static void
course_facts(struct mrs_build *b, struct mrs_view run, bool alive)
{
    int64_t left = live_int_at(run, "course.left", -1), walks = live_int_at(run, "course.walks", 0);
    if (live_at(run, "course").type != MRS_DOCUMENT) {
        return;
    }
    copy_field(b, run, "course.percent", "percent");
    if (walks > 0) {
        copy_field(b, run, "course.walk", "walk");
        copy_field(b, run, "course.walks", "walks");
    }
    if (alive && left >= 0 && !live_bool_at(run, "control.pause", false)) {
        mrs_build_i64(b, "seconds_left", left);
    }
}

static void
progress_facts(struct mrs_build *b, struct mrs_view run, const char *phase, bool alive)
{
    static const char *const field[] = {"doing", "ns", "done", "estimated", "bytes"};
    bool rests = live_phase_over(phase) || (!alive && strcmp(phase, "expanded") == 0);
    if (rests || live_at(run, "doing").type != MRS_STRING) {
        return;
    }
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        copy_field(b, run, field[i], field[i]);
    }
    course_facts(b, run, alive);
    if (alive) {
        copy_field(b, run, "rate", "docs_per_s");
        copy_field(b, run, "limiting", "limiting");
        copy_field(b, run, "why", "why");
        copy_field(b, run, "speed", "speed");
    }
}

/* Appends the document of facts to out. */
static enum mrs_status
facts(const struct live_job *job, const struct sources *f, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(f->run.n > 0);
    static const char *const field[] = {"name", "file", "db", "mode", "quiet_by", "phase", "group", "refused",
    "started",
                                        "updated", "verified"};
    char phase[32];
    struct mrs_buf next;
    bool alive = f->alive;
    struct mrs_build b;
    struct mrs_view d;
    live_text_at(f->run, "phase", phase, sizeof phase);
    mrs_buf_init(&next, job->mem, 65536);
    next_command(job, f->run, alive, &next);
    mrs_build_init(&b, out);
    copy_field(&b, f->run, "_id", "run");
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        copy_field(&b, f->run, field[i], field[i]);
    }
    copy_control(&b, f->run);
    progress_facts(&b, f->run, phase, alive);
    copy_field(&b, f->checkpoint, "last._id", "position");
    if (f->ranges.all) {
        mrs_build_i64(&b, "ranges", f->ranges.all);
        mrs_build_i64(&b, "ranges_done", f->ranges.done);
        mrs_build_i64(&b, "workers", f->ranges.leased);
    }
    mrs_build_bool(&b, "at_work", alive);
    copy_field(&b, f->lease, "owner", "owner");
    copy_field(&b, f->lease, "since", "owner_since");
    copy_field(&b, f->lease, "until", "lease_until");
    mrs_build_bool(&b, "writers_kept_out", live_at(f->run, "blocked").type == MRS_DOCUMENT);
    mrs_build_val(&b, "stale_since", 11, stale_since(f->run, phase));
    mrs_build_text(&b, "state_db", live_state_db(job), (uint32_t)strlen(live_state_db(job)));
    mrs_build_text(&b, "next", (const char *)next.p, (uint32_t)next.n);
    enum mrs_status s = mrs_buf_status(&next, e);
    mrs_buf_clear(&next);
    return s == MRS_OK ? mrs_build_finish(&b, &d, e) : s;
}

/* ---- text output ---- */
static void
put_date(struct mrs_buf *out, struct mrs_view d, const char *path)
{
    char text[32];
    live_date_text(live_date_at(d, path, 0), text);
    mrs_buf_printf(out, "%s", text);
}

static void
put_label(struct mrs_buf *out, const char *label)
{
    mrs_buf_printf(out, "  %-12s", label);
}

static void
put_text(struct mrs_buf *out, struct mrs_view d, const char *path)
{
    struct mrs_val v = live_at(d, path);
    uint32_t n;
    if (v.type == MRS_STRING) {
        const char *text = mrs_val_text(v, &n);
        for (uint32_t i = 0; i < n; i++) { /* names come from plans: escape control characters of terminals */
            mrs_buf_byte(out, (uint8_t)text[i] < 0x20 || text[i] == 0x7f ? '?' : (uint8_t)text[i]);
        }
    }
}

static void
put_left(struct mrs_buf *out, int64_t s)
{
    if (s < 90) {
        mrs_buf_printf(out, ", about %" PRId64 " s left", s);
    } else if (s < 5400) {
        mrs_buf_printf(out, ", about %" PRId64 " min left", (s + 30) / 60);
    } else {
        mrs_buf_printf(out, ", about %" PRId64 ".%" PRId64 " h left", s / 3600, s % 3600 / 360);
    }
}

static void
put_course(struct mrs_buf *out, struct mrs_view d)
{
    if (live_at(d, "percent").type == MRS_MISSING) {
        return;
    }
    put_label(out, "in all");
    mrs_buf_printf(out, "%" PRId64 " %%", live_int_at(d, "percent", 0));
    if (live_at(d, "seconds_left").type != MRS_MISSING) {
        put_left(out, live_int_at(d, "seconds_left", 0));
    }
    mrs_buf_byte(out, '\n');
}

static void
put_progress(struct mrs_buf *out, struct mrs_view d)
{
    int64_t done = live_int_at(d, "done", 0), estimated = live_int_at(d, "estimated", 0);
    int64_t walks = live_int_at(d, "walks", 0);
    struct mrs_val rate = live_at(d, "docs_per_s");
    if (live_at(d, "doing").type != MRS_STRING) {
        return;
    }
    put_label(out, "working on");
    put_text(out, d, "doing");
    mrs_buf_printf(out, "  ");
    put_text(out, d, "ns");
    if (walks > 0) {
        mrs_buf_printf(out, ", walk %" PRId64 " of %" PRId64, live_int_at(d, "walk", 0), walks);
    }
    mrs_buf_byte(out, '\n');
    put_label(out, "done");
    mrs_buf_printf(out, "%" PRId64, done);
    if (estimated > 0) {
        mrs_buf_printf(out, " of ~%" PRId64, estimated);
    }
    mrs_buf_printf(out, " documents");
    if (rate.type == MRS_DOUBLE) {
        mrs_buf_printf(out, ", %.0f/s", mrs_val_double(rate));
    }
    mrs_buf_byte(out, '\n');
    put_course(out, d);
}

static void
put_position(struct mrs_buf *out, struct mrs_view d)
{
    char picture[96];
    struct mrs_val v = live_at(d, "position");
    if (v.type != MRS_MISSING) {
        put_label(out, "position");
        mrs_buf_printf(out, "before _id %s\n", mrs_val_picture(v, picture, sizeof picture));
    }
}

/* Progress of a shared walk. */
static void
put_ranges(struct mrs_buf *out, struct mrs_view d)
{
    int64_t workers = live_int_at(d, "workers", 0);
    if (live_at(d, "ranges").type != MRS_MISSING) {
        put_label(out, "ranges");
        mrs_buf_printf(out, "%" PRId64 " of %" PRId64 " done, %" PRId64 " worker%s\n", live_int_at(d, "ranges_done", 0),
                       live_int_at(d, "ranges", 0), workers, workers == 1 ? "" : "s");
    }
}

/* Knobs with text values. */
static bool
put_knobs(struct mrs_buf *out, struct mrs_view d)
{
    static const char *const knob[][2] = {{"control.max_lag", "max-lag"},
                                          {"control.max_latency", "max-latency"},
                                          {"control.max_load", "max-load"},
                                          {"control.critical_load", "critical-load"},
                                          {"control.hours", "hours"}};
    bool any = false;
    for (size_t i = 0; i < sizeof knob / sizeof *knob; i++) {
        char text[256];
        live_text_at(d, knob[i][0], text, sizeof text);
        any = any || text[0];
        if (text[0] && out) {
            mrs_buf_printf(out, "; --%s ", knob[i][1]);
            put_text(out, d, knob[i][0]);
        }
    }
    return any;
}

static void
put_limits(struct mrs_buf *out, struct mrs_view d)
{
    int64_t docs = live_int_at(d, "control.docs", 0), bytes = live_int_at(d, "control.bytes", 0),
            sleep = live_int_at(d, "control.sleep", 0);
    bool paused = live_bool_at(d, "control.pause", false);
    char limiting[32];
    live_text_at(d, "limiting", limiting, sizeof limiting);
    if (!paused && !docs && !bytes && !sleep && !limiting[0] && !put_knobs(NULL, d)) {
        return;
    }
    put_label(out, "limited by");
    mrs_buf_printf(out, "%s", paused ? "paused" : limiting[0] ? limiting : "nothing at the moment");
    if (!paused && live_at(d, "why").n > 5) {
        mrs_buf_printf(out, ": ");
        put_text(out, d, "why");
    }
    if (docs) {
        mrs_buf_printf(out, "; at most %" PRId64 " documents/s", docs);
    }
    if (bytes) {
        mrs_buf_printf(out, "; at most %" PRId64 " bytes/s", bytes);
    }
    if (sleep) {
        mrs_buf_printf(out, "; %" PRId64 " ms between batches", sleep);
    }
    put_knobs(out, d);
    mrs_buf_byte(out, '\n');
}

static void
put_owner(struct mrs_buf *out, struct mrs_view d)
{
    put_label(out, "at work");
    if (live_bool_at(d, "at_work", false)) {
        put_text(out, d, "owner");
        mrs_buf_printf(out, ", since ");
        put_date(out, d, "owner_since");
    } else {
        mrs_buf_printf(out, "nobody; last sign of life ");
        put_date(out, d, "updated");
    }
    mrs_buf_byte(out, '\n');
}

static void
put_mode(struct mrs_buf *out, struct mrs_view d)
{
    char quiet[16];
    live_text_at(d, "quiet_by", quiet, sizeof quiet);
    put_label(out, "mode");
    put_text(out, d, "mode");
    if (!quiet[0] || strcmp(quiet, "none") == 0) {
        mrs_buf_printf(out, ", while writers run\n");
    } else {
        mrs_buf_printf(out, ", quiet by %s%s\n", quiet,
                       live_bool_at(d, "writers_kept_out", false) ? "; writers are kept out now" : "");
    }
}

/* All facts of one run. */
static void
put_run(struct mrs_buf *out, struct mrs_view d)
{
    int64_t refused = live_int_at(d, "refused", 0);
    char id[33];
    live_text_at(d, "run", id, sizeof id);
    mrs_buf_printf(out, "run %.12s", id);
    if (live_at(d, "name").n > 5) {
        mrs_buf_printf(out, "  plan \"");
        put_text(out, d, "name");
        mrs_buf_byte(out, '"');
    }
    mrs_buf_byte(out, '\n');
    put_mode(out, d);
    put_label(out, "phase");
    put_text(out, d, "phase");
    mrs_buf_byte(out, '\n');
    put_progress(out, d);
    put_position(out, d);
    put_ranges(out, d);
    put_limits(out, d);
    put_owner(out, d);
    if (refused > 0) {
        put_label(out, "refused");
        mrs_buf_printf(out, "%" PRId64 " document%s, kept in ", refused, refused == 1 ? "" : "s");
        put_text(out, d, "state_db");
        mrs_buf_printf(out, ".refused\n");
    }
    if (live_at(d, "stale_since").type == MRS_DATE) {
        put_label(out, "stale since");
        put_date(out, d, "stale_since");
        mrs_buf_printf(out,
                       ": later changes by writers may be missing in the new schema; `verify --repair --execute` adds "
                       "them\n");
    }
    put_label(out, "next");
    put_text(out, d, "next");
    mrs_buf_byte(out, '\n');
}

/* One line for each run in a list. */
static void
put_line(struct mrs_buf *out, struct mrs_view d)
{
    int64_t refused = live_int_at(d, "refused", 0);
    char id[33], phase[32];
    live_text_at(d, "run", id, sizeof id);
    live_text_at(d, "phase", phase, sizeof phase);
    mrs_buf_printf(out, "%.12s  %-12s %s  ", id, phase, live_bool_at(d, "at_work", false) ? "at work" : "       ");
    put_date(out, d, "updated");
    mrs_buf_printf(out, "  ");
    put_text(out, d, "name");
    if (refused > 0) {
        mrs_buf_printf(out, "  (%" PRId64 " refused)", refused);
    }
    mrs_buf_byte(out, '\n');
}

/* ---- interface ---- */
/* Renders the facts of one run. */
static enum mrs_status
one(struct live_job *job, struct mrs_view run, bool json, void (*put)(struct mrs_buf *out, struct mrs_view d),
    struct mrs_buf *out, struct mrs_err *e)
{
    struct sources f;
    struct mrs_buf buf;
    mrs_buf_init(&buf, job->mem, 4 * MRS_DOC_READ_MAX);
    enum mrs_status s = gather(job, run, &f, e);
    MRS_THEN(s, facts(job, &f, &buf, e));
    if (s == MRS_OK) {
        struct mrs_view d = {buf.p, (uint32_t)buf.n};
        if (json) {
            mrs_ejson_write(d, false, out);
        } else {
            put(out, d);
        }
        s = mrs_buf_status(out, e);
    }
    sources_clear(&f);
    mrs_buf_clear(&buf);
    return s;
}

static enum mrs_status
every(struct live_job *job, bool json, struct mrs_buf *out, struct mrs_err *e)
{
    struct mrs_buf docs;
    struct mrs_view d;
    char id[33];
    bool any = false;
    mrs_buf_init(&docs, job->mem, 256u << 20);
    enum mrs_status s = first_of(job, &job->run->state_runs,
                                 "[{$match: {_id: {$gte: %s}}}, {$project: {plan: 0, canonical: 0, history: 0}}, "
                                 "{$sort: {started: 1}}]",
                                 "", &docs, e);
    if (json) {
        mrs_buf_printf(out, "{\"runs\":[");
    }
    for (size_t at = 0; s == MRS_OK && live_state_next(&docs, &at, &d);) {
        live_text_at(d, "_id", id, sizeof id);
        if (!live_run_is_id(id)) {
            continue; /* others wrote it, or it is damaged */
        }
        if (json && any) {
            mrs_buf_byte(out, ',');
        }
        s = one(job, d, json, put_line, out, e);
        any = true;
    }
    if (json) {
        mrs_buf_printf(out, "]}");
    } else if (s == MRS_END) {
        mrs_buf_printf(out, "no runs in the state database %s\n", live_state_db(job));
    }
    mrs_buf_clear(&docs);
    return s >= MRS_OK ? mrs_buf_status(out, e) : s;
}

enum mrs_status
live_status_text(struct live_job *job, bool json, bool list, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(list || job->run);
    if (!list) {
        enum mrs_status s = live_run_load(job, e);
        if (s == MRS_END) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "run %s is not there any more", job->run->short_id);
        }
        return s == MRS_OK ? one(job, live_run_doc(job->run), json, put_run, out, e) : s;
    }
    struct live_run *kept = job->run; /* any run: it holds the names of the state collections */
    job->run = NULL;
    enum mrs_status s = live_run_new(job, "0", e);
    MRS_THEN(s, every(job, json, out, e));
    live_run_close(job);
    job->run = kept;
    return s;
}
