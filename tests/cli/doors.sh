#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# doors.sh MONGORESHAPE - the output of a run has no wider permissions than its input; soft links of a dump are not
# followed; files of other programs in a dump's folders are skipped; names of a dump or plan reach a terminal only
# escaped.
set -u
. "$(dirname "$0")/begin.bash" "$1" casetool
mkdir -p case/in
printf '{"_id":1,"x":1}\n{"_id":2,"x":0}\n' > case/in/t.a.jsonl
printf '{"_id":1}\n' > case/in/t.b.jsonl
umask 022
"$casetool" load case in
printf 'steps: [{ set: { in: a, fields: { y: { $divide: [1, $x] } } } }]\n' > plan.yaml
printf 'steps: [{ set: { in: a, fields: { y: 1 } } }]\n' > simple.yaml

# ---- rights ----
# rights FILE...: those of each, and of what is in it, once
rights() { find "$@" -printf '%y %m\n' | sort -u | tr '\n' ','; }
run() { rm -rf out*; "$tool" run plan.yaml --max-refused 5 -q "$@"; }
run -i in -o out --write-residue out.residue
is "of a dump for all" "d 755,f 644," "$(rights out)"
is "refused documents and the residue" "f 600," "$(rights out.refused.bson out.refused.bson.jsonl out.residue)"
chmod 600 in/t/a.bson
run -i in -o out
is "where one file is private" "d 700,f 600," "$(rights out)"
chmod 640 in/t/a.bson
run -i in -o out
is "where one file is the group's" "d 750,f 640," "$(rights out)"
for to in out.tar out.zip out.archive; do
    run -i in -o $to
    is "packed into $to" "f 640," "$(rights $to $to.manifest.json)"
done
run -i in/t/a.bson --ns t.a -o out.bson
is "a single file" "f 640," "$(rights out.bson out.bson.manifest.json out.metadata.json)"
tar -C in -cf in.tar t
chmod 600 in.tar
run -i in.tar -o out
is "of a private tar" "d 700,f 600," "$(rights out)"
chmod 644 in/t/a.bson
chmod 700 in/t
run -i in -o out
is "where the folder is private" "d 700,f 600," "$(rights out)"
chmod 755 in/t
rm -rf out*
for _ in $(seq 14); do cat in/t/b.bson in/t/b.bson > more; mv more in/t/b.bson; done # of equal _ids, which no step looks at
cp -r in in.big
(ulimit -f 200; exec "$tool" run simple.yaml -i in.big -o out -q --checkpoint 0) 2> /dev/null
is "what a stopped run leaves to go on with" "d 700,f 600," "$([ -e out.checkpoint/state ] && rights out.checkpoint)"
rm -rf out*

# ---- soft links ----
echo secret > outside
for where in in/notes.txt in/t/notes.txt in/t/c.bson; do
    ln -s "$tmp/outside" $where
    "$tool" run simple.yaml -i in -o out 2> log
    is "a link at $where" "3 1" "$? $(grep -cF "$where: a soft link, which is not followed" log)"
    rm -rf out* $where
done
ln -s /etc in/t/sub
"$tool" run simple.yaml -i in -o out 2> log
is "a folder by a link" "3 1" "$? $(grep -c 'in/t/sub: a soft link' log)"
rm in/t/sub
ln -s in named
"$tool" run simple.yaml -i named -o out -q
is "the dump itself by a link" 0 $?
rm -rf out*

# ---- what is no part of a dump ----
mkdir -p in/.git in/__MACOSX/t in/t/.svn
echo x > in/.git/config
printf '\0\5\26\7\0\2\0\0' | tee in/t/._a.bson in/._t > in/__MACOSX/t/._a.bson
ln -s /etc in/.git/link
"$tool" run simple.yaml -i in -o out 2> log
is "the folders of other programs" "0 note: in/._t and 4 others: passed over, no part of a dump" "$? $(grep "passed over" log)"
is "are not copied" "" "$(find out -name '.*' -o -name '__*')"
tar -cf in.tar --exclude=link in
rm -rf out*
"$tool" run simple.yaml -i in.tar -o out -q
is "nor from a tar" "0 " "$? $(find out -name '.*' -o -name '__*')"
rm -rf out*
odd=('in/$RECYCLE.BIN' 'in/System Volume Information' in/lost+found in/@eaDir)
mkdir "${odd[@]}"
for d in "${odd[@]}"; do echo x > "$d/x.bson"; done
"$tool" run simple.yaml -i in -o out -q
is "folders of file systems" "0 t" "$? $(cd out && echo */ | tr -d /)"
rm -rf "${odd[@]}"
printf 'x' > in/t/._b.txt
rm -rf out*
"$tool" run simple.yaml -i in -o out -q
is "a file that is only called like them" "0 x" "$? $(cat out/t/._b.txt)"
# ---- names that a terminal would obey ----
rm -rf in out* case
mkdir -p case/in in/t
printf '{"_id":1,"x":1}\n' > case/in/t.a.jsonl
"$casetool" load case odd
name=$(printf 'e\033[31m\nfake: lost\302\233\342\200\256') file='e%1B%5B31m%0Afake%3A+lost'$(printf '\302\233\342\200\256')
cp odd/t/a.bson "in/t/$file.bson"
printf '{"options":{},"indexes":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"x":1},"name":"x\\u001b\\nfake: y"}],"collectionName":"e\\u001b[31m\\nfake: lost\\u009b\\u202e","type":"collection"}' > "in/t/$file.metadata.json"
cp odd/t/a.bson in/t/a.bson
json='"e\u001b[31m\nfake: lost\u009b\u202e"'
printf '{"steps":[{"unset":{"in":%s,"fields":["x"]}}]}' "$json" > unset.yaml
printf '{"steps":[{"move":{"from":%s,"into":"a"}}]}' "$json" > move.yaml
printf '{"steps":[{"drop_collection":{"collection":%s}}]}' "$json" > drop.yaml
printf '{"steps":[{"set":{"in":"a","fields":{"q":{"$divide":[1,{"$toInt":"\\u001b\\nfake: 7"}]}}}}]}' > expression.yaml
printf '{"steps":[{"un\\u001b\\nfake: 5":{}}]}' > wrong.yaml
printf '{"steps":[{"embed":{"from":%s,"into":"a","match":{"\\u001b\\nfake: 6":"_id"},"as":"y"}}]}' "$json" > embed.yaml
printf '{"steps":[{"unset":{"in":"\\u001b\\nfake: 5","fields":["x"]}}]}' > missing.yaml
cp unset.yaml "$(printf 'e\033\nfake: plan')"
silent() { # NAME ARGUMENT...: nothing that a terminal obeys, no line of a name's own
    local name=$1
    shift
    rm -rf out*
    "$tool" "$@" 2>&1 | LC_ALL=C sed '/^{/s/\xc2\x9b\|\xe2\x80\xae//g' > log # JSON shows such letters as they are
    is "$name" "0" "$(LC_ALL=C grep -c "$(printf '\033\|^ *fake\|\302\233\|\342\200\256')" log)"
}
for plan in unset move drop expression wrong embed missing; do
    for how in run 'run --json' 'run -v' check 'check --json'; do
        to=$([ "${how%% *}" = run ] && echo '-o out')
        silent "$how $plan" $how $plan.yaml -i in $to
    done
    silent "check $plan" check $plan.yaml
    silent "explain $plan" explain $plan.yaml -i in
    silent "explain --live $plan" explain $plan.yaml --live
    silent "invert $plan" invert $plan.yaml
done
silent "progress" run unset.yaml -i in -o out --progress
silent "a file of the plan" run "$(printf 'e\033\nfake: plan')" -i in -o out
silent "no file" run "$(printf 'e\033\nfake: none')" -i in -o out
silent "an option" run unset.yaml -i in -o out "$(printf -- '--e\033\nfake: none')"
silent "a name to compare" diff in odd
silent "what cat does not find" cat in --ns "$(printf 'e\033\nfake: none')"
truncate -s -1 "in/t/$file.bson"
silent "damage" run unset.yaml -i in -o out
"$tool" run unset.yaml -i in -o out > log 2>&1
is "and it can be read" 1 "$(grep -cF 't.e\x1b[31m\nfake: lost\u009b\u202e' log)"
echo "doors: $passed passed, $failed failed"
[ $failed = 0 ]
