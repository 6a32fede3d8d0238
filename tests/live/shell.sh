#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shell.sh [--show] - the package for mongosh in a real mongosh: the session of docs/SHELL.md line by line, the packed
# files, its types, and that no process ever shows a password. --show prints the actual session. Needs OBJ.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
skipped() {
    echo "shell skipped: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
for need in mongoreshape mongoreshape-live livetool casetool; do
    [ -x "${OBJ:?}/$need" ] || skipped "$need is not built"
done
if [ "${1:-}" != inside ]; then
    bin=$("$root/tests/server/mongosh" 2>&1) || skipped "$bin"
    MONGOSH_BIN=$bin "$root/tests/server/with" --auth bash "${BASH_SOURCE[0]}" inside "$@"
    status=$?
    [ "$status" -eq 77 ] || exit "$status"
    skipped "no server with users"
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
umask 077
passed=0 failed=0 missing=0
ok() { passed=$((passed + 1)); }
fail() { printf 'FAILED: %s\n' "$*"; failed=$((failed + 1)); }
secret='s3cret' # of the password of tests/server/with
package=$root/shell-ext/mongosh

mkdir -p blog/in home tmp
cp "$root"/dumps/text/blog.*.jsonl blog/in/
cp "$root/dumps/sample/blog/comments.metadata.json" blog/in/blog.comments.metadata.json
cp "$root/dumps/plans/comments-into-posts.yaml" embed.yaml
cp embed.yaml blog/plan.yaml
sed 's/embed:/embd:/' embed.yaml > typo.yaml
printf 'database: blog\nsteps:\n  - set: { in: posts, fields: { popular: { $gt: ["$views", 500] } } }\n' > set.yaml
uri=${MONGODB_URI/\/\?//blog?}
export MONGORESHAPE_BIN=$OBJ HOME=$dir/home TMPDIR=$dir/tmp PATH=$MONGOSH_BIN:$PATH
fresh() {
    for db in blog __mdb_internal_mongoreshape; do
        MONGODB_URI=$uri "$OBJ/livetool" drop "$db" > log 2>&1 || fail "drop: $(cat log)"
    done
    rm -rf work && mkdir work
    MONGODB_URI=$uri "$OBJ/livetool" load blog work > log 2>&1 || fail "load: $(cat log)"
}

# ---- what is packed, and installed as the manual says ----
npm pack --silent "$package" > log 2>&1 || fail "npm pack: $(cat log)"
tar tzf mongoreshape-mongosh-*.tgz | sort > got
(cd "$package" && find . -type f | sed 's|^\./|package/|'; echo package/LICENSE) | sort > want
diff want got && ok || fail "npm pack holds other files"
npm install --silent --no-audit --no-fund --prefix "$HOME/.mongoreshape" ./mongoreshape-mongosh-*.tgz > log 2>&1 &&
    ok || fail "npm install: $(cat log)"
{
    echo 'load(process.env.HOME + "/.mongoreshape/node_modules/mongoreshape-mongosh/load.js")'
    echo 'prompt = "\u0001"'
} > "$HOME/.mongoshrc.js"
if [ -x "$MONGOSH_BIN/tsc" ]; then
    mkdir -p types
    cat > types/use.ts <<'END'
import reshapeOf = require("../home/.mongoreshape/node_modules/mongoreshape-mongosh");
async function use(shell: reshapeOf.Shell) {
    const own: reshapeOf.Reshape = reshapeOf(shell);
    const plan = { steps: [{ unset: { in: "a", fields: ["b"] } }] };
    const report = await own.apply(plan, { execute: true, maxRefused: "any" });
    const text: string | undefined = report.next;
    await reshape.throttle({ docs: 500, bytes: "2M" });
    return (await own.pipeline("plan.yaml"))[0].writes?.[0].pipeline ?? text;
}
END
    "$MONGOSH_BIN/tsc" --noEmit --strict --esModuleInterop --module commonjs --target es2022 types/use.ts > log 2>&1 &&
        ok || fail "types: $(cat log)"
    sed 's/"2M"/true/' types/use.ts > types/wrong.ts
    "$MONGOSH_BIN/tsc" --noEmit --strict --module commonjs --target es2022 types/wrong.ts > log 2>&1 &&
        fail "bytes: true is taken" || ok
else
    echo "types skipped: no tsc beside mongosh"
    missing=1
fi

# session FILE: its lines typed into mongosh, what each gives in FILE.N, without colours
session() {
    rm -f "$1".[0-9]*
    mongosh "$uri" --quiet < "$1" > said 2>&1
    awk -v RS='\001' -v file="$1" 'NR > 1 {
        gsub(/\r|\x1b\[[0-9;]*[A-Za-z]/, ""); sub(/^\n+/, ""); sub(/\n+$/, "")
        printf "%s%s", $0, $0 == "" ? "" : "\n" > (file "." (NR - 1))
    }' said
}

# ---- docs/SHELL.md: each line gives what stands below it; each block over fresh data ----
awk '/^```js$/ { on = 1; n++; next } /^```/ { on = 0 } on { print > sprintf("block.%02d", n) }' "$root/docs/SHELL.md"
cat block.?? > shown
: > got
for block in block.??; do
    sed -n 's/^> //p' "$block" > typed
    fresh
    session typed
    n=0
    while IFS= read -r line; do
        n=$((n + 1))
        printf '> %s\n' "$line"
        case $line in # how often it looks is a matter of time
        reshape.watch*) tail -n 1 "typed.$n" ;;
        *) cat "typed.$n" ;;
        esac
    done < typed >> got
done
[ "${2:-}" != --show ] || cat got
# The id of a plan hangs on the version of the server whose rules are the default.
no_ids() { sed -E 's/[0-9a-f]{12}([0-9a-f]{20})?/ID/g' "$1"; }
diff <(no_ids shown) <(no_ids got) > differences && ok || fail "docs/SHELL.md shows another session: $(cat differences)"
[ "$(grep -c '^> ' got)" -ge 30 ] && ok || fail "the session is short"

# ---- what goes wrong ----
printf '%s\n' "$uri" > other.uri
cat > wrong <<'END'
reshape.apply("embed.yaml", { uri: "mongodb://x" })|uri: the shell's own connection is used
reshape.apply({ execute: true }, {})|give a plan
reshape.check()|which plan?
reshape.apply("embed.yaml", { background: true })|only with execute: true
reshape.apply("none.yaml")|none.yaml
reshape.apply("embed.yaml", { tmp: {} })|tmp: must be true, a number, a text or a date
reshape.status({ run: "ffff" })|there is no such run
reshape.help("throttle")|--docs N
reshape.help("nothing")|unknown command
reshape.status({ uriFile: "other.uri" })|runs: []
reshape.apply("embed.yaml", { execute: true, background: true, maxRefused: "none" })|--max-refused
reshape.check({ steps: [ { delete: { in: "a", where: { b: [ undefined ] } } } ] })|.delete.where.b.0 is undefined
reshape.check({ steps: [ { set: { in: "a", fields: { b: d => d.a } } } ] })|plan.steps.0.set.fields.b is a function
reshape.check({ steps: [ { set: { in: db.a, fields: { b: 1 } } } ] })|plan.steps.0.set.in is a Collection
reshape.check({ steps: [ { delete: { in: "a", where: { b: ObjectId(), c: /x/, d: Long("5") } } } ] })|exitStatus: 0
reshape.apply("embed.yaml", { quietBy: true })|--quiet-by
END
# answers LINE WORDS N: what the N-th line typed gave
answers() { grep -qF -- "$2" "typed.$3" && ok || fail "$1: $(cat "typed.$3")"; }
fresh
cut -d'|' -f1 wrong > typed
session typed
n=0
while IFS='|' read -r line words; do
    n=$((n + 1))
    answers "$line" "$words" "$n"
done < wrong
echo 'reshape.status()' > typed
MONGORESHAPE_BIN=/nowhere session typed
answers 'no program' 'mongoreshape-live not found: install it' 1

# ---- types of numbers: in a plan, in the pipelines that it gives, and in the script for the shell ----
cat > typed <<'END'
const odd = { long: NumberLong("9007199254740993"), one: Long("1"), whole: Double(2), n: 3, part: 0.5, big: 1e20 }
const values = { $literal: { ...odd, in: [Long("4"), Double(5)] } }
const plan = { steps: [ { set: { in: "typed", fields: { x: values } } } ] }
const all = { $concatArrays: [ { $map: { input: { $objectToArray: "$x" }, in: "$$this.v" } }, "$x.in" ] }
const look = [ { $project: { _id: 0, v: "$x.long", t: { $map: { input: all, in: { $type: "$$this" } } } } } ]
const types = () => { const found = db.typed.aggregate(look).next(); return found.v + " " + found.t.join(" ") }
const again = () => { db.typed.drop(); db.typed.insertOne({ _id: 1 }) }
again(); reshape.apply(plan, { mode: "direct", execute: true }).written; types()
const write = reshape.pipeline(plan)[0].writes[0]; again(); db.typed.aggregate(write.pipeline, write.options); types()
typeof write.options.hint._id
const script = reshape.explain(plan, { pipeline: true }); again(); eval(script); types()
END
session typed
for n in 8 9 11; do
    answers "types of numbers, line $n" '9007199254740993 long long double int double double array long double' $n
done
answers 'an int is a number' number 10

# ---- a run in the background, held, paused, let go and watched ----
cat > typed <<'END'
db.posts.insertMany(Array.from({ length: 2000 }, (_, i) => ({ _id: i, views: i }))).acknowledged
const plan = { steps: [ { set: { in: "posts", fields: { popular: { $gt: ["$views", 500] } } } } ] }
const job = reshape.apply(plan, { execute: true, background: true, batch: 1, sleep: 1000 }); job.phase
reshape.throttle(plan, { docs: 50 }).said
reshape.pause(plan).said
reshape.status(plan)
reshape.apply(plan, { execute: true, background: true }).phase
reshape.resume(plan).said
reshape.throttle(plan, { docs: 200, sleep: 0 }).said
reshape.watch(plan).phase
db.posts.countDocuments({ popular: { $exists: true } })
EJSON.parse(require("fs").readFileSync(job.log, "utf8")).exitStatus
END
fresh
session typed
answers 'begun' expand 3
answers 'held' 'has these limits now' 4
answers 'paused' 'pauses before its next batch' 5
answers 'at work' 'at_work: true' 6
answers 'paused' 'pause: true' 6
answers 'a second one' 'Error' 7
answers 'watched' 'of ~' 10
[ "${2:-}" != --show ] || cat typed.10
answers 'watched' expanded 10
[ "$(tail -n 1 typed.10)" = expanded ] && ok || fail "not watched to its end: $(cat typed.10)"
[ "$(cat typed.11)" = 2008 ] && ok || fail "the plan was not applied: $(cat typed.11)"
answers 'its report' 0 12

# ---- no password in a process, nor in what is printed ----
mkdir spy
cat > spy/mongoreshape-live <<END
#!/bin/sh
tr '\0' '\n' < /proc/\$\$/cmdline >> $dir/seen
tr '\0' '\n' < /proc/\$\$/environ >> $dir/seen
exec $OBJ/mongoreshape-live "\$@"
END
chmod 700 spy/mongoreshape-live
unset MONGODB_URI
fresh
printf '%s\n' 'reshape.apply("embed.yaml", { execute: true })' 'reshape.status()' > typed
MONGORESHAPE_BIN=$dir/spy session typed
answers apply "phase: 'expanded'" 1
answers status "phase: 'expanded'" 2
[ -s seen ] && ok || fail "nothing was started"
grep -q -- --uri-file=- seen && ok || fail "the URI was not given on standard input"
if grep -n "$secret" seen said typed.*; then fail "a password is shown"; else ok; fi
[ -z "$(find tmp -name plan.json)" ] && ok || fail "the file of a plan is left"

echo "$passed passed, $failed failed, $missing skipped"
[ "$failed" -eq 0 ]
