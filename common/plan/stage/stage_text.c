/* SPDX-License-Identifier: Apache-2.0 */
/* stage_text.c - prints the stages that a plan allows, as text and JSON.
 *
 * All pairs of collections are tried, one where documents arrive and one where they leave: only the user knows which
 * pair is intended. */
#include "stage_pipeline.h"

#include "mongoreshape/build.h"
#include "mongoreshape/ejson.h"
#include "plan/lower/mongosh_text.h"

#define COLLS_TRIED 64u

struct stage_printer {
    const struct mrs_plan *plan;
    struct mrs_arena arena;
    struct mrs_buf lines;  /* text */
    struct mrs_build b;    /* JSON */
    struct mrs_buf why;    /* of the pairs that are not allowed */
    uint32_t admitted;
};

static void
text(struct mrs_build *b, const char *key, const char *value)
{
    mrs_build_text(b, key, value, (uint32_t)strlen(value));
}

/* Lines as comments for mongosh, or as an array of texts. */
static void
put_lines(struct stage_printer *t, const char *key, const struct mrs_buf *lines)
{
    MRS_ASSERT(key && mrs_buf_is_sound(lines));
    mrs_build_open(&t->b, key, (uint32_t)strlen(key), MRS_ARRAY);
    for (size_t at = 0; at < lines->n;) {
        const uint8_t *end = memchr(lines->p + at, '\n', lines->n - at);
        size_t n = end ? (size_t)(end - lines->p) - at : lines->n - at;
        char no[12];
        mrs_index_name(no, t->b.index[t->b.depth]++);
        mrs_build_text(&t->b, no, (const char *)lines->p + at, (uint32_t)n);
        mrs_buf_put(&t->lines, "//   ", 5);
        mrs_buf_put(&t->lines, lines->p + at, n);
        mrs_buf_byte(&t->lines, '\n');
        at += n + 1;
    }
    mrs_build_close(&t->b);
}

/* ---- each step ---- */
static bool
print_steps(struct stage_printer *t)
{
    bool all = true;
    mrs_build_open(&t->b, "steps", 5, MRS_ARRAY);
    for (uint32_t i = 0; i < t->plan->n_steps; i++) {
        const struct mrs_step *s = &t->plan->steps[i];
        const char *why = mrs_stage_refuses(s), *kind = mrs_stage_class_name(mrs_stage_class_of(s));
        mrs_build_item_open(&t->b, MRS_DOCUMENT);
        mrs_build_i32(&t->b, "step", (int32_t)s->no);
        text(&t->b, "type", s->type->name);
        text(&t->b, why ? "reason" : "class", why ? why : kind);
        mrs_build_close(&t->b);
        mrs_buf_say(&t->lines, "// step %u: %s: %s%s\n", s->no, s->type->name, why ? "no stage: " : "class ",
                    why ? why : kind);
        all = all && !why;
    }
    mrs_build_close(&t->b);
    return all;
}

/* ---- pairs of collections ---- */
static void
print_pair(struct stage_printer *t, const struct mrsi_stage_pair *pair)
{
    const char *kind = mrs_stage_class_name(pair->route.kind);
    t->admitted++;
    mrs_build_item_open(&t->b, MRS_DOCUMENT);
    text(&t->b, "of", pair->of->ns);
    text(&t->b, "emit", pair->emit->ns);
    text(&t->b, "class", kind);
    mrs_buf_say(&t->lines, "\n// documents of %s come out as those of %s: class %s\n", pair->of->ns, pair->emit->ns,
                kind);
    put_lines(t, "notes", &pair->notes);
    mrs_build_val(&t->b, "pipeline", 8, (struct mrs_val){pair->pipeline.p, pair->pipeline.n, MRS_ARRAY});
    mrs_build_close(&t->b);
    mrsi_shell_coll(&t->lines, pair->of, "aggregate");
    mrsi_shell_stages(&t->lines, pair->pipeline, ")\n");
}

/* All collections that documents of `of` can reach. */
static enum mrs_status
print_of(struct stage_printer *t, const struct mrs_coll *of, struct mrs_err *e)
{
    MRS_ASSERT(of->ns);
    struct mrsi_stage_pair first;
    enum mrs_status s = mrsi_stage_pair_find(t->plan, of, of, &t->arena, &first, e);
    for (uint32_t i = 0; s == MRS_OK && first.route.comes_to && i < first.route.n_colls; i++) {
        struct mrsi_stage_pair pair;
        if (!first.route.comes_to[i]) {
            continue;
        }
        s = mrsi_stage_pair_find(t->plan, of, first.route.coll[i], &t->arena, &pair, e);
        if (s == MRS_OK && pair.admitted) {
            print_pair(t, &pair);
        } else if (s == MRS_OK && pair.why.n) {
            mrs_buf_say(&t->why, "of %s, emit %s: ", of->ns, pair.emit->ns);
            mrs_buf_put(&t->why, pair.why.p, pair.why.n);
        }
        mrsi_stage_pair_clear(&pair);
    }
    mrsi_stage_pair_clear(&first);
    return s;
}

static enum mrs_status
print_pairs(struct stage_printer *t, struct mrs_err *e)
{
    struct mrsi_stage_pair any;
    const struct mrs_coll none = {.db = "", .coll = "", .ns = ""};
    enum mrs_status s = mrsi_stage_pair_find(t->plan, &none, &none, &t->arena, &any, e); /* lists the collections */
    uint32_t n = s == MRS_OK ? any.route.n_colls : 0;
    if (n > COLLS_TRIED) {
        mrs_buf_say(&t->why, "the plan names %u collections, and pairs are looked for among at most %u: say `of` and "
                    "`emit` in the stage yourself\n", n, COLLS_TRIED);
        n = 0;
    }
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        s = print_of(t, any.route.coll[i], e);
    }
    mrsi_stage_pair_clear(&any);
    return s;
}

static enum mrs_status
print_all(struct stage_printer *t, struct mrs_err *e)
{
    bool fits = print_steps(t);
    enum mrs_status s = MRS_OK;
    if (t->plan->stars) {
        mrs_buf_say(&t->why, "%s\n", MRS_STAGE_STARS);
        fits = false;
    }
    mrs_build_open(&t->b, "stages", 6, MRS_ARRAY);
    s = fits ? print_pairs(t, e) : s;
    mrs_build_close(&t->b);
    if (s == MRS_OK && !t->admitted) {
        mrs_buf_say(&t->lines, "// the plan as a whole is no stage%s\n", t->why.n ? ":" : "");
        put_lines(t, "reasons", &t->why);
    }
    return s;
}

enum mrs_status
mrs_plan_stage(const struct mrs_plan *p, bool json, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct stage_printer t = {.plan = p};
    struct mrs_buf doc;
    struct mrs_view d;
    mrs_arena_init(&t.arena, p->mem);
    mrs_buf_init(&t.lines, p->mem, 16 * (size_t)MRS_DOC_MAX);
    mrs_buf_init(&t.why, p->mem, (size_t)1 << 22);
    mrs_buf_init(&doc, p->mem, 16 * (size_t)MRS_DOC_MAX);
    mrs_build_init(&t.b, &doc);
    enum mrs_status s = print_all(&t, e);
    MRS_THEN(s, mrs_buf_status(&t.why, e));
    MRS_THEN(s, mrs_buf_status(&t.lines, e));
    MRS_THEN(s, mrs_build_finish(&t.b, &d, e));
    if (s == MRS_OK && json) {
        mrs_ejson_write(d, true, out);
        mrs_buf_byte(out, '\n');
    } else if (s == MRS_OK) {
        mrs_buf_put(out, t.lines.p, t.lines.n);
    }
    MRS_THEN(s, mrs_buf_status(out, e));
    mrs_buf_clear(&doc);
    mrs_buf_clear(&t.why);
    mrs_buf_clear(&t.lines);
    mrs_arena_clear(&t.arena);
    return s;
}
