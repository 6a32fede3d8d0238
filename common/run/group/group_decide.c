/* SPDX-License-Identifier: Apache-2.0 */
/* group_decide.c - the second pass over all members, without rejected sources: decides for each key.
 *
 * A key that exists in `into` adds the references of its sources there (under `last` the contents of the last source
 * replace differing ones; the `_id` stays); any other becomes a new document at the position of its first member. Every
 * source gets the `_id` of each of its parts. Decisions go into three sorts: made (new documents in input order), gains
 * (by the ordinal of the existing document), refs (by source and part). */
#include "group.h"

/* State of the current key. */
struct group_decide_key_now {
    uint8_t hash[16];
    bool any, there, disagrees, lone_made;
    uint64_t there_ordinal;
    uint8_t place[12];               /* of the chosen member: ordinal and part */
    struct mrsi_member_head first, counts;
    struct mrs_buf doc;                /* of the chosen member */
    struct mrs_buf there_doc;          /* the existing document, whose `_id` is used */
    struct mrs_buf refs;               /* elements "" : value, in input order */
    struct mrsi_file_array needing_id; /* 12 bytes each: positions that need the `_id` */
    uint64_t merged;
};

static void
key_init(struct group_decide_key_now *k, struct mrsi_engine *en)
{
    struct mrs_mem *mem = en->mem;
    memset(k, 0, sizeof *k);
    mrs_buf_init(&k->doc, mem, SIZE_MAX);
    mrs_buf_init(&k->there_doc, mem, SIZE_MAX);
    mrs_buf_init(&k->refs, mem, SIZE_MAX);
    mrsi_file_array_init(&k->needing_id, en, 12, en->memory / 32);
}

static void
key_clear(struct group_decide_key_now *k)
{
    mrs_buf_clear(&k->doc);
    mrs_buf_clear(&k->there_doc);
    mrs_buf_clear(&k->refs);
    mrsi_file_array_clear(&k->needing_id);
}

static void
key_reset(struct group_decide_key_now *k)
{
    mrs_buf_reset(&k->doc);
    mrs_buf_reset(&k->there_doc);
    mrs_buf_reset(&k->refs);
    mrsi_file_array_reset(&k->needing_id);
    k->any = k->there = k->disagrees = k->lone_made = false;
    k->merged = 0;
}

static bool
same(const struct mrsi_member_head *a, const struct mrsi_member_head *b)
{
    const struct mrs_hash128 *x = a->made || b->made ? &a->bare : &a->body,
                             *y = a->made || b->made ? &b->bare : &b->body;
    return x->lo == y->lo && x->hi == y->hi;
}

static void
set_bytes(struct mrs_buf *b, const uint8_t *p, size_t n)
{
    mrs_buf_reset(b);
    mrs_buf_put(b, p, n);
}

/* Appends the elements of a reference document {"": v, ...} without its length. Above the maximum size of a document
 * further ones are ignored. */
static void
put_refs(struct mrs_buf *out, const uint8_t *p, uint32_t n)
{
    if (n > MRS_DOC_MIN && out->n <= MRS_DOC_MAX) {
        mrs_buf_put(out, p + 4, n - 5);
    }
}

static enum mrs_status
add_member(struct mrsi_group_run *g, struct group_decide_key_now *k, const struct mrsi_sorted *r,
           const struct mrsi_member_head *m, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    const uint8_t *doc = r->p + sizeof *m, *place = r->key + 17;
    bool there = r->key[16] == 0, first = !k->any;
    if (first) {
        k->any = true;
        k->first = *m;
        memcpy(k->hash, r->key, 16);
    }
    if (there && first) {
        k->there = true;
        k->there_ordinal = mrsi_get_be(place, 8);
        set_bytes(&k->there_doc, doc, m->doc_len);
    }
    bool differs = !first && !same(&k->first, m);
    k->disagrees = k->disagrees || differs;
    if (first || (!there && k->disagrees && g->st->desc.conflicts == MRS_CONFLICTS_LAST)) {
        memcpy(k->place, place, sizeof k->place);
        k->counts = *m;
        set_bytes(&k->doc, doc, m->doc_len);
    }
    if (!there) {
        k->lone_made = k->lone_made || (m->lone && m->made);
        k->merged += !first;
        s = mrsi_file_array_put(&k->needing_id, place, e);
        put_refs(&k->refs, doc + m->doc_len, m->ref_len);
    } else if (first) {
        put_refs(&k->refs, doc + m->doc_len, m->ref_len);
    }
    return k->doc.bad || k->refs.bad || k->there_doc.bad ? mrs_err_memory(e, k->refs.n) : s;
}

/* Builds {"0": v, "1": v, ...} from the elements in `elems`. */
static enum mrs_status
refs_document(const struct mrs_buf *elems, struct mrs_buf *out, struct mrs_view *view, struct mrs_err *e)
{
    struct mrs_build b;
    struct mrs_walk w = {elems->p, elems->n ? elems->p + elems->n : elems->p};
    struct mrs_elem el;
    uint32_t i = 0;
    char name[12];
    mrs_buf_reset(out);
    mrs_build_init(&b, out);
    while (elems->n && mrs_walk_next(&w, &el) > 0) {
        uint32_t n = mrs_index_name(name, i++);
        mrs_build_val(&b, name, n, el.v);
    }
    return mrs_build_finish(&b, view, e);
}

static struct mrs_val
id_of(const struct mrs_buf *doc)
{
    struct mrs_view v = {doc->p, (uint32_t)doc->n};
    return mrs_doc_get(v, "_id");
}

/* Keeps the existing `_id` in the document that replaces it. */
static enum mrs_status
take_id(struct group_decide_key_now *k, struct mrs_buf *scratch, struct mrs_err *e)
{
    MRS_ASSERT(k->there && k->disagrees);
    struct mrs_view old = {k->doc.p, (uint32_t)k->doc.n}, made;
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_buf_reset(scratch);
    mrs_build_init(&b, scratch);
    if (id_of(&k->there_doc).type != MRS_MISSING) {
        mrs_build_val(&b, "_id", 3, id_of(&k->there_doc));
    }
    mrs_walk_init(&w, old);
    while (mrs_walk_next(&w, &el) > 0) {
        if (!mrs_name_is(&el, "_id", 3)) {
            mrs_build_elem(&b, &el);
        }
    }
    enum mrs_status s = mrs_build_finish(&b, &made, e);
    set_bytes(&k->doc, scratch->p, scratch->n);
    return s == MRS_OK ? mrs_buf_status(&k->doc, e) : s;
}

static void
bar_late(struct mrsi_group_run *g, const struct group_decide_key_now *k, const struct mrs_err *why)
{
    for (size_t i = 0; i < k->needing_id.n; i++) {
        mrsi_fates_add(&g->from, mrsi_get_be(k->needing_id.p + i * 12, 8), MRSI_LATE);
    }
    snprintf(g->late_why, sizeof g->late_why, "%s", why->msg);
    snprintf(g->late_where, sizeof g->late_where, "%s", why->where);
    g->again = true;
}

/* Documents without a key whose `_id` is generated: equal ones would be duplicates, and neither can be written. */
static bool
bar_equal(struct mrsi_group_run *g, const struct group_decide_key_now *k)
{
    if (k->needing_id.n < 2 || !k->lone_made || g->st->desc.conflicts != MRS_CONFLICTS_REFUSE) {
        return false;
    }
    for (size_t i = 0; i < k->needing_id.n; i++) {
        mrsi_fates_add(&g->from, mrsi_get_be(k->needing_id.p + i * 12, 8), MRSI_REJECTED);
    }
    g->again = true;
    return true;
}

struct room {
    struct mrs_buf refs, out, scratch;
};

/* Builds the document of the key now, so that one that cannot be written rejects its sources. */
static enum mrs_status
try_finish(struct mrsi_group_run *g, struct group_decide_key_now *k, struct room *room, struct mrs_view refs,
           struct mrs_err *e)
{
    struct mrsi_worker *w = &g->en->worker[0];
    struct mrs_view first = {k->doc.p, (uint32_t)k->doc.n};
    mrs_buf_reset(&room->out);
    mrs_arena_reset(&w->arena);
    mrs_err_clear(&w->err);
    enum mrs_status s = g->ops->finish(g->st->state, &w->ctx, first, false, refs, &room->out);
    if (s == MRS_SKIP) {
        bar_late(g, k, &w->err);
        return s;
    }
    return s == MRS_OK ? mrs_buf_status(&room->out, e) : mrsi_kernel_failed(w, s, e);
}

static enum mrs_status
report_sources(struct mrsi_group_run *g, const struct group_decide_key_now *k, struct mrs_val id, struct room *room,
               struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    mrs_buf_reset(&room->scratch);
    mrs_buf_byte(&room->scratch, id.type);
    mrs_buf_put(&room->scratch, id.p, id.n);
    for (size_t i = 0; s == MRS_OK && i < k->needing_id.n; i++) {
        s = mrsi_sorter_put(&g->refs, k->needing_id.p + i * 12, 12, room->scratch.p, (uint32_t)room->scratch.n, e);
    }
    return s == MRS_OK ? mrs_buf_status(&room->scratch, e) : s;
}

static enum mrs_status
end_key(struct mrsi_group_run *g, struct group_decide_key_now *k, struct room *room, struct mrs_err *e)
{
    struct mrs_view refs;
    bool replaces = k->there && k->disagrees && g->st->desc.conflicts == MRS_CONFLICTS_LAST;
    struct mrsi_row *row = mrsi_row(&g->en->worker[0], g->step, 1);
    uint8_t key[9];
    if (!k->any || !k->needing_id.n) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_file_array_end(&k->needing_id, e);
    if (s == MRS_OK && bar_equal(g, k)) {
        return MRS_OK;
    }
    MRS_THEN(s, refs_document(&k->refs, &room->refs, &refs, e));
    if (s == MRS_OK && replaces) {
        s = take_id(k, &room->scratch, e);
    }
    MRS_THEN(s, try_finish(g, k, room, refs, e));
    if (s != MRS_OK) {
        return s == MRS_SKIP ? MRS_OK : s;
    }
    row->placed += k->merged;
    row->once += k->first.lone ? k->merged : 0;
    if (k->there) {
        mrsi_put_be(key, k->there_ordinal, 8);
        key[8] = replaces;
        s = replaces ? mrsi_sorter_put(&g->gains, key, 9, room->out.p, (uint32_t)room->out.n, e)
                     : mrsi_sorter_put(&g->gains, key, 9, refs.p, refs.n, e);
    } else {
        row->created++;
        s = mrsi_sorter_put(&g->made, k->place, 12, room->out.p, (uint32_t)room->out.n, e);
    }
    return s == MRS_OK ? report_sources(g, k, id_of(k->there ? &k->there_doc : &k->doc), room, e) : s;
}

static bool
is_out(const struct mrsi_group_run *g, const struct mrsi_sorted *r)
{
    const struct mrsi_fates *f = r->key[16] ? &g->from : &g->there;
    return mrsi_fates_get(f, mrsi_get_be(r->key + 17, 8)) != 0;
}

static enum mrs_status
stream(struct mrsi_group_run *g, struct group_decide_key_now *k, struct room *room, struct mrs_err *e)
{
    struct mrsi_sorted r;
    bool saved = false;
    enum mrs_status s = mrsi_group_begin_sort(g, &g->members, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&g->members, &r, e)) == MRS_OK) {
        struct mrsi_member_head m;
        if (g->resumed && !mrsi_group_is_member(g, &r)) {
            s = mrsi_state_damaged("a member", e);
            break;
        }
        memcpy(&m, r.p, sizeof m);
        if (is_out(g, &r)) {
            continue;
        }
        if (k->any && memcmp(k->hash, r.key, 16) != 0) {
            s = end_key(g, k, room, e);
            key_reset(k);
            MRS_THEN(s, mrsi_group_between_keys(g, &g->members, &saved, e));
            if (s != MRS_OK || saved) {
                continue;
            }
        }
        g->bytes_read += r.key_len + r.n;
        s = add_member(g, k, &r, &m, e);
    }
    return s == MRS_END ? end_key(g, k, room, e) : s;
}

void
mrsi_group_decided(struct mrsi_group_run *g)
{
    struct mrsi_sorter *sorts[MRSI_GROUP_SORTS];
    mrsi_group_sorts(g, sorts);
    for (int i = 0; i < MRSI_GROUP_SORTS; i++) {
        mrsi_sorter_clear(sorts[i]);
        mrsi_sorter_init(sorts[i], g->en, g->en->memory / 8);
        sorts[i]->kept = true;
    }
}

enum mrs_status
mrsi_group_decide(struct mrsi_group_run *g, struct mrs_err *e)
{
    MRS_ASSERT(g->stage == MRSI_GROUP_DECIDE);
    struct group_decide_key_now k;
    struct room room;
    enum mrs_status s;
    key_init(&k, g->en);
    mrs_buf_init(&room.refs, g->en->mem, SIZE_MAX);
    mrs_buf_init(&room.out, g->en->mem, SIZE_MAX);
    mrs_buf_init(&room.scratch, g->en->mem, SIZE_MAX);
    while ((s = stream(g, &k, &room, e)) == MRS_OK && g->again) { /* without those that cannot be written */
        g->again = false;
        mrsi_rows_begin(g->en);
        mrsi_group_decided(g);
        key_reset(&k);
    }
    key_clear(&k);
    mrs_buf_clear(&room.refs);
    mrs_buf_clear(&room.out);
    mrs_buf_clear(&room.scratch);
    return s;
}
