/* unique.c - whether the result of a quiet run fits its unique indexes, found out before its list is sealed.
 *
 * A sealed list is carried out to its end: a clash that only the server finds would leave a run that can go neither on
 * nor back. So for each unique index the keys that a server would make of the result's documents are made here: each
 * field by its path, arrays fanned out once, what is missing null. Their hashes are set aside and cut into parts that
 * fit memory; equal ones of different documents are a clash. What only a server can judge (text, hashed, geographic,
 * wildcard, positions in arrays, what a collation takes as equal) is left to it, and that is said. */
#include "bson.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/expr.h"
#include "quiet.h"
#include "spool.h"

#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

enum { FIELDS = 32 }; /* of one index, as a server has it */

struct index {
    const char *name;
    const char *path[FIELDS];
    uint32_t n;
    uint64_t no;
    bool sparse, collated, left; /* left: to the server */
    struct mrs_query *filter;    /* NULL: all documents */
};
struct entry {
    struct mrs_hash128 key;
    uint64_t doc, index; /* doc: its number in the result, from 1 */
};
struct check {
    struct live_quiet_run *q;
    struct live_job *job;
    live_keep keep;
    uint32_t at; /* the collection in hand */
    const struct live_tally *t;
    struct mrs_arena arena, scratch; /* of a collection; of a document */
    struct index *index;
    uint32_t n;
    live_listed_put each;
    struct mrs_buf key;
    uint64_t seed, docs;
    struct live_spool spool;
    struct entry first, second; /* the first clash: second.doc 0: none */
    uint64_t clashes;
    char id[2][80];
    struct mrs_err *e;
};

/* ---- which indexes ---- */
static void
tell_left(struct check *u, const struct index *x, const char *why)
{
    char line[1024];
    if (u->job->say) {
        snprintf(line, sizeof line, "%s: whether the result fits unique index %.128s is left to the server: %s",
                 u->t->now.ns, x->name, why);
        u->job->say(u->job->arg, line);
    }
}

static void
leave(struct check *u, struct index *x, const char *why)
{
    x->left = true;
    tell_left(u, x, why);
}

static bool
by_collation(struct mrs_view spec, struct mrs_view metadata)
{
    struct mrs_view options = live_doc_of(mrs_doc_get(metadata, "options"));
    struct mrs_val own = mrs_doc_get(spec, "collation");
    char locale[32];
    live_text_at(live_doc_of(own.type == MRS_DOCUMENT ? own : mrs_doc_get(options, "collation")), "locale", locale,
                 sizeof locale);
    return *locale && strcmp(locale, "simple") != 0;
}

static bool
read_paths(struct index *x, struct mrs_view spec)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, live_doc_of(mrs_doc_get(spec, "key"))); mrs_walk_next(&w, &el) == 1;) {
        uint32_t parts = 1;
        for (const char *p = el.name; *p; p++) {
            parts += *p == '.';
        }
        bool wildcard = strstr(el.name, "$**") != NULL;
        if (x->n == FIELDS || !mrs_is_number(el.v) || wildcard || !el.name_len || parts > MRS_PATH_PARTS_MAX) {
            return false;
        }
        x->path[x->n++] = el.name;
    }
    return x->n > 0;
}

static enum mrs_status
read_filter(struct check *u, struct index *x, struct mrs_view spec)
{
    struct mrs_val v = mrs_doc_get(spec, "partialFilterExpression");
    struct mrs_expr_env env = {.mem = u->job->mem, .now_ms = u->job->plan->now_ms};
    struct mrs_err why;
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    mrs_err_clear(&why);
    if (x->collated) {
        leave(u, x, "its filter compares by a collation");
        return MRS_OK;
    }
    enum mrs_status s = mrs_query_compile(&env, live_doc_of(v), &x->filter, &why);
    if (s == MRS_FAIL) {
        leave(u, x, why.msg);
        return MRS_OK;
    }
    if (s != MRS_OK && u->e) {
        *u->e = why;
    }
    return s;
}

/* The values of an index that was there are what they were, if no document came and none took other ones. */
static bool
as_before(const struct live_tally *t, struct mrs_elem *spec)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (t->n[LIVE_INSERT] || t->unique_changed) {
        return false;
    }
    for (mrs_walk_init(&w, live_doc_of(mrs_doc_get(t->old_meta, "indexes"))); mrs_walk_next(&w, &el) == 1;) {
        if (mrs_identical(el.v, spec->v)) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
read_index(struct check *u, struct index *x, struct mrs_view spec)
{
    struct mrs_val name = mrs_doc_get(spec, "name");
    x->no = u->n;
    x->name = name.type == MRS_STRING ? (const char *)name.p + 4 : "";
    x->sparse = live_index_is(spec, "sparse");
    x->collated = by_collation(spec, u->t->now_meta);
    if (!read_paths(x, spec)) {
        leave(u, x, "only it can make the keys");
        return MRS_OK;
    }
    enum mrs_status s = read_filter(u, x, spec);
    if (s == MRS_OK && x->collated && !x->left) {
        tell_left(u, x, "only texts of the same bytes were looked for, not what its collation takes as equal");
    }
    return s;
}

static enum mrs_status
read_indexes(struct check *u)
{
    struct mrs_view all = live_doc_of(mrs_doc_get(u->t->now_meta, "indexes"));
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t most = 0;
    enum mrs_status s = MRS_OK;
    for (mrs_walk_init(&w, all); mrs_walk_next(&w, &el) == 1;) {
        most++;
    }
    u->n = 0;
    u->index = mrs_arena_alloc(&u->arena, (most + 1) * sizeof *u->index);
    if (!u->index) {
        return mrs_err_memory(u->e, most * sizeof *u->index);
    }
    memset(u->index, 0, (most + 1) * sizeof *u->index);
    for (mrs_walk_init(&w, all); s == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        struct mrs_view spec = live_doc_of(el.v);
        char name[8];
        live_text_at(spec, "name", name, sizeof name);
        if (live_index_is(spec, "unique") && strcmp(name, "_id_") != 0 && !as_before(u->t, &el)) {
            struct index *x = &u->index[u->n];
            s = read_index(u, x, spec);
            if (x->left) {
                memset(x, 0, sizeof *x);
            } else {
                u->n++;
            }
        }
    }
    return s;
}

/* ---- the keys of a document ---- */
struct making { /* the keys that one array, or none, fans out to */
    const char *rest[FIELDS];         /* of the path; NULL: the value is settled; "": it is the element in hand */
    struct mrs_hash128 value[FIELDS];
    uint32_t missing;
};

static enum mrs_status
hash_value(struct check *u, struct mrs_val v, struct mrs_hash128 *h)
{
    mrs_buf_reset(&u->key);
    mrs_key_append(&u->key, v, false);
    enum mrs_status s = mrs_buf_status(&u->key, u->e);
    if (s == MRS_OK) {
        *h = mrs_hash(u->key.p, u->key.n, u->seed);
    }
    return s;
}

/* The value at a path, or the first array on it; *path: what is left behind that. */
static struct mrs_val
step(struct mrs_view d, const char **path)
{
    for (;;) {
        struct mrs_elem el;
        uint32_t n = (uint32_t)strcspn(*path, ".");
        mrs_doc_find(d, *path, n, &el);
        *path += n + ((*path)[n] == '.');
        if (!**path || el.v.type == MRS_ARRAY) {
            return el.v;
        }
        if (el.v.type != MRS_DOCUMENT) {
            return mrs_missing();
        }
        d = mrs_val_view(el.v);
    }
}

static enum mrs_status
emit(struct check *u, const struct index *x, const struct making *m)
{
    struct entry one = {.doc = u->docs, .index = x->no};
    struct mrs_hash128 all[FIELDS + 1];
    if (x->sparse && m->missing == x->n) {
        return MRS_OK;
    }
    all[0] = (struct mrs_hash128){x->no, x->n};
    memcpy(all + 1, m->value, x->n * sizeof *all);
    one.key = mrs_hash(all, (x->n + 1) * sizeof *all, u->seed);
    return live_spool_put(&u->spool, &one, sizeof one, u->e);
}

/* Settles what needs no array; *array: the one that the other paths stop at; missing: none. */
static enum mrs_status
settle(struct check *u, const struct index *x, struct making *m, struct mrs_view d, struct mrs_val *array)
{
    enum mrs_status s = MRS_OK;
    *array = mrs_missing();
    for (uint32_t i = 0; s == MRS_OK && i < x->n; i++) {
        struct mrs_val v = m->rest[i] ? step(d, &m->rest[i]) : mrs_missing();
        if (!m->rest[i]) {
            continue;
        }
        if (v.type != MRS_ARRAY) {
            m->missing += v.type == MRS_MISSING;
            m->rest[i] = NULL;
            s = hash_value(u, v.type == MRS_MISSING ? mrs_null() : v, &m->value[i]);
        } else if (array->type == MRS_MISSING) {
            *array = v;
        } else if (array->p != v.p) {
            s = mrs_err_set(u->e, MRS_FAIL, MRS_E_REFUSED,
                            "%.120s: unique index %.64s cannot hold document _id %s, which has arrays in two of its "
                            "fields; mend it or change the plan; nothing was changed", u->t->now.ns, x->name, u->id[0]);
        }
    }
    return s;
}

/* A path that goes on with the name of an element: a position, or a field of the elements, as a server decides. */
static bool
by_position(const struct index *x, const struct making *m, struct mrs_view array)
{
    struct mrs_elem el;
    for (uint32_t i = 0; i < x->n; i++) {
        const char *p = m->rest[i];
        if (p && *p && mrs_doc_find(array, p, (uint32_t)strcspn(p, "."), &el)) {
            return true;
        }
    }
    return false;
}

static enum mrs_status make(struct check *u, struct index *x, struct making *m, struct mrs_view d);

/* The keys that hold one element of the array at which m stands. */
static enum mrs_status
make_one(struct check *u, struct index *x, const struct making *m, struct mrs_val v)
{
    struct making one = *m;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < x->n; i++) {
        if (one.rest[i] && !*one.rest[i]) {
            one.rest[i] = NULL;
            s = hash_value(u, v, &one.value[i]);
        }
    }
    return s == MRS_OK ? make(u, x, &one, v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc()) : s;
}

/* Comes back to itself for each array on a path: as deep as the path has parts, whatever the document is. */
static enum mrs_status
make(struct check *u, struct index *x, struct making *m, struct mrs_view d)
{
    struct mrs_val array;
    enum mrs_status s = settle(u, x, m, d, &array);
    if (s != MRS_OK || array.type == MRS_MISSING) {
        return s == MRS_OK ? emit(u, x, m) : s;
    }
    if (by_position(x, m, mrs_val_view(array))) {
        leave(u, x, "it holds positions in arrays");
        return MRS_OK;
    }
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(array));
    if (mrs_walk_next(&w, &el) != 1) {
        return make_one(u, x, m, (struct mrs_val){NULL, 0, MRS_UNDEFINED}); /* as a server takes an empty array */
    }
    do {
        s = make_one(u, x, m, el.v);
    } while (s == MRS_OK && !x->left && mrs_walk_next(&w, &el) == 1);
    return s;
}

static enum mrs_status
is_in(struct check *u, struct index *x, struct mrs_view doc, bool *yes)
{
    struct mrs_err why;
    struct mrs_eval ev = {.arena = &u->scratch, .root = doc, .err = &why};
    *yes = true;
    if (!x->filter) {
        return MRS_OK;
    }
    mrs_err_clear(&why);
    enum mrs_status s = mrs_query_match(x->filter, &ev, yes);
    if (s == MRS_FAIL) {
        leave(u, x, why.msg);
        *yes = false;
        return MRS_OK;
    }
    if (s != MRS_OK && u->e) {
        *u->e = why;
    }
    return s;
}

/* Comparing may take hours: without signs of life somebody else would take the run over. */
static enum mrs_status
breathe(struct check *u)
{
    enum mrs_status s = u->job->run && u->job->link ? live_run_breathe(u->job, 0, 0, u->e) : MRS_OK;
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
keys_of(void *arg, const struct live_listed *c, struct mrs_err *e)
{
    struct check *u = arg;
    enum mrs_status s = ++u->docs % 256 == 0 ? breathe(u) : MRS_OK;
    (void)e;
    mrs_arena_reset(&u->scratch);
    mrs_val_picture(mrs_doc_get(c->after, "_id"), u->id[0], sizeof u->id[0]);
    for (uint32_t i = 0; s == MRS_OK && i < u->n; i++) {
        struct index *x = &u->index[i];
        struct making m = {.missing = 0};
        bool yes = false;
        memcpy(m.rest, x->path, sizeof m.rest);
        s = x->left ? MRS_OK : is_in(u, x, c->after, &yes);
        s = s == MRS_OK && yes ? make(u, x, &m, c->after) : s;
    }
    return s;
}

/* ---- the documents of a result ---- */
static enum mrs_status
staying(void *arg, const struct live_listed *c, struct mrs_err *e)
{
    struct check *u = arg;
    struct live_listed one = *c;
    if (strcmp(c->coll.ns, u->t->old.ns) != 0 || u->keep(u->q, c)) {
        return MRS_OK;
    }
    one.after = c->before;
    return u->each(u, &one, e);
}

/* Also those that the list would remove and does not. */
static enum mrs_status
each_doc(struct check *u, live_listed_put fn)
{
    struct live_compare *c = u->q->compare;
    u->docs = 0;
    u->each = fn;
    enum mrs_status s = live_compare_whole(c, u->at, fn, u, u->e);
    if (s == MRS_OK && u->keep && u->t->old.ns && u->t->n[LIVE_DELETE]) {
        s = live_compare_each(c, LIVE_DELETE, u->t->turn, staying, u, u->e);
    }
    return s;
}

/* ---- equal keys ---- */
static void
note(struct check *u, const struct entry *a, const struct entry *b)
{
    u->clashes++;
    if (!u->second.doc || b->doc < u->second.doc || (b->doc == u->second.doc && b->index < u->second.index)) {
        u->first = *a;
        u->second = *b;
    }
}

/* One look at a stream of n entries: those of this pass. */
static enum mrs_status
look(struct check *u, struct live_stream *st, uint64_t n, uint64_t pass, uint64_t passes)
{
    uint64_t size = 64, used = 0;
    const uint8_t *p;
    enum mrs_status s = MRS_OK;
    while (size < n / passes * 2 + 64) {
        size *= 2;
    }
    struct entry *slot = mrs_alloc_array(u->job->mem, size, sizeof *slot);
    if (!slot) {
        return mrs_err_memory(u->e, size * sizeof *slot);
    }
    memset(slot, 0, size * sizeof *slot);
    while (s == MRS_OK && (s = live_stream_take(st, sizeof *slot, &p, u->e)) == MRS_OK) {
        struct entry one;
        memcpy(&one, p, sizeof one);
        if ((one.key.lo >> 40) % passes != pass) {
            continue;
        }
        uint64_t at = one.key.lo & (size - 1);
        while (slot[at].doc && (slot[at].key.hi != one.key.hi || slot[at].key.lo != one.key.lo)) {
            at = (at + 1) & (size - 1);
        }
        if (slot[at].doc && slot[at].doc != one.doc) {
            note(u, &slot[at], &one);
        } else if (!slot[at].doc) {
            slot[at] = one;
            s = ++used < size ? MRS_OK : mrs_err_set(u->e, MRS_FAIL, MRS_E_LIMIT, "more keys than fit --memory");
        }
    }
    mrs_free(u->job->mem, slot);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
look_at_part(struct check *u, const struct live_split *split, uint32_t part, uint64_t most)
{
    uint64_t bytes = split ? split->part[part].bytes : u->spool.bytes, passes = bytes / most + 1;
    enum mrs_status s = breathe(u);
    for (uint64_t i = 0; s == MRS_OK && i < passes; i++) {
        struct live_stream st;
        if (split) {
            live_stream_part(&st, split, part);
        } else {
            live_stream_spool(&st, &u->spool);
        }
        s = look(u, &st, bytes / sizeof(struct entry), i, passes);
        live_stream_close(&st);
    }
    return s;
}

static enum mrs_status
spread(struct check *u, struct live_split *split)
{
    struct live_stream st;
    const uint8_t *p;
    struct entry one;
    enum mrs_status s = MRS_OK;
    live_stream_spool(&st, &u->spool);
    while (s == MRS_OK && (s = live_stream_take(&st, sizeof one, &p, u->e)) == MRS_OK) {
        struct mrs_view bytes = {p, sizeof one};
        memcpy(&one, p, sizeof one);
        s = live_split_put(split, (uint32_t)(one.key.hi % split->n), bytes, u->e);
    }
    live_stream_close(&st);
    return s == MRS_END ? live_split_end(split, u->e) : s;
}

/* A part takes at most a quarter of the memory, as a table; blocks being filled take an eighth. */
static enum mrs_status
find_equal(struct check *u)
{
    uint64_t memory = u->job->opts.memory ? u->job->opts.memory : 256u << 20;
    uint64_t most = memory / 16 < 4096 ? 4096 : memory / 16;
    uint64_t parts = u->spool.bytes / most + 1, cap = memory / 32768 + 1;
    struct live_split split;
    enum mrs_status s = live_spool_end(&u->spool, u->e);
    if (s != MRS_OK || parts == 1) {
        return s == MRS_OK ? look_at_part(u, NULL, 0, most) : s;
    }
    cap = cap > 1u << 16 ? 1u << 16 : cap;
    parts = parts > cap ? cap : parts;
    s = live_split_open(&split, u->job->mem, u->job->opts.tmp, (uint32_t)parts, memory / 8, u->e);
    s = s == MRS_OK ? spread(u, &split) : s;
    for (uint32_t i = 0; s == MRS_OK && i < parts; i++) {
        s = look_at_part(u, &split, i, most);
    }
    live_split_close(&split);
    return s;
}

/* ---- a clash told ---- */
static enum mrs_status
find_ids(void *arg, const struct live_listed *c, struct mrs_err *e)
{
    struct check *u = arg;
    (void)e;
    u->docs++;
    if (u->docs == u->first.doc || u->docs == u->second.doc) {
        mrs_val_picture(mrs_doc_get(c->after, "_id"), u->id[u->docs == u->second.doc], sizeof u->id[0]);
    }
    return u->docs % 256 == 0 ? breathe(u) : MRS_OK;
}

static enum mrs_status
tell(struct check *u)
{
    char more[64] = "";
    enum mrs_status s = each_doc(u, find_ids);
    if (s != MRS_OK) {
        return s;
    }
    if (u->clashes > 1) {
        snprintf(more, sizeof more, " (%llu such keys in all)", (unsigned long long)u->clashes);
    }
    return mrs_err_set(u->e, MRS_FAIL, MRS_E_REFUSED,
                       "%.120s: the result does not fit unique index %.64s: documents _id %s and _id %s have the same "
                       "key%s; change or remove one, or the plan; nothing was changed",
                       u->t->now.ns, u->index[u->second.index].name, u->id[0], u->id[1], more);
}

/* ---- all of it ---- */
static enum mrs_status
check_coll(struct check *u)
{
    enum mrs_status s = read_indexes(u);
    if (s == MRS_OK && u->n) {
        s = live_spool_open(&u->spool, u->job->mem, u->job->opts.tmp, u->e);
        s = s == MRS_OK ? each_doc(u, keys_of) : s;
        s = s == MRS_OK ? find_equal(u) : s;
        s = s == MRS_OK && u->second.doc ? tell(u) : s;
        live_spool_close(&u->spool);
    }
    for (uint32_t i = 0; i < u->n; i++) {
        mrs_query_free(u->index[i].filter);
    }
    u->n = 0;
    mrs_arena_reset(&u->arena);
    return s;
}

enum mrs_status
live_unique_check(struct live_quiet_run *q, live_keep keep, struct mrs_err *e)
{
    struct check u = {.q = q, .job = q->job, .keep = keep, .e = e};
    mrs_arena_init(&u.arena, q->job->mem);
    mrs_arena_init(&u.scratch, q->job->mem);
    mrs_buf_init(&u.key, q->job->mem, SIZE_MAX);
    u.seed = 0x9E3779B97F4A7C15ull;
    if (getrandom(&u.seed, sizeof u.seed, GRND_NONBLOCK) < 0) {
        u.seed ^= (uint64_t)getpid();
    }
    enum mrs_status s = MRS_OK;
    for (u.at = 0; s == MRS_OK && u.at < live_compare_count(q->compare); u.at++) {
        u.t = live_compare_at(q->compare, u.at);
        s = u.t->now.ns ? check_coll(&u) : MRS_OK;
    }
    mrs_buf_clear(&u.key);
    mrs_arena_clear(&u.scratch);
    mrs_arena_clear(&u.arena);
    return s;
}
