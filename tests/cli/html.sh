#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# html.sh MONGORESHAPE - the pages of inspect, run and diff in a real browser, without a window: they render, need no
# network, show hostile names as text, contain valid steps, and hold a thousand collections.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
tool=$(realpath "$1")
bin=$(dirname "$tool")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); }
fail() { echo "FAILED: $*"; failed=$((failed + 1)); }
# expect TEXT WANT GOT
expect() { [ "$2" = "$3" ] && ok || fail "$1: $3 instead of $2"; }
for program in "$bin/casetool" "$bin/samples"; do
    [ -x "$program" ] || { echo "html: no program at $program" >&2; exit 2; }
done
# shellcheck source=../pages.sh
. "$root/tests/pages.sh"

# ---- dumps ----
# Names that end what they stand in, turn lines around, and are as long as names may be.
mkdir -p hostile/in
python3 - << 'P'
import json
long = "n" * 196 + "<b>&"
names = ['</script><script>owned=1</script>', '<img src=x onerror="owned=1">', '"><svg onload=owned=1>', "'--><!--", "\u202eesrever",
         "a\u2028b\u2029c", "tab\there\nand\u001b[31mred", "&lt;b&gt;", "${owned=1}", "`owned=1`", "\u00fc\u4e2d\U0001f600", long]
for ns, n in (("h.</script><script>owned=1</script>", 30), ("h.<img src=x onerror=owned=1>", 30), ("h.plain", 400)):
    with open("hostile/in/%s.jsonl" % ns.replace("/", "%2F"), "w") as f:
        for i in range(n):
            doc = {"_id": i, "ref": i % 30, "v": {"$numberLong": str(9007199254740993 + i)}}
            for k, name in enumerate(names):
                doc[name] = name + str(i % 7) if k % 2 else {name: [name, {name: i}]}
            f.write(json.dumps(doc) + "\n")
P
"$bin/casetool" load hostile hostile.dump > said 2>&1 || fail "no hostile dump: $(cat said)"
# A thousand collections, of which 70 refer to each other.
mkdir -p large/in
python3 - << 'P'
import json
for c in range(1000):
    with open("large/in/large.coll%04d.jsonl" % c, "w") as f:
        for i in range(30):
            doc = {"_id": "c%04d-%d-key" % (c, i), "name": "n%d" % i, "n": i, "list": [{"a": i, "b": [1, 2]}] * (i % 5)}
            if 0 < c <= 70:
                doc["coll%04dId" % (c - 1)] = "c%04d-%d-key" % (c - 1, i * 7 % 30)
            f.write(json.dumps(doc) + "\n")
P
"$bin/casetool" load large large.dump > said 2>&1 || fail "no large dump: $(cat said)"
cp -r "$root/dumps/sample" dump
cp "$root"/dumps/plans/{comments-into-posts,parts-out}.yaml .

# ---- pages ----
"$tool" inspect dump/shop --html inspect.html -q && ok || fail "inspect"
"$tool" inspect hostile.dump --html hostile.html --json > hostile.json && ok || fail "inspect of hostile names"
"$tool" inspect large.dump --html large.html -q && ok || fail "inspect of a thousand collections"
"$tool" run comments-into-posts.yaml -i dump -o new --max-refused any --html run.html --json > run.json
"$tool" run parts-out.yaml -i dump/shop -o shop.new -q --html written.html && ok || fail "run"
printf 'steps: [{ set: { in: plain, where: { _id: { $lt: 9 } }, fields: { n: { $divide: [1, $_id] } } } }]\n' > refuse.yaml
"$tool" run refuse.yaml -i hostile.dump -o refused.new --max-refused any --html refused.html -q 2> said
expect "a run with a refused document" 1 $?
"$tool" run refuse.yaml -i hostile.dump -o stopped.new --html failed.html -q 2> said
expect "a run that refuses too much" 7 $?
"$tool" run refuse.yaml -i hostile.dump -o stopped.new --json > failed.json
grep -q '"published":false.*"dropFirst":\[\],"restore":null' failed.json && ok || fail "an output that is not there: $(cat failed.json)"
long=h.$(printf 'r%.0s' {1..90})
mkdir -p long/in
echo '{"_id":1}' > "long/in/$long.jsonl"
"$bin/casetool" load long long.dump > said 2>&1 || fail "no dump with a long name: $(cat said)"
printf 'steps: [{ set: { in: "%s", fields: { _id: 2 } } }]\n' "${long#h.}" > long.yaml
"$tool" run long.yaml -i long.dump -o long.new --html long.html -q && ok || fail "a run with a long name"
"$tool" diff dump new --html diff.html -q
expect "diff" 1 $?
"$tool" diff dump dump --html same.html -q && ok || fail "diff of equal dumps"
"$tool" diff hostile.dump refused.new --html nasty.html --json > nasty.json
pages="inspect hostile large run written refused failed long diff same nasty"

# ---- the files ----
expect "for its owner alone" 600 "$(stat -c %a inspect.html)"
cp inspect.html before.html
"$tool" inspect dump/shop --html inspect.html -q && cmp -s inspect.html before.html && ok || fail "written anew, the same bytes"
echo mine > mine.html
for command in "inspect dump" "run parts-out.yaml -i dump/shop -o never" "diff dump new"; do
    "$tool" $command --html mine.html -q > said 2>&1
    expect "$command: a file that is no page" "2 mine" "$? $(cat mine.html)"
    grep -q 'mine.html: it is there and no page' said && ok || fail "$command: $(cat said)"
done
[ ! -e never ] && ok || fail "the run began"
"$tool" run parts-out.yaml -i dump/shop -o one.archive --html one.archive -q 2> said
expect "the page has the name of the output" "2 neither" "$? $([ -e one.archive ] && echo written || echo neither)"
"$tool" inspect dump --html - > said 2>&1
expect "a page on standard output" "2 no" "$? $([ -e - ] && echo yes || echo no)"
"$tool" inspect dump --html none/at/all.html -q 2> said
expect "no folder for the page" 2 $?
for page in $pages; do
    want=""
    case $page in hostile | run | nasty) want=$page.json ;; esac
    python3 embedded.py $page.html $want 2> said && ok || fail "$page.html: $(tail -n 1 said)"
done
if [ -z "$browser" ]; then
    echo "skipped: no Chromium to look at the pages (apt-get install chromium)"
    echo "$passed passed, $failed failed, 1 skipped"
    [ "$failed" -eq 0 ]
    exit
fi

# ---- in the browser ----
for page in $pages; do
    kind=run
    case $page in inspect | hostile | large) kind=inspect ;; diff | same | nasty) kind=diff ;; esac
    shown $page $kind
done
# Names are there, as text.
for want in '</script><script>owned=1</script>' '<img src=x onerror="owned=1">' '"><svg onload=owned=1>' '\u202eesrever' \
    'a\u2028b\u2029c' 'tab\u0009here\u000aand\u001b[31mred' '&lt;b&gt;' '9007199254740993'; do
    grep -qF -- "$want" hostile.text && ok || fail "hostile name is not shown: $want"
done
grep -q 'step 1' refused.text && grep -q 'refused.new.refused.bson' refused.text && ok || fail "what was refused is not shown"
grep -q 'too many refused' failed.text && ok || fail "why the run failed is not shown"
grep -q 'blog.comments' diff.text && ok || fail "what differs is not shown"
grep -qF '+ value' written.text && ok || fail "fields before and after are not shown"
# Every step to copy is one that a plan can have.
steps=0
python3 - inspect.dom hostile.dom << 'P'
import html, json, re, sys
n = 0
for dom, db in zip(sys.argv[1:], ("shop", "h")):
    text = re.search(r'<textarea id="steps">(.*?)</textarea>', open(dom, encoding="utf-8").read(), re.S).group(1)
    for step in json.loads(html.unescape(text)):
        n += 1
        open("step%d.yaml" % n, "w", encoding="utf-8").write("database: %s\nsteps:\n%s" % (db, step))
P
for plan in step*.yaml; do
    steps=$((steps + 1))
    "$tool" check "$plan" > said 2>&1 || fail "a step to copy is no step: $(cat said) $(cat "$plan")"
done
[ "$steps" -ge 40 ] && ok || fail "only $steps steps to copy"
# Light, dark, narrow; a thousand collections.
look inspect.html light --window-size=1200,900 --blink-settings=preferredColorScheme=1
look inspect.html dark --window-size=1200,900 --blink-settings=preferredColorScheme=0
expect "light" "rgb(246, 247, 249)" "$(attribute light ground)"
expect "dark" "rgb(20, 23, 27)" "$(attribute dark ground)"
grep -q 'not written' failed.text && ok || fail "a failed run counts what it wrote"
grep -q 'mongorestore' failed.text && fail "how to restore an output that is not there" || ok
for page in inspect hostile diff long; do
    look $page.html narrow --window-size=500,900
    expect "$page: no wider than a narrow window" 0 "$(attribute narrow wide)"
done
grep -q 'too many for a drawing' large.dom && ok || fail "a drawing of 71 collections"
plain=$(timeout 600 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" \
    --dump-dom "file://$dir/large.html" 2> /dev/null | grep -o '<[a-z]' | wc -l)
[ "$plain" -gt 1000 ] && [ "$plain" -lt 20000 ] && ok || fail "$plain elements for a thousand collections that nobody opened"
echo "elements of a page of 1,000 collections: $plain, all opened in $(attribute large ms) ms"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
