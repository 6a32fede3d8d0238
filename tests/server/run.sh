#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TOOL - as `make check` calls it: the proxy stands beside the tool.
exec bash "$(dirname "${BASH_SOURCE[0]}")/test.sh" "$(dirname "$1")/proxy"
