/* SPDX-License-Identifier: Apache-2.0 */
/* mongosh_text.c - prints collections, documents and stages as lines for mongosh. */
#include "mongosh_text.h"

#include "mongoreshape/ejson.h"

/* What a shell makes of a document. */
struct shell_view {
    bool types; /* relaxed Extended JSON would lose a type: 5 is an int there for every number type */
    bool names; /* JavaScript puts names that are whole numbers before all others, and has no field __proto__ */
};
struct shell_level {
    struct mrs_walk walk;
    bool array, named; /* named: a name was no number */
    uint64_t last;     /* the last one that was, plus one */
};

/* The number that JavaScript takes a name for, plus one; 0: none. */
static uint64_t
whole_number(const char *name, uint32_t n)
{
    uint64_t value = 0;
    bool good = n > 0 && n <= 10 && (n == 1 || name[0] != '0');
    for (uint32_t i = 0; i < n && good; i++) {
        good = name[i] >= '0' && name[i] <= '9';
        value = value * 10 + (uint64_t)(name[i] - '0');
    }
    return good && value < UINT32_MAX ? value + 1 : 0;
}

static void
look_at_name(struct shell_level *l, const struct mrs_elem *el, struct shell_view *v)
{
    uint64_t number = whole_number(el->name, el->name_len);
    v->names = v->names || (number ? l->named || number < l->last : strcmp(el->name, "__proto__") == 0);
    l->named = l->named || !number;
    l->last = number ? number : l->last;
}

static struct shell_view
look_at(struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct shell_level at[MRS_DEPTH_MAX];
    struct shell_view v = {false, false};
    struct mrs_elem el;
    int depth = 1;
    at[0] = (struct shell_level){.array = false};
    mrs_walk_init(&at[0].walk, d);
    while (depth > 0) {
        struct shell_level *l = &at[depth - 1];
        if (mrs_walk_next(&l->walk, &el) != 1) {
            depth--;
            continue;
        }
        if (!l->array) {
            look_at_name(l, &el, &v);
        }
        v.types = v.types || el.v.type == MRS_INT64 || el.v.type == MRS_DOUBLE || depth == MRS_DEPTH_MAX;
        if ((el.v.type == MRS_DOCUMENT || el.v.type == MRS_ARRAY) && depth < MRS_DEPTH_MAX) {
            at[depth] = (struct shell_level){.array = el.v.type == MRS_ARRAY};
            mrs_walk_init(&at[depth++].walk, mrs_val_view(el.v));
        }
    }
    return v;
}

void
mrsi_shell_doc(struct mrs_buf *out, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    static const char warning[] = "/* not in a shell: JavaScript puts names that are whole numbers first, and has no "
                                  "field __proto__; use --json, or mongoreshape-live */ ";
    struct shell_view v = look_at(d);
    mrs_buf_printf(out, "%sEJSON.deserialize(", v.names ? warning : "");
    mrs_ejson_write(d, v.types, out);
    mrs_buf_printf(out, v.types ? ", { relaxed: false })" : ")"); /* else it makes numbers of them again */
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
