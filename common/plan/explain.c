/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - explains a plan, as text and as JSON.
 *
 * The source is the descriptions of the steps and passes.c; after mrs_plan_check also the notes of the catalog. Both
 * forms have the same content. */
#include "plan_internal.h"
#include "passes.h"

#include <stdlib.h>

#define WIDTH 100

struct explain_total {
    const char *ns;
    uint32_t times;
};
struct totals {
    const struct mrs_plan *p;
    struct explain_total *at;
    uint32_t n, cap;
    bool dead;
};

/* ---- sums ---- */
static void
add_total(void *arg, const struct mrsi_plan_pass *pass)
{
    MRS_ASSERT(pass->ns && ((struct totals *)arg)->n <= ((struct totals *)arg)->cap);
    struct totals *t = arg;
    struct explain_total *more = t->dead ? NULL : mrs_more(t->p->mem, t->at, t->n, &t->cap, sizeof *more);
    t->dead = !more;
    if (more) {
        t->at = more;
        t->at[t->n++] = (struct explain_total){pass->ns, pass->times};
    }
}

static int
by_ns(const void *a, const void *b)
{
    return strcmp(((const struct explain_total *)a)->ns, ((const struct explain_total *)b)->ns);
}

static bool
add_up(struct totals *t, const struct mrs_plan *p)
{
    MRS_ASSERT(t->n <= t->cap);
    t->p = p;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        mrsi_passes(p, &p->steps[i], add_total, t);
    }
    if (t->n > 1) {
        qsort(t->at, t->n, sizeof *t->at, by_ns);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (kept && strcmp(t->at[kept - 1].ns, t->at[i].ns) == 0) {
            t->at[kept - 1].times += t->at[i].times;
        } else {
            t->at[kept++] = t->at[i];
        }
    }
    t->n = kept;
    return !t->dead;
}

static const struct {
    unsigned role;
    const char *word;
} roles[] = {{MRS_ROLE_READ, "read"},
             {MRS_ROLE_CHANGE, "changed in place"},
             {MRS_ROLE_TAKE, "documents may leave"},
             {MRS_ROLE_ADD, "documents are added"}};
#define N_ROLES (sizeof roles / sizeof *roles)

/* ---- text ---- */
void
mrsi_plan_fold(struct mrs_buf *out, const char *label, const char *text)
{
    MRS_ASSERT(label && text);
    size_t col = 14;
    mrs_buf_say(out, "  %-12s", label);
    while (*text) {
        size_t n = strcspn(text, " ");
        if (col > 14 && col + 1 + n > WIDTH) {
            mrs_buf_say(out, "\n%14s", "");
            col = 14;
        } else if (col > 14) {
            mrs_buf_byte(out, ' ');
            col++;
        }
        mrs_buf_say(out, "%.*s", (int)n, text);
        col += n;
        text += n;
        text += strspn(text, " ");
    }
    mrs_buf_byte(out, '\n');
}

void
mrsi_plan_fold_line(struct mrs_buf *out, const char *label, struct mrs_buf *line)
{
    MRS_ASSERT(label && mrs_buf_is_sound(line));
    mrs_buf_byte(line, '\0');
    if (line->bad) {
        out->bad = line->bad;
        return;
    }
    mrsi_plan_fold(out, label, (const char *)line->p);
    mrs_buf_reset(line);
}

struct explain_text {
    struct mrs_buf *out;
    struct mrs_buf line;
    const char *label;
    const struct mrs_inverse_plan *inv;
};

static void
put_sides(struct explain_text *t, const struct mrs_desc *d)
{
    MRS_ASSERT(d->sides || d->n_sides == 0);
    for (uint32_t i = 0; i < d->n_sides; i++) {
        const struct mrs_side *side = &d->sides[i];
        mrs_buf_say(&t->line, "%s (%s):%s", side->coll.ns, side->what ? side->what : "",
                       side->role ? "" : " its metadata");
        const char *comma = " ";
        for (size_t j = 0; j < N_ROLES; j++) {
            if (side->role & roles[j].role) {
                mrs_buf_say(&t->line, "%s%s", comma, roles[j].word);
                comma = ", ";
            }
        }
        mrsi_plan_fold_line(t->out, i ? "" : "touches", &t->line);
    }
}

static void
put_pass(void *arg, const struct mrsi_plan_pass *pass)
{
    struct explain_text *t = arg;
    if (pass->times == 0) {
        mrs_buf_say(&t->line, "%s: none of its own, it shares the pass of step %u", pass->ns,
                       pass->with);
    } else {
        mrs_buf_say(&t->line, "%s: %s%s%s", pass->ns, pass->times == 1 ? "once" : "twice",
                       *pass->why ? ", " : "", pass->why);
    }
    mrsi_plan_fold_line(t->out, t->label, &t->line);
    t->label = "";
}

static void
put_touches(struct explain_text *t, const struct mrs_desc *d)
{
    MRS_ASSERT(d->touches || d->n_touches == 0);
    static const struct {
        char kind;
        const char *label;
    } kinds[] = {{'R', "reads (R)"}, {'A', "adds (A)"}, {'D', "removes (D)"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const char *comma = "";
        for (uint32_t i = 0; i < d->n_touches; i++) {
            const struct mrs_touch *touch = &d->touches[i];
            if (touch->kind == kinds[k].kind && touch->side >= 0 &&
                (uint32_t)touch->side < d->n_sides) {
                mrs_buf_say(&t->line, "%s%s %s", comma, d->sides[touch->side].coll.ns,
                               *touch->path ? touch->path : "(whole document)");
                comma = ", ";
            }
        }
        if (*comma) {
            mrsi_plan_fold_line(t->out, kinds[k].label, &t->line);
        }
    }
}

/* The inverse of the step, and what it does not restore. */
static void
put_inverse(struct explain_text *t, const struct mrs_step *step)
{
    MRS_ASSERT(step->type);
    const struct mrs_inverse_plan *inv = t->inv;
    const char *label = "undone by";
    for (uint32_t i = 0; i < inv->n_entries; i++) {
        if (inv->entry[i].step == step->no) {
            mrsi_flow_val(&t->line, mrs_view_val(inv->entry[i].entry));
            mrsi_plan_fold_line(t->out, label, &t->line);
            label = "";
        }
    }
    if (*label) {
        mrsi_plan_fold(t->out, label, "nothing");
    }
    label = "loses";
    for (uint32_t i = 0; i < inv->n_losses; i++) {
        if (inv->loss[i].step == step->no) {
            mrsi_plan_fold(t->out, label, inv->loss[i].text);
            label = "";
        }
    }
}

static void
put_step(struct explain_text *t, const struct mrs_plan *p, const struct mrs_step *step)
{
    MRS_ASSERT(step->type && mrs_buf_is_sound(&t->line));
    const struct mrs_desc *d = &step->desc;
    mrs_buf_say(t->out, "\nStep %u: %s (line %u)\n", step->no, step->type->name, step->line);
    if (d->words && *d->words) {
        mrsi_plan_fold(t->out, "what", d->words);
    }
    put_sides(t, d);
    t->label = "passes";
    mrsi_passes(p, step, put_pass, t);
    mrsi_plan_fold(t->out, "memory", mrsi_memory_words(d));
    if (d->repeatable) {
        mrsi_plan_fold(t->out, "repeatable", "yes: run twice is run once");
    } else {
        mrs_buf_say(&t->line, "no: %s",
                       d->not_repeatable ? d->not_repeatable
                                         : "a second run would change the result");
        mrsi_plan_fold_line(t->out, "repeatable", &t->line);
    }
    for (uint32_t i = 0; i < d->n_losses && !step->type->invert; i++) {
        mrsi_plan_fold(t->out, i ? "" : "loses", d->losses[i]);
    }
    if (step->type->invert) {
        put_inverse(t, step);
    }
    put_touches(t, d);
}

static void
explain_text(const struct mrsi_plan *p, const struct totals *totals, const struct mrs_inverse_plan *inv,
             struct mrs_buf *out)
{
    const struct mrs_plan *pub = &p->pub;
    struct explain_text t = {.out = out, .inv = inv};
    char id[33];
    mrs_buf_init(&t.line, pub->mem, MRS_DOC_MAX);
    mrs_plan_id_text(pub, id);
    mrs_buf_say(out, "Plan%s%s: %u step%s, by the rules of MongoDB %s\n", *pub->name ? " " : "",
                   pub->name, pub->n_written, pub->n_written == 1 ? "" : "s", pub->server);
    if (pub->id_known) {
        mrsi_plan_fold(out, "id", id);
        mrsi_plan_fold(out, "database", *pub->database ? pub->database : "each collection names its own");
    } else {
        mrsi_plan_fold(out, "id",
                 "not known without a database: name one in the plan, or give the input");
        mrsi_plan_fold(out, "database", "that of the input, shown as `db` here");
    }
    for (uint32_t i = 0; i < pub->n_steps; i++) {
        put_step(&t, pub, &pub->steps[i]);
    }
    mrs_buf_say(out, "\nPasses in all\n");
    for (uint32_t i = 0; i < totals->n; i++) {
        mrs_buf_say(out, "  %3u x  %s\n", totals->at[i].times, totals->at[i].ns);
    }
    mrs_buf_say(out, "  Collections that no step names are copied byte for byte.\n");
    if (p->n_changes + p->n_notes) {
        mrs_buf_say(out, "\nIndexes and options\n");
    }
    for (uint32_t i = 0; i < p->n_changes; i++) {
        mrs_buf_say(out, "  ");
        mrsi_change_words(&p->changes[i], out);
        mrs_buf_byte(out, '\n');
    }
    for (uint32_t i = 0; i < p->n_notes; i++) {
        mrs_buf_say(out, "  %s\n", p->notes[i]);
    }
    mrs_buf_clear(&t.line);
}

/* ---- JSON ---- */
static void
json_text(struct mrs_build *b, const char *name, const char *text)
{
    mrs_build_text(b, name, text ? text : "", text ? (uint32_t)strlen(text) : 0);
}

static void
json_open(struct mrs_build *b, const char *name, uint8_t type)
{
    mrs_build_open(b, name, (uint32_t)strlen(name), type);
}

static void
json_item_text(struct mrs_build *b, struct mrs_arena *a, const char *text)
{
    struct mrs_val v = mrs_make_text(a, text, (uint32_t)strlen(text));
    if (v.type == MRS_MISSING) {
        b->buf->bad = 1;
    }
    mrs_build_item(b, v);
}

static void
json_pass(void *arg, const struct mrsi_plan_pass *pass)
{
    struct mrs_build *b = arg;
    mrs_build_item_open(b, MRS_DOCUMENT);
    json_text(b, "ns", pass->ns);
    mrs_build_i32(b, "times", (int32_t)pass->times);
    if (pass->with) {
        mrs_build_i32(b, "withStep", (int32_t)pass->with);
    }
    json_text(b, "why", pass->why);
    mrs_build_close(b);
}

static void
json_sides(struct mrs_build *b, struct mrs_arena *a, const struct mrs_desc *d)
{
    MRS_ASSERT(d->sides || d->n_sides == 0);
    json_open(b, "collections", MRS_ARRAY);
    for (uint32_t i = 0; i < d->n_sides; i++) {
        mrs_build_item_open(b, MRS_DOCUMENT);
        json_text(b, "ns", d->sides[i].coll.ns);
        json_text(b, "key", d->sides[i].what);
        json_open(b, "roles", MRS_ARRAY);
        for (size_t j = 0; j < N_ROLES; j++) {
            if (d->sides[i].role & roles[j].role) {
                json_item_text(b, a, roles[j].word);
            }
        }
        mrs_build_close(b);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static void
json_touches(struct mrs_build *b, const struct mrs_desc *d)
{
    MRS_ASSERT(d->touches || d->n_touches == 0);
    json_open(b, "touches", MRS_ARRAY);
    for (uint32_t i = 0; i < d->n_touches; i++) {
        const struct mrs_touch *touch = &d->touches[i];
        char kind[2] = {touch->kind, 0};
        mrs_build_item_open(b, MRS_DOCUMENT);
        json_text(b, "ns",
                  touch->side >= 0 && (uint32_t)touch->side < d->n_sides
                      ? d->sides[touch->side].coll.ns
                      : "");
        json_text(b, "kind", kind);
        json_text(b, "path", touch->path);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static void
json_inverse(struct mrs_build *b, struct mrs_arena *a, const struct mrs_inverse_plan *inv, const struct mrs_step *step)
{
    json_open(b, "undoneBy", MRS_ARRAY);
    for (uint32_t i = 0; i < inv->n_entries; i++) {
        if (inv->entry[i].step == step->no) {
            mrs_build_item(b, mrs_view_val(inv->entry[i].entry));
        }
    }
    mrs_build_close(b);
    json_open(b, "losses", MRS_ARRAY);
    for (uint32_t i = 0; i < step->desc.n_losses && !step->type->invert; i++) {
        json_item_text(b, a, step->desc.losses[i]);
    }
    for (uint32_t i = 0; i < inv->n_losses && step->type->invert; i++) {
        if (inv->loss[i].step == step->no) {
            json_item_text(b, a, inv->loss[i].text);
        }
    }
    mrs_build_close(b);
}

static void
json_step(struct mrs_build *b, struct mrs_arena *a, const struct mrs_plan *p, const struct mrs_inverse_plan *inv,
          const struct mrs_step *step)
{
    MRS_ASSERT(step->type);
    const struct mrs_desc *d = &step->desc;
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_i32(b, "step", (int32_t)step->no);
    json_text(b, "type", step->type->name);
    json_text(b, "family", mrsi_family_name(d->family));
    mrs_build_i32(b, "line", (int32_t)step->line);
    json_text(b, "what", d->words);
    json_sides(b, a, d);
    json_open(b, "passes", MRS_ARRAY);
    mrsi_passes(p, step, json_pass, b);
    mrs_build_close(b);
    json_text(b, "memory", mrsi_memory_words(d));
    mrs_build_bool(b, "repeatable", d->repeatable);
    if (!d->repeatable) {
        json_text(b, "notRepeatable", d->not_repeatable);
    }
    json_inverse(b, a, inv, step);
    json_touches(b, d);
    mrs_build_close(b);
}

static void
json_plan(struct mrs_build *b, struct mrs_arena *a, const struct mrsi_plan *p,
          const struct mrs_inverse_plan *inv, const struct totals *totals)
{
    const struct mrs_plan *pub = &p->pub;
    char id[33];
    mrs_plan_id_text(pub, id);
    json_text(b, "plan", pub->name);
    if (pub->id_known) {
        json_text(b, "id", id);
        json_text(b, "database", pub->database);
    } else {
        mrs_build_null(b, "id", 2);
        mrs_build_null(b, "database", 8);
    }
    json_text(b, "server", pub->server);
    json_open(b, "steps", MRS_ARRAY);
    for (uint32_t i = 0; i < pub->n_steps; i++) {
        json_step(b, a, pub, inv, &pub->steps[i]);
    }
    mrs_build_close(b);
    json_open(b, "passes", MRS_ARRAY);
    for (uint32_t i = 0; i < totals->n; i++) {
        mrs_build_item_open(b, MRS_DOCUMENT);
        json_text(b, "ns", totals->at[i].ns);
        mrs_build_i32(b, "times", (int32_t)totals->at[i].times);
        mrs_build_close(b);
    }
    mrs_build_close(b);
    json_open(b, "indexes", MRS_ARRAY);
    for (uint32_t i = 0; i < p->n_changes; i++) {
        char sign[2] = {p->changes[i].sign, 0};
        mrs_build_item_open(b, MRS_DOCUMENT);
        json_text(b, "change", sign);
        json_text(b, "ns", p->changes[i].ns);
        mrs_build_val(b, "index", 5, mrs_view_val(p->changes[i].index));
        mrs_build_close(b);
    }
    mrs_build_close(b);
    json_open(b, "notes", MRS_ARRAY);
    for (uint32_t i = 0; i < p->n_notes; i++) {
        json_item_text(b, a, p->notes[i]);
    }
    mrs_build_close(b);
}

static enum mrs_status
explain_json(const struct mrsi_plan *p, const struct totals *totals, const struct mrs_inverse_plan *inv,
             struct mrs_buf *out, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_arena a;
    mrs_arena_init(&a, p->pub.mem);
    mrs_buf_init(&buf, p->pub.mem, 16 * (size_t)MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    json_plan(&b, &a, p, inv, totals);
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
mrs_plan_explain(const struct mrs_plan *plan, bool json, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct mrsi_plan *p = (const struct mrsi_plan *)plan;
    struct totals totals = {0};
    struct mrs_inverse_plan inv;
    enum mrs_status s = mrs_plan_invert(plan, &inv, e);
    if (s == MRS_OK && !add_up(&totals, plan)) {
        s = mrs_err_memory(e, sizeof *totals.at);
    } else if (s == MRS_OK && json) {
        s = explain_json(p, &totals, &inv, out, e);
    } else if (s == MRS_OK) {
        explain_text(p, &totals, &inv, out);
    }
    mrs_inverse_plan_clear(&inv);
    mrs_free(plan->mem, totals.at);
    return s == MRS_OK ? mrs_buf_status(out, e) : s;
}
