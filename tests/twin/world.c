/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - a dump directory in memory, and a plan applied to it step by step. */
#include "twin.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
tw_unclear(struct world *w, const char *why)
{
    if (!w->unclear)
        w->unclear = why;
}

void
tw_refuse(struct world *w, const struct coll *c, struct val *doc, const char *why)
{
    for (uint32_t i = 0; i < w->nr; i++)
        if (w->r[i].doc == doc && w->r[i].step == w->step)
            return;
    if (w->nr == w->cap) {
        struct refused *more = tw_new((w->cap * 2 + 8) * sizeof *more);
        if (w->nr)
            memcpy(more, w->r, w->nr * sizeof *more);
        w->r = more;
        w->cap = w->cap * 2 + 8;
    }
    w->r[w->nr++] = (struct refused){c->ns, w->step, doc, why};
}

struct coll *
tw_coll_named(struct world *w, const char *db, const char *name, bool create)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (!w->c[i]->gone && !strcmp(w->c[i]->db, db) && !strcmp(w->c[i]->name, name))
            return w->c[i];
    if (!create || w->n == 64)
        return NULL;
    struct coll *c = tw_new(sizeof *c);
    c->db = tw_text("%s", db);
    c->name = tw_text("%s", name);
    c->ns = tw_text("%s.%s", db, name);
    w->c[w->n++] = c;
    return c;
}

struct coll *
tw_coll(struct world *w, const struct val *spec, bool create)
{
    struct coll *c;
    if (spec && spec->type == T_DOC)
        c = tw_coll_named(w, tw_str(tw_get(spec, "db")), tw_str(tw_get(spec, "coll")), create);
    else
        c = tw_coll_named(w, w->database, tw_str(spec), create);
    if (!c) {
        if (!w->wrong)
            w->wrong = tw_text("no collection %s", tw_json(spec));
        static struct coll none = {.db = "", .name = "", .ns = ""};
        none.docs.n = 0;
        return &none;
    }
    return c;
}

struct val *
tw_arg(const struct world *w, const char *name)
{
    return tw_get(w->args, name);
}

const char *
tw_word(const struct world *w, const char *name, const char *otherwise)
{
    const struct val *v = tw_arg(w, name);
    if (v && v->type == T_NULL)
        return "null";
    return v && tw_str(v) ? tw_str(v) : otherwise;
}

bool
tw_flag(const struct world *w, const char *name)
{
    return tw_as_bool(tw_arg(w, name), false);
}

static void
nothing(struct world *w)
{
    tw_coll(w, tw_arg(w, "in"), false);
}

static const struct {
    const char *name;
    void (*run)(struct world *);
} steps[] = {
    {"embed", tw_step_embed}, {"extract", tw_step_extract}, {"copy", tw_step_copy}, {"rollup", tw_step_rollup},
    {"set", tw_step_set},
    {"unset", tw_step_unset}, {"rename", tw_step_rename}, {"cast", tw_step_cast}, {"order", tw_step_order},
    {"replace", tw_step_replace},
    {"rekey", tw_step_rekey}, {"window", tw_step_window},
    {"link", tw_step_link}, {"grid", tw_step_grid}, {"pack", tw_step_pack}, {"unpack", tw_step_unpack},
    {"split", tw_step_split}, {"move", tw_step_move}, {"union", tw_step_union},
    {"partition", tw_step_partition}, {"tree", tw_step_tree}, {"bucket", tw_step_bucket},
    {"unbucket", tw_step_unbucket}, {"rename_collection", tw_step_rename_collection},
    {"drop_collection", tw_step_drop_collection}, {"delete", tw_step_delete}, {"index", nothing},
    {"options", tw_step_options},
};

static void
judge_twins_of(struct world *w, struct coll *c, const char *policy)
{
    struct vals kept = {0};
    for (uint32_t i = 0; c && i < c->docs.n; i++) {
        struct val *id = tw_get(c->docs.v[i], "_id"), *other;
        bool before = false, any = false;
        for (uint32_t k = 0; id && k < c->docs.n; k++) {
            other = k == i ? NULL : tw_get(c->docs.v[k], "_id");
            bool equal = other && tw_compare(id, other) == 0;
            any |= equal;
            before |= equal && k < i;
        }
        if (any && !strcmp(policy, "refuse"))
            tw_refuse(w, c, c->docs.v[i], "twins");
        else if (!before)
            tw_add(&kept, c->docs.v[i]);
    }
    if (c) {
        c->docs = kept;
        w->step++;
    }
}

/* `twins: refuse | first` is a step of its own in front, for each collection that counts; link and tree refuse equal
 * ones anyway. */
static void
judge_twins(struct world *w, const char *step)
{
    static const char *const of[] = {"from", "in", "parent", "child"};
    bool nodes = !strcmp(step, "link") || !strcmp(step, "tree");
    const char *policy = tw_word(w, "twins", "all");
    struct coll *last = NULL;
    for (size_t i = 0; strcmp(policy, "all") && !(nodes && !strcmp(policy, "refuse")) && i < 4; i++) {
        struct coll *c = tw_arg(w, of[i]) ? tw_coll(w, tw_arg(w, of[i]), false) : NULL;
        if (c && c != last)
            judge_twins_of(w, c, policy);
        last = c ? c : last;
    }
}

static bool
run_step(struct world *w, const struct val *step)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (strcmp(steps[i].name, step->f[0].name))
            continue;
        w->args = tw_copy(step->f[0].v);
        judge_twins(w, steps[i].name);
        tw_resolve_where(w);
        steps[i].run(w);
        return !w->wrong;
    }
    w->wrong = tw_text("unknown step %s", step->f[0].name);
    return false;
}

bool
tw_run_plan(struct world *w, const struct val *plan)
{
    const struct val *list = tw_get(plan, "steps");
    w->database = tw_str(tw_get(plan, "database"));
    for (uint32_t i = 0; !w->database && i < w->n; i++)
        if (strcmp(w->c[i]->db, "admin") && strcmp(w->c[i]->db, "config") && strcmp(w->c[i]->db, "local"))
            w->database = w->c[i]->db;
    for (uint32_t i = 0; list && i < list->n; i++) {
        w->step++;
        if (!run_step(w, list->f[i].v))
            return false;
    }
    return true;
}

/* ---- files */
static bool
read_docs(const char *file, struct vals *out)
{
    FILE *f = fopen(file, "rb");
    uint32_t len;
    bool ok = f != NULL;
    while (ok && fread(&len, 1, 4, f) == 4) {
        uint8_t *p = tw_new(len);
        memcpy(p, &len, 4);
        struct val *d = len >= 5 && fread(p + 4, 1, len - 4, f) == len - 4 ? tw_parse(p, len) : NULL;
        ok = d != NULL;
        if (d)
            tw_add(out, d);
    }
    if (f)
        fclose(f);
    return ok;
}

static const char *
unescape(const char *s, size_t n)
{
    char *out = tw_new(n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '%' && i + 2 < n) {
            char hex[3] = {s[i + 1], s[i + 2], 0};
            out[k++] = (char)strtol(hex, NULL, 16);
            i += 2;
        } else {
            out[k++] = s[i] == '+' ? ' ' : s[i];
        }
    }
    return out;
}

static const char *
escape(const char *s)
{
    const char *out = "";
    for (; *s; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
                     strchr("-_.~", *s);
        out = plain ? tw_text("%s%c", out, *s) : *s == ' ' ? tw_text("%s+", out)
                                                          : tw_text("%s%%%02X", out, (unsigned char)*s);
    }
    return out;
}

static int
by_name(const void *a, const void *b)
{
    const struct coll *x = *(struct coll *const *)a, *y = *(struct coll *const *)b;
    return strcmp(x->ns, y->ns);
}

bool
tw_world_read(struct world *w, const char *dir)
{
    DIR *top = opendir(dir);
    struct dirent *d, *e;
    bool ok = top != NULL;
    while (ok && (d = readdir(top))) {
        DIR *sub = d->d_name[0] == '.' ? NULL : opendir(tw_text("%s/%s", dir, d->d_name));
        while (sub && (e = readdir(sub))) {
            size_t n = strlen(e->d_name);
            if (n < 6 || strcmp(e->d_name + n - 5, ".bson"))
                continue;
            struct coll *c = tw_coll_named(w, d->d_name, unescape(e->d_name, n - 5), true);
            ok &= c && read_docs(tw_text("%s/%s/%s", dir, d->d_name, e->d_name), &c->docs);
        }
        if (sub)
            closedir(sub);
    }
    if (top)
        closedir(top);
    if (ok)
        tw_series_read(w, dir);
    qsort(w->c, w->n, sizeof *w->c, by_name);
    return ok;
}

bool
tw_world_write(const struct world *w, const char *dir)
{
    mkdir(dir, 0777);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct coll *c = w->c[i];
        if (c->gone)
            continue;
        bool whole = tw_series_is_whole(c);
        const struct vals *docs = whole ? &c->buckets : &c->docs;
        const char *name = escape(whole && c->apart ? tw_text("system.buckets.%s", c->name) : c->name);
        mkdir(tw_text("%s/%s", dir, c->db), 0777);
        FILE *f = fopen(tw_text("%s/%s/%s.bson", dir, c->db, name), "wb");
        if (!f)
            return false;
        for (uint32_t k = 0; k < docs->n; k++) {
            uint32_t len;
            const uint8_t *p = tw_bytes(docs->v[k], &len);
            fwrite(p, 1, len, f);
        }
        if (fclose(f))
            return false;
    }
    FILE *f = fopen(tw_text("%s/refused.jsonl", dir), "w");
    if (!f)
        return false;
    for (uint32_t i = 0; i < w->nr; i++)
        fprintf(f, "{ \"ns\" : \"%s\", \"step\" : { \"$numberInt\" : \"%d\" }, \"doc\" : %s }\n", w->r[i].ns,
                w->r[i].step, tw_json(w->r[i].doc));
    return !fclose(f);
}
