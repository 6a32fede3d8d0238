/* SPDX-License-Identifier: Apache-2.0 */
/* grid_pass.c - steps that make documents from the values of axes only.
 *
 * First the values of each axis are found, in one pass over its collection, and stored in a file array, so that any
 * number of them stays within the budget. Then the combinations are enumerated like the digits of an odometer and
 * written into blocks, and these drive the step like the blocks of a collection (spread.c): duplicates, targets and
 * refusals are handled as for every step. Combinations are not stored, but made again in each pass. Values are equal if
 * their hashes with the run's secret are (ordinal_index.h). */
#include "run/pass/drivers.h"
#include "run/pass/checkpoint.h"
#include "run/store/ordinal_index.h"
#include "mongoreshape/axes.h"
#include "spread.h"
#include "run/store/file_array.h"

/* In the file array: type, four bytes of length, the value. */
enum { HEAD = 5 };

struct axis {
    const struct mrs_axis *def;
    uint32_t name_len;
    struct mrsi_file_array values;
    uint64_t n;
    size_t at;         /* offset after the current value */
    struct mrs_val v;
};
struct grid_pass_grid {
    struct mrsi_engine *en;
    uint32_t step;
    struct axis *axis;
    uint32_t n;
    struct mrsi_pass pass;  /* savepoints while values are found */
    uint32_t finding;       /* the current axis */
    struct mrsi_index seen; /* values of its collection so far */
    uint64_t docs;
    bool begun, done;
};

/* ---- values ---- */
static enum mrs_status
put_value(struct axis *a, struct mrs_val v, struct mrs_err *e)
{
    uint8_t head[HEAD] = {v.type};
    mrs_put32(head + 1, v.n);
    enum mrs_status s = mrsi_file_array_put_n(&a->values, head, HEAD, e);
    a->n++;
    return s == MRS_OK ? mrsi_file_array_put_n(&a->values, v.p, v.n, e) : s;
}

static enum mrs_status
put_constants(struct axis *a, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    for (mrs_walk_init(&w, a->def->values); s == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        s = put_value(a, el.v, e);
    }
    return s;
}

/* ---- values of a collection ---- */
struct gather {
    struct grid_pass_grid *g;
    struct axis *a;
    struct mrsi_scan scan;
    bool counts; /* also count documents */
};
struct grid_pass_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_buf values; /* for each value: 16 bytes of its key, then as in the file array */
    struct mrs_buf key;
};

static enum mrs_status
fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct gather *ga = arg;
    struct grid_pass_job *j = job;
    if (!j->block.mem) {
        mrs_block_init(&j->block, ga->g->en->mem);
        mrs_buf_init(&j->values, ga->g->en->mem, SIZE_MAX);
        mrs_buf_init(&j->key, ga->g->en->mem, SIZE_MAX);
    }
    enum mrs_status s = mrsi_scan_next(&ga->scan, &j->block, &j->part, e);
    *big = mrsi_is_large(ga->g->en, j->block.n);
    return s;
}

struct grid_pass_found {
    struct grid_pass_job *j;
    const struct mrs_secret *secret;
};

static enum mrs_status
take_value(void *arg, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    const struct grid_pass_found *f = arg;
    uint8_t head[16 + HEAD];
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    mrs_buf_reset(&f->j->key);
    mrs_key_append(&f->j->key, v, false);
    if (f->j->key.bad) {
        f->j->values.bad = f->j->key.bad;
        return MRS_DEAD;
    }
    struct mrs_hash128 h = mrs_hash_secret(f->secret, 0, f->j->key.p, f->j->key.n);
    mrs_put64(head, h.lo);
    mrs_put64(head + 8, h.hi);
    head[16] = v.type;
    mrs_put32(head + 17, v.n);
    mrs_buf_put(&f->j->values, head, sizeof head);
    mrs_buf_put(&f->j->values, v.p, v.n);
    return f->j->values.bad ? MRS_DEAD : MRS_OK;
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct gather *ga = arg;
    struct grid_pass_job *j = job;
    struct grid_pass_found f = {j, &ga->g->en->secret};
    struct mrsi_row *row = mrsi_row(w, ga->g->step, (uint32_t)ga->a->def->side);
    (void)ordinal;
    row->before += ga->counts;
    row->after += ga->counts;
    bool all = mrs_path_each(&ga->a->def->path, doc, false, take_value, &f) == MRS_OK;
    return all ? MRS_OK : mrs_buf_status(&j->values, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct gather *ga = arg;
    struct grid_pass_job *j = job;
    uint32_t side = (uint32_t)ga->a->def->side;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, &ga->g->en->coll[ga->g->en->side[ga->g->step][side]], j->part, &j->block);
    return mrsi_cursor_each(&cur, one_document, ga, w, j, e);
}

/* In input order: the first of equal values counts. */
static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct gather *ga = arg;
    struct grid_pass_job *j = job;
    enum mrs_status s = mrsi_refused_commit(w, e);
    for (size_t at = 0; s == MRS_OK && at < j->values.n;) {
        const uint8_t *p = j->values.p + at;
        struct mrs_hash128 key = {mrs_le64(p), mrs_le64(p + 8)};
        struct mrs_val v = {p + 16 + HEAD, mrs_le32(p + 17), p[16]};
        uint64_t first;
        s = mrsi_index_put(&ga->g->seen, key, ga->a->n, &first, e);
        if (s == MRS_OK && first == ga->a->n) {
            s = put_value(ga->a, v, e);
        }
        at += 16 + HEAD + (size_t)v.n;
    }
    mrs_buf_reset(&j->values);
    return s;
}

static void
clear(void *arg, void *job)
{
    struct grid_pass_job *j = job;
    (void)arg;
    if (j->block.mem) {
        mrs_block_clear(&j->block);
        mrs_buf_clear(&j->values);
        mrs_buf_clear(&j->key);
    }
}

/* The first pass over a collection counts its documents, unless they are counted as those of the target. */
static bool
is_counted(const struct grid_pass_grid *g, uint32_t no)
{
    const uint32_t *side = g->en->side[g->step];
    uint32_t coll = side[g->axis[no].def->side];
    bool counted = coll == side[0];
    for (uint32_t i = 0; i < no; i++) {
        counted = counted || (g->axis[i].def->side >= 0 && side[g->axis[i].def->side] == coll);
    }
    return counted;
}

static enum mrs_status
put_distinct(struct grid_pass_grid *g, uint32_t no, struct mrs_err *e)
{
    struct mrsi_coll *coll = &g->en->coll[g->en->side[g->step][g->axis[no].def->side]];
    struct gather ga = {.g = g, .a = &g->axis[no], .counts = !is_counted(g, no)};
    struct mrsi_pipe p = {g->en, sizeof(struct grid_pass_job), fetch, work, commit, clear, &ga};
    enum mrs_status s = mrsi_pass_scan(&g->pass, &p, coll, &ga.scan, e);
    mrsi_index_clear(&g->seen);
    mrsi_coll_counted(coll);
    return s;
}

/* ---- savepoints ---- */
static enum mrs_status
describe_axes(struct grid_pass_grid *g, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    mrs_build_open(b, "axes", 4, MRS_ARRAY);
    for (uint32_t i = 0; s == MRS_OK && i < g->n; i++) {
        struct axis *a = &g->axis[i];
        mrs_build_item_open(b, MRS_DOCUMENT);
        mrs_build_i64(b, "n", (int64_t)a->n);
        mrs_build_i64(b, "at", (int64_t)(g->begun ? a->at - HEAD - a->v.n : 0));
        s = mrsi_file_array_save(&a->values, "values", b, files, e);
        mrs_build_close(b);
    }
    mrs_build_close(b);
    return s;
}

static enum mrs_status
save_finding(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct grid_pass_grid *g = arg;
    mrs_build_i64(b, "finding", g->finding);
    enum mrs_status s = describe_axes(g, b, files, e);
    return s == MRS_OK ? mrsi_index_save(&g->seen, "keys", b, files, e) : s;
}

/* Are all of n values complete in the file array, and does one begin at `at`? */
static bool
are_values(const struct axis *a, struct mrs_buf *room)
{
    size_t at = 0;
    uint64_t n = 0;
    bool begins = false, good = true;
    while (good && a->values.n - at >= HEAD) {
        const uint8_t *p = a->values.p + at;
        uint32_t len = mrs_le32(p + 1);
        good = len <= a->values.n - at - HEAD && mrsi_savepoint_is_value(p[0], p + HEAD, len, room);
        begins = begins || at == a->at;
        at += good ? HEAD + (size_t)len : 0;
        n++;
    }
    return good && at == a->values.n && n == a->n && (begins || !n);
}

/* Validates values that the stopped run found. */
static enum mrs_status
check_values(const struct grid_pass_grid *g, const struct axis *a, struct mrs_err *e)
{
    struct mrs_buf room;
    mrs_buf_init(&room, g->en->mem, SIZE_MAX);
    enum mrs_status s = MRS_OK;
    if (!a->values.ended || !are_values(a, &room)) {
        s = room.bad ? mrs_buf_status(&room, e) : mrsi_state_damaged("an axis", e);
    }
    mrs_buf_clear(&room);
    return s;
}

static enum mrs_status
axis_back(struct grid_pass_grid *g, uint32_t i, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(i < g->n && mrs_view_is_framed(d));
    struct axis *a = &g->axis[i];
    bool bad = false;
    a->n = mrsi_state_number(d, "n", INT64_MAX, &bad);
    a->at = mrsi_state_number(d, "at", INT64_MAX, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("an axis", e) : mrsi_file_array_load(&a->values, d, "values", e);
    s = s == MRS_OK && i < g->finding ? check_values(g, a, e) : s;
    if (s == MRS_OK && i < g->finding && a->def->side >= 0) {
        mrsi_coll_counted(&g->en->coll[g->en->side[g->step][a->def->side]]);
    }
    return s;
}

/* finding: number of complete axes. */
static enum mrs_status
axes_back(struct grid_pass_grid *g, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    struct mrs_walk w;
    struct mrs_elem at;
    uint32_t i = 0;
    enum mrs_status s = MRS_OK;
    mrs_walk_init(&w, mrsi_state_list(saved, "axes", &bad));
    while (s == MRS_OK && mrs_walk_next(&w, &at) == 1) {
        s = i < g->n ? axis_back(g, i, mrs_val_view(at.v), e) : mrsi_state_damaged("an axis", e);
        i++;
    }
    return s == MRS_OK && (bad || i != g->n) ? mrsi_state_damaged("the axes", e) : s;
}

static enum mrs_status
resume_finding(struct grid_pass_grid *g, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_view saved = g->pass.from;
    g->finding = (uint32_t)mrsi_state_number(saved, "finding", g->n, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("the axes", e) : mrsi_pass_load(&g->pass, e);
    MRS_THEN(s, axes_back(g, saved, e));
    return s == MRS_OK ? mrsi_index_load(&g->seen, saved, "keys", e) : s;
}

/* ---- all axes ---- */
static enum mrs_status
make_axes(struct grid_pass_grid *g, struct mrs_err *e)
{
    const struct mrs_step *st = &g->en->plan->steps[g->step];
    const struct mrs_axis *def = st->type->grid->axes(st->state, &g->n);
    g->axis = mrs_zalloc(g->en->mem, g->n * sizeof *g->axis);
    MRS_TRY(mrs_allocated(g->axis, g->n * sizeof *g->axis, e));
    for (uint32_t i = 0; i < g->n; i++) {
        struct axis *a = &g->axis[i];
        a->def = &def[i];
        a->name_len = (uint32_t)strlen(a->def->name);
        mrsi_file_array_init(&a->values, g->en, 1, g->en->memory / 16 / g->n);
        a->values.kept = true;
    }
    return MRS_OK;
}

static enum mrs_status
find_values(void *arg, struct mrs_err *e)
{
    struct grid_pass_grid *g = arg;
    g->pass = (struct mrsi_pass){.en = g->en, .kind = "values", .save = save_finding, .arg = g};
    mrsi_index_init(&g->seen, g->en, g->en->memory / 8);
    mrsi_ckpt_savepoint_for(&g->pass);
    mrsi_rows_begin(g->en);
    enum mrs_status s = mrsi_pass_is_resumed(&g->pass) ? resume_finding(g, e) : MRS_OK;
    while (s == MRS_OK && g->finding < g->n) {
        struct axis *a = &g->axis[g->finding];
        s = a->def->side < 0 ? put_constants(a, e) : put_distinct(g, g->finding, e);
        MRS_THEN(s, mrsi_file_array_end(&a->values, e));
        s = s == MRS_OK && g->en->report->resumed ? check_values(g, a, e) : s;
        g->finding++;
        MRS_THEN(s, mrsi_pass_between(&g->pass, e));
    }
    mrsi_index_clear(&g->seen);
    mrsi_rows_accept(g->en);
    return s;
}

/* ---- combinations ---- */
static void
first_value(struct axis *a)
{
    a->at = 0;
}

/* False after the last one. */
static bool
next_value(struct axis *a)
{
    if (a->at >= a->values.n) {
        return false;
    }
    const uint8_t *p = a->values.p + a->at;
    a->v = (struct mrs_val){p + HEAD, mrs_le32(p + 1), p[0]};
    a->at += HEAD + (size_t)a->v.n;
    return true;
}

/* The last axis advances fastest. */
static bool
next_combination(struct grid_pass_grid *g)
{
    MRS_ASSERT(g->n > 0);
    uint32_t i = g->begun ? g->n : 0;
    while (g->begun && i > 0 && !next_value(&g->axis[i - 1])) {
        i--;
    }
    if (g->begun && i == 0) {
        return false;
    }
    for (; i < g->n; i++) { /* axes after the one that advanced; at first all */
        first_value(&g->axis[i]);
        if (!next_value(&g->axis[i])) {
            return false;
        }
    }
    g->begun = true;
    return true;
}

static void
rewind_grid(void *arg)
{
    struct grid_pass_grid *g = arg;
    g->docs = 0;
    g->begun = g->done = false;
}

/* Appends the document of the current combination to a block. */
static enum mrs_status
put_document(const struct grid_pass_grid *g, struct mrs_block *b, struct mrs_err *e)
{
    MRS_ASSERT(b->n <= b->cap);
    uint64_t n = 5;
    for (uint32_t i = 0; i < g->n; i++) {
        n += 2 + (uint64_t)g->axis[i].name_len + g->axis[i].v.n;
    }
    if (n > MRS_DOC_READ_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "one value of each axis together have %llu bytes, more than a "
                           "document may have", (unsigned long long)n);
    }
    if (b->cap - b->n < n) {
        size_t cap = b->n + (size_t)n > MRSI_BLOCK ? b->n + (size_t)n : MRSI_BLOCK;
        uint8_t *more = mrs_realloc(b->mem, b->p, cap);
        MRS_TRY(mrs_allocated(more, cap, e));
        b->p = more;
        b->cap = cap;
    }
    uint8_t *p = b->p + b->n;
    mrs_put32(p, (uint32_t)n);
    p += 4;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct axis *a = &g->axis[i];
        *p++ = a->v.type;
        memcpy(p, a->def->name, (size_t)a->name_len + 1);
        p += a->name_len + 1;
        if (a->v.n) {
            memcpy(p, a->v.p, a->v.n);
        }
        p += a->v.n;
    }
    *p = 0;
    b->n += (size_t)n;
    b->n_docs++;
    return MRS_OK;
}

static enum mrs_status
next_block(void *arg, struct mrs_block *b, struct mrs_err *e)
{
    struct grid_pass_grid *g = arg;
    enum mrs_status s = MRS_OK;
    b->n = 0;
    b->n_docs = 0;
    b->first_doc = g->docs;
    while (s == MRS_OK && !g->done && b->n < MRSI_BLOCK / 2) {
        g->done = !next_combination(g);
        s = g->done ? MRS_OK : put_document(g, b, e);
    }
    g->docs += b->n_docs;
    return s == MRS_OK && !b->n_docs ? MRS_END : s;
}

/* ---- savepoints while documents are made ---- */
static enum mrs_status
save(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct grid_pass_grid *g = arg;
    mrs_build_i64(b, "given", (int64_t)g->docs);
    mrs_build_bool(b, "begun", g->begun);
    mrs_build_bool(b, "done", g->done);
    return describe_axes(g, b, files, e);
}

static enum mrs_status
resume(void *arg, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct grid_pass_grid *g = arg;
    bool bad = false;
    struct mrs_val begun = mrs_doc_get(saved, "begun"), done = mrs_doc_get(saved, "done");
    g->docs = mrsi_state_number(saved, "given", INT64_MAX, &bad);
    if (bad || begun.type != MRS_BOOL || done.type != MRS_BOOL) {
        return mrsi_state_damaged("the combinations", e);
    }
    g->begun = *begun.p;
    g->done = *done.p;
    g->finding = g->n;
    enum mrs_status s = axes_back(g, saved, e);
    for (uint32_t i = 0; s == MRS_OK && g->begun && i < g->n; i++) {
        if (!next_value(&g->axis[i])) {
            s = mrsi_state_damaged("the combinations", e);
        }
    }
    return s;
}

enum mrs_status
mrsi_grid_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct grid_pass_grid g = {.en = en, .step = step};
    struct mrsi_stream stream = {find_values, rewind_grid, next_block, save, resume, &g};
    enum mrs_status s = make_axes(&g, e);
    MRS_THEN(s, mrsi_spread_stream(en, step, &stream, e));
    for (uint32_t i = 0; g.axis && i < g.n; i++) {
        mrsi_file_array_clear(&g.axis[i].values);
    }
    mrs_free(en->mem, g.axis);
    return s;
}
