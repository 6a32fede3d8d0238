// SPDX-License-Identifier: Apache-2.0
// fields.js - plan steps for a field, to copy: those that correct findings, and other common ones.

const WORD = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const RESERVED = /^(true|false|null|yes|no|on|off|y|n)$/i;
const yaml = s => WORD.test(s) && !RESERVED.test(s) ? s : JSON.stringify(s);
const lastName = s => s.slice(s.lastIndexOf('.') + 1);

// The name of a collection in plans: without the database if there is only one.
function planName(ns, oneDb) {
  const dot = ns.indexOf('.');
  return oneDb ? yaml(ns.slice(dot + 1)) : `{ db: ${yaml(ns.slice(0, dot))}, coll: ${yaml(ns.slice(dot + 1))} }`;
}

const step = (kind, ...lines) => '  - ' + kind + ':\n' + lines.map(l => '      ' + l + '\n').join('');

// `lines.productId` for `lines[].productId`; null if names are data, or a plan cannot express the path.
function dotted(path) {
  const p = path.replace(/\[\]/g, '');
  return !p || p.split('.').some(w => w === '*' || w === '' || w.includes('$')) ? null : p;
}

// [[label, text], ...]
function fieldSteps(x, c, p) {
  const path = dotted(p.path), coll = planName(c.ns, x.oneDb);
  const steps = x.rulesOf(c.ns).filter(r => r.path === p.path && r.plan).map(r => [r.rule, r.plan]);
  if (path === null || path === '_id') return steps;
  const inArray = p.path.includes('[]');
  for (const r of x.refsFrom(c.ns)) {
    if (r.from.paths.length === 1 && r.from.paths[0] === p.path && !inArray && r.to.ns !== c.ns)
      steps.push(['embed into ' + lastName(r.to.ns), step('embed', 'from: ' + coll, 'into: ' + planName(r.to.ns, x.oneDb),
        `match: { ${yaml(path)}: ${yaml(dotted(r.to.paths[0]) || '_id')} }`, 'as: ' + yaml(lastName(c.ns)),
        'keep: unmatched')]);
  }
  if (p.length && !inArray)
    steps.push(['extract', step('extract', 'from: ' + coll, 'path: ' + yaml(path), 'into: ' + planName(c.ns + '_'
      + lastName(path), x.oneDb), 'parent_ref: parentId')]);
  if (!inArray) {
    steps.push(['rename', step('rename', 'in: ' + coll, `fields: { ${yaml(path)}: ${yaml(path + 'New')} }`)]);
    const scalar = Object.keys(p.types).filter(t => CASTS.includes(t)).sort((a, b) => p.types[b] - p.types[a]);
    if (Object.keys(p.types).filter(t => t !== 'null').length > 1 && scalar.length)
      steps.push(['cast', step('cast', 'in: ' + coll, `fields: { ${yaml(path)}: ${scalar[0]} }`)]);
    steps.push(['unset', step('unset', 'in: ' + coll, `fields: [${yaml(path)}]`)]);
  }
  steps.push(['index', step('index', 'in: ' + coll, `create: [{ key: { ${yaml(path)}: 1 } }]`)]);
  return steps;
}
const CASTS = ['double', 'string', 'objectId', 'bool', 'date', 'int', 'long', 'decimal'];

// The details that a click on a field opens below its row.
function fieldRow(x, c, p, columns) {
  const steps = fieldSteps(x, c, p);
  const box = el('td', {colspan: columns});
  const show = text => box.replaceChildren(...(text ? [...head(), copyable(text)] : head()));
  const head = () => [el('div.tools', dim(steps.length ? 'a plan step with this field, copied:' : 'no step fits'),
    steps.map(([label, text]) => el('button', {click: () => { copy(text); show(text); }}, label)))];
  if (steps.length) copy(steps[0][1]);
  show(steps.length ? steps[0][1] : '');
  return el('tr', box);
}
