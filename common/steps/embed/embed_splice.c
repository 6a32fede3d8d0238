/* SPDX-License-Identifier: Apache-2.0 */
/* embed_splice.c - writes a parent and its matches as one document, if all matches go to one path.
 *
 * Fast path (top-level names, no policy to apply): one pass that writes the parent's bytes, the header of an array,
 * each match with its index, and the lengths. General code: count, decide how many matches stay, build the value once,
 * and let an edit write it at the path. If the parent becomes too large, it loses as many items as its policy allows;
 * the rest goes to pages or is cut. Places with matches of their own are in embed_shared.c. */
#include "embed.h"
#include "mongoreshape/join_ops.h"

/* ---- fast path ---- */
struct embed_splice_head {
    bool as, count; /* these fields exist already */
};

static enum mrs_status
tpl(struct mrs_ctx *c, const struct mrsi_embed *s, struct mrs_view d, struct embed_splice_head *h)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrsi_name_set seen;
    struct mrs_walk w;
    struct mrs_elem e;
    const struct mrs_part *as = s->as.part, *count = s->count.part;
    *h = (struct embed_splice_head){false, false};
    mrsi_name_set_begin(&seen);
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) == 1) {
        mrsi_name_set_add(&seen, &e);
        h->as = h->as || mrs_name_is(&e, as->name, as->len);
        h->count = h->count || (count && mrs_name_is(&e, count->name, count->len));
    }
    return mrsi_name_set_check(&seen, c, d);
}

/* Writes the parent with all its matches. */
static enum mrs_status
too_many(struct embed_splice *x)
{
    const struct mrsi_embed *s = x->s;
    struct mrs_match m;
    uint64_t bytes = 0;
    enum mrs_status st = mrsi_embed_rewind(x);
    while (st == MRS_OK && (st = mrsi_embed_next(x, &m)) == MRS_OK) {
        bytes += s->limited && x->at > s->limit ? 0 : m.payload.n;
    }
    return st != MRS_END ? st : mrsi_step_too_large_with(x->c, "oversize", "the document would pass 16 MiB", x->doc,
                                                         s->as.text, bytes);
}

static enum mrs_status
all_items(struct embed_splice *x, size_t start, struct mrs_buf *out)
{
    MRS_ASSERT(start <= out->n);
    const struct mrsi_embed *s = x->s;
    uint64_t limit = s->limited ? s->limit : UINT64_MAX;
    struct mrsi_shape_items it;
    struct mrs_match m;
    enum mrs_status st;
    mrsi_items_open(&it, out);
    while ((st = mrsi_embed_next(x, &m)) == MRS_OK) {
        if (x->at > limit) {
            mrsi_embed_used(x, MRS_USED_CUT);
            continue;
        }
        if ((st = mrsi_embed_taken(x, &m)) != MRS_OK) {
            return st;
        }
        if (out->n - start + m.payload.n > MRS_DOC_MAX) {
            return too_many(x);
        }
        mrsi_items_add(&it, mrs_view_val(m.payload));
    }
    mrsi_items_close(&it);
    return st == MRS_END ? MRS_OK : st;
}

static enum mrs_status
finish(struct embed_splice *x, size_t start, struct mrs_buf *out)
{
    if (!out->bad && out->n - start > MRS_DOC_MAX) {
        return mrsi_step_too_large(x->c, "oversize", "the document would pass 16 MiB", out, start);
    }
    return mrsi_buf_end(out, start, x->c, "oversize");
}

/* Does a parent without matches stay unchanged? */
static bool
nothing_due(const struct embed_splice *x)
{
    return !x->n && x->s->empty == EMBED_EMPTY_ABSENT && !x->s->count.n;
}

static enum mrs_status
quick(struct embed_splice *x, struct mrs_buf *out)
{
    const struct mrsi_embed *s = x->s;
    size_t start = out->n;
    bool write = x->n || s->empty == EMBED_EMPTY_ARRAY;
    mrs_buf_put(out, x->doc.p, x->doc.n - 1);
    if (write) {
        mrsi_put_head(out, MRS_ARRAY, s->as.part[0].name, s->as.part[0].len);
        MRS_TRY(all_items(x, start, out));
    }
    if (s->count.n) {
        uint8_t room[16];
        mrsi_put_elem(out, s->count.part[0].name, s->count.part[0].len, mrs_make_count(room, x->n));
    }
    mrsi_put_close(out, start);
    return finish(x, start, out);
}

/* ---- general code: one value for every place of `as` ---- */
struct places {
    struct embed_splice *x;
    struct mrs_val value;       /* for `as`; missing: nothing is written */
    bool flag;                  /* write the flag */
    uint32_t n_as;              /* number of places of `as` that were written */
    bool blocked[3], silent[3]; /* by path number; silent: nothing is written there */
    struct mrsi_existing existing;
    uint8_t room[16];
};

static const char *
key_of(const struct mrsi_embed *s, uint32_t no)
{
    return no == 0 ? "as" : no == s->no_count ? "count" : "overflow";
}

static enum mrs_status
place(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
      struct mrs_buf *raw,
      struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct places *p = arg;
    const struct mrsi_embed *s = p->x->s;
    uint32_t no = site->path_no;
    bool due = no == 0 ? p->value.type != MRS_MISSING : no != s->no_flag || p->flag;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (p->silent[no]) {
        return MRS_OK;
    }
    if (!due) {
        if (no == s->no_flag && s->replace && !site->blocked) {
            *verdict = MRS_EDIT_REMOVE; /* an old value */
        }
        return MRS_OK;
    }
    if (site->blocked) {
        p->blocked[no] = true;
        if (s->errors == MRSI_ERRORS_REFUSE) {
            return mrsi_step_blocked(p->x->c, key_of(s, no), site,
                                     no == 0             ? s->as.text
                                     : no == s->no_count ? s->count.text
                                                         : NULL);
        }
        mrsi_step_eased_blocked(p->x->c);
        return MRS_OK;
    }
    if (site->old.type != MRS_MISSING && !s->replace) {
        mrsi_existing_add(&p->existing, site, key_of(s, no));
        return MRS_OK;
    }
    *verdict = MRS_EDIT_PUT;
    *put = no == 0 ? p->value : no == s->no_count ? mrs_make_count(p->room, p->x->n) : mrs_make_bool(p->room, true);
    p->n_as += no == 0;
    mrsi_embed_replaces(p->x, site->old, no != 0 || p->x->n);
    return MRS_OK;
}

/* Writes the parent; repeats without the blocked path if a write was blocked. */
static enum mrs_status
write_places(struct places *p, struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct embed_splice *x = p->x;
    size_t start = out->n;
    for (;;) {
        struct mrs_edit_run run = {.fn = place, .arg = p, .visit_missing = true, .raw = &x->w->raw};
        bool changed, again = false;
        p->n_as = 0;
        p->existing = (struct mrsi_existing){0};
        enum mrs_status st = mrs_edit_run(x->s->edit, &run, doc, out, &changed, x->c->err);
        for (int i = 0; i < 3; i++) {
            again = again || (p->blocked[i] && !p->silent[i]);
            p->silent[i] = p->silent[i] || p->blocked[i];
        }
        p->flag = p->flag && !p->silent[0]; /* blocked matches stay in `from` and need no pages */
        if (!again || (st != MRS_OK && st != MRS_FAIL)) {
            st = mrsi_step_existing(x->c, st, "as", &p->existing);
            if (st != MRS_OK) {
                return st;
            }
            break;
        }
        mrs_err_clear(x->c->err);
        out->n = start;
    }
    if (p->value.type != MRS_MISSING && !p->silent[0] && !p->n_as) {
        return mrsi_step_refuse(x->c, "as", "an array on the way is empty: there is no place for the result");
    }
    return MRS_OK;
}

/* The first `take` matches as an array of at most `most` bytes; *take: number of matches in it. */
static enum mrs_status
build(struct embed_splice *x, uint64_t *take, size_t most, struct mrs_val *value)
{
    MRS_ASSERT(most <= UINT32_MAX);
    struct mrs_buf *b = &x->w->value;
    struct mrsi_shape_items it;
    struct mrs_match m;
    enum mrs_status st = mrsi_embed_rewind(x);
    mrs_buf_reset(b);
    mrsi_items_open(&it, b);
    while (st == MRS_OK && x->at < *take && (st = mrsi_embed_next(x, &m)) == MRS_OK &&
           (st = mrsi_embed_taken(x, &m)) == MRS_OK) {
        if (b->n + it.name_len + 3 + m.payload.n > most) {
            x->at--;
            break;
        }
        mrsi_items_add(&it, mrs_view_val(m.payload));
    }
    if (st != MRS_OK && st != MRS_END) {
        return st;
    }
    *take = x->at;
    mrsi_items_close(&it);
    *value = mrsi_items_val(&it);
    return mrsi_buf_end(b, 0, x->c, "oversize");
}

/* `one`: the only match, or the one chosen by the policy; *chosen: its number from 1. */
static enum mrs_status
choose(struct embed_splice *x, uint64_t take, uint64_t *chosen, struct mrs_val *value)
{
    MRS_ASSERT(take <= x->n);
    const struct mrsi_embed *s = x->s;
    struct mrs_match m;
    if (take > 1 && s->many == MRSI_MANY_REFUSE) {
        return mrsi_step_refuse(x->c, "many", "%llu documents match where one is meant", (unsigned long long)take);
    }
    *chosen = s->many == MRSI_MANY_LAST ? take : 1;
    enum mrs_status st = mrsi_embed_rewind(x);
    while (st == MRS_OK && x->at < *chosen) {
        st = mrsi_embed_next(x, &m);
    }
    MRS_THEN(st, mrsi_embed_taken(x, &m));
    if (st != MRS_OK) {
        return st;
    }
    mrs_buf_reset(&x->w->value);
    mrs_buf_put(&x->w->value, m.payload.p, m.payload.n);
    *value = mrs_view_val(mrsi_buf_view(&x->w->value, 0));
    return mrsi_buf_end(&x->w->value, 0, x->c, "oversize");
}

/* Reports each match: 1 to take are in the parent (with `one`: only chosen), the rest was cut; if the path was blocked,
 * all of them stay. */
static enum mrs_status
report_uses(struct embed_splice *x, uint64_t take, uint64_t chosen, bool blocked)
{
    MRS_ASSERT(chosen <= take);
    struct mrs_match m;
    enum mrs_status st = mrsi_embed_rewind(x);
    while (st == MRS_OK && (st = mrsi_embed_next(x, &m)) == MRS_OK) {
        if (blocked || (chosen && x->at <= take && x->at != chosen)) {
            mrsi_embed_used(x, MRS_USED_LEFT);
        } else if (x->at > take) {
            mrsi_embed_used(x, MRS_USED_CUT);
        }
    }
    return st == MRS_END ? MRS_OK : st;
}

/* The array, as long as the policy allows; *take: number of matches in the parent. */
static enum mrs_status
fit(struct places *p, struct mrs_view doc, uint64_t *take, struct mrs_buf *out)
{
    MRS_ASSERT(*take <= p->x->n);
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct embed_splice *x = p->x;
    const struct mrsi_embed *s = x->s;
    size_t start = out->n, most = MRS_DOC_MAX;
    for (;;) {
        uint64_t requested = *take;
        enum mrs_status st = MRS_OK;
        if (x->n) {
            st = build(x, take, most, &p->value);
        }
        if (st == MRS_OK && *take < requested && !s->oversize_overflow) {
            st = too_many(x);
        }
        p->flag = s->overflow.present && *take < x->n;
        MRS_THEN(st, write_places(p, doc, out));
        if (st != MRS_OK) {
            return st;
        }
        size_t n = out->n - start;
        if (n <= MRS_DOC_MAX) {
            return mrsi_buf_end(out, start, x->c, "oversize");
        }
        if (!s->oversize_overflow || !*take || p->silent[0] || !p->n_as) {
            return mrsi_step_too_large(x->c, "oversize", "the document would pass 16 MiB", out, start);
        }
        size_t excess = (n - MRS_DOC_MAX + p->n_as - 1) / p->n_as;
        most = excess < p->value.n ? p->value.n - excess : 0;
        *take -= most == 0 ? *take : 0;
        out->n = start;
    }
}

static enum mrs_status
lengthy(struct embed_splice *x, struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_embed *s = x->s;
    struct places p = {.x = x};
    uint64_t take = s->limited && s->limit < x->n ? s->limit : x->n, chosen = 0;
    enum mrs_status st = MRS_OK;
    if (s->one && take) {
        st = choose(x, take, &chosen, &p.value);
    } else if (s->one) {
        p.value = s->empty == EMBED_EMPTY_NULL ? mrs_null() : mrs_missing();
    } else if (!x->n && s->empty == EMBED_EMPTY_ARRAY) {
        p.value = (struct mrs_val){mrs_empty_bytes, 5, MRS_ARRAY};
    }
    if (st != MRS_OK) {
        return st;
    }
    size_t start = out->n;
    if (s->one) {
        st = write_places(&p, doc, out);
        MRS_THEN(st, finish(x, start, out));
    } else {
        st = fit(&p, doc, &take, out);
    }
    if (st != MRS_OK) {
        return st;
    }
    if (p.flag) {
        return mrsi_embed_pages(x, take);
    }
    return x->n && (p.silent[0] || take < x->n || chosen) ? report_uses(x, take, chosen, p.silent[0]) : MRS_OK;
}

/* ---- kernel ---- */
static enum mrs_status
one_path(struct embed_splice *x, struct mrs_buf *out)
{
    const struct mrsi_embed *s = x->s;
    struct embed_splice_head h = {false, false};
    struct mrs_view doc = x->doc;
    x->doubles = s->join.refs && !s->join.single && x->m->n_refs > 1;
    mrs_number_table_forget(&x->w->seen);
    enum mrs_status st = mrsi_embed_tally(x);
    if (st == MRS_OK && s->hot && nothing_due(x)) {
        mrs_buf_put(out, doc.p, doc.n);
        return mrsi_buf_end(out, out->n, x->c, NULL);
    }
    if (st == MRS_OK && s->hot) {
        st = tpl(x->c, s, doc, &h);
        if (st == MRS_OK && !h.as && !h.count) {
            return quick(x, out);
        }
    }
    if (st == MRS_OK && s->join.into_points && s->dangling != MRSI_DANGLING_KEEP) {
        st = mrsi_refs_find(&s->join, x->c, doc, EMBED_NONE, &x->w->refs);
        MRS_THEN(st, mrsi_embed_dangling(x, &doc));
    }
    return st == MRS_OK ? lengthy(x, doc, out) : st;
}

enum mrs_status
mrsi_embed_splice(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_matches *m,
                  const struct mrs_put *put, struct mrs_buf *out, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct mrsi_embed *s = state;
    struct embed_splice x = {.s = s, .c = c, .w = work, .doc = doc, .m = m, .put = put};
    size_t start = out->n;
    mrsi_embed_work_start(work, c->mem);
    enum mrs_status st = s->shared ? mrsi_embed_shared(&x, out) : one_path(&x, out);
    return mrsi_step_end(st, doc, out, start, fate);
}
