/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - paths with stars: parsing, matching names, effect on indexes.
 *
 * Because of `**` a name may match several parts at once, so a walk carries a set of states (one bit for each part),
 * like an NFA: no backtracking for any document. pattern_walk.c walks documents. */
#include "pattern.h"
#include "mongoreshape/expr.h"
#include <stdio.h>

static const char *const vars[MRSI_PATTERN_VARS] = {[MRSI_NAME] = "NAME", [MRSI_VALUE] = "VALUE"};

/* ---- compile ---- */
static bool
is_deep(const struct mrs_part *p)
{
    return p->len == 2 && memcmp(p->name, "**", 2) == 0;
}

static bool
is_prefix(const struct mrs_part *p)
{
    return !is_deep(p) && p->name[p->len - 1] == '*';
}

/* The paths that it can reach: the names before the first star, or top-level names with a prefix, or after `**` the
 * names that end the path, at any level. */
static const char *
touch_of(struct mrsi_read *r, const struct mrs_path *p)
{
    MRS_ASSERT(p->n > 0);
    size_t n = 0;
    for (uint32_t i = 0; i < p->n && !strchr(p->part[i].name, '*'); i++) {
        n += p->part[i].len + 1u;
    }
    const char *last = p->part[p->n - 1].name;
    return n                        ? mrsi_read_text_of(r, "%.*s", (int)n - 1, p->text)
           : !is_deep(&p->part[0]) ? p->part[0].name
           : p->n == 1             ? "*"
                                    : mrsi_read_text_of(r, "**.%s", last);
}

static bool
check_stars(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_pattern *out)
{
    const struct mrs_path *p = &out->path;
    out->deep = p->n;
    for (uint32_t i = 0; i < p->n; i++) {
        const char *star = strchr(p->part[i].name, '*');
        if (!star) {
            continue;
        }
        if (is_deep(&p->part[i]) && out->deep < p->n) {
            return mrsi_read_error(r, s.key, s.sub, "`%s` has `**` twice: a path takes one", p->text);
        }
        if (!is_deep(&p->part[i]) && star[1]) {
            return mrsi_read_error(r, s.key, s.sub, "`%s`: a star must be at the end of a name, as in `tmp_*`, or `**` "
                                                    "for any number of levels", p->text);
        }
        out->deep = is_deep(&p->part[i]) ? i : out->deep;
        out->star = i;
    }
    out->touch = touch_of(r, p);
    return out->touch != NULL;
}

/* A pattern is a text with a star; a list of names has none. */
static bool
has_star(struct mrs_val path)
{
    uint32_t n;
    return path.type == MRS_STRING && memchr(mrs_val_text(path, &n), '*', path.n - 5);
}

bool
mrsi_patterns_read(struct mrsi_read *r, struct mrsi_slot fields, struct mrsi_patterns *out, struct mrsi_slot *plain)
{
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_build b;
    struct mrs_buf buf;
    struct mrs_view rest;
    bool map = fields.v.type == MRS_DOCUMENT, good = true;
    *plain = fields;
    out->types = UINT32_MAX;
    if (r->args->version < 2 || (!map && fields.v.type != MRS_ARRAY)) {
        return true;
    }
    out->item = mrsi_read_alloc(r, mrs_val_count(fields.v), sizeof *out->item);
    mrs_buf_init(&buf, r->args->mem, MRS_PLAN_BYTES_MAX * 2);
    mrs_build_init(&b, &buf);
    for (mrs_walk_init(&w, mrs_val_view(fields.v)); out->item && mrs_walk_next(&w, &e) == 1;) {
        struct mrs_val name = map ? mrs_make_text(r->args->arena, e.name, e.name_len) : e.v;
        struct mrsi_slot at = {name, fields.key, e.name, NULL};
        if (!has_star(name)) {
            mrs_build_elem(&b, &e);
            continue;
        }
        struct mrsi_pattern *p = &out->item[out->n++];
        p->value = (struct mrsi_slot){map ? e.v : mrs_missing(), fields.key, e.name, NULL};
        r->patterns = true;
        good = mrsi_read_path(r, at, &p->path) && check_stars(r, at, p) && good;
        r->patterns = false;
    }
    if (out->n && mrs_build_finish(&b, &rest, NULL) == MRS_OK) {
        plain->v = mrs_missing();
        good = (rest.n == MRS_DOC_MIN || mrs_val_copy(r->args->arena, mrs_view_val(rest), &plain->v)) && good;
        plain->v.type = rest.n == MRS_DOC_MIN ? MRS_MISSING : fields.v.type;
    }
    if (buf.bad || (out->n && rest.n > MRS_DOC_MIN && !plain->v.p)) {
        r->status = mrs_err_memory(r->err, fields.v.n);
    }
    mrs_buf_clear(&buf);
    return good && r->status == MRS_OK;
}

void
mrsi_patterns_types(struct mrsi_read *r, struct mrsi_patterns *p, bool plain_too)
{
    struct mrsi_slot s = mrsi_slot(r, "types");
    struct mrs_walk w;
    struct mrs_elem e;
    if (!mrsi_slot_present(s)) {
        return;
    }
    if (s.v.type != MRS_ARRAY || s.v.n == MRS_DOC_MIN) {
        mrsi_read_error(r, s.key, NULL, "must be a list of names of types, as in [string, objectId]");
        return;
    }
    p->typed = true;
    p->types = 0;
    for (mrs_walk_init(&w, mrs_val_view(s.v)); mrs_walk_next(&w, &e) == 1;) {
        uint32_t n, bits = e.v.type == MRS_STRING ? mrs_type_bits(e.v) : 0;
        p->types |= bits;
        if (e.v.type != MRS_STRING) {
            mrsi_read_error(r, s.key, e.name, "must be the name of a type, as in [string, objectId], not %s",
                            mrs_type_name(e.v.type));
        } else if (!bits) {
            mrsi_read_error(r, s.key, e.name, "`%s` is no type that `$type` names: string, objectId, int...",
                            mrs_val_text(e.v, &n));
        }
    }
    if (!p->n && !plain_too) {
        mrsi_read_error(r, s.key, NULL, "is for paths with a star only");
    }
}

/* Called for each path that the expression reads: then it needs more than the name. */
static void
see_read(void *arg, const char *path)
{
    (void)path;
    *(bool *)arg = false;
}

void
mrsi_pattern_expr(struct mrsi_read *r, struct mrsi_pattern *p)
{
    struct mrs_expr_env env = {.mem = r->args->mem,
                               .vars = vars,
                               .n_vars = MRSI_VALUE,
                               .now_ms = r->args->now_ms,
                               .strict = true,
                               .server_8_2 = r->args->server_8_2};
    struct mrs_expr *alone = NULL;
    r->vars = vars;
    r->n_vars = MRSI_PATTERN_VARS;
    bool good = mrsi_read_expr(r, p->value, &p->expr);
    r->vars = NULL;
    r->n_vars = 0;
    if (good && mrs_expr_compile(&env, p->value.v, &alone, NULL) == MRS_OK) {
        p->of_name = true;
        mrs_expr_reads(p->expr, see_read, &p->of_name);
        mrs_expr_free(alone);
    }
}

/* ---- names ---- */
/* `**` may also match zero levels. */
static mrsi_states
closed(const struct mrsi_pattern *p, mrsi_states s)
{
    return s | (p->deep < p->path.n ? (s >> p->deep & 1) << (p->deep + 1) : 0);
}

mrsi_states
mrsi_pattern_begin(const struct mrsi_pattern *p)
{
    MRS_ASSERT(p->path.n > 0);
    return closed(p, 1);
}

static bool
part_takes(const struct mrs_part *p, const char *name, uint32_t len)
{
    return is_prefix(p) ? len >= p->len - 1 && memcmp(p->name, name, p->len - 1) == 0
                        : len == p->len && memcmp(p->name, name, len) == 0;
}

mrsi_states
mrsi_pattern_step(const struct mrsi_pattern *p, mrsi_states at, const char *name, uint32_t len)
{
    MRS_ASSERT(name || len == 0);
    mrsi_states next = 0;
    for (uint32_t i = 0; i < p->path.n; i++) {
        if (!(at >> i & 1)) {
            continue;
        }
        next |= i == p->deep                               ? (mrsi_states)1 << i
                : part_takes(&p->path.part[i], name, len) ? (mrsi_states)2 << i
                                                           : 0;
    }
    return closed(p, next);
}

const char *
mrsi_pattern_new_name(const struct mrsi_pattern *p, struct mrs_arena *a, const char *name, uint32_t len)
{
    MRS_ASSERT(p->text && (name || len == 0));
    const char *star = strchr(p->text, '*');
    if (!star) {
        return p->text;
    }
    uint32_t cut = p->path.part[p->star].len - 1;
    size_t before = (size_t)(star - p->text), rest = len - cut, behind = strlen(star + 1);
    char *text = mrs_arena_alloc(a, before + rest + behind + 1);
    if (text) {
        memcpy(text, p->text, before);
        memcpy(text + before, name + cut, rest);
        memcpy(text + before + rest, star + 1, behind + 1);
    }
    return text;
}

/* ---- indexes ---- */
/* A wildcard stands for names that only documents have: patterns end before it. */
static bool
is_wildcard(const char *part)
{
    return strcmp(part, "$**") == 0;
}

/* The states after one name of an index path; none if the pattern cannot reach it. */
static mrsi_states
step_index(const struct mrsi_pattern *p, mrsi_states at, const char *path, const char *part, uint32_t len)
{
    bool id = part == path && len == 3 && memcmp(part, "_id", 3) == 0;
    return id || is_wildcard(part) ? 0 : mrsi_pattern_step(p, at, part, len);
}

const char *
mrsi_patterns_unset_path(const void *patterns, struct mrs_arena *a, const char *path, bool *dead)
{
    const struct mrsi_patterns *ps = patterns;
    (void)a;
    (void)dead;
    for (uint32_t i = 0; i < ps->n; i++) {
        mrsi_states at = mrsi_pattern_begin(&ps->item[i]);
        for (const char *part = path; *part && at;) {
            uint32_t len = (uint32_t)strcspn(part, ".");
            at = step_index(&ps->item[i], at, path, part, len);
            if (mrsi_pattern_reached(&ps->item[i], at)) {
                return NULL;
            }
            part += len + (part[len] == '.');
        }
    }
    return path;
}

/* The name of a field after p; NULL: it depends on documents, or no index can have it. took: the name that the last
 * star matched. */
static const char *
name_after(const struct mrsi_pattern *p, struct mrs_arena *a, const struct mrs_part *field, const struct mrs_part *took,
           bool *dead)
{
    MRS_ASSERT(field->len > 0);
    const char *now = NULL;
    uint32_t n = 0;
    if (p->text) {
        now = mrsi_pattern_new_name(p, a, took->name, took->len);
        *dead = *dead || !now;
    } else if (p->of_name) {
        struct mrs_val var[MRSI_PATTERN_VARS] = {mrs_make_text(a, field->name, field->len), mrs_missing()}, v;
        struct mrs_eval ev = {.arena = a, .root = mrs_empty_doc(), .vars = var};
        enum mrs_status st = var[MRSI_NAME].type == MRS_MISSING ? MRS_DEAD : mrs_expr_eval(p->expr, &ev, &v);
        *dead = *dead || st == MRS_DEAD;
        now = st == MRS_OK && v.type == MRS_STRING && !memchr(v.p + 4, 0, v.n - 5) ? mrs_val_text(v, &n) : NULL;
    }
    return now && *now && *now != '$' && !strchr(now, '.') ? now : NULL;
}

/* Applies one pattern to the parts of a path. False: the path is gone. */
static bool
rename_parts(const struct mrsi_pattern *p, struct mrs_arena *a, const struct mrs_path *path, struct mrs_part *now,
             bool *dead)
{
    mrsi_states at = mrsi_pattern_begin(p);
    for (uint32_t i = 0; i < path->n && at; i++) {
        at = step_index(p, at, path->part[0].name, path->part[i].name, path->part[i].len);
        uint32_t up = p->path.n - 1 - p->star;
        if (!mrsi_pattern_reached(p, at)) {
            continue;
        }
        const char *name = name_after(p, a, &path->part[i], &path->part[i - (up < i ? up : i)], dead);
        if (!name || (i == 0 && strcmp(name, "_id") == 0)) {
            return false;
        }
        now[i] = (struct mrs_part){name, (uint32_t)strlen(name)};
    }
    return true;
}

/* Joins parts with dots. */
static const char *
joined(struct mrs_arena *a, const struct mrs_part *part, uint32_t n)
{
    MRS_ASSERT(part || n == 0);
    size_t size = 1;
    for (uint32_t i = 0; i < n; i++) {
        size += part[i].len + 1u;
    }
    char *text = mrs_arena_alloc(a, size), *at = text;
    for (uint32_t i = 0; i < n && text; i++) {
        memcpy(at, part[i].name, part[i].len);
        at += part[i].len;
        *at++ = i + 1 < n ? '.' : 0;
    }
    return text;
}

const char *
mrsi_patterns_rename_path(const void *patterns, struct mrs_arena *a, const char *path, bool *dead)
{
    const struct mrsi_patterns *ps = patterns;
    uint32_t n = 1;
    for (const char *c = path; *c; c++) {
        n += *c == '.';
    }
    struct mrs_part *part = mrs_arena_alloc(a, 2 * (size_t)n * sizeof *part), *now = part + n;
    char *copy = part ? mrs_arena_copy(a, path, strlen(path) + 1) : NULL;
    *dead = *dead || !copy;
    if (!copy || strlen(path) == 0) {
        return copy;
    }
    for (uint32_t i = 0; i < n; i++) {
        part[i] = (struct mrs_part){copy, (uint32_t)strcspn(copy, ".")};
        copy += part[i].len + 1;
        copy[-1] = 0;
    }
    bool there = true;
    for (uint32_t i = 0; i < ps->n && there; i++) {
        struct mrs_path p = {part, n, path};
        memcpy(now, part, n * sizeof *now);
        there = rename_parts(&ps->item[i], a, &p, now, dead);
        memcpy(part, now, n * sizeof *now);
    }
    const char *text = there ? joined(a, part, n) : NULL;
    *dead = *dead || (there && !text);
    return text;
}

/* ---- description ---- */
void
mrsi_patterns_describe(struct mrsi_describe *t, const struct mrsi_patterns *p, const char *kinds)
{
    for (uint32_t i = 0; i < p->n; i++) {
        for (const char *kind = kinds; *kind; kind++) {
            mrsi_describe_touch(t, 0, *kind, p->item[i].touch);
        }
        mrsi_describe_pattern(t, p->item[i].path.text);
        mrsi_describe_expr(t, 0, p->item[i].expr);
    }
}

const char *
mrsi_patterns_names(struct mrsi_describe *t, const struct mrs_path *path, uint32_t n, const struct mrsi_patterns *p)
{
    MRS_ASSERT(path || n == 0);
    uint32_t all = n + p->n;
    struct mrs_path *list = mrs_arena_alloc(t->arena, (all + 1) * sizeof *list);
    if (!list) {
        t->bad = true;
        return "";
    }
    for (uint32_t i = 0; i < all; i++) {
        list[i] = i < n ? path[i] : p->item[i - n].path;
    }
    return mrsi_describe_paths(t, list, all, 6);
}
