# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# wait.bash - waiting for a state instead of for a time, since a machine may be slow, or stand still for seconds: the
# five minutes only end a hang. To be sourced.

# await COMMAND...: until it succeeds
await() {
    local end=$((SECONDS + 300))
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# over PID: whether it has ended, also when nobody has waited for it yet
over() { ! grep -q '^State:.[^ZX]' "/proc/$1/status" 2> /dev/null; }

# catches PID PROGRAM: whether it is that program by now and has set its handlers, that of SIGTERM (15) behind SIGINT's;
# or has ended
catches() {
    local caught
    over "$1" && return
    caught=$(sed -n 's/^SigCgt:\t//p' "/proc/$1/status" 2> /dev/null)
    [ "/proc/$1/exe" -ef "$2" ] && ((0x${caught:-0} >> 14 & 1))
}

# ended PID: waits for a child, which is killed if it hangs; its status
ended() {
    await over "$1" || kill -KILL "$1"
    wait "$1"
}
