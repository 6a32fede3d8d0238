// SPDX-License-Identifier: Apache-2.0
// main.js - reads the report in the page and shows it. The last thing it does is to say so, for who waits for it.

// Whole numbers that a number of JavaScript does not hold are kept as their text.
function keepWide(key, v, context) {
  return typeof v === 'number' && Number.isInteger(v) && !Number.isSafeInteger(v) && context ? context.source : v;
}

(function main() {
  const text = document.getElementById('report').textContent;
  const data = /\d{16}/.test(text) ? JSON.parse(text, keepWide) : JSON.parse(text);
  const pages = {inspect: pageInspect, run: pageRun, diff: pageDiff};
  const page = document.getElementById('page');
  add(page, pages[data.kind](data.report, data.plan));
  const jump = () => location.hash.length > 1 && reveal(decodeURIComponent(location.hash.slice(1)));
  addEventListener('hashchange', jump);
  jump();
  document.documentElement.setAttribute('data-shown', data.kind);
})();
