/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.c - the last file of an output: a list of the written files, for later checks.
 *
 * Canonical Extended JSON: first the caller's description of its run, then one entry per collection, sorted by name,
 * with the sink's own counts and digest, then the other files. The caller supplies the figures of copied collections.
 * Must not contain anything that differs between two runs of the same work, so the digests have no secret: their salt
 * is the plan id, which an author of documents does not know. They are sums of fast hashes and detect damage and
 * mistakes. Anyone who has seen the manifest can make other documents with its digests: checksums of the files, by
 * sha256sum, protect against that. */
#include "mongoreshape/ejson.h"
#include "output.h"
#include <stdio.h>
#include <stdlib.h>


static int
by_name(const void *a, const void *b)
{
    const struct mrsi_out_rec *x = a, *y = b;
    return x->extra != y->extra ? x->extra - y->extra : strcmp(x->name, y->name);
}

static void
text(struct mrs_build *b, const char *name, const char *value)
{
    mrs_build_text(b, name, value, (uint32_t)strlen(value));
}

void
mrs_docs_write(const struct mrs_docs *d, struct mrs_build *b)
{
    MRS_ASSERT(b->depth > 0 || b->too_deep);
    char hex[33];
    snprintf(hex, sizeof hex, "%016llx%016llx", (unsigned long long)d->digest.hi,
             (unsigned long long)d->digest.lo);
    mrs_build_i64(b, "docs", (int64_t)d->n);
    mrs_build_i64(b, "bytes", (int64_t)d->bytes);
    text(b, "digest", hex);
}

enum mrs_status
mrs_output_copied(struct mrs_output *o, const char *ns, const struct mrs_docs *d, struct mrs_err *e)
{
    MRS_ASSERT(ns && d);
    enum mrs_status s = MRS_END;
    pthread_mutex_lock(&o->lock);
    for (uint32_t i = o->n_recs; s != MRS_OK && i-- > 0;) {
        struct mrsi_out_rec *rec = &o->recs[i];
        if (rec->copied && !rec->extra && strcmp(rec->name, ns) == 0) {
            rec->counted = true;
            rec->docs = d->n;
            rec->bytes = d->bytes;
            rec->digest = d->digest;
            s = MRS_OK;
        }
    }
    pthread_mutex_unlock(&o->lock);
    return s == MRS_OK ? s : MRSI_FAIL(e, MRS_E_ACCOUNT, "%s: it was not copied", ns);
}

static void
collection(struct mrs_build *b, const struct mrsi_out_rec *rec)
{
    MRS_ASSERT(rec->name);
    static const char *const codecs[] = {"none", "gzip", "zstd"};
    mrs_build_item_open(b, MRS_DOCUMENT);
    text(b, "ns", rec->name);
    if (rec->copied) {
        mrs_build_bool(b, "copied", true);
    }
    if (rec->data && (!rec->copied || rec->counted)) {
        struct mrs_docs d = {rec->docs, rec->bytes, rec->digest};
        mrs_docs_write(&d, b);
    }
    if (rec->data) {
        mrs_build_i64(b, "file_bytes", (int64_t)rec->file_bytes);
        text(b, "codec", codecs[rec->codec]);
    }
    mrs_build_close(b);
}

enum mrs_status
mrsi_manifest(struct mrs_output *o, struct mrs_view extra, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(o->n_recs <= o->cap_recs);
    struct mrs_buf bson;
    struct mrs_build b;
    struct mrs_view doc;
    uint32_t i = 0;
    mrs_buf_init(&bson, o->mem, MRSI_MANIFEST_MAX);
    mrs_build_init(&b, &bson);
    if (extra.n > 5) {
        mrs_build_raw(&b, extra.p + 4, extra.n - 5);
    }
    if (o->salt) {
        text(&b, "digests", MRS_DIGESTS);
    }
    if (o->sample) {
        mrs_build_bool(&b, "sample", true);
    }
    if (o->n_recs) {
        qsort(o->recs, o->n_recs, sizeof *o->recs, by_name);
    }
    mrs_build_open(&b, "collections", 11, MRS_ARRAY);
    for (; i < o->n_recs && !o->recs[i].extra; i++) {
        collection(&b, &o->recs[i]);
    }
    mrs_build_close(&b);
    mrs_build_open(&b, "files", 5, MRS_ARRAY);
    for (; i < o->n_recs; i++) {
        mrs_build_item_open(&b, MRS_DOCUMENT);
        text(&b, "path", o->recs[i].name);
        mrs_build_i64(&b, "file_bytes", (int64_t)o->recs[i].file_bytes);
        mrs_build_close(&b);
    }
    mrs_build_close(&b);
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    if (s == MRS_OK) {
        mrs_ejson_write(doc, true, out);
        mrs_buf_byte(out, '\n');
        s = mrs_buf_status(out, e);
    }
    mrs_buf_clear(&bson);
    return s;
}

bool
mrsi_manifest_is_ours(struct mrs_mem *mem, const char *text, size_t n)
{
    struct mrs_buf bson;
    struct mrs_err own;
    size_t used;
    mrs_err_clear(&own);
    mrs_buf_init(&bson, mem, MRSI_MANIFEST_MAX);
    bool ours = mrs_ejson_read(text, n, MRS_EJSON_DATA, &bson, &used, &own) == MRS_OK;
    if (ours) {
        struct mrs_view m = {bson.p, (uint32_t)bson.n};
        ours = mrs_doc_get(m, "collections").type == MRS_ARRAY && mrs_doc_get(m, "files").type == MRS_ARRAY;
    }
    mrs_buf_clear(&bson);
    return ours;
}
