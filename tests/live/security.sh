#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# security.sh - the online tool over TLS and SCRAM-SHA-256, with users of limited privileges.
#
# Every command over both; wrong passwords, wrong authorities and missing privileges are reported with status 6, and
# nothing at all is written; no secret appears in the output, in the state database, or in /proc of the tool. Needs OBJ.
set -u
. "$(dirname "$0")/begin.bash"
tool=${OBJ:?}/mongoreshape-live ask=$OBJ/ask
needs "$tool" "$ask"
[ "${1:-}" = --inside ] || { outside "no server with users and TLS" --auth --tls; exit; }
inside
umask 077
skipped=0
root_uri=$MONGODB_URI
address=${root_uri##*@}      # HOST:PORT/?OPTIONS
secret='pa:ss/w@rd%s3cret' escaped='pa%3Ass%2Fw%40rd%25s3cret'
unset MONGODB_URI

admin() { MONGODB_URI=$root_uri "$ask" "$@" || fail "the server: $*"; }
picture() { admin --picture >"$1"; }
# The last passwords are given on purpose, in URIs that cannot work.
hidden='s3cret|wr0ngpass|t0kenvalue|keyPhr4se'

# uri USER: of that user, over TLS, by SCRAM-SHA-256
uri() { echo "mongodb://$1:$escaped@$address&authMechanism=SCRAM-SHA-256"; }

same() { if cmp -s "$1" "$2"; then ok; else fail "$3: $(diff "$1" "$2" | head -5)"; fi; }

# clean WHAT FILE...: no secret in these
clean() {
    what=$1
    shift
    if seen=$(grep -aEh "$hidden" "$@"); then fail "a secret is shown: $what: $seen"; else ok; fi
}

# expect STATUS WORDS ARGS...: the status, the words on standard output or standard error, and no secret
expect() {
    status=$1 words=$2
    shift 2
    "$tool" "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" -ne "$status" ]; then
        fail "status $got, not $status: $* ($(cat out err))"
    elif ! cat out err | grep -qF -- "$words"; then
        fail "no \"$words\" in: $(cat out err) (of: $*)"
    else
        ok
    fi
    cat out err >>all
    clean "$*" out err
}
# refused WORDS ARGS...: status 6, and everything on the server is as it was
refused() {
    picture before
    expect 6 "$@"
    picture after
    same before after "written although refused ($*)"
}

# ---- users ----
role() { admin admin "{\"createRole\": \"$1\", \"privileges\": [$2], \"roles\": []}" >/dev/null; }
user() {
    admin admin "{\"createUser\": \"$1\", \"pwd\": \"$secret\", \"roles\": [$2], \"mechanisms\": [\"SCRAM-SHA-256\"]}" \
        >/dev/null
}
on() { # DB ACTION...
    db=$1
    shift
    printf '{"resource": {"db": "%s", "collection": ""}, "actions": [%s]}' "$db" "$(printf ', "%s"' "$@" | cut -c3-)"
}
look='find listCollections listIndexes collStats'
write="$look insert update remove createCollection createIndex"
quiet="$write dropCollection dropIndex collMod bypassDocumentValidation changeStream"
state='find insert update remove createCollection dropCollection' state_db=__mdb_internal_mongoreshape
# shellcheck disable=SC2086
{
    role mrs_find "$(on secure find)"
    role mrs_list "$(on secure find listCollections)"
    role mrs_template "$(on secure $look)"
    role mrs_dry "$(on secure $look),$(on $state_db $state)"
    role mrs_expand "$(on secure $write),$(on $state_db $state)"
    role mrs_contract "$(on secure $quiet renameCollectionSameDB),$(on $state_db $state)"
    role mrs_no_insert "$(on secure $look update remove createCollection createIndex),$(on $state_db $state)"
    role mrs_no_rename "$(on secure $quiet),$(on $state_db $state)"
    role mrs_watch "$(on $state_db find)"
    role mrs_turn "$(on $state_db find update)"
    role mrs_clean "$(on $state_db find insert update remove dropCollection),$(on secure dropCollection)"
}
# The role of the manual, as it stands there.
manual=$(python3 - "$root/docs/LIVE.md" <<'P'
import re, sys
text = open(sys.argv[1]).read()
role = re.search(r"db\.createRole\((.*?)^\}\)", text, re.S | re.M).group(1) + "}"
role = re.sub(r"//[^\n]*", "", role).replace('"shop"', '"secure"')
role = re.sub(r"(\w+):", r'"\1":', role).replace('"role":', '"createRole":')
print(role)
P
)
admin admin "$manual" >/dev/null
user manual '"mongoreshape"'
# The roles that `privileges` prints, of users of their own. SecantusDB counts actions by database only: there each
# privilege on a collection is given on its database, and the test is that the actions are enough.
printed() { # USER ARGS...
    who=$1
    shift
    "$tool" privileges --json --uri "$root_uri" "$@" >role.json 2>role.err || fail "privileges $*: $(cat role.err)"
    [ "$MONGODB_SERVER_KIND" = own ] || sed -i 's/"collection":"[^"]*"/"collection":""/g' role.json
    admin admin "$(sed "s/\"createRole\":\"[^\"]*\"/\"createRole\":\"mrs_$who\"/" role.json)" >/dev/null
    user "$who" "\"mrs_$who\""
}
user looker '"mrs_template"'
user finder '"mrs_find"'
user lister '"mrs_list"'
user dry '"mrs_dry"'
user expander '"mrs_expand"'
user contractor '"mrs_contract"'
user no_insert '"mrs_no_insert"'
user no_rename '"mrs_no_rename"'
user watcher '"mrs_watch"'
user turner '"mrs_turn"'
user cleaner '"mrs_clean"'
user reader '{"role": "read", "db": "secure"}'
user stateless '{"role": "readWrite", "db": "secure"}'
user plain '{"role": "readWrite", "db": "secure"}, {"role": "readWrite", "db": "__mdb_internal_mongoreshape"}'
user nobody ''

# ---- data ----
fill() {
    admin secure '{"dropDatabase": 1}' >/dev/null
    admin __mdb_internal_mongoreshape '{"dropDatabase": 1}' >/dev/null
    admin secure '{"insert": "posts", "documents": [{"_id": 1, "n": 1}, {"_id": 2, "n": 2}, {"_id": 3}]}' >/dev/null
    admin secure '{"insert": "comments", "documents":
        [{"_id": 10, "post": 1}, {"_id": 11, "post": 1}, {"_id": 12, "post": 2}]}' >/dev/null
    admin secure '{"createIndexes": "comments", "indexes": [{"key": {"post": 1}, "name": "post_1"}]}' >/dev/null
}
cat >embed.yaml <<'P'
database: secure
steps:
- embed: { from: comments, into: posts, match: { post: _id }, as: comments, sort: { _id: 1 } }
P
cat >move.yaml <<'P'
database: secure
steps:
- extract: { from: posts, path: tags, into: tags, refs: parent, parent_ref: post, id: new, count: n_tags }
P
cat >swap.yaml <<'P'
database: secure
steps:
- set: { in: posts, fields: { n: { $cond: [{ $eq: [$n, 1] }, 2, { $cond: [{ $eq: [$n, 2] }, 1, $n] }] } } }
P
cat >copy.yaml <<'P'
database: secure
steps:
- set: { in: posts, fields: { twice: { $multiply: [$n, 2] } } }
P
fill

# ---- who may only read may inspect, and it says what is missing ----
picture before
expect 0 'secure.comments' inspect --db secure --uri "$(uri reader)"
expect 0 '-> posts._id' inspect --db secure --uri "$(uri reader)"
expect 0 'secure.posts' inspect --db secure --json --uri "$(uri looker)"
expect 6 'the user needs the role read on secure' inspect --db secure --uri "$(uri nobody)"
expect 6 'the user needs the role read on secure' inspect --db secure --uri "$(uri finder)"
expect 6 'secure.comments: listIndexes' inspect --db secure --uri "$(uri lister)"
picture after
same before after 'written by inspect'

# ---- who cannot come in ----
refused 'uthentication failed' apply embed.yaml --execute --uri "mongodb://plain:wr0ngpass@$address"
refused 'uthentication failed' status --list --uri "mongodb://absent:wr0ngpass@$address"
refused 'uthentication failed' verify embed.yaml --json \
    --uri "mongodb://plain:wr0ngpass@$address&authMechanism=SCRAM-SHA-256"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other-ca -keyout other.key -out other.pem >/dev/null 2>&1
other=${address/tlsCAFile=*ca.pem/tlsCAFile=$dir/other.pem}
none=${address/&tlsCAFile=*ca.pem/}
unsafe=${address/&tls=true&tlsCAFile=*ca.pem/}
soon='serverSelectionTimeoutMS=6000'
refused 'certificate' apply embed.yaml --execute --uri "mongodb://plain:$escaped@$other&$soon"
refused 'certificate' apply embed.yaml --execute --json --uri "mongodb://plain:$escaped@$none&$soon"
refused 'connection' apply embed.yaml --execute --uri "mongodb://plain:$escaped@$unsafe&$soon"
key="tlsCertificateKeyFile=$dir/no.pem&tlsCertificateKeyFilePassword=keyPhr4se"
refused '127.0.0.1' apply embed.yaml --execute --uri "mongodb://plain:$escaped@$address&$key&$soon"

# ---- what cannot be read, or names nobody: every command ----
dead="mongodb://plain:$escaped@127.0.0.1:9/secure?serverSelectionTimeoutMS=300"
odd="mongodb://plain:$escaped@127.0.0.1:99999/?authMechanismProperties=AWS_SESSION_TOKEN:t0kenvalue"
for command in 'apply embed.yaml --execute' 'verify embed.yaml' 'contract embed.yaml' 'rollback embed.yaml' status \
    'pause embed.yaml' 'resume embed.yaml' 'throttle embed.yaml' 'abort embed.yaml --clean --execute' inspect; do
    # shellcheck disable=SC2086
    {
        expect 6 'absent.invalid' $command --uri "mongodb://plain:$escaped@absent.invalid/secure"
        expect 6 '127.0.0.1:9' $command --json --uri "$dead"
        expect 2 'cannot be read' $command --uri "mongodb://plain:$secret@127.0.0.1/?tls=maybe"
        expect 2 'cannot be read' $command --json --uri "$odd"
    }
done
expect 6 '127.0.0.1:9' status --uri "$dead&authMechanism=HOPE&authMechanismProperties=x:t0kenvalue"
expect 2 '' apply "$(uri plain)"
expect 2 '' apply embed.yaml "$(uri plain)"
expect 2 '' "$(uri plain)"
expect 2 '' apply embed.yaml --no-such="$(uri plain)"
uri plain >loose
chmod 644 loose
expect 2 'may be read by others' status --uri-file loose
chmod 600 loose
expect 0 'there are no runs' status --uri-file loose

# ---- a missing privilege is found before the first write ----
refused "the user lacks privileges on $state_db (the state database)" apply embed.yaml --execute --uri "$(uri reader)"
grep -q 'the user lacks privileges on secure.posts: update (readWrite on secure has them)' out err ||
    fail "what a reader lacks: $(cat out err)"
refused 'lacks privileges' apply embed.yaml --execute --json --uri "$(uri reader)"
refused 'lacks privileges' apply swap.yaml --quiet-by word --execute --uri "$(uri reader)"
refused 'lacks privileges' apply copy.yaml --mode direct --execute --uri "$(uri dry)"
refused "$state_db (the state database): " apply embed.yaml --execute --uri "$(uri looker)"
refused 'uthorized' apply embed.yaml --execute --uri "$(uri nobody)"
refused 'uthorized' status --uri "$(uri nobody)"
admin secure '{"update": "posts", "updates": [{"q": {"_id": 3}, "u": {"$set": {"tags": [{"t": 1}]}}}]}' >/dev/null
refused 'secure.tags: insert' apply move.yaml --execute --uri "$(uri no_insert)"
refused 'secure.posts: update' apply move.yaml --execute --uri "$(uri dry)"

# ---- a dry run asks for no more than it reads, and writes nothing with any user ----
for who in dry expander contractor plain; do
    picture before
    "$tool" apply embed.yaml --uri "$(uri $who)" >out 2>err
    cat out err >>all
    picture after
    same before after "a dry run of $who wrote"
done

# ---- the least roles are enough: by file, environment and option ----
uri expander >expander.uri
uri turner >turner.uri
uri watcher >watcher.uri
uri contractor >contractor.uri
expect 0 'apply embed.yaml --uri-file expander.uri --execute' apply embed.yaml --uri-file expander.uri
expect 0 '' apply embed.yaml --execute --uri-file expander.uri
expect 0 'expanded' status embed.yaml --uri-file watcher.uri
expect 0 '"phase":"expanded"' status --json --uri-file watcher.uri
expect 0 'expanded' status --list --uri-file watcher.uri
expect 0 'pauses before its next batch' pause embed.yaml --uri-file turner.uri
expect 0 ' continues' resume embed.yaml --uri-file turner.uri
expect 0 'has these limits now' throttle embed.yaml --docs 5000 --uri-file turner.uri
expect 0 'no limits' throttle embed.yaml --uri-file turner.uri
refused 'uthorized' pause embed.yaml --uri-file watcher.uri
expect 0 '' verify embed.yaml --uri-file expander.uri
expect 0 '' verify embed.yaml --repair --execute --uri-file expander.uri
refused 'lacks privileges' contract embed.yaml --quiet-by validator --execute --uri-file expander.uri
picture expanded
clean 'the state database' expanded
expect 0 '' contract embed.yaml --quiet-by validator --keep-before --execute --uri-file contractor.uri
picture contracted
clean 'the state database' contracted
expect 0 'is removed' abort embed.yaml --clean --execute --uri "$(uri cleaner)"
fill
picture begun
MONGODB_URI=$(uri manual) expect 0 '' apply embed.yaml --execute
MONGODB_URI=$(uri manual) expect 0 '' verify embed.yaml
MONGODB_URI=$(uri manual) expect 0 '' rollback embed.yaml --execute
expect 0 'is removed' abort embed.yaml --clean --execute --uri "$(uri manual)"
printed beside embed.yaml
MONGODB_URI=$(uri beside) expect 0 '' apply embed.yaml --execute
MONGODB_URI=$(uri beside) expect 0 '' verify embed.yaml --repair --execute
refused 'lacks privileges' contract embed.yaml --quiet-by validator --execute --uri "$(uri beside)"
printed apart embed.yaml --quiet-by validator
expect 0 'db.getSiblingDB("admin").runCommand({' privileges embed.yaml --quiet-by validator --uri "$(uri manual)"
MONGODB_URI=$(uri beside) expect 0 '' rollback embed.yaml --execute
expect 6 'uthorized' abort embed.yaml --clean --execute --uri "$(uri turner)"
MONGODB_URI=$(uri cleaner) expect 0 'is removed' abort embed.yaml --clean --execute
picture after
grep -v '^__mdb_internal_mongoreshape' begun >begun.user
grep -v '^__mdb_internal_mongoreshape' after >after.user
same begun.user after.user "a rollback is not the beginning"

# ---- a quiet run that must build beside: known when it is listed, and nothing is touched ----
admin secure '{"createIndexes": "posts", "indexes": [{"key": {"n": 1}, "name": "n_1", "unique": true}]}' >/dev/null
picture before
expect 6 'renameCollectionSameDB' apply swap.yaml --quiet-by validator --execute --uri "$(uri no_rename)"
picture after
# a validator that was lifted leaves the defaults behind
mine() { grep '^secure' "$1" | sed 's/ "options" : { *\("validator" : { *}[^}]*\)\{0,1\}},//' >"$1.user"; }
mine before
mine after
same before.user after.user "touched although refused"
expect 0 '' apply swap.yaml --quiet-by validator --execute --uri "$(uri contractor)"
expect 0 'is removed' abort swap.yaml --clean --execute --uri "$(uri cleaner)"
expect 0 '' apply swap.yaml --quiet-by validator --keep-before --execute --uri "$(uri apart)"
expect 0 '' rollback swap.yaml --execute --uri "$(uri apart)"
expect 0 'is removed' abort swap.yaml --clean --execute --uri "$(uri apart)"
expect 0 '' apply swap.yaml --quiet-by validator --keep-before --execute --uri "$(uri manual)"
expect 0 '' rollback swap.yaml --execute --uri "$(uri manual)"
expect 0 'is removed' abort swap.yaml --clean --execute --uri "$(uri manual)"
expect 0 'mongoreshape-live apply embed.yaml' apply embed.yaml --uri "$(uri looker)"

# ---- while it runs: /proc shows no secret, and there are no children ----
fill
many=$(for ((i = 100; i < 900; i++)); do printf ', {"_id": %d}' $i; done)
admin secure "{\"insert\": \"posts\", \"documents\": [${many:2}]}" >/dev/null
paused() { over "$pid" || "$tool" pause embed.yaml --uri-file turner.uri >/dev/null 2>&1; }
watch() {
    await paused
    for what in cmdline environ; do
        tr '\0' '\n' <"/proc/$pid/$what" >"proc.$what"
    done
    is "children of the tool" "$(cat /proc/"$pid"/task/*/children)" ""
}
env --default-signal=INT "$tool" apply embed.yaml --execute --batch 1 --sleep 1000 --lease 12000 --progress \
    --uri "$(uri expander)" >bg.out 2>bg.err </dev/null &
pid=$!
watch
is "the tool runs" "$(kill -0 $pid && echo yes)" yes
clean '/proc of the tool' proc.cmdline proc.environ
grep -q -- --uri proc.cmdline || fail "this is not the tool's line: $(cat proc.cmdline)"
expect 0 '' status embed.yaml --uri-file watcher.uri
expect 6 'is leased to' apply embed.yaml --execute --uri-file expander.uri
kill -INT "$pid"
wait "$pid"
is "status of the tool that was interrupted" $? 130
cat bg.out bg.err >>all
picture state
clean 'the state database' state
clean 'everything that was printed' all

finish
