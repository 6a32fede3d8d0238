/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.h - the parts of the bucket step among themselves. */
#ifndef MRSI_BUCKET_H
#define MRSI_BUCKET_H

#include "steps/kit/group_by.h"
#include "steps/kit/shape.h"
#include "mongoreshape/fold_ops.h"

#define BUCKET_BUF_MAX (4u * MRS_DOC_READ_MAX) /* of what is put together for one bucket; more cannot fit anyway */
#define BUCKET_FAILED 0xFE /* in a member, in place of a type: an accumulator's argument failed, a text says why */

enum bucket_untimed { BUCKET_UNTIMED_REFUSE, BUCKET_UNTIMED_KEEP };
enum bucket_keep { BUCKET_KEEP_NONE, BUCKET_KEEP_ALL };

/* An entry of `set`: an accumulator over the readings, or an expression on the bucket. */
struct bucket_set {
    struct mrs_path path;
    struct mrs_expr *expr;
    struct mrs_acc *acc;   /* NULL: an expression */
    struct mrs_edit *edit; /* of a dotted name; NULL */
    const char *where;     /* set.NAME, for refusals */
};

/* A top-level field that a plain plan looks for: its value, or to leave it out of the item, or both. */
struct bucket_template {
    const char *name;
    uint32_t len;
    bool gone;
};
enum { BUCKET_TEMPLATES = 16, BUCKET_LAYOUT = MRS_EVAL_FIELDS_MAX };

struct mrsi_bucket {
    struct mrsi_owned keeper;
    struct mrs_coll from, into;
    struct mrs_query *where;
    struct mrsi_shape by;     /* a map in any case: the fields of the bucket that name its series */
    struct mrsi_paths gone;   /* what the default item leaves out: fields that are in `by` as they are */
    struct mrsi_shape rest;   /* the same as a shape, where all are top-level fields; both: with those of `drop` */
    bool both;
    struct mrs_edit *less;    /* the same as an edit, where some are not */
    struct mrsi_shape shape;  /* `fields` and `drop` */
    struct mrs_expr *time;    /* NULL: input order */
    const char *time_path;    /* its text where it is a path; NULL */
    struct mrs_windows *every;
    uint64_t max;             /* UINT64_MAX: no limit */
    const char *items, *start, *end;
    struct bucket_set *set;
    uint32_t n_set;
    bool has_exprs;           /* some value of a bucket is made of the bucket itself */
    bool timed;               /* a bucket holds times of its readings as they are */
    bool tail;                /* behind the item is more in a shape */
    bool plain;               /* series, time and item are top-level fields as they are: */
    struct bucket_template *tpl; /* no name twice */
    uint32_t n_template;
    uint32_t *value;          /* which of them is each `by` field, and the time */
    struct mrs_expr *id;
    int untimed, keep, conflicts, errors;
    bool indexes;
};

struct bucket_span { /* of a document: a value */
    uint16_t at, n;
    uint8_t type;
};
/* What fold reads of a shared record: of the item the types and names (with a plain plan), the `by` fields, the start
 * of the window (with `every`). */
struct bucket_shared {
    struct mrs_view by;
    struct mrs_view heads; /* each behind its length */
    uint32_t n_heads;
    int64_t start;
};
/* A member of a group as fold reads it. Its shape: the item or its values, the time (where it is timed) and the
 * argument of each accumulator. */
struct bucket_reading {
    const struct bucket_shared *shared;
    struct mrs_view item;  /* packed: the values alone */
    bool packed;
    uint32_t item_size;    /* of the item as a document */
    struct mrs_val time;
    const uint8_t *args;
    size_t n_args;
};
/* Items whose values are of fixed size, put together from one another: the item, and where its values are. */
enum { BUCKET_CHUNK = 32 }; /* an item is laid down in such pieces, so there is room for one more behind it */
struct bucket_place { /* of a value: in an item, among the values */
    uint16_t to, from;
};
struct bucket_item_template {
    struct mrs_buf heads; /* of which it was made */
    uint32_t size;        /* of an item; 0: they have no fixed size */
    uint32_t n_eight, n_other;
    struct bucket_place eight[BUCKET_LAYOUT]; /* values of eight bytes, as most have */
    struct bucket_place other[BUCKET_LAYOUT];
    uint8_t size_of_other[BUCKET_LAYOUT];
    uint8_t bytes[MRS_TEMPLATE_MAX + BUCKET_CHUNK];
};

/* A field as documents have had it: its name with the NUL, the first eight bytes of that as a number. */
struct bucket_field {
    uint64_t first, mask;
    const uint8_t *name;
    uint32_t size;
    uint32_t tpl;  /* what it is to the plan; n_template: nothing */
    bool gone;
};
/* Where a plain plan finds what it takes of a document of one template. */
struct bucket_known {
    uint64_t tpl;       /* its number; 0: no look is known */
    bool dated;         /* such a document has a date as its time, and no more is wanted of it than this: */
    uint32_t n_values, n_by;
    uint32_t by_bytes, value_bytes;
    uint32_t date_at;   /* where among the values of the item the time is; MRS_FOLD_ELSEWHERE: it is not */
    struct bucket_span found[BUCKET_TEMPLATES]; /* what was looked for */
    struct mrs_fold_span value[BUCKET_LAYOUT]; /* of the item */
    struct bucket_span by[BUCKET_TEMPLATES]; /* bytes by which series differ whose readings look alike */
    struct mrs_buf heads;                    /* of such a document; nothing: they were not asked for */
};
/* What a plain plan takes of a document, and what it knows of documents. */
struct bucket_plain {
    struct mrs_val v[BUCKET_TEMPLATES + 2]; /* what was looked for; missing where there is none */
    bool named;           /* the name tells the series, too */
    bool gap;             /* a field was left out of the item, and seen has yet to be examined */
    struct mrsi_name_set seen;
    struct bucket_field field[BUCKET_LAYOUT];
    uint32_t n;
    uint64_t same;             /* `names` of the fields that were compared last; 0: unknown */
    uint8_t at[BUCKET_LAYOUT]; /* which of `field` each of them was */
    uint32_t misses;  /* documents with other names */
    uint64_t learned; /* how often names were kept */
    struct mrs_buf names;
    struct bucket_known known;
};
struct bucket_work {
    bool ready;
    struct mrs_acc_shared shared; /* of the accumulators */
    struct mrs_buf rest;         /* enter: an item on its way */
    struct bucket_plain plain;
    int64_t start;               /* enter: of the window */
    int64_t from, to;            /* a window that was met, where all dates from the one to the other lie in it */
    struct mrs_buf items;        /* fold: the array of the bucket */
    struct mrs_buf head;         /* the elements in front of it that do not change */
    struct mrs_buf last;         /* the last time, type byte first */
    struct mrs_buf doc, other;   /* the bucket */
    struct mrs_buf saved;        /* accumulators as they were before the last reading */
    struct mrs_buf raw;          /* scratch */
    struct bucket_item_template tpl; /* fold: of items */
    struct mrs_arena arena;      /* of one template at a bucket */
    struct mrs_acc_state **acc;  /* one an entry of `set`, NULL for expressions */
    bool *failed;                /* one an entry: it failed for this bucket */
    uint32_t n_acc;
    struct fold *now;            /* fold: the group (bucket_fold.c) */
};

/* bucket_enter.c */
void mrsi_bucket_work_start(const struct mrsi_bucket *s, struct bucket_work *w, struct mrs_ctx *c);
void mrsi_bucket_work_clear(struct mrs_ctx *c, void *work);
enum mrs_status mrsi_bucket_enter(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                                  struct mrs_fold_entry *out);
enum mrs_status mrsi_bucket_shared(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                                   struct mrs_view name, struct mrs_buf *out);
enum mrs_status mrsi_bucket_group(const void *state, struct mrs_ctx *c, void *work, struct mrs_view shared,
                                  struct mrs_buf *out);
struct bucket_shared mrsi_bucket_read_shared(const struct mrsi_bucket *s, struct mrs_view shared);
/* The shared record is told by the reading, too. */
struct bucket_reading mrsi_bucket_read(const struct mrsi_bucket *s, const struct bucket_shared *shared,
                                       struct mrs_view shape);
/* bucket_plain.c */
void mrsi_bucket_plan_plain(struct mrsi_read *r, struct mrsi_bucket *s);
/* Takes what is wanted: the values of the item are appended to values, and to name what tells its types and names from
 * those of others; ev gets the fields at hand, in room, where they are needed for that. */
void mrsi_bucket_plain(const struct mrsi_bucket *s, struct mrs_ctx *c, struct mrs_eval *ev,
                       struct mrs_eval_fields *room, struct bucket_plain *x, struct mrs_buf *name,
                       struct mrs_buf *values);
/* Of a document that has a template that is known, and lies in the window that was met last. */
bool mrsi_bucket_enter_fast(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                            struct mrs_fold_fast *out);
/* The types and names themselves, of the document that was taken last. */
void mrsi_bucket_put_heads(const struct mrsi_bucket *s, const struct mrs_ctx *c, struct bucket_plain *x,
                           struct mrs_view doc, struct mrs_buf *out);
/* Items of this shared record follow. */
void mrsi_bucket_make_item_template(const struct bucket_shared *shared, struct bucket_item_template *m);
/* item_size bytes, and room for BUCKET_CHUNK more. */
void mrsi_bucket_put_item(const struct bucket_reading *r, const struct bucket_item_template *m, uint8_t *to);
/* The same of values v, where the item template has a size. */
static inline void
mrsi_bucket_fill_item_template(const struct bucket_item_template *restrict m, const uint8_t *v, uint8_t *restrict to)
{
    for (uint32_t i = 0, size = m->size; i < size; i += BUCKET_CHUNK) {
        memcpy(to + i, m->bytes + i, BUCKET_CHUNK);
    }
    for (const struct bucket_place *x = m->eight, *const end = x + m->n_eight; x < end; x++) {
        memcpy(to + x->to, v + x->from, 8);
    }
    for (uint32_t i = 0; i < m->n_other; i++) {
        mrs_copy_short(to + m->other[i].to, v + m->other[i].from, m->size_of_other[i]);
    }
}
static inline struct mrs_val
mrsi_bucket_value(const struct mrsi_bucket *s, const struct bucket_plain *x, uint32_t i)
{
    return x->v[s->value[i]];
}
/* bucket_fold.c */
enum mrs_status mrsi_bucket_save(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out);
enum mrs_status mrsi_bucket_fold(const void *state, struct mrs_ctx *c, void *work, struct mrs_members *m,
                                 const struct mrs_fold_put *put);
/* bucket_describe.c */
enum mrs_status mrsi_bucket_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out,
                                     struct mrs_err *e);
enum mrs_status mrsi_bucket_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e);

#endif
