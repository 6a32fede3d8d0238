/* SPDX-License-Identifier: Apache-2.0 */
/* changes_test.h - what the tests of two dumps that are compared share: a folder, dumps written into it, refused
 * documents beside them. No server. */
#ifndef CHANGES_TEST_H
#define CHANGES_TEST_H

#include "live_test.h"

#include "live/quiet/quiet.h"
#include "live/quiet/spool.h"
#include "../../folder.h"
#include "mongoreshape/ejson.h"

#include <unistd.h>

struct desk {
    struct mrs_mem *mem;
    struct live_job job;
    struct mrs_err e;
    char dir[64], in[80], out[80], refused[80];
    struct mrs_output *o;
    char seen[65536];
    uint64_t n_seen;
};

static inline void
sit(struct desk *d, const char *plan)
{
    struct mrs_plan_opts po = {.file = "p.yaml", .default_db = "db", .now_ms = 1};
    memset(d, 0, sizeof *d);
    mrs_err_clear(&d->e);
    d->mem = mrs_mem_new(0);
    d->job.mem = d->mem;
    snprintf(d->dir, sizeof d->dir, "/tmp/t_changes.XXXXXX");
    assert_non_null(mkdtemp(d->dir));
    snprintf(d->in, sizeof d->in, "%s/in", d->dir);
    snprintf(d->out, sizeof d->out, "%s/out", d->dir);
    snprintf(d->refused, sizeof d->refused, "%s/refused.bson", d->dir);
    assert_int_equal(mrs_plan_load(d->mem, plan, strlen(plan), &po, &d->job.plan, &d->e), MRS_OK);
}

static inline void
rise(struct desk *d)
{
    drop_tree(d->dir);
    mrs_plan_free(d->job.plan);
    assert_int_equal(mrs_mem_close(d->mem), 0);
}

static inline void
must(struct desk *d, enum mrs_status s)
{
    if (s != MRS_OK) {
        fail_msg("status %d: %s", s, d->e.msg);
    }
}

/* Lines of Extended JSON as BSON, one behind the other. */
static inline void
bson_of(struct desk *d, const char *json, struct mrs_buf *out)
{
    for (size_t at = 0; json[at];) {
        size_t used = 0;
        must(d, mrs_ejson_read(json + at, strlen(json + at), MRS_EJSON_DATA, out, &used, &d->e));
        at += used;
        at += strspn(json + at, " \n");
    }
}

static inline void
begin(struct desk *d, const char *dir)
{
    struct mrs_output_opts o = {.default_codec = MRS_CODEC_NONE};
    must(d, mrs_output_open(d->mem, dir, &o, &d->o, &d->e));
}

static inline struct mrs_sink *
coll(struct desk *d, const char *name, const char *meta)
{
    struct mrs_sink *s = NULL;
    char text[600];
    snprintf(text, sizeof text, "{\"collectionName\":\"%s\",\"type\":\"collection\",%s}", name,
             meta ? meta : "\"options\":{},\"indexes\":[]");
    must(d, mrs_output_coll(d->o, "db", name, text, strlen(text), true, &s, &d->e));
    return s;
}

static inline void
add(struct desk *d, const char *name, const char *meta, const char *json)
{
    struct mrs_sink *s = coll(d, name, meta);
    struct mrs_buf buf;
    uint64_t n = 0;
    mrs_buf_init(&buf, d->mem, SIZE_MAX);
    bson_of(d, json, &buf);
    for (size_t at = 0; at < buf.n; at += mrs_le32(buf.p + at)) {
        n++;
    }
    must(d, mrs_sink_write(s, buf.p, buf.n, &d->e));
    must(d, mrs_sink_close(s, n, NULL, &d->e));
    mrs_buf_clear(&buf);
}

static inline void
end(struct desk *d)
{
    must(d, mrs_output_commit(d->o, mrs_empty_doc(), NULL, &d->e));
    mrs_output_free(d->o);
}

static inline void
refuse(struct desk *d, const char *json)
{
    struct mrs_buf buf;
    mrs_buf_init(&buf, d->mem, SIZE_MAX);
    bson_of(d, json, &buf);
    must(d, mrs_file_write(d->refused, buf.p, buf.n, &d->e));
    mrs_buf_clear(&buf);
}

#endif
