// SPDX-License-Identifier: Apache-2.0
// diff.js - the page of `mongoreshape diff`: collections and documents that differ.

function pageDiff(report) {
  const differ = report.namespaces.filter(n => n.differs), same = report.namespaces.filter(n => !n.differs);
  const sum = k => report.namespaces.reduce((s, n) => s + (n[k] || 0), 0);
  document.title = 'diff ' + clean(report.a) + ' ' + clean(report.b);
  return [
    el('h1', name(report.a), ' and ', name(report.b)),
    el('p', report.error ? el('span.badge.bad', 'failed') : report.equal ? el('span.badge.ok', 'they hold the same')
      : el('span.badge.warn', 'they differ')),
    report.error ? errorCard(report.error) : null,
    tiles([[num(report.namespaces.length), 'collections'], [num(differ.length), 'of them differ'],
      [num(sum('changed')), 'documents differ'], [num(sum('onlyA')), 'only in A'], [num(sum('onlyB')), 'only in B']]),
    el('p.dim', 'A is ', name(report.a), ', B is ', name(report.b), '.'),
    differ.length ? section('differ', 'What differs', filtered(differ, diffCard, n => n.ns, 'collection')) : null,
    same.length ? section('same', 'The same on both sides', filtered(same, n => el('div.card', el('span.row',
      el('span.grow', name(n.ns)), dim(n.b && n.b.documents !== undefined ? many(n.b.documents, 'document') : ''))),
    n => n.ns, 'collection')) : null];
}

function diffCard(n) {
  const count = s => s && s.documents !== undefined ? num(s.documents) : '';
  const what = !n.a ? 'only in B' : !n.b ? 'only in A' : [n.changed ? num(n.changed) + ' differ' : '',
    n.onlyA ? num(n.onlyA) + ' only in A' : '', n.onlyB ? num(n.onlyB) + ' only in B' : ''].filter(Boolean).join(', ')
    || (n.metadata && n.metadata.length ? 'other metadata' : 'other bytes');
  return fold(el('span.row', el('span.grow', name(n.ns)), dim(what)), () => el('div',
    facts([['documents in A', count(n.a)], ['in B', count(n.b)], ['bytes in A', n.a && n.a.bytes !== undefined
      ? size(n.a.bytes) : ''], ['in B', n.b && n.b.bytes !== undefined ? size(n.b.bytes) : '']]),
    n.metadata && n.metadata.length ? [el('h3', 'Options and indexes'), pile(n.metadata, m => el('p', m))] : null,
    n.named && n.named.length ? [el('h3', 'Documents'), pile(n.named, diffDocument),
      n.changed + n.onlyA + n.onlyB > n.named.length ? el('p.dim', 'and ' + num(n.changed + n.onlyA + n.onlyB
        - n.named.length) + ' more: --limit names more of them') : null] : null));
}

function diffDocument(d) {
  const where = {changed: 'differs', onlyA: 'only in A', onlyB: 'only in B'}[d.kind];
  return el('div.card', el('span.row', el('span.grow', '_id ', d._id === null ? dim('none') : name(d._id)),
    el('span.badge.' + (d.kind === 'changed' ? 'warn' : 'bad'), where), dim([d.documentA ? 'document ' + num(d.documentA)
      + ' of A' : '', d.documentB ? num(d.documentB) + ' of B' : ''].filter(Boolean).join(', '))),
  d.values.length ? table(['path', 'in A', 'in B'], d.values.map(v => [name(v.path || (v.order ? 'the document' : '""')),
    v.order ? 'first: ' + v.a : side(v.a, 'minus'), v.order ? 'first: ' + v.b : side(v.b, 'plus')])) : null,
  d.more ? dim('and more') : null);
}

const side = (v, sign) => v === null ? dim('nothing') : el('span.name.' + sign, v);
