#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo-live.sh TOOL - the sample data on a server, one plan over them while it runs: looked at, applied, verified,
# contracted. Run by tests/server/with, which gives it a server of its own and MONGODB_URI.
set -euo pipefail
tool=$1
plan=dumps/plans/comments-into-posts.yaml
port=${MONGODB_URI##*:} port=${port%%/*}
address=127.0.0.1:$port
export MONGODB_URI=mongodb://$address/blog?directConnection=true

title() { printf '\n==== %s\n' "$*"; }
show() { # what `find` of one document gives
    python3 tests/server/wire.py --port "$port" blog "$1" | python3 -c 'import json, sys
for document in json.load(sys.stdin)["cursor"]["firstBatch"]:
    print(json.dumps(document))'
}
post='{"find": "posts", "filter": {}, "sort": {"_id": 1}, "skip": 3, "limit": 1}'
do_it() {
    title "mongoreshape-live $*"
    "$tool" "$@"
}

if [ "$MONGODB_SERVER_KIND" = own ]; then
    echo "demo-live: MONGODB_URI names a server of yours; the demo wants one of its own: unset it" >&2
    exit 2
fi
title "the sample data go onto the server at $address"
echo "mongorestore dumps/sample (here by a script of the tests: nothing else is needed)"
python3 tests/live/restore.py "$port" dumps/sample
title "the plan, $plan"
cat "$plan"
title "before: a post"
show "$post"
do_it apply "$plan"
do_it apply "$plan" --execute
title "the new design beside the old: the same post, and the comments are still where they were"
show "$post"
do_it verify "$plan" --repair --execute
do_it contract "$plan" --quiet-by validator
do_it contract "$plan" --quiet-by validator --execute
title "after: all that is left in blog.comments, the comment whose post is gone"
show '{"find": "comments", "filter": {}}'
do_it status "$plan"
do_it abort "$plan" --clean --execute
title "the server and its data are gone again; docs/LIVE.md says the rest"
