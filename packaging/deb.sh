#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD NAME VERSION - Debian packages out of the tarball of `make dist`, in BUILD/deb, and what lintian says.
set -eu
build=$1 name=$2 version=$3
command -v dh >/dev/null 2>&1 || { echo "deb: debhelper is missing: apt-get install debhelper dpkg-dev"; exit 1; }
rm -rf "$build/deb"
mkdir -p "$build/deb"
tar -xzf "$build/$name.tar.gz" -C "$build/deb"
cd "$build/deb/$name"
cp -r packaging/debian debian
if ! grep -q "^mongoreshape ($version) " debian/changelog; then
    echo "deb: packaging/debian/changelog does not begin with $version"
    exit 1
fi
# The soname is part of a package's name.
soname=$(echo "$version" | sed 's/^0\.\([0-9]*\).*/0.\1/; t; s/\..*//')
mv debian/libmongoreshape.install "debian/libmongoreshape$soname.install"
sed -i "s/@SONAME@/$soname/g" debian/control
export DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)"
dpkg-buildpackage -us -uc -b >../build.log 2>&1 || { tail -n 20 ../build.log; exit 1; }
cd ..
rm -rf "$name"
for deb in *.deb; do
    echo "  $build/deb/$deb ($(du -h "$deb" | cut -f1))"
done
if command -v lintian >/dev/null 2>&1; then
    lintian --fail-on error,warning ./*.changes
fi
