/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c - shared by pack and unpack: their keys, and names that stand twice. */
#include "packed.h"
#include "mongoreshape/context.h"
#include <stdlib.h>

/* ---- compile ---- */
void
mrsi_packed_read(struct mrsi_read *r, struct mrsi_packed *p)
{
    p->key = "k";
    p->value = "v";
    mrsi_map_read(r, &p->map);
    if (mrsi_read_path(r, mrsi_slot(r, "as"), &p->as)) {
        mrsi_read_not_id(r, mrsi_slot(r, "as"), &p->as);
    }
    mrsi_read_choice(r, mrsi_slot(r, "form"), &p->form);
    mrsi_read_name(r, mrsi_slot(r, "key"), &p->key);
    mrsi_read_name(r, mrsi_slot(r, "value"), &p->value);
    mrsi_read_bool(r, mrsi_slot(r, "replace"), &p->replace);
    const char *named = mrsi_slot_present(mrsi_slot(r, "value")) ? "value" : "key";
    if (p->form == MRSI_AS_DOCUMENT && mrsi_slot_present(mrsi_slot(r, named))) {
        mrsi_read_error(r, named, NULL, "names a field in the elements of an array; `form: document` has none");
    } else if (strcmp(p->key, p->value) == 0) {
        mrsi_read_error(r, named, NULL,
                        "key and value of an element would both be called `%s`", p->key);
    }
    p->key_len = (uint32_t)strlen(p->key);
    p->value_len = (uint32_t)strlen(p->value);
}

void
mrsi_packed_edit(struct mrsi_read *r, struct mrsi_packed *p, const struct mrs_path *path)
{
    struct mrs_err e;
    if (!mrsi_read_good(r) || p->as.n == 1) {
        return;
    }
    mrs_err_clear(&e);
    enum mrs_status st = mrs_edit_new(r->args->mem, &p->edit, &e);
    if (st == MRS_OK && !mrsi_level_add(&p->map.keep, MRSI_EDIT, p->edit)) {
        st = mrs_err_memory(&e, 0);
    }
    MRS_THEN(st, mrs_edit_add(p->edit, path, &e));
    if (st != MRS_OK) {
        mrsi_read_failed(r, "as", NULL, st, &e);
    }
}

/* ---- names ---- */
int
mrsi_packed_order(const char *a, uint32_t n, const char *b, uint32_t m)
{
    int order = memcmp(a, b, n < m ? n : m);
    return order ? order : n < m ? -1 : n > m;
}

static int
by_name(const void *pa, const void *pb)
{
    const struct mrs_elem *a = pa, *b = pb;
    return mrsi_packed_order(a->name, a->name_len, b->name, b->name_len);
}

enum mrs_status
mrsi_packed_twice(struct mrs_ctx *c, const char *where, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_walk w;
    size_t room = d.n / 2, n = 0; /* an element has at least 2 bytes */
    struct mrs_elem *all = mrs_arena_alloc(c->arena, room * sizeof *all);
    MRS_TRY(mrs_allocated(all, room * sizeof *all, c->err));
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &all[n]) == 1;) {
        n++;
    }
    qsort(all, n, sizeof *all, by_name);
    for (size_t i = 1; i < n; i++) {
        if (by_name(&all[i - 1], &all[i]) == 0) {
            return mrsi_step_refuse(c, where, "two fields would be called `%s`", all[i].name);
        }
    }
    return MRS_OK;
}
