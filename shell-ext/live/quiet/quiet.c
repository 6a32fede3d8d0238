/* SPDX-License-Identifier: Apache-2.0 */
/* quiet.c - a quiet run from start to end: block writers, read, derive, list changes, apply, unblock.
 *
 * Until the run document says that the list is sealed, user data are unchanged, and after any error the run can unblock
 * the writers and start over. From then on only the list counts: it is executed to its end, by any process, and nothing
 * is derived again. The plan is applied by the same engine as for dumps, so the result is that of the offline tool. */
#include "live/link/bson.h"
#include "mongoreshape/ejson.h"
#include "live/server/preflight.h"
#include "quiet.h"
#include "live/state/state_io.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- temporary files ---- */
static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path) != 0 && errno != ENOENT;
}

void
live_folder_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *
path_in(struct live_quiet_run *q, const char *name)
{
    MRS_ASSERT(q->dir[0]);
    size_t n = strlen(q->dir) + strlen(name) + 2;
    char *p = mrs_arena_alloc(&q->arena, n);
    if (p) {
        snprintf(p, n, "%s/%s", q->dir, name);
    }
    return p;
}

/* Removes folders of a dead owner of this run. One plan may run against several servers from one machine: a folder that
 * a process holds, or may hold, stays. */
static void
remove_old(const char *tmp, const char *run)
{
    char pattern[4096];
    glob_t g;
    int n = snprintf(pattern, sizeof pattern, "%s/mongoreshape-%s-??????", tmp, run);
    if (n < 0 || (size_t)n >= sizeof pattern || glob(pattern, GLOB_NOSORT, NULL, &g) != 0) {
        return;
    }
    for (size_t i = 0; i < g.gl_pathc; i++) {
        int fd = open(g.gl_pathv[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            live_folder_remove(g.gl_pathv[i]);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    globfree(&g);
}

/* Locked before it gets the name that remove_old searches for. */
static bool
new_folder(struct live_quiet_run *q, const char *tmp)
{
    MRS_ASSERT(q->lock < 0);
    char made[sizeof q->dir];
    int n = snprintf(made, sizeof made, "%s/mongoreshape-new-XXXXXX", tmp);
    if (n < 0 || (size_t)n >= sizeof made || !mkdtemp(made)) {
        return false;
    }
    q->lock = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (q->lock >= 0) {
        (void)flock(q->lock, LOCK_EX | LOCK_NB); /* without lock support, no other process gets a lock either */
    }
    n = snprintf(q->dir, sizeof q->dir, "%s/mongoreshape-%s-%s", tmp, q->job->run->short_id, made + n - 6);
    if (n < 0 || (size_t)n >= sizeof q->dir || rename(made, q->dir) != 0) {
        int why = errno;
        rmdir(made);
        errno = why;
        return false;
    }
    return true;
}

static enum mrs_status
make_folder(struct live_quiet_run *q, struct mrs_err *e)
{
    MRS_ASSERT(!q->dir[0]);
    const char *tmp = q->job->opts.tmp ? q->job->opts.tmp : getenv("TMPDIR");
    tmp = tmp && *tmp ? tmp : "/tmp";
    remove_old(tmp, q->job->run->short_id);
    errno = 0;
    if (!new_folder(q, tmp)) {
        q->dir[0] = 0;
        return mrs_err_sys(e, errno ? errno : ENAMETOOLONG, "cannot make a temporary folder in %s", tmp);
    }
    q->in = path_in(q, "in");
    q->base = q->contract ? path_in(q, "base") : q->in;
    q->out = path_in(q, "out");
    return q->in && q->base && q->out ? MRS_OK : mrs_err_memory(e, sizeof q->dir);
}

/* ---- read ---- */
/* Reads the catalogue again after writers are stopped: the earlier one may be outdated. */
static enum mrs_status
read_catalogue(struct live_quiet_run *q, struct mrs_err *e)
{
    struct live_job *job = q->job;
    const struct mrs_coll **coll;
    struct live_server *now = NULL;
    uint32_t n, n_db = 0;
    enum mrs_status s = live_plan_colls(job, &q->arena, &coll, &n, e);
    const char **db = s == MRS_OK ? mrs_arena_alloc(&q->arena, (n + 1) * sizeof *db) : NULL;
    if (s != MRS_OK || !db) {
        return s != MRS_OK ? s : mrs_err_memory(e, n * sizeof *db);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 0;
        while (at < n_db && strcmp(db[at], coll[i]->db) != 0) {
            at++;
        }
        db[at] = coll[i]->db;
        n_db += at == n_db;
    }
    s = live_server_read(job->mem, job->link, db, n_db, &now, e);
    if (s == MRS_OK) {
        live_server_free(job->server);
        job->server = now;
    }
    return s;
}

static enum mrs_status
phase(struct live_quiet_run *q, const char *name, struct mrs_err *e)
{
    struct mrs_view none = {NULL, 0};
    struct live_progress p = {.phase = name, .ns = ""};
    enum mrs_status s = q->contract ? MRS_OK : live_run_phase(q->job, name, 0, none, e);
    return s == MRS_OK ? live_run_report(q->job, &p, e) : s;
}

/* The work: read, derive, compare, and perhaps write. *docs: by the server's counts. */
static enum mrs_status
foresee(struct live_quiet_run *q, uint64_t *docs, struct mrs_err *e)
{
    const struct mrs_coll **coll;
    uint32_t n = 0;
    *docs = 0;
    enum mrs_status s = live_plan_colls(q->job, &q->arena, &coll, &n, e);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        const struct live_coll_info *info = live_server_coll(q->job->server, coll[i]);
        *docs += info ? info->count : 0;
    }
    live_course_begin(q->job, q->contract ? "contract" : "apply",
                      !q->contract && !live_run_in(q->job, "claimed"));
    live_course_foresee(q->job, *docs * (3 * LIVE_READS + LIVE_WRITES), 0);
    return s;
}

/* Begins the next part of the work. */
static void
next_part(struct live_quiet_run *q, uint64_t docs)
{
    if (q->job->run->course.weight) {
        live_course_walked(q->job, docs);
    }
    live_course_walk(q->job, docs, LIVE_READS);
}

static enum mrs_status
forget_refused(struct live_quiet_run *q, struct mrs_err *e)
{
    struct live_run *r = q->job->run;
    if (q->contract) {
        return MRS_OK;
    }
    r->n_refused = 0;
    return live_state_delete_where(q->job, &r->state_refused, e, "{_id.run: %s}", r->id);
}

static enum mrs_status
read_all(struct live_quiet_run *q, struct mrs_err *e)
{
    MRS_ASSERT(!q->block);
    enum mrs_status s = read_catalogue(q, e); /* the first catalogue of this process may have been read during another's
                                               * block */
    MRS_THEN(s, live_block_enter(q->job, &q->block, e));
    LIVE_STOP("blocked");
    MRS_THEN(s, phase(q, "blocked", e));
    MRS_THEN(s, phase(q, "reading", e));
    MRS_THEN(s, read_catalogue(q, e));
    MRS_THEN(s, forget_refused(q, e));
    s = s == MRS_OK ? live_snapshot(q->job, q->in, q->contract ? q->base : NULL, e) : s;
    LIVE_STOP("after-reading");
    return s == MRS_OK ? live_block_check(q->job, q->block, e) : s;
}

/* ---- derive ---- */
struct keeping { /* renews the lease while the offline engine works */
    struct live_job *job;
    int stop;
    int64_t last;
    struct mrs_err err;
};

static void
on_progress(void *arg, const struct mrs_progress *p)
{
    struct keeping *k = arg;
    struct live_progress progress = {.phase = "deriving", .ns = p->phase, .done = p->docs};
    int64_t now = mrs_clock_asleep();
    if (k->job->cancel && __atomic_load_n(k->job->cancel, __ATOMIC_RELAXED)) {
        __atomic_store_n(&k->stop, 1, __ATOMIC_RELAXED);
    }
    if (now - k->last < 1000 || k->err.code) {
        return;
    }
    k->last = now;
    enum mrs_status s = live_run_breathe(k->job, 0, 0, &k->err);
    MRS_THEN(s, live_run_report(k->job, &progress, &k->err));
    if (s != MRS_OK && s != MRS_END) {
        __atomic_store_n(&k->stop, 1, __ATOMIC_RELAXED);
    }
}

static enum mrs_status
run_plan(struct live_quiet_run *q, struct mrs_input *in, struct mrs_err *e)
{
    MRS_ASSERT(q->base && q->out);
    struct live_job *job = q->job;
    struct keeping k = {.job = job, .last = mrs_clock_asleep()};
    struct mrs_report report;
    struct mrs_run_opts o = {.input = q->base, .output = q->out, .memory = job->opts.memory, .tmp = q->dir,
                             .compress = {MRS_CODEC_NONE, 0}, .refused = path_in(q, "refused.bson"),
                             /* contract: refused documents were recorded by expand, and stay unchanged */
                             .max_refused = q->contract ? UINT64_MAX : job->opts.max_refused,
                             .now_ms = job->plan->now_ms,
                             .progress = on_progress, .progress_arg = &k, .cancel = &k.stop};
    o.memory = o.memory ? o.memory : 256u << 20;
    MRS_TRY(mrs_allocated(o.refused, sizeof q->dir, e));
    mrs_err_clear(&k.err);
    struct mrs_err why;
    mrs_err_clear(&why);
    memset(&report, 0, sizeof report);
    enum mrs_status s = mrs_run(job->mem, job->plan, in, &o, &report, &why);
    for (uint32_t i = 0; s == MRS_OK && job->print_line && i < report.n_notes; i++) {
        job->print_line(job->arg, report.notes[i]);
    }
    q->refused = s == MRS_OK && report.refused_file ? o.refused : NULL;
    mrs_report_clear(&report);
    if (s != MRS_OK && e && e->code == MRS_E_NONE) {
        *e = k.err.code ? k.err : why;
    }
    return s;
}

static enum mrs_status
derive(struct live_quiet_run *q, struct mrs_err *e)
{
    struct mrs_input_opts opts = {0};
    struct mrs_input *in = NULL;
    int64_t now = live_date_at(live_run_doc(q->job->run), "now", q->job->plan->now_ms);
    if (now != q->job->plan->now_ms) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "the plan was loaded for another moment than the run's");
    }
    enum mrs_status s = phase(q, "deriving", e);
    MRS_THEN(s, mrs_input_open(q->job->mem, q->base, &opts, &in, e));
    MRS_THEN(s, run_plan(q, in, e));
    mrs_input_close(in);
    LIVE_STOP("after-deriving");
    return s == MRS_OK ? live_block_check(q->job, q->block, e) : s;
}

/* ---- refused documents ---- */
static enum mrs_status
record_one(struct live_job *job, struct mrs_view d, struct mrs_err *e)
{
    struct mrs_val ns = mrs_doc_get(d, "ns"), doc = mrs_doc_get(d, "doc");
    struct mrs_err why;
    mrs_err_clear(&why);
    why.code = MRS_E_REFUSED;
    live_text_at(d, "reason", why.msg, sizeof why.msg);
    live_text_at(d, "place", why.where, sizeof why.where);
    if (ns.type != MRS_STRING || doc.type != MRS_DOCUMENT) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "a record of the refused documents is damaged");
    }
    uint32_t step = (uint32_t)live_int_at(d, "step", 0);
    return live_refused_put(job, step, (const char *)ns.p + 4, mrs_val_view(doc), &why, e);
}

static enum mrs_status
record_refused(struct live_quiet_run *q, struct mrs_err *e)
{
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    if (!q->refused) {
        return MRS_OK;
    }
    int fd = open(q->refused, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return mrs_err_sys(e, errno, "cannot open %s", q->refused);
    }
    mrs_block_init(&b, q->job->mem);
    enum mrs_status s = mrs_reader_fd(q->job->mem, fd, UINT64_MAX, "refused documents", 0, &r, e);
    while (s == MRS_OK && (s = mrs_reader_next(r, &b, e)) == MRS_OK) {
        for (size_t at = 0; s == MRS_OK && at < b.n;) {
            struct mrs_view d = {b.p + at, mrs_le32(b.p + at)};
            s = mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, e);
            MRS_THEN(s, record_one(q->job, d, e));
            at += d.n;
        }
    }
    mrs_block_clear(&b);
    mrs_reader_close(r);
    close(fd);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
live_quiet_derive(struct live_quiet_run *q, struct mrs_err *e)
{
    MRS_ASSERT(q->job->run && !q->compare);
    mrs_arena_init(&q->arena, q->job->mem);
    q->lock = -1;
    uint64_t docs;
    enum mrs_status s = foresee(q, &docs, e);
    MRS_THEN(s, make_folder(q, e));
    next_part(q, docs);
    MRS_THEN(s, read_all(q, e));
    next_part(q, docs);
    MRS_THEN(s, derive(q, e));
    next_part(q, docs);
    MRS_THEN(s, phase(q, "listing", e));
    MRS_THEN(s, live_compare_open(q->job, q->in, q->out, q->refused, q->contract, &q->compare, e));
    if (s == MRS_OK) {
        live_build_modes_decide(q->job, q->compare);
        s = q->job->opts.dry_run ? MRS_OK : record_refused(q, e);
    }
    return s;
}

/* ---- the list ---- */
struct listing {
    struct live_quiet_run *q;
    struct live_journal *j;
    live_keep keep;
    const struct mrs_coll *beside; /* target of inserts; NULL: the changes' own */
};

/* A server would change the inserted document: it replaces Timestamp(0, 0) by its own time. Documents that a run
 * deletes are inserted when it is undone. Updates are pipelines, which preserve such a value. */
static enum mrs_status
check_time(const struct listing *l, const struct live_planned_change *c, struct mrs_err *e)
{
    bool undone = c->kind == LIVE_DELETE && l->q->job->opts.keep_before;
    const char *name = c->kind == LIVE_INSERT ? live_zero_time(c->after) : undone ? live_zero_time(c->before) : NULL;
    char id[120];
    if (!name) {
        return MRS_OK;
    }
    mrs_val_picture(mrs_doc_get(undone ? c->before : c->after, "_id"), id, sizeof id);
    return mrs_err_set(e, MRS_FAIL, MRS_E_REFUSED,
                       "%.120s, _id %s: field %.64s is Timestamp(0, 0), where a server puts its own time when the "
                       "document is inserted%s; give it another value first; nothing was changed",
                       c->coll.ns, id, name, undone ? ", as it would be to undo this run (--keep-before)" : "");
}

static enum mrs_status
put(void *arg, const struct live_planned_change *c, struct mrs_err *e)
{
    struct listing *l = arg;
    struct live_planned_change one = *c;
    if (l->keep && !l->keep(l->q, c)) {
        return MRS_OK;
    }
    MRS_TRY(check_time(l, c, e));
    one.coll = l->beside ? *l->beside : c->coll;
    return live_journal_put(l->j, &one, e);
}

static enum mrs_status
list_beside(struct listing *l, struct mrs_err *e)
{
    struct live_compare *c = l->q->compare;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < live_compare_count(c); i++) {
        const struct live_tally *t = live_compare_at(c, i);
        struct mrs_coll beside;
        if (t->turn == LIVE_BUILD_BESIDE) {
            s = live_name_beside(l->q->job, &t->now, false, &l->q->arena, &beside, e);
            l->beside = &beside;
            MRS_THEN(s, live_compare_whole(c, i, put, l, e));
            l->beside = NULL;
        }
    }
    return s;
}

/* *n: number of entries of each pass. */
static enum mrs_status
write_list(struct listing *l, int64_t n[4], struct mrs_err *e)
{
    struct live_compare *c = l->q->compare;
    static const enum live_op_kind kinds[] = {LIVE_INSERT, LIVE_UPDATE, LIVE_DELETE};
    enum mrs_status s = live_journal_new(l->q->job, &l->j, e);
    MRS_THEN(s, live_compare_each(c, LIVE_INSERT, LIVE_BUILD_FRESH, put, l, e));
    MRS_THEN(s, list_beside(l, e));
    n[LIVE_PASS_BUILD] = s == MRS_OK ? live_journal_count(l->j) : 0;
    for (int i = 0; s == MRS_OK && i < 3; i++) {
        int64_t before = live_journal_count(l->j);
        s = live_compare_each(c, kinds[i], LIVE_BUILD_INPLACE, put, l, e);
        n[LIVE_PASS_INSERT + i] = live_journal_count(l->j) - before;
    }
    if (s != MRS_OK) {
        live_journal_free(l->j);
        return s;
    }
    return live_journal_seal(l->j, e);
}

/* Binary value, so that the server does not interpret names in it; its frame (length, subtype) comes before. */
static struct mrs_val
binary(struct mrs_buf *b)
{
    mrs_put32(b->p, (uint32_t)b->n - 5);
    b->p[4] = 0;
    return (struct mrs_val){b->p, (uint32_t)b->n, MRS_BINARY};
}

/* Only now the collections to rebuild are known; privileges may be missing for their names. */
static enum mrs_status
may_build_beside(struct live_quiet_run *q, struct mrs_err *e)
{
    uint32_t n = live_compare_count(q->compare), k = 0;
    struct mrs_coll *coll = mrs_arena_alloc(&q->arena, (n + 1) * sizeof *coll);
    enum mrs_status s = mrs_allocated(coll, n * sizeof *coll, e);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        const struct live_tally *t = live_compare_at(q->compare, i);
        if (t->turn == LIVE_BUILD_BESIDE) {
            s = live_name_beside(q->job, &t->now, false, &q->arena, &coll[k++], e);
        }
    }
    return s == MRS_OK ? live_privileges_beside(q->job, coll, k, e) : s;
}

enum mrs_status
live_quiet_seal(struct live_quiet_run *q, const char *name, live_keep keep, struct mrs_err *e)
{
    MRS_ASSERT(q->compare && name);
    static const uint8_t frame[5];
    struct listing l = {.q = q, .keep = keep};
    struct mrs_buf list, back;
    struct mrs_view set;
    int64_t n[4] = {0, 0, 0, 0};
    mrs_buf_init(&list, q->job->mem, MRS_DOC_MAX / 4);
    mrs_buf_init(&back, q->job->mem, MRS_DOC_MAX / 4);
    mrs_buf_put(&list, frame, sizeof frame);
    mrs_buf_put(&back, frame, sizeof frame);
    enum mrs_status s = may_build_beside(q, e);
    MRS_THEN(s, live_unique_check(q, keep, e));
    MRS_THEN(s, live_actions_make(q->job, q->compare, &list, &back, e));
    MRS_THEN(s, write_list(&l, n, e));
    MRS_THEN(s, live_block_check(q->job, q->block, e));
    if (s == MRS_OK) {
        s = live_doc_in(&q->arena, &set, e,
                        "{changes: {build: %I, insert: %I, update: %I, delete: %I, keep_before: %b, actions: %v, "
                        "back: %v}}", n[0], n[1], n[2], n[3], (int)q->job->opts.keep_before, binary(&list),
                        q->job->opts.keep_before ? binary(&back) : mrs_missing());
    }
    LIVE_STOP("before-seal");
    s = s == MRS_OK ? live_run_phase(q->job, LIVE_MUTANT("apply-unsealed") ? "listing" : name, 0, set, e) : s;
    LIVE_STOP("after-seal");
    mrs_buf_clear(&list);
    mrs_buf_clear(&back);
    return s;
}

enum mrs_status
live_quiet_end(struct live_quiet_run *q, enum mrs_status s, const char *name, struct mrs_err *e)
{
    struct mrs_view none = {NULL, 0};
    struct mrs_err quiet;
    bool keep = s != MRS_OK && e && e->code == MRS_E_TOO_MANY; /* its message names the file of refused documents */
    mrs_err_clear(&quiet);
    live_compare_close(q->compare);
    live_block_free(q->block);
    /* If another process has resumed the run, the block belongs to that process. */
    if (s != MRS_OK && live_lease_renew(q->job, &quiet) == MRS_OK && live_run_load(q->job, &quiet) == MRS_OK &&
        !live_run_in(q->job, "applying") && !live_run_in(q->job, "contract")) {
        live_block_leave(q->job, &quiet);
        if (name) {
            live_run_phase(q->job, name, 0, none, &quiet);
        }
    }
    if (s != MRS_OK && quiet.code && q->job->print_line) {
        q->job->print_line(q->job->arg, "writers may still be kept out: give the same command again, or "
                                   "`abort --clean`");
    }
    for (int i = 0; keep && i < 2; i++) {
        const char *obsolete = i ? q->base : q->in;
        if (obsolete) {
            live_folder_remove(obsolete);
        }
    }
    if (q->dir[0] && !keep) {
        live_folder_remove(q->dir);
    }
    if (q->lock >= 0) {
        close(q->lock);
    }
    mrs_arena_clear(&q->arena);
    return s;
}

/* ---- the commands ---- */
enum mrs_status
live_quiet_carry_out(struct live_job *job, enum live_way way, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT((unsigned)way <= LIVE_WAY_BACK);
    static const struct {
        const char *command, *prefix, *finishing, *last;
    } words[] = {
        [LIVE_WAY_APPLY] = {"apply", "", "finishing", "done"},
        [LIVE_WAY_CONTRACT] = {"contract", "contract ", "contract finishing", "done"},
        [LIVE_WAY_BACK] = {"rollback", "back ", "rolling back, finishing", "rolled back"},
    };
    struct mrs_arena a;
    struct mrs_view none = {NULL, 0}, set;
    bool back = way == LIVE_WAY_BACK;
    enum mrs_status s = MRS_OK;
    mrs_arena_init(&a, job->mem);
    if (!job->run->course.of) { /* an earlier call derived it */
        live_course_begin(job, words[way].command, true);
    }
    if (!live_run_in(job, words[way].finishing)) {
        s = live_list_apply(job, words[way].prefix, back, r, e);
        MRS_THEN(s, live_run_phase(job, words[way].finishing, 0, none, e));
    }
    MRS_THEN(s, live_block_leave(job, e));
    MRS_THEN(s, live_list_last(job, words[way].prefix, back, e));
    MRS_THEN(s, live_doc_in(&a, &set, e, "{done: %s}", LIVE_SERVER_TIME));
    MRS_THEN(s, live_run_phase(job, words[way].last, 0, set, e));
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_quiet_apply(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    bool sealed = live_run_in(job, "applying") || live_run_in(job, "finishing");
    if (!sealed || LIVE_MUTANT("derive-again")) {
        struct live_quiet_run q = {.job = job};
        s = live_quiet_derive(&q, e);
        MRS_THEN(s, live_quiet_seal(&q, "applying", NULL, e));
        s = live_quiet_end(&q, s, "claimed", e);
    }
    r->refused = job->run->n_refused;
    return s == MRS_OK ? live_quiet_carry_out(job, LIVE_WAY_APPLY, r, e) : s;
}

enum mrs_status
live_quiet_verify(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    if (!live_run_in(job, "done")) { /* documents in their old form would count as no difference */
        bool back = strncmp(job->run->phase, "roll", 4) == 0;
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "run %s is in phase \"%s\": %s", job->run->short_id,
                           job->run->phase,
                           back ? "its changes are undone, so there is nothing to verify"
                                : "its changes are not complete; `apply --execute` resumes it, then verify");
    }
    return live_list_verify(job, "", r, e);
}

/* Number of results of a pipeline. */
static enum mrs_status
count_of(struct live_quiet_run *q, const struct mrs_coll *coll, struct mrs_view pipeline, int64_t *n, struct mrs_err *e)
{
    struct mrs_buf out;
    struct mrs_view d;
    size_t at = 0;
    mrs_buf_init(&out, q->job->mem, 1 << 16);
    enum mrs_status s = live_state_list(q->job, coll, pipeline, &out, e);
    *n = s == MRS_OK && live_state_next(&out, &at, &d) ? live_int_at(d, "n", 0) : 0;
    mrs_buf_clear(&out);
    return s;
}

/* Counts documents inserted into rebuilt collections since the run: the rollback removes them with the collection. */
static enum mrs_status
count_inserted(struct live_quiet_run *q, struct mrs_view list, struct live_pass_report *seen, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    for (mrs_walk_init(&w, list); s == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        char what[24], ns[256], to[256], end[24], db[64];
        struct mrs_view all, listed;
        int64_t there = 0, ours = 0;
        live_text_at(live_doc_of(el.v), "do", what, sizeof what);
        live_text_at(live_doc_of(el.v), "ns", ns, sizeof ns);
        live_text_at(live_doc_of(el.v), "to", to, sizeof to);
        snprintf(end, sizeof end, ".mrs_%.12s", q->job->run->short_id);
        size_t n = strlen(ns), k = strlen(end), dot = strcspn(to, ".");
        if ((strcmp(what, "rename") != 0 && strcmp(what, "replace") != 0) || n < k || strcmp(ns + n - k, end) != 0 ||
            !to[dot] || dot >= sizeof db) {
            continue;
        }
        snprintf(db, sizeof db, "%.*s", (int)dot, to);
        struct mrs_coll now = {db, to + dot + 1, to};
        s = live_doc_in(&q->arena, &all, e, "[{$count: 'n'}]");
        MRS_THEN(s, live_doc_in(&q->arena, &listed, e, "[{$match: {n: %s}}, {$count: 'n'}]", ns));
        MRS_THEN(s, count_of(q, &now, all, &there, e));
        MRS_THEN(s, count_of(q, &q->job->run->state_changes, listed, &ours, e));
        if (s == MRS_OK && there > ours) {
            seen->differs += (uint64_t)(there - ours);
            live_report_name(seen, "%s: %lld documents more than the run made", to, (long long)(there - ours));
        }
    }
    return s;
}

/* Begins the rollback if the run can be undone and was not written to since. */
static enum mrs_status
begin_back(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    struct mrs_view none = {NULL, 0};
    struct live_block *block = NULL;
    struct live_change_totals sealed;
    struct live_pass_report seen = {.arena = r->arena};
    struct mrs_arena a;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_change_totals_read(job, &a, &sealed, e);
    if (s == MRS_OK && !sealed.back.n) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "the run was made without --keep-before: it cannot be undone");
    }
    if (s != MRS_OK) {
        mrs_arena_clear(&a);
        return s;
    }
    struct live_quiet_run now = {.job = job};
    mrs_arena_init(&now.arena, job->mem);
    bool renamed = !live_run_in(job, "applying");
    s = read_catalogue(&now, e);
    MRS_THEN(s, live_block_enter(job, &block, e));
    live_block_free(block);
    MRS_THEN(s, live_list_verify(job, "", &seen, e));
    s = s == MRS_OK && renamed ? count_inserted(&now, sealed.list, &seen, e) : s;
    mrs_arena_clear(&now.arena);
    mrs_arena_clear(&a);
    r->differs = seen.differs;
    r->named = seen.named;
    r->n_named = seen.n_named;
    if (s == MRS_OK && seen.differs && !job->opts.discard_new_writes) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                        "%llu documents were written since: undoing the run would lose that; nothing was changed. With "
                        "--discard-new-writes they are exported first",
                        (unsigned long long)seen.differs);
    }
    if (job->opts.dry_run) {
        return s;
    }
    MRS_THEN(s, live_run_phase(job, "rolling back", 0, none, e));
    if (s != MRS_OK && live_lease_renew(job, NULL) == MRS_OK) {
        live_block_leave(job, NULL);
    }
    return s;
}

enum mrs_status
live_quiet_rollback(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    struct mrs_view none = {NULL, 0};
    enum mrs_status s = MRS_OK;
    if (strncmp(job->run->phase, "rolling back", 12) != 0) {
        if (!live_run_in(job, "applying") && !live_run_in(job, "finishing") && !live_run_in(job, "done")) {
            s = live_block_leave(job, e); /* user data are unchanged so far */
            return s == MRS_OK && !job->opts.dry_run ? live_run_phase(job, "rolled back", 0, none, e) : s;
        }
        s = begin_back(job, r, e);
    }
    if (job->opts.dry_run) {
        return s == MRS_OK ? live_change_totals_preview(job, true, r, e) : s;
    }
    return s == MRS_OK ? live_quiet_carry_out(job, LIVE_WAY_BACK, r, e) : s;
}
