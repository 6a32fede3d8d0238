/* SPDX-License-Identifier: Apache-2.0 */
/* unique_check.c - do the documents of a collection satisfy its unique indexes in the result? Otherwise mongorestore
 * would fail.
 *
 * The hashes of their keys are sorted, within a share of memory, and equal ones of different documents are counted. */
#include "notices.h"
#include "mongoreshape/unique.h"
#include "run/store/sorter.h"
#include "mongoreshape/catalogue.h"

enum { ID_MAX = 80 };

struct unique_check_entry {
    uint64_t doc; /* number in the collection, from 1 */
    uint32_t index;
    char id[ID_MAX];
};
struct unique_check_seen { /* for an index */
    uint64_t clashes, arrays;
    struct unique_check_entry first, second; /* the first duplicate */
    char id[ID_MAX];            /* of the first document with arrays in two fields */
};
struct mrsi_unique_check {
    struct mrsi_engine *en;
    uint32_t coll;
    uint64_t limit;
    struct mrs_buf metadata;
    struct mrs_unique *keys;
    struct mrsi_sorter sorter;
    struct unique_check_seen *seen;
    struct unique_check_entry now; /* for the current document */
    struct mrs_buf room;
};

void
mrsi_unique_check_free(struct mrsi_unique_check *c)
{
    if (c) {
        mrsi_sorter_clear(&c->sorter);
        mrs_unique_free(c->keys);
        mrs_buf_clear(&c->metadata);
        mrs_buf_clear(&c->room);
        mrs_free(c->en->mem, c->seen);
        mrs_free(c->en->mem, c);
    }
}

enum mrs_status
mrsi_unique_check_new(struct mrsi_engine *en, uint32_t coll, uint64_t limit, struct mrsi_unique_check **out,
                      struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    struct mrsi_unique_check *c = mrs_zalloc(en->mem, sizeof *c);
    *out = NULL;
    MRS_TRY(mrs_allocated(c, sizeof *c, e));
    c->en = en;
    c->coll = coll;
    c->limit = limit;
    mrs_buf_init(&c->metadata, en->mem, MRS_METADATA_MAX);
    mrs_buf_init(&c->room, en->mem, SIZE_MAX);
    mrs_catalog_metadata(en->coll[coll].cat, &c->metadata);
    enum mrs_status s = mrs_buf_status(&c->metadata, e);
    struct mrs_unique_spec spec = {.metadata = {c->metadata.p, (uint32_t)c->metadata.n},
                                   .now_ms = en->plan->now_ms,
                                   .secret = &en->secret};
    MRS_THEN(s, mrs_unique_new(en->mem, &spec, &c->keys, e));
    uint32_t n = s == MRS_OK ? mrs_unique_count(c->keys) : 0;
    if (n) {
        mrsi_sorter_init(&c->sorter, en, limit);
        c->sorter.aside = true;
        c->seen = mrs_zalloc(en->mem, n * sizeof *c->seen);
        s = mrs_allocated(c->seen, n * sizeof *c->seen, e);
    }
    if (s != MRS_OK || !n) {
        mrsi_unique_check_free(c);
        return s;
    }
    *out = c;
    return MRS_OK;
}

static enum mrs_status
put_key(void *arg, uint32_t index, struct mrs_hash128 key, struct mrs_err *e)
{
    struct mrsi_unique_check *c = arg;
    c->now.index = index;
    uint32_t n = (uint32_t)(offsetof(struct unique_check_entry, id) + strlen(c->now.id) + 1);
    return mrsi_sorter_put(&c->sorter, &key, sizeof key, &c->now, n, e);
}

enum mrs_status
mrsi_unique_check_document(struct mrsi_unique_check *c, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_unique_put put = {put_key, c};
    uint32_t bad;
    if (!c) {
        return MRS_OK;
    }
    c->now.doc++;
    size_t n = mrsi_id_write(mrs_doc_get(doc, "_id"), sizeof c->now.id - 1, &c->room);
    MRS_TRY(mrs_buf_status(&c->room, e));
    memcpy(c->now.id, c->room.p, n);
    c->now.id[n] = 0;
    enum mrs_status s = mrs_unique_keys(c->keys, doc, &put, &bad, e);
    if (s == MRS_SKIP) {
        struct unique_check_seen *x = &c->seen[bad];
        if (!x->arrays++) {
            memcpy(x->id, c->now.id, sizeof x->id);
        }
    }
    return s == MRS_SKIP ? MRS_OK : s;
}

void
mrsi_unique_check_restart(struct mrsi_unique_check *c)
{
    if (c) {
        c->now.doc = 0;
        memset(c->seen, 0, mrs_unique_count(c->keys) * sizeof *c->seen);
        mrsi_sorter_clear(&c->sorter);
        mrsi_sorter_init(&c->sorter, c->en, c->limit);
        c->sorter.aside = true;
    }
}

/* ---- equal keys ---- */
static enum mrs_status
find_equal(struct mrsi_unique_check *c, struct mrs_err *e)
{
    struct unique_check_entry last = {.doc = 0}, one;
    uint8_t key[sizeof(struct mrs_hash128)];
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_sorter_rewind(&c->sorter, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&c->sorter, &r, e)) == MRS_OK) {
        memcpy(&one, r.p, r.n);
        bool equal = last.doc && memcmp(key, r.key, sizeof key) == 0;
        if (equal && last.doc != one.doc) {
            struct unique_check_seen *x = &c->seen[one.index];
            if (!x->clashes++ || one.doc < x->second.doc) {
                x->first = last;
                x->second = one;
            }
        }
        memcpy(key, r.key, sizeof key);
        last = one;
    }
    return s == MRS_END ? MRS_OK : s;
}

static const char *
copy(struct mrs_report *r, const char *text)
{
    return mrs_arena_copy(&r->arena, text, strlen(text) + 1);
}

/* second NULL: one document. */
static enum mrs_status
report(struct mrsi_unique_check *c, struct mrs_notice n, const char *first, const char *second, struct mrs_err *e)
{
    struct mrs_report *r = c->en->report;
    n.ns = copy(r, c->en->coll[c->coll].last.ns);
    n.index = copy(r, n.index);
    n.why = n.why ? copy(r, n.why) : NULL;
    n.ids.at = mrs_arena_alloc(&r->arena, 2 * sizeof *n.ids.at);
    if (!n.ns || !n.index || !n.ids.at) {
        return mrs_err_memory(e, 1);
    }
    const char *id[2] = {first, second};
    for (int i = 0; i < 2 && id[i]; i++) {
        n.ids.at[i] = copy(r, id[i]);
        MRS_TRY(mrs_allocated(n.ids.at[i], 1, e));
        n.ids.n++;
    }
    r->notice[r->n_notice++] = n;
    return MRS_OK;
}

uint32_t
mrsi_unique_check_most(const struct mrsi_unique_check *c)
{
    return c ? 3 * mrs_unique_count(c->keys) : 0;
}

enum mrs_status
mrsi_unique_check_report(struct mrsi_unique_check *c, struct mrs_err *e)
{
    enum mrs_status s = c ? find_equal(c, e) : MRS_OK;
    for (uint32_t i = 0; c && s == MRS_OK && i < mrs_unique_count(c->keys); i++) {
        const struct mrs_unique_index *index = mrs_unique_at(c->keys, i);
        const struct unique_check_seen *x = &c->seen[i];
        struct mrs_notice n = {.kind = MRS_NOTICE_UNSURE, .index = index->name};
        n.why = index->left ? index->left : index->collated ? "its collation was not checked" : NULL;
        s = n.why ? report(c, n, NULL, NULL, e) : MRS_OK;
        n.why = NULL;
        if (s == MRS_OK && x->clashes && !index->left) {
            n.kind = MRS_NOTICE_CLASH;
            n.count = x->clashes;
            s = report(c, n, x->first.id, x->second.id, e);
        }
        if (s == MRS_OK && x->arrays && !index->left) {
            n.kind = MRS_NOTICE_ARRAYS;
            n.count = x->arrays;
            s = report(c, n, x->id, NULL, e);
        }
    }
    return s;
}
