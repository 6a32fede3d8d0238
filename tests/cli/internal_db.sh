#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# internal_db.sh MONGORESHAPE - databases with the state of tools are skipped, for any pattern, and the state of an
# older version in `mongoreshape` is reported.
set -u
. "$(dirname "$0")/begin.bash" "$1"
ok() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); printf 'FAIL internal_db: %s\n' "$*"; }
says() { if grep -qF -- "$1" said; then ok; else fail "no \"$1\" in: $(cat said)"; fi; }
says_not() { if grep -qF -- "$1" said; then fail "\"$1\" in: $(cat said)"; else ok; fi; }

# put NS: a collection of one document {_id: 1, n: 1}
put() {
    mkdir -p "in/${1%%.*}"
    printf '\025\000\000\000\020_id\000\001\000\000\000\020n\000\001\000\000\000\000' \
        > "in/${1%%.*}/${1#*.}.bson"
    printf '{"options":{},"indexes":[{"v":2,"key":{"_id":1},"name":"_id_"}]}' > "in/${1%%.*}/${1#*.}.metadata.json"
}
go() { # ARGS...
    rm -rf out
    "$tool" run plan.yaml -i in -o out "$@" > said 2>&1
    local got=$?
    [ $got = 0 ] && ok || fail "status $got: $* ($(cat said))"
}
folders() { (cd out && echo */ | tr -d /); }
put shop.posts
put __mdb_internal_mongoreshape.runs
put __mdb_internal_other.x.y
cat > plan.yaml << 'END'
steps:
- set: { in: posts, fields: { seen: true } }
END
go
says '__mdb_internal_mongoreshape.runs is not in the output'
says '__mdb_internal_other.x.y is not in the output'
says_not 'nsInclude'
[ "$(folders)" = shop ] && ok || fail "in the output: $(ls out)"
go --nsInclude '*' --nsExclude 'shop.none'
[ "$(folders)" = shop ] && ok || fail "in the output with --nsInclude: $(ls out)"
"$tool" run plan.yaml -i in -o out.archive > said 2>&1 && ok || fail "to an archive: $(cat said)"
grep -q __mdb_internal out.archive && fail "an archive holds it" || ok
cat > plan.yaml << 'END'
steps:
- copy: { from: posts, into: __mdb_internal_x.y, match: { _id: _id }, fields: { n: n } }
END
"$tool" check plan.yaml -i in > said 2>&1 && fail "a plan over an internal database is taken" || ok

# The state of an older version.
cat > plan.yaml << 'END'
steps:
- set: { in: { db: shop, coll: posts }, fields: { seen: true } }
END
put mongoreshape.runs
go
says_not 'do not restore it'
put mongoreshape.leases
go
says 'the database mongoreshape holds the state of runs of an older mongoreshape-live: do not restore it'
[ "$(folders)" = "mongoreshape shop" ] && ok || fail "in the output: $(ls out)"
go --nsExclude 'mongoreshape.*'
says_not 'do not restore it'
echo "internal_db: $passed passed, $failed failed"
[ $failed = 0 ]
