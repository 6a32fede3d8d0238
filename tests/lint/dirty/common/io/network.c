/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - the tool does not speak to servers. */
#include <sys/socket.h>
