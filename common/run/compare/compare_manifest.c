/* SPDX-License-Identifier: Apache-2.0 */
/* compare_manifest.c - compares a dump with the manifest of a run; see mongoreshape/compare.h.
 *
 * The manifest is untrusted text: all of it is validated before use. It has one digest for each collection, so the
 * report names the collection that differs, not the document. */
#include "compare_dumps.h"
#include "mongoreshape/ejson.h"
#include <stdlib.h>

struct manifest_entry {
    const char *ns;
    bool data;
    struct mrs_docs docs;
};
struct compare_manifest_reading {
    const struct mrs_manifest_text *from;
    struct mrs_arena *arena;
    struct manifest_entry *list;
    uint32_t n;
    struct mrs_salt salt; /* of its digests */
};

static enum mrs_status
wrong(const struct compare_manifest_reading *r, struct mrs_err *e, uint32_t i, const char *why)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "%.300s: `%s`, entry %u: %s", r->from->name,
                       r->from->input ? "input" : "collections", i + 1, why);
}

static bool
digit(char c, uint64_t *v)
{
    bool number = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    *v = *v << 4 | (uint64_t)(number ? c - '0' : letter ? c - 'a' + 10 : 0);
    return number || letter;
}

static bool
digest_of(struct mrs_val v, struct mrs_hash_sum *sum)
{
    uint32_t n = 0;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    bool good = n == 32;
    for (uint32_t i = 0; good && i < n; i++) {
        good = digit(text[i], i < 16 ? &sum->hi : &sum->lo);
    }
    return good;
}

static bool
count_of(struct mrs_val v, uint64_t *n)
{
    int64_t i = 0;
    bool good = mrs_val_integral(v, &i) && i >= 0;
    *n = good ? (uint64_t)i : 0;
    return good;
}

/* The name, in the arena, or NULL: none, or out of memory (then *s is DEAD). */
static const char *
name_of(const struct compare_manifest_reading *r, struct mrs_val v, enum mrs_status *s, struct mrs_err *e)
{
    uint32_t n = 0;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    if (!n || memchr(text, 0, n)) {
        return NULL;
    }
    char *name = mrs_arena_alloc(r->arena, n + 1);
    if (name) {
        memcpy(name, text, n);
        name[n] = 0;
    } else {
        *s = mrs_err_memory(e, n);
    }
    return name;
}

static enum mrs_status
read_one(struct compare_manifest_reading *r, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(v.type != MRS_MISSING);
    struct manifest_entry *t = &r->list[r->n];
    enum mrs_status s = MRS_OK;
    memset(t, 0, sizeof *t);
    if (v.type != MRS_DOCUMENT) {
        return wrong(r, e, r->n, "it is no object");
    }
    struct mrs_view d = mrs_val_view(v);
    struct mrs_val digest = mrs_doc_get(d, "digest");
    t->ns = name_of(r, mrs_doc_get(d, "ns"), &s, e);
    if (!t->ns) {
        return s == MRS_OK ? wrong(r, e, r->n, "it has no name (`ns`)") : s;
    }
    t->data = digest.type != MRS_MISSING;
    if (!t->data && mrs_doc_get(d, "codec").type != MRS_MISSING) {
        return wrong(r, e, r->n, "it has no `digest`: an older version wrote it, which did not count what it copied");
    }
    if (t->data && (!digest_of(digest, &t->docs.digest) || !count_of(mrs_doc_get(d, "docs"), &t->docs.n) ||
                    !count_of(mrs_doc_get(d, "bytes"), &t->docs.bytes))) {
        return wrong(r, e, r->n, "`docs`, `bytes` or `digest` is damaged");
    }
    r->n++;
    return MRS_OK;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct manifest_entry *)a)->ns, ((const struct manifest_entry *)b)->ns);
}

/* The salt of the digests, derived from the plan id in the manifest. */
static enum mrs_status
read_salt(struct compare_manifest_reading *r, struct mrs_view manifest, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(manifest));
    uint32_t n = 0;
    uint64_t resumed[2] = {0, 0};
    uint8_t id[MRS_SALT];
    struct mrs_val plan = mrs_doc_get(manifest, "planId");
    const char *text = plan.type == MRS_STRING ? mrs_val_text(plan, &n) : NULL;
    bool good = n == 2 * sizeof id;
    if (!mrs_val_is_text(mrs_doc_get(manifest, "digests"), MRS_DIGESTS)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT,
                           "%.300s: another version of mongoreshape wrote it, whose digests are made in another way",
                           r->from->name);
    }
    for (uint32_t i = 0; good && i < n; i++) {
        good = digit(text[i], &resumed[i / 16]);
    }
    mrs_put64(id, __builtin_bswap64(resumed[0]));
    mrs_put64(id + 8, __builtin_bswap64(resumed[1]));
    mrs_salt_make(&r->salt, id);
    return good ? MRS_OK : mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "%.300s: `planId` is damaged", r->from->name);
}

/* The requested list, sorted; a duplicate name is damage. */
static enum mrs_status
read_list(struct compare_manifest_reading *r, struct mrs_view manifest, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(manifest));
    struct mrs_val list = mrs_doc_get(manifest, r->from->input ? "input" : "collections");
    struct mrs_walk w;
    struct mrs_elem x;
    size_t n = 0;
    if (list.type != MRS_ARRAY || mrs_doc_get(manifest, "planId").type == MRS_MISSING) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "%.300s: this is no manifest that tells of a run's %s",
                           r->from->name, r->from->input ? "input" : "output");
    }
    enum mrs_status s = read_salt(r, manifest, e);
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &x) > 0;) {
        n++;
    }
    r->list = s == MRS_OK ? mrs_arena_alloc(r->arena, (n + 1) * sizeof *r->list) : NULL;
    s = s == MRS_OK && !r->list ? mrs_err_memory(e, n * sizeof *r->list) : s;
    for (mrs_walk_init(&w, mrs_val_view(list)); s == MRS_OK && mrs_walk_next(&w, &x) > 0;) {
        s = read_one(r, x.v, e);
    }
    if (s == MRS_OK && r->n) {
        qsort(r->list, r->n, sizeof *r->list, by_name);
    }
    for (uint32_t i = 1; s == MRS_OK && i < r->n; i++) {
        if (by_name(&r->list[i - 1], &r->list[i]) == 0) {
            s = mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "%.300s: it tells of %.250s twice", r->from->name,
                            r->list[i].ns);
        }
    }
    return s;
}

static enum mrs_status
parse(struct mrs_mem *mem, struct compare_manifest_reading *r, struct mrs_err *e)
{
    struct mrs_buf bson;
    struct mrs_err own;
    size_t used = 0;
    mrs_err_clear(&own);
    mrs_buf_init(&bson, mem, UINT32_MAX / 2);
    enum mrs_status s = mrs_ejson_read(r->from->text, r->from->n, MRS_EJSON_DATA, &bson, &used, &own);
    while (s == MRS_OK && used < r->from->n && strchr(" \t\r\n", r->from->text[used]) && r->from->text[used]) {
        used++;
    }
    if (s == MRS_OK && used < r->from->n) {
        s = mrs_err_set(&own, MRS_FAIL, MRS_E_FORMAT, "something follows its end");
        own.byte_off = used;
    }
    if (s != MRS_OK && own.code != MRS_E_MEMORY) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "%.300s: this is no manifest: %.150s", r->from->name, own.msg);
        if (e && own.byte_off != UINT64_MAX) {
            e->byte_off = own.byte_off;
        }
    } else if (s != MRS_OK) {
        s = mrs_err_memory(e, r->from->n);
    } else {
        struct mrs_view doc = {bson.p, (uint32_t)bson.n};
        s = read_list(r, doc, e);
    }
    mrs_buf_clear(&bson);
    return s;
}

/* ---- comparison with the dump ---- */
/* The dump's next namespace, from *at on; MRSI_NONE: none. */
static uint32_t
next_of(struct mrs_input *in, uint32_t *at)
{
    while (*at < mrs_input_count(in) && mrs_input_at(in, *at)->kind != MRS_INPUT_DATA) {
        ++*at;
    }
    return *at < mrs_input_count(in) ? *at : MRSI_NONE;
}

static enum mrs_status
one(struct mrsi_compare *c, const struct manifest_entry *t, uint32_t at, struct mrs_diff_coll *coll,
    struct mrs_err *e)
{
    const struct mrs_input_ns *in = at == MRSI_NONE ? NULL : mrs_input_at(c->in[1], at);
    const char *ns = t ? t->ns : in->ns;
    enum mrs_status s = MRS_OK;
    memset(coll, 0, sizeof *coll);
    coll->ns = mrs_arena_copy(&c->out->arena, ns, strlen(ns) + 1);
    MRS_TRY(mrs_allocated(coll->ns, strlen(ns), e));
    coll->there[0] = t != NULL;
    coll->there[1] = in != NULL;
    coll->known[0] = t && t->data;
    coll->known[1] = in && in->data_path;
    coll->docs[0] = t ? t->docs : coll->docs[0];
    if (coll->known[1]) {
        snprintf(c->en->phase_text, sizeof c->en->phase_text, "reading %.100s", ns);
        s = mrsi_compare_digest(c, 1, at, &coll->docs[1], e);
    }
    coll->differs =
        !t || !in || coll->known[0] != coll->known[1] || !mrsi_compare_same(&coll->docs[0], &coll->docs[1]);
    return s;
}

static enum mrs_status
compare(struct mrsi_compare *c, const struct compare_manifest_reading *r, struct mrs_err *e)
{
    struct mrs_diff *out = c->out;
    uint32_t k = 0, at = 0;
    uint32_t most = r->n + mrs_input_count(c->in[1]);
    enum mrs_status s = MRS_OK;
    out->coll = mrs_arena_alloc(&out->arena, (most + 1) * sizeof *out->coll);
    MRS_TRY(mrs_allocated(out->coll, most * sizeof *out->coll, e));
    for (uint32_t i = 0; i < mrs_input_count(c->in[1]); i++) {
        c->en->total_bytes += mrs_input_at(c->in[1], i)->file_bytes;
    }
    while (s == MRS_OK && (k < r->n || next_of(c->in[1], &at) != MRSI_NONE)) {
        uint32_t there = next_of(c->in[1], &at);
        int order = k == r->n ? 1 : there == MRSI_NONE ? -1 : strcmp(r->list[k].ns, mrs_input_at(c->in[1], there)->ns);
        s = one(c, order <= 0 ? &r->list[k] : NULL, order >= 0 ? there : MRSI_NONE, &out->coll[out->n_coll], e);
        out->n_coll += s == MRS_OK;
        out->n_differ += s == MRS_OK && out->coll[out->n_coll - 1].differs;
        k += order <= 0;
        at += order >= 0;
    }
    return s;
}

enum mrs_status
mrs_diff_manifest(struct mrs_mem *mem, const struct mrs_manifest_text *manifest, struct mrs_input *b,
                  const struct mrs_diff_opts *opts, struct mrs_diff *out, struct mrs_err *e)
{
    struct mrsi_readers readers;
    struct mrs_run_opts how = mrsi_compare_opts(opts);
    struct mrsi_compare c = {.en = &readers.en, .in = {NULL, b}, .memory = how.memory, .out = out};
    struct compare_manifest_reading r = {.from = manifest, .arena = &out->arena};
    memset(out, 0, sizeof *out);
    mrs_arena_init(&out->arena, mem);
    enum mrs_status s = mrsi_readers_begin(&readers, mem, &how, e);
    MRS_THEN(s, parse(mem, &r, e));
    c.salt = r.salt;
    MRS_THEN(s, compare(&c, &r, e));
    s = mrsi_compare_unchanged(&c, s, e);
    mrsi_readers_end(&readers);
    return s;
}
