/* SPDX-License-Identifier: Apache-2.0 */
/* mongosh_text.c - prints collections, documents and stages as lines for mongosh. */
#include "mongosh_text.h"

#include "mongoreshape/ejson.h"

/* Would relaxed Extended JSON lose a type? A shell reads 5 as an int for every number type. */
static bool
needs_types(struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_walk at[MRS_DEPTH_MAX];
    struct mrs_elem el;
    int depth = 1;
    mrs_walk_init(&at[0], d);
    while (depth > 0) {
        if (mrs_walk_next(&at[depth - 1], &el) != 1) {
            depth--;
        } else if (el.v.type == MRS_INT64 || el.v.type == MRS_DOUBLE) {
            return true;
        } else if (el.v.type == MRS_DOCUMENT || el.v.type == MRS_ARRAY) {
            if (depth == MRS_DEPTH_MAX) {
                return true;
            }
            mrs_walk_init(&at[depth++], mrs_val_view(el.v));
        }
    }
    return false;
}

void
mrsi_shell_doc(struct mrs_buf *out, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool types = needs_types(d);
    mrs_buf_put(out, "EJSON.deserialize(", 18);
    mrs_ejson_write(d, types, out);
    mrs_buf_printf(out, types ? ", { relaxed: false })" : ")"); /* else it makes numbers of them again */
}

static void
put_quoted(struct mrs_buf *out, const char *text)
{
    mrs_buf_byte(out, '"');
    for (const char *p = text; *p; p++) {
        bool control = (uint8_t)*p < 0x20 || *p == 0x7f;
        mrs_buf_printf(out, control ? "\\x%02x" : *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    }
    mrs_buf_byte(out, '"');
}

void
mrsi_shell_coll(struct mrs_buf *out, const struct mrs_coll *c, const char *call)
{
    MRS_ASSERT(c->coll && call);
    mrs_buf_put(out, "db.getSiblingDB(", 16);
    put_quoted(out, c->db);
    mrs_buf_put(out, ").getCollection(", 16);
    put_quoted(out, c->coll);
    mrs_buf_printf(out, ").%s(", call);
}

void
mrsi_shell_stages(struct mrs_buf *out, struct mrs_view pipeline, const char *end)
{
    MRS_ASSERT(mrs_view_is_framed(pipeline) && end);
    struct mrs_walk w;
    struct mrs_elem el;
    const char *comma = "";
    mrs_buf_put(out, "[", 1);
    mrs_walk_init(&w, pipeline);
    while (mrs_walk_next(&w, &el) == 1) {
        mrs_buf_printf(out, "%s\n  ", comma);
        mrsi_shell_doc(out, mrs_val_view(el.v));
        comma = ",";
    }
    mrs_buf_printf(out, "\n]%s", end);
}
