/* SPDX-License-Identifier: Apache-2.0 */
/* op_number.h - numeric arguments, and decimal results, for the operators that compute. */
#ifndef MRS_EXPR_OP_NUMBER_H
#define MRS_EXPR_OP_NUMBER_H

#include "support.h"
#include "doc/decimal.h"

static inline BID_UINT128
mrsi_decimal_of(struct mrs_val number)
{
    uint8_t bytes[16];
    mrsi_to_decimal(number, bytes);
    return mrsi_dec_load(bytes);
}

static inline enum mrs_status
mrsi_ret_dec(struct mrs_eval *ev, BID_UINT128 d, struct mrs_val *out)
{
    uint8_t bytes[16];
    mrsi_dec_store(bytes, d);
    return mrsi_ret_decimal(ev, bytes, out);
}

/* Argument i as a number, null as null; FAIL for other types. */
static inline enum mrs_status
mrsi_number_arg(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, struct mrs_val *v)
{
    MRS_TRY(mrsi_arg(x, i, ev, v));
    if (!mrsi_is_nullish(*v) && !mrs_is_number(*v)) {
        return mrsi_eval_error(x, ev, "takes numbers, not %s", mrs_type_name(v->type));
    }
    return MRS_OK;
}

#endif
