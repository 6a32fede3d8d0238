/* SPDX-License-Identifier: Apache-2.0 */
/* compare_dumps.c - compares two dumps; see mongoreshape/compare.h.
 *
 * Each namespace is read once on either side; its digest does not depend on the order of documents. Only if the digests
 * differ it is read again (compare_docs.c). The digests are salted with random bytes drawn for the comparison, all 192
 * of the secret of XXH3, and never disclosed. An author of documents has one guess, with a chance of 2^-32 at best:
 * enough for a report that deletes and merges nothing. Bytes are not compared. This file must not depend on the format
 * of a dump. */
#include "compare_dumps.h"
#include "mongoreshape/ejson.h"
#include <stdlib.h>

#define MEMORY (256ull << 20)

/* ---- names on both sides ---- */
struct compare_dumps_entry {
    const char *name; /* of a namespace; of another file without the suffix of its compression */
    size_t n;
    bool extra;
    struct mrsi_compare_pair pair;
};

static bool
ends_in(const char *name, size_t n, const char *end)
{
    size_t k = strlen(end);
    return n >= k && memcmp(name + n - k, end, k) == 0;
}

/* False for files of unknown content, prelude.json and similar: how a dump was made is not compared. */
static bool
entry_of(const struct mrs_input_ns *in, struct compare_dumps_entry *x)
{
    x->name = mrsi_ns_or_path(in);
    x->n = strlen(x->name);
    x->extra = in->kind == MRS_INPUT_EXTRA;
    if (x->extra && (ends_in(x->name, x->n, ".gz") || ends_in(x->name, x->n, ".zst"))) {
        x->n -= ends_in(x->name, x->n, ".gz") ? 3 : 4;
    }
    return !x->extra || ends_in(x->name, x->n, ".bson");
}

static int
by_name(const void *pa, const void *pb)
{
    const struct compare_dumps_entry *a = pa, *b = pb;
    int c = memcmp(a->name, b->name, a->n < b->n ? a->n : b->n);
    return a->extra != b->extra ? a->extra - b->extra : c ? c : a->n != b->n ? (a->n < b->n ? -1 : 1) : 0;
}

/* All namespaces of both inputs, without duplicates, in order. */
static struct compare_dumps_entry *
list_entries(struct mrs_mem *mem, struct mrs_input *const in[2], uint32_t *n)
{
    uint32_t most = (in[0] ? mrs_input_count(in[0]) : 0) + (in[1] ? mrs_input_count(in[1]) : 0), k = 0;
    struct compare_dumps_entry *list = mrs_alloc(mem, (most + 1) * sizeof *list);
    *n = 0;
    for (uint32_t side = 0; list && side < 2; side++) {
        for (uint32_t i = 0; in[side] && i < mrs_input_count(in[side]); i++) {
            struct compare_dumps_entry x = {.pair = {{MRSI_NONE, MRSI_NONE}}};
            x.pair.at[side] = i;
            if (entry_of(mrs_input_at(in[side], i), &x)) {
                list[k++] = x;
            }
        }
    }
    if (k) {
        qsort(list, k, sizeof *list, by_name);
    }
    for (uint32_t i = 0; i < k; i++) {
        if (*n && by_name(&list[*n - 1], &list[i]) == 0) {
            for (uint32_t side = 0; side < 2; side++) {
                uint32_t *at = &list[*n - 1].pair.at[side];
                *at = *at == MRSI_NONE ? list[i].pair.at[side] : *at;
            }
        } else {
            list[(*n)++] = list[i];
        }
    }
    return list;
}

/* Two single files are compared whatever their names are. */
static void
pair_files(struct mrs_input *const in[2], struct compare_dumps_entry *list, uint32_t *n)
{
    if (*n == 2 && mrs_input_format(in[0]) == MRS_FORMAT_BSON && mrs_input_format(in[1]) == MRS_FORMAT_BSON) {
        uint32_t a = list[0].pair.at[0] == MRSI_NONE;
        list[0] = list[a];
        list[0].pair.at[0] = list[0].pair.at[1] = 0;
        *n = 1;
    }
}

/* ---- digests ---- */
struct summing {
    struct mrs_docs *docs;
    const struct mrs_salt *salt;
};

static enum mrs_status
add_doc(void *arg, struct mrsi_worker *w, struct mrsi_read_job *job, struct mrs_view doc, uint64_t ordinal,
        struct mrs_err *e)
{
    const struct summing *x = arg;
    (void)w;
    (void)ordinal;
    (void)e;
    mrs_docs_add(&job->docs, x->salt, doc.p, doc.n);
    return MRS_OK;
}

static enum mrs_status
add_block(void *arg, struct mrsi_read_job *job, struct mrs_err *e)
{
    (void)e;
    const struct summing *x = arg;
    mrs_docs_sum(x->docs, &job->docs);
    return MRS_OK;
}

enum mrs_status
mrsi_compare_digest(struct mrsi_compare *c, uint32_t side, uint32_t at, struct mrs_docs *docs, struct mrs_err *e)
{
    MRS_ASSERT(side < 2 && at < mrs_input_count(c->in[side]));
    struct summing x = {docs, &c->salt};
    struct mrsi_reading r = {
        .en = c->en, .in = c->in[side], .index = at, .doc = add_doc, .block = add_block, .arg = &x};
    *docs = (struct mrs_docs){0, 0, {0, 0}};
    return mrsi_read_all(&r, e);
}

bool
mrsi_compare_same(const struct mrs_docs *a, const struct mrs_docs *b)
{
    return a->n == b->n && a->bytes == b->bytes && a->digest.lo == b->digest.lo && a->digest.hi == b->digest.hi;
}

/* ---- one namespace ---- */
static const char *
name_of(struct mrsi_compare *c, const struct compare_dumps_entry *x)
{
    char *name = mrs_arena_alloc(&c->out->arena, x->n + 1);
    if (name) {
        memcpy(name, x->name, x->n);
        name[x->n] = 0;
    }
    return name;
}

static enum mrs_status
one(struct mrsi_compare *c, const struct compare_dumps_entry *x, struct mrs_diff_coll *coll, struct mrs_err *e)
{
    MRS_ASSERT(x->n > 0 || !x->name);
    const struct mrs_input_ns *in[2] = {NULL, NULL};
    enum mrs_status s = MRS_OK;
    memset(coll, 0, sizeof *coll);
    coll->ns = name_of(c, x);
    MRS_TRY(mrs_allocated(coll->ns, x->n, e));
    snprintf(c->en->phase_text, sizeof c->en->phase_text, "reading %.100s", coll->ns);
    for (uint32_t side = 0; s == MRS_OK && side < 2; side++) {
        coll->there[side] = x->pair.at[side] != MRSI_NONE;
        in[side] = coll->there[side] ? mrs_input_at(c->in[side], x->pair.at[side]) : NULL;
        coll->known[side] = in[side] && in[side]->data_path;
        if (coll->known[side]) {
            s = mrsi_compare_digest(c, side, x->pair.at[side], &coll->docs[side], e);
        }
    }
    if (s != MRS_OK) {
        return s;
    }
    bool unknown = (in[0] && !in[0]->meta_path && mrs_input_format(c->in[0]) == MRS_FORMAT_BSON) ||
                   (in[1] && !in[1]->meta_path && mrs_input_format(c->in[1]) == MRS_FORMAT_BSON);
    if (in[0] && in[1] && !x->extra && !unknown) {
        s = mrsi_compare_meta(&c->out->arena, in[0]->metadata, in[1]->metadata, coll, e);
    }
    bool same = mrsi_compare_same(&coll->docs[0], &coll->docs[1]);
    if (s == MRS_OK && !same && coll->known[0] && coll->known[1]) {
        s = mrsi_compare_docs(c, &x->pair, coll, e);
    } else {
        coll->only[0] = same ? 0 : coll->docs[0].n;
        coll->only[1] = same ? 0 : coll->docs[1].n;
    }
    coll->differs = !in[0] || !in[1] || coll->n_meta || !same;
    return s;
}

/* ---- entry point ---- */
static void
expect_bytes(struct mrsi_compare *c, const struct compare_dumps_entry *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t at = list[i].pair.at[side];
            c->en->total_bytes += at == MRSI_NONE ? 0 : mrs_input_at(c->in[side], at)->file_bytes;
        }
    }
}

static enum mrs_status
compare(struct mrsi_compare *c, struct mrs_err *e)
{
    uint32_t n;
    struct mrs_diff *out = c->out;
    struct compare_dumps_entry *list = list_entries(c->en->mem, c->in, &n);
    out->coll = list ? mrs_arena_alloc(&out->arena, (n + 1) * sizeof *out->coll) : NULL;
    enum mrs_status s = mrs_allocated(out->coll, n * sizeof *out->coll, e);
    if (s == MRS_OK) {
        pair_files(c->in, list, &n);
        expect_bytes(c, list, n);
    }
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        s = one(c, &list[i], &out->coll[i], e);
        out->n_coll += s == MRS_OK;
        out->n_differ += s == MRS_OK && out->coll[i].differs;
    }
    mrs_free(c->en->mem, list);
    return s;
}

struct mrs_run_opts
mrsi_compare_opts(const struct mrs_diff_opts *o)
{
    return (struct mrs_run_opts){.memory = o->memory ? o->memory : MEMORY,
                                 .jobs = o->jobs,
                                 .tmp = o->tmp,
                                 .cancel = o->cancel,
                                 .progress = o->progress,
                                 .progress_arg = o->progress_arg};
}

enum mrs_status
mrsi_compare_unchanged(const struct mrsi_compare *c, enum mrs_status s, struct mrs_err *e)
{
    for (uint32_t side = 0; side < 2; side++) {
        if (c->in[side]) {
            s = mrs_input_blame(c->in[side], s, e);
            MRS_THEN(s, mrs_input_unchanged(c->in[side], e));
        }
    }
    return s;
}

enum mrs_status
mrs_diff(struct mrs_mem *mem, struct mrs_input *a, struct mrs_input *b, const struct mrs_diff_opts *opts,
         struct mrs_diff *out, struct mrs_err *e)
{
    struct mrsi_readers readers;
    struct mrs_run_opts how = mrsi_compare_opts(opts);
    struct mrsi_compare c = {.en = &readers.en, .in = {a, b}, .memory = how.memory, .limit = opts->limit, .out = out};
    memset(out, 0, sizeof *out);
    mrs_arena_init(&out->arena, mem);
    enum mrs_status s = mrsi_readers_begin(&readers, mem, &how, e);
    mrs_salt_make(&c.salt, readers.en.drawn);
    MRS_THEN(s, compare(&c, e));
    s = mrsi_compare_unchanged(&c, s, e);
    out->temp_bytes = mrsi_temp_most(&readers.en);
    mrsi_readers_end(&readers);
    return s;
}

void
mrs_diff_clear(struct mrs_diff *d)
{
    mrs_arena_clear(&d->arena);
}
