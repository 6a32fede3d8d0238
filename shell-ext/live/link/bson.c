/* SPDX-License-Identifier: Apache-2.0 */
/* bson.c - small documents for commands, made from a template in one line.
 *
 * Also reads values from replies of a server, and converts documents to the form in which a server stores them. */
#include "bson.h"

#include "mongoreshape/compose.h"
#include "mongoreshape/path.h"
#include "mongoreshape/value.h"

#include <stdlib.h>
#include <math.h>

enum mrs_status
live_doc(struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e, const char *template, ...)
{
    MRS_ASSERT(out && template && mrs_buf_is_sound(buf));
    va_list ap;
    va_start(ap, template);
    enum mrs_status s = mrs_compose(buf, out, e, template, &ap);
    va_end(ap);
    return s;
}

enum mrs_status
live_doc_in(struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e, const char *template, ...)
{
    MRS_ASSERT(out && template && mrs_arena_is_sound(a));
    va_list ap;
    va_start(ap, template);
    enum mrs_status s = mrs_compose_in(a, out, e, template, &ap);
    va_end(ap);
    return s;
}

struct mrs_val
live_at(struct mrs_view d, const char *path)
{
    MRS_ASSERT(path && (d.p || d.n == 0));
    for (;;) {
        const char *dot = strchr(path, '.');
        struct mrs_elem el;
        uint32_t n = dot ? (uint32_t)(dot - path) : (uint32_t)strlen(path);
        if (d.n < MRS_DOC_MIN || !mrs_doc_find(d, path, n, &el)) {
            return mrs_missing();
        }
        if (!dot) {
            return el.v;
        }
        if (el.v.type != MRS_DOCUMENT) {
            return mrs_missing();
        }
        d = mrs_val_view(el.v);
        path = dot + 1;
    }
}

static enum mrs_status
see_any(void *arg, struct mrs_val v)
{
    *(bool *)arg = *(bool *)arg || v.type != MRS_MISSING;
    return MRS_OK;
}

enum mrs_status
live_any_at(struct mrs_arena *a, struct mrs_view d, const char *path, bool *any, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d) && path[0]);
    struct mrs_val text = mrs_make_text(a, path, (uint32_t)strlen(path));
    struct mrs_path p;
    enum mrs_status s = text.type == MRS_MISSING ? mrs_err_memory(e, 0) : mrs_path_compile(a, text, false, &p, e);
    *any = false;
    return s == MRS_OK ? mrs_path_each(&p, d, true, see_any, any) : s;
}

struct mrs_view
live_doc_of(struct mrs_val v)
{
    return v.type == MRS_DOCUMENT || v.type == MRS_ARRAY ? mrs_val_view(v) : mrs_empty_doc();
}

static int
by_value(const void *a, const void *b)
{
    return mrs_compare(*(const struct mrs_val *)a, *(const struct mrs_val *)b);
}

uint64_t
live_vals_distinct(struct mrs_val *v, uint64_t n)
{
    uint64_t kept = 0;
    if (n) {
        qsort(v, n, sizeof *v, by_value);
    }
    for (uint64_t i = 0; i < n; i++) {
        if (!kept || mrs_compare(v[kept - 1], v[i]) != 0) {
            v[kept++] = v[i];
        }
    }
    MRS_ASSERT(kept <= n);
    return kept;
}

enum mrs_status
live_coll_of(struct mrs_arena *a, const char *ns, struct mrs_coll *out, struct mrs_err *e)
{
    MRS_ASSERT(ns && out);
    const char *dot = strchr(ns, '.');
    if (!dot) {
        return MRS_END;
    }
    size_t n = strlen(ns) + 1, at = (size_t)(dot - ns);
    char *own = mrs_arena_copy(a, ns, n), *db = own ? mrs_arena_copy(a, ns, n) : NULL;
    MRS_TRY(mrs_allocated(db, n, e));
    db[at] = 0;
    *out = (struct mrs_coll){db, own + at + 1, own};
    return MRS_OK;
}

bool
live_same(struct mrs_view a, struct mrs_view b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

int64_t
live_int_at(struct mrs_view d, const char *path, int64_t fallback)
{
    struct mrs_val v = live_at(d, path);
    int64_t n;
    if (mrs_val_integral(v, &n)) {
        return n;
    }
    double f = v.type == MRS_DOUBLE ? mrs_val_double(v) : NAN;
    return f > -9.2e18 && f < 9.2e18 ? (int64_t)f : fallback;
}

void
live_text_at(struct mrs_view d, const char *path, char *out, size_t size)
{
    MRS_ASSERT(out && size > 0);
    struct mrs_val v = live_at(d, path);
    out[0] = 0;
    if (v.type == MRS_STRING) {
        uint32_t n;
        const char *text = mrs_val_text(v, &n);
        size_t fits = n < size ? n : size - 1;
        memcpy(out, text, fits);
        out[fits] = 0;
    }
}

bool
live_bool_at(struct mrs_view d, const char *path, bool fallback)
{
    struct mrs_val v = live_at(d, path);
    if (v.type == MRS_BOOL) {
        return v.p[0] != 0;
    }
    return mrs_is_number(v) ? live_int_at(d, path, 0) != 0 : fallback;
}

enum mrs_status
live_stored(struct mrs_view doc, struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(buf));
    struct mrs_walk w;
    struct mrs_elem el, id;
    struct mrs_build b;
    *out = doc;
    mrs_walk_init(&w, doc);
    if (mrs_walk_next(&w, &el) != 1 || strcmp(el.name, "_id") == 0 || !mrs_doc_find(doc, "_id", 3, &id)) {
        return MRS_OK;
    }
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    mrs_build_elem(&b, &id);
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &el) == 1;) {
        if (strcmp(el.name, "_id") != 0) {
            mrs_build_elem(&b, &el);
        }
    }
    return mrs_build_finish(&b, out, e);
}

const char *
live_zero_time(struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &el) == 1;) {
        if (el.v.type == MRS_TIMESTAMP && mrs_val_i64(el.v) == 0 && !mrs_name_is(&el, "_id", 3)) {
            return el.name;
        }
    }
    return NULL;
}
