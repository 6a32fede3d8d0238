/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - what a line must not be. */
int mrs_a; 
int	mrs_b, mrs_kins;
/* text: TODO FIXME XXX, but no conformance.XXXXXX or TODOS */
/* 120 columns in umlauts: ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää */
/* too long: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx */
/* see /work/main */
