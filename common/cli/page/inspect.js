// SPDX-License-Identifier: Apache-2.0
// inspect.js - the page of `inspect`: advice, references, collections.

const LIMIT = 16 << 20;
const SEVERITY = [['badge', ''], ['badge', 'worth a look'], ['badge.warn', 'hurts'], ['badge.bad', 'will break']];
const badge = severity => el('span.' + SEVERITY[severity][0], SEVERITY[severity][1]);

function groups(list, key) {
  const m = new Map();
  for (const x of list) {
    const k = key(x);
    if (!m.has(k)) m.set(k, []);
    m.get(k).push(x);
  }
  return k => m.get(k) || [];
}

function pageInspect(report, plan) {
  const x = {report, number: new Map(report.collections.map((c, i) => [c.ns, i])),
    rulesOf: groups(report.rules, r => r.ns), refsFrom: groups(report.references, r => r.from.ns),
    refsTo: groups(report.references, r => r.to.ns)};
  x.oneDb = new Set(report.collections.map(c => c.ns.split('.')[0])).size <= 1;
  x.short = ns => x.oneDb ? ns.slice(ns.indexOf('.') + 1) : ns;
  const rules = report.rules.map((r, i) => [r, i]).sort((a, b) => b[0].severity - a[0].severity || a[1] - b[1])
    .map(p => p[0]);
  const documents = report.collections.reduce((s, c) => s + c.documents, 0);
  const bytes = report.collections.reduce((s, c) => s + c.bytes, 0);
  const parts = [['advice', 'Advice', rules.length], ['diagram', 'Diagram', report.references.length],
    ['references', 'References', report.references.length], ['collections', 'Collections', report.collections.length],
    ['copies', 'Copies', report.copies.length], ['candidates', 'Candidates', report.candidates.length],
    ['plan', 'Plan', plan ? 1 : 0], ['left', 'Not looked at', report.left.length]].filter(p => p[2]);
  document.title = 'inspect ' + clean(report.input.name);
  return [
    el('h1', 'What ', name(report.input.name), ' holds'),
    el('p.dim', report.tool + ', ' + report.input.kind + (report.input.sampled
      ? ', a sample' + (report.input.share ? ' of ' + percent(100 * report.input.share) : '') + ': figures are estimates'
      : ', every document was read')),
    report.workload ? el('p.dim', 'How often they are read and written: ' + measured(report.workload)) : null,
    tiles([[num(report.collections.length), 'collections'], [num(documents), 'documents'], [size(bytes), 'of documents'],
      [num(report.references.length), 'references'],
      ...[3, 2, 1].map(s => [num(rules.filter(r => r.severity === s).length), SEVERITY[s][1]])]),
    el('nav', parts.map(([id, title]) => el('a', {href: '#' + id}, title))),
    section('advice', 'Advice, worst first', rules.length
      ? filtered(rules, r => ruleCard(x, r), r => r.rule + ' ' + r.ns + ' ' + (r.path || '') + ' ' + r.text,
        'rule, collection or field') : el('p', 'No rule of thumb is broken.')),
    report.references.length ? [
      section('diagram', 'Diagram of references', drawInspect(x)),
      section('references', 'References', filtered(report.references, r => referenceCard(x, r, false),
        r => r.from.ns + ' ' + r.from.paths + ' ' + r.to.ns + ' ' + (r.cardinality || ''),
        'collection or field'))] : null,
    section('collections', 'Collections', collectionList(x)),
    report.copies.length ? section('copies', 'Copies of other documents’ fields', copiesTable(x)) : null,
    report.candidates.length ? section('candidates', 'Perhaps references', el('p.dim', 'Too little speaks for them. ',
      'Where you know better: --hints.'), pile(report.candidates, r => referenceCard(x, r, true))) : null,
    plan ? section('plan', 'The suggested plan', el('p.dim', 'Read it, take out what you do not want, and try it ',
      report.input.kind === 'server' ? ['with ', el('code', 'mongoreshape-live apply PLAN'), ', which writes nothing.']
        : ['with ', el('code', 'mongoreshape check PLAN -i IN'), '; ', el('code', 'mongoreshape run'), ' does it.']), copyable(plan)) : null,
    report.left.length ? section('left', 'Not looked at', pile(report.left, t => el('p', t))) : null];
}

// The source of the figures of reads and writes.
const measured = w => many(w.operations, 'operation') + ' in ' + w.source
  + (w.from ? ', ' + value(w.from) + ' to ' + value(w.to) : '')
  + (w.leastMillis >= 10 ? ', none quicker than ' + w.leastMillis + ' ms' : '') + '.';

// ---- advice ----
function ruleCard(x, r) {
  return fold(el('span.row', badge(r.severity), el('b', r.rule), name(x.short(r.ns) + (r.path ? '  ' + r.path : '')),
    r.index ? name(r.index) : null, el('span.grow.dim', r.text)), () => el('div',
    facts(Object.entries(r.figures || {}).map(([k, v]) => [k, typeof v === 'number' ? num(v) : value(v)])),
    el('p', el('button.link', {click: () => openCollection(x, r.ns)}, 'collection ', name(r.ns))),
    r.plan ? [el('p.dim', 'This step of the suggested plan cures it:'), copyable(r.plan)]
      : el('p.dim', r.step ? 'A cure would be `' + r.step + '`' + (r.why ? ': ' + r.why : '') + '.'
        : 'No step cures this: it is for you to decide.')));
}

// ---- references ----
const paths = list => list.join(', ');

function referenceCard(x, r, perhaps) {
  const a = paths(r.from.paths), b = paths(r.to.paths);
  return fold(el('span.row', el('span.grow', name(x.short(r.from.ns) + '.' + a), ' → ', name(x.short(r.to.ns) + '.' + b)),
    perhaps ? el('span.badge', 'score ' + r.score) : null, r.cardinality ? el('span.badge', r.cardinality) : null,
    r.orphans ? el('span.badge.warn', many(r.orphans, 'orphan')) : el('span.badge.ok', 'no orphans')), () => el('div',
    facts([['values', num(r.values)], ['different', num(r.distinct)], ['matched', num(r.matched)],
      ['orphans', num(r.orphans) + (r.orphans ? ' (' + num(r.orphanDistinct) + ' different)' : '')],
      ['match', r.match], ['score', r.score]]),
    r.lookedUp ? lookedUp(r.lookedUp) : null,
    r.twoWay ? facts([['both sides agree', num(r.twoWay.agree)], ['gaps', num(r.twoWay.gaps)],
      ['disagree', num(r.twoWay.disagree)]]) : null,
    r.perParent && r.perParent.parents ? [
      facts([['referred to', many(r.perParent.parents, 'document')], ['by nobody', num(r.perParent.none)],
        ['each by', 'p50 ' + num(r.perParent.p50) + ', p99 ' + num(r.perParent.p99) + ', max ' + num(r.perParent.max)]]),
      histogram(r.perParent.histogram, num, 'documents of ' + x.short(r.to.ns) + ', by how many refer to them')] : null,
    r.aliases ? facts([['agrees with', name(r.aliases.join(', '))]]) : null,
    el('h3', 'Evidence'),
    el('div.two', el('div', lines([['values', r.evidence.values, num(r.evidence.values)],
      ['name', r.evidence.name, num(r.evidence.name)], ['fit', r.evidence.fit, num(r.evidence.fit)],
      ['contained', r.evidence.contained, percent(100 * r.evidence.contained)],
      ['cover', r.evidence.cover, percent(100 * r.evidence.cover)]])))));
}

// For a sample of the targets: the results of lookups in all of them.
function lookedUp(l) {
  return facts([['looked up', many(l.distinct, 'different value')], ['orphans among them', num(l.orphanDistinct)],
    ['share of orphans', l.orphanShare.map(p => percent(100 * p)).join(' to ')]]);
}

function drawInspect(x) {
  const used = new Set(), between = new Map(), c = x.report.collections;
  for (const r of x.report.references) used.add(r.from.ns).add(r.to.ns);
  const alone = c.filter(k => !used.has(k.ns) && !k.view);
  const rest = alone.length ? el('p.dim', 'Without references: ', alone.slice(0, 40).map((k, i) => [i ? ', ' : '',
    el('button.link', {click: () => openCollection(x, k.ns)}, name(x.short(k.ns)))]),
    alone.length > 40 ? ' and ' + num(alone.length - 40) + ' more' : '') : null;
  if (used.size > DIAGRAM_MOST)
    return [el('p.dim', num(used.size) + ' collections refer to each other: too many for a drawing. The list below has ',
      'every reference; the collections most referred to:'), lines([...used].map(ns => [ns, x.refsTo(ns).length])
      .sort((a, b) => b[1] - a[1]).slice(0, 20).map(([ns, n]) => [el('button.link', {click: () => openCollection(x, ns)},
        name(x.short(ns))), n, num(n)])), rest];
  const nodes = [...used].sort().map(ns => {
    const k = c[x.number.get(ns)], worst = Math.max(0, ...x.rulesOf(ns).map(r => r.severity));
    return {id: ns, title: x.short(ns), kind: ['', '', 'warn', 'bad'][worst],
      sub: k ? many(k.documents, 'document') + ', ' + size(k.bytes) : ''};
  });
  const at = new Map(nodes.map((n, i) => [n.id, i]));
  for (const r of x.report.references) {
    const key = at.get(r.from.ns) + ' ' + at.get(r.to.ns);
    const e = between.get(key) || {from: at.get(r.from.ns), to: at.get(r.to.ns), broken: false, text: []};
    e.broken = e.broken || r.orphans > 0;
    e.text.push(paths(r.from.paths) + ' → ' + paths(r.to.paths) + ': ' + (r.cardinality ? r.cardinality + ', ' : '') + many(r.orphans, 'orphan'));
    between.set(key, e);
  }
  return [diagram(nodes, [...between.values()], n => openCollection(x, n.id)), el('p.dim', 'Arrows lead to what is referred to; red: ',
    'orphans. A click opens the collection.'), rest];
}

// ---- collections ----
// Rebuilds the list so that it shows the collection.
function openCollection(x, ns) {
  const i = x.number.get(ns);
  if (i === undefined) return;
  if (!document.getElementById('c' + i)) x.showOnly(ns);
  reveal('c' + i);
}

function collectionList(x) {
  const worst = c => Math.max(0, ...x.rulesOf(c.ns).map(r => r.severity));
  const by = {trouble: (a, b) => worst(b) - worst(a) || b.bytes - a.bytes, size: (a, b) => b.bytes - a.bytes,
    documents: (a, b) => b.documents - a.documents, name: (a, b) => a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0};
  const box = el('div');
  const input = el('input', {type: 'search', placeholder: 'collection or field', 'aria-label': 'collection or field',
    input: show});
  const order = el('select', {'aria-label': 'order', change: show},
    Object.keys(by).map(k => el('option', {value: k}, 'by ' + k)));
  const keys = new Map(x.report.collections.map(c => [c, (c.ns + ' ' + c.paths.map(p => p.path).join(' ')).toLowerCase()]));
  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = x.report.collections.filter(c => words.every(w => keys.get(c).includes(w))).sort(by[order.value]);
    box.replaceChildren(kept.length ? pile(kept, c => collectionCard(x, c)) : el('p.dim', 'None has these words.'));
  }
  x.showOnly = ns => {
    input.value = ns;
    show();
    if (document.getElementById('c' + x.number.get(ns))) return;
    box.replaceChildren(collectionCard(x, x.report.collections[x.number.get(ns)]));
  };
  show();
  return [x.report.collections.length > 1 ? el('div.tools', input, order) : null, box];
}

function collectionCard(x, c) {
  const worst = Math.max(0, ...x.rulesOf(c.ns).map(r => r.severity));
  return fold(el('span.row', el('span.grow', name(x.short(c.ns))), worst ? badge(worst) : null,
    c.view ? el('span.badge', 'view') : null, c.timeSeries ? el('span.badge', 'time series') : null,
    c.tree ? el('span.badge', 'tree') : null,
    dim(many(c.documents, 'document')), dim(size(c.bytes))), () => collectionBody(x, c), {id: 'c' + x.number.get(c.ns)});
}

function collectionBody(x, c) {
  const refs = [...x.refsFrom(c.ns).map(r => r), ...x.refsTo(c.ns).filter(r => r.from.ns !== c.ns)];
  return el('div',
    c.size ? facts([['smallest', size(c.size.min)], ['p50', size(c.size.p50)], ['p99', size(c.size.p99)],
      ['largest', size(c.size.max)], ['its _id', c.size.maxId === undefined ? '' : name(value(c.size.maxId))],
      ['names take', c.nameBytes ? share(c.nameBytes, c.bytes) : ''],
      ['grows by', c.growth ? many(c.growth, 'document') + ' a day' : '']]) : null,
    c.tree ? facts([['tree by', name(c.tree.path)], ['roots', num(c.tree.roots)], ['depth', num(c.tree.depth)],
      ['circles', num(c.tree.cycles)]]) : null,
    c.timeSeries ? facts([['time', name(c.timeSeries.time)], ['series', name(c.timeSeries.series)],
      ['so many', num(c.timeSeries.count)], ['a value every', num(c.timeSeries.stepSeconds) + ' s']]) : null,
    c.size ? [el('h3', 'The way to 16 MiB'), growth(c), el('h3', 'Sizes of documents'),
      histogram(c.size.histogram, size, 'documents, by size')] : null,
    x.rulesOf(c.ns).length ? [el('h3', 'Advice'), pile(x.rulesOf(c.ns), r => ruleCard(x, r), 20)] : null,
    refs.length ? [el('h3', 'References'), pile(refs, r => referenceCard(x, r, false), 20)] : null,
    c.shapes && c.shapes.length ? [el('h3', 'Shapes: which names stand together'), table(['names', '#documents', '#share'],
      c.shapes.map(s => [shapeNames(s.names), num(s.n), share(s.n, c.documents)]))] : null,
    c.paths.length ? [el('h3', 'Fields: a click copies a plan step'), fieldTable(x, c)] : null,
    c.indexes && c.indexes.length ? [el('h3', 'Indexes'), table(['name', 'keys', '', '#used'], c.indexes.map(i =>
      [name(i.name), name(Object.entries(i.key).map(([k, v]) => k + ': ' + value(v)).join(', ')), i.unique ? 'unique' : '',
        i.used === undefined ? '' : num(i.used)]))] : null);
}

const shapeNames = list => el('span', list.slice(0, 60).map((n, i) => [i ? ', ' : '', name(n)]),
  list.length > 60 ? ' and ' + (list.length - 60) + ' more' : '');

function growth(c) {
  const part = c.size.max / LIMIT, l = c.limit;
  return el('div', meter(part, part >= .5 ? 'bad' : part >= .1 ? 'warn' : ''),
    el('p.dim', 'The largest document has ' + size(c.size.max) + ', ' + percent(100 * part) + ' of 16 MiB.'),
    l ? el('p', 'Most of it is ', name(l.path), l.bytesPerDay ? ', which grows by ' + size(l.bytesPerDay) + ' a day' : '',
      l.reaches16MiB ? [': at that rate it reaches 16 MiB on ', el('b', String(l.reaches16MiB).slice(0, 10))] : '', '.')
      : null);
}

function typesOf(p) {
  const all = Object.entries(p.types).sort((a, b) => b[1] - a[1]);
  return all.map(([t, n]) => all.length > 1 ? t + ' ' + share(n, p.present) : t).join(', ');
}

function range(p) {
  const t = Object.keys(p.types).sort((a, b) => p.types[b] - p.types[a])[0];
  return t && p.min && p.min[t] !== undefined ? el('span', name(value(p.min[t])), ' … ', name(value(p.max[t]))) : '';
}

function fieldTable(x, c) {
  const rows = pile(c.paths, p => fieldLine(x, c, p), 200);
  const body = el('tbody');
  const t = el('div.scroll', el('table', el('thead', el('tr', ['field', 'types', 'in', 'different', 'smallest … largest']
    .map((h, i) => el(i === 2 || i === 3 ? 'th.n' : 'th', h)))), body));
  // rows must be inside the table: the button of the list goes below
  const move = () => {
    body.append(...[...rows.children].filter(r => r.tagName === 'TR'));
    for (const b of rows.querySelectorAll(':scope > button')) if (!b.moved) {
      b.moved = true;
      b.addEventListener('click', move);
    }
  };
  move();
  return [t, rows];
}

function fieldLine(x, c, p) {
  let open = null;
  const more = el('button.link', {title: 'copy a plan step with this field', click: () => {
    if (open) {
      open.remove();
      open = null;
    } else line.after(open = fieldRow(x, c, p, 5));
  }}, name(p.path));
  const line = el('tr', el('td', more, p.names ? dim(' ' + num(p.names) + ' names') : null), el('td', typesOf(p)),
    el('td.n', share(p.present, p.of)), el('td.n', p.distinct === undefined ? '' : (p.distinctError ? '≈ ' : '')
      + num(p.distinct)), el('td', p.length ? lengths(p) : range(p)));
  return line;
}

function lengths(p) {
  const l = p.length;
  const box = el('span', 'length p50 ' + num(l.p50) + ', p99 ' + num(l.p99) + ', max ' + num(l.max) + ' ');
  const b = el('button.link', {click: () => {
    b.remove();
    box.appendChild(el('div', {style: 'min-width:240px'}, histogram(l.histogram, num, 'arrays, by length')));
  }}, 'histogram');
  return add(box, [b]);
}

function copiesTable(x) {
  return table(['copy', 'of', '#compared', '#stale'], x.report.copies.slice(0, 500).map(k =>
    [name(x.short(k.from.ns) + '.' + k.from.path), name(x.short(k.of.ns) + '.' + k.of.path), num(k.compared),
      el('span' + (k.stale ? '.minus' : ''), num(k.stale))]));
}
