#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh - the protocols of the online tool as small models: every order of steps, kills and foreign writes is tried.
# Each model must be right as designed and wrong with each of its mutants. --show prints the way to what goes wrong.
# usage: run.sh MONGORESHAPE [--show]
set -u
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror "$here"/*.c -o "$tmp/model" || exit 1
"$tmp/model" ${2:+"$2"}
