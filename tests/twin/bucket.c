/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.c - readings into buckets and out of them again, naively.
 *
 * All readings are read first; then they are sorted by comparing values, and every group is divided into buckets, each
 * of which is computed from its readings alone. Windows are cut with the C library's own calendar. */
#include "twin.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct reading {
    struct val *doc, *by, *time, *item;
    int64_t start, end;
    uint32_t no;
    int bucket; /* -1: none */
    bool part, refused;
};
struct bucket {
    struct val *doc;
    uint32_t group;
};
struct fold {
    struct world *w;
    struct coll *from, *into;
    struct val *by, *time, *every, *set, *id;
    const char *items, *start, *end, *errors;
    struct reading *r;
    uint32_t n;
    struct bucket *b;
    uint32_t nb;
};

static struct val *
date(int64_t ms)
{
    return tw_leaf(T_DATE, &ms, 8);
}

static int64_t
date_of(const struct val *v)
{
    int64_t ms;
    memcpy(&ms, v->raw, 8);
    return ms;
}

/* ---- windows */
static int64_t
down(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t
days_from(int64_t year, int month, int day)
{
    struct tm t = {.tm_year = (int)(year - 1900), .tm_mon = month, .tm_mday = day};
    return down(timegm(&t), 86400);
}

/* The start of the window of ms, `ahead` windows on. Midnight by the clock of the zone that TZ names. */
static int64_t
cut(int64_t ms, const char *unit, int64_t size, int week_start, int64_t ahead)
{
    static const struct {
        const char *name;
        int64_t ms;
    } small[] = {{"millisecond", 1}, {"second", 1000}, {"minute", 60000}, {"hour", 3600000}};
    struct tm at, origin = {.tm_year = 100, .tm_mday = 1, .tm_isdst = -1};
    for (int i = 0; i < 4; i++) {
        if (strcmp(unit, small[i].name))
            continue;
        int64_t zero = (int64_t)mktime(&origin) * 1000, step = size * small[i].ms;
        return zero + (down(ms - zero, step) + ahead) * step;
    }
    time_t secs = down(ms, 1000);
    localtime_r(&secs, &at);
    struct tm out = {.tm_isdst = -1, .tm_mday = 1};
    if (!strcmp(unit, "day") || !strcmp(unit, "week")) {
        int64_t zero = days_from(2000, 0, 1), today = days_from(at.tm_year + 1900, at.tm_mon, at.tm_mday);
        if (!strcmp(unit, "week")) {
            zero += (week_start - 6 + 7) % 7; /* 2000-01-01 was a Saturday */
            size *= 7;
        }
        time_t then = (zero + (down(today - zero, size) + ahead) * size) * 86400;
        gmtime_r(&then, &out);
        out.tm_isdst = -1;
    } else {
        int64_t months = (at.tm_year - 100) * 12 + at.tm_mon;
        size *= !strcmp(unit, "month") ? 1 : !strcmp(unit, "quarter") ? 3 : 12;
        months = (down(months, size) + ahead) * size;
        out.tm_year = (int)(100 + down(months, 12));
        out.tm_mon = (int)(months - down(months, 12) * 12);
    }
    return (int64_t)mktime(&out) * 1000;
}

static int64_t
window(const struct val *every, int64_t ms, int64_t ahead)
{
    static const char letters[] = "smhdw", *const units[] = {"second", "minute", "hour", "day", "week"};
    static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
    const char *text = tw_str(every), *unit, *zone = "UTC", *week = "sun";
    int64_t size = 1;
    int start = 0;
    if (text) {
        char *rest;
        size = strtoll(text, &rest, 10);
        unit = units[strchr(letters, *rest) - letters];
    } else {
        unit = tw_str(tw_get(every, "unit"));
        size = tw_as_int(tw_get(every, "size"), 1);
        zone = tw_get(every, "timezone") ? tw_str(tw_get(every, "timezone")) : zone;
        week = tw_get(every, "startOfWeek") ? tw_str(tw_get(every, "startOfWeek")) : week;
    }
    for (int i = 0; i < 7; i++)
        if (!strncmp(week, days[i], 3))
            start = i;
    setenv("TZ", zone, 1);
    tzset();
    return cut(ms, unit, size, start, ahead);
}

/* ---- one reading */
static void
take_out(struct val *v, const struct path *p, uint32_t i)
{
    int at = tw_index(v, p->p[i]);
    if (at < 0)
        return;
    if (i + 1 == p->n) {
        tw_cut(v, (uint32_t)at);
        return;
    }
    struct val *in = v->f[at].v;
    if (in->type == T_DOC)
        take_out(in, p, i + 1);
    bool any = false;
    for (uint32_t k = 0; in->type == T_ARRAY && k < in->n; k++) {
        struct val *e = in->f[k].v, *before = tw_copy(e);
        if (e->type == T_DOC)
            take_out(e, p, i + 1);
        any |= !tw_same_bytes(before, e);
    }
    if (any)
        tw_renumber(in);
}

/* What `by` entry i is called, and the expression that it is. */
static struct path
by_name(const struct val *by, uint32_t i)
{
    return by->type == T_ARRAY ? tw_path(by->f[i].v) : tw_path_of(by->f[i].name);
}

static const struct val *
at_path(const struct val *d, const struct path *p)
{
    for (uint32_t i = 0; d && i < p->n; i++)
        d = d->type == T_DOC ? tw_get(d, p->p[i]) : NULL;
    return d;
}

/* The value of a path as text or as a list of names, or of an expression. */
static int
value(struct world *w, const struct val *what, bool path, struct val *doc, struct val **out)
{
    struct vars vars = {.root = doc};
    if (path && what->type == T_ARRAY) {
        struct path p = tw_path(what);
        *out = (struct val *)at_path(doc, &p);
        return 0;
    }
    return tw_eval(w, path ? tw_string(tw_text("$%s", tw_str(what))) : what, &vars, out);
}

static int
bring(struct fold *f, struct reading *r)
{
    struct world *w = f->w;
    struct val *fields = tw_arg(w, "fields"), *drop = tw_arg(w, "drop"), *v;
    bool list = f->by && f->by->type == T_ARRAY;
    r->by = tw_doc();
    for (uint32_t i = 0; f->by && i < f->by->n; i++) {
        struct path p = by_name(f->by, i);
        if (value(w, f->by->f[i].v, list, r->doc, &v))
            return 1;
        if (v)
            tw_write(r->by, &p, tw_copy(v));
    }
    r->item = tw_copy(r->doc);
    for (uint32_t i = 0; !fields && f->by && i < f->by->n; i++) {
        const char *bare = tw_str(f->by->f[i].v);
        if (!list && (!bare || bare[0] != '$' || bare[1] == '$'))
            continue;
        struct path p = list ? tw_path(f->by->f[i].v) : tw_path_of(bare + 1);
        if (tw_remove_needs_duplicates(r->doc, &p))
            return 1;
        take_out(r->item, &p, 0);
    }
    struct shape s = {fields, drop, f->errors, false};
    struct vars vars = {.root = r->item};
    return (fields || drop) && tw_shape(w, &s, &vars, &r->item);
}

static void
look(struct fold *f, struct reading *r)
{
    struct world *w = f->w;
    if (tw_query(w, tw_arg(w, "where"), r->doc, &r->part)) {
        r->refused = true;
        return;
    }
    if (!r->part)
        return;
    const char *text = tw_str(f->time);
    bool path = f->time && (f->time->type == T_ARRAY || (text && text[0] != '$'));
    if (f->time && value(w, f->time, path, r->doc, &r->time)) {
        r->refused = true;
        return;
    }
    if (f->every && (!r->time || r->time->type != T_DATE)) {
        r->refused = !strcmp(tw_word(w, "untimed", "refuse"), "refuse");
        r->part = false;
        return;
    }
    const int64_t most = INT64_MAX / 2 - 1;
    if (f->every && (date_of(r->time) > most || date_of(r->time) < -most)) {
        tw_unclear(w, "the ends of time");
    } else if (f->every) {
        r->start = window(f->every, date_of(r->time), 0);
        r->end = window(f->every, date_of(r->time), 1);
    }
    r->refused = bring(f, r);
}

/* ---- groups */
static int
compare_group(const struct fold *f, const struct reading *a, const struct reading *b)
{
    for (uint32_t i = 0; f->by && i < f->by->n; i++) {
        struct path p = by_name(f->by, i);
        const struct val *x = at_path(a->by, &p), *y = at_path(b->by, &p);
        int c = tw_compare(x, y);
        c = c ? c : (x && x->type == T_UNDEFINED) - (y && y->type == T_UNDEFINED);
        if (c)
            return c;
    }
    return (a->start > b->start) - (a->start < b->start);
}

static void
sort(struct fold *f, struct reading **r, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        for (uint32_t k = i; k; k--) {
            int c = compare_group(f, r[k - 1], r[k]);
            c = c || !f->time ? c : tw_compare(r[k - 1]->time, r[k]->time);
            if (c <= 0)
                break;
            struct reading *x = r[k];
            r[k] = r[k - 1];
            r[k - 1] = x;
        }
    }
}

static int
accumulate(struct fold *f, const struct val *spec, struct reading **r, uint32_t n, struct val **out)
{
    struct val **docs = tw_new((n + 1) * sizeof *docs);
    for (uint32_t i = 0; i < n; i++)
        docs[i] = r[i]->doc;
    return tw_accumulate(f->w, spec, docs, n, out);
}

static bool
is_accumulator(const struct val *e)
{
    static const char *const ops[] = {"$sum", "$count", "$push", "$first", "$last", "$max", "$min"};
    for (size_t i = 0; e->type == T_DOC && e->n == 1 && i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(e->f[0].name, ops[i]))
            return true;
    return false;
}

static struct val *
new_id(struct fold *f, const struct reading *r, int64_t part)
{
    struct val *pos = tw_array();
    tw_append(pos, tw_int64(part));
    const struct val *id = tw_new_id(f->into->ns, f->from->ns, r->by, f->every ? date(r->start) : NULL, pos, false);
    uint8_t raw[12];
    int64_t secs = down(r->start, 1000);
    memcpy(raw, id->raw, 12);
    secs = !f->every || secs < 0 ? 0 : secs > UINT32_MAX ? UINT32_MAX : secs;
    for (int i = 0; i < 4; i++)
        raw[i] = (uint8_t)(secs >> (24 - 8 * i));
    return tw_leaf(T_OID, raw, 12);
}

static int
put_set(struct fold *f, struct val *d, struct reading **r, uint32_t n)
{
    for (uint32_t i = 0; f->set && i < f->set->n; i++) {
        struct val *e = f->set->f[i].v, *v = NULL;
        struct path p = tw_path_of(f->set->f[i].name);
        struct vars vars = {.root = d};
        if (is_accumulator(e) ? accumulate(f, e, r, n, &v) : tw_eval(f->w, e, &vars, &v)) {
            if (!strcmp(f->errors, "refuse"))
                return 1;
            v = !strcmp(f->errors, "null") ? tw_null() : NULL;
        }
        if (v)
            tw_write(d, &p, tw_copy(v));
    }
    return 0;
}

/* One bucket of n readings. */
static struct val *
make(struct fold *f, struct reading **r, uint32_t n, int64_t part)
{
    struct val *d = tw_doc(), *items = tw_array(), *id;
    if (!f->id)
        tw_push(d, "_id", new_id(f, r[0], part));
    for (uint32_t i = 0; i < r[0]->by->n; i++)
        tw_push(d, r[0]->by->f[i].name, tw_copy(r[0]->by->f[i].v));
    struct val *first = f->every ? date(r[0]->start) : r[0]->time;
    struct val *last = f->every ? date(r[0]->end) : r[n - 1]->time;
    if (f->start && first)
        tw_push(d, f->start, first);
    if (f->end && last)
        tw_push(d, f->end, last);
    for (uint32_t i = 0; i < n; i++)
        tw_append(items, r[i]->item);
    tw_push(d, f->items, items);
    struct vars vars = {.root = d};
    if (put_set(f, d, r, n))
        return NULL;
    if (!f->id)
        return d;
    if (tw_eval(f->w, f->id, &vars, &id) || tw_bad_id(id))
        return NULL;
    tw_insert(d, 0, "_id", tw_copy(id));
    return d;
}

static void
fold_group(struct fold *f, struct reading **r, uint32_t n, uint32_t max, uint32_t group)
{
    uint32_t before = f->nb;
    bool bad = false;
    int64_t part = 0;
    for (uint32_t i = 0; i < n && !bad; i += max) {
        uint32_t m = n - i < max ? n - i : max;
        struct val *d = make(f, r + i, m, part++);
        bad = !d;
        for (uint32_t k = 0; k < m; k++)
            r[i + k]->bucket = (int)f->nb;
        f->b[f->nb++] = (struct bucket){d, group};
    }
    if (!bad)
        return;
    f->nb = before;
    for (uint32_t i = 0; i < n; i++) {
        r[i]->refused = true;
        r[i]->bucket = -1;
    }
}

static void
settle(struct fold *f)
{
    struct world *w = f->w;
    const char *policy = tw_word(w, "conflicts", "refuse");
    bool all = !strcmp(tw_word(w, "keep", "none"), "all"), *refused = tw_new(f->nb + 1);
    struct cand *c = tw_new((f->nb + 1) * sizeof *c);
    struct vals left = {0};
    for (uint32_t i = 0; i < f->nb; i++)
        c[i] = (struct cand){f->b[i].doc, i, MADE};
    tw_conflicts(&f->into->docs, c, f->nb, policy, refused, false);
    for (uint32_t i = 0; i < f->n; i++) {
        struct reading *r = &f->r[i];
        if (r->refused || (r->bucket >= 0 && refused[r->bucket]))
            tw_refuse(w, f->from, r->doc, "refused");
        else if (r->bucket < 0 || all)
            tw_add(&left, r->doc);
    }
    f->from->docs = left;
    tw_admit(&f->into->docs, c, f->nb, policy, refused, false);
}

void
tw_step_bucket(struct world *w)
{
    struct fold f = {.w = w, .from = tw_coll(w, tw_arg(w, "from"), false), .into = tw_coll(w, tw_arg(w, "into"), true)};
    uint32_t max = (uint32_t)tw_as_int(tw_arg(w, "max"), INT32_MAX), m = 0, group = 0;
    f.by = tw_arg(w, "by");
    f.time = tw_arg(w, "time");
    f.every = tw_arg(w, "every");
    f.set = tw_arg(w, "set");
    f.id = tw_arg(w, "id");
    f.items = tw_word(w, "items", NULL);
    f.start = tw_word(w, "start", NULL);
    f.end = tw_word(w, "end", NULL);
    f.errors = tw_arg(w, "errors") && tw_arg(w, "errors")->type == T_NULL ? "null" : tw_word(w, "errors", "refuse");
    f.n = f.from->docs.n;
    f.r = tw_new((f.n + 1) * sizeof *f.r);
    f.b = tw_new((f.n + 1) * sizeof *f.b);
    struct reading **list = tw_new((f.n + 1) * sizeof *list);
    for (uint32_t i = 0; i < f.n; i++) {
        f.r[i] = (struct reading){.doc = f.from->docs.v[i], .no = i, .bucket = -1};
        look(&f, &f.r[i]);
        if (f.r[i].part && !f.r[i].refused)
            list[m++] = &f.r[i];
    }
    sort(&f, list, m);
    for (uint32_t i = 0, k; i < m; i = k) {
        for (k = i + 1; k < m && !compare_group(&f, list[i], list[k]);)
            k++;
        fold_group(&f, list + i, k - i, max, group++);
    }
    settle(&f);
}

/* ---- unbucket */
/* d with the `by` fields of the bucket, of those paths whose first `skip` names led to here: those that the bucket has
 * are in front, with the value of d where it has one, then the other fields of d. */
static struct val *
with_by(const struct val *bucket, const struct path *by, uint32_t n, uint32_t skip, struct val *d, bool *dup)
{
    struct val *out = tw_doc();
    *dup |= tw_has_duplicates(d);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = by[i].p[skip];
        struct val *own = tw_get(d, name);
        struct path *below = tw_new(n * sizeof *below);
        uint32_t m = 0;
        for (uint32_t k = 0; k < n; k++)
            if (!strcmp(by[k].p[skip], name) && at_path(bucket, &by[k]))
                below[m++] = by[k];
        if (!m || tw_get(out, name))
            continue;
        if (by[i].n == skip + 1 || (own && own->type != T_DOC))
            tw_push(out, name, own ? own : tw_copy(at_path(bucket, &by[i])));
        else
            tw_push(out, name, with_by(bucket, below, m, skip + 1, own ? own : tw_doc(), dup));
    }
    for (uint32_t i = 0; i < d->n; i++)
        if (!tw_get(out, d->f[i].name))
            tw_push(out, d->f[i].name, d->f[i].v);
    return out;
}

static struct val *
out_of(struct world *w, struct coll *from, struct coll *into, const struct val *bucket, struct val *item, int32_t at,
       enum made *made)
{
    *made = GIVEN;
    struct val *id = tw_arg(w, "id"), *by = tw_arg(w, "by"), *d = item, *own, *key = NULL, *pos = tw_array();
    const char *how = tw_str(id);
    struct shape s = {tw_arg(w, "fields"), tw_arg(w, "drop"), tw_word(w, "errors", "refuse"), false};
    if (tw_arg(w, "errors") && tw_arg(w, "errors")->type == T_NULL)
        s.errors = "null";
    if (item->type != T_DOC) {
        d = tw_doc();
        tw_push(d, "value", item);
        item = d;
    }
    struct vars vars = {.root = item, .parent = (struct val *)bucket, .position = tw_int32(at)};
    if ((s.fields || s.drop) && tw_shape(w, &s, &vars, &d))
        return NULL;
    own = tw_get(d, "_id");
    bool drops = false, map = s.fields && s.fields->type == T_DOC, dup = false;
    for (uint32_t i = 0; s.drop && i < s.drop->n; i++)
        drops |= !strcmp(tw_str(s.drop->f[i].v), "_id");
    tw_append(pos, tw_int64(at));
    if (id && (!how || (strcmp(how, "keep") && strcmp(how, "new")))) {
        if (tw_eval(w, id, &vars, &key))
            return NULL;
    } else if (!how || strcmp(how, "new")) {
        key = own ? own : map && !drops ? tw_get(item, "_id") : NULL;
        *made = key ? GIVEN : MADE;
        key = key ? key : tw_new_id(into->ns, from->ns, tw_get(bucket, "_id"), tw_arg(w, "items"), pos, true);
        if (own && !by)
            return tw_bad_id(key) ? NULL : d;
    } else {
        *made = MADE;
        key = tw_new_id(into->ns, from->ns, tw_get(bucket, "_id"), tw_arg(w, "items"), pos, true);
    }
    struct path *paths = tw_new((by ? by->n + 1 : 1) * sizeof *paths);
    for (uint32_t i = 0; by && i < by->n; i++)
        paths[i] = tw_path(by->f[i].v);
    if (tw_bad_id(key))
        return NULL;
    d = with_by(bucket, paths, by ? by->n : 0, 0, tw_copy(d), &dup);
    if (tw_index(d, "_id") >= 0)
        tw_cut(d, (uint32_t)tw_index(d, "_id"));
    tw_insert(d, 0, "_id", tw_copy(key));
    return dup ? NULL : d;
}

void
tw_step_unbucket(struct world *w)
{
    struct coll *from = tw_coll(w, tw_arg(w, "from"), false), *into = tw_coll(w, tw_arg(w, "into"), true);
    const char *policy = tw_word(w, "conflicts", "refuse");
    struct path items = tw_path(tw_arg(w, "items"));
    bool all = !strcmp(tw_word(w, "keep", "none"), "all");
    uint32_t n = from->docs.n, nc = 0, total = 0;
    bool *refused = tw_new(n + 1), *taken = tw_new(n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct val *v = at_path(from->docs.v[i], &items);
        total += v && v->type == T_ARRAY ? v->n : 0;
    }
    struct cand *c = tw_new((total + 1) * sizeof *c);
    for (uint32_t i = 0; i < n; i++) {
        struct val *bucket = from->docs.v[i];
        const struct val *v = at_path(bucket, &items);
        bool part = false;
        uint32_t before = nc;
        refused[i] = tw_query(w, tw_arg(w, "where"), bucket, &part);
        taken[i] = part && !refused[i] && v && v->type == T_ARRAY && v->n;
        if (taken[i] && !all && tw_has_duplicates(bucket))
            refused[i] = true;
        for (uint32_t k = 0; taken[i] && !refused[i] && k < v->n; k++) {
            enum made made;
            struct val *d = out_of(w, from, into, bucket, v->f[k].v, (int32_t)k, &made);
            refused[i] = !d;
            c[nc++] = (struct cand){d, i, made};
        }
        if (refused[i])
            nc = before;
    }
    tw_conflicts(&into->docs, c, nc, policy, refused, false);
    struct vals left = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (refused[i])
            tw_refuse(w, from, from->docs.v[i], "refused");
        else if (!taken[i] || all)
            tw_add(&left, from->docs.v[i]);
    }
    from->docs = left;
    tw_admit(&into->docs, c, nc, policy, refused, false);
}
