/* SPDX-License-Identifier: Apache-2.0 */
/* fz_live.c - whatever a server may answer, given to those parts of the online tool that read it.
 *
 * The connection is replaced: its commands and cursors answer with what the input says, a line each, as Extended
 * JSON, as "#" and the bytes of a document in hex, or as "!" and the code of an error; "." ends a cursor. The first
 * byte of the input chooses who asks: the catalogue and the look before the first write, run documents and what
 * `status` makes of them, change lists, checkpoints, lists of actions, small documents. Each ends with a status and a
 * reason, whatever it is told, what is written as JSON can be read as such, and nothing leaks. What else is in the
 * first line makes an allocation fail. Needs no libmongoc. */
#include "mongoreshape/catalogue.h"
#include "live/server/preflight.h"
#include "live/quiet/quiet.h"
#include "live/state/state_io.h"

#include "mongoreshape/ejson.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* ---- the answers ---- */
static struct {
    const char *at, *end;
    struct mrs_mem *mem;
    uint8_t *doc; /* the last answer, in a block of its own */
    uint32_t left; /* answers: a list that has no end is not what is looked for here */
} said;

struct live_link {
    int unused;
};
struct live_cursor {
    int unused;
};
struct live_watch {
    int unused;
};
static struct live_link one_link;
static struct live_cursor one_cursor;

static bool
from_hex(const char *text, size_t n, struct mrs_buf *out)
{
    for (size_t i = 0; i + 1 < n; i += 2) {
        static const char digits[] = "0123456789abcdef";
        const char *a = memchr(digits, text[i], 16), *b = memchr(digits, text[i + 1], 16);
        if (!a || !b) {
            return false;
        }
        mrs_buf_byte(out, (uint8_t)((a - digits) * 16 + (b - digits)));
    }
    return n > 0;
}

static enum mrs_status
refusal(const char *line, size_t n, struct live_fault *f, struct mrs_err *e)
{
    struct live_fault own;
    int code = 0;
    for (size_t i = 1; i < n && line[i] >= '0' && line[i] <= '9' && code < 100000; i++) {
        code = 10 * code + (line[i] - '0');
    }
    f = f ? f : &own;
    memset(f, 0, sizeof *f);
    f->code = code;
    f->kind = code == 13                ? LIVE_FAULT_DENIED
              : code == 26 || code == 27 ? LIVE_FAULT_MISSING
              : code == 48 || code == 85 ? LIVE_FAULT_EXISTS
              : code == 11000            ? LIVE_FAULT_DUPLICATE
                                         : LIVE_FAULT_OTHER;
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the server says %d", code);
}

/* OK: *doc lives until the next call; END: a dot, or nothing that can be read as a document. */
static enum mrs_status
answer(struct mrs_view *doc, struct live_fault *f, struct mrs_err *e)
{
    struct mrs_buf b;
    size_t used = 0;
    free(said.doc);
    said.doc = NULL;
    if (said.at >= said.end || said.left-- == 0) {
        said.at = said.end;
        return MRS_END;
    }
    const char *line = said.at, *stop = memchr(line, '\n', (size_t)(said.end - line));
    stop = stop ? stop : said.end;
    said.at = stop < said.end ? stop + 1 : stop;
    if (line < stop && *line == '!') {
        return refusal(line, (size_t)(stop - line), f, e);
    }
    mrs_buf_init(&b, said.mem, 1 << 20);
    bool hex = line < stop && *line == '#';
    bool good = hex ? from_hex(line + 1, (size_t)(stop - line) - 1, &b)
                    : mrs_ejson_read(line, (size_t)(stop - line), MRS_EJSON_DATA, &b, &used, NULL) == MRS_OK;
    good = good && !b.bad && b.n >= MRS_DOC_MIN && mrs_doc_check(b.p, b.n, MRS_DEPTH_READ, NULL) == MRS_OK;
    if (good) {
        said.doc = malloc(b.n);
        if (!said.doc) {
            abort();
        }
        memcpy(said.doc, b.p, b.n);
        *doc = (struct mrs_view){said.doc, (uint32_t)b.n};
    }
    mrs_buf_clear(&b);
    return good ? MRS_OK : MRS_END;
}

/* ---- link.h, as far as it is called ---- */
struct mrs_mem *
live_link_mem(const struct live_link *l)
{
    (void)l;
    return said.mem;
}

bool
live_link_replicated(const struct live_link *l)
{
    (void)l;
    return true;
}

bool
live_link_sharded(const struct live_link *l)
{
    (void)l;
    return false;
}

uint64_t
live_link_generation(const struct live_link *l)
{
    (void)l;
    return 1;
}

void
live_link_check_before_writes(struct live_link *l, live_write_check write_check, void *arg) /* no time goes by here */
{
    (void)l, (void)write_check, (void)arg;
}

void
live_link_state(struct live_link *l, const char *state_db)
{
    (void)l;
    (void)state_db;
}

void
live_link_mark(struct live_link *l, const char *comment)
{
    (void)l, (void)comment;
}

enum mrs_status
live_command(struct live_link *l, const char *db, struct mrs_view cmd, unsigned flags, struct mrs_buf *out,
             struct live_fault *f, struct mrs_err *e)
{
    struct mrs_view doc;
    (void)l, (void)db, (void)flags;
    if (mrs_doc_check(cmd.p, cmd.n, MRS_DEPTH_READ, NULL) != MRS_OK) {
        abort();
    }
    if (f) {
        memset(f, 0, sizeof *f);
    }
    enum mrs_status s = answer(&doc, f, e);
    if (s == MRS_END) {
        return refusal("!0", 2, f, e);
    }
    if (s == MRS_OK && out) {
        mrs_buf_put(out, doc.p, doc.n);
        s = mrs_buf_status(out, e);
    }
    return s;
}

enum mrs_status
live_members(struct live_link *l, struct mrs_buf *out, struct mrs_err *e)
{
    struct mrs_view doc;
    struct live_fault f;
    (void)l;
    enum mrs_status s = answer(&doc, &f, e);
    if (s == MRS_OK) {
        mrs_buf_put(out, doc.p, doc.n);
        s = mrs_buf_status(out, e);
    }
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
live_find(struct live_link *l, const struct mrs_coll *coll, struct mrs_view filter, struct mrs_view opts,
          unsigned flags, struct live_cursor **out, struct mrs_err *e)
{
    (void)l, (void)coll, (void)filter, (void)opts, (void)flags, (void)e;
    *out = &one_cursor;
    return MRS_OK;
}

enum mrs_status
live_aggregate(struct live_link *l, const struct mrs_coll *coll, struct mrs_view pipeline, struct mrs_view opts,
               unsigned flags, struct live_cursor **out, struct mrs_err *e)
{
    return live_find(l, coll, pipeline, opts, flags, out, e);
}

enum mrs_status
live_cursor_next(struct live_cursor *c, struct mrs_view *doc, struct live_fault *f, struct mrs_err *e)
{
    (void)c;
    if (f) {
        memset(f, 0, sizeof *f);
    }
    return answer(doc, f, e);
}

void
live_cursor_close(struct live_cursor *c)
{
    (void)c;
}

enum mrs_status
live_find_one(struct live_link *l, const struct mrs_coll *coll, struct mrs_view filter, struct mrs_view opts,
              struct mrs_buf *out, struct live_fault *f, struct mrs_err *e)
{
    struct mrs_view doc;
    (void)l, (void)coll, (void)filter, (void)opts;
    if (f) {
        memset(f, 0, sizeof *f);
    }
    enum mrs_status s = answer(&doc, f, e);
    if (s == MRS_OK) {
        mrs_buf_put(out, doc.p, doc.n);
        s = mrs_buf_status(out, e);
    }
    return s;
}

enum mrs_status
live_bulk(struct live_link *l, const struct mrs_coll *coll, const struct live_op *ops, uint32_t n, unsigned flags,
          bool bypass, struct mrs_arena *arena, struct live_bulk_result *r, struct live_fault *f, struct mrs_err *e)
{
    (void)l, (void)coll, (void)ops, (void)flags, (void)bypass, (void)arena, (void)f, (void)e;
    memset(r, 0, sizeof *r);
    r->inserted = r->matched = r->modified = r->deleted = n;
    return MRS_OK;
}

enum mrs_status
live_txn_session(struct live_link *l, struct mrs_buf *out, struct mrs_err *e)
{
    (void)l, (void)out;
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "no sessions");
}

enum mrs_status
live_txn_begin(struct live_link *l, struct mrs_err *e)
{
    return live_txn_session(l, NULL, e);
}

enum mrs_status
live_txn_commit(struct live_link *l, struct live_fault *f, struct mrs_err *e)
{
    (void)l;
    return refusal("!0", 2, f, e);
}

void
live_txn_abort(struct live_link *l)
{
    (void)l;
}

enum mrs_status
live_kill_session(struct live_link *l, struct mrs_view lsid, struct mrs_err *e)
{
    (void)l, (void)lsid, (void)e;
    return MRS_OK;
}

enum mrs_status
live_watch_open(struct live_link *l, const struct live_watch_opts *o, struct live_watch **out, struct live_fault *f,
                struct mrs_err *e)
{
    (void)o, (void)out, (void)f;
    return live_txn_session(l, NULL, e);
}

enum mrs_status
live_watch_token(struct live_watch *w, struct mrs_buf *out, struct mrs_err *e)
{
    (void)w, (void)out, (void)e;
    return MRS_END;
}

enum mrs_status
live_watch_next(struct live_watch *w, struct mrs_view *event, struct live_fault *f, struct mrs_err *e)
{
    (void)w;
    return answer(event, f, e);
}

void
live_watch_close(struct live_watch *w)
{
    (void)w;
}

/* ---- who asks ---- */
static const char plan_text[] =
    "database: d\nsteps:\n- embed: { from: c, into: p, match: { post: _id }, as: cs }\n"
    "- extract: { from: p, path: l, into: made, refs: parent, parent_ref: post, id: new, count: n }\n"
    "- options: { in: p, validator: {} }\n- rename_collection: { from: c, into: e }\n";

struct asker {
    struct mrs_mem *mem, *own; /* of the plan and of answers; of the job */
    struct live_job job;
    struct mrs_live live;
    struct mrs_arena arena;
};

static void
told(enum mrs_status s, const struct mrs_err *e)
{
    if (s < MRS_OK && (e->code == MRS_E_NONE || !e->msg[0])) {
        abort();
    }
}

static bool
run_begins(struct asker *a, struct mrs_err *e)
{
    enum mrs_status s = live_run_new(&a->job, "00112233445566778899aabbccddeeff", e);
    s = s == MRS_OK ? live_run_load(&a->job, e) : s;
    told(s, e);
    return s == MRS_OK;
}

static void
ask_server(struct asker *a, struct mrs_err *e)
{
    static const char *const db[] = {"d", "d"};
    struct mrs_catalog *cat = NULL;
    struct live_preflight found;
    struct live_server *server = NULL;
    char uuid[40];
    struct mrs_coll c = {"d", "p", "d.p"};
    enum mrs_status s = live_server_read(a->own, &one_link, db, 2, &server, e);
    told(s, e);
    if (s != MRS_OK) {
        return;
    }
    s = live_server_catalog(a->own, server, &cat, e);
    s = s == MRS_OK ? mrs_plan_check(a->job.plan, cat, e) : s;
    told(s, e);
    mrs_catalog_free(cat);
    mrs_err_clear(e);
    a->job.server = server;
    a->job.opts.execute = true;
    s = live_preflight(&a->job, "apply", &found, e);
    told(s, e);
    live_preflight_clear(&found);
    mrs_err_clear(e);
    told(live_server_uuid(&one_link, &c, uuid, e), e);
    live_server_free(server);
    a->job.server = NULL;
}

static void
ask_status(struct asker *a, struct mrs_err *e)
{
    struct mrs_buf out, back;
    size_t used = 0;
    if (live_run_find(&a->job, NULL, e) != MRS_OK) {
        return;
    }
    const char *kept = said.at;
    for (int i = 0; i < 4; i++) {
        said.at = kept;
        mrs_err_clear(e);
        mrs_buf_init(&out, a->mem, 16 << 20);
        mrs_buf_init(&back, a->mem, 32 << 20);
        enum mrs_status s = live_status_text(&a->job, i & 1, i & 2, &out, e);
        told(s, e);
        if (s == MRS_OK && i & 1 && !out.bad &&
            mrs_ejson_read((char *)out.p, out.n, MRS_EJSON_PLAIN, &back, &used, e) == MRS_FAIL &&
            e->code != MRS_E_LIMIT) {
            fprintf(stderr, "%s: %.*s\n", e->msg, (int)out.n, (char *)out.p);
            abort();
        }
        mrs_buf_clear(&out);
        mrs_buf_clear(&back);
    }
}

static void
ask_journal(struct asker *a, struct mrs_err *e)
{
    struct live_journal_entry *entry;
    uint32_t n;
    enum mrs_status s = live_run_new(&a->job, "00112233445566778899aabbccddeeff", e);
    for (int64_t at = 0; s == MRS_OK && at < 20; at += n) {
        uint8_t digest[16];
        s = live_journal_read(&a->job, at, 20, 1000, &a->arena, &entry, &n, e);
        for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
            live_digest(&a->job, entry[i].doc, digest);
            if (entry[i].seq != at + i || memcmp(digest, entry[i].after, 16) != 0 || !*entry[i].coll.coll) {
                abort();
            }
        }
        if (s == MRS_OK && n == 0) {
            abort();
        }
    }
    told(s, e);
}

static void
ask_checkpoint(struct asker *a, struct mrs_err *e)
{
    struct live_checkpoint c;
    struct live_op op;
    memset(&c, 0, sizeof c);
    if (!run_begins(a, e)) {
        return;
    }
    enum mrs_status s = live_checkpoint_open(&a->job, "expand/0/0/0", &c, e);
    s = s == MRS_OK ? live_checkpoint_op(&a->job, &c, &a->arena, &op, e) : s;
    s = s == MRS_OK ? live_checkpoint_save(&a->job, &c, e) : s;
    told(s, e);
    live_checkpoint_clear(&c);
}

static void
ask_sealed(struct asker *a, struct mrs_err *e)
{
    struct live_checkpoint c;
    struct live_change_totals sealed;
    memset(&c, 0, sizeof c);
    if (!run_begins(a, e)) {
        return;
    }
    told(live_run_uuids(&a->job, e), e);
    mrs_err_clear(e);
    enum mrs_status s = live_change_totals_read(&a->job, &a->arena, &sealed, e);
    told(s, e);
    if (s == MRS_OK) {
        live_actions_name(sealed.list, INT64_MAX, "d.p");
        s = live_checkpoint_open(&a->job, "actions", &c, e);
        for (int stage = LIVE_STAGE_BEFORE; s == MRS_OK && stage <= LIVE_STAGE_LAST; stage++) {
            s = live_actions_do(&a->job, sealed.list, (enum live_stage)stage, &c, e);
        }
        told(s, e);
        live_checkpoint_clear(&c);
    }
    mrs_err_clear(e);
    told(live_block_leave(&a->job, e), e);
}

static void
ask_small(struct asker *a, const char *text, size_t n, struct mrs_err *e)
{
    char template[200], out[40], path[40];
    struct mrs_view doc, made, none = {NULL, 0};
    struct mrs_buf b, kept;
    size_t used = strcspn(text, "\n");
    used = used < n ? used : n;
    used = used < sizeof template - 1 ? used : sizeof template - 1;
    for (size_t i = 0; i < used; i++) {
        template[i] = text[i] == '%' ? '_' : text[i]; /* what they are given is the caller's promise */
    }
    template[used] = 0;
    snprintf(path, sizeof path, "%.39s", template);
    mrs_buf_init(&b, a->mem, 1 << 20);
    mrs_buf_init(&kept, a->mem, 1 << 20);
    enum mrs_status s = live_doc(&b, &made, e, template);
    told(s, e);
    if (s == MRS_OK && mrs_doc_check(made.p, made.n, MRS_DEPTH_READ, NULL) != MRS_OK) {
        abort();
    }
    mrs_err_clear(e);
    mrs_buf_reset(&b);
    if (answer(&doc, NULL, e) == MRS_OK) {
        struct mrs_val v = live_at(doc, path);
        s = live_doc(&b, &made, e, "{v: %v, d: %d, a: %a, none: %d, s: %s, i: %i, t: %t, l: [%d, %v]}", v, doc, doc,
                     none, path, live_int_at(doc, path, -1), live_date_at(doc, path, 0), doc, v);
        told(s, e);
        if (s == MRS_OK && mrs_doc_check(made.p, made.n, MRS_DEPTH_READ + 2, NULL) != MRS_OK) {
            abort();
        }
        mrs_err_clear(e);
        live_text_at(doc, path, out, sizeof out);
        live_text_at(doc, path, out, 1);
        live_bool_at(doc, path, true);
        live_zero_time(doc);
        s = live_stored(doc, &kept, &made, e);
        told(s, e);
        if (s == MRS_OK && (made.n != doc.n || mrs_doc_check(made.p, made.n, MRS_DEPTH_READ, NULL) != MRS_OK)) {
            abort();
        }
    }
    mrs_buf_clear(&b);
    mrs_buf_clear(&kept);
}

static void
open_asker(struct asker *a, uint64_t fail_at)
{
    struct mrs_plan_opts po = {.file = "p", .default_db = "d", .now_ms = 1};
    struct mrs_err e;
    mrs_err_clear(&e);
    memset(a, 0, sizeof *a);
    a->mem = said.mem = mrs_mem_new(0);
    mrs_arena_init(&a->arena, a->mem);
    a->own = mrs_mem_new(fail_at);
    a->job = (struct live_job){.mem = a->own, .link = &one_link};
    a->job.opts = (struct live_opts){.db = "d", .state_db = "st", .lease_ms = 1000, .quiet = LIVE_BY_VALIDATOR};
    if (mrs_plan_load(a->mem, plan_text, sizeof plan_text - 1, &po, &a->job.plan, &e) != MRS_OK ||
        mrs_live_judge(a->job.plan, &a->arena, &a->live, &e) != MRS_OK) {
        fprintf(stderr, "%s %s\n", e.msg, a->job.plan && a->job.plan->n_errors ? a->job.plan->errors[0].msg : "");
        abort();
    }
    a->job.live = &a->live;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct asker a;
    struct mrs_err e;
    if (n < 2) {
        return 0;
    }
    char *text = malloc(n + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, n);
    text[n] = 0;
    const char *line = memchr(text, '\n', n);
    said.at = line ? line + 1 : text + n;
    said.end = text + n;
    said.left = 2000;
    bool fails = text[1] != '\n' && strchr("srjcq", text[0]);
    open_asker(&a, fails ? 1 + 3 * (uint64_t)(uint8_t)text[1] : 0);
    mrs_err_clear(&e);
    switch (text[0]) {
    case 's': ask_server(&a, &e); break;
    case 'r': ask_status(&a, &e); break;
    case 'j': ask_journal(&a, &e); break;
    case 'c': ask_checkpoint(&a, &e); break;
    case 'q': ask_sealed(&a, &e); break;
    default: ask_small(&a, text + 1, n - 1, &e); break;
    }
    a.job.link = &one_link;
    said.at = said.end; /* leases are given back to nobody */
    live_run_close(&a.job);
    mrs_plan_free(a.job.plan);
    mrs_arena_clear(&a.arena);
    free(said.doc);
    said.doc = NULL;
    free(text);
    if (mrs_mem_close(a.own) != 0 || mrs_mem_close(a.mem) != 0) {
        abort();
    }
    return 0;
}
