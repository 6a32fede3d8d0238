/* SPDX-License-Identifier: Apache-2.0 */
/* stage_metrics.c - the amount of work of an operation's stages; several of one name share one object. */
#include "stage_nodes.h"

#include "mongoreshape/build.h"

struct stage_metrics {
    struct mdb_metrics face;
    struct ext_home *home;
    struct ext_counts counts;
};

struct mdb_status *
ext_counts_return(struct ext_home *home, const struct ext_counts *c, struct mdb_buf **out)
{
    MRS_ASSERT(out);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&buf, home->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_i64(&b, "documentsIn", (int64_t)c->docs_in);
    mrs_build_i64(&b, "documentsOut", (int64_t)c->docs_out);
    mrs_build_i64(&b, "refused", (int64_t)c->refused);
    mrs_build_i64(&b, "bytesIn", (int64_t)c->bytes_in);
    mrs_build_i64(&b, "bytesOut", (int64_t)c->bytes_out);
    mrs_build_i64(&b, "peakBytes", (int64_t)c->peak);
    (void)mrs_build_finish(&b, &doc, NULL);
    return ext_return_buf(home->mem, &buf, out);
}

static void
metrics_destroy(struct mdb_metrics *m)
{
    mrs_free(((struct stage_metrics *)(void *)m)->home->mem, m);
}

static struct mdb_status *
metrics_serialize(const struct mdb_metrics *m, struct mdb_buf **out)
{
    const struct stage_metrics *s = (const struct stage_metrics *)(const void *)m;
    return ext_counts_return(s->home, &s->counts, out);
}

/* Adds the work since the last update; bytes of another size are not ours. */
static struct mdb_status *
metrics_update(struct mdb_metrics *m, struct mdb_bytes bytes)
{
    struct ext_counts *c = &((struct stage_metrics *)(void *)m)->counts, more;
    if (bytes.len != sizeof more) {
        return ext_misused(EXT_WRONG_SIZE);
    }
    memcpy(&more, bytes.data, sizeof more);
    c->docs_in += more.docs_in;
    c->docs_out += more.docs_out;
    c->refused += more.refused;
    c->bytes_in += more.bytes_in;
    c->bytes_out += more.bytes_out;
    c->peak = more.peak > c->peak ? more.peak : c->peak;
    return ext_ok();
}

static const struct mdb_metrics_calls metrics_calls = {metrics_destroy, metrics_serialize, metrics_update};

struct mdb_status *
ext_metrics_make(struct ext_home *home, struct mdb_metrics **out)
{
    MRS_ASSERT(out);
    struct stage_metrics *m = mrs_zalloc(home->mem, sizeof *m);
    if (!m) {
        return ext_no_memory();
    }
    *m = (struct stage_metrics){.face = {&metrics_calls}, .home = home};
    *out = &m->face;
    return ext_ok();
}
