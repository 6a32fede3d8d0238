// SPDX-License-Identifier: Apache-2.0
// run.js - the page of `mongoreshape run`: fates of documents, output, duration.

function verdict(report) {
  if (report.error) return ['bad', 'failed'];
  if (report.resume) return ['warn', 'stopped'];
  if (report.refused) return ['warn', report.dryRun ? 'would refuse documents' : 'done, documents were refused'];
  return ['ok', report.dryRun ? 'would be done' : 'done'];
}

function pageRun(report, plan) {
  const [kind, word] = verdict(report), account = report.account || [], written = report.written || [];
  document.title = 'run ' + clean(report.input || '');
  const wrote = report.published ? 'written' : report.dryRun ? 'would be written' : 'not written';
  const warned = [...(report.notices || []), ...(report.equalIds || []), ...(report.unmetPaths || [])];
  return [
    el('h1', name(report.input || ''), report.output ? [' → ', name(report.output)] : ''),
    el('p', el('span.badge.' + kind, word), ' ', dim('exit status ' + report.exitStatus + (report.planId
      ? ', plan ' + report.planId : '') + (report.resumed ? ', went on with a run that had been stopped' : ''))),
    report.error ? errorCard(report.error) : null,
    report.planErrors && report.planErrors.length ? pile(report.planErrors, e => el('div.card',
      el('span.badge.' + (e.kind === 'error' ? 'bad' : 'warn'), e.kind), ' ', name(e.file + ':' + e.line + ':' + e.column),
      ' ', e.message)) : null,
    report.account ? [tiles([[num(written.reduce((s, w) => s + w.documents, 0)), 'documents ' + wrote],
      [num(report.refused), 'documents refused'], [size(report.inputBytes), 'read'], [size(report.outputBytes), wrote],
      [time(report.wallMs), 'in all']]),
    section('shapes', 'Collections before and after', beforeAfter(report)),
    account.length ? section('account', 'Account of each step', accounts(account)) : null,
    section('refused', 'Refused', refusals(report)),
    report.phases && report.phases.length ? section('time', 'Time', lines(mergePhases(report.phases).map(([p, ms]) =>
      [p, ms, time(ms)]))) : null,
    section('sizes', 'Sizes', lines([['input', report.inputBytes, size(report.inputBytes)],
      ['output, as documents', report.outputBytes, size(report.outputBytes)],
      ['output, on disk', report.diskBytes, size(report.diskBytes)],
      ['temporary files', report.temporaryBytes, size(report.temporaryBytes)],
      ['refused documents', report.refusedBytes, size(report.refusedBytes)]])),
    warned.length ? section('notices', 'Worth a look', pile(warned, notice)) : null,
    report.notes && report.notes.length ? section('notes', 'Notes', pile(report.notes, n => el('div.card', n))) : null,
    report.restore ? section('restore', 'How to restore it', restore(report)) : null] : null,
    plan ? section('plan', 'The plan', copyable(plan)) : null];
}

function errorCard(e) {
  return el('div.card', el('span.badge.bad', e.name), ' ', e.message, facts([['collection', e.ns ? name(e.ns) : ''],
    ['place', e.where ? name(e.where) : ''], ['document', e.document ? num(e.document) : ''],
    ['offset', e.offset !== undefined ? num(e.offset) : '']]));
}

// The first step that uses a collection has its initial count, the last its final count.
function beforeAfter(report) {
  const of = new Map();
  for (const a of report.account) {
    if (!of.has(a.ns)) of.set(a.ns, {before: a.before, steps: []});
    of.get(a.ns).after = a.after;
    of.get(a.ns).steps.push(a.step);
  }
  const written = new Map(report.written.map(w => [w.ns, w]));
  const shapes = new Map((report.shapes || []).map(s => [s.ns, s]));
  const named = [...of.keys()].sort(), rest = [...written.keys()].filter(ns => !of.has(ns)).sort();
  const show = ns => {
    const o = of.get(ns), w = written.get(ns);
    return fold(el('span.row', el('span.grow', name(ns)), dim('before ' + num(o.before) + ', after ' + num(w ? w.documents
      : o.after)), w ? dim(size(w.bytes)) : el('span.badge', 'gone')), () => el('div',
    facts([['steps', o.steps.join(', ')], ['largest document', w && w.largest ? size(w.largest) : '']]),
    shapes.has(ns) ? shapePair(shapes.get(ns)) : dim('its documents were not looked at')));
  };
  const card = ns => el('div.card', el('span.row', el('span.grow', name(ns)),
    dim(many(written.get(ns).documents, 'document')), dim(size(written.get(ns).bytes))));
  return [filtered(named, show, ns => ns, 'collection'), rest.length ? fold(el('span.row', el('span.grow',
    many(rest.length, 'collection'), ' that no step names, unchanged'), dim(size(rest.reduce((s, ns) => s
    + written.get(ns).bytes, 0)))), () => el('div', filtered(rest, card, ns => ns, 'collection'))) : null];
}

// Added and removed fields.
function shapePair(s) {
  const had = new Map(s.before.map(f => [f.path, f.types])), has = new Map(s.after.map(f => [f.path, f.types]));
  const side = (list, other, sign) => list.map(f => el('tr', el('td', el('span' + (other.has(f.path) ? '' : '.' + sign),
    other.has(f.path) ? '  ' : sign === 'plus' ? '+ ' : '− ', name(f.path))), el('td', el('span' + (other.has(f.path)
    && other.get(f.path) !== f.types ? '.' + sign : '.dim'), f.types))));
  const half = (title, list, other, sign) => el('div', el('h3', title), list.length ? table(['field', 'types'],
    side(list, other, sign)) : dim('no documents'));
  return el('div', el('div.two', half('before', s.before, has, 'minus'), half('after', s.after, had, 'plus')),
    el('p.dim', 'fields of the first documents on each side, 100 at most'));
}

const FIGURES = ['before', 'created', 'entered', 'taken', 'dropped', 'refused', 'after', 'placed', 'once', 'changed'];

function accounts(account) {
  const steps = new Map();
  for (const a of account) steps.set(a.step, [...(steps.get(a.step) || []), a]);
  return pile([...steps], ([step, rows]) => {
    const used = FIGURES.filter(f => f === 'before' || f === 'after' || rows.some(r => r[f]));
    return el('div.card', el('b', 'step ' + step + ' ' + (rows[0].name || '')), table(['collection', ...used.map(f => '#' + f)], rows.map(r =>
      [name(r.ns), ...used.map(f => el('span' + (f === 'refused' && r[f] ? '.minus' : ''), num(r[f])))])));
  });
}

function refusals(report) {
  if (!report.refused) return el('p', 'None.');
  const by = new Map();
  for (const r of report.refusals) by.set(r.reason, (by.get(r.reason) || 0) + r.documents);
  return [lines([...by].sort((a, b) => b[1] - a[1]).map(([reason, n]) => [reason, n, num(n), 'bad'])),
    pile(report.refusals, r => fold(el('span.row', el('span.grow', el('b', r.reason), ' ', name(r.ns)),
      dim('step ' + r.step), dim(many(r.documents, 'document'))), () => el('div',
      r.firstMore ? el('p', r.firstMore) : null, r.place ? facts([['place', name(r.place)]]) : null,
      facts([['_id', name((r.ids || []).join(', '))]])))),
    report.refusedFile ? el('p', 'All of them, with their reasons: ', name(report.refusedFile)) : null];
}

function mergePhases(phases) {
  const m = new Map();
  for (const p of phases) m.set(p.phase, (m.get(p.phase) || 0) + p.ms);
  return [...m];
}

const NOTICES = {orphan: 'documents without a match', dangling: 'dangling references', disagrees: 'two sides disagree',
  cut: 'a limit left documents out', left: 'documents could not be placed everywhere', clash: 'equal keys in a unique index',
  arrays: 'arrays in two fields of one index', unsure: 'whether it fits a unique index cannot be said'};

function notice(n) {
  if (n.path !== undefined)
    return el('div.card', 'step ' + n.step + ': no document of ', name(n.ns), ' has ', name(n.path),
      n.nearest === n.path ? ': names that are there have a dot, and their path is a list'
        : n.nearest ? [', perhaps ', name(n.nearest), ' is meant'] : '');
  return el('div.card', NOTICES[n.kind] || 'documents have an _id that another one has', ': ', name(n.ns), ' ',
    dim(many(n.documents, 'document') + (n.step ? ', step ' + n.step : '')), n.index ? [' ', name(n.index)] : null,
    n.why ? ' ' + n.why : null, n.ids && n.ids.length ? el('div', name(n.ids.slice(0, 10).join(', '))) : null,
    n.firstId ? el('div', name(n.firstId)) : null);
}

function restore(report) {
  return [report.dropFirst && report.dropFirst.length ? el('p', 'Drop these at the target first: ',
    report.dropFirst.map((n, i) => [i ? ', ' : '', name(n)])) : null, copyable(report.restore)];
}
