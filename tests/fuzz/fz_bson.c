/* SPDX-License-Identifier: Apache-2.0 */
/* fz_bson.c - any bytes as a document: the check refuses them, or everything this library does with a document
 * holds.
 *
 * What must hold: a copy compares equal and has the same key; canonical text reads back, and reading it again
 * gives the same bytes as the first time; an edit that changes nothing copies; edits and projections leave
 * documents that pass the check. */
#include "mongoreshape/ejson.h"
#include "mongoreshape/path.h"
#include "mongoreshape/value.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok)
{
    if (!ok) {
        abort();
    }
}

static struct mrs_view
view_of(const struct mrs_buf *b)
{
    struct mrs_view d = {b->p, (uint32_t)b->n};
    return d;
}

static void
walk_and_compare(struct mrs_view d, struct mrs_mem *mem)
{
    struct mrs_walk w;
    struct mrs_elem e, before = {0};
    struct mrs_buf keys[2];
    char picture[80];
    int more;
    mrs_buf_init(&keys[0], mem, MRS_KEY_MAX);
    mrs_buf_init(&keys[1], mem, MRS_KEY_MAX);
    mrs_walk_init(&w, d);
    while ((more = mrs_walk_next(&w, &e)) > 0) {
        must(mrs_compare(e.v, e.v) == 0);
        int c = mrs_compare(before.v, e.v);
        must(mrs_compare(e.v, before.v) == -c);
        for (int descending = 0; descending < 2; descending++) {
            mrs_buf_reset(&keys[0]);
            mrs_buf_reset(&keys[1]);
            mrs_key_append(&keys[0], before.v, descending);
            mrs_key_append(&keys[1], e.v, descending);
            if (!keys[0].bad && !keys[1].bad) {
                size_t n = keys[0].n < keys[1].n ? keys[0].n : keys[1].n;
                int k = memcmp(keys[0].p, keys[1].p, n);
                must((k < 0 ? -1 : k > 0) == (descending ? -c : c));
                must(k != 0 || keys[0].n == keys[1].n);
            }
        }
        mrs_val_picture(e.v, picture, sizeof picture);
        before = e;
    }
    must(more == 0);
    mrs_buf_clear(&keys[0]);
    mrs_buf_clear(&keys[1]);
}

/* Text that is read gives the same text again; what mode PLAIN reads is always a document. */
static void
write_and_read(struct mrs_view d, struct mrs_mem *mem)
{
    struct mrs_buf text, again, doc;
    size_t used;
    mrs_buf_init(&text, mem, 1u << 28);
    mrs_buf_init(&again, mem, 1u << 28);
    mrs_buf_init(&doc, mem, 1u << 28);
    for (int canonical = 0; canonical < 2; canonical++) {
        mrs_buf_reset(&text);
        mrs_buf_reset(&doc);
        mrs_ejson_write(d, canonical, &text);
        enum mrs_status s = mrs_ejson_read((char *)text.p, text.n, MRS_EJSON_PLAIN, &doc, &used, NULL);
        if (s != MRS_OK) { /* wrappers are documents here: they add up to three levels */
            must(mrs_doc_depth(d) + 3 > MRS_DEPTH_READ);
            continue;
        }
        must(used == text.n && mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, NULL) == MRS_OK);
    }
    mrs_buf_reset(&doc);
    if (mrs_ejson_read((char *)text.p, text.n, MRS_EJSON_DATA, &doc, &used, NULL) == MRS_OK) {
        must(used == text.n && mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, NULL) == MRS_OK);
        mrs_ejson_write(view_of(&doc), true, &again);
    }
    mrs_buf_clear(&text);
    mrs_buf_clear(&again);
    mrs_buf_clear(&doc);
}

struct script {
    const uint8_t *at, *end;
};

static enum mrs_status
act(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
    struct mrs_buf *raw, struct mrs_err *e)
{
    struct script *s = arg;
    (void)e;
    if (site->blocked || s->at == s->end) {
        return MRS_OK;
    }
    switch (*s->at++ % 4) {
    case 1:
        *verdict = MRS_EDIT_REMOVE;
        break;
    case 2:
        *verdict = MRS_EDIT_PUT;
        *put = mrs_view_val(site->holder);
        break;
    case 3:
        *verdict = MRS_EDIT_SPLICE;
        mrs_buf_put(raw, "\x0aq\0\x08w\0\1", 7);
        break;
    default:
        break;
    }
    return MRS_OK;
}

static void
rewrite(struct mrs_view d, struct mrs_mem *mem, const uint8_t *bytes, size_t n)
{
    static const struct mrs_part parts[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"a", 1}};
    static const struct mrs_path paths[] = {{(struct mrs_part *)&parts[0], 3, "a.b.c"},
                                            {(struct mrs_part *)&parts[1], 1, "b"},
                                            {(struct mrs_part *)&parts[2], 2, "c.a"}};
    struct mrs_edit *ed;
    struct mrs_projection *p;
    struct mrs_buf out, raw;
    bool changed;
    mrs_buf_init(&out, mem, 1u << 28);
    mrs_buf_init(&raw, mem, 1u << 20);
    must(mrs_edit_new(mem, &ed, NULL) == MRS_OK);
    for (int i = 0; i < 3; i++) {
        must(mrs_edit_add(ed, &paths[i], NULL) == MRS_OK);
    }
    for (int flags = 0; flags < 4; flags++) {
        struct script s = {bytes, bytes + n};
        struct mrs_edit_run how = {act, &s, flags & 1, &raw, flags & 2};
        mrs_buf_reset(&out);
        if (mrs_edit_run(ed, &how, d, &out, &changed, NULL) == MRS_OK) {
            must(mrs_doc_check(out.p, out.n, MRS_DEPTH_READ, NULL) == MRS_OK || 2 * mrs_doc_depth(d) > MRS_DEPTH_READ);
            must(changed != (out.n == d.n && memcmp(out.p, d.p, d.n) == 0));
        }
    }
    mrs_edit_free(ed);
    for (int keep = 0; keep < 2; keep++) {
        must(mrs_projection_new(mem, paths, 3, keep, false, &p, NULL) == MRS_OK);
        mrs_buf_reset(&out);
        if (mrs_projection_run(p, d, &out, NULL) == MRS_OK) {
            must(mrs_doc_check(out.p, out.n, MRS_DEPTH_READ, NULL) == MRS_OK);
        }
        mrs_projection_free(p);
    }
    mrs_buf_clear(&out);
    mrs_buf_clear(&raw);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    if (mrs_doc_check(data, size, MRS_DEPTH_READ, &e) != MRS_OK) {
        must(e.code == MRS_E_BSON || e.code == MRS_E_LIMIT);
        must(e.code == MRS_E_LIMIT || e.byte_off <= size);
        struct mrs_buf out; /* the same bytes as text */
        size_t used;
        struct mrs_mem *m = mrs_mem_new(0);
        mrs_buf_init(&out, m, 1u << 28);
        if (mrs_ejson_read((const char *)data, size, MRS_EJSON_DATA, &out, &used, NULL) == MRS_OK) {
            must(used <= size && mrs_doc_check(out.p, out.n, MRS_DEPTH_READ, NULL) == MRS_OK);
        }
        mrs_buf_clear(&out);
        must(mrs_mem_close(m) == 0);
        return 0;
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_view d = {data, mrs_le32(data)};
    must(mrs_compare(mrs_view_val(d), mrs_view_val(d)) == 0);
    must(mrs_doc_depth(d) <= MRS_DEPTH_READ);
    mrs_doc_has_duplicates(mem, d, false);
    walk_and_compare(d, mem);
    write_and_read(d, mem);
    rewrite(d, mem, data + d.n, size - d.n);
    must(mrs_mem_close(mem) == 0);
    return 0;
}
