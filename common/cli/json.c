/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - the report of a tool as one JSON object, member by member.
 *
 * A thin layer over the builder of documents, so that the text is Extended JSON like all other output. Failures of
 * memory are recorded and reported once, at the end: an incomplete object is useless. */
#include "mongoreshape/cli.h"
#include "mongoreshape/ejson.h"

#define JSON_MAX ((size_t)1 << 30)

static uint32_t
len(const char *name)
{
    return (uint32_t)strlen(name);
}

void
mrs_cli_json_begin(struct mrs_cli_json *j, struct mrs_mem *mem)
{
    MRS_ASSERT(mem);
    mrs_arena_init(&j->arena, mem);
    mrs_buf_init(&j->buf, mem, JSON_MAX);
    mrs_build_init(&j->b, &j->buf);
}

static void
item(struct mrs_cli_json *j, const char *value)
{
    struct mrs_val v = mrs_make_text(&j->arena, value, len(value));
    if (v.type == MRS_MISSING) {
        j->buf.bad = 1;
    }
    mrs_build_item(&j->b, v);
}

void
mrs_cli_json_text(struct mrs_cli_json *j, const char *name, const char *value)
{
    MRS_ASSERT(name || j->b.depth > 0);
    if (!name) {
        item(j, value ? value : "");
    } else if (value) {
        mrs_build_text(&j->b, name, value, len(value));
    } else {
        mrs_build_null(&j->b, name, len(name));
    }
}

void
mrs_cli_json_count(struct mrs_cli_json *j, const char *name, uint64_t n)
{
    mrs_build_count(&j->b, name, len(name), n);
}

void
mrs_cli_json_bool(struct mrs_cli_json *j, const char *name, bool v)
{
    mrs_build_bool(&j->b, name, v);
}

void
mrs_cli_json_open(struct mrs_cli_json *j, const char *name, uint8_t type)
{
    if (name) {
        mrs_build_open(&j->b, name, len(name), type);
    } else {
        mrs_build_item_open(&j->b, type);
    }
}

void
mrs_cli_json_close(struct mrs_cli_json *j)
{
    MRS_ASSERT(j->b.depth > 0 || j->b.too_deep);
    mrs_build_close(&j->b);
}

void
mrs_cli_json_texts(struct mrs_cli_json *j, const char *name, const char *const *at, uint32_t n)
{
    MRS_ASSERT(at || n == 0);
    mrs_cli_json_open(j, name, MRS_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        item(j, at[i]);
    }
    mrs_cli_json_close(j);
}

void
mrs_cli_json_error(struct mrs_cli_json *j, const char *name, const struct mrs_err *e)
{
    mrs_cli_json_open(j, name, MRS_DOCUMENT);
    mrs_cli_json_text(j, "name", mrs_code_name(e->code));
    mrs_cli_json_text(j, "message", e->msg);
    mrs_cli_json_text(j, "ns", *e->ns ? e->ns : NULL);
    mrs_cli_json_text(j, "where", *e->where ? e->where : NULL);
    if (e->doc_no) {
        mrs_cli_json_count(j, "document", e->doc_no);
    }
    if (e->byte_off != UINT64_MAX) {
        mrs_cli_json_count(j, "offset", e->byte_off);
    }
    mrs_cli_json_close(j);
}

void
mrs_cli_json_take(struct mrs_cli_json *j, struct mrs_buf *out)
{
    MRS_ASSERT(j->b.depth <= 1);
    struct mrs_view doc;
    if (mrs_build_finish(&j->b, &doc, NULL) == MRS_OK) {
        mrs_ejson_write(doc, false, out);
    } else {
        out->bad = 1;
    }
    mrs_buf_clear(&j->buf);
    mrs_arena_clear(&j->arena);
}

bool
mrs_cli_json_end(struct mrs_cli_json *j, FILE *f)
{
    MRS_ASSERT(f);
    struct mrs_buf out;
    mrs_buf_init(&out, j->buf.mem, 2 * JSON_MAX);
    mrs_cli_json_take(j, &out);
    mrs_buf_byte(&out, '\n');
    bool good = !out.bad;
    if (good) {
        fwrite(out.p, 1, out.n, f);
    }
    mrs_buf_clear(&out);
    return good;
}
