#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# restore_lines.sh MONGORESHAPE - the line that a run prints is executed unchanged, in the user's folder, with a model
# of mongorestore (restore_model.py): every namespace of the manifest is restored with its documents and indexes, and no
# existing file is changed.
set -u
tool=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../sample.bash"
casetool=$(dirname "$tool")/casetool
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0
[ -x "$casetool" ] || { echo "restore_lines: no program at $casetool" >&2; exit 2; }
for p in python3 gzip zstd tar zip unzip; do
    command -v $p > /dev/null || { echo "skip restore_lines: no $p here"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
done
mkdir "$tmp/bin"
cp "$here/restore_model.py" "$tmp/bin/mongorestore"
chmod +x "$tmp/bin/mongorestore"
PATH=$tmp/bin:$PATH
export RESTORED="$tmp/restored"

# ---- the inputs: each holds what is in `base` ----
cd "$tmp" || exit 2
base=$tmp/base
mkdir -p case/in
printf '{"_id":1,"a":1}\n{"_id":2,"a":2}\n' > case/in/shop.c.jsonl
printf '{"_id":1,"k":1}\n' > case/in/shop.d.jsonl
printf '{"_id":1}\n{"_id":2}\n{"_id":3}\n' > case/in/other.e.jsonl
id='{"v":2,"key":{"_id":1},"name":"_id_"}'
printf '{"indexes":[%s,{"v":2,"key":{"a":1},"name":"a_1","unique":true}],"collectionName":"c"}' "$id" > case/in/shop.c.metadata.json
printf '{"indexes":[%s,{"v":2,"key":{"k":1},"name":"k_1"}],"collectionName":"d"}' "$id" > case/in/shop.d.metadata.json
"$casetool" load case "$base" || exit 2
mkdir "$base/odd"
cp "$base/shop/d.bson" "$base/odd/a+b%2Bc%24.bson"
printf '{"indexes":[%s]}' "$id" > "$base/odd/a+b%2Bc%24.metadata.json"
printf '{"options":{"viewOn":"c","pipeline":[]},"indexes":[]}' > "$base/shop/v.metadata.json"
printf '{"ServerVersion":"7.0.14","ToolVersion":"100.18.0"}' > "$base/prelude.json"

with_users() { for f in users roles; do cp "$base/shop/d.bson" "$1/shop/\$admin.system.$f.bson"; done; }
with_log() { # entries of a collection that no step names
    mkdir -p log/in
    printf '{"ts":{"$timestamp":{"t":1,"i":1}},"op":"i","ns":"other.e","o":{"_id":9}}\n' > log/in/o.plog.jsonl
    "$casetool" load log log.dump && mv log.dump/o/plog.bson "$1/oplog.bson" && rm -rf log log.dump
}
pack_all() { find "$1" -type f -exec gzip -n {} +; }
make_input() { # KIND: as `in` in the folder that we are in
    cp -R "$base" in
    case $1 in
    plain | one | one.gz | one.zst | archive*) ;;
    gz) pack_all in ;;
    zst) find in -name '*.bson' -exec zstd -q --rm {} + ;;
    data-gz) find in -name '*.bson' -exec gzip -n {} + ;;
    half-gz) gzip in/shop/c.bson in/shop/d.metadata.json ;;
    all-but-one-gz) pack_all in; gunzip in/shop/d.bson.gz in/odd/*.metadata.json.gz ;;
    plain-name-gz) gzip in/shop/*.bson; mv in/shop/c.bson.gz in/shop/c.bson ;;
    gz-name-plain) mv in/shop/c.bson in/shop/c.bson.gz ;;
    half-zst) zstd -q --rm in/shop/c.bson; gzip in/other/e.bson ;;
    log) with_log in ;;
    log-gz) pack_all in; with_log in; gzip -n in/oplog.bson; mv in/oplog.bson.gz in/oplog.bson ;;
    log-gz-name) with_log in; gzip -n in/oplog.bson ;;
    users) with_users in ;;
    users-gz) with_users in; pack_all in ;;
    users-zst) with_users in; find in -name '*.bson' -exec zstd -q --rm {} + ;;
    users-log) with_users in; with_log in ;;
    users-alone) with_users in; rm -rf in/odd in/other ;;
    database) with_users in; mv in/shop moved; rm -rf in; mv moved in ;;
    tar) tar -cf t in; rm -rf in; mv t in ;;
    tar.gz) tar -czf t in; rm -rf in; mv t in ;;
    zip) zip -qr t.zip in; rm -rf in; mv t.zip in ;;
    esac
    case $1 in
    one*) mv in/shop one; rm -rf in; mv one in; find in -type f ! -name 'c.*' -delete ;;
    archive*) "$tool" run "$tmp/nothing.yaml" -i in -o a.archive -q && rm -rf in && mv a.archive in ;;
    esac
    case $1 in
    one.gz) gzip in/*.bson ;;
    one.zst) zstd -q --rm in/*.bson ;;
    archive.gz) gzip in; mv in.gz in ;;
    archive.zst) zstd -q --rm in; mv in.zst in ;;
    esac
}
printf 'steps: []\n' > nothing.yaml
printf 'database: shop\nsteps: [{ set: { in: c, fields: { y: 1 } } }]\n' > plan.yaml

# ---- what must be there ----
state() { find . -mindepth 1 \( -type f -exec sha256sum {} + -o -type l -printf '%p -> %l\n' -o -type d -printf '%p/\n' \) | sort; }
is() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n' "$1"
        diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") | sed 's/^/    /' | head -12
        sed 's/^/    | /' "$tmp/log" | tail -4
    fi
}

# wanted KIND OUT: the namespaces and indexes that the line must bring
wanted() {
    {
        case $1 in
        one*) printf 'shop.c\t_id_,a_1\n' ;;
        database | users-alone) printf 'shop.%s\n' $'c\t_id_,a_1' $'d\t_id_,k_1' $'v\tview' ;;
        *) printf '%s\n' $'odd.a b+c$\t_id_' $'shop.c\t_id_,a_1' $'shop.d\t_id_,k_1' $'shop.v\tview' $'other.e\t_id_' ;;
        esac
        case $1 in
        log* | users-log) printf 'oplog\t_id_\n' ;;
        users* | database) [ "$2" = - ] || printf 'shop/$admin.system.%s\t_id_\n' users roles ;;
        esac
    } | sort
}

# try KIND OUT [option...]: a run and its line, in a folder of files whose names are those that others might take
tries=0
try() {
    sampled $((tries++)) || return
    local kind=$1 out=$2 name in=in before line status
    name="$kind into $out${3:+ }${*:3}${from:+ from $from}"
    shift 2
    rm -rf "$tmp/work" "$RESTORED"
    mkdir "$tmp/work" && cd "$tmp/work" || exit 2
    make_input "$kind"
    mkdir dump documents ${from:+"$from"}
    cp -R "$base/shop" dump/
    for line in documents.bson dump.zip documents.metadata.json; do echo mine > $line; done
    cd "./${from:-.}" || exit 2
    [ ! "${from:-}" ] || in=../in
    case $out in - | */*) ;; *) mkdir -p "./$out.d/dump/shop" && ln -s nowhere "./$out.2.d" && cp "$base/other/e.bson" "./$out.d/dump/shop/z.bson" ;; esac
    case $kind in one*) in=$(find $in -name 'c.bson*'); set -- --ns shop.c "$@" ;; database) mkdir sub; mv in sub/shop; in=sub/shop ;; esac
    (cd "$tmp/work" && state) > "$tmp/before"
    if [ "$out" = - ]; then
        "$tool" run "$tmp/plan.yaml" -i "$in" -o "$out" "$@" > "$tmp/stream" 2> "$tmp/log"
    else
        "$tool" run "$tmp/plan.yaml" -i "$in" -o "$out" "$@" > "$tmp/log" 2>&1
        : > "$tmp/stream"
    fi
    status=$?
    (cd "$tmp/work" && state) > "$tmp/after"
    is "$name: the run leaves what was there" "" "$(comm -23 "$tmp/before" "$tmp/after")"
    line=$(sed -n '/^restore with:$/,$p' "$tmp/log" | sed 1d)
    sh -c "$line" < "$tmp/stream" >> "$tmp/log" 2>&1
    is "$name: run and line" 0 $?
    is "$name: the line leaves what was there" "" "$(comm -23 "$tmp/after" <(cd "$tmp/work" && state))"
    compare "$name" "$kind" "$out"
    cd "$tmp" || exit 2
}

# compare NAME KIND OUT
compare() {
    local manifest want got
    got=$(sort "$RESTORED" 2> /dev/null)
    is "$1: namespaces and indexes" "$(wanted "$2" "$3")" "$(cut -f1,4 <<< "$got")"
    manifest=$3.manifest.json
    [ -f "./$manifest" ] || manifest=$3/mongoreshape.manifest.json
    if [ "$3" != - ]; then
        want=$(python3 - "./$manifest" << 'END'
import json, sys
for c in json.load(open(sys.argv[1]))["collections"]:
    if "docs" in c:
        print(c["ns"], c["docs"]["$numberLong"], c["bytes"]["$numberLong"], sep="\t")
END
        )
        is "$1: documents of the manifest" "$(sort <<< "$want")" "$(cut -f1-3 <<< "$got" | grep -v '^oplog\|/\|^shop.v')"
    fi
}

# ---- every input, each into some of the outputs; FULL=1: into all ----
outs=(out new.tar new.zip new.archive - out.bson.d new.tar.gz new.archive.gz new.tar.zst new.archive.zst)
n=0
for kind in plain gz zst data-gz half-gz all-but-one-gz plain-name-gz gz-name-plain half-zst log log-gz \
    users users-gz users-zst users-log users-alone database tar tar.gz zip archive archive.gz archive.zst; do
    for i in ${!outs[@]}; do
        [ "${FULL:-}" ] || [ "$i" -eq 0 ] || [ $(((i + n) % 6)) -eq 0 ] || continue
        try $kind "${outs[i]}"
    done
    n=$((n + 1))
done
for kind in one one.gz one.zst; do
    for out in o.bson o.bson.gz o.bson.zst; do
        try $kind $out
    done
done
# ---- packed another way ----
for codec in none gzip zstd; do
    for kind in half-gz half-zst users-gz log-gz users-log; do
        for out in out new.tar new.zip new.archive -; do
            n=$((n + 1))
            [ "${FULL:-}" ] || [ $((n % 5)) -eq 0 ] || continue
            [ $codec$out = zstdnew.zip ] || try $kind $out --compress $codec
        done
    done
    try one o.bson.gz --compress $codec
    try one words --format bson --compress $codec
done
# ---- names that mean something to a shell or to the programs behind it ----
for odd in "it's" 'a b' '$HOME' '`id`' '-x' '--' '!x' '(x)' 'a*b' '[x]' 'host:x' 'ä%41' 'x\y' '"q"' 'a;b' '#x' '~' $'t\tb' $'n\nl' $'-n\n'; do
    for end in '' .tar .tar.gz .zip .archive .archive.zst .bson .bson.zst; do
        n=$((n + 1))
        [ "${FULL:-}" ] || [ $((n % 5)) -eq 0 ] || continue
        case $end in
        .bson*) try one "$odd$end" ;;
        *) try users "$odd$end" ;;
        esac
    done
    try zst "$odd" --compress zstd
done
for from in sub 'a b'; do
    for out in out ../out ../new.tar ../new.zip new.archive ../o.tar.zst out//; do
        try plain "$out"
    done
    try one ../o.bson
    try one ../o.bson.zst
done
from=

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
