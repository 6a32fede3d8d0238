/* SPDX-License-Identifier: Apache-2.0 */
/* fz_stage.c - any bytes as a stage of a pipeline, and what follows as the documents that come to it.
 *
 * The server is the one of tests/host, the extension is linked in. Each form of the stage is made; then its documents
 * are asked for until the end or an error, and nothing that was lent or given may be left. */
#include "../host/host.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
struct mdb_status *get_mongodb_extension(struct mdb_version chosen, const struct mdb_services *services,
                                         const struct mdb_extension **out);

static const struct mdb_descriptor *registered;

static struct mdb_status *
register_stage(const struct mdb_portal *p, const struct mdb_descriptor *d)
{
    (void)p;
    registered = d;
    return host_status(0, "");
}

static struct mdb_bytes
no_options(const struct mdb_portal *p)
{
    (void)p;
    return (struct mdb_bytes){NULL, 0};
}

static void
load(struct host *h)
{
    static const struct mdb_portal_calls calls = {.register_stage = register_stage, .get_options = no_options};
    static const struct mdb_extension *kept;
    struct mdb_portal portal = {&calls, {1, 0}, 29};
    if (!registered && (!host_ok(h, get_mongodb_extension(portal.version, NULL, &kept)) ||
                        !host_ok(h, kept->calls->initialize(kept, &portal)))) {
        abort();
    }
    h->stage = registered;
}

/* Bytes up to the end that their length word tells, as far as there are any. */
static struct mrs_view
next_doc(const uint8_t **data, size_t *n)
{
    uint32_t want = *n >= 4 ? mrs_le32(*data) : 0;
    struct mrs_view d = {*data, want < 5 || want > *n ? (uint32_t)*n : want};
    *data += d.n;
    *n -= d.n;
    return d;
}

static void
try_forms(struct host *h, struct mdb_logical *l)
{
    struct mdb_buf *buf = NULL;
    struct mdb_logical *copy = NULL;
    if (host_ok(h, l->calls->serialize(l, &buf))) {
        struct mrs_view d = host_take(buf);
        struct mdb_node *again = host_parse(h, d); /* it must be taken, wherever it is parsed */
        if (!again) {
            abort();
        }
        again->calls->destroy(again);
        free((void *)(uintptr_t)d.p);
    }
    buf = NULL;
    if (host_ok(h, l->calls->explain(l, NULL, 1, &buf))) {
        free((void *)(uintptr_t)host_take(buf).p);
    }
    if (host_ok(h, l->calls->clone(l, &copy))) {
        copy->calls->destroy(copy);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct host h;
    struct host_docs docs = {0}, out = {0};
    struct host_source source;
    struct host_context c;
    load(&h);
    if (n > 1u << 20) {
        return 0;
    }
    struct mdb_node *node = host_parse(&h, next_doc(&data, &n));
    struct mdb_logical *l = node ? host_promote(&h, node, "db") : NULL;
    if (l) {
        try_forms(&h, l);
    }
    struct mdb_exec *x = l ? host_compile(&h, l) : NULL;
    if (x) {
        while (n && docs.n < 200) {
            host_add(&docs, next_doc(&data, &n));
        }
        host_source(&source, &docs, HOST_MIXES);
        source.pause_every = 5;
        host_context(&c);
        c.kill_at = 400; /* however long an expression would go on */
        host_ok(&h, x->calls->set_source(x, &source.face));
        host_drain(&h, x, &c, &out);
        x->calls->destroy(x);
        host_source_clear(&source);
    }
    host_clear(&docs);
    host_clear(&out);
    if (host_failed || host_counts.bufs || host_counts.statuses || host_counts.tripwire) {
        abort();
    }
    return 0;
}
