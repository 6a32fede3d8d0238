/* SPDX-License-Identifier: Apache-2.0 */
/* match_reasons.c - finds why documents do not match: references of a type that no target has, texts that a target has
 * in another case or with blanks, or a `match` in the wrong direction.
 *
 * Only if some do not match, the first documents of both sides are read once more, before the step's output replaces
 * the collections. The result is in the account's row, so it is saved and discarded with it. */
#include "pass.h"
#include "run/account/fates.h"
#include "run/store/value_kind.h"
#include "mongoreshape/path.h"
#include "mongoreshape/join_ops.h"
#include <stdlib.h>

enum { BYTES = 16 << 20, VALUES = 1 << 16 }; /* read from a side; stored in memory */
enum { AS_IT_IS, FOLDED }; /* seeds of hashes */

struct match_reasons_question {
    struct mrs_path path, target;  /* of references, and of their targets */
    uint64_t has[256], lacks[256]; /* targets by type class; documents with a reference of a class that no target has */
    uint64_t among;                /* types of references that can be odd, bits of mrsi_kind_bit; 0: any */
    uint64_t docs;                 /* number of documents with a reference */
    uint8_t odd; /* current document: an odd class, 0: none; does it have a reference? */
    bool any;
    bool in_place; /* a document there may have been a reference before: not counted, unless it is a DBRef */
    bool rekey;    /* whose references are DBRefs as well */
};
struct value_search { /* of values of one side among those of the other */
    struct mrsi_engine *en;
    struct mrs_path path; /* of the targets, then of the others */
    struct mrs_keys keys; /* of the current value */
    struct mrs_buf set;   /* uint64_t: hashes of values of the targets */
    uint64_t docs, found;  /* documents with a value; of these, the value was found */
    bool any, is_found;    /* the current document */
    struct mrs_err *err;
};

/* Types that compare with each other; 0: such a value matches nothing. */
static uint8_t
class_of(struct mrs_val v)
{
    return mrs_is_nullish(v)      ? 0
           : mrs_is_number(v)     ? MRS_INT32
           : v.type == MRS_SYMBOL ? MRS_STRING
                                  : mrsi_value_kind(v);
}

static const char *
class_name(uint8_t class)
{
    return class == MRS_INT32 ? "number" : mrsi_kind_name(class);
}

static const char *
article(uint8_t class)
{
    return strchr("aeiou", class_name(class)[0]) ? "an" : "a";
}

/* Calls fn for the first documents of a side; *all: that is all of them. side 0: only processed documents, with their
 * match result; without fates all are processed, and none matches. */
typedef enum mrs_status (*document_fn)(void *arg, struct mrs_view doc, bool matched);

struct taking_part { /* document_fn for processed documents */
    const struct mrsi_fates *f;
    document_fn fn;
    void *arg;
};

static enum mrs_status
each_document(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    const struct taking_part *x = arg;
    unsigned fate = x->f ? mrsi_fates_get(x->f, ordinal) : 0;
    (void)w, (void)job, (void)e;
    return fate & (MRSI_FATE_OUTSIDE | MRSI_FATE_REFUSED) ? MRS_OK : x->fn(x->arg, doc, fate & MRSI_FATE_USED);
}

static enum mrs_status
each_of_side(struct mrsi_engine *en, uint32_t step, uint32_t side, const struct mrsi_fates *f, document_fn fn,
             void *arg, bool *all, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct taking_part x = {side == 0 ? f : NULL, fn, arg};
    return mrsi_read_again(en, &en->coll[en->side[step][side]], BYTES, each_document, &x, all, e);
}

/* ---- types ---- */
static enum mrs_status
target_value(void *arg, struct mrs_val v)
{
    struct match_reasons_question *q = arg;
    q->has[class_of(v)]++;
    return MRS_OK;
}

static enum mrs_status
target_document(void *arg, struct mrs_view doc, bool matched)
{
    struct match_reasons_question *q = arg;
    (void)matched;
    return mrs_path_each(&q->target, doc, false, target_value, q);
}

static enum mrs_status
reference_value(void *arg, struct mrs_val v)
{
    struct match_reasons_question *q = arg;
    bool dbref = v.type == MRS_DOCUMENT && mrs_doc_get(mrs_val_view(v), "$ref").type == MRS_STRING && !q->rekey;
    uint8_t class = q->in_place && v.type == MRS_DOCUMENT && !dbref ? 0 : class_of(v);
    q->any = q->any || class;
    bool odd = class && !q->has[class] && (!q->among || q->among & mrsi_kind_bit(mrsi_value_kind(v)));
    q->odd = odd ? class : q->odd;
    return MRS_OK;
}

static enum mrs_status
reference_document(void *arg, struct mrs_view doc, bool matched)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct match_reasons_question *q = arg;
    q->odd = q->any = 0;
    enum mrs_status s = mrs_path_each(&q->path, doc, false, reference_value, q);
    q->docs += q->any;
    q->lacks[q->odd] += q->odd && !matched;
    return s;
}

static uint8_t
most(const uint64_t n[256])
{
    uint8_t at = 1;
    for (uint32_t i = 2; i < 256; i++) {
        at = n[i] > n[at] ? (uint8_t)i : at;
    }
    return at;
}

static enum mrs_status
compile(struct mrsi_engine *en, const char *text, struct mrs_path *out, struct mrs_err *e)
{
    struct mrs_arena *a = &en->report->arena;
    struct mrs_val v = mrs_make_text(a, text, (uint32_t)strlen(text));
    return v.type == MRS_MISSING ? mrs_err_memory(e, strlen(text)) : mrs_path_compile(a, v, false, out, e);
}

/* The side to which references of side `ref` refer. */
static uint32_t
target_side(const struct mrs_desc *d, uint32_t ref)
{
    return d->family == MRS_FAMILY_REKEY ? 0 : 1 - ref;
}

/* Do references of side `ref` refer to that one by this pair? *path to *target. */
static bool
reference(const struct mrs_desc *d, uint32_t pair, uint32_t ref, const char **path, const char **target)
{
    *target = "_id";
    if (d->family == MRS_FAMILY_REKEY) {
        *path = d->touches[pair].path;
        return true;
    }
    if (d->family == MRS_FAMILY_LINK) {
        for (uint32_t i = 0; i < d->n_touches; i++) {
            const struct mrs_touch *t = &d->touches[i];
            *path = t->path;
            if (t->side == (int)ref && t->kind == 'R' && strcmp(t->path, "_id") != 0) {
                return true;
            }
        }
        return false;
    }
    *path = ref ? d->pairs[pair].into : d->pairs[pair].from;
    *target = ref ? d->pairs[pair].from : d->pairs[pair].into;
    return *path && *target;
}

static enum mrs_status
compare_types(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f, uint32_t pair, uint32_t ref,
              uint64_t among, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct mrsi_why *why = &en->rows[en->row_of[step][0]].why;
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    bool rekey = d->family == MRS_FAMILY_REKEY;
    struct match_reasons_question q = {.among = among, .in_place = ref == 1 || rekey, .rekey = rekey};
    const char *path, *target;
    bool all_targets, all;
    if (!reference(d, pair, ref, &path, &target)) {
        return MRS_OK;
    }
    enum mrs_status s = compile(en, path, &q.path, e);
    MRS_THEN(s, compile(en, target, &q.target, e));
    MRS_THEN(s, each_of_side(en, step, target_side(d, ref), NULL, target_document, &q, &all_targets, e));
    uint8_t expected = most(q.has);
    if (s != MRS_OK || !q.has[expected]) {
        return s;
    }
    s = each_of_side(en, step, ref, f, reference_document, &q, &all, e);
    uint8_t has = most(q.lacks);
    if (s == MRS_OK && q.lacks[has] > why->n) {
        *why = (struct mrsi_why){.n = q.lacks[has], .of = q.docs, .has = has, .expected = expected, .pair = pair,
                                 .ref = ref, .some = !all || !all_targets};
    }
    return s;
}

/* ---- wrong direction ---- */
static enum mrs_status
hash_value(struct value_search *t, struct mrs_val v, uint64_t *out)
{
    mrs_keys_reset(&t->keys);
    enum mrs_status s = class_of(v) ? mrs_keys_add(&t->keys, 0, 0, v, t->err) : MRS_SKIP;
    if (s == MRS_OK) {
        *out = mrs_hash_secret(&t->en->secret, AS_IT_IS, t->keys.bytes.p, t->keys.bytes.n).lo;
    }
    return s;
}

static void
take_hash(struct value_search *t, uint64_t hash)
{
    if (t->set.n < VALUES * sizeof hash) {
        mrs_buf_put(&t->set, &hash, sizeof hash);
    }
}

static enum mrs_status
take_value(void *arg, struct mrs_val v)
{
    struct value_search *t = arg;
    uint64_t hash;
    enum mrs_status s = hash_value(t, v, &hash);
    if (s == MRS_OK) {
        take_hash(t, hash);
        s = mrs_buf_status(&t->set, t->err);
    }
    return s == MRS_SKIP ? MRS_OK : s;
}

static enum mrs_status
take_document(void *arg, struct mrs_view doc, bool matched)
{
    struct value_search *t = arg;
    (void)matched;
    return mrs_path_each(&t->path, doc, false, take_value, t);
}

static int
by_hash(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool
has_hash(const struct value_search *t, uint64_t hash)
{
    return t->set.n && bsearch(&hash, t->set.p, t->set.n / sizeof hash, sizeof hash, by_hash);
}

static enum mrs_status
find_value(void *arg, struct mrs_val v)
{
    struct value_search *t = arg;
    uint64_t hash;
    enum mrs_status s = hash_value(t, v, &hash);
    t->is_found = t->is_found || (s == MRS_OK && has_hash(t, hash));
    return s == MRS_SKIP ? MRS_OK : s;
}

static enum mrs_status
find_document(void *arg, struct mrs_view doc, bool matched)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct value_search *t = arg;
    (void)matched;
    t->is_found = false;
    enum mrs_status s = mrs_path_each(&t->path, doc, false, find_value, t);
    t->docs++;
    t->found += t->is_found;
    return s;
}

/* For one pair, if nothing matches. */
static enum mrs_status
check_turned(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_pair_path *p = en->plan->steps[step].desc.pairs;
    struct value_search t = {.en = en, .err = e};
    bool all;
    if (!p->from || !p->into || strcmp(p->from, p->into) == 0) {
        return MRS_OK;
    }
    mrs_keys_init(&t.keys, en->mem);
    mrs_buf_init(&t.set, en->mem, SIZE_MAX);
    enum mrs_status s = compile(en, p->from, &t.path, e);
    MRS_THEN(s, each_of_side(en, step, 1, NULL, take_document, &t, &all, e));
    if (s == MRS_OK && t.set.n) {
        qsort(t.set.p, t.set.n / sizeof(uint64_t), sizeof(uint64_t), by_hash);
        s = compile(en, p->into, &t.path, e);
        MRS_THEN(s, each_of_side(en, step, 0, f, find_document, &t, &all, e));
    }
    if (s == MRS_OK && t.found && t.found >= t.docs / 2) {
        en->rows[en->row_of[step][0]].why = (struct mrsi_why){.n = t.found, .of = t.docs, .turned = true, .some = !all};
    }
    mrs_buf_clear(&t.set);
    mrs_keys_clear(&t.keys);
    return s;
}

/* ---- texts that are nearly equal ---- */
/* The hashes of a text and of the same folded; false: no text, or a long one. */
static bool
hash_text(const struct value_search *t, struct mrs_val v, uint64_t *equal, uint64_t *folded)
{
    char room[MRSI_FOLDED];
    uint32_t whole, n = mrsi_fold_text(v, room);
    if (!n) {
        return false;
    }
    const char *text = mrs_val_text(v, &whole);
    *equal = mrs_hash_secret(&t->en->secret, AS_IT_IS, text, whole).lo;
    *folded = mrs_hash_secret(&t->en->secret, FOLDED, room, n).lo;
    return true;
}

static enum mrs_status
take_text(void *arg, struct mrs_val v)
{
    struct value_search *t = arg;
    uint64_t equal, folded;
    if (hash_text(t, v, &equal, &folded)) {
        take_hash(t, equal);
        take_hash(t, folded);
    }
    return mrs_buf_status(&t->set, t->err);
}

static enum mrs_status
take_texts(void *arg, struct mrs_view doc, bool matched)
{
    struct value_search *t = arg;
    (void)matched;
    return mrs_path_each(&t->path, doc, false, take_text, t);
}

static enum mrs_status
find_text(void *arg, struct mrs_val v)
{
    struct value_search *t = arg;
    uint64_t equal, folded;
    t->any = t->any || class_of(v);
    if (hash_text(t, v, &equal, &folded)) {
        t->is_found = t->is_found || (!has_hash(t, equal) && has_hash(t, folded));
    }
    return MRS_OK;
}

static enum mrs_status
find_texts(void *arg, struct mrs_view doc, bool matched)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct value_search *t = arg;
    t->any = t->is_found = false;
    enum mrs_status s = mrs_path_each(&t->path, doc, false, find_text, t);
    t->docs += t->any;
    t->found += t->is_found && !matched;
    return s;
}

static enum mrs_status
compare_texts(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f, uint32_t pair, uint32_t ref,
              struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct mrsi_why *why = &en->rows[en->row_of[step][0]].why;
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    struct value_search t = {.en = en, .err = e};
    const char *path, *target;
    bool all_targets, all;
    if (!reference(d, pair, ref, &path, &target)) {
        return MRS_OK;
    }
    mrs_buf_init(&t.set, en->mem, SIZE_MAX);
    enum mrs_status s = compile(en, target, &t.path, e);
    MRS_THEN(s, each_of_side(en, step, target_side(d, ref), NULL, take_texts, &t, &all_targets, e));
    if (s == MRS_OK && t.set.n) {
        qsort(t.set.p, t.set.n / sizeof(uint64_t), sizeof(uint64_t), by_hash);
        s = compile(en, path, &t.path, e);
        MRS_THEN(s, each_of_side(en, step, ref, f, find_texts, &t, &all, e));
    }
    if (s == MRS_OK && t.found > why->n) {
        *why = (struct mrsi_why){.n = t.found, .of = t.docs, .pair = pair, .ref = ref, .nearly = true,
                                 .some = !all || !all_targets};
    }
    mrs_buf_clear(&t.set);
    return s;
}

static bool
touches(const struct mrs_desc *d, const struct mrs_touch *as, char kind)
{
    for (uint32_t i = 0; i < d->n_touches; i++) {
        const struct mrs_touch *t = &d->touches[i];
        if (t->kind == kind && t->side == as->side && strcmp(t->path, as->path) == 0) {
            return true;
        }
    }
    return false;
}

/* For a REKEY: each path with references (which it reads and changes) on sides with dangling references, and only the
 * types of these, since others may be new `_id`s. If more documents have a value of such a type than there are dangling
 * references, some of these were resolved. */
static enum mrs_status
check_references(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    enum mrs_status s = MRS_OK;
    struct mrsi_why *why = &en->rows[en->row_of[step][0]].why;
    for (uint32_t i = 0; s == MRS_OK && i < d->n_touches; i++) {
        const struct mrs_touch *t = &d->touches[i];
        uint64_t dangling = en->rows[en->row_of[step][t->side]].dangling;
        bool own_id = t->side == 0 && strcmp(t->path, "_id") == 0;
        if (dangling && t->kind == 'D' && *t->path && !own_id && touches(d, t, 'R') && !touches(d, t, 'A')) {
            struct mrsi_why before = *why;
            uint64_t types = en->rows[en->row_of[step][t->side]].searched_types;
            s = compare_types(en, step, NULL, i, (uint32_t)t->side, types, e);
            *why = why->n > dangling ? before : *why;
        }
    }
    return s;
}

enum mrs_status
mrsi_match_reasons(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    if (d->family == MRS_FAMILY_REKEY) {
        return en->opts->sample ? MRS_OK : check_references(en, step, e);
    }
    const struct mrsi_row *from = &en->rows[en->row_of[step][0]], *into = &en->rows[en->row_of[step][1]];
    bool join = d->family == MRS_FAMILY_JOIN, none = join && !from->matched;
    bool some = from->noticed[0][MRS_NOTICE_ORPHAN] || from->noticed[1][MRS_NOTICE_ORPHAN] ||
                from->noticed[0][MRS_NOTICE_DANGLING] || into->noticed[1][MRS_NOTICE_ORPHAN] ||
                into->noticed[1][MRS_NOTICE_DANGLING];
    enum mrs_status s = MRS_OK;
    if (en->opts->sample || !(none || some) || (join && !d->pairs)) {
        return MRS_OK;
    }
    for (uint32_t p = 0; s == MRS_OK && join && p < d->n_pairs; p++) {
        uint32_t ref = d->by_reference && p == 0;
        s = compare_types(en, step, f, p, ref, 0, e);
        MRS_THEN(s, compare_texts(en, step, f, p, ref, e));
    }
    for (uint32_t ref = 0; s == MRS_OK && !join && ref < 2; ref++) {
        s = compare_types(en, step, NULL, 0, ref, 0, e);
        MRS_THEN(s, compare_texts(en, step, NULL, 0, ref, e));
    }
    return s == MRS_OK && none && d->n_pairs == 1 ? check_turned(en, step, f, e) : s;
}

/* ---- the report ---- */
bool
mrsi_why_line(const struct mrsi_engine *en, uint32_t step, char *line, size_t size)
{
    MRS_ASSERT(step < en->plan->n_steps && size > 0);
    const struct mrs_step *st = &en->plan->steps[step];
    const struct mrs_side *side = st->desc.sides;
    const struct mrsi_why *y = &en->rows[en->row_of[step][0]].why;
    const char *path, *target;
    if (!y->n) {
        return false;
    }
    int at = snprintf(line, size, "step %u, %s: %s%llu of %llu documents of %.255s ", st->no, st->type->name,
                      y->some ? "among the first, " : "", (unsigned long long)y->n, (unsigned long long)y->of,
                      side[y->ref].coll.ns);
    if (y->turned) {
        snprintf(line + at, size - (size_t)at, "would match by { %.150s: %.150s }: `match` is the wrong way round",
                 st->desc.pairs[0].into, st->desc.pairs[0].from);
        return true;
    }
    reference(&st->desc, y->pair, y->ref, &path, &target);
    if (y->nearly) {
        snprintf(line + at, size - (size_t)at,
                 "hold a text in `%.150s` that `%.150s` of %.255s holds in another case, or with blanks: %s", path,
                 target, side[target_side(&st->desc, y->ref)].coll.ns,
                 st->desc.family == MRS_FAMILY_JOIN ? "`match` by $toLower and $trim of both"
                                                    : "`set` one of them first");
        return true;
    }
    at += snprintf(line + at, size - (size_t)at, "hold %s %s in `%.150s` where `%.150s` of %.255s holds %s %s: ",
                   article(y->has), class_name(y->has), path, target, side[target_side(&st->desc, y->ref)].coll.ns,
                   article(y->expected), class_name(y->expected));
    if (y->has == MRS_DOCUMENT) {
        snprintf(line + at, size - (size_t)at, "write the path of the reference in it (of a DBRef `%.150s.$id`)", path);
    } else {
        snprintf(line + at, size - (size_t)at, "%s",
                 y->expected == MRS_DOCUMENT ? "write the path of the value in it" : "`cast` first");
    }
    return true;
}
