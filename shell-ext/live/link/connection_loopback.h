/* SPDX-License-Identifier: Apache-2.0 */
/* connection_loopback.h - serves one text on a port that only this machine can reach. */
#ifndef LIVE_LINK_LOOPBACK_H
#define LIVE_LINK_LOOPBACK_H

#include "mongoreshape/mem.h"

/* Does a word name a port ("127.0.0.1:9100", "0.0.0.0:80"), not a file? */
bool live_port_named(const char *where);
/* Is it an address of this machine only: 127.0.0.1, localhost, [::1]? */
bool live_port_loopback(const char *where);

struct live_port;
enum { LIVE_PORT_TEXT = 64 << 10 };
/* Starts to answer `GET /metrics`. url: the address, with the port chosen for 0. FAIL MRS_E_IO, MRS_E_USAGE. */
enum mrs_status live_port_open(struct mrs_mem *mem, const char *where, char url[96], struct live_port **out,
                               struct mrs_err *e);
/* Replaces the text; FAIL MRS_E_LIMIT beyond LIVE_PORT_TEXT. */
enum mrs_status live_port_put(struct live_port *p, const void *text, size_t n, struct mrs_err *e);
void live_port_close(struct live_port *p); /* NULL: no effect */

#endif
