/* ids_judge.c - what becomes of documents with equal `_id`s: one look over all candidates, by the plan's policy.
 *
 * Members lie in an external sort, those of one key together. They are read twice: the first time what holds for a key
 * as a whole is found out (does everybody agree, who stands first, who last) and its verdict noted; the second time the
 * verdict is told to every member. So one key may have any number of members, and there may be any number of keys. */
#include "checkpoint.h"
#include "ids.h"

enum verdict { LEAVE_ALONE, ONE_WINS, ALL_BARRED };

struct judge {
    struct mrsi_ids *ids;
    struct mrsi_tape verdicts;                 /* one byte a key, in the order of the sort */
    struct mrsi_sorter barred, merged, replaced;
    struct mrsi_member first, first_new, last; /* of the key being looked at */
    uint64_t n;
    bool any_new, all_agree, new_agree;
};

enum { KEY = 29 }; /* 16 bytes of the key, 1 byte 0 there / 1 new, 8 bytes source, 4 bytes product */

/* ---- collecting ---- */
static enum mrs_status
put_member(struct mrsi_ids *ids, const struct mrsi_member *m, struct mrs_err *e)
{
    uint8_t key[KEY];
    mrsi_put_be(key, m->key_lo, 8);
    mrsi_put_be(key + 8, m->key_hi, 8);
    key[16] = !m->there;
    mrsi_put_be(key + 17, m->source, 8);
    mrsi_put_be(key + 25, m->product, 4);
    return mrsi_sorter_put(&ids->members, key, sizeof key, m, sizeof *m, e);
}

enum mrs_status
mrsi_ids_members(struct mrsi_ids *ids, const struct mrs_buf *list, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < list->n;) {
        struct mrsi_member m;
        memcpy(&m, list->p + at, sizeof m);
        at += sizeof m;
        if (m.body_len) {
            m.body_at = ids->bodies_bytes;
            s = ids->bodies ? MRS_OK : mrsi_keep_temp(ids->en, &ids->bodies, e);
            s = s == MRS_OK ? mrsi_temp_append(ids->bodies, list->p + at, m.body_len, m.body_at, e) : s;
            ids->bodies_bytes += m.body_len;
            at += m.body_len;
        }
        s = s == MRS_OK ? put_member(ids, &m, e) : s;
    }
    return s;
}

/* ---- the first reading: keys as a whole ---- */
static bool
same_body(const struct mrsi_member *a, const struct mrsi_member *b)
{
    return a->body_lo == b->body_lo && a->body_hi == b->body_hi;
}

static bool
is_over(const struct mrsi_ids *ids, uint32_t target)
{
    for (uint32_t i = 0; i < ids->n_over; i++) {
        if (ids->over[i] == target) {
            return true;
        }
    }
    return false;
}

bool
mrsi_ids_keeps_bodies(const struct mrsi_ids *ids, uint32_t target)
{
    return ids->policy == MRS_CONFLICTS_LAST || is_over(ids, target);
}

static void
see(struct judge *j, const struct mrsi_member *m)
{
    if (!j->n) {
        j->first = *m;
        j->any_new = false;
        j->all_agree = j->new_agree = true;
    }
    if (!m->there && !j->any_new) {
        j->first_new = *m;
        j->any_new = true;
    }
    j->all_agree = j->all_agree && same_body(&j->first, m);
    j->new_agree = j->new_agree && (m->there || same_body(&j->first_new, m));
    j->last = *m;
    j->n++;
}

/* The first member keeps the place, the last one gives the contents. */
static enum mrs_status
put_replaced(struct judge *j, struct mrs_err *e)
{
    const struct mrsi_member *f = &j->first;
    struct mrsi_replaced r = {f->there, f->there ? f->target : f->source, f->there ? f->source : f->product,
                              j->last.body_at, j->last.body_len};
    uint8_t key[24];
    if (!j->last.body_len || same_body(f, &j->last)) {
        return MRS_OK;
    }
    mrsi_put_be(key, r.there, 8);
    mrsi_put_be(key + 8, r.a, 8);
    mrsi_put_be(key + 16, r.b, 8);
    return mrsi_sorter_put(&j->replaced, key, sizeof key, &r, sizeof r, e);
}

static enum mrs_status
judge_key(struct judge *j, struct mrs_err *e)
{
    const struct mrsi_ids *ids = j->ids;
    bool over = is_over(ids, j->first.target);
    uint8_t verdict = ALL_BARRED;
    enum mrs_status s = MRS_OK;
    if (j->n < 2 || !j->any_new) { /* only documents that were there: no business of this step */
        verdict = LEAVE_ALONE;
    } else if ((over && j->new_agree) || ids->policy == MRS_CONFLICTS_LAST) {
        verdict = ONE_WINS;
        s = put_replaced(j, e);
    } else if (ids->policy == MRS_CONFLICTS_FIRST || (!over && j->all_agree)) {
        verdict = ONE_WINS;
    }
    j->n = 0;
    return s == MRS_OK ? mrsi_tape_put(&j->verdicts, &verdict, e) : s;
}

static bool
same_key(const struct mrsi_member *a, const struct mrsi_member *b)
{
    return a->key_lo == b->key_lo && a->key_hi == b->key_hi;
}

/* The next member; one of another run is looked at, for its file may have come to harm. */
static enum mrs_status
next_member(struct mrsi_ids *ids, struct mrsi_member *m, struct mrs_err *e)
{
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_sorter_next(&ids->members, &r, e);
    if (s != MRS_OK) {
        return s;
    }
    if (ids->went_on && r.n != sizeof *m) {
        return mrsi_state_damaged("a member", e);
    }
    memcpy(m, r.p, sizeof *m);
    return MRS_OK;
}

static enum mrs_status
judge_keys(struct judge *j, struct mrs_err *e)
{
    struct mrsi_member m;
    enum mrs_status s = mrsi_sorter_rewind(&j->ids->members, e);
    while (s == MRS_OK && (s = next_member(j->ids, &m, e)) == MRS_OK) {
        if (j->n && !same_key(&j->first, &m)) {
            s = judge_key(j, e);
        }
        see(j, &m);
    }
    s = s == MRS_END ? MRS_OK : s;
    s = s == MRS_OK && j->n ? judge_key(j, e) : s;
    return s == MRS_OK ? mrsi_tape_end(&j->verdicts, e) : s;
}

/* ---- the second reading: every member is told ---- */
static enum mrs_status
tell_member(struct judge *j, const struct mrsi_member *m, enum verdict v, bool first, struct mrs_err *e)
{
    struct mrsi_product p = {m->source, m->product};
    uint8_t key[16];
    mrsi_put_be(key, p.source, 8);
    mrsi_put_be(key + 8, p.no, 8);
    if (v == ALL_BARRED && !m->there) {
        return mrsi_sorter_put(&j->barred, key, 8, &p.source, sizeof p.source, e);
    }
    if (v == ONE_WINS && !m->there && !first) { /* what was there more than once stays so */
        return mrsi_sorter_put(&j->merged, key, 16, &p, sizeof p, e);
    }
    return MRS_OK;
}

static enum mrs_status
tell_members(struct judge *j, struct mrs_err *e)
{
    struct mrsi_member m, before;
    size_t no = 0;
    bool any = false;
    enum mrs_status s = mrsi_sorter_rewind(&j->ids->members, e);
    while (s == MRS_OK && (s = next_member(j->ids, &m, e)) == MRS_OK) {
        bool first = !any || !same_key(&before, &m);
        no += any && first;
        any = true;
        before = m;
        s = tell_member(j, &m, (enum verdict)j->verdicts.p[no], first, e);
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
to_tape(struct mrsi_sorter *from, struct mrsi_tape *to, struct mrs_err *e)
{
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_sorter_rewind(from, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(from, &r, e)) == MRS_OK) {
        s = mrsi_tape_put(to, r.p, e);
    }
    mrsi_sorter_clear(from);
    return s == MRS_END ? mrsi_tape_end(to, e) : s;
}

enum mrs_status
mrsi_ids_judge(struct mrsi_ids *ids, struct mrs_err *e)
{
    struct judge j = {.ids = ids};
    mrsi_tape_clear(&ids->suspicious);
    mrsi_tape_init(&j.verdicts, ids->en, 1, ids->en->memory / 32);
    mrsi_sorter_init(&j.barred, ids->en, ids->en->memory / 16);
    mrsi_sorter_init(&j.merged, ids->en, ids->en->memory / 16);
    mrsi_sorter_init(&j.replaced, ids->en, ids->en->memory / 16);
    enum mrs_status s = judge_keys(&j, e);
    s = s == MRS_OK ? tell_members(&j, e) : s;
    mrsi_sorter_clear(&ids->members);
    mrsi_tape_clear(&j.verdicts);
    s = s == MRS_OK ? to_tape(&j.barred, &ids->barred, e) : s;
    s = s == MRS_OK ? to_tape(&j.merged, &ids->merged, e) : s;
    s = s == MRS_OK ? to_tape(&j.replaced, &ids->replaced, e) : s;
    mrsi_sorter_clear(&j.barred);
    mrsi_sorter_clear(&j.merged);
    mrsi_sorter_clear(&j.replaced);
    ids->phase = MRSI_IDS_VERDICT;
    return s;
}

/* ---- asking for the verdict ---- */
#define CMP(x, y)                     \
    if ((x) != (y)) {                 \
        return (x) < (y) ? -1 : 1;    \
    }

static int
by_place(const void *pa, const void *pb)
{
    const struct mrsi_replaced *a = pa, *b = pb;
    CMP(a->there, b->there)
    CMP(a->a, b->a)
    CMP(a->b, b->b)
    return 0;
}

static int
by_product(const void *pa, const void *pb)
{
    const struct mrsi_product *a = pa, *b = pb;
    CMP(a->source, b->source)
    CMP(a->no, b->no)
    return 0;
}

bool
mrsi_ids_barred(const struct mrsi_ids *ids, uint64_t source)
{
    return mrsi_tape_find(&ids->barred, &source, mrsi_by_u64);
}

bool
mrsi_ids_merged(const struct mrsi_ids *ids, uint64_t source, uint32_t product)
{
    struct mrsi_product key = {source, product};
    return mrsi_tape_find(&ids->merged, &key, by_product);
}

enum mrs_status
mrsi_ids_replace(const struct mrsi_ids *ids, bool there, uint64_t a, uint64_t b, struct mrs_buf *room,
                 struct mrs_view *doc, struct mrs_err *e)
{
    struct mrsi_replaced key = {there, a, b, 0, 0};
    const struct mrsi_replaced *r = mrsi_tape_find(&ids->replaced, &key, by_place);
    if (!r) {
        return MRS_OK;
    }
    if (r->at > ids->bodies_bytes || r->len > ids->bodies_bytes - r->at) {
        return mrsi_state_damaged("a document", e);
    }
    mrs_buf_reset(room);
    uint8_t *p = mrs_buf_take(room, r->len);
    enum mrs_status s = p ? mrs_read_at(ids->bodies->fd, p, r->len, r->at, e) : mrs_buf_status(room, e);
    if (s == MRS_OK && ids->went_on && !mrsi_mark_is_doc(p, r->len)) {
        s = mrsi_state_damaged("a document", e);
    }
    doc->p = p;
    doc->n = (uint32_t)r->len;
    return s;
}

enum mrs_status
mrsi_ids_rounds(struct mrsi_ids *ids, const struct mrsi_rounds *r, struct mrs_err *e)
{
    bool clash = true;
    enum mrs_status s = MRS_OK;
    if (ids->phase == MRSI_IDS_HOPE) {
        s = r->once(r->arg, e);
        s = s == MRS_OK ? mrsi_ids_look(ids, &clash, e) : s;
        s = s == MRS_OK && clash ? r->begin(r->arg, e) : s;
    }
    if (s == MRS_OK && clash && ids->phase == MRSI_IDS_RESOLVE) {
        s = r->once(r->arg, e);
        s = s == MRS_OK ? mrsi_ids_judge(ids, e) : s;
        s = s == MRS_OK ? r->begin(r->arg, e) : s;
    }
    return s == MRS_OK && clash ? r->once(r->arg, e) : s;
}
