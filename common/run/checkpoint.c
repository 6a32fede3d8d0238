/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.c - when a run puts its state on disk, which files it keeps for that, and what becomes of them.
 *
 * Words for a boundary are made when it is reached, but written only where enough time has passed since the last time:
 * a short run writes none. What was true at the boundary may be written later as well, when the run is interrupted in
 * the pass behind it, so files that the boundary names stay until there is a newer one. */
#include "checkpoint.h"
#include "residue.h"
#include "mongoreshape/clock.h"
#include "mongoreshape/version.h"
#include <unistd.h>

#define BETWEEN_MS 5000u /* before the first, and between two boundaries that are written */
#define MARK_MS 30000u   /* between a checkpoint and a mark in the pass behind it */
#define WORDS_SHARE 20u  /* boundaries are put into words where that takes less than such a part of the time, */
#define WORDS_MS 1000u   /* and at first in any case: what begins behind one that is not has no marks */

struct mrsi_keep {
    struct mrs_beside side;
    uint32_t reached;         /* boundaries behind the one where this run began */
    uint64_t begun_ms, written_ms;
    uint64_t words_took_ms;   /* to put boundaries into words, all together */
    uint32_t next;            /* number of the next file */
    struct mrs_buf options;   /* documents of what must be the same */
    struct mrs_buf input;
    struct mrs_buf boundary;  /* the state of the last boundary, a document; empty: none yet */
    struct mrs_buf files;     /* uint32_t: the numbers that it names */
    struct mrs_buf pass;      /* the mark behind it, a document; empty: none */
    struct mrs_buf pass_files;
    struct mrs_buf pass_temps; /* struct mrsi_temp *: files made for the mark alone, until it is on disk */
    bool exact;               /* what runs now began at that boundary */
    bool pass_on_disk;        /* the state on disk has a mark */
    uint32_t begins;          /* boundaries reached before it has */
    struct mrs_view from_pass; /* the mark to go on from, until the pass has taken it */
    struct mrs_buf on_disk;   /* the same of the state on disk */
    struct mrs_buf synced;    /* numbers of files that do not change and are on disk */
    struct mrs_buf doomed;    /* numbers of files that nobody but a state needs */
    bool is_on_disk;          /* there is a state, and this run has taken it over or written it */
    bool is_newer;            /* the boundary is newer than the state on disk */
    bool left_out;            /* the last state that was made is too large */
    bool took_up;             /* or there was nothing to take up: OUT.partial is this run's */
    bool is_published;
    char *bytes;              /* of the state that was read */
    struct mrsi_checkpoint from;
    bool resumes;
    bool is_whole;            /* the output is, */
    bool was_whole;           /* and was at the state that it resumes from */
};

static bool
everywhere(const struct mrsi_engine *en)
{
    return en->opts->checkpoint_ms == 1;
}

/* ---- lists of numbers ---- */
static bool
holds(const struct mrs_buf *list, uint32_t no)
{
    for (size_t i = 0; i + sizeof no <= list->n; i += sizeof no) {
        if (memcmp(list->p + i, &no, sizeof no) == 0) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
copy_list(struct mrs_buf *to, const struct mrs_buf *from, struct mrs_err *e)
{
    mrs_buf_reset(to);
    mrs_buf_put(to, from->p, from->n);
    return mrs_buf_status(to, e);
}

/* Files that neither the state on disk nor the boundary names go. */
static void
remove_doomed(struct mrsi_engine *en)
{
    struct mrsi_keep *k = en->keep;
    size_t left = 0;
    for (size_t i = 0; i + sizeof(uint32_t) <= k->doomed.n; i += sizeof(uint32_t)) {
        uint32_t no;
        memcpy(&no, k->doomed.p + i, sizeof no);
        if (holds(&k->on_disk, no) || holds(&k->files, no)) {
            memmove(k->doomed.p + left, &no, sizeof no);
            left += sizeof no;
        } else {
            mrs_beside_drop(&k->side, no);
        }
    }
    k->doomed.n = left;
}

/* ---- files ---- */
uint32_t
mrsi_keep_next(const struct mrsi_engine *en)
{
    return en->keep->next;
}

enum mrs_status
mrsi_keep_temp(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e)
{
    int fd;
    if (!en->keep) {
        return mrsi_temp_new(en, out, e);
    }
    *out = NULL;
    pthread_mutex_lock(&en->temp_lock);
    uint32_t no = en->keep->next;
    enum mrs_status s = mrs_beside_file(&en->keep->side, no, true, &fd, e);
    en->keep->next += s == MRS_OK;
    pthread_mutex_unlock(&en->temp_lock);
    return s == MRS_OK ? mrsi_temp_of(en, fd, no, out, e) : s;
}

enum mrs_status
mrsi_keep_reopen(struct mrsi_engine *en, uint32_t no, uint64_t bytes, struct mrsi_temp **out, struct mrs_err *e)
{
    int fd;
    enum mrs_status s = mrs_beside_file(&en->keep->side, no, false, &fd, e);
    if (s != MRS_OK) {
        return s;
    }
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || (uint64_t)size < bytes) {
        close(fd);
        return mrsi_state_damaged("a file of it is too short", e);
    }
    s = mrsi_temp_of(en, fd, no, out, e);
    if (s == MRS_OK) {
        (*out)->bytes = bytes;
    }
    return s;
}

void
mrsi_keep_dropped(struct mrsi_engine *en, uint32_t no)
{
    struct mrsi_keep *k = en->keep;
    if (!k) {
        return; /* the end has decided about all of them */
    }
    if (holds(&k->on_disk, no) || holds(&k->files, no)) {
        mrs_buf_put(&k->doomed, &no, sizeof no);
    } else {
        mrs_beside_drop(&k->side, no);
    }
}

/* ---- the state to disk ---- */
static enum mrs_status
sync_files(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    enum mrs_status s = mrs_output_sync(en->out, e);
    for (size_t i = 0; s == MRS_OK && i + sizeof(uint32_t) <= k->files.n; i += sizeof(uint32_t)) {
        uint32_t no;
        memcpy(&no, k->files.p + i, sizeof no);
        bool grows = en->refused_log && no == en->refused_log->no;
        if (grows || !holds(&k->synced, no)) {
            s = mrs_beside_sync(&k->side, no, e);
            mrs_buf_put(&k->synced, &no, sizeof no);
        }
    }
    for (size_t i = 0; s == MRS_OK && k->pass.n && i + sizeof(uint32_t) <= k->pass_files.n; i += sizeof(uint32_t)) {
        uint32_t no; /* what is being written grows */
        memcpy(&no, k->pass_files.p + i, sizeof no);
        s = mrs_beside_sync(&k->side, no, e);
    }
    return s == MRS_OK ? mrs_buf_status(&k->synced, e) : s;
}

/* What must be the same is found out once, when it is needed first. */
static enum mrs_status
know_same(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    struct mrs_build b;
    struct mrs_view d;
    enum mrs_status s = MRS_OK;
    if (k->input.n) {
        return MRS_OK;
    }
    mrs_buf_reset(&k->options);
    mrs_build_init(&b, &k->options);
    s = mrsi_same_options(en, &b, e);
    s = s == MRS_OK ? mrs_build_finish(&b, &d, e) : s;
    if (s == MRS_OK) {
        mrs_build_init(&b, &k->input);
        s = mrsi_same_input(en, &b, e);
        s = s == MRS_OK ? mrs_build_finish(&b, &d, e) : s;
    }
    if (s != MRS_OK) {
        mrs_buf_reset(&k->input); /* half of it is nothing */
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
    struct mrsi_keep *k = en->keep;
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
tell(struct mrsi_engine *en, bool written)
{
    if (en->opts->checkpoint) {
        en->opts->checkpoint(en->opts->checkpoint_arg, written);
    }
}

/* From before the rename on the files of both states are kept; behind it those of the new one alone. */
static enum mrs_status
replace_state(struct mrsi_keep *k, const struct mrs_buf *file, struct mrs_err *e)
{
    size_t old = k->on_disk.n;
    mrs_buf_put(&k->on_disk, k->files.p, k->files.n);
    if (k->pass.n) {
        mrs_buf_put(&k->on_disk, k->pass_files.p, k->pass_files.n);
    }
    enum mrs_status s = mrs_buf_status(&k->on_disk, e);
    s = s == MRS_OK ? mrs_beside_write(&k->side, file->p, file->n, e) : s;
    if (s == MRS_OK) {
        k->on_disk.n -= old;
        if (old && k->on_disk.n) {
            memmove(k->on_disk.p, k->on_disk.p + old, k->on_disk.n);
        }
        k->is_on_disk = true;
        k->pass_on_disk = k->pass.n > 0;
    }
    return s;
}

/* The state of the last boundary, with the mark where there is one, becomes the one on disk. One that is too large for
 * a document is left out: then the run can be gone on with from an earlier one. */
static enum mrs_status
write_state(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    struct mrs_buf body, file;
    mrs_buf_init(&body, en->mem, MRS_DOC_MAX);
    mrs_buf_init(&file, en->mem, MRS_STOPPED_MAX);
    tell(en, false);
    enum mrs_status s = sync_files(en, e);
    s = s == MRS_OK ? know_same(en, e) : s;
    if (s == MRS_OK) {
        struct mrs_err own;
        mrs_err_clear(&own);
        s = compose(en, &body, &file, &own);
        k->left_out = s != MRS_OK && own.code == MRS_E_LIMIT;
        if (s == MRS_OK) {
            s = replace_state(k, &file, e);
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
        remove_doomed(en);
        tell(en, true);
    }
    return s;
}

static enum mrs_status
put_into_words(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    struct mrs_build b;
    struct mrs_view d;
    uint64_t begun = mrs_clock_steady();
    mrs_buf_reset(&k->boundary);
    mrs_buf_reset(&k->files);
    mrs_buf_reset(&k->pass);
    mrs_build_init(&b, &k->boundary);
    mrs_build_bool(&b, "whole", k->is_whole);
    enum mrs_status s = mrsi_state_describe(en, step, &b, &k->files, e);
    s = s == MRS_OK ? mrs_build_finish(&b, &d, e) : s;
    k->is_newer = k->exact = s == MRS_OK;
    k->words_took_ms += mrs_clock_steady() - begun;
    remove_doomed(en);
    return s;
}

enum mrs_status
mrsi_keep_boundary(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    if (!k || !en->out) {
        return MRS_OK;
    }
    uint64_t now = mrs_clock_steady(), since = k->written_ms ? k->written_ms : k->begun_ms;
    uint64_t most = en->opts->checkpoint_ms;
    uint64_t least = most && most < BETWEEN_MS ? most : BETWEEN_MS;
    if (k->from_pass.n > MRS_DOC_MIN) {
        return k->begins++ ? mrsi_state_damaged("no pass wants its mark", e) : MRS_OK;
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
mrsi_keep_whole(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    if (!k || !en->out) {
        return MRS_OK;
    }
    if (k->from_pass.n > MRS_DOC_MIN) { /* the run was stopped while its residue was written, or it was published */
        struct mrs_val kind = mrs_doc_get(k->from_pass, "kind");
        bool wanted = mrs_val_is_text(kind, MRSI_KEEP_PUBLISH) ||
                      (en->opts->write_residue && mrs_val_is_text(kind, MRSI_KEEP_RESIDUE));
        return wanted ? MRS_OK : mrsi_state_damaged("no pass wants its mark", e);
    }
    k->is_whole = true;
    bool inverse = en->opts->write_residue; /* whose run leaves something of its own */
    bool wanted = inverse || k->is_on_disk || everywhere(en) || mrs_clock_steady() - k->begun_ms >= BETWEEN_MS;
    enum mrs_status s = put_into_words(en, en->plan->n_steps, e);
    bool marked = en->residue; /* where one is put back a mark comes next: what was written stands in it alone */
    return s == MRS_OK && wanted && !marked ? write_state(en, e) : s; /* not wanted: nobody would look for it */
}

/* ---- marks ---- */
enum mrs_status
mrsi_keep_until_mark(struct mrsi_engine *en, struct mrsi_temp *t, struct mrs_err *e)
{
    struct mrs_buf *held = &en->keep->pass_temps;
    mrs_buf_put(held, &t, sizeof t);
    if (held->bad) {
        mrsi_temp_drop(en, t);
    }
    return mrs_buf_status(held, e);
}

static void
drop_pass_temps(struct mrsi_engine *en)
{
    struct mrs_buf *held = &en->keep->pass_temps;
    for (size_t i = 0; i + sizeof(struct mrsi_temp *) <= held->n; i += sizeof(struct mrsi_temp *)) {
        struct mrsi_temp *t;
        memcpy(&t, held->p + i, sizeof t);
        mrsi_temp_drop(en, t);
    }
    mrs_buf_reset(held);
}

bool
mrsi_keep_due(const struct mrsi_engine *en)
{
    const struct mrsi_keep *k = en->keep;
    if (!k || !en->out || !k->exact) {
        return false;
    }
    uint64_t now = mrs_clock_steady(), since = k->written_ms ? k->written_ms : k->begun_ms;
    uint64_t most = en->opts->checkpoint_ms;
    return everywhere(en) || now - since >= (most ? most : MARK_MS) ||
           (mrsi_cancelled(en) && (k->is_on_disk || now - k->begun_ms >= BETWEEN_MS));
}

static enum mrs_status
make_mark(const struct mrsi_pass *p, struct mrs_err *e)
{
    struct mrsi_keep *k = p->en->keep;
    struct mrs_build b;
    struct mrs_view d;
    mrs_buf_reset(&k->pass);
    mrs_buf_reset(&k->pass_files);
    mrs_build_init(&b, &k->pass);
    enum mrs_status s = mrsi_pass_describe(p, &b, &k->pass_files, e);
    s = s == MRS_OK ? mrs_buf_status(&k->pass_files, e) : s;
    if (s == MRS_OK) {
        mrsi_state_put_bytes(&b, "files", k->pass_files.p, k->pass_files.n);
        s = mrs_build_finish(&b, &d, e);
    }
    return s;
}

enum mrs_status
mrsi_keep_mark(const struct mrsi_pass *p, struct mrs_err *e)
{
    struct mrsi_keep *k = p->en->keep;
    struct mrs_err own;
    mrs_err_clear(&own);
    enum mrs_status s = make_mark(p, &own);
    if (s == MRS_OK) {
        s = write_state(p->en, e);
        k->reached++;
    } else if (own.code == MRS_E_LIMIT) {
        k->left_out = true;
        k->written_ms = mrs_clock_steady(); /* the next try comes when the next mark is due */
        s = MRS_OK;
    } else if (e) {
        *e = own;
    }
    drop_pass_temps(p->en);
    mrs_buf_reset(&k->pass);
    return s;
}

/* Where it is left out the boundary counts again. */
enum mrs_status
mrsi_keep_mark_anew(const struct mrsi_pass *p, struct mrs_err *e)
{
    const struct mrsi_keep *k = p->en->keep;
    enum mrs_status s = mrsi_keep_mark(p, e);
    return s == MRS_OK && k->left_out && k->pass_on_disk ? write_state(p->en, e) : s;
}

bool
mrsi_keep_has_mark(const struct mrsi_engine *en)
{
    return en->keep && en->keep->exact && en->keep->pass_on_disk;
}

void
mrsi_keep_mark_for(struct mrsi_pass *p)
{
    struct mrsi_keep *k = p->en->keep;
    p->from = mrs_empty_doc();
    if (k && k->from_pass.n > MRS_DOC_MIN && mrs_val_is_text(mrs_doc_get(k->from_pass, "kind"), p->kind)) {
        p->from = k->from_pass;
        k->from_pass = mrs_empty_doc();
    }
}

/* ---- the beginning ---- */
static enum mrs_status
make_keep(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_keep *k = mrs_zalloc(en->mem, sizeof *k);
    if (!k) {
        return mrs_err_memory(e, sizeof *k);
    }
    struct mrs_buf *const bufs[] = {&k->options, &k->input,      &k->boundary, &k->files, &k->pass,
                                    &k->on_disk, &k->pass_files, &k->pass_temps, &k->synced, &k->doomed};
    k->from_pass = mrs_empty_doc();
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        mrs_buf_init(bufs[i], en->mem, MRS_DOC_MAX);
    }
    k->side = (struct mrs_beside){en->mem, en->opts->output, en->opts->tmp};
    k->next = 1;
    k->begun_ms = mrs_clock_steady();
    en->keep = k;
    return MRS_OK;
}

static enum mrs_status
read_state(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    struct mrs_err own;
    size_t n = 0;
    mrs_err_clear(&own);
    enum mrs_status s = mrs_beside_read(&k->side, &k->bytes, &n, &own);
    if (s != MRS_OK && own.code == MRS_E_MISSING) {
        en->report->anew = true;
        return MRS_OK;
    }
    if (s != MRS_OK) {
        *e = own;
        return s;
    }
    s = mrsi_checkpoint_parse(k->bytes, n, &k->from, e);
    s = s == MRS_OK ? know_same(en, e) : s;
    if (s == MRS_OK) {
        struct mrs_view options = {k->options.p, (uint32_t)k->options.n}, input = {k->input.p, (uint32_t)k->input.n};
        s = mrsi_same_check(en, &k->from, options, input, e);
    }
    k->resumes = s == MRS_OK;
    if (k->resumes) {
        mrsi_secret_take(en, k->from.secret); /* what is held as hashes now meets what was */
    }
    return s == MRS_OK ? mrs_beside_settle(&k->side, k->from.output, en->opts->force, &k->is_published, e) : s;
}

enum mrs_status
mrsi_keep_begin(struct mrsi_engine *en, struct mrs_err *e)
{
    const struct mrs_run_opts *o = en->opts;
    bool stream = o->output && strcmp(o->output, "-") == 0;
    if (o->resume && (stream || o->dry_run || !o->checkpoints)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--resume: a run that writes %s leaves nothing to go on with",
                           stream ? "to standard output" : "no dump");
    }
    if (!o->checkpoints || o->dry_run || stream) {
        return MRS_OK;
    }
    enum mrs_status s = make_keep(en, e);
    return s == MRS_OK && o->resume ? read_state(en, e) : s;
}

enum mrs_status
mrs_stopped_now(struct mrs_mem *mem, const char *output, int64_t *now, struct mrs_err *e)
{
    struct mrs_beside side = {mem, output, NULL};
    struct mrsi_checkpoint cp;
    char *p = NULL;
    size_t n;
    enum mrs_status s = mrs_beside_read(&side, &p, &n, e);
    s = s == MRS_OK ? mrsi_checkpoint_parse(p, n, &cp, e) : s;
    if (s == MRS_OK) {
        *now = cp.now_ms;
    }
    mrs_beside_place(&side, e);
    mrs_free(mem, p);
    return s;
}

bool
mrsi_keep_resumes(const struct mrsi_engine *en)
{
    return en->keep && en->keep->resumes;
}

bool
mrsi_keep_was_whole(const struct mrsi_engine *en)
{
    return en->keep && en->keep->was_whole;
}

bool
mrsi_keep_is_published(const struct mrsi_engine *en)
{
    return en->keep && en->keep->is_published;
}

/* Files that the state names stay, the others go. */
static enum mrs_status
keep_files(struct mrsi_engine *en, bool in_pass, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    bool bad = false;
    enum mrs_status s = copy_list(&k->on_disk, &k->files, e);
    if (s == MRS_OK && in_pass) {
        size_t n;
        const uint8_t *p = mrsi_state_bytes(k->from.pass, "files", &n, &bad);
        bad = bad || n % sizeof(uint32_t);
        mrs_buf_put(&k->on_disk, p, bad ? 0 : n);
        s = bad ? mrsi_state_damaged("its files", e) : mrs_buf_status(&k->on_disk, e);
    }
    struct mrs_beside_keep keep = {(const uint32_t *)(const void *)k->on_disk.p,
                                   (uint32_t)(k->on_disk.n / sizeof(uint32_t))};
    s = s == MRS_OK ? mrs_beside_check(&k->side, &keep, e) : s; /* while all is as it was */
    return s == MRS_OK ? mrs_beside_clear(&k->side, &keep, e) : s;
}

enum mrs_status
mrsi_keep_take_up(struct mrsi_engine *en, uint32_t *step, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    bool bad = false;
    if (!k->resumes) {
        k->took_up = true;
        enum mrs_status s = mrs_beside_clear(&k->side, NULL, e);
        s = s == MRS_OK ? mrsi_inverse_forget(en->mem, en->opts, e) : s;
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
    k->next = (uint32_t)mrsi_state_number(latest, "next", UINT32_MAX - 1, &bad);
    enum mrs_status s = bad || !k->next ? mrsi_state_damaged("its head", e) : MRS_OK;
    s = s == MRS_OK ? mrsi_state_apply(en, k->from.state, step, &k->files, e) : s;
    en->report->resumed = true;
    if (s == MRS_OK && k->is_published && !(whole.type == MRS_BOOL && *whole.p && *step == en->plan->n_steps)) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_EXISTS,
                        "%s is there and whole; %s.checkpoint is of a time before that: remove it", en->opts->output,
                        en->opts->output);
    }
    if (s != MRS_OK || k->is_published) {
        k->from_pass = k->from.pass; /* for what it says: no pass is begun any more */
        return s;
    }
    s = mrs_output_take_up(en->out, output, open, e);
    s = s == MRS_OK ? keep_files(en, in_pass, e) : s;
    if (s == MRS_OK) {
        k->took_up = k->is_on_disk = k->exact = true;
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

/* ---- the end ---- */
enum mrs_status
mrsi_keep_forget(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    enum mrs_status s = k ? mrs_beside_clear(&k->side, NULL, e) : MRS_OK;
    if (k && s == MRS_OK) {
        k->is_on_disk = false;
    }
    return s;
}

/* Errors after which the same command may succeed. */
static bool
may_go_on(enum mrs_status s, const struct mrs_err *e)
{
    enum mrs_code c = e ? e->code : MRS_E_NONE;
    return s == MRS_DEAD || c == MRS_E_CANCEL || c == MRS_E_IO || c == MRS_E_MEMORY || c == MRS_E_EXISTS;
}

static void
stop(struct mrsi_engine *en, enum mrs_status s, const struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    bool go_on = may_go_on(s, e);
    bool worth = k->is_on_disk || (k->reached && (everywhere(en) || mrs_clock_steady() - k->begun_ms >= BETWEEN_MS));
    struct mrs_err own;
    mrs_err_clear(&own);
    if (go_on && k->took_up && k->is_newer && worth) {
        (void)write_state(en, &own); /* else the older one is what there is */
    }
    if (!k->took_up || (go_on && k->is_on_disk)) {
        mrs_output_leave(en->out);
        en->report->stopped = k->is_on_disk;
        return;
    }
    (void)mrsi_inverse_forget(en->mem, en->opts, NULL);
    if (mrs_beside_clear(&k->side, NULL, NULL) == MRS_OK) {
        mrs_output_abort(en->out);
    } else {
        mrs_output_leave(en->out); /* a state that cannot be removed never stands without what it speaks of */
    }
}

void
mrsi_keep_end(struct mrsi_engine *en, enum mrs_status s, struct mrs_err *e)
{
    struct mrsi_keep *k = en->keep;
    if (s != MRS_OK && en->out && k) {
        stop(en, s, e);
    } else if (s != MRS_OK && en->out) {
        mrs_output_abort(en->out);
    } else if (k && s == MRS_OK) {
        (void)mrs_beside_clear(&k->side, NULL, NULL); /* published: what cannot be removed stays beside */
    }
    if (k) {
        mrs_beside_place(&k->side, e);
        drop_pass_temps(en);
        struct mrs_buf *const bufs[] = {&k->options, &k->input,      &k->boundary, &k->files, &k->pass,
                                        &k->on_disk, &k->pass_files, &k->pass_temps, &k->synced, &k->doomed};
        for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
            mrs_buf_clear(bufs[i]);
        }
        mrs_free(en->mem, k->bytes);
        mrs_free(en->mem, k);
        en->keep = NULL;
    }
}
