#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py VERSION PROGRAM... - what is linked into the programs, as SPDX 2.3 in JSON.

Shared libraries are those that a program names (NEEDED), archives those that the linker took something from: it says so
in PROGRAM.map. The system's package manager knows which package a file belongs to; licences are those of NOTICE. The
date is that of the commit, so that the same sources give the same file."""
import hashlib
import json
import os
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def linked(program):
    """Paths of the shared libraries that a program names, and of the archives that its map names."""
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", program)))
    paths = re.findall(r"(\S+) => (\S+)", output("ldd", program))
    found = {os.path.realpath(path): "DYNAMIC_LINK" for name, path in paths if name in needed}
    with open(program + ".map", errors="replace") as f:
        text = f.read()
    for path in re.findall(r"^(/\S+\.a)\(", text, re.M):
        found.setdefault(os.path.realpath(path), "STATIC_LINK")
    return found


def package_of(path):
    """Name and version of the package that a file belongs to, or of the file itself."""
    for name in (path, path.replace("/usr/lib", "/lib", 1)):
        owner = output("dpkg-query", "-S", name).split(": ")[0].split(",")[0]
        if owner:
            shown = output("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", owner).split()
            return shown[0], shown[1]
    return os.path.basename(path), "NOASSERTION"


LICENCES = {
    "libyaml": "MIT", "libarchive": "BSD-2-Clause", "pcre2": "BSD-3-Clause", "xxhash": "BSD-2-Clause",
    "libzstd": "BSD-3-Clause", "libisal": "BSD-3-Clause", "isa-l": "BSD-3-Clause", "zlib": "Zlib",
    "intelrdfpmath": "BSD-3-Clause", "mongo-c-driver": "Apache-2.0", "glibc": "LGPL-2.1-or-later",
    "nettle": "LGPL-3.0-or-later", "acl": "LGPL-2.1-or-later", "attr": "LGPL-2.1-or-later", "xz-utils": "0BSD",
    "lz4": "BSD-2-Clause", "bzip2": "bzip2-1.0.6", "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
}


def main():
    version, programs = sys.argv[1], sys.argv[2:]
    os.environ["TZ"] = "UTC"
    date = output("git", "log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ").strip()
    packages, relations = {}, []
    for program in programs:
        with open(program, "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        name = os.path.basename(program)
        packages[name] = {
            "SPDXID": "SPDXRef-" + name, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
            "copyrightText": "2026 The mongoreshape authors",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        }
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-" + name))
        for path, how in sorted(linked(program).items()):
            source, edition = package_of(path)
            ref = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", source)
            licence = LICENCES.get(re.sub(r"^gcc-\d+$", "gcc", source), "NOASSERTION")
            packages[source] = {
                "SPDXID": ref, "name": source, "versionInfo": edition, "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
                "copyrightText": "NOASSERTION",
            }
            relations.append(("SPDXRef-" + name, how, ref))
    body = json.dumps([packages, relations], sort_keys=True)
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": "mongoreshape-" + version,
        "documentNamespace": "https://spdx.org/spdxdocs/mongoreshape-%s-%s"
                             % (version, hashlib.sha256(body.encode()).hexdigest()),
        "creationInfo": {"created": date, "creators": ["Tool: mongoreshape-sbom-" + version]},
        "packages": [packages[p] for p in sorted(packages)],
        "relationships": [{"spdxElementId": a, "relationshipType": how, "relatedSpdxElement": b}
                          for a, how, b in sorted(set(relations))],
    }, sys.stdout, indent=1)
    print()


main()
