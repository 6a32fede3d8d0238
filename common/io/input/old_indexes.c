/* SPDX-License-Identifier: Apache-2.0 */
/* old_indexes.c - the indexes of dumps of servers before 3.0: mongodump wrote those of a whole database into
 * system.indexes.bson, and no metadata files.
 *
 * mongorestore reads that file only if no collection of the database has a metadata file, which every output has. So
 * each collection without one gets its indexes as metadata: {options: {}, indexes: [...]}. As in mongorestore, the
 * database in a namespace is ignored: the folder may have been renamed. The file is read for the collections that are
 * taken, also if the patterns of names do not take it; then it is not in the input. */
#include "dumpdir.h"
#include <stdlib.h>

struct old_indexes_spec { /* a document of system.indexes */
    const char *coll;
    struct mrs_view doc;
};

static int
by_coll(const void *pa, const void *pb)
{
    const struct old_indexes_spec *a = pa, *b = pb;
    int c = strcmp(a->coll, b->coll);
    return c ? c : a->doc.p < b->doc.p ? -1 : a->doc.p > b->doc.p;
}

/* Appends the documents of the file; a document that is no index of a collection is damage. */
static enum mrs_status
list_specs(const struct mrs_input_ns *file, const struct mrs_buf *bytes, struct mrs_buf *list, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < bytes->n;) {
        size_t left = bytes->n - at, n = left >= MRS_DOC_MIN ? mrs_le32(bytes->p + at) : 0;
        struct old_indexes_spec x = {.doc = {bytes->p + at, (uint32_t)n}};
        if (n < MRS_DOC_MIN || n > left) {
            return MRSI_FAIL(e, MRS_E_FORMAT, "%s: byte %zu: the document has %zu of %zu bytes", file->data_path, at,
                             left, n);
        }
        s = mrs_doc_check(x.doc.p, x.doc.n, MRS_DEPTH_READ, e);
        struct mrs_val ns = s == MRS_OK ? mrs_doc_get(x.doc, "ns") : mrs_missing();
        const char *dot = ns.type == MRS_STRING ? strchr((const char *)ns.p + 4, '.') : NULL;
        if (s == MRS_OK && (!dot || mrs_doc_get(x.doc, "key").type != MRS_DOCUMENT)) {
            s = MRSI_FAIL(e, MRS_E_FORMAT, "%s: byte %zu: no index: it lacks the field ns or key", file->data_path, at);
        }
        if (s == MRS_OK) {
            x.coll = dot + 1;
            mrs_buf_put(list, &x, sizeof x);
        }
        at += n;
    }
    return s == MRS_OK ? mrs_buf_status(list, e) : s;
}

/* Makes the metadata of a collection from its indexes in the sorted list. */
static enum mrs_status
put_index(struct mrs_input *in, struct mrs_input_ns *ns, const struct old_indexes_spec *x, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(x || n == 0);
    struct mrs_buf room;
    struct mrs_build b;
    struct mrs_view doc;
    size_t from = 0;
    while (from < n && strcmp(x[from].coll, ns->coll) != 0) {
        from++;
    }
    if (from == n) {
        return MRS_OK;
    }
    mrs_buf_init(&room, in->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &room);
    mrs_build_open(&b, "options", 7, MRS_DOCUMENT);
    mrs_build_close(&b);
    mrs_build_open(&b, "indexes", 7, MRS_ARRAY);
    for (; from < n && strcmp(x[from].coll, ns->coll) == 0; from++) {
        mrs_build_item(&b, mrs_view_val(x[from].doc));
    }
    mrs_build_close(&b);
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    if (s == MRS_OK) {
        ns->metadata = (struct mrs_view){mrs_arena_copy(&in->arena, doc.p, doc.n), doc.n};
        s = mrs_allocated(ns->metadata.p, doc.n, e);
    }
    mrs_buf_clear(&room);
    return s;
}

/* Is it a collection without a metadata file, of the same database? */
static bool
lacks_metadata(const struct mrs_input_ns *ns, const struct mrs_input_ns *file)
{
    return ns->kind == MRS_INPUT_DATA && !ns->meta_path && ns != file && strcmp(ns->db, file->db) == 0;
}

static enum mrs_status
of_database(struct mrs_input *in, const struct mrs_input_ns *file, struct mrs_err *e)
{
    struct mrs_buf bytes, list;
    mrs_buf_init(&bytes, in->mem, MRS_METADATA_MAX);
    mrs_buf_init(&list, in->mem, SIZE_MAX);
    enum mrs_status s = mrsi_read_decoded(in->mem, file->data_path, file->data_place, &bytes, e);
    MRS_THEN(s, list_specs(file, &bytes, &list, e));
    struct old_indexes_spec *x = (struct old_indexes_spec *)(void *)list.p;
    size_t n = list.n / sizeof *x;
    if (s == MRS_OK && n) {
        qsort(x, n, sizeof *x, by_coll);
    }
    for (uint32_t i = 0; s == MRS_OK && i < in->n; i++) {
        if (lacks_metadata(&in->list[i], file)) {
            s = put_index(in, &in->list[i], x, n, e);
        }
    }
    mrs_buf_clear(&list);
    mrs_buf_clear(&bytes);
    return s;
}

enum mrs_status
mrsi_old_indexes(struct mrs_input *in, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < in->n;) {
        struct mrs_input_ns *ns = &in->list[i];
        bool file = ns->kind == MRS_INPUT_DATA && ns->data_path && strcmp(ns->coll, MRSI_OLD_INDEXES) == 0;
        bool needed = false;
        for (uint32_t k = 0; file && k < in->n && !needed; k++) {
            needed = lacks_metadata(&in->list[k], ns);
        }
        s = needed ? of_database(in, ns, e) : MRS_OK;
        if (s == MRS_OK && file && !mrsi_input_takes(in, ns->db, ns->coll, ns->ns)) {
            s = mrsi_input_exclude(in, ns->ns, e);
            memmove(ns, ns + 1, (in->n - i - 1) * sizeof *ns);
            in->n--;
        } else {
            i++;
        }
    }
    return s;
}
