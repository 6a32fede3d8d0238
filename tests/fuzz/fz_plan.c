/* SPDX-License-Identifier: Apache-2.0 */
/* fz_plan.c - any bytes as a plan, through the real steps.
 *
 * Loading must end with a status, explain must work on what loaded, nothing may leak. The first
 * byte chooses the options. */
#include "mongoreshape/plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0) {
        return 0;
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan_opts opts = {
        .file = "fuzz", .default_db = data[0] & 1 ? "db" : NULL, .any_db = (data[0] & 2) != 0};
    struct mrs_plan *p = NULL;
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status s = mrs_plan_load(mem, (const char *)data + 1, n - 1, &opts, &p, &e);
    if (s == MRS_OK) {
        struct mrs_buf out;
        mrs_buf_init(&out, mem, 256u << 20);
        mrs_plan_explain(p, (data[0] & 4) != 0, &out, &e);
        mrs_buf_clear(&out);
    } else if ((s == MRS_FAIL) != (p && p->n_errors > 0)) {
        abort();
    }
    mrs_plan_free(p);
    if (mrs_mem_close(mem) != 0) {
        abort();
    }
    return 0;
}
