#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh TOOL SAMPLES OUTDIR - one plan over the sample dump: documents before and after, and the account of the run.
set -eu
tool=$1 samples=$2 out=$3
here=dumps
plan=$here/plans/comments-into-posts.yaml

title() { printf '\n==== %s\n' "$*"; }

rm -rf "$out" "$out".refused.bson*
title "the plan, $plan"
cat "$plan"
title "what it means: mongoreshape explain $plan -i $here/sample"
"$tool" explain "$plan" -i "$here/sample"
title "before: a post, and two of the $(grep -c . "$here/text/blog.comments.jsonl") comments in their collection"
"$samples" show "$here/sample/blog/posts.bson" 3 1
"$samples" show "$here/sample/blog/comments.bson" 0 2
title "the run: mongoreshape run $plan -i $here/sample -o $out"
"$tool" run "$plan" -i "$here/sample" -o "$out"
title "after: the same post"
"$samples" show "$out/blog/posts.bson" 3 1
title "after: all that is left in blog.comments, the comment whose post is gone"
"$samples" show "$out/blog/comments.bson"
title "where it lies"
echo "The new dump is $out, its manifest $out/mongoreshape.manifest.json. The old one, $here/sample, is as it was."
title "more plans to try, in $here/plans (their data as text: $here/text)"
for plan in "$here"/plans/*.yaml; do
    printf '%-22s %s\n' "$(basename "$plan" .yaml)" "$(sed -n '1s/^# //p' "$plan")"
done
