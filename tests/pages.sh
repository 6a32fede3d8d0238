# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# pages.sh - for tests of pages: what is embedded in one, and how it looks in a real browser without a window. To be
# sourced in the folder of the test, $dir; the test has ok and fail.
browser=""
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name)
done

# What is embedded is what --json says; a page asks for nothing, and can load nothing.
cat > embedded.py << 'P'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
found = re.findall(r'<script type="application/json" id="report">\n(.*?)</script>', page, re.S)
assert len(found) == 1 and len(re.findall("</script", page)) == 2, "the report ends its element"
data = json.loads(found[0])
if len(sys.argv) > 2:
    want = json.load(open(sys.argv[2]))
    for gone in ("shapes",):
        data["report"].pop(gone, None)
    assert data["report"] == want, "another report than --json"
frame = page.replace(found[0], "")
address = r"https?:|//[a-z]|src=|href=\"|@import|url\((?!#)"
assert not re.search(address, re.sub(r"//.*", "", frame)), "the page names an address"
assert "default-src 'none'" in frame, "the page may load things"
for word in ("innerHTML", "insertAdjacentHTML", "document.write"):
    assert word not in frame, "markup from data"
P
# Opens everything there is to open, three times, since cards lie in cards; then says what it saw.
cat > driver.js << 'J'
const seen = new Set(), steps = new Set(), started = performance.now();
const limit = () => document.querySelectorAll('*').length < 12000;
for (let turn = 0; turn < 3; turn++)
  for (const d of document.querySelectorAll('details')) if (limit()) { d.fill(); d.open = true; }
for (let turn = 0; turn < 2; turn++)
  for (const b of document.querySelectorAll('td button, .tools button'))
    if (limit() && !seen.has(b)) { seen.add(b); b.click(); note(); }
for (const i of document.querySelectorAll('input')) { i.value = 'zzzz'; i.dispatchEvent(new Event('input')); }
for (const i of document.querySelectorAll('input')) { i.value = ''; i.dispatchEvent(new Event('input')); }
for (const o of document.querySelectorAll('option')) {
  o.parentNode.value = o.value;
  o.parentNode.dispatchEvent(new Event('change'));
}
for (const n of document.querySelectorAll('.diagram .node')) n.dispatchEvent(new Event('click'));
function note() {
  for (const p of document.querySelectorAll('.copybox pre'))
    if (/^  (#|- )/.test(p.textContent)) steps.add(p.textContent);
}
note();
const root = document.documentElement, page = document.getElementById('page');
const foreign = page.querySelectorAll('script, img, iframe, object, embed, link, base').length
  + document.querySelectorAll('script').length - 3 + [...page.querySelectorAll('*')].filter(e => [...e.attributes]
    .some(a => /^on/.test(a.name) || (a.name === 'href' && !/^#/.test(a.value)))).length;
root.setAttribute('data-foreign', foreign);
root.setAttribute('data-owned', typeof owned);
root.setAttribute('data-wide', Math.max(0, root.scrollWidth - innerWidth));
root.setAttribute('data-ground', getComputedStyle(document.body).backgroundColor);
root.setAttribute('data-ms', Math.round(performance.now() - started));
const out = document.createElement('textarea');
out.id = 'steps';
out.textContent = JSON.stringify([...steps]);
document.body.appendChild(out);
J
# look PAGE NAME [OPTION...]: the page as the browser has it once it was driven, in NAME.dom; what it complained of in
# NAME.log
look() {
    local page=$1 name=$2
    shift 2
    python3 - "$page" << 'P'
import sys
page, driver = open(sys.argv[1], encoding="utf-8").read(), open("driver.js").read()
at = page.rindex("</body>")
open("driven.html", "w", encoding="utf-8").write(page[:at] + "<script>" + driver + "</script>" + page[at:])
P
    timeout 600 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" \
        --enable-logging=stderr --virtual-time-budget=20000 "$@" --dump-dom "file://$dir/driven.html" \
        > "$name.dom" 2> "$name.log"
}
attribute() { grep -o "data-$2=\"[^\"]*\"" "$1.dom" | head -n 1 | cut -d'"' -f2; }
# text FILE.dom: what stands on the page, without what the driver left there
text() { python3 -c '
import html, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
page = re.sub(r"(?s)<(script|textarea|style|noscript).*?</\1>", "", page)
print(html.unescape(re.sub(r"<[^>]*>", "", page)))' "$1"; }
# shown PAGE KIND: PAGE.html, driven, is of that kind, holds nothing foreign, lacks nothing, and nobody complains
shown() {
    look "$1.html" "$1" --window-size=1200,900
    [ "$(attribute "$1" shown)" = "$2" ] && ok || fail "$1: shown as $(attribute "$1" shown), not as $2"
    [ "$(attribute "$1" foreign) $(attribute "$1" owned)" = "0 undefined" ] && ok || fail "$1: something foreign"
    text "$1.dom" > "$1.text"
    grep -E '\[object|undefined|NaN' "$1.text" > said && fail "$1: $(head -n 3 said)" || ok
    grep ':CONSOLE' "$1.log" > said && fail "$1: the browser complains: $(head -n 3 said)" || ok
}
