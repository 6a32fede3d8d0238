/* SPDX-License-Identifier: Apache-2.0 */
/* unique.c - checks the result of a quiet run against its unique indexes before its list is sealed.
 *
 * A sealed list is executed to its end: a duplicate key that only the server finds would leave a run that can go
 * neither forwards nor backwards. So the keys that a server would make of the result's documents are made here, for
 * each unique index. Their hashes are stored and cut into parts that fit memory; equal ones of different documents are
 * duplicates. Checks that only a server can make are left to it, and reported. */
#include "live/link/bson.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/unique.h"
#include "quiet.h"
#include "spool.h"

#include <stdio.h>
#include <unistd.h>

struct unique_entry {
    struct mrs_hash128 key;
    uint64_t doc, index; /* doc: its number in the result, from 1 */
};
struct unique_check {
    struct live_quiet_run *q;
    struct live_job *job;
    live_keep keep;
    uint32_t at; /* the current collection */
    const struct live_tally *t;
    struct mrs_unique *keys; /* of the current collection */
    bool *left;              /* its indexes that are left to the server, and reported */
    uint32_t n_left;
    live_planned_change_put each;
    uint64_t docs;
    struct live_spool spool;
    struct unique_entry first, second; /* the first duplicate: second.doc 0: none */
    uint64_t clashes;
    char id[2][80];
    struct mrs_err *e;
};

/* ---- indexes to check ---- */
static void
report_unchecked(struct unique_check *u, const struct mrs_unique_index *x, const char *why)
{
    char line[1024];
    if (u->job->print_line) {
        snprintf(line, sizeof line, "%s: whether the result fits unique index %.128s is left to the server: %s",
                 u->t->now.ns, x->name, why);
        u->job->print_line(u->job->arg, line);
    }
}

/* Reports indexes left to the server since the last report. */
static void
report_more_unchecked(struct unique_check *u)
{
    MRS_ASSERT(u->left);
    uint32_t left = 0, n = mrs_unique_count(u->keys);
    for (uint32_t i = 0; i < n; i++) {
        left += mrs_unique_at(u->keys, i)->left != NULL;
    }
    if (left == u->n_left) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct mrs_unique_index *x = mrs_unique_at(u->keys, i);
        if (x->left && !u->left[i]) {
            u->left[i] = true;
            report_unchecked(u, x, x->left);
        }
    }
    u->n_left = left;
}

/* The values of an existing index are unchanged if no document was added and none changed them. */
static bool
is_new(void *arg, struct mrs_elem spec)
{
    const struct unique_check *u = arg;
    struct mrs_walk w;
    struct mrs_elem el;
    if (u->t->n[LIVE_INSERT] || u->t->unique_changed) {
        return true;
    }
    for (mrs_walk_init(&w, live_doc_of(mrs_doc_get(u->t->old_meta, "indexes"))); mrs_walk_next(&w, &el) == 1;) {
        if (mrs_identical(el.v, spec.v)) {
            return false;
        }
    }
    return true;
}

static enum mrs_status
read_indexes(struct unique_check *u)
{
    struct mrs_unique_spec spec = {.metadata = u->t->now_meta,
                                   .now_ms = u->job->plan->now_ms,
                                   .secret = &u->job->secret,
                                   .wants = is_new,
                                   .arg = u};
    enum mrs_status s = mrs_unique_new(u->job->mem, &spec, &u->keys, u->e);
    uint32_t n = s == MRS_OK ? mrs_unique_count(u->keys) : 0;
    u->n_left = 0;
    u->left = s == MRS_OK ? mrs_zalloc(u->job->mem, n + 1) : NULL;
    if (s == MRS_OK && !u->left) {
        s = mrs_err_memory(u->e, n + 1);
    }
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        const struct mrs_unique_index *x = mrs_unique_at(u->keys, i);
        if (x->collated && !x->left) {
            report_unchecked(u, x,
                             "only texts with equal bytes were compared, not texts that its collation takes as equal");
        }
    }
    if (s == MRS_OK) {
        report_more_unchecked(u);
    }
    return s;
}

/* Renews the lease during a long comparison, else another process would take over the run. */
static enum mrs_status
breathe(struct unique_check *u)
{
    enum mrs_status s = u->job->run && u->job->link ? live_run_breathe(u->job, 0, 0, u->e) : MRS_OK;
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
put_key(void *arg, uint32_t index, struct mrs_hash128 key, struct mrs_err *e)
{
    struct unique_check *u = arg;
    MRS_ASSERT(u->docs > 0);
    struct unique_entry one = {.key = key, .doc = u->docs, .index = index};
    return live_spool_put(&u->spool, &one, sizeof one, e);
}

static enum mrs_status
keys_of(void *arg, const struct live_planned_change *c, struct mrs_err *e)
{
    struct unique_check *u = arg;
    struct mrs_unique_put put = {put_key, u};
    uint32_t bad;
    enum mrs_status s = ++u->docs % 256 == 0 ? breathe(u) : MRS_OK;
    (void)e;
    MRS_THEN(s, mrs_unique_keys(u->keys, c->after, &put, &bad, u->e));
    if (s == MRS_SKIP) {
        mrs_val_picture(mrs_doc_get(c->after, "_id"), u->id[0], sizeof u->id[0]);
        return mrs_err_set(u->e, MRS_FAIL, MRS_E_REFUSED,
                           "%.120s: unique index %.64s cannot hold document _id %s, which has arrays in two of its "
                           "fields; correct it or change the plan; nothing was changed", u->t->now.ns,
                           mrs_unique_at(u->keys, bad)->name, u->id[0]);
    }
    report_more_unchecked(u);
    return s;
}

/* ---- documents of a result ---- */
static enum mrs_status
check_undeleted(void *arg, const struct live_planned_change *c, struct mrs_err *e)
{
    struct unique_check *u = arg;
    struct live_planned_change one = *c;
    if (strcmp(c->coll.ns, u->t->old.ns) != 0 || u->keep(u->q, c)) {
        return MRS_OK;
    }
    one.after = c->before;
    return u->each(u, &one, e);
}

/* Also those that the list would delete and does not. */
static enum mrs_status
each_doc(struct unique_check *u, live_planned_change_put fn)
{
    struct live_compare *c = u->q->compare;
    u->docs = 0;
    u->each = fn;
    enum mrs_status s = live_compare_whole(c, u->at, fn, u, u->e);
    if (s == MRS_OK && u->keep && u->t->old.ns && u->t->n[LIVE_DELETE]) {
        s = live_compare_each(c, LIVE_DELETE, u->t->turn, check_undeleted, u, u->e);
    }
    return s;
}

/* ---- equal keys ---- */
static void
note(struct unique_check *u, const struct unique_entry *a, const struct unique_entry *b)
{
    MRS_ASSERT(a->doc != b->doc);
    u->clashes++;
    if (!u->second.doc || b->doc < u->second.doc || (b->doc == u->second.doc && b->index < u->second.index)) {
        u->first = *a;
        u->second = *b;
    }
}

/* Reads a stream of n entries once: those of this pass. Its own table: keys are hashes of 128 bits. */
static enum mrs_status
find_in_pass(struct unique_check *u, struct live_stream *st, uint64_t n, uint64_t pass, uint64_t passes)
{
    MRS_ASSERT(pass < passes);
    uint64_t size = 64, used = 0;
    const uint8_t *p;
    enum mrs_status s = MRS_OK;
    while (size < n / passes * 2 + 64) {
        size *= 2;
    }
    struct unique_entry *slot = mrs_alloc_array(u->job->mem, size, sizeof *slot);
    MRS_TRY(mrs_allocated(slot, size * sizeof *slot, u->e));
    memset(slot, 0, size * sizeof *slot);
    while (s == MRS_OK && (s = live_stream_take(st, sizeof *slot, &p, u->e)) == MRS_OK) {
        struct unique_entry one;
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
find_in_part(struct unique_check *u, const struct live_split *split, uint32_t part, uint64_t most)
{
    MRS_ASSERT(split ? part < split->n : part == 0);
    uint64_t bytes = split ? split->part[part].bytes : u->spool.bytes, passes = bytes / most + 1;
    enum mrs_status s = breathe(u);
    for (uint64_t i = 0; s == MRS_OK && i < passes; i++) {
        struct live_stream st;
        if (split) {
            live_stream_part(&st, split, part);
        } else {
            live_stream_spool(&st, &u->spool);
        }
        s = find_in_pass(u, &st, bytes / sizeof(struct unique_entry), i, passes);
        live_stream_close(&st);
    }
    return s;
}

static enum mrs_status
spread(struct unique_check *u, struct live_split *split)
{
    struct live_stream st;
    const uint8_t *p;
    struct unique_entry one;
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
find_equal(struct unique_check *u)
{
    uint64_t memory = u->job->opts.memory ? u->job->opts.memory : 256u << 20;
    uint64_t most = memory / 16 < 4096 ? 4096 : memory / 16;
    uint64_t parts = u->spool.bytes / most + 1, cap = memory / 32768 + 1;
    struct live_split split;
    enum mrs_status s = live_spool_end(&u->spool, u->e);
    if (s != MRS_OK || parts == 1) {
        return s == MRS_OK ? find_in_part(u, NULL, 0, most) : s;
    }
    cap = cap > 1u << 16 ? 1u << 16 : cap;
    parts = parts > cap ? cap : parts;
    s = live_split_open(&split, u->job->mem, u->job->opts.tmp, (uint32_t)parts, memory / 8, u->e);
    MRS_THEN(s, spread(u, &split));
    for (uint32_t i = 0; s == MRS_OK && i < parts; i++) {
        s = find_in_part(u, &split, i, most);
    }
    live_split_close(&split);
    return s;
}

/* ---- the report ---- */
static enum mrs_status
find_ids(void *arg, const struct live_planned_change *c, struct mrs_err *e)
{
    struct unique_check *u = arg;
    (void)e;
    u->docs++;
    if (u->docs == u->first.doc || u->docs == u->second.doc) {
        mrs_val_picture(mrs_doc_get(c->after, "_id"), u->id[u->docs == u->second.doc], sizeof u->id[0]);
    }
    return u->docs % 256 == 0 ? breathe(u) : MRS_OK;
}

static enum mrs_status
report_pair(struct unique_check *u)
{
    MRS_ASSERT(u->second.doc > 0);
    char more[64] = "";
    MRS_TRY(each_doc(u, find_ids));
    if (u->clashes > 1) {
        snprintf(more, sizeof more, " (%llu such keys in all)", (unsigned long long)u->clashes);
    }
    return mrs_err_set(u->e, MRS_FAIL, MRS_E_REFUSED,
                       "%.120s: the result does not fit unique index %.64s: documents _id %s and _id %s have the same "
                       "key%s; change or remove one, or the plan; nothing was changed",
                       u->t->now.ns, mrs_unique_at(u->keys, (uint32_t)u->second.index)->name, u->id[0], u->id[1], more);
}

/* ---- entry point ---- */
static bool
all_left(const struct unique_check *u)
{
    return u->n_left == mrs_unique_count(u->keys);
}

static enum mrs_status
check_coll(struct unique_check *u)
{
    enum mrs_status s = read_indexes(u);
    if (s == MRS_OK && !all_left(u)) {
        s = live_spool_open(&u->spool, u->job->mem, u->job->opts.tmp, u->e);
        MRS_THEN(s, each_doc(u, keys_of));
        MRS_THEN(s, find_equal(u));
        s = s == MRS_OK && u->second.doc ? report_pair(u) : s;
        live_spool_close(&u->spool);
    }
    mrs_free(u->job->mem, u->left);
    mrs_unique_free(u->keys);
    u->left = NULL;
    u->keys = NULL;
    return s;
}

enum mrs_status
live_unique_check(struct live_quiet_run *q, live_keep keep, struct mrs_err *e)
{
    MRS_ASSERT(q->compare);
    struct unique_check u = {.q = q, .job = q->job, .keep = keep, .e = e};
    enum mrs_status s = MRS_OK;
    for (u.at = 0; s == MRS_OK && u.at < live_compare_count(q->compare); u.at++) {
        u.t = live_compare_at(q->compare, u.at);
        s = u.t->now.ns ? check_coll(&u) : MRS_OK;
    }
    return s;
}
