/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_diff.c - `mongoreshape diff A B`, and `diff --manifest FILE`: differences on standard output, as text or JSON;
 * equality is reported on standard error. */
#include "commands.h"
#include "job.h"
#include "mongoreshape/compare.h"
#include "progress.h"

enum { LIMIT = 20, MANIFEST_MOST = 256 << 20 };

struct diffing {
    struct mrsi_cli *cli;
    const char *name[2]; /* of the two sides */
    struct mrs_input *in[2];
    struct mrs_diff diff;
    struct mrs_err err;
};

/* ---- text ---- */
static void
value(const struct mrs_diff_value *v)
{
    MRS_ASSERT(v->path);
    fputs("    ", stdout);
    mrs_say(stdout, "%s", *v->path ? v->path : v->order ? "the document" : "\"\"");
    if (v->order) {
        fputs(": the fields stand in another order: ", stdout);
        mrs_say(stdout, "%s", v->a);
        fputs(" in A, ", stdout);
        mrs_say(stdout, "%s", v->b);
        fputs(" in B comes first\n", stdout);
        return;
    }
    mrs_say(stdout, ": %s in A, %s in B\n", v->a ? v->a : "nothing", v->b ? v->b : "nothing");
}

static void
document(const struct mrs_diff_doc *d)
{
    MRS_ASSERT(d->n_value <= MRS_DIFF_VALUES);
    static const char *const words[] = {"differs", "only in A", "only in B"};
    char a[32], b[32];
    if (d->id) {
        mrs_say(stdout, "  _id %s: %s", d->id, words[d->kind]);
    } else {
        mrs_say(stdout, "  without _id: %s", words[d->kind]);
    }
    if (d->kind == MRS_DIFF_CHANGED) {
        mrs_say(stdout, " (document %s of A, %s of B)\n", mrs_text_count(d->no[0], a), mrs_text_count(d->no[1], b));
    } else {
        mrs_say(stdout, " (document %s)\n", mrs_text_count(d->no[d->kind == MRS_DIFF_ONLY_B], a));
    }
    for (uint32_t i = 0; i < d->n_value; i++) {
        value(&d->value[i]);
    }
    if (d->more) {
        fputs("    and more\n", stdout);
    }
}

static void
counts(const struct mrs_diff_coll *c, bool manifest)
{
    char a[32], b[32];
    const char *comma = ": ";
    if (manifest) {
        const char *why = c->docs[0].n != c->docs[1].n         ? "other documents"
                          : c->docs[0].bytes != c->docs[1].bytes ? "other bytes"
                                                                 : "the digest differs";
        mrs_say(stdout, ": %s (%s documents in the manifest, %s in the dump)\n", why, mrs_text_count(c->docs[0].n, a),
               mrs_text_count(c->docs[1].n, b));
        return;
    }
    if (c->changed) {
        mrs_say(stdout, "%s%s differ", comma, mrs_text_count(c->changed, a));
        comma = ", ";
    }
    for (int side = 0; side < 2; side++) {
        if (c->only[side]) {
            mrs_say(stdout, "%s%s only in %c", comma, mrs_text_count(c->only[side], a), "AB"[side]);
            comma = ", ";
        }
    }
    if (!c->changed && !c->only[0] && !c->only[1]) {
        fputs(": the same documents, other metadata", stdout);
    }
    mrs_say(stdout, " (%s documents in A, %s in B)\n", mrs_text_count(c->docs[0].n, a),
            mrs_text_count(c->docs[1].n, b));
}

static void
collection(const struct diffing *x, const struct mrs_diff_coll *c)
{
    MRS_ASSERT(c->ns);
    char n[32];
    bool manifest = x->cli->manifest != NULL;
    mrs_say(stdout, "%s", c->ns);
    for (int side = 0; side < 2; side++) {
        if (!c->there[!side]) {
            const char *where = !manifest ? (side ? "B" : "A") : side ? "the dump" : "the manifest";
            mrs_say(stdout, ": only in %s (%s document%s)\n", where, mrs_text_count(c->docs[side].n, n),
                   c->docs[side].n == 1 ? "" : "s");
            return;
        }
    }
    if (manifest && c->known[0] != c->known[1]) {
        mrs_say(stdout, ": it has documents only in %s\n", c->known[0] ? "the manifest" : "the dump");
        return;
    }
    counts(c, manifest);
    for (uint32_t i = 0; i < c->n_meta; i++) {
        fputs("  ", stdout);
        mrs_say(stdout, "%s", c->meta[i]);
        fputc('\n', stdout);
    }
    for (uint32_t i = 0; i < c->n_doc; i++) {
        document(&c->doc[i]);
    }
    uint64_t all = c->changed + c->only[0] + c->only[1];
    if (c->n_doc && all > c->n_doc) {
        mrs_say(stdout, "  and %s more\n", mrs_text_count(all - c->n_doc, n));
    }
}

static void
print_result(const struct diffing *x)
{
    const struct mrs_diff *d = &x->diff;
    uint64_t docs = 0;
    char n[32];
    for (uint32_t i = 0; i < d->n_coll; i++) {
        docs += d->coll[i].docs[1].n;
        if (d->coll[i].differs && !x->cli->quiet) {
            collection(x, &d->coll[i]);
        }
    }
    fflush(stdout);
    if (x->cli->quiet) {
        return;
    }
    if (d->n_differ) {
        mrs_say(stderr, "%u of %u namespaces differ\n", d->n_differ, d->n_coll);
    } else {
        mrs_say(stderr, "%s and %s hold the same: %u namespace%s, %s documents\n", x->name[0], x->name[1], d->n_coll,
                d->n_coll == 1 ? "" : "s", mrs_text_count(docs, n));
    }
}

/* ---- JSON ---- */
static void
json_document(struct mrs_cli_json *j, const struct mrs_diff_doc *d)
{
    MRS_ASSERT(d->n_value <= MRS_DIFF_VALUES);
    static const char *const words[] = {"changed", "onlyA", "onlyB"};
    mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
    mrs_cli_json_text(j, "kind", words[d->kind]);
    mrs_cli_json_text(j, "_id", d->id);
    if (d->no[0]) {
        mrs_cli_json_count(j, "documentA", d->no[0]);
    }
    if (d->no[1]) {
        mrs_cli_json_count(j, "documentB", d->no[1]);
    }
    mrs_cli_json_open(j, "values", MRS_ARRAY);
    for (uint32_t i = 0; i < d->n_value; i++) {
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_text(j, "path", d->value[i].path);
        mrs_cli_json_bool(j, "order", d->value[i].order);
        mrs_cli_json_text(j, "a", d->value[i].a);
        mrs_cli_json_text(j, "b", d->value[i].b);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
    mrs_cli_json_bool(j, "more", d->more);
    mrs_cli_json_close(j);
}

static void
json_side(struct mrs_cli_json *j, const char *name, const struct mrs_diff_coll *c, int side)
{
    MRS_ASSERT((side == 0 || side == 1));
    char hex[33];
    if (!c->there[side]) {
        mrs_cli_json_text(j, name, NULL);
        return;
    }
    mrs_cli_json_open(j, name, MRS_DOCUMENT);
    if (c->known[side]) {
        const struct mrs_docs *d = &c->docs[side];
        snprintf(hex, sizeof hex, "%016llx%016llx", (unsigned long long)d->digest.hi,
                 (unsigned long long)d->digest.lo);
        mrs_cli_json_count(j, "documents", d->n);
        mrs_cli_json_count(j, "bytes", d->bytes);
        mrs_cli_json_text(j, "digest", hex);
    }
    mrs_cli_json_close(j);
}

static void
json_collection(struct mrs_cli_json *j, const struct mrs_diff_coll *c, bool manifest)
{
    MRS_ASSERT(c->ns);
    mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
    mrs_cli_json_text(j, "ns", c->ns);
    mrs_cli_json_bool(j, "differs", c->differs);
    json_side(j, "a", c, 0);
    json_side(j, "b", c, 1);
    if (!manifest) {
        mrs_cli_json_count(j, "changed", c->changed);
        mrs_cli_json_count(j, "onlyA", c->only[0]);
        mrs_cli_json_count(j, "onlyB", c->only[1]);
        mrs_cli_json_texts(j, "metadata", c->meta, c->n_meta);
        mrs_cli_json_open(j, "named", MRS_ARRAY);
        for (uint32_t i = 0; i < c->n_doc; i++) {
            json_document(j, &c->doc[i]);
        }
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

static void
json_all(const struct diffing *x, int status, struct mrs_cli_json *j)
{
    mrs_cli_json_begin(j, x->cli->line.mem);
    mrs_build_i32(&j->b, "exitStatus", status);
    mrs_cli_json_text(j, "a", x->name[0]);
    mrs_cli_json_text(j, "b", x->name[1]);
    if (x->err.code) {
        mrs_cli_json_error(j, "error", &x->err);
    }
    mrs_cli_json_bool(j, "equal", status == 0);
    mrs_cli_json_open(j, "namespaces", MRS_ARRAY);
    for (uint32_t i = 0; i < x->diff.n_coll; i++) {
        json_collection(j, &x->diff.coll[i], x->cli->manifest != NULL);
    }
    mrs_cli_json_close(j);
}

static void
print_json(const struct diffing *x, int status)
{
    struct mrs_cli_json j;
    json_all(x, status, &j);
    if (!mrs_cli_json_end(&j, stdout)) {
        fputs("mongoreshape: no memory for the report\n", stderr);
    }
}

/* The given status, or that of a failure to write the page. */
static int
write_page(const struct diffing *x, int status)
{
    struct mrs_cli_json j;
    struct mrs_buf text;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_buf_init(&text, x->cli->line.mem, SIZE_MAX);
    json_all(x, status, &j);
    mrs_cli_json_take(&j, &text);
    if (mrs_cli_page_write(x->cli->html, "diff", &text, NULL, &e) != MRS_OK) {
        mrs_cli_report(&x->cli->line, &e);
        status = status > 1 ? status : mrs_code_exit(e.code);
    }
    mrs_buf_clear(&text);
    return status;
}

/* ---- command ---- */
static int
misuse(const struct mrsi_cli *cli)
{
    const struct mrs_cli *line = &cli->line;
    const char *a = line->operand, *b = line->operand2;
    int wrong = mrsi_limits_misused(cli);
    if (wrong) {
        return wrong;
    }
    if (cli->limit > 1000000) {
        return mrs_cli_misuse(line, "--limit must be at most 1000000");
    }
    if (cli->manifest && cli->ns) {
        return mrs_cli_misuse(line, "--manifest and --ns do not go together: all of it is compared");
    }
    if (cli->manifest && (b || !a == !cli->input)) {
        return mrs_cli_misuse(line, "--manifest FILE needs one dump: DUMP, the run's output, or -i DUMP, its input");
    }
    if (!cli->manifest && cli->input) {
        return mrs_cli_misuse(line, "-i IN goes with --manifest only; two dumps are `diff A B`");
    }
    if (!cli->manifest && !b) {
        return mrs_cli_misuse(line, "two dumps are needed: diff A B");
    }
    if (a && b && strcmp(a, "-") == 0 && strcmp(b, "-") == 0) {
        return mrs_cli_misuse(line, "only one of the dumps can be standard input");
    }
    return 0;
}

static enum mrs_status
open_side(struct diffing *x, int side)
{
    struct mrs_input_opts how;
    mrsi_pattern_opts(x->cli, &how);
    return mrsi_job_read(x->cli, x->name[side], &how, &x->in[side], &x->err);
}

static enum mrs_status
with_manifest(struct diffing *x, const struct mrs_diff_opts *opts)
{
    struct mrs_mem *mem = x->cli->line.mem;
    struct mrs_manifest_text m = {.name = x->cli->manifest, .input = x->cli->input != NULL};
    char *text = NULL;
    enum mrs_status s = mrs_file_read(mem, x->cli->manifest, MANIFEST_MOST, &text, &m.n, &x->err);
    m.text = text;
    MRS_THEN(s, open_side(x, 1));
    MRS_THEN(s, mrs_diff_manifest(mem, &m, x->in[1], opts, &x->diff, &x->err));
    mrs_free(mem, text);
    return s;
}

static enum mrs_status
run(struct diffing *x)
{
    struct mrsi_cli *cli = x->cli;
    struct mrs_cli_progress progress;
    struct mrs_diff_opts opts = {.memory = cli->memory,
                                 .jobs = (uint32_t)cli->jobs,
                                 .tmp = cli->tmp,
                                 .limit = mrs_cli_given(&cli->line, "limit") ? cli->limit : LIMIT,
                                 .cancel = mrs_signals_flag(),
                                 .progress = mrsi_progress_report,
                                 .progress_arg = &progress};
    mrs_cli_progress_begin(&progress, cli->progress, cli->quiet || cli->json);
    enum mrs_status s = MRS_OK;
    if (cli->manifest) {
        s = with_manifest(x, &opts);
    } else {
        s = open_side(x, 0);
        MRS_THEN(s, open_side(x, 1));
        MRS_THEN(s, mrs_diff(cli->line.mem, x->in[0], x->in[1], &opts, &x->diff, &x->err));
    }
    mrs_cli_progress_end(&progress);
    return s;
}

int
mrsi_cmd_diff(struct mrs_cli *line)
{
    struct mrsi_cli *cli = (struct mrsi_cli *)line;
    struct diffing x = {.cli = cli};
    int status = misuse(cli);
    x.name[0] = cli->manifest ? cli->manifest : line->operand;
    x.name[1] = !cli->manifest ? line->operand2 : cli->input ? cli->input : line->operand;
    if (!status) {
        status = mrs_cli_page_check(line, cli->html, x.name);
    }
    if (status) {
        return status;
    }
    mrs_err_clear(&x.err);
    mrs_arena_init(&x.diff.arena, line->mem);
    int signal = run(&x) == MRS_OK || x.err.code != MRS_E_CANCEL ? 0 : mrs_signals_number();
    status = signal ? 128 + signal : x.err.code ? mrs_code_exit(x.err.code) : x.diff.n_differ > 0;
    if (cli->json) {
        print_json(&x, status);
    } else if (x.err.code) {
        mrs_cli_report(line, &x.err);
    } else {
        print_result(&x);
    }
    if (cli->html) {
        status = write_page(&x, status);
    }
    mrs_diff_clear(&x.diff);
    mrs_input_close(x.in[0]);
    mrs_input_close(x.in[1]);
    return status;
}
