/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - the growing list of encoded keys that a kernel passes to its engine.
 *
 * All keys are contiguous, so a document's keys cost no allocation once the buffers have grown. A key over MRS_KEY_MAX
 * refuses its document; the list is then unchanged. */
#include "keys.h"
#include "mongoreshape/join_ops.h"

#define KEYS_BYTES_MAX (1u << 30) /* offsets have 32 bits; 16 MiB of references encode to far less */

void
mrs_keys_init(struct mrs_keys *k, struct mrs_mem *mem)
{
    MRS_ASSERT(mem);
    memset(k, 0, sizeof *k);
    k->mem = mem;
    mrs_buf_init(&k->bytes, mem, KEYS_BYTES_MAX);
}

void
mrs_keys_clear(struct mrs_keys *k)
{
    MRS_ASSERT(k->n <= k->cap);
    mrs_buf_clear(&k->bytes);
    mrs_free(k->mem, k->span);
    k->span = NULL;
    k->n = k->cap = 0;
}

void
mrs_keys_reset(struct mrs_keys *k)
{
    mrs_buf_reset(&k->bytes);
    k->n = 0;
}

static enum mrs_status
room(struct mrs_keys *k, struct mrs_err *e)
{
    struct mrs_keyspan *span = mrs_more(k->mem, k->span, k->n, &k->cap, sizeof *span);
    k->span = span ? span : k->span;
    return mrs_allocated(span, sizeof *span, e);
}

enum mrs_status
mrsi_keys_add_tuple(struct mrs_keys *k, uint16_t pair, uint8_t kind, const struct mrs_val *v, uint32_t n,
                    struct mrs_err *e)
{
    MRS_ASSERT(n > 0 && v && k->n <= k->cap);
    size_t off = k->bytes.n;
    bool null = false;
    MRS_TRY(room(k, e));
    k->bytes.ceiling = off + MRS_KEY_MAX < KEYS_BYTES_MAX ? off + MRS_KEY_MAX : KEYS_BYTES_MAX;
    for (uint32_t i = 0; i < n; i++) {
        mrs_key_append(&k->bytes, v[i], false);
        null = null || mrs_is_nullish(v[i]);
    }
    if (k->bytes.bad) {
        int bad = k->bytes.bad;
        k->bytes.n = off;
        k->bytes.bad = 0;
        return bad == 1 ? mrs_err_memory(e, MRS_KEY_MAX)
                        : mrs_err_set(e, MRS_SKIP, MRS_E_LIMIT, "a key of more than %u bytes", MRS_KEY_MAX);
    }
    k->span[k->n++] = (struct mrs_keyspan){(uint32_t)off, (uint32_t)(k->bytes.n - off), pair, kind, null};
    return MRS_OK;
}

enum mrs_status
mrs_keys_add(struct mrs_keys *k, uint16_t pair, uint8_t kind, struct mrs_val v, struct mrs_err *e)
{
    return mrsi_keys_add_tuple(k, pair, kind, &v, 1, e);
}
