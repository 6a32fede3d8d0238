#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test.sh BUILD VERSION - what make deb and make static made: installed, used, upgraded and removed in a fresh system,
# which is as before then; the static program in a folder with nothing else in it.
#
# Needs root and debootstrap. SUITE (bookworm), MIRROR another mirror; KEEP=DIR takes the fresh system from DIR, made
# there where it is not.
set -u
build=$(cd "$1" && pwd)
version=$2
top=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d) || exit 2
root=$tmp/root
cleanup() {
    umount "$root/proc" 2>/dev/null
    rm -rf --one-file-system "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
passed=0 failed=0
ok() { passed=$((passed + 1)); }
fail() { echo "FAILED: $*"; failed=$((failed + 1)); }
skip() {
    echo "skipped: $*"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "needs root"

# ---- the static program: a folder with it, a dump and a plan ----
static=$build/mongoreshape-$version-$(uname -m)
if [ -x "$static" ]; then
    mkdir "$tmp/empty" "$tmp/empty/tmp"
    cp "$static" "$tmp/empty/mongoreshape"
    cp -r "$top/dumps/sample" "$tmp/empty/dump"
    cp "$top/dumps/plans/comments-into-posts.yaml" "$tmp/empty/plan.yaml"
    alone() { chroot "$tmp/empty" /mongoreshape "$@" > "$tmp/said" 2>&1; }
    alone run /plan.yaml -i /dump -o /new --jobs 2 && ok || fail "the static program: $(tail -n 3 "$tmp/said")"
    for out in new.tar.gz new.zip new.archive; do
        alone run /plan.yaml -i /dump -o /$out && alone diff /new /$out && ok ||
            fail "the static program, $out: $(tail -n 3 "$tmp/said")"
    done
    [ -z "$(ldd "$static" 2>&1 | grep '=>')" ] && ok || fail "the static program names libraries"
else
    echo "SKIPPED: no $static (make static)"
fi

# ---- packages ----
ls "$build"/deb/*.deb > "$tmp/debs" 2>/dev/null || skip "no packages in $build/deb (make deb)"
command -v debootstrap >/dev/null 2>&1 || skip "no debootstrap"
fresh=${KEEP:-$tmp/fresh}
if [ ! -e "$fresh/etc/os-release" ]; then
    # shellcheck disable=SC2086
    debootstrap --variant=minbase "${SUITE:-bookworm}" "$fresh" ${MIRROR:+"$MIRROR"} > "$tmp/log" 2>&1 ||
        { tail -n 5 "$tmp/log"; skip "no fresh system can be made"; }
fi
cp -a "$fresh" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
mount -t proc proc "$root/proc" || skip "cannot mount /proc"
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    chroot "$root" "$@" > "$tmp/said" 2>&1 < /dev/null; }
# Files of the system, but for what the package manager keeps of itself.
files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache \
        -o -path ./var/log -o -path ./pkg -o -path ./tmp \) -prune -o -print |
        grep -v '^./etc/ld.so.cache$' | LC_ALL=C sort)
}
inside apt-get update || { tail -n 3 "$tmp/said"; skip "no package lists"; }
files > "$tmp/before"
mkdir "$root/pkg"
cp "$build"/deb/*.deb "$root/pkg/"
begun=$(date +%s)
inside sh -c 'apt-get install -y --no-install-recommends /pkg/*.deb' && ok || fail "install: $(tail -n 5 "$tmp/said")"
echo "installed in $(($(date +%s) - begun)) s"
inside mongoreshape --version && grep -q "^mongoreshape $version" "$tmp/said" && ok || fail "$(cat "$tmp/said")"
inside mongoreshape-live --version && ok || fail "mongoreshape-live: $(cat "$tmp/said")"
dumps=/usr/share/doc/mongoreshape/dumps
inside mongoreshape run $dumps/plans/comments-into-posts.yaml -i $dumps/sample -o /tmp/new && ok ||
    fail "run: $(tail -n 3 "$tmp/said")"
for file in usr/share/man/man1/mongoreshape.1.gz usr/share/man/man1/mongoreshape-live.1.gz \
    usr/share/man/man5/mongoreshape-plan.5.gz usr/share/bash-completion/completions/mongoreshape \
    usr/share/zsh/vendor-completions/_mongoreshape usr/share/fish/vendor_completions.d/mongoreshape.fish \
    usr/share/mongoreshape/plan.schema.json usr/include/mongoreshape/mrs.h usr/share/doc/mongoreshape/changelog.gz; do
    [ -s "$root/$file" ] && ok || fail "no /$file"
done
sh "$top/packaging/links.sh" "$root/usr/share/doc/mongoreshape" > "$tmp/said" && ok || fail "links: $(cat "$tmp/said")"
# The same packages with a higher version.
rm "$root"/pkg/*.deb
while read -r deb; do
    dpkg-deb -R "$deb" "$tmp/unpacked"
    sed -i "s/\(= \|^Version: \)$version\b/\1$version+1/" "$tmp/unpacked/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$tmp/unpacked" "$root/pkg/" > "$tmp/said"
    rm -rf "$tmp/unpacked"
done < "$tmp/debs"
inside sh -c 'apt-get install -y --no-install-recommends /pkg/*.deb' && ok || fail "upgrade: $(tail -n 5 "$tmp/said")"
inside dpkg-query -W -f '${Version}\n' mongoreshape && grep -qxF "$version+1" "$tmp/said" && ok ||
    fail "upgraded to $(cat "$tmp/said")"
inside mongoreshape --version && ok || fail "after the upgrade: $(cat "$tmp/said")"
inside sh -c 'apt-get purge -y --autoremove $(dpkg-query -W -f "\${Package} " "*mongoreshape*")' && ok ||
    fail "purge: $(tail -n 5 "$tmp/said")"
rm -rf "$root/pkg"
files > "$tmp/after"
diff "$tmp/before" "$tmp/after" > "$tmp/left" && ok || fail "left behind: $(head -n 20 "$tmp/left")"

# ---- the library: what a program needs is in the packages that its package names ----
mkdir -p "$root/pkg"
xargs cp -t "$root/pkg" < "$tmp/debs"
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$top/docs/API.md" > "$root/tmp/apply.c"
inside sh -c 'apt-get install -y --no-install-recommends gcc libc6-dev pkg-config /pkg/*.deb &&
    apt-get install -y --no-install-recommends $(dpkg-query -W -f "\${Suggests}" libmongoreshape-dev | tr -d ,)' &&
    ok || fail "what the library's headers need: $(tail -n 5 "$tmp/said")"
for way in '' --static; do
    inside sh -c "cd /tmp && rm -rf out && gcc apply.c \$(pkg-config --cflags --libs $way mongoreshape |
        sed '${way:+s/-lmongoreshape/-l:libmongoreshape.a/}') -o apply &&
        ./apply $dumps/plans/comments-into-posts.yaml $dumps/sample out" && [ -d "$root/tmp/out/blog" ] && ok ||
        fail "a program with the library, ${way:---shared}: $(tail -n 5 "$tmp/said")"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
