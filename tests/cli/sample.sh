#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sample.sh MONGORESHAPE - a sample shows the documents of the whole run: documents that two joins read are there for
# both. And explain lists the effects on indexes.
set -u
tool=$(realpath "$1")
casetool=$(dirname "$tool")/casetool
cases=$(cd "$(dirname "$0")/../cases" && pwd)
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
passed=0 failed=0
[ -x "$casetool" ] || { echo "sample: no program at $casetool" >&2; exit 2; }

# same NAME: the files want and got
same() {
    if diff want got; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
    fi
}

mkdir -p case/in
printf '{"_id":%s,"name":"%s"}\n' 1 ann 2 bob 3 cyd > case/in/t.users.jsonl
printf '{"_id":%s,"by":%s,"editor":%s}\n' 1 1 3 2 2 1 3 3 2 > case/in/t.posts.jsonl
"$casetool" load case in
cat > plan.yaml << 'END'
steps:
  - copy: { from: users, into: posts, match: { _id: by }, fields: { author: $name } }
  - copy: { from: users, into: posts, match: { _id: editor }, fields: { edited: $name } }
END
"$tool" run plan.yaml -i in -o whole -q
"$tool" run plan.yaml -i in -o sample -q --sample 1 > shown 2>&1
"$casetool" show whole/t/posts.bson | head -n 1 > want
"$casetool" show sample/t/posts.bson > got
same "the sample's document is that of the whole run"
"$casetool" show in/t/users.bson > want
"$casetool" show sample/t/users.bson > got
same "what two joins read is whole"

# what is shown has changed or is new; the rest is not
mkdir -p some/in
printf '{"_id":%s,"n":%s}\n' 1 1 2 1 3 2 4 2 5 2 > some/in/t.a.jsonl
printf '{"_id":%s,"n":1}\n' 1 2 > some/in/t.other.jsonl
"$casetool" load some few
printf 'steps: [{ set: { in: a, where: { n: 2 }, fields: { n: 3 } } }]\n' > plan.yaml
"$tool" run plan.yaml -i few -o seen --sample 5 2>&1 | grep -E '^(t\.|  (before|after)|the plan)' > got
cat > want << 'END'
t.a
  before {"_id":3,"n":2}
  after  {"_id":3,"n":3}
  before {"_id":4,"n":2}
  after  {"_id":4,"n":3}
END
same "a sample shows what has changed"
"$tool" run plan.yaml -i few -o none --sample 2 2>&1 | grep -E '^(t\.|  (before|after)|the plan)' > got
echo 'the plan changes none of the documents in this sample' > want
same "a sample in which nothing has changed"

"$casetool" load "$cases/design/02_parts_out" parts
"$tool" explain "$cases/design/02_parts_out/plan.yaml" -i parts | sed -n '/^Indexes and options/,$p' > got
cat > want << 'END'
Indexes and options
  - parts._id_1 of t.products
  - parts.name_1 of t.products
  + parts_1 of t.products: {"parts":1}
  ~ two of t.products: {"maker":1,"parts":-1}
  + name_1 of t.parts: {"name":1}
END
same "explain lists indexes"
"$tool" explain "$cases/design/02_parts_out/plan.yaml" -i parts --json | grep -o '"indexes":.*"notes"' > got
cat > want << 'END'
"indexes":[{"change":"-","ns":"t.products","index":{"v":2,"key":{"parts._id":1},"name":"parts._id_1"}},{"change":"-",
"ns":"t.products","index":{"v":2,"key":{"parts.name":1},"name":"parts.name_1"}},{"change":"+","ns":"t.products",
"index":{"v":2,"key":{"parts":1},"name":"parts_1"}},{"change":"~","ns":"t.products","index":{"v":2,"key":{"maker":1,
"parts":-1},"name":"two"}},{"change":"+","ns":"t.parts","index":{"v":2,"key":{"name":1},"name":"name_1"}}],"notes"
END
tr -d '\n' < want > joined
{ cat joined; echo; } > want
same "explain lists indexes for programs"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
