/* SPDX-License-Identifier: Apache-2.0 */
/* live_explain.c - explains live.c's result: for each step what it reads, adds and removes, and for each group how it
 * can run while writers run, or why not.
 *
 * Text and JSON have the same content. A refused plan gets the same sentence as from the online tool, since both repeat
 * the result of live.c. Nothing is decided in this file. */
#include "plan_internal.h"
#include "mongoreshape/live.h"

struct live_explain_text {
    const struct mrs_plan *p;
    struct mrs_buf *out;
    struct mrs_buf line;
};

static const struct {
    char kind;
    const char *label, *name;
} kinds[] = {{'R', "reads (R)", "reads"}, {'A', "adds (A)", "adds"}, {'D', "removes (D)", "removes"}};
#define N_KINDS (sizeof kinds / sizeof *kinds)

static const char *
contract_words(const struct mrs_live_group *g)
{
    return !g->removes        ? "nothing to do"
           : g->contract_live ? "alongside writers"
                              : "with writers kept out (--quiet-by)";
}

/* ---- text ---- */
static void
put_may(struct live_explain_text *t, const char *label, bool may, const char *yes, const char *why)
{
    mrs_buf_say(&t->line, "%s%s", may ? "yes" : "no: ", may ? yes : why ? why : "");
    mrsi_plan_fold_line(t->out, label, &t->line);
}

static void
put_step(struct live_explain_text *t, const struct mrs_step *s)
{
    MRS_ASSERT(s->type);
    const struct mrs_desc *d = &s->desc;
    mrs_buf_say(t->out, "  Step %u: %s (line %u)\n", s->no, s->type->name, s->line);
    for (size_t k = 0; k < N_KINDS; k++) {
        const char *comma = "";
        for (uint32_t i = 0; i < d->n_touches; i++) {
            if (mrsi_live_kind(d, &d->touches[i]) == kinds[k].kind) {
                const char *path = d->touches[i].path;
                mrs_buf_say(&t->line, "%s%s %s", comma, d->sides[d->touches[i].side].coll.ns,
                               *path ? path : "(whole document)");
                comma = ", ";
            }
        }
        if (*comma) {
            mrsi_plan_fold_line(t->out, kinds[k].label, &t->line);
        }
    }
    if (d->live_note) {
        mrsi_plan_fold(t->out, "note", d->live_note);
    }
}

static void
put_group(struct live_explain_text *t, const struct mrs_live_group *g, uint32_t no)
{
    MRS_ASSERT(no > 0 && g->n > 0);
    mrs_buf_say(t->out, "\nGroup %u\n", no);
    for (uint32_t i = 0; i < mrs_live_steps(g); i++) {
        put_step(t, &t->p->steps[mrs_live_first(g) + i]);
    }
    for (uint32_t i = 0; i < g->n_claims && g->expand; i++) {
        mrs_buf_say(&t->line, "%s%s", i ? ", " : "", g->claims[i]);
    }
    if (g->n_claims && g->expand) {
        mrs_buf_say(&t->line, " (must not be in any document before)");
        mrsi_plan_fold_line(t->out, "claims", &t->line);
    }
    put_may(t, "expand", g->expand,
            !g->adds            ? ": there is nothing to add"
            : g->after_verified ? ", once the groups before it are verified"
                                : "",
            g->expand_why);
    put_may(t, "direct", g->direct, "", g->direct_why);
    if (g->expand) {
        mrsi_plan_fold(t->out, "contract", contract_words(g));
    }
}

static void
explain_text(struct live_explain_text *t, const struct mrs_live *live)
{
    const char *name = t->p->name;
    mrs_buf_say(t->out, "Alongside writers%s%s: %s\n", *name ? ", plan " : "", name,
                   live->expand   ? "may be applied (--mode expand)"
                   : live->direct ? "may be applied in place only (--mode direct)"
                                  : "no; run it with --quiet-by");
    put_may(t, "expand", live->expand, "", live->expand_why);
    put_may(t, "direct", live->direct, "", live->direct_why);
    for (uint32_t i = 0; i < live->n_groups; i++) {
        put_group(t, &live->group[i], i + 1);
    }
}

/* ---- JSON ---- */
static void
json_text(struct mrs_build *b, const char *name, const char *text)
{
    mrs_build_text(b, name, text, (uint32_t)strlen(text));
}

static void
json_open(struct mrs_build *b, const char *name)
{
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_ARRAY);
}

static void
json_may(struct mrs_build *b, const char *name, const char *why_name, bool may, const char *why)
{
    mrs_build_bool(b, name, may);
    if (!may && why) {
        json_text(b, why_name, why);
    }
}

static void
json_list(struct mrs_build *b, struct mrs_arena *a, const char *name, const char *const *list, uint32_t n)
{
    MRS_ASSERT(name && (list || n == 0));
    json_open(b, name);
    for (uint32_t i = 0; i < n; i++) {
        struct mrs_val v = mrs_make_text(a, list[i], (uint32_t)strlen(list[i]));
        b->buf->bad = v.type == MRS_MISSING ? 1 : b->buf->bad;
        mrs_build_item(b, v);
    }
    mrs_build_close(b);
}

static void
json_step(struct mrs_build *b, const struct mrs_step *s)
{
    MRS_ASSERT(s->type);
    const struct mrs_desc *d = &s->desc;
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_i32(b, "step", (int32_t)s->no);
    json_text(b, "type", s->type->name);
    mrs_build_i32(b, "line", (int32_t)s->line);
    for (size_t k = 0; k < N_KINDS; k++) {
        json_open(b, kinds[k].name);
        for (uint32_t i = 0; i < d->n_touches; i++) {
            if (mrsi_live_kind(d, &d->touches[i]) == kinds[k].kind) {
                mrs_build_item_open(b, MRS_DOCUMENT);
                json_text(b, "ns", d->sides[d->touches[i].side].coll.ns);
                json_text(b, "path", d->touches[i].path);
                mrs_build_close(b);
            }
        }
        mrs_build_close(b);
    }
    if (d->live_note) {
        json_text(b, "note", d->live_note);
    }
    mrs_build_close(b);
}

static void
json_group(struct mrs_build *b, struct mrs_arena *a, const struct mrs_plan *p, const struct mrs_live_group *g)
{
    MRS_ASSERT(g->n > 0);
    mrs_build_item_open(b, MRS_DOCUMENT);
    json_open(b, "steps");
    for (uint32_t i = 0; i < mrs_live_steps(g); i++) {
        json_step(b, &p->steps[mrs_live_first(g) + i]);
    }
    mrs_build_close(b);
    json_list(b, a, "claims", g->claims, g->n_claims);
    json_may(b, "expand", "expandWhy", g->expand, g->expand_why);
    json_may(b, "direct", "directWhy", g->direct, g->direct_why);
    mrs_build_bool(b, "adds", g->adds);
    mrs_build_bool(b, "removes", g->removes);
    mrs_build_bool(b, "afterVerified", g->after_verified);
    mrs_build_bool(b, "contractBesideWriters", g->contract_live);
    mrs_build_close(b);
}

static enum mrs_status
explain_json(const struct mrs_plan *p, const struct mrs_live *live, struct mrs_buf *out, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_arena a;
    mrs_arena_init(&a, p->mem);
    mrs_buf_init(&buf, p->mem, 16 * (size_t)MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    json_text(&b, "plan", p->name);
    json_may(&b, "expand", "expandWhy", live->expand, live->expand_why);
    json_may(&b, "direct", "directWhy", live->direct, live->direct_why);
    json_open(&b, "groups");
    for (uint32_t i = 0; i < live->n_groups; i++) {
        json_group(&b, &a, p, &live->group[i]);
    }
    mrs_build_close(&b);
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    if (s == MRS_OK) {
        mrs_ejson_write(doc, false, out);
        mrs_buf_byte(out, '\n');
    }
    mrs_buf_clear(&buf);
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
mrs_live_explain(const struct mrs_plan *p, const struct mrs_live *live, bool json, struct mrs_buf *out,
                 struct mrs_err *e)
{
    MRS_ASSERT(live->n_groups == 0 || live->group);
    struct live_explain_text t = {.p = p, .out = out};
    enum mrs_status s = MRS_OK;
    if (json) {
        s = explain_json(p, live, out, e);
    } else {
        mrs_buf_init(&t.line, p->mem, MRS_DOC_MAX);
        explain_text(&t, live);
        mrs_buf_clear(&t.line);
    }
    return s == MRS_OK ? mrs_buf_status(out, e) : s;
}
