/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - does not compile alone, in C or in C++. */
#ifndef DIRTY_MEM_H
#define DIRTY_MEM_H
/* Needs a header that it does not include. */
uint32_t mrs_alone(void);
#endif
