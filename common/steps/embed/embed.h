/* SPDX-License-Identifier: Apache-2.0 */
/* embed.h - the parts of the embed step among themselves. */
#ifndef MRSI_EMBED_H
#define MRSI_EMBED_H

#include "steps/kit/match_set.h"
#include "steps/kit/join_match.h"
#include "steps/kit/shape.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/inverse.h"

enum embed_empty { EMBED_EMPTY_ARRAY, EMBED_EMPTY_ABSENT, EMBED_EMPTY_NULL };
enum embed_keep { EMBED_KEEP_UNMATCHED, EMBED_KEEP_ALL, EMBED_KEEP_NONE };
enum embed_orphans { EMBED_ORPHANS_KEEP, EMBED_ORPHANS_DROP, EMBED_ORPHANS_REFUSE, EMBED_ORPHANS_INTO };

#define EMBED_NONE UINT32_MAX
#define EMBED_BUF_MAX (4u * MRS_DOC_READ_MAX) /* of what is gathered for one document; more cannot fit anyway */

struct mrsi_embed {
    struct mrsi_owned keeper;
    struct mrsi_join_match join;
    struct mrs_path as, count, flag; /* n 0: none */
    struct mrs_val as_spec;          /* `as` as the plan has it, for ids */
    struct mrsi_shape shape;
    struct mrs_sort *sort;
    struct mrs_coll orphans_into;
    bool one, replace, indexes, limited, in_place, shared;
    uint64_t limit;
    int empty, keep, orphans, dangling, many, errors;
    bool oversize_overflow;
    struct {
        bool given;
        struct mrs_coll into;
        uint64_t size;
        const char *ref, *number, *items;
    } overflow;
    int side_overflow, side_orphans; /* indexes of the sides; -1 */
    struct mrs_edit *edit;           /* as, count, flag */
    uint32_t no_count, no_flag;      /* their numbers in edit; as is 0; EMBED_NONE */
    uint32_t count_share;            /* names that count's path shares with the reference */
    struct mrs_edit *ref_edit;       /* the reference's field, where dangling ones are taken out */
    bool hot;                        /* top-level names only, nothing to decide about a match */
};

struct embed_work {
    bool ready;
    struct mrs_buf value;   /* an array on its way into a document */
    struct mrs_buf doc;     /* the document between two edits */
    struct mrs_buf page;
    struct mrs_buf raw;     /* scratch of edits */
    struct mrs_number_table seen; /* matches already given */
    struct mrsi_match_set hits;
    struct mrsi_refs refs;
};

/* One call of splice. */
struct embed_splice {
    const struct mrsi_embed *s;
    struct mrs_ctx *c;
    struct embed_work *w;
    struct mrs_view doc;
    struct mrs_matches *m;
    const struct mrs_put *put;
    uint64_t at;         /* matches given since the last rewind, without doubles */
    uint64_t n;          /* matches in all, without doubles */
    uint64_t last_order; /* of the match before */
    bool doubles;        /* a document may be given more than once */
    bool marking;        /* next() marks the references that have matches */
};

/* ---- embed_feed.c: the matches of a document, each once ---- */
void mrsi_embed_work_start(struct embed_work *w, struct mrs_mem *mem);
void mrsi_embed_work_clear(struct mrs_ctx *c, void *work);
/* OK, END. */
enum mrs_status mrsi_embed_next(struct embed_splice *x, struct mrs_match *out);
/* For a match that is written somewhere: SKIP where its shape was refused. */
enum mrs_status mrsi_embed_taken(struct embed_splice *x, const struct mrs_match *m);
enum mrs_status mrsi_embed_rewind(struct embed_splice *x);
/* Counts matches into x->n and, where the step asks about dangling references, marks the references that have
 * one. Rewinds. */
enum mrs_status mrsi_embed_tally(struct embed_splice *x);
/* Takes dangling references out of the document (by the step's policy), where refs and marks are known. *doc
 * becomes the document to go on with. */
enum mrs_status mrsi_embed_dangling(struct embed_splice *x, struct mrs_view *doc);
static inline void
mrsi_embed_used(struct embed_splice *x, unsigned bits)
{
    if (bits != MRS_USED_PLACED) {
        x->m->used(x->m, bits);
    }
}

/* ---- embed_pages.c ---- */
/* The matches from number `from` on go into pages. Begins with a rewind, tells nothing of the first `from`. */
enum mrs_status mrsi_embed_pages(struct embed_splice *x, uint64_t from);

/* ---- embed_shared.c: places that each take their own matches ---- */
enum mrs_status mrsi_embed_shared(struct embed_splice *x, struct mrs_buf *out);

/* ---- embed_splice.c ---- */
enum mrs_status mrsi_embed_splice(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                                  struct mrs_matches *m,
                                  const struct mrs_put *put, struct mrs_buf *out, enum mrs_fate *fate);

/* ---- embed_describe.c ---- */
enum mrs_status mrsi_embed_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out,
                                    struct mrs_err *e);
enum mrs_status mrsi_embed_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e);

/* embed_invert.c */
enum mrs_status mrsi_embed_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);

#endif
