/* fold_gather.c - groups that grow while documents are read, where what the step has to know of a group is small.
 *
 * Nothing is kept of a document but what its group has become: documents are fed in input order, when their job is
 * committed. Where groups outgrow their share of memory, or one of them fails, all is given up: `from` is read again
 * and its documents are kept as records, which know who belongs to a group that is refused. */
#include "fold.h"

/* A group: this, its state, and of its first record the key and what the step names it by. */
struct gathered {
    uint64_t n;
};

struct slot {
    uint64_t ref;
    const struct mrsi_rec *first; /* of the group; NULL: free */
};

enum { AHEAD = 16, SLOTS = 1024 };

static struct gathered *
gathered_of(const struct mrsi_fold *f, const struct mrsi_rec *first)
{
    uintptr_t p = (uintptr_t)first - f->gather.size - sizeof(struct gathered);
    return (struct gathered *)p;
}

void
mrsi_fold_gather_begin(struct mrsi_fold *f)
{
    struct mrsi_fold_gather *g = &f->gather;
    memset(g, 0, sizeof *g);
    mrs_arena_init(&g->room, f->en->mem);
    mrs_buf_init(&g->slots, f->en->mem, SIZE_MAX);
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
    mrsi_fold_load_clear(&g->groups);
    mrsi_temp_drop(f->en, g->image);
    g->image = NULL;
    g->on = false;
}

static enum mrs_status
give_up(struct mrsi_fold *f, struct mrs_err *e)
{
    f->gather.gave_up = true;
    return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "groups must be gathered as records");
}

static struct mrsi_fold_group *
group_at(const struct mrsi_fold_gather *g, uint32_t i)
{
    return &((struct mrsi_fold_group *)(void *)g->groups.groups.p)[i];
}

static enum mrs_status
more_slots(struct mrsi_fold_gather *g, struct mrs_err *e)
{
    size_t n = g->n_slots ? 2 * (size_t)g->n_slots : SLOTS;
    mrs_buf_reset(&g->slots);
    struct slot *slot = (struct slot *)(void *)mrs_buf_take(&g->slots, n * sizeof *slot);
    if (!slot) {
        return mrs_buf_status(&g->slots, e);
    }
    memset(slot, 0, n * sizeof *slot);
    g->n_slots = (uint32_t)n;
    for (uint32_t i = 0; i < g->groups.n_groups; i++) {
        uint32_t ref = group_at(g, i)->first->ref, at = ref & (g->n_slots - 1);
        while (slot[at].first) {
            at = (at + 1) & (g->n_slots - 1);
        }
        slot[at] = (struct slot){ref, group_at(g, i)->first};
    }
    return MRS_OK;
}

/* Room for one more group; NULL: e says why there is none. Once all was read, a smaller share of memory (that of a run
 * that goes on) does not matter any more: groups grow no further. */
static uint8_t *
room_of_group(struct mrsi_fold *f, size_t size, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    g->held += size + 4 * sizeof(struct mrsi_fold_group) + 4 * sizeof(struct slot);
    bool too_much = g->held > f->en->memory / 2 && f->stage == MRSI_FOLD_GATHERS;
    if (too_much || g->groups.n_groups == UINT32_MAX / 4) {
        give_up(f, e);
        return NULL;
    }
    uint8_t *p = mrs_arena_alloc(&g->room, size);
    if (!p) {
        mrs_err_memory(e, size);
    }
    return p;
}

static enum mrs_status
enter_group(struct mrsi_fold_gather *g, struct slot *slot, const struct mrsi_rec *first, struct mrs_err *e)
{
    struct mrsi_fold_group group = {.first = first, .key = mrsi_fold_key(first)};
    mrs_buf_put(&g->groups.groups, &group, sizeof group);
    if (g->groups.groups.bad) {
        return mrs_err_memory(e, sizeof group);
    }
    *slot = (struct slot){first->ref, first};
    g->groups.n_groups++;
    return MRS_OK;
}

static uint8_t *
new_group(struct mrsi_fold *f, struct slot *slot, const struct mrsi_rec *r, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    struct mrs_view shape = {mrsi_rec_shape(r), r->shape_len};
    struct mrsi_rec_parts x = {mrsi_rec_verify(r), NULL, shape.p};
    struct mrsi_rec rec = *r;
    rec.sort_len = 0;
    rec.shape_len = f->ops->small_name(f->st->state, shape);
    rec.total = (uint32_t)((sizeof rec + rec.verify_len + rec.shape_len + 7) & ~(size_t)7);
    size_t size = sizeof(struct gathered) + g->size + rec.total;
    uint8_t *p = room_of_group(f, size, e);
    if (!p) {
        return NULL;
    }
    struct gathered head = {0};
    uint8_t *first = p + size - rec.total;
    memcpy(p, &head, sizeof head);
    mrsi_rec_fill(first, &rec, &x);
    return enter_group(g, slot, (const struct mrsi_rec *)(const void *)first, e) == MRS_OK ? p : NULL;
}

/* The group of a record, made where there is none; NULL: e says why. */
static uint8_t *
find(struct mrsi_fold *f, const struct mrsi_rec *r, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    if (g->groups.n_groups >= g->n_slots / 2 && more_slots(g, e) != MRS_OK) {
        return NULL;
    }
    struct slot *slot = (struct slot *)(void *)g->slots.p;
    uint32_t at = r->ref & (g->n_slots - 1);
    for (; slot[at].first; at = (at + 1) & (g->n_slots - 1)) {
        const struct mrsi_rec *first = slot[at].first;
        if (slot[at].ref == r->ref && first->verify_len == r->verify_len &&
            memcmp(mrsi_rec_verify(first), mrsi_rec_verify(r), r->verify_len) == 0) {
            return (uint8_t *)gathered_of(f, first);
        }
    }
    return new_group(f, &slot[at], r, e);
}

/* Starts to load what find() and the feeding will look at. */
static void
look_ahead(struct mrsi_fold *f, const struct mrsi_rec *const *r, uint32_t n)
{
    const struct mrsi_fold_gather *g = &f->gather;
    const struct slot *slot = (const struct slot *)(const void *)g->slots.p;
    for (uint32_t i = 0; i < n && slot; i++) {
        __builtin_prefetch(&slot[r[i]->ref & (g->n_slots - 1)]);
    }
    for (uint32_t i = 0; i < n && slot; i++) {
        const uint8_t *first = (const uint8_t *)slot[r[i]->ref & (g->n_slots - 1)].first;
        if (first) {
            __builtin_prefetch(first);
            __builtin_prefetch(first + 64);
            for (size_t back = 64; back < g->size + 64; back += 64) {
                __builtin_prefetch(first - back, 1);
            }
        }
    }
}

static enum mrs_status
feed(struct mrsi_fold *f, struct mrsi_worker *w, void *work, const struct mrsi_rec *r, struct mrs_err *e)
{
    struct mrs_view shape = {mrsi_rec_shape(r), r->shape_len};
    struct gathered head;
    uint8_t *p = find(f, r, e);
    if (!p) {
        return e->code == MRS_E_MEMORY ? MRS_DEAD : MRS_FAIL;
    }
    memcpy(&head, p, sizeof head);
    enum mrs_status s = f->ops->small_feed(f->st->state, &w->ctx, work, p + sizeof head, head.n == 0, shape);
    if (s == MRS_SKIP) {
        mrs_err_clear(&w->err);
        return give_up(f, e);
    }
    head.n++;
    memcpy(p, &head, sizeof head);
    return s == MRS_OK ? MRS_OK : mrsi_kernel_failed(w, s, e);
}

enum mrs_status
mrsi_fold_gather_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *recs, struct mrs_err *e)
{
    const struct mrsi_rec *r[AHEAD];
    void *work = mrsi_work_of(w, f->step, e);
    enum mrs_status s = work ? MRS_OK : MRS_DEAD;
    for (size_t at = 0; s == MRS_OK && at < recs->n;) {
        uint32_t n = 0;
        while (n < AHEAD && at < recs->n) {
            r[n] = (const struct mrsi_rec *)(const void *)(recs->p + at);
            at += r[n++]->total;
        }
        look_ahead(f, r, n);
        for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
            s = feed(f, w, work, r[i], e);
        }
    }
    return s;
}

/* ---- the documents of groups ---- */
struct mrs_fold_small
mrsi_fold_small_at(const struct mrsi_fold *f, uint32_t i)
{
    const struct mrsi_rec *first = mrsi_fold_group_at(&f->gather.groups, i)->first;
    const uint8_t *p = (const uint8_t *)gathered_of(f, first);
    struct gathered head;
    memcpy(&head, p, sizeof head);
    return (struct mrs_fold_small){p + sizeof head, {mrsi_rec_shape(first), first->shape_len}, head.n};
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

/* A group that cannot be written is found out before anything is. */
enum mrs_status
mrsi_fold_gather_end(struct mrsi_fold *f, struct mrs_err *e)
{
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
            return give_up(f, e);
        }
        s = s == MRS_OK ? s : mrsi_kernel_failed(w, s, e);
    }
    return s;
}

/* ---- in a mark: groups one behind the other, as they lie in memory ---- */
static enum mrs_status
put_groups(const struct mrsi_fold *f, struct mrsi_mark_file *out, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < f->gather.groups.n_groups; i++) {
        const struct mrsi_rec *first = group_at(&f->gather, i)->first;
        size_t before = sizeof(struct gathered) + f->gather.size;
        s = mrsi_mark_file_put(out, (const uint8_t *)first - before, before + first->total, e);
    }
    return s;
}

enum mrs_status
mrsi_fold_gather_describe(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    struct mrsi_mark_file out;
    mrs_build_i64(b, "stateBytes", (int64_t)g->size);
    if (!g->image) {
        mrsi_mark_file_begin(&out, f->en);
        enum mrs_status s = mrsi_mark_file_end(&out, put_groups(f, &out, e), e);
        if (s != MRS_OK || f->stage == MRSI_FOLD_GATHERS) {
            return s == MRS_OK ? mrsi_mark_file_describe(&out, "groups", b, files, e) : s;
        }
        g->image = out.temp;
        g->image_bytes = out.bytes;
    }
    mrsi_mark_temp("groups", g->image, g->image_bytes, b, files);
    return MRS_OK;
}

struct back {
    struct mrsi_fold *f;
    struct mrs_buf rest; /* of the file: what is no whole group yet */
};

/* Bytes of the group that begins at p, of which n are there; 0: more are needed. */
static size_t
whole_group(const struct back *bk, const uint8_t *p, size_t n, bool *bad)
{
    size_t before = sizeof(struct gathered) + bk->f->gather.size;
    struct mrsi_rec r;
    if (n < before + sizeof r) {
        return 0;
    }
    memcpy(&r, p + before, sizeof r);
    *bad = r.total != (((uint64_t)sizeof r + r.verify_len + r.shape_len + 7) & ~(uint64_t)7) || r.sort_len;
    return *bad || n < before + r.total ? 0 : before + r.total;
}

static enum mrs_status
group_back(struct mrsi_fold *f, const uint8_t *p, size_t n, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    if (g->groups.n_groups >= g->n_slots / 2 && more_slots(g, e) != MRS_OK) {
        return MRS_DEAD;
    }
    uint8_t *to = room_of_group(f, n, e);
    if (!to) {
        return e->code == MRS_E_MEMORY ? MRS_DEAD : MRS_FAIL;
    }
    memcpy(to, p, n);
    const struct mrsi_rec *first = (const struct mrsi_rec *)(const void *)(to + sizeof(struct gathered) + g->size);
    struct slot *slot = (struct slot *)(void *)g->slots.p;
    uint32_t at = first->ref & (g->n_slots - 1);
    while (slot[at].first) {
        at = (at + 1) & (g->n_slots - 1);
    }
    return enter_group(g, &slot[at], first, e);
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
mrsi_fold_gather_apply(struct mrsi_fold *f, struct mrs_view mark, struct mrs_err *e)
{
    struct mrsi_fold_gather *g = &f->gather;
    struct back bk = {.f = f};
    struct mrsi_mark_items items = {f->en, 1, take_back, &bk};
    bool bad = false;
    if (mrsi_state_number(mark, "stateBytes", SIZE_MAX, &bad) != g->size || bad) {
        return mrsi_state_damaged("groups", e);
    }
    mrs_buf_init(&bk.rest, f->en->mem, SIZE_MAX);
    enum mrs_status s = mrsi_mark_items_back(&items, mark, "groups", e);
    s = s == MRS_OK && bk.rest.n ? mrsi_state_damaged("groups", e) : s;
    mrs_buf_clear(&bk.rest);
    return s == MRS_OK && f->stage != MRSI_FOLD_GATHERS ? mrsi_fold_sort_groups(&g->groups, e) : s;
}
