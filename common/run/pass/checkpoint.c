/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.c - decides when a run writes its state to disk, and manages the files of the state.
 *
 * The state of a boundary is serialized when the boundary is reached, but written only if enough time has passed since
 * the last write: a short run writes none. If the run is interrupted in the following pass, the state of the boundary
 * can still be written, so files that it refers to stay until there is a newer one. */
#include "checkpoint.h"
#include "mongoreshape/clock.h"
#include "mongoreshape/version.h"
#include <unistd.h>

#define BETWEEN_MS 5000u /* before the first write, and between two boundaries that are written */
#define MARK_MS 30000u   /* between a checkpoint and a savepoint in the following pass */
#define WORDS_SHARE 20u  /* boundaries are serialized if that takes less than 1 / WORDS_SHARE of the time, */
#define WORDS_MS 1000u   /* and always at first: a pass after a boundary without a state has no savepoints */

struct mrsi_checkpoints {
    uint32_t reached;         /* number of boundaries in this run, after its first one */
    uint64_t begun_ms, written_ms;
    uint64_t words_took_ms;   /* total time to serialize boundaries */
    struct mrs_buf options;   /* what must be equal in a resumed run, as documents */
    struct mrs_buf input;
    struct mrs_buf boundary;  /* state of the last boundary, a document; empty: none yet */
    struct mrs_buf pass;      /* the savepoint after it, a document; empty: none */
    struct mrs_buf pass_files;
    bool exact;               /* the current pass began at that boundary */
    bool pass_on_disk;        /* the state on disk has a savepoint */
    uint32_t begins;          /* number of boundaries before the one of from_pass */
    struct mrs_view from_pass; /* the savepoint to resume from, until its pass takes it */
    struct mrs_buf synced;    /* numbers of complete files that are synced */
    _Atomic bool is_on_disk;  /* a state exists, which this run has taken over or written */
    bool is_newer;            /* the boundary is newer than the state on disk */
    bool left_out;            /* the last state was too large to write */
    bool took_up;             /* OUT.partial belongs to this run: taken over, or new */
    bool is_published;
    char *bytes;              /* contents of the state file */
    struct mrsi_checkpoint from;
    bool resumes;
    bool is_whole;            /* the output is complete */
    bool was_whole;           /* it was at the state from which this run resumes */
};

static bool
everywhere(const struct mrsi_engine *en)
{
    return en->opts->checkpoint_ms == 1;
}

static enum mrs_status
copy_list(struct mrs_buf *to, const struct mrs_buf *from, struct mrs_err *e)
{
    mrs_buf_reset(to);
    mrs_buf_put(to, from->p, from->n);
    return mrs_buf_status(to, e);
}

/* ---- write the state ---- */
static enum mrs_status
sync_files(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    enum mrs_status s = mrs_output_sync(en->out, e);
    for (size_t i = 0; s == MRS_OK && i + sizeof(uint32_t) <= en->kept->files.n; i += sizeof(uint32_t)) {
        uint32_t no;
        memcpy(&no, en->kept->files.p + i, sizeof no);
        bool grows = en->refused_log && no == en->refused_log->no;
        if (grows || !mrsi_kept_files_has(&k->synced, no)) {
            s = mrs_ckpt_dir_sync(&en->kept->dir, no, e);
            mrs_buf_put(&k->synced, &no, sizeof no);
        }
    }
    for (size_t i = 0; s == MRS_OK && k->pass.n && i + sizeof(uint32_t) <= k->pass_files.n; i += sizeof(uint32_t)) {
        uint32_t no; /* the file still grows */
        memcpy(&no, k->pass_files.p + i, sizeof no);
        s = mrs_ckpt_dir_sync(&en->kept->dir, no, e);
    }
    return s == MRS_OK ? mrs_buf_status(&k->synced, e) : s;
}

/* Computed once, when it is first needed. */
static enum mrs_status
identify_run(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    struct mrs_build b;
    struct mrs_view d;
    enum mrs_status s = MRS_OK;
    if (k->input.n) {
        return MRS_OK;
    }
    mrs_buf_reset(&k->options);
    mrs_build_init(&b, &k->options);
    s = mrsi_same_options(en, &b, e);
    MRS_THEN(s, mrs_build_finish(&b, &d, e));
    if (s == MRS_OK) {
        mrs_build_init(&b, &k->input);
        s = mrsi_same_input(en, &b, e);
        MRS_THEN(s, mrs_build_finish(&b, &d, e));
    }
    if (s != MRS_OK) {
        mrs_buf_reset(&k->input); /* an incomplete digest of the input is useless */
    }
    return s;
}

static struct mrs_val
value_of(const struct mrs_buf *doc, uint8_t type)
{
    return (struct mrs_val){doc->p, (uint32_t)doc->n, type};
}

static enum mrs_status
compose(struct mrsi_engine *en, struct mrs_buf *body, struct mrs_buf *file, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(body));
    struct mrsi_checkpoints *k = en->keep;
    struct mrs_build b;
    struct mrs_view d;
    char id[33];
    uint8_t room[16];
    mrs_build_init(&b, body);
    mrs_plan_id_text(en->plan, id);
    mrs_build_i64(&b, "format", MRSI_STATE_FORMAT);
    mrs_build_text(&b, "tool", MRS_VERSION, (uint32_t)strlen(MRS_VERSION));
    mrs_build_text(&b, "plan", en->plan->name, (uint32_t)strlen(en->plan->name));
    mrs_build_text(&b, "planId", id, (uint32_t)strlen(id));
    mrs_build_val(&b, "now", 3, mrs_make_i64(room, en->plan->now_ms, MRS_DATE));
    mrsi_state_put_bytes(&b, "secret", en->drawn, sizeof en->drawn);
    mrs_build_val(&b, "options", 7, value_of(&k->options, MRS_DOCUMENT));
    mrs_build_val(&b, "input", 5, value_of(&k->input, MRS_ARRAY));
    mrs_build_val(&b, "state", 5, value_of(&k->boundary, MRS_DOCUMENT));
    if (k->pass.n) {
        mrs_build_val(&b, "pass", 4, value_of(&k->pass, MRS_DOCUMENT));
    }
    enum mrs_status s = mrs_build_finish(&b, &d, e);
    if (s == MRS_OK) {
        mrsi_checkpoint_frame(d, file);
        s = mrs_buf_status(file, e);
    }
    return s;
}

static void
report_checkpoint(struct mrsi_engine *en, bool written)
{
    if (en->opts->checkpoint) {
        en->opts->checkpoint(en->opts->checkpoint_arg, written);
    }
}

/* From before the rename on, the files of both states are kept; afterwards only those of the new one. */
static enum mrs_status
replace_state(struct mrsi_engine *en, const struct mrs_buf *file, struct mrs_err *e)
{
    MRS_ASSERT(file->n > 0);
    struct mrsi_checkpoints *k = en->keep;
    size_t old = en->kept->on_disk.n;
    mrs_buf_put(&en->kept->on_disk, en->kept->files.p, en->kept->files.n);
    if (k->pass.n) {
        mrs_buf_put(&en->kept->on_disk, k->pass_files.p, k->pass_files.n);
    }
    enum mrs_status s = mrs_buf_status(&en->kept->on_disk, e);
    MRS_THEN(s, mrs_ckpt_dir_write(&en->kept->dir, file->p, file->n, e));
    if (s == MRS_OK) {
        en->kept->on_disk.n -= old;
        if (old && en->kept->on_disk.n) {
            memmove(en->kept->on_disk.p, en->kept->on_disk.p + old, en->kept->on_disk.n);
        }
        k->is_on_disk = true;
        k->pass_on_disk = k->pass.n > 0;
    }
    return s;
}

/* Writes the state of the last boundary, with its savepoint if any. A state that is too large for a document is
 * skipped: then the run resumes from an earlier one. */
static enum mrs_status
write_state(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    struct mrs_buf body, file;
    mrs_buf_init(&body, en->mem, MRS_DOC_MAX);
    mrs_buf_init(&file, en->mem, MRS_STOPPED_MAX);
    report_checkpoint(en, false);
    enum mrs_status s = sync_files(en, e);
    MRS_THEN(s, identify_run(en, e));
    if (s == MRS_OK) {
        struct mrs_err own;
        mrs_err_clear(&own);
        s = compose(en, &body, &file, &own);
        k->left_out = s != MRS_OK && own.code == MRS_E_LIMIT;
        if (s == MRS_OK) {
            s = replace_state(en, &file, e);
        } else if (k->left_out) {
            s = MRS_OK;
        } else if (e) {
            *e = own;
        }
    }
    mrs_buf_clear(&body);
    mrs_buf_clear(&file);
    if (s == MRS_OK) {
        k->written_ms = mrs_clock_steady();
        k->is_newer = false;
        mrsi_kept_files_sweep(en);
        report_checkpoint(en, true);
    }
    return s;
}

static enum mrs_status
put_into_words(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step <= en->plan->n_steps);
    struct mrsi_checkpoints *k = en->keep;
    struct mrs_build b;
    struct mrs_view d;
    uint64_t begun = mrs_clock_steady();
    mrs_buf_reset(&k->boundary);
    mrs_buf_reset(&en->kept->files);
    mrs_buf_reset(&k->pass);
    mrs_build_init(&b, &k->boundary);
    mrs_build_bool(&b, "whole", k->is_whole);
    enum mrs_status s = mrsi_state_save(en, step, &b, &en->kept->files, e);
    MRS_THEN(s, mrs_build_finish(&b, &d, e));
    if (s == MRS_FAIL && e->code == MRS_E_LIMIT) {
        mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "the plan has %u steps here, and the state of so many does not fit into "
                    "a checkpoint (%u MiB): run it over fewer collections at a time (--nsInclude)", en->plan->n_steps,
                    MRS_DOC_MAX >> 20);
    }
    k->is_newer = k->exact = s == MRS_OK;
    k->words_took_ms += mrs_clock_steady() - begun;
    mrsi_kept_files_sweep(en);
    return s;
}

enum mrs_status
mrsi_ckpt_boundary(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step <= en->plan->n_steps);
    struct mrsi_checkpoints *k = en->keep;
    if (!k || !en->out) {
        return MRS_OK;
    }
    uint64_t now = mrs_clock_steady(), since = k->written_ms ? k->written_ms : k->begun_ms;
    uint64_t most = en->opts->checkpoint_ms;
    uint64_t least = most && most < BETWEEN_MS ? most : BETWEEN_MS;
    if (k->from_pass.n > MRS_DOC_MIN) {
        return k->begins++ ? mrsi_state_damaged("no pass wants its savepoint", e) : MRS_OK;
    }
    bool costly = k->words_took_ms > WORDS_MS && now - k->begun_ms < WORDS_SHARE * k->words_took_ms;
    if (!everywhere(en) && k->boundary.n && costly) {
        k->exact = false;
        return MRS_OK;
    }
    enum mrs_status s = put_into_words(en, step, e);
    k->reached++;
    return s == MRS_OK && (everywhere(en) || now - since >= least) ? write_state(en, e) : s;
}

enum mrs_status
mrsi_ckpt_whole(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    if (!k || !en->out) {
        return MRS_OK;
    }
    if (k->from_pass.n > MRS_DOC_MIN) { /* the run was stopped while it wrote its residue, or after the final rename */
        struct mrs_val kind = mrs_doc_get(k->from_pass, "kind");
        bool known = mrs_val_is_text(kind, MRSI_CKPT_PUBLISH) ||
                     (en->opts->write_residue && mrs_val_is_text(kind, MRSI_CKPT_RESIDUE));
        return known ? MRS_OK : mrsi_state_damaged("no pass wants its savepoint", e);
    }
    k->is_whole = true;
    bool inverse = en->opts->write_residue; /* this run needs an inverse run, which has state of its own */
    bool due = inverse || k->is_on_disk || everywhere(en) || mrs_clock_steady() - k->begun_ms >= BETWEEN_MS;
    enum mrs_status s = put_into_words(en, en->plan->n_steps, e);
    bool marked = en->residue; /* when a residue is restored, a savepoint follows, and only that describes the output */
    return s == MRS_OK && due && !marked ? write_state(en, e) : s; /* not needed: no resume would read it */
}

/* ---- savepoints ---- */
bool
mrsi_ckpt_is_worth(const struct mrsi_engine *en)
{
    const struct mrsi_checkpoints *k = en->keep;
    return k && (k->is_on_disk || everywhere(en) || mrs_clock_steady() - k->begun_ms >= BETWEEN_MS);
}

bool
mrsi_ckpt_due(const struct mrsi_engine *en)
{
    const struct mrsi_checkpoints *k = en->keep;
    if (!k || !en->out || !k->exact) {
        return false;
    }
    uint64_t now = mrs_clock_steady(), since = k->written_ms ? k->written_ms : k->begun_ms;
    uint64_t most = en->opts->checkpoint_ms;
    return everywhere(en) || now - since >= (most ? most : MARK_MS) ||
           (mrsi_cancelled(en) && mrsi_ckpt_is_worth(en));
}

static enum mrs_status
make_savepoint(const struct mrsi_pass *p, struct mrs_err *e)
{
    MRS_ASSERT(p->kind);
    struct mrsi_checkpoints *k = p->en->keep;
    struct mrs_build b;
    struct mrs_view d;
    mrs_buf_reset(&k->pass);
    mrs_buf_reset(&k->pass_files);
    mrs_build_init(&b, &k->pass);
    enum mrs_status s = mrsi_pass_save(p, &b, &k->pass_files, e);
    MRS_THEN(s, mrs_buf_status(&k->pass_files, e));
    if (s == MRS_OK) {
        mrsi_state_put_bytes(&b, "files", k->pass_files.p, k->pass_files.n);
        s = mrs_build_finish(&b, &d, e);
    }
    return s;
}

enum mrs_status
mrsi_ckpt_savepoint(const struct mrsi_pass *p, struct mrs_err *e)
{
    MRS_ASSERT(p->kind);
    struct mrsi_checkpoints *k = p->en->keep;
    struct mrs_err own;
    mrs_err_clear(&own);
    enum mrs_status s = make_savepoint(p, &own);
    if (s == MRS_OK) {
        s = write_state(p->en, e);
        k->reached++;
    } else if (own.code == MRS_E_LIMIT) {
        k->left_out = true;
        k->written_ms = mrs_clock_steady(); /* the next attempt is when the next savepoint is due */
        s = MRS_OK;
    } else if (e) {
        *e = own;
    }
    mrsi_kept_files_drop_marked(p->en);
    mrs_buf_reset(&k->pass);
    return s;
}

/* If it is skipped, the boundary is valid again. */
enum mrs_status
mrsi_ckpt_savepoint_anew(const struct mrsi_pass *p, struct mrs_err *e)
{
    const struct mrsi_checkpoints *k = p->en->keep;
    enum mrs_status s = mrsi_ckpt_savepoint(p, e);
    return s == MRS_OK && k->left_out && k->pass_on_disk ? write_state(p->en, e) : s;
}

bool
mrsi_ckpt_has_savepoint(const struct mrsi_engine *en)
{
    return en->keep && en->keep->exact && en->keep->pass_on_disk;
}

void
mrsi_ckpt_savepoint_for(struct mrsi_pass *p)
{
    MRS_ASSERT(p->kind);
    struct mrsi_checkpoints *k = p->en->keep;
    p->from = mrs_empty_doc();
    if (k && k->from_pass.n > MRS_DOC_MIN && mrs_val_is_text(mrs_doc_get(k->from_pass, "kind"), p->kind)) {
        p->from = k->from_pass;
        k->from_pass = mrs_empty_doc();
    }
}

/* ---- start ---- */
static enum mrs_status
make_checkpoints(struct mrsi_engine *en, struct mrs_err *e)
{
    enum mrs_status s = mrsi_kept_files_open(en, e);
    struct mrsi_checkpoints *k = s == MRS_OK ? mrs_zalloc(en->mem, sizeof *k) : NULL;
    if (!k) {
        mrsi_kept_files_close(en);
        return s == MRS_OK ? mrs_err_memory(e, sizeof *k) : s;
    }
    struct mrs_buf *const bufs[] = {&k->options, &k->input, &k->boundary, &k->pass, &k->pass_files, &k->synced};
    k->from_pass = mrs_empty_doc();
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        mrs_buf_init(bufs[i], en->mem, MRS_DOC_MAX);
    }
    k->begun_ms = mrs_clock_steady();
    en->keep = k;
    return MRS_OK;
}

static enum mrs_status
read_state(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    struct mrs_err own;
    size_t n = 0;
    mrs_err_clear(&own);
    enum mrs_status s = mrs_ckpt_dir_read(&en->kept->dir, &k->bytes, &n, &own);
    if (s != MRS_OK && own.code == MRS_E_MISSING) {
        en->report->anew = true;
        return MRS_OK;
    }
    if (s != MRS_OK) {
        *e = own;
        return s;
    }
    s = mrsi_checkpoint_parse(k->bytes, n, &k->from, e);
    MRS_THEN(s, identify_run(en, e));
    if (s == MRS_OK) {
        struct mrs_view options = {k->options.p, (uint32_t)k->options.n}, input = {k->input.p, (uint32_t)k->input.n};
        s = mrsi_same_check(en, &k->from, options, input, e);
    }
    k->resumes = s == MRS_OK;
    if (k->resumes) {
        mrsi_secret_take(en, k->from.secret); /* new hashes are compared with loaded ones */
    }
    return s == MRS_OK ? mrs_ckpt_dir_settle(&en->kept->dir, k->from.output, en->opts->force, &k->is_published, e) : s;
}

enum mrs_status
mrsi_ckpt_begin(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(!en->keep);
    const struct mrs_run_opts *o = en->opts;
    bool stream = o->output && strcmp(o->output, "-") == 0;
    if (o->resume && (stream || o->dry_run || !o->checkpoints)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--resume: a run that writes %s leaves nothing to resume",
                           stream ? "to standard output" : "no dump");
    }
    if (!o->checkpoints || o->dry_run || stream) {
        return MRS_OK;
    }
    enum mrs_status s = make_checkpoints(en, e);
    return s == MRS_OK && o->resume ? read_state(en, e) : s;
}

enum mrs_status
mrs_stopped_now(struct mrs_mem *mem, const char *output, int64_t *now, struct mrs_err *e)
{
    MRS_ASSERT(output && now);
    struct mrs_ckpt_dir side = {mem, output, NULL};
    struct mrsi_checkpoint cp;
    char *p = NULL;
    size_t n;
    enum mrs_status s = mrs_ckpt_dir_read(&side, &p, &n, e);
    MRS_THEN(s, mrsi_checkpoint_parse(p, n, &cp, e));
    if (s == MRS_OK) {
        *now = cp.now_ms;
    }
    mrs_ckpt_dir_place(&side, e);
    mrs_free(mem, p);
    return s;
}

bool
mrsi_ckpt_resumes(const struct mrsi_engine *en)
{
    return en->keep && en->keep->resumes;
}

bool
mrsi_ckpt_was_whole(const struct mrsi_engine *en)
{
    return en->keep && en->keep->was_whole;
}

bool
mrsi_ckpt_is_published(const struct mrsi_engine *en)
{
    return en->keep && en->keep->is_published;
}

/* Keeps the files of the state, removes the others. */
static enum mrs_status
keep_files(struct mrsi_engine *en, bool in_pass, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    bool bad = false;
    enum mrs_status s = copy_list(&en->kept->on_disk, &en->kept->files, e);
    if (s == MRS_OK && in_pass) {
        size_t n;
        const uint8_t *p = mrsi_state_bytes(k->from.pass, "files", &n, &bad);
        bad = bad || n % sizeof(uint32_t);
        mrs_buf_put(&en->kept->on_disk, p, bad ? 0 : n);
        s = bad ? mrsi_state_damaged("its files", e) : mrs_buf_status(&en->kept->on_disk, e);
    }
    struct mrs_ckpt_dir_keep keep = {(const uint32_t *)(const void *)en->kept->on_disk.p,
                                   (uint32_t)(en->kept->on_disk.n / sizeof(uint32_t))};
    s = s == MRS_OK ? mrs_ckpt_dir_check(&en->kept->dir, &keep, e) : s; /* before any change */
    return s == MRS_OK ? mrs_ckpt_dir_clear(&en->kept->dir, &keep, e) : s;
}

enum mrs_status
mrsi_ckpt_take_up(struct mrsi_engine *en, uint32_t *step, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    bool bad = false;
    if (!k->resumes) {
        k->took_up = true;
        enum mrs_status s = mrs_ckpt_dir_clear(&en->kept->dir, NULL, e);
        MRS_THEN(s, mrsi_inverse_forget(en->mem, en->opts, e));
        return s == MRS_OK ? put_into_words(en, 0, e) : s;
    }
    bool in_pass = k->from.pass.n > MRS_DOC_MIN;
    struct mrs_view latest = in_pass ? k->from.pass : k->from.state;
    struct mrs_view output = k->from.output, open = mrs_empty_doc();
    struct mrs_val whole = mrs_doc_get(k->from.state, "whole");
    if (in_pass) {
        struct mrs_val v = mrs_doc_get(k->from.pass, "output");
        open = mrsi_state_list(k->from.pass, "open", &bad);
        output = v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc();
    }
    en->kept->next = (uint32_t)mrsi_state_number(latest, "next", UINT32_MAX - 1, &bad);
    enum mrs_status s = bad || !en->kept->next ? mrsi_state_damaged("its head", e) : MRS_OK;
    MRS_THEN(s, mrsi_state_load(en, k->from.state, step, &en->kept->files, e));
    en->report->resumed = true;
    if (s == MRS_OK && k->is_published && !(whole.type == MRS_BOOL && *whole.p && *step == en->plan->n_steps)) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_EXISTS,
                        "%s exists and is complete; %s.checkpoint is of a time before that: remove it",
                        en->opts->output, en->opts->output);
    }
    if (s != MRS_OK || k->is_published) {
        k->from_pass = k->from.pass; /* only for the report: no pass begins any more */
        return s;
    }
    s = mrs_output_take_up(en->out, output, open, e);
    MRS_THEN(s, keep_files(en, in_pass, e));
    if (s == MRS_OK) {
        k->is_on_disk = true;
        k->took_up = k->exact = true;
        k->pass_on_disk = in_pass;
        k->was_whole = whole.type == MRS_BOOL && *whole.p;
        k->from_pass = k->from.pass;
        k->begins = *step < en->plan->n_steps; /* else the boundary before a collection comes first */
        k->written_ms = mrs_clock_steady();
        mrs_buf_put(&k->boundary, k->from.state.p, k->from.state.n);
        s = mrs_buf_status(&k->boundary, e);
    }
    return s;
}

/* ---- end ---- */
enum mrs_status
mrsi_ckpt_forget(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    enum mrs_status s = k ? mrs_ckpt_dir_clear(&en->kept->dir, NULL, e) : MRS_OK;
    if (k && s == MRS_OK) {
        k->is_on_disk = false;
    }
    return s;
}

/* Errors after which the same command may succeed. */
static bool
can_resume(enum mrs_status s, const struct mrs_err *e)
{
    enum mrs_code c = e ? e->code : MRS_E_NONE;
    return s == MRS_DEAD || c == MRS_E_CANCEL || c == MRS_E_IO || c == MRS_E_MEMORY || c == MRS_E_EXISTS;
}

static void
stop(struct mrsi_engine *en, enum mrs_status s, const struct mrs_err *e)
{
    MRS_ASSERT(s < MRS_OK);
    struct mrsi_checkpoints *k = en->keep;
    bool resumable = can_resume(s, e);
    bool worth = k->is_on_disk || (k->reached && (everywhere(en) || mrs_clock_steady() - k->begun_ms >= BETWEEN_MS));
    struct mrs_err own;
    mrs_err_clear(&own);
    if (resumable && k->took_up && k->is_newer && worth) {
        (void)write_state(en, &own); /* otherwise the older one stays */
    }
    if (!k->took_up || (resumable && k->is_on_disk)) {
        mrs_output_leave(en->out);
        en->report->stopped = k->is_on_disk;
        return;
    }
    (void)mrsi_inverse_forget(en->mem, en->opts, NULL);
    if (mrs_ckpt_dir_clear(&en->kept->dir, NULL, NULL) == MRS_OK) {
        mrs_output_abort(en->out);
    } else {
        mrs_output_leave(en->out); /* if the state cannot be removed, its files stay */
    }
}

void
mrsi_ckpt_end(struct mrsi_engine *en, enum mrs_status s, struct mrs_err *e)
{
    struct mrsi_checkpoints *k = en->keep;
    if (s != MRS_OK && en->out && k) {
        stop(en, s, e);
    } else if (s != MRS_OK && en->out) {
        mrs_output_abort(en->out);
    } else if (k && s == MRS_OK) {
        (void)mrs_ckpt_dir_clear(&en->kept->dir, NULL, NULL); /* the output exists: files that cannot be removed stay */
    }
    if (k) {
        mrs_ckpt_dir_place(&en->kept->dir, e);
        mrsi_kept_files_drop_marked(en);
        mrsi_kept_files_close(en);
        struct mrs_buf *const bufs[] = {&k->options, &k->input, &k->boundary, &k->pass, &k->pass_files, &k->synced};
        for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
            mrs_buf_clear(bufs[i]);
        }
        mrs_free(en->mem, k->bytes);
        mrs_free(en->mem, k);
        en->keep = NULL;
    }
}
