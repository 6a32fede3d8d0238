/* SPDX-License-Identifier: Apache-2.0 */
/* state_file.c - the file of a checkpoint: a magic number, a BSON document, a checksum.
 *
 * The checksum finds damage by a disk or a copy. It does not protect against manipulation, so everything is validated
 * anyway. This file must not know what the engine does with the contents. */
#include "state.h"

#define WORD "MRSSTATE"
#define WORD_N 8u
#define SUM_N 16u

enum mrs_status
mrsi_state_damaged(const char *what, struct mrs_err *e)
{
    return mrs_err_checkpoint(e, "%s", what);
}

uint64_t
mrsi_state_number(struct mrs_view d, const char *name, uint64_t most, bool *bad)
{
    struct mrs_val v = mrs_doc_get(d, name);
    uint64_t n = v.type == MRS_INT64 ? (uint64_t)mrs_val_i64(v) : UINT64_MAX;
    if (v.type != MRS_INT64 || n > most) {
        *bad = true;
        return 0;
    }
    return n;
}

struct mrs_view
mrsi_state_list(struct mrs_view d, const char *name, bool *bad)
{
    struct mrs_val v = mrs_doc_get(d, name);
    struct mrs_walk w;
    struct mrs_elem at;
    if (v.type != MRS_ARRAY) {
        *bad = true;
        return mrs_empty_doc();
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &at) == 1) {
        *bad = *bad || at.v.type != MRS_DOCUMENT;
    }
    return *bad ? mrs_empty_doc() : mrs_val_view(v);
}

const uint8_t *
mrsi_state_bytes(struct mrs_view d, const char *name, size_t *n, bool *bad)
{
    struct mrs_val v = mrs_doc_get(d, name);
    *n = 0;
    if (v.type != MRS_BINARY || v.n < 5 || v.p[4] != 0) {
        *bad = true;
        return NULL;
    }
    *n = v.n - 5;
    return v.p + 5;
}

void
mrsi_state_put_bytes(struct mrs_build *b, const char *name, const void *p, size_t n)
{
    uint8_t head[5];
    struct mrs_buf *buf = b->buf;
    size_t name_n = strlen(name);
    mrs_put32(head, (uint32_t)n);
    head[4] = 0;
    mrs_buf_byte(buf, MRS_BINARY);
    mrs_buf_put(buf, name, name_n + 1);
    mrs_buf_put(buf, head, sizeof head);
    mrs_buf_put(buf, p, n);
}

static const char *
text_of(struct mrs_view d, const char *name, bool *bad)
{
    struct mrs_val v = mrs_doc_get(d, name);
    if (v.type != MRS_STRING || strlen((const char *)v.p + 4) + 5 != v.n) {
        *bad = true;
        return "";
    }
    return (const char *)v.p + 4;
}

static struct mrs_view
document_of(struct mrs_view d, const char *name, bool *bad)
{
    struct mrs_val v = mrs_doc_get(d, name);
    if (v.type != MRS_DOCUMENT) {
        *bad = true;
        return mrs_empty_doc();
    }
    return mrs_val_view(v);
}

static enum mrs_status
of_another_version(struct mrs_err *e)
{
    if (e && e->code == MRS_E_NONE) {
        snprintf(e->ns, sizeof e->ns, "%s", MRS_CHECKPOINT);
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT,
                       "the checkpoint was made by another version of mongoreshape: resume with that one, or start over"
                       " with --force");
}

enum mrs_status
mrsi_checkpoint_parse_body(const void *p, size_t n, struct mrsi_checkpoint *out, struct mrs_err *e)
{
    struct mrs_view d = {p, (uint32_t)n};
    bool bad = false;
    size_t secret_n = 0;
    memset(out, 0, sizeof *out);
    if (n < MRS_DOC_MIN || n > MRS_DOC_MAX || mrs_le32(d.p) != n ||
        mrs_doc_check(d.p, n, MRS_DEPTH_READ, NULL) != MRS_OK) {
        return mrsi_state_damaged("no document", e);
    }
    if (mrsi_state_number(d, "format", UINT64_MAX, &bad) != MRSI_STATE_FORMAT) {
        return of_another_version(e);
    }
    struct mrs_val now = mrs_doc_get(d, "now"), pass = mrs_doc_get(d, "pass");
    out->tool = text_of(d, "tool", &bad);
    out->plan = text_of(d, "plan", &bad);
    out->plan_id = text_of(d, "planId", &bad);
    out->now_ms = now.type == MRS_DATE ? mrs_val_i64(now) : 0;
    out->secret = mrsi_state_bytes(d, "secret", &secret_n, &bad);
    out->options = document_of(d, "options", &bad);
    out->input = mrsi_state_list(d, "input", &bad);
    out->state = document_of(d, "state", &bad);
    out->output = document_of(out->state, "output", &bad);
    out->pass = pass.type == MRS_DOCUMENT ? mrs_val_view(pass) : mrs_empty_doc();
    return bad || now.type != MRS_DATE || secret_n != MRS_SECRET ? mrsi_state_damaged("a field is missing", e) : MRS_OK;
}

enum mrs_status
mrsi_checkpoint_parse(const void *p, size_t n, struct mrsi_checkpoint *out, struct mrs_err *e)
{
    const uint8_t *at = p;
    if (n < WORD_N + MRS_DOC_MIN + SUM_N || memcmp(at, WORD, WORD_N) != 0) {
        return mrsi_state_damaged("it is none", e);
    }
    struct mrs_hash128 h = mrs_hash(at, n - SUM_N, 0);
    if (h.lo != mrs_le64(at + n - SUM_N) || h.hi != mrs_le64(at + n - SUM_N + 8)) {
        return mrsi_state_damaged("its checksum is wrong", e);
    }
    return mrsi_checkpoint_parse_body(at + WORD_N, n - WORD_N - SUM_N, out, e);
}

void
mrsi_checkpoint_frame(struct mrs_view body, struct mrs_buf *out)
{
    uint8_t sum[SUM_N];
    size_t start = out->n;
    mrs_buf_put(out, WORD, WORD_N);
    mrs_buf_put(out, body.p, body.n);
    if (!out->bad) {
        struct mrs_hash128 h = mrs_hash(out->p + start, out->n - start, 0);
        mrs_put64(sum, h.lo);
        mrs_put64(sum + 8, h.hi);
        mrs_buf_put(out, sum, sizeof sum);
    }
}

void
mrsi_state_put_docs(const struct mrs_docs *d, struct mrs_build *b)
{
    mrs_build_i64(b, "docs", (int64_t)d->n);
    mrs_build_i64(b, "bytes", (int64_t)d->bytes);
    mrs_build_i64(b, "low", (int64_t)d->digest.lo);
    mrs_build_i64(b, "high", (int64_t)d->digest.hi);
}

void
mrsi_state_get_docs(struct mrs_view d, struct mrs_docs *docs, bool *bad)
{
    docs->n = mrsi_state_number(d, "docs", UINT64_MAX, bad);
    docs->bytes = mrsi_state_number(d, "bytes", UINT64_MAX, bad);
    docs->digest.lo = mrsi_state_number(d, "low", UINT64_MAX, bad);
    docs->digest.hi = mrsi_state_number(d, "high", UINT64_MAX, bad);
}
