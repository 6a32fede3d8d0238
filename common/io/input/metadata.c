/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.c - X.metadata.json: reads, parses, and checks it for the assumptions of the rest of the program.
 *
 * An empty file means "no metadata", as in mongorestore. Anything that is not one JSON object is an error that names
 * the file, because mongorestore would fail there as well. Unknown keys stay. The document is used as BSON; a copy
 * reads the bytes of the file again, so that they stay unchanged. */
#include "input.h"
#include "mongoreshape/ejson.h"

#define READ_ROOM (64u << 10) /* what mrsi_read_decoded reads per step beyond the end */

static bool
blank(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r') {
            return false;
        }
    }
    return true;
}

static enum mrs_status
check_key(struct mrs_view doc, const char *key, uint8_t type, const char *name, struct mrs_err *e)
{
    struct mrs_val v = mrs_doc_get(doc, key);
    if (v.type == type || v.type == MRS_MISSING || v.type == MRS_NULL) {
        return MRS_OK;
    }
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: \"%s\" is %s, it must be %s", name, key,
                     mrs_type_name(v.type), mrs_type_name(type));
}

static enum mrs_status
check_indexes(struct mrs_view doc, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val v = mrs_doc_get(doc, "indexes");
    struct mrs_walk w;
    struct mrs_elem elem;
    if (v.type != MRS_ARRAY) {
        return MRS_OK;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &elem) > 0) {
        if (elem.v.type != MRS_DOCUMENT) {
            return MRSI_FAIL(e, MRS_E_FORMAT, "%s: index %s is %s, it must be an object", name,
                             elem.name, mrs_type_name(elem.v.type));
        }
        struct mrs_val key = mrs_doc_get(mrs_val_view(elem.v), "key");
        if (key.type != MRS_DOCUMENT) {
            return MRSI_FAIL(e, MRS_E_FORMAT, "%s: index %s has no \"key\" object", name,
                             elem.name);
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_metadata_parse(struct mrs_buf *scratch, const char *text, size_t n, const char *name,
                    struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(text || n == 0);
    struct mrs_err own;
    size_t used = 0;
    *doc = mrs_empty_doc();
    if (n == 0) {
        return MRS_OK;
    }
    mrs_err_clear(&own);
    mrs_buf_reset(scratch);
    enum mrs_status s = mrs_ejson_read(text, n, MRS_EJSON_DATA, scratch, &used, &own);
    if (s == MRS_DEAD) {
        return mrs_err_memory(e, n);
    }
    if (s == MRS_OK && !blank(text + used, n - used)) {
        s = mrs_err_set(&own, MRS_FAIL, MRS_E_FORMAT, "other text after the object");
        own.byte_off = used;
    }
    if (s != MRS_OK) {
        if (e && e->code == MRS_E_NONE) {
            e->byte_off = own.byte_off;
        }
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s: not the JSON that mongodump writes: %s", name,
                         own.msg);
    }
    doc->p = scratch->p;
    doc->n = (uint32_t)scratch->n;
    s = check_key(*doc, "options", MRS_DOCUMENT, name, e);
    MRS_THEN(s, check_key(*doc, "indexes", MRS_ARRAY, name, e));
    MRS_THEN(s, check_key(*doc, "collectionName", MRS_STRING, name, e));
    MRS_THEN(s, check_key(*doc, "type", MRS_STRING, name, e));
    return s == MRS_OK ? check_indexes(*doc, name, e) : s;
}

enum mrs_status
mrsi_metadata_load(struct mrs_mem *mem, struct mrs_arena *a, const char *path, const struct mrsi_src_extents *place,
                   struct mrs_view *doc, struct mrs_err *e)
{
    struct mrs_buf text, bson;
    struct mrs_view parsed;
    mrs_buf_init(&text, mem, MRS_METADATA_MAX + READ_ROOM);
    mrs_buf_init(&bson, mem, MRS_METADATA_MAX);
    enum mrs_status s = mrsi_read_decoded(mem, path, place, &text, e);
    MRS_THEN(s, mrsi_metadata_parse(&bson, (const char *)text.p, text.n, path, &parsed, e));
    if (s == MRS_OK && parsed.n == 5) {
        *doc = mrs_empty_doc();
    } else if (s == MRS_OK) {
        doc->n = parsed.n;
        doc->p = mrs_arena_copy(a, parsed.p, parsed.n);
        s = mrs_allocated(doc->p, parsed.n, e);
    }
    mrs_buf_clear(&text);
    mrs_buf_clear(&bson);
    return s;
}

enum mrs_status
mrs_input_metadata_text(struct mrs_input *in, uint32_t i, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(i < mrs_input_count(in));
    const struct mrs_input_ns *ns = &in->list[i];
    return ns->meta_path ? mrsi_read_decoded(in->mem, ns->meta_path, ns->meta_place, out, e) : MRS_OK;
}

enum mrs_status
mrsi_metadata_coll(struct mrs_arena *a, struct mrs_view doc, const char *path, const char **coll,
                   struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val v = mrs_doc_get(doc, "collectionName");
    *coll = NULL;
    if (v.type != MRS_STRING) {
        return MRS_OK;
    }
    uint32_t n;
    const char *text = mrs_val_text(v, &n);
    if (n == 0 || memchr(text, 0, n)) {
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s: \"collectionName\" is empty or holds a NUL", path);
    }
    *coll = mrs_arena_copy(a, text, n + 1);
    return *coll ? MRS_OK : mrs_err_memory(e, n);
}
