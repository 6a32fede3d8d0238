#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# resume.sh - a run that is killed, interrupted or fails is resumed by the command that it prints; another plan, another
# input, other options and a damaged state are refused.
# usage: resume.sh MONGORESHAPE
set -u
tool=$(realpath "$1")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0 killed=0

fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }

# expect STATUS WORDS COMMAND...
expect() {
    local status=$1 words=$2
    shift 2
    "$@" >out.txt 2>err.txt </dev/null
    local got=$?
    [ "$got" -eq "$status" ] || fail "status $got, not $status: $* ($(cat err.txt))"
    grep -qF -- "$words" err.txt || fail "no \"$words\" in: $(cat err.txt) (of: $*)"
}

# whole OUT: the bytes of the run that nobody disturbed, and nothing else
whole() {
    diff -r want "$1" >/dev/null || fail "$1 is not the same ($2)"
    cmp -s want.refused.bson "$1.refused.bson" || fail "$1.refused.bson is not the same ($2)"
    for left in "$1.partial" "$1.checkpoint"; do
        [ ! -e "$left" ] || fail "$left is left over ($2)"
    done
}

mkdir -p none/d
cat >make.yaml <<'YAML'
database: d
steps:
  - grid: { into: a, by: { x: { $range: [0, 30000] } }, id: $x, fields: { x: $x, t: { $toString: $x },
            l: [{ k: $x }, { k: 2 }] } }
  - grid: { into: b, by: { x: { $range: [0, 20000] } }, id: $x, fields: { y: $x } }
YAML
cat >plan.yaml <<'YAML'
database: d
steps:
  - set: { in: a, fields: { q: { $divide: [1, { $mod: ["$x", 9973] }] } } }
  - extract: { from: a, path: l, into: c, parent_ref: a, id: new }
  - embed: { from: b, into: a, match: { y: _id }, as: b, many: first }
  - move: { from: c, into: e, where: { k: 2 } }
YAML
sed 's/k: 2 } }$/k: 3 } }/' plan.yaml >other.yaml
printf '\5\0\0\0\0' >none/d/z.bson
expect 0 "" "$tool" run make.yaml -i none -o in
options=(-i in --max-refused 50 --now 2024-05-01T00:00:00Z --jobs 2)
run=("$tool" run plan.yaml "${options[@]}")
expect 1 "refused" "${run[@]}" -o want

# ---- nothing to go on with ----
expect 1 "started over" "${run[@]}" -o fresh --resume
whole fresh "from nothing"
expect 1 "fresh is complete" "${run[@]}" -o fresh --resume
expect 1 "is complete" "${run[@]}" -o fresh/ --resume
"${run[@]}" -o fresh --resume --json 2> /dev/null | grep -q '"published":true' || fail "a complete run is not published in JSON"
expect 2 "fresh" "$tool" run other.yaml "${options[@]}" -o fresh --resume
expect 2 "fresh" "$tool" run plan.yaml -i in --max-refused 0 --now 2024-05-01T00:00:00Z -o fresh --resume
expect 2 "" "$tool" run plan.yaml "${options[@]}" --now 2024-05-02T00:00:00Z -o fresh --resume
cp -R in changed
printf '\x0e\0\0\0\x10_id\0\xff\xff\xff\x7f\0' >> changed/d/b.bson
expect 2 "fresh" "$tool" run plan.yaml -i changed "${options[@]:2}" -o fresh --resume
rm -r changed
expect 2 "--resume" "${run[@]}" -o - --resume
expect 2 "--resume" "${run[@]}" --dry-run --resume

# ---- an error: no file may grow past a limit ----
limited() { (ulimit -f 1000; exec "${run[@]}" -o out --checkpoint 0); }
expect 4 "resume with:" limited
[ -f out.checkpoint/state ] || fail "no state is left"
[ ! -e out ] || fail "there is an output"
command=$(sed -n '/^resume with:/{n;s/^ *//;p}' err.txt)
picture() { find out.checkpoint out.partial -type f -exec cksum {} + | sort; }
before=$(picture)
expect 2 "--resume continues it" "${run[@]}" -o out
expect 2 "another plan" "$tool" run other.yaml "${options[@]}" -o out --resume
expect 2 "--compress was" "${run[@]}" -o out --resume --compress gzip
expect 2 "--max-refused was" "$tool" run plan.yaml -i in --max-refused 51 -o out --resume
expect 2 "--now" "$tool" run plan.yaml -i in --max-refused 50 --now 2024-05-02T00:00:00Z -o out --resume
cp -p out.checkpoint/state state
printf 'x' | dd of=out.checkpoint/state bs=1 seek=700 conv=notrunc 2>/dev/null
expect 3 "out.checkpoint: the checkpoint is damaged (its checksum is wrong): start over with --force" \
    "${run[@]}" -o out/ --resume
cp -p state out.checkpoint/state
[ "$(picture)" = "$before" ] || fail "a refusal has changed something"
case $command in *--resume) ;; *) fail "no command resume with: $command" ;; esac
cp -a out.checkpoint older
bash -c "$command" 2>err.txt
[ $? -eq 1 ] || fail "going on by the command that was printed: $(cat err.txt)"
whole out "after an error"
mv older out.checkpoint
expect 2 "out.checkpoint is of a time before that" "${run[@]}" -o out --resume
rm -rf out.checkpoint
whole out "beside an older checkpoint"

# ---- the command is run as it stands, by a plain shell: behind `--`, and with a name that it could take for its own ----
rm -rf out out.*
odd=$'-o\t5%\n'
cp plan.yaml "./$odd"
limited3() { (ulimit -f 1000; exec "$tool" run "${options[@]}" "--tmp=$odd.d" -o out --checkpoint 0 -- "$odd"); }
mkdir "./$odd.d"
expect 4 "resume with:" limited3
sed -n '/^resume with:/,$p' err.txt | sed 1d >command
sh command 2>err.txt
[ $? -eq 1 ] || fail "going on behind --: $(cat err.txt)"
whole out "behind --"
rm -rf out out.* "./$odd" "./$odd.d"

# ---- another input: a byte in the middle of a file is another one, and its time of change was put back ----
cp -a in in2
limited2() { (ulimit -f 1000; exec "$tool" run plan.yaml -i in2 "${options[@]:2}" -o out2 --checkpoint 0); }
expect 4 "resume with:" limited2
touch -r in2/d/b.bson time
printf x | dd of=in2/d/b.bson bs=1 seek=300000 conv=notrunc 2>/dev/null
touch -r time in2/d/b.bson
expect 2 "d.b of the input has changed" "$tool" run plan.yaml -i in2 "${options[@]:2}" -o out2 --resume
rm -rf in2 out2*

# ---- a file beside the state in which one bit is another one: refused, or it is none that counts ----
rm -rf out out.*
full() { (ulimit -f 2000; exec "${run[@]}" -o out --checkpoint 0); }
expect 4 "resume with:" full
mkdir aside && mv out.checkpoint out.partial aside/
refused=0
for file in aside/out.checkpoint/[1-9]*; do
    cp -a aside/out.checkpoint aside/out.partial .
    turned=out.checkpoint/${file##*/}
    was=$(od -An -tu1 -j20 -N1 "$turned")
    printf '%b' "\\0$(printf %o $((was ^ 4)))" | dd of="$turned" bs=1 seek=20 conv=notrunc 2>/dev/null
    "${run[@]}" -o out --resume >/dev/null 2>err.txt
    status=$?
    if [ $status -eq 3 ] && grep -q " out\.checkpoint: .*the checkpoint is damaged (its file .*: start over" err.txt; then
        refused=$((refused + 1))
    elif [ $status -eq 1 ]; then
        whole out "with another bit in $file"
    else
        fail "status $status with another bit in $file: $(cat err.txt)"
    fi
    rm -rf out out.*
done
rm -rf aside
[ "$refused" -gt 1 ] || fail "only $refused files were found to be others than they were"

# ---- kill -9, again and again ----
for round in 1 2 3; do
    rm -rf out out.*
    for try in $(seq 1 60); do
        "${run[@]}" -o out --resume --checkpoint 0 >/dev/null 2>err.txt &
        pid=$!
        sleep "0.$(printf %03d $((round * 37 + try * 11)))"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        got=$?
        [ $got -eq 137 ] || break
        killed=$((killed + 1))
        [ ! -d out ] || break
        rm -f out.refused.bson.*.partial out.refused.bson.jsonl.*.partial
    done
    if [ ! -d out ] && [ $got -eq 137 ]; then # a slow machine: to its end now
        "${run[@]}" -o out --resume >/dev/null 2>err.txt
        got=$?
    fi
    if [ -d out ] && [ $got -eq 137 ] && [ ! -f out.checkpoint/state ]; then # killed when all was done
        rm -rf out.checkpoint
    elif [ -d out ] && [ $got -eq 137 ]; then # killed behind the publication
        expect 1 "" "${run[@]}" -o out --resume --checkpoint 0
    elif [ $got -ne 1 ]; then
        fail "round $round ended with $got: $(cat err.txt)"
    fi
    whole out "round $round"
done

# ---- a residue, and the way back with it ----
killed_until_done() { # OUT COMMAND...: kill -9 at ever later times
    local out=$1 got=137
    shift
    for try in $(seq 1 30); do
        "$@" --resume --checkpoint 0 >/dev/null 2>err.txt &
        pid=$!
        sleep "0.$(printf %03d $((try * 13)))"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        got=$?
        [ $got -eq 137 ] || break
        killed=$((killed + 1))
        rm -f ./*.[0-9]*.partial
    done
    if [ $got -eq 137 ]; then # a slow machine: to its end now
        "$@" --resume >/dev/null 2>err.txt
        got=$?
    fi
    [ $got -le 1 ] || { [ $got -eq 2 ] && [ -d "$out" ]; } || fail "$out ended with $got: $(cat err.txt)"
    for left in "$out".inverse*; do
        [ ! -e "$left" ] || fail "$left is left over"
    done
}
sed 's/divide: \[1,/divide: [2,/' plan.yaml >there.yaml
"$tool" invert there.yaml >back.yaml 2>/dev/null
there=("$tool" run there.yaml "${options[@]}")
expect 1 "" "${there[@]}" -o made --write-residue kept
back=("$tool" run back.yaml -i made --jobs 2 --residue kept)
expect 0 "" "${back[@]}" -o was
diff -r in was >/dev/null || diff -r in/d was/d || fail "the way back gives other bytes"
killed_until_done again "${there[@]}" -o again --write-residue kept2
diff -r made again >/dev/null || fail "with a residue: other bytes"
size() { stat -c %s "$1"; }
[ "$(size kept)" = "$(size kept2)" ] || fail "another residue" # but for the secret of its digests
expect 0 "" "$tool" run back.yaml -i again --jobs 2 --residue kept2 -o was4
diff -r was was4 >/dev/null || fail "the residue of a run that was killed brings other bytes"
(ulimit -f 1000; exec "${there[@]}" -o again2 --write-residue kept3 --checkpoint 0 >/dev/null 2>err.txt) && fail "no limit"
expect 2 "--tmp, with a residue was" "${there[@]}" -o again2 --write-residue kept3 --tmp . --resume
expect 1 "" "${there[@]}" -o again2 --write-residue kept3 --resume
[ "$(size kept)" = "$(size kept3)" ] || fail "another residue after an error"
killed_until_done was2 "${back[@]}" -o was2
diff -r was was2 >/dev/null || fail "the way back, killed: other bytes"
(ulimit -f 1000; exec "${back[@]}" -o was3 --checkpoint 0 >/dev/null 2>err.txt) && fail "no limit"
grep -q -- --resume err.txt || fail "the way back that met a limit cannot be gone on with"
cp -r kept kept4
expect 2 "--residue: the file is not the one" "${back[@]/kept/kept4}" -o was3 --resume
expect 2 "--residue: the file is not the one" "${back[@]:0:7}" -o was3 --resume
expect 2 "--tmp, with a residue was" "${back[@]}" -o was3 --tmp . --resume
expect 2 "" "${back[@]}" -o was3
expect 0 "resumed" "${back[@]}" -o was3 --resume
diff -r was was3 >/dev/null || fail "the way back after an error: other bytes"

# ---- Ctrl-C ----
for try in {1..20}; do # it may have ended when the signal comes
    rm -rf out out.*
    "${run[@]}" -o out --checkpoint 0 >/dev/null 2>err.txt &
    pid=$!
    while [ ! -f out.checkpoint/state ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
    kill -TERM $pid 2>/dev/null
    wait $pid
    got=$?
    [ $got -eq 1 ] || break
done
if [ $got -eq 143 ]; then
    grep -q "resume with:" err.txt || fail "interrupted, and no command: $(cat err.txt)"
    "${run[@]}" -o out --resume >/dev/null 2>err.txt || [ $? -eq 1 ] || fail "going on after an interrupt: $(cat err.txt)"
    whole out "after an interrupt"
else
    fail "status $got after an interrupt: $(cat err.txt)"
fi

# ---- files on another disk ----
mkdir one two
away() { find one two -name 'mongoreshape-*' | wc -l; }
spilled() { (ulimit -f 1000; exec "${run[@]}" -o out --checkpoint 0 --tmp one); }
rm -rf out out.*
expect 4 "resume with:" spilled
[ "$(away)" -gt 0 ] || fail "nothing lies in --tmp"
mv one gone
before=$(picture)
expect 2 "mount the disk of its --tmp again" "${run[@]}" -o out --tmp two --resume
[ "$(picture)" = "$before" ] || fail "a missing file has changed something"
mv gone one
expect 1 "" "${run[@]}" -o out --tmp two --resume
whole out "with --tmp"
[ "$(away)" -eq 0 ] || fail "left in --tmp: $(find one two)"
rm -rf out out.*
expect 4 "resume with:" spilled
expect 1 "" "${run[@]}" -o out --tmp two --force
whole out "with --tmp, forced"
[ "$(away)" -eq 0 ] || fail "left in --tmp: $(find one two)"

# ---- started over ----
rm -rf out out.*
expect 4 "resume with:" limited
expect 1 "" "${run[@]}" -o out --force
whole out "forced"

[ $failed -eq 0 ] && echo "cli/resume: ok ($killed kills)"
exit $((failed > 0))
