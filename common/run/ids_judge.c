/* SPDX-License-Identifier: Apache-2.0 */
/* ids_judge.c - what becomes of documents with equal `_id`s: one look over all candidates, by the plan's policy.
 *
 * Members lie in an external sort, those of one key together. They are read twice: the first time what holds for a key
 * as a whole is found out (does everybody agree, who stands first, who last) and its verdict noted; the second time the
 * verdict is told to every member. So one key may have any number of members, and there may be any number of keys.
 * What was told is sorted by the documents that it is about. Marks are taken between any two members. */
#include "ids.h"

enum verdict { LEAVE_ALONE, ONE_WINS, ALL_BARRED };
enum stage { KEYS, MEMBERS, LISTS, DONE };
enum list { BARRED, MERGED, REPLACED, N_LISTS };

struct key_now { /* being looked at; where members are told: `first` is the one before */
    struct mrsi_member first, first_new, last;
    uint64_t n;  /* members of it; where members are told: of all */
    uint64_t no; /* of the key, where members are told */
    bool any_new, all_agree, new_agree;
};
struct mrsi_judge {
    struct mrsi_ids *ids;
    enum stage stage;
    uint32_t at; /* LISTS: the list that goes to its tape; those before have */
    struct mrsi_tape verdicts; /* one byte a key, in the order of the sort */
    struct mrsi_sorter list[N_LISTS];
    struct key_now now;
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
see(struct key_now *k, const struct mrsi_member *m)
{
    if (!k->n) {
        k->first = *m;
        k->any_new = false;
        k->all_agree = k->new_agree = true;
    }
    if (!m->there && !k->any_new) {
        k->first_new = *m;
        k->any_new = true;
    }
    k->all_agree = k->all_agree && same_body(&k->first, m);
    k->new_agree = k->new_agree && (m->there || same_body(&k->first_new, m));
    k->last = *m;
    k->n++;
}

/* The first member keeps the place, the last one gives the contents. */
static enum mrs_status
put_replaced(struct mrsi_judge *j, struct mrs_err *e)
{
    const struct mrsi_member *f = &j->now.first, *last = &j->now.last;
    struct mrsi_replaced r = {f->there, f->there ? f->target : f->source, f->there ? f->source : f->product,
                              last->body_at, last->body_len};
    uint8_t key[24];
    if (!last->body_len || same_body(f, last)) {
        return MRS_OK;
    }
    mrsi_put_be(key, r.there, 8);
    mrsi_put_be(key + 8, r.a, 8);
    mrsi_put_be(key + 16, r.b, 8);
    return mrsi_sorter_put(&j->list[REPLACED], key, sizeof key, &r, sizeof r, e);
}

static enum mrs_status
judge_key(struct mrsi_judge *j, struct mrs_err *e)
{
    const struct mrsi_ids *ids = j->ids;
    struct key_now *k = &j->now;
    bool over = is_over(ids, k->first.target);
    uint8_t verdict = ALL_BARRED;
    enum mrs_status s = MRS_OK;
    if (k->n < 2 || !k->any_new) { /* only documents that were there: no business of this step */
        verdict = LEAVE_ALONE;
    } else if ((over && k->new_agree) || ids->policy == MRS_CONFLICTS_LAST) {
        verdict = ONE_WINS;
        s = put_replaced(j, e);
    } else if (ids->policy == MRS_CONFLICTS_FIRST || (!over && k->all_agree)) {
        verdict = ONE_WINS;
    }
    k->n = 0;
    return s == MRS_OK ? mrsi_tape_put(&j->verdicts, &verdict, e) : s;
}

static bool
same_key(const struct mrsi_member *a, const struct mrsi_member *b)
{
    return a->key_lo == b->key_lo && a->key_hi == b->key_hi;
}

/* The next member; one of another run is looked at, for its file may have come to harm. A mark before it has it still.
 */
static enum mrs_status
next_member(struct mrsi_ids *ids, struct mrsi_member *m, struct mrs_err *e)
{
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_rest_after(&ids->rests, KEY + sizeof *m, e);
    s = s == MRS_OK ? mrsi_sorter_next(&ids->members, &r, e) : s;
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
judge_keys(struct mrsi_judge *j, struct mrs_err *e)
{
    struct mrsi_member m;
    enum mrs_status s = mrsi_sorter_go_on(&j->ids->members, e);
    while (s == MRS_OK && (s = next_member(j->ids, &m, e)) == MRS_OK) {
        if (j->now.n && !same_key(&j->now.first, &m)) {
            s = judge_key(j, e);
        }
        see(&j->now, &m);
    }
    s = s == MRS_END ? MRS_OK : s;
    s = s == MRS_OK && j->now.n ? judge_key(j, e) : s;
    memset(&j->now, 0, sizeof j->now);
    return s == MRS_OK ? mrsi_tape_end(&j->verdicts, e) : s;
}

/* ---- the second reading: every member is told ---- */
static enum mrs_status
tell_member(struct mrsi_judge *j, const struct mrsi_member *m, enum verdict v, bool first, struct mrs_err *e)
{
    struct mrsi_product p = {m->source, m->product};
    uint8_t key[16];
    mrsi_put_be(key, p.source, 8);
    mrsi_put_be(key + 8, p.no, 8);
    if (v == ALL_BARRED && !m->there) {
        return mrsi_sorter_put(&j->list[BARRED], key, 8, &p.source, sizeof p.source, e);
    }
    if (v == ONE_WINS && !m->there && !first) { /* what was there more than once stays so */
        return mrsi_sorter_put(&j->list[MERGED], key, 16, &p, sizeof p, e);
    }
    return MRS_OK;
}

static enum mrs_status
tell_members(struct mrsi_judge *j, struct mrs_err *e)
{
    struct key_now *k = &j->now;
    struct mrsi_member m;
    enum mrs_status s = mrsi_sorter_go_on(&j->ids->members, e);
    while (s == MRS_OK && (s = next_member(j->ids, &m, e)) == MRS_OK) {
        bool first = !k->n || !same_key(&k->first, &m);
        k->no += k->n && first;
        k->n++;
        k->first = m;
        s = k->no < j->verdicts.n ? tell_member(j, &m, (enum verdict)j->verdicts.p[k->no], first, e)
                                  : mrsi_state_damaged("verdicts", e);
    }
    return s == MRS_END ? MRS_OK : s;
}

/* ---- what was told, in the order in which it will be asked for ---- */
static size_t
item_of(enum list i)
{
    return i == BARRED ? sizeof(uint64_t) : i == MERGED ? sizeof(struct mrsi_product) : sizeof(struct mrsi_replaced);
}

static struct mrsi_tape *
tape_of(struct mrsi_ids *ids, enum list i)
{
    return i == BARRED ? &ids->barred : i == MERGED ? &ids->merged : &ids->replaced;
}

static void
begin_list(struct mrsi_judge *j, enum list i)
{
    mrsi_sorter_init(&j->list[i], j->ids->en, j->ids->en->memory / 16);
    j->list[i].kept = true;
}

static enum mrs_status
to_tape(struct mrsi_judge *j, enum list i, struct mrs_err *e)
{
    struct mrsi_sorter *from = &j->list[i];
    struct mrsi_tape *to = tape_of(j->ids, i);
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_sorter_go_on(from, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(from, &r, e)) == MRS_OK) {
        bool whole = !j->ids->went_on || r.n == item_of(i);
        s = whole ? mrsi_tape_put(to, r.p, e) : mrsi_state_damaged("verdicts", e);
        s = s == MRS_OK ? mrsi_rest_after(&j->ids->rests, item_of(i), e) : s;
    }
    mrsi_sorter_clear(from);
    begin_list(j, i);
    return s == MRS_END ? mrsi_tape_end(to, e) : s;
}

/* Members are done with. */
static enum mrs_status
sort_lists(struct mrsi_judge *j, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (; s == MRS_OK && j->at < N_LISTS; j->at++) {
        s = to_tape(j, (enum list)j->at, e);
    }
    return s;
}

/* ---- all of it ---- */
static enum mrs_status
make_judge(struct mrsi_ids *ids, struct mrs_err *e)
{
    struct mrsi_judge *j = mrs_zalloc(ids->en->mem, sizeof *j);
    if (!j) {
        return mrs_err_memory(e, sizeof *j);
    }
    j->ids = ids;
    mrsi_tape_init(&j->verdicts, ids->en, 1, ids->en->memory / 32);
    j->verdicts.kept = true;
    for (uint32_t i = 0; i < N_LISTS; i++) {
        begin_list(j, (enum list)i);
    }
    ids->judge = j;
    return MRS_OK;
}

void
mrsi_judge_free(struct mrsi_ids *ids)
{
    struct mrsi_judge *j = ids->judge;
    if (j) {
        mrsi_tape_clear(&j->verdicts);
        for (uint32_t i = 0; i < N_LISTS; i++) {
            mrsi_sorter_clear(&j->list[i]);
        }
        mrs_free(ids->en->mem, j);
        ids->judge = NULL;
    }
}

static void
forget_members(struct mrsi_ids *ids)
{
    mrsi_sorter_clear(&ids->members);
    mrsi_sorter_init(&ids->members, ids->en, ids->en->memory / 4);
    ids->members.kept = true;
}

static enum mrs_status
one_stage(struct mrsi_judge *j, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    switch (j->stage) {
    case KEYS: s = judge_keys(j, e); break;
    case MEMBERS:
        s = tell_members(j, e);
        forget_members(j->ids);
        break;
    case LISTS: s = sort_lists(j, e); break;
    case DONE: break;
    }
    j->stage += s == MRS_OK;
    return s;
}

enum mrs_status
mrsi_ids_judge(struct mrsi_ids *ids, struct mrsi_pass *pass, struct mrs_err *e)
{
    mrsi_ids_begin_between(ids, pass);
    mrsi_tape_clear(&ids->suspicious);
    ids->phase = MRSI_IDS_JUDGE;
    enum mrs_status s = ids->judge ? MRS_OK : make_judge(ids, e);
    while (s == MRS_OK && ids->judge->stage != DONE) {
        s = one_stage(ids->judge, e);
    }
    mrsi_judge_free(ids);
    ids->phase = MRSI_IDS_VERDICT;
    return s;
}

/* ---- marks ---- */
static const char *const list_name[N_LISTS] = {"barredBy", "mergedBy", "replacedBy"};

static void
describe_key(const struct key_now *k, struct mrs_build *b)
{
    mrsi_state_put_bytes(b, "first", &k->first, sizeof k->first);
    mrsi_state_put_bytes(b, "firstNew", &k->first_new, sizeof k->first_new);
    mrsi_state_put_bytes(b, "last", &k->last, sizeof k->last);
    mrs_build_i64(b, "seen", (int64_t)k->n);
    mrs_build_i64(b, "key", (int64_t)k->no);
    mrs_build_i64(b, "anyNew", k->any_new);
    mrs_build_i64(b, "allAgree", k->all_agree);
    mrs_build_i64(b, "newAgree", k->new_agree);
}

enum mrs_status
mrsi_judge_describe(struct mrsi_ids *ids, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_judge *j = ids->judge;
    mrs_build_i64(b, "stage", j->stage);
    mrs_build_i64(b, "list", j->at);
    describe_key(&j->now, b);
    enum mrs_status s = mrsi_tape_describe(&j->verdicts, "verdicts", b, files, e);
    for (uint32_t i = 0; s == MRS_OK && i < N_LISTS; i++) {
        s = mrsi_sorter_describe(&j->list[i], list_name[i], b, files, e);
    }
    return s;
}

static void
get_member(struct mrs_view d, const char *name, struct mrsi_member *m, bool *bad)
{
    size_t n;
    const uint8_t *p = mrsi_state_bytes(d, name, &n, bad);
    *bad = *bad || n != sizeof *m;
    if (!*bad) {
        memcpy(m, p, sizeof *m);
    }
}

static enum mrs_status
apply_key(struct key_now *k, struct mrs_view d, struct mrs_err *e)
{
    bool bad = false;
    get_member(d, "first", &k->first, &bad);
    get_member(d, "firstNew", &k->first_new, &bad);
    get_member(d, "last", &k->last, &bad);
    k->n = mrsi_state_number(d, "seen", INT64_MAX, &bad);
    k->no = mrsi_state_number(d, "key", INT64_MAX, &bad);
    k->any_new = mrsi_state_number(d, "anyNew", 1, &bad);
    k->all_agree = mrsi_state_number(d, "allAgree", 1, &bad);
    k->new_agree = mrsi_state_number(d, "newAgree", 1, &bad);
    return bad ? mrsi_state_damaged("a member", e) : MRS_OK;
}

/* Behind the tapes that it writes. */
enum mrs_status
mrsi_judge_apply(struct mrsi_ids *ids, struct mrs_view d, struct mrs_err *e)
{
    bool bad = false;
    enum mrs_status s = make_judge(ids, e);
    if (s != MRS_OK) {
        return s;
    }
    struct mrsi_judge *j = ids->judge;
    j->stage = (enum stage)mrsi_state_number(d, "stage", LISTS, &bad);
    j->at = (uint32_t)mrsi_state_number(d, "list", N_LISTS - 1, &bad);
    s = bad ? mrsi_state_damaged("verdicts", e) : apply_key(&j->now, d, e);
    s = s == MRS_OK ? mrsi_tape_apply(&j->verdicts, d, "verdicts", e) : s;
    for (uint32_t i = 0; s == MRS_OK && i < N_LISTS; i++) {
        s = mrsi_sorter_apply(&j->list[i], d, list_name[i], e);
    }
    bad = j->verdicts.ended != (j->stage != KEYS) || (j->at && j->stage != LISTS);
    for (uint32_t i = 0; i < N_LISTS; i++) {
        bad = bad || tape_of(ids, (enum list)i)->ended != (i < j->at);
    }
    return s == MRS_OK && bad ? mrsi_state_damaged("verdicts", e) : s;
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
    if (ids->phase < MRSI_IDS_RESOLVE) {
        s = mrsi_ids_is_between(ids) ? MRS_OK : r->once(r->arg, e);
        s = s == MRS_OK ? mrsi_ids_look(ids, r->pass, &clash, e) : s;
        s = s == MRS_OK && clash ? r->begin(r->arg, e) : s;
    }
    if (s == MRS_OK && clash && ids->phase < MRSI_IDS_VERDICT) {
        s = mrsi_ids_is_between(ids) ? MRS_OK : r->once(r->arg, e);
        s = s == MRS_OK ? mrsi_ids_judge(ids, r->pass, e) : s;
        s = s == MRS_OK ? r->begin(r->arg, e) : s;
    }
    return s == MRS_OK && clash ? r->once(r->arg, e) : s;
}
