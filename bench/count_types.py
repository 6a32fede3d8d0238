# SPDX-License-Identifier: Apache-2.0
"""count_types.py FILE.bson ... - what a person writes who wants to know a dump: types and lengths by path."""
import collections
import sys

import bson


def walk(counts, lengths, path, value):
    counts[path, type(value).__name__] += 1
    if isinstance(value, dict):
        for name, v in value.items():
            walk(counts, lengths, path + "." + name, v)
    elif isinstance(value, list):
        lengths[path][len(value)] += 1
        for v in value:
            walk(counts, lengths, path + "[]", v)


for name in sys.argv[1:]:
    counts, lengths = collections.Counter(), collections.defaultdict(collections.Counter)
    with open(name, "rb") as f:
        for doc in bson.decode_file_iter(f):
            for key, v in doc.items():
                walk(counts, lengths, key, v)
    print(name, len(counts), len(lengths))
