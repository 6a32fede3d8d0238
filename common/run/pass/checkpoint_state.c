/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_state.c - saves and loads the engine at a boundary.
 *
 * Data that follows from plan and input alone (setup.c) is not saved: it is computed again, and only its size is
 * compared. Loaded values are validated against it before they are used as indexes. */
#include "checkpoint.h"
#include "run/store/value_list.h"
#include <sys/stat.h>

enum { CONTENT = 1, WRITTEN = 2, COPIED = 4, READ = 8 };

/* ---- the account ---- */
void
mrsi_state_put_rows(const char *name, const struct mrsi_row *rows, uint32_t n, struct mrs_build *b)
{
    mrsi_state_put_bytes(b, name, rows, n * sizeof *rows);
}

/* Values that are compared, with their names for the message. */
static bool
rows_are_sound(const struct mrsi_row *rows, uint32_t n)
{
    bool good = true;
    for (uint32_t i = 0; i < n * MRS_EASED; i++) {
        const struct mrsi_eased *x = &rows[i / MRS_EASED].eased[i % MRS_EASED];
        good = good && x->size <= sizeof x->id && (!x->type || mrs_value_size(x->type, x->id, x->size) == x->size);
    }
    return good;
}

enum mrs_status
mrsi_state_get_rows(struct mrs_view d, const char *name, struct mrsi_row *rows, uint32_t n, struct mrs_err *e)
{
    bool bad = false;
    size_t have;
    const uint8_t *p = mrsi_state_bytes(d, name, &have, &bad);
    if (bad || have != n * sizeof *rows) {
        return mrsi_state_damaged("the account", e);
    }
    if (have) {
        memcpy(rows, p, have);
    }
    return rows_are_sound(rows, n) ? MRS_OK : mrsi_state_damaged("the account", e);
}

/* ---- save ---- */
static void
describe_part(const struct mrsi_part *p, struct mrs_build *b, struct mrs_buf *files)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    mrs_build_item_open(b, MRS_DOCUMENT);
    if (p->temp) {
        mrs_build_i64(b, "file", p->temp->no);
        mrs_build_i64(b, "bytes", (int64_t)p->temp->bytes);
        mrsi_save_sum(MRSI_SAVEPOINT_DOCS, p->temp, p->temp->bytes, b);
        mrs_buf_put(files, &p->temp->no, sizeof p->temp->no);
    } else {
        mrs_build_i64(b, "input", p->in_index);
    }
    mrs_build_i64(b, "counted", p->n_counted);
    mrsi_state_put_bytes(b, "waits", p->pend, p->n_pend * sizeof *p->pend);
    mrs_build_close(b);
}

static void
describe_coll(const struct mrsi_coll *c, struct mrs_build *b, struct mrs_buf *files)
{
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_i64(b, "is", (c->content ? CONTENT : 0) | (c->written ? WRITTEN : 0) | (c->copied ? COPIED : 0) |
                               (c->read ? READ : 0));
    mrs_build_i64(b, "docs", (int64_t)c->docs);
    mrs_build_i64(b, "bytes", (int64_t)c->bytes);
    mrs_build_i64(b, "metadata", (int64_t)c->meta_bytes);
    mrs_build_i64(b, "readDocs", (int64_t)c->read_docs);
    mrs_build_i64(b, "readBytes", (int64_t)c->read_bytes);
    mrs_build_open(b, "parts", 5, MRS_ARRAY);
    for (uint32_t i = 0; i < c->n_part; i++) {
        describe_part(&c->part[i], b, files);
    }
    mrs_build_close(b);
    mrs_build_close(b);
}

#define LOG "refusedLog"

/* The checksum of a truncated log is computed again. */
static enum mrs_status
put_log(struct mrsi_engine *en, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_temp *log = en->refused_log;
    enum mrs_status s = MRS_OK;
    mrs_build_i64(b, "refusedFile", log ? log->no : 0);
    if (log) {
        mrs_buf_put(files, &log->no, sizeof log->no);
        s = log->summed != en->refused_bytes ? mrsi_save_sum_again(en, log, en->refused_bytes, e) : MRS_OK;
        mrs_build_open(b, LOG, (uint32_t)strlen(LOG), MRS_DOCUMENT);
        mrsi_save_sum(LOG, log, en->refused_bytes, b);
        mrs_build_close(b);
    }
    return s;
}

enum mrs_status
mrsi_state_put_progress(struct mrsi_engine *en, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    mrs_build_i64(b, "next", mrsi_ckpt_next(en));
    mrs_build_i64(b, "refused", (int64_t)en->refused_n);
    mrs_build_i64(b, "refusedBytes", (int64_t)en->refused_bytes);
    enum mrs_status s = put_log(en, b, files, e);
    mrs_build_i64(b, "doneBytes", (int64_t)atomic_load(&en->done_bytes));
    mrs_build_i64(b, "doneDocs", (int64_t)atomic_load(&en->done_docs));
    mrs_build_i64(b, "temporary", (int64_t)mrsi_temp_most(en));
    mrsi_input_digest_save(en, b);
    return s;
}

enum mrs_status
mrsi_state_save(struct mrsi_engine *en, uint32_t step, struct mrs_build *b, struct mrs_buf *files,
                struct mrs_err *e)
{
    MRS_ASSERT(step <= en->plan->n_steps);
    mrs_build_i64(b, "step", step);
    enum mrs_status s = mrsi_value_lists_save(en, b, files, e); /* first: it may need file numbers */
    MRS_THEN(s, mrsi_state_put_progress(en, b, files, e));
    mrsi_state_put_rows("rows", en->rows, en->n_rows, b);
    mrs_build_open(b, "collections", 11, MRS_ARRAY);
    for (uint32_t i = 0; i < en->n_coll; i++) {
        describe_coll(&en->coll[i], b, files);
    }
    mrs_build_close(b);
    mrs_build_open(b, "output", 6, MRS_DOCUMENT);
    MRS_THEN(s, mrs_output_describe(en->out, b, e));
    mrs_build_close(b);
    return s == MRS_OK ? mrs_buf_status(files, e) : s;
}

/* ---- load ---- */
/* Waiting steps are known, unique and in order. */
static bool
take_waiting(struct mrsi_engine *en, const uint8_t *p, size_t n, struct mrsi_part *part)
{
    if (n % sizeof *part->pend || n / sizeof *part->pend > en->plan->n_steps) {
        return false;
    }
    part->n_pend = (uint32_t)(n / sizeof *part->pend);
    if (n) {
        memcpy(part->pend, p, n);
    }
    for (uint32_t i = 0; i < part->n_pend; i++) {
        if (part->pend[i] >= en->plan->n_steps || (i && part->pend[i] <= part->pend[i - 1]) ||
            en->plan->steps[part->pend[i]].desc.family != MRS_FAMILY_MAP) {
            return false;
        }
    }
    return part->n_counted <= part->n_pend;
}

static enum mrs_status
apply_part(struct mrsi_engine *en, struct mrs_view d, uint64_t next, struct mrsi_part *part, struct mrs_buf *files,
           struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false, in_file = mrs_doc_get(d, "file").type != MRS_MISSING;
    size_t n;
    *part = (struct mrsi_part){.in_index = MRSI_NONE};
    part->pend = mrs_arena_alloc(&en->arena, (en->plan->n_steps + 1) * sizeof *part->pend);
    MRS_TRY(mrs_allocated(part->pend, en->plan->n_steps, e));
    part->n_counted = (uint32_t)mrsi_state_number(d, "counted", UINT32_MAX, &bad);
    const uint8_t *p = mrsi_state_bytes(d, "waits", &n, &bad);
    bad = bad || !take_waiting(en, p, n, part);
    if (!in_file) {
        part->in_index = (uint32_t)mrsi_state_number(d, "input", UINT32_MAX - 1, &bad);
        const struct mrs_input_ns *in =
            part->in_index < mrs_input_count(en->in) ? mrs_input_at(en->in, part->in_index) : NULL;
        bad = bad || !in || in->kind != MRS_INPUT_DATA || !in->data_path;
        return bad ? mrsi_state_damaged("a part of a collection", e) : MRS_OK;
    }
    uint32_t no = (uint32_t)mrsi_state_number(d, "file", next - 1, &bad);
    uint64_t bytes = mrsi_state_number(d, "bytes", INT64_MAX, &bad);
    if (bad || !no) {
        return mrsi_state_damaged("a part of a collection", e);
    }
    mrs_buf_put(files, &no, sizeof no);
    enum mrs_status s = mrsi_ckpt_reopen(en, no, bytes, &part->temp, e);
    MRS_THEN(s, mrsi_load_sum(en, d, MRSI_SAVEPOINT_DOCS, part->temp, bytes, e));
    if (s != MRS_OK) {
        mrsi_temp_drop(en, part->temp);
    }
    return s;
}

static enum mrs_status
apply_coll(struct mrsi_engine *en, struct mrs_view d, uint64_t next, struct mrsi_coll *c, struct mrs_buf *files,
           struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false;
    struct mrs_walk w;
    struct mrs_elem at;
    uint64_t is = mrsi_state_number(d, "is", CONTENT | WRITTEN | COPIED | READ, &bad);
    c->docs = mrsi_state_number(d, "docs", INT64_MAX, &bad);
    c->bytes = mrsi_state_number(d, "bytes", INT64_MAX, &bad);
    c->meta_bytes = mrsi_state_number(d, "metadata", INT64_MAX, &bad);
    c->read_docs = mrsi_state_number(d, "readDocs", INT64_MAX, &bad);
    c->read_bytes = mrsi_state_number(d, "readBytes", INT64_MAX, &bad);
    c->content = is & CONTENT;
    c->read = is & READ;
    c->written = is & WRITTEN;
    c->copied = is & COPIED;
    struct mrs_view parts = mrsi_state_list(d, "parts", &bad);
    bool came = c->in_index != MRSI_NONE; /* a copied collection is from the input */
    if (bad || (c->copied && !(came && c->written)) || (c->written && !c->last.ns)) {
        return mrsi_state_damaged("a collection", e);
    }
    uint32_t n = mrs_doc_count(parts);
    c->n_part = 0; /* those of the input have no temporary file */
    c->part = mrs_arena_alloc(&en->arena, (n + 1) * sizeof *c->part);
    enum mrs_status s = mrs_allocated(c->part, n * sizeof *c->part, e);
    mrs_walk_init(&w, parts);
    while (s == MRS_OK && mrs_walk_next(&w, &at) == 1) {
        s = apply_part(en, mrs_val_view(at.v), next, &c->part[c->n_part], files, e);
        c->n_part += s == MRS_OK;
    }
    return s;
}

static enum mrs_status
apply_refused(struct mrsi_engine *en, struct mrs_view d, uint64_t next, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false;
    en->refused_n = mrsi_state_number(d, "refused", INT64_MAX, &bad);
    en->refused_bytes = mrsi_state_number(d, "refusedBytes", INT64_MAX, &bad);
    uint32_t no = (uint32_t)mrsi_state_number(d, "refusedFile", next - 1, &bad);
    if (bad || (!no && en->refused_bytes) || en->refused_n > en->refused_bytes ||
        (en->refused_log && en->refused_log->no != no)) {
        return mrsi_state_damaged("the refused documents", e);
    }
    enum mrs_status s = MRS_OK;
    if (no && !en->refused_log) {
        s = mrsi_ckpt_reopen(en, no, en->refused_bytes, &en->refused_log, e);
    }
    if (s != MRS_OK || !no) {
        return s;
    }
    return mrsi_load_sum(en, mrsi_savepoint_doc(d, LOG), LOG, en->refused_log, en->refused_bytes, e);
}

enum mrs_status
mrsi_state_get_progress(struct mrsi_engine *en, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false;
    uint64_t next = mrsi_state_number(d, "next", UINT32_MAX - 1, &bad);
    atomic_store(&en->done_bytes, mrsi_state_number(d, "doneBytes", INT64_MAX, &bad));
    atomic_store(&en->done_docs, mrsi_state_number(d, "doneDocs", INT64_MAX, &bad));
    en->temp_most = mrsi_state_number(d, "temporary", INT64_MAX, &bad);
    enum mrs_status s = bad || !next ? mrsi_state_damaged("its head", e) : mrsi_input_digest_load(en, d, e);
    return s == MRS_OK ? apply_refused(en, d, next, e) : s;
}

enum mrs_status
mrsi_state_load(struct mrsi_engine *en, struct mrs_view state, uint32_t *step, struct mrs_buf *files,
                struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(state) && step);
    bool bad = false;
    struct mrs_walk w;
    struct mrs_elem at;
    uint32_t n = 0;
    *step = (uint32_t)mrsi_state_number(state, "step", en->plan->n_steps, &bad);
    uint64_t next = mrsi_state_number(state, "next", UINT32_MAX - 1, &bad);
    struct mrs_view colls = mrsi_state_list(state, "collections", &bad);
    if (bad || !next) {
        return mrsi_state_damaged("its head", e);
    }
    enum mrs_status s = mrsi_state_get_rows(state, "rows", en->rows, en->n_rows, e);
    MRS_THEN(s, mrsi_state_get_progress(en, state, e));
    if (s == MRS_OK && en->refused_log) {
        mrs_buf_put(files, &en->refused_log->no, sizeof en->refused_log->no);
    }
    mrs_walk_init(&w, colls);
    while (s == MRS_OK && mrs_walk_next(&w, &at) == 1) {
        s = n < en->n_coll ? apply_coll(en, mrs_val_view(at.v), next, &en->coll[n++], files, e)
                           : mrsi_state_damaged("more collections than there are", e);
    }
    if (s == MRS_OK && n != en->n_coll) {
        s = mrsi_state_damaged("fewer collections than there are", e);
    }
    MRS_THEN(s, mrsi_value_lists_load(en, state, files, e));
    return s == MRS_OK ? mrs_buf_status(files, e) : s;
}
