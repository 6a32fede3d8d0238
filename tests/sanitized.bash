# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# sanitized.bash - a build with sanitizers holds more memory, and plain programs do not link with it. To be sourced.

# sanitized PROGRAM: is it one of such a build?
sanitized() { nm "$1" 2> /dev/null | grep -q '__[at]san_init'; }
