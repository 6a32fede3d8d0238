#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# archives.sh MONGORESHAPE - archives of mongodump in and out: we accept what mongorestore accepts, and refuse with the
# place what it refuses; through pipes, compressed, as directories and back every namespace keeps its bytes; a stream
# that fails is no archive. The real archives are in ../shared/data; without them their tests are skipped by name.
set -u
tool=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/wait.bash"
shared=$root/../shared/data
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
passed=0 failed=0 skipped=0
export TMPDIR=$tmp/spool
mkdir spool
printf 'steps: []\n' > copy.yaml

ok() { passed=$((passed + 1)); }
fail() {
    printf 'FAILED: %s\n' "$*"
    [ -s log ] && tail -n 4 log | sed 's/^/    | /'
    failed=$((failed + 1))
}
expect() { # WANT WHAT COMMAND...: the exit status
    local want=$1 what=$2 got
    shift 2
    "$@" > log 2>&1 < /dev/null
    got=$?
    [ $got = "$want" ] && ok || fail "$what: exit status $got, not $want"
}
same() { "$tool" diff "$1" "$2" > log 2>&1 && ok || fail "$3: $1 and $2 differ"; }
nothing_left() { [ -z "$(ls -A spool)" ] && ok || fail "$1: something is left in the folder for temporary files"; }

# ---- what mongorestore says of made archives ----
# Columns: file, options, exit status, documents, message; where options are none, the next columns may have moved up.
cases() {
    local file opt rc rest status=0
    while IFS=$(printf '\t') read -r -u 3 file opt rc rest; do
        case $file in '#'* | file) continue ;; esac
        local want=3
        case $rc in 0 | HANG) want=0 ;; esac
        # replay needs the oplog at the end, where we put it; without replay mongorestore takes the same bytes
        [ "$file" = oplog-middle-replay.archive ] && want=0
        local how=()
        case $opt in --nsInclude=*) how=("$opt") ;; esac
        rm -rf out*
        "$tool" run copy.yaml -i "$shared/archive-cases/$file" -o out "${how[@]}" > log 2>&1
        status=$?
        if [ $status != $want ]; then
            fail "$file: exit status $status, not $want"
        elif [ $want = 3 ] && [ "$file" != bad-magic.archive ] && ! grep -q "offset [0-9].*$file" log; then
            fail "$file: neither archive nor offset is named"
        elif [ $want = 3 ] && [ -e out ]; then
            fail "$file: something was published"
        else
            ok
        fi
        cat "$shared/archive-cases/$file" | "$tool" run copy.yaml -i - -o - "${how[@]}" > piped 2> log
        status=$?
        [ "$file" = bad-magic.archive ] && want=2 # what is no archive has no name in a pipe
        [ $status = $want ] && { [ $want = 0 ] || [ ! -s piped ]; } && ok || fail "$file by a pipe: status $status, not $want"
        [ $want = 0 ] || continue
        same out piped "$file"
    done 3< <(sed 's/\t\t/\t-\t/' "$shared/archive-cases/cases.tsv")
    nothing_left "cases"
}

# ---- real archives ----
through() { # ARCHIVE: to an archive, a directory and back
    local name how
    name=$(basename "$1")
    for how in '' '--compress gzip' '--compress zstd' '--stream' '--stream --compress gzip'; do
        # shellcheck disable=SC2086
        cat "$1" | "$tool" run copy.yaml -i - -o - $how > x 2> log && ok || fail "$name $how: status $?"
        same "$1" x "$name $how"
    done
    rm -rf d y.archive
    expect 0 "$name to a directory" "$tool" run copy.yaml -i "$1" -o d
    expect 0 "$name back" "$tool" run copy.yaml -i d -o y.archive
    same "$1" y.archive "$name by a directory"
    [ -s d/prelude.json ] || [ -s d/prelude.json.gz ] && ok || fail "$name: no prelude.json"
    nothing_left "$name"
}

if [ -f "$shared/archive-cases/cases.tsv" ]; then
    cases
    for archive in "$shared"/mongodump-100.18/*.archive* "$shared"/mongo-tools/mongorestore/testdata/*w-oplog.archive \
        "$shared"/mongo-tools/mongorestore/testdata/test.bar.archive \
        "$shared"/mongo-tools/mongorestore/testdata/timeseries_tests/*.archive; do
        through "$archive"
    done
else
    echo "cli/archives cases, through skipped: there is no ../shared/data"
    skipped=$((skipped + 2))
fi

# ---- of our own sample ----
blog=$root/dumps/sample/blog plan=$root/dumps/plans/comments-into-posts.yaml
expect 0 "a folder to an archive" "$tool" run copy.yaml -i "$blog" -o blog.archive
same "$blog" blog.archive "the sample as an archive"
expect 2 "an archive that is there" "$tool" run copy.yaml -i "$blog" -o blog.archive
expect 0 "an archive replaced" "$tool" run copy.yaml -i "$blog" -o blog.archive --force
expect 0 "the plan, by folders" "$tool" run "$plan" -i "$blog" -o one
for jobs in 1 3; do
    "$tool" run "$plan" -i - -o - -j $jobs < blog.archive > two.archive 2> log && ok || fail "the plan by a pipe"
    same one two.archive "the plan by a pipe, $jobs jobs"
    cmp two.archive three.archive > log 2>&1 || [ $jobs = 1 ] && ok || fail "other bytes for $jobs jobs"
    cp two.archive three.archive
done
cat blog.archive | "$tool" run "$plan" -i - -o - --stream > four.archive 2> log && ok || fail "the plan as a stream"
same one four.archive "the plan as a stream"
expect 0 "one namespace of an archive" "$tool" run copy.yaml -i blog.archive --ns blog.posts -o posts.bson
cmp posts.bson "$blog"/posts.bson > log 2>&1 || cmp posts.bson "$blog"/blog/posts.bson > log 2>&1 && ok ||
    fail "one namespace of an archive is not its file"
expect 2 "a namespace that is not there" "$tool" run copy.yaml -i blog.archive --ns blog.nothing -o nothing.bson

# ---- failures ----
# A run that refuses: nothing on standard output; as a stream an archive that is none.
printf 'database: blog\nsteps: [{ set: { in: posts, fields: { x: { $toInt: $title } }, errors: refuse } }]\n' > bad.yaml
"$tool" run bad.yaml -i blog.archive -o - > five 2> log
[ $? = 7 ] && [ ! -s five ] && ok || fail "a run that refuses wrote to standard output"
"$tool" run bad.yaml -i blog.archive -o - --stream > five 2> log
[ $? = 7 ] && ok || fail "a stream that refuses"
mv five five.archive
expect 3 "what a failed stream leaves" "$tool" run copy.yaml -i five.archive -o six
# every cut of an archive is told, by a file and by a pipe
size=$(stat -c %s blog.archive)
for ((i = 1; i <= 60; i++)); do
    cut=$((size * i / 61))
    head -c $cut blog.archive > cut.archive
    expect 3 "cut at $cut" "$tool" run copy.yaml -i cut.archive -o six
    "$tool" run copy.yaml -i - -o - < cut.archive > seven 2> log
    [ $? != 0 ] && [ ! -s seven ] && ok || fail "cut at $cut, by a pipe"
done
# one byte of each of 60 places is another: a checksum, a length or a name tells it
for ((i = 0; i < 60; i++)); do
    at=$((size * i / 60))
    cp blog.archive flip.archive
    byte=$(od -An -tu1 -j $at -N 1 blog.archive)
    printf "$(printf '\\x%02x' $((byte ^ 16)))" | dd of=flip.archive bs=1 seek=$at conv=notrunc status=none
    rm -rf six
    "$tool" run copy.yaml -i flip.archive -o six > log 2>&1
    status=$?
    # the head, metadata and sizes in the prelude have no checksum: what they say may be another text
    if [ $status = 0 ]; then
        "$tool" diff six blog.archive > log 2>&1 && ok || grep -q 'metadata\|only in' log && ok || fail "byte $at flipped: not told"
    elif [ $status = 3 ] || [ $status = 2 ] || [ $status = 5 ]; then
        ok
    else
        fail "byte $at flipped: status $status"
    fi
done
nothing_left "failures"

# ---- a pipe in which nothing comes: the first signal ends it ----
mkfifo idle
idle() { # BYTES WHAT ARGUMENT...
    local bytes=$1 what=$2 pid
    shift 2
    exec 7<> idle # no end comes as long as this is open
    head -c "$bytes" blog.archive >&7
    "$tool" "$@" < idle > eight 2> log 7>&- &
    pid=$!
    await catches $pid "$tool"
    sleep 0.5 # most of the time it waits for its input by now
    kill -TERM $pid
    ended $pid
    [ $? = 143 ] && [ ! -s eight ] && [ ! -e nine ] && ok || fail "$what is not ended by a signal"
    exec 7>&-
}
idle 0 "a run that waits for its input" run copy.yaml -i - -o nine
idle 5000 "a run that waits for the rest of an archive" run copy.yaml -i - -o -
idle 0 "cat that waits for its input" cat -
nothing_left "interrupted"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
