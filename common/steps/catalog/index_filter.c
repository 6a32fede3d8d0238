/* SPDX-License-Identifier: Apache-2.0 */
/* index_filter.c - which documents a partial index holds, for engines that read values but not queries. */
#include "mongoreshape/expr.h"
#include "mongoreshape/unique.h"

struct mrs_index_filter {
    struct mrs_mem *mem;
    struct mrs_query *query;
    struct mrs_arena scratch;
};

enum mrs_status
mrs_index_filter_new(struct mrs_mem *mem, struct mrs_view spec, int64_t now_ms, struct mrs_index_filter **out,
                     struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_val v = mrs_doc_get(spec, "partialFilterExpression");
    struct mrs_expr_env env = {.mem = mem, .now_ms = now_ms};
    *out = NULL;
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    if (v.type != MRS_DOCUMENT || mrs_doc_get(spec, "collation").type != MRS_MISSING) {
        return MRS_FAIL;
    }
    struct mrs_index_filter *f = mrs_zalloc(mem, sizeof *f);
    MRS_TRY(mrs_allocated(f, sizeof *f, e));
    f->mem = mem;
    mrs_arena_init(&f->scratch, mem);
    enum mrs_status s = mrs_query_compile(&env, mrs_val_view(v), &f->query, e);
    if (s != MRS_OK) {
        mrs_index_filter_free(f);
        return s;
    }
    *out = f;
    return MRS_OK;
}

bool
mrs_index_filter_takes(struct mrs_index_filter *f, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_err why;
    bool yes = true;
    if (f) {
        struct mrs_eval ev = {.arena = &f->scratch, .root = doc, .err = &why};
        mrs_err_clear(&why);
        yes = mrs_query_match(f->query, &ev, &yes) == MRS_OK && yes;
        mrs_arena_reset(&f->scratch);
    }
    return yes;
}

void
mrs_index_filter_free(struct mrs_index_filter *f)
{
    if (f) {
        mrs_query_free(f->query);
        mrs_arena_clear(&f->scratch);
        mrs_free(f->mem, f);
    }
}
