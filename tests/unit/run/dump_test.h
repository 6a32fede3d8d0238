/* SPDX-License-Identifier: Apache-2.0 */
/* dump_test.h - small dumps made of texts, a plan run over them, what came out as texts. Single quotes stand for double
 * ones in documents. */
#ifndef DUMP_TEST_H
#define DUMP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../folder.h"
#include "mongoreshape/mrs.h"
#include <errno.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define TEXT_MAX (1 << 20)

static char top[256];

static inline const char *
at(const char *name)
{
    static char ring[256][600];
    static int next;
    char *room = ring[next++ % 256];
    snprintf(room, sizeof ring[0], "%s/%s", top, name);
    return room;
}

static inline void
drop(const char *name)
{
    drop_tree(at(name));
}

static inline bool
there(const char *name)
{
    struct stat st;
    return lstat(at(name), &st) == 0;
}

static inline int
make_top(void **state)
{
    (void)state;
    return new_folder(top, "mrs-run") ? 0 : -1;
}

/* Checkpoints are synced, so in memory where that is possible. */
static inline int
make_top_in_memory(void **state)
{
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 0);
    }
    return make_top(state);
}

static inline int
drop_top(void **state)
{
    (void)state;
    return drop_tree(top);
}

static inline void
put_file(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(at(name), "wb");
    assert_non_null(f);
    assert_true(!n || fwrite(p, 1, n, f) == n);
    assert_int_equal(fclose(f), 0);
}

static inline size_t
get_file(const char *name, uint8_t *p, size_t most)
{
    FILE *f = fopen(at(name), "rb");
    assert_non_null(f);
    size_t n = fread(p, 1, most, f);
    fclose(f);
    return n;
}

/* BSON of a text; the caller frees. */
static inline uint8_t *
to_bson(const char *text, size_t *n)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf out;
    struct mrs_err e;
    char *copy = strdup(text);
    size_t len = strlen(copy), done = 0;
    for (char *q = copy; *q; q++) {
        *q = *q == '\'' ? '"' : *q;
    }
    mrs_buf_init(&out, mem, SIZE_MAX);
    mrs_err_clear(&e);
    for (size_t used; done < len; done += used + strspn(copy + done + used, "\n ")) {
        if (mrs_ejson_read(copy + done, len - done, MRS_EJSON_DATA, &out, &used, &e) != MRS_OK) {
            fail_msg("%s: %.80s", e.msg, copy + done);
        }
    }
    uint8_t *p = malloc(out.n + 1);
    *n = out.n;
    if (out.n) {
        memcpy(p, out.p, out.n);
    }
    mrs_buf_clear(&out);
    mrs_mem_close(mem);
    free(copy);
    return p;
}

static inline void
put_docs(const char *name, const char *text)
{
    size_t n, room;
    uint8_t *p = to_bson(text, &n), *out = malloc(room = ZSTD_compressBound(n) + 300 + n / 50);
    const char *dot = strrchr(name, '.') ? strrchr(name, '.') : "";
    if (strcmp(dot, ".gz") == 0) {
        z_stream z = {0};
        deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
        z.next_in = p;
        z.avail_in = (uInt)n;
        z.next_out = out;
        z.avail_out = (uInt)room;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        put_file(name, out, z.total_out);
        deflateEnd(&z);
    } else if (strcmp(dot, ".zst") == 0) {
        put_file(name, out, ZSTD_compress(out, room, p, n, 1));
    } else {
        put_file(name, p, n);
    }
    free(out);
    free(p);
}

/* An empty folder `in/d`, no output. */
static inline void
begin(void)
{
    static const char *const names[] = {"in",
                                        "out",
                                        "out.partial",
                                        "out.bson",
                                        "out.metadata.json",
                                        "other",
                                        "out.bson.manifest.json",
                                        "out.refused.bson",
                                        "out.refused.bson.jsonl",
                                        "amend",
                                        "stream"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        drop(names[i]);
    }
    assert_int_equal(mkdir(at("in"), 0777), 0);
    assert_int_equal(mkdir(at("in/d"), 0777), 0);
}

/* The documents of a .bson file, packed or not, as lines of relaxed Extended JSON with single quotes. */
static inline const char *
docs_of(const char *name)
{
    static char text[TEXT_MAX];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_input_opts how = {.ns = "x.y"};
    struct mrs_input *in = NULL;
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    struct mrs_buf line;
    struct mrs_err e;
    size_t n = 0;
    mrs_err_clear(&e);
    mrs_block_init(&b, mem);
    mrs_buf_init(&line, mem, SIZE_MAX);
    if (mrs_input_open(mem, at(name), &how, &in, &e) != MRS_OK || mrs_reader_open(in, 0, 0, &r, &e) != MRS_OK) {
        fail_msg("%s: %s", name, e.msg);
    }
    while (mrs_reader_next(r, &b, &e) == MRS_OK) {
        for (size_t k = 0; k < b.n; k += mrs_le32(b.p + k)) {
            struct mrs_view doc = {b.p + k, mrs_le32(b.p + k)};
            mrs_buf_reset(&line);
            mrs_ejson_write(doc, false, &line);
            assert_true(n + line.n + 2 < sizeof text);
            memcpy(text + n, line.p, line.n);
            n += line.n;
            text[n++] = '\n';
        }
    }
    assert_int_equal(e.code, MRS_E_NONE);
    text[n] = 0;
    for (char *q = text; *q; q++) {
        *q = *q == '"' ? '\'' : *q;
    }
    mrs_reader_close(r);
    mrs_block_clear(&b);
    mrs_buf_clear(&line);
    mrs_input_close(in);
    assert_int_equal(mrs_mem_close(mem), 0);
    return text;
}

/* ---- running ---- */
struct ran {
    enum mrs_status status;
    struct mrs_err err;
    struct mrs_report report; /* good until ran_end */
    struct mrs_mem *mem;
};

static inline struct mrs_run_opts
defaults(void)
{
    struct mrs_run_opts o = {.memory = 256u << 20, .jobs = 2, .compress = {MRS_CODEC_AS_INPUT, 0}};
    return o;
}

static inline void
balanced(const struct mrs_report *r)
{
    for (uint32_t i = 0; i < r->n_account; i++) {
        const struct mrs_account *a = &r->account[i];
        if (a->before + a->created + a->entered != a->after + a->taken + a->dropped + a->refused) {
            fail_msg("step %u, %s does not balance", a->step, a->ns);
        }
    }
}

static inline struct ran
run_in(struct mrs_mem *mem, const char *steps, const struct mrs_run_opts *opts)
{
    struct ran r;
    struct mrs_run_opts o = *opts;
    struct mrs_input *in = NULL;
    struct mrs_plan *plan = NULL;
    char text[8192];
    memset(&r, 0, sizeof r);
    mrs_err_clear(&r.err);
    r.mem = mem;
    o.input = o.input ? o.input : at("in");
    o.output = o.output ? o.output : at("out");
    snprintf(text, sizeof text, "steps:\n%s", steps);
    r.status = mrs_input_open(r.mem, o.input, &o.in, &in, &r.err);
    if (r.status == MRS_OK) {
        struct mrs_plan_opts po = {.file = "p", .default_db = mrs_input_only_db(in)};
        r.status = mrs_plan_load(r.mem, text, strlen(text), &po, &plan, &r.err);
        if (r.status != MRS_OK && plan && plan->n_errors) {
            print_message("plan: %s\n", plan->errors[0].msg);
        }
    }
    if (r.status == MRS_OK) {
        r.status = mrs_run(r.mem, plan, in, &o, &r.report, &r.err);
        balanced(&r.report);
    }
    mrs_plan_free(plan);
    mrs_input_close(in);
    return r;
}

static inline struct ran
run(const char *steps, const struct mrs_run_opts *opts)
{
    return run_in(mrs_mem_new(0), steps, opts);
}

static inline void
ran_end(struct ran *r)
{
    mrs_report_clear(&r->report);
    assert_int_equal(mrs_mem_close(r->mem), 0);
}

static inline void
runs(const char *steps, const struct mrs_run_opts *o)
{
    struct ran r = run(steps, o);
    if (r.status != MRS_OK) {
        fail_msg("%s", r.err.msg);
    }
    assert_int_equal(r.report.published, !o->dry_run);
    ran_end(&r);
}

/* The inverse of a whole plan on opts->input, with the residue `other`. */
static inline enum mrs_status
run_back(struct mrs_mem *mem, const char *plan_text, const struct mrs_run_opts *opts, struct mrs_report *report,
         struct mrs_err *e)
{
    struct mrs_input *in = NULL;
    struct mrs_plan *plan = NULL, *inverse = NULL;
    struct mrs_residue *r = NULL;
    struct mrs_inverse_plan inv = {0};
    struct mrs_buf text;
    struct mrs_plan_opts po = {.file = "p", .default_db = "d"};
    *report = (struct mrs_report){0};
    mrs_err_clear(e);
    mrs_buf_init(&text, mem, SIZE_MAX);
    enum mrs_status s = mrs_residue_open(mem, at("other"), &r, e);
    s = s == MRS_OK ? mrs_input_open(mem, opts->input, NULL, &in, e) : s;
    s = s == MRS_OK ? mrs_plan_load(mem, plan_text, strlen(plan_text), &po, &plan, e) : s;
    if (s == MRS_OK) {
        s = mrs_plan_invert(plan, &inv, e);
        mrs_inverse_yaml(&inv, &text);
        s = s == MRS_OK ? mrs_buf_status(&text, e) : s;
        po.now_ms = mrs_residue_now(r);
        s = s == MRS_OK ? mrs_plan_load(mem, (const char *)text.p, text.n, &po, &inverse, e) : s;
        mrs_inverse_plan_clear(&inv);
    }
    s = s == MRS_OK ? mrs_run_back(mem, inverse, in, opts, r, report, e) : s;
    mrs_buf_clear(&text);
    mrs_plan_free(plan);
    mrs_plan_free(inverse);
    mrs_input_close(in);
    mrs_residue_close(r);
    return s;
}

/* Fails with this code, says these words, leaves nothing. */
static inline void
fails(const char *steps, const struct mrs_run_opts *o, enum mrs_code code, const char *words)
{
    struct ran r = run(steps, o);
    char text[1200];
    mrs_err_text(&r.err, text, sizeof text);
    if (r.status >= MRS_OK || r.err.code != code || !strstr(text, words)) {
        fail_msg("status %d, code %s: %s", r.status, mrs_code_name(r.err.code), text);
    }
    assert_false(r.report.published);
    assert_false(there("out.partial"));
    ran_end(&r);
}

static inline const struct mrs_account *
row(const struct mrs_report *r, uint32_t step, const char *ns)
{
    for (uint32_t i = 0; i < r->n_account; i++) {
        if (r->account[i].step == step && strcmp(r->account[i].ns, ns) == 0) {
            return &r->account[i];
        }
    }
    fail_msg("no account of step %u, %s", step, ns);
    return NULL;
}

#endif
