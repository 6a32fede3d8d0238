/* SPDX-License-Identifier: Apache-2.0 */
/* text_order.h - texts that look like numbers or dates, and are sorted as texts. */
#ifndef MRSI_RUN_TEXT_ORDER_H
#define MRSI_RUN_TEXT_ORDER_H

#include "mongoreshape/value.h"

/* The forms of a text, as bits to be collected over the values of a path; 0: no text. Any thread. */
uint32_t mrsi_text_forms(struct mrs_val v);
/* How the order of texts with these forms differs from that of what they look like, and what to do; NULL: it does not,
 * or some texts look like neither. */
const char *mrsi_text_order(uint32_t forms);

#endif
