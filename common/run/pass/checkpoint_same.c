/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_same.c - is a resumed run the same as the stopped one? Compares plan, version, clock, options and
 * input. */
#include "checkpoint.h"
#include "mongoreshape/version.h"
#include <stdarg.h>

static void
text(struct mrs_build *b, const char *name, const char *value)
{
    mrs_build_text(b, name, value, (uint32_t)strlen(value));
}

static void
list(struct mrs_build *b, const char *name, const char *const *at, uint32_t n, struct mrs_buf *room)
{
    mrs_buf_reset(room);
    for (uint32_t i = 0; i < n; i++) {
        mrs_buf_printf(room, "%s%s", i ? " " : "", at[i]);
    }
    mrs_build_text(b, name, room->n ? (const char *)room->p : "", (uint32_t)room->n);
}

static enum mrs_status
fingerprint(struct mrsi_engine *en, struct mrs_build *b, const char *name, const char *path, struct mrs_err *e)
{
    struct mrs_hash128 h = {0, 0};
    char hex[40];
    enum mrs_status s = path ? mrs_file_fingerprint(en->mem, path, &h, e) : MRS_OK;
    snprintf(hex, sizeof hex, "%016llx%016llx", (unsigned long long)h.hi, (unsigned long long)h.lo);
    text(b, name, path ? hex : "none");
    return s;
}

/* Texts for a message about the difference. */
enum mrs_status
mrsi_same_options(struct mrsi_engine *en, struct mrs_build *b, struct mrs_err *e)
{
    const struct mrs_run_opts *o = en->opts;
    static const char *const codecs[] = {"none", "gzip", "zstd", "as the input"};
    struct mrs_buf room;
    char number[32];
    mrs_buf_init(&room, en->mem, MRS_DOC_MAX);
    snprintf(number, sizeof number, "%s:%d", codecs[o->compress.codec & 3], o->compress.level);
    text(b, "--compress", number);
    snprintf(number, sizeof number, "%d", (int)o->format);
    text(b, "--format", number);
    snprintf(number, sizeof number, "%llu", (unsigned long long)o->max_refused);
    text(b, "--max-refused", number);
    snprintf(number, sizeof number, "%llu", (unsigned long long)o->sample);
    text(b, "--sample", number);
    text(b, "time zones", en->plan->tzdata);
    snprintf(number, sizeof number, "%d", (int)o->format);
    text(b, "--format", number);
    text(b, "--oplog", o->oplog_drop ? "drop" : "keep");
    text(b, "--ns", o->single_ns ? o->single_ns : o->in.ns ? o->in.ns : "");
    list(b, "--nsInclude", o->in.include, o->in.n_include, &room);
    list(b, "--nsExclude", o->in.exclude, o->in.n_exclude, &room);
    text(b, "--write-residue", o->write_residue ? o->write_residue : "");
    bool inverse = o->write_residue || en->residue; /* its run is in that folder */
    text(b, "--tmp, with a residue", inverse && o->tmp ? o->tmp : "");
    enum mrs_status s = fingerprint(en, b, "--residue", en->residue, e);
    MRS_THEN(s, fingerprint(en, b, "--amend", o->amend, e));
    MRS_THEN(s, mrs_buf_status(&room, e));
    mrs_buf_clear(&room);
    return s;
}

enum mrs_status
mrsi_same_input(struct mrsi_engine *en, struct mrs_build *b, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        struct mrs_hash128 h;
        s = mrs_input_fingerprint(en->in, i, &h, e);
        if (s == MRS_OK) {
            mrs_build_item_open(b, MRS_DOCUMENT);
            text(b, "name", in->kind == MRS_INPUT_DATA ? in->ns : in->rel_path);
            mrs_build_i64(b, "low", (int64_t)h.lo);
            mrs_build_i64(b, "high", (int64_t)h.hi);
            mrs_build_close(b);
        }
    }
    return s;
}

static enum mrs_status
differs(struct mrs_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static enum mrs_status
differs(struct mrs_err *e, const char *fmt, ...)
{
    char what[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--resume: %s (--force starts over)", what);
}

static const char *
value_of(struct mrs_val v)
{
    return v.type == MRS_STRING ? (const char *)v.p + 4 : "";
}

static enum mrs_status
check_options(struct mrs_view was, struct mrs_view now, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(was) && mrs_view_is_framed(now));
    struct mrs_walk w;
    struct mrs_elem at;
    mrs_walk_init(&w, now);
    while (mrs_walk_next(&w, &at) == 1) {
        struct mrs_val v = mrs_doc_get(was, at.name);
        bool secret = strcmp(at.name, "--amend") == 0 || strcmp(at.name, "--residue") == 0;
        if (mrs_identical(v, at.v)) {
            continue;
        }
        if (secret) {
            return differs(e, "%s: the file is not the one that the stopped run had", at.name);
        }
        return differs(e, "%s was '%.80s' in the run that was stopped and is '%.80s' now", at.name, value_of(v),
                       value_of(at.v));
    }
    return MRS_OK;
}

static enum mrs_status
check_input(struct mrs_view was, struct mrs_view now, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(was) && mrs_view_is_framed(now));
    struct mrs_walk a, b;
    struct mrs_elem x, y;
    mrs_walk_init(&a, was);
    mrs_walk_init(&b, now);
    for (;;) {
        int more = mrs_walk_next(&a, &x), here = mrs_walk_next(&b, &y);
        if (more != 1 && here != 1) {
            return MRS_OK;
        }
        const char *old = more == 1 ? value_of(mrs_doc_get(mrs_val_view(x.v), "name")) : "";
        const char *new = here == 1 ? value_of(mrs_doc_get(mrs_val_view(y.v), "name")) : "";
        if (more != here || strcmp(old, new) != 0) {
            return differs(e, "the input is another one: it had %.120s and has %.120s there", *old ? old : "nothing",
                           *new ? new : "nothing");
        }
        if (!mrs_identical(x.v, y.v)) {
            return differs(e, "%.200s of the input has changed since the run was stopped", old);
        }
    }
}

enum mrs_status
mrsi_same_check(struct mrsi_engine *en, const struct mrsi_checkpoint *cp, struct mrs_view options,
                struct mrs_view input, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(options) && mrs_view_is_framed(input));
    char id[33];
    mrs_plan_id_text(en->plan, id);
    if (strcmp(cp->tool, MRS_VERSION) != 0) {
        return differs(e, "the run was begun by version %.40s, this is %s", cp->tool, MRS_VERSION);
    }
    if (strcmp(cp->plan_id, id) != 0) {
        return differs(e, "another plan: the run was begun with '%.60s' of id %.40s, this is id %s", cp->plan,
                       cp->plan_id, id);
    }
    if (cp->now_ms != en->plan->now_ms) {
        return differs(e, "--now is another time than in the run that was stopped");
    }
    enum mrs_status s = check_options(cp->options, options, e);
    return s == MRS_OK ? check_input(cp->input, input, e) : s;
}
