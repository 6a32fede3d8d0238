/* SPDX-License-Identifier: Apache-2.0 */
/* fz_checkpoint.c - a state that says something else than the run that was stopped left, and a run that goes on with
 * it.
 *
 * The first byte of the input chooses the plan, the second the checkpoint at which its run was stopped. The rest is
 * either a script (edits.h) that changes the state, the mark or the files beside them, or any bytes: read as a document
 * whose `state` and `pass` take the place of those that were left (options, input and checksum are put in here, since
 * no mutation would pass them), and by itself as a whole file. Where a residue is made or put back, the inverse has a
 * state of its own. Either the run is refused with a reason or it ends; nothing leaks, no file stays open. With an
 * empty script it ends well, with the same documents. */
#include "run/pass/checkpoint.h"
#include "edits.h"
#include "stopped.h"

#define SCRIPT      0x80 /* in the first byte: the rest is a script */
#define EVERYWHERE  0x80 /* in the second: who goes on makes checkpoints wherever one is possible */
#define OTHERWISE   0x40 /* and has another amount of memory */
#define IN_STATE    0x40 /* of an edit's `where`: below the mark, if there is one */
#define IN_FILES    0x80
#define OF_INVERSE  0x80 /* of its `how`: in the state of the inverse, if there is one */
#define EDITS       16
#define STATES      2
#define STATE_HEAD  8 /* bytes of the frame before the document */
#define STATE_FRAME 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* One secret for all runs: their residues are compared byte for byte. */
bool __wrap_mrs_random(void *p, size_t n);

bool
__wrap_mrs_random(void *p, size_t n)
{
    memset(p, 7, n);
    return true;
}

/* A document that is edited again and again. */
struct draft {
    struct mrs_buf room[2];
    unsigned turn;
    struct mrs_view doc;
};

/* Of the run, and of the inverse of its plan where there is a residue. */
static const char *const state_name[STATES] = {"out.checkpoint/state", "out.inverse.checkpoint/state"};

static bool
is_state(const struct left_file *f)
{
    return f->p && (strcmp(f->path, state_name[0]) == 0 || strcmp(f->path, state_name[1]) == 0);
}

/* Without bytes: it was not left. */
static struct mrs_view
state_of(const struct left *l, const char *name)
{
    for (size_t k = 0; k < l->n_files; k++) {
        const struct left_file *f = &l->file[k];
        if (f->p && strcmp(f->path, name) == 0) {
            must(f->n > STATE_FRAME + MRS_DOC_MIN);
            return (struct mrs_view){f->p + STATE_HEAD, (uint32_t)(f->n - STATE_FRAME)};
        }
    }
    return (struct mrs_view){NULL, 0};
}

/* Goes on with what was put there, as the second byte says. */
static enum mrs_status
go_on(struct mrs_mem *mem, const struct scene *sc, unsigned how)
{
    struct mrs_err e;
    struct scene other = *sc;
    unsigned before = open_files();
    if (how & OTHERWISE) {
        other.memory = sc->memory > 4096 ? 4096 : 64u << 20;
    }
    mrs_err_clear(&e);
    enum mrs_status s = run_scene(mem, &other, true, how & EVERYWHERE ? 1 : 0, &e);
    must(s == MRS_OK || (e.code != MRS_E_NONE && e.msg[0]));
    must(open_files() == before);
    return s;
}

/* The state that was left, with other values of the run and of its pass; missing: none. False: too long. */
static bool
put_state(struct mrs_mem *mem, const char *name, struct mrs_view old, struct mrs_val state, struct mrs_val pass)
{
    struct mrs_buf body, file;
    struct mrs_build b;
    struct mrs_view whole;
    struct mrs_walk w;
    struct mrs_elem x;
    mrs_buf_init(&body, mem, MRS_DOC_MAX);
    mrs_buf_init(&file, mem, MRS_STOPPED_MAX);
    mrs_build_init(&b, &body);
    mrs_walk_init(&w, old);
    while (mrs_walk_next(&w, &x) == 1) {
        if (strcmp(x.name, "state") != 0 && strcmp(x.name, "pass") != 0) {
            mrs_build_elem(&b, &x);
        }
    }
    mrs_build_val(&b, "state", 5, state);
    mrs_build_val(&b, "pass", 4, pass);
    bool good = mrs_build_finish(&b, &whole, NULL) == MRS_OK;
    if (good) {
        mrsi_checkpoint_frame(whole, &file);
        good = !file.bad;
        put(at(name), file.p, good ? file.n : 0);
    }
    mrs_buf_clear(&body);
    mrs_buf_clear(&file);
    return good;
}

/* ---- scripts ---- */
static void
draft_begin(struct draft *d, struct mrs_mem *mem, struct mrs_val v)
{
    mrs_buf_init(&d->room[0], mem, 1 << 20);
    mrs_buf_init(&d->room[1], mem, 1 << 20);
    d->turn = 0;
    d->doc = v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc();
}

static void
draft_edit(struct draft *d, const struct edit *x)
{
    struct mrs_buf *to = &d->room[d->turn % 2];
    mrs_buf_reset(to);
    if (edit_doc(d->doc, x, to)) {
        d->doc = (struct mrs_view){to->p, (uint32_t)to->n};
        d->turn++;
    }
}

static void
draft_end(struct draft *d)
{
    mrs_buf_clear(&d->room[0]);
    mrs_buf_clear(&d->room[1]);
}

/* A file beside the state, as it was put there, is changed. */
static void
edit_beside(const struct left *l, const struct edit *x)
{
    const struct left_file *f = &l->file[x->which % l->n_files];
    if (f->p && !is_state(f)) {
        uint8_t *p = malloc(f->n + SPARE);
        must(p != NULL);
        memcpy(p, f->p, f->n + SPARE);
        put(at(f->path), p, edit_file(p, f->n, x));
        free(p);
    }
}

/* A state that is edited; old without bytes: there is none. */
struct rewriting {
    struct mrs_view old;
    bool marked; /* it has a pass */
    struct draft state, pass;
};

static void
rewriting_begin(struct rewriting *r, struct mrs_mem *mem, const struct left *l, const char *name)
{
    r->old = state_of(l, name);
    struct mrs_view d = r->old.p ? r->old : mrs_empty_doc();
    struct mrs_val pass = mrs_doc_get(d, "pass");
    r->marked = pass.type != MRS_MISSING;
    draft_begin(&r->state, mem, mrs_doc_get(d, "state"));
    draft_begin(&r->pass, mem, pass);
}

/* False: too long. */
static bool
rewriting_end(struct rewriting *r, struct mrs_mem *mem, const char *name)
{
    struct mrs_val pass = r->marked ? mrs_view_val(r->pass.doc) : mrs_missing();
    bool good = !r->old.p || put_state(mem, name, r->old, mrs_view_val(r->state.doc), pass);
    draft_end(&r->state);
    draft_end(&r->pass);
    return good;
}

static void
follow_script(struct mrs_mem *mem, unsigned scene, unsigned stop, const uint8_t *script, size_t n)
{
    const struct stops *st = stops_of(mem, scene);
    const struct left *l = &st->at[stop % OTHERWISE % st->n];
    struct rewriting of[STATES];
    drop_output();
    put_left(l);
    for (size_t i = 0; i < STATES; i++) {
        rewriting_begin(&of[i], mem, l, state_name[i]);
    }
    for (size_t i = 0; i < EDITS && (i + 1) * EDIT_BYTES <= n; i++) {
        struct edit x = edit_at(script + i * EDIT_BYTES);
        struct rewriting *r = &of[!of[0].old.p || (of[1].old.p && x.how & OF_INVERSE)];
        if (x.where >= IN_FILES) {
            edit_beside(l, &x);
        } else {
            draft_edit(r->marked && x.where < IN_STATE ? &r->pass : &r->state, &x);
        }
    }
    bool good = rewriting_end(&of[0], mem, state_name[0]);
    good = rewriting_end(&of[1], mem, state_name[1]) && good;
    enum mrs_status s = good ? go_on(mem, &scenes[scene], stop) : MRS_FAIL;
    /* the inverse's input was put back as other files (inode, time of change): that it is refused then is right */
    if (n < EDIT_BYTES && (s == MRS_OK || scenes[scene].way == FORWARD)) {
        struct mrs_hash_sum made = picture_of_output();
        must(s == MRS_OK && made.lo == st->good.lo && made.hi == st->good.hi);
    }
}

/* ---- any bytes ---- */
static void
take_bytes(struct mrs_mem *mem, unsigned scene, unsigned stop, struct mrs_view d)
{
    const struct stops *st = stops_of(mem, scene);
    const struct left *l = &st->at[stop % OTHERWISE % st->n];
    const char *name = state_name[state_of(l, state_name[0]).p == NULL];
    struct mrsi_checkpoint cp;
    (void)mrsi_checkpoint_parse(d.p, d.n, &cp, NULL);
    (void)mrsi_checkpoint_parse_body(d.p, d.n, &cp, NULL);
    drop_output();
    put_left(l);
    if (mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL) != MRS_OK || mrs_le32(d.p) != d.n ||
        !put_state(mem, name, state_of(l, name), mrs_doc_get(d, "state"), mrs_doc_get(d, "pass"))) {
        put(at(name), d.p, d.n);
    }
    go_on(mem, &scenes[scene], stop);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    must(mem != NULL);
    if (!top[0]) {
        make_ground(mem);
    }
    must(mrs_mem_live(mem) == 0);
    if (n > 1 && n < 1 << 18) {
        unsigned scene = data[0] % SCRIPT % SCENES;
        if (data[0] >= SCRIPT) {
            follow_script(mem, scene, data[1], data + 2, n - 2);
        } else if (n > 2) {
            take_bytes(mem, scene, data[1], (struct mrs_view){data + 2, (uint32_t)n - 2});
        }
    }
    must(mrs_mem_close(mem) == 0);
    return 0;
}
