/* SPDX-License-Identifier: Apache-2.0 */
/* host_server.c - the objects of a server, as an extension sees them. */
#include "host.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* The layout of 64-bit servers, in numbers: an own declaration must not drift from it. */
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, at) _Static_assert(offsetof(struct type, member) == (at), #type "." #member)
#define SLOTS(type, n) _Static_assert(sizeof(struct type) == (n) * sizeof(void *), #type)
SIZE(mdb_version, 8);
SIZE(mdb_versions, 16);
SIZE(mdb_bytes, 16);
SIZE(mdb_container, 24);
AT(mdb_container, u, 8);
SIZE(mdb_next, 56);
AT(mdb_next, doc, 8);
AT(mdb_next, meta, 32);
SIZE(mdb_ns, 32);
SIZE(mdb_catalog_context, 72);
AT(mdb_catalog_context, uuid, 32);
AT(mdb_catalog_context, in_router, 48);
AT(mdb_catalog_context, verbosity, 52);
AT(mdb_catalog_context, shard_id, 56);
SIZE(mdb_resolved_ns, 48);
AT(mdb_resolved_ns, stage, 40);
SIZE(mdb_element, 16);
SIZE(mdb_elements, 16);
SIZE(mdb_dpl_part, 16);
SIZE(mdb_dpl_parts, 16);
SIZE(mdb_portal, 24);
AT(mdb_portal, version, 8);
AT(mdb_portal, max_wire_version, 16);
SIZE(mdb_extension, 16);
AT(mdb_extension, version, 8);
SIZE(mdb_log_attribute, 32);
SIZE(mdb_log_attributes, 16);
SIZE(mdb_log_message, 56);
AT(mdb_log_message, text, 8);
AT(mdb_log_message, type, 24);
AT(mdb_log_message, attributes, 32);
AT(mdb_log_message, severity, 48);
SLOTS(mdb_status_calls, 6);
SLOTS(mdb_buf_calls, 2);
SLOTS(mdb_extension_calls, 1);
SLOTS(mdb_portal_calls, 3);
SLOTS(mdb_logger_calls, 2);
SLOTS(mdb_shape_calls, 3);
SLOTS(mdb_descriptor_calls, 3);
SLOTS(mdb_node_calls, 6);
SLOTS(mdb_expanded_calls, 3);
SLOTS(mdb_ast_calls, 7);
SLOTS(mdb_logical_calls, 15);
SLOTS(mdb_dpl_calls, 4);
SLOTS(mdb_dpl_list_calls, 3);
SLOTS(mdb_exec_calls, 9);
SLOTS(mdb_metrics_calls, 3);

struct host_counts host_counts;
bool host_no_user_status;
long host_passed, host_failed;

bool
host_check(bool ok, const char *what, const char *file, int line)
{
    __atomic_add_fetch(&host_passed, ok, __ATOMIC_RELAXED);
    __atomic_add_fetch(&host_failed, !ok, __ATOMIC_RELAXED);
    if (!ok) {
        printf("%s:%d: not so: %s\n", file, line, what);
        fflush(stdout);
    }
    return ok;
}

void
host_note(const char *wanted, const char *got)
{
    printf("    wanted: %s\n    got:    %s\n", wanted, got);
}

static void *
must(void *p)
{
    if (!p) {
        fprintf(stderr, "host: out of memory\n");
        exit(2);
    }
    return p;
}

/* ---- documents ---- */
void
host_add(struct host_docs *d, struct mrs_view doc)
{
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 16;
        d->doc = must(realloc(d->doc, d->cap * sizeof *d->doc));
    }
    uint8_t *p = must(malloc(doc.n ? doc.n : 1));
    if (doc.n) {
        memcpy(p, doc.p, doc.n);
    }
    d->doc[d->n++] = (struct mrs_view){p, doc.n};
}

void
host_clear(struct host_docs *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        free((void *)(uintptr_t)d->doc[i].p);
    }
    free(d->doc);
    *d = (struct host_docs){0};
}

bool
host_load(struct host_docs *d, const char *file)
{
    FILE *f = fopen(file, "rb");
    uint8_t head[4];
    if (!f) {
        return false;
    }
    while (fread(head, 1, 4, f) == 4) {
        uint32_t n = mrs_le32(head);
        uint8_t *p = must(malloc(n));
        memcpy(p, head, 4);
        if (n < MRS_DOC_MIN || fread(p + 4, 1, n - 4, f) != n - 4) {
            fprintf(stderr, "host: %s is damaged\n", file);
            exit(2);
        }
        host_add(d, (struct mrs_view){p, n});
        free(p);
    }
    fclose(f);
    return true;
}

struct mrs_view
host_doc(const char *text)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    struct mrs_err e;
    char *json = must(strdup(text));
    size_t used;
    mrs_buf_init(&b, mem, 64u << 20);
    mrs_err_clear(&e);
    for (char *p = json; *p; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    if (mrs_ejson_read(json, strlen(json), MRS_EJSON_DATA, &b, &used, &e) != MRS_OK) {
        fprintf(stderr, "host: %s: %s\n", text, e.msg);
        exit(2);
    }
    uint8_t *p = must(malloc(b.n));
    memcpy(p, b.p, b.n);
    struct mrs_view d = {p, (uint32_t)b.n};
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
    free(json);
    return d;
}

/* ---- statuses ---- */
struct host_status {
    struct mdb_status face;
    int32_t code;
    char *text;
};

static struct host_status *
own(const struct mdb_status *s)
{
    return (struct host_status *)(uintptr_t)s;
}

static void
status_destroy(struct mdb_status *s)
{
    __atomic_sub_fetch(&host_counts.statuses, 1, __ATOMIC_RELAXED);
    free(own(s)->text);
    free(s);
}

static int32_t
status_code(const struct mdb_status *s)
{
    return own(s)->code;
}

static struct mdb_bytes
status_reason(const struct mdb_status *s)
{
    return (struct mdb_bytes){(const uint8_t *)own(s)->text, strlen(own(s)->text)};
}

static void
status_set_code(struct mdb_status *s, int32_t code)
{
    own(s)->code = code;
}

static struct mdb_status *
status_set_reason(struct mdb_status *s, struct mdb_bytes b)
{
    free(own(s)->text);
    own(s)->text = must(strndup((const char *)b.data, b.len));
    return host_status(0, "");
}

static struct mdb_status *
status_clone(const struct mdb_status *s, struct mdb_status **out)
{
    *out = host_status(own(s)->code, own(s)->text);
    return host_status(0, "");
}

static const struct mdb_status_calls status_calls = {status_destroy,  status_code,       status_reason,
                                                     status_set_code, status_set_reason, status_clone};

struct mdb_status *
host_status(int32_t code, const char *text)
{
    struct host_status *s = must(calloc(1, sizeof *s));
    *s = (struct host_status){{&status_calls}, code, must(strdup(text))};
    __atomic_add_fetch(&host_counts.statuses, 1, __ATOMIC_RELAXED);
    return &s->face;
}

bool
host_ok(struct host *h, struct mdb_status *s)
{
    CHECK(s != NULL);
    if (!s) {
        return false;
    }
    const struct mdb_status_calls *c = s->calls;
    if (!c->destroy || !c->get_code || !c->get_reason || !c->set_code || !c->set_reason || !c->clone) {
        CHECK(!"a status with an empty slot");
    }
    struct mdb_bytes why = c->get_reason(s);
    h->code = c->get_code(s);
    snprintf(h->error, sizeof h->error, "%.*s", (int)why.len, (const char *)why.data);
    c->destroy(s);
    return h->code == 0;
}

/* ---- buffers ---- */
struct host_buf {
    struct mdb_buf face;
    uint8_t *p;
    uint64_t n;
};

static void
buf_destroy(struct mdb_buf *b)
{
    struct host_buf *h = (struct host_buf *)(void *)b;
    __atomic_sub_fetch(&host_counts.bufs, 1, __ATOMIC_RELAXED);
    memset(h->p, 0xDD, h->n);
    free(h->p);
    free(b);
}

static struct mdb_bytes
buf_view(const struct mdb_buf *b)
{
    const struct host_buf *h = (const struct host_buf *)(const void *)b;
    return (struct mdb_bytes){h->p, h->n};
}

static const struct mdb_buf_calls buf_calls = {buf_destroy, buf_view};

struct mdb_buf *
host_give(const void *p, size_t n)
{
    struct host_buf *b = must(calloc(1, sizeof *b));
    *b = (struct host_buf){{&buf_calls}, must(malloc(n ? n : 1)), n};
    memcpy(b->p, p, n);
    __atomic_add_fetch(&host_counts.bufs, 1, __ATOMIC_RELAXED);
    return &b->face;
}

struct mrs_view
host_take(struct mdb_buf *b)
{
    struct mrs_view d = {NULL, 0};
    if (b) {
        struct mdb_bytes v = b->calls->get_view(b);
        uint8_t *p = must(malloc(v.len ? v.len : 1));
        memcpy(p, v.data, v.len);
        d = (struct mrs_view){p, (uint32_t)v.len};
        b->calls->destroy(b);
    }
    return d;
}

/* ---- services ---- */
static struct mdb_status *
log_message(const struct mdb_log_message *m)
{
    host_counts.logs++;
    CHECK(m->text.len > 0 && m->type == 0 && m->severity == 2);
    return host_status(0, "");
}

static struct mdb_status *
should_log(uint32_t severity, uint32_t type, bool *out)
{
    (void)severity;
    (void)type;
    *out = true;
    return host_status(0, "");
}

static const struct mdb_logger_calls logger_calls = {log_message, should_log};
static struct mdb_logger logger = {&logger_calls};

static struct mdb_logger *
get_logger(void)
{
    return &logger;
}

static struct mdb_status *
user_asserted(struct mdb_bytes b)
{
    struct mrs_view d = {b.data, (uint32_t)b.len};
    host_counts.assertions++;
    if (host_no_user_status) {
        return NULL;
    }
    CHECK(mrs_doc_check(b.data, b.len, 100, NULL) == MRS_OK && mrs_doc_count(d) == 2);
    struct mrs_val text = mrs_doc_get(d, "message"), code = mrs_doc_get(d, "errorCode");
    CHECK(text.type == MRS_STRING && code.type == MRS_INT32);
    return host_status(mrs_val_i32(code), (const char *)text.p + 4);
}

static struct mdb_status *
tripwire_asserted(struct mdb_bytes b)
{
    host_counts.tripwire = true;
    return user_asserted(b);
}

static const struct mdb_service_calls service_calls = {.get_logger = get_logger, .user_asserted = user_asserted,
                                                       .tripwire_asserted = tripwire_asserted};
static const struct mdb_services services = {&service_calls};

/* ---- loading ---- */
static const struct mdb_descriptor *registered;
static const char *given_options;

static struct mdb_status *
register_stage(const struct mdb_portal *p, const struct mdb_descriptor *d)
{
    (void)p;
    registered = d;
    return host_status(0, "");
}

static struct mdb_bytes
get_options(const struct mdb_portal *p)
{
    (void)p;
    return (struct mdb_bytes){(const uint8_t *)given_options, given_options ? strlen(given_options) : 0};
}

static const struct mdb_portal_calls portal_calls = {.register_stage = register_stage, .get_options = get_options};

/* A server loads an extension once and keeps it: what was loaded here is kept in reach, too. */
static const struct mdb_extension *loaded[4096];
static unsigned n_loaded;

bool
host_open(struct host *h, const char *path, const char *options)
{
    *h = (struct host){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!h->library) {
        fprintf(stderr, "host: %s\n", dlerror());
        exit(2);
    }
    void (*get_versions)(struct mdb_versions *);
    struct mdb_status *(*get)(struct mdb_version, const struct mdb_services *, const struct mdb_extension **);
    *(void **)&get_versions = dlsym(h->library, "get_mongodb_extension_versions");
    *(void **)&get = dlsym(h->library, "get_mongodb_extension");
    if (!CHECK(get_versions && get)) {
        return false;
    }
    struct mdb_versions v = {0};
    get_versions(&v);
    if (!CHECK(v.n == 1 && v.version && v.version[0].major == 1 && v.version[0].minor == 0)) {
        return false;
    }
    if (!host_ok(h, get(v.version[0], &services, &h->extension)) || !CHECK(h->extension != NULL)) {
        return false;
    }
    loaded[n_loaded++ % 4096] = h->extension;
    CHECK(h->extension->version.major == 1 && h->extension->version.minor == 0 && h->extension->calls->initialize);
    struct mdb_portal portal = {&portal_calls, {1, 0}, 29};
    registered = NULL;
    given_options = options;
    if (!host_ok(h, h->extension->calls->initialize(h->extension, &portal))) {
        return false;
    }
    memset(&portal, 0xDD, sizeof portal);
    h->stage = registered;
    return CHECK(registered && registered->calls->get_name && registered->calls->get_client_type &&
                 registered->calls->parse);
}

static bool
is_full(const void *calls, size_t size)
{
    for (size_t i = 0; i < size / sizeof(void *); i++) {
        void *slot;
        memcpy(&slot, (const char *)calls + i * sizeof slot, sizeof slot);
        if (!slot) {
            return false;
        }
    }
    return true;
}
#define FULL(object) CHECK(is_full((object)->calls, sizeof *(object)->calls))

struct mdb_node *
host_parse(struct host *h, struct mrs_view stage)
{
    struct mdb_node *n = NULL;
    uint8_t *copy = must(malloc(stage.n ? stage.n : 1)); /* lent for the time of the call */
    memcpy(copy, stage.p, stage.n);
    bool ok = host_ok(h, h->stage->calls->parse(h->stage, (struct mdb_bytes){copy, stage.n}, &n));
    memset(copy, 0xDD, stage.n);
    free(copy);
    CHECK(ok == (n != NULL));
    if (n) {
        FULL(n);
    }
    return n;
}

struct mdb_logical *
host_promote(struct host *h, struct mdb_node *n, const char *db)
{
    struct mdb_expanded *x = NULL;
    struct mdb_element slot = {9, NULL};
    struct mdb_elements list = {1, &slot};
    struct mdb_logical *l = NULL;
    char ns[64];
    bool ok = host_ok(h, n->calls->expand(n, &x));
    n->calls->destroy(n);
    if (!ok) {
        return NULL;
    }
    FULL(x);
    CHECK(x->calls->size(x) == 1);
    ok = host_ok(h, x->calls->transfer(x, &list));
    x->calls->destroy(x);
    if (!CHECK(ok && slot.type == 1 && slot.object)) {
        return NULL;
    }
    struct mdb_ast *a = slot.object;
    FULL(a);
    snprintf(ns, sizeof ns, "%s", db);
    struct mdb_catalog_context c = {.ns = {{(const uint8_t *)ns, strlen(ns)}, {(const uint8_t *)"c", 1}}};
    ok = host_ok(h, a->calls->promote(a, &c, &l));
    memset(ns, 0xDD, sizeof ns);
    memset(&c, 0xDD, sizeof c);
    a->calls->destroy(a);
    CHECK(ok == (l != NULL));
    if (l) {
        FULL(l);
    }
    return l;
}

struct mdb_exec *
host_compile(struct host *h, struct mdb_logical *l)
{
    struct mdb_exec *x = NULL;
    bool ok = host_ok(h, l->calls->compile(l, &x));
    l->calls->destroy(l);
    CHECK(ok == (x != NULL));
    if (x) {
        FULL(x);
    }
    return x;
}

struct mdb_exec *
host_stage(struct host *h, struct mrs_view stage, const char *db)
{
    struct mdb_node *n = host_parse(h, stage);
    struct mdb_logical *l = n ? host_promote(h, n, db) : NULL;
    return l ? host_compile(h, l) : NULL;
}

/* ---- the stage before ---- */
static uint8_t *
lend(uint8_t **last, struct mrs_view d, struct mdb_container *c)
{
    free(*last);
    *last = must(malloc(d.n ? d.n : 1));
    memcpy(*last, d.p, d.n);
    *c = (struct mdb_container){.type = MDB_LENT, .u.lent = {*last, d.n}};
    return *last;
}

static struct mdb_status *
source_next(struct mdb_exec *x, struct mdb_context *c, struct mdb_next *out)
{
    struct host_source *s = (struct host_source *)(void *)x;
    (void)c;
    s->calls++;
    if (s->lent) { /* its time is over */
        memset(s->lent, 0xDD, 4);
    }
    *out = (struct mdb_next){.code = MDB_EOF};
    if (s->fail_at && s->calls == s->fail_at) {
        return host_status(4711, "the stage before it fails");
    }
    if (s->strange) {
        out->code = 7;
        return host_status(0, "");
    }
    s->paused = s->pause_every && s->at % s->pause_every == 0 && !s->paused;
    if (s->paused) {
        out->code = MDB_PAUSE;
        return host_status(0, "");
    }
    if (s->at == s->docs->n) {
        s->after_end++;
        return host_status(0, "");
    }
    struct mrs_view d = s->docs->doc[s->at++], none = mrs_empty_doc();
    out->code = MDB_ADVANCED;
    bool gives = s->how == HOST_GIVES || (s->how == HOST_MIXES && s->at % 2);
    if (gives) {
        out->doc = (struct mdb_container){.type = MDB_GIVEN, .u.given = host_give(d.p, d.n)};
        out->meta = (struct mdb_container){.type = MDB_GIVEN, .u.given = host_give(none.p, none.n)};
    } else {
        lend(&s->lent, d, &out->doc);
        lend(&s->lent_meta, s->meta ? d : none, &out->meta);
    }
    return host_status(0, "");
}

static const struct mdb_exec_calls source_calls = {.get_next = source_next};

void
host_source(struct host_source *s, const struct host_docs *docs, enum host_lends how)
{
    *s = (struct host_source){.face = {&source_calls}, .docs = docs, .how = how};
}

void
host_source_clear(struct host_source *s)
{
    free(s->lent);
    free(s->lent_meta);
    s->lent = s->lent_meta = NULL;
}

/* ---- the operation ---- */
static struct mdb_status *
check_for_interrupt(const struct mdb_context *x, struct mdb_status *ours)
{
    struct host_context *c = (struct host_context *)(uintptr_t)x;
    c->checks++;
    CHECK(ours->calls->get_code(ours) == 0);
    if (c->break_at && c->checks == c->break_at) {
        return host_status(4712, "the question fails");
    }
    if (c->kill_at && c->checks == c->kill_at) {
        ours->calls->set_code(ours, 11601);
        struct mdb_status *s = ours->calls->set_reason(ours, (struct mdb_bytes){(const uint8_t *)"killed", 6});
        s->calls->destroy(s);
        CHECK(ours->calls->get_code(ours) == 11601);
    }
    return host_status(0, "");
}

static struct mdb_status *
get_metrics(const struct mdb_context *x, struct mdb_exec *exec, struct mdb_metrics **out)
{
    (void)exec;
    *out = ((const struct host_context *)(const void *)x)->metrics;
    return host_status(0, "");
}

static const struct mdb_context_calls context_calls = {.check_for_interrupt = check_for_interrupt,
                                                       .get_metrics = get_metrics};

void
host_context(struct host_context *c)
{
    *c = (struct host_context){.face = {&context_calls}};
}

static struct mdb_bytes
bytes_of(const struct mdb_container *c)
{
    return c->type == MDB_LENT ? c->u.lent : c->u.given->calls->get_view(c->u.given);
}

int
host_next(struct host *h, struct mdb_exec *x, struct host_context *c, struct host_docs *out, struct host_docs *meta)
{
    struct mdb_next r;
    memset(&r, 0xDD, sizeof r);
    r.code = MDB_EOF;
    r.doc = r.meta = (struct mdb_container){.type = MDB_LENT};
    if (!host_ok(h, x->calls->get_next(x, &c->face, &r))) {
        return HOST_FAILED;
    }
    if (r.code != MDB_ADVANCED) {
        CHECK(r.code <= MDB_PAUSE && r.doc.type == MDB_LENT && !r.doc.u.lent.len && !r.meta.u.lent.len);
        return r.code == MDB_EOF ? HOST_DONE : HOST_PAUSED;
    }
    struct mdb_bytes d = bytes_of(&r.doc), m = bytes_of(&r.meta);
    CHECK(mrs_doc_check(d.data, d.len, MRS_DEPTH_READ, NULL) == MRS_OK);
    host_add(out, (struct mrs_view){d.data, (uint32_t)d.len});
    if (meta) {
        host_add(meta, (struct mrs_view){m.data, (uint32_t)m.len});
    }
    return 0;
}

int
host_drain(struct host *h, struct mdb_exec *x, struct host_context *c, struct host_docs *out)
{
    int s;
    do {
        s = host_next(h, x, c, out, NULL);
    } while (s == 0 || s == HOST_PAUSED);
    return s;
}
