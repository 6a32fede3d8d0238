// SPDX-License-Identifier: Apache-2.0
// base.js - elements, texts and figures. Data become text nodes, never markup.
'use strict';

// Names may contain anything: invisible characters, and those that reverse the line, are shown as codes.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const UNSEEN_BUT_LINES = new RegExp(UNSEEN.source.replace('\\u0000-\\u001f', '\\u0000-\\u0009\\u000b-\\u001f'), 'g');
const code = c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
const clean = s => String(s).replace(UNSEEN, code);
const cleanLines = s => String(s).replace(UNSEEN_BUT_LINES, code);

// An element: 'tag.class', then attributes or functions for events, then children; texts become text nodes.
function el(what, ...rest) {
  const [tag, ...classes] = what.split('.');
  const e = document.createElement(tag || 'div');
  if (classes.length) e.className = classes.join(' ');
  let at = rest;
  if (at.length && isPlain(at[0])) {
    for (const [k, v] of Object.entries(at[0])) {
      if (typeof v === 'function') e.addEventListener(k, v);
      else if (v !== undefined && v !== null) e.setAttribute(k, v);
    }
    at = at.slice(1);
  }
  add(e, at);
  return e;
}

function isPlain(x) {
  return x !== null && typeof x === 'object' && !(x instanceof Node) && !Array.isArray(x);
}

function add(e, children) {
  for (const c of children.flat(Infinity)) {
    if (c instanceof Node) e.appendChild(c);
    else if (c !== undefined && c !== null && c !== false) e.appendChild(document.createTextNode(clean(c)));
  }
  return e;
}

const name = s => el('span.name', s);
const dim = (...s) => el('span.dim', ...s);

// ---- figures ----
const num = n => n === undefined || n === null ? '' : typeof n === 'number' && !Number.isInteger(n) ? fraction(n)
  : String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
const fraction = n => Math.abs(n) >= 100 ? num(Math.round(n)) : String(+n.toPrecision(3));
const share = (n, of) => of ? (n === of ? '100 %' : n === 0 ? '0 %' : percent(100 * n / of)) : '';
const percent = p => (p < .01 && p > 0 ? '< 0.01' : p > 99.99 && p < 100 ? '> 99.99' : +p.toFixed(p < 1 || p > 99 ? 2 : 1)) + ' %';
const many = (n, one, more) => num(n) + ' ' + (n === 1 ? one : more || one + 's');

function size(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return (i && n < 100 ? +n.toFixed(1) : Math.round(n)) + ' ' + units[i];
}

function time(ms) {
  if (ms < 1000) return ms + ' ms';
  if (ms < 60000) return +(ms / 1000).toFixed(1) + ' s';
  const s = Math.round(ms / 1000);
  return Math.floor(s / 60) + ' min ' + String(s % 60).padStart(2, '0') + ' s';
}

// A value of Extended JSON, for people; long ones are shortened.
function value(v) {
  let t;
  if (v !== null && typeof v === 'object' && Object.keys(v).length === 1) {
    const [k] = Object.keys(v);
    if (k === '$oid') t = v.$oid;
    else if (k === '$date') t = typeof v.$date === 'string' ? v.$date : JSON.stringify(v.$date);
    else if (k.startsWith('$number')) t = String(v[k]);
  }
  if (t === undefined) t = JSON.stringify(v);
  return t.length > 120 ? t.slice(0, 120) + ' …' : t;
}

// ---- parts of pages ----
function facts(pairs) {
  return el('div.facts', pairs.filter(p => p && p[1] !== '' && p[1] !== undefined)
    .map(([k, v]) => el('span', el('span', k + ' '), v)));
}

function tiles(pairs) {
  return el('div.tiles', pairs.filter(Boolean).map(([v, k]) => el('div.tile', el('b', v), el('span', k))));
}

// heads: texts; a leading '#' marks a column of figures. Rows: arrays of cells.
function table(heads, rows) {
  const right = heads.map(h => h.startsWith('#'));
  return el('div.scroll', el('table',
    el('thead', el('tr', heads.map((h, i) => el(right[i] ? 'th.n' : 'th', right[i] ? h.slice(1) : h)))),
    el('tbody', rows.map(r => r instanceof Node ? r : el('tr', r.map((c, i) => el(right[i] ? 'td.n' : 'td', c)))))));
}

// A card that creates its content when it is first opened, so that a thousand of them cost nothing.
function fold(head, make, attributes) {
  const body = el('div.body');
  const d = el('details.card', attributes || {}, el('summary', head), body);
  d.fill = () => {
    if (!body.firstChild) add(body, [make()]);
  };
  d.addEventListener('toggle', () => d.open && d.fill());
  return d;
}

// A list that shows a first part, and more on demand.
function pile(items, show, most) {
  const step = most || 100;
  const box = el('div');
  let at = 0;
  const more = el('button', {click: next});
  function next() {
    more.remove();
    add(box, items.slice(at, at + step).map(show));
    at += step;
    if (at < items.length) {
      more.textContent = 'Show ' + Math.min(step, items.length - at) + ' more of ' + num(items.length - at);
      box.appendChild(more);
    }
  }
  next();
  return box;
}

// A list with a filter field: text(item) is the text to search.
function filtered(items, show, text, hint) {
  const keys = items.map(i => text(i).toLowerCase());
  const box = el('div');
  const all = pile(items, show);
  const input = el('input', {type: 'search', placeholder: hint, 'aria-label': hint, input: () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = words.length ? items.filter((x, i) => words.every(w => keys[i].includes(w))) : null;
    box.replaceChildren(!kept ? all : kept.length ? pile(kept, show) : el('p.dim', 'Nothing has these words.'));
  }});
  box.appendChild(all);
  return items.length > 10 ? [el('div.tools', input), box] : [box];
}

// ---- copying ----
function say(text) {
  let s = document.getElementById('said');
  if (!s) document.body.appendChild(s = el('div', {id: 'said', role: 'status'}));
  s.textContent = text;
  s.classList.add('on');
  clearTimeout(say.timer);
  say.timer = setTimeout(() => s.classList.remove('on'), 1600);
}

// If the browser denies the clipboard to a page from a file, the text is selected and copied the old way.
function copy(text) {
  const old = () => {
    const box = el('textarea', {style: 'position:fixed;opacity:0'});
    box.value = text;
    document.body.appendChild(box);
    box.select();
    const good = document.execCommand('copy');
    box.remove();
    say(good ? 'Copied' : 'This browser lets no page copy: mark the text yourself');
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => say('Copied'), old);
  else old();
}

function copyable(text) {
  const pre = el('pre');
  pre.textContent = cleanLines(text);
  return el('div.copybox', pre, el('button', {click: () => copy(text)}, 'Copy'));
}

function section(id, title, ...what) {
  return [el('h2', {id}, title), ...what];
}

// Opens the card with this id, also in the hidden part of a list.
function reveal(id) {
  const d = document.getElementById(id);
  if (!d) return false;
  if (d.fill) {
    d.fill();
    d.open = true;
  }
  d.scrollIntoView({block: 'start'});
  return true;
}
