#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# disk_space.sh MONGORESHAPE - a disk that is too small is reported before the work, and a run that filled it resumes
# when there is space. Needs to mount a small file system.
set -u
tool=$(realpath "$1")
bin=$(dirname "$tool")
dir=$(mktemp -d) || exit 2
trap 'umount "$dir/small" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 2
passed=0 failed=0
mkdir -p small case/in
[ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1m tmpfs small 2>/dev/null || {
    echo "skipped: cannot mount a small file system here"
    exit 77
}

# is NAME STATUS: the last command
is() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
        sed 's/^/    /' log
    fi
}

text=$(head -c 3000 /dev/zero | tr '\0' x)
for i in $(seq 1 600); do echo "{\"_id\":$i,\"text\":\"$text\"}"; done >case/in/d.c.jsonl
"$bin/casetool" load case dump || exit 2
printf 'plan: a field\ndatabase: d\nsteps:\n  - set: { in: c, fields: { seen: true } }\n' >plan.yaml

"$tool" run plan.yaml -i dump -o small/out >log 2>&1
[ $? -ne 0 ] && grep -q 'warning: the input takes 1\.[78] MiB, and .* are free in small: the output may not fit' log
is "too little room is told before" $?
[ ! -e small/out ]
is "and nothing half stands there" $?
mount -o remount,size=16m small
"$tool" run plan.yaml -i dump -o small/out --resume >log 2>&1
is "with more room the run goes on" $?
"$tool" run plan.yaml -i dump -o small/again >log 2>&1 && ! grep -q warning log
is "with room there is no warning" $?
cmp -s small/out/d/c.bson small/again/d/c.bson
is "both give the same" $?
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
