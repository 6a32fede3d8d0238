/* SPDX-License-Identifier: Apache-2.0 */
/* exec_stage.c - the executing stage: reads documents from the stage before it, and returns their products.
 *
 * All state is in the object, since each call may come on another thread. Data from the source are copied before the
 * next request, borrowed objects are not freed, owned objects are destroyed on every path. End is final, and so is an
 * error: each later call returns it again. */
#include "stage_nodes.h"
#include "server/flow/stage_flow.h"

#include <stdio.h>

#define ASK_EVERY 128u /* inputs between two checks for a killed operation */

struct exec_stage {
    struct mdb_exec face;
    struct ext_spec *spec;
    struct mrs_mem *mem;         /* bounded; NULL: not started */
    struct ext_flow *flow;
    struct mdb_exec *source;     /* not owned */
    struct mdb_context *context; /* of the current call */
    struct mdb_status *killed;   /* status of an interrupt, to be returned */
    struct mdb_status *failed;   /* returned again by later calls */
    struct mrs_buf doc, meta;    /* copies of the last input */
    bool has_meta, input_ended;
    struct ext_counts counts, reported; /* reported: already reported to the metrics of the operation */
};

static struct exec_stage *
stage(const struct mdb_exec *x)
{
    return (struct exec_stage *)(uintptr_t)x;
}

/* ---- start and end ---- */
/* Was the operation killed, or is that unknown? killed has the status, which the caller returns. */
static int
interrupted(void *arg)
{
    struct exec_stage *x = arg;
    struct mdb_status *fresh = x->context ? ext_fresh(x->spec->home->mem) : NULL;
    if (!fresh) {
        x->killed = x->context ? ext_no_memory() : NULL;
        return x->killed != NULL;
    }
    struct mdb_status *call = x->context->calls->check_for_interrupt(x->context, fresh);
    if (!ext_is_ok(call)) {
        fresh->calls->destroy(fresh);
        x->killed = call;
        return 1;
    }
    if (fresh->calls->get_code(fresh) != 0) {
        x->killed = fresh;
        return 1;
    }
    fresh->calls->destroy(fresh);
    return 0;
}

static void
abandon(struct exec_stage *x)
{
    ext_flow_close(x->flow);
    x->flow = NULL;
    if (x->mem) {
        mrs_buf_clear(&x->doc);
        mrs_buf_clear(&x->meta);
        mrs_mem_close(x->mem);
    }
    x->mem = NULL;
    if (x->failed) {
        x->failed->calls->destroy(x->failed);
    }
    x->failed = NULL;
    x->input_ended = x->has_meta = false;
}

static struct mdb_status *
begin(struct exec_stage *x)
{
    struct mrs_err e;
    if (x->flow) {
        return NULL;
    }
    mrs_err_clear(&e);
    x->mem = x->mem ? x->mem : mrs_mem_new(0);
    if (!x->mem) {
        return ext_no_memory();
    }
    mrs_mem_set_limit(x->mem, (uint64_t)x->spec->memory);
    mrs_buf_init(&x->doc, x->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&x->meta, x->mem, MRS_DOC_READ_MAX);
    return ext_flow_open(x->spec, x->mem, interrupted, x, &x->flow, &e) == MRS_OK ? NULL : ext_no_memory();
}

/* ---- errors ---- */
/* Returns an error; later calls return a copy. */
static struct mdb_status *
fail(struct exec_stage *x, struct mdb_status *s)
{
    struct mdb_status *copy = NULL, *status = s->calls->clone(s, &copy);
    if (!ext_is_ok(status)) {
        status->calls->destroy(status);
    }
    x->failed = copy ? copy : ext_no_memory();
    return s;
}

static struct mdb_status *
repeat_error(const struct exec_stage *x)
{
    struct mdb_status *copy = NULL, *status = x->failed->calls->clone(x->failed, &copy);
    if (!ext_is_ok(status)) {
        status->calls->destroy(status);
    }
    return copy ? copy : ext_no_memory();
}

static struct mdb_status *
failed(struct exec_stage *x, const struct mrs_err *e)
{
    struct mrs_mem *mem = x->spec->home->mem;
    char text[200];
    if (x->killed) {
        struct mdb_status *s = x->killed;
        x->killed = NULL;
        return fail(x, s);
    }
    if (e->code != MRS_E_MEMORY || !mrs_mem_is_over(x->mem)) {
        return fail(x, ext_error_of(mem, e, ""));
    }
    int n = snprintf(text, sizeof text, EXT_STAGE ": a document, or a group of them, needs more than the %lld bytes of "
                     "`memory`; it may be at most %lld", (long long)x->spec->memory, EXT_MEMORY_MAX);
    return fail(x, ext_error(mem, EXT_CODE_MEMORY, text, n > 0 ? (size_t)n : 0));
}

/* ---- the source ---- */
static struct mdb_bytes
view_of(const struct mdb_container *c)
{
    static const struct mdb_bytes none = {NULL, 0};
    return c->type == MDB_LENT ? c->u.lent : c->u.given ? c->u.given->calls->get_view(c->u.given) : none;
}

static void
release(struct mdb_container *c)
{
    if (c->type == MDB_GIVEN && c->u.given) {
        c->u.given->calls->destroy(c->u.given);
    }
    *c = (struct mdb_container){.type = MDB_LENT};
}

static enum mrs_status
copy(struct mrs_buf *to, const struct mdb_container *c, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(to));
    struct mdb_bytes v = view_of(c);
    mrs_buf_reset(to);
    if (v.len > MRS_DOC_READ_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "a document of %llu bytes came in", (unsigned long long)v.len);
    }
    mrs_buf_put(to, v.data, v.len);
    return mrs_buf_status(to, e);
}

static enum mrs_status
take(struct exec_stage *x, const struct mdb_next *r, struct mrs_err *e)
{
    enum mrs_status s = copy(&x->doc, &r->doc, e);
    if (s == MRS_OK && x->spec->route.kind == MRS_STAGE_ONE) {
        s = copy(&x->meta, &r->meta, e);
        x->has_meta = x->meta.n > 0;
    }
    if (s == MRS_OK) {
        x->counts.docs_in++;
        x->counts.bytes_in += x->doc.n;
        s = ext_flow_feed(x->flow, (struct mrs_view){x->doc.p, (uint32_t)x->doc.n}, e);
    }
    return s;
}

/* Reads the next document of the source. NULL: fed, or end; *pause: ask again later. */
static struct mdb_status *
fetch_source(struct exec_stage *x, bool *pause)
{
    struct mdb_next r = {.code = MDB_EOF};
    struct mrs_err e;
    enum mrs_status s = MRS_OK;
    mrs_err_clear(&e);
    if (!x->source) {
        return fail(x, ext_misused(EXT_NO_SOURCE));
    }
    if (x->counts.docs_in % ASK_EVERY == 0 && interrupted(x)) {
        return failed(x, &e);
    }
    struct mdb_status *status = x->source->calls->get_next(x->source, x->context, &r);
    bool ok = ext_is_ok(status);
    if (ok && r.code == MDB_ADVANCED) {
        s = take(x, &r, &e);
    }
    release(&r.doc);
    release(&r.meta);
    if (!ok) {
        return fail(x, status);
    }
    if (r.code > MDB_PAUSE) {
        return fail(x, ext_misused(EXT_BAD_ANSWER));
    }
    *pause = r.code == MDB_PAUSE;
    if (r.code == MDB_EOF) {
        x->input_ended = true;
        ext_flow_end(x->flow);
    }
    return s == MRS_OK ? NULL : failed(x, &e);
}

/* ---- get_next ---- */
static void
put_result(struct exec_stage *x, struct mdb_next *out, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    out->code = MDB_ADVANCED;
    out->doc.u.lent = (struct mdb_bytes){doc.p, doc.n};
    if (x->has_meta) {
        out->meta.u.lent = (struct mdb_bytes){x->meta.p, x->meta.n};
    }
    x->counts.docs_out++;
    x->counts.bytes_out += doc.n;
}

static struct mdb_status *
advance(struct exec_stage *x, struct mdb_next *out)
{
    struct mrs_view doc;
    struct mrs_err e;
    bool pause = false;
    struct mdb_status *status = begin(x);
    while (!status) {
        mrs_err_clear(&e);
        enum mrs_status s = ext_flow_next(x->flow, &doc, &e);
        if (s == MRS_OK) {
            put_result(x, out, doc);
            return ext_ok();
        }
        if (s != MRS_END) {
            return failed(x, &e);
        }
        if (x->input_ended || pause) {
            out->code = pause ? MDB_PAUSE : MDB_EOF;
            return ext_ok();
        }
        status = fetch_source(x, &pause);
    }
    return status;
}

/* Adds the work since the last update to the metrics of the operation; without metrics only the figures are lost. */
static void
report_metrics(struct exec_stage *x)
{
    struct mdb_metrics *m = NULL;
    struct ext_counts *c = &x->counts, *t = &x->reported;
    c->refused = x->flow ? ext_flow_refused(x->flow) : c->refused;
    c->peak = x->mem ? mrs_mem_peak(x->mem) : c->peak;
    struct ext_counts more = {c->docs_in - t->docs_in,   c->docs_out - t->docs_out,   c->refused - t->refused,
                              c->bytes_in - t->bytes_in, c->bytes_out - t->bytes_out, c->peak};
    struct mdb_status *s = x->context ? x->context->calls->get_metrics(x->context, &x->face, &m) : NULL;
    if (s) {
        s->calls->destroy(s);
    }
    if (m) {
        s = m->calls->update(m, (struct mdb_bytes){(const uint8_t *)&more, sizeof more});
        if (s) {
            s->calls->destroy(s);
        }
        *t = *c;
    }
}

static struct mdb_status *
exec_next(struct mdb_exec *exec, struct mdb_context *context, struct mdb_next *out)
{
    struct exec_stage *x = stage(exec);
    *out = (struct mdb_next){.code = MDB_EOF};
    if (x->failed) {
        return repeat_error(x);
    }
    x->context = context;
    struct mdb_status *s = advance(x, out);
    report_metrics(x);
    x->context = NULL;
    return s;
}

/* ---- other calls ---- */
static void
exec_destroy(struct mdb_exec *exec)
{
    struct exec_stage *x = stage(exec);
    struct ext_spec *spec = x->spec;
    abandon(x);
    mrs_free(spec->home->mem, x);
    ext_spec_drop(spec);
}

static struct mdb_bytes
exec_name(const struct mdb_exec *exec)
{
    (void)exec;
    return ext_stage_name();
}

static struct mdb_status *
exec_metrics(const struct mdb_exec *exec, struct mdb_metrics **out)
{
    return ext_metrics_make(stage(exec)->spec->home, out);
}

static struct mdb_status *
exec_set_source(struct mdb_exec *exec, struct mdb_exec *source)
{
    stage(exec)->source = source;
    return ext_ok();
}

static struct mdb_status *
exec_open(struct mdb_exec *exec)
{
    (void)exec; /* memory is allocated at the first request of a document */
    return ext_ok();
}

/* Discards the state: the next request of a document starts over. */
static struct mdb_status *
exec_again(struct mdb_exec *exec)
{
    abandon(stage(exec));
    return ext_ok();
}

static struct mdb_status *
exec_explain(const struct mdb_exec *exec, struct mdb_context *context, uint32_t verbosity, struct mdb_buf **out)
{
    const struct exec_stage *x = stage(exec);
    (void)context;
    if (verbosity < 2) {
        return ext_return(x->spec->home->mem, mrs_empty_bytes, sizeof mrs_empty_bytes, out);
    }
    return ext_counts_return(x->spec->home, &x->counts, out);
}

static const struct mdb_exec_calls exec_calls = {exec_destroy, exec_next,  exec_name,  exec_metrics, exec_set_source,
                                                 exec_open,    exec_again, exec_again, exec_explain};

struct mdb_status *
ext_exec_make(struct ext_spec *spec, struct mdb_exec **out)
{
    MRS_ASSERT(spec->users > 0 && out);
    struct exec_stage *x = mrs_zalloc(spec->home->mem, sizeof *x);
    if (!x) {
        return ext_no_memory();
    }
    *x = (struct exec_stage){.face = {&exec_calls}, .spec = ext_spec_retain(spec)};
    *out = &x->face;
    return ext_ok();
}
