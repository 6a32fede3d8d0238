# SPDX-License-Identifier: Apache-2.0
# lib.sh - for the scripts of tests/live: the facts of the present server, and the tool called with plan.yaml. Source it
# inside tests/server/with.
#
# ask_facts writes build/.../facts.txt once per server; needs_fact NAME TEST prints "skipped" and returns 1 if the fact
# is false, so a test has: needs_fact killed-commit-251 "a killed session" || { skipped=$((skipped + 1)); return; }

# ask_facts FACTS [FILE]: asks the server at MONGODB_URI; FILE is kept by kind of server and topology
ask_facts() {
    facts_file=${2:-$(dirname "$1")/facts-${MONGODB_SERVER_KIND:-own}-${MONGODB_TOPOLOGY:-replicaset}.txt}
    if [ "${MONGODB_SERVER_KIND:-own}" = own ] || [ ! -s "$facts_file" ] || [ "$1" -nt "$facts_file" ]; then
        "$1" >"$facts_file.$$" && mv "$facts_file.$$" "$facts_file" || { rm -f "$facts_file.$$"; return 1; }
    fi
}

# needs_fact NAME [TEST]: 0 when the fact is true
needs_fact() {
    grep -q "^fact $1 true:" "${facts_file:?ask_facts first}" && return 0
    answer=$(sed -n "s/^fact $1 \([a-z]*\):.*/\1/p" "$facts_file")
    if [ -n "$answer" ]; then
        echo "skipped: ${2:-$1} (not run on this server: fact $1 is $answer)"
    else
        echo "FAIL ${2:-$1}: there is no fact called $1"
    fi
    return 1
}

# With begin.bash: `ask` and `tool` are programs; `out`, `err` and `status` are what the tool ended with.
plan() { cat >plan.yaml; }
server() { "$ask" "$@" >asked || { fail "the server: $* $(cat asked)"; return 1; }; }
verify() {
    "$tool" verify plan.yaml --db shop "$@" >out 2>err </dev/null
    status=$?
}
ends() { is "$1 ($(cat out err | cut -c1-300 | head -n 6 | tr '\n' ' '))" "$status" "$2"; }
