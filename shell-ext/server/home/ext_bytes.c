/* SPDX-License-Identifier: Apache-2.0 */
/* ext_bytes.c - buffers for the server, which owns and destroys them. */
#include "ext_home.h"

#include "mongoreshape/buffer.h"

struct returned_bytes {
    struct mdb_buf face;
    struct mrs_mem *mem;
    size_t n;
    uint8_t bytes[];
};

static void
bytes_destroy(struct mdb_buf *b)
{
    mrs_free(((struct returned_bytes *)(void *)b)->mem, b);
}

static struct mdb_bytes
bytes_view(const struct mdb_buf *b)
{
    const struct returned_bytes *g = (const struct returned_bytes *)(const void *)b;
    return (struct mdb_bytes){g->bytes, g->n};
}

static const struct mdb_buf_calls bytes_calls = {bytes_destroy, bytes_view};

struct mdb_status *
ext_return(struct mrs_mem *mem, const void *p, size_t n, struct mdb_buf **out)
{
    MRS_ASSERT((p || n == 0) && out);
    struct returned_bytes *g = n < SIZE_MAX / 2 ? mrs_alloc(mem, sizeof *g + n) : NULL;
    if (!g) {
        return ext_no_memory();
    }
    *g = (struct returned_bytes){{&bytes_calls}, mem, n};
    memcpy(g->bytes, p, n);
    *out = &g->face;
    return ext_ok();
}

struct mdb_status *
ext_return_buf(struct mrs_mem *mem, struct mrs_buf *b, struct mdb_buf **out)
{
    struct mdb_status *s = b->bad ? ext_no_memory() : ext_return(mem, b->p, b->n, out);
    mrs_buf_clear(b);
    return s;
}
