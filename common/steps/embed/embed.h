/* SPDX-License-Identifier: Apache-2.0 */
/* embed.h - interfaces between the files of the embed step. */
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
#define EMBED_BUF_MAX (4u * MRS_DOC_READ_MAX) /* maximum of a buffer for one document; more cannot fit anyway */

struct mrsi_embed {
    struct mrsi_owned keeper;
    struct mrsi_join_match join;
    struct mrs_path as, count, flag; /* n 0: none */
    struct mrs_val as_spec;          /* `as` as in the plan, for ids */
    struct mrsi_shape shape;
    struct mrs_sort *sort;
    struct mrs_coll orphans_into;
    bool one, replace, indexes, limited, in_place, shared;
    uint64_t limit;
    int empty, keep, orphans, dangling, many, errors;
    bool oversize_overflow;
    struct {
        bool present;
        struct mrs_coll into;
        uint64_t size;
        const char *ref, *number, *items;
    } overflow;
    int side_overflow, side_orphans; /* indexes of the sides; -1: none */
    struct mrs_edit *edit;           /* as, count, flag */
    uint32_t no_count, no_flag;      /* their indexes in edit (as is 0); EMBED_NONE */
    uint32_t count_share;            /* length of the common prefix of count's path and the reference */
    struct mrs_edit *ref_edit;       /* the reference's field, if dangling ones are removed */
    bool hot;                        /* fast path: top-level names only, no policy to apply to a match */
};

struct embed_work {
    bool ready;
    struct mrs_buf value;   /* the array for a document */
    struct mrs_buf doc;     /* the document between two edits */
    struct mrs_buf page;
    struct mrs_buf raw;     /* scratch of edits */
    struct mrs_number_table seen; /* matches already used */
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
    uint64_t at;         /* matches read since the last rewind, without duplicates */
    uint64_t n;          /* all matches, without duplicates */
    uint64_t last_order; /* of the previous match */
    bool doubles;        /* the engine may return a document more than once */
    bool finding;        /* next() records the references that have matches */
};
/* Remarks on an old value that is replaced although nothing matches; any: something does. */
static inline void
mrsi_embed_replaces(const struct embed_splice *x, struct mrs_val old, bool any)
{
    bool content = !mrs_is_nullish(old) && !(old.type == MRS_ARRAY && old.n <= MRS_DOC_MIN);
    x->c->remarks |= content && !any && x->s->keep != EMBED_KEEP_ALL ? MRS_REMARK_REPLACED : 0;
}

/* ---- embed_feed.c: the matches of a document without duplicates ---- */
void mrsi_embed_work_start(struct embed_work *w, struct mrs_mem *mem);
void mrsi_embed_work_clear(struct mrs_ctx *c, void *work);
/* OK, END. */
enum mrs_status mrsi_embed_next(struct embed_splice *x, struct mrs_match *out);
/* For a match that is written: SKIP if its payload was refused. */
enum mrs_status mrsi_embed_taken(struct embed_splice *x, const struct mrs_match *m);
enum mrs_status mrsi_embed_rewind(struct embed_splice *x);
/* Counts matches into x->n and, if the step has a policy for dangling references, marks the references with a match.
 * Rewinds. */
enum mrs_status mrsi_embed_tally(struct embed_splice *x);
/* Removes dangling references from the document (by policy); refs and marks must be known. *doc becomes the resulting
 * document. */
enum mrs_status mrsi_embed_dangling(struct embed_splice *x, struct mrs_view *doc);
static inline void
mrsi_embed_used(struct embed_splice *x, unsigned bits)
{
    if (bits != MRS_USED_PLACED) {
        x->m->used(x->m, bits);
    }
}

/* ---- embed_pages.c ---- */
/* Writes the matches from number `from` on into pages. Rewinds first; does not report the first `from` matches. */
enum mrs_status mrsi_embed_pages(struct embed_splice *x, uint64_t from);

/* ---- embed_shared.c: places that each have their own matches ---- */
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
