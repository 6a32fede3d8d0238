#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs.sh MONGORESHAPE - the examples in docs/QUESTIONS.md, MANUAL.md, PLANS.md and `help` show the actual output of the
# tool.
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

# ---- recipes: the plan over the documents before gives those after ----
cat > recipes.py <<'P'
import json, os, re, sys
title, n, kind = "", 0, ""
for line in open(sys.argv[1]):
    if line.startswith("### "):
        title, n = line[4:].strip(), n + 1
        os.makedirs("recipe%d/case/in" % n)
        open("recipe%d/title" % n, "w").write(title)
    fence = re.match(r"```(.*)$", line)
    if fence:
        kind = fence.group(1) if not kind else ""
    elif n and kind == "yaml":
        open("recipe%d/plan.yaml" % n, "a").write(line)
    elif n and kind == "json before":
        row = json.loads(line)
        open("recipe%d/case/in/%s.jsonl" % (n, row["ns"]), "a").write(json.dumps(row["doc"]) + "\n")
    elif n and kind == "json after":
        open("recipe%d/want" % n, "a").write(line)
print(n)
P
recipes=$(python3 recipes.py "$root/docs/QUESTIONS.md") || fail "QUESTIONS.md cannot be read"
[ "$recipes" -ge 17 ] && ok || fail "only $recipes recipes"
for ((i = 1; i <= recipes; i++)); do
    (
        cd "recipe$i" || exit 1
        "$bin/casetool" load case dump && "$tool" run plan.yaml -i dump -o new > said 2>&1 || { cat said; exit 1; }
        "$tool" cat new --with-ns --relaxed | diff want -
    ) && ok || fail "recipe \"$(cat "recipe$i/title")\""
done

# ---- plans of PLANS.md ----
awk '/^```yaml/ { on = 1; n++; f = "block" n ".yaml"; print "database: db\nsteps:" > f; next } /^```/ { on = 0 } on { print > f }' \
    "$root/docs/PLANS.md"
for block in block*.yaml; do
    "$tool" check "$block" > said 2>&1 && ok || fail "a plan of PLANS.md: $(head -n 3 "$block" | tail -n 1): $(cat said)"
done

# ---- targets of make that a page names are in `make help` ----
make -s -C "$root" help > targets
while read -r target; do
    grep -qwe "$target" targets && ok || fail "\`make help\` does not list $target"
done < <(grep -rhoE --include='*.md' --exclude-dir=build '(`|^    )make [a-z-]+' "$root" | awk '{ print $NF }' | sort -u)

# ---- commands, each in a folder of its own with what it needs ----
mkdir base stubs
(
    cd base || exit 1
    cp -r "$root/dumps/sample" dump
    cp -r dump dump.restored
    cp "$root"/dumps/plans/{split-names,part-names}.yaml .
    mv part-names.yaml copy.yaml
    cp "$root/dumps/plans/comments-into-posts.yaml" plan.yaml
    cp plan.yaml embed.yaml
    printf 'steps: []\n' > copy-all.yaml
    gzip < dump/blog/comments.bson > comments.bson.gz
    "$tool" run copy-all.yaml -i dump -o archive.gz --format archive --compress gzip -q &&
    "$tool" run copy-all.yaml -i dump -o dump.archive -q &&
    "$tool" run plan.yaml -i dump -o out -q &&
    "$tool" run plan.yaml -i dump -o dump.new --write-residue plan.residue -q &&
    "$tool" invert plan.yaml > back.yaml &&
    tar cJf backup.tar.xz dump
) || fail "the folder of the examples"
printf '#!/bin/sh\ncase $1 in --archive) cat dump.archive ;; esac\n' > stubs/mongodump
printf '#!/bin/sh\nexec cat > restored\n' > stubs/mongorestore
printf '#!/bin/sh\nexec cat > page\n' > stubs/man
chmod +x stubs/*
# Times and sizes on the disk differ from run to run.
timeless() { sed -E 's/[0-9]+\.[0-9]+ s/T s/g'; }
# within COMMAND: its output, in a fresh folder; what it is to make is not there yet
within() {
    rm -rf here
    cp -r base here
    (
        cd here || exit 1
        out=$(sed -nE 's/.* (-o|--write-residue|--suggest) ([^ |]+).*/\2/p' <<< "$1")
        case $1 in *--resume*) ;; *) [ -z "$out" ] || rm -rf "$out" ;; esac
        case $1 in *--write-residue*) rm -rf dump.new ;; esac
        PATH="$bin:$dir/stubs:$PATH" bash -c "set -o pipefail; $1" 2>&1 < /dev/null
    )
}
# Where dumps differ, or refused documents are the point, that is the status.
status_of() { case $1 in *"diff dump archive.gz"* | *"diff dump dump.new"*) echo "0 1" ;; *) echo 0 ;; esac }
run_all() {
    local line
    while IFS= read -r line; do
        [[ $line != *" jq "* ]] || command -v jq > /dev/null || { echo "SKIPPED: no jq: $line"; skipped=$((skipped + 1)); continue; }
        within "$line" > said
        status=$?
        case " $(status_of "$line") " in
        *" $status "*) if grep -q '^jq: error' said; then fail "$1: $line: $(head -n 2 said)"; else ok; fi ;;
        *) fail "$1: status $status of: $line: $(tail -n 5 said)" ;;
        esac
    done
}
run_all MANUAL.md < <(sed -nE 's/^(    )?((mongodump|mongoreshape|tar) .*)/\2/p' "$root/docs/MANUAL.md" | sed 's/ *# .*//')
for command in run check inspect plan explain invert cat diff help; do
    run_all "help $command" < <("$tool" help $command | sed -n '/^examples:/,/^exit/s/^  \([a-z].*\)/\1/p')
done
# Blocks of a session: commands and what they print, one folder for the whole block.
cat > sessions.awk <<'A'
/^```console/ { on = 1; n++; next }
/^```/ { on = 0 }
on { print > ("session." FILENAME_OUT "." n) }
A
for page in MANUAL QUESTIONS; do
    awk -v FILENAME_OUT=$page -f sessions.awk "$root/docs/$page.md"
done
for session in session.*; do
    rm -rf here
    cp -r base here
    (
        cd here || exit 1
        rm -rf dump.new plan.residue
        grep -q '> plan.yaml' "../$session" && rm plan.yaml
        while IFS= read -r line; do
            echo "$line"
            PATH="$bin:$dir/stubs:$PATH" bash -c "${line#\$ }" 2>&1 < /dev/null
        done < <(grep '^\$ ' "../$session")
    ) > got
    # A line of `...` stands for any lines.
    if python3 - "$session" got <<'P'
import re, sys
want, got = (re.sub(r"[0-9]+\.[0-9]+ s", "T s", open(f).read()) for f in sys.argv[1:])
sys.exit(0 if re.fullmatch(re.escape(want).replace(re.escape("...\n"), "(?s:.*)"), got) else 1)
P
    then ok; else
        fail "$session: other output: $(diff "$session" got)"
    fi
done
# The script of MANUAL.md: twice, the second time with nothing left to do.
awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$root/docs/MANUAL.md" > again.sh
rm -rf here && cp -r base here && rm -rf here/dump.new
for said in 'started over' 'nothing is left to do'; do
    (cd here && PATH="$bin:$PATH" sh ../again.sh) > got 2>&1 && grep -q "$said" got && ok || fail "the script of MANUAL.md: $(cat got)"
done
[ "$(ls session.* | wc -l)" -ge 3 ] && ok || fail "only $(ls session.* | wc -l) sessions"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
