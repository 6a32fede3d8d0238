/* SPDX-License-Identifier: Apache-2.0 */
/* stages.c - $group and $project, small and slow: enough to hold accumulators against a server's answers. */
#include "stages.h"
#include "mongoreshape/value.h"

#define FIELDS_MAX 64

#define TRY(call)                                                                                                     \
    do {                                                                                                              \
        enum mrs_status try_status = (call);                                                                          \
        if (try_status != MRS_OK) {                                                                                   \
            return try_status;                                                                                        \
        }                                                                                                             \
    } while (0)

/* Names with values, as one document in the arena. */
static enum mrs_status
assemble(struct mrs_mem *mem, struct mrs_arena *arena, const char *const *names, const struct mrs_val *v, uint32_t n,
         struct mrs_val *out, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&buf, mem, UINT32_MAX);
    mrs_build_init(&b, &buf);
    for (uint32_t i = 0; i < n; i++) {
        mrs_build_val(&b, names[i], (uint32_t)strlen(names[i]), v[i]);
    }
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    if (s == MRS_OK) {
        uint8_t *p = mrs_arena_copy(arena, doc.p, doc.n);
        s = p ? MRS_OK : mrs_err_memory(e, doc.n);
        *out = (struct mrs_val){p, doc.n, MRS_DOCUMENT};
    }
    mrs_buf_clear(&buf);
    return s;
}

/* ---- $group ---- */

struct group {
    struct mrs_buf key;
    struct mrs_val id;
    struct mrs_acc_state *state[FIELDS_MAX];
};

struct grouping {
    struct mrs_mem *mem;
    struct mrs_arena *arena;
    struct mrs_expr *id; /* NULL: parts */
    struct mrs_expr *part[FIELDS_MAX];
    const char *part_name[FIELDS_MAX];
    uint32_t n_parts;
    struct mrs_acc *acc[FIELDS_MAX];
    const char *name[FIELDS_MAX + 1]; /* "_id" first */
    uint32_t n;
    struct group *group;
    uint32_t n_groups;
};

static enum mrs_status
bad(struct mrs_err *e, const char *why)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "$group: %s", why);
}

static enum mrs_status
compile_key(const struct mrs_expr_env *env, struct grouping *g, struct mrs_val spec, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (spec.type == MRS_DOCUMENT) {
        mrs_walk_init(&w, mrs_val_view(spec));
        while (mrs_walk_next(&w, &el) == 1 && el.name[0] != '$' && g->n_parts < FIELDS_MAX) {
            if (mrs_is_number(el.v) || el.v.type == MRS_BOOL) {
                return bad(e, "a bare number or bool in _id");
            }
            g->part_name[g->n_parts] = el.name;
            TRY(mrs_expr_compile(env, el.v, &g->part[g->n_parts++], e));
        }
    }
    return g->n_parts ? MRS_OK : mrs_expr_compile(env, spec, &g->id, e);
}

static enum mrs_status
compile_group(const struct mrs_expr_env *env, struct grouping *g, struct mrs_val spec, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool key = false;
    if (spec.type != MRS_DOCUMENT) {
        return bad(e, "takes a document");
    }
    mrs_walk_init(&w, mrs_val_view(spec));
    while (mrs_walk_next(&w, &el) == 1) {
        if (strcmp(el.name, "_id") == 0) {
            key = true;
            TRY(compile_key(env, g, el.v, e));
        } else if (strchr(el.name, '.') || el.name[0] == '$' || g->n == FIELDS_MAX) {
            return bad(e, "a name that a field cannot have");
        } else {
            g->name[g->n + 1] = el.name;
            TRY(mrs_acc_compile(env, el.v, &g->acc[g->n], e));
            g->n++;
        }
    }
    return key ? MRS_OK : bad(e, "no _id");
}

static enum mrs_status
key_of(struct grouping *g, struct mrs_eval *ev, struct mrs_val *id)
{
    struct mrs_val v[FIELDS_MAX];
    if (!g->n_parts) {
        TRY(mrs_expr_eval(g->id, ev, id));
        *id = id->type == MRS_MISSING ? mrs_null() : *id;
        return MRS_OK;
    }
    for (uint32_t i = 0; i < g->n_parts; i++) {
        TRY(mrs_expr_eval(g->part[i], ev, &v[i]));
        v[i] = v[i].type == MRS_MISSING && g->n_parts == 1 ? mrs_null() : v[i];
    }
    return assemble(g->mem, g->arena, g->part_name, v, g->n_parts, id, ev->err);
}

static enum mrs_status
group_of(struct grouping *g, struct mrs_val id, struct group **out, struct mrs_err *e)
{
    struct mrs_buf key;
    mrs_buf_init(&key, g->mem, UINT32_MAX);
    mrs_key_append(&key, id, false);
    for (uint32_t i = 0; i < g->n_groups; i++) {
        *out = &g->group[i];
        if ((*out)->key.n == key.n && memcmp((*out)->key.p, key.p, key.n) == 0) {
            mrs_buf_clear(&key);
            return MRS_OK;
        }
    }
    *out = &g->group[g->n_groups++];
    memset(*out, 0, sizeof **out);
    (*out)->id = id;
    (*out)->key = key;
    for (uint32_t i = 0; i < g->n; i++) {
        TRY(mrs_acc_state_new(g->acc[i], g->mem, 100u << 20, &(*out)->state[i], e));
    }
    return MRS_OK;
}

static enum mrs_status
feed_all(struct grouping *g, struct picked docs, struct mrs_err *e)
{
    for (uint32_t d = 0; d < docs.n; d++) {
        struct mrs_eval ev = {.arena = g->arena, .root = mrs_val_view(docs.v[d]), .err = e};
        struct mrs_val id, v;
        struct group *to;
        TRY(key_of(g, &ev, &id));
        TRY(group_of(g, id, &to, e));
        for (uint32_t i = 0; i < g->n; i++) {
            TRY(mrs_acc_argument(g->acc[i], &ev, &v));
            TRY(mrs_acc_feed(to->state[i], v, e));
        }
    }
    return MRS_OK;
}

static enum mrs_status
write_all(struct grouping *g, struct picked *out, struct mrs_err *e)
{
    out->v = mrs_arena_alloc(g->arena, (g->n_groups + 1) * sizeof *out->v);
    for (out->n = 0; out->n < g->n_groups; out->n++) {
        struct group *from = &g->group[out->n];
        struct mrs_val v[FIELDS_MAX + 1] = {from->id};
        for (uint32_t i = 0; i < g->n; i++) {
            TRY(mrs_acc_value(from->state[i], g->arena, &v[i + 1], e));
        }
        TRY(assemble(g->mem, g->arena, g->name, v, g->n + 1, &out->v[out->n], e));
    }
    return MRS_OK;
}

enum mrs_status
stage_group(const struct mrs_expr_env *env, struct mrs_arena *arena, struct mrs_val spec, struct picked docs,
            struct picked *out, struct mrs_err *e)
{
    static struct grouping g;
    memset(&g, 0, sizeof g);
    g.mem = env->mem;
    g.arena = arena;
    g.name[0] = "_id";
    g.group = mrs_arena_alloc(arena, (docs.n + 1) * sizeof *g.group);
    enum mrs_status s = compile_group(env, &g, spec, e);
    s = s == MRS_OK ? feed_all(&g, docs, e) : s;
    s = s == MRS_OK ? write_all(&g, out, e) : s;
    for (uint32_t i = 0; i < g.n_groups; i++) {
        mrs_buf_clear(&g.group[i].key);
        for (uint32_t k = 0; k < g.n; k++) {
            mrs_acc_state_free(g.group[i].state[k]);
        }
    }
    for (uint32_t i = 0; i < g.n; i++) {
        mrs_acc_free(g.acc[i]);
    }
    for (uint32_t i = 0; i < g.n_parts; i++) {
        mrs_expr_free(g.part[i]);
    }
    mrs_expr_free(g.id);
    return s;
}

/* ---- $project of top-level names ---- */

struct projection {
    bool id, includes;
    const char *keep[FIELDS_MAX], *name[FIELDS_MAX];
    struct mrs_expr *made[FIELDS_MAX];
    uint32_t n_keep, n_made;
};

static enum mrs_status
compile_project(const struct mrs_expr_env *env, struct projection *p, struct mrs_val spec, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(spec));
    p->id = true;
    while (mrs_walk_next(&w, &el) == 1 && p->n_keep < FIELDS_MAX && p->n_made < FIELDS_MAX) {
        int64_t flag;
        bool flagged = mrs_val_integral(el.v, &flag);
        if (strcmp(el.name, "_id") == 0 && flagged) {
            p->id = flag != 0;
            continue;
        }
        p->includes = true;
        if (flagged) {
            p->keep[p->n_keep++] = el.name;
        } else {
            p->name[p->n_made] = el.name;
            TRY(mrs_expr_compile(env, el.v, &p->made[p->n_made++], e));
        }
    }
    return MRS_OK;
}

static bool
kept(const struct projection *p, const char *name)
{
    if (strcmp(name, "_id") == 0) {
        return p->id;
    }
    for (uint32_t i = 0; i < p->n_keep; i++) {
        if (strcmp(p->keep[i], name) == 0) {
            return true;
        }
    }
    return !p->includes;
}

static enum mrs_status
project_one(const struct mrs_expr_env *env, struct mrs_arena *arena, const struct projection *p, struct mrs_val doc,
            struct mrs_val *out, struct mrs_err *e)
{
    struct mrs_eval ev = {.arena = arena, .root = mrs_val_view(doc), .err = e};
    const char *names[2 * FIELDS_MAX];
    struct mrs_val v[2 * FIELDS_MAX];
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    mrs_walk_init(&w, mrs_val_view(doc));
    while (mrs_walk_next(&w, &el) == 1 && n < FIELDS_MAX) {
        if (kept(p, el.name)) {
            names[n] = el.name;
            v[n++] = el.v;
        }
    }
    for (uint32_t i = 0; i < p->n_made; i++, n++) {
        names[n] = p->name[i];
        TRY(mrs_expr_eval(p->made[i], &ev, &v[n]));
    }
    return assemble(env->mem, arena, names, v, n, out, e);
}

enum mrs_status
stage_project(const struct mrs_expr_env *env, struct mrs_arena *arena, struct mrs_val spec, struct picked docs,
              struct picked *out, struct mrs_err *e)
{
    struct projection p = {0};
    enum mrs_status s = compile_project(env, &p, spec, e);
    out->v = mrs_arena_alloc(arena, (docs.n + 1) * sizeof *out->v);
    for (out->n = 0; s == MRS_OK && out->n < docs.n; out->n++) {
        s = project_one(env, arena, &p, docs.v[out->n], &out->v[out->n], e);
    }
    for (uint32_t i = 0; i < p.n_made; i++) {
        mrs_expr_free(p.made[i]);
    }
    return s;
}
