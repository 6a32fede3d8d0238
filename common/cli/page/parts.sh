#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parts.sh FOLDER - prints the template of a report's page as C: page.html with style and scripts inserted, as two
# arrays, the parts before and after the report.
set -eu
cd "$1"

# array NAME: the bytes of standard input
array() {
    printf 'const unsigned char %s[] = {\n' "$1"
    od -An -v -tx1 | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
    printf '};\nconst size_t %s_n = sizeof %s;\n' "$1" "$1"
}

printf '/* Made by parts.sh. */\n#include "cli/page_parts.h"\n'
{
    sed '/^@STYLE@$/,$d' page.html
    cat style.css
    sed -e '1,/^@STYLE@$/d' -e '/^@REPORT@$/,$d' page.html
} | array mrsi_page_head
{
    sed -e '1,/^@REPORT@$/d' -e '/^@SCRIPT@$/,$d' page.html
    cat base.js chart.js diagram.js fields.js inspect.js run.js diff.js main.js
    sed '1,/^@SCRIPT@$/d' page.html
} | array mrsi_page_tail
