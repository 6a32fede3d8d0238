/* SPDX-License-Identifier: Apache-2.0 */
/* fz_residue.c - any bytes as a residue file, given to the inverse of a small plan over that plan's own output.
 *
 * The input stands for the records of a file: {type u8, length u24, content}; checksums are put in here, since no
 * mutation would pass them. The first byte chooses: 1: the head is the right one, and a record HEAD of the input is
 * left out; 2: the content of DOCS is {length u16 of the operations, operations, documents}, and packed here; 4: bytes
 * behind the last record stay; 8: the head is that of today, whose digests have a secret, not that of version 1. Either
 * the run ends with a reason and nothing is there, or what it wrote has the digests that the file promises. Nothing may
 * leak. */
#include "run/engine/run_engine.h"
#include "run/residue/residue.h"
#include "ground.h"
#include "mongoreshape/mrs.h"

#include <fcntl.h>

#define MEMORY (64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char steps[] = "steps:\n- embed: { from: c, into: p, match: { p: _id }, as: l, drop: [p, x] }\n"
                            "- set: { in: p, fields: { t: 1 } }\n- drop_collection: { in: e }\n";
static const char *const lines[][2] = {
    {"in/d/p.bson", "{\"_id\":2}{\"_id\":1,\"a\":{\"b\":1}}{\"_id\":3}"},
    {"in/d/c.bson",
     "{\"x\":1,\"_id\":1,\"p\":1}{\"_id\":2,\"p\":2}{\"_id\":3,\"p\":9}{\"_id\":4,\"x\":\"s\",\"p\":1.0}"},
    {"in/d/e.bson", "{\"_id\":1,\"text\":\"gone\"}"},
};
static uint8_t head[2][1024]; /* the right ones: of version 1, and of today */
static size_t head_n[2];
static char inverse[4096];
static size_t inverse_n;

static void
drop_all(void)
{
    drop_tree(top);
}

static void
put_file(const char *path, const void *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0 && write(fd, p, n) == (ssize_t)n);
    close(fd);
}

static void
put_lines(struct mrs_mem *mem, const char *path, const char *text)
{
    struct mrs_buf b;
    size_t used;
    mrs_buf_init(&b, mem, 1u << 20);
    for (; *text; text += used) {
        must(mrs_ejson_read(text, strlen(text), MRS_EJSON_DATA, &b, &used, NULL) == MRS_OK);
    }
    put_file(path, b.p, b.n);
    mrs_buf_clear(&b);
}

static struct mrs_run_opts
options(const char *in, const char *out)
{
    return (struct mrs_run_opts){.input = in, .output = out, .memory = MEMORY, .jobs = 1};
}

/* The head of version 1 for what lies in `out`: its digests have no secret, so that records may have them, too. */
static void
put_old_head(struct mrs_mem *mem, const struct mrs_residue *r)
{
    struct mrs_view now = {r->head.p, (uint32_t)r->head.n}, doc, old;
    struct mrs_buf b;
    struct mrs_build x;
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_input *out;
    mrs_buf_init(&b, mem, sizeof head[0]);
    mrs_build_init(&x, &b);
    mrs_build_i32(&x, "version", 1);
    mrs_build_val(&x, "plan", 4, mrs_doc_get(now, "plan"));
    mrs_build_val(&x, "inverse", 7, mrs_doc_get(now, "inverse"));
    mrs_build_val(&x, "now", 3, mrs_doc_get(now, "now"));
    mrs_build_open(&x, "touched", 7, MRS_ARRAY);
    must(mrs_input_open(mem, at("out"), NULL, &out, NULL) == MRS_OK);
    mrs_walk_init(&w, mrs_val_view(mrs_doc_get(now, "touched")));
    while (mrs_walk_next(&w, &el) == 1) {
        struct mrs_val ns = mrs_doc_get(mrs_val_view(el.v), "ns");
        struct mrsi_digest digest = {.docs = 0};
        struct mrsi_docs docs;
        uint32_t n;
        mrs_build_item_open(&x, MRS_DOCUMENT);
        mrs_build_val(&x, "ns", 2, ns);
        must(mrsi_docs_open(&docs, mem, out, mrsi_input_find(out, mrs_val_text(ns, &n)), NULL) == MRS_OK);
        while (mrsi_docs_next(&docs, &doc, NULL) == MRS_OK) {
            mrsi_digest_add(&digest, NULL, doc);
        }
        mrsi_docs_close(&docs);
        mrsi_digest_put(&digest, &x);
        mrs_build_close(&x);
    }
    mrs_build_close(&x);
    must(mrs_build_finish(&x, &old, NULL) == MRS_OK);
    memcpy(head[0], old.p, head_n[0] = old.n);
    mrs_input_close(out);
    mrs_buf_clear(&b);
}

/* The forward run, once: `out` and the heads that fit it. */
static void
prepare(void)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan_opts po = {.file = "p", .default_db = "d"};
    struct mrs_inverse_plan inv;
    struct mrs_report report;
    struct mrs_residue *r;
    struct mrs_input *in;
    struct mrs_plan *plan;
    struct mrs_buf text;
    snprintf(top, sizeof top, "%s/mrs-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    must(mkdtemp(top) != NULL);
    atexit(drop_all);
    must(mkdir(at("in"), 0777) == 0 && mkdir(at("in/d"), 0777) == 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        put_lines(mem, at(lines[i][0]), lines[i][1]);
    }
    struct mrs_run_opts o = options(at("in"), at("out"));
    o.write_residue = at("residue");
    must(mrs_input_open(mem, o.input, NULL, &in, NULL) == MRS_OK);
    must(mrs_plan_load(mem, steps, strlen(steps), &po, &plan, NULL) == MRS_OK);
    must(mrs_run(mem, plan, in, &o, &report, NULL) == MRS_OK);
    must(mrs_residue_open(mem, o.write_residue, &r, NULL) == MRS_OK);
    must(r->head.n <= sizeof head[1]);
    memcpy(head[1], r->head.p, head_n[1] = r->head.n);
    put_old_head(mem, r);
    must(mrs_plan_invert(plan, &inv, NULL) == MRS_OK);
    mrs_buf_init(&text, mem, sizeof inverse);
    mrs_inverse_yaml(&inv, &text);
    memcpy(inverse, text.p, inverse_n = text.n);
    mrs_buf_clear(&text);
    mrs_inverse_plan_clear(&inv);
    mrs_residue_close(r);
    mrs_report_clear(&report);
    mrs_plan_free(plan);
    mrs_input_close(in);
    must(mrs_mem_close(mem) == 0);
}

/* ---- the file ---- */
static void
put_record(struct mrs_buf *b, uint32_t type, const uint8_t *p, size_t n)
{
    uint8_t lead[MRSI_RESIDUE_HEAD];
    mrs_put32(lead, type);
    mrs_put64(lead + 4, n);
    mrs_put64(lead + 12, mrs_hash(p, n, mrs_hash(lead, 12, 0).lo).lo);
    mrs_buf_put(b, lead, sizeof lead);
    mrs_buf_put(b, p, n);
}

static void
put_docs(struct mrs_mem *mem, struct mrs_buf *b, const uint8_t *p, size_t n)
{
    size_t ops_n = n >= 2 ? (size_t)(p[0] | p[1] << 8) : 0, at_docs;
    struct mrs_buf frames;
    ops_n = n < 2 ? 0 : ops_n < n - 2 ? ops_n : n - 2;
    const uint8_t *from = n < 2 ? p : p + 2;
    size_t docs_n = n < 2 ? 0 : n - 2 - ops_n;
    struct mrs_delta ops = {NULL, 0, from, ops_n}, docs = {NULL, 0, from + ops_n, docs_n};
    mrs_buf_init(&frames, mem, 1u << 28);
    mrs_buf_take(&frames, 16);
    must(mrs_delta_pack(mem, &ops, &frames, NULL) == MRS_OK);
    at_docs = frames.n;
    must(docs_n == 0 || mrs_delta_pack(mem, &docs, &frames, NULL) == MRS_OK);
    mrs_put32(frames.p, (uint32_t)ops_n);
    mrs_put32(frames.p + 4, (uint32_t)(at_docs - 16));
    mrs_put32(frames.p + 8, (uint32_t)docs_n);
    mrs_put32(frames.p + 12, (uint32_t)(frames.n - at_docs));
    put_record(b, MRSI_DOCS, frames.p, frames.n);
    mrs_buf_clear(&frames);
}

static void
put_residue(struct mrs_mem *mem, const uint8_t *data, size_t n)
{
    struct mrs_buf b;
    size_t i = 1;
    mrs_buf_init(&b, mem, 1u << 28);
    mrs_buf_put(&b, MRSI_RESIDUE_MAGIC, 8);
    if (data[0] & 1) {
        bool keyed = data[0] & 8;
        put_record(&b, MRSI_HEAD, head[keyed], head_n[keyed]);
    }
    while (n - i >= 4) {
        size_t room = n - i - 4, len = (size_t)(data[i + 1] | data[i + 2] << 8 | data[i + 3] << 16);
        uint32_t type = data[i];
        const uint8_t *p = data + i + 4;
        len = len < room ? len : room;
        i += 4 + len;
        if (type == MRSI_DOCS && data[0] & 2) {
            put_docs(mem, &b, p, len);
        } else if (type != MRSI_HEAD || !(data[0] & 1)) {
            put_record(&b, type, p, len);
        }
    }
    mrs_buf_put(&b, data + i, data[0] & 4 ? n - i : 0);
    must(b.bad == 0);
    put_file(at("residue"), b.p, b.n);
    mrs_buf_clear(&b);
}

static void
run_back(struct mrs_mem *mem, struct mrs_residue *r)
{
    struct mrs_run_opts o = options(at("out"), at("back"));
    struct mrs_plan_opts po = {.file = "p", .default_db = "d", .now_ms = mrs_residue_now(r)};
    struct mrs_report report;
    struct mrs_input *in;
    struct mrs_plan *plan;
    struct mrs_err e;
    mrs_err_clear(&e);
    must(mrs_input_open(mem, o.input, NULL, &in, &e) == MRS_OK);
    must(mrs_plan_load(mem, inverse, inverse_n, &po, &plan, &e) == MRS_OK);
    enum mrs_status s = mrs_run_back(mem, plan, in, &o, r, &report, &e);
    struct stat st;
    must(s == MRS_OK || (s == MRS_FAIL && e.code != MRS_E_NONE && e.code != MRS_E_ACCOUNT && e.msg[0]));
    must(report.published == (s == MRS_OK) && (lstat(o.output, &st) == 0) == (s == MRS_OK));
    must(lstat(at("back.partial"), &st) < 0 && lstat(at("back.inverse.partial"), &st) < 0);
    mrs_report_clear(&report);
    mrs_plan_free(plan);
    mrs_input_close(in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct mrs_residue *r;
    struct mrs_err e;
    if (n == 0) {
        return 0;
    }
    if (!top[0]) {
        prepare();
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    mrs_err_clear(&e);
    put_residue(mem, data, n);
    if (mrs_residue_open(mem, at("residue"), &r, &e) == MRS_OK) {
        run_back(mem, r);
        mrs_residue_close(r);
    } else {
        must(e.code == MRS_E_FORMAT && e.msg[0]);
    }
    drop_tree(at("back"));
    must(mrs_mem_close(mem) == 0);
    return 0;
}
