/* SPDX-License-Identifier: Apache-2.0 */
/* amend.c - replaces documents of the input by corrected ones before any step reads them.
 *
 * The file is read into memory (people correct it by hand), and its records are sorted by namespace and key hash. It is
 * BSON, or Extended JSON with one record a line, which is converted to BSON first. A first pass over its namespaces
 * checks that each corrected document exists exactly once. `_id`s are equal if their hashes with the run's secret are
 * (mrs_hash_secret). A document that JSON cannot represent is not corrected from JSON: bytes that are not UTF-8 would
 * change. */
#include "account.h"
#include "amend.h"
#include "mongoreshape/ejson.h"
#include <stdarg.h>
#include <stdlib.h>

struct correction {
    uint64_t lo, hi;     /* hash of namespace and `_id` */
    struct mrs_view doc;
    uint32_t in_index;
    uint64_t no; /* its record, from 1 */
    uint64_t found;
};
/* How the corrected documents of a namespace differ from those of the input. */
struct amended {
    uint64_t docs;
    char fields[200]; /* ", name" for each field that differs, up to what fits */
};

struct mrsi_amend {
    struct mrsi_engine *en;
    char *bytes;
    struct mrs_buf records; /* JSON lines converted to BSON */
    struct mrs_buf lines;   /* uint64_t: of each of these records its line */
    struct mrs_buf list;   /* struct correction, sorted by hash */
    struct amended *of;    /* by namespace of the input */
};

static int
by_hash(const void *pa, const void *pb)
{
    const struct correction *a = pa, *b = pb;
    if (a->lo != b->lo) {
        return a->lo < b->lo ? -1 : 1;
    }
    return a->hi < b->hi ? -1 : a->hi > b->hi;
}

/* OK; END: no `_id`, or one above every limit, so no record can match it. */
static enum mrs_status
hash_id(const struct mrsi_engine *en, uint32_t in_index, struct mrs_view doc, struct mrs_buf *scratch,
        struct correction *m, struct mrs_err *e)
{
    MRS_ASSERT(in_index < mrs_input_count(en->in));
    struct mrs_elem id;
    if (!mrs_doc_find(doc, "_id", 3, &id)) {
        return MRS_END;
    }
    mrs_buf_reset(scratch);
    mrs_key_append(scratch, id.v, false);
    if (scratch->bad) {
        return scratch->bad == 1 ? mrs_buf_status(scratch, e) : MRS_END;
    }
    struct mrs_hash128 h = mrs_hash_secret(&en->secret, in_index, scratch->p, scratch->n);
    m->lo = h.lo;
    m->hi = h.hi;
    return MRS_OK;
}

static struct correction *
find(const struct mrsi_amend *a, const struct correction *key)
{
    return a->list.n ? bsearch(key, a->list.p, a->list.n / sizeof *key, sizeof *key, by_hash) : NULL;
}

static uint32_t
input_of(struct mrsi_engine *en, struct mrs_val ns)
{
    uint32_t n = 0;
    const char *text = ns.type == MRS_STRING ? mrs_val_text(ns, &n) : "";
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        if (in->kind == MRS_INPUT_DATA && strlen(in->ns) == n && memcmp(in->ns, text, n) == 0) {
            return i;
        }
    }
    return MRSI_NONE;
}

/* FAIL: what is wrong with record `no`, with its place in the file. */
static enum mrs_status
wrong(const struct mrsi_amend *a, uint64_t no, struct mrs_err *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static enum mrs_status
wrong(const struct mrsi_amend *a, uint64_t no, struct mrs_err *e, const char *fmt, ...)
{
    char what[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    uint64_t line = a->lines.n ? ((const uint64_t *)(const void *)a->lines.p)[no - 1] : 0;
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s %llu of the amend file: %s", line ? "line" : "record",
                       (unsigned long long)(line ? line : no), what);
}

/* The number of a step before `step` that changes documents of the namespace; 0: none does. */
static uint32_t
changed_before(const struct mrs_plan *plan, int32_t step, const char *ns)
{
    for (uint32_t i = 0; i < plan->n_steps && (int64_t)plan->steps[i].no < step; i++) {
        const struct mrs_desc *d = &plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            if ((d->sides[k].role & MRS_ROLE_CHANGE) && strcmp(d->sides[k].coll.ns, ns) == 0) {
                return plan->steps[i].no;
            }
        }
    }
    return 0;
}

/* A document that a later step refused is no document of the input: the steps before would change it a second time. */
static enum mrs_status
is_of_input(const struct mrsi_amend *a, struct mrs_view rec, const struct correction *m, struct mrs_err *e)
{
    MRS_ASSERT(m->in_index < mrs_input_count(a->en->in));
    const char *ns = mrs_input_at(a->en->in, m->in_index)->ns;
    struct mrs_val step = mrs_doc_get(rec, "step");
    int32_t no = step.type == MRS_INT32 ? mrs_val_i32(step) : 0;
    uint32_t earlier = changed_before(a->en->plan, no, ns);
    return !earlier ? MRS_OK
                    : wrong(a, m->no, e,
                            "`doc` is as it entered step %d, changed by step %u, which would change it again: correct "
                            "the document of the input, which `mongoreshape cat IN --ns '%.255s' --with-ns` prints",
                            no, earlier, ns);
}

static enum mrs_status
add_record(struct mrsi_amend *a, struct mrs_view rec, uint64_t no, struct mrs_buf *scratch, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(rec));
    struct mrs_val doc = mrs_doc_get(rec, "doc");
    struct correction m = {.in_index = input_of(a->en, mrs_doc_get(rec, "ns")), .no = no};
    if (mrs_doc_has_duplicates(a->en->mem, rec, true)) {
        return wrong(a, no, e, "a name is in it twice");
    }
    if (m.in_index == MRSI_NONE || doc.type != MRS_DOCUMENT) {
        return wrong(a, no, e, "%s", doc.type != MRS_DOCUMENT ? "it has no document `doc`"
                                                              : "its `ns` is no namespace of the input");
    }
    m.doc = mrs_val_view(doc);
    enum mrs_status s = is_of_input(a, rec, &m, e);
    MRS_THEN(s, hash_id(a->en, m.in_index, m.doc, scratch, &m, e));
    if (s != MRS_OK) {
        return s == MRS_END ? wrong(a, no, e, "`doc` has no usable _id") : s;
    }
    mrs_buf_put(&a->list, &m, sizeof m);
    return mrs_buf_status(&a->list, e);
}

/* Skips blanks, and a byte order mark. */
static size_t
skip_blanks(const char *text, size_t n, size_t at, uint64_t *line)
{
    at += at == 0 && n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    for (; at < n && strchr(" \t\r\n", text[at]) && text[at]; at++) {
        *line += text[at] == '\n';
    }
    return at;
}

/* JSON begins with {, possibly after blanks, and has no NUL; BSON has one in its first length (at most 16 MiB). */
static bool
is_json(const char *text, size_t n)
{
    uint64_t line = 0;
    size_t at = skip_blanks(text, n, 0, &line);
    return at < n && text[at] == '{' && !memchr(text, 0, n);
}

/* Converts JSON lines to BSON. Invalid JSON is an error with its line. */
static enum mrs_status
read_json(struct mrsi_amend *a, size_t n, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    uint64_t line = 1;
    for (size_t at = skip_blanks(a->bytes, n, 0, &line); s == MRS_OK && at < n;
         at = skip_blanks(a->bytes, n, at, &line)) {
        struct mrs_err own;
        size_t used = 0;
        mrs_err_clear(&own);
        s = mrs_ejson_read(a->bytes + at, n - at, MRS_EJSON_DATA, &a->records, &used, &own);
        mrs_buf_put(&a->lines, &line, sizeof line);
        if (s == MRS_FAIL && !a->lines.bad) {
            return wrong(a, a->lines.n / sizeof line, e, "%s", own.msg);
        }
        if (s != MRS_OK) {
            *e = own;
        }
        MRS_THEN(s, mrs_buf_status(&a->lines, e));
        for (size_t end = at + used; s == MRS_OK && at < end;) {
            uint32_t len = mrs_utf8_length((const uint8_t *)a->bytes + at, end - at);
            line += a->bytes[at] == '\n';
            at += len;
            s = len ? s
                    : wrong(a, a->lines.n / sizeof line, e, "a text that is not UTF-8: save the file in that encoding, "
                                                            "or correct the BSON file of refused documents");
        }
    }
    return s;
}

static enum mrs_status
add_records(struct mrsi_amend *a, const uint8_t *bytes, size_t n, struct mrs_err *e)
{
    struct mrs_buf scratch;
    enum mrs_status s = MRS_OK;
    uint64_t no = 0;
    mrs_buf_init(&scratch, a->en->mem, MRS_KEY_MAX);
    for (size_t at = 0; s == MRS_OK && at < n; no++) {
        const uint8_t *p = bytes + at;
        uint32_t len = n - at >= MRS_DOC_MIN ? mrs_le32(p) : 0;
        struct mrs_view rec = {p, len};
        s = len >= MRS_DOC_MIN && len <= n - at
                ? mrs_doc_check(p, len, MRS_DEPTH_READ, e)
                : wrong(a, no + 1, e,
                        "neither a line of Extended JSON, {\"ns\": ..., \"doc\": ...}, nor such a document of BSON");
        if (s == MRS_OK) {
            s = add_record(a, rec, no + 1, &scratch, e);
        } else if (e) {
            e->code = MRS_E_PLAN;
        }
        at += len;
    }
    mrs_buf_clear(&scratch);
    return s;
}

static enum mrs_status
none_twice(struct mrsi_amend *a, struct mrs_err *e)
{
    struct correction *m = (struct correction *)(void *)a->list.p;
    size_t n = a->list.n / sizeof *m;
    if (n > 1) {
        qsort(m, n, sizeof *m, by_hash);
    }
    for (size_t i = 1; i < n; i++) {
        if (by_hash(&m[i - 1], &m[i]) == 0) {
            char id[120];
            uint64_t later = m[i - 1].no > m[i].no ? m[i - 1].no : m[i].no;
            return wrong(a, later, e, "it corrects the document with _id %s of %s, as another record does",
                         mrs_val_picture(mrs_doc_get(m[i].doc, "_id"), id, sizeof id),
                         mrs_input_at(a->en->in, m[i].in_index)->ns);
        }
    }
    return MRS_OK;
}

/* Does a conversion to JSON and back give the same document as the one that m corrects? */
static enum mrs_status
fits_json(const struct mrsi_amend *a, const struct correction *m, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_buf text, back;
    size_t used;
    mrs_buf_init(&text, a->en->mem, SIZE_MAX);
    mrs_buf_init(&back, a->en->mem, SIZE_MAX);
    mrs_ejson_write(doc, true, &text);
    enum mrs_status s = mrs_buf_status(&text, e);
    MRS_THEN(s, mrs_ejson_read((const char *)text.p, text.n, MRS_EJSON_DATA, &back, &used, NULL));
    if (s == MRS_DEAD) {
        s = mrs_err_memory(e, text.n);
    } else if (s != MRS_OK || back.n != doc.n || memcmp(back.p, doc.p, doc.n) != 0) {
        s = wrong(a, m->no, e,
                  "it corrects a document of %s that JSON cannot hold as it is (text that is not UTF-8, a document "
                  "like { $oid: ... }, or a rare value): correct it in the BSON file of refused documents",
                  mrs_input_at(a->en->in, m->in_index)->ns);
    }
    mrs_buf_clear(&text);
    mrs_buf_clear(&back);
    return s;
}

static bool
is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at++) {
        if (at - list >= 2 && memcmp(at - 2, ", ", 2) == 0 && (!at[n] || at[n] == ',')) {
            return true;
        }
    }
    return false;
}

/* Lists the fields of `doc` that `other` does not have, or with another value. */
static void
list_fields(struct amended *x, struct mrs_view doc, struct mrs_view other)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_val v = mrs_doc_get(other, el.name);
        size_t n = strlen(x->fields);
        bool same = v.type == el.v.type && v.n == el.v.n && memcmp(v.p, el.v.p, v.n) == 0;
        if (!same && n + el.name_len + 3 < sizeof x->fields && !is_listed(x->fields, el.name)) {
            snprintf(x->fields + n, sizeof x->fields - n, ", %s", el.name);
        }
    }
}

static enum mrs_status
count_one(struct mrsi_amend *a, uint32_t in_index, struct mrs_view doc, struct mrs_buf *scratch, struct mrs_err *e)
{
    struct correction key;
    enum mrs_status s = hash_id(a->en, in_index, doc, scratch, &key, e);
    struct correction *m = s == MRS_OK ? find(a, &key) : NULL;
    if (m) {
        m->found++;
        a->of[in_index].docs++;
        list_fields(&a->of[in_index], m->doc, doc);
        list_fields(&a->of[in_index], doc, m->doc);
        s = a->records.n ? fits_json(a, m, doc, e) : MRS_OK;
    }
    return s == MRS_END ? MRS_OK : s;
}

/* Counts the occurrences of each corrected document in one namespace. */
static enum mrs_status
count_found(struct mrsi_amend *a, uint32_t in_index, struct mrs_err *e)
{
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    struct mrs_buf scratch;
    mrs_block_init(&b, a->en->mem);
    mrs_buf_init(&scratch, a->en->mem, MRS_KEY_MAX);
    enum mrs_status s = mrs_reader_open(a->en->in, in_index, MRSI_BLOCK, &r, e);
    while (s == MRS_OK && (s = mrs_reader_next(r, &b, e)) == MRS_OK) {
        uint64_t no = b.first_doc;
        for (size_t at = 0; s == MRS_OK && at < b.n; at += mrs_le32(b.p + at), no++) {
            struct mrs_view doc = {b.p + at, mrs_le32(b.p + at)};
            s = mrsi_check_input(mrs_input_at(a->en->in, in_index), doc, no, b.off + at, e);
            MRS_THEN(s, count_one(a, in_index, doc, &scratch, e));
        }
    }
    mrs_reader_close(r);
    mrs_buf_clear(&scratch);
    mrs_block_clear(&b);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
all_there_once(struct mrsi_amend *a, struct mrs_err *e)
{
    const struct correction *m = (const struct correction *)(const void *)a->list.p;
    size_t n = a->list.n / sizeof *m;
    for (uint32_t i = 0; i < mrs_input_count(a->en->in); i++) {
        enum mrs_status s =
            mrsi_amend_touches(a, i) && mrs_input_at(a->en->in, i)->data_path ? count_found(a, i, e) : MRS_OK;
        if (s != MRS_OK) {
            return s;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (m[i].found != 1) {
            char id[120];
            return wrong(a, m[i].no, e, "%s has %s with the _id %s", mrs_input_at(a->en->in, m[i].in_index)->ns,
                         m[i].found ? "several documents" : "no document",
                         mrs_val_picture(mrs_doc_get(m[i].doc, "_id"), id, sizeof id));
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_amend_load(struct mrsi_engine *en, const char *path, struct mrsi_amend **out, struct mrs_err *e)
{
    size_t n = 0;
    struct mrsi_amend *a = mrs_zalloc(en->mem, sizeof *a);
    *out = NULL;
    MRS_TRY(mrs_allocated(a, sizeof *a, e));
    a->en = en;
    a->of = mrs_zalloc(en->mem, (mrs_input_count(en->in) + 1) * sizeof *a->of);
    mrs_buf_init(&a->list, en->mem, SIZE_MAX);
    mrs_buf_init(&a->records, en->mem, en->memory / 2);
    mrs_buf_init(&a->lines, en->mem, SIZE_MAX);
    enum mrs_status s = mrs_allocated(a->of, sizeof *a->of, e);
    MRS_THEN(s, mrs_file_read(en->mem, path, en->memory / 2, &a->bytes, &n, e));
    if (s == MRS_OK && is_json(a->bytes, n)) {
        s = read_json(a, n, e);
        MRS_THEN(s, add_records(a, a->records.p, a->records.n, e));
    } else {
        MRS_THEN(s, add_records(a, (const uint8_t *)a->bytes, n, e));
    }
    MRS_THEN(s, none_twice(a, e));
    MRS_THEN(s, all_there_once(a, e));
    if (s != MRS_OK) {
        if (e && !e->ns[0] && e->code == MRS_E_PLAN) {
            snprintf(e->ns, sizeof e->ns, "%.255s", path);
        }
        mrsi_amend_free(a);
        return s;
    }
    *out = a;
    return MRS_OK;
}

void
mrsi_amend_free(struct mrsi_amend *a)
{
    if (a) {
        mrs_buf_clear(&a->list);
        mrs_buf_clear(&a->records);
        mrs_buf_clear(&a->lines);
        mrs_free(a->en->mem, a->bytes);
        mrs_free(a->en->mem, a->of);
        mrs_free(a->en->mem, a);
    }
}

bool
mrsi_amend_touches(const struct mrsi_amend *a, uint32_t in_index)
{
    const struct correction *m = a ? (const struct correction *)(const void *)a->list.p : NULL;
    size_t n = a ? a->list.n / sizeof *m : 0;
    for (size_t i = 0; i < n; i++) {
        if (m[i].in_index == in_index) {
            return true;
        }
    }
    return false;
}

bool
mrsi_amend_line(const struct mrsi_amend *a, uint32_t in_index, char *line, size_t size)
{
    const struct amended *x = a ? &a->of[in_index] : NULL;
    if (!x || !x->docs) {
        return false;
    }
    snprintf(line, size, "--amend replaced %llu document%s of %.255s; fields that differ from the input: %s",
             (unsigned long long)x->docs, x->docs == 1 ? "" : "s", mrs_input_at(a->en->in, in_index)->ns,
             *x->fields ? x->fields + 2 : "none");
    return true;
}

enum mrs_status
mrsi_amend_doc(const struct mrsi_amend *a, uint32_t in_index, struct mrsi_worker *w, struct mrs_view *doc,
               struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(*doc));
    struct correction key;
    enum mrs_status s = hash_id(a->en, in_index, *doc, &w->scratch, &key, e);
    const struct correction *m = s == MRS_OK ? find(a, &key) : NULL;
    if (m) {
        *doc = m->doc;
    }
    return s == MRS_END ? MRS_OK : s;
}
