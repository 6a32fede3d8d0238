/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.h - interfaces between the files of the bucket step. */
#ifndef MRSI_BUCKET_H
#define MRSI_BUCKET_H

#include "steps/kit/group_by.h"
#include "steps/kit/shape.h"
#include "mongoreshape/fold_ops.h"

#define BUCKET_BUF_MAX (4u * MRS_DOC_READ_MAX) /* maximum of a buffer for one bucket; more cannot fit anyway */
#define BUCKET_FAILED 0xFE /* in a member, instead of a type byte: an argument failed, a message follows */

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

/* A top-level field that the fast path (`plain`) finds: to read its value, to omit it from the item, or both. */
struct bucket_template {
    const char *name;
    uint32_t len;
    bool omitted;
};
enum { BUCKET_TEMPLATES = 16, BUCKET_LAYOUT = MRS_EVAL_FIELDS_MAX };

struct mrsi_bucket {
    struct mrsi_owned keeper;
    struct mrs_coll from, into;
    struct mrs_query *where;
    struct mrsi_shape by;      /* always a map: the fields of the bucket that identify its series */
    struct mrsi_paths omitted; /* paths that the default item omits, because `by` has them unchanged */
    struct mrsi_shape rest;    /* the same as a projection, if all are top-level; both: including `drop` */
    bool both;
    struct mrs_edit *less;    /* the same as an edit, if some are nested */
    struct mrsi_shape shape;  /* `fields` and `drop` */
    struct mrs_expr *time;    /* NULL: input order */
    const char *time_path;    /* its text if it is a path, else NULL */
    struct mrs_windows *every;
    uint64_t max;             /* UINT64_MAX: no limit */
    const char *items, *start, *end;
    struct bucket_set *set;
    uint32_t n_set;
    bool has_exprs;           /* some field of the bucket is computed from the bucket */
    bool timed;               /* a bucket stores times of its readings unchanged */
    bool tail;                /* in a payload, more data follows the item */
    bool plain;               /* fast path: series, time and item are unchanged top-level fields: */
    struct bucket_template *tpl; /* distinct names */
    uint32_t n_template;
    uint32_t *value;          /* index in tpl of each `by` field, then of the time */
    struct mrs_expr *id;
    int untimed, keep, conflicts, errors;
    bool indexes;
};

struct bucket_span { /* a value in a document */
    uint16_t at, n;
    uint8_t type;
};
/* The parts of a shared record that fold reads: types and names of the item (fast path), the `by` fields, the start of
 * the window (with `every`). */
struct bucket_shared {
    struct mrs_view by;
    struct mrs_view heads; /* field headers, each after its length */
    uint32_t n_heads;
    int64_t start;
};
/* A member of a group as fold reads it. Its payload: the item or its values, the time (if timed), and the argument of
 * each accumulator. */
struct bucket_reading {
    const struct bucket_shared *shared;
    struct mrs_view item;  /* packed: only the values */
    bool packed;
    uint32_t item_size;    /* size of the item as a document */
    struct mrs_val time;
    const uint8_t *args;
    size_t n_args;
};
/* A template for items whose values have fixed sizes: the bytes of an item, and the offsets of its values. */
enum { BUCKET_CHUNK = 32 }; /* items are copied in chunks of this size, so the buffer has room for one more */
struct bucket_place { /* offset of a value in the item, and among the values */
    uint16_t to, from;
};
struct bucket_item_template {
    struct mrs_buf heads; /* field headers of the template */
    uint32_t size;        /* of an item; 0: not of fixed size */
    uint32_t n_eight, n_other;
    struct bucket_place eight[BUCKET_LAYOUT]; /* values of eight bytes, the usual case */
    struct bucket_place other[BUCKET_LAYOUT];
    uint8_t size_of_other[BUCKET_LAYOUT];
    uint8_t bytes[MRS_TEMPLATE_MAX + BUCKET_CHUNK];
};

/* A field of earlier documents: its name with the NUL, and the first eight bytes of the name as a number. */
struct bucket_field {
    uint64_t first, mask;
    const uint8_t *name;
    uint32_t size;
    uint32_t tpl;  /* its index in tpl of the plan; n_template: not used */
    bool omitted;
};
/* Where the fast path finds its fields in documents of one template. */
struct bucket_known {
    uint64_t tpl;       /* number of the template; 0: none */
    bool dated;         /* the time is a date, and the plan needs only these fields: */
    uint32_t n_values, n_by;
    uint32_t by_bytes, value_bytes;
    uint32_t date_at;   /* index of the time among the values of the item; MRS_FOLD_ELSEWHERE: not in the item */
    struct bucket_span found[BUCKET_TEMPLATES]; /* fields of the plan */
    struct mrs_fold_span value[BUCKET_LAYOUT]; /* of the item */
    struct bucket_span by[BUCKET_TEMPLATES]; /* the bytes that distinguish series within this template */
    struct mrs_buf heads;                    /* field headers of the item; empty: not computed */
};
/* State of the fast path: the fields of the current document, and the names of earlier ones. */
struct bucket_plain {
    struct mrs_val v[BUCKET_TEMPLATES + 2]; /* fields of the plan; missing if the document lacks them */
    bool named;           /* the shared record also has the series */
    bool gap;             /* a field was omitted from the item, `seen` is not checked yet */
    struct mrsi_name_set seen;
    struct bucket_field field[BUCKET_LAYOUT];
    uint32_t n;
    uint64_t same;             /* `names` of the last document that was compared; 0: unknown */
    uint8_t at[BUCKET_LAYOUT]; /* index in `field` of each of its fields */
    uint32_t misses;  /* documents with other names */
    uint64_t learned; /* how often the names were replaced */
    struct mrs_buf names;
    struct bucket_known known;
};
struct bucket_work {
    bool ready;
    struct mrs_acc_shared shared; /* of the accumulators */
    struct mrs_buf rest;         /* enter: buffer for an item */
    struct bucket_plain plain;
    int64_t start;               /* enter: start of the window */
    int64_t from, to;            /* a known window: it contains all dates from `from` to `to` */
    struct mrs_buf items;        /* fold: the array of the bucket */
    struct mrs_buf head;         /* the constant elements before the array */
    struct mrs_buf last;         /* the last time, type byte first */
    struct mrs_buf doc, other;   /* the bucket */
    struct mrs_buf saved;        /* accumulators before the last reading */
    struct mrs_buf raw;          /* scratch */
    struct bucket_item_template tpl; /* fold: of items */
    struct mrs_arena arena;      /* reset for each bucket */
    struct mrs_acc_state **acc;  /* one for each entry of `set`, NULL for expressions */
    bool *failed;                /* one for each entry: it failed for this bucket */
    uint32_t n_acc;
    struct fold *now;            /* fold: the current group (bucket_fold.c) */
};

/* bucket_enter.c */
void mrsi_bucket_work_start(const struct mrsi_bucket *s, struct bucket_work *w, struct mrs_ctx *c);
void mrsi_bucket_work_clear(struct mrs_ctx *c, void *work);
enum mrs_status mrsi_bucket_enter(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                                  struct mrs_fold_entry *out);
enum mrs_status mrsi_bucket_shared(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                                   struct mrs_view name, struct mrs_buf *out);
enum mrs_status mrsi_bucket_place(const void *state, struct mrs_ctx *c, struct mrs_view shared, struct mrs_buf *out);
enum mrs_status mrsi_bucket_group(const void *state, struct mrs_ctx *c, void *work, struct mrs_view shared,
                                  struct mrs_buf *out);
struct bucket_shared mrsi_bucket_read_shared(const struct mrsi_bucket *s, struct mrs_view shared);
/* The shared record also depends on the reading. */
struct bucket_reading mrsi_bucket_read(const struct mrsi_bucket *s, const struct bucket_shared *shared,
                                       struct mrs_view payload);
/* bucket_plain.c */
void mrsi_bucket_plan_plain(struct mrsi_read *r, struct mrsi_bucket *s);
/* Reads the fields of the plan: appends the values of the item to `values`, and to `name` its types and names. Fills ev
 * with the fields already found, in `room`, if expressions need them. */
void mrsi_bucket_plain(const struct mrsi_bucket *s, struct mrs_ctx *c, struct mrs_eval *ev,
                       struct mrs_eval_fields *room, struct bucket_plain *x, struct mrs_buf *name,
                       struct mrs_buf *values);
/* For a document of a known template whose time lies in the last window. */
bool mrsi_bucket_enter_fast(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                            struct mrs_fold_fast *out);
/* Appends types and names of the item of the last document read. */
void mrsi_bucket_put_heads(const struct mrsi_bucket *s, const struct mrs_ctx *c, struct bucket_plain *x,
                           struct mrs_view doc, struct mrs_buf *out);
/* Announces items of this shared record. */
void mrsi_bucket_make_item_template(const struct bucket_shared *shared, struct bucket_item_template *m);
/* Writes item_size bytes; the buffer has room for BUCKET_CHUNK more. */
void mrsi_bucket_put_item(const struct bucket_reading *r, const struct bucket_item_template *m, uint8_t *to);
/* The same for values v, if the item template has a size. */
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
