/* SPDX-License-Identifier: Apache-2.0 */
/* from_bson.c - converts a plan in BSON to text for the loader.
 *
 * So there is one loader, with one set of messages. Each key of the plan and of each step begins a line; the path for a
 * line is found by writing the document again in the same order. */
#include "plan_internal.h"

/* Position of the writer. If a line is searched, only the path for it is written. */
struct from_bson {
    struct mrs_buf *out;
    uint32_t line, target_line; /* target_line 0: write the text */
};

/* Starts a new line for this path: top.i.step.key, or a part of it. */
static void
begin_line(struct from_bson *f, const char *before, const char *top, int64_t i, const struct mrs_elem *step,
           const struct mrs_elem *key)
{
    f->line++;
    if (!f->target_line) {
        mrs_buf_printf(f->out, "%s\n", before);
    } else if (f->line == f->target_line) {
        mrs_buf_say(f->out, "%s", top);
        if (i >= 0) {
            mrs_buf_printf(f->out, ".%lld", (long long)i);
        }
        if (step) {
            mrs_buf_say(f->out, ".%s", step->name);
        }
        if (key) {
            mrs_buf_say(f->out, ".%s", key->name);
        }
    }
}

static void
put(struct from_bson *f, const char *text)
{
    if (!f->target_line) {
        mrs_buf_put(f->out, text, strlen(text));
    }
}

static void
put_name(struct from_bson *f, const struct mrs_elem *e)
{
    if (!f->target_line) {
        mrs_yaml_text(f->out, e->name, e->name_len);
        mrs_buf_put(f->out, ": ", 2);
    }
}

static void
put_val(struct from_bson *f, struct mrs_val v)
{
    if (!f->target_line) {
        mrsi_flow_val(f->out, v);
    }
}

/* {step: {key: value, ...}} */
static void
write_step(struct from_bson *f, const char *top, int64_t i, struct mrs_view entry)
{
    MRS_ASSERT(mrs_view_is_framed(entry));
    struct mrs_walk steps, keys;
    struct mrs_elem step, key;
    const char *comma = "{";
    mrs_walk_init(&steps, entry);
    while (mrs_walk_next(&steps, &step) == 1) {
        begin_line(f, comma, top, i, &step, NULL);
        put_name(f, &step);
        comma = ",";
        if (step.v.type != MRS_DOCUMENT) {
            put_val(f, step.v);
            continue;
        }
        const char *inner = "{";
        mrs_walk_init(&keys, mrs_val_view(step.v));
        while (mrs_walk_next(&keys, &key) == 1) {
            begin_line(f, inner, top, i, &step, &key);
            put_name(f, &key);
            put_val(f, key.v);
            inner = ",";
        }
        put(f, *inner == '{' ? "{}" : "}");
    }
    put(f, *comma == '{' ? "{}" : "}");
}

static void
write_steps(struct from_bson *f, const char *top, struct mrs_val list)
{
    MRS_ASSERT(list.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem e;
    const char *comma = "[";
    int64_t i = 0;
    mrs_walk_init(&w, mrs_val_view(list));
    while (mrs_walk_next(&w, &e) == 1) {
        begin_line(f, comma, top, i, NULL, NULL);
        if (e.v.type == MRS_DOCUMENT) {
            write_step(f, top, i, mrs_val_view(e.v));
        } else {
            put_val(f, e.v);
        }
        comma = ",";
        i++;
    }
    put(f, *comma == '[' ? "[]" : "]");
}

static void
write_plan(struct from_bson *f, struct mrs_view plan)
{
    MRS_ASSERT(mrs_view_is_framed(plan));
    struct mrs_walk w;
    struct mrs_elem e;
    const char *comma = "{";
    f->line = 1;
    mrs_walk_init(&w, plan);
    while (mrs_walk_next(&w, &e) == 1) {
        begin_line(f, comma, e.name, -1, NULL, NULL);
        put_name(f, &e);
        if (e.v.type == MRS_ARRAY) {
            write_steps(f, e.name, e.v);
        } else {
            put_val(f, e.v);
        }
        comma = ",";
    }
    put(f, *comma == '{' ? "{}" : "}");
}

enum mrs_status
mrs_plan_text(struct mrs_view plan, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(plan) && mrs_buf_is_sound(out));
    struct from_bson f = {.out = out};
    size_t from = out->n;
    write_plan(&f, plan);
    MRS_TRY(mrs_buf_status(out, e));
    /* Invalid UTF-8 was replaced: the plan would not be the one that was sent. */
    const uint8_t *text = out->p + from;
    if (memmem(text, out->n - from, "\\uFFFD", 6) || memmem(text, out->n - from, "\xEF\xBF\xBD", 3)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "a text of the plan is no UTF-8, or holds the character U+FFFD "
                                                    "that replaces such bytes: correct it");
    }
    return MRS_OK;
}

void
mrs_plan_place(struct mrs_view plan, uint32_t line, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(plan));
    struct from_bson f = {.out = out, .target_line = line ? line : UINT32_MAX};
    write_plan(&f, plan);
}
