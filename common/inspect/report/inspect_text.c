/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_text.c - the findings as text: collections with most problems first, references and rules below each.
 *
 * All names go through mrs_buf_say, which escapes control characters. */
#include "inspect_print.h"
#include <stdlib.h>

struct page {
    struct mrsi_inspection *x;
    struct mrs_buf *out, line;
    uint32_t width;
    bool all, colour;
};

/* ---- lines ---- */
/* Puts the line, folded at blanks; every line but the first is indented by `hang`. */
static void
put_line(struct page *p, uint32_t hang)
{
    MRS_ASSERT(p->width > 0);
    const char *t = (const char *)p->line.p;
    size_t left = p->line.n, room = p->width;
    while (left > room) {
        size_t cut = room;
        while (cut > room / 2 && t[cut] != ' ') {
            cut--;
        }
        cut = t[cut] == ' ' ? cut : room;
        while (cut && ((unsigned char)t[cut] & 0xC0) == 0x80) {
            cut--; /* not inside a character */
        }
        size_t end = cut;
        while (end && t[end - 1] == ' ') {
            end--;
        }
        mrs_buf_put(p->out, t, end);
        mrs_buf_byte(p->out, '\n');
        while (cut < left && t[cut] == ' ') {
            cut++;
        }
        t += cut;
        left -= cut;
        for (uint32_t i = 0; i < hang; i++) {
            mrs_buf_byte(p->out, ' ');
        }
        room = p->width - hang;
    }
    mrs_buf_put(p->out, t, left);
    mrs_buf_byte(p->out, '\n');
    mrs_buf_reset(&p->line);
}

static void
style(struct page *p, const char *code)
{
    if (p->colour) {
        mrs_buf_byte(p->out, 27);
        mrs_buf_put(p->out, code, strlen(code));
    }
}

/* ---- collections ---- */
static int
worst_rule(const struct mrsi_inspection *x, const struct mrsi_collection *c)
{
    int worst = 0;
    for (uint32_t i = 0; i < x->rules; i++) {
        worst = x->rule[i].in == c && x->rule[i].severity > worst ? x->rule[i].severity : worst;
    }
    return worst;
}

struct placed {
    struct mrsi_collection *c;
    int worst;
};

static int
worst_first(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->worst != y->worst) {
        return y->worst - x->worst;
    }
    return x->c->bytes != y->c->bytes ? (x->c->bytes < y->c->bytes ? 1 : -1) : strcmp(x->c->ns, y->c->ns);
}

static void
head(struct page *p, const struct mrsi_collection *c)
{
    MRS_ASSERT(c->ns);
    char n[32], bytes[32], max[32], growth[32];
    style(p, "[1m");
    mrs_buf_say(&p->line, "%s", c->ns);
    mrs_buf_put(p->out, p->line.p, p->line.n);
    style(p, "[0m");
    mrs_buf_reset(&p->line);
    if (c->view) {
        mrs_buf_printf(&p->line, "  view");
    } else if (c->buckets && !c->has_data) {
        mrs_buf_printf(&p->line, "  a time series: its measurements are not read");
    } else if (!c->has_data) {
        mrs_buf_printf(&p->line, "  no documents in the input");
    } else {
        mrs_buf_printf(&p->line, "  %s document%s  %s", mrs_text_count(c->documents, n), c->documents == 1 ? "" : "s",
                       mrsi_bytes_text((double)c->bytes, bytes));
        if (mrsi_is_sampled(c)) {
            mrs_buf_printf(&p->line, "  a sample of about %s documents", mrs_text_count(mrsi_all_documents(c), n));
        }
        if (c->documents) {
            mrs_buf_printf(&p->line, "  max %s", mrsi_bytes_text((double)c->size.max, max));
        }
        if (c->growth >= .5) {
            mrs_buf_printf(&p->line, "  +%s a day", mrs_text_count((uint64_t)(c->growth + .5), growth));
        }
        if (c->n_shapes > 1) {
            mrs_buf_printf(&p->line, "  %s shapes", mrs_text_count(c->n_shapes, n));
        }
    }
    put_line(p, 4);
}

static void
types(struct page *p, const struct mrsi_path *path)
{
    for (uint32_t i = 0; i < path->types; i++) {
        double share = path->present ? 100 * (double)path->type[i].n / (double)path->present : 0;
        mrs_buf_printf(&p->line, "%s%s", i ? ", " : "  ", mrs_type_name(path->type[i].type));
        if (path->types > 1) {
            mrs_buf_printf(&p->line, " %.*f %%", share < 10 ? 1 : 0, share);
        }
    }
    if (path->of && path->present < path->of) {
        mrs_buf_printf(&p->line, "  in %.1f %%", 100 * (double)path->present / (double)path->of);
    }
}

static void
one_path(struct page *p, const struct mrsi_path *path)
{
    char n[32], m[32];
    mrs_buf_say(&p->line, "  %s", path->text);
    types(p, path);
    if (path->length) {
        mrs_buf_printf(&p->line, "  length p50 %s, p99 %s", mrs_text_count(path->length->p50, n),
                       mrs_text_count(path->length->p99, m));
        mrs_buf_printf(&p->line, ", max %s", mrs_text_count(path->length->max, n));
    } else if (path->distinct) {
        mrs_buf_printf(&p->line, "  %s%s different", path->exact ? "" : "about ", mrs_text_count(path->distinct, n));
    }
    put_line(p, 6);
}

static void
paths_of(struct page *p, const struct mrsi_reference *r, bool to)
{
    for (uint32_t i = 0; i < r->parts; i++) {
        mrs_buf_say(&p->line, "%s%s", i ? ", " : "", (to ? r->to : r->from)[i]->text);
    }
}

static const char *
match_words(const char *match)
{
    static const char *const words[][2] = {{"objectIdString", "ObjectId as text"},
                                           {"uuidString", "UUID as text"},
                                           {"uuidSubtype", "UUIDs of subtypes 3 and 4"},
                                           {"numberString", "number as text"},
                                           {"number", "numbers of several types"},
                                           {"mixed", "text and other types"},
                                           {"dbref", "DBRef"}};
    uint32_t i = 0;
    while (i + 1 < sizeof words / sizeof *words && strcmp(match, words[i][0]) != 0) {
        i++;
    }
    return words[i][1];
}

static void
reference(struct page *p, const struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0);
    char a[32], b[32], c[32];
    mrs_buf_printf(&p->line, r->candidate ? "  ? " : "  ");
    paths_of(p, r, false);
    types(p, r->from[0]);
    mrs_buf_say(&p->line, "  -> %s.", mrsi_target_name(r->to[0]->in, r->from[0]->in));
    paths_of(p, r, true);
    mrs_buf_printf(&p->line, "  %s%s orphan%s", r->probed ? "about " : "", mrs_text_count(r->orphans, a),
                   r->orphans == 1 ? "" : "s");
    if (r->per_parent.n) {
        mrs_buf_printf(&p->line, "  each has p50 %s, p99 %s, max %s", mrs_text_count(r->per_parent.p50, a),
                       mrs_text_count(r->per_parent.p99, b), mrs_text_count(r->per_parent.max, c));
    }
    if (strcmp(r->match, "equal") != 0) {
        mrs_buf_printf(&p->line, "  (%s)", match_words(r->match));
    }
    put_line(p, 6);
}

static void
rule(struct page *p, const struct mrsi_rule_found *r)
{
    MRS_ASSERT(r->rule && r->text);
    static const char *const colours[] = {"[0m", "[0m", "[33m", "[31m"};
    style(p, colours[r->severity]);
    mrs_buf_say(&p->line, "! %s", r->rule);
    mrs_buf_say(&p->line, r->path || r->index ? "  %s: " : "  %s", r->path ? r->path : r->index ? r->index : "");
    mrs_buf_say(&p->line, "%s", r->text);
    if (r->step) {
        mrs_buf_say(&p->line, "  [%s]", r->step);
    }
    put_line(p, 6);
    style(p, "[0m");
}

static void
collection(struct page *p, const struct mrsi_collection *c)
{
    MRS_ASSERT(c->ns);
    const struct mrsi_inspection *x = p->x;
    head(p, c);
    for (uint32_t i = 0; i < x->rules; i++) {
        if (x->rule[i].in == c) {
            rule(p, &x->rule[i]);
        }
    }
    if (c->twice) {
        char n[32];
        mrs_buf_printf(&p->line, "  %s document%s hold%s a name twice: steps refuse to change them",
                       mrs_text_count(c->twice, n), c->twice == 1 ? "" : "s", c->twice == 1 ? "s" : "");
        put_line(p, 6);
    }
    for (int candidates = 0; candidates < 2; candidates++) {
        for (uint32_t i = 0; i < x->refs; i++) {
            if (x->ref[i]->from[0]->in == c && !x->ref[i]->dropped && x->ref[i]->candidate == candidates) {
                reference(p, x->ref[i]);
            }
        }
    }
    for (uint32_t i = 0; i < x->copies; i++) {
        const struct mrsi_copied *k = &x->copy[i];
        char n[32];
        if (k->reported && k->from->in == c) {
            mrs_buf_say(&p->line, "  %s  copy of %s.", k->from->text,
                        mrsi_target_name(k->of->in, k->from->in));
            mrs_buf_say(&p->line, "%s  %s stale", k->of->text, mrs_text_count(k->stale, n));
            put_line(p, 6);
        }
    }
    for (uint32_t i = 0; p->all && i < c->paths; i++) {
        if (!c->path[i].names) {
            one_path(p, &c->path[i]);
        }
    }
    mrs_buf_byte(p->out, '\n');
}

/* ---- the page ---- */
static void
summary(struct page *p)
{
    uint64_t documents = 0, bytes = 0;
    uint32_t planned = 0, refs = 0;
    char n[32], b[32];
    for (uint32_t i = 0; i < p->x->colls; i++) {
        documents += p->x->coll[i].documents;
        bytes += p->x->coll[i].bytes;
    }
    for (uint32_t i = 0; i < p->x->refs; i++) {
        refs += !p->x->ref[i]->candidate && !p->x->ref[i]->dropped;
    }
    for (uint32_t i = 0; i < p->x->rules; i++) {
        planned += p->x->rule[i].step != NULL;
    }
    mrs_buf_say(&p->line, "%s: ", p->x->name);
    mrs_buf_printf(&p->line, "%u collection%s, %s document%s, %s; %u reference%s", p->x->colls,
                   p->x->colls == 1 ? "" : "s", mrs_text_count(documents, n), documents == 1 ? "" : "s",
                   mrsi_bytes_text((double)bytes, b), refs, refs == 1 ? "" : "s");
    if (p->x->sampled) {
        mrs_buf_printf(&p->line, " (of samples, down to %.3g %% of a collection)", 100 * p->x->share);
    }
    put_line(p, 2);
    if (p->x->measured) {
        mrs_buf_say(&p->line, "how often they are read and written: %s", p->x->measured);
        put_line(p, 2);
    }
    if (p->x->rules) {
        mrs_buf_printf(&p->line, "%u thing%s worth a look (!), worst first%s", p->x->rules, p->x->rules == 1 ? "" : "s",
                       planned && !p->x->plan_written ? "; `--suggest FILE` writes a plan" : "");
    } else {
        mrs_buf_printf(&p->line, "no rule of thumb is broken");
    }
    put_line(p, 2);
    mrs_buf_byte(p->out, '\n');
}

enum mrs_status
mrs_inspect_text(struct mrsi_inspection *x, uint32_t width, bool all, bool colour, struct mrs_buf *out,
                 struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct page p = {.x = x, .out = out, .width = width, .all = all, .colour = colour};
    struct placed *list = mrs_alloc_array(x->mem, x->colls + 1, sizeof *list);
    MRS_TRY(mrs_allocated(list, x->colls * sizeof *list, e));
    mrs_buf_init(&p.line, x->mem, SIZE_MAX);
    for (uint32_t i = 0; i < x->colls; i++) {
        list[i] = (struct placed){&x->coll[i], worst_rule(x, &x->coll[i])};
    }
    qsort(list, x->colls, sizeof *list, worst_first);
    summary(&p);
    for (uint32_t i = 0; i < x->colls; i++) {
        collection(&p, list[i].c);
    }
    for (uint32_t i = 0; i < x->lefts; i++) {
        mrs_buf_say(&p.line, "not looked at: %s", x->left[i]);
        put_line(&p, 4);
    }
    enum mrs_status s = p.line.bad ? mrs_buf_status(&p.line, e) : mrs_buf_status(out, e);
    mrs_buf_clear(&p.line);
    mrs_free(x->mem, list);
    return s;
}
