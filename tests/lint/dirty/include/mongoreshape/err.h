/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - codes of the dirty tree: number 2 has no row in its table. */
#ifndef DIRTY_ERR_H
#define DIRTY_ERR_H
enum mrs_code {
    MRS_E_NONE = 0,
    MRS_E_USAGE = 1,
    MRS_E_PLAN = 2
};
#endif
