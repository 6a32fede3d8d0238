#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sets.py [--check] OUTDIR [NAME ...], sets.py --list - data sets whose references, figures and broken rules are known.

Each is OUTDIR/NAME/dump/NAME/*.bson with *.metadata.json, as mongodump writes them,
and OUTDIR/NAME/truth.json. A set is
modelled on one kind of schema that people have: imports of relational tables, documents of web applications, dumps of
devices, schemas in other languages. The same name gives the same bytes. --check counts the written bytes once more in
another way (recount.py).
"""
import os
import sys

sys.dont_write_bytecode = True  # the folder of the sources stays as it is
import apps  # noqa: F401
import blind  # noqa: F401
import blind_eighth  # noqa: F401
import blind_eleventh  # noqa: F401
import blind_fifth  # noqa: F401
import blind_fifth_firms  # noqa: F401
import blind_firms  # noqa: F401
import blind_fourth  # noqa: F401
import blind_lines  # noqa: F401
import blind_ninth  # noqa: F401
import blind_offices  # noqa: F401
import blind_second  # noqa: F401
import blind_seventh  # noqa: F401
import blind_sixth  # noqa: F401
import blind_tenth  # noqa: F401
import blind_third  # noqa: F401
import blind_trades  # noqa: F401
import blind_twelfth  # noqa: F401
import recount
import styles  # noqa: F401
import tables  # noqa: F401
import trades  # noqa: F401
from truth import SETS, Set


def main():
    args = [a for a in sys.argv[1:] if a != "--check"]
    if not args:
        sys.exit("usage: sets.py [--check] OUTDIR [NAME ...] | --list")
    if args[0] == "--list":
        print("\n".join(SETS))
        return
    out, names = args[0], args[1:] or list(SETS)
    unknown = [n for n in names if n not in SETS]
    if unknown:
        sys.exit("sets.py: no set is called %s; there are %s" % (unknown[0], " ".join(SETS)))
    wrong = 0
    for name in names:
        s = Set(name)
        SETS[name](s)
        s.write(out)
        if "--check" in sys.argv:
            wrong += recount.check(os.path.join(out, name))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
