/* SPDX-License-Identifier: Apache-2.0 */
/* id_spans.c - the smallest and the largest `_id` of each block of the input, if they ascend; see equal_ids.c. */
#include "pass.h"
#include <stdlib.h>

struct id_spans_span { /* for a block */
    uint8_t first[MRSI_OBJECT_ID], last[MRSI_OBJECT_ID];
};
struct mrsi_equal_ids {
    pthread_mutex_t lock;
    struct one {
        struct mrs_buf spans;
        uint64_t docs; /* number of documents in them */
        bool loose;    /* a block does not ascend, or has other types of ids */
    } at[];
};

enum mrs_status
mrsi_equal_ids_new(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(!en->twins);
    uint32_t n = mrs_input_count(en->in);
    size_t size = sizeof(struct mrsi_equal_ids) + n * sizeof(struct one);
    en->twins = mrs_zalloc(en->mem, size);
    MRS_TRY(mrs_allocated(en->twins, size, e));
    pthread_mutex_init(&en->twins->lock, NULL);
    for (uint32_t i = 0; i < n; i++) {
        mrs_buf_init(&en->twins->at[i].spans, en->mem, SIZE_MAX);
    }
    return MRS_OK;
}

void
mrsi_equal_ids_free(struct mrsi_engine *en)
{
    for (uint32_t i = 0; en->twins && i < mrs_input_count(en->in); i++) {
        mrs_buf_clear(&en->twins->at[i].spans);
    }
    if (en->twins) {
        pthread_mutex_destroy(&en->twins->lock);
        mrs_free(en->mem, en->twins);
        en->twins = NULL;
    }
}

void
mrsi_equal_ids_block(struct mrsi_engine *en, uint32_t in_index, const struct mrsi_id_span *x, uint64_t docs)
{
    MRS_ASSERT(in_index < mrs_input_count(en->in));
    struct one *o = &en->twins->at[in_index];
    pthread_mutex_lock(&en->twins->lock);
    if (x->loose) {
        o->loose = true;
        mrs_buf_clear(&o->spans);
    } else if (!o->loose) {
        mrs_buf_put(&o->spans, x->first, MRSI_OBJECT_ID);
        mrs_buf_put(&o->spans, x->last, MRSI_OBJECT_ID);
        o->docs += docs;
        o->loose = o->spans.bad != 0;
    }
    pthread_mutex_unlock(&en->twins->lock);
}

static int
by_first(const void *pa, const void *pb)
{
    const struct id_spans_span *a = pa, *b = pb;
    return memcmp(a->first, b->first, sizeof a->first);
}

/* Were all of its documents recorded, and do no two ranges overlap? */
bool
mrsi_ids_ascend(struct mrsi_engine *en, uint32_t in_index, uint64_t docs)
{
    MRS_ASSERT(in_index < mrs_input_count(en->in));
    struct one *o = &en->twins->at[in_index];
    struct id_spans_span *x = (struct id_spans_span *)(void *)o->spans.p;
    size_t n = o->spans.n / sizeof *x;
    if (o->loose || o->docs != docs) {
        return false;
    }
    if (n > 1) {
        qsort(x, n, sizeof *x, by_first);
    }
    for (size_t i = 1; i < n; i++) {
        if (memcmp(x[i - 1].last, x[i].first, sizeof x->first) >= 0) {
            return false;
        }
    }
    return true;
}
