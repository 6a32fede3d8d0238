/* SPDX-License-Identifier: Apache-2.0 */
/* settle.c - brings a tree of paths into its final form: document order, names that are data as one path. */
#include "figures.h"
#include <stdlib.h>

static int
in_document_order(const void *a, const void *b)
{
    const struct mrsi_trie *x = *(struct mrsi_trie *const *)a, *y = *(struct mrsi_trie *const *)b;
    if (x->first_at != y->first_at) {
        return x->first_at < y->first_at ? -1 : 1;
    }
    int d = strcmp(x->name, y->name);
    return d ? d : (int)x->kind - (int)y->kind;
}

static bool
sort_children(struct mrsi_figures *f, struct mrsi_trie *s)
{
    if (s->children < 2) {
        return true;
    }
    struct mrsi_trie **list = mrs_alloc_array(f->mem, s->children, sizeof(struct mrsi_trie *));
    uint32_t n = 0;
    if (!list) {
        return false;
    }
    for (struct mrsi_trie *c = s->first; c; c = c->next) {
        list[n++] = c;
    }
    qsort(list, n, sizeof(struct mrsi_trie *), in_document_order);
    for (uint32_t i = 0; i < n; i++) {
        list[i]->next = i + 1 < n ? list[i + 1] : NULL;
    }
    s->first = list[0];
    s->last = list[n - 1];
    s->expect = NULL;
    mrs_free(f->mem, list);
    return true;
}

/* Moves the counts of a field to `*`, its name to the names, and all nodes below it below `*`. */
static bool
fold_one(struct mrsi_figures *f, struct mrsi_trie *any, struct mrsi_trie *c)
{
    MRS_ASSERT(any != c);
    struct mrsi_trie *mine = any;
    for (struct mrsi_trie *at = c, *next; at; at = next) {
        mrsi_trie_merge(f, mine, at);
        next = at == c && !at->first ? NULL : mrsi_trie_after(c, at);
        for (struct mrsi_trie *up = at; next && up != next->parent; up = up->parent) {
            mine = mine->parent;
        }
        mine = next ? mrsi_trie_child(f, mine, next->kind, next->name, next->name_len) : mine;
        if (!mine) {
            return false;
        }
    }
    if (c->kind == MRSI_FIELD && c->name_len <= MRSI_NAME_MAX) {
        uint8_t room[MRSI_NAME_MAX + 5];
        struct mrs_val name = mrsi_name_value(c->name, c->name_len, room);
        mrsi_counted_add(f, any->names, &name);
        mrsi_figures_drain(f);
    }
    return !f->dead;
}

enum { CODES = 20 };
static bool
is_code(const struct mrsi_trie *c)
{
    return c->name[strcspn(c->name, "0123456789-./:@ ")] != 0;
}

/* Whether the names are data: more than a schema defines, or codes, of which an object has few. */
static bool
are_data(const struct mrsi_trie *s)
{
    uint64_t present = 0;
    uint32_t codes = 0;
    for (const struct mrsi_trie *c = s->first; c && s->children > CODES; c = c->next) {
        present += c->values.all;
        codes += is_code(c);
    }
    return s->children > MRSI_NAMES || (codes > CODES && codes * 10 >= s->children * 9 &&
                                        present * 5 <= s->children * s->values.n[MRSI_OBJECT]);
}

/* Names that are data become one path. */
static bool
fold_names(struct mrsi_figures *f, struct mrsi_trie *s)
{
    struct mrsi_trie *list = s->first;
    if (!are_data(s)) {
        return true;
    }
    s->first = s->last = s->expect = NULL;
    s->children = 0;
    struct mrsi_trie *any = mrsi_trie_child(f, s, MRSI_ANY, "*", 1);
    struct mrsi_counted *names = any ? mrs_arena_alloc(&f->arena, sizeof *names) : NULL;
    bool ok = names != NULL;
    if (ok) {
        memset(names, 0, sizeof *names);
        any->names = names;
    }
    for (struct mrsi_trie *c = list; c; c = c->next) { /* an existing ANY is handled like the others */
        ok = ok && fold_one(f, any, c);
        mrsi_trie_clear(c, f->mem);
    }
    return ok;
}

/* Workers keep a few values more than necessary; what is left depends on the documents alone. */
static bool
shrink(struct mrsi_figures *f, struct mrsi_counted *c)
{
    uint32_t size = mrsi_figures_sample(f);
    return !c || ((!c->sketch.slot || mrsi_sketch_shrink(&c->sketch, f->mem, size)) &&
                  (!c->numbers.slot || mrsi_sketch_shrink(&c->numbers, f->mem, size)));
}

enum mrs_status
mrsi_figures_settle(struct mrsi_figures *f, struct mrs_err *e)
{
    MRS_ASSERT(f->root);
    bool ok = true;
    for (struct mrsi_trie *s = f->root; ok && s; s = mrsi_trie_after(f->root, s)) {
        ok = (!s->parent || fold_names(f, s)) && sort_children(f, s) && shrink(f, &s->values) && shrink(f, s->names);
    }
    return ok && !f->dead ? MRS_OK : mrs_err_memory(e, MRSI_REGISTERS);
}
