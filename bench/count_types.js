// SPDX-License-Identifier: Apache-2.0
// count_types.js FILE.bson ... - the same as count_types.py, with npm's bson.
const fs = require('fs');
const { deserialize } = require('bson');

function walk(counts, lengths, path, value) {
  const type = value === null ? 'null' : value._bsontype || value.constructor.name;
  counts.set(path + ' ' + type, (counts.get(path + ' ' + type) || 0) + 1);
  if (Array.isArray(value)) {
    const key = path + ' ' + value.length;
    lengths.set(key, (lengths.get(key) || 0) + 1);
    for (const v of value) walk(counts, lengths, path + '[]', v);
  } else if (type === 'Object') {
    for (const name of Object.keys(value)) walk(counts, lengths, path + '.' + name, value[name]);
  }
}

for (const name of process.argv.slice(2)) {
  const counts = new Map(), lengths = new Map();
  const fd = fs.openSync(name, 'r'), head = Buffer.alloc(4);
  for (let at = 0; fs.readSync(fd, head, 0, 4, at) === 4;) {
    const n = head.readInt32LE(0), doc = Buffer.alloc(n);
    fs.readSync(fd, doc, 0, n, at);
    at += n;
    for (const [key, v] of Object.entries(deserialize(doc, { promoteValues: false }))) walk(counts, lengths, key, v);
  }
  console.log(name, counts.size, lengths.size);
}
