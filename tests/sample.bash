# SPDX-License-Identifier: Apache-2.0
# sample.bash - which share of its items a test takes; sourced by scripts that try one thing after the other.
#
# SAMPLE=I/N: every N-th item, those whose number leaves I; SAMPLE=-I/N: all the others, SAMPLE=-I+K/N: of these the
# ones that leave one of the K numbers after I; not set: all. `make check` takes a share that moves with the commit,
# `make check-long` the others, `.ci/run` some of them (check.sh).

# sampled NUMBER
sampled() {
    local share=${SAMPLE:-} of most beyond
    [ "$share" ] || return 0
    of=${share#*/} share=${share%/*}
    most=${share#*+}
    [[ $share == *+* ]] || most=$of
    share=${share#-} share=${share%+*}
    beyond=$((($1 % of - share % of + of) % of))
    [[ $SAMPLE == -* ]] && [ $beyond -gt 0 ] && [ $beyond -le "$most" ] || [[ $SAMPLE != -* && $beyond -eq 0 ]]
}
