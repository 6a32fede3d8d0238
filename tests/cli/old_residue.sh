#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# old_residue.sh MONGORESHAPE - a residue of version 1, whose digests have no secret, can be restored; a present one has
# a new secret in each run.
set -u
. "$(dirname "$0")/begin.bash" "$1"
check() { if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1"; fi; }

mkdir -p in/d
printf '\036\0\0\0\020_id\0\001\0\0\0\020old\0\007\0\0\0\020v\0\003\0\0\0\0' > in/d/c.bson
printf '\025\0\0\0\020_id\0\002\0\0\0\020v\0\005\0\0\0\0' >> in/d/c.bson
cat > plan.yaml << 'END'
server: "8.2"
database: d
steps:
  - unset: { in: c, fields: [old] }
  - set: { in: c, fields: { v: 9 } }
END
# What the tool of that version wrote for this plan and this input.
base64 -d << 'END' | gzip -dc > old
H4sIAAAAAAACA31SO4sUQRCumd099ziEvRPFSDTTwLUfM93TCkZeIKzJLYiBHPSj2lvYm5GZcX1wwQWCoamx0SGGGigYGFwsGPk7VMwO7Z7dQAws+Lqq
ul4f1X1nZ7qzPb1NEwDYjEeQg3eTu58/2YPojxZYN7OqhBhL26qaw1qwyJiOCaQP57qES8HPOCKxiMZxQqzSWVYg17ktCMmV0wLSWRk7YZftvXNUc88d
EVoS5QV3SjCtqCK5ExTWy+oxPP3w4szrMLbfVo/sHjo4DKU9Ak8ik7KBftBubGHLVbaBdMkdUjd7gE3bzcmNlt6YjOWBgpIKrRKGsVxZFNQUCtKqdlh3
uUJYzYgSzjFPJWaFtYwIU3hhuM9k0fUOmKzmPL//7edLvHE0+YfNsN3DGiFJnenyHaS2ms87O0SdbjUkw30MCgZRdTdL6QXcWtn4Y+3qx5usH+s2AnjA
lYDL76+dXEw3AdaXJh8k8OrCqJo7OLWA3tnRAgaxvg+Hx1Nx7+2zcjeJ3JpV31+7x1+/H51cj/6w0fsI/1mgcKitl0jRMuUKyYiWBeUSc5RWGvn3AsND
UiUoFZihF8oU6K2UrDBGcBo+BnS8zq2mbJz//eV09WY7+ls12tBnucNO/gBR0i6AlgIAAA==
END
"$tool" invert plan.yaml > back.yaml 2> err
"$tool" run plan.yaml -i in -o new --write-residue today > log 2>&1
"$tool" run plan.yaml -i in -o new2 --write-residue again > log 2>&1
sed '/^server/d' plan.yaml > newer.yaml # today's default is 8.3
"$tool" invert newer.yaml > newer.back.yaml 2> err
"$tool" run newer.back.yaml -i new -o was --residue old > log 2>&1
check 'who goes by the default is told' grep -q 'server: "8.2"' log
check 'version 1 comes back' "$tool" run back.yaml -i new -o was --residue old 2> log
check 'the same bytes' cmp -s in/d/c.bson was/d/c.bson
check 'that of today comes back' "$tool" run back.yaml -i new -o was2 --residue today 2> log
check 'what to drop first' grep -qx 'before restoring over the old data, drop at the target: d.c' log
check 'how to restore it' grep -qx "  mongorestore --dir='was2'" log
check 'packed' "$tool" run back.yaml -i new -o was4 --residue today --compress gzip 2> log
check 'how to restore it, packed' grep -qx "  mongorestore --gzip --dir='was4'" log
check 'the same bytes again' cmp -s in/d/c.bson was2/d/c.bson
check 'digests of two runs have nothing alike' [ "$(grep -aoE '[0-9a-f]{32}' today | sort | uniq -d | wc -l)" = 0 ]
grep -aoE '[0-9a-f]{32}' today | sort > a
grep -aoE '[0-9a-f]{32}' again | sort > b
check 'but for the ids of both plans' [ "$(comm -12 a b | wc -l)" = 2 ]
for format in tar archive zip; do
    "$tool" run back.yaml -i new -o packed --format $format --residue today > log 2>&1
    check "the way back into $format: status" [ $? = 2 ]
    check "the way back into $format" grep -qF -- '--residue: OUT must be a folder' log
done
"$tool" run back.yaml -i new -o packed --residue in > log 2>&1
check 'a folder is no residue' grep -qF -- '--residue in: it is no file' log
printf '\377' | dd of=new/d/c.bson bs=1 seek=16 conv=notrunc 2> err
"$tool" run back.yaml -i new -o was3 --residue old > log 2>&1
check 'another input is told' grep -q 'other documents are in it' log
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
