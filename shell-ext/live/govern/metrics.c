/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - figures of a run as OpenMetrics text, and the file that holds them.
 *
 * Counters count the work of this process, so that they never decrease; the progress of a pass may decrease, and is a
 * gauge. A reader of the file gets the old text or the new one, complete: it is written under another name and renamed.
 * All users permitted by the umask may read it, since the collector is another user; it contains names of collections,
 * and no documents. */
#include "metrics.h"

#include "live/link/connection_loopback.h"
#include "mongoreshape/clock.h"
#include "mongoreshape/files.h"
#include "mongoreshape/version.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { METRICS_MAX = 1 << 20 };
#define FIRST_LINE "# TYPE mongoreshape_run info\n"

/* ---- text ---- */
/* A label's value between its quotes. */
static void
put_label(struct mrs_buf *out, const char *text)
{
    for (; text && *text; text++) {
        const char *escaped = *text == '\\' ? "\\\\" : *text == '"' ? "\\\"" : *text == '\n' ? "\\n" : NULL;
        if (escaped) {
            mrs_buf_put(out, escaped, 2);
        } else {
            mrs_buf_byte(out, (uint8_t)*text);
        }
    }
}

/* The lines before the samples of a family. */
static void
family(struct mrs_buf *out, const char *name, const char *type, const char *help)
{
    mrs_buf_printf(out, "# TYPE mongoreshape_%s %s\n# HELP mongoreshape_%s %s\n", name, type, name, help);
}

static void
gauge(struct mrs_buf *out, const char *name, double value, const char *help)
{
    family(out, name, "gauge", help);
    mrs_buf_printf(out, "mongoreshape_%s %.10g\n", name, value);
}

static void
counter(struct mrs_buf *out, const char *name, uint64_t value, const char *help)
{
    family(out, name, "counter", help);
    mrs_buf_printf(out, "mongoreshape_%s_total %" PRIu64 "\n", name, value);
}

static void
seconds(struct mrs_buf *out, const char *name, int64_t ms, const char *help)
{
    family(out, name, "counter", help);
    mrs_buf_printf(out, "mongoreshape_%s_total %.3f\n", name, ms > 0 ? (double)ms / 1000 : 0.0);
}

static void
put_run(struct mrs_buf *out, const struct live_figures *f)
{
    MRS_ASSERT(f->progress);
    const struct {
        const char *label, *value;
    } labels[] = {{"run", f->run},
                  {"command", f->command},
                  {"phase", f->phase},
                  {"doing", f->progress->phase},
                  {"ns", f->progress->ns},
                  {"version", MRS_VERSION}};
    family(out, "run", "info", "what this process works on");
    mrs_buf_printf(out, "mongoreshape_run_info");
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        mrs_buf_printf(out, "%s%s=\"", i ? "," : "{", labels[i].label);
        put_label(out, labels[i].value);
        mrs_buf_byte(out, '"');
    }
    mrs_buf_printf(out, "} 1\n");
}

/* Known signals, and their limits. */
static void
put_signals(struct mrs_buf *out, const struct live_governor *g)
{
    for (int which = 0; which < 2; which++) {
        const char *name = which ? "signal_limit" : "signal_value";
        family(out, name, "gauge", which ? "at which the speed is halved every second"
                                         : "latency in ms, lag in s, tickets as a share, load as serverStatus has it");
        for (int i = 0; i < LIVE_SIGNALS; i++) {
            const struct live_reading *r = &g->seen.of[i];
            if (r->known) {
                mrs_buf_printf(out, "mongoreshape_%s{signal=\"%s\"} %.10g\n", name, live_signal_name(i),
                               which ? r->limit : r->value);
            }
        }
    }
}

static void
put_limiting(struct mrs_buf *out, const char *reason)
{
    family(out, "limiting", "gauge", "what holds the run back at the moment");
    mrs_buf_printf(out, "mongoreshape_limiting{reason=\"");
    put_label(out, reason && *reason ? reason : "nothing");
    mrs_buf_printf(out, "\"} 1\n");
}

void
live_metrics_text(const struct live_figures *f, struct mrs_buf *out)
{
    MRS_ASSERT(f->progress && f->governor);
    const struct live_progress *p = f->progress;
    put_run(out, f);
    gauge(out, "pass_documents", (double)p->done, "documents that the pass in hand is through with");
    gauge(out, "pass_estimated_documents", (double)p->estimated, "documents of its collection, as the server counts");
    gauge(out, "documents_per_second", p->docs_per_s, "rate of the last minute");
    counter(out, "written_documents", f->written_docs, "documents written by this process");
    counter(out, "written_bytes", f->written_bytes, "bytes written by this process");
    gauge(out, "refused_documents", (double)f->refused, "documents of the run that are refused");
    counter(out, "connections_lost", f->connections_lost, "connections lost and primaries changed");
    seconds(out, "working_seconds", f->working_ms, "time spent on batches");
    seconds(out, "waiting_seconds", f->waiting_ms, "time held back by governor, limits or pause");
    gauge(out, "speed_ratio", f->governor->speed, "share of the time that the governor lets it work");
    put_limiting(out, f->over ? "" : f->limiting);
    put_signals(out, f->governor);
    gauge(out, "over", f->over, "1 once the command has ended");
    if (f->over) {
        gauge(out, "exit_status", f->status, "of the command that has ended");
    }
    gauge(out, "updated_timestamp_seconds", (double)(mrs_clock_wall() / 1000), "when this was written");
    mrs_buf_printf(out, "# EOF\n");
}

/* ---- output ---- */
struct live_metrics {
    struct mrs_mem *mem;
    struct mrs_buf text;
    struct live_port *port; /* NULL: a file */
    const char *file;
    char *beside;           /* its name while it is written */
    char url[96];
};

const char *
live_metrics_wrong(const char *where)
{
    return *where && (!live_port_named(where) || live_port_loopback(where))
               ? NULL
               : "a file, or a port on a loopback address, as 127.0.0.1:9216 or [::1]:9216; for other machines use a "
                 "reverse proxy with authentication";
}

/* Metrics of an earlier run are overwritten; no other file is. */
static bool
is_metrics(struct mrs_mem *mem, const char *text, size_t n)
{
    (void)mem;
    return n >= sizeof FIRST_LINE - 1 && memcmp(text, FIRST_LINE, sizeof FIRST_LINE - 1) == 0;
}

static enum mrs_status
open_file(struct live_metrics *m, const char *where, struct mrs_err *e)
{
    MRS_ASSERT(!m->file);
    struct mrs_replace how = {.option = "--metrics",
                              .unlike = "no metrics of mongoreshape-live",
                              .no_force = true,
                              .text_is_ours = is_metrics,
                              .mem = m->mem,
                              .most = METRICS_MAX};
    size_t room = strlen(where) + 32;
    m->file = where;
    m->beside = mrs_alloc(m->mem, room);
    MRS_TRY(mrs_allocated(m->beside, room, e));
    snprintf(m->beside, room, "%s.%ld.new", where, (long)getpid());
    return mrs_file_may_be(where, &how, e);
}

enum mrs_status
live_metrics_open(struct mrs_mem *mem, const char *where, struct live_metrics **out, struct mrs_err *e)
{
    MRS_ASSERT(where[0]);
    enum mrs_status s;
    struct live_metrics *m = mrs_zalloc(mem, sizeof *m);
    *out = NULL;
    MRS_TRY(mrs_allocated(m, sizeof *m, e));
    m->mem = mem;
    mrs_buf_init(&m->text, mem, METRICS_MAX);
    s = live_port_named(where) ? live_port_open(mem, where, m->url, &m->port, e) : open_file(m, where, e);
    if (s != MRS_OK) {
        live_metrics_close(m);
        return s;
    }
    *out = m;
    return MRS_OK;
}

const char *
live_metrics_url(const struct live_metrics *m)
{
    return m->port ? m->url : NULL;
}

static enum mrs_status
replace_file(struct live_metrics *m, struct mrs_err *e)
{
    MRS_ASSERT(m->file);
    if (mrs_file_is_stream(m->file)) {
        return mrs_file_write(m->file, m->text.p, m->text.n, e);
    }
    int fd = open(m->beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) {
        return mrs_err_sys(e, errno, "%s", m->beside);
    }
    enum mrs_status s = mrs_write_at(fd, m->text.p, m->text.n, 0, e);
    bool closed = close(fd) == 0;
    if (s == MRS_OK && !(closed && rename(m->beside, m->file) == 0)) {
        s = mrs_err_sys(e, errno, "%s", m->file);
    }
    if (s != MRS_OK) {
        unlink(m->beside);
    }
    return s;
}

enum mrs_status
live_metrics_put(struct live_metrics *m, const struct live_figures *f, struct mrs_err *e)
{
    MRS_ASSERT(m->port || m->file);
    mrs_buf_reset(&m->text);
    live_metrics_text(f, &m->text);
    enum mrs_status s = mrs_buf_status(&m->text, e);
    MRS_THEN(s, m->port ? live_port_put(m->port, m->text.p, m->text.n, e) : replace_file(m, e));
    return s;
}

void
live_metrics_close(struct live_metrics *m)
{
    if (m) {
        live_port_close(m->port);
        mrs_buf_clear(&m->text);
        mrs_free(m->mem, m->beside);
        mrs_free(m->mem, m);
    }
}
