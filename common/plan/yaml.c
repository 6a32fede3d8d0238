/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.c - parses the text of a plan into a tree with positions.
 *
 * libyaml emits events; this file builds the tree with an explicit stack and stops at the first event that is deeper
 * than a plan may be, since libyaml itself slows down with depth. An alias is a second pointer to the anchored node, so
 * an alias bomb costs nothing here: its expanded size is added up and limited. Repeated keys, unknown tags and numbers
 * out of range are reported and parsing continues; after a syntax error it cannot. This file must not know the meaning
 * of keys. */
#include "plan_internal.h"
#include "scalar.h"
#include "plan/literal/literal.h"

#include <stdlib.h>
#include <yaml.h>

struct anchor {
    const char *name, *text; /* text of a scalar, in case it is a key; NULL: a map or list */
    uint32_t text_n;
    struct mrsi_yaml_node *node;
};
struct yaml_level {
    struct mrsi_yaml_node *node;
    const char *key; /* the key of the next value; NULL: none */
    uint32_t key_n, line, col;
};
struct yaml_reader {
    struct mrsi_plan *p;
    yaml_parser_t yaml;
    const char *text;
    size_t n;
    size_t chars, at; /* position of a mark in the text: characters, as marks count them, and bytes */
    struct yaml_level level[MRS_PLAN_DEPTH_MAX];
    int depth;
    uint32_t documents, n_anchors, cap_anchors;
    struct anchor *anchors;
    bool stop;
};

static uint32_t
line_of(yaml_mark_t m)
{
    return (uint32_t)m.line + 1;
}

static uint32_t
col_of(yaml_mark_t m)
{
    return (uint32_t)m.column + 1;
}

static bool
is_dead(struct yaml_reader *r)
{
    r->p->dead = true;
    r->stop = true;
    return false;
}

static const char *
keep_text(struct yaml_reader *r, const char *text, size_t n)
{
    MRS_ASSERT(text || n == 0);
    char *copy = mrs_arena_alloc(&r->p->pub.arena, n + 1);
    if (!copy) {
        is_dead(r);
        return NULL;
    }
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

static struct mrsi_yaml_node *
new_node(struct yaml_reader *r, enum mrsi_node_kind kind, yaml_mark_t at)
{
    struct mrsi_yaml_node *node = mrs_arena_alloc(&r->p->pub.arena, sizeof *node);
    if (!node) {
        is_dead(r);
        return NULL;
    }
    memset(node, 0, sizeof *node);
    node->kind = kind;
    node->line = line_of(at);
    node->col = col_of(at);
    node->val = mrs_null();
    return node;
}

/* ---- anchors ---- */
static struct anchor *
anchor_find(struct yaml_reader *r, const char *name)
{
    for (uint32_t i = r->n_anchors; i > 0; i--) {
        if (strcmp(r->anchors[i - 1].name, name) == 0) {
            return &r->anchors[i - 1];
        }
    }
    return NULL;
}

static bool
anchor_add(struct yaml_reader *r, const yaml_char_t *name, struct mrsi_yaml_node *node, const char *text,
           size_t n)
{
    MRS_ASSERT(r->n_anchors <= r->cap_anchors);
    if (!name) {
        return true;
    }
    if (r->n_anchors == MRSI_ANCHORS_MAX) {
        mrsi_plan_error(r->p, node->line, node->col, "more than %u anchors (`&name`) in one plan",
                        MRSI_ANCHORS_MAX);
        r->stop = true;
        return false;
    }
    struct anchor *more = mrs_more(r->p->pub.mem, r->anchors, r->n_anchors, &r->cap_anchors, sizeof *more);
    if (!more) {
        return is_dead(r);
    }
    r->anchors = more;
    struct anchor a = {keep_text(r, (const char *)name, strlen((const char *)name)), NULL,
                       (uint32_t)n, node};
    a.text = text && a.name ? keep_text(r, text, n) : NULL;
    if (r->stop) {
        return false;
    }
    r->anchors[r->n_anchors++] = a;
    return true;
}

/* ---- the tree ---- */
/* Adds the size of a finished value to its map or list. */
static bool
absorb(struct yaml_reader *r, const struct mrsi_yaml_node *child, yaml_mark_t at)
{
    if (r->depth == 0) {
        return true;
    }
    struct mrsi_yaml_node *parent = r->level[r->depth - 1].node;
    parent->size += child->size;
    if (parent->height <= child->height) {
        parent->height = child->height + 1;
    }
    if (parent->size > MRSI_EXPANDED_MAX) {
        mrsi_plan_error(
            r->p, line_of(at), col_of(at),
            "the plan would have more than 16 MiB with its aliases (`*name`) expanded");
    } else if ((uint32_t)r->depth + child->height > MRS_PLAN_DEPTH_MAX) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "maps and lists are nested more than %d deep", MRS_PLAN_DEPTH_MAX);
    } else {
        return true;
    }
    r->stop = true;
    return false;
}

static bool
attach(struct yaml_reader *r, struct mrsi_yaml_node *node, yaml_mark_t at)
{
    MRS_ASSERT(r->depth >= 0 && r->depth <= MRS_PLAN_DEPTH_MAX);
    if (r->depth == 0) {
        r->p->root = node;
        return true;
    }
    struct yaml_level *l = &r->level[r->depth - 1];
    struct mrsi_yaml_entry *entry = mrs_arena_alloc(&r->p->pub.arena, sizeof *entry);
    if (!entry) {
        return is_dead(r);
    }
    memset(entry, 0, sizeof *entry);
    entry->node = node;
    entry->key = l->key ? l->key : "";
    entry->key_n = l->key_n;
    entry->line = l->key ? l->line : line_of(at);
    entry->col = l->key ? l->col : col_of(at);
    if (l->node->last) {
        l->node->last->next = entry;
    } else {
        l->node->first = entry;
    }
    l->node->last = entry;
    l->node->count++;
    l->node->size += l->key ? entry->key_n + 2u : 8u;
    l->key = NULL;
    l->key_n = 0;
    return true;
}

static bool
expects_key(const struct yaml_reader *r)
{
    return r->depth > 0 && r->level[r->depth - 1].node->kind == MRSI_MAP &&
           !r->level[r->depth - 1].key;
}

static bool
take_key(struct yaml_reader *r, const char *text, size_t n, yaml_mark_t at)
{
    MRS_ASSERT(r->depth > 0);
    struct yaml_level *l = &r->level[r->depth - 1];
    if (memchr(text, 0, n)) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "a key holds the character U+0000, which no field name can");
        n = strlen(text);
    }
    l->key = keep_text(r, text, n);
    l->key_n = (uint32_t)n;
    l->line = line_of(at);
    l->col = col_of(at);
    return l->key != NULL;
}

static int
by_key(const void *left, const void *right)
{
    const struct mrsi_yaml_entry *a = *(struct mrsi_yaml_entry *const *)left,
                            *b = *(struct mrsi_yaml_entry *const *)right;
    int c = strcmp(a->key, b->key);
    if (c) {
        return c;
    }
    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    return a->col < b->col ? -1 : a->col > b->col;
}

/* Removes the marked entries (node NULL) from a map. */
static void
drop_marked(struct mrsi_yaml_node *map)
{
    MRS_ASSERT(map->kind == MRSI_MAP);
    struct mrsi_yaml_entry **link = &map->first;
    map->last = NULL;
    map->count = 0;
    for (struct mrsi_yaml_entry *entry = map->first; entry; entry = entry->next) {
        if (entry->node) {
            *link = entry;
            link = &entry->next;
            map->last = entry;
            map->count++;
        }
    }
    *link = NULL;
}

static bool
check_repeated(struct yaml_reader *r, struct mrsi_yaml_node *map)
{
    MRS_ASSERT(map->kind == MRSI_MAP);
    if (map->count < 2) {
        return true;
    }
    struct mrsi_yaml_entry **sorted =
        mrs_alloc_array(r->p->pub.mem, map->count, sizeof(struct mrsi_yaml_entry *));
    if (!sorted) {
        return is_dead(r);
    }
    uint32_t n = 0;
    for (struct mrsi_yaml_entry *entry = map->first; entry; entry = entry->next) {
        sorted[n++] = entry;
    }
    qsort(sorted, n, sizeof(struct mrsi_yaml_entry *), by_key);
    bool any = false;
    for (uint32_t i = 1, first = 0; i < n; i++) {
        if (strcmp(sorted[i]->key, sorted[first]->key) != 0) {
            first = i;
            continue;
        }
        mrsi_plan_error(r->p, sorted[i]->line, sorted[i]->col,
                        "key `%.80s` occurs twice in this map, first at line %u, column %u",
                        sorted[i]->key, sorted[first]->line, sorted[first]->col);
        sorted[i]->node = NULL;
        any = true;
    }
    mrs_free(r->p->pub.mem, sorted);
    if (any) {
        drop_marked(map);
    }
    return true;
}

/* ---- events ---- */
static bool
open_container(struct yaml_reader *r, enum mrsi_node_kind kind, const yaml_char_t *anchor,
               const yaml_char_t *tag, yaml_mark_t at)
{
    MRS_ASSERT(r->depth >= 0 && r->depth <= MRS_PLAN_DEPTH_MAX);
    if (expects_key(r)) {
        mrsi_plan_error(
            r->p, line_of(at), col_of(at),
            "a key must be text, not a %s; put quotes around a text that begins with `%s`",
            kind == MRSI_MAP ? "map" : "list", kind == MRSI_MAP ? "{" : "[");
        r->stop = true;
        return false;
    }
    if (r->depth == MRS_PLAN_DEPTH_MAX) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "maps and lists are nested more than %d deep", MRS_PLAN_DEPTH_MAX);
        r->stop = true;
        return false;
    }
    const char *own = kind == MRSI_MAP ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq";
    if (tag && strcmp((const char *)tag, own) != 0) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "tag `%.80s` is not known for a %s; plans need no tags", (const char *)tag,
                        kind == MRSI_MAP ? "map" : "list");
    }
    struct mrsi_yaml_node *node = new_node(r, kind, at);
    if (!node || !attach(r, node, at) || !anchor_add(r, anchor, node, NULL, 0)) {
        return false;
    }
    node->open = true;
    node->size = 5;
    node->height = 1;
    r->level[r->depth++] = (struct yaml_level){.node = node};
    return true;
}

static bool
close_container(struct yaml_reader *r, yaml_mark_t at)
{
    struct mrsi_yaml_node *node = r->level[--r->depth].node;
    node->open = false;
    return (node->kind != MRSI_MAP || check_repeated(r, node)) && absorb(r, node, at);
}

static void
scalar_error(struct yaml_reader *r, enum mrsi_scalar s, const char *text, const yaml_char_t *tag,
             yaml_mark_t at)
{
    if (s == MRSI_SCALAR_TOO_LARGE) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "number %.60s is too large: whole numbers have 64 bits, others are "
                        "doubles; put quotes around a text, or write "
                        "{$numberDecimal: \"...\"}",
                        text);
    } else if (tag && strncmp((const char *)tag, "tag:yaml.org,2002:", 18) == 0) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "tag `!!%.40s` does not go with `%.60s`; plans need no tags, types are Extended JSON "
                        "({$date: \"2020-01-31T12:00:00Z\"})",
                        (const char *)tag + 18, text);
    } else {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "tag `%.80s` is not known; put quotes around a text that begins with `!`, "
                        "types are Extended JSON ({$oid: \"...\"})",
                        (const char *)tag);
    }
}

static bool
scalar_value(struct yaml_reader *r, const yaml_event_t *ev, struct mrs_val *out)
{
    const char *text = (const char *)ev->data.scalar.value,
               *tag = (const char *)ev->data.scalar.tag;
    size_t n = ev->data.scalar.length;
    struct mrsi_scalar_room room;
    enum mrsi_scalar s = MRSI_SCALAR_TEXT;
    if (tag) {
        s = mrsi_scalar_tagged(tag, text, n, &room);
    } else if (ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        s = mrsi_scalar_plain(text, n, &room);
    }
    if (s == MRSI_SCALAR_NO_MEMORY) {
        return is_dead(r);
    }
    if (s == MRSI_SCALAR_VALUE) {
        return mrs_val_copy(&r->p->pub.arena, room.val, out) || is_dead(r);
    }
    if (s != MRSI_SCALAR_TEXT) {
        scalar_error(r, s, text, ev->data.scalar.tag, ev->start_mark);
    }
    *out = mrs_make_text(&r->p->pub.arena, text, (uint32_t)n);
    return out->type != MRS_MISSING || is_dead(r);
}

/* 08010 becomes a number, although it was a postal code */
static void
warn_of_zeros(struct yaml_reader *r, const struct mrsi_yaml_node *node, const char *text)
{
    const char *first = text + (*text == '-' || *text == '+');
    if (node->plain && node->val.type != MRS_STRING && *first == '0' && first[1] >= '0' && first[1] <= '9') {
        mrsi_plan_warning(r->p, node->line, node->col,
                          "%.60s is a number, of which the zeros in front are lost; put quotes around a text", text);
    }
}

/* The text from a mark on; requested marks never go back. */
static struct mrsi_span
text_from(struct yaml_reader *r, yaml_mark_t mark)
{
    MRS_ASSERT(r->chars <= mark.index && r->at <= r->n);
    for (; r->chars < mark.index && r->at < r->n; r->chars++) {
        do {
            r->at++;
        } while (r->at < r->n && ((uint8_t)r->text[r->at] & 0xC0) == 0x80);
    }
    return (struct mrsi_span){r->text + r->at, r->n - r->at};
}

/* `User #1` is `User`, and the rest is a comment; most comments begin with a blank after the #. */
static void
warn_of_comment(struct yaml_reader *r, const struct mrsi_yaml_node *node, const yaml_event_t *ev)
{
    if (!node->plain || node->empty) {
        return;
    }
    struct mrsi_span rest = text_from(r, ev->end_mark);
    if (rest.n < 3 || memcmp(rest.p, " #", 2) != 0 || strchr(" \t\r\n#", rest.p[2])) {
        return;
    }
    int shown = 2;
    while (shown < 12 && (size_t)shown < rest.n && (uint8_t)rest.p[shown] > ' ' && (uint8_t)rest.p[shown] < 127) {
        shown++;
    }
    mrsi_plan_warning(r->p, node->line, node->col,
                      "`%.60s` is all of this value, for`%.*s` begins a comment; put quotes around a text, and a blank "
                      "behind the # of a comment", (const char *)ev->data.scalar.value, shown, rest.p);
}

static bool
on_scalar(struct yaml_reader *r, const yaml_event_t *ev)
{
    MRS_ASSERT(ev->type == YAML_SCALAR_EVENT);
    const char *text = (const char *)ev->data.scalar.value;
    size_t n = ev->data.scalar.length;
    struct mrsi_yaml_node *node = new_node(r, MRSI_SCALAR, ev->start_mark);
    if (!node || !anchor_add(r, ev->data.scalar.anchor, node, text, n)) {
        return false;
    }
    if (expects_key(r)) { /* always text here; as a value, for an alias, it is resolved */
        return take_key(r, text, n, ev->start_mark) &&
               (!ev->data.scalar.anchor || scalar_value(r, ev, &node->val));
    }
    if (!scalar_value(r, ev, &node->val)) {
        return false;
    }
    node->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !ev->data.scalar.tag;
    node->empty = node->plain && n == 0;
    warn_of_zeros(r, node, text);
    warn_of_comment(r, node, ev);
    node->size = node->val.n;
    return attach(r, node, ev->start_mark) && absorb(r, node, ev->start_mark);
}

static bool
on_alias(struct yaml_reader *r, const yaml_event_t *ev)
{
    MRS_ASSERT(ev->type == YAML_ALIAS_EVENT);
    const char *name = (const char *)ev->data.alias.anchor;
    yaml_mark_t at = ev->start_mark;
    struct anchor *a = anchor_find(r, name);
    struct mrsi_yaml_node *node = a ? a->node : new_node(r, MRSI_SCALAR, at);
    if (!a) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "alias `*%.60s` names no anchor above it; put quotes around a text that "
                        "begins with `*`",
                        name);
    } else if (node->open) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "alias `*%.60s` is inside its own anchor: the plan would be endless",
                        name);
        node = new_node(r, MRSI_SCALAR, at);
    }
    if (!node) {
        return false;
    }
    if (expects_key(r)) {
        if (a && !a->text) {
            mrsi_plan_error(r->p, line_of(at), col_of(at),
                            "a key is text, but `*%.60s` names a map or a list", name);
        }
        return take_key(r, a && a->text ? a->text : "", a && a->text ? a->text_n : 0, at);
    }
    return attach(r, node, at) && absorb(r, node, at);
}

static bool
on_event(struct yaml_reader *r, const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->documents++) {
            mrsi_plan_error(
                r->p, line_of(ev->start_mark), col_of(ev->start_mark),
                "a second document begins here; a plan is one document, so `---` may occur once");
            r->stop = true;
        }
        return !r->stop;
    case YAML_SCALAR_EVENT: return on_scalar(r, ev);
    case YAML_ALIAS_EVENT: return on_alias(r, ev);
    case YAML_MAPPING_START_EVENT:
        return open_container(r, MRSI_MAP, ev->data.mapping_start.anchor,
                              ev->data.mapping_start.tag, ev->start_mark);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(r, MRSI_LIST, ev->data.sequence_start.anchor,
                              ev->data.sequence_start.tag, ev->start_mark);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: return close_container(r, ev->start_mark);
    default: return true;
    }
}

/* ---- syntax errors ---- */
static size_t
line_start(const struct yaml_reader *r, yaml_mark_t at)
{
    size_t i = 0, line = 0;
    while (i < r->n && line < at.line) {
        line += r->text[i++] == '\n';
    }
    return i;
}

static char
char_at(const struct yaml_reader *r, yaml_mark_t at)
{
    size_t i = line_start(r, at), col = 0;
    while (i < r->n && r->text[i] != '\n' && col < at.column) {
        do {
            i++;
        } while (i < r->n && ((uint8_t)r->text[i] & 0xC0) == 0x80);
        col++;
    }
    return i < r->n ? r->text[i] : '\0';
}

static const char *
advice(const struct yaml_reader *r)
{
    static const struct {
        const char *problem, *advice;
    } known[] = {
        {"mapping values are not allowed",
         "; a text that holds `: ` needs quotes, and a nested map begins on a line of its own"},
        {"did not find expected ',' or", "; a bracket is not closed, or a comma is missing"},
        {"did not find expected key",
         "; check the indentation: the keys of one map begin in one column"},
        {"did not find expected '-'",
         "; check the indentation: the entries of one list begin in one column"},
        {"block sequence entries are not",
         "; check the indentation: the entries of one list begin in one column"},
        {"could not find expected ':'", "; a key needs `: ` after it"},
        {"found unexpected end of stream", "; a quote is not closed"},
    };
    const char *problem = r->yaml.problem ? r->yaml.problem : "";
    if (char_at(r, r->yaml.problem_mark) == '/') {
        return "; a comment begins with `#`, and a text that begins with `/` needs quotes";
    }
    if (strstr(problem, "cannot start any token")) {
        return char_at(r, r->yaml.problem_mark) == '\t' ? "; a tab cannot indent, use spaces"
                                                        : "; put quotes around this text";
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(problem, known[i].problem)) {
            return known[i].advice;
        }
    }
    return "";
}

/* The byte at an offset: its line and column. */
static void
place_of(const struct yaml_reader *r, size_t offset, uint32_t *line, uint32_t *col)
{
    *line = *col = 1;
    for (size_t i = 0; i < offset && i < r->n; i++) {
        bool end = r->text[i] == '\n';
        *line += end;
        *col = end ? 1 : *col + (((uint8_t)r->text[i] & 0xC0) != 0x80);
    }
}

static void
syntax_error(struct yaml_reader *r)
{
    const yaml_parser_t *y = &r->yaml;
    if (y->error == YAML_MEMORY_ERROR) {
        is_dead(r);
        return;
    }
    const char *problem = y->problem ? y->problem : "it cannot be read";
    if (y->error == YAML_READER_ERROR) {
        uint32_t line, col;
        place_of(r, y->problem_offset, &line, &col);
        const char *advice = memchr(r->text, 0, r->n)   ? "; this is UTF-16 or no text: save the file as UTF-8"
                             : strstr(problem, "octet") ? "; save the file as UTF-8"
                                                        : "";
        mrsi_plan_error(r->p, line, col, "not valid YAML in UTF-8: %s%s", problem, advice);
        return;
    }
    yaml_mark_t at = y->problem_mark;
    char context[160] = "";
    if (y->context && strstr(problem, "could not find expected ':'")) {
        at = y->context_mark; /* start of the key, not the end of the search for its colon */
    } else if (y->context) {
        snprintf(context, sizeof context, " %.60s that began at line %u, column %u", y->context,
                 line_of(y->context_mark), col_of(y->context_mark));
    }
    struct mrsi_literal shown;
    size_t from = line_start(r, at);
    const char *end = memchr(r->text + from, '\n', r->n - from);
    struct mrsi_span line = {r->text + from, end ? (size_t)(end - r->text) - from : r->n - from};
    if (mrsi_literal_find(r->p->pub.mem, line, &shown)) {
        mrsi_plan_error(r->p, line_of(at), col_of(at),
                        "not valid YAML: %s%s; instead of a literal of the shell write %s", problem, context,
                        shown.text);
        return;
    }
    mrsi_plan_error(r->p, line_of(at), col_of(at), "not valid YAML: %s%s%s", problem, context,
                    advice(r));
}

/* Characters that end a line in YAML 1.1 and no longer in 1.2: libyaml would make blanks of them, or lose one. */
static bool
has_old_line_break(struct yaml_reader *r)
{
    static const struct {
        const char *bytes;
        unsigned code;
    } old[] = {{"\xC2\x85", 0x85}, {"\xE2\x80\xA8", 0x2028}, {"\xE2\x80\xA9", 0x2029}};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        const char *at = memmem(r->text, r->n, old[i].bytes, strlen(old[i].bytes));
        if (at) {
            uint32_t line, col;
            place_of(r, (size_t)(at - r->text), &line, &col);
            mrsi_plan_error(r->p, line, col, "U+%04X is here, which ends a line for some readers of YAML: write "
                            "\\u%04x between double quotes", old[i].code, old[i].code);
            return true;
        }
    }
    return false;
}

static bool
too_many_directives(struct yaml_reader *r)
{
    uint32_t line = 1, found = 0;
    for (size_t i = 0; i < r->n; i++) {
        found += r->text[i] == '%' && (i == 0 || r->text[i - 1] == '\n' || r->text[i - 1] == '\r');
        if (found > MRSI_DIRECTIVES_MAX) {
            mrsi_plan_error(r->p, line, 1,
                            "more than %u lines that begin with `%%`: a plan needs no directives",
                            MRSI_DIRECTIVES_MAX);
            return true;
        }
        line += r->text[i] == '\n';
    }
    return false;
}

static void
read_events(struct yaml_reader *r)
{
    bool end = false;
    yaml_parser_set_encoding(&r->yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->yaml, (const unsigned char *)r->text, r->n);
    while (!end && !r->stop) {
        yaml_event_t ev;
        if (!yaml_parser_parse(&r->yaml, &ev)) {
            syntax_error(r);
            r->stop = true;
            break;
        }
        end = ev.type == YAML_STREAM_END_EVENT;
        if (!on_event(r, &ev)) {
            r->stop = true;
        }
        yaml_event_delete(&ev);
    }
}

bool
mrsi_yaml_read(struct mrsi_plan *p, const char *text, size_t n)
{
    MRS_ASSERT(!p->root && (text || n == 0));
    struct yaml_reader *r = mrs_zalloc(p->pub.mem, sizeof *r);
    if (!r) {
        p->dead = true;
        return false;
    }
    r->p = p;
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark, which libyaml would read as text */
        text += 3;
        n -= 3;
    }
    if (!mrsi_json_pairs(p, text, n, &r->text, &r->n) || has_old_line_break(r) || too_many_directives(r)) {
        r->stop = true;
    } else if (!yaml_parser_initialize(&r->yaml)) {
        is_dead(r);
    } else {
        read_events(r);
        yaml_parser_delete(&r->yaml);
    }
    bool whole = !r->stop;
    mrs_free(p->pub.mem, r->anchors);
    mrs_free(p->pub.mem, r);
    return whole && !p->dead;
}
