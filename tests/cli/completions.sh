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
mkdir site
for name in mongoreshape mongoreshape-live; do
    [ -x "$bin/$name" ] || continue
    "$bin/$name" help --completion bash > "site/$name.bash"
    "$bin/$name" help --completion zsh > "site/_$name"
    "$bin/$name" help --completion fish > "site/$name.fish"
done
mkdir -p plans && touch plans/embed.yaml
bash_says() {
    bash --norc --noprofile -c '
        source "site/$1.bash"
        words=($1 "${@:2}")
        COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) COMP_LINE="${words[*]}" COMP_POINT=${#COMP_LINE}
        spec=$(complete -p "$1") && spec=${spec##*-F } && "${spec%% *}" "$1" "${words[-1]}"
        echo "${COMPREPLY[@]}"' _ $1
}
fish_says() { fish --no-config -c "source site/${1%% *}.fish; complete -C '$1'" | cut -f1; }
# The line is typed, then Tab; what the line has become is shown by a widget of its own.
zsh_says() {
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; zstyle \":completion:*\" menu no"
        zpty -w shell "show() { print -r -- \"<\$BUFFER>\" > $2; BUFFER=; }; zle -N show; bindkey \"^X\" show; print ready"
        zpty -r -m shell answer "*ready*" || exit 1
        zpty -w -n shell "$3"$'"'\\t'"'
        sleep 0.5
        zpty -w -n shell $'"'\\x18'"'
        for i in {1..50}; do [[ -s $2 ]] && break; sleep 0.1; done
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
    prefix="" && [ $shell != zsh ] || prefix="mongoreshape "
    completes $shell "mongoreshape ru" "${prefix}run"
    completes $shell "mongoreshape pl" "${prefix}plan"
    completes $shell "mongoreshape run --max-r" "${prefix:+${prefix}run }--max-refused"
    completes $shell "mongoreshape explain --sch" "${prefix:+${prefix}explain }--schema"
    completes $shell "mongoreshape plan bucke" "${prefix:+${prefix}plan }bucket"
    completes $shell "mongoreshape run plans/em" "${prefix:+${prefix}run }plans/embed.yaml"
    completes $shell "mongoreshape help --completion fi" "${prefix:+${prefix}help --completion }fish"
    [ -e "site/_mongoreshape-live" ] || continue
    prefix=${prefix:+mongoreshape-live }
    completes $shell "mongoreshape-live verif" "${prefix}verify"
    completes $shell "mongoreshape-live apply --exec" "${prefix:+${prefix}apply }--execute"
    # One option is the beginning of the other: all shells go as far as both do.
    completes $shell "mongoreshape-live apply --work" "${prefix:+${prefix}apply }--worker"
    completes $shell "mongoreshape-live apply --workers 8" "${prefix:+${prefix}apply --workers }8"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
