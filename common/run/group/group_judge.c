/* SPDX-License-Identifier: Apache-2.0 */
/* group_judge.c - the first pass over all members: rejects sources.
 *
 * A key disagrees if its members differ: byte for byte, without the `_id` if it was derived from the key (then the
 * document takes the `_id` of the existing one; if there is none, derived and own `_id`s disagree). Two keys that would
 * give documents with the same `_id` and other contents disagree too, and so does a key that occurs twice in `into`.
 * Under `first` and `last` a key never disagrees; but equal `_id`s of different keys do, since neither document could
 * stand for the other. */
#include "group.h"

/* The source of a member. */
struct group_judge_place {
    uint64_t ordinal;
    uint32_t there; /* 1: into, 0: from */
    uint32_t like;  /* 1: it equals the first member */
    uint32_t part, pad;
};

static struct group_judge_place
place_of(const uint8_t *key) /* the part of the key that identifies the source */
{
    return (struct group_judge_place){mrsi_get_be(key + 1, 8), key[0] == 0, 0, (uint32_t)mrsi_get_be(key + 9, 4), 0};
}

/* State of the current key. */
struct group_judge_key_now {
    uint8_t hash[16];
    struct mrsi_member_head first;
    bool any, there, disagrees;
    struct group_judge_place at[2]; /* the first member, and the first one that disagrees with it */
    struct mrsi_file_array sources; /* struct group_judge_place */
};

static bool
agrees(const struct group_judge_key_now *k, const struct mrsi_member_head *m)
{
    MRS_ASSERT(k->any);
    const struct mrsi_member_head *f = &k->first;
    if (!k->there && f->made != m->made) {
        return false;
    }
    const struct mrs_hash128 *a = f->made || m->made ? &f->bare : &f->body,
                             *b = f->made || m->made ? &m->bare : &m->body;
    return a->lo == b->lo && a->hi == b->hi;
}

static enum mrs_status
bar(struct mrsi_group_run *g, struct group_judge_key_now *k, bool by_key, struct mrs_err *e)
{
    MRS_ASSERT(k->any && k->disagrees);
    enum mrs_status s = mrsi_file_array_end(&k->sources, e);
    for (size_t i = 0; s == MRS_OK && i < k->sources.n; i++) {
        struct group_judge_place p;
        uint8_t key[12];
        memcpy(&p, k->sources.p + i * sizeof p, sizeof p);
        const struct group_judge_place *other = &k->at[p.like];
        struct mrsi_rejected b = {p.ordinal, other->ordinal, p.part, other->there, g->en->side[g->step][1], by_key};
        mrsi_put_be(key, p.ordinal, 8);
        mrsi_put_be(key + 8, p.part, 4); /* keys are in hash order, which differs between runs */
        mrsi_fates_add(&g->from, p.ordinal, MRSI_REJECTED);
        s = mrsi_sorter_put(&g->bars, key, sizeof key, &b, sizeof b, e);
    }
    return s;
}

/* Records members one by one; like: it equals the first one. */
static enum mrs_status
note_place(struct group_judge_key_now *k, const uint8_t *key, bool like, struct mrs_err *e)
{
    MRS_ASSERT(k->any);
    struct group_judge_place p = place_of(key);
    p.like = like;
    if (!like && !k->disagrees) {
        k->at[1] = p;
        k->disagrees = true;
    }
    return p.there ? MRS_OK : mrsi_file_array_put(&k->sources, &p, e);
}

static enum mrs_status
end_key(struct mrsi_group_run *g, struct group_judge_key_now *k, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (k->any && k->disagrees && g->st->desc.conflicts == MRS_CONFLICTS_REFUSE) {
        s = bar(g, k, true, e);
    }
    k->any = k->there = k->disagrees = false;
    mrsi_file_array_reset(&k->sources);
    return s;
}

/* Adds the `_id` of a member: by hash of the `_id`, then as in `members`. */
static enum mrs_status
note_id(struct mrsi_group_run *g, const struct mrsi_sorted *r, const struct mrsi_member_head *m,
        struct mrs_buf *scratch, struct mrs_err *e)
{
    struct mrs_view doc = {r->p + sizeof *m, m->doc_len};
    struct mrs_hash128 h;
    uint8_t key[16 + MRSI_MEMBER_KEY];
    enum mrs_status s = mrsi_ids_hash(&g->sides.ids, 0, doc, scratch, &h, e);
    if (s != MRS_OK) {
        return s == MRS_END ? MRS_OK : s;
    }
    memcpy(key, &h, 16);
    memcpy(key + 16, r->key, MRSI_MEMBER_KEY);
    return mrsi_sorter_put(&g->ids, key, sizeof key, m, sizeof *m, e);
}

static enum mrs_status
judge_member(struct mrsi_group_run *g, struct group_judge_key_now *k, const struct mrsi_sorted *r,
             struct mrs_buf *scratch, struct mrs_err *e)
{
    struct mrsi_member_head m;
    bool twice = k->any && !r->key[16];
    memcpy(&m, r->p, sizeof m);
    if (!k->any) {
        k->any = true;
        k->first = m;
        k->there = r->key[16] == 0;
        k->at[0] = place_of(r->key + 16);
        memcpy(k->hash, r->key, 16);
    }
    enum mrs_status s = note_place(k, r->key + 16, !(twice && !m.lone) && agrees(k, &m), e);
    /* an existing document keeps its `_id`: those of members are not written, and one that differs refuses them
     * anyway */
    bool written = !r->key[16] || !k->there || (!m.made && g->st->desc.conflicts == MRS_CONFLICTS_REFUSE);
    return s == MRS_OK && written ? note_id(g, r, &m, scratch, e) : s;
}

enum mrs_status
mrsi_group_judge_keys(struct mrsi_group_run *g, struct mrs_err *e)
{
    MRS_ASSERT(g->stage == MRSI_GROUP_JUDGE_KEYS);
    struct group_judge_key_now k;
    struct mrs_buf scratch;
    struct mrsi_sorted r;
    bool saved = false;
    memset(&k, 0, sizeof k);
    mrsi_file_array_init(&k.sources, g->en, sizeof(struct group_judge_place), g->en->memory / 32);
    mrs_buf_init(&scratch, g->en->mem, MRS_KEY_MAX);
    enum mrs_status s = mrsi_group_begin_sort(g, &g->members, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&g->members, &r, e)) == MRS_OK) {
        if (g->resumed && !mrsi_group_is_member(g, &r)) {
            s = mrsi_state_damaged("a member", e);
            break;
        }
        if (k.any && memcmp(k.hash, r.key, 16) != 0) {
            s = end_key(g, &k, e);
            MRS_THEN(s, mrsi_group_between_keys(g, &g->members, &saved, e));
            if (s != MRS_OK || saved) {
                continue;
            }
        }
        g->bytes_read += r.key_len + r.n;
        s = judge_member(g, &k, &r, &scratch, e);
    }
    s = s == MRS_END ? end_key(g, &k, e) : s;
    mrsi_file_array_clear(&k.sources);
    mrs_buf_clear(&scratch);
    return s;
}

/* ---- one `_id` of different keys: allowed only if all its documents are equal ---- */
struct id_now {
    struct group_judge_key_now k;
    uint8_t key[16]; /* of its first member */
};

static enum mrs_status
end_id(struct mrsi_group_run *g, struct group_judge_key_now *k, struct mrs_err *e)
{
    enum mrs_status s = k->any && k->disagrees ? bar(g, k, false, e) : MRS_OK;
    mrsi_file_array_reset(&k->sources);
    k->any = k->disagrees = false;
    return s;
}

static enum mrs_status
judge_id(struct id_now *x, const struct mrsi_sorted *r, struct mrs_err *e)
{
    struct group_judge_key_now *k = &x->k;
    struct mrsi_member_head m;
    memcpy(&m, r->p, sizeof m);
    if (!k->any) {
        k->any = true;
        k->first = m;
        k->at[0] = place_of(r->key + 32);
        memcpy(k->hash, r->key, 16);
        memcpy(x->key, r->key + 16, 16);
    }
    bool other_key = memcmp(x->key, r->key + 16, 16) != 0;
    bool same = k->first.body.lo == m.body.lo && k->first.body.hi == m.body.hi;
    return note_place(k, r->key + 32, same || !other_key, e);
}

void
mrsi_group_forget_ids(struct mrsi_group_run *g)
{
    mrsi_sorter_clear(&g->ids);
    mrsi_sorter_init(&g->ids, g->en, g->en->memory / 6);
    g->ids.kept = true;
}

enum mrs_status
mrsi_group_judge_ids(struct mrsi_group_run *g, struct mrs_err *e)
{
    MRS_ASSERT(g->stage == MRSI_GROUP_JUDGE_IDS);
    struct id_now x;
    struct mrsi_sorted r;
    bool saved = false;
    memset(&x, 0, sizeof x);
    mrsi_file_array_init(&x.k.sources, g->en, sizeof(struct group_judge_place), g->en->memory / 32);
    enum mrs_status s = mrsi_group_begin_sort(g, &g->ids, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&g->ids, &r, e)) == MRS_OK) {
        if (g->resumed && !mrsi_group_is_id(g, &r)) {
            s = mrsi_state_damaged("a member", e);
            break;
        }
        if (x.k.any && memcmp(x.k.hash, r.key, 16) != 0) {
            s = end_id(g, &x.k, e);
            MRS_THEN(s, mrsi_group_between_keys(g, &g->ids, &saved, e));
            if (s != MRS_OK || saved) {
                continue;
            }
        }
        g->bytes_read += r.key_len + r.n;
        s = judge_id(&x, &r, e);
    }
    s = s == MRS_END ? end_id(g, &x.k, e) : s;
    mrsi_file_array_clear(&x.k.sources);
    mrsi_group_forget_ids(g);
    return s;
}
