#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# completions.sh MONGORESHAPE - completions in real shells: bash, zsh and fish, by the Tab key like a user.
set -u
tool=$(realpath "$1")
bin=$(dirname "$tool")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
passed=0 failed=0 skipped=0
# completes SHELL LINE WANT: what the shell offers for the line
completes() {
    local got
    got=$("$1_says" "$2" | tr '\r\n' '  ')
    if [[ " $got " == *" $3 "* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1 makes of \"$2\" no \"$3\": $got"
    fi
}
# hostile SHELL COMMAND BEGINNING WANT: the name of a file; fish quotes it when it is inserted
hostile() {
    if [ "$1" = fish ]; then completes fish "$2 $3" "${4//\\/}"; else completes "$1" "$2 $3" "$2 $4"; fi
}
mkdir site
for name in mongoreshape mongoreshape-live; do
    [ -x "$bin/$name" ] || continue
    "$bin/$name" help --completion bash > "site/$name.bash"
    "$bin/$name" help --completion zsh > "site/_$name"
    "$bin/$name" help --completion fish > "site/$name.fish"
done
mkdir -p plans 'hostile/a dump' && touch plans/embed.yaml 'hostile/s*r' 'hostile/x$(touch owned)'
# The line is typed, then Tab; what the line has become is shown by a key of its own.
cat > typed.py <<'P'
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], dict(os.environ, PS1="", TERM="dumb"))
def until(what, seconds=300):
    said, end = b"", time.time() + seconds
    while what not in said and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            said += os.read(fd, 4096)
show = 'bind -x \'"\\C-x": printf "%s" "$READLINE_LINE" > shown.new; mv shown.new shown\''
os.write(fd, ("source site/%s.bash; %s; echo re''ady\n" % (sys.argv[1].split()[0], show)).encode())
until(b"ready")
os.write(fd, sys.argv[1].encode() + b"\t")
until(b"never", 0.4)
os.write(fd, b"\x18")
for i in range(600): # however slow the machine is
    if os.path.exists("shown"):
        break
    until(b"never", 0.1)
os.close(fd)
P
bash_says() {
    python3 -S typed.py "$1" > log 2>&1
    sed 's/ *$//' shown 2> log
    rm -f shown
}
fish_says() { fish --no-config -c "source site/${1%% *}.fish; complete -C '$1'" | cut -f1; }
# The line is typed, then Tab; what the line has become is shown by a widget of its own.
zsh_says() {
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PROMPT=; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D; zstyle \":completion:*\" menu no"
        zpty -w shell "show() { print -r -- \"<\$BUFFER>\" > ${(q)2}; BUFFER=; }; zle -N show; bindkey \"^X\" show; print ready"
        zpty -r -m shell answer "*ready*" || exit 1
        zpty -w -n shell "$3"$'"'\\t'"'
        sleep 0.5
        zpty -w -n shell $'"'\\x18'"'
        for i in {1..600}; do [[ -s $2 ]] && break; sleep 0.1; done
        zpty -d shell' _ "$dir/site" "$dir/shown" "$1" > log 2>&1
    sed 's/^<//; s/ *>$//' shown 2> log
    rm -f shown
}
for shell in bash zsh fish; do
    if ! command -v $shell > log; then
        echo "SKIPPED: no $shell here"
        skipped=$((skipped + 1))
        continue
    fi
    prefix="" && [ $shell = fish ] || prefix="mongoreshape "
    completes $shell "mongoreshape ru" "${prefix}run"
    completes $shell "mongoreshape pl" "${prefix}plan"
    completes $shell "mongoreshape run --max-r" "${prefix:+${prefix}run }--max-refused"
    completes $shell "mongoreshape explain --sch" "${prefix:+${prefix}explain }--schema"
    completes $shell "mongoreshape plan bucke" "${prefix:+${prefix}plan }bucket"
    completes $shell "mongoreshape run plans/em" "${prefix:+${prefix}run }plans/embed.yaml"
    completes $shell "mongoreshape help --completion fi" "${prefix:+${prefix}help --completion }fish"
    hostile $shell "mongoreshape cat" "hostile/a" 'hostile/a\ dump/'
    hostile $shell "mongoreshape cat" "hostile/s" 'hostile/s\*r'
    hostile $shell "mongoreshape cat" "hostile/x" 'hostile/x\$\(touch\ owned\)'
    hostile $shell "mongoreshape run --tmp" "hostile/" 'hostile/a\ dump/'
    [ -e "site/_mongoreshape-live" ] || continue
    prefix=${prefix:+mongoreshape-live }
    completes $shell "mongoreshape-live verif" "${prefix}verify"
    completes $shell "mongoreshape-live apply --exec" "${prefix:+${prefix}apply }--execute"
    # One option is the beginning of the other: all shells go as far as both do.
    completes $shell "mongoreshape-live apply --work" "${prefix:+${prefix}apply }--worker"
    completes $shell "mongoreshape-live apply --workers 8" "${prefix:+${prefix}apply --workers }8"
done
[ ! -e owned ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAILED: the name of a file was run"; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
