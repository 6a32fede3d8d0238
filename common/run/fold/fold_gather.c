/* SPDX-License-Identifier: Apache-2.0 */
/* fold_gather.c - groups that are updated while documents are read, if a group needs only a small state.
 *
 * Documents are not stored: they are fed to their groups in input order, when their job is committed. A group is found
 * by the document's shared record, so its key is made once for each shared record. If groups exceed their share of
 * memory, or one of them fails, everything is discarded: `from` is read again with records, which identify the members
 * of a refused group. */
#include "fold.h"
#include "mongoreshape/fold_ops.h"

/* A group: this struct, its state, and a record with its key and the shared record of its first document. */
struct gathered {
    uint64_t n;
};

struct fold_gather_slot {
    const uint8_t *shared; /* NULL: free */
    uint8_t *group;     /* struct gathered */
    uint32_t n, ref;    /* size of the shared record, a part of its hash */
};
struct key_slot {
    uint32_t ref;
    uint32_t group; /* its index plus 1; 0: free */
};

enum { AHEAD = 16, SLOTS = 1024 };

void
mrsi_fold_gather_begin(struct mrsi_fold *f)
{
    struct mrsi_fold_gather *g = &f->gather;
    memset(g, 0, sizeof *g);
    mrs_arena_init(&g->room, f->en->mem);
    mrs_buf_init(&g->slots, f->en->mem, SIZE_MAX);
    mrs_buf_init(&g->keys, f->en->mem, SIZE_MAX);
    mrs_buf_init(&g->key, f->en->mem, MRS_KEY_MAX);
    mrsi_fold_load_init(&g->groups, f->en->mem);
    g->size = f->ops->small_size ? (f->ops->small_size(f->st->state) + 7) & ~(size_t)7 : 0;
    g->on = g->size != 0;
}

void
mrsi_fold_gather_clear(struct mrsi_fold *f)
{
    struct mrsi_fold_gather *g = &f->gather;
    mrs_arena_clear(&g->room);
    mrs_buf_clear(&g->slots);
    mrs_buf_clear(&g->keys);
    mrs_buf_clear(&g->key);
    mrsi_fold_load_clear(&g->groups);
    mrsi_temp_drop(f->en, g->image);
    g->image = NULL;
    g->on = false;
}

static enum mrs_status
abandon(struct mrsi_fold *f, struct mrs_err *e)
{
    f->gather.abandoned = true;
    return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "groups must be gathered as records");
}

static struct mrsi_fold_group *
group_at(const struct mrsi_fold_gather *g, uint32_t i)
{
    MRS_ASSERT(i < g->groups.n_groups);
    return &((struct mrsi_fold_group *)(void *)g->groups.groups.p)[i];
}

static uint8_t *
gathered_of(const struct mrsi_fold *f, const struct mrsi_rec *first)
{
    MRS_ASSERT(f->gather.size > 0);
    return (uint8_t *)(uintptr_t)first - f->gather.size - sizeof(struct gathered);
}

/* ---- hash tables of their own: they compare bytes, and feed() prefetches slots ---- */
static struct fold_gather_slot *
slots_of(const struct mrsi_fold_gather *g)
{
    return (struct fold_gather_slot *)(void *)g->slots.p;
}

/* The slot of a shared record, or a free one for it; there always is one. */
static struct fold_gather_slot *
slot_of(const struct mrsi_fold_gather *g, struct mrs_view shared, uint32_t ref)
{
    MRS_ASSERT(g->n_shared_all < g->n_slots);
    struct fold_gather_slot *slot = slots_of(g);
    uint32_t at = ref & (g->n_slots - 1);
    while (slot[at].shared &&
           (slot[at].ref != ref || slot[at].n != shared.n || memcmp(slot[at].shared, shared.p, shared.n) != 0)) {
        at = (at + 1) & (g->n_slots - 1);
    }
    return &slot[at];
}

static enum mrs_status
room_for_shared(struct mrsi_fold_gather *g, struct mrs_err *e)
{
    uint32_t before = g->n_slots, n = before ? 2 * before : SLOTS;
    struct mrs_buf old = g->slots;
    if (g->n_shared_all < before / 2) {
        return MRS_OK;
    }
    mrs_buf_init(&g->slots, old.mem, SIZE_MAX);
    uint8_t *p = mrs_buf_take(&g->slots, n * sizeof(struct fold_gather_slot));
    enum mrs_status s = mrs_buf_status(&g->slots, e);
    if (p) {
        memset(p, 0, n * sizeof(struct fold_gather_slot));
        g->n_slots = n;
    }
    for (uint32_t i = 0; p && i < before; i++) {
        const struct fold_gather_slot *x = (const struct fold_gather_slot *)(const void *)old.p + i;
        if (x->shared) {
            *slot_of(g, (struct mrs_view){x->shared, x->n}, x->ref) = *x;
        }
    }
    mrs_buf_clear(&old);
    return s;
}

/* The slot of a group's key, or a free one for it; there always is one. */
static struct key_slot *
key_slot_of(const struct mrsi_fold_gather *g, struct mrs_view key, uint32_t ref)
{
    MRS_ASSERT(g->groups.n_groups < g->n_keys);
    struct key_slot *slot = (struct key_slot *)(void *)g->keys.p;
    uint32_t at = ref & (g->n_keys - 1);
    while (slot[at].group &&
           (slot[at].ref != ref || mrsi_fold_compare(group_at(g, slot[at].group - 1)->key, key) != 0)) {
        at = (at + 1) & (g->n_keys - 1);
    }
    return &slot[at];
}

static enum mrs_status
room_for_key(struct mrsi_fold_gather *g, struct mrs_err *e)
{
    uint32_t n = g->n_keys ? 2 * g->n_keys : SLOTS;
    if (g->groups.n_groups < g->n_keys / 2) {
        return MRS_OK;
    }
    mrs_buf_reset(&g->keys);
    uint8_t *p = mrs_buf_take(&g->keys, n * sizeof(struct key_slot));
    if (!p) {
        return mrs_buf_status(&g->keys, e);
    }
    memset(p, 0, n * sizeof(struct key_slot));
    g->n_keys = n;
    for (uint32_t i = 0; i < g->groups.n_groups; i++) {
        const struct mrsi_fold_group *x = group_at(g, i);
        *key_slot_of(g, x->key, x->ref) = (struct key_slot){x->ref, i + 1};
    }
    return MRS_OK;
}

/* Counts a new shared record or group; FAIL: too many, DEAD. After everything was read, a smaller share of memory (in a
 * resumed run) is no problem: groups grow no further. */
static enum mrs_status
take_room(struct mrsi_fold *f, size_t size, uint8_t **to, struct mrs_err *e)
{
    MRS_ASSERT(size > 0);
    struct mrsi_fold_gather *g = &f->gather;
    g->used_bytes += size + 4 * (sizeof(struct mrsi_fold_group) + sizeof(struct fold_gather_slot) +
                               sizeof(struct key_slot));
    bool too_much = g->used_bytes > f->en->memory / 2 && f->stage == MRSI_FOLD_GATHERS;
    if (too_much || g->n_shared_all == UINT32_MAX / 4) {
        return abandon(f, e);
    }
    *to = mrs_arena_alloc(&g->room, size);
    return *to ? MRS_OK : mrs_err_memory(e, size);
}

/* Adds a group whose first record is in its place; ref: a part of the hash of its key. There are slots for both. */
static enum mrs_status
enter_group(struct mrsi_fold *f, const struct mrsi_rec *first, uint32_t ref, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    struct mrs_view shared = {mrsi_rec_payload(first), first->payload_len};
    struct mrsi_fold_group group = {.first = first, .key = mrsi_fold_key(first), .ref = ref};
    mrs_buf_put(&g->groups.groups, &group, sizeof group);
    if (g->groups.groups.bad) {
        return mrs_err_memory(e, sizeof group);
    }
    g->groups.n_groups++;
    g->n_shared_all++;
    *key_slot_of(g, group.key, ref) = (struct key_slot){ref, g->groups.n_groups};
    *slot_of(g, shared, first->ref) = (struct fold_gather_slot){shared.p, gathered_of(f, first), shared.n, first->ref};
    return MRS_OK;
}

static enum mrs_status
new_group(struct mrsi_fold *f, struct mrs_view shared, uint32_t shared_ref, uint32_t ref, struct mrs_err *e)
{
    const struct mrsi_fold_gather *g = &f->gather;
    struct mrsi_rec_parts x = {g->key.p, NULL, shared.p};
    struct mrsi_rec rec = {.ref = shared_ref, .verify_len = (uint32_t)g->key.n, .payload_len = shared.n};
    struct gathered head = {0};
    uint8_t *p = NULL;
    rec.total = (uint32_t)((sizeof rec + rec.verify_len + rec.payload_len + 7) & ~(size_t)7);
    size_t size = sizeof head + g->size + rec.total;
    MRS_TRY(take_room(f, size, &p, e));
    uint8_t *first = p + size - rec.total;
    memcpy(p, &head, sizeof head);
    mrsi_rec_fill(first, &rec, &x);
    return enter_group(f, (const struct mrsi_rec *)(const void *)first, ref, e);
}

static uint32_t
key_ref(const struct mrsi_fold *f, struct mrs_view key)
{
    return (uint32_t)mrs_hash64(key.p, key.n, f->en->secret.seed);
}

/* Adds a new shared record: of a known group, or of a new one. */
static enum mrs_status
new_shared(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view shared, uint32_t ref, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    uint8_t *p = NULL;
    enum mrs_status s = mrsi_fold_group_key(f, w, shared, &g->key, e);
    if (s == MRS_SKIP) { /* the document is refused, which requires records */
        mrs_err_clear(&w->err);
        return abandon(f, e);
    }
    MRS_THEN(s, room_for_key(g, e));
    MRS_THEN(s, room_for_shared(g, e));
    if (s != MRS_OK) {
        return s;
    }
    struct mrs_view key = {g->key.p, (uint32_t)g->key.n};
    const struct key_slot *same = key_slot_of(g, key, key_ref(f, key));
    if (!same->group) {
        return new_group(f, shared, ref, key_ref(f, key), e);
    }
    MRS_TRY(take_room(f, shared.n + 1u, &p, e));
    mrs_copy_short(p, shared.p, shared.n);
    *slot_of(g, shared, ref) =
        (struct fold_gather_slot){p, gathered_of(f, group_at(g, same->group - 1)->first), shared.n, ref};
    g->n_shared_all++;
    return MRS_OK;
}

/* ---- feed ---- */
/* Prefetches what feed() will read. */
static void
prefetch(const struct mrsi_fold_gather *g, const struct mrsi_fold_input *const *b, uint32_t n)
{
    const struct fold_gather_slot *slot = slots_of(g);
    for (uint32_t i = 0; i < n; i++) {
        __builtin_prefetch(&slot[b[i]->ref & (g->n_slots - 1)]);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct fold_gather_slot *x = &slot[b[i]->ref & (g->n_slots - 1)];
        if (x->shared) {
            __builtin_prefetch(x->shared);
            for (size_t at = 0; at < g->size + sizeof(struct gathered); at += 64) {
                __builtin_prefetch(x->group + at, 1);
            }
        }
    }
}

static enum mrs_status
feed(struct mrsi_fold *f, struct mrsi_worker *w, void *work, const struct mrsi_fold_input *b, struct mrs_err *e)
{
    MRS_ASSERT(b->total >= sizeof *b + (size_t)b->shared + b->payload);
    struct mrs_view shared = {(const uint8_t *)(b + 1), b->shared}, payload = {shared.p + shared.n, b->payload};
    const struct fold_gather_slot *slot = slot_of(&f->gather, shared, b->ref);
    struct gathered head;
    if (!slot->shared) {
        MRS_TRY(new_shared(f, w, shared, b->ref, e));
        slot = slot_of(&f->gather, shared, b->ref);
    }
    uint8_t *p = slot->group;
    memcpy(&head, p, sizeof head);
    enum mrs_status s = f->ops->small_feed(f->st->state, &w->ctx, work, p + sizeof head, head.n == 0, payload);
    if (s == MRS_SKIP) {
        mrs_err_clear(&w->err);
        return abandon(f, e);
    }
    head.n++;
    memcpy(p, &head, sizeof head);
    return s == MRS_OK ? MRS_OK : mrsi_kernel_failed(w, s, e);
}

enum mrs_status
mrsi_fold_gather_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *inputs, struct mrs_err *e)
{
    MRS_ASSERT(f->gather.on);
    const struct mrsi_fold_input *b[AHEAD];
    void *work = mrsi_work_of(w, f->step, e);
    enum mrs_status s = work ? room_for_shared(&f->gather, e) : MRS_DEAD;
    for (size_t at = 0; s == MRS_OK && at < inputs->n;) {
        uint32_t n = 0;
        while (n < AHEAD && at < inputs->n) {
            b[n] = (const struct mrsi_fold_input *)(const void *)(inputs->p + at);
            at += b[n++]->total;
        }
        prefetch(&f->gather, b, n);
        for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
            s = feed(f, w, work, b[i], e);
        }
    }
    return s;
}

/* ---- output of groups ---- */
struct mrs_fold_small
mrsi_fold_small_at(const struct mrsi_fold *f, uint32_t i)
{
    MRS_ASSERT(f->gather.on);
    const struct mrsi_rec *first = mrsi_fold_group_at(&f->gather.groups, i)->first;
    const uint8_t *p = gathered_of(f, first);
    struct gathered head;
    memcpy(&head, p, sizeof head);
    return (struct mrs_fold_small){p + sizeof head, {mrsi_rec_payload(first), first->payload_len}, head.n};
}

static enum mrs_status
put_nowhere(void *arg, struct mrs_view doc, bool but_last, struct mrs_err *e)
{
    (void)arg;
    (void)doc;
    (void)but_last;
    (void)e;
    return MRS_OK;
}

/* Finds groups that cannot be written before any is written. */
enum mrs_status
mrsi_fold_gather_end(struct mrsi_fold *f, struct mrs_err *e)
{
    MRS_ASSERT(f->gather.on);
    struct mrsi_worker *w = &f->en->worker[0];
    struct mrs_fold_put put = {put_nowhere, NULL};
    void *work = mrsi_work_of(w, f->step, e);
    enum mrs_status s = work ? mrsi_fold_sort_groups(&f->gather.groups, e) : MRS_DEAD;
    for (uint32_t i = 0; s == MRS_OK && i < f->gather.groups.n_groups; i++) {
        struct mrs_fold_small x = mrsi_fold_small_at(f, i);
        mrs_arena_reset(&w->arena);
        mrs_err_clear(&w->err);
        s = f->ops->small_end(f->st->state, &w->ctx, work, &x, &put);
        if (s == MRS_SKIP) {
            mrs_err_clear(&w->err);
            return abandon(f, e);
        }
        s = s == MRS_OK ? s : mrsi_kernel_failed(w, s, e);
    }
    return s;
}

/* ---- savepoint: groups are saved contiguously, with their layout in memory ---- */
static enum mrs_status
put_groups(const struct mrsi_fold *f, struct mrsi_savepoint_file *out, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < f->gather.groups.n_groups; i++) {
        const struct mrsi_rec *first = group_at(&f->gather, i)->first;
        size_t before = sizeof(struct gathered) + f->gather.size;
        s = mrsi_savepoint_file_put(out, (const uint8_t *)first - before, before + first->total, e);
    }
    return s;
}

enum mrs_status
mrsi_fold_gather_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    struct mrsi_savepoint_file out;
    mrs_build_i64(b, "stateBytes", (int64_t)g->size);
    if (!g->image) {
        mrsi_savepoint_file_begin(&out, f->en);
        enum mrs_status s = mrsi_savepoint_file_end(&out, put_groups(f, &out, e), e);
        if (s != MRS_OK || f->stage == MRSI_FOLD_GATHERS) {
            return s == MRS_OK ? mrsi_savepoint_file_save(&out, "groups", b, files, e) : s;
        }
        g->image = out.temp;
        g->image_bytes = out.bytes;
    }
    mrsi_save_temp("groups", g->image, g->image_bytes, b, files);
    return MRS_OK;
}

struct back {
    struct mrsi_fold *f;
    struct mrs_buf rest; /* of the file: the incomplete group at the end */
};

/* Size of the group that begins at p, of which n bytes are available; 0: more are needed. */
static size_t
whole_group(const struct back *bk, const uint8_t *p, size_t n, bool *bad)
{
    size_t before = sizeof(struct gathered) + bk->f->gather.size;
    struct mrsi_rec r;
    if (n < before + sizeof r) {
        return 0;
    }
    memcpy(&r, p + before, sizeof r);
    *bad = r.total != (((uint64_t)sizeof r + r.verify_len + r.payload_len + 7) & ~(uint64_t)7) || r.sort_len;
    return *bad || n < before + r.total ? 0 : before + r.total;
}

static enum mrs_status
group_back(struct mrsi_fold *f, const uint8_t *p, size_t n, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    uint8_t *to = NULL;
    MRS_TRY(room_for_key(g, e));
    MRS_TRY(room_for_shared(g, e));
    MRS_TRY(take_room(f, n, &to, e));
    memcpy(to, p, n);
    const struct mrsi_rec *first = (const struct mrsi_rec *)(const void *)(to + sizeof(struct gathered) + g->size);
    return enter_group(f, first, key_ref(f, mrsi_fold_key(first)), e);
}

static enum mrs_status
take_back(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    struct back *bk = arg;
    size_t at = 0, one;
    bool bad = false;
    mrs_buf_put(&bk->rest, p, n);
    enum mrs_status s = mrs_buf_status(&bk->rest, e);
    while (s == MRS_OK && (one = whole_group(bk, bk->rest.p + at, bk->rest.n - at, &bad)) != 0) {
        s = group_back(bk->f, bk->rest.p + at, one, e);
        at += one;
    }
    bk->rest.n -= at;
    memmove(bk->rest.p, bk->rest.p + at, bk->rest.n);
    return s == MRS_OK && bad ? mrsi_state_damaged("groups", e) : s;
}

enum mrs_status
mrsi_fold_gather_load(struct mrsi_fold *f, struct mrs_view saved, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    struct back bk = {.f = f};
    struct mrsi_savepoint_items items = {f->en, 1, take_back, &bk};
    bool bad = false;
    if (mrsi_state_number(saved, "stateBytes", SIZE_MAX, &bad) != g->size || bad) {
        return mrsi_state_damaged("groups", e);
    }
    mrs_buf_init(&bk.rest, f->en->mem, SIZE_MAX);
    enum mrs_status s = mrsi_load_items(&items, saved, "groups", e);
    s = s == MRS_OK && bk.rest.n ? mrsi_state_damaged("groups", e) : s;
    mrs_buf_clear(&bk.rest);
    return s == MRS_OK && f->stage != MRSI_FOLD_GATHERS ? mrsi_fold_sort_groups(&g->groups, e) : s;
}
