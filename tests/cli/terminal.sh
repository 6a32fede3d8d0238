#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# terminal.sh MONGORESHAPE - on a terminal: the first hints, colours and NO_COLOR, widths from 40 to 200 columns,
# hostile names.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); }
fail() { echo "FAILED: $*"; failed=$((failed + 1)); }
cat > terminal.py <<'P'
"""terminal.py COLUMNS COMMAND...: runs it on a terminal of its own; prints all that it writes there."""
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 25, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
said = b""
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    said += piece
os.waitpid(pid, 0)
sys.stdout.buffer.write(said.replace(b"\r\n", b"\n"))
P
on() { TERM=xterm python3 -S terminal.py "$@"; }

# ---- how to begin ----
for line in "" run; do
    # shellcheck disable=SC2086
    "$tool" $line > out 2> said < /dev/null
    [ $? -eq 2 ] && [ ! -s out ] && ok || fail "mongoreshape $line: its status"
    for command in inspect check run; do
        grep -q "^  mongoreshape $command " said && ok || fail "mongoreshape $line does not name $command: $(cat said)"
    done
done
if [ -x "$tool-live" ]; then
    "$tool-live" > out 2> said < /dev/null
    [ $? -eq 2 ] && grep -q '^  mongoreshape-live apply plan.yaml ' said && ok || fail "mongoreshape-live alone: $(cat said)"
fi
"$tool" check > out 2> said < /dev/null
grep -q '^from a dump' said && fail "check alone tells how to begin" || ok
cp -r "$root/dumps/sample" dump
cp -r dump "a dump"
"$tool" dump > out 2> said < /dev/null
[ $? -eq 2 ] && grep -qx '  mongoreshape inspect dump' said && ok || fail "a dump alone: $(cat said)"
"$tool" "a dump" 2> said < /dev/null
grep -qx "  mongoreshape inspect 'a dump'" said && ok || fail "a dump with a blank in its name: $(cat said)"
printf 'steps: []\n' > plan.yaml
"$tool" plan.yaml 2> said < /dev/null
grep -qx '  mongoreshape check plan.yaml' said && ok || fail "a plan alone: $(cat said)"
if [ -x "$tool-live" ]; then
    "$tool-live" plan.yaml 2> said < /dev/null
    grep -qx '  mongoreshape-live apply plan.yaml' said && ok || fail "a plan alone, online: $(cat said)"
fi
"$tool" nothing 2> said < /dev/null
grep -q 'unknown command `nothing`' said && ok || fail "what is no dump: $(cat said)"

# ---- colours ----
escape=$(printf '\033')
printf 'steps:\n- sett: {}\n' > bad.yaml
on 80 "$tool" check bad.yaml > said
grep -q "$escape\[31merror:" said && ok || fail "no colour on a terminal: $(cat -v said)"
NO_COLOR=1 on 80 "$tool" check bad.yaml > said
grep -q "$escape" said && fail "colour in spite of NO_COLOR: $(cat -v said)" || ok
TERM=dumb python3 -S terminal.py 80 "$tool" check bad.yaml > said
grep -q "$escape" said && fail "colour on a dumb terminal: $(cat -v said)" || ok
"$tool" check bad.yaml > said 2>&1
grep -q "$escape" said && fail "colour in a file: $(cat -v said)" || ok

# ---- widths ----
# longest: of the lines that are folded, all but usage and examples, in characters
longest() { sed '1d; /^examples:/,/^exit/d' said | awk '{ n = length > n ? length : n } END { print n + 0 }'; }
for columns in 40 60 80 120 200; do
    on $columns "$tool" help run > said
    n=$(longest)
    [ "$n" -le $columns ] && [ "$n" -ge $((columns - 30)) ] && ok || fail "$columns columns: the longest line has $n"
done
for columns in 50 80; do
    for topic in embed operators; do
        on $columns "$tool" help $topic | grep -v 'docs/' > said
        n=$(awk '{ n = length > n ? length : n } END { print n + 0 }' said)
        [ "$n" -le $columns ] && ok || fail "$columns columns: the longest line of help $topic has $n"
    done
done
for columns in 10 1000; do
    on $columns "$tool" help run > said && [ "$(longest)" -le 200 ] && ok || fail "$columns columns: $(longest)"
done
"$tool" help run > said
[ "$(longest)" -le 80 ] && ok || fail "in a file: $(longest) columns"

# ---- hostile names: of a dump, of a plan, of a file ----
name=$(printf 'a\033]0;owned\007\033[2Jb')
mkdir -p "odd/d"
printf '\016\0\0\0\020_id\0\001\0\0\0\0' > "odd/d/c.bson"
cp -r odd "$name"
printf 'steps:\n- set: { in: c, fields: { "%s": { $divide: [1, 0] } } }\n' 'x\e[2J\ay' > odd.yaml
cp odd.yaml "$name.yaml"
for command in "check $name.yaml" "explain odd.yaml" "check odd.yaml -i odd" "run odd.yaml -i $name -o $name.new" "cat $name" \
    "plan set -i $name" "plan $name" "$name" "diff $name odd" "help $name" "run odd.yaml --$name" "invert $name.yaml -i odd"; do
    # shellcheck disable=SC2086
    NO_COLOR=1 on 80 "$tool" $command > said
    tr -d '\n\t' < said | sed "s/$(printf '\r')\|$escape\[K//g" | LC_ALL=C grep -q '[[:cntrl:]]' &&
        fail "a name reaches the terminal: $(cat -v <<< "$command"): $(cat -v said)" || ok
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
