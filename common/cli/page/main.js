// SPDX-License-Identifier: Apache-2.0
// main.js - reads the report in the page and shows it. Finally it sets a mark, for callers that wait for it.

// Integers that JavaScript numbers cannot represent are kept as text.
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
