// SPDX-License-Identifier: Apache-2.0
// diagram.js - references between collections: boxes in columns, targets to the right of their references.

const DIAGRAM_MOST = 60;

function svg(tag, attributes, ...children) {
  const e = document.createElementNS(document.getElementById('svg').namespaceURI, tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (typeof v === 'function') e.addEventListener(k, v);
    else e.setAttribute(k, v);
  }
  return add(e, children);
}

// The column of each node: one more than the nodes it refers to. Arrows that close a cycle are ignored here.
function columns(count, out) {
  const col = new Array(count).fill(0), state = new Array(count).fill(0), back = new Set();
  for (let root = 0; root < count; root++) {
    const stack = state[root] ? [] : [[root, 0]];
    while (stack.length) {
      const top = stack[stack.length - 1], v = top[0];
      state[v] = 1;
      if (top[1] < out[v].length) {
        const w = out[v][top[1]++];
        if (state[w] === 1) back.add(v + ' ' + w);
        else if (!state[w]) stack.push([w, 0]);
      } else {
        state[v] = 2;
        for (const w of out[v]) if (!back.has(v + ' ' + w)) col[v] = Math.max(col[v], col[w] + 1);
        stack.pop();
      }
    }
  }
  return col;
}

// Orders each column so that few arrows cross: by the mean position of neighbors, a few passes in both directions.
function places(col, near) {
  const n = Math.max(...col) + 1, rows = Array.from({length: n}, () => []);
  col.forEach((c, v) => rows[c].push(v));
  const at = new Array(col.length);
  const settle = () => rows.forEach(r => r.forEach((v, i) => { at[v] = (i + .5) / r.length; }));
  settle();
  for (let turn = 0; turn < 8; turn++) {
    for (let i = 0; i < n; i++) {
      const row = rows[turn % 2 ? n - 1 - i : i];
      const mean = new Map(row.map(v => [v, near[v].length ? near[v].reduce((s, w) => s + at[w], 0) / near[v].length
        : at[v]]));
      row.sort((a, b) => mean.get(a) - mean.get(b) || a - b);
      settle();
    }
  }
  return rows;
}

const cut = (s, n) => s.length > n ? s.slice(0, n - 1) + '…' : s;

// An arrow over several columns gets a bend in each of them, to avoid the boxes there.
function knees(edges, col) {
  const all = [...col];
  for (const e of edges) {
    e.way = [e.from];
    for (let c = col[e.from] - 1; c > col[e.to]; c--) e.way.push(all.push(c) - 1);
    e.way.push(e.to);
  }
  return all;
}

const W = 168, H = 40, KNEE = 8, GX = 74, GY = 18, PAD = 14;

// nodes: [{id, title, sub, kind}]; edges: [{from, to, text, broken}] by number; pick(node) is called on a click.
function diagram(nodes, edges, pick) {
  const out = nodes.map(() => []);
  for (const e of edges) if (e.from !== e.to) out[e.from].push(e.to);
  const col = knees(edges, columns(nodes.length, out)), near = col.map(() => []);
  for (const e of edges)
    for (let i = 1; i < e.way.length; i++) {
      near[e.way[i - 1]].push(e.way[i]);
      near[e.way[i]].push(e.way[i - 1]);
    }
  const rows = places(col, near), last = rows.length - 1, high = v => v < nodes.length ? H : KNEE;
  const sum = r => r.reduce((s, v) => s + high(v) + GY, -GY), tall = Math.max(...rows.map(sum));
  const box = [];
  rows.forEach((r, c) => {
    let y = PAD + (tall - sum(r)) / 2;
    for (const v of r) {
      box[v] = {x: PAD + (last - c) * (W + GX), y, mid: y + high(v) / 2};
      y += high(v) + GY;
    }
  });
  const frame = el('div.diagram');
  const drawn = edges.map(e => edge(e, box, col));
  const light = (v, on) => {
    frame.classList.toggle('lit', on);
    edges.forEach((e, i) => drawn[i].classList.toggle('on', on && (e.from === v || e.to === v)));
  };
  const shown = nodes.map((n, v) => svg('g', {class: 'node ' + (n.kind || ''), tabindex: 0, role: 'link',
    transform: 'translate(' + box[v].x + ' ' + box[v].y + ')', click: () => pick(n),
    keydown: k => k.key === 'Enter' && pick(n), mouseenter: () => light(v, true), mouseleave: () => light(v, false),
    focus: () => light(v, true), blur: () => light(v, false)},
    svg('title', {}, n.title + ': ' + n.sub), svg('rect', {width: W, height: H, rx: 6}),
    svg('text', {x: 9, y: 17}, cut(clean(n.title), 22)), svg('text', {x: 9, y: 32, class: 'dim'}, n.sub)));
  const width = PAD * 2 + rows.length * (W + GX) - GX + 34, height = PAD * 2 + tall + 8;
  add(frame, [svg('svg', {style: 'max-width:' + width + 'px;min-width:' + Math.round(.7 * width) + 'px', 
    viewBox: '0 0 ' + width + ' ' + height, role: 'group', 'aria-label': 'diagram of references; the same stands in the list below'},
    svg('defs', {}, svg('marker', {id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
      orient: 'auto'}, svg('path', {d: 'M0 0L8 4L0 8z'}))),
    drawn, shown)]);
  return frame;
}

function edge(e, box, col) {
  const a = box[e.from], b = box[e.to], right = a.x + W;
  let d;
  if (e.from === e.to) { // a loop at the right
    d = `M${right} ${a.mid - 8}c26 -12 26 28 0 16`;
  } else if (col[e.from] > col[e.to]) {
    d = `M${right} ${a.mid}`;
    for (let i = 1, x = right, y = a.mid; i < e.way.length; i++) {
      const to = box[e.way[i]], end = to.mid, half = (to.x - x) / 2, knee = i + 1 < e.way.length;
      d += `C${x + half} ${y} ${to.x - half} ${end} ${to.x} ${end}` + (knee ? `H${to.x + W}` : '');
      x = to.x + W;
      y = end;
    }
  } else { // back, around the right side
    const x = Math.max(right, b.x + W) + 44;
    d = `M${right} ${a.mid}C${x} ${a.mid} ${x} ${b.mid} ${b.x + W} ${b.mid}`;
  }
  return svg('path', {class: 'edge' + (e.broken ? ' broken' : ''), d, 'marker-end': 'url(#tip)'}, svg('title', {}, e.text.join('; ')));
}
