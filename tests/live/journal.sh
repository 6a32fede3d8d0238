#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# journal.sh - on a standalone server every checkpoint and run document is written with journal (j: true).
#
# Without that the last moments before a crash may be lost while the tool resumes after them: a gap that is never
# detected. Servers for tests do not all lose what a mongod would lose, so the test does not check the loss, but the
# wire protocol: a relay records the write concern of each write. Environment: OBJ, the folder of the programs.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
export obj
. "$here/../wait.bash"

if [ "${1:-}" != --inside ]; then
    said=$("$here/../server/with" --standalone bash "$0" --inside 2>&1 < /dev/null)
    status=$?
    if [ $status = 77 ]; then
        echo "journal skipped: $(echo "$said" | tail -n 1)"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
    echo "$said"
    exit $status
fi

tmp=$(mktemp -d) || exit 2
address=${MONGODB_URI#*://}
address=${address%%/*}
address=${address##*@}
case $MONGODB_URI in
    *@* | *tls=true*)
        echo "journal skipped: a server with users or TLS cannot be listened to"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
        ;;
esac
mkfifo "$tmp/rope"
python3 "$here/journal.py" "$address" "$tmp/writes" < "$tmp/rope" > "$tmp/port" &
relay=$!
exec 9> "$tmp/rope"
trap 'exec 9>&-; wait "$relay"; rm -rf "$tmp"' EXIT
await [ -s "$tmp/port" ]
uri="mongodb://127.0.0.1:$(sed 's/listening //' "$tmp/port")/?directConnection=true"
mkdir "$tmp/work"
MONGODB_URI=$uri "$obj/live-writers" "$obj/mongoreshape-live-test" "$obj/mongoreshape" "$tmp/work" \
    one embed/apply/none:1/nothing/contract/1 > "$tmp/said" 2>&1 || {
    cat "$tmp/said"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}
passed=0 failed=0
for coll in runs checkpoints; do
    n=$(grep -c " $coll j\$" "$tmp/writes") bad=$(grep -c " $coll -\$" "$tmp/writes")
    if [ "$n" -gt 0 ] && [ "$bad" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL journal: $bad of $((n + bad)) writes to $coll do not ask for j: true"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
