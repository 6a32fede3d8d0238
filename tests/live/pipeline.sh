#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pipeline.sh [-v] [CASE...] - `explain --pipeline` for every case, executed on the server for tests; see pipeline.py.
# OBJ is the folder of the programs.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
export MONGOC_DISABLE_SHM=1
verbose=()
[ "${1:-}" = -v ] && { verbose=(-v); shift; }
for program in mongoreshape livetool ask casetool; do
    [ -x "$obj/$program" ] || { echo "pipeline skipped: $program is not built"; exit 77; }
done
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(cd "$here/../cases" && find . -name plan.yaml | sed 's|^\./||; s|/plan.yaml$||' | sort)
cases=()
for c in "$@"; do
    cases+=("$here/../cases/$c")
done
exec "$here/../server/with" python3 "$here/pipeline.py" "${verbose[@]}" "$obj" "${cases[@]}"
