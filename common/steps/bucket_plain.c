/* bucket_plain.c - readings of plain plans: series and time are top-level fields, the item is the document less some
 * of them. One walk over the document finds and copies all that is wanted; what comes out is the same as of the
 * general way. */
#include "bucket.h"

/* ---- the plan ---- */
static bool
add(struct mrsi_bucket *s, const char *name, size_t len, uint32_t to)
{
    if (s->n_look == BUCKET_LOOKS) {
        return false;
    }
    s->look[s->n_look++] = (struct bucket_look){name, (uint32_t)len, to};
    return true;
}

static bool
add_bare(struct mrsi_bucket *s, const struct mrs_expr *x, uint32_t to)
{
    const char *bare = mrs_expr_bare_path(x);
    return bare && *bare && !strchr(bare, '.') && add(s, bare, strlen(bare), to);
}

/* The fields that the item goes without; false: it is not as simple as that. */
static bool
add_gone(struct mrsi_bucket *s)
{
    bool less = s->gone.n && !s->shape.fields.given, good = !s->shape.fields.given;
    const struct mrsi_paths *drop = less ? &s->rest.drop : &s->shape.drop;
    good = good && !(less && s->less) && !(less && s->shape.drop.n && !s->both) && (less || s->shape.drop_flat);
    for (uint32_t i = 0; good && i < drop->n; i++) {
        good = add(s, drop->path[i].part[0].name, drop->path[i].part[0].len, BUCKET_GONE);
    }
    s->some_gone = drop->n > 0;
    return good;
}

void
mrsi_bucket_plan_plain(struct mrsi_read *r, struct mrsi_bucket *s)
{
    const struct mrsi_fields *by = &s->by.fields;
    bool good = !s->by.nested;
    s->look = mrsi_read_alloc(r, BUCKET_LOOKS, sizeof *s->look);
    if (!s->look) {
        return;
    }
    for (uint32_t i = 0; good && i < by->n; i++) {
        good = add_bare(s, by->expr[i], i);
    }
    good = good && (!s->time || add_bare(s, s->time, by->n));
    s->plain = good && add_gone(s);
}

/* ---- a reading ---- */
/* What the field is to the plan: its value is taken where it is the first of its name. Whether it is left out. */
static inline bool
take(const struct mrsi_bucket *s, struct bucket_plain *x, const struct mrs_elem *e)
{
    bool gone = false;
    for (const struct bucket_look *k = s->look, *end = k + s->n_look; k < end; k++) {
        if (!mrs_name_is(e, k->name, k->len)) {
            continue;
        }
        if (k->to == BUCKET_GONE) {
            gone = true;
        } else if (!x->v[k->to].p) {
            x->v[k->to] = e->v;
        }
    }
    return gone;
}

void
mrsi_bucket_plain(const struct mrsi_bucket *s, struct mrs_view doc, struct bucket_plain *x, struct mrs_buf *out)
{
    struct mrs_walk w;
    struct mrs_elem e;
    const uint8_t *run = NULL;
    size_t at = mrsi_put_open(out);
    for (uint32_t i = 0; i <= s->by.fields.n; i++) {
        x->v[i] = mrs_missing();
    }
    x->gap = false;
    mrsi_seen_begin(&x->seen);
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &e) == 1;) {
        mrsi_seen_add(&x->seen, &e);
        if (!take(s, x, &e)) {
            run = run ? run : e.p;
            continue;
        }
        x->gap = true;
        if (run) {
            mrs_buf_put(out, run, (size_t)(e.p - run));
            run = NULL;
        }
    }
    if (run) {
        mrs_buf_put(out, run, (size_t)(w.end - run));
    }
    mrsi_put_close(out, at);
}
