#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# peers.sh TOOL - the tools on both sides: we read dumps of mongodump, bsondump and mongorestore accept our output, as
# folders, as archives, packed or not, and through the everyday pipe.
#
# A test is skipped by name if a tool or a server is missing. tests/server/with provides the server; mongodump dumps the
# resulting collections, which `diff` compares with the expected ones.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tool=$(realpath "$1")
passed=0 failed=0 skipped=0
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
sample=$root/dumps/sample plans=$root/dumps/plans

ok() { passed=$((passed + 1)); }
fail() {
    printf 'FAILED: %s\n' "$*"
    [ -s "$dir/log" ] && tail -n 6 "$dir/log" | sed 's/^/    | /'
    failed=$((failed + 1))
}
skip() {
    echo "cli/peers $1 skipped: $2"
    skipped=$((skipped + 1))
}
has() { command -v "$1" > /dev/null 2>&1; }

# expect WHAT COMMAND...: it ends with 0
expect() {
    local what=$1
    shift
    if "$@" > "$dir/log" 2>&1 < /dev/null; then ok; else fail "$what ends with $?"; return 1; fi
}

# ---- bsondump ----
# Every file of an output as bsondump prints it and as `cat` does.
same_lines() {
    local f
    "$tool" run "$plans/$1" -i "$sample/$2" -o "$dir/out" --quiet > "$dir/log" 2>&1 || { fail "$1: status $?"; return; }
    for f in "$dir"/out/*/*.bson; do
        bsondump --quiet "$f" > "$dir/theirs" 2> "$dir/log" || fail "bsondump of $1, $(basename "$f")"
        "$tool" cat "$f" > "$dir/ours" 2> "$dir/log" || fail "cat of $1, $(basename "$f")"
        cmp "$dir/theirs" "$dir/ours" > "$dir/log" 2>&1 && ok || fail "$1, $(basename "$f"): other lines than bsondump's"
    done
    rm -rf "$dir/out"
}

bsondumps() {
    has bsondump || { skip bsondump "there is no bsondump"; return; }
    same_lines comments-into-posts.yaml blog
    same_lines sensor-hours.yaml iot
    same_lines addresses-out.yaml people
}

# ---- mongorestore and mongodump, with a server ----
# server_holds WHAT DUMP DB: the database as mongodump sees it is what the dump has
server_holds() {
    rm -rf "$dir/seen"
    mongodump --uri "$MONGODB_URI" --db "$3" --out "$dir/seen" > "$dir/log" 2>&1 || { fail "$1: mongodump ends with $?"; return; }
    "$tool" diff "$2" "$dir/seen" > "$dir/log" 2>&1 && ok || fail "$1: the server holds something else"
}

# back_and_forth PLAN DB: the plan's result restored from every form it can be written in
back_and_forth() {
    local plan=$plans/$1 db=$2
    expect "$1 to a folder" "$tool" run "$plan" -i "$sample/$db" -o "$dir/plain" || return
    for form in plain gzip archive archive.gz; do
        local from=$dir/to.$form pack=none zip=() as=()
        case $form in *gz*) pack=gzip zip=(--gzip) ;; esac
        "$tool" run "$plan" -i "$sample/$db" -o "$from" --compress $pack > "$dir/log" 2>&1 || { fail "$1 as $form: $?"; continue; }
        case $form in archive*) as=(--archive="$from") ;; *) as=(--dir "$from") ;; esac
        expect "mongorestore of $1 as $form" mongorestore --uri "$MONGODB_URI" --drop "${zip[@]}" "${as[@]}"
        server_holds "$1 as $form" "$dir/plain" "$db"
        drop_db "$db"
    done
    rm -rf "$dir/plain" "$dir"/to.*
}

drop_db() {
    python3 -S "$root/tests/server/wire.py" --port "$port" "$1" '{"dropDatabase":1}' > "$dir/log" 2>&1 || fail "dropping $1"
}

# The everyday pipe, and what mongodump writes in each of its forms.
pipes() {
    local plan=$plans/comments-into-posts.yaml form
    expect "the sample into the server" mongorestore --uri "$MONGODB_URI" --drop --dir "$sample" --nsInclude 'blog.*'
    expect "the plan over the sample" "$tool" run "$plan" -i "$sample/blog" -o "$dir/want"
    mongodump --uri "$MONGODB_URI" --db blog --out "$dir/had" > "$dir/log" 2>&1 || fail "mongodump to a folder"
    "$tool" diff "$sample/blog" "$dir/had" > "$dir/log" 2>&1 && ok || fail "mongodump's folder is not the sample"
    mongodump --uri "$MONGODB_URI" --db blog --gzip --out "$dir/had.gz" > "$dir/log" 2>&1 || fail "mongodump --gzip"
    mongodump --uri "$MONGODB_URI" --db blog --archive="$dir/had.archive" > "$dir/log" 2>&1 || fail "mongodump --archive"
    mongodump --uri "$MONGODB_URI" --db blog --gzip --archive="$dir/had.agz" > "$dir/log" 2>&1 || fail "mongodump --archive --gzip"
    for form in had.gz had.archive had.agz; do
        "$tool" diff "$dir/had" "$dir/$form" > "$dir/log" 2>&1 && ok || fail "$form is not what the folder is"
        expect "the plan over $form" "$tool" run "$plan" -i "$dir/$form" -o "$dir/got.$form" --format directory
        "$tool" diff "$dir/want" "$dir/got.$form" > "$dir/log" 2>&1 && ok || fail "the plan over $form gives something else"
    done
    drop_db blog
    (set -o pipefail
     cat "$dir/had.archive" | "$tool" run "$plan" -i - -o - 2> "$dir/log" |
         mongorestore --uri "$MONGODB_URI" --archive --drop 2> "$dir/theirs") && ok || fail "the pipe ends with $?"
    server_holds "the pipe" "$dir/want" blog
}

# A stream that fails must not look whole to mongorestore.
streams() {
    local cut=$dir/cut.archive
    head -c -20 "$dir/had.archive" > "$cut"
    "$tool" run "$plans/comments-into-posts.yaml" -i "$cut" -o - --stream 2> "$dir/log" |
        mongorestore --uri "$MONGODB_URI" --archive --drop > "$dir/theirs" 2>&1
    local both=("${PIPESTATUS[@]}")
    [ "${both[0]}" = 3 ] && ok || fail "a cut archive ends with ${both[0]}, not 3"
    [ "${both[1]}" != 0 ] && ok || fail "mongorestore takes half a stream for a whole one"
}

with_server() {
    port=${MONGODB_URI#*://} port=${port##*@} port=${port%%/*} port=${port##*:}
    back_and_forth comments-into-posts.yaml blog
    back_and_forth sensor-hours.yaml iot
    pipes
    streams
}

end() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

if [ "${2:-}" = inside ]; then
    with_server
    end
fi
bsondumps
if ! has mongorestore || ! has mongodump; then
    skip "mongorestore and mongodump" "there is no $(has mongorestore && echo mongodump || echo mongorestore)"
    end
fi
"$root/tests/server/with" bash "$0" "$tool" inside > "$dir/inside" 2>&1
status=$?
if [ $status -eq 77 ]; then
    skip "mongorestore and mongodump" "$(tail -n 1 "$dir/inside")"
    end
fi
sed '$d' "$dir/inside"
p=$(sed -n '$s/^\([0-9]*\) passed, .*/\1/p' "$dir/inside") f=$(sed -n '$s/.* \([0-9]*\) failed, .*/\1/p' "$dir/inside")
[ -n "$p" ] || tail -n 5 "$dir/inside"
passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
end
