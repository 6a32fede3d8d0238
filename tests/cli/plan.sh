#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# plan.sh MONGORESHAPE - `plan STEP` prints plans that `check` accepts, every key of them; `explain --schema` accepts
# what `check` accepts.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
casetool=$(dirname "$tool")/casetool
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); }
fail() { echo "FAILED: $*"; failed=$((failed + 1)); }
# holds WHAT COMMAND...
holds() {
    local what=$1
    shift
    if "$@" > said 2>&1; then ok; else fail "$what: $(head -c 600 said)"; fi
}

"$tool" plan > list || fail "plan"
for word in 'unwind=`extract` makes documents' '$group=`rollup` computes' '$map=an operator, of the family array' \
    '$function=refused'; do
    "$tool" help "${word%%=*}" | grep -qF -- "${word#*=}" && ok || fail "help ${word%%=*}"
done
"$tool" help steps | cmp -s - list && ok || fail "plan and help steps list other steps"
steps=$(awk '{ print $1 }' list)
[ "$(wc -w <<< "$steps")" -ge 25 ] && ok || fail "only these steps: $steps"

# Keys that need another one, or do not go with one: what sed does about it.
with() {
    case "$1 $2" in
    "copy sort") echo 's/^      # many/      many/' ;;
    "embed dangling") echo '$a\      reference: into' ;;
    "extract pages") echo '/^      parent_ref: /d' ;;
    "rekey merge") echo '/^      id: /d' ;;
    "rollup by") echo '/^      match: /d' ;;
    "set conflicts") echo 's/^      fields: .*/      fields: { _id: $email }/' ;;
    "set types") echo 's/^      fields: .*/      fields: { "old_*": null }/' ;;
    "unset types") echo 's/^      fields: .*/      fields: ["old_*"]/' ;;
    "rename types") echo 's/^      fields: .*/      fields: { "old_*": "new_*" }/' ;;
    "partition most") echo 's/^      into: .*/      into: { "*": "vehicles_*" }/' ;;
    "options capped") echo 's/^      # size/      size/' ;;
    "options size" | "options max") echo 's/^      # \(capped\|size\)/      \1/' ;;
    esac
}
for step in $steps; do
    "$tool" plan "$step" > one.yaml || fail "plan $step"
    holds "plan $step | check" "$tool" check one.yaml
    "$tool" help "$step" | sed -n 's/^  \([a-z_A-Z][a-z_A-Z]*\) .*: .*/\1/p' > keys
    while read -r key; do
        grep -qE "^      (# )?$key: [^ ]" one.yaml && ok || fail "plan $step has no example of $key"
    done < keys
    sed -n 's/^      # \([a-zA-Z_]*\): .*/\1/p' one.yaml > others
    while read -r key; do
        sed -e "s/^      # $key: /      $key: /" -e "$(with "$step" "$key")" one.yaml > two.yaml
        holds "plan $step with $key" "$tool" check two.yaml
    done < others
done
"$tool" plan embde > said 2>&1
[ $? -eq 2 ] && grep -q 'unknown step `embde`, did you mean `embed`?' said && ok || fail "plan embde: $(cat said)"

# Names of a dump: what stands in the plan is there.
for step in $steps; do
    "$tool" plan "$step" -i "$root/dumps/sample" > one.yaml || fail "plan $step -i"
    holds "plan $step -i | check -i" "$tool" check one.yaml -i "$root/dumps/sample"
done
"$tool" plan embed -i "$root/dumps/sample" > one.yaml
for line in '# blog.comments: _id postId author text createdAt votes' 'database: blog' '      from: comments' '      into: posts' \
    '      match: {postId: _id}'; do
    grep -q "^$line" one.yaml && ok || fail "plan embed -i has no line \"$line\""
done
# Hostile names: a field called "a\n  - drop_collection: {in: x}" ends no line of the plan.
mkdir -p odd/d
python3 - > odd/d/c.bson <<'P'
import struct, sys
name = b"a\n  - drop_collection: {in: x}\x1b[31m"
body = b"\x10_id\0" + struct.pack("<i", 1) + b"\x04" + name + b"\0" + struct.pack("<i", 5 + 3 + 5) + b"\x030\0" + \
    struct.pack("<i", 5) + b"\0" + b"\0"
sys.stdout.buffer.write(struct.pack("<i", len(body) + 5) + body + b"\0")
P
for step in extract unset; do
    holds "plan $step of odd names" "$tool" plan $step -i odd
    grep -q '^  - drop_collection' said && fail "a name of the dump became a step"
    cp said one.yaml
    holds "plan $step of odd names | check" "$tool" check one.yaml -i odd
done
printf '\016\0\0\0\020_id\0' > odd/d/c.bson
"$tool" plan set -i odd > said 2>&1
[ $? -eq 3 ] && ok || fail "plan of a damaged dump: $(cat said)"

printf '\016\0\0\0\020_id\0\001\0\0\0\0\016\0\0\0\040_id\0\001\0\0\0\0' > odd/d/c.bson
"$tool" plan set -i odd > said 2>&1
[ $? -eq 3 ] && grep -q 'c.bson: document 2, offset 18: ' said && ok || fail "the place of a damaged document: $(cat said)"
# An array that is called like its collection does not go into this collection.
if [ -x "$casetool" ]; then
    mkdir -p case/in
    printf '{"_id":1,"comments":[{"text":"a"}]}\n' > case/in/d.comments.jsonl
    "$casetool" load case same && "$tool" plan extract -i same > one.yaml
    holds "an array called like its collection" "$tool" check one.yaml -i same
fi

# The schema takes the plans that the tool takes.
"$tool" explain --schema > schema.json || fail "explain --schema"
"$tool" explain --schema x.yaml > said 2>&1
[ $? -eq 2 ] && ok || fail "explain --schema PLAN"
if ! python3 -c 'import jsonschema' 2> said || [ ! -x "$casetool" ]; then
    echo "SKIPPED: the schema against plans: python3-jsonschema or casetool is not there"
    skipped=$((skipped + 1))
else
    n=0
    mkdir plans
    for plan in "$root"/tests/cases/*/*/plan.yaml "$root"/dumps/plans/*.yaml; do
        name=$(tr / _ <<< "${plan#"$root"/}")
        if "$tool" check "$plan" > said 2>&1; then
            "$casetool" plan "$plan" > "plans/good_$name.json" || fail "casetool plan $plan"
            n=$((n + 1))
        fi
    done
    [ "$n" -gt 500 ] && ok || fail "only $n plans"
    cat > mistakes <<'M'
steps: [{ embde: {} }]
steps: [{ embed: { from: a, into: b, match: { x: _id } } }]
steps: [{ embed: { from: a, into: b, match: { x: _id }, as: c, keeep: all } }]
steps: [{ embed: { from: a, into: b, match: { x: _id }, as: c, keep: some } }]
steps: [{ embed: { from: a, into: b, match: x, as: c } }]
steps: [{ embed: { from: 1, into: b, match: { x: _id }, as: c } }]
steps: [{ embed: { from: a, into: b, match: { x: _id }, as: c, limit: -1 } }]
steps: [{ embed: { from: a, into: b, match: { x: _id }, as: c, one: "yes" } }]
steps: [{ embed: { from: a, into: b, match: { x: _id }, as: c, overflow: { into: d, size: 3 } } }]
steps: [{ embed: { from: a, into: b, match: { x: _id }, as: c, orphans: { to: d } } }]
steps: [{ set: { in: a, fields: 3 } }]
steps: [{ set: { in: a, fields: { b: 1 } }, unset: { in: a, fields: [b] } }]
steps: [{ index: { in: a, create: [{ kee: { a: 1 } }] } }]
steps: [{ union: { from: 5, into: b } }]
steps: { set: { in: a, fields: { b: 1 } } }
step: []
database: shop
version: one
M
    i=0
    while read -r line; do
        i=$((i + 1))
        echo "$line" > "mistake$i.yaml"
        "$tool" check "mistake$i.yaml" > said 2>&1 && fail "check takes the mistake: $line"
        "$casetool" plan "mistake$i.yaml" > "plans/bad_$i.json" 2> said || fail "casetool plan: $line"
    done < mistakes
    cat > validate.py <<'P'
import glob, json, jsonschema
schema = json.load(open("schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
v = jsonschema.Draft7Validator(schema)
good = bad = 0
for name in sorted(glob.glob("plans/*.json")):
    errors = list(v.iter_errors(json.load(open(name))))
    if bool(errors) == name.startswith("plans/bad_"):
        good += 1
    else:
        bad += 1
        print("FAILED: schema:", name, errors[0].message[:300] if errors else "is a mistake and passes")
print("schema:", good, bad)
P
    python3 validate.py > said 2>&1
    grep FAILED said
    if grep -q '^schema: ' said; then
        passed=$((passed + $(awk '/^schema: /{ print $2 }' said))) failed=$((failed + $(awk '/^schema: /{ print $3 }' said)))
    else
        fail "schema: $(tail -c 600 said)"
    fi
fi
# The inverse of a partition by a star, with the others in a collection of their own, is a plan.
printf 'database: d\nsteps:\n  - partition: { from: a, by: x, into: { "*": "p_*" }, drop: true, others: { into: o } }\n' > star.yaml
"$tool" invert star.yaml > back.yaml 2> said || fail "invert star.yaml: $(cat said)"
holds "the inverse of a partition by a star" "$tool" check back.yaml
# Several values, or all others, with one collection: a union takes it once, and no tag tells the values apart.
cat > shared.yaml << 'Y'
database: d
steps:
  - partition: { from: e, by: k, into: { a: x, b: x } }
  - partition: { from: f, by: k, into: { a: y, b: z }, drop: true, others: { into: z } }
  - partition: { from: g, by: k, into: [{ value: 1, into: v }, { value: 2, into: w }], drop: true, others: { into: v } }
Y
"$tool" invert shared.yaml > back.yaml 2> said || fail "invert shared.yaml: $(cat said)"
holds "the inverse of a partition with a shared collection" "$tool" check back.yaml
[ "$(grep -cE 'from: \[(x|"?y"?, z|v, w)\]$' back.yaml)" = 3 ] && ! grep -q 'tag:' back.yaml && ok ||
    fail "shared collections in the inverse: $(cat back.yaml)"
# A star in a name that a plan writes is a character; in the `unset` of the inverse it would take all names that fit.
cat > star.yaml << 'Y'
database: d
steps:
  - copy: { from: e, into: a, match: { _id: x }, fields: { "n*": n } }
  - window: { in: b, sort: { t: 1 }, fields: { "n*": { $rank: {} } } }
  - rollup: { from: e, into: c, match: { x: _id }, fields: { "n*": { $sum: 1 } } }
  - rollup: { from: e, into: f, match: { x: _id }, as: "n*", fields: { n: { $sum: 1 } } }
  - link: { parent: g, child: h, child_refs: "n*", parent_ref: up, derive: child_refs }
  - rename: { in: i, fields: { m: "n*" } }
Y
"$tool" invert star.yaml > back.yaml 2> said || fail "invert star.yaml: $(cat said)"
[ "$(grep -cF 'fields: [["n*"]]' back.yaml)" = 5 ] && ok || fail "names with a star in the inverse: $(cat back.yaml)"
grep -q '^ *fields: {"n\*": m}' back.yaml && fail "a rename of all that begins with n: $(cat back.yaml)"
grep -q 'step 6 rename: the name of m' back.yaml && ok || fail "the loss of a name: $(cat back.yaml)"
# An ObjectId that is written as one gets no advice to write it so.
printf 'database: d\nsteps:\n- delete: { in: a, where: { o: { $oid: "507f1f77bcf86cd799439011" } } }\n' > oid.yaml
"$tool" check oid.yaml > said 2>&1 && ! grep -q warning said && ok || fail "an ObjectId: $(cat said)"
# A plan of another encoding, as a shell of Windows redirects it.
iconv -f UTF-8 -t UTF-16 oid.yaml > wide.yaml
"$tool" check wide.yaml > said 2>&1
[ $? -eq 2 ] && grep -q 'this is UTF-16 or no text: save the file as UTF-8' said && ok || fail "UTF-16: $(cat said)"
printf 'database: d\nsteps:\n- set: { in: a, fields: { t: "caf\351" } }\n' > latin.yaml
"$tool" check latin.yaml > said 2>&1
[ $? -eq 2 ] && grep -q '; save the file as UTF-8$' said && ok || fail "Latin-1: $(cat said)"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
