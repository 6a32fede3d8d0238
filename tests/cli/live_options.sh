#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# live_options.sh MONGORESHAPE - the command line of mongoreshape-live: help, manual and completions agree, misuse is
# reported in one line with status 2, no password is ever shown. Needs no server.
# usage: live_options.sh MONGORESHAPE (mongoreshape-live is in the same folder)
set -u
tool=$(realpath "$1")-live
if [ ! -x "$tool" ]; then
    echo "cli/live_options skipped: mongoreshape-live is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset MONGODB_URI
passed=0 failed=0

ok() { passed=$((passed + 1)); }
fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }

# expect STATUS WORDS ARGS...: the status, the words on standard error, nothing on standard output
expect() {
    status=$1 words=$2
    shift 2
    "$tool" "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" -ne "$status" ]; then
        fail "status $got, not $status: $* ($(cat err))"
    elif ! grep -qF -- "$words" err; then
        fail "no \"$words\" in: $(cat err) (of: $*)"
    elif [ -s out ]; then
        fail "standard output is not empty: $*"
    elif grep -q 's3cret' out err; then
        fail "the password is shown: $(cat err)"
    else
        ok
    fi
}

# ---- help, manual, completions ----
commands="apply verify contract rollback status pause resume throttle abort help"
"$tool" help --man >man || fail "help --man"
for shell in bash zsh fish; do
    "$tool" help --completion $shell >comp.$shell || fail "help --completion $shell"
    if command -v $shell >/dev/null; then
        if $shell -n comp.$shell; then ok; else fail "completions are no $shell"; fi
    fi
done
for command in $commands; do
    "$tool" help "$command" >help.1 || fail "help $command"
    "$tool" "$command" --help >help.2 || fail "$command --help"
    [ "$command" = help ] || cmp -s help.1 help.2 || fail "help $command and $command --help differ"
    options=$(sed -n 's/^  .*--\([a-zA-Z-]*\).*/\1/p' help.1 | sort -u)
    [ -n "$options" ] || fail "no options in help $command"
    for option in $options; do
        grep -qF -- "\-\-$option\fR" man || fail "--$option is not in the manual"
        grep -q -- "--$option" comp.bash || fail "--$option is not in the completions"
        grep -q -- " -l $option " comp.fish || fail "--$option is not in those for fish"
    done
    if awk 'length > 80 { exit 1 }' help.1; then ok; else fail "help $command is wider than 80 columns"; fi
done
"$tool" help >help.0
if grep -q '^  privileges  print' help.0; then ok; else fail "a command and its summary are one word: $(grep privileges help.0)"; fi
if grep -n ' $' help.0; then fail "lines of help end with a blank"; else ok; fi
if command -v groff >/dev/null; then
    if groff -man -ww -z -Tutf8 man 2>&1 | grep .; then fail "groff has complaints"; else ok; fi
fi
if "$tool" --version | grep -q '^mongoreshape-live [0-9]'; then ok; else fail "--version"; fi
complete=$(bash -c '. ./comp.bash; COMP_WORDS=(mongoreshape-live apply p --exe); COMP_CWORD=3; _mongoreshape_live; echo "${COMPREPLY[*]}"')
if [ "$complete" = "--execute" ]; then ok; else fail "completion of --exe: $complete"; fi

# ---- misuse ----
printf 'steps:\n- set: { in: c, fields: { a: 1 } }\n' >good.yaml
uri='mongodb://user:s3cret@127.0.0.1:9/d'
expect 2 'a command is missing: apply, verify,'
expect 2 'unknown command `aply`, did you mean `apply`?' aply
expect 2 'unknown option `--exceute`, did you mean `--execute`?' apply p --exceute
expect 2 '`--execute` is no option of `status`' status --execute
expect 2 'MONGODB_URI' apply good.yaml
expect 2 'give one of them' apply good.yaml --uri "$uri" --uri-file x
expect 2 'give one of them' apply good.yaml --uri "$uri" --run 12
expect 2 'PLAN is a file' apply "$uri"
printf 'steps: [' >broken.yaml
expect 2 'not valid YAML' apply broken.yaml --uri "$uri"
if grep -q 'names a database' err; then fail "a URI with a database is said to have none: $(cat err)"; else ok; fi
expect 2 'an unexpected argument' apply good.yaml "$uri"
expect 2 'unknown command `mongodb://***' "$uri" apply
expect 2 'it must be expand|direct' apply good.yaml --uri "$uri" --mode both
expect 2 'it must be block|validator|word' apply good.yaml --uri "$uri" --quiet-by hope
expect 2 'with --quiet-by the whole change is made' apply good.yaml --uri "$uri" --quiet-by word --mode expand
expect 2 '--keep-before saves what a quiet run changes' apply good.yaml --uri "$uri" --keep-before
for name in admin config local; do
    expect 2 "--state-db $name is a database of the server" apply good.yaml --uri "$uri" --state-db $name
done
for name in a/b a.b "a b" 'a$b'; do
    expect 2 '--state-db must be the name of a database' status --uri "$uri" --state-db "$name"
    expect 2 '--db must be the name of a database' apply good.yaml --uri "$uri" --db "$name"
done
expect 2 'it must be auto, or 1 to 10000' apply good.yaml --uri "$uri" --batch 0
expect 2 'it must be auto, or 1 to 10000' apply good.yaml --uri "$uri" --batch 10001
expect 2 'it must be auto, or 1 to 10000' apply good.yaml --uri "$uri" --batch 5x
expect 2 'at least 64M' apply good.yaml --uri "$uri" --memory 1M
expect 2 '--lease must be' apply good.yaml --uri "$uri" --lease 5
expect 2 '--passes must be' verify good.yaml --uri "$uri" --passes 0
expect 2 '--workers must be 1 to 16' apply good.yaml --uri "$uri" --workers 17
expect 2 'one process does all' apply good.yaml --uri "$uri" --workers 2 --mode direct
expect 2 'one process does all' apply good.yaml --uri "$uri" --workers 2 --quiet-by word
expect 2 'it needs --execute' apply good.yaml --uri "$uri" --worker
expect 2 'give --clean' abort good.yaml --uri "$uri"
expect 2 'there is no such file' apply nothing.yaml --uri "$uri"
expect 2 'nothing.yaml: there is no such file' apply nothing.yaml
expect 2 'nothing.uri' apply good.yaml --uri-file nothing.uri
expect 2 'cannot be read: Invalid URI Schema' apply good.yaml --uri "user:s3cret@host"
expect 2 'cannot be read: Unsupported value' apply good.yaml --uri "mongodb://user:s3cret@host/?tls=maybe"
expect 2 'cannot be read: Invalid host' apply good.yaml --uri "mongodb://user:s3cret@host:99999/"
for password in s3cr%zzet s3cret@s s3cret/s; do
    expect 2 'must be written as %40' apply good.yaml --uri "mongodb://user:$password@host/"
done
printf 'database: d\nsteps:\n- sett: {}\n' >bad.yaml
expect 2 'bad.yaml:3:3: error: unknown step `sett` (did you mean `set`?)' apply bad.yaml --uri "$uri"
"$tool" apply bad.yaml --uri "$uri" --json >out 2>err
if [ $? -eq 2 ] && [ ! -s err ] && grep -q '"line":3,"column":3' out && ! grep -q s3cret out; then ok; else fail "apply --json: $(cat out err)"; fi

# ---- nobody there: told quickly (the driver alone would take 30 seconds), without the password ----
begun=$(date +%s)
expect 6 '127.0.0.1:9' apply good.yaml --uri "$uri"
[ $(($(date +%s) - begun)) -lt 25 ] || fail "a host that does not answer takes $(($(date +%s) - begun)) s"
uri="$uri?serverSelectionTimeoutMS=1000"
printf '%s\n' "$uri" >uri
chmod 644 uri
expect 2 'may be read by others (mode 0644): only its owner may read it' status good.yaml --uri-file uri
chmod 600 uri
expect 6 '127.0.0.1:9' status good.yaml --uri-file uri
piped() { # STATUS WORDS: what the tool says of the connection string on its standard input
    timeout 60 "$tool" status good.yaml --uri-file - >out 2>&1
    got=$?
    if [ "$got" -eq "$1" ] && grep -qF -- "$2" out && ! grep -q s3cret out; then ok; else fail "--uri-file -: $got, $(cat out)"; fi
}
mkfifo pipe
exec 5<>pipe # what stands behind the first line is not waited for
cat uri >&5
piped 6 '127.0.0.1:9' <pipe
exec 5>&-
printf %s "user:s3cret@host" | piped 2 'cannot be read'
printf '\n' | piped 2 'standard input holds no connection string'
piped 2 'standard input holds no connection string' </dev/null
head -c 65536 /dev/zero | tr '\0' s | piped 5 'its first line has more than 65536 bytes'
piped 4 'read the connection string from standard input' <.
export MONGODB_URI="$uri"
expect 6 '127.0.0.1:9' status good.yaml
unset MONGODB_URI
"$tool" status --uri "$uri" --json >out 2>err
if [ $? -eq 6 ] && [ ! -s err ] && grep -q '"exitStatus":6' out && ! grep -q s3cret out; then ok; else fail "status --json: $(cat out err)"; fi
"$tool" status --uri "${uri%=*}=600000" >out 2>err &
pid=$!
hidden=no # once it is the tool, and before it gives up
while [ $hidden = no ] && tr '\0' ' ' <"/proc/$pid/cmdline" >listed && kill -0 "$pid"; do
    if grep -q 'status --uri' listed && ! grep -q s3cret listed; then hidden=yes; else sleep 0.1; fi
done 2>/dev/null
if [ $hidden = yes ]; then ok; else fail "the password stands in the list of processes"; fi
kill "$pid" 2>/dev/null
wait "$pid"

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
