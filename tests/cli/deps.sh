#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh MONGORESHAPE - the packages that .ci/deps installs: all that are needed to build; for another machine, its
# libraries.
#
# Package managers are replaced by scripts that record their arguments; the system is not changed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/begin.bash" "$1"

mkdir bin
cat > bin/said << EOF
#!/bin/sh
echo "\$(basename "\$0") \$*" >> "$PWD/log"
case "\$(basename "\$0") \$*" in "dpkg --print-architecture") echo amd64 ;; esac
EOF
printf '#!/bin/sh\nexec "$@"\n' > bin/sudo
chmod +x bin/said bin/sudo
for name in apt-get dpkg dpkg-query; do
    ln -s said bin/$name
done

# deps [ARCH]: what apt-get is asked to install where nothing is there, a package a line
deps() {
    : > log
    PATH=$PWD/bin:$PATH ARCH=${1:-} sh "$top/.ci/deps" > said 2>&1 || return
    sed -n 's/^apt-get .*install --no-install-recommends //p' log | tr ' ' '\n'
}
deps > here
libraries=$(sed -n '/^Build-Depends:/,/^[A-Z].*:/p' "$top/packaging/debian/control" | grep -o 'lib[a-z0-9-]*-dev\|zlib1g-dev')
is "libraries in packaging/debian/control" yes "$([ "$(echo "$libraries" | wc -l)" -gt 5 ] && echo yes)"
for library in $libraries; do
    is "here: $library" 1 "$(grep -cx "$library" here)"
done
is "here: no other machine is added" 0 "$(grep -c add-architecture log)"

is "here: not what only a static program needs" 0 "$(grep -cx liblz4-dev here)"
STATIC=1 deps > static
is "for make static, too" 1 "$(grep -cx liblz4-dev static)"

deps arm64 > there
for library in $libraries; do
    is "arm64: $library" 1 "$(grep -cx "$library:arm64" there)"
done
for package in gcc-aarch64-linux-gnu tzdata python3-venv; do
    is "arm64: $package" 1 "$(grep -cx "$package" there)"
done
is "arm64: the machine, then its lists" "dpkg --add-architecture arm64" "$(grep -B 1 'apt-get .* update' log | head -n 1)"

deps m68k > there
is "a machine that is not known" "1 deps: ARCH=m68k: arm64 and amd64 are known" "$? $(cat said)"
is "and nothing is asked for" "" "$(cat log)"
is "nor by make" 1 "$(make -C "$top" ARCH=m68k -n 2>&1 | grep -c 'ARCH=m68k: arm64 and amd64 are known')"
echo "deps: $passed passed, $failed failed"
[ $failed = 0 ]
