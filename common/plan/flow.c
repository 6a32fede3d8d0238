/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c - writes values as YAML that our loader reads back to the same bytes: flow style on one line, typed values as
 * Extended JSON.
 *
 * No recursion: open containers are on a stack as deep as documents may be. */
#include "plan_internal.h"
#include "mongoreshape/ejson.h"

static void
scalar(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    uint32_t n;
    const char *text;
    switch (v.type) {
    case MRS_STRING:
        text = mrs_val_text(v, &n);
        mrs_yaml_text(out, text, n);
        break;
    case MRS_INT32: mrs_buf_printf(out, "%d", mrs_val_i32(v)); break;
    case MRS_INT64:
        if (mrs_val_i64(v) == (int32_t)mrs_val_i64(v)) {
            mrs_buf_printf(out, "{$numberLong: \"%lld\"}", (long long)mrs_val_i64(v));
        } else {
            mrs_buf_printf(out, "%lld", (long long)mrs_val_i64(v));
        }
        break;
    case MRS_BOOL: mrs_buf_printf(out, "%s", *v.p ? "true" : "false"); break;
    case MRS_NULL: mrs_buf_printf(out, "null"); break;
    default: mrs_ejson_write_val(v, true, out); break;
    }
}

void
mrsi_flow_val(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct {
        struct mrs_walk w;
        bool map, any;
    } at[MRS_DEPTH_MAX];
    int depth = 0;
    struct mrs_elem e = {.v = v};
    for (;;) {
        bool nested = e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY;
        if (nested && depth < MRS_DEPTH_MAX) {
            at[depth].map = e.v.type == MRS_DOCUMENT;
            at[depth].any = false;
            mrs_walk_init(&at[depth].w, mrs_val_view(e.v));
            mrs_buf_byte(out, at[depth++].map ? '{' : '[');
        } else {
            scalar(out, e.v);
        }
        while (depth && mrs_walk_next(&at[depth - 1].w, &e) != 1) {
            depth--;
            mrs_buf_byte(out, at[depth].map ? '}' : ']');
        }
        if (!depth) {
            return;
        }
        if (at[depth - 1].any) {
            mrs_buf_put(out, ", ", 2);
        }
        at[depth - 1].any = true;
        if (at[depth - 1].map) {
            mrs_yaml_text(out, e.name, e.name_len);
            mrs_buf_put(out, ": ", 2);
        }
    }
}
