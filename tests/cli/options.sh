#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# options.sh - the command line: help, manual and completions agree, misuse is reported in one line with status 2, only
# data on standard output.
# usage: options.sh MONGORESHAPE
set -u
tool=$(realpath "$1")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir tmp && export TMPDIR="$dir/tmp"
failed=0

fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }

# expect STATUS WORDS ARGS...: the status, the words on standard error, nothing on standard output
expect() {
    status=$1 words=$2
    shift 2
    "$tool" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$status" ] || fail "status $got, not $status: $*"
    [ -z "$words" ] || grep -qF -- "$words" err || fail "no \"$words\" in: $(cat err) (of: $*)"
    [ ! -s out ] || fail "standard output is not empty: $*"
}

# ---- help, manual, completions ----
"$tool" help --man >man || fail "help --man"
"$tool" help --completion bash >comp || fail "help --completion"
bash -n comp || fail "completions are no bash"
for shell in zsh fish; do
    "$tool" help --completion $shell >comp.$shell || fail "help --completion $shell"
    if command -v $shell >/dev/null; then
        $shell -n comp.$shell || fail "completions are no $shell"
    fi
done
for command in run check inspect plan explain invert cat diff help; do
    "$tool" help "$command" >help.1 || fail "help $command"
    "$tool" "$command" --help >help.2 || fail "$command --help"
    if [ "$command" != help ]; then
        cmp -s help.1 help.2 || fail "help $command and $command --help differ"
    fi
    options=$(sed -n 's/^  .*--\([a-zA-Z-]*\).*/\1/p' help.1 | sort -u)
    [ -n "$options" ] || fail "no options in help $command"
    for option in $options; do
        grep -q "\\\\-\\\\-$(printf %s "$option" | sed 's/-/\\\\\\?-/g')" man || grep -q -- "\\-\\-$option" man || fail "--$option is not in the manual"
        grep -q -- "--$option" comp || fail "--$option is not in the completions"
        grep -q -- "--$option\[" comp.zsh || grep -q -- ",--$option}" comp.zsh || fail "--$option is not in those for zsh"
        grep -q -- " -l $option " comp.fish || fail "--$option is not in those for fish"
    done
    awk 'length > 80 { exit 1 }' help.1 || fail "help $command is wider than 80 columns"
done
"$tool" help --man plan >man.plan || fail "help --man plan"
for word in '^\.TH MONGORESHAPE\\-PLAN 5' '^\.SS embed$' '^\\fBorphans\\fR (one of, or' '^\\fBsteps\\fR (list, needed)'; do
    grep -q "$word" man.plan || fail "no \"$word\" in the manual of the plan language"
done
if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning man man.plan | grep -v 'missing date' && fail "mandoc has complaints"
fi
if command -v groff >/dev/null; then
    for page in man man.plan; do
        groff -man -ww -z -Tutf8 "$page" 2>&1 | grep . && fail "groff has complaints about $page"
    done
fi
expect 2 'no manual page' help --man nothing
"$tool" --help | grep -q '^usage: mongoreshape run' || fail "--help"
"$tool" help steps | awk '{ print $1 }' >steps || fail "help steps"
grep -qx embed steps || fail "help steps does not list embed"
while read -r step; do
    "$tool" help "$step" | grep -q "^$step: " || fail "help $step"
done <steps
"$tool" help embed | grep -q '^  match  *\* ' || fail "help embed does not tell that match is required"
"$tool" help operators | grep -qw 'dateTrunc' || fail "help operators"
"$tool" --version | grep -q '^mongoreshape [0-9]' || fail "--version"
complete=$(bash -c '. ./comp; COMP_WORDS=(mongoreshape run p --max); COMP_CWORD=3; _mongoreshape; echo "${COMPREPLY[*]}"')
[ "$complete" = "--max-refused" ] || fail "completion of --max: $complete"
complete=$(bash -c '. ./comp; COMP_WORDS=(mongoreshape ru); COMP_CWORD=1; _mongoreshape; echo "${COMPREPLY[*]}"')
[ "$complete" = "run" ] || fail "completion of ru: $complete"

# ---- misuse ----
expect 2 'a command is missing'
expect 2 'unknown command `chek`, did you mean `check`?' chek
expect 2 'try `mongoreshape help run`' run
expect 2 'PLAN is missing' run
expect 2 'PLAN is missing' explain
expect 2 '-i IN is missing' run p
expect 2 '-o OUT is missing' run p -i x
expect 2 'unknown option `--memry`, did you mean `--memory`?' run p --memry 1G
expect 2 'did you mean `--memory`?' run p --mem 1G
expect 2 'unknown option `-z`' run p -z
expect 2 '`--output` is no option of `check`' check p -o x
expect 2 '`--input` needs a value' run p -i
expect 2 '`--input` is given twice' run p -i a --input=b
expect 2 '`--json` takes no value' run p --json=yes
expect 2 'must be a whole number' run p --max-refused many
expect 2 'must be a whole number' run p --max-refused 99999999999999999999
expect 2 'must be a size' run p --memory 1X
expect 2 'at least 64M' run p -i a -o b --memory 2K
expect 2 'must be a date' run p --now soon
expect 2 'it must be drop' run p --oplog keep
expect 2 'none, gzip or zstd' run p --compress rar
expect 2 '`q` is an unexpected argument: mongoreshape run PLAN -i IN -o OUT' run p q
expect 2 'an argument is empty, instead of PLAN' run '' -i in -o out
for jobs in 0 1025 4294967297; do
    expect 2 '--jobs must be' run p -i a -o b -j $jobs
    for command in check explain cat diff inspect; do
        expect 2 '--jobs must be' $command p -j $jobs
    done
done
expect 2 'at least 64M' check p --memory 2K
expect 2 'at least 64M' explain p --memory 2K
expect 2 '`--live`, `--pipeline` and `--stage` do not go together' explain p --live --pipeline
expect 2 'do not go together' explain p --stage --pipeline --json
expect 2 'a command must come first' -i x run p
expect 2 'unknown command or step `rnu`, did you mean `run`?' help rnu
expect 2 'unknown command or step `embd`, did you mean `embed`?' help embd
expect 2 'there is no such file' check nothing.yaml

# ---- plans ----
printf 'steps:\n- sett: {}\n- set: { in: c, feilds: {} }\nfoo: 1\n' >bad.yaml
expect 2 'bad.yaml:2:3: error: unknown step `sett` (did you mean `set`?)' check bad.yaml
expect 2 'bad.yaml:3:3: error: set: needed key `fields` is missing' check bad.yaml
expect 2 'bad.yaml:3:17: error: set: unknown key `feilds` (did you mean `fields`?)' check bad.yaml
expect 2 'bad.yaml:4:1: error: unknown key `foo`' explain bad.yaml
"$tool" check bad.yaml --json >out 2>err
[ $? -eq 2 ] && [ ! -s err ] && grep -q '"line":3,"column":17' out || fail "check --json"
printf 'steps:\n- set: { in: c, fields: { a: 1 } }\n' >good.yaml
expect 0 'no mistake found' check good.yaml
expect 0 '' check good.yaml -q
"$tool" explain good.yaml >out 2>err || fail "explain"
grep -q '^Step 1: set (line 2)$' out && [ ! -s err ] || fail "explain says: $(cat out err)"
"$tool" explain good.yaml --json | grep -q '^{"plan":' || fail "explain --json"
"$tool" explain good.yaml --live >out 2>err || fail "explain --live"
grep -q '^Alongside writers: may be applied (--mode expand)$' out && grep -q '^  adds (A)    db.c a$' out && [ ! -s err ] ||
    fail "explain --live says: $(cat out err)"
"$tool" explain good.yaml --live --json >out
grep -q '^{"plan":"","expand":true,"direct":true,"groups":\[{"steps":\[{"step":1,"type":"set"' out ||
    fail "explain --live --json says: $(cat out)"
printf 'steps:\n- set: { in: c, fields: { n: { $add: [$n, 1] } } }\n' >once.yaml
"$tool" explain once.yaml --live >out && grep -q '^Alongside writers: no; run it with --quiet-by$' out &&
    grep -q '  expand      no: step 1 (set): it reads what it writes' out || fail "explain --live says: $(cat out)"
expect 2 '`--live` is no option of `check`' check good.yaml --live
mkfifo pipe
exec 3<>pipe 4>pipe 3>&-
"$tool" explain good.yaml >&4 2>err
[ $? -eq 141 ] && [ ! -s err ] || fail "a reader that has enough: $(cat err)"
exec 4>&-
if [ -w /dev/full ]; then
    "$tool" explain good.yaml >/dev/full 2>err
    [ $? -eq 4 ] && grep -q 'standard output' err || fail "a full disk behind standard output"
fi

# ---- runs: one database with { _id: 1 }, { _id: 2 } ----
mkdir -p in/d
printf '\016\0\0\0\020_id\0\001\0\0\0\0\016\0\0\0\020_id\0\002\0\0\0\0' >in/d/c.bson
printf '{"options":{},"indexes":[{"v":{"$numberInt":"2"},"key":{"_id":{"$numberInt":"1"}},"name":"_id_"}],"uuid":"","collectionName":"c","type":"collection"}' >in/d/c.metadata.json
cp -r in in.before
expect 0 'restore with:' run good.yaml -i in -o out.d
[ "$(od -An -tx1 out.d/d/c.bson | tr -d ' \n')" = "15000000105f69640001000000106100010000000015000000105f696400020000001061000100000000" ] ||
    fail "documents: $(od -An -tx1 out.d/d/c.bson)"
diff -r in in.before >/dev/null || fail "the input was changed"
expect 2 'out.d' run good.yaml -i in -o out.d
expect 2 'in: it is a folder, not a file' run in -i in -o out.n
expect 2 'nosuch/out: the folder that it would be in does not exist' run good.yaml -i in -o nosuch/out
expect 2 '`--tmp nosuch`: it must be a folder that exists' run good.yaml -i in -o out.n --tmp nosuch
expect 0 '' run good.yaml -i in -o out.d --force -q
expect 0 'nothing was written' run good.yaml -i in --dry-run
expect 0 'nothing was written' check good.yaml -i in
"$tool" run good.yaml -i in -o out.j --json >out 2>err
[ $? -eq 0 ] && [ ! -s err ] && grep -q '"published":true.*"planId":"[0-9a-f]\{32\}".*"before":2' out || fail "run --json: $(cat out err)"
cp -r in in.two && cp in/d/c.bson in.two/d/e.bson
for name in out.7z out.tar.xz out.bson; do
    expect 2 "$name: written are folders" run good.yaml -i in.two -o $name
    [ ! -e $name ] && [ ! -e $name.partial ] || fail "a folder called $name"
done
expect 0 '' run good.yaml -i in -o out.7z --format directory -q
expect 0 '' run good.yaml -i in -o out.bson -q
[ -f out.bson ] && [ -d out.7z ] || fail "single files and folders by their names"
# ---- standard streams that are closed or full ----
"$tool" run good.yaml -i in -o - >&- 2>err
[ $? -eq 4 ] && grep -q 'standard output: Bad file descriptor' err || fail "an archive for a closed standard output: $(cat err)"
"$tool" run good.yaml -i - -o out.s --ns d.c <&- >out 2>err
[ $? -eq 4 ] && grep -q 'standard input: Bad file descriptor' err || fail "a closed standard input: $(cat err)"
for streams in '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
    eval "\"\$tool\" run good.yaml -i in -o out.s -v --progress --force $streams" || fail "run $streams: $?"
    cmp out.s/d/c.bson out.d/d/c.bson || fail "words in a dump: run $streams"
done
if [ -w /dev/full ]; then
    "$tool" diff in out.d >/dev/full 2>err
    [ $? -eq 4 ] && grep -q 'standard output' err || fail "what differs, for a full disk: $(cat err)"
fi
# Nobody reads, as `head` after its last line; the page that is written behind it changes errno.
python3 -c 'import os, subprocess, sys
r, w = os.pipe()
os.close(r)
sys.exit(subprocess.run(sys.argv[1:], stdout=w).returncode)' "$tool" diff in out.d --html closed.html 2>err
[ $? -eq 141 ] && ! grep -q 'standard output' err || fail "what differs, for a closed pipe: $(cat err)"
printf 'steps:\n- set: { in: nobody, fields: { a: 1 } }\n' >absent.yaml
expect 2 'absent.yaml:2:10: error: set: `in`: ' run absent.yaml -i in -o out.n
[ ! -e out.n ] && [ ! -e out.n.partial ] || fail "an output in spite of a wrong plan"
printf 'steps:\n- set: { in: c, fields: { b: { $add: ["$_id", { $cond: [{ $eq: ["$_id", 2] }, "x", 1] }] } } }\n' >refuse.yaml
expect 7 '' run refuse.yaml -i in -o out.r
[ ! -e out.r ] && [ -s out.r.refused.bson ] && [ -s out.r.refused.bson.jsonl ] || fail "refused file of a run that ended"
expect 1 '1 document was refused' run refuse.yaml -i in -o out.r --max-refused 1
expect 1 '1 document would be refused' check refuse.yaml -i in
expect 7 '' run refuse.yaml -i in --dry-run
[ -z "$(ls -d ./*.partial tmp/* 2>/dev/null)" ] || fail "something was left behind: $(ls -d ./*.partial tmp/*)"
printf '\016\0\0\0\020_id\0' >in/d/c.bson
expect 3 '' run good.yaml -i in -o out.c
[ ! -e out.c ] || fail "an output of damaged input"

if [ "$failed" -ne 0 ]; then
    echo "cli/options: $failed failed"
    exit 1
fi
echo "cli/options: ok"
