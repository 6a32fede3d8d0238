# SPDX-License-Identifier: Apache-2.0
# sample.bash - which share of its items a test takes; sourced by scripts that try one thing after the other.
#
# SAMPLE=I/N: every N-th item, those whose number leaves I; SAMPLE=-I/N: all the others; not set: all. `make check`
# takes a share that moves with the commit, `make check-long` the others (check.sh).

# sampled NUMBER
sampled() {
    local share=${SAMPLE:-} of
    [ "$share" ] || return 0
    share=${share#-}
    of=${share#*/} share=${share%/*}
    if [ $(($1 % of)) -eq $((share % of)) ]; then
        [[ $SAMPLE != -* ]]
    else
        [[ $SAMPLE == -* ]]
    fi
}
