/* SPDX-License-Identifier: Apache-2.0 */
/* host_sentences.c - what docs/SERVER.md says of the extension, sentence by sentence. */
#include "host.h"
int
host_sentences(const char *so)
{
    (void)so;
    return 0;
}
