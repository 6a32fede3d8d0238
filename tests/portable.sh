#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# portable.sh [SUITE[/ARCH]] [TARGET...] - builds and tests the committed tree in a fresh Debian or Ubuntu.
#
#   tests/portable.sh                        Debian 13: make demo, make check
#   tests/portable.sh trixie/arm64           compiled here for arm64 and tested with qemu-user-static
#   tests/portable.sh trixie/arm64 'check PARTS=unit'
#   tests/portable.sh noble                  Ubuntu 24.04, where debootstrap reaches its mirror
#
# Needs root and debootstrap. MIRROR names another mirror; KEEP=DIR keeps the system in DIR and uses it again. Each
# target runs as a new user's first command would: nothing is installed that the target does not install itself.
# Of another architecture are the tools and their libraries alone; shells, compilers and Python run as they are.
set -u
system=${1:-trixie}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- demo check
suite=${system%%/*}
machine=$(dpkg --print-architecture 2>/dev/null || echo amd64)
arch=$machine
case $system in */*) arch=${system#*/} ;; esac
cross=""
[ "$arch" = "$machine" ] || cross=ARCH=$arch
top=$(cd "$(dirname "$0")/.." && pwd)

skip() {
    echo "skipped: $*"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v debootstrap >/dev/null 2>&1 || skip "no debootstrap"

root=${KEEP:-$(mktemp -d)}
formats=/proc/sys/fs/binfmt_misc
registered="" mounted=""
cleanup() {
    [ -z "$registered" ] || echo -1 > "$registered"
    [ -z "$mounted" ] || umount "$mounted"
    umount "$root/dev/pts" "$root/proc" 2>/dev/null
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb chroot "$root" "$@"; }

# What the other machine's programs are run by: where the system has not told its kernel, this test does, for its time.
emulate() {
    case $1 in arm64) cpu=aarch64 ;; amd64) cpu=x86_64 ;; *) skip "$1: arm64 and amd64 are known" ;; esac
    if [ ! -e $formats/register ]; then
        mount -t binfmt_misc binfmt_misc $formats || skip "cannot mount $formats"
        mounted=$formats
    fi
    [ ! -e $formats/qemu-$cpu ] || return 0
    [ -e /usr/lib/binfmt.d/qemu-$cpu.conf ] || skip "no emulator runs $1 (qemu-user-static)"
    cat /usr/lib/binfmt.d/qemu-$cpu.conf > $formats/register || skip "the kernel takes no emulator of $1"
    registered=$formats/qemu-$cpu
}
[ -z "$cross" ] || emulate "$arch"

if [ ! -e "$root/etc/os-release" ]; then
    echo "making $suite/$arch"
    # A suite that this debootstrap does not know yet is made as sid is, where MIRROR says from what.
    as=""
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || as=sid
    # shellcheck disable=SC2086
    debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$root" \
        ${MIRROR:+"$MIRROR" $as} >"$root.log" 2>&1 || { tail -n 5 "$root.log"; skip "no $suite can be made"; }
    rm -f "$root.log"
fi
# What this machine trusts besides, as the certificate of a proxy, the new system trusts, too: PyPI is asked by TLS.
if ls /usr/local/share/ca-certificates/*.crt >/dev/null 2>&1; then
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" &&
        inside update-ca-certificates >"$root/root/certificates.log" 2>&1
fi
# Nor do package lists grow older there than here.
apt-config dump 2>/dev/null | grep -E '^Acquire::Check-(Valid-Until|Date) ' > "$root/etc/apt/apt.conf.d/80portable"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" || skip "cannot mount /proc"
# Tests of what a terminal shows open one; those of this machine are not lent for that.
mountpoint -q "$root/dev/pts" || mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" ||
    skip "cannot mount /dev/pts"
rm -rf "$root/root/mongoreshape" "$root/root/shared"
git clone -q "$top" "$root/root/mongoreshape" || exit 2
[ ! -d "$top/../shared" ] || cp -r "$top/../shared" "$root/root/shared"

failed=0
for target; do
    begun=$(date +%s)
    inside sh -c "cd /root/mongoreshape && make $cross $target" >"$root/root/$target.log" 2>&1 </dev/null
    status=$?
    tail -n "${TAIL:-3}" "$root/root/$target.log" | cut -c1-200
    echo "$suite/$arch make $target: status $status, $(($(date +%s) - begun)) s," \
         "$(grep -c 'warning:' "$root/root/$target.log") warnings"
    [ "$status" -eq 0 ] || failed=$((failed + 1))
done
[ "$failed" -eq 0 ]
