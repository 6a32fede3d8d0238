/* SPDX-License-Identifier: Apache-2.0 */
/* fold_route.c - assigns groups to partitions: ranges of keys with equal shares of a sample of the first documents.
 *
 * If the sample is not typical, partitions have unequal sizes, nothing worse. More are added at the end, since keys
 * often rise with the input. A worker caches known keys, so most keys need no search. */
#include "fold.h"
#include "mongoreshape/fold_ops.h"
#include <stdlib.h>

enum { SAMPLE = 8192, RANGES = 1024, PART_MAX = 2 << 20 };
enum { SEEN_MIN = 1024, SEEN_MAX = 1 << 18, OFTEN = 16 };

struct mrsi_fold_cut {
    uint64_t prefix;
    size_t off; /* of its record */
};

int
mrsi_fold_compare(struct mrs_view a, struct mrs_view b)
{
    uint32_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : a.n < b.n ? -1 : a.n > b.n;
}

uint64_t
mrsi_fold_prefix(struct mrs_view key, size_t skip)
{
    uint64_t v = 0;
    if (key.n >= skip + 8) {
        memcpy(&v, key.p + skip, 8);
    } else if (key.n > skip) {
        memcpy(&v, key.p + skip, key.n - skip);
    }
    return __builtin_bswap64(v);
}

static const struct mrsi_rec *
rec_at(const struct mrs_buf *b, size_t off)
{
    MRS_ASSERT(off < b->n);
    return (const struct mrsi_rec *)(const void *)(b->p + off);
}

/* ---- choose ranges ---- */
static int
by_key(const void *pa, const void *pb, void *arg)
{
    const struct mrs_buf *recs = arg;
    size_t a, b;
    memcpy(&a, pa, sizeof a);
    memcpy(&b, pb, sizeof b);
    return mrsi_fold_compare(mrsi_fold_key(rec_at(recs, a)), mrsi_fold_key(rec_at(recs, b)));
}

/* The size of the sampled documents in partitions, without their shared records. */
static uint64_t
kept_bytes(const struct mrsi_fold *f)
{
    uint64_t n = 0;
    for (size_t at = 0; at < f->unrouted.n;) {
        const struct mrsi_rec *r = rec_at(&f->unrouted, at);
        n += mrsi_fold_room(sizeof(struct mrsi_fold_doc),
                            r->payload_len - r->ord + (r->sort_len == 9 ? 0 : r->sort_len));
        at += r->total;
    }
    return n;
}

/* Offsets of some sampled records, evenly spread, in key order. */
static enum mrs_status
take_sample(const struct mrsi_fold *f, struct mrs_buf *offs, struct mrs_err *e)
{
    size_t step = f->unrouted.n / SAMPLE, next = 0;
    for (size_t at = 0; at < f->unrouted.n; at += rec_at(&f->unrouted, at)->total) {
        if (at >= next) {
            mrs_buf_put(offs, &at, sizeof at);
            next += step;
        }
    }
    if (offs->n > sizeof(size_t) && !offs->bad) {
        qsort_r(offs->p, offs->n / sizeof(size_t), sizeof(size_t), by_key, (void *)(uintptr_t)&f->unrouted);
    }
    return mrs_buf_status(offs, e);
}

/* Keeps the offsets of records whose keys begin a range: the first record of each share, without duplicate keys. */
static void
choose_firsts(const struct mrsi_fold *f, struct mrs_buf *offs)
{
    size_t n = offs->n / sizeof(size_t), kept = 0, off, last = 0;
    for (size_t i = 1; n && i < RANGES; i++) {
        memcpy(&off, offs->p + n * i / RANGES * sizeof off, sizeof off);
        if (!kept || by_key(&last, &off, (void *)(uintptr_t)&f->unrouted) != 0) {
            memcpy(offs->p + kept * sizeof off, &off, sizeof off); /* never ahead of the unread ones */
            last = off;
            kept++;
        }
    }
    offs->n = kept * sizeof off;
}

static void
put_cut(struct mrsi_fold *f, struct mrs_view key)
{
    struct mrsi_rec head = {.verify_len = key.n};
    struct mrsi_fold_cut cut = {0, f->cuts.n};
    struct mrsi_rec_parts x = {key.p, NULL, NULL};
    head.total = (uint32_t)((sizeof head + key.n + 7) & ~(size_t)7);
    uint8_t *p = mrs_buf_take(&f->cuts, head.total);
    if (p) {
        mrsi_rec_fill(p, &head, &x);
    }
    mrs_buf_put(&f->cut_at, &cut, sizeof cut);
}

/* Comparisons skip the common prefix of all cuts; cuts are sorted, so the first and the last determine it. */
static void
find_common(struct mrsi_fold *f)
{
    struct mrsi_fold_cut *cut = (struct mrsi_fold_cut *)(void *)f->cut_at.p;
    size_t n = f->cut_at.n / sizeof *cut;
    if (!n) {
        return;
    }
    f->common = 0;
    struct mrs_view a = mrsi_fold_key(rec_at(&f->cuts, cut[0].off));
    struct mrs_view b = mrsi_fold_key(rec_at(&f->cuts, cut[n - 1].off));
    while (f->common < a.n && f->common < b.n && a.p[f->common] == b.p[f->common]) {
        f->common++;
    }
    for (size_t i = 0; i < n; i++) {
        cut[i].prefix = mrsi_fold_prefix(mrsi_fold_key(rec_at(&f->cuts, cut[i].off)), f->common);
    }
}

/* Reserves partitions after the last one; together they take as much memory as the others. */
static enum mrs_status
make_spare(struct mrsi_fold *f, uint64_t expected, struct mrs_err *e)
{
    const struct mrsi_engine *en = f->en;
    uint64_t spare = en->memory / 8 / en->jobs / f->spill.piece_bytes, usual = en->memory / 8 / en->jobs;
    spare = spare < 1 ? 1 : spare > RANGES ? RANGES : spare;
    usual = usual > PART_MAX ? PART_MAX : usual;
    f->enough = expected / spare > usual ? expected / spare : usual;
    return mrsi_spill_spare(&f->spill, (uint32_t)spare, e);
}

static enum mrs_status
cut_ranges(struct mrsi_fold *f, struct mrs_err *e)
{
    struct mrs_buf offs;
    size_t firsts, off;
    const struct mrsi_coll *c = &f->en->coll[f->en->side[f->step][0]];
    double grows = f->seen_bytes ? (double)mrsi_guess_bytes(f->en, c) / (double)f->seen_bytes : 1;
    uint64_t expected = (uint64_t)((double)kept_bytes(f) * (grows < 1 ? 1 : grows));
    mrs_buf_init(&offs, f->en->mem, SIZE_MAX);
    enum mrs_status s = take_sample(f, &offs, e);
    if (s == MRS_OK) {
        choose_firsts(f, &offs);
        firsts = offs.n / sizeof off;
        struct mrsi_spill_layout layout = mrsi_layout_fold(f->en->memory, f->en->jobs, firsts + 1, expected);
        s = mrsi_spill_init(&f->spill, f->en, firsts + 1, &layout, e);
    }
    for (uint32_t i = 1; s == MRS_OK && i < f->spill.n_part; i++) {
        memcpy(&off, offs.p + (f->spill.part[i].lo - 1) * sizeof off, sizeof off);
        put_cut(f, mrsi_fold_key(rec_at(&f->unrouted, off)));
    }
    mrs_buf_clear(&offs);
    if (s != MRS_OK || f->cuts.bad || f->cut_at.bad) {
        return s != MRS_OK ? s : mrs_err_memory(e, f->cuts.n);
    }
    find_common(f);
    return make_spare(f, expected, e);
}

static enum mrs_status
make_router(struct mrsi_fold *f, uint32_t worker, struct mrs_err *e)
{
    struct mrsi_fold_router *r = &f->router[worker];
    mrs_buf_init(&r->group, f->en->mem, MRS_KEY_MAX);
    mrs_buf_init(&r->shared, f->en->mem, 2u * MRSI_PAYLOAD_MAX);
    mrs_buf_init(&r->names, f->en->mem, SIZE_MAX);
    MRS_TRY(mrsi_spiller_init(&r->spiller, &f->spill, worker, e));
    r->slots = SEEN_MIN;
    r->open = mrs_zalloc(f->en->mem, ((size_t)f->spill.n_part + f->spill.spare) * sizeof *r->open);
    r->seen = mrs_zalloc(f->en->mem, r->slots * sizeof *r->seen);
    return r->open && r->seen ? MRS_OK : mrs_err_memory(e, r->slots * sizeof *r->seen);
}

static enum mrs_status
make_routers(struct mrsi_fold *f, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    f->router = mrs_zalloc(f->en->mem, f->en->jobs * sizeof *f->router);
    MRS_TRY(mrs_allocated(f->router, f->en->jobs * sizeof *f->router, e));
    pthread_rwlock_init(&f->cut_lock, NULL);
    for (uint32_t i = 0; s == MRS_OK && i < f->en->jobs; i++) {
        s = make_router(f, i, e);
    }
    return s;
}

enum mrs_status
mrsi_fold_route_begin(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_err *e)
{
    enum mrs_status s = cut_ranges(f, e);
    MRS_THEN(s, make_routers(f, e));
    MRS_THEN(s, mrsi_fold_route_all(f, w, &f->unrouted, e));
    mrs_buf_clear(&f->unrouted);
    if (s == MRS_OK) {
        atomic_store(&f->routed, true);
    }
    return s;
}

/* ---- route ---- */
/* Number of cuts that are not above the key: its partition. */
static uint32_t
search(const struct mrsi_fold *f, struct mrs_view key)
{
    const struct mrsi_fold_cut *cut = (const struct mrsi_fold_cut *)(const void *)f->cut_at.p;
    uint32_t lo = 0, hi = (uint32_t)(f->cut_at.n / sizeof *cut);
    if (!hi) {
        return 0;
    }
    struct mrs_view first = mrsi_fold_key(rec_at(&f->cuts, cut[0].off));
    bool same_prefix = key.n >= f->common && (!f->common || memcmp(key.p, first.p, f->common) == 0);
    uint64_t prefix = same_prefix ? mrsi_fold_prefix(key, f->common) : 0;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        bool behind = same_prefix && cut[mid].prefix != prefix
                          ? cut[mid].prefix > prefix
                          : mrsi_fold_compare(mrsi_fold_key(rec_at(&f->cuts, cut[mid].off)), key) > 0;
        if (behind) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

/* Handles a key above all others, when the last partition has reached its target size: it begins a new partition. So
 * keys that rise with the input, which no sample can predict, do not all go to one. */
static enum mrs_status
add_range(struct mrsi_fold *f, struct mrs_view key, uint32_t *part, struct mrs_err *e)
{
    struct mrs_view top = {f->top.p, (uint32_t)f->top.n};
    if (f->have_top && mrsi_fold_compare(key, top) <= 0) {
        return MRS_OK;
    }
    if (f->have_top && f->spill.spare && mrsi_spill_bytes(&f->spill, *part) >= f->enough) {
        put_cut(f, key);
        if (f->cuts.bad || f->cut_at.bad) {
            return mrs_err_memory(e, f->cuts.n);
        }
        find_common(f);
        mrsi_spill_add(&f->spill);
        ++*part;
    }
    f->have_top = true;
    mrs_buf_reset(&f->top);
    mrs_buf_put(&f->top, key.p, key.n);
    return mrs_buf_status(&f->top, e);
}

static enum mrs_status
find_part(struct mrsi_fold *f, struct mrs_view key, uint32_t *part, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    pthread_rwlock_rdlock(&f->cut_lock);
    *part = search(f, key);
    bool last = *part + 1 == f->spill.n_part;
    pthread_rwlock_unlock(&f->cut_lock);
    if (last) {
        pthread_rwlock_wrlock(&f->cut_lock);
        *part = search(f, key);
        s = *part + 1 == f->spill.n_part ? add_range(f, key, part, e) : MRS_OK;
        pthread_rwlock_unlock(&f->cut_lock);
    }
    return s;
}

/* Maximum size of a router's names before it is cleared. */
static uint64_t
names_most(const struct mrsi_fold *f)
{
    uint64_t most = f->en->memory / 64 / f->en->jobs;
    return most < UINT32_MAX / 2 ? most : UINT32_MAX / 2;
}

/* Clears the table: entries are then searched and cached again. It grows up to a limit; above the limit, and if its
 * shared records had so many documents each that this costs little, it starts over. Usually its entries are those of a
 * past hour, and a small table stays in the processor's cache. */
static enum mrs_status
more_room(struct mrsi_fold *f, struct mrsi_fold_router *r, struct mrs_err *e)
{
    uint64_t most = f->en->memory / 64 / f->en->jobs / sizeof *r->seen;
    bool often = r->n_kept / OFTEN >= r->n_seen || r->names.n > names_most(f);
    mrs_buf_reset(&r->names);
    r->n_seen = 0;
    r->n_kept = 0;
    if (!often && r->slots * 2ull <= most && r->slots < SEEN_MAX) {
        mrs_free(f->en->mem, r->seen);
        r->slots *= 2;
        r->seen = mrs_zalloc(f->en->mem, r->slots * sizeof *r->seen);
        return mrs_allocated(r->seen, r->slots * sizeof *r->seen, e);
    }
    memset(r->seen, 0, r->slots * sizeof *r->seen);
    return MRS_OK;
}

static inline uint32_t
first_slot(const struct mrsi_fold_router *r, uint64_t hash)
{
    MRS_ASSERT((r->slots & (r->slots - 1)) == 0);
    return (uint32_t)(hash >> 32) & (r->slots - 1);
}

/* The key of a cache entry: the group, if the name does not determine it, and the name. */
struct fold_route_name {
    struct mrs_view group, shared;
};

static inline uint64_t
size_of(const struct fold_route_name *x)
{
    return x->group.n | (uint64_t)x->shared.n << 32;
}

static inline bool
is_called(const struct mrsi_fold_router *r, const struct mrsi_fold_shared_cache *seen, const struct fold_route_name *x)
{
    const uint8_t *p = r->names.p + seen->bytes;
    return seen->size == size_of(x) && (!x->group.n || memcmp(p, x->group.p, x->group.n) == 0) &&
           (!x->shared.n || memcmp(p + x->group.n, x->shared.p, x->shared.n) == 0);
}

static enum mrs_status
put_name(struct mrsi_fold_router *r, const struct fold_route_name *x, uint32_t *at, struct mrs_err *e)
{
    *at = (uint32_t)r->names.n;
    mrs_buf_put(&r->names, x->group.p, x->group.n);
    mrs_buf_put(&r->names, x->shared.p, x->shared.n);
    return mrs_buf_status(&r->names, e);
}

/* Its slot, or a free one for it. Names are compared byte by byte, since two may have the same hash. */
static inline struct mrsi_fold_shared_cache *
find_seen(const struct mrsi_fold_router *r, uint64_t hash, const struct fold_route_name *x)
{
    MRS_ASSERT(r->n_seen < r->slots);
    uint32_t i = first_slot(r, hash);
    while (r->seen[i].hash && (r->seen[i].hash != hash || !is_called(r, &r->seen[i], x))) {
        i = (i + 1) & (r->slots - 1);
    }
    return &r->seen[i];
}

enum mrs_status
mrsi_fold_group_key(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view shared, struct mrs_buf *out,
                    struct mrs_err *e)
{
    MRS_ASSERT(f->ops->group);
    mrs_buf_reset(out);
    out->bad = 0;
    enum mrs_status s = f->ops->group(f->st->state, &w->ctx, mrsi_work_of(w, f->step, e), shared, out);
    if (s == MRS_OK && out->bad) {
        return out->bad == 1 ? mrs_buf_status(out, e)
                             : mrs_err_set(&w->err, MRS_SKIP, MRS_E_LIMIT, "a key of more than %u bytes", MRS_KEY_MAX);
    }
    return s < MRS_SKIP ? mrsi_kernel_failed(w, s, e) : s;
}

enum mrs_status
mrsi_fold_shared_record(struct mrsi_fold *f, struct mrsi_worker *w, struct mrs_view doc, struct mrs_view name,
                        struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(f->ops->shared);
    mrs_buf_reset(out);
    out->bad = 0;
    enum mrs_status s = f->ops->shared(f->st->state, &w->ctx, mrsi_work_of(w, f->step, e), doc, name, out);
    MRS_THEN(s, mrs_buf_status(out, e));
    return s < MRS_SKIP ? mrsi_kernel_failed(w, s, e) : s;
}

/* Computes shared record and group of a document if they are unknown. */
static enum mrs_status
complete(struct mrsi_fold *f, struct mrsi_worker *w, struct mrsi_fold_parts *x, struct mrs_err *e)
{
    struct mrsi_fold_router *r = &f->router[w->no];
    enum mrs_status s = MRS_OK;
    if (x->doc.p) {
        s = mrsi_fold_shared_record(f, w, x->doc, x->shared, &r->shared, e);
        x->shared = (struct mrs_view){r->shared.p, (uint32_t)r->shared.n};
    }
    if (s == MRS_OK && !x->group.p && f->ops->group) {
        s = mrsi_fold_group_key(f, w, x->shared, &r->group, e);
        x->group = (struct mrs_view){r->group.p, (uint32_t)r->group.n};
    }
    return s;
}

static inline uint64_t
hash_of(const struct mrsi_fold *f, const struct fold_route_name *x)
{
    uint64_t hash = f->en->secret.seed;
    if (!f->ops->group) {
        hash = mrs_hash64(x->group.p, x->group.n, hash);
    }
    if (x->shared.n) {
        hash = mrs_hash64(x->shared.p, x->shared.n, hash);
    }
    return hash | 1; /* 0 is a free slot */
}

enum mrs_status
mrsi_fold_route(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrsi_fold_parts *x, struct mrs_err *e)
{
    struct mrsi_fold_router *r = &f->router[w->no];
    const struct fold_route_name name = {f->ops->group ? (struct mrs_view){NULL, 0} : x->group, x->shared};
    bool full = r->n_seen >= r->slots / 2 || r->names.n > names_most(f);
    MRS_TRY(full ? more_room(f, r, e) : MRS_OK);
    uint64_t hash = hash_of(f, &name);
    struct mrsi_fold_shared_cache *seen = find_seen(r, hash, &name);
    r->n_kept++;
    if (seen->hash && mrsi_fold_keep(r, seen, x)) {
        return MRS_OK;
    }
    struct mrsi_fold_parts parts = *x;
    enum mrs_status s = complete(f, w, &parts, e);
    if (s != MRS_OK) {
        return s;
    }
    if (!seen->hash) {
        uint32_t part, bytes;
        s = find_part(f, parts.group, &part, e);
        MRS_THEN(s, put_name(r, &name, &bytes, e));
        if (s != MRS_OK) {
            return s;
        }
        *seen = (struct mrsi_fold_shared_cache){hash, size_of(&name), part, 0, 0, bytes};
        r->n_seen++;
    }
    uint32_t ref = (uint32_t)mrs_hash(parts.group.p, parts.group.n, f->en->secret.seed).lo;
    return mrsi_fold_keep_shared(r, seen, &parts, ref, e);
}

uint64_t
mrsi_fold_route_prefetch(const struct mrsi_fold *f, const struct mrsi_worker *w, struct mrs_view shared)
{
    const struct mrsi_fold_router *r = &f->router[w->no];
    uint64_t hash = hash_of(f, &(struct fold_route_name){{NULL, 0}, shared});
    __builtin_prefetch(&r->seen[first_slot(r, hash)]);
    return hash;
}

bool
mrsi_fold_route_fast(struct mrsi_fold *f, struct mrsi_worker *w, uint64_t shared,
                     const struct mrs_fold_fast *x, const uint8_t *doc, uint64_t ordinal)
{
    struct mrsi_fold_router *r = &f->router[w->no];
    const struct fold_route_name name = {{NULL, 0}, {x->shared->p, (uint32_t)x->shared->n}};
    struct mrsi_fold_shared_cache *seen = find_seen(r, shared, &name);
    bool kept = seen->hash && mrsi_fold_keep_fast(r, seen, x, doc, ordinal);
    r->n_kept += kept;
    return kept;
}

enum mrs_status
mrsi_fold_route_all(struct mrsi_fold *f, struct mrsi_worker *w, const struct mrs_buf *recs, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < recs->n;) {
        const struct mrsi_rec *r = rec_at(recs, at);
        const uint8_t *payload = mrsi_rec_payload(r);
        uint32_t shared = (uint32_t)r->ord;
        struct mrsi_fold_parts x = {.group = mrsi_fold_key(r), .order = {mrsi_rec_sort(r), r->sort_len},
                                    .payload = {payload + shared, r->payload_len - shared}, .shared = {payload, shared},
                                    .ordinal = r->order};
        s = mrsi_fold_route(f, w, &x, e);
        at += r->total;
    }
    return s;
}

enum mrs_status
mrsi_fold_route_end(struct mrsi_fold *f, struct mrs_err *e)
{
    enum mrs_status s = f->routed ? MRS_OK : mrsi_fold_route_begin(f, &f->en->worker[0], e);
    for (uint32_t i = 0; s == MRS_OK && i < f->en->jobs; i++) {
        s = mrsi_spiller_end(&f->router[i].spiller, e);
    }
    return s;
}

void
mrsi_fold_route_clear(struct mrsi_fold *f)
{
    for (uint32_t i = 0; f->router && i < f->en->jobs; i++) {
        mrsi_spiller_clear(&f->router[i].spiller);
        mrs_free(f->en->mem, f->router[i].open);
        mrs_free(f->en->mem, f->router[i].seen);
        mrs_buf_clear(&f->router[i].group);
        mrs_buf_clear(&f->router[i].shared);
        mrs_buf_clear(&f->router[i].names);
    }
    if (f->router) {
        pthread_rwlock_destroy(&f->cut_lock);
    }
    mrs_free(f->en->mem, f->router);
    f->router = NULL;
    f->routed = false;
    mrs_buf_clear(&f->top);
    mrs_buf_clear(&f->unrouted);
    mrs_buf_clear(&f->cuts);
    mrs_buf_clear(&f->cut_at);
    mrsi_spill_clear(&f->spill);
}

/* ---- savepoint ---- */
enum mrs_status
mrsi_fold_route_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_engine *en = f->en;
    mrs_build_bool(b, "routed", f->routed);
    mrs_build_i64(b, "seenBytes", (int64_t)f->seen_bytes);
    mrs_build_i64(b, "enough", (int64_t)f->enough);
    mrs_build_bool(b, "haveTop", f->have_top);
    enum mrs_status s = mrsi_save_bytes(en, "early", f->unrouted.p, f->unrouted.n, b, files, e);
    MRS_THEN(s, mrsi_save_bytes(en, "cuts", f->cuts.p, f->cuts.n, b, files, e));
    MRS_THEN(s, mrsi_save_bytes(en, "top", f->top.p, f->top.n, b, files, e));
    return s == MRS_OK && f->routed ? mrsi_spill_save(&f->spill, "records", b, files, e) : s;
}

/* Contiguous records, each as long as its parts. */
static bool
are_records(const struct mrs_buf *recs)
{
    size_t at = 0;
    while (at < recs->n && mrsi_rec_is_whole(recs->p + at, recs->n - at)) {
        const struct mrsi_rec *r = rec_at(recs, at);
        if (r->ord > r->payload_len) {
            return false;
        }
        at += r->total;
    }
    return at == recs->n;
}

static enum mrs_status
partitions_back(struct mrsi_fold *f, struct mrs_view saved, bool reads, struct mrs_err *e)
{
    for (size_t at = 0; at < f->cuts.n; at += rec_at(&f->cuts, at)->total) {
        struct mrsi_fold_cut cut = {0, at};
        mrs_buf_put(&f->cut_at, &cut, sizeof cut);
    }
    find_common(f);
    struct mrsi_spill_layout layout = mrsi_layout_fold(f->en->memory, f->en->jobs, 1, 0);
    enum mrs_status s = mrs_buf_status(&f->cut_at, e);
    MRS_THEN(s, mrsi_spill_init(&f->spill, f->en, 1, &layout, e));
    MRS_THEN(s, mrsi_spill_load(&f->spill, saved, "records", e));
    if (s == MRS_OK && f->spill.n_part != f->cut_at.n / sizeof(struct mrsi_fold_cut) + 1) {
        s = mrsi_state_damaged("the ranges of keys", e);
    }
    s = s == MRS_OK && reads ? make_routers(f, e) : s;
    f->routed = s == MRS_OK;
    return s;
}

enum mrs_status
mrsi_fold_route_load(struct mrsi_fold *f, struct mrs_view saved, bool reads, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_val routed = mrs_doc_get(saved, "routed"), top = mrs_doc_get(saved, "haveTop");
    f->seen_bytes = mrsi_state_number(saved, "seenBytes", INT64_MAX, &bad);
    f->enough = mrsi_state_number(saved, "enough", INT64_MAX, &bad);
    if (bad || routed.type != MRS_BOOL || top.type != MRS_BOOL || (!*routed.p && !reads)) {
        return mrsi_state_damaged("what was read", e);
    }
    f->have_top = *top.p;
    enum mrs_status s = mrsi_load_bytes(f->en, saved, "early", &f->unrouted, e);
    MRS_THEN(s, mrsi_load_bytes(f->en, saved, "cuts", &f->cuts, e));
    MRS_THEN(s, mrsi_load_bytes(f->en, saved, "top", &f->top, e));
    if (s == MRS_OK && (!are_records(&f->unrouted) || !are_records(&f->cuts))) {
        s = mrsi_state_damaged("what was read", e);
    }
    return s == MRS_OK && *routed.p ? partitions_back(f, saved, reads, e) : s;
}
