// SPDX-License-Identifier: Apache-2.0
// chart.js - histograms and bars, of plain elements.

// [[upTo, n], ...] with powers of two, as in reports; show: formats a bound.
function histogram(list, show, what) {
  if (!list || !list.length) return null;
  const at = new Map(list.map(([k, n]) => [Math.log2(k), n]));
  const low = Math.min(...at.keys()), high = Math.max(...at.keys());
  const top = Math.max(...at.values());
  const total = list.reduce((s, p) => s + p[1], 0);
  const bars = [];
  for (let i = low; i <= high; i++) {
    const n = at.get(i) || 0, edge = show(2 ** i);
    const height = n ? Math.max(2, Math.round(70 * n / top)) : 0;
    bars.push(el('div', {title: num(n) + ' (' + share(n, total) + ') up to ' + edge},
      el('span', n ? short(n) : ''), el('i', {style: 'height:' + height + 'px'}), el('span', '≤' + edge.replace(/iB$/, ''))));
  }
  return el('div', {role: 'img', 'aria-label': what + ': ' + list.map(([k, n]) => num(n) + ' up to ' + show(k)).join(', ')},
    el('div.bars', bars), el('div.dim', what));
}

const short = n => n < 10000 ? String(n) : n < 1e6 ? Math.round(n / 1e3) + 'k' : n < 1e9 ? +(n / 1e6).toFixed(1) + 'M'
  : +(n / 1e9).toFixed(1) + 'G';

function meter(part, kind) {
  return el('div.meter' + (kind ? '.' + kind : ''), el('i', {style: 'width:' + Math.min(100, Math.max(0, 100 * part)) + '%'}));
}

// [label, figure, text, kind]: bars, scaled to the longest.
function lines(rows) {
  const top = Math.max(1, ...rows.map(r => r[1]));
  return el('div.lines', rows.map(([label, n, text, kind]) =>
    [el('div', label), meter(n / top, kind), el('div.n', text)]));
}
