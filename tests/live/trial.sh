#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# trial.sh - a dry run tries the plan on documents of the server: it reports the findings of `check` on a dump, for
# small collections and for samples of large ones; it does not report what a sample cannot show; nothing is written or
# left.
# Environment: OBJ, the folder of the programs.
set -u
. "$(dirname "$0")/begin.bash"
obj=$(cd "${OBJ:-$here/../../build/current}" && pwd) || exit 2
tool=$obj/mongoreshape-live ask=$obj/ask
export MONGOC_DISABLE_SHM=1
needs "$tool" "$ask"
within "$@"
mkdir tmp
export TMPDIR=$dir/tmp

# fill COLLECTION FROM TO EXPRESSION: documents whose fields bash computes from $i
fill() {
    local i docs="" n=0
    for ((i = $2; i < $3; i++)); do
        docs="$docs,{\"_id\": $i$(eval "echo \"$4\"")}"
        if [ $((++n % 500)) = 0 ] || [ $((i + 1)) = "$3" ]; then
            "$ask" shop "{\"insert\": \"$1\", \"documents\": [${docs#,}]}" > asked || fail "insert: $(cat asked)"
            docs=""
        fi
    done
}

# tries STATUS PLAN OPTION...: the dry run of a plan, its notes in `notes`
tries() {
    local status=$1 got
    printf 'database: shop\nsteps:\n%s\n' "$2" > plan.yaml
    shift 2
    "$tool" apply plan.yaml "$@" > out 2> err < /dev/null
    got=$?
    sed -n 's/^note: //p' out > notes
    [ "$got" = "$status" ] && ok || fail "status $got, not $status: $(cat plan.yaml out err)"
}
says() { grep -qF -- "$1" notes && ok || fail "no \"$1\" in: $(cat notes) (of $(sed -n 3p plan.yaml))"; }
says_not() { grep -qF -- "$1" notes && fail "\"$1\" in: $(cat notes)" || ok; }

fill people 0 30 ', \"name\": \"A$i\", \"age\": \"$i\"'
fill posts 0 40 ', \"title\": \"p$i\"'
fill comments 0 40 ', \"post\": $i'
fill comments 40 80 ', \"post\": \"$((i - 40))\"'
for field in post posts; do
    index="{\"key\": {\"$field\": 1}, \"name\": \"$field\"}"
    "$ask" shop "{\"createIndexes\": \"comments\", \"indexes\": [$index]}" > asked
done
"$ask" --picture > before

# ---- all documents of small collections
tries 1 '- set: { in: people, fields: { n: { $add: [$age, 1] } } }'
says 'tried on all 30 documents of shop.people'
says 'would be refused: step 1, shop.people: `fields.n`: $add: takes numbers and a date, not string (30, _id '
tries 0 '- set: { in: people, fields: { upper: { $toUpper: $nme } } }'
says 'step 1, shop.people: no document has `nme`; the nearest that is there: `name`'
tries 0 '- rename: { in: people, fields: { age: years } }'
says 'tried on all 30 documents of shop.people'
[ "$(wc -l < notes)" = 1 ] && ok || fail "more notes than one: $(cat notes)"
tries 0 '- embed: { from: comments, into: posts, match: { post: _id }, as: comments }'
says '40 of 80 documents of shop.comments hold a string in `post` where `_id` of shop.posts holds a number'
says 'step 1, shop.comments: 40 documents match none'
tries 0 '- embed: { from: comments, into: posts, match: { post: _id }, as: comments }' --quiet-by word
says 'step 1, shop.comments: 40 documents match none'
# what refuses and what is found are said together
tries 6 '- set: { in: people, fields: { name: $nme } }'
grep -q '^refused: .* have a field name already' out && ok || fail "no refusal: $(cat out)"
says 'no document has `nme`'
tries 1 '- set: { in: people, fields: { n: { $add: [$age, 1] } } }' --json
grep -q '"exitStatus":1,.*"refuses":false,"text":"would be refused: step 1, shop.people' out && ok ||
    fail "JSON: $(cat out)"

# ---- samples of large ones: each reference that is read finds its document
fill large 0 1500 ', \"title\": \"p$i\"'
fill many 0 3000 ', \"large\": $((i % 1500)), \"people\": [$((i % 30)), $(((i + 1) % 30))]'
"$ask" --picture > before
tries 0 '- embed: { from: many, into: large, match: { large: _id }, as: many }' --allow-scan
says 'tried on 1,000 of ~3,000 documents of shop.many, '
says_not 'match none'
says_not 'matches'
tries 0 '- copy: { from: large, into: many, match: { _id: large }, fields: { t: $title }, as: c }'
says_not 'name none'
tries 0 '- copy: { from: people, into: many, match: { _id: people }, fields: { t: $name }, as: c, wrap: id }' \
    --quiet-by word
says 'tried on all 30 documents of shop.people, 1,000 of ~3,000 of shop.many'
says_not 'name none'
tries 0 '- embed: { from: many, into: large, match: { _id: large }, as: many }' --allow-scan
says '`match` is the wrong way round'
says 'shop.large: no document has `large` (of those tried)'
tries 0 '- embed: { from: many, into: large, match: { lrge: _id }, as: many }' --allow-scan
says 'no document has `lrge`; the nearest that is there: `large` (of those tried)'
# a reference that begins with $ is no operator
fill odd 0 20 ', \"large\": {\"\$gt\": $i}'
tries 0 '- copy: { from: large, into: odd, match: { _id: large }, fields: { t: $title }, as: c }'
says 'step 1, shop.odd: 20 documents have references that name none'
"$ask" --picture > before
# a join of what another step changes, and what is so of all documents only: nothing is said of it
tries 0 '- cast: { in: many, fields: { large: string } }
- embed: { from: many, into: large, match: { large: _id }, as: many }' --quiet-by word
says_not 'match none'
tries 0 '- tree: { in: many, form: parent, to_form: ancestors }' --quiet-by word
says 'the plan was not tried on documents: step 1 (tree) needs all documents'

# ---- nothing is written, nothing is left
"$ask" --picture > is
cmp -s before is && ok || fail "a dry run writes: $(diff before is | head -5)"
[ -z "$(ls -A tmp)" ] && ok || fail "left in the temporary folder: $(ls -A tmp)"
TMPDIR=$dir/nowhere tries 0 '- rename: { in: people, fields: { age: years } }'
says 'the plan was not tried on documents: '
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
