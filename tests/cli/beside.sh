#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# beside.sh MONGORESHAPE - the side files of a run never replace its inputs: the dump, the plan, corrected documents;
# nor any other file that it writes.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool

mkdir -p case/in
printf '{"_id":1,"x":"no number"}\n' > case/in/t.a.jsonl
"$casetool" load case in
printf 'steps: [{ cast: { in: a, fields: { x: int } } }]\n' > plan.yaml
cp -r in in.before
cp plan.yaml plan.before
ln -s in/t/a.bson link

# safe NAME ARGUMENT...: a usage error that changes nothing
safe() {
    local name=$1 status
    shift
    rm -rf out
    "$tool" "$@" > log 2>&1
    status=$?
    if [ $status = 2 ] && grep -q -e 'must stay as it is' -e 'which the run writes, too' log && diff -r in in.before && cmp plan.yaml plan.before &&
        [ ! -e out ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name: status $status"
        sed 's/^/    | /' log
    fi
}
run=(run plan.yaml -i in -o out --max-refused 5)
safe "refused over a file of the input" "${run[@]}" --refused in/t/a.bson
safe "refused into the input" "${run[@]}" --refused in/new
safe "refused through a link" "${run[@]}" --refused link
safe "refused over the plan" "${run[@]}" --refused ./plan.yaml
safe "refused over a single file" run plan.yaml -i in/t/a.bson --ns t.a -o out --refused in/../in/t/a.bson
safe "check" check plan.yaml -i in --refused in/t/a.bson
safe "residue over the input" "${run[@]}" --write-residue in/t/a.metadata.json
safe "residue over the plan" "${run[@]}" --write-residue plan.yaml
safe "residue over the refused documents" "${run[@]}" --write-residue out.refused.bson
safe "residue over their text" "${run[@]}" --refused r --write-residue ./r.jsonl
safe "residue over the refused documents, named" "${run[@]}" --refused r --write-residue in/../r
safe "refused into the output" "${run[@]}" --refused out/r
safe "refused over the state" "${run[@]}" --refused out.checkpoint
safe "residue into what becomes the output" "${run[@]}" --write-residue out.partial/r
safe "residue over the state of its inverse" "${run[@]}" --write-residue out.inverse.checkpoint
safe "refused over the folder of the inverse" "${run[@]}" --write-residue way --refused out.inverse.partial
safe "an output with a slash behind" run plan.yaml -i in -o out/ --max-refused 5 --refused out.partial
cp in/t/a.bson one.bson && cp in/t/a.metadata.json one.metadata.json
safe "metadata of the output over those of the input" run plan.yaml -i one.bson --ns t.a -o one.bson.gz --force

"$tool" run plan.yaml -i in -o out -q 2> log # refused: nothing is published
cp out.refused.bson mended
safe "refused over what was mended" run plan.yaml -i in -o out --amend out.refused.bson
safe "its text over what was mended" run plan.yaml -i in -o out --amend out.refused.bson.jsonl
if cmp out.refused.bson mended && "$tool" run plan.yaml -i in -o out -q --max-refused 1 --amend mended 2> log; [ $? = 1 ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL mended documents of another name"
fi
if "$tool" run plan.yaml -i in -o any -q --max-refused any 2> log; [ $? = 1 ] && [ -e any ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAIL --max-refused any"
fi
echo "beside: $passed passed, $failed failed"
[ $failed = 0 ]
