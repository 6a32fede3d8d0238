/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_text.c - prints the pipelines of a plan: lines for mongosh, or one JSON object. */
#include "mongoreshape/build.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/pipeline.h"
#include "mongosh_text.h"

/* Strings are compared as the tool does, whatever the collation of the collection. A pipeline in place follows the
 * index of `_id`, which no write of it changes: in another index it could meet a document again that it has moved. */
#define SIMPLE "collation: { locale: \"simple\" }"
#define IN_PLACE "{ " SIMPLE ", hint: { _id: 1 } }"

/* ---- for mongosh ---- */
static void
put_counts(struct mrs_buf *out, const struct mrs_lowered *l)
{
    MRS_ASSERT(l->n_counts <= MRS_LOWERED_PARTS);
    for (uint32_t i = 0; i < l->n_counts; i++) {
        const struct mrs_lowered_count *c = &l->count[i];
        mrs_buf_printf(out, "// must be 0, else the client does them: %s\n", c->why);
        if (c->filter.n) {
            mrsi_shell_coll(out, c->on, "countDocuments");
            mrsi_shell_doc(out, c->filter);
            mrs_buf_say(out, ", { " SIMPLE " })\n");
        } else {
            mrsi_shell_coll(out, c->on, "aggregate");
            mrsi_shell_stages(out, c->stages, ", { " SIMPLE " }).itcount()\n");
        }
    }
}

static void
put_commands(struct mrs_buf *out, const struct mrs_lowered *l)
{
    MRS_ASSERT(l->n_commands <= MRS_LOWERED_PARTS);
    for (uint32_t i = 0; i < l->n_commands; i++) {
        mrs_buf_printf(out, "db.getSiblingDB(\"%s\").runCommand(", l->command[i].db);
        mrsi_shell_doc(out, l->command[i].doc);
        mrs_buf_put(out, ")\n", 2);
    }
}

static void
put_text(struct mrs_buf *out, const struct mrs_lowered *l)
{
    MRS_ASSERT(l->step);
    mrs_buf_say(out, "// step %u: %s%s%s\n", l->step->no, l->step->type->name, l->reason ? ": no pipeline: " : "",
                l->reason ? l->reason : "");
    put_counts(out, l);
    for (uint32_t i = 0; i < l->n_writes; i++) {
        mrsi_shell_coll(out, l->write[i].on, "aggregate");
        mrsi_shell_stages(out, l->write[i].pipeline, l->write[i].fresh ? ", { " SIMPLE " })\n" : ", " IN_PLACE ")\n");
    }
    for (uint32_t i = 0; i < l->n_removals; i++) {
        const struct mrs_lowered_removal *r = &l->removal[i];
        mrsi_shell_coll(out, r->on, r->filter.n ? "deleteMany" : "aggregate");
        if (r->filter.n) {
            mrsi_shell_doc(out, r->filter);
            mrs_buf_say(out, ", { " SIMPLE " })\n");
        } else {
            mrsi_shell_stages(out, r->stages, ", { " SIMPLE " }).forEach(d => ");
            mrsi_shell_coll(out, r->on, "deleteOne");
            mrs_buf_say(out, "{ _id: d._id }))\n");
        }
    }
    put_commands(out, l);
}

/* ---- for programs ---- */
static void
json_text(struct mrs_build *b, const char *key, const char *text)
{
    mrs_build_text(b, key, text, (uint32_t)strlen(text));
}

static void
begin_part(struct mrs_build *b, const struct mrs_coll *on)
{
    mrs_build_item_open(b, MRS_DOCUMENT);
    json_text(b, "db", on->db);
    json_text(b, "coll", on->coll);
}

static void
put_array(struct mrs_build *b, struct mrs_view stages)
{
    struct mrs_val v = {stages.p, stages.n, stages.n ? MRS_ARRAY : MRS_MISSING};
    mrs_build_val(b, "pipeline", 8, v);
}

/* Ends a part with the options of its call. */
static void
end_part(struct mrs_build *b, bool in_place)
{
    mrs_build_open(b, "options", 7, MRS_DOCUMENT);
    mrs_build_open(b, "collation", 9, MRS_DOCUMENT);
    json_text(b, "locale", "simple");
    mrs_build_close(b);
    if (in_place) {
        mrs_build_open(b, "hint", 4, MRS_DOCUMENT);
        mrs_build_i32(b, "_id", 1);
        mrs_build_close(b);
    }
    mrs_build_close(b);
    mrs_build_close(b);
}

static void
put_filter(struct mrs_build *b, struct mrs_view filter)
{
    mrs_build_val(b, "filter", 6, filter.n ? mrs_view_val(filter) : mrs_missing());
}

static void
put_parts(struct mrs_build *b, const struct mrs_lowered *l)
{
    MRS_ASSERT(l->n_writes <= MRS_LOWERED_PARTS && l->n_removals <= MRS_LOWERED_PARTS);
    mrs_build_open(b, "counts", 6, MRS_ARRAY);
    for (uint32_t i = 0; i < l->n_counts; i++) {
        begin_part(b, l->count[i].on);
        put_filter(b, l->count[i].filter);
        put_array(b, l->count[i].stages);
        json_text(b, "why", l->count[i].why);
        end_part(b, false);
    }
    mrs_build_close(b);
    mrs_build_open(b, "writes", 6, MRS_ARRAY);
    for (uint32_t i = 0; i < l->n_writes; i++) {
        begin_part(b, l->write[i].on);
        put_array(b, l->write[i].pipeline);
        end_part(b, !l->write[i].fresh);
    }
    mrs_build_close(b);
    mrs_build_open(b, "removes", 7, MRS_ARRAY);
    for (uint32_t i = 0; i < l->n_removals; i++) {
        begin_part(b, l->removal[i].on);
        put_filter(b, l->removal[i].filter);
        put_array(b, l->removal[i].stages);
        end_part(b, false);
    }
    mrs_build_close(b);
    mrs_build_open(b, "commands", 8, MRS_ARRAY);
    for (uint32_t i = 0; i < l->n_commands; i++) {
        mrs_build_item_open(b, MRS_DOCUMENT);
        json_text(b, "db", l->command[i].db);
        mrs_build_val(b, "command", 7, mrs_view_val(l->command[i].doc));
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static void
put_json(struct mrs_build *b, const struct mrs_lowered *l)
{
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_i32(b, "step", (int32_t)l->step->no);
    json_text(b, "type", l->step->type->name);
    if (l->reason) {
        json_text(b, "reason", l->reason);
    } else {
        json_text(b, "db", l->on->db);
        json_text(b, "coll", l->on->coll);
        put_parts(b, l);
    }
    mrs_build_close(b);
}

enum mrs_status
mrs_plan_pipeline(const struct mrs_plan *p, bool json, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct mrs_arena arena;
    struct mrs_buf doc;
    struct mrs_build b;
    struct mrs_view d;
    enum mrs_status s = MRS_OK;
    mrs_arena_init(&arena, p->mem);
    mrs_buf_init(&doc, p->mem, 16 * (size_t)MRS_DOC_MAX);
    mrs_build_init(&b, &doc);
    mrs_build_open(&b, "steps", 5, MRS_ARRAY);
    if (p->n_steps == 0 && !json) {
        mrs_buf_say(out, "// the plan has no steps\n");
    }
    for (uint32_t i = 0; i < p->n_steps && s == MRS_OK; i++) {
        struct mrs_lowered l;
        s = mrs_plan_lower(p, i, &arena, &l, e);
        if (s == MRS_OK && json) {
            put_json(&b, &l);
        } else if (s == MRS_OK) {
            put_text(out, &l);
        }
    }
    mrs_build_close(&b);
    MRS_THEN(s, mrs_build_finish(&b, &d, e));
    if (s == MRS_OK && json) {
        mrs_ejson_write(d, true, out);
        mrs_buf_byte(out, '\n');
    }
    MRS_THEN(s, mrs_buf_status(out, e));
    mrs_buf_clear(&doc);
    mrs_arena_clear(&arena);
    return s;
}
