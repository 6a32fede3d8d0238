/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_doc.c - YAML that is no plan: options of others, read as the values of plans are. */
#include "internal.h"

enum mrs_status
mrs_yaml_doc(struct mrs_mem *mem, const char *text, size_t n, struct mrs_buf *out, struct mrs_err *e)
{
    struct mrsi_plan p = {.pub = {.mem = mem, .file = "options", .name = "", .database = "", .server = ""}};
    struct mrs_val v = mrs_missing();
    mrs_arena_init(&p.pub.arena, mem);
    if (n > MRS_PLAN_BYTES_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "more than 4 MiB of YAML");
    }
    if (mrsi_yaml_read(&p, text, n) && p.root && p.root->kind == MRSI_MAP) {
        (void)mrsi_tree_val(&p, p.root, &v);
    } else if (!p.pub.n_errors && !p.dead) {
        mrsi_plan_error(&p, 1, 1, "a map is expected");
    }
    enum mrs_status s = mrsi_plan_errors_status(&p, e);
    if (s == MRS_OK) {
        mrs_buf_put(out, v.p, v.n);
        s = mrs_buf_status(out, e);
    }
    mrs_free(mem, p.pub.errors);
    mrs_arena_clear(&p.pub.arena);
    return s;
}
