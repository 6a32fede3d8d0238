#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packings.sh - gzip in gzip, zeros after packed data, and windows of zstd: read like usual packings, or reported.
# usage: packings.sh MONGORESHAPE
set -u
tool=$(realpath "$1")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0

verdict() {
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else printf 'FAILED: %s (%s)\n' "$1" "$(head -n 2 err)"; failed=$((failed + 1)); fi
}
bytes() { printf '%b' "$*"; }
le() { printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)); }
doc() { bytes "$(le 14)\x10_id\x00$(le "$1")\x00"; }
docs() { for i in $(seq "${1:-300}"); do doc "$i"; done; }
zeros() { head -c "$1" /dev/zero; }
# frame WINDOW: a frame of zstd around standard input, at most 2,000 bytes, that asks for a window of so many exponent bits
frame() {
    cat >body
    local head=$(($(stat -c %s body) << 3 | 1))
    bytes "\x28\xb5\x2f\xfd\x00\x$(printf %02x $((($1 - 10) << 3)))\x$(printf %02x $((head & 255)))\x$(printf %02x $((head >> 8)))\x00"
    cat body
}

cat >set.yaml <<'Y'
version: 1
database: d
steps: [{ set: { in: c, fields: { a: 1 } } }]
Y
cat >copy.yaml <<'Y'
version: 1
database: d
steps: [{ set: { in: other, where: { _id: 0 }, fields: { a: 1 } } }]
Y
docs >plain.bson
mkdir -p plain/d in/d
cp plain.bson plain/d/c.bson
printf '{"options":{},"indexes":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"n":1},"name":"n_1"}],"uuid":"00000000000000000000000000000001","collectionName":"c"}' >plain/d/c.metadata.json
docs 9 >plain/d/other.bson
"$tool" run set.yaml -i plain -o want -q 2>err && "$tool" run copy.yaml -i plain -o passed -q 2>err
verdict "the plain dump" $?

# same WHAT INPUT ARGS...: the run of both plans, cat and diff make of it what they make of the plain dump
same() {
    local what=$1 input=$2 plan
    shift 2
    rm -rf out
    "$tool" run set.yaml -i "$input" -o out --compress none "$@" >/dev/null 2>err && "$tool" diff want out "$@" >/dev/null 2>>err
    verdict "$what: run" $?
    rm -rf out
    "$tool" run copy.yaml -i "$input" -o out --compress gzip "$@" >/dev/null 2>err && "$tool" diff passed out >/dev/null 2>>err
    verdict "$what: passed through" $?
    gzip -dc out/d/c.bson.gz 2>err | cmp - plain.bson >>err && gzip -qt out/d/*.gz 2>>err
    verdict "$what: passed through, packed once, without zeros" $?
    "$tool" cat "$input" --ns d.c >got 2>err && "$tool" cat plain --ns d.c | cmp - got >>err
    verdict "$what: cat" $?
    "$tool" diff plain "$input" >/dev/null 2>err
    verdict "$what: diff" $?
}
fill() { rm -rf in; mkdir -p in/d; for f in c.bson c.metadata.json other.bson; do $1 <plain/d/$f >in/d/$f"$2"; done; }
twice() { gzip -c | gzip -c; }
padded() { gzip -c; zeros 10240; }
members() { split -b 1000 --filter='gzip -c' -; }
padded_members() { members; zeros 1; }

for jobs in 1 4; do
    fill twice .gz.gz
    same "gzip in gzip, .gz.gz, jobs $jobs" in --jobs $jobs
    fill twice .gz
    same "gzip in gzip, .gz, jobs $jobs" in --jobs $jobs
    fill padded .gz
    same "zeros behind gzip, jobs $jobs" in --jobs $jobs
    fill padded_members .gz
    same "members and a zero, jobs $jobs" in --jobs $jobs
done
"$tool" run copy.yaml -i plain -o dump.archive -q 2>err
twice <dump.archive >twice.archive.gz
same "an archive, twice" twice.archive.gz
padded <dump.archive >padded.archive.gz
same "an archive with zeros" padded.archive.gz
tar -cf - -C plain d | twice >twice.tar.gz
same "a tar, twice" twice.tar.gz
tar -cf - -C plain d | padded >padded.tar.gz
same "a tar with zeros" padded.tar.gz
twice <plain.bson | "$tool" cat - --ns d.c >got 2>err && "$tool" cat plain.bson --ns d.c | cmp - got >>err
verdict "a stream, twice" $?
padded <plain.bson >c.bson.gz && "$tool" cat c.bson.gz --ns d.c 2>err | cmp - got >>err
verdict "a single file with zeros" $?

# damage is damage: other bytes behind the zeros, the inner or the outer packing cut
says() { "$tool" cat "$1" --ns d.c >got 2>err; [ $? -eq 3 ] && grep -qF "$1: damaged gzip" err && grep -qF "$2" err; }
{ padded <plain.bson; printf x; } >bad.bson.gz
says bad.bson.gz 'other bytes after the last member'
verdict "a byte behind the zeros" $?
gzip -c plain.bson | head -c 300 | gzip -c >bad.bson.gz
says bad.bson.gz 'truncated'
verdict "the inner packing cut" $?
twice <plain.bson | head -c 300 >bad.bson.gz
says bad.bson.gz 'truncated'
verdict "the outer packing cut" $?
# 559,903 is also what gzip begins with
{ bytes "$(le 559903)\x10_id\x00$(le 1)\x05b\x00$(le 559881)\x00"; zeros 559881; bytes '\x00'; } | gzip -c >large.bson.gz
"$tool" cat large.bson.gz --ns d.c >got 2>err && [ "$(wc -l <got)" -eq 1 ]
verdict "a document whose length looks like gzip" $?

# windows of zstd: half of the memory, up to 2 GiB
docs 100 >few.bson
"$tool" cat few.bson --ns d.c >few
window() { # WINDOW MEMORY STATUS WORDS
    frame "$1" <few.bson >w.bson.zst
    rm -f out.*
    "$tool" run set.yaml -i w.bson.zst --ns d.c -o out.bson --memory "$2" -q >/dev/null 2>err
    local got=$?
    [ $got -eq "$3" ] && { [ -z "$4" ] || grep -qF "w.bson.zst: its zstd stream needs a window of $4" err; }
    verdict "a window of 2^$1 bytes with $2" $?
}
window 23 64M 0 ''
window 25 64M 0 ''
window 26 64M 5 '64 MiB, which may take half of the memory: give --memory 128M'
window 26 128M 0 ''
window 28 512M 0 ''
window 31 512M 5 '2048 MiB, which may take half of the memory: give --memory 4096M'
window 31 4G 0 ''
window 32 64G 5 'more than 2048 MiB'
frame 31 <few.bson >w.bson.zst
"$tool" cat w.bson.zst --ns d.c 2>err | cmp - few >>err
verdict "cat of a window of 2 GiB" $?
{ frame 20 <few.bson; zeros 5000; } >w.bson.zst
"$tool" cat w.bson.zst --ns d.c 2>err | cmp - few >>err
verdict "zeros behind zstd" $?

# zips: names with backslashes, as some programs of Windows write them; a program before the zip that unpacks it
cat >zips.py <<'P'
import io, struct, sys, zipfile
def made(slash, system, folders=True):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
        for name in (['dump/', 'dump/d/'] if folders else []) + ['dump/d/' + n for n in ('c.bson', 'c.metadata.json', 'other.bson')]:
            info = zipfile.ZipInfo(name)
            info.filename = name.replace('/', slash)
            info.create_system = system
            info.external_attr = 0x10 if name[-1] == '/' else 0
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, b'' if name[-1] == '/' else open('plain/' + name[5:], 'rb').read())
    return out.getvalue()
def shifted(z, by):  # every place counts what stands before the zip
    z = bytearray(z)
    at = z.rfind(b'PK\5\6')
    n, d, = struct.unpack('<H', z[at + 10:at + 12])[0], struct.unpack('<I', z[at + 16:at + 20])[0]
    z[at + 16:at + 20] = struct.pack('<I', d + by)
    for i in range(n):
        z[d + 42:d + 46] = struct.pack('<I', struct.unpack('<I', z[d + 42:d + 46])[0] + by)
        d += 46 + sum(struct.unpack('<HHH', z[d + 28:d + 34]))
    return bytes(z)
stub = b'MZ\x90\0\3\0\0\0' + bytes(5000)
mixed = made('/', 0).replace(b'dump/d/c.bson', b'dump/d\\c.bson')
for name, data in (('back0', made('\\', 0)), ('back3', made('\\', 3)), ('bare', made('\\', 0, False)), ('stub', stub + made('/', 3)),
                   ('counted', stub + shifted(made('/', 3), len(stub))), ('script', b'#!/bin/sh\nexec unzip "$0"\n' + made('\\', 0)),
                   ('mixed', mixed), ('two', made('/', 3) + made('/', 3)), ('cut', (stub + made('/', 3))[:-30])):
    open(name + ('.exe' if name in ('stub', 'counted', 'script', 'cut') else '.zip'), 'wb').write(data)
P
python3 zips.py
for file in back0.zip back3.zip bare.zip stub.exe counted.exe script.exe; do
    rm -rf out
    "$tool" run set.yaml -i $file -o out --compress none >/dev/null 2>err && "$tool" diff want out >/dev/null 2>>err
    verdict "$file: run" $?
    "$tool" diff plain $file >/dev/null 2>err
    verdict "$file: diff" $?
done
refused() { "$tool" diff plain "$1" >/dev/null 2>err; [ $? -eq 3 ] && grep -qF "$1: $2" err; }
refused mixed.zip 'dump/d\c.bson (its header'
verdict "a name with both slashes" $?
refused two.zip 'there is something at byte'
verdict "two zips" $?
"$tool" diff plain cut.exe >/dev/null 2>err
[ $? -eq 3 ] && grep -qF 'cut.exe: ' err
verdict "a program with a part of a zip" $?

echo "cli/packings: $passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
