/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.c - a plan that corrects the findings: each step under a comment with the evidence.
 *
 * Only corrections that lose and refuse nothing become steps; those that need a decision, or conflict with another
 * step, become comments. */
#include "steps.h"
#include "mongoreshape/yaml_text.h"
#include <stdio.h>
#include <stdlib.h>

/* Steps in an order in which they can run. */
static const struct {
    const char *name;
    mrsi_suggest_fn *write;
} steps[] = {{"cast", mrsi_suggest_cast},       {"copy", mrsi_suggest_copy}, {"link", mrsi_suggest_link},
             {"extract", mrsi_suggest_extract}, {"pack", mrsi_suggest_pack}, {"embed", mrsi_suggest_embed},
             {"bucket", mrsi_suggest_bucket},   {"tree", mrsi_suggest_tree}, {"index", mrsi_suggest_index}};

bool
mrsi_planning_no(struct mrsi_planning *p, const char *why)
{
    p->why = why;
    return false;
}

void
mrsi_put_word(struct mrsi_planning *p, const char *text)
{
    mrs_yaml_text(p->out, text, strlen(text));
}

void
mrsi_put_field(struct mrsi_planning *p, const char *path)
{
    char text[MRSI_PLACE + 1];
    snprintf(text, sizeof text, "$%s", path);
    mrsi_put_word(p, text);
}

void
mrsi_put_collection(struct mrsi_planning *p, const struct mrsi_collection *c)
{
    char db[MRS_NS_MAX + 1];
    if (strchr(c->name, '*')) {
        mrsi_planning_no(p, "the star in a collection's name would stand for others in a plan");
    }
    if (p->one_db) {
        mrsi_put_word(p, c->name);
        return;
    }
    memcpy(db, c->ns, c->db_n);
    db[c->db_n] = 0;
    mrs_buf_printf(p->out, "{ db: ");
    mrsi_put_word(p, db);
    mrs_buf_printf(p->out, ", coll: ");
    mrsi_put_word(p, c->name);
    mrs_buf_printf(p->out, " }");
}

/* The name of a collection in the same database. */
void
mrsi_put_new(struct mrsi_planning *p, const struct mrsi_collection *beside, const char *name)
{
    struct mrsi_collection c = *beside;
    c.name = name;
    mrsi_put_collection(p, &c);
}

bool
mrsi_is_collection(const struct mrsi_inspection *x, const struct mrsi_collection *beside, const char *name)
{
    for (uint32_t i = 0; i < x->colls; i++) {
        if (mrsi_same_db(&x->coll[i], beside) && strcmp(x->coll[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* `lines.productId` for `lines[].productId`; false if a name in it cannot be part of a dotted path. */
bool
mrsi_dotted(const struct mrsi_path *p, char *out, size_t size)
{
    size_t k = 0;
    for (uint32_t i = 0; i < p->ways; i++) {
        const struct mrsi_way *w = &p->way[i];
        if (w->kind == MRSI_EACH) {
            continue;
        }
        if (w->kind == MRSI_ANY || w->n == 0 || memchr(w->name, '.', w->n) || memchr(w->name, '$', w->n) ||
            memchr(w->name, '*', w->n) || k + w->n + 2 > size) {
            return false;
        }
        if (k) {
            out[k++] = '.';
        }
        memcpy(out + k, w->name, w->n);
        k += w->n;
    }
    out[k] = 0;
    return k > 0;
}

bool
mrsi_has_path(const struct mrsi_collection *c, const char *top)
{
    for (uint32_t i = 0; i < c->paths; i++) {
        if (c->path[i].ways == 1 && strcmp(c->path[i].last, top) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- the plan ---- */
static void
comment(struct mrsi_planning *p, const struct mrsi_rule_found *r)
{
    mrs_buf_say(p->out, "  # %s %s", r->rule, r->in->ns);
    if (r->path || r->index) {
        mrs_buf_say(p->out, " %s", r->path ? r->path : r->index);
    }
    mrs_buf_say(p->out, ": %s\n", r->text);
}

/* Stores the text of the plan from `before` on. */
static void
keep_text(struct mrsi_planning *p, struct mrsi_rule_found *r, size_t before)
{
    size_t n = p->out->n - before;
    char *text = p->out->bad || r->plan ? NULL : mrs_arena_alloc(&p->x->arena, n + 1);
    if (text) {
        memcpy(text, p->out->p + before, n);
        text[n] = 0;
        r->plan = text;
    }
    p->out->bad |= !r->plan;
}

/* If a step cannot be written, removes its partial text. */
static void
one_rule(struct mrsi_planning *p, struct mrsi_rule_found *r, mrsi_suggest_fn *write)
{
    size_t before = p->out->n;
    p->why = NULL;
    comment(p, r);
    bool as_they_are = strcmp(r->step, "index") == 0; /* no document is changed */
    if (r->in->twice && !as_they_are) {
        p->why = "documents that hold a name twice would be refused";
    } else if (write(p, r) && !p->why) {
        r->planned = true;
        p->written++;
        keep_text(p, r, before);
        return;
    }
    p->out->n = before;
    r->why = p->why;
}

static bool
has_one_db(const struct mrsi_inspection *x)
{
    for (uint32_t i = 1; i < x->colls; i++) {
        if (!mrsi_same_db(&x->coll[i], &x->coll[0])) {
            return false;
        }
    }
    return x->colls > 0;
}

static void
rest(struct mrsi_planning *p)
{
    bool introduced = false;
    for (uint32_t i = 0; i < p->x->rules; i++) {
        const struct mrsi_rule_found *r = &p->x->rule[i];
        if (r->planned) {
            continue;
        }
        if (!introduced) {
            mrs_buf_printf(p->out, "\n# Left to you:\n");
        }
        introduced = true;
        mrs_buf_say(p->out, "# %s %s", r->rule, r->in->ns);
        if (r->path || r->index) {
            mrs_buf_say(p->out, " %s", r->path ? r->path : r->index);
        }
        mrs_buf_say(p->out, ": %s", r->text);
        if (r->step) {
            mrs_buf_say(p->out, "\n#   a cure: %s", r->step);
        }
        if (r->why) {
            mrs_buf_say(p->out, " (%s)", r->why);
        }
        mrs_buf_byte(p->out, '\n');
    }
}

enum mrs_status
mrs_inspect_plan(struct mrsi_inspection *x, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct mrsi_planning p = {.x = x, .out = out, .one_db = has_one_db(x)};
    char db[MRS_NS_MAX + 1];
    p.fate = mrs_zalloc(x->mem, (x->colls + 1) * sizeof *p.fate);
    MRS_TRY(mrs_allocated(p.fate, x->colls * sizeof *p.fate, e));
    mrs_buf_say(out, "# What `mongoreshape inspect` suggests for %s: read it, take out what you do not want, then\n",
                x->name);
    mrs_buf_printf(out, "#   mongoreshape check PLAN -i IN     what would become of each document\n");
    mrs_buf_printf(out, "#   mongoreshape run PLAN -i IN -o OUT\n");
    mrs_buf_printf(out, "plan: suggested\n");
    if (p.one_db) {
        memcpy(db, x->coll[0].ns, x->coll[0].db_n);
        db[x->coll[0].db_n] = 0;
        mrs_buf_printf(out, "database: ");
        mrsi_put_word(&p, db);
        mrs_buf_byte(out, '\n');
    }
    size_t head = out->n;
    mrs_buf_printf(out, "steps:\n");
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        for (uint32_t i = 0; i < x->rules; i++) {
            if (x->rule[i].step && strcmp(x->rule[i].step, steps[k].name) == 0) {
                one_rule(&p, &x->rule[i], steps[k].write);
            }
        }
    }
    if (p.written == 0) {
        out->n = out->bad ? out->n : head;
        mrs_buf_printf(out, "steps: []\n");
    }
    rest(&p);
    mrs_free(x->mem, p.fate);
    return mrs_buf_status(out, e);
}

uint32_t
mrs_inspect_steps(const struct mrsi_inspection *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->rules; i++) {
        n += x->rule[i].step && x->rule[i].planned;
    }
    return n;
}
