/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.c - proposes pairs of a path and a key by names and samples; pairs with a low score are not examined
 * further. */
#include "hints.h"
#include "lookups.h"
#include <stdlib.h>

enum { PAIRS = 4000 };
#define LEAST .25
#define LEAST_CONTAINED .03

struct mrsi_reference *
mrsi_reference_add(struct mrsi_inspection *x, const struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts > 0 && x->refs <= x->ref_cap);
    struct mrsi_reference **list = mrs_arena_more(&x->arena, x->ref, x->refs, &x->ref_cap,
                                                  sizeof(struct mrsi_reference *));
    struct mrsi_reference *copy = list ? mrs_arena_copy(&x->arena, r, sizeof *r) : NULL;
    if (copy) {
        x->ref = list;
        x->ref[x->refs++] = copy;
    }
    return copy;
}

struct mrsi_reference *
mrsi_reference_from(const struct mrsi_inspection *x, const struct mrsi_path *p)
{
    for (uint32_t i = 0; i < x->refs; i++) {
        if (x->ref[i]->parts == 1 && x->ref[i]->from[0] == p && !x->ref[i]->dropped && !x->ref[i]->candidate) {
            return x->ref[i];
        }
    }
    return NULL;
}

static bool
share_a_class(const struct mrsi_path *p, const struct mrsi_path *key)
{
    for (int i = MRSI_NUMBER; i <= MRSI_BINARY; i++) {
        if (p->count.n[i] && key->count.n[i]) {
            return true;
        }
    }
    return false;
}

/* Computes the score from the samples. Unknown counts as a match: the exact count decides. False: not worth
 * counting. */
static bool
estimate(const struct mrsi_relating *x, struct mrsi_reference *r)
{
    MRS_ASSERT(r->parts == 1);
    bool known;
    struct mrsi_path *p = r->from[0], *key = r->to[0];
    r->distinct = p->distinct;
    r->keys = key->distinct;
    r->contained = mrsi_sample_contained(p, r->as_number, key, &known);
    known = known && !mrsi_can_look_up(x, key);
    bool measured = known;
    r->contained = known ? r->contained : mrsi_path_may_be_in(p, r->as_number, key) ? 1 : 0;
    bool proof = mrsi_path_is_id(key) || !key->count.n[MRSI_NUMBER]; /* other numbers are no ids */
    r->by_kind = p->type_field && proof && mrsi_path_names(p->type_field, key->in->no, &x->words);
    if (r->contained < LEAST_CONTAINED && !(r->by_kind && r->contained > 0)) {
        return false;
    }
    r->cover = mrsi_sample_covered(p, r->as_number, key, &known);
    r->cover = known ? r->cover : (double)r->distinct * r->contained / (double)(r->keys ? r->keys : 1);
    r->cover = r->cover > 1 ? 1 : r->cover;
    r->contained += measured && r->contained > .3 && r->contained < 1 ? .03 : 0; /* the samples' error */
    r->contained = r->contained > .97 ? 1 : r->contained;
    r->cover += .03;
    r->cover = r->cover > .97 ? 1 : r->cover;
    r->matched_distinct = (uint64_t)((double)r->distinct * r->contained + .999);
    mrsi_judge(x, r);
    if ((r->cover >= 1 && key->count.n[MRSI_NUMBER] && key->distinct >= 3 && key->count.least >= 10) ||
        (p->fitting == key->in && mrsi_numbers_fit(p, key) != MRSI_NO_FIT) || mrsi_numbers_span(p, key)) {
        return true; /* perhaps one of several targets, or the only key with these numbers */
    }
    return r->score >= LEAST || (r->n >= .75 && r->contained >= .25) || r->v >= .85 || r->by_kind;
}

static int
by_estimate(const void *a, const void *b)
{
    const struct mrsi_ref_pair *x = a, *y = b;
    return x->estimate < y->estimate ? 1 : x->estimate > y->estimate ? -1 : 0;
}

static void
keep_best(struct mrsi_relating *x)
{
    MRS_ASSERT(x->pairs > PAIRS);
    qsort(x->pair, x->pairs, sizeof *x->pair, by_estimate);
    x->left_out += x->pairs - PAIRS;
    x->pairs = PAIRS;
}

/* With a thousand collections of one kind a path may refer to each: only the best pairs are kept. */
static enum mrs_status
add_pair(struct mrsi_relating *x, const struct mrsi_ref_pair *pair, struct mrs_err *e)
{
    if (x->pairs == 2 * PAIRS) {
        keep_best(x);
    }
    struct mrsi_ref_pair *more = mrs_more(x->x->mem, x->pair, x->pairs, &x->pair_cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    x->pair = more;
    x->pair[x->pairs++] = *pair;
    return MRS_OK;
}

/* A short list that is otherwise no key is one for paths with its name, or that of its collection. */
static bool
may_name(const struct mrsi_relating *x, const struct mrsi_path *p, const struct mrsi_path *key)
{
    return mrsi_path_is_key(key) ||
           (key->in != p->in && !mrsi_path_is_unique(p) &&
            (strcmp(key->last, p->last) == 0 || mrsi_name_score(p, key, &x->words, 1, false) >= 1));
}

static enum mrs_status
propose(struct mrsi_relating *x, struct mrsi_path *p, struct mrsi_path *key, bool as_number, struct mrs_err *e)
{
    MRS_ASSERT(x->pairs <= x->pair_cap);
    struct mrsi_ref_pair pair = {.r = {.from = {p}, .to = {key}, .parts = 1, .as_number = as_number}};
    pair.r.self = p->in == key->in;
    bool twins = pair.r.self && key->lists && mrsi_path_is_unique(p); /* both name the same subdocument */
    if (p == key || (mrsi_path_is_id(p) && (pair.r.self || key->lists)) || twins) {
        return MRS_OK;
    }
    if (mrsi_hint_of(x, p, key)) {
        return MRS_OK; /* its target is already known */
    }
    if (!estimate(x, &pair.r) || !may_name(x, p, key)) {
        return MRS_OK;
    }
    pair.estimate = pair.r.score;
    return add_pair(x, &pair, e);
}

/* The sibling `$ref` or `$db` of an `$id` gives the names of the possible collections or databases. NULL: none. */
static const struct mrsi_path *
dbref_part(const struct mrsi_path *p, const char *name)
{
    for (uint32_t i = 0; strcmp(p->last, "$id") == 0 && i < p->in->paths; i++) {
        const struct mrsi_path *q = &p->in->path[i];
        if (q->parent == p->parent && strcmp(q->last, name) == 0 && q->n_frequent) {
            return q;
        }
    }
    return NULL;
}

static bool
has_frequent(const struct mrsi_path *p, const char *text, size_t n)
{
    bool found = false;
    for (uint32_t i = 0; i < p->n_frequent && !found; i++) {
        const struct mrs_val v = p->frequent[i].value;
        found = v.type == MRS_STRING && v.n == n + 5 && memcmp(v.p + 4, text, n) == 0;
    }
    return found;
}

/* Without `$db`, a DBRef names a collection of its own database. */
static enum mrs_status
by_dbref(struct mrsi_relating *x, struct mrsi_path *p, const struct mrsi_path *ref, struct mrs_err *e)
{
    const struct mrsi_path *db = dbref_part(p, "$db");
    enum mrs_status s = MRS_OK;
    for (uint32_t c = 0; s == MRS_OK && c < x->x->colls; c++) {
        struct mrsi_collection *coll = &x->x->coll[c];
        bool named = has_frequent(ref, coll->name, strlen(coll->name)) &&
                     ((db && has_frequent(db, coll->ns, coll->db_n)) ||
                      (mrsi_same_db(coll, p->in) && (!db || db->present < ref->present)));
        if (named && coll->paths && mrsi_path_is_id(&coll->path[0])) {
            struct mrsi_ref_pair pair = {.r = {.from = {p}, .to = {&coll->path[0]}, .parts = 1, .dbref = true}};
            pair.r.self = coll == p->in;
            pair.r.score = pair.r.v = pair.r.n = pair.estimate = 1;
            s = add_pair(x, &pair, e);
        }
    }
    return s;
}

/* Lists all possible keys, without duplicates. */
static enum mrs_status
list_keys(struct mrsi_relating *x, struct mrs_err *e)
{
    uint32_t cap = 0;
    for (uint32_t c = 0; c < x->x->colls; c++) {
        for (uint32_t i = 0; i < x->x->coll[c].paths; i++) {
            struct mrsi_path *p = &x->x->coll[c].path[i];
            if (!mrsi_path_is_key(p) && !mrsi_path_is_short_list(p)) {
                continue;
            }
            struct mrsi_path **more = mrs_arena_more(&x->x->arena, x->key, x->keys, &cap, sizeof(struct mrsi_path *));
            MRS_TRY(mrs_allocated(more, sizeof(struct mrsi_path *), e));
            x->key = more;
            x->key[x->keys++] = p;
        }
    }
    return MRS_OK;
}

/* The only collection of a key with just the numbers of the path. */
static const struct mrsi_collection *
fitting(const struct mrsi_relating *x, const struct mrsi_path *p)
{
    MRS_ASSERT(p->in);
    enum mrsi_range_fit best = MRSI_NO_FIT;
    const struct mrsi_collection *in = NULL;
    for (uint32_t i = 0; p->count.n[MRSI_NUMBER] + p->count.digits && i < x->keys; i++) {
        const struct mrsi_path *key = x->key[i];
        enum mrsi_range_fit fit = key != p && mrsi_same_db(key->in, p->in) ? mrsi_numbers_fit(p, key) : MRSI_NO_FIT;
        if (fit > best) {
            best = fit;
            in = key->in;
        } else if (fit == best && key->in != in) {
            in = NULL;
        }
    }
    return in;
}

static enum mrs_status
keys_for(struct mrsi_relating *x, struct mrsi_path *p, uint8_t *may, struct mrs_err *e)
{
    enum mrs_status s = mrsi_check_cancel(&x->store, e);
    mrsi_key_index_find(x, p, may);
    p->fitting = fitting(x, p);
    for (uint32_t i = 0; s == MRS_OK && i < x->keys; i++) {
        if (!may[i]) {
            continue;
        }
        struct mrsi_path *key = x->key[i];
        bool one_db = mrsi_same_db(key->in, p->in);
        uint64_t mine = p->count.digits + p->count.n[MRSI_NUMBER], its = key->count.digits + key->count.n[MRSI_NUMBER];
        bool both_forms = (p->count.digits || key->count.digits) &&
                          (p->count.n[MRSI_NUMBER] || key->count.n[MRSI_NUMBER]);
        if (one_db && share_a_class(p, key)) {
            s = propose(x, p, key, false, e);
        }
        if (s == MRS_OK && one_db && both_forms && mine && its) {
            s = propose(x, p, key, true, e);
        }
    }
    return s;
}

/* References in the user's hints are counted like the others and have priority over them. */
static enum mrs_status
by_hint(struct mrsi_relating *x, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < x->hints; i++) {
        const struct mrsi_hint *h = &x->hint[i];
        struct mrsi_ref_pair pair = {.r = {.from = {h->from}, .to = {h->to}, .parts = 1, .hinted = true},
                                     .estimate = 2};
        const uint64_t *p = h->from->count.n, *k = h->to->count.n;
        pair.r.self = h->from->in == h->to->in;
        pair.r.score = pair.r.v = pair.r.n = 1;
        pair.r.as_number = (h->from->count.digits && k[MRSI_NUMBER]) || (h->to->count.digits && p[MRSI_NUMBER]);
        s = h->none ? MRS_OK : add_pair(x, &pair, e);
    }
    return s;
}

/* ---- names that refer to a key elsewhere ---- */
struct namesake {
    struct mrsi_path *from, *to;
    bool as_number;
};

static int
by_name(const struct namesake *a, const struct namesake *b)
{
    const struct mrsi_collection *c = a->from->in, *d = b->from->in;
    int n = c->db_n == d->db_n ? memcmp(c->ns, d->ns, c->db_n) : c->db_n < d->db_n ? -1 : 1;
    return n ? n : strcmp(a->from->last, b->from->last);
}

static int
by_name_and_key(const void *a, const void *b)
{
    const struct namesake *x = a, *y = b;
    int n = by_name(x, y);
    n = n ? n : (x->to->in->no > y->to->in->no) - (x->to->in->no < y->to->in->no);
    return n ? n : strcmp(x->to->text, y->to->text);
}

static int
find_name(const void *a, const void *b)
{
    return by_name(a, b);
}

/* The key that most of the paths of one name, sorted by key, refer to; NULL: none has more than half. */
static const struct namesake *
most_of(const struct namesake *list, uint32_t n)
{
    MRS_ASSERT(n > 0);
    const struct namesake *middle = &list[n / 2]; /* more than half: it is there, too */
    uint32_t same = 0;
    for (uint32_t i = 0; i < n; i++) {
        same += list[i].to == middle->to;
    }
    return same * 2 > n ? middle : NULL;
}

/* Lists the names whose paths mostly refer to one key of their database; returns their number. */
static uint32_t
list_namesakes(const struct mrsi_relating *x, struct namesake *list)
{
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < x->pairs; i++) {
        const struct mrsi_reference *r = &x->pair[i].r;
        if (r->score >= .6 && r->n >= .5 && r->score >= r->from[0]->likely && !r->self && !r->dbref && !r->hinted) {
            list[n++] = (struct namesake){r->from[0], r->to[0], r->as_number};
        }
    }
    if (n) {
        qsort(list, n, sizeof *list, by_name_and_key);
    }
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_name(&list[i], &list[end]) == 0;) {
            end++;
        }
        const struct namesake *most = most_of(&list[i], end - i);
        if (most) {
            list[kept++] = *most;
        }
    }
    return kept;
}

/* Proposes that key for a path that has the name and nothing but its values. */
static enum mrs_status
by_namesake(struct mrsi_relating *x, const struct namesake *of, struct mrsi_path *p, struct mrs_err *e)
{
    MRS_ASSERT(of->from != p);
    struct mrsi_ref_pair pair = {.r = {.from = {p}, .to = {of->to}, .parts = 1, .as_number = of->as_number,
                                       .self = p->in == of->to->in, .namesake = true}};
    bool fits = p != of->to && share_a_class(p, of->to) && estimate(x, &pair.r) && pair.r.contained >= .95;
    pair.estimate = pair.r.score;
    return fits ? add_pair(x, &pair, e) : MRS_OK;
}

static enum mrs_status
by_namesakes(struct mrsi_relating *x, struct mrs_err *e)
{
    for (uint32_t i = 0; i < x->pairs; i++) {
        struct mrsi_path *p = x->pair[i].r.from[0];
        p->likely = x->pair[i].r.score > p->likely ? x->pair[i].r.score : p->likely;
    }
    struct namesake *list = mrs_alloc_array(x->x->mem, x->pairs + 1, sizeof *list);
    enum mrs_status s = mrs_allocated(list, x->pairs * sizeof *list, e);
    uint32_t n = list ? list_namesakes(x, list) : 0;
    for (uint32_t c = 0; s == MRS_OK && n && c < x->x->colls; c++) {
        struct mrsi_collection *coll = &x->x->coll[c];
        for (uint32_t i = 0; s == MRS_OK && i < coll->paths; i++) {
            struct mrsi_path *p = &coll->path[i];
            s = mrsi_check_cancel(&x->store, e);
            bool open = s == MRS_OK && p->likely < .6 && mrsi_path_can_refer(p) && !mrsi_path_is_id(p);
            struct namesake as = {.from = p};
            const struct namesake *of = open ? bsearch(&as, list, n, sizeof *list, find_name) : NULL;
            if (of && !mrsi_name_is_own(p, &x->words)) {
                s = by_namesake(x, of, p, e);
            }
        }
    }
    mrs_free(x->x->mem, list);
    return s;
}

enum mrs_status
mrsi_propose(struct mrsi_relating *x, struct mrs_err *e)
{
    enum mrs_status s = mrsi_hints_read(x, x->opts->hints, e);
    MRS_THEN(s, by_hint(x, e));
    MRS_THEN(s, list_keys(x, e));
    MRS_THEN(s, mrsi_key_index_make(x, e));
    for (uint32_t c = 0; s == MRS_OK && c < x->x->colls; c++) {
        for (uint32_t i = 0; i < x->x->coll[c].paths; i++) {
            struct mrsi_path *p = &x->x->coll[c].path[i];
            p->type_field = mrsi_path_kind(p, &x->words);
        }
    }
    uint8_t *may = s == MRS_OK ? mrs_alloc(x->x->mem, x->keys + 1) : NULL;
    s = s == MRS_OK && !may ? mrs_err_memory(e, x->keys) : s;
    for (uint32_t c = 0; s == MRS_OK && c < x->x->colls; c++) {
        struct mrsi_collection *coll = &x->x->coll[c];
        for (uint32_t i = 0; s == MRS_OK && i < coll->paths; i++) {
            struct mrsi_path *p = &coll->path[i];
            const struct mrsi_path *ref = dbref_part(p, "$ref");
            if (mrsi_path_can_refer(p)) {
                s = ref ? by_dbref(x, p, ref, e) : keys_for(x, p, may, e);
            }
        }
    }
    mrs_free(x->x->mem, may);
    mrsi_key_index_free(x);
    MRS_THEN(s, by_namesakes(x, e));
    if (x->pairs > PAIRS) {
        keep_best(x);
    }
    if (s == MRS_OK && x->left_out) {
        s = mrsi_model_leave(x->x, e, "%u pairs of a path and a key that scored least were not counted", x->left_out);
    }
    return s;
}
