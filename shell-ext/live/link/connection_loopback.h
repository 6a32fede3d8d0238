/* SPDX-License-Identifier: Apache-2.0 */
/* connection_loopback.h - one text, shown on a port that only this machine can reach. */
#ifndef LIVE_LINK_LOOPBACK_H
#define LIVE_LINK_LOOPBACK_H

#include "mongoreshape/mem.h"

/* Whether a word names a port ("127.0.0.1:9100", "0.0.0.0:80"), not a file. */
bool live_port_named(const char *where);
/* Whether that is one of this machine alone: 127.0.0.1, localhost, [::1]. */
bool live_port_loopback(const char *where);

struct live_port;
enum { LIVE_PORT_TEXT = 64 << 10 };
/* Answers `GET /metrics` from now on. url: where, with the port that was found for 0. FAIL MRS_E_IO, MRS_E_USAGE. */
enum mrs_status live_port_open(struct mrs_mem *mem, const char *where, char url[96], struct live_port **out,
                               struct mrs_err *e);
/* The text from now on; FAIL MRS_E_LIMIT past LIVE_PORT_TEXT. */
enum mrs_status live_port_put(struct live_port *p, const void *text, size_t n, struct mrs_err *e);
void live_port_close(struct live_port *p); /* NULL: nothing */

#endif
