/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the push host of the tests of steps, here for the test of the rule of what may run alongside writers.
 *
 * A program of this room that needs it gets it by being linked with it, as in the room of the steps. */
#include "../steps/host.c"
