/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.c - expands buckets of time series into measurements, row by row.
 *
 * The time column determines the number of rows. In version 1 its names number them, and a column without a name lacks
 * the value; a compressed column has a place for each row. Values left in a column at the end, a time that is no date
 * or lies outside the bounds in `control`, a different count: each is damage, since servers write none of it, and rows
 * must not be lost or invented. */
#include "column.h"
#include "mongoreshape/measurements.h"
#include "mongoreshape/value.h"
#include <stdio.h>

enum { VERSION_PLAIN = 1, VERSION_LAST = 3, COLUMNS_KEPT = 1000 };

struct measurements_column {
    const char *name;
    uint32_t name_len;
    struct mrs_val v;          /* the whole column */
    struct mrs_walk walk;      /* version 1 */
    struct mrs_elem ahead;     /* the next element; name NULL: none */
    struct mrsi_column_reader packed; /* later versions */
};

struct mrs_measurements {
    struct mrs_mem *mem;
    struct mrs_series of;
    uint32_t time_len, meta_len;
    int64_t version, count;    /* count -1: the bucket has none */
    int64_t least, most;       /* times */
    int64_t rows;              /* rows returned so far */
    struct mrs_val meta;
    struct measurements_column *col; /* the first is the time */
    uint32_t n, cap, n_made;   /* made: with memory of their own */
    uint32_t room;             /* number of further fields allowed in the bucket */
    struct mrs_buf out;
};

bool
mrs_series_of(struct mrs_view options, struct mrs_series *out)
{
    struct mrs_val series = mrs_doc_get(options, "timeseries"), time, meta;
    uint32_t n;
    if (series.type != MRS_DOCUMENT) {
        return false;
    }
    time = mrs_doc_get(mrs_val_view(series), "timeField");
    meta = mrs_doc_get(mrs_val_view(series), "metaField");
    *out = (struct mrs_series){time.type == MRS_STRING ? mrs_val_text(time, &n) : NULL,
                               meta.type == MRS_STRING ? mrs_val_text(meta, &n) : NULL};
    return out->time != NULL;
}

/* A collection of the type `collection` has measurements, which a restore inserts. */
bool
mrs_series_has_buckets(struct mrs_view metadata, struct mrs_series *out)
{
    struct mrs_val options = mrs_doc_get(metadata, "options");
    return options.type == MRS_DOCUMENT && !mrs_val_is_text(mrs_doc_get(metadata, "type"), "collection") &&
           mrs_series_of(mrs_val_view(options), out);
}

enum mrs_status
mrs_measurements_new(struct mrs_mem *mem, const struct mrs_series *of, struct mrs_measurements **out, struct mrs_err *e)
{
    struct mrs_measurements *m = mrs_zalloc(mem, sizeof *m);
    MRS_TRY(mrs_allocated(m, sizeof *m, e));
    m->mem = mem;
    m->of = *of;
    m->time_len = (uint32_t)strlen(of->time);
    m->meta_len = of->meta ? (uint32_t)strlen(of->meta) : 0;
    mrs_buf_init(&m->out, mem, MRS_DOC_MAX);
    *out = m;
    return MRS_OK;
}

static void
clear_columns(struct mrs_measurements *m)
{
    for (uint32_t i = 0; i < m->n_made; i++) {
        mrsi_column_clear(&m->col[i].packed);
    }
    mrs_free(m->mem, m->col);
    m->col = NULL;
    m->n = m->cap = m->n_made = 0;
}

void
mrs_measurements_free(struct mrs_measurements *m)
{
    if (m) {
        clear_columns(m);
        mrs_buf_clear(&m->out);
        mrs_free(m->mem, m);
    }
}

static enum mrs_status
damaged(struct mrs_err *e, const char *where, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static enum mrs_status
damaged(struct mrs_err *e, const char *where, const char *fmt, ...)
{
    char why[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    mrs_err_at(e, "%s", where);
    return mrs_err_set(e, MRS_FAIL, MRS_E_BSON, "bucket of a time series: %s", why);
}

/* ---- begin ---- */
static enum mrs_status
read_control(struct mrs_measurements *m, struct mrs_val control, struct mrs_err *e)
{
    struct mrs_val least, most, count;
    if (control.type != MRS_DOCUMENT) {
        return damaged(e, "control", "it has no `control`, so it is no bucket");
    }
    struct mrs_view c = mrs_val_view(control);
    if (!mrs_val_integral(mrs_doc_get(c, "version"), &m->version) || m->version < VERSION_PLAIN ||
        m->version > VERSION_LAST) {
        return damaged(e, "control.version", "1, 2 and 3 are known");
    }
    least = mrs_doc_get(c, "min");
    most = mrs_doc_get(c, "max");
    least = least.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(least), m->of.time) : mrs_missing();
    most = most.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(most), m->of.time) : mrs_missing();
    m->least = least.type == MRS_DATE ? mrs_val_i64(least) : INT64_MIN;
    m->most = most.type == MRS_DATE ? mrs_val_i64(most) : INT64_MAX;
    count = mrs_doc_get(c, "count");
    m->count = -1;
    if (count.type != MRS_MISSING && (!mrs_val_integral(count, &m->count) || m->count < 0)) {
        return damaged(e, "control.count", "it is no number of measurements");
    }
    return MRS_OK;
}

static bool
is_named(const struct mrs_elem *el, const char *name, uint32_t n)
{
    return name && mrs_name_is(el, name, n);
}

static enum mrs_status
add_column(struct mrs_measurements *m, const struct mrs_elem *el, struct mrs_err *e)
{
    if (m->room == 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "a bucket of more than %u fields", MRS_BUCKET_FIELDS_MAX);
    }
    m->room--;
    struct measurements_column *list = mrs_more(m->mem, m->col, m->n, &m->cap, sizeof *list);
    MRS_TRY(mrs_allocated(list, sizeof *list, e));
    m->col = list;
    if (m->n == m->n_made) {
        mrsi_column_init(&list[m->n_made++].packed, m->mem, &m->room);
    }
    list[m->n].name = el->name;
    list[m->n].name_len = el->name_len;
    list[m->n++].v = el->v;
    return MRS_OK;
}

/* Lists the columns, the time column first. */
static enum mrs_status
list_columns(struct mrs_measurements *m, struct mrs_view data, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (!mrs_doc_find(data, m->of.time, m->time_len, &el)) {
        return damaged(e, "data", "it has no column of the time field `%.100s`", m->of.time);
    }
    enum mrs_status s = add_column(m, &el, e);
    mrs_walk_init(&w, data);
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        if (is_named(&el, m->of.meta, m->meta_len)) {
            s = damaged(e, "data", "it has a column of the meta field `%.100s`", m->of.meta);
        } else if (!is_named(&el, m->of.time, m->time_len)) {
            s = add_column(m, &el, e);
        }
    }
    return s;
}

static void
step_ahead(struct measurements_column *c)
{
    if (mrs_walk_next(&c->walk, &c->ahead) != 1) {
        c->ahead.name = NULL;
    }
}

static enum mrs_status
begin_column(const struct mrs_measurements *m, struct measurements_column *c, struct mrs_err *e)
{
    if (m->version == VERSION_PLAIN) {
        if (c->v.type != MRS_DOCUMENT) {
            return damaged(e, c->name, "a column of version 1 that is no document");
        }
        mrs_walk_init(&c->walk, mrs_val_view(c->v));
        step_ahead(c);
        return MRS_OK;
    }
    if (c->v.type != MRS_BINARY || c->v.p[4] != MRSI_COLUMN_SUBTYPE) {
        return damaged(e, c->name, "a column of version %d that is no binary data of subtype 7", (int)m->version);
    }
    mrsi_column_begin(&c->packed, c->v.p + 5, c->v.n - 5);
    return MRS_OK;
}

enum mrs_status
mrs_measurements_begin(struct mrs_measurements *m, struct mrs_view bucket, struct mrs_err *e)
{
    struct mrs_val data = mrs_doc_get(bucket, "data");
    if (m->cap > COLUMNS_KEPT) {
        clear_columns(m);
    }
    m->n = 0;
    m->rows = 0;
    m->room = MRS_BUCKET_FIELDS_MAX;
    m->meta = mrs_doc_get(bucket, "meta");
    enum mrs_status s = read_control(m, mrs_doc_get(bucket, "control"), e);
    if (s == MRS_OK && data.type != MRS_DOCUMENT) {
        s = damaged(e, "data", "it has no `data`, so it is no bucket");
    }
    if (s == MRS_OK && m->meta.type != MRS_MISSING && !m->of.meta) {
        s = damaged(e, "meta", "it has a `meta`, and the collection has no metaField");
    }
    MRS_THEN(s, list_columns(m, mrs_val_view(data), e));
    for (uint32_t i = 0; s == MRS_OK && i < m->n; i++) {
        s = begin_column(m, &m->col[i], e);
    }
    return s;
}

/* ---- next ---- */
/* The value of this row, missing if the column has none: row is its name in version 1. END: no more. */
static enum mrs_status
next_value(const struct mrs_measurements *m, struct measurements_column *c, const struct mrs_elem *row,
           struct mrs_val *v, struct mrs_err *e)
{
    if (m->version != VERSION_PLAIN) {
        enum mrs_status s = mrsi_column_next(&c->packed, v, e);
        if (s < MRS_OK) {
            mrs_err_at(e, "data.%s", c->name);
        }
        return s;
    }
    if (!c->ahead.name) {
        *v = mrs_missing();
        return MRS_END;
    }
    bool here = !row || is_named(&c->ahead, row->name, row->name_len);
    *v = here ? c->ahead.v : mrs_missing();
    if (here) {
        step_ahead(c);
    }
    return MRS_OK;
}

/* Checks that the columns have nothing left, and that the number of rows is that of the bucket. */
static enum mrs_status
check_end(struct mrs_measurements *m, struct mrs_err *e)
{
    struct mrs_val v;
    for (uint32_t i = 1; i < m->n; i++) {
        enum mrs_status s = next_value(m, &m->col[i], NULL, &v, e);
        if (s != MRS_END) {
            return s < MRS_OK ? s : damaged(e, m->col[i].name, "it has values after the last time");
        }
    }
    if (m->count >= 0 && m->count != m->rows) {
        return damaged(e, "control.count", "%lld measurements are said to be there, and %lld are",
                       (long long)m->count, (long long)m->rows);
    }
    return MRS_END;
}

static enum mrs_status
next_time(struct mrs_measurements *m, struct mrs_elem *row, struct mrs_val *time, struct mrs_err *e)
{
    *row = m->col[0].ahead;
    enum mrs_status s = next_value(m, &m->col[0], NULL, time, e);
    if (s != MRS_OK) {
        return s == MRS_END ? check_end(m, e) : s;
    }
    if (time->type != MRS_DATE) {
        return damaged(e, m->of.time, "measurement %lld has no date there", (long long)m->rows + 1);
    }
    int64_t at = mrs_val_i64(*time);
    if (at < m->least || at > m->most) {
        return damaged(e, m->of.time, "measurement %lld is of a time outside of control.min and control.max",
                       (long long)m->rows + 1);
    }
    return MRS_OK;
}

enum mrs_status
mrs_measurements_next(struct mrs_measurements *m, struct mrs_view *doc, struct mrs_err *e)
{
    struct mrs_elem row;
    struct mrs_val v;
    struct mrs_build b;
    enum mrs_status s = next_time(m, &row, &v, e);
    if (s != MRS_OK) {
        return s;
    }
    mrs_buf_reset(&m->out);
    mrs_build_init(&b, &m->out);
    mrs_build_val(&b, m->of.time, m->time_len, v);
    if (m->of.meta) {
        mrs_build_val(&b, m->of.meta, m->meta_len, m->meta);
    }
    for (uint32_t i = 1; s == MRS_OK && i < m->n; i++) {
        struct measurements_column *c = &m->col[i];
        s = next_value(m, c, &row, &v, e);
        if (s == MRS_END && m->version != VERSION_PLAIN) {
            return damaged(e, c->name, "it has %lld values, and there are more times", (long long)m->rows);
        }
        s = s == MRS_END ? MRS_OK : s;
        mrs_build_val(&b, c->name, c->name_len, v);
    }
    MRS_THEN(s, mrs_build_finish(&b, doc, e));
    MRS_THEN(s, mrs_doc_check(doc->p, doc->n, MRS_DEPTH_READ, e));
    m->rows += s == MRS_OK;
    return s;
}
