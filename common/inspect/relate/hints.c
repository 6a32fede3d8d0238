/* SPDX-License-Identifier: Apache-2.0 */
/* hints.c - the user's hints on references: lines `a.x -> b.y`, and `!a.x -> b.y`: not a reference.
 *
 * A side is a collection, with or without its database, a dot and a path; `[]` is optional. Empty lines and comments,
 * from a `#` at the beginning or after a blank, are ignored. */
#include "hints.h"
#include <stdio.h>

/* Whether two paths are equal, ignoring `[]`. */
static bool
same_path(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (a[0] == '[' && a[1] == ']') {
            a += 2;
        }
        while (b[0] == '[' && b[1] == ']') {
            b += 2;
        }
        if (*a != *b) {
            return false;
        }
        if (!*a) {
            return true;
        }
    }
}

static struct mrsi_path *
below(struct mrsi_collection *c, const char *name, const char *text)
{
    size_t n = strlen(name);
    if (strncmp(text, name, n) != 0 || text[n] != '.') {
        return NULL;
    }
    struct mrsi_path *last = NULL; /* elements follow their array, names of `*` its values */
    for (uint32_t i = 0; i < c->paths; i++) {
        last = same_path(c->path[i].text, text + n + 1) ? &c->path[i] : last;
    }
    return last;
}

static struct mrsi_path *
path_of(const struct mrsi_inspection *x, const char *text)
{
    for (uint32_t i = 0; i < x->colls; i++) {
        struct mrsi_path *p = below(&x->coll[i], x->coll[i].ns, text);
        p = p ? p : below(&x->coll[i], x->coll[i].name, text);
        if (p) {
            return p;
        }
    }
    return NULL;
}

static void
trim(char *text)
{
    size_t n = strlen(text), from = strspn(text, " \t\r");
    while (n > from && strchr(" \t\r", text[n - 1])) {
        n--;
    }
    memmove(text, text + from, n - from);
    text[n - from] = 0;
}

/* The path of a side, without blanks around it, and without a comment behind it if no field has its `#` in the name. */
static struct mrsi_path *
side_of(const struct mrsi_inspection *x, char *text)
{
    trim(text);
    struct mrsi_path *p = path_of(x, text);
    char *comment = strchr(text, '#');
    while (comment && comment > text && !strchr(" \t", comment[-1])) {
        comment = strchr(comment + 1, '#');
    }
    if (p || !comment) {
        return p;
    }
    *comment = 0;
    trim(text);
    return path_of(x, text);
}

static enum mrs_status
one_line(struct mrsi_relating *x, char *line, uint32_t no, struct mrs_err *e)
{
    MRS_ASSERT(line && no > 0);
    struct mrsi_hint h = {.none = *line == '!'};
    char *arrow = strstr(line, "->"), *sides[2] = {line + h.none, arrow ? arrow + 2 : NULL};
    if (!arrow) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--hints, line %u: `db.coll.path -> db.coll.path` is expected",
                           no);
    }
    *arrow = 0;
    for (int i = 0; i < 2; i++) {
        struct mrsi_path *p = side_of(x->x, sides[i]);
        if (!p) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--hints, line %u: the input has no path %.200s", no,
                               sides[i]);
        }
        *(i ? &h.to : &h.from) = p;
    }
    struct mrsi_hint *more = mrs_arena_more(&x->x->arena, x->hint, x->hints, &x->hint_cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    x->hint = more;
    x->hint[x->hints++] = h;
    return MRS_OK;
}

enum mrs_status
mrsi_hints_read(struct mrsi_relating *x, const char *text, struct mrs_err *e)
{
    MRS_ASSERT(x->hints <= x->hint_cap);
    enum mrs_status s = MRS_OK;
    char line[2048];
    for (uint32_t no = 1; s == MRS_OK && text && *text; no++) {
        size_t n = strcspn(text, "\n");
        if (n >= sizeof line) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--hints, line %u: too long", no);
        }
        memcpy(line, text, n);
        line[n] = 0;
        trim(line);
        s = *line && *line != '#' ? one_line(x, line, no, e) : MRS_OK;
        text += n + (text[n] == '\n');
    }
    return s;
}

const struct mrsi_hint *
mrsi_hint_of(const struct mrsi_relating *x, const struct mrsi_path *from, const struct mrsi_path *to)
{
    for (uint32_t i = 0; i < x->hints; i++) {
        if (x->hint[i].from == from && x->hint[i].to == to) {
            return &x->hint[i];
        }
    }
    return NULL;
}
