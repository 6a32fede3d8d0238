/* SPDX-License-Identifier: Apache-2.0 */
/* id_verdicts.c - decides about documents with equal `_id`s: one pass over all candidates, by the plan's policy.
 *
 * Members are in an external sort, grouped by key, and are read several times. First the refusals: keys whose members
 * disagree reject the sources of all their members. Then, among the remaining sources, keys with several documents that
 * the step itself made reject theirs, because two equal ones of these are still two documents. (An existing document
 * counts as the result of an earlier run, unless the step regenerates the `_id`s of a whole collection.) Only when all
 * refusals are known, the members of the other keys get the document that stands for them: a document of a rejected
 * source cannot, since it is never written. So a key may have any number of members, and there may be any number of
 * keys. The verdicts are sorted by their documents. Savepoints are possible between any two members. */
#include "id_check.h"

enum id_verdicts_stage {
    KEYS,        /* decides for each key: do its members disagree? */
    BAR,         /* lists the members of those that do, */
    REJECTED,      /* and sorts their sources */
    MADE_KEYS,   /* the same for documents made by the step */
    MADE_BAR,
    MADE_REJECTED,
    MEMBERS,     /* finds the document that stands for each other member, */
    LISTS,       /* and sorts the results */
    DONE
};
enum id_verdicts_list { REJECTED_LIST, VERDICTS, REPLACED, N_LISTS };

struct id_verdicts_key_now { /* the current key: its members that are not rejected */
    struct mrsi_id_member first, last;
    struct mrsi_id_member rival[2]; /* the first one that counts, and the first one in conflict with it */
    uint64_t lo, hi;   /* the key */
    uint64_t n, n_new; /* numbers of members */
    uint32_t n_rivals;
    uint64_t no;       /* number of the key */
    bool open, made, represents;
};
/* The decision on a key. */
struct id_verdicts_verdict {
    uint64_t body_lo, body_hi; /* of rival[0] */
    uint64_t source[2];        /* of rival */
    uint32_t product[2], there[2];
    uint32_t bars, pad;
};
struct mrsi_id_decision {
    struct mrsi_ids *ids;
    enum id_verdicts_stage stage;
    uint32_t at; /* LISTS: the list being written to its file array; earlier ones are complete */
    bool any_made;
    struct mrsi_file_array verdicts; /* struct id_verdicts_verdict: one for each key, in the order of the sort */
    struct mrsi_sorter list[N_LISTS];
    struct id_verdicts_key_now now;
};

enum { KEY = 29 }; /* 16 bytes of the key, 1 byte 0 existing / 1 new, 8 bytes source, 4 bytes product */

/* ---- collect ---- */
static enum mrs_status
put_member(struct mrsi_ids *ids, const struct mrsi_id_member *m, struct mrs_err *e)
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
    MRS_ASSERT(mrs_buf_is_sound(list));
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < list->n;) {
        struct mrsi_id_member m;
        memcpy(&m, list->p + at, sizeof m);
        at += sizeof m;
        if (m.body_len) {
            m.body_at = ids->bodies_bytes;
            s = ids->bodies ? MRS_OK : mrsi_ckpt_temp(ids->en, &ids->bodies, e);
            MRS_THEN(s, mrsi_temp_append(ids->bodies, list->p + at, m.body_len, m.body_at, e));
            ids->bodies_bytes += m.body_len;
            at += m.body_len;
        }
        MRS_THEN(s, put_member(ids, &m, e));
    }
    return s;
}

/* ---- iterate over members ---- */
static bool
same_body(const struct mrsi_id_member *a, const struct mrsi_id_member *b)
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

/* The next member; a resumed one is validated, because its file may be damaged. A savepoint before it still includes
 * it. */
static enum mrs_status
next_member(struct mrsi_ids *ids, struct mrsi_id_member *m, struct mrs_err *e)
{
    struct mrsi_sorted r;
    MRS_TRY(mrsi_pause_after(&ids->pauses, KEY + sizeof *m, e));
    MRS_TRY(mrsi_sorter_next(&ids->members, &r, e));
    if (ids->resumed && r.n != sizeof *m) {
        return mrsi_state_damaged("a member", e);
    }
    memcpy(m, r.p, sizeof *m);
    return MRS_OK;
}

static bool
is_rejected(const struct mrsi_ids *ids, const struct mrsi_id_member *m)
{
    return !m->there && mrsi_ids_rejected(ids, m->source);
}

static bool
is_of_key(const struct id_verdicts_key_now *k, const struct mrsi_id_member *m)
{
    return k->open && k->lo == m->key_lo && k->hi == m->key_hi;
}

/* Starts the next key and completes the previous one. */
static void
open_key(struct id_verdicts_key_now *k, const struct mrsi_id_member *m)
{
    k->no += k->open;
    k->lo = m->key_lo;
    k->hi = m->key_hi;
    k->n = k->n_new = k->n_rivals = 0;
    k->open = true;
    k->made = k->represents = false;
}

/* Iterates over all members of all keys: `each` for every one of them, `end` (may be NULL) after the last one of a
 * key. */
static enum mrs_status
read_members(struct mrsi_id_decision *j,
             enum mrs_status (*each)(struct mrsi_id_decision *, const struct mrsi_id_member *, struct mrs_err *),
             enum mrs_status (*end)(struct mrsi_id_decision *, struct mrs_err *), struct mrs_err *e)
{
    struct id_verdicts_key_now *k = &j->now;
    struct mrsi_id_member m;
    enum mrs_status s = mrsi_sorter_resume(&j->ids->members, e);
    while (s == MRS_OK && (s = next_member(j->ids, &m, e)) == MRS_OK) {
        if (!is_of_key(k, &m)) {
            s = k->open && end ? end(j, e) : MRS_OK;
            open_key(k, &m);
        }
        MRS_THEN(s, each(j, &m, e));
    }
    s = s == MRS_END ? mrsi_sorter_rewind(&j->ids->members, e) : s; /* the next stage begins with the first member */
    s = s == MRS_OK && k->open && end ? end(j, e) : s;
    if (s == MRS_OK) {
        memset(k, 0, sizeof *k);
    }
    return s;
}

/* ---- decide on a key ---- */
/* First, all members must be equal, apart from existing documents that new ones overwrite. Then, at most one may be
 * made by the step: new, or by an earlier run. */
static void
note_rival(struct mrsi_id_decision *j, const struct mrsi_id_member *m)
{
    struct id_verdicts_key_now *k = &j->now;
    bool own = j->stage == MADE_KEYS;
    bool counts = !m->there || (own ? m->made : !is_over(j->ids, m->target));
    if (counts && (!k->n_rivals || (k->n_rivals == 1 && (own || !same_body(&k->rival[0], m))))) {
        k->rival[k->n_rivals++] = *m;
    }
}

static enum mrs_status
see(struct mrsi_id_decision *j, const struct mrsi_id_member *m, struct mrs_err *e)
{
    struct id_verdicts_key_now *k = &j->now;
    (void)e;
    if (is_rejected(j->ids, m)) {
        return MRS_OK;
    }
    k->n++;
    k->n_new += !m->there;
    k->made = k->made || m->made;
    j->any_made = j->any_made || m->made;
    note_rival(j, m);
    return MRS_OK;
}

static enum mrs_status
judge_key(struct mrsi_id_decision *j, struct mrs_err *e)
{
    MRS_ASSERT(j->now.open);
    const struct id_verdicts_key_now *k = &j->now;
    struct id_verdicts_verdict v;
    memset(&v, 0, sizeof v);
    bool bad = k->n_rivals == 2 && (j->stage != MADE_KEYS || k->made);
    v.bars = k->n_new && bad && j->ids->policy == MRS_CONFLICTS_REFUSE;
    for (uint32_t i = 0; v.bars && i < 2; i++) {
        v.source[i] = k->rival[i].source;
        v.product[i] = k->rival[i].product;
        v.there[i] = k->rival[i].there;
        v.body_lo = k->rival[0].body_lo;
        v.body_hi = k->rival[0].body_hi;
    }
    return mrsi_file_array_put(&j->verdicts, &v, e);
}

static enum mrs_status
judge_keys(struct mrsi_id_decision *j, struct mrs_err *e)
{
    enum mrs_status s = read_members(j, see, judge_key, e);
    return s == MRS_OK ? mrsi_file_array_end(&j->verdicts, e) : s;
}

/* Lists the conflicting document of a member whose key rejects its sources. */
static struct mrsi_rejected
met_by(const struct mrsi_id_decision *j, const struct mrsi_id_member *m, const struct id_verdicts_verdict *v)
{
    bool first = !v->there[0] && v->source[0] == m->source && v->product[0] == m->product;
    bool like_first = j->stage == BAR && v->body_lo == m->body_lo && v->body_hi == m->body_hi;
    uint32_t i = first || like_first;
    return (struct mrsi_rejected){m->source, v->source[i], m->product, v->there[i], m->target, 0};
}

static enum mrs_status
bar_member(struct mrsi_id_decision *j, const struct mrsi_id_member *m, struct mrs_err *e)
{
    struct id_verdicts_verdict v;
    uint8_t key[12];
    if (j->now.no >= j->verdicts.n) {
        return mrsi_state_damaged("verdicts", e);
    }
    memcpy(&v, j->verdicts.p + j->now.no * sizeof v, sizeof v);
    const struct mrsi_rejected *before = m->there ? NULL : mrsi_ids_rejected(j->ids, m->source);
    if (m->there || !(v.bars || before)) {
        return MRS_OK;
    }
    struct mrsi_rejected b = before ? *before : met_by(j, m, &v);
    mrsi_put_be(key, b.source, 8);
    mrsi_put_be(key + 8, b.product, 4);
    return mrsi_sorter_put(&j->list[REJECTED_LIST], key, sizeof key, &b, sizeof b, e);
}

/* ---- which document stands for which ---- */
/* The first member keeps its place, the last one gives the contents. */
static enum mrs_status
put_replaced(struct mrsi_id_decision *j, struct mrs_err *e)
{
    MRS_ASSERT(j->now.open);
    const struct mrsi_id_member *f = &j->now.first, *last = &j->now.last;
    if (!j->now.n || !last->body_len || same_body(f, last)) {
        return MRS_OK;
    }
    struct mrsi_replaced r = {f->there, f->there ? f->target : f->source, f->there ? f->source : f->product,
                              last->body_at, last->body_len};
    uint8_t key[24];
    mrsi_put_be(key, r.there, 8);
    mrsi_put_be(key + 8, r.a, 8);
    mrsi_put_be(key + 16, r.b, 8);
    return mrsi_sorter_put(&j->list[REPLACED], key, sizeof key, &r, sizeof r, e);
}

static enum mrs_status
put_verdict(struct mrsi_id_decision *j, const struct mrsi_id_member *m, enum mrsi_verdict as, struct mrs_err *e)
{
    struct mrsi_product p = {m->source, m->product, as};
    uint8_t key[12];
    mrsi_put_be(key, p.source, 8);
    mrsi_put_be(key + 8, p.no, 4);
    return mrsi_sorter_put(&j->list[VERDICTS], key, sizeof key, &p, sizeof p, e);
}

/* Sources that are not rejected have keys whose members agree, or the policy chooses one of them. */
static enum mrs_status
decide_member(struct mrsi_id_decision *j, const struct mrsi_id_member *m, struct mrs_err *e)
{
    struct id_verdicts_key_now *k = &j->now;
    enum mrs_status s = MRS_OK;
    if (is_rejected(j->ids, m)) {
        return MRS_OK;
    }
    k->last = *m;
    if (!k->n++) {
        k->first = *m;
        return MRS_OK;
    }
    if (m->there) { /* existing duplicates stay */
        return MRS_OK;
    }
    if (!k->first.there && !k->represents) {
        s = put_verdict(j, &k->first, MRSI_REPRESENTS, e);
    }
    k->represents = true;
    return s == MRS_OK ? put_verdict(j, m, same_body(&k->first, m) ? MRSI_EQUAL : MRSI_MERGED, e) : s;
}

/* ---- the verdicts, in the order in which they are read ---- */
static size_t
item_of(enum id_verdicts_list i)
{
    return i == REJECTED_LIST ? sizeof(struct mrsi_rejected) : i == VERDICTS ? sizeof(struct mrsi_product)
                                                                     : sizeof(struct mrsi_replaced);
}

static struct mrsi_file_array *
file_array_of(struct mrsi_ids *ids, enum id_verdicts_list i)
{
    return i == REJECTED_LIST ? &ids->rejected : i == VERDICTS ? &ids->verdicts : &ids->replaced;
}

static void
begin_list(struct mrsi_id_decision *j, enum id_verdicts_list i)
{
    mrsi_sorter_init(&j->list[i], j->ids->en, j->ids->en->memory / 16);
    j->list[i].kept = true;
}

static enum mrs_status
to_array(struct mrsi_id_decision *j, enum id_verdicts_list i, struct mrs_err *e)
{
    MRS_ASSERT(i < N_LISTS);
    struct mrsi_sorter *from = &j->list[i];
    struct mrsi_file_array *to = file_array_of(j->ids, i);
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_sorter_resume(from, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(from, &r, e)) == MRS_OK) {
        bool whole = !j->ids->resumed || r.n == item_of(i);
        s = whole ? mrsi_file_array_put(to, r.p, e) : mrsi_state_damaged("verdicts", e);
        MRS_THEN(s, mrsi_pause_after(&j->ids->pauses, item_of(i), e));
    }
    mrsi_sorter_clear(from);
    begin_list(j, i);
    return s == MRS_END ? mrsi_file_array_end(to, e) : s;
}

/* Frees the members. */
static enum mrs_status
sort_lists(struct mrsi_id_decision *j, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (j->at = j->at ? j->at : VERDICTS; s == MRS_OK && j->at < N_LISTS; j->at++) {
        s = to_array(j, (enum id_verdicts_list)j->at, e);
    }
    return s;
}

/* ---- all stages ---- */
static enum mrs_status
make_judge(struct mrsi_ids *ids, struct mrs_err *e)
{
    struct mrsi_id_decision *j = mrs_zalloc(ids->en->mem, sizeof *j);
    MRS_TRY(mrs_allocated(j, sizeof *j, e));
    j->ids = ids;
    mrsi_file_array_init(&j->verdicts, ids->en, sizeof(struct id_verdicts_verdict), ids->en->memory / 32);
    j->verdicts.kept = true;
    for (uint32_t i = 0; i < N_LISTS; i++) {
        begin_list(j, (enum id_verdicts_list)i);
    }
    ids->judge = j;
    return MRS_OK;
}

void
mrsi_id_decision_free(struct mrsi_ids *ids)
{
    struct mrsi_id_decision *j = ids->judge;
    if (j) {
        mrsi_file_array_clear(&j->verdicts);
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
one_stage(struct mrsi_id_decision *j, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    switch (j->stage) {
    case KEYS:
    case MADE_KEYS: s = judge_keys(j, e); break;
    case BAR: s = read_members(j, bar_member, NULL, e); break;
    case MADE_BAR:
        s = read_members(j, bar_member, NULL, e);
        mrsi_file_array_reset(&j->ids->rejected); /* rejected members get their verdicts again */
        break;
    case REJECTED:
        s = to_array(j, REJECTED_LIST, e);
        if (s == MRS_OK && j->any_made) {
            mrsi_file_array_reset(&j->verdicts);
        } else if (s == MRS_OK) {
            j->stage = MADE_REJECTED;
        }
        break;
    case MADE_REJECTED: s = to_array(j, REJECTED_LIST, e); break;
    case MEMBERS:
        s = read_members(j, decide_member, put_replaced, e);
        forget_members(j->ids);
        break;
    case LISTS: s = sort_lists(j, e); break;
    case DONE: break;
    }
    j->stage += s == MRS_OK;
    return s;
}

enum mrs_status
mrsi_ids_decide(struct mrsi_ids *ids, struct mrsi_pass *pass, struct mrs_err *e)
{
    MRS_ASSERT(ids->phase < MRSI_IDS_APPLY);
    mrsi_ids_begin_between(ids, pass);
    mrsi_file_array_clear(&ids->dup_hashes);
    ids->phase = MRSI_IDS_DECIDE;
    enum mrs_status s = ids->judge ? MRS_OK : make_judge(ids, e);
    while (s == MRS_OK && ids->judge->stage != DONE) {
        s = one_stage(ids->judge, e);
    }
    mrsi_id_decision_free(ids);
    ids->phase = MRSI_IDS_APPLY;
    return s;
}

enum mrs_status
mrsi_ids_next(struct mrsi_ids *ids, struct mrsi_pass *pass, bool *again, struct mrs_err *e)
{
    if (ids->phase < MRSI_IDS_COLLECT) {
        return mrsi_ids_find_duplicates(ids, pass, again, e);
    }
    *again = ids->phase != MRSI_IDS_APPLY;
    return *again ? mrsi_ids_decide(ids, pass, e) : MRS_OK;
}

/* ---- savepoints ---- */
static const char *const list_name[N_LISTS] = {"barredBy", "toldBy", "replacedBy"};

static void
save_key(const struct id_verdicts_key_now *k, struct mrs_build *b)
{
    mrsi_state_put_bytes(b, "first", &k->first, sizeof k->first);
    mrsi_state_put_bytes(b, "met", k->rival, sizeof k->rival);
    mrsi_state_put_bytes(b, "last", &k->last, sizeof k->last);
    mrsi_state_put_bytes(b, "low", &k->lo, sizeof k->lo);
    mrsi_state_put_bytes(b, "high", &k->hi, sizeof k->hi);
    mrs_build_i64(b, "seen", (int64_t)k->n);
    mrs_build_i64(b, "new", (int64_t)k->n_new);
    mrs_build_i64(b, "nMet", k->n_rivals);
    mrs_build_i64(b, "key", (int64_t)k->no);
    mrs_build_i64(b, "open", k->open);
    mrs_build_i64(b, "made", k->made);
    mrs_build_i64(b, "stands", k->represents);
}

enum mrs_status
mrsi_id_decision_save(struct mrsi_ids *ids, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct mrsi_id_decision *j = ids->judge;
    mrs_build_i64(b, "stage", j->stage);
    mrs_build_i64(b, "list", j->at);
    mrs_build_i64(b, "anyMade", j->any_made);
    save_key(&j->now, b);
    enum mrs_status s = mrsi_file_array_save(&j->verdicts, "verdicts", b, files, e);
    for (uint32_t i = 0; s == MRS_OK && i < N_LISTS; i++) {
        s = mrsi_sorter_save(&j->list[i], list_name[i], b, files, e);
    }
    return s;
}

static void
get_bytes(struct mrs_view d, const char *name, void *to, size_t len, bool *bad)
{
    size_t n;
    const uint8_t *p = mrsi_state_bytes(d, name, &n, bad);
    *bad = *bad || n != len;
    if (!*bad) {
        memcpy(to, p, len);
    }
}

static enum mrs_status
apply_key(struct id_verdicts_key_now *k, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false;
    get_bytes(d, "first", &k->first, sizeof k->first, &bad);
    get_bytes(d, "met", k->rival, sizeof k->rival, &bad);
    get_bytes(d, "last", &k->last, sizeof k->last, &bad);
    get_bytes(d, "low", &k->lo, sizeof k->lo, &bad);
    get_bytes(d, "high", &k->hi, sizeof k->hi, &bad);
    k->n = mrsi_state_number(d, "seen", INT64_MAX, &bad);
    k->n_new = mrsi_state_number(d, "new", INT64_MAX, &bad);
    k->n_rivals = (uint32_t)mrsi_state_number(d, "nMet", 2, &bad);
    k->no = mrsi_state_number(d, "key", INT64_MAX, &bad);
    k->open = mrsi_state_number(d, "open", 1, &bad);
    k->made = mrsi_state_number(d, "made", 1, &bad);
    k->represents = mrsi_state_number(d, "stands", 1, &bad);
    return bad ? mrsi_state_damaged("a member", e) : MRS_OK;
}

/* Are the file arrays complete up to the stage? */
static bool
has_arrays(const struct mrsi_id_decision *j)
{
    bool judged = j->stage != KEYS && j->stage != MADE_KEYS;
    bool rejected = j->stage == MADE_KEYS || j->stage == MADE_BAR || j->stage >= MEMBERS;
    bool good = j->verdicts.ended == judged && j->ids->rejected.ended == rejected && (!j->at || j->stage == LISTS);
    return good && j->ids->verdicts.ended == (j->at > VERDICTS) && j->ids->replaced.ended == (j->at > REPLACED);
}

/* After the file arrays that the stage writes. */
enum mrs_status
mrsi_id_decision_load(struct mrsi_ids *ids, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false;
    MRS_TRY(make_judge(ids, e));
    struct mrsi_id_decision *j = ids->judge;
    j->stage = (enum id_verdicts_stage)mrsi_state_number(d, "stage", LISTS, &bad);
    j->at = (uint32_t)mrsi_state_number(d, "list", N_LISTS - 1, &bad);
    j->any_made = mrsi_state_number(d, "anyMade", 1, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("verdicts", e) : apply_key(&j->now, d, e);
    MRS_THEN(s, mrsi_file_array_load(&j->verdicts, d, "verdicts", e));
    for (uint32_t i = 0; s == MRS_OK && i < N_LISTS; i++) {
        s = mrsi_sorter_load(&j->list[i], d, list_name[i], e);
    }
    return s == MRS_OK && !has_arrays(j) ? mrsi_state_damaged("verdicts", e) : s;
}

/* ---- look up a verdict ---- */
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

const struct mrsi_rejected *
mrsi_ids_rejected(const struct mrsi_ids *ids, uint64_t source)
{
    const struct mrsi_rejected *all = (const struct mrsi_rejected *)(const void *)ids->rejected.p;
    const struct mrsi_rejected *b = mrsi_file_array_find(&ids->rejected, &source, mrsi_by_u64);
    while (b && b > all && b[-1].source == source) {
        b--;
    }
    return b;
}

enum mrsi_verdict
mrsi_ids_verdict(const struct mrsi_ids *ids, uint64_t source, uint32_t product)
{
    struct mrsi_product key = {source, product, MRSI_ALONE};
    const struct mrsi_product *p = mrsi_file_array_find(&ids->verdicts, &key, by_product);
    return p ? (enum mrsi_verdict)p->as : MRSI_ALONE;
}

uint64_t
mrsi_ids_n_represent(const struct mrsi_ids *ids)
{
    const struct mrsi_product *p = (const struct mrsi_product *)(const void *)ids->verdicts.p;
    uint64_t n = 0;
    for (size_t i = 0; i < ids->verdicts.n; i++) {
        n += p[i].as == MRSI_REPRESENTS;
    }
    return n;
}

/* An existing document keeps its `_id` byte for byte: 1 stays 1 if a later document has 1.0. */
static enum mrs_status
with_id_of(struct mrs_view there, struct mrs_buf *room, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(there));
    struct mrs_elem old, now;
    if (!mrs_doc_find(there, "_id", 3, &old) || !mrs_doc_find(*doc, "_id", 3, &now) ||
        mrs_identical(old.v, now.v)) {
        return MRS_OK;
    }
    size_t from = room->n, head = (size_t)(now.p - doc->p), tail = (size_t)(now.v.p - doc->p) + now.v.n;
    size_t len = doc->n - (tail - head) + (size_t)(old.v.p - old.p) + old.v.n;
    uint32_t n = doc->n;
    uint8_t *p = mrs_buf_take(room, len), *to = p;
    if (!p) {
        return mrs_buf_status(room, e);
    }
    doc->p = room->p; /* it may have been reallocated */
    memcpy(to, doc->p, head);
    memcpy(to += head, old.p, (size_t)(old.v.p - old.p) + old.v.n);
    memcpy(to += (size_t)(old.v.p - old.p) + old.v.n, doc->p + tail, n - tail);
    mrs_put32(p, (uint32_t)len);
    *doc = (struct mrs_view){room->p + from, (uint32_t)len};
    return MRS_OK;
}

enum mrs_status
mrsi_ids_replace(const struct mrsi_ids *ids, bool there, uint64_t a, uint64_t b, struct mrs_buf *room,
                 struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(*doc));
    struct mrsi_replaced key = {there, a, b, 0, 0};
    const struct mrs_view old = *doc;
    const struct mrsi_replaced *r = mrsi_file_array_find(&ids->replaced, &key, by_place);
    if (!r) {
        return MRS_OK;
    }
    if (r->at > ids->bodies_bytes || r->len > ids->bodies_bytes - r->at) {
        return mrsi_state_damaged("a document", e);
    }
    mrs_buf_reset(room);
    uint8_t *p = mrs_buf_take(room, r->len);
    enum mrs_status s = p ? mrs_read_at(ids->bodies->fd, p, r->len, r->at, e) : mrs_buf_status(room, e);
    if (s == MRS_OK && ids->resumed && !mrsi_savepoint_is_doc(p, r->len)) {
        s = mrsi_state_damaged("a document", e);
    }
    doc->p = p;
    doc->n = (uint32_t)r->len;
    return s == MRS_OK && there ? with_id_of(old, room, doc, e) : s;
}

enum mrs_status
mrsi_ids_rounds(struct mrsi_ids *ids, const struct mrsi_rounds *r, struct mrs_err *e)
{
    MRS_ASSERT(r->once);
    bool clash = true;
    enum mrs_status s = MRS_OK;
    if (ids->phase < MRSI_IDS_COLLECT) {
        s = mrsi_ids_is_between(ids) ? MRS_OK : r->once(r->arg, e);
        MRS_THEN(s, mrsi_ids_find_duplicates(ids, r->pass, &clash, e));
        s = s == MRS_OK && clash ? r->begin(r->arg, e) : s;
    }
    if (s == MRS_OK && clash && ids->phase < MRSI_IDS_APPLY) {
        s = mrsi_ids_is_between(ids) ? MRS_OK : r->once(r->arg, e);
        MRS_THEN(s, mrsi_ids_decide(ids, r->pass, e));
        MRS_THEN(s, r->begin(r->arg, e));
    }
    return s == MRS_OK && clash ? r->once(r->arg, e) : s;
}
