/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - names of the codes. */
static const struct {
    const char *name;
    int exit;
} CODES[] = {
    [MRS_E_NONE] = {"no error", 0},
    [MRS_E_USAGE] = {"usage", 2},
    [MRS_E_PLAN] = {"plan", 2},
};
