/* SPDX-License-Identifier: Apache-2.0 */
/* lower_kit.c - shared by the files that convert steps to pipelines: stages, counts, names. */
#include "lower.h"
#include <stdio.h>

/* ---- building ---- */
struct mrs_view
mrsi_lower_doc(struct mrsi_lower *l, const char *text, ...)
{
    MRS_ASSERT(text);
    struct mrs_view d = {NULL, 0};
    va_list ap;
    va_start(ap, text);
    bool made = mrs_compose_in(l->arena, &d, NULL, text, &ap) == MRS_OK;
    va_end(ap);
    l->failed = l->failed || !made;
    return made ? d : mrs_empty_doc();
}

void
mrsi_lower_open(struct mrsi_lower *l)
{
    mrs_buf_reset(&l->buf);
    mrs_build_init(&l->b, &l->buf);
}

void
mrsi_lower_begin(struct mrsi_lower *l, bool all)
{
    struct mrs_val where = mrsi_lower_key(l, "where");
    mrsi_lower_open(l);
    if (where.type == MRS_DOCUMENT && !all) {
        mrsi_lower_stage(l, "{$match: %v}", where);
    }
}

void
mrsi_lower_stage(struct mrsi_lower *l, const char *text, ...)
{
    MRS_ASSERT(text && l->b.depth > 0);
    struct mrs_view d = {NULL, 0};
    va_list ap;
    va_start(ap, text);
    l->failed = mrs_compose_in(l->arena, &d, NULL, text, &ap) != MRS_OK || l->failed;
    va_end(ap);
    if (d.n) {
        mrs_build_item(&l->b, mrs_view_val(d));
    }
}

struct mrs_view
mrsi_lower_end(struct mrsi_lower *l)
{
    struct mrs_view d = {NULL, 0};
    if (mrs_build_finish(&l->b, &d, NULL) == MRS_OK) {
        d.p = mrs_arena_copy(l->arena, d.p, d.n);
    }
    l->failed = l->failed || d.p == NULL;
    return d.p ? d : mrs_empty_doc();
}

static bool
add_count(struct mrsi_lower *l, struct mrs_lowered_count c)
{
    struct mrs_lowered *o = l->out;
    bool room = o->n_counts < MRS_LOWERED_PARTS;
    if (room) {
        o->count[o->n_counts++] = c;
    }
    return room;
}

/* The stages so far with one more, in the arena; more stages may follow. */
static struct mrs_view
stages_with(struct mrsi_lower *l, struct mrs_view last)
{
    MRS_ASSERT(l->b.depth > 0);
    struct mrs_build before = l->b;
    size_t n = l->buf.n;
    if (last.n) {
        mrs_build_item(&l->b, mrs_view_val(last));
    }
    struct mrs_view stages = mrsi_lower_end(l);
    l->b = before;
    l->buf.n = n < l->buf.n ? n : l->buf.n;
    return stages;
}

/* Finds the documents that a server would change on insert: it puts its own time for a top-level Timestamp(0, 0). */
static struct mrs_view
match_zero_time(struct mrsi_lower *l)
{
    static const unsigned char zero[8];
    return mrsi_lower_doc(l, "{$match: {$expr: {$in: [%v, {$map: {input: {$objectToArray: '$$ROOT'}, as: 'f', in: "
                             "'$$f.v'}}]}}}",
                          (struct mrs_val){zero, sizeof zero, MRS_TIMESTAMP});
}

/* In place, an expression replaces the document: "replace" would put the server's time for a Timestamp(0, 0), too. */
bool
mrsi_lower_write(struct mrsi_lower *l, const struct mrs_coll *on, const struct mrs_coll *into)
{
    MRS_ASSERT(l->out->n_writes <= MRS_LOWERED_PARTS);
    static const char *const how[] = {"{how: [{$replaceWith: '$$new'}]}", "{how: 'fail'}"};
    struct mrs_lowered *o = l->out;
    const struct mrs_coll *to = into ? into : on;
    struct mrs_view matched = mrsi_lower_doc(l, how[into != NULL]), none = {NULL, 0};
    struct mrs_view merge = mrsi_lower_doc(l, "{$merge: {into: {db: %s, coll: %s}, on: '_id', whenMatched: %v, "
                                              "whenNotMatched: %s}}",
                                           to->db, to->coll, mrs_doc_get(matched, "how"), into ? "insert" : "discard");
    if (o->n_writes == MRS_LOWERED_PARTS ||
        (into && !add_count(l, (struct mrs_lowered_count){.on = on, .stages = stages_with(l, match_zero_time(l)),
                                                          .why = "documents to insert with a Timestamp(0, 0)"}))) {
        return false;
    }
    o->write[o->n_writes++] =
        (struct mrs_lowered_write){on, to, into != NULL, stages_with(l, none), stages_with(l, merge)};
    return true;
}

static bool
add_removal(struct mrsi_lower *l, struct mrs_lowered_removal r)
{
    struct mrs_lowered *o = l->out;
    bool room = o->n_removals < MRS_LOWERED_PARTS;
    if (room) {
        o->removal[o->n_removals++] = r;
    }
    return room;
}

bool
mrsi_lower_count_stages(struct mrsi_lower *l, const struct mrs_coll *on, const char *why)
{
    return add_count(l, (struct mrs_lowered_count){.on = on, .stages = mrsi_lower_end(l), .why = why});
}

bool
mrsi_lower_remove_stages(struct mrsi_lower *l, const struct mrs_coll *on)
{
    return add_removal(l, (struct mrs_lowered_removal){.on = on, .stages = mrsi_lower_end(l)});
}

/* `where` and the filter combined. */
static struct mrs_view
both(struct mrsi_lower *l, struct mrs_view filter)
{
    struct mrs_val where = mrsi_lower_key(l, "where");
    if (where.type != MRS_DOCUMENT) {
        return filter.n ? filter : mrs_empty_doc();
    }
    return filter.n ? mrsi_lower_doc(l, "{$and: [%v, %d]}", where, filter) : mrs_val_view(where);
}

bool
mrsi_lower_count(struct mrsi_lower *l, const struct mrs_coll *on, struct mrs_view filter, const char *why)
{
    return add_count(l, (struct mrs_lowered_count){.on = on, .filter = both(l, filter), .why = why});
}

bool
mrsi_lower_remove(struct mrsi_lower *l, const struct mrs_coll *on, struct mrs_view filter)
{
    return add_removal(l, (struct mrs_lowered_removal){.on = on, .filter = both(l, filter)});
}

bool
mrsi_lower_command(struct mrsi_lower *l, const char *db, struct mrs_view doc)
{
    struct mrs_lowered *o = l->out;
    bool room = o->n_commands < MRS_LOWERED_PARTS;
    if (room) {
        o->command[o->n_commands++] = (struct mrs_lowered_command){db, doc};
    }
    return room;
}

void
mrsi_lower_put_value(struct mrsi_lower *l, const struct mrs_elem *el)
{
    MRS_ASSERT(el->name_len > 0);
    if (el->v.type != MRS_DOCUMENT || mrsi_lower_is_operator(el->v)) {
        mrs_build_elem(&l->b, el);
        return;
    }
    mrs_build_open(&l->b, el->name, el->name_len, MRS_DOCUMENT);
    mrs_build_open(&l->b, "$mergeObjects", 13, MRS_ARRAY);
    mrs_build_item(&l->b, el->v);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
}

/* ---- keys and names ---- */
bool
mrsi_lower_plain(const char *name, uint32_t n)
{
    return n > 0 && name[0] != '$' && !memchr(name, '.', n) && !memchr(name, '*', n) && !memchr(name, 0, n);
}

struct mrs_val
mrsi_lower_key(const struct mrsi_lower *l, const char *key)
{
    return mrs_doc_get(l->body, key);
}

bool
mrsi_lower_has_key(const struct mrsi_lower *l, const char *key)
{
    return mrsi_lower_key(l, key).type != MRS_MISSING;
}

bool
mrsi_lower_is_true(const struct mrsi_lower *l, const char *key)
{
    struct mrs_val v = mrsi_lower_key(l, key);
    return v.type == MRS_BOOL && *v.p;
}

const char *
mrsi_lower_name(const struct mrsi_lower *l, const char *key)
{
    struct mrs_val v = mrsi_lower_key(l, key);
    uint32_t n = 0;
    const char *name = v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
    return mrsi_lower_plain(name, n) ? name : NULL;
}

const char *
mrsi_lower_path(struct mrsi_lower *l, const char *name)
{
    MRS_ASSERT(name);
    size_t n = strlen(name);
    char *path = mrs_arena_alloc(l->arena, n + 2);
    l->failed = l->failed || !path;
    if (!path) {
        return "";
    }
    *path = '$';
    memcpy(path + 1, name, n + 1);
    return path;
}

bool
mrsi_lower_is_default(const struct mrsi_lower *l, const char *key, const char *word)
{
    struct mrs_val v = mrsi_lower_key(l, key);
    return v.type == MRS_MISSING || mrs_val_is_text(v, word);
}

const char *
mrsi_lower_no_stages(struct mrsi_lower *l, const char *key)
{
    char text[120];
    int n = snprintf(text, sizeof text, "`%.60s`, or this value of it, has no stages: use the client engine", key);
    MRS_ASSERT(n > 0 && (size_t)n < sizeof text);
    const char *reason = mrs_arena_copy(l->arena, text, (size_t)n + 1);
    l->failed = l->failed || !reason;
    return reason ? reason : key;
}

const char *
mrsi_lower_not_default(struct mrsi_lower *l, const char *key, const char *word)
{
    return mrsi_lower_is_default(l, key, word) ? NULL : mrsi_lower_no_stages(l, key);
}

bool
mrsi_lower_has_word(const struct mrsi_lower *l, const char *key, const char *word)
{
    return mrs_val_is_text(mrsi_lower_key(l, key), word);
}

static const char *
judge(const char *name, uint32_t n)
{
    if (!mrsi_lower_plain(name, n)) {
        return n && memchr(name, '.', n) ? MRSI_LOWER_DEEP : MRSI_LOWER_SPECIAL_NAME;
    }
    return n == 3 && memcmp(name, "_id", 3) == 0 ? MRSI_LOWER_ID : NULL;
}

const char *
mrsi_lower_judge_list(struct mrs_val list)
{
    MRS_ASSERT(mrs_val_is_sized(list));
    struct mrs_walk w;
    struct mrs_elem el;
    const char *why = list.type == MRS_ARRAY ? NULL : MRSI_LOWER_SPECIAL_NAME;
    if (!why) {
        mrs_walk_init(&w, mrs_val_view(list));
    }
    while (!why && mrs_walk_next(&w, &el) == 1) {
        uint32_t n = 0;
        const char *name = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        why = judge(name, n);
    }
    return why;
}

const char *
mrsi_lower_judge_map(struct mrs_val map)
{
    MRS_ASSERT(mrs_val_is_sized(map));
    struct mrs_walk w;
    struct mrs_elem el;
    const char *why = map.type == MRS_DOCUMENT ? NULL : MRSI_LOWER_SPECIAL_NAME;
    if (!why) {
        mrs_walk_init(&w, mrs_val_view(map));
    }
    while (!why && mrs_walk_next(&w, &el) == 1) {
        why = judge(el.name, el.name_len);
    }
    return why;
}

bool
mrsi_lower_is_operator(struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc());
    return mrs_walk_next(&w, &el) == 1 && el.name[0] == '$';
}

bool
mrsi_lower_names(struct mrs_val list, const char *name)
{
    MRS_ASSERT(name && mrs_val_is_sized(list));
    struct mrs_walk w;
    struct mrs_elem el;
    bool found = false;
    mrs_walk_init(&w, list.type == MRS_ARRAY ? mrs_val_view(list) : mrs_empty_doc());
    while (!found && mrs_walk_next(&w, &el) == 1) {
        found = mrs_val_is_text(el.v, name);
    }
    return found;
}

struct mrs_view
mrsi_lower_have(struct mrsi_lower *l, struct mrs_val list)
{
    MRS_ASSERT(list.type == MRS_ARRAY || list.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_view d = {NULL, 0};
    mrsi_lower_open(l);
    mrs_walk_init(&w, mrs_val_view(list));
    while (mrs_walk_next(&w, &el) == 1) {
        uint32_t n;
        const char *name = el.v.type == MRS_STRING && list.type == MRS_ARRAY ? mrs_val_text(el.v, &n) : el.name;
        d = mrsi_lower_doc(l, "{%s: {$exists: true}}", name);
        mrs_build_item(&l->b, mrs_view_val(d));
    }
    d = mrsi_lower_end(l);
    return mrsi_lower_doc(l, "{$or: %a}", d);
}

struct mrs_view
mrsi_lower_own_paths(struct mrsi_lower *l, struct mrs_val names)
{
    MRS_ASSERT(names.type == MRS_ARRAY || names.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_lower_open(l);
    mrs_walk_init(&w, mrs_val_view(names));
    while (mrs_walk_next(&w, &el) == 1) {
        uint32_t n = el.name_len;
        const char *name = names.type == MRS_ARRAY ? mrs_val_text(el.v, &n) : el.name;
        mrs_build_text(&l->b, name, mrsi_lower_path(l, name), n + 1);
    }
    return mrsi_lower_end(l);
}

bool
mrsi_lower_is_one_of(const char *words, const char *name)
{
    MRS_ASSERT(*words == ' ');
    size_t n = strlen(name);
    const char *at = n ? strstr(words, name) : NULL;
    while (at && (at[-1] != ' ' || at[n] != ' ')) {
        at = strstr(at + 1, name);
    }
    return at != NULL;
}

bool
mrsi_lower_reads_root(const struct mrsi_lower *l)
{
    return memmem(l->body.p, l->body.n, "$$ROOT", 6) || memmem(l->body.p, l->body.n, "$$CURRENT", 9);
}
